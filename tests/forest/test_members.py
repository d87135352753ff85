"""The trees of a forest are estimators: made once, sharing arrays, and together they are the forest."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.utils.validation import check_is_fitted

from arboretum import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    export_text,
)

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)
FORESTS = {
    RandomForestClassifier: (DecisionTreeClassifier, IRIS),
    ExtraTreesClassifier: (ExtraTreeClassifier, IRIS),
    RandomForestRegressor: (DecisionTreeRegressor, DIABETES),
    ExtraTreesRegressor: (ExtraTreeRegressor, DIABETES),
}


@pytest.mark.parametrize("kind", FORESTS, ids=lambda kind: kind.__name__)
def test_a_forest_is_the_mean_of_its_estimators(kind):
    tree, (X, y) = FORESTS[kind]
    forest = kind(5, max_depth=3, min_samples_leaf=2, random_state=0).fit(X, y)
    assert len(forest) == len(forest.estimators_) == 5
    assert list(forest) == forest.estimators_
    assert forest[-1] is forest.estimators_[4]
    for one, grown in zip(forest, forest.trees_, strict=True):
        check_is_fitted(one)
        assert type(one) is tree
        assert (one.max_depth, one.min_samples_leaf) == (3, 2)
        assert one.tree_.value is grown.value
        assert "|---" in export_text(one)
    method = "predict_proba" if tree.__name__.endswith("Classifier") else "predict"
    mean = np.mean([getattr(one, method)(X) for one in forest], axis=0)
    assert_allclose(mean, getattr(forest, method)(X))
    for made in (forest.estimator, forest.estimator_):
        assert type(made) is tree
        assert not hasattr(made, "tree_")
    assert "estimator" not in forest.get_params()


def test_trees_of_a_classifier_predict_numbers_of_classes():
    X, y = IRIS
    words = np.array(["c", "a", "b"])[y]
    forest = RandomForestClassifier(3, random_state=0).fit(X, words)
    first = forest.estimators_[0]
    assert_array_equal(first.classes_, [0.0, 1.0, 2.0])
    assert first.predict(X[:5]).dtype == np.float64
    assert (forest.classes_[first.predict(X).astype(int)] == words).mean() > 0.9
    several = RandomForestClassifier(3, random_state=0).fit(X, np.c_[words, y == 1])
    assert [len(one) for one in several.estimators_[0].classes_] == [3, 2]
    assert several[0].predict(X[:4]).shape == (4, 2)


def test_columns_of_words_are_read_by_the_trees_too():
    frame = pd.DataFrame({"word": list("abc") * 20, "x": np.arange(60.0)})
    forest = RandomForestRegressor(3, random_state=0).fit(frame, np.arange(60) % 3)
    mean = np.mean([one.predict(frame) for one in forest], axis=0)
    assert_allclose(mean, forest.predict(frame))
    assert list(forest[0].feature_names_in_) == ["word", "x"]


def test_the_rows_of_a_tree_are_those_of_its_bag():
    X, y = IRIS
    for draws in (None, 40, 300, 1.5):
        forest = RandomForestClassifier(4, max_samples=draws, random_state=0).fit(X, y)
        size = {None: 150, 40: 40, 300: 300, 1.5: 225}[draws]
        for rows, one in zip(forest.estimators_samples_, forest, strict=True):
            assert rows.dtype == np.int32
            assert len(rows) == size
            assert one.tree_.weighted_n_node_samples[0] == size
            assert one.tree_.n_node_samples[0] == len(np.unique(rows))
    every = ExtraTreesClassifier(2, random_state=0).fit(X, y)
    assert_array_equal(every.estimators_samples_[1], np.arange(150))


def test_other_ensembles_are_sequences_too():
    X, y = IRIS
    boosted = GradientBoostingClassifier(n_estimators=4).fit(X, y)
    assert len(boosted) == 4
    assert boosted[1].shape == (3,)
    assert [one.shape for one in boosted] == [(3,)] * 4
    for model in (AdaBoostClassifier(n_estimators=3), BaggingRegressor(n_estimators=3)):
        model.fit(X, y)
        assert [*model] == model.estimators_
        assert model[0] is model.estimators_[0]
        assert len(model) == 3


@pytest.mark.parametrize("kind", FORESTS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("bootstrap", [False, True])
def test_the_clone_of_a_tree_grows_it_again_from_its_rows(kind, bootstrap):
    tree, (X, y) = FORESTS[kind]
    forest = kind(3, max_features=0.5, max_depth=4, bootstrap=bootstrap).fit(X, y)
    for rows, one in zip(forest.estimators_samples_, forest, strict=True):
        again = clone(one).fit(X[rows], y[rows])
        assert type(again) is tree
        assert_allclose(again.tree_.value, one.tree_.value)
        assert_array_equal(again.tree_.feature, one.tree_.feature)
        other = clone(one).set_params(random_state=1).fit(X[rows], y[rows])
        assert other.tree_.feature.tolist() != one.tree_.feature.tolist()


def test_numpys_seed_governs_models_without_one():
    X, y = DIABETES
    each = []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        each.append(RandomForestRegressor(2, max_depth=3).fit(X, y).predict(X).tolist())
    assert each[0] == each[1] != each[2]


@pytest.mark.filterwarnings("ignore:Warm-start fitting")
def test_without_new_trees_a_warm_start_does_nothing():
    X, y = IRIS
    for model in (
        RandomForestClassifier(3, warm_start=True, random_state=0),
        BaggingClassifier(n_estimators=3, warm_start=True, random_state=0),
    ):
        model.fit(X, y)
        members, classes = list(model.estimators_), model.classes_
        assert model.fit(X, y > 0) is model
        assert model.estimators_ == members
        assert model.classes_ is classes
    forest = RandomForestClassifier(3, warm_start=True, random_state=0).fit(X, y)
    assert forest.set_params(keep_leaves=True, oob_score=True).fit(X, y).oob_score_ > 0.5
    assert forest.proximity().shape == (150, 150)
