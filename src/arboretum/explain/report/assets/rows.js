// One row: its prediction and the reasons for it. What if its values were others?
"use strict";
const answerOf = (P, M, row) => Walk.run(M.steps, row, { trees: M.trees, sizes: P.sizes });
const asRow = values => values.map(v => v === null ? NaN : v);

function answerView(P, answer, actual) {
  const near = P.labels ? null : P.rows.actual.length > 1 && P.task !== "ranking" ? formatOf(P.rows.actual, 1000) : v => fmt(v, 5);
  if (!P.labels) return el("div", null, el("span", { class: "big" }, near(answer[0])), actual !== undefined && actual !== null ? el("span", { class: "note" }, P.task === "ranking" ? `  score; actual grade ${fmt(actual, 6)}` : `  actual ${near(actual)}, error ${near(actual - answer[0])}`) : null);
  const order = answer.map((p, k) => [p, k]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 8);
  return el("div", { class: "answer" }, order.map(([p, k]) => [el("span", null, short(P.labels[k], 22), actual === k ? el("span", { class: "tag" }, "actual") : null),
    el("span", { class: "track" }, el("div", { class: "bar", style: { width: Math.max(100 * p, 0.4) + "%", background: classColor(k, answer.length) } })), el("span", null, percent(p, 2))]));
}
// The sum of trees that the answer is made of, if nothing on the way changes the row.
const BENDS = ["link", "two", "signs", "difference", "absent", "begin"];
function sumOfTrees(s) { while (s && BENDS.includes(s.op)) s = s.of; return s && s.op === "trees" ? s : null; }
function straight(s) { const way = []; while (s) { way.push(s); s = Array.isArray(s.of) ? null : s.of; } return way; }

// What a row is called: its id where there is one, else its position.
const rowName = (P, i) => P.rows.name ? P.rows.name[i] : `row ${P.rows.row[i]}`;
const valueIn = (P, i, f) => valueOf(P.columns[f], P.rows.x[i][f], P.rows.unseen && P.rows.unseen[i] ? P.rows.unseen[i][f] : null);

