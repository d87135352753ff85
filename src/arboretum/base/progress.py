"""How long the rest of a fit will take, estimated from the time so far without compiling.

The first fit on a machine compiles its kernels during its first trees. That happens once, so it predicts
nothing about the trees that are left:

    clock     ├── compiling 30 s ──┼ tree 1 ┼ tree 2 ┼ tree 3 …
    work                           0       .1       .2       .3

The first estimate is made after two seconds of work: before that, the overhead around the first trees
dominates.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arboretum.engine.compiler.log import CompileLog

__all__ = ["Pace", "duration", "time_left_column"]

_PATIENCE = 2.0  # seconds of work before its pace is judged
_LONG = 0.5  # seconds of compiling before it is mentioned
_LOG = "arboretum.engine.compiler.log"


def _compile_log() -> CompileLog | None:
    """Return the log of compiling; None as long as no compiled module was imported."""
    module = sys.modules.get(_LOG)
    return None if module is None else module.compiled


class Pace:
    """Measures how long pieces of work take.

    Examples
    --------
    >>> pace = Pace()
    >>> pace.note(3)
    >>> print(pace.left(10))  # too early for an estimate
    None
    """

    def __init__(self) -> None:
        self._start = self._clock()
        self._done, self._at = 0, 0.0

    @staticmethod
    def _clock() -> float:
        log = _compile_log()
        return time.perf_counter() - (0.0 if log is None else log.seconds_so_far)

    @property
    def seconds(self) -> float:
        """How long the work has taken."""
        return self._clock() - self._start

    def note(self, done: int) -> None:
        """Note that ``done`` pieces are finished."""
        self._done, self._at = done, self.seconds

    def left(self, wanted: int) -> float | None:
        """Return how many seconds the rest of ``wanted`` pieces will take; None if it is too early."""
        if not self._done or self._at < _PATIENCE:
            return None
        rest = self._at / self._done * (wanted - self._done)
        return max(rest - (self.seconds - self._at), 0.0)


def duration(seconds: float) -> str:
    """Write how long something takes.

    >>> duration(0.4), duration(75), duration(8000)
    ('1 s', '1 min 15 s', '2 h 13 min')
    """
    whole = max(round(seconds), 1)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def describe(pace: Pace | None, wanted: float | None) -> str:
    """Return the text behind a bar: that kernels are compiled, or the estimated time left.

    >>> describe(Pace(), 10)
    ''
    """
    log = _compile_log()
    if log is not None and log.running >= _LONG:
        return "compiling kernels"
    left = None if pace is None or wanted is None else pace.left(int(wanted))
    return "" if left is None else f"about {duration(left)} left"


def time_left_column() -> Any:
    """Return a column of rich's bar that shows `describe` of a task and its field ``pace``.

    A task whose field ``is_silent`` is true has a line below it that shows the same.
    """
    from rich.progress import ProgressColumn
    from rich.table import Column
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        def render(self, task: Any) -> Text:
            if task.finished or task.fields.get("is_silent"):
                return Text("")
            return Text(describe(task.fields.get("pace"), task.total), style="progress.remaining")

    return TimeLeft(table_column=Column(no_wrap=True))
