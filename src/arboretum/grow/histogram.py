"""One tree of second-order boosting: from gradients to a grown tree.

    g, h of all rows  ->  entries (row, g, h in small whole numbers)        engine/second_order/pack.py
    entries           ->  histograms, best splits, parted entries           engine/second_order/grow.py
    leaves            ->  Σg and Σh again, finely; what each node answers   engine/second_order/grow.py

A tree grows in one compiled call, which other threads help with. All sums are whole numbers, so the tree
is the same for any number of them.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine import parallel
from arboretum.engine import team as teams
from arboretum.engine.compiler.private import LINKED
from arboretum.engine.dtypes import (
    COUNTERS,
    NODE,
    PAIR,
    RANGE,
    SCALES,
    SPLIT,
    TASK,
    as_records,
    record_table,
)
from arboretum.engine.second_order import decode, histogram
from arboretum.engine.second_order import grow as engine
from arboretum.engine.second_order import rounds as boost_round
from arboretum.engine.second_order.draw import ColumnDraw
from arboretum.engine.second_order.items import Parts, find_parts
from arboretum.engine.second_order.loss import find_derive
from arboretum.engine.second_order.nodes import GrowingTree, State, Store
from arboretum.engine.second_order.pack import GivenRows, Scales
from arboretum.engine.second_order.score import Features, SplitRules, SplitScratch
from arboretum.errors import DataError, ParameterError
from arboretum.grow.decoding import GrownNodes, Logged
from arboretum.grow.grower import Grown, GrowTarget, rest_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from arboretum.engine.second_order.rounds import RoundTarget, Turn
    from arboretum.grow.bins.bins import Bins

if LINKED:
    from arboretum.engine.compiler.by_reference import type_of

__all__ = [
    "HistogramGrower",
    "features_of",
    "found",
    "given_of",
    "make_given",
    "most_leaves",
    "new_draw",
    "new_log",
    "new_scales",
]

_ADD = 1  # nanoseconds that a code takes to be added to a histogram, with threads that spin
MOST_LOGGED = 1 << 18  # nodes that a round of small trees may have
MANY_CODES = 1 << 24  # of all trees of a call, for about a tenth of a second: Ctrl-C waits so long
NOT_GOOD = "derivatives must be finite, and second ones not negative"
POOL = 1 << 29  # bytes for histograms of leaves that wait
MOST_OF_A_LEVEL = 1 << 31  # the same, for all leaves of a symmetric tree
LOG = 1 << 13  # nodes of small trees that are written down before a new log is made
_NO_ROWS, _NO_FACTORS = np.empty(0, np.uint32), np.empty(0, np.float32)


# ---------------------------------------------------------------------- what kernels are handed
_FOUND: dict[Any, Any] = {}


def found(find: Callable[..., Any], *given: Any, kind: Any) -> Any:
    """Return the addresses that ``find`` finds for NamedTuples of this kind; it is called once.

    Finding the addresses of all items takes a quarter of a millisecond, a twentieth of a small fit.
    """
    if not LINKED:
        return find(*given)
    key = find, kind, *map(type_of, given)
    if key not in _FOUND:
        _FOUND[key] = find(*given)
    return _FOUND[key]


def make_given(
    g: np.ndarray,
    h: np.ndarray,
    key: int,
    rows: np.ndarray | None = None,
    factor: np.ndarray | None = None,
) -> GivenRows:
    """Return what a tree is grown for: all rows, or some, which may count more or less than once."""
    if rows is None or factor is None:
        these = _NO_ROWS if rows is None else rows
        return GivenRows(g, h, these, _NO_FACTORS, 1.0, np.uint64(key))
    return GivenRows(g, h, rows, factor, float(factor.max(initial=1.0)), np.uint64(key))


def given_of(target: GrowTarget, rows: np.ndarray | None, key: int) -> GivenRows:
    """Return what a tree of gradients and hessians is grown for."""
    assert target.h is not None
    factor = target.weights if len(target.weights) else None
    return make_given(target.y, target.h, key, rows, factor)


def new_scales(n_blocks: int) -> Scales:
    """Return empty scales for rows in ``n_blocks`` blocks."""
    return Scales(record_table(n_blocks, PAIR), record_table(1, SCALES))


def new_draw(
    features: np.ndarray, n_features: int, n_nodes: int, group_of: np.ndarray
) -> ColumnDraw:
    """Return what trees of up to ``n_nodes`` nodes draw from ``features``, some of ``n_features``."""
    words = group_of.shape[1]
    return ColumnDraw(
        features=features,
        drawn=np.empty((2, n_features), np.int64),
        marks=np.zeros(n_features, np.uint8),
        order=np.empty(n_features, np.int64),
        groups=np.empty((n_nodes if words else 0, words), np.uint64),
        group_of=group_of,
    )


def new_log(n_nodes: int, n_words: int, dtype: np.dtype = NODE) -> boost_round.Log:
    """Return a log for ``n_nodes`` nodes."""
    members = np.empty((n_nodes, n_words), np.uint32)
    return boost_round.Log(record_table(n_nodes, dtype), members, 0, np.empty(0, np.int64), n_nodes)


def tile_shape(n_columns: int) -> tuple[int, int, int]:
    """Return tiles, words of a tile and columns of a word, so that few places are empty.

    >>> [tile_shape(n) for n in (3, 8, 10, 28, 33, 500)]
    [(1, 1, 3), (1, 1, 8), (1, 2, 5), (2, 2, 7), (3, 2, 6), (32, 2, 8)]
    """
    if n_columns <= histogram.WORD:
        return 1, 1, max(n_columns, 1)
    tiles = -(-n_columns // histogram.TILE)
    return tiles, 2, -(-n_columns // (2 * tiles))


def wide_shape(n_columns: int) -> tuple[int, int]:
    """Return tiles and columns of a tile, for columns whose codes have 16 bits.

    >>> [wide_shape(n) for n in (0, 1, 3, 5, 28)]
    [(0, 1), (1, 1), (1, 3), (2, 3), (7, 4)]
    """
    tiles = -(-n_columns // histogram.WIDE_WORD)
    return tiles, -(-n_columns // max(tiles, 1)) or 1


def features_of(bins: Bins, monotone: np.ndarray | None = None) -> Features:
    """Return where the bins of every feature are stored; ``monotone``: constraints, int8 by feature."""
    default = np.where(bins.offset > 0, bins.default_bin, -1).astype(np.int32)  # of bundles
    signs = np.empty(0, np.int8) if monotone is None else monotone.astype(np.int8)
    return Features(bins.storage, bins.offset, bins.n_bins, default, bins.is_category, signs)


# ---------------------------------------------------------------------- the grower
def most_leaves(rules: SplitRules, n_rows: int) -> int:
    """Return how many leaves a tree on ``n_rows`` rows may have."""
    leaves = min(rules.max_leaves, max(n_rows, 1))
    return leaves if rules.max_depth >= 40 else min(leaves, 1 << rules.max_depth)


class HistogramGrower:
    """Grows trees on one table of codes.

    Parameters
    ----------
    codes : (columns, n) uint8 array
        Of the columns of up to 255 bins; 255 is missing.
    features : Features
    rules : SplitRules
    n_jobs : int
    groups : (features, words) uint64 array or None
        The groups of features that may meet on a path, a bit per group.
    wide : (columns, n) uint16 array or None
        Of the columns of more bins, one feature each; they stand behind the others. Missing is the code
        after the last bin.
    pool : int
        Bytes for the histograms of leaves that wait; those that find no place are counted anew.
    store : Store or None
        These codes as another grower has packed them.
    empty : function of a shape and a dtype
        Makes the arrays for packed codes.
    """

    def __init__(
        self,
        codes: np.ndarray,
        features: Features,
        rules: SplitRules,
        n_jobs: int = 1,
        groups: np.ndarray | None = None,
        wide: np.ndarray | None = None,
        pool: int = POOL,
        store: Store | None = None,
        empty: Callable[..., np.ndarray] = np.empty,
    ) -> None:
        self.features, self.rules, self.n_jobs, self.pool = features, rules, n_jobs, pool
        if store is None:
            wide = codes[:0].astype(np.uint16) if wide is None else wide
            store = self._store(codes, wide, empty)
        self.store = store
        self.groups = np.empty((0, 0), np.uint64) if groups is None else groups
        self.threads = teams.crew(n_jobs)
        self.scratch = [self._new_scratch() for _ in range(self.threads)]
        self.scales = new_scales(1)
        self._tree: GrowingTree | None = None
        self._parts: tuple[SplitRules, Parts] | None = None
        self._log, self._logged = new_log(0, 0), 0

    def _store(
        self, codes: np.ndarray, wide: np.ndarray, empty: Callable[..., np.ndarray]
    ) -> Store:
        """Pack the codes of a table into words."""
        (n_columns, n), n_wide = codes.shape, len(wide)
        tiles, many, width = tile_shape(n_columns)
        wide_tiles, wide_width = wide_shape(n_wide)
        words = empty((tiles if n_columns else 0, n, many), np.uint64)
        wide_words = empty((wide_tiles, n), np.uint64)
        blocks = parallel.blocks(n, self.n_jobs)
        self._each(
            lambda item: histogram.pack_tiles(codes, item[0], width, item[1], item[2], words),
            [(w, lo, hi) for w in range(len(words) * many) for lo, hi in blocks],
            n,
        )
        self._each(
            lambda item: histogram.pack_wide(
                wide, item[0], wide_width, item[1], item[2], wide_words
            ),
            [(t, lo, hi) for t in range(wide_tiles) for lo, hi in blocks],
            n,
        )
        starts = np.append(0, np.cumsum(self._used(n_columns + n_wide) + 1))
        return Store(codes, words, width, wide, wide_words, wide_width, starts)

    def state_of(self, tree: GrowingTree, given: GivenRows) -> State:
        """Return all that growing a tree looks at."""
        return State(self.store, tree, self.features, self.rules, given, self.scales)

    def _used(self, n_columns: int) -> np.ndarray:
        """Return how many codes of every column are in use, besides that of missing values."""
        features = self.features
        bundled = features.default_bin >= 0
        shared = features.offset + features.n_bins - (features.default_bin < features.n_bins)
        ends = np.where(bundled, shared, features.n_bins)
        used = np.ones(n_columns, np.int64)
        np.maximum.at(used, features.storage, ends)
        return used

    @property
    def n_bins(self) -> int:
        """The bins of all columns, those of missing values included."""
        return int(self.store.starts[-1])

    def _new_scratch(self) -> SplitScratch:
        longest = int(self.features.n_bins.max(initial=1))
        bins = int(np.diff(self.store.starts).max(initial=histogram.BINS))
        tile = histogram.TILE * histogram.BINS
        if len(self.store.wide):
            tile = max(tile, histogram.WIDE_WORD * bins + 1)
        gain = np.empty(bins)
        return SplitScratch(
            g=np.empty(bins + 1, np.int64),
            h=np.empty(bins + 1, np.int64),
            left_g=np.empty(bins, np.int64),
            left_h=np.empty(bins, np.int64),
            left_rows=np.empty(bins),
            gain=gain,
            bits=gain.view(np.int64),
            order=np.empty(bins, np.int64),
            ratio=np.empty(bins),
            counts=np.empty(bins + 1, np.int64),
            gains=np.empty((2, bins)),
            best=record_table(1, SPLIT),
            members=np.zeros(self._words(longest), np.uint32),
            small=np.zeros(tile, np.int64),
        )

    def _words(self, longest: int) -> int:
        return (longest + 31) // 32 if np.any(self.features.is_category) else 0

    def _each(self, work: Callable[..., Any], items: list[Any], n_rows: int) -> None:
        """Call ``work`` for every item, on several threads if there are many rows."""
        parallel.run(work, items, parallel.threads_for(n_rows, parallel.CODE, self.n_jobs))

    def _most_nodes(self, n_rows: int) -> int:
        """Return how many nodes a tree on ``n_rows`` rows has memory for: two more than it may have."""
        return 2 * most_leaves(self.rules, n_rows) + 1

    def _tree_for(self, columns: np.ndarray, n_rows: int) -> GrowingTree:
        """Return a tree to grow, whose memory is made once."""
        n_nodes, leaves = self._most_nodes(n_rows), most_leaves(self.rules, n_rows)
        old = self._tree
        if old is not None and len(old.nodes) >= n_nodes:
            return old._replace(draw=old.draw._replace(features=columns))
        n = self.store.codes.shape[1]
        table = self.n_bins * (1 if n <= histogram.FULL else 2)  # whole numbers
        slots = self.slots_for(leaves, 8 * table)
        self._tree = new = self.new_tree(columns, n_nodes, leaves, (slots, table), n_rows)
        if old is not None:
            self._tree = new._replace(lists=old.lists, leaf_of=old.leaf_of)
        self.scales = new_scales(new.ranges.shape[1])
        return self._tree

    def new_tree(
        self, columns: np.ndarray, n_nodes: int, leaves: int, slots: tuple[int, int], n_rows: int
    ) -> GrowingTree:
        """Return memory for a tree of some of the columns on ``n_rows`` rows.

        ``leaves``: how many may wait; ``slots``: the number of histograms and their length.
        """
        n = self.store.codes.shape[1]
        blocks = 1 if self.threads == 1 else min(2 * self.threads, 1 + (n_rows >> 14))
        pieces, words = 2 * self.threads, len(self.scratch[0].members)
        return GrowingTree(
            nodes=record_table(n_nodes, NODE),
            members=np.zeros((n_nodes, words), np.uint32),
            counters=record_table(1, COUNTERS),
            waiting=np.empty(leaves + 1, np.int64),
            free_slots=np.empty(slots[0], np.int64),
            hists=np.empty(slots, np.int64),
            extra=np.empty((blocks - 1, slots[1]), np.int64),
            lists=np.empty((2, n), np.uint64),
            ranges=record_table((n_nodes, blocks), RANGE),
            leaf_of=np.empty(n, np.int32),
            fine_sums=np.empty((blocks, n_nodes, 2), np.int64),
            goes_left=np.empty(len(self.scratch[0].gain), np.uint8),
            draw=new_draw(columns, len(self.features.storage), n_nodes, self.groups),
            task=as_records(np.zeros(1, TASK)),
            best=record_table(pieces, SPLIT),
            best_members=np.zeros((pieces, words), np.uint32),
        )

    def slots_for(self, leaves: int, size: int) -> int:
        """Return for how many leaves there is room for histograms of ``size`` bytes."""
        if not self.rules.symmetric:
            return min(leaves + 2, max(self.pool // size, 8))
        needed = (leaves // 2 + 1) * size  # the last level is not searched
        if needed > MOST_OF_A_LEVEL:
            raise ParameterError(
                f"a symmetric tree with max_depth={self.rules.max_depth} keeps the histograms of a whole "
                f"level, here {needed / 1e9:.1f} GB: use a smaller max_depth or fewer bins"
            )
        return leaves + 2

    # ------------------------------------------------------------------ growing
    def grow(self, target: GrowTarget, rows: np.ndarray | None, key: int) -> Grown:
        """Grow a tree of codes for gradients and hessians; read its leaves before the next one grows."""
        n, columns = len(target.y) if rows is None else len(rows), target.columns
        if columns is None:
            columns = np.arange(len(self.features.storage), dtype=np.int64)
        tree = self._tree_for(columns, n)
        self._grow(tree, given_of(target, rows, key), n)
        if tree.counters["failed"][0]:
            raise DataError(NOT_GOOD)
        grown = self._grown(tree)
        return Grown(grown, lambda: self._placed(grown, tree.leaf_of, rows))

    def is_small(self, n_rows: int, n_trees: int) -> bool:
        """Return whether ``n_trees`` trees on ``n_rows`` rows are best grown by one thread in one call."""
        nodes = n_trees * self._most_nodes(n_rows)
        return self._threads_for(n_rows) == 1 and nodes <= MOST_LOGGED

    def grow_rounds(
        self,
        target: RoundTarget,
        turn: Turn,
        *,
        rows: np.ndarray | None,
        factor: np.ndarray | None,
        columns: np.ndarray,
    ) -> Logged:
        """Grow the trees of some rounds, a tree per output, in one call; see engine/second_order/rounds.py.

        ``columns`` are those of every tree of a round; one line serves all trees.
        """
        n, k = len(target.y) if rows is None else len(rows), len(target.g)
        tree = self._tree_for(columns[0], n)
        given = make_given(target.g[0], target.h[0], 0, rows, factor)
        state = self.state_of(tree, given)
        most_nodes = k * self._most_nodes(n)
        if self._logged + most_nodes > len(self._log.nodes):
            self._log = new_log(max(most_nodes, LOG), tree.members.shape[1])
            self._logged = 0
        codes = len(target.y) * (len(self.store.starts) - 1)
        turn = turn._replace(rounds=min(turn.rounds, 1 + MANY_CODES // (k * codes)))
        at, ends = self._logged, np.empty(k * turn.rounds, np.int64)
        log = self._log._replace(start=at, ends=ends, most_nodes=most_nodes)
        derive = found(find_derive, target, kind=target.loss.kind)
        trees = boost_round.OnHistograms(
            self.parts_for(state), state, self.scratch[0], teams.new_team()
        )
        made = boost_round.grow_rounds(
            derive, trees, None, tree.draw.features, given, target, turn, columns, log
        )
        limits = [at, *ends[:made].tolist()]
        self._logged = end = limits[-1]
        grown = GrownNodes(log.nodes[at:end], log.members[at:end])
        failed = tree.counters["failed"][0] > 0
        return Logged(grown, list(map(operator.sub, limits[1:], limits)), failed)

    def _grow(self, tree: GrowingTree, given: GivenRows, n: int) -> None:
        """Grow a tree on n rows, with the help of other threads if it is worth it."""
        state = self.state_of(tree, given)
        threads = self._threads_for(n)
        team, parts = teams.new_team(), self.parts_for(state)
        if threads == 1:
            engine.grow(team, parts, state, self.scratch[0], n, 1, True)
            return
        parallel.run_with_helpers(
            lambda: engine.grow(team, parts, state, self.scratch[0], n, threads, True),
            lambda k: engine.grow(team, parts, state, self.scratch[k], n, threads, False),
            lambda: teams.close(team),
            threads,
        )

    def parts_for(self, state: State, find: Callable[..., Parts] = find_parts) -> Parts:
        """Return where the code is that is compiled apart for such a table and such rules."""
        if self._parts is None or self._parts[0] is not self.rules:
            store = self.store
            kind = (
                self.rules,
                store.words.shape[2],
                store.width,
                len(store.wide) > 0,
                len(self.groups) > 0,
            )
            self._parts = self.rules, found(find, state, self.scratch[0], kind=kind)
        return self._parts[1]

    def _threads_for(self, n: int) -> int:
        return parallel.threads_for(n * (len(self.store.starts) - 1), _ADD, self.threads)

    def _grown(self, tree: GrowingTree) -> GrownNodes:
        """Return a copy of the tree that has grown."""
        n = tree.counters["nodes"][0]
        return GrownNodes(tree.nodes[:n].copy(), tree.members[:n].copy())

    # ------------------------------------------------------------------ leaves
    def _placed(self, tree: GrownNodes, leaf: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
        """Return the leaf of every row; those of ``rows`` are known."""
        if rows is not None:
            others = rest_of(rows, len(leaf))
            leaf[others] = self.leaves_of(tree, others)
        return leaf

    def leaves_of(self, tree: GrownNodes, rows: np.ndarray) -> np.ndarray:
        """Return the leaves that some rows (uint32) reach by their codes."""
        n, leaf = len(rows), np.empty(len(rows), np.int64)

        def go(block: tuple[int, int]) -> None:
            decode.walk_codes(
                self.store, self.features, tree.nodes, tree.members, rows, *block,
                leaf[block[0] : block[1]],
            )  # fmt: skip

        self._each(go, parallel.blocks(n, max(2 * self.n_jobs, n >> 16)), n)
        return leaf
