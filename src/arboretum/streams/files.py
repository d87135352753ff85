"""Files as sources: Parquet row group by row group, Arrow batch by batch, CSV some megabytes at a time.

    sales/*.parquet ──► a.parquet, b.parquet, … in the order of their names ──► pieces

All files must have the columns of the first. Strings of Parquet files are read as dictionaries: a long string
in many rows takes its length once, as it does in the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from arboretum.data.checks import did_you_mean, list_names
from arboretum.data.reading.limits import first_line, memory_size
from arboretum.data.reading.parquet import as_strings, encoded_columns, is_index, string_columns
from arboretum.data.table import Table
from arboretum.errors import DataError
from arboretum.streams.csv import CsvFile
from arboretum.streams.pieces import MOST_ROWS, RowBatch, Source, select_columns, table_of_arrow

__all__ = ["Files", "find_files"]

_PARQUET, _ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
_CSV = (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz", ".tab.gz", ".txt.gz")
_SHARE = 4  # a batch may take this part of the memory of the machine
_FEW = 1024  # rows of a batch whose strings the footer has no size for
_CELLS = 1 << 23  # of a batch, about: wide tables are read in fewer rows


def find_files(given: Any) -> list[Path]:
    """Return the files that paths, patterns and folders stand for, those of a pattern by name.

    Raises
    ------
    DataError
        There are none, or one is of an unknown kind.
    """
    found: list[Path] = []
    for one in given if isinstance(given, list | tuple) else [given]:
        path = Path(one)
        if path.is_dir():
            some = sorted(p for p in path.rglob("*") if p.is_file() and p.name[0] not in "._")
        elif has_magic(os.fspath(one)) and not path.exists():
            some = sorted(map(Path, glob(os.fspath(one), recursive=True)))
        else:
            some = [path]
        missing = [p for p in some if not p.exists()]
        if missing or not some:
            raise DataError(f"no such file: {str(missing[0] if missing else path)!r}")
        found += some
    for path in found:
        if not path.name.lower().endswith((*_PARQUET, *_ARROW, *_CSV)):
            raise DataError(
                f"the kind of {str(path)!r} is unknown: files of .parquet, .arrow, .feather, .csv, .tsv and "
                ".txt (also .gz) can be streamed; a function that returns batches reads anything else"
            )
    return found


class Files(Source):
    """Files with the same columns, one after another."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files = [_open(path) for path in paths]
        self.name = repr(str(paths[0])) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
        self.names = self._files[0].names
        counts = [file.n_rows for file in self._files]
        self.n_rows = None if None in counts else sum(counts)
        first = self._files[0]
        for other in self._files[1:]:
            _check_names(first, other)

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[RowBatch]:
        wanted = self.names if columns is None else columns
        for file in self._files:
            yield from file.pieces(wanted)

    def print_of_files(self) -> str:
        each = [(file.path.resolve(), file.path.stat()) for file in self._files]
        return repr([(str(path), stat.st_size, stat.st_mtime_ns) for path, stat in each])


def _check_names(first: Any, other: Any) -> None:
    if set(first.names) == set(other.names):
        return
    lacking = [name for name in first.names if name not in other.names]
    extra = [name for name in other.names if name not in first.names]
    what = [f"lacks {list_names(lacking)}{did_you_mean(lacking[0], extra)}"] if lacking else []
    what += [f"has {list_names(extra)} besides"] if extra else []
    raise DataError(
        f"{str(other.path)!r} {' and '.join(what)}: all files must have the columns of the first, "
        f"{str(first.path)!r}"
    )


def _open(path: Path) -> Any:
    name = path.name.lower()
    if name.endswith(_CSV):
        return CsvFile(path)
    if find_spec("pyarrow") is None:
        raise DataError(f"streaming {str(path)!r} needs pyarrow: pip install pyarrow")
    return ArrowFile(path) if name.endswith(_ARROW) else ParquetFile(path)


