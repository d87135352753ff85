"""The records used to grow trees: every layout in one place, each field with its meaning.

A table of records is one array, in which the fields of a record lie side by side in memory:

    nodes     | split: gain feature … | depth rows … | answer lower … |     a line per node: `nodes[k].depth`
    best      | gain feature … left_h |                                     the best split found by a search
    so far task      | kind node pieces … |                                        one line: what the threads
    are doing

A kernel takes such a table as one array instead of one array per field, and an index is checked once per
record instead of once per field. That compiles sooner and runs faster than numbered columns of arrays
(docs/notes/boosting_engine.md has the figures). Values that are updated millions of times per tree stay plain
words: the entry of a row (second_order/pack.py) and the sum of a histogram (second_order/histogram.py).

Integers have 64 bits unless there are many of them: Numba's indices are 64 bits wide, so nothing has to be
converted, and all fields of a record are aligned without gaps.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import COMPILED

__all__ = [
    "COUNTERS",
    "EXACT_COUNTERS",
    "EXACT_CUT",
    "EXACT_NODE",
    "EXACT_TREE",
    "NODE",
    "ORDER",
    "PAIR",
    "RANGE",
    "SCALES",
    "SPLIT",
    "TASK",
    "as_records",
    "record_table",
]

NUMBER, CATEGORIES = np.int64(1), np.int64(2)  # kinds of splits

SPLIT = np.dtype(
    [
        ("gain", np.float64),  # -inf: none was found
        ("feature", np.int64),  # -1: none was found
        ("bin", np.int64),  # for a number, the last bin that goes left
        (
            "missing_left",
            np.int64,
        ),  # 0 or 1, an integer because it is also written to tables of codes
        ("kind", np.int64),  # NUMBER or CATEGORIES (whose sets are in a separate table)
        (
            "left_g",
            np.int64,
        ),  # Σg of the left child, in units of entries; the right child has the rest
        ("left_h", np.int64),
    ],
    align=True,
)

NODE = np.dtype(
    [
        ("split", SPLIT),  # the best one; leaves that may still be split have one, too
        ("first_child", np.int64),  # the second child follows it; -1 at a leaf
        ("depth", np.int64),  # its parity selects which of two lists holds the entries
        ("rows", np.int64),
        ("slot", np.int64),  # place of its histograms; -1: it has none
        ("sum_g", np.int64),  # in units of entries; used to find splits
        ("sum_h", np.int64),
        ("fine_g", np.int64),  # in finer units, summed over the rows; used for the values of leaves
        ("fine_h", np.int64),
        ("answer", np.float64),  # from the coarse sums; used by its children for path smoothing
        ("lower", np.float64),  # bounds of answers below it, by monotone constraints
        ("upper", np.float64),
        ("value", np.float64),  # the value it predicts, from the fine sums
        ("cover", np.float64),  # Σh, from the fine sums
    ],
    align=True,
)

RANGE = np.dtype(
    [("start", np.int64), ("end", np.int64)], align=True
)  # entries of a node in a block

COUNTERS = np.dtype(
    [
        ("nodes", np.int64),  # made so far
        ("leaves", np.int64),
        ("waiting", np.int64),  # leaves that have a split and are not split yet
        ("free_slots", np.int64),  # of histograms
        ("failed", np.int64),  # a derivative was infinite or NaN, or h was negative
        ("level", np.int64),  # cuts of a symmetric tree so far
    ],
    align=True,
)

# kinds of tasks (gradient/grow.py)
SCALE, FILL, PART, COUNT, MERGE, SCAN, SUM, SHARE = range(8)
TASK = np.dtype(
    [
        ("kind", np.int64),
        ("threads", np.int64),  # threads that may work on the tree
        ("pieces", np.int64),  # into how many a tile's blocks, or a node's features, are cut
        ("node", np.int64),  # the node that is partitioned or counted
        ("slot", np.int64),  # the histograms that are counted
        ("parent_slot", np.int64),  # the counts are subtracted from these histograms; -1: from none
        ("count_next", np.int64),  # the node to be counted after this one; -1: none
        ("n_scanned", np.int64),  # nodes whose best splits are searched: up to two
        ("scanned", np.int64, (2,)),  # which ones
        ("n_features", np.int64, (2,)),  # how many each of them may split on
        ("ticks", np.int64, (8,)),  # time spent so far, by kind of task: for benchmarks
    ],
    align=True,
)

ORDER = np.dtype(  # to shards of the rows: divide a node
    [
        ("node", np.int64),
        ("left", np.int64),  # the number of its left child; the right one follows
        ("first_counted", np.int64),  # the first child whose histograms are wanted
        ("n_counted", np.int64),  # 0, 1 or 2 children
        ("split", SPLIT),
    ],
    align=True,
)

PAIR = np.dtype([("g", np.float64), ("h", np.float64)], align=True)
SCALES = np.dtype(
    [
        ("small", PAIR),  # powers of two that scale g and h to entries
        ("unit", PAIR),  # the value of one unit of an entry: 1 / small
        ("fine", PAIR),  # powers of two that scale g and h to the sums of leaves
        ("fine_unit", PAIR),
        ("noise", np.float64),  # the deviation of noise on the scores of a symmetric tree
    ],
    align=True,
)

EXACT_CUT = np.dtype(
    [
        ("left_g", np.int64),  # Σg left of the cut
        ("left_h", np.int64),
        ("cut", np.int64),  # number of entries of the list to the left of the cut
        ("gain", np.float32),  # compared in single precision, as XGBoost does; -inf: none
        ("missing_left", np.bool_),
    ],
    align=True,
)

EXACT_NODE = np.dtype(
    [
        ("g", np.int64),  # Σg, in fine units
        ("h", np.int64),
        ("start", np.int64),  # positions of its rows
        ("end", np.int64),
        ("best", EXACT_CUT),
        ("column", np.int64),  # the list that is cut; -1: not split
        ("feature", np.int64),  # the feature of that list
        ("middle", np.int64),  # the first position on the right
        ("first_child", np.int64),  # -1 at a leaf
        (
            "wanted_child",
            np.int64,
        ),  # the same, counted within the level; -1: neither child may be split
        ("low_row", np.int64),  # with high_row: the rows whose values are next to the cut
        ("high_row", np.int64),  # -1: the cut separates present from missing values
        (
            "number",
            np.int64,
        ),  # during growth: whether it may be split; later: its number after pruning
        ("parent", np.float64),  # the answer of its parent; NaN at the root
        ("lower", np.float64),  # bounds of its answer, by monotone constraints
        ("upper", np.float64),
        ("answer", np.float64),
        ("score", np.float64),  # its score as a leaf
    ],
    align=True,
)

EXACT_COUNTERS = np.dtype(
    [
        ("above", np.int64),  # the first node of the level above
        ("first", np.int64),  # of this level
        ("end", np.int64),  # of this level, and of all nodes so far
        ("depth", np.int64),
        ("leaves", np.int64),
        ("able", np.int64),  # nodes of this level that might be split
    ],
    align=True,
)

EXACT_TREE = np.dtype(  # shared fields have the same names as in NODE
    [
        ("split", SPLIT),  # a split on a number; the bin is not used
        ("first_child", np.int64),
        ("rows", np.int64),
        ("value", np.float64),
        ("cover", np.float64),
        ("threshold", np.float64),  # computed in Python, between the values of low_row and high_row
        ("low_row", np.int64),
        ("high_row", np.int64),
        ("start", np.int64),  # positions of its rows
        ("end", np.int64),
    ],
    align=True,
)


def record_table(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return a new table of records with undefined contents.

    >>> nodes = record_table(3, NODE)
    >>> nodes["depth"] = [0, 1, 1]
    >>> nodes[2]["depth"], nodes["split"]["gain"].shape
    (np.int64(1), (3,))
    """
    return as_records(np.empty(shape, dtype))


def as_records(table: np.ndarray) -> np.ndarray:
    """Return a table whose fields are attributes of its records, also where kernels are plain Python."""
    return table if COMPILED else table.view(np.recarray)
