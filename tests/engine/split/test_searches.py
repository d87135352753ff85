"""Every search of presorted lists and of codes, against all cuts of a node tried in plain NumPy."""

import numpy as np
import pytest

from arboretum.engine.split import absolute, class_counts, one_sum
from arboretum.engine.split.best import new_column_best, no_best
from arboretum.engine.split.counts import Columns, make_counter, scan_counts
from arboretum.engine.split.score import ABSOLUTE, ENTROPY, GINI, POISSON, SQUARED
from arboretum.engine.split.statistic import SearchRules
from arboretum.grow.columns import sort_columns
from arboretum.grow.criterion import Batch, make_statistic
from arboretum.grow.grower import GrowTarget

N = 50
FREE = np.array([[-np.inf, np.inf]])


def _gini(y, w):
    return 1 - np.sum((np.bincount(y, w) / w.sum()) ** 2)


def _entropy(y, w):
    share = np.bincount(y, w) / w.sum()
    return -np.sum(share[share > 0] * np.log2(share[share > 0]))


def _variance(y, w):
    return np.average((y - np.average(y, weights=w)) ** 2, weights=w)


def _deviance(y, w):
    mean = np.average(y, weights=w)
    return np.average(y * np.log(np.where(y > 0, y, 1) / mean), weights=w)


def _deviation(y, w):
    order = np.argsort(y)
    below = np.cumsum(w[order])
    median = y[order][np.searchsorted(below, below[-1] / 2)]
    return np.average(np.abs(y - median), weights=w)


# name -> criterion, classes, impurity, the module that searches lists
KINDS = {
    "squared error": (SQUARED, 0, _variance, one_sum),
    "gini, two classes": (GINI, 2, _gini, one_sum),
    "entropy, two classes": (ENTROPY, 2, _entropy, one_sum),
    "poisson": (POISSON, 0, _deviance, one_sum),
    "gini": (GINI, 4, _gini, class_counts),
    "entropy": (ENTROPY, 4, _entropy, class_counts),
    "absolute error": (ABSOLUTE, 0, _deviation, absolute),
}


def _node(kind: str, y, w):
    """Return a statistic and a batch whose one node holds all of them."""
    criterion, classes, _, _ = KINDS[kind]
    dtype = np.int32 if classes else np.float64
    target = GrowTarget(y[:, None].astype(dtype), np.array([classes]) if classes else None, w)
    statistic = make_statistic(target, criterion, SearchRules(min_leaf=3))
    nodes = statistic.prepare(np.array([0]), np.array([len(y)]), FREE)
    return statistic, Batch(np.array([0]), nodes, np.zeros(1, np.uint64), np.ones(1))


def _search(statistic, lists, columns, batch):
    """Return the best cut of the columns' lists."""
    best = no_best(1)
    statistic.search(lists, columns, statistic.searched, batch.nodes, statistic.rules, best)
    return best


def _case(kind: str, weights: str, seed: int):
    _, classes, impurity, _ = KINDS[kind]
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (3, N)).astype(float)
    X[1, rng.random(N) < 0.3] = np.nan
    y = rng.integers(0, classes, N) if classes else rng.integers(1, 30, N).astype(float)
    w = {
        "none": np.empty(0),
        "whole": rng.integers(1, 4, N).astype(float),
        "real": rng.exponential(size=N) + 0.1,
    }[weights]
    return X, y, w if len(w) else np.ones(N), impurity, *_node(kind, y, w)


def _best(x, y, w, impurity):
    """Return the largest decrease by a cut that leaves three rows on each side."""
    best, gone, n = -1.0, np.isnan(x), w.sum()
    for cut in np.unique(x[~gone]):
        for side in (False, True) if gone.any() else (False,):
            left = np.where(gone, side, x <= cut)
            if min(left.sum(), (~left).sum()) >= 3:
                parts = [w[s].sum() / n * impurity(y[s], w[s]) for s in (left, ~left)]
                best = max(best, impurity(y, w) - sum(parts))
    return best


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("kind", KINDS)
def test_lists_give_the_best_of_all_cuts(kind, weights):
    for seed in range(3):
        X, y, w, impurity, statistic, batch = _case(kind, weights, seed)
        lists = sort_columns(lambda j, X=X: X[j], X.shape, 1).lists
        for f in range(3):
            columns = np.array([f]), np.array([f]), np.zeros((1, 1), np.int8)
            best = _search(statistic, lists, columns, batch)
            expected = _best(X[f], y, w, impurity)
            assert statistic.decrease(batch.nodes, best.score)[0] == pytest.approx(
                expected, rel=1e-9
            )
        columns = np.arange(3), np.arange(3), np.zeros((3, 1), np.int8)
        best = _search(statistic, lists, columns, batch)
        expected = [_best(X[f], y, w, impurity) for f in range(3)]
        assert expected[best.feature[0]] == pytest.approx(max(expected), rel=1e-9)


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "absolute error"])
def test_codes_give_the_best_of_all_cuts(kind, weights):
    X, y, w, impurity, statistic, batch = _case(kind, weights, 5)
    codes = np.where(np.isnan(X), 12, X).astype(np.uint8)
    for f in range(3):
        columns = Columns(np.array([f]), np.array([12]), np.array([False]), np.zeros(1, np.int8))
        found = new_column_best(1)
        counter = make_counter(12, statistic.channels)
        scan_counts(codes, columns, statistic.row, batch.nodes, statistic.rules, counter, found)
        expected = _best(X[f], y, w, impurity)
        assert statistic.decrease(batch.nodes, found.score)[0] == pytest.approx(expected, rel=1e-9)
        assert not found.constant[0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_outermost_cuts_count_and_of_equals_the_first(kind, weighted):
    """Three rows on a side are enough; equal cuts and equal columns are decided by their numbers."""
    n, w = 32, np.full(32, 2.0) if weighted else np.empty(0)
    lists = sort_columns(lambda j: np.arange(n, dtype=float), (2, n), 1).lists
    for ends, cut in ([29, 30, 31], 29), ([0, 1, 2], 3), ([0, 1, 2, 3, 28, 29, 30, 31], 4):
        y = np.ones(n) if kind == "poisson" else np.zeros(n)
        y[ends] = 3.0 if kind == "poisson" else 1.0
        statistic, batch = _node(kind, y.astype(int) if KINDS[kind][1] else y, w)
        columns = np.arange(2), np.arange(2), np.zeros((2, 1), np.int8)
        best = _search(statistic, lists, columns, batch)
        if kind != "absolute error" or cut != 4:  # two thirds of zeros: no median moves
            assert (best.cut[0], best.feature[0]) == (cut, 0)


def test_each_kind_has_the_quickest_search_that_serves_it():
    names = {one_sum: "Moment", class_counts: "ClassCounts", absolute: "Absolute"}
    for kind, (_, _, _, module) in KINDS.items():
        assert type(_case(kind, "none", 0)[4]).__name__ == names[module]
    assert type(_case("gini", "real", 0)[4]).__name__ == "Channels"  # many_sums.py
