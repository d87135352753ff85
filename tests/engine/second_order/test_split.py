"""The best split of a node: looking a column over first must not change what is found."""

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.dtypes import SPLIT, record_table
from arboretum.engine.second_order.score import Features, ScannedNode, SplitRules, SplitScratch
from arboretum.engine.second_order.split import best_of

RULES = SplitRules(
    l1=0.0, l2=0.0, max_delta_step=0.0, path_smooth=0.0, min_gain=0.0, reach_gain=False,
    min_weight=1e-3, min_rows=0.0, cat_l2=10.0, cat_smooth=10.0, cat_min_rows=1.0,
    max_cat_threshold=32, max_onehot=4, min_group=100.0, max_depth=99, max_leaves=31,
    depth_first=False, level_columns=0, node_columns=0,
)  # fmt: skip


@kernel
def _best(hist, starts, columns, features, node, rules, scratch):
    best_of(hist, starts, columns, features, node, rules, None, scratch)


def _features(n_bins: np.ndarray) -> Features:
    n = len(n_bins)
    return Features(
        np.arange(n, dtype=np.int32), np.zeros(n, np.int32), n_bins.astype(np.int32),
        np.full(n, -1, np.int32), np.zeros(n, bool), np.empty(0, np.int8),
    )  # fmt: skip


def _scratch(bins: int) -> SplitScratch:
    gain, whole = np.empty(bins), lambda n: np.empty(n, np.int64)
    return SplitScratch(
        whole(bins + 1), whole(bins + 1), whole(bins), whole(bins), np.empty(bins), gain,
        gain.view(np.int64), whole(bins), np.empty(bins), whole(bins + 1), np.empty((2, bins)),
        record_table(1, SPLIT), np.zeros(0, np.uint32), whole(1),
    )  # fmt: skip


def _columns(rng, n_rows: int, n_bins: np.ndarray, missing: float, signal: float):
    """Σg and Σh of the bins of every column, and behind them of missing values."""
    g, h = rng.integers(-30000, 30000, n_rows), rng.integers(1, 60000, n_rows)
    sums = []
    for bins in n_bins:
        code = rng.integers(0, bins, n_rows)
        code = np.where(rng.random(n_rows) < signal, (g > 0) * (bins - 1), code)
        code[rng.random(n_rows) < missing] = bins
        both = np.zeros((2, bins + 1), np.int64)
        np.add.at(both[0], code, g)
        np.add.at(both[1], code, h)
        sums.append(both)
    return sums, int(g.sum()), int(h.sum())


def _found(sums, starts, packed, n_bins, node, rules) -> tuple:
    hist = np.concatenate([(g << 32) + h if packed else np.append(g, h) for g, h in sums])
    scratch = _scratch(max(n_bins) + 1)
    columns = np.arange(len(n_bins))
    _best(hist, starts, columns, _features(n_bins), node, rules, scratch)
    best = scratch.best[0]
    if best["feature"] < 0:
        return ()
    return tuple(best[name].item() for name in ("gain", "feature", "bin", "missing_left", "left_g"))


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("l2", [0.0, 1.0, 1e12])
@pytest.mark.parametrize("n_rows", [5, 120, 3000])
def test_a_column_is_passed_over_only_if_it_cannot_win(n_rows, l2, missing):
    rules = RULES._replace(l2=l2)
    for seed in range(12):
        rng = np.random.default_rng([seed, n_rows])
        n_bins = rng.integers(3, [40, 300][seed % 2], 9)  # one block of bins, or many
        signal = [0.0, 0.0, 0.01, 0.3][seed % 4]
        sums, g, h = _columns(rng, n_rows, n_bins, missing, signal)
        starts = np.append(0, np.cumsum(n_bins + 1))
        many = 1e6  # rows for which sums are not put into one number
        G, H = g * 2.0**-14, h * 2.0**-16
        itself = G * G / (H + l2)
        units, rest = (2.0**-14, 2.0**-16), (0.0, -np.inf, np.inf)
        node = ScannedNode(g, h, *units, float(n_rows), *rest, n_rows / h, True, itself, itself)
        large = ScannedNode(g, h, *units, many, *rest, many / h, True, itself, itself)
        plainly = _found(sums, starts, False, n_bins, large, rules)
        assert _found(sums, starts, True, n_bins, node, rules) == plainly
        assert _found(sums, starts, False, n_bins, node, rules) == plainly
