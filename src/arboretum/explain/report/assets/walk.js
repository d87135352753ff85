// Walking the model: rows in, the numbers of `predict` out. One function per step of model_code.py.
// A row is an array of numbers, NaN for missing; categories are numbers of their place.
"use strict";
const Walk = (() => {
  const bit = (words, c) => (words[c >> 5] >>> (c & 31)) & 1;

  // A tree of the page has lists of inner nodes and of leaves; `open` finds their places.
  function open(tree) {
    if (tree.at) return tree;
    const n = tree.k.length, at = new Int32Array(n), parent = new Int32Array(n).fill(-1);
    let inner = 0, leaf = 0;
    for (let i = 0; i < n; i++) at[i] = tree.k[i] === "0" ? leaf++ : inner++;
    tree.at = at; tree.parent = parent; tree.leaves = leaf; tree.size = n;
    tree.width = tree.v.length / (tree.stops ? n : leaf);
    for (let i = 0; i < n; i++) for (const c of children(tree, i)) parent[c] = i;
    return tree;
  }
  const isLeaf = (tree, node) => tree.k[node] === "0";
  function children(tree, node) {
    if (isLeaf(tree, node)) return [];
    const j = tree.at[node], n = tree.b ? tree.b[j] : 2, first = tree.c[j];
    return Array.from({ length: n }, (_, k) => first + k);
  }
  // The child a present value takes; -1 for a category that does not exist.
  function answer(kind, x, threshold, words, size) {
    if (kind === 1) return x > (threshold === null ? Infinity : threshold) ? 1 : 0;
    const c = Math.trunc(x);
    if (c < 0 || c >= size) return -1;
    if (kind === 3) return c;
    if (kind === 4) return words[c];
    return 1 - bit(words, c);
  }
  // Where a row goes from an inner node: a child, or -1 if its value is missing and has no branch of its own.
  function step(tree, node, row, sizes) {
    const j = tree.at[node], kind = +tree.k[node], f = tree.f[j], x = row[f];
    let side = -1;
    if (x === x) side = answer(kind, x, tree.t[j], tree.s ? tree.s[j] : null, sizes[f]);
    if (side < 0 && tree.a) {
      for (const [sk, sf, st, reverse, words] of tree.a[j]) {
        const z = row[sf];
        if (z === z) {
          side = answer(sk, z, st, words, sizes[sf]);
          if (side >= 0) { side ^= reverse; break; }
        }
      }
    }
    if (side < 0) side = tree.m[j];
    return side < 0 ? -1 : tree.c[j] + side;
  }
  function path(tree, row, sizes) {
    open(tree);
    const passed = [0];
    let node = 0;
    while (!isLeaf(tree, node)) {
      const next = step(tree, node, row, sizes);
      if (next < 0) break;
      passed.push(node = next);
    }
    return passed;
  }
  function leafOf(tree, row, sizes) { const p = path(tree, row, sizes); return p[p.length - 1]; }
  function said(tree, node) {
    open(tree);
    const place = (tree.stops ? node : tree.at[node]) * tree.width;
    return tree.v.slice(place, place + tree.width);
  }
  // All leaves that a row reaches when a missing value goes down every branch, each with its share.
  function reached(tree, row, sizes) {
    open(tree);
    const found = [], stack = [[0, 1]];
    while (stack.length) {
      let [node, w] = stack.pop();
      for (;;) {
        if (isLeaf(tree, node)) { found.push([node, w]); break; }
        const next = step(tree, node, row, sizes);
        if (next >= 0) { node = next; continue; }
        if (tree.stops) { found.push([node, w]); break; }
        for (const child of children(tree, node)) if (tree.q[child] > 0) stack.push([child, w * tree.q[child]]);
        break;
      }
    }
    return found;
  }

  const expit = x => x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
  const sum = v => v.reduce((a, b) => a + b, 0);
  const argmax = v => v.reduce((best, x, i) => x > v[best] ? i : best, 0);
  const RAREST = 1.1920928955078125e-7; // as predict/link.py
  const clip = (p, low, high) => Math.min(Math.max(p, low), high);
  function weightedMedian(values, weights) {
    const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b] || a - b);
    let soFar = 0; const steps = order.map(i => soFar += weights[i]);
    return values[order[steps.findIndex(s => s >= 0.5 * soFar)]];
  }
  const LINKS = {
    identity: (v) => v,
    log: (v) => v.map(Math.exp),
    logit: (v, sigma) => v.map(m => expit(sigma * m)),
    softmax: (v, sigma) => {
      const z = v.map(m => sigma * m), top = Math.max(...z), e = z.map(m => Math.exp(m - top)), all = sum(e);
      return e.map(p => p / all);
    },
    step: (v) => v.map(m => m > 0 ? 1 : 0),
  };

  // `model` is {trees, sizes}; `sizes` has the number of categories of every column of the row.
  const OPS = {
    constant: s => s.value.slice(),
    one: () => [1],
    row: (s, row) => row.slice(),
    trees(s, row, model, start) {
      const total = start || s.base.slice(), votes = [];
      for (let t = 0; t < s.count; t++) {
        const tree = open(model.trees[s.first + t]), leaf = leafOf(tree, row, model.sizes);
        const place = tree.at[leaf] * tree.width, column = s.columns ? s.columns[t] : 0;
        if (s.median) { votes.push(tree.v[place]); continue; }
        for (let k = 0; k < s.k; k++) total[column + k] += tree.v[place + k];
      }
      if (s.median) return [weightedMedian(votes, s.median)];
      return s.div === undefined ? total : total.map(x => x / s.div);
    },
    begin: (s, row, model) => OPS.trees(s.of, row, model, run(s.start, row, model)),
    spread(s, row, model) {
      const tree = open(model.trees[s.tree]), out = new Array(tree.width).fill(0);
      for (const [node, w] of reached(tree, row, model.sizes)) said(tree, node).forEach((v, k) => out[k] += w * v);
      return out;
    },
    link: (s, row, model) => LINKS[s.name](run(s.of, row, model), s.sigma),
    raw(s, row, model) {
      const p = run(s.of, row, model);
      if (s.name === "log") return p.map(x => Math.log(Math.max(x, RAREST)));
      const inside = p.map(x => clip(x, RAREST, 1 - RAREST));
      if (s.name === "logit") return inside.map(x => Math.log(x / (1 - x)) / s.sigma);
      if (s.name !== "softmax") return p;
      const logs = inside.map(Math.log), mean = sum(logs) / logs.length;
      return logs.map(x => x - mean);
    },
    two: (s, row, model) => { const [p] = run(s.of, row, model); return [1 - p, p]; },
    signs: (s, row, model) => { const [d] = run(s.of, row, model); return [-d, d]; },
    difference: (s, row, model) => { const v = run(s.of, row, model); return [v[1] - v[0]]; },
    pick: (s, row, model) => [run(s.of, row, model)[s.at]],
    concat: (s, row, model) => s.of.flatMap(one => run(one, row, model)),
    scale: (s, row, model) => run(s.of, row, model).map(x => s.by * x),
    add: (s, row, model) => s.of.map(one => run(one, row, model)).reduce((a, b) => a.map((x, k) => x + b[k])),
    mean(s, row, model) {
      const each = s.of.map(one => run(one, row, model)), w = s.weights || each.map(() => 1), all = sum(w);
      return each[0].map((_, k) => sum(each.map((v, i) => w[i] * v[k])) / all);
    },
    median: (s, row, model) => [weightedMedian(s.of.map(one => run(one, row, model)[0]), s.weights)],
    hard: (s, row, model) => { const v = run(s.of, row, model), best = argmax(v); return v.map((_, k) => k === best ? 1 : 0); },
    sign: (s, row, model) => [argmax(run(s.of, row, model)) === 1 ? 1 : -1],
    samme(s, row, model) {
      const v = run(s.of, row, model), best = argmax(v);
      return v.map((_, k) => k === best ? 1 : -1 / Math.max(v.length - 1, 1));
    },
    samme_r(s, row, model) {
      const logs = run(s.of, row, model).map(p => Math.log(Math.max(p, 2.220446049250313e-16)));
      const mean = sum(logs) / logs.length;
      return logs.map(x => (logs.length - 1) * (x - mean));
    },
    classes(s, row, model) {
      const out = new Array(s.count).fill(0);
      run(s.of, row, model).forEach((p, k) => out[s.places[k]] = p);
      return out;
    },
    columns: (s, row, model) => run(s.of, s.columns.map(f => row[f]), { trees: model.trees, sizes: s.columns.map(f => model.sizes[f]) }),
    recode(s, row, model) {
      const mine = row.slice(), sizes = model.sizes.slice();
      for (const [f, map] of Object.entries(s.maps)) {
        const code = mine[f], found = code === code ? map[code] : null;
        mine[f] = found === null || found === undefined ? NaN : found;
        sizes[f] = 1 + Math.max(-1, ...map.filter(c => c !== null));
      }
      return run(s.of, mine, { trees: model.trees, sizes });
    },
    absent: (s, row, model) => run(s.of, row.map(x => x === s.value ? NaN : x), model),
    bins(s, row, model) {
      const mine = row.slice(), sizes = model.sizes.slice();
      for (const [f, cuts] of Object.entries(s.cuts)) {
        sizes[f] = cuts.length + 1;
        if (mine[f] === mine[f]) mine[f] = cuts.filter(c => c < mine[f]).length;
      }
      return run(s.of, mine, { trees: model.trees, sizes });
    },
    rules(s, row) {
      const holds = ([f, op, bound, codes]) => {
        const x = row[f];
        return op === "<=" ? x <= bound : op === ">" ? x > bound : codes.includes(x);
      };
      const fired = s.rules.findIndex(tests => tests.every(holds));
      return s.shares[fired < 0 ? s.rules.length : fired].slice();
    },
    linear: (s, row) => s.w.map((w, k) => sum(w.map((c, f) => c * row[f])) + s.b[k]),
    stack(s, row, model) {
      const mine = run(s.row, row, model);
      return run(s.of, mine, { trees: model.trees, sizes: mine.map(() => 0) });
    },
  };
  function run(s, row, model) { return OPS[s.op](s, row, model); }
  return { run, path, leafOf, said, reached, children, isLeaf, open, argmax, expit, LINKS };
})();
if (typeof module !== "undefined") module.exports = Walk;
