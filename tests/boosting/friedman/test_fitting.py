"""Answers in order: no path may cross the bounds of its constrained nodes, and nothing else is moved."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from arboretum import CARTRegressor
from arboretum.boosting.friedman.fitting import keep_order
from arboretum.predict.walk import leaves_of


def grown(seed, depth=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    model = CARTRegressor(max_depth=depth).fit(X, rng.normal(size=200) + X[:, 0])
    return rng, model, rng.normal(size=len(model.tree_))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(4))
def test_answers_follow_the_column(seed, sign):
    rng, model, answers = grown(seed)
    kept = keep_order(model.tree_, np.array([sign, 0, 0]), answers)
    for row in rng.normal(size=(30, 3)):
        table = np.repeat(row[None], 60, axis=0)
        table[:, 0] = np.linspace(-3, 3, 60)
        said = kept[leaves_of(model.tree_, model._encode(table), 1)]
        assert (sign * np.diff(said) >= 0).all()


def test_without_constraints_nothing_moves():
    _, model, answers = grown(0)
    assert_array_equal(keep_order(model.tree_, np.zeros(3), answers), answers)


def test_answers_in_order_stay_what_they_are():
    X = np.arange(8.0)[:, None]
    tree = CARTRegressor().fit(X, np.arange(8.0)).tree_
    rising = tree.value[:, 0, 0]
    assert_array_equal(keep_order(tree, np.array([1]), rising), rising)
