"""Coordinate descent on the exponential loss: the textbook's steps, AdaBoost's in greedy order."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from arboretum import (
    AdaBoostClassifier,
    C45Classifier,
    CARTClassifier,
    CoordinateBoostingClassifier,
    DataError,
    ModelFileError,
    ParameterError,
    load,
)
from arboretum.boosting.coordinate.dictionary import StumpDictionary
from arboretum.data.schema import learn_schema
from arboretum.textbook.coordinate_boosting import CoordinateRules, coordinate_descent
from arboretum.textbook.weak_learners import Stump
from tests.boosting.adaboost.ada_cases import mixed, numbers, saved, with_holes

X0, Y0 = numbers(60, 3)


def table_of(model):
    return np.column_stack([model.dictionary_.answers(j) for j in range(len(model.dictionary_))])


# ---------------------------------------------------------------------- the dictionary
@pytest.mark.parametrize(
    "make", [lambda: numbers(30, 3)[0], lambda: with_holes(30)[0], lambda: mixed(40)[0]]
)
@pytest.mark.parametrize("max_bins", [None, 4])
def test_answers_sums_and_predictions_agree(make, max_bins):
    X = make()
    schema, matrix = learn_schema(X)
    stumps = StumpDictionary.of(matrix, schema, max_bins)
    rng = np.random.default_rng(0)
    signed, sizes = rng.normal(size=matrix.n_rows), rng.normal(size=len(stumps))
    answers = np.column_stack([stumps.answers(j) for j in range(len(stumps))])
    assert set(np.unique(answers)) == {-1.0, 1.0}
    assert_allclose(stumps.sums(signed), signed @ answers, atol=1e-12)
    every = np.arange(len(stumps))
    assert_allclose(stumps.combine(every, sizes, matrix), answers @ sizes, atol=1e-10)
    for j in every:
        assert_array_equal(stumps.combine(np.array([j]), np.ones(1), matrix), answers[:, j])
    assert len({stumps.describe(j) for j in every}) == len(stumps)


def test_stumps_are_those_of_the_textbook():
    X = np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 7.0]])
    schema, matrix = learn_schema(X)
    stumps = StumpDictionary.of(matrix, schema)
    assert [stumps.describe(j) for j in range(4)] == ["always 1", "x0 > 1.5", "x0 > 3", "x1 > 6"]
    for j, (f, t) in enumerate([(0, 1.5), (0, 3.0), (1, 6.0)], start=1):
        assert_array_equal(stumps.answers(j), Stump(f, t, -1, 1)(X))


def test_words_and_missing_values_are_asked_for():
    frame, _ = mixed()
    schema, matrix = learn_schema(frame)
    stumps = StumpDictionary.of(matrix, schema)
    said = [stumps.describe(j) for j in range(len(stumps))]
    for wanted in (
        "color = red",
        "color is missing",
        "age is missing",
        "age > 0.5",
        "age > 0.5 or missing",
    ):
        assert wanted in said


# ---------------------------------------------------------------------- the descent
@pytest.mark.parametrize("order", ["greedy", "cyclic", "random"])
@pytest.mark.parametrize("seed", range(3))
def test_steps_are_the_textbooks(order, seed):
    X, y = numbers(30, 2, seed=seed, noise=2.0)
    w = np.random.default_rng(seed).random(30) + 0.1
    model = CoordinateBoostingClassifier(order=order, max_iter=60, random_state=seed).fit(X, y, w)
    rules = CoordinateRules(order, 60, 1e-9, model.seed_)
    book = coordinate_descent(table_of(model), 2 * y - 1, w, rules)
    assert_array_equal(model.report_.coordinate, [s.j for s in book.steps])
    assert_allclose(model.report_.delta, [s.delta for s in book.steps], rtol=1e-8, atol=1e-10)
    assert_allclose(model.report_.loss, [s.loss for s in book.steps], rtol=1e-9)
    assert_allclose(model.coefficients_, book.coefficients, rtol=1e-8, atol=1e-9)
    assert (model.report_.stop == "max_iter") == (book.stop == "n_steps")


class BestStump(ClassifierMixin, BaseEstimator):
    """The stump of least weighted error: AdaBoost's learner when all stumps are its dictionary."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        schema, matrix = learn_schema(X)
        self.stumps_ = StumpDictionary.of(matrix, schema)
        sums = self.stumps_.sums(sample_weight * np.where(y == self.classes_[1], 1, -1))
        best = np.abs(sums) >= np.abs(sums).max() - 2e-12
        better = best & (sums > 0)
        self.j_ = int(np.argmax(better if better.any() else best))
        self.sign_ = 1.0 if sums[self.j_] > 0 else -1.0
        return self

    def predict(self, X):
        _, matrix = learn_schema(X)
        f = self.stumps_.combine(np.array([self.j_]), np.array([self.sign_]), matrix)
        return self.classes_[(f > 0).astype(int)]


