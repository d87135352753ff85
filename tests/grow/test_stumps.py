"""Trees grown again and again on the same rows: they are those that CART grows on these weights."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import AdaBoostClassifier, AdaBoostRegressor, CARTClassifier, CARTRegressor
from arboretum.boosting.adaboost.weak import is_shared_tree
from arboretum.grow.category_stumps import code_categories


def _frame(n=200, gaps=False):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    for name, k in (("few", 4), ("many", 30)):
        words = np.array([f"w{i}" for i in range(k)], dtype=object)[rng.integers(0, k, n)]
        words[rng.random(n) < (0.1 if gaps else 0.0)] = None
        frame[name] = words
    y = (frame["a"] + (frame["few"] == "w1") + rng.normal(size=n) > 0.3).astype(int)
    return frame, y.to_numpy()


def _same(one, other):
    assert_array_equal(one.feature, other.feature)
    assert_array_equal(one.threshold, other.threshold)
    assert_array_equal(one.bits, other.bits)
    assert_allclose(one.value, other.value, rtol=1e-9)
    assert_allclose(one.gain, other.gain, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"max_features": 2},
        {"splitter": "random"},
        {"splitter": "random", "min_weight_fraction_leaf": 0.05},
        {"max_features": 0.5, "criterion": "entropy"},
        {"max_features": 3, "ccp_alpha": 0.01},
        {"max_bins": 8},
        {"class_weight": {0: 3.0, 1: 1.0}},
        {"class_weight": "balanced", "criterion": "entropy"},
    ],
    ids=str,
)
def test_the_first_learner_is_the_tree_that_cart_grows(options, depth):
    X, y = _frame(gaps=True)
    base = CARTClassifier(max_depth=depth, **options)
    assert is_shared_tree(base, resample=False)
    model = AdaBoostClassifier(base, n_estimators=2, random_state=3)
    member = model.fit(X, y).estimators_[0]
    alone = CARTClassifier(max_depth=depth, random_state=member.random_state, **options).fit(X, y)
    _same(member.tree_, alone.tree_)
    assert member.max_features_ == alone.max_features_
    assert_allclose(member.predict_proba(X), alone.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("options", [{"max_features": 2}, {"splitter": "random"}, {"max_bins": 8}])
def test_so_it_is_with_numbers(options):
    X, y = _frame()
    y = X["a"] + y
    base = CARTRegressor(max_depth=2, **options)
    member = AdaBoostRegressor(base, n_estimators=2, random_state=3).fit(X, y).estimators_[0]
    alone = CARTRegressor(max_depth=2, random_state=member.random_state, **options).fit(X, y)
    _same(member.tree_, alone.tree_)


@pytest.mark.parametrize("options", [{"min_impurity_decrease": 0.01}, {"ccp_alpha": 0.02}, {}])
def test_two_classes_are_numbers_of_half_the_impurity(options):
    X, y = _frame()
    base = CARTClassifier(max_depth=3, min_samples_leaf=15, **options)
    tree = AdaBoostClassifier(base, n_estimators=1).fit(X, y).estimators_[0].tree_
    alone = CARTClassifier(max_depth=3, min_samples_leaf=15, **options).fit(X, y).tree_
    _same(tree, alone)
    assert_allclose(tree.impurity, alone.impurity, atol=1e-12)


def test_rows_that_are_drawn_leave_bins_and_class_weights_to_each_fit():
    assert not is_shared_tree(CARTClassifier(max_bins=8), resample=True)
    assert not is_shared_tree(CARTClassifier(class_weight="balanced"), resample=True)
    assert is_shared_tree(CARTClassifier(max_features=2), resample=True)
    assert not is_shared_tree(CARTClassifier(max_features=2, surrogates=2), resample=False)


@pytest.mark.parametrize("gaps", [False, True])
def test_counted_categories_are_divided_as_cart_divides_them(gaps):
    X, y = _frame(gaps=gaps)
    model = CARTClassifier(max_depth=1).fit(X, y)
    columns = code_categories(model._encode(X), model.schema_, 2, 1.0)
    rng = np.random.default_rng(0)
    for weights in (np.ones(len(y)), rng.random(len(y)), rng.integers(1, 9, len(y)).astype(float)):
        own = columns.search(y.astype(np.int32), weights)
        cart = columns._search_as_cart(y.astype(np.int32), weights)
        assert (own.feature, own.missing_left) == (cart.feature, cart.missing_left)
        assert own.score == cart.score
        assert own.has_missing == cart.has_missing
        assert own.worth == pytest.approx(cart.worth, rel=1e-12)
        assert_array_equal(own.takes, cart.takes)
        assert_array_equal(own.right, cart.right)
    assert columns.search(np.zeros(len(y), np.int32), np.ones(len(y))) is None
