// Worksheets: the arithmetic of a node, a leaf or a round, computed from the training rows.
"use strict";
const cellText = v => v === null || v === undefined ? "–" : typeof v === "number" ? fmt(v, 5) : Array.isArray(v) ? v.map(cellText).join(", ") : neat(v);
// Worksheets count trees and rounds from 0; the page counts them from 1, and separates thousands.
const fromOne = text => neat(text).replace(/\b(tree|round) (\d+)\b/g, (_, what, n) => `${what} ${+n + 1}`).replace(/\b\d{4,}\b(?= (?:rows|of|draws|training|candidates))/g, n => fmt(+n, 15));
function sheetView(sheet, depth = 0) {
  const box = el("div", { class: "sheet" }, sheet.title ? el(depth ? "h3" : "b", null, fromOne(sheet.title)) : "");
  const pairs = Object.entries(sheet.facts);
  if (pairs.length) box.append(facts(pairs.map(([k, v]) => [k, cellText(v)])));
  if (sheet.formulas.length) box.append(el("div", { class: "formulas" }, sheet.formulas.map(f => el("div", { class: "formula" }, el("b", null, neat(f.name)), f.rule ? ` = ${neat(f.rule)}` : "", f.numbers ? `\n  = ${neat(f.numbers)}` : "", f.value === null ? "" : `\n  = ${cellText(f.value)}`))));
  for (const t of sheet.tables.map(one => onlyNew(sheet, one))) {
    if (!t.rows.length) continue;
    const words = t.header.map((_, c) => t.rows.some(r => typeof r[c] === "string"));
    box.append(el("h3", null, neat(t.title)), tall(plural(t.rows.length, "line"), table(t.header, t.rows.map((r, i) => ({ cells: r.map((v, c) => c === 0 && t.header[0] === "tree" && Number.isInteger(v) ? v + 1 : v).map((v, c) => words[c] ? el("td", { class: c ? "l" : "wrap" }, cellText(v)) : el("td", null, cellText(v))), attributes: t.marked.includes(i) ? { class: "here" } : null })))));
    if (t.more > 0) box.append(el("p", { class: "note" }, `and ${fmt(t.more)} more`));
  }
  for (const n of sheet.notes) box.append(el("p", { class: "note" }, fromOne(n)));
  for (const p of sheet.parts) box.append(sheetView(p, depth + 1));
  return box;
}
// A later table without the splits that the first one has already.
function onlyNew(sheet, t) {
  const first = sheet.tables[0];
  if (first === t || t.header[0] !== "split" || first.header[0] !== "split") return t;
  const known = new Set(first.rows.map(r => String(r[0]))), kept = t.rows.map((_, i) => i).filter(i => !known.has(String(t.rows[i][0])));
  return { ...t, title: t.title === "Closest rivals" ? "Other close splits" : t.title, rows: kept.map(i => t.rows[i]), marked: t.marked.map(i => kept.indexOf(i)).filter(i => i >= 0) };
}
function worksheetView(P, M) {
  const S = M.sheets || { nodes: {}, rounds: null, outlines: {}, why: "" };
  // The command that prints the whole sheet.
  const command = (at, n) => {
    const [member, own] = P.trees.places[at];
    return `arboretum explain model.arb training.csv${member ? ` --member ${member}` : ""} --tree ${own} --node ${n}`;
  };
  const node = (at, n) => {
    const whole = S.nodes[`${at}:${n}`], sheet = whole || Outline.sheet(P, M, at, n), leaf = Walk.isLeaf(M.trees[at], n);
    const known = S.outlines && S.outlines[at], print = [" This command prints the whole worksheet, with the close rivals (it counts trees from 0): ", el("code", null, command(at, n)), "."];
    let note = null;
    if (!whole && M.sheets === null) note = ["These are the numbers the model keeps. The splits it was chosen from need the training table: ", el("code", null, "report(…, train=(X, y))"), "."];
    else if (!whole && S.why) note = [`The splits that were compared are not shown: ${S.why}.`];
    else if (!whole && !known) note = ["The candidates of this node are not in the page, which would become too large with those of all nodes.", ...print];
    else if (!whole && !leaf) note = print;
    return el("div", { class: "worksheet" }, el("h3", null, "Worksheet"), sheet ? sheetView({ ...sheet, title: "" }) : null, note ? el("p", { class: "note" }, note) : null);
  };
  const rounds = () => roundsView(P, M, S.rounds, S.why);
  return { node, rounds: S.rounds ? rounds : null };
}
// All rounds: a line of each number over the rounds, and the numbers, trees and worksheet of the round at the slider. Rounds are shown from 1.
function roundsView(P, M, R) {
  const place = el("div"), last = R.count - 1, curves = R.lines.filter(([, v]) => new Set(v).size > 1);
  let at = 0, shown = 0;
  const chart = drawn(w => curves.length ? lineChart(w, [{ name: curves[shown][0], x: curves[shown][1].map((_, m) => m + 1), y: curves[shown][1], color: css("c0") }], { height: 190, xlabel: "round", xname: "round", left: 56, nolegend: true, ylabel: curves[shown][0], marks: [{ x: at + 1, name: "" }] }) : el("span"));
  function trees() {
    const mine = M.trees.slice(at * R.per_round, (at + 1) * R.per_round);
    if (!mine.length || !mine.every(tree => tree.d) || M.trees.length < R.count * R.per_round) return null;
    return scroller(table(["tree", "first split", "leaves", "depth", "gain of the first split", "smallest value", "largest value"], mine.map((code, k) => {
      const number = at * R.per_round + k, tree = Walk.open(code), leaves = [...tree.k].map((kind, i) => kind === "0" ? i : -1).filter(i => i >= 0);
      const depth = Math.max(...leaves.map(i => { let d = 0; for (let c = i; c > 0; c = tree.parent[c]) d++; return d; })), said = leaves.map(i => tree.d[i][0]);
      return [String(number + 1), el("td", { class: "wrap" }, Walk.isLeaf(tree, 0) ? "no split" : question(tree, 0, treeColumns(P, number))), fmt(leaves.length), fmt(depth), Walk.isLeaf(tree, 0) ? "–" : fmt(tree.g[0], 5), fmt(Math.min(...said), 4), fmt(Math.max(...said), 4)];
    })));
  }
  function show() {
    const whole = R.whole[at], numbers = R.lines.map(([name, v]) => [name, v[at] === null ? null : fmt(v[at], 6)]);
    const after = R.lines.find(([name]) => name === "loss before");
    if (after && at < last) numbers.splice(R.lines.indexOf(after) + 1, 0, ["loss after", fmt(after[1][at + 1], 6)]);
    const predicted = new Set(whole ? [...Object.keys(whole.facts), ...whole.formulas.map(f => f.name)] : []);
    clear(place).append(el("h3", null, `Round ${at + 1} of ${R.count}`), facts(numbers.filter(([name]) => !predicted.has(name))), ...[whole ? null : trees()].filter(Boolean),
      whole ? sheetView({ ...whole, title: "" }) : el("p", { class: "note" }, "This page has the whole worksheets of rounds ", Object.keys(R.whole).map(m => +m + 1).join(", "), ". This command prints the one of this round (it counts from 0): ", el("code", null, `arboretum explain model.arb training.csv --round ${at}`), "."));
    chart.redraw();
  }
  const out = el("output", null, "1"), input = el("input", { type: "range", min: 1, max: R.count, step: 1, "aria-label": "Round", oninput: () => { at = +input.value - 1; out.textContent = at + 1; show(); } });
  input.value = 1;
  const move = d => { at = Math.min(last, Math.max(0, at + d)); input.value = at + 1; out.textContent = at + 1; show(); };
  const pick = curves.length > 1 ? choice("Show", curves.map(c => c[0]), k => { shown = k; chart.redraw(); }) : null;
  show();
  return el("div", null, el("div", { class: "controls" }, el("label", null, "Round", input, out), el("button", { onclick: () => move(-1), "aria-label": "Round before" }, "‹"), el("button", { onclick: () => move(1), "aria-label": "Next round" }, "›"), pick), curves.length ? chart : "", place);
}
