"""The records that growing trees are made of: every layout in one place, each field with its reason.

A table of records is one array, whose fields stand side by side in memory:

    nodes     | split: gain feature … | depth rows … | answer lower … |     a line per node: `nodes[k].depth`
    best      | gain feature … left_h |                                     the best split a search has met
    task      | kind node pieces … |                                        one line: what threads are at

A kernel that is handed such a table is handed one array instead of one per field, and an index is looked at
once per record instead of once per field: that compiles sooner and runs faster than numbered columns of
arrays (docs/notes/boosting_engine.md has the figures). What is counted millions of times per tree stays a
bare word: an entry of a row (second_order/pack.py) and a sum of a histogram (second_order/histogram.py).

Whole numbers have 64 bits unless there are many of them: indices of Numba are 64 bits wide, so nothing is
converted on the way, and all fields of a record are aligned without gaps.
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
        ("bin", np.int64),  # the last one that goes left, of a number
        ("missing_left", np.int64),  # 0 or 1: it is also written to tables of codes
        ("kind", np.int64),  # NUMBER or CATEGORIES, whose members stand in a table of their own
        (
            "left_g",
            np.int64,
        ),  # Σg of the left child, in units of entries: the right one has the rest
        ("left_h", np.int64),
    ],
    align=True,
)

NODE = np.dtype(
    [
        ("split", SPLIT),  # the best one; a leaf that waits for its turn has one, too
        ("first_child", np.int64),  # the other follows it; -1 at a leaf
        ("depth", np.int64),  # its parity says which of two lists holds the entries
        ("rows", np.int64),
        ("slot", np.int64),  # of its histograms; -1: it has none
        ("sum_g", np.int64),  # in units of entries: what splits are judged by
        ("sum_h", np.int64),
        ("fine_g", np.int64),  # in finer units, of the rows themselves: what leaves answer
        ("fine_h", np.int64),
        ("answer", np.float64),  # by the coarse sums: what its children lean on
        ("lower", np.float64),  # bounds of answers below it, by monotone constraints
        ("upper", np.float64),
        ("value", np.float64),  # what it answers, by the fine sums
        ("cover", np.float64),  # Σh, by the fine sums
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
        ("waiting", np.int64),  # leaves that have a split
        ("free_slots", np.int64),  # of histograms
        ("failed", np.int64),  # a derivative was infinite, no number, or a negative h
    ],
    align=True,
)

# kinds of tasks (gradient/grow.py)
SCALE, FILL, PART, COUNT, MERGE, SCAN, SUM = range(7)
TASK = np.dtype(
    [
        ("kind", np.int64),
        ("threads", np.int64),  # that may take part in the tree
        ("pieces", np.int64),  # a tile's blocks, or a node's features, are cut into so many
        ("node", np.int64),  # that is parted or counted
        ("slot", np.int64),  # where it is counted
        ("parent_slot", np.int64),  # what is counted is taken from here; -1: from nowhere
        ("count_next", np.int64),  # the node to be counted after this one; -1: none
        ("n_scanned", np.int64),  # nodes whose best splits are looked for: up to two
        ("scanned", np.int64, (2,)),  # which ones
        ("n_features", np.int64, (2,)),  # how many each of them may ask for
        ("ticks", np.int64, (7,)),  # time spent so far, by kind of task: for benchmarks
    ],
    align=True,
)

PAIR = np.dtype([("g", np.float64), ("h", np.float64)], align=True)
SCALES = np.dtype(
    [
        ("small", PAIR),  # powers of two that make entries of g and h
        ("unit", PAIR),  # what one of an entry's g and h is worth: 1 / small
        ("fine", PAIR),  # powers of two that make the sums of leaves
        ("fine_unit", PAIR),
    ],
    align=True,
)

EXACT_CUT = np.dtype(
    [
        ("left_g", np.int64),  # Σg left of the cut
        ("left_h", np.int64),
        ("cut", np.int64),  # entries of the list on its left
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
        ("feature", np.int64),  # of that list
        ("middle", np.int64),  # the first position on the right
        ("first_child", np.int64),  # -1 at a leaf
        (
            "wanted_child",
            np.int64,
        ),  # the same, from the first of the level; -1: neither may be split
        ("low_row", np.int64),  # rows whose values stand on both sides of the cut
        ("high_row", np.int64),  # -1: the cut parts present from missing values
        ("number", np.int64),  # while it grows, whether it may be split; then its place when pruned
        ("parent", np.float64),  # what the node above answers; NaN at the root
        ("lower", np.float64),  # bounds of its answer, by monotone constraints
        ("upper", np.float64),
        ("answer", np.float64),
        ("score", np.float64),  # as a leaf
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

EXACT_TREE = np.dtype(  # the same names as NODE, as far as both have them
    [
        ("split", SPLIT),  # of numbers; no bin
        ("first_child", np.int64),
        ("rows", np.int64),
        ("value", np.float64),
        ("cover", np.float64),
        ("threshold", np.float64),  # found in Python, between the values of the rows below
        ("low_row", np.int64),
        ("high_row", np.int64),
        ("start", np.int64),  # positions of its rows
        ("end", np.int64),
    ],
    align=True,
)


def record_table(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return a table of records to be written; what they hold before is not defined.

    >>> nodes = record_table(3, NODE)
    >>> nodes["depth"] = [0, 1, 1]
    >>> nodes[2]["depth"], nodes["split"]["gain"].shape
    (np.int64(1), (3,))
    """
    return as_records(np.empty(shape, dtype))


def as_records(table: np.ndarray) -> np.ndarray:
    """Return a table whose records' fields are attributes, also where kernels are plain Python."""
    return table if COMPILED else table.view(np.recarray)
