"""Rows that stop half-way: ID3's answer to a value for which a node has no branch.

C4.5 sends such a row down every branch. ID3 lets the node itself answer:

    outlook?             outlook is missing, or an unseen category:
     / | \\              the row stops here and gets the class shares of this node
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from arboretum.predict.walk import leaves_of
from arboretum.structure.tree import LEAF

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from arboretum.data.matrix import Matrix
    from arboretum.structure.tree import Tree

__all__ = ["paths_to", "stops_of", "with_stops"]


def stops_of(tree: Tree, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
    """Return the node at which every row of an encoded table stops, mostly a leaf.

    All questions of the tree must have one branch per value (MULTIWAY).
    """
    stops = leaves_of(tree, matrix, n_jobs)
    gone = np.zeros(matrix.n_rows, np.bool_)
    for f in np.unique(tree.feature[~tree.is_leaf & (tree.missing_child < 0)]):
        gone |= np.isnan(matrix.column(int(f)))
    rows = np.flatnonzero(gone)
    if len(rows):
        stops[rows] = _walk(tree, matrix.take(rows).rows(0, len(rows)))
    return stops


def _walk(tree: Tree, X: np.ndarray) -> np.ndarray:
    node = np.zeros(len(X), np.int64)
    moving = np.flatnonzero(~tree.is_leaf[node])
    while len(moving):
        here = node[moving]
        x = X[moving, tree.feature[here]]
        gone = np.isnan(x)
        child = np.where(gone, tree.missing_child[here], np.where(gone, 0, x).astype(np.int64))
        goes = child >= 0
        moving = moving[goes]
        node[moving] = (tree.first_child[here] + child)[goes]
        moving = moving[~tree.is_leaf[node[moving]]]
    return node


def paths_to(tree: Tree, stops: np.ndarray) -> csr_matrix:
    """Return the (rows × nodes) indicator matrix of the nodes on the way to every row's last one."""
    from scipy.sparse import csr_matrix

    depth, width = tree.depth[stops], tree.max_depth + 1
    nodes, node = np.empty((len(stops), width), np.int32), stops.copy()
    for level in reversed(range(width)):
        rows = np.flatnonzero(depth >= level)
        nodes[rows, level] = node[rows]
        node[rows] = tree.parent[node[rows]]
    indices = nodes[np.arange(width) <= depth[:, None]]
    indptr = np.concatenate([[0], np.cumsum(depth + 1)])
    ones = np.ones(len(indices), np.int64)
    return csr_matrix((ones, indices, indptr), shape=(len(stops), len(tree)))


def with_stops(tree: Tree) -> Tree:
    """Return the tree with a last branch of no weight, a leaf, wherever rows may stop above a leaf.

    All rows then reach leaves, and the same numbers.
    """
    inner = ~tree.is_leaf
    stops = inner & (tree.missing_child < 0)
    sizes = tree.n_children + stops
    n = 1 + int(sizes.sum())
    first, kept = (
        np.full(n, -1, np.int32),
        np.zeros(n, np.int64),
    )  # what every new node is of the old
    added = np.zeros(n, np.bool_)
    end = 1
    for new in range(n):  # level by level
        old = kept[new]
        if added[new] or not inner[old]:
            continue
        first[new] = end
        real = int(tree.n_children[old])
        kept[end : end + real] = tree.first_child[old] + np.arange(real)
        end += real
        if stops[old]:
            kept[end], added[end] = old, True
            end += 1
    leaf = added | ~inner[kept]
    return replace(
        tree,
        kind=np.where(leaf, LEAF, tree.kind[kept]).astype(np.uint8),
        feature=np.where(leaf, -1, tree.feature[kept]).astype(np.int32),
        threshold=np.where(leaf, np.nan, tree.threshold[kept]),
        first_child=first,
        n_children=np.where(leaf, 0, sizes[kept]).astype(np.int32),
        missing_child=np.where(
            leaf, -1, np.where(stops[kept], tree.n_children[kept], tree.missing_child[kept])
        ).astype(np.int32),
        bits_start=np.where(leaf, -1, tree.bits_start[kept]),
        value=tree.value[kept],
        impurity=tree.impurity[kept],
        gain=np.where(leaf, 0.0, tree.gain[kept]),
        weight=np.where(added, 0.0, tree.weight[kept]),
        count=np.where(added, 0, tree.count[kept]),
    )
