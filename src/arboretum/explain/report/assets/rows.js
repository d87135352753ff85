// One row: what the model says of it and why. What if its values were others?
"use strict";
const answerOf = (P, M, row) => Walk.run(M.steps, row, { trees: M.trees, sizes: P.sizes });
const asRow = values => values.map(v => v === null ? NaN : v);

function answerView(P, answer, actual) {
  if (!P.labels) return el("div", null, el("span", { class: "big" }, fmt(answer[0], 7)), actual !== undefined && actual !== null ? el("span", { class: "note" }, P.task === "ranking" ? `  grade ${fmt(actual, 6)}` : `  actual ${fmt(actual, 6)}, error ${fmt(actual - answer[0], 4)}`) : null);
  const order = answer.map((p, k) => [p, k]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 8);
  return el("div", { class: "answer" }, order.map(([p, k]) => [el("span", null, short(P.labels[k], 22), actual === k ? el("span", { class: "tag" }, "actual") : null),
    el("span", { class: "track" }, el("div", { class: "bar", style: { width: Math.max(100 * p, 0.4) + "%", background: classColor(k, answer.length) } })), el("span", null, percent(p, 2))]));
}
// The sum of trees that the answer is made of, if nothing on the way changes the row.
const BENDS = ["link", "two", "signs", "difference", "absent", "begin"];
function sumOfTrees(s) { while (s && BENDS.includes(s.op)) s = s.of; return s && s.op === "trees" ? s : null; }
function straight(s) { const way = []; while (s) { way.push(s); s = Array.isArray(s.of) ? null : s.of; } return way; }

// A waterfall: from the base to the sum, the largest parts first.
function waterfall(P, values, parts, base, name) {
  return drawn(width => {
    const order = parts.map((v, f) => [v, f]).sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]));
    const shown = order.slice(0, 10), rest = order.slice(10).reduce((s, [v]) => s + v, 0), lines = [];
    let at = base;
    for (const [v, f] of shown) if (v) { lines.push([`${P.columns[f].name} = ${valueOf(P.columns[f], values[f])}`, at, at += v]); }
    if (rest) lines.push([`${order.length - 10} other columns`, at, at += rest]);
    const left = Math.min(230, Math.max(110, width * 0.36)), x = extent(lines.flatMap(l => [l[1], l[2]]).concat(base), 0.08), h = 24, height = (lines.length + 2) * h + 34;
    const s = scale(x, [left, width - 62]), g = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "What every column brings" });
    g.append(svg("line", { x1: s(base), x2: s(base), y1: 14, y2: height - 22, stroke: css("line") }));
    const label = (text, i) => svg("text", { x: left - 8, y: i * h + 18, "text-anchor": "end" }, short(text, Math.floor(left / 6.6)));
    g.append(label("base", 0), svg("text", { class: "quiet", x: s(base) + 5, y: 18 }, fmt(base)));
    lines.forEach(([text, a, b], i) => {
      const y = (i + 1) * h + 4, colour = b >= a ? css("high") : css("low");
      g.append(label(text, i + 1), svg("rect", { x: Math.min(s(a), s(b)), width: Math.max(Math.abs(s(b) - s(a)), 1), y, height: h - 7, fill: colour, rx: 2, ...tipped(`${text}\n${b >= a ? "+" : ""}${fmt(b - a, 5)}`) }),
        svg("text", { class: "quiet", x: Math.max(s(a), s(b)) + 5, y: y + 13 }, (b >= a ? "+" : "") + fmt(b - a, 3)));
    });
    const end = (lines.length + 1) * h;
    g.append(label(name, lines.length + 1), svg("text", { x: s(at) + 5, y: end + 18, "font-weight": 600 }, fmt(at, 5)), svg("circle", { cx: s(at), cy: end + 14, r: 3.5, fill: css("ink") }));
    return g;
  });
}
// How far the answer moves when one column takes its usual value instead: for models without SHAP values.
function replaced(P, M, row, output) {
  const now = answerOf(P, M, row)[output];
  return P.columns.map((c, f) => {
    const other = row.slice();
    other[f] = c.words ? c.counts.indexOf(Math.max(...c.counts)) : c.quantiles ? c.quantiles[2] : NaN;
    return now - answerOf(P, M, other)[output];
  });
}

