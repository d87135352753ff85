"""What trees are grown for, powers of two, and values added to scores."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.gradient import pack

G, H = np.float32([1.0, -2.0, 0.5]), np.float32([1.0, 1.0, 2.0])


def test_all_rows_count_once():
    given = pack.make_given(G, H, 7)
    assert (len(given.rows), len(given.factor), given.most, given.key) == (0, 0, 1.0, 7)


def test_factors_are_known_by_row():
    given = pack.make_given(G, H, 0, np.uint32([0, 2]), np.float32([1.0, 3.0]))
    assert given.factor_of.tolist() == [1.0, 0.0, 3.0]
    assert given.most == 3.0


@pytest.mark.parametrize(("most", "n"), [(1.0, 1), (0.3, 1000), (5e-9, 7), (1e30, 2**31)])
def test_fine_sums_fit_and_use_their_bits(most, n):
    scale = pack.fine_scale(most, n)
    assert np.frexp(scale)[0] == 0.5  # a power of two
    assert 2.0**59 <= most * scale * 2 ** n.bit_length() < 2.0**62
    assert pack.fine_scale(0.0, n) == 1.0


def test_leaves_add_their_values_to_their_rows():
    entries = np.array([2, 0, 1], np.uint64) << np.uint64(32)
    score = np.zeros((3, 2))
    pack.add_leaf(entries, np.array([0, 2]), np.array([2, 3]), np.array([1.5, -1.0]), score, 1)
    assert score.tolist() == [[0.0, 1.5], [0.0, -1.0], [0.0, 1.5]]


@pytest.mark.parametrize("rows", [np.empty(0, np.uint32), np.uint32([0, 2, 1, 3])])
def test_rows_add_the_value_of_the_leaf_they_reached(rows):
    score, leaf = np.zeros((4, 1)), np.array([1, 0])
    pack.add_reached(leaf, np.array([10.0, 20.0]), rows, 1, 3, score, 0)  # the second and third
    expected = np.zeros(4)
    expected[rows[1:3] if len(rows) else [1, 2]] = [20.0, 10.0]
    assert score[:, 0].tolist() == expected.tolist()
