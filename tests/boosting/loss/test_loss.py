"""Laws of every loss: derivatives by differences, links there and back, best constants, values as metrics."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum.boosting.loss import classes, numbers
from arboretum.boosting.loss.leaves import Leaves
from arboretum.boosting.loss.loss import Loss
from arboretum.boosting.loss.objective import LossObjective
from arboretum.boosting.names.find import DIALECTS, find_metrics, find_objective
from arboretum.boosting.names.scikit_learn import CLASS_LOSSES, NUMBER_LOSSES, make_loss
from arboretum.textbook import gbm_losses as textbook
from tests.boosting.loss.objective_cases import CASES, derivatives, find, labels, margins, weights

# A loss, the labels it takes, and whether the kernel's second derivative is the true one
LOSSES = {
    "squared": (numbers.SquaredError(), "real", True),
    "squared log": (numbers.SquaredLogError(), "positive", False),
    "quantile": (numbers.Quantile(0.3), "real", False),
    "absolute": (numbers.AbsoluteError(), "real", False),
    "relative": (numbers.RelativeError(), "real", False),
    "huber": (numbers.Huber(0.8), "real", False),
    "pseudo-huber": (numbers.PseudoHuber(0.7), "real", True),
    "fair": (numbers.Fair(1.5), "real", True),
    "tweedie": (numbers.Tweedie(1.3), "count", True),
    "poisson": (numbers.Poisson(), "count", True),
    "gamma": (numbers.Gamma(), "positive", True),
    "logistic": (classes.Logistic(), "share", True),
    "steep logistic": (classes.Logistic(1.7), "binary", True),
    "exponential": (classes.Exponential(), "binary", True),
    "hinge": (classes.Hinge(), "binary", False),
    "softmax": (classes.Softmax(3), "classes", True),
}
STEP = 1e-4


def _case(name):
    loss, kind, _ = LOSSES[name]
    if isinstance(loss, classes.Softmax):
        return loss, labels(kind).astype(np.int64), margins(3)
    F = margins()[:, 0]
    return loss, labels(kind), np.abs(F) if name == "squared log" else F


def _slopes(loss, y, F):
    """Return the first two derivatives of a loss by F, by differences, in the shape of F."""
    first, second = np.empty_like(F), np.empty_like(F)
    for k in range(F[0].size):
        move = np.zeros(F[0].shape)
        move[... if F.ndim == 1 else k] = STEP
        up, here, down = (loss.value(y, F + sign * move) for sign in (1, 0, -1))
        at = np.s_[:] if F.ndim == 1 else np.s_[:, k]
        first[at], second[at] = (up - down) / (2 * STEP), (up - 2 * here + down) / STEP**2
    return first, second


@pytest.mark.parametrize("name", LOSSES)
def test_residuals_and_kernels_are_the_derivatives_of_the_value(name):
    loss, y, F = _case(name)
    first, second = _slopes(loss, y, F)
    if type(loss).residuals is not Loss.residuals:
        assert_allclose(-loss.residuals(y, F), first, rtol=1e-6, atol=1e-6)
    if hasattr(loss, "kernel"):
        n_outputs = 1 if F.ndim == 1 else F.shape[1]
        objective = LossObjective("", "xgboost", n_outputs, link=loss.link, losses=(loss,))
        g, h = derivatives(objective, y * 1.0, F.reshape(len(F), -1), weights())
        assert_allclose(g.T, (weights() * first.T).T.reshape(g.T.shape), rtol=1e-4, atol=1e-5)
        assert (h > 0).all()
        if LOSSES[name][2]:
            wanted = (weights() * second.T).T.reshape(h.T.shape)
            assert_allclose(h.T, wanted, rtol=1e-3, atol=1e-5)


def test_every_loss_of_the_tables_is_tried():
    tried = {type(loss) for loss, _, _ in LOSSES.values()}
    used = {type(find(*case)[0].loss) for case in CASES}
    made = [make_loss(name, None, 0.9, 1.5) for name in NUMBER_LOSSES]
    made += [make_loss(name, k, 0.9, 1.5) for name in CLASS_LOSSES for k in (2, 3)]
    assert used | {type(loss) for loss in made} <= tried


@pytest.mark.parametrize("name", LOSSES)
def test_the_value_of_a_prediction_is_that_of_its_raw_sum(name):
    loss, y, F = _case(name)
    if name == "hinge":
        return  # a class does not tell its margin
    if name != "exponential":  # no metric has it
        assert_allclose(loss.value_of(y, loss.link.predict(F)), loss.value(y, F), rtol=1e-9)
    centred = F - F.mean(axis=1, keepdims=True) if F.ndim == 2 else F
    assert_allclose(loss.raw_of(loss.answer(F)), centred, atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [n for n in LOSSES if type(LOSSES[n][0]).steps is not Loss.steps])
def test_no_other_constant_and_no_other_step_is_better(name, weighted):
    loss, y, F = _case(name)
    y = (
        labels("binary").astype(np.int64)
        if name in ("logistic", "steep logistic", "exponential")
        else y
    )
    w = weights() if weighted else None

    def mean(at):
        value = loss.value(y, at)
        return value.mean() if w is None else np.average(value, weights=w)

    start = loss.start(y, w)
    ways = np.eye(3) if F.ndim == 2 else [1.0]
    if name != "huber":  # a median serves as a start
        for way in ways:
            for far in (-0.05, 0.05):
                assert mean(np.zeros_like(F) + start) <= mean(np.zeros_like(F) + start + far * way)
    leaves = Leaves(np.zeros(len(y), np.int64), 1, w)
    for k in range(len(ways)):
        r = loss.residuals(y, F)
        step = loss.steps(y, F, r if F.ndim == 1 else r[:, k], leaves, k)[0]
        assert mean(F + step * ways[k]) < mean(F)


@pytest.mark.parametrize("name", [*NUMBER_LOSSES, *CLASS_LOSSES, "three classes"])
def test_friedmans_formulas_are_the_textbooks(name):
    n_classes = 3 if name == "three classes" else 2 if name in CLASS_LOSSES else None
    name = "log_loss" if name == "three classes" else name
    kind = "positive" if n_classes is None else "binary" if n_classes == 2 else "classes"
    y, w = labels(kind), weights()
    y = y if n_classes is None else y.astype(np.int64)
    F = margins(3) if n_classes == 3 else margins()[:, 0]
    mine = make_loss(name, n_classes, 0.3, 1.4).for_round(y, F, w)
    theirs = textbook.make_loss(name, n_classes or 2, alpha=0.3, power=1.4).for_round(y, F, w)
    assert_allclose(mine.start(y, w), theirs.start(y, w), rtol=1e-6)
    assert_allclose(mine.value(y, F), theirs.value(y, F), rtol=1e-9)
    assert_allclose(mine.residuals(y, F), theirs.residuals(y, F), rtol=1e-9)
    leaf = (np.arange(len(y)) % 2).astype(np.int64)
    for k in range(n_classes if n_classes == 3 else 1):
        r = mine.residuals(y, F)
        steps = mine.steps(y, F, r if F.ndim == 1 else r[:, k], Leaves(leaf, 2, w), k)
        for each in (0, 1):
            rows = leaf == each
            wanted = np.atleast_1d(theirs.step(y[rows], F[rows], w[rows]))[k]
            assert_allclose(steps[each], wanted, rtol=1e-9)


MEAN_VALUES = {  # an objective, its metric, and how often the loss that is
    ("xgboost", "reg:squarederror"): ("rmse", None),
    ("xgboost", "reg:squaredlogerror"): ("rmsle", None),
    ("xgboost", "reg:absoluteerror"): ("mae", 1),
    ("xgboost", "reg:pseudohubererror"): ("mphe", 1),
    ("xgboost", "reg:logistic"): ("logloss", 1),
    ("xgboost", "reg:gamma"): ("gamma-nloglik", 1),
    ("xgboost", "reg:tweedie"): ("tweedie-nloglik", 1),
    ("xgboost", "multi:softprob"): ("mlogloss", 1),
    ("lightgbm", "regression"): ("l2", 2),
    ("lightgbm", "regression_l1"): ("l1", 1),
    ("lightgbm", "huber"): ("huber", 1),
    ("lightgbm", "fair"): ("fair", 1),
    ("lightgbm", "poisson"): ("poisson", 1),
    ("lightgbm", "quantile"): ("quantile", 1),
    ("lightgbm", "mape"): ("mape", 1),
    ("lightgbm", "gamma"): ("gamma", 1),
    ("lightgbm", "tweedie"): ("tweedie", 1),
    ("lightgbm", "binary"): ("binary_logloss", 1),
    ("lightgbm", "multiclass"): ("multi_logloss", 1),
    ("lightgbm", "cross_entropy"): ("cross_entropy", 1),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", MEAN_VALUES, ids=" ".join)
def test_metrics_are_mean_values_of_the_loss(case, weighted):
    objective, y = find(*case)
    name, times = MEAN_VALUES[case]
    w, F = weights() if weighted else None, margins(objective.n_outputs)
    F = np.abs(F) if case[1] == "reg:squaredlogerror" else F
    settings = {
        k: v for k, v in objective.parameters.items() if k in DIALECTS[case[0]].used_by("metrics")
    }
    metric = find_metrics(name, case[0], **settings)[0]
    codes = y.astype(np.int64) if objective.n_outputs > 1 else y
    value = objective.loss.value(codes, F if objective.n_outputs > 1 else F[:, 0])
    mean = np.average(value, weights=w)
    wanted = np.sqrt(2 * mean) if times is None else times * mean
    assert metric.evaluate(y, objective.predict(F), w) == pytest.approx(wanted, rel=1e-9)


def test_a_class_weight_multiplies_derivatives_only():
    plain, weighed = (find_objective("binary", "lightgbm", scale_pos_weight=s) for s in (1.0, 3.0))
    y, F = labels("binary"), margins()
    assert_allclose(weighed.loss.value(y, F[:, 0]), plain.loss.value(y, F[:, 0]))
    for one, other in zip(derivatives(plain, y, F), derivatives(weighed, y, F)):
        assert_allclose(other, np.where(y == 1, 3.0, 1.0) * one, rtol=1e-6)
