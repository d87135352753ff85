"""Losses for classes, with s = 2y - 1 for two of them.

    loss             L(y, F)                                     residual          step of a leaf
    Logistic (σ)     log(1 + e^(σF)) - σ y F, y from 0 to 1      σ (y - p)         Newton, h = σ² p (1 - p)
    Exponential      e^(-sF): AdaBoost's                         s e^(-sF)         Newton, h = e^(-sF)
    Hinge            max(0, 1 - sF)
    Softmax          log Σ_k e^F_k - F_y, an F per class         1[y = k] - p_k    Newton · (K - 1) / K

Hinge is second-order boosting's only, Exponential Friedman's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.boosting.loss.loss import Loss
from arboretum.engine import sums
from arboretum.engine.elementwise import exp, log, softmax, softplus
from arboretum.predict.link import Link, both_classes

if TYPE_CHECKING:
    from arboretum.boosting.loss.leaves import Leaves

    Array = np.ndarray

__all__ = ["Exponential", "Hinge", "Logistic", "Softmax", "class_shares"]


def class_shares(y: Array, w: Array | None, n_classes: int) -> Array:
    """Return every class's share of the weight."""
    codes = y.astype(np.int64, copy=False)
    if w is None:
        return np.bincount(codes, None, n_classes) / len(codes)
    return sums.totals(w, codes, n_classes) / sums.total(w)


class _TwoClasses(Loss):
    """A loss for classes 0 and 1 with a logit link."""

    domain = "share"
    classifies = True

    def start(self, y: Array, w: Array | None) -> Array:
        return self.raw_of(class_shares(y, w, 2)[None])[0]

    def answer(self, F: Array) -> Array:
        p = self.link.predict(F)
        return both_classes(p)

    def raw_of(self, answer: Array) -> Array:
        return self.link.raw(answer[:, 1])


@dataclass(frozen=True)
class Logistic(_TwoClasses):
    """Minus the log likelihood of y when σF is the log odds of 1: the binomial deviance.

    Class weights are weights of rows that the kernel multiplies in; no other method does.
    """

    sigma: float = 1.0
    no: float = 1.0  # weight of labels of 0 in derivatives
    yes: float = 1.0  # weight of labels of 1
    least: float = 0.0  # smallest value of the curvature p (1 - p)
    kernel = "logistic"
    takes = ("sigma", "no", "yes", "least")
    factor = 2.0

    @property
    def link(self) -> Link:  # type: ignore[override]
        return Link("logit", self.sigma)

    def value(self, y: Array, F: Array) -> Array:
        z = self.sigma * F
        return softplus(z) - y * z

    def value_of(self, y: Array, p: Array, least: float = 0.0) -> Array:
        yes, no = log(np.maximum(p, least)), log(np.maximum(1.0 - p, least))
        return -(y * yes + (1.0 - y) * no)

    def residuals(self, y: Array, F: Array) -> Array:
        return self.sigma * (y - self.link.predict(F))

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        lacks = r / self.sigma
        return leaves.newton(r, self.sigma * self.sigma * (y - lacks) * (1 - y + lacks))


@dataclass(frozen=True)
class Exponential(_TwoClasses):
    """AdaBoost's loss e^(-sF), s = ±1; it is least where F is half the log odds."""

    link = Link("logit", 2.0)

    def value(self, y: Array, F: Array) -> Array:
        return exp((1 - 2 * y) * F)

    def residuals(self, y: Array, F: Array) -> Array:
        return (2 * y - 1) * self.value(y, F)

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        return leaves.newton(r, np.abs(r))


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 - sF), s = ±1: classes without probabilities."""

    kernel = "hinge"
    domain = "binary"
    link = Link("step")

    def value(self, y: Array, F: Array) -> Array:
        return np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * F)


@dataclass(frozen=True)
class Softmax(Loss):
    """Minus the log likelihood of y ∈ {0, …, K-1} under p = softmax(F); F has a column per class."""

    n_classes: int
    curvature: float = 1.0  # the kernel's factor of p (1 - p), the diagonal of a matrix
    least: float = 0.0  # smallest value of the curvature
    kernel = "softmax"
    takes = ("curvature", "least")
    domain = "whole"
    classifies = True
    link = Link("softmax")

    def start(self, y: Array, w: Array | None) -> Array:
        return self.raw_of(class_shares(y, w, self.n_classes)[None])[0]

    def value(self, y: Array, F: Array) -> Array:
        top = F.max(axis=1)
        total = top + log(exp(F - top[:, None]).sum(axis=1))
        return total - np.take_along_axis(F, y[:, None], axis=1)[:, 0]

    def value_of(self, y: Array, p: Array, least: float = 0.0) -> Array:
        return -log(np.maximum(np.take_along_axis(p, y[:, None], axis=1)[:, 0], least))

    def residuals(self, y: Array, F: Array) -> Array:
        r = -softmax(F)
        r[np.arange(len(y)), y] += 1.0
        return r

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        """Return the Newton steps of class k, times Friedman's (K-1)/K for the other trees."""
        p = (y == k) - r
        return (self.n_classes - 1) / self.n_classes * leaves.newton(r, p * (1 - p))
