"""What each prediction engine costs, and which trees it takes: every figure and where it was measured.

`choose` (choose.py) compares the engines' costs in nanoseconds, the sum of

    layout    made once for a model: nodes × the figure below
    trees     a call from Python for every tree (walking tree by tree only)
    rows      rows × trees × what one row costs in one tree

How often a layout will be used is unknown when it is made: a fifth of its cost counts, as if it served five
calls. All figures were measured on one core of a Zen 3 (docs/design.md, docs/boosting_engine.md,
docs/serving.md).
"""

from __future__ import annotations

# Layouts: 1,000 trees of 31 leaves (61,000 nodes) take 9 ms packed or as a tournament, 2 ms as links.
# Packed trees count as links do: calls with few rows are many, and a packed model answers in 1 to 4 µs.
PACKED_NODE = 50.0 / 5
WALKED_NODE = 50.0 / 5
LAID_OUT_NODE = 150.0 / 5  # tournament and masks

# One row, 100 trees of 31 leaves: 2 to 3 µs packed (twelve trees side by side), 400 µs tree by tree.
PACKED_LEVEL = 5.0  # a row, a tree and a level
WALKED_TREE = 4_000.0
CALL = 20_000.0  # scratch of a tournament and of masks

# Many rows of 28 columns, 20 trees: walking takes 1.6 ns a level. The tournament evaluates all nodes and
# takes 0.22 of that with 32 leaves, 0.3 with 64, 0.6 with 128, 1.0 with 256.
WALKED_LEVEL = 1.6
PLAYED_LEAF = 0.045
PLAYED_COLUMN = 0.5  # a row's value becomes a code: 0.8 cycles a tree of 100 for 28 columns
PLAYED_LEAVES = 128  # of the largest tree; 256 gain nothing
PLAYED_CUTS = 1 << 16  # of a column: a code takes two bytes

# 400 symmetric trees, 4,096 rows of 28 columns: tables take 0.42 of the time of a tournament with six levels,
# 0.25 with eight; with words and six levels 0.33 of the time of masks.
TABLED_SPLIT = 0.04
TABLED_TREE = 0.55  # looking up the leaf takes most of the time
TABLED_SPLITS = 8

# Masks of 32 leaves take half the time of walking where 100 trees look up 1.2 columns each (groups of 32
# trees), 0.14 on 20 columns of which two are words.
MASKED_SHARE = 0.5
MASKED_LEAVES = 64
MASKED_BYTES = 1 << 26
# Columns that groups of trees look up, per tree: with more, walking is faster. By the bits of a mask and
# whether leaves have several numbers: then masks of 64 leaves took 0.8 to 2.3 of the time of walking.
MASKED_COLUMNS = {(32, False): 4.0, (32, True): 3.5, (64, False): 1.25, (64, True): 0.0}

PACKED_NUMBERS = 1 << 20  # of all nodes: beyond, the copy takes longer than walking a few rows

# A `Predictor` makes its layouts beforehand: with 64 rows, tournament and masks are faster than packed trees.
PREDICTOR_ROWS = 64
