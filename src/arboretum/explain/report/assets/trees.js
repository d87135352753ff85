// Trees: the text of a split, the drawing (pan, zoom, collapse, keys), and the figures of a node.
"use strict";
const BOX = { w: 168, most: 250, h: 58, gapX: 14, gapY: 62 };

// The columns a tree splits on: the model's, unless it has its own (a member's, or bins of ID3).
function treeColumns(P, number) {
  const [places, tables] = P.trees.schemas, place = places === 0 ? 0 : places[number];
  if (!place) return P.columns;
  return tables[place - 1].map(([name, words]) => ({ name, words, kind: words ? "categorical" : "numeric" }));
}
// A comparison with a threshold. LightGBM keeps zero between −1e-35 and 1e-35.
function compared(column, side, t) {
  const cut = column.words ? column.words[Math.trunc(t)] : valueOf(column, t);
  return !column.words && t < 0 && t >= -1e-35 ? `${side ? "≥" : "<"} 0` : `${side ? ">" : "≤"} ${cut}`;
}
function question(tree, node, columns) {
  const j = tree.at[node], column = columns[tree.f[j]], kind = +tree.k[node];
  if (kind === 1) {
    if (tree.t[j] === null) return `${column.name} present?`;
    return `${column.name} ${compared(column, 0, tree.t[j])}?`;
  }
  return kind === 2 ? `${column.name} in …?` : `${column.name}?`;
}
// The condition of a child.
function branch(tree, node, side, columns, most = 5) {
  const j = tree.at[node], column = columns[tree.f[j]], kind = +tree.k[node], words = column.words || [];
  const missing = tree.m[j] === side && column.had_missing !== false ? " or missing" : "";
  const list = picked => picked.length > most ? `${picked.slice(0, most).join(", ")}, … (${picked.length})` : picked.join(", ");
  if (kind === 1) {
    if (tree.t[j] === null) return tree.m[j] === side ? `${column.name} missing` : `${column.name} present`;
    return `${column.name} ${compared(column, side, tree.t[j])}${missing}`;
  }
  if (kind === 3) return side >= words.length ? `${column.name} missing` : `${column.name} = ${words[side]}${missing}`;
  const inside = words.filter((_, c) => kind === 4 ? tree.s[j][c] === side : ((tree.s[j][c >> 5] >>> (c & 31)) & 1) === 1 - side);
  return `${column.name} ${inside.length === 1 ? "=" : "in"} ${list(inside) || "no category"}${missing}`;
}
function sideText(tree, node, side, columns) { // short, for an edge
  const kind = +tree.k[node];
  if (kind === 1) return tree.t[tree.at[node]] === null ? (tree.m[tree.at[node]] === side ? "missing" : "present") : side ? "no" : "yes";
  const text = branch(tree, node, side, columns, 2).slice(columns[tree.f[tree.at[node]]].name.length + 1);
  return short(text.replace(/^(in|=) /, ""), 20);
}
// Rounding leaves tiny numbers where the value is zero.
const orNothing = (tree, v) => Math.abs(v) < 1e-6 * (tree.top = tree.top || Math.max(...tree.d.map(d => Math.abs(d[0])))) ? 0 : v;
// Whether leaves count with a weight of their tree: what they add is not what they hold.
function weighted(tree) {
  if (tree.weighted === undefined) { Walk.open(tree); const top = Math.max(...tree.d.map(d => Math.abs(d[0]))) || 1; tree.weighted = [...tree.k].some((k, i) => k === "0" && Walk.said(tree, i).some((v, j) => Math.abs(v - tree.d[i][j]) > 1e-3 * top)); }
  return tree.weighted;
}
// The prediction of a node, as text.
function nodeAnswer(P, tree, node, kind) {
  const d = tree.d[node], labels = P.labels;
  if (kind === "answers" && labels && d.length === labels.length) {
    const best = Walk.argmax(d);
    return { text: `${short(labels[best], 16)} ${percent(d[best] / (d.reduce((a, b) => a + b, 0) || 1), 0)}`, share: d[best], best };
  }
  return { text: d.length === 1 ? fmt(orNothing(tree, d[0]), 4) : d.slice(0, 3).map(v => fmt(v, 3)).join(" · "), value: d[0] };
}

