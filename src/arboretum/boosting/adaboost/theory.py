"""Why AdaBoost works, on a fitted model: edges, normalisers, margins and the bounds they obey.

With e_t the weighted error of round t and β_t half the estimator weight of SAMME (all of the discrete one),

    edge           γ_t = ½ - e_t
    normaliser     Z_t = (1-e_t) e^(-β_t) + e_t e^(β_t)                 2√(e_t(1-e_t)) for the best β_t
    margin         (weight for the row's class - most for another) / all weight       between -1 and 1

    share of training rows that are wrong             ≤  Π Z_t  ≤  exp(-2 Σ γ_t²)
    share of training rows whose margin is ≤ θ        ≤  Π Z_t e^(θβ_t)

Shares are counted by the weights of the first round. Why: a row's weight grows by e^(β) where a learner is
wrong and shrinks by e^(-β) where it is right, and all of them add up to Π Z_t before they are normalised; if
the votes against a row weigh no less than those for it, its own term has not shrunk. That holds for K classes
too, where wrong votes may differ; the second inequality of the first line needs the best β_t: two
classes and a learning rate of 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.data.target import encode_classes
from arboretum.engine.elementwise import exp, log
from arboretum.errors import DataError, ParameterError

__all__ = [
    "Bounds",
    "GeneralisationBound",
    "Theory",
    "bounds_of",
    "codes_among",
    "count_stumps",
    "generalisation_bound",
    "margin_bound",
    "normalisers",
    "staged_margins",
    "uniform_margin_bound",
]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds on the training error after each round."""

    product: np.ndarray  # Π Z_t
    exponential: np.ndarray  # exp(-2 Σ γ_t²)


@dataclass(frozen=True, eq=False)
class Theory:
    """The theory's figures for every round, and the errors observed; ``print`` shows a table.

    Attributes
    ----------
    error : float array
        e_t, the weighted error of the round's learner.
    edge : float array
        γ_t = ½ - e_t.
    alpha : float array
        α_t, its weight on the scale of labels -1 and 1: ½ ln((1-e)/e) with a learning rate of 1.
    normaliser : float array
        Z_t.
    product : float array
        Π Z_t so far, a bound on the training error.
    exponential : float array
        exp(-2 Σ γ_t²) so far; no less than the product for two classes and a learning rate of 1.
    train_error : float array
        Error of the vote so far, on the training rows with their first weights.
    """

    error: np.ndarray
    edge: np.ndarray
    alpha: np.ndarray
    normaliser: np.ndarray
    product: np.ndarray
    exponential: np.ndarray
    train_error: np.ndarray

    def __str__(self) -> str:
        lines = ["round   error    edge   alpha       Z  product Z  exp(-2Σγ²)  train error"]
        columns = (
            self.error, self.edge, self.alpha, self.normaliser, self.product, self.exponential,
            self.train_error,
        )  # fmt: skip
        for t, (e, g, a, z, prod, bound, train) in enumerate(zip(*columns), start=1):
            lines.append(
                f"{t:5}  {e:.4f}  {g:.4f}  {a:.4f}  {z:.4f}  {prod:9.4f}  {bound:10.4f}  {train:11.4f}"
            )
        return "\n".join(lines)


@dataclass(frozen=True)
class GeneralisationBound:
    """The bound on the error on new rows, with probability 1 - δ: the sum of three terms.

    Attributes
    ----------
    margin_share : float
        P_S[y f ≤ θ], of the training rows.
    complexity : float
        C √(log|H| / (m θ²)).
    confidence : float
        C √(log(1/δ) / m).
    n_hypotheses : int
        |H|.
    bound : float
        Their sum; useless if it exceeds 1.
    """

    margin_share: float
    complexity: float
    confidence: float
    n_hypotheses: int

    @property
    def bound(self) -> float:
        return self.margin_share + self.complexity + self.confidence


