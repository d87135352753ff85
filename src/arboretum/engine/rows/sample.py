"""Rows drawn without replacement: which rows a round of stochastic boosting sees, and their order."""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.presort import MISSING, NEW, POSITION
from arboretum.engine.jit import kernel
from arboretum.engine.random import mix, uniform

__all__ = ["draw_bag", "keep_inside"]


@kernel
def draw_bag(key, rows, wanted, inside):
    """Mark ``wanted`` of these rows, every choice of them as likely as any other.

    Row after row is taken with probability (still wanted) / (still to come). A draw depends on the
    key and the row alone.
    """
    need, left = wanted, len(rows)
    for i in range(len(rows)):
        if uniform(mix(key, np.uint64(rows[i]))) * left < need:
            inside[rows[i]] = 1
            need -= 1
        left -= 1


@kernel
def keep_inside(lists, columns, inside, present, out):
    """Copy the order of some columns without the rows that are not inside.

    ``present`` is filled with how many entries are not missing. A value whose first row is left out begins
    with the next.
    """
    for f in columns:
        entries, kept = lists[f], out[f]
        n, mark, known = np.uint64(0), np.uint32(0), np.uint64(0)
        for i in range(len(entries)):
            if n == np.uint64(len(kept)):
                break
            entry = entries[i]
            stays = np.uint32(inside[np.uint64(entry & POSITION)])
            mark |= entry & NEW
            kept[n] = (
                entry & ~NEW
            ) | mark  # overwritten unless it stays: a branch would be a guess
            mark *= np.uint32(1) - stays
            known += np.uint64(stays & np.uint32(entry & MISSING == 0))
            n += np.uint64(stays)
        present[f] = np.int64(known)
