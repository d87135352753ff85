"""Numbers in [0, 1) that depend only on what they are for."""

from __future__ import annotations

import numpy as np

__all__ = ["chances"]


def chances(seed: int, purpose: int, turn: int, n: int) -> np.ndarray:
    """Return ``n`` uniform numbers for a purpose and a turn.

    >>> bool((chances(0, 1, 2, 5) == chances(0, 1, 2, 8)[:5]).all())
    True
    """
    from arboretum.engine.random import mix, uniform

    key = np.uint64(seed & ((1 << 64) - 1))
    with np.errstate(over="ignore"):
        for part in (purpose, turn):
            key = np.uint64(mix(key, np.uint64(part)))
        return np.array([uniform(np.uint64(mix(key, np.uint64(i)))) for i in range(n)])
