"""Columns of few values: counted instead of walked.

A column of few different values is kept as codes, in the order of the values, beside its sorted list. The
rows of all nodes of a level are added up by node and code, in the order of the table: nothing is looked up
out of order, and what is added to stays in the nearest cache. Then a node walks its codes, not its rows:

    code of the row       2   0   2   1   0   2
    node of the row       a   b   a   a   b   a
    cells of a            -   1   3             sums, weights and rows of the codes 0, 1, 2
    cuts of a                   |               before each code that is met, but the first

Two columns are counted side by side: a row's word is read once, and additions to the one do not wait for
those to the other. The cuts, their scores and which of them wins are those of search.py; instead of a place
in the list, ``found.place`` is the first code on the right and ``found.sizes`` the last one on the left.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.jit import leaf_kernel, plain_kernel
from arboretum.engine.level_tree.categories import divide_counted
from arboretum.engine.level_tree.words import (
    CATEGORIES,
    CLEARLY,
    FAR,
    LEFT,
    MET,
    SHIFT,
    SLOT,
    VARIES,
)
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import squares_from_mean

__all__ = ["scan_counted"]


@leaf_kernel
def _count_two(
    one, two, words, row_weight, whole_weights, first_width, second_width, cells, others
):
    """Add up the rows of two columns by node and code: (sum, weight, rows); no weights if there are none."""
    w_one, w_two = np.uint64(first_width), np.uint64(second_width)
    n = np.uint64(len(words))
    if len(row_weight):
        for i in range(n):
            word, w = words[i], row_weight[i]
            number, k = word >> SHIFT, np.uint64(word) & SLOT
            if whole_weights:
                number *= w
            at = k * w_one + np.uint64(one[i])
            cells[at, 0] += number
            cells[at, 1] += w
            cells[at, 2] += 1
            at = k * w_two + np.uint64(two[i])
            others[at, 0] += number
            others[at, 1] += w
            others[at, 2] += 1
    else:
        for i in range(n):
            word = words[i]
            number, k = word >> SHIFT, np.uint64(word) & SLOT
            at = k * w_one + np.uint64(one[i])
            cells[at, 0] += number
            cells[at, 2] += 1
            at = k * w_two + np.uint64(two[i])
            others[at, 0] += number
            others[at, 2] += 1


@leaf_kernel
def _walk_codes(
    cells, n_codes, weighted, level, least, least_weight, left_code, values, best, place, on_left
):
    """Find the best cut of numbers in every node; see `search._scan_full`."""
    mean, weight, n_rows = level
    which = np.uint64(1 if weighted else 2)  # of a cell: what its rows weigh
    width = np.uint64(n_codes + 1)
    for k in range(len(mean) - 1):
        base, missing = np.uint64(k) * width, (np.uint64(k) + np.uint64(1)) * width - np.uint64(1)
        missing_sum, missing_weight = cells[missing, 0], cells[missing, which]
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
                left_weight += cells[at, which]
                left += cells[at, 2]
                last = np.int64(c)
                met += 1
        values[k] = met


@leaf_kernel
def _keep(f, cells, n_codes, is_category, scratch, m, found):
    """Write what was found to the nodes' best cuts; the cells are zeros again."""
    width, best, values = np.uint64(n_codes + 1), scratch.best, scratch.counts[2]
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
    for at in range(np.uint64(m) * width):
        cells[at, 0], cells[at, 1], cells[at, 2] = 0, 0, 0


@plain_kernel
def scan_counted(table, columns, words, row_weight, level, rules, scratch, found):
    """Search columns that have codes; see search.py."""
    least, least_weight, whole_weights, _, _ = rules
    m, weighted, cells = len(level[0]), len(row_weight) > 0, scratch.cells
    for turn in range(0, len(columns), 2):
        f, g = columns[turn], columns[min(turn + 1, len(columns) - 1)]
        _count_two(
            table.codes[table.coded[f]], table.codes[table.coded[g]], words, row_weight, whole_weights,
            table.n_values[f] + 1, table.n_values[g] + 1, cells[0], cells[1],
        )  # fmt: skip
        for side in range(2):
            h, here = (g if side else f), cells[side]
            is_category = table.kind[h] == CATEGORIES
            if is_category:
                divide_counted(
                    here, table.n_values[h], weighted, level, least, least_weight, scratch,
                    found.arranged[h], CLEARLY, scratch.counts[2],
                )  # fmt: skip
            else:
                _walk_codes(
                    here, table.n_values[h], weighted, level, least, least_weight, scratch.left_code,
                    scratch.counts[2], scratch.best, scratch.place, scratch.on_left,
                )  # fmt: skip
            _keep(h, here, table.n_values[h], is_category, scratch, m, found)
