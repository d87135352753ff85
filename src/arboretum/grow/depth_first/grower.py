"""Growing trees in one compiled call: those of forests, random trees, single trees of small tables.

A tree that draws its columns or cuts looks at little of the table, and what counts is that nothing is
done for the rest: no lists to keep in order, no level to wait for. A table of some thousand rows is
searched so quickly that Python between the levels would take longer than the search. Both are grown here,
whole, in one call (engine/depth_first; what surrounds it is in this room), small ones of a forest several at
a time; large single trees are grown level by level (cart.py; choose.py draws the line). Both ways draw the
same random numbers and grow the same trees.
Surrogates, bins and absolute error need lists of all rows and stay level-wise.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.compiler.decorators import writable
from arboretum.engine.presorted.describe import describe_above
from arboretum.grow.depth_first.arrays import take_arrays
from arboretum.grow.depth_first.grid import share_a_grid, to_grid
from arboretum.grow.depth_first.nodes import to_trees
from arboretum.grow.depth_first.table import tree_table
from arboretum.grow.grower import Grown, GrowTarget
from arboretum.predict.walk import leaves_of
from arboretum.structure.build import leaf_of_rows
from arboretum.structure.pruning import number_levels

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.settings import Growth
    from arboretum.structure.tree import Tree

__all__ = ["DepthFirstGrower"]


class DepthFirstGrower:
    """Grows trees in one compiled call.

    Parameters
    ----------
    matrix : Matrix
    schema : Schema
    settings : Growth
    as_levels : bool
        Describe nodes as if the tree were grown level by level, to the last bit (see
        engine/presorted/describe.py): one number per row, which weighs 1.
    """

    def __init__(
        self,
        matrix: Matrix,
        schema: Schema,
        settings: Growth,
        *,
        as_levels: bool = False,
    ) -> None:
        self.settings, self.as_levels = settings, as_levels
        self.table = tree_table(
            matrix,
            schema,
            random_splits=settings.random_splits,
            monotone=settings.monotone,
            n_jobs=settings.n_jobs,
        )

    def grow(self, target: GrowTarget, rows: np.ndarray | None, key: int) -> Grown:
        """Grow a tree, numbered level by level; sums and answers are right to the last bit."""
        weight = target.weights if len(target.weights) else np.ones(len(target.y))
        if rows is not None:
            inside = np.zeros_like(weight)
            inside[rows] = weight[rows]
            weight = inside
        trees, order = self._grow_in_one_call(target, weight[None], [key], alone=True)
        tree, table = number_levels(trees[0]), self.table
        if len(order) == len(weight):
            grown = Grown(tree, partial(leaf_of_rows, tree, order))
        else:
            complete = table.is_complete
            grown = Grown(
                tree,
                partial(leaves_of, tree, table.matrix, self.settings.n_jobs, complete=complete),
            )
        if self.as_levels:
            _describe_as_levels(target.y[:, 0], rows, grown)
        return grown

    def grow_trees(self, target: GrowTarget, weights: np.ndarray, keys: list[int]) -> list[Tree]:
        """Grow a tree for every key on rows of these weights, (trees, rows); 0: left out.

        They are trees of a forest, which may be quicker than single ones: of many classes fewer divisions of
        categories are tried, and numbers are summed on a grid that all nodes share.
        """
        if len(keys) == 1 or share_a_grid(target, self.settings, weights):
            return self._grow_in_one_call(target, weights, keys, alone=False)[0]
        each = zip(weights[:, None], keys, strict=True)
        return [tree for w, key in each for tree in self.grow_trees(target, w, [key])]

    def _grow_in_one_call(
        self, target: GrowTarget, weights: np.ndarray, keys: list[int], *, alone: bool
    ) -> tuple[list[Tree], np.ndarray]:
        """Return the trees, and their rows tree after tree, those of a leaf side by side."""
        table, settings = self.table, self.settings.for_weights(weights, len(target.y))
        grid = to_grid(table, target, settings, weights, alone)
        arrays = take_arrays(table, grid)
        y, row_weight = None, None
        if grid.rules.regrid:
            y, row_weight = writable(target.y), writable(weights[0])
        grown = arrays.grow(table, grid, keys, y, row_weight)
        trees = to_trees(table, target, weights, grid, grown)
        table.spares.append(arrays)
        return trees, grid.bags.rows


def _describe_as_levels(r: np.ndarray, rows: np.ndarray | None, grown: Grown) -> None:
    """Write mean and variance of inner nodes as trees have them that are grown level by level."""
    tree, parent = grown.tree, np.full(len(grown.tree), -1)
    inner = np.flatnonzero(tree.first_child >= 0)
    for side in range(2):
        parent[tree.first_child[inner] + side] = inner
    rows, value = np.arange(len(r)) if rows is None else rows, tree.value[:, 0, 0].copy()
    describe_above(writable(r), rows, grown.leaf_of_row, parent, value, tree.impurity)
    tree.value[:, 0, 0] = value
