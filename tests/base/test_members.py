"""Estimators inside estimators: what they are told of the columns, and how they are kept."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.neighbors import KNeighborsClassifier

import arboretum
from arboretum import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    CARTClassifier,
    StackingClassifier,
    VotingClassifier,
)
from arboretum.errors import DataError, ParameterError

rng = np.random.default_rng(0)
TABLE = pd.DataFrame({"code": np.arange(60) % 7, "b": rng.normal(size=60)})
Y = (TABLE["code"] % 2).to_numpy()
TREES = [("cart", CARTClassifier(max_depth=3)), ("c45", C45Classifier())]
OWNERS = pytest.mark.parametrize(
    "make",
    [
        lambda **k: BaggingClassifier(n_estimators=3, random_state=0, **k),
        lambda **k: AdaBoostClassifier(n_estimators=3, **k),
        lambda **k: VotingClassifier(TREES, voting="soft", **k),
        lambda **k: StackingClassifier(TREES, CARTClassifier(max_depth=2), **k),
    ],
    ids=["bagging", "adaboost", "voting", "stacking"],
)


@OWNERS
def test_members_are_told_what_columns_are(make):
    model = make(categorical_features=["code"]).fit(TABLE, Y)
    assert model.schema_.columns[0].kind == "categorical"
    assert all(member.schema_.columns[0].kind == "categorical" for member in model.estimators_)
    file = io.BytesIO()
    model.save(file)
    again = arboretum.load(file.getvalue())
    np.testing.assert_array_equal(model.predict_proba(TABLE), again.predict_proba(TABLE))


@OWNERS
def test_unseen_is_passed_on(make):
    new = pd.DataFrame({"code": [99], "b": [0.0]})
    strict = make(categorical_features=["code"], unseen="error").fit(TABLE, Y)
    with pytest.raises(DataError, match="unseen at fit: 99"):
        strict.predict(new)
    with pytest.warns(UserWarning, match="unseen"):
        make(categorical_features=["code"]).fit(TABLE, Y).predict(new)


@OWNERS
def test_none_is_as_the_estimators_say(make):
    assert make().fit(TABLE, Y).schema_.columns[0].kind == "numeric"


@pytest.mark.parametrize(
    "model",
    [
        BaggingClassifier(KNeighborsClassifier(), categorical_features=["code"]),
        AdaBoostClassifier(
            KNeighborsClassifier(), sampling="resample", categorical_features=["code"]
        ),
        VotingClassifier([("knn", KNeighborsClassifier())], categorical_features=["code"]),
    ],
    ids=["bagging", "adaboost", "voting"],
)
def test_estimators_that_cannot_be_told_are_an_error(model):
    with pytest.raises(ParameterError, match=r"categorical_features of .* encode the columns"):
        model.fit(TABLE, Y)


class Silent(RegressorMixin, BaseEstimator):
    """Its fit returns nothing."""

    def fit(self, X, y):
        self.mean_ = float(np.mean(y))

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize(
    "model",
    [
        arboretum.BaggingRegressor(Silent(), 3, bootstrap=False),
        arboretum.GradientBoostingRegressor(init=Silent(), n_estimators=1, learning_rate=1e-9),
        arboretum.AdaBoostRegressor(Silent(), n_estimators=2, sampling="resample"),
        arboretum.VotingRegressor([("silent", Silent())]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_fit_returns_does_not_matter(model):
    X, y = np.arange(8.0)[:, None], np.arange(8.0)
    assert np.abs(model.fit(X, y).predict(X) - 3.5).max() < 2
