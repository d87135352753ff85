"""AdaBoost: files, pickles, Ctrl-C, bad input, and scikit-learn's own contract."""

import pickle
import random
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

from arboretum import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CoordinateBoostingClassifier,
    DataError,
    ModelFileError,
    ParameterError,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
    load,
)
from tests.boosting.adaboost.ada_cases import Coin, Interrupted, mixed, numbers, saved
from tests.forest.forest_cases import mutate

X0, Y0 = numbers(60, 3)


# ---------------------------------------------------------------------- keeping
KEPT = [
    AdaBoostClassifier(n_estimators=5),
    AdaBoostClassifier(n_estimators=5, algorithm="discrete", learning_rate=0.5),
    AdaBoostClassifier(n_estimators=5, algorithm="SAMME.R"),
    AdaBoostClassifier(
        CARTClassifier(max_depth=2), n_estimators=4, sampling="resample", random_state=1
    ),
    AdaBoostClassifier(C45Classifier(), n_estimators=3),
    AdaBoostClassifier(RandomForestClassifier(3, max_depth=2), n_estimators=3, random_state=0),
    AdaBoostClassifier(AdaBoostClassifier(n_estimators=2), n_estimators=2),
]


@pytest.mark.filterwarnings("ignore:boosting ended")
@pytest.mark.parametrize("model", KEPT, ids=range(len(KEPT)))
def test_a_saved_model_is_the_same_model(model):
    frame, y = mixed()
    model = clone(model).fit(frame, y)
    for again in (load(saved(model)), pickle.loads(pickle.dumps(model))):
        assert saved(again) == saved(model)
        assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
        assert_array_equal(again.estimator_errors_, model.estimator_errors_)
        assert again.stop_ == model.stop_
        assert repr(again.get_params()) == repr(model.get_params())


def test_a_saved_regressor():
    X, _ = numbers()
    model = AdaBoostRegressor(CARTRegressor(max_depth=2), n_estimators=4, loss="square").fit(
        X, X[:, 0]
    )
    again = load(saved(model))
    assert saved(again) == saved(model)
    assert_array_equal(again.predict(X), model.predict(X))


def test_the_same_bytes_whatever_the_threads():
    frame, y = mixed()
    models = [
        AdaBoostClassifier(n_estimators=5, random_state=0, n_jobs=j).fit(frame, y) for j in (1, 2)
    ]
    models[1].n_jobs = 1
    assert saved(models[0]) == saved(models[1])


def test_foreign_estimators_are_refused_by_name():
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(X0, Y0)
    with pytest.raises(
        ParameterError, match="is a LogisticRegression, which is not an estimator of"
    ):
        saved(model)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X0), model.predict(X0))


