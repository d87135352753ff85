// The panels of a comparison.
"use strict";
// ---------------------------------------------------------------- the table
const secondsText = s => s === null ? "–" : s < 1 ? `${fmt(1000 * s, 2)} ms` : s < 120 ? `${fmt(s, 3)} s` : `${fmt(s / 60, 3)} min`;
const isBaseline = m => m.kind === "baseline";

function models(P) {
  const columns = [
    ...P.measures.map(m => ({ key: m.key, name: m.name, more: m.more, what: m.what, drawn: true })),
    { key: "fit_seconds", name: "fit", more: false, what: "seconds of one fit, without compiling", text: secondsText },
    { key: "predict_seconds", name: "predict", more: false, what: "seconds to predict the rows of one fold", text: secondsText },
    { key: "size", name: "leaves", more: false, what: "leaves of all trees, or rules of a list of rules", text: v => v === null ? "–" : fmt(Math.round(v)) },
  ];
  for (const c of columns) {
    const ends = P.models.flatMap(m => m.figures[c.key]).filter(v => v !== null), middle = P.models.map(m => m.figures[c.key][0]).filter(v => v !== null);
    // The scale holds the better three quarters of the means; what is beyond is drawn at its end.
    const best = [...middle].sort((a, b) => c.more ? b - a : a - b), [a, b] = extent(best.slice(0, Math.ceil(0.75 * best.length)), 0.25);
    c.low = Math.max(a, Math.min(...ends)); c.high = Math.min(b, Math.max(...ends));
    c.text = c.text || (v => v === null ? "–" : formatOf(best.slice(0, Math.ceil(0.75 * best.length)))(v));
  }
  const place = el("div");
  let sorted = P.by;
  function draw() {
    const c = columns.find(one => one.key === sorted), value = m => m.figures[c.key][0];
    const order = [...P.models].sort((a, b) => value(a) === null ? 1 : value(b) === null ? -1 : c.more ? value(b) - value(a) : value(a) - value(b));
    const head = ["model", ...columns.map(one => el("button", { class: "sort", title: `${one.what}; ${one.more ? "higher" : "lower"} is better`, "aria-pressed": one.key === sorted ? "true" : "false", onclick: () => { sorted = one.key; draw(); place.querySelector('.sort[aria-pressed="true"]').focus(); } }, one.name))];
    const rows = order.map(m => ({ attributes: m.name === P.winner ? { class: "here" } : null, cells: [el("td", { class: "l", title: m.estimator }, m.name, isBaseline(m) ? el("span", { class: "tag" }, "baseline") : null, m.name === P.simplest && m.name !== P.winner ? el("span", { class: "tag" }, "simplest") : null), ...columns.map(one => cell(m, one))] }));
    clear(place).append(scroller(table(head, rows)));
  }
  draw();
  const narrow = choice("Sort by", columns.map(c => c.name), i => { sorted = columns[i].key; draw(); }, columns.findIndex(c => c.key === sorted));
  return el("div", null, el("div", { class: "controls narrow" }, narrow), place, P.left.length ? el("div", null, el("h3", null, "Without a result"), table(["model", "reason"], P.left.map(([name, why]) => [name, el("td", { class: "wrap" }, why)]))) : null);
}
function cell(m, c) {
  const [value, low, high] = m.figures[c.key], text = c.text(value);
  if (value === null) return "–";
  if (!c.drawn) return text;
  return el("td", { class: "scored", ...tipped(`${m.name}: ${c.name} ${text}, ${c.text(low)} to ${c.text(high)}`) }, el("span", null, text), interval(value, low, high, c, isBaseline(m)));
}
function interval(value, low, high, c, hollow) {
  const at = scale([c.low, c.high], [4, 76]), into = v => Math.min(Math.max(at(v), 1), 79);
  return svg("svg", { class: "interval", viewBox: "0 0 80 12", width: 80, height: 12, "aria-hidden": "true" },
    svg("line", { x1: into(low), x2: into(high), y1: 6, y2: 6, stroke: css(hollow ? "quiet" : "c0"), "stroke-width": 1.5 }),
    svg("circle", { cx: into(value), cy: 6, r: 3.2, fill: hollow ? css("card") : css("c0"), stroke: css(hollow ? "quiet" : "c0"), "stroke-width": 1.4 }));
}

