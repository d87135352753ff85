"""Some partitions of the tables of a fit on a worker: read, learned from, coded, and let go.

    learn           types, categories and missing values of the columns
    encode, keep    rows as numbers; those of weight 0 left out
    take, counts    what bins are found from
    code            codes of bins; mostly the numbers are let go then

A worker numbers the rows of a table from 0, in the order of its partitions.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.boosting.second_order.fit import with_missing
from arboretum.data.column_warnings import Unseen, gather_unseen
from arboretum.data.matrix import DenseMatrix, FrameMatrix, Matrix
from arboretum.data.parts import CategoryCounts, TablePart, join_parts, learn_part
from arboretum.data.schema import encode
from arboretum.data.table import Table, read_table
from arboretum.engine.keys import key_of
from arboretum.engine.parallel import effective_jobs
from arboretum.errors import DataError
from arboretum.grow.bins.bundling import PairsInUse, bundle_codes, pairs_in_use
from arboretum.grow.bins.find import count_codes
from arboretum.grow.sharded.shard import Shard

if TYPE_CHECKING:
    from arboretum.data.schema import Schema
    from arboretum.grow.bins.bins import Bins
    from arboretum.predict.ensemble import Ensemble

__all__ = ["Encoding", "Look", "Partitions", "TableShare", "TablesOnWorker", "join_matrices"]


class Encoding(NamedTuple):
    """How raw rows become numbers: the arguments of `TableInParts.encoded`."""

    schema: Schema
    unseen: str
    absent: float | None
    estimator_name: str

    def matrix(self, table: Table) -> Matrix:
        """Return a table as numbers."""
        found = encode(self.schema, table, unseen=self.unseen, estimator_name=self.estimator_name)
        return with_missing(found, self.schema, self.absent)


class TableShare(NamedTuple):
    """The numbers of some partitions of a table, and the columns in them that are no features."""

    numbers: tuple[int, ...]
    taken: tuple[str, ...]


class Look(NamedTuple):
    """The rows of every partition; the number of features; columns that are no features, by partition."""

    sizes: list[int]
    n_columns: int
    taken: dict[str, list[Any]]


class Partitions:
    """Partitions of one table.

    Parameters
    ----------
    share : TableShare
    pieces : list of frames or arrays
    """

    def __init__(self, share: TableShare, pieces: Sequence[Any]) -> None:
        self.numbers = share.numbers
        self._sizes = [len(piece) for piece in pieces]
        self._taken: dict[str, list[Any]] = {name: [] for name in share.taken}
        self._tables: dict[int, Table] = {}  # of the partitions that have rows
        self._matrices: dict[int, Matrix] = {}
        self._alone: Bins | None = None
        for k, piece in zip(self.numbers, pieces):
            if len(piece):
                with _at(k):
                    self._tables[k] = read_table(self._features(piece))

    def _features(self, piece: Any) -> Any:
        """Return a piece without the columns that are no features."""
        if hasattr(piece, "to_pandas"):  # a block of Ray's, read as `Dataset.to_pandas` does
            piece = piece.to_pandas()
        if not self._taken:
            return piece
        for name, found in self._taken.items():
            if name not in getattr(piece, "columns", ()):
                raise DataError(
                    f"X has no column {name!r}: give y, weights and groups as columns of X or as "
                    "collections of their own"
                )
            found.append(piece[name])
        return piece.drop(columns=list(self._taken))

    # ------------------------------------------------------------------ raw rows
    def look(self) -> Look:
        """Return the number of rows, and the columns that are no features."""
        taken, self._taken = self._taken, {}
        widths = [len(table.names) for table in self._tables.values()]
        return Look(self._sizes, max(widths, default=0), taken)

    def learn(self, settings: dict[str, Any]) -> TablePart | None:
        """Return what is known of the columns; None without rows."""
        parts = []
        for k, table in self._tables.items():
            with _at(k):
                parts.append(learn_part(table, settings))
        return join_parts(parts) if parts else None

    def encode(self, encoding: Encoding) -> dict[int, Unseen]:
        """Turn all rows into numbers; return the categories without a number, by partition."""
        unseen: dict[int, Unseen] = {}
        for k in list(self._tables):
            found: Unseen = {}
            with _at(k), gather_unseen(found):
                self._matrices[k] = encoding.matrix(self._tables.pop(k))
            if found:
                unseen[k] = found
        return unseen

    def twin(self) -> Partitions:
        """Return the same raw rows; nothing is copied."""
        found = copy.copy(self)
        found._tables, found._matrices = dict(self._tables), {}
        return found

    # ------------------------------------------------------------------ encoded rows
    def _spans(self) -> Iterator[tuple[int, int, int]]:
        """Yield the partitions with the numbers of their rows."""
        begin = 0
        for k, matrix in self._matrices.items():
            yield k, begin, begin + matrix.n_rows
            begin += matrix.n_rows

    def keep(self, rows: np.ndarray) -> None:
        """Leave out all rows but these."""
        for k, begin, end in list(self._spans()):
            lo, hi = np.searchsorted(rows, [begin, end])
            if hi - lo < end - begin:
                self._matrices[k] = self._matrices[k].take(rows[lo:hi] - begin)

    def take(self, rows: np.ndarray) -> Matrix | None:
        """Return some rows; None for none."""
        found = []
        for k, begin, end in self._spans():
            lo, hi = np.searchsorted(rows, [begin, end])
            if hi > lo:
                found.append(self._matrices[k].take(rows[lo:hi] - begin))
        return join_matrices(found) if found else None

    def counts(self, schema: Schema) -> dict[int, CategoryCounts]:
        """Return how often the categories of every column occur."""
        found = {}
        for f, column in enumerate(schema.columns):
            if column.kind != "categorical":
                continue
            often, lost = np.zeros(len(column.categories or ()), np.int64), False
            for matrix in self._matrices.values():
                often, some = count_codes(matrix.column(f), often)
                lost |= some
            found[f] = CategoryCounts(often, lost)
        return found

    def pairs(self, bins: Bins) -> PairsInUse:
        """Return which columns are used together; the codes are kept for `code`."""
        self._alone = self._coded(bins)
        return pairs_in_use(self._alone)

    def code(self, bins: Bins, *, keep_numbers: bool) -> Bins:
        """Return the bins with the codes of all rows."""
        alone, self._alone = self._alone, None
        if alone is None:
            found = self._coded(bins)
        elif bins.n_storage == alone.n_storage:
            found = alone
        else:
            codes = bundle_codes(bins, alone, 0, alone.n_rows)
            found = replace(bins, codes=codes, wide=alone.wide, has_missing=alone.has_missing)
        if not keep_numbers:
            self._matrices = {}
        return found

    def _coded(self, bins: Bins) -> Bins:
        n_rows = sum(matrix.n_rows for matrix in self._matrices.values())
        n_wide = int(np.count_nonzero(bins.is_wide))
        codes = np.empty((bins.n_storage - n_wide, n_rows), np.uint8)
        wide = np.empty((n_wide, n_rows), np.uint16)
        has_missing = np.zeros(bins.n_features, bool)
        for k, begin, end in self._spans():
            some = bins.of_table(self._matrices[k], effective_jobs(None))
            codes[:, begin:end], wide[:, begin:end] = some.codes, some.wide
            has_missing |= some.has_missing
        return replace(bins, codes=codes, wide=wide, has_missing=has_missing)

    def answers(self, ensemble: Ensemble, start: np.ndarray | None) -> np.ndarray:
        """Return an ensemble's answers to all rows."""
        found = [np.empty((0, ensemble.n_outputs))]
        for k, begin, end in self._spans():
            own = None if start is None else start[begin:end]
            found.append(ensemble.answers(self._matrices[k], effective_jobs(None), own))
        return np.concatenate(found)

    def digest(self, numbers: np.ndarray) -> int:
        """Return a sum over the rows, each with its number in the whole table, modulo 2^64."""
        total = np.zeros((), np.uint64)
        for k, begin, end in self._spans():
            mixed = numbers[begin:end].astype(np.uint64)
            for f in range(self._matrices[k].n_columns):
                bits = (self._matrices[k].column(f) + 0.0).view(np.uint64)
                mixed = (mixed ^ bits ^ (mixed >> np.uint64(29))) * _ODD
                mixed ^= mixed >> np.uint64(32)
            total += mixed.sum(dtype=np.uint64)
        return int(total)


