"""Encoded data as the engine reads it: numbers only, by column or by block of rows.

Categories and ordinal words are their codes, missing is NaN. Three forms with one interface:

    DenseMatrix    a 2-D array of any real dtype and layout, wrapped without a copy
    FrameMatrix    one 1-D array per column, as dataframes keep them
    SparseMatrix   scipy.sparse; only the requested column or rows are ever made dense

The results of `column` and `rows` may be the stored data itself: read them, do not write to them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["DenseMatrix", "FrameMatrix", "Matrix", "SparseMatrix"]


class Matrix(ABC):
    """Encoded data of ``n_rows`` rows and ``n_columns`` columns."""

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def n_rows(self) -> int:
        return self.shape[0]

    @property
    def n_columns(self) -> int:
        return self.shape[1]

    @abstractmethod
    def column(self, f: int, out: np.ndarray | None = None) -> np.ndarray:
        """Return column ``f`` as a contiguous float64 array. Do not write to it.

        ``out``: n_rows float64 to use if the column has to be copied.
        """

    @abstractmethod
    def rows(self, lo: int, hi: int) -> np.ndarray:
        """Return rows ``lo:hi`` as a C-contiguous float64 block. Do not write to it."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> Matrix:
        """Return the matrix of these rows, in this order; a row may be repeated."""

    def at(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the single values at these (row, column) pairs as float64."""
        values = np.empty(len(rows), dtype=np.float64)
        order = columns.argsort(kind="stable")
        column, row = columns.take(order), rows.take(order)
        changes = (column[1:] != column[:-1]).nonzero()[0] + 1
        ends = [*changes.tolist(), len(order)] if len(order) else []
        for start, end in zip([0, *ends], ends):
            values[order[start:end]] = self._some(int(column[start]), row[start:end])
        return values

    def _some(self, f: int, rows: np.ndarray) -> np.ndarray:
        """Return some values of a column."""
        return self.column(f)[rows]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_rows} rows × {self.n_columns} columns)"


def _contiguous(values: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    if out is None or (values.dtype == np.float64 and values.flags.c_contiguous):
        return np.ascontiguousarray(values, dtype=np.float64)
    out[:] = values
    return out


class DenseMatrix(Matrix):
    """A 2-D array of any real dtype and layout, never copied as a whole.

    Examples
    --------
    >>> import numpy as np
    >>> m = DenseMatrix(np.array([[1, 2], [3, 4]], dtype=np.int8))
    >>> m.column(1), m.rows(1, 2)
    (array([2., 4.]), array([[3., 4.]]))
    """

    __slots__ = ("values",)

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape

    def column(self, f: int, out: np.ndarray | None = None) -> np.ndarray:
        return _contiguous(self.values[:, f], out)

    def rows(self, lo: int, hi: int) -> np.ndarray:
        return np.ascontiguousarray(self.values[lo:hi], dtype=np.float64)

    def at(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return self.values[rows, columns].astype(np.float64)

    def take(self, rows: np.ndarray) -> DenseMatrix:
        return DenseMatrix(self.values[rows])


class FrameMatrix(Matrix):
    """One 1-D array per column; dtypes and strides may differ.

    Examples
    --------
    >>> import numpy as np
    >>> FrameMatrix([np.array([1, 2]), np.array([0.5, np.nan])]).rows(0, 2)
    array([[1. , 0.5],
           [2. , nan]])
    """

    __slots__ = ("columns",)

    def __init__(self, columns: Sequence[np.ndarray]) -> None:
        self.columns = list(columns)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.columns[0]), len(self.columns)

    def column(self, f: int, out: np.ndarray | None = None) -> np.ndarray:
        return _contiguous(self.columns[f], out)

    def rows(self, lo: int, hi: int) -> np.ndarray:
        lo, hi, _ = slice(lo, hi).indices(self.n_rows)
        block = np.empty((max(hi - lo, 0), self.n_columns), dtype=np.float64)
        for f, values in enumerate(self.columns):
            block[:, f] = values[lo:hi]
        return block

    def _some(self, f: int, rows: np.ndarray) -> np.ndarray:
        return self.columns[f].take(rows)

    def take(self, rows: np.ndarray) -> FrameMatrix:
        return FrameMatrix([values[rows] for values in self.columns])


class SparseMatrix(Matrix):
    """A scipy.sparse matrix in canonical CSR or CSC form: sorted, no entry stored twice.

    An entry that is not stored is 0, or ``fill[f]`` in column ``f`` when ``fill`` is given: in a
    column of category codes, the code of the value 0.

    The other of the two forms is made on first use and kept; that costs as much memory
    as the stored entries, never as much as the dense table.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> m = SparseMatrix(sp.csr_array(np.array([[0, 2.0], [3.0, 0]])))
    >>> m.column(1), m.rows(1, 2)
    (array([2., 0.]), array([[3., 0.]]))
    """

    __slots__ = ("_by_column", "_by_row", "_shape", "fill")

    def __init__(self, matrix: Any, fill: np.ndarray | None = None) -> None:
        self._by_row: Any = matrix if matrix.format == "csr" else None
        self._by_column: Any = matrix if matrix.format == "csc" else None
        self._shape = (int(matrix.shape[0]), int(matrix.shape[1]))
        self.fill = fill

    @property
    def shape(self) -> tuple[int, int]:
        return self._shape

    @property
    def is_by_row(self) -> bool:
        """Whether the entries in CSC form would have to be computed."""
        return self._by_column is None

    @property
    def by_column(self) -> Any:
        """The entries in CSC form."""
        if self._by_column is None:
            self._by_column = self._by_row.tocsc()
        return self._by_column

    @property
    def by_row(self) -> Any:
        """The entries in CSR form."""
        if self._by_row is None:
            self._by_row = self._by_column.tocsr()
        return self._by_row

    def column(self, f: int, out: np.ndarray | None = None) -> np.ndarray:
        entries = self.by_column
        f = range(self.n_columns)[f]
        lo, hi = entries.indptr[f], entries.indptr[f + 1]
        values = np.empty(self.n_rows) if out is None else out
        values[:] = 0.0 if self.fill is None else self.fill[f]
        values[entries.indices[lo:hi]] = entries.data[lo:hi]
        return values

    def rows(self, lo: int, hi: int) -> np.ndarray:
        entries = self.by_row
        lo, hi, _ = slice(lo, hi).indices(self.n_rows)
        block = np.zeros((max(hi - lo, 0), self.n_columns), dtype=np.float64)
        if len(block) == 0:
            return block
        if self.fill is not None:
            block += self.fill
        first, last = entries.indptr[lo], entries.indptr[hi]
        row = np.repeat(np.arange(hi - lo), np.diff(entries.indptr[lo : hi + 1]))
        block[row, entries.indices[first:last]] = entries.data[first:last]
        return block

    def take(self, rows: np.ndarray) -> SparseMatrix:
        return SparseMatrix(self.by_row[rows], self.fill)
