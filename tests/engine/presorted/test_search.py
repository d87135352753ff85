"""The level-wise scan: every cut of every node, by hand and against CART's search."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from arboretum.engine.columns.presort import MISSING, sort_column
from arboretum.engine.presorted.grow import LevelRows, LevelWork, Limits
from arboretum.engine.presorted.parts import COUNTED, part_of, scan_in_python
from arboretum.engine.presorted.row_layout import CATEGORIES, NUMBERS, SHIFT, VARIES
from arboretum.engine.presorted.search import LevelBest, LevelTable, new_scratch
from arboretum.engine.rows.sample import draw_in_turn
from arboretum.grow.presorted.table import code_columns


def _scan(X, r, node, m, w=None, least=1, ask=False, categories=False, counted=False):
    """Return the scores of the best cuts of nodes 0 … m-1, and which columns vary."""
    n, width = X.shape
    lists = np.empty((width, n), np.uint32)
    for f in range(width):
        sort_column(np.ascontiguousarray(X[:, f]), lists[f])
    present = np.array([n - np.count_nonzero(line & MISSING) for line in lists])
    row_weight = np.empty(0, np.int64) if w is None else w.astype(np.int64)
    at = node.astype(np.int64)
    words = (r.astype(np.int64) << SHIFT) | at
    each = np.ones(n) if w is None else w
    sums = np.array([np.bincount(at, v, m + 1) for v in (r * each, each, each > 0)], np.int64)
    sums[:, m] = 0
    whole = sums[1].astype(float)
    kind = np.full(width, CATEGORIES if categories else NUMBERS, np.uint8)
    codes = np.full(width, int(np.nanmax(X)) + 1 if categories else 0)
    values = np.ascontiguousarray(X.T)
    table = LevelTable(lists, present, kind, codes, values, categories)
    if counted:
        table = table._replace(**code_columns(values, lists, codes.tolist(), few_rows=0))
    shape = (width, m)
    counts = [np.zeros(shape, np.int64) for _ in range(3)]
    found = LevelBest(
        np.full(shape, -1.0), counts[0], np.zeros(shape), counts[1], np.zeros((width, n), np.uint32),
        counts[2],
    )  # fmt: skip
    empty = np.empty(0)
    rows = LevelRows(empty, empty, row_weight, empty, empty)
    limits = Limits(**dict.fromkeys(Limits._fields, 0))._replace(
        samples_leaf=least,
        least_weight=1.0,
        columns=int(ask),
        whole_weights=True,
        smallest=float(r.min()) - 1.0,
    )
    work = LevelWork(**dict.fromkeys(LevelWork._fields, empty))._replace(
        words=words,
        mean=sums[0] / np.maximum(whole, 1),
        weight=whole,
        rows=sums[2],
        n_open=np.array([m]),
    )
    scratch = new_scratch(table, m, weighted=w is not None, draws=False)
    if counted:
        assert any(part_of(table, f, m + 1, rows, limits) == COUNTED for f in range(width))
    columns = np.arange(width)
    scan_in_python(table, columns, rows, limits, work, scratch, found)
    return found.score, (found.flags & VARIES) > 0


def _best(x, r, w, least):
    """Return the best score of one node by trying everything."""
    best, gone = -1.0, np.isnan(x)
    mean = w @ r / w.sum()
    cuts = [*np.unique(x[~gone])]
    for cut in cuts:
        for side in (False, True) if gone.any() else (False,):
            left = np.where(gone, side, x <= cut)
            if min(left.sum(), (~left).sum()) < least:
                continue
            d = w[left] @ (r[left] - mean)
            best = max(best, d * d / (w[left].sum() * w[~left].sum()))
    return best


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("least", [1, 4])
@pytest.mark.parametrize("counted", [False, True])
def test_every_node_gets_its_best_cut(weighted, missing, least, counted):
    rng = np.random.default_rng(0)
    for trial in range(20):
        n = 120 if counted else 40
        X = rng.integers(0, 4 + (0 if counted else 10) * (trial % 2), (n, 3)).astype(float)
        X[rng.random(X.shape) < missing] = np.nan
        r = rng.integers(-50, 50, n).astype(float)
        node = rng.integers(0, 4, n)  # 3 is nobody's
        w = rng.integers(1, 4, n) if weighted else None
        score, varied = _scan(X, r, node, 3, w, least, ask=bool(trial % 2), counted=counted)
        told = weighted and not missing and not trial % 2 and not counted  # only what may win
        for k in range(3):
            here = node == k
            weight = np.ones(here.sum()) if w is None else w[here].astype(float)
            best = [_best(X[here, f], r[here], weight, least) for f in range(3)]
            if told:
                assert score[:, k].max() == pytest.approx(max(best), abs=1e-9)
                best = np.where(score[:, k] >= 0, best, -1.0)
            for f in range(3):
                x = X[here, f]
                assert score[f, k] == pytest.approx(best[f], abs=1e-9)
                if trial % 2:
                    values = len(np.unique(x[~np.isnan(x)])) + np.isnan(x).any()
                    assert varied[f, k] == (values > 1)


def _best_subset(x, r, w):
    """Return the best score of one node's categories by trying every subset."""
    best, gone, mean = -1.0, np.isnan(x), w @ r / w.sum()
    codes = np.unique(x[~gone])
    for size in range(1, len(codes) + 1):
        for chosen in combinations(codes, size):
            for side in (False, True):
                left = np.where(gone, side, np.isin(x, chosen))
                if left.all():
                    continue
                d = w[left] @ (r[left] - mean)
                best = max(best, d * d / (w[left].sum() * w[~left].sum()))
    return best


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("n", [40, 120])  # the second is counted
def test_every_node_gets_its_best_subset(weighted, missing, n):
    rng = np.random.default_rng(1)
    for _ in range(10):
        X = rng.integers(0, 5, (n, 2)).astype(float)
        X[rng.random(X.shape) < missing] = np.nan
        r, node = rng.integers(-50, 50, n).astype(float), rng.integers(0, 4, n)
        w = rng.integers(1, 4, n) if weighted else None
        score, _ = _scan(X, r, node, 3, w, categories=True, counted=n > 40)
        for k in range(3):
            here = node == k
            weight = np.ones(here.sum()) if w is None else w[here].astype(float)
            for f in range(2):
                best = _best_subset(X[here, f], r[here], weight)
                assert score[f, k] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("categories", [False, True])
