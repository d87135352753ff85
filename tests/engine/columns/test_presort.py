"""Sorting a column: entries in order of value, with the marks a scan relies on."""

import numpy as np
import pytest

from arboretum.engine.columns import presort
from arboretum.engine.columns.presort import MISSING, NEW, POSITION, sort_column

RNG = np.random.default_rng(0)
TINY = np.nextafter(0.0, 1.0)  # the smallest denormal


def _naive(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Sort with NumPy and set the marks one by one."""
    rows = np.argsort(values + 0.0, kind="stable")  # + 0.0 turns -0.0 into 0.0; NaN goes last
    entries, distinct, before = np.empty(len(rows), np.uint32), 0, None
    for i, row in enumerate(rows):
        value = values[row]
        missing = np.isnan(value)
        new = before is None or (missing != np.isnan(before)) or (not missing and value != before)
        entries[i] = row | (NEW if new else 0) | (MISSING if missing else 0)
        distinct += new and not missing
        before = value
    return entries, distinct


def _neighbours(n: int) -> np.ndarray:
    """Values that agree in all but their last bits."""
    return (np.float64(1.0).view(np.uint64) + RNG.permutation(n).astype(np.uint64)).view(np.float64)


COLUMNS = {
    "one": np.array([3.0]),
    "one missing": np.array([np.nan]),
    "two": np.array([2.0, 1.0]),
    "example": np.array([3.0, 1.5, np.nan, 1.5, 7.0]),
    "all equal": np.full(50, -4.5),
    "all missing": np.full(50, np.nan),
    "zeros of both signs": np.array([0.0, -0.0, 1.0, -0.0, 0.0, -1.0]),
    "zeros and denormals": np.array([TINY, 0.0, -TINY, -0.0, TINY, 2 * TINY, -2 * TINY]),
    "extremes": np.array([1.7e308, -1.7e308, 0.0, 5e-324, -5e-324, 1.0, np.nan, 1e300, -1e300]),
    "infinite": np.array([np.inf, -np.inf, 0.0, np.nan, np.inf]),
    "normal": RNG.normal(size=1000),
    "ties": RNG.integers(0, 20, 1000).astype(float),
    "negative": -RNG.exponential(size=500),
    "mixed magnitudes": RNG.normal(size=500) * 10.0 ** RNG.integers(-300, 300, 500),
    "some missing": np.where(RNG.random(700) < 0.3, np.nan, RNG.normal(size=700)),
    "NaNs of both signs": np.where(RNG.random(99) < 0.5, np.nan, -np.nan),
    "short runs of neighbours": np.concatenate([_neighbours(40), RNG.normal(size=2000)]),
    "a long run of neighbours": _neighbours(3000),
    "neighbours and missing": np.where(RNG.random(3000) < 0.2, np.nan, _neighbours(3000)),
    "neighbours below zero": -_neighbours(500),
    "sorted": np.arange(300.0),
    "reversed": -np.arange(300.0),
    "power of two rows": RNG.normal(size=1024),
    "one row more": RNG.normal(size=1025),
    "whole numbers beyond 2**53": 2.0**53 + 2 * RNG.integers(0, 50, 200),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_entries_are_those_of_a_plain_sort(name):
    values = COLUMNS[name]
    kept = values.copy()
    out = np.empty(len(values), np.uint32)
    distinct = sort_column(values, out)
    expected, n_distinct = _naive(values)
    np.testing.assert_array_equal(out & POSITION, expected & POSITION)
    np.testing.assert_array_equal(out & NEW, expected & NEW)
    np.testing.assert_array_equal(out & MISSING, expected & MISSING)
    assert distinct == n_distinct
    np.testing.assert_array_equal(values.view(np.uint64), kept.view(np.uint64))


def test_long_runs_take_the_other_way_and_short_ones_do_not(monkeypatch):
    """The fallback is reached by values that the packed keys cannot tell apart, and only by them."""
    ways = []
    argsort = np.argsort

    def spy(*args, **kwargs):
        ways.append("argsort")
        return argsort(*args, **kwargs)

    monkeypatch.setattr(presort.np, "argsort", spy)
    sort_column(COLUMNS["normal"], np.empty(1000, np.uint32))
    sort_column(COLUMNS["ties"], np.empty(1000, np.uint32))
    assert ways == []
    sort_column(COLUMNS["a long run of neighbours"], np.empty(3000, np.uint32))
    assert ways == ["argsort"]


def test_read_only_columns_can_be_sorted():
    values = RNG.normal(size=100)
    values.flags.writeable = False
    out = np.empty(100, np.uint32)
    sort_column(values, out)
    np.testing.assert_array_equal(values[out & POSITION], np.sort(values))


def test_the_parts_of_an_entry_do_not_overlap():
    assert presort.MAX_ROWS - 1 == POSITION
    assert int(NEW) + int(MISSING) + int(POSITION) == 2**32 - 1
    assert NEW & MISSING == NEW & POSITION == MISSING & POSITION == 0
