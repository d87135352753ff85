"""The best stump of weighted rows, two classes and more, against every cut tried in plain NumPy."""

import numpy as np
import pytest

from arboretum.engine.stump.classes import search_class_stumps, weigh_class_words
from arboretum.engine.stump.two_classes import (
    describe_stump,
    mark_stump,
    search_stumps,
    weigh_words,
)
from arboretum.grow.columns import sort_columns


def _case(seed: int, classes: int, n: int = 300):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, (3, n)).astype(float)
    X[1, rng.random(n) < 0.2] = np.nan
    y = ((X[0] > 20) + rng.integers(0, classes, n)) % classes
    return X, y.astype(np.int32), rng.exponential(size=n)


def _decrease(left, y, w, classes):
    """Return Σ_c D_c² / (n_L n_R), a share of n."""
    total, here = np.bincount(y, w, classes), np.bincount(y[left], w[left], classes)
    n, n_left = total.sum(), here.sum()
    return np.sum((here - n_left * total / n) ** 2) / (n_left * (n - n_left))


def _best(x, y, w, classes):
    gone, best = np.isnan(x), -1.0
    for cut in np.unique(x[~gone]):
        for side in (False, True) if gone.any() else (False,):
            left = np.where(gone, side, x <= cut)
            if 0 < left.sum() < len(y):
                best = max(best, _decrease(left, y, w, classes))
    return best


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_the_best_of_all_cuts(classes):
    for seed in range(4):
        X, y, w = _case(seed, classes)
        lists = sort_columns(lambda j, X=X: X[j], X.shape, 1).lists
        words = np.empty(len(y), np.int64)
        if classes == 2:
            weight, total = weigh_words(w, y, False, words)
            found = search_stumps(lists, np.arange(3), words, weight, total)
        else:
            total = np.empty(classes, np.int64)
            weight = weigh_class_words(w, y, False, words, total)
            found = search_class_stumps(lists, np.arange(3), words, weight, total)
        score, column, place, missing_left = found
        expected = [_best(x, y, w, classes) for x in X]
        scale = 0.5 if classes == 2 else 1.0  # Gini is twice what one sum tells
        assert score == pytest.approx(scale * max(expected), rel=1e-9)
        right = np.empty(len(y), np.uint8)
        missing = mark_stump(lists[column], place, missing_left, right)
        assert missing == np.isnan(X[column]).any()
        assert scale * _decrease(right == 0, y, w, classes) == pytest.approx(score, rel=1e-9)


def test_nodes_are_described():
    _, y, w = _case(0, 3)
    right = np.random.default_rng(1).integers(0, 2, len(y)).astype(np.uint8)
    value, weight = np.empty((3, 3)), np.empty(3)
    describe_stump(right, y, w, value, weight)
    for node, here in enumerate((right >= 0, right == 0, right == 1)):
        np.testing.assert_allclose(value[node], np.bincount(y[here], w[here], 3))
        assert weight[node] == pytest.approx(w[here].sum())
