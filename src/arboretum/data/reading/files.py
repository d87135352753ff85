"""Tables from files: CSV and similar formats (also gzipped), Parquet, or bytes from a pipe.

table.csv  table.tsv  table.txt  (.gz)   ──dialect──▶  text  ──csv_table──▶  columns
table.parquet                            ──pyarrow or polars──────────────▶  columns

A small compressed file can hold a table larger than any memory. Unpacking is limited to the memory
of the machine (`_check_size`): a Parquet file by the types and sizes in its footer, before anything is
unpacked, a gzipped one while it is unpacked.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from arboretum.data.checks import DataTypeError
from arboretum.data.frames import frame_columns
from arboretum.data.reading.csv_table import csv_columns
from arboretum.data.reading.dialect import CsvDialect, CsvText, open_csv
from arboretum.data.values import Raw, Words
from arboretum.errors import DataError

__all__ = ["FileTable", "read_bytes", "read_file"]

_TEXT = (".csv", ".tsv", ".tab", ".txt")
_PARQUET = b"PAR1"
_BLOCK = 1 << 24
_BATCH = 1024  # rows
_FEWER = "read some of its columns or rows with pyarrow and pass that table"


@dataclass(frozen=True, eq=False)
class FileTable:
    """The contents of a file: names (None if there are none), raw columns, rows; the text of a text file."""

    names: tuple[str, ...] | None
    columns: list[Raw]
    n_rows: int
    text: CsvText | None = None  # None: Parquet

    @property
    def notes(self) -> list[str]:
        """What had to be detected, in words."""
        return [] if self.text is None else self.text.notes


def read_file(path: str | Path, how: CsvDialect | None = None) -> FileTable:
    """Read a file; its suffix determines its kind.

    Parameters
    ----------
    path : str or Path
    how : CsvDialect, optional
        The format of a text file; what it leaves open is detected.
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"no such file: {str(path)!r}")
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a directory, not a CSV or Parquet file")
    name = path.name.lower()
    if name.endswith((".parquet", ".pq")):
        return _read_parquet(str(path), path)
    if not name.removesuffix(".gz").endswith(_TEXT):
        raise DataError(
            f"the kind of {str(path)!r} is unknown: arboretum reads .csv, .tsv, .txt (also .gz) and .parquet "
            "files; read anything else with pandas or polars and pass the dataframe"
        )
    return read_bytes(str(path), path.read_bytes(), how)


def read_bytes(name: str, data: bytes, how: CsvDialect | None = None) -> FileTable:
    """Read the contents of a file or a pipe; ``name`` is for messages."""
    if data.startswith(_PARQUET):
        return _read_parquet(name, BytesIO(data))
    if data.startswith(b"\x1f\x8b"):
        try:
            data = _unpacked(name, BytesIO(data))
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{name!r} cannot be unpacked: {_first_line(error)}") from error
    text = open_csv(name, data, how or CsvDialect())
    columns, n_rows = csv_columns(text)
    return FileTable(text.names, columns, n_rows, text)


def _unpacked(name: str, packed: IO[bytes]) -> bytes:
    """Return the contents of a gzipped file, unless they are larger than the memory."""
    parts, size = [], 0
    with gzip.GzipFile(fileobj=packed) as file:
        while part := file.read(_BLOCK):
            parts.append(part)
            size += len(part)
            _check_size(name, size, "split the file")
    return b"".join(parts)


def _check_size(name: str, size: int, remedy: str) -> None:
    """Refuse a table of more bytes than the machine has memory."""
    memory = _memory()
    if size > memory:
        raise DataError(
            f"{name!r} unpacks to at least {size / 1e9:,.1f} GB, more than the {memory / 1e9:,.1f} GB of "
            f"memory of this machine: {remedy}"
        )


