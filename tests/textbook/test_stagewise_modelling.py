"""Forward stagewise additive modelling: AdaBoost, gradient boosting and L2Boost come out of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum.textbook.adaboost import AdaRules, discrete_adaboost
from arboretum.textbook.coordinate_boosting import (
    CoordinateRules,
    answers_of,
    coordinate_descent,
)
from arboretum.textbook.gbm import GBMRules, grow_gbm, raw_gbm
from arboretum.textbook.splits import Rules
from arboretum.textbook.stagewise_modelling import (
    StagewiseRules,
    by_gradient,
    every_one,
    l2_boost,
    predict_stagewise,
    stagewise,
    stagewise_table,
)
from arboretum.textbook.weak_learners import all_stumps, tree_learner

TREES = Rules("squared_error", max_depth=2, min_samples_leaf=3)


def make(seed, n=40, n_classes=0):
    """Rows with odd weights: no two hypotheses are equally good."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    if n_classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    return X, y, rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("seed", range(3))
def test_exponential_loss_over_all_stumps_is_adaboost(seed):
    X, y, w = make(seed, 25, n_classes=2)
    ada = discrete_adaboost(X, 2 * y - 1, w, AdaRules(n_rounds=6))
    rules = StagewiseRules("exponential", n_rounds=6)
    model = stagewise(X, y, every_one(all_stumps(X)), w, rules)
    assert [str(s.hypothesis) for s in model.rounds] == [str(r.hypothesis) for r in ada.rounds]
    assert_allclose(model.lengths, ada.says, rtol=1e-9)
    # and the weights of AdaBoost are the losses of the rows
    for stage, r in zip(model.rounds, ada.rounds):
        losses = w * np.exp((1 - 2 * y) * stage.f)
        assert_allclose(losses / losses.sum(), r.next_w, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_exponential_loss_over_all_stumps_is_greedy_coordinate_descent(seed):
    X, y, w = make(seed, 25, n_classes=2)
    stumps = all_stumps(X)
    found = coordinate_descent(
        answers_of(stumps, X), 2 * y - 1, w, CoordinateRules("greedy", n_steps=6)
    )
    rules = StagewiseRules("exponential", n_rounds=6)
    model = stagewise(X, y, every_one(stumps), w, rules)
    coefficients = np.zeros(len(stumps))
    for stage in model.rounds:
        coefficients[stumps.index(stage.hypothesis)] += stage.length
    assert_allclose(coefficients, found.coefficients, atol=1e-9)


@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_squared_error_is_l2_boost(rate):
    X, y, _ = make(0)
    tree = tree_learner(TREES)
    rules = StagewiseRules("squared_error", 8, rate, "best")
    model = stagewise(X, y, by_gradient(tree), rules=rules)
    assert_allclose(model.lengths, 1.0, rtol=1e-12)  # what is left of y is projected
    for stage, f in zip(model.rounds, l2_boost(X, y, tree, 8, rate)):
        assert_allclose(stage.f, f, rtol=1e-10, atol=1e-12)


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
def test_gradient_boosting_by_line_search_is_stagewise(loss, n_classes):
    X, y, w = make(1, n_classes=n_classes)
    book = grow_gbm(X, y, w, GBMRules(loss, 5, 0.5, "line_search", tree=TREES))
    rules = StagewiseRules(loss, 5, 0.5, "best", max(n_classes, 2))
    model = stagewise(X, y, by_gradient(tree_learner(TREES)), w, rules)
    assert_allclose(model.lengths, [r.eta for r in book.rounds], rtol=1e-9)
    for stage, r in zip(model.rounds, book.rounds):
        assert_allclose(stage.f, r.F, rtol=1e-9, atol=1e-12)
        assert stage.mean_loss == pytest.approx(r.train_score, rel=1e-9)
    assert_allclose(predict_stagewise(model, X[:7]), raw_gbm(book, X[:7]), rtol=1e-9, atol=1e-12)


def test_any_learner_least_squares_of_one_column():
    X, y, w = make(2)

    def line(X, y, w):
        slopes = [np.sum(w * x * y) / np.sum(w * x * x) for x in X.T]
        f = int(np.argmin([np.sum(w * (y - b * x) ** 2) for b, x in zip(slopes, X.T)]))
        return lambda X: slopes[f] * X[:, f]

    model = stagewise(X, y, by_gradient(line), w, StagewiseRules(n_rounds=200))
    exact = np.linalg.lstsq(X * np.sqrt(w)[:, None], y * np.sqrt(w), rcond=None)[0]
    assert_allclose(model.rounds[-1].f, X @ exact, atol=1e-6)


def test_the_loss_never_rises_and_the_table_tells():
    X, y, w = make(3, n_classes=2)
    rules = StagewiseRules("log_loss", 6, 0.5, "best")
    model = stagewise(X, y, by_gradient(tree_learner(TREES)), w, rules)
    losses = [stage.mean_loss for stage in model.rounds]
    assert np.all(np.diff(losses) < 0)
    assert f"{losses[0]:.6f}" in stagewise_table(model)


@pytest.mark.parametrize(
    ("y", "rules", "message"),
    [
        ([0.0], StagewiseRules(), "same number of rows"),
        ([0.0, 1.0], StagewiseRules(start="mean"), 'start must be "zero" or "best"'),
        ([0.0, 1.0], StagewiseRules("hinge"), "unknown loss"),
    ],
)
def test_what_cannot_be_added_up(y, rules, message):
    with pytest.raises(ValueError, match=message):
        stagewise([[1.0], [2.0]], y, every_one(all_stumps([[1.0], [2.0]])), rules=rules)
