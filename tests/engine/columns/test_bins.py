"""Distinct values, cells of cuts and clashes of bundles, each against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.columns import bins


def test_distinct_values_are_counted_until_the_first_missing_one():
    x = np.array([-1.0, -0.0, 0.0, 2.0, 2.0, 2.0, np.nan, np.nan])
    values, counts = np.empty(8), np.empty(8)
    assert bins.count_sorted(x, values, counts) == 3
    assert values[:3].tolist() == [-1.0, 0.0, 2.0]
    assert not np.signbit(values[1])
    assert counts[:3].tolist() == [1, 2, 3]


@pytest.mark.parametrize("n_cells", [1, 4, 9])
def test_cells_count_the_cuts_before_them(n_cells):
    cuts = np.array([1.2, 1.4, 2.9, 3.0, 3.1, 4.0])
    low, top = cuts[0], float(n_cells - 1)
    scale = n_cells / (cuts[-1] - low)
    first = np.empty(n_cells, np.uint16)
    fullest = bins.count_cells(cuts, low, scale, top, first)
    cell = np.minimum((cuts - low) * scale, top).astype(int)
    assert first.tolist() == [int((cell < c).sum()) for c in range(n_cells)]
    assert fullest == np.bincount(cell).max()


def test_bundles_drop_out_when_they_clash_too_often():
    taken = np.uint64([0b01, 0b11, 0b10, 0b10])
    clashes, allowed = np.empty(64, np.int64), np.full(64, 1)
    rows = np.array([1, 2, 3])
    assert bins.count_clashes(taken, rows, np.uint64(0b11), allowed, clashes) == 0b01
    assert clashes[0] == 1
    bins.mark_rows(taken, rows[:1], np.uint64(0b100))
    assert taken[1] == 0b111
