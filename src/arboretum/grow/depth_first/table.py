"""A table made ready once for any number of trees.

Best cuts look at ranks, random ones at the numbers themselves, as whole numbers of the same order:

    column     .3  .9  .1  .9         ranks  1 2 0 2         ordered bits  0x3E99… 0x3F66… 0x3DCC… 0x3F66…
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.columns.presort import ranks_of, sort_column
from arboretum.engine.compiler.decorators import writable
from arboretum.engine.depth_first import records
from arboretum.engine.depth_first.random_cut import ordered_bits
from arboretum.lazy import cached_property
from arboretum.predict.walk import has_no_gaps
from arboretum.structure.tree import LEAF, SUBSET, THRESHOLD

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = ["TreeTable", "tree_table"]

_KINDS = {"numeric": records.NUMBER, "ordinal": records.RANK, "categorical": records.CATEGORY}
# bytes of a table whose branches are copied: the cache serves a smaller one as it is
_LARGE = 3 << 20
_NARROW = 65_535  # up to this many codes, and missing, take two bytes


@dataclass(frozen=True, eq=False)
class TreeTable:
    """A table made ready once for any number of trees."""

    matrix: Matrix
    schema: Schema
    values: np.ndarray  # (columns, rows): ranks and codes; random splits: ordered bits
    by_row: np.ndarray  # the same row by row; of no rows if none are copied
    features: records.TreeFeatures
    random_splits: bool
    spares: list[Any] = field(default_factory=list)  # arrays of trees that are grown already

    @cached_property
    def has_categories(self) -> bool:
        return bool((self.features.kind == records.CATEGORY).any())

    @cached_property
    def is_complete(self) -> bool:
        """Whether no value is missing."""
        return has_no_gaps(self.matrix)

    @cached_property
    def node_kinds(self) -> np.ndarray:
        """The kind of a node that is split on each column; the last one is that of a leaf."""
        kinds = np.full(len(self.features.kind) + 1, THRESHOLD, np.uint8)
        if self.has_categories:
            kinds[:-1][self.features.kind == records.CATEGORY] = SUBSET
        kinds[-1] = LEAF  # its feature is -1
        return kinds


def tree_table(
    matrix: Matrix,
    schema: Schema,
    *,
    random_splits: bool,
    monotone: np.ndarray | None = None,
    n_jobs: int = 1,
) -> TreeTable:
    """Rank the values of every column; or, for random splits, lay the columns out side by side."""
    width = matrix.n_columns
    kind = np.array([_KINDS[column.kind] for column in schema.columns], np.int8)
    n_codes = np.array([len(c.categories or ()) for c in schema.columns], np.int64)
    if random_splits:
        values = _ordered(matrix, kind, n_jobs)
        missing = np.full(width, np.iinfo(values.dtype).max, np.int64)
    else:
        values, missing = _ranked(matrix, kind, n_codes, n_jobs), n_codes
    sign = np.zeros(width, np.int8) if monotone is None else writable(monotone.astype(np.int8))
    by_row = np.ascontiguousarray(values.T if values.nbytes > _LARGE else values.T[:0])
    features = records.TreeFeatures(n_codes, missing, kind, sign, schema.charged)
    return TreeTable(matrix, schema, values, by_row, features, random_splits)


def _ranked(matrix: Matrix, kind: np.ndarray, n_codes: np.ndarray, n_jobs: int) -> np.ndarray:
    """Return the columns as ranks and codes; how many there are is written."""
    n = matrix.n_rows
    codes = np.empty((len(kind), n), np.uint32)

    def code(f: int) -> None:
        column = matrix.column(f)
        if kind[f] == records.CATEGORY:
            missing = np.isnan(column)
            codes[f] = np.where(missing, n_codes[f], column) if missing.any() else column
            return
        entries = np.empty(n, np.uint32)
        n_codes[f] = sort_column(writable(column), entries)
        ranks_of(entries, n_codes[f], codes[f])

    _run(code, codes, n_jobs)
    return codes.astype(np.uint16) if n_codes.max(initial=0) < _NARROW else codes


def _ordered(matrix: Matrix, kind: np.ndarray, n_jobs: int) -> np.ndarray:
    """Return the columns as whole numbers of the same order."""
    number = _shortest(matrix)
    values = np.empty((len(kind), matrix.n_rows), f"i{number().itemsize}")

    def copy(f: int) -> None:
        column = matrix.column(f)
        if kind[f] == records.CATEGORY:
            missing = np.iinfo(values.dtype).max
            values[f] = np.where(np.isnan(column), missing, np.nan_to_num(column).astype(np.int64))
        else:
            ordered_bits(writable(column.astype(number, copy=False)), values[f])

    _run(copy, values, n_jobs)
    return values


def _run(one: Callable[[int], None], values: np.ndarray, n_jobs: int) -> None:
    """Do something for every column."""
    threads = parallel.threads_for(values.size, parallel.SORT, n_jobs)
    parallel.run(one, range(len(values)), threads)


def _shortest(matrix: Matrix) -> type[np.floating]:
    """Return float32 if it holds every value of a table exactly, float64 otherwise."""
    for f in range(matrix.n_columns):
        column = matrix.column(f)
        with np.errstate(over="ignore"):
            if not np.array_equal(column.astype(np.float32), column, equal_nan=True):
                return np.float64
    return np.float32
