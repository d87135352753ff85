"""Tables from files: CSV and similar formats (also gzipped), Parquet, or bytes from a pipe.

table.csv  table.tsv  table.txt  (.gz)   ──dialect──▶  text  ──csv_table──▶  columns
table.parquet                            ──pyarrow or polars──────────────▶  columns

A small compressed file can hold a table larger than any memory. Unpacking is limited to the memory
of the machine (`limits.py`): a Parquet file by the types and sizes in its footer, before anything is
unpacked, a gzipped one while it is unpacked.
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

from arboretum.data.reading.csv_table import csv_columns
from arboretum.data.reading.dialect import CsvDialect, CsvText, open_csv
from arboretum.data.reading.limits import check_size_of, first_line
from arboretum.data.reading.parquet import read_parquet
from arboretum.data.values import Raw
from arboretum.errors import DataError

__all__ = ["FileTable", "read_bytes", "read_file"]

_TEXT = (".csv", ".tsv", ".tab", ".txt")
_PARQUET = b"PAR1"
_BLOCK = 1 << 24


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
        return FileTable(*read_parquet(str(path), path))
    if not name.removesuffix(".gz").endswith(_TEXT):
        raise DataError(
            f"the kind of {str(path)!r} is unknown: arboretum reads .csv, .tsv, .txt (also .gz) and .parquet "
            "files; read anything else with pandas or polars and pass the dataframe"
        )
    return read_bytes(str(path), path.read_bytes(), how)


def read_bytes(name: str, data: bytes, how: CsvDialect | None = None) -> FileTable:
    """Read the contents of a file or a pipe; ``name`` is for messages."""
    if data.startswith(_PARQUET):
        return FileTable(*read_parquet(name, BytesIO(data)))
    if data.startswith(b"\x1f\x8b"):
        try:
            data = _unpacked(name, BytesIO(data))
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{name!r} cannot be unpacked: {first_line(error)}") from error
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
            check_size_of(name, size, "split the file")
    return b"".join(parts)
