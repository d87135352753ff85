"""Anything that looks like a table becomes a `Table`: names and a body in one of three forms.

    body        from
    ndarray     NumPy arrays, array-likes, lists of numbers, and frames of pandas whose columns are
                all of one dtype: kept as they are, not copied
    sparse      scipy.sparse in any format: kept, or made CSR
    list        raw columns: dataframes, files, arrays of strings, objects or dates

What cannot be a table (one or three dimensions, complex numbers, no rows, two columns of one name)
is refused here, in the wording that scikit-learn's own tools look for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.data.checks import LARGEST_EXACT, DataTypeError, check_size
from arboretum.data.values import Raw, from_array, refuse_complex
from arboretum.errors import DataError

__all__ = ["Table", "compressed", "default_names", "from_columns", "is_sparse", "read_table"]


@dataclass(frozen=True, eq=False)
class Table:
    """A table in the form of the input.

    Attributes
    ----------
    names : tuple of str
        Column names; ``x0, x1, …`` when the input has none.
    named : bool
        The names came with the input.
    n_rows : int
        Number of rows.
    body : ndarray, scipy.sparse matrix or list of raw columns
    """

    names: tuple[str, ...]
    named: bool
    n_rows: int
    body: Any

    @property
    def columns(self) -> list[Raw]:
        """The raw columns of a table that is not sparse."""
        if isinstance(self.body, np.ndarray):
            return [from_array(self.body[:, f], name) for f, name in enumerate(self.names)]
        return self.body


def read_table(X: Any) -> Table:
    """Turn an array, dataframe, sparse matrix, list of rows or file into a `Table`.

    Parameters
    ----------
    X : ndarray, pandas / polars / pyarrow table, scipy.sparse matrix, list of lists, path or Table
        A path is a str or Path to a ``.csv``, ``.csv.gz`` or ``.parquet`` file.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        X is not a table; the message gives the reason and a remedy.

    Examples
    --------
    >>> table = read_table([[1, "red"], [2, "blue"]])
    >>> table.names, table.named, table.n_rows
    (('x0', 'x1'), False, 2)
    """
    if type(X) is np.ndarray:
        return _from_ndarray(X)
    if isinstance(X, Table):
        return X
    if is_sparse(X):
        return _from_sparse(X)
    if isinstance(X, np.ma.MaskedArray):
        return _from_ndarray(unmask(X))
    if isinstance(X, np.ndarray):
        return _from_ndarray(np.asarray(X))
    if isinstance(X, str | Path):
        return _from_file(X)
    if isinstance(X, list | tuple):
        if X and isinstance(X[0], Mapping):
            raise DataError("X is a list of dicts: pandas.DataFrame(X) makes a table of it")
        return _from_ndarray(array_of_lists(X, "X"))
    return _from_other(X)


@lru_cache(maxsize=64)
def default_names(n: int) -> tuple[str, ...]:
    """Return ``x0, x1, …``, scikit-learn's names for unnamed columns."""
    return tuple(f"x{i}" for i in range(n))


def is_sparse(X: Any) -> bool:
    """Return True for scipy.sparse matrices and arrays, without importing scipy."""
    kind = type(X)  # on the type: a dataframe's columns are attributes of the object
    return hasattr(kind, "tocsr") and hasattr(kind, "nnz")


def unmask(X: np.ma.MaskedArray) -> np.ndarray:
    """Return a masked array as objects, masked cells as missing values."""
    cells = np.ma.getdata(X).astype(object)  # a copy
    cells[np.ma.getmaskarray(X)] = None
    return cells


def _from_ndarray(X: np.ndarray) -> Table:
    _check_dimensions(X.shape)
    refuse_complex(X.dtype)
    check_size(X.shape)
    names = default_names(X.shape[1])
    if X.dtype.kind in "fiub":
        return Table(names, False, X.shape[0], X)
    columns = [from_array(X[:, f], name) for f, name in enumerate(names)]
    return Table(names, False, X.shape[0], columns)


def _check_dimensions(shape: tuple[int, ...]) -> None:
    if len(shape) == 2:
        return
    if len(shape) == 1:
        raise DataError(
            f"X must have rows and columns, got a 1-D array of shape {shape}. Reshape your data: "
            "X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row"
        )
    if not shape:
        raise DataError(
            "X must have rows and columns, got a single value. Reshape your data: [[value]] is a "
            "table of one row and one column"
        )
    raise DataError(
        f"Found array with dim {len(shape)} (shape={shape}), X must have 2 dimensions: rows and "
        "columns; e.g. X.reshape(len(X), -1) makes every row flat"
    )


