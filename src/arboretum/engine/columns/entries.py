"""Entries of a sparse table, from rows to columns: the kernels behind grow/bins/sparse.py.

    by row      row 0: (2, 7.0)              by column     column 0: (1, 3.0)
                row 1: (0, 3.0) (2, 7.0)                   column 2: (0, 7.0) (1, 7.0)

One pass counts the entries of every column, so that it is known where each begins; another writes them
there, as they are or as codes of bins. Nothing else is kept: a code takes a byte where a value takes four
or eight.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.bins import code_of
from arboretum.engine.compiler.decorators import kernel

__all__ = ["code_columns", "code_rows", "count_entries", "turn_rows"]


@kernel
def count_entries(indptr, indices, rows, counts):
    """Add the entries that each column has in some rows to ``counts``.

    indptr (n_rows + 1,) int32 or int64; indices (n_entries,) int32 or int64; rows (n_taken,) int64;
    counts (n_columns,) int64, added to.
    """
    for k in range(len(rows)):
        for e in range(indptr[rows[k]], indptr[rows[k] + 1]):
            counts[indices[e]] += 1


@kernel
def turn_rows(indptr, indices, data, rows, at, row_of, values):
    """Write the entries of some rows by column; those of column f from ``at[f]`` on, which moves.

    indptr (n_rows + 1,) int32 or int64; indices (n_entries,) int32 or int64; data (n_entries,) float32
    or float64; rows (n_taken,) int64; at (n_columns,) int64, updated; row_of (n_taken_entries,) int32,
    written; values (n_taken_entries,) float64, written.
    """
    for k in range(len(rows)):
        for e in range(indptr[rows[k]], indptr[rows[k] + 1]):
            place = at[indices[e]]
            row_of[place], values[place] = k, data[e]
            at[indices[e]] = place + 1


@kernel
def code_rows(indptr, indices, data, tables, at, row_of, codes):
    """`turn_rows` of all rows, with the codes of values.

    indptr (n_rows + 1,) int32 or int64; indices (n_entries,) int32 or int64; data (n_entries,) float32
    or float64; at (n_columns,) int64, updated; row_of (n_entries,) int32, written; codes (n_entries,)
    uint8 or uint16, written.
    """
    for row in range(len(indptr) - 1):
        for e in range(indptr[row], indptr[row + 1]):
            f = indices[e]
            place = at[f]
            row_of[place], codes[place] = row, code_of(np.float64(data[e]), tables, f)
            at[f] = place + 1


@kernel
def code_columns(indptr, data, tables, codes):
    """Write the codes of entries that stand by column.

    indptr (n_columns + 1,) int32 or int64; data (n_entries,) float32 or float64; codes (n_entries,)
    uint8 or uint16, written.
    """
    for f in range(len(indptr) - 1):
        for e in range(indptr[f], indptr[f + 1]):
            codes[e] = code_of(np.float64(data[e]), tables, f)
