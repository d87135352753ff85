"""Numbering strings: every distinct one gets a code, in the order of their first rows.

Arrow keeps a column of strings as one run of bytes and the places where they begin:

    text      r e d b l u e r e d          row   hash slot   codes
    offsets   0     3       7     10       0     5  new        0     "red"
                                           1     2  new        1     "blue"
                                           2     5  same       0

A string is hashed into a table of slots, eight bytes at a time; where a slot is taken, its string is
compared, and another one goes on to the next slot. Columns of few distinct strings, as most are, need a
table that stays in the nearest cache: it is small at first, and the caller offers a larger one when it
is full.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel
from arboretum.engine.keys import GOLDEN

__all__ = ["number_strings"]

_ODD = np.uint64(GOLDEN)
_HALF, _BITS, _BYTE, _NEXT = np.uint64(32), np.uint64(64), np.uint64(8), np.uint64(1)


@kernel
def number_strings(offsets, text, eights, present, skipped, codes, known, slots):
    """Number the strings of a column.

    Parameters
    ----------
    offsets : int64 array (rows + 1)
        Where the strings begin in ``text``.
    text : uint8 array
    eights : uint64 array
        The eight bytes from every place of ``text`` on, but for its last seven.
    present : uint8 array
        A bit per row, that of row i at ``skipped + i``: 0 is missing. Empty: all are present.
    skipped : int
    codes : int32 array (rows), out
        Code of every row, -1 where it is missing.
    known : uint64 array (3, most), out
        Where the string of each code begins and ends in ``text``, and its hash.
    slots : int32 array, a power of two long and more than twice as long as ``known``
        To be written to; all -1 at first.

    Returns
    -------
    int
        Number of distinct strings; -1 if there are more than ``known`` has room for.
    """
    found, wrap = 0, np.uint64(len(slots) - 1)
    for row in range(len(codes)):
        bit = skipped + row
        if len(present) and not (present[bit >> 3] >> np.uint8(bit & 7)) & np.uint8(1):
            codes[row] = -1
            continue
        start, stop = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        mark, at = stop - start, start
        while at < stop:
            mark = (mark ^ _up_to_eight(text, eights, at, stop)) * _ODD
            mark ^= mark >> _HALF
            at += _BYTE
        slot = mark & wrap
        code = slots[slot]
        while code >= 0:
            if known[2, code] == mark:
                ahead = start - known[0, code]
                if stop - ahead == known[1, code]:
                    # the hash of eight bytes or fewer is that of no other string
                    at = start if stop - start > _BYTE else stop
                    while at < stop and _up_to_eight(text, eights, at, stop) == _up_to_eight(
                        text, eights, at - ahead, stop - ahead
                    ):
                        at += _BYTE
                    if at >= stop:
                        break
            slot = (slot + _NEXT) & wrap
            code = slots[slot]
        if code < 0:
            if found == known.shape[1]:
                return -1
            code = found
            slots[slot], known[0, code], known[1, code], known[2, code] = code, start, stop, mark
            found += 1
        codes[row] = code
    return found


@inline
def _up_to_eight(text, eights, at, stop):
    """Return the next eight bytes of a string as one number; zeros follow its end.

    text (n_bytes,) uint8; eights (n_bytes - 7,) uint64.
    """
    if at < np.uint64(len(eights)):
        word = eights[at]
        if stop - at < _BYTE:
            word &= (_NEXT << ((stop - at) * _BYTE)) - _NEXT
        return word
    word, shift = np.uint64(0), np.uint64(0)
    while at < stop and shift < _BITS:
        word |= np.uint64(text[at]) << shift
        shift += _BYTE
        at += _NEXT
    return word
