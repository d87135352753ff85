"""The format of a text file: encoding, separator, decimal sign, header. What is not given is detected.

    bytes ──encoding──▶ UTF-8 ──separator──▶ records ──▶ names of columns, decimal sign

Detected means the first that fits. A file is UTF-8 if it decodes as such, else Windows' Latin-1; the
separator is the first of , ; tab | that gives the first records the same number of fields; a comma marks
decimals where it does not separate and a column holds nothing but numbers with commas. Findings other
than plain CSV are listed in `notes`.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from arboretum.data.checks import list_names
from arboretum.errors import DataError

__all__ = ["NULLS", "CsvDialect", "CsvText", "open_csv"]

NULLS = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None")
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_BOMS = {  # byte order mark -> the encoding with the mark, and that of the text after it
    codecs.BOM_UTF8: ("utf-8-sig", "utf-8"),
    codecs.BOM_UTF16_LE: ("utf-16", "utf-16-le"),
    codecs.BOM_UTF16_BE: ("utf-16", "utf-16-be"),
}
_BLOCK = 1 << 20
_FIRST = 200  # records by which the format is detected
_COMMA_NUMBER = re.compile(r"\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*")
_NUMBER = re.compile(r"\s*[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class CsvDialect:
    """The given format of a text file; None and empty values are detected.

    Attributes
    ----------
    sep : str or None
        The character that separates fields.
    decimal : {".", ","} or None
    encoding : str or None
    na : tuple of str
        Texts that mean missing, in addition to `NULLS`.
    header : bool
        The first line names the columns.
    skip : int
        Lines above the header, or above the first row, that do not belong to the table.
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] = ()
    header: bool = True
    skip: int = 0


@dataclass(frozen=True, eq=False)
class CsvText:
    """A text file in UTF-8, with its format.

    Attributes
    ----------
    name : str
        For messages.
    data : bytes
        UTF-8, without a byte order mark.
    sep, decimal : str
    nulls : tuple of str
        Texts that mean missing.
    has_header : bool
    names : tuple of str
        Names of the columns.
    notes : list of str
        What was detected, in words.
    encoding : str
        Encoding of the file.
    mark : bytes
        Its byte order mark.
    above : str
        The lines that were skipped.
    """

    name: str
    data: bytes
    sep: str
    decimal: str
    nulls: tuple[str, ...]
    has_header: bool
    names: tuple[str, ...]
    notes: list[str] = field(default_factory=list)
    encoding: str = "utf-8"
    mark: bytes = b""
    above: str = ""

    def header_line(self) -> int:
        """Return the line at which a wider table begins, by some separator, below titles; else 1."""
        starts = []
        for sep in dict.fromkeys((self.sep, *_SEPARATORS)):
            found: list[tuple[int, int]] = []
            with suppress(DataError):
                some = islice(_records(self.name, self.data, sep), _FIRST)
                found = [(line, len(fields)) for line, _, fields in some if fields]
            first, width = len(found) - 1, found[-1][1] if found else 0
            while first > 0 and found[first - 1][1] == width:
                first -= 1
            if width > len(self.names) and first < len(found) - 1:
                starts.append(found[first][0])
        return min(starts, default=1)

    @property
    def body(self) -> str:
        """The text below the lines that were skipped."""
        return self.data[self.above.count("\n") :].decode("utf-8")

    def encode(self, text: str) -> bytes:
        """Return text as bytes in the encoding of this file."""
        if self.mark:
            return self.mark + text.encode(_BOMS[self.mark][1])
        name = codecs.lookup(self.encoding).name
        return text.encode({"utf-8-sig": "utf-8", "utf-16": "utf-16-le"}.get(name, name))

    def records(self) -> Iterator[tuple[int, int, list[str]]]:
        """Yield first line, last line and fields of every record; blank lines have no fields."""
        return _records(self.name, self.data, self.sep)

    def rows(self) -> Iterator[list[str]]:
        """Yield the fields of every row, without the header and blank lines."""
        found = (fields for _, _, fields in self.records() if fields)
        if self.has_header:
            next(found)
        return found


def open_csv(name: str, data: bytes, how: CsvDialect) -> CsvText:
    """Detect the format of a text file.

    Examples
    --------
    >>> text = open_csv("t.csv", b"name;weight\\nmaple;1,5\\noak;22,75\\n", CsvDialect())
    >>> text.sep, text.decimal, text.names
    (';', ',', ('name', 'weight'))
    >>> text.notes
    ['t.csv: fields are separated by semicolons, decimals by commas']
    """
    notes: list[str] = []
    start = data
    data, encoding = _to_utf8(name, data, how.encoding, notes)
    above = b""
    if how.skip:  # blank lines stay, so that messages name lines of the file
        rest = data.split(b"\n", how.skip)[-1]
        above = data[: len(data) - len(rest)]
        data = b"\n" * above.count(b"\n") + rest
    sep = how.sep or _find_separator(name, data)
    names = _names(name, data, sep, how.header, notes)
    decimal = how.decimal or _find_decimal(name, data, sep, (*NULLS, *how.na))
    found = []
    if how.sep is None and sep != ",":
        found.append(f"fields are separated by {_SEPARATORS[sep]}")
    if how.decimal is None and decimal == ",":
        found.append("decimals by commas" if found else "decimals are marked by commas")
    if found:
        notes.append(f"{name}: {', '.join(found)}")
    nulls = (*NULLS, *how.na)
    mark = _mark(start, encoding)
    return CsvText(
        name, data, sep, decimal, nulls, how.header, names, notes, encoding, mark, above.decode()
    )