def normalisers(errors: np.ndarray, betas: np.ndarray) -> np.ndarray:
    """Return Z of every round.

    >>> normalisers(np.array([0.2]), np.array([np.log(2.0)]))
    array([0.8])
    """
    return (1 - errors) * exp(-betas) + errors * exp(betas)


def bounds_of(errors: np.ndarray, betas: np.ndarray) -> Bounds:
    """Return the bounds on the training error after each round."""
    edges = 0.5 - errors
    return Bounds(np.cumprod(normalisers(errors, betas)), exp(-2 * np.cumsum(edges * edges)))


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
    logs = log(normalisers(errors, betas)).sum() + theta * betas.sum()
    return exp(logs)[()]


def uniform_margin_bound(edge: float, theta: Any, n_rounds: int) -> Any:
    """Return ((1-2γ)^(1-θ) (1+2γ)^(1+θ))^(T/2), which falls with the rounds T where θ < γ.

    >>> float(round(uniform_margin_bound(0.2, 0.1, 100), 4))
    0.0113
    """
    theta = np.asarray(theta, dtype=np.float64)
    with np.errstate(divide="ignore"):  # γ = ½ is a perfect learner: the bound is 0
        logs = (1 - theta) * log(1 - 2 * edge) + (1 + theta) * log(1 + 2 * edge)
    return exp(n_rounds / 2 * logs)[()]


def count_stumps(matrix: Any, schema: Any) -> int:
    """Return how many different stumps there are on a table, for two classes: |H|.

    Two that predict the same class for all rows, and for every cut both ways to predict. Numbers and ranks
    are cut between neighbouring values, categories into two sets; where values are missing, each cut has
    them on either side, and "present or missing" is one more.
    """
    cuts = 0
    for f, column in enumerate(schema.columns):
        values = matrix.column(f)
        missing = bool(np.isnan(values).any())
        n = len(np.unique(values[~np.isnan(values)]))
        here = 2 ** (n - 1) - 1 if column.kind == "categorical" and n else max(n - 1, 0)
        cuts += 2 * here + (n > 0) if missing else here
    return 2 + 2 * cuts


def generalisation_bound(
    margin_share: float, theta: float, n_hypotheses: int, n_rows: int, delta: float, constant: float
) -> GeneralisationBound:
    """Return P_S[y f ≤ θ] + C (√(log|H| / (m θ²)) + √(log(1/δ) / m)).

    >>> round(generalisation_bound(0.1, 0.5, 2000, 10_000, 0.05, 1.0).bound, 4)
    0.1724
    """
    if not 0 < theta <= 1 or not 0 < delta < 1 or not constant > 0:
        raise ParameterError(
            "generalisation_bound needs 0 < theta <= 1, 0 < delta < 1 and a constant above 0, got "
            f"theta={theta!r}, delta={delta!r}, constant={constant!r}"
        )
    log_h = math.log(n_hypotheses)  # a whole number of any size
    complexity = constant * np.sqrt(log_h / n_rows) / theta
    confidence = constant * np.sqrt(log(1 / delta) / n_rows)
    return GeneralisationBound(margin_share, float(complexity), float(confidence), n_hypotheses)


def staged_margins(
    answers: Iterable[np.ndarray], estimator_weights: np.ndarray, y: np.ndarray, n_classes: int
) -> Iterator[np.ndarray]:
    """Yield the margins of the rows after each round; ``answers``: class codes, one array a round.

    >>> rounds = [np.array([0, 1]), np.array([1, 1])]
    >>> [m.tolist() for m in staged_margins(rounds, np.array([3.0, 1.0]), np.array([0, 0]), 2)]
    [[1.0, -1.0], [0.5, -1.0]]
    """
    rows = np.arange(len(y))
    given, total = np.zeros((len(y), n_classes)), 0.0
    for codes, weight in zip(answers, estimator_weights.tolist(), strict=True):
        given[rows, codes] += weight
        total += weight
        others = given.copy()
        others[rows, y] = 0.0  # with one class there is no other class
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
