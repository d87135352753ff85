"""One tree of second-order boosting: from gradients to a grown tree.

    g, h of all rows  ->  entries (row, g, h in small whole numbers)        engine/gradient/pack.py
    entries           ->  histograms, best splits, parted entries           engine/gradient/grow.py
    leaves            ->  Σg and Σh again, finely; what each node answers   engine/gradient/grow.py

A tree grows in one compiled call, which other threads help with. All sums are whole numbers, so the tree
is the same for any number of them.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from arboretum.engine import parallel
from arboretum.engine import team as teams
from arboretum.engine.gradient import decode, histogram, pack
from arboretum.engine.gradient import grow as engine
from arboretum.engine.gradient import nodes as places
from arboretum.engine.gradient import rounds as boost_round
from arboretum.engine.gradient.nodes import Field, Growth, Store
from arboretum.engine.gradient.pack import Given, Scales
from arboretum.engine.gradient.split import (
    BIN,
    CATEGORIES,
    FEATURE,
    GAIN,
    KIND,
    MISSING_LEFT,
    Features,
    Rules,
    Work,
)
from arboretum.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from arboretum.engine.gradient.rounds import Target, Turn

__all__ = ["Grower", "Grown", "Logged"]

_MANY = 1 << 15  # rows from which on several threads go over them
_FEW_CODES = 1 << 19  # of a table that one thread is done with before another wakes up
MOST_LOGGED = 1 << 18  # nodes that a round of small trees may have
MANY_CODES = 1 << 24  # of all trees of a call, for about a tenth of a second: Ctrl-C waits so long
NOT_GOOD = "derivatives must be finite, and second ones not negative"
_NO_ROWS, _NO_FACTORS = np.empty(0, np.uint32), np.empty(0, np.float32)
POOL = 1 << 29  # bytes for histograms of leaves that wait
LOG = 1 << 13  # nodes of small trees that are written down before new room is made
_NO_COLUMNS = np.empty((0, 0), np.int64)


@dataclass(frozen=True, eq=False)
class Grown:
    """A grown tree; its nodes' children stand side by side.

    Whole numbers and numbers of its nodes are kept as the engine left them; see engine/gradient/nodes.py.
    """

    ints: np.ndarray  # (nodes, places.N_INTS) int64
    floats: np.ndarray  # (nodes, places.N_FLOATS) float64
    members: np.ndarray  # (nodes, words) uint32, bins that go left

    def __len__(self) -> int:
        return len(self.ints)

    @property
    def first_child(self) -> np.ndarray:
        """-1 at a leaf."""
        return self.ints[:, places.LEFT]

    @property
    def is_inner(self) -> np.ndarray:
        return self.ints[:, places.LEFT] >= 0

    @property
    def feature(self) -> np.ndarray:
        return np.where(self.is_inner, self.ints[:, FEATURE], -1)

    @property
    def bin(self) -> np.ndarray:
        """The last one that goes left."""
        return np.where(self.is_inner, self.ints[:, BIN], -1)

    @property
    def missing_left(self) -> np.ndarray:
        return self.is_inner & (self.ints[:, MISSING_LEFT] > 0)

    @property
    def by_set(self) -> np.ndarray:
        """Whether a node asks for categories."""
        return self.is_inner & (self.ints[:, KIND] == CATEGORIES)

    @property
    def gain(self) -> np.ndarray:
        return np.where(self.is_inner, self.floats[:, GAIN], 0.0)

    @property
    def cover(self) -> np.ndarray:
        """Σh."""
        return self.floats[:, places.COVER]

    @property
    def count(self) -> np.ndarray:
        return self.ints[:, places.ROWS]

    @property
    def value(self) -> np.ndarray:
        """What a node answers."""
        return self.floats[:, places.VALUE]

    @property
    def depth(self) -> np.ndarray:
        return self.ints[:, places.DEPTH]

    def part(self, start: int, end: int) -> Self:
        """Return some nodes."""
        return type(self)(self.ints[start:end], self.floats[start:end], self.members[start:end])

    def with_value(self, value: np.ndarray) -> Self:
        """Return the tree with other answers."""
        floats = self.floats.copy()
        floats[:, places.VALUE] = value
        return type(self)(self.ints, floats, self.members)


class Logged(NamedTuple):
    """Trees that were grown together: the nodes of all, one tree after another."""

    nodes: Grown
    sizes: list[int]  # how many nodes every tree has
    failed: bool  # a derivative was not good: the last round may not be whole

    def each(self) -> list[Grown]:
        """Return the trees."""
        ends = list(accumulate(self.sizes))
        starts = map(operator.sub, ends, self.sizes)
        return [self.nodes.part(start, end) for start, end in zip(starts, ends, strict=True)]


class Grower:
    """Grows trees on one table of codes.

    Parameters
    ----------
    codes : (columns, n) uint8 array
        Of the columns of up to 255 bins; 255 is missing.
    features : Features
    rules : Rules
    n_jobs : int
    groups : (features, words) uint64 array or None
        The groups of features that may meet on a path, a bit per group.
    wide : (columns, n) uint16 array or None
        Of the columns of more bins, one feature each; they stand behind the others. Missing is the code
        after the last bin.
    pool : int
        Bytes for the histograms of leaves that wait; those that find no place are counted anew.
    """

    def __init__(
        self,
        codes: np.ndarray,
        features: Features,
        rules: Rules,
        n_jobs: int = 1,
        groups: np.ndarray | None = None,
        wide: np.ndarray | None = None,
        pool: int = POOL,
    ) -> None:
        self.features, self.rules, self.n_jobs, self.pool = features, rules, n_jobs, pool
        self.store = self._store(codes, codes[:0].astype(np.uint16) if wide is None else wide)
        self.groups = np.empty((0, 0), np.uint64) if groups is None else groups
        self.lists = np.empty((2, codes.shape[1]), np.uint64)
        self.threads = teams.crew(n_jobs)
        self.works = [self._work() for _ in range(self.threads)]
        self._growth: Growth | None = None
        self._log, self._logged = boost_round.new_log(0, 0), 0

    def _store(self, codes: np.ndarray, wide: np.ndarray) -> Store:
        """Pack the codes of a table into words."""
        (n_columns, n), n_wide = codes.shape, len(wide)
        tiles, many, width = histogram.tile_shape(n_columns)
        wide_tiles, wide_width = histogram.wide_shape(n_wide)
        words = np.empty((tiles if n_columns else 0, n, many), np.uint64)
        wide_words = np.empty((wide_tiles, n), np.uint64)
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

    def _used(self, n_columns: int) -> np.ndarray:
        """Return how many codes of every column are in use, besides that of missing values."""
        features = self.features
        bundled = features.default_bin >= 0
        ends = np.where(bundled, features.offset + features.n_bins - 1, features.n_bins)
        used = np.ones(n_columns, np.int64)
        np.maximum.at(used, features.storage, ends)
        return used

    @property
    def n_bins(self) -> int:
        """The bins of all columns, those of missing values included."""
        return int(self.store.starts[-1])

    def _work(self) -> Work:
        longest = int(self.features.n_bins.max(initial=1))
        bins = int(np.diff(self.store.starts).max(initial=histogram.BINS))
        tile = histogram.TILE * histogram.BINS
        if len(self.store.wide):
            tile = max(tile, histogram.WIDE_WORD * bins + 1)
        gain = np.empty(bins)
        return Work(
            g=np.empty(bins + 1, np.int64),
            h=np.empty(bins + 1, np.int64),
            left_g=np.empty(bins, np.int64),
            left_h=np.empty(bins, np.int64),
            left_rows=np.empty(bins),
            gain=gain,
            bits=gain.view(np.int64),
            order=np.empty(bins, np.int64),
            ratio=np.empty(bins),
            best=np.empty(1),
            found=np.empty(6, np.int64),
            members=np.zeros(self._words(longest), np.uint32),
            small=np.zeros(tile, np.int64),
        )

    def _words(self, longest: int) -> int:
        return (longest + 31) // 32 if np.any(self.features.is_category) else 0

    def _each(self, work: Callable, items: list, n_rows: int) -> None:
        """Call ``work`` for every item, on several threads if there are many rows."""
        parallel.run(work, items, self.n_jobs if n_rows > _MANY else 1)

    def _most_leaves(self, n_rows: int) -> int:
        leaves = min(self.rules.max_leaves, max(n_rows, 1))
        return leaves if self.rules.max_depth >= 40 else min(leaves, 1 << self.rules.max_depth)

    def _room(self, columns: np.ndarray, n_rows: int) -> Growth:
        """Return room for a tree, made once."""
        leaves = self._most_leaves(n_rows)
        old = self._growth
        if old is not None and len(old.ints) > 2 * leaves:
            return old._replace(columns=columns)
        n_features = len(self.features.storage)
        table = self.n_bins * (1 if self.lists.shape[1] <= histogram.FULL else 2)  # whole numbers
        slots = min(leaves + 2, max(self.pool // (8 * table), 8))
        blocks = 1 if self.threads == 1 else min(2 * self.threads, 1 + (n_rows >> 14))
        self.scales = Scales(np.empty((blocks, 2)), np.empty(2), np.empty(2), np.empty(2))
        pieces, words = 2 * self.threads, len(self.works[0].members)
        self._growth = Growth(
            ints=np.empty((2 * leaves + 1, places.N_INTS), np.int64),
            floats=np.empty((2 * leaves + 1, places.N_FLOATS)),
            members=np.zeros((2 * leaves + 1, words), np.uint32),
            counters=np.zeros(places.N_COUNTERS, np.int64),
            open=np.empty(leaves + 1, np.int64),
            free=np.empty(slots + n_features, np.int64),
            hists=np.empty((slots, table), np.int64),
            extra=np.empty((blocks - 1, table), np.int64),
            lists=self.lists,
            bounds=np.empty((2 * leaves + 1, blocks, 2), np.int64),
            sums=np.empty((2 * leaves + 1, 2), np.int64),
            goes_left=np.empty(len(self.works[0].gain), np.uint8),
            columns=columns,
            drawn=np.empty((2, n_features), np.int64),
            marks=np.zeros(n_features, np.uint8),
            groups=np.empty(
                (2 * leaves + 1 if len(self.groups) else 0, self.groups.shape[1]), np.uint64
            ),
            group_of=self.groups,
            task=np.zeros(engine.N_TASK, np.int64),
            gains=np.empty(pieces),
            found=np.empty((pieces, 6), np.int64),
            found_members=np.zeros((pieces, words), np.uint32),
            ticks=np.zeros(engine.N_KINDS, np.int64),
        )
        return self._growth

    # ------------------------------------------------------------------ growing
    def grow(
        self,
        g: np.ndarray,
        h: np.ndarray,
        key: int,
        *,
        rows: np.ndarray | None = None,
        factor: np.ndarray | None = None,
        columns: np.ndarray | None = None,
    ) -> Grown:
        """Grow a tree for gradients and hessians (float32, one per row).

        ``rows`` (uint32, ascending) are those that take part, ``factor`` what each of them counts.
        ``columns`` are the features the tree may ask for, ascending.
        """
        n = len(g) if rows is None else len(rows)
        if columns is None:
            columns = np.arange(len(self.features.storage), dtype=np.int64)
        growth = self._room(columns, n)
        self._grow(growth, self._given(g, h, key, rows, factor), n)
        if growth.counters[places.FAILED]:
            raise DataError(NOT_GOOD)
        return self._grown(growth)

    def is_small(self, n_rows: int, n_trees: int) -> bool:
        """Tell whether so many trees on so many rows are best grown by one thread in one call."""
        nodes = n_trees * (2 * self._most_leaves(n_rows) + 1)
        return self._threads_for(n_rows) == 1 and nodes <= MOST_LOGGED

    def grow_rounds(
        self,
        target: Target,
        turn: Turn,
        *,
        rows: np.ndarray | None,
        factor: np.ndarray | None,
        columns: np.ndarray,
    ) -> Logged:
        """Grow the trees of some rounds, a tree per output, in one call; see engine/gradient/rounds.py.

        ``columns`` are those of every tree of a round; one line serves all trees.
        """
        n, k = len(target.y) if rows is None else len(rows), len(target.g)
        growth = self._room(columns[0], n)
        given = self._given(target.g[0], target.h[0], 0, rows, factor)
        field = Field(self.store, growth, self.features, self.rules, given, self.scales)
        room = k * (2 * self._most_leaves(n) + 1)
        if self._logged + room > len(self._log.ints):
            self._log = boost_round.new_log(max(room, LOG), growth.members.shape[1])
            self._logged = 0
        codes = len(target.y) * (len(self.store.starts) - 1)
        turn = turn._replace(rounds=min(turn.rounds, 1 + MANY_CODES // (k * codes)))
        log, at, ends = self._log, self._logged, np.empty(k * turn.rounds, np.int64)
        made = boost_round.grow_rounds(
            teams.new_team(), field, self.works[0], n, target, turn,
            columns if len(columns) > 1 else _NO_COLUMNS, room, log, at, ends,
        )  # fmt: skip
        limits = [at, *ends[:made].tolist()]
        self._logged = end = limits[-1]
        grown = Grown(log.ints[at:end], log.floats[at:end], log.members[at:end])
        failed = growth.counters[places.FAILED] > 0
        return Logged(grown, list(map(operator.sub, limits[1:], limits)), failed)

    def _given(
        self,
        g: np.ndarray,
        h: np.ndarray,
        key: int,
        rows: np.ndarray | None,
        factor: np.ndarray | None,
    ) -> Given:
        """Return what a tree is grown for."""
        if factor is None or rows is None:
            whole = _NO_ROWS if rows is None else rows
            return Given(g, h, whole, _NO_FACTORS, _NO_FACTORS, 1.0, np.uint64(key))
        by_row = np.zeros(len(g), np.float32)
        by_row[rows] = factor
        most = float(factor.max(initial=1.0))
        return Given(g, h, rows, factor, by_row, most, np.uint64(key))

    def _grow(self, growth: Growth, given: Given, n: int) -> None:
        """Grow a tree on n rows, with the help of other threads if it is worth it."""
        field = Field(self.store, growth, self.features, self.rules, given, self.scales)
        threads = self._threads_for(n)
        team = teams.new_team()
        if threads == 1:
            engine.grow(team, field, self.works[0], n, 1, True)
            return
        parallel.run_with_helpers(
            lambda: engine.grow(team, field, self.works[0], n, threads, True),
            lambda k: engine.grow(team, field, self.works[k], n, threads, False),
            lambda: teams.close(team),
            threads,
        )

    def _threads_for(self, n: int) -> int:
        return self.threads if n * (len(self.store.starts) - 1) > _FEW_CODES else 1

    def _grown(self, growth: Growth) -> Grown:
        """Return a copy of the tree that has grown."""
        n = growth.counters[places.NODES]
        return Grown(growth.ints[:n].copy(), growth.floats[:n].copy(), growth.members[:n].copy())

    # ------------------------------------------------------------------ answers
    def rows_of(self, tree: Grown, leaf: int) -> np.ndarray:
        """Return the rows of a leaf of the last tree, ascending."""
        growth = self._growth
        assert growth is not None
        entries, bounds = growth.lists[tree.depth[leaf] & 1], growth.bounds[leaf]
        rows = [entries[start:end] >> np.uint64(32) for start, end in bounds]
        found = np.concatenate([r if len(r) < 2 or r[0] < r[-1] else r[::-1] for r in rows])
        return found.astype(np.int64)

    def add_to(self, score: np.ndarray, output: int, tree: Grown, values: np.ndarray) -> None:
        """Add the values of the last tree's leaves to the scores of the rows it was grown on."""
        growth = self._growth
        assert growth is not None
        shares = self.n_jobs if len(score) > _MANY else 1
        self._each(
            lambda k: engine.add_leaves(growth, values, score, output, k, shares),
            list(range(shares)),
            len(score),
        )

    def walk_to(
        self,
        score: np.ndarray,
        output: int,
        tree: Grown,
        values: np.ndarray,
        rows: np.ndarray | None = None,
    ) -> None:
        """Add the values of the leaves that rows reach by their codes (None: all rows)."""
        these = np.empty(0, np.uint32) if rows is None else rows
        n = len(score) if rows is None else len(rows)
        asked = (
            tree.first_child, tree.feature, tree.bin, tree.missing_left, tree.by_set, tree.members
        )  # fmt: skip

        def go(block: tuple[int, int]) -> None:
            leaf = np.empty(block[1] - block[0], np.int64)
            decode.walk_codes(self.store, self.features, asked, these, *block, leaf)
            pack.add_found(leaf, values, these, *block, score, output)

        self._each(go, parallel.blocks(n, max(2 * self.n_jobs, n >> 16)), n)
