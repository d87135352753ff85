"""The two forms of a raw column, whatever library it came from.

    RawNumbers   [3.5, nan, 7.0]                       missing is NaN
    Words        codes [0, 1, -1, 0] of ["no", "yes"]  missing is -1

Numbers, dates and durations are `RawNumbers`; strings, booleans and categoricals are `Words`: distinct
values once, and one small integer per row. Rules for time, all in float64:

    date, datetime   seconds since 1970-01-01 00:00 UTC; a time without a zone counts as UTC
    duration         seconds
    time of day      seconds since midnight, to the microsecond

A decimal becomes the nearest float64. Category values are kept as plain Python str, bool, int,
float or datetime (without a zone, in UTC); any other category, such as pandas' intervals, as
text.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from itertools import count
from numbers import Complex, Real
from typing import Any

import numpy as np

from arboretum.data.checks import DataTypeError, check_exact, is_silent, warn_caller
from arboretum.errors import DataError, SuspiciousColumnWarning
from arboretum.lazy import cached_property

__all__ = [
    "EPOCH",
    "Raw",
    "RawNumbers",
    "Words",
    "as_words",
    "from_array",
    "from_cells",
    "from_objects",
    "make_words",
    "moment_seconds",
    "name_of",
    "plain",
    "refuse_complex",
    "seconds",
    "sort_values",
    "value_family",
]

TIMES = ("datetime", "duration", "time")
_FIRST_CELLS = 100  # cells by which the kind of the others is guessed
EPOCH = datetime(1970, 1, 1)
_MISSING_TYPES = ("NoneType", "NAType", "NaTType")  # by name: pandas need not be installed
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}


@dataclass(frozen=True, eq=False)
class RawNumbers:
    """A column of numbers.

    Attributes
    ----------
    values : 1-D array of any real dtype
        Missing is NaN.
    dtype : str
        The original type: a NumPy name such as ``"int64"``, or ``"datetime"``, ``"duration"``,
        ``"time"``, ``"decimal"``, ``"null"`` (nothing but missing values).
    """

    values: np.ndarray
    dtype: str

    @property
    def family(self) -> str:
        """``"number"``, ``"datetime"``, ``"duration"`` or ``"time"``: which values can be compared."""
        return self.dtype if self.dtype in TIMES else "number"


@dataclass(frozen=True, eq=False)
class Words:
    """A column of distinct values and a code per row.

    Attributes
    ----------
    codes : 1-D integer array
        Positions in ``values``; -1 is missing.
    values : list
        Distinct plain Python values.
    dtype : str
        ``"str"``, ``"bool"``, ``"category"``, ``"enum"`` or ``"object"``.
    order : {"none", "declared", "ranked"}
        Whether the order of ``values`` is arbitrary, was declared, or ranks them.
    """

    codes: np.ndarray
    values: list[Any]
    dtype: str
    order: str = "none"

    @cached_property
    def families(self) -> set[str]:
        """Kinds of values: ``{"str"}`` for strings, two or more for a mixture."""
        return families_of(self.values)


Raw = RawNumbers | Words


@cache
def name_of(dtype: np.dtype) -> str:
    """Return the name of a dtype, cached: NumPy takes as long to make it as to read a small column."""
    return dtype.name


# --------------------------------------------------------------------------- single values
def is_missing(value: Any) -> bool:
    """Return True for None, NaN, NaT and pandas' NA."""
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, (float, np.generic)) and bool(value != value)


def value_family(value: Any) -> str:
    """Return ``"str"``, ``"number"`` (booleans count as 0 and 1) or ``"datetime"``."""
    if isinstance(value, str):
        return "str"
    return "datetime" if isinstance(value, datetime) else "number"


def families_of(values: Sequence[Any]) -> set[str]:
    """Return the families of some values."""
    if set(map(type, values)) == {str}:  # the common case, without a call per value
        return {"str"}
    return {value_family(v) for v in values}


