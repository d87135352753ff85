"""Bagging: files, bad input, Ctrl-C."""

import pickle
import random
from contextlib import suppress

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import arboretum.forest.growing as forest_growing
from arboretum import (
    AdaBoostClassifier,
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
from arboretum.grow.depth_first.grower import DepthFirstGrower
from tests.forest.forest_cases import Recorder, data, mixed_table, mutate, saved

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


def test_out_of_bag_answers_of_a_bag_survive_a_file():
    X, y, number = data()
    two = np.column_stack([number, -number])
    for model, target, name in (
        (BaggingClassifier(n_estimators=40), y, "oob_decision_function_"),
        (BaggingRegressor(n_estimators=40), number, "oob_prediction_"),
        (BaggingRegressor(n_estimators=40), two, "oob_prediction_"),
    ):
        model.set_params(oob_score=True, random_state=0).fit(X, target)
        again = load(saved(model))
        for what in (name, "oob_n_trees_", "oob_error_curve_", "oob_score_"):
            assert_array_equal(getattr(again, what), getattr(model, what))
        state = model._get_fitted_state()
        state["oob"]["answers"]["mean"] = np.zeros((3, 1, 1))
        with pytest.raises(ModelFileError, match="out-of-bag answers do not fit"):
            type(model)._from_fitted_state(model.get_params(deep=False), model.schema_, state)
        model.set_params(oob_score=False).fit(X, target)
        assert not hasattr(model, name)
        assert not hasattr(model, "oob_score_")


def test_a_base_of_another_library_is_not_saved():
    X, y, _ = data(n=40)
    model = BaggingClassifier(LogisticRegression(), 2).fit(X, y)
    with pytest.raises(ParameterError, match=r"LogisticRegression, which is not .* joblib"):
        saved(model)
    assert pickle.loads(pickle.dumps(model)).predict(X).shape == (40,)


def test_changed_files_are_a_model_or_an_error():
    X, y, number = data(n=60)
    tree = CARTClassifier(max_depth=2)
    classes = BaggingClassifier(tree, 2, max_features=2, random_state=0)
    numbers = BaggingRegressor(CARTRegressor(max_depth=2), 2, random_state=0)
    contents = [
        saved(classes.fit(X, y)),
        saved(numbers.fit(X, number)),
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
    assert min(outcomes.values()) > 10


# ---------------------------------------------------------------------- bad input
X0, Y0, N0 = data(n=30)
BAD = [
    (BaggingClassifier(n_estimators=0), Y0, ParameterError, "n_estimators"),
    (
        BaggingClassifier(max_samples=31, bootstrap=False),
        Y0,
        ParameterError,
        "must be <= n_samples=30",
    ),
    (BaggingClassifier(max_samples=0.0), Y0, ParameterError, "max_samples"),
    (BaggingClassifier(max_features=6), Y0, ParameterError, "only 5 columns"),
    (BaggingClassifier(max_features=None), Y0, ParameterError, "max_features"),
    (BaggingClassifier(estimator=3), Y0, ParameterError, "an estimator"),
    (BaggingClassifier(Recorder), Y0, ParameterError, "not its class"),
    (BaggingClassifier(bootstrap=False, oob_score=True), Y0, ParameterError, "bootstrap=True"),
    (BaggingClassifier(), np.column_stack([Y0, Y0]), DataError, "predicts one target"),
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
    with pytest.raises(ParameterError, match="it is called 'estimator' today"):
        BaggingClassifier(base_estimator=CARTClassifier())


def test_parameters_of_the_base_can_be_set():
    model = BaggingClassifier(CARTClassifier(), 3).set_params(estimator__max_depth=1)
    assert all(e.get_depth() == 1 for e in model.fit(X0, Y0).estimators_)


def test_warm_start_keeps_what_bags_are_drawn_by():
    X, y, _ = data()
    model = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="must not get smaller"):
        clone(model).fit(X, y).set_params(n_estimators=2).fit(X, y)
    for change, table in (({"max_samples": 0.5}, X), ({}, X[:50])):
        other = clone(model).fit(X, y).set_params(n_estimators=5, **change)
        assert len(other.fit(table, y[: len(table)])) == 5
        with pytest.raises(DataError, match="the 3 members before the last fit"):
            other.estimators_samples_
    with pytest.raises(ParameterError, match="columns are drawn as before"):
        clone(model).fit(X, y).set_params(n_estimators=5, max_features=2).fit(X, y)
    with pytest.raises(DataError, match="warm_start"):
        model.set_params(n_estimators=5).fit(X[:, :2], y)


# ---------------------------------------------------------------------- Ctrl-C
def test_an_interrupt_keeps_the_trees_that_are_grown(monkeypatch):
    X, y, _ = data()
    real = DepthFirstGrower.grow_trees
    calls = []

    def interrupted(*args, **kwargs):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    monkeypatch.setattr(forest_growing, "trees_of_a_call", lambda n_rows: 1)
    monkeypatch.setattr(DepthFirstGrower, "grow_trees", interrupted)
    model = BaggingClassifier(random_state=0, n_jobs=1)
    with pytest.raises(KeyboardInterrupt, match="the 3 estimators that were finished, of 10"):
        model.fit(X, y)
    assert len(model) == 3


def test_an_interrupt_keeps_estimators_of_any_kind():
    X, y, _ = data(n=40)
    model = BaggingClassifier(Interrupted(), 6, random_state=0)
    with pytest.raises(KeyboardInterrupt, match="interrupted"):
        model.set_params(estimator__stop_at=_third_state(model, X, y)).fit(X, y)
    assert len(model) == 2
    assert model.predict(X).shape == (40,)


def test_an_interrupt_of_a_warm_start_keeps_the_estimators_from_before():
    X, y, _ = data(n=40)
    model = BaggingClassifier(Interrupted(), 2, random_state=0, warm_start=True).fit(X, y)
    stop = _third_state(BaggingClassifier(Interrupted(), 6, random_state=0), X, y)
    with pytest.raises(KeyboardInterrupt, match="it has the 2 estimators that were finished, of 6"):
        model.set_params(n_estimators=6, estimator__stop_at=stop).fit(X, y)
    assert len(model) == 2


class Stranger(Recorder):
    """Answers what nobody taught it."""

    def predict(self, X):
        return np.full(len(X), 77)


def test_an_answer_that_is_no_class_is_an_error():
    X, y, _ = data(n=40)
    model = BaggingClassifier(Stranger(), 3, random_state=0).fit(X, y)
    with pytest.raises(DataError, match=r"predicts .*77.*, which is not a class of y"):
        model.predict(X)


class Locked(Recorder):
    """Cannot be sent to another process."""

    def __getstate__(self):
        raise TypeError("cannot pickle a lock")


def test_what_cannot_be_sent_to_other_processes_is_one_clear_error():
    X, y, _ = data(n=40)
    with pytest.raises(ParameterError, match=r"\(TypeError: cannot pickle a lock\): set n_jobs=1"):
        BaggingClassifier(Locked(), 3, n_jobs=2, random_state=0).fit(X, y)
    assert len(BaggingClassifier(Locked(), 3, n_jobs=1, random_state=0).fit(X, y)) == 3
    with parallel_config("threading"):
        assert len(BaggingClassifier(Locked(), 3, n_jobs=2, random_state=0).fit(X, y)) == 3


@pytest.mark.parametrize(
    "y", [np.eye(30, 2, dtype=int), np.array([["a", "b"]] * 15 + [["c", "d"]] * 15)]
)
def test_a_bag_of_classifiers_has_one_output_as_scikit_learns(y):
    from sklearn.ensemble import BaggingClassifier as Theirs

    X = np.random.default_rng(0).normal(size=(30, 2))
    for kind in (Theirs, BaggingClassifier):
        with pytest.raises(ValueError, match="y"):
            kind(n_estimators=2).fit(X, y)


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


# ---------------------------------------------------------------------- bases of other libraries
class Clipping(BaseEstimator):
    """A base that takes infinite values, as a pipeline may that replaces them."""

    def fit(self, X, y):
        self.tree_ = CARTClassifier(max_depth=3).fit(np.clip(X, -9, 9), y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(np.clip(X, -9, 9))


@pytest.mark.parametrize("kind", [BaggingClassifier, AdaBoostClassifier])
def test_a_base_may_take_infinite_values(kind):
    X, y, _ = data()
    X = np.where(X > 1, np.inf, X)
    more = {} if kind is BaggingClassifier else {"sampling": "resample"}
    model = kind(Clipping(), n_estimators=3, random_state=0, **more).fit(X, y)
    assert model.score(X, y) > 0.5
    with pytest.raises(DataError, match="infinite"):
        kind(n_estimators=3).fit(X, y)


class Noting(ClassifierMixin, BaseEstimator):
    """Notes the metadata that it gets."""

    def fit(self, X, y, group=None, sample_weight=None):
        self.classes_, self.group_, self.weighs_ = np.unique(y), group, sample_weight is not None
        return self

    def predict(self, X, group=None):
        self.asked_ = group
        return np.full(len(X), self.classes_[0])


def test_metadata_is_routed_to_the_members():
    X, y, _ = data()
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        BaggingClassifier(Noting()).fit(X, y, group=np.arange(len(y)))
    with config_context(enable_metadata_routing=True):
        base = Noting().set_fit_request(group=True).set_predict_request(group=True)
        model = BaggingClassifier(base, n_estimators=2).fit(X, y, group=np.arange(len(y)))
        for one, rows in zip(model, model.estimators_samples_, strict=True):
            assert not one.weighs_  # it has not asked for the weights
            assert_array_equal(one.group_, rows)
        for method in ("predict", "predict_proba", "predict_log_proba"):
            getattr(model, method)(X, group=method)
            assert [one.asked_ for one in model] == [method] * 2
        model.predict(X)
        assert model[0].asked_ is None
        base.set_fit_request(sample_weight=True)
        model = BaggingClassifier(base, n_estimators=2).fit(X, y, group=np.arange(len(y)))
        assert all(one.weighs_ and len(one.group_) == len(y) for one in model)
        with pytest.raises(TypeError, match="unexpected argument"):
            model.predict(X, other=1)
