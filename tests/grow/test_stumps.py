"""Trees grown again and again on the same rows: they are those that CART grows on these weights."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import AdaBoostClassifier, AdaBoostRegressor, CARTClassifier, CARTRegressor
from arboretum.boosting.adaboost.learners import is_shared_tree, round_weights
from arboretum.data.schema import learn_schema
from arboretum.grow.category_stumps import code_categories
from arboretum.textbook import cart
from arboretum.textbook.adaboost import AdaRules, samme
from arboretum.textbook.splits import Rules
from arboretum.textbook.weak_learners import tree_learner
from tests.grow.reweighted import Reweighted


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


@pytest.mark.parametrize("n", [200, 3_000])  # columns are walked, or counted throughout
@pytest.mark.parametrize("depth", [2, 5])
def test_as_many_bins_as_values_are_no_bins(n, depth):
    X, y = _frame(n, gaps=True)
    X["b"] = X["b"].round(1)
    X["a"] = (40 * X["a"]).round()
    X.loc[::7, "c"], X["c"] = np.nan, X["c"].round(1)
    bases = [CARTClassifier(max_depth=depth, max_bins=most) for most in (None, 60_000)]
    plain, binned = (AdaBoostClassifier(base, n_estimators=5).fit(X, y) for base in bases)
    for one, other in zip(plain.trees_, binned.trees_, strict=True):
        for name in ("feature", "threshold", "missing_child", "value", "impurity", "gain", "bits"):
            assert_array_equal(getattr(one, name), getattr(other, name), name)


def test_rows_of_no_weight_make_no_bins():
    X, y = _frame()
    w = np.ones(len(y))
    w[::3] = 0.0
    base = CARTClassifier(max_depth=2, max_bins=8)
    one = AdaBoostClassifier(base, n_estimators=3).fit(X, y, sample_weight=w)
    other = AdaBoostClassifier(base, n_estimators=3).fit(X[w > 0], y[w > 0])
    for some, all_of_them in zip(one.trees_, other.trees_, strict=True):
        assert_array_equal(some.feature, all_of_them.feature)
        assert_array_equal(some.threshold, all_of_them.threshold)


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


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"max_depth": 1}, "StumpGrower"),
        ({"max_depth": 1, "criterion": "error"}, "CartGrower"),
        ({"max_depth": 1, "criterion": "entropy"}, "CartGrower"),
        ({"max_depth": 1, "max_bins": 8}, "CartGrower"),
        ({"max_depth": 1, "min_samples_leaf": 5}, "PresortedGrower"),
        ({"max_depth": 1, "min_samples_leaf": 5, "max_bins": 8}, "PresortedGrower"),
        ({"max_depth": 8}, "PresortedGrower"),
        ({"max_depth": 9}, "CartGrower"),
        ({"max_depth": 2, "criterion": "error"}, "CartGrower"),
        ({"max_depth": 2, "max_leaf_nodes": 3}, "CartGrower"),
        ({"max_depth": 2, "surrogates": 1}, "CartGrower"),
        ({"max_depth": 1, "max_features": 2}, "DepthFirstGrower"),
        ({"max_depth": 1, "splitter": "random"}, "DepthFirstGrower"),
    ],
    ids=str,
)
def test_the_first_way_that_fits_is_taken(options, expected):
    X, y = _frame(40)
    model = CARTClassifier(**options).fit(X, y)
    trees = Reweighted(model, model._encode(X), model.schema_, y, 2)
    assert type(trees.grower).__name__ == expected


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


# ---------------------------------------------------------------------- ties
TWINS = {
    "the same": lambda x: x,
    "stretched": np.exp,
    "turned round": np.negative,  # what was on the left is on the right: sums are rounded otherwise
}


def _twins(twin, seed, n=40):
    """Return two columns, each beside a column that divides rows as it does, and noisy classes."""
    rng = np.random.default_rng(seed)
    one, other = rng.normal(size=(2, n))
    X = np.column_stack([one, twin(one), other, twin(other)])
    return X, (one * other + 0.5 * rng.normal(size=n) > 0).astype(int)


def _questions(tree, node=0, path=""):
    """Return what every inner node asks, by the way from the root."""
    if tree.n_children[node] == 0:
        return {}
    left, right = (_questions(tree, tree.first_child[node] + k, path + "LR"[k]) for k in (0, 1))
    return {path: (tree.feature[node], tree.threshold[node]), **left, **right}


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("twin", TWINS.values(), ids=TWINS.keys())
def test_of_columns_that_divide_alike_the_first_is_asked(twin, depth):
    base, rules = CARTClassifier(max_depth=depth), Rules("gini", n_classes=2, max_depth=depth)
    for seed in range(4):
        X, y = _twins(twin, seed)
        schema, matrix = learn_schema(X)
        trees = Reweighted(base, matrix, schema, y, 2)
        rng = np.random.default_rng(seed)
        for w in (rng.random(len(y)) / 3, round_weights(rng.random(len(y)) / 3, None)):
            asked = _questions(trees.grow(w).tree)
            assert {feature for feature, _ in asked.values()} <= {0, 2}
            nodes = [node for node in cart.grow(X, y, w, rules) if node.chosen]
            assert asked == {
                node.path: (node.chosen.feature, node.chosen.threshold) for node in nodes
            }


@pytest.mark.parametrize("twin", TWINS.values(), ids=TWINS.keys())
def test_a_column_that_divides_as_one_before_it_changes_no_round(twin):
    X, y = _twins(twin, seed=1)
    w = np.random.default_rng(1).random(len(y)) / 3
    base = CARTClassifier(max_depth=2)
    model = AdaBoostClassifier(base, n_estimators=8).fit(X, y, w)
    for member in model.estimators_:
        assert {feature for feature, _ in _questions(member.tree_).values()} <= {0, 2}
    alone = AdaBoostClassifier(base, n_estimators=8).fit(X[:, ::2], y, w)
    assert_array_equal(model.decision_function(X), alone.decision_function(X[:, ::2]))
    book = samme(X, y, w, AdaRules(8), tree_learner(Rules("gini", n_classes=2, max_depth=2)))
    assert_allclose(model.estimator_errors_, book.errors, rtol=1e-9)
