"""Searching all nodes of a level in one pass per column, in an order that was sorted once per fit.

Boosting grows hundreds of small trees on the same table. Columns are sorted once (columns/presort.py) and
never moved again; a word per row has the number that the row adds and its node in the level:

    order of a column     7   2   9   4   0   5         rows, ascending by value
    node of the row       a   b   a   a   b   a
    cuts                  ·   ·  |a  |a  |b  |a         before each row whose value is new to its node

so one pass visits every cut of every node, with separate sums for each node. Rows out of the bag, or in nodes
that have become leaves, belong to an extra last node that is not searched. Sums are integers
(fixed_point.py), so the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.columns.presort import POSITION
from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.presorted.categories import scan_categories
from arboretum.engine.presorted.row_layout import (
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

__all__ = [
    "LevelBest",
    "LevelScratch",
    "LevelTable",
    "is_counted",
    "new_scratch",
    "scan_full",
    "scan_plain",
    "scan_words",
]

_NEW = np.uint32(31)
_NO_CODES, _NO_COLUMN = np.zeros((0, 0), np.uint16), np.zeros(0, np.int64)
_NO_VALUES, _NO_CHARGE = np.zeros((0, 0)), np.zeros(0, np.bool_)


class LevelTable(NamedTuple):
    """Columns sorted once per fit."""

    # (columns, rows of the bag) uint32, see columns/presort.py; categories by code
    lists: np.ndarray
    present: np.ndarray  # (n_columns,) int64: number of rows with a value
    kind: np.ndarray  # (n_columns,) uint8: NUMBERS, RANKS or CATEGORIES
    n_codes: np.ndarray  # (n_columns,) int64: number of categories
    values: np.ndarray  # (n_columns, n_rows) float64, NaN where missing; categories: codes
    has_categories: bool
    charged: np.ndarray = _NO_CHARGE  # (n_columns,) bool: which categories are charged
    # columns of few values (counted.py); none of them, if that is left out
    codes: np.ndarray = _NO_CODES  # (lines, rows) uint16: the code after the last means missing
    coded: np.ndarray = _NO_COLUMN  # (columns,) int64: line of ``codes``, -1 for none
    n_values: np.ndarray = _NO_COLUMN  # (columns,) int64: number of codes
    value_of: np.ndarray = _NO_VALUES  # (coded, codes) float64: the value of a code


class LevelBest(NamedTuple):
    """The best cut of every node of a level on every column, (columns, nodes)."""

    score: np.ndarray  # (n_columns, n_nodes) float64; -1 where there is no cut
    place: (
        np.ndarray
    )  # (n_columns, n_nodes) int64: the first entry on the right; or categories on the left
    on_left: np.ndarray  # (n_columns, n_nodes) float64: weight
    flags: (
        np.ndarray
    )  # (n_columns, n_nodes) int64: LEFT if missing values go left, MET if there are any, VARIES
    arranged: np.ndarray  # (n_columns, n_rows) uint32: categories of the nodes in their order
    sizes: np.ndarray  # (n_columns, n_nodes) int64: categories in a node; else of no use


class LevelScratch(NamedTuple):
    """Scratch arrays for a search, one per thread: a place for every node of a level, and one more."""

    columns: np.ndarray  # int64: columns that are searched in the same way
    drawn: np.ndarray  # int64: columns that some node draws
    left_sum: np.ndarray  # (nodes,) int64: sum over the rows before the cut
    left_weight: np.ndarray  # (nodes,) int64: their weight
    left: np.ndarray  # (nodes,) int64: their number
    missing_sum: np.ndarray  # (nodes,) int64: the same for rows with a missing value
    missing_weight: np.ndarray  # (nodes,) int64
    missing_rows: np.ndarray  # (nodes,) int64
    values: np.ndarray  # int64: number of values that occur in a node
    start: np.ndarray  # int64: where a node's rows or categories begin
    at: (
        np.ndarray
    )  # int64: where its next row goes; for categories, nodes that contain the current category
    left_rows: np.ndarray  # (nodes,) float64: ``left`` where rows weigh 1
    last: np.ndarray  # uint64: the code of a node's last row
    best: np.ndarray  # (2, nodes) float64: missing values go right, and left
    bar: np.ndarray  # (2, nodes) float64
    place: np.ndarray  # (2, nodes) int64
    on_left: np.ndarray  # (2, nodes) float64
    left_code: np.ndarray  # (2, nodes) int64
    bars: np.ndarray  # float64: the score a column must reach to be a node's best
    cells: np.ndarray  # (nodes and codes, 4) int64, zeros: sum, weight and rows of each
    group_code: np.ndarray  # (rows or codes,) int64: categories of the nodes, one after the other,
    group_sum: np.ndarray  # int64, same length: the sums of their rows
    group_weight: np.ndarray  # int64: the weights of their rows
    group_rows: np.ndarray  # int64: the numbers of their rows
    group_order: np.ndarray  # int64: the order in which they are cut
    keys: np.ndarray  # float64, same length: the sort keys
    numbers: np.ndarray  # int64: the numbers that weighted rows add, node by node
    row_weights: np.ndarray  # int64: their weights
    places: np.ndarray  # uint32: their places in the list
    order: np.ndarray  # (nodes, columns) int64: columns in the order they are drawn in


def new_scratch(table: LevelTable, level: int, *, weighted: bool, draws: bool) -> LevelScratch:
    """Return scratch for levels of ``level`` nodes."""
    width, n = table.values.shape
    m = level + 1
    both = 2, m
    codes = 1 + int(table.n_values[table.coded >= 0].max(initial=0))
    cells = min(m * codes, n // ROWS_PER_CELL)  # see `is_counted`
    groups = max(n if table.has_categories else 0, codes)
    dealt = n if weighted else 0
    return LevelScratch(
        columns=np.empty(width, np.int64),
        drawn=np.empty(width, np.int64),
        left_sum=np.empty(m, np.int64),
        left_weight=np.empty(m, np.int64),
        left=np.empty(m, np.int64),
        missing_sum=np.empty(m, np.int64),
        missing_weight=np.empty(m, np.int64),
        missing_rows=np.empty(m, np.int64),
        values=np.empty(m, np.int64),
        start=np.empty(m, np.int64),
        at=np.empty(m, np.int64),
        left_rows=np.empty(m),
        last=np.empty(m, np.uint64),
        best=np.empty(both),
        bar=np.empty(both),
        place=np.zeros(both, np.int64),
        on_left=np.zeros(both),
        left_code=np.zeros(both, np.int64),
        bars=np.empty(m),
        cells=np.zeros((cells, 4), np.int64),
        group_code=np.empty(groups, np.int64),
        group_sum=np.empty(groups, np.int64),
        group_weight=np.empty(groups, np.int64),
        group_rows=np.empty(groups, np.int64),
        group_order=np.empty(groups, np.int64),
        keys=np.empty(groups),
        numbers=np.empty(dealt, np.int64),
        row_weights=np.empty(dealt, np.int64),
        places=np.empty(dealt, np.uint32),
        order=np.empty((level if draws else 0, width), np.int64),
    )


@subkernel
def _scan_plain(entries, limits, work, scratch):
    """Scan rows of weight 1 without missing values: the loop that takes most of the time.

    entries (n_rows,) uint32.
    """
    words, mean, weight, least = work.words, work.mean, work.weight, np.float64(limits.samples_leaf)
    left_sum, left, last = scratch.left_sum, scratch.left_rows, scratch.last
    best, bar = scratch.best[0], scratch.bar[0]
    place, on_left = scratch.place[0], scratch.on_left[0]
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


@subkernel
def _add_missing(entries, present, rows, limits, work, scratch):
    """Add up the rows of every node that have a missing value in the column.

    entries (n_rows,) uint32.
    """
    words, row_weight, whole_weights = work.words, rows.row_weight, limits.whole_weights
    missing_sum, missing_weight = scratch.missing_sum, scratch.missing_weight
    missing_rows = scratch.missing_rows
    for i in range(present, len(entries)):
        row = np.uint64(entries[i] & POSITION)
        k = np.uint64(words[row]) & SLOT
        w = row_weight[row] if len(row_weight) else np.int64(1)
        missing_sum[k] += (words[row] >> SHIFT) * (w if whole_weights else np.int64(1))
        missing_weight[k] += w
        missing_rows[k] += 1


@subkernel
def _scan_full(entries, present, rows, limits, work, scratch):
    """Weights and missing values; ``scratch.best`` and others have a line for each side of missing rows.

    entries (n_rows,) uint32.
    """
    words, row_weight, whole_weights = work.words, rows.row_weight, limits.whole_weights
    mean, weight, n_rows, m = work.mean, work.weight, work.rows, work.n_open[0] + 1
    least, least_weight = limits.samples_leaf, limits.least_weight
    left_sum, left_weight, left = scratch.left_sum, scratch.left_weight, scratch.left
    missing_sum, missing_weight = scratch.missing_sum, scratch.missing_weight
    missing_rows, last, values = scratch.missing_rows, scratch.last, scratch.values
    best, bar, place, on_left = scratch.best, scratch.bar, scratch.place, scratch.on_left
    code = np.uint64(0)
    for i in range(present + 1):
        k, number, w = np.uint64(0), np.int64(0), np.int64(0)
        first, end = np.int64(0), np.int64(m)  # after the last row: cuts of all nodes
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


@subkernel
def is_counted(table, f, m):
    """Return whether a column is counted where a level has m nodes, the last one included."""
    if len(table.coded) == 0 or table.coded[f] < 0:
        return False
    return m * (table.n_values[f] + 1) * ROWS_PER_CELL <= table.values.shape[1]


# --------------------------------------------------------------------------- parts
# All have the same arguments:
#   table, columns        which to search
#   rows, limits, work    LevelRows, Limits, LevelWork of grow.py: weights, what each side needs, words of
#                         the rows with mean, weight and rows of the level's nodes; the last is not searched
#   scratch, found        LevelScratch; LevelBest, filled for the columns searched
@subkernel
def _begin(scratch, m):
    """Reset the results of the previous column."""
    for k in range(m):
        for side in range(2):
            scratch.best[side, k], scratch.bar[side, k] = REFUSED, REFUSED
            scratch.place[side, k], scratch.on_left[side, k] = 0, 0.0
        scratch.left_sum[k], scratch.left_weight[k], scratch.left[k] = 0, 0, 0
        scratch.missing_sum[k], scratch.missing_weight[k], scratch.missing_rows[k] = 0, 0, 0
        scratch.values[k] = 0
        scratch.last[k], scratch.left_rows[k] = 0, 0.0
    scratch.bar[0, m - 1] = np.inf
    scratch.bar[1, m - 1] = np.inf


@subkernel
def _keep(f, scratch, m, found):
    """Write the better of the two sides that missing values may go to."""
    for k in range(m - 1):
        side = np.int64(scratch.best[1, k] > scratch.bar[0, k])
        found.score[f, k], found.place[f, k] = scratch.best[side, k], scratch.place[side, k]
        found.on_left[f, k], found.sizes[f, k] = scratch.on_left[side, k], scratch.values[k]
        met = scratch.missing_rows[k] > 0
        varies = scratch.values[k] + np.int64(met) > 1
        found.flags[f, k] = LEFT * side | MET * np.int64(met) | VARIES * np.int64(varies)


@subkernel
def _count_ends(entries, words, last, first, values):
    """Write 2 for nodes whose first and last value differ, 1 for others; every node but the last has rows.

    entries (n_rows,) uint32; words (n_rows,) int64; last (n_nodes,) uint64; first (n_nodes,) int64,
    scratch; values (n_nodes,) int64, written.
    """
    m, code, unmet = len(values), np.uint64(0), len(values) - 1
    for k in range(m):
        first[k] = 0
    for i in range(len(entries)):
        if unmet == 0:
            break
        entry = entries[i]
        code += np.uint64(entry >> _NEW)
        k = np.uint64(words[np.uint64(entry & POSITION)]) & SLOT
        if first[k] == 0:
            first[k] = np.int64(code)
            unmet -= np.int64(k < np.uint64(m - 1))
    for k in range(m - 1):
        values[k] = 1 + np.int64(np.uint64(first[k]) != last[k])


@kernel
def scan_plain(table, columns, rows, limits, work, scratch, found):
    """Search numeric columns without missing values; rows weigh 1."""
    m = work.n_open[0] + 1
    for f in columns:
        _begin(scratch, m)
        _scan_plain(table.lists[f], limits, work, scratch)
        if limits.columns > 0:
            _count_ends(
                table.lists[f], work.words, scratch.last, scratch.left_code[0], scratch.values[:m]
            )
        _keep(f, scratch, m, found)


@kernel
def scan_full(table, columns, rows, limits, work, scratch, found):
    """Search any columns of numbers and ranks."""
    m = work.n_open[0] + 1
    for f in columns:
        _begin(scratch, m)
        _add_missing(table.lists[f], table.present[f], rows, limits, work, scratch)
        _scan_full(table.lists[f], table.present[f], rows, limits, work, scratch)
        _keep(f, scratch, m, found)


@kernel
def scan_words(table, columns, rows, limits, work, scratch, found):
    """Search columns of categories."""
    m = work.n_open[0] + 1
    for f in columns:
        _begin(scratch, m)
        _add_missing(table.lists[f], table.present[f], rows, limits, work, scratch)
        scan_categories(table, f, rows, limits, work, scratch, found.arranged[f])
        for k in range(m - 1):
            scratch.bar[0, k] = scratch.best[0, k] * CLEARLY
        _keep(f, scratch, m, found)