# --------------------------------------------------------------------------- Parquet
class ParquetFile:
    """A Parquet file, whose footer is read at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _readable(path, "Parquet"), self._opened() as file:
            self._footer, schema = file.metadata, file.schema_arrow
            self._strings = string_columns(str(path), schema)
            self._delta = encoded_columns(self._footer, "DELTA_BYTE_ARRAY") & self._strings
            self._lengths = encoded_columns(self._footer, "DELTA_LENGTH_BYTE_ARRAY")
        self.names = tuple(name for name in schema.names if not is_index(name))
        self.n_rows = self._footer.num_rows

    def _opened(self, strings: Sequence[str] = ()) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(self.path, read_dictionary=list(strings))

    def pieces(self, columns: Sequence[str]) -> Iterator[RowBatch]:
        """Yield the rows of every row group."""
        some = self._strings & set(columns)
        words = sorted(
            some - self._delta - self._lengths
        )  # pyarrow makes no dictionaries of delta encodings
        unsized = (self._delta | self._lengths) & some
        height = _FEW if unsized else min(MOST_ROWS, max(_CELLS // max(len(columns), 1), _FEW))
        with self._opened(words) as file:
            for group in range(file.num_row_groups):
                where = f"{str(self.path)!r}, row group {group}"
                with _readable(self.path, "Parquet", f", row group {group}"):
                    batches = file.iter_batches(height, row_groups=[group], columns=list(columns))
                    for batch in batches:
                        if batch.num_rows:
                            _check_batch(batch, where)
                            yield RowBatch(self._table(batch, columns, where), where)

    def _table(self, batch: Any, columns: Sequence[str], where: str) -> Table:
        table = table_of_arrow(batch)
        if isinstance(table.body, list):
            pairs = zip(table.names, table.body)
            body = [as_strings(raw) if name in self._strings else raw for name, raw in pairs]
            table = Table(table.names, table.named, table.n_rows, body)
        return select_columns(table, columns, where)


def _check_batch(batch: Any, where: str) -> None:
    """Refuse a batch whose strings are longer than the memory allows."""
    size, limit = batch.nbytes, memory_size() // _SHARE
    if size > limit:
        raise DataError(
            f"{where} holds {size / 1e9:,.1f} GB in {batch.num_rows} rows, and a batch may take "
            f"{limit / 1e9:,.1f} GB, a {_SHARE}th of the memory of this machine: shorten its strings, or "
            "leave the column out"
        )


class _readable:
    """Turns pyarrow's errors for damaged files into errors that name the file."""

    def __init__(self, path: Path, kind: str, place: str = "") -> None:
        self.path, self.kind, self.place = path, kind, place

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        from pyarrow import ArrowException

        if isinstance(error, ArrowException | OSError):
            raise DataError(
                f"{str(self.path)!r}{self.place} cannot be read as {self.kind}: {first_line(error)}"
            ) from error


# --------------------------------------------------------------------------- Arrow
class ArrowFile:
    """A file of Arrow's IPC format, as a file or as a stream."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _readable(path, "Arrow"), self._opened() as reader:
            self.names = tuple(name for name in reader.schema.names if not is_index(name))
        self.n_rows = None

    def _opened(self) -> Any:
        import pyarrow as pa

        source = pa.memory_map(str(self.path))
        try:
            return pa.ipc.open_file(source)
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source)

    def pieces(self, columns: Sequence[str]) -> Iterator[RowBatch]:
        """Yield the rows of every batch."""
        with _readable(self.path, "Arrow"), self._opened() as reader:
            if hasattr(reader, "num_record_batches"):
                batches: Any = map(reader.get_batch, range(reader.num_record_batches))
            else:
                batches = reader
            for number, batch in enumerate(batches):
                where = f"{str(self.path)!r}, batch {number}"
                for start in range(0, batch.num_rows, MOST_ROWS):
                    table = table_of_arrow(batch.slice(start, MOST_ROWS).select(list(columns)))
                    yield RowBatch(select_columns(table, columns, where), where)
