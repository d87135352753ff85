"""Intervals and differences against the formulas written out, and the laws of Holm's procedure."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from arboretum.comparison.intervals import difference, estimate, holm

SCORES = np.array([0.81, 0.86, 0.79, 0.84, 0.88])
OTHERS = np.array([0.80, 0.82, 0.79, 0.81, 0.83])


def test_the_corrected_t_of_nadeau_and_bengio():
    d = SCORES - OTHERS
    error = math.sqrt(d.var(ddof=1) * (1 / 5 + 0.25))
    found = difference(SCORES, OTHERS, 0.25)
    assert found.p == pytest.approx(2 * stats.t.sf(d.mean() / error, 4))
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 4) * error)


def test_without_shared_rows_it_is_the_plain_t_test():
    assert difference(SCORES, OTHERS, 0.0).p == pytest.approx(
        stats.ttest_rel(SCORES, OTHERS).pvalue
    )


def test_differences_of_opposite_sign_mirror_each_other():
    one, other = difference(SCORES, OTHERS, 0.25), difference(OTHERS, SCORES, 0.25)
    assert (one.value, one.low, one.p) == pytest.approx((-other.value, -other.high, other.p))


def test_a_single_score_has_no_interval():
    found = estimate(np.array([0.5]), 0.25)
    assert found.value == found.low == found.high == 0.5
    assert math.isnan(found.error)
    assert difference(np.array([1.0]), np.array([0.0]), 0.0).p == 1.0


def test_a_difference_that_never_varies_is_certain():
    assert difference(np.array([2.0, 3.0]), np.array([1.0, 2.0]), 0.25).p == 0.0


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_raises_p_values_and_keeps_their_order(values):
    p = np.array(values)
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (adjusted <= 1).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()
    assert adjusted.min() == pytest.approx(min(1.0, len(p) * p.min()))
