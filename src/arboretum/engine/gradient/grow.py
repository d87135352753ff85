"""Growing one tree on histograms: split the best open leaf, again and again.

The loop takes a leaf that waits (nodes.py), parts its entries, counts the smaller child, has the larger
by subtraction, and looks for both children's best splits:

    entries   [ left … | right … ]       histograms   parent − smaller = larger, in the parent's place

All of it runs in one compiled call. Each step is a task of the team (engine/team.py), cut into items that
touch nothing of each other's; when a task is done, its leader goes on to the next:

    SCALE     blocks of rows: the largest derivatives
    FILL      blocks of rows: derivatives to entries
    PART      blocks of rows: a node's entries to the other list, left ones in front, right ones behind
    COUNT     tiles of columns, times groups of blocks where tiles do not share out evenly
    MERGE     tiles of columns: the groups' histograms added up
    SCAN      ranges of the features of both children
    SUM       blocks of rows: Σg and Σh of the leaves at fine scales

Sums are whole numbers and the first of equal splits is kept, so the tree is the same for any number of
threads, blocks and pieces.

PART, COUNT, MERGE and SCAN, two thirds of the code, are compiled apart and called by address: once for one
tree and for the trees of many rounds (rounds.py), and by two processes at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine import team as teams
from arboretum.engine.dtypes import COUNT, FILL, MERGE, PART, SCALE, SCAN, SUM
from arboretum.engine.gradient.draw import draw_columns
from arboretum.engine.gradient.histogram import (
    FULL,
    LOW32,
    add,
    add_segment,
    add_wide_segment,
    empty_tile,
    subtract,
)
from arboretum.engine.gradient.nodes import (
    State,
    add_children,
    fill_sides,
    give_answers,
    keep_split,
    make_root,
    may_split,
    next_leaf,
    release_slot,
    take_slot,
)
from arboretum.engine.gradient.pack import (
    add_fine,
    choose_scales,
    fetched_until,
    fill_entries,
    find_largest,
    mark_rows,
)
from arboretum.engine.gradient.score import ScannedNode, SplitScratch, answer, is_plain
from arboretum.engine.gradient.split import best_of
from arboretum.engine.intrinsics import prefetch, ticks
from arboretum.engine.jit import inline, kernel, leaf_kernel, plain_kernel
from arboretum.engine.machine_code.by_address import address_of, call_at

__all__ = ["Parts", "do_count", "do_scan", "find_parts", "grow"]

_AHEAD, _APART = np.uint64(24), np.uint64(16)  # entries; rows, whose codes are a byte or two each
_ROW = np.uint64(32)
_ONE = np.uint64(1)
_ROOT, _NOBODY = np.int64(0), np.int64(-1)
_ONE_NODE, _TWO_NODES = np.int64(1), np.int64(2)
_FEW_ROWS = 4096  # that are not worth sharing
_FEW_UPDATES = 16384  # of histograms, the same
_FEW_BINS = 2048  # that are looked at, the same
_MERGED_ROWS = 16384  # that are worth histograms of their own


# ---------------------------------------------------------------------- items of tasks
@leaf_kernel
def _part(codes, column, goes, entries, target, start, end):
    """Write left entries from ``start`` on, in their order, right ones from ``end`` down.

    Every entry is written to both ends; the one that was wrong is written over. Returns how many go left.
    """
    first, last = np.uint64(start), np.uint64(end)
    at, other = first, last - _ONE
    near = fetched_until(entries, first, last, _APART)
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


@inline
def _part_block(store, tree, features, block):
    """Part the entries of a node in one block."""
    k, left = tree.task[0].node, tree.counters[0].nodes
    node, piece = tree.nodes[k], tree.ranges[k, block]
    start, end = piece.start, piece.end
    source, target = tree.lists[node.depth & 1], tree.lists[1 - (node.depth & 1)]
    column = np.uint64(features.storage[node.split.feature])
    narrow = np.uint64(len(store.codes))
    if column < narrow:
        middle = start + _part(store.codes, column, tree.goes_left, source, target, start, end)
    else:
        wide = column - narrow
        middle = start + _part(store.wide, wide, tree.goes_left, source, target, start, end)
    on_left, on_right = tree.ranges[left, block], tree.ranges[left + 1, block]
    on_left.start, on_left.end = start, middle
    on_right.start, on_right.end = middle, end


@leaf_kernel
def _tile_columns(store, tile):
    """Return the first column of a tile, and the one after its last; those of 16 bits come last."""
    narrow = len(store.codes)
    if tile < len(store.words):
        many = store.words.shape[2] * store.width
        return tile * many, min((tile + 1) * many, narrow)
    tile -= len(store.words)
    last = min((tile + 1) * store.wide_width, len(store.wide))
    return narrow + tile * store.wide_width, narrow + last


@inline
def _count_tile(store, tree, scratch, tile, node, block, last_block, hist):
    """Count a node's rows of blocks block:last_block in the columns of a tile."""
    ranges, entries = tree.ranges, tree.lists[tree.nodes[node].depth & 1]
    first, last = _tile_columns(store, tile)
    narrow, capacity, fresh = tile < len(store.words), FULL, np.bool_(True)
    for k in range(block, last_block):
        at, end = ranges[node, k].start, ranges[node, k].end
        while at < end:
            stop = min(at + capacity, end)
            if narrow:
                add_segment(store.words[tile], store.width, entries, at, stop, scratch.small)
            else:
                words = store.wide_words[tile - len(store.words)]
                add_wide_segment(words, store.starts, first, last, entries, at, stop, scratch.small)
            capacity -= stop - at
            at = stop
            if capacity == 0:
                empty_tile(scratch.small, hist, store.starts, first, last, narrow, fresh)
                capacity, fresh = FULL, False
    if fresh or capacity < FULL:
        empty_tile(scratch.small, hist, store.starts, first, last, narrow, fresh)


