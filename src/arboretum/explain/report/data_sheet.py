"""The columns of the rows of a page: kinds, gaps, unseen categories, ranges, suspicious columns."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.column_warnings import warn_of_columns
from arboretum.data.table import read_table
from arboretum.data.values import Words
from arboretum.errors import SuspiciousColumnWarning
from arboretum.explain.report.tree_code import rounded, whole
from arboretum.structure.condition import format_category

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = ["Unseen", "columns_of", "duplicates_of", "hints_of", "unseen_of"]

_BINS = 24
_MOST_WORDS = 400  # categories per column whose counts are kept
_UNSEEN_WORDS = 3  # unseen categories that are named
_COMPARED_ROWS, _COMPARED_COLUMNS = 2_000, 400  # in the search for duplicates
_SAME_ORDER = 0.9999  # from this rank correlation on, two columns carry the same information

# column number -> {row: category that no training row has}
Unseen = dict[int, dict[int, str]]


def unseen_of(schema: Schema, X: Any, matrix: Matrix) -> Unseen:
    """Return the categories of a table that are not in the schema (in the matrix they are missing values).

    Examples
    --------
    >>> from arboretum.data.schema import encode, learn_schema
    >>> schema, _ = learn_schema([["red"], ["blue"]])
    >>> rows = [["red"], ["green"], [None]]
    >>> unseen_of(schema, rows, encode(schema, rows, unseen="ignore"))
    {0: {1: 'green'}}
    """
    gaps = {}
    for f, column in enumerate(schema.columns):
        if column.categories is not None:
            rows = np.flatnonzero(np.isnan(np.asarray(matrix.column(f))))
            if len(rows):
                gaps[f] = rows
    if not gaps:
        return {}
    table = read_table(X)
    if not isinstance(table.body, list | np.ndarray):
        return {}  # sparse
    named, found = schema.named and table.named, {}
    for f, rows in gaps.items():
        name = schema.columns[f].name
        raw = table.columns[table.names.index(name) if named and name in table.names else f]
        if isinstance(raw, Words):
            codes = np.asarray(raw.codes)[rows]
            words = {int(r): str(raw.values[c]) for r, c in zip(rows, codes) if c >= 0}
        else:
            values = np.asarray(raw.values, np.float64)[rows]
            words = {int(r): f"{v:g}" for r, v in zip(rows, values) if v == v}
        if words:
            found[f] = words
    return found


def columns_of(schema: Schema, matrix: Matrix, unseen: Unseen) -> list[dict[str, Any]]:
    """Return the facts the page shows for every column, and the range of its slider."""
    return [
        _column(column, np.asarray(matrix.column(f)), unseen.get(f, {}))
        for f, column in enumerate(schema.columns)
    ]


def _column(column: Any, x: np.ndarray, unseen: dict[int, str]) -> dict[str, Any]:
    gone = np.isnan(x)
    present = x[~gone]
    found: dict[str, Any] = {
        "name": column.name,
        "kind": column.kind,
        "dtype": column.dtype,
        "missing": int(gone.sum()) - len(unseen),
        "had_missing": bool(column.has_missing),
    }
    if unseen:
        words, counts = np.unique(list(unseen.values()), return_counts=True)
        most = np.argsort(-counts, kind="stable")[:_UNSEEN_WORDS]
        found["unseen"] = [len(unseen), len(words), words[most].tolist()]
    if column.categories is not None:
        found["words"] = [format_category(word) for word in column.categories]
        counts = np.bincount(present.astype(np.int64), minlength=len(column.categories))
        found["counts"] = counts[:_MOST_WORDS].tolist()
        found["distinct"] = int((counts > 0).sum())
        return found
    found["distinct"] = len(np.unique(present))
    found["whole"] = bool(len(present) and np.all(present == np.floor(present)))
    if len(present):
        found["range"] = whole(np.array([present.min(), present.max()]))
        found["quantiles"] = rounded(np.quantile(present, [0.05, 0.25, 0.5, 0.75, 0.95]), 6)
        found["mean"] = float(f"{present.mean():.6g}")
        counts, edges = np.histogram(present, bins=_bins(present))
        found["edges"], found["counts"] = rounded(edges, 7), counts.tolist()
    return found


def _bins(x: np.ndarray) -> np.ndarray:
    low, high = np.quantile(x, [0.01, 0.99])
    if not high > low:
        low, high = float(x.min()), float(x.max())
    if not high > low:
        high = low + 1
    edges = np.linspace(low, high, _BINS + 1)
    edges[0], edges[-1] = min(edges[0], x.min()), max(edges[-1], x.max())
    return edges


def hints_of(schema: Schema, matrix: Matrix, actual: np.ndarray, *, classes: bool) -> list[str]:
    """Return the warnings that a fit on these rows would give."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_columns(schema, matrix, actual, classes=classes)
    return [str(one.message) for one in caught if one.category is SuspiciousColumnWarning]


# ---------------------------------------------------------------------- duplicates
def duplicates_of(schema: Schema, rows: np.ndarray) -> list[list[int]]:
    """Return groups of columns that carry the same information: the same order, or corresponding words.

    Numbers are compared by rank, so minutes and a charge computed from them are duplicates. Words are
    compared by which rows share a word.

    Examples
    --------
    >>> from arboretum.data.schema import learn_schema
    >>> schema, matrix = learn_schema([[1, 10.0, "a"], [2, 20.5, "b"], [3, 30.1, "a"], [2, 20.5, "b"]])
    >>> duplicates_of(schema, matrix.rows(0, 4))
    [[0, 1]]
    """
    some = np.linspace(0, len(rows) - 1, min(len(rows), _COMPARED_ROWS)).round().astype(int)
    rows = rows[some]
    kinds: dict[bool, list[int]] = {True: [], False: []}
    for f, column in enumerate(schema.columns[:_COMPARED_COLUMNS]):
        if len(np.unique(rows[:, f])) > 1:
            kinds[column.categories is not None].append(f)
    words: dict[bytes, list[int]] = {}
    for f in kinds[True]:
        words.setdefault(_by_first_row(rows[:, f]).tobytes(), []).append(f)
    return _same_order(rows, kinds[False]) + [group for group in words.values() if len(group) > 1]


def _by_first_row(x: np.ndarray) -> np.ndarray:
    """Return, for every row, the number of the first row with the same value."""
    _, first, inverse = np.unique(x, return_index=True, return_inverse=True, equal_nan=True)
    return first[inverse.reshape(-1)]


def _same_order(rows: np.ndarray, columns: list[int]) -> list[list[int]]:
    """Return groups of columns of numbers whose ranks agree, in the same or in opposite order."""
    if len(columns) < 2:
        return []
    ranks = np.array([_ranks(rows[:, f]) for f in columns])
    ranks -= ranks.mean(axis=1, keepdims=True)
    ranks /= np.linalg.norm(ranks, axis=1, keepdims=True)
    alike = np.abs(ranks @ ranks.T) >= _SAME_ORDER
    groups, taken = [], np.zeros(len(columns), bool)
    for i in range(len(columns)):
        if taken[i]:
            continue
        group = np.flatnonzero(alike[i] & ~taken)
        taken[group] = True
        if len(group) > 1:
            groups.append([columns[j] for j in group])
    return groups


def _ranks(x: np.ndarray) -> np.ndarray:
    """Return ranks; equal values get their mean rank, missing values rank last."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True, equal_nan=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse.reshape(-1)]
