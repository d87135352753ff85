"""A tree while it grows on histograms: its nodes, the leaves that wait, the room they need.

node     whole numbers: its best split, where its rows stand, its histograms, its children, Σg, Σh
open     leaves whose best split is known; which one is next is all that growth policies differ in
slots    room for histograms; a leaf that waits keeps its own for its children, as long as there is
         enough: without them both children are counted
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.gradient.histogram import BINS
from arboretum.engine.gradient.pack import Given, Scales
from arboretum.engine.gradient.split import (
    BIN,
    CATEGORIES,
    FEATURE,
    GAIN,
    KIND,
    LEFT_G,
    LEFT_H,
    MISSING_LEFT,
    Features,
    Rules,
    answer,
)
from arboretum.engine.jit import leaf_kernel
from arboretum.engine.random import mix, pick_column

__all__ = [
    "Field",
    "Growth",
    "Store",
    "add_children",
    "draw_columns",
    "fill_sides",
    "give_answers",
    "keep_split",
    "may_split",
    "missing_code",
    "next_leaf",
    "plant",
    "release_slot",
    "take_slot",
]

# whole numbers kept of a node, after those of its best split (split.py)
SLOT, DEPTH, LEFT, SUM_G, SUM_H, ROWS = 6, 7, 8, 9, 10, 11
N_INTS = 12
# numbers kept of a node, after the gain
ANSWER, LOWER, UPPER, VALUE, COVER = 1, 2, 3, 4, 5
N_FLOATS = 6
# counters
NODES, LEAVES, WAITING, FREE, FAILED = 0, 1, 2, 3, 4
N_COUNTERS = 5
_SPARE_SLOTS = 2  # always free: the children of a leaf without histograms need so many


class Store(NamedTuple):
    """The table as codes; the same for all trees."""

    codes: np.ndarray  # (columns, n) uint8
    words: np.ndarray  # (tiles, n, 1 or 2) uint64, the same codes
    width: int  # columns of a word
    wide: np.ndarray  # (columns, n) uint16, the columns of more than 255 bins: behind the others
    wide_words: np.ndarray  # (tiles, n) uint64, the same codes
    wide_width: int  # columns of such a word
    starts: (
        np.ndarray
    )  # int64, where a column's bins in use begin in a histogram; missing comes last


class Growth(NamedTuple):
    """A tree that grows, and room to work on."""

    ints: np.ndarray  # (nodes, N_INTS) int64
    floats: np.ndarray  # (nodes, N_FLOATS) float64
    members: np.ndarray  # (nodes, words) uint32, bins that go left
    counters: np.ndarray  # int64
    open: np.ndarray  # int64, the leaves that wait
    free: np.ndarray  # int64, slots of histograms not in use; behind them room for draws
    hists: np.ndarray  # (slots, sums) int64 (histogram.py)
    extra: np.ndarray  # (pieces - 1, sums) int64, for many threads on few columns
    lists: np.ndarray  # (2, n) uint64, entries of nodes at even and at odd depths
    bounds: np.ndarray  # (nodes, blocks, 2) int64, where a node's entries stand in every block
    sums: np.ndarray  # (nodes, 2) int64, Σg and Σh of leaves at fine scales
    goes_left: np.ndarray  # uint8, by code
    columns: np.ndarray  # int64, the features of this tree
    drawn: np.ndarray  # (2, features) int64, what two children may ask for
    marks: np.ndarray  # uint8, by feature
    groups: np.ndarray  # (nodes, words) uint64, groups of features still open; or empty
    group_of: np.ndarray  # (features, words) uint64; or empty
    task: np.ndarray  # int64, what the threads are at (grow.py)
    gains: np.ndarray  # (pieces,) float64, best splits by piece
    found: np.ndarray  # (pieces, 6) int64
    found_members: np.ndarray  # (pieces, words) uint32
    ticks: np.ndarray  # int64, time spent, by kind of task


class Field(NamedTuple):
    """All that growing a tree looks at and writes on."""

    store: Store
    growth: Growth
    features: Features
    rules: Rules
    given: Given
    scales: Scales


@leaf_kernel
def missing_code(store, column):
    """Return the code of missing values in a column."""
    if column < len(store.codes):
        return np.int64(BINS - 1)
    return store.starts[column + 1] - store.starts[column] - 1


@leaf_kernel
def fill_sides(features, growth, store, node):
    """Write for every code whether it goes left at a node."""
    goes, split = growth.goes_left, growth.ints[node]
    f = split[FEATURE]
    last = missing_code(store, features.storage[f])
    n, default, first = features.n_bins[f], features.default_bin[f], features.offset[f]
    by_set = split[KIND] == CATEGORIES
    side = split[MISSING_LEFT] if default < 0 else np.int64(default <= split[BIN])
    for c in range(last + 1):
        goes[c] = side
    at = first
    for b in range(n):
        if b == default:
            continue
        if by_set:
            goes[at] = (growth.members[node, b >> 5] >> np.uint32(b & 31)) & np.uint32(1)
        else:
            goes[at] = b <= split[BIN]
        at += 1
    if by_set and default >= 0:
        side = (growth.members[node, default >> 5] >> np.uint32(default & 31)) & np.uint32(1)
        for c in range(last + 1):
            if c < first or c >= at:
                goes[c] = side


@leaf_kernel
def draw_columns(growth, drawn, node, depth, key, rules):
    """Write the features a node may ask for, in order; return how many they are."""
    whole, marks = growth.columns, growth.marks
    n = len(whole)
    for k in range(n):
        drawn[k] = whole[k]
    for level in range(2):
        many = rules.node_columns if level else rules.level_columns
        if many == 0 or many >= n:
            continue
        chosen = mix(key, np.uint64((node << 1) | 1 if level else depth << 1))
        order = growth.free[len(growth.free) - n :]  # scratch behind the slots
        for turn in range(many):
            marks[drawn[pick_column(chosen, turn, order)]] = 1
        kept = 0
        for k in range(n):
            if marks[drawn[k]]:
                marks[drawn[k]] = 0
                drawn[kept] = drawn[k]
                kept += 1
        n = kept
    if len(growth.group_of):
        kept = 0
        for k in range(n):
            together = np.uint64(0)
            for w in range(growth.group_of.shape[1]):
                together |= growth.group_of[drawn[k], w] & growth.groups[node, w]
            if together:
                drawn[kept] = drawn[k]
                kept += 1
        n = kept
    return n


@leaf_kernel
def take_slot(growth):
    """Take room for histograms."""
    growth.counters[FREE] -= 1
    return growth.free[growth.counters[FREE]]


@leaf_kernel
def release_slot(growth, node):
    """Give back the room of a node's histograms."""
    if growth.ints[node, SLOT] >= 0:
        growth.free[growth.counters[FREE]] = growth.ints[node, SLOT]
        growth.counters[FREE] += 1
    growth.ints[node, SLOT] = -1


