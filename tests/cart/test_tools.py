"""scikit-learn's tools work with our trees: clone, pickle, grid search, pipelines, ensembles."""

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, BaggingRegressor, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboretum import CARTClassifier, CARTRegressor, ParameterError
from tests.cart.cart_cases import BOTH, data_for, fitted, same_trees


@pytest.mark.parametrize("Model", BOTH)
def test_parameters_are_kept_as_given(Model):
    given = {"max_depth": 3, "monotonic_cst": {"x0": 1}, "n_jobs": 2, "surrogates": 1}
    model = Model(**given)
    assert {name: model.get_params()[name] for name in given} == given
    assert model.get_params()["monotonic_cst"] is given["monotonic_cst"]
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert model.set_params(max_depth=5) is model
    assert model.max_depth == 5
    assert copy.max_depth == 3


@pytest.mark.parametrize("Model", BOTH)
def test_repr_shows_what_differs_from_the_defaults(Model):
    assert repr(Model()) == f"{Model.__name__}()"
    assert repr(Model(max_depth=3, n_jobs=2)) == f"{Model.__name__}(max_depth=3, n_jobs=2)"
    assert Model.__name__ in Model(max_depth=3).fit(*data_for(Model))._repr_html_()


@pytest.mark.parametrize("Model", BOTH)
def test_a_clone_is_not_fitted_and_fits_the_same_tree(Model):
    model = fitted(Model, max_depth=4)
    copy = clone(model)
    for method in (copy.predict, copy.apply, copy.decision_path):
        with pytest.raises(NotFittedError):
            method(data_for(Model)[0])
    for method in (copy.get_depth, copy.get_n_leaves):
        with pytest.raises(NotFittedError):
            method()
    with pytest.raises(NotFittedError):
        copy.feature_importances_
    with pytest.raises(NotFittedError):
        copy.save(io.BytesIO())
    assert same_trees(copy.fit(*data_for(Model)), model)


@pytest.mark.parametrize("Model", BOTH)
def test_pickle_and_joblib_keep_the_model_and_drop_what_is_worked_out(Model):
    X, y = data_for(Model)
    model = Model(max_depth=4, surrogates=2).fit(X, y)
    fresh = len(pickle.dumps(model))
    expected = model.predict(X)
    model.tree_.depth, model.tree_.parent  # fill the caches
    assert len(pickle.dumps(model)) == fresh
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(file)):
        assert set(vars(copy.trees_[0])) == {*copy.trees_[0].__dataclass_fields__}
        assert same_trees(copy, model)
        np.testing.assert_array_equal(copy.predict(X), expected)
        assert copy.tree_.max_depth == model.get_depth()


def test_grid_search_finds_and_refits():
    X, y = data_for(CARTClassifier)
    grid = {"max_depth": [1, 4], "criterion": ["gini", "entropy"], "surrogates": [0, 2]}
    search = GridSearchCV(CARTClassifier(), grid, cv=3).fit(X, y)
    assert search.best_params_["max_depth"] == 4
    assert search.best_score_ > 0.5
    assert search.best_estimator_.get_depth() == 4


def test_grid_search_reports_a_bad_value():
    X, y = data_for(CARTClassifier)
    search = GridSearchCV(CARTClassifier(), {"max_depth": [-1]}, cv=3, error_score="raise")
    with pytest.raises(
        ParameterError, match="'max_depth' parameter of DecisionTreeClassifier must be an int ≥ 1"
    ):
        search.fit(X, y)


def test_pipelines_reach_the_parameters():
    X, y = data_for(CARTRegressor)
    columns = make_column_transformer((StandardScaler(), [0, 1]), remainder="passthrough")
    pipe = make_pipeline(columns, CARTRegressor())
    pipe.set_params(decisiontreeregressor__max_depth=3).fit(X, y)
    assert pipe[-1].get_depth() == 3
    assert pipe.score(X, y) > 0.5
    with pytest.raises(ParameterError, match="did you mean 'max_depth'"):
        pipe.set_params(decisiontreeregressor__max_dept=3)


@pytest.mark.parametrize("Model", BOTH)
def test_cross_validation_in_worker_processes(Model):
    X, y = data_for(Model)
    model = Model(max_depth=4, max_features=3, random_state=0)
    here = cross_val_score(model, X, y, cv=4)
    there = cross_val_score(model, X, y, cv=4, n_jobs=2)
    np.testing.assert_array_equal(here, there)
    assert here.mean() > 0.3
    with joblib.parallel_config("threading", n_jobs=2):
        np.testing.assert_array_equal(cross_val_score(model, X, y, cv=4), here)


def test_ensembles_of_scikit_learn_take_our_trees():
    X, y = data_for(CARTClassifier)
    boosted = AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=10, random_state=0)
    assert boosted.fit(X, y).score(X, y) > CARTClassifier(max_depth=2).fit(X, y).score(X, y)
    voting = VotingClassifier([(c, CARTClassifier(criterion=c)) for c in ("gini", "entropy")])
    assert voting.fit(X, y).score(X, y) == 1.0
    X, y = data_for(CARTRegressor)
    bagged = BaggingRegressor(CARTRegressor(), n_estimators=5, random_state=0, n_jobs=2).fit(X, y)
    assert bagged.score(X, y) > 0.8


def test_cross_val_predict_with_names_and_categories():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=200), "kind": rng.choice(list("abc"), 200)})
    y = np.where(table["kind"] == "b", table["size"] > 0, table["size"] < 0)
    shares = cross_val_predict(CARTClassifier(), table, y, method="predict_proba", cv=4)
    assert shares.shape == (200, 2)
    assert np.mean(shares.argmax(axis=1) == y) > 0.9
