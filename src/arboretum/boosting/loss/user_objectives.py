"""Objectives that users write: functions from labels and margins to two derivatives.

XGBoost calls ``f(y, margin)`` or, with weights, ``f(y, margin, sample_weight=…)``; LightGBM calls
``f(y, margin)``, ``f(y, margin, weight)`` or ``f(y, margin, weight, group)``. Both get raw margins,
(n, K) for K > 2 classes, and return two arrays like them; LightGBM's may also be flat, class after class.

XGBoost goes on to treat margins as its own objectives do: they start at a base score of 0.5, and those of
classes become probabilities. LightGBM starts at 0 and predicts raw margins.

A function that takes weights has to use them. To the derivatives of one that does not they are multiplied
here, on purpose: XGBoost refuses weights then, LightGBM ignores them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.boosting.loss.links import Link, softmax
from arboretum.boosting.loss.objective_base import Objective, check_labels, check_weight
from arboretum.data.checks import list_rows
from arboretum.errors import DataError, ParameterError

__all__ = ["UserObjective", "user_objective"]


@dataclass(frozen=True)
class UserObjective(Objective):
    """A user's function as an objective; a loaded model has lost it and can only predict."""

    function: Callable[..., Any] | None = None
    takes: tuple[str, ...] = ()  # "weight", "group": what it is called with besides

    def check(self, y: np.ndarray, weight: np.ndarray | None = None, groups: Any = None) -> None:
        """Raise a DataError unless labels and weights are finite."""
        check_labels(y, self.name, "any")
        check_weight(weight, len(y))

    @property
    def _link(self) -> Link:
        return Link("logit" if self.dialect == "xgboost" and self.n_classes == 2 else "identity")

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the margin of 0.5, or 0: nothing is known about the loss."""
        ours = self.dialect == "xgboost"
        return np.full(self.n_outputs, self.margin_of(0.5) if ours else 0.0)

    def margin_of(self, base_score: float) -> float:
        """Return the margin that stands for a prediction."""
        return self._link.margin(base_score)

    def predict(self, margin: np.ndarray) -> np.ndarray:
        """Return margins, or XGBoost's probabilities of classes."""
        if self.dialect == "xgboost" and self.n_outputs > 1:
            return softmax(margin)
        return self._link.predict(super().predict(margin))

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
        """Write what the function returns, checked."""
        if self.function is None:
            raise ParameterError(
                "the objective was a function, which is not part of a saved model: give it again "
                "as objective= to go on training"
            )
        found = self._call(y, margin.copy(), weight, groups)
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise DataError(
                f"objective {self.name!r} must return two arrays, gradient and hessian, "
                f"got {type(found).__name__}"
            )
        for what, values, out in zip(("gradient", "hessian"), found, (g, h)):
            table = self._table(what, values, len(y))
            if weight is not None and "weight" not in self.takes:
                table = table * weight[:, None]
            with np.errstate(over="ignore", invalid="ignore"):
                out[:] = table.T
            self._check_finite(what, out, table, iteration)

    def _call(
        self, y: np.ndarray, margin: np.ndarray, weight: np.ndarray | None, groups: Any
    ) -> Any:
        assert self.function is not None
        margin = margin[:, 0] if self.n_outputs == 1 else margin
        if self.dialect == "lightgbm":
            more = [{"weight": weight, "group": groups}[what] for what in self.takes]
            return self.function(y, margin, *more)
        if self.takes and weight is not None:
            return self.function(y, margin, sample_weight=weight)
        return self.function(y, margin)

    def _table(self, what: str, values: Any, n: int) -> np.ndarray:
        """Return an answer as an (n, K) table."""
        try:
            values = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            raise DataError(
                f"the {what} of objective {self.name!r} is not made of numbers"
            ) from None
        if values.shape == (n, self.n_outputs):
            return values
        if values.shape == (n,) and self.n_outputs == 1:
            return values[:, None]
        if values.shape == (n * self.n_outputs,) and self.dialect == "lightgbm":
            return values.reshape(self.n_outputs, n).T
        wanted = f"({n},)" if self.n_outputs == 1 else f"({n}, {self.n_outputs})"
        raise DataError(
            f"the {what} of objective {self.name!r} has shape {values.shape}: it must be {wanted}"
        )

    def _check_finite(self, what: str, out: np.ndarray, table: np.ndarray, iteration: int) -> None:
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
    function: Callable[..., Any], dialect: str, n_classes: int | None
) -> UserObjective:
    """Return the objective of a user's function."""
    n_outputs = n_classes if n_classes is not None and n_classes > 2 else 1
    return UserObjective(
        name=getattr(function, "__name__", type(function).__name__),
        dialect=dialect,
        n_outputs=n_outputs,
        n_classes=n_classes,
        function=function,
        takes=_takes(function, dialect),
    )


def _takes(function: Callable[..., Any], dialect: str) -> tuple[str, ...]:
    """Return what a function wants besides labels and margins."""
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
    """Return whether a function can be called with so many arguments and some by name."""
    try:
        signature.bind(*range(n_places), **options)
    except TypeError:
        return False
    return True
