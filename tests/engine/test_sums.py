"""Sums that do not depend on order: against Python's fractions, in any order, in any parts."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.engine.sums import (
    PartialSum,
    larger,
    largest,
    mean,
    partial_sum,
    times,
    total,
    totals,
)

NUMBERS = st.floats(-1e12, 1e12).map(lambda x: x if abs(x) > 1e-280 else 0.0)
LAW = settings(max_examples=60, deadline=None)
LISTS = st.lists(NUMBERS, max_size=30).map(np.array)


def of_fractions(x: np.ndarray, most: float) -> Fraction:
    """The sum of values cut to 2^-60 of the power of two above the largest, in exact arithmetic."""
    grid = Fraction(2) ** (60 - math.frexp(most)[1])
    return sum((Fraction(round(Fraction(v) * grid)) / grid for v in x.tolist()), Fraction(0))


def in_parts(x: np.ndarray, part: np.ndarray, codes: np.ndarray | None = None, k: int = 1):
    """Sum rows that lie in several places, each a number of ``part``, in two steps."""
    places = [np.flatnonzero(part == p) for p in range(7)]
    most = functools.reduce(larger, [largest(x[rows]) for rows in places])
    sums = [partial_sum(x[r], most, None if codes is None else codes[r], k) for r in places]
    return functools.reduce(PartialSum.plus, sums)


@LAW
@given(LISTS)
def test_a_sum_is_that_of_fractions_on_the_grid(x):
    most = largest(x)
    assert most == max(map(abs, x.tolist()), default=0.0)
    assert total(x) == float(of_fractions(x, most))
    away = abs(of_fractions(x, most) - sum(map(Fraction, x.tolist())))
    assert away <= Fraction(most) * len(x) / 2**60


@LAW
@given(LISTS, st.randoms(use_true_random=False))
def test_order_and_parts_change_no_bit(x, random):
    order = np.array(random.sample(range(len(x)), len(x)), np.int64)
    part = np.array([random.randrange(7) for _ in x], np.int64)
    codes = np.array([random.randrange(3) for _ in x], np.int64)
    assert total(x[order]) == total(x) == in_parts(x, part).value()
    one_by_one = totals(x, codes, 3)
    assert in_parts(x, part, codes, 3).values().tolist() == one_by_one.tolist()
    assert totals(x[order], codes[order], 3).tolist() == one_by_one.tolist()
    assert total(-x) == -total(x)
    if len(x):
        weight = np.abs(x[order])
        assert mean(x, weight) == mean(x[::-1], weight[::-1]) or not weight.any()


@LAW
@given(st.lists(st.integers(-(2**24), 2**24), min_size=1, max_size=50))
def test_whole_numbers_are_summed_exactly(x):
    assert total(np.array(x, float)) == sum(x)
    assert mean(np.array(x, float)) == sum(x) / len(
        x
    )  # Python's quotient of integers, rounded once


@LAW
@given(NUMBERS, st.integers(1, 100))
def test_the_mean_of_equal_numbers_is_the_number(x, n):
    assert mean(np.full(n, x)) == x


@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-280, 2.0**1000, 2.0**-960])
def test_sums_are_those_of_fsum_to_the_last_bits(scale):
    x = np.random.default_rng(0).normal(size=1000) * scale
    assert total(x) == pytest.approx(math.fsum(x), rel=1e-15)


@pytest.mark.parametrize(
    ("x", "answer"),
    [
        ([], 0.0),
        ([0.0, -0.0], 0.0),
        ([1.0, math.inf], math.inf),
        ([-math.inf, 2.0], -math.inf),
        ([math.inf, -math.inf], math.nan),
        ([math.nan, math.inf], math.nan),
        ([1.7e308, 1.7e308], math.inf),
        ([1.7e308, 1.7e308, -1.7e308], 1.7e308),
    ],
)
def test_what_is_not_finite_is_as_in_any_sum(x, answer):
    x = np.array(x)
    part = np.arange(len(x))
    for found in (total(x), total(x[::-1]), in_parts(x, part).value()):
        assert found == answer or (math.isnan(found) and math.isnan(answer))


def test_means_of_nothing():
    assert math.isnan(mean(np.empty(0)))
    assert math.isnan(mean(np.ones(2), np.zeros(2)))


def test_values_that_are_not_finite_count_if_they_weigh():
    x = np.array([1.0, np.inf, np.nan])
    assert mean(x, np.array([3.0, 0.0, 0.0])) == 1.0
    assert mean(x, np.array([3.0, 0.5, 0.0])) == np.inf
    assert math.isnan(mean(x, np.array([3.0, 0.5, 1.0])))
    assert times(x, np.array([3.0, 0.0, 0.0])).tolist() == [3.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float32, np.bool_, np.int64, np.uint8])
def test_any_kind_of_number_in_any_layout(dtype):
    x = np.random.default_rng(1).integers(0, 2, (50, 3)).astype(dtype)
    assert total(x[:, 1]) == x[:, 1].astype(float).sum()
    kept = x[:, 0].astype(float)
    kept.flags.writeable = False
    assert total(kept) == kept.sum()


def test_more_rows_than_a_block(monkeypatch):
    x = np.random.default_rng(2).normal(size=1001)
    codes = np.arange(1001) % 4
    whole, by_code = total(x), totals(x, codes, 4)
    monkeypatch.setattr("arboretum.engine.sums._BLOCK", 10)
    assert total(x) == whole
    assert totals(x, codes, 4).tolist() == by_code.tolist()


def test_four_billion_of_the_largest_fit():
    one = partial_sum(np.full(1 << 10, 1.0 - 2.0**-53), 1.0 - 2.0**-53)
    many = PartialSum(one.largest, one.limbs * (1 << 22))
    assert many.limbs.max() > 0
    assert many.value() == 2.0**32 * (1.0 - 2.0**-53)
