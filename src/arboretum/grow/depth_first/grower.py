"""Growing trees in one compiled call: those of forests, random trees, single trees of small tables.

A tree that draws its columns or cuts looks at little of the table, and what counts is that nothing is
done for the rest: no lists to keep in order, no level to wait for. A table of some thousand rows is
searched so quickly that Python between the levels would take longer than the search. Both are grown here,
whole, in one call (engine/depth_first; what surrounds it is in this room), small ones of a forest several at
a time; large single trees are grown level by level (cart.py). Both ways draw the same random numbers and
grow the same trees.
Surrogates, bins and absolute error need lists of all rows and stay level-wise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.compiler.decorators import writable
from arboretum.engine.split import statistic as stat
from arboretum.grow.depth_first.arrays import take_arrays
from arboretum.grow.depth_first.grid import share_a_grid, to_grid
from arboretum.grow.depth_first.nodes import to_trees
from arboretum.grow.depth_first.table import TreeTable, tree_table
from arboretum.predict.walk import leaves_of
from arboretum.structure.build import leaf_of_rows
from arboretum.structure.pruning import number_levels

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.cart import Growth
    from arboretum.grow.criterion import Target
    from arboretum.structure.tree import Tree

__all__ = [
    "SMALL",
    "TreeTable",
    "can_grow",
    "grow_placed_tree",
    "grow_random_tree",
    "grow_random_trees",
    "looks_at_little",
]
__all__ += ["together", "tree_table"]

SMALL = 5_000  # rows up to which sorting in every node beats lists that are kept in order,
_WITH_WORDS = 20  # and so many times as many where words are counted
_TOGETHER, _ROWS_TOGETHER = 25, 20_000  # trees and rows of one call


def can_grow(settings: Growth) -> bool:
    """Tell whether such a tree can be grown this way."""
    return (
        settings.criterion not in (stat.ABSOLUTE, stat.ERROR)
        and settings.surrogates == 0
        and settings.max_bins is None
    )


def looks_at_little(settings: Growth, matrix: Matrix, schema: Schema) -> bool:
    """Tell whether one call is the quicker way for a single tree: it draws, or the table is small."""
    if settings.random_splits or settings.max_features is not None:
        return True
    words = any(column.kind == "categorical" for column in schema.columns)
    return matrix.n_rows <= (_WITH_WORDS * SMALL if words else SMALL)


# --------------------------------------------------------------------------- some trees
def together(n_rows: int) -> int:
    """Return how many trees of so many rows are grown at a time."""
    return max(1, min(_TOGETHER, _ROWS_TOGETHER // n_rows))


def grow_random_tree(
    table: TreeTable,
    target: Target,
    settings: Growth,
    *,
    weight: np.ndarray | None = None,
    alone: bool = False,
) -> Tree:
    """`grow_random_trees` for one tree; its seed is that of ``settings``."""
    weights = None if weight is None else weight[None]
    return grow_random_trees(table, target, settings, [settings.seed], weights, alone=alone)[0]


def grow_random_trees(
    table: TreeTable,
    target: Target,
    settings: Growth,
    seeds: list[int],
    weights: np.ndarray | None = None,
    *,
    alone: bool = False,
) -> list[Tree]:
    """Grow a tree for every seed.

    Parameters
    ----------
    table : TreeTable
    target : Target
        Targets of all rows of the table; of its weights only whether they are 0 is looked at.
    settings : Growth
    seeds : list of int
    weights : float64 array (trees, rows) or None
        What every row weighs in every tree; rows of weight 0 take no part. None: 1 each.
    alone : bool
        Single trees: sums and answers to the last bit, where a forest's trees may be quicker.
    """
    if weights is None:
        weights = np.ones((len(seeds), len(target.y)))
    if len(seeds) > 1 and not share_a_grid(target, settings, weights):
        one_by_one = zip(seeds, weights[:, None], strict=True)
        return [
            grow_random_trees(table, target, settings, [s], w, alone=alone)[0]
            for s, w in one_by_one
        ]
    return _grow_in_one_call(table, target, settings, seeds, weights, alone)[0]


def grow_placed_tree(
    table: TreeTable, target: Target, settings: Growth, weight: np.ndarray
) -> tuple[Tree, np.ndarray]:
    """Grow a single tree, numbered level by level; return it and the leaf of every row of the table.

    ``weight`` is what the rows weigh; those of weight 0 take no part, but have a leaf.
    """
    trees, rows = _grow_in_one_call(table, target, settings, [settings.seed], weight[None], True)
    tree = number_levels(trees[0])
    if len(rows) == table.matrix.n_rows:
        return tree, leaf_of_rows(tree, rows)
    return tree, leaves_of(tree, table.matrix, settings.n_jobs, complete=table.is_complete)


def _grow_in_one_call(
    table: TreeTable,
    target: Target,
    settings: Growth,
    seeds: list[int],
    weights: np.ndarray,
    alone: bool,
) -> tuple[list[Tree], np.ndarray]:
    """Return the trees, and their rows tree after tree, those of a leaf side by side."""
    grid = to_grid(table, target, settings, weights, alone)
    arrays = take_arrays(table, grid)
    y, row_weight = None, None
    if grid.rules.regrid:
        y, row_weight = writable(target.y), writable(weights[0])
    grown = arrays.grow(table, grid, seeds, y, row_weight)
    trees = to_trees(table, target, weights, grid, grown)
    table.spares.append(arrays)
    return trees, grid.bags.rows
