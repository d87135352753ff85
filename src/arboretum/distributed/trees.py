"""The trees of a forest on workers: the table goes to each once, trees are shared out by number.

    plan ──► worker 0: trees 0, 1, 2, 3    8, 9, …       tree t depends on (seed, t) only,
         ──► worker 1: trees 4, 5, 6, 7    12, 13, …     so any worker grows the same one

The trees that a lost worker was growing are grown again by its successor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from arboretum.errors import ArboretumError
from arboretum.forest.growing import ELSEWHERE, grow_trees
from arboretum.grow.cluster import Cluster, Lost

if TYPE_CHECKING:
    from arboretum.forest.growing import Plan
    from arboretum.structure.tree import Tree

__all__ = ["TreesOnWorker", "grown_on"]

_TURNS = 8  # calls per worker: each ends with a report of progress, and a death costs one
_LOSSES = 3  # of the same worker's successors, after which it is no accident
_BYTES = 24  # per value of the table: the table itself, its ranks, and a message of it


class TreesOnWorker:
    """A table on a worker, and the trees that are grown from it."""

    plan: Plan

    def take(self, plan: Plan) -> None:
        self.plan = plan

    def grow(self, numbers: range) -> list[Tree]:
        from arboretum.engine.parallel import effective_jobs

        return grow_trees(self.plan, numbers, effective_jobs(None))


@contextmanager
def grown_on(cluster: Cluster) -> Iterator[None]:
    """Grow all trees of forests and bags on a cluster."""
    token = ELSEWHERE.set(partial(_share, cluster))
    try:
        yield
    finally:
        ELSEWHERE.reset(token)
        cluster.close()


def _share(
    cluster: Cluster, plan: Plan, numbers: range, grown: Callable[[int], None] | None = None
) -> list[Tree]:
    """Grow the trees with these numbers; interrupted, return those before the first missing one."""
    workers = cluster.workers()
    needed = plan.matrix.n_rows * plan.matrix.n_columns * _BYTES
    for worker in workers:
        if worker.memory is not None and needed > worker.memory:
            raise ArboretumError(
                f"every worker needs the whole table, about {needed / 1e9:.1f} GB, and {worker.name} has "
                f"{worker.memory / 1e9:.1f} GB: give workers more memory, fewer workers all of it, or use "
                "LGBM* or XGB*, whose workers have a part of the rows each"
            )
    cluster.place(
        TreesOnWorker, [() for _ in workers], [f"trees, part {i}" for i in range(len(workers))]
    )
    size = max(1, -(-len(numbers) // (_TURNS * len(workers))))
    todo = [numbers[i : i + size] for i in range(0, len(numbers), size)][::-1]
    trees: dict[int, Tree] = {}
    losses = [0] * len(workers)
    try:
        _send(cluster, list(range(len(workers))), plan, losses)
        while todo:
            turn = {i: (todo.pop(),) for i in range(min(len(workers), len(todo)))}
            try:
                replies = cluster.call_each("grow", turn)
            except Lost as lost:
                replies = lost.replies
                todo += [turn[i][0] for i in reversed(lost.which)]
                _revive(cluster, lost, plan, losses)
            for i, reply in replies.items():
                trees.update(zip(turn[i][0], reply))
            if grown is not None and trees:
                grown(len(trees))
    except KeyboardInterrupt:
        if numbers and numbers[0] not in trees:
            raise
    end = next((t for t in numbers if t not in trees), numbers.stop)
    return [trees[t] for t in range(numbers.start, end)]


def _send(cluster: Cluster, which: list[int], plan: Plan, losses: list[int]) -> None:
    """Give the table to workers, and to the successors of those that are lost meanwhile."""
    try:
        cluster.call_some(which, "take", plan)
    except Lost as lost:
        _revive(cluster, lost, plan, losses)


def _revive(cluster: Cluster, lost: Lost, plan: Plan, losses: list[int]) -> None:
    for i in lost.which:
        losses[i] += 1
        if losses[i] == _LOSSES:
            have = ", ".join(f"{w.name}: {(w.memory or 0) / 1e9:.1f} GB" for w in cluster.workers())
            rows, columns = plan.matrix.n_rows, plan.matrix.n_columns
            raise ArboretumError(
                f"{cluster.where(i)} was lost {_LOSSES} times while it grew trees from {rows:,} rows, which "
                f"take about {rows * columns * _BYTES / 1e9:.1f} GB ({have}): give workers more memory"
            ) from lost
    try:
        cluster.renew(lost.which)
    except Lost as more:
        _revive(cluster, more, plan, losses)
        return
    _send(cluster, lost.which, plan, losses)
