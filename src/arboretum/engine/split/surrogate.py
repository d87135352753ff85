"""How well one column can stand in for another: the agreement of surrogate splits.

The primary split has marked the rows as left (1) or right (0); 2 means that its value is missing.
A surrogate is judged by the weight of the marked rows it sends the same way; rows it cannot place itself
count as disagreement. A numeric surrogate may point either way:

    sorted surrogate values   a  b | c  d  e          primary sides   L  L   R  L  R
    "<= goes left"            agrees on a b c e       reversed: on d

Weights are whole numbers on the node's grid (statistic.py), so that sums do not depend on the order of
the rows and equal agreements are exactly equal.
"""

import numpy as np

from arboretum.engine.columns.presort import MISSING, NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel
from arboretum.engine.split.statistic import weight_of

__all__ = ["agree_categories", "agree_list"]

_EACH_WAY = 2  # rows a surrogate must send either way


@inline
def _weigh_sides(entries, weight, lo, hi, side):
    """Return the rows, and the weight going left and right, that have a value in both columns.

    entries (n_rows,) uint32; weight (n_rows,) int64, or None; side (n_rows,) uint8.
    """
    n, left, right = 0, np.int64(0), np.int64(0)
    for i in range(lo, hi):
        p = entries[i] & POSITION
        if entries[i] & MISSING or side[p] == 2:
            continue
        w = weight_of(weight, p)
        n += 1
        left += w * side[p]
        right += w * (1 - side[p])
    return n, left, right


@kernel
def agree_list(entries, weight, start, end, side, agreement, below, above, reverse):
    """Find the best agreeing cut of every node on one list; agreement -1 if there is none.

    The cut falls between the entries ``below`` and ``above`` of the list, neighbours among the rows
    that have a value in both columns.

    entries (n_rows,) uint32; weight (n_rows,) int64, or None; start, end (n_nodes,) int64; side
    (n_rows,) uint8; agreement, below, above (n_nodes,) int64, written; reverse (n_nodes,) uint8, written.
    """
    for k in range(len(start)):
        lo, hi = start[k], end[k]
        n_all, left_all, right_all = _weigh_sides(entries, weight, lo, hi, side)
        agreement[k], below[k], above[k], reverse[k] = -1, lo, lo, 0
        n, left, right, last = 0, np.int64(0), np.int64(0), lo
        new = np.uint32(0)
        for i in range(lo, hi):
            e = entries[i]
            p = e & POSITION
            if e & MISSING:
                break
            new |= e & NEW
            if side[p] == 2:
                continue
            if new and n >= _EACH_WAY and n_all - n >= _EACH_WAY:
                same = left + (right_all - right)
                other = right + (left_all - left)
                if max(same, other) > agreement[k]:
                    agreement[k], reverse[k] = max(same, other), other > same
                    below[k], above[k] = last, i
            w = weight_of(weight, p)
            n += 1
            left += w * side[p]
            right += w * (1 - side[p])
            last, new = i, np.uint32(0)


@kernel(makes_arrays=True)
def agree_categories(code_of, missing_code, rows, weight, start, end, side, agreement, takes):
    """Send each category where most of its weight goes (left on a tie); see `agree_list`.

    ``takes[k, code]``: 1 left, 0 right, 2 not in the node.

    code_of (n_rows,) uint8 or uint16; rows (n_rows,) uint32; weight (n_rows,) int64, or None; start, end
    (n_nodes,) int64; side (n_rows,) uint8; agreement (n_nodes,) int64, written; takes
    (n_nodes, most codes) uint8, written.
    """
    left, right = np.zeros(missing_code + 1, np.int64), np.zeros(missing_code + 1, np.int64)
    count = np.zeros(missing_code + 1, np.int64)
    for k in range(len(start)):
        left[:] = 0
        right[:] = 0
        count[:] = 0
        for p in range(start[k], end[k]):
            c = np.int64(code_of[rows[p]])
            if c == missing_code or side[p] == 2:
                continue
            w = weight_of(weight, p)
            count[c] += 1
            left[c] += w * side[p]
            right[c] += w * (1 - side[p])
        total, n_left, n_right = np.int64(0), 0, 0
        for c in range(missing_code):
            takes[k, c] = 2
            if count[c]:
                takes[k, c] = left[c] >= right[c]
                total += max(left[c], right[c])
                n_left += count[c] * takes[k, c]
                n_right += count[c] * (1 - takes[k, c])
        agreement[k] = total if n_left >= _EACH_WAY and n_right >= _EACH_WAY else -1
