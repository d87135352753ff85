"""What every objective offers to boosting, and the checks and loops they share.

Boosting adds trees on the *margin* scale. An objective says where the margins start, which way they
should move (two derivatives per row) and what they mean (the prediction scale):

    y ─ check ─ start ─► margin ─ derivatives ─► g, h ─► a tree per output ─► margin ─ … ─ predict

Objectives hold names and numbers, no data; a saved one is what it was asked for by, found anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.boosting.loss.links import Link
from arboretum.data.checks import list_rows
from arboretum.errors import DataError

if TYPE_CHECKING:
    from arboretum.engine.gradient.loss import Loss

__all__ = ["Objective", "check_labels", "check_weight", "in_blocks", "weighted_mean"]

_BLOCK = (
    1 << 14
)  # rows of one output: labels, margins and derivatives of a block fit into a core's cache


@dataclass(frozen=True)
class Objective:
    """A loss and all that boosting needs to know of it; get one from `find_objective`.

    Attributes
    ----------
    name : str
        As the user gave it.
    dialect : {"xgboost", "lightgbm"}
    n_outputs : int
        Trees grown per round: K for K classes, Q for Q quantiles, else 1.
    constant_hessian : bool
        All second derivatives are 1 when there are no weights.
    max_delta_step : float
        A limit of leaf values that the objective asks for; 0 for none.
    renew_leaf : None or method
        How a leaf gets its value from the residuals of its rows, for losses made of straight lines.
    """

    name: str
    dialect: str
    n_outputs: int = 1
    n_classes: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    constant_hessian: bool = False
    max_delta_step: float = 0.0

    renew_leaf: ClassVar[Callable[..., float] | None] = None

    def check(self, y: np.ndarray, weight: np.ndarray | None = None, groups: Any = None) -> None:
        """Raise a DataError, naming rows, if the labels or weights cannot be learned from."""
        raise NotImplementedError

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return the margin, one per output, that fits best before the first tree."""
        raise NotImplementedError

    def margin_of(self, base_score: float) -> float:
        """Return the margin that stands for a prediction."""
        return Link().margin(base_score)

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
        """Write first and second derivatives at the margins, weights multiplied in.

        Parameters
        ----------
        y : float64 array of shape (n,)
        margin : C-contiguous float64 array of shape (n, n_outputs)
        weight : float64 array of shape (n,), or one per group for ranking, or None
        g, h : C-contiguous float32 arrays of shape (n_outputs, n)
            Written.
        n_jobs : int
            Threads; the result does not depend on it.
        iteration : int
            The round, for objectives that draw and for messages.
        groups : array of group sizes, optional
            For ranking; without it all rows are one list.
        """
        raise NotImplementedError

    def compiled(self, y: np.ndarray) -> Loss | None:
        """Return the loss by which compiled rounds take derivatives themselves, if they know it."""
        return None

    def predict(self, margin: np.ndarray) -> np.ndarray:
        """Return what margins of shape (n, n_outputs) mean: (n,) numbers, or (n, n_outputs)."""
        return margin[:, 0] if self.n_outputs == 1 else margin

    def to_state(self) -> dict[str, Any]:
        """Return what `objective_from_state` needs, as JSON-able values."""
        return {
            "name": self.name,
            "dialect": self.dialect,
            "n_classes": self.n_classes,
            "parameters": {key: _plain(value) for key, value in self.parameters.items()},
        }


def _plain(value: Any) -> Any:
    """Return a value made of Python's own types, for JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


# ---------------------------------------------------------------------- checks
_ANY = "finite numbers"
# What labels must be, and which are
DOMAINS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "any": (_ANY, np.isfinite),
    "above -1": ("numbers above -1", lambda y: y > -1),
    "0 or more": ("numbers of 0 or more", lambda y: y >= 0),
    "share": ("numbers from 0 to 1", lambda y: (y >= 0) & (y <= 1)),
    "binary": ("0 or 1", lambda y: (y == 0) | (y == 1)),
    "whole": ("whole numbers of 0 or more", lambda y: (y >= 0) & (y == np.floor(y))),
}


def check_labels(y: np.ndarray, name: str, domain: str) -> None:
    """Raise unless all labels are finite and within a domain."""
    y = np.asarray(y)
    if y.ndim != 1 or len(y) == 0:
        raise DataError(f"y must be one column with at least one row, got shape {y.shape}")
    for phrase, holds in (DOMAINS["any"], DOMAINS[domain]):
        good = holds(y)
        if not good.all():
            rows = np.flatnonzero(~good)
            raise DataError(
                f"objective {name!r} needs labels that are {phrase}: {list_rows(rows)} of y "
                f"{'holds' if len(rows) == 1 else 'hold'} others, first {y[rows[0]]:g}"
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


# ---------------------------------------------------------------------- loops and sums
def in_blocks(n: int, n_jobs: int, work: Callable[[int, int], None], width: int = 1) -> None:
    """Call ``work(lo, hi)`` on blocks of rows, shorter the wider they are, on several threads."""
    from arboretum.engine import parallel

    pieces = parallel.blocks(n, -(-n * width // _BLOCK))
    parallel.run(lambda piece: work(*piece), pieces, n_jobs)


def weighted_mean(values: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the mean of values by weight."""
    if weight is None:
        return float(values.mean())
    return float((values * weight).sum() / weight.sum())
