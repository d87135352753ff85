"""Growing one tree on histograms: split the best open leaf, again and again.

The loop takes a leaf that waits (boost_tree.py), parts its entries, counts the smaller child, has the larger
by subtraction, and looks for both children's best splits:

    entries   [ left … | right … ]       histograms   parent − smaller = larger, in the parent's place

All of it runs in compiled code. Each step is a task of the team (team.py), cut into items that touch
nothing of each other's:

    FILL      blocks of rows: gradients to entries
    PART      blocks of rows: a node's entries to the other list, left ones in front, right ones behind
    COUNT     tiles of columns, times groups of blocks where tiles do not share out evenly
    MERGE     tiles of columns: the groups' histograms added up
    SCAN      ranges of the features of both children
    SUM       leaves: Σg and Σh at fine scales

Sums are whole numbers and the first of equal splits is kept, so the tree is the same for any number of
threads, blocks and pieces.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine import team as teams
from arboretum.engine.boost_hist import (
    FULL,
    add_segment,
    begin_tile,
    count_wide,
    empty_tile,
    subtract,
)
from arboretum.engine.boost_pack import add_fine, fill_entries
from arboretum.engine.boost_scan import FEATURE, GAIN, Node, answer, best_of
from arboretum.engine.boost_tree import (
    ANSWER,
    DEPTH,
    FREE,
    LEAVES,
    LEFT,
    LOWER,
    NODES,
    ROWS,
    SLOT,
    SUM_G,
    SUM_H,
    UPPER,
    WAITING,
    add_children,
    draw_columns,
    fill_sides,
    give_answers,
    keep_split,
    may_split,
    next_leaf,
    plant,
    release_slot,
    take_slot,
)
from arboretum.engine.intrinsics import prefetch, ticks
from arboretum.engine.jit import kernel, leaf_kernel

__all__ = ["grow", "help_grow"]

FILL, PART, COUNT, MERGE, SCAN, SUM = 0, 1, 2, 3, 4, 5
N_KINDS = 6
# what a task says of itself
_KIND, _NODE, _PIECES, _SLOT, _PARENT, _THREADS, _SCANNED, _DRAWN = 0, 1, 2, 3, 4, 5, 6, 8
N_TASK = 10  # _SCANNED, _DRAWN: two nodes, and how many features they may ask for
_AHEAD = np.uint64(24)
_ROW = np.uint64(32)
_ONE = np.uint64(1)
_FEW_ROWS = 4096  # that are not worth sharing
_FEW_UPDATES = 16384  # of histograms, the same
_FEW_BINS = 2048  # that are looked at, the same
_MERGED_ROWS = 16384  # that are worth histograms of their own
_FINE_ROWS = 65536  # that are worth items of their own, for every thread


# ---------------------------------------------------------------------- items of tasks
@leaf_kernel
def _part(codes, column, goes, entries, target, start, end):
    """Write left entries from ``start`` on, in their order, right ones from ``end`` down.

    Every entry is written to both ends; the one that was wrong is written over. Returns how many go left.
    """
    first, last = np.uint64(start), np.uint64(end)
    at, other = first, last - _ONE
    near = max(last, first + _AHEAD) - _AHEAD
    for i in range(first, near):
        prefetch(codes, column, entries[i + _AHEAD] >> _ROW)
        entry = entries[i]
        left = np.uint64(goes[codes[column, entry >> _ROW]])
        target[at] = entry
        target[other] = entry
        at += left
        other -= _ONE - left
    for i in range(near, last):
        entry = entries[i]
        left = np.uint64(goes[codes[column, entry >> _ROW]])
        target[at] = entry
        target[other] = entry
        at += left
        other -= _ONE - left
    return np.int64(at) - start


@leaf_kernel
def _part_block(field, block):
    """Part the entries of a node in one block."""
    growth = field.growth
    node, left, bounds = growth.task[_NODE], growth.counters[NODES], growth.bounds
    side = growth.ints[node, DEPTH] & 1
    column = np.uint64(field.features.storage[growth.ints[node, FEATURE]])
    start, end = bounds[node, block, 0], bounds[node, block, 1]
    middle = start + _part(
        field.store.codes, column, growth.goes_left, growth.lists[side], growth.lists[1 - side],
        start, end,
    )  # fmt: skip
    bounds[left, block, 0], bounds[left, block, 1] = start, middle
    bounds[left + 1, block, 0], bounds[left + 1, block, 1] = middle, end


@leaf_kernel
def _tile_columns(store, tile):
    """Return the first column of a tile, and the one after its last."""
    if len(store.words) == 0:
        return tile, tile + 1
    many = store.words.shape[2] * store.width
    return tile * many, min((tile + 1) * many, len(store.codes))


@leaf_kernel
def _count_tile(field, work, tile, node, block, last_block, hist):
    """Count a node's rows of blocks block:last_block in the columns of a tile."""
    store, growth = field.store, field.growth
    entries = growth.lists[growth.ints[node, DEPTH] & 1]
    first, last = _tile_columns(store, tile)
    begin_tile(work.small, hist, first, last)
    room = FULL
    for k in range(block, last_block):
        at, end = growth.bounds[node, k, 0], growth.bounds[node, k, 1]
        while at < end:
            stop = min(at + room, end)
            add_segment(store.words[tile], store.width, entries, at, stop, work.small)
            room -= stop - at
            at = stop
            if room == 0:
                empty_tile(work.small, hist, first, last)
                room = FULL
    empty_tile(work.small, hist, first, last)


