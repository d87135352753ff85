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
    SUM       leaves: Σg and Σh at fine scales

Sums are whole numbers and the first of equal splits is kept, so the tree is the same for any number of
threads, blocks and pieces.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine import team as teams
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
    ANSWER,
    DEPTH,
    FAILED,
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
from arboretum.engine.gradient.pack import (
    add_fine,
    add_value,
    choose_scales,
    fill_entries,
    find_largest,
)
from arboretum.engine.gradient.split import FEATURE, GAIN, Node, answer, best_of, is_plain
from arboretum.engine.intrinsics import prefetch, ticks
from arboretum.engine.jit import inline, kernel, leaf_kernel

__all__ = ["add_leaves", "grow"]

SCALE, FILL, PART, COUNT, MERGE, SCAN, SUM = 0, 1, 2, 3, 4, 5, 6
N_KINDS = 7
# what a task says of itself
_KIND, _NODE, _PIECES, _SLOT, _PARENT, _THEN, _THREADS, _MANY = 0, 1, 2, 3, 4, 5, 6, 7
_SCANNED, _DRAWN = 8, 10  # up to two nodes, and how many features they may ask for
N_TASK = 12
_AHEAD = np.uint64(24)
_ROW = np.uint64(32)
_ONE = np.uint64(1)
_ROOT, _NOBODY = np.int64(0), np.int64(-1)
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


@inline
def _part_block(field, block):
    """Part the entries of a node in one block."""
    growth = field.growth
    node, left, bounds = growth.task[_NODE], growth.counters[NODES], growth.bounds
    side = growth.ints[node, DEPTH] & 1
    column = np.uint64(field.features.storage[growth.ints[node, FEATURE]])
    start, end = bounds[node, block, 0], bounds[node, block, 1]
    store, narrow = field.store, np.uint64(len(field.store.codes))
    if column < narrow:
        middle = start + _part(
            store.codes, column, growth.goes_left, growth.lists[side], growth.lists[1 - side],
            start, end,
        )  # fmt: skip
    else:
        middle = start + _part(
            store.wide, column - narrow, growth.goes_left, growth.lists[side],
            growth.lists[1 - side], start, end,
        )  # fmt: skip
    bounds[left, block, 0], bounds[left, block, 1] = start, middle
    bounds[left + 1, block, 0], bounds[left + 1, block, 1] = middle, end


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
def _count_tile(field, work, tile, node, block, last_block, hist):
    """Count a node's rows of blocks block:last_block in the columns of a tile."""
    store, growth = field.store, field.growth
    entries = growth.lists[growth.ints[node, DEPTH] & 1]
    first, last = _tile_columns(store, tile)
    narrow, room, fresh = tile < len(store.words), FULL, True
    for k in range(block, last_block):
        at, end = growth.bounds[node, k, 0], growth.bounds[node, k, 1]
        while at < end:
            stop = min(at + room, end)
            if narrow:
                add_segment(store.words[tile], store.width, entries, at, stop, work.small)
            else:
                words = store.wide_words[tile - len(store.words)]
                add_wide_segment(words, store.starts, first, last, entries, at, stop, work.small)
            room -= stop - at
            at = stop
            if room == 0:
                empty_tile(work.small, hist, store.starts, first, last, narrow, fresh)
                room, fresh = FULL, False
    if fresh or room < FULL:
        empty_tile(work.small, hist, store.starts, first, last, narrow, fresh)


@inline
def _count_piece(field, work, item):
    """Count a tile over a group of the blocks."""
    store, growth, task = field.store, field.growth, field.growth.task
    tile, piece, pieces = item // task[_PIECES], item % task[_PIECES], task[_PIECES]
    node, blocks = task[_NODE], growth.bounds.shape[1]
    block, last_block = blocks * piece // pieces, blocks * (piece + 1) // pieces
    hist = growth.hists[task[_SLOT]] if piece == 0 else growth.extra[piece - 1]
    _count_tile(field, work, tile, node, block, last_block, hist)
    if pieces == 1:
        _take_from_parent(store, growth, tile)


