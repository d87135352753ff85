"""Cases sent down a finished tree: the leaf where each ends, and how many errors that makes.

A depth-first walk carries the cases of one node at a time. They lie on top of a pile: the node's
cases are replaced by those of its children, the last child uppermost, and that one is next:

    pile   │ child 0 │ child 1 │ child 2 │ <- top          child 2 is divided in its place,
                                                           then child 1, then child 0

so the pile never holds more than the cases, plus the copies of those that miss a value. The shares by
which missing values are spread are those of the cases on the way, or the tree's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.cases.cases import TIE, CaseValues, Questions, answer, find_branches
from arboretum.engine.cases.error_limit import extra_errors
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.kinds import LEAF

__all__ = ["CaseRows", "Pile", "Settled", "new_pile", "prune_upwards", "settle", "spread_proba"]

MARGIN = 0.1  # of errors: Quinlan lets the simpler tree be this much worse


class CaseRows(NamedTuple):
    """The rows that are sent down a tree."""

    values: CaseValues
    label: np.ndarray  # (n_rows,) int32
    share: np.ndarray  # (n_nodes,) float64, of the parent's cases; empty: as the cases are divided


class Pile(NamedTuple):
    """The cases on their way, the nodes that wait for theirs, and room to divide them."""

    row: np.ndarray  # (room,) uint32
    weight: np.ndarray  # (room,) float64
    spare_row: np.ndarray  # (room,) uint32
    spare_weight: np.ndarray  # (room,) float64
    branch: np.ndarray  # (room,) int32
    ends: np.ndarray  # (most children + 1,) int64: the cases of child v are ends[v]:ends[v + 1]
    node: np.ndarray  # (n_nodes + 1,) int64
    begin: np.ndarray  # (n_nodes + 1,) int64
    end: np.ndarray  # (n_nodes + 1,) int64


class Settled(NamedTuple):
    """The cases at the leaves, last leaf first, and what every node has of them."""

    row: np.ndarray  # (room,) uint32
    weight: np.ndarray  # (room,) float64
    lo: np.ndarray  # (n_nodes,) uint32: where the cases of a node begin
    hi: (
        np.ndarray
    )  # (n_nodes,) uint32: where they end, of a leaf; of inner nodes once they are decided
    total: np.ndarray  # (n_nodes, n_classes) float64: weight of every class
    count: np.ndarray  # (n_nodes,) int64


def new_pile(tree: Questions, room: int) -> Pile:
    """Return a pile for this many cases."""
    return Pile(
        np.empty(room, np.uint32), np.empty(room), np.empty(room, np.uint32), np.empty(room),
        np.empty(room, np.int32), np.empty(int(tree.n_children.max(initial=1)) + 1, np.int64),
        *(np.empty(len(tree.kind) + 1, np.int64) for _ in range(3)),
    )  # fmt: skip


@inline(makes_arrays=True)
def _divide(tree, node, rows, pile, a, b):
    """Replace the cases a:b by those of the node's children; return the new top, -1 if room is short."""
    row, weight, branch, ends = pile.row, pile.weight, pile.branch, pile.ends
    first, children = tree.first_child[node], tree.n_children[node]
    share = np.zeros(children)
    for v in range(children + 1):
        ends[v] = 0
    missed, known = 0, 0.0
    find_branches(tree, node, rows.values, row, a, b, branch)
    for i in range(a, b):
        pile.spare_row[i - a], pile.spare_weight[i - a] = row[i], weight[i]
        v = branch[i - a]
        if v < 0:
            missed += 1
        else:
            ends[v + 1] += 1
            share[v] += weight[i]
            known += weight[i]
    for v in range(children):
        if len(rows.share):
            share[v] = rows.share[first + v]
        else:
            share[v] = share[v] / known if known > 0.0 else 0.0
    ends[0] = a
    for v in range(children):
        ends[v + 1] += ends[v] + (missed if share[v] > 0.0 else 0)
    top = ends[children]
    if top > len(row):
        return np.int64(-1)
    at = np.empty(children, np.int64)
    for v in range(children):
        at[v] = ends[v]
    for i in range(b - a):
        v = branch[i]
        if v >= 0:
            row[at[v]], weight[at[v]] = pile.spare_row[i], pile.spare_weight[i]
            at[v] += 1
            continue
        for u in range(children):
            if share[u] > 0.0:
                row[at[u]], weight[at[u]] = pile.spare_row[i], pile.spare_weight[i] * share[u]
                at[u] += 1
    return np.int64(top)


@subkernel
def _keep(node, rows, pile, a, b, is_leaf, settled, done):
    """Write what node has of the cases a:b; return how many stand at leaves, -1 if room is short."""
    settled.lo[node], settled.count[node] = done, b - a
    for c in range(settled.total.shape[1]):
        settled.total[node, c] = 0.0
    for i in range(a, b):
        settled.total[node, rows.label[pile.row[i]]] += pile.weight[i]
    if not is_leaf:
        return done
    if done + b - a > len(settled.row):
        return np.int64(-1)
    for i in range(a, b):
        settled.row[done], settled.weight[done] = pile.row[i], pile.weight[i]
        done += 1
    settled.hi[node] = done
    return done


