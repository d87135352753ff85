"""`tree_` has scikit-learn's arrays, conventions and methods, and all that the tree itself has."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.tree
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris

from arboretum import C45Classifier, DecisionTreeClassifier, DecisionTreeRegressor
from arboretum.predict.fitted_tree import FittedTree
from arboretum.structure.tree import Tree

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)
BOTH = {
    "classes": (  # without the ties of two columns
        DecisionTreeClassifier,
        sklearn.tree.DecisionTreeClassifier,
        (IRIS[0][:, :3], IRIS[1]),
    ),
    "numbers": (DecisionTreeRegressor, sklearn.tree.DecisionTreeRegressor, DIABETES),
    "two targets": (
        DecisionTreeRegressor,
        sklearn.tree.DecisionTreeRegressor,
        (DIABETES[0], np.c_[DIABETES[1], DIABETES[0][:, 0]]),
    ),
}


def _walked(tree, x):
    """The walk that everybody copies from scikit-learn's pages."""
    node = 0
    while tree.feature[node] != sklearn.tree._tree.TREE_UNDEFINED:
        left = x[tree.feature[node]] <= tree.threshold[node]
        node = tree.children_left[node] if left else tree.children_right[node]
    return node


@pytest.mark.parametrize("case", BOTH)
def test_it_has_what_scikit_learns_tree_has(case):
    ours, theirs, (X, y) = BOTH[case]
    X = X.astype(np.float32)
    mine, other = ours(max_depth=3).fit(X, y), theirs(max_depth=3).fit(X, y)
    tree, peer = mine.tree_, other.tree_
    for name in ("node_count", "n_leaves", "max_depth", "n_features", "n_outputs", "max_n_classes"):
        assert getattr(tree, name) == getattr(peer, name), name
    assert_array_equal(tree.n_classes, peer.n_classes)
    for name in ("feature", "threshold", "missing_go_to_left", "children_left", "value"):
        assert getattr(tree, name).dtype.kind == getattr(peer, name).dtype.kind, name
    leaf = tree.children_left == -1
    assert_array_equal(tree.feature[leaf], -2)
    assert_array_equal(tree.threshold[leaf], -2.0)
    assert not tree.missing_go_to_left[leaf].any()
    assert tree.capacity == len(tree) == len(peer.feature)
    assert sorted(tree.compute_node_depths()) == sorted(peer.compute_node_depths())
    for normalize in (True, False):
        found = tree.compute_feature_importances(normalize=normalize)
        assert_allclose(found, peer.compute_feature_importances(normalize=normalize))
    assert_allclose(tree.predict(X), peer.predict(X))
    leaves = tree.apply(X)
    assert leaves.dtype == peer.apply(X).dtype
    assert_array_equal(leaves, [_walked(tree, x) for x in X])
    assert_array_equal(leaves, mine.apply(X))
    assert_array_equal(tree.apply(sp.csr_array(X)), leaves)
    passed = tree.decision_path(X).toarray()
    assert passed.shape == (len(X), len(tree))
    assert_array_equal(passed.sum(axis=1), tree.compute_node_depths()[leaves])


def test_it_shares_the_arrays_and_is_made_once_for_a_fit():
    model = DecisionTreeClassifier(max_depth=2).fit(*IRIS)
    tree = model.tree_
    assert isinstance(tree, FittedTree)
    assert isinstance(tree, Tree)
    assert model.tree_ is tree
    assert tree.value is model.trees_[0].value
    assert_array_equal(model.trees_[0].feature[tree.leaves], -1)
    assert tree[0].pretty() == model.trees_[0][0].pretty()
    assert model.fit(*IRIS).tree_ is not tree
    assert not hasattr(DecisionTreeClassifier(), "tree_")


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_a_copy_is_the_same(copied):
    tree = DecisionTreeClassifier(max_depth=2).fit(*IRIS).tree_
    again = copied(tree)
    for name in ("feature", "threshold", "value", "n_classes", "missing_go_to_left"):
        assert_array_equal(getattr(again, name), getattr(tree, name))
    assert_array_equal(again.apply(IRIS[0]), tree.apply(IRIS[0]))


def test_words_and_gaps_are_read_as_the_model_reads_them():
    frame = pd.DataFrame({"word": list("abcabcabc"), "x": [1, 2, np.nan] * 3})
    model = DecisionTreeClassifier().fit(frame, [0, 1, 2] * 3)
    assert_array_equal(model.tree_.apply(frame), model.apply(frame))
    assert np.isnan(model.tree_.threshold[model.tree_.kind == 2]).all()  # sets of categories
    many = C45Classifier().fit(frame[["word"]], [0, 1, 2] * 3).tree_
    assert many.feature[0] == 0
    with pytest.raises(AttributeError, match="nothing"):
        _ = model.tree_.nothing
