"""The combined prediction of the learners, round by round, for rows that are followed during boosting.

    add(answers, weight)  ──▶  how wrong the ensemble so far is at every row

A classifier is wrong or not, 1 or 0; for numbers it is the squared deviation.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arboretum.engine.rows.reweigh import add_votes
from arboretum.predict.leaf_values import samme_r_votes

__all__ = ["NumberTally", "SharesTally", "VoteTally"]


class VoteTally:
    """Class codes vote with the weight of their learner; the first class wins between equals.

    >>> tally = VoteTally(np.array([1, 1]), 2)
    >>> tally.add(np.array([1, 0]), 0.7).tolist(), tally.add(np.array([1, 1]), 0.9).tolist()
    ([False, True], [False, False])
    """

    def __init__(self, y: np.ndarray, n_classes: int) -> None:
        self.y, self.two = y, n_classes == 2
        self.second = y == 1
        self.first_vote = np.arange(len(y)) * n_classes
        self.total = np.zeros(len(y) if self.two else (len(y), n_classes))

    def add(self, answers: np.ndarray, weight: float) -> np.ndarray:
        """Add a round; return which rows the vote gets wrong."""
        if self.two:
            misses = np.empty(len(self.y), np.bool_)
            add_votes(answers, self.second, float(weight), self.total, misses)
            return misses
        self.total.reshape(-1)[self.first_vote + answers] += weight
        return self.total.argmax(axis=1) != self.y


class SharesTally:
    """Class probabilities vote (SAMME.R)."""

    def __init__(self, y: np.ndarray) -> None:
        self.y = y
        self.total: np.ndarray | float = 0.0

    def add(self, answers: np.ndarray, weight: float) -> np.ndarray:
        """Add a round; return which rows the vote gets wrong."""
        self.total = self.total + weight * samme_r_votes(answers, answers.shape[1])
        return np.asarray(self.total).argmax(axis=1) != self.y


class NumberTally:
    """Numbers are combined by their learners' weights."""

    def __init__(
        self, y: np.ndarray, combine: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> None:
        self.y, self.combine = y, combine
        self.answers: list[np.ndarray] = []
        self.weights: list[float] = []

    def add(self, answers: np.ndarray, weight: float) -> np.ndarray:
        """Add a round; return the squared deviations."""
        self.answers.append(answers)
        self.weights.append(weight)
        together = self.combine(np.stack(self.answers, axis=1), np.array(self.weights))
        return np.square(together - self.y)
