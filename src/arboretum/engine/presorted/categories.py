"""Categories in order: the best division of a column that has no order of its own.

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
from arboretum.engine.presorted.row_layout import SHIFT, SLOT
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import squares_from_mean

__all__ = ["divide_counted", "scan_categories"]

_FEW = np.int64(32)  # so many are put in order by insertion


@subkernel
def _insert(keys, order, start, size):
    """Put the places start … start + size in the order of their keys; equals stay as they are.

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
    """`_insert` for any number of places: short runs, then merged by way of ``spare``.

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
def _add_up(
    entries, present, codes, words, row_weight, whole_weights, start, so_far, groups, sizes, nobody
):
    """Add up the rows of every category in every node; ``so_far`` is scratch, and zeros."""
    code_of, sums, weights, counts = groups
    sum_here, weight_here, count_here, touched = so_far
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
def _divide(first, size, groups, missing, node, limits, keys, order, arranged, clearly):
    """Put a node's categories, ``size`` groups from ``first`` on, in order, and try the cuts between them.

    ``missing`` and ``node`` are (sum, weight, rows) and (mean, weight, rows). Returns score, categories on
    the left and weight there, where missing values go right; then the same where they go left.

    groups (code, sum, weight, count) (n_groups,) int64 each; keys (n_groups,) float64, scratch; order
    (n_groups,) int64, scratch; arranged (n_rows,) uint32, written.
    """
    code_of, sums, weights, counts = groups
    missing_sum, missing_weight, missing_rows = missing
    mean, weight, n_rows = node
    least, least_weight = limits.samples_leaf, limits.least_weight
    for j in range(first, first + size):
        keys[j] = np.float64(sums[j]) / np.float64(max(weights[j], 1))
    _sort(keys, order, arranged, first, size)
    left_sum, left_weight, left = np.int64(0), np.int64(0), np.int64(0)
    best, place, on_left, bar = REFUSED, np.int64(0), 0.0, REFUSED  # missing values go right
    other, other_place, other_left, other_bar = REFUSED, np.int64(0), 0.0, REFUSED  # and left
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
            if side and score > other_bar:
                other, other_place, other_left = score, np.int64(j + 1), weight_left
                other_bar = score * clearly
            elif not side and score > bar:
                best, place, on_left = score, np.int64(j + 1), weight_left
                bar = score * clearly
    return best, place, on_left, other, other_place, other_left


@subkernel
def _keep(k, groups, missing, node, limits, first, size, scratch, arranged, clearly):
    """`_divide`, written to the node's place in the scratch."""
    best, place, on_left = scratch.best, scratch.place, scratch.on_left
    best[0, k], place[0, k], on_left[0, k], best[1, k], place[1, k], on_left[1, k] = _divide(
        first, size, groups, missing, node, limits, scratch.keys, scratch.groups[4],
        arranged, clearly,
    )  # fmt: skip


@subkernel
def divide_counted(cells, n_codes, limits, work, scratch, arranged, clearly, sizes):
    """`scan_categories` for a column that was counted (counted.py)."""
    mean, weight, n_rows = work.mean, work.weight, work.rows
    groups = scratch.groups[0], scratch.groups[1], scratch.groups[2], scratch.groups[3]
    code_of, sums, weights, counts = groups
    width, first = np.uint64(n_codes + 1), np.int64(0)
    for k in range(work.n_open[0]):
        size, base = np.int64(0), np.uint64(k) * width
        for c in range(width):
            at = base + c
            if cells[at, 2] > 0 and c + np.uint64(1) < width:
                code_of[size], sums[size], counts[size] = np.int64(c), cells[at, 0], cells[at, 2]
                weights[size] = cells[at, 1]
                size += 1
        at = base + width - np.uint64(1)
        missing = cells[at, 0], cells[at, 1], cells[at, 2]
        _keep(
            k, groups, missing, (mean[k], weight[k], n_rows[k]), limits, np.int64(0),
            size, scratch, arranged[first : first + n_rows[k]], clearly,
        )  # fmt: skip
        sizes[k] = size
        first += n_rows[k]


@subkernel
def scan_categories(
    entries, present, codes, row_weight, limits, work, missing, scratch, sizes, arranged, clearly
):  # fmt: skip
    """Find the best division of one column's categories in every node.

    Parameters
    ----------
    entries, present : uint32 array, int
        The order of the rows by code, and how many of them have one.
    codes : float64 array
        Of every row.
    row_weight : int64 array
        Empty if every row weighs 1.
    limits, work : Limits, LevelWork
        See grow.py.
    missing : tuple of arrays
        (sum, weight, rows) that miss a value, of every node.
    scratch : LevelScratch
        Its best, place (the number of categories on the left) and on_left are filled.
    sizes : int64 array
        Zeros; filled with the number of categories of every node.
    arranged : uint32 array
        Filled with the categories of every node in their order, a node beginning where its rows begin.
    clearly : float
        What a score must be times the best so far to be better.

    entries (n_rows,) uint32; codes (n_rows,) float64; words (n_rows,) int64; row_weight (n_rows,) int64,
    or empty; level (mean, weight, rows) (n_nodes,) float64, float64 and int64; missing
    (sum, weight, rows) (n_nodes,) int64 each; sizes (n_nodes,) int64, written; arranged (n_rows,)
    uint32, written.
    """
    mean, weight, n_rows = work.mean, work.weight, work.rows
    missing_sum, missing_weight, missing_rows = missing
    m, start = work.n_open[0] + 1, scratch.start
    groups = scratch.groups[0], scratch.groups[1], scratch.groups[2], scratch.groups[3]
    so_far = scratch.sums[0], scratch.weights[0], scratch.counts[0], scratch.at
    start[0] = 0
    for k in range(1, m):
        start[k] = start[k - 1] + n_rows[k - 1]
    _add_up(
        entries,
        present,
        codes,
        work.words,
        row_weight,
        limits.whole_weights,
        start,
        so_far,
        groups,
        sizes,
        np.uint64(m - 1),
    )
    for k in range(m - 1):
        _keep(
            k, groups, (missing_sum[k], missing_weight[k], missing_rows[k]),
            (mean[k], weight[k], n_rows[k]), limits, start[k], sizes[k], scratch, arranged,
            clearly,
        )  # fmt: skip
