"""What nodes answer, from their rows and their children, against NumPy on the rows of every node."""

import numpy as np
import pytest

from arboretum.engine.depth_first.describe import describe_classes, describe_numbers
from arboretum.engine.depth_first.records import RandomTreeNodes

# two trees of the same form: root (rows 0..6), left leaf 0..2, right leaf 2..6
FIRST_CHILD = np.array([1, -1, -1, 1, -1, -1], np.int32)
START = np.array([0, 0, 2, 6, 6, 8], np.uint32)
END = np.array([6, 2, 6, 12, 8, 12], np.uint32)


def _grown() -> RandomTreeNodes:
    nothing = np.empty(0)
    parts = dict.fromkeys(RandomTreeNodes._fields, nothing)
    parts |= {"first_child": FIRST_CHILD, "start": START, "end": END}
    return RandomTreeNodes(**parts)._replace(node_start=np.array([0, 3, 6]))


def _rows(rng) -> np.ndarray:
    return np.concatenate([rng.permutation(6), rng.permutation(6)]).astype(np.uint32)


@pytest.mark.parametrize("gini", [True, False])
def test_classes(gini):
    rng = np.random.default_rng(1)
    rows, label, weight = _rows(rng), rng.integers(0, 3, 6), rng.integers(1, 4, (2, 6)) * 1.0
    value, impurity, node_weight = np.empty((6, 3)), np.empty(6), np.empty(6)
    sums = np.empty((6, 3))
    describe_classes(_grown(), rows, label, weight, gini, sums, value, impurity, node_weight)
    for node in range(6):
        here, w = rows[START[node] : END[node]], weight[node // 3]
        counts = np.bincount(label[here], w[here], 3)
        share = counts / counts.sum()
        np.testing.assert_allclose(value[node], share)
        assert node_weight[node] == counts.sum()
        inside = share[share > 0]
        expected = 1 - np.sum(share**2) if gini else -np.sum(inside * np.log2(inside))
        assert impurity[node] == pytest.approx(expected, abs=1e-12)


def test_numbers():
    rng = np.random.default_rng(2)
    rows, y, weight = _rows(rng), rng.normal(size=6), rng.exponential(size=(2, 6))
    value, impurity, node_weight = np.empty((6, 1)), np.empty(6), np.empty(6)
    describe_numbers(
        _grown(), rows, y, weight, 0.25, np.empty((6, 3)), value, impurity, node_weight
    )
    for node in range(6):
        here = rows[START[node] : END[node]]
        w = weight[node // 3][here]
        mean = np.average(y[here], weights=w)
        assert value[node, 0] == pytest.approx(mean)
        assert node_weight[node] == pytest.approx(w.sum())
        assert impurity[node] == pytest.approx(np.average((y[here] - mean) ** 2, weights=w))
