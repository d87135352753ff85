"""Tables from files: CSV (also gzipped) and Parquet.

They are read by the first of pyarrow, pandas and polars that is installed. A CSV file holds text,
so its columns get their types here, by one rule for all three readers:

    missing     an empty field, NA, N/A, #N/A, NaN, nan, null, NULL, None
    number      every value reads as a number
    boolean     true / false in lower, upper or title case
    date, time  ISO form: 2024-03-31, 2024-03-31T10:15:00Z, 10:15 (see `values` for the numbers)
    string      anything else

The first line names the columns, fields are separated by commas, the text is UTF-8, blank lines are
skipped. A line with too few or too many fields is an error, never filled up or cut off.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Callable, Iterator
from datetime import datetime, time
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np

from arboretum.data.checks import LARGEST_EXACT, list_names
from arboretum.data.frames import column_names, frame_columns
from arboretum.data.values import Numbers, Raw, from_cells, make_words
from arboretum.errors import DataError

__all__ = ["read_file"]

_NULLS = ["", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None"]
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].+)?")
_TIME = re.compile(r"\d{2}:\d{2}(:\d{2}(\.\d+)?)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)


def read_file(path: str | Path) -> tuple[tuple[str, ...] | None, list[Raw], int]:
    """Read a CSV or Parquet file into names, raw columns and the number of rows."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"no such file: {str(path)!r}")
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a directory, not a CSV or Parquet file")
    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        return _read_csv(path)
    if name.endswith((".parquet", ".pq")):
        return _read_parquet(path)
    raise DataError(
        f"cannot tell what {str(path)!r} holds: arboretum reads .csv, .csv.gz and .parquet files; "
        "read anything else with pandas or polars and pass the dataframe"
    )


