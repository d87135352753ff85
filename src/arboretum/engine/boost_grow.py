"""Growing one tree on histograms: split the best open leaf, again and again.

A leaf that may be split waits in ``open`` with its best split. The loop takes one (largest gain, or
smallest depth: growth policy is nothing but this order), parts its entries, counts the smaller child,
has the larger by subtraction, and looks for both children's best splits:

    entries   [ left … | right … ]       histograms   parent − smaller = larger, in the parent's place

The loop runs in compiled code until it meets a node with so many rows that several threads are worth
their while; it then returns that node to Python, which does the same steps on blocks of rows, tiles of
columns and ranges of features, and calls again. Both ways make the same tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.boost_hist import count_tiles, count_wide, subtract
from arboretum.engine.boost_scan import (
    BIN,
    CATEGORIES,
    FEATURE,
    GAIN,
    KIND,
    LEFT_G,
    LEFT_H,
    MISSING_LEFT,
    Node,
    answer,
    best_of,
)
from arboretum.engine.jit import kernel, leaf_kernel
from arboretum.engine.prefetch import prefetch
from arboretum.engine.random import mix, pick_column

__all__ = [
    "Growth",
    "Store",
    "add_children",
    "draw_columns",
    "fill_sides",
    "grow",
    "keep_split",
    "part_block",
    "scan_features",
]

_AHEAD = 24
_ROW = np.uint64(32)
_ONE = np.uint64(1)
# whole numbers kept of a node, after those of its best split (boost_scan.py)
START, END, SLOT, DEPTH, LEFT, SUM_G, SUM_H, ROWS = 6, 7, 8, 9, 10, 11, 12, 13
N_INTS = 14
# numbers kept of a node, after the gain
ANSWER, LOWER, UPPER = 1, 2, 3
N_FLOATS = 4
# counters
NODES, LEAVES, WAITING, FREE = 0, 1, 2, 3


class Store(NamedTuple):
    """The table as codes; the same for all trees."""

    codes: np.ndarray  # (columns, n) uint8 or uint16
    words: np.ndarray  # (tiles, n) uint64; empty if codes have 16 bits
    width: int  # columns of a tile


class Growth(NamedTuple):
    """A tree that grows, and room to work on."""

    ints: np.ndarray  # (nodes, N_INTS) int64
    floats: np.ndarray  # (nodes, N_FLOATS) float64
    members: np.ndarray  # (nodes, words) uint32, bins that go left
    counters: np.ndarray  # int64
    open: np.ndarray  # int64, the leaves that wait
    free: np.ndarray  # int64, slots of histograms not in use
    hists: np.ndarray  # (slots, columns, bins, 2) int64
    entries: np.ndarray  # uint64
    spare: np.ndarray  # uint64
    goes_left: np.ndarray  # uint8, by code
    columns: np.ndarray  # int64, the features of this tree
    drawn: np.ndarray  # int64, the features of a node
    marks: np.ndarray  # uint8, by feature
    groups: np.ndarray  # (nodes, words) uint64, groups of features still open; or empty
    group_of: np.ndarray  # (features, words) uint64; or empty


@leaf_kernel
def fill_sides(features, growth, node):
    """Write for every code whether it goes left at a node."""
    goes, split = growth.goes_left, growth.ints[node]
    f, last = split[FEATURE], len(growth.goes_left) - 1
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
def _part(codes, column, goes, entries, spare, start, end):
    """Put the left entries first, in their order, and the right ones into ``spare``.

    Returns how many go left. The right ones stand from ``start`` on in ``spare``.
    """
    at, other = np.uint64(start), np.uint64(start)
    near = max(start, end - _AHEAD)
    for i in range(start, near):
        prefetch(codes, column, entries[i + _AHEAD] >> _ROW)
        entry = entries[i]
        left = np.uint64(goes[codes[column, entry >> _ROW]])
        entries[at] = entry
        spare[other] = entry
        at += left
        other += _ONE - left
    for i in range(near, end):
        entry = entries[i]
        left = np.uint64(goes[codes[column, entry >> _ROW]])
        entries[at] = entry
        spare[other] = entry
        at += left
        other += _ONE - left
    return np.int64(at) - start


@kernel
def part_block(codes, column, goes, entries, spare, start, end):
    """`_part` for Python to call."""
    return _part(codes, np.uint64(column), goes, entries, spare, start, end)


@leaf_kernel
def draw_columns(growth, node, depth, key, rules):
    """Write the features a node may ask for, in order; return how many they are."""
    whole, drawn, marks = growth.columns, growth.drawn, growth.marks
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
def _figures(growth, node, units):
    ints, floats = growth.ints[node], growth.floats[node]
    return Node(
        ints[SUM_G], ints[SUM_H], units[0], units[1], np.float64(ints[ROWS]), floats[ANSWER],
        floats[LOWER], floats[UPPER],
    )  # fmt: skip


@leaf_kernel
def keep_split(growth, node, work):
    """Keep what a scan has found; a leaf with a split waits for its turn."""
    ints = growth.ints[node]
    growth.floats[node, GAIN] = work.best[GAIN]
    for k in range(6):
        ints[k] = work.found[k]
    if ints[FEATURE] < 0:
        _release(growth, ints[SLOT])
        ints[SLOT] = -1
        return
    for w in range(growth.members.shape[1]):
        growth.members[node, w] = work.members[w]
    growth.open[growth.counters[WAITING]] = node
    growth.counters[WAITING] += 1


@leaf_kernel
def _release(growth, slot):
    if slot >= 0:
        growth.free[growth.counters[FREE]] = slot
        growth.counters[FREE] += 1


@leaf_kernel
def _take_slot(growth):
    growth.counters[FREE] -= 1
    return growth.free[growth.counters[FREE]]


@kernel
def scan_features(growth, node, drawn, first, last, features, units, rules, work):
    """Look for the best split of a node among ``drawn[first:last]``."""
    slot = growth.ints[node, SLOT]
    figures = _figures(growth, node, units)
    best_of(growth.hists[slot], drawn, first, last, features, figures, rules, work)


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
def _children(growth, node, n_left, features, units, rules):
    """Make the two children of a node whose entries are parted; return the first."""
    ints, floats, counters = growth.ints, growth.floats, growth.counters
    left = counters[NODES]
    counters[NODES] += 2
    counters[LEAVES] += 1
    ints[node, LEFT] = left
    middle = ints[node, START] + n_left
    for side in range(2):
        child = left + side
        ints[child, START] = middle if side else ints[node, START]
        ints[child, END] = ints[node, END] if side else middle
        ints[child, DEPTH] = ints[node, DEPTH] + 1
        ints[child, LEFT], ints[child, SLOT], ints[child, FEATURE] = -1, -1, -1
        ints[child, ROWS] = ints[child, END] - ints[child, START]
        g, h = ints[node, LEFT_G], ints[node, LEFT_H]
        ints[child, SUM_G] = ints[node, SUM_G] - g if side else g
        ints[child, SUM_H] = ints[node, SUM_H] - h if side else h
        floats[child, GAIN] = -np.inf
        l2 = rules.l2
        if (
            ints[node, KIND] == CATEGORIES
            and features.n_bins[ints[node, FEATURE]] > rules.max_onehot
        ):
            l2 += rules.cat_l2
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


@kernel
def add_children(growth, node, n_left, features, units, rules):
    """`_children` for Python to call."""
    return _children(growth, node, n_left, features, units, rules)


@leaf_kernel
def _may_split(growth, node, rules):
    """Tell whether a leaf is large and shallow enough to be looked at, and more leaves are wanted."""
    ints = growth.ints[node]
    if growth.counters[LEAVES] >= rules.max_leaves or ints[DEPTH] >= rules.max_depth:
        return False
    return ints[ROWS] >= max(2.0 * rules.min_rows, 2.0)


@leaf_kernel
def next_leaf(growth, rules):
    """Take the leaf whose turn it is out of those that wait; -1 if none is left."""
    waiting = growth.counters[WAITING]
    if waiting == 0 or growth.counters[LEAVES] >= rules.max_leaves:
        return np.int64(-1)
    at = 0
    for k in range(1, waiting):
        node, best = growth.open[k], growth.open[at]
        if rules.depth_first:
            a, b = growth.ints[node, DEPTH], growth.ints[best, DEPTH]
            if a < b or (a == b and node < best):
                at = k
            continue
        a, b = growth.floats[node, GAIN], growth.floats[best, GAIN]
        if a > b or (a == b and node < best):
            at = k
    node = growth.open[at]
    growth.open[at] = growth.open[waiting - 1]
    growth.counters[WAITING] -= 1
    return node


@leaf_kernel
def _count(store, growth, node, slot, work):
    start, end = growth.ints[node, START], growth.ints[node, END]
    hist = growth.hists[slot]
    if len(store.words):
        tiles = len(store.words)
        count_tiles(
            store.words, store.width, 0, tiles, growth.entries, start, end, False, work.small, hist
        )
    else:
        count_wide(store.codes, 0, len(store.codes), growth.entries, start, end, hist)


@leaf_kernel
def _split(store, growth, features, units, rules, key, work, node):
    """Split a leaf: part its entries, count its children, find their best splits."""
    ints = growth.ints
    start, end, slot = ints[node, START], ints[node, END], ints[node, SLOT]
    fill_sides(features, growth, node)
    column = np.uint64(features.storage[ints[node, FEATURE]])
    entries, spare = growth.entries, growth.spare
    n_left = _part(store.codes, column, growth.goes_left, entries, spare, start, end)
    for i in range(end - start - n_left):
        entries[start + n_left + i] = spare[start + i]
    left = _children(growth, node, n_left, features, units, rules)
    first, second = _may_split(growth, left, rules), _may_split(growth, left + 1, rules)
    if not (first or second):
        _release(growth, slot)
        ints[node, SLOT] = -1
        return
    smaller = left if 2 * n_left <= end - start else left + 1
    larger = 2 * left + 1 - smaller
    other = _take_slot(growth)
    _count(store, growth, smaller, other, work)
    subtract(growth.hists[slot], growth.hists[other])
    ints[smaller, SLOT], ints[larger, SLOT], ints[node, SLOT] = other, slot, -1
    for child in range(left, left + 2):
        if not _may_split(growth, child, rules):
            _release(growth, ints[child, SLOT])
            ints[child, SLOT] = -1
            continue
        n = draw_columns(growth, child, ints[child, DEPTH], key, rules)
        figures = _figures(growth, child, units)
        hist = growth.hists[ints[child, SLOT]]
        best_of(hist, growth.drawn, 0, n, features, figures, rules, work)
        keep_split(growth, child, work)


@kernel
def grow(store, growth, features, units, rules, key, work, largest):
    """Split leaves until the tree is done; return a leaf of more than ``largest`` rows, or -1."""
    while True:
        node = next_leaf(growth, rules)
        if node < 0 or growth.ints[node, ROWS] > largest:
            return node
        _split(store, growth, features, units, rules, key, work, node)


@kernel
def prepare_children(growth, node, left, features, units, rules):
    """Tell which child is counted (or -1), and give both their slots: for nodes split by Python."""
    ints = growth.ints
    slot = ints[node, SLOT]
    if not (_may_split(growth, left, rules) or _may_split(growth, left + 1, rules)):
        _release(growth, slot)
        ints[node, SLOT] = -1
        return np.int64(-1)
    smaller = left if ints[left, ROWS] <= ints[left + 1, ROWS] else left + 1
    larger = 2 * left + 1 - smaller
    ints[smaller, SLOT], ints[larger, SLOT], ints[node, SLOT] = _take_slot(growth), slot, -1
    return smaller


@kernel
def begin_scan(growth, node, key, rules):
    """Draw a node's columns if it may be split; return how many, or -1 (its slot is released)."""
    if not _may_split(growth, node, rules):
        _release(growth, growth.ints[node, SLOT])
        growth.ints[node, SLOT] = -1
        return np.int64(-1)
    return draw_columns(growth, node, growth.ints[node, DEPTH], key, rules)


