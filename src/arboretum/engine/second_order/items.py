"""What threads do while a tree grows on histograms: the items of its tasks.

    SCALE     a block of rows: the largest derivatives
    FILL      a block of rows: derivatives to entries
    PART      a block of rows: a node's entries to the other list, left ones first, right ones last
    COUNT     a tile of columns, over a group of blocks if tiles cannot be distributed evenly
    MERGE     a tile of columns: the groups' histograms added up
    SCAN      a range of the features of one of two children, or of a level
    SHARE     the nodes of a level that take its cut
    SUM       a block of rows: Σg and Σh of the leaves at fine scales

Items of a task write to separate memory. They are done by separate kernels, called by address
(engine/compiler/by_address.py), which are compiled once for one tree and for the trees of many rounds, in
several processes at once, and only if a table needs them (`find_parts`):

    do_rows     SCALE, FILL, SUM
    do_count    PART, COUNT, MERGE     and the one loop that counts tiles of the table's width
    do_wide     PART, COUNT            for columns of more than 255 bins
    do_scan     SCAN                   or `do_counted`, if rows are counted; or `do_drawn`, if one random cut
                                       of every column is tried
    do_level    SCAN, SHARE            instead, if all nodes of a level have the same cut
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.atomic import prefetch
from arboretum.engine.compiler.by_address import address_of, call_at
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.dtypes import COUNT, FILL, MERGE, PART, SCALE, SCAN, SHARE
from arboretum.engine.random import mix
from arboretum.engine.second_order.draw import draw_columns
from arboretum.engine.second_order.histogram import (
    FULL,
    add,
    add_wide_segment,
    counter_of,
    empty_tile,
    empty_wide_tile,
    subtract,
)
from arboretum.engine.second_order.nodes import State
from arboretum.engine.second_order.pack import (
    GivenRows,
    add_fine,
    fetched_until,
    fill_entries,
    find_largest,
    mark_rows,
)
from arboretum.engine.second_order.random_cuts import CUTS, best_drawn
from arboretum.engine.second_order.row_counts import RowsOfNode
from arboretum.engine.second_order.score import SplitScratch, scanned_node
from arboretum.engine.second_order.split import best_of
from arboretum.engine.second_order.symmetric import best_of_level, share_split

__all__ = ["Parts", "do_item", "find_counting", "find_parts", "find_scanning"]

_AHEAD, _APART = np.uint64(24), np.uint64(16)  # entries; rows, whose codes are a byte or two each
_ROW = np.uint64(32)
_ONE = np.uint64(1)


# ---------------------------------------------------------------------- rows are partitioned
@subkernel
def _part(codes, column, goes, entries, target, start, end):
    """Write left entries from ``start`` on, in their order, right ones from ``end`` down.

    Every entry is written to both ends; the wrong copy is overwritten later. Returns how many go left.

    codes (n_columns, n_rows) uint8 or uint16; goes (n_codes,) uint8; entries (n_entries,) uint64; target
    (n_entries,) uint64, written.
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
def _part_block(codes, column, tree, block):
    """Partition the entries of a node in one block by the codes of a column.

    codes (n_columns, n_rows) uint8 or uint16.
    """
    k, left = tree.task[0].node, tree.counters[0].nodes
    node, piece = tree.nodes[k], tree.ranges[k, block]
    start, end = piece.start, piece.end
    source, target = tree.lists[node.depth & 1], tree.lists[1 - (node.depth & 1)]
    middle = start + _part(codes, np.uint64(column), tree.goes_left, source, target, start, end)
    on_left, on_right = tree.ranges[left, block], tree.ranges[left + 1, block]
    on_left.start, on_left.end = start, middle
    on_right.start, on_right.end = middle, end


@inline
def _parting_column(tree, features):
    """Return the stored column that partitions the rows of a node."""
    return features.storage[tree.nodes[tree.task[0].node].split.feature]


# ---------------------------------------------------------------------- rows are counted
@subkernel
def _tile_columns(store, tile):
    """Return the first column of a tile, and the one after its last; those of 16 bits come last."""
    narrow = len(store.codes)
    if tile < len(store.words):
        many = store.words.shape[2] * store.width
        return tile * many, min((tile + 1) * many, narrow)
    tile -= len(store.words)
    last = min((tile + 1) * store.wide_width, len(store.wide))
    return narrow + tile * store.wide_width, narrow + last


