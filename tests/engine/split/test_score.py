"""What a cut is worth, against impurities computed row by row in plain NumPy."""

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.split.score import (
    ENTROPY,
    FRIEDMAN,
    GINI,
    INFORMATION,
    POISSON,
    POISSON_FORM,
    SQUARED,
    SQUARES,
    XLOGX,
    breaks_order,
    channel_score,
    least_squares,
    moment_score,
    squares,
    x_log2_x,
    xlogx,
)


@kernel
def _moment(left_sum, left_weight, total, weight, form, table, out):
    out[0] = moment_score(left_sum, left_weight, total - left_sum, total, weight, form, table)
    out[1] = squares(np.int64(left_sum), np.int64(left_weight), np.int64(total), np.int64(weight))


@kernel
def _least(score, total, weight, form, out):
    out[0] = least_squares(score, total, weight, form)


@kernel
def _channels(left, total, left_weight, weight, criterion, outputs, table, out):
    out[0] = channel_score(left, total, left_weight, weight, criterion, outputs, table)


@kernel
def _logs(x, table, out):
    for i in range(len(x)):
        out[i, 0], out[i, 1] = xlogx(x[i], table), x_log2_x(x[i])


@kernel
def _breaks(left_sum, left_weight, total, weight, sign, lower, upper, out):
    out[0] = breaks_order(left_sum, left_weight, total, weight, sign, lower, upper)


def _entropy(y):
    share = np.bincount(y) / len(y)
    share = share[share > 0]
    return -np.sum(share * np.log2(share))


def _deviance(y):
    return np.mean(y * np.log(np.where(y > 0, y, 1) / y.mean()))


def _decrease(impurity, y, k):
    n = len(y)
    return impurity(y) - k / n * impurity(y[:k]) - (n - k) / n * impurity(y[k:])


@pytest.mark.parametrize("k", [1, 17, 59])
def test_one_sum_tells_the_decrease_of_the_impurity(k):
    rng = np.random.default_rng(k)
    out = np.empty(2)
    y = rng.integers(1, 9, 60)
    for form, impurity in ((SQUARES, np.var), (POISSON_FORM, _deviance)):
        _moment(float(y[:k].sum()), float(k), float(y.sum()), 60.0, form, XLOGX, out)
        assert out[0] == pytest.approx(_decrease(impurity, y, k), rel=1e-9)
        assert out[1] == pytest.approx(_decrease(np.var, y, k), rel=1e-9)
    y = rng.integers(0, 2, 60)
    _moment(float(y[:k].sum()), float(k), float(y.sum()), 60.0, INFORMATION, XLOGX, out)
    assert out[0] == pytest.approx(_decrease(_entropy, y, k), rel=1e-9, abs=1e-12)


def test_poisson_refuses_a_side_without_events():
    out = np.empty(2)
    _moment(0.0, 3.0, 9.0, 8.0, POISSON_FORM, XLOGX, out)
    assert out[0] == -1.0


@pytest.mark.parametrize("k", [3, 30])
def test_channels_tell_the_decrease_of_the_impurity(k):
    rng = np.random.default_rng(k)
    out, n = np.empty(1), 60
    y = rng.integers(0, 4, n)
    left, total = np.bincount(y[:k], minlength=4), np.bincount(y, minlength=4)
    for criterion, impurity in (
        (GINI, lambda v: 1 - np.sum((np.bincount(v) / len(v)) ** 2)),
        (ENTROPY, _entropy),
    ):
        _channels(left, total, k, n, criterion, 1, XLOGX, out)
        assert out[0] == pytest.approx(_decrease(impurity, y, k), rel=1e-9)
    y = rng.integers(1, 50, (n, 2))
    left, total = y[:k].sum(axis=0), y.sum(axis=0)
    for criterion, impurity in ((SQUARED, np.var), (POISSON, _deviance)):
        _channels(left, total, k, n, criterion, 2, XLOGX, out)
        expected = np.mean([_decrease(impurity, y[:, o], k) for o in range(2)])
        assert out[0] == pytest.approx(expected, rel=1e-9)
    _channels(left, total, k, n, FRIEDMAN, 2, XLOGX, out)
    difference = y[:k].mean() - y[k:].mean()
    assert out[0] == pytest.approx(k * (n - k) / n**2 * difference**2, rel=1e-9)


def test_logarithms_are_looked_up_or_computed():
    x = np.array([0, 1, 2, 1000, 65535, 65536, 10**9])
    out = np.empty((len(x), 2))
    _logs(x, XLOGX, out)
    real = x.astype(float)
    expected = real * np.log(np.maximum(real, 1))
    np.testing.assert_allclose(out[:, 0], expected, rtol=1e-15)
    np.testing.assert_allclose(out[:, 1], expected / np.log(2), rtol=1e-14)


@pytest.mark.parametrize(
    ("sign", "lower", "upper", "broken"),
    [
        (0, 5.0, 5.0, False),  # free, whatever the bounds
        (1, -np.inf, np.inf, False),  # means 1 and 3 go up
        (-1, -np.inf, np.inf, True),
        (1, 2.0, np.inf, True),
        (1, -np.inf, 2.0, True),
        (1, 1.0, 3.0, False),
    ],
)
def test_constraints_on_the_means(sign, lower, upper, broken):
    out = np.empty(1, np.bool_)
    _breaks(2.0, 2.0, 8.0, 4.0, sign, lower, upper, out)
    assert out[0] == broken


def test_information_needs_as_much_squares_as_its_bar_says():
    rng, out, bar = np.random.default_rng(0), np.empty(2), np.empty(1)
    for _ in range(300):
        size = 10 ** rng.uniform(0.5, 15)
        weight = np.floor(size) + 3.0
        total = np.floor(rng.uniform(1, weight))
        left = np.floor(rng.uniform(1, weight))
        ones = np.floor(rng.uniform(max(0.0, total + left - weight), min(left, total) + 1))
        _moment(ones, left, total, weight, INFORMATION, XLOGX, out)
        _least(out[0], total, weight, INFORMATION, bar)
        assert bar[0] <= out[1]


def test_a_poisson_score_needs_as_much_squares_as_its_bar_says():
    rng, out, bar = np.random.default_rng(0), np.empty(2), np.empty(1)
    for _ in range(300):
        weight = np.floor(10 ** rng.uniform(0.5, 8)) + 3.0
        total = np.floor(weight * 10 ** rng.uniform(-1, 9)) + 2.0
        left = np.floor(rng.uniform(1, weight))
        share = np.clip(left / weight * rng.choice([1.0, rng.uniform(0, 2)]), 0.0, 1.0)
        _moment(
            np.clip(np.floor(total * share), 1, total - 1),
            left,
            total,
            weight,
            POISSON_FORM,
            XLOGX,
            out,
        )
        _least(out[0], total, weight, POISSON_FORM, bar)
        assert bar[0] <= out[1]
