"""Constants shared by the files of this room: kinds of columns, the word of a row, the flags of a cut."""

from __future__ import annotations

import numpy as np

__all__ = [
    "CATEGORIES",
    "CLEARLY",
    "FAR",
    "LEFT",
    "MET",
    "NUMBERS",
    "RANKS",
    "ROWS_PER_CELL",
    "SHIFT",
    "SLOT",
    "SLOT_BITS",
    "TIE",
    "VARIES",
]

NUMBERS, RANKS, CATEGORIES = 0, 1, 2  # kinds of a column
TIE = 1e-12  # scores that differ by less than this share are equal: the first cut wins
CLEARLY = 1 + TIE
FAR = 1.0 - 1e-6  # a column whose cuts score below this share of another's cannot be a node's best
SLOT_BITS = 8  # low bits of a row's word: its node; the others: the number that the row adds
SLOT = np.uint64((1 << SLOT_BITS) - 1)
SHIFT = np.int64(SLOT_BITS)
LEFT, MET, VARIES = 1, 2, 4  # missing go left; node has missing; node has two values (if requested)
ROWS_PER_CELL = 4  # with at least this many rows per node and code, a column is counted
