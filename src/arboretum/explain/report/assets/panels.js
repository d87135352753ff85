// The panels that need no row and no tree: figures, columns, curves.
"use strict";
// A tile: the figure, its interval, what a model without columns reaches, and which direction is better.
function figureCard(f, other, name) {
  const text = formatOf([f.low, f.high], 20);
  return el("div", { class: "figure" }, el("div", { class: "name" }, f.name), el("b", null, text(f.value)), el("div", { class: "range" }, `${text(f.low)} to ${text(f.high)}`), el("div", { class: "base" }, `${f.baseline[0]}: ${text(f.baseline[1])}`), other ? el("div", { class: "range" }, `${name}: ${text(other.value)}`) : null, el("div", { class: "what" }, `${f.what} · ${f.more ? "higher" : "lower"} is better`));
}

function overview(P) {
  const o = P.overview, train = P.train_figures || [];
  const other = f => train.find(t => t.name === f.name) || (o.oob_name === f.name ? { value: o.oob_score } : null);
  const box = el("div", null, el("div", { class: "figures" }, P.figures.map(f => figureCard(f, other(f), o.oob_figures || !train.length ? "out-of-bag" : "training rows"))));
  box.append(el("p", { class: "note" }, P.train_figures ? `Measured on ${plural(o.rows, "row")}; the small print has ${o.oob_figures ? "the out-of-bag predictions of" : "the same figure on"} the ${plural(o.train_rows, "training row")}. ${o.oob_figures ? "A forest fits its own training rows almost perfectly, so only rows that a tree did not see are compared. " : "A large gap means the model memorised its training rows. "}`
    : `Measured on ${plural(o.rows, "row")}. If the model was fitted on these rows, the figures are too optimistic. `, `The range is a 95 % confidence interval (200 bootstrap samples of the ${P.task === "ranking" ? "groups" : "rows"}).`));
  const changed = o.parameters.filter(p => !p[2]), usual = o.parameters.filter(p => p[2]);
  const lines = [...o.lines || [], ["model", o.model], ["what it is", o.about], ["task", P.labels ? `classification of ${P.target}: ${plural(P.labels.length, "class", "classes")}: ${P.labels.slice(0, 8).map(l => short(l, 20)).join(", ")}${P.labels.length > 8 ? ", …" : ""}` : P.task === "ranking" ? `ranking by ${P.target}; only the order inside a group matters` : `regression of ${P.target}`],
    ["data", `${plural(o.rows, "row")}, ${plural(o.columns, "column")}${o.used < o.rows ? `; computed from a sample of ${fmt(o.used)} rows` : ""}`], o.train_rows ? ["training rows", fmt(o.train_rows)] : null,
    o.trees ? ["size", `${plural(o.trees, "tree")}, ${plural(o.leaves, "leaf", "leaves")}, depth ${o.depth}`] : o.n_rules !== undefined ? ["size", plural(o.n_rules, "rule")] : null,
    o.members ? ["members", o.members.map(m => `${m[0]} (${m[1]})`).join(", ")] : null, o.oob_score !== undefined ? ["out-of-bag score", fmt(o.oob_score)] : null, o.interrupted ? ["interrupted", "after " + o.interrupted] : null,
    ["seed", o.seed], ["SHA-256 of the model file", o.hash ? el("code", null, o.hash) : null], ["versions", o.versions.map(v => v.join(" ")).join(", ")], o.fit_seconds !== undefined ? ["fit", `took ${fmt(o.fit_seconds, 3)} s (the first fit of a kind includes compiling)`] : null, ["page made", `${o.made}, in ${fmt(Object.values(P.seconds).reduce((a, b) => a + b, 0), 2)} s`], ...Object.entries(o.notes)];
  box.append(facts(lines));
  if (o.choices) box.append(el("h3", null, "What the fit tried on held-out rows"), scroller(table(o.choices[0], o.choices.slice(1).map(line => line.map((cell, i) => i === 1 || i === 4 ? el("td", { class: "wrap" }, cell) : cell)), 5)));
  const list = ps => scroller(table(["parameter", "value"], ps.map(p => [p[0], el("td", { class: "wrap mono" }, p[1])])));
  if (changed.length) box.append(el("h3", null, "Parameters that were set"), list(changed));
  box.append(el("details", null, el("summary", null, `${usual.length} parameters at their defaults`), list(usual)));
  return box;
}
function dataSheet(P) {
  const most = 200, box = el("div"), all = P.overview.used;
  P.hints.forEach(h => box.append(el("div", { class: "hint" }, h)));
  if (!P.hints.length) box.append(el("p", { class: "note" }, "Nothing suspicious: no constant column, no row numbers or names, no column that determines the target alone."));
  P.duplicates.forEach(group => box.append(el("div", { class: "hint" }, `${sameColumns(P, group)} carry the same information in these rows: the model can use any of them, and importances split the credit.`)));
  const strange = P.columns.filter(c => c.unseen);
  if (strange.length) box.append(el("p", { class: "note" }, `Unseen categories did not occur in the training rows; the model treats them as missing. ${strange.slice(0, 5).map(c => `${c.name}: ${plural(c.unseen[1], "unseen category", "unseen categories")} in ${plural(c.unseen[0], "row")}${c.unseen[2].length ? ` (${c.unseen[2].map(w => short(w, 20)).join(", ")}${c.unseen[1] > c.unseen[2].length ? ", …" : ""})` : ""}`).join("; ")}${strange.length > 5 ? "; …" : ""}.`));
  const share = n => n ? percent(n / all) : "–", head = ["column", "kind", "shape", "missing", ...(strange.length ? ["unseen"] : []), "distinct", "range or most frequent"];
  const lines = table(head, P.columns.slice(0, most).map(c => [short(c.name, 34), el("td", { class: "l half" }, c.dtype === "datetime" ? "date" : c.words ? "category" : "number"), el("td", { class: "l half" }, c.counts ? spark(c.words ? [...c.counts].sort((a, b) => b - a).slice(0, 24) : c.counts) : ""),
    share(c.missing), ...(strange.length ? [share(c.unseen ? c.unseen[0] : 0)] : []), fmt(c.distinct), el("td", { class: "l" }, c.words ? c.counts.map((n, k) => [n, k]).sort((a, b) => b[0] - a[0]).slice(0, 3).map(([n, k]) => `${short(c.words[k], 18)} ${percent(n / all, 0)}`).join(", ") : c.range ? `${valueOf(c, c.range[0])} to ${valueOf(c, c.range[1])}, median ${valueOf(c, c.quantiles[2])}` : "no value")]), 1);
  box.append(P.columns.length <= 25 ? scroller(lines) : tall(plural(Math.min(P.columns.length, most), "column"), lines));
  if (P.columns.length > most) box.append(el("p", { class: "note" }, `The first ${most} of ${fmt(P.columns.length)} columns.`));
  return box;
}
const sameColumns = (P, group) => { const names = group.map(f => P.columns[f].name); return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`; };
function learning(P) {
  const L = P.learning, units = [...new Set(L.lines.map(l => l.unit))], names = [...new Set(L.lines.map(l => l.name))], better = u => /ndcg|auc|map|precision/i.test(u) ? "higher is better" : "lower is better";
  const texts = { error: "share of rows predicted wrongly" };
  return el("div", null, el("div", { class: units.length > 1 ? "grid2" : null }, units.map(u => el("div", null, drawn(w => lineChart(w, L.lines.filter(l => l.unit === u).map(l => ({ ...l, color: classColor(names.indexOf(l.name), 8) })), { xlabel: "rounds", xname: "round", ylabel: `${texts[u] || u} (${better(u)})`, legend: true, marks: L.best ? [{ x: L.best, name: `best: ${L.best}` }] : [] }))))),
    names.includes("training rows") ? null : el("p", { class: "note" }, "Make the page with train=(X, y) to see the training rows in the same charts."), L.stop && L.stop !== "n_estimators" ? el("p", { class: "note" }, `Boosting stopped early: ${L.stop}.`) : null);
}
function confusion(P) {
  const C = P.confusion, names = [...P.labels, "other labels"], K = P.labels.length, box = el("div");
  const shares = C.map(r => r.map(v => v / (r.reduce((a, b) => a + b, 0) || 1)));
  const cell = (v, r, c) => ({ text: fmt(v), title: `actual ${names[r]}, predicted ${P.labels[c]}: ${plural(v, "row")}, ${percent(shares[r][c])} of the actual class`,
    color: r === c ? `color-mix(in srgb, var(--good) ${Math.round(6 + 55 * shares[r][c])}%, transparent)` : v ? `color-mix(in srgb, var(--bad) ${Math.round(6 + 60 * shares[r][c])}%, transparent)` : "transparent" });
  const matrix = el("div", null, K <= 20 ? heat(C.map((_, r) => names[r]), P.labels, C.map((row, r) => row.map((v, c) => cell(v, r, c))), "actual ↓ predicted →") : confused(P, C));
  box.append(el("div", { class: "grid2" }, matrix, perClass(P, C)));
  if (K === 2) box.append(thresholds(P));
  return box;
}
function confused(P, C) {
  const list = C.flatMap((row, r) => row.map((v, c) => [v, r, c])).filter(([v, r, c]) => v && r !== c).sort((a, b) => b[0] - a[0]).slice(0, 15);
  return el("div", null, el("h3", null, "Most often confused"), table(["actual", "predicted", "rows"], list.map(([v, r, c]) => [short(P.labels[r] || "other"), el("td", { class: "l" }, short(P.labels[c])), fmt(v)])));
}
function perClass(P, C) {
  const col = P.labels.map((_, c) => C.reduce((s, r) => s + r[c], 0));
  return el("div", null, tall(plural(P.labels.length, "class", "classes"), table(["class", "rows", "recall", "precision", "F1"], P.labels.map((l, k) => {
    const n = C[k].reduce((a, b) => a + b, 0), recall = n ? C[k][k] / n : NaN, precision = col[k] ? C[k][k] / col[k] : NaN;
    return [short(l, 22), fmt(n), n ? percent(recall) : "–", col[k] ? percent(precision) : "–", recall + precision ? (2 * recall * precision / (recall + precision)).toFixed(3) : "–"];
  }))), el("p", { class: "note" }, "Recall: share of the rows of a class that are found. Precision: share of the predictions of a class that are correct. F1: their harmonic mean."));
}
function thresholds(P) {
  // above[r][i]: rows of actual class r whose probability of the second class is above i / 100
  const above = P.thresholds, rows = above.map(v => v[101]), all = rows.reduce((a, b) => a + b, 0), out = el("div"), cost = { fp: 1, fn: 1 }, xs = Array.from({ length: 101 }, (_, i) => i / 100);
  const wrong = i => above.reduce((s, v, r) => s + (r === 1 ? 0 : v[i]), 0), missed = i => rows[1] - above[1][i];
  const price = i => (cost.fp * wrong(i) + cost.fn * missed(i)) / all, no = P.labels[0], yes = P.labels[1];
  let at = 50;
  const chart = drawn(w => lineChart(w, [{ name: "mean cost of a row", x: xs, y: xs.map((_, i) => price(i)), color: css("c1"), step: true }], { height: 190, xlabel: "threshold", xname: "threshold", ylabel: "mean cost of a row", x: [0, 1], marks: [{ x: xs[at], name: fmt(xs[at], 3) }] }));
  function show() {
    const tp = above[1][at], fp = wrong(at), right = tp + rows[0] - above[0][at];
    const cell = (v, good, of) => ({ text: `${fmt(v)} · ${percent(v / (of || 1), 0)}`, color: `color-mix(in srgb, var(--${good ? "good" : "bad"}) ${Math.round(6 + 50 * v / (of || 1))}%, transparent)` });
    clear(out).append(heat([no, yes, "other labels"].slice(0, above.length), [no, yes], above.map((v, r) => [cell(rows[r] - v[at], r === 0, rows[r]), cell(v[at], r === 1, rows[r])]), "actual ↓ predicted →"),
      facts([["accuracy", percent(right / all, 2)], ["precision", tp + fp ? percent(tp / (tp + fp), 2) : "–"], ["recall", rows[1] ? percent(tp / rows[1], 2) : "–"], ["mean cost of a row", fmt(price(at), 4)]]));
    chart.redraw();
  }
  const move = slider(`Predict “${short(yes, 18)}” when its probability is above`, 0, 1, 0.01, 0.5, v => { at = Math.round(100 * v); show(); });
  const input = (text, key) => { const i = el("input", { type: "number", min: 0, step: "any", "aria-label": text, oninput: () => { cost[key] = Math.max(0, +i.value || 0); show(); } }); i.value = 1; return el("label", null, text, i); };
  const best = el("button", { onclick: () => { at = xs.reduce((b, _, i) => price(i) < price(b) ? i : b, at); move.set(xs[at]); show(); } }, "Cheapest");
  show();
  return el("div", { class: "thresholds" }, el("h3", null, "Threshold and costs"), el("div", { class: "controls" }, move, input(`cost of a false alarm (“${short(no, 14)}” predicted “${short(yes, 14)}”)`, "fp"), input(`cost of a miss (“${short(yes, 14)}” predicted “${short(no, 14)}”)`, "fn"), best), el("div", { class: "grid2" }, out, chart));
}
function classCurves(P) {
  const list = P.class_curves, K = P.labels.length;
  const lines = (fx, fy) => list.map(c => { const pts = c.tp.map((_, i) => [fx(c, i), fy(c, i)]); return { c, pts }; });
  const named = c => K === 2 ? "" : short(P.labels[c.class], 18);
  const roc = drawn(w => lineChart(w, [{ x: [0, 1], y: [0, 1], color: css("quiet"), dash: true, width: 1 }, ...lines((c, i) => c.fp[i] / (c.n || 1), (c, i) => c.tp[i] / (c.p || 1)).map(({ c, pts }) => ({ name: `${named(c) || "ROC"}${c.auc === null ? "" : `, area ${fmt(c.auc, 4)}`}`, x: [0, ...pts.map(p => p[0])], y: [0, ...pts.map(p => p[1])], color: classColor(K === 2 ? 0 : c.class, K) }))], { x: [0, 1], y: [0, 1], xlabel: K === 2 ? `share of “${short(P.labels[0], 10)}” predicted “${short(P.labels[1], 10)}” (false alarms)` : "share of other classes predicted so (false alarms)", ylabel: K === 2 ? `share of actual “${short(P.labels[1], 14)}” found (recall)` : "share of the class found (recall)", height: 300, nolegend: K === 2 }));
  const pr = drawn(w => lineChart(w, [...lines((c, i) => c.tp[i] / (c.p || 1), (c, i) => c.tp[i] / (c.tp[i] + c.fp[i])).map(({ c, pts }) => ({ name: `${named(c) || "precision"}${c.ap === null ? "" : `, average ${fmt(c.ap, 4)}`}`, x: pts.map(p => p[0]), y: pts.map(p => p[1]), color: classColor(K === 2 ? 0 : c.class, K) })), ...(K === 2 ? [{ x: [0, 1], y: [list[0].p / (list[0].p + list[0].n), list[0].p / (list[0].p + list[0].n)], color: css("quiet"), dash: true, width: 1 }] : [])], { x: [0, 1], y: [0, 1], xlabel: K === 2 ? `share of actual “${short(P.labels[1], 14)}” found (recall)` : "share of the class found (recall)", ylabel: K === 2 ? `of those predicted “${short(P.labels[1], 10)}”, share that are (precision)` : "share of the predictions that are correct (precision)", height: 300, nolegend: K === 2 }));
  const cal = drawn(w => lineChart(w, [{ x: [0, 1], y: [0, 1], color: css("quiet"), dash: true, width: 1 }, ...list.map(c => ({ name: `${named(c) || "observed"}`, x: c.calibration.predicted, y: c.calibration.seen, color: classColor(K === 2 ? 0 : c.class, K) }))], { x: [0, 1], y: [0, 1], xlabel: "predicted probability", ylabel: "observed frequency", height: 300, nolegend: K === 2,
    bands: K === 2 ? [{ x: list[0].calibration.predicted, low: list[0].calibration.seen.map((v, i) => Math.max(0, v - 2 * list[0].calibration.error[i])), high: list[0].calibration.seen.map((v, i) => Math.min(1, v + 2 * list[0].calibration.error[i])), color: css("c0") }] : [] }));
  const c0 = list[0];
  return el("div", null, el("div", { class: "grid2" }, el("div", null, el("h3", null, K === 2 ? `ROC: area ${fmt(c0.auc, 4)}` : "ROC, class by class"), roc), el("div", null, el("h3", null, K === 2 ? `Precision: average ${fmt(c0.ap, 4)}` : "Precision and recall"), pr), el("div", null, el("h3", null, K === 2 ? `Calibration: mean gap ${percent(c0.calibration.gap)}` : "Calibration"), cal)),
    P.labels.length > 12 ? el("p", { class: "note" }, "Curves of the first 12 classes.") : null);
}
function residuals(P) {
  const R = P.residuals, box = el("div", { class: "grid2" }), e = R.predicted.map((t, i) => R.actual[i] - t), off = formatOf(R.quantiles.concat(e)), name = i => R.name ? R.name[i] : `row ${R.row[i]}`;
  if (R.shown) {
    const value = formatOf(R.actual.concat(R.predicted));
    box.append(el("div", null, el("h3", null, "Predicted and actual"), drawn(w => scatter(w, R.predicted, R.actual, { xlabel: `predicted ${P.target}`, ylabel: `actual ${P.target}`, height: 300, text: i => `${name(i)}: predicted ${value(R.predicted[i])}, actual ${value(R.actual[i])}`, before: f => { const [a, b] = extent(R.predicted); f.plot.append(svg("line", { x1: f.x(a), y1: f.y(a), x2: f.x(b), y2: f.y(b), stroke: css("quiet"), "stroke-dasharray": "5 4" })); } }))),
      el("div", null, el("h3", null, "Error by prediction"), drawn(w => scatter(w, R.predicted, e, { xlabel: `predicted ${P.target}`, ylabel: "error (actual − predicted)", height: 300, text: i => `${name(i)}: error ${off(e[i])}`, before: f => f.plot.append(svg("line", { class: "zero", x1: 0, x2: f.w, y1: f.y(0), y2: f.y(0) })) }))));
  }
  box.append(el("div", null, el("h3", null, "Errors of all rows"), drawn(w => histogram(w, R.edges, R.counts, { xlabel: "error (actual − predicted)", height: 240, left: 16 })), el("p", { class: "note" }, `Half of the errors lie between ${off(R.quantiles[1])} and ${off(R.quantiles[3])}, nine in ten between ${off(R.quantiles[0])} and ${off(R.quantiles[4])}.`)));
  return box;
}
function importances(P) {
  // Rounding leaves tiny numbers where the value is zero.
  const kinds = P.importances.map(k => { const top = Math.max(...k.value.map(v => Math.abs(v || 0))); return { ...k, value: k.value.map(v => Math.abs(v || 0) < 1e-12 * top ? 0 : v || 0) }; }), place = el("div"), most = 15;
  let all = false;
  const pick = k => {
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", i === k));
    const one = kinds[k], every = one.value.map((v, f) => ({ label: P.columns[f].name, value: v || 0, error: one.error ? one.error[f] : 0 })).sort((a, b) => b.value - a.value);
    const items = every.filter(i => i.value), none = every.filter(i => !i.value), trees = ["gain", "cover", "split"].includes(one.kind);
    clear(place).append(el("p", { class: "note" }, one.kind === "shap" ? `${one.what.replace("the score", P.labels ? "the score" : "the prediction")}, in ${P.unit}.` : one.what + "."), bars(all ? items : items.slice(0, most)), items.length > most && !all ? el("p", null, el("button", { onclick: () => { all = true; pick(k); } }, `Show all ${items.length} columns`)) : "",
      none.length ? el("details", null, el("summary", null, `${plural(none.length, "column")} ${none.length === 1 ? (trees ? "is not used" : "has no effect") : trees ? "are not used" : "have no effect"}`), el("p", { class: "note" }, none.map(i => i.label).join(", "))) : "");
  };
  const buttons = kinds.map((one, k) => el("button", { onclick: () => pick(k) }, { gain: "Gain", cover: "Cover", split: "Splits", permutation: "Permutation", oob_permutation: "Out of bag", shap: "SHAP" }[one.kind]));
  const start = Math.max(0, kinds.findIndex(k => k.kind === "shap"), kinds.findIndex(k => k.kind === "permutation"));
  pick(start);
  const ranks = kinds.map(k => { const order = k.value.map((v, f) => [v || 0, f]).sort((a, b) => b[0] - a[0]); const r = []; order.forEach(([, f], i) => r[f] = i + 1); return r; });
  const used = P.order.filter(f => kinds.some(k => k.value[f])).slice(0, 40);
  const compare = kinds.length > 1 ? el("details", null, el("summary", null, "All kinds side by side"), tall(plural(used.length, "column"), table(["column", ...kinds.map(k => k.kind.replace("_", " "))], used.map(f => [short(P.columns[f].name, 30), ...kinds.map((k, i) => { const top = Math.max(...k.value.map(v => v || 0)) || 1; return el("td", { style: { background: `color-mix(in srgb, var(--c0) ${Math.round(45 * Math.max(0, k.value[f] || 0) / top)}%, transparent)` } }, `${fmt(k.value[f] || 0, 3)}  (${ranks[i][f]})`); })]))), el("p", { class: "note" }, "In brackets: the rank of the column by this measure.")) : null;
  const twins = P.duplicates.length ? el("p", { class: "note" }, `${P.duplicates.slice(0, 5).map(g => sameColumns(P, g)).join("; ")}: these carry the same information, so each may show only a part of the credit.`) : null;
  return el("div", null, el("div", { class: "controls" }, buttons), place, twins, compare);
}
function beeswarm(P) {
  const B = P.beeswarm, height = 34;
  return el("div", null, drawn(w => swarm(w, P, B, height)), el("p", { class: "note" }, `SHAP values of ${plural(B.rows, "row")}, in ${P.unit}; the columns with the largest ones come first.`));
}
function swarm(width, P, B, height) {
  const left = Math.min(150, Math.max(64, width * 0.28)), every = B.lines.flatMap(l => l.shap), x = scale(extent(every), [left + 8, width - 10]), bottom = B.lines.length * height + 6, at = ticks(...extent(every), Math.max(2, Math.floor((width - left) / 80))), text = axisFormat(at);
  const picture = svg("svg", { width, height: bottom + 26, viewBox: `0 0 ${width} ${bottom + 26}`, role: "img", "aria-label": "SHAP values of rows, column by column" });
  at.forEach(t => picture.append(svg("line", { class: t ? "gridline" : "zero", x1: x(t), x2: x(t), y1: 2, y2: bottom }), svg("text", { class: "quiet", x: x(t), y: bottom + 16, "text-anchor": "middle", "font-size": 11.5 }, text(t))));
  B.lines.forEach((line, k) => {
    const column = P.columns[line.f], middle = k * height + height / 2 + 2, known = line.value.filter(v => v !== null).sort((a, b) => a - b), taken = new Map();
    picture.append(svg("text", { x: left - 6, y: middle + 4, "text-anchor": "end" }, short(column.name, Math.floor(left / 6.6))));
    line.shap.forEach((v, i) => {
      const place = Math.round(x(v) / 4), n = taken.get(place) || 0, value = line.value[i];
      taken.set(place, n + 1);
      const off = Math.max(-14, Math.min(14, (n % 2 ? 3 : -3) * Math.ceil(n / 2))), share = known.length > 1 ? known.indexOf(value) / (known.length - 1) : 0.5;
      picture.append(svg("circle", { cx: x(v).toFixed(1), cy: (middle + off).toFixed(1), r: 2.4, opacity: 0.85, fill: column.words || value === null ? css("c7") : blend(share), ...tipped(`${column.name}: ${valueOf(column, value)}\nmoves the ${P.labels ? "score" : "prediction"} by ${fmt(v, 3)}`) }));
    });
  });
  return picture;
}
function dependence(P) {
  const list = P.dependence, place = el("div"), K = P.labels ? P.labels.length : 1, two = K === 2;
  let output = list[0].of || 0, at = 0;
  const unit = P.labels ? (two ? `probability of “${short(P.labels[1])}”` : "probability of the class") : P.task === "ranking" ? "score" : `prediction of ${P.target}`;
  function draw() {
    const d = list[at], c = P.columns[d.f], words = !!c.words, xs = words ? d.x.map((_, i) => i) : d.x, each = d.each && (d.of || 0) === output ? d.each : null;
    const shown = P.labels && !two ? [output] : [0];
    const ys = extent([...shown.flatMap(k => d.mean[k]), ...(each ? each.flat() : [])]);
    clear(place).append(drawn(width => words ? categories(width, d, c, output) : [lineChart(width, [...(each ? each.map(y => ({ x: xs, y, color: css("c7"), width: 1, mute: 0.3 })) : []), ...shown.map(k => ({ name: P.labels && !two ? P.labels[k] : "mean", x: xs, y: d.mean[k], color: P.labels && !two ? classColor(k, K) : css("c0"), width: 3 }))], { xlabel: c.name, xname: c.name, ylabel: unit, height: 300, y: ys, x: xs.length > 1 ? [xs[0], xs[xs.length - 1]] : [xs[0] - 1, xs[0] + 1], xformat: c.dtype === "datetime" ? v => valueOf(c, v).slice(0, 10) : null, nolegend: true }), density(width, c, xs)]),
      el("p", { class: "note" }, `Mean over ${plural(d.rows, "row")}${each && !words ? `; thin lines are ${each.length} single rows` : ""}. ${words ? "" : "Bars below the curve: how many rows have such values. Where there are few, the curve is uncertain."}`));
  }
  function density(width, c, xs) {
    if (!c.edges || xs.length < 2) return "";
    const f = { x: scale([xs[0], xs[xs.length - 1]], [52, width - 12]) }, dens = c.counts.map((n, i) => n / (c.edges[i + 1] - c.edges[i] || 1)), top = Math.max(...dens), low = xs[0], high = xs[xs.length - 1];
    return svg("svg", { width, height: 34, viewBox: `0 0 ${width} 34`, "aria-hidden": "true" }, c.counts.map((n, i) => { const a = Math.max(c.edges[i], low), b = Math.min(c.edges[i + 1], high); return b > a ? svg("rect", { x: f.x(a), width: Math.max(f.x(b) - f.x(a) - 1, 0.7), y: 32 - 30 * dens[i] / top, height: 30 * dens[i] / top, fill: css("c7"), opacity: 0.5, ...tipped(`${valueOf(c, c.edges[i])} to ${valueOf(c, c.edges[i + 1])}: ${plural(n, "row")}`) }) : null; }));
  }
  function categories(width, d, c, k) {
    const items = d.x.map((code, i) => ({ label: c.words[code], value: d.mean[P.labels && !two ? k : 0][i], rows: c.counts[code] || 0 })).sort((a, b) => b.value - a.value);
    const low = Math.min(...items.map(i => i.value)), text = P.labels ? v => percent(v, 1) : formatOf(items.map(i => i.value));
    return el("div", null, bars(items.slice(0, 30).map(i => ({ label: i.label, value: P.labels || low >= 0 ? i.value : i.value, text: `${text(i.value)}`, color: classColor(P.labels && !two ? k : 0, K) }))), el("p", { class: "note" }, "Number of rows: " + items.slice(0, 30).map(i => `${short(i.label, 16)} ${fmt(i.rows)}`).join(", ")));
  }
  const controls = el("div", { class: "controls" }, choice("Column", list.map(d => short(P.columns[d.f].name, 40)), i => { at = i; draw(); }), P.labels && !two ? choice("Class", P.labels.map(l => short(l, 30)), k => { output = k; draw(); }, output) : null);
  draw();
  return el("div", null, controls, place);
}
function pairs(P) {
  if (P.pairs.why) return el("p", { class: "note" }, P.pairs.why);
  const list = P.pairs.list, shap = P.pairs.how === "shap", place = el("div");
  const name = p => `${short(P.columns[p.a].name, 24)} × ${short(P.columns[p.b].name, 24)}`;
  function draw(i) {
    const p = list[i], [low, high] = extent(p.mean.flat(), 0), a = P.columns[p.a], b = P.columns[p.b], textA = briefly(a, p.axes[0]), textB = briefly(b, p.axes[1]);
    const value = P.labels ? v => percent(v, high - low < 0.05 ? 1 : 0) : formatOf(p.mean.flat(), 40);
    clear(place).append(el("h3", null, `${name(p)}: mean ${P.labels ? `probability of “${short(P.labels[P.labels.length === 2 ? 1 : p.of])}”` : P.task === "ranking" ? "score" : `prediction of ${short(P.target)}`}`), heat(p.axes[0].map(textA), p.axes[1].map(v => short(textB(v), 9)), p.mean.map((row, r) => row.map((v, c) => ({ text: value(v), color: `color-mix(in srgb, ${ramp((v - low) / (high - low || 1))} 70%, transparent)`, title: `${a.name} ${valueOf(a, p.axes[0][r])}\n${b.name} ${valueOf(b, p.axes[1][c])}\n${P.labels ? percent(v, 2) : formatOf(p.mean.flat())(v)}` }))), [el("div", null, `${short(b.name, 20)} →`), el("div", null, `${short(a.name, 20)} ↓`)]));
  }
  const left = el("div", { class: "pairs" }, bars(list.map(p => ({ label: name(p), value: p.strength, text: P.labels && !shap ? percent(p.strength, 2) : fmt(p.strength, 3) }))), el("div", { class: "controls", style: { marginTop: ".8rem" } }, choice("Show", list.map(name), draw)));
  left.append(el("p", { class: "note" }, shap ? `Bars: average size of the joint effect, in ${P.unit} (SHAP values of pairs); all pairs of columns were compared. Map: the mean prediction if every row had these two values.` : `Bars: how far the map is from the sum of two separate curves (root mean square). Only the most important columns were compared, because ${P.importances.some(k => k.kind === "shap") ? "SHAP values of all pairs would take too long for a model of this size" : "this kind of model has no SHAP values"}.`));
  draw(0);
  return el("div", { class: "grid2 wide" }, left, place);
}
function rulesPanel(P) {
  const list = P.rules.map((r, i) => el("div", { class: "rule" }, r.if.length ? [el("span", { class: "tag" }, `rule ${i + 1}`), " if ", el("b", null, neat(r.if.join(" and "))), " then ", el("b", { class: "ok" }, r.then), el("span", { class: "note" }, `  covers ${fmt(r.covers, 4)} training rows, ${fmt(r.wrong, 4)} wrong, estimated accuracy ${percent(r.accuracy)}`)] : [el("span", { class: "tag" }, "else"), " ", el("b", { class: "ok" }, r.then), el("span", { class: "note" }, `  ${fmt(r.covers, 4)} training rows that no rule covers`)]));
  return P.rules.length <= 40 ? el("div", null, list) : tall(plural(P.rules.length - 1, "rule"), list);
}
function theory(P) {
  const T = P.theory, shades = ["c7", "c5", "c0", "c1"];
  const a = drawn(w => lineChart(w, [{ ...T.bound, color: css("quiet"), dash: true }, ...(T.train ? [{ ...T.train, color: css("c0") }] : []), { ...T.errors, color: css("c1") }], { xlabel: "rounds", xname: "round", ylabel: "share of rows", y: [0, Math.min(1, Math.max(0.55, ...T.errors.y, ...T.bound.y))], height: 280 }));
  const b = T.margins.length ? drawn(w => lineChart(w, T.margins.map((m, i) => ({ name: plural(m.rounds, "round"), x: m.theta, y: m.theta.map((_, j) => j / (m.theta.length - 1)), color: css(shades[i % 4]) })), { x: [-1, 1], y: [0, 1], xlabel: "margin θ", ylabel: "share of rows with a margin ≤ θ", height: 280, marks: [{ x: 0, name: "wrong | right" }] })) : null;
  const c = drawn(w => lineChart(w, [{ ...T.weights, color: css("c2") }], { xlabel: "rounds", xname: "round", ylabel: "α, weight of the learner", height: 220 }));
  return el("div", { class: "grid2" }, el("div", null, el("h3", null, "Errors and the bound on the training error"), a), b ? el("div", null, el("h3", null, "Margins"), b) : null, el("div", null, el("h3", null, "Weights of the learners"), c));
}
function oob(P) { return drawn(w => lineChart(w, [{ ...P.oob.line, color: css("c0") }], { xlabel: "trees", xname: "trees", ylabel: "out-of-bag error", height: 260 })); }
function proximity(P) {
  const X = P.proximity, K = P.labels ? P.labels.length : 0, [low, high] = extent(P.labels ? [0] : X.actual, 0);
  return el("div", null, P.labels ? legend(P.labels.slice(0, 12).map((l, k) => ({ name: short(l), color: classColor(k, K) }))) : legend([{ name: fmt(low), color: blend(0) }, { name: `${fmt(high)}, the actual ${short(P.target)}`, color: blend(1) }]), drawn(w => scatter(w, X.x, X.y, { height: 320, r: 5, opacity: 0.8, left: 40, color: i => P.labels ? classColor(X.actual[i], K) : blend((X.actual[i] - low) / (high - low || 1)), text: i => `${rowName(P, i)}: ${P.labels ? P.labels[X.actual[i]] : fmt(X.actual[i])}` })));
}
function pruning(P) {
  const R = P.pruning, xs = R.leaves;
  const order = xs.map((_, i) => i).sort((a, b) => xs[a] - xs[b]), take = v => order.map(i => v[i]);
  return el("div", null, drawn(w => lineChart(w, [{ name: "error (mean of folds)", x: take(xs), y: take(R.error), color: css("c0") }], { xlabel: "leaves of the pruned tree", xname: "leaves", ylabel: "cross-validated error", height: 280, bands: [{ x: take(xs), low: take(R.error.map((e, i) => e - R.spread[i])), high: take(R.error.map((e, i) => e + R.spread[i])), color: css("c0") }], marks: [{ x: xs[R.best], name: "chosen" }] })), el("p", { class: "note" }, `Chosen: α = ${fmt(R.alpha[R.best])}, ${plural(xs[R.best], "leaf", "leaves")}, by the rule “${R.rule}”. The band is one standard error.`),
    el("details", null, el("summary", null, "The whole path"), tall(plural(R.alpha.length, "tree"), table(["α", "leaves", "error", "standard error"], R.alpha.map((a, i) => ({ cells: [fmt(a, 5), fmt(xs[i]), fmt(R.error[i], 5), fmt(R.spread[i], 3)], attributes: i === R.best ? { class: "here" } : null }))))));
}
