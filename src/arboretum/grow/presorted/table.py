"""The trees of gradient boosting: small, exact, many on one table.

Columns are sorted once per fit. A tree of limited depth grows level by level, each column read once per
level (level_grower.py); it leaves behind the leaf of every row, so nothing has to be walked. Deeper trees,
best-first ones and those under monotone constraints are grown as CART grows them.

    rows     carry the node they stand in; nothing is moved
    search   one pass per column meets every cut of all nodes of a level      engine/presorted/search.py
    divide   rows go by their own values                                      engine/presorted/divide.py

All of it is one compiled call (engine/presorted/grow.py). Where the table is large, its columns are shared
out to threads, a level at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.columns.lists import NOWHERE
from arboretum.engine.compiler.decorators import writable
from arboretum.engine.fixed_point import GridWeights, weights_to_grid
from arboretum.engine.presorted.describe import describe_above
from arboretum.engine.presorted.row_layout import (
    CATEGORIES,
    NUMBERS,
    RANKS,
)
from arboretum.engine.presorted.search import LevelTable
from arboretum.grow.cart import Growth, grow_in_order
from arboretum.grow.columns import ColumnStore, keep_rows, sort_columns, store_columns
from arboretum.grow.criterion import Target
from arboretum.grow.presorted.codes import BinnedColumns, code_columns
from arboretum.grow.presorted.grower import PresortedGrower
from arboretum.lazy import cached_property
from arboretum.predict.walk import has_no_gaps, leaves_of
from arboretum.structure.build import leaf_of_rows
from arboretum.structure.pruning import prune

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.depth_first.grower import TreeTable
    from arboretum.structure.tree import Tree

__all__ = ["DEEPEST", "Bag", "PresortedTable", "presort"]

DEEPEST = 8  # levels: the nodes of one, and nobody's, have numbers of 8 bits
_SMALL = 10_000  # rows up to which a tree that looks at all columns is quicker grown in one call
_KINDS = {"numeric": NUMBERS, "ordinal": RANKS, "categorical": CATEGORIES}


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

    @cached_property
    def on_grid(self) -> GridWeights:
        """The weights as whole numbers; none if every row weighs 1."""
        return weights_to_grid(self.weight)

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the values of the rows inside."""
        return values if self.rows is None else values[self.rows]


@dataclass(frozen=True, eq=False)
class PresortedTable:
    """A table made ready for any number of trees."""

    matrix: Matrix
    schema: Schema
    settings: Growth
    min_share: float  # of the bag's weight, that each side of a split needs
    ccp_alpha: float
    category_penalty: float
    table: LevelTable  # no columns if trees are grown as by CART
    threads: int  # that share out the columns of one tree
    bins: BinnedColumns | None = None  # what the values in ``table`` stand for; None: themselves

    @cached_property
    def _grower(self) -> PresortedGrower:
        return PresortedGrower(self)

    def grow(self, r: np.ndarray, bag: Bag, seed: int) -> tuple[Tree, np.ndarray]:
        """Grow a tree on residuals; return it and the leaf of every row."""
        settings = self.settings if not seed else replace(self.settings, seed=seed)
        if self.min_share > 0:
            settings = self._with_least_weight(settings, bag)
        if len(self.table.lists):
            tree, leaf = self._grower.grow(r, bag, settings)
        elif settings.max_features is not None:
            tree, leaf = self._grow_drawn(r, bag, settings)
        elif self._is_quicker_whole(bag):
            tree, leaf = self._grow_whole(r, bag, settings)
        else:
            tree, leaf = self._grow_as_cart(r, bag, settings)
        if self.ccp_alpha > 0:
            tree = prune(tree, self.ccp_alpha)
            leaf = self._walk(tree)
        return tree, leaf

    def _walk(self, tree: Tree) -> np.ndarray:
        return leaves_of(tree, self.matrix, self.settings.n_jobs, complete=self._is_complete)

    @cached_property
    def _is_complete(self) -> bool:
        return has_no_gaps(self.matrix)

    def _grow_as_cart(self, r: np.ndarray, bag: Bag, settings: Growth) -> tuple[Tree, np.ndarray]:
        weight, columns = bag.weight_inside, self._columns_of(bag)
        target = Target(
            writable(bag.of(r)[:, None]), None, np.empty(0) if weight is None else weight
        )
        tree, order = grow_in_order(self.matrix, self.schema, target, bag.rows, settings, columns)
        return tree, leaf_of_rows(tree, order) if bag.rows is None else self._walk(tree)

    @cached_property
    def _store(self) -> ColumnStore:
        """The columns as CART takes them."""
        return store_columns(self.matrix, self.schema.columns, n_jobs=self.settings.n_jobs)

    def _columns_of(self, bag: Bag) -> ColumnStore:
        """Return the columns of a bag for one tree of CART, which reorders their lists."""
        store = self._store
        if bag.rows is None:
            return replace(store, lists=store.lists.copy())
        place = np.full(self.matrix.n_rows, NOWHERE)
        place[bag.rows] = np.arange(len(bag.rows))
        lists, _ = keep_rows(store.lists, place, len(bag.rows), self.threads)
        return replace(store, lists=lists, codes=store.codes.take(bag.rows, axis=1))

    @cached_property
    def _tree_table(self) -> TreeTable:
        """The columns as trees take them that look at some of them in every node."""
        from arboretum.grow.depth_first.grower import tree_table

        return tree_table(
            self.matrix,
            self.schema,
            random_splits=False,
            monotone=self.settings.monotone,
            keep_lists=True,
            n_jobs=self.settings.n_jobs,
        )

    def _grow_drawn(self, r: np.ndarray, bag: Bag, settings: Growth) -> tuple[Tree, np.ndarray]:
        """Grow a tree that draws its columns; rows outside the bag weigh nothing."""
        from arboretum.grow.depth_first.grower import grow_placed_tree

        weight = bag.weight if len(bag.weight) else np.ones(len(r))
        if bag.rows is not None:
            weight = weight * bag.inside
        target = Target(writable(r[:, None]), None, weight)
        return grow_placed_tree(self._tree_table, target, settings, weight)

    def _is_quicker_whole(self, bag: Bag) -> bool:
        """Tell whether a tree that looks at all columns is grown in one call: it has few rows.

        Only where the tree is the same to the last bit: not with words, where columns tie, or weights.
        """
        settings = self.settings
        if len(bag.weight) or settings.monotone is not None or settings.random_splits:
            return False
        if any(column.kind == "categorical" for column in self.schema.columns):
            return False
        return (self.matrix.n_rows if bag.rows is None else len(bag.rows)) <= _SMALL

    def _grow_whole(self, r: np.ndarray, bag: Bag, settings: Growth) -> tuple[Tree, np.ndarray]:
        """Grow a tree in one call; its nodes are described as if it were grown level by level."""
        tree, leaf = self._grow_drawn(r, bag, settings)
        parent = np.full(len(tree), -1)
        inner = np.flatnonzero(tree.first_child >= 0)
        for side in range(2):
            parent[tree.first_child[inner] + side] = inner
        rows = np.arange(len(r)) if bag.rows is None else bag.rows
        value = tree.value[:, 0, 0].copy()
        describe_above(writable(r), rows, leaf, parent, value, tree.impurity)
        tree.value[:, 0, 0] = value
        return tree, leaf

    def sorted_bag(self, bag: Bag) -> LevelTable:
        """Return the table with the order of the bag's rows only."""
        if bag.rows is None:
            return self.table
        if "_sorted" not in bag.__dict__:  # the trees of a round share it
            place = np.full(self.matrix.n_rows, NOWHERE)
            place[bag.rows] = bag.rows  # rows keep their numbers
            lists, present = keep_rows(self.table.lists, place, len(bag.rows), self.threads)
            bag.__dict__["_sorted"] = self.table._replace(lists=lists, present=present)
        return bag.__dict__["_sorted"]

    def _with_least_weight(self, settings: Growth, bag: Bag) -> Growth:
        if bag.weight_inside is not None:
            return replace(
                settings, min_weight_leaf=self.min_share * float(bag.weight_inside.sum())
            )
        n = self.matrix.n_rows if bag.rows is None else len(bag.rows)
        return replace(
            settings, min_samples_leaf=max(settings.min_samples_leaf, ceil(self.min_share * n))
        )


