"""Trees that grow on shards are those that grow on all rows, node by node."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.errors import DataError
from arboretum.grow.cluster import InProcess
from arboretum.grow.grower import GrowTarget
from arboretum.grow.histogram import HistogramGrower, features_of
from arboretum.grow.sharded.batches import BatchGrower
from arboretum.grow.sharded.shard import Shard
from arboretum.grow.sharded.shards import Shards
from tests.grow.sharded.in_shards import cut_into
from tests.grow.test_histogram import rules


class Codes:
    """As much of `Bins` as a shard reads."""

    def __init__(self, codes, wide, n_bins):
        n = len(codes) + len(wide)
        self.codes, self.wide, self.n_features = codes, wide, n
        self.storage, self.offset = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
        self.n_bins, self.default_bin = np.array(n_bins, np.int32), np.zeros(n, np.int32)
        self.is_category = np.arange(n) == 1

    def take(self, rows):
        return Codes(self.codes[:, rows].copy(), self.wide[:, rows].copy(), self.n_bins)


def table(n, n_wide=1, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 20, (4, n)).astype(np.uint8)
    codes[0, rng.random(n) < 0.2] = 255
    wide = rng.integers(0, 301, (n_wide, n)).astype(np.uint16)  # 300 is missing
    return Codes(codes, wide, [20] * 4 + [300] * n_wide)


def derivatives(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n).astype(np.float32), rng.random(n).astype(np.float32)


def both(bins, how, k, n_jobs=1):
    """Return the grower on all rows and that on k shards."""
    whole = HistogramGrower(bins.codes, features_of(bins), how, n_jobs, wide=bins.wide)
    n = bins.codes.shape[1]
    spans = cut_into(n, k, seed=k)
    cluster = InProcess().place(Shard, [()] * k)
    for shard, some in zip(cluster.objects, spans):
        rows = np.concatenate([np.arange(0), *(np.arange(*span) for span in some)])
        shard.hold(bins.take(rows), some, n_jobs)
    shards = Shards(cluster, spans, None)
    return whole, BatchGrower(shards, features_of(bins), how, (len(bins.codes), len(bins.wide)))


@pytest.mark.parametrize("n", [1, 2, 50, 3000])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize(
    "how",
    [
        rules(max_leaves=12, l2=1.0),
        rules(max_leaves=400, min_rows=3.0),  # more nodes than there is memory for at first
        rules(max_depth=4, depth_first=True, max_leaves=1 << 30, as_xgboost=True),
        rules(max_depth=3, max_leaves=8, symmetric=True, as_xgboost=True),
        rules(max_leaves=1),
    ],
)
@pytest.mark.parametrize("drawn", [False, True])
def test_trees_are_those_of_all_rows(n, k, how, drawn):
    whole, batches = both(table(n), how, k)
    g, h = derivatives(n)
    rows, factor = None, np.empty(0)
    if drawn:
        rows = np.flatnonzero(np.arange(n) % 3 < 2).astype(np.uint32)
        factor = (1 + np.arange(len(rows)) % 2).astype(np.float32)
    for key in range(2):
        target = GrowTarget(g, None, factor, h)
        one, other = whole.grow(target, rows, key), batches.grow(target, rows, key)
        same(one, other)
        g = g[::-1].copy()


def same(one, other):
    """Assert that two grown trees have equal nodes and leaves."""
    inner = one.tree.is_inner
    assert inner.tolist() == other.tree.is_inner.tolist()
    for name in (
        "first_child",
        "feature",
        "bin",
        "missing_left",
        "gain",
        "cover",
        "count",
        "value",
    ):
        assert np.array_equal(getattr(one.tree, name), getattr(other.tree, name)), name
    sets = one.tree.by_set
    assert np.array_equal(sets, other.tree.by_set)
    assert np.array_equal(one.tree.members[sets], other.tree.members[sets])
    assert np.array_equal(one.leaf_of_row, other.leaf_of_row)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_shards_of_more_rows_than_packed_sums_take(n_jobs):
    n = 200_000
    whole, batches = both(table(n), rules(max_leaves=6), 2, n_jobs)
    g, h = derivatives(n)
    target = GrowTarget(g, h=h)
    same(whole.grow(target, None, 3), batches.grow(target, None, 3))


def test_leaves_without_room_for_histograms_are_counted_twice():
    bins, how = table(3000), rules(max_leaves=40)
    whole, batches = both(bins, how, 3)
    small = BatchGrower(batches.shards, features_of(bins), how, (4, 1), pool=1)
    g, h = derivatives(3000)
    target = GrowTarget(g, h=h)
    same(whole.grow(target, None, 3), small.grow(target, None, 3))


@pytest.mark.parametrize(("place", "value"), [("g", np.nan), ("g", np.inf), ("h", -1.0)])
def test_derivatives_that_are_not_good(place, value):
    _, batches = both(table(50), rules(), 3)
    g, h = derivatives(50)
    {"g": g, "h": h}[place][17] = value
    with pytest.raises(DataError, match="must be finite"):
        batches.grow(GrowTarget(g, h=h), None, 0)


def test_codes_and_spans_must_fit():
    with pytest.raises(DataError, match="codes of 50 rows and spans of 7"):
        Shard().hold(table(50), np.array([[0, 7]]))
