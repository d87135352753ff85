"""Items of tasks: only what a table needs is compiled, and what is left out changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.second_order.histogram import BINS, counter_of
from arboretum.engine.second_order.score import Features
from arboretum.grow.histogram import HistogramGrower, tile_shape
from tests.engine.second_order.scan_cases import RULES
from tests.grow.gradients import grow

N = 400


def grower(n_bins, rules=RULES, monotone=(), **more):
    rng, n_bins = np.random.default_rng(1), np.asarray(n_bins, np.int32)
    codes = np.array([rng.integers(0, bins, N) for bins in n_bins], np.uint8)
    codes[0, rng.random(N) < 0.2] = 255
    width = len(n_bins)
    features = Features(
        np.arange(width, dtype=np.int32), np.zeros(width, np.int32), n_bins,
        np.full(width, -1, np.int32), np.zeros(width, bool), np.array(monotone, np.int8),
    )  # fmt: skip
    return HistogramGrower(codes, features, rules._replace(max_leaves=31), **more)


def grown(one):
    rng = np.random.default_rng(2)
    g, h = rng.normal(size=N).astype(np.float32), rng.uniform(0.1, 1, N).astype(np.float32)
    tree = grow(one, g, h, key=3)
    names = ("feature", "bin", "missing_left", "gain", "first_child", "value", "cover")
    return [getattr(tree, name).tolist() for name in names]


@pytest.mark.parametrize("min_rows", [0.0, 9.0])
def test_numbers_are_split_as_with_constraints_that_ask_nothing(min_rows):
    rules, n_bins = RULES._replace(min_rows=min_rows), [40, 2, 2, 1, 3, 17]
    alone, others = grower(n_bins, rules), grower(n_bins, rules, monotone=[0] * 6)
    first, second = grown(alone), grown(others)
    assert len(first[0]) > 9
    assert first == second


def test_what_is_not_needed_is_not_there():
    plain, draws = grower([9, 8]), grower([9, 8], RULES._replace(node_columns=1))
    grown(plain), grown(draws)
    assert (plain._parts[1].wide, plain._parts[1].draw) == (0, 0)
    assert draws._parts[1].draw != 0


def test_other_rules_are_other_code():
    """A callback of LightGBM may change the rules between rounds."""
    one = grower([9, 8])
    grown(one)
    before = one._parts[1]
    one.rules = one.rules._replace(node_columns=1)
    assert grown(one) == grown(grower([9, 8], RULES._replace(node_columns=1)))
    assert one._parts[1].draw != before.draw


@pytest.mark.parametrize("width", range(1, 17))
def test_every_tile_is_counted(width):
    rng = np.random.default_rng(width)
    codes = rng.integers(0, BINS, (width, N)).astype(np.uint64)
    tiles, many, columns = tile_shape(width)
    assert tiles == 1
    words = np.zeros((N, many), np.uint64)
    for f in range(width):
        words[:, f // columns] |= codes[f] << np.uint64(8 * (f % columns))
    rows = rng.permutation(N)[:150].astype(np.uint64)
    g, h = rng.integers(-32768, 32767, N), rng.integers(0, 65536, N)
    low = ((g << 16) | h) & 0xFFFFFFFF
    entries = (rows << np.uint64(32)) | low[rows].astype(np.uint64)
    small = np.zeros(16 * BINS, np.int64)
    counter_of(words, columns)(words, entries, np.uint64(20), np.uint64(150), small)
    for f in range(width):
        expected = np.zeros(BINS, np.int64)
        np.add.at(expected, codes[f, rows[20:]], (g[rows[20:]] << 32) + h[rows[20:]])
        at = (f // columns) * _stride(columns, many) + (f % columns) * BINS
        assert np.array_equal(small[at : at + BINS], expected)


def _stride(columns, many):
    """Where the tables of a second word begin: columns of a word are counted five to eight at a time."""
    return BINS * max(columns, 5) if many == 2 else 0
