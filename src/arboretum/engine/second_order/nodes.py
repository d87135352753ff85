"""A tree while it grows on histograms: its nodes, the waiting leaves, the memory they need.

nodes     records (engine/dtypes.py): the best split, sums, the place of the children
waiting   a heap of leaves whose best split is known, the next one on top: growth policies differ only in
          the order of the heap
slots     places for histograms; a waiting leaf keeps its histograms for its children, as long as there are
          enough slots; without them both children are counted
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import subkernel
from arboretum.engine.dtypes import CATEGORIES
from arboretum.engine.second_order.draw import ColumnDraw, inherit_groups, open_all_groups
from arboretum.engine.second_order.histogram import BINS
from arboretum.engine.second_order.pack import GivenRows, Scales
from arboretum.engine.second_order.score import Features, SplitRules, answer, part_bounds

__all__ = [
    "SPARE_SLOTS",
    "GrowingTree",
    "State",
    "Store",
    "add_children",
    "add_waiting",
    "fill_sides",
    "give_answers",
    "keep_level",
    "keep_split",
    "make_root",
    "may_split",
    "missing_code",
    "next_leaf",
    "open_level",
    "release_slot",
    "take_slot",
]

SPARE_SLOTS = 2  # kept free: the children of a leaf without histograms need two


class Store(NamedTuple):
    """The table as codes; the same for all trees."""

    codes: np.ndarray  # (n_columns, n_rows) uint8
    words: np.ndarray  # (n_tiles, n_rows, 1 or 2) uint64, the same codes
    width: int  # columns of a word
    wide: (
        np.ndarray
    )  # (n_wide_columns, n_rows) uint16, the columns of more than 255 bins, after the others
    wide_words: np.ndarray  # (n_wide_tiles, n_rows) uint64, the same codes
    wide_width: int  # columns of such a word
    # (n_columns + 1,) int64, where a column's bins in use begin in a histogram; missing comes last
    starts: np.ndarray


class GrowingTree(NamedTuple):
    """A growing tree, and scratch."""

    nodes: np.ndarray  # (most nodes,) NODE
    members: np.ndarray  # (most nodes, n_words) uint32, bins that go left
    counters: np.ndarray  # (1,) COUNTERS
    waiting: np.ndarray  # (most nodes,) int64, a heap of leaves
    free_slots: np.ndarray  # (n_slots,) int64, slots of histograms not in use
    hists: np.ndarray  # (n_slots, n_sums) int64 (histogram.py)
    extra: np.ndarray  # (n_pieces - 1, n_sums) int64, for many threads on few columns
    lists: np.ndarray  # (2, n_rows) uint64, entries of nodes at even and at odd depths
    ranges: np.ndarray  # (most nodes, n_blocks) RANGE, the entries of a node in every block
    leaf_of: np.ndarray  # (n_rows,) int32, the leaf of every row that took part
    fine_sums: (
        np.ndarray
    )  # (n_blocks, most nodes, 2) int64, Σg and Σh of a leaf's rows in every block
    goes_left: np.ndarray  # (most codes,) uint8, by code
    draw: ColumnDraw
    task: np.ndarray  # (1,) TASK
    best: np.ndarray  # (n_pieces,) SPLIT, best splits by piece of a search
    best_members: np.ndarray  # (n_pieces, n_words) uint32


class State(NamedTuple):
    """All arrays that growing a tree reads and writes."""

    store: Store
    tree: GrowingTree
    features: Features
    rules: SplitRules
    given: GivenRows
    scales: Scales


@subkernel
def missing_code(store, column):
    """Return the code of missing values in a column."""
    if column < len(store.codes):
        return np.int64(BINS - 1)
    return store.starts[column + 1] - store.starts[column] - 1


@subkernel
def fill_sides(features, tree, store, node):
    """Write for every code whether it goes left at a node."""
    goes, split, members = tree.goes_left, tree.nodes[node].split, tree.members[node]
    f, last_bin = split.feature, split.bin
    last = missing_code(store, features.storage[f])
    n, default, first = features.n_bins[f], features.default_bin[f], features.offset[f]
    by_set = split.kind == CATEGORIES
    if default < 0 and not by_set:
        for c in range(n):
            goes[c] = c <= last_bin
        for c in range(n, last + 1):
            goes[c] = split.missing_left
        return
    stores_all = default < 0 or default == n  # all bins are stored; other codes are missing values
    side = split.missing_left if stores_all else np.int64(default <= last_bin)
    for c in range(last + 1):
        goes[c] = side
    at = first
    for b in range(n):
        if b == default:
            continue
        if by_set:
            goes[at] = (members[b >> 5] >> np.uint32(b & 31)) & np.uint32(1)
        else:
            goes[at] = b <= last_bin
        at += 1
    if by_set and not stores_all:
        side = (members[default >> 5] >> np.uint32(default & 31)) & np.uint32(1)
        for c in range(last + 1):
            if c < first or c >= at:
                goes[c] = side


@subkernel
def take_slot(tree):
    """Take a place for histograms."""
    counters = tree.counters[0]
    counters.free_slots -= 1
    return tree.free_slots[counters.free_slots]


@subkernel
def release_slot(tree, node):
    """Give back the place of a node's histograms."""
    one, counters = tree.nodes[node], tree.counters[0]
    if one.slot >= 0:
        tree.free_slots[counters.free_slots] = one.slot
        counters.free_slots += 1
    one.slot = -1


