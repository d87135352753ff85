"""Growing trees in one compiled call: those of forests, random trees, single trees of small tables.

A tree that draws its columns or cuts looks at little of the table, and what counts is that nothing is
done for the rest: no lists to keep in order, no level to wait for. A table of some thousand rows is
searched so quickly that Python between the levels would take longer than the search. Both are grown here,
whole, in one call (engine/random_tree), small ones of a forest several at a time; large single trees are
grown level by level (levelwise.py). Both ways draw the same random numbers and grow the same trees.
Surrogates, bins and absolute error need lists of all rows and stay level-wise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.columns.presort import ranks_of, sort_column
from arboretum.engine.fixed_point import WEIGHT_BITS, bits_of_each, shift_for, weights_to_grid
from arboretum.engine.jit import writable
from arboretum.engine.random_tree import records
from arboretum.engine.random_tree.describe import describe_classes, describe_numbers, write_sets
from arboretum.engine.random_tree.grow import grow_trees
from arboretum.engine.random_tree.random_cut import ordered_bits
from arboretum.engine.split import statistic as stat
from arboretum.engine.split.categories import EXHAUSTIVE
from arboretum.engine.split.score import CHANCE, XLOGX
from arboretum.predict.walk import has_no_gaps, leaves_of
from arboretum.tree.build import cut_trees, leaf_of_rows
from arboretum.tree.pruning import number_levels
from arboretum.tree.tree import LEAF, SUBSET, THRESHOLD

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.criterion import Target
    from arboretum.grow.levelwise import Growth
    from arboretum.tree.tree import Tree

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

_KINDS = {"numeric": records.NUMBER, "ordinal": records.RANK, "categorical": records.CATEGORY}
SMALL = 5_000  # rows up to which sorting in every node beats lists that are kept in order,
_WITH_WORDS = 20  # and so many times as many where words are counted
# of many classes a single tree tries every subset of up to EXHAUSTIVE categories and orders more of them
# in so many rounds; a tree of a forest does less
_ROUNDS, _FEW_SUBSETS, _FEW_ROUNDS = 50, 5, 4
_NUMBER_BITS = 30  # of a sum of weights that multiply numbers on a grid
_NO_LIMIT = np.iinfo(np.int64).max
_NEAR = 1 << 20  # bytes of columns that are copied together for a branch of a large table,
_LARGE = 3 << 20  # which has more than so many: the cache serves a smaller one without a copy
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


@dataclass(frozen=True, eq=False)
class TreeTable:
    """A table made ready once for any number of trees."""

    matrix: Matrix
    schema: Schema
    columns: records.TreeColumns
    spares: list[_Arrays] = field(default_factory=list)  # arrays of trees that are grown already

    @property
    def coded(self) -> np.ndarray:
        """The columns, categories as their codes."""
        columns = self.columns.codes if self.columns.values is None else self.columns.values
        assert columns is not None
        return columns.reshape(len(self.columns.kind), -1)

    @cached_property
    def has_categories(self) -> bool:
        return bool((self.columns.kind == records.CATEGORY).any())

    @cached_property
    def is_complete(self) -> bool:
        """Whether no value is missing."""
        return has_no_gaps(self.matrix)

    @cached_property
    def node_kinds(self) -> np.ndarray:
        """What a node is that asks for each column; the last is what one is that asks for none."""
        kinds = np.full(len(self.columns.kind) + 1, THRESHOLD, np.uint8)
        if self.has_categories:
            kinds[:-1][self.columns.kind == records.CATEGORY] = SUBSET
        kinds[-1] = LEAF  # its feature is -1
        return kinds


def tree_table(
    matrix: Matrix,
    schema: Schema,
    *,
    random_splits: bool,
    monotone: np.ndarray | None = None,
    keep_lists: bool = False,
    n_jobs: int = 1,
) -> TreeTable:
    """Rank the values of every column; or, for random splits, lay the columns out side by side.

    ``keep_lists``: also keep them presorted, for trees whose large nodes are many: those of boosting.
    """
    n, width = matrix.n_rows, matrix.n_columns
    kind = np.array([_KINDS[column.kind] for column in schema.columns], np.int8)
    n_codes = np.array([len(c.categories or ()) for c in schema.columns], np.int64)
    number = _shortest(matrix) if random_splits else np.float64
    values = np.empty((width, n), f"i{number().itemsize}") if random_splits else None
    codes = None if random_splits else np.empty((width, n), np.uint32)
    lists = np.empty((width if keep_lists and not random_splits else 0, n), np.uint32)

    def code(f: int) -> None:
        assert codes is not None
        column = matrix.column(f)
        if kind[f] == records.CATEGORY:
            missing = np.isnan(column)
            codes[f] = np.where(missing, n_codes[f], column) if missing.any() else column
            return
        entries = lists[f] if len(lists) else np.empty(n, np.uint32)
        n_codes[f] = sort_column(writable(column), entries)
        ranks_of(entries, n_codes[f], codes[f])

    def copy(f: int) -> None:
        assert values is not None
        column = matrix.column(f)
        if kind[f] == records.CATEGORY:
            missing = np.iinfo(values.dtype).max
            values[f] = np.where(np.isnan(column), missing, np.nan_to_num(column).astype(np.int64))
        else:
            ordered_bits(writable(column.astype(number, copy=False)), values[f])

    threads = parallel.threads_for(n * width, parallel.SORT, n_jobs)
    parallel.run(copy if random_splits else code, range(width), threads)
    if codes is not None and n_codes.max(initial=0) < 65535:
        codes = codes.astype(np.uint16)
    sign = np.zeros(width, np.int8) if monotone is None else monotone
    table = codes if values is None else values
    assert table is not None
    columns = records.TreeColumns(
        codes=None if codes is None else codes.ravel(),
        values=None if values is None else values.ravel(),
        step=np.uint64(n),
        by_row=_by_row(table, copies=table.nbytes > _LARGE),
        n_codes=n_codes,
        kind=kind,
        sign=sign,
        origin=np.empty(0, np.uint32),
        lists=lists,
    )
    return TreeTable(matrix, schema, columns)


def _few(table: np.ndarray) -> int:
    """Return how many rows are few enough to be copied together."""
    return max(_NEAR // (len(table) * table.itemsize), 1)


def _by_row(table: np.ndarray, *, copies: bool) -> np.ndarray:
    return np.ascontiguousarray(table.T if copies else table.T[:0])


def _shortest(matrix: Matrix) -> type[np.floating]:
    """Return float32 if it holds every value of a table exactly, float64 otherwise."""
    for f in range(matrix.n_columns):
        column = matrix.column(f)
        with np.errstate(over="ignore"):
            if not np.array_equal(column.astype(np.float32), column, equal_nan=True):
                return np.float64
    return np.float32


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
    if len(seeds) > 1 and not _share_a_grid(target, settings, weights):
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
    grid = _to_grid(table, target, settings, weights, alone)
    arrays = _take_arrays(table, grid, settings)
    y, row_weight = (target.y, weights[0]) if grid.rules.regrid else (None, None)
    on_grid = arrays.target._replace(y=y, row_weight=row_weight)
    grow_trees(
        table.columns, arrays.near, grid.bags, on_grid, np.array(seeds, np.uint64), grid.rules,
        arrays.grown, arrays.scratch, arrays.counter,
    )  # fmt: skip
    trees = _to_trees(table, target, weights, grid, arrays.grown)
    table.spares.append(arrays)
    return trees, grid.bags.rows


# --------------------------------------------------------------------------- the grid
@dataclass(frozen=True, eq=False)
class _Grid:
    """The targets of some trees as whole numbers, and the rules that go with them."""

    bags: records.Bags
    rules: records.TreeRules
    channels: int
    centre: float


def _share_a_grid(target: Target, settings: Growth, weights: np.ndarray) -> bool:
    """Tell whether trees of these weights can be grown by the same rules."""
    plain = target.outputs == 1 and settings.monotone is None and settings.criterion != stat.POISSON
    if not plain or np.any(weights != np.floor(weights)):
        return False
    return target.classes is not None or len({int(w).bit_length() for w in weights.sum(1)}) == 1


def _to_grid(
    table: TreeTable, target: Target, settings: Growth, weights: np.ndarray, alone: bool
) -> _Grid:
    """Put weights and targets on their grid."""
    y, outputs = target.y, target.outputs
    classes, bounded = target.classes, settings.monotone is not None
    numbers = classes is None
    regrid = numbers and (alone or bounded or outputs > 1 or settings.criterion == stat.POISSON)
    whole, step = _weights_on_grid(weights, _NUMBER_BITS if numbers and not regrid else WEIGHT_BITS)
    two_classes = classes is not None and outputs == 1 and classes[0] == 2
    two_classes = bool(two_classes and settings.criterion == stat.GINI)
    label, number, centre, unit, channels = None, None, 0.0, 1.0, outputs
    if numbers and not regrid:  # else every node has its own
        used = y[:, 0] if not len(target.weights) else y[target.weights > 0, 0]
        centre, bits = _number_grid(used, int(whole.sum(1).max()))
        number = np.rint(np.ldexp(y[:, 0] - centre, bits)).astype(np.int64)
        unit = float(np.ldexp(1.0, -2 * bits))
    elif two_classes:
        number, unit = y[:, 0].astype(np.int64), 2.0  # Gini is twice the variance of 0 and 1
    elif classes is not None:
        offsets = np.cumsum(classes) - classes
        label = np.ascontiguousarray((y + offsets).T, np.uint32)
        channels = int(classes.sum())
    criterion = settings.criterion
    if criterion == stat.FRIEDMAN and outputs == 1:
        criterion = stat.SQUARED  # they rank alike
    if bounded or outputs > 1 or criterion == stat.POISSON:
        form = records.CHANNELS
    else:
        form = records.ONE_SUM if label is None else records.ONE_LABEL
    charged = table.has_categories and not settings.random_splits
    rules = records.TreeRules(
        form=form,
        criterion=criterion,
        outputs=outputs,
        two_classes=two_classes,
        max_features=_or_no_limit(settings.max_features),
        max_depth=_or_no_limit(settings.max_depth),
        max_leaves=settings.max_leaf_nodes or 0,
        min_split=settings.min_samples_split,
        min_leaf=settings.min_samples_leaf,
        min_weight=int(np.ceil(settings.min_weight_leaf / step)),
        unit_weights=bool(whole.max() == 1),
        whole_weights=step == 1.0,
        weight_step=step,
        min_decrease=float(settings.min_impurity_decrease),
        gain_unit=unit,
        bounded=bounded,
        regrid=bool(regrid),
        exhaustive=EXHAUSTIVE if alone else _FEW_SUBSETS,
        rounds=_ROUNDS if alone else _FEW_ROUNDS,
        charge=settings.category_penalty * CHANCE if charged else 0.0,
        loner=settings.loner_excess,
    )
    rows = np.empty(np.count_nonzero(whole), np.uint32)
    bags = records.Bags(whole, label, number, rows)
    return _Grid(bags, rules, channels, centre)


def _or_no_limit(limit: int | None) -> int:
    return _NO_LIMIT if limit is None else limit


def _weights_on_grid(weights: np.ndarray, bits: int) -> tuple[np.ndarray, float]:
    """Return the weights as whole numbers, those above 0 at least 1, and what one step weighs."""
    whole, step, as_they_were = weights_to_grid(weights, bits)
    return whole if as_they_were else np.maximum(whole, weights > 0), step


def _number_grid(y: np.ndarray, weight: int) -> tuple[float, int]:
    """Return the middle and the binary digits of a grid so fine that no sum of so many rows overflows.

    The grid decides between splits; what nodes answer is summed in float64.
    """
    centre = float(y.min()) / 2 + float(y.max()) / 2
    return centre, shift_for(float(y.max()) - centre, bits_of_each(weight))


# --------------------------------------------------------------------------- room to grow on
@dataclass(frozen=True, eq=False)
class _Arrays:
    """Arrays to grow trees on, used again for the next ones."""

    grown: records.RandomTreeNodes
    target: records.RandomTreeTarget
    scratch: records.RandomTreeScratch
    counter: records.Counter
    near: records.TreeColumns


def _take_arrays(table: TreeTable, grid: _Grid, settings: Growth) -> _Arrays:
    """Return arrays to grow on: those of trees that are ready, or new ones."""
    size, trees = 2 * len(grid.bags.rows), len(grid.bags.weight)
    try:
        arrays = table.spares.pop()
    except IndexError:  # every other thread has its own
        pass
    else:
        if len(arrays.grown.feature) >= size and len(arrays.grown.node_start) > trees:
            return arrays
    n, columns, one_sum = (
        grid.bags.weight.shape[1],
        table.columns,
        grid.rules.form == records.ONE_SUM,
    )
    label, number = grid.bags.label, None
    if label is None:
        number = np.empty((grid.rules.outputs, n + 8), np.int64)  # read in blocks of eight
    else:
        label = np.empty_like(label)
    target = records.RandomTreeTarget(label, number, np.empty(n + 8, np.int64), None, None)
    return _Arrays(
        _grown(size, trees, settings.monotone is not None),
        target,
        _scratch(columns, n, None if one_sum else grid.channels, settings.max_leaf_nodes or 0),
        _counter(int(columns.n_codes.max(initial=0)), grid.channels),
        _near(columns, n, copies=not (grid.rules.regrid or grid.rules.max_leaves)),
    )


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


def _scratch(
    columns: records.TreeColumns, n: int, channels: int | None, leaves: int
) -> records.RandomTreeScratch:
    x = bits = drawn = cuts = None
    if columns.values is not None:
        x = np.empty(max(n, records.FEW * records.TOGETHER), columns.values.dtype)
        bits = np.empty(3, columns.values.dtype)
        drawn, cuts = np.empty((5, records.TOGETHER), np.int64), np.empty(records.TOGETHER)
    return records.RandomTreeScratch(
        keys=np.empty(n, np.uint64),
        spare=np.empty(n, np.uint64),
        buckets=np.empty(2048, np.uint32),
        x=x,
        ends=None if bits is None else bits.view(f"f{bits.itemsize}"),
        bits=bits,
        drawn=drawn,
        cuts=cuts,
        left=None if channels is None else np.empty(2 * channels, np.int64),
        total=np.empty(channels or 1, np.int64),
        order=np.empty(len(columns.n_codes), np.int64),
        place=np.empty(n if len(columns.lists) else 0, np.uint32),
        constant=np.empty((len(columns.n_codes), 2), np.int64),
        logs=XLOGX,
        stack=np.empty((n + 2, 7), np.int64),
        later=np.empty((n + 2, 7), np.int64),
        heap=np.empty((min(leaves, n) + 2, 10), np.int64) if leaves else None,
        heap_real=np.empty((min(leaves, n) + 2, 2)) if leaves else None,
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


def _near(columns: records.TreeColumns, n: int, *, copies: bool) -> records.TreeColumns:
    few = _few(columns.by_row.T) if copies and len(columns.by_row) else 0
    rows = np.empty((few, columns.by_row.shape[1]), columns.by_row.dtype)
    return columns._replace(
        codes=None if columns.codes is None else rows.ravel(),
        values=None if columns.values is None else rows.ravel(),
        step=np.uint64(1),
        by_row=rows,
        origin=np.empty(few, np.uint32),
    )


# --------------------------------------------------------------------------- from nodes to trees
_Answers = tuple[np.ndarray, np.ndarray, np.ndarray]  # value, impurity and weight of every node


def _describe(
    target: Target, weights: np.ndarray, grid: _Grid, grown: records.RandomTreeNodes
) -> _Answers:
    rules, nodes = grid.rules, int(grown.node_start[len(weights)])
    if rules.two_classes and rules.weight_step == 1.0 and not rules.bounded:
        return _two_classes(grown.weight[:nodes], grown.total[:nodes])
    n_values = 1 if target.classes is None else int(target.classes.max())
    value, impurity = np.empty((nodes, target.outputs, n_values)), np.zeros(nodes)
    node_weight, rows = np.empty(nodes), grid.bags.rows
    y, gini = target.y[:, 0], rules.criterion == stat.GINI
    answer = value[:, 0], impurity, node_weight
    if target.outputs > 1 or rules.regrid or rules.bounded:  # one tree
        _describe_exactly(target, weights[0], grid, grown, (value, impurity, node_weight))
    elif target.classes is not None:
        sums = np.empty((nodes, n_values))
        describe_classes(grown, rows, writable(y), weights, gini, sums, *answer)
    else:
        sums = np.empty((nodes, 3))
        describe_numbers(grown, rows, writable(y), weights, grid.centre, sums, *answer)
    return value, impurity, node_weight


def _describe_exactly(
    target: Target, weight: np.ndarray, grid: _Grid, grown: records.RandomTreeNodes, out: _Answers
) -> None:
    """Write what the nodes of a single tree answer, each from its own rows."""
    value, impurity, node_weight = out
    rules, nodes = grid.rules, len(value)
    start, end = grown.start[:nodes].astype(np.int64), grown.end[:nodes].astype(np.int64)
    if target.classes is not None:
        stat.describe_classes(
            grid.bags.rows, target.y, target.classes, weight, start, end,
            np.int64(rules.criterion), value, node_weight, impurity,
        )  # fmt: skip
    else:
        stat.describe_numbers(
            grid.bags.rows, target.y, weight, start, end, rules.criterion == stat.POISSON, value,
            node_weight, impurity,
        )  # fmt: skip
    if grown.bounds is not None:
        which = value.shape[2] - 1  # the last class' share, or the number itself
        value[:, 0, which] = np.clip(value[:, 0, which], *grown.bounds[:nodes].T)
        if which == 1:
            value[:, 0, 0] = 1.0 - value[:, 0, 1]


def _two_classes(weight: np.ndarray, ones: np.ndarray) -> _Answers:
    """Return the class shares, Gini and weight of nodes that were counted exactly."""
    whole = weight.astype(np.float64)
    shares = np.column_stack([(weight - ones) / whole, ones / whole])
    impurity = 1.0 - (shares[:, 0] * shares[:, 0] + shares[:, 1] * shares[:, 1])
    impurity[(ones == 0) | (ones == weight)] = 0.0
    return shares[:, None, :], impurity, whole


def _gains(first_child: np.ndarray, impurity: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weighted impurity decrease of every node of one tree."""
    risk, gain = impurity * weight / weight[0], np.zeros(len(weight))
    inner = np.flatnonzero(first_child >= 0)
    child = first_child[inner]
    gain[inner] = np.maximum(risk[inner] - risk[child] - risk[child + 1], 0.0)
    return gain


