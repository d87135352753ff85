"""Sums of shards' histograms, the replay of best-first growth, and the leaves of nodes divided in vain."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.second_order.batch import add_counts, map_leaves, replay
from arboretum.grow.histogram import HistogramGrower
from tests.grow.test_histogram import features, rules


def test_packed_and_wide_histograms_add_up():
    starts = np.array([0, 2, 5])
    g = np.array([[-3, 4, 0, 1, -9], [5, -1, 2, 2, 2]])
    h = np.array([[7, 1, 0, 2, 65535], [1, 1, 3, 4, 5]])
    wide = np.concatenate([g[:, :2], h[:, :2], g[:, 2:], h[:, 2:]], axis=1)
    packed, nothing = (g << 32) + h, np.empty((0, 10), np.int64)
    total = np.zeros((2, 10), np.int64)
    add_counts(total, np.array([False, True]), wide[:1], packed[1:], starts)
    assert total.tolist() == wide.tolist()
    add_counts(total, np.array([True, True]), nothing, packed, starts)
    assert total.tolist() == (2 * wide).tolist()
    add_counts(total[:0], np.empty(0, bool), nothing, packed[:0], starts)


def tree_of(gains, children, how):
    """Return a tree ahead with such gains (0: no split) and first children (-1: not divided)."""
    n = len(gains)
    table = HistogramGrower(np.empty((1, 0), np.uint8), features(1, 4), how)
    ahead = table.new_tree(np.arange(1), n, n, (0, 1), 1)
    ahead.nodes["split"]["gain"] = gains
    ahead.nodes["split"]["feature"] = np.where(np.array(gains) > 0, 0, -1)
    ahead.nodes["first_child"], ahead.counters["nodes"] = children, n
    ahead.nodes["depth"] = 0
    for k, left in enumerate(children):
        if left >= 0:
            ahead.nodes["depth"][left : left + 2] = ahead.nodes["depth"][k] + 1
    return ahead, table.new_tree(np.arange(1), 2 * n + 1, 2 * n + 1, (0, 1), 1)


#           gains                       first children                  leaves  wanted      final tree
CASES = {
    "root": ([0], [-1], 9, [], [0]),
    "root to divide": ([5], [-1], 9, [0], None),
    "no leaf is left": ([5], [-1], 1, [], [0]),
    "larger gain first": ([9, 2, 3], [1, -1, -1], 9, [2, 1], None),
    "older of equals": ([9, 3, 3], [1, -1, -1], 9, [1, 2], None),
    "limit of leaves": ([9, 2, 3], [1, -1, -1], 3, [2], None),
    "in vain": ([9, 2, 3, 0, 0, 8, 0, 1, 1], [1, 3, 5, -1, -1, 7, -1, -1, -1], 4, [], [0, 1, 2, 5, 6, 7, 8]),
    "order of growth": ([9, 2, 3, 0, 0, 0, 0], [1, 5, 3, -1, -1, -1, -1], 9, [], [0, 1, 2, 3, 4, 5, 6]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_replays(case):
    gains, children, leaves, wanted, final_tree = CASES[case]
    how = rules(max_leaves=leaves)
    ahead, final = tree_of(gains, children, how)
    index_of, found = np.empty(2 * len(gains) + 1, np.int64), np.empty(len(gains), np.int64)
    many = replay(ahead, final, index_of, found, how)
    assert found[:many].tolist() == wanted
    if final_tree is not None:
        n = int(final.counters["nodes"][0])
        assert index_of[:n].tolist() == final_tree
        leaf_of_node = np.empty(len(gains), np.int32)
        map_leaves(ahead, index_of[:n], leaf_of_node)
        assert [int(leaf_of_node[k]) for k in final_tree] == list(range(n))
        outside = set(range(len(gains))) - set(final_tree)
        parent = {c: k for k, left in enumerate(children) if left >= 0 for c in (left, left + 1)}
        assert all(leaf_of_node[k] == leaf_of_node[parent[k]] for k in outside)


def test_level_by_level_takes_the_least_deep():
    how = rules(max_leaves=9, depth_first=True)
    ahead, final = tree_of([9, 2, 3, 8, 8], [1, 3, -1, -1, -1], how)
    index_of, found = np.empty(11, np.int64), np.empty(5, np.int64)
    assert found[: replay(ahead, final, index_of, found, how)].tolist() == [2, 3, 4]
