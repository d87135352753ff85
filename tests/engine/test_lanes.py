"""Four numbers at a time: the same as one by one."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from arboretum.engine.jit import kernel
from arboretum.engine.lanes import add_four, add_row, load_four, mul_four, store_four


@kernel
def _mix(a, b, out):
    """Write a · b + a from place 1 on, and nothing else."""
    at = np.uint64(1)
    x = load_four(a, at)
    store_four(out, at, add_four(mul_four(x, load_four(b, at)), x))


def test_they_are_added_and_multiplied_in_their_places():
    rng = np.random.default_rng(0)
    a, b, out = rng.normal(size=7), rng.normal(size=7), np.full(7, -1.0)
    _mix(a, b, out)
    assert_array_equal(out[1:5], a[1:5] * b[1:5] + a[1:5])
    assert_array_equal(out[[0, 5, 6]], -1.0)


@kernel
def _count(cells, codes, numbers, weights):
    for i in range(len(codes)):
        add_row(cells, np.uint64(codes[i]), numbers[i], weights[i])


def test_a_row_is_added_to_its_cell():
    rng = np.random.default_rng(1)
    codes, numbers, weights = rng.integers(0, 5, 40), rng.integers(-9, 9, 40), np.arange(40)
    cells = np.full((5, 4), 7, np.int64)
    _count(cells, codes, numbers, weights)
    for c in range(5):
        here = codes == c
        expected = [numbers[here].sum(), weights[here].sum(), here.sum(), 0]
        assert_array_equal(cells[c] - 7, expected)