function journey(P, M, row, goTree) {
  const sum = sumOfTrees(M.steps);
  if (!sum || sum.median) return members(P, M, row);
  const labels = P.labels, many = sum.base.length > 1, box = el("div"), div = sum.div || 1;
  const begun = straight(M.steps).find(s => s.op === "begin"), base = begun ? Walk.run(begun.start, row, { trees: M.trees, sizes: P.sizes }) : sum.base;
  const total = base.slice(), lines = [];
  for (let t = 0; t < sum.count; t++) {
    const number = sum.first + t, tree = M.trees[number], path = Walk.path(tree, row, P.sizes), leaf = path[path.length - 1], said = Walk.said(tree, leaf);
    const column = sum.columns ? sum.columns[t] : 0;
    said.forEach((v, k) => total[column + k] += v);
    lines.push({ number, path, leaf, said, column, total: total.map(v => v / div) });
  }
  const name = k => labels ? labels.length === 2 && !many ? labels[1] : labels[k] : "";
  let output = labels && many ? Walk.argmax(answerOf(P, M, row)) : 0;
  const list = el("div"), chart = drawn(width => {
    const ys = [base[output] / div, ...lines.map(l => l.total[output])];
    return lineChart(width, [{ name: "sum so far", x: ys.map((_, i) => i), y: ys, color: css("c0"), step: lines.length < 40 }], { height: 150, xlabel: "trees", xname: "after tree", left: 56 });
  });
  function write() {
    const shown = lines.filter(l => !sum.columns || l.column === output).slice(0, 400);
    clear(list).append(el("div", { class: "tall scroll" }, table(["tree", "way down", "leaf", ...(div !== 1 ? ["says"] : []), "adds", "sum so far"], shown.map(l => {
      const tree = M.trees[l.number], columns = treeColumns(P, l.number), k = sum.columns ? 0 : output;
      const way = l.path.slice(1).map((c, i) => branch(tree, l.path[i], c - tree.c[tree.at[l.path[i]]], columns, 3));
      return [el("td", { class: "l" }, el("a", { href: "#trees", onclick: () => goTree(l.number, row) }, String(l.number))), el("td", { class: "wrap" }, way.join(" → ") || "root"), fmt(l.leaf), ...(div !== 1 ? [fmt(l.said[k], 5)] : []), fmt(l.said[k] / div, 5), fmt(l.total[output], 6)];
    }))));
    chart.redraw();
  }
  if (labels && many) box.append(el("div", { class: "controls" }, choice("Sum of class", labels.map(l => short(l)), k => { output = k; write(); }, output)));
  box.append(lines.length > 1 ? chart : "", list); write();
  const link = M.steps.op === "trees" ? (div !== 1 ? `What a tree says is divided by ${fmt(div)}: the answer is their mean.` : "") : straight(M.steps).filter(s => s.op === "link").map(s => `The sum goes through the ${s.name} link${s.sigma !== 1 ? ` (times ${fmt(s.sigma)})` : ""}.`).join(" ");
  if (link) box.append(el("p", { class: "note" }, link));
  return box;
}
// Models of other models: what each of them says.
function members(P, M, row) {
  const last = straight(M.steps).pop(), model = { trees: M.trees, sizes: P.sizes };
  if (last.op === "rules") return null;
  if (last.op === "spread") {
    const tree = M.trees[last.tree], columns = treeColumns(P, last.tree), binned = straight(M.steps).find(s => s.op === "bins");
    const mine = row.slice(), sizes = columns.map(c => c.words ? c.words.length : 0);
    if (binned) for (const [f, cuts] of Object.entries(binned.cuts)) if (mine[f] === mine[f]) mine[f] = cuts.filter(c => c < mine[f]).length;
    return el("div", { class: "tall scroll" }, table(["way down", "share of the row", "says"], Walk.reached(tree, mine, sizes).map(([node, w]) => {
      const way = []; for (let c = node; c > 0; c = tree.parent[c]) way.unshift(branch(tree, tree.parent[c], c - tree.c[tree.at[tree.parent[c]]], columns, 3));
      return [el("td", { class: "wrap" }, way.join(" → ") || "root"), percent(w), nodeAnswer(P, tree, node, "answers").text];
    })));
  }
  const step = straight(M.steps).find(s => s.op === "stack") || last;
  const parts = step.op === "stack" ? step.row.of : Array.isArray(step.of) ? step.of : null;
  if (sumOfTrees(M.steps)) { // a weighted median
    const s = sumOfTrees(M.steps), said = Array.from({ length: s.count }, (_, t) => [s.first + t, Walk.said(M.trees[s.first + t], Walk.leafOf(M.trees[s.first + t], row, P.sizes))[0], s.median[t]]).sort((a, b) => a[1] - b[1]);
    let w = 0; const all = s.median.reduce((a, b) => a + b, 0);
    return el("div", { class: "tall scroll" }, table(["tree", "says", "weight", "weight so far"], said.map(([t, v, weight]) => ({ cells: [String(t), fmt(v, 6), fmt(weight), percent((w += weight) / all)], attributes: v === answerOf(P, M, row)[0] ? { class: "here" } : null }))));
  }
  if (!parts) return null;
  const names = P.overview.members || [], final = step.op === "stack" ? straight(step.of).find(s => s.op === "linear") : null;
  const said = parts.map(s => Walk.run(s, row, model)), name = i => names[i] ? `${names[i][0]} (${names[i][1]})` : `member ${i}`;
  let at = 0; // place of a member's first number in the row of the final model
  const places = said.map(v => { const here = at; at += v.length; return here; });
  const linear = final && final.w.length === 1 ? final : null;
  const head = ["member", P.labels && step.op !== "stack" ? P.labels.map(l => short(l, 14)).join(", ") : "says", ...(linear ? ["weight", "adds"] : [])];
  const box = el("div", null, el("div", { class: "tall scroll" }, table(head, said.map((v, i) => [name(i), v.map(x => fmt(x, 4)).join(", "), ...(linear ? [v.map((_, k) => fmt(linear.w[0][places[i] + k], 4)).join(", "), fmt(v.reduce((s, x, k) => s + x * linear.w[0][places[i] + k], 0), 4)] : [])]))));
  if (linear) box.append(el("p", { class: "note" }, `The final model adds these and ${fmt(linear.b[0], 4)}${straight(step.of).some(s => s.op === "link") ? "; the sum goes through its link" : ""}.`));
  else if (step.op === "stack") box.append(el("p", { class: "note" }, "What the members say is the row that the final model sees; its trees stand last among the trees."));
  return box;
}