_ODD = np.uint64(key_of(0, 0x0DD) | 1)


@contextmanager
def _at(number: int) -> Iterator[None]:
    """Let errors name a partition."""
    try:
        yield
    except DataError as error:
        raise DataError(f"partition {number}: {error}") from error
    except Exception as error:
        error.add_note(f"in partition {number}")
        raise


def join_matrices(parts: Sequence[Matrix]) -> Matrix:
    """Return matrices of consecutive rows as one."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, DenseMatrix) for part in parts):
        return DenseMatrix(np.concatenate([part.values for part in parts]))  # type: ignore[attr-defined]
    columns = zip(*(part.columns for part in parts))  # type: ignore[attr-defined]
    return FrameMatrix([np.concatenate(each) for each in columns])


class TablesOnWorker(Shard):
    """Some partitions of every table of a fit; the codes of the training table are a shard of it.

    Parameters
    ----------
    shares : list of TableShare
        Of every table.
    *pieces : frames or arrays
        The partitions of all tables, one after another.
    """

    def __init__(self, shares: Sequence[TableShare], *pieces: Any) -> None:
        self._tables, begin = [], 0
        for share in shares:
            end = begin + len(share.numbers)
            self._tables.append(Partitions(share, pieces[begin:end]))
            begin = end

    def of(self, table: int, name: str, *arguments: Any) -> Any:
        """Call a method of the partitions of a table."""
        method: Callable[..., Any] = getattr(self._tables[table], name)
        return method(*arguments)

    def add_twin(self, table: int) -> None:
        """Add a table of the same rows."""
        self._tables.append(self._tables[table].twin())

    def code(self, table: int, bins: Bins, spans: np.ndarray, keep_numbers: bool) -> np.ndarray:
        """Hold the codes of the rows as a shard; return which features have missing values."""
        coded = self._tables[table].code(bins, keep_numbers=keep_numbers)
        self.hold(coded, spans, effective_jobs(None))
        return coded.has_missing
