"""Objectives that are a sum over the rows: numbers, counts, quantiles and classes.

A `RowObjective` is put together from parts: a kernel of `engine.gradient.loss` with its settings, the
labels it takes, a link, and where the margins start:

    mean      the margin of the mean label
    newton    one Newton step from 0: -Σ g / Σ h
    zero      0

`QuantileObjective` starts at a quantile and gives leaves new values, `LogisticObjective` weighs the two
classes, `OneAgainstRest` is one of those per class, and `SoftmaxObjective` has all classes in one loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.loss.leaf_quantiles import quantile
from arboretum.boosting.loss.links import Link, softmax
from arboretum.boosting.loss.objective_base import (
    Objective,
    check_labels,
    check_weight,
    in_blocks,
    weighted_mean,
)
from arboretum.data.checks import list_rows
from arboretum.errors import DataError

if TYPE_CHECKING:
    from arboretum.engine.gradient.loss import Loss

__all__ = [
    "LogisticObjective",
    "OneAgainstRest",
    "QuantileObjective",
    "RowObjective",
    "SoftmaxObjective",
]

_IDENTITY = Link()
_LEAST_SHARE = {"xgboost": 1e-6, "lightgbm": 1e-15}  # of a class, for a finite logarithm


@dataclass(frozen=True)
class RowObjective(Objective):
    """An objective made of a kernel, a domain, a link and a start.

    Attributes
    ----------
    kernel : str
        Name of a function of `engine.gradient.loss`.
    settings : tuple of tuples of floats
        What the kernel is called with for each output.
    domain : str
        Of the labels: a key of `objective_base.DOMAINS`.
    link : Link
    begin : {"mean", "newton", "zero"}
    """

    kernel: str = "squared"
    settings: tuple[tuple[float, ...], ...] = ((),)
    domain: str = "any"
    link: Link = _IDENTITY
    begin: str = "mean"

    def check(self, y: np.ndarray, weight: np.ndarray | None = None, groups: Any = None) -> None:
        """Raise a DataError if labels are outside the domain."""
        check_labels(y, self.name, self.domain)
        check_weight(weight, len(y))
        if self.link.name == "log" and not (y if weight is None else y * weight).any():
            raise DataError(
                f"objective {self.name!r} models the logarithm of a mean, but all labels are 0"
            )

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the margins to start from."""
        if self.begin == "mean":
            return np.full(self.n_outputs, self._link_of_mean(weighted_mean(y, weight)))
        if self.begin == "newton":
            return self._newton_step(y, weight)
        return np.zeros(self.n_outputs)

    def _link_of_mean(self, mean: float) -> float:
        if self.link.name == "logit":
            least = _LEAST_SHARE[self.dialect]
            mean = min(max(mean, least), 1.0 - least)
        return self.link.margin(mean)

    def _newton_step(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        shape = (self.n_outputs, len(y))
        g, h = np.empty(shape, np.float32), np.empty(shape, np.float32)
        self.derivatives(y, np.zeros(shape[::-1]), weight, g, h)
        return -g.sum(axis=1, dtype=np.float64) / h.sum(axis=1, dtype=np.float64)

    def margin_of(self, base_score: float) -> float:
        """Return the margin that stands for a prediction."""
        return self.link.margin(base_score)

    def derivatives(
        self,
        y: np.ndarray,
        margin: np.ndarray,
        weight: np.ndarray | None,
        g: np.ndarray,
        h: np.ndarray,
        n_jobs: int = 1,
        *,
        iteration: int = 0,
        groups: Any = None,
    ) -> None:
        """Write first and second derivatives at the margins, weights multiplied in."""
        from arboretum.engine.gradient import loss

        kernel, all_settings = getattr(loss, self.kernel), self._settings_for(y)

        def work(lo: int, hi: int) -> None:
            for k, settings in enumerate(all_settings):
                gk, hk = g[k, lo:hi], h[k, lo:hi]
                at = np.ascontiguousarray(margin[lo:hi, k])
                kernel(self._labels(y[lo:hi], k), at, gk, hk, *settings)
                if weight is not None:
                    loss.weigh(weight[lo:hi], gk, hk)

        in_blocks(len(y), n_jobs, work)

    def compiled(self, y: np.ndarray) -> Loss | None:
        """Return the loss by which compiled rounds take derivatives themselves, if they know it."""
        from arboretum.engine.gradient.loss import LOGISTIC, SQUARED, Loss

        kind = {"squared": SQUARED, "logistic": LOGISTIC}.get(self.kernel)
        if kind is None or self.n_outputs > 1:
            return None
        return Loss(kind, *self._settings_for(y)[0])

    def _settings_for(self, y: np.ndarray) -> tuple[tuple[float, ...], ...]:
        """Return the settings of every output; some depend on the labels as a whole."""
        return self.settings

    def _labels(self, y: np.ndarray, output: int) -> np.ndarray:
        """Return the labels as one output sees them."""
        return y

    def predict(self, margin: np.ndarray) -> np.ndarray:
        """Return what margins mean."""
        return self.link.predict(super().predict(margin))


@dataclass(frozen=True)
class QuantileObjective(RowObjective):
    """Absolute and quantile losses: gradients are only signs, so leaves are set from the residuals."""

    levels: tuple[float, ...] = (0.5,)
    relative: bool = False  # labels weigh 1 / max(1, |y|)

    def _weights(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray | None:
        if not self.relative:
            return weight
        own = 1.0 / np.maximum(1.0, np.abs(y))
        return own if weight is None else own * weight

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the quantiles of the labels."""
        weight = self._weights(y, weight)
        return np.array([quantile(y, level, weight, self.dialect) for level in self.levels])

    def renew_leaf(  # type: ignore[override]
        self,
        y: np.ndarray,
        margin: np.ndarray,
        weight: np.ndarray | None,
        rows: np.ndarray,
        output: int = 0,
    ) -> float:
        """Return a leaf's step, before the learning rate: the quantile of its rows' residuals.

        Parameters
        ----------
        y, margin, weight
            Of all rows, as for `derivatives`.
        rows : int array
            Those in the leaf.
        output : int
            The tree's output.
        """
        if len(rows) == 0:
            return 0.0
        labels = y[rows]
        own = self._weights(labels, None if weight is None else weight[rows])
        return quantile(labels - margin[rows, output], self.levels[output], own, self.dialect)


@dataclass(frozen=True)
class LogisticObjective(RowObjective):
    """Log loss of a probability; labels of 1 may weigh more than those of 0.

    The settings of the kernel are σ, the weight of 0, the weight of 1 and the least curvature.
    """

    balanced: bool = False  # the rarer class weighs as much as the other

    def _settings_for(self, y: np.ndarray) -> tuple[tuple[float, ...], ...]:
        if not self.balanced:
            return self.settings
        return tuple(self._balance(k, self._labels(y, k)) for k in range(self.n_outputs))

    def _balance(self, output: int, y: np.ndarray) -> tuple[float, ...]:
        sigma, _, _, least = self.settings[output]
        positive = int(np.count_nonzero(y > 0))
        negative = len(y) - positive
        if positive == 0 or negative == 0:
            return self.settings[output]
        return sigma, max(1.0, positive / negative), max(1.0, negative / positive), least


@dataclass(frozen=True)
class OneAgainstRest(LogisticObjective):
    """One log loss per class, each class against all others."""

    def check(self, y: np.ndarray, weight: np.ndarray | None = None, groups: Any = None) -> None:
        """Raise a DataError if labels are not classes."""
        _check_classes(y, self.name, self.n_outputs)
        check_weight(weight, len(y))

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the log odds of every class."""
        return np.array([self._link_of_mean(p) for p in class_shares(y, weight, self.n_outputs)])

    def _labels(self, y: np.ndarray, output: int) -> np.ndarray:
        return (y == output).astype(np.float64)


@dataclass(frozen=True)
class SoftmaxObjective(Objective):
    """Log loss of K classes whose probabilities are e**m / Σ e**m."""

    factor: float = 2.0  # of the curvature p (1 - p)
    least: float = 1e-16

    def check(self, y: np.ndarray, weight: np.ndarray | None = None, groups: Any = None) -> None:
        """Raise a DataError if labels are not classes."""
        _check_classes(y, self.name, self.n_outputs)
        check_weight(weight, len(y))

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the logarithms of the shares of the classes; XGBoost's have a mean of 0."""
        shares = class_shares(y, weight, self.n_outputs)
        logs = np.log(np.maximum(shares, _LEAST_SHARE[self.dialect]))
        return logs - logs.mean() if self.dialect == "xgboost" else logs

    def derivatives(
        self,
        y: np.ndarray,
        margin: np.ndarray,
        weight: np.ndarray | None,
        g: np.ndarray,
        h: np.ndarray,
        n_jobs: int = 1,
        *,
        iteration: int = 0,
        groups: Any = None,
    ) -> None:
        """Write first and second derivatives at the margins, weights multiplied in."""
        from arboretum.engine.gradient import loss

        def work(lo: int, hi: int) -> None:
            room = np.empty((self.n_outputs + 2, hi - lo))
            loss.softmax(y[lo:hi], margin[lo:hi], lo, g, h, self.factor, self.least, room)
            if weight is not None:
                for gk, hk in zip(g, h):
                    loss.weigh(weight[lo:hi], gk[lo:hi], hk[lo:hi])

        in_blocks(len(y), n_jobs, work, self.n_outputs)

    def compiled(self, y: np.ndarray) -> Loss | None:
        """Return the loss by which compiled rounds take derivatives themselves."""
        from arboretum.engine.gradient.loss import SOFTMAX, Loss

        return Loss(SOFTMAX, self.factor, self.least)

    def predict(self, margin: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes."""
        return softmax(margin)


def class_shares(y: np.ndarray, weight: np.ndarray | None, n_classes: int) -> np.ndarray:
    """Return the share of the weight of every class."""
    total = np.bincount(y.astype(np.intp), weight, minlength=n_classes)
    return total / total.sum()


def _check_classes(y: np.ndarray, name: str, n_classes: int) -> None:
    check_labels(y, name, "whole")
    rows = np.flatnonzero(np.asarray(y) >= n_classes)
    if len(rows):
        raise DataError(
            f"objective {name!r} has {n_classes} classes, 0 to {n_classes - 1}: "
            f"{list_rows(rows)} of y hold others, first {y[rows[0]]:g}"
        )
