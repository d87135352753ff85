"""Counting shared leaves: against plain comparison of leaf numbers."""

import numpy as np
import pytest

from arboretum.engine.predict.proximity import guess_values, nearest_rows, share_rows
from arboretum.forest.proximity import group_leaves


def _leaves(seed: int, n: int, trees: int, leaves: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, leaves, (n, trees)).astype(np.int32)


def _no_bits(n: int) -> np.ndarray:
    return np.empty((n, 0), np.uint64)


# few leaves are compared, many are walked, three make both happen to one row
@pytest.mark.parametrize("n_leaves", [1, 3, 17, 200])
def test_shares_are_those_of_plain_comparison(n_leaves):
    leaves = _leaves(n_leaves, 120, 9, n_leaves)
    leaves[:, :3] %= 2  # large leaves beside small ones
    new = _leaves(7, 20, 9, n_leaves + 5)  # some in leaves that hold nobody
    out = np.full((20, 120), np.nan)
    share_rows(new, _no_bits(20), group_leaves(leaves), out)
    np.testing.assert_array_equal(out, (new[:, None] == leaves[None]).mean(axis=2))


def test_a_tree_that_is_not_asked_counts_for_nothing():
    leaves = np.zeros((4, 3), np.int32)
    mine = np.array([[0, -1, -1]], np.int32)
    out = np.empty((1, 4))
    share_rows(mine, _no_bits(1), group_leaves(leaves), out)
    np.testing.assert_allclose(out, 1 / 3)


@pytest.mark.parametrize("trees", [1, 63, 64, 65, 130])
def test_bits_of_asked_trees_are_counted_over_words(trees):
    rng = np.random.default_rng(trees)
    leaves, unseen = _leaves(1, 40, trees, 3), rng.random((40, trees)) < 0.4
    groups = group_leaves(leaves, unseen)
    mine, out = np.where(unseen, leaves, -1).astype(np.int32), np.empty((40, 40))
    share_rows(mine, groups.away, groups, out)
    both = unseen[:, None] & unseen[None]
    together = (both & (leaves[:, None] == leaves[None])).sum(axis=2)
    np.testing.assert_array_equal(out, together / np.maximum(both.sum(axis=2), 1))


@pytest.mark.parametrize("k", [1, 2, 5, 30, 200])
@pytest.mark.parametrize("n_leaves", [2, 60])
def test_nearest_rows_are_the_first_of_all_sorted_by_share_then_number(k, n_leaves):
    leaves = _leaves(k, 80, 12, n_leaves)
    share, row = np.empty((80, k)), np.empty((80, k), np.int32)
    nearest_rows(leaves, _no_bits(80), group_leaves(leaves), np.arange(80), share, row)
    full = (leaves[:, None] == leaves[None]).mean(axis=2)
    np.fill_diagonal(full, 0.0)
    for i in range(80):
        expected = [j for j in np.lexsort((np.arange(80), -full[i])) if full[i, j] > 0][:k]
        there = share[i] > 0
        order = np.lexsort((row[i][there], -share[i][there]))
        assert row[i][there][order].tolist() == expected
        np.testing.assert_array_equal(np.sort(share[i][there])[::-1], full[i, expected])


def test_guesses_are_weighted_means_and_heaviest_codes():
    leaves = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 0], [5, 5, 5]], np.int32)
    donors = np.array([[10.0, 40.0, np.nan, 7.0], [0.0, 1.0, 1.0, 2.0], [np.nan] * 4])
    mine = np.array([[0, 0, 1], [9, 9, 9]], np.int32)  # meets row 0 thrice, 1 twice, 2 twice
    guess, near = np.zeros(5), np.zeros(5, np.int64)
    guess_values(
        mine, group_leaves(leaves), donors, np.array([0, 3, 0]),
        np.array([0, 3, 5]), np.array([0, 1, 2, 0, 1]), guess, near,
    )  # fmt: skip
    assert near.tolist() == [5, 7, 0, 0, 0]
    assert guess[0] == (3 * 10 + 2 * 40) / 5
    assert guess[1] == 1.0  # weight 4 beats weight 3


def test_counters_are_clean_for_the_next_row():
    leaves = _leaves(0, 50, 6, 2)
    one, many = np.empty((1, 50)), np.empty((50, 50))
    share_rows(leaves[49:], _no_bits(1), group_leaves(leaves), one)
    share_rows(leaves, _no_bits(50), group_leaves(leaves), many)
    np.testing.assert_array_equal(one[0], many[49])
