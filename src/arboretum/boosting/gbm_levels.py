"""A tree grown level by level from columns that were sorted once per fit.

    rows     carry the node they stand in; nothing is moved
    search   one pass per column meets every cut of all nodes of a level      engine/gbm_scan.py
    divide   rows left of the cut, in the column's order, go left             engine/gbm_level.py

Category columns have no order of their own: they get one for every level (engine/gbm_categories.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, frexp, ldexp
from typing import TYPE_CHECKING

import numpy as np

from arboretum.boosting.gbm_growing import SERIAL
from arboretum.engine import parallel
from arboretum.engine.gbm_bag import keep_inside
from arboretum.engine.gbm_categories import order_categories
from arboretum.engine.gbm_level import describe_new, divide_level
from arboretum.engine.gbm_scan import (
    LEFT,
    MET,
    SLOT_BITS,
    VARIES,
    choose_cuts,
    pack_rows,
    scan_columns,
)
from arboretum.engine.jit import writable
from arboretum.engine.order import POSITION
from arboretum.engine.random import child_keys, draw_features
from arboretum.tree.division import midpoint
from arboretum.tree.tree import LEAF, SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.boosting.gbm_growing import Bag, Orchard
    from arboretum.data.schema import Schema
    from arboretum.tree.growing import Growth

__all__ = ["LevelGrower"]

_SUM_BITS, _WEIGHT_BITS = 61, 53
_NO_ROWS = np.zeros(0, np.int64)
_EPS = float(np.finfo(np.float64).eps)


class _Nodes:
    """The nodes so far, in the order they are numbered."""

    def __init__(self, most: int) -> None:
        self.size = 1
        self.feature = np.full(most, -1, np.int32)
        self.first_child = np.full(most, -1, np.int32)
        self.missing_child = np.full(most, -1, np.int32)
        self.threshold = np.full(most, np.nan)
        self.gain = np.zeros(most)
        self.cut = np.zeros(most, np.int64)  # entries of the column's order that go left
        self.stats = np.empty((5, most))  # weight, mean, impurity, smallest, largest residual
        self.count = np.empty(most, np.int64)
        self.sets: dict[int, np.ndarray] = {}  # node -> bits of the categories that go left

    def to_tree(self, schema: Schema) -> Tree:
        """Return the nodes as a tree."""
        n = self.size
        feature = self.feature[:n]
        leaf = feature < 0
        kind = np.where(leaf, np.uint8(LEAF), np.uint8(THRESHOLD))
        bits_start, bits = np.full(n, -1, np.int64), np.zeros(0, np.uint32)
        if self.sets:
            nodes = list(self.sets)
            sizes = np.array([len(words) for words in self.sets.values()])
            kind[nodes], bits_start[nodes] = SUBSET, np.cumsum(sizes) - sizes
            bits = np.concatenate(list(self.sets.values()))
        return Tree(
            kind=kind,
            feature=feature,
            threshold=self.threshold[:n],
            first_child=self.first_child[:n],
            n_children=np.where(leaf, np.int32(0), np.int32(2)),
            missing_child=self.missing_child[:n],
            bits_start=bits_start,
            bits=bits,
            value=self.stats[1, :n].copy()[:, None, None],
            impurity=self.stats[2, :n].copy(),
            gain=self.gain[:n],
            weight=self.stats[0, :n].copy(),
            count=self.count[:n],
            schema=schema,
        )


@dataclass(frozen=True, eq=False)
class _Cuts:
    """The best cut of each of some nodes."""

    slot: np.ndarray  # which of the nodes searched
    feature: np.ndarray
    place: np.ndarray  # the first entry on the right in the column's order
    below: np.ndarray  # the last entry on the left that is the node's own
    missing_child: np.ndarray
    gain: np.ndarray


class LevelGrower:
    """Grows one tree.

    Parameters
    ----------
    orchard : Orchard
    r : float64 array
        Residuals of all rows.
    bag : Bag
    how : Growth
    """

    def __init__(self, orchard: Orchard, r: np.ndarray, bag: Bag, how: Growth) -> None:
        assert how.max_depth is not None
        n, self.width = len(r), len(orchard.lists)
        self.orchard, self.bag, self.how, self.r = orchard, bag, how, writable(r)
        self.nodes = _Nodes(min(2 ** (how.max_depth + 1), 2 * n))
        self.node = np.zeros(n, np.uint16)  # of every row
        self.side = np.zeros(n, np.uint8)
        self.words = np.empty(n, np.int64)
        self.table = orchard.lists, orchard.present  # of all rows
        self.lists, self.present = orchard.sorted_bag(bag)  # of the rows that are searched
        self.threads = 1 if self.lists.size < SERIAL else how.n_jobs
        self.ranks: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._set_grid()

    def _set_grid(self) -> None:
        """Choose a grid so fine that no sum overflows and the word of a row holds its number."""
        w, r, size = self.bag.weight, self.r, len(self.r)
        self.row_weight, self.step, self.whole = np.empty(0, np.int64), 1.0, True
        if len(w):
            total = float(w.sum())
            self.whole = bool(total < 2.0**_WEIGHT_BITS and np.all(w == np.floor(w)))
            if self.whole:
                size = int(self.bag.of(w).sum())
            else:
                r = r * w
                self.step = ldexp(1.0, frexp(total)[1] - _WEIGHT_BITS)
            self.row_weight = np.rint(w / self.step).astype(np.int64)
        elif self.bag.rows is not None:
            size = len(self.bag.rows)
        largest = float(np.abs(self.bag.of(r)).max())
        bits = min(62 - SLOT_BITS, _SUM_BITS - size.bit_length()) - 1
        self.scale = ldexp(1.0, min(bits - frexp(largest)[1], 1000)) if largest > 0 else 1.0

    # ------------------------------------------------------------------ growing
    def grow(self) -> tuple[Tree, np.ndarray]:
        """Return the tree and the leaf of every row."""
        self._describe(0)
        frontier, keys = np.zeros(1, np.int64), np.array([self.how.seed], np.uint64)
        if not self._worth_searching(frontier)[0]:
            frontier = frontier[:0]
        for _ in range(self.how.max_depth or 0):
            if not len(frontier):
                break
            frontier, keys = self._grow_level(frontier, keys)
        return self.nodes.to_tree(self.orchard.schema), self.node

    def _describe(self, first: int) -> None:
        nodes, bag = self.nodes, self.bag
        n, rows = nodes.size, _NO_ROWS if bag.rows is None else bag.rows
        describe_new(
            self.r, bag.weight, rows, self.node, first, nodes.stats[:, :n], nodes.count[:n]
        )

    def _worth_searching(self, ids: np.ndarray) -> np.ndarray:
        nodes, how = self.nodes, self.how
        worth = nodes.stats[2, ids] > 0.0
        worth &= nodes.count[ids] >= max(how.min_samples_split, 2 * how.min_samples_leaf)
        if how.min_weight_leaf > 0:
            worth &= nodes.stats[0, ids] >= 2 * how.min_weight_leaf
        return worth

    def _grow_level(self, ids: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Search and divide these nodes; return the children worth searching, and their keys."""
        weight, found = self._search(ids, keys)
        m = len(ids)
        chosen, numbers = np.empty((4, m), np.int64), np.empty((2, m))
        score, place, on_left, flags = found
        choose_cuts(self.lists, self.words, score, place, on_left, flags, chosen, numbers)
        gain = numbers[0] * weight * (self.step / self.nodes.stats[0, 0])
        gain *= (1.0 / self.scale / self.step) ** 2
        good = (numbers[0] >= 0) & (gain + _EPS >= self.how.min_impurity_decrease)
        slot = good.nonzero()[0]
        if not len(slot):
            return ids[:0], keys
        if len(slot) < m:
            ids, keys, chosen, gain = ids[slot], keys[slot], chosen[:, slot], gain[slot]
            numbers, weight = numbers[:, slot], weight[slot]
        # missing values go where they went in the bag; where there were none, to the larger side
        met, left = (chosen[3] & MET) > 0, (chosen[3] & LEFT) > 0
        goes = np.where(met, ~left, 2 * numbers[1] < weight)
        cuts = _Cuts(slot, chosen[0], chosen[1], chosen[2], goes, gain)
        return self._divide(ids, keys, cuts)

    # ------------------------------------------------------------------ searching
    def _search(self, ids: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, tuple]:
        """Return the nodes' weights on the grid, and (columns, nodes) of what `scan_columns` found."""
        m = len(ids)
        slot_of = np.full(self.nodes.size, m, np.uint8)
        slot_of[ids] = np.arange(m)
        sums = np.empty((3, m + 1), np.int64)
        rows = self.bag.weight, self.row_weight, self.whole, self.bag.inside
        pack_rows(self.r, rows, self.scale, self.node, slot_of, self.words, sums)
        sums[:, m] = 0
        for f, codes in self.orchard.codes.items():
            self._order(f, codes, slot_of, m)
        weight = sums[1].astype(np.float64)
        level = sums[0] / np.maximum(weight, 1.0), weight, sums[2]
        shape, draws = (self.width, m), self.how.max_features is not None
        score, place = np.full(shape, -1.0), np.zeros(shape, np.int64)
        on_left, flags = np.empty(shape), np.zeros(shape, np.int64)
        least = max(ceil(self.how.min_weight_leaf / self.step), 1)
        rules = self.how.min_samples_leaf, float(least), self.whole, draws

        def scan(columns: np.ndarray) -> None:
            scan_columns(
                (self.lists, self.present), columns, self.words, self.row_weight, level, rules,
                score, place, on_left, flags,
            )  # fmt: skip

        if draws:
            score = self._draw(keys, scan, score, flags)
        else:
            self._share_out(scan, np.arange(self.width))
        return weight[:m], (score, place, on_left, flags)

    def _order(self, f: int, codes: np.ndarray, slot_of: np.ndarray, m: int) -> None:
        """Put a column of categories in the order each node wants."""
        n_codes = len(self.orchard.schema.columns[f].categories or ())
        rank, start = np.empty((m, n_codes), np.int64), np.empty(n_codes + 1, np.int64)
        self.orchard.present[f] = order_categories(
            codes, (self.row_weight, self.whole), self.words, self.node, slot_of, rank, start,
            self.orchard.lists[f],
        )  # fmt: skip
        self.ranks[f] = rank, start
        if self.bag.rows is not None:
            keep_inside(
                self.orchard.lists, np.array([f]), self.bag.inside, self.present, self.lists
            )

    def _share_out(self, scan: Callable[[np.ndarray], None], columns: np.ndarray) -> None:
        if self.threads == 1:
            scan(columns)
            return
        pieces = parallel.blocks(len(columns), 2 * self.threads)
        parallel.run(scan, [columns[lo:hi] for lo, hi in pieces], self.threads)

    def _draw(
        self,
        keys: np.ndarray,
        scan: Callable[[np.ndarray], None],
        score: np.ndarray,
        flags: np.ndarray,
    ) -> np.ndarray:
        """Let every node look only at columns of its own: so many, and more until one varies."""
        m, most = len(keys), self.how.max_features or self.width
        order = np.empty((m, self.width), np.int64)
        draw_features(keys, order)
        wanted, every = np.unique(order[:, :most]), np.arange(m)[:, None]
        self._share_out(scan, wanted)
        if not (flags[order[:, :most], every] & VARIES).any(axis=1).all():
            self._share_out(scan, np.setdiff1d(np.arange(self.width), wanted))
        met = np.cumsum(flags[order, every] & VARIES, axis=1)
        taken = np.ones((m, self.width), np.bool_)
        taken[:, most:] = met[:, most - 1 : -1] == 0
        allowed = np.zeros((self.width, m), np.bool_)
        allowed[order, every] = taken
        return np.where(allowed, score, -1.0)

    # ------------------------------------------------------------------ dividing
    def _divide(
        self, ids: np.ndarray, keys: np.ndarray, cuts: _Cuts
    ) -> tuple[np.ndarray, np.ndarray]:
        nodes, first = self.nodes, self.nodes.size
        children = np.arange(first, first + 2 * len(ids))
        nodes.feature[ids], nodes.gain[ids] = cuts.feature, cuts.gain
        nodes.first_child[ids], nodes.missing_child[ids] = children[::2], cuts.missing_child
        self._set_thresholds(ids, cuts)
        splits = nodes.feature, nodes.cut, nodes.missing_child, nodes.first_child
        divide_level(self.table, ids, splits, self.node, self.side)
        nodes.size += len(children)
        self._describe(first)
        worth = self._worth_searching(children)
        new_keys = np.empty(len(children), np.uint64)
        child_keys(keys, new_keys)
        return children[worth], new_keys[worth]

    def _set_thresholds(self, ids: np.ndarray, cuts: _Cuts) -> None:
        """Write what the tree asks, and how many entries of each column's order answer yes."""
        orchard, nodes, f = self.orchard, self.nodes, cuts.feature
        lists, present, matrix = self.lists, self.present, orchard.matrix
        whole = cuts.place == present[f]  # present against missing
        above = lists[f, np.minimum(cuts.place, present[f] - 1)] & POSITION
        low, high = matrix.at(lists[f, cuts.below] & POSITION, f), matrix.at(above, f)
        threshold = np.where(orchard.ordinal[f], low, midpoint(low, high))
        threshold[whole] = np.inf
        nodes.threshold[ids], nodes.cut[ids] = threshold, cuts.place
        if self.bag.rows is not None:  # rows out of the bag may lie between the two values
            nodes.cut[ids] = self._count_below(f, threshold)
        for k in range(len(ids)) if orchard.codes else ():
            if f[k] in orchard.codes:
                self._set_categories(int(ids[k]), cuts, k, None if whole[k] else int(above[k]))

    def _count_below(self, f: np.ndarray, threshold: np.ndarray) -> np.ndarray:
        """Return how many entries of the columns' orders, over all rows, are not above thresholds."""
        lists, present = self.table
        low, high = np.zeros(len(f), np.int64), present[f]
        while (open_ := low < high).any():
            middle = (low + high) // 2
            row = lists[f, np.minimum(middle, len(self.r) - 1)] & POSITION
            yes = self.orchard.matrix.at(row, f) <= threshold
            low = np.where(open_ & yes, middle + 1, low)
            high = np.where(open_ & ~yes, middle, high)
        return low

    def _set_categories(self, node: int, cuts: _Cuts, k: int, above: int | None) -> None:
        """Write which categories go left; those the node has not met go where missing values go.

        ``above`` is a row of the first category on the right; None if all go left.
        """
        f = int(cuts.feature[k])
        ranks, start = self.ranks[f]
        rank = ranks[cuts.slot[k]]
        place = len(rank) if above is None else int(rank[self.orchard.codes[f][above]])
        self.nodes.cut[node], self.nodes.threshold[node] = start[place], np.nan
        left = np.where(rank < 0, cuts.missing_child[k] == 0, rank < place)
        padded = np.zeros(-(-len(left) // 32) * 32, np.uint8)
        padded[: len(left)] = left
        self.nodes.sets[node] = np.packbits(padded, bitorder="little").view("<u4")
