"""Some rows of a table in bins, on a worker: a shard's part of growing a tree.

    hold      the codes of the rows, and which rows of the whole table they are
    begin     derivatives become entries; the root's histograms
    split     rows of some nodes are partitioned, children counted
    sums      Σg and Σh of the leaves, finely
    leaves    the leaf of every row

All numbers returned are whole, so sums over shards depend neither on how rows are cut into shards nor on the
order of replies. Nothing is kept from one tree for the next, or margins and derivatives are (kept_rows.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.compiler.decorators import writable
from arboretum.engine.dtypes import COUNTERS, TASK, as_records, record_table
from arboretum.engine.second_order import shard as engine
from arboretum.engine.second_order.histogram import FULL
from arboretum.engine.second_order.items import find_counting
from arboretum.engine.second_order.nodes import GrowingTree, State
from arboretum.engine.second_order.pack import GivenRows
from arboretum.errors import DataError
from arboretum.grow.decoding import GrownNodes
from arboretum.grow.grower import rest_of
from arboretum.grow.histogram import HistogramGrower, features_of
from arboretum.grow.sharded.kept_rows import Added, KeptRows

if TYPE_CHECKING:
    from arboretum.engine.second_order.score import SplitRules, SplitScratch
    from arboretum.grow.bins.bins import Bins

__all__ = ["Beginning", "Counts", "Divided", "Shard", "small_numbers"]

_FIRST_NODES = 64  # memory for nodes is doubled on demand
_ADD = 1  # nanoseconds that a code takes to be added to a histogram


class Beginning(NamedTuple):
    """What a tree is grown for, in one shard."""

    # of the shard's rows, (n_rows,) float32; or those that it keeps for an output
    derivatives: tuple[np.ndarray, np.ndarray] | int
    bits: np.ndarray | None  # uint8, a bit for each row of the shard: 1 if it takes part; None: all
    factor: np.ndarray  # float32, their weights; empty: 1
    most: float  # the largest factor in all shards
    key: int
    scales: np.ndarray  # (1,) SCALES, of all shards


class Counts(NamedTuple):
    """Histograms of some nodes; of few rows, Σg and Σh of a bin are one number, which halves the bytes."""

    is_packed: np.ndarray  # (n_nodes,) bool
    wide: np.ndarray  # (n_wide, 2 n_bins) int64
    packed: np.ndarray  # (n_packed, n_bins) int64


class Divided(NamedTuple):
    """What a shard returns for the nodes that it has divided."""

    n_left: np.ndarray  # (n_orders,) int64, rows of the left children
    counts: Counts


class _Worker(NamedTuple):
    """What a thread needs for itself."""

    state: State
    scratch: SplitScratch


def small_numbers(n: int) -> type[np.generic]:
    """Return the smallest type for the numbers below n.

    >>> [small_numbers(n).__name__ for n in (31, 300, 100_000)]
    ['uint8', 'uint16', 'int32']
    """
    return np.uint8 if n <= 256 else np.uint16 if n <= 65536 else np.int32


class Shard:
    """Some rows of a table in bins.

    An object on a worker derives from it: it reads rows, calls `hold` with their codes, and frees the rows.
    """

    # ------------------------------------------------------------------ before the first tree
    def hold(self, bins: Bins, spans: np.ndarray, n_jobs: int = 1) -> None:
        """Keep the codes of the rows.

        Parameters
        ----------
        bins : Bins
            With the codes of the rows.
        spans : int64 array of shape (k, 2)
            Which rows of the table these are: first row and row after the last, one span after another.
        n_jobs : int
        """
        spans = np.asarray(spans, np.int64).reshape(-1, 2)
        ends = np.cumsum(spans[:, 1] - spans[:, 0])
        self.n_rows = int(ends[-1]) if len(ends) else 0
        if max(bins.codes.shape[1], bins.wide.shape[1]) != self.n_rows:
            raise DataError(
                f"a shard was given the codes of {bins.codes.shape[1]} rows and spans of {self.n_rows}"
            )
        starts = ends - (spans[:, 1] - spans[:, 0])
        self._spans, self._starts = spans, starts
        self._bins, self._n_jobs = bins, n_jobs

    def prepare(self, rules: SplitRules) -> None:
        """Pack the codes, for trees of such rules."""
        bins = self._bins
        self._grower = HistogramGrower(
            bins.codes, features_of(bins), rules, self._n_jobs, wide=bins.wide
        )
        columns = np.arange(bins.n_features, dtype=np.int64)
        slots = (0, 2 * self._grower.n_bins)
        self._tree = self._grower.new_tree(columns, _FIRST_NODES, 1, slots, self.n_rows)
        self._drawn: np.ndarray | None = None
        self._has_leaves = False

    # ------------------------------------------------------------------ a tree
    def begin(self, task: Beginning, added: Sequence[Added] = ()) -> Counts:
        """Begin a tree, after others were added to the margins; return the histograms of its root."""
        self.add(added)
        rows, grower = self._rows_of_bits(task.bits), self._grower
        drawn = np.empty(0, np.uint32) if rows is None else rows
        g, h = self._derivatives(task.derivatives)
        given = GivenRows(g, h, drawn, writable(task.factor), task.most, np.uint64(task.key))
        self._drawn, self._has_leaves = rows, True
        n, spans = self._taking_part(rows)
        grower.scales.chosen[:] = task.scales
        tree = self._tree
        blocks = tree.ranges.shape[1]
        tree.nodes["depth"][0], tree.nodes["first_child"][0] = 0, -1
        edges = n * np.arange(blocks + 1) // blocks
        tree.ranges["start"][0], tree.ranges["end"][0] = edges[:-1], edges[1:]
        state = grower.state_of(tree, given)
        self._parts = grower.parts_for(state, find_counting)
        self._workers = self._new_workers(state)
        entries = tree.lists[0]
        self._share(
            lambda worker, lo, hi: engine.fill_spans(
                given, worker.state.scales, spans, edges[lo], edges[hi], entries
            ),
            blocks,
        )
        return self._count(np.zeros(1, np.int64))

    def split(self, orders: np.ndarray, members: np.ndarray) -> Divided:
        """Divide nodes, and count the children that are wanted."""
        orders, members = as_records(writable(orders)), writable(members)
        self._make_room(int(orders["left"].max()) + 2)
        tree = self._tree
        engine.accept_orders(tree, orders, members)
        self._share(
            lambda worker, lo, hi: engine.part_nodes(
                self._parts, worker.state, worker.scratch, orders, lo, hi
            ),
            len(orders) * tree.ranges.shape[1],
        )
        first, many = orders["first_counted"], orders["n_counted"]
        wanted = np.repeat(first + many, many) - _countdown(many)
        return Divided(self._rows_of(orders["left"]), self._count(wanted))

    def sums(self, leaf_of_node: np.ndarray, n_leaves: int) -> np.ndarray:
        """Return Σg and Σh of the leaves in fine whole numbers, (n_leaves, 2) int64."""
        leaf_of_node = writable(leaf_of_node)
        found: list[np.ndarray] = []

        def add(worker: _Worker, lo: int, hi: int) -> None:
            own = np.zeros((n_leaves, 2), np.int64)
            engine.sum_leaves(worker.state, leaf_of_node, lo, hi, own)
            found.append(own)

        self._share(add, self._tree.ranges.shape[1])
        return np.stack(found).sum(axis=0)

    def leaves(self, tree: GrownNodes) -> np.ndarray:
        """Return the leaf of every row in the tree that has grown."""
        return self._all_leaves(tree).astype(small_numbers(len(tree)))

    def walk(self, tree: GrownNodes) -> np.ndarray:
        """Return the leaf of every row in any tree of codes."""
        rows = np.arange(self.n_rows, dtype=np.uint32)
        return self._walk(tree, rows).astype(small_numbers(len(tree)))

    # ------------------------------------------------------------------ rows that are kept
    def load(
        self,
        derive: Callable[..., None],
        y: np.ndarray,
        weight: np.ndarray | None,
        start: np.ndarray,
    ) -> None:
        """Keep labels, weights and margins of the rows; they are those of `KeptRows`."""
        self._kept = KeptRows(derive, y, weight, start, self._n_jobs)

    def derive(self, m: int, added: Sequence[Added] = ()) -> np.ndarray:
        """Write the derivatives of round ``m``; return the largest |g| and h of every output."""
        self.add(added)
        return self._kept.derive(m)

    def add(self, trees: Sequence[Added]) -> None:
        """Add trees to the margins: the one that has grown last, or any after a loss."""
        for tree, values, output in trees:
            self._kept.add(self._all_leaves(tree), values, output)
            self._has_leaves = False

    def margins(self, rows: np.ndarray | None, added: Sequence[Added] = ()) -> np.ndarray:
        """Return the margins of some rows or, if None, of all, (rows, n_outputs)."""
        self.add(added)
        return self._kept.margin if rows is None else self._kept.margin[rows]

    # ------------------------------------------------------------------ steps of these
    def _derivatives(
        self, given: tuple[np.ndarray, np.ndarray] | int
    ) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(given, tuple):
            return writable(given[0]), writable(given[1])
        return self._kept.g[given], self._kept.h[given]

    def _rows_of_bits(self, bits: np.ndarray | None) -> np.ndarray | None:
        """Return the rows (uint32) whose bits are set; None: all."""
        if bits is None:
            return None
        return np.flatnonzero(np.unpackbits(bits, count=self.n_rows)).astype(np.uint32)

    def _all_leaves(self, tree: GrownNodes) -> np.ndarray:
        """Return the leaf of every row (int32), those that did not take part included."""
        if not self._has_leaves:
            return self._walk(tree, np.arange(self.n_rows, dtype=np.uint32)).astype(np.int32)
        if self._drawn is not None:
            others = rest_of(self._drawn, self.n_rows)
            self._tree.leaf_of[others] = self._walk(tree, others)
        return self._tree.leaf_of

    def _walk(self, tree: GrownNodes, rows: np.ndarray) -> np.ndarray:
        nodes = as_records(writable(tree.nodes))
        return self._grower.leaves_of(GrownNodes(nodes, writable(tree.members)), rows)

    def _taking_part(self, rows: np.ndarray | None) -> tuple[int, np.ndarray]:
        """Return how many rows take part, and the spans of their positions with what makes rows global."""
        starts, shift = self._starts, self._spans[:, 0] - self._starts
        ends = starts + (self._spans[:, 1] - self._spans[:, 0])
        if rows is None:
            return self.n_rows, np.column_stack([starts, ends, shift])
        places = np.searchsorted(rows, np.append(starts, self.n_rows))
        return len(rows), np.column_stack([places[:-1], places[1:], shift])

    def _make_room(self, n_nodes: int) -> None:
        """Double the memory for nodes if there is too little."""
        tree = self._tree
        if n_nodes <= len(tree.nodes):
            return
        many = max(2 * len(tree.nodes), n_nodes)
        bigger = tree._replace(
            nodes=longer(tree.nodes, many),
            members=longer(tree.members, many),
            ranges=longer(tree.ranges, many),
        )
        self._tree = bigger
        state = self._workers[0].state
        self._workers = self._new_workers(state._replace(tree=bigger))

    def _new_workers(self, state: State) -> list[_Worker]:
        tree = state.tree
        return [
            _Worker(state._replace(tree=_own(tree)), scratch) for scratch in self._grower.scratch
        ]

    def _rows_of(self, nodes: np.ndarray) -> np.ndarray:
        """Return how many rows of nodes are here."""
        ranges = self._tree.ranges[nodes]
        return (ranges["end"] - ranges["start"]).sum(axis=1)

    def _count(self, nodes: np.ndarray) -> Counts:
        store = self._grower.store
        tiles, n_bins = len(store.words) + len(store.wide_words), self._grower.n_bins
        is_packed = self._rows_of(nodes) <= FULL
        hists = [
            np.empty((np.count_nonzero(~is_packed), 2 * n_bins), np.int64),
            np.empty((np.count_nonzero(is_packed), n_bins), np.int64),
        ]
        for hist, some in zip(hists, (nodes[~is_packed], nodes[is_packed])):
            work = partial(self._count_into, hist, some)
            self._share(work, len(some) * tiles)
        return Counts(is_packed, *hists)

    def _count_into(
        self, hists: np.ndarray, nodes: np.ndarray, worker: _Worker, start: int, end: int
    ) -> None:
        state = worker.state._replace(tree=worker.state.tree._replace(hists=hists))
        engine.count_nodes(self._parts, state, worker.scratch, nodes, start, end)

    def _share(self, work: Callable[[_Worker, int, int], Any], n_items: int) -> None:
        """Call ``work`` for a range of items, or item by item on several threads."""
        codes = self.n_rows * (len(self._grower.store.starts) - 1)
        threads = parallel.threads_for(codes, _ADD, len(self._workers))
        if threads == 1:
            if n_items:
                work(self._workers[0], 0, n_items)
            return
        idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._workers:
            idle.put(worker)

        def one(item: int) -> None:
            worker = idle.get()
            work(worker, item, item + 1)
            idle.put(worker)

        parallel.run(one, range(n_items), threads)


def longer(table: np.ndarray, n: int) -> np.ndarray:
    """Return a copy with room for n lines."""
    new = np.empty((n, *table.shape[1:]), table.dtype)
    new[: len(table)] = table
    return as_records(new) if table.dtype.names else new


def _own(tree: GrowingTree) -> GrowingTree:
    """Return the tree with the scratch of one thread."""
    return tree._replace(
        counters=record_table(1, COUNTERS),
        task=as_records(np.zeros(1, TASK)),
        goes_left=np.empty_like(tree.goes_left),
    )


def _countdown(many: np.ndarray) -> np.ndarray:
    """Return for every n the numbers n, n - 1, … 1.

    >>> _countdown(np.array([2, 0, 1])).tolist()
    [2, 1, 1]
    """
    ends = np.cumsum(many)
    return np.repeat(ends, many) - np.arange(ends[-1] if len(ends) else 0)
