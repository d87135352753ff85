"""What boosting keeps of its training rows between trees: margins and derivatives.

    derive(m) ──► grow(…) ──► add(tree, values) ──► grow … ──► derive(m + 1)

    LocalRows      arrays of this process; trees may grow here or in shards
    RowsInShards   kept by the shards where the trees grow: of a tree only histograms, sums and answers travel

`rows_of` chooses. Shards can keep margins if the loss is a sum over rows whose leaves need no residuals, and
if neither GOSS nor dart needs derivatives or margins of all rows here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.second_order.sharded import ShardedTable
from arboretum.engine import parallel
from arboretum.engine.second_order.pack import add_marked
from arboretum.grow.grower import Grown, GrowTarget
from arboretum.grow.sharded.batches import KeptTarget
from arboretum.grow.sharded.kept_rows import Added

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective import Objective
    from arboretum.boosting.second_order.recipe import BoostPlan, TrainingTable
    from arboretum.grow.sharded.batches import BatchGrower

__all__ = ["LocalRows", "RowsInShards", "rows_of"]

_ALL_ROWS, _NO_FACTORS = np.empty(0, np.uint32), np.empty(0, np.float32)


class LocalRows:
    """Margins and derivatives in this process.

    Attributes
    ----------
    margin : float64 array of shape (n, n_outputs)
    g, h : float32 arrays of shape (n_outputs, n)
    """

    def __init__(
        self, objective: Objective, training: TrainingTable, start: np.ndarray, n_jobs: int
    ) -> None:
        n, k = len(training.y), objective.n_outputs
        self.objective, self.n_jobs = objective, n_jobs
        self.y, self.weight, self.groups = training.y, training.weight, training.groups
        self._margin = np.empty((n, k))
        self._margin[:] = start
        self.g, self.h = np.empty((k, n), np.float32), np.empty((k, n), np.float32)

    @property
    def margin(self) -> np.ndarray:
        return self._margin

    @margin.setter
    def margin(self, margin: np.ndarray) -> None:
        self._margin[:] = margin

    def margin_at(self, rows: np.ndarray) -> np.ndarray:
        """Return the margins of some rows."""
        return self._margin[rows]

    def derive(self, m: int) -> None:
        """Write the derivatives of round ``m``."""
        self.objective.derivatives(
            self.y, self._margin, self.weight, self.g, self.h, self.n_jobs, iteration=m,
            groups=self.groups,
        )  # fmt: skip

    def derivatives(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        """Return g and h of round ``m``, the last one that was derived."""
        return self.g, self.h

    def grow(
        self,
        grower: Any,
        output: int,
        rows: np.ndarray | None,
        factor: np.ndarray | None,
        columns: np.ndarray,
        key: int,
    ) -> Grown:
        """Grow a tree for an output on some rows, which count ``factor`` times."""
        weights = _NO_FACTORS if factor is None else factor
        target = GrowTarget(self.g[output], None, weights, self.h[output], columns)
        return grower.grow(target, rows, key)

    def add(self, grown: Grown, values: np.ndarray, output: int) -> None:
        """Add the values of a tree's nodes to the margins."""
        n, leaf = len(self._margin), grown.leaf_of_row

        def work(block: tuple[int, int]) -> None:
            add_marked(leaf, values, _ALL_ROWS, *block, self._margin, output)

        threads = parallel.threads_for(n, parallel.CODE, self.n_jobs)
        parallel.run(work, parallel.blocks(n, self.n_jobs), threads)


