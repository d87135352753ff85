"""Weak learners for AdaBoost: what learns from weighted rows, and answers a little better than chance.

A learner is any function of (X, y, w) that returns a hypothesis, a function of X. Two are here:

    best_stump      one question, found by trying all: the one with the least weighted error
    tree_learner    a small CART, which splits by impurity instead; the same only sometimes

A stump has two answers; it may also give one answer to everybody (``threshold = +inf``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.cart import grow, predict, predict_proba
from arboretum.textbook.impurities import CLASS_CRITERIA
from arboretum.textbook.questions import cut_points
from arboretum.textbook.splits import Rules

__all__ = ["Stump", "all_stumps", "best_stump", "tree_learner"]

Hypothesis = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray, np.ndarray], Hypothesis]
TIE = 1e-12  # errors closer than this are equal; the first column and the lowest cut win


@dataclass(frozen=True)
class Stump:
    """``x[feature] <= threshold`` decides between two labels.

    >>> Stump(0, 2.5, -1, 1)([[1.0], [4.0]]).tolist()
    [-1, 1]
    """

    feature: int
    threshold: float
    left: int
    right: int

    def __call__(self, X: ArrayLike) -> np.ndarray:
        x = np.asarray(X, dtype=np.float64)[:, self.feature]
        return np.where(x <= self.threshold, self.left, self.right)

    def __str__(self) -> str:
        if self.left == self.right or np.isinf(self.threshold):
            return f"always {self.left}"
        return f"x{self.feature} <= {self.threshold:g} ? {self.left} : {self.right}"


def all_stumps(X: ArrayLike, labels: tuple[int, int] = (-1, 1)) -> list[Stump]:
    """Return every stump on the data: both constants, then every cut with either label on the left.

    Cuts between the same two values answer alike, so one for each (the midpoint) is enough. With a
    stump the list always has its opposite.

    >>> [str(stump) for stump in all_stumps([[1.0], [3.0]])]
    ['always -1', 'always 1', 'x0 <= 2 ? -1 : 1', 'x0 <= 2 ? 1 : -1']
    """
    X = np.asarray(X, dtype=np.float64)
    low, high = labels
    stumps = [Stump(0, np.inf, low, low), Stump(0, np.inf, high, high)]
    for feature in range(X.shape[1]):
        for cut in cut_points(X[:, feature], "numeric"):
            stumps += [Stump(feature, cut, low, high), Stump(feature, cut, high, low)]
    return stumps


def best_stump(X: ArrayLike, y: ArrayLike, w: ArrayLike) -> Stump:
    """Return the stump with the least weighted error, after trying every cut of every column.

    Given the cut, either side is best answered with its heaviest label (ties to the smallest).
    That may be the same label twice, so the constants need no trial of their own except where there
    is no cut at all.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [1, 1, -1, 1]
    >>> print(best_stump(X, y, [0.25] * 4), "/", best_stump(X, y, [0.1, 0.1, 0.5, 0.3]))
    always 1 / x0 <= 3.5 ? -1 : 1
    """
    X, y, w = np.asarray(X, dtype=np.float64), np.asarray(y), np.asarray(w, dtype=np.float64)
    if np.isnan(X).any():
        raise ValueError("a stump has no answer to a missing value; use tree_learner")
    labels, codes = np.unique(y, return_inverse=True)
    mass = np.eye(len(labels))[codes] * w[:, None]  # (n, labels): each row's weight at its label
    whole = mass.sum(axis=0)
    constant = labels[whole.argmax()].item()
    best, least = Stump(0, np.inf, constant, constant), np.inf
    for feature in range(X.shape[1]):
        for cut in cut_points(X[:, feature], "numeric"):
            left = mass[X[:, feature] <= cut].sum(axis=0)
            right = whole - left
            error = whole.sum() - left.max() - right.max()
            if error < least - TIE * whole.sum():
                answers = labels[left.argmax()].item(), labels[right.argmax()].item()
                best, least = Stump(feature, cut, *answers), error
    return best


def tree_learner(rules: Rules, *, shares: bool = False) -> Learner:
    """Return a learner that grows a CART by ``rules``; with ``shares`` it answers class shares.

    For a class criterion y holds class indices 0, 1, ...

    >>> learn = tree_learner(Rules("gini", max_depth=1), shares=True)
    >>> h = learn(np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 1]), np.ones(3) / 3)
    >>> h(np.array([[1.0], [9.0]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if shares and rules.criterion not in CLASS_CRITERIA:
        raise ValueError(f"{rules.criterion} grows a tree of numbers, which has no class shares")

    def learn(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> Hypothesis:
        tree = grow(X, y, w, rules)
        return lambda X: (predict_proba if shares else predict)(tree, X)

    return learn
