"""Rows drawn without replacement by hashes of their numbers: the k smallest keys, or row after row.

A key is a hash of the row's number, or a score turned around. The k-th smallest is found by counting the
leading 16 bits of all keys, and then only among those that share its own:

    keys      3f21 88…   09aa 13…   3f21 02…   c400 7e…      k = 3
    counts    09aa: 1    3f21: 2    c400: 1                  the third smallest begins with 3f21
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.random import mix, uniform

__all__ = [
    "chosen_rows",
    "draw_in_turn",
    "hash_keys",
    "leading_counts",
    "members_of",
    "sum_products",
]

_HEAD = np.uint64(48)  # the leading 16 bits of a key


@kernel
def hash_keys(key, keys):
    """Fill ``keys`` with the hashes of 0, 1, 2, ... under a key.

    keys (n_rows,) uint64, written.
    """
    for i in range(len(keys)):
        keys[i] = mix(key, np.uint64(i))


@kernel
def sum_products(g, h, score):
    """Fill ``score`` with Σ|g·h| of every row; g and h are (outputs, n).

    g, h (n_outputs, n_rows) float32; score (n_rows,) float64, written.
    """
    for i in range(len(score)):
        total = 0.0
        for k in range(g.shape[0]):
            total += abs(np.float64(g[k, i]) * np.float64(h[k, i]))
        score[i] = total


@kernel
def leading_counts(keys, counts):
    """Count the keys by their leading 16 bits.

    keys (n_rows,) uint64; counts (65536,) int64, added to.
    """
    for i in range(len(keys)):
        counts[keys[i] >> _HEAD] += 1


@kernel
def members_of(keys, head, members):
    """Write the keys with these leading bits to ``members``.

    keys (n_rows,) uint64; members (n_members,) uint64, written.
    """
    at = 0
    for i in range(len(keys)):
        if keys[i] >> _HEAD == head:
            members[at] = keys[i]
            at += 1


@kernel
def chosen_rows(keys, limit, ties, out):
    """Write the rows whose key is below the limit, and the first ``ties`` that equal it.

    keys (n_rows,) uint64; out (k,) uint32, written.
    """
    at = 0
    for i in range(len(keys)):
        if keys[i] == limit:
            if ties == 0:
                continue
            ties -= 1
        elif keys[i] > limit:
            continue
        out[at] = i
        at += 1


@kernel
def draw_in_turn(key, rows, wanted, inside):
    """Mark ``wanted`` of these rows, every choice of them as likely as any other.

    Row after row is taken with probability (still wanted) / (still to come). A draw depends on the
    key and the row alone.

    rows (n,) int64; inside (n_rows,) uint8, written.
    """
    need, left = wanted, len(rows)
    for i in range(len(rows)):
        if uniform(mix(key, np.uint64(rows[i]))) * left < need:
            inside[rows[i]] = 1
            need -= 1
        left -= 1
