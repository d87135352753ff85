"""The trees of gradient boosting: small, exact, many on one table.

Columns are sorted once per fit. A tree of limited depth grows level by level, each column read once per
level (presorted_levels.py); it leaves behind the leaf of every row, so nothing has to be walked. Deeper trees
and best-first ones are grown as CART grows them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, frexp, ldexp
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.columns.presort import MISSING, sort_column
from arboretum.engine.columns.store import ColumnStore, store_columns
from arboretum.engine.jit import writable
from arboretum.engine.level_tree.search import CATEGORIES, NUMBERS, RANKS, Table
from arboretum.engine.rows.sample import keep_inside
from arboretum.grow.criterion import Target
from arboretum.grow.levelwise import Growth, grow
from arboretum.predict.walk import leaves_of
from arboretum.tree.pruning import prune

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.presorted_levels import LevelGrower
    from arboretum.tree.tree import Tree

__all__ = ["DEEPEST", "Bag", "Orchard", "plant"]

_WEIGHT_BITS = 53
DEEPEST = 8  # levels: the nodes of one, and nobody's, have numbers of 8 bits
_KINDS = {"numeric": NUMBERS, "ordinal": RANKS, "categorical": CATEGORIES}
_SERIAL = 60_000  # (row, column) pairs below which threads do not pay


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
    def on_grid(self) -> _Weights:
        """The weights as whole numbers."""
        w = self.weight
        if not len(w):
            return _Weights(np.empty(0, np.int64), 1.0, True)
        total, step = float(w.sum()), 1.0
        whole = bool(total < 2.0**_WEIGHT_BITS and np.all(w == np.floor(w)))
        if not whole:
            step = ldexp(1.0, frexp(total)[1] - _WEIGHT_BITS)
        return _Weights(np.rint(w / step).astype(np.int64), step, whole)

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the values of the rows inside."""
        return values if self.rows is None else values[self.rows]


@dataclass(frozen=True, eq=False)
class _Weights:
    """Weights on a grid: as they are, if they are whole numbers."""

    row: np.ndarray  # int64; empty if every row weighs 1
    step: float  # what 1 stands for
    whole: bool


@dataclass(frozen=True, eq=False)
class Orchard:
    """A table made ready for any number of trees."""

    matrix: Matrix
    schema: Schema
    how: Growth
    min_share: float  # of the bag's weight, that each side of a split needs
    ccp_alpha: float
    category_penalty: float
    table: Table  # no columns if trees are grown as by CART
    threads: int  # that share out the columns of one tree

    @cached_property
    def _grower(self) -> LevelGrower:
        from arboretum.grow.presorted_levels import LevelGrower

        return LevelGrower(self)

    def grow(self, r: np.ndarray, bag: Bag, seed: int) -> tuple[Tree, np.ndarray]:
        """Grow a tree on residuals; return it and the leaf of every row."""
        how = self.how if not seed else replace(self.how, seed=seed)
        if self.min_share > 0:
            how = self._with_least_weight(how, bag)
        leaf: np.ndarray | None = None
        if len(self.table.lists):
            tree, leaf = self._grower.grow(r, bag, how)
        else:
            weight = bag.weight_inside
            target = Target(
                writable(bag.of(r)[:, None]), None, np.empty(0) if weight is None else weight
            )
            tree = grow(self.matrix, self.schema, target, bag.rows, how, self._columns_of(bag))
        if self.ccp_alpha > 0:
            tree, leaf = prune(tree, self.ccp_alpha), None
        if leaf is None:
            leaf = leaves_of(tree, self.matrix, how.n_jobs)
        return tree, leaf

    @cached_property
    def _store(self) -> ColumnStore:
        """The columns as CART takes them."""
        return store_columns(self.matrix, self.schema.columns, n_jobs=self.how.n_jobs)

    def _columns_of(self, bag: Bag) -> ColumnStore | None:
        """Return columns for one tree of CART; None where it must make them: of a bag, or of codes alone."""
        if bag.rows is not None or self.how.max_features is not None:
            return None
        return replace(self._store, lists=self._store.lists.copy())  # growing reorders them

    def sorted_bag(self, bag: Bag) -> Table:
        """Return the table with the order of the bag's rows only."""
        if bag.rows is None:
            return self.table
        if "_sorted" not in bag.__dict__:  # the trees of a round share it
            width, n = len(self.table.lists), len(bag.rows)
            lists, present = np.empty((width, n), np.uint32), np.full(width, n)

            def keep(block: tuple[int, int]) -> None:
                keep_inside(self.table.lists, np.arange(*block), bag.inside, present, lists)

            parallel.run(keep, parallel.blocks(width, 2 * self.threads), self.threads)
            bag.__dict__["_sorted"] = self.table._replace(lists=lists, present=present)
        return bag.__dict__["_sorted"]

    def _with_least_weight(self, how: Growth, bag: Bag) -> Growth:
        if bag.weight_inside is not None:
            return replace(how, min_weight_leaf=self.min_share * float(bag.weight_inside.sum()))
        n = self.matrix.n_rows if bag.rows is None else len(bag.rows)
        return replace(how, min_samples_leaf=max(how.min_samples_leaf, ceil(self.min_share * n)))


def plant(
    matrix: Matrix,
    schema: Schema,
    how: Growth,
    min_share: float,
    ccp_alpha: float,
    category_penalty: float,
) -> Orchard:
    """Sort the columns of a table, if its trees can be grown from that.

    ``min_share`` is min_weight_fraction_leaf; what ``how`` says of weights is not looked at.
    """
    how = replace(how, min_weight_leaf=0.0)
    n, width = matrix.n_rows, matrix.n_columns
    shallow = how.max_depth is not None and how.max_depth <= DEEPEST
    level_wise = shallow and how.max_leaf_nodes is None
    threads = how.n_jobs if n * width > _SERIAL else 1
    shape = (width if level_wise else 0, n)
    kinds = [_KINDS[column.kind] for column in schema.columns]
    table = Table(
        lists=np.empty(shape, np.uint32),
        present=np.full(width, n),
        kind=np.array(kinds, np.uint8),
        n_codes=np.array(
            [
                len(column.categories or ()) if kind == CATEGORIES else 0
                for column, kind in zip(schema.columns, kinds, strict=True)
            ],
            np.int64,
        ),
        values=np.empty(shape),
        has_categories=CATEGORIES in kinds,
    )

    def sort(f: int) -> None:
        values = table.values[f]
        values[:] = matrix.column(f)
        sort_column(values, table.lists[f])
        if schema.columns[f].has_missing:
            table.present[f] = n - np.count_nonzero(table.lists[f] & MISSING)

    if level_wise:
        parallel.run(sort, range(width), threads)
    return Orchard(matrix, schema, how, min_share, ccp_alpha, category_penalty, table, threads)
