"""What trees are grown from, on and into.

Rows of a node stand next to each other, and so do their weights and targets; a cut puts those that go
left first. A target is added up in one of three forms, the plainest that serves its criterion:

    ONE_SUM     a number per row           squared error, Gini of two classes
    ONE_LABEL   a class per row            Gini, entropy
    CHANNELS    any number of either       several outputs, Poisson, Friedman, monotone constraints

All sums are whole numbers on a grid. It is chosen once for a tree of a forest, and anew for every node
of a single regression tree (``regrid``), whose last bits may matter to somebody.

What a way of growing does not need is None. Functions test their arguments with ``is not None``, and what
they would do with it is not even compiled: the first fit on a machine waits for its own way only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["CATEGORY", "CHANNELS", "NUMBER", "ONE_LABEL", "ONE_SUM", "RANK"]
__all__ += ["EXAMPLE", "ROWS", "STAMP", "SUMS", "WEIGHT"]
__all__ += [
    "BRANCH",
    "NODE_AT_HAND",
    "Bags",
    "Bench",
    "Counter",
    "Growing",
    "RandomTreeNodes",
    "RandomTreeScratch",
    "RandomTreeTarget",
    "TreeColumns",
    "TreeFeatures",
    "TreeKernels",
    "TreeRules",
]

NUMBER, RANK, CATEGORY = 0, 1, 2  # kinds of columns
ONE_SUM, ONE_LABEL, CHANNELS = 0, 1, 2  # forms of a target
# cells of a code: the last count in which it occurred, how many rows, their weight, one of them, their sums
STAMP, ROWS, WEIGHT, EXAMPLE, SUMS = 0, 1, 2, 3, 4


class TreeColumns(NamedTuple):
    """The values of the table or of a copy of some rows, and what is written while they are read.

    What row r holds in column f is at ``f * step + r``. In the whole table r is the number of the row. In a
    copy of some rows it is where the values of the row begin, and step is 1:

        table   f0 f0 f0 f0 | f1 f1 f1 f1       step 4, rows 0 1 2 3
        copy    f0 f1 | f0 f1 | f0 f1           step 1, rows 0 2 4

    Large nodes read a column from end to end; small ones some columns of a few rows. Only the kernels that
    read values know what type they have; others hand this on as an address (`where_is`).
    """

    # (n_columns * n_rows,) unsigned: rank or category. Random splits: int64 or int32, see `ordered_bits`
    values: np.ndarray
    step: np.uint64  # how far it is from a column to the next
    by_row: np.ndarray  # (n_rows, n_columns) as ``values``, row by row; or (0, n_columns)
    x: (
        np.ndarray | None
    )  # (n_rows + 8,) int32 or int64: values of a node: random splits only, as are
    ends: np.ndarray | None  # (3,) float32 or float64
    bits: np.ndarray | None  # (3,) int32 or int64: the same memory as whole numbers


class TreeFeatures(NamedTuple):
    """What is known of every column, the same for all trees of a forest."""

    n_codes: np.ndarray  # (n_columns,) int64; with random splits that of categories only
    missing: (
        np.ndarray
    )  # (n_columns,) int64: what a missing value is written as, the largest there is
    kind: np.ndarray  # (n_columns,) int8: NUMBER, RANK, CATEGORY
    sign: np.ndarray  # (n_columns,) int8: monotone constraints
    charged: np.ndarray  # (n_columns,) bool: categories are charged for what they gain by chance


class Bags(NamedTuple):
    """Which rows every tree sees, and what they add to a node."""

    weight: np.ndarray  # (n_trees, n_rows) int64 on the grid; rows of weight 0 take no part
    label: np.ndarray | None  # (n_outputs, n_rows) uint32 channel of the row's class in each output
    number: np.ndarray | None  # (n_rows,) int64, target on the grid
    rows: np.ndarray  # (room,) uint32, the trees' rows, tree after tree: written


class RandomTreeTarget(NamedTuple):
    """What the rows of the tree that grows add to their nodes, by position."""

    label: np.ndarray | None  # (n_outputs, n_rows) uint32
    number: np.ndarray | None  # (n_outputs, n_rows) int64, weight times target on the grid
    weight: np.ndarray  # (n_rows,) int64 on the grid


class TreeRules(NamedTuple):
    """When to divide a node, and how."""

    form: int
    criterion: int
    outputs: int
    two_classes: bool  # the one sum counts class 1
    max_features: int
    max_depth: int
    max_leaves: int  # 0: no limit, depth first
    min_split: int
    min_leaf: int
    min_weight: int  # on the grid
    unit_weights: bool  # every row weighs 1
    whole_weights: bool
    weight_step: float  # what one step of the weights' grid weighs
    min_decrease: float  # of the weighted impurity, as a share of the whole weight
    gain_unit: float  # what a score is to be multiplied by
    bounded: bool  # there are monotone constraints
    regrid: bool  # every node has its own grid
    exhaustive: int  # up to this many categories at a node are tried in every subset
    rounds: int  # of the power iteration that orders more of them
    charge: float  # share of a row's impurity that a category more is held to gain by chance
    loner: float  # what one of a single row gains more than that, as a share of it


class RandomTreeNodes(NamedTuple):
    """Room for the nodes of some trees, tree after tree; children are counted from their tree's root."""

    feature: np.ndarray  # (most nodes,) int32, -1 at a leaf
    threshold: np.ndarray  # (most nodes,) float64; NaN if it lies between the values of two rows:
    below: np.ndarray  # (most nodes,) uint32, a row of the largest value on the left
    above: np.ndarray  # (most nodes,) uint32, a row of the smallest value on the right
    first_child: np.ndarray  # (most nodes,) int32
    missing_child: np.ndarray  # (most nodes,) int8
    gain: np.ndarray  # (most nodes,) float64
    start: np.ndarray  # (most nodes,) uint32, where the rows of a node stand
    end: np.ndarray  # (most nodes,) uint32
    weight: np.ndarray  # (most nodes,) int64, of its rows, on the grid
    total: (
        np.ndarray
    )  # (most nodes,) int64, of their numbers (one sum); of labels, how many there are
    bounds: np.ndarray | None  # (most nodes, 2) float64, from monotone constraints
    node_start: np.ndarray  # (n_trees + 1,) int64, where the nodes of a tree begin