@subkernel
def _group_of(tree, piece):
    """Return the first block of a group, and the one after its last."""
    pieces, blocks = tree.task[0].pieces, tree.ranges.shape[1]
    return blocks * piece // pieces, blocks * (piece + 1) // pieces


@inline
def _count_tile(store, tree, scratch, counter, tile, piece):
    """Count a node's rows of a group of blocks in the columns of a tile."""
    node, ranges, small = tree.task[0].node, tree.ranges, scratch.small
    entries, hist = tree.lists[tree.nodes[node].depth & 1], tree.hists[tree.task[0].slot]
    if piece > 0:
        hist = tree.extra[piece - 1]
    block, last_block = _group_of(tree, piece)
    first, last = _tile_columns(store, tile)
    words, capacity, fresh = store.words[tile], FULL, np.bool_(True)
    for k in range(block, last_block):
        at, end = ranges[node, k].start, ranges[node, k].end
        while at < end:
            stop = min(at + capacity, end)
            call_at(counter, (words, entries, np.uint64(at), np.uint64(stop), small))
            capacity -= stop - at
            at = stop
            if capacity == 0:
                empty_tile(small, hist, store.starts, first, last, fresh)
                capacity, fresh = FULL, False
    if fresh or capacity < FULL:
        empty_tile(small, hist, store.starts, first, last, fresh)


@subkernel
def _tile_sums(store, tree, tile):
    """Return where the sums of a tile's columns begin and end in a histogram."""
    first, last = _tile_columns(store, tile)
    times = tree.hists.shape[1] // store.starts[len(store.starts) - 1]
    return times * store.starts[first], times * store.starts[last]


@inline
def _take_from_parent(store, tree, tile):
    """Subtract the counts from the parent's histograms, which leaves the larger sibling."""
    slot, parent = tree.task[0].slot, tree.task[0].parent_slot
    first, last = _tile_sums(store, tree, tile)
    if parent >= 0:
        subtract(tree.hists[parent, first:last], tree.hists[slot, first:last])


@inline
def _count_wide_tile(store, tree, scratch, tile, piece):
    """`_count_tile` for columns of 16 bits."""
    node, ranges, small = tree.task[0].node, tree.ranges, scratch.small
    entries, hist = tree.lists[tree.nodes[node].depth & 1], tree.hists[tree.task[0].slot]
    if piece > 0:
        hist = tree.extra[piece - 1]
    block, last_block = _group_of(tree, piece)
    first, last = _tile_columns(store, tile)
    words, capacity, fresh = store.wide_words[tile - len(store.words)], FULL, np.bool_(True)
    for k in range(block, last_block):
        at, end = ranges[node, k].start, ranges[node, k].end
        while at < end:
            stop = min(at + capacity, end)
            add_wide_segment(words, store.starts, first, last, entries, at, stop, small)
            capacity -= stop - at
            at = stop
            if capacity == 0:
                empty_wide_tile(small, hist, store.starts, first, last, fresh)
                capacity, fresh = FULL, False
    if fresh or capacity < FULL:
        empty_wide_tile(small, hist, store.starts, first, last, fresh)
    if tree.task[0].pieces == 1:
        _take_from_parent(store, tree, tile)


@inline
def _merge_tile(store, tree, tile):
    """Add up the histograms of all pieces."""
    slot = tree.task[0].slot
    first, last = _tile_sums(store, tree, tile)
    for k in range(tree.task[0].pieces - 1):
        add(tree.hists[slot, first:last], tree.extra[k, first:last])
    _take_from_parent(store, tree, tile)


@kernel
def do_count(store, tree, features, scratch, counter, item):
    """Do one item of PART, COUNT or MERGE; ``counter`` is the address of the kernel that counts a tile."""
    task = tree.task[0]
    if task.kind == PART:
        _part_block(store.codes, _parting_column(tree, features), tree, item)
    elif task.kind == COUNT:
        tile, piece = item // task.pieces, item % task.pieces
        _count_tile(store, tree, scratch, counter, tile, piece)
        if task.pieces == 1:
            _take_from_parent(store, tree, tile)
    else:
        _merge_tile(store, tree, item)


