"""An engine's forest grown again by the textbook from the engine's own bags."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import arboretum as arb
from arboretum import textbook as book


def table(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)


def _counts(samples, n):
    return np.array([np.bincount(rows, minlength=n) for rows in samples])


@pytest.mark.parametrize("family", ["forest", "bagging"])
def test_the_trees_of_an_engine_s_forest_are_grown_again(family):
    X, y = table()
    if family == "forest":
        model = arb.RandomForestClassifier(4, max_features=None, random_state=1).fit(X, y)
        bags = np.array([model._bags.counts(t) for t in range(4)])
        trees = model.trees_
    else:
        model = arb.BaggingClassifier(arb.CARTClassifier(), n_estimators=4, random_state=1).fit(
            X, y
        )
        bags = _counts(model.estimators_samples_, len(X))
        trees = [member.tree_ for member in model.estimators_]
    forest = book.grow_forest(X, y, recipe=book.ForestRules(max_features=None), bags=bags)
    assert [sum(node.is_leaf for node in t) for t in forest.trees] == [t.n_leaves for t in trees]
    new = np.random.default_rng(1).normal(size=(200, 3))
    assert_allclose(book.predict_proba_forest(forest, new), model.predict_proba(new), atol=1e-12)
    assert (forest.in_bag == bags).all()


def test_bags_that_do_not_fit():
    X, y = table()
    with pytest.raises(ValueError, match="a line of 60 counts"):
        book.grow_forest(X, y, bags=np.ones((2, 59)))
    with pytest.raises(ValueError, match="a line of 60 counts"):
        book.grow_forest(X, y, bags=-np.ones((2, 60)))


def test_ssr_and_alpha_of_a_lecture():
    X, y = table(2)
    numbers = X[:, 0] ** 2
    tree = book.grow(X, numbers, rules=book.Rules("squared_error", max_depth=4))
    values = book.predict(tree, X)
    assert_allclose(book.ssr(tree), np.sum((numbers - values) ** 2))
    for step in book.pruning_path(tree)[1:]:
        lecture = step.alpha * len(y)  # of SSR + α·leaves
        pruned = book.prune(tree, lecture / len(y))
        n_leaves = sum(node.is_leaf for node in pruned)
        score = book.tree_score(book.ssr(pruned), lecture, n_leaves)
        larger = book.tree_score(book.ssr(tree), lecture, sum(node.is_leaf for node in tree))
        assert score <= larger + 1e-9
        assert n_leaves == step.n_leaves
