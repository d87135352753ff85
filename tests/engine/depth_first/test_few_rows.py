"""Nodes of a few rows: their columns are cut together, and as `random_cut` cuts them one by one."""

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.depth_first.few_rows import cut_few
from arboretum.engine.depth_first.random_cut import random_cut
from arboretum.engine.depth_first.records import (
    CATEGORY,
    FEW,
    NUMBER,
    TOGETHER,
    RandomTreeTarget,
    TreeColumns,
    TreeFeatures,
)
from tests.engine.depth_first.benches import bench_for
from tests.engine.depth_first.rules import rules as plain

COLUMNS, ROWS = 11, 64


@kernel
def _few(columns, bench, rows):
    cut_few(columns, bench, rows)


@kernel
def _one_by_one(columns, bench, rows):
    random_cut(columns, bench, rows)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("unit", [True, False])
def test_together_and_one_by_one_find_the_same(dtype, unit):
    rng = np.random.default_rng(int(unit))
    bits, kind = np.empty(3, dtype), np.full(COLUMNS, NUMBER, np.int8)
    kind[::4] = CATEGORY
    n_codes = np.where(kind == CATEGORY, 9, 0)
    features = TreeFeatures(
        n_codes, np.full(COLUMNS, np.iinfo(dtype).max), kind, kind, np.zeros(COLUMNS, np.bool_),
        np.empty((0, 0), np.uint32),
    )  # fmt: skip
    asked = set()
    for case in range(60):
        n = int(rng.integers(3, FEW + 1))
        values = rng.standard_normal((COLUMNS, ROWS)).astype(f"f{bits.itemsize}").view(dtype)
        values[values < 0] ^= np.iinfo(dtype).max  # in the order of the numbers
        values[kind == CATEGORY] = rng.integers(0, 9, (3, ROWS))
        values[1] = 7  # does not vary
        if case % 2:
            values[:, rng.random(ROWS) < 0.2] = np.iinfo(dtype).max  # missing
        columns = TreeColumns(
            values.ravel(), np.uint64(ROWS), values.T[:0].copy(), np.empty(FEW * TOGETHER, dtype),
            bits.view(f"f{bits.itemsize}"), bits, np.empty((5, TOGETHER), np.int64), np.empty(TOGETHER),
        )  # fmt: skip
        weight = np.ones(ROWS + 8, np.int64) if unit else rng.integers(1, 4, ROWS + 8)
        number = weight[None] * rng.integers(-50, 50, (1, ROWS + 8))
        rules = plain(max_features=int(rng.choice([1, 3, COLUMNS])), min_leaf=1 + case % 3)
        rows, total = rng.permutation(ROWS).astype(np.uint32), number[0, 3 : 3 + n].sum()
        found = []
        for search in (_few, _one_by_one):
            bench = bench_for(features, RandomTreeTarget(None, number, weight), rules, ROWS)
            node, bench.scratch.total[0] = bench.node[0], total
            node["start"], node["n"], node["key"], node["channels"] = 3, n, case, 1
            node["weight"] = weight[3 : 3 + n].sum()
            search(columns, bench, rows)
            found.append([node[name] for name in ("score", "feature", "cut", "side", "last")])
            found[-1].append(bench.scratch.constant.tolist())
        np.testing.assert_equal(*found)
        asked.add(int(found[0][1]))
    assert len(asked) > 5