function rowPanel(P, M, goTree) {
  const R = P.rows; if (!R.x.length) return el("p", { class: "note" }, "No rows were put into this page (rows=\"none\").");
  const place = el("div"), walk = M.steps !== null;
  const names = R.row.map((r, i) => `row ${r}` + (P.labels ? `: ${R.actual[i] < 0 ? "?" : short(P.labels[R.actual[i]], 18)}${Walk.argmax(R.predicted[i]) === R.actual[i] ? "" : ", predicted " + short(P.labels[Walk.argmax(R.predicted[i])], 18)}` : `: ${fmt(R.actual[i])}`));
  const order = R.row.map((_, i) => i).sort((a, b) => R.loss[b] - R.loss[a]);
  let at = order[0];
  const list = el("select", { onchange: () => open(+list.value), "aria-label": "Row" }, el("optgroup", { label: "largest errors first" }, order.map(i => el("option", { value: i }, names[i]))));
  const step = d => { const j = order.indexOf(at) + d; if (order[j] !== undefined) { list.value = order[j]; open(order[j]); } };
  function open(i) {
    at = i;
    const values = R.x[i], row = asRow(values), predicted = R.predicted[i], best = P.labels ? Walk.argmax(predicted) : 0;
    const left = el("div", null, el("h3", null, "The answer"), answerView(P, predicted, R.actual[i]));
    const why = el("div");
    if (R.shap) {
      const parts = R.shap[i], output = parts.length === 1 ? 0 : best;
      const of = P.labels ? (parts.length === 1 ? P.labels[P.labels.length - 1] : P.labels[best]) : P.target;
      why.append(el("h3", null, "What every column brings"), waterfall(P, values, parts[output], R.shap_base[output], "sum"),
        el("p", { class: "note" }, `SHAP values: shares of the difference between this row's sum and the base, the mean over the training rows${P.labels ? `, for ${short(of)}` : ""}. They add up exactly.`));
    } else if (walk) {
      const parts = replaced(P, M, row, best);
      why.append(el("h3", null, "One column at a time"), bars(parts.map((v, f) => ({ label: `${P.columns[f].name} = ${valueOf(P.columns[f], values[f])}`, value: v, color: v < 0 ? css("low") : css("high") })).filter(b => b.value).sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 10)),
        el("p", { class: "note" }, `How far the answer${P.labels ? ` for ${short(P.labels[best])}` : ""} would fall back if one column had its usual value, all others as they are. These do not add up to the answer.`));
    }
    left.append(el("h3", null, "Its values"), el("div", { class: "tall scroll" }, table(["column", "value"], P.order.map(f => [P.columns[f].name, valueOf(P.columns[f], values[f])]))));
    clear(place).append(el("div", { class: "grid2" }, left, why));
    if (walk) {
      const way = journey(P, M, row, goTree);
      if (way) place.append(el("h3", null, "Its way through the model"), way);
      const near = nearest(P, M, i);
      if (near) place.append(el("h3", null, "Nearest rows of the page"), near);
    }
  }
  open(at);
  return el("div", null, el("div", { class: "controls" }, el("label", null, "Row", list), el("button", { onclick: () => step(-1) }, "‹ worse"), el("button", { onclick: () => step(1) }, "better ›")), place);
}
// Rows that end in the same leaves.
function nearest(P, M, i) {
  const n = M.trees.length; if (!n || P.trees.schemas[0] !== 0) return null;
  P.leaves = P.leaves || P.rows.x.map(x => M.trees.map(t => Walk.leafOf(t, asRow(x), P.sizes)));
  const near = P.leaves.map((l, j) => [l.filter((v, t) => v === P.leaves[i][t]).length / n, j]).filter(p => p[1] !== i).filter(p => p[0] > 0).sort((a, b) => b[0] - a[0]).slice(0, 6);
  if (!near.length) return el("p", { class: "note" }, "None of them ends in a leaf of this row.");
  const shown = P.order.slice(0, 5);
  return [scroller(table(["row", "same leaves", P.labels ? "class" : P.target, ...shown.map(f => P.columns[f].name)], near.map(([s, j]) => [String(P.rows.row[j]), percent(s, 0), P.labels ? P.labels[P.rows.actual[j]] || "?" : fmt(P.rows.actual[j]), ...shown.map(f => valueOf(P.columns[f], P.rows.x[j][f]))]))),
    el("p", { class: "note" }, `${n === 1 ? "Rows that end in the same leaf" : `The share of the ${plural(n, "tree")} in which both end in the same leaf`}; compared are the ${P.rows.x.length} rows that stand in this page.`)].reduce((box, part) => (box.append(part), box), el("div"));
}

