"""How mixed is a set of rows? The impurity measures of CART, each next to its formula.

Notation: y the targets of the rows at a node, w their weights, W = Σ w_i, p_k the weighted share of
class k, ȳ the weighted mean, m the weighted median.

    classes    gini             1 - Σ p_k²
               entropy          -Σ p_k log2 p_k          ("log_loss" is the same number)
               error            1 - max p_k              what the best single answer gets wrong
    numbers    squared_error    Σ w_i (y_i - ȳ)² / W
               absolute_error   Σ w_i |y_i - m| / W
               poisson          Σ w_i y_i log(y_i / ȳ) / W     (half the deviance; 0 log 0 = 0)
               friedman_mse     as squared_error; splits go by Friedman's score (see there)

A split of a node (weight W_t, of W in the whole tree) is worth the impurity it removes:

    gain = W_t/W · (imp - W_L/W_t · imp_L - W_R/W_t · imp_R)

With several targets per row every measure is the plain mean over the targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "CLASS_CRITERIA",
    "CRITERIA",
    "Branch",
    "InformationGain",
    "absolute_error",
    "best_value",
    "class_weights",
    "conditional_entropy",
    "entropy",
    "friedman_improvement",
    "gini",
    "impurity",
    "impurity_decrease",
    "information_gain",
    "misclassification",
    "poisson_deviance",
    "squared_error",
    "weighted_mean",
    "weighted_median",
]

CLASS_CRITERIA = ("gini", "entropy", "log_loss", "error")
CRITERIA = (*CLASS_CRITERIA, "squared_error", "absolute_error", "poisson", "friedman_mse")


# ---------------------------------------------------------------------- classes
def class_weights(y: ArrayLike, w: ArrayLike | None = None, n_classes: int = 0) -> np.ndarray:
    """Return the weight of every class; ``y`` holds class indices 0, 1, ...

    >>> class_weights([0, 1, 1, 2], n_classes=4).tolist()
    [1.0, 2.0, 1.0, 0.0]
    """
    y = np.asarray(y, dtype=np.int64)
    return np.bincount(y, weights=_weights(y, w), minlength=n_classes)


def gini(weights: ArrayLike) -> float:
    """Return Gini(D) = 1 - Σ p_k² for the weights (counts) of the classes.

    >>> gini([5, 5]), gini([10, 0])
    (0.5, 0.0)
    """
    p = _shares(weights)
    return float(1.0 - np.sum(p * p))


def misclassification(weights: ArrayLike) -> float:
    """Return 1 - max p_k, the share that is wrong if all rows are given the heaviest class.

    >>> misclassification([5, 3, 2]), misclassification([10, 0])
    (0.5, 0.0)
    """
    return float(1.0 - _shares(weights).max())


def entropy(weights: ArrayLike, base: float = 2.0) -> float:
    """Return H(D) = -Σ p_k log p_k for the weights (counts) of the classes, in bits by default.

    >>> entropy([1, 1])
    1.0
    >>> round(entropy([9, 5]), 3)
    0.94
    """
    p = _shares(weights)
    p = p[p > 0]  # 0 log 0 = 0
    return float(np.sum(p * -np.log2(p)) / np.log2(base))


# ---------------------------------------------------------------------- information gain
@dataclass(frozen=True)
class Branch:
    """The rows that share one value of the attribute."""

    value: object
    share: float  # |D_i| / |D|
    entropy: float  # H(D_i)


@dataclass(frozen=True)
class InformationGain:
    """The figures behind g(D, A) = H(D) - H(D|A)."""

    entropy: float  # H(D)
    branches: tuple[Branch, ...]

    @property
    def conditional(self) -> float:
        """H(D|A) = Σ |D_i|/|D| · H(D_i)."""
        return sum(branch.share * branch.entropy for branch in self.branches)

    @property
    def gain(self) -> float:
        """g(D, A) = H(D) - H(D|A)."""
        return self.entropy - self.conditional

    @property
    def split_information(self) -> float:
        """H_A(D): the entropy of the branch sizes."""
        return entropy([branch.share for branch in self.branches])

    @property
    def ratio(self) -> float:
        """C4.5's gain ratio g(D, A) / H_A(D); 0 when the attribute has a single value."""
        return self.gain / self.split_information if len(self.branches) > 1 else 0.0


