"""Prediction: walking rows down a tree.

In the fast walk a node is two words: its threshold, or where its set of categories begins; and its first
child, feature, kind and missing side packed together. A leaf leads to itself, so a step needs no branch,
and eight rows walk side by side, which hides the wait for memory. Trees with surrogates or more than two
branches take the general walk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel, subkernel

__all__ = [
    "Paths",
    "add_values",
    "is_complete",
    "level_order",
    "link_nodes",
    "path_general",
    "walk",
    "walk_add",
    "walk_general",
    "walk_sets",
]

THRESHOLD, SUBSET, MULTIWAY = 1, 2, 3
_CHILD, _SIDE, _SET, _FEATURE = np.uint64(32), np.uint64(31), np.uint64(30), np.uint64(0x3FFFFFFF)
_1, _2, _3, _4, _5, _6, _7, _8, _31 = (np.uint64(k) for k in (1, 2, 3, 4, 5, 6, 7, 8, 31))
_TOGETHER = 480  # rows of which eight walk at a time


class Paths(NamedTuple):
    """A tree laid out for the general walk."""

    kind: np.ndarray  # (n_nodes,) uint8
    feature: np.ndarray  # (n_nodes,) int32, 0 at a leaf
    threshold: np.ndarray  # (n_nodes,) float64, +inf at a leaf
    first_child: np.ndarray  # (n_nodes,) int32, the leaf itself at a leaf
    missing_child: np.ndarray  # (n_nodes,) int32, 0 at a leaf
    bits_start: np.ndarray  # (n_nodes,) int64
    bits: np.ndarray  # (n_words,) uint32
    n_codes: np.ndarray  # (n_columns,) int64, per feature; 0 for numbers
    surrogate_start: np.ndarray  # (n_nodes + 1,) int64, or empty
    surrogate_kind: np.ndarray  # (n_surrogates,) uint8
    surrogate_feature: np.ndarray  # (n_surrogates,) int32
    surrogate_threshold: np.ndarray  # (n_surrogates,) float64
    surrogate_reverse: np.ndarray  # (n_surrogates,) uint8
    surrogate_bits: np.ndarray  # (n_surrogates,) int64


@inline
def _answer(kind, x, threshold, bits, bits_start, n_codes):
    """Return the number of the child a present value goes to, or -1 for a code that does not exist.

    bits (n_words,) uint32.
    """
    if kind == THRESHOLD:
        return np.int64(x > threshold)
    c = np.int64(x)
    if c < 0 or c >= n_codes:
        return np.int64(-1)
    if kind == MULTIWAY:
        return c
    if kind > MULTIWAY:
        return np.int64(bits[bits_start + c])
    word = bits[bits_start + (c >> 5)]
    return np.int64(1) - np.int64((word >> np.uint32(c & 31)) & np.uint32(1))


@inline
def next_node(tree, node, X, i):
    """Return the node that row i goes to.

    X (n_rows, n_columns) float64.
    """
    f = tree.feature[node]
    x = X[i, f]
    side = np.int64(-1)
    if x == x:
        side = _answer(
            tree.kind[node], x, tree.threshold[node], tree.bits, tree.bits_start[node],
            tree.n_codes[f],
        )  # fmt: skip
    if side < 0 and len(tree.surrogate_start):
        for s in range(tree.surrogate_start[node], tree.surrogate_start[node + 1]):
            f = tree.surrogate_feature[s]
            x = X[i, f]
            if x == x:
                side = _answer(
                    tree.surrogate_kind[s], x, tree.surrogate_threshold[s], tree.bits,
                    tree.surrogate_bits[s], tree.n_codes[f],
                )  # fmt: skip
                if side >= 0:
                    side ^= np.int64(tree.surrogate_reverse[s])
                    break
    if side < 0:
        side = np.int64(tree.missing_child[node])
    return tree.first_child[node] + side


@kernel
def walk_general(tree, X, out):
    """Write the leaf of every row of the C-contiguous block X.

    X (n_rows, n_columns) float64; out (n_rows,) int64, written.
    """
    for i in range(len(X)):
        node = np.int64(0)
        while tree.kind[node]:
            node = next_node(tree, node, X, i)
        out[i] = node


@kernel
def path_general(tree, X, length, nodes):
    """Write the nodes every row passes, root first, and their number.

    X (n_rows, n_columns) float64; length (n_rows,) int64, written; nodes (n_rows, most levels) int32,
    written.
    """
    for i in range(len(X)):
        node, n = np.int64(0), 0
        nodes[i, 0] = 0
        while tree.kind[node]:
            node = next_node(tree, node, X, i)
            n += 1
            nodes[i, n] = node
        length[i] = n + 1


@kernel
def level_order(kind, first_child, n_children, order):
    """Write the nodes that can be reached from the root, level by level; return their number.

    kind (n_nodes,) uint8; first_child, n_children (n_nodes,) int32; order (n_nodes,) int64, written.
    """
    order[0], end = 0, np.int64(1)
    at = np.int64(0)
    while at < end:
        node = order[at]
        at += 1
        if kind[node]:
            for c in range(n_children[node]):
                order[end] = first_child[node] + c
                end += 1
    return end


@kernel(makes_arrays=True)
def is_complete(X):
    """Return whether no value of a C-contiguous block is missing.

    X (n_rows, n_columns) float64.
    """
    flat = X.ravel()
    missing = 0
    for i in range(len(flat)):
        missing += flat[i] != flat[i]
    return missing == 0


@kernel
def link_nodes(tree, threshold, link):
    """Lay a tree of thresholds and sets of categories out for `walk` and `walk_sets`.

    tree (kind, feature, cut, first_child, missing_child, bits_start) uint8, int32, float64, int32,
    int32 and int64, each (n_nodes,); threshold (n_nodes,) float64, written; link (n_nodes,) uint64,
    written.
    """
    kind, feature, cut, first_child, missing_child, bits_start = tree
    for node in range(len(kind)):
        leaf = kind[node] == 0
        child = node if leaf else np.int64(first_child[node])
        asked = np.int64(0) if leaf else np.int64(feature[node])
        side = np.int64(0) if leaf else np.int64(missing_child[node])
        is_set = np.int64(kind[node] == SUBSET)
        threshold[node] = np.inf if leaf else cut[node]
        if is_set:
            threshold[node] = np.float64(bits_start[node])
        link[node] = np.uint64((child << 32) | (side << 31) | (is_set << 30) | asked)


@inline
def _step(threshold, link, node, flat, row):
    """Return the node a row without missing values goes to; unsigned indices need no wrapping.

    threshold (n_nodes,) float64; link (n_nodes,) uint64; flat (n_rows * n_columns,) float64.
    """
    here = link[node]
    return (here >> _CHILD) + np.uint64(flat[row + (here & _FEATURE)] > threshold[node])


@inline
def _step_missing(threshold, link, node, flat, row):
    """`_step` where a value may be missing: it compares false with everything.

    threshold (n_nodes,) float64; link (n_nodes,) uint64; flat (n_rows * n_columns,) float64.
    """
    here = link[node]
    x = flat[row + (here & _FEATURE)]
    right = np.uint64(x > threshold[node])
    return (here >> _CHILD) + (right | (np.uint64(x != x) & (here >> _SIDE)))


@inline
def _step_set(threshold, link, bits, n_codes, node, flat, row):
    """`_step_missing` where a node may split on a set; both cases are computed, and one is masked.

    A code that does not exist is treated like a missing value.

    threshold (n_nodes,) float64; link (n_nodes,) uint64; bits (n_words,) uint32; n_codes (n_columns,)
    float64; flat (n_rows * n_columns,) float64.
    """
    here, cut = link[node], threshold[node]
    f = here & _FEATURE
    x, is_set = flat[row + f], (here >> _SET) & _1
    exists = np.uint64(x >= 0.0) & np.uint64(x < n_codes[f])
    look = (exists & is_set) == _1
    code = np.uint64(np.int64(x if look else 0.0))
    word = bits[np.uint64(np.int64(cut if look else 0.0)) + (code >> _5)]
    outside = ((np.uint64(word) >> (code & _31)) & _1) ^ _1
    missing = (is_set & (exists ^ _1)) | np.uint64(x != x)
    right = (is_set & exists & outside) | ((is_set ^ _1) & np.uint64(x > cut))
    return (here >> _CHILD) + (right | (missing & (here >> _SIDE) & _1))


@inline
def _step_any(threshold, link, bits, n_codes, gaps, node, flat, row):
    """Take the fastest step: ``bits`` is None without sets, ``gaps`` is None where no value is missing."""
    if bits is not None:
        return _step_set(threshold, link, bits, n_codes, node, flat, row)
    if gaps is not None:
        return _step_missing(threshold, link, node, flat, row)
    return _step(threshold, link, node, flat, row)


@inline
def _keep(link, node, row, out, rows, nodes, left):
    """Write the node of a row, and put it back on the list unless that is a leaf; return the list's length.

    link (n_nodes,) uint64; out (n_rows,) int64, written; rows, nodes (_TOGETHER + 8,) uint64, written.
    """
    out[row], rows[left], nodes[left] = node, row, node
    return left + np.uint64(link[node] >> _CHILD != node)


@subkernel(makes_arrays=True)
def _walk_rows(threshold, link, bits, n_codes, gaps, flat, width, out):
    """Walk eight rows side by side for some steps; rows that have reached a leaf are replaced by others.

    Leaves lie at different depths: waiting for the deepest of eight rows would take half as many steps again.
    """
    rows, nodes = np.empty(_TOGETHER + 8, np.uint64), np.empty(_TOGETHER + 8, np.uint64)
    at_once = np.int64(4)  # steps after which a third are in a leaf, measured on the first rows
    for first in range(0, len(out), _TOGETHER):
        many, steps, done = np.uint64(min(_TOGETHER, len(out) - first)), at_once, at_once
        for i in range(many):
            rows[i], nodes[i] = np.uint64(first) + i, np.uint64(0)
        while many:
            for i in range(many, many + _7):  # the last row fills the places that are left
                rows[i], nodes[i] = rows[many - _1], nodes[many - _1]
            left = np.uint64(0)
            for i in range(np.uint64(0), many, _8):
                a, ra = nodes[i], rows[i]
                b, rb = nodes[i + _1], rows[i + _1]
                c, rc = nodes[i + _2], rows[i + _2]
                d, rd = nodes[i + _3], rows[i + _3]
                e, re = nodes[i + _4], rows[i + _4]
                f, rf = nodes[i + _5], rows[i + _5]
                g, rg = nodes[i + _6], rows[i + _6]
                h, rh = nodes[i + _7], rows[i + _7]
                for _ in range(steps):
                    a = _step_any(threshold, link, bits, n_codes, gaps, a, flat, ra * width)
                    b = _step_any(threshold, link, bits, n_codes, gaps, b, flat, rb * width)
                    c = _step_any(threshold, link, bits, n_codes, gaps, c, flat, rc * width)
                    d = _step_any(threshold, link, bits, n_codes, gaps, d, flat, rd * width)
                    e = _step_any(threshold, link, bits, n_codes, gaps, e, flat, re * width)
                    f = _step_any(threshold, link, bits, n_codes, gaps, f, flat, rf * width)
                    g = _step_any(threshold, link, bits, n_codes, gaps, g, flat, rg * width)
                    h = _step_any(threshold, link, bits, n_codes, gaps, h, flat, rh * width)
                left = _keep(link, a, ra, out, rows, nodes, left)
                left = _keep(link, b, rb, out, rows, nodes, left)
                left = _keep(link, c, rc, out, rows, nodes, left)
                left = _keep(link, d, rd, out, rows, nodes, left)
                left = _keep(link, e, re, out, rows, nodes, left)
                left = _keep(link, f, rf, out, rows, nodes, left)
                left = _keep(link, g, rg, out, rows, nodes, left)
                left = _keep(link, h, rh, out, rows, nodes, left)
            if first == 0 and 3 * left > 2 * _TOGETHER:
                at_once = done + 4
            many, steps, done = left, np.int64(4), done + 4


@kernel(makes_arrays=True)
def walk_sets(threshold, link, bits, n_codes, X, out):
    """`walk` for trees that also split on sets of categories; ``n_codes``: float64, per column."""
    _walk_rows(threshold, link, bits, n_codes, None, X.ravel(), np.uint64(X.shape[1]), out)


@kernel(makes_arrays=True)
def walk(threshold, link, X, complete, out):
    """The fast walk: thresholds only. ``link[node]`` is child << 32 | missing << 31 | set << 30 | feature.

    A missing value goes to child 1 if its bit is set. A leaf leads to itself. ``complete`` promises
    that no value of X is missing, which makes a step faster.

    threshold (n_nodes,) float64; link (n_nodes,) uint64; X (n_rows, n_columns) float64; out (n_rows,)
    int64, written.
    """
    flat, width = X.ravel(), np.uint64(X.shape[1])
    if complete:
        _walk_rows(threshold, link, None, None, None, flat, width, out)
    else:
        _walk_rows(threshold, link, None, None, True, flat, width, out)


@kernel(makes_arrays=True)
def walk_add(threshold, link, value, X, complete, leaf, total):
    """Add the value of the leaf each row reaches to ``total``; ``leaf`` is scratch, one per row.

    threshold (n_nodes,) float64; link (n_nodes,) uint64; value (n_nodes, n_outputs) float64; X
    (n_rows, n_columns) float64; leaf (n_rows,) int64; total (n_rows, n_outputs) float64, added to.
    """
    walk(threshold, link, X, complete, leaf)
    add_values(value, leaf, total)


@kernel
def add_values(value, leaf, total):
    """Add ``value[leaf]`` to ``total``.

    value (n_nodes, n_outputs) float64; leaf (n_rows,) int64; total (n_rows, n_outputs) float64, added
    to.
    """
    if value.shape[1] == 2:  # probabilities of two classes: no loop for two numbers
        for i in range(len(leaf)):
            node = np.uint64(leaf[i])
            total[i, 0] += value[node, 0]
            total[i, 1] += value[node, 1]
        return
    for i in range(len(leaf)):
        node = np.uint64(leaf[i])
        for c in range(value.shape[1]):
            total[i, c] += value[node, c]
