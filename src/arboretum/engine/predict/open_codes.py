"""The states of rows while some columns of the trees are left open, and the jumps that belong to them.

A row's state in a tree encodes which side it takes at all nodes that split on columns that are not open
(explain/dependence/open_states.py). It is computed from the leaves up, for all rows of a block at once:

    node splits on           state of the node
    a row's column           left's, or number of left's states + right's
    an open column           left's · number of right's states + right's

Values become codes first, two bytes each: the number of thresholds of the column that lie below, or the
category. A side is then found by comparing codes, sixteen or more rows at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.shap.table_rows import encode

__all__ = ["ROWS", "OpenCodes", "add_states"]

ROWS = 512  # in a block: the states of all nodes of a tree stay in the cache
_LEAF = 0


class OpenCodes(NamedTuple):
    """The splits of all trees, in codes."""

    first: np.ndarray  # (n_nodes,) uint16, the first code that goes right
    span: np.ndarray  # (n_nodes,) uint16, how many further codes go right
    right_at: (
        np.ndarray
    )  # (nodes,) int64, for a split on categories: where its sides begin; else -1
    right: np.ndarray  # (n_sides,) uint8, 1: this category goes right


@subkernel
def _take_side(codes, first, span, left, right, by, n, out):
    """Write the states of a node that splits on a number; its right child's states are shifted by ``by``.

    codes, left, right (ROWS,) uint16; out (ROWS,) uint16, written.
    """
    for r in range(n):
        beyond = np.uint16(codes[r] - first)
        out[r] = np.uint16(right[r] + by) if beyond <= span else left[r]


@subkernel
def _take_set(codes, sides, left, right, by, n, out):
    """Do the same for a set of categories.

    codes, left, right (ROWS,) uint16; sides (n_categories,) uint8; out (ROWS,) uint16, written.
    """
    for r in range(n):
        out[r] = np.uint16(right[r] + by) if sides[np.uint64(codes[r])] else left[r]


@subkernel
def _take_both(left, right, times, n, out):
    """Write the states of a node that splits on an open column.

    left, right (ROWS,) uint16; out (ROWS,) uint16, written.
    """
    for r in range(n):
        out[r] = np.uint16(left[r] * times + right[r])


@subkernel
def _find_states(nodes, size, questions, begin, end, codes, place, lines, n):
    """Write the states of all nodes of a tree, the last node first; nodes with one state share the last line.

    size (n_nodes,) int64; codes (n_columns, ROWS) uint16; place (n_columns,) int64; lines
    (most nodes + 1, ROWS) uint16, written.
    """
    none = len(lines) - 1
    for at in range(end - 1, begin - 1, -1):
        if nodes.kind[at] == _LEAF or size[at] == 1:
            continue
        child, f = np.int64(nodes.first_child[at]), nodes.feature[at]
        many, more = size[begin + child], size[begin + child + 1]
        left = lines[child if many > 1 else none]
        right, out = lines[child + 1 if more > 1 else none], lines[at - begin]
        if place[f] >= 0:
            _take_both(left, right, np.uint16(more), n, out)
        elif questions.right_at[at] >= 0:
            sides = questions.right[questions.right_at[at] :]
            _take_set(codes[f], sides, left, right, np.uint16(many), n, out)
        else:
            first, span = questions.first[at], questions.span[at]
            _take_side(codes[f], first, span, left, right, np.uint16(many), n, out)


@subkernel
def _add_jumps(line, table, state, lo, n):
    """Add to a line the entry of a table at every row's state.

    line (n_rows,) float64, added to; table (n_states,) float64; state (ROWS,) uint16.
    """
    for i in range(np.uint64(n)):
        line[np.uint64(lo) + i] += table[np.uint64(state[i])]


@kernel
def add_states(nodes, states, questions, coder, output, X, place, lines, steps):
    """Add the jumps of every row's curve in every tree to ``steps``, (outputs, points, rows).

    ``states`` is an OpenStates, ``questions`` its OpenCodes, ``coder`` a Coder of ROWS rows
    (engine/shap/table_rows.py), ``place`` is at least 0 for open columns. ``lines``, (nodes of the largest
    tree + 1, ROWS) uint16, is scratch. The prediction at a point is the sum of the steps up to it.

    states (size, jump_at, point, table_at, table) with the types listed in its class; output (n_trees,)
    int64; X (n_rows, n_columns) float64; place (n_columns,) int64; lines (most nodes + 1, ROWS) uint16,
    scratch; steps (n_outputs, n_points, n_rows) float64, added to.
    """
    for r in range(ROWS):
        lines[len(lines) - 1, r] = 0
    for lo in range(0, len(X), ROWS):
        n = min(ROWS, len(X) - lo)
        encode(coder, X, lo, n)
        for t in range(len(nodes.start) - 1):
            begin, end = nodes.start[t], nodes.start[t + 1]
            _find_states(nodes, states.size, questions, begin, end, coder.codes, place, lines, n)
            n_states, at = states.size[begin], states.table_at[t]
            state = lines[0 if n_states > 1 else len(lines) - 1]
            for jump in range(states.jump_at[t], states.jump_at[t + 1]):
                table = states.table[at : at + n_states]
                _add_jumps(steps[output[t], states.point[jump]], table, state, lo, n)
                at += n_states
