"""A table that is never in memory as a whole: batches of files, or partitions on the workers of a cluster.

    learn ──► schema           what `learn_schema` returns for the table in one piece
    encoded ──► keep           the same rows as numbers; without those of weight 0
    take, category_counts ──► learn_bins_in_parts ──► Bins without rows
    table                      the codes, where trees are grown on them

It stands where a `Matrix` stands, in a fit of second-order boosting. Targets, weights, base margins and
groups of all rows are arrays in this process: 8 to 16 bytes a row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.grow.bins.bundling import bundle_parts
from arboretum.grow.bins.learn import BinRules, learn_bins, sample_rows

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.parts import CategoryCounts
    from arboretum.data.schema import Schema
    from arboretum.grow.bins.bins import Bins
    from arboretum.grow.bins.bundling import PairsInUse
    from arboretum.predict.ensemble import Ensemble

__all__ = ["TableInParts", "answers_of", "learn_bins_in_parts", "rows_to_sample"]


class TableInParts(ABC):
    """A table of ``shape`` (rows, columns), which all methods read part by part.

    Attributes
    ----------
    expected : int64 array or None
        Rows that `take` will probably be called with. A table that is read in passes may keep them while it
        learns.
    """

    expected: np.ndarray | None = None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def n_rows(self) -> int:
        return self.shape[0]

    @property
    def n_columns(self) -> int:
        return self.shape[1]

    # ------------------------------------------------------------------ columns
    @abstractmethod
    def learn(self, settings: Mapping[str, Any]) -> Schema:
        """Return the schema of all rows; ``settings`` are the arguments of `learn_schema`."""

    @abstractmethod
    def encoded(
        self, schema: Schema, *, unseen: str, absent: float | None, estimator_name: str
    ) -> TableInParts:
        """Return the rows as numbers of a schema; nothing is read yet.

        ``absent`` is a number that stands for missing values besides NaN.
        """

    @abstractmethod
    def keep(self, rows: np.ndarray) -> TableInParts:
        """Return the table of these rows (int64, ascending), which are nearly all; nothing is read yet."""

    # ------------------------------------------------------------------ encoded rows
    @abstractmethod
    def take(self, rows: np.ndarray) -> Matrix:
        """Return a few rows (int64, ascending) in memory; none are had without reading."""

    @abstractmethod
    def category_counts(self, schema: Schema) -> dict[int, CategoryCounts]:
        """Return how often the categories of every column occur."""

    @abstractmethod
    def pairs_in_use(self, bins: Bins) -> PairsInUse:
        """Return which pairs of columns leave their most frequent bins in the same row."""

    @abstractmethod
    def table(self, bins: Bins, schema: Schema, plan: Any) -> Any:
        """Return the table of codes on which trees grow, for a `BoostPlan`."""

    @abstractmethod
    def answers(
        self, ensemble: Ensemble, n_jobs: int, start: np.ndarray | None = None
    ) -> np.ndarray:
        """Return what `Ensemble.answers` returns for the rows."""

    @abstractmethod
    def digest(self, found: Any) -> None:
        """Update a hash with the rows, for the fingerprint of a snapshot."""


def rows_to_sample(n_rows: int, size: int, seed: int) -> np.ndarray:
    """Return the rows that bins are found from.

    >>> rows_to_sample(3, 10, seed=0)
    array([0, 1, 2])
    """
    rows = sample_rows(n_rows, size, seed)
    return np.arange(n_rows) if rows is None else rows


def learn_bins_in_parts(
    table: TableInParts, schema: Schema, rules: BinRules, weight: np.ndarray | None, n_jobs: int
) -> Bins:
    """Return the bins of a table in parts, without rows: those that `find_bins` finds in one piece."""
    rules.check()
    n = table.n_rows
    numbers = any(column.kind != "categorical" for column in schema.columns)
    rows = rows_to_sample(n, rules.sample, rules.seed) if numbers else np.empty(0, np.int64)
    sample = table.take(rows)
    counts = table.category_counts(schema)
    if weight is not None:
        weight = np.asarray(weight)[rows]
    bins = learn_bins(sample, schema, rules, counts, weight, n_jobs)
    if not rules.bundle or bins.n_features < 2:
        return bins
    return bundle_parts(bins, table.pairs_in_use(bins), n, rules.max_conflict)


def answers_of(
    ensemble: Ensemble, rows: Matrix | TableInParts, n_jobs: int, start: np.ndarray | None = None
) -> np.ndarray:
    """Return an ensemble's answers to rows, wherever they are."""
    if isinstance(rows, TableInParts):
        return rows.answers(ensemble, n_jobs, start)
    return ensemble.answers(rows, n_jobs, start)
