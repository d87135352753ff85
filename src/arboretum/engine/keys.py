"""Keys of random draws, in whole numbers of Python and arrays of NumPy.

A draw is a hash of what it is for: seed → tree → level → column. Every step of such a path is the mixing
function of random.py (SplitMix64's finaliser), here for code that is not compiled. Nothing is imported
but NumPy, so that a seed can be turned into keys before anything is compiled.

>>> key_of(7, 3, 1) == key_of(key_of(7, 3), 1) != key_of(7, 1, 3)
True
>>> int(mix_array(7, np.array([3]))[0]) == key_of(7, 3)
True
"""

from __future__ import annotations

import numpy as np

__all__ = ["ALL_BITS", "key_of", "mix_array", "uniform_array"]

ALL_BITS = (1 << 64) - 1
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def key_of(seed: int, *path: int) -> int:
    """Return the 64-bit key at the end of a path of numbers from a seed."""
    z = seed & ALL_BITS
    for number in path:
        z = (z + (number + 1) * _GOLDEN) & ALL_BITS
        z = ((z ^ (z >> 30)) * _FIRST) & ALL_BITS
        z = ((z ^ (z >> 27)) * _SECOND) & ALL_BITS
        z ^= z >> 31
    return z


def mix_array(seed: int, counters: np.ndarray) -> np.ndarray:
    """Return ``key_of(seed, c)`` for every counter c."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (counters.astype(np.uint64) + np.uint64(1)) * np.uint64(_GOLDEN)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(_FIRST)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(_SECOND)
    return z ^ (z >> np.uint64(31))


def uniform_array(seed: int, n: int) -> np.ndarray:
    """Return n numbers in [0, 1), that of place i from ``key_of(seed, i)``."""
    return (mix_array(seed, np.arange(n)) >> np.uint64(11)) * (1.0 / (1 << 53))
