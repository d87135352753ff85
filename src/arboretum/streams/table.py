"""A source as a table in parts: what a fit needs of it, one pass over the pieces each.

    roles     ──► y, weights, groups: arrays of all rows (only their columns are read, where files allow it)
    learn     ──► schema, and the rows that bins are found from
    table     ──► codes of one or two bytes, memory-mapped, and packed into words for counting

Every pass reads the same rows in the same order; nothing of a piece is kept but what the pass makes of it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.rounds import progress
from arboretum.boosting.second_order.fit import with_missing
from arboretum.boosting.second_order.tables import BinnedTable
from arboretum.data.coding import places_of
from arboretum.data.matrix import FrameMatrix, Matrix
from arboretum.data.parts import CategoryCounts, TablePart, join_parts, learn_part, take_rows
from arboretum.data.schema import Schema, encode
from arboretum.errors import DataError
from arboretum.grow.bins.bins import Bins
from arboretum.grow.bins.bundling import PairsInUse, bundle_codes, pairs_in_use
from arboretum.grow.bins.find import count_codes
from arboretum.grow.bins.in_parts import TableInParts
from arboretum.streams.codes import KeptCodes, StoredCodes, code_shapes, fingerprint
from arboretum.streams.pieces import RowBatch, Source, located
from arboretum.streams.scratch import Scratch

if TYPE_CHECKING:
    from arboretum.boosting.second_order.recipe import BoostPlan
    from arboretum.data.table import Table
    from arboretum.predict.ensemble import Ensemble

__all__ = ["StreamedTable"]

_BLOCK = 1 << 18  # rows of codes that are bundled at a time
_PARTS = 16  # what is learned of them is joined at once


class StreamedTable(TableInParts):
    """The columns ``names`` of a source of ``n_rows`` rows; None: all.

    ``keep`` is the folder where codes are kept.
    """

    def __init__(
        self, source: Source, names: Sequence[str] | None, n_rows: int, n_columns: int, scratch: Scratch,
        n_jobs: int, keep: Path | None = None,
    ) -> None:  # fmt: skip
        self._source, self._names, self._scratch, self._n_jobs = source, names, scratch, n_jobs
        self._n_all, self._n_columns, self._keep = n_rows, n_columns, keep
        self._rows: np.ndarray | None = None  # kept ones; None: all
        self._learned: tuple[TablePart, Schema] | None = None
        self._sample: list[tuple[Table, str]] = []  # the expected rows
        self._coding: tuple[Schema, float | None, dict[str, Any]] | None = None
        self._codes: StoredCodes | None = None
        self._values: Matrix | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self._n_all if self._rows is None else len(self._rows), self._n_columns

    # ------------------------------------------------------------------ passes
    def _pieces(self) -> Iterator[tuple[int, RowBatch]]:
        """Yield all pieces, with the numbers of their first rows."""
        at = 0
        with progress(self._n_all, False, "reading rows") as on_progress:
            for piece in self._source.pieces(self._names):
                yield at, piece
                at += piece.table.n_rows
                if on_progress is not None:
                    on_progress(min(at, self._n_all))
        if at != self._n_all:
            raise DataError(
                f"{self._source.name} had {self._n_all} rows when it was first read, and {at} now: a fit "
                "reads it several times, so it must stay as it is (Stream(source, spool=True) reads it once)"
            )

    def _kept(self) -> Iterator[tuple[int, Table, str]]:
        """Yield the kept rows, with the position of the first of them among all that are kept."""
        for at, piece in self._pieces():
            table = piece.table
            if self._rows is not None:
                lo, hi = np.searchsorted(self._rows, [at, at + table.n_rows]).tolist()
                table = take_rows(table, self._rows[lo:hi] - at)
                at = lo
            if table.n_rows:
                yield at, table, piece.where

    def _matrices(self) -> Iterator[tuple[int, Matrix]]:
        for at, table, where in self._kept():
            yield at, self._encode(table, where)

    def _encode(self, table: Table, where: str) -> Matrix:
        assert self._coding is not None
        schema, absent, settings = self._coding
        with located(where):
            return with_missing(encode(schema, table, **settings), schema, absent)

    # ------------------------------------------------------------------ columns
    def learn(self, settings: Mapping[str, Any]) -> Schema:
        parts: list[tuple[TablePart, str]] = []
        for at, piece in self._pieces():
            with located(piece.where):
                parts.append((learn_part(piece.table, settings), piece.where))
            if len(parts) == _PARTS:
                parts = [(_join(parts), piece.where)]
            self._sample += _some(piece.table, at, piece.where, self.expected)
        part = _join(parts)
        self._learned = part, part.schema()
        return self._learned[1]

    def encoded(
        self, schema: Schema, *, unseen: str, absent: float | None, estimator_name: str
    ) -> StreamedTable:
        twin = copy.copy(self)
        places = {
            f: places_of(column.categories)
            for f, column in enumerate(schema.columns)
            if column.categories is not None
        }
        settings = {"unseen": unseen, "estimator_name": estimator_name, "places": places}
        twin._coding = schema, absent, settings
        return twin

    def keep(self, rows: np.ndarray) -> StreamedTable:
        twin = copy.copy(self)
        twin._rows = rows
        return twin

    # ------------------------------------------------------------------ rows
    def take(self, rows: np.ndarray) -> Matrix:
        if self._rows is None and self.expected is not None and np.array_equal(rows, self.expected):
            sample = self._sample
        else:
            kept = self._kept() if len(rows) else ()
            sample = [part for at, table, where in kept for part in _some(table, at, where, rows)]
        found = [self._encode(table, where) for table, where in sample]
        columns = [[one.column(f) for one in found] for f in range(self._n_columns)]
        return FrameMatrix([np.concatenate([np.empty(0), *parts]) for parts in columns])

    def category_counts(self, schema: Schema) -> dict[int, CategoryCounts]:
        if self._rows is None and self._learned is not None and self._learned[1] is schema:
            return self._learned[0].category_counts(schema)
        features = [f for f, column in enumerate(schema.columns) if column.kind == "categorical"]
        found = {f: CategoryCounts(np.zeros(0, np.int64), False) for f in features}
        for _, matrix in self._matrices() if features else ():
            for f in features:
                counts, lost = count_codes(matrix.column(f), found[f].counts)
                found[f] = CategoryCounts(counts, found[f].has_missing or lost)
        return found

    def values(self) -> Matrix:
        """Return all rows as a matrix of memory-mapped columns, which are made once."""
        if self._values is None:
            assert self._coding is not None
            n, columns = self.n_rows, self._coding[0].columns
            types = [np.float32 if c.dtype == "float32" else np.float64 for c in columns]
            maps = [self._scratch.empty((n,), dtype) for dtype in types]
            for at, matrix in self._matrices():
                for f, values in enumerate(maps):
                    values[at : at + matrix.n_rows] = matrix.column(f)
            self._values = FrameMatrix(maps)
        return self._values

    def answers(
        self, ensemble: Ensemble, n_jobs: int, start: np.ndarray | None = None
    ) -> np.ndarray:
        return ensemble.answers(self.values(), n_jobs, start)

    def digest(self, found: Any) -> None:
        for _, matrix in self._matrices():
            found.update(np.ascontiguousarray(matrix.rows(0, matrix.n_rows) + 0.0).data)

    # ------------------------------------------------------------------ codes
    def pairs_in_use(self, bins: Bins) -> PairsInUse:
        """Code the table; the codes are used by `table`."""
        self._codes = self._coded(bins)
        return self._codes.pairs

    def table(self, bins: Bins, schema: Schema, plan: BoostPlan) -> BinnedTable:
        codes, self._codes = self._codes or self._coded(bins), None
        coded = codes.bins
        if bins.n_storage < bins.n_features:
            coded = self._bundled(bins, coded)
        return BinnedTable(coded, schema, plan, empty=self._scratch.empty)

    def _coded(self, bins: Bins) -> StoredCodes:
        """Return the codes of all rows: kept ones, or new ones."""
        assert self._coding is not None
        if self._keep is None:
            return self._new_codes(bins)
        schema, absent, _ = self._coding
        made_from = (self._source.print_of_files(), self._n_all, absent, schema.to_state())
        kept = KeptCodes(self._keep, fingerprint(made_from, self._rows, bins))
        codes = kept.read(bins, self.n_rows)
        if codes is None:
            codes = self._new_codes(bins)
            kept.write(codes)
        return codes

    def _new_codes(self, bins: Bins) -> StoredCodes:
        shapes = code_shapes(bins, self.n_rows).values()
        narrow, wide = (self._scratch.empty(*shape) for shape in shapes)
        pairs: PairsInUse | None = None
        for at, matrix in self._matrices():
            part = bins.of_table(matrix, self._n_jobs)
            narrow[:, at : at + part.n_rows] = part.codes
            wide[:, at : at + part.n_rows] = part.wide
            pairs = pairs_in_use(part, pairs)
        assert pairs is not None
        return StoredCodes(
            replace(bins, codes=narrow, wide=wide, has_missing=pairs.has_missing), pairs
        )

    def _bundled(self, bins: Bins, alone: Bins) -> Bins:
        n = alone.n_rows
        codes = self._scratch.empty((bins.n_storage - len(alone.wide), n), np.uint8)
        for start in range(0, n, _BLOCK):
            end = min(start + _BLOCK, n)
            codes[:, start:end] = bundle_codes(bins, alone, start, end)
        return replace(bins, codes=codes, wide=alone.wide, has_missing=alone.has_missing)


def _join(parts: Sequence[tuple[TablePart, str]]) -> TablePart:
    """Return parts as one; an error names the first that does not fit those before it."""
    try:
        return join_parts([part for part, _ in parts])
    except DataError:
        whole = parts[0][0]
        for part, where in parts[1:]:
            with located(where):
                whole = join_parts([whole, part])
        raise


def _some(table: Table, at: int, where: str, rows: np.ndarray | None) -> list[tuple[Table, str]]:
    """Return a copy of some of the rows of a table whose first row has number ``at``, if it has any."""
    lo, hi = (0, 0) if rows is None else np.searchsorted(rows, [at, at + table.n_rows]).tolist()
    return [(take_rows(table, rows[lo:hi] - at), where)] if rows is not None and lo < hi else []
