"""Histograms of gradients: Σg and Σh of every bin of every column, over the rows of a node.

Up to eight columns of codes make a tile, one uint64 per row, and an entry (boost_pack.py) is unpacked to
g · 2³² + h, so that one addition counts a row in one bin:

    tile of a row   c7 c6 c5 c4 c3 c2 c1 c0          bins of column 3:   [ … | c3 += g·2³² + h | … ]

The small tables of a tile stay in the nearest cache. 28 columns are four tiles of seven: an empty place
would be counted, too. After 65,536 rows, before h could run into g,
they are added to the wide sums, (columns, bins, 2) int64. Tiles are shared out to threads: nothing has to
be added up between them. The larger of two siblings is what the parent has more than the smaller.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.jit import kernel, leaf_kernel
from arboretum.engine.prefetch import prefetch

__all__ = [
    "count_tiles",
    "count_wide",
    "fill_tile",
    "fill_wide",
    "node_sums",
    "pack_tiles",
    "subtract",
]

TILE = 8  # columns
BINS = 256
_BLOCK = 65536  # rows until the small tables are emptied
_AHEAD = 24  # entries
_ROW = np.uint64(32)
_BYTE = np.uint64(255)
_LOW16, _LOW32 = np.int64(0xFFFF), np.int64(0xFFFFFFFF)
_S1, _S2, _S3, _S4 = np.uint64(8), np.uint64(16), np.uint64(24), np.uint64(32)
_S5, _S6, _S7 = np.uint64(40), np.uint64(48), np.uint64(56)
_B1, _B2, _B3, _B4 = np.uint64(256), np.uint64(512), np.uint64(768), np.uint64(1024)
_B5, _B6, _B7 = np.uint64(1280), np.uint64(1536), np.uint64(1792)


def tile_width(n_columns: int) -> int:
    """Return how many columns share a word, so that tiles are full.

    >>> [tile_width(n) for n in (3, 8, 10, 28, 30, 500)]
    [3, 8, 5, 7, 8, 8]
    """
    n_tiles = max(-(-n_columns // TILE), 1)
    return max(-(-n_columns // n_tiles), 1)


@kernel
def pack_tiles(codes, tile, width, start, end, out):
    """Pack the codes of ``width`` columns, (columns, n) uint8, into one word per row."""
    first = tile * width
    for i in range(start, end):
        out[tile, i] = 0
    for j in range(min(width, len(codes) - first)):
        shift = np.uint64(8 * j)
        for i in range(start, end):
            out[tile, i] |= np.uint64(codes[first + j, i]) << shift


@leaf_kernel
def _add_five(small, word, q):
    small[word & _BYTE] += q
    small[_B1 + ((word >> _S1) & _BYTE)] += q
    small[_B2 + ((word >> _S2) & _BYTE)] += q
    small[_B3 + ((word >> _S3) & _BYTE)] += q
    small[_B4 + ((word >> _S4) & _BYTE)] += q


@leaf_kernel
def _add_seven(small, word, q):
    _add_five(small, word, q)
    small[_B5 + ((word >> _S5) & _BYTE)] += q
    small[_B6 + ((word >> _S6) & _BYTE)] += q


@leaf_kernel
def _add_eight(small, word, q):
    _add_seven(small, word, q)
    small[_B7 + (word >> _S7)] += q


@leaf_kernel
def _spread(entry):
    """Return g · 2³² + h of an entry."""
    low = np.int64(np.int32(np.uint32(entry & np.uint64(0xFFFFFFFF))))
    return ((low >> 16) << 32) + (low & _LOW16)


@leaf_kernel
def _count_eight(words, tile, entries, start, end, small):
    """Count rows in eight columns."""
    near = max(start, end - _AHEAD)
    for i in range(start, near):
        prefetch(words, tile, entries[i + _AHEAD] >> _ROW)
        entry = entries[i]
        _add_eight(small, words[tile, entry >> _ROW], _spread(entry))
    for i in range(near, end):
        entry = entries[i]
        _add_eight(small, words[tile, entry >> _ROW], _spread(entry))


@leaf_kernel
def _count_seven(words, tile, entries, start, end, small):
    """Count rows in up to seven columns; the places of missing ones are counted for nothing."""
    near = max(start, end - _AHEAD)
    for i in range(start, near):
        prefetch(words, tile, entries[i + _AHEAD] >> _ROW)
        entry = entries[i]
        _add_seven(small, words[tile, entry >> _ROW], _spread(entry))
    for i in range(near, end):
        entry = entries[i]
        _add_seven(small, words[tile, entry >> _ROW], _spread(entry))


@leaf_kernel
def _count_five(words, tile, entries, start, end, small):
    """Count rows in up to five columns."""
    near = max(start, end - _AHEAD)
    for i in range(start, near):
        prefetch(words, tile, entries[i + _AHEAD] >> _ROW)
        entry = entries[i]
        _add_five(small, words[tile, entry >> _ROW], _spread(entry))
    for i in range(near, end):
        entry = entries[i]
        _add_five(small, words[tile, entry >> _ROW], _spread(entry))


@leaf_kernel
def _count_in_order(words, tile, width, entries, start, end, small):
    """Count entries that are the rows themselves, in their order."""
    if width > 7:
        for i in range(start, end):
            _add_eight(small, words[tile, i], _spread(entries[i]))
    elif width > 5:
        for i in range(start, end):
            _add_seven(small, words[tile, i], _spread(entries[i]))
    else:
        for i in range(start, end):
            _add_five(small, words[tile, i], _spread(entries[i]))


@leaf_kernel
def _count_block(words, tile, width, entries, start, end, in_order, small):
    for b in range(TILE * BINS):
        small[b] = 0
    if in_order:
        _count_in_order(words, tile, width, entries, start, end, small)
    elif width > 7:
        _count_eight(words, tile, entries, start, end, small)
    elif width > 5:
        _count_seven(words, tile, entries, start, end, small)
    else:
        _count_five(words, tile, entries, start, end, small)


@leaf_kernel
def _empty(small, tile, width, first, hist):
    """Add the small tables to the wide sums, or begin them."""
    for j in range(min(width, len(hist) - tile * width)):
        column = tile * width + j
        for b in range(BINS):
            q = small[j * BINS + b]
            if first:
                hist[column, b, 0], hist[column, b, 1] = q >> 32, q & _LOW32
            else:
                hist[column, b, 0] += q >> 32
                hist[column, b, 1] += q & _LOW32


@leaf_kernel
def count_tiles(words, width, first_tile, last_tile, entries, start, end, in_order, small, hist):
    """Write the histograms of the columns of tiles first_tile:last_tile over entries start:end."""
    for tile in range(first_tile, last_tile):
        for block in range(start, end, _BLOCK):
            last = min(block + _BLOCK, end)
            _count_block(words, np.uint64(tile), width, entries, block, last, in_order, small)
            _empty(small, tile, width, block == start, hist)


@kernel
def fill_tile(words, width, tile, entries, start, end, in_order, small, hist, larger):
    """Count the columns of a tile; take the sums from ``larger``, the parent's, if it is not empty."""
    count_tiles(words, width, tile, tile + 1, entries, start, end, in_order, small, hist)
    if len(larger):
        first, last = tile * width, min((tile + 1) * width, len(hist))
        subtract(larger[first:last], hist[first:last])


