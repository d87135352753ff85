"""Growing a tree in one compiled call: trees of forests, random trees, single trees of small tables.

A tree that draws its columns or cuts looks at little of the table, and what counts is that nothing is
done for the rest: no lists to keep in order, no level to wait for. A table of some thousand rows is
searched so quickly that Python between the levels would take longer than the search. Both are grown here,
whole, in one call (engine/random_tree); large single trees are grown level by level (growing.py). Both
ways draw the same random numbers and grow the same trees. Surrogates, bins and absolute error need lists
of all rows and stay level-wise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import frexp
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import parallel
from arboretum.engine import statistic as stat
from arboretum.engine.categories import CHANCE, EXHAUSTIVE
from arboretum.engine.jit import writable
from arboretum.engine.moment import XLOGX
from arboretum.engine.order import MISSING, POSITION, sort_column
from arboretum.engine.random_tree import records
from arboretum.engine.random_tree.describe import describe_nodes, write_sets
from arboretum.engine.random_tree.grow import grow_tree
from arboretum.engine.random_tree.random_cut import ordered_bits
from arboretum.tree.tree import LEAF, SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.tree.criterion import Target
    from arboretum.tree.growing import Growth

__all__ = ["SMALL", "TreeTable", "can_grow", "grow_random_tree", "looks_at_little", "tree_table"]

_KINDS = {"numeric": records.NUMBER, "ordinal": records.RANK, "categorical": records.CATEGORY}
_SUM_BITS = 61
SMALL = 5_000  # rows up to which sorting in every node beats lists that are kept in order,
_WITH_WORDS = 20  # and so many times as many where words are counted
_FEW_SUBSETS = 5  # categories up to which trees of a forest try every subset
_CLASS_BITS, _NUMBER_BITS = 53, 30  # of the sum of weights; targets share the sum with them
_NO_LABEL, _NO_NUMBER = np.empty((0, 0), np.uint32), np.empty((0, 0), np.int64)


def can_grow(how: Growth) -> bool:
    """Tell whether such a tree can be grown this way."""
    return how.criterion != stat.ABSOLUTE and how.surrogates == 0 and how.max_bins is None


def looks_at_little(how: Growth, matrix: Matrix, schema: Schema) -> bool:
    """Tell whether one call is the quicker way for a single tree: it draws, or the table is small."""
    if how.random_splits or how.max_features is not None:
        return True
    words = any(column.kind == "categorical" for column in schema.columns)
    return matrix.n_rows <= (_WITH_WORDS * SMALL if words else SMALL)


@dataclass(frozen=True, eq=False)
class TreeTable:
    """A table made ready once for any number of trees."""

    matrix: Matrix
    schema: Schema
    columns: records.Table
    spares: list[tuple] = field(default_factory=list)  # arrays of trees that are grown already

    @property
    def coded(self) -> np.ndarray:
        """The columns, categories as their codes."""
        return self.columns.values if len(self.columns.values) else self.columns.codes


def tree_table(
    matrix: Matrix,
    schema: Schema,
    *,
    random_splits: bool,
    monotone: np.ndarray | None = None,
    n_jobs: int = 1,
) -> TreeTable:
    """Rank the values of every column; or, for random splits, lay the columns out side by side."""
    n, width = matrix.n_rows, matrix.n_columns
    kind = np.array([_KINDS[column.kind] for column in schema.columns], np.int8)
    n_codes = np.array([len(c.categories or ()) for c in schema.columns], np.int64)
    number = _shortest(matrix) if random_splits else np.float64
    values = np.empty((width, n) if random_splits else (0, 0), f"i{number().itemsize}")
    codes = np.empty((0, 0) if random_splits else (width, n), np.uint32)

    def code(f: int) -> None:
        column = matrix.column(f)
        if kind[f] == records.CATEGORY:
            codes[f] = np.where(np.isnan(column), n_codes[f], column)
            return
        order = np.empty(n, np.uint32)
        n_codes[f] = distinct = sort_column(writable(column), order)
        run = np.cumsum(order >> np.uint32(31)) - 1
        codes[f, order & POSITION] = np.where(order & MISSING, distinct, run)

    def copy(f: int) -> None:
        column = matrix.column(f)
        if kind[f] == records.CATEGORY:
            gone = np.iinfo(values.dtype).max
            values[f] = np.where(np.isnan(column), gone, np.nan_to_num(column).astype(np.int64))
        else:
            ordered_bits(writable(column.astype(number, copy=False)), values[f])

    parallel.run(copy if random_splits else code, range(width), n_jobs if n > 1 << 12 else 1)
    if not random_splits and n_codes.max(initial=0) < 65535:
        codes = codes.astype(np.uint16)
    sign = np.zeros(width, np.int8) if monotone is None else monotone
    columns = records.Table(codes, values, n_codes, kind, sign, np.empty(0, np.uint32))
    return TreeTable(matrix, schema, columns)


def _shortest(matrix: Matrix) -> type[np.floating]:
    """Return float32 if it holds every value of a table exactly, float64 otherwise."""
    for f in range(matrix.n_columns):
        column = matrix.column(f)
        with np.errstate(over="ignore"):
            if not np.array_equal(column.astype(np.float32), column, equal_nan=True):
                return np.float64
    return np.float32


# --------------------------------------------------------------------------- one tree
def grow_random_tree(
    table: TreeTable,
    target: Target,
    how: Growth,
    *,
    weight: np.ndarray | None = None,
    alone: bool = False,
) -> Tree:
    """Grow one tree.

    Parameters
    ----------
    table : TreeTable
    target : Target
        Targets of all rows of the table; its own weights are not looked at.
    how : Growth
    weight : float64 array or None
        What every row weighs in this tree; rows of weight 0 take no part. None: 1 each.
    alone : bool
        A single tree: sums and answers to the last bit, where a forest's trees may be quicker.
    """
    has_categories = bool((table.columns.kind == records.CATEGORY).any())
    on_grid = _to_grid(target, how, weight, alone, has_categories)
    spare = _spare(table, len(target.y), on_grid, how)
    grown = spare[0]
    nodes = grow_tree(
        table.columns, on_grid.rows, on_grid.target, np.uint64(how.seed), on_grid.rules, *spare
    )
    answer = _describe(target, weight, on_grid, grown, nodes)
    if (
        on_grid.rules.weight_step != 1.0 and not on_grid.rules.regrid
    ):  # the grid has rounded the weights: measure the gains anew
        grown.gain[:nodes] = _gains(grown.first_child[:nodes], *answer[1:])
    tree = _to_tree(table, grown, nodes, on_grid.rows, *answer)
    table.spares.append(spare)
    return tree


@dataclass(frozen=True, eq=False)
class _OnGrid:
    """The target of one tree as whole numbers, and the rules that go with it."""

    rows: np.ndarray
    target: records.Target
    rules: records.Rules
    channels: int
    centre: float


def _to_grid(
    target: Target, how: Growth, weight: np.ndarray | None, alone: bool, has_categories: bool
) -> _OnGrid:
    """Put weights and targets of the rows that take part on their grid."""
    n, outputs = target.y.shape
    rows = np.arange(n, dtype=np.uint32) if weight is None else np.flatnonzero(weight).astype("u4")
    y = target.y if len(rows) == n else target.y[rows]
    classes = np.empty(0, np.int64) if target.classes is None else target.classes
    numbers, bounded = not len(classes), how.monotone is not None
    regrid = numbers and (alone or bounded or outputs > 1 or how.criterion == stat.POISSON)
    whole, step = np.ones(len(rows), np.int64), 1.0
    if weight is not None:
        bits = _NUMBER_BITS if numbers and not regrid else _CLASS_BITS
        whole, step = _weights_on_grid(weight[rows], bits)
    label, number, centre, unit, channels = _NO_LABEL, _NO_NUMBER, 0.0, 1.0, outputs
    two_classes = how.criterion == stat.GINI and outputs == 1 and classes[0] == 2
    real = np.empty((0, 1)), np.empty(0)
    if regrid:
        number = np.empty((outputs, len(rows)), np.int64)
        real = target.y, np.empty(0) if weight is None else weight
    elif numbers:
        values, centre, unit = _numbers_on_grid(y[:, 0], whole)
        number = values[None, :]
    elif two_classes:
        number, unit = (whole * y[:, 0])[None, :], 2.0  # Gini is twice the variance of 0 and 1
    else:
        offsets = np.cumsum(classes) - classes
        label = np.ascontiguousarray((y + offsets).T, np.uint32)
        channels = int(classes.sum())
    criterion = how.criterion
    if criterion == stat.FRIEDMAN and outputs == 1:
        criterion = stat.SQUARED  # they rank alike
    if bounded or outputs > 1 or criterion == stat.POISSON:
        form = records.CHANNELS
    else:
        form = records.ONE_LABEL if len(label) else records.ONE_SUM
    rules = records.Rules(
        form=form,
        criterion=criterion,
        outputs=outputs,
        two_classes=bool(two_classes),
        max_features=np.iinfo(np.int64).max if how.max_features is None else how.max_features,
        random_splits=how.random_splits,
        max_depth=np.iinfo(np.int64).max if how.max_depth is None else how.max_depth,
        max_leaves=how.max_leaf_nodes or 0,
        min_split=how.min_samples_split,
        min_leaf=how.min_samples_leaf,
        min_weight=int(np.ceil(how.min_weight_leaf / step)),
        unit_weights=bool(weight is None or (whole == 1).all()),
        whole_weights=step == 1.0,
        weight_step=step,
        min_decrease=float(how.min_impurity_decrease),
        gain_unit=unit,
        bounded=bounded,
        regrid=bool(regrid),
        exhaustive=EXHAUSTIVE if alone else _FEW_SUBSETS,
        charge=how.category_penalty * CHANCE if has_categories else 0.0,
    )
    return _OnGrid(rows, records.Target(label, number, whole, *real), rules, channels, centre)


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


# --------------------------------------------------------------------------- room to grow on
def _spare(table: TreeTable, n: int, on_grid: _OnGrid, how: Growth) -> tuple:
    """Return arrays to grow on: those of a tree that is ready, or new ones."""
    try:
        return table.spares.pop()
    except IndexError:  # every other thread has its own
        return (
            _grown(n, how.monotone is not None),
            _scratch(table.columns, n, on_grid.channels, how.max_leaf_nodes or 0),
            _counter(int(table.columns.n_codes.max(initial=0)), on_grid.channels),
        )


def _grown(n_rows: int, bounded: bool) -> records.Grown:
    size = 2 * n_rows
    bounds = np.empty((size if bounded else 0, 2))
    bounds[:1] = -np.inf, np.inf
    return records.Grown(
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
        bounds=bounds,
    )


def _scratch(columns: records.Table, n: int, channels: int, leaves: int) -> records.Scratch:
    values = columns.values
    bits = np.empty(3, values.dtype)
    return records.Scratch(
        keys=np.empty(n, np.uint64),
        spare=np.empty(n, np.uint64),
        buckets=np.empty(2048, np.uint32),
        x=np.empty(n if len(values) else 0, values.dtype),
        left=np.empty(channels, np.int64),
        total=np.empty(channels, np.int64),
        order=np.empty(len(columns.n_codes), np.int64),
        constant=np.empty((len(columns.n_codes), 2), np.int64),
        ends=bits.view(f"f{bits.itemsize}"),
        bits=bits,
        logs=XLOGX,
        stack=np.empty((n + 2, 7), np.int64),
        later=np.empty((n + 2, 7), np.int64),
        heap=np.empty((min(leaves, n) + 2 if leaves else 0, 10), np.int64),
        heap_real=np.empty((min(leaves, n) + 2 if leaves else 0, 2)),
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


# --------------------------------------------------------------------------- from nodes to a tree
def _describe(
    target: Target, weight: np.ndarray | None, on_grid: _OnGrid, grown: records.Grown, nodes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return value, impurity and weight of every node."""
    rules, outputs = on_grid.rules, target.outputs
    if rules.two_classes and rules.weight_step == 1.0 and not rules.bounded:
        return _two_classes(grown.weight[:nodes], grown.total[:nodes])
    n_values = 1 if target.classes is None else int(target.classes.max())
    if outputs == 1 and not rules.regrid and not rules.bounded:
        shares = target.classes is not None
        sums = np.empty((nodes, n_values if shares else 3))
        value, impurity, node_weight = np.empty((nodes, n_values)), np.empty(nodes), np.empty(nodes)
        describe_nodes(
            grown, nodes, on_grid.rows, np.empty(0) if shares else target.y[:, 0],
            target.y[:, 0] if shares else np.empty(0, np.int32),
            np.ones(len(target.y)) if weight is None else weight, rules, on_grid.centre, sums,
            (value, impurity, node_weight),
        )  # fmt: skip
        return value[:, None, :], impurity, node_weight
    value = np.empty((nodes, outputs, n_values))
    node_weight, impurity = np.empty(nodes), np.zeros(nodes)
    w = np.empty(0) if weight is None else weight
    start, end = grown.start[:nodes].astype(np.int64), grown.end[:nodes].astype(np.int64)
    if target.classes is not None:
        stat.describe_classes(
            on_grid.rows, target.y, target.classes, w, start, end,
            rules.criterion == stat.ENTROPY, value, node_weight, impurity,
        )  # fmt: skip
    else:
        stat.describe_numbers(
            on_grid.rows, target.y, w, start, end, rules.criterion == stat.POISSON, value,
            node_weight, impurity,
        )  # fmt: skip
    if rules.bounded:
        which = n_values - 1  # the last class' share, or the number itself
        value[:, 0, which] = np.clip(value[:, 0, which], *grown.bounds[:nodes].T)
        if n_values == 2:
            value[:, 0, 0] = 1.0 - value[:, 0, 1]
    return value, impurity, node_weight


