"""Columns and targets that silently ruin a model: `fit` warns about them and suggests what to do.

    the same value in every row                       nothing can be learned from it
    a different word in nearly every row              it identifies rows: new rows have other names
    1, 2, 3, … in some order                          row numbers: the order of the file
    12,50 €  31/12/2023 as words                      every spelling is a separate category
    "female" and "female "                            blanks make separate categories
    determines the target of every row, alone         probably known only after the target
    y: one value; a class for most rows               nothing to learn, or a regressor is needed

The checks must not slow down a fit (50 µs of a small one): words are judged by the categories that the
schema has anyway, numbers by a few dozen unsorted rows; only a column that these rows cannot clear
is read as a whole.

New rows may hold categories that are not in the training table: one warning for all columns of a call.

    encode ──columns──▶ Unseen ──warn_unseen──▶ one UnseenCategoryWarning, or, inside gather_unseen(found),
                                                found: one warning after all members of a model have predicted
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from arboretum.data.checks import is_silent, list_names, list_rows, warn_caller
from arboretum.data.matrix import DenseMatrix, FrameMatrix
from arboretum.data.reading.written import looks_like
from arboretum.errors import DataError, SuspiciousColumnWarning, UnseenCategoryWarning

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Column, Schema

__all__ = [
    "UNSEEN",
    "Unseen",
    "gather_unseen",
    "one_warning",
    "refuse_unseen",
    "warn_of_classes",
    "warn_of_columns",
    "warn_unseen",
]

UNSEEN = ("missing", "ignore", "error")  # the values of the parameter `unseen`

_LEAST_ROWS = 20  # in smaller tables such patterns occur by chance
_MOST_COLUMNS = 2_000  # in a wider table numbers are not judged
_NEARLY = 0.9  # more different words than this share of the rows identify rows
_SAMPLE = 16  # rows of one class, and of the others
_PART = 1_000  # rows of a column that are read before all of them
_PER_CATEGORY = 5  # rows per category: with fewer, it determines the target by chance
_SPREAD = 2  # row numbers of a sample: range of the numbers divided by the rows, at most

_COLUMNS, _VALUES = 5, 3  # named in a warning about unseen categories of several columns

_DROP = "(X.drop(columns=…), --drop at the command line)"

# reason -> (what the column holds, what to do)
_TEXTS = {
    "constant": (
        "the same value in every row, or no value at all",
        "nothing can be learned from {it}: leave {it} out " + _DROP,
    ),
    "names": (
        "a different word in nearly every row",
        "words that identify rows predict nothing for new ones: leave {it} out " + _DROP,
    ),
    "row numbers": (
        "row numbers",
        "they give the order of the table and predict nothing for new rows: leave {it} out "
        + _DROP,
    ),
    "numbers": (
        "numbers written as words",
        "every spelling is a separate category: convert them to numbers first (--as-number at the command "
        "line)",
    ),
    "dates": (
        "dates written as words",
        "every day is a separate category: convert them to dates first (pandas.to_datetime, --as-date at the "
        "command line)",
    ),
    "blanks": (
        "categories that differ only by leading or trailing blanks",
        "they are separate categories: strip the blanks first (X[column].str.strip())",
    ),
    "leak": (
        "values that determine the target of every row",
        "if they are known only after the target, the model will be useless: leave {it} out "
        + _DROP,
    ),
}


def warn_of_columns(schema: Schema, matrix: Matrix, y: np.ndarray, *, classes: bool) -> None:
    """Warn of every suspicious column of a training table.

    Parameters
    ----------
    schema, matrix : Schema, Matrix
        The result of `learn_schema`.
    y : array of shape (n,) or (n, outputs)
        Class codes or numbers; a column that determines it is searched for if there is one output.
    classes : bool
        Whether y holds class codes.
    """
    if is_silent() or matrix.n_rows < _LEAST_ROWS:
        return
    if (y == y[0]).all():
        if not classes and y.size == len(y):  # `warn_of_classes` names the only class
            _warn_of_constant(y.flat[0], len(y))
        return
    found = _words(schema, matrix.n_rows)
    several = matrix.n_columns > 1 and matrix.n_columns <= _MOST_COLUMNS
    if isinstance(matrix, DenseMatrix | FrameMatrix) and several:
        found = _numbers(schema, matrix, y, classes) | found
    together = defaultdict(list)
    for f, reason in sorted(found.items()):
        together[reason].append(schema.columns[f])
    for reason, columns in together.items():
        _warn(reason, columns)


def warn_of_classes(n_classes: int, n_rows: int, example: object) -> None:
    """Warn of a target with one class only, or with a class of its own for most of the rows."""
    if is_silent() or n_rows < _LEAST_ROWS:
        return
    if n_classes == 1:
        _warn_of_constant(example, n_rows)
    elif n_classes > n_rows / 2:
        warn_caller(
            f"y holds {n_classes} classes in {n_rows} rows, e.g. {str(example)!r}: if they are quantities, "
            "convert them to numbers and use a regressor; if they identify rows, there is nothing to learn",
            SuspiciousColumnWarning,
        )


def _warn_of_constant(value: object, n_rows: int) -> None:
    shown = value.item() if isinstance(value, np.generic) else value
    warn_caller(
        f"y is constant ({shown!r} in all {n_rows} rows): a model fitted to it predicts this value for every "
        "row",
        SuspiciousColumnWarning,
    )


def _warn(reason: str, columns: list[Column]) -> None:
    what, advice = _TEXTS[reason]
    names, categories = list_names(column.name for column in columns), columns[0].categories or ()
    example = ""
    if reason in ("numbers", "dates", "names"):
        example = f", e.g. {(categories or ('',))[0]!r}"
    elif reason == "blanks":
        example = ", e.g. {!r} and {!r}".format(*_alike(categories))
    one = len(columns) == 1
    subject = f"column {names} holds" if one else f"columns {names} hold"
    advice = advice.format(it="it" if one else "them")
    warn_caller(f"{subject} {what}{example}: {advice}", SuspiciousColumnWarning, reason)


# --------------------------------------------------------------------------- words
def _words(schema: Schema, n_rows: int) -> dict[int, str]:
    """Return the reasons to suspect columns of categories, by position."""
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
        elif _alike(categories):
            found[f] = "blanks"
    return found


def _alike(categories: tuple[Any, ...]) -> tuple[str, ...]:
    """Return two categories that differ only by leading or trailing blanks, if there are any.

    >>> _alike(("female", "female ", "male"))
    ('female', 'female ')
    """
    texts = [text for text in categories if isinstance(text, str)]
    if not any(text[:1].isspace() or text[-1:].isspace() for text in texts):
        return ()
    first: dict[str, str] = {}
    for text in texts:
        other = first.setdefault(text.strip(), text)
        if other is not text:
            return other, text
    return ()


# --------------------------------------------------------------------------- numbers
def _numbers(
    schema: Schema, matrix: DenseMatrix | FrameMatrix, y: np.ndarray, classes: bool
) -> dict[int, str]:
    """Return the reasons to suspect columns by their values, by position."""
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
        if f in found or (counted[f] and not _determines(block[:, f], some, True, classes)):
            continue
        if _determines_all(matrix.column(f), y, bool(counted[f]), classes):
            found[f] = "leak"
    return found


def _odd_numbers(
    schema: Schema, matrix: DenseMatrix | FrameMatrix, block: np.ndarray, counted: np.ndarray
) -> dict[int, str]:
    """Return columns with a single number, and columns with row numbers."""
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
    """Return a few rows from all over the table: some of one class, then some of the others."""
    if not classes:
        return np.arange(0, len(y), max(len(y) // (2 * _SAMPLE), 1))[: 2 * _SAMPLE], 0
    first = y == y[0]
    mine, others = (
        part[:: max(len(part) // _SAMPLE, 1)][:_SAMPLE]
        for part in (first.nonzero()[0], (~first).nonzero()[0])
    )
    return np.concatenate([mine, others]) if len(others) else others, len(mine)


def _block(matrix: DenseMatrix | FrameMatrix, rows: np.ndarray) -> np.ndarray:
    """Return these rows of all columns; missing values come last."""
    if isinstance(matrix, DenseMatrix):
        block = matrix.values.take(rows, axis=0).astype(np.float64, copy=False)
    else:
        block = np.empty((len(rows), len(matrix.columns)))
        for f, column in enumerate(matrix.columns):
            block[:, f] = column.take(rows)
    block[np.isnan(block)] = np.inf
    return block


def _numbers_rows(column: np.ndarray) -> bool:
    """Return True if a column holds 1, 2, 3, … of a table or of a part of it, in any order."""
    low, high = column.min(), column.max()
    if not high - low < _SPREAD * len(column) or not (column == np.floor(column)).all():
        return False  # the difference is NaN where a value is missing
    return int(np.bincount((column - low).astype(np.int64)).max()) == 1


# --------------------------------------------------------------------------- leaks of the target
# A check of a few rows, without sorting, clears nearly every column.
def _classes_mixed(block: np.ndarray, split: int, counted: np.ndarray) -> np.ndarray:
    """Return which columns do not separate the class of the first rows from the others.

    Numbers of others lie between those of the class, or a category occurs in both.
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
    """Return which columns neither rise nor fall with the target; a category may not have two numbers."""
    above, below = block[1:] > block[:-1], block[1:] < block[:-1]
    rises, falls = (y[1:] > y[:-1])[:, None], (y[1:] < y[:-1])[:, None]
    mixed = np.asarray(((above & falls) | (below & rises)).any(axis=0))
    mixed &= ((above & rises) | (below & falls)).any(axis=0)
    if counted.any():
        two_numbers = ~(above | below) & (rises | falls)
        mixed[counted] = two_numbers[:, counted].any(axis=0)
    return mixed


