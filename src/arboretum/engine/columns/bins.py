"""From values to bins: the kernels behind grow/bins/find.py.

A bin is found by a table and a short search. The range of a column's cuts is divided into equal cells;
a cell has the number of cuts that certainly lie below it, and only the cuts within the cell are searched:

    cuts       1.2   1.4        2.9 3.0 3.1            4.0
    cells    |     |     |     |     |     |     |     |
    first    0     0     2     2  ...                        cuts in the cells before

x - low, the product and the truncation are all monotone in x, so a cut in an earlier cell is below x and
one in a later cell is above it, whatever was rounded. The search has as many steps as the fullest cell
needs, and no branches.
"""

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel

__all__ = [
    "BinTables",
    "code_of",
    "count_cells",
    "count_clashes",
    "count_sorted",
    "encode_block",
    "greedy_places",
    "mark_rows",
]

_TILE = 512  # rows handled column by column: the tile stays in the cache
_WIDE_TILE = 8192  # the same for codes of 16 bits: their tables are longer than the tile
_ZERO, _ONE = np.uint64(0), np.uint64(1)


class BinTables(NamedTuple):
    """What it takes to find the bins of every feature; flat arrays, ``start[f]:start[f + 1]`` is f's."""

    is_category: np.ndarray  # (n_features,) bool
    missing: np.ndarray  # (n_features,) uint64: the code of missing values
    low: np.ndarray  # (n_features,) float64: where the first cell begins
    scale: np.ndarray  # (n_features,) float64: cells per unit
    top: np.ndarray  # (n_features,) float64: the last cell
    half: np.ndarray  # (n_features,) uint64: the first step of the search, a power of two or 0
    first: np.ndarray  # (n_cells,) uint16: cuts in the cells before
    first_start: np.ndarray  # (n_features + 1,) int64
    cuts: np.ndarray  # (n_padded_cuts,) float64, padded with +inf so that the search needs no end
    cuts_start: np.ndarray  # (n_features + 1,) int64
    place: np.ndarray  # (n_categories,) uint16: the bin of every category code
    place_start: np.ndarray  # (n_features + 1,) int64


# ---------------------------------------------------------------------- values
@kernel
def count_sorted(x, values, counts):
    """Write the distinct values of a sorted array (NaN at its end) and how often they occur.

    Return how many there are; -0.0 becomes 0.0.

    x (n,) float64; values, counts (n,) float64, written.
    """
    at, start = 0, 0
    for i in range(len(x)):
        if x[i] != x[i]:
            break
        if i + 1 == len(x) or x[i + 1] != x[i]:
            values[at] = x[i] + 0.0
            counts[at] = i + 1 - start
            start = i + 1
            at += 1
    return at


@kernel
def greedy_places(counts, max_bin, least, places):
    """Write after which of the ordered values to cut; return how many cuts there are.

    Bins are filled from below until they hold their share of the rows that are left. A value that holds a
    share by itself gets a bin of its own, and the bin before it may be half full.

    counts (n,) float64; places (max_bin,) int64, written.
    """
    n, rows, cuts, most = len(counts), 0.0, 0, max_bin
    total = 0.0
    for i in range(n):
        total += counts[i]
    few = n <= max_bin
    if not few:
        most = max(min(max_bin, np.int64(total / least)), 1)
    share, left, bins = total / most, total, most
    alone = share
    for i in range(n):
        if not few and counts[i] >= alone:
            left -= counts[i]
            bins -= 1
    share = left / bins if bins > 0 else np.inf
    for i in range(n - 1):
        rows += counts[i]
        if few:
            full = rows >= least
        else:
            fills, next_fills = counts[i] >= alone, counts[i + 1] >= alone
            left -= 0.0 if fills else counts[i]
            full = fills or rows >= share or (next_fills and rows >= max(1.0, 0.5 * share))
        if not full:
            continue
        places[cuts] = i
        cuts += 1
        rows = 0.0
        if few:
            continue
        if cuts >= most - 1:
            break
        if not fills:
            bins -= 1
            share = left / bins if bins > 0 else np.inf
    return cuts


# ---------------------------------------------------------------------- bins
@inline
def _cell(x, low, scale, top):
    t = (x - low) * scale
    t = t if t > 0.0 else 0.0  # NaN, too
    t = t if t < top else top
    return np.uint64(np.int64(t))


@kernel
def count_cells(cuts, low, scale, top, first):
    """Fill ``first``: how many cuts lie in the cells before each; return how many the fullest holds.

    cuts (n_cuts,) float64; first (n_cells,) uint16, written.
    """
    for c in range(len(first)):
        first[c] = 0
    fullest, here, cell = 0, 0, _ZERO
    for i in range(len(cuts)):
        new_cell = _cell(cuts[i], low, scale, top)
        if new_cell != cell:
            for c in range(np.int64(cell) + 1, np.int64(new_cell) + 1):
                first[c] = i
            cell, here = new_cell, 0
        here += 1
        fullest = max(fullest, here)
    for c in range(np.int64(cell) + 1, len(first)):
        first[c] = len(cuts)
    return fullest


