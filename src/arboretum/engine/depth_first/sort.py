"""A column's codes in their order: a node's rows are sorted by insertion if they are few, else in buckets.

A key is a code and the place of a row in its node:

    rows of the node       7    2    9    4
    code << 32 | place     31·0 12·1 31·2 08·3    sorted:  08·3  12·1  31·0  31·2
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import subkernel

__all__ = ["HIGH", "PLACE", "sort_keys"]

_TINY = 12  # up to this many rows are sorted by insertion
PLACE = np.uint64(0xFFFFFFFF)
HIGH = np.uint64(32)


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
    base, rounds = np.uint64(low) << HIGH, 1 if bits <= 8 else (2 if bits <= 22 else 4)
    width = (bits + rounds - 1) // rounds
    for turn in range(0, rounds, 2):
        shift = HIGH + np.uint64(turn * width)
        _deal(keys, spare, n, base, shift, width, buckets)
        if rounds > 1:
            _deal(spare, keys, n, base, shift + np.uint64(width), width, buckets)
    if rounds == 1:
        for i in range(n):
            keys[i] = spare[i]
