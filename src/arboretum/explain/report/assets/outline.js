// Outlines: the candidate table and the formulas of any node, written from the numbers of the page.
"use strict";
const Outline = (() => {
  const GRID = "The winner is the model's own split. For the other columns, 254 evenly spaced thresholds were tried, so a threshold between two of them may gain a little more.";
  const value = (name, rule, numbers, v) => ({ name, rule, numbers, value: v });
  const inBrackets = v => v < 0 ? `(${fmt(v, 6)})` : fmt(v, 6);
  const weightOf = (tree, node) => (tree.w || tree.n)[node];

  function splitText(columns, [f, cut, missing]) {
    const column = columns[f], words = column.words || [];
    const more = missing === 0 ? " or missing" : "";
    if (Array.isArray(cut)) return `${column.name} in {${cut.slice(0, 5).map(c => words[c]).join(", ")}${cut.length > 5 ? ", …" : ""}}${more}`;
    if (cut === null) return `${column.name} is ${missing === 0 ? "missing" : "present"}`;
    return `${column.name} ${compared(column, 0, cut)}${more}`;
  }
  // The weight of a class: proportions in the page have five digits, and rows that weigh one each give whole numbers.
  const part = (p, W) => { const x = p * W, near = Math.round(x); return fmt(Number.isInteger(W) && Math.abs(x - near) < 1e-3 + 1e-5 * W ? near : x, 6); };
  const shares = d => { const all = d.reduce((a, b) => a + b, 0) || 1; return d.map(v => v / all); };

  // ---------------------------------------------------------------- trees of CART's kind
  function impurity(P, tree, node, criterion) {
    const d = tree.d[node], W = weightOf(tree, node), kinds = { gini: "gini", entropy: "entropy", log_loss: "entropy", gain_ratio: "entropy", gain: "entropy", error: "error" };
    if (!kinds[criterion] || !P.labels || d.length !== P.labels.length || d.length > 8) return [];
    const parts = shares(d).filter(p => p > 0).map(p => `${part(p, W)}/${fmt(W, 6)}`);
    if (kinds[criterion] === "gini") return [value("gini", "1 - Σ p²", "1 - " + parts.map(s => `(${s})²`).join(" - "), tree.i[node])];
    if (kinds[criterion] === "error") return [value("error", "1 - largest p", `1 - ${fmt(Math.max(...shares(d)), 6)}`, tree.i[node])];
    return [value("entropy", "-Σ p log2 p", parts.map(s => `- ${s} · log2 ${s}`).join(" "), tree.i[node])];
  }
  function gain(tree, node, criterion) {
    const children = Walk.children(tree, node), W = weightOf(tree, node), all = weightOf(tree, 0), kept = tree.g[tree.at[node]];
    if (criterion === "friedman_mse" && children.length === 2 && tree.d[node].length === 1 && !tree.steps) {
      const [a, b] = children, [x, y] = [weightOf(tree, a), weightOf(tree, b)];
      return [value("gain", "W_L · W_R / (W_L + W_R) · (ȳ_L - ȳ_R)² / W", `${fmt(x, 6)} · ${fmt(y, 6)} / ${fmt(x + y, 6)} · (${fmt(tree.d[a][0], 6)} - ${inBrackets(tree.d[b][0])})² / ${fmt(all, 6)}`, kept)];
    }
    if (criterion === "friedman_mse") return [value("gain the model keeps", "W_L · W_R / (W_L + W_R) · (difference of the means)² / W", "", kept)];
    const numbers = children.slice(0, 6).map(c => ` - ${fmt(weightOf(tree, c), 6)}/${fmt(W, 6)} · ${fmt(tree.i[c], 6)}`).join("") + (children.length > 6 ? " - …" : "");
    return [value("gain", "W_t/W · (impurity - Σ W_child/W_t · impurity of the child)", `${fmt(W, 6)}/${fmt(all, 6)} · (${fmt(tree.i[node], 6)}${numbers})`, kept)];
  }
  function answer(P, tree, node, kind) {
    const d = tree.d[node], W = weightOf(tree, node);
    if (kind === "answers" && P.labels && d.length === P.labels.length) {
      const k = Walk.argmax(d), p = shares(d)[k];
      return [value(`probability of ${P.labels[k]}`, "weight of the class / weight of all", `${part(p, W)} / ${fmt(W, 6)}`, p)];
    }
    if (kind === "answers" && d.length === 1) return [value("mean", "Σ w y / Σ w", `${fmt(d[0] * W, 6)} / ${fmt(W, 6)}`, d[0])];
    return [];
  }
  function grownTable(columns, tree, node, lines, verdicts) {
    const n = tree.n[node], W = weightOf(tree, node), weighted = !!tree.w, charged = lines.some(l => l[9]);
    const rows = lines.map(l => {
      const [, , , verdict, rowsLeft, left, right, gained, weight = rowsLeft, charge = 0, rowsRight = n - rowsLeft, weightRight = W - weight] = l;
      return [splitText(columns, l), rowsLeft, rowsRight, ...(weighted ? [weight, weightRight] : []), left, right, gained, ...(charged ? [charge] : []), verdicts[verdict]];
    });
    return { title: "Best split of each of the closest columns", header: ["split", "left", "right", ...(weighted ? ["W left", "W right"] : []), "impurity left", "impurity right", "gain", ...(charged ? ["charge"] : []), "verdict"], rows, marked: [0], more: 0 };
  }

  // ---------------------------------------------------------------- second-order trees
  const soft = (G, a) => Math.sign(G) * Math.max(Math.abs(G) - a, 0);
  const score = (G, H, r, extra = 0) => soft(G, r.l1) ** 2 / (H + r.l2 + extra);
  const pull = (G, r) => r.l1 ? `soft(${fmt(G, 6)}, ${fmt(r.l1)})` : inBrackets(G);
  function similarity(name, G, H, r) {
    return value(name, r.l1 ? "soft(G, α)² / (H + λ)" : "G² / (H + λ)", `${pull(G, r)}² / (${fmt(H, 6)} + ${fmt(r.l2, 6)})`, score(G, H, r));
  }
  function gradientNode(columns, tree, node, one, r, verdicts) {
    const [G, H, n] = one.s[node], lines = one.l[node] || [], formulas = [];
    if (lines.length && !r.bent) {
      const [, , , , GL, HL] = lines[0];
      formulas.push(similarity("similarity of the node", G, H, r), similarity("similarity left", GL, HL, r), similarity("similarity right", G - GL, H - HL, r));
      formulas.push(value("gain", "left + right - node", `${fmt(score(GL, HL, r), 6)} + ${fmt(score(G - GL, H - HL, r), 6)} - ${fmt(score(G, H, r), 6)}`, lines[0][7]));
    } else if (lines.length) formulas.push(value("gain", "similarity left + right - node, with values limited by constraints", "", lines[0][7]));
    const rows = lines.map(l => [splitText(columns, l), l[6], n - l[6], l[4], G - l[4], l[5], H - l[5], l[7], verdicts[l[3]]]);
    const notes = ["G and H are sums of the first and second derivatives of the loss."];
    if (r.rounded) notes.push("The search adds up values of g and h rounded to 16 bits, so the gain that the model keeps may differ in the last digits.");
    if (r.grid) notes.push(GRID);
    if (r.gamma) notes.push(`A split must gain at least γ = ${fmt(r.gamma, 6)}.`);
    return { title: "", facts: { "ΣG": G, "ΣH": H, rows: n, "gain the model keeps": tree.g[tree.at[node]] }, formulas, notes, parts: [], tables: [{ title: "Best split of each of the closest columns", header: ["split", "left", "right", "G left", "G right", "H left", "H right", "gain", "verdict"], rows, marked: [0], more: 0 }] };
  }
  function gradientLeaf(tree, node, one, r) {
    const [G, H, n, extra = 0] = one.s[node], kept = tree.d[node][0], formulas = [], notes = [];
    const b = -soft(G, r.l1) / (H + r.l2 + extra), step = r.rate * b;
    if (r.renewed) formulas.push(value("b", `best constant for the ${fmt(n)} residuals of the leaf`, "", kept / r.rate));
    else formulas.push(value("b", r.l1 ? "-soft(G, α) / (H + λ)" : "-G / (H + λ)", `-${pull(G, r)} / (${fmt(H, 6)} + ${fmt(r.l2 + extra, 6)})`, b));
    formulas.push(value("value", "η · b", `${fmt(r.rate, 6)} · ${inBrackets(r.renewed ? kept / r.rate : b)}`, r.renewed ? kept : step));
    if (!r.renewed && Math.abs(step - kept) > 1e-3 * (Math.abs(kept) + 1e-9)) formulas.push(value("value the model keeps", "limited by max_delta_step, path_smooth, monotone constraints or min_child_weight", "", kept));
    return { title: "", facts: { "ΣG": G, "ΣH": H, rows: n }, formulas, tables: [], notes, parts: [] };
  }

  // The worksheet of a node from numbers alone; null where there is nothing to show.
  function sheet(P, M, number, node) {
    const tree = Walk.open(M.trees[number]), S = M.sheets || {}, one = (S.outlines || {})[number], columns = treeColumns(P, number), kind = P.trees.kinds[number], leaf = Walk.isLeaf(tree, node);
    const r = one ? S.rules[one.r] : null;
    if (r && r.kind === "gradient") return leaf ? gradientLeaf(tree, node, one, r) : gradientNode(columns, tree, node, one, r, S.verdicts);
    if (kind === "gradients") return null;
    const criterion = P.trees.criterion || (r && r.criterion) || "", formulas = [], tables = [], notes = [];
    formulas.push(...impurity(P, tree, node, criterion));
    if (leaf) {
      formulas.push(...answer(P, tree, node, kind));
      const step = one && one.b && one.b[node];
      if (step) formulas.push(value("step", step[0], step[1], step[2]));
    } else formulas.push(...gain(tree, node, criterion));
    const weights = P.trees.alphas;
    if (leaf && weights && weights[number]) {
      const [error, alpha] = weights[number];
      formulas.push(value("weight", `α of its round, whose weighted error is ε = ${fmt(error, 6)}`, "", alpha));
    }
    const lines = one && one.l[node];
    if (lines) tables.push(grownTable(columns, tree, node, lines, S.verdicts));
    if (lines && r.grid) notes.push(GRID);
    if (lines && r.surrogates) notes.push("Rows without a value in the column of a split are not counted with it: surrogate splits place them.");
    return formulas.length || tables.length ? { title: "", facts: {}, formulas, tables, notes, parts: [] } : null;
  }
  return { sheet };
})();
