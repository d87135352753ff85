"""Progress of long work: how long the rest will take, and lines where there is no terminal.

The first fit on a machine compiles its kernels during its first trees. That happens once, so it predicts
nothing about the trees that are left:

    clock     ├── compiling 30 s ──┼ tree 1 ┼ tree 2 ┼ tree 3 …
    work                           0       .1       .2       .3

The first estimate is made after two seconds of work: before that, the overhead around the first trees
dominates. Without a terminal, long steps and rounds under `verbose` print lines instead of a bar.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from arboretum.engine.compiler.log import CompileLog

__all__ = ["Pace", "ProgressLines", "StepLines", "duration", "time_left_column"]


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


# ---------------------------------------------------------------------- lines
_WAIT = 3.0  # seconds before the first line
_BETWEEN = 5.0  # seconds between lines


class ProgressLines:
    """Prints the score of rounds: of the first ten, then every tenth, every hundredth …

    ``verbose=2`` prints every round, ``verbose=0`` none.

    Examples
    --------
    >>> report = ProgressLines(1, 20, out_of_bag=False)
          Iter       Train Loss   Remaining Time
    >>> report.report(10, 0.5, None)  # doctest: +SKIP
            11           0.5000            0.01s
    """

    def __init__(self, verbose: int, n_rounds: int, *, out_of_bag: bool) -> None:
        self.verbose, self.n_rounds = int(verbose), n_rounds
        self.pace, self.first = Pace(), -1
        names = ["Train Loss", *(["OOB Improve"] if out_of_bag else []), "Remaining Time"]
        print(f"{'Iter':>10}" + "".join(f"{name:>17}" for name in names))

    def report(self, number: int, score: float, improvement: float | None) -> None:
        """Report the round with this number, from 0."""
        self.first = number if self.first < 0 else self.first
        done = number + 1
        step = 10 ** (len(str(done)) - 1) if done >= 10 else 1
        if self.verbose == 1 and done % step:
            return
        each = self.pace.seconds / (done - self.first)  # without compiling
        left = each * (self.n_rounds - done)
        shown = f"{left / 60:.2f}m" if left > 60 else f"{left:.2f}s"
        better = "" if improvement is None else f"{improvement:17.4f}"
        print(f"{done:10d}{score:17.4f}{better}{shown:>17}")


class StepLines:
    """Writes the current step of long work to standard error, every few seconds.

    For scripts and notebooks, where no bar can be drawn. Lines come from a thread of their own, so that
    a single long step shows up too; work of less than three seconds writes nothing.

    Examples
    --------
    >>> with StepLines("report", 2) as lines:
    ...     lines.step(1, "figures")
    ...     lines.step(2, "curves")
    """

    def __init__(self, what: str, n_steps: int) -> None:
        self.what, self.n_steps = what, n_steps
        self._step = ""
        self._began, self._written, self._ended = time.perf_counter(), False, threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._written:
            self._print(f"{self.what}: {duration(time.perf_counter() - self._began)} in all")

    def step(self, number: int, name: str) -> None:
        """Note that a step begins, counted from 1."""
        self._step = f"{name} ({number} of {self.n_steps})"

    def _write(self) -> None:
        wait = _WAIT
        while not self._ended.wait(wait):
            so_far = duration(time.perf_counter() - self._began)
            self._print(f"{self.what}: {self._step}, {so_far} so far")
            self._written, wait = True, _BETWEEN

    def _print(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)
