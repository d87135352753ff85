"""Cut points: hand-made cases, published cuts of iris, and the laws they keep."""

import doctest

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from arboretum.textbook import discretize
from arboretum.textbook.discretize import bin_codes, mdl_cuts, mdl_delta, quantile_cuts

NAN = np.nan


def test_examples_in_the_docstrings():
    result = doctest.testmod(discretize)
    assert result.attempted > 0
    assert result.failed == 0


# ---------------------------------------------------------------------- quantiles
@pytest.mark.parametrize(
    ("x", "w", "n_bins", "cuts"),
    [
        (range(1, 9), None, 4, [2.5, 4.5, 6.5]),
        ([3, 1, 2, NAN], None, 3, [1.5, 2.5]),
        ([1, 2, 3, 3, 3, 3], None, 2, [2.5]),  # the nearest place there is
        ([1, 2, 3], None, 2, [1.5]),  # equally near: the lower one
        ([1, 2, 3, 4], [1, 1, 1, 3], 2, [3.5]),
        ([1, 2, 9], [1, 0, 1], 2, [5.0]),  # a row of weight zero is not there
        ([5, 5, 5], None, 3, []),
        ([NAN, NAN], None, 3, []),
    ],
)
def test_quantile_cuts(x, w, n_bins, cuts):
    assert quantile_cuts(list(x), n_bins, w).tolist() == cuts


def test_bins_of_distinct_values_are_equally_heavy():
    x = np.random.default_rng(0).normal(size=100)
    codes = bin_codes(x, quantile_cuts(x, 5))
    assert np.bincount(codes.astype(int)).tolist() == [20] * 5


def test_bin_codes_put_the_cut_itself_below():
    assert bin_codes([0.9, 1.0, 1.1], [1.0]).tolist() == [0.0, 0.0, 1.0]
    assert np.isnan(bin_codes([NAN], [1.0])[0])
    assert bin_codes([3.0], []).tolist() == [0.0]


# ---------------------------------------------------------------------- Fayyad and Irani
def test_mdl_by_hand():
    # N = 4, both sides pure: gain 1, Δ = log2(3² - 2) - 2, cost (log2 3 + Δ) / 4
    cuts, [decision] = mdl_cuts([1, 2, 3, 4], [0, 0, 1, 1])
    assert cuts.tolist() == [2.5]
    assert (decision.gain, decision.n_classes, decision.entropies) == (1.0, (2, 1, 1), (0, 0))
    assert_allclose(decision.delta, np.log2(7) - 2)
    assert_allclose(decision.cost, (np.log2(3) + np.log2(7) - 2) / 4)
    assert decision.accepted


def test_mdl_refuses_what_does_not_pay():
    # 0 1 0 1: the best cut leaves one case alone; gain 1 - 3/4 · 0.918 = 0.311
    cuts, [decision] = mdl_cuts([1, 2, 3, 4], [0, 1, 0, 1])
    h = -(1 / 3) * np.log2(1 / 3) - (2 / 3) * np.log2(2 / 3)
    assert cuts.tolist() == []
    assert_allclose(decision.gain, 1 - 0.75 * h)
    assert_allclose(decision.delta, np.log2(7) - (2 * 1 - 1 * 0 - 2 * h))
    assert_allclose(decision.cost, (np.log2(3) + decision.delta) / 4)
    assert decision.cut == 1.5  # the first of two equal gains
    assert not decision.accepted


def test_mdl_cuts_again_on_both_sides():
    x = np.arange(36.0)
    y = np.repeat([0, 1, 0], 12)
    cuts, decisions = mdl_cuts(x, y)
    assert cuts.tolist() == [11.5, 23.5]
    assert [(d.low, d.high, d.accepted) for d in decisions] == [(0, 35, True), (12, 35, True)]


def test_the_published_cuts_of_iris():
    # as R's discretization::mdlp has them
    iris = load_iris()
    published = [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]
    for column, expected in zip(iris.data.T, published):
        assert_allclose(mdl_cuts(column, iris.target)[0], expected)


@pytest.mark.parametrize(
    ("x", "y", "w"),
    [
        ([1, 1, 1, 1], [0, 1, 0, 1], None),  # one value
        ([1, 2, 3, 4], [1, 1, 1, 1], None),  # one class
        ([NAN, NAN], [0, 1], None),
        ([], [], None),
        ([1, 2], [0, 1], [0.4, 0.4]),  # lighter than two cases
    ],
)
def test_nothing_to_cut(x, y, w):
    cuts, decisions = mdl_cuts(x, y, w)
    assert len(cuts) == len(decisions) == 0


def test_delta_of_very_many_classes_is_finite():
    assert_allclose(mdl_delta((2000, 2000, 2000), (0, 0, 0)), 2000 * np.log2(3))


# ---------------------------------------------------------------------- laws
@pytest.mark.parametrize("seed", range(3))
def test_laws_of_weights_order_and_missing_rows(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=120).round(1)
    y = np.digitize(x + rng.normal(scale=0.4, size=120), [-0.5, 0.5])
    w = rng.integers(0, 4, 120)
    cuts = mdl_cuts(x, y, w)[0]
    assert len(cuts) > 0
    assert_array_equal(cuts, mdl_cuts(np.repeat(x, w), np.repeat(y, w))[0])
    order = rng.permutation(120)
    assert_array_equal(cuts, mdl_cuts(x[order], y[order], w[order])[0])
    more = np.append(x, [NAN] * 9), np.append(y, [0] * 9), np.append(w, [1] * 9)
    assert_array_equal(cuts, mdl_cuts(*more)[0])
    assert_array_equal(quantile_cuts(x, 4, w), quantile_cuts(np.repeat(x, w), 4))


def test_neighbouring_floats_are_parted():
    x = np.array([1.0, 1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 2)])
    cuts, _ = mdl_cuts(x, [0, 0, 1, 1])
    assert_array_equal(bin_codes(x, cuts), [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: quantile_cuts([1, 2], 1), "n_bins must be at least 2"),
        (lambda: mdl_cuts([1, 2], [0]), "same number of rows"),
        (lambda: quantile_cuts([1, 2], 2, [1]), "same number of rows"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()
