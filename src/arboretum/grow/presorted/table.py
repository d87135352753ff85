"""The table that trees of limited depth grow on: columns sorted, or counted, once per fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.presorted.row_layout import CATEGORIES, NUMBERS, RANKS
from arboretum.engine.presorted.search import LevelTable
from arboretum.grow.columns import sort_columns, store_columns
from arboretum.grow.presorted.codes import BinnedColumns, code_columns

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.settings import Growth

__all__ = ["level_table"]

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
