"""Dates taken apart: numbers that trees can split on where a date itself is only earlier or later.

    when                year   month   day   weekday   day of year   hour
    2024-03-31 10:30    2024   3       31    7         91            10.5
    missing             missing in every part

Weekdays are counted from Monday, 1. As dates are seconds in UTC, hours are those of UTC.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arboretum.data.matrix import FrameMatrix, Matrix

__all__ = ["PARTS", "Part", "part_of_dates", "parts_that_vary", "with_parts"]

Part = tuple[int, str]  # a column of dates, and one of `PARTS`
PARTS = ("year", "month", "day", "weekday", "day of year", "hour")
_DAY = 86_400


def part_of_dates(seconds: np.ndarray, part: str) -> np.ndarray:
    """Return a part of dates, which are seconds since 1970-01-01.

    >>> part_of_dates(np.array([1711881000.0, np.nan]), "weekday")
    array([ 7., nan])
    """
    missing = np.isnan(seconds)
    known = np.where(missing, 0.0, seconds)
    days = np.floor(known / _DAY)
    if part == "hour":
        found = (known - days * _DAY) / 3600
    elif part == "weekday":
        found = (days + 3) % 7 + 1  # 1970 began on a Thursday
    else:
        found = _of_calendar(days.astype(np.int64).astype("datetime64[D]"), part)
    return np.where(missing, np.nan, found)


def _of_calendar(day: np.ndarray, part: str) -> np.ndarray:
    month, year = day.astype("datetime64[M]"), day.astype("datetime64[Y]")
    if part == "year":
        return year.astype(np.int64) + 1970
    if part == "month":
        return month.astype(np.int64) % 12 + 1
    return (day - (month if part == "day" else year)).astype(np.int64) + 1


def parts_that_vary(matrix: Matrix, columns: Sequence[int]) -> list[Part]:
    """Return the parts of columns of dates that have several values."""
    each = [(f, part) for f in columns for part in PARTS]
    varies = [
        len(np.unique(values[~np.isnan(values)])) > 1
        for values in (part_of_dates(matrix.column(f), part) for f, part in each)
    ]
    return [one for one, some in zip(each, varies, strict=True) if some]


def with_parts(matrix: Matrix, parts: Sequence[Part]) -> FrameMatrix:
    """Return a matrix with the parts of its dates as further columns."""
    if isinstance(matrix, FrameMatrix):
        columns = matrix.columns
    else:
        columns = [matrix.column(f) for f in range(matrix.n_columns)]
    added = [part_of_dates(matrix.column(f), part) for f, part in parts]
    return FrameMatrix([*columns, *added])