class Counter(NamedTuple):
    """What is known per code of the column being counted; a code's cells are neighbours."""

    tag: np.ndarray  # (1,) int64: which count this is
    cells: (
        np.ndarray
    )  # (most codes + 1, SUMS + n_channels) int64: STAMP, ROWS, WEIGHT, EXAMPLE, the sums
    seen: np.ndarray  # (most codes + 1,) int64: the codes that occur, in the order they are cut
    key: np.ndarray  # (most codes + 1,) float64: what categories are ordered by
    axis: np.ndarray  # (3, n_channels) float64: scratch of that order
    takes: np.ndarray  # (most codes + 1,) uint8: does the category go left?


class RandomTreeScratch(NamedTuple):
    """What a search writes on."""

    keys: np.ndarray  # (n_rows,) uint64
    side_of: np.ndarray  # (n_rows,) uint8, the same memory: which rows of a node go left
    spare: np.ndarray  # (n_rows + 8,) uint64
    spare_row: np.ndarray  # (2 * n_rows + 16,) uint32 and
    spare_sum: np.ndarray  # (n_rows + 8,) int64: the same memory
    buckets: np.ndarray  # (n_buckets,) uint32
    left: np.ndarray | None  # (2 * n_channels,) int64, two per channel; None: one sum
    total: np.ndarray  # (n_channels,) int64, the channels of the node
    order: np.ndarray  # (n_columns,) int64, the columns
    constant: np.ndarray  # (n_columns, 2) int64: rows among which a column is known not to vary
    logs: np.ndarray  # (n_kept,) float64: x ln x of small whole numbers: only read


