"""A boosted model: trees whose answers are added up, output by output.

A round makes ``n_outputs × n_parallel`` trees, output by output. The margin of a row is

    base + Σ weight_t · answer of tree t               weights are 1 but in dart

and the objective turns margins into predictions. Rows are taken in blocks that fit the cache and trees in
their order, so that a sum does not depend on the number of threads, nor on whether trees are walked or
asked all at once (predict/bitmask.py).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.predict.bitmask import add_masked, mask_trees
from arboretum.predict.walk import run_blocks, walk_block, walk_sum
from arboretum.tree.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arboretum.data.matrix import Matrix
    from arboretum.engine.predict.bitmask import Masks

__all__ = ["Ensemble"]

_MANY_ROWS = 256  # from which on a layout of all trees is worth making,
_FEW_NODES = 1 << 14  # unless it is quickly made


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The trees of a boosted model.

    Attributes
    ----------
    trees : list of Tree
        Round by round, in a round output by output, for an output its parallel trees.
    weights : float64 array
        What every tree counts.
    base : float64 array of shape (n_outputs,)
        The margin before any tree.
    n_parallel : int
        Trees per round and output.
    averaged : bool
        The margin is the mean over rounds instead of the sum (boosted forests: "rf").
    """

    trees: list[Tree]
    weights: np.ndarray
    base: np.ndarray
    n_parallel: int = 1
    averaged: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """What pickle keeps: the fields, not what was laid out from them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def n_outputs(self) -> int:
        return len(self.base)

    @property
    def per_round(self) -> int:
        return self.n_outputs * self.n_parallel

    @property
    def n_rounds(self) -> int:
        return len(self.trees) // self.per_round

    def output_of(self, tree: int) -> int:
        """Return the output a tree belongs to."""
        return tree % self.per_round // self.n_parallel

    def rounds(self, start: int, end: int | None) -> Ensemble:
        """Return the model of rounds ``start`` to ``end`` (not included; None: the last).

        The last one asked for is kept, with its layout: a stopped model is asked for the same again.
        """
        stop = self.n_rounds if end is None else min(end, self.n_rounds)
        lo, hi = start * self.per_round, stop * self.per_round
        kept = self.__dict__.get("_last_rounds")
        if kept is None or kept[0] != (lo, hi):
            some = replace(self, trees=self.trees[lo:hi], weights=self.weights[lo:hi])
            kept = self.__dict__["_last_rounds"] = ((lo, hi), some)
        return kept[1]

    def margin(self, matrix: Matrix, base: np.ndarray | None = None, n_jobs: int = 1) -> np.ndarray:
        """Return the margins, (rows, n_outputs); ``base`` replaces the model's own start."""
        total = np.empty((matrix.n_rows, self.n_outputs))
        total[:] = self.base if base is None else base.reshape(matrix.n_rows, -1)
        masks = self._masks() if matrix.n_rows >= _MANY_ROWS or self._is_small else None

        def go(lo: int, hi: int, X: np.ndarray) -> None:
            if masks is not None:
                add_masked(masks, X, total[lo:hi])
            else:
                self._walk(X, total[lo:hi])

        run_blocks(go, matrix, n_jobs)
        return total

    def _walk(self, X: np.ndarray, total: np.ndarray) -> None:
        """Add the trees' answers to the rows of a block, tree by tree."""
        from arboretum.engine.predict.walk import is_complete

        complete = is_complete(X)
        parts = np.ascontiguousarray(total.T)[:, :, None]
        for t, (tree, answer) in enumerate(zip(self.trees, self._answers(), strict=True)):
            walk_sum(tree, answer, X, complete, parts[self.output_of(t)])
        total[:] = parts[:, :, 0].T

    @cached_property
    def _is_small(self) -> bool:
        """Whether a layout is made in no time."""
        return sum(len(tree) for tree in self.trees) <= _FEW_NODES

    def _masks(self) -> Masks | None:
        """Return the trees laid out to be asked all at once, made once; None if that does not pay."""
        if "_laid_out" not in self.__dict__:
            outputs = np.array([self.output_of(t) for t in range(len(self.trees))], np.int64)
            self.__dict__["_laid_out"] = mask_trees(self.trees, self._answers(), outputs)
        return self.__dict__["_laid_out"]

    def _answers(self) -> list[np.ndarray]:
        share = 1.0 / self.n_rounds if self.averaged and self.n_rounds else 1.0
        weights = self.weights * share
        return [
            tree.value[:, 0] if w == 1.0 else tree.value[:, 0] * w
            for tree, w in zip(self.trees, weights, strict=True)
        ]

    def staged(self, matrix: Matrix, n_jobs: int = 1) -> Iterator[np.ndarray]:
        """Yield the margins after every round."""
        done = Ensemble([], np.empty(0), self.base, self.n_parallel)
        total = done.margin(matrix, n_jobs=n_jobs)
        for m in range(self.n_rounds):
            one = replace(self.rounds(m, m + 1), base=np.zeros(self.n_outputs), averaged=False)
            total = total + one.margin(matrix, n_jobs=n_jobs)
            if not self.averaged:
                yield total.copy()
            else:
                yield self.base + (total - self.base) / (m + 1)

    def leaves(self, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
        """Return the leaf every row reaches in every tree, (rows, trees)."""
        from arboretum.engine.predict.walk import is_complete

        found = np.empty((matrix.n_rows, len(self.trees)), np.int32)

        def go(lo: int, hi: int, X: np.ndarray) -> None:
            complete = is_complete(X)
            for t, tree in enumerate(self.trees):
                found[lo:hi, t] = walk_block(tree, X, complete)

        run_blocks(go, matrix, n_jobs)
        return found