@leaf_kernel
def _comes_before(growth, a, b, rules):
    """Tell whether leaf ``a`` is split before ``b``: larger gain, or smaller depth, or older."""
    if rules.depth_first:
        x, y = growth.ints[b, DEPTH], growth.ints[a, DEPTH]
        return x > y or (x == y and a < b)
    p, q = growth.floats[a, GAIN], growth.floats[b, GAIN]
    return p > q or (p == q and a < b)


@leaf_kernel
def _add_waiting(growth, node, rules):
    """Let a leaf wait: ``open`` is a heap, the next leaf on top."""
    queue, at = growth.open, growth.counters[WAITING]
    growth.counters[WAITING] += 1
    while at > 0 and _comes_before(growth, node, queue[(at - 1) >> 1], rules):
        queue[at] = queue[(at - 1) >> 1]
        at = (at - 1) >> 1
    queue[at] = node


@leaf_kernel
def keep_split(growth, node, first, last, rules):
    """Keep the best of what pieces of a search have found; a leaf with a split waits for its turn."""
    best = first
    for k in range(first + 1, last):
        if growth.gains[k] > growth.gains[best]:
            best = k
    growth.floats[node, GAIN] = growth.gains[best]
    for k in range(6):
        growth.ints[node, k] = growth.found[best, k]
    if growth.ints[node, FEATURE] < 0:
        release_slot(growth, node)
        return
    for w in range(growth.members.shape[1]):
        growth.members[node, w] = growth.found_members[best, w]
    _add_waiting(growth, node, rules)
    if growth.counters[FREE] < _SPARE_SLOTS:
        release_slot(growth, node)


@leaf_kernel
def plant(growth, n_rows, slot):
    """Make the root, whose histograms will stand in ``slot``."""
    ints, floats = growth.ints[0], growth.floats[0]
    for k in range(N_INTS):
        ints[k] = -1
    ints[SLOT], ints[DEPTH], ints[ROWS] = slot, 0, n_rows
    blocks = growth.bounds.shape[1]
    for k in range(blocks):
        growth.bounds[0, k, 0] = n_rows * k // blocks
        growth.bounds[0, k, 1] = n_rows * (k + 1) // blocks
    floats[GAIN], floats[LOWER], floats[UPPER] = -np.inf, -np.inf, np.inf
    if len(growth.group_of):
        for w in range(growth.group_of.shape[1]):
            growth.groups[0, w] = ~np.uint64(0)


@leaf_kernel
def _child_l2(growth, node, features, rules):
    """Return the λ of a node's children: more where categories were sorted."""
    ints = growth.ints[node]
    if ints[KIND] == CATEGORIES and features.n_bins[ints[FEATURE]] > rules.max_onehot:
        return rules.l2 + rules.cat_l2
    return rules.l2


