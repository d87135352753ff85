"""Which categories of a column get a bin of their own; all others count as missing.

    XGBoost    every one, in the order of the categories
    LightGBM   the most frequent first. A category of fewer than ``min_data_in_bin`` rows gets none, unless it
               is one of the first two; nor do the rest once 99 % of the rows have bins and ``max_bin``
               bins are used up. The bin of missing values counts as one of them.

``max_bin`` thus never cuts off what holds 99 % of the rows: it is a limit for numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arboretum.grow.bins.bins import MOST_BINS

__all__ = ["every_category", "frequent_categories"]

Keep = Callable[[np.ndarray, bool], np.ndarray]
"""From how often each category occurs, and whether values are missing, to the categories kept."""

_SHARE = 0.99  # of the rows that must have bins


def every_category(counts: np.ndarray, has_missing: bool = False) -> np.ndarray:
    """Keep all categories up to the last that occurs; beyond 65,535 of them, the most frequent.

    >>> every_category(np.array([3, 0, 5, 0])).tolist()
    [0, 1, 2]
    """
    counts = np.trim_zeros(counts, "b")
    if len(counts) <= MOST_BINS:
        return np.arange(len(counts), dtype=np.int32)
    return np.sort(np.argsort(-counts, kind="stable")[:MOST_BINS]).astype(np.int32)


def frequent_categories(
    counts: np.ndarray, has_missing: bool = False, max_bin: int = 255, min_data_in_bin: int = 3
) -> np.ndarray:
    """Keep the categories LightGBM keeps, the most frequent first.

    >>> frequent_categories(np.array([500, 2, 800, 0, 3])).tolist()
    [2, 0, 4]
    >>> frequent_categories(np.array([1, 1, 1])).tolist()
    [0, 1]
    >>> frequent_categories(np.full(6, 50), max_bin=3).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    rows, turn = counts[order], np.arange(len(order))
    before = np.cumsum(rows) - rows
    most = min(len(order) + has_missing, max_bin)
    wanted = (before < np.floor(_SHARE * rows.sum() + 0.5)) | (turn + 1 < most)
    enough = (rows >= min_data_in_bin) | (turn < 2)
    return order[wanted & enough][:MOST_BINS].astype(np.int32)
