"""An exact tree while it grows: level after level, its nodes in arrays of the whole tree.

    root ──► nodes that might be split ──► search_lists ──► cuts chosen ──► children ──► divide_rows ──► …
                                                                 └──► none: pruned, written

Threads share the search and the partitioning of rows, with a short call before and after. On a small table,
all steps for all trees of several rounds run in one call, as with histograms (rounds.py). γ does not stop the
growth: a split of little gain stays if one below it has enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.columns.lists import NOWHERE, Lists, PlacedRows, divide_rows, filter_lists
from arboretum.engine.columns.presort import POSITION
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.dtypes import NUMBER
from arboretum.engine.second_order.draw import ColumnDraw, inherit_groups, open_all_groups
from arboretum.engine.second_order.exact import (
    Candidates,
    Level,
    ScanScratch,
    choose,
    describe,
    draw_allowed,
    fill_words,
    search_lists,
)
from arboretum.engine.second_order.pack import choose_scales, find_largest
from arboretum.engine.second_order.score import part_bounds

__all__ = [
    "ExactTable",
    "GrowingExactTree",
    "grow_exact",
    "make_root",
    "open_level",
    "split_level",
    "write_tree",
]

# the lists of the root, of a sample of rows, and of nodes at even and at odd depths
_ROOT, _SAMPLE, _EVEN, _ODD = range(4)
N_LISTS = 4
LEAST_GAIN = 1e-6  # XGBoost's: a smaller gain counts as rounding
_ROW = np.uint64(32)


class GrowingExactTree(NamedTuple):
    """A growing tree: its nodes, level after level, and its counters."""

    nodes: np.ndarray  # (most nodes,) EXACT_NODE
    able: np.ndarray  # (level,) int64, its nodes that might be split, from its first on
    counters: np.ndarray  # (1,) EXACT_COUNTERS
    draw: ColumnDraw


class ExactTable(NamedTuple):
    """The presorted table, and scratch."""

    lists: Lists  # of all columns and rows
    target: (
        np.ndarray
    )  # (n_entries + PADDING,) uint32, entries of lists that follow the nodes of a tree
    ranges: np.ndarray  # (N_LISTS, 2, columns of a tree, nodes of a level) int64: first and many
    found: np.ndarray  # (n_columns, level) EXACT_CUT
    rows: PlacedRows
    candidates: Candidates
    scratch: ScanScratch


# ---------------------------------------------------------------------- steps
@kernel
def make_root(tree, sums, n_rows):
    """Make the root.

    sums (2,) int64.
    """
    root, counters = tree.nodes[0], tree.counters[0]
    root.g, root.h, root.start, root.end = sums[0], sums[1], 0, n_rows
    root.parent, root.lower, root.upper = np.nan, -np.inf, np.inf
    counters.above, counters.first, counters.end, counters.depth, counters.leaves = 0, 0, 1, 0, 1
    open_all_groups(tree.draw)


@kernel
def open_level(tree, nodes, monotone, scales, rules):
    """Begin a level of the given nodes: describe them, mark those that might be split, return their number.

    Both sides of a split need rows and cover. In the level above, ``wanted_child`` is set to the left child
    if one of the children might be split, else to -1.

    nodes (n_nodes,) EXACT_NODE, updated; monotone (n_features,) int8, or empty; scales (1,) SCALES.
    """
    every, counters, unit, many = tree.nodes, tree.counters[0], scales[0].fine_unit, 0
    above, first = counters.above, counters.first
    for turn in range(2 if len(monotone) else 1):  # bounds need answers, and change them
        for k in range(above, first if turn else above):
            left = every[k].first_child
            if left >= 0:
                part_bounds(every[left], every[left + 1], monotone[every[k].feature])
        describe(nodes, unit, rules)
    for k in range(len(nodes)):
        node = nodes[k]
        may = counters.depth < rules.max_depth and counters.leaves < rules.max_leaves
        may &= node.end - node.start >= max(2.0, 2.0 * rules.min_rows)
        may &= np.float64(node.h) * unit.h * (1 + 1e-9) >= 2.0 * rules.min_weight
        node.number = may
        if may:
            tree.able[many] = k
            many += 1
    for k in range(above, first):
        left = every[k].first_child
        may = left >= 0 and (every[left].number or every[left + 1].number)
        every[k].wanted_child = left - first if may else -1
    counters.able = many
    return many


@kernel
def split_level(tree, nodes, found, lists, entries, rules):
    """End a level: choose its splits, as many as there may be leaves, and make the next level.

    Returns the number of splits.

    nodes (n_nodes,) EXACT_NODE, updated; found (n_columns, n_nodes) EXACT_CUT; entries (n_rows,) uint64.
    """
    counters = tree.counters[0]
    end = counters.end
    choose(found, tree.able[: counters.able], nodes, LEAST_GAIN)
    many, most = 0, max(rules.max_leaves - counters.leaves, 0)
    for k in range(len(nodes)):
        node = nodes[k]
        j = node.column
        node.first_child = node.feature = -1
        if j < 0:
            continue
        if many >= most:
            node.column = -1
            continue
        cut, size = node.best.cut, lists.many[j, k]
        n_missing = node.end - node.start - size
        node.middle = node.start + cut + (n_missing if node.best.missing_left else 0)
        node.feature, node.first_child = tree.draw.features[j], end + 2 * many
        at = lists.first[j, k] + cut - 1
        node.low_row = _row_at(lists, at, entries)
        node.high_row = _row_at(lists, at + 1, entries) if cut < size else -1
        _add_children(tree, counters.first + k)
        many += 1
    if many:
        counters.above, counters.first, counters.end = counters.first, end, end + 2 * many
        counters.leaves += many
        counters.depth += 1
    return many


@subkernel
def _row_at(lists, at, entries):
    """Return the row of an entry of the lists.

    entries (n_rows,) uint64.
    """
    return np.int64(entries[np.uint64(lists.entries[at] & POSITION)] >> _ROW)


@subkernel
def _add_children(tree, k):
    """Make the children of a node."""
    node = tree.nodes[k]
    left, right = tree.nodes[node.first_child], tree.nodes[node.first_child + 1]
    left.g, left.h, left.start, left.end = (
        node.best.left_g,
        node.best.left_h,
        node.start,
        node.middle,
    )
    right.g, right.h, right.start, right.end = (
        node.g - left.g,
        node.h - left.h,
        node.middle,
        node.end,
    )
    left.parent, left.lower, left.upper = node.answer, node.lower, node.upper
    right.parent, right.lower, right.upper = node.answer, node.lower, node.upper
    inherit_groups(tree.draw, k, node.feature, node.first_child)


@subkernel
def _prune(tree, rules):
    """Undo splits into two leaves that gain too little, from the bottom up."""
    nodes, least = tree.nodes, np.float32(rules.min_gain)
    for k in range(tree.counters[0].end - 1 if rules.min_gain > 0 else -1, -1, -1):
        left = nodes[k].first_child
        if left < 0 or nodes[left].first_child >= 0 or nodes[left + 1].first_child >= 0:
            continue
        gain = nodes[k].best.gain
        if not (gain >= least if rules.reach_gain else gain > least):
            nodes[k].first_child = -1


@kernel
def write_tree(tree, scales, rules, step, log, at):
    """Prune a tree and write its nodes to the log, from ``at`` on; return their number.

    Their answers are multiplied by ``step``.

    scales (1,) SCALES.
    """
    _prune(tree, rules)
    unit = scales[0].fine_unit
    nodes, many, n = tree.nodes, 1, tree.counters[0].end
    for k in range(n):
        nodes[k].number = -1 if k else 0  # unless its parent is kept
    for k in range(n):
        left = nodes[k].first_child
        if nodes[k].number >= 0 and left >= 0:
            nodes[left].number, nodes[left + 1].number = many, many + 1
            many += 2
    for k in range(n):
        node = nodes[k]
        if node.number < 0:
            continue
        out, is_inner = log.nodes[at + node.number], node.first_child >= 0
        split = out.split
        split.kind, split.feature = NUMBER, node.feature if is_inner else -1
        split.gain = np.float64(node.best.gain) if is_inner else 0.0
        split.missing_left = np.int64(is_inner and node.best.missing_left)
        out.first_child = nodes[node.first_child].number if is_inner else -1
        out.low_row = node.low_row if is_inner else -1
        out.high_row = node.high_row if is_inner else -1
        out.start, out.end, out.rows = node.start, node.end, node.end - node.start
        out.cover = np.float64(node.h) * unit.h
        out.value = (node.answer + 0.0) * step + 0.0  # 0 has no sign
    return many


# ---------------------------------------------------------------------- all of them in one call
@inline
def _lists(table, entries, which):
    """Return lists whose ranges are in the scratch of a table.

    entries (n_entries + PADDING,) uint32.
    """
    return Lists(entries, table.ranges[which, 0], table.ranges[which, 1])


@subkernel
def _fill_root(table, columns, rows):
    """Write the lists of the columns, and of the rows of a sample if there is one.

    columns (n_columns,) int64; rows (n_sampled,) uint32, or empty.
    """
    root, place = _lists(table, table.lists.entries, _ROOT), table.rows.place
    for j in range(len(columns)):
        f = columns[j]
        root.first[j, 0], root.many[j, 0] = table.lists.first[f, 0], table.lists.many[f, 0]
        table.ranges[_SAMPLE, 0, j, 0] = root.first[j, 0]
    if len(rows) == 0:
        return
    for i in range(len(place)):
        place[i] = NOWHERE
    for i in range(len(rows)):
        place[rows[i]] = i
    filter_lists(root, place, table.target, 0, len(columns), table.ranges[_SAMPLE, 1])


@subkernel
def _grow(tree, table, sampled, key, scales, rules):
    """Grow a tree from its root, level by level.

    scales (1,) SCALES.
    """
    draw, counters, candidates = tree.draw, tree.counters[0], table.candidates
    rows = table.rows
    lists = _lists(table, table.lists.entries, _ROOT)
    if sampled:
        lists = _lists(table, table.target, _SAMPLE)
    while True:
        above, first, end = lists, counters.first, counters.end
        nodes, parents = tree.nodes[first:end], tree.nodes[counters.above : first]
        many = open_level(tree, nodes, candidates.monotone, scales, rules)
        if many:
            able = tree.able[:many]
            if first > 0:
                lists = _lists(table, table.target, _ODD if counters.depth & 1 else _EVEN)
            if len(candidates.allowed):
                draw_allowed(draw, first, able, counters.depth, key, rules, candidates.allowed)
            level = Level(nodes, able, lists, rows.words, parents, above, rows.place, table.found)
            search_lists(level, candidates, scales, rules, 0, len(draw.features), table.scratch)
        if split_level(tree, nodes, table.found, lists, rows.entries, rules) == 0:
            return
        divide_rows(lists, nodes, 0, end - first, rows, counters.depth < rules.max_depth)


@subkernel(makes_arrays=True)
def grow_exact(trees, given, n_rows, step, log, at):
    """Grow a tree, write it to the log from ``at`` on, return its size; 0: a derivative is invalid.

    ``trees`` is an OnLists (rounds.py); answers are multiplied by ``step``.
    """
    tree, table, scales, rules = trees.tree, trees.table, trees.scales, trees.rules
    entries, sums, chosen = table.rows.entries, np.empty(2, np.int64), scales.chosen
    find_largest(given, 0, len(given.g), scales.largest[0])
    if not choose_scales(given, scales, n_rows):
        return 0
    fill_words(given, chosen, 0, n_rows, entries, table.rows.words, sums)
    make_root(tree, sums, n_rows)
    _fill_root(table, tree.draw.features, given.rows)
    _grow(tree, table, len(given.rows) > 0, given.key, chosen, rules)
    return write_tree(tree, chosen, rules, step, log, at)