def _determines(x: np.ndarray, y: np.ndarray, counted: bool, classes: bool) -> bool:
    """Return True if the order of a column determines the target of these rows without a mistake."""
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


def _determines_all(column: np.ndarray, y: np.ndarray, counted: bool, classes: bool) -> bool:
    """The same as `_determines` for a whole column, after a part of it."""
    column = np.where(np.isnan(column), np.inf, column)
    step = len(y) // _PART
    if step > 1 and not _determines(column[::step], y[::step], counted, classes):
        return False
    return _determines(column, y, counted, classes)


# --------------------------------------------------------------------------- new rows
# name of a column -> (its unseen categories, the rows that hold them, the categories of the fit)
Unseen = dict[str, tuple[list[Any], np.ndarray, tuple[Any, ...]]]

_gathered: ContextVar[Unseen | None] = ContextVar("_gathered", default=None)


@contextmanager
def gather_unseen(found: Unseen) -> Iterator[None]:
    """Collect unseen categories in ``found`` instead of warning of them, in this thread."""
    token = _gathered.set(found)
    try:
        yield
    finally:
        _gathered.reset(token)


@contextmanager
def one_warning() -> Iterator[None]:
    """Replace the warnings of several tables or members by one at the end."""
    found: Unseen = {}
    with gather_unseen(found):
        yield
    if found:
        warn_unseen(found)