@leaf_kernel
def count_wide(codes, first, last, entries, start, end, hist):
    """Write the histograms of columns whose codes have 16 bits."""
    for f in range(first, last):
        for b in range(hist.shape[1]):
            hist[f, b, 0], hist[f, b, 1] = 0, 0
        column = np.uint64(f)
        for i in range(start, end):
            entry = entries[i]
            q = _spread(entry)
            b = codes[column, entry >> _ROW]
            hist[column, b, 0] += q >> 32
            hist[column, b, 1] += q & _LOW16


@leaf_kernel
def subtract(whole, part):
    """Take a child's histograms from its parent's: what is left is the other child's."""
    a, b = whole.reshape(-1), part.reshape(-1)
    for i in range(len(a)):
        a[i] -= b[i]


@leaf_kernel
def node_sums(entries, start, end):
    """Return Σg and Σh of entries."""
    g, h = np.int64(0), np.int64(0)
    for i in range(start, end):
        q = _spread(entries[i])
        g += q >> 32
        h += q & _LOW16
    return g, h


@kernel
def fill_wide(codes, column, entries, start, end, hist, larger):
    """`fill_tile` for a column whose codes have 16 bits."""
    count_wide(codes, column, column + 1, entries, start, end, hist)
    if len(larger):
        subtract(larger[column : column + 1], hist[column : column + 1])
