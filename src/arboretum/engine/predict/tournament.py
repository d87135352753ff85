"""Many small trees evaluated without walking: leaves play a tournament, and splits decide the matches.

A row's value in a column becomes a code, the number of the model's thresholds that lie below it. Then every
split of a tree, the lowest first, lets one of its two sides advance, for 64 rows by one wide instruction:

    leaf 0   leaf 1     leaf 2   leaf 3        lists of leaf numbers, one for each row
       └─ x₃≤5 ─┘          └─ x₁≤2 ─┘          rows with x₃ ≤ 5 keep the left, the others the right
            └────── x₀≤7 ──────┘
                   leaf 1  leaf 3  leaf 0 …    the winners: the leaf that each row is in

No branch can be mispredicted and no read waits for memory: lists and codes of 128 rows stay in the L1 cache.
All nodes are evaluated, which takes less time than finding out which ones a row needs.

A missing value has the code 0, which always goes left, or the number of cuts, which always goes right. A
column whose splits differ in where missing values go has two lists of codes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.atomic import search_step
from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.simd import WIDE, add_chosen, choose, guess

__all__ = [
    "CELLS",
    "ROWS",
    "Tournament",
    "TournamentWork",
    "find_codes",
    "n_below",
    "play",
    "write_questions",
]

ROWS = 2 * WIDE  # rows that play at a time
CELLS = 256  # cells of the grid of a column
_TOP = np.float64(CELLS - 1)
_NONE, _ONE, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
_WIDE, _ROWS, _SMALL = np.uint64(WIDE), np.uint64(ROWS), np.uint64(0xFFFF)
_CUT, _LEFT, _RIGHT, _LIST = (np.uint64(k) for k in (0, 16, 32, 48))  # bits of a question


class Tournament(NamedTuple):
    """The trees of a model; each split is a question, one word."""

    features: np.ndarray  # (n_asked,) int64, the columns that the trees split on
    cuts: np.ndarray  # (n_cuts,) float64, the thresholds column by column, each sorted
    cuts_start: np.ndarray  # (n_asked + 1,) int64
    grid: np.ndarray  # (n_asked, 2) float64, start of the first cell, cells per unit
    guess: (
        np.ndarray
    )  # (columns, CELLS) int32, flat: the first cut to compare with a value in a cell
    look: np.ndarray  # (n_asked,) int64, the number of cuts to compare from there on
    lists: (
        np.ndarray
    )  # (columns, 2) int64, list of codes with missing values left, right; -1: not needed
    n_lists: int
    questions: (
        np.ndarray
    )  # (n_questions,) uint64: cut, left and right list of leaves, codes; lowest first
    start: np.ndarray  # (n_trees + 1,) int64, the first question of every tree, and the end
    most_leaves: int
    values: np.ndarray  # (n_trees, n_numbers, n_leaves) float64, the numbers of the leaves
    outputs: np.ndarray  # (n_trees,) int64, the output of the first number of every tree


class TournamentWork(NamedTuple):
    """Scratch arrays for ROWS rows; one per thread."""

    x: np.ndarray  # (ROWS,) float64
    rank: np.ndarray  # (ROWS,) uint64
    codes: np.ndarray  # (lists, ROWS) uint8 or uint16, flat
    slots: np.ndarray  # (leaves + questions of a tree, ROWS) of the same type, flat
    sums: np.ndarray  # (outputs, ROWS) float64, flat


@subkernel
def n_below(cuts, start, end, x):
    """Return how many of the sorted cuts start:end lie below a value.

    cuts (n_cuts,) float64.
    """
    low, high = start, end
    while low < high:
        middle = (low + high) >> 1
        if cuts[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low - start


@kernel(makes_arrays=True)
def write_questions(layout, nodes, asked, starts, leaf_nodes):
    """Write the questions of all trees, children before parents.

    ``nodes`` is (kind, threshold, first child, missing child) of all trees, one after the other; children are
    counted from the tree's own first node. ``asked`` is the layout's column that a node splits on; ``starts``
    is where trees begin, and the end. ``leaf_nodes`` gets the node of every leaf.

    nodes (kind, threshold, first_child, missing_child) uint8, float64, int32 and int32, each
    (n_nodes,); asked (n_nodes,) int64; starts (n_trees + 1,) int64; leaf_nodes (n_trees, n_leaves)
    int64, written.
    """
    kind, threshold, first_child, missing_child = nodes
    slot = np.zeros(len(kind), np.uint64)
    n_questions = 0
    for tree in range(len(starts) - 1):
        root, end = starts[tree], starts[tree + 1]
        layout.start[tree] = n_questions
        leaves, inner = _NONE, np.uint64(layout.most_leaves)
        for node in range(end - 1, root - 1, -1):
            if kind[node] == 0:
                slot[node] = leaves
                leaf_nodes[tree, leaves] = node
                leaves += _ONE
                continue
            f, child = asked[node], root + first_child[node]
            low, high = layout.cuts_start[f], layout.cuts_start[f + 1]
            cut = np.uint64(n_below(layout.cuts, low, high, threshold[node]))
            codes = np.uint64(layout.lists[f, missing_child[node]])
            sides = (slot[child] << _LEFT) | (slot[child + 1] << _RIGHT)
            layout.questions[n_questions] = cut | sides | (codes << _LIST)
            n_questions += 1
            slot[node] = inner
            inner += _ONE
    layout.start[len(starts) - 1] = n_questions


@subkernel
def _rank(layout, column, x, rank):
    """Write how many of a column's cuts lie below each of some values, counted from the first of all cuts.

    The search starts at a place read from the grid. Then all values take the same steps of a binary search,
    one step at a time, so no branch is mispredicted.

    x (ROWS,) float64; rank (ROWS,) uint64, written.
    """
    low, scale = layout.grid[column, 0], layout.grid[column, 1]
    first = np.uint64(column * CELLS)
    for i in range(_NONE, _ROWS, _EIGHT):
        guess(layout.guess, first, _TOP, low, scale, x, rank, i)
    many = np.uint64(layout.look[column])
    while many:
        half = max(many >> _ONE, _ONE)
        for i in range(_NONE, _ROWS, _EIGHT):
            search_step(layout.cuts, x, rank, i, half)
        many -= half


@subkernel
def find_codes(layout, X, start, n, work):
    """Write the codes of rows, one or two lists for every column; other layouts of trees have them, too.

    X (n_rows, n_columns) float64.
    """
    x, rank, codes = work.x, work.rank, work.codes
    for column in range(len(layout.features)):
        f = np.uint64(layout.features[column])
        for i in range(n):
            x[i] = X[start + i, f]
        low, high = layout.cuts_start[column], layout.cuts_start[column + 1]
        _rank(layout, column, x, rank)
        for side in range(2):
            to = layout.lists[column, side]
            if to < 0:
                continue
            first, missing = np.uint64(to) * _ROWS, np.uint64(high - low) if side else _NONE
            for i in range(_ROWS):
                code = rank[i] - np.uint64(low) if x[i] == x[i] else missing
                codes[first + i] = code


@subkernel
def _play_tree(layout, tree, rows, work):
    """Let the leaves of a tree play for some rows; return where the list of the winners begins."""
    codes, slots, questions = work.codes, work.slots, layout.questions
    out = np.uint64(layout.most_leaves) * _ROWS
    winner = _NONE
    for k in range(np.uint64(layout.start[tree]), np.uint64(layout.start[tree + 1])):
        question = questions[k]
        cut, row = question & _SMALL, (question >> _LIST) * _ROWS
        left = ((question >> _LEFT) & _SMALL) * _ROWS
        right = ((question >> _RIGHT) & _SMALL) * _ROWS
        choose(codes, row, cut, slots, left, right, out)
        if rows > _WIDE:  # ROWS is two times WIDE
            choose(codes, row + _WIDE, cut, slots, left + _WIDE, right + _WIDE, out + _WIDE)
        winner = out
        out += _ROWS
    return winner


@kernel
def play(layout, X, work, total):
    """Add the answers of all trees for the rows of a block, in the order of the trees.

    X (n_rows, n_columns) float64; total (n_rows, n_outputs) float64, added to.
    """
    sums, values, leaves = work.sums, layout.values, np.uint64(layout.most_leaves)
    flat = values.reshape(values.size)
    numbers, outputs = np.uint64(values.shape[1]), np.uint64(total.shape[1])
    for begin in range(0, len(X), ROWS):
        start, n = np.uint64(begin), np.uint64(min(ROWS, len(X) - begin))
        find_codes(layout, X, start, n, work)
        for k in range(outputs):
            for i in range(n):
                sums[k * _ROWS + i] = total[start + i, k]
        for tree in range(len(values)):
            winner = _play_tree(layout, tree, n, work)
            for k in range(numbers):
                first = (np.uint64(tree) * numbers + k) * leaves
                to = (np.uint64(layout.outputs[tree]) + k) * _ROWS
                for i in range(_NONE, n, _EIGHT):
                    add_chosen(sums, to + i, flat, first, work.slots, winner + i)
        for k in range(outputs):
            for i in range(n):
                total[start + i, k] = sums[k * _ROWS + i]
