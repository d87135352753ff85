"""From grown nodes to a `Tree`: every grower passes the arrays it has, and the rest is filled in.

A grower that makes one tree calls `build_tree`; one that makes many has their nodes one tree behind the
other, and `cut_trees` gives each tree its part (joined.py):

    nodes     0  1  2 | 0  1  2  3  4 | 0            children are counted from the root of their tree
    ends              3               8   9
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.structure.joined import SharedNodes
from arboretum.structure.tree import LEAF, Surrogates, Tree

if TYPE_CHECKING:
    from arboretum.data.schema import Schema

__all__ = ["build_tree", "cut_trees", "leaf_of_rows", "leaves", "to_leaves"]

_NO_BITS = np.zeros(0, np.uint32)
_TWO, _NONE = np.int32(2), np.int32(0)  # children
_AT_LEAF: dict[str, tuple[type, float]] = {
    "kind": (np.uint8, LEAF),
    "feature": (np.int32, -1),
    "threshold": (np.float64, np.nan),
    "first_child": (np.int32, -1),
    "n_children": (np.int32, 0),
    "missing_child": (np.int32, -1),
    "bits_start": (np.int64, -1),
    "gain": (np.float64, 0.0),
}


def leaves(n: int) -> dict[str, Any]:
    """Return the split arrays of n nodes that are all leaves.

    >>> leaves(2)["first_child"]
    array([-1, -1], dtype=int32)
    """
    return {name: np.full(n, nothing, dtype) for name, (dtype, nothing) in _AT_LEAF.items()}


def to_leaves(leaf: np.ndarray, **arrays: np.ndarray) -> dict[str, Any]:
    """Return these arrays of nodes, with the nodes that ``leaf`` marks turned into leaves.

    >>> to_leaves(np.array([True, False]), feature=np.array([5, 7], np.int32))
    {'feature': array([-1,  7], dtype=int32)}
    """
    return {
        name: np.where(leaf, nothing, array).astype(dtype, copy=False)
        for name, array in arrays.items()
        for dtype, nothing in [_AT_LEAF[name]]
    }


def build_tree(
    schema: Schema,
    *,
    bits: np.ndarray = _NO_BITS,
    surrogates: Surrogates | None = None,
    **nodes: np.ndarray,
) -> Tree:
    """Return the tree of some nodes.

    Parameters
    ----------
    schema : Schema
    bits : uint32 array
        Category sets and maps; by default none.
    surrogates : Surrogates or None
    **nodes : arrays
        The other arrays of `Tree`. ``n_children`` may be left out (inner nodes have two), and ``bits_start``
        (no node has a set).

    Examples
    --------
    >>> from arboretum.data.schema import learn_schema
    >>> schema, _ = learn_schema([[1.0], [2.0]])
    >>> values = {"value": np.ones((1, 1, 1)), "impurity": np.zeros(1)}
    >>> tree = build_tree(schema, **leaves(1), **values, weight=np.ones(1), count=np.array([2]))
    >>> tree.node_count, tree.surrogates
    (1, None)
    """
    if "bits_start" not in nodes:
        nodes["bits_start"] = np.full(len(nodes["kind"]), -1)
    return Tree(schema=schema, bits=bits, surrogates=surrogates, **_completed(nodes))


def cut_trees(
    schema: Schema,
    ends: np.ndarray,
    *,
    bits: np.ndarray = _NO_BITS,
    bits_ends: Sequence[int] | np.ndarray | None = None,
    **nodes: np.ndarray,
) -> list[Tree]:
    """Return the trees whose nodes, and words of ``bits``, end at these positions; see `build_tree`."""
    if len(ends) == 1:
        return [build_tree(schema, bits=bits, surrogates=None, **nodes)]
    if "bits_start" not in nodes:
        nodes["bits_start"] = np.broadcast_to(np.int64(-1), len(nodes["kind"]))  # takes no memory
    words = None if bits_ends is None or not len(bits) else _limits(bits_ends)
    together = SharedNodes({**_completed(nodes), "bits": bits}, _limits(ends), words)
    trees = [Tree.__new__(Tree) for _ in ends]
    for number, tree in enumerate(trees):
        tree.__dict__.update(schema=schema, _together=together, _number=number)
    return trees


def leaf_of_rows(tree: Tree, rows: np.ndarray) -> np.ndarray:
    """Return the leaf of every row of a binary tree that was grown from ``rows``.

    The grower left the rows in this order: those of the left child first, then those of the right one.

        node 0      4 1 | 0 3 2        leaf 1: rows 4 and 1, leaf 2: rows 0, 3 and 2
    """
    start, level = np.zeros(len(tree), np.int64), np.zeros(1, np.int64)
    while len(level):
        level = level[tree.kind[level] != LEAF]
        left = tree.first_child[level]
        start[left] = start[level]
        start[left + 1] = start[level] + tree.count[left]
        level = np.concatenate([left, left + 1])
    ends = tree.leaves
    ends = ends[start[ends].argsort()]
    leaf = np.empty(len(rows), np.int64)
    leaf[rows] = np.repeat(ends, tree.count[ends])
    return leaf


def _limits(ends: Sequence[int] | np.ndarray) -> list[int]:
    return [0, *np.asarray(ends).tolist()]


def _completed(nodes: dict[str, Any]) -> dict[str, Any]:
    """Fill in the arrays that were left out, and store those of the splits in 32 bits."""
    for name in ("feature", "first_child", "missing_child"):
        nodes[name] = nodes[name].astype(np.int32, copy=False)
    if "n_children" not in nodes:
        nodes["n_children"] = np.where(nodes["kind"] != LEAF, _TWO, _NONE)
    return nodes
