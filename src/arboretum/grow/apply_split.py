"""Carrying out the divisions a search found: which row goes where, and what the tree stores.

A search speaks of list entries and codes; a tree speaks of values. Here a cut becomes a threshold (the
midpoint of the values on either side of it; for ranks the lower one), or a set of categories, and every
row of the node is marked left or right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arboretum.data.matrix import Matrix
from arboretum.data.schema import Schema
from arboretum.engine.columns.presort import MISSING, POSITION
from arboretum.engine.rows.partition import (
    larger_side,
    mark_categories,
    mark_codes,
    mark_lists,
    set_bits,
)
from arboretum.engine.split.best import FROM_LIST, Best, take
from arboretum.engine.split.categories import choose_categories
from arboretum.engine.split.counts import Columns
from arboretum.engine.split.random import draw_again, toss_categories
from arboretum.grow.criterion import Batch
from arboretum.grow.search import Searcher
from arboretum.grow.surrogates import SurrogateFinder, SurrogateTable
from arboretum.structure.tree import SUBSET, THRESHOLD

__all__ = ["Divider", "Divisions", "Split", "midpoint"]

_NO_BITS = np.zeros(0, np.uint32)
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
        return Divisions(take(self.best, where), self.gain[where])


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
    """Return the middle of two values, the lower one where the middle rounds to the upper.

    Nothing lies between a value and +inf (no upper value): the middle is +inf.

    >>> midpoint(np.array([1.0]), np.array([2.0]))
    array([1.5])
    """
    middle = low / 2 + high / 2
    return np.where((middle < high) | (high == np.inf), middle, low)


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
        self.store, self.row = searcher.store, searcher.statistic.row
        self.ordinal = np.array([c.kind == "ordinal" for c in schema.columns], dtype=np.bool_)
        self.any_ordinal = bool(self.ordinal.any())
        self.finder = (
            SurrogateFinder(
                self.store,
                self.row,
                self._values_at,
                self.ordinal,
                searcher.signs != 0,
                surrogates,
            )
            if surrogates
            else None
        )

    def carry_out(self, batch: Batch, divisions: Divisions, side: np.ndarray) -> Split:
        """Mark ``side`` (1 left, 0 right) for every row of the batch; return the splits."""
        best, k = divisions.best, len(batch)
        if self.finder is not None:  # 2: to be placed by surrogates
            best = best._replace(missing_left=np.full(k, 2, np.uint8))
        category = self._is_category(best)
        split = Split(
            kind=np.where(category, SUBSET, THRESHOLD),
            feature=best.feature,
            threshold=np.empty(k),
            missing_child=np.empty(k, np.int32),
            bits_start=np.full(k, -1),
            bits=self._reserve_bits(best, category),
        )
        has_missing = self._mark(batch, best, category, split, side)
        split.missing_child[:] = self._missing_child(batch, best, has_missing, side)
        self._write_bits(split, category)
        if self.finder is None:
            return split
        table = self.finder.find(batch, split, side)
        return replace(split, surrogates=table, bits=table.bits)

    def _mark(self, batch: Batch, best: Best, category: Any, split: Any, side: Any) -> np.ndarray:
        """Mark every row's side; return which nodes have missing values."""
        if not len(self.store.code_features):
            return self._mark_lists(batch, best, slice(None), split, side)
        listed = best.source == FROM_LIST
        has_missing = np.zeros(len(batch), np.bool_)
        for chosen, mark in (
            (listed, self._mark_lists),
            (~listed & ~category, self._mark_codes),
            (category, self._mark_categories),
        ):
            where = np.flatnonzero(chosen)
            if len(where):
                has_missing[where] = mark(batch.only(where), take(best, where), where, split, side)
        split.threshold[category] = np.nan
        return has_missing

    # ------------------------------------------------------------------ three kinds of division
    def _mark_lists(
        self, batch: Batch, best: Best, where: Any, split: Any, side: Any
    ) -> np.ndarray:
        lists, nodes = self.store.lists, batch.nodes
        slots = self.store.list_slots[np.searchsorted(self.store.list_features, best.feature)]
        has_missing = np.empty(len(batch), np.bool_)
        mark_lists(lists, slots, nodes, best, side, has_missing)
        last = lists[slots, nodes.start + best.cut - 1] & POSITION
        after = np.minimum(nodes.start + best.cut, nodes.end - 1)
        upper = lists[slots, after]
        low = self._values_at(last, best.feature)
        high = self._values_at(upper & POSITION, best.feature)
        high[(upper & MISSING) != 0] = np.inf
        split.threshold[where] = self._threshold(low, high, best.feature)
        return has_missing

    def _mark_codes(
        self, batch: Batch, best: Best, where: Any, split: Any, side: Any
    ) -> np.ndarray:
        store, nodes = self.store, batch.nodes
        columns = self.searcher.columns_of(best.feature)
        has_missing, above = np.empty(len(where), np.bool_), np.empty(len(where), np.int64)
        mark_codes(store.codes, columns, self.row.id, nodes, best, side, has_missing, above)
        first = store.values.start[columns.slot]
        low = store.values.high[first + np.minimum(best.cut, columns.n_codes - 1)]
        high = np.where(above >= 0, store.values.low[first + np.maximum(above, 0)], np.inf)
        threshold = self._threshold(low, high, best.feature)
        if self.searcher.random:
            drawn = np.empty(len(where))
            draws = self.searcher.draws_of(batch, best.feature)
            draw_again(store.codes, columns, self.row.id, nodes, draws, drawn)
            use = (low <= drawn) & (drawn < high) & np.isfinite(high) & ~self.ordinal[best.feature]
            threshold = np.where(use, drawn, threshold)
        split.threshold[where] = threshold
        return has_missing

    def _mark_categories(
        self, batch: Batch, best: Best, where: Any, split: Any, side: Any
    ) -> np.ndarray:
        has_missing = np.empty(len(where), np.bool_)
        columns = self.searcher.columns_of(best.feature)
        step = max(1, _TABLE // (int(columns.n_codes.max()) + 1))
        for lo in range(0, len(where), step):
            here = slice(lo, lo + step)
            part, some = batch.only(here), take(columns, here)
            takes = self._takes(part, take(best, here), some)
            mark_categories(
                self.store.codes, some, self.row.id, part.nodes, takes, best.missing_left[here],
                side, has_missing[here],
            )  # fmt: skip
            self._takes_of.extend(zip(where[here], takes, some.n_codes))
        return has_missing

    def _takes(self, batch: Batch, best: Best, columns: Columns) -> np.ndarray:
        """Return (nodes, codes): where each category goes (1 left, 0 right, 2 not in the node)."""
        takes = np.empty((len(batch), int(columns.n_codes.max())), np.uint8)
        codes, searcher, nodes = self.store.codes, self.searcher, batch.nodes
        if searcher.random:
            draws = searcher.draws_of(batch, best.feature)
            toss_categories(codes, columns, self.row.id, nodes, draws, best.cut, takes)
        else:
            choose_categories(
                codes, columns, self.row, nodes, searcher.statistic.rules, best.cut,
                searcher.counter_of(columns), takes,
            )  # fmt: skip
        return takes

    # ------------------------------------------------------------------ pieces
    def _is_category(self, best: Best) -> np.ndarray:
        if not len(self.store.code_features):
            return np.zeros(len(best.feature), np.bool_)
        index = np.minimum(self.store.code_of(best.feature), len(self.store.code_features) - 1)
        return self.store.categorical[index] & (best.source != FROM_LIST)

    def _values_at(self, positions: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Return the value of the row at each position in a column of its own."""
        rows = self.row.id[positions]
        return self.matrix.at(rows if self.rows is None else self.rows[rows], features)

    def _threshold(self, low: np.ndarray, high: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Between two values; a rank itself; +inf where nothing but missing lies above."""
        between = midpoint(low, high)
        if self.any_ordinal:
            between = np.where(self.ordinal[features] & (high < np.inf), low, between)
        return between

    def _reserve_bits(self, best: Best, category: np.ndarray) -> np.ndarray:
        """Make room for the category sets."""
        self._takes_of: list[Any] = []
        if not len(self.store.code_features):
            return _NO_BITS
        index = self.store.code_of(best.feature[category])
        return np.zeros(int(((self.store.n_codes[index] + 31) // 32).sum()), np.uint32)

    def _write_bits(self, split: Split, category: np.ndarray) -> None:
        """Write the category sets, one behind the other."""
        if not len(split.bits):
            return
        index = self.store.code_of(split.feature[category])
        words = (self.store.n_codes[index] + 31) // 32
        split.bits_start[category] = np.cumsum(words) - words
        for node, takes, n_codes in self._takes_of:
            set_bits(
                takes[None, :], np.array([n_codes]), np.array([1 - split.missing_child[node]]),
                split.bits, split.bits_start[node : node + 1],
            )  # fmt: skip

    def _missing_child(
        self,
        batch: Any,
        best: Any,
        has_missing: np.ndarray,
        side: np.ndarray,
    ) -> np.ndarray:
        """Missing values go where they went in training; where there were none, to the larger side."""
        nodes, weights = batch.nodes, self.searcher.statistic.target.weights
        if len(weights) or len(self.store.code_features) or self.finder is not None:
            larger = np.empty(len(batch), np.int64)
            larger_side(self.row.id, weights, nodes.start, nodes.end, side, larger)
        else:  # every cut is a number of rows
            larger = 2 * best.cut < nodes.end - nodes.start
        return np.where(has_missing & (best.missing_left < 2), best.missing_left != 1, larger)
