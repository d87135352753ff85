"""Losses of the user's own: an object that knows its first two derivatives.

    class LogCosh:
        def gradient(self, y, F): return np.tanh(F - y)                 # ∂L/∂F of every row
        def hessian(self, y, F): return 1 - np.tanh(F - y) ** 2         # ∂²L/∂F² of every row
        def value(self, y, F): return np.log(np.cosh(F - y))            # optional: L, for scores
        def start(self, y, w): return np.average(y, weights=w)          # optional: F_0
        def answer(self, F): return F                                   # optional: what F stands for

Leaves take the Newton step. Without ``value`` the scores are NaN and early stopping has nothing to go by;
without ``start`` the best constant is searched for. F has shape (n,), or (n, K) with K > 2 classes; y holds
numbers, or class codes 0, 1, …. Whatever the object returns is checked every round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.loss.friedman import BinomialDeviance, Loss, MultinomialDeviance
from arboretum.boosting.loss.friedman_steps import Leaves, line_search
from arboretum.data.checks import list_rows
from arboretum.errors import DataError

if TYPE_CHECKING:
    Array = np.ndarray

__all__ = ["CustomLoss", "NotFinite"]


class NotFinite(DataError):
    """A loss returned something that is no number, for these of the rows it was asked about."""

    def __init__(self, what: str, rows: Array) -> None:
        super().__init__(f"{what} returned values that are not finite ({list_rows(rows)})")
        self.what, self.rows = what, rows


class CustomLoss(Loss):
    """Makes a loss of a user's object.

    Examples
    --------
    >>> class Squares:
    ...     def gradient(self, y, F):
    ...         return F - y
    ...     def hessian(self, y, F):
    ...         return np.ones(len(y))
    >>> round(float(CustomLoss(Squares(), None).start(np.array([1.0, 2.0, 6.0]), None)), 9)
    3.0
    """

    def __init__(self, given: Any, n_classes: int | None) -> None:
        self.given, self.n_classes = given, n_classes
        self.name = type(given).__name__
        self.classifies = n_classes is not None
        self._familiar: Loss = Loss()  # says what F stands for if the object does not
        if n_classes is not None:
            self._familiar = (
                BinomialDeviance() if n_classes == 2 else MultinomialDeviance(n_classes)
            )

    @property
    def has_value(self) -> bool:
        """Whether the loss itself is known, not only its derivatives."""
        return callable(getattr(self.given, "value", None))

    def _ask(self, what: str, y: Array, F: Array, shape: tuple[int, ...]) -> Array:
        found = np.asarray(getattr(self.given, what)(y, F), dtype=np.float64)
        if found.shape != shape:
            raise DataError(
                f"{self.name}.{what} returned shape {found.shape}: it must return {shape}, one "
                "number for every score"
            )
        bad = ~np.isfinite(found)
        if bad.any():
            rows = np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))
            raise NotFinite(f"{self.name}.{what}", rows)
        return found

    def start(self, y: Array, w: Array | None) -> Array:
        shape = () if (self.n_classes or 0) <= 2 else (self.n_classes,)
        if callable(getattr(self.given, "start", None)):
            weight = np.ones(len(y)) if w is None else w
            found = np.asarray(self.given.start(y, weight), dtype=np.float64)
            if found.shape != shape or not np.isfinite(found).all():
                raise DataError(
                    f"{self.name}.start must return {'one finite number' if shape == () else shape}"
                    f", got {found!r}"
                )
            return found
        if shape:
            return self._familiar.start(y, w)
        F = np.zeros(len(y))
        r = self.residuals(y, F)
        way = np.sign(r.sum() if w is None else (w * r).sum())
        direction = np.full(len(y), way)
        return np.asarray(way * line_search(lambda F: self.residuals(y, F), F, direction, w))

    def value(self, y: Array, F: Array) -> Array:
        if not self.has_value:
            return np.full(len(y), np.nan)
        return self._ask("value", y, F, (len(y),))

    def residuals(self, y: Array, F: Array) -> Array:
        return -self._ask("gradient", y, F, F.shape)

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        h = self._ask("hessian", y, F, F.shape)
        return leaves.newton(r, h if h.ndim == 1 else h[:, k])

    def answer(self, F: Array) -> Array:
        if callable(getattr(self.given, "answer", None)):
            return np.asarray(self.given.answer(F), dtype=np.float64)
        return self._familiar.answer(F)

    def link(self, answer: Array) -> Array:
        return self._familiar.link(answer)
