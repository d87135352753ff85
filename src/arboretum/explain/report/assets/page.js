// Puts the page together: every panel has a name, a sentence that says how to read it, and a drawing.
"use strict";
(async () => {
  const P = JSON.parse(document.getElementById("payload").textContent);
  const packed = Uint8Array.from(atob(document.getElementById("model").textContent), c => c.charCodeAt(0));
  const M = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  const menu = document.getElementById("targets"), pages = [[P, M], ...(P.targets ? P.targets.others.map((p, k) => [p, M.others[k]]) : [])];
  if (pages.length > 1) menu.append(choice("Target", P.targets.names.map(n => short(n, 40)), k => draw(...pages[k])));
  const seen = new IntersectionObserver(entries => entries.forEach(e => { const link = document.querySelector(`#contents a[href="#${e.target.id}"]`); if (e.isIntersecting && link) { document.querySelectorAll("#contents a").forEach(a => a.classList.remove("here")); link.classList.add("here"); } }), { rootMargin: "-20% 0px -70% 0px" });
  const root = document.documentElement;
  draw(P, M);
  document.getElementById("look").addEventListener("click", () => {
    const dark = root.dataset.look ? root.dataset.look === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.look = dark ? "light" : "dark";
  });
  root.dataset.ready = "yes";

  function draw(P, M) {
  P.sizes = P.columns.map(c => c.words ? c.words.length : 0);
  const main = document.getElementById("main"), contents = document.getElementById("contents"), o = P.overview;
  clear(main); clear(contents);
  document.getElementById("headline").textContent = P.headline;
  document.getElementById("lead").textContent = `${P.labels ? "Classification" : P.task === "ranking" ? "Ranking" : "Regression"} of ${P.target} from ${plural(o.columns, "column")}, judged on ${plural(o.rows, "row")}.${P.of_targets ? ` The model answers ${P.of_targets[1]} targets at once; this page ${pages.length > 1 ? "shows one of them at a time, now" : "is about"} target ${P.of_targets[0]}, counted from 0.` : ""}`;
  document.getElementById("end").textContent = `Made by arboretum ${o.versions[0][1]}. ${P.rows.x.length ? `${plural(P.rows.x.length, "row")} of the table ${P.rows.x.length === 1 ? "stands" : "stand"} in this page as ${P.rows.x.length === 1 ? "it is" : "they are"}` : "No row of the table stands in this page"}; everything else is counts, means and the model itself. It loads nothing from anywhere.`;

  let trees = null;
  const goTree = (number, row) => { if (trees) trees.show_row(number, row); };
  const sheets = worksheetView(P, M);
  const list = [
    ["overview", "Overview", "What was learned from what, and how good it is on the rows at hand.", () => overview(P)],
    ["data", "Data sheet", "Every column as it is in these rows. Columns that would make a model look better than it is are named first.", () => dataSheet(P)],
    P.learning && ["learning", "Learning curve", P.task === "ranking" ? "How good the order is after every round: higher is better. Where the line of rows that were not learned from turns downward, further rounds only learn by heart." : "The error after every round. Where the line of rows that were not learned from turns upward, further rounds only learn by heart.", () => learning(P)],
    P.confusion && ["confusion", "Confusion", "Rows are the actual, columns what the model tells; right answers stand on the diagonal.", () => confusion(P)],
    P.class_curves && P.labels.length > 1 && ["curves", P.labels.length === 2 ? "ROC, precision, calibration" : "Curves by class", "ROC: nearer to the upper left is better, the dashed line is chance. Calibration: on the dashed line a share of 70 % comes true 7 times of 10; the band is two standard errors.", () => classCurves(P)],
    P.residuals && ["residuals", "Residuals", "Truth less what was predicted. A cloud without shape around zero is what is left of chance; a bend or a funnel is something the model has not learned.", () => residuals(P)],
    P.importances.length && ["importances", "Importances", "What a column is worth, measured in several ways. Gain, cover and splits look at the trees; permutation and SHAP at the answers. Columns that say the same share their worth.", () => importances(P)],
    P.dependence.length && ["dependence", "Partial dependence", "What the model would say on average if every row had this value, all else as it is. Lines of single rows that cross tell of columns that act together.", () => dependence(P)],
    P.pairs.list.length && ["pairs", "Pairs", "Columns that act together: what two of them change beyond what each does alone.", () => pairs(P)],
    M.trees.length && ["trees", M.trees.length === 1 ? "The tree" : "The trees", "Rows begin at the top and take the branch their value fits. Colours tell what a node says, and how clearly. Click a node for its figures and its worksheet.", () => { trees = treePanel(P, M, sheets.node); return trees.whole; }],
    P.rules && ["rules", "Rules", "Asked from the first to the last: the first whose conditions all hold gives the answer.", () => rulesPanel(P)],
    ["row", "One row", "Why the model says what it says of one row.", () => rowPanel(P, M, goTree)],
    ["whatif", "What if", "Change values and see what the model says. It is walked here in the page and gives the numbers that predict gives.", () => whatIfPanel(P, M)],
    sheets.rounds && ["rounds", "Rounds", "What every round did: move the slider. Some rounds have their whole arithmetic.", () => sheets.rounds()],
    P.theory && ["theory", "Boosting theory", "AdaBoost's training error stays below the product of its Z. Margins go on growing after the last training row is right: that is why it may go on learning.", () => theory(P)],
    P.oob && ["oob", "Out-of-bag error", "The error on rows that a tree has not seen, as trees are added. Where the line is flat, more trees bring nothing.", () => oob(P)],
    P.proximity && ["proximity", "Proximity map", "Rows of this page on a plane: near each other where many trees send them to the same leaf.", () => proximity(P)],
    P.pruning && ["pruning", "Pruning", "The error on held-out rows of every tree on the way from the full tree to a single leaf.", () => pruning(P)],
  ].filter(Boolean);
  for (const [id, name, how, make] of list) {
    const place = el("section", { id, "aria-labelledby": id + "-name" }, el("h2", { id: id + "-name" }, name), el("p", { class: "how" }, how));
    main.append(place);
    contents.append(el("a", { href: "#" + id }, name));
    place.append(make());
  }
  main.querySelectorAll("section").forEach(place => seen.observe(place));
  window.report = { payload: P, model: M, predict: row => answerOf(P, M, asRow(row)), trees };
  }
})().catch(problem => { document.getElementById("main").append(el("p", { class: "hint" }, "This page could not be drawn: " + problem.message)); document.documentElement.dataset.ready = "failed"; throw problem; });
