"""The columns of a table as presorted lists: the column blocks of XGBoost's exact method.

A list holds the rows that have a value, in the order of the values. Of a sparse matrix whose unstored entries
are missing, nothing but what is stored is ever looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.data.matrix import DenseMatrix, FrameMatrix, SparseMatrix
from arboretum.engine import parallel
from arboretum.engine.columns.lists import PADDING, Lists, take_rows
from arboretum.engine.columns.presort import sort_column
from arboretum.engine.compiler.decorators import writable
from arboretum.grow.columns import sort_columns

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["sort_lists", "values_at"]


def sort_lists(matrix: Matrix, n_jobs: int) -> Lists:
    """Return the rows that have a value, column by column, in the order of the values."""
    n, width = matrix.shape
    fill = matrix.fill if isinstance(matrix, SparseMatrix) else None
    if isinstance(matrix, SparseMatrix) and fill is not None and np.isnan(fill).all():
        return _sort_sparse(matrix, n_jobs)
    entries = np.zeros(width * n + PADDING, np.uint32)
    lists = entries[: width * n].reshape(width, n)
    present = sort_columns(matrix.column, (width, n), n_jobs, lists).present
    return Lists(entries, np.arange(width, dtype=np.int64)[:, None] * n, present[:, None])


def _sort_sparse(matrix: SparseMatrix, n_jobs: int) -> Lists:
    """`sort_lists` of what a sparse matrix stores."""
    stored = matrix.by_column
    start = stored.indptr.astype(np.int64)
    entries = np.zeros(start[-1] + PADDING, np.uint32)
    many = np.empty((matrix.n_columns, 1), np.int64)

    def sort(f: int) -> None:
        lo, hi = start[f], start[f + 1]
        values = np.array(stored.data[lo:hi], np.float64)
        order = np.empty(hi - lo, np.uint32)
        if hi > lo:
            sort_column(values, order)
        many[f] = hi - lo - np.count_nonzero(np.isnan(values))
        take_rows(order[: many[f, 0]], writable(stored.indices[lo:hi]), lo, entries)

    threads = parallel.threads_for(len(entries), parallel.SORT, n_jobs)
    parallel.run(sort, range(matrix.n_columns), threads)
    return Lists(entries, start[:-1, None].copy(), many)


def values_at(matrix: Matrix, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the values at (row, column) pairs, without making whole columns."""
    if isinstance(matrix, DenseMatrix):
        return matrix.at(rows, columns)
    if isinstance(matrix, FrameMatrix):
        return np.array([matrix.columns[f][row] for row, f in zip(rows, columns)], np.float64)
    assert isinstance(matrix, SparseMatrix)
    stored, values = matrix.by_column, np.zeros(len(rows))
    for i, (row, f) in enumerate(zip(rows, columns)):
        lo, hi = stored.indptr[f], stored.indptr[f + 1]
        at = lo + np.searchsorted(stored.indices[lo:hi], row)
        if at < hi and stored.indices[at] == row:
            values[i] = stored.data[at]
        elif matrix.fill is not None:
            values[i] = matrix.fill[f]
    return values
