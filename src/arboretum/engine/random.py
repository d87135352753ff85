"""The random numbers of keys.py inside kernels: a hash of (key, counter)."""

import math

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.keys import GOLDEN, STEPS

__all__ = ["child_keys", "draw_features", "draw_rows", "mix", "normal", "pick_column", "uniform"]

_GOLDEN, _ONE = np.uint64(GOLDEN), np.uint64(1)
(_S1, _M1), (_S2, _M2), (_S3, _) = ((np.uint64(s), np.uint64(m)) for s, m in STEPS)
_S16, _LOW16, _QUARTERS = np.uint64(16), np.uint64(0xFFFF), 4
_TO_UNIT = math.sqrt(3.0) / 65536.0  # four quarters have a variance of 4/12
_S11 = np.uint64(11)  # float64 has 53 of 64 bits


@inline
def mix(key, counter):
    """Return 64 random bits for ``counter`` under ``key`` (both uint64)."""
    z = key + (counter + _ONE) * _GOLDEN
    z = (z ^ (z >> _S1)) * _M1
    z = (z ^ (z >> _S2)) * _M2
    return z ^ (z >> _S3)


@inline
def uniform(bits):
    """Turn 64 random bits into a number in [0, 1)."""
    return np.float64(bits >> _S11) * (1.0 / 9007199254740992.0)


@inline
def normal(bits):
    """Turn 64 random bits into a number that is nearly normal, of mean 0 and variance 1."""
    total = np.int64(0)
    for _ in range(_QUARTERS):
        total += np.int64(bits & _LOW16)
        bits >>= _S16
    return np.float64(total - 131070) * _TO_UNIT


@kernel
def child_keys(parents, keys):
    """Fill ``keys[2 i + side]``: a child's key depends only on its parent's key and its side.

    parents (n,) uint64; keys (2 * n,) uint64, written.
    """
    for i in range(len(parents)):
        keys[2 * i] = mix(parents[i], np.uint64(0))
        keys[2 * i + 1] = mix(parents[i], np.uint64(1))


@subkernel
def pick_column(node_key, turn, order):
    """Put a random one of the entries not drawn yet at ``order[turn]`` (Fisher-Yates); return it.

    order (n_columns,) int64, updated.
    """
    n = len(order)
    if turn == 0:
        for f in range(n):
            order[f] = f
    key = mix(node_key, np.uint64(0xFEA7))
    # converted via a signed integer, for which processors have an instruction
    other = np.uint64(turn) + np.uint64(np.int64(uniform(mix(key, np.uint64(turn))) * (n - turn)))
    picked = order[other]
    order[other] = order[turn]
    order[turn] = picked
    return picked


@kernel
def draw_features(keys, order):
    """Fill each node's row of ``order`` with a random permutation of the features.

    keys (n_nodes,) uint64; order (n_nodes, n_columns) int64, written.
    """
    for k in range(len(keys)):
        for turn in range(order.shape[1]):
            pick_column(keys[k], turn, order[k])


@kernel
def draw_rows(key, size, counts):
    """Draw ``size`` rows with replacement; add to ``counts`` how often each is drawn.

    counts (n_rows,) float64, added to.
    """
    n = len(counts)
    for i in range(size):
        counts[np.uint64(uniform(mix(key, np.uint64(i))) * n)] += 1.0
