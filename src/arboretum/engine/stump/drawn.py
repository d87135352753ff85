"""Stumps of two classes that draw: weights on the grid of random trees, and cuts at random.

Trees that draw columns or cuts are a forest's kind (depth_first/), and a stump of boosting must be the tree
of depth 1 that grows there. Two things make it quicker. All rows are in its one node, in every round, so
nothing is gathered and the ends of a column are known; and a random cut needs no order: its rows are compared
and added up side by side.

    values    .3  .9  .1  .4        as whole numbers of the same order (random_cut.ordered_bits)
    drawn     .52                   left: .3 .1 .4
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.depth_first.random_cut import draw_threshold
from arboretum.engine.split.score import squares

__all__ = ["mark_values", "search_random_stumps", "weigh_drawn_words"]

_ONE = np.int64(1)
_BLOCK = 1024  # rows whose weights stay in the nearest cache while all columns are asked


@kernel
def weigh_drawn_words(weights, labels, scale, words):
    """`two_classes.weigh_words` on the grid of random trees: halves to even, and no row is nothing."""
    all_weight, ones = np.int64(0), np.int64(0)
    for i in range(len(weights)):
        w = max(np.int64(np.rint(weights[i] * scale)), np.int64(weights[i] > 0.0))
        c = np.int64(labels[i])
        words[i] = (w << _ONE) | c
        all_weight += w
        ones += w & -c
    return all_weight, ones


@subkernel
def _add_left(x, cut, words, lo, hi):
    """Return weight, weight of class 1 and number of the rows lo..hi whose values are not above the cut."""
    weight, ones, rows = np.int64(0), np.int64(0), np.int64(0)
    for i in range(np.uint64(lo), np.uint64(hi)):
        goes, word = -np.int64(x[i] <= cut), words[i]
        w = (word >> _ONE) & goes
        weight += w
        ones += w & -(word & _ONE)
        rows -= goes
    return weight, ones, rows


@kernel(makes_arrays=True)
def search_random_stumps(values, low, high, columns, key, words, weight, total, ends, bits):
    """Draw a cut of every column; return the best: (score, column, threshold, its bits, weight on the left).

    Parameters
    ----------
    values : (columns, rows) array of whole numbers, none missing
    low, high : arrays
        The smallest and the largest value of every column.
    columns : int64 array
        Those that are asked; each has two values.
    key : uint64
        Of the stump.
    words, weight, total
        See `weigh_drawn_words`.
    ends, bits : arrays
        Scratch of `draw_threshold`.
    """
    n, width = values.shape[1], len(columns)
    cut, at = np.empty(width), np.empty(width, np.int64)
    sums = np.zeros((width, 3), np.int64)
    for j in range(width):
        f = columns[j]
        cut[j], at[j] = draw_threshold(key, np.uint64(f), low[f], high[f], ends, bits)
    for lo in range(0, n, _BLOCK):
        hi = min(lo + _BLOCK, n)
        for j in range(width):
            w, ones, rows = _add_left(values[columns[j]], at[j], words, lo, hi)
            sums[j, 0] += w
            sums[j, 1] += ones
            sums[j, 2] += rows
    best, column = -1.0, -1
    for j in range(width):
        if sums[j, 2] < 1 or n - sums[j, 2] < 1:
            continue
        score = squares(sums[j, 1], sums[j, 0], total, weight)
        if score > best or (score == best and column >= 0 and columns[j] < columns[column]):
            best, column = score, j
    if column < 0:
        return best, np.int64(-1), 0.0, np.int64(0), np.int64(0)
    return best, columns[column], cut[column], at[column], sums[column, 0]


@kernel
def mark_values(x, cut, right):
    """Write 0 for rows whose value is not above the cut, and 1 for the others."""
    for i in range(len(x)):
        right[i] = np.uint8(x[i] > cut)
