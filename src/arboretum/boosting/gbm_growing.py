"""The trees of gradient boosting: small, exact, many on one table.

Columns are sorted once per fit. A tree of limited depth grows level by level, each column read once per
level (gbm_levels.py); it leaves behind the leaf of every row, so nothing has to be walked. Deeper trees and
best-first ones are grown as CART grows them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.gbm_bag import keep_inside
from arboretum.engine.jit import writable
from arboretum.engine.order import MISSING, sort_column
from arboretum.tree.criterion import Target
from arboretum.tree.growing import Growth, grow
from arboretum.tree.pruning import prune
from arboretum.tree.walking import leaves_of

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.tree.tree import Tree

__all__ = ["SERIAL", "Bag", "Orchard", "plant"]

_DEEPEST = 8  # levels: the nodes of one, and nobody's, have numbers of 8 bits
SERIAL = 60_000  # (row, column) pairs below which threads do not pay


@dataclass(frozen=True, eq=False)
class Bag:
    """The rows a round learns from, and what they weigh.

    Attributes
    ----------
    inside : uint8 array
        Whether a row is in the bag; empty if all are.
    weight : float64 array
        Of all rows; empty if every row weighs 1.
    """

    inside: np.ndarray
    weight: np.ndarray

    @cached_property
    def rows(self) -> np.ndarray | None:
        """The rows inside; None for all."""
        return np.flatnonzero(self.inside) if len(self.inside) else None

    @cached_property
    def weight_inside(self) -> np.ndarray | None:
        """Weight of the rows inside; None if they weigh 1."""
        if not len(self.weight):
            return None
        return self.weight if self.rows is None else self.weight[self.rows]

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the values of the rows inside."""
        return values if self.rows is None else values[self.rows]


@dataclass(frozen=True, eq=False)
class Orchard:
    """A table made ready for any number of trees."""

    matrix: Matrix
    schema: Schema
    how: Growth
    min_share: float  # of the bag's weight, that each side of a split needs
    ccp_alpha: float
    lists: np.ndarray  # (columns, n) uint32, see order.py; empty if trees are grown as by CART
    present: np.ndarray  # (columns,) int64: entries that are not missing
    codes: dict[
        int, np.ndarray
    ]  # of category columns, whose lists are written anew for every level

    @cached_property
    def ordinal(self) -> np.ndarray:
        """Which columns hold ranks: they are cut at a rank, not between two."""
        return np.array([column.kind == "ordinal" for column in self.schema.columns])

    def grow(self, r: np.ndarray, bag: Bag, seed: int) -> tuple[Tree, np.ndarray]:
        """Grow a tree on residuals; return it and the leaf of every row."""
        from arboretum.boosting.gbm_levels import LevelGrower

        how = self.how if not seed else replace(self.how, seed=seed)
        if self.min_share > 0:
            how = self._with_least_weight(how, bag)
        leaf: np.ndarray | None = None
        if len(self.lists):
            tree, leaf = LevelGrower(self, r, bag, how).grow()
        else:
            weight = bag.weight_inside
            target = Target(
                writable(bag.of(r)[:, None]), None, np.empty(0) if weight is None else weight
            )
            tree = grow(self.matrix, self.schema, target, bag.rows, how)
        if self.ccp_alpha > 0:
            tree, leaf = prune(tree, self.ccp_alpha), None
        if leaf is None:
            leaf = leaves_of(tree, self.matrix, how.n_jobs)
        return tree, leaf

    def sorted_bag(self, bag: Bag) -> tuple[np.ndarray, np.ndarray]:
        """Return the order of the bag's rows by every column, and how many of them have a value."""
        if bag.rows is None:
            return self.lists, self.present
        if "_sorted" not in bag.__dict__:  # the trees of a round share it
            width, n = len(self.lists), len(bag.rows)
            lists, present = np.empty((width, n), np.uint32), np.full(width, n)
            columns = np.array([f for f in range(width) if f not in self.codes], dtype=np.int64)

            def keep(block: tuple[int, int]) -> None:
                keep_inside(self.lists, columns[slice(*block)], bag.inside, present, lists)

            threads = self.how.n_jobs if self.lists.size > SERIAL else 1
            parallel.run(keep, parallel.blocks(len(columns), 2 * threads), threads)
            bag.__dict__["_sorted"] = lists, present
        return bag.__dict__["_sorted"]

    def _with_least_weight(self, how: Growth, bag: Bag) -> Growth:
        if bag.weight_inside is not None:
            return replace(how, min_weight_leaf=self.min_share * float(bag.weight_inside.sum()))
        n = self.matrix.n_rows if bag.rows is None else len(bag.rows)
        return replace(how, min_samples_leaf=max(how.min_samples_leaf, ceil(self.min_share * n)))


def plant(
    matrix: Matrix, schema: Schema, how: Growth, min_share: float, ccp_alpha: float
) -> Orchard:
    """Sort the columns of a table, if its trees can be grown from that.

    ``min_share`` is min_weight_fraction_leaf; what ``how`` says of weights is not looked at.
    """
    how = replace(how, min_weight_leaf=0.0)
    n, width = matrix.n_rows, matrix.n_columns
    shallow = how.max_depth is not None and how.max_depth <= _DEEPEST
    level_wise = shallow and how.max_leaf_nodes is None
    lists = np.empty((width if level_wise else 0, n), np.uint32)
    present, codes = np.full(width, n), {}

    def sort(f: int) -> None:
        column, values = schema.columns[f], matrix.column(f)
        if column.kind == "categorical":
            missing = len(column.categories or ())
            codes[f] = np.where(np.isnan(values), missing, values).astype(np.uint32)
            return
        sort_column(writable(values), lists[f])
        if column.has_missing:
            present[f] = n - np.count_nonzero(lists[f] & MISSING)

    if level_wise:
        parallel.run(sort, range(width), how.n_jobs if n * width > SERIAL else 1)
    return Orchard(matrix, schema, how, min_share, ccp_alpha, lists, present, codes)
