"""Bagging: files, bad input, Ctrl-C."""

import pickle
import random
from contextlib import suppress

import numpy as np
import pytest
from forest_cases import Recorder, data, mixed_table, mutate, saved
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import arboretum.forest.growing as forest_growing
from arboretum import (
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    DataError,
    ModelFileError,
    ParameterError,
    RandomForestClassifier,
    load,
)

# ---------------------------------------------------------------------- keeping
KEPT = [
    (BaggingClassifier(n_estimators=4, random_state=0), {}),
    (BaggingClassifier(CARTClassifier(max_depth=3), 4, max_features=2, random_state=0), {}),
    (BaggingClassifier(bootstrap_features=True, n_estimators=4, random_state=0), {}),
    (BaggingClassifier(C45Classifier(), 3, random_state=0), {}),
    (BaggingClassifier(RandomForestClassifier(2), 3, random_state=0), {}),
    (BaggingClassifier(BaggingClassifier(n_estimators=2), 2, random_state=0), {}),
    (BaggingClassifier(n_estimators=4, random_state=0), {"sample_weight": np.arange(150) % 3}),
]


@pytest.mark.parametrize(("model", "fit"), KEPT, ids=range(len(KEPT)))
def test_a_saved_bag_is_the_same_bag(model, fit):
    frame, y = mixed_table()
    model = clone(model).fit(frame, y, **fit)
    again = load(saved(model))
    assert saved(again) == saved(model)
    assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert repr(again.get_params()) == repr(model.get_params())
    for mine, kept in zip(model.estimators_samples_, again.estimators_samples_, strict=True):
        assert_array_equal(mine, kept)
    assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict_proba(frame), model.predict_proba(frame)
    )


def test_a_saved_bag_of_regressors():
    X, _, number = data()
    for target in (number, np.column_stack([number, -number])):
        model = BaggingRegressor(n_estimators=3, random_state=0).fit(X, target)
        assert_array_equal(load(saved(model)).predict(X), model.predict(X))


def test_a_base_of_another_library_is_not_saved():
    X, y, _ = data(n=40)
    model = BaggingClassifier(LogisticRegression(), 2).fit(X, y)
    with pytest.raises(ParameterError, match=r"LogisticRegression, which is not .* joblib"):
        saved(model)
    assert pickle.loads(pickle.dumps(model)).predict(X).shape == (40,)


def test_changed_files_are_a_model_or_an_error():
    X, y, number = data(n=60)
    contents = [
        saved(BaggingClassifier(CARTClassifier(max_depth=2), 2, max_features=2).fit(X, y)),
        saved(BaggingRegressor(CARTRegressor(max_depth=2), 2).fit(X, number)),
    ]
    outcomes = {"model": 0, "error": 0}
    for case in range(300):
        rng = random.Random(case)
        try:
            model = load(mutate(rng.choice(contents), rng))
        except ModelFileError:
            outcomes["error"] += 1
            continue
        outcomes["model"] += 1
        with suppress(DataError, ParameterError):
            model.predict(X)
    assert min(outcomes.values()) > 20


# ---------------------------------------------------------------------- bad input
X0, Y0, N0 = data(n=30)
BAD = [
    (BaggingClassifier(n_estimators=0), Y0, ParameterError, "n_estimators"),
    (BaggingClassifier(max_samples=31), Y0, ParameterError, "only 30 rows"),
    (BaggingClassifier(max_samples=0.0), Y0, ParameterError, "max_samples"),
    (BaggingClassifier(max_features=6), Y0, ParameterError, "only 5 columns"),
    (BaggingClassifier(max_features=None), Y0, ParameterError, "max_features"),
    (BaggingClassifier(estimator=3), Y0, ParameterError, "an estimator"),
    (BaggingClassifier(bootstrap=False, oob_score=True), Y0, ParameterError, "bootstrap=True"),
    (BaggingClassifier(), np.column_stack([Y0, Y0]), DataError, "predicts one class"),
    (BaggingClassifier(), N0, DataError, ""),
    (BaggingClassifier(), Y0[:20], DataError, "inconsistent"),
    (BaggingRegressor(), np.where(N0 > 0, np.nan, N0), DataError, "y"),
    (BaggingClassifier(KNeighborsRegressor()), Y0, ParameterError, "needs a classifier"),
    (BaggingRegressor(KNeighborsClassifier()), N0, ParameterError, "needs a regressor"),
]


