"""Rows drawn at random: the ways in which bags, forests and boosters draw them.

    way                 may a row come twice?     who
    draw_counts         yes, all alike            forests, bagging
    draw_by_weight      yes, heavy ones oftener   AdaBoost that resamples, bagging of what cannot weigh rows
    smallest            no, by the least keys     bagging, XGBoost, LightGBM and its GOSS
    draw_in_turn        no, one after another     Friedman's boosting

They differ because models that exist must stay what they are. All numbers are hashes of (key, number), so
nothing is stored: whoever asks for the rows of tree 17, now or after loading the model, in any thread, gets
the same. What a model keeps of its draws is in bags.py.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.keys import key_of

__all__ = [
    "draw_by_weight",
    "draw_counts",
    "draw_in_turn",
    "growing_key",
    "hashes",
    "n_draws",
    "smallest",
    "tree_key",
]

_BAG, _GROW = 0xBA6, 0x6120


def tree_key(seed: int, tree: int) -> int:
    """Return the key of one tree: all its random numbers come from it."""
    return key_of(seed, tree)


def growing_key(seed: int, tree: int) -> int:
    """Return the key of the draws a tree makes while it grows."""
    return key_of(seed, tree, _GROW)


def n_draws(max_samples: int | float | None, n: int) -> int:
    """Return how many draws a bag makes: itself, a share of the rows, or as many as there are rows."""
    if max_samples is None:
        return n
    if isinstance(max_samples, (int, np.integer)):
        return int(max_samples)
    return max(round(n * max_samples), 1)


# ---------------------------------------------------------------------- with replacement
def draw_counts(key: int, n: int, size: int) -> np.ndarray:
    """Return how often each of n rows is drawn in ``size`` draws with replacement.

    >>> counts = draw_counts(tree_key(1, 0), 10, 10)
    >>> int(counts.sum()), counts.dtype
    (10, dtype('float64'))
    """
    from arboretum.engine.random import draw_rows

    counts = np.zeros(n)
    draw_rows(np.uint64(key_of(key, _BAG)), size, counts)
    return counts


def draw_by_weight(w: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the rows that numbers in [0, 1) draw: row i owns a stretch of length w_i.

    >>> draw_by_weight(np.array([0.1, 0.2, 0.7]), np.array([0.05, 0.1, 0.29, 0.31, 0.99]))
    array([0, 1, 1, 2, 2])
    """
    ends = np.cumsum(w) / w.sum()
    rows = np.searchsorted(ends, shares, side="right")
    return np.minimum(rows, np.flatnonzero(w)[-1])  # the last end may round to less than 1


# ---------------------------------------------------------------------- without
def hashes(key: int, n: int) -> np.ndarray:
    """Return the uint64 hashes of 0 to n - 1 under a key."""
    from arboretum.engine.rows.sample import hash_keys

    keys = np.empty(n, np.uint64)
    hash_keys(np.uint64(key), keys)
    return keys


def smallest(keys: np.ndarray, k: int) -> np.ndarray:
    """Return in order the places of the k smallest uint64 keys, of equals the first.

    >>> smallest(np.array([7, 3, 9, 3], np.uint64), 3).tolist(), len(smallest(hashes(5, 100), 30))
    ([0, 1, 3], 30)
    """
    from arboretum.engine.rows.sample import chosen_rows, leading_counts, members_of

    if k >= len(keys):
        return np.arange(len(keys), dtype=np.uint32)
    out = np.empty(k, np.uint32)
    if k == 0:
        return out
    counts = np.zeros(1 << 16, np.int64)
    leading_counts(keys, counts)
    below = np.cumsum(counts)
    head = int(np.searchsorted(below, k))  # the k-th smallest key begins with these bits
    rank = k - int(below[head] - counts[head])
    members = np.empty(counts[head], np.uint64)
    members_of(keys, np.uint64(head), members)
    limit = np.partition(members, rank - 1)[rank - 1]
    chosen_rows(keys, limit, rank - np.count_nonzero(members < limit), out)
    return out


def draw_in_turn(key: int, n: int, k: int, w: np.ndarray | None = None) -> np.ndarray:
    """Return n marks, 1 for k rows that are drawn one after another; see the loop in engine/rows/sample.py.

    If all of them weigh nothing, as many are drawn anew from those that do.

    >>> int(draw_in_turn(3, 10, 4).sum())
    4
    >>> draw_in_turn(3, 5, 2, np.array([0.0, 0, 1, 0, 0]))
    array([0, 0, 1, 0, 0], dtype=uint8)
    """
    from arboretum.engine.rows import sample

    drawn = np.zeros(n, np.uint8)
    sample.draw_in_turn(np.uint64(key), np.arange(n), k, drawn)
    if w is not None and not w[drawn == 1].any():
        drawn[:] = 0
        some = np.flatnonzero(w)
        sample.draw_in_turn(np.uint64(key), some, min(k, len(some)), drawn)
    return drawn