@kernel
def do_wide(store, tree, features, scratch, counter, item):
    """Do one item of PART or COUNT in columns of 16 bits; ``counter`` is not used."""
    task = tree.task[0]
    if task.kind == PART:
        column = _parting_column(tree, features) - len(store.codes)
        _part_block(store.wide, column, tree, item)
    else:
        tile, piece = item // task.pieces, item % task.pieces
        _count_wide_tile(store, tree, scratch, tile, piece)


# ---------------------------------------------------------------------- features are scanned
@inline
def _range_of(tree, item):
    """Return the side of an item of SCAN, and the first and the last of its features."""
    task = tree.task[0]
    side, piece = item // task.pieces, item % task.pieces
    n = task.n_features[side]
    return side, n * piece // task.pieces, n * (piece + 1) // task.pieces


@inline
def _keep_found(tree, item, scratch):
    """Keep the best split that an item of SCAN has found."""
    tree.best[item] = scratch.best[0]
    for w in range(tree.best_members.shape[1]):
        tree.best_members[item, w] = scratch.members[w]


@inline
def _scan(store, tree, features, rules, scales, rows, scratch, item):
    side, first, last = _range_of(tree, item)
    best, scanned = tree.best[item], tree.nodes[tree.task[0].scanned[side]]
    node, hist = scanned_node(scanned, scales.chosen[0].unit, rules), tree.hists[scanned.slot]
    best.gain, best.feature = -np.inf, -1
    if first < last:
        drawn = tree.draw.drawn[side, first:last]
        best_of(hist, store.starts, drawn, features, node, rules, rows, scratch)
        _keep_found(tree, item, scratch)


@kernel
def do_scan(store, tree, features, rules, scales, scratch, key, item):
    """Do one item of SCAN; ``key`` is not used."""
    _scan(store, tree, features, rules, scales, None, scratch, item)


@kernel
def do_counted(store, tree, features, rules, scales, scratch, key, item):
    """Do one item of SCAN where rows are counted; ``key`` is not used."""
    rows = RowsOfNode(store, tree, tree.task[0].scanned[_range_of(tree, item)[0]])
    _scan(store, tree, features, rules, scales, rows, scratch, item)


@kernel
def do_drawn(store, tree, features, rules, scales, scratch, key, item):
    """Do one item of SCAN where one cut of every feature is drawn; ``key`` is that of the tree."""
    side, first, last = _range_of(tree, item)
    best, number = tree.best[item], tree.task[0].scanned[side]
    scanned = tree.nodes[number]
    node, hist = scanned_node(scanned, scales.chosen[0].unit, rules), tree.hists[scanned.slot]
    best.gain, best.feature = -np.inf, -1
    mine = mix(mix(mix(key, np.uint64(CUTS)), np.uint64(rules.cut_seed)), np.uint64(number))
    if first < last:
        drawn = tree.draw.drawn[side]
        best_drawn(hist, store.starts, drawn, first, last, features, node, mine, rules, scratch)
        _keep_found(tree, item, scratch)


@kernel
def do_level(store, tree, features, rules, scales, scratch, key, item):
    """Do one item of SCAN or SHARE where a level has one cut; ``key`` is that of the tree."""
    chosen = scales.chosen[0]
    if tree.task[0].kind == SHARE:
        share_split(store.starts, tree, features, chosen.unit, rules, scratch)
        return
    _, first, last = _range_of(tree, item)
    best_of_level(store.starts, tree, first, last, features, chosen, key, rules, scratch)
    _keep_found(tree, item, scratch)


@kernel
def do_draw(tree, rules, node, key, side):
    """Draw the features that one of two nodes may split on; levels of symmetric trees draw as nodes do."""
    drawn, task = tree.draw.drawn[side], tree.task[0]
    depth = node if rules.symmetric else tree.nodes[node].depth
    task.n_features[side] = draw_columns(tree.draw, node, depth, key, rules, drawn)


# ---------------------------------------------------------------------- rows are scaled, leaves added up
@inline
def _sum_block(tree, given, fine, block):
    """Write the leaves of a block's rows; add up the leaves' gradients at fine scales.

    They are added in the order of rows, the order in memory: leaf by leaf, each g and h would be fetched from
    a different place.
    """
    sums, rows = tree.fine_sums[block], tree.ranges[0, block]
    for k in range(tree.counters[0].nodes):
        node, piece = tree.nodes[k], tree.ranges[k, block]
        sums[k, 0], sums[k, 1] = 0, 0
        if node.first_child < 0:
            mark_rows(tree.lists[node.depth & 1], piece.start, piece.end, k, tree.leaf_of)
    add_fine(given, fine, rows.start, rows.end, tree.leaf_of, sums)


