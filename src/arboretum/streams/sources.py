"""Objects as sources: Arrow streams, datasets, lazy frames, functions, and the peers' iterators.

open_source(given) ──► Source ──► pieces, as often as they are needed
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from arboretum.data.reading.limits import first_line
from arboretum.data.table import Table
from arboretum.errors import DataError
from arboretum.streams.files import Files, find_files
from arboretum.streams.pieces import (
    MOST_ROWS,
    RowBatch,
    Source,
    select_columns,
    table_of,
    table_of_arrow,
)

__all__ = ["is_source", "open_source"]


def open_source(given: Any) -> Source:
    """Return the source for anything that `Stream` takes.

    Examples
    --------
    >>> source = open_source(lambda: iter([[[1.0], [2.0]], [[3.0]]]))
    >>> [(piece.table.n_rows, piece.where) for piece in source.pieces()]
    [(2, 'batch 0 of the function'), (1, 'batch 1 of the function')]
    """
    if isinstance(given, str | os.PathLike | list | tuple):
        return Files(find_files(given))
    for fits, make in _KINDS:
        if fits(given):
            with _readable(f"the {type(given).__name__}"):
                return make(given)
    raise DataError(
        f"{type(given).__name__} is no source of rows: give paths, a pyarrow dataset, anything with "
        "__arrow_c_stream__, a polars LazyFrame, a function that returns batches, XGBoost's DataIter or "
        "LightGBM's Sequence"
    )


def is_source(given: Any) -> bool:
    """Return True for objects that can only be read as streams."""
    return any(fits(given) for fits, _ in _KINDS[1:])


# --------------------------------------------------------------------------- Arrow
class _ArrowStream(Source):
    """Anything with ``__arrow_c_stream__``."""

    def __init__(self, given: Any) -> None:
        self.name, self._given = f"the {type(given).__name__}", given
        self.is_once = type(given).__name__ == "RecordBatchReader"

    def _batches(self, columns: Sequence[str] | None) -> Iterator[Any]:
        import pyarrow as pa

        yield from pa.RecordBatchReader.from_stream(self._given)

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[RowBatch]:
        batches = enumerate(self._batches(columns))
        while True:
            with _readable(self.name):
                number, batch = next(batches, (0, None))
            if batch is None:
                return
            where = f"batch {number} of {self.name}"
            for start in range(0, batch.num_rows, MOST_ROWS):
                table = table_of_arrow(batch.slice(start, MOST_ROWS))
                yield RowBatch(select_columns(table, columns, where), where)


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn errors of other libraries into errors that name the source."""
    try:
        yield
    except (DataError, GeneratorExit):
        raise
    except Exception as error:  # each library has its own
        raise DataError(f"{name} cannot be read: {first_line(error)}") from error


class _Dataset(_ArrowStream):
    """A pyarrow dataset."""

    def __init__(self, given: Any) -> None:
        super().__init__(given)
        self.names = tuple(given.schema.names)

    def _batches(self, columns: Sequence[str] | None) -> Iterator[Any]:
        wanted = None if columns is None else list(columns)
        yield from self._given.to_batches(columns=wanted, batch_size=MOST_ROWS)


class _LazyFrame(_ArrowStream):
    """A polars LazyFrame, which is computed anew for every pass."""

    def __init__(self, given: Any) -> None:
        super().__init__(given)
        self.names = tuple(given.collect_schema().names())
        if not hasattr(given, "collect_batches"):
            raise DataError(
                "this version of polars does not yield the batches of a LazyFrame: install polars 1.34 or "
                "later, or give the paths of its files"
            )

    def _batches(self, columns: Sequence[str] | None) -> Iterator[Any]:
        frame = self._given if columns is None else self._given.select(list(columns))
        for part in frame.collect_batches(maintain_order=True, chunk_size=MOST_ROWS):
            yield from part.to_arrow().combine_chunks().to_batches()


class _Relation(_ArrowStream):
    """A duckdb relation, whose query runs anew for every pass."""

    def __init__(self, given: Any) -> None:
        super().__init__(given)
        self.names = tuple(given.columns)

    def _batches(self, columns: Sequence[str] | None) -> Iterator[Any]:
        some = self._given
        if columns is not None:
            some = some.project(", ".join('"' + name.replace('"', '""') + '"' for name in columns))
        newer = hasattr(some, "to_arrow_reader")  # the name since duckdb 1.4
        yield from (some.to_arrow_reader if newer else some.fetch_arrow_reader)(MOST_ROWS)


# --------------------------------------------------------------------------- Python
class _Batches(Source):
    """A function that returns a new iterator of batches, or an iterator, which can be read only once."""

    def __init__(self, given: Any) -> None:
        self._given, self.is_once = given, not callable(given)
        self.name = f"the {type(given).__name__}"

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[RowBatch]:
        batches = self._given if self.is_once else self._given()
        for number, batch in enumerate(batches):
            where = f"batch {number} of {self.name}"
            if not hasattr(batch, "__len__") or len(batch):
                table = table_of(batch, where)
                yield RowBatch(select_columns(table, columns, where), where)


class _LightGBMSequence(Source):
    """LightGBM's Sequence: rows by number, as arrays."""

    def __init__(self, given: Any) -> None:
        self._given, self.name, self.n_rows = given, f"the {type(given).__name__}", len(given)

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[RowBatch]:
        step = min(int(self._given.batch_size or MOST_ROWS), MOST_ROWS)
        for start in range(0, len(self._given), step):
            where = f"rows {start} and on of {self.name}"
            rows = np.atleast_2d(self._given[start : min(start + step, len(self._given))])
            yield RowBatch(select_columns(table_of(rows, where), columns, where), where)


class _XGBoostIterator(Source):
    """XGBoost's DataIter, which calls back with a batch and its labels."""

    has_beside = True
    _ROLES: ClassVar = {
        "label": "y", "weight": "sample_weight", "base_margin": "base_margin", "qid": "qid",
    }  # fmt: skip

    def __init__(self, given: Any) -> None:
        self._given, self.name = given, f"the {type(given).__name__}"

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[RowBatch]:
        self._given.reset()
        number = 0
        taken: list[RowBatch] = []

        def take(data: Any, **beside: Any) -> None:
            where = f"batch {number} of {self.name}"
            table = table_of(data, where)
            if names := beside.get("feature_names"):
                table = Table(tuple(names), True, table.n_rows, table.body)
            given = {
                role: beside[k] for k, role in self._ROLES.items() if beside.get(k) is not None
            }
            taken.append(RowBatch(select_columns(table, columns, where), where, given))

        while self._given.next(take):
            yield from (piece for piece in taken if piece.table.n_rows)
            taken.clear()
            number += 1


def _is_peer(given: Any, module: str, name: str) -> bool:
    """Return True for objects of a class of another library, which need not be imported."""
    return any(
        one.__name__ == name and one.__module__.partition(".")[0] == module
        for one in type(given).__mro__
    )


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Source]], ...] = (
    (lambda x: _is_peer(x, "polars", "LazyFrame"), _LazyFrame),
    (lambda x: _is_peer(x, "pyarrow", "Dataset"), _Dataset),
    (lambda x: hasattr(type(x), "fetch_arrow_reader"), _Relation),
    (lambda x: hasattr(type(x), "__arrow_c_stream__"), _ArrowStream),
    (lambda x: _is_peer(x, "xgboost", "DataIter"), _XGBoostIterator),
    (lambda x: _is_peer(x, "lightgbm", "Sequence"), _LightGBMSequence),
    (lambda x: callable(x) or hasattr(type(x), "__next__"), _Batches),
)
