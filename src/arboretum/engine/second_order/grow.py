"""Growing one tree on histograms: split the best open leaf, again and again.

The loop takes a waiting leaf (nodes.py), partitions its entries, counts the smaller child, gets the larger
one by subtraction, and searches both children's best splits:

    entries   [ left … | right … ]       histograms   parent − smaller = larger, in the parent's place

All of it runs in one compiled call. Each step is a task, cut into items (items.py); when its items are done,
the leader of the team (engine/team.py) goes on to the next:

    SCALE → FILL → COUNT (→ MERGE) → SCAN ─┬→ PART → COUNT (→ MERGE) → SCAN ─┐
                                           ├────── while a leaf may be split ┘
                                           └→ SUM

In a symmetric tree all leaves have one cut (symmetric.py). A level begins with SCAN → SHARE; then the leaves
that take the cut are partitioned and counted one after the other.

Sums are integers and the first of equal splits is kept, so the tree is the same for any number of threads,
blocks and pieces.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine import team as teams
from arboretum.engine.atomic import ticks
from arboretum.engine.compiler.by_address import call_at, is_given
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.dtypes import COUNT, FILL, MERGE, PART, SCALE, SCAN, SHARE, SUM
from arboretum.engine.second_order.histogram import LOW32
from arboretum.engine.second_order.items import do_item
from arboretum.engine.second_order.nodes import (
    add_children,
    fill_sides,
    give_answers,
    keep_level,
    keep_split,
    make_root,
    may_split,
    next_leaf,
    open_level,
    release_slot,
    take_slot,
)
from arboretum.engine.second_order.pack import choose_scales, spread_of
from arboretum.engine.second_order.score import answer

__all__ = ["grow"]

_ROOT, _NOBODY = np.int64(0), np.int64(-1)
_FEW_ROWS = 4096  # fewer rows are not worth sharing
_FEW_UPDATES = 16384  # the same, for updates of histograms
_FEW_BINS = 2048  # the same, for bins that are scanned
_MERGED_ROWS = 16384  # rows that justify separate histograms


@inline
def _begin(state, n_rows):
    """Begin a tree: make the root; the first task finds the largest derivatives."""
    tree, counters, slots = state.tree, state.tree.counters[0], len(state.tree.hists)
    counters.nodes, counters.leaves, counters.waiting, counters.failed = 1, 1, 0, 0
    counters.free_slots, counters.level = slots, 0
    for k in range(slots):
        tree.free_slots[k] = slots - 1 - k
    make_root(tree, n_rows, take_slot(tree))
    return _task(tree, SCALE, tree.ranges.shape[1], n_rows < _FEW_ROWS)


@inline
def _task(tree, kind, n_items, alone):
    """Describe the next task; return its number of items, negated if one thread does them alone."""
    tree.task[0].kind = kind
    many = np.int64(n_items)
    return -many if alone or tree.task[0].threads == 1 else many


@subkernel
def _pieces_of(tree, tiles, rows):
    """Return how many groups of blocks distribute the tiles evenly, if there is enough to count."""
    threads = tree.task[0].threads
    most = min(1 + len(tree.extra), tree.ranges.shape[1], rows // _MERGED_ROWS)
    pieces = 1
    while pieces < most and tiles * pieces < 8 * threads and tiles * pieces % threads:
        pieces += 1
    return pieces


@inline
def _tiles(store):
    return len(store.words) + len(store.wide_words)


@subkernel
def _count(state, node, parent_slot, count_next):
    """Begin counting a node, subtracted from the parent's histograms if there are any; then another node."""
    tree, task, tiles = state.tree, state.tree.task[0], _tiles(state.store)
    rows = tree.nodes[node].rows
    task.node, task.slot, task.parent_slot = node, tree.nodes[node].slot, parent_slot
    task.pieces, task.count_next = _pieces_of(tree, tiles, rows), count_next
    few = rows * (len(state.store.starts) - 1) < _FEW_UPDATES
    return _task(tree, COUNT, tiles * task.pieces, few)


@inline
def _know_root(state):
    """Compute the root's sums from its first histogram."""
    tree, rules, root = state.tree, state.rules, state.tree.nodes[0]
    g, h = np.int64(0), np.int64(0)
    starts, hist, unit = state.store.starts, tree.hists[root.slot], state.scales.chosen[0].unit
    packed, bins = len(hist) == starts[len(starts) - 1], starts[1]
    for b in range(bins):
        g += hist[b] >> 32 if packed else hist[b]
        h += hist[b] & LOW32 if packed else hist[bins + b]
    root.sum_g, root.sum_h = g, h
    a, c, rows = np.float64(g) * unit.g, np.float64(h) * unit.h, np.float64(root.rows)
    root.answer = answer(a, c, rows, np.nan, -np.inf, np.inf, rules.l2, rules)


@subkernel
def _scan(parts, state):
    """Describe the search for the best splits of the root, or the last two nodes; 0: none may be split.

    A level of a symmetric tree is searched as one node is, whose number is that of the level.
    """
    tree, task, rules = state.tree, state.tree.task[0], state.rules
    counters = tree.counters[0]
    first, last = max(counters.nodes - 2, 0), counters.nodes
    if rules.symmetric:
        first, last = counters.level, counters.level + 1
    many = np.int64(0)
    for node in range(first, last):
        if not may_split(tree, node, rules):
            release_slot(tree, node)
            continue
        task.scanned[many] = node
        if is_given(parts.draw):
            call_at(parts.draw, (tree, rules, node, state.given.key, many))
        else:
            task.n_features[many] = len(tree.draw.features)
            for k in range(len(tree.draw.features)):
                tree.draw.drawn[many, k] = tree.draw.features[k]
        many += 1
    starts = state.store.starts
    mean = starts[len(starts) - 1] // (len(starts) - 1)
    few = task.n_features[0] * mean * (counters.leaves if rules.symmetric else 1) < _FEW_BINS
    task.n_scanned, task.pieces = many, 1 if few else task.threads
    return _task(tree, SCAN, many * task.pieces, few)