def plain(value: Any) -> Any:
    """Return a category as a plain Python str, bool, int, float or datetime; None if missing.

    >>> import numpy as np
    >>> plain(np.int8(3)), plain(np.str_("a")), plain(np.datetime64("2020-01-01"))
    (3, 'a', datetime.datetime(2020, 1, 1, 0, 0))
    """
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64):
        return EPOCH + timedelta(microseconds=int(value.astype("datetime64[us]").astype(int)))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, date):
        return _plain_moment(value)
    for kind in (str, bool, int):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, float | Decimal):
        return float(value)
    return str(value)


def _plain_moment(value: Any) -> datetime:
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    if getattr(value, "nanosecond", 0):
        raise DataError(
            f"the category {value} holds nanoseconds, categories are kept to the microsecond: "
            "round it, or leave the column numeric"
        )
    if hasattr(value, "to_pydatetime"):  # pandas' Timestamp
        value = value.to_pydatetime()
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


def sort_values(values: Sequence[Any]) -> list[Any]:
    """Sort values of one family by themselves and a mixture by its text.

    >>> sort_values([10, 9]), sort_values([10, "9", "a"])
    ([9, 10], [10, '9', 'a'])
    """
    if len(families_of(values)) <= 1:
        return sorted(values)
    return sorted(values, key=lambda v: (str(v), type(v).__name__))


# --------------------------------------------------------------------------- words
def make_words(codes: np.ndarray, values: Sequence[Any], dtype: str, order: str = "none") -> Words:
    """Build `Words`, with values made plain; equal and missing values are merged."""
    if set(map(type, values)) == {str} and len(set(values)) == len(values):
        return Words(codes, list(values), dtype, order)
    position: dict[Any, int] = {}
    new_code = []
    for value in map(plain, values):
        new_code.append(-1 if value is None else position.setdefault(value, len(position)))
    if new_code != list(range(len(new_code))):
        codes = np.append(np.array(new_code, dtype=np.int64), -1)[codes]
    return Words(codes, list(position), dtype, order)


def as_words(raw: Raw) -> Words:
    """Return a column as words: numbers become their sorted distinct values."""
    if isinstance(raw, Words):
        return raw
    distinct, codes = np.unique(raw.values, return_inverse=True)
    codes = codes.reshape(-1)
    if distinct.dtype.kind == "f" and len(distinct) and np.isnan(distinct[-1]):
        distinct = distinct[:-1]
        codes[codes == len(distinct)] = -1
    values = distinct.tolist()
    if raw.dtype == "datetime":
        values = [_moment(v) for v in values]
    elif raw.dtype.startswith(("int", "uint")):
        values = [int(v) for v in values]  # missing values made them floats
    return make_words(codes, values, raw.dtype)


def _moment(since_epoch: float) -> datetime:
    try:
        return EPOCH + timedelta(seconds=since_epoch)
    except OverflowError:
        raise DataError(
            f"a date {since_epoch:.0f} seconds from 1970 is beyond the years 1 to 9999 and cannot "
            "be a category: leave the column numeric"
        ) from None


# --------------------------------------------------------------------------- from NumPy
def from_array(values: np.ndarray, name: str) -> Raw:
    """Turn a 1-D array of any dtype into a raw column."""
    kind = values.dtype.kind
    if kind in "fiub":
        return RawNumbers(values, values.dtype.name)
    if kind in "mM":
        return RawNumbers(seconds(values, name), "datetime" if kind == "M" else "duration")
    if kind == "O":
        return from_objects(values, name)
    if kind in "UT":
        return from_cells(values.tolist(), name)
    refuse_complex(values.dtype)
    raise DataTypeError(
        f"X argument must be made of strings, numbers, dates or missing values, but column "
        f"{name!r} is an array of dtype {values.dtype}"
        + (": turn bytes into strings, e.g. X.astype(str)" if kind == "S" else "")
    )


