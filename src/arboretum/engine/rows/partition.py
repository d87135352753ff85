"""Sending the rows of a split node to its two sides.

A row has a *position*: rows of one node stand next to each other, in their original order. A split
gives every row a new position, left side first; the rows' numbers follow:

    node            positions 4..9          side  L R R L L R
    new position    4 7 8 5 6 9             left child 4..6, right child 7..9

Presorted lists follow by the new positions (columns/lists.py).
"""

import numpy as np

from arboretum.engine.columns.presort import MISSING, POSITION
from arboretum.engine.compiler.decorators import kernel

__all__ = [
    "larger_side",
    "mark_categories",
    "mark_codes",
    "mark_lists",
    "move_rows",
    "set_bits",
]


@kernel
def mark_lists(lists, slots, nodes, best, side, has_missing):
    """Mark what a cut of each node's list sends left (1) and right (0).

    lists (n_columns, n_rows) uint32; slots (n_nodes,) int64; side (n_rows,) uint8, written; has_missing
    (n_nodes,) bool, written.
    """
    start, end, cut, missing_left = nodes.start, nodes.end, best.cut, best.missing_left
    for k in range(len(start)):
        entries = lists[slots[k]]
        lo, hi = start[k], end[k]
        has_missing[k] = entries[hi - 1] & MISSING != 0
        for i in range(lo, lo + cut[k]):
            side[entries[i] & POSITION] = 1
        for i in range(lo + cut[k], hi):
            e = entries[i]
            side[e & POSITION] = missing_left[k] if e & MISSING else 0


@kernel
def mark_codes(codes, columns, rows, nodes, best, side, has_missing, above):
    """Mark a cut of each node's column of codes; ``above``: the first code on the right, or -1.

    codes (n_columns, n_rows) uint8, uint16 or uint32; rows (n_rows,) uint32; side (n_rows,) uint8,
    written; has_missing (n_nodes,) bool, written; above (n_nodes,) int64, written.
    """
    start, end, cut, missing_left = nodes.start, nodes.end, best.cut, best.missing_left
    for k in range(len(start)):
        code_of = codes[columns.slot[k]]
        missing_code = columns.n_codes[k]
        first = np.int64(missing_code)
        has_missing[k] = False
        for p in range(start[k], end[k]):
            c = np.int64(code_of[rows[p]])
            if c == missing_code:
                has_missing[k] = True
                side[p] = missing_left[k]
            else:
                side[p] = c <= cut[k]
                if c > cut[k]:
                    first = min(first, c)
        above[k] = first if first < missing_code else -1


@kernel
def mark_categories(codes, columns, rows, nodes, takes, missing_left, side, has_missing):
    """Mark the rows of each node's category split; ``takes[k, code]`` is 1 for left.

    codes (n_columns, n_rows) uint8, uint16 or uint32; rows (n_rows,) uint32; takes
    (n_nodes, most codes) uint8; missing_left (n_nodes,) uint8; side (n_rows,) uint8, written;
    has_missing (n_nodes,) bool, written.
    """
    start, end = nodes.start, nodes.end
    for k in range(len(start)):
        code_of = codes[columns.slot[k]]
        missing_code = columns.n_codes[k]
        has_missing[k] = False
        for p in range(start[k], end[k]):
            c = np.int64(code_of[rows[p]])
            if c == missing_code:
                has_missing[k] = True
                side[p] = missing_left[k]
            else:
                side[p] = takes[k, c]


@kernel
def larger_side(rows, weights, start, end, side, out):
    """Write which side (0 left, 1 right) of each marked node weighs more; left on a tie.

    rows (n_rows,) uint32; weights (n_rows,) float64, or empty; start, end (n_nodes,) int64; side
    (n_rows,) uint8; out (n_nodes,) int64, written.
    """
    for k in range(len(start)):
        balance = 0.0
        for p in range(start[k], end[k]):
            w = weights[rows[p]] if len(weights) else 1.0
            if side[p] < 2:  # 2: not placed yet
                balance += w if side[p] else -w
        out[k] = 0 if balance >= 0.0 else 1


@kernel
def set_bits(takes, n_codes, missing_left, bits, bits_start):
    """Write category sets; a category that is not in the node (2) goes where missing values go.

    takes (n_nodes, most codes) uint8; n_codes, bits_start (n_nodes,) int64; missing_left (n_nodes,)
    int32 or int64; bits (n_words,) uint32, written, 0 at first.
    """
    for k in range(len(takes)):
        for c in range(n_codes[k]):
            left = missing_left[k] if takes[k, c] == 2 else takes[k, c]
            if left:
                word = bits_start[k] + (c >> 5)
                bits[word] = bits[word] | (np.uint32(1) << np.uint32(c & 31))


@kernel(makes_arrays=True)
def move_rows(rows, start, end, side, new_position, spare):
    """Give the rows of every node their new positions; return where each right side begins.

    rows (n_rows,) uint32, updated; start, end (n_nodes,) int64; side (n_rows,) uint8; new_position
    (n_rows,) uint32, written; spare (n_rows,) uint32, scratch.
    """
    middle = np.empty(len(start), np.int64)
    for k in range(len(start)):
        lo, hi = start[k], end[k]
        n_left = 0
        for p in range(lo, hi):
            n_left += np.int64(side[p])
        left, right = lo, lo + n_left
        middle[k] = right
        for p in range(lo, hi):
            to = left if side[p] else right
            new_position[p] = np.uint32(to)
            spare[to] = rows[p]
            left += side[p]
            right += 1 - side[p]
        for p in range(lo, hi):
            rows[p] = spare[p]
    return middle
