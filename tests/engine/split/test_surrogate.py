"""How well a column stands in for another, against every cut tried in plain NumPy."""

import numpy as np
import pytest

from arboretum.engine.columns.presort import POSITION, sort_column
from arboretum.engine.split.surrogate import agree_categories, agree_list

NODE = np.array([0]), np.array([80])


def _case(seed: int, weighted: bool):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 9, 80).astype(float)
    x[rng.random(80) < 0.2] = np.nan
    side = np.where(rng.random(80) < 0.7, x > 4, rng.random(80) < 0.5).astype(np.uint8)
    side[rng.random(80) < 0.1] = 2  # the primary value is missing
    return x, side, rng.integers(1, 5, 80) if weighted else None


@pytest.mark.parametrize("weighted", [False, True])
def test_the_cut_that_agrees_most(weighted):
    for seed in range(5):
        x, side, weight = _case(seed, weighted)
        w = weight if weighted else np.ones(80, np.int64)
        entries = np.empty(80, np.uint32)
        sort_column(x, entries)
        agreement, below, above = np.empty((3, 1), np.int64)
        reverse = np.empty(1, np.uint8)
        agree_list(entries, weight, *NODE, side, agreement, below, above, reverse)
        known, best = ~np.isnan(x) & (side < 2), -1
        for cut in np.unique(x[known])[:-1]:
            left = x <= cut
            if min((known & left).sum(), (known & ~left).sum()) >= 2:
                same = w[known & (left == (side == 1))].sum()
                best = max(best, same, w[known].sum() - same)
        assert agreement[0] == best
        low, high = x[entries[below[0]] & POSITION], x[entries[above[0]] & POSITION]
        left = (x <= (low + high) / 2) ^ bool(reverse[0])
        assert w[known & (left == (side == 1))].sum() == best


@pytest.mark.parametrize("weighted", [False, True])
def test_categories_go_where_most_of_their_weight_goes(weighted):
    x, side, weight = _case(3, weighted)
    w = weight if weighted else np.ones(80, np.int64)
    codes = np.where(np.isnan(x), 9, x).astype(np.uint8)
    agreement, takes = np.empty(1, np.int64), np.empty((1, 9), np.uint8)
    rows = np.arange(80, dtype=np.uint32)
    agree_categories(codes, 9, rows, weight, *NODE, side, agreement, takes)
    total = 0
    for code in range(9):
        here = (codes == code) & (side < 2)
        left, right = w[here & (side == 1)].sum(), w[here & (side == 0)].sum()
        assert takes[0, code] == (2 if not here.any() else left >= right)
        total += max(left, right)
    assert agreement[0] == total
