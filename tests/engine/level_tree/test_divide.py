"""Rows take their sides, and the children are described, against plain NumPy."""

import numpy as np
import pytest

from arboretum.engine.level_tree.divide import describe_new, divide_level
from arboretum.engine.level_tree.grow import Nodes
from arboretum.engine.level_tree.search import LevelTable
from arboretum.engine.level_tree.words import CATEGORIES, NUMBERS

EMPTY = np.empty(0)


def _nodes(**some) -> Nodes:
    return Nodes(**dict.fromkeys(Nodes._fields, EMPTY))._replace(**some)


@pytest.mark.parametrize("missing_child", [0, 1])
def test_rows_go_by_their_values(missing_child):
    values = np.array([[1.0, 2.0, 3.0, np.nan], [0.0, 33.0, 2.0, np.nan]])
    kind = np.array([NUMBERS, CATEGORIES], np.uint8)
    table = LevelTable(
        np.empty((2, 0), np.uint32), np.zeros(2, np.int64), kind, np.array([0, 40]), values, True
    )
    bits = np.array([1, 2], np.uint32)  # categories 0 and 33 go left
    for feature, expected in ((0, [1, 1, 2]), (1, [1, 1, 2])):
        nodes = _nodes(
            feature=np.array([feature, -1, -1], np.int32),
            threshold=np.array([2.0, np.nan, np.nan]),
            first_child=np.array([1, -1, -1], np.int32),
            missing_child=np.array([missing_child, -1, -1], np.int32),
            bits_start=np.array([0, -1, -1]),
            bits=bits,
        )
        node = np.zeros(4, np.uint16)
        divide_level(table, nodes, node)
        assert node.tolist() == [*expected, 1 + missing_child]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bag", [False, True])
def test_new_nodes_are_described(weighted, bag):
    rng = np.random.default_rng(0)
    r, node = rng.normal(size=60), rng.integers(1, 4, 60).astype(np.uint16)
    r[node == 3] = 0.7  # equal targets have no spread
    w = rng.exponential(size=60) if weighted else EMPTY
    rows = np.flatnonzero(rng.random(60) < 0.6) if bag else np.empty(0, np.int64)
    stats, count = np.full((5, 4), -9.0), np.full(4, -9)
    describe_new(r, w, rows, node, 1, 4, stats, count)
    inside = np.isin(np.arange(60), rows) if bag else np.ones(60, bool)
    for k in range(1, 4):
        here = inside & (node == k)
        each = w[here] if weighted else np.ones(here.sum())
        mean = np.average(r[here], weights=each)
        spread = 0.0 if k == 3 else np.average((r[here] - mean) ** 2, weights=each)
        expected = [each.sum(), mean, spread, r[here].min(), r[here].max()]
        np.testing.assert_allclose(stats[:, k], expected, rtol=1e-12)
        assert count[k] == here.sum()
    assert (stats[:, 0] == -9).all()
    assert count[0] == -9
