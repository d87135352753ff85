"""Sums by node, a column at a time: the same bits as sums by leaf that are added up the tree."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from arboretum.engine.rows.leaf_sums import add_by_node


@pytest.mark.parametrize("n", [0, 1, 500])
def test_sums_of_inner_nodes_are_those_of_their_leaves(n):
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 9, (4, 500)).astype(np.uint16)
    rows, leaf = np.sort(rng.permutation(500)[:n]), np.sort(rng.integers(0, 4, n))
    values = rng.normal(size=(n, 3))
    parent = np.array([0, 0, 0, 1, 1, 2, 2])  # a root, two nodes, four leaves
    place = np.array([0, 1, 2, -1, -2, -3, -4])
    found, scratch = np.full((3, 4, 9, 3), np.nan), np.full((4, 9, 3), np.nan)
    for some in ((0, 3), (3, 4)):
        add_by_node(codes, some, rows, leaf, values, parent, place, scratch, found)
    of_leaves = np.zeros((4, 4, 9, 3))
    for f in range(4):
        np.add.at(of_leaves[:, f], (leaf, codes[f, rows]), values)
    left, right = of_leaves[1] + of_leaves[0], of_leaves[3] + of_leaves[2]
    assert_array_equal(found, np.array([right + left, left, right]))