@inline
def _count_piece(store, tree, scratch, item):
    """Count a tile over a group of the blocks."""
    task = tree.task[0]
    pieces, blocks = task.pieces, tree.ranges.shape[1]
    tile, piece = item // pieces, item % pieces
    block, last_block = blocks * piece // pieces, blocks * (piece + 1) // pieces
    hist = tree.hists[task.slot] if piece == 0 else tree.extra[piece - 1]
    _count_tile(store, tree, scratch, tile, task.node, block, last_block, hist)
    if pieces == 1:
        _take_from_parent(store, tree, tile)


@leaf_kernel
def _tile_sums(store, tree, tile):
    """Return where the sums of a tile's columns begin and end in a histogram."""
    first, last = _tile_columns(store, tile)
    times = tree.hists.shape[1] // store.starts[len(store.starts) - 1]
    return times * store.starts[first], times * store.starts[last]


@inline
def _take_from_parent(store, tree, tile):
    """Take what was counted from the parent's histograms: the larger sibling is left."""
    slot, parent = tree.task[0].slot, tree.task[0].parent_slot
    first, last = _tile_sums(store, tree, tile)
    if parent >= 0:
        subtract(tree.hists[parent, first:last], tree.hists[slot, first:last])


@inline
def _merge_tile(store, tree, tile):
    """Add up the histograms of all pieces."""
    slot = tree.task[0].slot
    first, last = _tile_sums(store, tree, tile)
    for k in range(tree.task[0].pieces - 1):
        add(tree.hists[slot, first:last], tree.extra[k, first:last])
    _take_from_parent(store, tree, tile)


@plain_kernel
def do_count(store, tree, features, scratch, item):
    """Do one item of PART, COUNT or MERGE."""
    kind = tree.task[0].kind
    if kind == PART:
        _part_block(store, tree, features, item)
    elif kind == COUNT:
        _count_piece(store, tree, scratch, item)
    else:
        _merge_tile(store, tree, item)


@plain_kernel
def do_scan(store, tree, features, rules, scales, scratch, item):
    """Do one item of SCAN: look for the best split of a child among a range of its features."""
    task = tree.task[0]
    side, piece = item // task.pieces, item % task.pieces
    n = task.n_features[side]
    first, last = n * piece // task.pieces, n * (piece + 1) // task.pieces
    best = tree.best[item]
    best.gain, best.feature = -np.inf, -1
    if first >= last:
        return
    node, unit = tree.nodes[task.scanned[side]], scales.chosen[0].unit
    rows, h = np.float64(node.rows), node.sum_h
    scanned = ScannedNode(
        node.sum_g, h, unit.g, unit.h, rows, node.answer, node.lower, node.upper,
        rows / np.float64(h) if h > 0 else 0.0, is_plain(node.lower, node.upper, rules),
    )  # fmt: skip
    hist, drawn = tree.hists[node.slot], tree.draw.drawn[side]
    best_of(hist, store.starts, drawn, first, last, features, scanned, rules, scratch)
    tree.best[item] = scratch.best[0]
    for w in range(tree.best_members.shape[1]):
        tree.best_members[item, w] = scratch.members[w]


