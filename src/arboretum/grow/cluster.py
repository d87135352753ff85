"""Objects on workers: start one, call a method of all, keep deaths and errors apart, start one again.

    place(Shard, arguments)     an object per tuple of arguments, each on some worker
    call("split", orders)       the replies of all, in the order of the objects
       │  an object raises      its own error is raised here, with a note of the worker
       ╰  a worker dies         `Lost`: which objects, and the replies of the others
    renew(lost.which)           the lost objects anew, with the arguments they were made with

This is all that fits on several machines need. An engine subclasses `Cluster` and overrides how one object
is started and how a call is sent and its reply received; `InProcess` is the cluster of this process, used for
tests and for blocks on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, Self

__all__ = ["Cluster", "Died", "InProcess", "Lost", "Worker"]


class Died(Exception):
    """Raised by an engine's `start`, `send` and `receive`: the object does not exist any more."""


class Lost(Exception):
    """Some objects do not exist any more.

    Attributes
    ----------
    which : list of int
        Their numbers.
    name : str
        The method that was called.
    replies : dict
        The replies of the others, by number.
    """

    def __init__(self, which: list[int], name: str, replies: dict[int, Any]) -> None:
        super().__init__(f"{name}: the workers of {which} were lost")
        self.which, self.name, self.replies = which, name, replies


class Worker(NamedTuple):
    """A worker as error messages show it."""

    name: str
    memory: int | None = None  # bytes; None: not known
    threads: int = 1


class Cluster:
    """Objects on workers, numbered from 0.

    Examples
    --------
    >>> from collections import Counter
    >>> cluster = InProcess().place(Counter, [("abca",), ("bb",)])
    >>> cluster.call("most_common", 1), cluster.call_some([1], "total")
    ([[('a', 2)], [('b', 2)]], [2])
    """

    maker: Callable[..., Any]
    arguments: list[tuple[Any, ...]]
    objects: list[Any]
    names: list[str]

    # ------------------------------------------------------------------ what an engine overrides
    def start(self, i: int, maker: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Begin to make object ``i``; return a handle, at once where the engine allows it."""
        raise NotImplementedError

    def send(self, i: int, handle: Any, name: str, arguments: tuple[Any, ...]) -> Any:
        """Begin to call a method; return what `receive` takes. Raise `Died` if the object is gone."""
        raise NotImplementedError

    def receive(self, i: int, sent: Any) -> Any:
        """Return the reply. Raise `Died` if the object is gone, or the error that the method raised."""
        raise NotImplementedError

    def stop(self, handle: Any) -> None:
        """Let go of an object."""

    def where(self, i: int) -> str:
        """Return the worker of object ``i``, for messages."""
        return "this process"

    def workers(self) -> list[Worker]:
        """Return the workers that live."""
        return [Worker("this process")]

    # ------------------------------------------------------------------ what a fit uses
    def place(
        self,
        maker: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        names: Sequence[str] | None = None,
    ) -> Self:
        """Make an object for every tuple of arguments.

        Parameters
        ----------
        maker : class
            At the top of a module, so that workers can import it.
        arguments : list of tuple
        names : list of str, optional
            What the objects hold, for messages: "partitions 0, 4".
        """
        self.maker, self.arguments = maker, list(arguments)
        self.names = (
            [f"object {i}" for i in range(len(arguments))] if names is None else list(names)
        )
        self.objects = [None] * len(self.arguments)
        self.renew(range(len(self.arguments)))
        return self

    def __len__(self) -> int:
        return len(self.objects)

    def renew(self, which: Sequence[int]) -> None:
        """Make some objects anew; the old ones, if they live, are let go."""
        lost = []
        for i in which:
            self._let_go(i)
            try:
                self.objects[i] = self.start(i, self.maker, self.arguments[i])
            except Died:
                lost.append(i)
        if lost:
            raise Lost(lost, "start", {})

    def call(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method of all objects with the same arguments; return the replies."""
        return self.call_some(range(len(self.objects)), name, *arguments)

    def call_some(self, which: Sequence[int], name: str, *arguments: Any) -> list[Any]:
        """`call` for some of the objects, in the order of ``which``."""
        replies = self.call_each(name, dict.fromkeys(which, arguments))
        return [replies[i] for i in which]

    def call_each(self, name: str, arguments: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call a method of objects, each with its own arguments; return the replies by number.

        All calls are sent before the first reply is received, and all replies are received before an error is
        raised. A death is raised before an object's own error: the others may only have seen its consequence.
        """
        pending: dict[int, Any] = {}
        lost: list[int] = []
        replies: dict[int, Any] = {}
        failed: dict[int, Exception] = {}

        def attempt(i: int, into: dict[int, Any], step: Callable[..., Any], *given: Any) -> None:
            try:
                into[i] = step(i, *given)
            except Died:
                lost.append(i)
            except Exception as error:
                failed[i] = error

        for i, own in arguments.items():
            attempt(i, pending, self.send, self.objects[i], name, own)
        for i, sent in pending.items():
            attempt(i, replies, self.receive, sent)
        if lost:
            raise Lost(sorted(lost), name, replies)
        if failed:
            i = min(failed)
            failed[i].add_note(f"raised by {name!r} of {self.names[i]} on {self.where(i)}")
            raise failed[i]
        return replies

    def close(self) -> None:
        """Let go of all objects."""
        for i in range(len(self.objects)):
            self._let_go(i)

    def _let_go(self, i: int) -> None:
        old, self.objects[i] = self.objects[i], None
        if old is not None:
            with suppress(Died):
                self.stop(old)


class InProcess(Cluster):
    """Objects in this process.

    Parameters
    ----------
    threads : int
        How many objects work at the same time.
    """

    def __init__(self, threads: int = 1) -> None:
        self.objects: list[Any] = []
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def start(self, i: int, maker: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return maker(*arguments)

    def send(self, i: int, handle: Any, name: str, arguments: tuple[Any, ...]) -> Any:
        method = getattr(handle, name)
        if self._pool is not None:
            return self._pool.submit(method, *arguments)
        future: Future[Any] = Future()
        try:
            future.set_result(method(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def receive(self, i: int, sent: Any) -> Any:
        return sent.result()

    def close(self) -> None:
        super().close()
        if self._pool is not None:
            self._pool.shutdown()