@kernel
def end_scan(growth, node, work):
    """`keep_split` for Python to call."""
    keep_split(growth, node, work)


@kernel
def sides_of(features, growth, node):
    """`fill_sides` for Python to call."""
    fill_sides(features, growth, node)


@kernel
def walk_codes(codes, features, tree, rows, start, end, out):
    """Write the leaf that rows reach by their codes; ``rows`` may be empty: row i is i.

    ``tree`` is (first child, feature, last bin on the left, missing left?, by set?, members).
    """
    child, feature, last, missing_left, by_set, members = tree
    gone = np.int64(np.iinfo(codes.dtype).max)
    for i in range(start, end):
        row = np.uint64(rows[i]) if len(rows) else np.uint64(i)
        node = np.int64(0)
        while child[node] >= 0:
            f = feature[node]
            code, default = (
                np.int64(codes[np.uint64(features.storage[f]), row]),
                features.default_bin[f],
            )
            missing = code == gone
            if default >= 0:  # bundled: the stored bins, without the default one
                missing = False
                at = code - features.offset[f]
                inside = at >= 0 and at < features.n_bins[f] - 1
                code = at + np.int64(at >= default) if inside else np.int64(default)
            if missing:
                left = missing_left[node] and not by_set[node]
            elif by_set[node]:
                left = (members[node, code >> 5] >> np.uint32(code & 31)) & np.uint32(1) > 0
            else:
                left = code <= last[node]
            node = child[node] + np.int64(not left)
        out[i - start] = node
