"""How wrong an answer is on held-out rows: smaller is better, and guessing has a loss too.

    log      mean of -log(probability of the class that came), clipped; for regression the root mean square
    brier    root of the mean squared distance between probabilities and what came; the same for regression

Boosters fit the first. Forests, single trees and AdaBoost answer with probabilities of 0 and 1, of which
one wrong one would decide the first, so they are held to the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["guess", "loss", "relative_loss"]

_LEAST_PROBABILITY = 1e-6
_FLOOR = 1e-3  # of the loss of guessing: below, both are as good as perfect


def loss(kind: str, y: np.ndarray, answer: np.ndarray) -> float:
    """Return the loss of predicted numbers (1-d) or probabilities of classes 0, 1, … (2-d).

    Examples
    --------
    >>> y = np.array([0, 1])
    >>> round(loss("log", y, np.array([[1.0, 0.0], [0.5, 0.5]])), 4)  # half of log 2
    0.3466
    >>> loss("brier", y, np.array([[1.0, 0.0], [0.5, 0.5]]))
    0.5
    >>> loss("log", np.array([1.0, 3.0]), np.array([1.0, 5.0])) ** 2
    2.0
    """
    answer = np.asarray(answer, dtype=np.float64)
    if answer.ndim == 1:
        return float(np.sqrt(np.mean((answer - y) ** 2)))
    if kind == "log":
        came = np.clip(answer[np.arange(len(y)), y], _LEAST_PROBABILITY, 1.0)
        return float(-np.log(came).mean())
    truth = np.zeros_like(answer)
    truth[np.arange(len(y)), y] = 1.0
    return float(np.sqrt(((answer - truth) ** 2).sum(axis=1).mean()))


def guess(kind: str, y: np.ndarray, y_test: np.ndarray, regression: bool) -> float:
    """Return the loss of answering every row with the mean, or the class shares, of the training rows."""
    if regression:
        return loss(kind, y_test, np.full(len(y_test), y.mean()))
    shares = np.bincount(y, minlength=max(y.max(), y_test.max()) + 1) / len(y)
    return loss(kind, y_test, np.tile(shares, (len(y_test), 1)))


def relative_loss(ours: Any, theirs: Any, guessing: Any) -> float:
    """Return mean loss over mean loss; below 1 is better than the peer.

    A thousandth of the loss of guessing is added to either: where both are all but perfect, the ratio of two
    tiny numbers says nothing.

    Examples
    --------
    >>> round(relative_loss([0.2, 0.4], [0.3, 0.3], [1.0, 1.0]), 3)
    1.0
    >>> round(relative_loss([1e-6], [1e-9], [1.0]), 3)
    1.001
    """
    floor = _FLOOR * float(np.mean(guessing))
    return (float(np.mean(ours)) + floor) / (float(np.mean(theirs)) + floor)
