"""Reading the codes of a table: separate kernels, compiled again for codes of another width.

A search needs one column of the current node, and is compiled for any width of codes:

    best_cut ──► read_codes    keys: code << 32 | place of the row
             └─► count_column  rows and sums per code (counts.py)
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import addressed, inline
from arboretum.engine.depth_first.records import EXAMPLE, ROWS, STAMP, SUMS, WEIGHT
from arboretum.engine.depth_first.sort import HIGH

__all__ = ["count_column", "is_known_constant", "read_codes"]


@addressed
def read_codes(columns, bench, rows, f):
    """Write the keys of the rows of a node in column f, and the smallest and largest code to the node.

    rows (n_rows,) uint32.
    """
    node, codes, keys = bench.node[0], columns.values, bench.scratch.keys
    column, start = f * columns.step, node.start
    low = high = codes[column + rows[start]]
    for i in range(node.n):
        code = codes[column + rows[start + np.uint64(i)]]
        keys[i] = (np.uint64(code) << HIGH) | np.uint64(i)
        low, high = min(low, code), max(high, code)
    node.low, node.high = np.int64(low), np.int64(high)


@inline
def _count(columns, bench, rows, f, label, number):
    """Return how many codes a node's rows have in column f, missing among them.

    rows (n_rows,) uint32; label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64,
    or None.
    """
    node, counter, codes, weight = (
        bench.node[0],
        bench.counter,
        columns.values,
        bench.target.weight,
    )
    cells, seen, column, start = counter.cells, counter.seen, f * columns.step, node.start
    now, m, width = counter.tag[0] + 1, np.int64(0), SUMS + node.channels
    counter.tag[0] = now
    for i in range(node.n):
        p = start + np.uint64(i)
        row = rows[p]
        c = np.uint64(codes[column + row])
        if cells[c, STAMP] != now:  # the first row of this code
            for j in range(ROWS, width):
                cells[c, j] = 0
            cells[c, STAMP], cells[c, EXAMPLE] = now, np.int64(row)
            seen[m] = np.int64(c)
            m += 1
        w = weight[p]
        cells[c, ROWS] += 1
        cells[c, WEIGHT] += w
        if label is not None:
            cells[c, np.uint64(SUMS) + np.uint64(label[0, p])] += w
            for o in range(1, len(label)):
                cells[c, np.uint64(SUMS) + np.uint64(label[o, p])] += w
        if number is not None:
            cells[c, SUMS] += number[0, p]
            for o in range(1, len(number)):
                cells[c, SUMS + o] += number[o, p]
    return m


@addressed
def count_column(columns, bench, rows, f):
    """Add up the rows of a node per code of column f; write to the node how many codes they have.

    rows (n_rows,) uint32.
    """
    target = bench.target
    bench.node[0].seen = _count(columns, bench, rows, f, target.label, target.number)


@inline
def is_known_constant(constant, f, begin, end):
    """Return whether a column is known not to vary among rows that include these.

    constant (n_columns, 2) int64.
    """
    return constant[f, 0] <= begin and end <= constant[f, 1]
