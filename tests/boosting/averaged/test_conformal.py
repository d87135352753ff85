"""Intervals and sets hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.boosting.averaged.conformal import (
    check_coverage,
    class_sets,
    intervals,
    kept_errors,
)
from arboretum.errors import DataError, ParameterError


@settings(deadline=None)
@given(st.integers(0, 200), st.sampled_from([0.5, 0.8, 0.9, 0.95]), st.integers(40, 300))
def test_each_error_left_out_in_turn_is_covered_as_often_as_promised(seed, coverage, n):
    errors = np.random.default_rng(seed).standard_cauchy(n)
    inside = 0
    for k in range(n):
        low, high = intervals(np.zeros(1), np.sort(np.delete(errors, k)), coverage)[0]
        inside += low <= errors[k] <= high
    assert inside >= n * coverage - 1e-9


@settings(deadline=None)
@given(st.integers(0, 200), st.sampled_from([0.5, 0.8, 0.9, 0.95]))
def test_sets_cover_as_often_as_promised(seed, coverage):
    rng = np.random.default_rng(seed)
    n = 60
    shares = rng.dirichlet(np.ones(4), n)
    y = np.array([rng.choice(4, p=p) for p in shares])
    errors = 1 - shares[np.arange(n), y]
    inside = 0
    for k in range(n):
        found = class_sets(shares[k : k + 1], np.sort(np.delete(errors, k)), coverage)
        inside += found[0, y[k]]
    assert inside >= n * coverage - 1e-9


def test_the_most_probable_class_always_belongs_to_the_set():
    found = class_sets(np.array([[0.4, 0.3, 0.3]]), np.zeros(100), 0.9)
    assert found.tolist() == [[True, False, False]]


def test_of_many_errors_evenly_spaced_ones_are_kept():
    found = kept_errors(np.arange(100_000.0)[::-1])
    assert len(found) == 10_000
    assert (found[0], found[-1]) == (0.0, 99_999.0)
    assert np.ptp(np.diff(found)) <= 1.0


@pytest.mark.parametrize("coverage", [0, 1, -0.5, 2, "most", None, True, float("nan")])
def test_a_coverage_is_a_share(coverage):
    with pytest.raises(ParameterError, match=r"coverage must be a number in \(0, 1\)"):
        check_coverage(coverage, 1000)


def test_few_rows_cannot_promise_much():
    with pytest.raises(
        DataError, match=r"coverage 0.9 needs at least 19 held-out rows, the fit had 18"
    ):
        check_coverage(0.9, 18)
    check_coverage(0.9, 19)
