"""A sheet on a terminal, as text and as HTML.

Rich lays out what is printed, in colours where there are any; text is the same without them. Names and
categories come from the user's table: control characters are taken out for the terminal, and HTML is escaped.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable

__all__ = ["as_html", "as_rich", "as_text", "number", "signed"]

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_LONGEST = 60  # characters of a cell
_NARROW = 18  # characters that a column of words keeps while others can be left out for it
_LONG_WORD = 28  # characters of a word that is not broken
_DIGITS = 5  # of a number in a table
_STYLE = """<style>
.arboretum-sheet{font:13px/1.45 system-ui,sans-serif;margin:.4em 0;max-width:60em}
.arboretum-sheet h3{font-size:15px;margin:.6em 0 .3em}
.arboretum-sheet h4{font-size:13px;margin:.8em 0 .2em}
.arboretum-sheet dl{display:grid;grid-template-columns:max-content 1fr;gap:.1em 1em;margin:.3em 0}
.arboretum-sheet dt{opacity:.7}.arboretum-sheet dd{margin:0}
.arboretum-sheet table{border-collapse:collapse;font:inherit;color:inherit;font-variant-numeric:tabular-nums}
.arboretum-sheet th,.arboretum-sheet td{white-space:nowrap}
.arboretum-sheet th,.arboretum-sheet td{padding:.1em .6em;text-align:left;border-bottom:1px solid #8884}
.arboretum-sheet td.n,.arboretum-sheet th.n{text-align:right}
.arboretum-sheet tr.m{font-weight:600;background:#3a83}
.arboretum-sheet p.f{margin:.15em 0;font-family:ui-monospace,monospace;white-space:pre-wrap}
.arboretum-sheet p.f b{font-weight:600}
.arboretum-sheet ul{margin:.3em 0;padding-left:1.3em}
.arboretum-sheet .wide{overflow-x:auto}
.arboretum-sheet .part{border-left:2px solid #8884;padding-left:.8em;margin-top:.8em}
</style>"""


# ---------------------------------------------------------------------- words for numbers
def number(value: Any, digits: int = 6, behind: int = 2) -> str:
    """Write a number short, and as good as exact: large ones keep two digits behind the point.

    >>> number(0.1 + 0.2), number(3.0), number(1234567.25), number(np.float64(1e-9)), number(None)
    ('0.3', '3', '1234567.25', '1e-09', '')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        v = float(value)
        if v == 0:
            return "0"
        if math.isinf(v):
            return "∞" if v > 0 else "-∞"
        before = len(str(int(abs(v)))) if 1 <= abs(v) < 1e12 else 0
        return f"{v:.{max(digits, before + behind)}g}"
    if isinstance(value, list | tuple | np.ndarray):
        return ", ".join(number(one, digits, behind) for one in value)
    return str(value)


def signed(value: float, digits: int = 6) -> str:
    """Write a number to stand behind an operator: negative ones in brackets.

    >>> signed(-2.5), signed(1.0)
    ('(-2.5)', '1')
    """
    text = number(value, digits)
    return f"({text})" if text.startswith("-") else text


def _cell(value: Any, digits: int = _DIGITS) -> str:
    text = number(value, digits, 0)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _is_numeric(table: SheetTable, place: int) -> bool:
    cells = [row[place] for row in table.rows if row[place] is not None and row[place] != ""]
    return bool(cells) and all(_is_number(cell) for cell in cells)


def _sentence(formula: Formula) -> tuple[str, str]:
    """Return the name of a formula and what stands behind it."""
    steps = [step for step in (formula.rule, formula.numbers, number(formula.value)) if step]
    return formula.name, " = ".join(dict.fromkeys(steps))


def _clean(text: str) -> str:
    return _CONTROL.sub(" ", text)


# ---------------------------------------------------------------------- terminal
def as_text(sheet: Sheet, width: int = 80) -> str:
    """Return the sheet as plain lines of at most ``width`` characters."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(as_rich(sheet))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def as_rich(sheet: Sheet, level: int = 0) -> Any:
    """Return the sheet as rich prints it."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    lines: list[Any] = [Text(_clean(sheet.title), style="bold green" if level == 0 else "bold")]
    if sheet.facts:
        lines.append(_facts(sheet.facts))
    if sheet.formulas:
        lines += [Text(""), *(_formula(one) for one in sheet.formulas)]
    for table in sheet.tables:
        lines += [Text(""), Text(_clean(table.title), style="bold"), _Laid(table)]
    if sheet.notes:
        lines.append(Text(""))
        lines += [_note(note) for note in sheet.notes]
    for part in sheet.parts:
        lines += [Text(""), Padding(as_rich(part, level + 1), (0, 0, 0, 2))]
    return Group(*lines)


def _facts(facts: dict[str, Any]) -> Any:
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts.items():
        grid.add_row(Text(_clean(name)), Text(_clean(number(value))))
    return grid


def _formula(formula: Formula) -> Any:
    from rich.table import Table as Grid
    from rich.text import Text

    name, rest = _sentence(formula)
    grid = Grid.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(_clean(name), style="magenta"), Text(f"= {_clean(rest)}"))
    return grid


def _note(note: str) -> Any:
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    grid.add_row(Text("·"), Text(_clean(note)))
    return grid


class _Laid:
    """A table as wide as the screen allows: numbers keep their width, words are wrapped.

    Where it is too narrow even so, columns are left out that the table can do without, and named below it.
    """

    def __init__(self, table: SheetTable) -> None:
        self.table = table

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich import box
        from rich.table import Table as Grid
        from rich.text import Text

        table, marked = self.table, bool(self.table.marked)
        columns, gone = _chosen_columns(table, room := options.max_width - (3 if marked else 0))
        grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
        if marked:
            grid.add_column("", width=1, style="green")
        for one, width in zip(columns, _widths(columns, room)):
            side: Any = "right" if one.numeric else "left"
            grid.add_column(Text(one.name), justify=side, width=width, overflow="fold")
        for i in range(min(len(table.rows), table.shown)):
            mark = [Text("►" if i in table.marked else "")] if marked else []
            style = "bold" if i in table.marked else ""
            grid.add_row(*mark, *(Text(one.cells[i]) for one in columns), style=style)
        yield grid
        if len(table.rows) > table.shown:
            yield Text(f"… and {len(table.rows) - table.shown:,} more")
        if gone:
            yield Text(f"(a wider screen has: {', '.join(gone)})", style="dim")


class _Printed:
    """A column as it is printed: its cells, and the widths it can live with.

    Numbers are never broken, and words only between each other, unless a single one is very long.
    """

    def __init__(self, table: SheetTable, place: int, digits: int = _DIGITS) -> None:
        self.name = _clean(table.header[place])
        self.numeric = _is_numeric(table, place)
        self.cells = [_clean(_cell(row[place], digits)) for row in table.rows[: table.shown]]
        head = max((len(part) for part in self.name.split()), default=1)
        words = [len(part) for cell in self.cells for part in cell.split()]
        self.natural = max([head, *map(len, self.cells)])
        self.least = (
            self.natural if self.numeric else max([head, min(max([0, *words]), _LONG_WORD)])
        )
        self.easy = max(self.least, min(self.natural, _NARROW))


def _chosen_columns(table: SheetTable, room: int) -> tuple[list[_Printed], list[str]]:
    """Return the columns that have room, and the names of those left out; numbers lose digits at last."""
    columns = [_Printed(table, place) for place in range(len(table.header))]
    gone: list[str] = []
    for name in table.optional:
        if _together(one.easy for one in columns) <= room:
            break
        pair = (name, name.replace(" left", " right"))  # half of it would say little
        gone += [one.name for one in columns if one.name in pair]
        columns = [one for one in columns if one.name not in pair]
    for digits in (4, 3):
        if _together(one.least for one in columns) <= room:
            break
        names = {one.name for one in columns}
        places = [k for k, name in enumerate(table.header) if _clean(name) in names]
        columns = [_Printed(table, place, digits) for place in places]
    return columns, gone


def _together(widths: Iterable[int]) -> int:
    every = list(widths)
    return sum(every) + 2 * (len(every) - 1)


def _widths(columns: list[_Printed], room: int) -> list[int]:
    """Return how wide columns are; what is left goes to the words, then to headers in one line."""
    widths = [one.least for one in columns]
    spare = room - _together(widths)
    for wanted in (
        [one.easy for one in columns],
        [one.natural for one in columns],
        [max(one.natural, len(one.name)) for one in columns],
    ):
        short = sorted(
            (want - width, i) for i, (want, width) in enumerate(zip(wanted, widths)) if want > width
        )
        for k, (more, i) in enumerate(short):
            given = max(min(more, spare // (len(short) - k)), 0)
            if wanted[i] > columns[i].natural and given < more:
                continue  # half a header more is no use
            widths[i] += given
            spare -= given
    return widths


# ---------------------------------------------------------------------- HTML
def as_html(sheet: Sheet) -> str:
    """Return the sheet as HTML; everything that comes from a table is escaped."""
    return f"{_STYLE}<div class='arboretum-sheet'>{_html(sheet)}</div>"


def _html(sheet: Sheet) -> str:
    parts = [f"<h3>{escape(sheet.title)}</h3>"]
    if sheet.facts:
        facts = "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(number(value))}</dd>"
            for name, value in sheet.facts.items()
        )
        parts.append(f"<dl>{facts}</dl>")
    for formula in sheet.formulas:
        name, rest = _sentence(formula)
        parts.append(f"<p class='f'><b>{escape(name)}</b> = {escape(rest)}</p>")
    parts += [_html_table(table) for table in sheet.tables]
    if sheet.notes:
        parts.append(f"<ul>{''.join(f'<li>{escape(note)}</li>' for note in sheet.notes)}</ul>")
    parts += [f"<div class='part'>{_html(part)}</div>" for part in sheet.parts]
    return "".join(parts)


def _html_table(table: SheetTable) -> str:
    numeric = [_is_numeric(table, place) for place in range(len(table.header))]
    head = "".join(
        f"<th{_right(right)}>{escape(name)}</th>" for name, right in zip(table.header, numeric)
    )
    lines = []
    for i, row in enumerate(table.rows[: table.shown]):
        cells = "".join(
            f"<td{_right(right)}>{escape(_cell(cell))}</td>" for cell, right in zip(row, numeric)
        )
        lines.append(f"<tr{' class=m' if i in table.marked else ''}>{cells}</tr>")
    more = len(table.rows) - table.shown
    if more > 0:
        lines.append(f"<tr><td colspan={len(table.header)}>… and {more:,} more</td></tr>")
    return (
        f"<h4>{escape(table.title)}</h4><div class='wide'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _right(numeric: bool) -> str:
    return " class=n" if numeric else ""
