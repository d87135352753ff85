"""Searching all nodes of a level in one pass per column, in an order that was sorted once per fit.

Boosting grows hundreds of small trees on the same table. Columns are sorted once (columns/presort.py) and
never moved again; a word per row says what the row adds and in which node of the level it stands:

    order of a column     7   2   9   4   0   5         rows, ascending by value
    node of the row       a   b   a   a   b   a
    cuts                  ·   ·  |a  |a  |b  |a         before each row whose value is new to its node

so one pass meets every cut of every node, each node with sums of its own. Rows out of the bag, or in
nodes that are leaves by now, stand in a last node that nobody asks about. Sums are whole numbers (see
fixed_point.py), so the answer does not depend on the number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.columns.presort import POSITION
from arboretum.engine.fixed_point import to_grid
from arboretum.engine.jit import inline, kernel, leaf_kernel
from arboretum.engine.level_tree.categories import scan_categories
from arboretum.engine.level_tree.counted import scan_counted
from arboretum.engine.level_tree.words import (
    CATEGORIES,
    CLEARLY,
    LEFT,
    MET,
    ROWS_PER_CELL,
    SHIFT,
    SLOT,
    VARIES,
)
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import squares_from_mean

__all__ = ["LevelBest", "LevelTable", "is_counted", "pack_rows", "scan_columns"]

_NEW = np.uint32(31)
_NO_CODES, _NO_COLUMN = np.zeros((0, 0), np.uint16), np.zeros(0, np.int64)
_NO_VALUES = np.zeros((0, 0))


class LevelTable(NamedTuple):
    """Columns sorted once per fit."""

    # (columns, rows of the bag) uint32, see columns/presort.py; categories by code
    lists: np.ndarray
    present: np.ndarray  # (columns,) int64: how many of them have a value
    kind: np.ndarray  # (columns,) uint8: NUMBERS, RANKS or CATEGORIES
    n_codes: np.ndarray  # (columns,) int64: categories there are
    values: np.ndarray  # (columns, rows) float64, NaN where missing; categories: codes
    has_categories: bool
    # columns of few values (counted.py); none of them, if that is left out
    codes: np.ndarray = _NO_CODES  # (coded, rows) uint16: the code behind the last means missing
    coded: np.ndarray = _NO_COLUMN  # (columns,) int64: line of ``codes``, -1 for none
    n_values: np.ndarray = _NO_COLUMN  # (columns,) int64: codes there are
    value_of: np.ndarray = _NO_VALUES  # (coded, codes) float64: what a code stands for


class LevelBest(NamedTuple):
    """The best cut of every node of a level on every column, (columns, nodes)."""

    score: np.ndarray  # float64; -1 where there is no cut
    place: np.ndarray  # int64: the first entry on the right; categories: how many go left
    on_left: np.ndarray  # float64: weight
    flags: np.ndarray  # int64: LEFT if missing values go left, MET if there are any, VARIES
    arranged: np.ndarray  # (columns, rows) uint32: categories of the nodes in their order
    sizes: np.ndarray  # int64: categories a node has met; of other columns, 0 or nothing of use


@kernel
def pack_rows(r, rows, scale, node, slot_of, words, sums):
    """Write the word of every row, and what the rows of every node add up to.

    ``rows`` is (weight, weight on its grid, whole, inside): no weights where every row weighs 1, and nothing
    inside where every row is in the bag. ``scale`` puts residuals on their grid; times weights, unless
    these are whole numbers: then a scan multiplies, and a row of weight 2 is exactly two rows. ``sums`` is
    (3, nodes): numbers, weights, rows; the last node is nobody's.
    """
    weight, row_weight, whole_weights, inside = rows
    nobody = np.uint64(sums.shape[1] - 1)
    sums[:] = 0
    for i in range(len(r)):
        slot = np.uint64(slot_of[np.uint64(node[i])])
        if len(inside) and not inside[i]:
            slot = nobody
        v = r[i] * scale
        if len(weight) and not whole_weights:
            v *= weight[i]
        number = to_grid(v)
        words[i] = (number << SHIFT) | np.int64(slot)
        w = row_weight[i] if len(row_weight) else np.int64(1)
        sums[0, slot] += number * w if whole_weights else number
        sums[1, slot] += w
        sums[2, slot] += 1


@leaf_kernel
def _scan_plain(
    entries, words, mean, weight, least, left_sum, left, last, best, bar, place, on_left
):  # fmt: skip
    """Rows of weight 1, nothing missing: the loop most time is spent in."""
    code = np.uint64(0)
    for i in range(len(entries)):
        entry = entries[i]
        code += np.uint64(entry >> _NEW)
        word = words[np.uint64(entry & POSITION)]
        k = np.uint64(word) & SLOT
        count = left[k]
        if last[k] != code:
            last[k] = code
            score = squares_from_mean(left_sum[k], count, mean[k], weight[k])
            if score > bar[k] and count >= least and weight[k] - count >= least:
                best[k], bar[k] = score, score * CLEARLY
                place[k], on_left[k] = i, count
        left_sum[k] += word >> SHIFT
        left[k] = count + 1.0


@leaf_kernel
def _add_missing(
    entries, present, words, row_weight, whole_weights, missing_sum, missing_weight, missing_rows
):
    """Add up the rows of every node that miss the column's value."""
    for i in range(present, len(entries)):
        row = np.uint64(entries[i] & POSITION)
        k = np.uint64(words[row]) & SLOT
        w = row_weight[row] if len(row_weight) else np.int64(1)
        missing_sum[k] += (words[row] >> SHIFT) * (w if whole_weights else np.int64(1))
        missing_weight[k] += w
        missing_rows[k] += 1


