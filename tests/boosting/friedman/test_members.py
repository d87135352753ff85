"""Gradient boosting of any regressor: against the textbook's general loop, and what it can be asked."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from arboretum import (
    CARTRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ModelFileError,
    ParameterError,
)
from arboretum.textbook.splits import Rules
from arboretum.textbook.stagewise_modelling import StagewiseRules, by_gradient, stagewise
from arboretum.textbook.weak_learners import tree_learner

BASE = CARTRegressor(max_depth=2, min_samples_leaf=4)
LEARNER = by_gradient(tree_learner(Rules("squared_error", max_depth=2, min_samples_leaf=4)))


def make(n_classes=0, n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.4 * rng.normal(size=n)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "n_classes"),
    [
        ("squared_error", 0),
        ("absolute_error", 0),
        ("huber", 0),
        ("log_loss", 2),
        ("log_loss", 3),
        ("exponential", 2),
    ],
)
def test_it_is_forward_stagewise_additive_modelling(loss, n_classes, weighted):
    if n_classes == 3 and not weighted:
        pytest.skip("residuals of equally frequent classes tie")
    X, y, w = make(n_classes)
    w = w if weighted else None
    kind = GradientBoostingClassifier if n_classes else GradientBoostingRegressor
    model = kind(loss=loss, estimator=BASE, n_estimators=5, learning_rate=0.5).fit(X, y, w)
    rules = StagewiseRules(loss, 5, 0.5, "best", max(n_classes, 2))
    book = stagewise(X, y, LEARNER, w, rules)
    assert_allclose(model.step_lengths_, book.lengths, rtol=1e-7)
    falls = np.array([s.mean_loss for s in book.rounds])  # a score may be a multiple of the loss
    assert_allclose(model.train_score_ / model.train_score_[0], falls / falls[0], rtol=1e-7)
    raw = model.decision_function(X) if n_classes else model.predict(X)
    assert_allclose(raw, book.rounds[-1].f, rtol=1e-7, atol=1e-9)


def test_linear_learners_come_to_least_squares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, -2.0, 0.5] + 3 + 0.1 * rng.normal(size=80)
    model = GradientBoostingRegressor(
        estimator=LinearRegression(), n_estimators=40, learning_rate=0.5
    )
    assert_allclose(model.fit(X, y).predict(X), LinearRegression().fit(X, y).predict(X), atol=1e-6)


def test_trees_as_learners_are_the_model_s_own_trees():
    X, y, w = make()
    ask = {"n_estimators": 6, "learning_rate": 0.3, "step": "line_search"}
    own = GradientBoostingRegressor(max_depth=2, min_samples_leaf=4, **ask).fit(X, y, w)
    other = GradientBoostingRegressor(estimator=BASE, **ask).fit(X, y, w)
    assert_allclose(own.predict(X), other.predict(X), rtol=1e-7)
    assert_allclose(own.step_lengths_, other.step_lengths_, rtol=1e-6)
    plain = GradientBoostingRegressor(estimator=BASE, **{**ask, "step": "gradient"}).fit(X, y, w)
    assert_allclose(plain.step_lengths_, 1.0)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_stages_bags_stopping_and_going_on(n_classes):
    X, y, _ = make(n_classes, 300)
    X = pd.DataFrame(np.nan_to_num(X), columns=["a", "b", "c"])
    kind = GradientBoostingClassifier if n_classes else GradientBoostingRegressor
    ask = {"estimator": KNeighborsRegressor(15), "random_state": 0}
    model = kind(n_estimators=6, subsample=0.5, **ask).fit(X, y)
    *_, last = model.staged_predict(X)
    assert np.array_equal(last, model.predict(X))
    assert np.array_equal(model.predict(X), model.predict(X[["c", "a", "b"]]))
    assert len(model.oob_scores_) == len(model.members_) == model.n_estimators_ == 6
    assert model.estimators_.shape == (6, max(n_classes, 1))
    ended = kind(n_estimators=200, n_iter_no_change=2, tol=0.02, **ask).fit(X, y)
    assert 2 < ended.n_estimators_ < 200
    half = kind(n_estimators=3, warm_start=True, **ask).fit(X, y)
    whole = half.set_params(n_estimators=6).fit(X, y)
    at_once = kind(n_estimators=6, **ask).fit(X, y)
    assert_allclose(whole.train_score_, at_once.train_score_)


def test_random_learners_are_seeded():
    X, y, _ = make()
    X = np.nan_to_num(X)
    base = DecisionTreeRegressor(splitter="random", max_depth=3)
    a, b, c = (
        GradientBoostingRegressor(estimator=base, n_estimators=4, random_state=s)
        .fit(X, y)
        .predict(X)
        for s in (0, 0, 1)
    )
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_what_is_refused(tmp_path):
    X, y, w = make()
    X = np.nan_to_num(X)
    with pytest.raises(ParameterError, match="needs a regressor"):
        GradientBoostingRegressor(estimator=LogisticRegression()).fit(X, y)
    with pytest.raises(ParameterError, match="KNeighborsRegressor doesn't support sample_weight"):
        GradientBoostingRegressor(estimator=KNeighborsRegressor()).fit(X, y, w)
    model = GradientBoostingRegressor(estimator=LinearRegression(), n_estimators=2).fit(X, y)
    with pytest.raises(AttributeError, match="only trees have them"):
        model.feature_importances_
    with pytest.raises(AttributeError, match="only trees have them"):
        model.apply(X)
    with pytest.raises((ModelFileError, ParameterError), match="LinearRegression"):
        model.save(tmp_path / "model")
