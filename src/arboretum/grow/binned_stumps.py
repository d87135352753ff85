"""Stumps of two classes on numbers in bins (``max_bins``), round after round: bins are made once and counted.

    numbers      codes of bins, and what rows of each code there are       engine/stump/codes.py
    categories   as for other stumps                                       category_stumps.py

The stump is the tree of depth 1 that CART grows on these bins. Rows of weight 0 take no part in making bins:
where there are such, bins are made anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine.fixed_point import are_whole
from arboretum.engine.stump.codes import mark_stump_codes, search_code_stumps
from arboretum.engine.stump.two_classes import weigh_words
from arboretum.grow.apply_split import midpoint
from arboretum.grow.category_stumps import CategoryColumns, code_categories
from arboretum.grow.columns import ColumnStore, store_columns
from arboretum.grow.reweighted import Cut, Stumps, is_plain_stump

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = ["BinnedStumps", "can_be_binned_stump"]


def can_be_binned_stump(base: Any, n_classes: int | None) -> bool:
    """Tell whether `BinnedStumps` grows what this CART would grow."""
    return (
        base.max_bins is not None
        and n_classes == 2
        and base.criterion == "gini"
        and is_plain_stump(base)
    )


@dataclass(frozen=True, eq=False)
class _Binned:
    """The columns of a table, or of some of its rows."""

    store: ColumnStore
    numbers: np.ndarray  # int64: lines of codes that are numbers
    counts: np.ndarray  # (lines, codes) int64: rows of each code
    categories: CategoryColumns | None


class BinnedStumps(Stumps):
    """Trees of depth 1 for two classes by Gini impurity; ``y`` holds their codes."""

    def __init__(
        self,
        matrix: Matrix,
        schema: Schema,
        y: np.ndarray,
        max_bins: int,
        n_jobs: int,
        penalty: float,
    ) -> None:
        self._set_up(matrix, schema, y, 2, n_jobs)
        self.max_bins = max_bins
        self.categories = code_categories(matrix, schema, 2, penalty)
        self.columns = self._columns_of(None)

    def _columns_of(self, rows: np.ndarray | None) -> Any:
        store = store_columns(
            self.matrix, self.schema.columns, rows, max_bins=self.max_bins, n_jobs=self.n_jobs
        )
        most = int(store.n_codes.max(initial=0)) + 1
        counts = [np.bincount(codes, minlength=most) for codes in store.codes]
        categories = self.categories
        if categories is not None and rows is not None:
            categories = categories.take(rows)
        numbers = np.flatnonzero(~store.categorical)
        return _Binned(store, numbers, np.array(counts, np.int64).reshape(-1, most), categories)

    def _take(self, rows: np.ndarray) -> Any:
        return self._columns_of(rows)

    def _search_numbers(self, columns: Any, labels: np.ndarray, weights: np.ndarray) -> Cut | None:
        store, words = columns.store, np.empty(len(labels), np.int64)
        weight, total = weigh_words(weights, labels, are_whole(weights), words)
        if total in (0, weight) or not len(columns.numbers):  # one class is left
            return None
        score, column, place, missing_left = search_code_stumps(
            store.codes, columns.numbers, store.n_codes, columns.counts, words, weight, total
        )
        if score < 0:
            return None
        return Cut(score, int(store.code_features[column]), missing_left, column, place)

    def _divide(
        self, columns: Any, cut: Cut, rows: np.ndarray | None
    ) -> tuple[np.ndarray, bool, float]:
        store, line = columns.store, cut.column
        n_codes, counts = int(store.n_codes[line]), columns.counts[line]
        right = np.empty(store.codes.shape[1], np.uint8)
        mark_stump_codes(store.codes[line], n_codes, cut.place, cut.missing_left, right)
        first = store.values.start[line]
        low = store.values.high[first + cut.place]
        above = np.flatnonzero(counts[cut.place + 1 : n_codes])
        high: Any = store.values.low[first + cut.place + 1 + above[0]] if len(above) else np.inf
        ordinal = self.schema.columns[cut.feature].kind == "ordinal"
        threshold = low if ordinal and high < np.inf else midpoint(low, high)
        return right, bool(counts[n_codes]), float(threshold)