# --------------------------------------------------------------------------- encoding
def _to_utf8(name: str, data: bytes, encoding: str | None, notes: list[str]) -> tuple[bytes, str]:
    found = next((e for mark, (e, _) in _BOMS.items() if data.startswith(mark)), None)
    if encoding is None and found is None:
        if b"\0" in data:
            raise DataError(f"{name!r}, line 1: it holds NUL bytes, it is not a text file")
        if _is_utf8(data):
            return data, "utf-8"
        found = "cp1252" if _decodes(data, "cp1252") else "latin-1"
        notes.append(f"{name}: read as {found}, because it is not UTF-8 text")
    elif encoding is None and found != "utf-8-sig":
        notes.append(f"{name}: read as {found}, according to its first bytes")
    chosen = encoding or found or "utf-8"
    try:
        return data.decode(chosen).removeprefix("\ufeff").encode("utf-8"), chosen
    except LookupError:
        raise DataError(
            f"unknown encoding {chosen!r}: e.g. utf-8, cp1252 (Windows), latin-1, utf-16"
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{name!r}, line {line}: not {chosen} text (byte 0x{data[error.start]:02x}); leave the "
            f"encoding to be "
            "found out, or name another"
        ) from None


def _mark(data: bytes, encoding: str) -> bytes:
    """Return the byte order mark that a file begins with, if its encoding has one."""
    family = codecs.lookup(encoding).name
    for mark, (known, _) in _BOMS.items():
        if data.startswith(mark) and family.startswith(known.removesuffix("-sig")):
            return mark
    return b""


def _is_utf8(data: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _BLOCK):
            decoder.decode(data[start : start + _BLOCK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


# --------------------------------------------------------------------------- records
def _records(name: str, data: bytes, sep: str) -> Iterator[tuple[int, int, list[str]]]:
    line = 0
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    csv.field_size_limit(max(csv.field_size_limit(), len(data)))  # a cell may be a whole book
    reader = csv.reader(text, delimiter=sep)
    try:
        for fields in reader:
            yield line + 1, reader.line_num, fields
            line = reader.line_num
    except csv.Error as error:
        raise DataError(f"{name!r}, line {line + 1}: {error}") from error


def _first_records(name: str, data: bytes, sep: str) -> list[list[str]]:
    found: list[list[str]] = []
    with suppress(DataError):  # a quote that is never closed raises when the whole file is read
        for _, _, fields in _records(name, data, sep):
            if fields:
                found.append(fields)
            if len(found) == _FIRST:
                break
    return found


def _find_separator(name: str, data: bytes) -> str:
    if name.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        return "\t"
    widths = {
        sep: [len(fields) for fields in _first_records(name, data, sep)] for sep in _SEPARATORS
    }
    for sep, found in widths.items():
        if found and found[0] > 1 and len(set(found)) == 1:
            return sep
    return max(_SEPARATORS, key=lambda sep: widths[sep][:1] or [0])


def _names(name: str, data: bytes, sep: str, header: bool, notes: list[str]) -> tuple[str, ...]:
    first = next(iter(_first_records(name, data, sep)), None)
    if first is None:
        raise DataError(f"{name!r}, line 1: no header, the file is empty")
    if not header:
        return tuple(f"x{i}" for i in range(len(first)))
    numbers = [text for text in first if _NUMBER.fullmatch(text)]
    if numbers:
        notes.append(
            f"{name}: the first line is read as column names, but holds "
            f"{list_names(numbers)}: if it is "
            "a row, declare that (--no-header at the command line)"
        )
    # a column without a name gets the name pandas would give it
    names = tuple(text if text.strip() else f"Unnamed: {i}" for i, text in enumerate(first))
    if len(set(names)) < len(names):
        twice = sorted({text for text in names if names.count(text) > 1})
        raise DataError(
            f"{name!r}, line 1: column names must be unique, these occur twice: {list_names(twice)}"
        )
    return names


def _find_decimal(name: str, data: bytes, sep: str, nulls: tuple[str, ...]) -> str:
    if sep == ",":
        return "."
    records = _first_records(name, data, sep)[1:]
    for texts in zip(*records):
        known = [text for text in texts if text not in nulls]
        if any("," in text for text in known) and all(map(_COMMA_NUMBER.fullmatch, known)):
            return ","
    return "."