// ---------------------------------------------------------------- cost
function costs(P) {
  const main = P.measures.find(m => m.key === (P.by === "loss" ? P.measures[1].key : P.by));
  const panel = (key, name, format) => {
    const some = P.models.filter(m => m.figures[key][0] > 0 && m.figures[main.key][0] !== null);
    return el("div", null, el("h3", null, `${main.name} and ${name}`), some.length ? drawn(w => cloud(w, some, key, name, format, main)) : el("p", { class: "note" }, "No model has both."));
  };
  return el("div", { class: "grid2" }, panel("fit_seconds", "seconds of a fit", secondsText), panel("size", "leaves", v => fmt(v, 2)));
}
function cloud(width, some, key, name, format, main) {
  const xs = some.map(m => Math.log10(m.figures[key][0])), ys = some.map(m => m.figures[main.key][0]), good = v => main.more ? v : -v;
  const order = xs.map((_, i) => i).sort((a, b) => xs[a] - xs[b] || good(ys[b]) - good(ys[a])), front = [];
  for (const i of order) if (!front.length || good(ys[i]) > good(ys[front[front.length - 1]])) front.push(i);
  const [a, b] = extent(xs, 0.08), marks = [];
  for (let p = Math.floor(a); p <= Math.ceil(b); p++) if (p >= a && p <= b) marks.push([p, format(10 ** p)]);
  const y = extent(ys, 0.1), right = xs.map(x => x > a + 0.62 * (b - a)); // names of points at the right stand to their left
  return scatter(width, xs, ys, { x: [a, b], y: main.more ? y : [y[1], y[0]], yticks: ticks(...y, 5), xticks: marks.length ? marks : [[xs[0], format(10 ** xs[0])]], xlabel: name, ylabel: main.name, height: 320, r: 4.5, opacity: 0.9, color: i => isBaseline(some[i]) ? css("c7") : css("c0"),
    text: i => `${some[i].name}: ${fmt(ys[i])}, ${format(some[i].figures[key][0])}`,
    before: f => {
      f.plot.append(svg("path", { d: pathOf(f, front.map(i => xs[i]), front.map(i => ys[i])), fill: "none", stroke: css("warm"), "stroke-width": 1.4 }));
      let last = Infinity; // from the best down, a name is left out where it would cover the one before
      for (const i of [...front].reverse()) {
        const at = f.y(ys[i]) - 7;
        if (last !== Infinity && at - last < 13) continue;
        last = at;
        f.plot.append(svg("text", { class: "quiet", x: f.x(xs[i]) + (right[i] ? -8 : 8), y: at, "text-anchor": right[i] ? "end" : "start", "font-size": 11 }, short(some[i].name, 18)));
      }
    } });
}

