"""What labels and weights a loss takes; errors name the rows that are none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arboretum.data.checks import list_rows
from arboretum.errors import DataError

__all__ = ["DOMAINS", "check_labels", "check_weight", "weighted_mean"]

# What labels must be, and which are
DOMAINS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "any": ("finite numbers", np.isfinite),
    "above -1": ("numbers above -1", lambda y: y > -1),
    "0 or more": ("numbers of 0 or more", lambda y: y >= 0),
    "above 0": ("numbers above 0", lambda y: y > 0),
    "share": ("numbers from 0 to 1", lambda y: (y >= 0) & (y <= 1)),
    "binary": ("0 or 1", lambda y: (y == 0) | (y == 1)),
    "whole": ("whole numbers of 0 or more", lambda y: (y >= 0) & (y == np.floor(y))),
}


def check_labels(y: np.ndarray, asker: str, domain: str, n_classes: int | None = None) -> None:
    """Raise unless all labels are finite and within a domain, and classes below K.

    >>> check_labels(np.array([2.0, -1.0]), "loss='poisson'", "0 or more")
    Traceback (most recent call last):
    arboretum.errors.DataError: loss='poisson' needs labels that are numbers of 0 or more: row 1 of y ...
    """
    y = np.asarray(y)
    if y.ndim != 1 or len(y) == 0:
        raise DataError(f"y must be one column with at least one row, got shape {y.shape}")
    for phrase, holds in (DOMAINS["any"], DOMAINS[domain]):
        good = holds(y)
        if not good.all():
            rows = np.flatnonzero(~good)
            raise DataError(
                f"{asker} needs labels that are {phrase}: {list_rows(rows)} of y "
                f"{'holds' if len(rows) == 1 else 'hold'} others, first {y[rows[0]]:g}"
            )
    if n_classes is not None and y.max() >= n_classes:
        rows = np.flatnonzero(y >= n_classes)
        raise DataError(
            f"{asker} has {n_classes} classes, 0 to {n_classes - 1}: "
            f"{list_rows(rows)} of y hold others, first {y[rows[0]]:g}"
        )


def check_weight(weight: np.ndarray | None, n: int) -> None:
    """Raise unless weights are one finite number of 0 or more per row, not all 0."""
    if weight is None:
        return
    if weight.shape != (n,):
        raise DataError(f"weight has shape {weight.shape}: it must hold {n} numbers, one per row")
    good = np.isfinite(weight) & (weight >= 0)
    if not good.all():
        rows = np.flatnonzero(~good)
        raise DataError(
            f"weights must be finite numbers of 0 or more: {list_rows(rows)}, "
            f"first {weight[rows[0]]:g}"
        )
    if not weight.any():
        raise DataError("all weights are 0: at least one row must count")


def weighted_mean(values: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the mean of values by weight."""
    if weight is None:
        return float(values.mean())
    return float((values * weight).sum() / weight.sum())
