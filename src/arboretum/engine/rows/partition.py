"""Sending the rows of a split node to its two sides.

A row has a *position*: rows of one node stand next to each other, in their original order. A split
gives every row a new position, left side first; the rows' numbers and every presorted list follow:

    node            positions 4..9          side  L R R L L R
    new position    4 7 8 5 6 9             left child 4..6, right child 7..9

A list is partitioned stably by one look-up per entry (is the new position left of the middle?),
without branches. An entry keeps its NEW mark if it, or an entry that went to the other side since its
predecessor, had one. Because positions of a node are neighbours, look-ups stay in cache as nodes shrink.
"""

import numpy as np

from arboretum.engine.columns.presort import MISSING, NEW, POSITION
from arboretum.engine.jit import inline, kernel

__all__ = [
    "larger_side",
    "mark_categories",
    "mark_codes",
    "mark_lists",
    "move_rows",
    "partition_lists",
    "set_bits",
]


@kernel
def mark_lists(lists, slots, start, end, cut, missing_left, side, has_missing):
    """Mark what a cut of each node's list sends left (1) and right (0)."""
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
def mark_codes(codes, columns, rows, start, end, cut, missing_left, side, has_missing, above):
    """Mark a cut of each node's column of codes; ``above``: the first code on the right, or -1."""
    for k in range(len(start)):
        code_of = codes[columns.slot[k]]
        gone = columns.n_codes[k]
        first = np.int64(gone)
        has_missing[k] = False
        for p in range(start[k], end[k]):
            c = np.int64(code_of[rows[p]])
            if c == gone:
                has_missing[k] = True
                side[p] = missing_left[k]
            else:
                side[p] = c <= cut[k]
                if c > cut[k]:
                    first = min(first, c)
        above[k] = first if first < gone else -1


@kernel
def mark_categories(codes, columns, rows, start, end, takes, missing_left, side, has_missing):
    """Mark the rows of each node's category split; ``takes[k, code]`` is 1 for left."""
    for k in range(len(start)):
        code_of = codes[columns.slot[k]]
        gone = columns.n_codes[k]
        has_missing[k] = False
        for p in range(start[k], end[k]):
            c = np.int64(code_of[rows[p]])
            if c == gone:
                has_missing[k] = True
                side[p] = missing_left[k]
            else:
                side[p] = takes[k, c]


@kernel
def larger_side(rows, weights, start, end, side, out):
    """Write which side (0 left, 1 right) of each marked node weighs more; left on a tie."""
    for k in range(len(start)):
        balance = 0.0
        for p in range(start[k], end[k]):
            w = weights[rows[p]] if len(weights) else 1.0
            if side[p] < 2:  # 2: not placed yet
                balance += w if side[p] else -w
        out[k] = 0 if balance >= 0.0 else 1


@kernel
def set_bits(takes, n_codes, missing_left, bits, bits_start):
    """Write category sets; a category the node did not meet (2) goes where missing values go."""
    for k in range(len(takes)):
        for c in range(n_codes[k]):
            left = missing_left[k] if takes[k, c] == 2 else takes[k, c]
            if left:
                word = bits_start[k] + (c >> 5)
                bits[word] = bits[word] | (np.uint32(1) << np.uint32(c & 31))


@kernel
def move_rows(rows, start, end, side, new_position, spare):
    """Give the rows of every node their new positions; return where each right side begins."""
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


@inline
def _split_list(entries, lo, middle, hi, new_position, spare):
    left, n_right = lo, 0
    mark_left, mark_right = np.uint32(0), np.uint32(0)
    for i in range(lo, hi):
        e = entries[i]
        to = new_position[e & POSITION]
        goes_left = to < middle
        new = e & NEW
        to = to | (e & MISSING)
        mark_left |= new
        mark_right |= new
        entries[left] = to | mark_left
        spare[n_right] = to | mark_right
        left += goes_left
        n_right += 1 - goes_left
        mark_left = np.uint32(0) if goes_left else mark_left
        mark_right = mark_right if goes_left else np.uint32(0)
    for i in range(n_right):
        entries[middle + i] = spare[i]


@inline
def _keep_left(entries, lo, middle, hi, new_position):
    left = lo
    mark = np.uint32(0)
    for i in range(lo, hi):
        e = entries[i]
        to = new_position[e & POSITION]
        goes_left = to < middle
        mark |= e & NEW
        entries[left] = to | (e & MISSING) | mark
        left += goes_left
        mark = np.uint32(0) if goes_left else mark


@inline
def _keep_right(entries, lo, middle, hi, new_position, spare):
    n_right = 0
    mark = np.uint32(0)
    for i in range(lo, hi):
        e = entries[i]
        to = new_position[e & POSITION]
        goes_left = to < middle
        mark |= e & NEW
        spare[n_right] = to | (e & MISSING) | mark
        n_right += 1 - goes_left
        mark = mark if goes_left else np.uint32(0)
    for i in range(n_right):
        entries[middle + i] = spare[i]


@kernel
def partition_lists(lists, slots, start, middle, end, keep, new_position, spare):
    """Partition several columns' lists at every node.

    ``keep[k]`` says which sides will be searched again: bit 0 the left one, bit 1 the right one. What is
    not kept is left as rubbish.
    """
    for j in range(len(slots)):
        entries = lists[slots[j]]
        for k in range(len(start)):
            lo, mid, hi = start[k], np.uint32(middle[k]), end[k]
            if keep[k] == 3:
                _split_list(entries, lo, mid, hi, new_position, spare)
            elif keep[k] == 1:
                _keep_left(entries, lo, mid, hi, new_position)
            elif keep[k] == 2:
                _keep_right(entries, lo, mid, hi, new_position, spare)
