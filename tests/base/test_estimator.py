"""Going on from the last fit: the same model as one long fit, and the same checks everywhere."""

import io

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

import arboretum
from arboretum import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    CARTClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from arboretum.errors import DataError, ParameterError

MODELS = [
    RandomForestClassifier(4, random_state=0),
    BaggingClassifier(n_estimators=4, random_state=0),
    GradientBoostingRegressor(n_estimators=4, random_state=0),
    AdaBoostClassifier(n_estimators=4, random_state=0),
    AdaBoostClassifier(n_estimators=4, sampling="resample", random_state=0),
    AdaBoostClassifier(n_estimators=4, algorithm="SAMME.R", random_state=0),
    AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=4, random_state=0),
    AdaBoostRegressor(n_estimators=4, random_state=0),
]
CASES = pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)


def data(model):
    regression = type(model).__name__.endswith("Regressor")
    X, y = load_diabetes(return_X_y=True) if regression else load_iris(return_X_y=True)
    w = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    return X, y, w


@CASES
def test_two_fits_are_one_long_fit(model):
    X, y, w = data(model)
    long = clone(model).set_params(n_estimators=9).fit(X, y, w)
    short = clone(model).set_params(warm_start=True).fit(X, y, w)
    file = io.BytesIO()
    short.save(file)
    short = arboretum.load(file.getvalue()).set_params(n_estimators=9).fit(X, y, w)
    np.testing.assert_array_equal(long.predict(X), short.predict(X))
    assert len(long) == len(short) == 9


@CASES
def test_what_is_checked(model):
    X, y, _ = data(model)
    fitted = clone(model).set_params(warm_start=True).fit(X, y)
    with pytest.raises(ParameterError, match=r"n_estimators is 2, but there are 4 .*s already"):
        clone(fitted).fit(X, y).set_params(n_estimators=2).fit(X, y)
    with pytest.warns(UserWarning, match="n_estimators has not grown"):
        fitted.fit(X, y)
    with pytest.raises(DataError, match="with warm_start=True the table must have"):
        fitted.set_params(n_estimators=9).fit(X[:, :3], y)


def test_a_perfect_learner_stays_the_last():
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    model = AdaBoostClassifier(n_estimators=3, warm_start=True).fit(X, y)
    assert (len(model), model.stop_) == (1, "perfect")
    model.set_params(n_estimators=10).fit(X, y)
    assert (len(model), model.stop_) == (1, "perfect")
