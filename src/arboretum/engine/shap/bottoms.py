"""The bottom branches of a large tree as small tables, for the walk of many rows (lane_walk.py).

A branch of a few yes-no questions can be gone through in a few ways only. At each of its nodes a row has one
of two or three *outcomes*; together they are its *state*:

    0, 1   it goes left, or right                 state = Σ over nodes  times · outcome
    2      it has failed the column further up already; only where the column was asked above

What a branch gives is linear in the product C of the path above it, so of every state a table holds, for each
of some NODES nodes t of the quadrature, by how much C is multiplied:

    line 0             Σ of the leaves below, v · factors                  what is below
    line j             the same times slopes of the edges that ask for the branch's j-th column

Tables are made from the leaves up: those of a node are products of its two branches' and of its edges.

    largest branches of at most `most` states ──► tables        edges above them ──► factors and slopes

K nodes are exact for paths of up to 2 K columns, and few paths are much longer than the others. So bottom
branches are of classes, 0 if their longest path has up to 16 columns, 1 if up to 32, and so on, and a walk is
for one class and for NODES of its nodes: those of class 0 are walked once, of class 1 twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel

__all__ = ["NODES", "BottomScratch", "Bottoms", "fill_bottoms", "find_bottoms"]

NODES = 8  # of the quadrature, in a walk: two registers


class Bottoms(NamedTuple):
    """What a walk of one tree needs; nodes are numbered from the root of the tree on."""

    longest: np.ndarray  # int32, of every node: the most columns of a path through it
    classes: np.ndarray  # uint8, of every node: a bit for every class of bottom branches below
    states: np.ndarray  # int32, of every node's branch; more than allowed: it has no table
    times: np.ndarray  # uint8, of nodes inside: what its outcome counts in the state
    number: np.ndarray  # int32, of every node: its bottom branch
    edge: np.ndarray  # int32, of every node: where the weights of its edge are
    column_at: np.ndarray  # int64, where the columns of a bottom branch begin
    table_at: np.ndarray  # int64, where its table begins
    column: np.ndarray  # int32
    weights: np.ndarray  # float64, (edges, 6, NODES): factors and slopes of the three cases
    table: np.ndarray  # float64, (states, 1 + columns, NODES) of every bottom branch


class BottomScratch(NamedTuple):
    """What tables are made with: a slot for every node of a bottom branch."""

    slot: np.ndarray  # int32, of every node of the tree
    columns: np.ndarray  # (slots, columns) int32
    n_columns: np.ndarray  # (slots,) int64
    table: np.ndarray  # (slots, states, 1 + columns, NODES) float64
    weights: np.ndarray  # (2, 6, NODES) float64, of the two edges of a node


@subkernel
def _add_columns(paths, edges, first, end, columns, n):
    """Add the columns that nodes in places first : end ask for to a list of n, each once."""
    for at in range(first, end):
        node = edges.order[at]
        if paths.kind[node] == 0:
            continue
        f, known = paths.feature[node], False
        for k in range(n):
            known |= columns[k] == f
        if not known:
            columns[n] = f
            n += 1
    return n


@subkernel
def _measure(paths, edges, branches, span, most, bottoms):
    """Write how many states the branch of every node has, its longest path, and the classes below."""
    root, end = span
    bottoms.longest[0] = 0
    for at in range(root + 1, end):
        node = edges.order[at]
        above = bottoms.longest[branches.parent[node] - root]
        bottoms.longest[node - root] = above + (edges.same[node] == 0)
    for at in range(end - 1, root - 1, -1):
        node = edges.order[at]
        here, states = node - root, np.int64(1)
        if paths.kind[node] != 0:
            left = paths.first_child[node] - root
            states = 3 if edges.same[left + root] > 0 else 2
            states *= np.int64(bottoms.states[left]) * bottoms.states[left + 1]
            bottoms.longest[here] = max(bottoms.longest[left], bottoms.longest[left + 1])
            bottoms.classes[here] = bottoms.classes[left] | bottoms.classes[left + 1]
        bottoms.states[here] = min(states, most + 1)
        if states <= most:
            number = max(bottoms.longest[here] - 1, 0) // (2 * NODES)
            bottoms.classes[here] = np.uint8(1 << number)


@kernel
def find_bottoms(paths, edges, branches, span, most, which, bottoms, columns):
    """Find the bottom branches of a tree of one class; return how many edges, columns and lines of tables.

    ``which`` is the bit of the class, ``columns`` scratch for the columns of one of them.
    """
    root, end = span
    _measure(paths, edges, branches, span, most, bottoms)
    n_edges, n_bottoms, n_columns, lines, at = 0, 0, 0, 0, root
    while at < end:
        node = edges.order[at]
        if bottoms.classes[node - root] & which == 0:
            at += branches.size[node]
            continue
        bottoms.edge[node - root] = n_edges
        n_edges += 1
        if bottoms.states[node - root] > most:
            at += 1
            continue
        after = at + branches.size[node]
        asked = _add_columns(paths, edges, at, after, columns, 0)
        bottoms.number[node - root] = n_bottoms
        bottoms.column_at[n_bottoms], bottoms.table_at[n_bottoms] = n_columns, lines
        n_bottoms += 1
        n_columns += asked
        lines += bottoms.states[node - root] * (1 + asked)
        at = after
    bottoms.column_at[n_bottoms], bottoms.table_at[n_bottoms] = n_columns, lines
    return n_edges, n_columns, lines


@subkernel
def _weigh_edge(z0, z1, nodes, out):
    """Write factors, then slopes of an edge at every node t for the three cases of a row (walk.py)."""
    again = z1 / z0 if z0 > 0.0 else 0.0
    for q in range(len(nodes)):
        t = nodes[q]
        old, new = z0 + t * (1.0 - z0), z1 + t * (1.0 - z1)
        before = (1.0 - z0) / old
        out[0, q], out[1, q], out[2, q] = new / old, z1 * (1.0 - t) / old, again
        out[3, q] = (1.0 - z1) / new - before
        out[4, q] = -1.0 / (1.0 - t) - before
        out[5, q] = 0.0


@subkernel
def _place_of(columns, n, f):
    k = 0
    while k < n and columns[k] != f:
        k += 1
    return k


@subkernel
def _add_child(scratch, slot, child_slot, leaf_value, weights, case, state, child_state):
    """Add what a branch gives in one of its states to a state of the node above it."""
    target, K = scratch.table[slot, state], weights.shape[1]
    own = scratch.columns[slot]
    if child_slot < 0:
        for q in range(K):
            y = leaf_value * weights[case, q]
            target[0, q] += y
            target[1, q] += y * weights[3 + case, q]
        return
    source = scratch.table[child_slot, child_state]
    for q in range(K):
        y = source[0, q] * weights[case, q]
        target[0, q] += y
        target[1, q] += y * weights[3 + case, q]
    for j in range(scratch.n_columns[child_slot]):
        k = 1 + _place_of(own, scratch.n_columns[slot], scratch.columns[child_slot, j])
        for q in range(K):
            target[k, q] += source[1 + j, q] * weights[case, q]


@subkernel
def _join(paths, edges, branches, bottoms, root, node, value, output, nodes, scratch):
    """Make the table of a node from those of its two branches; its own column stands first."""
    left = paths.first_child[node]
    slot, place = scratch.slot[node - root], branches.place[node]
    scratch.n_columns[slot] = _add_columns(
        paths, edges, place, place + branches.size[node], scratch.columns[slot], 0
    )
    ways = 3 if edges.same[left] > 0 else 2
    sizes = np.int64(bottoms.states[left - root]), np.int64(bottoms.states[left + 1 - root])
    for c in range(2):
        _weigh_edge(edges.above[left + c], edges.share[left + c], nodes, scratch.weights[c])
    for state in range(ways * sizes[0] * sizes[1]):
        for k in range(1 + scratch.n_columns[slot]):
            for q in range(len(nodes)):
                scratch.table[slot, state, k, q] = 0.0
        outcome, rest = state % ways, state // ways
        for c in range(2):
            child = left + c
            case = 2 if outcome == 2 else (0 if outcome == c else 1)
            inside = rest % sizes[0] if c == 0 else rest // sizes[0]
            below = -1 if paths.kind[child] == 0 else scratch.slot[child - root]
            _add_child(
                scratch, slot, below, value[child, output], scratch.weights[c], case, state, inside
            )


@subkernel
def _count_outcomes(paths, edges, bottoms, root, first, end):
    """Write what the outcomes of the nodes of a bottom branch count in its state."""
    bottoms.times[edges.order[first] - root] = 1
    for at in range(first, end):
        node = edges.order[at]
        if paths.kind[node] == 0:
            continue
        left = paths.first_child[node]
        times = bottoms.times[node - root] * (3 if edges.same[left] > 0 else 2)
        bottoms.times[left - root] = times
        bottoms.times[left + 1 - root] = times * bottoms.states[left - root]


@kernel
def fill_bottoms(paths, edges, branches, span, most, which, said, nodes, scratch, bottoms):
    """Fill the weights of the edges and the tables of a tree whose bottom branches of a class were found.

    ``said`` is what nodes say, (nodes, k), and which of the k numbers is asked for; ``nodes`` are the t.
    """
    root, end = span
    value, output = said
    K = len(nodes)
    at = root
    while at < end:
        node = edges.order[at]
        if bottoms.classes[node - root] & which == 0:
            at += branches.size[node]
            continue
        begin = np.int64(bottoms.edge[node - root]) * 6 * K
        weights = bottoms.weights[begin : begin + 6 * K].reshape((6, K))
        _weigh_edge(edges.above[node], edges.share[node], nodes, weights)
        if bottoms.states[node - root] > most:
            at += 1
            continue
        after, number = at + branches.size[node], bottoms.number[node - root]
        start = bottoms.table_at[number] * K
        if paths.kind[node] == 0:
            for q in range(K):
                bottoms.table[start + q] = value[node, output]
            at = after
            continue
        _count_outcomes(paths, edges, bottoms, root, at, after)
        slots = 0
        for place in range(after - 1, at - 1, -1):
            one = edges.order[place]
            if paths.kind[one] != 0:
                scratch.slot[one - root] = slots
                slots += 1
                _join(paths, edges, branches, bottoms, root, one, value, output, nodes, scratch)
        last = slots - 1
        lines = 1 + scratch.n_columns[last]
        for j in range(lines - 1):
            bottoms.column[bottoms.column_at[number] + j] = scratch.columns[last, j]
        for state in range(bottoms.states[node - root]):
            for k in range(lines):
                for q in range(K):
                    bottoms.table[start] = scratch.table[last, state, k, q]
                    start += 1
        at = after