// The score that trees add up: its unit, and what a score means, a probability or a prediction; null where it is the prediction itself.
function scoreOf(P, M) {
  const link = M.steps ? straight(M.steps).find(s => s.op === "link") : null;
  if (!link) return { unit: !M.steps ? "units of the score" : P.labels ? "probability" : P.task === "ranking" ? "units of the score" : `units of ${P.target}`, name: P.labels && M.steps ? "probability" : !M.steps || P.task === "ranking" ? "score" : "prediction", means: null };
  const known = link.name === "logit" && link.sigma === 1, many = link.name === "softmax" && P.labels && P.labels.length > 2;
  return { unit: known ? "log-odds" : link.name === "log" ? "logarithms of the prediction" : "units of the score", name: known ? "score (log-odds)" : "score",
    means: link.name === "logit" ? v => Walk.expit(link.sigma * v[0]) : link.name === "log" ? v => Math.exp(v[0]) : many ? (v, k) => v.length === P.labels.length ? Walk.LINKS.softmax(v, link.sigma)[k] : null : null };
}
// A waterfall: from the base to the final score, the largest parts first. `beside` has the text beside base and end.
function waterfall(P, labels, parts, base, name, beside, unit = "") {
  return drawn(width => {
    const order = parts.map((v, f) => [v, f]).sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]));
    const top = Math.abs(order[0][0]), n = Math.min(10, order.filter(([v]) => Math.abs(v) > 0.004 * top).length), shown = order.slice(0, n), rest = order.slice(n).reduce((s, [v]) => s + v, 0), lines = [];
    let at = base;
    for (const [v, f] of shown) if (v) { lines.push([labels[f], at, at += v]); }
    if (Math.abs(rest) > 1e-9 * top) lines.push([plural(order.length - n, "other column"), at, at += rest]);
    const text = formatOf(lines.flatMap(l => [l[1], l[2]]), 200), narrow = width < 520, h = narrow ? 38 : 24, height = (lines.length + 2) * h + 20;
    const left = narrow ? 4 : Math.min(250, Math.max(130, 10 + 7 * Math.max(...lines.map(l => l[0].length), 8))), x = extent(lines.flatMap(l => [l[1], l[2]]).concat(base), 0.04);
    const s = scale(x, [left, width - 70]), g = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "How each value moved this prediction" });
    g.append(svg("line", { x1: s(base), x2: s(base), y1: 14, y2: height - 16, stroke: css("line") }));
    // A label is left of its bar; where there is no room, above it.
    const label = (line, i) => narrow ? svg("text", { x: 2, y: i * h + 13 }, short(line, Math.floor(width / 6.6))) : svg("text", { x: left - 8, y: i * h + 18, "text-anchor": "end" }, short(line, Math.floor(left / 6.7)));
    const number = (line, to, y, bold) => { const wide = line.length * 6.6 + 8, fits = to + wide < width; return svg("text", { class: bold ? null : "quiet", "font-weight": bold ? 600 : null, x: fits ? to + 6 : to - 6, y, "text-anchor": fits ? null : "end" }, line); };
    const drop = narrow ? 16 : 0;
    g.append(label("base", 0), number(text(base) + unit + beside(base, true), s(base), 18 + drop));
    lines.forEach(([line, a, b], i) => {
      const y = (i + 1) * h + 4 + drop, colour = b >= a ? css("high") : css("low"), by = `${b >= a ? "+" : ""}${text(b - a)}`;
      g.append(label(line, i + 1), svg("rect", { x: Math.min(s(a), s(b)), width: Math.max(Math.abs(s(b) - s(a)), 1), y, height: 17, fill: colour, rx: 2, ...tipped(`${line}\n${b >= a ? "+" : ""}${fmt(b - a, 5)}`) }), number(by, Math.max(s(a), s(b)), y + 13));
    });
    const end = (lines.length + 1) * h + drop;
    g.append(label(name, lines.length + 1), number(text(at) + unit + beside(at, false), s(at), end + 18, true), svg("circle", { cx: s(at), cy: end + 14, r: 3.5, fill: css("ink") }));
    return g;
  });
}
// How far the prediction moves when one column takes its typical value instead: for models without SHAP values.
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
  if (lines.length === 1 && div === 1 && M.steps === sum) { // a single tree
    const [{ number, path, leaf }] = lines, tree = M.trees[number], columns = treeColumns(P, number);
    return el("div", null, scroller(table(["path", "leaf", "prediction"], [[el("td", { class: "wrap" }, path.slice(1).map((c, i) => branch(tree, path[i], c - tree.c[tree.at[path[i]]], columns, 3)).join(" → ") || "root"), el("td", null, el("a", { href: "#trees", onclick: () => goTree(number, row) }, String(leaf))), nodeAnswer(P, tree, leaf, "answers").text]])));
  }
  const name = k => labels ? labels.length === 2 && !many ? labels[1] : labels[k] : "";
  let output = labels && many ? Walk.argmax(answerOf(P, M, row)) : 0;
  const list = el("div"), chart = drawn(width => {
    const ys = [base[output] / div, ...lines.map(l => l.total[output])];
    return lineChart(width, [{ name: "score so far", x: ys.map((_, i) => i), y: ys, color: css("c0"), step: lines.length < 40 }], { height: 160, xlabel: "trees", xname: "after tree", ylabel: scoreOf(P, M).name + " so far", left: 56 });
  });
  function write() {
    const shown = lines.filter(l => !sum.columns || l.column === output).slice(0, 400);
    clear(list).append(tall(plural(shown.length, "tree"), table(["tree", "path", "leaf", ...(div !== 1 ? ["value"] : []), "adds", "total so far"], shown.map(l => {
      const tree = M.trees[l.number], columns = treeColumns(P, l.number), k = sum.columns ? 0 : output;
      const way = l.path.slice(1).map((c, i) => branch(tree, l.path[i], c - tree.c[tree.at[l.path[i]]], columns, 3));
      return [el("td", { class: "l" }, el("a", { href: "#trees", onclick: () => goTree(l.number, row) }, String(l.number + 1))), el("td", { class: "wrap" }, way.join(" → ") || "root"), fmt(l.leaf), ...(div !== 1 ? [fmt(l.said[k], 5)] : []), fmt(l.said[k] / div, 5), fmt(l.total[output], 6)];
    }))));
    chart.redraw();
  }
  if (labels && many) box.append(el("div", { class: "controls" }, choice("Class", labels.map(l => short(l)), k => { output = k; write(); }, output)));
  box.append(lines.length > 1 ? chart : "", list); write();
  const unit = scoreOf(P, M), last = lines.length ? lines[lines.length - 1].total : base.map(v => v / div), p = unit.means ? unit.means(last, output) : null;
  const meant = div === lines.length && div !== 1 ? `The prediction is the mean of the ${fmt(div)} trees: each value is divided by ${fmt(div)}.` : div !== 1 ? `The score is the weighted mean of the trees: each value is divided by the sum of the weights, ${fmt(div)}.${labels ? ` A score of ${fmt(last[output], 4)} for “${short(name(output))}” is a probability of ${percent(answerOf(P, M, row)[many ? output : 1], 2)}.` : ""}` : p === null ? "" : labels ? `${labels.length > 2 ? "Beside the scores of the other classes, a" : "A"} score of ${fmt(last[output], 4)} is a probability of ${percent(p, 2)}.` : `A score of ${fmt(last[output], 4)} is a prediction of ${fmt(p, 5)}.`;
  if (meant) box.append(el("p", { class: "note" }, meant));
  return box;
}
// Models of other models: the prediction of each.
function members(P, M, row) {
  const last = straight(M.steps).pop(), model = { trees: M.trees, sizes: P.sizes };
  if (last.op === "rules") return null;
  if (last.op === "spread") {
    const tree = M.trees[last.tree], columns = treeColumns(P, last.tree), binned = straight(M.steps).find(s => s.op === "bins");
    const mine = row.slice(), sizes = columns.map(c => c.words ? c.words.length : 0);
    if (binned) for (const [f, cuts] of Object.entries(binned.cuts)) if (mine[f] === mine[f]) mine[f] = cuts.filter(c => c < mine[f]).length;
    return tall("paths", table(["path", "share of the row", "prediction"], Walk.reached(tree, mine, sizes).map(([node, w]) => {
      const way = []; for (let c = node; c > 0; c = tree.parent[c]) way.unshift(branch(tree, tree.parent[c], c - tree.c[tree.at[tree.parent[c]]], columns, 3));
      return [el("td", { class: "wrap" }, way.join(" → ") || "root"), percent(w), nodeAnswer(P, tree, node, "answers").text];
    })));
  }
  const step = straight(M.steps).find(s => s.op === "stack") || last;
  const parts = step.op === "stack" ? step.row.of : Array.isArray(step.of) ? step.of : null;
  if (sumOfTrees(M.steps)) { // a weighted median
    const s = sumOfTrees(M.steps), said = Array.from({ length: s.count }, (_, t) => [s.first + t, Walk.said(M.trees[s.first + t], Walk.leafOf(M.trees[s.first + t], row, P.sizes))[0], s.median[t]]).sort((a, b) => a[1] - b[1]);
    let w = 0; const all = s.median.reduce((a, b) => a + b, 0);
    return tall(plural(said.length, "tree"), table(["tree", "prediction", "weight", "weight so far"], said.map(([t, v, weight]) => ({ cells: [String(t + 1), fmt(v, 6), fmt(weight), percent((w += weight) / all)], attributes: v === answerOf(P, M, row)[0] ? { class: "here" } : null }))));
  }
  if (!parts) return null;
  const names = P.overview.members || [], final = step.op === "stack" ? straight(step.of).find(s => s.op === "linear") : null;
  const said = parts.map(s => Walk.run(s, row, model)), name = i => names[i] ? `${names[i][0]} (${names[i][1]})` : `member ${i + 1}`;
  let at = 0; // place of a member's first number in the row of the final model
  const places = said.map(v => { const here = at; at += v.length; return here; });
  const linear = final && final.w.length === 1 ? final : null;
  const head = ["member", P.labels && step.op !== "stack" ? P.labels.map(l => `probability of ${short(l, 14)}`).join(", ") : "prediction", ...(linear ? ["weight", "adds"] : [])];
  const box = el("div", null, tall(plural(said.length, "member"), table(head, said.map((v, i) => [name(i), v.map(x => fmt(x, 4)).join(", "), ...(linear ? [v.map((_, k) => fmt(linear.w[0][places[i] + k], 4)).join(", "), fmt(v.reduce((s, x, k) => s + x * linear.w[0][places[i] + k], 0), 4)] : [])]))));
  if (linear) box.append(el("p", { class: "note" }, `The final model adds these and its constant ${fmt(linear.b[0], 4)}${straight(step.of).some(s => s.op === "link") ? "; the sum is the log-odds of the prediction" : ""}.`));
  else if (step.op === "stack") box.append(el("p", { class: "note" }, "The predictions of the members are the row that the final model reads; its trees are the last ones among the trees."));
  return box;
}

