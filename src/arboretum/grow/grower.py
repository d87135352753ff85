"""What every grower takes and returns.

grower = choose(...)                          the table made ready, once for any number of trees (choose.py)
grown = grower.grow(target, rows, key)        a tree, and the leaf of every row of the table in it

GrowTarget   classes or numbers with weights; or gradients, hessians and the columns a tree may use
rows         those the tree learns from, ascending; None: all
key          what random draws depend on, besides the node
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from arboretum.engine.compiler.decorators import writable
from arboretum.engine.fixed_point import are_whole
from arboretum.lazy import cached_property

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.grow.settings import Growth

__all__ = ["GrowTarget", "Grower", "Grown", "make_target", "rest_of"]


@dataclass(frozen=True, eq=False)
class GrowTarget:
    """What a tree is grown for, of all rows of the table."""

    y: np.ndarray  # (n, outputs): int32 class codes, or float64; (n,) float32: gradients
    classes: np.ndarray | None = None  # (outputs,) number of classes; None for regression
    # (n,) float64, or empty when every row weighs 1; of gradients, float32 of the rows that are drawn
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    h: np.ndarray | None = None  # (n,) float32: hessians
    columns: np.ndarray | None = None  # int64: features the tree may use, ascending; None: all

    @property
    def outputs(self) -> int:
        return self.y.shape[1]

    def take(self, rows: np.ndarray) -> GrowTarget:
        """Return the target of some of the rows."""
        return GrowTarget(self.y[rows], self.classes, self.weights_of(rows))

    def weights_of(self, rows: np.ndarray | None) -> np.ndarray:
        """Return the weights of some of the rows; empty if every row weighs 1."""
        return self.weights[rows] if len(self.weights) and rows is not None else self.weights

    @property
    def total_weight(self) -> float:
        return float(self.weights.sum()) if len(self.weights) else float(len(self.y))

    @property
    def whole_weights(self) -> bool:
        """All weights are whole numbers: they are summed exactly."""
        return are_whole(self.weights)


def make_target(
    y: np.ndarray, classes: np.ndarray | None = None, weights: np.ndarray | None = None
) -> GrowTarget:
    """Return a target as kernels take it."""
    return GrowTarget(writable(y), classes, np.empty(0) if weights is None else writable(weights))


@dataclass(frozen=True, eq=False)
class Grown:
    """A grown tree; the leaf of every row is found when it is read."""

    tree: Any  # a Tree; of second-order boosting the nodes as the engine left them (decoding.py)
    find_leaves: Callable[[], np.ndarray]

    @cached_property
    def leaf_of_row(self) -> np.ndarray:
        """The leaf of every row of the table, whether the tree learned from it or not."""
        return self.find_leaves()

    def pruned(self, settings: Growth, matrix: Matrix) -> Grown:
        """Return the tree pruned by cost and complexity."""
        from arboretum.predict.walk import leaves_of
        from arboretum.structure.pruning import prune

        if settings.ccp_alpha <= 0:
            return self
        tree = prune(self.tree, settings.ccp_alpha)
        return Grown(tree, lambda: leaves_of(tree, matrix, settings.n_jobs))


def rest_of(rows: np.ndarray, n: int) -> np.ndarray:
    """Return the other rows of n.

    >>> rest_of(np.array([0, 3]), 5).tolist()
    [1, 2, 4]
    """
    others = np.ones(n, np.bool_)
    others[rows] = False
    return np.flatnonzero(others).astype(np.uint32)


class Grower(Protocol):
    """A table made ready for any number of trees."""

    def grow(self, target: GrowTarget, rows: np.ndarray | None, key: int) -> Grown:
        """Grow a tree."""
        ...
