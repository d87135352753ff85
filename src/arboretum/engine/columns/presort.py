"""Sorting a column once: the presorted list every exact search reads.

A list entry is one uint32 with the number of a row and how its value compares with the entry before:

    bit 31    NEW       the value differs from the entry before it: a cut may fall here
    bit 30    MISSING   the value is missing; these entries stand at the end
    bit 0-29  position  where the row stands in its node (see rows/partition.py)

    column    3.0  1.5  nan  1.5  7.0
    entries   1*   3    0*   4*   2*!         (* NEW, ! MISSING)

A scan therefore needs neither the values nor their codes, only this list. To sort fast, the leading bits of
the float64 (made to order like an unsigned integer) and the row number share one uint64, which NumPy
sorts with vector instructions; entries that agree in those leading bits are put right afterwards.
"""

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel

__all__ = ["MAX_ROWS", "MISSING", "NEW", "POSITION", "ranks_of", "sort_column"]

NEW = np.uint32(1 << 31)
MISSING = np.uint32(1 << 30)
POSITION = np.uint32((1 << 30) - 1)
MAX_ROWS = 1 << 30

_SIGN = np.uint64(1 << 63)
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_LONGEST_RUN = 64


def sort_column(values: np.ndarray, out: np.ndarray, keys: np.ndarray | None = None) -> int:
    """Write the entries of a float64 column (NaN is missing) to ``out``; return its distinct values.

    ``keys`` is scratch, as many uint64 as there are values.

    >>> out = np.empty(5, np.uint32)
    >>> sort_column(np.array([3.0, 1.5, np.nan, 1.5, 7.0]), out)
    3
    >>> (out & POSITION).tolist(), (out >> 31).tolist()
    ([1, 3, 0, 4, 2], [1, 0, 1, 1, 1])
    """
    n = len(values)
    row_bits = max(1, int(n - 1).bit_length())
    keys = np.empty(n, np.uint64) if keys is None else keys
    _pack(values.view(np.uint64), values, np.uint64(row_bits), keys)
    keys.sort()
    distinct = _unpack(keys, values, np.uint64(row_bits), out)
    if distinct < 0:  # long runs of values that differ only in their last bits
        order = np.argsort(values, kind="stable")
        distinct = _from_order(order, values, out)
    return distinct


@kernel
def ranks_of(entries, distinct, codes):
    """Write the rank of every row's value, which is ``distinct`` if it is missing.

    entries (n_rows,) uint32; codes (n_rows,) uint32, written.
    """
    rank = np.int64(-1)
    for i in range(len(entries)):
        rank += np.int64(entries[i] >> np.uint32(31))
        missing = entries[i] & MISSING
        codes[np.uint64(entries[i] & POSITION)] = distinct if missing else rank


@kernel
def _pack(bits, values, row_bits, keys):
    """Leading bits of the value above, row number below; a missing value is the largest key.

    bits (n_rows,) uint64, those of ``values``; values (n_rows,) float64; keys (n_rows,) uint64, written.
    """
    for i in range(len(values)):
        b = bits[i]
        if values[i] == 0.0:  # -0.0 and 0.0 are one value
            b = np.uint64(0)
        b = b ^ (_ONES if b >> np.uint64(63) else _SIGN)
        if np.isnan(values[i]):
            b = _ONES
        keys[i] = ((b >> row_bits) << row_bits) | np.uint64(i)


@inline
def _insertion_sort(keys, values, low, start, end):
    """Sort the keys ``start:end``, whose leading bits agree, by their values.

    keys (n_rows,) uint64, updated; values (n_rows,) float64.
    """
    for i in range(start + 1, end):
        key = keys[i]
        value = values[np.int64(key & low)]
        j = i - 1
        while j >= start and values[np.int64(keys[j] & low)] > value:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@kernel
def _unpack(keys, values, row_bits, out):
    """Turn sorted keys into entries; return the number of distinct values, or -1 to give up.

    keys (n_rows,) uint64, updated; values (n_rows,) float64; out (n_rows,) uint32, written.
    """
    n = len(keys)
    low = (np.uint64(1) << row_bits) - np.uint64(1)
    distinct = 0
    start = 0
    while start < n:
        head = keys[start] >> row_bits
        end = start + 1
        while end < n and keys[end] >> row_bits == head:
            end += 1
        first = values[np.int64(keys[start] & low)]
        missing = np.isnan(first)
        if end - start > 1 and not missing:
            same = True
            for i in range(start + 1, end):
                if values[np.int64(keys[i] & low)] != first:
                    same = False
                    break
            if not same:
                if end - start > _LONGEST_RUN:
                    return -1
                _insertion_sort(keys, values, low, start, end)
        for i in range(start, end):
            row = np.uint32(keys[i] & low)
            if missing:
                out[i] = row | (MISSING | NEW if i == start else MISSING)
            elif i == start or values[np.int64(row)] != values[np.int64(keys[i - 1] & low)]:
                out[i] = row | NEW
                distinct += 1
            else:
                out[i] = row
        start = end
    return distinct


@kernel
def _from_order(order, values, out):
    """Turn the order of the values into entries; return the number of distinct values.

    order (n_rows,) int64; values (n_rows,) float64; out (n_rows,) uint32, written.
    """
    distinct = 0
    for i in range(len(order)):
        row = order[i]
        value = values[row]
        if np.isnan(value):
            first = i == 0 or not np.isnan(values[order[i - 1]])
            out[i] = np.uint32(row) | (MISSING | NEW if first else MISSING)
        elif i == 0 or value != values[order[i - 1]]:
            out[i] = np.uint32(row) | NEW
            distinct += 1
        else:
            out[i] = np.uint32(row)
    return distinct
