"""Prediction: walking rows down a tree.

In the fast walk a node is two words: its threshold, and its first child, feature and missing side packed
together. A leaf leads to itself, so a step needs no branch, and eight rows walk side by side, which
hides the wait for memory. Trees that ask for categories or have surrogates take the general walk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.jit import inline, kernel

__all__ = ["Paths", "path_general", "walk", "walk_add", "walk_general"]

THRESHOLD, SUBSET, MULTIWAY = 1, 2, 3


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


@inline
def _step(threshold, link, node, X, i):
    here = link[node]
    x = X[i, (here >> 1) & 0x7FFFFFFF]
    right = np.int64(x > threshold[node]) | (np.int64(x != x) & here & 1)
    return (here >> 32) + right


@inline
def _walk_eight(threshold, link, X, i):
    """Walk eight rows side by side, until none of them moves; return their leaves."""
    a = b = c = d = e = f = g = h = np.int64(0)
    moving = True
    while moving:
        for _ in range(4):
            before = a + b + c + d + e + f + g + h
            a = _step(threshold, link, a, X, i)
            b = _step(threshold, link, b, X, i + 1)
            c = _step(threshold, link, c, X, i + 2)
            d = _step(threshold, link, d, X, i + 3)
            e = _step(threshold, link, e, X, i + 4)
            f = _step(threshold, link, f, X, i + 5)
            g = _step(threshold, link, g, X, i + 6)
            h = _step(threshold, link, h, X, i + 7)
        # a step only ever leads to a larger number
        moving = a + b + c + d + e + f + g + h != before
    return a, b, c, d, e, f, g, h


@inline
def _walk_one(threshold, link, X, i):
    node, before = np.int64(0), np.int64(-1)
    while node != before:
        before = node
        node = _step(threshold, link, node, X, i)
    return node


@kernel
def walk(threshold, link, X, out):
    """The fast walk: thresholds only. ``link[node]`` is first child << 32 | feature << 1 | missing.

    A missing value compares false with everything, so it needs its own bit: child 1 if set. A leaf
    leads to itself.
    """
    n = len(X)
    whole = n - n % 8
    for i in range(0, whole, 8):
        a, b, c, d, e, f, g, h = _walk_eight(threshold, link, X, i)
        out[i], out[i + 1], out[i + 2], out[i + 3] = a, b, c, d
        out[i + 4], out[i + 5], out[i + 6], out[i + 7] = e, f, g, h
    for i in range(whole, n):
        out[i] = _walk_one(threshold, link, X, i)


@kernel
def walk_add(threshold, link, value, X, leaf, total):
    """Add the value of the leaf each row reaches to ``total``; ``leaf`` is scratch, one per row."""
    walk(threshold, link, X, leaf)
    for i in range(len(X)):
        for c in range(value.shape[1]):
            total[i, c] += value[leaf[i], c]
