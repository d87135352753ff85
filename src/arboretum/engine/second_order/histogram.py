"""Histograms of gradients: Σg and Σh of every bin of every column, over the rows of a node.

Up to eight columns of codes are one word (uint64) per row, up to two words make a tile. An entry
(pack.py) is unpacked to g · 2³² + h, so that one addition counts a row in one bin:

    word of a row   c7 c6 c5 c4 c3 c2 c1 c0          bins of column 3:   [ … | c3 += g·2³² + h | … ]

The small tables of a tile stay in the L1 cache, and an entry is read once per tile. 28 columns make two tiles
of two words of seven, because empty places would be counted, too. Columns of more than 255 bins have codes of
16 bits, four to a word, and tables as long as they need.

Before h could run into g, after 65,536 rows, the small tables are added to the sums, where a column has its
bins' Σg and then its bins' Σh; tables of no more rows keep both in one number, as they were counted:

    sums      | g of column 0 | h of column 0 | g of column 1 | h of column 1 | …
    packed    | column 0 | column 1 | …

A column has as many places there as it has bins in use, and one more for the missing values: with few bins,
emptying, adding and subtracting is fast.

Tiles are distributed over threads. The larger of two siblings is the parent minus the smaller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arboretum.engine.atomic import prefetch, prefetch_at
from arboretum.engine.compiler.decorators import inline, kernel, subkernel

__all__ = [
    "add",
    "add_wide_segment",
    "counter_of",
    "empty_tile",
    "empty_wide_tile",
    "pack_tiles",
    "pack_wide",
    "subtract",
]

WORD, TILE = 8, 16  # columns
WIDE_WORD = 4
BINS = 256
FULL = 65536  # rows until the small tables must be emptied
_AHEAD = np.uint64(24)  # entries
_ROW = np.uint64(32)
_BYTE, _PAIR = np.uint64(255), np.uint64(65535)
_LOW16, LOW32 = np.int64(0xFFFF), np.int64(0xFFFFFFFF)
_S1, _S2, _S4, _S6 = np.uint64(8), np.uint64(16), np.uint64(32), np.uint64(48)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_BITS8, _BITS16 = np.uint64(3), np.uint64(4)  # of codes, as powers of two


@kernel
def pack_tiles(codes, word, width, start, end, out):
    """Pack the codes of ``width`` columns, (columns, n) uint8, into one word per row.

    codes (n_columns, n_rows) uint8; out (n_tiles, n_rows, 1 or 2) uint64, written.
    """
    tile, place, first = word // out.shape[2], word % out.shape[2], word * width
    many = np.uint64(max(min(width, len(codes) - first), 0))
    packed = out[tile]
    for i in range(np.uint64(start), np.uint64(end)):
        whole = _ZERO
        for j in range(many):
            whole |= np.uint64(codes[np.uint64(first) + j, i]) << (j << _BITS8)
        packed[i, np.uint64(place)] = whole


@kernel
def pack_wide(codes, tile, width, start, end, out):
    """Pack the codes of ``width`` columns, (columns, n) uint16, into one word per row.

    codes (n_columns, n_rows) uint16; out (n_tiles, n_rows) uint64, written.
    """
    first = tile * width
    many, packed = np.uint64(min(width, len(codes) - first)), out[tile]
    for i in range(np.uint64(start), np.uint64(end)):
        whole = _ZERO
        for j in range(many):
            whole |= np.uint64(codes[np.uint64(first) + j, i]) << (j << _BITS16)
        packed[i] = whole


@subkernel
def _spread(entry):
    """Return g · 2³² + h of an entry."""
    low = np.int64(np.int32(np.uint32(entry & np.uint64(0xFFFFFFFF))))
    return ((low >> 16) << 32) + (low & _LOW16)


@inline
def _add_word(small, at, word, q, width):
    """Add to the tables of the columns of a word."""
    for j in range(np.uint64(width)):
        small[at + (j << _S1) + ((word >> (j << _BITS8)) & _BYTE)] += q


@inline
def _count_row(words, entry, small, width, twice):
    row, q = entry >> _ROW, _spread(entry)
    _add_word(small, _ZERO, words[row, _ZERO], q, width)
    if twice:
        _add_word(small, np.uint64(width) << _S1, words[row, _ONE], q, width)


@inline
def _count(words, entries, start, end, small, width, twice):
    """Count entries start:end; the last two are constants, so that no loop over columns is left."""
    near = max(end, start + _AHEAD) - _AHEAD
    for i in range(start, near):
        prefetch(words, entries[i + _AHEAD] >> _ROW, _ZERO)
        _count_row(words, entries[i], small, width, twice)
    for i in range(near, end):
        _count_row(words, entries[i], small, width, twice)


@kernel
def count_two(words, entries, start, end, small):
    """Count rows in up to two columns; empty places are counted for nothing."""
    _count(words, entries, start, end, small, 2, False)


@kernel
def count_four(words, entries, start, end, small):
    """Count rows in up to four columns; empty places are counted for nothing."""
    _count(words, entries, start, end, small, 4, False)


@kernel
def count_six(words, entries, start, end, small):
    """Count rows in up to six columns; empty places are counted for nothing."""
    _count(words, entries, start, end, small, 6, False)


@kernel
def count_eight(words, entries, start, end, small):
    """Count rows in up to eight columns; empty places are counted for nothing."""
    _count(words, entries, start, end, small, 8, False)


@kernel
def count_twice_five(words, entries, start, end, small):
    """Count rows in two words of up to five columns; empty places are counted for nothing."""
    _count(words, entries, start, end, small, 5, True)


@kernel
def count_twice_six(words, entries, start, end, small):
    """Count rows in two words of up to six columns; empty places are counted for nothing."""
    _count(words, entries, start, end, small, 6, True)


@kernel
def count_twice_seven(words, entries, start, end, small):
    """Count rows in two words of up to seven columns; empty places are counted for nothing."""
    _count(words, entries, start, end, small, 7, True)


@kernel
def count_twice_eight(words, entries, start, end, small):
    """Count rows in two words of up to eight columns; empty places are counted for nothing."""
    _count(words, entries, start, end, small, 8, True)


def counter_of(words: np.ndarray, width: int) -> Callable:
    """Return the kernel that counts entries start:end in a tile, (rows, 1 or 2 words) of ``width`` columns.

    All tiles of a table are alike, so only one of the eight is compiled.
    """
    if words.shape[1] == 2:
        return {8: count_twice_eight, 7: count_twice_seven, 6: count_twice_six}.get(
            width, count_twice_five
        )
    return (count_two, count_four, count_six, count_eight)[(width - 1) // 2]


@subkernel
def _count_one_wide(words, entries, start, end, small):
    """Count rows in one column of 16 bits.

    words (n_rows,) uint64; entries (n_entries,) uint64; small (n_small,) int64, added to.
    """
    near = max(end, start + _AHEAD) - _AHEAD
    for i in range(start, near):
        prefetch_at(words, entries[i + _AHEAD] >> _ROW)
        entry = entries[i]
        small[words[entry >> _ROW]] += _spread(entry)
    for i in range(near, end):
        entry = entries[i]
        small[words[entry >> _ROW]] += _spread(entry)


@subkernel
def _add_four_wide(small, b1, b2, b3, word, q):
    """Count a row in four columns of 16 bits.

    small (n_small,) int64, added to.
    """
    small[word & _PAIR] += q
    small[b1 + ((word >> _S2) & _PAIR)] += q
    small[b2 + ((word >> _S4) & _PAIR)] += q
    small[b3 + (word >> _S6)] += q


@subkernel
def _count_four_wide(words, entries, start, end, b1, b2, b3, small):
    """Count rows in up to four columns of 16 bits, whose tables begin at 0, b1, b2 and b3.

    words (n_rows,) uint64; entries (n_entries,) uint64; small (n_small,) int64, added to.
    """
    near = max(end, start + _AHEAD) - _AHEAD
    for i in range(start, near):
        prefetch_at(words, entries[i + _AHEAD] >> _ROW)
        entry = entries[i]
        _add_four_wide(small, b1, b2, b3, words[entry >> _ROW], _spread(entry))
    for i in range(near, end):
        entry = entries[i]
        _add_four_wide(small, b1, b2, b3, words[entry >> _ROW], _spread(entry))


@subkernel
def add_wide_segment(words, starts, first, last, entries, start, end, small):
    """Count the entries start:end in the columns first:last of 16 bits, a word per row.

    Places of a word without a column are counted after the last table.

    words (n_rows,) uint64; starts (n_columns + 1,) int64; entries (n_entries,) uint64; small (n_small,)
    int64, added to.
    """
    base = starts[first]
    if last - first == 1:
        _count_one_wide(words, entries, np.uint64(start), np.uint64(end), small)
        return
    b1 = np.uint64(starts[min(first + 1, last)] - base)
    b2 = np.uint64(starts[min(first + 2, last)] - base)
    b3 = np.uint64(starts[min(first + 3, last)] - base)
    _count_four_wide(words, entries, np.uint64(start), np.uint64(end), b1, b2, b3, small)


@inline
def _empty(table, hist, start, bins, packed, fresh):
    """Move the counts of a column's bins to its sums, overwriting them if ``fresh``.

    table (at least bins,) int64, left at 0; hist (n_sums,) int64, updated.
    """
    if packed:
        both = hist[start : start + bins]
        for b in range(bins):
            both[b] = table[b]
    else:
        g, h = hist[2 * start : 2 * start + bins], hist[2 * start + bins : 2 * start + 2 * bins]
        if fresh:
            for b in range(bins):
                g[b], h[b] = table[b] >> 32, table[b] & LOW32
        else:
            for b in range(bins):
                g[b] += table[b] >> 32
                h[b] += table[b] & LOW32
    for b in range(bins):
        table[b] = 0


@subkernel
def empty_tile(small, hist, starts, first, last, fresh):
    """Empty the small tables into the sums of the columns first:last, overwriting them if ``fresh``.

    Sums of up to 65,536 rows stay packed. A column's bins in use, missing values last, are all it has there.

    small (TILE * BINS,) int64, left at 0; hist (n_sums,) int64, updated; starts (n_columns + 1,)
    int64.
    """
    packed = len(hist) == starts[len(starts) - 1]
    for f in range(first, last):
        start, bins, at = starts[f], starts[f + 1] - starts[f], (f - first) * BINS
        table = small[at : at + BINS]
        # missing values were counted in the last bin of all
        missing, table[BINS - 1] = table[BINS - 1], 0
        table[bins - 1] = missing
        _empty(table, hist, start, bins, packed, fresh)
    for place in range(last - first, TILE):
        small[place * BINS] = 0  # empty places have counted rows in the first bin of theirs


@subkernel
def empty_wide_tile(small, hist, starts, first, last, fresh):
    """`empty_tile` for columns of 16 bits, whose tables are packed as densely as their sums.

    small (n_small,) int64, left at 0; hist (n_sums,) int64, updated; starts (n_columns + 1,) int64.
    """
    base, packed = starts[first], len(hist) == starts[len(starts) - 1]
    for f in range(first, last):
        start, bins = starts[f], starts[f + 1] - starts[f]
        _empty(small[start - base : start - base + bins], hist, start, bins, packed, fresh)
    small[starts[last] - base] = 0  # where places without a column were counted


@subkernel
def add(total, part):
    """Add histograms to others.

    total (n_sums,) int64, added to; part (n_sums,) int64.
    """
    for i in range(len(total)):
        total[i] += part[i]


@subkernel
def subtract(parent, child):
    """Subtract a child's histograms from its parent's, which leaves those of the other child.

    parent (n_sums,) int64, updated; child (n_sums,) int64.
    """
    for i in range(len(parent)):
        parent[i] -= child[i]
