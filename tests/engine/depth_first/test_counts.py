"""Counting codes and cutting between them, against every cut and every subset tried in plain NumPy."""

from itertools import combinations

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.depth_first.counts import (
    count_codes,
    order_categories,
    order_codes,
    walk_counts,
    walk_sums,
)
from arboretum.engine.depth_first.records import ROWS, STAMP, SUMS, WEIGHT
from arboretum.engine.split.score import XLOGX
from tests.engine.depth_first.rules import rules as plain

CODES = 6  # code 6 means missing


@kernel
def _count(codes, rows, number, weight, tag, cells, seen):
    n = len(rows)
    return count_codes(
        codes, np.uint64(0), rows, np.uint64(0), n, None, number, weight, 1, tag, cells, seen
    )


@kernel
def _best_cut(codes, rows, number, weight, tag, cells, seen, rules):
    n, total, whole = len(rows), np.int64(0), np.int64(0)
    for i in range(n):
        total += number[0, i]
        whole += weight[i]
    m = _count(codes, rows, number, weight, tag, cells, seen)
    has_missing = cells[6, STAMP] == tag[0]
    m = order_codes(np.int64(6), m, tag[0], cells, seen)
    return walk_sums(m, np.uint64(6), has_missing, n, whole, cells, seen, total, rules)


@kernel
def _best_subset(codes, rows, label, weight, total, left, tag, cells, seen, key, axis, rules, logs):
    n, whole = len(rows), np.int64(len(rows))
    m = count_codes(
        codes,
        np.uint64(0),
        rows,
        np.uint64(0),
        n,
        label,
        None,
        weight,
        len(total),
        tag,
        cells,
        seen,
    )
    has_missing = cells[6, STAMP] == tag[0]
    m, subsets = order_categories(m, np.int64(6), cells, seen, key, axis, total, whole, True, rules)
    found, _, _ = walk_counts(
        m, np.uint64(6), has_missing, subsets, n, whole, cells, seen, total, left, rules, logs,
        np.int8(0), 0.0, 0.0,
    )  # fmt: skip
    return found


def _node(seed: int, missing: bool):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, CODES + missing, 40).astype(np.uint16)
    rows = rng.choice(40, 25, replace=False).astype(np.uint32)
    weight = rng.integers(1, 4, 25)
    cells, seen = np.zeros((CODES + 1, SUMS + 3), np.int64), np.empty(CODES + 1, np.int64)
    return rng, codes, rows, weight, np.zeros(1, np.int64), cells, seen


@pytest.mark.parametrize("missing", [False, True])
def test_rows_are_added_up_per_code(missing):
    rng, codes, rows, weight, tag, cells, seen = _node(0, missing)
    number = (rng.integers(-9, 9, 25) * weight)[None]
    here = codes[rows]
    for _ in range(2):  # the second count starts anew
        m = _count(codes, rows, number, weight, tag, cells, seen)
        assert sorted(seen[:m]) == sorted(set(here.tolist()))
        for code in set(here.tolist()):
            at = here == code
            assert cells[code, ROWS] == at.sum()
            assert cells[code, WEIGHT] == weight[at].sum()
            assert cells[code, SUMS] == number[0, at].sum()


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("min_leaf", [1, 6])
def test_the_best_cut_is_found(missing, min_leaf):
    for seed in range(10):
        rng, codes, rows, weight, tag, cells, seen = _node(seed, missing)
        number = (rng.integers(-9, 9, 25) * weight)[None]
        rules = plain(min_leaf=min_leaf)
        score, _, _ = _best_cut(codes, rows, number, weight, tag, cells, seen, rules)
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
        rng, codes, rows, _, tag, cells, seen = _node(seed, missing)
        y = rng.integers(0, 3, 25)
        score = _best_subset(
            codes, rows, y[None].astype(np.uint32), np.ones(25, np.int64),
            np.bincount(y, minlength=3), np.empty(6, np.int64), tag, cells, seen,
            np.empty(CODES + 1), np.empty((3, 3)), plain(), XLOGX,
        )  # fmt: skip
        x, best = codes[rows], -1.0
        here = sorted(set(x.tolist()))
        impurity = lambda v: 1 - np.sum((np.bincount(v) / len(v)) ** 2)  # noqa: E731
        for size in range(1, len(here)):
            for some in combinations(here, size):
                left = np.isin(x, some)
                after = left.mean() * impurity(y[left]) + (~left).mean() * impurity(y[~left])
                best = max(best, impurity(y) - after)
        assert score == pytest.approx(best, rel=1e-9)