@leaf_kernel
def _count_piece(field, work, item):
    """Count a tile over a group of the blocks."""
    store, growth, task = field.store, field.growth, field.growth.task
    tile, piece, pieces = item // task[_PIECES], item % task[_PIECES], task[_PIECES]
    node, blocks = task[_NODE], growth.bounds.shape[1]
    block, last_block = blocks * piece // pieces, blocks * (piece + 1) // pieces
    hist = growth.hists[task[_SLOT]] if piece == 0 else growth.extra[piece - 1]
    if len(store.words):
        _count_tile(field, work, tile, node, block, last_block, hist)
    else:
        entries = growth.lists[growth.ints[node, DEPTH] & 1]
        for b in range(hist.shape[1]):
            hist[tile, b, 0], hist[tile, b, 1] = 0, 0
        for k in range(block, last_block):
            start, end = growth.bounds[node, k, 0], growth.bounds[node, k, 1]
            count_wide(store.codes, tile, entries, start, end, hist)
    if pieces == 1:
        _take_from_parent(store, growth, tile)


@leaf_kernel
def _take_from_parent(store, growth, tile):
    """Take what was counted from the parent's histograms: the larger sibling is left."""
    slot, parent = growth.task[_SLOT], growth.task[_PARENT]
    first, last = _tile_columns(store, tile)
    if parent >= 0:
        subtract(growth.hists[parent][first:last], growth.hists[slot][first:last])


@leaf_kernel
def _merge_tile(store, growth, tile):
    """Add up the histograms of all pieces."""
    hist = growth.hists[growth.task[_SLOT]]
    first, last = _tile_columns(store, tile)
    for k in range(growth.task[_PIECES] - 1):
        for f in range(first, last):
            for b in range(hist.shape[1]):
                hist[f, b, 0] += growth.extra[k, f, b, 0]
                hist[f, b, 1] += growth.extra[k, f, b, 1]
    _take_from_parent(store, growth, tile)


@leaf_kernel
def _scan_piece(field, work, item):
    """Look for the best split of a child among a range of its features."""
    growth, task, units = field.growth, field.growth.task, field.units
    side, piece = item // task[_PIECES], item % task[_PIECES]
    node, n = task[_SCANNED + side], task[_DRAWN + side]
    first, last = n * piece // task[_PIECES], n * (piece + 1) // task[_PIECES]
    growth.gains[item], growth.found[item, FEATURE] = -np.inf, -1
    if first >= last:
        return
    ints, floats = growth.ints[node], growth.floats[node]
    figures = Node(
        ints[SUM_G], ints[SUM_H], units[0], units[1], np.float64(ints[ROWS]), floats[ANSWER],
        floats[LOWER], floats[UPPER],
    )  # fmt: skip
    hist = growth.hists[ints[SLOT]]
    best_of(hist, growth.drawn[side], first, last, field.features, figures, field.rules, work)
    growth.gains[item] = work.best[GAIN]
    for k in range(6):
        growth.found[item, k] = work.found[k]
    for w in range(growth.found_members.shape[1]):
        growth.found_members[item, w] = work.members[w]


