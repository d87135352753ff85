"""How a leaf is read: the numbers that a tree adds to the answer for a row.

A tree stores class probabilities or predicted numbers. Models read them in different ways:

    value      p           the stored numbers themselves         CART, forests, boosting
    vote       0 1 0       1 for the most probable class         forests with hard voting
    sign       ±1          the second class or the first         AdaBoost (discrete), coordinate boosting
    SAMME      -½ 1 -½     1 for the class, -1/(K-1) elsewhere   AdaBoost
    SAMME.R    (K-1)(ln p - mean ln p)                           AdaBoost of probabilities
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arboretum.engine.elementwise import log

__all__ = [
    "READINGS",
    "SMALLEST_SHARE",
    "discrete_votes",
    "read_leaves",
    "samme_r_votes",
    "samme_votes",
    "winners",
]

SMALLEST_SHARE = float(np.finfo(np.float64).eps)  # before a logarithm is taken


def winners(value: np.ndarray) -> np.ndarray:
    """Return the most probable class of every node, the first of equals, for the first output."""
    # the dtype of class codes, for fast comparisons
    return value[:, 0].argmax(axis=1).astype(np.int32)


def discrete_votes(codes: np.ndarray, n_classes: int = 2) -> np.ndarray:
    """Return -1 for class 0 and 1 for class 1, (rows, 1)."""
    return np.where(codes == 1, 1.0, -1.0)[:, None]


def samme_votes(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return 1 for the predicted class and -1/(K-1) for every other class, (rows, K)."""
    votes = np.full((len(codes), n_classes), -1.0 / max(n_classes - 1, 1))
    votes[np.arange(len(codes)), codes] = 1.0
    return votes


def samme_r_votes(shares: np.ndarray, n_classes: int) -> np.ndarray:
    """Return (K-1)(ln p - mean ln p), (rows, K)."""
    logs = log(np.maximum(shares, SMALLEST_SHARE))
    return (n_classes - 1) * (logs - logs.mean(axis=1, keepdims=True))


def _hard_votes(value: np.ndarray) -> np.ndarray:
    votes = np.zeros_like(value)
    np.put_along_axis(votes, value.argmax(axis=2)[:, :, None], 1.0, axis=2)
    return votes.reshape(len(value), -1)


READINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "value": lambda value: value.reshape(len(value), -1),
    "vote": _hard_votes,
    "sign": lambda value: discrete_votes(winners(value)),
    "SAMME": lambda value: samme_votes(winners(value), value.shape[2]),
    "SAMME.R": lambda value: samme_r_votes(value[:, 0], value.shape[2]),
}


def read_leaves(value: np.ndarray, reading: str) -> np.ndarray:
    """Return the numbers of nodes, (nodes, numbers), read from their values, (nodes, outputs, values).

    >>> read_leaves(np.array([[[0.2, 0.5, 0.3]]]), "SAMME")
    array([[-0.5,  1. , -0.5]])
    """
    return READINGS[reading](value)
