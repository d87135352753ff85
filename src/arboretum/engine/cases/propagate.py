"""Cases sent down a tree that stands: who ends where, and how many errors that makes.

A depth-first walk carries the cases of one node at a time. They lie on top of a pile: the node's
cases are replaced by those of its children, the last child uppermost, and that one is next:

    pile   │ child 0 │ child 1 │ child 2 │ <- top          child 2 is divided in its place,
                                                           then child 1, then child 0

so the pile never holds more than the cases, plus the copies of those that miss a value. The shares by
which missing values are spread are those of the cases on the way, or the tree's own.
"""

import numpy as np

from arboretum.engine.cases.cases import TIE, answer, find_branches
from arboretum.engine.cases.error_limit import extra_errors
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.kinds import LEAF

__all__ = ["prune_upwards", "settle", "spread_proba"]

MARGIN = 0.1  # of errors: Quinlan lets the simpler tree be this much worse


@inline(makes_arrays=True)
def _divide(tree, node, values, row, weight, a, b, own, copy_row, copy_weight, branch, ends):
    """Replace the cases a:b by those of the node's children; return the new top, -1 if room is short.

    ``own``: the tree's own share of each node, or an empty array: the shares of these cases. Child v
    has the cases from ``ends[v]`` to ``ends[v + 1]``.

    row (room,) uint32, updated; weight (room,) float64, updated; own (n_nodes,) float64; copy_row (room,)
    uint32, scratch; copy_weight (room,) float64, scratch; branch (room,) int32, scratch; ends
    (n_children + 1,) int64, written.
    """
    first, children = tree.first_child[node], tree.n_children[node]
    share = np.zeros(children)
    for v in range(children + 1):
        ends[v] = 0
    missed, known = 0, 0.0
    find_branches(tree, node, values, row, a, b, branch)
    for i in range(a, b):
        copy_row[i - a], copy_weight[i - a] = row[i], weight[i]
        v = branch[i - a]
        if v < 0:
            missed += 1
        else:
            ends[v + 1] += 1
            share[v] += weight[i]
            known += weight[i]
    for v in range(children):
        share[v] = own[first + v] if len(own) else (share[v] / known if known > 0.0 else 0.0)
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
            row[at[v]], weight[at[v]] = copy_row[i], copy_weight[i]
            at[v] += 1
            continue
        for u in range(children):
            if share[u] > 0.0:
                row[at[u]], weight[at[u]] = copy_row[i], copy_weight[i] * share[u]
                at[u] += 1
    return np.int64(top)


@kernel(makes_arrays=True)
def settle(
    tree,
    root,
    values,
    label,
    row,
    weight,
    n,
    own,
    copies,
    out_row,
    out_weight,
    lo,
    hi,
    count,
    total,
):
    """Send the cases row[:n], weight[:n] down the branch at ``root``.

    Writes the class weights and the number of cases of every node met to ``total`` and ``count``, the
    cases at the leaves, last leaf first, to ``out_row`` and ``out_weight``, where those of a node begin
    there to ``lo``, and where those of a leaf end to ``hi``. Returns how many they are, or -1 if there
    is not enough room; ``row`` and ``weight`` are used up either way.

    label (n_rows,) int32; row (room,) uint32; weight (room,) float64; own (n_nodes,) float64, or empty;
    copies (row, weight, branch) (room,) uint32, float64 and int32, scratch; out_row (room,) uint32,
    written; out_weight (room,) float64, written; lo, hi (n_nodes,) uint32, written; count (n_nodes,)
    int64, written; total (n_nodes, n_classes) float64, written.
    """
    copy_row, copy_weight, branch = copies
    most = 1
    for node in range(len(tree.kind)):
        most = max(most, tree.n_children[node])
    ends = np.empty(most + 1, np.int64)
    stack = np.empty(len(tree.kind) + 1, np.int64)
    begin, end = np.empty_like(stack), np.empty_like(stack)
    stack[0], begin[0], end[0] = root, 0, n
    height, done = 1, 0
    while height:
        height -= 1
        node, a, b = stack[height], begin[height], end[height]
        lo[node], count[node] = done, b - a
        for c in range(total.shape[1]):
            total[node, c] = 0.0
        for i in range(a, b):
            total[node, label[row[i]]] += weight[i]
        if tree.kind[node] == LEAF:
            if done + b - a > len(out_row):
                return -1
            for i in range(a, b):
                out_row[done], out_weight[done] = row[i], weight[i]
                done += 1
            hi[node] = done
            continue
        top = _divide(
            tree, node, values, row, weight, a, b, own, copy_row, copy_weight, branch, ends
        )
        if top < 0:
            return -1
        for v in range(tree.n_children[node]):
            stack[height], begin[height], end[height] = (
                tree.first_child[node] + v, ends[v], ends[v + 1],
            )  # fmt: skip
            height += 1
    return done


