"""A whole tree of weighted rows in one compiled call: what AdaBoost asks for again and again.

`search.scan_columns` looks after everything: weights, missing values, both sides that they may take, the
cut behind the last row. A column of weighted numbers that misses none needs little of it:

    row           its word (number and node) and its weight: two gathers
    cut           d² > best · n_L n_R, without a division; only what may be better is scored
    the rest      categories, columns with gaps: `scan_columns`

The trees are the same to the last bit.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.presort import POSITION
from arboretum.engine.intrinsics import prefetch_at
from arboretum.engine.jit import kernel, leaf_kernel
from arboretum.engine.level_tree.grow import (
    close_level,
    level_of,
    make_root,
    open_level,
    rules_of,
)
from arboretum.engine.level_tree.search import CATEGORIES, SHIFT, SLOT, TIE, scan_columns
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import squares_from_mean

__all__ = ["grow_weighted_tree", "scan_weighted_columns"]

_NEW = np.uint32(31)
_AHEAD = 32  # entries whose rows are asked for before they are met
_CLEARLY, _ALMOST = 1.0 + TIE, 1.0 - TIE


@leaf_kernel
def _scan_present(
    entries, words, row_weight, whole_weights, mean, weight, n_rows, least, least_weight, left_sum,
    left_weight, left, last, best, bar, place, on_left,
):  # fmt: skip
    """`search._scan_full` for a column that misses no value."""
    code, end = np.uint64(0), np.int64(len(entries)) - 1
    for i in range(len(entries)):
        entry = entries[i]
        soon = np.uint64(entries[min(i + _AHEAD, end)] & POSITION)
        prefetch_at(words, soon)
        prefetch_at(row_weight, soon)
        code += np.uint64(entry >> _NEW)
        row = np.uint64(entry & POSITION)
        word, w = words[row], row_weight[row]
        k = np.uint64(word) & SLOT
        if last[k] != code:
            last[k] = code
            weight_left = np.float64(left_weight[k])
            weight_right = weight[k] - weight_left
            d = np.float64(left_sum[k]) - weight_left * mean[k]
            if d * d > bar[k] * _ALMOST * (weight_left * weight_right):
                count = left[k]
                allowed = count >= max(least, 1) and n_rows[k] - count >= least
                allowed &= weight_left >= least_weight and weight_right >= least_weight
                score = squares_from_mean(left_sum[k], weight_left, mean[k], weight[k])
                if allowed and weight_right > 0.0 and score > bar[k]:
                    best[k], bar[k] = score, score * _CLEARLY
                    place[k], on_left[k] = i, weight_left
        left_sum[k] += (word >> SHIFT) * (w if whole_weights else np.int64(1))
        left_weight[k] += w
        left[k] += 1


@kernel
def scan_weighted_columns(table, columns, words, row_weight, level, rules, found):
    """`search.scan_columns` for rows that have weights; nobody asks which columns vary."""
    mean, weight, n_rows = level
    least, least_weight, whole_weights, _ = rules
    n, m = table.lists.shape[1], len(mean)
    sums, counts = np.empty((2, m), np.int64), np.empty(m, np.int64)
    last, at = np.empty(m, np.uint64), np.empty(m, np.int64)
    best, bar, best_left = np.empty(m), np.empty(m), np.empty(m)
    others, n_others = np.empty(len(columns), np.int64), 0
    for f in columns:
        if table.kind[f] == CATEGORIES or table.present[f] < n:
            others[n_others] = f
            n_others += 1
            continue
        for k in range(m):
            sums[0, k], sums[1, k], counts[k], last[k], at[k] = 0, 0, 0, 0, 0
            best[k], bar[k], best_left[k] = REFUSED, REFUSED, 0.0
        bar[m - 1] = np.inf
        _scan_present(
            table.lists[f], words, row_weight, whole_weights, mean, weight, n_rows, least,
            least_weight, sums[0], sums[1], counts, last, best, bar, at, best_left,
        )  # fmt: skip
        for k in range(m - 1):
            found.score[f, k], found.place[f, k] = best[k], at[k]
            found.on_left[f, k], found.flags[f, k], found.sizes[f, k] = best_left[k], 0, 0
    if n_others > 0:
        scan_columns(table, others[:n_others], words, row_weight, level, rules, found)


@kernel
def grow_weighted_tree(table, rows, limits, work, found, nodes):
    """`grow.grow_tree` for rows that have weights, and nodes that look at all columns."""
    size, m = 1, make_root(rows, limits, nodes, work)
    columns = np.empty(len(table.lists), np.int64)
    for f in range(len(columns)):
        columns[f] = f
    for _ in range(limits.depth):
        if m == 0:
            break
        open_level(rows, limits, work, m)
        level, rules = level_of(work, m), rules_of(limits)
        scan_weighted_columns(table, columns, work.words, rows.row_weight, level, rules, found)
        size, m = close_level(table, rows, limits, work, found, nodes, size, m)
    return size
