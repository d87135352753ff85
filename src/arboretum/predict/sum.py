"""Asking many trees: what their leaves add to the outputs of a row, summed in the order of the trees.

There are three ways, and all give the same bits: every number of a row is added to in the order of the
trees, however rows are shared out.

    packed          few rows: one call walks them down all trees, which are one array (packed.py)
    all at once     many trees: a tournament (up to 128 leaves), or masks (up to 64) (layout.py)
    tree by tree    everything else: blocks of rows that fit the cache walk down one tree after another

docs/notes/design.md has the measurements that the choice between them rests on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from arboretum.lazy import cached_property
from arboretum.predict.choose import add_laid_out, lay_out
from arboretum.predict.packed import pack_trees
from arboretum.predict.walk import link_all, run_blocks, walk_block, walk_sum
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from arboretum.data.matrix import Matrix
    from arboretum.predict.choose import Layout

    Adder = Callable[[np.ndarray, np.ndarray], None]

__all__ = ["Terms", "leaves_in"]

_MANY_ROWS = 256  # from which on a layout is worth making,
_FEW_NODES = 1 << 14  # unless they are quickly made
_FEW_ROWS = 24  # that walk down joined trees,
_FEW_WALKS = 1 << 13  # or so many rows times trees: nothing else is laid out as quickly,
_FEW_LEAVES = 1 << 14  # or so many where leaves are asked for,
_MOST_NUMBERS = 1 << 20  # unless it takes a large copy of them
_LEAVES = 1 << 22  # found before what they say is told tree by tree


@dataclass(frozen=True, eq=False)
class Terms:
    """What the nodes of many trees add to the sum of a row.

    Attributes
    ----------
    trees : list of Tree
        Over the same columns.
    values : list of float64 arrays of shape (nodes, k)
        What the nodes of every tree add; k is the same for all.
    columns : int64 array
        The output that the first of a tree's k numbers is added to: where k is 1 every tree has its own.
    """

    trees: list[Tree]
    values: list[np.ndarray]
    columns: np.ndarray

    def add(self, matrix: Matrix, total: np.ndarray, n_jobs: int = 1) -> None:
        """Add what the leaves of all rows say to ``total``, (rows, outputs)."""
        if not self.trees:
            return
        add = self._way(matrix.n_rows)
        run_blocks(lambda lo, hi, X: add(X, total[lo:hi]), matrix, n_jobs)

    def _way(self, n_rows: int) -> Adder:
        if self._is_little(n_rows, _FEW_WALKS) and self._packed is not None:
            return self._walk_packed
        layout = self.layout if n_rows >= _MANY_ROWS or self._is_small else None
        if layout is not None:
            return lambda X, total: add_laid_out(layout, X, total)
        link_all(self.trees)
        return self._walk

    def _is_little(self, n_rows: int, few: int) -> bool:
        return n_rows <= _FEW_ROWS or n_rows * len(self.trees) <= few

    # ------------------------------------------------------------------ three ways
    @cached_property
    def _is_small(self) -> bool:
        """Whether a layout is made in no time."""
        return sum(map(len, self.trees)) <= _FEW_NODES

    @cached_property
    def layout(self) -> Layout | None:
        """The trees laid out to be asked all at once, made once; None if that does not pay."""
        return lay_out(self.trees, self.values, self.columns)

    @cached_property
    def _packed(self) -> np.ndarray | None:
        """The trees and what their nodes add as one array; None if they cannot be, or are large."""
        if sum(one.size for one in self.values) > _MOST_NUMBERS:
            return None
        return pack_trees(self.trees, self.values, self.columns)

    def _walk_packed(self, X: np.ndarray, total: np.ndarray) -> None:
        from arboretum.engine.predict.packed_walk import add_packed

        add_packed(self._packed, X, total)

    def _walk(self, X: np.ndarray, total: np.ndarray) -> None:
        from arboretum.engine.predict.walk import is_complete

        complete = is_complete(X)
        width = self.values[0].shape[1]
        if width == total.shape[1]:
            for tree, value in zip(self.trees, self.values, strict=True):
                walk_sum(tree, value, X, complete, total)
            return
        parts = np.ascontiguousarray(total.T)[:, :, None]  # an output is read and written in one go
        columns = self.columns.tolist()
        for tree, value, column in zip(self.trees, self.values, columns, strict=True):
            walk_sum(tree, value, X, complete, parts[column])
        total[:] = parts[:, :, 0].T

    # ------------------------------------------------------------------ tree by tree
    def leaves(self, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
        """Return the leaf every row reaches in every tree, (rows, trees)."""
        some = bool(self.trees) and matrix.n_rows > 0
        little = some and self._is_little(matrix.n_rows, _FEW_LEAVES)
        packed = self._packed if little else None
        if packed is None:
            return leaves_in(self.trees, matrix, n_jobs)
        from arboretum.engine.predict.packed_walk import find_packed

        found = np.empty((matrix.n_rows, len(self.trees)), np.uint64)
        run_blocks(lambda lo, hi, X: find_packed(packed, X, found[lo:hi]), matrix, n_jobs)
        starts = np.cumsum([0, *map(len, self.trees[:-1])])
        return (found - starts.astype(np.uint64)).astype(np.int32)

    def said(self, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
        """Return the one number that every tree by itself says of all rows, (rows, trees)."""
        leaves = self.leaves(matrix, n_jobs)
        starts = np.cumsum([0, *map(len, self.trees[:-1])])
        return np.concatenate(self.values)[:, 0][leaves + starts]

    def each(self, matrix: Matrix, n_jobs: int = 1) -> Iterator[np.ndarray]:
        """Yield what every tree by itself says of all rows, (rows, k)."""
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
        """Yield the terms of so many trees at a time."""
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
