"""A random division of categories: a coin for each says whether it goes left.

Codes whose coin says right are raised above all others. Then they are numbers with a threshold between
the two kinds; should all coins fall alike, the lowest code is the threshold, and goes left alone.

    codes of the node     3   0   5   3         coins: 0 and 3 right, 5 left
    raised               3'  0'   5  3'         left: up to the last that is not raised

Coins are keyed by node, column and category: they can be tossed again, and fall the same. Nobody can guess
them, so no loop over rows asks which way one fell: a processor that guesses wrong is slow.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import addressed, inline, subkernel
from arboretum.engine.split.random import coins

__all__ = [
    "largest_present",
    "last_left",
    "missing_of",
    "part_coins",
    "part_tossed",
    "raise_by",
    "raised",
    "toss",
]
__all__ += ["word_of"]

_ZERO, _ONE, _LAST = np.uint64(0), np.uint64(1), np.uint64(63)


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


@subkernel
def word_of(key, f, block):
    """Return the coins of 64 categories of a column: bit c is 1 if ``64 block + c`` goes left."""
    return coins(key, f, block)


@inline
def raise_by(column):
    """Return the bit that raises a code above all others; a missing value has it anyway.

    column (n,) int32 or int64, for its dtype.
    """
    return np.uint64(8 * column.itemsize - 2)


@inline
def raised(v, word, by):
    """Return a category's code, raised if its coin, a bit of ``word``, says right."""
    right = (~word >> (np.uint64(v) & _LAST)) & _ONE
    return np.int64(v) | np.int64(right << by)


@subkernel
def _toss_few(values, column, rows, start, n, word, x):
    """Raise up to 63 categories; return those that occur as the bits of a number, missing as the last.

    values (n_columns * n_rows,) int32 or int64; rows (n_rows,) uint32; x (at least n,) int32 or
    int64, written.
    """
    seen, by = np.uint64(0), raise_by(values)
    for i in range(n):
        v = values[column + rows[start + np.uint64(i)]]
        seen |= _ONE << (np.uint64(v) & _LAST)
        x[i] = raised(v, word, by)
    return seen


@subkernel
def _toss_many(values, column, f, rows, start, n, key, n_codes, words, x):
    """Raise any number of categories; return 1 if one stays, plus 2 if one is raised, 4 if one is missing.

    values (n_columns * n_rows,) int32 or int64; rows (n_rows,) uint32; words (n_rows,) uint64, scratch;
    x (at least n,) int32 or int64, written.
    """
    missing_value, by, sides = np.int64(missing_of(values)), raise_by(values), np.int64(0)
    blocks = np.uint64(n_codes + 63) >> np.uint64(6)
    tabled = blocks <= np.uint64(n)
    if tabled:
        for b in range(blocks):
            words[b] = word_of(key, f, b)
    for i in range(n):
        v = values[column + rows[start + np.uint64(i)]]
        lost = np.int64(np.int64(v) == missing_value)
        block = (np.uint64(v) >> np.uint64(6)) & (np.uint64(lost) - _ONE)
        word = words[block] if tabled else word_of(key, f, block)
        k = raised(v, word, by)
        sides |= ((1 + (k >> np.int64(by))) & (lost - 1)) | (lost << 2)
        x[i] = k
    return sides


@subkernel
def _ends_present(x, n, missing_value):
    """Return the smallest value, and the largest that is not missing.

    x (at least n,) int32 or int64.
    """
    low = x[0]
    for i in range(n):
        low = min(low, x[i])
    return low, largest_present(x, n, low, missing_value)


@subkernel
def _lowest(bits):
    """Return the place of the lowest bit that is set."""
    alone, place, step = bits & (~bits + _ONE), np.uint64(0), np.uint64(32)
    while step > _ZERO:
        over = np.uint64(alone >> step != _ZERO) * step
        alone >>= over
        place += over
        step >>= _ONE
    return place


@inline
def toss(values, column, f, rows, start, n, key, n_codes, x, words):
    """Gather a column of categories, raised as their coins say.

    ``words`` is scratch for the coins, 64 in each, as many as there are rows. Returns two ends, and
    whether a value is missing. The ends are missing if all are, equal if one category occurs, on either
    side if some are raised and some are not; else the first is the smallest.

    values (n_columns * n_rows,) int32 or int64; rows (n_rows,) uint32; x (at least n,) int32 or
    int64, written; words (n_rows,) uint64.
    """
    short, missing_value, by = x.dtype.type, missing_of(x), raise_by(x)
    if n_codes <= 63:
        word = word_of(key, f, _ZERO)
        seen = _toss_few(values, column, rows, start, n, word, x)
        present = seen & ~(_ONE << _LAST)
        missing = present != seen
        if present == _ZERO:
            return missing_value, missing_value, missing
        if present & word != _ZERO and present & ~word != _ZERO:
            return short(0), short(_ONE << by), missing
        low = short(raised(_lowest(present), word, by))
        return low, low + short(present & (present - _ONE) != _ZERO), missing
    sides = _toss_many(values, column, f, rows, start, n, key, n_codes, words, x)
    missing = sides & 4 != 0
    if sides & 3 == 3:
        return short(0), short(_ONE << by), missing
    low, high = _ends_present(x, n, missing_value)
    return low, high, missing


@inline
def last_left(low, high, x):
    """Return the threshold of raised codes between these ends.

    x (n,) int32 or int64, for its dtype.
    """
    split = x.dtype.type((_ONE << raise_by(x)) - _ONE)
    return low if low > split or high <= split else split


@subkernel
def part_tossed(values, column, f, n_codes, last, side, rows, start, n, key, spare, side_of):
    """`part_numbers` for categories: the coins are tossed again, and are the same.

    values (n_columns * n_rows,) int32 or int64; rows (n_rows,) uint32, updated; spare (at least n,)
    uint32, scratch; side_of (at least n,) uint8, written.
    """
    missing_value, by, many_words = np.int64(missing_of(values)), raise_by(values), n_codes > 64
    at, others, missing, word = start, np.uint64(0), np.int64(0), word_of(key, f, _ZERO)
    for i in range(n):
        row = rows[start + np.uint64(i)]
        v = values[column + row]
        if many_words:
            word = word_of(key, f, np.uint64(v) >> np.uint64(6))
        lost = np.int64(np.int64(v) == missing_value)
        goes = np.int64(raised(v, word, by) <= last) | (lost & side)
        missing |= lost
        side_of[i] = goes
        rows[at] = row
        spare[others] = row
        at += np.uint64(goes)
        others += np.uint64(1 - goes)
    for i in range(np.int64(others)):
        rows[at + np.uint64(i)] = spare[i]
    return np.int64(at - start), missing > 0


@addressed
def part_coins(columns, bench, rows):
    """Part the rows of a node by the coins of the category that its search has found.

    rows (n_rows,) uint32, updated.
    """
    node, scratch = bench.node[0], bench.scratch
    f = np.uint64(node.feature)
    node.many, node.missing = part_tossed(
        columns.values, f * columns.step, f, bench.features.n_codes[f], node.last, node.side, rows,
        node.start, node.n, node.key, scratch.spare_row, scratch.side_of,
    )  # fmt: skip
