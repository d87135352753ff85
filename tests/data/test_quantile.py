"""Weighted quantiles: against the textbook, NumPy, and laws that every convention obeys."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.data.quantile import weight_grid, weighted_quantile
from arboretum.textbook import gbm_losses as textbook

LEVELS = np.linspace(0.01, 0.99, 30)
CONVENTIONS = ("lower", "xgboost", "lightgbm")


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_rise_and_stay_within_the_values(convention, weighted):
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 10):
        x, w = rng.normal(size=n), rng.uniform(0.5, 4, n) if weighted else None
        found = [weighted_quantile(x, a, w, convention) for a in LEVELS]
        assert x.min() <= min(found)
        assert max(found) <= x.max()
        assert (np.diff(found) >= 0).all()
        assert isinstance(found[0], float)


def test_lower_is_the_textbooks():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=40), rng.integers(0, 4, 40).astype(float)
    for alpha in (*LEVELS, 0.25, 0.5, 0.75):  # the last reach the share exactly
        assert weighted_quantile(x, alpha, w) == textbook.weighted_quantile(x, w, alpha)
        unweighted = textbook.weighted_quantile(x, np.ones(40), alpha)
        assert weighted_quantile(x, alpha) == unweighted


@pytest.mark.parametrize(("convention", "method"), [("xgboost", "weibull"), ("lightgbm", "linear")])
def test_places_between_values_are_numpys(convention, method):
    x = np.random.default_rng(2).normal(size=17)
    for alpha in LEVELS:
        found = weighted_quantile(x, alpha, None, convention)
        assert_allclose(found, np.quantile(x, alpha, method=method), rtol=1e-12)


def test_a_weight_of_lightgbm_is_shared_with_the_neighbour_below():
    x, w = np.array([1.0, 2.0, 4.0, 9.0]), np.array([1.0, 2.0, 4.0, 1.0])
    # 0.5 of 8 is 4: the weight so far is 1, 3, 7, 8, so 4.0 is reached, and a quarter of its 4 is missing
    assert weighted_quantile(x, 0.5, w, "lightgbm") == 2.0 + 0.25 * 2.0
    assert weighted_quantile(x, 0.5, w / 8, "lightgbm") == 2.0  # it weighs less than 1
    assert weighted_quantile(x, 0.5, w, "xgboost") == weighted_quantile(x, 0.5, w) == 4.0


def test_rows_of_values_are_taken_one_by_one():
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(20, 7)), rng.random(7)
    each = [weighted_quantile(row, 0.5, w) for row in x]
    assert_array_equal(weighted_quantile(x, 0.5, w), each)


@pytest.mark.parametrize("n", [2, 10, 1000])
def test_halves_of_equal_weights_are_equal(n):
    x = np.arange(float(n))
    for weight in (0.1, 0.7, 1e-9, 3.0):
        assert weighted_quantile(x, 0.5, np.full(n, weight)) == weighted_quantile(x, 0.5)


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.floats(0.01, 5.0)), min_size=1, max_size=20),
    st.sampled_from([0.1, 0.25, 0.5, 0.9]),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_lower_does_not_depend_on_the_order_of_the_rows(rows, alpha, random):
    x, w = np.array(rows).T
    order = np.array(random.sample(range(len(x)), len(x)))
    found = weighted_quantile(x, alpha, w)
    assert weighted_quantile(x[order], alpha, w[order]) == found
    unit = weight_grid(w.max(), len(x))
    so_far, whole = 0, [round(each * unit) for each in w.tolist()]
    for value, each in sorted(zip(x.tolist(), whole)):
        so_far += each
        if float(so_far) >= alpha * float(sum(whole)):
            assert found == value
            break


def test_the_grid_holds_every_sum():
    for n, most in [(1, 1.0), (1000, 0.3), (10**9, 7.9), (3, 1e300), (3, 5e-324)]:
        unit = weight_grid(most, n)
        assert np.rint(most * unit) * n < 2.0**62
        assert most * unit * n > 2.0**58 or unit == 2.0**1000
