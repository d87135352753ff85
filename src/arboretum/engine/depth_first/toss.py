"""A random division of categories: a coin for each decides whether it goes left.

Codes whose coin falls on right are raised above all others. Then they are numbers with a threshold between
the two kinds; should all coins fall alike, the lowest code is the threshold, and goes left alone.

    codes of the node     3   0   5   3         coins: 0 and 3 right, 5 left
    raised               3'  0'   5  3'         left: up to the last that is not raised

Coins are keyed by node, column and category: they can be tossed again, and fall the same. No processor can
predict them, so no loop over rows branches on a coin.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import addressed, inline, subkernel
from arboretum.engine.depth_first.partition import move
from arboretum.engine.split.random import coins

__all__ = ["largest_present", "last_left", "missing_of", "split_by_coins", "toss"]

_ONE, _LAST, _BLOCK = np.uint64(1), np.uint64(63), np.uint64(6)  # a word has the coins of 64 codes


@inline
def missing_of(column):
    """Return what a missing value is written as: the largest number there is.

    column (n,) int32 or int64, for its dtype.
    """
    return column.dtype.type(0x7FFFFFFFFFFFFFFF if column.itemsize == 8 else 0x7FFFFFFF)


@subkernel
def largest_present(x, n, low, missing_value):
    """Return the largest value that is not missing, or ``low``.

    x (at least n,) int32 or int64.
    """
    high = low
    for i in range(n):
        high = x[i] if x[i] != missing_value and x[i] > high else high
    return high


@inline
def _raise_by(column):
    """Return the bit that raises a code above all others; a missing value has it anyway.

    column (n,) int32 or int64, for its dtype.
    """
    return np.uint64(8 * column.itemsize - 2)


@inline
def _raised(v, word, by):
    """Return a category's code, raised if its coin, a bit of ``word``, falls on right."""
    right = (~word >> (np.uint64(v) & _LAST)) & _ONE
    return np.int64(v) | np.int64(right << by)


@subkernel
def toss(columns, f, n_codes, bench, rows):
    """Gather a column of categories, raised as their coins fall, into ``columns.x``.

    Returns two ends, and whether a value is missing. The ends are missing if all are, equal if one category
    occurs, on either side if some are raised and some are not; else the first is the smallest.

    rows (n_rows,) uint32.
    """
    node, values, x, words = bench.node[0], columns.values, columns.x, bench.scratch.keys
    start, n, key, column = node.start, node.n, node.key, f * columns.step
    short, missing_value, by = x.dtype.type, missing_of(values), _raise_by(values)
    blocks, sides = np.uint64(n_codes + 63) >> _BLOCK, np.int64(0)
    tabled = blocks <= np.uint64(n)
    if tabled:
        for b in range(blocks):
            words[b] = coins(key, f, b)
    for i in range(n):
        v = values[column + rows[start + np.uint64(i)]]
        lost = np.int64(v == missing_value)
        block = (np.uint64(v) >> _BLOCK) & (np.uint64(lost) - _ONE)
        word = words[block] if tabled else coins(key, f, block)
        k = _raised(v, word, by)
        # bit 0: one stays, bit 1: one is raised, bit 2: one is missing
        sides |= ((1 + (k >> np.int64(by))) & (lost - 1)) | (lost << 2)
        x[i] = k
    missing = sides & 4 != 0
    if sides & 3 == 3:
        return short(0), short(_ONE << by), missing
    low = x[0]
    for i in range(n):
        low = min(low, x[i])
    return low, largest_present(x, n, low, missing_value), missing


@inline
def last_left(low, high, x):
    """Return the threshold of raised codes between these ends.

    x (n,) int32 or int64, for its dtype.
    """
    split = x.dtype.type((_ONE << _raise_by(x)) - _ONE)
    return low if low > split or high <= split else split


@addressed
def split_by_coins(columns, bench, rows):
    """`split_by_number` for the category that was found: its coins are tossed again, and fall the same.

    rows (n_rows,) uint32, updated.
    """
    node, values, side_of = bench.node[0], columns.values, bench.scratch.side_of
    f, start, key, last, side = np.uint64(node.feature), node.start, node.key, node.last, node.side
    column, by, missing_value = f * columns.step, _raise_by(values), missing_of(values)
    several = bench.features.n_codes[f] > 64
    word, missing, many = coins(key, f, np.uint64(0)), np.int64(0), np.int64(0)
    for i in range(node.n):
        v = values[column + rows[start + np.uint64(i)]]
        if several:
            word = coins(key, f, np.uint64(v) >> _BLOCK)
        lost = np.int64(v == missing_value)
        goes = np.int64(_raised(v, word, by) <= last) | (lost & side)
        missing |= lost
        side_of[i] = goes
        many += goes
    node.many, node.missing = many, missing
    move(rows, start, node.n, side_of, bench.scratch.spare_row)
