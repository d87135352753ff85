"""Why AdaBoost works, on a fitted model: edges, normalisers, margins and the bounds they obey.

With e_t the weighted error of round t and β_t half the say of SAMME (all of the discrete one),

    edge           γ_t = ½ - e_t
    normaliser     Z_t = (1-e_t) e^(-β_t) + e_t e^(β_t)                 2√(e_t(1-e_t)) for the best β_t
    margin         (say for the row's class - most say for another) / all say       between -1 and 1

    share of training rows that are wrong             ≤  Π Z_t  ≤  exp(-2 Σ γ_t²)
    share of training rows whose margin is ≤ θ        ≤  Π Z_t e^(θβ_t)

Shares are counted by the weights of the first round. Why: a row's weight grows by e^(β) where a learner is
wrong and shrinks by e^(-β) where it is right, and all of them add up to Π Z_t before they are normalised; if
the say against a row is no less than the say for it, its own part has not shrunk. That holds for K classes
too, where the wrong do not even agree; the second inequality of the first line needs the best β_t: two
classes and a learning rate of 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.data.target import encode_classes
from arboretum.errors import DataError, ParameterError

__all__ = ["Bounds", "bounds_of", "codes_among", "margin_bound", "normalisers", "staged_margins"]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds on the training error after each round."""

    product: np.ndarray  # Π Z_t
    exponential: np.ndarray  # exp(-2 Σ γ_t²)


def normalisers(errors: np.ndarray, betas: np.ndarray) -> np.ndarray:
    """Return Z of every round.

    >>> normalisers(np.array([0.2]), np.array([np.log(2.0)]))
    array([0.8])
    """
    return (1 - errors) * np.exp(-betas) + errors * np.exp(betas)


def bounds_of(errors: np.ndarray, betas: np.ndarray) -> Bounds:
    """Return the bounds on the training error after each round."""
    edges = 0.5 - errors
    return Bounds(np.cumprod(normalisers(errors, betas)), np.exp(-2 * np.cumsum(edges**2)))


def margin_bound(errors: np.ndarray, betas: np.ndarray, theta: Any) -> Any:
    """Return the bound on the share of training rows with a margin of ``theta`` or less.

    >>> e = np.array([0.2, 0.25])
    >>> beta = np.log((1 - e) / e) / 2
    >>> float(round(margin_bound(e, beta, 0.0), 4)), margin_bound(e, beta, [0.0, 0.1]).round(4)
    (0.6928, array([0.6928, 0.7845]))
    """
    theta = np.asarray(theta, dtype=np.float64)
    if not np.all(np.abs(theta) <= 1):
        raise ParameterError(f"theta of margin_bound must lie between -1 and 1, got {theta}")
    logs = np.log(normalisers(errors, betas)).sum() + theta * betas.sum()
    return np.exp(logs)[()]


def staged_margins(
    answers: Iterable[np.ndarray], says: np.ndarray, y: np.ndarray, n_classes: int
) -> Iterator[np.ndarray]:
    """Yield the margins of the rows after each round; ``answers``: class codes, one array a round.

    >>> rounds = [np.array([0, 1]), np.array([1, 1])]
    >>> [m.tolist() for m in staged_margins(rounds, np.array([3.0, 1.0]), np.array([0, 0]), 2)]
    [[1.0, -1.0], [0.5, -1.0]]
    """
    rows = np.arange(len(y))
    given, total = np.zeros((len(y), n_classes)), 0.0
    for codes, say in zip(answers, says.tolist(), strict=True):
        given[rows, codes] += say
        total += say
        others = given.copy()
        others[rows, y] = 0.0  # with one class there is nobody to lose to
        yield (given[rows, y] - others.max(axis=1)) / total


def codes_among(y: Any, classes: np.ndarray, name: str) -> np.ndarray:
    """Return the codes of labels among known classes."""
    (found, *more), codes, _ = encode_classes(y, estimator_name=name)
    if more:
        raise DataError(f"y has several columns: {name} predicts one class")
    strange = [label for label in found.tolist() if label not in set(classes.tolist())]
    if strange:
        raise DataError(f"y holds {strange[0]!r}, which is not a class {name} has learned")
    return np.searchsorted(classes, found)[codes[:, 0]]