BROKEN = [
    ({"estimators": []}, "has no estimators"),
    ({"weights": np.ones(2)}, "its 'weights' "),
    ({"weights": np.array([1.0, np.nan, 1.0])}, "its 'weights' "),
    ({"errors": [0.1, 0.2, 0.3]}, "its 'errors' is not an array"),
    ({"stop": "tired"}, "reason why boosting ended is missing"),
    ({"classes": np.array([])}, "the classes are not a list"),
    ({"classes": np.array([0, 1, 2])}, "disagree on the number of classes"),
    ({"classes": np.array([0, 7])}, "disagree on the classes"),
    ({"seed": -1}, "seed must be an int"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_a_broken_file_is_one_clear_error(change, message):
    model = AdaBoostClassifier(n_estimators=3).fit(X0, Y0)
    state = {**model._get_fitted_state(), **change}
    with pytest.raises(ModelFileError, match=message):
        AdaBoostClassifier._from_fitted_state(model.get_params(deep=False), model.schema_, state)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [*KEPT[:2], KEPT[4], CoordinateBoostingClassifier(max_iter=5),
                                   VotingClassifier([("a", CARTClassifier(max_depth=1))], voting="soft"),
                                   StackingClassifier([("a", CARTClassifier(max_depth=1))],
                                                      CARTClassifier(max_depth=2))],
                         ids=lambda m: type(m).__name__)  # fmt: skip
def test_a_damaged_file_is_a_model_or_one_clear_error(model):
    frame, y = mixed(40)
    content = saved(clone(model).fit(frame, y))
    rng = random.Random(0)
    for _ in range(150):
        with suppress(ModelFileError):
            again = load(mutate(content, rng))
            with suppress(DataError):  # a column of another name
                assert len(again.predict(frame)) == 40


# ---------------------------------------------------------------------- Ctrl-C
def test_ctrl_c_keeps_the_rounds_that_are_finished(monkeypatch):
    from arboretum.boosting.adaboost import learners

    learn, calls = learners.TreeLearner.learn, []

    def stop(self, w, number, attempt):
        calls.append(number)
        if number == 4:
            raise KeyboardInterrupt
        return learn(self, w, number, attempt)

    whole = AdaBoostClassifier(n_estimators=4).fit(X0, Y0)
    monkeypatch.setattr(learners.TreeLearner, "learn", stop)
    model = AdaBoostClassifier(n_estimators=9)
    with pytest.raises(KeyboardInterrupt, match="it has the 4 rounds that were finished, of 9"):
        model.fit(X0, Y0)
    assert (len(model), model.stop_) == (4, "interrupted")
    assert_array_equal(model.predict(X0), whole.predict(X0))
    assert load(saved(model)).stop_ == "interrupted"


def test_ctrl_c_in_the_first_round_is_ctrl_c():
    Interrupted.fits = 0
    with pytest.raises(KeyboardInterrupt):
        AdaBoostRegressor(Interrupted(LinearRegression(), stop_at=1)).fit(X0, X0[:, 0])
    Interrupted.fits = 0
    model = AdaBoostRegressor(Interrupted(LinearRegression(), stop_at=3))
    with pytest.raises(KeyboardInterrupt, match="interrupted: it has the 2 rounds"):
        model.fit(X0, X0[:, 0] ** 2)
    assert len(model) == 2


def test_a_bar_is_shown_when_asked(capsys):
    AdaBoostClassifier(n_estimators=3, verbose=1).fit(X0, Y0)
    assert "3/3" in capsys.readouterr().out


# ---------------------------------------------------------------------- bad input
class NoProba(ClassifierMixin, BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), 77)


THREE = np.arange(60) % 3
BAD = [
    (
        {"n_estimators": 0},
        X0,
        Y0,
        "'n_estimators' parameter of AdaBoostClassifier must be an int ≥ 1, got 0",
    ),
    (
        {"learning_rate": 0.0},
        X0,
        Y0,
        "'learning_rate' parameter of AdaBoostClassifier must be a number > 0",
    ),
    (
        {"learning_rate": float("nan")},
        X0,
        Y0,
        "'learning_rate' parameter of AdaBoostClassifier must be a number",
    ),
    (
        {"algorithm": "samme"},
        X0,
        Y0,
        "'algorithm' parameter of AdaBoostClassifier must be 'discrete', 'SAMME' or",
    ),
    (
        {"sampling": "draw"},
        X0,
        Y0,
        "'sampling' parameter of AdaBoostClassifier must be 'reweight' or 'resample'",
    ),
    ({"estimator": CARTClassifier}, X0, Y0, "an estimator .an object, not its class"),
    (
        {"estimator": CARTRegressor()},
        X0,
        Y0,
        "needs a classifier, but its estimator is a DecisionTreeRegressor",
    ),
    ({"estimator": CARTClassifier(max_depth=0)}, X0, Y0, "'max_depth' parameter of DecisionTree"),
    (
        {"estimator": KNeighborsClassifier()},
        X0,
        Y0,
        "KNeighborsClassifier doesn't support sample_weight",
    ),
    ({"estimator": LinearSVC(), "algorithm": "SAMME.R"}, X0, Y0, "LinearSVC has no predict_proba"),
    ({"algorithm": "discrete"}, X0, THREE, "is for two classes, y has 3"),
    ({"estimator": Coin()}, X0, np.arange(60) % 2 == 0, "weighted error of 1; a guess has 0.5"),
    ({"estimator": NoProba()}, X0, Y0, "NoProba predicts .*77.*, which is not a class of y"),
    ({}, X0, np.eye(60, 2, dtype=int), "y has 2 columns"),
    ({}, X0, Y0 + 0.5, "Unknown label type"),
    ({}, X0, Y0[:10], "inconsistent numbers of samples"),
    ({}, np.full((60, 1), np.inf), Y0, "infinite|infinity"),
    ({}, X0[:0], Y0[:0], "0 sample"),
]


