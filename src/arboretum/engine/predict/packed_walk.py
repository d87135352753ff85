"""Walking rows down all trees of a model at once, the whole model being one array of words.

Every array that is passed makes a call from Python slower, and predicting a row takes no longer than a call.
So the whole model lies in one array. Twelve trees are walked side by side, which hides the wait for memory.

    words    0 … 7      sizes (below), and the divisor of the sums
             8 …        root of every tree, padded with a leaf to full groups of twelve (see pack_trees)
                        output that the first number of every tree is added to
                        start of every output
                        two words for every node, its link and its threshold:
                            child << 32 | set << 31 | column << 1 | missing side
                            the threshold, or where the node's set of categories begins
                        categories of every column, as a float         (with sets only)
                        sets of categories, two words of bits in each  (with sets only)
                        the k numbers that every node adds

Nodes are counted over all trees and identified by their first word. A leaf leads to itself, as in the walk
down one tree (walk.py); every other step leads to a larger number.

The values of a row are stored twice, so that a step is one comparison, wherever missing values go:

    row      1.5        NaN
    twice    1.5 1.5    -inf NaN      -inf is above no threshold, NaN is at most none
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel, subkernel

__all__ = ["DIVISOR", "HEAD", "N_COLUMNS", "N_NODES", "N_OUTPUTS", "N_ROOTS", "N_TREES", "N_WORDS"]
__all__ += ["SIDE_BY_SIDE", "WIDTH", "add_packed", "answer_packed", "find_packed"]

N_TREES, N_ROOTS, WIDTH, N_NODES, N_COLUMNS, N_WORDS, N_OUTPUTS, DIVISOR, HEAD = range(9)
SIDE_BY_SIDE = 12
_ALL, _CHILD, _SET = np.uint64(SIDE_BY_SIDE), np.uint64(32), np.uint64(31)
_PLACE, _LOW = np.uint64(0x7FFFFFFF), np.uint64(31)
_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11 = (np.uint64(k) for k in range(12))


@subkernel
def _lay_twice(flat, row, twice):
    """Store the values of a row, which begin at ``row``, for splits that send missing values left, and right.

    flat (n_rows * n_columns,) float64; twice (2 * n_columns,) float64, written.
    """
    for column in range(np.uint64(len(twice)) >> _1):
        x = flat[row + column]
        twice[column << _1] = x if x == x else -np.inf
        twice[(column << _1) | _1] = x


@inline
def _step(links, cuts, node, twice):
    """Return the node a row goes to.

    links (2 * n_nodes,) uint64; cuts (2 * n_nodes,) float64; twice (2 * n_columns,) float64.
    """
    here = links[node]
    right = np.uint64(not (twice[here & _PLACE] <= cuts[node + _1]))
    return (here >> _CHILD) + (right << _1)


@subkernel
def _step_set(links, cuts, n_codes, bits, node, twice):
    """`_step` where the node may split on a set; a code that does not exist is treated as missing.

    links (2 * n_nodes,) uint64; cuts (2 * n_nodes,) float64; n_codes (n_columns,) float64; bits
    (2 * n_words,) uint32; twice (2 * n_columns,) float64.
    """
    here, cut = links[node], cuts[node + _1]
    side = here & _1
    if (here >> _SET) & _1:
        column = (here & _PLACE) >> _1
        x = twice[(column << _1) | _1]
        if x >= 0.0 and x < n_codes[column]:
            code = np.uint64(x)
            word = bits[np.uint64(cut) + (code >> _5)]
            side = ((np.uint64(word) >> (code & _LOW)) & _1) ^ _1
    else:
        side = np.uint64(not (twice[here & _PLACE] <= cut))
    return (here >> _CHILD) + (side << _1)


@subkernel
def _walk_sets(roots, links, cuts, n_codes, bits, twice, leaves):
    """Write the leaf of a row in every tree, where some split on sets of categories.

    roots (n_roots,) uint64; links (2 * n_nodes,) uint64; cuts (2 * n_nodes,) float64; n_codes
    (n_columns,) float64; bits (2 * n_words,) uint32; twice (2 * n_columns,) float64; leaves
    (n_roots,) uint64, written.
    """
    for tree in range(len(roots)):
        node = roots[tree]
        before = node + _1
        while node != before:
            before = node
            node = _step_set(links, cuts, n_codes, bits, node, twice)
        leaves[tree] = node >> _1


@subkernel
def _walk_side_by_side(roots, links, cuts, twice, leaves):
    """Write the leaf of a row in every tree, of twelve trees at a time.

    roots (n_roots,) uint64; links (2 * n_nodes,) uint64; cuts (2 * n_nodes,) float64; twice
    (2 * n_columns,) float64; leaves (n_roots,) uint64, written.
    """
    n_roots = np.uint64(len(roots))
    t = _0
    while t + _ALL <= n_roots:
        a, b, c, d = roots[t], roots[t + _1], roots[t + _2], roots[t + _3]
        e, f, g, h = roots[t + _4], roots[t + _5], roots[t + _6], roots[t + _7]
        i, j, k, m = roots[t + _8], roots[t + _9], roots[t + _10], roots[t + _11]
        moving = True
        while moving:
            before = _0
            for _ in range(2):
                before = a + b + c + d + e + f + g + h + i + j + k + m
                a = _step(links, cuts, a, twice)
                b = _step(links, cuts, b, twice)
                c = _step(links, cuts, c, twice)
                d = _step(links, cuts, d, twice)
                e = _step(links, cuts, e, twice)
                f = _step(links, cuts, f, twice)
                g = _step(links, cuts, g, twice)
                h = _step(links, cuts, h, twice)
                i = _step(links, cuts, i, twice)
                j = _step(links, cuts, j, twice)
                k = _step(links, cuts, k, twice)
                m = _step(links, cuts, m, twice)
            moving = a + b + c + d + e + f + g + h + i + j + k + m != before
        leaves[t], leaves[t + _1], leaves[t + _2], leaves[t + _3] = a, b, c, d
        leaves[t + _4], leaves[t + _5], leaves[t + _6], leaves[t + _7] = e, f, g, h
        leaves[t + _8], leaves[t + _9], leaves[t + _10], leaves[t + _11] = i, j, k, m
        t += _ALL
    while t < n_roots:
        node = roots[t]
        last = node + _1
        while node != last:
            last = node
            node = _step(links, cuts, node, twice)
        leaves[t] = node
        t += _1
    for tree in range(len(roots)):
        leaves[tree] >>= _1


@inline
def _parts(model):
    """Return roots, links, thresholds, numbers of categories, sets, and where the numbers of nodes begin.

    model (n_model_words,) uint64, as at the top.
    """
    n_roots, n_nodes = np.int64(model[N_ROOTS]), np.int64(model[N_NODES])
    n_columns, n_words = np.int64(model[N_COLUMNS]), np.int64(model[N_WORDS])
    numbers = model.view(np.float64)
    at = HEAD + n_roots + np.int64(model[N_TREES]) + np.int64(model[N_OUTPUTS])
    links, cuts = model[at : at + 2 * n_nodes], numbers[at : at + 2 * n_nodes]
    at += 2 * n_nodes
    n_codes = numbers[at : at + n_columns]
    at += n_columns
    bits = model[at : at + n_words].view(np.uint32)
    return model[HEAD : HEAD + n_roots], links, cuts, n_codes, bits, np.uint64(at + n_words)


@inline
def _walk_row(roots, links, cuts, n_codes, bits, flat, row, twice, leaves):
    """Write the leaf of a row in every tree."""
    _lay_twice(flat, row, twice)
    if len(bits):
        _walk_sets(roots, links, cuts, n_codes, bits, twice, leaves)
    else:
        _walk_side_by_side(roots, links, cuts, twice, leaves)


@subkernel
def _find_rows(model, X, twice, leaves, found):
    """Write the leaf of every row in every tree.

    model (n_model_words,) uint64; X (n_rows, n_columns) float64; twice (2 * n_columns,) float64,
    scratch; leaves (n_roots,) uint64, scratch; found (n_rows, n_trees) uint64, written.
    """
    roots, links, cuts, n_codes, bits, _ = _parts(model)
    flat, width = X.reshape(X.size), np.uint64(X.shape[1])
    for i in range(len(X)):
        row = np.uint64(i) * width
        _walk_row(roots, links, cuts, n_codes, bits, flat, row, twice, leaves)
        for tree in range(found.shape[1]):
            found[i, tree] = leaves[tree]


@subkernel
def _add_rows(model, X, twice, leaves, sums, n_outputs):
    """Add the numbers of the leaves of every row to its sums, tree after tree.

    model (n_model_words,) uint64; X (n_rows, n_columns) float64; twice (2 * n_columns,) float64,
    scratch; leaves (n_roots,) uint64, scratch; sums (n_rows * n_outputs,) float64, added to.
    """
    roots, links, cuts, n_codes, bits, first = _parts(model)
    values, k, n_trees = model.view(np.float64), np.uint64(model[WIDTH]), np.uint64(model[N_TREES])
    outputs = np.uint64(HEAD) + np.uint64(model[N_ROOTS])
    flat, width = X.reshape(X.size), np.uint64(X.shape[1])
    for i in range(len(X)):
        row, at = np.uint64(i) * width, np.uint64(i) * n_outputs
        _walk_row(roots, links, cuts, n_codes, bits, flat, row, twice, leaves)
        if n_outputs == _1:
            told = sums[at]
            for tree in range(n_trees):
                told += values[first + leaves[tree]]
            sums[at] = told
        else:
            for tree in range(n_trees):
                here, place = at + model[outputs + tree], first + leaves[tree] * k
                for c in range(k):
                    sums[here + c] += values[place + c]


@kernel(makes_arrays=True)
def find_packed(model, X, leaves):
    """Write the leaf of every row in every tree, (rows, trees), counted over all trees' nodes.

    model (n_model_words,) uint64; X (n_rows, n_columns) float64; leaves (n_rows, n_trees) uint64,
    written.
    """
    twice, found = np.empty(2 * X.shape[1]), np.empty(np.int64(model[N_ROOTS]), np.uint64)
    _find_rows(model, X, twice, found, leaves)


@kernel(makes_arrays=True)
def add_packed(model, X, total):
    """Add the numbers of the leaves of every row to ``total``, (rows, outputs), tree after tree.

    model (n_model_words,) uint64; X (n_rows, n_columns) float64; total (n_rows, n_outputs) float64,
    added to.
    """
    twice, leaves = np.empty(2 * X.shape[1]), np.empty(np.int64(model[N_ROOTS]), np.uint64)
    _add_rows(model, X, twice, leaves, total.ravel(), np.uint64(total.shape[1]))


@kernel(makes_arrays=True)
def answer_packed(model, X, answers):
    """Write the combined answers for every row, (rows, outputs); the rest of ``answers`` is not written.

    model (n_model_words,) uint64; X (n_rows, n_columns) float64; answers (at least n_rows, n_outputs)
    float64, written.
    """
    twice, leaves = np.empty(2 * X.shape[1]), np.empty(np.int64(model[N_ROOTS]), np.uint64)
    sums, n_outputs = answers.ravel(), np.uint64(model[N_OUTPUTS])
    numbers, start = model.view(np.float64), np.uint64(HEAD) + model[N_ROOTS] + model[N_TREES]
    for i in range(len(X)):
        for c in range(n_outputs):
            sums[np.uint64(i) * n_outputs + c] = numbers[start + c]
    _add_rows(model, X, twice, leaves, sums, n_outputs)
    for place in range(np.uint64(len(X)) * n_outputs):
        sums[place] /= numbers[DIVISOR]