function rowPanel(P, M, goTree) {
  const R = P.rows; if (!R.x.length) return el("p", { class: "note" }, "This page contains no rows (rows=\"none\").");
  const place = el("div"), walk = M.steps !== null;
  const actual = P.labels ? null : formatOf(R.actual), names = R.row.map((_, i) => rowName(P, i) + (P.labels ? `: actual ${R.actual[i] < 0 ? "another label" : short(P.labels[R.actual[i]], 18)}${Walk.argmax(R.predicted[i]) === R.actual[i] ? "" : ", predicted " + short(P.labels[Walk.argmax(R.predicted[i])], 18)}` : `: actual ${actual(R.actual[i])}`));
  const order = R.row.map((_, i) => i).sort((a, b) => R.loss[b] - R.loss[a]);
  let at = order[0];
  const list = el("select", { onchange: () => open(+list.value), "aria-label": "Row" }, el("optgroup", { label: "most wrong first" }, order.map(i => el("option", { value: i }, names[i]))));
  const step = d => { const j = order.indexOf(at) + d; if (order[j] !== undefined) { list.value = order[j]; open(order[j]); } };
  function open(i) {
    at = i;
    const values = R.x[i], row = asRow(values), predicted = R.predicted[i], best = P.labels ? Walk.argmax(predicted) : 0;
    const left = el("div", null, el("h3", null, "Prediction"), answerView(P, predicted, R.actual[i]));
    const why = el("div");
    if (R.shap) {
      const parts = R.shap[i], output = parts.length === 1 ? 0 : best;
      const of = P.labels ? (parts.length === 1 ? P.labels[P.labels.length - 1] : P.labels[best]) : P.target;
      const score = scoreOf(P, M), share = P.labels && !score.means && score.name === "probability", k = parts.length === 1 && P.labels ? P.labels.length - 1 : output, end = parts.map((p, c) => p.reduce((a, b) => a + b, R.shap_base[c]));
      const bases = R.shap_base, meant = (v, start) => { const p = start ? score.means ? score.means(parts.length === 1 ? [v] : bases, k) : null : P.labels || score.means ? predicted[k] : null; return p === null || p === undefined ? "" : P.labels ? ` · ${percent(p, 1)}` : ` · ${fmt(p, 4)}`; };
      const names = P.columns.map((c, f) => `${c.name} = ${valueIn(P, i, f)}`), what = P.labels ? `${score.name === "probability" ? "probability of" : "score for"} “${short(of)}”` : P.task === "ranking" ? "score" : score.means ? "score" : "prediction";
      why.append(el("h3", null, "How each value moved this prediction"), share ? waterfall(P, names, parts[output].map(v => 100 * v), 100 * bases[output], "this row", () => "", " %") : waterfall(P, names, parts[output], bases[output], "this row", meant),
        el("p", { class: "note" }, `Starting from the average ${what} of the training rows (base), each bar is how far this value moved the ${what}, in ${share ? "percentage points" : score.unit}. The bars add up to the final ${what.split(" for ")[0].split(" of ")[0]} exactly (SHAP values).${!share && (P.labels || score.means) ? ` ${P.labels && P.labels.length > 2 ? "Beside the scores of the other classes, a" : "A"} score of ${fmt(end[output], 3)} is a ${P.labels ? "probability" : "prediction"} of ${P.labels ? percent(predicted[k], 1) : fmt(predicted[k], 4)}.` : ""}`));
    } else if (walk) {
      const parts = replaced(P, M, row, best);
      why.append(el("h3", null, "One column at a time"), bars(parts.map((v, f) => ({ label: `${P.columns[f].name} = ${valueIn(P, i, f)}`, value: v, color: v < 0 ? css("low") : css("high") })).filter(b => b.value).sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 10)),
        el("p", { class: "note" }, `How much the ${P.labels ? `probability of “${short(P.labels[best])}”` : "prediction"} depends on each value: the change if that column had its typical value instead and all others stayed. These do not add up to the prediction.`));
    }
    left.append(el("h3", null, "Its values"), tall(plural(P.order.length, "column"), table(["column", "value"], P.order.map(f => [P.columns[f].name, el("td", { class: "value" }, valueIn(P, i, f))]))));
    clear(place).append(el("div", { class: "grid2" }, left, why));
    if (walk) {
      const way = journey(P, M, row, goTree);
      if (way) place.append(el("h3", null, "Its path through the model"), way);
      const near = nearest(P, M, i);
      if (near) place.append(el("h3", null, "Nearest rows of the page"), near);
    }
  }
  open(at);
  return el("div", null, el("div", { class: "controls" }, el("label", null, "Row", list), el("button", { onclick: () => step(-1) }, "‹ more wrong"), el("button", { onclick: () => step(1) }, "more right ›")), place);
}
// Rows that end in the same leaves.
function nearest(P, M, i) {
  const n = M.trees.length; if (!n || P.trees.schemas[0] !== 0) return null;
  P.leaves = P.leaves || P.rows.x.map(x => M.trees.map(t => Walk.leafOf(t, asRow(x), P.sizes)));
  const near = P.leaves.map((l, j) => [l.filter((v, t) => v === P.leaves[i][t]).length / n, j]).filter(p => p[1] !== i).filter(p => p[0] > 0).sort((a, b) => b[0] - a[0]).slice(0, 6);
  if (!near.length) return el("p", { class: "note" }, "No other row of the page reaches a leaf of this row.");
  const shown = P.order.slice(0, 5);
  return [scroller(table(["row", "same leaves", P.labels ? "actual" : `actual ${P.target}`, ...shown.map(f => P.columns[f].name)], near.map(([s, j]) => [rowName(P, j), percent(s, 0), P.labels ? P.labels[P.rows.actual[j]] || "?" : fmt(P.rows.actual[j]), ...shown.map(f => valueIn(P, j, f))]))),
    el("p", { class: "note" }, `${n === 1 ? "Rows that reach the same leaf" : `“Same leaves” is the share of the ${plural(n, "tree")} in which both rows reach the same leaf`}; only the ${P.rows.x.length} rows of this page are compared.`)].reduce((box, part) => (box.append(part), box), el("div"));
}

