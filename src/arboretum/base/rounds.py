"""Rounds one after another: a bar, an early end, and Ctrl-C.

Ctrl-C ends a fit between two rounds. The finished rounds stay on the estimator, then the interrupt goes
on, so that the caller of `fit` (a cross-validation, a stack, a script) ends too:

    fit ── round ── round ── round ─╳ Ctrl-C
                                    ├─► the estimator has three rounds: interrupted_, predict, save
                                    └─► KeyboardInterrupt, or with on_interrupt = "keep" a warning

At the prompt the estimator can be used with its finished rounds; no caller mistakes it for a whole model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from arboretum.base.progress import Pace, time_left_column
from arboretum.data.checks import warn_caller
from arboretum.errors import ModelFileError, ParameterError

if TYPE_CHECKING:
    from arboretum.base.estimator import Estimator

    class _AnyEstimator(Estimator): ...

else:
    _AnyEstimator = object

__all__ = [
    "Interrupted",
    "Interruptible",
    "RunningRounds",
    "is_listened_to",
    "listening",
    "progress",
    "run_rounds",
]

Listener = Callable[[str, int, int], None]  # name of the estimator, rounds done, rounds wanted
_listener: Listener | None = None

_WAYS = ("raise", "keep")


class Interrupted(NamedTuple):
    """How far a fit got before Ctrl-C.

    >>> print(Interrupted(85, 1500, "round"))
    the 85 rounds that were finished, of 1500
    """

    done: int
    wanted: int
    what: str = "round"

    def __str__(self) -> str:
        return f"the {self.done} {self.what}s that were finished, of {self.wanted}"


class RunningRounds:
    """The rounds of one fit, inside `run_rounds`."""

    interrupted: Interrupted | None = None

    def __init__(self, numbers: range, on_progress: Callable[[int], None] | None) -> None:
        self._numbers, self._on_progress = numbers, on_progress

    def finished(self, number: int) -> None:
        """Report that all rounds below ``number`` are finished and kept."""
        if self._on_progress is not None:
            self._on_progress(number - self._numbers.start)


@contextmanager
def run_rounds(
    numbers: range,
    kept: Callable[[], int],
    *,
    name: str,
    what: str = "round",
    bar: bool = False,
) -> Iterator[RunningRounds]:
    """Show the progress of the rounds made in this context; Ctrl-C ends it, if a round is kept.

    Parameters
    ----------
    numbers : range
        The requested rounds.
    kept : callable
        Returns how many rounds are kept. If there are none, an interrupt goes on at once.
    name : str
        Name of the estimator.
    what : str
        What a round makes, for messages.
    bar : bool
        Show a bar.

    Yields
    ------
    RunningRounds
        Its ``interrupted`` is set if Ctrl-C ended the context.

    Examples
    --------
    >>> squares = []
    >>> with run_rounds(range(5), lambda: len(squares), name="Model") as rounds:
    ...     for number in range(5):
    ...         squares.append(number**2)
    ...         rounds.finished(number + 1)
    ...         if squares[-1] > 3:
    ...             raise KeyboardInterrupt
    >>> squares, str(rounds.interrupted)
    ([0, 1, 4], 'the 3 rounds that were finished, of 5')
    """
    with progress(len(numbers), bar, name) as on_progress:
        rounds = RunningRounds(numbers, on_progress)
        try:
            yield rounds
        except KeyboardInterrupt:
            if not kept():
                raise
            rounds.interrupted = Interrupted(kept(), numbers.stop, what)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report the progress of every fit in this context to ``listener``; no bars are shown.

    >>> with listening(lambda name, done, wanted: print(name, done, "of", wanted)):
    ...     with progress(2, False, "Model") as on_progress:
    ...         on_progress(1)
    Model 0 of 2
    Model 1 of 2
    """
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def is_listened_to() -> bool:
    """Return True if a listener wants to be called every few rounds."""
    return _listener is not None


@contextmanager
def progress(
    n: int, shown: bool, what: str, doing: str = "growing trees"
) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar or notify a listener.

    Yields a callback taking the number of finished trees, or None if there is neither.

    >>> with progress(10, False, "RandomForestClassifier") as on_progress:
    ...     print(on_progress)
    None
    """
    if n and _listener is not None:
        listener = _listener
        listener(what, 0, n)
        yield lambda done: listener(what, done, n)
        return
    if not shown or n == 0:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress

    with Progress(f"{what}: {doing}", BarColumn(), MofNCompleteColumn(), time_left_column()) as bar:
        pace = Pace()
        task = bar.add_task("", total=n, pace=pace)

        def on_progress(done: int) -> None:
            pace.note(done)
            bar.update(task, completed=done)

        yield on_progress


class Interruptible(_AnyEstimator):
    """An estimator that is fitted in rounds, and keeps those that are finished.

    ``on_interrupt`` is no parameter: copies do not have it, so copies that a cross-validation or a bag fits
    are always interrupted.
    """

    interrupted_: Interrupted | None = None
    _attributes_of_rounds: ClassVar = {
        "interrupted_ : Interrupted or None": "How far the fit got if Ctrl-C ended it: (done, wanted, what).",
        'on_interrupt : {"raise", "keep"}': "What `fit` does on Ctrl-C, once the finished rounds are kept: "
        "raise KeyboardInterrupt, or warn and return. Set it on the estimator; copies do not have it.",
    }

    @property
    def on_interrupt(self) -> str:
        """What happens after Ctrl-C, when the finished rounds are kept: "raise" or "keep"."""
        return self.__dict__.get("_on_interrupt", "raise")

    @on_interrupt.setter
    def on_interrupt(self, way: str) -> None:
        if way not in _WAYS:
            raise ParameterError(f"on_interrupt must be one of {_WAYS}, got {way!r}")
        self._on_interrupt = way

    def _end_fit(self, interrupted: Interrupted | None) -> Self:
        """End a fit whose finished rounds are kept: return the estimator, or raise the interrupt again."""
        if interrupted is None:
            self.__dict__.pop("interrupted_", None)
            return self
        self.interrupted_ = interrupted
        text = f"{type(self).__name__} was interrupted: it has {interrupted}"
        if self.on_interrupt == "raise":
            raise KeyboardInterrupt(text)
        warn_caller(text)
        return self

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        state = super()._get_fitted_state()
        if self.interrupted_ is not None:  # complete models need no such entry
            state["interrupted"] = list(self.interrupted_)
        return state

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        stored = state.get("interrupted")
        if stored is None:
            return
        good = isinstance(stored, list) and list(map(type, stored)) == [int, int, str]
        if not good or stored[2] not in ("round", "step", "tree", "estimator", "member"):
            raise ModelFileError("it lacks how far its fit got")
        self.interrupted_ = Interrupted(*stored)
