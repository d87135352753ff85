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
from arboretum.engine.compiler.decorators import leaf_kernel, plain_kernel, shared
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
    "has_room",
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
    present: np.ndarray  # (n_columns,) int64: how many of them have a value
    kind: np.ndarray  # (n_columns,) uint8: NUMBERS, RANKS or CATEGORIES
    n_codes: np.ndarray  # (n_columns,) int64: categories there are
    values: np.ndarray  # (n_columns, n_rows) float64, NaN where missing; categories: codes
    has_categories: bool
    charged: np.ndarray = _NO_CHARGE  # (n_columns,) bool: which categories are charged
    # columns of few values (counted.py); none of them, if that is left out
    codes: np.ndarray = _NO_CODES  # (n_lines, n_rows) uint16: columns, the code behind the last means
    # missing; then groups of columns, by combination of their codes
    coded: np.ndarray = _NO_COLUMN  # (n_columns,) int64: line of ``codes``, -1 for none
    n_values: np.ndarray = _NO_COLUMN  # (n_columns,) int64: codes there are
    value_of: np.ndarray = _NO_VALUES  # (n_coded, most codes) float64: what a code stands for
    line_size: np.ndarray = _NO_COLUMN  # (n_lines,) int64: codes or combinations there are
    joint: np.ndarray = _NO_COLUMN  # (n_columns,) int64: line of a column's group, -1 for none
    members: np.ndarray = _NO_COLUMN  # (n_members,) int64: the columns of every line
    first_member: np.ndarray = _NO_COLUMN  # (n_lines + 1,) int64: where those of a line begin
    part_code: np.ndarray = _NO_CODES  # (n_coded, most combinations) uint16: the column's code in each


class LevelBest(NamedTuple):
    """The best cut of every node of a level on every column, (columns, nodes)."""

    score: np.ndarray  # (n_columns, n_nodes) float64; -1 where there is no cut
    place: np.ndarray  # (n_columns, n_nodes) int64: the first entry on the right; or categories on the left
    on_left: np.ndarray  # (n_columns, n_nodes) float64: weight
    flags: np.ndarray  # (n_columns, n_nodes) int64: LEFT if missing ones go left, MET if there are any, VARIES
    arranged: np.ndarray  # (n_columns, n_rows) uint32: categories of the nodes in their order
    sizes: np.ndarray  # (n_columns, n_nodes) int64: categories a node has met; else of no use


class LevelScratch(NamedTuple):
    """What one thread searches with: a place for every node of a level, nobody's included."""

    columns: np.ndarray  # (n_columns,) int64: those that are searched the same way
    drawn: np.ndarray  # (n_columns,) int64: those that some node draws
    sums: np.ndarray  # (2, n_nodes) int64: on the left, and missing
    weights: np.ndarray  # (2, n_nodes) int64
    counts: np.ndarray  # (3, n_nodes) int64; the last: values that are met
    left_rows: np.ndarray  # (n_nodes,) float64
    last: np.ndarray  # (n_nodes,) uint64: the code of a node's last row
    best: np.ndarray  # (2, n_nodes) float64: missing values go right, and left
    bar: np.ndarray  # (2, n_nodes) float64
    place: np.ndarray  # (2, n_nodes) int64
    on_left: np.ndarray  # (2, n_nodes) float64
    left_code: np.ndarray  # (2, n_nodes) int64
    bars: np.ndarray  # (n_nodes,) float64: what a column must score to be a node's best
    cells: np.ndarray  # (5, n_cells, 4) int64, zeros: of four lines, and of a part of one
    lines: np.ndarray  # (n_columns,) int64: what is counted
    n_asked: np.ndarray  # (n_lines,) int64: how many columns of a line are looked at
    is_asked: np.ndarray  # (n_columns,) bool, all False
    groups: np.ndarray  # (5, n_groups) int64: of categories
    keys: np.ndarray  # (n_groups,) float64, as many
    numbers: np.ndarray  # (2, n_dealt) int64: weighted rows, node by node
    places: np.ndarray  # (n_dealt,) uint32, as many
    order: np.ndarray  # (n_nodes, n_columns) int64: columns in the order they are drawn in


