"""SHAP values of many rows by large trees: rows walk down to bottom branches, which are small tables.

Tables of whole trees (tabling.py) are out of reach where paths ask for many columns. The tables of bottom
branches take as long to make as walking some hundred rows, and are dropped after their tree. Bottom branches
of long paths need more nodes of the quadrature than the others, and are walked apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine import parallel
from arboretum.predict.shap.walking import gauss_rules
from arboretum.structure.tree import MULTIWAY

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.predict.shap.layout import Layout

__all__ = ["add_by_lanes", "has_lanes"]

_MOST_STATES = 32  # of a bottom branch
_MOST_NODES = 6  # that ask inside it: each has two outcomes or three
_MOST_COLUMNS = 128  # of a path: bottom branches of eight classes
_LEAST_LEAVES = 128  # of a tree: smaller ones are walked as quickly as prepared
_LEAST_ROWS = 256  # that make it worth while to prepare a tree for another thread
_MOST_ROWS = 1 << 16  # at a time


def has_lanes(layout: Layout) -> np.ndarray:
    """Tell which trees are walked so: large ones of yes-no questions whose paths are not too long."""
    if not layout.n_trees:
        return np.zeros(0, np.bool_)
    plain = np.logical_and.reduceat(layout.paths.kind < MULTIWAY, layout.starts[:-1])
    large = layout.n_leaves >= _LEAST_LEAVES
    return plain & large & (layout.longest > 0) & (layout.longest <= _MOST_COLUMNS)


def add_by_lanes(
    layout: Layout, trees: np.ndarray, matrix: Matrix, out: np.ndarray, n_jobs: int
) -> None:
    """Add path-dependent values by some trees to ``out``, (rows, outputs, columns)."""
    from arboretum.engine.compiler.decorators import writable

    if not len(trees):
        return
    n = matrix.n_rows
    shares = max(min(n_jobs, n // _LEAST_ROWS), -(-n // _MOST_ROWS), 1)
    walk = _LaneWalk(layout, trees)

    def go(block: tuple[int, int]) -> None:
        X = writable(matrix.rows(*block))
        walk.add(X, out[block[0] : block[1]])

    parallel.run(go, parallel.blocks(n, shares), n_jobs)


class _LaneWalk:
    """The walk of some trees."""

    def __init__(self, layout: Layout, trees: np.ndarray) -> None:
        from arboretum.engine.shap.bottoms import NODES

        self.layout, self.trees, self.K = layout, trees, NODES
        self.classes = -(
            -layout.longest // (2 * NODES)
        )  # at most, of the bottom branches of a tree
        self.rules = gauss_rules(NODES * int(self.classes[trees].max()))
        self._questions = layout.paths, layout.edges, layout.branches

    def add(self, X: np.ndarray, out: np.ndarray) -> None:
        """Add what all trees give, one after the other."""
        layout, work = self.layout, self._work()
        for tree in self.trees:
            span = int(layout.starts[tree]), int(layout.starts[tree + 1])
            for number in range(int(self.classes[tree])):
                for k in range(layout.value.shape[1]):
                    self._add_class(span, number, (int(layout.outputs[tree]), k), X, work, out)

    def _add_class(
        self,
        span: tuple[int, int],
        number: int,
        output: tuple[int, int],
        X: np.ndarray,
        work: Any,
        out: np.ndarray,
    ) -> None:
        """Add what the bottom branches of one class give, some nodes of the quadrature at a time."""
        from arboretum.engine.shap.bottoms import fill_bottoms
        from arboretum.engine.shap.lane_walk import walk_lanes

        which, K = 1 << number, self.K
        bottoms, scratch = self._bottoms(span, which)
        if not bottoms.classes[0] & which:
            return
        nodes, weights = (rule[K * (number + 1)] for rule in self.rules)
        said = self.layout.value, output[1]
        for first in range(0, K * (number + 1), K):
            some = slice(first, first + K)
            fill_bottoms(
                *self._questions, span, _MOST_STATES, which, said, nodes[some], scratch, bottoms
            )
            asked = span, _MOST_STATES, which, sum(output)
            walk_lanes(*self._questions, bottoms, asked, weights[some], X, work, out)

    def _bottoms(self, span: tuple[int, int], which: int) -> tuple[Any, Any]:
        """Return the bottom branches of a tree of a class, and what their tables are filled with."""
        from arboretum.engine.shap.bottoms import Bottoms, BottomScratch, find_bottoms

        n, K, whole, long = span[1] - span[0], self.K, np.int32, np.int64
        none = np.empty(0)
        found = Bottoms(
            longest=np.empty(n, whole), classes=np.empty(n, np.uint8), states=np.empty(n, whole),
            times=np.empty(n, np.uint8), number=np.empty(n, whole), edge=np.empty(n, whole),
            column_at=np.empty(n + 1, long), table_at=np.empty(n + 1, long),
            column=np.empty(0, whole), weights=none, table=none,
        )  # fmt: skip
        n_edges, n_columns, lines = find_bottoms(
            *self._questions, span, _MOST_STATES, which, found, np.empty(_MOST_NODES, whole)
        )
        found = found._replace(
            column=np.empty(n_columns, whole), weights=np.empty(n_edges * 6 * K), table=np.empty(lines * K)
        )  # fmt: skip
        scratch = BottomScratch(
            slot=np.empty(n, whole), columns=np.empty((_MOST_NODES, _MOST_NODES), whole),
            n_columns=np.empty(_MOST_NODES, long),
            table=np.empty((_MOST_NODES, _MOST_STATES, 1 + _MOST_NODES, K)),
            weights=np.empty((2, 6, K)),
        )  # fmt: skip
        return found, scratch

    def _work(self) -> Any:
        """Return what a block of rows is worked on."""
        from arboretum.engine.shap.lane_walk import BLOCK, Lanes

        layout, K, byte = self.layout, self.K, np.uint8
        depth = (
            int(layout.deepest[self.trees].max()) + 2
        )  # the edges, one above the root, the start
        return Lanes(
            rows=np.empty((layout.n_columns, BLOCK)), goes=np.empty((depth, BLOCK), byte),
            takes=np.empty((depth, BLOCK), byte), case=np.empty((depth, BLOCK), byte),
            state=np.empty(BLOCK, byte), product=np.empty(depth * BLOCK * K),
            below=np.empty(depth * BLOCK * K), sums=np.empty(layout.n_columns * BLOCK * 4),
            path=np.empty(depth, np.int32), empty=np.empty(depth, byte),
        )  # fmt: skip