@inline
def _sum_block(state, block):
    """Note the leaves of a block's rows; add up the leaves' gradients at fine scales.

    They are added in the order of rows, which is that of memory: leaf by leaf, a row's g and h would be
    fetched from somewhere else each.
    """
    tree = state.tree
    sums, rows = tree.fine_sums[block], tree.ranges[0, block]
    for k in range(tree.counters[0].nodes):
        node, piece = tree.nodes[k], tree.ranges[k, block]
        sums[k, 0], sums[k, 1] = 0, 0
        if node.first_child < 0:
            mark_rows(tree.lists[node.depth & 1], piece.start, piece.end, k, tree.leaf_of)
    fine = state.scales.chosen[0].fine
    add_fine(state.given, fine, rows.start, rows.end, tree.leaf_of, sums)


@leaf_kernel
def _do_item(parts, state, scratch, item):
    """Do one item of the task the team is at."""
    store, tree, given, features = state.store, state.tree, state.given, state.features
    kind = tree.task[0].kind
    if kind in (PART, COUNT, MERGE):
        call_at(parts.count, (store, tree, features, scratch, item))
    elif kind == SCAN:
        call_at(parts.scan, (store, tree, features, state.rules, state.scales, scratch, item))
    elif kind == FILL:
        piece = tree.ranges[0, item]
        fill_entries(given, state.scales.chosen[0].small, piece.start, piece.end, tree.lists[0])
    elif kind == SCALE:
        n, blocks = len(given.g), tree.ranges.shape[1]
        start, end = n * item // blocks, n * (item + 1) // blocks
        find_largest(given, start, end, state.scales.largest[item])
    else:
        _sum_block(state, item)


# ---------------------------------------------------------------------- from one task to the next
@inline
def _begin(state, n_rows):
    """Begin a tree: make the root and let derivatives be looked at."""
    tree, counters, slots = state.tree, state.tree.counters[0], len(state.tree.hists)
    counters.nodes, counters.leaves, counters.waiting, counters.failed = 1, 1, 0, 0
    counters.free_slots = slots
    for k in range(slots):
        tree.free_slots[k] = slots - 1 - k
    make_root(tree, n_rows, take_slot(tree))
    return _task(tree, SCALE, tree.ranges.shape[1], n_rows < _FEW_ROWS)


@inline
def _task(tree, kind, n_items, alone):
    """Describe the next task; return how many items it has, as a negative number if alone."""
    tree.task[0].kind = kind
    many = np.int64(n_items)
    return -many if alone or tree.task[0].threads == 1 else many


