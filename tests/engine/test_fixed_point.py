"""Sums on the integer grid: nothing overflows, nothing is wasted, whole numbers stay as they are."""

import math

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.fixed_point import (
    SUM_BITS,
    WEIGHT_BITS,
    are_whole,
    bits_of_each,
    scale_for,
    shift_for,
    to_grid,
    weights_to_grid,
)


@kernel
def _compiled(largest, count, x, out):
    out[0] = shift_for(largest, bits_of_each(count))
    out[1] = to_grid(x)


@pytest.mark.parametrize("largest", [1e-300, 0.3, 1.0, 7.9, 2.0**52, 1e300])
@pytest.mark.parametrize("count", [1, 7, 8, 1000, 10**9])
def test_a_sum_of_the_largest_fits_and_the_grid_is_not_wasted(largest, count):
    shift = shift_for(largest, bits_of_each(count))
    total = math.ldexp(largest, shift) * count
    assert total < 2.0**SUM_BITS
    assert total >= 2.0 ** (SUM_BITS - 2) or shift == 1000
    out = np.empty(2, np.int64)
    _compiled(largest, float(count), 0.0, out)
    assert out[0] == shift


def test_nothing_needs_no_scale():
    assert shift_for(0.0, 61) == 0
    assert scale_for(0.0, 61) == 1.0
    assert np.isfinite(scale_for(5e-324, 61))


@pytest.mark.parametrize(("x", "nearest"), [(2.4, 2), (2.5, 3), (-2.5, -2), (-2.6, -3), (0.0, 0)])
def test_halves_are_rounded_up(x, nearest):
    out = np.empty(2, np.int64)
    _compiled(1.0, 1.0, x, out)
    assert out[1] == nearest


def test_whole_weights_are_told_from_others():
    assert are_whole(np.array([1.0, 2.0, 0.0]))
    assert are_whole(np.empty(0))
    assert not are_whole(np.array([1.0, 2.5]))
    assert not are_whole(np.append(np.ones(200), 0.5))
    assert not are_whole(np.full(2, 2.0**52))  # their sum is not below 2^53
    assert are_whole(np.full((2, 2), 2.0**51))  # the sum of each line is
    assert not are_whole(np.full(3, 8.0), bits=4)


def test_weights_keep_their_shares_on_the_grid():
    weights = np.random.default_rng(0).exponential(size=1000)
    row, step, whole = weights_to_grid(weights)
    assert not whole
    assert row.sum() <= 2**WEIGHT_BITS
    np.testing.assert_allclose(row * step, weights, rtol=0, atol=step)
    row, step, whole = weights_to_grid(np.array([3.0, 0.0, 2.0]))
    assert (row.tolist(), step, whole) == ([3, 0, 2], 1.0, True)
