"""Objectives that users write: what they are called with, what they may return, what is kept."""

import json

import numpy as np
import pytest

from arboretum.boosting.names.find import find_objective, objective_from_state
from arboretum.errors import DataError, ParameterError
from tests.boosting.loss.objective_cases import derivatives, labels, margins, weights


def _squared(y, m):
    return m - y, np.ones_like(m)


def _weighted(y, m, sample_weight=None):
    w = 1.0 if sample_weight is None else sample_weight
    return (m - y) * w, np.ones_like(m) * w


def _weighted_too(y, m, weight):
    return _weighted(y, m, weight)


def _grouped(y, m, weight, group):
    assert group.sum() == len(y)
    return _weighted(y, m, weight)


def _classes(y, m):
    p = np.exp(m) / np.exp(m).sum(axis=1, keepdims=True)
    return p - np.eye(3)[y.astype(int)], p * (1 - p)


def _flat(y, m):
    return tuple(part.ravel(order="F") for part in _classes(y, m))


@pytest.mark.parametrize("weight", [None, weights()])
@pytest.mark.parametrize(
    ("dialect", "function"),
    [
        ("xgboost", _squared),
        ("xgboost", _weighted),
        ("lightgbm", _squared),
        ("lightgbm", _weighted_too),
        ("lightgbm", _grouped),
    ],
)
def test_users_functions_get_and_give_what_the_peers_say(dialect, function, weight):
    objective, y = find_objective(function, dialect), labels("real")
    assert objective.name == function.__name__
    found = derivatives(objective, y, margins(), weight, groups=np.array([len(y)]))
    wanted = derivatives(find_objective("reg:squarederror", "xgboost"), y, margins(), weight)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    np.testing.assert_array_equal(objective.predict(margins()), margins()[:, 0])


@pytest.mark.parametrize(
    ("dialect", "function"), [("xgboost", _classes), ("lightgbm", _classes), ("lightgbm", _flat)]
)
def test_users_functions_of_several_classes(dialect, function):
    y, m = labels("classes"), margins(3)
    found = derivatives(find_objective(function, dialect, 3), y, m)
    g, h = derivatives(find_objective("multi:softprob", "xgboost", 3), y, m)
    np.testing.assert_allclose(found, [g, h / 2], rtol=1e-5, atol=1e-7)


def _spoilt(row, value, which=0):
    def function(y, m):
        parts = [m - y, np.ones_like(m)]
        parts[which][row] = value
        return parts

    return function


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_spoilt(3, np.nan), "gradient that is NaN.* in round 12: row 3, first nan"),
        (_spoilt([4, 9], np.inf, 1), "hessian that is .* in round 12: rows 4, 9, first inf"),
        (_spoilt(0, 1e300), "too large for float32 in round 12: row 0, first 1e\\+300"),
        (lambda y, m: m - y, "must return two arrays"),
        (lambda y, m: (m - y, np.ones(3)), r"hessian .* has shape \(3,\): it must be \(60,\)"),
        (lambda y, m: (["a"] * len(y), m), "gradient .* is not made of numbers"),
        (lambda y, m: None, "must return two arrays, gradient and hessian, got NoneType"),
    ],
)
def test_what_users_functions_must_not_return(function, message):
    with pytest.raises(DataError, match=message):
        derivatives(find_objective(function, "xgboost"), labels("real"), margins(), iteration=12)


def test_large_but_finite_derivatives_are_taken():
    g, _ = derivatives(
        find_objective(lambda y, m: (m * 0 + 3e38, m), "xgboost"), labels("real"), margins()
    )
    assert (g == np.float32(3e38)).all()


@pytest.mark.parametrize(
    ("dialect", "n_classes", "start", "prediction"),
    [
        ("xgboost", None, [0.5], 1.0),
        ("xgboost", 2, [0.0], 1 / (1 + np.exp(-1))),
        ("xgboost", 3, [0.5] * 3, [1 / 3] * 3),
        ("lightgbm", None, [0.0], 1.0),
        ("lightgbm", 3, [0.0] * 3, [1.0] * 3),
    ],
)
def test_what_margins_of_users_functions_mean(dialect, n_classes, start, prediction):
    objective = find_objective(_squared, dialect, n_classes)
    np.testing.assert_array_equal(objective.start(labels("real")), start)
    found = objective.predict(np.ones((2, objective.n_outputs)))
    np.testing.assert_allclose(found, np.array([prediction] * 2))


def test_a_function_cannot_change_the_margins():
    def greedy(y, m):
        m[:] = 0
        return m - y, np.ones_like(m)

    m = margins()
    derivatives(find_objective(greedy, "xgboost"), labels("real"), m)
    np.testing.assert_array_equal(m, margins())


@pytest.mark.parametrize(
    ("function", "dialect", "message"),
    [
        (lambda y: y, "lightgbm", r"weight and group: '<lambda>' takes \(y\)"),
        (lambda y, m, w, g, more: y, "lightgbm", "weight and group"),
        (lambda y, m, w: y, "xgboost", "optionally sample_weight"),
    ],
)
def test_functions_that_cannot_be_called(function, dialect, message):
    with pytest.raises(ParameterError, match=message):
        find_objective(function, dialect)


def test_a_saved_function_is_gone_but_its_margins_are_not():
    state = json.loads(json.dumps(find_objective(_classes, "lightgbm", 3).to_state()))
    copy = objective_from_state(state)
    assert copy.predict(margins(3)).shape == (60, 3)
    with pytest.raises(ParameterError, match="give it again"):
        derivatives(copy, labels("classes"), margins(3))
