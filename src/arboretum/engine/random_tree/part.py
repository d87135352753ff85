"""Parting the rows of a node: those that go left first, in their order, and so their targets.

rows   7 2 9 4 5 1        a cut puts the left rows first:      7 9 5 | 2 4 1
root   ^         ^                                             left    right
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.jit import joined_kernel, leaf_kernel
from arboretum.engine.random_tree.counts import count_codes, order_categories, take_categories
from arboretum.engine.random_tree.toss import missing_of, part_tossed

__all__ = ["move", "move_sum", "part_categories", "part_numbers"]

_ONE = np.uint64(1)


@leaf_kernel
def move(values, start, n, side_of, spare):
    """Put the values that go left first, in their order."""
    at, others = start, np.uint64(0)
    for i in range(n):
        v, goes = values[start + np.uint64(i)], np.uint64(side_of[i])
        values[at] = v
        spare[others] = v
        at += goes
        others += _ONE - goes
    for i in range(np.int64(others)):
        values[at + np.uint64(i)] = spare[i]


@leaf_kernel
def move_sum(values, start, n, side_of, spare):
    """`move`; return the sum of those that went left."""
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


@leaf_kernel
def _part(table, column, missing_code, last, rows, start, n, spare, side_of):
    """Missing values, the largest there are, go right; return how many go left, and the largest value."""
    left, largest = np.uint64(0), np.int64(last)
    for i in range(np.uint64(n)):
        row = rows[start + i]
        code = np.int64(table[column + row])
        goes = np.uint64(code <= last)
        largest = max(largest, code)
        side_of[i] = goes
        rows[start + left] = row
        spare[i - left] = row
        left += goes
    for i in range(np.uint64(n) - left):
        rows[start + left + i] = spare[i]
    return np.int64(left), largest >= missing_code


@leaf_kernel
def _part_gaps(table, column, missing_code, last, rows, start, n, spare, side_of):
    """`_part` where missing values go left."""
    left, missing = np.uint64(0), np.int64(0)
    for i in range(np.uint64(n)):
        row = rows[start + i]
        code = np.int64(table[column + row])
        lost = np.int64(code == missing_code)
        goes = np.uint64(np.int64(code <= last) | lost)
        missing |= lost
        side_of[i] = goes
        rows[start + left] = row
        spare[i - left] = row
        left += goes
    for i in range(np.uint64(n) - left):
        rows[start + left + i] = spare[i]
    return np.int64(left), missing > 0


@joined_kernel
def _part_by(table, column, missing_code, last, side, rows, start, n, spare, side_of):
    if side:
        return _part_gaps(table, column, missing_code, last, rows, start, n, spare, side_of)
    return _part(table, column, missing_code, last, rows, start, n, spare, side_of)


@joined_kernel
def part_numbers(codes, values, column, n_codes, last, side, rows, start, n, spare, side_of):
    """Put the rows up to code or value ``last`` first; return (how many, was a value missing?).

    ``side_of`` says for every row of the node whether it goes left: its weight and target follow.
    """
    many, missing = np.int64(0), False
    if values is not None:
        missing_code = np.int64(missing_of(values))
        many, missing = _part_by(
            values, column, missing_code, last, side, rows, start, n, spare, side_of
        )
    if codes is not None:
        many, missing = _part_by(codes, column, n_codes, last, side, rows, start, n, spare, side_of)
    return many, missing


# --------------------------------------------------------------------------- categories
@leaf_kernel
def _mark(codes, column, missing_code, takes, side, rows, start, n, side_of):
    missing, many = np.int64(0), np.int64(0)
    for i in range(n):
        code = np.uint64(codes[column + rows[start + np.uint64(i)]])
        lost = np.int64(code == missing_code)
        goes = side if lost else np.int64(takes[code])
        side_of[i] = goes
        missing |= lost
        many += goes
    return many, missing > 0


@joined_kernel
def part_categories(
    codes, values, column, f, n_codes, last, side, rows, start, n, label, number, weight, total,
    node_weight, node_key, rules, tag, cells, seen, key, axis, takes, spare, side_of,
):  # fmt: skip
    """`part_numbers` for a category: what was chosen is found anew from the node's rows.

    ``last`` is the place of `walk_counts`, or of a random division the last raised code on the left.
    """
    many, missing = np.int64(0), False
    if values is not None:
        many, missing = part_tossed(
            values, column, f, n_codes, last, side, rows, start, n, node_key, spare, side_of
        )
    if codes is not None:
        m = count_codes(
            codes, column, rows, start, n, label, number, weight, len(total), tag, cells, seen
        )
        m, subsets = order_categories(
            m, n_codes, cells, seen, key, axis, total, node_weight, label is not None, rules
        )
        take_categories(m, last, subsets, seen, takes)
        many, missing = _mark(codes, column, n_codes, takes, side, rows, start, n, side_of)
        move(rows, start, n, side_of, spare)
    return many, missing
