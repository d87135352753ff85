"""A column's codes in their order: those of a node are sorted, or taken out of a list that has all rows.

A key is a code and the place of a row in its node. A few keys are sorted by insertion, some by their ranks,
many in rounds of buckets:

    rows of the node       7    2    9    4
    code << 32 | place     31·0 12·1 31·2 08·3    sorted:  08·3  12·1  31·0  31·2
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.presort import POSITION
from arboretum.engine.compiler.decorators import subkernel

__all__ = ["HIGH", "PLACE", "sort_keys", "take_sorted"]

_TINY, _FEW = 12, 96  # so many rows are sorted by insertion, and by their ranks
PLACE = np.uint64(0xFFFFFFFF)
HIGH = np.uint64(32)
_LOW7 = np.uint32(7)
_NEW_BIT = np.uint32(31)


@subkernel
def _rank(keys, spare, short, n, low):
    """Sort up to 128 keys into ``spare``: the place of a key is the number of smaller ones.

    keys (at least n,) uint64; spare (at least n,) uint64, written; short (at least n,) uint32,
    scratch.
    """
    for i in range(n):
        short[i] = (np.uint32((keys[i] >> HIGH) - low) << _LOW7) | np.uint32(i)
    for i in range(n):
        key, smaller = short[i], np.uint32(0)
        for j in range(n):
            smaller += np.uint32(short[j] < key)
        spare[smaller] = keys[i]


@subkernel
def _deal(keys, spare, n, base, shift, width, buckets):
    """Sort into ``spare`` by ``width`` bits of the key, equal ones in their order.

    keys (at least n,) uint64; spare (at least n,) uint64, written; buckets (at least 2**width,)
    uint32, scratch.
    """
    size = 1 << width
    mask = np.uint64(size - 1)
    for d in range(size):
        buckets[d] = 0
    for i in range(n):
        buckets[((keys[i] - base) >> shift) & mask] += np.uint32(1)
    before = np.uint32(0)
    for d in range(size):
        here = buckets[d]
        buckets[d] = before
        before += here
    for i in range(n):
        key = keys[i]
        d = ((key - base) >> shift) & mask
        spare[buckets[d]] = key
        buckets[d] += np.uint32(1)


@subkernel
def sort_keys(keys, n, low, high, spare, buckets):
    """Sort keys whose codes are from ``low`` to ``high``, which differ.

    keys (at least n,) uint64, updated; spare (at least n,) uint64, scratch; buckets (n_buckets,)
    uint32, scratch.
    """
    if n <= _TINY:
        for i in range(1, n):
            key, at = keys[i], i
            while at > 0 and keys[at - 1] > key:
                keys[at] = keys[at - 1]
                at -= 1
            keys[at] = key
        return
    bits, spread = 1, high - low
    while spread >> bits:
        bits += 1
    few = n <= _FEW and bits <= 25
    if few:
        _rank(keys, spare, buckets, n, np.uint64(low))
    else:
        base, rounds = np.uint64(low) << HIGH, 1 if bits <= 8 else (2 if bits <= 22 else 4)
        width = (bits + rounds - 1) // rounds
        for turn in range(0, rounds, 2):
            shift = HIGH + np.uint64(turn * width)
            _deal(keys, spare, n, base, shift, width, buckets)
            if rounds > 1:
                _deal(spare, keys, n, base, shift + np.uint64(width), width, buckets)
    if few or bits <= 8:
        for i in range(n):
            keys[i] = spare[i]


@subkernel
def take_sorted(entries, place, start, n, keys):
    """Take the rows of a large node out of a column's list, which has all rows in order.

    Returns whether it has two values.
    ``place`` says where a row of the table stands now. Every entry is written, and overwritten unless it is
    the node's: nobody could guess which are.

    entries, place (n_rows,) uint32; keys (n_rows,) uint64, written.
    """
    at, size, rank = np.uint64(0), np.uint64(n), np.uint64(0xFFFFFFFFFFFFFFFF)
    for i in range(len(entries)):
        entry = entries[i]
        rank += np.uint64(entry >> _NEW_BIT)
        here = np.uint64(place[np.uint64(entry & POSITION)]) - start
        keys[at] = (rank << HIGH) | here
        at += np.uint64(here < size)
        if at == size:
            break
    return keys[0] >> HIGH != keys[n - 1] >> HIGH
