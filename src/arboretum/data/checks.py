"""Checks of every table, and the wording of rows and names in messages.

A value must be finite or NaN (missing), and float64 must hold it exactly. Valid data cost one
sum: infinite and NaN values both make it non-finite, and only then is a block checked closely.
Tables beyond the engine's limits (too many rows, squares beyond float64) are refused here too.
"""

from __future__ import annotations

import difflib
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from arboretum.errors import DataError

__all__ = [
    "DataTypeError",
    "check_counts",
    "check_exact",
    "check_rows",
    "check_scale",
    "check_size",
    "check_values",
    "check_weights",
    "did_you_mean",
    "is_silent",
    "list_names",
    "list_rows",
    "members_silent",
    "warn_caller",
]

LARGEST_EXACT = 2**53  # float64 holds every whole number up to here
_LARGE = 1e100  # a weight times the square of a target stays well inside float64 up to here
_BLOCK = 1 << 16  # entries checked together: small enough for the cache


class DataTypeError(DataError, TypeError):
    """A cell, a column name or a target has a type that no table can have; also a TypeError."""


def list_rows(rows: Sequence[int] | np.ndarray, limit: int = 5) -> str:
    """Name rows, the first few of many.

    >>> list_rows([4]), list_rows([17, 40, 41])
    ('row 4', 'rows 17, 40, 41')
    >>> list_rows(range(100), limit=3)
    'rows 0, 1, 2, … and 97 more'
    """
    shown = ", ".join(str(int(r)) for r in rows[:limit])
    if len(rows) > limit:
        return f"rows {shown}, … and {len(rows) - limit} more"
    return ("row " if len(rows) == 1 else "rows ") + shown


def list_names(names: Iterable[object], limit: int = 5) -> str:
    """Quote names or values, the first few of many.

    >>> list_names(["a", "b"])
    "'a', 'b'"
    """
    quoted = [repr(name) for name in names]
    hidden = len(quoted) - limit
    return ", ".join(quoted[:limit]) + (f", … and {hidden} more" if hidden > 0 else "")


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'age'?)"``, or nothing when no known name comes close."""
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


_inside = 0  # running fits of models that consist of other models
_NOT_THE_CALLER = ("arboretum.", "sklearn.", "joblib.", "contextlib")
_MANY_FITS = ("sklearn.model_selection", "joblib.")  # a single call fits many times
_shown: set[tuple[object, ...]] = set()  # kinds of warnings shown for lines that call one of them


@contextmanager
def members_silent() -> Iterator[None]:
    """Suppress warnings about columns and categories: the outer model has given them already."""
    global _inside
    _inside += 1
    try:
        yield
    finally:
        _inside -= 1


def is_silent() -> bool:
    """Return True while `members_silent` is active."""
    return _inside > 0


def warn_caller(message: str, category: type[Warning] = UserWarning, kind: str = "") -> None:
    """Warn with the line of the user's code that led here, also through scikit-learn.

    Python shows each text once per line, but in a search every fold has a text of its own, and scikit-learn
    resets Python's memory before each fit. Under such a call a warning of the same kind is shown once per
    line, unless a filter is "always" or "error" (`pytest.warns` does).

    Parameters
    ----------
    message : str
    category : type of warning
    kind : str
        Distinguishes warnings that come from the same line of this library.
    """
    frame, level, searching = sys._getframe(1), 2, False
    source = frame.f_code.co_filename, frame.f_lineno, kind
    while frame.f_back and (name := frame.f_globals.get("__name__", "")).startswith(
        _NOT_THE_CALLER
    ):
        searching |= name.startswith(_MANY_FITS)
        frame, level = frame.f_back, level + 1
    if searching:
        key = (frame.f_code.co_filename, frame.f_lineno, *source)
        module = frame.f_globals.get("__name__", "")
        if _action_for(message, category, module, frame.f_lineno) in ("default", "module", "once"):
            if key in _shown:
                return
            _shown.add(key)
    warnings.warn(message, category, stacklevel=level)


def _action_for(message: str, category: type[Warning], module: str, line: int) -> str:
    """Return what the warning filters do with a warning, in the order in which Python reads them."""

    def fits(pattern: Any, text: str) -> bool:  # the interpreter's own filters hold plain strings
        if pattern is None or isinstance(pattern, str):
            return pattern in (None, text)
        return bool(pattern.match(text))

    for action, text, kind, where, at in warnings.filters:
        matches = fits(text, message) and fits(where, module)
        if matches and issubclass(category, kind) and at in (0, line):
            return action
    return "default"


def check_size(shape: tuple[int, int]) -> None:
    """Raise unless there is at least one row and one column."""
    for count, what in zip(shape, ("sample", "feature")):
        if count == 0:
            raise DataError(
                f"Found array with 0 {what}(s) (shape={tuple(shape)}) while a minimum of 1 is "
                "required."
            )


