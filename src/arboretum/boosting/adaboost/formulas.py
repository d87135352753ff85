"""One round of AdaBoost in formulas: the error of a learner, its weight, and the next weights of the rows.

    discrete    two classes   β = ½ ln((1-e)/e)                w e^(+β) if wrong, w e^(-β) if right
    SAMME       K classes     α = ln((1-e)/e) + ln(K-1)        w e^α    if wrong
    SAMME.R     K classes     1                                w exp(-(K-1)/K Σ_k c_k ln p_k)
    R2          numbers       ln((1-L)/L)                      w (L/(1-L))^(1-l)

First comes the estimator weight, called amount of say in some books, then the next weight of a row. That is
divided by the sum afterwards, so with two classes the first two give the same: α is twice β. With
``learning_rate=0.5`` SAMME for two classes multiplies wrong rows by e^β and has an estimator weight of β, the
form in which some lecture notes write AdaBoost for labels 0 and 1.

However well a row is predicted, it keeps SMALLEST_WEIGHT of all weight, else rates above 1 would soon leave
a handful of rows in the table. If a rate is so large that weights overflow, boosting ends (`overflown`).

A learner's terms in the deciding sum are its *votes* (predict/leaf_values.py).

A tally keeps the combined prediction of the learners for rows that are followed during boosting:

    add(answers, weight)  ──▶  how wrong the ensemble so far is at every row

A classifier is wrong or not, 1 or 0; for numbers it is the squared deviation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arboretum.engine.elementwise import exp, log, log1p
from arboretum.engine.rows.reweigh import add_votes, mark_mistakes, multiply_weights
from arboretum.predict.leaf_values import SMALLEST_SHARE, samme_r_votes

__all__ = [
    "R2_LOSSES",
    "NumberTally",
    "SharesTally",
    "Verdict",
    "VoteTally",
    "chance_of",
    "r2_losses",
    "weigh_by_deviations",
    "weigh_by_mistakes",
    "weigh_by_shares",
]


R2_LOSSES = ("linear", "square", "exponential")
SMALLEST_WEIGHT = float(np.finfo(np.float64).eps)
LARGEST_EXPONENT = 700.0  # e to this power is finite
TIE = 1e-12  # an error this little below chance is no better than chance


@dataclass(frozen=True, eq=False)
class Verdict:
    """A learner's error, its weight, and the weights of the rows in the next round."""

    error: float
    estimator_weight: float
    weights: np.ndarray

    @property
    def perfect(self) -> bool:
        return self.error == 0

    @property
    def overflown(self) -> bool:
        """Whether the weights of the next round are not finite."""
        return bool(len(self.weights)) and not np.isfinite(self.weights[0])


def chance_of(algorithm: str, n_classes: int) -> float:
    """Return the error of a guess.

    >>> chance_of("SAMME", 4)
    0.75
    """
    return 0.5 if algorithm == "discrete" else 1 - 1 / n_classes


# ---------------------------------------------------------------------- classes
def weigh_by_mistakes(
    w: np.ndarray, wrong: np.ndarray, algorithm: str, n_classes: int, learning_rate: float
) -> Verdict | None:
    """Weigh a learner by its mistakes; None if it is no better than chance.

    ``w`` adds up to 1.

    >>> weigh_by_mistakes(np.full(3, 1 / 3), np.array([True, False, False]), "SAMME", 2, 1.0)
    Verdict(error=0.333..., estimator_weight=0.693..., weights=array([0.5 , 0.25, 0.25]))
    """
    new = np.empty_like(w)
    mark_mistakes(wrong, w, new)
    error = float(new.sum())
    if error == 0:
        return Verdict(0.0, 1.0, w)
    if error >= chance_of(algorithm, n_classes) - TIE:
        return None
    log_error, log_others = log(np.array([error, n_classes - 1.0])).tolist()
    log_odds = float(log1p(-error)) - log_error
    if algorithm == "discrete":
        weight = learning_rate * log_odds / 2
        if_right, if_wrong = -weight, weight
    else:
        weight = learning_rate * (log_odds + log_others)
        if_right, if_wrong = 0.0, weight
    if if_wrong > LARGEST_EXPONENT:
        return Verdict(error, weight, _in_logs(w, np.where(wrong, if_wrong, if_right)))
    right, mistaken = exp(np.array([if_right, if_wrong])).tolist()
    multiply_weights(w, wrong, right, mistaken, new)
    return Verdict(error, weight, _next(w, new))


def weigh_by_shares(
    w: np.ndarray, shares: np.ndarray, y: np.ndarray, learning_rate: float
) -> Verdict:
    """Weigh a learner by its class probabilities (SAMME.R); every learner counts 1."""
    n_classes = shares.shape[1]
    error = float(w[shares.argmax(axis=1) != y].sum())
    if error == 0 or n_classes == 1:
        return Verdict(0.0, 1.0, w)
    logs = log(np.maximum(shares, SMALLEST_SHARE))
    own = logs[np.arange(len(y)), y]
    # Σ_k c_k ln p_k with c = 1 for the row's own class and -1/(K-1) for each of the others
    coded = own - (logs.sum(axis=1) - own) / (n_classes - 1)
    exponent = -learning_rate * (n_classes - 1) / n_classes * coded
    if exponent.max() > LARGEST_EXPONENT:
        return Verdict(error, 1.0, _in_logs(w, exponent))
    return Verdict(error, 1.0, _next(w, w * exp(exponent)))


# ---------------------------------------------------------------------- numbers
def r2_losses(w: np.ndarray, deviations: np.ndarray, loss: str) -> np.ndarray:
    """Return losses between 0 and 1: deviations over the largest among rows that have weight.

    >>> r2_losses(np.array([1.0, 1.0, 0.0]), np.array([1.0, 2.0, 9.0]), "square")
    array([0.25, 1.  , 0.  ])
    """
    counts = w > 0
    largest = deviations[counts].max()
    losses = np.where(counts, deviations / largest if largest > 0 else 0.0, 0.0)
    if loss == "square":
        return losses * losses
    return 1 - exp(-losses) if loss == "exponential" else losses


def weigh_by_deviations(
    w: np.ndarray, deviations: np.ndarray, loss: str, learning_rate: float
) -> Verdict | None:
    """Weigh a regressor by its absolute deviations (R2); None if the mean loss is a half or more.

    >>> weigh_by_deviations(np.full(3, 1 / 3), np.array([0.0, 0.0, 2.0]), "linear", 1.0)
    Verdict(error=0.333..., estimator_weight=0.693..., weights=array([0.25, 0.25, 0.5 ]))
    """
    losses = r2_losses(w, deviations, loss)
    error = float((w * losses).sum())  # BLAS would wake threads, and add in their order
    if error == 0:
        return Verdict(0.0, 1.0, w)
    if error >= 0.5 - TIE:
        return None
    beta = error / (1 - error)
    log_beta = float(log(beta))
    weights = _next(w, w * exp(log_beta * (learning_rate * (1 - losses))))  # β to that power
    return Verdict(error, -learning_rate * log_beta, weights)


def _in_logs(w: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Return the next weights, w e^exponent, where e^exponent alone would overflow."""
    return _next(w, exp(log(w) + exponent))


def _next(w: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Scale new weights to a sum of 1; rows that had a weight keep one. NaN if the sum is not finite."""
    total = new.sum()
    if not 0.0 < total < np.inf:
        return np.full(len(w), np.nan)
    new /= total
    if new.min() >= SMALLEST_WEIGHT:
        return new
    return np.maximum(new, SMALLEST_WEIGHT, out=new, where=w > 0)


# ---------------------------------------------------------------------- votes so far
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
