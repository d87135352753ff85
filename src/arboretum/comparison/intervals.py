"""Means, intervals and paired differences of the scores of folds.

Folds share training rows, so their scores are more alike than independent ones. Nadeau and Bengio's
correction widens the variance of their mean from s²/J to

    s² (1/J + test rows / training rows),

and intervals and tests use Student's t with J - 1 degrees of freedom (Inference for the generalization error,
Machine Learning 52, 2003). Holm's procedure adjusts the p-values of several tests.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

__all__ = ["Difference", "Estimate", "difference", "estimate", "holm"]


class Estimate(NamedTuple):
    """A mean over folds, its standard error, and the ends of its 95 % interval."""

    value: float
    error: float
    low: float
    high: float


class Difference(NamedTuple):
    """The mean difference of two models over the same folds, and the p-value of there being none."""

    value: float
    low: float
    high: float
    p: float


def estimate(scores: np.ndarray, overlap: float) -> Estimate:
    """Return the mean of the scores of folds with its corrected interval.

    >>> estimate(np.array([0.8, 0.9, 0.85, 0.85, 0.8]), 0.25).value.__round__(2)
    0.84
    """
    J, value = len(scores), float(np.mean(scores))
    if J < 2 or not np.isfinite(value):
        return Estimate(value, math.nan, value, value)
    error = math.sqrt(float(np.var(scores, ddof=1)) * (1 / J + overlap))
    reach = float(stats.t.ppf(0.975, J - 1)) * error
    return Estimate(value, error, value - reach, value + reach)


def difference(first: np.ndarray, second: np.ndarray, overlap: float) -> Difference:
    """Return the corrected paired t-test of two models' scores of the same folds.

    >>> difference(np.array([3.0, 2.0]), np.array([3.0, 2.0]), 0.25)
    Difference(value=0.0, low=0.0, high=0.0, p=1.0)
    """
    found = estimate(np.asarray(first) - np.asarray(second), overlap)
    if not found.error > 0:  # the same difference in all folds, or no interval
        same = found.value == 0 or math.isnan(found.error)
        return Difference(found.value, found.low, found.high, 1.0 if same else 0.0)
    t = abs(found.value) / found.error
    return Difference(found.value, found.low, found.high, float(2 * stats.t.sf(t, len(first) - 1)))


def holm(p: np.ndarray) -> np.ndarray:
    """Return p-values adjusted for their number by Holm's procedure.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    scaled = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted
