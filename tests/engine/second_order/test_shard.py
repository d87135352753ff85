"""Rows of a shard: rounded by their numbers in the whole table, counted and summed node by node."""

from __future__ import annotations

import numpy as np

from arboretum.engine.dtypes import PAIR, SCALES, as_records, record_table
from arboretum.engine.second_order.pack import Scales
from arboretum.engine.second_order.shard import fill_spans
from arboretum.grow.histogram import make_given


def entries_of(g, h, spans, key, rows=None, factor=None, block=None):
    scales = Scales(record_table(1, PAIR), as_records(np.zeros(1, SCALES)))
    scales.chosen["small"]["g"], scales.chosen["small"]["h"] = 64.0, 128.0
    given = make_given(g, h, key, rows, factor)
    n = len(g) if rows is None else len(rows)
    found = np.zeros(n, np.uint64)
    for start, end in [(0, n)] if block is None else [(0, block), (block, n)]:
        fill_spans(given, scales, np.array(spans, np.int64), start, end, found)
    return found


def test_entries_are_those_of_the_whole_table():
    rng = np.random.default_rng(0)
    g, h = rng.normal(size=100).astype(np.float32), rng.random(100).astype(np.float32)
    whole = entries_of(g, h, [[0, 100, 0]], 7)
    rows = np.r_[60:90, 10:20]  # a shard of two spans
    own = entries_of(g[rows], h[rows], [[0, 30, 60], [30, 40, 10 - 30]], 7, block=35)
    assert ((own >> np.uint64(32)) == np.arange(40)).all()
    low = np.uint64(0xFFFFFFFF)
    assert ((own & low) == (whole[rows] & low)).all()
    assert ((own & low) != (entries_of(g[rows], h[rows], [[0, 40, 0]], 7) & low)).any()


def test_drawn_rows_keep_their_numbers_and_factors():
    rng = np.random.default_rng(1)
    g, h = rng.normal(size=50).astype(np.float32), rng.random(50).astype(np.float32)
    drawn = np.array([3, 20, 21, 49], np.uint32)
    factor = np.array([1, 2, 3, 4], np.float32)
    whole = entries_of(g, h, [[0, 4, 0]], 7, drawn, factor)
    here = np.r_[20:50]
    own = entries_of(g[here], h[here], [[0, 3, 20]], 7, drawn[1:] - np.uint32(20), factor[1:])
    low = np.uint64(0xFFFFFFFF)
    assert ((own & low) == (whole[1:] & low)).all()
    assert (own >> np.uint64(32)).tolist() == [0, 1, 29]


def test_no_rows():
    nothing = np.empty(0, np.float32)
    assert len(entries_of(nothing, nothing, np.empty((0, 3)), 7)) == 0
    assert len(entries_of(nothing, nothing, [[0, 0, 5]], 7)) == 0
