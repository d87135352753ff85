"""Links: there and back, at the ends of their range, and what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arboretum.engine.elementwise import probability
from arboretum.errors import ParameterError
from arboretum.predict.link import Link, both_classes, opposite_shares

MARGINS = np.array([-3.0, -0.5, 0.0, 0.25, 2.0])


@pytest.mark.parametrize("link", [Link(), Link("log"), Link("logit"), Link("logit", 2.0)])
def test_raw_undoes_predict(link):
    assert_allclose(link.raw(link.predict(MARGINS)), MARGINS, atol=1e-12)
    assert_allclose([link.margin(p) for p in link.predict(MARGINS)], MARGINS, atol=1e-12)


def test_softmax_goes_back_to_margins_of_mean_0():
    margin = np.random.default_rng(0).normal(size=(4, 3))
    share = Link("softmax").predict(margin)
    assert_allclose(share.sum(axis=1), 1.0)
    assert_allclose(Link("softmax").raw(share), margin - margin.mean(axis=1, keepdims=True))


@pytest.mark.parametrize("name", ["log", "logit"])
def test_the_ends_of_the_range_are_finite_but_no_margin(name):
    link, ends = Link(name), np.array([0.0, 1.0] if name == "logit" else [0.0])
    assert np.isfinite(link.raw(ends)).all()
    for end in ends:
        with pytest.raises(ParameterError, match="base_score must be"):
            link.margin(float(end))
    assert np.isfinite(link.predict(np.array([-1e9]))).all()


def test_a_step_is_a_class():
    assert Link("step").predict(MARGINS).tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("turn", [both_classes, opposite_shares])
def test_one_row_is_answered_as_among_many(turn):
    """One row is made in another way than many; the numbers are the same to the last bit."""
    margin = np.concatenate(
        [np.random.default_rng(0).normal(scale=3, size=500), [0.0, -0.0, np.nan]]
    )
    numbers = probability(margin) if turn is both_classes else margin
    each = np.concatenate([turn(numbers[k : k + 1]) for k in range(len(numbers))])
    np.testing.assert_array_equal(each, turn(numbers))
