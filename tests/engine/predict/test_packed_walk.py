"""Trees walked side by side: any number, gaps and infinities; sums that begin somewhere and are divided."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from arboretum import CARTRegressor
from arboretum.engine.predict.packed_walk import (
    SIDE_BY_SIDE,
    add_packed,
    answer_packed,
    find_packed,
)
from arboretum.predict.engines.packed import pack_trees


def _slow(tree, row):
    """Walk a row down, question by question."""
    node = 0
    while tree.kind[node] != 0:
        x = row[tree.feature[node]]
        right = tree.missing_child[node] if np.isnan(x) else x > tree.threshold[node]
        node = tree.first_child[node] + int(right)
    return node


def _rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3)).round(1)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:3] = np.array([[np.inf] * 3, [-np.inf] * 3, [np.nan] * 3])
    return X


def _trees(n):
    rng, X = np.random.default_rng(n), _rows()[3:]
    return [CARTRegressor(max_depth=4).fit(X, rng.normal(size=len(X))).tree_ for _ in range(n)]


@pytest.mark.parametrize("n", [1, 2, 3, SIDE_BY_SIDE - 1, SIDE_BY_SIDE, SIDE_BY_SIDE + 1, 27])
def test_any_number_of_trees_is_walked_to_the_end(n):
    trees, X = _trees(n), _rows()
    assert {0, 1} <= {int(side) for tree in trees for side in tree.missing_child}
    packed = pack_trees(trees, [tree.value[:, 0] for tree in trees], np.zeros(n, np.int64))
    found, total = np.full((len(X), n), 7, np.uint64), np.full((len(X), 1), 0.5)
    find_packed(packed, X, found)
    add_packed(packed, X, total)
    start, expected = 0, np.full(len(X), 0.5)
    for t, tree in enumerate(trees):
        leaves = np.array([_slow(tree, row) for row in X])
        assert_array_equal(found[:, t], leaves + start)
        expected += tree.value[leaves, 0, 0]
        start += len(tree)
    assert_array_equal(total[:, 0], expected)


def test_missing_values_go_right_of_an_infinite_threshold():
    """Everything but a gap is at most infinity."""
    (tree,) = _trees(1)
    tree.threshold[0], tree.missing_child[0] = np.inf, 1
    found = np.empty((3, 1), np.uint64)
    find_packed(pack_trees([tree], [tree.value[:, 0]], np.zeros(1, np.int64)), _rows()[:3], found)
    assert_array_equal(found[:, 0], [_slow(tree, row) for row in _rows()[:3]])
    assert found[2, 0] >= tree.first_child[0] + 1


def test_answers_begin_at_a_base_and_are_divided():
    trees, X = _trees(5), _rows()
    values = [np.repeat(tree.value[:, 0], 2, axis=1) * [1.0, -2.0] for tree in trees]
    base = np.array([0.25, -0.0])
    packed = pack_trees(trees, values, np.zeros(5, np.int64), base, 3.0)
    total = np.repeat(base[None], len(X), axis=0)
    add_packed(packed, X, total)
    answers = np.full((len(X), 2), 9.0)
    answer_packed(packed, X, answers)
    assert_array_equal(answers, total / 3.0)


def test_an_answer_may_have_more_room_than_it_takes():
    trees, X = _trees(3), _rows()[:1]
    values = [tree.value[:, 0] for tree in trees]
    packed = pack_trees(trees, values, np.zeros(3, np.int64), np.zeros(1))
    wide, plain = np.full((1, 2), 9.0), np.zeros((1, 1))
    answer_packed(packed, X, wide)
    add_packed(packed, X, plain)
    assert wide.tolist() == [[plain.item(), 9.0]]
