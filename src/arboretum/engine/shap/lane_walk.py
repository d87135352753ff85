"""SHAP values of many rows by large trees: the walk of walk.py, its bottom branches by tables (bottoms.py).

NODES nodes t of the quadrature are the lanes here, four to a register and two registers: a row reads the
factors of its case as they stand, nothing is chosen number by number. Where more nodes are needed, the tree
is walked again for the next ones: what a column gets is a sum over them.

    edge       C of the row ← C above · factors of its case                     down
    bottom     b = C above · factors;   E = b · table[state, 0]                  what is below
               column of the edge += E · slopes;   j-th column += b · table[state, j]
    edge       column += E · slopes of its case,   E above += E                  up

The sums of a column keep their four lanes until a tree is done.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.predict.walk import next_node
from arboretum.engine.shap.bottoms import NODES
from arboretum.engine.simd import add_four, load_four, mul_four, store_four

__all__ = ["BLOCK", "Lanes", "walk_lanes"]

BLOCK = 64  # rows
_ONE, _FOUR, _ROWS, _K = np.uint64(1), np.uint64(4), np.uint64(BLOCK), np.uint64(NODES)


class Lanes(NamedTuple):
    """What a block of rows is worked on; the first axis of most is depth, that of the root's edge 1."""

    rows: np.ndarray  # (columns, BLOCK) float64
    goes: np.ndarray  # (depth, BLOCK) uint8, the branch every row takes at the node on the way
    takes: (
        np.ndarray
    )  # (depth, BLOCK) uint8, 1: it takes the edge and those above of the same column
    case: np.ndarray  # (depth, BLOCK) uint8, 0 takes the edge, 1 fails here, 2 has failed above
    state: np.ndarray  # (BLOCK,) uint8
    product: np.ndarray  # (depth · BLOCK · NODES,) float64
    below: np.ndarray  # (depth · BLOCK · NODES,) float64
    sums: np.ndarray  # (columns · BLOCK · 4,) float64
    path: np.ndarray  # (depth,) int32
    empty: np.ndarray  # (depth,) uint8, 1: nothing was added to what is below yet


@subkernel
def _compare(values, threshold, missing, n, goes):
    """Write which rows of a block lie above a threshold."""
    for r in range(n):
        x = values[r]
        goes[r] = np.uint8((x > threshold) | ((x != x) & missing))


@subkernel
def _ask(paths, node, X, first, n, goes):
    """Write the branch that every row of a block takes at a node, whatever it asks."""
    child = paths.first_child[node]
    for r in range(n):
        goes[r] = np.uint8(next_node(paths, node, X, first + r) - child)


@inline
def _choose(paths, node, X, rows, first, n, goes):
    """`_ask`, or `_compare` where that is enough."""
    if paths.kind[node] == 1 and len(paths.surrogate_start) == 0:
        values, missing = rows[paths.feature[node]], paths.missing_child[node] != 0
        _compare(values, paths.threshold[node], missing, n, goes)
    else:
        _ask(paths, node, X, first, n, goes)


@subkernel
def _take(goes, branch, alive, n, takes, case):
    """Write which rows take an edge and those above it of the same column, and the case of each."""
    for r in range(n):
        takes[r] = alive[r] & np.uint8(goes[r] == branch)
        case[r] = np.uint8(2) - alive[r] - takes[r]


@subkernel
def _descend(product, depth, weights, edge, case, n):
    """Multiply the products of a block by the factors of an edge."""
    above, here = np.uint64(depth - 1) * _ROWS * _K, np.uint64(depth) * _ROWS * _K
    begin = np.uint64(edge) * np.uint64(6) * _K
    for r in range(n):
        factor, at = begin + np.uint64(case[r]) * _K, np.uint64(r) * _K
        x = mul_four(load_four(product, above + at), load_four(weights, factor))
        store_four(product, here + at, x)
        at, factor = at + _FOUR, factor + _FOUR
        x = mul_four(load_four(product, above + at), load_four(weights, factor))
        store_four(product, here + at, x)