@leaf_kernel
def _scan_full(
    entries, present, words, row_weight, whole_weights, mean, weight, n_rows, least, least_weight, left_sum,
    left_weight, left, last, missing_sum, missing_weight, missing_rows, best, bar, place, on_left, values,
):  # fmt: skip
    """Weights and missing values; ``best`` and the like have a line for each side missing rows take."""
    code = np.uint64(0)
    for i in range(present + 1):
        k, number, w = np.uint64(0), np.int64(0), np.int64(0)
        first, end = np.int64(0), np.int64(len(mean))  # behind the last row: cuts of all nodes
        if i < present:
            entry = entries[i]
            code += np.uint64(entry >> _NEW)
            row = np.uint64(entry & POSITION)
            k = np.uint64(words[row]) & SLOT
            w = row_weight[row] if len(row_weight) else np.int64(1)
            number = (words[row] >> SHIFT) * (w if whole_weights else np.int64(1))
            first = np.int64(k)
            end = first + np.int64(last[k] != code)
            values[k] += end - first
            last[k] = code
        for j in range(first, end):
            for side in range(2 if missing_rows[j] and i < present else 1):
                count = left[j] + side * missing_rows[j]
                weight_left = np.float64(left_weight[j] + side * missing_weight[j])
                weight_right = weight[j] - weight_left
                if left[j] == 0 or count < least or n_rows[j] - count < least:
                    continue
                if weight_left < least_weight or weight_right < least_weight or weight_right <= 0.0:
                    continue
                score = squares_from_mean(
                    left_sum[j] + side * missing_sum[j], weight_left, mean[j], weight[j]
                )
                if score > bar[side, j]:
                    best[side, j], bar[side, j] = score, score * CLEARLY
                    place[side, j], on_left[side, j] = i, weight_left
        if i < present:
            left_sum[k] += number
            left_weight[k] += w
            left[k] += 1


@inline
def is_counted(table, f, m):
    """Tell whether a column is counted where a level has m nodes, nobody's included."""
    if len(table.coded) == 0 or table.coded[f] < 0:
        return False
    return m * (table.n_values[f] + 1) * ROWS_PER_CELL <= table.values.shape[1]


