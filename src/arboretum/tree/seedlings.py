"""Growing a tree depth first in one compiled call: how random trees are grown, alone or in forests.

Where nodes draw their columns or thresholds at random, a tree looks at little of the table, and what
counts is that nothing is done for the rest: no lists to keep in order, no level to wait for. This way
serves numbers (and ranks, unless cuts are drawn), one output, Gini, entropy and squared error; other
trees are grown level by level (growing.py), and both draw the same random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import frexp
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import parallel
from arboretum.engine import seedling as engine
from arboretum.engine.jit import writable
from arboretum.engine.moment import XLOGX
from arboretum.engine.order import MISSING, POSITION, sort_column
from arboretum.engine.seedling_nodes import describe_nodes
from arboretum.engine.seedling_random import ordered_bits
from arboretum.engine.statistic import ENTROPY, GINI, SQUARED
from arboretum.tree.tree import LEAF, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.tree.criterion import Target
    from arboretum.tree.growing import Growth

__all__ = ["SeedTable", "can_grow", "grow_seedling", "seed_table"]

_CRITERIA = (GINI, ENTROPY, SQUARED)
_SUM_BITS = 61
_CLASS_BITS, _NUMBER_BITS = 53, 30  # of the sum of weights; targets share the sum with them


def can_grow(how: Growth, schema: Schema, target: Target) -> bool:
    """Tell whether such a tree can be grown this way."""
    kinds = ("numeric",) if how.random_splits else ("numeric", "ordinal")
    return (
        how.criterion in _CRITERIA
        and target.outputs == 1
        and how.max_leaf_nodes is None
        and how.monotone is None
        and how.surrogates == 0
        and how.max_bins is None
        and all(column.kind in kinds for column in schema.columns)
    )


@dataclass(frozen=True, eq=False)
class SeedTable:
    """A table made ready once for any number of trees."""

    matrix: Matrix
    schema: Schema
    columns: engine.Table
    rooms: list[tuple[engine.Grown, engine.Room]] = field(default_factory=list)  # not in use now


def seed_table(
    matrix: Matrix, schema: Schema, *, random_splits: bool, n_jobs: int = 1
) -> SeedTable:
    """Rank the values of every column; or, for random splits, lay the columns out side by side."""
    n, width = matrix.n_rows, matrix.n_columns
    n_codes = np.zeros(width, np.int64)
    number = _shortest(matrix) if random_splits else np.float64
    values = np.empty((width, n) if random_splits else (0, 0), f"i{number().itemsize}")
    codes = np.empty((0, 0) if random_splits else (width, n), np.uint32)

    def rank(f: int) -> None:
        order = np.empty(n, np.uint32)
        column = np.ascontiguousarray(matrix.column(f))
        distinct = sort_column(column, order)
        n_codes[f] = distinct
        run = np.cumsum(order >> np.uint32(31)) - 1
        codes[f, order & POSITION] = np.where(order & MISSING, distinct, run)

    def copy(f: int) -> None:
        ordered_bits(writable(matrix.column(f).astype(number, copy=False)), values[f])

    parallel.run(copy if random_splits else rank, range(width), n_jobs if n > 1 << 12 else 1)
    ranked = np.array([column.kind == "ordinal" for column in schema.columns])
    if not random_splits and n_codes.max(initial=0) < 65535:
        codes = codes.astype(np.uint16)
    return SeedTable(
        matrix,
        schema,
        engine.Table(codes, values, n_codes, ranked, np.empty(0, np.uint32)),
    )


def _shortest(matrix: Matrix) -> type[np.floating]:
    """Return float32 if it holds every value of a table exactly, float64 otherwise."""
    for f in range(matrix.n_columns):
        column = matrix.column(f)
        with np.errstate(over="ignore"):
            if not np.array_equal(column.astype(np.float32), column, equal_nan=True):
                return np.float64
    return np.float32


def grow_seedling(
    table: SeedTable,
    target: Target,
    how: Growth,
    *,
    weight: np.ndarray | None = None,
) -> Tree:
    """Grow one tree.

    Parameters
    ----------
    table : SeedTable
    target : Target
        Targets of all rows of the table; its own weights are not looked at.
    how : Growth
    weight : float64 array or None
        What every row weighs in this tree; rows of weight 0 take no part. None: 1 each.
    """
    n = len(target.y)
    weight = np.ones(n) if weight is None else weight
    rows = np.flatnonzero(weight).astype(np.uint32)
    w = weight[rows]
    on_grid, step = _weights_on_grid(w, _NUMBER_BITS if target.classes is None else _CLASS_BITS)
    n_classes = 1 if target.classes is None else int(target.classes[0])
    y = target.y[:, 0]
    label, number, centre, unit = np.empty(0, np.uint32), np.empty(0, np.int64), 0.0, 1.0
    if target.classes is None:
        number, centre, unit = _numbers_on_grid(y[rows], on_grid)
    elif n_classes == 2 and how.criterion == GINI:
        number, unit = on_grid * y[rows], 2.0  # Gini is twice the variance of 0 and 1
    else:
        label = y[rows].astype(np.uint32)
    rules = engine.Rules(
        criterion=how.criterion,
        max_features=len(table.columns.n_codes) if how.max_features is None else how.max_features,
        random_splits=how.random_splits,
        max_depth=np.iinfo(np.int64).max if how.max_depth is None else how.max_depth,
        min_split=how.min_samples_split,
        min_leaf=how.min_samples_leaf,
        min_weight=int(np.ceil(how.min_weight_leaf / step)),
        min_decrease=float(how.min_impurity_decrease),
        gain_unit=unit,
    )
    try:
        grown, scratch = table.rooms.pop()
    except IndexError:  # every other thread has its own
        grown, scratch = _room(n), _scratch(table.columns, n, n_classes if len(label) else 1)
    nodes = engine.grow_tree(
        table.columns, rows, on_grid, number, label, np.uint64(how.seed), rules, grown, scratch
    )
    if n_classes == 2 and len(number) and step == 1.0:
        answer = _two_classes(grown.weight[:nodes], grown.total[:nodes])
    else:
        sums = np.empty((nodes, 3 if target.classes is None else n_classes))
        answer = np.empty((nodes, n_classes)), np.empty(nodes), np.empty(nodes)
        describe_nodes(
            grown, nodes, rows, y if target.classes is None else np.empty(0),
            y if target.classes is not None else np.empty(0, np.int32), weight, rules, centre, sums,
            answer,
        )  # fmt: skip
    if step != 1.0:  # the grid has rounded the weights: measure the gains anew
        grown.gain[:nodes] = _gains(grown.first_child[:nodes], *answer[1:])
    tree = _to_tree(table, grown, nodes, *answer)
    table.rooms.append((grown, scratch))
    return tree


def _two_classes(weight: np.ndarray, ones: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the class shares, Gini and weight of nodes that were counted exactly."""
    whole = weight.astype(np.float64)
    shares = np.column_stack([(weight - ones) / whole, ones / whole])
    impurity = 1.0 - (shares[:, 0] * shares[:, 0] + shares[:, 1] * shares[:, 1])
    impurity[(ones == 0) | (ones == weight)] = 0.0
    return shares, impurity, whole


