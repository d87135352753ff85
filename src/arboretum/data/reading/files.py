"""Tables from files: CSV and its like (also gzipped), Parquet, or bytes that came through a pipe.

table.csv  table.tsv  table.txt  (.gz)   ──dialect──▶  text  ──csv_table──▶  columns
table.parquet                            ──pyarrow or polars──────────────▶  columns
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from arboretum.data.frames import frame_columns
from arboretum.data.reading.csv_table import csv_columns
from arboretum.data.reading.dialect import CsvDialect, CsvText, open_csv
from arboretum.data.values import Raw
from arboretum.errors import DataError

__all__ = ["FileTable", "read_bytes", "read_file"]

_TEXT = (".csv", ".tsv", ".tab", ".txt")
_PARQUET = b"PAR1"


@dataclass(frozen=True, eq=False)
class FileTable:
    """What a file holds: names (None if there are none), raw columns, rows; the text they were read from."""

    names: tuple[str, ...] | None
    columns: list[Raw]
    n_rows: int
    text: CsvText | None = None  # None: Parquet

    @property
    def notes(self) -> list[str]:
        """What had to be found out, in words."""
        return [] if self.text is None else self.text.notes


def read_file(path: str | Path, how: CsvDialect | None = None) -> FileTable:
    """Read a file; its name says what it is.

    Parameters
    ----------
    path : str or Path
    how : CsvDialect, optional
        How a text file is written; what it leaves open is found out.
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
            f"cannot tell what {str(path)!r} holds: arboretum reads .csv, .tsv, .txt (also .gz) and .parquet "
            "files; read anything else with pandas or polars and pass the dataframe"
        )
    return read_bytes(str(path), path.read_bytes(), how)


def read_bytes(name: str, data: bytes, how: CsvDialect | None = None) -> FileTable:
    """Read what a file or a pipe holds; ``name`` is for messages."""
    if data.startswith(_PARQUET):
        return _read_parquet(name, BytesIO(data))
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{name!r} cannot be unpacked: {_first_line(error)}") from error
    text = open_csv(name, data, how or CsvDialect())
    columns, n_rows = csv_columns(text)
    return FileTable(text.names, columns, n_rows, text)


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
        frame = read(source)
    except Exception as error:  # each library has its own errors for a damaged file
        raise DataError(f"{name!r} cannot be read as Parquet: {_first_line(error)}") from error
    return FileTable(*frame_columns(frame))


def _parquet_pyarrow(source: Any) -> Any:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(source)
    return table.drop_columns([c for c in table.column_names if _is_index(c)])


def _parquet_polars(source: Any) -> Any:
    import polars as pl

    frame = pl.read_parquet(source)
    return frame.drop([c for c in frame.columns if _is_index(c)])


def _is_index(name: str) -> bool:
    """Tell the row labels that pandas stores along with the columns."""
    return re.fullmatch(r"__index_level_\d+__", name) is not None