@leaf_kernel
def _sum_leaf(field, node):
    """Add up the gradients of a leaf's rows at fine scales."""
    growth = field.growth
    growth.sums[node, 0], growth.sums[node, 1] = 0, 0
    if growth.ints[node, LEFT] >= 0:
        return
    entries = growth.lists[growth.ints[node, DEPTH] & 1]
    for k in range(growth.bounds.shape[1]):
        start, end = growth.bounds[node, k, 0], growth.bounds[node, k, 1]
        add_fine(field.given, entries, start, end, growth.sums[node])


@leaf_kernel
def _do_item(field, work, item):
    growth = field.growth
    kind = growth.task[_KIND]
    if kind == PART:
        _part_block(field, item)
    elif kind == COUNT:
        _count_piece(field, work, item)
    elif kind == SCAN:
        _scan_piece(field, work, item)
    elif kind == MERGE:
        _merge_tile(field.store, growth, item)
    elif kind == FILL:
        start, end = growth.bounds[0, item, 0], growth.bounds[0, item, 1]
        fill_entries(field.given, start, end, growth.lists[0])
    else:
        _sum_leaf(field, item)


# ---------------------------------------------------------------------- the leader's steps
@leaf_kernel
def _together(team, field, work, kind, n_items, alone):
    """Do all items of a task, with whoever is there to help unless it is not worth it."""
    start = ticks()
    task = field.growth.task
    task[_KIND] = kind
    if alone or n_items == 1 or task[_THREADS] == 1:
        for item in range(n_items):
            _do_item(field, work, item)
    else:
        teams.post(team, n_items)
        item = teams.take(team)
        while item >= 0:
            _do_item(field, work, item)
            teams.done(team)
            item = teams.take(team)
        teams.wait_for(team, n_items)
    field.growth.ticks[kind] += ticks() - start


@leaf_kernel
def _part_node(team, field, work, node):
    """Part a node's entries, block by block."""
    growth = field.growth
    fill_sides(field.features, growth, node)
    growth.task[_NODE] = node
    few = growth.ints[node, ROWS] < _FEW_ROWS
    _together(team, field, work, PART, growth.bounds.shape[1], few)


