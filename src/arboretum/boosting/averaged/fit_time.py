"""The time of a fit: how much of it trials may take, and whether the next member still fits in.

    time_limit   ├──── trials, at most 40 % ────┼──── members ────┤
                   each trial its equal share      the first always, another if it should end in time

Seconds spent on compiling kernels, which happens once per machine, do not count.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from arboretum.base.progress import Pace

__all__ = ["FitTime"]

_FOR_TRIALS = 0.4


class FitTime:
    """The seconds of a fit.

    Parameters
    ----------
    limit : float or None
        None: no limit.

    Examples
    --------
    >>> time = FitTime(None)
    >>> time.trial_is_over(0.0, 0, 5), time.is_over(), time.allows(1e9)
    (False, False, True)
    >>> time.halt()
    >>> time.is_over()
    True
    """

    def __init__(self, limit: float | None) -> None:
        self._pace, self._halted = Pace(), threading.Event()
        self.limit = math.inf if limit is None else float(limit)

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self.limit < math.inf

    def halt(self) -> None:
        """End all work after the round under way: another thread failed, or Ctrl-C."""
        self._halted.set()

    @contextmanager
    def halted_by_errors(self) -> Iterator[None]:
        """Halt if this context ends with an error or Ctrl-C."""
        try:
            yield
        except BaseException:
            self.halt()
            raise

    def share_is_over(self, share: float, began: float, turn: int, turns: int) -> bool:
        """Return True if the work of a turn has had its part of a share of the time.

        ``began`` is the second at which the first turn began, `seconds` then.
        """
        end = began + max(self.limit * share - began, 0.0) * (turn + 1) / turns
        return self._halted.is_set() or self._pace.seconds >= end

    def trial_is_over(self, began: float, turn: int, turns: int) -> bool:
        """Return True if the trials of a turn have had their share of the time."""
        return self.share_is_over(_FOR_TRIALS, began, turn, turns)

    def is_over(self) -> bool:
        """Return True if the time is over."""
        return self._halted.is_set() or self._pace.seconds >= self.limit

    def allows(self, seconds: float) -> bool:
        """Return True if work of this length should end in time."""
        return not self._halted.is_set() and self._pace.seconds + seconds <= self.limit

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return self._pace.seconds
