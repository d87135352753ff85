"""Trees of few different splits as tables: the bits of the splits make the number of a leaf.

A symmetric tree has one cut per level: six levels have six splits, however many nodes those are in. For every
row each split gives a bit, whether the row goes right, and the bits are the place of its leaf:

    x₃ > 5     bit 0      1   for 64 rows by one wide instruction
    x₀ > 7     bit 1      0
    x₁ in S    bit 2      1
                        101   place 5 of the tree's table

A leaf that does not need all bits stands in several places. Values become codes once for all trees, as in a
tournament (tournament.py); categories are codes already, and a split on a set has a mark for every code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.predict.tournament import ROWS, find_codes
from arboretum.engine.simd import WIDE, add_chosen, add_chosen_by_four, mark

__all__ = ["MOST_BITS", "BitTables", "BitTablesWork", "add_tables", "find_splits", "write_tables"]

MOST_BITS = 8  # different splits of a tree: places of a table are bytes
_SUBSET = 2  # kind of a node (structure/tree.py)
_NONE, _ONE, _TWO, _THREE, _EIGHT = (np.uint64(k) for k in (0, 1, 2, 3, 8))
_WIDE, _ROWS = np.uint64(WIDE), np.uint64(ROWS)


class BitTables(NamedTuple):
    """The trees of a model; the first fields are those of a `Tournament`, for columns of numbers."""

    features: np.ndarray  # (n_numbers,) int64, the columns of numbers that the trees split on
    cuts: np.ndarray  # (n_cuts,) float64, the thresholds column by column, each sorted
    cuts_start: np.ndarray  # (n_numbers + 1,) int64
    grid: np.ndarray  # (n_numbers, 2) float64
    guess: np.ndarray  # (n_numbers * CELLS,) int32
    look: np.ndarray  # (n_numbers,) int64
    lists: np.ndarray  # (n_numbers, 2) int64, list of codes with missing values left, right
    n_lists: int
    words: np.ndarray  # (n_words,) int64, the columns of categories; their lists follow
    n_codes: np.ndarray  # (n_words,) int64, categories of each; the code after the last is missing
    codes_of: np.ndarray  # (n_splits,) int64, list of codes of every split, tree after tree
    cut_of: np.ndarray  # (n_splits,) int64, number of the cut; of a set, where its marks begin
    is_set: np.ndarray  # (n_splits,) bool
    marks: np.ndarray  # (n_marks,) uint8, by code: 1 goes right
    start: np.ndarray  # (n_trees + 1,) int64, the first split of every tree, and the end
    values: np.ndarray  # (n_trees, n_values, n_places) float64, the numbers of the leaves
    outputs: np.ndarray  # (n_trees,) int64, the output of the first number of every tree
    order: np.ndarray  # (n_trees,) int64, the trees output by output


class BitTablesWork(NamedTuple):
    """Scratch arrays for ROWS rows; one per thread."""

    x: np.ndarray  # (ROWS,) float64
    rank: np.ndarray  # (ROWS,) uint64
    codes: np.ndarray  # (lists, ROWS) uint8 or uint16, flat
    places: np.ndarray  # (4, ROWS) of the same type, flat, for four trees
    sums: np.ndarray  # (outputs, ROWS) float64, flat


# ---------------------------------------------------------------------- laid out
@inline
def _is_same(nodes, n_codes, a, b):
    """Return whether two nodes split rows alike."""
    kind, feature, threshold, _, missing_child, bits_start, bits = nodes
    if kind[a] != kind[b] or feature[a] != feature[b] or missing_child[a] != missing_child[b]:
        return False
    if kind[a] != _SUBSET:
        return threshold[a] == threshold[b]
    for w in range((n_codes[feature[a]] + 31) >> 5):
        if bits[bits_start[a] + w] != bits[bits_start[b] + w]:
            return False
    return True


@kernel
def find_splits(nodes, n_codes, starts, bit_of, first_node):
    """Write the bit of every inner node in its tree and the first node of every bit; return the most bits.

    -1: a tree has more than MOST_BITS different splits.

    nodes (kind, feature, threshold, first_child, missing_child, bits_start, bits) uint8, int32,
    float64, int32, int32, int64 and uint32, each (n_nodes,) but bits (n_words,); n_codes (n_columns,)
    int64; starts (n_trees + 1,) int64; bit_of (n_nodes,) int64, written; first_node (n_trees, MOST_BITS)
    int64, written.
    """
    kind, most = nodes[0], 0
    for tree in range(len(starts) - 1):
        n_bits = 0
        for node in range(starts[tree], starts[tree + 1]):
            if kind[node] == 0:
                continue
            bit = 0
            while bit < n_bits and not _is_same(nodes, n_codes, first_node[tree, bit], node):
                bit += 1
            if bit == MOST_BITS:
                return -1
            if bit == n_bits:
                first_node[tree, bit] = node
                n_bits += 1
            bit_of[node] = bit
        most = max(most, n_bits)
    return most


@kernel
def write_tables(nodes, n_codes, starts, bit_of, sets, mark_start, marks, leaf_nodes):
    """Write the marks of splits on sets, and the node of the leaf at every place of every tree.

    nodes, n_codes, starts and bit_of as above; sets (n_sets,) int64, a node of every such split; mark_start
    (n_sets,) int64; marks (n_marks,) uint8, written; leaf_nodes (n_trees, n_places) int64, written.
    """
    kind, feature, _, first_child, missing_child, bits_start, bits = nodes
    for s in range(len(sets)):
        node, at = sets[s], mark_start[s]
        many = n_codes[feature[node]]
        for code in range(many):
            word = bits[bits_start[node] + (code >> 5)]
            marks[at + code] = ((word >> np.uint32(code & 31)) & np.uint32(1)) ^ np.uint32(1)
        marks[at + many] = missing_child[node]
    for tree in range(len(starts) - 1):
        root = starts[tree]
        for place in range(leaf_nodes.shape[1]):
            node = root
            while kind[node]:
                node = root + first_child[node] + ((place >> bit_of[node]) & 1)
            leaf_nodes[tree, place] = node


# ---------------------------------------------------------------------- looked up
@inline
def _find_categories(layout, X, start, n, work):
    """Write the codes of rows in the columns of categories; codes that do not exist are missing."""
    codes = work.codes
    for k in range(len(layout.words)):
        f, many = np.uint64(layout.words[k]), layout.n_codes[k]
        first, top = np.uint64(layout.n_lists + k) * _ROWS, np.float64(many)
        for i in range(n):
            x = X[start + i, f]
            codes[first + i] = np.uint64(x) if (x >= 0.0) & (x < top) else np.uint64(many)


@inline
def _mark_set(codes, row, marks, first, places, at, bit, n):
    """Set a bit of the rows whose codes have a mark."""
    for i in range(n):
        places[at + i] |= np.uint64(marks[first + np.uint64(codes[row + i])]) * bit


@subkernel
def _find_places(layout, tree, at, n, work):
    """Write the place of every row in the table of a tree, from ``at`` on."""
    codes, places, bit = work.codes, work.places, _ONE
    for i in range(at, at + _ROWS):
        places[i] = 0
    for k in range(np.uint64(layout.start[tree]), np.uint64(layout.start[tree + 1])):
        row, cut = np.uint64(layout.codes_of[k]) * _ROWS, np.uint64(layout.cut_of[k])
        if layout.is_set[k]:
            _mark_set(codes, row, layout.marks, cut, places, at, bit, n)
        else:
            mark(codes, row, cut, places, at, bit)
            if n > _WIDE:  # ROWS is two times WIDE
                mark(codes, row + _WIDE, cut, places, at + _WIDE, bit)
        bit <<= _ONE


@subkernel
def _add_four(layout, k, flat, n, work):
    """Add the answers of four trees, of one number each, to the sums of their output.

    flat (n_values,) float64.
    """
    size, trees = np.uint64(layout.values.shape[2]), layout.order[k : k + 4]
    for j in range(4):
        _find_places(layout, trees[j], np.uint64(j) * _ROWS, n, work)
    firsts = (
        np.uint64(trees[0]) * size,
        np.uint64(trees[1]) * size,
        np.uint64(trees[2]) * size,
        np.uint64(trees[3]) * size,
    )
    rows = _NONE, _ROWS, _TWO * _ROWS, _THREE * _ROWS
    to = layout.outputs[trees[0]] * ROWS
    sums = work.sums[to : to + ROWS]
    for i in range(_NONE, n, _EIGHT):
        add_chosen_by_four(sums, i, flat, firsts, work.places, rows)


@subkernel
def _add_one(layout, tree, flat, n, work):
    """Add the answers of a tree to the sums; flat (n_values,) float64."""
    size, numbers = np.uint64(layout.values.shape[2]), np.uint64(layout.values.shape[1])
    _find_places(layout, tree, _NONE, n, work)
    for k in range(numbers):
        first = (np.uint64(tree) * numbers + k) * size
        to = (np.uint64(layout.outputs[tree]) + k) * _ROWS
        for i in range(_NONE, n, _EIGHT):
            add_chosen(work.sums, to + i, flat, first, work.places, i)


@kernel
def add_tables(layout, X, work, total):
    """Add the answers of all trees for the rows of a block, those of every output in the order of the trees.

    X (n_rows, n_columns) float64; total (n_rows, n_outputs) float64, added to.
    """
    sums, values, outputs = work.sums, layout.values, np.uint64(total.shape[1])
    flat, order, output_of = values.reshape(values.size), layout.order, layout.outputs
    for begin in range(0, len(X), ROWS):
        start, n = np.uint64(begin), np.uint64(min(ROWS, len(X) - begin))
        find_codes(layout, X, start, n, work)
        _find_categories(layout, X, start, n, work)
        for k in range(outputs):
            for i in range(n):
                sums[k * _ROWS + i] = total[start + i, k]
        at, n_trees = 0, len(order)
        while at < n_trees:  # four trees together: sums are read and written once
            together = values.shape[1] == 1 and at + 3 < n_trees
            if together and output_of[order[at]] == output_of[order[at + 3]]:
                _add_four(layout, at, flat, n, work)
                at += 4
            else:
                _add_one(layout, order[at], flat, n, work)
                at += 1
        for k in range(outputs):
            for i in range(n):
                total[start + i, k] = sums[k * _ROWS + i]