@inline
def _number_codes(values, tables, f, missing, out):
    """Write the number of cuts below every value; return whether one is missing.

    values (n,) float64, any stride; out (n,) uint8 or uint16, written.
    """
    low, scale, top, half = tables.low[f], tables.scale[f], tables.top[f], tables.half[f]
    first = tables.first[tables.first_start[f] : tables.first_start[f + 1]]
    cuts = tables.cuts[tables.cuts_start[f] : tables.cuts_start[f + 1]]
    lost = False
    if half <= _ONE:  # at most one cut in a cell, as a rule: a loop without a loop is twice as fast
        for i in range(len(out)):
            x = values[i]
            a = np.uint64(first[_cell(x, low, scale, top)])
            a += np.uint64(cuts[a] < x)
            lost |= x != x
            out[i] = missing if x != x else a
        return lost
    for i in range(len(out)):
        x = values[i]
        a = np.uint64(first[_cell(x, low, scale, top)])
        step = half
        while step > _ZERO:
            a += step * np.uint64(cuts[a + step - _ONE] < x)
            step >>= _ONE
        lost |= x != x
        out[i] = missing if x != x else a
    return lost


@inline
def _category_codes(values, tables, f, missing, out):
    """Write the bin of every category; rare and unknown ones are missing. Return whether one is.

    values (n,) float64, any stride; out (n,) uint8 or uint16, written.
    """
    place = tables.place[tables.place_start[f] : tables.place_start[f + 1]]
    lost = False
    for i in range(len(out)):
        x = values[i]
        a = missing
        if x >= 0.0 and x < len(place):
            a = np.uint64(place[np.uint64(np.int64(x))])
        lost |= a == missing
        out[i] = a
    return lost


@inline
def code_of(x, tables, f):
    """Return the code of one value of a column."""
    missing = tables.missing[f]
    if tables.is_category[f]:
        at = tables.place_start[f]
        known = x >= 0.0 and x < tables.place_start[f + 1] - at
        return np.uint64(tables.place[at + np.int64(x)]) if known else missing
    if x != x:
        return missing
    cell = _cell(x, tables.low[f], tables.scale[f], tables.top[f])
    a = np.uint64(tables.first[np.uint64(tables.first_start[f]) + cell])
    start, step = np.uint64(tables.cuts_start[f]), tables.half[f]
    while step > _ZERO:
        a += step * np.uint64(tables.cuts[start + a + step - _ONE] < x)
        step >>= _ONE
    return a


@kernel
def encode_block(block, feature, target, tables, out, at, seen):
    """Write the codes of a block of rows to ``out[target[f], at:]``.

    Parameters
    ----------
    block : float64 array (rows, columns)
        Its first column is ``feature``.
    target : int64 array (features,)
        The line of ``out`` of every feature; -1: none.
    seen : uint8 array (features,), output
        Set to 1 where a value was missing.

    out (n_lines, n_rows) uint8 or uint16, written.
    """
    n, width = block.shape
    tile = _TILE if out.itemsize == 1 else _WIDE_TILE
    for start in range(0, n, tile):
        end = min(n, start + tile)
        for j in range(width):
            f = feature + j
            if target[f] < 0:
                continue
            values = block[start:end, j]
            codes, missing = out[target[f], at + start : at + end], tables.missing[f]
            if tables.is_category[f]:
                lost = _category_codes(values, tables, f, missing, codes)
            else:
                lost = _number_codes(values, tables, f, missing, codes)
            if lost:
                seen[f] = 1


# ---------------------------------------------------------------------- bundles
@kernel
def count_clashes(taken, rows, alive, allowed, clashes):
    """Count in which of 64 bundles a column's rows are taken; return those that stand them.

    Parameters
    ----------
    taken : uint64 array (n,)
        Bit j: bundle j has a value in this row.
    alive : uint64
        The bundles to look at; one drops out as soon as its clashes exceed ``allowed[j]``.
    clashes : int64 array (64,), output

    rows (n_present,) uint32; allowed (64,) int64.
    """
    for j in range(64):
        clashes[j] = 0
    for i in range(len(rows)):
        common = taken[rows[i]] & alive
        j = 0
        while common != _ZERO:
            while common & _ONE == _ZERO:
                common >>= _ONE
                j += 1
            clashes[j] += 1
            if clashes[j] > allowed[j]:
                alive &= ~(_ONE << np.uint64(j))
            common >>= _ONE
            j += 1
        if alive == _ZERO:
            break
    return alive


@kernel
def mark_rows(taken, rows, bit):
    """Note that a bundle has a value in these rows.

    taken (n_rows,) uint64, updated; rows (n_present,) uint32.
    """
    for i in range(len(rows)):
        taken[rows[i]] |= bit
