"""Taylor's step and log odds, against derivatives by differences and against XGBoost's leaf."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum import textbook as book


def test_odds_of_seven_to_three():
    assert_allclose([book.odds(0.7), book.log_odds(0.7)], [7 / 3, np.log(7 / 3)])
    p = np.linspace(0.01, 0.99, 25)
    assert_allclose(book.log_odds(p), -book.log_odds(1 - p), atol=1e-12)
    assert_allclose(book.sigmoid(book.log_odds(p)), p)


@pytest.mark.parametrize("loss", ["squared_error", "log_loss", "exponential"])
def test_the_parabola_has_the_value_slope_and_curvature_of_the_loss(loss):
    rng = np.random.default_rng(0)
    y, F = rng.integers(0, 2, 30).astype(float), rng.normal(size=30)
    step = book.taylor_step(loss, y, F)
    e = 1e-4
    (_, low, _), (_, here, _), (_, high, _) = step.curve([-e, 0.0, e])
    assert_allclose(here, step.before)
    assert_allclose((high - low) / (2 * e), step.slope, rtol=1e-5, atol=1e-6)
    assert_allclose((high - 2 * here + low) / e**2, step.curvature, rtol=1e-4)


@pytest.mark.parametrize("loss", ["squared_error", "log_loss", "exponential"])
def test_no_other_step_is_lower_on_the_parabola(loss):
    rng = np.random.default_rng(1)
    y, F = rng.integers(0, 2, 20).astype(float), 0.3 * rng.normal(size=20)
    step = book.taylor_step(loss, y, F)
    assert_allclose(step.promised, step.before - 0.5 * step.slope**2 / step.curvature)
    others = [step.parabola(step.gamma + d) for d in np.linspace(-1, 1, 21)]
    assert min(others) >= step.promised - 1e-12
    assert step.after < step.before


def test_the_step_is_that_of_boosting_and_of_xgboost_without_lambda():
    y, F = np.array([1.0, 1, 0, 1]), np.array([0.5, -0.5, 0.2, 0.0])
    step = book.taylor_step("log_loss", y, F)
    w = np.ones(4)
    assert_allclose(step.gamma, book.make_loss("log_loss").step(y, F, w))
    bare = book.XGBSettings(reg_lambda=0.0, min_child_weight=0.0)
    assert_allclose(step.gamma, book.leaf_value(step.slope, step.curvature, bare))
    saved = step.before - step.promised
    assert_allclose(2 * saved, book.similarity(step.slope, step.curvature, bare))


def test_a_loss_without_curvature_is_refused():
    with pytest.raises(ValueError, match="no second derivative"):
        book.taylor_step("absolute_error", [1.0], [0.0])
