"""Predicting with many trees: what their leaves add to the outputs of a row, in the order of the trees.

All prediction engines (engines/) give the same bits: every sum of a row is built up in the order of the
trees, however the rows are distributed over blocks and threads. `choose` picks the cheapest engine for these
trees and this number of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from arboretum.lazy import cached_property
from arboretum.predict.engines.choose import choose
from arboretum.predict.engines.packed import PackedEngine
from arboretum.predict.engines.walk import WalkEngine
from arboretum.predict.walk import link_all, run_blocks, walk_block
from arboretum.structure.tree import LEAF, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arboretum.data.matrix import Matrix
    from arboretum.predict.engines.choose import Engine

__all__ = ["Terms", "leaves_in"]

_MANY_SPLITS = 8
_LEAVES = 1 << 22  # leaves found at a time before their values are yielded tree by tree


@dataclass(frozen=True, eq=False)
class Terms:
    """What the nodes of many trees add to the sums of a row.

    Attributes
    ----------
    trees : list of Tree
        Over the same columns.
    values : list of float64 arrays of shape (nodes, k)
        The numbers that the nodes of every tree add; k is the same for all trees.
    columns : int64 array
        The output that the first of a tree's k numbers is added to; where k is 1, every tree has its own.
    """

    trees: list[Tree]
    values: list[np.ndarray]
    columns: np.ndarray

    # ------------------------------------------------------------------ what engines cost
    @cached_property
    def n_nodes(self) -> int:
        """Nodes of all trees."""
        return sum(map(len, self.values))

    @cached_property
    def most_nodes(self) -> int:
        """Nodes of the largest tree."""
        return max(map(len, self.values))

    @cached_property
    def depth(self) -> float:
        """Levels of a tree of mean size, if it were balanced."""
        return math.log2(1.0 + 0.5 * self.n_nodes / len(self.trees))

    @cached_property
    def n_splits(self) -> int:
        """Different splits of the first tree, few in a symmetric one; counting ends at nine."""
        tree, found = self.trees[0], set()
        for node in np.flatnonzero(tree.kind != LEAF).tolist():
            found.add(tree.split_of(node))
            if len(found) > _MANY_SPLITS:
                break
        return len(found)

    @cached_property
    def _laid_out(self) -> dict[type[Engine], Engine | None]:
        return {}

    def laid_out(self, engine: type[Engine]) -> Engine | None:
        """Return an engine for these trees, made once; None if it does not support them."""
        if engine not in self._laid_out:
            self._laid_out[engine] = engine.lay_out(self)
        return self._laid_out[engine]

    def _engine_for(self, n_rows: int) -> Engine:
        """Return the engine of least cost; the last one is kept, because servers repeat calls of one size."""
        last = self.__dict__.get("_last_engine")
        if last is None or last[0] != n_rows:
            last = self.__dict__["_last_engine"] = (n_rows, choose(self, n_rows))
        return last[1]

    # ------------------------------------------------------------------ all trees together
    def add(self, matrix: Matrix, total: np.ndarray, n_jobs: int = 1) -> None:
        """Add the numbers of the leaves that all rows reach to ``total``, (rows, outputs)."""
        if not self.trees:
            return
        engine = self._engine_for(matrix.n_rows)
        run_blocks(lambda lo, hi, X: engine.add(X, total[lo:hi]), matrix, n_jobs)

    # ------------------------------------------------------------------ tree by tree
    def leaves(self, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
        """Return the leaf every row reaches in every tree, (rows, trees)."""
        n, packed = matrix.n_rows, None
        if self.trees and n and PackedEngine.cost(self, n) <= WalkEngine.cost(self, n):
            packed = self.laid_out(PackedEngine)
        if not isinstance(packed, PackedEngine):
            return leaves_in(self.trees, matrix, n_jobs)
        find = packed.find
        found = np.empty((n, len(self.trees)), np.uint64)
        run_blocks(lambda lo, hi, X: find(X, found[lo:hi]), matrix, n_jobs)
        starts = np.cumsum([0, *map(len, self.trees[:-1])])
        return (found - starts.astype(np.uint64)).astype(np.int32)

    def numbers(self, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
        """Return the one number that every tree alone gives for every row, (rows, trees)."""
        leaves = self.leaves(matrix, n_jobs)
        starts = np.cumsum([0, *map(len, self.trees[:-1])])
        return np.concatenate(self.values)[:, 0][leaves + starts]

    def each(self, matrix: Matrix, n_jobs: int = 1) -> Iterator[np.ndarray]:
        """Yield, tree by tree, what it alone gives for all rows, (rows, k)."""
        for part in self._parts(max(1, _LEAVES // max(1, matrix.n_rows))):
            if any(tree.spreads for tree in part.trees):
                for one in part._parts(1):  # a row may be in several leaves
                    total = np.zeros((matrix.n_rows, one.values[0].shape[1]))
                    replace(one, columns=np.zeros(1, np.int64)).add(matrix, total, n_jobs)
                    yield total
                continue
            leaves = part.leaves(matrix, n_jobs)
            yield from (value[leaves[:, t]] for t, value in enumerate(part.values))

    def _parts(self, size: int) -> Iterator[Terms]:
        """Yield the terms of ``size`` trees at a time."""
        if size >= len(self.trees):
            yield self
            return
        for lo in range(0, len(self.trees), size):
            here = slice(lo, lo + size)
            yield Terms(self.trees[here], self.values[here], self.columns[here])


def leaves_in(trees: Sequence[Tree], matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
    """Return the leaf every row reaches in every tree, (rows, trees)."""
    from arboretum.engine.predict.walk import is_complete

    found = np.empty((matrix.n_rows, len(trees)), np.int32)
    link_all(trees)

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        complete = is_complete(X)
        for t, tree in enumerate(trees):
            found[lo:hi, t] = walk_block(tree, X, complete)

    run_blocks(go, matrix, n_jobs)
    return found
