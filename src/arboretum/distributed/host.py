"""The object that an engine keeps on a worker: it holds ours, and separates our errors from its own.

    client ──run("split", orders)──► Host ──► shard.split(orders)
           ◄── True, reply ─────────┤
           ◄── False, error ────────┘   a method that raises is a reply, too

So whatever an engine itself raises for a call means that the object cannot be reached any more.
"""

from __future__ import annotations

import copy
import os
import platform
import traceback
from collections.abc import Callable
from typing import Any

from arboretum.errors import ArboretumError

__all__ = ["Host", "reply_of"]


class Host:
    """An object on a worker.

    Parameters
    ----------
    threads : int
        The threads its methods use where they have the choice.
    maker : callable
        Makes the object.
    *arguments
        Its arguments.
    """

    def __init__(self, threads: int, maker: Callable[..., Any], *arguments: Any) -> None:
        self._threads, self._held = threads, None
        self._made: Callable[[], Any] | None = lambda: maker(*arguments)

    def run(self, name: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
        """Call a method; return True and its reply, or False and its error.

        The object is made by the first call, so that an error of its own is a reply as well.
        """
        import joblib

        try:
            with joblib.parallel_config(n_jobs=self._threads):
                if self._made is not None:
                    self._held = self._made()
                    self._made = None  # and with it the arguments
                return True, getattr(self._held, name)(*arguments)
        except Exception as error:
            return False, _portable(error)

    def ready(self) -> bool:
        """Return True: the worker can be reached."""
        return True


def _portable(error: Exception) -> Exception:
    """Return an error that can be sent, with the traceback of this process as a note."""
    text = "".join(traceback.format_exception(error))
    error.add_note(f"on {platform.node()}, process {os.getpid()}:\n{text}")
    try:
        again = copy.copy(error)
    except Exception:  # it cannot be made from its arguments
        again = ArboretumError(f"{type(error).__name__}: {error}")
        again.__notes__ = error.__notes__
    return again.with_traceback(None)


def reply_of(found: tuple[bool, Any]) -> Any:
    """Return a reply of `Host.run`, or raise the error that it holds."""
    good, value = found
    if good:
        return value
    raise value
