"""Columns as CSV, and texts that a spreadsheet would run as formulas.

CSV gives no types to its cells, and a spreadsheet runs a cell that begins with =, +, - or @. Labels
and copied columns come from data, which may come from anyone. They are written unchanged, because a file
for programs must hold the exact predictions; ``--escape-formulas`` is for files that people open.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any

__all__ = ["escape_formula", "write_csv"]

_END = "\r\n"
_FIRST = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_csv(
    file: IO[str],
    columns: Iterable[tuple[str, Sequence[Any]]],
    *,
    escape_formulas: bool = False,
) -> None:
    """Write columns, each a name and its cells."""
    written: Callable[[Any], Any] = escape_formula if escape_formulas else _as_it_is
    names, cells = zip(*columns, strict=True)
    writer = csv.writer(_RowEnds(file), lineterminator=_END)
    writer.writerow(map(written, names))
    writer.writerows(zip(*(map(written, values) for values in cells)))


class _RowEnds:
    """Rows that end with a line feed.

    The csv writer quotes the characters of its own line end, so that must contain both: readers also
    end a row at a carriage return.
    """

    def __init__(self, file: IO[str]) -> None:
        self.file = file

    def write(self, row: str) -> int:
        return self.file.write(row.removesuffix(_END) + "\n")


def _as_it_is(cell: Any) -> Any:
    return cell


def escape_formula(cell: Any) -> Any:
    """Return a text with ' before it if a spreadsheet would run it; numbers, also as text, stay unchanged.

    Examples
    --------
    >>> [escape_formula(cell) for cell in ("=1+1", "maple", "-0.5", "-A1", -0.5, "@SUM(A1)")]
    ["'=1+1", 'maple', '-0.5', "'-A1", -0.5, "'@SUM(A1)"]
    """
    if not isinstance(cell, str) or not cell.startswith(_FIRST) or _is_number(cell):
        return cell
    return f"'{cell}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text