@kernel
def scan_columns(table, columns, words, row_weight, level, rules, found):
    """Find the best cut of every node on every one of some columns.

    Parameters
    ----------
    table : Table
    columns : int64 array
        Which to search.
    words, row_weight : int64 arrays
        Of every row; no weights where every row weighs 1.
    level : tuple
        (mean on the grid, weight, rows) of every node; the last node is nobody's.
    rules : tuple
        (rows each side needs, weight each side needs, are weights whole?, tell which columns vary?).
    found : LevelBest
        Filled for the columns searched.
    """
    mean, weight, n_rows = level
    least, least_weight, whole_weights, ask = rules
    lists = table.lists
    m = len(mean)
    counted, n_counted = np.empty(len(columns), np.int64), 0
    others, n_others, n_words = np.empty(len(columns), np.int64), 0, 0
    for f in columns:
        if is_counted(table, f, m):
            counted[n_counted] = f
            n_counted += 1
        else:
            others[n_others] = f
            n_others += 1
            n_words += np.int64(table.kind[f] == CATEGORIES)
    if n_counted:
        scan_counted(table, counted[:n_counted], words, row_weight, level, rules, found)
    sums = np.empty((2, m), np.int64)  # on the left, and missing
    weights = np.empty((2, m), np.int64)
    counts = np.empty((3, m), np.int64)  # and the number of values
    left_rows = np.empty(m)
    last = np.empty(m, np.uint64)
    best, bar, at = np.empty((2, m)), np.empty((2, m)), np.empty((2, m), np.int64)
    best_left = np.empty((2, m))
    best_left[:] = 0.0
    size = lists.shape[1] if n_words else 0
    scratch = (
        np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64),
        np.empty(size, np.int64), np.empty(size), np.empty(size, np.int64),
    )  # fmt: skip
    for f in others[:n_others]:
        present = table.present[f]
        best[:] = REFUSED
        bar[:] = REFUSED
        bar[:, m - 1] = np.inf
        at[:] = 0
        sums[:] = 0
        counts[:] = 0
        last[:] = 0
        plain = present == lists.shape[1] and len(row_weight) == 0 and not ask
        if plain and table.kind[f] != CATEGORIES:
            left_rows[:] = 0.0
            _scan_plain(
                lists[f], words, mean, weight, np.float64(least), sums[0], left_rows, last, best[0],
                bar[0], at[0], best_left[0],
            )  # fmt: skip
        else:
            weights[:] = 0
            _add_missing(
                lists[f], present, words, row_weight, whole_weights, sums[1], weights[1], counts[1]
            )
            if table.kind[f] == CATEGORIES:
                scan_categories(
                    lists[f], present, table.values[f], words, row_weight, (SHIFT, SLOT, whole_weights),
                    level, least, least_weight, (sums[1], weights[1], counts[1]), scratch, counts[2],
                    found.arranged[f], best, at, best_left, CLEARLY,
                )  # fmt: skip
                for k in range(m - 1):
                    bar[0, k] = best[0, k] * CLEARLY
            else:
                _scan_full(
                    lists[f], present, words, row_weight, whole_weights, mean, weight, n_rows, least,
                    least_weight, sums[0], weights[0], counts[0], last, sums[1], weights[1],
                    counts[1], best, bar, at, best_left, counts[2],
                )  # fmt: skip
        for k in range(m - 1):
            side = np.int64(best[1, k] > bar[0, k])
            found.score[f, k], found.place[f, k] = best[side, k], at[side, k]
            found.on_left[f, k] = best_left[side, k]
            met = counts[1, k] > 0
            found.sizes[f, k] = counts[2, k]
            varies = counts[2, k] + np.int64(met) > 1
            found.flags[f, k] = LEFT * side | MET * np.int64(met) | VARIES * np.int64(varies)
