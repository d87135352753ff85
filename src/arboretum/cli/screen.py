"""Output to the screen: facts, tables, notes and progress.

Cells are plain text, never markup: a column may be named ``[red]``. Tables go to stdout. Notes go to
stderr, and so does the progress of a stage: on a terminal a bar with counts and the time that is
left, or a spinner if nothing can be counted; elsewhere a line for every stage that takes longer than a
few seconds, and now and then its progress. Compiling is not part of the time (base/progress.py).

`working` measures how long the work of a command takes. Kernels are compiled once per machine; their
seconds are reported separately.
"""

from __future__ import annotations

import math
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from arboretum.base.progress import Pace, duration, time_left_column
from arboretum.base.rounds import listening

__all__ = [
    "Stopwatch",
    "file_size",
    "fits_screen",
    "heading",
    "number",
    "plain",
    "plural",
    "print_facts",
    "print_note",
    "print_sheet",
    "print_table",
    "print_text",
    "stage",
    "working",
]


_CONTROL = re.compile(
    r"[\x00-\x08\x0a-\x1f\x7f-\x9f]"
)  # includes the first byte of terminal commands
_PATIENCE = 5.0  # seconds after which a stage is named where there is no terminal
_BETWEEN = 10.0  # seconds of work between two lines on progress
_NAME_WIDTH = 24  # letters of a table's first column that are kept in one line
_LEAST_WIDTH = 12  # of a column that is cut off


def _console(**options: Any) -> Any:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, **options)


def plain(text: str) -> str:
    """Return text of a table or a model file without characters that control a terminal.

    >>> plain("a\\x1b[2Jb")
    'a [2Jb'
    """
    return _CONTROL.sub(" ", text)


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print names and their values, side by side."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in facts:
        grid.add_row(Text(plain(name)), Text(plain(text)))
    _console().print(grid)


def print_text(text: str) -> None:
    """Print a paragraph, wrapped at the edge of the screen."""
    _console().print(plain(text))


def print_table(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[int] = (),
    cut: int | None = None,
) -> None:
    """Print a table under its title, not wider than the screen.

    Numbers are never wrapped: the columns in ``right`` are right-aligned and keep their width, others
    wrap. With ``cut``, only that column shrinks: each row has one line, cut off at the edge of the screen.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console, table = _console(), Table(box=box.SIMPLE_HEAD)
    right, rows = set(right), [[plain(cell) for cell in row] for row in rows]
    widths = _column_widths(header, rows)
    for i, name in enumerate(header):
        is_fixed = i in right or (cut is not None and 0 < i != cut)
        table.add_column(
            Text(plain(name)),
            justify="right" if i in right else "left",
            overflow="ellipsis" if i == cut else "fold",
            no_wrap=i == cut or is_fixed,
            min_width=widths[i] if i == 0 or is_fixed else None,
            max_width=widths[0] if i == 0 else None,
            width=_room(console.width, widths, cut) if i == cut else None,
        )
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(Text(title, style="bold"), soft_wrap=True)
    console.print(table)


def fits_screen(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bool:
    """Return True if a table can be printed without wrapping or cutting a cell."""
    widths = _column_widths(header, list(rows), longest=None)
    return _table_width(widths) <= _console().width


def _column_widths(
    header: Sequence[str], rows: Sequence[Sequence[str]], longest: int | None = _NAME_WIDTH
) -> list[int]:
    """Return the width of every column; that of the first, with the names, is at most ``longest``."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, cells)) for cells in zip(header, *rows)]
    return widths if longest is None else [min(widths[0], longest), *widths[1:]]


def _table_width(widths: Sequence[int]) -> int:
    return sum(widths) + 3 * len(widths) + 1  # blanks around cells, and the lines between them


def _room(screen: int, widths: Sequence[int], cut: int) -> int:
    """Return the width left for a column beside all others."""
    others = [width for i, width in enumerate(widths) if i != cut]
    return max(min(widths[cut], screen - _table_width([*others, 0])), _LEAST_WIDTH)


def print_sheet(sheet: Any) -> None:
    """Print a sheet of a worksheet, and an empty line after it."""
    console = _console()
    console.print(sheet)
    console.print()


def heading(text: str) -> None:
    """Print a line that stands out."""
    from rich.text import Text

    _console(soft_wrap=True).print(Text(text, style="bold green"))


