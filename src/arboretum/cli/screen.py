"""What stands on the screen: facts, tables, notes and a spinner.

Cells are plain text, never markup: a column may be called ``[red]``. Tables go to stdout; notes and
the spinner go to stderr, the spinner only if that is a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

__all__ = [
    "file_size",
    "heading",
    "number",
    "plural",
    "print_facts",
    "print_table",
    "spinner",
    "tell",
]


def _console(**options: Any) -> Any:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, **options)


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Print names and what belongs to them, side by side."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in facts:
        grid.add_row(Text(name), Text(text))
    _console().print(grid)


def print_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = ()
) -> None:
    """Print a table under its title; the columns numbered in ``right`` are set to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    right = set(right)
    for i, name in enumerate(header):
        table.add_column(Text(name), justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console = _console()
    console.print(Text(title, style="bold"), soft_wrap=True)
    console.print(table)


def heading(text: str) -> None:
    """Print a line that stands out."""
    from rich.text import Text

    _console(soft_wrap=True).print(Text(text, style="bold green"))


def tell(text: str) -> None:
    """Write a note to stderr, in one line."""
    print(f"note: {text}", file=sys.stderr)


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """Show that something is going on, if there is somebody to see it."""
    if not sys.stderr.isatty():
        yield
        return
    with _console(stderr=True).status(f"{what} …"):
        yield


def number(value: float, digits: int = 4) -> str:
    """Write a score or a share.

    >>> number(0.87654321), number(1234567.0), number(0.0000123456)
    ('0.8765', '1.235e+06', '1.235e-05')
    """
    if value != value:
        return "undefined"
    if 1e-3 <= abs(value) < 1000 or value == 0:
        return f"{value:.{digits}f}"
    return f"{value:.{digits}g}"


def plural(count: int, what: str, several: str | None = None) -> str:
    """Count things.

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
