"""Features drawn by depth and by node, and groups that may meet."""

from __future__ import annotations

import numpy as np

from arboretum.engine.second_order.exact import draw_allowed
from arboretum.engine.second_order.score import SplitRules
from arboretum.grow.histogram import new_draw

RULES = SplitRules(
    0.0, 1.0, 0.0, 0.0, 0.0, True, 1.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0.0, 6, 64, True, 0, 0
)  # fmt: skip
NO_GROUPS = np.empty((0, 0), np.uint64)


def _drawn(features, rules, depth=1, n_nodes=5, key=3):
    draw = new_draw(np.array(features), 8, n_nodes + 1, NO_GROUPS)
    allowed = np.empty((n_nodes, 8), np.uint8)
    draw_allowed(draw, 1, np.arange(n_nodes), depth, np.uint64(key), rules, allowed)
    assert not draw.marks.any()  # left as they were found
    return [set(np.flatnonzero(row).tolist()) for row in allowed]


def test_without_a_sample_all_features_of_the_tree_are_there():
    assert _drawn([1, 2, 5], RULES) == [{1, 2, 5}] * 5


def test_nodes_of_a_depth_share_a_sample_and_draw_from_it():
    rules = RULES._replace(level_columns=4)
    level = _drawn(range(8), rules)
    assert level == [level[0]] * 5
    assert len(level[0]) == 4
    nodes = _drawn(range(8), rules._replace(node_columns=2))
    assert all(len(one) == 2 and one <= level[0] for one in nodes)
    assert len({frozenset(one) for one in nodes}) > 1


def test_depths_and_keys_draw_differently():
    rules = RULES._replace(level_columns=3)
    samples = [_drawn(range(8), rules, depth, key=key)[0] for depth in range(4) for key in range(4)]
    assert len({frozenset(one) for one in samples}) > 8
    assert _drawn(range(8), rules) == _drawn(range(8), rules)
