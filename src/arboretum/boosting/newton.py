"""One tree of second-order boosting: from gradients to a grown tree.

    g, h of all rows  ->  entries (row, g, h in small whole numbers)        engine/boost_pack.py
    entries           ->  histograms, best splits, parted entries           engine/boost_grow.py
    leaves            ->  Σg and Σh again, finely; what each leaf answers   here

Nodes with many rows are split here by several threads (blocks of rows, tiles of columns, ranges of
features), all others in one compiled call. All sums are whole numbers, so the tree is the same for any
number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import boost_grow as engine
from arboretum.engine import boost_hist, boost_pack, parallel
from arboretum.engine.boost_scan import CATEGORIES, FEATURE, GAIN, KIND, Features, Rules, Work
from arboretum.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Grower", "Grown"]

_MANY = 1 << 15  # rows of a node from which on several threads split it


@dataclass(frozen=True)
class Grown:
    """A grown tree; its nodes' children stand side by side."""

    first_child: np.ndarray  # int64, -1 at a leaf
    feature: np.ndarray  # int64
    bin: np.ndarray  # int64, the last one that goes left
    missing_left: np.ndarray  # bool
    by_set: np.ndarray  # bool: the node asks for categories
    members: np.ndarray  # (nodes, words) uint32, bins that go left
    gain: np.ndarray  # float64
    cover: np.ndarray  # float64, Σh
    count: np.ndarray  # int64
    value: np.ndarray  # float64, what a node answers
    start: np.ndarray  # int64, where its entries stand
    end: np.ndarray  # int64


