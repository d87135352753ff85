"""Weighted quantiles, by the conventions of the losses and peers that use them.

Values are sorted, x₀ <= … <= x_{n-1}, and their weights cumulated, as whole numbers on a grid
(`weight_grid`), so that no sum depends on an order. All conventions agree on a large table; on a leaf of five
rows they do not:

    convention   without weights               with weights
    lower        x at ⌈α n⌉ - 1                the first value at which the cumulative weight reaches α of all
    xgboost      between, at α (n + 1) - 1     as lower
    lightgbm     between, at α (n - 1)         the first value that exceeds α of all: between its neighbour
                                               below and itself, in proportion to the missing part of its
                                               weight; the neighbour if it weighs less than 1
    scikit-learn between, at α (n - 1)         as lower

    y        1.0   2.0   4.0   9.0
    weight   .25   .25   .40   .10
    so far   .25   .50   .90  1.00      lower: α = .5 is 2.0, α = .8 is 4.0

"lower" always returns a value of the data. It is also the convention of quantile forests and of the nodes
that minimise absolute error, whose compiled loops never sort a row's values: see
`engine.predict.leaf_quantile` and `engine.split.absolute` (which takes the mean of both
values where two halves have equal weights).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["weight_grid", "weighted_quantile"]

_SUM_BITS = 61  # of the weights on their grid


def weighted_quantile(
    x: np.ndarray, alpha: float, weight: np.ndarray | None = None, convention: str = "lower"
) -> Any:
    """Return the α-quantile of values, at least one.

    Parameters
    ----------
    x : float64 array of shape (n,), or (m, n) for the quantiles of m rows under "lower" with weights
    alpha : float in (0, 1)
    weight : float64 array of shape (n,) or None
        Of 0 or more, not all 0.
    convention : {"lower", "xgboost", "lightgbm", "scikit-learn"}

    Returns
    -------
    float, or float64 array of shape (m,)

    Examples
    --------
    >>> x = np.array([8.0, 1, 2, 4])
    >>> [weighted_quantile(x, 0.5, None, c) for c in ("lower", "xgboost", "lightgbm")]
    [2.0, 3.0, 3.0]
    >>> weighted_quantile(np.array([[3.0, 1.0, 2.0]]), 0.5, np.array([0.2, 0.4, 0.4]))
    array([2.])
    """
    n = x.shape[-1]
    if weight is None:
        if convention == "lower":
            place = int(np.ceil(alpha * n)) - 1
            return float(np.partition(x, place)[place])
        return _between(x, alpha * (n + 1) - 1 if convention == "xgboost" else alpha * (n - 1))
    unit = weight_grid(float(weight.max()), n)
    whole = np.rint(weight * unit).astype(np.int64)
    order = np.argsort(x, axis=-1, kind="stable")
    if convention == "lightgbm":
        return _exceeding(x[order], whole[order], alpha, unit)
    so_far = np.cumsum(whole[order], axis=-1).astype(np.float64)
    first = (so_far >= alpha * so_far[..., -1:]).argmax(axis=-1)
    if x.ndim == 1:
        return float(x[order[first]])
    rows = np.arange(len(x))
    return x[rows, order[rows, first]]


def weight_grid(most: float, n: int) -> float:
    """Return how many units a weight of 1 has, if ``most`` is the largest of n weights.

    A power of two, so that whole weights stay in proportion, for which a sum of n weights has less than
    62 bits.

    >>> weight_grid(1.0, 1000) == 2.0**50
    True
    """
    return math.ldexp(1.0, min(_SUM_BITS - math.frexp(n)[1] - math.frexp(most)[1], 1000))


def _between(values: np.ndarray, place: float) -> float:
    """Return the value at a fractional position of the sorted values, interpolated."""
    place = min(max(place, 0.0), len(values) - 1.0)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    chosen = np.partition(values, (below, above))
    return float(chosen[below] + (place - below) * (chosen[above] - chosen[below]))


def _exceeding(values: np.ndarray, whole: np.ndarray, alpha: float, unit: float) -> float:
    so_far = np.cumsum(whole).astype(np.float64)
    wanted = alpha * so_far[-1]
    at = min(int(np.searchsorted(so_far, wanted, side="right")), len(values) - 1)
    if at == 0 or at == len(values) - 1:
        return float(values[at])
    # its weight as given: a difference of rounded sums can be less than 1 where the weight is 1
    part = (wanted - so_far[at - 1]) / whole[at] if whole[at] >= unit else 0.0
    return float(values[at - 1] + part * (values[at] - values[at - 1]))
