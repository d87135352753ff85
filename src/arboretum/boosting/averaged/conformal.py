"""Intervals and sets of the promised coverage, from the errors of held-out rows (split conformal prediction).

    numbers    the interval from prediction + q(α/2) to prediction + q(1 - α/2) of the held-out errors
    classes    all classes whose probability is at least 1 - q of the held-out (1 - probability of the class)

The errors are those of trials, which learned from fewer rows than the members: the members' own are rather
smaller. If new rows come from where the training rows came from, coverage is at least the promised one.
"""

from __future__ import annotations

import math

import numpy as np

from arboretum.base import parameters as p
from arboretum.errors import DataError, ParameterError

__all__ = ["check_coverage", "class_sets", "intervals", "kept_errors"]

_COVERAGE = p.real(0, 1, open_low=True, open_high=True)
_MOST_KEPT = 10_000


def check_coverage(coverage: float, n_held_out: int) -> None:
    """Raise if a coverage is not a share, or beyond what the held-out rows can promise."""
    if not _COVERAGE.allows(coverage):
        raise ParameterError(f"coverage must be {_COVERAGE.phrase}, got {coverage!r}")
    least = math.ceil(2 / (1 - coverage) - 1e-9) - 1
    if n_held_out < least:
        raise DataError(
            f"coverage {coverage:g} needs at least {least} held-out rows, the fit had {n_held_out}: lower "
            "coverage, or fit with more rows"
        )


def kept_errors(errors: np.ndarray) -> np.ndarray:
    """Return errors in order; of many, evenly spaced ones.

    >>> kept_errors(np.array([3.0, -1.0, 2.0])).tolist()
    [-1.0, 2.0, 3.0]
    """
    found = np.sort(errors)
    if len(found) <= _MOST_KEPT:
        return found
    return found[np.linspace(0, len(found) - 1, _MOST_KEPT).round().astype(np.int64)]


def intervals(prediction: np.ndarray, errors: np.ndarray, coverage: float) -> np.ndarray:
    """Return lower and upper ends, (rows, 2); as much is left out below as above.

    >>> intervals(np.array([10.0]), np.arange(-9.0, 10.0), 0.8).tolist()
    [[2.0, 18.0]]
    """
    check_coverage(coverage, len(errors))
    n, missed = len(errors), (1.0 - coverage) / 2
    low = max(math.floor((n + 1) * missed + 1e-9), 1) - 1
    ends = errors[low], errors[n - 1 - low]
    return np.column_stack([prediction + ends[0], prediction + ends[1]])


def class_sets(shares: np.ndarray, errors: np.ndarray, coverage: float) -> np.ndarray:
    """Return whether each class belongs to the set of a row, (rows, classes); the most probable one always.

    >>> class_sets(np.array([[0.7, 0.2, 0.1]]), np.linspace(0.05, 0.95, 19), 0.8).tolist()
    [[True, True, False]]
    """
    check_coverage(coverage, len(errors))
    n = len(errors)
    place = min(math.ceil((n + 1) * coverage - 1e-9), n) - 1
    inside = shares >= 1.0 - errors[place] - 1e-12
    inside[np.arange(len(shares)), shares.argmax(axis=1)] = True
    return inside
