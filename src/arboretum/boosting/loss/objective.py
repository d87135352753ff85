"""An objective: a loss with an API's conventions, and all that second-order boosting needs from it.

Boosting adds trees on the *margin* scale. An objective determines where the margins start, how they
should change (two derivatives per row) and what they mean (the prediction scale):

    y ─ check ─ start ─► margin ─ derivatives ─► g, h ─► a tree per output ─► margin ─ … ─ predict

`LossObjective` is a loss per output (quantiles, one class against the rest, several targets), or one of
all outputs (softmax). Objectives hold names and numbers, no data; a saved one is stored as its name and
parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from arboretum.boosting.loss.classes import Logistic, class_shares
from arboretum.boosting.loss.loss import check_labels, check_weight
from arboretum.engine import sums
from arboretum.engine.elementwise import log
from arboretum.errors import ParameterError
from arboretum.predict.link import IDENTITY, Link

if TYPE_CHECKING:
    from arboretum.boosting.loss.loss import Loss
    from arboretum.engine.second_order.loss import LossKernel

    Array = np.ndarray

__all__ = ["LossObjective", "Objective", "targets_of"]

_BLOCK = 1 << 14  # rows of one output: labels, margins and derivatives fit into a core's cache
# smallest share of a class, for a finite logarithm
_RAREST = {"xgboost": 1e-6, "lightgbm": 1e-15, "scikit-learn": 10 * np.finfo(np.float64).eps}


class RoundRows(NamedTuple):
    """The rows whose derivatives are computed in a round; fields as for `Objective.derivatives`."""

    y: Array
    margin: Array
    weight: Array | None
    groups: Any
    iteration: int


@dataclass(frozen=True, repr=False)
class Objective:
    """What boosting needs from every objective; `boosting.names.find.find_objective` returns one.

    Attributes
    ----------
    name : str
        As given by the user.
    dialect : {"xgboost", "lightgbm", "scikit-learn"}
    n_outputs : int
        Trees grown per round: K for K classes, Q for Q quantiles, T for T targets, else 1.
    n_classes : int or None
    parameters : dict
        The parameters that were set, for `to_state`.
    max_delta_step : float
        A limit of leaf values that the objective needs; 0 for none.
    link : Link
        From margins to predictions.
    n_targets : int
        Columns of y: y has shape (n, n_targets) if there are several.
    """

    name: str
    dialect: str
    n_outputs: int = 1
    n_classes: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    max_delta_step: float = 0.0
    link: Link = IDENTITY
    n_targets: int = 1

    def __repr__(self) -> str:
        return repr(self.name)

    @property
    def renew_leaf(self) -> Callable[..., float] | None:
        """How a leaf gets its value from the residuals of its rows, for piecewise linear losses."""
        return None

    def for_targets(self, n: int) -> Self:
        """Return the objective for n columns of y; each column has its own trees."""
        if self.n_outputs > 1:
            raise ParameterError(f"objective {self.name!r} is for one target, y has {n} columns")
        return replace(self, n_outputs=n, n_targets=n)

    def check(self, y: Array, weight: Array | None = None, groups: Any = None) -> None:
        """Raise a DataError that names rows with invalid labels or weights."""
        raise NotImplementedError

    def start(self, y: Array, weight: Array | None = None) -> Array:
        """Return the margin, one per output, that fits best before the first tree."""
        raise NotImplementedError

    def margin_of(self, base_score: float) -> float:
        """Return the margin for a prediction."""
        return self.link.margin(base_score)

    def derivatives(
        self,
        y: Array,
        margin: Array,
        weight: Array | None,
        g: Array,
        h: Array,
        n_jobs: int = 1,
        *,
        iteration: int = 0,
        groups: Any = None,
    ) -> None:
        """Write first and second derivatives at the margins, weights multiplied in.

        Parameters
        ----------
        y : float64 array of shape (n,) or (n, n_targets)
        margin : C-contiguous float64 array of shape (n, n_outputs)
        weight : float64 array of shape (n,), or one per group for ranking, or None
        g, h : C-contiguous float32 arrays of shape (n_outputs, n)
            Written.
        n_jobs : int
            Threads; the result does not depend on it.
        iteration : int
            The round, for objectives with random draws and for messages.
        groups : array of group sizes, optional
            For ranking; without it all rows are one list.
        """
        self._write(RoundRows(y, margin, weight, groups, iteration), g, h, n_jobs)

    def _write(self, rows: RoundRows, g: Array, h: Array, n_jobs: int) -> None:
        raise NotImplementedError

    def compiled(self, y: Array) -> LossKernel | None:
        """Return the loss with which compiled rounds compute derivatives themselves, if they support it."""
        return None

    def by_rows(self, y: Array) -> Objective | None:
        """Return an objective whose derivatives at some of the rows need no other rows; None: there is none.

        ``y``: the labels of all rows. Objectives whose leaves are renewed from residuals have none.
        """
        return None

    def predict(self, margin: Array) -> Array:
        """Return the predictions for margins of shape (n, n_outputs): (n,) numbers, or (n, n_outputs)."""
        return self.link.predict(margin[:, 0] if self.n_outputs == 1 else margin)

    def to_state(self) -> dict[str, Any]:
        """Return the state for `objective_from_state`, as JSON-able values."""
        several = {"n_targets": self.n_targets} if self.n_targets > 1 else {}
        return {
            "name": self.name,
            "dialect": self.dialect,
            "n_classes": self.n_classes,
            "parameters": {key: _plain(value) for key, value in self.parameters.items()},
            **several,
        }


def targets_of(y: Array) -> list[Array]:
    """Return the columns of y."""
    return [y] if y.ndim == 1 else [np.ascontiguousarray(column) for column in y.T]


def _plain(value: Any) -> Any:
    """Return a value made of Python's own types, for JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True, repr=False)