@leaf_kernel
def _tile_sums(store, growth, tile):
    """Return where the sums of a tile's columns begin and end in a histogram."""
    first, last = _tile_columns(store, tile)
    times = growth.hists.shape[1] // store.starts[len(store.starts) - 1]
    return times * store.starts[first], times * store.starts[last]


@inline
def _take_from_parent(store, growth, tile):
    """Take what was counted from the parent's histograms: the larger sibling is left."""
    slot, parent = growth.task[_SLOT], growth.task[_PARENT]
    first, last = _tile_sums(store, growth, tile)
    if parent >= 0:
        subtract(growth.hists[parent, first:last], growth.hists[slot, first:last])


@inline
def _merge_tile(store, growth, tile):
    """Add up the histograms of all pieces."""
    slot = growth.task[_SLOT]
    first, last = _tile_sums(store, growth, tile)
    for k in range(growth.task[_PIECES] - 1):
        add(growth.hists[slot, first:last], growth.extra[k, first:last])
    _take_from_parent(store, growth, tile)


@inline
def _scan_piece(field, work, item):
    """Look for the best split of a child among a range of its features."""
    growth, task, units = field.growth, field.growth.task, field.scales.units
    side, piece = item // task[_PIECES], item % task[_PIECES]
    node, n = task[_SCANNED + side], task[_DRAWN + side]
    first, last = n * piece // task[_PIECES], n * (piece + 1) // task[_PIECES]
    growth.gains[item], growth.found[item, FEATURE] = -np.inf, -1
    if first >= last:
        return
    ints, floats = growth.ints[node], growth.floats[node]
    rows, h, lower, upper = np.float64(ints[ROWS]), ints[SUM_H], floats[LOWER], floats[UPPER]
    figures = Node(
        ints[SUM_G], h, units[0], units[1], rows, floats[ANSWER], lower, upper,
        rows / np.float64(h) if h > 0 else 0.0, is_plain(lower, upper, field.rules),
    )  # fmt: skip
    hist, starts = growth.hists[ints[SLOT]], field.store.starts
    best_of(
        hist, starts, growth.drawn[side], first, last, field.features, figures, field.rules, work
    )
    growth.gains[item] = work.best[GAIN]
    for k in range(6):
        growth.found[item, k] = work.found[k]
    for w in range(growth.found_members.shape[1]):
        growth.found_members[item, w] = work.members[w]


@inline
def _sum_leaf(field, node):
    """Add up the gradients of a leaf's rows at fine scales."""
    growth = field.growth
    growth.sums[node, 0], growth.sums[node, 1] = 0, 0
    if growth.ints[node, LEFT] >= 0:
        return
    entries = growth.lists[growth.ints[node, DEPTH] & 1]
    for k in range(growth.bounds.shape[1]):
        start, end = growth.bounds[node, k, 0], growth.bounds[node, k, 1]
        add_fine(field.given, field.scales, entries, start, end, growth.sums[node])


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
        fill_entries(field.given, field.scales, start, end, growth.lists[0])
    elif kind == SCALE:
        n, blocks = len(field.given.g), growth.bounds.shape[1]
        start, end = n * item // blocks, n * (item + 1) // blocks
        find_largest(field.given, start, end, field.scales.found[item])
    else:
        _sum_leaf(field, item)


# ---------------------------------------------------------------------- from one task to the next
@inline
def _begin(field, n_rows):
    """Begin a tree: make the root and let derivatives be looked at."""
    growth = field.growth
    counters, slots = growth.counters, len(growth.hists)
    counters[NODES], counters[LEAVES], counters[WAITING], counters[FREE] = 1, 1, 0, slots
    for k in range(slots):
        growth.free[k] = slots - 1 - k
    plant(growth, n_rows, take_slot(growth))
    growth.counters[FAILED] = 0
    return _task(growth, SCALE, growth.bounds.shape[1], n_rows < _FEW_ROWS)


