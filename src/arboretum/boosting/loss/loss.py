"""A loss: the cost of a prediction, and all that boosting needs from it.

Trees add up to a *raw* sum F, in statistics the margin; a link maps F to the prediction scale.

    y, F ─┬─ value          L(y, F) of every row          scores of Friedman's boosting
          ├─ residuals      -∂L/∂F                        Friedman's trees fit them
          ├─ steps          argmin_γ Σ w L(y, F + γ)      Friedman's leaves
          └─ kernel         g = ∂L/∂F, h = ∂²L/∂F²        second-order boosting (compiled, float32)
    y, p ─── value_of       L as a function of the prediction p = link(F)       metrics

One class per loss, for all APIs: XGBoost's, LightGBM's and scikit-learn's names lead to them through the
tables of `boosting.names`. If those differ in a convention (the curvature of a softmax, a quantile
between two values) it is a field of the loss, written where the name is looked up, or an argument.

Residuals and steps are those of `arboretum.textbook.gbm_losses`, a leaf at a time there, all leaves at once
here; losses of second-order boosting only have none. F has shape (n,), or (n, K) with K classes; y
holds numbers, or class codes 0, 1, ….
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.data.checks import list_rows
from arboretum.engine import sums
from arboretum.errors import DataError
from arboretum.predict.link import IDENTITY, Link

if TYPE_CHECKING:
    from arboretum.boosting.loss.leaves import Leaves

    Array = np.ndarray

__all__ = ["DOMAINS", "Loss", "check_labels", "check_weight"]


class Loss:
    """A loss of one score per row, or of one score per class."""

    kernel: str  # a function of `engine.second_order.loss`
    takes: ClassVar[tuple[str, ...]] = ()  # fields passed to the kernel
    link: Link = IDENTITY
    domain: str = "any"  # valid labels: a key of the table of domains below
    classifies: bool = False
    leaf_step: ClassVar[Any] = None  # or a function of (y, F, w, convention) of one leaf
    # factor of the scores shown: scikit-learn leaves out the ½ of two losses
    factor: ClassVar[float] = 1.0

    @property
    def settings(self) -> tuple[float, ...]:
        """Arguments of the kernel besides labels and margins."""
        return tuple(getattr(self, name) for name in self.takes)

    def check(self, y: Array, w: Array | None, owner: str = "", domain: str = "") -> None:
        """Raise a DataError that names the rows for which the loss is not defined."""
        check_labels(y, owner, domain or self.domain)
        if self.link.name == "log" and not (y if w is None else y * w).any():
            raise DataError(f"{owner} models the logarithm of a mean, but all labels are 0")

    def for_round(self, y: Array, F: Array, w: Array | None) -> Loss:
        """Return the loss for a round; only Huber's depends on F."""
        return self

    def start(self, y: Array, w: Array | None) -> Array:
        """Return F_0 = argmin_γ Σ w L(y, γ): a number, or one per class."""
        raise NotImplementedError

    def value(self, y: Array, F: Array) -> Array:
        """Return L(y, F) for every row."""
        raise NotImplementedError

    def value_of(self, y: Array, p: Array, least: float = 0.0) -> Array:
        """Return the loss of predictions, kept ``least`` away from where it is infinite."""
        return self.value(y, p)

    def residuals(self, y: Array, F: Array) -> Array:
        """Return -∂L/∂F for every row, in the shape of F."""
        raise NotImplementedError

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        """Return the step of every leaf of the k-th tree; ``r`` are the rows' residuals."""
        raise NotImplementedError

    def answer(self, F: Array) -> Array:
        """Return the prediction for F: a number, or the probabilities of all classes."""
        return self.link.predict(F)

    def raw_of(self, answer: Array) -> Array:
        """Return the F for a prediction."""
        return self.link.raw(answer)

    def score(self, y: Array, F: Array, w: Array | None) -> float:
        """Return the mean loss, as shown."""
        return self.factor * sums.mean(self.value(y, F), w)


# ---------------------------------------------------------------------- labels and weights
# domain -> the labels in words, and a test
DOMAINS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "any": ("finite numbers", np.isfinite),
    "above -1": ("numbers above -1", lambda y: y > -1),
    "0 or more": ("numbers of 0 or more", lambda y: y >= 0),
    "above 0": ("numbers above 0", lambda y: y > 0),
    "share": ("numbers from 0 to 1", lambda y: (y >= 0) & (y <= 1)),
    "binary": ("0 or 1", lambda y: (y == 0) | (y == 1)),
    "whole": ("whole numbers of 0 or more", lambda y: (y >= 0) & (y == np.floor(y))),
}


def check_labels(y: np.ndarray, owner: str, domain: str, n_classes: int | None = None) -> None:
    """Raise unless all labels are finite and within a domain, and classes below K.

    >>> check_labels(np.array([2.0, -1.0]), "loss='poisson'", "0 or more")
    Traceback (most recent call last):
    arboretum.errors.DataError: loss='poisson' needs labels that are numbers of 0 or more: row 1 of y ...
    """
    y = np.asarray(y)
    if y.ndim != 1 or len(y) == 0:
        raise DataError(f"y must be one column with at least one row, got shape {y.shape}")
    for phrase, holds in (DOMAINS["any"], DOMAINS[domain]):
        good = holds(y)
        if not good.all():
            rows = np.flatnonzero(~good)
            raise DataError(
                f"{owner} needs labels that are {phrase}: {list_rows(rows)} of y "
                f"{'holds' if len(rows) == 1 else 'hold'} others, first {y[rows[0]]:g}"
            )
    if n_classes is not None and y.max() >= n_classes:
        rows = np.flatnonzero(y >= n_classes)
        raise DataError(
            f"{owner} has {n_classes} classes, 0 to {n_classes - 1}: "
            f"{list_rows(rows)} of y hold others, first {y[rows[0]]:g}"
        )


def check_weight(weight: np.ndarray | None, n: int) -> None:
    """Raise unless weights are one finite number of 0 or more per row, not all 0."""
    if weight is None:
        return
    if weight.shape != (n,):
        raise DataError(f"weight has shape {weight.shape}: it must hold {n} numbers, one per row")
    good = np.isfinite(weight) & (weight >= 0)
    if not good.all():
        rows = np.flatnonzero(~good)
        raise DataError(
            f"weights must be finite numbers of 0 or more: {list_rows(rows)}, "
            f"first {weight[rows[0]]:g}"
        )
    if not weight.any():
        raise DataError("all weights are 0: at least one row must count")
