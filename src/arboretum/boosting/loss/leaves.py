"""How far a tree changes the sum: one step for each leaf, or one length for the whole tree.

    step="leaf"           γ of every leaf = argmin Σ w L(y, F + γ) over its rows, by the loss's own formula
    step="line_search"    one η = argmin Σ w L(y, F + η · tree), by bisection of the slope

Formulas use sums, means and quantiles per leaf, which `Leaves` computes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arboretum.data.quantile import weighted_quantile
from arboretum.lazy import cached_property

__all__ = ["Leaves", "line_search"]

_FLAT = 1e-15  # a slope below this share of the first one counts as zero
_LONGEST = 2.0**60  # a loss without a minimum in this direction
_VANISHES = 1e-150  # a Σ w h below this does not determine a step


@dataclass(frozen=True, eq=False)
class Leaves:
    """The rows of a bag, grouped by leaf.

    Parameters
    ----------
    leaf : int array
        Node of every row.
    size : int
        Number of nodes; those that are not leaves have no rows.
    weight : float64 array or None
        None: every row weighs 1.

    Examples
    --------
    >>> leaves = Leaves(np.array([1, 2, 1]), 3, None)
    >>> leaves.mean(np.array([1.0, 5.0, 2.0])), leaves.quantile(np.array([1.0, 5.0, 2.0]), 0.5)
    (array([0. , 1.5, 5. ]), array([0., 1., 5.]))
    """

    leaf: np.ndarray
    size: int
    weight: np.ndarray | None

    def total(self, x: np.ndarray) -> np.ndarray:
        """Return Σ w x of every leaf."""
        return np.bincount(self.leaf, x if self.weight is None else x * self.weight, self.size)

    @cached_property
    def _total_weight(self) -> np.ndarray:
        """Weight of every leaf; 1 where there are no rows."""
        total = np.bincount(self.leaf, self.weight, self.size)
        return np.where(total > 0, total, 1.0)

    def mean(self, x: np.ndarray) -> np.ndarray:
        """Return the weighted mean of every leaf."""
        return self.total(x) / self._total_weight

    def newton(self, r: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Return Σ w r / Σ w h of every leaf; 0 where Σ w h vanishes."""
        up, down = self.total(r), self.total(h)
        flat = np.abs(down) < _VANISHES
        return np.where(flat, 0.0, up / np.where(flat, 1.0, down))

    @cached_property
    def _groups(self) -> list[tuple[int, np.ndarray]]:
        order = np.argsort(self.leaf, kind="stable")
        ends = np.cumsum(np.bincount(self.leaf, minlength=self.size))
        starts = np.concatenate([[0], ends[:-1]])
        some = np.flatnonzero(ends > starts)
        return [(int(k), order[starts[k] : ends[k]]) for k in some]

    def quantile(self, x: np.ndarray, alpha: float) -> np.ndarray:
        """Return the weighted quantile of every leaf."""
        quantiles = np.zeros(self.size)
        for k, rows in self._groups:
            w = None if self.weight is None else self.weight[rows]
            quantiles[k] = weighted_quantile(x[rows], alpha, w)
        return quantiles


def line_search(
    residuals: Callable[[np.ndarray], np.ndarray],
    F: np.ndarray,
    direction: np.ndarray,
    w: np.ndarray | None,
) -> float:
    """Return the η ≥ 0 at which a convex loss is least along a direction.

    Its slope -Σ w r · direction only rises with η: η is doubled until it is no longer negative, then the
    interval is halved until it vanishes.

    Parameters
    ----------
    residuals : callable
        From F to -∂L/∂F of every row, in the shape of F.
    F, direction : arrays of shape (n,) or (n, K)
        The length is common to all columns.
    w : array of shape (n,) or None

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 9.0])
    >>> round(line_search(lambda F: y - F, np.zeros(3), np.full(3, 2.0), None), 12)
    2.0
    """
    weighted = direction if w is None else (w * direction.T).T

    def slope(eta: float) -> float:
        return -float(np.sum(residuals(F + eta * direction) * weighted))

    with np.errstate(over="ignore", invalid="ignore"):
        level = _FLAT * slope(0.0)
        if not level < 0:
            return 0.0  # nothing to gain in this direction
        low, high = 0.0, 1.0
        while slope(high) < level and high < _LONGEST:
            low, high = high, 2 * high
        while (middle := (low + high) / 2) not in (low, high):
            low, high = (middle, high) if slope(middle) < level else (low, middle)
    return high
