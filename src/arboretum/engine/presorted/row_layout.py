"""What the files of this room have in common: kinds of columns, a row's word, what is said of a cut."""

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
FAR = 1.0 - 1e-6  # a column whose cuts are so much worse than another's cannot be a node's best
SLOT_BITS = 8  # of a row's word: the node; the others: what the row adds
SLOT = np.uint64((1 << SLOT_BITS) - 1)
SHIFT = np.int64(SLOT_BITS)
LEFT, MET, VARIES = 1, 2, 4  # of missing values; the node has two values (only if asked for)
ROWS_PER_CELL = 4  # a column is counted where there are this many rows for every node and code
