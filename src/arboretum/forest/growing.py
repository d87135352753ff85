"""Growing the trees of a forest, each from its own bag, on any number of threads.

Columns are ranked once; a bag is a weight per row; a tree's random numbers depend on (seed, tree) only. So
trees can be grown in any order by any number of threads, and 100 trees and 100 more are 200.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from arboretum.base.sampling import growing_key
from arboretum.engine import parallel
from arboretum.grow.choose import Use, choose_grower, trees_of_a_call
from arboretum.structure.pruning import prune

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.grower import GrowTarget
    from arboretum.grow.settings import Growth
    from arboretum.structure.tree import Tree

__all__ = ["ELSEWHERE", "Plan", "grow_trees"]


class AnyBags(Protocol):
    """The rows that every tree sees: `Bootstrap`, or the `BagRules` of bagging."""

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
        The rows that every tree sees.
    balance : bool
        Compute class weights for every bag ("balanced_subsample").
    """

    matrix: Matrix
    schema: Schema
    target: GrowTarget
    growth: Growth
    bags: AnyBags
    balance: bool = False

    def weight(self, tree: int) -> np.ndarray:
        """Return the weight of every row in a tree."""
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


# What grows the trees instead of this process, on the workers of a cluster: `grow_trees` without ``n_jobs``.
ELSEWHERE: ContextVar[Callable[..., list[Tree]] | None] = ContextVar("elsewhere", default=None)


def _work(plan: Plan, n_trees: int) -> int:
    """Return how many values the roots of all trees read."""
    width = plan.schema.n_features
    return n_trees * plan.matrix.n_rows * min(plan.growth.max_features or width, width)


def grow_trees(
    plan: Plan, numbers: range, n_jobs: int, grown: Callable[[int], None] | None = None
) -> list[Tree]:
    """Grow the trees with these numbers; ``grown`` is called with each.

    Interrupted by Ctrl-C it returns the trees before the first missing one; the interrupt
    goes on only if there is no tree at all.
    """
    elsewhere = ELSEWHERE.get()
    if elsewhere is not None:
        return elsewhere(plan, numbers, grown)
    growth = replace(plan.growth, n_jobs=n_jobs)
    grower: Any = choose_grower(plan.matrix, plan.schema, growth, plan.target, Use.FOREST)
    trees: dict[int, Tree] = {}
    lock = threading.Lock()

    def keep(t: int, tree: Tree) -> None:
        alpha = plan.growth.ccp_alpha
        trees[t] = prune(tree, alpha) if alpha > 0 else tree
        if grown is not None:
            with lock:
                grown(len(trees))

    def grow(some: range) -> None:
        weights = np.array([plan.weight(t) for t in some])
        keys = [growing_key(plan.bags.seed, t) for t in some]
        for t, tree in zip(some, grower.grow_trees(plan.target, weights, keys), strict=True):
            keep(t, tree)

    try:
        size = trees_of_a_call(plan.matrix.n_rows)
        blocks = [numbers[i : i + size] for i in range(0, len(numbers), size)]
        work = _work(plan, len(numbers))
        parallel.run(grow, blocks, parallel.threads_for(work, parallel.TREE, n_jobs))
    except KeyboardInterrupt:
        if 0 in numbers and 0 not in trees:
            raise
    kept = []
    for t in numbers:
        if t not in trees:
            break
        kept.append(trees[t])
    return kept