def presort(
    matrix: Matrix,
    schema: Schema,
    settings: Growth,
    min_share: float,
    ccp_alpha: float,
    category_penalty: float,
) -> PresortedTable:
    """Sort the columns of a table, if its trees can be grown from that.

    ``min_share`` is min_weight_fraction_leaf; what ``settings`` says of weights is not looked at. Its
    ``max_bins`` is, for trees of limited depth.
    """
    settings = replace(settings, min_weight_leaf=0.0)
    n, width = matrix.n_rows, matrix.n_columns
    shallow = settings.max_depth is not None and settings.max_depth <= DEEPEST
    level_wise = shallow and settings.max_leaf_nodes is None and settings.monotone is None
    threads = parallel.threads_for(n * width, parallel.TREE, settings.n_jobs)
    shape = (width if level_wise else 0, n)
    kinds = np.array([_KINDS[column.kind] for column in schema.columns], np.uint8)
    values, bins = np.empty(shape), None
    if level_wise and settings.max_bins is not None:
        most, jobs = settings.max_bins, settings.n_jobs
        bins = BinnedColumns(
            store_columns(matrix, schema.columns, max_bins=most, n_jobs=jobs), kinds
        )
    read = matrix.column if bins is None else bins.column

    def column(f: int) -> np.ndarray:
        values[f] = read(f)
        return values[f]

    n_codes = [
        len(column.categories or ()) if kind == CATEGORIES else 0
        for column, kind in zip(schema.columns, kinds.tolist(), strict=True)
    ]
    if bins is not None and bins.are_counted(n, settings.max_depth):
        lists, present = np.empty(shape, np.uint32), np.full(width, n)  # nobody looks at lists
        for f in range(width):
            present[f] -= np.count_nonzero(np.isnan(column(f)))
        codes = bins.codes()
    else:
        lists, present = sort_columns(column, shape, settings.n_jobs)
        codes = code_columns(values, lists, n_codes)
    table = LevelTable(
        lists=lists,
        present=present,
        kind=kinds if bins is None else np.where(kinds == CATEGORIES, kinds, np.uint8(RANKS)),
        n_codes=np.array(n_codes, np.int64),
        values=values,
        has_categories=bool((kinds == CATEGORIES).any()),
        charged=schema.charged,
        **codes,
    )
    return PresortedTable(
        matrix, schema, settings, min_share, ccp_alpha, category_penalty, table, threads, bins
    )
