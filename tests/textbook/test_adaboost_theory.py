"""Bounds with their constants, and where the uniform one is none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum import textbook as book


@pytest.mark.parametrize("edge", [0.02, 0.1, 0.3])
def test_the_uniform_bound_holds_up_to_twice_the_edge(edge):
    errors = np.linspace(0.001, 0.5 - edge, 200)
    for theta in np.linspace(0.0, min(2 * edge, 1.0), 9):
        uniform = book.uniform_margin_bound(edge, theta, 10)
        assert max(book.margin_bound([e] * 10, theta) for e in errors) <= uniform * (1 + 1e-9)


def test_beyond_it_does_not():
    assert book.uniform_margin_bound(0.02, 0.3, 10) == pytest.approx(1.119, abs=5e-4)
    assert book.margin_bound([0.4] * 10, 0.3) == pytest.approx(1.498, abs=5e-4)


def test_the_constants_are_those_of_rademacher():
    terms = book.rademacher_margin_bound(0.2, 0.25, 100, 5000, 0.01)
    assert_allclose(terms.complexity, 2 * np.sqrt(2 * np.log(100) / 5000) / 0.25)
    assert_allclose(terms.confidence, np.sqrt(np.log(100) / 10_000))
    assert terms.bound == 0.2 + terms.complexity + terms.confidence
    later = book.rademacher_margin_bound(0.2, 0.25, 100, 5000, 0.01, all_thetas=True)
    assert later.bound > terms.bound
    with pytest.raises(ValueError, match="theta"):
        book.rademacher_margin_bound(0.2, 0.0, 100, 5000)


@pytest.mark.parametrize("all_thetas", [False, True])
def test_the_number_of_rows_from_which_it_says_something(all_thetas):
    how = {"delta": 0.1, "all_thetas": all_thetas}
    m = book.rows_for_margin_bound(0.3, 500, margin_share=0.4, **how)
    bounds = [book.rademacher_margin_bound(0.4, 0.3, 500, n, **how).bound for n in (m - 1, m)]
    assert bounds[0] >= 1.0 > bounds[1]


def test_new_rows_err_less_often_than_the_bound():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2)).round(1)
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    train, new = slice(0, 1500), slice(1500, None)
    model = book.discrete_adaboost(X[train], y[train], rules=book.AdaRules(8))
    theta = 0.4
    share = float(np.mean(book.margins(model, X[train], y[train]) <= theta))
    size = len(book.all_stumps(X[train]))
    bound = book.rademacher_margin_bound(share, theta, size, 1500).bound
    error = float(np.mean(book.margins(model, X[new], y[new]) <= 0))
    assert error <= bound
