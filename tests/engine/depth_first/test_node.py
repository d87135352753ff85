"""What a node holds: its targets on a grid of its own, its sums, its impurity."""

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.depth_first.node import are_alike, drop_empty, impurity_of, put_on_grid
from arboretum.engine.split.score import ENTROPY, GINI, SQUARED
from tests.engine.depth_first.rules import rules as plain


@kernel
def _put_on_grid(y, row_weight, rows, n, rules, number, weight):
    return put_on_grid(y, row_weight, rows, np.uint64(0), n, rules, number, weight)


@kernel
def _labels(label, weight, n, total, whole, rules):
    alike = are_alike(label, None, weight, np.uint64(0), n, total, whole, rules)
    return alike, impurity_of(label, None, weight, np.uint64(0), n, total, whole, rules)


@kernel
def _numbers(number, weight, n, total, whole, rules):
    alike = are_alike(None, number, weight, np.uint64(0), n, total, whole, rules)
    return alike, impurity_of(None, number, weight, np.uint64(0), n, total, whole, rules)


@kernel
def _drop(label, n, total, number_of):
    return drop_empty(label, np.uint64(0), n, total, number_of)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_targets_come_back_from_their_grid(scale):
    rng = np.random.default_rng(0)
    y = rng.normal(size=(50, 2)) * scale
    rows = rng.choice(50, 20, replace=False).astype(np.uint32)
    number, weight = np.zeros((2, 20), np.int64), np.ones(20, np.int64)
    step, centre, equal = _put_on_grid(y, np.empty(0), rows, 20, plain(), number, weight)
    here = y[rows]
    middle = (here.min(axis=0) + here.max(axis=0)) / 2
    assert not equal
    assert centre == pytest.approx(middle[0], rel=1e-12)
    np.testing.assert_allclose(number.T * step + middle, here, rtol=0, atol=1e-12 * scale)
    _, _, equal = _put_on_grid(np.ones((50, 2)), np.empty(0), rows, 20, plain(), number, weight)
    assert equal


@pytest.mark.parametrize("criterion", [GINI, ENTROPY])
def test_impurity_of_classes(criterion):
    y = np.array([0, 2, 2, 1, 2, 0])
    weight = np.array([1, 2, 1, 3, 1, 1])
    total = np.bincount(y, weight, 3).astype(np.int64)
    label = y[None].astype(np.uint32)
    alike, impurity = _labels(label, weight, 6, total, np.int64(9), plain(criterion=criterion))
    share = total / 9
    expected = 1 - np.sum(share**2) if criterion == GINI else -np.sum(share * np.log2(share))
    assert not alike
    assert impurity == pytest.approx(expected)
    pure = np.array([0, 9, 0])
    assert _labels(label, weight, 6, pure, np.int64(9), plain(criterion=criterion))[0]


def test_impurity_of_numbers():
    y, weight = np.array([3, -1, 4, 4]), np.array([1, 2, 1, 1])
    number, rules = (y * weight)[None], plain(criterion=SQUARED)
    total = number.sum(axis=1)
    alike, impurity = _numbers(number, weight, 4, total, np.int64(5), rules)
    mean = np.average(y, weights=weight)
    assert not alike
    assert impurity == pytest.approx(np.average((y - mean) ** 2, weights=weight))
    same = (np.full(4, 7) * weight)[None]
    assert _numbers(same, weight, 4, same.sum(axis=1), np.int64(5), rules)[0]


def test_classes_that_are_lost_are_numbered_anew():
    label = np.array([[4, 1, 4, 3]], np.uint32)
    total = np.array([0, 1, 0, 1, 2])
    assert _drop(label, 4, total, np.empty(5, np.int64)) == 3
    assert label[0].tolist() == [2, 0, 2, 1]
    assert total[:3].tolist() == [1, 1, 2]