def test_greedy_order_is_adaboost():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200, :6], y[:200]
    model = CoordinateBoostingClassifier(max_iter=25).fit(X, y)
    ada = AdaBoostClassifier(BestStump(), n_estimators=25, algorithm="discrete").fit(X, y)
    assert len(ada) == 25
    assert_array_equal(model.report_.coordinate, [e.j_ for e in ada.estimators_])
    assert_allclose(np.abs(model.report_.delta), ada.estimator_weights_, rtol=1e-9)
    assert_allclose(model.report_.loss / len(y), ada.training_error_bound(), rtol=1e-9)
    assert_allclose(model.decision_function(X), ada.decision_function(X), atol=1e-9)


def test_all_orders_go_to_the_same_place():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (80, 2)).astype(float)
    y = (rng.random(80) < 0.3 + 0.2 * X[:, 0]).astype(int)  # classes overlap: there is a minimum
    losses = []
    for order in ("greedy", "cyclic", "random"):
        model = CoordinateBoostingClassifier(order=order, max_iter=5000, random_state=0).fit(X, y)
        assert model.report_.converged, order
        assert model.report_.stop == "flat"
        assert np.all(np.diff(model.report_.loss) <= 1e-12)
        losses.append(model.report_.loss[-1])
    assert_allclose(losses, losses[0], rtol=1e-6)


def test_a_perfect_stump_and_rows_told_apart():
    model = CoordinateBoostingClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    assert (model.report_.stop, model.n_iter_) == ("perfect classifier", 1)
    assert model.predict([[0.2], [0.8]]).tolist() == ["no", "yes"]
    X, y = [[0.0], [1.0], [2.0]], [1, 0, 1]
    model = CoordinateBoostingClassifier(max_iter=10_000, tol=1e-3).fit(X, y)
    assert model.report_.stop == "no loss left"
    assert model.predict(X).tolist() == y
    text = model.report_.to_text(2)
    assert "converged (no loss left) after" in text
    assert "…" in text


def test_given_classifiers():
    X, y = numbers(100, 4)
    before = CARTClassifier(max_depth=2).fit(X[:50], y[:50])
    bases = [GaussianNB(), CARTClassifier(max_depth=1), FrozenEstimator(before)]
    model = CoordinateBoostingClassifier(bases, max_iter=200).fit(X, y)
    assert len(model.coefficients_) == 3
    assert model.dictionary_.members[2].estimator is before
    answers = table_of(model)
    assert_array_equal(answers[:, 2] > 0, before.predict(X) == 1)
    book = coordinate_descent(answers, 2 * y - 1, None, CoordinateRules("greedy", 200))
    assert_allclose(model.coefficients_, book.coefficients, atol=1e-9)
    assert_allclose(model.decision_function(X), answers @ model.coefficients_)
    assert model.dictionary_.describe(0) == "GaussianNB 0"


def test_early_stop_goes_back_to_the_best():
    X, y = numbers(200, 4, noise=2.0)
    free = CoordinateBoostingClassifier(max_iter=300).fit(X, y)
    held = CoordinateBoostingClassifier(max_iter=300, n_iter_no_change=15, random_state=0).fit(X, y)
    assert held.report_.stop == "validation"
    assert held.n_iter_ < free.n_iter_
    best = int(held.report_.validation.argmin())
    assert held.n_iter_ == best + 16
    moved = np.zeros(len(held.coefficients_))
    np.add.at(moved, held.report_.coordinate[: best + 1], held.report_.delta[: best + 1])
    assert_allclose(held.coefficients_, moved, atol=1e-12)


def test_frames_with_words():
    frame, y = mixed()
    model = CoordinateBoostingClassifier(max_iter=100).fit(frame, y)
    assert model.score(frame, y) > 0.75
    assert_array_equal(model.predict(frame[["color", "age", "size"]]), model.predict(frame))
    proba = model.predict_proba(frame)
    assert_allclose(proba.sum(axis=1), 1)
    assert_allclose(proba[:, 1], 1 / (1 + np.exp(-2 * model.decision_function(frame))))


