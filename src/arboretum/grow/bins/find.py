"""Finding bins: from a table to `Bins`, by quantiles of a sample of its rows.

    numbers      one bin per value if there are at most ``max_bin``, else quantiles (cuts.py)
    categories   counted in all rows; which of them have bins is a policy (categories.py)
    sparse       only stored entries are looked at; the others are one value with a count

The sample has one row from each of as many equal stretches of the table, drawn by a hash of (seed,
stretch). So neither threads nor the layout of the table change a bin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arboretum.data.matrix import DenseMatrix, Matrix, SparseMatrix
from arboretum.engine import parallel
from arboretum.engine.keys import key_of, uniform_array
from arboretum.errors import ParameterError
from arboretum.grow.bins.bins import MOST_BINS, Bins, by_rows, flat, storage_columns
from arboretum.grow.bins.bundling import bundle_columns
from arboretum.grow.bins.categories import Keep, every_category
from arboretum.grow.bins.cuts import bounds_around_zero, count_values, number_bounds, whole_weights
from arboretum.grow.bins.sparse import rows_by_column

if TYPE_CHECKING:
    from arboretum.data.schema import Schema

__all__ = [
    "Absent",
    "BinRules",
    "Bins",
    "ColumnBins",
    "bin_table",
    "category_bins",
    "find_bins",
    "make_bins",
    "sample_rows",
    "visit_numbers",
]

Absent = tuple[float, float, float]  # value, rows, weight
Visit = Callable[[int, np.ndarray, np.ndarray | None, Absent | None], None]

_COUNTED = 1 << 16  # rows of a column of categories that are counted at a time
_STRIP = 512  # rows of a strip that is turned from rows into columns
_SAMPLE = 0x5A3B
_FEW_CODES = 1 << 22  # of a table that may be coded before it is known what is bundled


class ColumnBins(NamedTuple):
    """The bins of one feature: upper bounds of numbers, or categories; and the most frequent bin."""

    bounds: np.ndarray
    categories: np.ndarray | None = None
    default: int = 0

    @property
    def n_bins(self) -> int:
        return len(self.bounds if self.categories is None else self.categories)


@dataclass(frozen=True)
class BinRules:
    """How bins are found.

    Attributes
    ----------
    max_bin : int
        The most bins of a column of numbers, 2 to 65535.
    sample : int
        The most rows that cuts are found from.
    seed : int
        Which rows are drawn.
    min_data_in_bin : int
        The fewest sampled rows of a bin of numbers.
    bundle : bool
        Let columns that are rarely both out of their most frequent bin share one (bundling.py).
    max_conflict : float
        The share of the rows of a bundle that may lose a value.
    categories : function
        Which categories have bins.
    zero_apart : bool
        Give zero a bin of its own, as LightGBM does; there are then no weights.
    """

    max_bin: int = 255
    sample: int = 200_000
    seed: int = 0
    min_data_in_bin: int = 3
    bundle: bool = False
    max_conflict: float = 0.0
    categories: Keep = every_category
    zero_apart: bool = False


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
    max_bin, min_data = rules.max_bin, rules.min_data_in_bin
    _check(max_bin=(max_bin, 2, MOST_BINS), sample=(rules.sample, 2, np.inf))
    _check(min_data_in_bin=(min_data, 1, np.inf), max_conflict=(rules.max_conflict, 0, 1))
    numbers = any(column.kind != "categorical" for column in schema.columns)
    numbers |= isinstance(matrix, SparseMatrix)  # not turned by column as a whole
    rows = sample_rows(matrix.n_rows, rules.sample, rules.seed) if numbers else None
    if isinstance(matrix, SparseMatrix):
        part: Matrix = rows_by_column(matrix, rows)
    else:
        part = matrix if rows is None else matrix.take(rows)
    n_sampled = part.n_rows
    if weight is not None:
        weight = np.asarray(weight, np.float64)
        weight = whole_weights(weight if rows is None else weight[rows])
    found: dict[int, ColumnBins] = {}

    def cut(f: int, x: np.ndarray, w: np.ndarray | None, absent: Absent | None) -> None:
        table = count_values(x, w, absent)
        if rules.zero_apart:
            lost = table.counts.sum() < n_sampled  # missing values take a bin
            bounds = bounds_around_zero(table, max(max_bin - lost, 2), min_data)
        else:
            bounds = number_bounds(table, max_bin, min_data)
        if absent is not None:
            usual = absent[0]
        else:
            usual = table.values[np.argmax(table.counts)] if len(table.values) else 0.0
        found[f] = ColumnBins(bounds, None, int(np.searchsorted(bounds, usual)))

    visit_numbers(part, schema, cut, weight, n_jobs)
    del part  # the memory is needed for the codes
    found |= category_bins(matrix, schema, rules.categories)
    return bin_table(matrix, found, n_jobs, rules.max_conflict if rules.bundle else None)


def _check(**parameters: tuple[float, float, float]) -> None:
    """Refuse a parameter outside its range: value, least, most."""
    for name, (value, least, most) in parameters.items():
        if not least <= value <= most:
            end = "" if most == np.inf else f" and at most {most}"
            raise ParameterError(f"{name} must be at least {least}{end}, got {value!r}")


def sample_rows(n: int, size: int, seed: int) -> np.ndarray | None:
    """Return ``size`` rows in order, one from each of as many equal stretches; None: all rows.

    >>> sample_rows(10, 20, seed=0) is None
    True
    >>> rows = sample_rows(1000, 4, seed=0)
    >>> (rows // 250).tolist()
    [0, 1, 2, 3]
    """
    if n <= size:
        return None
    edges = np.arange(size + 1, dtype=np.int64) * n // size
    share = uniform_array(key_of(seed, _SAMPLE), size)
    return edges[:-1] + (share * np.diff(edges)).astype(np.int64)


def visit_numbers(
    matrix: Matrix, schema: Schema, visit: Visit, weight: np.ndarray | None = None, n_jobs: int = 1
) -> None:
    """Call ``visit(f, values, weights, absent)`` for every column of numbers.

    Of a sparse column, ``values`` are those stored, and ``absent`` is the value of all other rows with
    their number and weight. The arrays may be overwritten when ``visit`` returns.
    """
    features = [f for f, column in enumerate(schema.columns) if column.kind != "categorical"]
    n_jobs = parallel.threads_for(matrix.n_rows * len(features), parallel.CODE, n_jobs)
    if isinstance(matrix, SparseMatrix):
        stored, fill, n = matrix.by_column, matrix.fill, matrix.n_rows

        def stored_entries(f: int) -> None:
            span = slice(stored.indptr[f], stored.indptr[f + 1])
            x = stored.data[span].astype(np.float64)
            w = None if weight is None else weight[stored.indices[span]]
            rest = n - len(x) if weight is None or w is None else weight.sum() - w.sum()
            visit(f, x, w, (0.0 if fill is None else float(fill[f]), n - len(x), rest))

        parallel.run(stored_entries, features, n_jobs)
    elif by_rows(matrix):
        assert isinstance(matrix, DenseMatrix)
        table = matrix.values

        def some(group: tuple[int, int]) -> None:
            chosen = features[slice(*group)]
            columns = _columns_of(table, chosen[0], chosen[-1] + 1)
            for f in chosen:
                visit(f, columns[f - chosen[0]], weight, None)

        width = max(64 // table.itemsize, 1)  # columns that one line of the cache holds
        n_groups = max(-(-len(features) // width), min(n_jobs, len(features)))
        parallel.run(some, parallel.blocks(len(features), n_groups), n_jobs)
    else:
        parallel.run(lambda f: visit(f, matrix.column(f), weight, None), features, n_jobs)


def _columns_of(table: np.ndarray, start: int, end: int) -> np.ndarray:
    """Return neighbouring columns of a table kept by rows, each contiguous."""
    columns = np.empty((end - start, len(table)))
    for row in range(0, len(table), _STRIP):
        columns[:, row : row + _STRIP] = table[row : row + _STRIP, start:end].T
    return columns


def category_bins(
    matrix: Matrix, schema: Schema, keep: Keep = every_category
) -> dict[int, ColumnBins]:
    """Return the bins of all columns of categories."""
    found = {}
    for f, column in enumerate(schema.columns):
        if column.kind == "categorical":
            x = matrix.column(f)
            counts, has_missing = _count_codes(x)
            kept = keep(counts, has_missing)
            default = 0
            if isinstance(matrix, SparseMatrix):  # what is not stored, if it has a bin
                absent = 0.0 if matrix.fill is None else matrix.fill[f]
                default = int(np.argmax(kept == absent)) if len(kept) else 0
            elif len(kept):
                default = int(np.argmax(counts[kept]))
            found[f] = ColumnBins(np.empty(0), kept, default)
    return found


def _count_codes(x: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return how often each code of a column of categories occurs, and whether one is missing."""
    counts, has_missing = np.zeros(0, np.int64), False
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


def make_bins(columns: Sequence[ColumnBins]) -> Bins:
    """Return `Bins` without rows, every feature in a column of its own."""
    n = len(columns)
    bounds = [c.bounds for c in columns]
    categories = [np.empty(0) if c.categories is None else c.categories for c in columns]
    n_bins = np.array([c.n_bins for c in columns], np.int32)
    storage, _ = storage_columns(np.arange(n), n_bins)
    return Bins(
        np.empty((0, 0), np.uint8),
        np.empty((0, 0), np.uint16),
        storage,
        np.zeros(n, np.int32),
        n_bins,
        np.array([c.default for c in columns], np.int32),
        np.array([c.categories is not None for c in columns], bool),
        np.zeros(n, bool),
        *flat(bounds, np.float64),
        *flat(categories, np.int32),
        np.zeros(n, np.int64),
        np.zeros(n, np.int32),
    )