def _two_classes(weight: np.ndarray, ones: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the class shares, Gini and weight of nodes that were counted exactly."""
    whole = weight.astype(np.float64)
    shares = np.column_stack([(weight - ones) / whole, ones / whole])
    impurity = 1.0 - (shares[:, 0] * shares[:, 0] + shares[:, 1] * shares[:, 1])
    impurity[(ones == 0) | (ones == weight)] = 0.0
    return shares[:, None, :], impurity, whole


def _gains(first_child: np.ndarray, impurity: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weighted impurity decrease of every node."""
    risk, gain = impurity * weight / weight[0], np.zeros(len(weight))
    inner = np.flatnonzero(first_child >= 0)
    child = first_child[inner]
    gain[inner] = np.maximum(risk[inner] - risk[child] - risk[child + 1], 0.0)
    return gain


def _to_tree(
    table: TreeTable,
    grown: records.Grown,
    nodes: int,
    rows: np.ndarray,
    value: np.ndarray,
    impurity: np.ndarray,
    weight: np.ndarray,
) -> Tree:
    feature, threshold = grown.feature[:nodes].copy(), grown.threshold[:nodes].copy()
    columns, leaf = table.columns, feature < 0
    kind = np.where(leaf, np.uint8(LEAF), np.uint8(THRESHOLD))
    kind[~leaf & (columns.kind[feature] == records.CATEGORY)] = SUBSET
    between = np.flatnonzero((kind == THRESHOLD) & np.isnan(threshold))
    if len(between):
        f = feature[between]
        rows_of = np.concatenate([grown.below[between], grown.above[between]])
        low, high = table.matrix.at(rows_of, np.concatenate([f, f])).reshape(2, -1)
        middle = low / 2 + high / 2
        as_it_is = (columns.kind[f] == records.RANK) | (middle >= high)
        threshold[between] = np.where(as_it_is, low, middle)
    missing_child = grown.missing_child[:nodes].astype(np.int32)
    bits_start, bits = _category_sets(table, grown, rows, kind, missing_child)
    return Tree(
        kind=kind,
        feature=feature,
        threshold=threshold,
        first_child=grown.first_child[:nodes].copy(),
        n_children=np.where(leaf, np.int32(0), np.int32(2)),
        missing_child=missing_child,
        bits_start=bits_start,
        bits=bits,
        value=value,
        impurity=impurity,
        gain=grown.gain[:nodes].copy(),
        weight=weight,
        count=(grown.end[:nodes] - grown.start[:nodes]).astype(np.int64),
        schema=table.schema,
    )


def _category_sets(
    table: TreeTable,
    grown: records.Grown,
    rows: np.ndarray,
    kind: np.ndarray,
    missing_child: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return where the category set of every node begins, and the sets."""
    subset = np.flatnonzero(kind == SUBSET)
    if not len(subset):
        return np.broadcast_to(np.int64(-1), len(kind)), np.zeros(0, np.uint32)  # takes no room
    n_codes = table.columns.n_codes
    words = (n_codes[grown.feature[subset]] + 31) // 32
    start = np.cumsum(words) - words
    bits = np.empty(int(words.sum()), np.uint32)
    absent_left = missing_child[subset] == 0
    write_sets(table.coded, n_codes, rows, grown, absent_left, subset, start, bits)
    bits_start = np.full(len(kind), -1)
    bits_start[subset] = start
    return bits_start, bits