def refuse_complex(dtype: np.dtype) -> None:
    """Raise if an array holds complex numbers."""
    if dtype.kind == "c":
        raise DataError(
            f"Complex data not supported: got dtype {dtype}; split it into two real columns, e.g. "
            "X.real and X.imag"
        )


def seconds(values: np.ndarray, name: str) -> np.ndarray:
    """Turn datetime64 or timedelta64 into seconds; NaT becomes NaN.

    >>> import numpy as np
    >>> seconds(np.array(["1970-01-02", "NaT"], dtype="datetime64[D]"), "day")
    array([86400.,    nan])
    """
    letter = values.dtype.kind
    unit = np.datetime_data(values.dtype)[0]
    try:
        ticks = values.astype(f"{letter}8[{unit if unit in _TICKS else 's'}]").astype(np.int64)
    except TypeError as error:
        raise DataError(
            f"column {name!r} counts time in unit {unit!r}, which has no fixed length: {error}"
        ) from error
    # whole seconds and fractions separately, so that only one rounding happens
    whole, rest = np.divmod(ticks, _TICKS.get(unit, 1))
    result = whole + rest / _TICKS.get(unit, 1)
    result[np.isnat(values)] = np.nan
    _warn_of_collapse(ticks, result, _TICKS.get(unit, 1), name)
    return result


def _warn_of_collapse(ticks: np.ndarray, result: np.ndarray, per_second: int, name: str) -> None:
    """Warn if different times became one number; for today's dates float64 counts in steps of 2e-7 s."""
    known = ~np.isnan(result)
    ticks, result = ticks[known], result[known]
    step = np.spacing(np.abs(result).max(initial=0)) * per_second  # in ticks
    if is_silent() or step < 1 or (step < 1000 and not (ticks % 1000).any()):
        return
    order = ticks.argsort()
    ticks, result = ticks[order], result[order]
    lost = np.count_nonzero((ticks[1:] != ticks[:-1]) & (result[1:] == result[:-1]))
    if lost:
        warn_caller(
            f"column {name!r} holds different times that become the same number of seconds in float64 "
            f"({lost} values are lost): subtract a start date from it, so that it holds short durations",
            SuspiciousColumnWarning,
            "times",
        )


# --------------------------------------------------------------------------- from Python objects
def from_objects(values: np.ndarray, name: str) -> Raw:
    """Turn an array of Python objects into a raw column; strings are hashed once, others checked."""
    first = next((cell for cell in values[:_FIRST_CELLS] if not is_missing(cell)), None)
    if isinstance(first, str):
        try:
            codes, distinct = _numbered(values)
        except TypeError:  # a cell that cannot be hashed: the error names it
            return from_cells(values.tolist(), name)
        if set(map(type, distinct)) == {str} or all(map(_is_word, distinct)):
            return make_words(codes, distinct, "str")
    return from_cells(values.tolist(), name)


def _is_word(value: Any) -> bool:
    return isinstance(value, str) or is_missing(value)


def _numbered(values: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Return a number per cell, and the distinct cells; by pandas if it is imported already."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        codes, distinct = pandas.factorize(values)
        return codes, distinct.tolist()
    position: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(position.__getitem__, values.tolist()), np.int64, len(values))
    return codes, list(position)


