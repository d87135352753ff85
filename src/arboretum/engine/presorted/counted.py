"""Columns of few values: counted instead of walked.

A column of few different values is kept as codes, in the order of the values, beside its sorted list. The
rows of all nodes of a level are added up by node and code, in the order of the table: nothing is looked up
out of order, and what is added to stays in the nearest cache. Then a node walks its codes, not its rows:

    code of the row       2   0   2   1   0   2
    node of the row       a   b   a   a   b   a
    cells of a            -   1   3             sums, weights and rows of the codes 0, 1, 2
    cuts of a                   |               before each code that is met, but the first

The cuts, their scores and which of them wins are those of search.py; instead of a place in the list,
``found.place`` is the first code on the right and ``found.sizes`` the last one on the left.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.presorted.categories import divide_counted
from arboretum.engine.presorted.row_layout import (
    CATEGORIES,
    CLEARLY,
    FAR,
    LEFT,
    MET,
    SHIFT,
    SLOT,
    VARIES,
)
from arboretum.engine.simd import add_row
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import squares_from_mean

__all__ = ["scan_counted"]


@subkernel
def _count(table, f, rows, limits, work, cells):
    """Add up the rows of a column by node and code: (sum, weight, rows)."""
    codes, size = table.codes[table.coded[f]], np.uint64(table.n_values[f] + 1)
    words, row_weight, whole_weights = work.words, rows.row_weight, limits.whole_weights
    for i in range(np.uint64(len(words))):
        word, w = words[i], row_weight[i] if len(row_weight) else np.int64(1)
        number, k = word >> SHIFT, np.uint64(word) & SLOT
        if whole_weights:
            number *= w
        add_row(cells, k * size + np.uint64(codes[i]), number, w)


@subkernel
def _clear(cells, n):
    for at in range(np.uint64(n)):
        for j in range(3):
            cells[at, j] = 0


@subkernel
def _walk_codes(cells, n_codes, limits, work, scratch):
    """Find the best cut of numbers in every node; see `search._scan_full`.

    cells (nodes and codes, 4) int64.
    """
    left_code, values = scratch.left_code, scratch.values
    best, place, on_left = scratch.best, scratch.place, scratch.on_left
    mean, weight, n_rows = work.mean, work.weight, work.rows
    least, least_weight = limits.samples_leaf, limits.least_weight
    width = np.uint64(n_codes + 1)
    for k in range(work.n_open[0]):
        base, missing = np.uint64(k) * width, (np.uint64(k) + np.uint64(1)) * width - np.uint64(1)
        missing_sum, missing_weight = cells[missing, 0], cells[missing, 1]
        missing_rows = cells[missing, 2]
        left_sum, left_weight, left = np.int64(0), np.int64(0), np.int64(0)
        last, met = np.int64(0), np.int64(0)
        best[0, k], best[1, k] = REFUSED, REFUSED
        bar, other_bar = REFUSED, REFUSED  # where missing values go right, and left
        for c in range(n_codes + 1):
            at = base + np.uint64(c)
            if c < n_codes and cells[at, 2] == 0:
                continue
            for side in range(2 if missing_rows and c < n_codes else 1):
                count = left + side * missing_rows
                weight_left = np.float64(left_weight + side * missing_weight)
                weight_right = weight[k] - weight_left
                if left == 0 or count < least or n_rows[k] - count < least:
                    continue
                if weight_left < least_weight or weight_right < least_weight or weight_right <= 0.0:
                    continue
                sum_left = left_sum + side * missing_sum
                score = squares_from_mean(sum_left, weight_left, mean[k], weight[k])
                if score > (other_bar if side else bar):
                    best[side, k], place[side, k], on_left[side, k] = score, c, weight_left
                    left_code[side, k] = last
                    if side:
                        other_bar = score * CLEARLY
                    else:
                        bar = score * CLEARLY
            if c < n_codes:
                left_sum += cells[at, 0]
                left_weight += cells[at, 1]
                left += cells[at, 2]
                last = np.int64(c)
                met += 1
        values[k] = met


@subkernel
def _keep(f, cells, n_codes, is_category, scratch, m, found):
    """Write what was found to the nodes' best cuts."""
    width, best, values = np.uint64(n_codes + 1), scratch.best, scratch.values
    for k in range(m - 1):
        bar = best[0, k] * CLEARLY if best[0, k] >= 0.0 else REFUSED
        side = np.int64(best[1, k] > bar)
        found.score[f, k], found.place[f, k] = best[side, k], scratch.place[side, k]
        found.on_left[f, k] = scratch.on_left[side, k]
        found.sizes[f, k] = values[k] if is_category else scratch.left_code[side, k]
        met = cells[(np.uint64(k) + np.uint64(1)) * width - np.uint64(1), 2] > 0
        varies = values[k] + np.int64(met) > 1
        found.flags[f, k] = LEFT * side | MET * np.int64(met) | VARIES * np.int64(varies)
        if not is_category:
            scratch.bars[k] = max(scratch.bars[k], best[side, k] * FAR)


@subkernel
def _search(table, f, cells, limits, work, scratch, found):
    """Find the best cut of every node in the cells of a column, which are zeros afterwards."""
    n_codes, m = table.n_values[f], work.n_open[0] + 1
    is_category = table.kind[f] == CATEGORIES
    if is_category:
        divide_counted(cells, n_codes, limits, work, scratch, found.arranged[f])
    else:
        _walk_codes(cells, n_codes, limits, work, scratch)
    _keep(f, cells, n_codes, is_category, scratch, m, found)
    _clear(cells, m * (n_codes + 1))


@kernel
def scan_counted(table, columns, rows, limits, work, scratch, found):
    """Search columns that have codes; see search.py."""
    for f in columns:
        _count(table, f, rows, limits, work, scratch.cells)
        _search(table, f, scratch.cells, limits, work, scratch, found)
