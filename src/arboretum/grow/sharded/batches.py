"""One tree of second-order boosting on rows in shards, the same as that of `HistogramGrower` on all rows.

    coordinator                                            every shard
    scales of g and h                  ── begin ──►        entries, the root's histograms
    Σ of histograms, best splits       ◄── counts ──
    replay: which nodes come next?     ── split ──►        rows partitioned, children counted
    Σ, best splits, replay again …     ◄── counts ──
    leaves of the final tree           ── sums ──►         Σg and Σh of the leaves
    answers

Nodes are divided in batches, ahead of their turn (ahead.py), so that a tree of 31 leaves takes a dozen
messages instead of 33. If a shard is lost, it is made again and the tree grown anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arboretum.engine.compiler.decorators import writable
from arboretum.engine.second_order.batch import add_counts
from arboretum.engine.second_order.score import Features, SplitRules
from arboretum.errors import DataError
from arboretum.grow.decoding import GrownNodes
from arboretum.grow.grower import Grown, GrowTarget
from arboretum.grow.histogram import NOT_GOOD, POOL, make_given
from arboretum.grow.sharded.ahead import TreeAhead
from arboretum.grow.sharded.kept_rows import Added, largest_of
from arboretum.grow.sharded.shard import Beginning, Counts
from arboretum.grow.sharded.shards import Shards

__all__ = ["BatchGrower", "KeptTarget"]

_NO_VALUES = np.empty(0, np.float32)


@dataclass(frozen=True, eq=False)
class KeptTarget:
    """What a tree is grown for where shards keep gradients and hessians; takes the place of `GrowTarget`."""

    output: int
    largest: tuple[float, float]  # |g| and h of all rows
    columns: np.ndarray | None = None
    weights: np.ndarray = field(default_factory=lambda: _NO_VALUES)  # of the rows that are drawn
    # trees that shards add to the margins before; called once the message is sent
    take_added: Callable[[], list[Added]] = list


class BatchGrower:
    """Grows trees on the rows of shards.

    Parameters
    ----------
    shards : Shards
    features : Features
    rules : SplitRules
    n_columns : tuple of int
        How many stored columns have codes of one byte, and how many of two.
    groups : (features, words) uint64 array or None
        As in `HistogramGrower`.
    pool : int
        Bytes for the histograms of leaves that wait.
    """

    def __init__(
        self,
        shards: Shards,
        features: Features,
        rules: SplitRules,
        n_columns: tuple[int, int],
        groups: np.ndarray | None = None,
        pool: int = POOL,
    ) -> None:
        self.shards = shards
        self._tree = TreeAhead(features, rules, n_columns, shards.n_rows, groups, pool)
        shards.prepare(rules)

    @property
    def rules(self) -> SplitRules:
        return self._tree.rules

    @rules.setter
    def rules(self, rules: SplitRules) -> None:
        self._tree.table.rules = rules

    def is_small(self, n_rows: int, n_trees: int) -> bool:
        """Return False: rounds are not grown in one call."""
        return False

    def grow(self, target: GrowTarget | KeptTarget, rows: np.ndarray | None, key: int) -> Grown:
        """Grow a tree of codes for gradients and hessians; read its leaves before the next one grows."""
        tree = self.shards.repeat(lambda: self._grow(target, rows, key))
        return Grown(tree, lambda: self.leaves(tree))

    def leaves(self, tree: GrownNodes) -> np.ndarray:
        """Return the leaf of every row in the tree that has grown."""
        return self.shards.join(self.shards.repeat(lambda: self.shards.call("leaves", tree)))

    def _grow(
        self, target: GrowTarget | KeptTarget, rows: np.ndarray | None, key: int
    ) -> GrownNodes:
        tree, n = self._tree, self.shards.n_rows
        factor = target.weights if len(target.weights) else None
        given = make_given(_NO_VALUES, _NO_VALUES, key, rows, factor)
        columns = tree.columns if target.columns is None else target.columns
        if not tree.begin(given, _largest(target), n, columns):
            raise DataError(NOT_GOOD)
        tasks = self._tasks(target, rows, given.factor, given.most, key)
        (root,) = self._sum(self.shards.call_each("begin", tasks))
        tree.open(n if rows is None else len(rows), root)
        while len((ordered := tree.orders())[0]):
            replies = self.shards.call("split", *ordered)
            n_left = np.stack([reply.n_left for reply in replies]).sum(axis=0)
            tree.absorb(ordered[0], n_left, self._sum([reply.counts for reply in replies]))
        sums = self.shards.call("sums", tree.leaf_of_node(), tree.n_nodes)
        return tree.finish(np.stack(sums).sum(axis=0))

    def _tasks(
        self,
        target: GrowTarget | KeptTarget,
        rows: np.ndarray | None,
        factor: np.ndarray,
        most: float,
        key: int,
    ) -> list[tuple[Any, ...]]:
        """Return what every shard begins the tree with."""
        shards, scales = self.shards, self._tree.scales
        derivatives: list[Any]
        if isinstance(target, KeptTarget):
            derivatives, added = [target.output] * len(shards), target.take_added()
        else:
            assert target.h is not None
            derivatives, added = [*zip(shards.cut(target.y), shards.cut(target.h))], []
        drawn: list[Any] = [(None, factor)] * len(shards)
        if rows is not None:
            drawn = [*shards.cut_rows(rows, factor)]
        return [
            (Beginning(own, some, by, most, key, scales), added)
            for own, (some, by) in zip(derivatives, drawn)
        ]

    def _sum(self, replies: list[Counts]) -> np.ndarray:
        """Return the histograms of all shards together, (nodes, 2 n_bins) int64."""
        total = np.zeros((len(replies[0].is_packed), self._tree.length), np.int64)
        for one in replies:
            add_counts(total, *map(writable, one), self._tree.table.store.starts)
        return total


def _largest(target: GrowTarget | KeptTarget) -> tuple[float, float]:
    """Return the largest |g| and h of all rows."""
    if isinstance(target, KeptTarget):
        return target.largest
    assert target.h is not None
    return largest_of(target.y, target.h)