@pytest.mark.parametrize(("options", "X", "y", "message"), BAD)
def test_bad_input_is_one_clear_error(options, X, y, message):
    with pytest.raises((ParameterError, DataError), match=message):
        AdaBoostClassifier(**options).fit(X, y)


BAD_NUMBERS = [
    (
        {"loss": "cubic"},
        X0[:, 0],
        "'loss' parameter of AdaBoostRegressor must be 'linear', 'square' or 'exponential'",
    ),
    (
        {"estimator": CARTClassifier()},
        X0[:, 0],
        "needs a regressor, but its estimator is a DecisionTreeClassifier",
    ),
    ({}, X0[:, :2], "y has 2 columns"),
    ({}, np.full(60, "a"), "y holds strings"),
    ({}, np.where(Y0, np.nan, 1.0), "Input y contains NaN"),
]


@pytest.mark.parametrize(("options", "y", "message"), BAD_NUMBERS)
def test_bad_input_of_the_regressor(options, y, message):
    with pytest.raises((ParameterError, DataError), match=message):
        AdaBoostRegressor(**options).fit(X0, y)


@pytest.mark.parametrize("weight", [[-1.0] * 60, [np.nan] * 60, [0.0] * 60, [1.0] * 3])
def test_bad_weights(weight):
    with pytest.raises(DataError, match="sample_weight"):
        AdaBoostClassifier().fit(X0, Y0, weight)


def test_a_learner_no_better_than_chance_later_ends_it_with_a_word():
    X, y = np.ones((40, 1)), np.array([0, 1, 1, 1] * 10)
    with pytest.warns(
        UserWarning, match="boosting ended after 1 of 50 rounds: the next learner is no"
    ):
        model = AdaBoostClassifier().fit(X, y)
    assert model.stop_ == "no better than chance"
    with pytest.raises(DataError, match="there is nothing to boost, try another estimator"):
        AdaBoostClassifier().fit(X, np.arange(40) % 2)


def test_unknown_parameters_are_refused_with_a_hint():
    with pytest.raises(ParameterError, match="did you mean 'learning_rate'"):
        AdaBoostClassifier(learning_rat=0.1)
    with pytest.raises(ParameterError, match="no parameter"):
        AdaBoostClassifier().set_params(depth=3)
    assert (
        AdaBoostClassifier(CARTClassifier()).set_params(estimator__max_depth=2).estimator.max_depth
        == 2
    )


def test_unseen_categories_follow_the_base():
    frame, y = mixed()
    model = AdaBoostClassifier(CARTClassifier(max_depth=1, unseen="error"), n_estimators=5).fit(
        frame, y
    )
    new = pd.DataFrame({"size": [0.1], "color": ["mauve"], "age": [3.0]})
    with pytest.raises(DataError, match="mauve"):
        model.predict(new)


@pytest.mark.parametrize("exponent", [-900, -200, 200, 950])
@pytest.mark.parametrize("model", [AdaBoostClassifier, AdaBoostRegressor])
def test_only_ratios_of_weights_matter(model, exponent):
    X, y = numbers(60)
    w = np.random.default_rng(1).integers(0, 4, 60).astype(float)
    model = model(n_estimators=5, random_state=0)
    usual = saved(clone(model).fit(X, y, w))
    assert saved(clone(model).fit(X, y, np.ldexp(w, exponent))) == usual


# ---------------------------------------------------------------------- scikit-learn's contract
_IDENTICAL = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
CHECKED = [
    AdaBoostClassifier(n_estimators=5),
    AdaBoostClassifier(n_estimators=5, algorithm="SAMME.R"),
    AdaBoostClassifier(LogisticRegression(), n_estimators=3),
    AdaBoostClassifier(n_estimators=5, sampling="resample"),
    AdaBoostRegressor(n_estimators=5),
    AdaBoostRegressor(n_estimators=5, sampling="resample"),
]


def _checks():
    for model in CHECKED:
        for copy, check in estimator_checks_generator(model):
            name = getattr(check, "func", check).__name__
            # rows drawn by chance: 15 draws and 30 draws are different ones
            if model.sampling == "reweight" or name not in _IDENTICAL:
                yield pytest.param(copy, check, id=f"{model}-{name}".replace("\n", ""))


@pytest.mark.filterwarnings("ignore:boosting ended")
@pytest.mark.parametrize(("estimator", "check"), list(_checks()))
def test_scikit_learn_check(estimator, check):
    check(estimator)
