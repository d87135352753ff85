"""Codes packed into words."""

from __future__ import annotations

import numpy as np
import pytest

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