def information_gain(y: ArrayLike, a: ArrayLike, w: ArrayLike | None = None) -> InformationGain:
    """Return the information of attribute ``a`` about the class ``y``.

    Is a person taller than 190 cm (a), and an NBA player (y)?

    >>> tall = ["yes", "no", "yes", "no", "yes"]
    >>> player = ["yes", "yes", "no", "no", "yes"]
    >>> figures = information_gain(player, tall)
    >>> round(figures.entropy, 3), [(b.value, round(b.entropy, 3)) for b in figures.branches]
    (0.971, [('no', 1.0), ('yes', 0.918)])
    >>> round(figures.gain, 5)
    0.01997
    """
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    values, branch_of = np.unique(np.asarray(a), return_inverse=True)
    if len(codes) != len(branch_of) or not len(codes):
        rows = f"{len(codes)} and {len(branch_of)}"
        raise ValueError(f"y and a need the same number of rows, at least one, got {rows}")
    w = _weights(codes, w)
    branches = []
    for i, value in enumerate(values.tolist()):
        inside = branch_of == i
        counts = class_weights(codes[inside], w[inside], len(classes))
        branches.append(Branch(value, float(counts.sum() / w.sum()), entropy(counts)))
    return InformationGain(entropy(class_weights(codes, w)), tuple(branches))


def conditional_entropy(y: ArrayLike, a: ArrayLike, w: ArrayLike | None = None) -> float:
    """Return H(D|A), the entropy left once the attribute is known, in bits.

    >>> conditional_entropy([0, 0, 1, 1], ["a", "a", "b", "b"])
    0.0
    """
    return information_gain(y, a, w).conditional


# ---------------------------------------------------------------------- numbers
def weighted_mean(y: ArrayLike, w: ArrayLike | None = None) -> float:
    """Return ȳ = Σ w_i y_i / W.

    >>> weighted_mean([1.0, 2.0, 6.0], [1, 1, 2])
    3.75
    """
    y = np.asarray(y, dtype=np.float64)
    w = _weights(y, w)
    origin = y[0]  # counting from a member makes the mean of equal numbers exactly that number
    return float(origin + np.sum(w * (y - origin)) / w.sum())


def weighted_median(y: ArrayLike, w: ArrayLike | None = None) -> float:
    """Return the middle of the lower and the upper weighted median.

    The lower one is the first value at which the weight so far reaches half of the total, the upper
    one the first at which it exceeds half. They differ only if the half is reached exactly.

    >>> weighted_median([1, 2, 3, 10]), weighted_median([1, 2, 3], [1, 1, 5])
    (2.5, 3.0)
    """
    y = np.asarray(y, dtype=np.float64)
    w = _weights(y, w)
    y, w = y[w > 0], w[w > 0]
    order = np.argsort(y, kind="stable")
    y, so_far = y[order], np.cumsum(w[order])
    half = so_far[-1] / 2
    lower = y[np.searchsorted(so_far, half, side="left")]
    upper = y[np.searchsorted(so_far, half, side="right")]
    return float(lower / 2 + upper / 2)


def squared_error(y: ArrayLike, w: ArrayLike | None = None) -> float:
    """Return the weighted variance Σ w_i (y_i - ȳ)² / W.

    >>> squared_error([1, 2, 3, 6])
    3.5
    """
    y = np.asarray(y, dtype=np.float64)
    w = _weights(y, w)
    return float(np.sum(w * (y - weighted_mean(y, w)) ** 2) / w.sum())


def absolute_error(y: ArrayLike, w: ArrayLike | None = None) -> float:
    """Return the mean distance from the weighted median, Σ w_i |y_i - m| / W.

    >>> absolute_error([1, 2, 3, 6])
    1.5
    """
    y = np.asarray(y, dtype=np.float64)
    w = _weights(y, w)
    return float(np.sum(w * np.abs(y - weighted_median(y, w))) / w.sum())


def poisson_deviance(y: ArrayLike, w: ArrayLike | None = None) -> float:
    """Return half the Poisson deviance of counts from their mean, Σ w_i y_i log(y_i/ȳ) / W.

    The rest of the deviance, Σ w_i (ȳ - y_i), is zero because ȳ is the mean.

    >>> poisson_deviance([3, 3, 3]), round(poisson_deviance([0, 2]), 4)
    (0.0, 0.6931)
    """
    y = np.asarray(y, dtype=np.float64)
    w = _weights(y, w)
    seen = y > 0  # 0 log 0 = 0
    ratio = y[seen] / weighted_mean(y, w)
    return float(np.sum(w[seen] * y[seen] * np.log(ratio)) / w.sum())