@subkernel
def _ascend(below, depth, weights, edge, case, n, empty, sums, column):
    """Leave an edge: its column gets Σ_q E · slope, and what is below its parent grows."""
    above, here = np.uint64(depth - 1) * _ROWS * _K, np.uint64(depth) * _ROWS * _K
    begin = (np.uint64(edge) * np.uint64(6) + np.uint64(3)) * _K
    total = np.uint64(column) * _ROWS * _FOUR
    for r in range(n):
        slope, at = begin + np.uint64(case[r]) * _K, np.uint64(r) * _K
        place = total + np.uint64(r) * _FOUR
        x, y = load_four(below, here + at), load_four(below, here + at + _FOUR)
        got = add_four(load_four(sums, place), mul_four(x, load_four(weights, slope)))
        got = add_four(got, mul_four(y, load_four(weights, slope + _FOUR)))
        store_four(sums, place, got)
        if not empty:
            x = add_four(x, load_four(below, above + at))
            y = add_four(y, load_four(below, above + at + _FOUR))
        store_four(below, above + at, x)
        store_four(below, above + at + _FOUR, y)


@subkernel
def _end(work, depth, bottoms, edge, number, n, empty, column):
    """Go down an edge and end in the bottom branch below it."""
    product, below, sums = work.product, work.below, work.sums
    weights, table, columns = bottoms.weights, bottoms.table, bottoms.column
    above = np.uint64(depth - 1) * _ROWS * _K
    begin = np.uint64(edge) * np.uint64(6) * _K
    first, last = np.uint64(bottoms.column_at[number]), np.uint64(bottoms.column_at[number + 1])
    start, size = np.uint64(bottoms.table_at[number]) * _K, (last - first + _ONE) * _K
    total = np.uint64(column) * _ROWS * _FOUR
    for r in range(n):
        factor, at = begin + np.uint64(work.case[depth, r]) * _K, above + np.uint64(r) * _K
        slope, line = factor + np.uint64(3) * _K, start + np.uint64(work.state[r]) * size
        a = mul_four(load_four(product, at), load_four(weights, factor))
        b = mul_four(load_four(product, at + _FOUR), load_four(weights, factor + _FOUR))
        x, y = mul_four(a, load_four(table, line)), mul_four(b, load_four(table, line + _FOUR))
        place = total + np.uint64(r) * _FOUR
        got = add_four(load_four(sums, place), mul_four(x, load_four(weights, slope)))
        got = add_four(got, mul_four(y, load_four(weights, slope + _FOUR)))
        store_four(sums, place, got)
        if not empty:
            x = add_four(x, load_four(below, at))
            y = add_four(y, load_four(below, at + _FOUR))
        store_four(below, at, x)
        store_four(below, at + _FOUR, y)
        for j in range(first, last):
            line += _K
            place = (np.uint64(columns[j]) * _ROWS + np.uint64(r)) * _FOUR
            got = add_four(load_four(sums, place), mul_four(a, load_four(table, line)))
            got = add_four(got, mul_four(b, load_four(table, line + _FOUR)))
            store_four(sums, place, got)


@inline
def _find_states(paths, edges, branches, bottoms, root, node, X, lo, n, work):
    """Write the state of every row in a bottom branch."""
    state = work.state
    for r in range(n):
        state[r] = np.uint8(0)
    first = branches.place[node]
    for at in range(first, first + branches.size[node]):
        one = edges.order[at]
        if paths.kind[one] == 0:
            continue
        depth = np.int64(edges.depth[one]) + 1
        if at > first:
            alive = work.takes[_level(edges, one)]
            _take(
                work.goes[depth - 1],
                edges.branch[one],
                alive,
                n,
                work.takes[depth],
                work.case[depth],
            )
        goes, same = work.goes[depth], edges.same[paths.first_child[one]]
        _choose(paths, one, X, work.rows, lo, n, goes)
        times = bottoms.times[one - root]
        if same == 0:
            for r in range(n):
                state[r] += times * goes[r]
        else:
            alive = work.takes[same + 1]
            for r in range(n):
                state[r] += times * (goes[r] if alive[r] else np.uint8(2))


