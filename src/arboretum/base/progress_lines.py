"""Lines about long work: rounds of boosting under `verbose`, and steps where there is no terminal."""

from __future__ import annotations

import sys
import threading
import time
from typing import Self

from arboretum.base.progress import Pace, duration

__all__ = ["ProgressLines", "StepLines"]

_PATIENCE = 3.0  # seconds before the first line
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
        wait = _PATIENCE
        while not self._ended.wait(wait):
            so_far = duration(time.perf_counter() - self._began)
            self._print(f"{self.what}: {self._step}, {so_far} so far")
            self._written, wait = True, _BETWEEN

    def _print(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)
