"""Learning bins: the edges of every column, from a sample of rows and the counts of categories.

    sampled rows ─────────┐
    counts of categories ─┴─ learn_bins ──► Bins without rows ── of_table(any rows) ──► codes

Nothing here needs all rows at once, so tables in memory, streams and the parts of a cluster share this path.
The sample has one row from each of as many equal stretches of the table, drawn by a hash of (seed, stretch):
row numbers alone decide, so neither threads nor the layout of the table change a bin.
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
from arboretum.grow.bins.categories import Keep, every_category
from arboretum.grow.bins.cuts import (
    bounds_around_zero,
    bounds_at_quantiles,
    count_values,
    number_bounds,
    whole_weights,
)

if TYPE_CHECKING:
    from arboretum.data.parts import CategoryCounts
    from arboretum.data.schema import Schema

__all__ = [
    "Absent",
    "BinRules",
    "ColumnBins",
    "bins_of_counts",
    "cut_columns",
    "learn_bins",
    "make_bins",
    "sample_rows",
    "visit_numbers",
]

Absent = tuple[float, float, float]  # value, rows, weight
Visit = Callable[[int, np.ndarray, np.ndarray | None, Absent | None], None]

_STRIP = 512  # rows of a strip that is turned from rows into columns
_SAMPLE = 0x5A3B


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
    at_quantiles : bool
        Cut at quantiles, as scikit-learn does, whatever the rows of a bin, instead of between two values.
    """

    max_bin: int = 255
    sample: int = 200_000
    seed: int = 0
    min_data_in_bin: int = 3
    bundle: bool = False
    max_conflict: float = 0.0
    categories: Keep = every_category
    zero_apart: bool = False
    at_quantiles: bool = False

    def check(self) -> None:
        """Refuse a parameter outside its range."""
        for name, least, most in (
            ("max_bin", 2, MOST_BINS),
            ("sample", 2, np.inf),
            ("min_data_in_bin", 1, np.inf),
            ("max_conflict", 0, 1),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                end = "" if most == np.inf else f" and at most {most}"
                raise ParameterError(f"{name} must be at least {least}{end}, got {value!r}")


def learn_bins(
    sample: Matrix,
    schema: Schema,
    rules: BinRules,
    counts: Mapping[int, CategoryCounts],
    weight: np.ndarray | None = None,
    n_jobs: int = 1,
) -> Bins:
    """Return the bins of a table, without rows, every feature in a column of its own.

    Parameters
    ----------
    sample : Matrix
        The rows of `sample_rows`; not sparse.
    schema : Schema
        Of the whole table.
    rules : BinRules
    counts : dict of int to CategoryCounts
        Of every column of categories, in all rows.
    weight : float64 array of shape (rows of the sample,), optional
        Bins have about equal weight instead of about equally many rows.
    """
    found = cut_columns(sample, schema, rules, weight, n_jobs)
    for f, (often, has_missing) in counts.items():
        found[f] = bins_of_counts(often, has_missing, rules.categories)
    return make_bins([found[f] for f in range(schema.n_features)])


def cut_columns(
    sample: Matrix, schema: Schema, rules: BinRules, weight: np.ndarray | None, n_jobs: int
) -> dict[int, ColumnBins]:
    """Return the bins of all columns of numbers, from the sampled rows and their weights."""
    max_bin, min_data = rules.max_bin, rules.min_data_in_bin
    if weight is not None:
        weight = whole_weights(np.asarray(weight, np.float64))
    n_sampled = sample.n_rows
    found: dict[int, ColumnBins] = {}

    def cut(f: int, x: np.ndarray, w: np.ndarray | None, absent: Absent | None) -> None:
        table = count_values(x, w, absent)
        if rules.zero_apart:
            lost = table.counts.sum() < n_sampled  # missing values take a bin
            bounds = bounds_around_zero(table, max(max_bin - lost, 2), min_data)
        elif rules.at_quantiles:
            bounds = bounds_at_quantiles(table, max_bin)
        else:
            bounds = number_bounds(table, max_bin, min_data)
        if absent is not None:
            usual = absent[0]
        else:
            usual = table.values[np.argmax(table.counts)] if len(table.values) else 0.0
        found[f] = ColumnBins(bounds, None, int(np.searchsorted(bounds, usual)))

    visit_numbers(sample, schema, cut, weight, n_jobs)
    return found


def bins_of_counts(counts: np.ndarray, has_missing: bool, keep: Keep) -> ColumnBins:
    """Return the bins of a column of categories that is not sparse."""
    kept = keep(counts, has_missing)
    return ColumnBins(np.empty(0), kept, int(np.argmax(counts[kept])) if len(kept) else 0)


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
