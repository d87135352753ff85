"""Walking rows down many small trees that lie one behind the other: one call for all of them.

A tree of three nodes takes less time to walk than a call from Python does.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.jit import kernel, leaf_kernel

__all__ = ["add_votes", "find_leaves"]

_THRESHOLD = 1  # kind of a node (tree/tree.py)
_ROWS = 256  # that are walked before the next tree is taken
_FIVE, _LOW = np.uint64(5), np.uint64(31)


@leaf_kernel
def _leaf_of(nodes, root, X, row):
    """Return the leaf a row reaches in the tree that begins at ``root``."""
    node = np.uint64(root)
    while nodes.kind[node]:
        f = np.uint64(nodes.feature[node])
        x = X[row, f]
        if nodes.kind[node] == _THRESHOLD:
            right = np.int64(
                x > nodes.threshold[node] or (x != x and nodes.missing_child[node] == 1)
            )
        elif x >= 0.0 and x < np.float64(nodes.n_codes[f]):
            code = np.uint64(x)
            word = nodes.bits[np.uint64(nodes.bits_start[node]) + (code >> _FIVE)]
            right = np.int64(1) - np.int64((word >> np.uint32(code & _LOW)) & np.uint32(1))
        else:
            right = np.int64(nodes.missing_child[node])
        node = np.uint64(root + np.int64(nodes.first_child[node]) + right)
    return node


@kernel
def add_votes(nodes, votes, columns, X, total):
    """Add the votes of the leaf each row reaches, (nodes, numbers), to ``total``, tree after tree.

    The first number of tree t is added to ``columns[t]`` of the total, the others behind it.
    """
    width = np.uint64(votes.shape[1])
    for lo in range(0, len(X), _ROWS):
        hi = min(lo + _ROWS, len(X))
        for tree in range(len(nodes.start) - 1):
            column = np.uint64(columns[tree])
            for row in range(np.uint64(lo), np.uint64(hi)):
                leaf = _leaf_of(nodes, nodes.start[tree], X, row)
                for c in range(width):
                    total[row, column + c] += votes[leaf, c]


@kernel
def find_leaves(nodes, X, leaves):
    """Write the leaf of every row in every tree, (rows, trees), counted over all trees' nodes."""
    for lo in range(0, len(X), _ROWS):
        hi = min(lo + _ROWS, len(X))
        for tree in range(len(nodes.start) - 1):
            for row in range(np.uint64(lo), np.uint64(hi)):
                leaves[row, np.uint64(tree)] = _leaf_of(nodes, nodes.start[tree], X, row)
