"""The questions about one column: cuts between neighbouring values, divisions of categories.

    x        1  1  3  4              x <= 2.0?   x <= 3.5?          middles of neighbours (numeric)
    rank     1  1  3  4              x <= 1?     x <= 3?            every rank but the last (ordinal)
    word     rain  sunny  fog        fog? or fog, rain? or fog, sunny?      2^(m-1) - 1 of m words

A question is ``x <= threshold`` or ``x in left_categories``; a row that answers yes goes left.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

__all__ = ["KINDS", "Question", "cut_points", "cuts", "sorted_subsets", "subsets"]

KINDS = ("numeric", "ordinal", "categorical")
MOST_CATEGORIES = 20  # an exhaustive search beyond would list more than half a million subsets


@dataclass(frozen=True)
class Question:
    """A question about one column; a row that answers yes goes left."""

    feature: int
    kind: str  # "threshold": x <= threshold; "subset": x in left_categories
    threshold: float  # NaN for a subset; +inf tests whether a value is present
    left_categories: frozenset[int] = frozenset()
    right_categories: frozenset[int] = frozenset()  # a category the node has not seen is in neither

    def yes(self, x: np.ndarray) -> np.ndarray:
        """Return which of the column's values answer yes; a missing one never does."""
        if self.kind == "subset":
            return np.isin(x, sorted(self.left_categories))
        return x <= self.threshold

    def no(self, x: np.ndarray) -> np.ndarray:
        """Return which values answer no; a missing one and an unseen category never do."""
        if self.kind == "subset":
            return np.isin(x, sorted(self.right_categories))
        return x > self.threshold

    @property
    def parts(self) -> tuple[int, str, float, frozenset[int], frozenset[int]]:
        return (
            self.feature, self.kind, self.threshold, self.left_categories, self.right_categories
        )  # fmt: skip

    @property
    def tests_presence(self) -> bool:
        """Whether only missing values go one way; to the left if no category does."""
        if self.kind == "subset":
            return not (self.left_categories and self.right_categories)
        return self.threshold == np.inf

    @property
    def order(self) -> tuple[Any, ...]:
        """Sorts equally good questions: column, then threshold or subset; "present?" comes last."""
        place = self.threshold
        if self.kind == "subset":
            place = -np.inf if self.right_categories else np.inf
        return (self.feature, place, sorted(self.left_categories))


# ---------------------------------------------------------------------- numbers
def cut_points(x: np.ndarray, kind: str) -> list[float]:
    """Return the thresholds between the distinct values of a column without missing values.

    >>> cut_points(np.array([3.0, 1.0, 1.0, 4.0]), "numeric")
    [2.0, 3.5]
    >>> cut_points(np.array([3.0, 1.0, 1.0, 4.0]), "ordinal")
    [1.0, 3.0]
    """
    values = np.unique(x)
    below, above = values[:-1], values[1:]
    if kind == "ordinal":
        return below.tolist()  # every rank but the last
    middle = below / 2 + above / 2  # halves first: the sum of two large numbers overflows
    return np.where(middle >= above, below, middle).tolist()


def cuts(feature: int, x: np.ndarray, kind: str) -> list[Question]:
    """Return the questions between the distinct values of a column without missing values.

    >>> [question.threshold for question in cuts(0, np.array([3.0, 1.0, 1.0, 4.0]), "numeric")]
    [2.0, 3.5]
    """
    return [Question(feature, "threshold", t) for t in cut_points(x, kind)]


# ---------------------------------------------------------------------- categories
def subsets(x: np.ndarray) -> list[frozenset[int]]:
    """Return all 2^(m-1) - 1 ways to part the m categories present, by their left side.

    A part and its complement are the same split, so the left side is the one with the lowest code.

    >>> [sorted(left) for left in subsets(np.array([0.0, 1.0, 2.0]))]
    [[0], [0, 1], [0, 2]]
    """
    codes = np.unique(x).astype(int).tolist()
    if len(codes) > MOST_CATEGORIES:
        raise ValueError(f"{len(codes)} categories have too many subsets: use exhaustive=False")
    first, rest = codes[:1], codes[1:]
    parts = [first + list(more) for r in range(len(rest)) for more in combinations(rest, r)]
    return [frozenset(part) for part in sorted(parts)]


def sorted_subsets(
    x: np.ndarray, y: np.ndarray, w: np.ndarray, n_classes: tuple[int, ...] | None
) -> list[frozenset[int]]:
    """Return the subsets visited by a scan over the categories sorted by mean target.

    For two classes and for squared error the best subset is among these m - 1. Otherwise it is a
    heuristic: sort by the share of each class (by each target) in turn and pool all the scans.

    >>> x, y = np.array([0.0, 1.0, 2.0]), np.array([[5.0], [9.0], [7.0]])
    >>> [sorted(left) for left in sorted_subsets(x, y, np.ones(3), None)]
    [[0], [0, 2]]
    """
    if n_classes is None:
        targets = list(y.T)
    else:
        targets = [y[:, j] == k for j, size in enumerate(n_classes) for k in range(size)]
    codes, of_row = np.unique(x.astype(int), return_inverse=True)
    weight = np.bincount(of_row, weights=w)
    found = set()
    for target in targets:
        means = np.bincount(of_row, weights=w * target) / weight
        ranked = codes[np.argsort(means, kind="stable")].tolist()
        for size in range(1, len(codes)):
            part = frozenset(ranked[:size])
            found.add(part if codes[0] in part else frozenset(ranked) - part)
    return sorted(found, key=sorted)
