"""The entries of a sparse table by column, as values of some rows or as codes of all.

Bins are found and coded column by column, while tables mostly come by row. A second form of the whole table
would take as much memory again; what is kept instead is a row number and a code per entry, until the codes
of the storage columns are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.data.matrix import SparseMatrix

if TYPE_CHECKING:
    from arboretum.engine.columns.bins import BinTables

__all__ = ["CodedEntries", "code_entries", "rows_by_column"]


class CodedEntries(NamedTuple):
    """What a sparse table stores, as codes of bins; those of column f are ``start[f]:start[f + 1]``."""

    n_rows: int
    start: np.ndarray  # (columns + 1,) integers
    rows: np.ndarray  # of every entry, integers of 32 bits or more
    codes: np.ndarray  # uint8 or uint16
    absent: np.ndarray  # (columns,) the code of what is not stored

    @property
    def n_columns(self) -> int:
        return len(self.absent)

    def of(self, f: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of a column's entries, and their codes."""
        span = slice(self.start[f], self.start[f + 1])
        return self.rows[span], self.codes[span]

    def dense(self, f: int) -> np.ndarray:
        """Return the codes of all rows of a column."""
        rows, codes = self.of(f)
        line = np.full(self.n_rows, self.absent[f], self.codes.dtype)
        line[rows] = codes
        return line


def rows_by_column(matrix: SparseMatrix, rows: np.ndarray | None) -> SparseMatrix:
    """Return some rows of a table (None: all) by column; of one by row there is no second form to keep.

    >>> import scipy.sparse as sp
    >>> table = SparseMatrix(sp.csr_matrix([[0.0, 2.0], [3.0, 0.0], [4.0, 5.0]]))
    >>> rows_by_column(table, np.array([0, 2])).by_column.toarray().tolist()
    [[0.0, 2.0], [4.0, 5.0]]
    """
    from scipy.sparse import csc_matrix

    from arboretum.engine.columns.entries import turn_rows

    if not matrix.is_by_row:
        return matrix if rows is None else matrix.take(rows)
    these = np.arange(matrix.n_rows) if rows is None else rows
    entries = _arrays(matrix.by_row)
    start = _starts(entries, these, matrix.n_columns)
    row_of, values = np.empty(start[-1], np.int32), np.empty(start[-1], entries[2].dtype)
    turn_rows(*entries, these, start[:-1].copy(), row_of, values)
    found = csc_matrix((values, row_of, start), (len(these), matrix.n_columns))
    return SparseMatrix(found, matrix.fill)


def code_entries(
    matrix: SparseMatrix, tables: BinTables, absent: np.ndarray, dtype: Any
) -> CodedEntries:
    """Code what a table stores."""
    from arboretum.engine.columns.entries import code_columns, code_rows

    if matrix.is_by_row:
        entries = _arrays(matrix.by_row)
        start = _starts(entries, np.arange(matrix.n_rows), matrix.n_columns)
        rows, codes = np.empty(start[-1], np.int32), np.empty(start[-1], dtype)
        code_rows(*entries, tables, start[:-1].copy(), rows, codes)
        return CodedEntries(matrix.n_rows, start, rows, codes, absent)
    stored = matrix.by_column
    indptr, rows, data = _arrays(stored)
    codes = np.empty(len(data), dtype)
    code_columns(indptr, data, tables, codes)
    return CodedEntries(matrix.n_rows, indptr, rows, codes, absent)


def _arrays(stored: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the three arrays of a sparse matrix as kernels take them."""
    from arboretum.engine.compiler.decorators import writable

    return writable(stored.indptr), writable(stored.indices), writable(stored.data)


def _starts(
    entries: tuple[np.ndarray, np.ndarray, np.ndarray], rows: np.ndarray, n_columns: int
) -> np.ndarray:
    """Return where the entries of every column begin, and the end."""
    from arboretum.engine.columns.entries import count_entries

    start = np.zeros(n_columns + 1, np.int64)
    count_entries(*entries[:2], rows, start[1:])
    return np.cumsum(start)
