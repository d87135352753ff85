"""Carrying out the divisions a search found: which row goes where, and what the tree will say.

A search speaks of list entries and codes; a tree speaks of values. Here a cut becomes a threshold (the
midpoint of the values on either side of it; for ranks the lower one), or a set of categories, and every
row of the node is marked left or right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arboretum.data.matrix import Matrix
from arboretum.data.schema import Schema
from arboretum.engine.categories import choose_categories
from arboretum.engine.found import FROM_LIST, Best
from arboretum.engine.histogram import Columns, make_counter
from arboretum.engine.order import MISSING, POSITION
from arboretum.engine.partition import (
    larger_side,
    mark_categories,
    mark_codes,
    mark_lists,
    set_bits,
)
from arboretum.engine.random_split import draw_again, toss_categories
from arboretum.tree.criterion import Absolute, Batch
from arboretum.tree.search import Searcher
from arboretum.tree.surrogates import SurrogateFinder, SurrogateTable
from arboretum.tree.tree import SUBSET, THRESHOLD

__all__ = ["Divider", "Divisions", "Split", "midpoint"]

_TABLE = 4_000_000  # entries of the (node, category) table made at a time


@dataclass(frozen=True)
class Divisions:
    """The best division of every node of a batch, and what it gains."""

    best: Best
    gain: np.ndarray  # weighted impurity decrease, a share of the root's weight; -1 for none

    def good(self, least: float) -> np.ndarray:
        """Mark the nodes worth dividing."""
        return (self.best.score >= 0) & (self.gain + np.finfo(np.float64).eps >= least)

    def only(self, where: np.ndarray) -> Divisions:
        return Divisions(Best(*(array[where] for array in self.best)), self.gain[where])


@dataclass(frozen=True)
class Split:
    """What the tree keeps of the divisions of a batch; one entry per node."""

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_child: np.ndarray
    bits_start: np.ndarray  # into ``bits``; -1 for none
    bits: np.ndarray
    surrogates: SurrogateTable | None = None


def midpoint(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the middle of two values; the lower one where the middle rounds to the upper.

    >>> midpoint(np.array([1.0]), np.array([2.0]))
    array([1.5])
    """
    middle = low / 2 + high / 2
    return np.where((middle < high) & (middle >= low), middle, low)