def warn_unseen(found: Unseen) -> None:
    """Warn of unseen categories that are treated as missing values."""
    if is_silent():  # a fold may lack a category that another fold has
        return
    outer = _gathered.get()
    if outer is not None:
        for name, one in found.items():
            outer.setdefault(name, one)
        return
    if len(found) == 1:
        ((name, (values, rows, known)),) = found.items()
        what = f"column {name!r} holds categories unseen at fit: {_list(values, known, 5)}"
        what += f" ({list_rows(rows)})"
    else:
        each = [
            f"{name!r} ({_list(values, known, _VALUES)})"
            for name, (values, _, known) in list(found.items())[:_COLUMNS]
        ]
        hidden = len(found) - len(each)
        what = f"{len(found)} columns hold categories unseen at fit: {', '.join(each)}"
        what += f", … and {hidden} more" if hidden else ""
    warn_caller(
        f"{what}; they are treated as missing values (unseen='ignore' suppresses this warning, "
        "unseen='error' makes it an error)",
        UnseenCategoryWarning,
    )


def refuse_unseen(name: str, values: Sequence[Any], rows: np.ndarray) -> NoReturn:
    """Raise the error of ``unseen="error"``."""
    raise DataError(
        f"column {name!r} holds categories unseen at fit: {list_names(values)} ({list_rows(rows)}); "
        "correct them, or treat them as missing values by unseen='missing'"
    )


def _list(values: Sequence[Any], known: tuple[Any, ...], limit: int) -> str:
    """Return the values; for a column of one boolean, such as a dummy, also its value at fit."""
    text = list_names(values, limit)
    if len(known) == 1 and isinstance(known[0], bool | np.bool_):
        text += f", where every training row has {bool(known[0])}"
    return text
