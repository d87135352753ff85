"""The losses of gradient boosting, and the four things boosting needs from each.

    start        F_0 = argmin_γ Σ w L(y, γ)            the constant to begin with
    residuals    r = -∂L/∂F                            where a row would like its F to go
    step         γ = argmin_γ Σ w L(y, F + γ)          how far the rows of one leaf go together
    answer       the prediction for F: a number, or class probabilities

A step is the exact minimum where a formula gives it. Otherwise it is one Newton step from where F
stands, Σ w r / Σ w h with h = ∂²L/∂F², or 0 when Σ w h vanishes: such a leaf is right already.

    loss                      L(y, F)                        r                  step of a leaf
    squared_error             ½ d²,  d = y - F               d                  mean of d
    absolute_error            |d|                            ±1                 median of d
    quantile  (α)             α d, or (α-1) d if d < 0       α or α - 1         α-quantile of d
    huber     (α)             ½ d², or δ(|d| - ½δ) outside   d cut at ±δ        median + mean of the rest, cut
    log_loss, two classes     log(1 + e^F) - yF              y - p              Newton, h = p(1-p)
    log_loss, K classes       log Σ_k e^F_k - F_y            1[y = k] - p_k     Newton · (K-1)/K
    exponential               e^(-sF),  s = 2y - 1           s e^(-sF)          Newton, h = e^(-sF)
    poisson, gamma, tweedie   deviance of the mean e^F       see ``PowerLoss``  log of a ratio

Three signs are easily lost. The residual of the deviance is y - p, what the row lacks, not p - y; its
leaf takes the Newton step, not the mean residual; and p = 1/(1 + e^(-F)), with a minus. For labels
written s = ±1 the same deviance is log(1 + e^(-sF)).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.impurities import class_weights, weighted_mean

__all__ = [
    "LOSSES",
    "AbsoluteError",
    "BinomialDeviance",
    "Exponential",
    "Huber",
    "Loss",
    "MultinomialDeviance",
    "NewtonLoss",
    "PowerLoss",
    "Quantile",
    "SquaredError",
    "log_odds",
    "make_loss",
    "odds",
    "sigmoid",
    "softmax",
    "weighted_quantile",
]

VANISHES = 1e-150  # a Σ w h below this does not determine a step
SHORTEST = -19.0  # e^-19 ≈ 6e-9: a leaf without any event would step to log 0 = -∞


# ---------------------------------------------------------------------- odds
def odds(p: ArrayLike) -> np.ndarray:
    """Return p / (1 - p): how often it happens for every time that it does not.

    A game won with probability 0.7 has the odds 7/3; one won with 0.9 has 9, and is lost with 1/9.

    >>> odds([0.7, 0.9, 0.1]).round(4).tolist()
    [2.3333, 9.0, 0.1111]
    """
    p = np.asarray(p, dtype=np.float64)
    return p / (1 - p)


def log_odds(p: ArrayLike) -> np.ndarray:
    """Return log(p / (1 - p)), the same for and against but for the sign; ``sigmoid`` undoes it.

    Boosting starts from the log odds of the positive class, log(Σy / (n - Σy)).

    >>> log_odds([0.7, 0.9, 0.1]).round(4).tolist()  # log(7/3), log 9, -log 9
    [0.8473, 2.1972, -2.1972]
    >>> sigmoid(log_odds(0.7)).round(4).tolist()
    0.7
    """
    return np.log(odds(p))


def sigmoid(F: ArrayLike) -> np.ndarray:
    """Return 1 / (1 + e^(-F)), the probability whose log odds are F.

    >>> sigmoid([0.0, np.log(4), -1e9]).round(12).tolist()
    [0.5, 0.8, 0.0]
    """
    return np.exp(-np.logaddexp(0.0, -np.asarray(F, dtype=np.float64)))


def softmax(F: ArrayLike) -> np.ndarray:
    """Return e^F_k / Z with Z = Σ_k e^F_k, along the last axis.

    >>> softmax([0.05, -0.02, -0.02]).round(5).tolist()
    [0.34907, 0.32547, 0.32547]
    """
    F = np.asarray(F, dtype=np.float64)
    e = np.exp(F - F.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def weighted_quantile(y: ArrayLike, w: ArrayLike, alpha: float) -> float:
    """Return the smallest value at which the weight so far reaches α of the whole.

    It minimises the quantile loss. If the share is reached exactly, so does every number up to the
    next value; the lower end is taken, so the answer is always one of the values.

    >>> weighted_quantile([8, 1, 2, 4], [1, 1, 1, 1], 0.5), weighted_quantile([1, 2], [1, 9], 0.2)
    (2.0, 2.0)
    """
    y, w = np.asarray(y, dtype=np.float64), np.asarray(w, dtype=np.float64)
    y, w = y[w > 0], w[w > 0]
    order = np.argsort(y, kind="stable")
    so_far = np.cumsum(w[order])
    return float(y[order][np.searchsorted(so_far, alpha * so_far[-1])])


# ---------------------------------------------------------------------- what a loss is
class Loss:
    """A loss L(y, F) of one score F per row; ``MultinomialDeviance`` has one per class."""

    classifies = False

    def check(self, y: np.ndarray, w: np.ndarray) -> None:
        """Raise ValueError where the loss is not defined."""

    def for_round(self, y: np.ndarray, F: np.ndarray, w: np.ndarray) -> Loss:
        """Return the loss this round goes by; only Huber's depends on how far F has come."""
        return self

    def start(self, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return F_0; a step from F = 0, where steps are exact."""
        return self.step(y, np.zeros(len(y)), w)

    def value(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Return L(y, F) of every row."""
        raise NotImplementedError

    def residuals(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Return -∂L/∂F of every row, in the shape of F."""
        raise NotImplementedError

    def step(self, y: np.ndarray, F: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return how far the rows of a leaf go; one number per score."""
        raise NotImplementedError

    def answer(self, F: np.ndarray) -> np.ndarray:
        """Return the number F stands for, or the probabilities of all classes."""
        return F


class NewtonLoss(Loss):
    """A loss known by its first two derivatives; also the way to bring one of your own.

    Examples
    --------
    A smooth relative of the absolute error, log cosh(y - F):

    >>> class LogCosh(NewtonLoss):
    ...     def start(self, y, w):
    ...         return np.array(np.average(y, weights=w))
    ...     def value(self, y, F):
    ...         return np.log(np.cosh(y - F))
    ...     def residuals(self, y, F):
    ...         return np.tanh(y - F)
    ...     def hessian(self, y, F):
    ...         return 1 - np.tanh(y - F) ** 2
    >>> round(float(LogCosh().step(np.array([0.1, 0.3]), np.zeros(2), np.ones(2))), 3)
    0.205
    """

    def hessian(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Return ∂²L/∂F² of every row, in the shape of F."""
        raise NotImplementedError

    def step(self, y: np.ndarray, F: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return Σ w r / Σ w h, one Newton step; 0 where Σ w h vanishes."""
        r, h = w @ self.residuals(y, F), w @ self.hessian(y, F)
        flat = np.abs(h) < VANISHES
        return np.where(flat, 0.0, r / np.where(flat, 1.0, h))


# ---------------------------------------------------------------------- numbers
class SquaredError(Loss):
    """½ (y - F)²: the residual is what is left to explain, and a leaf takes its mean."""

    def value(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return (y - F) ** 2 / 2

    def residuals(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return y - F

    def step(self, y: np.ndarray, F: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.array(weighted_mean(y - F, w))


@dataclass(frozen=True)
class Quantile(Loss):
    """α |d| above, (1-α) |d| below: least when a share α of the weight lies below F."""

    alpha: float

    def value(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return np.where(y >= F, self.alpha, self.alpha - 1) * (y - F)

    def residuals(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        # at y = F every slope between the two is one; the upper is taken, so ±1 below has no 0
        return np.where(y >= F, self.alpha, self.alpha - 1)

    def step(self, y: np.ndarray, F: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.array(weighted_quantile(y - F, w, self.alpha))


class AbsoluteError(Loss):
    """|y - F|: twice the quantile loss of ½, so a leaf takes its median."""

    _half = Quantile(0.5)

    def value(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return 2 * self._half.value(y, F)

    def residuals(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return 2 * self._half.residuals(y, F)

    def step(self, y: np.ndarray, F: np.ndarray, w: np.ndarray) -> np.ndarray:
        return self._half.step(y, F, w)


@dataclass(frozen=True)
class Huber(Loss):
    """Squared up to δ, absolute beyond; δ is the α-quantile of the |y - F| of the round."""

    alpha: float
    delta: float = np.inf

    def for_round(self, y: np.ndarray, F: np.ndarray, w: np.ndarray) -> Huber:
        return replace(self, delta=weighted_quantile(np.abs(y - F), w, self.alpha))

    def start(self, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.array(weighted_quantile(y, w, 0.5))

    def value(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        d = np.abs(y - F)
        inside = np.minimum(d, self.delta)
        return inside * (d - inside / 2)  # ½ d² inside, δ(|d| - ½δ) outside

    def residuals(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return np.clip(y - F, -self.delta, self.delta)

    def step(self, y: np.ndarray, F: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the median plus the mean of what is left of each row, cut at ±δ.

        One step of Friedman's towards the minimum, from the median, where it cannot be far.
        """
        median = weighted_quantile(y - F, w, 0.5)
        return np.array(median + weighted_mean(self.residuals(y - median, F), w))


@dataclass(frozen=True)
class PowerLoss(Loss):
    """Half the Tweedie deviance for a mean μ = e^F whose variance grows as μ^power, without L(y, y).

    power 1 is Poisson's (counts), 2 the gamma's (positive sizes), between them lie totals that may
    also be zero. With a = 1 - power, r = y e^(aF) - e^((a+1)F). A step multiplies all means of a
    leaf by e^γ, and Σ w r = 0 gives e^γ = Σ w y e^(aF) / Σ w e^((a+1)F). A leaf without any event
    would go to log 0; it goes by ``SHORTEST`` instead.
    """

    power: float

    def check(self, y: np.ndarray, w: np.ndarray) -> None:
        if self.power == 2 and not np.all(y > 0):
            raise ValueError("the gamma loss needs y > 0; tweedie allows zeros")
        if not np.all(y >= 0) or not w @ y > 0:
            raise ValueError("poisson and tweedie need y ≥ 0, and a y > 0 among the rows of weight")

    def value(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        a = 1 - self.power
        if a == 0:
            return np.exp(F) - y * F
        if a == -1:
            return F + y * np.exp(-F)
        return np.exp((a + 1) * F) / (a + 1) - y * np.exp(a * F) / a

    def residuals(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        a = 1 - self.power
        return y * np.exp(a * F) - np.exp((a + 1) * F)

    def step(self, y: np.ndarray, F: np.ndarray, w: np.ndarray) -> np.ndarray:
        a = 1 - self.power
        ratio = w @ (y * np.exp(a * F)) / (w @ np.exp((a + 1) * F))
        return np.array(max(np.log(ratio), SHORTEST) if ratio > 0 else SHORTEST)

    def answer(self, F: np.ndarray) -> np.ndarray:
        return np.exp(F)


# ---------------------------------------------------------------------- classes
def _shares(y: np.ndarray, w: np.ndarray, n_classes: int) -> np.ndarray:
    weights = class_weights(y, w, n_classes)
    if len(weights) > n_classes or not np.all(weights > 0):
        raise ValueError(
            f"y must hold the class indices 0 to {n_classes - 1}, each in a row of weight > 0"
        )
    return weights / weights.sum()


class BinomialDeviance(NewtonLoss):
    """Minus the log likelihood of y ∈ {0, 1} when F is the log odds of 1."""

    classifies = True

    def check(self, y: np.ndarray, w: np.ndarray) -> None:
        _shares(y, w, 2)

    def start(self, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the log odds ln(Σ w y / Σ w (1-y))."""
        return np.log(w @ y / (w @ (1 - y)))

    def value(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return np.logaddexp(0, F) - y * F

    def residuals(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return y - sigmoid(F)

    def hessian(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return sigmoid(F) * sigmoid(-F)

    def answer(self, F: np.ndarray) -> np.ndarray:
        return np.stack([sigmoid(-F), sigmoid(F)], axis=1)


class Exponential(BinomialDeviance):
    """AdaBoost's loss e^(-sF), s = ±1; it is least where F is half the log odds."""

    def start(self, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        return super().start(y, w) / 2

    def value(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return np.exp((1 - 2 * y) * F)

    def residuals(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return (2 * y - 1) * self.value(y, F)

    def hessian(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return self.value(y, F)

    def answer(self, F: np.ndarray) -> np.ndarray:
        return super().answer(2 * F)


@dataclass(frozen=True)
class MultinomialDeviance(NewtonLoss):
    """Minus the log likelihood of y ∈ {0, …, K-1} under p = softmax(F); F has a column per class."""

    n_classes: int
    classifies = True

    def check(self, y: np.ndarray, w: np.ndarray) -> None:
        _shares(y, w, self.n_classes)

    def start(self, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the log class shares, moved to add up to 0: softmax sees no difference."""
        logs = np.log(_shares(y, w, self.n_classes))
        return logs - logs.mean()

    def _is_class(self, y: np.ndarray) -> np.ndarray:
        return y[:, None] == np.arange(self.n_classes)

    def value(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return np.logaddexp.reduce(F, axis=1) - F[self._is_class(y)]

    def residuals(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return self._is_class(y) - softmax(F)

    def hessian(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        p = softmax(F)
        return p * (1 - p)

    def step(self, y: np.ndarray, F: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the step of every class; the leaf belongs to the tree of one of them.

        K trees move in one round, each as if it were alone. Friedman's factor (K-1)/K stands for
        the others: with two classes both halves together are the one step of the binomial.
        """
        return (self.n_classes - 1) / self.n_classes * super().step(y, F, w)

    def answer(self, F: np.ndarray) -> np.ndarray:
        return softmax(F)


# ---------------------------------------------------------------------- by name
LOSSES = (
    "squared_error", "absolute_error", "huber", "quantile", "log_loss", "exponential",
    "poisson", "gamma", "tweedie",
)  # fmt: skip


def make_loss(name: str, n_classes: int = 2, alpha: float = 0.9, power: float = 1.5) -> Loss:
    """Return the loss of that name.

    Parameters
    ----------
    name : str
        One of ``LOSSES``.
    n_classes : int
        For log_loss.
    alpha : float
        The quantile: of y for quantile, of |y - F| for huber.
    power : float
        For tweedie, between 1 and 2.

    Examples
    --------
    >>> make_loss("log_loss", n_classes=3)
    MultinomialDeviance(n_classes=3)
    """
    if name not in LOSSES:
        raise ValueError(f"unknown loss {name!r}; choose one of {', '.join(LOSSES)}")
    if name in ("huber", "quantile") and not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha}")
    if name == "tweedie" and not 1 < power < 2:
        raise ValueError(f"power must lie between 1 (poisson) and 2 (gamma), got {power}")
    made: dict[str, Loss] = {
        "squared_error": SquaredError(),
        "absolute_error": AbsoluteError(),
        "huber": Huber(alpha),
        "quantile": Quantile(alpha),
        "log_loss": MultinomialDeviance(n_classes) if n_classes > 2 else BinomialDeviance(),
        "exponential": Exponential(),
        "poisson": PowerLoss(1.0),
        "gamma": PowerLoss(2.0),
        "tweedie": PowerLoss(power),
    }
    return made[name]