@leaf_kernel
def _pieces_of(growth, tiles, rows):
    """Return how many groups of blocks share out the tiles evenly, if there is enough to count.

    A core may be slower than another for a while, so large nodes are cut more finely.
    """
    threads = growth.task[_THREADS]
    most = min(1 + len(growth.extra), growth.bounds.shape[1], rows // _MERGED_ROWS)
    if threads == 1 or most <= 1:
        return 1
    items = threads * min(4, max(1, rows // _FINE_ROWS))
    pieces = 1
    while pieces < most and (tiles * pieces < items or tiles * pieces % threads):
        pieces += 1
    return pieces


@leaf_kernel
def _count_node(team, field, work, node, parent):
    """Count a node's histograms and take them from those in slot ``parent``, if it is one."""
    store, growth, task = field.store, field.growth, field.growth.task
    tiles = len(store.words) if len(store.words) else len(store.codes)
    rows = growth.ints[node, ROWS]
    task[_NODE], task[_SLOT], task[_PARENT] = node, growth.ints[node, SLOT], parent
    task[_PIECES] = _pieces_of(growth, tiles, rows)
    few = rows * len(store.codes) < _FEW_UPDATES
    _together(team, field, work, COUNT, tiles * task[_PIECES], few)
    if task[_PIECES] > 1:
        _together(team, field, work, MERGE, tiles, False)


@leaf_kernel
def _scan_nodes(team, field, work, first, count):
    """Find the best splits of up to two nodes that follow each other."""
    growth, task, rules = field.growth, field.growth.task, field.rules
    many = 0
    for node in range(first, first + count):
        if not may_split(growth, node, rules):
            release_slot(growth, node)
            continue
        drawn, depth = growth.drawn[many], growth.ints[node, DEPTH]
        task[_SCANNED + many] = node
        task[_DRAWN + many] = draw_columns(growth, drawn, node, depth, field.given.key, rules)
        many += 1
    if many == 0:
        return
    few = task[_DRAWN] * growth.hists.shape[2] < _FEW_BINS
    task[_PIECES] = 1 if few else task[_THREADS]
    _together(team, field, work, SCAN, many * task[_PIECES], few)
    for k in range(many):
        at = k * task[_PIECES]
        keep_split(growth, task[_SCANNED + k], at, at + task[_PIECES], rules)


@leaf_kernel
def _split(team, field, work, node):
    """Split a leaf: part its entries, count its children, find their best splits."""
    growth, rules = field.growth, field.rules
    ints = growth.ints
    _part_node(team, field, work, node)
    left = add_children(growth, node, field.features, field.units, rules)
    if not (may_split(growth, left, rules) or may_split(growth, left + 1, rules)):
        release_slot(growth, node)
        return
    smaller = left if ints[left, ROWS] <= ints[left + 1, ROWS] else left + 1
    larger = 2 * left + 1 - smaller
    ints[smaller, SLOT], ints[larger, SLOT] = take_slot(growth), ints[node, SLOT]
    ints[node, SLOT] = -1
    if ints[larger, SLOT] >= 0:
        _count_node(team, field, work, smaller, ints[larger, SLOT])
    else:
        ints[larger, SLOT] = take_slot(growth)
        _count_node(team, field, work, larger, -1)
        _count_node(team, field, work, smaller, -1)
    _scan_nodes(team, field, work, left, 2)


@leaf_kernel
def _plant(team, field, work, n_rows):
    """Make the root: write its entries, count its histograms and find its best split."""
    growth = field.growth
    counters, slots = growth.counters, len(growth.hists)
    counters[NODES], counters[LEAVES], counters[WAITING], counters[FREE] = 1, 1, 0, slots
    for k in range(slots):
        growth.free[k] = slots - 1 - k
    slot = take_slot(growth)
    plant(growth, n_rows, slot)
    _together(team, field, work, FILL, growth.bounds.shape[1], n_rows < _FEW_ROWS)
    _count_node(team, field, work, 0, -1)
    g, h = np.int64(0), np.int64(0)
    for b in range(growth.hists.shape[2]):
        g += growth.hists[slot, 0, b, 0]
        h += growth.hists[slot, 0, b, 1]
    growth.ints[0, SUM_G], growth.ints[0, SUM_H] = g, h
    growth.floats[0, ANSWER] = answer(
        np.float64(g) * field.units[0], np.float64(h) * field.units[1], np.float64(n_rows), np.nan,
        -np.inf, np.inf, field.rules.l2, field.rules,
    )  # fmt: skip
    _scan_nodes(team, field, work, 0, 1)


@kernel
def grow(team, field, work, n_rows, n_threads):
    """Grow a tree on ``n_rows`` rows; ``n_threads`` may come to help, this one included."""
    growth = field.growth
    growth.task[_THREADS] = n_threads
    _plant(team, field, work, n_rows)
    node = next_leaf(growth, field.rules)
    while node >= 0:
        _split(team, field, work, node)
        node = next_leaf(growth, field.rules)
    _together(team, field, work, SUM, growth.counters[NODES], n_rows < _FEW_ROWS)
    give_answers(growth, field.features, field.given.fine, field.rules)


@kernel
def help_grow(team, field, work):
    """Do items of tasks until the team is closed."""
    waited = 0
    while True:
        item = teams.take(team)
        if item >= 0:
            _do_item(field, work, item)
            teams.done(team)
            waited = 0
        elif teams.is_open(team):
            waited = teams.wait_turn(waited)
        else:
            return
