"""What reads the codes of a table: kernels of their own, compiled once more where codes are wider.

A search asks for a column of the node at hand, and does not know how wide the codes are:

    best_cut ──► read_codes    keys: code << 32 | place of the row
             └─► count_column  rows and sums per code (counts.py)
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import addressed, inline, subkernel
from arboretum.engine.depth_first.counts import count_codes
from arboretum.engine.depth_first.records import CATEGORY
from arboretum.engine.depth_first.sort import HIGH
from arboretum.engine.random import pick_column
from arboretum.engine.split.score import squares

__all__ = ["count_column", "is_known_constant", "part_two", "read_codes"]


@subkernel
def _read(codes, column, rows, start, n, keys):
    """Write the keys of n rows; return the smallest and the largest code.

    codes (n_columns * n_rows,) uint16 or uint32; rows (n_rows,) uint32; keys (n_rows,) uint64, written.
    """
    low = high = codes[column + rows[start]]
    for i in range(n):
        code = codes[column + rows[start + np.uint64(i)]]
        keys[i] = (np.uint64(code) << HIGH) | np.uint64(i)
        low, high = min(low, code), max(high, code)
    return np.int64(low), np.int64(high)


@addressed
def read_codes(columns, bench, rows, f):
    """Write the keys of the rows of a node in column f; the node is told their ends.

    rows (n_rows,) uint32.
    """
    node = bench.node[0]
    node.low, node.high = _read(
        columns.values, f * columns.step, rows, node.start, node.n, bench.scratch.keys
    )


@addressed
def count_column(columns, bench, rows, f):
    """Add up the rows of a node per code of column f; the node is told how many codes it has met.

    rows (n_rows,) uint32.
    """
    node, target, counter = bench.node[0], bench.target, bench.counter
    node.met = count_codes(
        columns.values, f * columns.step, rows, node.start, node.n, target.label, target.number,
        target.weight, node.channels, counter.tag, counter.cells, counter.seen,
    )  # fmt: skip


@inline
def is_known_constant(constant, f, begin, end):
    """Tell whether a column did not vary among rows that hold these.

    constant (n_columns, 2) int64.
    """
    return constant[f, 0] <= begin and end <= constant[f, 1]


@addressed
def part_two(columns, bench, rows):
    """Part two rows by one sum: every column that varies is as good as any other, but for rounding.

    The node is told what `best_cut` tells it; of a category, how many go left: the one with the smaller mean.

    rows (n_rows,) uint32.
    """
    node, rules, features, target = bench.node[0], bench.rules, bench.features, bench.target
    codes, step, constant, order = (
        columns.values,
        columns.step,
        bench.scratch.constant,
        bench.scratch.order,
    )
    n_codes, kind, number, weight = features.n_codes, features.kind, target.number, target.weight
    start, total, node_weight, node_key = node.start, bench.scratch.total[0], node.weight, node.key
    one, two = rows[start], rows[start + np.uint64(1)]
    w_one, w_two = weight[start], weight[start + np.uint64(1)]
    first_left = squares(number[0, start], w_one, total, node_weight)
    second_left = squares(number[0, start + np.uint64(1)], w_two, total, node_weight)
    smaller_first = np.float64(number[0, start]) / np.float64(w_one) < np.float64(
        number[0, start + np.uint64(1)]
    ) / np.float64(w_two)
    best, feature, last, cut, below, above = -1.0, np.int64(-1), np.int64(0), np.nan, one, two
    varied, everything = 0, rules.max_features >= len(n_codes)
    begin = np.int64(start)
    for turn in range(len(n_codes)):
        if turn >= rules.max_features and varied:
            break
        f = np.uint64(turn) if everything else np.uint64(pick_column(node_key, turn, order))
        if is_known_constant(constant, f, begin, begin + 2):
            continue
        a, b, missing_code = codes[f * step + one], codes[f * step + two], np.uint64(n_codes[f])
        if a == b:
            continue
        varied += 1
        is_category = kind[f] == CATEGORY and a != missing_code and b != missing_code
        first = smaller_first if is_category else a < b
        worth = first_left if first else second_left
        if worth > best or (worth == best and np.int64(f) < feature):
            best, feature, cut = worth, np.int64(f), np.nan
            last = np.int64(a if first else b)
            below, above = (one, two) if first else (two, one)
            if kind[f] == CATEGORY:
                last = 1
            elif max(a, b) == missing_code:
                cut = np.inf
        if everything and first_left == second_left:
            break  # the columns that follow could only be as good
    node.score, node.feature, node.cut, node.side, node.last = best, feature, cut, 0, last
    node.below, node.above = np.int64(below), np.int64(above)
