"""One tree of second-order boosting on rows in shards, the same as that of `HistogramGrower` on all rows.

    coordinator                                            every shard
    scales of g and h                  ── begin ──►        entries, the root's histograms
    Σ of histograms, best splits       ◄── counts ──
    replay: which nodes come next?     ── split ──►        rows partitioned, children counted
    Σ, best splits, replay again …     ◄── counts ──
    leaves of the final tree           ── sums ──►         Σg and Σh of the leaves
    answers

Nodes are divided in batches, ahead of their turn (engine/second_order/batch.py), so that a tree of 31 leaves
takes a dozen messages instead of 33. If a shard is lost, it is made again and the tree grown anew.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.dtypes import ORDER, as_records, record_table
from arboretum.engine.second_order import batch as engine
from arboretum.engine.second_order.items import find_scanning
from arboretum.engine.second_order.nodes import GrowingTree, State
from arboretum.engine.second_order.pack import GivenRows
from arboretum.engine.second_order.score import Features, SplitRules
from arboretum.errors import DataError
from arboretum.grow.cluster import Lost
from arboretum.grow.decoding import GrownNodes
from arboretum.grow.grower import Grown, GrowTarget
from arboretum.grow.histogram import NOT_GOOD, POOL, HistogramGrower, given_of
from arboretum.grow.shard import Beginning, Counts, longer
from arboretum.grow.shards import Shards

__all__ = ["BatchGrower"]

_FIRST_NODES = 256  # memory for nodes is doubled on demand
_FEWEST_SLOTS = 8


class BatchGrower:
    """Grows trees on the rows of shards.

    Parameters
    ----------
    shards : Shards
    features : Features
    rules : SplitRules
    n_columns : tuple of int
        The numbers of stored columns of one byte and of two bytes.
    groups : (features, words) uint64 array or None
        As in `HistogramGrower`.
    pool : int
        Bytes for the histograms of leaves that wait.
    """

    def __init__(
        self,
        shards: Shards,
        features: Features,
        rules: SplitRules,
        n_columns: tuple[int, int],
        groups: np.ndarray | None = None,
        pool: int = POOL,
    ) -> None:
        narrow, wide = np.empty((n_columns[0], 0), np.uint8), np.empty((n_columns[1], 0), np.uint16)
        self.shards, self.pool = shards, pool
        self._table = HistogramGrower(narrow, features, rules, 1, groups, wide)
        self._columns = np.arange(len(features.storage), dtype=np.int64)
        slots = _FEWEST_SLOTS, 2 * self._table.n_bins
        self._ahead = self._table.new_tree(self._columns, 1, 1, slots, 1)
        self._final, self._index_of, self._wanted = self._final_for(1)
        self._room(_FIRST_NODES)
        shards.prepare(rules)

    @property
    def rules(self) -> SplitRules:
        return self._table.rules

    @rules.setter
    def rules(self, rules: SplitRules) -> None:
        self._table.rules = rules

    def is_small(self, n_rows: int, n_trees: int) -> bool:
        """Return False: rounds are not grown in one call."""
        return False

    # ------------------------------------------------------------------ growing
    def grow(self, target: GrowTarget, rows: np.ndarray | None, key: int) -> Grown:
        """Grow a tree of codes for gradients and hessians; read its leaves before the next one grows."""
        columns = self._columns if target.columns is None else target.columns
        given = given_of(target, rows, key)
        n = len(target.y) if rows is None else len(rows)
        while True:
            try:
                tree = self._grow(given, None if rows is None else n, columns)
                return Grown(tree, lambda: self.leaves(tree))
            except Lost as lost:
                self.shards.recover(lost)

    def leaves(self, tree: GrownNodes) -> np.ndarray:
        """Return the leaf of every row in the tree that has grown."""
        while True:
            try:
                return self.shards.join(self.shards.call("leaves", tree))
            except Lost as lost:
                self.shards.recover(lost)

    def _grow(self, given: GivenRows, n_drawn: int | None, columns: np.ndarray) -> GrownNodes:
        state = self._begin(given, columns)
        parts = self._table.parts_for(state, find_scanning)
        scratch, scales = self._table.scratch[0], state.scales
        if not engine.find_scales(given, scales, len(given.g)):
            raise DataError(NOT_GOOD)
        (root,) = self._sum(self.shards.call_each("begin", self._beginnings(given, n_drawn)))
        n = self.shards.n_rows if n_drawn is None else n_drawn
        engine.open_root(parts, state, scratch, n, root)
        while len(orders := self._orders()):
            members = self._ahead.members[orders["node"]]
            replies = self.shards.call("split", orders, members)
            n_left = np.sum([reply.n_left for reply in replies], axis=0, dtype=np.int64)
            counted = self._sum([reply.counts for reply in replies])
            state = state._replace(tree=self._ahead)
            engine.absorb(parts, state, scratch, orders, n_left, counted)
        return self._finish(state)

    def _begin(self, given: GivenRows, columns: np.ndarray) -> State:
        self._ahead = self._ahead._replace(draw=self._ahead.draw._replace(features=columns))
        self._ahead.counters["nodes"] = 1
        return self._table.state_of(self._ahead, given)

    def _beginnings(self, given: GivenRows, n_drawn: int | None) -> list[tuple[Beginning]]:
        """Return what every shard begins the tree with."""
        g, h = self.shards.cut(given.g), self.shards.cut(given.h)
        drawn = [(None, given.factor)] * len(g)
        if n_drawn is not None:
            drawn = self.shards.cut_rows(given.rows, given.factor)
        chosen = self._table.scales.chosen
        return [
            (Beginning(a, b, rows, factor, given.most, int(given.key), chosen),)
            for a, b, (rows, factor) in zip(g, h, drawn)
        ]

    def _sum(self, replies: list[Counts]) -> np.ndarray:
        """Return the histograms of all shards together, (nodes, 2 n_bins) int64."""
        total = np.zeros((len(replies[0].is_packed), 2 * self._table.n_bins), np.int64)
        for one in replies:
            engine.add_counts(total, *map(_writable, one), self._table.store.starts)
        return total

    # ------------------------------------------------------------------ which nodes are divided
    def _orders(self) -> np.ndarray:
        """Return orders for the nodes to divide next, none if the final tree is whole."""
        ahead, rules = self._ahead, self.rules
        many = engine.replay(ahead, self._final, self._index_of, self._wanted, rules)
        wanted = self._wanted[: self._batch(many)]
        made = int(ahead.counters["nodes"][0])
        orders = record_table(len(wanted), ORDER)
        orders["node"], orders["left"] = wanted, made + 2 * np.arange(len(wanted))
        orders["split"] = ahead.nodes["split"][wanted]
        # the child with less Σh, which mostly has fewer rows; both without the parent's histograms
        lighter = 2 * orders["split"]["left_h"] > ahead.nodes["sum_h"][wanted]
        lost = ahead.nodes["slot"][wanted] < 0
        orders["first_counted"] = orders["left"] + (lighter & ~lost)
        orders["n_counted"] = np.where(ahead.nodes["depth"][wanted] + 1 < rules.max_depth, 1 + lost, 0)
        self._room(made + 2 * len(wanted))
        return orders

    def _batch(self, many: int) -> int:
        """Return how many of the wanted nodes are divided at once.

        The last ones are divided in vain most often: of the third left out, half would be. Level by level all
        are needed. Where draws depend on the numbers of nodes, these must be final.
        """
        if self.rules.node_columns or self.rules.random_cuts:
            return min(many, 1)
        return many if self.rules.depth_first else -(-2 * many // 3)

    def _room(self, n_nodes: int) -> None:
        """Have memory for so many nodes ahead, and for their histograms as far as the pool allows."""
        old, length = self._ahead, 2 * self._table.n_bins
        if n_nodes <= len(old.nodes):
            return
        n, before = 2 * n_nodes, len(old.hists)
        slots = max(min(n, self.pool // (8 * length)), before)
        free = int(old.counters["free_slots"][0])
        free_slots = np.append(old.free_slots[:free], np.arange(before, slots))
        old.counters["free_slots"] = len(free_slots)
        self._ahead = old._replace(
            nodes=longer(old.nodes, n),
            members=longer(old.members, n),
            ranges=longer(old.ranges, n),
            free_slots=longer(free_slots, slots),
            hists=longer(old.hists, slots),
            draw=old.draw._replace(groups=longer(old.draw.groups, n * bool(len(self._table.groups)))),
        )
        self._final, self._index_of, self._wanted = self._final_for(n)

    def _final_for(self, n_ahead: int) -> tuple[GrowingTree, np.ndarray, np.ndarray]:
        """Return memory for a replay: two children may follow on every node ahead."""
        n = 2 * n_ahead + 1
        final = self._table.new_tree(self._columns, n, n, (1, 1), 1)
        return final, np.empty(n, np.int64), np.empty(n_ahead, np.int64)

    # ------------------------------------------------------------------ the final tree
    def _finish(self, state: State) -> GrownNodes:
        final, ahead = self._final, self._ahead
        n, made = int(final.counters["nodes"][0]), int(ahead.counters["nodes"][0])
        leaf_of_node = np.empty(made, np.int32)
        engine.map_leaves(ahead, self._index_of[:n], leaf_of_node)
        sums = np.sum(self.shards.call("sums", leaf_of_node, n), axis=0, dtype=np.int64)
        engine.finish(final, state.features, state.scales, self.rules, sums)
        return GrownNodes(final.nodes[:n].copy(), final.members[:n].copy())


def _writable(array: np.ndarray) -> np.ndarray:
    """Return an array as kernels take it; replies may be read-only."""
    return np.require(array, requirements=["C", "W"])
