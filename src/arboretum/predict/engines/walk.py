"""Trees walked one by one: blocks of rows that fit the cache go down one tree after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.predict.engines import costs
from arboretum.predict.walk import link_all, walk_sum

if TYPE_CHECKING:
    from arboretum.predict.sum import Terms
    from arboretum.structure.tree import Tree

__all__ = ["WalkEngine"]


class WalkEngine:
    """Any trees, one after another."""

    def __init__(self, trees: list[Tree], values: list[np.ndarray], columns: np.ndarray) -> None:
        self._trees, self._values, self._columns = trees, values, columns

    @staticmethod
    def cost(trees: Terms, n_rows: int) -> float:
        """Return the expected nanoseconds; see `Engine`."""
        each = costs.WALKED_TREE + n_rows * trees.depth * costs.WALKED_LEVEL
        return trees.n_nodes * costs.WALKED_NODE + len(trees.trees) * each

    @classmethod
    def lay_out(cls, trees: Terms) -> WalkEngine:
        """Return the engine for these trees."""
        link_all(trees.trees)
        return cls(trees.trees, trees.values, trees.columns)

    def add(self, X: np.ndarray, total: np.ndarray) -> None:
        """Add the answers of all trees to ``total``; see `Engine`."""
        from arboretum.engine.predict.walk import is_complete

        complete = is_complete(X)
        if self._values[0].shape[1] == total.shape[1]:
            for tree, value in zip(self._trees, self._values, strict=True):
                walk_sum(tree, value, X, complete, total)
            return
        parts = np.ascontiguousarray(total.T)[:, :, None]  # each output is contiguous in memory
        columns = self._columns.tolist()
        for tree, value, column in zip(self._trees, self._values, columns, strict=True):
            walk_sum(tree, value, X, complete, parts[column])
        total[:] = parts[:, :, 0].T