class TreeKernels(NamedTuple):
    """Where the kernels are that others call (compiler/by_address.py); 0: this kind of fit needs none."""

    search: int  # of a node
    read: int  # best cuts: the codes of a column,
    count: int  # and their rows added up per code
    split: int  # the rows of a node by a number,
    split_sets: int  # and by a category
    order: int  # categories in the order they are cut,
    impurity: int  # and the impurity of their node
    copy: int  # the rows of a branch row by row


class Bench(NamedTuple):
    """What every kernel works with: rules, targets, scratch and the node at hand.

    Of the node only what a way of growing needs is written; the rest stays as it was made.
    """

    rules: TreeRules
    features: TreeFeatures
    target: RandomTreeTarget
    scratch: RandomTreeScratch
    counter: Counter
    kernels: TreeKernels
    node: np.ndarray  # (1,) NODE_AT_HAND


class Growing(NamedTuple):
    """Arrays that only the loop over nodes uses."""

    seeds: np.ndarray  # (n_trees,) uint64: the keys of the random draws of every tree
    y: (
        np.ndarray | None
    )  # (n_rows, n_outputs) float64, by row: only where every node has its own grid
    row_weight: np.ndarray | None  # (n_rows,) float64: the same; empty if every row weighs 1
    out: RandomTreeNodes
    stack: np.ndarray  # (n_rows + 2,) BRANCH: the branches still to be searched
    later: np.ndarray  # (n_rows + 2,) BRANCH: those that are grown on a copy of their columns
    heap: np.ndarray | None  # (most leaves + 2,) BRANCH: those that are searched, best first
    origin: (
        np.ndarray
    )  # (room,) uint32, the rows' own numbers in the copy; its size is that of a small branch


BRANCH = np.dtype(  # a node that waits, with all that is below it
    [
        ("start", np.int64),  # where its rows stand
        ("end", np.int64),
        ("number", np.int64),  # of the node
        ("depth", np.int64),
        ("key", np.uint64),  # of its random draws
        ("weight", np.int64),
        ("total", np.int64),
        # ------------------------------ what its search has found, where searched nodes wait
        ("feature", np.int64),
        ("side", np.int64),
        ("last", np.int64),
        ("gain", np.float64),
        ("cut", np.float64),
    ],
    align=True,
)

NODE_AT_HAND = np.dtype(
    [
        ("start", np.uint64),  # where its rows stand
        ("n", np.int64),  # how many there are
        ("number", np.int64),  # of the node
        ("depth", np.int64),
        ("key", np.uint64),  # of its random draws
        ("weight", np.int64),  # on the grid
        ("total", np.int64),  # the sum of its numbers; of labels, how many its parent has
        ("channels", np.int64),
        ("unit", np.float64),  # what a step of its grid is worth,
        ("middle", np.float64),  # and where its middle is
        ("impurity", np.float64),
        ("lower", np.float64),  # what its mean may be
        ("upper", np.float64),
        # ------------------------------ what its search has found
        ("score", np.float64),
        ("feature", np.int64),  # -1: nothing
        ("cut", np.float64),  # the threshold; NaN if it lies between two rows, or there is none
        ("side", np.int64),  # missing values go left
        ("last", np.int64),  # what goes left: the last code, or the place of `walk_counts`
        ("below", np.int64),  # a row of the largest value on the left
        ("above", np.int64),  # and of the next value
        ("gain", np.float64),
        # ------------------------------ what was read of one column, and how its rows were split
        ("low", np.int64),
        ("high", np.int64),
        ("weight_behind", np.int64),  # of the rows that pad it to whole blocks of eight: what is
        ("sum_behind", np.int64),  # read for them, which belongs to others
        ("seen", np.int64),  # codes that its rows have
        ("subsets", np.int64),  # every subset of them is tried
        ("many", np.int64),  # rows that went left
        ("missing", np.int64),  # a value was missing
    ],
    align=True,
)