@inline
def _level(edges, node):
    """Return the level of the last edge above that asks for the same column; 0 if there is none."""
    same = np.int64(edges.same[node])
    return same + 1 if same > 0 else np.int64(0)


@inline
def _leave(edges, bottoms, root, work, level, n):
    node = work.path[level]
    _ascend(
        work.below, level, bottoms.weights, bottoms.edge[node - root], work.case[level], n,
        work.empty[level - 1] == 1, work.sums, edges.column[node],
    )  # fmt: skip
    work.empty[level - 1] = 0


@subkernel
def _walk_block(paths, edges, branches, bottoms, span, most, which, weights, X, block, work):
    """Walk a block of rows down a tree."""
    root, end = span
    lo, n = block
    for r in range(n):
        work.takes[0, r], work.goes[0, r] = 1, 0
    for r in range(n):
        for q in range(len(weights)):
            work.product[r * len(weights) + q] = weights[q]
    work.empty[0] = 1
    level, at = 0, root
    while at < end:
        node = edges.order[at]
        if bottoms.classes[node - root] & which == 0:
            at += branches.size[node]
            continue
        depth = np.int64(edges.depth[node]) + 1
        while level >= depth:
            _leave(edges, bottoms, root, work, level, n)
            level -= 1
        alive = work.takes[_level(edges, node)]
        _take(
            work.goes[depth - 1], edges.branch[node], alive, n, work.takes[depth], work.case[depth]
        )
        edge = bottoms.edge[node - root]
        if bottoms.states[node - root] <= most:
            _find_states(paths, edges, branches, bottoms, root, node, X, lo, n, work)
            _end(
                work, depth, bottoms, edge, bottoms.number[node - root], n,
                work.empty[depth - 1] == 1, edges.column[node],
            )  # fmt: skip
            work.empty[depth - 1] = 0
            at += branches.size[node]
            continue
        _choose(paths, node, X, work.rows, lo, n, work.goes[depth])
        _descend(work.product, depth, bottoms.weights, edge, work.case[depth], n)
        work.path[depth], work.empty[depth] = node, 1
        level = depth
        at += 1
    while level >= 1:
        _leave(edges, bottoms, root, work, level, n)
        level -= 1


@kernel
def walk_lanes(paths, edges, branches, bottoms, tree, weights, X, work, out):
    """Add what a tree gives to every column of every row to ``out``, (rows, outputs, columns).

    Parameters
    ----------
    paths, edges, branches : Paths, Edges, Branches
        Of all trees, one behind the other.
    bottoms : Bottoms
        Of this tree, those of one class.
    tree : tuple
        Where it begins and ends; the states of a bottom branch; the bit of the class; the output it adds to.
    weights : (NODES,) float64
        Of the nodes of the quadrature.
    X : C-contiguous (rows, columns) float64
    work : Lanes
    """
    span, most, which, output = tree
    n_columns = X.shape[1]
    for lo in range(0, len(X), BLOCK):
        n = min(BLOCK, len(X) - lo)
        for r in range(n):
            for f in range(n_columns):
                work.rows[f, r] = X[lo + r, f]
        for k in range(len(work.sums)):
            work.sums[k] = 0.0
        _walk_block(paths, edges, branches, bottoms, span, most, which, weights, X, (lo, n), work)
        for r in range(n):
            for f in range(n_columns):
                at = (f * BLOCK + r) * 4
                one, two = work.sums[at] + work.sums[at + 1], work.sums[at + 2] + work.sums[at + 3]
                out[lo + r, output, f] += one + two
