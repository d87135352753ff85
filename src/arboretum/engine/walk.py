"""Prediction: walking rows down a tree.

In the fast walk a node is two words: its threshold, and its first child, feature and missing side packed
together. A leaf leads to itself, so a step needs no branch, and a dozen rows walk side by side, which
hides the wait for memory. Trees that ask for categories or have surrogates take the general walk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.jit import inline, kernel, leaf_kernel, subkernel

__all__ = [
    "Paths",
    "is_complete",
    "link_nodes",
    "path_general",
    "walk",
    "walk_add",
    "walk_general",
    "walk_sets",
]

THRESHOLD, SUBSET, MULTIWAY = 1, 2, 3
_CHILD, _SIDE, _FEATURE = np.uint64(32), np.uint64(31), np.uint64(0x7FFFFFFF)
_2, _3, _4 = np.uint64(2), np.uint64(3), np.uint64(4)


class Paths(NamedTuple):
    """A tree laid out for the general walk."""

    kind: np.ndarray  # uint8
    feature: np.ndarray  # int32, 0 at a leaf
    threshold: np.ndarray  # float64, +inf at a leaf
    first_child: np.ndarray  # int32, the leaf itself at a leaf
    missing_child: np.ndarray  # int32, 0 at a leaf
    bits_start: np.ndarray  # int64
    bits: np.ndarray  # uint32
    n_codes: np.ndarray  # int64, per feature; 0 for numbers
    surrogate_start: np.ndarray  # int64, or empty
    surrogate_kind: np.ndarray
    surrogate_feature: np.ndarray
    surrogate_threshold: np.ndarray
    surrogate_reverse: np.ndarray
    surrogate_bits: np.ndarray


@inline
def _answer(kind, x, threshold, bits, bits_start, n_codes):
    """Return the child a present value takes, or -1 for a code that does not exist."""
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
    """Return the child row i goes to."""
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
    """Write the leaf of every row of the C-contiguous block X."""
    for i in range(len(X)):
        node = np.int64(0)
        while tree.kind[node]:
            node = next_node(tree, node, X, i)
        out[i] = node


@leaf_kernel
def _walk_sets(
    kind, feature, threshold, first_child, missing_child, bits_start, bits, n_codes, X, out
):
    for i in range(len(X)):
        row, node = np.uint64(i), np.uint64(0)
        while kind[node]:
            f = np.uint64(feature[node])
            x = X[row, f]
            if kind[node] == THRESHOLD:
                side = np.int64(x > threshold[node]) | (np.int64(x != x) & missing_child[node])
            elif x >= 0.0 and x < np.float64(n_codes[f]):
                code = np.uint64(x)
                word = bits[np.uint64(bits_start[node]) + (code >> np.uint64(5))]
                side = np.int64(1) - np.int64(
                    (word >> np.uint32(code & np.uint64(31))) & np.uint32(1)
                )
            else:
                side = np.int64(missing_child[node])
            node = np.uint64(np.int64(first_child[node]) + side)
        out[row] = np.int64(node)


@kernel
def walk_sets(tree, X, out):
    """`walk_general` for trees of thresholds and sets of categories, without surrogates."""
    _walk_sets(
        tree.kind, tree.feature, tree.threshold, tree.first_child, tree.missing_child,
        tree.bits_start, tree.bits, tree.n_codes, X, out,
    )  # fmt: skip


@kernel
def path_general(tree, X, length, nodes):
    """Write the nodes every row passes, root first, and how many they are."""
    for i in range(len(X)):
        node, n = np.int64(0), 0
        nodes[i, 0] = 0
        while tree.kind[node]:
            node = next_node(tree, node, X, i)
            n += 1
            nodes[i, n] = node
        length[i] = n + 1


@kernel
def is_complete(X):
    """Tell whether no value of a C-contiguous block is missing."""
    flat = X.ravel()
    missing = 0
    for i in range(len(flat)):
        missing += flat[i] != flat[i]
    return missing == 0


@kernel
def link_nodes(tree, threshold, link):
    """Lay a tree of plain thresholds out for `walk`."""
    kind, feature, cut, first_child, missing_child = tree
    for node in range(len(kind)):
        leaf = kind[node] == 0
        child = node if leaf else np.int64(first_child[node])
        asked = np.int64(0) if leaf else np.int64(feature[node])
        side = np.int64(0) if leaf else np.int64(missing_child[node])
        threshold[node] = np.inf if leaf else cut[node]
        link[node] = np.uint64((child << 32) | (side << 31) | asked)


@inline
def _step(threshold, link, node, flat, row):
    """Return where a row goes whose values are all present; unsigned indices need no wrapping."""
    here = link[node]
    return (here >> _CHILD) + np.uint64(flat[row + (here & _FEATURE)] > threshold[node])


@inline
def _step_missing(threshold, link, node, flat, row):
    """`_step` where a value may be missing: it compares false with everything."""
    here = link[node]
    x = flat[row + (here & _FEATURE)]
    right = np.uint64(x > threshold[node])
    return (here >> _CHILD) + (right | (np.uint64(x != x) & (here >> _SIDE)))


@subkernel
def _walk_present(threshold, link, flat, width, out):
    """Walk twelve rows side by side until none of them moves; return how many rows were walked."""
    whole = len(out) - len(out) % 12
    for i in range(0, whole, 12):
        a = b = c = d = e = f = g = h = j = k = m = n = np.uint64(0)
        ra = np.uint64(i) * width
        rb, rc, rd = ra + width, ra + _2 * width, ra + _3 * width
        re, rf, rg, rh = rd + width, rd + _2 * width, rd + _3 * width, rd + _4 * width
        rj, rk, rm, rn = rh + width, rh + _2 * width, rh + _3 * width, rh + _4 * width
        moving = True
        while moving:
            before = np.uint64(0)
            for _ in range(4):
                before = a + b + c + d + e + f + g + h + j + k + m + n
                a = _step(threshold, link, a, flat, ra)
                b = _step(threshold, link, b, flat, rb)
                c = _step(threshold, link, c, flat, rc)
                d = _step(threshold, link, d, flat, rd)
                e = _step(threshold, link, e, flat, re)
                f = _step(threshold, link, f, flat, rf)
                g = _step(threshold, link, g, flat, rg)
                h = _step(threshold, link, h, flat, rh)
                j = _step(threshold, link, j, flat, rj)
                k = _step(threshold, link, k, flat, rk)
                m = _step(threshold, link, m, flat, rm)
                n = _step(threshold, link, n, flat, rn)
            # a step only ever leads to a larger number
            moving = a + b + c + d + e + f + g + h + j + k + m + n != before
        out[i], out[i + 1], out[i + 2], out[i + 3] = a, b, c, d
        out[i + 4], out[i + 5], out[i + 6], out[i + 7] = e, f, g, h
        out[i + 8], out[i + 9], out[i + 10], out[i + 11] = j, k, m, n
    return whole


@subkernel
def _walk_missing(threshold, link, flat, width, out):
    """`_walk_present` for rows with missing values, six at a time."""
    whole = len(out) - len(out) % 6
    for i in range(0, whole, 6):
        a = b = c = d = e = f = np.uint64(0)
        ra = np.uint64(i) * width
        rb, rc, rd = ra + width, ra + _2 * width, ra + _3 * width
        re, rf = rd + width, rd + _2 * width
        moving = True
        while moving:
            before = np.uint64(0)
            for _ in range(4):
                before = a + b + c + d + e + f
                a = _step_missing(threshold, link, a, flat, ra)
                b = _step_missing(threshold, link, b, flat, rb)
                c = _step_missing(threshold, link, c, flat, rc)
                d = _step_missing(threshold, link, d, flat, rd)
                e = _step_missing(threshold, link, e, flat, re)
                f = _step_missing(threshold, link, f, flat, rf)
            moving = a + b + c + d + e + f != before
        out[i], out[i + 1], out[i + 2] = a, b, c
        out[i + 3], out[i + 4], out[i + 5] = d, e, f
    return whole


@kernel
def walk(threshold, link, X, complete, out):
    """The fast walk: thresholds only. ``link[node]`` is child << 32 | missing << 31 | feature.

    A missing value goes to child 1 if its bit is set. A leaf leads to itself. ``complete`` says that
    no value of X is missing, which makes a step shorter.
    """
    flat, width = X.ravel(), np.uint64(X.shape[1])
    if complete:
        done = _walk_present(threshold, link, flat, width, out)
    else:
        done = _walk_missing(threshold, link, flat, width, out)
    for i in range(done, len(out)):
        node, before, row = np.uint64(0), np.uint64(1), np.uint64(i) * width
        while node != before:
            before = node
            node = _step_missing(threshold, link, node, flat, row)
        out[i] = node


@kernel
def walk_add(threshold, link, value, X, complete, leaf, total):
    """Add the value of the leaf each row reaches to ``total``; ``leaf`` is scratch, one per row."""
    walk(threshold, link, X, complete, leaf)
    for i in range(len(X)):
        node = np.uint64(leaf[i])
        for c in range(value.shape[1]):
            total[i, c] += value[node, c]
