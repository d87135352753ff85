// Worksheets: the arithmetic of a node, a leaf or a round as it was worked out from the training rows.
"use strict";
const cellText = v => v === null || v === undefined ? "–" : typeof v === "number" ? fmt(v, 5) : Array.isArray(v) ? v.map(cellText).join(", ") : String(v);
function sheetView(sheet, depth = 0) {
  const box = el("div", { class: "sheet" }, sheet.title ? el(depth ? "h3" : "b", null, sheet.title) : "");
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
  const S = M.sheets || { nodes: {}, rounds: [], outlines: {}, why: "" };
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
  const rounds = () => {
    const place = el("div"), show = i => clear(place).append(sheetView(S.rounds[i][1]));
    const shown = el("output", null, `round ${S.rounds[0][0]}`);
    const input = el("input", { type: "range", min: 0, max: S.rounds.length - 1, step: 1, "aria-label": "Round", oninput: () => { shown.textContent = `round ${S.rounds[+input.value][0]}`; show(+input.value); } });
    input.value = 0; show(0);
    return el("div", null, el("div", { class: "controls" }, el("label", null, "Round", input, shown)), place);
  };
  return { node, rounds: S.rounds.length ? rounds : null };
}
