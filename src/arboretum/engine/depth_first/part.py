"""Parting the rows of a node: those that go left first, in their order, and so their targets.

rows   7 2 9 4 5 1        a cut puts the left rows first:      7 9 5 | 2 4 1
root   ^         ^                                             left    right
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.by_address import call_at
from arboretum.engine.compiler.decorators import addressed, inline, subkernel
from arboretum.engine.depth_first.counts import take_categories

__all__ = ["move", "move_sum", "move_targets", "part_categories", "part_numbers", "part_rows"]

_ONE = np.uint64(1)
_SMALLEST = np.uint64(1 << 63)  # of signed numbers, as it is written


@subkernel
def move(values, start, n, side_of, spare):
    """Put the values that go left first, in their order.

    values (n_rows,) uint32, updated; side_of (at least n,) uint8; spare (at least n,) uint32,
    scratch.
    """
    at, others = start, np.uint64(0)
    for i in range(n):
        v, goes = values[start + np.uint64(i)], np.uint64(side_of[i])
        values[at] = v
        spare[others] = v
        at += goes
        others += _ONE - goes
    for i in range(np.int64(others)):
        values[at + np.uint64(i)] = spare[i]


@subkernel
def move_sum(values, start, n, side_of, spare):
    """`move`; return the sum of those that went left.

    values (n_rows,) int64, updated; side_of (at least n,) uint8; spare (at least n,) int64, scratch.
    """
    at, others, total = start, np.uint64(0), np.int64(0)
    for i in range(n):
        v, goes = values[start + np.uint64(i)], np.uint64(side_of[i])
        values[at] = v
        spare[others] = v
        at += goes
        others += _ONE - goes
        total += v & -np.int64(goes)
    for i in range(np.int64(others)):
        values[at + np.uint64(i)] = spare[i]
    return total


@subkernel
def part_rows(table, column, missing_value, last, side, rows, start, n, spare, side_of):
    """Put the rows up to ``last`` first; return (how many, was a value missing?).

    A missing value is the largest there is. Where it goes left, values are turned round until it is the
    smallest: so nothing is asked of a row but whether it is up to ``last``. ``side_of`` says for every row
    whether it goes left: its weight and target follow.

    table (n_columns * n_rows,) int32 or int64 or uint16 or uint32; rows (n_rows,) uint32, updated;
    spare (at least n,) uint32, scratch; side_of (at least n,) uint8, written.
    """
    left, largest, turn = np.uint64(0), np.int64(last), np.uint64(0)
    if side:
        turn = _SMALLEST - np.uint64(missing_value)
    until = np.int64(np.uint64(last) + turn)
    for i in range(np.uint64(n)):
        row = rows[start + i]
        code = np.int64(table[column + row])
        goes = np.uint64(np.int64(np.uint64(code) + turn) <= until)
        largest = max(largest, code)
        side_of[i] = goes
        rows[start + left] = row
        spare[i - left] = row
        left += goes
    for i in range(np.uint64(n) - left):
        rows[start + left + i] = spare[i]
    return np.int64(left), largest >= missing_value


@addressed
def part_numbers(columns, bench, rows):
    """Part the rows of a node as its search has found; the node is told how many went left.

    rows (n_rows,) uint32, updated.
    """
    node, scratch = bench.node[0], bench.scratch
    f = np.uint64(node.feature)
    node.many, node.missing = part_rows(
        columns.values, f * columns.step, bench.features.missing[f], node.last, node.side, rows,
        node.start, node.n, scratch.spare_row, scratch.side_of,
    )  # fmt: skip


# --------------------------------------------------------------------------- categories
@subkernel
def _mark(codes, column, missing_code, takes, side, rows, start, n, side_of):
    """Write which rows go left; return (how many, was a value missing?).

    codes (n_columns * n_rows,) uint16 or uint32; takes (most codes + 1,) uint8; rows (n_rows,)
    uint32; side_of (at least n,) uint8, written.
    """
    missing, many = np.int64(0), np.int64(0)
    for i in range(n):
        code = np.uint64(codes[column + rows[start + np.uint64(i)]])
        lost = np.int64(code == missing_code)
        goes = side if lost else np.int64(takes[code])
        side_of[i] = goes
        missing |= lost
        many += goes
    return many, missing > 0


@addressed
def part_categories(columns, bench, rows):
    """`part_numbers` for a category: what was chosen is found anew from the node's rows.

    rows (n_rows,) uint32, updated.
    """
    node, counter = bench.node[0], bench.counter
    f, side_of = np.uint64(node.feature), bench.scratch.side_of
    call_at(bench.parts.count, (columns, bench, rows, f))
    call_at(bench.parts.order, (bench, f))
    take_categories(node.met, node.last, node.subsets != 0, counter.seen, counter.takes)
    node.many, node.missing = _mark(
        columns.values, f * columns.step, bench.features.n_codes[f], counter.takes, node.side, rows,
        node.start, node.n, side_of,
    )  # fmt: skip
    move(rows, node.start, node.n, side_of, bench.scratch.spare_row)


# --------------------------------------------------------------------------- targets follow
@inline
def move_targets(label, number, start, n, scratch):
    """Let the targets follow their rows; return the sum of the first output on the left.

    label (n_outputs, n_rows) uint32, updated, or None; number (n_outputs, n_rows) int64, updated, or
    None.
    """
    left_sum = np.int64(0)
    if label is not None:
        for o in range(len(label)):
            move(label[o], start, n, scratch.side_of, scratch.spare_row)
    if number is not None:
        left_sum = move_sum(number[0], start, n, scratch.side_of, scratch.spare_sum)
        for o in range(1, len(number)):
            move_sum(number[o], start, n, scratch.side_of, scratch.spare_sum)
    return left_sum