class LossObjective(Objective):
    """An objective that is a sum over the rows.

    Attributes
    ----------
    losses : tuple of Loss
        One per output, or one for all of them.
    domain : str
        Of the labels, if not that of the loss.
    begin : {"mean", "shares", "newton", "zero"}
        Start of the margins: the margin of the mean label or of the class shares, one Newton step
        from 0 (-Σ g / Σ h), or 0. A loss that sets leaves itself starts by the same rule.
    balanced : bool
        The rarer of two classes weighs as much as the other.
    """

    losses: tuple[Loss, ...] = ()
    domain: str = ""
    begin: str = "mean"
    balanced: bool = False

    @property
    def loss(self) -> Loss:
        """The loss; that of the first output if each has its own."""
        return self.losses[0]

    @property
    def _is_one_against_rest(self) -> bool:
        return self.n_outputs > self.n_targets and isinstance(self.loss, Logistic)

    def for_targets(self, n: int) -> Self:
        return replace(super().for_targets(n), losses=self.losses * n)

    def check(self, y: Array, weight: Array | None = None, groups: Any = None) -> None:
        check_weight(weight, len(y))
        owner = f"objective {self.name!r}"
        if self.begin == "shares":
            check_labels(y, owner, "whole", self.n_outputs)
        for column in () if self.begin == "shares" else targets_of(y):
            self.loss.check(column, weight, owner, self.domain)

    # ------------------------------------------------------------------ the start of the margins
    def start(self, y: Array, weight: Array | None = None) -> Array:
        if self.loss.leaf_step is not None:
            every = enumerate(self.losses)
            return np.array(
                [
                    loss.leaf_step(self.labels_of(y, k), 0.0, weight, self.dialect)
                    for k, loss in every
                ]
            )
        if self.begin == "mean":
            mean = np.array([sums.mean(column, weight) for column in targets_of(y)])
            return np.full(self.n_outputs, self.link.raw(mean, self._rarest))
        if self.begin == "shares":
            return self._margins_of_shares(class_shares(y, weight, self.n_outputs))
        return self._newton_step(y, weight) if self.begin == "newton" else np.zeros(self.n_outputs)

    @property
    def _rarest(self) -> float:
        return _RAREST[self.dialect] if self.link.name == "logit" else 0.0

    def _margins_of_shares(self, shares: Array) -> Array:
        """Return the log odds, or the logarithms of the shares; LightGBM alone leaves their mean."""
        if self._is_one_against_rest:
            return self.link.raw(shares, self._rarest)
        logs = log(np.maximum(shares, _RAREST[self.dialect]))
        return logs if self.dialect == "lightgbm" else logs - logs.mean()

    def _newton_step(self, y: Array, weight: Array | None) -> Array:
        shape = (self.n_outputs, len(y))
        g, h = np.empty(shape, np.float32), np.empty(shape, np.float32)
        self.derivatives(y, np.zeros(shape[::-1]), weight, g, h)
        return np.array([-sums.total(gk) / sums.total(hk) for gk, hk in zip(g, h)])

    # ------------------------------------------------------------------ derivatives
    def _write(self, rows: RoundRows, g: Array, h: Array, n_jobs: int) -> None:
        from arboretum.engine import parallel
        from arboretum.engine.second_order import loss as kernels

        y, margin, weight = rows[:3]
        kernel, all_settings = getattr(kernels, self.loss.kernel), self._settings_for(y)

        def write(lo: int, hi: int) -> None:
            if self.loss.kernel == "softmax":
                scratch = np.empty((self.n_outputs + 2, hi - lo))
                kernel(y[lo:hi], margin[lo:hi], lo, g, h, *all_settings[0], scratch)
            else:
                for k, settings in enumerate(all_settings):
                    at = np.ascontiguousarray(margin[lo:hi, k])
                    kernel(self.labels_of(y[lo:hi], k), at, g[k, lo:hi], h[k, lo:hi], *settings)
            if weight is not None:
                for gk, hk in zip(g, h):
                    kernels.weigh(weight[lo:hi], gk[lo:hi], hk[lo:hi])

        # outputs that are read together
        width = self.n_outputs if self.loss.kernel == "softmax" else 1
        pieces = parallel.blocks(len(y), -(-len(y) * width // _BLOCK))
        parallel.run(lambda piece: write(*piece), pieces, n_jobs)

    def compiled(self, y: Array) -> LossKernel | None:
        from arboretum.engine.second_order import loss as kernels

        kinds = {
            "squared": kernels.SQUARED,
            "logistic": kernels.LOGISTIC,
            "softmax": kernels.SOFTMAX,
        }
        kind = kinds.get(self.loss.kernel)
        if kind is None or self.n_targets > 1 or self._is_one_against_rest:
            return None
        return kernels.LossKernel(kind, *self._settings_for(y)[0])

    def _settings_for(self, y: Array) -> list[tuple[float, ...]]:
        """Return the kernel's settings for every loss; some depend on the labels as a whole."""
        return [loss.settings for loss in self._losses_for(y)]

    def _losses_for(self, y: Array) -> tuple[Loss, ...]:
        if not self.balanced:
            return self.losses
        return tuple(_balance(loss, self.labels_of(y, k)) for k, loss in enumerate(self.losses))

    def by_rows(self, y: Array) -> Objective | None:
        if self.renew_leaf is not None:
            return None
        return replace(self, losses=self._losses_for(y), balanced=False)

    def labels_of(self, y: Array, output: int) -> Array:
        """Return the labels as one output sees them."""
        if self.n_targets > 1:
            return np.ascontiguousarray(y[:, output])
        return (y == output).astype(np.float64) if self._is_one_against_rest else y

    @property
    def renew_leaf(self) -> Callable[..., float] | None:
        return None if self.loss.leaf_step is None else self._renew_leaf

    def _renew_leaf(
        self, y: Array, margin: Array, weight: Array | None, rows: Array, output: int = 0
    ) -> float:
        """Return the step of a leaf from the residuals of its ``rows``, before the learning rate."""
        if len(rows) == 0:
            return 0.0
        weight = None if weight is None else weight[rows]
        labels = self.labels_of(y[rows], output)
        return self.losses[output].leaf_step(labels, margin[rows, output], weight, self.dialect)


def _balance(loss: Loss, y: Array) -> Loss:
    """Return a loss whose rarer class weighs as much as the other."""
    positive = int(np.count_nonzero(y > 0))
    negative = len(y) - positive
    if positive == 0 or negative == 0:
        return loss
    assert isinstance(loss, Logistic)
    return replace(loss, no=max(1.0, positive / negative), yes=max(1.0, negative / positive))