// ---------------------------------------------------------------- differences, columns, data
function differences(P, by) {
  const names = P.models.map(m => m.name), all = P.pairs.flat().filter(Boolean).map(c => c[0]), text = formatOf([0, ...all.map(Math.abs).sort((a, b) => a - b).slice(0, Math.ceil(all.length / 2))], 50), top = Math.max(...all.map(Math.abs), 1e-12);
  const cells = P.pairs.map((row, i) => row.map((c, j) => {
    if (!c) return { text: i === j ? "" : "–", color: "transparent" };
    const [d, low, high, p] = c, better = by.more ? d > 0 : d < 0, certain = p < 0.05;
    return { text: text(d), title: `${names[i]} − ${names[j]}: ${text(d)} (${text(low)} to ${text(high)}), adjusted p = ${fmt(p, 2)}${certain ? "" : ": may be chance"}`,
      color: certain ? `color-mix(in srgb, var(--${better ? "good" : "bad"}) ${Math.round(18 + 45 * Math.sqrt(Math.abs(d) / top))}%, transparent)` : `color-mix(in srgb, var(--${better ? "good" : "bad"}) 5%, transparent)` };
  }));
  return el("div", null, heat(names, names, cells, ""), el("p", { class: "note" }, `Green: the model in the row is better. Of ${plural(P.pairs.length * (P.pairs.length - 1) / 2, "pair")}, ${fmt(P.pairs.flat().filter(c => c && c[3] < 0.05).length / 2)} differ by more than chance explains. The test is Student's t over folds, with Nadeau and Bengio's correction for training rows that folds share and Holm's for the number of pairs.`));
}
function importances(P) {
  const I = P.importances;
  const cells = I.columns.map((_, f) => I.models.map((m, k) => ({ text: percent(I.shares[k][f], 0), title: `${I.columns[f]} in ${m}: ${percent(I.shares[k][f])}`, color: `color-mix(in srgb, var(--c0) ${Math.round(Math.min(70, 140 * I.shares[k][f]))}%, transparent)` })));
  return heat(I.columns, I.models, cells, "column");
}
const curveColors = ["c0", "c1"];
function learningCurves(P, by) {
  const lines = P.curves.map((c, k) => ({ name: c.model, x: c.rows, y: c.scores.map(s => s[0]), color: css(curveColors[k]) }));
  const words = P.curves.map(c => c.helps === null ? `${c.model}: too few sizes to judge.` : c.helps ? `${c.model} was still improving at the end: more rows would probably help.` : `${c.model} hardly improved with the last rows: more of the same rows would help little.`);
  return el("div", null, drawn(w => lineChart(w, lines, { xlabel: "training rows", xname: "rows", ylabel: `${by.name} (${by.more ? "higher" : "lower"} is better)`, height: 280, legend: true })), words.map(t => el("p", { class: "note" }, t)));
}
function agreementPanel(P) {
  const A = P.agreement, values = A.alike.flat().filter(v => v !== null), low = Math.min(...values);
  const cells = A.alike.map((row, i) => row.map((v, j) => i === j || v === null ? { text: "", color: "transparent" } : { text: percent(v, 0), title: `${A.models[i]} and ${A.models[j]}: ${percent(v)}`, color: `color-mix(in srgb, var(--c2) ${Math.round(60 * (v - low) / (1 - low || 1))}%, transparent)` }));
  return heat(A.models, A.models, cells, "");
}
function hardRows(P) {
  const H = P.hard, n = H.rows.length, classes = P.measures.some(m => m.key === "accuracy");
  const box = el("div", null, el("p", null, `${plural(H.n, "row")} of ${fmt(H.n_rows)} ${H.n === 1 ? "is" : "are"} ${classes ? "wrong" : "far off"} in ${H.n_models === 1 ? "the only model" : `all ${H.n_models} models`}.${H.n ? " Their target may be mistaken, or what decides it is in no column." : ""}`));
  if (n) box.append(scroller(table(["row", "actual", "predicted", classes ? "mean probability of actual" : "smallest error", ...H.columns.map(c => short(c, 18))], H.rows.map(r => [r.name, el("td", { class: "l half" }, short(r.actual, 20)), el("td", { class: "l half" }, short(r.predicted, 20)), classes ? percent(1 - r.badness, 1) : fmt(r.badness), ...r.values.map(v => short(v, 18))]))));
  return box;
}
function smallTree(P) {
  return el("div", null, el("div", { class: "formula", role: "region", "aria-label": "tree", tabindex: 0 }, P.tree),
    P.sheets.length ? el("h3", null, "The arithmetic of its splits") : el("p", { class: "note" }, "Worksheets of its splits: ", el("code", null, "arboretum.worksheet(result.fitted(\"tree of 8 leaves\"), X, y).node(0, 0)")),
    P.sheets.map(sheet => el("details", null, el("summary", null, fromOne(sheet.title)), el("div", { class: "worksheet" }, sheetView({ ...sheet, title: "" })))));
}
function data(P) {
  const box = el("div"), share = n => n ? percent(n / P.n_rows) : "–";
  P.warnings.forEach(one => box.append(el("div", { class: "hint" }, one)));
  P.duplicates.forEach(group => box.append(el("div", { class: "hint" }, `${group.slice(0, -1).join(", ")} and ${group[group.length - 1]} carry the same information.`)));
  if (!P.warnings.length && !P.duplicates.length) box.append(el("p", { class: "note" }, "Nothing suspicious: no constant column, no row numbers or names, no column that determines the target alone, no duplicates."));
  const lines = table(["column", "kind", "shape", "missing", "distinct"], P.columns.slice(0, 200).map(c => [short(c.name, 34), el("td", { class: "l half" }, c.dtype === "datetime" ? "date" : c.words ? "category" : "number"), el("td", { class: "l half" }, c.counts ? spark(c.words ? [...c.counts].sort((a, b) => b - a).slice(0, 24) : c.counts) : ""), share(c.missing), fmt(c.distinct)]));
  box.append(P.columns.length <= 25 ? scroller(lines) : tall(plural(Math.min(P.columns.length, 200), "column"), lines));
  return box;
}
function facts_(P) {
  const box = el("div", null, facts(P.facts));
  box.append(el("h3", null, "Figures"), facts(P.measures.map(m => [m.name, `${m.what}; ${m.more ? "higher" : "lower"} is better`])));
  box.append(el("details", null, el("summary", null, "Parameters of the models"), scroller(table(["model", "estimator"], P.models.map(m => [m.name, el("td", { class: "wrap mono" }, m.estimator)])))));
  return box;
}

