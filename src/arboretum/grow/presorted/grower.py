"""The trees of gradient boosting: of limited depth, exact, many on one table.

Columns are sorted once per fit. A tree grows level by level, and each column is read once per level. The leaf
of every row is known at the end, so no tree has to be walked.

    rows     store the node they are in; nothing is moved
    search   one pass per column visits every cut of all nodes of a level     engine/presorted/search.py
    divide   rows go by their own values                                      engine/presorted/divide.py

The working arrays are made once and reused. Growing a tree is one compiled call (engine/presorted/grow.py)
or, if the columns of a large table are distributed over threads, a few calls per level.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.columns.lists import NOWHERE
from arboretum.engine.compiler.decorators import writable
from arboretum.engine.fixed_point import GridWeights, bits_of_each, scale_for, weights_to_grid
from arboretum.engine.presorted.divide import write_leaves
from arboretum.engine.presorted.grow import (
    LevelRows,
    LevelWork,
    Limits,
    Nodes,
    close_level,
    grow_tree,
    make_root,
    open_level,
    parts_for,
)
from arboretum.engine.presorted.parts import scan_drawn, scan_in_python
from arboretum.engine.presorted.row_layout import SLOT_BITS
from arboretum.engine.presorted.search import LevelBest, LevelTable, new_scratch
from arboretum.grow.cart import CartGrower
from arboretum.grow.columns import keep_rows
from arboretum.grow.grower import Grown, GrowTarget
from arboretum.grow.presorted.table import level_table
from arboretum.lazy import cached_property
from arboretum.structure.build import build_tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.engine.presorted.parts import LevelParts
    from arboretum.engine.presorted.search import LevelScratch
    from arboretum.grow.settings import Growth
    from arboretum.structure.tree import Tree

__all__ = ["PresortedGrower"]

_WORD_BITS = 62 - SLOT_BITS  # of a row's number, and a sign
_NO_ROWS = np.zeros(0, np.int64)


class _Sample(NamedTuple):
    """The rows that trees learn from, as long as they do not change."""

    rows: np.ndarray | None
    weights: np.ndarray
    inside: np.ndarray  # uint8: whether a row is one of them; empty if all are
    on_grid: GridWeights
    table: LevelTable  # in the order of these rows only


class PresortedGrower:
    """Grows trees on columns that were sorted once: of numbers by squared error, of two classes by Gini.

    The trees are CART's, but for cuts that gain the same up to rounding: there the first column wins.

    Parameters
    ----------
    matrix : Matrix
    schema : Schema
    settings : Growth
        ``max_depth`` is at most `choose.DEEPEST`.
    own_bins : bool
        Where numbers are put into bins, rows that a tree does not learn from have no part in making them.
    """

    def __init__(
        self, matrix: Matrix, schema: Schema, settings: Growth, *, own_bins: bool = False
    ) -> None:
        assert settings.max_depth is not None
        self.matrix, self.schema, self.settings = matrix, schema, settings
        self.table, self.bins = level_table(matrix, schema, settings)
        self.own_bins, self.depth = own_bins and self.bins is not None, settings.max_depth
        width, n = self.table.values.shape
        self.threads = parallel.threads_for(n * width, parallel.TREE, settings.n_jobs)
        self._last: _Sample | None = None
        self.most = min(2 ** (self.depth + 1), 2 * n)
        level = min(2 ** max(self.depth - 1, 0), n)  # nodes of one that is searched
        words = -(-int(self.table.n_codes.max(initial=0)) // 32)  # of the largest set
        self.bits, self.used = np.empty(self.most // 2 * words, np.uint32), np.zeros(1, np.int64)
        self.work = LevelWork(
            node=np.empty(n, np.uint16),
            words=np.empty(n, np.int64),
            order=np.empty(n, np.uint32),
            spare=np.empty(n, np.uint32),
            begin=np.empty((2, self.most), np.int64),
            size=np.empty((2, self.most), np.int64),
            ids=np.empty(2 * level, np.int64),
            keys=np.empty(2 * level, np.uint64),
            mean=np.empty(level + 1),
            weight=np.empty(level + 1),
            rows=np.empty(level + 1, np.int64),
            taken=np.empty((level, width if settings.max_features else 0), np.bool_),
            n_nodes=np.zeros(1, np.int64),
            n_open=np.zeros(1, np.int64),
            next_ids=np.empty(level, np.int64),
            next_keys=np.empty(level, np.uint64),
        )
        self.level, self.columns = level, np.arange(width)
        self.spares: list[LevelScratch] = []
        self.parts: LevelParts | None = None
        shape = width, level
        self.found = LevelBest(
            score=np.full(shape, -1.0),
            place=np.zeros(shape, np.int64),
            on_left=np.zeros(shape),
            flags=np.zeros(shape, np.int64),
            arranged=np.empty((width, n if self.table.has_categories else 0), np.uint32),
            sizes=np.zeros(shape, np.int64),
        )

    @cached_property
    def _cart(self) -> CartGrower:
        """What grows trees on bins of some rows."""
        return CartGrower(self.matrix, self.schema, self.settings)

    def _sample_of(self, rows: np.ndarray | None, weights: np.ndarray) -> _Sample:
        last = self._last
        if last is not None and last.rows is rows and last.weights is weights:
            return last
        n, table, inside = self.matrix.n_rows, self.table, np.zeros(0, np.uint8)
        if rows is not None:
            place, inside = np.full(n, NOWHERE), np.zeros(n, np.uint8)
            place[rows], inside[rows] = rows, 1  # rows keep their numbers
            lists, present = keep_rows(table.lists, place, len(rows), self.threads)
            table = table._replace(lists=lists, present=present)
        self._last = _Sample(rows, weights, inside, weights_to_grid(weights), table)
        return self._last

    def grow(self, target: GrowTarget, rows: np.ndarray | None, key: int) -> Grown:
        """Grow a tree."""
        if self.own_bins and rows is not None:
            return self._cart.grow(target, rows, key)
        sample = self._sample_of(rows, target.weights)
        n = self.matrix.n_rows if rows is None else len(rows)
        settings = self.settings.for_weights(target.weights_of(rows), n)
        table, weights = sample.table, sample.on_grid
        rows_of = LevelRows(
            writable(target.y[:, 0].astype(np.float64, copy=False)), target.weights, weights.row,
            sample.inside, _NO_ROWS if rows is None else rows,
        )  # fmt: skip
        tree = self._grow(
            table, rows_of, weights, settings, key, 1.0 if target.classes is None else 2.0
        )
        leaf = self.work.node.copy()
        return Grown(tree if target.classes is None else _of_shares(tree), lambda: leaf)

    def _grow(
        self,
        table: LevelTable,
        rows: LevelRows,
        weights: GridWeights,
        settings: Growth,
        key: int,
        unit: float,
    ) -> Tree:
        """Grow a tree of numbers; ``unit``: what its decreases of impurity are multiplied by."""
        scale = _scale(rows, weights.whole_weights)
        limits = Limits(
            depth=self.depth,
            samples_split=int(settings.min_samples_split),
            samples_leaf=int(settings.min_samples_leaf),
            weight_leaf=float(settings.min_weight_leaf),
            least_weight=float(max(ceil(settings.min_weight_leaf / weights.step), 1)),
            decrease=float(settings.min_impurity_decrease) / unit,
            columns=int(settings.max_features or 0),
            seed=np.uint64(key),
            whole_weights=weights.whole_weights,
            scale=scale,
            step=weights.step,
            penalty=settings.category_penalty,
            loner=settings.loner_excess,
            smallest=_smallest(rows) * scale * weights.step - float(weights.whole_weights),
        )
        nodes = self._new_nodes()
        if self.threads == 1:
            scratch = self._scratch(rows, limits)
            parts = self._parts_for(table, rows, limits, scratch, nodes)
            grow_tree(
                parts, table, rows, limits, self.work, scratch, self.found, nodes, self.columns
            )
            self.spares.append(scratch)
        else:
            self._grow_shared(table, rows, limits, nodes)
        size = int(self.work.n_nodes[0])
        if self.bins is not None:
            self.bins.to_values(nodes, size)
        return _to_tree(nodes, size, self.schema)

    def _parts_for(
        self,
        table: LevelTable,
        rows: LevelRows,
        limits: Limits,
        scratch: LevelScratch,
        nodes: Nodes,
    ) -> LevelParts:
        """Return the parts of growing; they are the same for every tree."""
        if self.parts is None:
            whole = self.table
            gaps = bool((whole.present < whole.lists.shape[1]).any())
            self.parts = parts_for(
                table, rows, limits, self.work, scratch, self.found, nodes, gaps=gaps
            )
        return self.parts

    def _scratch(self, rows: LevelRows, limits: Limits) -> LevelScratch:
        """Return what a thread searches with; it is kept for the next one."""
        try:
            return self.spares.pop()
        except IndexError:  # every other thread has its own
            pass
        weighted, draws = bool(len(rows.row_weight)), limits.columns > 0
        return new_scratch(self.table, self.level, weighted=weighted, draws=draws)

    def _new_nodes(self) -> Nodes:
        most = self.most
        return Nodes(
            kind=np.empty(most, np.uint8),
            feature=np.empty(most, np.int32),
            first_child=np.empty(most, np.int32),
            n_children=np.empty(most, np.int32),
            missing_child=np.empty(most, np.int32),
            threshold=np.empty(most),
            upper=np.empty(most),
            gain=np.empty(most),
            weight=np.empty(most),
            mean=np.empty(most),
            impurity=np.empty(most),
            count=np.empty(most, np.int64),
            bits_start=np.empty(most, np.int64),
            bits=self.bits,
            used=self.used,
        )

    def _grow_shared(
        self, table: LevelTable, rows: LevelRows, limits: Limits, nodes: Nodes
    ) -> None:
        """Grow as `grow_tree` does, columns shared out to threads."""
        threads, work, found = self.threads, self.work, self.found
        pieces = [self.columns[lo:hi] for lo, hi in parallel.blocks(len(self.columns), 2 * threads)]
        make_root(rows, limits, nodes, work)
        for _ in range(self.depth):
            if work.n_open[0] == 0:
                break
            open_level(rows, limits, work)

            def scan(columns: np.ndarray) -> None:
                scratch = self._scratch(rows, limits)
                scan_in_python(table, columns, rows, limits, work, scratch, found)
                self.spares.append(scratch)

            if limits.columns:
                scratch = self._scratch(rows, limits)
                parts = self._parts_for(table, rows, limits, scratch, nodes)
                scan_drawn(parts, table, rows, limits, work, scratch, found)
                self.spares.append(scratch)
            else:
                parallel.run(scan, pieces, threads)
            close_level(table, rows, limits, work, found, nodes)
        write_leaves(work)


def _scale(rows: LevelRows, whole_weights: bool) -> float:
    """Choose a grid so fine that no sum overflows and the word of a row holds its number."""
    r, w, size = rows.r, rows.weight, len(rows.bag) or len(rows.r)
    if len(w) and whole_weights:
        size = int((w[rows.bag] if len(rows.bag) else w).sum())
    elif len(w):
        r = r * w
    if len(rows.bag):
        r = r[rows.bag]
    largest = max(float(r.max()), -float(r.min()))
    return scale_for(largest, min(_WORD_BITS, bits_of_each(size)) - 1)


def _smallest(rows: LevelRows) -> float:
    """Return the smallest target of the rows in the bag, where they have weights."""
    if not len(rows.weight):
        return 0.0
    return float((rows.r[rows.bag] if len(rows.bag) else rows.r).min())


def _of_shares(tree: Tree) -> Tree:
    """Return a tree of labels 0 and 1 as one of class shares, whose Gini impurity is twice their variance."""
    ones = tree.value[:, :, 0]
    shares = np.empty((*ones.shape, 2))
    shares[:, :, 0], shares[:, :, 1] = 1.0 - ones, ones
    return replace(tree, value=shares, impurity=2.0 * tree.impurity, gain=2.0 * tree.gain)


def _to_tree(nodes: Nodes, n: int, schema: Schema) -> Tree:
    """Return the first n nodes as a tree."""
    return build_tree(
        schema,
        kind=nodes.kind[:n],
        feature=nodes.feature[:n],
        threshold=nodes.threshold[:n],
        first_child=nodes.first_child[:n],
        n_children=nodes.n_children[:n],
        missing_child=nodes.missing_child[:n],
        bits_start=nodes.bits_start[:n],
        bits=nodes.bits[: nodes.used[0]].copy(),
        value=nodes.mean[:n, None, None],
        impurity=nodes.impurity[:n],
        gain=nodes.gain[:n],
        weight=nodes.weight[:n],
        count=nodes.count[:n],
    )
