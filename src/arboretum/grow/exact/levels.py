"""Exact trees: the arrays that are kept between them, and growing one with several threads.

    root ──► best cuts of the level ──► rows and lists split  ──► next level … ──► splits below γ undone

The steps are those of engine/second_order/exact_levels.py. The columns to search and the
nodes whose rows are partitioned are distributed over the threads.

Columns are presorted lists, the column blocks of XGBoost's exact method. A list holds the rows that have a
value, in the order of the values. Of a sparse matrix whose unstored entries are missing, nothing but what
is stored is ever looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.data.matrix import DenseMatrix, FrameMatrix, SparseMatrix
from arboretum.engine import parallel
from arboretum.engine.columns.lists import PADDING, Lists, divide_rows, take_rows
from arboretum.engine.columns.presort import sort_column
from arboretum.engine.compiler.decorators import writable
from arboretum.engine.dtypes import EXACT_COUNTERS, EXACT_CUT, EXACT_NODE, record_table
from arboretum.engine.second_order import exact as engine
from arboretum.engine.second_order import exact_levels as levels
from arboretum.grow.columns import sort_columns
from arboretum.grow.decoding import GrownNodes
from arboretum.grow.histogram import new_draw

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.grow.exact.grower import ExactGrower

__all__ = ["ExactTree", "grow_levels", "new_tree", "sort_lists", "values_at"]


@dataclass(frozen=True, eq=False)
class ExactTree(GrownNodes):
    """A grown tree in terms of values; its nodes are EXACT_TREE (engine/dtypes.py)."""

    @property
    def threshold(self) -> np.ndarray:
        """x <= threshold goes left; NaN at a leaf."""
        return self.nodes["threshold"]

    @property
    def start(self) -> np.ndarray:
        """Where the rows of a node stand in the grower's entries."""
        return self.nodes["start"]

    @property
    def end(self) -> np.ndarray:
        return self.nodes["end"]


def new_tree(
    n_nodes: int, n_columns: int, n_features: int, groups: np.ndarray
) -> levels.GrowingExactTree:
    """Return an empty tree of up to ``n_nodes`` nodes that may split on ``n_columns`` of the features."""
    return levels.GrowingExactTree(
        nodes=record_table(n_nodes, EXACT_NODE),
        able=np.empty(n_nodes, np.int64),
        counters=record_table(1, EXACT_COUNTERS),
        draw=new_draw(np.empty(n_columns, np.int64), n_features, n_nodes, groups),
    )


def grow_levels(grower: ExactGrower, tree: levels.GrowingExactTree, lists: Lists, key: int) -> None:
    """Grow a tree from its root, level by level, as `exact_levels.grow_exact` does."""
    rules, scales, rows = grower.rules, grower.scales.chosen, grower.rows
    counters, above, width = tree.counters, lists, len(tree.draw.features)
    while True:
        before, first, end = counters[["above", "first", "end"]][0].tolist()
        nodes = tree.nodes[first:end]
        many = levels.open_level(tree, nodes, grower.monotone, scales, rules)
        shape = width, end - first
        found = record_table(shape if many else (0, end - first), EXACT_CUT)
        size = int((nodes["end"] - nodes["start"]).sum())
        if many:
            if first:
                lists = Lists(grower.target, np.empty(shape, np.int64), np.empty(shape, np.int64))
            level = engine.Level(
                nodes, tree.able[:many], lists, rows.words, tree.nodes[before:first], above,
                rows.place, found,
            )  # fmt: skip
            _search(grower, tree, level, key, size)
        if not levels.split_level(tree, nodes, found, lists, rows.entries, rules):
            return
        _divide(grower, lists, nodes, bool(counters["depth"][0] < rules.max_depth), size)
        above = lists


def _search(
    grower: ExactGrower,
    tree: levels.GrowingExactTree,
    level: engine.Level,
    key: int,
    size: int,
) -> None:
    """Part the lists of the level above, and find the best cuts of the able nodes."""
    rules, draw, scales = grower.rules, tree.draw, grower.scales.chosen
    allowed = grower.allowed_table(len(level.able))
    if len(allowed):
        first, depth = tree.counters["first"][0], tree.counters["depth"][0]
        engine.draw_allowed(draw, first, level.able, depth, np.uint64(key), rules, allowed)
    candidates = engine.Candidates(draw.features, grower.has_missing, grower.monotone, allowed)

    def look(block: tuple[int, int]) -> None:
        scratch = grower.borrow()
        engine.search_lists(level, candidates, scales, rules, block[0], block[1], scratch)
        grower.give_back(scratch)

    blocks = parallel.blocks(len(draw.features), 4 * grower.n_jobs)
    grower.share(look, blocks, size * len(draw.features))


def _divide(grower: ExactGrower, lists: Lists, nodes: np.ndarray, deeper: bool, size: int) -> None:
    """Give the rows of split nodes their new positions."""
    grower.share(
        lambda b: divide_rows(lists, nodes, b[0], b[1], grower.rows, deeper),
        parallel.blocks(len(nodes), 8 * grower.n_jobs),
        size,
    )


# ---------------------------------------------------------------------- columns
def sort_lists(matrix: Matrix, n_jobs: int) -> Lists:
    """Return the rows that have a value, column by column, in the order of the values."""
    n, width = matrix.shape
    fill = matrix.fill if isinstance(matrix, SparseMatrix) else None
    if isinstance(matrix, SparseMatrix) and fill is not None and np.isnan(fill).all():
        return _sort_sparse(matrix, n_jobs)
    entries = np.zeros(width * n + PADDING, np.uint32)
    lists = entries[: width * n].reshape(width, n)
    present = sort_columns(matrix.column, (width, n), n_jobs, lists).present
    return Lists(entries, np.arange(width, dtype=np.int64)[:, None] * n, present[:, None])


def _sort_sparse(matrix: SparseMatrix, n_jobs: int) -> Lists:
    """`sort_lists` of what a sparse matrix stores."""
    stored = matrix.by_column
    start = stored.indptr.astype(np.int64)
    entries = np.zeros(start[-1] + PADDING, np.uint32)
    many = np.empty((matrix.n_columns, 1), np.int64)

    def sort(f: int) -> None:
        lo, hi = start[f], start[f + 1]
        values = np.array(stored.data[lo:hi], np.float64)
        order = np.empty(hi - lo, np.uint32)
        if hi > lo:
            sort_column(values, order)
        many[f] = hi - lo - np.count_nonzero(np.isnan(values))
        take_rows(order[: many[f, 0]], writable(stored.indices[lo:hi]), lo, entries)

    threads = parallel.threads_for(len(entries), parallel.SORT, n_jobs)
    parallel.run(sort, range(matrix.n_columns), threads)
    return Lists(entries, start[:-1, None].copy(), many)


def values_at(matrix: Matrix, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the values at (row, column) pairs, without making whole columns."""
    if isinstance(matrix, DenseMatrix):
        return matrix.at(rows, columns)
    if isinstance(matrix, FrameMatrix):
        return np.array([matrix.columns[f][row] for row, f in zip(rows, columns)], np.float64)
    assert isinstance(matrix, SparseMatrix)
    stored, values = matrix.by_column, np.zeros(len(rows))
    for i, (row, f) in enumerate(zip(rows, columns)):
        lo, hi = stored.indptr[f], stored.indptr[f + 1]
        at = lo + np.searchsorted(stored.indices[lo:hi], row)
        if at < hi and stored.indices[at] == row:
            values[i] = stored.data[at]
        elif matrix.fill is not None:
            values[i] = matrix.fill[f]
    return values
