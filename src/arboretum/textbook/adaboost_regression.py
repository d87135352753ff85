"""AdaBoost.R2: AdaBoost for numbers, where a prediction is more or less wrong.

    w = 1/n
    every round
        hypothesis   h, learned from the weighted rows
        losses       d_i = |y_i - h(x_i)| / the largest of them, then linear d, square d² or
                     exponential 1 - e^(-d): all between 0 and 1
        mean loss    L = Σ w_i l_i; at ½ or more the hypothesis is discarded and the boosting ends
        β            L / (1-L): below 1, the smaller the better; the say is ln(1/β)
        weights      w_i β^(1-l_i), divided by their sum Z: rows predicted well fade
    answer           the median of the hypotheses' answers, weighted by their say

The largest deviation is taken over rows that have weight. A first hypothesis is never discarded:
alone, it is the answer whatever its say.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.adaboost import AdaRules, _data, resample
from arboretum.textbook.gbm_losses import weighted_quantile
from arboretum.textbook.splits import Rules
from arboretum.textbook.weak_learners import Hypothesis, Learner, tree_learner

__all__ = ["R2Round", "TextbookR2", "adaboost_r2", "predict_r2", "r2_losses", "r2_table"]

R2_LOSSES = ("linear", "square", "exponential")
DEFAULT = AdaRules()


@dataclass(frozen=True, eq=False)
class R2Round:
    """One round and the weights it leaves behind."""

    number: int  # from 1
    hypothesis: Hypothesis = field(repr=False)
    w: np.ndarray = field(repr=False)  # at the start of the round; they add up to 1
    losses: np.ndarray = field(repr=False)  # l_i, between 0 and 1
    error: float  # L, their weighted mean
    beta: float
    say: float
    Z: float
    next_w: np.ndarray = field(repr=False)


@dataclass(frozen=True, eq=False)
class TextbookR2:
    """The rounds and why there are no more of them."""

    rules: AdaRules
    loss: str
    rounds: tuple[R2Round, ...] = field(repr=False)
    stop: str  # "n_rounds", "perfect" or "loss of a half"


def r2_losses(deviations: ArrayLike, w: ArrayLike, loss: str = "linear") -> np.ndarray:
    """Return the losses of absolute deviations, scaled by the largest among rows of weight > 0.

    >>> for loss in R2_LOSSES:
    ...     print(r2_losses([0.0, 1.0, 2.0], [1, 1, 1], loss).round(3))
    [0.  0.5 1. ]
    [0.   0.25 1.  ]
    [0.    0.393 0.632]
    """
    if loss not in R2_LOSSES:
        raise ValueError(f"loss must be one of {R2_LOSSES}, got {loss!r}")
    d = np.asarray(deviations, dtype=np.float64)
    largest = d[np.asarray(w) > 0].max()
    d = d / largest if largest > 0 else d
    if loss == "square":
        return d**2
    return 1 - np.exp(-d) if loss == "exponential" else d


def adaboost_r2(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None = None,
    rules: AdaRules = DEFAULT,
    loss: str = "linear",
    learner: Learner | None = None,
    draws: ArrayLike | None = None,
) -> TextbookR2:
    """Boost numbers and return all rounds.

    Parameters
    ----------
    X : array of shape (n, n_columns)
    y : array of shape (n,)
    w : array of shape (n,), optional
        Weights to begin with; equal by default.
    rules : AdaRules
        The coding has no meaning here. The learning rate ν makes it w_i β^(ν(1-l_i)) and ν ln(1/β).
    loss : {"linear", "square", "exponential"}
    learner : function of (X, y, w), optional
        Returns a function of X; a regression tree of depth 3 by default.
    draws : array of shape (n_rounds, n_draws), optional
        Numbers in [0, 1): learn from rows drawn by weight, as Drucker's program does, not from
        weighted rows.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [1.0, 2.0, 9.0, 3.0, 4.0, 5.0]
    >>> stump = tree_learner(Rules("squared_error", max_depth=1))
    >>> model = adaboost_r2(X, y, rules=AdaRules(n_rounds=3), learner=stump)
    >>> print(r2_table(model))
    round    loss    beta     say       Z
        1  0.3778  0.6071  0.4990  0.7436
        2  0.4901  0.9610  0.0397  0.9800
        3  0.4988  0.9954  0.0046  0.9977
    >>> predict_r2(model, X).round(4).tolist()
    [1.5, 1.5, 5.25, 5.25, 5.25, 5.25]
    """
    X, y, w = _data(X, y, w)
    learner = learner or tree_learner(Rules("squared_error", max_depth=3))
    rounds, stop = _rounds(X, y, w, rules, loss, learner, draws)
    return TextbookR2(rules, loss, tuple(rounds), stop)


def _rounds(
    X: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    rules: AdaRules,
    loss: str,
    learner: Learner,
    draws: ArrayLike | None,
) -> tuple[list[R2Round], str]:
    rounds: list[R2Round] = []
    for number in range(1, rules.n_rounds + 1):
        if draws is None:
            h = learner(X, y, w)
        else:
            rows = resample(w, np.asarray(draws)[number - 1])
            h = learner(X[rows], y[rows], np.full(len(rows), 1 / len(rows)))
        losses = r2_losses(np.abs(y - h(X)), w, loss)
        round_ = _judge(number, h, w, losses, rules.learning_rate)
        stop = "perfect" if not round_.error else "loss of a half" if round_.error >= 0.5 else ""
        if not rounds or stop != "loss of a half":
            rounds.append(round_)
        if stop:
            return rounds, stop
        w = round_.next_w
    return rounds, "n_rounds"


def _judge(
    number: int, h: Hypothesis, w: np.ndarray, losses: np.ndarray, learning_rate: float
) -> R2Round:
    error = float(w @ losses)
    if error == 0 or error >= 0.5:  # the last round, in which a say of 1 and the old weights do
        return R2Round(number, h, w, losses, error, np.nan, 1.0, 1.0, w)
    beta = error / (1 - error)
    new = w * beta ** (learning_rate * (1 - losses))
    Z = float(new.sum())
    say = learning_rate * float(np.log(1 / beta))
    return R2Round(number, h, w, losses, error, beta, say, Z, new / Z)


def predict_r2(model: TextbookR2, X: ArrayLike, combine: str = "median") -> np.ndarray:
    """Return the weighted median of the answers: the smallest that half of the say does not exceed.

    Or their weighted "mean"; or the "sum" Σ say·T(x) of note 004, which is too large
    by the sum of the says.

    >>> model = adaboost_r2([[1.0], [2.0]], [3.0, 7.0])
    >>> predict_r2(model, [[0.0]]).tolist(), model.stop
    ([3.0], 'perfect')
    """
    X = np.asarray(X, dtype=np.float64)
    answers = np.stack([np.asarray(r.hypothesis(X)) for r in model.rounds], axis=1)
    says = [r.say for r in model.rounds]
    if combine != "median":
        return answers @ says / (np.sum(says) if combine == "mean" else 1.0)
    return np.array([weighted_quantile(row, says, 0.5) for row in answers])


def r2_table(model: TextbookR2) -> str:
    """Return one line per round: mean loss, β, say and Z; ``adaboost_r2`` shows an example."""
    lines = ["round    loss    beta     say       Z"]
    for r in model.rounds:
        lines.append(f"{r.number:5}  {r.error:.4f}  {r.beta:6.4f}  {r.say:.4f}  {r.Z:.4f}")
    return "\n".join(lines)
