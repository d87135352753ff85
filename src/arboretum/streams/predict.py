"""Predictions for the rows of a source: piece by piece, into an array or into a file.

    model.predict("new/*.parquet", out="answers.parquet")      a column per number: prediction, or p_yes, p_no

A file is written under another name and renamed at the end: it is whole, or not there.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np

from arboretum.atomic_file import replacing
from arboretum.errors import DataError
from arboretum.streams.pieces import Source, located
from arboretum.streams.sources import open_source
from arboretum.streams.stream import Stream

__all__ = ["answer"]

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
    source = open_source(X.source if isinstance(X, Stream) else X)
    parts = _answers(source, model, lambda table: method(model, table, *rest, **kwargs))
    if out is None:
        found = list(parts)
        if not found:
            raise DataError(f"{source.name} has no rows")
        return np.concatenate(found)
    write = _writer(Path(out))
    with replacing(out) as file, write(file) as writer:
        for values in parts:
            writer.add(_columns(model, method.__name__, values))
    return Path(out)


def _answers(source: Source, model: Any, predict: Callable[[Any], Any]) -> Iterator[np.ndarray]:
    """Yield the results of all pieces."""
    columns = _features(source, model)
    for piece in source.pieces(columns):
        with located(piece.where):
            found = np.asarray(predict(piece.table))
        if found.ndim > 2:
            raise DataError(
                "this method returns several tables, which cannot be written: give it rows"
            )
        yield found


def _features(source: Source, model: Any) -> Sequence[str] | None:
    """Return the columns of the model, if those of the source are known by name."""
    schema = model.schema_
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

    def add(self, columns: dict[str, np.ndarray]) -> None:
        raise NotImplementedError


class _CsvRows(_OpenFile):
    def add(self, columns: dict[str, np.ndarray]) -> None:
        text = io.StringIO(newline="")
        rows = csv.writer(text, lineterminator="\n")
        if not self._begun:
            rows.writerow(columns)
            self._begun = True
        rows.writerows(zip(*(column.tolist() for column in columns.values())))
        self._file.write(text.getvalue().encode())


class _ParquetRows(_OpenFile):
    def add(self, columns: dict[str, np.ndarray]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table({name: pa.array(column.tolist()) for name, column in columns.items()})
        if not self._begun:
            self._writer = self._stack.enter_context(
                parquet.ParquetWriter(self._file, table.schema)
            )
            self._begun = True
        self._writer.write_table(table)
