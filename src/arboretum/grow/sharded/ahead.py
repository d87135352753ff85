"""A tree whose nodes are divided ahead of their turn, with the histograms of all rows but none of the rows.

    open     the root, by its histograms
    orders   which nodes to divide next
    absorb   what all shards return for these: rows of the left children, histograms of one child each
    finish   the final tree, by the fine sums of its leaves

The kernels are in engine/second_order/batch.py.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.dtypes import ORDER, record_table
from arboretum.engine.second_order import batch as engine
from arboretum.engine.second_order.items import find_scanning
from arboretum.engine.second_order.nodes import GrowingTree
from arboretum.engine.second_order.pack import GivenRows
from arboretum.engine.second_order.score import Features, SplitRules
from arboretum.grow.decoding import GrownNodes
from arboretum.grow.histogram import HistogramGrower, most_leaves
from arboretum.grow.sharded.shard import longer

__all__ = ["TreeAhead"]

_FIRST_NODES = 256  # memory for nodes is doubled on demand


class TreeAhead:
    """A tree that grows in batches.

    Parameters
    ----------
    features : Features
    rules : SplitRules
    n_columns : tuple of int
        How many stored columns have codes of one byte, and how many of two.
    n_rows : int
        Of the table.
    groups : (features, words) uint64 array or None
        As in `HistogramGrower`.
    pool : int
        Bytes for the histograms of leaves that wait.
    """

    def __init__(
        self,
        features: Features,
        rules: SplitRules,
        n_columns: tuple[int, int],
        n_rows: int,
        groups: np.ndarray | None,
        pool: int,
    ) -> None:
        narrow, wide = np.empty((n_columns[0], 0), np.uint8), np.empty((n_columns[1], 0), np.uint16)
        self.table = HistogramGrower(narrow, features, rules, 1, groups, wide, pool)
        self.columns = np.arange(len(features.storage), dtype=np.int64)
        # all leaves of a symmetric tree need their histograms
        self._most_leaves = most_leaves(rules, n_rows) if rules.symmetric else None
        self._ahead = self._new_tree(1, (0, self.length))
        self._make_room(_FIRST_NODES)

    @property
    def rules(self) -> SplitRules:
        return self.table.rules

    @property
    def length(self) -> int:
        """How many numbers the histograms of a node have."""
        return 2 * self.table.n_bins

    @property
    def scales(self) -> np.ndarray:
        """The scales that were chosen, (1,) SCALES."""
        return self.table.scales.chosen

    # ------------------------------------------------------------------ steps of a tree
    def begin(
        self, given: GivenRows, largest: tuple[float, float], n_rows: int, columns: np.ndarray
    ) -> bool:
        """Begin a tree on some columns; return whether its derivatives are valid.

        ``largest``: |g| and h of all ``n_rows`` rows of the table.
        """
        self._ahead = self._ahead._replace(draw=self._ahead.draw._replace(features=columns))
        self._state = self.table.state_of(self._ahead, given)
        return engine.scale_by(*largest, given, self._state.scales, n_rows)

    def open(self, n_rows: int, histograms: np.ndarray) -> None:
        """Make the root on ``n_rows`` rows that take part."""
        parts = self._parts = self.table.parts_for(self._state, find_scanning)
        engine.open_root(parts, self._state, self.table.scratch[0], n_rows, histograms)

    def orders(self) -> tuple[np.ndarray, np.ndarray]:
        """Return orders to divide nodes and their sets of bins, none if the final tree is whole."""
        wanted = self._wanted()
        ahead, rules = self._ahead, self.rules
        made = int(ahead.counters["nodes"][0])
        orders = record_table(len(wanted), ORDER)
        orders["node"], orders["left"] = wanted, made + 2 * np.arange(len(wanted))
        orders["split"] = ahead.nodes["split"][wanted]
        # the child with less Σh, which mostly has fewer rows; both without the parent's histograms
        lighter = 2 * orders["split"]["left_h"] > ahead.nodes["sum_h"][wanted]
        lost = ahead.nodes["slot"][wanted] < 0
        orders["first_counted"] = orders["left"] + (lighter & ~lost)
        depth = ahead.nodes["depth"][wanted] + 1
        if rules.symmetric:  # a leaf that did not take an earlier cut is less deep than its level
            depth = ahead.counters["level"][0]
        orders["n_counted"] = np.where(depth < rules.max_depth, 1 + lost, 0)
        members = ahead.members[wanted]
        self._make_room(made + 2 * len(wanted))
        return orders, members

    def absorb(self, orders: np.ndarray, n_left: np.ndarray, counted: np.ndarray) -> None:
        """Make the children of divided nodes and find their best splits."""
        self._state = self._state._replace(tree=self._ahead)
        scratch = self.table.scratch[0]
        engine.absorb(self._parts, self._state, scratch, orders, n_left, counted)

    def leaf_of_node(self) -> np.ndarray:
        """Return the final number of every node ahead (int32); nodes divided in vain count as leaves."""
        found = np.arange(self._ahead.counters["nodes"][0], dtype=np.int32)
        if not self.rules.symmetric:
            engine.map_leaves(self._ahead, self._index_of[: self.n_nodes], found)
        return found

    @property
    def n_nodes(self) -> int:
        """Nodes of the final tree."""
        return int(self._whole.counters["nodes"][0])

    def finish(self, sums: np.ndarray) -> GrownNodes:
        """Return the final tree; ``sums``: Σg and Σh of its leaves, (n_nodes, 2) int64."""
        tree, n, state = self._whole, self.n_nodes, self._state
        engine.finish(tree, state.features, state.scales, self.rules, sums)
        return GrownNodes(tree.nodes[:n].copy(), tree.members[:n].copy())

    # ------------------------------------------------------------------ which nodes are divided
    def _wanted(self) -> np.ndarray:
        """Return the nodes to divide next."""
        if self.rules.symmetric:
            scratch = self.table.scratch[0]
            many = engine.next_level(self._parts, self._state, scratch, self._buffer)
            return self._buffer[:many]
        many = engine.replay(self._ahead, self._final, self._index_of, self._buffer, self.rules)
        return self._buffer[: self._batch(many)]

    def _batch(self, many: int) -> int:
        """Return how many of the wanted nodes are divided at once.

        The last ones are divided in vain most often: of the third left out, half would be. Level by level all
        are needed. Where draws depend on the numbers of nodes, these must be final.
        """
        if self.rules.node_columns or self.rules.random_cuts:
            return min(many, 1)
        return many if self.rules.depth_first else -(-2 * many // 3)

    @property
    def _whole(self) -> GrowingTree:
        """The tree that is final when no more nodes are wanted; a symmetric one is divided in its order."""
        return self._ahead if self.rules.symmetric else self._final

    # ------------------------------------------------------------------ memory
    def _new_tree(self, n_nodes: int, slots: tuple[int, int]) -> GrowingTree:
        new = self.table.new_tree(self.columns, n_nodes, n_nodes, slots, 1)
        new.counters["free_slots"] = 0
        return new

    def _make_room(self, n_nodes: int) -> None:
        """Double the memory for nodes ahead if there is too little, and for histograms up to the pool."""
        old = self._ahead
        if n_nodes <= len(old.nodes):
            return
        n, before = 2 * n_nodes, len(old.hists)
        slots = max(self.table.slots_for(self._most_leaves or n, 8 * self.length), before)
        free = old.free_slots[: old.counters["free_slots"][0]]
        free = np.append(free, np.arange(before, slots))
        old.counters["free_slots"] = len(free)
        groups = longer(old.draw.groups, n) if len(old.draw.groups) else old.draw.groups
        self._ahead = old._replace(
            nodes=longer(old.nodes, n), members=longer(old.members, n), ranges=longer(old.ranges, n),
            waiting=np.empty(n, np.int64), free_slots=longer(free, slots),
            hists=longer(old.hists, slots), draw=old.draw._replace(groups=groups),
        )  # fmt: skip
        most = 2 * n + 1  # of a replay: two children may follow on every node ahead
        self._final = self._new_tree(most, (0, 1))
        self._index_of, self._buffer = np.empty(most, np.int64), np.empty(n, np.int64)
