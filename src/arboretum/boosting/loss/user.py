"""Losses that users write: an object for Friedman's boosting, a function for second-order boosting.

    class LogCosh:
        def gradient(self, y, F): return np.tanh(F - y)                 # ∂L/∂F of every row
        def hessian(self, y, F): return 1 - np.tanh(F - y) ** 2         # ∂²L/∂F² of every row
        def value(self, y, F): return np.log(np.cosh(F - y))            # optional: L, for scores
        def start(self, y, w): return np.average(y, weights=w)          # optional: F_0
        def answer(self, F): return F                                   # optional: the prediction for F

Leaves take the Newton step. Without ``value`` the scores are NaN and early stopping is impossible;
without ``start`` the best constant is searched for. F has shape (n,), or (n, K) with K > 2 classes; y holds
numbers, or class codes 0, 1, ….

A function has the form of the peer it comes from, and returns both derivatives at once. XGBoost calls
``f(y, margin)`` or, with weights, ``f(y, margin, sample_weight=…)``; LightGBM calls ``f(y, margin)``,
``f(y, margin, weight)`` or ``f(y, margin, weight, group)``. Both get raw margins, (n, K) for K > 2 classes,
and return two arrays like them; LightGBM's may also be flat, class after class. XGBoost goes on to treat
margins as its own objectives do: they start at a base score of 0.5, and those of classes become
probabilities. LightGBM starts at 0 and predicts raw margins.

A function that takes weights has to use them. The derivatives of others are multiplied by them
here, on purpose: XGBoost refuses weights then, LightGBM ignores them.

The two forms stay separate: a line search needs only gradients of an object, many times a round, and the
form of the functions is the peers'. Their results are checked every round, by the same rules.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.loss.classes import Logistic, Softmax
from arboretum.boosting.loss.leaves import Leaves, line_search
from arboretum.boosting.loss.loss import Loss, check_labels, check_weight
from arboretum.boosting.loss.objective import Objective, RoundRows, targets_of
from arboretum.data.checks import list_rows
from arboretum.errors import DataError, ParameterError
from arboretum.predict.link import Link

if TYPE_CHECKING:
    Array = np.ndarray

__all__ = ["NotFinite", "UserLoss", "UserObjective", "is_loss", "user_objective"]


class NotFinite(DataError):
    """A loss returned values that are not finite, for these of its rows."""

    def __init__(self, what: str, rows: Array) -> None:
        super().__init__(f"{what} returned values that are not finite ({list_rows(rows)})")
        self.what, self.rows = what, rows


def _numbers(values: Any, what: str, *shapes: tuple[int, ...]) -> Array:
    """Return the result of a user's code as an array of one of some shapes."""
    try:
        values = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} is not made of numbers") from None
    if values.shape not in shapes:
        raise DataError(f"{what} has shape {values.shape}: it must be {shapes[0]}")
    return values


# ---------------------------------------------------------------------- objects
def is_loss(given: Any) -> bool:
    """Return True if an object can serve as a user's loss."""
    return not isinstance(given, type) and all(
        callable(getattr(given, name, None)) for name in ("gradient", "hessian")
    )