@subkernel
def _comes_before(nodes, a, b, rules):
    """Return whether leaf ``a`` is split before ``b``: larger gain, or smaller depth, or older.

    All leaves that take the cut of a level are split; older ones come first.

    nodes (most nodes,) NODE.
    """
    if rules.symmetric:
        return a < b
    if rules.depth_first:
        x, y = nodes[b].depth, nodes[a].depth
        return x > y or (x == y and a < b)
    p, q = nodes[a].split.gain, nodes[b].split.gain
    return p > q or (p == q and a < b)


@subkernel
def add_waiting(tree, node, rules):
    """Add a leaf to the heap of waiting leaves."""
    heap, counters = tree.waiting, tree.counters[0]
    at = counters.waiting
    counters.waiting += 1
    while at > 0 and _comes_before(tree.nodes, node, heap[(at - 1) >> 1], rules):
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = node


@subkernel
def keep_split(tree, node, first, last, rules):
    """Keep the best split found by the pieces of a search; a leaf with a split joins the waiting leaves."""
    best = first
    for k in range(first + 1, last):
        if tree.best[k].gain > tree.best[best].gain:
            best = k
    tree.nodes[node].split = tree.best[best]
    if tree.best[best].feature < 0:
        release_slot(tree, node)
        return
    for w in range(tree.members.shape[1]):
        tree.members[node, w] = tree.best_members[best, w]
    add_waiting(tree, node, rules)
    if tree.counters[0].free_slots < SPARE_SLOTS:
        release_slot(tree, node)


@subkernel
def keep_level(tree, pieces):
    """Keep the best split that the pieces of a search found for a level; return whether there is one."""
    best = 0
    for k in range(1, pieces):
        if tree.best[k].gain > tree.best[best].gain:
            best = k
    tree.best[0] = tree.best[best]
    for w in range(tree.best_members.shape[1]):
        tree.best_members[0, w] = tree.best_members[best, w]
    return tree.best[0].feature >= 0


@subkernel
def open_level(tree, rules):
    """Let the leaves that take the cut of their level wait for their split; begin the next level."""
    counters = tree.counters[0]
    for node in range(counters.nodes):
        if tree.nodes[node].first_child < 0 and tree.nodes[node].split.feature >= 0:
            add_waiting(tree, node, rules)
    inherit_groups(tree.draw, counters.level, tree.best[0].feature, counters.level + 1)
    counters.level += 1


@subkernel
def make_root(tree, n_rows, slot):
    """Make the root, whose histograms will be in ``slot``."""
    root = tree.nodes[0]
    root.depth, root.rows, root.first_child, root.slot = 0, n_rows, -1, slot
    root.lower, root.upper = -np.inf, np.inf
    root.split.gain, root.split.feature = -np.inf, -1
    blocks = tree.ranges.shape[1]
    for k in range(blocks):
        piece = tree.ranges[0, k]
        piece.start, piece.end = n_rows * k // blocks, n_rows * (k + 1) // blocks
    open_all_groups(tree.draw)


@subkernel
def _child_l2(node, features, rules):
    """Return the λ of a node's children: more where categories were sorted."""
    if node.split.kind == CATEGORIES and features.n_bins[node.split.feature] > rules.max_onehot:
        return rules.l2 + rules.cat_l2
    return rules.l2


