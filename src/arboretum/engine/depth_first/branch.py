"""A small branch of a large table gets a copy of its rows, each in one piece.

Whatever is grown from the branch finds them in the cache. They are numbered by where their values begin:

    rows of the branch  7 2 9       copy  f0 f1 f2 | f0 f1 f2 | f0 f1 f2       rows 0 3 6, origin 7 2 9
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.atomic import prefetch
from arboretum.engine.compiler.decorators import addressed, subkernel

__all__ = ["copy_rows", "go_back", "number_anew"]

_AHEAD = np.uint64(16)  # rows that are prefetched before they are copied


@subkernel
def _gather(near, table, rows, start, end):
    """Copy the rows that stand from start to end, value by value.

    near (room, n_columns) int64, written; table (n_rows, n_columns) int64; rows (n_rows,) uint32.
    """
    width, last = np.uint64(table.shape[1]), np.uint64(end - 1)
    line = np.uint64(64 // table.itemsize)
    for p in range(np.uint64(start), np.uint64(end)):
        row, at = np.uint64(rows[p]), p - np.uint64(start)
        ahead = np.uint64(rows[min(p + _AHEAD, last)])
        for f in range(np.uint64(0), width, line):
            prefetch(table, ahead, f)
        for f in range(width):
            near[at, f] = table[row, f]


@addressed
def copy_rows(far, near, rows, start, end):
    """Copy the rows that stand from start to end.

    rows (n_rows,) uint32.
    """
    _gather(near.by_row, far.by_row, rows, start, end)


@subkernel
def number_anew(rows, start, end, width, origin):
    """Number the rows of a branch by where their values begin in the copy.

    rows (n_rows,) uint32, updated; origin (room,) uint32, written.
    """
    for p in range(start, end):
        origin[p - start], rows[p] = rows[p], (p - start) * width


@subkernel
def go_back(rows, start, end, width, origin):
    """Give the rows of a branch their own numbers again.

    rows (n_rows,) uint32, updated; origin (room,) uint32.
    """
    for p in range(start, end):
        rows[p] = origin[rows[p] // np.uint32(width)]