class UserLoss(Loss):
    """Makes a loss of a user's object.

    Examples
    --------
    >>> class Squares:
    ...     def gradient(self, y, F):
    ...         return F - y
    ...     def hessian(self, y, F):
    ...         return np.ones(len(y))
    >>> round(float(UserLoss(Squares(), None).start(np.array([1.0, 2.0, 6.0]), None)), 9)
    3.0
    """

    def __init__(self, given: Any, n_classes: int | None) -> None:
        self.given, self.n_classes = given, n_classes
        self.name = type(given).__name__
        self.classifies = n_classes is not None
        self._familiar = Loss()  # its prediction for F is used if the object has none
        if n_classes is not None:
            self._familiar = Logistic() if n_classes == 2 else Softmax(n_classes)

    def _has(self, method: str) -> bool:
        return callable(getattr(self.given, method, None))

    @property
    def has_value(self) -> bool:
        """Whether the loss itself is known, not only its derivatives."""
        return self._has("value")

    def _derivative(self, what: str, y: Array, F: Array, shape: tuple[int, ...]) -> Array:
        numbers = _numbers(getattr(self.given, what)(y, F), f"{self.name}.{what}", shape)
        bad = ~np.isfinite(numbers)
        if bad.any():
            rows = np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))
            raise NotFinite(f"{self.name}.{what}", rows)
        return numbers

    def start(self, y: Array, w: Array | None) -> Array:
        shape = () if (self.n_classes or 0) <= 2 else (self.n_classes,)
        if self._has("start"):
            weight = np.ones(len(y)) if w is None else w
            start = np.asarray(self.given.start(y, weight), dtype=np.float64)
            if start.shape != shape or not np.isfinite(start).all():
                raise DataError(
                    f"{self.name}.start must return {'one finite number' if shape == () else shape}"
                    f", got {start!r}"
                )
            return start
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
        return self._derivative("value", y, F, (len(y),))

    def residuals(self, y: Array, F: Array) -> Array:
        return -self._derivative("gradient", y, F, F.shape)

    def steps(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array:
        h = self._derivative("hessian", y, F, F.shape)
        return leaves.newton(r, h if h.ndim == 1 else h[:, k])

    def answer(self, F: Array) -> Array:
        if self._has("answer"):
            return np.asarray(self.given.answer(F), dtype=np.float64)
        return self._familiar.answer(F)

    def raw_of(self, answer: Array) -> Array:
        return self._familiar.raw_of(answer)


# ---------------------------------------------------------------------- functions
@dataclass(frozen=True, repr=False)
class UserObjective(Objective):
    """A user's function as an objective; a loaded model has lost it and can only predict."""

    function: Callable[..., Any] | None = None
    takes: tuple[str, ...] = ()  # "weight", "group": further arguments of the function

    def check(self, y: Array, weight: Array | None = None, groups: Any = None) -> None:
        """Raise a DataError unless labels and weights are finite."""
        for column in targets_of(y):
            check_labels(column, f"objective {self.name!r}", "any")
        check_weight(weight, len(y))

    def start(self, y: Array, weight: Array | None = None) -> Array:
        """Return the margin of 0.5, or 0: the loss itself is unknown."""
        known = self.dialect == "xgboost"
        return np.full(self.n_outputs, self.margin_of(0.5) if known else 0.0)

    def _write(self, rows: RoundRows, g: Array, h: Array, n_jobs: int) -> None:
        if self.function is None:
            raise ParameterError(
                "the objective was a function, which is not part of a saved model: give it again "
                "as objective= to go on training"
            )
        returned = self._call(rows)
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            raise DataError(
                f"objective {self.name!r} must return two arrays, gradient and hessian, "
                f"got {type(returned).__name__}"
            )
        for what, values, out in zip(("gradient", "hessian"), returned, (g, h)):
            table = self._table(what, values, len(rows.y))
            if rows.weight is not None and "weight" not in self.takes:
                table = table * rows.weight[:, None]
            with np.errstate(over="ignore", invalid="ignore"):
                out[:] = table.T
            self._check_finite(what, out, table, rows.iteration)

    def _call(self, rows: RoundRows) -> Any:
        assert self.function is not None
        margin = rows.margin.copy()  # the function may change it
        margin = margin[:, 0] if self.n_outputs == 1 else margin
        if self.dialect == "lightgbm":
            more = [{"weight": rows.weight, "group": rows.groups}[what] for what in self.takes]
            return self.function(rows.y, margin, *more)
        if self.takes and rows.weight is not None:
            return self.function(rows.y, margin, sample_weight=rows.weight)
        return self.function(rows.y, margin)

    def _table(self, what: str, values: Any, n: int) -> Array:
        """Return a result as an (n, K) table."""
        k = self.n_outputs
        shapes: list[tuple[int, ...]] = [(n,), (n, 1)] if k == 1 else [(n, k)]
        if self.dialect == "lightgbm":
            shapes.append((n * k,))
        values = _numbers(values, f"the {what} of objective {self.name!r}", *shapes)
        return values.reshape(k, n).T if values.ndim == 1 else values

    def _check_finite(self, what: str, out: Array, table: Array, iteration: int) -> None:
        """Raise unless float32 holds all values."""
        good = np.isfinite(out).all(axis=0)
        if good.all():
            return
        rows = np.flatnonzero(~good)
        first = table[rows[0], ~np.isfinite(out[:, rows[0]])][0]
        raise DataError(
            f"objective {self.name!r} returned a {what} that is NaN, infinite or too large for "
            f"float32 in round {iteration}: {list_rows(rows)}, first {first:g}"
        )

    def to_state(self) -> dict[str, Any]:
        """Return the state of an objective without its function."""
        return {**super().to_state(), "n_outputs": self.n_outputs, "function": None}


def user_objective(
    function: Callable[..., Any] | None,
    dialect: str,
    n_classes: int | None,
    name: str = "",
    n_outputs: int | None = None,
) -> UserObjective:
    """Return the objective of a user's function; of a lost function, only name and outputs remain."""
    if n_outputs is None:
        n_outputs = n_classes if n_classes is not None and n_classes > 2 else 1
    link = Link()
    if dialect == "xgboost" and (n_outputs > 1 or n_classes == 2):
        link = Link("softmax" if n_outputs > 1 else "logit")
    return UserObjective(
        name=name or getattr(function, "__name__", type(function).__name__),
        dialect=dialect,
        n_outputs=n_outputs,
        n_classes=n_classes,
        link=link,
        function=function,
        takes=() if function is None else _takes(function, dialect),
    )


def _takes(function: Callable[..., Any], dialect: str) -> tuple[str, ...]:
    """Return the arguments a function takes besides labels and margins."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a builtin without a signature
        return ()
    if dialect == "xgboost":
        takes: tuple[str, ...] = ("weight",) if _fits(signature, 2, {"sample_weight": 0}) else ()
    else:
        called = max((k for k in (2, 3, 4) if _fits(signature, k, {})), default=2)
        takes = ("weight", "group")[: called - 2]
    if not takes and not _fits(signature, 2, {}):
        more = "sample_weight" if dialect == "xgboost" else "weight and group"
        raise ParameterError(
            f"an objective of {dialect} takes y, margin and optionally {more}: "
            f"{getattr(function, '__name__', function)!r} takes {signature}"
        )
    return takes


def _fits(signature: inspect.Signature, n_places: int, options: dict[str, Any]) -> bool:
    """Return True if a function can be called with n arguments by position and others by name."""
    try:
        signature.bind(*range(n_places), **options)
    except TypeError:
        return False
    return True