@subkernel(makes_arrays=True)
def _send_down(tree, root, rows, pile, n, settled, limit, classes):
    """Send the first n cases of the pile down the branch at ``root``.

    Returns how many cases the leaves have, and their pessimistic errors; -1 if room is short. With
    ``settled`` None nothing is written, with ``limit`` None no error is computed.
    """
    counts, done, errors = np.empty(classes), np.int64(0), 0.0
    pile.node[0], pile.begin[0], pile.end[0] = root, 0, n
    height = 1
    while height:
        height -= 1
        node, a, b = pile.node[height], pile.begin[height], pile.end[height]
        is_leaf = tree.kind[node] == LEAF
        if settled is not None:
            done = _keep(node, rows, pile, a, b, is_leaf, settled, done)
            if done < 0:
                return np.int64(-1), -1.0
        if limit is not None:
            if is_leaf:
                for c in range(classes):
                    counts[c] = 0.0
                for i in range(a, b):
                    counts[rows.label[pile.row[i]]] += pile.weight[i]
                errors += leaf_errors(counts, limit)
            elif a == b:
                continue
        if is_leaf:
            continue
        if _divide(tree, node, rows, pile, a, b) < 0:
            return np.int64(-1), -1.0
        for v in range(tree.n_children[node]):
            pile.node[height], pile.begin[height], pile.end[height] = (
                tree.first_child[node] + v, pile.ends[v], pile.ends[v + 1],
            )  # fmt: skip
            height += 1
    return done, errors


@kernel(makes_arrays=True)
def settle(tree, root, rows, pile, n, settled):
    """Send the first n cases of the pile down the branch at ``root``, and keep where they end.

    Returns how many cases the leaves have, or -1 if there is not enough room; the pile is used up either way.
    """
    done, _ = _send_down(tree, root, rows, pile, n, settled, None, settled.total.shape[1])
    return done


@subkernel
def leaf_errors(counts, limit):
    """Return the pessimistic errors of a leaf with these class weights.

    counts (n_classes,) float64.
    """
    n, most = 0.0, 0.0
    for c in range(len(counts)):
        n += counts[c]
        most = max(most, counts[c])
    return n - most + extra_errors(n, n - most, limit)


@kernel(makes_arrays=True)
def prune_upwards(tree, order, begin_at, rows, settled, raising, limit, estimate, pile):
    """Decide the nodes ``order[begin_at:]`` of a tree, children before parents.

    A node becomes a leaf if that is at most `MARGIN` errors worse than its branches and than its
    largest branch in its place. Returns (place in ``order``, child to raise) at the first node whose
    largest branch is to take its place, (len(order), -1) at the end, and (place, -1) if room is short.

    order (n_nodes,) int64; limit: ErrorLimit; estimate (n_nodes,) float64, written.
    """
    total, lo, hi = settled.total, settled.lo, settled.hi
    for j in range(begin_at, len(order)):
        node = order[j]
        as_leaf = leaf_errors(total[node], limit)
        if tree.kind[node] == LEAF:
            estimate[node] = as_leaf
            continue
        first, children = tree.first_child[node], tree.n_children[node]
        hi[node] = hi[first]
        as_tree, whole = 0.0, 0.0
        for child in range(first, first + children):
            as_tree += estimate[child]
            whole += np.sum(total[child])
        largest, heaviest = first, -1.0
        for child in range(first, first + children):
            share = np.sum(total[child]) / whole
            if share >= heaviest - TIE:  # the last of equals
                largest, heaviest = child, max(share, heaviest)
        as_raised = np.inf
        if raising and tree.kind[largest] == LEAF:
            as_raised = as_leaf
        elif raising:
            n = hi[node] - lo[node]
            if n > len(pile.row):
                return j, -1
            for i in range(n):
                pile.row[i] = settled.row[lo[node] + i]
                pile.weight[i] = settled.weight[lo[node] + i]
            _, as_raised = _send_down(tree, largest, rows, pile, n, None, limit, total.shape[1])
            if as_raised < 0.0:
                return j, -1
        bar = MARGIN + TIE
        if as_leaf <= as_tree + bar and as_leaf <= as_raised + bar:
            tree.kind[node] = 0
            estimate[node] = as_leaf
        elif as_raised <= as_tree + bar:
            return j, np.int64(largest)
        else:
            estimate[node] = as_tree
    return len(order), -1


@kernel(makes_arrays=True)
def spread_proba(tree, n_codes, share, value, X, out):
    """Add up, for every row, the values of the leaves it reaches, by the share that reaches each.

    ``n_codes`` has the number of categories of every column.

    n_codes (n_columns,) int64; share (n_nodes,) float64; value (n_nodes, n_classes) float64; X
    (n_rows, n_columns) float64; out (n_rows, n_classes) float64, written.
    """
    stack, part = np.empty(len(tree.kind), np.int64), np.empty(len(tree.kind))
    for i in range(len(X)):
        for c in range(value.shape[1]):
            out[i, c] = 0.0
        stack[0], part[0] = 0, 1.0
        height = 1
        while height:
            height -= 1
            node, w = stack[height], part[height]
            while tree.kind[node]:
                f = tree.feature[node]
                v = answer(tree, node, X[i, f], n_codes[f])
                if v < 0:
                    break
                node = tree.first_child[node] + v
            if tree.kind[node] == LEAF:
                for c in range(value.shape[1]):
                    out[i, c] += w * value[node, c]
                continue
            first = tree.first_child[node]
            for child in range(first, first + tree.n_children[node]):
                if share[child] > 0.0:
                    stack[height], part[height] = child, w * share[child]
                    height += 1