@pytest.mark.parametrize("width", [4, 10])
def test_columns_counted_side_by_side_are_those_counted_alone(weighted, categories, width):
    rng = np.random.default_rng(3)
    n = 900
    X = rng.integers(0, 3, (n, width)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    r, node = rng.integers(-50, 50, n).astype(float), rng.integers(0, 4, n)
    w = rng.integers(1, 4, n) if weighted else None
    together, varied = _scan(X, r, node, 3, w, categories=categories, counted=True)
    for f in range(width):
        alone, varies = _scan(X[:, f : f + 1], r, node, 3, w, categories=categories, counted=True)
        assert_array_equal(together[f], alone[0])
        assert_array_equal(varied[f], varies[0])


def test_many_categories_are_put_in_order():
    """More than are sorted by insertion."""
    rng = np.random.default_rng(2)
    X, r = np.repeat(np.arange(60.0), 3)[:, None], rng.integers(-50, 50, 180).astype(float)
    score, _ = _scan(X, r, np.zeros(180), 1, categories=True)
    means = np.array([r[X[:, 0] == c].mean() for c in range(60)])
    rank = np.argsort(np.argsort(means, kind="stable"), kind="stable")[X[:, 0].astype(int)]
    assert score[0, 0] == pytest.approx(_best(rank.astype(float), r, np.ones(180), 1))


def test_a_bag_is_a_fair_draw():
    total = np.zeros(20)
    for key in range(2000):
        inside = np.zeros(20, np.uint8)
        draw_in_turn(np.uint64(key), np.arange(20), 5, inside)
        assert inside.sum() == 5
        total += inside
    assert abs(total / 2000 - 0.25).max() < 0.05
    again = np.zeros(20, np.uint8)
    draw_in_turn(np.uint64(1999), np.arange(20), 5, again)
    assert_array_equal(again, inside)