function treePanel(P, M, worksheet) {
  if (!M.trees.some(tree => tree.d)) return { whole: el("p", { class: "note" }, P.trees.cut), show_row() {}, open() {} };
  let number = 0, chosen = -1, row = null, view = null;
  const closed = new Map(); // tree -> set of collapsed nodes
  const canvas = el("div", { class: "canvas", tabindex: -1 }), side = el("div", { class: "side", "aria-live": "polite" }), sheet = el("div", { class: "under" }), title = el("b");
  const n = M.trees.filter(tree => tree.d).length;
  const pick = slider("Tree", 1, Math.max(n, 2), 1, 1, v => open(v - 1));
  const bar = el("div", { class: "controls" }, n > 1 ? pick : null, title,
    el("button", { onclick: () => zoom(1.25), "aria-label": "Zoom in" }, "+"), el("button", { onclick: () => zoom(0.8), "aria-label": "Zoom out" }, MINUS),
    el("button", { onclick: () => fit() }, "Fit"), el("button", { onclick: () => { shut().clear(); draw(); fit(); } }, "Open all"),
    el("button", { onclick: () => { collapse(2); draw(); fit(); } }, "Two levels"));
  const colours = el("div", { class: "legend" });

  // At first as many levels as can be read in the room there is.
  function shut() {
    if (closed.has(number)) return closed.get(number);
    const tree = Walk.open(M.trees[number]), narrow = canvas.clientWidth < 520, room = Math.max(canvas.clientWidth, 330) / (narrow ? 0.8 : 0.58);
    let level = narrow ? 1 : 2;
    for (let l = level + 1; l <= 7; l++) { collapse(l); if (place(tree, closed.get(number)).width <= room) level = l; else break; }
    collapse(level);
    return closed.get(number);
  }
  function depths(tree) {
    const depth = new Int32Array(tree.size), order = [0];
    for (let i = 0; i < order.length; i++) for (const c of Walk.children(tree, order[i])) { depth[c] = depth[order[i]] + 1; order.push(c); }
    return depth;
  }
  function collapse(level) {
    const tree = Walk.open(M.trees[number]), depth = depths(tree), set = closed.get(number) || new Set();
    closed.set(number, set); set.clear();
    for (let i = 0; i < tree.size; i++) if (depth[i] === level && !Walk.isLeaf(tree, i)) set.add(i);
  }
  function place(tree, set) {
    const spots = new Map(); let right = 0;
    (function visit(node, depth) {
      const inside = set.has(node) ? [] : Walk.children(tree, node);
      if (!inside.length) { spots.set(node, { x: right, depth }); right += BOX.w + BOX.gapX; return; }
      inside.forEach(c => visit(c, depth + 1));
      const a = spots.get(inside[0]), b = spots.get(inside[inside.length - 1]);
      spots.set(node, { x: (a.x + b.x) / 2, depth });
    })(0, 0);
    return { spots, width: right - BOX.gapX, height: (1 + Math.max(...[...spots.values()].map(s => s.depth))) * (BOX.h + BOX.gapY) - BOX.gapY };
  }
  let layout, group;
  function fillOf(tree, node, range) {
    const said = nodeAnswer(P, tree, node, P.trees.kinds[number]);
    if (said.best !== undefined) {
      const k = tree.d[node].length, strength = Math.round(12 + 55 * Math.max(0, (said.share - 1 / k) / (1 - 1 / k)));
      return `color-mix(in srgb, ${classColor(said.best, k)} ${strength}%, var(--card))`;
    }
    return `color-mix(in srgb, ${ramp((said.value - range[0]) / (range[1] - range[0] || 1))} 75%, var(--card))`;
  }
  function draw() {
    const tree = Walk.open(M.trees[number]), columns = treeColumns(P, number), set = shut(), kind = P.trees.kinds[number];
    layout = place(tree, set);
    const passed = new Set(row ? Walk.path(tree, row, P.sizes) : []);
    let range = extent(tree.d.map(d => d[0]), 0);
    if (kind !== "answers") { const top = Math.max(Math.abs(range[0]), Math.abs(range[1])); range = [-top, top]; }
    group = svg("g");
    const nodes = [], pos = s => [s.x, s.depth * (BOX.h + BOX.gapY)];
    for (const [node, s] of layout.spots) {
      const [x, y] = pos(s), leaf = Walk.isLeaf(tree, node), isShut = set.has(node);
      if (!leaf && !isShut) Walk.children(tree, node).forEach((c, k) => {
        const [cx, cy] = pos(layout.spots.get(c)), x1 = x + BOX.w / 2, y1 = y + BOX.h, x2 = cx + BOX.w / 2, middle = (y1 + cy) / 2;
        const share = tree.n[c] / (tree.n[0] || 1);
        group.append(svg("path", { class: "edge" + (passed.has(c) ? " on" : ""), d: `M${x1},${y1}C${x1},${middle} ${x2},${middle} ${x2},${cy}`, "stroke-width": 1 + 7 * Math.sqrt(share) }));
        group.append(svg("text", { class: "edge-label", x: (x1 + 2 * x2) / 3, y: middle + 12, "text-anchor": "middle" }, sideText(tree, node, k, columns)));
      });
      const said = nodeAnswer(P, tree, node, kind);
      const lines = leaf ? [said.text, plural(tree.n[node], "row")] : [question(tree, node, columns), `${said.text} · ${plural(tree.n[node], "row")}`];
      const one = svg("g", { class: "node" + (node === chosen ? " chosen" : ""), transform: `translate(${x},${y})`, tabindex: node === (chosen >= 0 ? chosen : 0) ? 0 : -1, role: "treeitem", "data-node": node,
        "aria-label": `${leaf ? "leaf" : question(tree, node, columns)}, ${said.text}, ${tree.n[node]} rows`,
        onclick: () => { if (!moved) { select(node, true); if (isShut) toggle(node); } }, onkeydown: e => key(e, node),
        ondblclick: () => toggle(node), ...tipped(lines.join("\n")) },
        svg("rect", { class: "frame", width: BOX.w, height: BOX.h }), svg("rect", { width: BOX.w, height: BOX.h, style: { fill: fillOf(tree, node, range), stroke: "none" } }),
        svg("text", { x: BOX.w / 2, y: 20, "text-anchor": "middle", "font-weight": leaf ? 600 : 500 }, short(lines[0], Math.floor((BOX.w - 12) / 6.3))), svg("text", { x: BOX.w / 2, y: 38, "text-anchor": "middle", class: "quiet" }, short(lines[1], Math.floor((BOX.w - 12) / 6))),
        isShut ? svg("text", { class: "more", x: BOX.w / 2, y: 53, "text-anchor": "middle" }, `▾ ${plural(below(tree, node), "node")} below`) : null);
      nodes.push(one);
    }
    group.append(...nodes);
    clear(canvas).append(svg("svg", { role: "tree", "aria-label": P.trees.titles[number] }, group));
    legendOf(tree, kind, range); move();
  }
  function legendOf(tree, kind, range) {
    clear(colours);
    if (kind === "answers" && P.labels && tree.d[0].length === P.labels.length) colours.append(...P.labels.slice(0, 12).map((l, k) => el("span", null, el("i", { style: { background: classColor(k, P.labels.length), height: ".6rem" } }), short(l))));
    else colours.append(el("span", null, el("i", { style: { background: ramp(0), height: ".6rem" } }), fmt(range[0], 3)), el("span", null, el("i", { style: { background: ramp(1), height: ".6rem" } }), fmt(range[1], 3)),
      el("span", null, kind === "answers" ? "mean of the training rows of a node" : `${weighted(tree) ? "value of a node, before the weight of the tree" : "what a leaf adds to the score"}, in ${P.unit}`));
  }
  function below(tree, node) { let count = 0; const stack = [...Walk.children(tree, node)]; while (stack.length) { const c = stack.pop(); count++; stack.push(...Walk.children(tree, c)); } return count; }
  function toggle(node) { const set = shut(), tree = M.trees[number]; if (Walk.isLeaf(tree, node)) return; set.has(node) ? set.delete(node) : set.add(node); draw(); show(node); }
  function select(node, focus) {
    chosen = node;
    canvas.querySelectorAll(".node").forEach(g => { const on = +g.dataset.node === node; g.classList.toggle("chosen", on); g.setAttribute("tabindex", on ? 0 : -1); if (on && focus) g.focus({ preventScroll: true }); });
    clear(side).append(...nodeSheet(P, M, number, node, select).filter(Boolean));
    clear(sheet).append(worksheet ? worksheet(number, node) : "");
  }
  function key(e, node) {
    const tree = M.trees[number], inside = shut().has(node) ? [] : Walk.children(tree, node), up = tree.parent[node];
    const beside = d => { const same = [...layout.spots].filter(([, s]) => s.depth === layout.spots.get(node).depth).sort((a, b) => a[1].x - b[1].x).map(([k]) => k); return same[same.indexOf(node) + d]; };
    const to = { ArrowDown: inside[0], ArrowUp: up >= 0 ? up : undefined, ArrowLeft: beside(-1), ArrowRight: beside(1) }[e.key];
    if (to !== undefined) { select(to, true); show(to); e.preventDefault(); }
    else if (e.key === "Enter" || e.key === " ") { toggle(node); select(node, true); e.preventDefault(); }
    else if (e.key === "+" || e.key === "=") zoom(1.25); else if (e.key === "-") zoom(0.8);
  }
  // ---------------------------------------------------------------- pan and zoom
  function move() { if (view) group.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.k})`); }
  function fit() {
    const w = canvas.clientWidth || 320, h = Math.min(0.8 * innerHeight, 34 * 16);
    const k = Math.min(1.1, Math.max(w < 520 ? 0.8 : 0.55, Math.min((w - 20) / layout.width, (h - 20) / layout.height)));
    const root = layout.spots.get(0);
    view = { k, x: layout.width * k <= w ? (w - layout.width * k) / 2 : w / 2 - (root.x + BOX.w / 2) * k, y: 10 };
    canvas.style.height = Math.max(200, Math.min(h, layout.height * k + 24)) + "px";
    move();
  }
  function show(node) {
    const s = layout.spots.get(node); if (!s || !view) return;
    const x = s.x * view.k + view.x, y = s.depth * (BOX.h + BOX.gapY) * view.k + view.y, w = canvas.clientWidth, h = canvas.clientHeight;
    if (x < 10) view.x += 20 - x; if (x + BOX.w * view.k > w - 10) view.x -= x + BOX.w * view.k - w + 20;
    if (y < 10) view.y += 20 - y; if (y + BOX.h * view.k > h - 10) view.y -= y + BOX.h * view.k - h + 20;
    move();
  }
  function zoom(by, cx = canvas.clientWidth / 2, cy = canvas.clientHeight / 2) {
    const k = Math.min(3, Math.max(0.08, view.k * by)), r = k / view.k;
    view = { k, x: cx - (cx - view.x) * r, y: cy - (cy - view.y) * r }; move();
  }
  let from = null, moved = false;
  canvas.addEventListener("pointerdown", e => { from = [e.clientX, e.clientY]; moved = false; });
  canvas.addEventListener("pointermove", e => {
    if (!from || !(e.buttons & 1)) { from = null; return; }
    const dx = e.clientX - from[0], dy = e.clientY - from[1];
    if (!moved && Math.abs(dx) + Math.abs(dy) < 5) return;
    moved = true; view.x += dx; view.y += dy; from = [e.clientX, e.clientY]; hideTip(); move();
  });
  canvas.addEventListener("pointerup", () => { from = null; setTimeout(() => moved = false, 0); });
  canvas.addEventListener("wheel", e => { if (!e.ctrlKey && !e.metaKey) return; e.preventDefault(); const box = canvas.getBoundingClientRect(); zoom(Math.exp(-e.deltaY / 250), e.clientX - box.left, e.clientY - box.top); }, { passive: false });

  // Wide enough for the questions at the top of the tree.
  function widen() {
    const tree = Walk.open(M.trees[number]), columns = treeColumns(P, number);
    let longest = 20;
    for (let i = 0; i < Math.min(tree.size, 63); i++) if (!Walk.isLeaf(tree, i)) longest = Math.max(longest, question(tree, i, columns).length);
    const room = canvas.clientWidth && canvas.clientWidth < 520 ? Math.max(150, (canvas.clientWidth - 12) / 1.6 - BOX.gapX) : BOX.most; // two boxes side by side
    BOX.w = Math.min(room, Math.max(150, Math.round(6.6 * longest + 16)));
  }
  function open(v) { number = v; chosen = -1; widen(); title.textContent = n > 1 ? P.trees.titles[v] : ""; draw(); fit(); select(0); }
  function show_row(v, values) { if (v >= n) return; row = values; pick.set(v + 1); open(v); }
  let known = 0; // width of the canvas when the tree was last laid out
  new ResizeObserver(() => {
    const w = canvas.clientWidth;
    if (!layout || from || !w || w === known) return;
    if (!known) { closed.clear(); widen(); draw(); }
    known = w; fit();
  }).observe(canvas);
  const whole = el("div", null, bar, colours, el("div", { class: "treebox" }, canvas, side), sheet, el("p", { class: "note" }, el("span", { class: "by-hand" }, "Drag to move, buttons or Ctrl and the wheel to zoom; arrow keys go from node to node, Enter opens and closes a branch. "), "A thicker edge carries more rows." + (P.trees.cut ? " " + P.trees.cut : P.trees.total > n ? ` The model has ${fmt(P.trees.total)} trees; predict uses the first ${fmt(n)}, up to the best round.` : "")));
  open(0);
  return { whole, show_row, open };
}

// The figures of a node, and of its children.
function nodeSheet(P, M, number, node, select) {
  const tree = M.trees[number], columns = treeColumns(P, number), leaf = Walk.isLeaf(tree, node), kind = P.trees.kinds[number], d = tree.d[node];
  const way = []; for (let c = node; c > 0; c = tree.parent[c]) { const p = tree.parent[c]; way.unshift(branch(tree, p, c - tree.c[tree.at[p]], columns)); }
  const parts = [el("h3", { style: { marginTop: 0 } }, leaf ? `Leaf ${node}` : `Node ${node}: ${question(tree, node, columns)}`)];
  parts.push(el("p", { class: "note" }, way.length ? "Training rows with " + way.join(", ") : "All training rows"));
  parts.push(facts([["rows", `${fmt(tree.n[node])} (${percent(tree.n[node] / (tree.n[0] || 1), node ? 1 : 0)} of the tree)`],
    kind === "answers" && tree.i[node] !== null ? ["impurity", fmt(tree.i[node], 5)] : null, leaf ? null : ["gain of the split", fmt(tree.g[tree.at[node]], 5)]]));
  if (kind === "answers" && P.labels && d.length === P.labels.length) parts.push(bars(d.map((v, k) => ({ label: P.labels[k], value: v, text: percent(v), color: classColor(k, d.length) })).sort((a, b) => b.value - a.value).slice(0, 8)));
  else parts.push(facts([[kind === "answers" ? "mean" : "value", d.map(v => fmt(orNothing(tree, v), 6)).join(", ")]]));
  if (!leaf) {
    const j = tree.at[node];
    parts.push(table(["branch", "rows", kind === "answers" ? "prediction" : "value"], Walk.children(tree, node).map((c, k) => [el("td", { class: "wrap" }, el("a", { href: "#trees", onclick: e => { e.preventDefault(); select(c, false); } }, branch(tree, node, k, columns, 8))), fmt(tree.n[c]), nodeAnswer(P, tree, c, kind).text])));
    if (tree.m[j] < 0) parts.push(el("p", { class: "note" }, tree.stops ? "A row without this value stops here: the node gives the prediction." : "A row without this value follows every branch, with weights by the number of rows."));
    else if (columns[tree.f[j]].had_missing) parts.push(el("p", { class: "note" }, "Rows without this value follow: " + branch(tree, node, tree.m[j], columns)));
    if (tree.a && tree.a[j].length) parts.push(el("p", { class: "note" }, "If this value is missing, these columns are used instead: " + tree.a[j].map(([k, f, t]) => columns[f].name + (k === 1 ? ` ≤ ${valueOf(columns[f], t)}` : "")).join(", then ")));
  } else if (leaf) {
    const said = Walk.said(tree, node);
    if (weighted(tree) || kind !== "answers") parts.push(facts([["adds to the score", said.map(v => fmt(v, 6)).join(", ")]]));
  }
  return parts;
}