// ---------------------------------------------------------------- all panels
(async () => {
  const P = JSON.parse(document.getElementById("payload").textContent);
  document.getElementById("headline").textContent = P.headline;
  document.getElementById("lead").textContent = P.chance;
  document.getElementById("end").textContent = `Made by ${P.facts.find(f => f[0] === "version")[1]}. ${P.hard.rows.length ? `This page shows ${plural(P.hard.rows.length, "row")} of your data` : "This page contains no row of your data"}; it loads nothing from the network.`;
  const by = P.measures.find(m => m.key === P.by);
  const list = [
    ["models", "Models", `The best by ${by.name} comes first. A dot is the mean over folds, the line its 95 % interval; baselines have hollow dots. Choose a heading to sort by it.`, () => models(P)],
    ["cost", "Good, fast, small", "Models near the upper left corner are good and cheap. The line joins the models that no other beats in both.", () => costs(P)],
    P.models.length > 1 && ["differences", "Differences", `${by.name} of the model in the row minus that of the model in the column. Pale cells may be chance: their p-value, adjusted for the number of pairs, is 0.05 or more.`, () => differences(P, by)],
    P.importances && ["columns", "Which columns matter", "The share of every column in what a model gains by its splits. A column that matters in every model matters; one that matters in a single model may be an accident of that model.", () => importances(P)],
    P.curves.length && ["curves", "Learning curves", `${by.name} after learning from fewer rows. A curve that is not flat at its end would profit from more rows.`, () => learningCurves(P, by)],
    ["hard", "Rows that no model gets right", "Every row was predicted by models that had not seen it. Look at these rows first: a wrong label costs every model the same.", () => hardRows(P)],
    P.weak.length && ["weak", "Where the winner is weak", `Groups of rows, by the values of one column, for which ${P.winner} errs more than for all others, beyond what chance explains.`, () => weakGroups(P.weak, P.measures.some(m => m.key === "accuracy"))],
    P.agreement.models.length > 1 && ["agreement", "Who agrees with whom", P.measures.some(m => m.key === "accuracy") ? "The share of rows for which two models predict the same class. Models that are good and disagree gain by being combined." : "The correlation of two models' predictions. Models that are good and disagree gain by being combined.", () => agreementPanel(P)],
    P.tree && ["tree", "One small tree", "The tree of 8 leaves, grown on all rows: the price of an explanation is the distance of its score to the best.", () => smallTree(P)],
    ["data", "Data", "Columns that would make every model look better than it is come first.", () => data(P)],
    ["done", "What was done", P.done, () => facts_(P)],
  ].filter(Boolean);
  putSections(list);
  lightOrDark();
  document.documentElement.dataset.ready = "yes";
  window.comparison = P;
})().catch(notDrawn);
