"""`arboretum.inspection` has scikit-learn's tools, with its fast method for the same families."""

import numpy as np
import pytest
import sklearn.inspection
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris

from arboretum import AdaBoostRegressor
from arboretum.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from arboretum.inspection import partial_dependence
from arboretum.predict.by_shares import predict_by_shares
from arboretum.tree import DecisionTreeRegressor

X, Y = load_diabetes(return_X_y=True)


@pytest.mark.parametrize("features", [[2], [2, 8]])
@pytest.mark.parametrize("method", ["auto", "recursion"])
def test_a_tree_has_scikit_learns_partial_dependence(features, method):
    ours = DecisionTreeRegressor(max_depth=4).fit(X, Y)
    theirs = ours.to_dtreeviz()  # the same nodes
    found = partial_dependence(ours, X, features, method=method, grid_resolution=20)
    peer = sklearn.inspection.partial_dependence(
        theirs, X, features, method=method, grid_resolution=20
    )
    assert_allclose(found.average, peer.average)
    assert_array_equal(found.grid_values[0], peer.grid_values[0])


def test_ensembles_are_the_mean_or_the_sum_of_their_trees():
    grid, features = np.array([[0.01], [-0.03]]), np.array([2])
    for kind in (RandomForestRegressor, ExtraTreesRegressor):
        forest = kind(5, max_depth=3, random_state=0).fit(X, Y)
        each = [one._compute_partial_dependence_recursion(grid, features) for one in forest]
        found = forest._compute_partial_dependence_recursion(grid, features)
        assert_allclose(found, np.mean(each, axis=0))
    iris = load_iris(return_X_y=True)
    boosted = GradientBoostingClassifier(n_estimators=4).fit(*iris)
    found = partial_dependence(boosted, iris[0], [2], method="recursion", grid_resolution=5)
    grid = found.grid_values[0][:, None]
    for k in range(3):
        each = [one[k]._compute_partial_dependence_recursion(grid, features) for one in boosted]
        assert_allclose(found.average[k], 0.1 * np.sum(each, axis=0), atol=1e-12)


def test_missing_values_go_their_way_and_categories_are_refused():
    words = np.array([["a", 1], ["b", 1], ["a", 2], ["b", np.nan]], dtype=object)
    model = DecisionTreeRegressor().fit(words, [1.0, 2.0, 3.0, 4.0])
    found = predict_by_shares(model.ensemble_, np.array([[1.0], [np.nan]]), np.array([1]))
    assert np.isfinite(found).all()
    with pytest.raises(ValueError, match="recursion method is for numbers"):
        predict_by_shares(model.ensemble_, np.array([[0.0]]), np.array([0]))


def test_what_scikit_learn_refuses_is_refused_in_its_words():
    model = RandomForestRegressor(2).fit(X, Y)
    for given, words in (
        ({"kind": "individual"}, "only applies when 'kind' is set to 'average'"),
        ({"sample_weight": np.ones(len(X))}, "only be applied when sample_weight is None"),
    ):
        with pytest.raises(ValueError, match=words):
            partial_dependence(model, X, [0], method="recursion", **given)
    with pytest.raises(ValueError, match="Only the following estimators support"):
        partial_dependence(AdaBoostRegressor(n_estimators=2).fit(X, Y), X, [0], method="recursion")
    boosted = GradientBoostingRegressor(n_estimators=2, init=DecisionTreeRegressor()).fit(X, Y)
    with pytest.warns(UserWarning, match="Using recursion method with a non-constant init"):
        partial_dependence(boosted, X, [0], method="recursion")


def test_other_kinds_are_computed_by_the_model():
    model = RandomForestRegressor(2, random_state=0).fit(X, Y)
    found = partial_dependence(model, X, [0], kind="both", grid_resolution=3)
    peer = sklearn.inspection.partial_dependence(model, X, [0], kind="both", grid_resolution=3)
    assert_array_equal(found.individual, peer.individual)
