"""One round of AdaBoost in formulas: how wrong is a learner, what is it worth, what do rows weigh next?

    discrete    two classes   say β = ½ ln((1-e)/e)             w e^(+β) if wrong, w e^(-β) if right
    SAMME       K classes     say   = ln((1-e)/e) + ln(K-1)     w e^say  if wrong
    SAMME.R     K classes     say   = 1                         w exp(-(K-1)/K Σ_k c_k ln p_k)
    R2          numbers       say   = ln((1-L)/L)               w (L/(1-L))^(1-l)

Weights are divided by their sum afterwards, so with two classes the first two give the same ones: a say of
SAMME is twice the discrete one. With ``learning_rate=0.5`` SAMME of two classes multiplies the wrong by e^β
and gives them a say of β, the form in which some lecture notes write AdaBoost for labels 0 and 1.

What a learner adds to the sum that decides are its *votes* (predict/votes.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arboretum.predict.votes import SMALLEST_SHARE

__all__ = [
    "R2_LOSSES",
    "Round",
    "chance_of",
    "judge_classes",
    "judge_numbers",
    "judge_shares",
    "r2_losses",
]

R2_LOSSES = ("linear", "square", "exponential")
TIE = 1e-12  # an error is no better than chance if it is so little below


@dataclass(frozen=True, eq=False)
class Round:
    """What a round found; ``weights`` are those of the next one."""

    error: float
    say: float
    weights: np.ndarray

    @property
    def perfect(self) -> bool:
        return self.error == 0


def chance_of(algorithm: str, n_classes: int) -> float:
    """Return the error of a guess.

    >>> chance_of("SAMME", 4)
    0.75
    """
    return 0.5 if algorithm == "discrete" else 1 - 1 / n_classes


# ---------------------------------------------------------------------- classes
def judge_classes(
    w: np.ndarray, wrong: np.ndarray, algorithm: str, n_classes: int, learning_rate: float
) -> Round | None:
    """Judge a learner by its mistakes; None if it is no better than chance.

    ``w`` adds up to 1.

    >>> judge_classes(np.full(4, 0.25), np.array([True, False, False, False]), "SAMME", 2, 1.0)
    Round(error=0.25, say=1.09861..., weights=array([0.5...,  0.16666667, 0.16666667, 0.16666667]))
    """
    error = float((w * wrong).sum())
    if error == 0:
        return Round(0.0, 1.0, w)
    if error >= chance_of(algorithm, n_classes) - TIE:
        return None
    log_odds = float(np.log1p(-error) - np.log(error))
    if algorithm == "discrete":
        say = learning_rate * log_odds / 2
        if_right, if_wrong = np.exp(-say), np.exp(say)
    else:
        say = learning_rate * (log_odds + float(np.log(n_classes - 1)))
        if_right, if_wrong = 1.0, np.exp(say)
    return Round(error, say, _normal(w * np.where(wrong, if_wrong, if_right)))


def judge_shares(w: np.ndarray, shares: np.ndarray, y: np.ndarray, learning_rate: float) -> Round:
    """Judge a learner by its class shares (SAMME.R); every learner has one say."""
    n_classes = shares.shape[1]
    error = float(w[shares.argmax(axis=1) != y].sum())
    if error == 0 or n_classes == 1:
        return Round(0.0, 1.0, w)
    logs = np.log(np.maximum(shares, SMALLEST_SHARE))
    own = logs[np.arange(len(y)), y]
    # Σ_k c_k ln p_k with c = 1 for the row's own class and -1/(K-1) for each of the others
    coded = own - (logs.sum(axis=1) - own) / (n_classes - 1)
    return Round(
        error, 1.0, _normal(w * np.exp(-learning_rate * (n_classes - 1) / n_classes * coded))
    )


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
        return losses**2
    return 1 - np.exp(-losses) if loss == "exponential" else losses


def judge_numbers(
    w: np.ndarray, deviations: np.ndarray, loss: str, learning_rate: float
) -> Round | None:
    """Judge a regressor by its absolute deviations (R2); None if the mean loss is a half or more.

    >>> judge_numbers(np.full(3, 1 / 3), np.array([0.0, 0.0, 2.0]), "linear", 1.0)
    Round(error=0.333..., say=0.693..., weights=array([0.25, 0.25, 0.5 ]))
    """
    losses = r2_losses(w, deviations, loss)
    error = float((w * losses).sum())  # BLAS would wake threads, and add in their order
    if error == 0:
        return Round(0.0, 1.0, w)
    if error >= 0.5 - TIE:
        return None
    beta = error / (1 - error)
    weights = _normal(w * beta ** (learning_rate * (1 - losses)))
    return Round(error, learning_rate * float(np.log(1 / beta)), weights)


def _normal(w: np.ndarray) -> np.ndarray:
    return w / w.sum()
