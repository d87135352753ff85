"""Ways to draw rows, each beside its obvious version."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from arboretum.base.sampling import draw_by_weight, draw_counts, draw_in_turn, hashes, smallest
from arboretum.engine.keys import key_of, uniform_array


@pytest.mark.parametrize(("n", "size"), [(1, 5), (7, 7), (50, 20), (3, 0)])
def test_counts_are_those_of_draws_one_by_one(n, size):
    shares = uniform_array(key_of(9, 0xBA6), size)
    expected = np.zeros(n)
    for share in shares:
        expected[int(share * n)] += 1
    assert_array_equal(draw_counts(9, n, size), expected)


def test_by_weight_a_row_owns_a_stretch():
    rng = np.random.default_rng(3)
    for n in (1, 2, 40):
        w = rng.random(n) * (rng.random(n) < 0.7)
        w[n // 2] = 1.0
        shares = np.append(rng.random(100), [0.0, 1 - 2**-53])
        rows = draw_by_weight(w, shares)
        assert (w[rows] > 0).all()
        ends = np.cumsum(w / w.sum())
        assert (shares <= ends[rows] + 1e-12).all()
        assert (shares >= ends[rows] - w[rows] / w.sum() - 1e-12).all()


@pytest.mark.parametrize(("n", "k"), [(1, 0), (1, 1), (200, 31), (200, 200), (5, 9)])
def test_the_smallest_hashes_are_a_choice_without_replacement(n, k):
    keys = hashes(5, n)
    assert keys.tolist() == [key_of(5, i) for i in range(n)]
    rows = smallest(keys, k)
    assert_array_equal(rows, np.sort(np.argsort(keys, kind="stable")[:k]))


@pytest.mark.parametrize(("n", "k"), [(1, 1), (30, 0), (30, 7), (30, 30)])
def test_in_turn_row_after_row_is_drawn_or_left(n, k):
    expected, need = np.zeros(n, np.uint8), k
    for i in range(n):
        share = (key_of(11, i) >> 11) / 2**53
        if share * (n - i) < need:
            expected[i], need = 1, need - 1
    assert_array_equal(draw_in_turn(11, n, k), expected)
    assert expected.sum() == k


def test_in_turn_rows_that_all_weigh_nothing_are_drawn_again():
    w = np.zeros(100)
    w[[4, 60]] = 1
    again = 0
    for key in range(20):
        drawn = draw_in_turn(key, 100, 10, w)
        first = draw_in_turn(key, 100, 10)
        if first[[4, 60]].any():
            assert_array_equal(drawn, first)
        else:
            again += 1
            assert_array_equal(np.flatnonzero(drawn), [4, 60])
    assert again > 5


def test_every_row_is_as_likely_as_any_other():
    times = {"smallest": np.zeros(20), "in turn": np.zeros(20)}
    for key in range(3000):
        times["smallest"][smallest(hashes(key, 20), 5)] += 1
        times["in turn"] += draw_in_turn(key, 20, 5)
    for drawn in times.values():
        assert abs(drawn / 3000 - 0.25).max() < 0.035  # 4.4 standard deviations
