"""Splitting the rows of a node: those that go left first, in their order, and so their targets.

rows   7 2 9 4 5 1        a cut puts the left rows first:      7 9 5 | 2 4 1
root   ^         ^                                             left    right
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.by_address import call_at
from arboretum.engine.compiler.decorators import addressed, inline, subkernel

__all__ = ["move", "move_sum", "move_targets", "split_by_number", "split_by_set"]

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


# --------------------------------------------------------------------------- which rows go left
@addressed
def split_by_number(columns, bench, rows):
    """Put the rows up to ``node.last`` first; write how many they are, and whether a value is missing.

    A missing value is the largest there is. Where it goes left, values are rotated until it is the
    smallest: so every row takes one comparison with ``last``. ``scratch.side_of`` is 1 for every row that
    goes left: its weight and target follow.

    rows (n_rows,) uint32, updated.
    """
    node, values, start = bench.node[0], columns.values, bench.node[0].start
    spare, side_of = bench.scratch.spare_row, bench.scratch.side_of
    f = np.uint64(node.feature)
    column, missing_value = f * columns.step, bench.features.missing[f]
    left, largest, turn = np.uint64(0), node.last, np.uint64(0)
    if node.side:
        turn = _SMALLEST - np.uint64(missing_value)
    until = np.int64(np.uint64(node.last) + turn)
    for i in range(np.uint64(node.n)):
        row = rows[start + i]
        code = np.int64(values[column + row])
        goes = np.uint64(np.int64(np.uint64(code) + turn) <= until)
        largest = max(largest, code)
        side_of[i] = goes
        rows[start + left] = row
        spare[i - left] = row
        left += goes
    for i in range(np.uint64(node.n) - left):
        rows[start + left + i] = spare[i]
    node.many, node.missing = np.int64(left), largest >= missing_value


@addressed
def split_by_set(columns, bench, rows):
    """`split_by_number` for a category: the categories that go left are found again from the node's rows.

    rows (n_rows,) uint32, updated.
    """
    node, counter, codes, side_of = (
        bench.node[0],
        bench.counter,
        columns.values,
        bench.scratch.side_of,
    )
    f, start, side, takes = np.uint64(node.feature), node.start, node.side, counter.takes
    column, missing_code = f * columns.step, np.uint64(bench.features.n_codes[f])
    call_at(bench.kernels.count, (columns, bench, rows, f))
    call_at(bench.kernels.order, (bench, f))
    for i in range(node.seen):
        goes = (node.last >> i) & 1 if node.subsets else np.int64(i < node.last)
        takes[np.uint64(counter.seen[i])] = np.uint8(goes)
    missing, many = np.int64(0), np.int64(0)
    for i in range(node.n):
        code = np.uint64(codes[column + rows[start + np.uint64(i)]])
        lost = np.int64(code == missing_code)
        goes = side if lost else np.int64(takes[code])
        side_of[i] = goes
        missing |= lost
        many += goes
    node.many, node.missing = many, missing
    move(rows, start, node.n, side_of, bench.scratch.spare_row)
