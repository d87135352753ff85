"""SHAP values by walking blocks of rows down all branches of all trees.

A leaf of value v whose path asks for d columns gives to column i of a row

    v · (o_i - z_i) · ∫₀¹ Π_{j≠i} (z_j + t (o_j - z_j)) dt        o_j   1 if the row takes the path at all of
                                                                       its questions about j, else 0
                                                                 z_j   share of the training weight that does

The integral is a sum over K Gauss-Legendre nodes t_q, exact for d ≤ 2K columns. So a block of rows carries K
products down, one for every node, and the leaves' products are added on the way up:

    down   C ← C · (factor of the edge)            E = Σ of the leaves below, v · C
     │     leaf: E = v · C                          ▲
     ▼                                              │  up: column of the edge += Σ_q E · slope of the edge

An edge knows only three cases of a row, so its factors and slopes are three numbers per node t:

                          factor                          slope, what it changes of (o - z) / (z + t (o - z))
    takes it              (z₁ + t(1-z₁)) / (z₀ + t(1-z₀))    (1-z₁)/(z₁ + t(1-z₁)) - (1-z₀)/(z₀ + t(1-z₀))
    fails here            z₁ (1-t) / (z₀ + t(1-z₀))          -1/(1-t) - (1-z₀)/(z₀ + t(1-z₀))
    has failed above      z₁ / z₀                            0

z₀ and z₁ are `above` and `share` of the edge (edges.py). Nothing divides by a share that may be 0.

For pairs an edge that is left also meets the edges above it: their columns share ½ Σ_q E · slope · slope.
Rows are the lanes of all inner loops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.jit import kernel, leaf_kernel
from arboretum.engine.predict.walk import next_node

__all__ = ["ROWS", "Walk", "walk_trees"]

ROWS = 64  # of a block


class Walk(NamedTuple):
    """What a block of rows is worked on; the first axis of most is depth."""

    rows: np.ndarray  # (columns, ROWS) float64, the block by columns
    goes: np.ndarray  # (depth, ROWS) int64, the branch every row takes at the node on the way
    takes: (
        np.ndarray
    )  # (depth, ROWS) int64, 1: it takes the edge and those above of the same column
    product: np.ndarray  # (depth, K, ROWS) float64
    below: np.ndarray  # (depth, K, ROWS) float64
    factor: np.ndarray  # (3, K) float64
    slope: np.ndarray  # (depth, 3, K) float64
    path: np.ndarray  # (depth,) int32, the nodes on the way
    empty: np.ndarray  # (depth,) uint8, 1: nothing was added to what is below yet
    total: np.ndarray  # (ROWS,) float64


@leaf_kernel
def _choose(paths, node, X, rows, first, n, goes):
    """Write the branch that every row of a block takes at a node."""
    if paths.kind[node] == 1 and len(paths.surrogate_start) == 0:
        threshold, missing = paths.threshold[node], np.int64(paths.missing_child[node])
        values = rows[paths.feature[node]]
        for r in range(n):
            x = values[r]
            side = np.int64(x > threshold)
            goes[r] = side if x == x else missing
        return
    child = paths.first_child[node]
    for r in range(n):
        goes[r] = next_node(paths, node, X, first + r) - child


@leaf_kernel
def _weigh(z0, z1, nodes, factor, slope):
    """Write factors and slopes of an edge at every node t, for the three cases of a row."""
    again = z1 / z0 if z0 > 0.0 else 0.0
    for q in range(len(nodes)):
        t = nodes[q]
        old, new = z0 + t * (1.0 - z0), z1 + t * (1.0 - z1)
        before = (1.0 - z0) / old
        factor[0, q] = new / old
        factor[1, q] = z1 * (1.0 - t) / old
        factor[2, q] = again
        slope[0, q] = (1.0 - z1) / new - before
        slope[1, q] = -1.0 / (1.0 - t) - before
        slope[2, q] = 0.0


@leaf_kernel
def _descend(product, factor, scale, K, takes, alive, n, out):
    """Multiply the products of a block by the factors of an edge and a number."""
    for q in range(K):
        a, b, c = scale * factor[0, q], scale * factor[1, q], scale * factor[2, q]
        source, target = product[q], out[q]
        for r in range(n):
            target[r] = source[r] * (a if takes[r] else (b if alive[r] else c))


@leaf_kernel
def _end_in_leaf(product, factor, slope, value, K, takes, alive, n, empty, above, total):
    """Do for a leaf at once what `_descend`, `_ascend` and `_pass_on` do."""
    for r in range(n):
        total[r] = 0.0
    for q in range(K):
        a, b, c = value * factor[0, q], value * factor[1, q], value * factor[2, q]
        u, v = a * slope[0, q], b * slope[1, q]
        source, target = product[q], above[q]
        for r in range(n):
            x = source[r]
            total[r] += x * (u if takes[r] else (v if alive[r] else 0.0))
            y = x * (a if takes[r] else (b if alive[r] else c))
            target[r] = y if empty else target[r] + y


@leaf_kernel
def _ascend(below, slope, K, takes, alive, n, total):
    """Write what the column of an edge gets: Σ_q E · slope."""
    for r in range(n):
        total[r] = 0.0
    for q in range(K):
        a, b = slope[0, q], slope[1, q]
        source = below[q]
        for r in range(n):
            total[r] += source[r] * (a if takes[r] else (b if alive[r] else 0.0))


@leaf_kernel
def _pass_on(below, K, n, empty, above):
    """Add what is below a node to what is below its parent."""
    for q in range(K):
        source, target = below[q], above[q]
        for r in range(n):
            target[r] = source[r] if empty else target[r] + source[r]


@leaf_kernel
def _share_pairs(edges, work, depth, K, n, pair_of, sums, first):
    """Give half of what an edge and those above it bring together, Σ_q E · slope · slope, to each."""
    node = work.path[depth]
    column, alive = edges.column[node], work.takes[edges.same[node]]
    below, slope, takes = work.below[depth], work.slope[depth], work.takes[depth]
    for d in range(1, depth):
        upper = work.path[d]
        if edges.column[upper] == column:
            continue
        their_slope, they_take = work.slope[d], work.takes[d]
        they_live = work.takes[edges.same[upper]]
        out = sums[first + pair_of[column, edges.column[upper]]]
        for q in range(K):
            a, b = 0.5 * slope[0, q], 0.5 * slope[1, q]
            u, v = their_slope[0, q], their_slope[1, q]
            source = below[q]
            for r in range(n):
                one = a if takes[r] else (b if alive[r] else 0.0)
                two = u if they_take[r] else (v if they_live[r] else 0.0)
                out[r] += source[r] * one * two


@leaf_kernel
def _leave(edges, work, depth, K, n, pair_of, sums, first):
    """End an edge: its column gets its part, its parent what is below."""
    node = work.path[depth]
    alive = work.takes[edges.same[node]]
    _ascend(work.below[depth], work.slope[depth], K, work.takes[depth], alive, n, work.total)
    out = sums[first + edges.column[node]]
    for r in range(n):
        out[r] += work.total[r]
    if len(pair_of) > 0:
        _share_pairs(edges, work, depth, K, n, pair_of, sums, first)
    _pass_on(work.below[depth], K, n, work.empty[depth - 1] == 1, work.below[depth - 1])
    work.empty[depth - 1] = 0


@leaf_kernel
def _walk_tree(paths, edges, span, value, output, rule, X, block, work, pair_of, sums, first):
    """Add the values of one output of one tree to ``sums``, from place ``first`` on."""
    lo, n = block
    nodes, weights = rule
    K = len(nodes)
    for r in range(n):
        work.takes[0, r] = 1
    for q in range(K):
        for r in range(n):
            work.product[0, q, r] = weights[q]
    _choose(paths, edges.order[span[0]], X, work.rows, lo, n, work.goes[0])
    work.empty[0] = 1
    level = 0
    for at in range(span[0] + 1, span[1]):
        node = edges.order[at]
        depth = np.int64(edges.depth[node])
        while level >= depth:
            _leave(edges, work, level, K, n, pair_of, sums, first)
            level -= 1
        work.path[depth] = node
        takes, alive = work.takes[depth], work.takes[edges.same[node]]
        goes, branch = work.goes[depth - 1], np.int64(edges.branch[node])
        for r in range(n):
            takes[r] = alive[r] & np.int64(goes[r] == branch)
        slope = work.slope[depth]
        _weigh(edges.above[node], edges.share[node], nodes, work.factor, slope)
        above = work.product[depth - 1]
        if paths.kind[node] != 0:
            _descend(above, work.factor, 1.0, K, takes, alive, n, work.product[depth])
            _choose(paths, node, X, work.rows, lo, n, work.goes[depth])
            work.empty[depth] = 1
            level = depth
        elif len(pair_of) > 0:
            said = value[node, output]
            _descend(above, work.factor, said, K, takes, alive, n, work.below[depth])
            _leave(edges, work, depth, K, n, pair_of, sums, first)
            level = depth - 1
        else:
            said, empty = value[node, output], work.empty[depth - 1] == 1
            _end_in_leaf(
                above, work.factor, slope, said, K, takes, alive, n, empty, work.below[depth - 1],
                work.total,
            )  # fmt: skip
            work.empty[depth - 1] = 0
            out = sums[first + edges.column[node]]
            for r in range(n):
                out[r] += work.total[r]
            level = depth - 1
    while level >= 1:
        _leave(edges, work, level, K, n, pair_of, sums, first)
        level -= 1


@kernel
def walk_trees(paths, edges, trees, value, rules, X, work, pair_of, sums, out):
    """Add SHAP values of rows by all trees to ``out``, (rows, outputs, columns and pairs).

    Parameters
    ----------
    paths, edges : Paths, Edges
        Of all trees, one behind the other.
    trees : tuple
        Where trees begin and end, (trees, 2); the first output of each; the nodes t that each needs.
    value : (nodes, k) float64
        What nodes say.
    rules : tuple of two float64 arrays of shape (most K + 1, most K)
        Gauss-Legendre nodes and weights for every number of nodes.
    X : C-contiguous (rows, columns) float64
    work : Walk
    pair_of : (columns, columns) int32
        The place of every pair behind the columns; of length 0 if pairs are not asked for.
    sums : (outputs · places, ROWS) float64
        Scratch, where a place is a column or a pair.
    """
    spans, outputs, needed = trees
    places = out.shape[2]
    for lo in range(0, len(X), ROWS):
        n = min(ROWS, len(X) - lo)
        for r in range(n):
            for f in range(X.shape[1]):
                work.rows[f, r] = X[lo + r, f]
        for place in range(len(sums)):
            for r in range(n):
                sums[place, r] = 0.0
        for tree in range(len(spans)):
            span, K = (spans[tree, 0], spans[tree, 1]), needed[tree]
            rule = (rules[0][K, :K], rules[1][K, :K])
            for k in range(value.shape[1]):
                _walk_tree(
                    paths, edges, span, value, k, rule, X, (lo, n), work, pair_of, sums,
                    (outputs[tree] + k) * places,
                )  # fmt: skip
        for r in range(n):
            for o in range(out.shape[1]):
                for place in range(places):
                    out[lo + r, o, place] += sums[o * places + place, r]
