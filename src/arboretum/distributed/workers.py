"""The objects of a fit on a cluster, made again where they are lost.

call(name, …)      a lost object is made again, and the call repeated
change(name, …)    the same for a call that changes the objects: it is remembered
restore(which)     makes objects again and changes them as the others were
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arboretum.errors import WorkerError
from arboretum.grow.cluster import Cluster, Lost

__all__ = ["Workers"]

_LOSSES = 3  # of the same object, after which it is no accident


class Workers:
    """Objects on a cluster.

    Parameters
    ----------
    cluster : Cluster
        Without objects.
    maker, arguments, names
        See `Cluster.place`.
    """

    def __init__(
        self,
        cluster: Cluster,
        maker: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        names: Sequence[str],
    ) -> None:
        self.cluster = cluster
        self._done: list[tuple[str, Mapping[int, tuple[Any, ...]]]] = []
        self._losses = [0] * len(arguments)
        self.recover: Callable[[Lost], None] = self._recover
        try:
            cluster.place(maker, arguments, names)
        except Lost as lost:
            self.recover(lost)

    def __len__(self) -> int:
        return len(self.cluster)

    def call(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method of all objects with the same arguments."""
        return self.call_each(name, [arguments] * len(self))

    def call_each(self, name: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of all objects, each with its own arguments."""
        replies: dict[int, Any] = {}
        while missing := {i: own for i, own in enumerate(arguments) if i not in replies}:
            try:
                replies |= self.cluster.call_each(name, missing)
            except Lost as lost:
                replies |= lost.replies
                self.recover(lost)
        return [replies[i] for i in range(len(arguments))]

    def change(self, name: str, *arguments: Any) -> list[Any]:
        """Change all objects alike."""
        return self.change_each(name, [arguments] * len(self))

    def change_each(self, name: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Change all objects, each with its own arguments."""
        found = self.call_each(name, arguments)
        self._done.append((name, dict(enumerate(arguments))))
        return found

    def _recover(self, lost: Lost) -> None:
        """Make objects again, and those that are lost meanwhile; the third loss of one is an error."""
        which: Sequence[int] = lost.which
        while True:
            for i in which:
                self._losses[i] += 1
                if self._losses[i] == _LOSSES:
                    raise WorkerError(
                        f"{self.cluster.names[i]} were lost {_LOSSES} times, last with "
                        f"{self.cluster.where(i)} (workers have {_memory(self.cluster)}): give workers more "
                        "memory, use more of them, or cut the table into smaller partitions"
                    )
            try:
                self.restore(which)
                return
            except Lost as more:
                which = sorted({*which, *more.which})

    def restore(self, which: Sequence[int]) -> None:
        """Make objects again, as they were; raises `Lost` if one is lost meanwhile."""
        self.cluster.renew(which)
        for name, arguments in self._done:
            self.cluster.call_each(name, {i: arguments[i] for i in which})

    def close(self) -> None:
        """Let go of all objects."""
        self.cluster.close()


def _memory(cluster: Cluster) -> str:
    each = cluster.workers()
    known = [f"{w.name}: {w.memory / 1e9:.1f} GB" for w in each if w.memory is not None]
    return ", ".join(known) or "unknown memory"
