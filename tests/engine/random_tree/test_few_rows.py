"""Nodes of a few rows: their columns are cut together, and as `random_cut` cuts them one by one."""

import numpy as np
import pytest

from arboretum.engine.jit import kernel
from arboretum.engine.random_tree.few_rows import cut_few
from arboretum.engine.random_tree.random_cut import random_cut
from arboretum.engine.random_tree.records import CATEGORY, FEW, NUMBER, TOGETHER
from arboretum.engine.split.score import XLOGX
from tests.engine.random_tree.rules import rules as plain

COLUMNS, ROWS = 11, 64


@kernel
def _both(values, kind, n_codes, constant, rows, n, number, weight, totals, key, rules, logs, x, order,
          ends, bits, words, near, drawn, cuts):  # fmt: skip
    step, start, signs = np.uint64(64), np.uint64(3), kind
    few = cut_few(
        values, step, n_codes, kind, constant[0], rows, start, n, number, weight, totals[0], totals[1],
        key, rules, x, order, ends, bits, words, near, drawn, cuts,
    )  # fmt: skip
    one_by_one = random_cut(
        values, step, n_codes, kind, signs, constant[1], rows, start, n, None, number, weight, totals[:1],
        totals[1], 0.0, 0.0, key, rules, logs, x, None, order, ends, bits, words,
    )  # fmt: skip
    return few, one_by_one


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("unit", [True, False])
def test_together_and_one_by_one_find_the_same(dtype, unit):
    rng = np.random.default_rng(int(unit))
    x = np.empty(FEW * TOGETHER, dtype)
    bits = np.empty(3, dtype)
    scratch = (
        np.empty(COLUMNS, np.int64), bits.view(f"f{bits.itemsize}"), bits, np.empty(ROWS, np.uint64),
        np.empty(FEW, np.uint32), np.empty((5, TOGETHER), np.int64), np.empty(TOGETHER),
    )  # fmt: skip
    kind = np.full(COLUMNS, NUMBER, np.int8)
    kind[::4] = CATEGORY
    n_codes = np.where(kind == CATEGORY, 9, 0)
    asked = set()
    for case in range(60):
        n = int(rng.integers(3, FEW + 1))
        values = rng.standard_normal((COLUMNS, ROWS)).astype(f"f{bits.itemsize}").view(dtype)
        values[values < 0] ^= np.iinfo(dtype).max  # in the order of the numbers
        values[kind == CATEGORY] = rng.integers(0, 9, (3, ROWS))
        values[1] = 7  # does not vary
        if case % 2:
            values[:, rng.random(ROWS) < 0.2] = np.iinfo(dtype).max  # missing
        weight = np.ones(ROWS + 8, np.int64) if unit else rng.integers(1, 4, ROWS + 8)
        number = weight[None] * rng.integers(-50, 50, (1, ROWS + 8))
        totals = np.array([number[0, 3 : 3 + n].sum(), weight[3 : 3 + n].sum()])
        rows, constant = rng.permutation(ROWS).astype(np.uint32), np.full((2, COLUMNS, 2), -1)
        rules = plain(max_features=int(rng.choice([1, 3, COLUMNS])), min_leaf=1 + case % 3)
        few, one_by_one = _both(
            values.ravel(), kind, n_codes, constant, rows, n, number, weight, totals, np.uint64(case),
            rules, XLOGX, x, *scratch,
        )  # fmt: skip
        np.testing.assert_equal(few, one_by_one)
        np.testing.assert_array_equal(constant[0], constant[1])
        asked.add(int(few[1]))
    assert len(asked) > 5