def _installed(
    readers: dict[str, Callable[..., Any]], path: Path
) -> tuple[str, Callable[..., Any]]:
    for library, read in readers.items():
        if find_spec(library) is not None:
            return library, read
    raise DataError(
        f"reading {path.name!r} needs pyarrow, pandas or polars: pip install arboretum[frames]"
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


# --------------------------------------------------------------------------- Parquet
def _read_parquet(path: Path) -> tuple[tuple[str, ...] | None, list[Raw], int]:
    _, read = _installed({"pyarrow": _parquet_pyarrow, "polars": _parquet_polars}, path)
    try:
        frame = read(path)
    except Exception as error:  # each library has its own errors for a damaged file
        raise DataError(f"{str(path)!r} cannot be read as Parquet: {_first_line(error)}") from error
    return frame_columns(frame)


def _parquet_pyarrow(path: Path) -> Any:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    return table.drop_columns([c for c in table.column_names if _is_index(c)])


def _parquet_polars(path: Path) -> Any:
    import polars as pl

    frame = pl.read_parquet(path)
    return frame.drop([c for c in frame.columns if _is_index(c)])


def _is_index(name: str) -> bool:
    """Tell the row labels that pandas stores along with the columns."""
    return re.fullmatch(r"__index_level_\d+__", name) is not None


# --------------------------------------------------------------------------- CSV
def _read_csv(path: Path) -> tuple[tuple[str, ...] | None, list[Raw], int]:
    readers = {"pyarrow": _csv_pyarrow, "pandas": _csv_pandas, "polars": _csv_polars}
    library, read = _installed(readers, path)
    header = _header(path)
    _check_quotes(path)
    # pandas and polars fill short lines up and say nothing, so the file is checked first
    blank = [] if library == "pyarrow" else _check_lines(path, len(header))
    try:
        frame = read(path, header, blank)
    except Exception as error:  # each library has its own errors for a damaged file
        _check_lines(path, len(header))  # knows the line
        raise DataError(f"{str(path)!r} cannot be read as CSV: {_first_line(error)}") from error
    _, columns, n_rows = frame_columns(frame)
    if n_rows == 0:
        raise DataError(f"{str(path)!r} holds a header but no rows")
    columns = [_retype(raw) for raw in columns]
    _check_big_integers(path, header, columns)
    return header, columns, n_rows


def _csv_pyarrow(path: Path, header: tuple[str, ...], blank: list[int]) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    options = pyarrow.csv.ConvertOptions(
        null_values=_NULLS,
        strings_can_be_null=True,
        true_values=[text for text, truth in _TRUTH.items() if truth],
        false_values=[text for text, truth in _TRUTH.items() if not truth],
    )
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    table = pyarrow.csv.read_csv(path, parse_options=parse, convert_options=options)
    if any(pa.types.is_binary(kind) for kind in table.schema.types):
        raise ValueError("not UTF-8 text")  # pyarrow keeps such columns as bytes
    return table.rename_columns(list(header))


def _csv_pandas(path: Path, header: tuple[str, ...], blank: list[int]) -> Any:
    import pandas as pd

    # the default became exact when the option was deprecated
    exact = {"float_precision": "round_trip"} if _version(pd) < (3, 1) else {}
    return pd.read_csv(
        path,
        header=0,
        names=list(header),
        index_col=False,
        keep_default_na=False,
        na_values=_NULLS,
        low_memory=False,
        encoding="utf-8-sig",
        **exact,
    )


def _version(module: Any) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", module.__version__)[:2])


def _csv_polars(path: Path, header: tuple[str, ...], blank: list[int]) -> Any:
    import polars as pl

    frame = pl.read_csv(
        path, new_columns=list(header), infer_schema_length=None, null_values=_NULLS
    )
    if blank:  # polars reads a blank line as a row
        frame = frame.filter(~np.isin(np.arange(len(frame)), blank))
    return frame


def _open_text(path: Path) -> IO[str]:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")


def _records(path: Path) -> Iterator[tuple[int, int, list[str]]]:
    """Yield first line, last line and fields of every record; blank lines have no fields."""
    line = 0
    try:
        with _open_text(path) as file:
            reader = csv.reader(file)
            for fields in reader:
                yield line + 1, reader.line_num, fields
                line = reader.line_num
    except UnicodeDecodeError as error:
        raise DataError(
            f"{str(path)!r}, line {_undecodable_line(path)}: not UTF-8 text (byte "
            f"0x{error.object[error.start]:02x}); save the file as UTF-8"
        ) from error
    except (csv.Error, OSError, EOFError) as error:  # gzip raises the last two
        raise DataError(f"{str(path)!r}, line {line + 1}: {_first_line(error)}") from error


def _undecodable_line(path: Path) -> int:
    """Return the first line that is not UTF-8; text is decoded in blocks, which hide it."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    with opener(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 1


def _header(path: Path) -> tuple[str, ...]:
    _, _, fields = next(_records(path), (0, 0, []))
    if not fields:
        raise DataError(f"{str(path)!r}, line 1: no header line, the file is empty or starts blank")
    if "\0" in "".join(fields):
        raise DataError(f"{str(path)!r}, line 1: holds NUL bytes, this is not a text file")
    if len(fields) == 1 and (other := re.search(r"[;\t]", fields[0])):
        raise DataError(
            f"{str(path)!r}, line 1: fields seem to be separated by {other[0]!r}, not by commas; "
            f"read it with pandas.read_csv(path, sep={other[0]!r}) and pass the dataframe"
        )
    try:
        column_names(fields)
    except DataError as error:
        raise DataError(f"{str(path)!r}, line 1: {error}") from error
    return tuple(fields)


def _check_quotes(path: Path) -> None:
    """Raise if a quote is never closed: readers would take the rest of the file for one value."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            quotes = sum(block.count(b'"') for block in iter(lambda: file.read(1 << 20), b""))
    except (OSError, EOFError):
        return  # a damaged archive: the reader tells where
    if quotes % 2 == 0:
        return
    start = 1
    try:
        with _open_text(path) as file:
            reader = csv.reader(file, strict=True)
            for _ in reader:
                start = reader.line_num + 1
    except csv.Error:
        raise DataError(
            f"{str(path)!r}, line {start}: a quote is opened and never closed; close it, or double it "
            "if it belongs to the text"
        ) from None
    except UnicodeDecodeError:
        return  # the reader tells where


def _check_lines(path: Path, width: int) -> list[int]:
    """Raise for the first line with a wrong number of fields; return which records are blank."""
    blank = []
    for i, (first, last, fields) in enumerate(_records(path)):
        if not fields:
            blank.append(i - 1)  # the header is not a row
        elif len(fields) != width:
            raise DataError(
                f"{str(path)!r}, line {first}: {len(fields)} fields where the header has {width}"
                + (f" (is the quote opened there never closed? it runs to line {last})"
                   if last > first else "")
            )  # fmt: skip
    return blank


def _retype(raw: Raw) -> Raw:
    """Give a column of text its type; only its distinct values are looked at."""
    if isinstance(raw, Numbers) or raw.dtype == "bool":
        return raw
    texts = raw.values
    if all(text in _TRUTH for text in texts) and texts:
        return make_words(raw.codes, [_TRUTH[text] for text in texts], "bool")
    for pattern, convert in (
        (_NUMBER, float),
        (_DATE, datetime.fromisoformat),
        (_TIME, time.fromisoformat),
    ):
        # a blank around a number is not part of it
        if all(isinstance(t, str) and pattern.fullmatch(t.strip()) for t in texts):
            try:
                values = from_cells([convert(t.strip()) for t in texts], "")
            except ValueError:  # such as 2024-02-30
                return raw
            assert isinstance(values, Numbers)
            return Numbers(np.append(values.values, np.nan)[raw.codes], values.dtype)
    return raw


def _check_big_integers(path: Path, header: tuple[str, ...], columns: list[Raw]) -> None:
    """Refuse long whole numbers that a reader took for floats and rounded."""
    with np.errstate(invalid="ignore"):
        suspects = [
            f
            for f, raw in enumerate(columns)
            if isinstance(raw, Numbers)
            and raw.dtype == "float64"
            and np.any(np.abs(raw.values) >= LARGEST_EXACT)
        ]
    if not suspects:
        return
    for line, _, fields in _records(path):
        for f in suspects if fields else []:
            text = fields[f].strip()
            if re.fullmatch(r"[+-]?\d{16,300}", text) and int(text) != float(text):
                raise DataError(
                    f"{str(path)!r}, line {line}: column {list_names([header[f]])} holds the whole "
                    f"number {text}, which float64 cannot hold exactly: if it is an identifier "
                    "drop it, if it is a quantity write it as a float (1.5e20)"
                )
