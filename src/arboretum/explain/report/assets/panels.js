// The panels that need no row and no tree: figures, columns, curves.
"use strict";
// A tile: the figure, its interval, what a model without columns reaches, and which direction is better.
const figureCard = (f, other, name) => el("div", { class: "figure" }, el("div", { class: "name" }, f.name), el("b", null, fmt(f.value, 4)),
  el("div", { class: "range" }, `${fmt(f.low, 3)} to ${fmt(f.high, 3)}`), el("div", { class: "base" }, `${f.baseline[0]}: ${fmt(f.baseline[1], 4)}`), other ? el("div", { class: "range" }, `${name}: ${fmt(other.value, 4)}`) : null, el("div", { class: "what" }, `${f.what} · ${f.more ? "higher" : "lower"} is better`));

function overview(P) {
  const o = P.overview, train = P.train_figures || [];
  const box = el("div", null, el("div", { class: "figures" }, P.figures.map(f => figureCard(f, train.find(t => t.name === f.name)))));
  box.append(el("p", { class: "note" }, P.train_figures ? `Measured on the ${plural(o.rows, "row")} given, beside the ${plural(o.train_rows, "training row")}; a model much better on its training rows has learnt them by heart. `
    : `Measured on the ${plural(o.rows, "row")} given. The page does not know whether the model was fitted on them: if it was, these figures flatter it. `, `The range under a figure holds 95 % of what 200 bootstrap draws of the ${P.task === "ranking" ? "groups" : "rows"} give.`));
  const changed = o.parameters.filter(p => !p[2]), usual = o.parameters.filter(p => p[2]);
  const lines = [["model", o.model], ["what it is", o.about], ["task", P.labels ? `classification of ${P.target} into ${plural(P.labels.length, "class", "classes")}: ${P.labels.slice(0, 8).map(l => short(l, 20)).join(", ")}${P.labels.length > 8 ? ", …" : ""}` : P.task === "ranking" ? `ranking by ${P.target}: only the order inside a group counts` : `regression of ${P.target}`],
    ["data", `${plural(o.rows, "row")}, ${plural(o.columns, "column")}${o.used < o.rows ? `; looked at: ${fmt(o.used)} drawn rows` : ""}`], o.train_rows ? ["split", `${fmt(o.train_rows)} training rows, ${fmt(o.rows)} others`] : null,
    o.trees ? ["size", `${plural(o.trees, "tree")}, ${plural(o.leaves, "leaf", "leaves")}, depth ${o.depth}`] : o.n_rules !== undefined ? ["size", plural(o.n_rules, "rule")] : null,
    o.members ? ["members", o.members.map(m => `${m[0]} (${m[1]})`).join(", ")] : null, o.oob_score !== undefined ? ["out-of-bag score", fmt(o.oob_score)] : null, o.interrupted ? ["interrupted", "after " + o.interrupted] : null,
    ["seed", o.seed], ["SHA-256 of the model file", o.hash ? el("code", null, o.hash) : null], ["versions", o.versions.map(v => v.join(" ")).join(", ")], o.fit_seconds !== undefined ? ["fit", `took ${fmt(o.fit_seconds, 3)} s, compiling included where it was the first of its kind`] : null, ["page made", `${o.made}, in ${fmt(Object.values(P.seconds).reduce((a, b) => a + b, 0), 2)} s`], ...Object.entries(o.notes)];
  box.append(facts(lines));
  const list = ps => scroller(table(["parameter", "value"], ps.map(p => [p[0], el("td", { class: "wrap mono" }, p[1])])));
  if (changed.length) box.append(el("h3", null, "Parameters that were set"), list(changed));
  box.append(el("details", null, el("summary", null, `${usual.length} parameters at their defaults`), list(usual)));
  return box;
}
function dataSheet(P) {
  const most = 200, box = el("div");
  P.hints.forEach(h => box.append(el("div", { class: "hint" }, h)));
  if (!P.hints.length) box.append(el("p", { class: "note" }, "Nothing suspicious: no constant column, no row numbers or names, no column that alone tells the target."));
  box.append(el("div", { class: "tall scroll" }, table(["column", "kind", "shape", "missing", "distinct", "range or most frequent"], P.columns.slice(0, most).map(c => [short(c.name, 34), el("td", { class: "l half" }, c.kind + (c.dtype === "datetime" ? ", date" : "")), el("td", { class: "l half" }, c.counts ? spark(c.words ? [...c.counts].sort((a, b) => b - a).slice(0, 24) : c.counts) : ""),
    c.missing ? percent(c.missing / P.overview.used) : "–", fmt(c.distinct), el("td", { class: "l" }, c.words ? c.counts.map((n, k) => [n, k]).sort((a, b) => b[0] - a[0]).slice(0, 3).map(([n, k]) => `${short(c.words[k], 18)} ${percent(n / P.overview.used, 0)}`).join(", ") : c.range ? `${valueOf(c, c.range[0])} to ${valueOf(c, c.range[1])}, median ${valueOf(c, c.quantiles[2])}` : "no value")]), 1)));
  if (P.columns.length > most) box.append(el("p", { class: "note" }, `The first ${most} of ${fmt(P.columns.length)} columns.`));
  return box;
}
function learning(P) {
  const L = P.learning, units = [...new Set(L.lines.map(l => l.unit))];
  return el("div", null, el("div", { class: units.length > 1 ? "grid2" : null }, units.map(u => el("div", null, drawn(w => lineChart(w, L.lines.filter(l => l.unit === u).map((l, i) => ({ ...l, color: classColor(i, 8) })), { xlabel: "rounds", xname: "round", ylabel: u, legend: true, marks: L.best ? [{ x: L.best, name: `best: ${L.best}` }] : [] })))),
  ), L.stop && L.stop !== "n_estimators" ? el("p", { class: "note" }, `Boosting ended: ${L.stop}.`) : null);
}
function confusion(P) {
  const C = P.confusion, names = [...P.labels, "other labels"], K = P.labels.length, box = el("div");
  const shares = C.map(r => r.map(v => v / (r.reduce((a, b) => a + b, 0) || 1)));
  const cell = (v, r, c) => ({ text: fmt(v), title: `${names[r]}, predicted ${P.labels[c]}: ${plural(v, "row")}, ${percent(shares[r][c])} of its class`,
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
  return el("div", { class: "tall scroll" }, table(["class", "rows", "recall", "precision", "F1"], P.labels.map((l, k) => {
    const n = C[k].reduce((a, b) => a + b, 0), recall = n ? C[k][k] / n : NaN, precision = col[k] ? C[k][k] / col[k] : NaN;
    return [short(l, 22), fmt(n), n ? percent(recall) : "–", col[k] ? percent(precision) : "–", recall + precision ? fmt(2 * recall * precision / (recall + precision), 3) : "–"];
  })));
}
function thresholds(P) {
  // above[r][i]: rows of actual class r whose probability of the second class is above i / 100
  const above = P.thresholds, rows = above.map(v => v[101]), all = rows.reduce((a, b) => a + b, 0), out = el("div"), cost = { fp: 1, fn: 1 }, xs = Array.from({ length: 101 }, (_, i) => i / 100);
  const wrong = i => above.reduce((s, v, r) => s + (r === 1 ? 0 : v[i]), 0), missed = i => rows[1] - above[1][i];
  const price = i => (cost.fp * wrong(i) + cost.fn * missed(i)) / all, no = P.labels[0], yes = P.labels[1];
  let at = 50;
  const chart = drawn(w => lineChart(w, [{ name: "mean cost of a row", x: xs, y: xs.map((_, i) => price(i)), color: css("c1"), step: true }], { height: 190, xlabel: "threshold", xname: "threshold", ylabel: "mean cost of a row", x: [0, 1], marks: [{ x: xs[at], name: fmt(xs[at], 3) }] }));
  function say() {
    const tp = above[1][at], fp = wrong(at), right = tp + rows[0] - above[0][at];
    const cell = (v, good, of) => ({ text: `${fmt(v)} · ${percent(v / (of || 1), 0)}`, color: `color-mix(in srgb, var(--${good ? "good" : "bad"}) ${Math.round(6 + 50 * v / (of || 1))}%, transparent)` });
    clear(out).append(heat([no, yes, "other labels"].slice(0, above.length), [no, yes], above.map((v, r) => [cell(rows[r] - v[at], r === 0, rows[r]), cell(v[at], r === 1, rows[r])]), "actual ↓ predicted →"),
      facts([["accuracy", percent(right / all, 2)], ["precision", tp + fp ? percent(tp / (tp + fp), 2) : "–"], ["recall", rows[1] ? percent(tp / rows[1], 2) : "–"], ["mean cost of a row", fmt(price(at), 4)]]));
    chart.redraw();
  }
  const move = slider(`Predict “${short(yes, 18)}” when its probability is above`, 0, 1, 0.01, 0.5, v => { at = Math.round(100 * v); say(); });
  const input = (text, key) => { const i = el("input", { type: "number", min: 0, step: "any", "aria-label": text, oninput: () => { cost[key] = Math.max(0, +i.value || 0); say(); } }); i.value = 1; return el("label", null, text, i); };
  const best = el("button", { onclick: () => { at = xs.reduce((b, _, i) => price(i) < price(b) ? i : b, at); move.set(xs[at]); say(); } }, "Cheapest");
  say();
  return el("div", { class: "thresholds" }, el("h3", null, "Threshold and costs"), el("div", { class: "controls" }, move, input(`cost of a false alarm (“${short(no, 14)}” predicted “${short(yes, 14)}”)`, "fp"), input(`cost of a miss (“${short(yes, 14)}” predicted “${short(no, 14)}”)`, "fn"), best), el("div", { class: "grid2" }, out, chart));
}
function classCurves(P) {
  const list = P.class_curves, K = P.labels.length;
  const lines = (fx, fy) => list.map(c => { const pts = c.tp.map((_, i) => [fx(c, i), fy(c, i)]); return { c, pts }; });
  const named = c => K === 2 ? "" : short(P.labels[c.class], 18);
  const roc = drawn(w => lineChart(w, [{ x: [0, 1], y: [0, 1], color: css("quiet"), dash: true, width: 1 }, ...lines((c, i) => c.fp[i] / (c.n || 1), (c, i) => c.tp[i] / (c.p || 1)).map(({ c, pts }) => ({ name: `${named(c) || "ROC"}${c.auc === null ? "" : `, area ${fmt(c.auc, 4)}`}`, x: [0, ...pts.map(p => p[0])], y: [0, ...pts.map(p => p[1])], color: classColor(K === 2 ? 0 : c.class, K) }))], { x: [0, 1], y: [0, 1], xlabel: "false alarms: share of the others", ylabel: "share of the class found", height: 300, nolegend: K === 2 }));
  const pr = drawn(w => lineChart(w, [...lines((c, i) => c.tp[i] / (c.p || 1), (c, i) => c.tp[i] / (c.tp[i] + c.fp[i])).map(({ c, pts }) => ({ name: `${named(c) || "precision"}${c.ap === null ? "" : `, mean ${fmt(c.ap, 4)}`}`, x: pts.map(p => p[0]), y: pts.map(p => p[1]), color: classColor(K === 2 ? 0 : c.class, K) })), ...(K === 2 ? [{ x: [0, 1], y: [list[0].p / (list[0].p + list[0].n), list[0].p / (list[0].p + list[0].n)], color: css("quiet"), dash: true, width: 1 }] : [])], { x: [0, 1], y: [0, 1], xlabel: "share of the class found (recall)", ylabel: "share of the predicted that are right (precision)", height: 300, nolegend: K === 2 }));
  const cal = drawn(w => lineChart(w, [{ x: [0, 1], y: [0, 1], color: css("quiet"), dash: true, width: 1 }, ...list.map(c => ({ name: `${named(c) || "seen"}`, x: c.calibration.predicted, y: c.calibration.seen, color: classColor(K === 2 ? 0 : c.class, K) }))], { x: [0, 1], y: [0, 1], xlabel: "share the model tells", ylabel: "share that turns out so", height: 300, nolegend: K === 2,
    bands: K === 2 ? [{ x: list[0].calibration.predicted, low: list[0].calibration.seen.map((v, i) => Math.max(0, v - 2 * list[0].calibration.error[i])), high: list[0].calibration.seen.map((v, i) => Math.min(1, v + 2 * list[0].calibration.error[i])), color: css("c0") }] : [] }));
  const c0 = list[0];
  return el("div", null, el("div", { class: "grid2" }, el("div", null, el("h3", null, K === 2 ? `ROC: area ${fmt(c0.auc, 4)}` : "ROC, class by class"), roc), el("div", null, el("h3", null, K === 2 ? `Precision: mean ${fmt(c0.ap, 4)}` : "Precision and recall"), pr), el("div", null, el("h3", null, K === 2 ? `Calibration: mean gap ${percent(c0.calibration.gap)}` : "Calibration"), cal)),
    P.labels.length > 12 ? el("p", { class: "note" }, "The first 12 classes.") : null);
}
function residuals(P, goRow) {
  const R = P.residuals, box = el("div", { class: "grid2" });
  if (R.shown) {
    const at = new Map(P.rows.row.map((r, i) => [r, i]));
    box.append(el("div", null, el("h3", null, "Told and actual"), drawn(w => scatter(w, R.predicted, R.actual, { xlabel: "predicted", ylabel: "actual", height: 300, text: i => `row ${R.row[i]}: predicted ${fmt(R.predicted[i])}, actual ${fmt(R.actual[i])}`, before: f => { const [a, b] = extent(R.predicted); f.plot.append(svg("line", { x1: f.x(a), y1: f.y(a), x2: f.x(b), y2: f.y(b), stroke: css("quiet"), "stroke-dasharray": "5 4" })); } }))),
      el("div", null, el("h3", null, "Error by what is predicted"), drawn(w => { const e = R.predicted.map((t, i) => R.actual[i] - t); return scatter(w, R.predicted, e, { xlabel: "predicted", ylabel: "actual less predicted", height: 300, text: i => `row ${R.row[i]}: error ${fmt(e[i])}`, before: f => f.plot.append(svg("line", { class: "zero", x1: 0, x2: f.w, y1: f.y(0), y2: f.y(0) })) }); })));
  }
  box.append(el("div", null, el("h3", null, "Errors of all rows"), drawn(w => histogram(w, R.edges, R.counts, { xlabel: "actual less predicted", height: 240, left: 16 })), el("p", { class: "note" }, `Half of the errors lie between ${fmt(R.quantiles[1])} and ${fmt(R.quantiles[3])}, nine of ten between ${fmt(R.quantiles[0])} and ${fmt(R.quantiles[4])}.`)));
  return box;
}
function importances(P) {
  // What rounding leaves of nothing is nothing.
  const kinds = P.importances.map(k => { const top = Math.max(...k.value.map(v => Math.abs(v || 0))); return { ...k, value: k.value.map(v => Math.abs(v || 0) < 1e-12 * top ? 0 : v || 0) }; }), place = el("div"), most = 15;
  let all = false;
  const pick = k => {
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", i === k));
    const one = kinds[k], items = one.value.map((v, f) => ({ label: P.columns[f].name, value: v || 0, error: one.error ? one.error[f] : 0 })).sort((a, b) => b.value - a.value);
    clear(place).append(el("p", { class: "note" }, one.what + "."), bars(all ? items : items.slice(0, most)), items.length > most && !all ? el("p", null, el("button", { onclick: () => { all = true; pick(k); } }, `All ${items.length} columns`)) : "");
  };
  const buttons = kinds.map((one, k) => el("button", { onclick: () => pick(k) }, { gain: "Gain", cover: "Cover", split: "Splits", permutation: "Permutation", oob_permutation: "Out of bag", shap: "SHAP" }[one.kind]));
  const start = Math.max(0, kinds.findIndex(k => k.kind === "shap"), kinds.findIndex(k => k.kind === "permutation"));
  pick(start);
  const ranks = kinds.map(k => { const order = k.value.map((v, f) => [v || 0, f]).sort((a, b) => b[0] - a[0]); const r = []; order.forEach(([, f], i) => r[f] = i + 1); return r; });
  const compare = kinds.length > 1 ? el("details", null, el("summary", null, "All kinds side by side"), el("div", { class: "tall scroll" }, table(["column", ...kinds.map(k => k.kind.replace("_", " "))], P.order.slice(0, 40).map(f => [short(P.columns[f].name, 30), ...kinds.map((k, i) => { const top = Math.max(...k.value.map(v => v || 0)) || 1; return el("td", { style: { background: `color-mix(in srgb, var(--c0) ${Math.round(45 * Math.max(0, k.value[f] || 0) / top)}%, transparent)` } }, `${fmt(k.value[f] || 0, 3)}  (${ranks[i][f]})`); })])))) : null;
  return el("div", null, el("div", { class: "controls" }, buttons), place, compare);
}
function dependence(P) {
  const list = P.dependence, place = el("div"), K = P.labels ? P.labels.length : 1, two = K === 2;
  let output = list[0].of || 0, at = 0;
  const unit = P.labels ? (two ? `share of ${short(P.labels[1])}` : "share of the class") : P.target;
  function draw() {
    const d = list[at], c = P.columns[d.f], words = !!c.words, xs = words ? d.x.map((_, i) => i) : d.x, each = d.each && (d.of || 0) === output ? d.each : null;
    const shown = P.labels && !two ? [output] : [0];
    const ys = extent([...shown.flatMap(k => d.mean[k]), ...(each ? each.flat() : [])]);
    clear(place).append(drawn(width => words ? categories(width, d, c, output) : [lineChart(width, [...(each ? each.map(y => ({ x: xs, y, color: css("c7"), width: 1, mute: 0.3 })) : []), ...shown.map(k => ({ name: P.labels && !two ? P.labels[k] : "mean", x: xs, y: d.mean[k], color: P.labels && !two ? classColor(k, K) : css("c0"), width: 3 }))], { xlabel: c.name, xname: c.name, ylabel: unit, height: 300, y: ys, x: xs.length > 1 ? [xs[0], xs[xs.length - 1]] : [xs[0] - 1, xs[0] + 1], xformat: c.dtype === "datetime" ? v => valueOf(c, v).slice(0, 10) : null, nolegend: true }), density(width, c, xs)]),
      el("p", { class: "note" }, `Mean over ${plural(d.rows, "row")}${each && !words ? `; thin lines are ${each.length} single rows` : ""}. ${words ? "" : "Bars below: how many rows have such values; where there are few, the curve is a guess."}`));
  }
  function density(width, c, xs) {
    if (!c.edges || xs.length < 2) return "";
    const f = { x: scale([xs[0], xs[xs.length - 1]], [52, width - 12]) }, dens = c.counts.map((n, i) => n / (c.edges[i + 1] - c.edges[i] || 1)), top = Math.max(...dens), low = xs[0], high = xs[xs.length - 1];
    return svg("svg", { width, height: 34, viewBox: `0 0 ${width} 34`, "aria-hidden": "true" }, c.counts.map((n, i) => { const a = Math.max(c.edges[i], low), b = Math.min(c.edges[i + 1], high); return b > a ? svg("rect", { x: f.x(a), width: Math.max(f.x(b) - f.x(a) - 1, 0.7), y: 32 - 30 * dens[i] / top, height: 30 * dens[i] / top, fill: css("c7"), opacity: 0.5, ...tipped(`${valueOf(c, c.edges[i])} to ${valueOf(c, c.edges[i + 1])}: ${plural(n, "row")}`) }) : null; }));
  }
  function categories(width, d, c, k) {
    const items = d.x.map((code, i) => ({ label: c.words[code], value: d.mean[P.labels && !two ? k : 0][i], rows: c.counts[code] || 0 })).sort((a, b) => b.value - a.value);
    const low = Math.min(...items.map(i => i.value)), text = v => P.labels ? percent(v, 1) : fmt(v, 4);
    return el("div", null, bars(items.slice(0, 30).map(i => ({ label: i.label, value: P.labels || low >= 0 ? i.value : i.value, text: `${text(i.value)}`, color: classColor(P.labels && !two ? k : 0, K) }))), el("p", { class: "note" }, "Rows of each: " + items.slice(0, 30).map(i => `${short(i.label, 16)} ${fmt(i.rows)}`).join(", ")));
  }
  const controls = el("div", { class: "controls" }, choice("Column", list.map(d => short(P.columns[d.f].name, 40)), i => { at = i; draw(); }), P.labels && !two ? choice("Class", P.labels.map(l => short(l, 30)), k => { output = k; draw(); }, output) : null);
  draw();
  return el("div", null, controls, place);
}
function pairs(P) {
  const list = P.pairs.list, shap = P.pairs.how === "shap", place = el("div");
  const name = p => `${short(P.columns[p.a].name, 24)} × ${short(P.columns[p.b].name, 24)}`;
  function draw(i) {
    const p = list[i], [low, high] = extent(p.mean.flat(), 0), a = P.columns[p.a], b = P.columns[p.b];
    clear(place).append(el("h3", null, `${name(p)}: mean ${P.labels ? "share of " + short(P.labels[P.labels.length === 2 ? 1 : p.of]) : "answer"}`), heat(p.axes[0].map(v => briefly(a, v)), p.axes[1].map(v => short(briefly(b, v), 9)), p.mean.map((row, r) => row.map((v, c) => ({ text: P.labels ? percent(v, 0) : fmt(v, p.axes[1].length > 6 && Math.abs(v) < 100 ? 2 : 3), color: `color-mix(in srgb, ${ramp((v - low) / (high - low || 1))} 70%, transparent)`, title: `${a.name} ${valueOf(a, p.axes[0][r])}\n${b.name} ${valueOf(b, p.axes[1][c])}\n${fmt(v, 4)}` }))), `${short(a.name, 18)} ↓  ${short(b.name, 18)} →`));
  }
  const left = el("div", { class: "pairs" }, bars(list.map(p => ({ label: name(p), value: p.strength, text: P.labels && !shap ? percent(p.strength, 2) : fmt(p.strength, 3) }))), el("div", { class: "controls", style: { marginTop: ".8rem" } }, choice("Show", list.map(name), draw)));
  left.append(el("p", { class: "note" }, shap ? `Bars: the mean size of the pair's SHAP value, in the unit of the model's sum${P.labels ? " (before it becomes a share)" : ""}; all pairs of columns were compared. The map: the mean answer if every row had these two values.` : `Bars: how far the map is from the sum of two separate curves (root mean square). Compared were the most important columns: ${P.importances.some(k => k.kind === "shap") ? "SHAP values of all pairs would take too long for so large a model" : "this kind of model has no SHAP values"}.`));
  draw(0);
  return el("div", { class: "grid2 wide" }, left, place);
}
function rulesPanel(P) {
  return el("div", { class: "tall" }, P.rules.map((r, i) => el("div", { class: "rule" }, r.if.length ? [el("span", { class: "tag" }, `rule ${i + 1}`), " if ", el("b", null, r.if.join(" and ").replaceAll(" <= ", " ≤ ")), " then ", el("b", { class: "ok" }, r.then), el("span", { class: "note" }, `  covers ${fmt(r.covers, 4)} training rows, ${fmt(r.wrong, 4)} wrong, estimated accuracy ${percent(r.accuracy)}`)] : [el("span", { class: "tag" }, "else"), " ", el("b", { class: "ok" }, r.then), el("span", { class: "note" }, `  ${fmt(r.covers, 4)} training rows that no rule covers`)])));
}
function theory(P) {
  const T = P.theory, shades = ["c7", "c5", "c0", "c1"];
  const a = drawn(w => lineChart(w, [{ ...T.bound, color: css("quiet"), dash: true }, ...(T.train ? [{ ...T.train, color: css("c0") }] : []), { ...T.errors, color: css("c1") }], { xlabel: "rounds", xname: "round", ylabel: "share", y: [0, Math.min(1, Math.max(0.55, ...T.errors.y, ...T.bound.y))], height: 280 }));
  const b = T.margins.length ? drawn(w => lineChart(w, T.margins.map((m, i) => ({ name: plural(m.rounds, "round"), x: m.theta, y: m.theta.map((_, j) => j / (m.theta.length - 1)), color: css(shades[i % 4]) })), { x: [-1, 1], y: [0, 1], xlabel: "margin θ", ylabel: "share of rows with a margin ≤ θ", height: 280, marks: [{ x: 0, name: "wrong | right" }] })) : null;
  const c = drawn(w => lineChart(w, [{ ...T.weights, color: css("c2") }], { xlabel: "rounds", xname: "round", ylabel: "α, weight of the learner", height: 220 }));
  return el("div", { class: "grid2" }, el("div", null, el("h3", null, "Errors and the bound on the training error"), a), b ? el("div", null, el("h3", null, "Margins"), b) : null, el("div", null, el("h3", null, "Weights of the learners"), c));
}
function oob(P) { return drawn(w => lineChart(w, [{ ...P.oob.line, color: css("c0") }], { xlabel: "trees", xname: "trees", ylabel: "out-of-bag error", height: 260 })); }
function proximity(P, goRow) {
  const X = P.proximity, K = P.labels ? P.labels.length : 0, [low, high] = extent(P.labels ? [0] : X.actual, 0);
  return el("div", null, P.labels ? legend(P.labels.slice(0, 12).map((l, k) => ({ name: short(l), color: classColor(k, K) }))) : null, drawn(w => scatter(w, X.x, X.y, { height: 320, r: 5, opacity: 0.8, left: 40, color: i => P.labels ? classColor(X.actual[i], K) : blend((X.actual[i] - low) / (high - low || 1)), text: i => `row ${P.rows.row[i]}: ${P.labels ? P.labels[X.actual[i]] : fmt(X.actual[i])}` })));
}
function pruning(P) {
  const R = P.pruning, xs = R.leaves;
  const order = xs.map((_, i) => i).sort((a, b) => xs[a] - xs[b]), take = v => order.map(i => v[i]);
  return el("div", null, drawn(w => lineChart(w, [{ name: "error (mean of folds)", x: take(xs), y: take(R.error), color: css("c0") }], { xlabel: "leaves of the pruned tree", xname: "leaves", ylabel: "cross-validated error", height: 280, bands: [{ x: take(xs), low: take(R.error.map((e, i) => e - R.spread[i])), high: take(R.error.map((e, i) => e + R.spread[i])), color: css("c0") }], marks: [{ x: xs[R.best], name: "chosen" }] })), el("p", { class: "note" }, `Chosen: α = ${fmt(R.alpha[R.best])}, ${plural(xs[R.best], "leaf", "leaves")}, by the rule “${R.rule}”. The band is one standard error.`),
    el("details", null, el("summary", null, "The whole path"), el("div", { class: "tall scroll" }, table(["α", "leaves |T|", "error", "standard error"], R.alpha.map((a, i) => ({ cells: [fmt(a, 5), fmt(xs[i]), fmt(R.error[i], 5), fmt(R.spread[i], 3)], attributes: i === R.best ? { class: "here" } : null }))))));
}
