"""Ordering categories: the best split on a column without an order of its own.

In a node the best division of categories lies in the order of their mean residuals (Fisher 1958). The column
is sorted once per fit like any other, by code, so the rows of a category are neighbours, and one pass adds
them up for every node of a level; a node then puts its categories in order and tries the cuts between them:

    order of the column   red red red | blue blue | green green        rows, by code
    node of the row        a   b   a  |  a    a   |   b     a
    categories of a       red -.3 < blue .1 < green .8                 two cuts
    categories of b       green -.5 < red .2                           one

Nodes keep theirs one after the other, each in as many places as it has rows: there are never more categories.
Where a column has few, its rows are counted instead (counted.py) and only the second half is done here.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.compiler.decorators import subkernel
from arboretum.engine.presorted.row_layout import CLEARLY, SHIFT, SLOT
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import squares_from_mean

__all__ = ["divide_counted", "scan_categories"]

_FEW = np.int64(32)  # up to this many are sorted by insertion


@subkernel
def _insert(keys, order, start, size):
    """Sort the places start … start + size by their keys, stably.

    keys (n_groups,) float64; order (n_groups,) int64, written.
    """
    for i in range(size):
        key, j = keys[start + i], i
        while j > 0 and keys[order[start + j - 1]] > key:
            order[start + j] = order[start + j - 1]
            j -= 1
        order[start + j] = start + i


@subkernel
def _sort(keys, order, spare, start, size):
    """`_insert` for any number of places: short runs are sorted, then merged using ``spare``.

    keys (n_groups,) float64; order (n_groups,) int64, written; spare (n_rows,) uint32, scratch.
    """
    end, width = start + size, _FEW
    for low in range(start, end, _FEW):
        _insert(keys, order, low, min(end - low, _FEW))
    while width < size:
        for low in range(start, end, 2 * width):
            middle, high = min(low + width, end), min(low + 2 * width, end)
            i, j = low, middle
            for at in range(low, high):
                if i == middle or (j < high and keys[order[j]] < keys[order[i]]):
                    spare[at] = order[j]
                    j += 1
                else:
                    spare[at] = order[i]
                    i += 1
        for at in range(start, end):
            order[at] = spare[at]
        width *= 2


@subkernel
def _add_up(table, f, rows, limits, work, scratch):
    """Add up the rows of every category in every node, from ``scratch.start`` of the node on."""
    entries, present, codes, words = table.lists[f], table.present[f], table.values[f], work.words
    row_weight, whole_weights, nobody = (
        rows.row_weight,
        limits.whole_weights,
        np.uint64(work.n_open[0]),
    )
    code_of, sums = scratch.group_code, scratch.group_sum
    weights, counts = scratch.group_weight, scratch.group_rows
    sum_here, weight_here, count_here = scratch.left_sum, scratch.left_weight, scratch.left
    start, touched, sizes = scratch.start, scratch.at, scratch.values
    n_touched, code = 0, np.int64(0)
    for i in range(present + 1):
        if i == present or entries[i] & NEW:
            for t in range(n_touched):
                k = np.uint64(touched[t])
                at = np.uint64(start[k] + sizes[k])
                code_of[at], sums[at] = code, sum_here[k]
                weights[at], counts[at] = weight_here[k], count_here[k]
                sizes[k] += 1
                sum_here[k], weight_here[k], count_here[k] = 0, 0, 0
            n_touched = 0
            if i == present:
                break
            code = np.int64(codes[np.uint64(entries[i] & POSITION)])
        row = np.uint64(entries[i] & POSITION)
        k = np.uint64(words[row]) & SLOT
        if k == nobody:
            continue
        if count_here[k] == 0:
            touched[n_touched] = k
            n_touched += 1
        w = row_weight[row] if len(row_weight) else np.int64(1)
        sum_here[k] += (words[row] >> SHIFT) * (w if whole_weights else np.int64(1))
        weight_here[k] += w
        count_here[k] += 1


@subkernel
def _divide(k, first, size, missing, limits, work, scratch, arranged):
    """Put the categories of node k, ``size`` groups from ``first`` on, in order, and score the cuts.

    ``missing`` is (sum, weight, rows). Writes score, categories on the left and weight there to
    ``scratch.best``, ``place`` and ``on_left``: in line 0 where missing values go right, in 1 where left.

    arranged (at least first + size,) uint32, written.
    """
    code_of, sums, weights = scratch.group_code, scratch.group_sum, scratch.group_weight
    counts, order, keys = scratch.group_rows, scratch.group_order, scratch.keys
    missing_sum, missing_weight, missing_rows = missing
    mean, weight, n_rows = work.mean[k], work.weight[k], work.rows[k]
    least, least_weight = limits.samples_leaf, limits.least_weight
    for j in range(first, first + size):
        keys[j] = np.float64(sums[j]) / np.float64(max(weights[j], 1))
    _sort(keys, order, arranged, first, size)
    left_sum, left_weight, left = np.int64(0), np.int64(0), np.int64(0)
    bar, other_bar = REFUSED, REFUSED  # where missing values go right, and left
    for side in range(2):
        scratch.best[side, k], scratch.place[side, k], scratch.on_left[side, k] = REFUSED, 0, 0.0
    for j in range(size):
        g = order[first + j]
        arranged[first + j] = np.uint32(code_of[g])
        left_sum += sums[g]
        left_weight += weights[g]
        left += counts[g]
        last = j == size - 1
        for side in range(2 if missing_rows and not last else 1):
            count = left + side * missing_rows
            weight_left = np.float64(left_weight + side * missing_weight)
            weight_right = weight - weight_left
            if count < least or n_rows - count < least:
                continue
            if weight_left < least_weight or weight_right < least_weight or weight_right <= 0.0:
                continue
            score = squares_from_mean(left_sum + side * missing_sum, weight_left, mean, weight)
            if score > (other_bar if side else bar):
                scratch.best[side, k], scratch.place[side, k] = score, np.int64(j + 1)
                scratch.on_left[side, k] = weight_left
                if side:
                    other_bar = score * CLEARLY
                else:
                    bar = score * CLEARLY


@subkernel
def divide_counted(cells, n_codes, limits, work, scratch, arranged):
    """`scan_categories` for a column that was counted (counted.py).

    cells (nodes and codes, 4) int64; arranged (n_rows,) uint32, written.
    """
    width, first = np.uint64(n_codes + 1), np.int64(0)
    for k in range(work.n_open[0]):
        size, base = np.int64(0), np.uint64(k) * width
        for c in range(width):
            at = base + c
            if cells[at, 2] > 0 and c + np.uint64(1) < width:
                scratch.group_code[size], scratch.group_sum[size] = np.int64(c), cells[at, 0]
                scratch.group_weight[size], scratch.group_rows[size] = cells[at, 1], cells[at, 2]
                size += 1
        at = base + width - np.uint64(1)
        missing, end = (cells[at, 0], cells[at, 1], cells[at, 2]), first + work.rows[k]
        _divide(k, np.int64(0), size, missing, limits, work, scratch, arranged[first:end])
        scratch.values[k] = size
        first = end


@subkernel
def scan_categories(table, f, rows, limits, work, scratch, arranged):
    """Find the best division of one column's categories in every node.

    ``scratch`` holds the rows that miss a value; its best, place (the number of categories on the left),
    on_left and values (the categories of every node) are filled. ``arranged`` is filled with the categories
    of every node in their order, a node beginning where its rows begin.

    arranged (n_rows,) uint32, written.
    """
    m, start = work.n_open[0] + 1, scratch.start
    start[0] = 0
    for k in range(1, m):
        start[k] = start[k - 1] + work.rows[k - 1]
    _add_up(table, f, rows, limits, work, scratch)
    for k in range(m - 1):
        missing = scratch.missing_sum[k], scratch.missing_weight[k], scratch.missing_rows[k]
        _divide(k, start[k], scratch.values[k], missing, limits, work, scratch, arranged)