def print_note(text: str) -> None:
    """Write a note to stderr, in one line."""
    print(f"note: {text}", file=sys.stderr)


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Show that a stage is running, and its progress."""
    shown: _Bar | _Lines = _Bar(what) if sys.stderr.isatty() else _Lines(what)
    with shown, listening(shown.update):
        yield


class _Bar:
    """A spinner on a terminal, which becomes a bar as soon as there is something to count."""

    def __init__(self, what: str) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
        from rich.table import Column

        counts = TextColumn("{task.fields[counts]}")
        what_column = TextColumn("{task.description}", table_column=Column())  # gives way
        columns = SpinnerColumn(), what_column, BarColumn(20), counts
        left = time_left_column()
        self.bar = Progress(*columns, left, console=_console(stderr=True), transient=True)
        self.what = what
        self.tasks: dict[str, Any] = {}
        self.paces: dict[str, Pace] = {}

    def __enter__(self) -> _Bar:
        self.bar.start()
        self.tasks[""] = self.bar.add_task(f"{self.what} …", total=None, counts="")
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def update(self, who: str, done: int, wanted: int) -> None:
        if who not in self.tasks or done == 0:
            self.bar.remove_task(self.tasks.pop(who)) if who in self.tasks else None
            self.paces[who] = pace = Pace()
            self.bar.update(self.tasks[""], is_silent=True) if "" in self.tasks else None
            self.tasks[who] = self.bar.add_task(who, total=wanted, counts="", pace=pace)
        self.paces[who].note(done)
        counts = f"{done:,} of {wanted:,}"
        self.bar.update(self.tasks[who], completed=done, counts=counts)


class _Lines:
    """Lines where there is no terminal: one for a long stage, and its progress from time to time."""

    def __init__(self, what: str) -> None:
        self.what, self.begun = what, False
        self.timer = threading.Timer(_PATIENCE, self._begin)
        self.timer.daemon = True
        self.work = Pace()
        self.last = 0.0  # seconds of work at the last line
        self.paces: dict[str, Pace] = {}

    def __enter__(self) -> _Lines:
        self.timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()

    def _begin(self) -> None:
        if not self.begun:
            self.begun = True
            print_note(f"{self.what} …")

    def update(self, who: str, done: int, wanted: int) -> None:
        if done == 0 or who not in self.paces:
            self.paces[who] = Pace()
        pace = self.paces[who]
        pace.note(done)
        if self.work.seconds - self.last >= _BETWEEN and 0 < done < wanted:
            self._begin()
            left = pace.left(wanted)
            rest = "" if left is None else f", about {duration(left)} left"
            print_note(f"{who}: {done:,} of {wanted:,}{rest}")
            self.last = self.work.seconds


def number(value: float, digits: int = 4) -> str:
    """Write a score or a share.

    >>> number(0.87654321), number(1234567.0), number(0.0000123456), number(2.2e-16)
    ('0.8765', '1,234,567', '0.00001235', '0.0000')
    """
    if value != value:
        return "undefined"
    if 1e-3 <= abs(value) < 1000 or abs(value) < 1e-12:
        return f"{value:.{digits}f}"
    if 1e-6 <= abs(value) < 1e-3:
        return f"{value:.{digits - 1 - math.floor(math.log10(abs(value)))}f}"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.{digits}g}"


def plural(count: int, what: str, several: str | None = None) -> str:
    """Write a count with its noun.

    >>> plural(1, "row"), plural(12000, "row"), plural(2, "leaf", "leaves")
    ('1 row', '12,000 rows', '2 leaves')
    """
    return f"{count:,} {what if count == 1 else several or what + 's'}"


def file_size(n_bytes: int) -> str:
    """Write the size of a file.

    >>> file_size(900), file_size(12_345), file_size(7_000_000)
    ('900 bytes', '12 kB', '7.0 MB')
    """
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1e3:.0f} kB" if n_bytes < 1e6 else f"{n_bytes / 1e6:.1f} MB"


# ---------------------------------------------------------------------- seconds
class Stopwatch:
    """Seconds of work without compiling, and the kernels compiled."""

    def __init__(self) -> None:
        self.seconds, self.compile_seconds, self.n_compiled = 0.0, 0.0, 0

    def facts(self) -> list[tuple[str, str]]:
        """Return the lines of a report: the time, and what was compiled if anything was.

        >>> Stopwatch().facts()
        [('time', '0.00 s')]
        """
        found = [("time", f"{self.seconds:.2f} s")]
        if self.n_compiled:
            what = f"{plural(self.n_compiled, 'kernel')} in {self.compile_seconds:.1f} s"
            found.append(("compiled", f"{what}, once per machine"))
        return found


def _note(line: str | None) -> None:
    if line is not None:
        _note_once(line)


@cache
def _note_once(line: str) -> None:
    print_note(line)


@contextmanager
def working(what: str) -> Iterator[Stopwatch]:
    """Show progress, and that kernels are compiled if that takes long; measure the time."""
    from arboretum.engine.compiler.cache import compiled

    watch = Stopwatch()
    n_before, seconds_before = compiled.n_kernels, compiled.seconds
    with stage(what):
        compiled.show = _note  # above the bar, if there is one
        start = time.perf_counter()
        try:
            yield watch
        finally:
            compiled.show = None
            watch.compile_seconds = compiled.seconds - seconds_before
            watch.n_compiled = compiled.n_kernels - n_before
            watch.seconds = time.perf_counter() - start - watch.compile_seconds