@leaf_kernel
def _pieces_of(tree, tiles, rows):
    """Return how many groups of blocks share out the tiles evenly, if there is enough to count."""
    threads = tree.task[0].threads
    most = min(1 + len(tree.extra), tree.ranges.shape[1], rows // _MERGED_ROWS)
    pieces = 1
    while pieces < most and tiles * pieces < 8 * threads and tiles * pieces % threads:
        pieces += 1
    return pieces


@inline
def _tiles(store):
    return len(store.words) + len(store.wide_words)


@leaf_kernel
def _count(state, node, parent_slot, count_next):
    """Let a node be counted, taken from the parent's histograms if they are there; then another."""
    tree, task, tiles = state.tree, state.tree.task[0], _tiles(state.store)
    rows = tree.nodes[node].rows
    task.node, task.slot, task.parent_slot = node, tree.nodes[node].slot, parent_slot
    task.pieces, task.count_next = _pieces_of(tree, tiles, rows), count_next
    few = rows * (len(state.store.starts) - 1) < _FEW_UPDATES
    return _task(tree, COUNT, tiles * task.pieces, few)


@inline
def _know_root(state):
    """Read the root's sums off its first histogram."""
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


@leaf_kernel
def _scan(state, first, count):
    """Let the best splits of up to two nodes be found that follow each other."""
    tree, task, rules = state.tree, state.tree.task[0], state.rules
    many = 0
    for node in range(first, first + count):
        if not may_split(tree, node, rules):
            release_slot(tree, node)
            continue
        depth, key = tree.nodes[node].depth, state.given.key
        task.scanned[many] = node
        drawn = tree.draw.drawn[many]
        task.n_features[many] = draw_columns(tree.draw, node, depth, key, rules, drawn)
        many += 1
    starts = state.store.starts
    mean = starts[len(starts) - 1] // (len(starts) - 1)
    few = task.n_features[0] * mean < _FEW_BINS
    task.n_scanned, task.pieces = many, 1 if few else task.threads
    return _task(tree, SCAN, many * task.pieces, few)


@inline
def _keep_splits(state):
    """Keep what the scan has found."""
    task = state.tree.task[0]
    for k in range(task.n_scanned):
        at = k * task.pieces
        keep_split(state.tree, task.scanned[k], at, at + task.pieces, state.rules)


@leaf_kernel
def _part_next(state):
    """Let the next leaf be parted, or, if there is none, the leaves be added up."""
    tree = state.tree
    node = next_leaf(tree, state.rules)
    if node < 0:
        return _task(tree, SUM, tree.ranges.shape[1], tree.nodes[0].rows < _FEW_ROWS)
    fill_sides(state.features, tree, state.store, node)
    tree.task[0].node = node
    return _task(tree, PART, tree.ranges.shape[1], tree.nodes[node].rows < _FEW_ROWS)


@leaf_kernel
def _count_children(state):
    """Make the children of the node that was parted; let the smaller be counted, if either may be split."""
    tree, rules, nodes = state.tree, state.rules, state.tree.nodes
    node = tree.task[0].node
    left = add_children(tree, node, state.features, state.scales.chosen[0].unit, rules)
    if not (may_split(tree, left, rules) or may_split(tree, left + 1, rules)):
        release_slot(tree, node)
        return _part_next(state)
    smaller = left if nodes[left].rows <= nodes[left + 1].rows else left + 1
    larger = 2 * left + 1 - smaller
    nodes[smaller].slot, nodes[larger].slot = take_slot(tree), nodes[node].slot
    nodes[node].slot = -1
    if nodes[larger].slot >= 0:
        return _count(state, smaller, nodes[larger].slot, _NOBODY)
    nodes[larger].slot = take_slot(tree)
    return _count(state, smaller, _NOBODY, larger)


@inline
def _merge_sums(tree):
    """Add up the leaves' fine sums of all blocks."""
    for k in range(tree.counters[0].nodes):
        node = tree.nodes[k]
        node.fine_g, node.fine_h = 0, 0
        for b in range(len(tree.fine_sums)):
            node.fine_g += tree.fine_sums[b, k, 0]
            node.fine_h += tree.fine_sums[b, k, 1]


@leaf_kernel
def _go_on(state):
    """Draw the conclusions of a task that is done; return the items of the next one, 0 at the end."""
    tree, task, counters = state.tree, state.tree.task[0], state.tree.counters[0]
    kind = task.kind
    if kind == SCALE:
        if not choose_scales(state.given, state.scales, len(state.given.g)):
            counters.failed = 1
            return 0
        return _task(tree, FILL, tree.ranges.shape[1], tree.nodes[0].rows < _FEW_ROWS)
    if kind == FILL:
        return _count(state, _ROOT, _NOBODY, _NOBODY)
    if kind == PART:
        return _count_children(state)
    if kind == COUNT and task.pieces > 1:
        return _task(tree, MERGE, _tiles(state.store), False)
    if kind in (COUNT, MERGE):
        if task.count_next >= 0:
            return _count(state, task.count_next, _NOBODY, _NOBODY)
        if counters.nodes > 1:
            return _scan(state, counters.nodes - 2, _TWO_NODES)
        _know_root(state)
        n_items = _scan(state, _ROOT, _ONE_NODE)
        return n_items if n_items != 0 else _part_next(state)
    if kind == SCAN:
        _keep_splits(state)
        return _part_next(state)
    _merge_sums(tree)
    give_answers(tree, state.features, state.scales.chosen[0].fine, state.rules)
    return 0


class Parts(NamedTuple):
    """Where the compiled code of items is that is compiled apart."""

    count: int  # address of `do_count`
    scan: int  # of `do_scan`


def find_parts(state: State, scratch: SplitScratch) -> Parts:
    """Return the addresses, after compiling what is there."""
    store, tree, features, item = state.store, state.tree, state.features, 0
    return Parts(
        address_of(do_count, store, tree, features, scratch, item),
        address_of(do_scan, store, tree, features, state.rules, state.scales, scratch, item),
    )


@kernel
def grow(team, parts, state, scratch, n_rows, n_threads, leads):
    """Grow a tree on ``n_rows`` rows as the leader of a team, or help until the team is closed.

    ``n_threads`` may take part, this one included.
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
            _do_item(parts, state, scratch, item)
            if shared:
                teams.done(team)
            waited = 0
        elif leads:
            teams.wait_for(team, n_items)
            now = ticks()
            task.ticks[task.kind] += now - start
            start, n_items = now, _go_on(state)
            if n_items == 0:
                return
            alone = -n_items
            if n_items > 0:
                teams.post(team, n_items)
        elif teams.is_open(team):
            waited = teams.wait_turn(waited)
        else:
            return
