"""Columns that ruin a model without a word: told once, at fit, with what to do about them.

    the same value in every row                       nothing can be learned from it
    a different word in nearly every row              it names rows: new rows have other names
    1, 2, 3, … in some order                          it numbers rows: tells how the file was sorted
    12,50 €  31/12/2023 as words                      every spelling is a category of its own
    tells the target of every row, alone              probably known only after the target

A fit must not take longer for it: words are judged by the categories that the schema has anyway, numbers by
a few dozen rows; only a column that these rows cannot clear is looked at as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from arboretum.data.checks import is_told, list_names, warn_caller
from arboretum.data.matrix import DenseMatrix, FrameMatrix
from arboretum.data.reading.written import looks_like
from arboretum.errors import SuspiciousColumnWarning

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Column, Schema

__all__ = ["warn_of_classes", "warn_of_columns"]

_LEAST_ROWS = 20  # in smaller tables much looks like chance, and is
_MOST_COLUMNS = 2_000  # of a wider table numbers are not judged
_NEARLY = 0.9  # of the rows: so many different words are names of rows
_SAMPLE = 16  # rows of one class, and of the others
_PER_CATEGORY = 5  # rows of a category, at least, or telling the target is no wonder
_SEVERAL = 3  # so many columns are named one by one
_SPREAD = 2  # row numbers of a sample: at most so many numbers for each row

# reason -> (what it is, what to do)
_SAYS = {
    "constant": (
        "the same value in every row, or none at all",
        "nothing can be learned from it: leave it out",
    ),
    "names": (
        "a different word in nearly every row",
        "it names rows and says nothing of new ones: leave it out (X.drop(columns=…), --drop at the command "
        "line)",
    ),
    "row numbers": (
        "the numbers of rows",
        "they tell how the table was sorted and nothing of new rows: leave it out "
        "(X.drop(columns=…), --drop at "
        "the command line)",
    ),
    "numbers": (
        "numbers written as words",
        "every spelling is a category of its own: make them numbers first (--as-number at the command line)",
    ),
    "dates": (
        "dates written as words",
        "every day is a category of its own: make them dates first (pandas.to_datetime, --as-date "
        "at the command "
        "line)",
    ),
    "tells all": (
        "what alone tells the target of every row",
        "if that is known only after the target, the model will be of no use: leave it out",
    ),
}


def warn_of_columns(schema: Schema, matrix: Matrix, y: np.ndarray, *, classes: bool) -> None:
    """Warn of every suspicious column of a training table.

    Parameters
    ----------
    schema, matrix : Schema, Matrix
        What `learn_schema` returned.
    y : array of shape (n,) or (n, outputs)
        Class codes or numbers; a column that tells all is looked for if there is one output.
    classes : bool
        They are class codes.
    """
    if is_told() or matrix.n_rows < _LEAST_ROWS:
        return
    found = _words(schema, matrix.n_rows)
    several = matrix.n_columns > 1 and matrix.n_columns <= _MOST_COLUMNS
    if isinstance(matrix, DenseMatrix | FrameMatrix) and several:
        found = _numbers(schema, matrix, y, classes) | found
    together = defaultdict(list)
    for f, reason in sorted(found.items()):
        together[reason].append(schema.columns[f])
    for reason, columns in together.items():
        for group in [columns] if len(columns) > _SEVERAL else [[column] for column in columns]:
            _warn(reason, group)


def warn_of_classes(n_classes: int, n_rows: int, example: object) -> None:
    """Warn of a target with a class of its own for most of the rows."""
    if not is_told() and n_rows >= _LEAST_ROWS and n_classes > n_rows / 2:
        warn_caller(
            f"y holds {n_classes} classes in {n_rows} rows, e.g. {str(example)!r}: if they are "
            f"quantities, make them "
            "numbers and use a regressor; if they are names of rows, there is nothing to learn",
            SuspiciousColumnWarning,
        )


def _warn(reason: str, columns: list[Column]) -> None:
    what, advice = _SAYS[reason]
    names = list_names(column.name for column in columns)
    example = ""
    if reason in ("numbers", "dates", "names") and len(columns) == 1:
        example = f", e.g. {(columns[0].categories or ('',))[0]!r}"
    subject = f"column {names} holds" if len(columns) == 1 else f"columns {names} hold"
    warn_caller(f"{subject} {what}{example}: {advice}", SuspiciousColumnWarning)


# --------------------------------------------------------------------------- words
def _words(schema: Schema, n_rows: int) -> dict[int, str]:
    """Return what is suspicious of columns of categories, by their place."""
    found = {}
    for f, column in enumerate(schema.columns):
        categories = column.categories
        if categories is None or column.kind != "categorical":
            continue
        if len(categories) < 2 and not column.has_missing:
            if schema.named:
                found[f] = "constant"
        elif (likeness := looks_like(categories)) is not None:
            found[f] = likeness
        elif len(categories) > _NEARLY * n_rows:
            found[f] = "names"
    return found


# --------------------------------------------------------------------------- numbers
def _numbers(
    schema: Schema, matrix: DenseMatrix | FrameMatrix, y: np.ndarray, classes: bool
) -> dict[int, str]:
    """Return what is suspicious of columns by their values."""
    if y.ndim == 2:
        if y.shape[1] > 1:
            return {}
        y = y[:, 0]
    rows = _some_rows(y, classes)
    if len(rows) < _LEAST_ROWS:
        return {}
    block = _block(matrix, rows)
    counted = np.array([column.categories is not None for column in schema.columns])
    found = {} if counted.all() else _odd_numbers(schema, matrix, block, counted)
    for f in _telling(block, y[rows], counted, classes).tolist():
        if f not in found and _tells_all(matrix.column(f), y, counted[f : f + 1], classes):
            found[f] = "tells all"
    return found


def _odd_numbers(
    schema: Schema, matrix: DenseMatrix | FrameMatrix, block: np.ndarray, counted: np.ndarray
) -> dict[int, str]:
    """Return columns of one number, and columns that number the rows."""
    found = {}
    for f in np.flatnonzero((block == block[:, :1]).all(axis=1) & ~counted).tolist():
        column = matrix.column(f)
        if schema.named and ((column == column[0]).all() or np.isnan(column).all()):
            found[f] = "constant"
    for f in np.flatnonzero((block == np.floor(block)).all(axis=1) & ~counted).tolist():
        if len(set(block[f].tolist())) == block.shape[1] and _numbers_rows(matrix.column(f)):
            found[f] = "row numbers"
    return found


def _some_rows(y: np.ndarray, classes: bool) -> np.ndarray:
    """Return a few rows from all over the table, some of one class and some of the others."""
    if not classes:
        return np.arange(0, len(y), max(len(y) // (2 * _SAMPLE), 1))[: 2 * _SAMPLE]
    first = y == y[0]
    mine, others = np.flatnonzero(first), np.flatnonzero(~first)
    some = [part[:: max(len(part) // _SAMPLE, 1)][:_SAMPLE] for part in (mine, others)]
    return np.concatenate(some) if len(others) else others


def _block(matrix: DenseMatrix | FrameMatrix, rows: np.ndarray) -> np.ndarray:
    """Return these rows of all columns, (columns, rows); missing values stand behind all others."""
    if isinstance(matrix, DenseMatrix):
        block = np.array(matrix.values[rows].T, dtype=np.float64, order="C")
    else:
        block = np.array([column[rows] for column in matrix.columns], dtype=np.float64)
    block[np.isnan(block)] = np.inf
    return block


def _numbers_rows(column: np.ndarray) -> bool:
    """Tell whether a column holds 1, 2, 3, … of a table or of a part of it, in any order."""
    if np.isnan(column).any() or not (column == np.floor(column)).all():
        return False
    low, high = column.min(), column.max()
    if high - low >= _SPREAD * len(column):
        return False
    return int(np.bincount((column - low).astype(np.int64)).max()) == 1


# --------------------------------------------------------------------------- what tells the target
def _telling(block: np.ndarray, y: np.ndarray, counted: np.ndarray, classes: bool) -> np.ndarray:
    """Return the columns by whose order the target of these rows can be told without a mistake."""
    order = block.argsort(axis=1)
    x, told = block[np.arange(len(block))[:, None], order], y[order]
    apart, changes = x[:, 1:] != x[:, :-1], told[:, 1:] != told[:, :-1]
    clean = ~(changes & ~apart).any(axis=1)
    if not clean.any():
        return np.empty(0, np.int64)
    if classes:
        in_order = changes.sum(axis=1) < len(set(y.tolist()))
    else:
        rises, falls = told[:, 1:] >= told[:, :-1], told[:, 1:] <= told[:, :-1]
        in_order = rises.all(axis=1) | falls.all(axis=1)
    few = apart.sum(axis=1) < len(y) / _PER_CATEGORY
    return np.flatnonzero(clean & np.where(counted, few, in_order))


def _tells_all(column: np.ndarray, y: np.ndarray, counted: np.ndarray, classes: bool) -> bool:
    """Tell the same of a whole column, a part of it first."""
    column = np.where(np.isnan(column), np.inf, column)[None, :]
    for size in (1_000, column.shape[1]):
        rows = slice(None, None, max(column.shape[1] // size, 1))
        if not len(_telling(column[:, rows], y[rows], counted, classes)):
            return False
    return True
