"""The columns of a CSV file: text becomes numbers, dates and words by one rule.

    missing     an empty field, NA, N/A, #N/A, NaN, nan, null, NULL, None, and the dialect's own marks
    number      every value reads as a number
    boolean     true / false in lower, upper or title case
    date, time  ISO form: 2024-03-31, 2024-03-31T10:15:00Z, 10:15 (see `values` for the numbers)
    string      anything else

If pyarrow is installed it reads the file, because it is fast; else Python's csv module does, with
the same result. Among numbers and dates, common marks for missing (?, -, n/a) count as
missing, with a note; another note names the values that keep a column from being numeric. A line with
too few or too many fields is an error, never filled up or cut off.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import datetime, time
from importlib.util import find_spec
from typing import Any

import numpy as np

from arboretum.data.checks import LARGEST_EXACT, list_names, list_rows
from arboretum.data.frames import frame_columns
from arboretum.data.reading.dialect import CsvText
from arboretum.data.values import Raw, RawNumbers, Words, from_cells, make_words
from arboretum.errors import DataError

__all__ = ["MARKS", "csv_columns"]

_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
MARKS = frozenset(
    [
        "?",
        "-",
        "--",
        "---",
        ".",
        "..",
        "*",
        "n/a",
        "na",
        "N.A.",
        "n.a.",
        "missing",
        "#DIV/0!",
        "#VALUE!",
        "#REF!",
    ]
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].+)?")
_TIME = re.compile(r"\d{2}:\d{2}(:\d{2}(\.\d+)?)?")
_EXPONENT = r"([eE][+-]?\d+)?|[+-]?inf(inity)?"
_NUMBER = {
    ".": re.compile(rf"[+-]?(\d+\.?\d*|\.\d+){_EXPONENT}", re.IGNORECASE),
    ",": re.compile(rf"[+-]?(\d+,?\d*|,\d+){_EXPONENT}", re.IGNORECASE),
}
_NEARLY = 0.95  # from this share of numbers on, the other values are named in a note


def csv_columns(text: CsvText) -> tuple[list[Raw], int]:
    """Return the columns of a file and the number of its rows."""
    _check_quotes(text)
    read = _by_pyarrow if find_spec("pyarrow") is not None else _by_csv
    columns, n_rows = read(text)
    if n_rows == 0:
        raise DataError(f"{text.name!r} holds a header but no rows")
    columns = [_typed(raw, name, text) for raw, name in zip(columns, text.names)]
    _check_big_integers(text, columns)
    return columns, n_rows


# --------------------------------------------------------------------------- reading
def _by_pyarrow(text: CsvText) -> tuple[list[Raw], int]:
    import pyarrow as pa
    import pyarrow.csv

    convert = pyarrow.csv.ConvertOptions(
        null_values=list(text.nulls),
        strings_can_be_null=True,
        true_values=[word for word, truth in _TRUTH.items() if truth],
        false_values=[word for word, truth in _TRUTH.items() if not truth],
        decimal_point=text.decimal,
    )
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True, delimiter=text.sep)

    def read(**block: int) -> pa.Table:
        options = pyarrow.csv.ReadOptions(autogenerate_column_names=not text.has_header, **block)
        return pyarrow.csv.read_csv(
            pa.BufferReader(text.data),
            read_options=options,
            parse_options=parse,
            convert_options=convert,
        )

    try:
        try:
            table = read()
        except pa.ArrowInvalid as error:
            # a row or a header longer than a block
            if not any(sign in str(error) for sign in ("straddling", "Empty CSV")):
                raise
            table = read(block_size=min(len(text.data) + 1, 2**31 - 1))
        table = table.rename_columns(list(text.names))
    except Exception as error:
        _check_lines(text)  # raises with the line
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataError(f"{text.name!r} cannot be read as CSV: {first}") from error
    _, columns, n_rows = frame_columns(table)
    return columns, n_rows


def _by_csv(text: CsvText) -> tuple[list[Raw], int]:
    _check_lines(text)
    rows = list(text.rows())
    nulls = set(text.nulls)
    columns: list[Raw] = []
    for cells in zip(*rows) if rows else ():
        place: dict[str, int] = {}
        codes = [-1 if cell in nulls else place.setdefault(cell, len(place)) for cell in cells]
        if place:
            columns.append(Words(np.array(codes, np.int64), list(place), "str"))
        else:
            columns.append(RawNumbers(np.full(len(rows), np.nan), "null"))
    return columns, len(rows)


# --------------------------------------------------------------------------- checks
def _check_quotes(text: CsvText) -> None:
    """Raise if a quote is never closed: readers would take the rest of the file for one value."""
    if text.data.count(b'"') % 2 == 0:
        return
    start = 1
    lines = io.TextIOWrapper(io.BytesIO(text.data), encoding="utf-8", newline="")
    reader = csv.reader(lines, strict=True, delimiter=text.sep)
    try:
        for _ in reader:
            start = reader.line_num + 1
    except csv.Error:
        raise DataError(
            f"{text.name!r}, line {start}: a quote is opened and never closed; close it, or double it "
            "if it belongs to the text"
        ) from None


def _check_lines(text: CsvText) -> None:
    """Raise for the first line with a wrong number of fields."""
    width = len(text.names)
    for first, last, fields in text.records():
        if fields and len(fields) != width:
            start = text.header_line()
            raise DataError(
                f"{text.name!r}, line {first}: {len(fields)} fields where the header has {width}"
                + (f" (is the quote opened there never closed? it runs to line {last})"
                   if last > first else "")
                + (f"; if the table begins at line {start}, leave out the lines above it (--skip "
                   f"{start - 1} at the command line)" if start > 1 else "")
            )  # fmt: skip


def _check_big_integers(text: CsvText, columns: list[Raw]) -> None:
    """Refuse long whole numbers that a reader took for floats and rounded."""
    with np.errstate(invalid="ignore"):
        suspects = [
            f
            for f, raw in enumerate(columns)
            if isinstance(raw, RawNumbers)
            and raw.dtype == "float64"
            and np.any(np.abs(raw.values) >= LARGEST_EXACT)
        ]
    if not suspects:
        return
    for line, _, fields in text.records():
        for f in suspects if fields else []:
            cell = fields[f].strip()
            if re.fullmatch(r"[+-]?\d{16,300}", cell) and int(cell) != float(cell):
                raise DataError(
                    f"{text.name!r}, line {line}: column {list_names([text.names[f]])} holds the whole "
                    f"number {cell}, which float64 cannot hold exactly: if it is an identifier "
                    "drop it, if it is a quantity write it as a float (1.5e20)"
                )


# --------------------------------------------------------------------------- types
def _typed(raw: Raw, name: str, text: CsvText) -> Raw:
    """Convert a column of text to its type; only its distinct values are examined."""
    if isinstance(raw, RawNumbers) or raw.dtype == "bool":
        return raw
    words = raw.values
    if all(word in _TRUTH for word in words) and words:
        return make_words(raw.codes, [_TRUTH[word] for word in words], "bool")
    forms: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
        (_NUMBER[text.decimal], _number_of(words, text.decimal)),
        (_DATE, datetime.fromisoformat),
        (_TIME, time.fromisoformat),
    )
    for pattern, convert in forms:
        # blanks around a number are not part of it
        fits = [isinstance(w, str) and bool(pattern.fullmatch(w.strip())) for w in words]
        odd = [w for w, fit in zip(words, fits) if not fit]
        if len(odd) == len(words):
            continue
        if any(str(w).strip() not in MARKS for w in odd):
            _note_nearly(raw, odd, name, text)
            continue
        try:
            cells = [convert(w.strip()) if fit else None for w, fit in zip(words, fits)]
            values = from_cells(cells, name)
        except ValueError:  # such as 2024-02-30
            return raw
        assert isinstance(values, RawNumbers)
        if odd:
            text.notes.append(
                f"{text.name}: in column {name!r} {list_names(sorted(odd))} is read as missing, "
                f"because all "
                "other values are numbers or dates"
            )
        if (raw.codes < 0).any():
            return RawNumbers(
                np.append(values.values.astype(np.float64), np.nan)[raw.codes], values.dtype
            )
        return RawNumbers(values.values[raw.codes], values.dtype)
    _note_blanks(raw, name, text)
    return raw


def _note_blanks(raw: Words, name: str, text: CsvText) -> None:
    """Note words that differ by blanks around them only: each is a category of its own."""
    known = set(raw.values)
    odd = [w for w in raw.values if isinstance(w, str) and w != w.strip() and w.strip() in known]
    if odd:
        text.notes.append(
            f"{text.name}: in column {name!r} {list_names(odd)} and the same without blanks are "
            "different categories: remove the blanks if they mean the same"
        )


def _number_of(words: list[Any], decimal: str) -> Callable[[str], int | float]:
    """Return the function that reads numbers: as integers if there are no others."""
    if decimal == ",":
        return lambda cell: float(cell.replace(",", "."))
    whole = all(re.fullmatch(r"[+-]?\d{1,18}", w.strip()) for w in words if w.strip() not in MARKS)
    return int if whole else float


def _note_nearly(raw: Words, odd: list[Any], name: str, text: CsvText) -> None:
    """Note the values that keep a column from being numeric."""
    share = np.isin(raw.codes, [raw.values.index(w) for w in odd]).mean() if len(odd) < 6 else 1.0
    if share > 1 - _NEARLY:
        return
    rows = np.flatnonzero(np.isin(raw.codes, [raw.values.index(w) for w in odd]))
    text.notes.append(
        f"{text.name}: column {name!r} is read as words because of {list_names(odd)} "
        f"({list_rows(rows)}), all "
        f"other values are numbers or dates: correct it, or declare it missing (--na {odd[0]!r} at the "
        f"command line)"
    )