@inline
def _task(growth, kind, n_items, alone):
    """Describe the next task; return how many items it has, as a negative number if alone."""
    growth.task[_KIND] = kind
    many = np.int64(n_items)
    return -many if alone or growth.task[_THREADS] == 1 else many


@leaf_kernel
def _pieces_of(growth, tiles, rows):
    """Return how many groups of blocks share out the tiles evenly, if there is enough to count."""
    threads = growth.task[_THREADS]
    most = min(1 + len(growth.extra), growth.bounds.shape[1], rows // _MERGED_ROWS)
    pieces = 1
    while pieces < most and tiles * pieces < 8 * threads and tiles * pieces % threads:
        pieces += 1
    return pieces


@inline
def _tiles(store):
    return len(store.words) + len(store.wide_words)


@leaf_kernel
def _count(field, node, parent, then):
    """Let a node be counted, taken from the histograms in slot ``parent`` if it is one; ``then`` another."""
    growth, task = field.growth, field.growth.task
    tiles, rows = _tiles(field.store), growth.ints[node, ROWS]
    task[_NODE], task[_SLOT], task[_PARENT] = node, growth.ints[node, SLOT], parent
    task[_PIECES], task[_THEN] = _pieces_of(growth, tiles, rows), then
    few = rows * (len(field.store.starts) - 1) < _FEW_UPDATES
    return _task(growth, COUNT, tiles * task[_PIECES], few)


@inline
def _know_root(field):
    """Read the root's sums off its first histogram."""
    growth, rules = field.growth, field.rules
    slot, rows = growth.ints[0, SLOT], np.float64(growth.ints[0, ROWS])
    g, h = np.int64(0), np.int64(0)
    starts, hist = field.store.starts, growth.hists[slot]
    packed, bins = len(hist) == starts[len(starts) - 1], starts[1]
    for b in range(bins):
        g += hist[b] >> 32 if packed else hist[b]
        h += hist[b] & LOW32 if packed else hist[bins + b]
    growth.ints[0, SUM_G], growth.ints[0, SUM_H] = g, h
    a, c = np.float64(g) * field.scales.units[0], np.float64(h) * field.scales.units[1]
    growth.floats[0, ANSWER] = answer(a, c, rows, np.nan, -np.inf, np.inf, rules.l2, rules)


@leaf_kernel
def _scan(field, first, count):
    """Let the best splits of up to two nodes be found that follow each other."""
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
    starts = field.store.starts
    mean = starts[len(starts) - 1] // (len(starts) - 1)
    few = task[_DRAWN] * mean < _FEW_BINS
    task[_MANY], task[_PIECES] = many, 1 if few else task[_THREADS]
    return _task(growth, SCAN, many * task[_PIECES], few)


@inline
def _keep_splits(field):
    """Keep what the scan has found."""
    growth, task = field.growth, field.growth.task
    for k in range(task[_MANY]):
        at = k * task[_PIECES]
        keep_split(growth, task[_SCANNED + k], at, at + task[_PIECES], field.rules)


@leaf_kernel
def _part_next(field):
    """Let the next leaf be parted, or, if there is none, the leaves be added up."""
    growth = field.growth
    node = next_leaf(growth, field.rules)
    if node < 0:
        few = growth.ints[0, ROWS] < _FEW_ROWS
        return _task(growth, SUM, growth.counters[NODES], few)
    fill_sides(field.features, growth, field.store, node)
    growth.task[_NODE] = node
    return _task(growth, PART, growth.bounds.shape[1], growth.ints[node, ROWS] < _FEW_ROWS)


@leaf_kernel
def _count_children(field):
    """Make the children of the node that was parted; let the smaller be counted, if either may be split."""
    growth, rules, ints = field.growth, field.rules, field.growth.ints
    node = growth.task[_NODE]
    left = add_children(growth, node, field.features, field.scales.units, rules)
    if not (may_split(growth, left, rules) or may_split(growth, left + 1, rules)):
        release_slot(growth, node)
        return _part_next(field)
    smaller = left if ints[left, ROWS] <= ints[left + 1, ROWS] else left + 1
    larger = 2 * left + 1 - smaller
    ints[smaller, SLOT], ints[larger, SLOT] = take_slot(growth), ints[node, SLOT]
    ints[node, SLOT] = -1
    if ints[larger, SLOT] >= 0:
        return _count(field, smaller, ints[larger, SLOT], _NOBODY)
    ints[larger, SLOT] = take_slot(growth)
    return _count(field, smaller, _NOBODY, larger)


@leaf_kernel
def _go_on(field):
    """Draw the conclusions of a task that is done; return the items of the next one, 0 at the end."""
    growth, task = field.growth, field.growth.task
    kind = task[_KIND]
    if kind == SCALE:
        if not choose_scales(field.given, field.scales, len(field.given.g)):
            growth.counters[FAILED] = 1
            return 0
        return _task(growth, FILL, growth.bounds.shape[1], growth.ints[0, ROWS] < _FEW_ROWS)
    if kind == FILL:
        return _count(field, _ROOT, _NOBODY, _NOBODY)
    if kind == PART:
        return _count_children(field)
    if kind == COUNT and task[_PIECES] > 1:
        return _task(growth, MERGE, _tiles(field.store), False)
    if kind in (COUNT, MERGE):
        if task[_THEN] >= 0:
            return _count(field, task[_THEN], _NOBODY, _NOBODY)
        if growth.counters[NODES] > 1:
            return _scan(field, growth.counters[NODES] - 2, 2)
        _know_root(field)
        kind = _scan(field, _ROOT, 1)
        return kind if kind != 0 else _part_next(field)
    if kind == SCAN:
        _keep_splits(field)
        return _part_next(field)
    give_answers(growth, field.features, field.scales.fine, field.rules)
    return 0


@kernel
def grow(team, field, work, n_rows, n_threads, leads):
    """Grow a tree on ``n_rows`` rows as the leader of a team, or help until the team is closed.

    ``n_threads`` may take part, this one included.
    """
    n_items, alone, waited, start = np.int64(0), np.int64(0), 0, np.int64(0)
    if leads:
        field.growth.task[_THREADS] = n_threads
        start, n_items = ticks(), _begin(field, n_rows)
        alone = -n_items
        if n_items > 0:
            teams.post(team, n_items)
    while True:
        shared = alone <= 0
        alone -= 1
        item = teams.take(team) if shared else alone
        if item >= 0:
            _do_item(field, work, item)
            if shared:
                teams.done(team)
            waited = 0
        elif leads:
            teams.wait_for(team, n_items)
            now = ticks()
            field.growth.ticks[field.growth.task[_KIND]] += now - start
            start, n_items = now, _go_on(field)
            if n_items == 0:
                return
            alone = -n_items
            if n_items > 0:
                teams.post(team, n_items)
        elif teams.is_open(team):
            waited = teams.wait_turn(waited)
        else:
            return


@kernel
def add_leaves(growth, values, score, output, share, shares):
    """Add the values of every ``shares``-th leaf of a grown tree to the scores of its rows."""
    at = 0
    for node in range(growth.counters[NODES]):
        if growth.ints[node, LEFT] >= 0:
            continue
        at += 1
        if at % shares != share:
            continue
        entries = growth.lists[growth.ints[node, DEPTH] & 1]
        for k in range(growth.bounds.shape[1]):
            start, end = growth.bounds[node, k, 0], growth.bounds[node, k, 1]
            add_value(entries, start, end, values[node], score, np.uint64(output))