@subkernel(makes_arrays=True)
def _estimate(tree, root, values, label, row, weight, n, copies, classes, how):
    """Return the pessimistic errors of the branch at ``root`` on some cases, or -1 for lack of room.

    label (n_rows,) int32; row (room,) uint32, used up; weight (room,) float64, used up; copies
    (row, weight, branch, ends, stack, begin, end) scratch: (room,) uint32, float64 and int32, then
    four int64 with a place per node.
    """
    copy_row, copy_weight, branch, ends, stack, begin, end = copies
    counts, none = np.empty(classes), np.empty(0)
    stack[0], begin[0], end[0] = root, 0, n
    height, errors = 1, 0.0
    while height:
        height -= 1
        node, a, b = stack[height], begin[height], end[height]
        if tree.kind[node] == LEAF:
            for c in range(classes):
                counts[c] = 0.0
            for i in range(a, b):
                counts[label[row[i]]] += weight[i]
            errors += leaf_errors(counts, how)
            continue
        if a == b:
            continue
        top = _divide(
            tree, node, values, row, weight, a, b, none, copy_row, copy_weight, branch, ends
        )
        if top < 0:
            return -1.0
        for v in range(tree.n_children[node]):
            stack[height], begin[height], end[height] = (
                tree.first_child[node] + v, ends[v], ends[v + 1],
            )  # fmt: skip
            height += 1
    return errors


@subkernel
def leaf_errors(counts, how):
    """Return the pessimistic errors of a leaf with these class weights.

    counts (n_classes,) float64.
    """
    n, most = 0.0, 0.0
    for c in range(len(counts)):
        n += counts[c]
        most = max(most, counts[c])
    return n - most + extra_errors(n, n - most, how)


@kernel(makes_arrays=True)
def prune_upwards(
    tree, order, begin_at, values, label, cases, lo, hi, total, raising, how, estimate, pile, copies
):
    """Decide the nodes ``order[begin_at:]`` of a tree, children before parents.

    A node becomes a leaf if that is at most `MARGIN` errors worse than its branches and than its
    largest branch in its place. Returns (place in ``order``, child to raise) at the first node whose
    largest branch is to take its place, (len(order), -1) at the end, and (place, -1) if room is short.

    order (n_nodes,) int64; label (n_rows,) int32; cases (row, weight) (n_cases,) uint32 and float64; lo,
    hi (n_nodes,) uint32, ``hi`` updated; total (n_nodes, n_classes) float64; estimate (n_nodes,)
    float64, written; pile (row, weight) (room,) uint32 and float64, scratch; copies
    (row, weight, branch, ends, stack, begin, end) as in `_estimate`.
    """
    case_row, case_weight = cases
    row, weight = pile
    classes = total.shape[1]
    for j in range(begin_at, len(order)):
        node = order[j]
        as_leaf = leaf_errors(total[node], how)
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
            if n > len(row):
                return j, -1
            for i in range(n):
                row[i], weight[i] = case_row[lo[node] + i], case_weight[lo[node] + i]
            as_raised = _estimate(
                tree, largest, values, label, row, weight, n, copies, classes, how
            )
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