def _memory() -> int:
    """Return the bytes of memory of the machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (
        AttributeError,
        ValueError,
        OSError,
    ):  # Windows: the most a 64-bit Python may have today
        return 1 << 40


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


# --------------------------------------------------------------------------- Parquet
def _read_parquet(name: str, source: Path | BytesIO) -> FileTable:
    readers = {"pyarrow": _parquet_pyarrow, "polars": _parquet_polars}
    read = next((each for library, each in readers.items() if find_spec(library)), None)
    if read is None:
        raise DataError(
            f"reading {name!r} needs pyarrow or polars: pip install pyarrow; CSV files need neither"
        )
    try:
        return read(name, source)
    except DataError:
        raise
    except Exception as error:  # each library has its own errors for a damaged file
        raise DataError(f"{name!r} cannot be read as Parquet: {_first_line(error)}") from error


def _parquet_pyarrow(name: str, source: Any) -> FileTable:
    """Read strings as a dictionary and codes: a long string in many rows takes its length once."""
    from pyarrow import parquet

    with parquet.ParquetFile(source) as file:
        strings = _string_columns(name, file.schema_arrow)
        delta = _encoded(file.metadata, "DELTA_BYTE_ARRAY") & strings
        size = _decoded_size(file.metadata, strings)
        _check_size(name, size, _FEWER)
        for batch in file.iter_batches(_BATCH, columns=sorted(delta)) if delta else ():
            size += (
                batch.nbytes
            )  # strings may repeat the one before: the footer has no size for them
            _check_size(name, size, _FEWER)
        delta |= _encoded(file.metadata, "DELTA_LENGTH_BYTE_ARRAY")
    # pyarrow makes no dictionaries of delta encodings
    table = parquet.read_table(source, read_dictionary=sorted(strings - delta))
    table = table.drop_columns([c for c in table.column_names if _is_index(c)])
    names, columns, n_rows = frame_columns(table)
    typed = [_strings(raw) if c in strings else raw for c, raw in zip(table.column_names, columns)]
    return FileTable(names, typed, n_rows)


def _string_columns(name: str, schema: Any) -> set[str]:
    """Return the names of the columns of strings; refuse columns of bytes, lists and structures unread."""
    from pyarrow import types

    for field in schema:
        kind = field.type
        if types.is_nested(kind) or "binary" in str(kind):
            raise DataTypeError(
                f"column {field.name!r} of {name!r} is of type {kind}; a table must be made of strings, "
                "numbers, dates or missing values: turn it into such columns or leave it out"
            )
    return {field.name for field in schema if "string" in str(field.type).partition("<")[0]}


def _encoded(footer: Any, encoding: str) -> set[str]:
    """Return the names of the columns that use an encoding."""
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(footer.num_columns)]
    return {chunk.path_in_schema for chunk in chunks if encoding in chunk.encodings}


def _decoded_size(footer: Any, strings: set[str]) -> int:
    """Return the bytes that a Parquet file takes in memory, according to its footer.

    A column takes the size of its unpacked pages. Run-length encodings take more: at least a code or a number
    for every row.
    """
    widths = []
    for place in range(footer.num_columns):
        column = footer.schema.column(place)
        widths.append(4 if column.path in strings else max(8, column.length))
    size = 0
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for place, width in enumerate(widths):
            chunk = group.column(place)
            size += max(chunk.total_uncompressed_size, width * chunk.num_values)
    return size


def _strings(raw: Raw) -> Raw:
    """Return a column of strings, read as a dictionary, with only the values that occur in it."""
    if not isinstance(raw, Words):
        return raw
    counts = np.bincount(raw.codes.astype(np.intp) + 1, minlength=len(raw.values) + 1)[1:]
    places = np.append(np.cumsum(counts > 0) - 1, -1)
    return Words(places[raw.codes], [v for v, n in zip(raw.values, counts) if n], "str")


def _parquet_polars(name: str, source: Any) -> FileTable:
    import polars as pl  # has no sizes to check; its strings of one dictionary share their bytes

    frame = pl.read_parquet(source)
    return FileTable(*frame_columns(frame.drop([c for c in frame.columns if _is_index(c)])))


def _is_index(name: str) -> bool:
    """Return True for the row labels that pandas stores along with the columns."""
    return re.fullmatch(r"__index_level_\d+__", name) is not None