@leaf_kernel
def _bounds(growth, node, left, features, rules):
    """Hand a node's bounds to its children, parted in the middle by a monotone constraint."""
    floats = growth.floats
    for child in range(left, left + 2):
        floats[child, LOWER], floats[child, UPPER] = floats[node, LOWER], floats[node, UPPER]
    sign = features.monotone[growth.ints[node, FEATURE]] if len(features.monotone) else 0
    if sign == 0 or growth.ints[node, KIND] == CATEGORIES:
        return
    middle = floats[left, ANSWER] / 2.0 + floats[left + 1, ANSWER] / 2.0
    floats[left, UPPER if sign > 0 else LOWER] = middle
    floats[left + 1, LOWER if sign > 0 else UPPER] = middle


@leaf_kernel
def add_children(growth, node, features, units, rules):
    """Make the two children of a node whose entries are parted; return the first."""
    ints, floats, counters = growth.ints, growth.floats, growth.counters
    left = counters[NODES]
    counters[NODES] += 2
    counters[LEAVES] += 1
    ints[node, LEFT] = left
    n_left = np.int64(0)
    for k in range(growth.bounds.shape[1]):  # parted: the left child's bounds are known
        start, middle = growth.bounds[left, k, 0], growth.bounds[left, k, 1]
        n_left += middle - start
    for side in range(2):
        child = left + side
        ints[child, DEPTH] = ints[node, DEPTH] + 1
        ints[child, LEFT], ints[child, SLOT], ints[child, FEATURE] = -1, -1, -1
        ints[child, ROWS] = ints[node, ROWS] - n_left if side else n_left
        g, h = ints[node, LEFT_G], ints[node, LEFT_H]
        ints[child, SUM_G] = ints[node, SUM_G] - g if side else g
        ints[child, SUM_H] = ints[node, SUM_H] - h if side else h
        floats[child, GAIN] = -np.inf
        l2 = _child_l2(growth, node, features, rules)
        floats[child, ANSWER] = answer(
            np.float64(ints[child, SUM_G]) * units[0], np.float64(ints[child, SUM_H]) * units[1],
            np.float64(ints[child, ROWS]), floats[node, ANSWER], floats[node, LOWER],
            floats[node, UPPER], l2, rules,
        )  # fmt: skip
    _bounds(growth, node, left, features, rules)
    if len(growth.group_of):
        f = ints[node, FEATURE]
        for w in range(growth.group_of.shape[1]):
            still = growth.groups[node, w] & growth.group_of[f, w]
            growth.groups[left, w], growth.groups[left + 1, w] = still, still
    return left


@leaf_kernel
def may_split(growth, node, rules):
    """Tell whether a leaf is large and shallow enough to be looked at, and more leaves are wanted."""
    ints = growth.ints[node]
    if growth.counters[LEAVES] >= rules.max_leaves or ints[DEPTH] >= rules.max_depth:
        return False
    return ints[ROWS] >= max(2.0 * rules.min_rows, 2.0)


@leaf_kernel
def next_leaf(growth, rules):
    """Take the leaf whose turn it is out of those that wait; -1 if none is left."""
    queue, waiting = growth.open, growth.counters[WAITING]
    if waiting == 0 or growth.counters[LEAVES] >= rules.max_leaves:
        return np.int64(-1)
    first, last = queue[0], queue[waiting - 1]
    waiting -= 1
    growth.counters[WAITING] = waiting
    at = 0
    while 2 * at + 1 < waiting:
        child = 2 * at + 1
        if child + 1 < waiting and _comes_before(growth, queue[child + 1], queue[child], rules):
            child += 1
        if not _comes_before(growth, queue[child], last, rules):
            break
        queue[at] = queue[child]
        at = child
    queue[at] = last
    return first


@leaf_kernel
def give_answers(growth, features, fine, rules):
    """Add up the leaves' fine sums towards the root; write what every node answers, and its Σh."""
    ints, floats, sums = growth.ints, growth.floats, growth.sums
    for node in range(growth.counters[NODES] - 1, -1, -1):
        left = ints[node, LEFT]
        if left >= 0:
            for k in range(2):
                sums[node, k] = sums[left, k] + sums[left + 1, k]
    for node in range(growth.counters[NODES]):
        left = ints[node, LEFT]
        if node == 0:
            _answer_finely(growth, 0, np.nan, fine, rules.l2, rules)
            if floats[0, COVER] < rules.min_weight:
                floats[0, VALUE] = 0.0
        if left >= 0:
            l2 = _child_l2(growth, node, features, rules)
            for child in range(left, left + 2):
                _answer_finely(growth, child, floats[node, ANSWER], fine, l2, rules)


@leaf_kernel
def _answer_finely(growth, node, parent, fine, l2, rules):
    floats = growth.floats[node]
    g, h = np.float64(growth.sums[node, 0]) / fine[0], np.float64(growth.sums[node, 1]) / fine[1]
    rows = np.float64(growth.ints[node, ROWS])
    floats[COVER] = h
    floats[VALUE] = answer(g, h, rows, parent, floats[LOWER], floats[UPPER], l2, rules) + 0.0
