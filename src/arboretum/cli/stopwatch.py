"""How long the work of a command takes, and how much of that is compiling.

Kernels are compiled once per machine; the time that is reported excludes it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from arboretum.cli.screen import plural, print_note, stage

__all__ = ["Stopwatch", "working"]


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