class Grower:
    """Grows trees on one table of codes.

    Parameters
    ----------
    codes : (columns, n) uint8 or uint16 array
    features : Features
    rules : Rules
    n_jobs : int
    groups : (features, words) uint64 array or None
        The groups of features that may meet on a path, a bit per group.
    """

    def __init__(
        self,
        codes: np.ndarray,
        features: Features,
        rules: Rules,
        n_jobs: int = 1,
        groups: np.ndarray | None = None,
    ) -> None:
        self.features, self.rules, self.n_jobs = features, rules, n_jobs
        n_columns, n = codes.shape
        self.n_bins = int(np.iinfo(codes.dtype).max) + 1
        narrow = codes.dtype == np.uint8
        width = boost_hist.tile_width(n_columns)
        words = np.empty((-(-n_columns // width) if narrow else 0, n), np.uint64)
        self.store = engine.Store(codes, words, width)
        self._each(
            lambda item: boost_hist.pack_tiles(codes, item[0], width, item[1], item[2], words),
            [(t, lo, hi) for t in range(len(words)) for lo, hi in parallel.blocks(n, n_jobs)],
            n,
        )
        self.groups = np.empty((0, 0), np.uint64) if groups is None else groups
        self.entries = np.empty(n, np.uint64)
        self.spare = np.empty(n, np.uint64)
        self.works = [self._work() for _ in range(n_jobs)]
        self._growth: engine.Growth | None = None

    def _work(self) -> Work:
        bins, longest = self.n_bins, int(self.features.n_bins.max(initial=1))
        return Work(
            g=np.empty(bins + 1, np.int64),
            h=np.empty(bins + 1, np.int64),
            left_g=np.empty(bins),
            left_h=np.empty(bins),
            gain=np.empty(bins),
            order=np.empty(bins, np.int64),
            ratio=np.empty(bins),
            best=np.empty(1),
            found=np.empty(6, np.int64),
            members=np.zeros(self._words(longest), np.uint32),
            small=np.empty(boost_hist.TILE * boost_hist.BINS, np.int64),
        )

    def _words(self, longest: int) -> int:
        return (longest + 31) // 32 if np.any(self.features.is_category) else 0

    def _each(self, work: Callable, items: list, n_rows: int) -> None:
        parallel.run(work, items, self.n_jobs if n_rows > _MANY else 1)

    def _room(self, columns: np.ndarray, n_rows: int) -> engine.Growth:
        """Return room for a tree, made once: every leaf that waits keeps its histograms."""
        leaves = min(self.rules.max_leaves, max(n_rows, 1))
        if self.rules.max_depth < 40:
            leaves = min(leaves, 1 << self.rules.max_depth)
        old = self._growth
        if old is not None and len(old.ints) >= 2 * leaves and len(old.drawn) >= len(columns):
            return old._replace(columns=columns)
        n_features, slots = len(self.features.storage), max(leaves, 2)
        words = self.works[0].members
        self._growth = engine.Growth(
            ints=np.empty((2 * leaves + 1, engine.N_INTS), np.int64),
            floats=np.empty((2 * leaves + 1, engine.N_FLOATS)),
            members=np.zeros((2 * leaves + 1, len(words)), np.uint32),
            counters=np.zeros(4, np.int64),
            open=np.empty(leaves + 1, np.int64),
            free=np.empty(slots + n_features, np.int64),
            hists=np.empty((slots, len(self.store.codes), self.n_bins, 2), np.int64),
            entries=self.entries,
            spare=self.spare,
            goes_left=np.empty(self.n_bins, np.uint8),
            columns=columns,
            drawn=np.empty(n_features, np.int64),
            marks=np.zeros(n_features, np.uint8),
            groups=np.empty(
                (2 * leaves + 1 if len(self.groups) else 0, self.groups.shape[1]), np.uint64
            ),
            group_of=self.groups,
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
        most = self._largest(g, h, 1.0 if factor is None else float(factor.max(initial=1.0)))
        scales = np.array([
            boost_pack.scale_for(most[0], boost_pack.G_BITS),
            boost_pack.scale_for(most[1], boost_pack.H_BITS),
        ])  # fmt: skip
        units = 1.0 / scales
        self._fill(g, h, rows, factor, scales, np.uint64(key))
        if columns is None:
            columns = np.arange(len(self.features.storage), dtype=np.int64)
        growth = self._room(columns, n)
        self._plant(growth, n, units, in_order=rows is None, key=np.uint64(key))
        largest = _MANY if self.n_jobs > 1 else n
        while True:
            node = engine.grow(
                self.store, growth, self.features, units, self.rules, np.uint64(key),
                self.works[0], largest,
            )  # fmt: skip
            if node < 0:
                break
            self._split(growth, int(node), units, np.uint64(key))
        return self._finish(growth, g, h, factor, rows, most)

    def _fill(
        self,
        g: np.ndarray,
        h: np.ndarray,
        rows: np.ndarray | None,
        factor: np.ndarray | None,
        scales: np.ndarray,
        key: np.uint64,
    ) -> None:
        """Write the entries of the rows that take part."""
        these = np.empty(0, np.uint32) if rows is None else rows
        factors = np.empty(0, np.float32) if factor is None else factor
        n = len(g) if rows is None else len(rows)
        self._each(
            lambda b: boost_pack.fill_entries(
                g, h, these, factors, scales, key, b[0], b[1], self.entries
            ),
            parallel.blocks(n, 4 * self.n_jobs),
            n,
        )

    def _largest(self, g: np.ndarray, h: np.ndarray, factor: float) -> np.ndarray:
        """Return the largest absolute g and the largest h, times ``factor``."""
        pieces = parallel.blocks(len(g), self.n_jobs)
        most = np.zeros((len(pieces), 2), np.uint32)
        a, b = g.view(np.uint32), h.view(np.uint32)
        self._each(
            lambda k: boost_pack.largest(a[slice(*pieces[k])], b[slice(*pieces[k])], most[k]),
            list(range(len(pieces))),
            len(g),
        )
        found = most.max(axis=0).view(np.float32).astype(np.float64)
        if not np.all((found >= 0.0) & (found < np.inf)):  # a negative h has the largest bits
            raise DataError("derivatives must be finite, and second ones not negative")
        return found * factor

    def _plant(
        self, growth: engine.Growth, n: int, units: np.ndarray, *, in_order: bool, key: np.uint64
    ) -> None:
        """Make the root: count its histograms and find its best split."""
        slots = len(growth.hists)
        growth.counters[:] = 1, 1, 0, slots - 1
        growth.free[:slots] = np.arange(slots)[::-1]
        slot = int(growth.free[slots - 1])
        ints, floats = growth.ints[0], growth.floats[0]
        ints[:] = -1
        ints[engine.START], ints[engine.END], ints[engine.ROWS] = 0, n, n
        ints[engine.SLOT], ints[engine.DEPTH] = slot, 0
        self._count(growth, 0, n, slot, in_order)
        sums = growth.hists[slot, 0].sum(axis=0)
        ints[engine.SUM_G], ints[engine.SUM_H] = sums
        floats[:] = -np.inf, 0.0, -np.inf, np.inf
        floats[engine.ANSWER] = _answers(
            sums[:1] * units[0], sums[1:] * units[1], np.array([n]), np.array([np.nan]),
            np.array([-np.inf]), np.array([np.inf]), np.array([self.rules.l2]), self.rules,
        )[0]  # fmt: skip
        if len(growth.groups):
            growth.groups[0] = ~np.uint64(0)
        self._scan(growth, [0], units, key)

    def _count(
        self,
        growth: engine.Growth,
        start: int,
        end: int,
        slot: int,
        in_order: bool = False,
        parent: int = -1,
    ) -> None:
        """Count the histograms of entries; ``parent`` is the slot they are taken from."""
        words, width, codes = self.store.words, self.store.width, self.store.codes
        hist, entries = growth.hists[slot], growth.entries
        larger = growth.hists[parent] if parent >= 0 else growth.hists[slot, :0]

        def tile(t: int) -> None:
            small = np.empty(boost_hist.TILE * boost_hist.BINS, np.int64)
            boost_hist.fill_tile(
                words, width, t, entries, start, end, in_order, small, hist, larger
            )

        def column(f: int) -> None:
            boost_hist.fill_wide(codes, f, entries, start, end, hist, larger)

        if len(words):
            self._each(tile, list(range(len(words))), end - start)
        else:
            self._each(column, list(range(len(codes))), end - start)

    def _scan(
        self, growth: engine.Growth, nodes: list[int], units: np.ndarray, key: np.uint64
    ) -> None:
        """Find the best splits of nodes; ranges of features are shared out to threads."""
        pieces: list[tuple[int, np.ndarray, int, int]] = []
        for node in nodes:
            many = int(engine.begin_scan(growth, node, key, self.rules))
            if many < 0:
                continue
            drawn = growth.drawn[:many].copy()
            for lo, hi in parallel.blocks(many, self.n_jobs) or [(0, 0)]:
                pieces.append((node, drawn, lo, hi))
        while len(self.works) < len(pieces):
            self.works.append(self._work())

        def look(k: int) -> None:
            node, drawn, lo, hi = pieces[k]
            engine.scan_features(
                growth, node, drawn, lo, hi, self.features, units, self.rules, self.works[k]
            )

        rows = sum(int(growth.ints[node, engine.ROWS]) for node in nodes)
        self._each(look, list(range(len(pieces))), rows)
        for node in nodes:
            mine = [k for k, piece in enumerate(pieces) if piece[0] == node]
            if mine:
                best = max(mine, key=lambda k: (self.works[k].best[GAIN], -k))
                engine.end_scan(growth, node, self.works[best])

    def _split(self, growth: engine.Growth, node: int, units: np.ndarray, key: np.uint64) -> None:
        """Split a node of many rows by several threads, as the compiled loop does by one."""
        start, end = (int(growth.ints[node, k]) for k in (engine.START, engine.END))
        engine.sides_of(self.features, growth, node)
        n_left = self._part(growth, node, start, end)
        left = int(engine.add_children(growth, node, n_left, self.features, units, self.rules))
        smaller = int(engine.prepare_children(growth, node, left, self.features, units, self.rules))
        if smaller < 0:
            return
        larger = 2 * left + 1 - smaller
        first, last = (int(growth.ints[smaller, k]) for k in (engine.START, engine.END))
        slot, parent = (int(growth.ints[child, engine.SLOT]) for child in (smaller, larger))
        self._count(growth, first, last, slot, parent=parent)
        self._scan(growth, [left, left + 1], units, key)

    def _part(self, growth: engine.Growth, node: int, start: int, end: int) -> int:
        """Part a node's entries block by block, then close the gaps; return how many went left."""
        column = int(self.features.storage[growth.ints[node, FEATURE]])
        pieces = [(start + lo, start + hi) for lo, hi in parallel.blocks(end - start, self.n_jobs)]
        lefts = [0] * len(pieces)
        entries, spare = growth.entries, growth.spare

        def part(k: int) -> None:
            lefts[k] = engine.part_block(
                self.store.codes, column, growth.goes_left, entries, spare, *pieces[k]
            )

        self._each(part, list(range(len(pieces))), end - start)
        at = start
        for (lo, _), many in zip(pieces, lefts, strict=True):
            if at < lo:
                entries[at : at + many] = entries[lo : lo + many]
            at += many
        n_left = at - start
        moves = []
        for (lo, hi), many in zip(pieces, lefts, strict=True):
            moves.append((at, lo, hi - lo - many))
            at += hi - lo - many

        def move(item: tuple[int, int, int]) -> None:
            to, lo, many = item
            entries[to : to + many] = spare[lo : lo + many]

        for item in moves:
            move(item)
        return n_left

    # ------------------------------------------------------------------ answers
    def _finish(
        self,
        growth: engine.Growth,
        g: np.ndarray,
        h: np.ndarray,
        factor: np.ndarray | None,
        rows: np.ndarray | None,
        most: np.ndarray,
    ) -> Grown:
        """Sum the leaves finely, upwards to the root, and let every node answer."""
        nodes = int(growth.counters[engine.NODES])
        ints, floats = growth.ints[:nodes].copy(), growth.floats[:nodes]
        child = ints[:, engine.LEFT]
        ints[child < 0, :6] = -1  # splits that were found and not made
        scales = np.array([boost_pack.fine_scale(m, len(g)) for m in most])
        by_row = np.empty(0, np.float32)
        if factor is not None and rows is not None:
            by_row = np.zeros(len(g), np.float32)
            by_row[rows] = factor
        sums = np.zeros((nodes, 2), np.int64)

        def add(node: int) -> None:
            boost_pack.leaf_sums(
                growth.entries, ints[node, engine.START], ints[node, engine.END], g, h, by_row,
                scales, sums[node],
            )  # fmt: skip

        self._each(add, np.flatnonzero(child < 0).tolist(), int(ints[0, engine.ROWS]))
        parent, l2 = np.zeros(nodes, np.int64), np.full(nodes, self.rules.l2)
        for node in np.flatnonzero(child >= 0)[::-1]:
            left = child[node]
            sums[node] = sums[left] + sums[left + 1]
            parent[left : left + 2] = node
        by_set = ints[:, KIND] == CATEGORIES
        inner = np.flatnonzero(child >= 0)
        wide = self.features.n_bins[ints[inner, FEATURE]] > self.rules.max_onehot
        sorted_sets = inner[by_set[inner] & wide]
        for side in range(2):
            l2[child[sorted_sets] + side] += self.rules.cat_l2
        total_g, total_h = sums[:, 0] / scales[0], sums[:, 1] / scales[1]
        lean = np.full(nodes, np.nan)
        lean[1:] = floats[parent[1:], engine.ANSWER]
        low, high = floats[:, engine.LOWER], floats[:, engine.UPPER]
        value = _answers(total_g, total_h, ints[:, engine.ROWS], lean, low, high, l2, self.rules)
        return Grown(
            first_child=child,
            feature=ints[:, FEATURE],
            bin=ints[:, 1],
            missing_left=ints[:, 2] > 0,
            by_set=by_set,
            members=growth.members[:nodes].copy(),
            gain=np.where(child >= 0, floats[:, GAIN], 0.0),
            cover=total_h,
            count=ints[:, engine.ROWS],
            value=value,
            start=ints[:, engine.START],
            end=ints[:, engine.END],
        )

    def add_to(self, score: np.ndarray, output: int, tree: Grown, values: np.ndarray) -> None:
        """Add the values of the last tree's leaves to the scores of the rows it was grown on."""
        leaves = np.flatnonzero(tree.first_child < 0)
        pieces = [leaves[k :: 2 * self.n_jobs] for k in range(2 * self.n_jobs)]
        self._each(
            lambda some: boost_pack.add_leaf(
                self.entries, tree.start[some], tree.end[some], values[some], score, output
            ),
            [piece for piece in pieces if len(piece)],
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
            engine.walk_codes(self.store.codes, self.features, asked, these, *block, leaf)
            boost_pack.add_found(leaf, values, these, *block, score, output)

        self._each(go, parallel.blocks(n, max(2 * self.n_jobs, n >> 16)), n)


def _answers(
    g: np.ndarray,
    h: np.ndarray,
    rows: np.ndarray,
    parent: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    l2: np.ndarray,
    rules: Rules,
) -> np.ndarray:
    """Return what nodes answer, as `engine.boost_scan.answer` does for one."""
    pull = g if rules.l1 == 0.0 else np.maximum(g - rules.l1, 0.0) + np.minimum(g + rules.l1, 0.0)
    curvature = h + l2
    b = -np.divide(pull, curvature, out=np.zeros_like(curvature), where=curvature > 0.0)
    if rules.max_delta_step > 0.0:
        b = np.clip(b, -rules.max_delta_step, rules.max_delta_step)
    if rules.path_smooth > 0.0:
        ratio = rows / rules.path_smooth
        b = np.where(np.isnan(parent), b, (b * ratio + parent) / (ratio + 1.0))
    return np.clip(b, lower, upper) + 0.0