def _gains(first_child: np.ndarray, impurity: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weighted impurity decrease of every node."""
    risk, gain = impurity * weight / weight[0], np.zeros(len(weight))
    inner = np.flatnonzero(first_child >= 0)
    child = first_child[inner]
    gain[inner] = np.maximum(risk[inner] - risk[child] - risk[child + 1], 0.0)
    return gain


def _weights_on_grid(w: np.ndarray, bits: int) -> tuple[np.ndarray, float]:
    """Return the weights as whole numbers, and what one step of them weighs."""
    total = float(w.sum())
    if total < 2.0**bits and np.all(w == np.floor(w)):
        return w.astype(np.int64), 1.0
    step = 2.0 ** (frexp(total)[1] - bits)
    return np.maximum(np.rint(w / step), 1).astype(np.int64), step


def _numbers_on_grid(y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return weight times target on a grid so fine that no sum overflows, its middle, its step².

    The grid decides between splits; what nodes answer is summed in float64.
    """
    centre = float(y.min()) / 2 + float(y.max()) / 2
    largest = max(float(y.max()) - centre, np.finfo(float).tiny)
    bits = _SUM_BITS - frexp(largest)[1] - int(weight.sum()).bit_length()
    number = weight * np.rint(np.ldexp(y - centre, bits)).astype(np.int64)
    return number, centre, float(np.ldexp(1.0, -2 * bits))


def _room(n_rows: int) -> engine.Grown:
    size = 2 * n_rows
    return engine.Grown(
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
    )


def _scratch(columns: engine.Table, n_rows: int, channels: int) -> engine.Room:
    values = columns.values
    bits = np.empty(3, values.dtype)
    return engine.Room(
        keys=np.empty(n_rows, np.uint64),
        spare=np.empty(n_rows, np.uint64),
        counts=np.empty(2048, np.uint32),
        x=np.empty(n_rows if len(values) else 0, values.dtype),
        left=np.empty(channels, np.int64),
        total=np.empty(channels, np.int64),
        order=np.empty(len(columns.n_codes), np.int64),
        ends=bits.view(f"f{bits.itemsize}"),
        bits=bits,
        logs=XLOGX,
    )


def _to_tree(
    table: SeedTable,
    grown: engine.Grown,
    nodes: int,
    value: np.ndarray,
    impurity: np.ndarray,
    weight: np.ndarray,
) -> Tree:
    feature, threshold = grown.feature[:nodes].copy(), grown.threshold[:nodes].copy()
    leaf = feature < 0
    if not len(table.columns.values):
        between = np.flatnonzero(~leaf & np.isnan(threshold))
        f = feature[between]
        low = table.matrix.at(grown.below[between], f)
        high = table.matrix.at(grown.above[between], f)
        middle = low / 2 + high / 2
        threshold[between] = np.where(table.columns.worded[f] | (middle >= high), low, middle)
    return Tree(
        kind=np.where(leaf, np.uint8(LEAF), np.uint8(THRESHOLD)),
        feature=feature,
        threshold=threshold,
        first_child=grown.first_child[:nodes].copy(),
        n_children=np.where(leaf, np.int32(0), np.int32(2)),
        missing_child=grown.missing_child[:nodes].astype(np.int32),
        bits_start=np.broadcast_to(np.int64(-1), nodes),  # no category sets: takes no room
        bits=np.zeros(0, np.uint32),
        value=value[:, None, :],
        impurity=impurity,
        gain=grown.gain[:nodes].copy(),
        weight=weight,
        count=(grown.end[:nodes] - grown.start[:nodes]).astype(np.int64),
        schema=table.schema,
    )
