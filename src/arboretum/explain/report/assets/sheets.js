// Worksheets: the arithmetic of a node, a leaf or a round as it was worked out from the training rows.
"use strict";
const cellText = v => v === null || v === undefined ? "–" : typeof v === "number" ? fmt(v, 5) : Array.isArray(v) ? v.map(cellText).join(", ") : String(v);
function sheetView(sheet, depth = 0) {
  const box = el("div", { class: "sheet" }, el(depth ? "h3" : "b", null, sheet.title));
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
  const S = M.sheets || { nodes: {}, rounds: [], why: "" };
  const call = (t, n, leaf) => `arboretum.worksheet(model, X, y).${leaf ? "leaf" : "node"}(${t}, ${n})`;
  const node = (number, n) => {
    const own = P.trees.numbers[number], sheet = S.nodes[`${own}:${n}`], leaf = Walk.isLeaf(M.trees[number], n);
    if (sheet) return el("div", { class: "worksheet" }, el("h3", null, "Worksheet"), sheetView(sheet));
    const why = Object.keys(S.nodes).length ? "Worked out for this page were the nodes that take little time, tree by tree, and this one is not among them" : S.why ? `No worksheet: ${S.why}` : "Worksheets need the training table (report(..., train=(X, y)))";
    return el("p", { class: "note" }, why, S.why ? "" : [". In Python: ", el("code", null, own < 0 ? "arboretum.worksheet(member, X, y)" : call(own, n, leaf))]);
  };
  const rounds = () => {
    const place = el("div"), show = i => clear(place).append(sheetView(S.rounds[i][1]));
    const shown = el("output", null, `round ${S.rounds[0][0]}`);
    const input = el("input", { type: "range", min: 0, max: S.rounds.length - 1, step: 1, "aria-label": "Round", oninput: () => { shown.textContent = `round ${S.rounds[+input.value][0]}`; show(+input.value); } });
    input.value = 0; show(0);
    return el("div", null, el("div", { class: "controls" }, el("label", null, "Round", input, shown)), place);
  };
  return { node, rounds: S.rounds.length ? rounds : null };
}
