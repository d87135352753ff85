"""Columns that ruin a model without a word: told once, at fit, with what to do about them.

    the same value in every row                       nothing can be learned from it
    a different word in nearly every row              it names rows: new rows have other names
    1, 2, 3, … in some order                          it numbers rows: tells how the file was sorted
    12,50 €  31/12/2023 as words                      every spelling is a category of its own
    tells the target of every row, alone              probably known only after the target

A fit must not take longer for it (50 µs of a small one): words are judged by the categories that the schema
has anyway, numbers by a few dozen rows, which are not even sorted; only a column that these rows cannot clear
is looked at as a whole.
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
_PART = 1_000  # rows of a column that are looked at before all of them
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
    rows, split = _some_rows(y, classes)
    if len(rows) < _LEAST_ROWS:
        return {}
    block, some = _block(matrix, rows), y.take(rows)
    counted = np.array([column.categories is not None for column in schema.columns])
    found = _odd_numbers(schema, matrix, block, counted)
    mixed = (
        _classes_mixed(block, split, counted) if classes else _out_of_order(block, some, counted)
    )
    for f in (~mixed).nonzero()[0].tolist():
        if f in found or (counted[f] and not _tells(block[:, f], some, True, classes)):
            continue
        if _tells_all(matrix.column(f), y, bool(counted[f]), classes):
            found[f] = "tells all"
    return found


def _odd_numbers(
    schema: Schema, matrix: DenseMatrix | FrameMatrix, block: np.ndarray, counted: np.ndarray
) -> dict[int, str]:
    """Return columns of one number, and columns that number the rows."""
    found = {}
    ends = zip(block[0].tolist(), block[-1].tolist(), counted.tolist())
    for f, (first, last, is_word) in enumerate(ends):
        if is_word or (first != last and first % 1):
            continue
        different = len(set(block[:, f].tolist()))
        if different == 1:
            column = matrix.column(f)
            if schema.named and ((column == column[0]).all() or np.isnan(column).all()):
                found[f] = "constant"
        elif different == len(block) and _numbers_rows(matrix.column(f)):
            found[f] = "row numbers"
    return found


def _some_rows(y: np.ndarray, classes: bool) -> tuple[np.ndarray, int]:
    """Return a few rows from all over the table: so many of one class, then some of the others."""
    if not classes:
        return np.arange(0, len(y), max(len(y) // (2 * _SAMPLE), 1))[: 2 * _SAMPLE], 0
    first = y == y[0]
    mine, others = (
        part[:: max(len(part) // _SAMPLE, 1)][:_SAMPLE]
        for part in (first.nonzero()[0], (~first).nonzero()[0])
    )
    return np.concatenate([mine, others]) if len(others) else others, len(mine)


def _block(matrix: DenseMatrix | FrameMatrix, rows: np.ndarray) -> np.ndarray:
    """Return these rows of all columns; missing values stand behind all others."""
    if isinstance(matrix, DenseMatrix):
        block = matrix.values.take(rows, axis=0).astype(np.float64, copy=False)
    else:
        block = np.empty((len(rows), len(matrix.columns)))
        for f, column in enumerate(matrix.columns):
            block[:, f] = column.take(rows)
    block[np.isnan(block)] = np.inf
    return block


def _numbers_rows(column: np.ndarray) -> bool:
    """Tell whether a column holds 1, 2, 3, … of a table or of a part of it, in any order."""
    low, high = column.min(), column.max()
    if not high - low < _SPREAD * len(column) or not (column == np.floor(column)).all():
        return False  # the difference is NaN where a value is missing
    return int(np.bincount((column - low).astype(np.int64)).max()) == 1


# --------------------------------------------------------------------------- what tells the target
# Nearly every column is cleared by a look at a few rows that sorts nothing.
def _classes_mixed(block: np.ndarray, split: int, counted: np.ndarray) -> np.ndarray:
    """Tell which columns do not keep the class of the first rows apart from the others.

    Numbers of others lie between those of the class, or a category is met in both.
    """
    mine, others = block[:split], block[split:]
    between = others >= mine.min(axis=0)
    between &= others <= mine.max(axis=0)
    mixed = between.any(axis=0)
    if counted.any():
        both = mine[:, None, counted] == others[:, counted]
        mixed[counted] = both.any(axis=(0, 1))
    return mixed


def _out_of_order(block: np.ndarray, y: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Tell which columns neither rise nor fall with the target; a category may not have two numbers."""
    above, below = block[1:] > block[:-1], block[1:] < block[:-1]
    rises, falls = (y[1:] > y[:-1])[:, None], (y[1:] < y[:-1])[:, None]
    mixed = np.asarray(((above & falls) | (below & rises)).any(axis=0))
    mixed &= ((above & rises) | (below & falls)).any(axis=0)
    if counted.any():
        two_numbers = ~(above | below) & (rises | falls)
        mixed[counted] = two_numbers[:, counted].any(axis=0)
    return mixed


def _tells(x: np.ndarray, y: np.ndarray, counted: bool, classes: bool) -> bool:
    """Tell whether the target of these rows follows from the order of a column without a mistake."""
    order = x.argsort()
    x, y = x.take(order), y.take(order)
    apart, changes = x[1:] != x[:-1], y[1:] != y[:-1]
    if (changes > apart).any():  # a value with two targets
        return False
    if counted:
        return bool(np.count_nonzero(apart) < len(y) / _PER_CATEGORY)
    if classes:
        return bool(np.count_nonzero(changes) < len(set(y.tolist())))
    return bool((y[1:] >= y[:-1]).all() or (y[1:] <= y[:-1]).all())


def _tells_all(column: np.ndarray, y: np.ndarray, counted: bool, classes: bool) -> bool:
    """Tell the same of a whole column, a part of it first."""
    column = np.where(np.isnan(column), np.inf, column)
    step = len(y) // _PART
    if step > 1 and not _tells(column[::step], y[::step], counted, classes):
        return False
    return _tells(column, y, counted, classes)
