"""AdaBoost seen as coordinate descent: a fixed dictionary of classifiers, one coefficient each.

Given classifiers g_1, ..., g_J with answers ±1, minimise

    L(λ) = Σ_i w_i exp(-y_i Σ_j λ_j g_j(x_i))

by moving one λ_j at a time. Let v_i be the terms of the sum, divided by their sum: they are AdaBoost's
weights. Along coordinate j the loss is L · ((1-e) e^(-δ) + e e^(δ)), e = Σ v_i 1[g_j(x_i) ≠ y_i], which
is least at

    δ = ½ ln((1-e)/e)    (the amount of say, exactly)    and then L falls by the factor 2√(e(1-e)).

    order      greedy    the largest |½ - e|: the steepest coordinate, and the one that gains most
               cyclic    one after the other
               random    drawn anew every time

L is convex, so every order has the same goal; greedy is AdaBoost with the dictionary's best as its
learner. AdaBoost never looks back, but it may pick a classifier again: so may every order here, and
the steps add up in λ. Where the data can be told apart L has no minimum, only the limit 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.adaboost import amount_of_say
from arboretum.textbook.weak_learners import Hypothesis, Learner

__all__ = [
    "CoordinateRules",
    "CoordinateStep",
    "Coordinates",
    "answers_of",
    "best_of",
    "coordinate_descent",
    "coordinate_table",
]

ORDERS = ("greedy", "cyclic", "random")
TIE = 1e-12  # edges closer than this are equal; the first classifier of the dictionary wins


@dataclass(frozen=True)
class CoordinateRules:
    """How to descend."""

    order: str = "greedy"  # one of ORDERS
    n_steps: int = 1000
    tol: float = 1e-9  # converged: no edge larger than this, or that share of the loss is left
    seed: int = 0  # of the random order


DEFAULT = CoordinateRules()


@dataclass(frozen=True)
class CoordinateStep:
    """One coordinate moved to its best value."""

    number: int  # from 1
    j: int  # which classifier
    error: float  # e
    delta: float  # by how much λ_j changed
    coefficient: float  # λ_j afterwards
    loss: float  # L afterwards
    steepest: float  # the largest edge |½ - e| of any coordinate, before the step


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Where the descent ended, and how it got there."""

    coefficients: np.ndarray  # λ
    steps: tuple[CoordinateStep, ...] = field(repr=False)
    loss: float
    stop: str  # "flat", "no loss left", "perfect classifier" or "n_steps"

    @property
    def converged(self) -> bool:
        return self.stop != "n_steps"


def answers_of(dictionary: Sequence[Hypothesis], X: ArrayLike) -> np.ndarray:
    """Return what every classifier answers to every row, of shape (n, J).

    >>> from arboretum.textbook.weak_learners import all_stumps
    >>> answers_of(all_stumps([[1.0], [3.0]]), [[0.0], [9.0]]).tolist()
    [[-1, 1, -1, 1], [-1, 1, 1, -1]]
    """
    X = np.asarray(X, dtype=np.float64)
    return np.stack([np.asarray(g(X)) for g in dictionary], axis=1)


