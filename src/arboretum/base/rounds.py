"""Rounds one after another: a bar, an early end, and Ctrl-C, after which the whole rounds are kept."""

from __future__ import annotations

from collections.abc import Callable

from arboretum.base.progress import progress
from arboretum.data.checks import warn_caller

__all__ = ["run_rounds", "warn_interrupted"]


def run_rounds(
    play: Callable[[int], bool | None],
    numbers: range,
    kept: Callable[[], int],
    *,
    name: str,
    what: str = "round",
    bar: bool = False,
) -> bool:
    """Play rounds until one is the last; return whether Ctrl-C ended them.

    Parameters
    ----------
    play : callable
        Makes the round with a number and keeps it, as its very last act; True ends the rounds.
    numbers : range
    kept : callable
        Returns how many rounds are kept. An interrupt goes on if there are none.
    name : str
        Who plays them.
    what : str
        What is made, for messages.
    bar : bool
        Show a bar.

    Examples
    --------
    >>> rounds = []
    >>> run_rounds(lambda n: rounds.append(n) or n == 2, range(5), lambda: len(rounds), name="Model")
    False
    >>> rounds
    [0, 1, 2]
    """
    with progress(len(numbers), bar, name) as on_progress:
        try:
            for number in numbers:
                is_last = play(number)
                if on_progress is not None:
                    on_progress(number - numbers.start + 1)
                if is_last:
                    break
        except KeyboardInterrupt:
            if not kept():
                raise
            warn_interrupted(name, kept(), numbers.stop, what)
            return True
    return False


def warn_interrupted(name: str, done: int, wanted: int, what: str) -> None:
    """Say that Ctrl-C has left a smaller model than was asked for."""
    warn_caller(
        f"{name} was interrupted: it has the {done} {what}s that were finished, of {wanted}"
    )
