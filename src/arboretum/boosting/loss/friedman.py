"""The losses of gradient boosting: where rows want to go, how far a leaf goes, and what F says.

    start        F_0 = argmin_γ Σ w L(y, γ)            the constant to begin with
    residuals    r = -∂L/∂F                            where a row would like its F to go
    steps        γ = argmin_γ Σ w L(y, F + γ)          how far the rows of each leaf go together
    answer       what F says: a number, or class probabilities

The formulas are those of `arboretum.textbook.gbm_losses`, a leaf at a time there, all leaves at once here. F
has shape (n,), or (n, K) with K classes; y holds numbers, or class codes 0, 1, ….
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.loss.friedman_steps import Leaves, weighted_quantile
from arboretum.data.checks import list_rows
from arboretum.errors import DataError

if TYPE_CHECKING:
    Array = np.ndarray

__all__ = ["CLASS_LOSSES", "NUMBER_LOSSES", "Loss", "is_custom", "make_loss"]

NUMBER_LOSSES = (
    "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie",
)  # fmt: skip
CLASS_LOSSES = ("log_loss", "exponential")
_SHORTEST = -19.0  # e^-19 ≈ 6e-9: a leaf without any event would step to log 0 = -∞
_RAREST = float(np.finfo(np.float32).eps)  # a share below this is taken for it: its log is finite


class Loss:
    """A loss of one score per row, or of one per class."""

    classifies = False
    factor = 1.0  # of the scores shown: scikit-learn leaves out the ½ of two losses

    def check(self, y: Array, w: Array | None) -> None:
        """Raise a DataError where the loss is not defined."""

    def for_round(self, y: Array, F: Array, w: Array | None) -> Loss:
        """Return the loss a round goes by; only Huber's depends on how far F has come."""
        return self

    def start(self, y: Array, w: Array | None) -> Array:
        """Return F_0: a number, or one per class."""
        raise NotImplementedError

    def value(self, y: Array, F: Array) -> Array:
        """Return L(y, F) of every row."""
        raise NotImplementedError

    def residuals(self, y: Array, F: Array) -> Array:
        """Return -∂L/∂F of every row, in the shape of F."""
        raise NotImplementedError

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        """Return how far every leaf of the k-th tree goes; ``r`` are its rows' residuals."""
        raise NotImplementedError

    def answer(self, F: Array) -> Array:
        """Return the number F stands for, or the probabilities of all classes."""
        return F

    def link(self, answer: Array) -> Array:
        """Return the F that gives this answer."""
        return answer

    def score(self, y: Array, F: Array, w: Array | None) -> float:
        """Return the mean loss, as it is shown."""
        value = self.value(y, F)
        mean = value.mean() if w is None else (w * value).sum() / w.sum()
        return self.factor * float(mean)


# ---------------------------------------------------------------------- numbers
class SquaredError(Loss):
    """½ (y - F)²: a leaf takes the mean of what is left."""

    factor = 2.0

    def start(self, y: Array, w: Array | None) -> Array:
        return np.asarray(np.average(y, weights=w))

    def value(self, y: Array, F: Array) -> Array:
        d = y - F
        return d * d / 2

    def residuals(self, y: Array, F: Array) -> Array:
        return y - F

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        return leaves.mean(r)


@dataclass(frozen=True)
class Quantile(Loss):
    """α |d| above, (1-α) |d| below: least when a share α of the weight lies below F."""

    alpha: float
    scale: float = 1.0

    def start(self, y: Array, w: Array | None) -> Array:
        return np.asarray(weighted_quantile(y, w, self.alpha))

    def value(self, y: Array, F: Array) -> Array:
        return self.residuals(y, F) * (y - F)

    def residuals(self, y: Array, F: Array) -> Array:
        return np.where(y >= F, self.scale * self.alpha, self.scale * (self.alpha - 1))

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        return leaves.quantile(y - F, self.alpha)