def best_of(dictionary: Sequence[Hypothesis]) -> Learner:
    """Return a learner for ``discrete_adaboost`` that picks the classifier with the least error.

    >>> from arboretum.textbook.weak_learners import all_stumps
    >>> learn = best_of(all_stumps([[1.0], [3.0]]))
    >>> print(learn(np.array([[1.0], [3.0]]), np.array([1, -1]), np.array([0.5, 0.5])))
    x0 <= 2 ? 1 : -1
    """

    def learn(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> Hypothesis:
        errors = w @ (answers_of(dictionary, X) != y[:, None]) / w.sum()
        return dictionary[int(np.argmax(errors <= errors.min() + TIE))]

    return learn


def coordinate_descent(
    answers: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    rules: CoordinateRules = DEFAULT,
) -> Coordinates:
    """Minimise the exponential loss over the coefficients of a dictionary.

    Parameters
    ----------
    answers : array of shape (n, J)
        The answers -1 and 1 of the classifiers; see ``answers_of``.
    y : array of shape (n,)
        Labels -1 and 1.
    w : array of shape (n,), optional
        Row weights; 1 each by default, so the loss begins at n.
    rules : CoordinateRules

    Returns
    -------
    Coordinates
        It ends when every coordinate is flat, when no loss is left (the rows can be told apart), or
        at a classifier that is perfect, along which there is no minimum: it gets 1, as in AdaBoost.

    Examples
    --------
    Two classifiers whose mistakes overlap in the last row; both are visited again and again:

    >>> answers, y = [[1, 1], [-1, -1], [1, -1], [1, -1], [-1, -1]], [1, -1, 1, -1, 1]
    >>> found = coordinate_descent(answers, y, rules=CoordinateRules("cyclic"))
    >>> found.stop, found.coefficients.round(4).tolist(), round(found.loss, 4)
    ('flat', [0.1733, 0.1733], 4.8284)
    """
    answers, y = np.asarray(answers, dtype=np.float64), np.asarray(y, dtype=np.float64)
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    _check(answers, y, w, rules)
    agrees, counts = answers * y[:, None], w > 0
    perfect = np.abs(agrees[counts].sum(axis=0)) == counts.sum()  # always right, or always wrong
    rng = np.random.default_rng(rules.seed)
    n, J = answers.shape
    loss = float(w.sum())
    coefficients, f, goal = np.zeros(J), np.zeros(n), rules.tol * loss
    steps: list[CoordinateStep] = []
    stop = "n_steps"
    while len(steps) < rules.n_steps:
        v = w * np.exp(-y * f)
        edges = (v / v.sum()) @ agrees / 2  # ½ - e of every classifier
        steepest = float(np.abs(edges).max())
        if steepest <= rules.tol or loss <= goal:
            stop = "flat" if steepest <= rules.tol else "no loss left"
            break
        j = _pick(rules.order, edges, len(steps), rng)
        error = float((v / v.sum())[agrees[:, j] < 0].sum())
        delta = float(agrees[counts, j][0]) if perfect[j] else amount_of_say(error)
        coefficients[j] += delta
        f = f + delta * answers[:, j]
        loss = float(w @ np.exp(-y * f))
        steps.append(
            CoordinateStep(len(steps) + 1, j, error, delta, float(coefficients[j]), loss, steepest)
        )
        if perfect[j]:
            stop = "perfect classifier"
            break
    return Coordinates(coefficients, tuple(steps), loss, stop)


def _check(answers: np.ndarray, y: np.ndarray, w: np.ndarray, rules: CoordinateRules) -> None:
    if rules.order not in ORDERS:
        raise ValueError(f"order must be one of {ORDERS}, got {rules.order!r}")
    if answers.ndim != 2 or not answers.size or not len(answers) == len(y) == len(w):
        shapes = f"answers {answers.shape}, y {y.shape} and w {w.shape}"
        raise ValueError(f"{shapes} need the same number of rows, and one classifier at least")
    if not np.all(np.abs(answers) == 1) or not np.all(np.abs(y) == 1):
        raise ValueError("answers and y must be -1 or 1: the exact step is for these only")
    if not np.all(w >= 0) or not w.sum() > 0:
        raise ValueError("weights must be ≥ 0, and one of them > 0")


def _pick(order: str, edges: np.ndarray, number: int, rng: np.random.Generator) -> int:
    if order == "cyclic":
        return number % len(edges)
    if order == "random":
        return int(rng.integers(len(edges)))
    steepest = np.abs(edges) >= np.abs(edges).max() - TIE
    # of a classifier and its opposite take the one that is better than chance, as AdaBoost does
    better = steepest & (edges > 0)
    return int(np.argmax(better if better.any() else steepest))


def coordinate_table(found: Coordinates, last: int | None = None) -> str:
    """Return one line per step (the first ``last`` of them): what moved, how far, what is left.

    >>> answers, y = [[1, 1], [-1, -1], [1, -1], [1, -1], [-1, -1]], [1, -1, 1, -1, 1]
    >>> print(coordinate_table(coordinate_descent(answers, y), last=3))
    step  classifier   error    delta   lambda       loss
       1           0  0.4000   0.2027   0.2027   4.898979
       2           1  0.4167   0.1682   0.1682   4.830459
       3           0  0.5143  -0.0286   0.1742   4.828487
    """
    lines = ["step  classifier   error    delta   lambda       loss"]
    for s in found.steps[:last]:
        lines.append(
            f"{s.number:4}  {s.j:10}  {s.error:.4f}  {s.delta:7.4f}  {s.coefficient:7.4f}"
            f"  {s.loss:9.6f}"
        )
    return "\n".join(lines)