@pytest.mark.parametrize(("model", "y", "error", "words"), BAD, ids=range(len(BAD)))
def test_bad_input_is_one_clear_error(model, y, error, words):
    with pytest.raises(error) as caught:
        model.fit(X0, y)
    assert words in str(caught.value)
    assert not hasattr(model, "estimators_")


def test_unknown_parameters_are_refused():
    with pytest.raises(ParameterError, match="did you mean 'estimator'"):
        BaggingClassifier(base_estimator=CARTClassifier())


def test_parameters_of_the_base_can_be_set():
    model = BaggingClassifier(CARTClassifier(), 3).set_params(estimator__max_depth=1)
    assert all(e.get_depth() == 1 for e in model.fit(X0, Y0).estimators_)


def test_warm_start_keeps_what_bags_are_drawn_by():
    X, y, _ = data()
    model = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="must not get smaller"):
        clone(model).fit(X, y).set_params(n_estimators=2).fit(X, y)
    for change, table in (({"max_features": 2}, X), ({"max_samples": 0.5}, X), ({}, X[:50])):
        other = clone(model).fit(X, y).set_params(n_estimators=5, **change)
        with pytest.raises(ParameterError, match="warm_start"):
            other.fit(table, y[: len(table)])
    with pytest.raises(DataError, match="warm_start"):
        model.set_params(n_estimators=5).fit(X[:, :2], y)


# ---------------------------------------------------------------------- Ctrl-C
def test_an_interrupt_keeps_the_trees_that_are_grown(monkeypatch):
    X, y, _ = data()
    real = forest_growing.grow_seedling
    calls = []

    def interrupted(*args, **kwargs):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    monkeypatch.setattr(forest_growing, "grow_seedling", interrupted)
    with pytest.warns(UserWarning, match="the 3 estimators that were finished, of 10"):
        model = BaggingClassifier(random_state=0, n_jobs=1).fit(X, y)
    assert len(model) == 3


def test_an_interrupt_keeps_estimators_of_any_kind():
    X, y, _ = data(n=40)
    model = BaggingClassifier(Interrupted(), 6, random_state=0)
    with pytest.warns(UserWarning, match="interrupted"):
        model.set_params(estimator__stop_at=_third_state(model, X, y)).fit(X, y)
    assert len(model) == 2
    assert model.predict(X).shape == (40,)


class Interrupted(Recorder):
    """Presses Ctrl-C when its random state is the one given."""

    def __init__(self, random_state=None, stop_at=None):
        self.random_state = random_state
        self.stop_at = stop_at

    def fit(self, X, y):
        if self.random_state == self.stop_at:
            raise KeyboardInterrupt
        return super().fit(X, y)


def _third_state(model, X, y):
    return clone(model).fit(X, y).estimators_[2].random_state


def test_a_bar_is_shown_when_asked(capsys):
    BaggingRegressor(LinearRegression(), 3, verbose=1).fit(X0, N0)
    assert "3/3" in capsys.readouterr().out


def test_importances_are_the_mean_of_the_trees():
    X, y, _ = data()
    model = BaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    mean = np.mean([e.feature_importances_ for e in model.estimators_], axis=0)
    assert_allclose(model.feature_importances_, mean)
    assert not hasattr(
        BaggingClassifier(KNeighborsClassifier(), 2).fit(X, y), "feature_importances_"
    )
