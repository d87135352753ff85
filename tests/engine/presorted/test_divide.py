"""Rows take their sides, and the nodes are described, against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.engine.presorted.divide import (
    describe_node,
    divide_node,
    gather_rows,
    place_rows,
    write_leaves,
    write_numbers,
)
from arboretum.engine.presorted.grow import LevelWork, Nodes
from arboretum.engine.presorted.row_layout import CATEGORIES, NUMBERS, SHIFT, SLOT
from arboretum.engine.presorted.search import LevelTable

EMPTY = np.empty(0)
ALL = np.zeros(0, np.uint8)


def _nodes(**some) -> Nodes:
    return Nodes(**dict.fromkeys(Nodes._fields, EMPTY))._replace(**some)


def _work(inside: np.ndarray, n: int, nodes: int = 7) -> LevelWork:
    """Return work whose rows all stand in node 0."""
    work = LevelWork(**dict.fromkeys(LevelWork._fields, EMPTY))._replace(
        node=np.full(n, 99, np.uint16),
        words=np.zeros(n, np.int64),
        order=np.empty(n, np.uint32),
        spare=np.empty(n, np.uint32),
        begin=np.zeros((2, nodes), np.int64),
        size=np.zeros((2, nodes), np.int64),
        ids=np.zeros(nodes, np.int64),
        n_nodes=np.array([1]),
        n_open=np.array([1]),
        mean=np.full(2, -9.0),
        weight=np.full(2, -9.0),
        rows=np.full(2, -9),
    )
    gather_rows(inside, work)
    return work


def _divided(missing_child: int, feature: int) -> Nodes:
    return _nodes(
        feature=np.array([feature, -1, -1], np.int32),
        threshold=np.array([2.0, np.nan, np.nan]),
        first_child=np.array([1, -1, -1], np.int32),
        missing_child=np.array([missing_child, -1, -1], np.int32),
        bits_start=np.array([0, -1, -1]),
        bits=np.array([1, 2], np.uint32),  # categories 0 and 33 go left
    )


@pytest.mark.parametrize("missing_child", [0, 1])
@pytest.mark.parametrize("inside", [ALL, np.array([1, 0, 1, 1, 0, 1], np.uint8)])
@pytest.mark.parametrize("feature", [0, 1])
def test_rows_go_by_their_values(missing_child, inside, feature):
    values = np.array([[1.0, 2.0, 3.0, np.nan, 9.0, 0.5], [0.0, 33.0, 2.0, np.nan, 1.0, 33.0]])
    kind = np.array([NUMBERS, CATEGORIES], np.uint8)
    table = LevelTable(
        np.empty((2, 0), np.uint32), np.zeros(2, np.int64), kind, np.array([0, 40]), values, True
    )
    work = _work(inside, 6)
    divide_node(table, _divided(missing_child, feature), 0, work)
    work.n_nodes[0] = 3
    write_leaves(work)
    expected = np.array([1, 1, 2, 1 + missing_child, 2, 1])
    assert_array_equal(work.node, expected)
    count = np.ones(6, bool) if not len(inside) else inside.astype(bool)
    for node in (1, 2):  # those of the bag, ascending
        first, size = work.begin[0, node], work.size[0, node]
        rows = np.flatnonzero(count & (expected == node))
        assert_array_equal(work.order[first : first + size], rows)
    assert work.size[:, 0].tolist() == [0, 0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bag", [False, True])
@pytest.mark.parametrize("equal", [False, True])
def test_a_node_is_described(weighted, bag, equal):
    rng = np.random.default_rng(0)
    r = np.full(60, 0.7) if equal else rng.normal(size=60)  # equal targets have no spread
    w = rng.exponential(size=60) if weighted else EMPTY
    inside = (rng.random(60) < 0.6).astype(np.uint8) if bag else ALL
    names = "weight", "mean", "impurity"
    nodes = _nodes(count=np.full(2, -9), **{name: np.full(2, -9.0) for name in names})
    describe_node(r, w, _work(inside, 60), 0, nodes)
    here = inside.astype(bool) if bag else np.ones(60, bool)
    each = w[here] if weighted else np.ones(here.sum())
    mean = np.average(r[here], weights=each)
    spread = 0.0 if equal else np.average((r[here] - mean) ** 2, weights=each)
    for name, expected in zip(names, (each.sum(), mean, spread), strict=True):
        assert_allclose(getattr(nodes, name), [expected, -9.0], rtol=1e-12)
    assert nodes.count.tolist() == [here.sum(), -9]


@pytest.mark.parametrize("weighted", [False, True])
def test_words_say_what_rows_add_and_where_they_stand(weighted):
    r = np.array([1.0, -2.0, 3.0, 4.0, 5.0])
    inside = np.array([1, 1, 1, 0, 1], np.uint8)
    weight = np.array([1.0, 2.0, 1.0, 1.0, 3.0]) if weighted else EMPTY
    row_weight = weight.astype(np.int64)
    values = np.array([[1.0, 5.0, 6.0, 0.0, 2.0]])
    table = LevelTable(
        np.empty((1, 0), np.uint32), np.zeros(1, np.int64), np.array([NUMBERS], np.uint8),
        np.zeros(1, np.int64), values, False,
    )  # fmt: skip
    work = _work(inside, 5)
    write_numbers(r, weight, True, 8.0, work.words)
    divide_node(table, _divided(0, 0), 0, work)
    work.n_nodes[0], work.n_open[0] = 3, 1
    work.ids[0] = 2  # node 1 is a leaf by now
    place_rows(row_weight, weighted, work)
    slots = (work.words.astype(np.uint64) & SLOT).tolist()
    assert slots == [1, 0, 0, 1, 1]
    assert_array_equal(work.words[inside > 0] >> SHIFT, 8 * r[inside > 0])
    total, whole, rows = [[8, 2, 2], [-8, 3, 2]][weighted]
    assert work.mean.tolist() == [total / whole, 0.0]
    assert work.weight.tolist() == [whole, 0.0]
    assert work.rows.tolist() == [rows, 0]
