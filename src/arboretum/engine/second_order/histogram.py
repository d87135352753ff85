"""Histograms of gradients: Σg and Σh of every bin of every column, over the rows of a node.

Up to eight columns of codes are one word (uint64) per row, up to two words make a tile. An entry
(pack.py) is unpacked to g · 2³² + h, so that one addition counts a row in one bin:

    word of a row   c7 c6 c5 c4 c3 c2 c1 c0          bins of column 3:   [ … | c3 += g·2³² + h | … ]

The small tables of a tile stay in the nearest cache, and an entry is looked at once per tile. 28 columns
are two tiles of two words of seven: an empty place would be counted, too. Columns of more than 255 bins have
codes of 16 bits, four of them a word, and tables as long as they need.

Before h could run into g, after 65,536 rows, the small tables are added to the sums, where a column has its
bins' Σg and then its bins' Σh; tables of no more rows keep both in one number, as they were counted:

    sums      | g of column 0 | h of column 0 | g of column 1 | h of column 1 | …
    packed    | column 0 | column 1 | …

A column has as many places there as bins are in use, and one more for the missing values: small tables of
few bins are soon emptied, added and subtracted.

Sums of wide columns of numbers are packed in the small nodes of any table. A node of fewer rows than such a
column has bins leaves most of them empty: it has a list in the place of its sums, those of the bins that hold
rows, packed, and which bins these are (16 bits each):

    list      | sums | … | numbers of bins | … | how many | sum of missing values

Its children's lists are made in one walk through it, beside the table in which the smaller was counted. A bin
without a sum is not in the list, though rows of h = 0 may be in it, whose g are 0 together: where a child has
such rows, its parent's list becomes sums again.

Tiles are shared out to threads. The larger of two siblings is what the parent has more than the smaller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arboretum.engine.atomic import lowest_bit, prefetch, prefetch_at, used_bits
from arboretum.engine.compiler.decorators import inline, kernel, subkernel

__all__ = [
    "add",
    "add_wide_segment",
    "counter_of",
    "empty_column",
    "empty_tile",
    "empty_wide_tile",
    "list_limit",
    "list_sums",
    "list_table",
    "move_table",
    "numbers_start",
    "pack_sums",
    "pack_tiles",
    "pack_wide",
    "part_list",
    "spread_list",
    "subtract",
]

WORD, TILE = 8, 16  # columns
WIDE_WORD = 4
BINS = 256
FULL = 65536  # rows until the small tables must be emptied
SMALL = 32767  # rows of nodes that have packed sums of wide columns; larger ones may be counted in pieces
_AHEAD = np.uint64(24)  # entries
_ROW = np.uint64(32)
_BYTE, _PAIR = np.uint64(255), np.uint64(65535)
_LOW16, LOW32 = np.int64(0xFFFF), np.int64(0xFFFFFFFF)
_S1, _S2, _S4, _S6 = np.uint64(8), np.uint64(16), np.uint64(32), np.uint64(48)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_GROUP = np.uint64(64)  # bins that are looked at together
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

    All tiles of a table are alike, so that one of the eight is compiled.
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

    The places of a word that no column has are counted behind the last table.

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
    """Move the counts of a column's bins to its sums, which they begin if ``fresh``.

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
    """Empty the small tables into the sums of the columns first:last, which they begin if ``fresh``.

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
def empty_column(table, hist, starts, column, fresh):
    """Empty the table of a column of 16 bits into its sums, which it begins if ``fresh``.

    table (at least bins,) int64, left at 0; hist (n_sums,) int64, updated; starts (n_columns + 1,)
    int64.
    """
    packed, start = len(hist) == starts[len(starts) - 1], starts[column]
    _empty(table, hist, start, starts[column + 1] - start, packed, fresh)


@subkernel
def empty_wide_tile(small, hist, starts, first, last, fresh):
    """`empty_tile` for columns of 16 bits, whose tables stand as close as their sums.

    small (n_small,) int64, left at 0; hist (n_sums,) int64, updated; starts (n_columns + 1,) int64.
    """
    base = starts[first]
    for f in range(first, last):
        empty_column(small[starts[f] - base : starts[f + 1] - base], hist, starts, f, fresh)
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
    """Take a child's histograms from its parent's: what is left is the other child's.

    parent (n_sums,) int64, updated; child (n_sums,) int64.
    """
    for i in range(len(parent)):
        parent[i] -= child[i]


# ---------------------------------------------------------------------- lists of bins in use
@subkernel
def list_limit(bins):
    """Return up to how many entries a list finds room in the place of so many bins."""
    return 3 * bins // 4 - 1


@subkernel
def numbers_start(bins):
    """Return where the numbers of a list's bins begin in its place."""
    return list_limit(bins) + 1


