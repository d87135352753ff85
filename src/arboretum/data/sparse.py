"""Sparse tables: checks, single columns and category codes, without ever making them dense.

A column of categories stays sparse too. Its stored entries become codes, and the entries that are
not stored, all of them 0, get the code of the value 0 by way of `SparseMatrix.fill`:

    values  0 7 0 0 7   stored 7 7   ──▶   codes 0 1 0 0 1   stored 1 1, fill 0
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from arboretum.data.checks import check_values
from arboretum.data.matrix import SparseMatrix
from arboretum.data.values import RawNumbers
from arboretum.errors import DataError

__all__ = ["check_entries", "dense_column", "with_codes"]


def check_entries(body: Any, names: Sequence[str], coded: Collection[int] = ()) -> np.ndarray:
    """Check the stored entries of all but the coded columns; return which hold missing values."""
    entries = body.data[:, np.newaxis]
    missing = np.zeros(len(names), dtype=bool)
    try:
        healthy = len(entries) == 0 or not check_values(entries, ["entries"])[0]
    except DataError:
        healthy = False
        _find_bad_entry(SparseMatrix(body), names, coded)
    if not healthy:
        by_column = SparseMatrix(body).by_column
        bad = np.flatnonzero(np.isnan(by_column.data))
        missing[np.searchsorted(by_column.indptr, bad, side="right") - 1] = True
    return missing


def _find_bad_entry(matrix: SparseMatrix, names: Sequence[str], coded: Collection[int]) -> None:
    """Raise again for the first bad column, with its name and rows."""
    entries = matrix.by_column
    for f, name in enumerate(names):
        stored = entries.data[entries.indptr[f] : entries.indptr[f + 1], np.newaxis]
        try:
            if len(stored) and f not in coded:
                check_values(stored, [name])
        except DataError:  # the error counts stored entries: check again with all rows
            check_values(dense_column(matrix, f).values[:, np.newaxis], [name])


def dense_column(matrix: SparseMatrix, f: int) -> RawNumbers:
    """One column, dense, in the dtype of the matrix."""
    entries = matrix.by_column
    lo, hi = entries.indptr[f], entries.indptr[f + 1]
    values = np.zeros(matrix.n_rows, dtype=entries.dtype)
    values[entries.indices[lo:hi]] = entries.data[lo:hi]
    return RawNumbers(values, entries.dtype.name)


def with_codes(matrix: SparseMatrix, codes: Mapping[int, np.ndarray]) -> SparseMatrix:
    """Replace columns by their category codes; what is not stored gets the code of 0."""
    if not codes:
        return matrix
    entries = matrix.by_column.copy()
    entries.data = entries.data.astype(np.float64)
    fill = np.zeros(matrix.n_columns)
    for f, values in codes.items():
        lo, hi = entries.indptr[f], entries.indptr[f + 1]
        stored = entries.indices[lo:hi]
        entries.data[lo:hi] = values[stored]
        absent = np.delete(values, stored)
        fill[f] = absent[0] if len(absent) else 0.0
    return SparseMatrix(entries, fill)
