"""Some rows or columns of a table in the form of the input: a form that any library's estimator takes.

A bag passes parts of its table to estimators of any library. Arrays stay arrays, dataframes
keep their library, names and types, so categories and missing values arrive unchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.data.table import Table, array_of_lists, compressed, is_sparse, read_table, unmask
from arboretum.data.values import Raw, RawNumbers, Words

__all__ = ["as_view", "take_columns", "take_rows"]


def as_view(X: Any) -> Any:
    """Return a table that can be cut: an array, a sparse matrix, a dataframe or a `Table`.

    >>> as_view([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    if isinstance(X, np.ma.MaskedArray):
        return unmask(X)
    if isinstance(X, np.ndarray):
        return np.asarray(X)
    if isinstance(X, Table):
        return X
    if is_sparse(X):
        return compressed(X)
    if isinstance(X, list | tuple):
        return array_of_lists(X, "X")
    from arboretum.data.frames import collected, is_frame

    if is_frame(X):
        return collected(X)
    return np.asarray(X) if hasattr(X, "__array__") else read_table(X)  # a path, or an error


def take_columns(X: Any, columns: np.ndarray) -> Any:
    """Return columns by their positions, in this order; a repeated column gets a name of its own.

    >>> take_columns(np.array([[1, 2, 3]]), np.array([2, 0]))
    array([[3, 1]])
    """
    if isinstance(X, np.ndarray) or is_sparse(X):
        return X[:, columns]
    if isinstance(X, Table):
        names = _distinct([X.names[f] for f in columns])
        if not isinstance(X.body, list):
            return Table(names, X.named, X.n_rows, X.body[:, columns])
        return Table(names, X.named, X.n_rows, [X.columns[f] for f in columns])
    if hasattr(X, "iloc"):
        taken = X.iloc[:, columns]
        if len(set(columns.tolist())) < len(columns):
            taken.columns = _distinct([str(name) for name in taken.columns])
        return taken
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True)
    old = [frame.columns[f] for f in columns]
    pairs = zip(old, _distinct(old), strict=True)
    return frame.select(*(nw.col(name).alias(new) for name, new in pairs)).to_native()


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Return rows by their numbers, in this order; a row may be repeated.

    >>> take_rows(np.array([[1], [2], [3]]), np.array([2, 0, 0])).tolist()
    [[3], [1], [1]]
    """
    if isinstance(X, np.ndarray):
        return X[rows]
    if is_sparse(X):
        return X.tocsr()[rows].asformat(X.format)
    if isinstance(X, Table):
        body = [_take(raw, rows) for raw in X.body] if isinstance(X.body, list) else X.body[rows]
        return Table(X.names, X.named, len(rows), body)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    import narwhals.stable.v2 as nw

    return nw.from_native(X, eager_only=True)[rows.tolist()].to_native()


def _take(raw: Raw, rows: np.ndarray) -> Raw:
    if isinstance(raw, Words):
        return Words(raw.codes[rows], raw.values, raw.dtype, raw.order)
    return RawNumbers(raw.values[rows], raw.dtype)


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Return the names, with a repeated "a" as "a (2)", "a (3)", ..."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(found)
