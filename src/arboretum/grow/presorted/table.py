"""The table that trees of limited depth grow on: columns sorted, or counted, once per fit.

Columns of few values become codes, which are counted (engine/presorted/counted.py):

a column of few values     codes in the order of the values
numbers in bins            codes of bins, which stand for the values while a tree is grown
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.columns.presort import MISSING, NEW, ranks_of
from arboretum.engine.kinds import THRESHOLD
from arboretum.engine.presorted.row_layout import CATEGORIES, NUMBERS, RANKS, ROWS_PER_CELL
from arboretum.engine.presorted.search import LevelTable
from arboretum.grow.apply_split import midpoint
from arboretum.grow.columns import sort_columns, store_columns

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.engine.presorted.grow import Nodes
    from arboretum.grow.columns import ColumnStore
    from arboretum.grow.settings import Growth

__all__ = ["BinnedColumns", "code_columns", "level_table"]


# ---------------------------------------------------------------------- columns of few values
_NEW_VALUE = NEW | MISSING
_FEW_ROWS = 2_000  # numbers of fewer are walked, whatever they are


@dataclass(frozen=True, eq=False)
class BinnedColumns:
    """Numbers in bins: trees are grown on the codes of bins, as on ranks."""

    store: ColumnStore
    kinds: np.ndarray  # uint8, of the columns

    def column(self, f: int) -> np.ndarray:
        """Return the codes of a column, NaN where its value is missing."""
        line = int(np.searchsorted(self.store.code_features, f))
        codes = self.store.codes[line].astype(np.float64)
        codes[self.store.codes[line] == self.store.n_codes[line]] = np.nan
        return codes

    def are_counted(self, n: int, depth: int | None) -> bool:
        """Return whether n rows are counted in all nodes, whatever the level."""
        level = 1 + 2 ** ((depth or 1) - 1)
        most = int(self.store.n_codes.max(initial=0)) + 1
        return level * most * ROWS_PER_CELL <= n

    def codes(self) -> dict[str, np.ndarray]:
        """Return what `code_columns` would return."""
        store = self.store
        lines = np.arange(len(store.codes))
        value_of = np.tile(
            np.arange(store.n_codes.max(initial=0), dtype=np.float64), (len(lines), 1)
        )
        return {
            "codes": store.codes.astype(np.uint16),
            "coded": lines,
            "n_values": store.n_codes,
            "value_of": value_of,
        }

    def to_values(self, nodes: Nodes, size: int) -> None:
        """Turn the thresholds of nodes, codes of bins, into values as CART's are."""
        code, feature = nodes.threshold[:size], nodes.feature[:size]
        numbers = np.flatnonzero((nodes.kind[:size] == THRESHOLD) & np.isfinite(code))
        f, values = feature[numbers], self.store.values
        first = values.start[self.store.code_of(f)]
        low = values.high[first + code[numbers].astype(np.int64)]
        high = values.low[first + nodes.upper[numbers].astype(np.int64)]
        code[numbers] = np.where(self.kinds[f] == RANKS, low, midpoint(low, high))


def code_columns(
    values: np.ndarray, lists: np.ndarray, n_categories: list[int], few_rows: int = _FEW_ROWS
) -> dict[str, np.ndarray]:
    """Return the codes of the columns that have few values; see engine/presorted/counted.py.

    ``n_categories``: of every column, 0 of numbers; numbers of fewer than ``few_rows`` have no codes.
    """
    width, n = lists.shape
    n_values = np.zeros(width, np.int64)
    coded = np.full(width, -1)
    columns: list[np.ndarray] = []
    meanings: list[np.ndarray] = []
    for f in range(width):
        if not n_categories[f] and n < few_rows:
            continue
        size = n_values[f] = n_categories[f] or np.count_nonzero((lists[f] & _NEW_VALUE) == NEW)
        if size > min(n // ROWS_PER_CELL, 65535) - 1:
            continue
        codes = np.empty(n, np.uint32)
        if n_categories[f]:
            gaps = np.isnan(values[f])
            codes[:] = np.where(gaps, size, values[f]) if gaps.any() else values[f]
            meaning = np.zeros(0)
        else:
            ranks_of(lists[f], size, codes)
            meaning = np.empty(size)
            meaning[codes[codes < size]] = values[f][codes < size]
        coded[f] = len(columns)
        columns.append(codes.astype(np.uint16))
        meanings.append(meaning)
    value_of = np.zeros((len(columns), max(map(len, meanings), default=0)))
    for line, meaning in zip(value_of, meanings, strict=True):
        line[: len(meaning)] = meaning
    return {
        "codes": np.array(columns, np.uint16).reshape(len(columns), n),
        "coded": coded,
        "n_values": n_values,
        "value_of": value_of,
    }


_KINDS = {"numeric": NUMBERS, "ordinal": RANKS, "categorical": CATEGORIES}


def level_table(
    matrix: Matrix, schema: Schema, settings: Growth
) -> tuple[LevelTable, BinnedColumns | None]:
    """Return the columns in order, and what their values stand for: bins, or None for themselves."""
    n, width = matrix.shape
    shape = width, n
    kinds = np.array([_KINDS[column.kind] for column in schema.columns], np.uint8)
    values, bins = np.empty(shape), None
    if settings.max_bins is not None:
        most, jobs = settings.max_bins, settings.n_jobs
        store = store_columns(matrix, schema.columns, max_bins=most, n_jobs=jobs)
        bins = BinnedColumns(store, kinds)
    read = matrix.column if bins is None else bins.column

    def column(f: int) -> np.ndarray:
        values[f] = read(f)
        return values[f]

    n_codes = [
        len(column.categories or ()) if kind == CATEGORIES else 0
        for column, kind in zip(schema.columns, kinds.tolist(), strict=True)
    ]
    if bins is not None and bins.are_counted(n, settings.max_depth):
        lists, present = np.empty(shape, np.uint32), np.full(width, n)  # lists are not read
        for f in range(width):
            present[f] -= np.count_nonzero(np.isnan(column(f)))
        codes = bins.codes()
    else:
        lists, present = sort_columns(column, shape, settings.n_jobs)
        codes = code_columns(values, lists, n_codes)
    table = LevelTable(
        lists=lists,
        present=present,
        kind=kinds if bins is None else np.where(kinds == CATEGORIES, kinds, np.uint8(RANKS)),
        n_codes=np.array(n_codes, np.int64),
        values=values,
        has_categories=bool((kinds == CATEGORIES).any()),
        charged=schema.charged,
        **codes,
    )
    return table, bins