class Divider:
    """Marks the rows of divided nodes and writes their splits in terms of values."""

    def __init__(
        self,
        matrix: Matrix,
        schema: Schema,
        rows: np.ndarray | None,
        searcher: Searcher,
        surrogates: int,
    ) -> None:
        self.matrix, self.rows, self.searcher = matrix, rows, searcher
        self.store = searcher.store
        self.ordinal = np.array([c.kind == "ordinal" for c in schema.columns], dtype=np.bool_)
        self.finder = (
            SurrogateFinder(self.store, searcher.statistic.target, self._values_at, self.ordinal, surrogates)
            if surrogates
            else None
        )

    def carry_out(
        self, positions: np.ndarray, batch: Batch, divisions: Divisions, side: np.ndarray
    ) -> Split:
        """Mark ``side`` (1 left, 0 right) for every row of the batch; return the splits."""
        best, k = divisions.best, len(batch)
        if self.finder is not None:  # 2: to be placed by surrogates
            best = best._replace(missing_left=np.full(k, 2, np.uint8))
        split = Split(
            kind=np.full(k, THRESHOLD, np.uint8),
            feature=best.feature.astype(np.int32),
            threshold=np.full(k, np.nan),
            missing_child=np.zeros(k, np.int32),
            bits_start=np.full(k, -1, np.int64),
            bits=self._reserve_bits(best),
        )
        has_missing = np.zeros(k, np.bool_)
        listed = best.source == FROM_LIST
        for where, mark in (
            (np.flatnonzero(listed), self._mark_lists),
            (np.flatnonzero(~listed & ~self._is_category(best)), self._mark_codes),
            (np.flatnonzero(~listed & self._is_category(best)), self._mark_categories),
        ):
            if len(where):
                part = Best(*(array[where] for array in best))
                has_missing[where] = mark(positions, batch.only(where), part, where, split, side)
        split.missing_child[:] = self._missing_child(positions, batch, best, has_missing, side)
        for node in np.flatnonzero(split.kind == SUBSET):
            split.bits_start[node] = self._bits_start[node]
        self._write_bits(split)
        if self.finder is None:
            return split
        table = self.finder.find(positions, batch, split, side)
        return Split(**{**split.__dict__, "surrogates": table, "bits": table.bits})

    # ------------------------------------------------------------------ three kinds of division
    def _mark_lists(self, positions, batch, best, where, split, side) -> np.ndarray:
        lists, nodes = self.store.lists, batch.nodes
        slots = self.store.list_slots[np.searchsorted(self.store.list_features, best.feature)]
        has_missing = np.empty(len(where), np.bool_)
        mark_lists(
            lists, slots, nodes.start, nodes.end, best.cut, best.missing_left, side, has_missing
        )
        last = lists[slots, nodes.start + best.cut - 1] & POSITION
        after = np.minimum(nodes.start + best.cut, nodes.end - 1)
        upper = lists[slots, after]
        low = self._values_at(positions[last], best.feature)
        high = self._values_at(positions[upper & POSITION], best.feature)
        high[(upper & MISSING) != 0] = np.inf
        split.threshold[where] = self._threshold(low, high, best.feature)
        return has_missing

    def _mark_codes(self, positions, batch, best, where, split, side) -> np.ndarray:
        store, nodes = self.store, batch.nodes
        columns = self.searcher.columns_of(best.feature)
        has_missing, above = np.empty(len(where), np.bool_), np.empty(len(where), np.int64)
        mark_codes(
            store.codes, columns, positions, nodes.start, nodes.end, best.cut, best.missing_left,
            side, has_missing, above,
        )  # fmt: skip
        first = store.values.start[columns.index]
        low = store.values.high[first + np.minimum(best.cut, columns.n_codes - 1)]
        high = np.where(above >= 0, store.values.low[first + np.maximum(above, 0)], np.inf)
        threshold = self._threshold(low, high, best.feature)
        if self.searcher.random:
            drawn = np.empty(len(where))
            draw_again(
                store.codes, positions, nodes, columns, best.feature, batch.keys, store.values,
                drawn,
            )  # fmt: skip
            use = (low <= drawn) & (drawn < high) & np.isfinite(high) & ~self.ordinal[best.feature]
            threshold = np.where(use, drawn, threshold)
        split.threshold[where] = threshold
        return has_missing

    def _mark_categories(self, positions, batch, best, where, split, side) -> np.ndarray:
        split.kind[where] = SUBSET
        has_missing = np.empty(len(where), np.bool_)
        columns = self.searcher.columns_of(best.feature)
        step = max(1, _TABLE // (int(columns.n_codes.max()) + 1))
        for lo in range(0, len(where), step):
            here = slice(lo, lo + step)
            part = batch.block(lo, lo + step)
            some = Columns(*(array[here] for array in columns))
            takes = self._takes(positions, part, Best(*(array[here] for array in best)), some)
            mark_categories(
                self.store.codes, some, positions, part.nodes.start, part.nodes.end, takes,
                best.missing_left[here], side, has_missing[here],
            )  # fmt: skip
            self._takes_of.extend(zip(where[here], takes, some.n_codes))
        return has_missing

    def _takes(self, positions, batch, best, columns) -> np.ndarray:
        """Return (nodes, codes): where each category goes (1 left, 0 right, 2 not met)."""
        takes = np.empty((len(batch), int(columns.n_codes.max())), np.uint8)
        codes, statistic = self.store.codes, self.searcher.statistic
        if self.searcher.random:
            toss_categories(
                codes, positions, batch.nodes, columns, best.feature, batch.keys, best.cut, takes
            )
        else:
            choose_categories(
                codes, positions, statistic.row, batch.nodes, columns, statistic.code_rules,
                best.cut, not isinstance(statistic, Absolute),
                make_counter(takes.shape[1], statistic.channels), takes,
            )  # fmt: skip
        return takes

    # ------------------------------------------------------------------ pieces
    def _is_category(self, best: Best) -> np.ndarray:
        index = np.minimum(self.store.code_of(best.feature), len(self.store.code_features) - 1)
        if not len(self.store.code_features):
            return np.zeros(len(best.feature), np.bool_)
        return self.store.categorical[index]

    def _values_at(self, positions: np.ndarray, features: np.ndarray) -> np.ndarray:
        rows = positions if self.rows is None else self.rows[positions]
        return self.matrix.at(rows, features)

    def _threshold(self, low: np.ndarray, high: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Between two values; a rank itself; +inf where nothing but missing lies above."""
        finite = np.where(np.isfinite(high), high, low)
        between = np.where(self.ordinal[features], low, midpoint(low, finite))
        return np.where(np.isfinite(high), between, np.inf)

    def _reserve_bits(self, best: Best) -> np.ndarray:
        """Make room for the category sets; remember where each begins."""
        self._takes_of: list = []
        category = self._is_category(best) & (best.source != FROM_LIST)
        words = np.zeros(len(category), np.int64)
        index = self.store.code_of(best.feature[category])
        words[category] = (self.store.n_codes[index] + 31) // 32
        self._bits_start = np.concatenate([[0], np.cumsum(words)[:-1]])
        return np.zeros(int(words.sum()), np.uint32)

    def _write_bits(self, split: Split) -> None:
        for node, takes, n_codes in self._takes_of:
            set_bits(
                takes[None, :], np.array([n_codes]), np.array([1 - split.missing_child[node]]),
                split.bits, split.bits_start[node : node + 1],
            )  # fmt: skip

    def _missing_child(self, positions, batch, best, has_missing, side) -> np.ndarray:
        """Missing values go where they went in training; where there were none, to the larger side."""
        learned = np.where(best.missing_left == 1, 0, 1)
        nodes, weights = batch.nodes, self.searcher.statistic.target.weights
        larger = np.empty(len(batch), np.int64)
        larger_side(positions, weights, nodes.start, nodes.end, side, larger)
        return np.where(has_missing & (best.missing_left < 2), learned, larger)