def from_cells(cells: list[Any], name: str) -> Raw:
    """Turn a list of Python objects into a raw column; its kind follows from their types.

    All numbers: RawNumbers. Dates, durations or times of day: RawNumbers in seconds. Booleans, strings,
    or a mixture (allowed by a schema only if the column is declared categorical): Words.
    """
    families = {_cell_family(t) for t in set(map(type, cells))}
    if "other" in families:
        _refuse_cell(cells, name)
    families.discard("missing")
    if "number" in families and len(families) > 1 and all(map(_no_number, dict.fromkeys(cells))):
        families.discard("number")  # its only numbers are NaN: a missing value
    if not families:
        return RawNumbers(np.full(len(cells), np.nan), "null")
    if "number" in families and families <= {"number", "bool"}:
        return _numbers_from_cells(cells, name)
    if len(families) == 1 and families <= set(TIMES):
        family = families.pop()
        convert = _SECONDS[family]
        values = [np.nan if is_missing(c) else convert(c) for c in cells]
        return RawNumbers(np.array(values, dtype=np.float64), family)
    position = {value: i for i, value in enumerate(dict.fromkeys(cells))}
    codes = np.fromiter(map(position.__getitem__, cells), np.int64, len(cells))
    dtype = families.pop() if len(families) == 1 else "object"
    return make_words(codes, list(position), dtype)


def _cell_family(cell_type: type) -> str:
    """Return the kind of cells of a type: a family of values, "missing", or "other" for invalid cells."""
    if cell_type.__name__ in _MISSING_TYPES:
        return "missing"
    for family, types in (
        ("str", str),
        ("bool", bool | np.bool_),
        ("datetime", date | np.datetime64),
        ("duration", timedelta | np.timedelta64),  # before numbers: timedelta64 is an integer type
        ("time", time),
        ("number", Real | Decimal | np.integer | np.floating),
    ):
        if issubclass(cell_type, types):
            return family
    return "other"


def _no_number(value: Any) -> bool:
    return _cell_family(type(value)) != "number" or is_missing(value)


def _refuse_cell(cells: list[Any], name: str) -> None:
    row = next(i for i, c in enumerate(cells) if _cell_family(type(c)) == "other")
    if isinstance(cells[row], Complex):
        raise DataError(
            f"Complex data not supported: column {name!r} holds {cells[row]!r} in row {row}"
        )
    raise DataTypeError(
        "X argument must be made of strings, numbers, dates or missing values, but column "
        f"{name!r} has a cell of type {type(cells[row]).__name__} in row {row}: turn it into "
        "columns of numbers or strings first"
    )


def _numbers_from_cells(cells: list[Any], name: str) -> RawNumbers:
    try:
        values = _float_array(cells)
    except OverflowError:
        row = next(i for i, c in enumerate(cells) if isinstance(c, int) and abs(c) > 10**308)
        raise DataError(
            f"column {name!r} holds a whole number too large for float64 in row {row}: drop it or "
            "turn the column into strings"
        ) from None
    check_exact(values, lambda: cells, name)
    types = [t for t in set(map(type, cells)) if t.__name__ not in _MISSING_TYPES]
    if np.isnan(values).all():
        return RawNumbers(values, "null")
    if all(issubclass(t, (int, np.integer, np.bool_)) for t in types):
        return RawNumbers(values, "int64")
    return RawNumbers(values, "decimal" if types == [Decimal] else "float64")


def _float_array(cells: list[Any]) -> np.ndarray:
    try:
        return np.array(cells, dtype=np.float64)  # accepts None
    except (TypeError, ValueError):  # pandas' NA and Decimal's signalling NaN
        return np.array([np.nan if is_missing(c) else c for c in cells], dtype=np.float64)


def moment_seconds(value: Any) -> float:
    """Seconds from 1970-01-01 UTC to a date or datetime of any library."""
    if isinstance(value, np.datetime64):
        return float(seconds(np.array([value]), "")[0])
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return (value - EPOCH).total_seconds()


def _duration_seconds(value: Any) -> float:
    if isinstance(value, np.timedelta64):
        return float(seconds(np.array([value]), "")[0])
    return value.total_seconds()


def _time_seconds(value: time) -> float:
    whole = 3600 * value.hour + 60 * value.minute + value.second
    return whole + value.microsecond / 1e6


_SECONDS: dict[str, Callable[[Any], float]] = {
    "datetime": moment_seconds,
    "duration": _duration_seconds,
    "time": _time_seconds,
}
