// Puts the page together: every panel has a name, a sentence on how to read it, and a drawing.
"use strict";
(async () => {
  const P = JSON.parse(document.getElementById("payload").textContent);
  const packed = Uint8Array.from(atob(document.getElementById("model").textContent), c => c.charCodeAt(0));
  const M = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  const menu = document.getElementById("targets"), pages = [[P, M], ...(P.targets ? P.targets.others.map((p, k) => [p, M.others[k]]) : [])];
  if (pages.length > 1) menu.append(choice("Target", P.targets.names.map(n => short(n, 40)), k => draw(...pages[k])));
  draw(P, M);
  lightOrDark();
  document.documentElement.dataset.ready = "yes";

  function draw(P, M) {
  P.unit = scoreOf(P, M).unit;
  P.sizes = P.columns.map(c => c.words ? c.words.length : 0);
  const o = P.overview;
  document.getElementById("headline").textContent = P.headline;
  document.getElementById("lead").textContent = `${P.labels ? "Classification" : P.task === "ranking" ? "Ranking" : "Regression"} of ${P.target} from ${plural(o.columns, "column")}, tested on ${plural(o.rows, "row")}.${P.of_targets ? ` The model predicts ${P.of_targets[1]} targets at once; this page ${pages.length > 1 ? "shows one of them at a time, now" : "is about"} target ${P.of_targets[0] + 1} of ${P.of_targets[1]}.` : ""}`;
  document.getElementById("end").textContent = `Made by arboretum ${o.versions[0][1]}. ${P.rows.x.length ? `This page contains ${plural(P.rows.x.length, "row")} of your data in full (rows="none" leaves them out)` : "This page contains no row of your data"}; everything else is counts, means and the model itself. It loads nothing from the network.`;

  let trees = null;
  const goTree = (number, row) => { if (trees) trees.show_row(number, row); };
  const sheets = worksheetView(P, M);
  const list = [
    ["overview", "Overview", "How good the predictions are, beside a model that ignores all columns, and what the model is.", () => overview(P)],
    ["data", "Data sheet", "Every column as it is in these rows. Columns that would make a model look better than it is come first.", () => dataSheet(P)],
    P.learning && ["learning", "Learning curve", P.task === "ranking" ? "How good the order is after every round; higher is better. Where the line of held-out rows turns down, further rounds only memorise the training rows." : "The error after every round; lower is better. Where the line of held-out rows turns up, further rounds only memorise the training rows.", () => learning(P)],
    P.confusion && ["confusion", "Right and wrong answers", "Each row is an actual class, each column a predicted one; correct predictions are on the diagonal.", () => confusion(P)],
    P.class_curves && P.labels.length > 1 && ["curves", P.labels.length === 2 ? "ROC, precision, calibration" : "Curves by class", "ROC: closer to the upper left corner is better; the dashed line is guessing. Calibration: on the dashed line, of the rows predicted with 70 %, 70 in 100 are of the class; the band is two standard errors.", () => classCurves(P)],
    P.residuals && ["residuals", "Residuals", "Error = actual − predicted. A shapeless cloud around zero is good; a curve or a funnel means the model missed a pattern.", () => residuals(P)],
    P.weak && P.weak.length && ["weak", "Where the model is weak", "Groups of rows, by the values of one column, for which the model errs more than for all others, beyond what chance explains.", () => weakGroups(P.weak, P.labels)],
    P.importances.length && ["importances", "Importances", "How much the model relies on each column, measured in several ways. Gain, cover and splits are computed from the trees; permutation and SHAP from the predictions. Columns with the same information split the credit.", () => importances(P)],
    P.beeswarm && ["beeswarm", "Direction of effects", `Every dot is a row: how far its value of the column moves its ${P.labels ? "score" : "prediction"} to the right (higher) or to the left (lower)${P.beeswarm.of ? `, for “${short(P.beeswarm.of, 24)}”` : ""}. Blue dots have low values, orange dots high ones; grey dots have words or no value.`, () => beeswarm(P)],
    P.dependence.length && ["dependence", "Partial dependence", "The average prediction if every row had this value and kept all others. Thin lines are single rows; where they cross, another column changes the effect.", () => dependence(P)],
    (P.pairs.list.length || P.pairs.why) && ["pairs", "Pairs", "Columns that act together: the joint effect of two columns beyond the sum of their separate effects.", () => pairs(P)],
    M.trees.length && ["trees", M.trees.length === 1 ? "The tree" : "The trees", "Rows start at the top and follow the branch that their value fits. Colours show the prediction of a node and how certain it is. Click a node for its figures and its worksheet.", () => { trees = treePanel(P, M, sheets.node); return trees.whole; }],
    P.rules && ["rules", "Rules", "Rules are tried from first to last: the first rule whose conditions all hold gives the prediction.", () => rulesPanel(P)],
    ["row", "One row", "Why the model predicts what it predicts for one row.", () => rowPanel(P, M, goTree)],
    ["whatif", "What if", "Change values and see the prediction. It is computed in this page; the numbers equal those of predict.", () => whatIfPanel(P, M)],
    sheets.rounds && ["rounds", "Rounds", "What each round did: move the slider. For some rounds, the whole arithmetic is here.", () => sheets.rounds()],
    P.theory && ["theory", "Boosting theory", "AdaBoost's training error stays below the product of its Z. Margins can keep growing after every training row is predicted correctly, which is why further rounds can still help.", () => theory(P)],
    P.oob && ["oob", "Out-of-bag error", "The error on training rows that a tree did not see, as trees are added; lower is better. Where the line is flat, more trees do not help.", () => oob(P)],
    P.proximity && ["proximity", "Proximity map", "The rows of this page on a plane: two rows are close if many trees send them to the same leaf.", () => proximity(P)],
    P.pruning && ["pruning", "Pruning", "The error on held-out rows of every pruned tree, from a single leaf to the full tree; lower is better.", () => pruning(P)],
  ].filter(Boolean);
  putSections(list);
  window.report = { payload: P, model: M, predict: row => answerOf(P, M, asRow(row)), trees };
  }
})().catch(notDrawn);
