"""Best-first growth in batches: many nodes are divided at once, and the order is found afterwards.

Rows live in shards, and every message to them takes a millisecond. So nodes are divided ahead of their turn;
`replay` then goes through best-first growth on what is known:

    ahead    all nodes divided so far, numbered as they were made
    final    the tree of best-first growth, as far as its nodes are divided; their numbers there

A node that is not divided yet counts as if its children could not be. The nodes that the replay wanted to
divide are divided next; when there are none, the final tree is whole, and nodes divided in vain are leaves.

    replay ─► wanted ─► shards divide and count them ─► absorb: children, histograms, best splits ─► …

A symmetric tree needs no replay: all leaves that take the cut of a level are divided at once (`next_level`).
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.by_address import call_at, is_given
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.dtypes import SCAN, SHARE
from arboretum.engine.second_order.histogram import LOW32, subtract
from arboretum.engine.second_order.items import do_item
from arboretum.engine.second_order.nodes import (
    SPARE_SLOTS,
    add_children,
    add_waiting,
    give_answers,
    keep_level,
    make_root,
    may_split,
    next_leaf,
    open_level,
    release_slot,
    take_slot,
)
from arboretum.engine.second_order.pack import choose_scales, find_largest
from arboretum.engine.second_order.score import answer

__all__ = [
    "absorb",
    "add_counts",
    "find_largest_of",
    "finish",
    "map_leaves",
    "next_level",
    "open_root",
    "replay",
    "scale_by",
]


@kernel
def find_largest_of(given, largest):
    """Write the largest |g| and h of all rows; largest (1,) PAIR."""
    find_largest(given, 0, len(given.g), largest[0])


@kernel
def scale_by(g, h, given, scales, n_rows):
    """Choose the scales of a tree from the largest |g| and h; return whether all derivatives are valid."""
    scales.largest[0].g, scales.largest[0].h = g, h
    return choose_scales(given, scales, n_rows)


@kernel
def add_counts(total, is_packed, wide, packed, starts):
    """Add a shard's histograms to the sums of all shards.

    total (n_counted, n_sums) int64, added to; is_packed (n_counted,) bool: which of them have Σg and Σh of a
    bin in one number; wide (n_wide, n_sums) int64; packed (n_packed, n_bins) int64; starts
    (n_columns + 1,) int64.
    """
    from_wide, from_packed = 0, 0
    for k in range(len(total)):
        sums = total[k]
        if not is_packed[k]:
            for b in range(len(sums)):
                sums[b] += wide[from_wide, b]
            from_wide += 1
            continue
        both = packed[from_packed]
        from_packed += 1
        for column in range(len(starts) - 1):
            start, end = starts[column], starts[column + 1]
            for b in range(start, end):
                sums[start + b] += both[b] >> 32
                sums[end + b] += both[b] & LOW32


@subkernel
def _scan(parts, state, scratch, number):
    """Find the best split of a node, or of a level of a symmetric tree."""
    tree, task = state.tree, state.tree.task[0]
    task.kind, task.pieces, task.scanned[0] = SCAN, 1, number
    if is_given(parts.draw):
        call_at(parts.draw, (tree, state.rules, number, state.given.key, 0))
    else:
        task.n_features[0] = len(tree.draw.features)
        for f in range(len(tree.draw.features)):
            tree.draw.drawn[0, f] = tree.draw.features[f]
    do_item(parts, state, scratch, 0)


@subkernel
def _scan_node(parts, state, scratch, k):
    """Find the best split of a node by its histograms, which it gives back if it has none."""
    tree, node, rules = state.tree, state.tree.nodes[k], state.rules
    node.split.gain, node.split.feature = -np.inf, -1
    if node.slot < 0 or not may_split(tree, k, rules):
        release_slot(tree, k)
        return
    _scan(parts, state, scratch, k)
    node.split = tree.best[0]
    if node.split.feature < 0 or tree.counters[0].free_slots < SPARE_SLOTS:
        release_slot(tree, k)
    for w in range(tree.members.shape[1]):
        tree.members[k, w] = tree.best_members[0, w]


@inline
def _copy(source, target):
    """Copy histograms; source (n_sums,) int64; target (n_sums,) int64, written."""
    for b in range(len(target)):
        target[b] = source[b]


@kernel
def open_root(parts, state, scratch, n_rows, hist):
    """Make the root of a tree on ``n_rows`` rows, with its histograms (n_sums,) int64."""
    tree, counters, rules = state.tree, state.tree.counters[0], state.rules
    slots = len(tree.hists)
    counters.nodes, counters.leaves, counters.free_slots, counters.level = 1, 1, slots, 0
    counters.waiting = 0
    for k in range(slots):
        tree.free_slots[k] = slots - 1 - k
    make_root(tree, n_rows, take_slot(tree))
    root, bins, unit = tree.nodes[0], state.store.starts[1], state.scales.chosen[0].unit
    root.sum_g, root.sum_h = 0, 0
    for b in range(bins):
        root.sum_g += hist[b]
        root.sum_h += hist[bins + b]
    g, h = np.float64(root.sum_g) * unit.g, np.float64(root.sum_h) * unit.h
    root.answer = answer(g, h, np.float64(n_rows), np.nan, -np.inf, np.inf, rules.l2, rules)
    _copy(hist, tree.hists[root.slot])
    if not rules.symmetric:
        _scan_node(parts, state, scratch, 0)


@kernel
def absorb(parts, state, scratch, orders, n_left, counted):
    """Make the children of divided nodes and find their best splits.

    orders (n_orders,) ORDER; n_left (n_orders,) int64, rows of the left children; counted
    (n_counted, n_sums) int64, histograms of all shards together; those of a sibling that was not counted are
    the parent's minus the other's.
    """
    tree, nodes, at = state.tree, state.tree.nodes, 0
    for j in range(len(orders)):
        k, left, many = orders[j].node, orders[j].left, orders[j].n_counted
        # the root alone had one leaf: `may_split` must not count leaves, the replay does
        tree.counters[0].nodes, tree.counters[0].leaves = left, 1
        tree.ranges[left, 0].start, tree.ranges[left, 0].end = 0, n_left[j]
        add_children(tree, k, state.features, state.scales.chosen[0].unit, state.rules)
        tree.counters[0].leaves = 1
        if many == 1:
            one = orders[j].first_counted
            other = 2 * left + 1 - one
            nodes[other].slot, nodes[k].slot = nodes[k].slot, -1
            subtract(tree.hists[nodes[other].slot], counted[at])
        release_slot(tree, k)
        for child in range(orders[j].first_counted, orders[j].first_counted + many):
            nodes[child].slot = take_slot(tree)
            _copy(counted[at], tree.hists[nodes[child].slot])
            at += 1
        for child in range(left, left + 0 if state.rules.symmetric else left + 2):
            _scan_node(parts, state, scratch, child)


@kernel
def next_level(parts, state, scratch, wanted):
    """Find the cut of the next level of a symmetric tree; return how many leaves take it.

    wanted (n_nodes,) int64, written: these leaves.
    """
    tree, rules, counters = state.tree, state.rules, state.tree.counters[0]
    if not may_split(tree, 0, rules):
        return 0
    _scan(parts, state, scratch, counters.level)
    if not keep_level(tree, 1):
        return 0
    tree.task[0].kind = SHARE
    do_item(parts, state, scratch, 0)
    open_level(tree, rules)
    many = counters.waiting
    for k in range(many):
        wanted[k] = next_leaf(tree, rules)
    return many


@kernel
def replay(ahead, final, index_of, wanted, rules):
    """Go through best-first growth; return how many nodes must be divided for it to go on.

    index_of (n_nodes,) int64, written: for a node of the final tree its number among those ahead, -1 for
    children that are not known; wanted (n_nodes,) int64, written: the nodes to divide, in their order.
    """
    counters, many = final.counters[0], 0
    counters.nodes, counters.leaves, counters.waiting = 1, 1, 0
    _take_over(ahead, final, index_of, 0, 0, rules)
    node = next_leaf(final, rules)
    while node >= 0:
        left, first = ahead.nodes[index_of[node]].first_child, counters.nodes
        counters.nodes, counters.leaves = first + 2, counters.leaves + 1
        if left < 0:
            wanted[many] = index_of[node]
            many += 1
            index_of[first], index_of[first + 1] = -1, -1
        else:
            final.nodes[node].first_child = first
            _take_over(ahead, final, index_of, left, first, rules)
            _take_over(ahead, final, index_of, left + 1, first + 1, rules)
        node = next_leaf(final, rules)
    return many


@subkernel
def _take_over(ahead, final, index_of, k, number, rules):
    """Copy a node into the final tree, as a leaf that waits if it can be split.

    index_of (n_nodes,) int64, written.
    """
    final.nodes[number] = ahead.nodes[k]
    final.nodes[number].first_child = -1
    for w in range(final.members.shape[1]):
        final.members[number, w] = ahead.members[k, w]
    index_of[number] = k
    if final.nodes[number].split.feature >= 0:
        add_waiting(final, number, rules)


@kernel
def map_leaves(ahead, index_of, leaf_of_node):
    """Write the final number of every node ahead; those below a final leaf have that leaf's.

    index_of (n_final,) int64; leaf_of_node (n_ahead,) int32, written.
    """
    for k in range(len(leaf_of_node)):
        leaf_of_node[k] = -1
    for number in range(len(index_of)):
        leaf_of_node[index_of[number]] = number
    for k in range(len(leaf_of_node)):
        left = ahead.nodes[k].first_child
        if left >= 0 and leaf_of_node[left] < 0:
            leaf_of_node[left], leaf_of_node[left + 1] = leaf_of_node[k], leaf_of_node[k]


@kernel
def finish(final, features, scales, rules, sums):
    """Write the answers of a tree from the fine sums of its leaves; sums (n_nodes, 2) int64."""
    for k in range(len(sums)):
        final.nodes[k].fine_g, final.nodes[k].fine_h = sums[k, 0], sums[k, 1]
    give_answers(final, features, scales.chosen[0].fine, rules)
