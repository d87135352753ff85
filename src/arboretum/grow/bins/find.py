"""Finding bins: from a table in memory to `Bins`, by quantiles of a sample of its rows.

    numbers      one bin per value if there are at most ``max_bin``, else quantiles (cuts.py)
    categories   counted in all rows; which of them have bins is a policy (categories.py)
    sparse       only stored entries are looked at; the others are one value with a count

What is learned, and how, is in learn.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from arboretum.data.matrix import Matrix, SparseMatrix
from arboretum.grow.bins.bins import Bins
from arboretum.grow.bins.bundling import bundle_columns
from arboretum.grow.bins.categories import Keep, every_category
from arboretum.grow.bins.learn import (
    BinRules,
    ColumnBins,
    bins_of_counts,
    cut_columns,
    make_bins,
    sample_rows,
)
from arboretum.grow.bins.sparse import rows_by_column

if TYPE_CHECKING:
    from arboretum.data.schema import Schema

__all__ = ["BinRules", "Bins", "bin_table", "category_bins", "count_codes", "find_bins"]

_COUNTED = 1 << 16  # rows of a column of categories that are counted at a time
_FEW_CODES = 1 << 22  # of a table that may be coded before it is known what is bundled
_RULES = BinRules()


def find_bins(
    matrix: Matrix,
    schema: Schema,
    rules: BinRules = _RULES,
    weight: np.ndarray | None = None,
    n_jobs: int = 1,
) -> Bins:
    """Find the bins of every column and code the table.

    With ``weight``, one per row, bins have about equal weight instead of about equally many rows.
    """
    rules.check()
    numbers = any(column.kind != "categorical" for column in schema.columns)
    numbers |= isinstance(matrix, SparseMatrix)  # not turned by column as a whole
    rows = sample_rows(matrix.n_rows, rules.sample, rules.seed) if numbers else None
    if isinstance(matrix, SparseMatrix):
        part: Matrix = rows_by_column(matrix, rows)
    else:
        part = matrix if rows is None else matrix.take(rows)
    if weight is not None and rows is not None:
        weight = np.asarray(weight)[rows]
    found = cut_columns(part, schema, rules, weight, n_jobs)
    del part  # the memory is needed for the codes
    found |= category_bins(matrix, schema, rules.categories)
    return bin_table(matrix, found, n_jobs, rules.max_conflict if rules.bundle else None)


def category_bins(
    matrix: Matrix, schema: Schema, keep: Keep = every_category
) -> dict[int, ColumnBins]:
    """Return the bins of all columns of categories."""
    found = {}
    for f, column in enumerate(schema.columns):
        if column.kind == "categorical":
            counts, has_missing = count_codes(matrix.column(f), np.zeros(0, np.int64))
            found[f] = one = bins_of_counts(counts, has_missing, keep)
            if isinstance(matrix, SparseMatrix):  # what is not stored, if it has a bin
                absent, kept = 0.0 if matrix.fill is None else matrix.fill[f], one.categories
                default = int(np.argmax(kept == absent)) if kept is not None and len(kept) else 0
                found[f] = one._replace(default=default)
    return found


def count_codes(x: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return how often each code of a column of categories occurs, and whether one is missing.

    ``counts`` (int64) are those of the rows before.
    """
    has_missing = False
    for start in range(0, len(x), _COUNTED):
        some = x[start : start + _COUNTED]
        present = some == some
        has_missing |= not present.all()
        found = np.bincount(some[present].astype(np.int64), minlength=len(counts))
        found[: len(counts)] += counts
        counts = found
    return counts, has_missing


def bin_table(
    matrix: Matrix,
    found: Mapping[int, ColumnBins],
    n_jobs: int = 1,
    max_conflict: float | None = None,
) -> Bins:
    """Code a table by the bins of its columns; bundle them if ``max_conflict`` is not None."""
    bins = make_bins([found[f] for f in range(matrix.n_columns)])
    if max_conflict is None:
        return bins.of_table(matrix, n_jobs)
    if isinstance(matrix, SparseMatrix):
        entries = bins.code_entries(matrix)
        return bundle_columns(bins, entries, max_conflict, n_jobs).of_table(entries, n_jobs)
    small = matrix.n_rows * matrix.n_columns <= _FEW_CODES
    if small:  # mostly there are no bundles, and these codes stay
        bins = bins.of_table(matrix, n_jobs)
    bundled = bundle_columns(bins, matrix, max_conflict, n_jobs)
    return bins if small and bundled is bins else bundled.of_table(matrix, n_jobs)
