"""Nodes that draw columns: the draw and the best cut on them, in plain Python."""

import numpy as np
import pytest

from arboretum.engine.keys import key_of
from arboretum.engine.split.best import FROM_CODES
from arboretum.engine.split.random import Values
from arboretum.grow.columns import ColumnStore
from arboretum.grow.search import Searcher
from tests.engine.split.split_cases import CRITERIA, decrease, make_case

WIDTH, N_CODES = 5, 9


def search(case, codes, value, max_features, *, random):
    """Return the best division of every node on columns of its own draw."""
    none = np.empty(0, np.int64)
    value = np.tile(value, WIDTH)
    store = ColumnStore(
        np.empty((0, len(case.y)), np.uint32), none, none, codes, np.arange(WIDTH),
        np.full(WIDTH, N_CODES), np.zeros(WIDTH, bool),
        Values(np.arange(WIDTH) * N_CODES, value, value),
    )  # fmt: skip
    signs, charged = np.zeros(WIDTH, np.int8), np.zeros(WIDTH, bool)
    searcher = Searcher(store, case.statistic, signs, max_features, random, 1, 0.0, 0.0, charged)
    return searcher._search_drawn(case.batch)


def drawn_order(key):
    """Return a node's own order of the columns: Fisher and Yates by hashes of the turn."""
    order, mine = list(range(WIDTH)), key_of(int(key), 0xFEA7)
    for turn in range(WIDTH):
        share = (key_of(mine, turn) >> 11) / 2**53
        other = turn + int(share * (WIDTH - turn))
        order[turn], order[other] = order[other], order[turn]
    return order


def best_cut(case, rows, codes, min_leaf):
    """Return the largest decrease of a cut on one column, missing values on either side or apart."""
    x, best = codes[rows].astype(int), -1.0
    gone = x == N_CODES
    for cut in np.unique(x):
        for side in (False, True):
            left = np.where(gone, side, x <= cut)
            if min(left.sum(), (~left).sum()) >= min_leaf:
                best = max(best, decrease(case, rows, left))
    return best


def visited(key, codes, rows, max_features):
    """Return the columns a node looks at: as many as asked for, and more until one is not constant."""
    varied, columns = 0, []
    for turn, f in enumerate(drawn_order(key)):
        if turn >= max_features and varied:
            break
        columns.append(f)
        varied += len(np.unique(codes[f, rows])) > 1
    return columns


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("max_features", [1, 2, WIDTH])
@pytest.mark.parametrize("kind", CRITERIA)
def test_the_best_cut_of_the_columns_drawn(kind, max_features, missing):
    rng = np.random.default_rng(max_features)
    case = make_case(kind, [30, 1, 3, 12, 30], rng, min_leaf=2)
    codes = rng.integers(0, N_CODES, (WIDTH, len(case.y))).astype(np.uint8)
    codes[rng.random(codes.shape) < missing] = N_CODES
    codes[:4] = np.where(np.isin(np.arange(len(case.y)), case.rows[46:]), 3, codes[:4])  # constant
    best = search(case, codes, np.arange(N_CODES) * 1.0, max_features, random=False)
    got = case.statistic.decrease(case.batch.nodes, best.score)
    for k, (lo, hi) in enumerate(zip(case.edges[:-1], case.edges[1:])):
        rows = case.rows[lo:hi]
        columns = visited(case.batch.keys[k], codes, rows, max_features)
        by_column = {f: best_cut(case, rows, codes[f], 2) for f in columns}
        expected = max(by_column.values())
        if expected < 0:
            assert best.feature[k] == -1
            continue
        assert got[k] == pytest.approx(expected, abs=1e-12)
        assert best.source[k] == FROM_CODES
        assert by_column[int(best.feature[k])] == pytest.approx(expected, abs=1e-12)
        x = codes[best.feature[k], rows].astype(int)
        left = np.where(x == N_CODES, best.missing_left[k] > 0, x <= best.cut[k])
        assert decrease(case, rows, left) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("kind", CRITERIA)
def test_random_thresholds_are_the_better_of_one_for_each_column(kind, missing):
    rng = np.random.default_rng(11)
    case = make_case(kind, [40, 2, 1, 15], rng)
    codes = rng.integers(0, N_CODES, (WIDTH, len(case.y))).astype(np.uint8)
    codes[rng.random(codes.shape) < missing] = N_CODES
    value = np.arange(N_CODES) ** 1.5
    best = search(case, codes, value, WIDTH, random=True)
    got = case.statistic.decrease(case.batch.nodes, best.score)
    for k, (lo, hi) in enumerate(zip(case.edges[:-1], case.edges[1:])):
        rows, key, expected = case.rows[lo:hi], int(case.batch.keys[k]), -1.0
        for f in range(WIDTH):
            x = codes[f, rows].astype(int)
            gone = x == N_CODES
            cuts = [np.zeros(len(x), bool)]
            if not gone.all():
                u = (key_of(key, f, 0) >> 11) / 2**53
                a, b = value[x[~gone].min()], value[x[~gone].max()]
                cuts = [
                    np.where(gone, False, value[np.minimum(x, N_CODES - 1)] <= a * (1 - u) + b * u)
                ]
                cuts += [cuts[0] | gone, ~gone]
            expected = max(expected, *(decrease(case, rows, left) for left in cuts))
        if expected < 0:
            assert best.feature[k] == -1
        else:
            assert got[k] == pytest.approx(expected, abs=1e-12)
