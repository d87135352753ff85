"""CSV files: columns written, and copies of files in which some cells change.

CSV gives no types to its cells, and a spreadsheet runs a cell that begins with =, +, - or @. Labels
and copied columns come from data, which may come from anyone. They are written unchanged, because a file
for programs must hold the exact predictions; ``--escape-formulas`` is for files that people open.

In a copy some cells change, and every other byte stays the same:

    a;"b""c";;4␍␊   ──fields and line ends──▶   a ┊ "b""c" ┊ (gap) ┊ 4 ┊ ␍␊   ──fill──▶   a;"b""c";7,5;4␍␊

Fields keep their quotes and blanks, rows their line ends; lines above the header, blank lines and the byte
order mark stay where they are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import IO, Any

from arboretum.data.reading.dialect import CsvText

__all__ = ["copy_csv", "escape_formula", "write_csv"]


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


# ---------------------------------------------------------------------- copies of a file
def copy_csv(
    text: CsvText,
    cells: Mapping[str, Mapping[int, str]],
    *,
    drop: Collection[str] = (),
    escape_formulas: bool = False,
) -> bytes:
    """Return the bytes of a file with some cells replaced.

    Parameters
    ----------
    text : CsvText
        The file.
    cells : mapping
        Column -> row -> new content of the cell.
    drop : collection of str
        Columns that are left out.
    escape_formulas : bool
        Put ' before texts that a spreadsheet would run as formulas.

    Examples
    --------
    >>> from arboretum.data.reading.dialect import CsvDialect, open_csv
    >>> text = open_csv("t.csv", b'a;"b"\\r\\n1,50;\\r\\n2;"x;y"', CsvDialect())
    >>> copy_csv(text, {"b": {0: "z;"}})
    b'a;"b"\\r\\n1,50;"z;"\\r\\n2;"x;y"'
    """
    records = _records(text.body, text.sep)
    kept = [j for j, name in enumerate(text.names) if name not in drop]
    changed = {j: cells[text.names[j]] for j in kept if text.names[j] in cells}
    quoted = {j for j, new in changed.items() if _is_quoted(records, j, new, text.has_header)}
    row, written = -int(text.has_header), [text.above]
    for fields, end in records:
        if fields == [""]:  # a blank line is no row
            written.append(end)
            continue
        line = []
        for j in kept:
            field = fields[j]
            if row >= 0 and row in changed.get(j, ()):
                field = _quote(changed[j][row], text.sep, always=j in quoted)
            line.append(_escape(field, text.sep) if escape_formulas else field)
        written.append((text.sep.join(line) or '""') + end)  # an empty line would be no row
        row += 1
    return text.encode("".join(written))


def _records(text: str, sep: str) -> list[tuple[list[str], str]]:
    """Return the fields of every line as written, and the line end."""
    other = f"[^{re.escape(sep)}\r\n]*"
    piece = re.compile(rf'("[^"]*(?:""[^"]*)*"{other}|{other})({re.escape(sep)}|\r\n|\n|\r|\Z)')
    found: list[tuple[list[str], str]] = []
    fields: list[str] = []
    for match in piece.finditer(text):
        field, end = match.groups()
        fields.append(field)
        if end != sep:
            found.append((fields, end))
            fields = []
            if match.end() == len(text):  # nothing comes after it, not even an empty line
                break
    return found


def _is_quoted(
    records: list[tuple[list[str], str]], j: int, new: Collection[int], has_header: bool
) -> bool:
    """Return True if all cells of a column are quoted, apart from the replaced ones."""
    rows = [fields for fields, _ in records if fields != [""]][int(has_header) :]
    known = [fields[j] for i, fields in enumerate(rows) if i not in new]
    return bool(known) and all(field.startswith('"') for field in known)


def _quote(cell: str, sep: str, *, always: bool = False) -> str:
    """Return a cell as CSV files write it.

    >>> _quote("a", ","), _quote("a,b", ","), _quote('a"b', ";"), _quote("a", ",", always=True)
    ('a', '"a,b"', '"a""b"', '"a"')
    """
    if not always and not any(sign in cell for sign in (sep, '"', "\r", "\n")):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _escape(field: str, sep: str) -> str:
    """Return a field that a spreadsheet does not run as a formula; most fields stay as they are."""
    is_quoted = field.startswith('"')
    cell = field[1:].rstrip('"').replace('""', '"') if is_quoted else field
    safe = escape_formula(cell)
    if safe == cell:
        return field
    return f'"{safe[0]}{field[1:]}' if is_quoted else _quote(safe, sep)
