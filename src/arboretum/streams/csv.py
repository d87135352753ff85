"""A CSV file in blocks of whole lines, each read like a file of its own.

The format of the file (separator, decimal sign, encoding, header) is that of its first block. A column must
be of one type in all blocks: which values are numbers is decided block by block.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from arboretum.data.reading.csv_table import csv_columns
from arboretum.data.reading.dialect import CsvDialect, CsvText, open_csv
from arboretum.data.reading.limits import check_size_of, first_line
from arboretum.data.table import Table
from arboretum.errors import DataError
from arboretum.streams.pieces import RowBatch, located, select_columns

__all__ = ["CsvFile"]

_BLOCK = 1 << 24  # bytes
_LONGEST = 8  # lines that fit into memory, at least


class CsvFile:
    """A text file, perhaps gzipped, whose first block is read at once."""

    n_rows = None

    def __init__(self, path: Path, how: CsvDialect | None = None) -> None:
        self.path, how = path, how or CsvDialect()
        with self._opened() as file:
            data = next(_blocks(file, str(path)), b"")
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(f"{str(path)!r} is UTF-16 text, which cannot be cut: save it as UTF-8")
        first = open_csv(str(path), data, how)
        self.names = first.names
        self._how = CsvDialect(
            first.sep, first.decimal, first.encoding, how.na, how.header, how.skip
        )

    def _opened(self) -> Any:
        with self.path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return gzip.open(self.path) if packed else self.path.open("rb")

    def pieces(self, columns: Sequence[str]) -> Iterator[RowBatch]:
        """Yield the rows of every block."""
        how, line = self._how, 0
        with self._opened() as file:
            for data in _blocks(file, str(self.path)):
                where = f"{str(self.path)!r}, the block that begins at line {line + 1}"
                with located(where):
                    text = open_csv(str(self.path), data, how)
                    text = replace(text, names=self.names)
                    if _has_rows(text):
                        raws, n_rows = csv_columns(text)
                        table = Table(self.names, True, n_rows, raws)
                        yield RowBatch(select_columns(table, columns, where), where)
                line += data.count(b"\n")
                how = replace(how, header=False, skip=0, encoding=how.encoding)


def _has_rows(text: CsvText) -> bool:
    return next(text.rows(), None) is not None


def _blocks(file: Any, name: str) -> Iterator[bytes]:
    """Yield blocks that end with a line, and not within quotes."""
    rest = b""
    while True:
        try:
            more = file.read(_BLOCK)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{name!r} cannot be unpacked: {first_line(error)}") from error
        if not more:
            if rest:
                yield rest + b"\n"  # pyarrow reads no single line without an end
            return
        rest += more
        check_size_of(
            name, _LONGEST * len(rest), "a line of it is too long; is a quote never closed?"
        )
        end = _last_line(rest)
        if end:
            yield rest[:end]
            rest = rest[end:]


def _last_line(data: bytes) -> int:
    """Return where the last line ends that is not within quotes; 0 if there is none."""
    end = data.rfind(b"\n") + 1
    is_quoted = data.count(b'"', 0, end) % 2 == 1
    while end and is_quoted:
        before = data.rfind(b"\n", 0, end - 1) + 1
        is_quoted ^= data.count(b'"', before, end) % 2 == 1
        end = before
    return end