def _to_trees(
    table: TreeTable,
    target: Target,
    weights: np.ndarray,
    grid: _Grid,
    grown: records.RandomTreeNodes,
) -> list[Tree]:
    ends = grown.node_start[: len(weights) + 1]
    nodes = int(ends[-1])
    value, impurity, weight = _describe(target, weights, grid, grown)
    gain = grown.gain[:nodes].copy()
    if grid.rules.weight_step != 1.0 and not grid.rules.regrid:
        # one tree, and the grid has rounded its weights: measure the gains anew
        gain = _gains(grown.first_child[:nodes], impurity, weight)
    feature = grown.feature[:nodes].copy()
    kind = table.node_kinds[feature]
    return cut_trees(
        table.schema,
        ends[1:],
        **_category_sets(table, grown, grid, feature, len(weights)),
        kind=kind,
        feature=feature,
        threshold=_thresholds(table, grown, feature, kind),
        first_child=grown.first_child[:nodes].copy(),
        missing_child=grown.missing_child[:nodes],
        value=value,
        impurity=impurity,
        gain=gain,
        weight=weight,
        count=(grown.end[:nodes] - grown.start[:nodes]).astype(np.int64),
    )


def _thresholds(
    table: TreeTable, grown: records.RandomTreeNodes, feature: np.ndarray, kind: np.ndarray
) -> np.ndarray:
    """Return the thresholds; one between the values of two rows lies in the middle."""
    threshold = grown.threshold[: len(kind)].copy()
    between = ((kind == THRESHOLD) & np.isnan(threshold)).nonzero()[0]
    if len(between):
        f = feature[between]
        rows_of = np.concatenate([grown.below[between], grown.above[between]])
        low, high = table.matrix.at(rows_of, np.concatenate([f, f])).reshape(2, -1)
        middle = low / 2 + high / 2
        as_it_is = (table.columns.kind[f] == records.RANK) | (middle >= high)
        threshold[between] = np.where(as_it_is, low, middle)
    return threshold


def _category_sets(
    table: TreeTable, grown: records.RandomTreeNodes, grid: _Grid, feature: np.ndarray, trees: int
) -> dict[str, np.ndarray]:
    """Return where the category set of every node begins in its tree, all sets, where a tree's end."""
    if not table.has_categories:
        return {}
    n_codes, kind = table.columns.n_codes, table.columns.kind
    words = np.where(kind == records.CATEGORY, (n_codes + 31) // 32, 0)
    size = int(np.append(words, 0)[feature].sum())
    if not size:
        return {}
    bits, bits_start = np.empty(size, np.uint32), np.empty(len(feature), np.int64)
    tree_end = np.empty(trees, np.int64)
    write_sets(table.coded, n_codes, words, grid.bags.rows, grown, bits_start, bits, tree_end)
    return {"bits_start": bits_start, "bits": bits, "bits_ends": tree_end}
