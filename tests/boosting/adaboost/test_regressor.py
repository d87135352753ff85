"""AdaBoost.R2: against the textbook and against scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import AdaBoostRegressor as Theirs
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from arboretum import AdaBoostClassifier, AdaBoostRegressor, CARTRegressor, DataError
from arboretum.boosting.adaboost.learners import draws_of
from arboretum.data.quantile import weighted_quantile
from arboretum.textbook.adaboost import AdaRules
from arboretum.textbook.adaboost_regression import adaboost_r2, predict_r2
from arboretum.textbook.splits import Rules
from arboretum.textbook.weak_learners import tree_learner
from tests.boosting.adaboost.ada_cases import mixed, with_holes


def table(n=70, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("sampling", ["reweight", "resample"])
def test_it_is_the_textbooks(loss, rate, sampling):
    """In small nodes two columns often part the same rows, and rounding breaks the tie: none here."""
    X, y = table()
    w = np.random.default_rng(5).random(len(y)) + 0.1
    base = CARTRegressor(max_depth=2, min_samples_leaf=8)
    model = AdaBoostRegressor(
        base, n_estimators=8, loss=loss, learning_rate=rate, sampling=sampling, random_state=0
    ).fit(X, y, w)
    draws = np.array([draws_of(model.seed_, t, len(y)) for t in range(8)])
    learner = tree_learner(Rules("squared_error", max_depth=2, min_samples_leaf=8))
    given = draws if sampling == "resample" else None
    book = adaboost_r2(X, y, w, AdaRules(8, rate), loss, learner, given)
    assert len(model) == len(book.rounds)
    assert_allclose(model.estimator_errors_, [r.error for r in book.rounds], rtol=1e-9)
    assert_allclose(model.estimator_weights_, [r.say for r in book.rounds], rtol=1e-9)
    new = table(40, 9)[0]
    assert_allclose(model.predict(new), predict_r2(book, new), rtol=1e-9)


@pytest.mark.parametrize("combine", ["median", "mean", "sum"])
@pytest.mark.parametrize("foreign", [False, True])
def test_three_ways_to_combine(combine, foreign):
    X, y = table()
    kind = DecisionTreeRegressor if foreign else CARTRegressor
    base = kind(max_depth=2, min_samples_leaf=8)
    model = AdaBoostRegressor(base, n_estimators=6, combine=combine).fit(X, y)
    learner = tree_learner(Rules("squared_error", max_depth=2, min_samples_leaf=8))
    book = adaboost_r2(X, y, None, AdaRules(6), learner=learner)
    assert_allclose(model.predict(X), predict_r2(book, X, combine), rtol=1e-6)
    *_, last = model.staged_predict(X)
    assert_allclose(last, model.predict(X), rtol=1e-9)
    if combine == "sum":  # no estimate of y: as many times too large as the weights add up to
        mean = AdaBoostRegressor(base, n_estimators=6, combine="mean").fit(X, y)
        assert_allclose(last, mean.predict(X) * mean.estimator_weights_.sum(), rtol=1e-9)


@pytest.mark.parametrize("combine", ["median", "mean"])
def test_rows_held_out_end_the_boosting(combine):
    X, y = table(200)
    ask = {"combine": combine, "random_state": 0, "validation_fraction": 0.3, "learning_rate": 0.2}
    model = AdaBoostRegressor(n_estimators=300, n_iter_no_change=3, **ask).fit(X, y)
    assert model.stop_ == "n_iter_no_change"
    assert len(model) == len(model.validation_scores_) < 300
    other = AdaBoostRegressor(n_estimators=300, n_iter_no_change=3, tol=0.0, **ask).fit(X, y)
    assert len(other) >= len(model)


def test_missing_values_and_words():
    X, _ = with_holes(80)
    y = table(80)[1]
    model = AdaBoostRegressor(n_estimators=6).fit(X, y)
    book = adaboost_r2(X, y, None, AdaRules(6))
    assert_allclose(model.predict(X), predict_r2(book, X), rtol=1e-9)
    frame, words = mixed()
    target = frame["size"] * np.where(words == "yes", 2, 1)
    assert AdaBoostRegressor().fit(frame, target).score(frame, target) > 0.9


def test_rows_of_weight_zero_do_not_matter():
    X, y = table(60)
    w = np.ones(60)
    w[40:] = 0
    y[45] = 1e6  # the largest deviation of all, but nobody looks
    one = AdaBoostRegressor(n_estimators=6).fit(X, y, w)
    other = AdaBoostRegressor(n_estimators=6).fit(X[:40], y[:40])
    assert_allclose(one.estimator_errors_, other.estimator_errors_, rtol=1e-9)
    assert_allclose(one.predict(X), other.predict(X))


def test_it_learns_as_well_as_scikit_learns():
    """The draws differ, so only the figures can be compared."""
    X, y = load_diabetes(return_X_y=True)
    test = np.arange(len(y)) % 3 == 0
    theirs = Theirs(random_state=0).fit(X[~test], y[~test]).score(X[test], y[test])
    for sampling in ("reweight", "resample"):
        model = AdaBoostRegressor(sampling=sampling, random_state=0).fit(X[~test], y[~test])
        assert model.score(X[test], y[test]) > theirs - 0.05


def test_the_median_is_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    theirs = Theirs(DecisionTreeRegressor(max_depth=2), n_estimators=9, random_state=0).fit(X, y)
    answers = np.stack([e.predict(X) for e in theirs.estimators_], axis=1)
    says = theirs.estimator_weights_[: answers.shape[1]]
    assert_allclose(weighted_quantile(answers, 0.5, says), theirs.predict(X))


def test_stages_end_with_the_whole():
    X, y = table()
    model = AdaBoostRegressor(n_estimators=7).fit(X, y)
    *_, last = model.staged_predict(X)
    assert_array_equal(last, model.predict(X))
    scores = list(model.staged_score(X, y))
    assert len(scores) == 7
    assert scores[-1] == pytest.approx(model.score(X, y))
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_a_perfect_learner_and_a_bad_one():
    X, y = table(20)
    model = AdaBoostRegressor(CARTRegressor()).fit(X, y)
    assert (len(model), model.stop_) == (1, "perfect")
    assert_array_equal(model.predict(X), y)
    flat = np.array([0.0, 1.0] * 10)
    with pytest.warns(UserWarning, match="boosting ended after 1 of 50 rounds"):
        model = AdaBoostRegressor(LinearRegression()).fit(np.ones((20, 1)), flat)
    assert len(model) == 1
    assert model.estimator_errors_[0] >= 0.5 - 1e-9
    assert_allclose(model.predict([[1.0]]), [0.5])


def test_the_number_of_threads_changes_nothing():
    X, y = table(500)
    one, two = (AdaBoostRegressor(n_estimators=5, n_jobs=j).fit(X, y) for j in (1, 2))
    assert_array_equal(one.predict(X), two.predict(X))


def test_a_learner_without_weights_gets_drawn_rows():
    X, y = table(60)
    model = AdaBoostRegressor(KNeighborsRegressor(), n_estimators=3, random_state=0).fit(X, y)
    asked = AdaBoostRegressor(
        KNeighborsRegressor(), n_estimators=3, random_state=0, sampling="resample"
    ).fit(X, y)
    assert_array_equal(model.predict(X), asked.predict(X))


def test_a_learner_may_take_arrays_of_more_dimensions():
    X, y = np.random.default_rng(0).normal(size=(51, 3, 3)), np.arange(51) % 2
    for model in (AdaBoostRegressor(DummyRegressor()), AdaBoostClassifier(DummyClassifier())):
        with pytest.warns(UserWarning, match="boosting ended"):
            assert model.fit(X, y).predict(X).shape == (51,)
    with pytest.raises(DataError, match="2 dimensions"):
        AdaBoostRegressor().fit(X, y)
