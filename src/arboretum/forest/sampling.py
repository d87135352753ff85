"""Which rows a tree sees: bootstrap counts that depend on (seed, tree) alone.

    tree 0   rows 3 3 1 0 4   ->   counts 1 1 0 2 1    row 2 is out of bag

Draws come from a hash of (key, number of the draw), so nothing is stored: whoever asks for the counts
of tree 17, now or after loading the model, in any thread, gets the same.
"""

from __future__ import annotations

import numpy as np

__all__ = ["bag", "draw_counts", "growing_key", "n_draws", "tree_key"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BAG, _GROW = 0xBA6, 0x6120


def _mix(key: int, counter: np.ndarray) -> np.ndarray:
    """Return 64 random bits for every counter under a key (SplitMix64, as engine/random.py)."""
    with np.errstate(over="ignore"):
        z = np.uint64(key) + (counter.astype(np.uint64) + np.uint64(1)) * _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _child(key: int, number: int) -> int:
    return int(_mix(key, np.array([number]))[0])


def tree_key(seed: int, tree: int) -> int:
    """Return the key of one tree: all its random numbers come from it."""
    return _child(seed, tree)


def growing_key(seed: int, tree: int) -> int:
    """Return the key of the draws a tree makes while it grows."""
    return _child(tree_key(seed, tree), _GROW)


def draw_counts(key: int, n: int, size: int) -> np.ndarray:
    """Return how often each of n rows is drawn in ``size`` draws with replacement.

    >>> counts = draw_counts(tree_key(1, 0), 10, 10)
    >>> int(counts.sum()), counts.dtype
    (10, dtype('float64'))
    """
    share = (_mix(_child(key, _BAG), np.arange(size)) >> np.uint64(11)) * (1.0 / (1 << 53))
    return np.bincount((share * n).astype(np.int64), minlength=n).astype(np.float64)


def n_draws(max_samples: int | float | None, n: int) -> int:
    """Return how many draws a bag makes: itself, a share of the rows, or as many as there are rows."""
    if max_samples is None:
        return n
    if isinstance(max_samples, (int, np.integer)):
        return int(max_samples)
    return max(round(n * max_samples), 1)


def bag(seed: int, tree: int, n: int, size: int | None) -> np.ndarray:
    """Return the in-bag counts of a tree; all ones if ``size`` is None: no bootstrap."""
    if size is None:
        return np.ones(n)
    return draw_counts(tree_key(seed, tree), n, size)
