"""Pessimistic errors by the kernels: against the textbook, SciPy's beta quantiles, and by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtri
from scipy.stats import beta, binom

from arboretum.c45.pruning import LIMITS, Pessimism
from arboretum.engine.cases.error_limit import extra_errors_of
from arboretum.textbook.c45_pruning import extra_errors, normal_deviate

CONFIDENCES = [0.5, 0.4, 0.25, 0.1, 0.07, 0.01, 0.001, 1e-6]


def found(n, e, limit: str, confidence: float) -> np.ndarray:
    n, e = np.broadcast_arrays(np.asarray(n, float), np.asarray(e, float))
    n, e = np.ascontiguousarray(n.ravel()), np.ascontiguousarray(e.ravel())
    out = np.empty(len(n))
    extra_errors_of(n, e, Pessimism(limit, confidence).plain(), out)
    return out


def leaves(seed: int = 0, k: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Weights and errors of leaves: whole and in part, small and large, none and all wrong."""
    rng = np.random.default_rng(seed)
    n = np.concatenate(
        [rng.integers(1, 50, k), rng.uniform(1e-3, 9, k), 10.0 ** rng.uniform(1, 6, k)]
    )
    e = n * rng.choice([0.0, 1e-9, 1.0, 0.5, *rng.random(5)], len(n))
    e[:8] = 1e-7, 1e-6, 0.5, 0.9998, 0.9999, 1.0, 1.0001, 0.99995
    n[:8] = 12.5
    return n, np.where(rng.random(len(n)) < 0.3, np.floor(e), e)


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("limit", ["quinlan", "weka"])
def test_as_the_textbook(limit, confidence):
    n, e = leaves()
    expected = [extra_errors(a, b, confidence, limit) for a, b in zip(n, e)]
    assert_allclose(found(n, e, limit, confidence), expected, rtol=1e-9, atol=1e-9 * n.max() / 1e3)


@pytest.mark.parametrize("confidence", [0.5, 0.25, 0.01])
def test_the_exact_limit_as_the_textbook(confidence):
    n, e = leaves(1, k=8)
    some = e < n  # all wrong: the beta distribution is at its end
    expected = [extra_errors(a, b, confidence, "binomial") for a, b in zip(n[some], e[some])]
    assert_allclose(found(n[some], e[some], "binomial", confidence), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_the_exact_limit_is_a_beta_quantile(confidence):
    n, e = leaves(2)
    some = e < n
    n, e = n[some], e[some]
    limit = (found(n, e, "binomial", confidence) + e) / n
    assert_allclose(limit, beta.ppf(1 - confidence, e + 1, n - e), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(("n", "e"), [(6, 0), (16, 1), (16, 15), (200, 31), (1, 0), (50, 49)])
def test_the_exact_limit_leaves_just_the_confidence(n, e):
    for confidence in (0.5, 0.25, 0.05):
        limit = (found(n, e, "binomial", confidence)[0] + e) / n
        assert_allclose(binom.cdf(e, n, limit), confidence, rtol=1e-9)


@pytest.mark.parametrize("limit", LIMITS)
def test_published_figures(limit):
    # Quinlan 1993, chapter 4: U_25%(0, 6), (0, 9), (0, 1)
    assert_allclose(found([6, 9, 1], 0, limit, 0.25) / [6, 9, 1], [0.206, 0.143, 0.75], atol=5e-4)


def test_by_hand():
    z = np.interp(0.25, [0.2, 0.4], [0.84, 0.25])
    wilson = (1.5 + z**2 / 2 + z * np.sqrt(1.5 * (1 - 1.5 / 16) + z**2 / 4)) / (16 + z**2)
    assert_allclose(found(16, 1, "quinlan", 0.25), 16 * wilson - 1, rtol=1e-12)
    assert_allclose(found(5, 4.8, "quinlan", 0.25), 0.67 * 0.2)
    assert_allclose(found(5, 4.8, "weka", 0.25), 0.2)
    assert_allclose(found(5, 5, "weka", 0.25), 0.0)
    none, one = found([8, 8], [0, 1], "weka", 0.25)
    assert_allclose(found(8, 0.3, "weka", 0.25), none + 0.3 * (one - none))


@pytest.mark.parametrize("limit", LIMITS)
def test_an_empty_leaf_adds_nothing(limit):
    assert found([0, 0], [0, -1e-18], limit, 0.25).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("limit", LIMITS)
def test_all_wrong(limit):
    # nothing can be added to that; rounding may make the errors a little more than all
    n = np.array([1.0, 3.0, 0.7, 5000.0])
    more = found(n, n * (1 + 1e-15), limit, 0.25)
    assert np.isfinite(more).all()
    assert np.abs(more[[1, 3]]).max() < 1e-9


@pytest.mark.parametrize("limit", LIMITS)
def test_rounding_below_zero_is_no_error(limit):
    assert_allclose(found(9, -1e-16, limit, 0.25), found(9, 0, limit, 0.25), atol=1e-12)


@pytest.mark.parametrize("limit", LIMITS)
def test_more_confidence_less_to_add(limit):
    n, e = leaves(3)
    some = e < 0.9 * n - 0.5
    every = [found(n[some], e[some], limit, cf) for cf in (0.5, 0.25, 0.1, 0.01)]
    for more, less in zip(every[1:], every):
        assert np.all(more >= less - 1e-9)


@pytest.mark.parametrize("limit", LIMITS)
def test_no_estimate_exceeds_the_cases(limit):
    n, e = leaves(4)
    for confidence in CONFIDENCES:
        some = (e <= n) & (n >= 2)  # a line drawn for e = 0 to 1 knows no fewer cases
        estimate = e[some] + found(n[some], e[some], limit, confidence)
        assert np.isfinite(estimate).all()
        assert np.all(estimate <= n[some] * (1 + 1e-9))
        assert np.all(estimate >= e[some] - 1e-9 * n[some])


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_deviates(confidence):
    quinlan, weka = (Pessimism(limit, confidence).plain() for limit in ("quinlan", "weka"))
    assert_allclose(quinlan[2], normal_deviate(confidence, "quinlan"), rtol=1e-12)
    assert_allclose(weka[2], -ndtri(confidence), rtol=1e-9, atol=1e-15)
    assert_allclose(weka[2], normal_deviate(confidence, "weka"), atol=1e-8)
