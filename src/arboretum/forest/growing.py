"""Growing the trees of a forest: each from its own bag, any number of them at a time.

Columns are ranked once; a bag is a weight per row; a tree's random numbers come from (seed, tree). So
trees can be grown in any order by any number of threads, and 100 trees and 100 more are 200.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from arboretum.base.sampling import growing_key
from arboretum.engine import parallel
from arboretum.grow.cart import Growth, grow_in_order
from arboretum.grow.columns import ColumnStore, store_columns
from arboretum.grow.criterion import Target
from arboretum.grow.depth_first.grower import can_grow, grow_random_trees, together, tree_table
from arboretum.structure.pruning import prune

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.structure.tree import Tree

__all__ = ["Plan", "grow_trees"]


class AnyBags(Protocol):
    """What says which rows a tree sees: `bags.Bootstrap`, or the `bags.Bags` of bagging."""

    @property
    def seed(self) -> int: ...

    def counts(self, tree: int, /) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class Plan:
    """What all trees of a forest have in common.

    Attributes
    ----------
    matrix, schema, target
        The training table; the target's weights are those of the rows, or empty.
    how : Growth
    bags : AnyBags
        Which rows every tree sees.
    balance : bool
        Weigh classes anew in every bag ("balanced_subsample").
    ccp_alpha : float
    """

    matrix: Matrix
    schema: Schema
    target: Target
    growth: Growth
    bags: AnyBags
    balance: bool = False
    ccp_alpha: float = 0.0

    def weight(self, tree: int) -> np.ndarray:
        """Return what every row weighs in a tree."""
        counts = self.bags.counts(tree)
        if self.balance:
            counts = counts * self._balance(counts)
        return counts * self.target.weights if len(self.target.weights) else counts

    def _balance(self, counts: np.ndarray) -> np.ndarray:
        assert self.target.classes is not None
        product = np.ones(len(counts))
        for output, n_classes in enumerate(self.target.classes):
            code = self.target.y[:, output]
            met = np.bincount(code, counts, n_classes)
            product *= (counts.sum() / (np.count_nonzero(met) * np.maximum(met, 1)))[code]
        return product


def _shared_columns(plan: Plan, n_jobs: int) -> ColumnStore | None:
    """Code the columns once for all trees; None if every node looks at all columns.

    Presorted lists are reordered by the tree that grows on them, so such trees make their own.
    """
    growth, width = plan.growth, plan.schema.n_features
    if not growth.random_splits and (growth.max_features is None or growth.max_features >= width):
        return None
    return store_columns(
        plan.matrix, plan.schema.columns, all_codes=True, max_bins=growth.max_bins, n_jobs=n_jobs
    )


def _work(plan: Plan, n_trees: int) -> int:
    """Return how many values all trees' roots look at."""
    width = plan.schema.n_features
    return n_trees * plan.matrix.n_rows * min(plan.growth.max_features or width, width)


def grow_trees(
    plan: Plan, numbers: range, n_jobs: int, grown: Callable[[int], None] | None = None
) -> list[Tree]:
    """Grow the trees with these numbers; ``grown`` is told of each.

    Interrupted by Ctrl-C it returns the trees before the first one that is missing; the interrupt
    goes on only if there is no tree at all.
    """
    single = replace(plan.growth, n_jobs=1)
    table = None
    if can_grow(plan.growth):
        table = tree_table(
            plan.matrix,
            plan.schema,
            random_splits=plan.growth.random_splits,
            monotone=plan.growth.monotone,
            n_jobs=n_jobs,
        )
    store = None if table is not None else _shared_columns(plan, n_jobs)
    trees: dict[int, Tree] = {}
    lock = threading.Lock()

    def keep(t: int, tree: Tree) -> None:
        trees[t] = prune(tree, plan.ccp_alpha) if plan.ccp_alpha > 0 else tree
        if grown is not None:
            with lock:
                grown(len(trees))

    def in_one_call(some: range) -> None:
        assert table is not None
        weights = np.array([plan.weight(t) for t in some])
        seeds = [growing_key(plan.bags.seed, t) for t in some]
        for t, tree in zip(
            some, grow_random_trees(table, plan.target, single, seeds, weights), strict=True
        ):
            keep(t, tree)

    def level_wise(t: int) -> None:
        growth = replace(single, seed=growing_key(plan.bags.seed, t))
        weight = plan.weight(t)
        rows = np.flatnonzero(weight)
        target = Target(plan.target.y[rows], plan.target.classes, weight[rows])
        here = None
        if store is not None:
            here = replace(store, codes=np.ascontiguousarray(store.codes[:, rows]))
        keep(t, grow_in_order(plan.matrix, plan.schema, target, rows, growth, here)[0])

    try:
        if table is not None:
            size = together(plan.matrix.n_rows)
            blocks = [numbers[i : i + size] for i in range(0, len(numbers), size)]
            work = _work(plan, len(numbers))
            parallel.run(in_one_call, blocks, parallel.threads_for(work, parallel.TREE, n_jobs))
        else:
            parallel.run(level_wise, numbers, n_jobs)
    except KeyboardInterrupt:
        if 0 in numbers and 0 not in trees:
            raise
    kept = []
    for t in numbers:
        if t not in trees:
            break
        kept.append(trees[t])
    return kept
