"""Parquet files: their columns, and what they take in memory according to the footer."""

from __future__ import annotations

import re
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arboretum.data.checks import DataTypeError
from arboretum.data.frames import frame_columns
from arboretum.data.reading.limits import check_size_of, first_line
from arboretum.data.values import Raw, Words
from arboretum.errors import DataError

__all__ = [
    "ParquetColumns",
    "as_strings",
    "decoded_size",
    "encoded_columns",
    "is_index",
    "read_parquet",
    "string_columns",
]

_BATCH = 1024  # rows
_FEWER = "read some of its columns or rows with pyarrow and pass that table"


class ParquetColumns(NamedTuple):
    """The contents of a Parquet file: names (None if there are none), raw columns, rows."""

    names: tuple[str, ...] | None
    columns: list[Raw]
    n_rows: int


def read_parquet(name: str, source: Path | BytesIO) -> ParquetColumns:
    """Read a Parquet file, by pyarrow or else by polars."""
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
        raise DataError(f"{name!r} cannot be read as Parquet: {first_line(error)}") from error


def _parquet_pyarrow(name: str, source: Any) -> ParquetColumns:
    """Read strings as a dictionary and codes: a long string in many rows takes its length once."""
    from pyarrow import parquet

    with parquet.ParquetFile(source) as file:
        strings = string_columns(name, file.schema_arrow)
        delta = encoded_columns(file.metadata, "DELTA_BYTE_ARRAY") & strings
        size = decoded_size(file.metadata, strings)
        check_size_of(name, size, _FEWER)
        for batch in file.iter_batches(_BATCH, columns=sorted(delta)) if delta else ():
            # strings may repeat the one before: the footer has no size for them
            size += batch.nbytes
            check_size_of(name, size, _FEWER)
        delta |= encoded_columns(file.metadata, "DELTA_LENGTH_BYTE_ARRAY")
    # pyarrow makes no dictionaries of delta encodings
    table = parquet.read_table(source, read_dictionary=sorted(strings - delta))
    table = table.drop_columns([c for c in table.column_names if is_index(c)])
    names, columns, n_rows = frame_columns(table)
    typed = [
        as_strings(raw) if c in strings else raw for c, raw in zip(table.column_names, columns)
    ]
    return ParquetColumns(names, typed, n_rows)


def string_columns(name: str, schema: Any) -> set[str]:
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


def encoded_columns(footer: Any, encoding: str) -> set[str]:
    """Return the names of the columns that use an encoding."""
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    chunks = [group.column(place) for group in groups for place in range(footer.num_columns)]
    return {chunk.path_in_schema for chunk in chunks if encoding in chunk.encodings}


def decoded_size(footer: Any, strings: set[str]) -> int:
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


def as_strings(raw: Raw) -> Raw:
    """Return a column of strings, read as a dictionary, with only the values that occur in it."""
    if not isinstance(raw, Words):
        return raw
    counts = np.bincount(raw.codes.astype(np.intp) + 1, minlength=len(raw.values) + 1)[1:]
    places = np.append(np.cumsum(counts > 0) - 1, -1)
    return Words(places[raw.codes], [v for v, n in zip(raw.values, counts) if n], "str")


def _parquet_polars(name: str, source: Any) -> ParquetColumns:
    import polars as pl  # has no sizes to check; its strings of one dictionary share their bytes

    frame = pl.read_parquet(source)
    return ParquetColumns(*frame_columns(frame.drop([c for c in frame.columns if is_index(c)])))


def is_index(name: str) -> bool:
    """Return True for the row labels that pandas stores along with the columns."""
    return re.fullmatch(r"__index_level_\d+__", name) is not None
