"""All shards of a table: which rows each holds, calls to all of them, and what to do when one is lost.

rows of the table    0 ──────── 400 ────── 700 ──────── 1000
shard 0              ├──────────┤           ├────────────┤      spans (0, 400), (700, 1000)
shard 1                         ├──────────┤                    spans (400, 700)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import WorkerError
from arboretum.grow.cluster import Cluster, Lost

if TYPE_CHECKING:
    from arboretum.engine.second_order.score import SplitRules

__all__ = ["Shards"]

_MOST_LOSSES = 3  # of the same shard
_ROW_BYTES = 40  # besides codes: entries, derivatives, a leaf
_MB = 1 << 20


class Shards:
    """The shards of a table.

    Parameters
    ----------
    cluster : Cluster
        Its objects derive from `Shard` and hold their codes.
    spans : list of int64 arrays of shape (k, 2)
        The rows of every object: first row and row after the last. Together they are all rows.
    restore : function of a list of int
        Makes lost objects anew, with their codes. If it raises `Lost`, it is called again.
    """

    def __init__(
        self,
        cluster: Cluster,
        spans: Sequence[np.ndarray],
        restore: Callable[[list[int]], Any],
    ) -> None:
        self.cluster, self.restore = cluster, restore
        self.spans = [np.asarray(some, np.int64).reshape(-1, 2) for some in spans]
        self.sizes = [int((some[:, 1] - some[:, 0]).sum()) for some in self.spans]
        self.n_rows = sum(self.sizes)
        self._losses: Counter[int] = Counter()
        self._rules: SplitRules | None = None
        # brings shards that were made again to where the others are; may raise `Lost`
        self.reload: Callable[[list[int]], Any] = _nothing_kept

    def __len__(self) -> int:
        return len(self.spans)

    # ------------------------------------------------------------------ arrays of all rows
    def cut(self, values: np.ndarray) -> list[np.ndarray]:
        """Return, for every shard, the values of its rows."""
        return [_pieces([values[lo:hi] for lo, hi in some], values) for some in self.spans]

    def join(self, parts: Sequence[np.ndarray]) -> np.ndarray:
        """Return the values of all rows from those of every shard."""
        whole = np.empty((self.n_rows, *parts[0].shape[1:]), np.result_type(*parts))
        for some, values in zip(self.spans, parts, strict=True):
            at = 0
            for lo, hi in some:
                whole[lo:hi] = values[at : at + hi - lo]
                at += hi - lo
        return whole

    def pick(self, rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return, for every shard, the places of some rows (int64, ascending) there and in ``rows``."""
        found = []
        for some in self.spans:
            ends = np.cumsum(some[:, 1] - some[:, 0])
            shift = some[:, 1] - ends  # from a place in the shard to the row
            first, last = np.searchsorted(rows, some).T
            many = last - first
            places = np.arange(many.sum()) + np.repeat(last - np.cumsum(many), many)
            found.append((rows[places] - np.repeat(shift, many), places))
        return found

    def cut_rows(self, rows: np.ndarray, factor: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return a bit for each row of every shard, 1 if it is among some rows, and their factors."""
        drawn = np.zeros(self.n_rows, np.bool_)
        drawn[rows] = True
        factors = [factor] * len(self)
        if len(factor):
            places = [np.searchsorted(rows, some) for some in self.spans]
            factors = [_pieces([factor[lo:hi] for lo, hi in some], factor) for some in places]
        return [(np.packbits(own), by) for own, by in zip(self.cut(drawn), factors)]

    # ------------------------------------------------------------------ calls
    def prepare(self, rules: SplitRules) -> None:
        """Make all shards ready for trees of such rules."""
        self._rules = rules
        try:
            self.cluster.call("prepare", rules)
        except Lost as lost:
            self.recover(lost)

    def call(self, name: str, *arguments: Any) -> list[Any]:
        """Call a method of all shards; raise `Lost` if some are gone."""
        return self.cluster.call(name, *arguments)

    def call_each(self, name: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of all shards, each with its own arguments."""
        replies = self.cluster.call_each(name, dict(enumerate(arguments)))
        return [replies[i] for i in range(len(self))]

    # ------------------------------------------------------------------ losses
    def repeat(self, work: Callable[[], Any]) -> Any:
        """Return what ``work`` returns once no shard is lost while it runs; lost ones are made again."""
        while True:
            try:
                return work()
            except Lost as lost:
                self.recover(lost)

    def recover(self, lost: Lost) -> None:
        """Make lost shards again; raise an error for one that is lost for the third time."""
        missing = set(lost.which)
        self._count(lost)
        while missing:
            which = sorted(missing)
            try:
                self.restore(which)
                self.cluster.call_some(which, "prepare", self._rules)
                self.reload(which)
                return
            except Lost as more:
                missing |= set(more.which)
                self._count(more)

    def _count(self, lost: Lost) -> None:
        self._losses.update(lost.which)
        often = [i for i in lost.which if self._losses[i] >= _MOST_LOSSES]
        if not often:
            return
        i, workers = often[0], self.cluster.workers()
        known = ", ".join(
            f"{one.name}: {'memory not known' if one.memory is None else f'{one.memory // _MB} MB'}"
            for one in workers
        )
        raise WorkerError(
            f"the shard of {self.cluster.names[i]} ({self.sizes[i]} rows) was lost {_MOST_LOSSES} times. "
            f"It needs {self.sizes[i] * _ROW_BYTES // _MB + 1} MB and two bytes for each of its values; "
            f"the workers left have {known or 'no memory: there are none'}. Use more or larger workers, or "
            "more and smaller partitions."
        )


def _nothing_kept(which: list[int]) -> None:
    """Shards keep nothing between trees."""


def _pieces(pieces: Sequence[np.ndarray], like: np.ndarray) -> np.ndarray:
    """Return pieces as one array, of no rows if there is none."""
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate(pieces) if len(pieces) else like[:0]
