"""Several numbers at a time: the same as one by one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.simd import WIDE, add_chosen, add_chosen_by_four, add_row, mark


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


@kernel
def _add_by_four(sums, values, firsts, indices, rows):
    """Add four lists of eight numbers to the sums from place 8 on."""
    starts = (
        np.uint64(firsts[0]),
        np.uint64(firsts[1]),
        np.uint64(firsts[2]),
        np.uint64(firsts[3]),
    )
    lists = (np.uint64(rows[0]), np.uint64(rows[1]), np.uint64(rows[2]), np.uint64(rows[3]))
    add_chosen_by_four(sums, np.uint64(8), values, starts, indices, lists)


@kernel
def _add_one_by_one(sums, values, firsts, indices, rows):
    """The same, one list after the other."""
    at = np.uint64(8)
    for k in range(4):
        add_chosen(sums, at, values, np.uint64(firsts[k]), indices, np.uint64(rows[k]) + at)


def test_four_lists_are_added_as_one_after_the_other():
    rng = np.random.default_rng(0)
    values, indices = rng.normal(size=400), rng.integers(0, 100, 4 * 24).astype(np.uint16)
    firsts, rows = np.array([300, 0, 200, 100]), np.array([24, 72, 0, 48])
    start = rng.normal(size=24)
    sums, others, plain = start.copy(), start.copy(), start.copy()
    _add_by_four(sums, values, firsts, indices, rows)
    _add_one_by_one(others, values, firsts, indices, rows)
    for first, row in zip(firsts, rows, strict=True):
        plain[8:16] += values[first + indices[row + 8 : row + 16].astype(int)]
    assert_array_equal(sums, plain)
    assert_array_equal(others, plain)


@kernel
def _mark(codes, places, cut):
    mark(codes, np.uint64(3), np.uint64(cut), places, np.uint64(5), np.uint64(4))


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_a_bit_is_set_where_codes_are_above_the_cut(kind):
    codes = np.random.default_rng(0).integers(0, np.iinfo(kind).max + 1, 80).astype(kind)
    places, cut = np.full(80, 3, kind), int(np.iinfo(kind).max // 3)
    _mark(codes, places, cut)
    expected = np.full(80, 3, kind)
    expected[5 : 5 + WIDE] |= np.where(codes[3 : 3 + WIDE] > cut, 4, 0).astype(kind)
    assert_array_equal(places, expected)
