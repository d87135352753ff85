"""Rows drawn without replacement: which rows a round of stochastic boosting sees."""

from __future__ import annotations

import numpy as np

from arboretum.engine.jit import kernel
from arboretum.engine.random import mix, uniform

__all__ = ["draw_bag"]


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
