"""Arrays to grow trees on, used again for the next ones, and which kernels grow them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.engine.compiler.by_address import address_of, stand_in
from arboretum.engine.depth_first import records
from arboretum.engine.depth_first.best_cut import best_cut
from arboretum.engine.depth_first.branch import copy_rows
from arboretum.engine.depth_first.codes import count_column, read_codes
from arboretum.engine.depth_first.counts import order_categories
from arboretum.engine.depth_first.grow import grow_on, grow_trees
from arboretum.engine.depth_first.node import write_impurity
from arboretum.engine.depth_first.partition import split_by_number, split_by_set
from arboretum.engine.depth_first.random_cut import random_cut
from arboretum.engine.depth_first.toss import split_by_coins
from arboretum.engine.dtypes import as_records, record_table
from arboretum.engine.split.score import XLOGX

if TYPE_CHECKING:
    from collections.abc import Callable

    from arboretum.grow.depth_first.grid import TreeGrid
    from arboretum.grow.depth_first.table import TreeTable

__all__ = ["TreeArrays", "take_arrays"]

_NEAR = 1 << 20  # bytes of columns that are copied together for a branch of a large table


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """What some trees are grown on."""

    far: records.TreeColumns
    near: records.TreeColumns
    bench: records.Bench
    growing: records.Growing

    def grow(
        self,
        table: TreeTable,
        grid: TreeGrid,
        seeds: list[int],
        y: np.ndarray | None,
        row_weight: np.ndarray | None,
    ) -> records.RandomTreeNodes:
        """Grow a tree for every seed; ``y`` and ``row_weight`` where every node has its own grid."""
        seed = np.array(seeds, np.uint64)
        growing = self.growing._replace(seeds=seed, y=y, row_weight=row_weight)
        target, scratch, bags = self.bench.target, self.bench.scratch, grid.bags
        form = _Form(
            self.far.values.dtype.char,
            table.random_splits,
            table.has_categories,
            grid.rules.charge > 0.0,
            len(growing.origin) > 0,
            target.label is not None,
            scratch.left is None,
        )
        kernels = _kernels.get(form)
        if kernels is None:
            kernels = _kernels[form] = _find_kernels(form, self.far, self.bench, bags.rows)
        bench = self.bench._replace(rules=grid.rules, kernels=kernels)
        loop = (
            form,
            bags.number is None,
            y is None,
            growing.heap is None,
            growing.out.bounds is None,
        )
        at = _loops.get(loop)
        if at is None:
            at = _loops[loop] = _find_loop(self.far, bench, bags, growing)
        grow_on(at, self.far, self.near, bench, bags, growing)
        return growing.out


def take_arrays(table: TreeTable, grid: TreeGrid) -> TreeArrays:
    """Return arrays to grow on: those of trees that are ready, or new ones."""
    size, trees = 2 * len(grid.bags.rows), len(grid.bags.weight)
    try:
        arrays: TreeArrays = table.spares.pop()
    except IndexError:  # every other thread has its own
        pass
    else:
        out = arrays.growing.out
        if len(out.feature) >= size and len(out.node_start) > trees:
            return arrays
    n, rules, features = grid.bags.weight.shape[1], grid.rules, table.features
    copies = len(table.by_row) > 0 and not (rules.regrid or rules.max_leaves)
    few = max(_NEAR // max(table.by_row[:1].nbytes, 1), 1) if copies else 0
    far = _columns(table, n)
    rows = np.empty((few, table.by_row.shape[1]), table.by_row.dtype)
    bench = records.Bench(
        rules=rules,
        features=features,
        target=_target(grid, n),
        scratch=_scratch(features, n, None if rules.form == records.ONE_SUM else grid.channels),
        counter=_counter(int(features.n_codes.max(initial=0)), grid.channels),
        kernels=_NOWHERE,
        node=_node(grid.channels if rules.form != records.ONE_SUM else 1),
    )
    return TreeArrays(
        far=far,
        near=far._replace(values=rows.ravel(), step=np.uint64(1), by_row=rows),
        bench=bench,
        growing=_growing(_grown(size, trees, rules.bounded), n, rules.max_leaves, few),
    )


# --------------------------------------------------------------------------- which kernels
class _Form(NamedTuple):
    """What the kernels of a fit depend on."""

    values: str  # the type of the table's values
    random: bool
    categories: bool
    charged: bool
    copies: bool
    labels: bool
    one_sum: bool


_NOWHERE = records.TreeKernels(*[0] * len(records.TreeKernels._fields))
_kernels: dict[_Form, records.TreeKernels] = {}
_loops: dict[tuple[Any, ...], int] = {}


def _find_kernels(
    form: _Form, columns: records.TreeColumns, bench: records.Bench, rows: np.ndarray
) -> records.TreeKernels:
    """Return the addresses of what a fit needs, the largest first, after compiling what is missing."""
    node, f = (columns, bench, rows), np.uint64(0)

    def at(function: Callable[..., None], *arguments: Any, needed: bool = True) -> int:
        return address_of(function, *arguments) if needed else 0

    search = at(random_cut, *node) if form.random else at(best_cut, stand_in(columns), *node[1:])
    split_sets = split_by_coins if form.random else split_by_set
    return records.TreeKernels(
        search=search,
        read=at(read_codes, *node, f, needed=not form.random),
        count=at(count_column, *node, f, needed=not form.random),
        split=at(split_by_number, *node),
        split_sets=at(split_sets, *node, needed=form.categories),
        order=at(order_categories, bench, f, needed=form.categories and not form.random),
        impurity=at(write_impurity, bench, needed=form.charged),
        copy=at(copy_rows, columns, columns, rows, 0, 0, needed=form.copies),
    )


def _find_loop(
    columns: records.TreeColumns,
    bench: records.Bench,
    bags: records.Bags,
    growing: records.Growing,
) -> int:
    """Return the address of the loop, which is the same for all tables."""
    table = stand_in(columns)
    return address_of(grow_trees, table, table, bench, bags, growing)


# --------------------------------------------------------------------------- arrays
def _columns(table: TreeTable, n: int) -> records.TreeColumns:
    values = table.values
    x = bits = None
    if table.random_splits:
        x, bits = np.empty(n + 8, values.dtype), np.empty(3, values.dtype)
    return records.TreeColumns(
        values=values.ravel(),
        step=np.uint64(n),
        by_row=table.by_row,
        x=x,
        ends=None if bits is None else bits.view(f"f{bits.itemsize}"),
        bits=bits,
    )


def _node(channels: int) -> np.ndarray:
    """Return a node at hand of which nothing is known: its grid is that of the tree."""
    node = np.zeros(1, records.NODE_AT_HAND)
    node["unit"], node["channels"] = 1.0, channels
    return as_records(node)


def _target(grid: TreeGrid, n: int) -> records.RandomTreeTarget:
    label, number = grid.bags.label, None
    if label is None:
        number = np.empty((grid.rules.outputs, n + 8), np.int64)  # read in blocks of eight
    else:
        label = np.empty_like(label)
    return records.RandomTreeTarget(label, number, np.empty(n + 8, np.int64))


def _grown(size: int, trees: int, bounded: bool) -> records.RandomTreeNodes:
    return records.RandomTreeNodes(
        feature=np.empty(size, np.int32),
        threshold=np.empty(size),
        below=np.empty(size, np.uint32),
        above=np.empty(size, np.uint32),
        first_child=np.empty(size, np.int32),
        missing_child=np.empty(size, np.int8),
        gain=np.empty(size),
        start=np.empty(size, np.uint32),
        end=np.empty(size, np.uint32),
        weight=np.empty(size, np.int64),
        total=np.empty(size, np.int64),
        bounds=np.empty((size, 2)) if bounded else None,
        node_start=np.empty(trees + 1, np.int64),
    )


def _growing(out: records.RandomTreeNodes, n: int, leaves: int, few: int) -> records.Growing:
    return records.Growing(
        seeds=np.empty(0, np.uint64),
        y=None,
        row_weight=None,
        out=out,
        stack=record_table(n + 2, records.BRANCH),
        later=record_table(n + 2, records.BRANCH),
        heap=record_table(min(leaves, n) + 2, records.BRANCH) if leaves else None,
        origin=np.empty(few, np.uint32),
    )


def _scratch(
    features: records.TreeFeatures, n: int, channels: int | None
) -> records.RandomTreeScratch:
    keys, spare = np.empty(n, np.uint64), np.empty(n + 8, np.uint64)
    return records.RandomTreeScratch(
        keys=keys,
        side_of=keys.view(np.uint8),
        spare=spare,
        spare_row=spare.view(np.uint32),
        spare_sum=spare.view(np.int64),
        buckets=np.empty(2048, np.uint32),
        left=None if channels is None else np.empty(2 * channels, np.int64),
        total=np.empty(channels or 1, np.int64),
        order=np.empty(len(features.n_codes), np.int64),
        constant=np.empty((len(features.n_codes), 2), np.int64),
        logs=XLOGX,
    )


def _counter(most_codes: int, channels: int) -> records.Counter:
    size = most_codes + 1
    return records.Counter(
        tag=np.zeros(1, np.int64),
        cells=np.zeros((size, records.SUMS + channels), np.int64),
        seen=np.empty(size, np.int64),
        key=np.empty(size),
        axis=np.empty((3, channels)),
        takes=np.empty(size, np.uint8),
    )