def friedman_improvement(y: ArrayLike, left: ArrayLike, w: ArrayLike | None = None) -> float:
    """Return Friedman's score of a split, W_L W_R / (W_L + W_R) · (ȳ_L - ȳ_R)².

    It is W_t times the decrease of the squared error, so both rank the splits of a node alike. With
    several targets it is not: ȳ is then the mean over the targets, so opposite moves cancel out.

    >>> y = [1.0, 2.0, 3.0, 6.0]
    >>> friedman_improvement(y, [True, True, False, False])
    9.0
    >>> 4 * (squared_error(y) - squared_error(y[:2]) / 2 - squared_error(y[2:]) / 2)
    9.0
    """
    targets = np.asarray(y, dtype=np.float64)
    mean = targets.reshape(len(targets), -1).mean(axis=1)
    left = np.asarray(left, dtype=bool)
    w = _weights(mean, w)
    w_left, w_right = w[left].sum(), w[~left].sum()
    difference = weighted_mean(mean[left], w[left]) - weighted_mean(mean[~left], w[~left])
    return float(w_left * w_right / (w_left + w_right) * difference**2)


# ---------------------------------------------------------------------- any criterion
def impurity(
    criterion: str,
    y: ArrayLike,
    w: ArrayLike | None = None,
    n_classes: int | Sequence[int] | None = None,
) -> float:
    """Return the impurity of a set of rows, averaged over the targets.

    Parameters
    ----------
    criterion : str
        One of ``CRITERIA``.
    y : array of shape (n,) or (n, n_outputs)
        Class indices for gini, entropy and log_loss; numbers otherwise.
    w : array of shape (n,), optional
        Row weights; 1 each by default.
    n_classes : int or one int per output, optional
        Only fixes how many classes are counted; it never changes the impurity.

    Examples
    --------
    >>> impurity("gini", [0, 0, 1, 1]), impurity("squared_error", [0, 0, 1, 1])
    (0.5, 0.25)
    """
    if criterion not in CRITERIA:
        raise ValueError(f"unknown criterion {criterion!r}; choose one of {', '.join(CRITERIA)}")
    columns = np.asarray(y).reshape(len(np.asarray(y)), -1).T
    if criterion in CLASS_CRITERIA:
        measure = {"gini": gini, "error": misclassification}.get(criterion, entropy)
        sizes = _sizes(n_classes, len(columns))
        parts = [measure(class_weights(c, w, size)) for c, size in zip(columns, sizes)]
    elif criterion == "absolute_error":
        parts = [absolute_error(column, w) for column in columns]
    elif criterion == "poisson":
        parts = [poisson_deviance(column, w) for column in columns]
    else:  # squared_error and friedman_mse
        parts = [squared_error(column, w) for column in columns]
    return sum(parts) / len(parts)


def best_value(
    criterion: str,
    y: ArrayLike,
    w: ArrayLike | None = None,
    n_classes: int | Sequence[int] | None = None,
) -> np.ndarray:
    """Return the answer that suits a set of rows best, of shape (n_outputs, n_values).

    Class shares for classes (padded with zeros where outputs differ in their number of classes),
    the weighted median for absolute_error, the weighted mean for the other numbers.

    >>> best_value("gini", [0, 1, 1, 1], n_classes=3).tolist()
    [[0.25, 0.75, 0.0]]
    >>> best_value("absolute_error", [1, 2, 9]).tolist()
    [[2.0]]
    """
    columns = np.asarray(y).reshape(len(np.asarray(y)), -1).T
    if criterion not in CLASS_CRITERIA:
        center = weighted_median if criterion == "absolute_error" else weighted_mean
        return np.array([[center(column, w)] for column in columns])
    width = max(*_sizes(n_classes, len(columns)), int(columns.max()) + 1)
    return np.array([_shares(class_weights(column, w, width)) for column in columns])


def impurity_decrease(
    total: float,
    weights: tuple[float, float],
    node: float,
    left: float,
    right: float,
) -> float:
    """Return W_t/W · (imp - W_L/W_t · imp_L - W_R/W_t · imp_R).

    Parameters
    ----------
    total : float
        W, the weight of all training rows.
    weights : (float, float)
        W_L and W_R; W_t is their sum.
    node, left, right : float
        The three impurities.

    Examples
    --------
    A node with half of all rows, Gini 0.5, is split into two pure halves:

    >>> impurity_decrease(20.0, (5.0, 5.0), 0.5, 0.0, 0.0)
    0.25
    """
    w_left, w_right = weights
    w_node = w_left + w_right
    after = w_left / w_node * left + w_right / w_node * right
    return float(w_node / total * (node - after))


# ---------------------------------------------------------------------- helpers
def _weights(y: np.ndarray, w: ArrayLike | None) -> np.ndarray:
    return np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)


def _shares(weights: ArrayLike) -> np.ndarray:
    weights = np.asarray(weights, dtype=np.float64)
    return weights / weights.sum()


def _sizes(n_classes: int | Sequence[int] | None, n_outputs: int) -> list[int]:
    if n_classes is None or isinstance(n_classes, int):
        return [n_classes or 0] * n_outputs
    return list(n_classes)
