"""The bounds of GOSS and EFB beside what is measured."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum import textbook as book


def _gradients(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, 0.5 * np.sign(x) + rng.normal(size=n)


@pytest.mark.parametrize(("a", "b"), [(0.2, 0.1), (0.1, 0.3), (0.0, 0.2)])
@pytest.mark.parametrize("cut", [-1.0, 0.0, 0.8])
def test_the_error_of_goss_stays_below_its_bound(a, b, cut):
    x, g = _gradients(800, 3)
    found = book.goss_experiment(g, x < cut, a, b, delta=0.1, n_draws=100)
    assert found.share_above <= 0.1
    assert found.errors.max() > 0.0
    assert found.bound.bound < 50 * np.quantile(found.errors, 0.9)  # and is not beside the point


def test_the_error_and_its_bound_fall_with_the_root_of_the_rows():
    small, large = (
        book.goss_experiment(g, x < 0.0, n_draws=60)
        for x, g in (_gradients(500, 0), _gradients(8000, 0))
    )
    assert np.median(large.errors) < 0.5 * np.median(small.errors)
    assert large.bound.root < 0.3 * small.bound.root


def test_goss_that_keeps_all_the_rest_is_exact():
    x, g = _gradients(200, 1)
    assert_allclose(book.goss_gain(g, x < 0, 0.4, 0.6), book.variance_gain(g, x < 0))


@pytest.mark.parametrize("n_rows", [300, 600])
def test_conflicts_change_the_accuracy_by_no_more_than_the_order(n_rows):
    changes = []
    for seed in range(3):
        found = book.efb_experiment(n_rows, 0.06, n_rounds=3, seed=seed)
        assert found.conflicts > 0
        changes.append(found.change)
    assert np.mean(changes) <= 2 * book.efb_error_order(n_rows, 0.06)


def test_without_conflicts_nothing_changes():
    assert book.efb_experiment(200, 0.0, n_rounds=2).change == 0.0