def _from_sparse(X: Any) -> Table:
    _check_dimensions(X.shape)
    refuse_complex(X.dtype)
    if X.dtype.kind not in "fiub":
        raise DataError(f"a sparse matrix must hold numbers, got dtype {X.dtype}")
    check_size(X.shape)
    X = compressed(X)
    if not X.has_canonical_format:
        X = X.copy()  # the input stays as it is
        X.sum_duplicates()
    return Table(default_names(X.shape[1]), False, int(X.shape[0]), X)


def compressed(X: Any) -> Any:
    """Return a sparse matrix as CSR or CSC, after checking that every index in it is valid.

    scipy does not check indices, neither when it converts a matrix nor when it sorts one.
    """
    try:
        problem = _misplaced(X)
        if problem is None:
            return X if X.format in ("csr", "csc") else X.tocsr()
    except (AttributeError, IndexError, MemoryError, TypeError, ValueError) as error:
        problem = str(error)
    raise DataError(
        f"the sparse matrix X is damaged: {problem}. Build it anew, for instance with "
        "scipy.sparse.csr_matrix((data, (rows, columns)), shape)"
    )


def _misplaced(X: Any) -> str | None:
    """Return what is wrong with the indices of a sparse matrix, or None."""
    if X.format == "coo":
        ends, each = X.shape, X.coords
    elif X.format in ("csr", "csc", "bsr"):
        size = getattr(X, "blocksize", (1, 1))
        ends = (X.shape[0] // size[0], X.shape[1] // size[1])
        ends = ends[::-1] if X.format == "csc" else ends
        start = X.indptr
        if len(start) != ends[0] + 1 or start[0] != 0 or np.any(start[1:] < start[:-1]):
            return f"its indptr is not {ends[0] + 1} numbers that begin at 0 and never fall"
        if start[-1] > min(len(X.indices), len(X.data)):
            return f"its indptr ends at {start[-1]}, and it has {len(X.indices)} entries"
        ends, each = ends[1:], (X.indices[: start[-1]],)
    else:
        return None  # lists and diagonals, which are converted one by one
    for end, index in zip(ends, each, strict=True):
        if len(index) and not (index.min() >= 0 and index.max() < end):
            at = int(np.argmax((index < 0) | (index >= end)))
            return f"entry {at} has the index {index[at]}, which is not in 0 … {end - 1}"
    return None


def _from_file(path: str | Path) -> Table:
    from arboretum.data.reading.files import read_file

    found = read_file(path)
    return from_columns(found.names, found.columns, found.n_rows)


def from_columns(names: tuple[str, ...] | None, columns: list[Raw], n_rows: int) -> Table:
    """Return raw columns as a table; without names they are called x0, x1, …"""
    check_size((n_rows, len(columns)))
    return Table(names or default_names(len(columns)), names is not None, n_rows, columns)


def _from_other(X: Any) -> Table:
    from arboretum.data.frames import frame_columns, frame_numbers, is_frame

    if (numbers := frame_numbers(X)) is not None:
        names, values = numbers
        check_size(values.shape)
        return Table(
            names or default_names(values.shape[1]), names is not None, len(values), values
        )
    if is_frame(X):
        return from_columns(*frame_columns(X))
    if not hasattr(X, "__array__") and (not hasattr(X, "__len__") or isinstance(X, Mapping | Set)):
        raise DataTypeError(
            f"X must be an array, a dataframe, a sparse matrix, a list of rows or a path to a CSV "
            f"or Parquet file, got {type(X).__name__}"
        )
    return _from_ndarray(np.asarray(X))


def array_of_lists(X: Sequence[Any], what: str) -> np.ndarray:
    """Turn lists into an array in which no cell has changed: numbers, or the objects themselves.

    NumPy would turn ``[1, "a"]`` into strings and a large whole number next to a float into a
    rounded one; then the cells are kept as objects and examined column by column.
    """
    try:
        values = np.asarray(X)
    except ValueError as error:
        lengths = [len(row) if hasattr(row, "__len__") else 0 for row in X]
        row = next((i for i, n in enumerate(lengths) if n != lengths[0]), None)
        if row is None:
            raise DataError(f"{what} cannot be made into an array: {error}") from error
        raise DataError(
            f"all rows of {what} must have the same length: row 0 has {lengths[0]} values, "
            f"row {row} has {lengths[row]}"
        ) from error
    if values.dtype.kind in "biuc" or values.size == 0:
        return values
    if values.dtype.kind == "f" and not np.any(np.abs(values) >= LARGEST_EXACT):
        return values
    cells = np.empty(values.shape, dtype=object)
    cells[...] = X
    return cells
