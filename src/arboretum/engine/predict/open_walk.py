"""Rows walk down trees while some columns are left open: what is predicted for every value of a grid?

Rows and grid points are two lists that fall through the tree together. A node that splits on a column of the
row divides the rows; a node that splits on an open column divides the grid points. A leaf is reached by some
rows and some points, and by all pairs of them:

    rows 0 1 2 3 4        age ≤ 40 ?                           income is open
    grid a b c d           /      \\
             rows 0 2 4               rows 1 3
             grid a b c d             grid a b c d
           income ≤ 30 ?              leaf: + 0.2 for {1, 3} × {a, b, c, d}
            /        \\
     rows 0 2 4    rows 0 2 4
     grid a b      grid c d           so a tree costs about one walk, however long the grid is
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.elementary import probability

if TYPE_CHECKING:
    from arboretum.structure.joined import JoinedTrees

__all__ = ["OpenWalk", "add_open", "add_open_sums", "sum_steps", "turn_to_shares"]

_LEAF, _SUBSET = 0, 2


class OpenWalk(NamedTuple):
    """Trees, the rows and grid points that fall through them, and scratch."""

    nodes: JoinedTrees
    value: np.ndarray  # (n_nodes, n_numbers) float64, the numbers that nodes add
    output: np.ndarray  # (n_trees,) int64, the output that the first of the numbers is added to
    columns: np.ndarray  # (n_columns, n_rows) float64
    grid: np.ndarray  # (n_open, n_points) float64, values of the open columns
    place: np.ndarray  # (n_columns,) int64, the row of an open column in the grid; -1: not open
    rows: np.ndarray  # (n_rows,) int64, all rows; their order changes
    points: np.ndarray  # (n_points,) int64, all points; their order changes
    stack: np.ndarray  # (nodes of the largest tree + 1, 5) int64, scratch: node, rows, points


@inline
def _goes_right(nodes, at, n_codes, x):
    """Return whether a value goes to child 1."""
    if x != x:
        return nodes.missing_child[at] != 0
    if nodes.kind[at] != _SUBSET:
        return x > nodes.threshold[at]
    c = np.int64(x)
    if c < 0 or c >= n_codes:
        return nodes.missing_child[at] != 0
    word = nodes.bits[nodes.bits_start[at] + (c >> 5)]
    return ((word >> np.uint32(c & 31)) & np.uint32(1)) == 0


@subkernel
def _part_numbers(values, items, lo, hi, cut, missing):
    """`_part` for a threshold, without a branch.

    values (n_values,) float64; items (n_items,) int64, reordered.
    """
    middle = lo
    for j in range(lo, hi):
        item = items[j]
        x = values[np.uint64(item)]
        right = (x > cut) | ((x != x) & missing)
        items[j] = items[middle]
        items[middle] = item
        middle += np.uint64(not right)
    return middle


@inline
def _part(nodes, at, n_codes, values, items, lo, hi):
    """Move the items that go left before those that go right; return where the latter begin.

    values (n_values,) float64; items (n_items,) int64, reordered.
    """
    middle = lo
    if nodes.kind[at] != _SUBSET:
        cut, missing = nodes.threshold[at], nodes.missing_child[at] != 0
        return np.int64(_part_numbers(values, items, np.uint64(lo), np.uint64(hi), cut, missing))
    for j in range(lo, hi):
        item = items[j]
        right = _goes_right(nodes, at, n_codes, values[item])
        items[j] = items[middle]
        items[middle] = item
        middle += np.int64(not right)
    return middle


@inline
def _push(stack, height, node, rows, points):
    """Push a node with its rows and points onto the stack unless it has none; return the new height.

    stack (most nodes + 1, 5) int64, written; rows, points (first, end) of the lists.
    """
    if rows[0] >= rows[1] or points[0] >= points[1]:
        return height
    stack[height, 0] = node
    stack[height, 1], stack[height, 2] = rows
    stack[height, 3], stack[height, 4] = points
    return height + 1


@inline
def _fall(walk, root, node, a, b, c, d, height):
    """Send rows a:b and grid points c:d on from an inner node; return the new height of the stack."""
    nodes, at = walk.nodes, root + node
    f = nodes.feature[at]
    first, size = np.int64(nodes.first_child[at]), nodes.n_codes[f]
    row_end, row_begin, point_end, point_begin = b, a, d, c
    if walk.place[f] < 0:
        row_end = row_begin = _part(nodes, at, size, walk.columns[f], walk.rows, a, b)
    else:
        line = walk.grid[walk.place[f]]
        point_end = point_begin = _part(nodes, at, size, line, walk.points, c, d)
    height = _push(walk.stack, height, first + 1, (row_begin, b), (point_begin, d))
    return _push(walk.stack, height, first, (a, row_end), (c, point_end))


@inline
def _begin(walk):
    """Push the root with all rows and points onto the stack; return its height."""
    return _push(walk.stack, 0, 0, (0, len(walk.rows)), (0, len(walk.points)))


@subkernel
def _next_leaf(walk, root, height):
    """Walk to the next leaf: return the height of the stack, the leaf, its rows a:b and points c:d."""
    stack = walk.stack
    while True:
        height -= 1
        node = stack[height, 0]
        a, b, c, d = stack[height, 1], stack[height, 2], stack[height, 3], stack[height, 4]
        if walk.nodes.kind[root + node] == _LEAF:
            return height, root + node, a, b, c, d
        height = _fall(walk, root, node, a, b, c, d, height)


@subkernel
def _step(line, value, rows, a, b):
    """Add a value to rows a:b of a line.

    line (n_rows,) float64, added to; rows (n_rows,) int64.
    """
    for i in range(a, b):
        line[np.uint64(rows[i])] += value


@kernel
def add_open(walk, steps):
    """Add the predictions for every row along the grid, as steps, to ``steps``, (outputs, points, rows).

    A number that holds from one point to another is added where it begins and subtracted where it ends, so
    the prediction at a point is the sum of the steps up to it. With a sorted grid that is two additions per
    leaf, however many points lie between.

    steps (n_outputs, n_points, n_rows) float64, added to.
    """
    points = walk.points
    for t in range(len(walk.nodes.start) - 1):
        height = _begin(walk)
        while height:
            height, leaf, a, b, g, d = _next_leaf(walk, walk.nodes.start[t], height)
            while g < d:
                begin = end = points[g]
                while g < d and points[g] == end:
                    g += 1
                    end += 1
                for k in range(walk.value.shape[1]):
                    here, o = walk.value[leaf, k], walk.output[t] + k
                    _step(steps[o, begin], here, walk.rows, np.uint64(a), np.uint64(b))
                    if end < steps.shape[1]:
                        _step(steps[o, end], -here, walk.rows, np.uint64(a), np.uint64(b))


@kernel
def add_open_sums(walk, weight, total):
    """`add_open`, summed over the rows with their weights: ``total`` is (outputs, points).

    weight (n_rows,) float64; total (n_outputs, n_points) float64, added to.
    """
    for t in range(len(walk.nodes.start) - 1):
        height = _begin(walk)
        while height:
            height, leaf, a, b, c, d = _next_leaf(walk, walk.nodes.start[t], height)
            here = 0.0
            for i in range(a, b):
                here += weight[walk.rows[i]]
            for k in range(walk.value.shape[1]):
                v, o = here * walk.value[leaf, k], walk.output[t] + k
                for g in range(c, d):
                    total[o, walk.points[g]] += v


@kernel
def sum_steps(steps):
    """Replace the steps, (outputs, points, rows), by their sums up to every point.

    steps (n_outputs, n_points, n_rows) float64, updated.
    """
    for o in range(len(steps)):
        for g in range(1, steps.shape[1]):
            before, here = steps[o, g - 1], steps[o, g]
            for i in range(np.uint64(len(here))):
                here[i] += before[i]


@kernel
def turn_to_shares(margins, sigma):
    """Write 1 / (1 + e^(-sigma m)), the probability of the second class, in place of margins m.

    margins (n,) float64, updated.
    """
    for i in range(np.uint64(len(margins))):
        margins[i] = probability(sigma * margins[i])