@dataclass(frozen=True)
class Huber(Loss):
    """Squared up to δ, absolute beyond; δ is the α-quantile of the |y - F| of the round."""

    alpha: float
    delta: float = np.inf

    def for_round(self, y: Array, F: Array, w: Array | None) -> Huber:
        return replace(self, delta=weighted_quantile(np.abs(y - F), w, self.alpha))

    def start(self, y: Array, w: Array | None) -> Array:
        return np.asarray(weighted_quantile(y, w, 0.5))

    def value(self, y: Array, F: Array) -> Array:
        d = np.abs(y - F)
        inside = np.minimum(d, self.delta)
        return inside * (d - inside / 2)

    def residuals(self, y: Array, F: Array) -> Array:
        return np.clip(y - F, -self.delta, self.delta)

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        """Return the median plus the mean of what is left of each row, cut at ±δ."""
        d = y - F
        median = leaves.quantile(d, 0.5)
        rest = np.clip(d - median[leaves.leaf], -self.delta, self.delta)
        return median + leaves.mean(rest)


@dataclass(frozen=True)
class PowerLoss(Loss):
    """Half the Tweedie deviance for a mean μ = e^F whose variance grows as μ^power, without L(y, y).

    power 1 is Poisson's, 2 the gamma's. With a = 1 - power, r = y e^(aF) - e^((a+1)F), and a leaf's step
    is the log of Σ w y e^(aF) / Σ w e^((a+1)F).
    """

    power: float
    name: str

    def check(self, y: Array, w: Array | None) -> None:
        bad = np.flatnonzero(y <= 0 if self.power == 2 else y < 0)
        if len(bad):
            what, least = ("≤ 0", "y > 0") if self.power == 2 else ("below 0", "y ≥ 0")
            raise DataError(
                f"y holds {len(bad)} values {what} ({list_rows(bad)}): loss={self.name!r} needs {least}"
            )
        if not (y.sum() if w is None else (w * y).sum()) > 0:
            raise DataError(
                f"y holds nothing but zeros (in rows of weight): loss={self.name!r} needs a "
                "positive sum"
            )

    def start(self, y: Array, w: Array | None) -> Array:
        return np.asarray(np.log(np.average(y, weights=w)))

    def value(self, y: Array, F: Array) -> Array:
        a = 1 - self.power
        if a == 0:
            return np.exp(F) - y * F
        if a == -1:
            return F + y * np.exp(-F)
        return np.exp((a + 1) * F) / (a + 1) - y * np.exp(a * F) / a

    def residuals(self, y: Array, F: Array) -> Array:
        a = 1 - self.power
        return y * np.exp(a * F) - np.exp((a + 1) * F)

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        a = 1 - self.power
        events = leaves.total(y * np.exp(a * F))
        expected = leaves.total(np.exp((a + 1) * F))
        some = (events > 0) & (expected > 0)
        ratio = np.where(some, events, 1.0) / np.where(some, expected, 1.0)
        return np.where(some, np.maximum(np.log(ratio), _SHORTEST), _SHORTEST)

    def answer(self, F: Array) -> Array:
        return np.exp(F)

    def link(self, answer: Array) -> Array:
        return np.log(np.maximum(answer, _RAREST))


# ---------------------------------------------------------------------- classes
def _sigmoid(F: Array) -> Array:
    from scipy.special import expit

    return expit(F)


