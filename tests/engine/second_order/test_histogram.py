"""Codes packed into words; lists of the bins that a node uses."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.atomic import used_bits
from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.second_order import histogram
from arboretum.grow.histogram import tile_shape, wide_shape


@pytest.mark.parametrize("n_columns", [1, 3, 8, 10, 28])
def test_words_hold_the_codes_of_their_columns(n_columns):
    codes = np.random.default_rng(0).integers(0, 256, (n_columns, 20)).astype(np.uint8)
    tiles, many, width = tile_shape(n_columns)
    words = np.full((tiles, 20, many), 7, np.uint64)
    for word in range(tiles * many):
        histogram.pack_tiles(codes, word, width, 0, 20, words)
    for f in range(n_columns):
        word = words[f // width // many, :, f // width % many]
        assert np.array_equal((word >> np.uint64(8 * (f % width))) & np.uint64(255), codes[f])


@pytest.mark.parametrize("n_columns", [1, 3, 5])
def test_wide_words_hold_codes_of_16_bits(n_columns):
    codes = np.random.default_rng(0).integers(0, 65536, (n_columns, 20)).astype(np.uint16)
    tiles, width = wide_shape(n_columns)
    words = np.full((tiles, 20), 7, np.uint64)
    for tile in range(tiles):
        histogram.pack_wide(codes, tile, width, 0, 20, words)
    for f in range(n_columns):
        word = words[f // width] >> np.uint64(16 * (f % width))
        assert np.array_equal(word & np.uint64(65535), codes[f])


# ---------------------------------------------------------------------- lists
@kernel
def _used(table, at):
    return used_bits(table, np.uint64(at))


@kernel
def _list_table(table, parent, takes, place):
    histogram.list_table(table, parent, takes, place)


@kernel
def _move_table(table, parent, takes, place):
    histogram.move_table(table, parent, takes, place)


@kernel
def _pack_sums(place, bins):
    histogram.pack_sums(place, bins)


@kernel
def _list_sums(place, table):
    histogram.list_sums(place, table)


@kernel
def _spread_list(place, bins, table):
    histogram.spread_list(place, bins, table)


@kernel
def _part_list(table, parent, place, bins):
    histogram.part_list(table, parent, place, bins)


def test_bits_tell_which_of_64_numbers_are_not_0():
    rng = np.random.default_rng(0)
    table = rng.integers(-1, 2, 100)
    for at in (0, 7, 36):
        bits = int(_used(table, at))
        assert [bits >> j & 1 for j in range(64)] == (table[at : at + 64] != 0).tolist()


BINS = 300  # with that of missing values


def _counted(rng, rows):
    """Return packed sums of so many rows in a table."""
    table = np.zeros(BINS, np.int64)
    g, h = rng.integers(-1000, 1000, rows), rng.integers(1, 1000, rows)
    np.add.at(table, rng.integers(0, BINS, rows), (g << 32) + h)
    return table


def _sums(table, packed):
    return table.copy() if packed else np.concatenate([table >> 32, table & 0xFFFFFFFF])


def _same_list(place, table):
    """Tell whether a place has the list of a table."""
    used = np.flatnonzero(table[:-1])
    many = place[BINS - 2]
    numbers = place[3 * BINS // 4 :].view(np.uint16)[:many]
    assert np.array_equal(numbers, used)
    assert np.array_equal(place[:many], table[used])
    assert place[BINS - 1] == table[-1]


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("rows", [0, 1, 20, 150, 224])
def test_lists_are_the_bins_in_use(rows, packed):
    rng = np.random.default_rng(rows)
    for _ in range(5):
        small, whole = _counted(rng, rows), _counted(rng, 200)
        table, place, parent = small.copy(), np.full(BINS, 99), _sums(small + whole, packed)
        _list_table(table, parent, True, place)
        _same_list(place, small)
        assert not table.any()
        assert np.array_equal(parent, _sums(whole, packed))
        if not packed:
            _pack_sums(parent, BINS)
        _list_sums(parent, table)
        _same_list(parent, whole)
        assert not table.any()
        _spread_list(parent, BINS, np.full(BINS, 99))
        assert np.array_equal(parent[:BINS], whole)


@pytest.mark.parametrize("packed", [True, False])
def test_a_table_is_moved_and_taken_from_sums(packed):
    rng = np.random.default_rng(0)
    small, whole = _counted(rng, 500), _counted(rng, 900)
    table, place, parent = small.copy(), np.full(BINS, 99), _sums(small + whole, packed)
    _move_table(table, parent, True, place)
    assert np.array_equal(place, small)
    assert not table.any()
    assert np.array_equal(parent, _sums(whole, packed))


@pytest.mark.parametrize("rows", [0, 1, 20, 100])
def test_a_list_is_parted_into_those_of_two_children(rows):
    rng = np.random.default_rng(rows)
    for _ in range(5):
        small, large = _counted(rng, rows), _counted(rng, 120)
        table, parent, place = small + large, np.full(BINS, 99), np.full(BINS, 99)
        _list_table(table, table, False, parent)
        table[:] = small
        _part_list(table, parent, place, BINS)
        _same_list(place, small)
        _same_list(parent, large)
        assert not table.any()