function whatIfPanel(P, M) {
  if (!M.steps) return el("p", { class: "note" }, "This model cannot be asked in the page: " + M.reason + ".");
  const usual = P.columns.map(c => c.words ? c.counts.indexOf(Math.max(...c.counts)) : c.quantiles ? (c.whole ? Math.round(c.quantiles[2]) : c.quantiles[2]) : NaN);
  let start = P.rows.x.length ? asRow(P.rows.x[0]) : usual, now = start.slice();
  const out = el("div", { "aria-live": "polite" }), fields = el("div", { class: "whatif" }), inputs = [];
  const before = el("p", { class: "note" });
  function say() {
    const answer = answerOf(P, M, now), first = answerOf(P, M, start);
    P.whatIf = { row: now.slice(), answer };
    clear(out).append(answerView(P, answer));
    const k = P.labels ? Walk.argmax(answer) : 0, moved = answer[k] - first[k];
    before.textContent = moved ? `${P.labels ? short(P.labels[k]) + ": " : ""}${moved > 0 ? "+" : ""}${P.labels ? (100 * moved).toFixed(2).replace("-", MINUS) + " points" : fmt(moved, 4)} since the start` : "as at the start";
    inputs.forEach((set, f) => set.field.classList.toggle("changed", !(now[f] === start[f] || (now[f] !== now[f] && start[f] !== start[f]))));
  }
  function field(c, f) {
    const gap = el("input", { type: "checkbox", "aria-label": `${c.name} missing` });
    let read, write, parts;
    if (c.words) {
      const list = el("select", { "aria-label": c.name }, c.words.map((w, k) => el("option", { value: k }, short(w, 40))));
      read = () => +list.value; write = v => { if (v === v) list.value = v; list.disabled = v !== v; }; parts = [list];
      list.addEventListener("change", () => set(read()));
    } else {
      const [low, high] = c.range || [0, 1], step = c.whole ? 1 : (high - low) / 400 || 0.01;
      const range = el("input", { type: "range", min: low, max: high, step: c.whole ? 1 : "any", "aria-label": c.name, tabindex: -1 }), number = el("input", { type: "number", step: "any", "aria-label": c.name });
      read = () => +number.value; write = v => { if (v === v) { number.value = v; range.value = v; } number.disabled = range.disabled = v !== v; };
      range.addEventListener("input", () => { number.value = c.whole ? range.value : Number((+range.value).toPrecision(5)); set(read()); });
      number.addEventListener("input", () => { range.value = number.value; if (number.value !== "") set(read()); });
      parts = c.range ? [range, number] : [number];
    }
    const date = c.dtype === "datetime" ? el("output") : null; // a number of seconds says little
    const set = v => { now[f] = v; gap.checked = v !== v; if (date) date.textContent = ` ${valueOf(c, v)}, in seconds since 1970`; say(); };
    gap.addEventListener("change", () => { const v = gap.checked ? NaN : read(); write(v); set(v); });
    const box = el("div", { class: "field" }, el("span", { class: "name", title: c.name }, c.name, date), el("div", null, parts, el("label", { class: "gap" }, gap, "missing")));
    return { field: box, write: v => { write(v); gap.checked = v !== v; if (date) date.textContent = ` ${valueOf(c, v)}, in seconds since 1970`; } };
  }
  P.columns.forEach((c, f) => inputs.push(field(c, f)));
  const first = P.order.slice(0, 24), rest = P.order.slice(24);
  fields.append(...first.map(f => inputs[f].field));
  const more = rest.length ? el("details", null, el("summary", null, `${rest.length} columns of less importance`), el("div", { class: "whatif" }, rest.map(f => inputs[f].field))) : null;
  function begin(row) { start = row.slice(); now = row.slice(); inputs.forEach((i, f) => i.write(now[f])); say(); }
  const list = choice("Start from", ["usual values", ...P.rows.row.map(r => `row ${r}`)], k => begin(k ? asRow(P.rows.x[k - 1]) : usual), P.rows.x.length ? 1 : 0);
  begin(start);
  return el("div", null, el("div", { class: "controls" }, list, el("button", { onclick: () => begin(start) }, "Back to the start")), out, before, el("h3", null, "Values"), fields, more);
}
