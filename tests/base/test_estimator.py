"""Going on from the last fit: the same model as one long fit, and the same checks everywhere."""

import io

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

import arboretum
from arboretum import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    CARTClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from arboretum.base import estimator
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
    with pytest.warns(UserWarning, match="n_estimators does not fit new trees"):
        fitted.fit(X, y)
    with pytest.raises(DataError, match="with warm_start=True the table must have"):
        fitted.set_params(n_estimators=9).fit(X[:, :3], y)


def test_a_perfect_learner_stays_the_last():
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    model = AdaBoostClassifier(n_estimators=3, warm_start=True).fit(X, y)
    assert (len(model), model.stop_) == (1, "perfect")
    model.set_params(n_estimators=10).fit(X, y)
    assert (len(model), model.stop_) == (1, "perfect")


KINDS = {
    "cart": arboretum.CARTClassifier(max_depth=3),
    "c45": arboretum.C45Classifier(),
    "id3": arboretum.ID3Classifier(discretize="mdl"),
    "rules": arboretum.C45Rules(),
    "forest": arboretum.RandomForestClassifier(4, random_state=0),
    "forest warm": arboretum.RandomForestClassifier(4, random_state=0, warm_start=True),
    "bagging": arboretum.BaggingClassifier(n_estimators=3, random_state=0),
    "adaboost": arboretum.AdaBoostClassifier(n_estimators=3),
    "coordinate": arboretum.CoordinateBoostingClassifier(max_iter=3),
    "gbm": arboretum.GradientBoostingClassifier(n_estimators=4),
    "gbm warm": arboretum.GradientBoostingClassifier(n_estimators=4, warm_start=True),
    "xgb": arboretum.XGBClassifier(n_estimators=3),
    "lgbm": arboretum.LGBMClassifier(n_estimators=3),
    "stack": arboretum.StackingClassifier([("a", arboretum.CARTClassifier(max_depth=2))], cv=2),
    "vote": arboretum.VotingClassifier([("a", arboretum.CARTClassifier(max_depth=2))]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_shows_nothing_before_its_end(kind, monkeypatch):
    """Other threads get the answers of the last fit until the new ones are there, all at once."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "yes", "no")
    model, seen = clone(KINDS[kind]), []

    def look():
        try:
            seen.append(model.predict(X).tolist())
        except NotFittedError:
            seen.append("not fitted")
        return 0.0

    monkeypatch.setattr(estimator, "perf_counter", look)  # read when a fit begins and when it ends
    model.fit(X, y)
    assert set(map(str, seen)) == {"not fitted"}
    old, seen[:] = model.predict(X).tolist(), []
    if "warm" in kind:
        model.set_params(n_estimators=9).fit(X, y)
    else:
        model.fit(X, np.where(X[:, 2] > 0, "yes", "no"))
    assert seen
    assert all(one == old for one in seen)


@pytest.mark.filterwarnings("ignore:warm_start=True")
@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_that_fails_leaves_the_last_one(kind):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = clone(KINDS[kind]).fit(X, X[:, 0] > 0)
    old = model.predict(X).tolist()
    if "warm" in kind:
        model.set_params(n_estimators=9)
    with pytest.raises(DataError):
        model.fit(X[:, :2], [0, 1])
    assert model.predict(X).tolist() == old