def _softmax(F: Array) -> Array:
    e = np.exp(F - F.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _shares(y: Array, w: Array | None, n_classes: int) -> Array:
    """Return the classes' shares of the weight."""
    counts = np.bincount(y, w, n_classes)
    return counts / counts.sum()


class BinomialDeviance(Loss):
    """Minus the log likelihood of y ∈ {0, 1} when F is the log odds of 1."""

    classifies = True
    factor = 2.0
    odds = 1.0  # F is this share of the log odds

    def start(self, y: Array, w: Array | None) -> Array:
        return self.link(_shares(y, w, 2)[None])[0]

    def value(self, y: Array, F: Array) -> Array:
        # log(1 + e^F) without overflow, and faster than np.logaddexp
        return np.maximum(F, 0) + np.log1p(np.exp(-np.abs(F))) - y * F

    def residuals(self, y: Array, F: Array) -> Array:
        return y - _sigmoid(F)

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        return leaves.newton(r, (y - r) * (1 - y + r))

    def answer(self, F: Array) -> Array:
        p = _sigmoid(F / self.odds)
        return np.column_stack([1 - p, p])

    def link(self, answer: Array) -> Array:
        p = np.clip(answer[:, 1], _RAREST, 1 - _RAREST)
        return self.odds * np.log(p / (1 - p))


class Exponential(BinomialDeviance):
    """AdaBoost's loss e^(-sF), s = ±1; it is least where F is half the log odds."""

    factor = 1.0
    odds = 0.5

    def value(self, y: Array, F: Array) -> Array:
        return np.exp((1 - 2 * y) * F)

    def residuals(self, y: Array, F: Array) -> Array:
        return (2 * y - 1) * self.value(y, F)

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        return leaves.newton(r, np.abs(r))


@dataclass(frozen=True)
class MultinomialDeviance(Loss):
    """Minus the log likelihood of y ∈ {0, …, K-1} under p = softmax(F); F has a column per class."""

    n_classes: int
    classifies = True

    def start(self, y: Array, w: Array | None) -> Array:
        return self.link(_shares(y, w, self.n_classes)[None])[0]

    def value(self, y: Array, F: Array) -> Array:
        top = F.max(axis=1)
        whole = top + np.log(np.exp(F - top[:, None]).sum(axis=1))
        return whole - np.take_along_axis(F, y[:, None], axis=1)[:, 0]

    def residuals(self, y: Array, F: Array) -> Array:
        r = -_softmax(F)
        r[np.arange(len(y)), y] += 1.0
        return r

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        """Return the Newton steps of class k, times Friedman's (K-1)/K for the other trees."""
        p = (y == k) - r
        return (self.n_classes - 1) / self.n_classes * leaves.newton(r, p * (1 - p))

    def answer(self, F: Array) -> Array:
        return _softmax(F)

    def link(self, answer: Array) -> Array:
        logs = np.log(np.clip(answer, _RAREST, 1 - _RAREST))
        return logs - logs.mean(axis=1, keepdims=True)


# ---------------------------------------------------------------------- by name
def is_custom(loss: Any) -> bool:
    """Tell whether an object can serve as a loss of the user's own."""
    return not isinstance(loss, type) and all(
        callable(getattr(loss, name, None)) for name in ("gradient", "hessian")
    )


def make_loss(loss: Any, n_classes: int | None, alpha: float, power: float) -> Loss:
    """Return the loss of a name, or the one made of a user's object.

    Parameters
    ----------
    loss : str or object with ``gradient`` and ``hessian``
    n_classes : int or None
        None: y holds numbers.
    alpha, power : float

    Examples
    --------
    >>> make_loss("log_loss", 3, 0.9, 1.5)
    MultinomialDeviance(n_classes=3)
    """
    if not isinstance(loss, str):
        from arboretum.boosting.loss.friedman_user import CustomLoss

        return CustomLoss(loss, n_classes)
    if loss == "log_loss":
        return BinomialDeviance() if n_classes == 2 else MultinomialDeviance(n_classes or 0)
    if loss == "exponential":
        return Exponential()
    made: dict[str, Loss] = {
        "squared_error": SquaredError(),
        "absolute_error": Quantile(0.5, 2.0),
        "huber": Huber(alpha),
        "quantile": Quantile(alpha),
        "poisson": PowerLoss(1.0, "poisson"),
        "gamma": PowerLoss(2.0, "gamma"),
        "tweedie": PowerLoss(float(power), "tweedie"),
    }
    return made[loss]