function whatIfPanel(P, M) {
  if (!M.steps) return el("p", { class: "note" }, "This page cannot compute predictions of this model: " + M.reason + ".");
  const usual = P.columns.map(c => c.words ? c.counts.indexOf(Math.max(...c.counts)) : c.quantiles ? (c.whole ? Math.round(c.quantiles[2]) : c.quantiles[2]) : NaN);
  let start = P.rows.x.length ? asRow(P.rows.x[0]) : usual, now = start.slice();
  const out = el("div", { "aria-live": "polite" }), fields = el("div", { class: "whatif" }), inputs = [];
  const before = el("p", { class: "note" });
  function show() {
    const answer = answerOf(P, M, now), first = answerOf(P, M, start);
    P.whatIf = { row: now.slice(), answer };
    clear(out).append(answerView(P, answer));
    const k = P.labels ? Walk.argmax(answer) : 0, moved = answer[k] - first[k];
    before.textContent = moved ? `${P.labels ? short(P.labels[k]) + ": " : ""}${moved > 0 ? "+" : ""}${P.labels ? (100 * moved).toFixed(2).replace("-", MINUS) + " percentage points" : fmt(moved, 4)} compared with the start` : "as at the start";
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
    const date = c.dtype === "datetime" ? el("output") : null; // seconds since 1970 are hard to read
    const set = v => { now[f] = v; gap.checked = v !== v; if (date) date.textContent = ` ${valueOf(c, v)}, in seconds since 1970`; show(); };
    gap.addEventListener("change", () => { const v = gap.checked ? NaN : read(); write(v); set(v); });
    const box = el("div", { class: "field" }, el("span", { class: "name", title: c.name }, c.name, date), el("div", null, parts, el("label", { class: "gap" }, gap, "missing")));
    return { field: box, write: v => { write(v); gap.checked = v !== v; if (date) date.textContent = ` ${valueOf(c, v)}, in seconds since 1970`; } };
  }
  P.columns.forEach((c, f) => inputs.push(field(c, f)));
  const first = P.order.slice(0, 24), rest = P.order.slice(24);
  fields.append(...first.map(f => inputs[f].field));
  const more = rest.length ? el("details", null, el("summary", null, `${rest.length} less important columns`), el("div", { class: "whatif" }, rest.map(f => inputs[f].field))) : null;
  function begin(row) { start = row.slice(); now = row.slice(); inputs.forEach((i, f) => i.write(now[f])); show(); }
  const list = choice("Start from", ["typical values", ...P.rows.row.map((_, i) => rowName(P, i))], k => begin(k ? asRow(P.rows.x[k - 1]) : usual), P.rows.x.length ? 1 : 0);
  begin(start);
  return el("div", null, el("div", { class: "controls" }, list, el("button", { onclick: () => begin(start) }, "Back to the start")), out, before, el("h3", null, "Values"), fields, more);
}