# ---------------------------------------------------------------------- keeping
@pytest.mark.parametrize(
    "model",
    [
        CoordinateBoostingClassifier(max_iter=20),
        CoordinateBoostingClassifier(
            [CARTClassifier(max_depth=1), C45Classifier()], order="cyclic", max_iter=9
        ),
    ],
    ids=["stumps", "members"],
)
def test_a_saved_model_is_the_same_model(model):
    frame, y = mixed()
    model = clone(model).fit(frame, y)
    for again in (load(saved(model)), pickle.loads(pickle.dumps(model))):
        assert saved(again) == saved(model)
        assert_array_equal(again.decision_function(frame), model.decision_function(frame))
        assert again.report_.to_text() == model.report_.to_text()
        assert again.dictionary_.describe(1) == model.dictionary_.describe(1)


def test_a_foreign_dictionary_is_refused_by_name():
    model = CoordinateBoostingClassifier([LogisticRegression()], max_iter=3).fit(X0, Y0)
    with pytest.raises(
        ParameterError, match="LogisticRegression, which is not an estimator of arboretum"
    ):
        saved(model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": np.arange(3)}, "one or two labels"),
        ({"coefficients": np.zeros(3)}, "'coefficients' holds 3 numbers"),
        ({"dictionary": {"kind": np.zeros(1, np.uint8), "feature": np.zeros(1), "value": np.zeros(1),
                         "missing": np.ones(1, np.int8)}}, "stumps are damaged"),
        ({"dictionary": {"kind": np.ones(1, np.uint8), "feature": np.full(1, 9, np.int32),
                         "value": np.zeros(1), "missing": np.ones(1, np.int8)}}, "do not fit its columns"),
    ],
)  # fmt: skip
def test_a_broken_file_is_one_clear_error(change, message):
    model = CoordinateBoostingClassifier(max_iter=3).fit(X0, Y0)
    state = {**model._get_fitted_state(), **change}
    with pytest.raises(ModelFileError, match=message):
        type(model)._from_fitted_state(model.get_params(deep=False), model.schema_, state)


def test_ctrl_c_keeps_the_steps(monkeypatch):
    sums, calls = StumpDictionary.sums, []

    def stop(self, signed):
        calls.append(0)
        if len(calls) > 5:
            raise KeyboardInterrupt
        return sums(self, signed)

    monkeypatch.setattr(StumpDictionary, "sums", stop)
    model = CoordinateBoostingClassifier(max_iter=50)
    with pytest.raises(
        KeyboardInterrupt, match="was interrupted: it has the 5 steps that were finished, of 50"
    ):
        model.fit(X0, Y0)
    assert (model.n_iter_, model.report_.stop, model.report_.converged) == (5, "interrupted", False)


# ---------------------------------------------------------------------- bad input
BAD = [
    (
        {"order": "best"},
        X0,
        Y0,
        "'order' parameter of CoordinateBoostingClassifier must be 'greedy', 'cyclic' or",
    ),
    ({"estimators": []}, X0, Y0, "must be 'stumps' or a list of classifiers"),
    ({"estimators": [CARTClassifier]}, X0, Y0, "must be 'stumps' or a list of classifiers"),
    (
        {"max_iter": 0},
        X0,
        Y0,
        "'max_iter' parameter of CoordinateBoostingClassifier must be an int ≥ 1",
    ),
    ({"tol": -1.0}, X0, Y0, "'tol' parameter of CoordinateBoostingClassifier"),
    ({"n_iter_no_change": 5, "validation_fraction": 0.001}, X0, Y0, "leaves too few of them"),
    ({"validation_fraction": 1.0}, X0, Y0, "validation_fraction"),
    ({}, X0, np.arange(60) % 3, "Only binary classification is supported.*OneVsRestClassifier"),
    ({}, X0, np.eye(60, 2, dtype=int), "y has 2 columns"),
]


@pytest.mark.parametrize(("options", "X", "y", "message"), BAD)
def test_bad_input_is_one_clear_error(options, X, y, message):
    with pytest.raises((ParameterError, DataError), match=message):
        CoordinateBoostingClassifier(**options).fit(X, y)


def test_a_classifier_without_weights_is_told_so():
    with pytest.raises(ParameterError, match="KNeighborsClassifier doesn't support sample_weight"):
        CoordinateBoostingClassifier([KNeighborsClassifier()]).fit(X0, Y0, np.arange(60) + 1.0)
    model = CoordinateBoostingClassifier([KNeighborsClassifier()], max_iter=5).fit(X0, Y0)
    assert model.score(X0, Y0) > 0.6


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(copy, check, id=f"{name}-{getattr(check, 'func', check).__name__}")
        for name, model in (
            ("stumps", CoordinateBoostingClassifier(max_iter=10)),
            ("members", CoordinateBoostingClassifier([CARTClassifier(max_depth=2)], max_iter=10)),
        )
        for copy, check in estimator_checks_generator(model)
    ],
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
