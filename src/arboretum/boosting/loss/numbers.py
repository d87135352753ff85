"""Losses for numbers, with d = y - F; those without a residual are for second-order boosting only.

    loss             L(y, F)                                 residual           step of a leaf
    SquaredError     ½ d²                                    d                  mean of d
    SquaredLogError  ½ (log(1 + y) - log(1 + F))²
    Quantile (α)     α d, or (α - 1) d if d < 0              α or α - 1         α-quantile of d
    AbsoluteError    |d|                                     ±1                 median of d
    RelativeError    |d| / max(least, |y|)                                      weighted median of d
    Huber (δ)        ½ d², or δ (|d| - ½ δ) outside          d cut at ±δ        median + mean of the rest, cut
    PseudoHuber (s)  s² (√(1 + (d/s)²) - 1)
    Fair (c)         c² (|d|/c - log(1 + |d|/c))
    Tweedie (ρ)      half the deviance for a mean e^F whose variance grows as its ρ-th power
    Poisson, Gamma   Tweedie's with ρ = 1 and 2

The gradients of piecewise linear losses are only signs: second-order boosting, too, sets leaves from
the residuals of their rows (`leaf_step`), by the API's convention of `weighted_quantile`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.boosting.loss.loss import Loss
from arboretum.data.quantile import weighted_quantile
from arboretum.engine import sums
from arboretum.engine.elementwise import exp, log, log1p, power
from arboretum.predict.link import Link

if TYPE_CHECKING:
    from arboretum.boosting.loss.leaves import Leaves

    Array = np.ndarray

__all__ = [
    "AbsoluteError", "Fair", "Gamma", "Huber", "Poisson", "PseudoHuber", "Quantile", "RelativeError",
    "SquaredError", "SquaredLogError", "Tweedie",
]  # fmt: skip

_SHORTEST = -19.0  # e^-19 ≈ 6e-9: a leaf without any event would step to log 0 = -∞


def _half_square(d: Array) -> Array:
    d *= d
    d *= 0.5
    return d


@dataclass(frozen=True)
class SquaredError(Loss):
    """½ d²: the step of a leaf is the mean of the residuals."""

    kernel = "squared"
    factor = 2.0

    def start(self, y: Array, w: Array | None) -> Array:
        return np.asarray(sums.mean(y, w))

    def value(self, y: Array, F: Array) -> Array:
        return _half_square(y - F)

    def residuals(self, y: Array, F: Array) -> Array:
        return y - F

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        return leaves.mean(r)


@dataclass(frozen=True)
class SquaredLogError(Loss):
    """½ (log(1 + y) - log(1 + F))²: relative errors count alike for large and small labels."""

    kernel = "squared_log"
    domain = "above -1"

    def value(self, y: Array, F: Array) -> Array:
        return _half_square(log1p(y) - log1p(F))


@dataclass(frozen=True)
class Quantile(Loss):
    """α |d| above, (1 - α) |d| below: minimal if a share α of the weight lies below F."""

    alpha: float
    kernel = "pinball"
    takes: ClassVar[tuple[str, ...]] = ("alpha",)
    scale = 1.0

    def start(self, y: Array, w: Array | None) -> Array:
        return np.asarray(weighted_quantile(y, self.alpha, w))

    def leaf_step(self, y: Array, F: Any, w: Array | None, convention: str) -> float:
        return weighted_quantile(y - F, self.alpha, w, convention)

    def value(self, y: Array, F: Array) -> Array:
        d = y - F
        return np.maximum(self.alpha * d, (self.alpha - 1.0) * d)

    def residuals(self, y: Array, F: Array) -> Array:
        return np.where(y >= F, self.scale * self.alpha, self.scale * (self.alpha - 1))

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        return leaves.quantile(y - F, self.alpha)


@dataclass(frozen=True)
class AbsoluteError(Quantile):
    """|d|: twice the loss of the median."""

    alpha: float = 0.5
    kernel = "absolute"
    takes = ()
    scale = 2.0

    def value(self, y: Array, F: Array) -> Array:
        return np.abs(y - F)


@dataclass(frozen=True)
class RelativeError(Loss):
    """The absolute error as a share of the label: rows are weighted by 1 / max(least, |y|)."""

    least: float = 1.0  # the kernel's
    kernel = "relative"

    def leaf_step(self, y: Array, F: Any, w: Array | None, convention: str) -> float:
        share = 1.0 / np.maximum(self.least, np.abs(y))
        return weighted_quantile(y - F, 0.5, share if w is None else share * w, convention)

    def value(self, y: Array, F: Array) -> Array:
        return np.abs(y - F) / np.maximum(np.abs(y), self.least)


@dataclass(frozen=True)
class Huber(Loss):
    """Squared up to δ, absolute beyond.

    With ``share``, as in Friedman's paper, δ is this quantile of the round's |y - F|.
    """

    delta: float = np.inf
    share: float | None = None
    kernel = "huber"
    takes = ("delta",)

    def for_round(self, y: Array, F: Array, w: Array | None) -> Huber:
        if self.share is None:
            return self
        return replace(self, delta=weighted_quantile(np.abs(y - F), self.share, w))

    def start(self, y: Array, w: Array | None) -> Array:
        return np.asarray(weighted_quantile(y, 0.5, w))

    def value(self, y: Array, F: Array) -> Array:
        d = np.abs(y - F)
        inside = np.minimum(d, self.delta)
        return inside * (d - inside / 2)

    def residuals(self, y: Array, F: Array) -> Array:
        return np.clip(y - F, -self.delta, self.delta)

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        """Return the median plus the mean of the remaining residuals, cut at ±δ."""
        d = y - F
        median = leaves.quantile(d, 0.5)
        rest = np.clip(d - median[leaves.leaf], -self.delta, self.delta)
        return median + leaves.mean(rest)


@dataclass(frozen=True)
class PseudoHuber(Loss):
    """Quadratic near 0 and linear with this slope far out, smooth everywhere."""

    slope: float
    kernel = "pseudo_huber"
    takes = ("slope",)

    def value(self, y: Array, F: Array) -> Array:
        return self.slope * self.slope * (np.sqrt(1.0 + np.square((y - F) / self.slope)) - 1.0)


@dataclass(frozen=True)
class Fair(Loss):
    """Quadratic near 0; beyond c it becomes more and more linear."""

    c: float
    kernel = "fair"
    takes = ("c",)

    def value(self, y: Array, F: Array) -> Array:
        size = np.abs(y - F) / self.c
        return self.c * self.c * (size - log1p(size))


@dataclass(frozen=True)
class Tweedie(Loss):
    """Half the Tweedie deviance for a mean μ = e^F whose variance grows as μ^power, without L(y, y).

    With a = 1 - power, r = y e^(aF) - e^((a+1)F), and a leaf's step is the log of
    Σ w y e^(aF) / Σ w e^((a+1)F).
    """

    power: float
    kernel = "tweedie"
    takes: ClassVar[tuple[str, ...]] = ("power",)
    link = Link("log")

    @property
    def domain(self) -> str:  # type: ignore[override]
        return "above 0" if self.power == 2 else "0 or more"

    def start(self, y: Array, w: Array | None) -> Array:
        return np.asarray(log(sums.mean(y, w)))

    def value(self, y: Array, F: Array) -> Array:
        a = 1 - self.power
        if a == 0:
            return exp(F) - y * F
        if a == -1:
            return F + y * exp(-F)
        return exp((a + 1) * F) / (a + 1) - y * exp(a * F) / a

    def value_of(self, y: Array, p: Array, least: float = 0.0) -> Array:
        p, a = np.maximum(p, least), 1 - self.power
        if a == 0:
            return p - y * log(p)
        if a == -1:
            return y / p + log(p)
        return power(p, a + 1) / (a + 1) - y * power(p, a) / a

    def residuals(self, y: Array, F: Array) -> Array:
        a = 1 - self.power
        return y * exp(a * F) - exp((a + 1) * F)

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        a = 1 - self.power
        events = leaves.total(y * exp(a * F))
        expected = leaves.total(exp((a + 1) * F))
        some = (events > 0) & (expected > 0)
        ratio = np.where(some, events, 1.0) / np.where(some, expected, 1.0)
        return np.where(some, np.maximum(log(ratio), _SHORTEST), _SHORTEST)


@dataclass(frozen=True)
class Poisson(Tweedie):
    """The deviance of counts."""

    power: float = 1.0
    step: float = 0.0  # the kernel takes the curvature this far ahead, so that no step is too long
    kernel = "poisson"
    takes = ("step",)


@dataclass(frozen=True)
class Gamma(Tweedie):
    """The deviance of amounts above 0."""

    power: float = 2.0
    kernel = "gamma"
    takes = ()
