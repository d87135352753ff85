"""Many small trees evaluated at once, without walking: a leaf is a bit, the outcome of a split is a mask.

The thresholds of a column divide its values into numbered places: place 0 up to its first threshold, and so
on, and a last place for missing values. For every tree and place, a mask has the leaves that a row with this
value can still reach:

    x₃ lies in place 2   ->   tree 0: 0 0 1 1 0 1 1 1     tree 1: 1 1 1 0 0 …
    x₅ lies in place 7   ->   tree 0: 1 1 0 1 1 1 0 0
    all columns, and-ed  ->   tree 0: 0 0 0 1 0 0 0 0     one bit is left: the leaf

Masks of one place lie side by side for a group of trees, so that a few wide instructions evaluate all of
them. The cost of a row is columns × groups, however deep the trees are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.atomic import and_lanes, lowest_bit, meet_lanes, search_step
from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.predict.tournament import n_below

__all__ = ["MaskWork", "Masks", "add_answers", "add_vectors", "fill_masks"]

GROUP = 32  # trees whose masks lie side by side
ROWS = 512  # rows whose places are found before trees are evaluated
_THRESHOLD = 1  # kind of a node (structure/tree.py)
_NONE, _ONE, _TWO, _THREE, _FOUR, _EIGHT = (np.uint64(k) for k in (0, 1, 2, 3, 4, 8))


class Masks(NamedTuple):
    """The trees of a model, laid out by the columns they split on."""

    features: np.ndarray  # (n_asked,) int64, the columns that the trees split on
    n_categories: np.ndarray  # (n_asked,) int64, categories of each; -1: a number
    cuts: np.ndarray  # (n_cuts,) float64, the thresholds column by column, each sorted
    cuts_start: np.ndarray  # (n_asked + 1,) int64
    place_start: np.ndarray  # (n_asked + 1,) int64; the last place is for missing values
    masks: np.ndarray  # (n_groups, n_places, GROUP) uint32 or uint64
    asked: (
        np.ndarray
    )  # (n_asked_by_groups,) uint64, places in `features` of the columns of each group
    asked_start: np.ndarray  # (n_groups + 1,) int64
    value: np.ndarray  # (n_trees, n_leaves[, n_outputs]) float64, the numbers of the leaves
    outputs: np.ndarray  # (n_trees,) int64, the output of every tree, if leaves have one number


class MaskWork(NamedTuple):
    """Scratch arrays for a block of rows; one per thread."""

    x: np.ndarray  # (ROWS,) float64
    rank: np.ndarray  # (ROWS,) uint64
    places: np.ndarray  # (ROWS, n_asked) uint32
    alive: np.ndarray  # (GROUP,) uint32 or uint64, like the masks: leaves that can still be reached
    whole: np.ndarray  # (GROUP,) uint32 or uint64, with all bits set
    leaves: np.ndarray  # (GROUP, 8) uint64
    answers: np.ndarray  # (GROUP, 8) float64
    sums: np.ndarray  # (n_outputs, 8) float64


class MaskRows(NamedTuple):
    """Up to eight rows; numbers only."""

    first: int  # number of the first row in the block
    start: int  # among the rows whose places have been found
    size: int


@kernel(makes_arrays=True)
def fill_masks(layout, nodes, asked, starts, leaf_nodes):
    """Clear the bits of the leaves that each split of every tree excludes.

    ``nodes`` is (kind, threshold, first child, missing child, start of its bits, bits) of all trees, one
    after the other; children are counted from the tree's own first node. ``asked`` is the layout's column
    that a node splits on; ``starts`` is where trees begin, and the end. ``leaf_nodes``, (trees, leaves), gets
    the node of every leaf.

    nodes (kind, threshold, first_child, missing_child, bits_start, bits) uint8, float64, int32,
    int32, int64 and uint32, each (n_nodes,) but bits (n_words,); asked (n_nodes,) int64; starts
    (n_trees + 1,) int64; leaf_nodes (n_trees, n_leaves) int64, written.
    """
    kind, threshold, first_child, missing_child, bits_start, bits = nodes
    masks_of, place_start = layout.masks, layout.place_start
    reach = np.zeros(len(kind), np.uint64)
    for tree in range(len(starts) - 1):
        root, end = starts[tree], starts[tree + 1]
        masks, lane, leaves = masks_of[tree // GROUP], tree % GROUP, np.uint64(0)
        for node in range(root, end):
            if kind[node] == 0:
                reach[node] = _ONE << leaves
                leaf_nodes[tree, leaves] = node
                leaves += _ONE
        for node in range(end - 1, root - 1, -1):
            if kind[node]:
                child = root + first_child[node]
                reach[node] = reach[child] | reach[child + 1]
        for node in range(root, end):
            if kind[node] == 0:
                continue
            child, f = root + first_child[node], asked[node]
            no_left, no_right = ~reach[child], ~reach[child + 1]
            first, last = place_start[f], place_start[f + 1] - 1
            if kind[node] == _THRESHOLD:  # values in place p lie above p thresholds
                low, high = layout.cuts_start[f], layout.cuts_start[f + 1]
                middle = first + n_below(layout.cuts, low, high, threshold[node]) + 1
                for place in range(first, middle):
                    masks[place, lane] &= no_right
                for place in range(middle, last):
                    masks[place, lane] &= no_left
            else:
                for place in range(first, last):
                    p = place - first
                    word = bits[bits_start[node] + (p >> 5)]
                    goes_left = (word >> np.uint32(p & 31)) & np.uint32(1) > 0
                    masks[place, lane] &= no_right if goes_left else no_left
            masks[last, lane] &= no_left if missing_child[node] else no_right


@subkernel
def _rank(cuts, start, end, x, rank):
    """Write how many of the sorted cuts start:end lie below each of some values.

    All values take the same steps of a binary search, one step at a time, so no branch is mispredicted.

    cuts (n_cuts,) float64; x (ROWS,) float64; rank (ROWS,) uint64, written.
    """
    n, many = np.uint64(len(rank)), np.uint64(end - start)
    for i in range(n):
        rank[i] = np.uint64(start)
    while many:
        half = max(many >> _ONE, _ONE)
        for i in range(_NONE, n, _EIGHT):
            search_step(cuts, x, rank, i, half)
        many -= half


@subkernel
def _find_places(layout, X, start, end, work):
    """Write the places of the rows start:end, (rows, columns in use).

    X (n_rows, n_columns) float64.
    """
    x, rank, places = work.x, work.rank, work.places
    n = np.uint64(end - start)
    for column in range(len(layout.features)):
        k, f = np.uint64(column), np.uint64(layout.features[column])
        first, missing = layout.place_start[column], np.uint32(layout.place_start[column + 1] - 1)
        for i in range(n):
            x[i] = X[np.uint64(start) + i, f]
        if layout.n_categories[column] >= 0:
            for i in range(n):
                known = x[i] >= 0.0 and x[i] < layout.n_categories[column]
                places[i, k] = np.uint32(first + np.int64(x[i])) if known else missing
            continue
        low, high = layout.cuts_start[column], layout.cuts_start[column + 1]
        _rank(layout.cuts, low, high, x, rank)
        shift = np.uint64(first) - np.uint64(low)
        for i in range(n):
            places[i, k] = np.uint32(rank[i] + shift) if x[i] == x[i] else missing


@subkernel
def _reach(layout, group, row, work):
    """Combine the masks of all places of a row by bitwise and: one leaf per tree of the group is left.

    Four columns at a time; the last one may be repeated, which changes nothing.
    """
    alive, masks, places, asked = work.alive, layout.masks[group], work.places, layout.asked
    k, end = np.uint64(layout.asked_start[group]), np.uint64(layout.asked_start[group + 1])
    if k == end:
        for lane in range(GROUP):
            alive[lane] = work.whole[lane]
        return
    last, first = end - _ONE, k
    while k < end:
        a, b = places[row, asked[k]], places[row, asked[min(k + _ONE, last)]]
        c, d = places[row, asked[min(k + _TWO, last)]], places[row, asked[min(k + _THREE, last)]]
        if k == first:
            meet_lanes(alive, masks, np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(d))
        else:
            and_lanes(alive, masks, np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(d))
        k += _FOUR


@subkernel
def _add_group(layout, group, rows, work, total):
    """Add the answers of the trees of a group for eight rows (fewer at the end of a block).

    Each addition to a sum waits for the one before; eight sums side by side wait at the same time.

    rows (first, start, size) a `MaskRows`; total (n_rows, n_outputs) float64, added to.
    """
    first = np.uint64(group * GROUP)
    lanes = min(np.uint64(GROUP), np.uint64(len(layout.value)) - first)
    answers, sums = work.answers, work.sums
    for r in range(rows.size):
        _reach(layout, group, rows.start + r, work)
        for lane in range(lanes):
            leaf = lowest_bit(np.uint64(work.alive[lane]))
            answers[lane, r] = layout.value[first + lane, leaf]
        for k in range(len(sums)):
            sums[k, r] = total[rows.first + r, k]
    for lane in range(lanes):
        k = layout.outputs[first + lane]
        for r in range(8):
            sums[k, r] += answers[lane, r]
    for r in range(rows.size):
        for k in range(len(sums)):
            total[rows.first + r, k] = sums[k, r]


@subkernel
def _add_vectors_of_group(layout, group, rows, work, total):
    """`_add_group` where every leaf has a number for each output: leaves first, then output by output.

    rows (first, start, size) a `MaskRows`; total (n_rows, n_outputs) float64, added to.
    """
    first = np.uint64(group * GROUP)
    lanes = min(np.uint64(GROUP), np.uint64(len(layout.value)) - first)
    leaves, numbers = work.leaves, np.uint64(layout.value.shape[2])
    for r in range(rows.size):
        _reach(layout, group, rows.start + r, work)
        for lane in range(lanes):
            leaves[lane, r] = lowest_bit(np.uint64(work.alive[lane]))
    for lane in range(lanes):
        for r in range(rows.size):
            said, row = layout.value[first + lane, leaves[lane, r]], rows.first + r
            for k in range(numbers):
                total[row, k] += said[k]


@kernel
def add_answers(layout, X, work, total):
    """Add the answers of all trees for the rows of a block, in the order of the trees.

    X (n_rows, n_columns) float64; total (n_rows, n_outputs) float64, added to.
    """
    for start in range(0, len(X), ROWS):
        end = min(start + ROWS, len(X))
        _find_places(layout, X, start, end, work)
        for group in range(len(layout.masks)):
            for i in range(start, end, 8):
                rows = MaskRows(np.uint64(i), np.uint64(i - start), np.uint64(min(8, end - i)))
                _add_group(layout, group, rows, work, total)


@kernel
def add_vectors(layout, X, work, total):
    """`add_answers` where every leaf has a number for each output.

    X (n_rows, n_columns) float64; total (n_rows, n_outputs) float64, added to.
    """
    for start in range(0, len(X), ROWS):
        end = min(start + ROWS, len(X))
        _find_places(layout, X, start, end, work)
        for group in range(len(layout.masks)):
            for i in range(start, end, 8):
                rows = MaskRows(np.uint64(i), np.uint64(i - start), np.uint64(min(8, end - i)))
                _add_vectors_of_group(layout, group, rows, work, total)
