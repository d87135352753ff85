"""Rows walk down trees while some columns are left open: what would each row get for every value of a grid?

Rows and grid points are two lists that fall through the tree together. A node that asks for a column of the
row divides the rows; a node that asks for an open column divides the grid points. A leaf is reached by some
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

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.elementary import probability

__all__ = ["add_open", "add_open_sums", "sum_steps", "turn_to_shares"]

_LEAF, _SUBSET = 0, 2


@inline
def _goes_right(nodes, at, n_codes, x):
    """Tell whether a value goes to child 1."""
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
    """`_part` by a threshold, without a branch.

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
    """Put the items that go left before those that go right; return where these begin.

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
def _fall(nodes, root, node, columns, grid, place, rows, points, stack, height, a, b, c, d):
    """Send rows a:b and grid points c:d on from an inner node; return the new height of the stack.

    columns (n_columns, n_rows) float64; grid (n_open, n_points) float64; place (n_columns,) int64; rows
    (n_rows,) int64, reordered; points (n_points,) int64, reordered; stack (most nodes + 1, 5) int64,
    updated.
    """
    at = root + node
    f = nodes.feature[at]
    first, size = np.int64(nodes.first_child[at]), nodes.n_codes[f]
    if place[f] < 0:
        middle = _part(nodes, at, size, columns[f], rows, a, b)
        left = (a, middle, c, d)
        right = (middle, b, c, d)
    else:
        middle = _part(nodes, at, size, grid[place[f]], points, c, d)
        left = (a, b, c, middle)
        right = (a, b, middle, d)
    if right[0] < right[1] and right[2] < right[3]:
        stack[height, 0] = first + 1
        stack[height, 1], stack[height, 2] = right[0], right[1]
        stack[height, 3], stack[height, 4] = right[2], right[3]
        height += 1
    if left[0] < left[1] and left[2] < left[3]:
        stack[height, 0] = first
        stack[height, 1], stack[height, 2] = left[0], left[1]
        stack[height, 3], stack[height, 4] = left[2], left[3]
        height += 1
    return height


@subkernel
def _step(line, value, rows, a, b):
    """Add a value to rows a:b of a line.

    line (n_rows,) float64, added to; rows (n_rows,) int64.
    """
    for i in range(a, b):
        line[np.uint64(rows[i])] += value


@kernel
def add_open(nodes, value, output, columns, grid, place, rows, points, stack, steps):
    """Add what the trees say of every row along the grid to ``steps``, (outputs, points, rows).

    A number that holds from one point to another is added where it begins and taken away where it ends: the
    sum of the steps up to a point is what the trees say there. Of a sorted grid that is two additions for a
    leaf, however many points lie between.

    Parameters
    ----------
    nodes : JoinedTrees
    value : (nodes, k) float64
        What nodes add.
    output : (trees,) int64
        The output that the first of the k numbers is added to.
    columns : (columns, rows) float64
    grid : (open columns, points) float64
    place : (columns,) int64
        Where an open column stands in ``grid``; -1 for the others.
    rows, points : int64 arrays
        All of them, in any order; their order changes.
    stack : (nodes of the largest tree + 1, 5) int64
        Scratch.

    steps (n_outputs, n_points, n_rows) float64, added to.
    """
    for t in range(len(nodes.start) - 1):
        root = nodes.start[t]
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, len(rows)
        stack[0, 3], stack[0, 4] = 0, len(points)
        height = 1
        while height:
            height -= 1
            node = stack[height, 0]
            a, b, c, d = stack[height, 1], stack[height, 2], stack[height, 3], stack[height, 4]
            if nodes.kind[root + node] != _LEAF:
                height = _fall(
                    nodes, root, node, columns, grid, place, rows, points, stack, height, a, b, c, d
                )
                continue
            g = c
            while g < d:
                begin = end = points[g]
                while g < d and points[g] == end:
                    g += 1
                    end += 1
                for k in range(value.shape[1]):
                    here, o = value[root + node, k], output[t] + k
                    _step(steps[o, begin], here, rows, np.uint64(a), np.uint64(b))
                    if end < steps.shape[1]:
                        _step(steps[o, end], -here, rows, np.uint64(a), np.uint64(b))


@kernel
def add_open_sums(nodes, value, output, columns, weight, grid, place, rows, points, stack, total):
    """`add_open`, summed over the rows by their weight: ``total`` is (outputs, points).

    weight (n_rows,) float64; total (n_outputs, n_points) float64, added to; value, output, columns,
    grid, place, rows, points, stack (...) as in `add_open`.
    """
    for t in range(len(nodes.start) - 1):
        root = nodes.start[t]
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, len(rows)
        stack[0, 3], stack[0, 4] = 0, len(points)
        height = 1
        while height:
            height -= 1
            node = stack[height, 0]
            a, b, c, d = stack[height, 1], stack[height, 2], stack[height, 3], stack[height, 4]
            if nodes.kind[root + node] != _LEAF:
                height = _fall(
                    nodes, root, node, columns, grid, place, rows, points, stack, height, a, b, c, d
                )
                continue
            here = 0.0
            for i in range(a, b):
                here += weight[rows[i]]
            for k in range(value.shape[1]):
                v, o = here * value[root + node, k], output[t] + k
                for g in range(c, d):
                    total[o, points[g]] += v


@kernel
def sum_steps(steps):
    """Write the sums of the steps, (outputs, points, rows), up to every point in their place.

    steps (n_outputs, n_points, n_rows) float64, updated.
    """
    for o in range(len(steps)):
        for g in range(1, steps.shape[1]):
            before, here = steps[o, g - 1], steps[o, g]
            for i in range(np.uint64(len(here))):
                here[i] += before[i]


@kernel
def turn_to_shares(margins, sigma):
    """Write 1 / (1 + e^(-sigma m)), the share of the second class, in place of margins m.

    margins (n,) float64, updated.
    """
    for i in range(np.uint64(len(margins))):
        margins[i] = probability(sigma * margins[i])
