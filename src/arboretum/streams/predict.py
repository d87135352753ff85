"""Predictions for the rows of a source: piece by piece, into an array or into a file.

    model.predict("new/*.parquet", out="answers.parquet")      a column per number: prediction, or p_yes, p_no

A file is written under another name and renamed at the end: it is whole, or not there.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np

from arboretum.atomic_file import replacing
from arboretum.base.rounds import progress
from arboretum.data.table import Table
from arboretum.errors import DataError
from arboretum.streams.pieces import Source, located
from arboretum.streams.sources import open_source
from arboretum.streams.stream import Stream

__all__ = ["answer", "write_answers"]

_ROW_WISE = {"predict", "predict_proba", "predict_log_proba", "decision_function", "apply"}


def answer(
    model: Any, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return the result of a method for all rows, or with ``out`` the path of the file that has it."""
    if method.__name__ not in _ROW_WISE:
        raise DataError(
            f"{method.__name__} needs all rows in memory: read them, or a sample, and give it that table"
        )
    X, rest, out = args[0], args[1:], kwargs.pop("out", None)
    model._check_fitted()

    def predict(table: Table) -> np.ndarray:
        found = np.asarray(method(model, table, *rest, **kwargs))
        if found.ndim > 2:
            raise DataError(
                f"{method.__name__} returns several tables, which cannot be written: give it rows"
            )
        return found

    if out is not None:
        named = partial(_columns, model, method.__name__)
        write_answers(X, model, lambda table: named(predict(table)), out)
        return Path(out)
    parts = [found for _, found in _answers(X, model, predict)]
    if not parts:
        raise DataError("the source has no rows")
    return np.concatenate(parts)


def write_answers(
    given: Any,
    model: Any,
    columns: Callable[[Table], Mapping[str, Any]],
    out: str | os.PathLike[str],
) -> int:
    """Write some columns for the rows of a source, computed batch by batch; return how many rows."""
    write, n_rows = _writer(Path(out)), 0
    with replacing(out) as file, write(file) as writer:
        for rows, found in _answers(given, model, columns):
            writer.add(found)
            n_rows += rows
    return n_rows


def _answers(given: Any, model: Any, predict: Callable[[Table], Any]) -> Iterator[tuple[int, Any]]:
    """Yield the number of rows and the result of all pieces."""
    source = open_source(given.source if isinstance(given, Stream) else given)
    at, wanted = 0, source.n_rows or 0
    with progress(wanted, False, "predicting") as on_progress:
        for piece in source.pieces(_features(source, model)):
            with located(piece.where):
                yield piece.table.n_rows, predict(piece.table)
            at += piece.table.n_rows
            if on_progress is not None:
                on_progress(at)


def _features(source: Source, model: Any) -> Sequence[str] | None:
    """Return the columns of the model, if those of the source are known by name."""
    schema = model.schema_.given
    if not schema.named or source.names is None:
        return None
    return schema.names


def _columns(model: Any, method: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """Return the columns of an answer by name."""
    if values.ndim == 1:
        return {"prediction": values}
    classes = getattr(model, "classes_", None)
    if "proba" in method and isinstance(classes, np.ndarray):
        return {f"p_{label}": column for label, column in zip(classes.tolist(), values.T)}
    return {f"prediction_{k}": column for k, column in enumerate(values.T)}


# --------------------------------------------------------------------------- files
def _writer(path: Path) -> Callable[[IO[bytes]], _OpenFile]:
    if not path.parent.is_dir():
        raise DataError(
            f"cannot write {str(path)!r}: the folder {str(path.parent)!r} does not exist"
        )
    if path.suffix.lower() == ".csv":
        return _CsvRows
    if path.suffix.lower() not in (".parquet", ".pq"):
        raise DataError(f"out={os.fspath(path)!r}: predictions are written as .csv or .parquet")
    if find_spec("pyarrow") is None:
        raise DataError(
            f"out={os.fspath(path)!r}: Parquet needs pyarrow: pip install pyarrow, or use .csv"
        )
    return _ParquetRows


class _OpenFile:
    """A file that grows by the rows of a piece at a time."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._stack, self._begun = file, ExitStack(), False

    def __enter__(self) -> _OpenFile:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def add(self, columns: Mapping[str, Any]) -> None:
        raise NotImplementedError


class _CsvRows(_OpenFile):
    def add(self, columns: Mapping[str, Any]) -> None:
        text = io.StringIO(newline="")
        rows = csv.writer(text, lineterminator="\n")
        if not self._begun:
            rows.writerow(columns)
            self._begun = True
        rows.writerows(zip(*(_cells(column) for column in columns.values())))
        self._file.write(text.getvalue().encode())


class _ParquetRows(_OpenFile):
    def add(self, columns: Mapping[str, Any]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table({name: pa.array(_cells(column)) for name, column in columns.items()})
        if not self._begun:
            self._writer = self._stack.enter_context(
                parquet.ParquetWriter(self._file, table.schema)
            )
            self._begun = True
        self._writer.write_table(table)


def _cells(column: Any) -> Any:
    return column.tolist() if isinstance(column, np.ndarray) else column
