"""Growing a tree: search some nodes, divide them, describe their children; repeat.

    frontier = [root]
    while frontier:
        divide the frontier's nodes at their best cuts  ->  children
        frontier = the children worth searching

All nodes of a level are searched together, which keeps the compiled loops long and the threads busy
even when nodes are small. Which nodes are divided is the only difference between the two policies:

    level by level   every node that may be divided
    best first       the nodes whose division brings most, until the tree has max_leaf_nodes leaves

Best-first is exact though it works in batches: a node's gain does not depend on other nodes, so the
order in which nodes would be taken is replayed on the part of the tree known so far, and every node
the replay takes and that is not divided yet is divided in the next batch. When the replay finds no
undivided node it is the true sequence.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np

from arboretum.data.matrix import Matrix
from arboretum.data.schema import Schema
from arboretum.engine import parallel
from arboretum.engine.columns.lists import NOWHERE, split_columns
from arboretum.engine.random import child_keys
from arboretum.engine.rows.partition import move_rows
from arboretum.engine.split.statistic import SearchRules
from arboretum.grow.apply_split import Divider, Divisions
from arboretum.grow.columns import ColumnStore, keep_rows, store_columns
from arboretum.grow.criterion import Batch, make_statistic
from arboretum.grow.grower import Grown, GrowTarget
from arboretum.grow.nodes import NodeTable
from arboretum.grow.search import Searcher
from arboretum.grow.settings import Growth
from arboretum.predict.walk import leaves_of
from arboretum.structure.build import leaf_of_rows
from arboretum.structure.pruning import number_levels
from arboretum.structure.tree import Tree

__all__ = ["CartGrower"]


class CartGrower:
    """Grows any tree of CART, level by level or best first.

    Parameters
    ----------
    matrix : Matrix
        The encoded table.
    schema : Schema
    settings : Growth
    again : bool
        Many trees will grow: the columns of all rows are kept, and filtered for trees of fewer. Bins are made
        anew for those, unless nodes draw their columns.
    n_jobs : int or None
        Threads that make the columns that are kept; None: those of ``settings``.
    """

    def __init__(
        self,
        matrix: Matrix,
        schema: Schema,
        settings: Growth,
        *,
        again: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.matrix, self.schema, self.settings = matrix, schema, settings
        self.store = self._store(None, n_jobs or settings.n_jobs) if again else None

    def _store(self, rows: np.ndarray | None, n_jobs: int) -> ColumnStore:
        how = self.settings
        return store_columns(
            self.matrix, self.schema.columns, rows, all_codes=how.draws, max_bins=how.max_bins,
            n_jobs=n_jobs,
        )  # fmt: skip

    def _columns_of(self, rows: np.ndarray | None) -> ColumnStore:
        """Return the columns of some rows; the tree that grows on them may reorder the lists."""
        store, how = self.store, self.settings
        if store is None or (rows is not None and how.max_bins is not None and not how.draws):
            return self._store(rows, how.n_jobs)
        lists = store.lists
        if rows is None:  # a stump leaves the lists as they are
            return store if how.max_depth == 1 else replace(store, lists=lists.copy())
        if len(store.list_slots):
            place = np.full(self.matrix.n_rows, NOWHERE)
            place[rows] = np.arange(len(rows), dtype=np.uint32)
            lists = keep_rows(lists, place, len(rows), how.n_jobs).lists
        return replace(store, lists=lists, codes=np.ascontiguousarray(store.codes[:, rows]))

    def grow(self, target: GrowTarget, rows: np.ndarray | None, key: int) -> Grown:
        """Grow a tree; its nodes are numbered level by level."""
        here = target if rows is None else target.take(rows)
        settings = self.settings.for_weights(here.weights, len(here.y))
        columns, matrix = self._columns_of(rows), self.matrix
        growing = _CartTree(matrix, self.schema, here, rows, settings, columns, key)
        tree = growing.grow().to_tree(self.schema)
        if settings.max_leaf_nodes is not None:  # level by level they are made in this order
            tree = number_levels(tree)
        if rows is None:
            return Grown(tree, partial(leaf_of_rows, tree, growing.positions))
        return Grown(tree, partial(leaves_of, tree, matrix, settings.n_jobs))

    def grow_trees(self, target: GrowTarget, weights: np.ndarray, keys: list[int]) -> list[Tree]:
        """Grow a tree for every key on rows of these weights, (trees, rows); 0: left out."""
        return [
            self.grow(replace(target, weights=weight), np.flatnonzero(weight), key).tree
            for weight, key in zip(weights, keys, strict=True)
        ]


class _CartTree:
    """A tree while it grows."""

    def __init__(
        self,
        matrix: Matrix,
        schema: Schema,
        target: GrowTarget,
        rows: np.ndarray | None,
        settings: Growth,
        store: ColumnStore,
        key: int,
    ) -> None:
        self.settings, self.key = settings, key
        n, n_features = len(target.y), schema.n_features
        max_features = n_features if settings.max_features is None else settings.max_features
        signs = np.zeros(n_features, np.int8) if settings.monotone is None else settings.monotone
        rules = SearchRules(
            min_leaf=settings.min_samples_leaf,
            min_weight=settings.min_weight_leaf,
            skip_missing=settings.surrogates > 0,
            bounded=settings.monotone is not None,
        )
        categories = any(c.kind == "categorical" for c in schema.columns)
        self.statistic = make_statistic(target, settings.criterion, rules, categories=categories)
        self.searcher = Searcher(
            store,
            self.statistic,
            signs,
            max_features,
            settings.random_splits,
            settings.n_jobs,
            settings.category_penalty,
            settings.loner_excess,
            schema.charged,
        )
        self.divider = Divider(matrix, schema, rows, self.searcher, settings.surrogates)
        self.store = store
        self.positions = self.statistic.row.id
        self.new_position = np.empty(n, np.uint32)
        self.spare = np.empty(n, np.uint32)
        self.spares: SimpleQueue[np.ndarray] = SimpleQueue()  # one for each thread
        for k in range(min(settings.n_jobs, max(len(store.list_slots), 1))):
            self.spares.put(np.empty(n, np.uint32) if k else self.spare)
        self.side = np.empty(n, np.uint8)
        most = 2 * n if settings.max_depth is None else min(2 * n, 2 ** (settings.max_depth + 1))
        self.nodes = NodeTable(target, most)
        self.total_weight = 0.0

    # ------------------------------------------------------------------ policies
    def grow(self) -> NodeTable:
        """Return the nodes; ``positions`` then hold the rows, those of a leaf side by side."""
        frontier = self._make_root()
        if self.settings.max_leaf_nodes is None:
            while len(frontier):
                batch, divisions = self._search(frontier)
                chosen = divisions.good(self.settings.min_impurity_decrease)
                if not chosen.all():
                    batch, divisions = batch.only(chosen), divisions.only(chosen)
                frontier = self._divide(batch, divisions)
        else:
            self._grow_best_first(frontier)
        return self.nodes

    def _grow_best_first(self, frontier: np.ndarray) -> None:
        assert self.settings.max_leaf_nodes is not None
        waiting: dict[int, tuple[Batch, Divisions, int]] = {}  # searched but not divided
        while True:
            if len(frontier):
                batch, divisions = self._search(frontier)
                good = divisions.good(self.settings.min_impurity_decrease)
                for i in np.flatnonzero(good):
                    waiting[int(batch.ids[i])] = (batch, divisions, int(i))
            taken, undivided = self._replay(waiting)
            if not undivided:
                self.nodes.keep_only(taken)
                return
            parts = [waiting.pop(node) for node in undivided]
            frontier = self._divide_some(parts)

    def _replay(self, waiting: dict[int, Any]) -> tuple[set[int], list[int]]:
        """Take the best nodes first on the tree as known; return those taken, and the undivided."""
        gain, first_child = self.nodes.gain, self.nodes.first_child
        heap: list[tuple[float, int]] = []

        def offer(node: int) -> None:
            if node in waiting:
                heapq.heappush(heap, (-float(waiting[node][1].gain[waiting[node][2]]), node))
            elif first_child[node] >= 0:
                heapq.heappush(heap, (-float(gain[node]), node))

        offer(0)
        taken: set[int] = set()
        undivided: list[int] = []
        while heap and len(taken) + 1 < self.settings.max_leaf_nodes:  # type: ignore[operator]
            _, node = heapq.heappop(heap)
            taken.add(node)
            if node in waiting:
                undivided.append(node)
            else:
                offer(int(first_child[node]))
                offer(int(first_child[node]) + 1)
        return taken, undivided

    def _divide_some(self, parts: list[tuple[Batch, Divisions, int]]) -> np.ndarray:
        """Divide nodes that were searched in different batches."""
        frontier = []
        batches = {id(batch): (batch, divisions) for batch, divisions, _ in parts}
        for key, (batch, divisions) in batches.items():
            where = np.array([i for b, _, i in parts if id(b) == key])
            # the rows' layout belongs to the last batch searched: lay these nodes out again
            fresh = self._lay_out(batch.ids[where])
            frontier.append(self._divide(fresh, divisions.only(where)))
        return np.concatenate(frontier)

    # ------------------------------------------------------------------ steps
    def _make_root(self) -> np.ndarray:
        """Make the root; return it if it is worth searching."""
        start, end = np.array([0]), np.array([len(self.positions)])
        figures = self.statistic.describe(start, end)
        self.total_weight = float(figures.weight[0])
        seed = np.array([self.key], dtype=np.uint64)
        bounds = np.array([[-np.inf, np.inf]])
        ids = self.nodes.add(
            start=start, end=end, **figures._asdict(), key=seed, bounds=bounds, depth=np.zeros(1)
        )
        return ids[self._worth_searching(ids)]

    def _worth_searching(self, ids: np.ndarray) -> np.ndarray:
        settings, nodes = self.settings, self.nodes
        count = nodes.end[ids] - nodes.start[ids]
        worth = nodes.impurity[ids] > 0.0
        worth &= count >= max(settings.min_samples_split, 2 * settings.min_samples_leaf)
        worth &= nodes.weight[ids] >= 2 * settings.min_weight_leaf
        if settings.max_depth is not None:
            worth &= nodes.depth[ids] < settings.max_depth
        return worth

    def _lay_out(self, ids: np.ndarray) -> Batch:
        nodes = self.nodes
        laid_out = self.statistic.prepare(
            nodes.start[ids].astype(np.int64),
            nodes.end[ids].astype(np.int64),
            nodes.bounds[ids],
        )
        return Batch(ids, laid_out, nodes.key[ids], nodes.impurity[ids])

    def _search(self, ids: np.ndarray) -> tuple[Batch, Divisions]:
        batch = self._lay_out(ids)
        best = self.searcher.best(batch)
        share = self.nodes.weight[ids] / self.total_weight
        gain = np.where(
            best.score >= 0, self.statistic.decrease(batch.nodes, best.score) * share, -1.0
        )
        return batch, Divisions(best, gain)

    def _divide(self, batch: Batch, divisions: Divisions) -> np.ndarray:
        """Divide the nodes; return the children worth searching."""
        if len(batch) == 0:
            return batch.ids
        split = self.divider.carry_out(batch, divisions, self.side)
        start, end = batch.nodes.start, batch.nodes.end
        middle = move_rows(self.positions, start, end, self.side, self.new_position, self.spare)
        assert np.all((start < middle) & (middle < end)), "a division left one side empty"
        self.statistic.follow((start, middle, end, self.new_position, self.spare))
        children = self._describe_children(batch, split, middle)
        self.nodes.divide(batch.ids, children[::2], split, divisions.gain)
        worth = self._worth_searching(children)
        self._split_lists(start, middle, end, worth[::2] | worth[1::2])
        return children[worth]

    def _describe_children(self, batch: Batch, split: Any, middle: np.ndarray) -> np.ndarray:
        k = len(batch)
        start, end = np.empty(2 * k, np.int64), np.empty(2 * k, np.int64)
        start[::2], start[1::2] = batch.nodes.start, middle
        end[::2], end[1::2] = middle, batch.nodes.end
        figures, more = self.statistic.describe(start, end), {}
        if self.settings.monotone is not None:
            more["bounds"] = np.repeat(self.nodes.bounds[batch.ids], 2, axis=0)
            self._bound_children(
                self.settings.monotone[split.feature], figures.value, more["bounds"]
            )
        if self.searcher.draws:
            more["key"] = np.empty(2 * k, np.uint64)
            child_keys(batch.keys, more["key"])
        if self.settings.max_depth is not None:
            more["depth"] = np.repeat(self.nodes.depth[batch.ids] + 1, 2)
        return self.nodes.add(start=start, end=end, **figures._asdict(), **more)

    def _bound_children(self, sign: np.ndarray, value: np.ndarray, bounds: np.ndarray) -> None:
        """Keep both children's values inside their parent's bounds, and apart from each other."""
        which = value.shape[2] - 1  # the last class' share, or the number itself
        clipped = np.clip(value[:, 0, which], bounds[:, 0], bounds[:, 1])
        middle = clipped[::2] / 2 + clipped[1::2] / 2
        up, down = sign > 0, sign < 0
        bounds[::2, 1][up] = bounds[1::2, 0][up] = middle[up]
        bounds[::2, 0][down] = bounds[1::2, 1][down] = middle[down]
        # rows placed by surrogates may have turned the order round: both then answer the middle
        clipped = np.clip(clipped, bounds[:, 0], bounds[:, 1])
        value[:, 0, which] = clipped
        if value.shape[2] == 2:
            value[:, 0, 0] = 1.0 - clipped

    def _split_lists(
        self, start: np.ndarray, middle: np.ndarray, end: np.ndarray, again: np.ndarray
    ) -> None:
        """Let the lists follow the rows of nodes of which a child will be searched ``again``."""
        slots = self.store.list_slots
        if not len(slots) or not again.any():
            return
        start, middle, end = start[again], middle[again], end[again]
        work = int((end - start).sum()) * len(slots)
        threads = parallel.threads_for(work, parallel.LEVEL, self.settings.n_jobs)

        def split(block: tuple[int, int]) -> None:
            spare = self.spares.get()
            split_columns(
                self.store.lists, slots[block[0] : block[1]], start, middle, end,
                self.new_position, spare,
            )  # fmt: skip
            self.spares.put(spare)

        parallel.run(split, parallel.blocks(len(slots), 2 * threads if threads > 1 else 1), threads)
