"""SHAP values by walking blocks of rows down all branches of all trees.

A leaf of value v whose path splits on d columns contributes to column i of a row

    v · (o_i - z_i) · ∫₀¹ Π_{j≠i} (z_j + t (o_j - z_j)) dt        o_j   1 if the row takes the path at all of
                                                                       its splits on j, else 0
                                                                 z_j   share of the training weight that does

The integral is a sum over K Gauss-Legendre nodes t_q, exact for d ≤ 2K columns. So a block of rows carries K
products down, one for every node, and the leaves' products are added on the way up:

    down   C ← C · (factor of the edge)            E = Σ of the leaves below, v · C
     │     leaf: E = v · C                          ▲
     ▼                                              │  up: column of the edge += Σ_q E · slope of the edge

For an edge, a row is in one of three cases, so its factors and slopes are three numbers per node t:

                          factor                          slope, the change of (o - z) / (z + t (o - z))
    takes it              (z₁ + t(1-z₁)) / (z₀ + t(1-z₀))    (1-z₁)/(z₁ + t(1-z₁)) - (1-z₀)/(z₀ + t(1-z₀))
    fails here            z₁ (1-t) / (z₀ + t(1-z₀))          -1/(1-t) - (1-z₀)/(z₀ + t(1-z₀))
    has failed above      z₁ / z₀                            0

z₀ and z₁ are `above` and `share` of the edge (edges.py). Nothing divides by a share that may be 0.

For pairs, an edge that is left is also combined with each edge above it: their pair gets
½ Σ_q E · slope · slope.
Rows are the lanes of all inner loops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.predict.walk import Paths, next_node
from arboretum.engine.shap.edges import Edges

__all__ = ["ROWS", "Walk", "WalkedTrees", "walk_trees"]

ROWS = 64  # in a block


class WalkedTrees(NamedTuple):
    """Trees, one after the other."""

    paths: Paths
    edges: Edges
    value: np.ndarray  # (n_nodes, n_numbers) float64, the numbers that nodes add
    spans: np.ndarray  # (n_trees, 2) int64, where trees begin and end in the order of the edges
    outputs: np.ndarray  # (n_trees,) int64, the first output of each
    needed: np.ndarray  # (n_trees,) int64, number of nodes t that each needs


class Walk(NamedTuple):
    """Scratch arrays for a block of rows; the first axis of most is depth."""

    rows: np.ndarray  # (columns, ROWS) float64, the block by columns
    goes: np.ndarray  # (depth, ROWS) int64, the branch every row takes at the node on the path
    takes: (
        np.ndarray
    )  # (depth, ROWS) int64, 1: the row takes the edge and those above with the same column
    product: np.ndarray  # (depth, K, ROWS) float64
    below: np.ndarray  # (depth, K, ROWS) float64
    factor: np.ndarray  # (3, K) float64
    inner: np.ndarray  # (3, K) float64, the factor of an edge above two leaves
    ends: np.ndarray  # (5, K) float64, the contributions of leaves
    slope: np.ndarray  # (depth, 2, K) float64
    leaf_slope: np.ndarray  # (2, K) float64
    path: np.ndarray  # (depth,) int32, the nodes on the path
    empty: np.ndarray  # (depth,) uint8, 1: nothing has been added to ``below`` yet
    total: np.ndarray  # (ROWS,) float64


@subkernel
def _choose(paths, node, X, rows, first, n, goes):
    """Write the branch that every row of a block takes at a node.

    X (n_rows, n_columns) float64; rows (n_columns, ROWS) float64; goes (ROWS,) int64, written.
    """
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


@subkernel
def _weigh(z0, z1, nodes, factor, slope):
    """Write factors and slopes of an edge at every node t, for the three cases of a row.

    nodes (K,) float64; factor (3, K) float64, written; slope (2, K) float64, written.
    """
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


@subkernel
def _take(goes, branch, alive, n, takes):
    """Write which rows take an edge and those above it of the same column.

    goes, alive (ROWS,) int64; takes (ROWS,) int64, written.
    """
    for r in range(n):
        takes[r] = alive[r] & np.int64(goes[r] == branch)


@subkernel
def _weigh_leaf(edges, node, value, nodes, factor, slope, flip, ends):
    """Add the contributions of a leaf to ``ends``: by case, to what is below its parent, then to its column.

    ``flip`` is for a leaf whose rows are those that do not take the branch of its sibling.

    nodes (K,) float64; factor (3, K) float64, scratch; slope (2, K) float64, scratch; ends (5, K)
    float64, added to.
    """
    _weigh(edges.above[node], edges.share[node], nodes, factor, slope)
    one, two = (1, 0) if flip else (0, 1)
    for q in range(len(nodes)):
        a, b = value * factor[0, q], value * factor[1, q]
        ends[one, q] += a
        ends[two, q] += b
        ends[2, q] += value * factor[2, q]
        ends[3 + one, q] += a * slope[0, q]
        ends[3 + two, q] += b * slope[1, q]


@subkernel
def _descend(product, factor, K, takes, alive, n, out):
    """Multiply the products of a block by the factors of an edge.

    product (K, ROWS) float64; factor (3, K) float64; takes, alive (ROWS,) int64; out (K, ROWS)
    float64, written.
    """
    for q in range(K):
        a, b, c = factor[0, q], factor[1, q], factor[2, q]
        source, target = product[q], out[q]
        for r in range(n):
            target[r] = source[r] * (a if takes[r] else (b if alive[r] else c))


@subkernel
def _end_in_leaves(product, ends, K, takes, alive, n, empty, above, total):
    """End in a leaf, or in two under one node: add to what is below the parent, and to the column.

    product (K, ROWS) float64; ends (5, K) float64; takes, alive (ROWS,) int64; above (K, ROWS)
    float64, updated; total (ROWS,) float64, added to.
    """
    for q in range(K):
        a, b, c, u, v = ends[0, q], ends[1, q], ends[2, q], ends[3, q], ends[4, q]
        source, target = product[q], above[q]
        for r in range(n):
            x = source[r]
            total[r] += x * (u if takes[r] else (v if alive[r] else 0.0))
            y = x * (a if takes[r] else (b if alive[r] else c))
            target[r] = y if empty else target[r] + y


@subkernel
def _end_in_twins(product, tables, K, rows, n, empty, above, total, under):
    """Go down an edge and end in the two leaves below it, all at once.

    ``tables`` are the edge's factors and slopes and the contributions of the leaves; ``rows`` are flags of
    the rows that take the edge, and of those that take the first leaf.

    product (K, ROWS) float64; tables (factor, slope, ends) (3, K), (2, K) and (5, K) float64; rows
    (takes, alive, ends_first, ends_alive) (ROWS,) int64 each; above (K, ROWS) float64, updated; total,
    under (ROWS,) float64, added to.
    """
    factor, slope, ends = tables
    takes, alive, ends_first, ends_alive = rows
    for q in range(K):
        a, b, c, u, v = factor[0, q], factor[1, q], factor[2, q], slope[0, q], slope[1, q]
        d, e, f, w, z = ends[0, q], ends[1, q], ends[2, q], ends[3, q], ends[4, q]
        source, target = product[q], above[q]
        for r in range(n):
            x = source[r] * (a if takes[r] else (b if alive[r] else c))
            under[r] += x * (w if ends_first[r] else (z if ends_alive[r] else 0.0))
            y = x * (d if ends_first[r] else (e if ends_alive[r] else f))
            total[r] += y * (u if takes[r] else (v if alive[r] else 0.0))
            target[r] = y if empty else target[r] + y


@subkernel
def _ascend(below, slope, K, takes, alive, n, empty, above, total):
    """Leave an edge: add Σ_q E · slope to its column, and E to what is below its parent.

    below (K, ROWS) float64; slope (2, K) float64; takes, alive (ROWS,) int64; above (K, ROWS) float64,
    updated; total (ROWS,) float64, added to.
    """
    for q in range(K):
        a, b = slope[0, q], slope[1, q]
        source, target = below[q], above[q]
        for r in range(n):
            y = source[r]
            total[r] += y * (a if takes[r] else (b if alive[r] else 0.0))
            target[r] = y if empty else target[r] + y


@subkernel
def _share_pairs(edges, work, depth, K, n, pair_of, sums):
    """Add half of the joint contribution, Σ_q E · slope · slope, of an edge and each one above to their pair.

    pair_of (n_columns, n_columns) int32; sums (n_places, ROWS) float64, added to.
    """
    node = work.path[depth]
    column, alive = edges.column[node], work.takes[edges.same[node]]
    below, slope, takes = work.below[depth], work.slope[depth], work.takes[depth]
    for d in range(1, depth):
        upper = work.path[d]
        if edges.column[upper] == column:
            continue
        their_slope, they_take = work.slope[d], work.takes[d]
        they_live = work.takes[edges.same[upper]]
        out = sums[pair_of[column, edges.column[upper]]]
        for q in range(K):
            a, b = 0.5 * slope[0, q], 0.5 * slope[1, q]
            u, v = their_slope[0, q], their_slope[1, q]
            source = below[q]
            for r in range(n):
                one = a if takes[r] else (b if alive[r] else 0.0)
                two = u if they_take[r] else (v if they_live[r] else 0.0)
                out[r] += source[r] * one * two


@subkernel
def _leave(edges, work, depth, K, n, pair_of, sums):
    """Leave an edge: add its contributions to its column, its pairs and its parent.

    pair_of (n_columns, n_columns) int32, or None; sums (n_places, ROWS) float64, added to.
    """
    node = work.path[depth]
    takes, alive = work.takes[depth], work.takes[edges.same[node]]
    if pair_of is not None:
        _share_pairs(edges, work, depth, K, n, pair_of, sums)
    _ascend(
        work.below[depth], work.slope[depth], K, takes, alive, n, work.empty[depth - 1] == 1,
        work.below[depth - 1], sums[edges.column[node]],
    )  # fmt: skip
    work.empty[depth - 1] = 0


@subkernel
def _has_two_leaves(paths, node):
    """Return whether a node has a yes-no split with two leaves."""
    child = paths.first_child[node]
    yes_no = paths.kind[node] == 1 or paths.kind[node] == 2
    return yes_no and paths.kind[child] == 0 and paths.kind[child + 1] == 0


@subkernel
def _weigh_leaves(edges, node, many, value, output, nodes, work):
    """Write the contributions of a leaf, or of two siblings.

    value (n_nodes, n_numbers) float64; nodes (K,) float64.
    """
    for k in range(5):
        for q in range(len(nodes)):
            work.ends[k, q] = 0.0
    for k in range(many):
        leaf = node + k
        _weigh_leaf(
            edges, leaf, value[leaf, output], nodes, work.factor, work.leaf_slope, k == 1, work.ends
        )


@subkernel
def _walk_tree(trees, tree, output, rule, X, block, work, pair_of, sums):
    """Add the values of one output of one tree to ``sums``, the places of that output.

    rule (nodes, weights) (K,) float64 each; X (n_rows, n_columns) float64; block (first row, rows); pair_of
    (n_columns, n_columns) int32, or None; sums (n_places, ROWS) float64, added to.
    """
    paths, edges, value = trees.paths, trees.edges, trees.value
    at, end = trees.spans[tree, 0], trees.spans[tree, 1]
    lo, n = block
    nodes, weights = rule
    K = len(nodes)
    for r in range(n):
        work.takes[0, r] = 1
    for q in range(K):
        for r in range(n):
            work.product[0, q, r] = weights[q]
    root = edges.order[at]
    _choose(paths, root, X, work.rows, lo, n, work.goes[0])
    work.empty[0], work.path[0] = 1, root
    level = 0
    at += 1
    while at < end:
        node = edges.order[at]
        at += 1
        depth = np.int64(edges.depth[node])
        while level >= depth:
            _leave(edges, work, level, K, n, pair_of, sums)
            level -= 1
        work.path[depth] = node
        takes, alive = work.takes[depth], work.takes[edges.same[node]]
        _take(work.goes[depth - 1], np.int64(edges.branch[node]), alive, n, takes)
        above, below = work.product[depth - 1], work.below[depth - 1]
        empty, out = work.empty[depth - 1] == 1, sums[edges.column[node]]
        if pair_of is None:  # noqa: SIM102 - by itself, so that the code of the other way is left out
            if paths.kind[node] == 0:
                twins = edges.branch[node] == 0 and _has_two_leaves(paths, work.path[depth - 1])
                _weigh_leaves(edges, node, 2 if twins else 1, value, output, nodes, work)
                _end_in_leaves(above, work.ends, K, takes, alive, n, empty, below, out)
                work.empty[depth - 1] = 0
                at += twins
                continue
        slope = work.slope[depth]
        _weigh(edges.above[node], edges.share[node], nodes, work.factor, slope)
        if pair_of is not None:  # noqa: SIM102
            if paths.kind[node] == 0:
                for k in range(3):
                    for q in range(K):
                        work.factor[k, q] *= value[node, output]
                _descend(above, work.factor, K, takes, alive, n, work.below[depth])
                _leave(edges, work, depth, K, n, pair_of, sums)
                continue
        _choose(paths, node, X, work.rows, lo, n, work.goes[depth])
        if pair_of is None:  # noqa: SIM102
            if _has_two_leaves(paths, node):
                leaf = paths.first_child[node]
                leaf_takes, leaf_alive = work.takes[depth + 1], work.takes[edges.same[leaf]]
                _take(work.goes[depth], np.int64(0), leaf_alive, n, leaf_takes)
                for k in range(3):
                    for q in range(K):
                        work.inner[k, q] = work.factor[k, q]
                _weigh_leaves(edges, leaf, 2, value, output, nodes, work)
                for r in range(n):  # added separately: both columns may be the same one
                    work.total[r] = 0.0
                rows = (takes, alive, leaf_takes, leaf_alive)
                _end_in_twins(
                    above, (work.inner, slope, work.ends), K, rows, n, empty, below, out, work.total
                )
                under = sums[edges.column[leaf]]
                for r in range(n):
                    under[r] += work.total[r]
                work.empty[depth - 1] = 0
                at += 2
                continue
        _descend(above, work.factor, K, takes, alive, n, work.product[depth])
        work.empty[depth] = 1
        level = depth
    while level >= 1:
        _leave(edges, work, level, K, n, pair_of, sums)
        level -= 1


@kernel
def walk_trees(trees, rules, X, work, pair_of, sums, out):
    """Add the SHAP values of rows, from all trees, to ``out``, (rows, outputs, columns and pairs).

    Parameters
    ----------
    trees : WalkedTrees
    rules : tuple of two float64 arrays of shape (most K + 1, most K)
        Gauss-Legendre nodes and weights for every number of nodes.
    X : C-contiguous (rows, columns) float64
    work : Walk
    pair_of : (columns, columns) int32, or None
        The place of every pair, after the columns; None if pairs are not requested.
    sums : (outputs · places, ROWS) float64
        Scratch, where a place is a column or a pair.
    out : (rows, outputs, places) float64
        Added to.
    """
    places = out.shape[2]
    for lo in range(0, len(X), ROWS):
        n = min(ROWS, len(X) - lo)
        for r in range(n):
            for f in range(X.shape[1]):
                work.rows[f, r] = X[lo + r, f]
        for place in range(len(sums)):
            for r in range(n):
                sums[place, r] = 0.0
        for tree in range(len(trees.spans)):
            K = trees.needed[tree]
            rule = (rules[0][K, :K], rules[1][K, :K])
            for k in range(trees.value.shape[1]):
                own = sums[(trees.outputs[tree] + k) * places :]
                _walk_tree(trees, tree, k, rule, X, (lo, n), work, pair_of, own)
        for r in range(n):
            for o in range(out.shape[1]):
                for place in range(places):
                    out[lo + r, o, place] += sums[o * places + place, r]
