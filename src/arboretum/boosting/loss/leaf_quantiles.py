"""Quantiles as the two programs take them: the start and the leaves of losses made of straight lines.

Both go by places in the sorted values, x₀ <= … <= x_{n-1}, with straight lines between neighbours:

    XGBoost    the value at place α (n + 1) - 1
    LightGBM   the value at place α (n - 1)

With weights XGBoost takes the first value whose share of the weight so far reaches α. LightGBM finds the
first that exceeds it: between its neighbour below and itself, as far as the missing weight is part of
its own; if it weighs less than 1, the neighbour below.
"""

from __future__ import annotations

import numpy as np

__all__ = ["quantile"]


def quantile(values: np.ndarray, level: float, weight: np.ndarray | None, dialect: str) -> float:
    """Return a quantile of values, at least one, by the rule of a dialect.

    Examples
    --------
    >>> quantile(np.array([4.0, 1.0, 2.0]), 0.5, None, "xgboost")
    2.0
    """
    if len(values) == 1:
        return float(values[0])
    if weight is None:
        n = len(values)
        return _at(values, level * (n + 1) - 1 if dialect == "xgboost" else level * (n - 1))
    order = np.argsort(values, kind="stable")
    weighted = _weighted_xgboost if dialect == "xgboost" else _weighted_lightgbm
    return weighted(values[order], np.cumsum(weight[order]), level)


def _at(values: np.ndarray, place: float) -> float:
    """Return the value at a place of the sorted values, between two of them in proportion."""
    place = min(max(place, 0.0), len(values) - 1.0)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    chosen = np.partition(values, (below, above))
    return float(chosen[below] + (place - below) * (chosen[above] - chosen[below]))


def _weighted_xgboost(values: np.ndarray, so_far: np.ndarray, level: float) -> float:
    at = int(np.searchsorted(so_far, level * so_far[-1], side="left"))
    return float(values[min(at, len(values) - 1)])


def _weighted_lightgbm(values: np.ndarray, so_far: np.ndarray, level: float) -> float:
    wanted = level * so_far[-1]
    at = min(int(np.searchsorted(so_far, wanted, side="right")), len(values) - 1)
    if at == 0 or at == len(values) - 1:
        return float(values[at])
    below, own = so_far[at - 1], so_far[at] - so_far[at - 1]
    part = (wanted - below) / own if own >= 1 else 0.0
    return float(values[at - 1] + part * (values[at] - values[at - 1]))