def new_scratch(
    table: LevelTable, level: int, smallest_room: int, *, weighted: bool, draws: bool
) -> LevelScratch:
    """Return scratch for levels of so many nodes; ``smallest_room`` is what weighted rows need at least."""
    width, n = table.values.shape
    m = level + 1
    both = 2, m
    codes = int(table.line_size.max(initial=0))
    cells = min(m * codes, n // ROWS_PER_CELL)  # see `is_counted`
    groups = max(n if table.has_categories else 0, codes)
    dealt = max(n, smallest_room) if weighted else 0
    return LevelScratch(
        columns=np.empty(width, np.int64),
        drawn=np.empty(width, np.int64),
        sums=np.empty(both, np.int64),
        weights=np.empty(both, np.int64),
        counts=np.empty((3, m), np.int64),
        left_rows=np.empty(m),
        last=np.empty(m, np.uint64),
        best=np.empty(both),
        bar=np.empty(both),
        place=np.zeros(both, np.int64),
        on_left=np.zeros(both),
        left_code=np.zeros(both, np.int64),
        bars=np.empty(m),
        cells=np.zeros((5, cells, 4), np.int64),
        lines=np.empty(width, np.int64),
        n_asked=np.empty(len(table.line_size), np.int64),
        is_asked=np.zeros(width, np.bool_),
        groups=np.empty((5, groups), np.int64),
        keys=np.empty(groups),
        numbers=np.empty((2, dealt), np.int64),
        places=np.empty(dealt, np.uint32),
        order=np.empty((level if draws else 0, width), np.int64),
    )


@leaf_kernel
def _scan_plain(
    entries, words, mean, weight, least, left_sum, left, last, best, bar, place, on_left
):  # fmt: skip
    """Rows of weight 1, nothing missing: the loop most time is spent in.

    entries (n_rows,) uint32; words (n_rows,) int64; mean, weight (n_nodes,) float64; left_sum, place
    (n_nodes,) int64, updated; left, best, bar, on_left (n_nodes,) float64, updated; last (n_nodes,)
    uint64, updated.
    """
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
    """Add up the rows of every node that miss the column's value.

    entries (n_rows,) uint32; words (n_rows,) int64; row_weight (n_rows,) int64, or empty; missing_sum,
    missing_weight, missing_rows (n_nodes,) int64, added to.
    """
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
    """Weights and missing values; ``best`` and the like have a line for each side missing rows take.

    entries (n_rows,) uint32; words (n_rows,) int64; row_weight (n_rows,) int64, or empty; mean, weight
    (n_nodes,) float64; n_rows, missing_sum, missing_weight, missing_rows (n_nodes,) int64; left_sum,
    left_weight, left, values (n_nodes,) int64, updated; last (n_nodes,) uint64, updated; best, bar,
    on_left (2, n_nodes) float64, updated; place (2, n_nodes) int64, updated.
    """
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


@shared
def is_counted(table, f, m):
    """Tell whether a column is counted where a level has m nodes, nobody's included."""
    if len(table.coded) == 0 or table.coded[f] < 0:
        return False
    return has_room(table, m * (table.n_values[f] + 1))


@shared
def has_room(table, cells):
    """Tell whether there are rows enough for so many cells."""
    return cells * ROWS_PER_CELL <= table.values.shape[1]


# --------------------------------------------------------------------------- parts
# All have the same arguments:
#   table, columns        which to search
#   words, row_weight     of every row; no weights where every row weighs 1
#   level                 (mean on the grid, weight, rows) of every node; the last node is nobody's
#   rules                 (rows each side needs, weight each side needs, are weights whole?, tell which
#                         columns vary?, the smallest target on the grid for a step of weight)
#   scratch, found        LevelScratch; LevelBest, filled for the columns searched
@leaf_kernel
def _begin(scratch, m):
    """Forget what was found in the column before."""
    for k in range(m):
        for side in range(2):
            scratch.best[side, k], scratch.bar[side, k] = REFUSED, REFUSED
            scratch.place[side, k], scratch.on_left[side, k] = 0, 0.0
            scratch.sums[side, k], scratch.weights[side, k] = 0, 0
        scratch.counts[0, k], scratch.counts[1, k], scratch.counts[2, k] = 0, 0, 0
        scratch.last[k], scratch.left_rows[k] = 0, 0.0
    scratch.bar[0, m - 1] = np.inf
    scratch.bar[1, m - 1] = np.inf


@leaf_kernel
def _keep(f, scratch, m, found):
    """Write the better of both sides that missing values may take."""
    for k in range(m - 1):
        side = np.int64(scratch.best[1, k] > scratch.bar[0, k])
        found.score[f, k], found.place[f, k] = scratch.best[side, k], scratch.place[side, k]
        found.on_left[f, k], found.sizes[f, k] = scratch.on_left[side, k], scratch.counts[2, k]
        met = scratch.counts[1, k] > 0
        varies = scratch.counts[2, k] + np.int64(met) > 1
        found.flags[f, k] = LEFT * side | MET * np.int64(met) | VARIES * np.int64(varies)


@leaf_kernel
def _count_ends(entries, words, last, first, values):
    """Write 2 for nodes whose first and last value differ, 1 for others; every node but nobody's has rows.

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


@plain_kernel
def scan_plain(table, columns, words, row_weight, level, rules, scratch, found):
    """Search columns of numbers that miss none; rows weigh 1.

    columns (n_some,) int64; words (n_rows,) int64; row_weight (0,) int64; level (mean, weight, rows)
    (n_nodes,) float64, float64 and int64; rules (...) as above.
    """
    mean, weight, _ = level
    for f in columns:
        _begin(scratch, len(mean))
        _scan_plain(
            table.lists[f], words, mean, weight, np.float64(rules[0]), scratch.sums[0],
            scratch.left_rows, scratch.last, scratch.best[0], scratch.bar[0], scratch.place[0],
            scratch.on_left[0],
        )  # fmt: skip
        if rules[3]:
            _count_ends(
                table.lists[f], words, scratch.last, scratch.left_code[0],
                scratch.counts[2, : len(mean)],
            )  # fmt: skip
        _keep(f, scratch, len(mean), found)


@plain_kernel
def scan_full(table, columns, words, row_weight, level, rules, scratch, found):
    """Search any columns of numbers and ranks.

    columns (n_some,) int64; words (n_rows,) int64; row_weight (n_rows,) int64, or empty; level
    (mean, weight, rows) (n_nodes,) float64, float64 and int64.
    """
    mean, weight, n_rows = level
    least, least_weight, whole_weights, _, _ = rules
    sums, weights, counts = scratch.sums, scratch.weights, scratch.counts
    for f in columns:
        present = table.present[f]
        _begin(scratch, len(mean))
        _add_missing(
            table.lists[f],
            present,
            words,
            row_weight,
            whole_weights,
            sums[1],
            weights[1],
            counts[1],
        )
        _scan_full(
            table.lists[f], present, words, row_weight, whole_weights, mean, weight, n_rows, least,
            least_weight, sums[0], weights[0], counts[0], scratch.last, sums[1], weights[1], counts[1],
            scratch.best, scratch.bar, scratch.place, scratch.on_left, counts[2],
        )  # fmt: skip
        _keep(f, scratch, len(mean), found)


@plain_kernel
def scan_words(table, columns, words, row_weight, level, rules, scratch, found):
    """Search columns of categories.

    columns (n_some,) int64; words (n_rows,) int64; row_weight (n_rows,) int64, or empty; level
    (mean, weight, rows) (n_nodes,) float64, float64 and int64.
    """
    least, least_weight, whole_weights, _, _ = rules
    sums, weights, counts, m = scratch.sums, scratch.weights, scratch.counts, len(level[0])
    for f in columns:
        present = table.present[f]
        _begin(scratch, m)
        _add_missing(
            table.lists[f],
            present,
            words,
            row_weight,
            whole_weights,
            sums[1],
            weights[1],
            counts[1],
        )
        scan_categories(
            table.lists[f], present, table.values[f], words, row_weight, (SHIFT, SLOT, whole_weights),
            level, least, least_weight, (sums[1], weights[1], counts[1]), scratch, counts[2],
            found.arranged[f], CLEARLY,
        )  # fmt: skip
        for k in range(m - 1):
            scratch.bar[0, k] = scratch.best[0, k] * CLEARLY
        _keep(f, scratch, m, found)