@subkernel
def _inherit_bounds(parent, left, right, features):
    """Give a node's bounds to its children, divided in the middle by a monotone constraint."""
    left.lower, left.upper = parent.lower, parent.upper
    right.lower, right.upper = parent.lower, parent.upper
    if len(features.monotone) and parent.split.kind != CATEGORIES:
        part_bounds(left, right, features.monotone[parent.split.feature])


@subkernel
def add_children(tree, node, features, unit, rules):
    """Make the two children of a node whose entries have been partitioned; return the first."""
    nodes, counters, parent = tree.nodes, tree.counters[0], tree.nodes[node]
    left = counters.nodes
    counters.nodes += 2
    counters.leaves += 1
    parent.first_child = left
    n_left = np.int64(0)
    for k in range(tree.ranges.shape[1]):  # partitioned: the left child's ranges are known
        n_left += tree.ranges[left, k].end - tree.ranges[left, k].start
    g, h, l2 = parent.split.left_g, parent.split.left_h, _child_l2(parent, features, rules)
    for side in range(2):
        child = nodes[left + side]
        child.depth = parent.depth + 1
        child.first_child, child.slot, child.split.feature = -1, -1, -1
        child.rows = parent.rows - n_left if side else n_left
        child.sum_g = parent.sum_g - g if side else g
        child.sum_h = parent.sum_h - h if side else h
        child.split.gain = -np.inf
        child.answer = answer(
            np.float64(child.sum_g) * unit.g, np.float64(child.sum_h) * unit.h,
            np.float64(child.rows), parent.answer, parent.lower, parent.upper, l2, rules,
        )  # fmt: skip
    _inherit_bounds(parent, nodes[left], nodes[left + 1], features)
    if not rules.symmetric:  # its levels have the groups
        inherit_groups(tree.draw, node, parent.split.feature, left)
    return left


@subkernel
def may_split(tree, node, rules):
    """Return whether a leaf is large and shallow enough to be split, and more leaves are allowed."""
    one = tree.nodes[node]
    if rules.symmetric:  # all leaves are tried until the last level; levels are limited, not leaves
        return tree.counters[0].level < rules.max_depth
    if tree.counters[0].leaves >= rules.max_leaves or one.depth >= rules.max_depth:
        return False
    return one.rows >= max(2.0 * rules.min_rows, 2.0)


@subkernel
def next_leaf(tree, rules):
    """Remove the next leaf from the waiting ones and return it; -1 if none is left."""
    heap, counters, nodes = tree.waiting, tree.counters[0], tree.nodes
    waiting = counters.waiting
    if waiting == 0 or counters.leaves >= rules.max_leaves:
        return np.int64(-1)
    first, last = heap[0], heap[waiting - 1]
    waiting -= 1
    counters.waiting = waiting
    at = 0
    while 2 * at + 1 < waiting:
        child = 2 * at + 1
        if child + 1 < waiting and _comes_before(nodes, heap[child + 1], heap[child], rules):
            child += 1
        if not _comes_before(nodes, heap[child], last, rules):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first


@subkernel
def give_answers(tree, features, fine, rules):
    """Add up the leaves' fine sums towards the root; write every node's answer and its Σh."""
    nodes, n = tree.nodes, tree.counters[0].nodes
    for k in range(n - 1, -1, -1):
        node = nodes[k]
        if node.first_child >= 0:
            left, right = nodes[node.first_child], nodes[node.first_child + 1]
            node.fine_g, node.fine_h = left.fine_g + right.fine_g, left.fine_h + right.fine_h
    root = nodes[0]
    _answer_finely(root, np.nan, fine, rules.l2, rules)
    if root.cover < rules.min_weight:
        root.value = 0.0
    for k in range(n):
        node = nodes[k]
        left = node.first_child
        if left >= 0:
            l2 = _child_l2(node, features, rules)
            _answer_finely(nodes[left], node.answer, fine, l2, rules)
            _answer_finely(nodes[left + 1], node.answer, fine, l2, rules)


@subkernel
def _answer_finely(node, parent, fine, l2, rules):
    """Write a node's answer from its fine sums; ``parent`` is the answer of its parent."""
    g, h = np.float64(node.fine_g) / fine.g, np.float64(node.fine_h) / fine.h
    rows = np.float64(node.rows)
    node.cover = h
    node.value = answer(g, h, rows, parent, node.lower, node.upper, l2, rules) + 0.0
