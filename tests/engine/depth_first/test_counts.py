"""Counting codes and cutting between them, against every cut and every subset tried in plain NumPy."""

from itertools import combinations

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.depth_first.codes import count_column
from arboretum.engine.depth_first.counts import order_categories, order_codes, walk_counts
from arboretum.engine.depth_first.records import (
    CATEGORY,
    NUMBER,
    ROWS,
    STAMP,
    SUMS,
    WEIGHT,
    RandomTreeTarget,
)
from tests.engine.depth_first.benches import bench_for, columns_of, features_of
from tests.engine.depth_first.rules import rules as plain

CODES = 6  # code 6 means missing


@kernel
def _count(columns, bench, rows):
    count_column(columns, bench, rows, np.uint64(0))


@kernel
def _best_cut(columns, bench, rows):
    count_column(columns, bench, rows, np.uint64(0))
    node, counter = bench.node[0], bench.counter
    has_missing = counter.cells[6, STAMP] == counter.tag[0]
    m = order_codes(np.int64(6), node.seen, counter.tag[0], counter.cells, counter.seen)
    return walk_counts(m, np.uint64(6), has_missing, False, np.int8(0), bench, None)[0]


@kernel
def _best_subset(columns, bench, rows):
    count_column(columns, bench, rows, np.uint64(0))
    node, counter = bench.node[0], bench.counter
    has_missing = counter.cells[6, STAMP] == counter.tag[0]
    order_categories(bench, np.uint64(0))
    return walk_counts(
        node.seen,
        np.uint64(6),
        has_missing,
        node.subsets != 0,
        np.int8(0),
        bench,
        bench.scratch.left,
    )[0]


def _node(seed: int, missing: bool):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, CODES + missing, 40).astype(np.uint16)
    rows = rng.choice(40, 25, replace=False).astype(np.uint32)
    return rng, codes, rows, rng.integers(1, 4, 25)


def _numbers(rng, weight, **rules):
    """Return numbers times their weight, and a bench for them."""
    number = (rng.integers(-9, 9, 25) * weight)[None]
    target = RandomTreeTarget(None, number, weight)
    bench = bench_for(
        features_of(1, CODES, NUMBER, CODES), target, plain(**rules), 25, weight=weight.sum()
    )
    bench.scratch.total[0] = number.sum()
    return number, bench


@pytest.mark.parametrize("missing", [False, True])
def test_rows_are_added_up_per_code(missing):
    rng, codes, rows, weight = _node(0, missing)
    number, bench = _numbers(rng, weight)
    here, cells = codes[rows], bench.counter.cells
    for _ in range(2):  # the second count starts anew
        _count(columns_of(codes[None]), bench, rows)
        seen = bench.counter.seen[: bench.node["seen"][0]]
        assert sorted(seen) == sorted(set(here.tolist()))
        for code in set(here.tolist()):
            at = here == code
            assert cells[code, ROWS] == at.sum()
            assert cells[code, WEIGHT] == weight[at].sum()
            assert cells[code, SUMS] == number[0, at].sum()


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("min_leaf", [1, 6])
def test_the_best_cut_is_found(missing, min_leaf):
    for seed in range(10):
        rng, codes, rows, weight = _node(seed, missing)
        number, bench = _numbers(rng, weight, min_leaf=min_leaf)
        score = _best_cut(columns_of(codes[None]), bench, rows)
        x, w, best = codes[rows], weight.astype(float), -1.0
        mean = number.sum() / w.sum()
        for cut in range(CODES):
            for gone in (False, True) if (x == CODES).any() else (False,):
                left = np.where(x == CODES, gone, x <= cut)
                if min(left.sum(), (~left).sum()) >= min_leaf:
                    d = number[0, left].sum() - w[left].sum() * mean
                    best = max(best, d * d / (w[left].sum() * w[~left].sum()))
        assert score == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("missing", [False, True])
def test_the_best_subset_of_categories_is_found(missing):
    for seed in range(5):
        rng, codes, rows, _ = _node(seed, missing)
        y = rng.integers(0, 3, 25)
        target = RandomTreeTarget(y[None].astype(np.uint32), None, np.ones(25, np.int64))
        bench = bench_for(features_of(1, CODES, CATEGORY, CODES), target, plain(), 25, channels=3)
        bench.scratch.total[:] = np.bincount(y, minlength=3)
        score = _best_subset(columns_of(codes[None]), bench, rows)
        x, best = codes[rows], -1.0
        here = sorted(set(x.tolist()))
        impurity = lambda v: 1 - np.sum((np.bincount(v) / len(v)) ** 2)  # noqa: E731
        for size in range(1, len(here)):
            for some in combinations(here, size):
                left = np.isin(x, some)
                after = left.mean() * impurity(y[left]) + (~left).mean() * impurity(y[~left])
                best = max(best, impurity(y) - after)
        assert score == pytest.approx(best, rel=1e-9)
