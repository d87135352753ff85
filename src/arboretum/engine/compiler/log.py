"""What this process has compiled, how long that took, and the line that is shown.

Users who wait for a first fit should see why. When compiling has taken two seconds in all, one line
is shown, once per process: on a terminal with a sign of life while it goes on, elsewhere as a warning of
the logger ``arboretum``. It is silent where a UserWarning of that text would be filtered out, and inside
`quiet`.

    compile  ▇▇▇▇▇▇  ▇▇▇  ▇▇▇▇▇▇▇▇▇▇▇▇      outermost kernels; what they call is compiled inside them
    seconds  0    1    2    ↑ the line
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from arboretum.engine.compiler.private import listen

__all__ = ["CompileLog", "Compiled", "compiled", "quiet"]

PATIENCE = 2.0  # seconds
LINE = "compiling kernels for the first time, once per machine …"


class Compiled(NamedTuple):
    """A function that was compiled."""

    kernel: str  # module:function
    types: tuple
    is_outermost: bool  # called by Python, not by a kernel that was being compiled


class CompileLog:
    """What was compiled, in which time; Numba compiles under one lock.

    Attributes
    ----------
    functions : list of Compiled
        What was compiled, in that order.
    seconds : float
        How long that took.
    show : callable or None
        Called with the line, in place of the screen, for every kernel that takes long, and with None
        when it is done.
    """

    def __init__(self) -> None:
        self.functions: list[Compiled] = []
        self.seconds = 0.0
        self.show: Callable[[str | None], None] | None = None
        self._depth = 0
        self._began = 0.0
        self._was_shown = False
        self._is_quiet = False
        self._timer: threading.Timer | None = None
        self._status: Any = None

    @property
    def n_kernels(self) -> int:
        """Return how many kernels were compiled, what they call not counted."""
        return sum(one.is_outermost for one in self.functions)

    @property
    def running(self) -> float:
        """Return for how many seconds something has been compiled; 0: nothing is."""
        return time.perf_counter() - self._began if self._depth else 0.0

    @property
    def seconds_so_far(self) -> float:
        """Return ``seconds`` and those of what is being compiled now."""
        return self.seconds + self.running

    def begin(self, function: Any) -> None:
        """Note that a function is being compiled; log the line if this takes too long."""
        if _is_ours(function):
            self._begin()

    def end(self, function: Any, types: tuple) -> None:
        """Write down what was compiled."""
        if _is_ours(function):
            name = f"{function.__module__}:{function.__qualname__}"
            self.functions.append(Compiled(name, types, self._depth == 1))
            self._end()

    def _begin(self) -> None:
        self._depth += 1
        if self._depth > 1:
            return
        self._began = time.perf_counter()
        self._timer = threading.Timer(max(PATIENCE - self.seconds, 0.0), self._show_line)
        self._timer.daemon = True
        self._timer.start()

    def _end(self) -> None:
        if self._depth == 1:
            now = time.perf_counter()
            self.seconds += now - self._began
            self._began = now  # so that `seconds_so_far` counts no second twice
        self._depth -= 1
        if self._depth == 0:
            self._timer.cancel()
            self._rest()

    # ------------------------------------------------------------------ the line
    def _show_line(self) -> None:
        if self._is_quiet or _is_ignored():
            return
        is_first, self._was_shown = not self._was_shown, True
        if self.show is not None:
            self.show(LINE)
        elif _is_bare_terminal(sys.stderr):
            self._show_status()
        elif is_first:
            logging.getLogger("arboretum").warning(LINE)

    def _show_status(self) -> None:
        from rich.console import Console

        status = Console(stderr=True).status(f"{LINE} {self.seconds:.0f} s so far")
        status.start()
        self._status = status
        if self._depth == 0:  # it was done meanwhile
            self._rest()

    def _rest(self) -> None:
        status, self._status = self._status, None
        if status is not None:
            status.stop()
        if self.show is not None and self._was_shown:
            self.show(None)


def _is_ours(function: Any) -> bool:
    return (function.__module__ or "").startswith("arboretum.")  # None of what `exec` has made


def _is_ignored() -> bool:
    """Return whether warnings of this kind are filtered out; an "error" must not end a fit."""
    for action, message, category, _, _ in warnings.filters:
        if issubclass(UserWarning, category) and (message is None or message.match(LINE)):
            return action == "ignore"
    return False


def _is_bare_terminal(stream: Any) -> bool:
    """Return whether nothing else, like the bar of a fit, moves on the terminal."""
    return stream is not None and stream.isatty() and "rich" not in type(stream).__module__


@contextmanager
def quiet(wanted: bool = True) -> Iterator[None]:
    """Show no line in here: for models that are set to be silent.

    >>> with quiet():
    ...     pass
    """
    before = compiled._is_quiet
    compiled._is_quiet = before or wanted
    try:
        yield
    finally:
        compiled._is_quiet = before


compiled = CompileLog()
listen(compiled.begin, compiled.end)
