// Worksheets: the arithmetic of a node, a leaf or a round as it was worked out from the training rows.
"use strict";
const cellText = v => v === null || v === undefined ? "–" : typeof v === "number" ? fmt(v, 5) : Array.isArray(v) ? v.map(cellText).join(", ") : String(v).replaceAll(" <= ", " ≤ ");
function sheetView(sheet, depth = 0) {
  const box = el("div", { class: "sheet" }, sheet.title ? el(depth ? "h3" : "b", null, cellText(sheet.title)) : "");
  const pairs = Object.entries(sheet.facts);
  if (pairs.length) box.append(facts(pairs.map(([k, v]) => [k, cellText(v)])));
  if (sheet.formulas.length) box.append(el("div", { class: "formulas" }, sheet.formulas.map(f => el("div", { class: "formula" }, el("b", null, f.name), f.rule ? ` = ${f.rule}` : "", f.numbers ? `\n  = ${f.numbers}` : "", f.value === null ? "" : `\n  = ${cellText(f.value)}`))));
  for (const t of sheet.tables) {
    if (!t.rows.length) continue;
    const words = t.header.map((_, c) => t.rows.some(r => typeof r[c] === "string"));
    box.append(el("h3", null, t.title), el("div", { class: "tall scroll" }, table(t.header, t.rows.map((r, i) => ({ cells: r.map((v, c) => words[c] ? el("td", { class: c ? "l" : "wrap" }, cellText(v)) : el("td", null, cellText(v))), attributes: t.marked.includes(i) ? { class: "here" } : null })))));
    if (t.more > 0) box.append(el("p", { class: "note" }, `and ${fmt(t.more)} more`));
  }
  for (const n of sheet.notes) box.append(el("p", { class: "note" }, n));
  for (const p of sheet.parts) box.append(sheetView(p, depth + 1));
  return box;
}
function worksheetView(P, M) {
  const S = M.sheets || { nodes: {}, rounds: null, outlines: {}, why: "" };
  // What prints the whole sheet: a command where the tree is the model's own, or a member's.
  const command = (at, n) => {
    const [member, own] = P.trees.places[at];
    return `arboretum explain model.arb training.csv${member ? ` --member ${member}` : ""} --tree ${own} --node ${n}`;
  };
  const node = (at, n) => {
    const whole = S.nodes[`${at}:${n}`], sheet = whole || Outline.sheet(P, M, at, n), leaf = Walk.isLeaf(M.trees[at], n);
    const known = S.outlines && S.outlines[at], print = [" This prints the whole worksheet, with the close rivals: ", el("code", null, command(at, n)), "."];
    let note = null;
    if (!whole && M.sheets === null) note = ["These are the numbers the model keeps. Which splits it was chosen from takes the training table: ", el("code", null, "report(…, train=(X, y))"), "."];
    else if (!whole && S.why) note = [`Nothing more is known of it: ${S.why}.`];
    else if (!whole && !known) note = ["The page has no room for the candidates of all nodes, and this one's are not in it.", ...print];
    else if (!whole && !leaf) note = print;
    return el("div", { class: "worksheet" }, el("h3", null, "Worksheet"), sheet ? sheetView(sheet) : null, note ? el("p", { class: "note" }, note) : null);
  };
  const rounds = () => roundsView(P, M, S.rounds, S.why);
  return { node, rounds: S.rounds ? rounds : null };
}
// All rounds: a line of each number over the rounds, and of the round at the slider its numbers, its trees and its sheet.
function roundsView(P, M, R) {
  const place = el("div"), last = R.count - 1, curves = R.lines.filter(([, v]) => new Set(v).size > 1);
  let at = 0, shown = 0;
  const chart = drawn(w => curves.length ? lineChart(w, [{ name: curves[shown][0], x: curves[shown][1].map((_, m) => m), y: curves[shown][1], color: css("c0") }], { height: 170, xlabel: "round", xname: "round", left: 56, nolegend: true, marks: [{ x: at, name: `round ${at}` }] }) : el("span"));
  function trees() {
    const mine = M.trees.slice(at * R.per_round, (at + 1) * R.per_round);
    if (!mine.length || M.trees.length < R.count * R.per_round) return null;
    return scroller(table(["tree", "root asks", "leaves", "depth", "gain of the root", "smallest value", "largest value"], mine.map((code, k) => {
      const number = at * R.per_round + k, tree = Walk.open(code), leaves = [...tree.k].map((kind, i) => kind === "0" ? i : -1).filter(i => i >= 0);
      const depth = Math.max(...leaves.map(i => { let d = 0; for (let c = i; c > 0; c = tree.parent[c]) d++; return d; })), said = leaves.map(i => tree.d[i][0]);
      return [String(number), el("td", { class: "wrap" }, Walk.isLeaf(tree, 0) ? "no split" : question(tree, 0, treeColumns(P, number))), fmt(leaves.length), fmt(depth), Walk.isLeaf(tree, 0) ? "–" : fmt(tree.g[0], 5), fmt(Math.min(...said), 4), fmt(Math.max(...said), 4)];
    })));
  }
  function show() {
    const whole = R.whole[at], numbers = R.lines.map(([name, v]) => [name, v[at] === null ? null : fmt(v[at], 6)]);
    const after = R.lines.find(([name]) => name === "loss before");
    if (after && at < last) numbers.splice(R.lines.indexOf(after) + 1, 0, ["loss after", fmt(after[1][at + 1], 6)]);
    const predicted = new Set(whole ? [...Object.keys(whole.facts), ...whole.formulas.map(f => f.name)] : []);
    clear(place).append(el("h3", null, `Round ${at} of 0 to ${last}`), facts(numbers.filter(([name]) => !predicted.has(name))), ...[whole ? null : trees()].filter(Boolean),
      whole ? sheetView({ ...whole, title: "" }) : el("p", { class: "note" }, "This page holds the whole sheets of rounds ", Object.keys(R.whole).join(", "), ". This prints the one of this round: ", el("code", null, `arboretum explain model.arb training.csv --round ${at}`), "."));
    chart.redraw();
  }
  const out = el("output", null, "0"), input = el("input", { type: "range", min: 0, max: last, step: 1, "aria-label": "Round", oninput: () => { at = +input.value; out.textContent = at; show(); } });
  input.value = 0;
  const move = d => { at = Math.min(last, Math.max(0, at + d)); input.value = at; out.textContent = at; show(); };
  const pick = curves.length > 1 ? choice("Line", curves.map(c => c[0]), k => { shown = k; chart.redraw(); }) : null;
  show();
  return el("div", null, el("div", { class: "controls" }, el("label", null, "Round", input, out), el("button", { onclick: () => move(-1), "aria-label": "Round before" }, "‹"), el("button", { onclick: () => move(1), "aria-label": "Next round" }, "›"), pick), curves.length ? chart : "", place);
}
