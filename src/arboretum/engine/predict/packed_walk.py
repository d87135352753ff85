"""Walking rows down all trees of a model at once, the whole model being one array of words.

A call from Python takes longer for every array that is handed over, and a row takes no longer than a call: so
all that is asked of a model lies in one array, and eight trees are walked side by side, which hides the wait
for memory.

    words    0 … 7      sizes (below)
             8 …        root of every tree, counted over all nodes
                        output that the first number of every tree is added to
                        link of every node: child << 32 | missing side << 31 | set << 30 | column
                        threshold of every node, or where its set of categories begins
                        categories of every column, as a float         (with sets only)
                        sets of categories, two words of bits in each  (with sets only)
                        what every node adds: k numbers

A leaf leads to itself, as in the walk down one tree (walk.py), and a step only ever leads to a larger number.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.jit import inline, kernel, leaf_kernel

__all__ = ["HEAD", "N_COLUMNS", "N_NODES", "N_TREES", "N_WORDS", "WIDTH"]
__all__ += ["add_packed", "find_packed"]

N_TREES, WIDTH, N_NODES, N_COLUMNS, N_WORDS, HEAD = 0, 1, 2, 3, 4, 8
_EIGHT = np.uint64(8)
_CHILD, _SIDE, _SET, _FEATURE = np.uint64(32), np.uint64(31), np.uint64(30), np.uint64(0x3FFFFFFF)
_0, _1, _2, _3, _4, _5, _6, _7 = (np.uint64(k) for k in range(8))
_LOW = np.uint64(31)


@inline
def _step(links, cuts, node, flat, row):
    """Return where a row goes; a missing value compares false with everything."""
    here = links[node]
    x = flat[row + (here & _FEATURE)]
    right = np.uint64(x > cuts[node])
    return (here >> _CHILD) + (right | (np.uint64(x != x) & (here >> _SIDE)))


@leaf_kernel
def _step_set(links, cuts, n_codes, bits, node, flat, row):
    """`_step` where the node may ask for a set; a code that does not exist goes where missing values go."""
    here, cut = links[node], cuts[node]
    column = here & _FEATURE
    x = flat[row + column]
    side = (here >> _SIDE) & _1
    if (here >> _SET) & _1:
        if x >= 0.0 and x < n_codes[column]:
            code = np.uint64(x)
            word = bits[np.uint64(cut) + (code >> _5)]
            side = ((np.uint64(word) >> (code & _LOW)) & _1) ^ _1
    elif x == x:
        side = np.uint64(x > cut)
    return (here >> _CHILD) + side


@leaf_kernel
def _walk_sets(roots, links, cuts, n_codes, bits, flat, row, leaves):
    """Write the leaf of a row in every tree, where some ask for sets of categories."""
    for tree in range(len(roots)):
        node = roots[tree]
        before = node + _1
        while node != before:
            before = node
            node = _step_set(links, cuts, n_codes, bits, node, flat, row)
        leaves[tree] = node


@leaf_kernel
def _walk_eight(roots, links, cuts, flat, row, leaves):
    """Write the leaf of a row in every tree, of eight trees at a time."""
    n_trees = np.uint64(len(roots))
    t = _0
    while t + _EIGHT <= n_trees:
        a, b, c, d = roots[t], roots[t + _1], roots[t + _2], roots[t + _3]
        e, f, g, h = roots[t + _4], roots[t + _5], roots[t + _6], roots[t + _7]
        moving = True
        while moving:
            before = _0
            for _ in range(2):
                before = a + b + c + d + e + f + g + h
                a = _step(links, cuts, a, flat, row)
                b = _step(links, cuts, b, flat, row)
                c = _step(links, cuts, c, flat, row)
                d = _step(links, cuts, d, flat, row)
                e = _step(links, cuts, e, flat, row)
                f = _step(links, cuts, f, flat, row)
                g = _step(links, cuts, g, flat, row)
                h = _step(links, cuts, h, flat, row)
            moving = a + b + c + d + e + f + g + h != before
        leaves[t], leaves[t + _1], leaves[t + _2], leaves[t + _3] = a, b, c, d
        leaves[t + _4], leaves[t + _5], leaves[t + _6], leaves[t + _7] = e, f, g, h
        t += _EIGHT
    while t < n_trees:
        node = roots[t]
        last = node + _1
        while node != last:
            last = node
            node = _step(links, cuts, node, flat, row)
        leaves[t] = node
        t += _1


@inline
def _parts(model):
    """Return the arrays that a model is made of; those of sets are empty if it has none."""
    n_trees, n_nodes = np.int64(model[N_TREES]), np.int64(model[N_NODES])
    n_columns, n_words = np.int64(model[N_COLUMNS]), np.int64(model[N_WORDS])
    numbers = model.view(np.float64)
    at = HEAD + 2 * n_trees
    roots, outputs = model[HEAD : HEAD + n_trees], model[HEAD + n_trees : at]
    links, cuts = model[at : at + n_nodes], numbers[at + n_nodes : at + 2 * n_nodes]
    at += 2 * n_nodes
    n_codes = numbers[at : at + n_columns]
    at += n_columns
    bits = model[at : at + n_words].view(np.uint32)
    return roots, outputs, links, cuts, n_codes, bits, numbers[at + n_words :]


@kernel
def find_packed(model, X, leaves):
    """Write the leaf of every row in every tree, (rows, trees), counted over all trees' nodes."""
    roots, _, links, cuts, n_codes, bits, _ = _parts(model)
    flat, width = X.ravel(), np.uint64(X.shape[1])
    for i in range(len(X)):
        row = np.uint64(i) * width
        if len(bits):
            _walk_sets(roots, links, cuts, n_codes, bits, flat, row, leaves[i])
        else:
            _walk_eight(roots, links, cuts, flat, row, leaves[i])


@kernel
def add_packed(model, X, total):
    """Add what the leaves of every row say to ``total``, (rows, outputs), tree after tree."""
    roots, outputs, links, cuts, n_codes, bits, values = _parts(model)
    k = np.uint64(model[WIDTH])
    flat, width = X.ravel(), np.uint64(X.shape[1])
    sums, n_outputs = total.ravel(), np.uint64(total.shape[1])
    leaves = np.empty(len(roots), np.uint64)
    for i in range(len(X)):
        row, at = np.uint64(i) * width, np.uint64(i) * n_outputs
        if len(bits):
            _walk_sets(roots, links, cuts, n_codes, bits, flat, row, leaves)
        else:
            _walk_eight(roots, links, cuts, flat, row, leaves)
        if n_outputs == _1:
            told = sums[at]
            for tree in range(len(leaves)):
                told += values[leaves[tree]]
            sums[at] = told
        else:
            for tree in range(len(leaves)):
                here, place = at + outputs[tree], leaves[tree] * k
                for c in range(k):
                    sums[here + c] += values[place + c]
