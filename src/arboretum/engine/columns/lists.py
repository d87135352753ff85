"""Presorted lists by node: keeping the rows of a sample, and following the rows of split nodes.

A row has a *position*: rows of a node stand side by side. A list holds the positions of rows in the order
of their values in a column, the entries of a node side by side; an entry is marked NEW where the value is
another than before (presort.py). Rows without a value stand at the end, marked MISSING, or are left out:

    positions         0 1 2 3 4 | 5 6 7           two nodes of a level
    list of column 0  3 0 4 2   | 7 5 6           position 1 has no value there
    list of column 1  1         | 6               a sparse column: nothing but what is present

A sample keeps the entries of its rows (`filter_entries`). A split gives the rows of a node new positions,
left side first, and every list is split stably by one look-up per entry (`split_entries`): is the new
position left of the middle? Both are free of branches, which could not be predicted: an entry is always
written, and overwritten unless it stays. Entries keep their marks, and take over those of entries that went
elsewhere since their predecessor. Because positions of a node are neighbours, look-ups stay in cache as nodes
shrink.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.columns.presort import MISSING, NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel, subkernel

__all__ = [
    "NOWHERE",
    "PADDING",
    "Lists",
    "PlacedRows",
    "divide_rows",
    "filter_columns",
    "filter_entries",
    "filter_lists",
    "first_missing",
    "part_list",
    "split_columns",
    "split_entries",
    "take_rows",
]

PADDING = 32  # entries behind the last list, which scans read ahead
NOWHERE = np.uint32(0xFFFFFFFF)  # the position of a row that takes no part
_ONE, _NO_FLAGS = np.uint64(1), np.uint32(0)


class Lists(NamedTuple):
    """Where the entries of nodes stand: a line per column of the tree, a place per node."""

    entries: np.ndarray  # (n_entries + PADDING,) uint32, and PADDING more
    first: np.ndarray  # (n_columns, n_nodes) int64
    many: np.ndarray  # (n_columns, n_nodes) int64


class PlacedRows(NamedTuple):
    """The rows at their positions, and what it takes to move them."""

    entries: np.ndarray  # (n_rows,) uint64, the row at every position, times 2³²
    words: np.ndarray  # (n_rows, 2) int64, its g and h
    spare_entries: np.ndarray  # (n_rows + 1,) uint64: scratch, one longer
    spare_words: np.ndarray  # (n_rows + 1, 2) int64
    place: np.ndarray  # (n_rows,) uint32, where the row at every position goes


@kernel
def take_rows(order, rows, start, out):
    """Turn sorted places (presort.py) of a sparse column into rows, from ``start`` on.

    order (n_present,) uint32; rows (n_present,) int32 or int64; out (n_entries,) uint32, written.
    """
    for i in range(len(order)):
        out[start + i] = (order[i] & NEW) | np.uint32(rows[np.uint64(order[i] & POSITION)])


@inline
def first_missing(entries, start, end):
    """Return where the missing entries of a segment begin (they stand at its end).

    entries (n_entries,) uint32.
    """
    low, high = start, end
    if low < high and not entries[high - 1] & MISSING:
        return high
    while low < high:
        middle = (low + high) // 2
        if entries[middle] & MISSING:
            high = middle
        else:
            low = middle + 1
    return low


# ---------------------------------------------------------------------- samples
@inline
def filter_entries(entries, place, out):
    """Write the entries of rows that have a place, with it; return how many they are.

    entries (n_entries,) uint32; place (n_rows,) uint32; out (room,) uint32, written.
    """
    at, end, mark = np.uint64(0), np.uint64(len(out)), np.uint32(0)
    for i in range(len(entries)):
        if at == end:
            break
        entry = entries[i]
        to = place[np.uint64(entry & POSITION)]
        stays = np.uint32(to != NOWHERE)
        mark |= entry & NEW
        out[at] = to | (entry & MISSING) | mark
        mark *= np.uint32(1) - stays
        at += np.uint64(stays)
    return np.int64(at)


@kernel
def filter_columns(lists, columns, place, out, present):
    """Write the entries of some columns' lists whose rows have a place, and how many have a value.

    lists (n_columns, n_rows) uint32; columns (n_some,) int64; place (n_rows,) uint32; out
    (n_columns, n_sampled) uint32, written; present (n_columns,) int64, written.
    """
    for j in columns:
        filter_entries(lists[j], place, out[j])
        present[j] = first_missing(out[j], 0, out.shape[1])


@kernel
def filter_lists(source, place, target, start, end, out):
    """Keep of the lists start:end the rows of a sample, by their positions; write how many.

    place (n_rows,) uint32; target (n_entries + PADDING,) uint32, written; out (n_columns, n_nodes)
    int64, written.
    """
    for j in range(start, end):
        first, last = source.first[j, 0], source.first[j, 0] + source.many[j, 0]
        out[j, 0] = filter_entries(source.entries[first:last], place, target[first:last])


# ---------------------------------------------------------------------- splits
@inline
def split_entries(source, start, end, middle, place, target, spare, flags):
    """Split the entries start:end stably, left ones first; return how many go left.

    ``flags`` are kept besides NEW: MISSING, or 0 if no entry is missing. ``target`` may be the source.

    source, target (n_entries,) uint32, ``target`` written; place (n_rows,) uint32; spare (n_rows,)
    uint32, scratch.
    """
    at, others = np.uint64(start), np.uint64(0)
    left_mark, right_mark = np.uint32(0), np.uint32(0)
    for i in range(np.uint64(start), np.uint64(end)):
        entry = source[i]
        mark = entry & NEW
        left_mark |= mark
        right_mark |= mark
        to = place[np.uint64(entry & POSITION)]
        right = np.uint32(to >= middle)
        to |= entry & flags
        target[at] = to | left_mark
        spare[others] = to | right_mark
        at += np.uint64(np.uint32(1) - right)
        others += np.uint64(right)
        left_mark &= np.uint32(0) - right
        right_mark &= right - np.uint32(1)
    for i in range(others):
        target[at + i] = spare[i]
    return np.int64(at) - start


@kernel
def split_columns(lists, columns, start, middle, end, place, spare):
    """Split several columns' lists at every node, in place.

    lists (n_columns, n_rows) uint32, updated; columns (n_some,) int64; start, middle, end (n_nodes,)
    int64; place (n_rows,) uint32; spare (n_rows,) uint32, scratch.
    """
    for j in columns:
        entries = lists[j]
        for k in range(len(start)):
            split_entries(
                entries, start[k], end[k], np.uint32(middle[k]), place, entries, spare, MISSING
            )


@subkernel
def _mark_right(entries, first, many, node, place):
    """Write 1 for every position of a node that goes right.

    entries (n_entries + PADDING,) uint32; place (n_rows,) uint32, written.
    """
    if many < node.end - node.start:
        side = np.uint32(not node.best.missing_left)
        for p in range(node.start, node.end):
            place[p] = side
    cut = node.best.cut
    for i in range(np.uint64(first), np.uint64(first + cut)):
        place[np.uint64(entries[i] & POSITION)] = np.uint32(0)
    for i in range(np.uint64(first + cut), np.uint64(first + many)):
        place[np.uint64(entries[i] & POSITION)] = np.uint32(1)


@subkernel
def _move_rows(node, rows, deeper):
    """Move the rows of a node, left side first, and write where they went."""
    entries, words, place = rows.entries, rows.words, rows.place
    spare_entries, spare_words = rows.spare_entries, rows.spare_words
    middle, end = np.uint64(node.middle), np.uint64(node.end)
    at, other = np.uint64(node.start), middle
    for p in range(np.uint64(node.start), end):
        right = np.uint64(place[p])
        q = other if right else at
        if deeper:
            place[p] = np.uint32(q)
            a, b = words[p, 0], words[p, 1]
            words[at, 0], words[at, 1] = a, b
            spare_words[other, 0], spare_words[other, 1] = a, b
        entry = entries[p]
        entries[at] = entry
        spare_entries[other] = entry
        at += _ONE - right
        other += right
    for p in range(middle, end):
        entries[p] = spare_entries[p]
        if deeper:
            words[p, 0], words[p, 1] = spare_words[p, 0], spare_words[p, 1]


@kernel
def divide_rows(lists, nodes, start, end, rows, deeper):
    """Give the rows of the nodes start:end their new positions; ``rows.place`` maps the old ones to them.

    ``nodes`` are EXACT_NODE (engine/dtypes.py). Unless the tree grows ``deeper``, only rows are moved.

    nodes (n_nodes,) EXACT_NODE.
    """
    for k in range(start, end):
        node = nodes[k]
        j = node.column
        if j < 0:
            continue
        _mark_right(lists.entries, lists.first[j, k], lists.many[j, k], node, rows.place)
        _move_rows(node, rows, deeper)


@subkernel
def part_list(j, source, nodes, place, target, spare):
    """Split one list of the nodes that are split; write where the lists of wanted children begin.

    nodes (n_nodes,) EXACT_NODE; place (n_rows,) uint32; spare (n_rows,) uint32, scratch.
    """
    for k in range(len(nodes)):
        c = nodes[k].wanted_child
        if c < 0:
            continue
        first, many, middle = source.first[j, k], source.many[j, k], np.uint32(nodes[k].middle)
        left = split_entries(
            source.entries, first, first + many, middle, place, target.entries, spare, _NO_FLAGS
        )
        target.first[j, c], target.many[j, c] = first, left
        target.first[j, c + 1], target.many[j, c + 1] = first + left, many - left
