"""A table whose rows stay on the workers of a cluster, as second-order boosting takes it.

    workers    partition 0, 3       1, 4       2        any worker has any partitions, in order
    rows       0 … 9, 25 … 31    10 … 19    20 … 24     numbered in the order of the partitions

What is learned from all rows is merged here; rows travel only if they are in the sample for bins.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.second_order.sharded import ShardedTable
from arboretum.data.column_warnings import Unseen, warn_unseen
from arboretum.data.matrix import DenseMatrix, Matrix
from arboretum.data.parts import CategoryCounts, join_parts
from arboretum.data.schema import Schema
from arboretum.distributed.partitions import Encoding, Look, join_matrices
from arboretum.distributed.workers import Workers
from arboretum.errors import DataError
from arboretum.grow.bins.in_parts import TableInParts
from arboretum.grow.sharded.shards import Shards

if TYPE_CHECKING:
    from arboretum.grow.bins.bins import Bins
    from arboretum.grow.bins.bundling import PairsInUse
    from arboretum.predict.ensemble import Ensemble

__all__ = ["ClusterTable"]


class ClusterTable(TableInParts):
    """One of the tables of `TablesOnWorker`.

    Parameters
    ----------
    workers : Workers
        Of `TablesOnWorker`.
    number : int
        Which of their tables.
    numbers : list of tuples of int
        The partitions of every worker.
    """

    def __init__(
        self, workers: Workers, number: int, numbers: Sequence[tuple[int, ...]], name: str = "X"
    ) -> None:
        self._workers, self._number = workers, number
        self._is_encoded = False
        self._twin: ClusterTable | None = None
        self._looked: list[Look] = self._call("look")
        sizes = np.zeros(sum(map(len, numbers)), np.int64)
        for mine, look in zip(numbers, self._looked):
            sizes[list(mine)] = look.sizes
        ends = np.cumsum(sizes)
        self._starts = ends - sizes
        if not ends[-1]:
            raise DataError(f"{name} has no rows in any of its {len(sizes)} partitions")
        every = np.column_stack([self._starts, ends])
        self._n_rows = int(ends[-1])
        self._spans = [every[list(mine)] for mine in numbers]
        self.columns = self._taken(numbers)

    def _taken(self, numbers: Sequence[tuple[int, ...]]) -> dict[str, Any]:
        """Return the columns that are no features."""
        import pandas as pd

        found = {}
        for name in self._looked[0].taken:
            pieces: dict[int, Any] = {}
            for mine, look in zip(numbers, self._looked):
                with_rows = [k for k, size in zip(mine, look.sizes) if size]
                pieces.update(zip(with_rows, look.taken[name]))
            found[name] = pd.concat([pieces[k] for k in sorted(pieces)], ignore_index=True)
        return found

    def _call(self, name: str, *arguments: Any) -> list[Any]:
        return self._workers.call("of", self._number, name, *arguments)

    def _call_each(self, name: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        given = [(self._number, name, *own) for own in arguments]
        return self._workers.call_each("of", given)

    # ------------------------------------------------------------------ rows of workers
    @property
    def shape(self) -> tuple[int, int]:
        return self._n_rows, max(look.n_columns for look in self._looked)

    def _cut(self, rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return for every worker its own numbers of some rows, and where these stand among them."""
        found = []
        for spans in self._spans:
            mine, places, begin = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0
            for start, end in spans.tolist():
                lo, hi = np.searchsorted(rows, [start, end])
                mine.append(rows[lo:hi] - start + begin)
                places.append(np.arange(lo, hi))
                begin += end - start
            found.append((np.concatenate(mine), np.concatenate(places)))
        return found

    def _rows(self) -> list[np.ndarray]:
        """Return the numbers of every worker's rows."""
        none = np.empty(0, np.int64)
        return [
            np.concatenate([none, *(np.arange(*span) for span in spans)]) for spans in self._spans
        ]

    # ------------------------------------------------------------------ columns
    def learn(self, settings: Mapping[str, Any]) -> Schema:
        parts = [part for part in self._call("learn", dict(settings)) if part is not None]
        return join_parts(parts).schema()

    def encoded(
        self, schema: Schema, *, unseen: str, absent: float | None, estimator_name: str
    ) -> ClusterTable:
        encoding = Encoding(schema, unseen, absent, estimator_name)
        if self._is_encoded:
            return self if self._twin is None else self._twin._encoded(encoding)
        return self._encoded(encoding)

    def _encoded(self, encoding: Encoding) -> ClusterTable:
        if not self._is_encoded:
            self._is_encoded = True
            found = self._workers.change("of", self._number, "encode", encoding)
            self._warn_of_unseen({k: one for each in found for k, one in each.items()})
        return self

    def _warn_of_unseen(self, found: Mapping[int, Unseen]) -> None:
        """Warn once of the categories that partitions hold and the schema does not."""
        together: Unseen = {}
        for k in sorted(found):
            for name, (values, rows, known) in found[k].items():
                before, others, _ = together.get(name, ([], np.empty(0, np.int64), known))
                new = [value for value in values if value not in before]
                together[name] = before + new, np.append(others, rows + self._starts[k]), known
        if together:
            warn_unseen(together)

    def add_twin(self, number: int) -> None:
        """Keep all rows in a second table: `encoded` returns it when it is called again."""
        self._workers.change("add_twin", self._number)
        self._twin = copy.copy(self)
        self._twin._number = number

    def keep(self, rows: np.ndarray) -> ClusterTable:
        each = [mine for mine, _ in self._cut(rows)]
        self._workers.change_each("of", [(self._number, "keep", mine) for mine in each])
        self._spans = [np.searchsorted(rows, spans) for spans in self._spans]
        self._n_rows = len(rows)
        return self

    # ------------------------------------------------------------------ encoded rows
    def take(self, rows: np.ndarray) -> Matrix:
        if not len(rows):
            return DenseMatrix(np.empty((0, self.n_columns)))
        cut = self._cut(rows)
        parts = self._call_each("take", [(mine,) for mine, _ in cut])
        found = join_matrices([part for part in parts if part is not None])
        return found.take(np.argsort(np.concatenate([places for _, places in cut])))

    def category_counts(self, schema: Schema) -> dict[int, CategoryCounts]:
        first, *others = self._call("counts", schema)
        for other in others:
            for f, (counts, has_missing) in other.items():
                first[f] = CategoryCounts(
                    first[f].counts + counts, first[f].has_missing | has_missing
                )
        return first

    def pairs_in_use(self, bins: Bins) -> PairsInUse:
        first, *others = self._call("pairs", bins)
        return sum(others, start=first)

    def answers(
        self, ensemble: Ensemble, n_jobs: int, start: np.ndarray | None = None
    ) -> np.ndarray:
        rows = self._rows()
        each = [(ensemble, None if start is None else start[mine]) for mine in rows]
        found = np.empty((self.n_rows, ensemble.n_outputs))
        for mine, part in zip(rows, self._call_each("answers", each)):
            found[mine] = part
        return found

    def digest(self, found: Any) -> None:
        sums = self._call_each("digest", [(mine,) for mine in self._rows()])
        found.update((sum(sums) % 2**64).to_bytes(8, "little"))

    def table(self, bins: Bins, schema: Schema, plan: Any) -> ShardedTable:
        arguments = [(self._number, bins, spans, plan.dart is not None) for spans in self._spans]
        missing = np.any(self._workers.change_each("code", arguments), axis=0)
        shards = Shards(self._workers.cluster, self._spans, self._workers.restore)
        self._workers.recover = shards.recover
        return ShardedTable(shards, replace(bins, has_missing=missing), schema, plan)
