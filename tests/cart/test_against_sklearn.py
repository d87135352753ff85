"""The same tree as scikit-learn, node by node, where no ties exist.

Two correct programs may differ, and these tables are made so that they do not:

    ties            scikit-learn takes the first of equally good splits in a random order of columns, we
                    take the lowest column. Row weights are uneven multiples of 1/64: every partition
                    has a gain of its own, and sums are exact. Small nodes still tie (three rows can be
                    parted alike by two columns), so leaves keep a few rows.
    float32         scikit-learn rounds the table to float32 and treats values closer than 1e-7 as
                    equal; the columns here are float32 numbers.
    missing values  where a node saw none in training, a missing value later goes to the child with more
                    weight here (left between equals), and to the one with more rows there.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import tree as peer

import arboretum
from arboretum.structure.tree import LEAF

CLASSIFICATION = ("gini", "entropy", "log_loss")
# scikit-learn has given up friedman_mse (an alias of squared_error with one output)
REGRESSION = ("squared_error", "absolute_error", "poisson")
CRITERIA = CLASSIFICATION + REGRESSION


def make(criterion, seed=0, n=240, outputs=1, missing=0.0, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).astype(np.float32).astype(np.float64)
    signal = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3]
    y = signal[:, None] * np.linspace(1, -0.5, outputs) + rng.normal(size=(n, outputs))
    if criterion in CLASSIFICATION:
        y = np.digitize(y, [0.0] if classes == 2 else np.linspace(-1, 1, classes - 1))
    elif criterion == "poisson":
        y = rng.poisson(np.exp(y / 2)).astype(float)
    hidden = rng.random(X.shape) < missing
    hidden[:, 3] |= (X[:, 3] > 0.8) & (missing > 0)  # being missing says something
    X[hidden] = np.nan
    w = rng.integers(20, 200, n) / 64
    return X, y[:, 0] if outputs == 1 else y, w


def both(criterion, X, y, w, **options):
    name = "DecisionTreeClassifier" if criterion in CLASSIFICATION else "DecisionTreeRegressor"
    mine = getattr(arboretum, name)(criterion=criterion, **options)
    theirs = getattr(peer, name)(criterion=criterion, random_state=0, **options)
    return mine.fit(X, y, sample_weight=w), theirs.fit(X, y, sample_weight=w)


def match(mine, theirs):
    """Compare two trees node by node; return our number of each of their nodes."""
    a, b = mine.tree_, theirs.tree_
    assert len(a) == b.node_count
    number = np.empty(b.node_count, int)
    waiting = [(0, 0)]
    while waiting:
        i, j = waiting.pop()
        number[j] = i
        assert (a.kind[i] == LEAF) == (b.children_left[j] == -1)
        if a.kind[i] != LEAF:
            assert (a.feature[i], a.threshold[i]) == (b.feature[j], b.threshold[j])
            children = a.first_child[i], a.first_child[i] + 1
            waiting += zip(children, (b.children_left[j], b.children_right[j]))
    return number


def assert_same(mine, theirs, X, least=4):
    a, b = mine.tree_, theirs.tree_
    number = match(mine, theirs)
    assert mine.get_n_leaves() == theirs.get_n_leaves() >= least
    assert mine.get_depth() == theirs.get_depth()
    assert_array_equal(a.count[number], b.n_node_samples)
    assert_allclose(a.weight[number], b.weighted_n_node_samples, rtol=1e-12)
    assert_allclose(a.impurity[number], b.impurity, rtol=1e-9, atol=1e-12)
    assert_allclose(a.value[number], b.value, rtol=1e-9, atol=1e-12)
    assert_array_equal(mine.apply(X), number[theirs.apply(X)])
    assert_array_equal(
        mine.decision_path(X).toarray()[:, number], theirs.decision_path(X).toarray()
    )
    assert_allclose(mine.feature_importances_, theirs.feature_importances_, rtol=1e-9, atol=1e-12)
    assert_allclose(mine.predict(X), theirs.predict(X), rtol=1e-9)
    if hasattr(theirs, "predict_proba"):
        assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-12)


LIMITS = [
    {"max_depth": 4, "min_samples_leaf": 5},
    {"min_samples_split": 40, "min_samples_leaf": 5},
    {"min_samples_split": 0.15, "min_samples_leaf": 0.031},
    {"min_weight_fraction_leaf": 0.05},
    {"min_weight_fraction_leaf": 0.04, "max_leaf_nodes": 9},
    {"max_leaf_nodes": 7, "min_samples_leaf": 4},
    {"max_leaf_nodes": 12, "max_depth": 5, "min_samples_leaf": 5, "min_impurity_decrease": 0.004},
    {"min_impurity_decrease": 0.008, "min_samples_leaf": 5},
]


@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: "-".join(limits))
@pytest.mark.parametrize("criterion", CRITERIA)
def test_same_tree(criterion, limits):
    X, y, w = make(criterion)
    mine, theirs = both(criterion, X, y, w, **limits)
    assert_same(mine, theirs, X)
    fresh = make(criterion, seed=1)[0]
    assert_allclose(mine.predict(fresh), theirs.predict(fresh), rtol=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_same_full_tree_of_one_column(criterion):
    # two cuts of one column never give the same partition: no ties down to the single rows
    X, y, w = make(criterion, seed=2)
    mine, theirs = both(criterion, X[:, :1], y, w)
    assert_same(mine, theirs, X[:, :1], least=50)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_without_weights_and_with_whole_ones(criterion):
    X, y, _ = make(criterion, seed=4)
    limits = {"max_depth": 3, "min_samples_leaf": 10, "min_weight_fraction_leaf": 0.06}
    w = np.random.default_rng(3).integers(1, 40, len(y)).astype(float)
    assert_same(*both(criterion, X, y, w, **limits), X)
    if criterion != "absolute_error":  # without weights medians often stay where they are: ties
        assert_same(*both(criterion, X, y, None, **limits), X)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_rows_of_weight_zero(criterion):
    X, y, w = make(criterion, seed=5)
    w[::4] = 0.0
    assert_same(*both(criterion, X, y, w, max_depth=4, min_samples_leaf=5), X)


@pytest.mark.parametrize("outputs", [2, 3])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_several_outputs(criterion, outputs):
    X, y, w = make(criterion, seed=6, outputs=outputs)
    mine, theirs = both(criterion, X, y, w, max_depth=4, min_samples_leaf=6)
    assert_same(mine, theirs, X)
    assert mine.predict(X).shape == (len(X), outputs)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5, 2: 1.25}, {0: 3.0}])
@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_class_weight(criterion, class_weight):
    X, y, w = make(criterion, seed=7)
    limits = {"max_depth": 4, "min_samples_leaf": 6, "class_weight": class_weight}
    assert_same(*both(criterion, X, y, w, **limits), X)


def test_class_weight_of_several_outputs():
    X, y, w = make("gini", seed=8, outputs=2)
    for class_weight in ("balanced", [{0: 2.0}, {1: 0.5, 2: 3.0}]):
        limits = {"max_depth": 3, "min_samples_leaf": 6, "class_weight": class_weight}
        assert_same(*both("gini", X, y, w, **limits), X)


@pytest.mark.parametrize("rate", [0.05, 0.3])
@pytest.mark.parametrize("criterion", [*CLASSIFICATION, "squared_error", "poisson"])
def test_missing_values(criterion, rate):
    X, y, w = make(criterion, seed=9, missing=rate)
    mine, theirs = both(criterion, X, y, w, max_depth=5, min_samples_leaf=6)
    assert_same(mine, theirs, X)
    number, passes = match(mine, theirs), theirs.decision_path(X).toarray() > 0
    learned = set()
    for j in np.flatnonzero(theirs.tree_.children_left >= 0):
        if np.isnan(X[passes[:, j], theirs.tree_.feature[j]]).any():
            left = bool(theirs.tree_.missing_go_to_left[j])
            assert (mine.tree_.missing_child[number[j]] == 0) == left
            learned.add(left)
    assert learned == {True, False}


@pytest.mark.parametrize("signs", [(1, 0, -1, 1, 0), (-1, 1, 0, 1, 1), (0, -1, 1, -1, 0)])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_monotone_constraints(criterion, signs):
    X, y, w = make(criterion, seed=10, classes=2)
    for limits in ({"max_depth": 5}, {"max_leaf_nodes": 10}):
        options = {"min_samples_leaf": 5, "monotonic_cst": signs, **limits}
        mine, theirs = both(criterion, X, y, w, **options)
        assert_same(mine, theirs, X)
    free = both(criterion, X, y, w, max_depth=5, min_samples_leaf=5)[0]
    assert not np.array_equal(free.predict(X), mine.predict(X))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_pruning_path_and_ccp_alpha(criterion):
    X, y, w = make(criterion, seed=11)
    mine, theirs = both(criterion, X, y, w, min_samples_leaf=5)
    ours, path = (m.cost_complexity_pruning_path(X, y, w) for m in (mine, theirs))
    assert_allclose(ours.ccp_alphas, path.ccp_alphas, rtol=1e-9, atol=1e-12)
    assert_allclose(ours["impurities"], path["impurities"], rtol=1e-9, atol=1e-12)
    assert len(path.ccp_alphas) > 8
    for k in (2, 5, len(path.ccp_alphas) - 3):
        alpha = (path.ccp_alphas[k] + path.ccp_alphas[k + 1]) / 2
        models = both(criterion, X, y, w, min_samples_leaf=5, ccp_alpha=alpha)
        assert_same(*models, X, least=2)
        assert models[0].get_n_leaves() == ours.n_leaves[k]


def test_max_features_means_as_many_columns():
    X, y, w = make("gini")
    for max_features in (1, 3, 0.5, 0.01, "sqrt", "log2", None):
        mine, theirs = both("gini", X, y, w, max_features=max_features, max_depth=2)
        assert mine.max_features_ == theirs.max_features_