def check_values(values: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Check a 2-D real array column by column and return which columns hold missing values.

    Raises
    ------
    DataError
        A value is infinite, or too large or too precise for float64.
    """
    missing = np.zeros(values.shape[1], dtype=bool)
    kind, width = values.dtype.kind, values.dtype.itemsize
    if kind in "iu" and width == 8:
        if values.max() > LARGEST_EXACT or values.min() < -LARGEST_EXACT:
            for f, name in enumerate(names):
                check_exact(values[:, f].astype(np.float64), values[:, f].tolist, name)
    elif kind == "f":
        _check_floats(values, names, missing)
        if width > 8:
            _check_narrowing(values, names)
    return missing


def _check_floats(values: np.ndarray, names: Sequence[str], missing: np.ndarray) -> None:
    step = max(1, _BLOCK // values.shape[1])
    with np.errstate(all="ignore"):  # a sum that overflows only leads to the closer check
        for lo in range(0, values.shape[0], step):
            block = values[lo : lo + step]
            if math.isfinite(block.sum()):
                continue
            if np.isinf(block).any():
                _refuse_infinite(values, names)
            if not missing.all():
                missing |= np.isnan(block).any(axis=0)


def _refuse_infinite(values: np.ndarray, names: Sequence[str]) -> None:
    infinite = [f for f in range(values.shape[1]) if np.isinf(values[:, f]).any()]
    first = infinite[0]
    rows = np.flatnonzero(np.isinf(values[:, first]))
    one = len(rows) == 1
    what = "an infinite value" if one else f"{len(rows)} infinite values"
    others = [names[f] for f in infinite[1:]]
    raise DataError(
        f"column {names[first]!r} holds {what} ({list_rows(rows)}): "
        f"replace {'it' if one else 'them'}, e.g. by NaN for missing, or drop "
        f"{'this row' if one else 'these rows'}"
        + (f" (infinite values also in {list_names(others)})" if others else "")
    )


def _check_narrowing(values: np.ndarray, names: Sequence[str]) -> None:
    """Refuse a longdouble that float64 cannot hold: conversion would change it silently."""
    for f, name in enumerate(names):
        column = values[:, f]
        with np.errstate(all="ignore"):
            changed = (column.astype(np.float64) != column) & ~np.isnan(column)
        if changed.any():
            raise DataError(
                f"column {name!r} holds values of {values.dtype} that float64 cannot hold exactly "
                f"({list_rows(np.flatnonzero(changed))}): round them first, e.g. "
                "X.astype('float64')"
            )


def check_exact(values: np.ndarray, cells: Callable[[], Sequence[Any]], name: str) -> None:
    """Raise if whole numbers or decimals beyond 2**53 were changed by becoming float64.

    Parameters
    ----------
    values : float64 array
        The column after conversion.
    cells : callable
        Returns the column before conversion as Python objects; only called when values are large.
    name : str
        Name of the column.
    """
    with np.errstate(invalid="ignore"):
        large = np.flatnonzero(np.abs(values) >= LARGEST_EXACT)
    if len(large) == 0:
        return
    originals = cells()
    # Python compares int, Decimal and float by their exact values
    changed = [i for i in large.tolist() if originals[i] != float(values[i])]
    if changed:
        raise DataError(
            f"column {name!r} holds whole numbers beyond 2**53 that float64 cannot hold exactly "
            f"({list_rows(changed)}, e.g. {originals[changed[0]]}): if it is an identifier drop it "
            "or turn it into strings, if it is a quantity convert it to float yourself"
        )


# --------------------------------------------------------------------------- limits of sums
def check_rows(n_rows: int) -> None:
    """Raise a DataError if there are more rows than row numbers can address."""
    from arboretum.engine.columns.presort import MAX_ROWS

    if n_rows > MAX_ROWS:
        raise DataError(
            f"X has {n_rows} rows, a tree learns from at most {MAX_ROWS}: take a sample of them"
        )


def check_scale(y: np.ndarray) -> None:
    """Raise a DataError if the sum of squared targets could exceed float64."""
    large = np.flatnonzero((np.abs(y) > _LARGE).any(axis=1))
    if len(large):
        raise DataError(
            f"y holds values beyond ±{_LARGE:g} ({list_rows(large)}): their squares leave float64, "
            f"scale y down, e.g. y / {_LARGE:g}"
        )
    spread = y.max(axis=0) - y.min(axis=0)
    if np.any((spread > 0) & (spread < 1 / _LARGE)):
        raise DataError(
            f"y varies by no more than {spread[spread > 0].min():g}: squares of such differences "
            f"vanish in float64, scale y up, e.g. y * {_LARGE:g}"
        )


def check_weights(w: np.ndarray) -> None:
    """Raise a DataError if sums of weighted squares could exceed float64."""
    small = np.flatnonzero((w > 0) & (w < 1 / _LARGE))
    if w.sum() > _LARGE:
        raise DataError(
            f"the weights add up to {w.sum():g}, more than {_LARGE:g}: scale them down, e.g. "
            "sample_weight / sample_weight.max()"
        )
    if len(small):
        raise DataError(
            f"sample_weight (times class_weight) holds positive values below {1 / _LARGE:g} "
            f"({list_rows(small)}): scale the weights up, or use 0 to leave a row out"
        )


def check_counts(y: np.ndarray) -> None:
    """Raise a DataError unless every target suits the Poisson criterion."""
    bad = np.flatnonzero((y < 0).any(axis=1))
    if len(bad):
        raise DataError(
            "Some value(s) of y are negative which is not allowed for Poisson regression: "
            f"{len(bad)} of them ({list_rows(bad)})"
        )
    if not np.all(y.sum(axis=0) > 0):
        raise DataError(
            "Sum of y is not strictly positive which is necessary for Poisson regression: y is not "
            "positive anywhere (Poisson deviance takes its logarithm)"
        )