@kernel
def do_rows(tree, scales, g, h, rows, factor, most, key, item):
    """Do one item of SCALE, FILL or SUM, for the rows of a `GivenRows`, whose fields are these.

    g, h (n_rows,) float32; rows (n_taking_part,) uint32, or empty; factor (n_taking_part,) float32, or
    empty.
    """
    given = GivenRows(g, h, rows, factor, most, key)
    kind, chosen = tree.task[0].kind, scales.chosen[0]
    if kind == SCALE:
        n, blocks = len(g), tree.ranges.shape[1]
        start, end = n * item // blocks, n * (item + 1) // blocks
        find_largest(given, start, end, scales.largest[item])
    elif kind == FILL:
        piece = tree.ranges[0, item]
        fill_entries(given, chosen.small, piece.start, piece.end, 0, tree.lists[0])
    else:
        _sum_block(tree, given, chosen.fine, item)


# ---------------------------------------------------------------------- all of them
class Parts(NamedTuple):
    """Addresses of compiled code; 0: not needed, and not compiled."""

    rows: int  # `do_rows`
    count: int  # `do_count`
    counter: int  # the kernel it counts a tile with (histogram.py)
    wide: int  # `do_wide`, or 0
    scan: int  # `do_scan`, `do_drawn` or `do_level`
    draw: int  # `do_draw`; 0: every node may split on all features of the tree


def find_parts(state: State, scratch: SplitScratch) -> Parts:
    """Return the addresses of the kernels that a table and its rules need, compiled first if necessary."""
    rows = address_of(do_rows, state.tree, state.scales, *state.given, 0)
    scanning = find_scanning(state, scratch)
    return find_counting(state, scratch)._replace(rows=rows, scan=scanning.scan, draw=scanning.draw)


def find_counting(state: State, scratch: SplitScratch) -> Parts:
    """Return the addresses of PART and COUNT alone."""
    store, tree, features = state.store, state.tree, state.features
    counted, word = (store, tree, features, scratch, 0, 0), np.uint64(0)
    tile = store.words[0] if len(store.words) else np.empty((0, 1), np.uint64)
    counter = counter_of(tile, store.width)
    return Parts(
        0,
        address_of(do_count, *counted),
        address_of(counter, tile, tree.lists[0], word, word, scratch.small),
        address_of(do_wide, *counted) if len(store.wide) else 0,
        0,
        0,
    )


def find_scanning(state: State, scratch: SplitScratch) -> Parts:
    """Return the addresses of SCAN and of the draw of features alone."""
    store, tree, features, rules, given, scales = state
    draws = rules.level_columns or rules.node_columns or len(tree.draw.group_of)
    searches = do_counted if rules.as_scikit_learn and rules.min_rows > 0.0 else do_scan
    scan = do_drawn if rules.random_cuts else do_level if rules.symmetric else searches
    return Parts(
        0, 0, 0, 0,
        address_of(scan, store, tree, features, rules, scales, scratch, given.key, 0),
        address_of(do_draw, tree, rules, 0, given.key, 0) if draws else 0,
    )  # fmt: skip


@subkernel
def do_item(parts, state, scratch, item):
    """Do one item of the team's current task."""
    store, tree, given, features = state.store, state.tree, state.given, state.features
    kind = tree.task[0].kind
    if kind in (SCAN, SHARE):
        searched = store, tree, features, state.rules, state.scales, scratch
        call_at(parts.scan, (*searched, given.key, item))
    elif kind in (PART, COUNT, MERGE):
        if _is_wide(store, tree, features, item):
            call_at(parts.wide, (store, tree, features, scratch, parts.counter, item))
        else:
            call_at(parts.count, (store, tree, features, scratch, parts.counter, item))
    else:
        of_rows = given.g, given.h, given.rows, given.factor, given.most, given.key
        call_at(parts.rows, (tree, state.scales, *of_rows, item))


@inline
def _is_wide(store, tree, features, item):
    """Return whether an item of PART or COUNT is about columns of 16 bits."""
    task = tree.task[0]
    if task.kind == PART:
        return _parting_column(tree, features) >= len(store.codes)
    return task.kind == COUNT and item // task.pieces >= len(store.words)