class RowsInShards:
    """Margins and derivatives that shards keep.

    A lost shard is brought to where the others are: margins before the round, the derivatives of the round,
    and the trees that the round has made.
    """

    g = h = None  # not here

    def __init__(
        self, objective: Objective, training: TrainingTable, start: np.ndarray, grower: BatchGrower
    ) -> None:
        self.objective, self.grower, self.shards = objective, grower, grower.shards
        self.y, self.weight = training.y, training.weight
        self._derive = objective.by_rows(training.y).derivatives  # type: ignore[union-attr]
        self.margin = start
        self.shards.reload = self._reload

    # ------------------------------------------------------------------ margins
    @property
    def margin(self) -> np.ndarray:
        """The margins of all rows, gathered."""
        return self.shards.join(self._call("margins", [(None,)] * len(self.shards)))

    @margin.setter
    def margin(self, start: np.ndarray) -> None:
        self._start = start
        self._done: list[Added] = []  # added by all shards
        self._pending: list[Added] = []  # sent with the next message
        self._round = -1  # the last one that was derived
        self._before = 0  # how many trees were done then
        self.shards.repeat(lambda: self._load(range(len(self.shards))))

    def margin_at(self, rows: np.ndarray) -> np.ndarray:
        """Return the margins of some rows, ascending."""
        picked = self.shards.pick(rows)
        parts = self._call("margins", [(own,) for own, _ in picked])
        found = np.empty((len(rows), self.objective.n_outputs))
        for (_, places), part in zip(picked, parts):
            found[places] = part
        return found

    def derive(self, m: int) -> None:
        """Let shards write the derivatives of round ``m``; raise FloatingPointError if one is not good."""
        self._largest = np.max(self._call("derive", [(m,)] * len(self.shards)), axis=0)
        if not np.isfinite(self._largest).all():
            raise FloatingPointError
        self._round, self._before = m, len(self._done)

    def derivatives(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        """Return g and h of all rows, for messages."""
        margin, shape = self.margin, (self.objective.n_outputs, len(self.y))
        g, h = np.empty(shape, np.float32), np.empty(shape, np.float32)
        self.objective.derivatives(self.y, margin, self.weight, g, h, iteration=m)
        return g, h

    def grow(
        self,
        grower: Any,
        output: int,
        rows: np.ndarray | None,
        factor: np.ndarray | None,
        columns: np.ndarray,
        key: int,
    ) -> Grown:
        """Grow a tree for an output on some rows."""
        largest = float(self._largest[output, 0]), float(self._largest[output, 1])
        target = KeptTarget(output, largest, columns, take_added=self._take_pending)
        return grower.grow(target, rows, key)

    def add(self, grown: Grown, values: np.ndarray, output: int) -> None:
        """Add the values of a tree's nodes to the margins, with the next message."""
        self._pending.append(Added(grown.tree, values, output))

    # ------------------------------------------------------------------ messages
    def _take_pending(self) -> list[Added]:
        """Return the trees to send; whatever is lost, they count as added from now on."""
        added, self._pending = self._pending, []
        self._done += added
        return added

    def _call(self, name: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Call a method of all shards, which add the last tree before."""

        def call() -> list[Any]:
            added = self._take_pending()
            return self.shards.call_each(name, [(*own, added) for own in arguments])

        return self.shards.repeat(call)

    def _reload(self, which: list[int]) -> None:
        """Bring shards that were made again to where the others are."""
        self._load(which)
        self.shards.cluster.call_some(which, "add", self._done[: self._before])
        if self._round >= 0:
            self.shards.cluster.call_some(which, "derive", self._round)
        self.shards.cluster.call_some(which, "add", self._done[self._before :])

    def _load(self, which: Any) -> None:
        """Send labels, weights and the start of the margins."""
        y, start = self.shards.cut(self.y), [self._start] * len(self.shards)
        if self._start.ndim > 1:  # each row has its own
            start = self.shards.cut(self._start)
        weight = [None] * len(y) if self.weight is None else self.shards.cut(self.weight)
        own = {i: (self._derive, y[i], weight[i], start[i]) for i in which}
        self.shards.cluster.call_each("load", own)


def rows_of(
    objective: Objective, training: TrainingTable, start: np.ndarray, plan: BoostPlan, table: Any
) -> LocalRows | RowsInShards:
    """Return the training rows where their margins are best kept."""
    by_rows = plan.goss is None and plan.dart is None and objective.by_rows(training.y) is not None
    if by_rows and isinstance(table, ShardedTable):
        return RowsInShards(objective, training, start, table.grower)
    return LocalRows(objective, training, start, plan.n_jobs)