@inline
def _keep_splits(state):
    """Keep the splits that the scan has found."""
    task = state.tree.task[0]
    for k in range(task.n_scanned):
        at = k * task.pieces
        keep_split(state.tree, task.scanned[k], at, at + task.pieces, state.rules)


@subkernel
def _part_next(state):
    """Describe the partitioning of the next leaf or, if there is none, adding up the leaves."""
    tree = state.tree
    node = next_leaf(tree, state.rules)
    if node < 0:
        return _task(tree, SUM, tree.ranges.shape[1], tree.nodes[0].rows < _FEW_ROWS)
    fill_sides(state.features, tree, state.store, node)
    tree.task[0].node = node
    return _task(tree, PART, tree.ranges.shape[1], tree.nodes[node].rows < _FEW_ROWS)


@subkernel
def _next_to_count(state):
    """Return the node to count after a task, its parent's slot, and the node to count next; -1: none.

    The smaller of two children is counted, and subtracted from the parent's histograms, if there are any.
    """
    tree, rules, nodes = state.tree, state.rules, state.tree.nodes
    kind, node = tree.task[0].kind, tree.task[0].node
    if kind == FILL:
        return _ROOT, _NOBODY, _NOBODY
    if kind in (SCAN, SHARE):
        return _NOBODY, _NOBODY, _NOBODY
    if kind != PART:
        return tree.task[0].count_next, _NOBODY, _NOBODY
    left = add_children(tree, node, state.features, state.scales.chosen[0].unit, rules)
    if not (may_split(tree, left, rules) or may_split(tree, left + 1, rules)):
        release_slot(tree, node)
        return _NOBODY, _NOBODY, _NOBODY
    smaller = left if nodes[left].rows <= nodes[left + 1].rows else left + 1
    larger = 2 * left + 1 - smaller
    nodes[smaller].slot, nodes[larger].slot = take_slot(tree), nodes[node].slot
    nodes[node].slot = -1
    if nodes[larger].slot >= 0:
        return smaller, nodes[larger].slot, _NOBODY
    nodes[larger].slot = take_slot(tree)
    return smaller, _NOBODY, larger


@inline
def _merge_sums(tree):
    """Add up the leaves' fine sums over all blocks."""
    for k in range(tree.counters[0].nodes):
        node = tree.nodes[k]
        node.fine_g, node.fine_h = 0, 0
        for b in range(len(tree.fine_sums)):
            node.fine_g += tree.fine_sums[b, k, 0]
            node.fine_h += tree.fine_sums[b, k, 1]


@subkernel
def _go_on(parts, state):
    """Finish a task whose items are done; return the number of items of the next one, 0 at the end.

    Everything is called from one place: a function called from several is compiled several times.
    """
    tree, task, counters = state.tree, state.tree.task[0], state.tree.counters[0]
    kind, rules = task.kind, state.rules
    if kind == SCALE:
        if not choose_scales(state.given, state.scales, len(state.given.g)):
            counters.failed = 1
            return 0
        if rules.noise > 0.0:
            state.scales.chosen[0].noise = rules.noise * spread_of(state.given)
        return _task(tree, FILL, tree.ranges.shape[1], tree.nodes[0].rows < _FEW_ROWS)
    if kind == COUNT and task.pieces > 1:
        return _task(tree, MERGE, _tiles(state.store), False)
    if kind == SUM:
        _merge_sums(tree)
        give_answers(tree, state.features, state.scales.chosen[0].fine, state.rules)
        return 0
    node, parent_slot, count_next = _next_to_count(state)
    if node >= 0:
        return _count(state, node, parent_slot, count_next)
    if kind == SCAN and rules.symmetric:
        if keep_level(tree, task.pieces):
            return _task(tree, SHARE, 1, True)
    elif kind == SCAN:
        _keep_splits(state)
    elif kind == SHARE:
        open_level(tree, rules)
    elif kind != PART and not (rules.symmetric and counters.waiting):  # counted
        if counters.nodes == 1:
            _know_root(state)
        n_items = _scan(parts, state)
        if n_items != 0:
            return n_items
    return _part_next(state)


@kernel
def grow(team, parts, state, scratch, n_rows, n_threads, leads):
    """Grow a tree on ``n_rows`` rows as the leader of a team, or help until the team is closed.

    ``n_threads`` may take part, this one included.

    team (48,) int64, as in engine/team.py.
    """
    n_items, alone, waited, start = np.int64(0), np.int64(0), 0, np.int64(0)
    task = state.tree.task[0]
    if leads:
        task.threads = n_threads
        start, n_items = ticks(), _begin(state, n_rows)
        alone = -n_items
        if n_items > 0:
            teams.post(team, n_items)
    while True:
        shared = alone <= 0
        alone -= 1
        item = teams.take(team) if shared else alone
        if item >= 0:
            do_item(parts, state, scratch, item)
            if shared:
                teams.done(team)
            waited = 0
        elif leads:
            teams.wait_for(team, n_items)
            now = ticks()
            task.ticks[task.kind] += now - start
            start, n_items = now, _go_on(parts, state)
            if n_items == 0:
                return
            alone = -n_items
            if n_items > 0:
                teams.post(team, n_items)
        elif teams.is_open(team):
            waited = teams.wait_turn(waited)
        else:
            return