@subkernel
def _close_list(place, bins, many, missing):
    """Write how many bins a list has, and the sum of missing values.

    place (bins,) int64, written.
    """
    place[bins - 2], place[bins - 1] = many, missing


@inline
def _move_bin(table, b, parent, takes, place, numbers, many):
    """Move a bin of a table to the end of a list; ``takes`` takes it from the parent's sums, too.

    table (bins,) int64, left at 0; parent (bins or 2 * bins,) int64, updated; place (bins,) int64,
    written; numbers (n_numbers,) uint16, written.
    """
    both = table[b]
    place[many], numbers[many], table[b] = both, b, 0
    if takes and len(parent) == len(table):
        parent[b] -= both
    elif takes:
        parent[b] -= both >> 32
        parent[np.uint64(len(table)) + b] -= both & LOW32
    return both


@subkernel
def list_table(table, parent, takes, place):
    """Make a list of a table of packed sums, and empty it; ``takes`` takes it from the parent's sums, too.

    table (bins,) int64, left at 0; parent (bins or 2 * bins,) int64, updated; place (bins,) int64,
    written.
    """
    bins = len(table)
    numbers, many = place[numbers_start(bins) :].view(np.uint16), _ZERO
    last, at = np.uint64(bins - 1), _ZERO
    while at + _GROUP <= last:
        used = used_bits(table, at)
        while used != _ZERO:
            b = at + lowest_bit(used)
            _move_bin(table, b, parent, takes, place, numbers, many)
            many += _ONE
            used &= used - _ONE
        at += _GROUP
    for b in range(at, last):
        both = _move_bin(table, b, parent, takes, place, numbers, many)
        many += np.uint64(both != 0)
    missing = _move_bin(table, last, parent, takes, place, numbers, many)
    _close_list(place, bins, many, missing)


@subkernel
def move_table(table, parent, takes, place):
    """Make sums of a table of packed ones, and empty it; ``takes`` takes it from the parent's sums, too.

    table (bins,) int64, left at 0; parent (bins or 2 * bins,) int64, updated; place (bins,) int64,
    written.
    """
    bins = len(table)
    if takes and len(parent) == bins:
        subtract(parent, table)
    elif takes:
        for b in range(bins):
            parent[b] -= table[b] >> 32
            parent[bins + b] -= table[b] & LOW32
    for b in range(bins):
        place[b] = table[b]
        table[b] = 0


@subkernel
def pack_sums(place, bins):
    """Put Σg and Σh of a column into one number each, in their place.

    place (2 * bins,) int64, updated.
    """
    for b in range(bins):
        place[b] = (place[b] << 32) + place[bins + b]


@subkernel
def list_sums(place, table):
    """Make a list of packed sums, in their place; ``table`` is empty before and after.

    place (at least bins,) int64, updated; table (bins,) int64, scratch.
    """
    for b in range(len(table)):
        table[b] = place[b]
    list_table(table, table, False, place)


@subkernel
def spread_list(place, bins, table):
    """Make packed sums of a list, in their place; ``table`` is written on.

    place (bins,) int64, updated; table (at least bins,) int64, scratch.
    """
    numbers, last = place[numbers_start(bins) :].view(np.uint16), np.uint64(bins - 1)
    for b in range(bins):
        table[b] = 0
    for k in range(np.uint64(place[bins - 2])):
        table[np.uint64(numbers[k])] = place[k]
    table[last] = place[last]
    for b in range(bins):
        place[b] = table[b]


@subkernel
def part_list(table, parent, place, bins):
    """Part a node's list: what a table, which is emptied, counted is one child's, the rest the other's.

    table (bins,) int64, left at 0; parent (bins,) int64, updated; place (bins,) int64, written.
    """
    start = numbers_start(bins)
    numbers, others = place[start:].view(np.uint16), parent[start:].view(np.uint16)
    many, left, last = _ZERO, _ZERO, np.uint64(bins - 1)
    for k in range(np.uint64(parent[bins - 2])):
        b = np.uint64(others[k])
        both, rest = table[b], parent[k] - table[b]
        table[b] = 0
        place[many], numbers[many] = both, b
        many += np.uint64(both != 0)
        parent[left], others[left] = rest, b
        left += np.uint64(rest != 0)
    rest = parent[last] - table[last]
    _close_list(place, bins, many, table[last])
    _close_list(parent, bins, left, rest)
    table[last] = 0
