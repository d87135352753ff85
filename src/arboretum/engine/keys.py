"""Random numbers without a generator, as Python integers and NumPy arrays; random.py has the compiled form.

A draw is a hash of its purpose: seed → tree → level → column. It never depends on how many draws came before
it or on which thread makes it. Every step of such a path is SplitMix64's finaliser (Steele, Lea and Flood
2014), whose output passes the usual statistical test batteries for consecutive counters. Only NumPy
is imported at first, so that a seed can be turned into keys before anything is compiled.

>>> key_of(7, 3, 1) == key_of(key_of(7, 3), 1) != key_of(7, 1, 3)
True
>>> int(mix_array(7, np.array([3]))[0]) == key_of(7, 3)
True
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "ALL_BITS",
    "GOLDEN",
    "LARGEST_SEED",
    "STEPS",
    "key_of",
    "mix_array",
    "seed_from",
    "uniform_array",
]

ALL_BITS = (1 << 64) - 1
LARGEST_SEED = (1 << 32) - 1  # of a RandomState
GOLDEN = 0x9E3779B97F4A7C15  # 2^64 / golden ratio, odd: the factor of counters
# shift, xor and multiply, twice; then shift and xor once more
STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


def key_of(seed: int, *path: int) -> int:
    """Return the 64-bit key at the end of a path of numbers from a seed."""
    z = seed & ALL_BITS
    for number in path:
        z = (z + (number + 1) * GOLDEN) & ALL_BITS
        for shift, factor in STEPS:
            z = ((z ^ (z >> shift)) * factor) & ALL_BITS
    return z


def mix_array(seed: int, counters: np.ndarray) -> np.ndarray:
    """Return ``key_of(seed, c)`` for every counter c."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (counters.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN)
        for shift, factor in STEPS:
            z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return z


def uniform_array(seed: int, n: int) -> np.ndarray:
    """Return n numbers in [0, 1); number i comes from ``key_of(seed, i)``."""
    return (mix_array(seed, np.arange(n)) >> np.uint64(11)) * (1.0 / (1 << 53))


def seed_from(random_state: Any) -> int:
    """Return a 64-bit seed from None, an int, a RandomState or a Generator (scikit-learn's rule).

    None reads NumPy's global generator, which `np.random.seed` sets. An int above `LARGEST_SEED`, which no
    RandomState takes, is the seed itself.

    >>> seed_from(2**40 + 7) == 2**40 + 7, seed_from(7) == seed_from(7) != 7
    (True, True)
    """
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63))
    plain = isinstance(random_state, int) and random_state >= 0  # once per tree of boosting
    if plain and random_state > LARGEST_SEED:
        return random_state
    from sklearn.utils import check_random_state

    rng = np.random.RandomState(random_state) if plain else check_random_state(random_state)
    return int(rng.randint(0, 2**31 - 1)) << 31 | int(rng.randint(0, 2**31 - 1))
