"""One tree for all classes of a round: its splits separate two random groups of classes, its leaves
hold a value of every class.

    classes 0 1 2 3  ──►  groups {0, 3} and {1, 2}  ──►  one tree of g = g₀ + g₃, h = ½ Σ hₖ
                                                         leaf:  vₖ = -η Gₖ / (Hₖ + λ)   for every class k

The derivatives of a group are those of the log likelihood of "the class belongs to the group". Growing takes
the time of one tree instead of one per class, and classes of few rows share the splits of the others. The
values of a class make a tree of its own, so a round has a tree per class, as any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.keys import key_of, uniform_array
from arboretum.grow.decoding import Logged

if TYPE_CHECKING:
    from arboretum.grow.grower import Grown

__all__ = ["derivatives_of_groups", "group_of_classes", "trees_of_classes"]

_NOT_ZERO = 1e-16  # of H, where every row of a leaf is certain


def group_of_classes(key: int, n_classes: int) -> np.ndarray:
    """Return whether each class belongs to the first of two groups; both have classes.

    >>> group_of_classes(1, 5).tolist()
    [False, False, False, False, True]
    """
    order = np.argsort(uniform_array(key, n_classes), kind="stable")
    size = 1 + key_of(key, n_classes) % (n_classes - 1)
    first = np.zeros(n_classes, np.bool_)
    first[order[:size]] = True
    return first


def derivatives_of_groups(
    g: np.ndarray, h: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradients and hessians of "the class belongs to the first group", float32 (n,)."""
    return g[first].sum(axis=0), h.sum(axis=0) * np.float32(0.5)


def trees_of_classes(
    grown: Grown, g: np.ndarray, h: np.ndarray, rows: np.ndarray | None, l2: float, rate: float
) -> Logged:
    """Return the tree of every class: the same splits, with its own values and covers.

    Values are multiplied by ``rate``; a tree without a split predicts 0.
    """
    tree, leaf = grown.tree, grown.leaf_of_row
    leaf = leaf if rows is None else leaf[rows]
    g, h = (g, h) if rows is None else (g[:, rows], h[:, rows])
    sums = np.array([[np.bincount(leaf, own, len(tree)) for own in each] for each in (g, h)])
    for node in np.flatnonzero(tree.is_inner)[::-1].tolist():  # parents stand before their children
        child = tree.first_child[node]
        sums[..., node] = sums[..., child] + sums[..., child + 1]
    G, H = sums
    each = np.tile(np.arange(len(tree)), len(g))
    nodes = type(tree)(tree.nodes[each], tree.members[each])
    nodes.nodes["value"] = (-rate * G / (H + l2 + _NOT_ZERO)).ravel() if len(tree) > 1 else 0.0
    nodes.nodes["cover"] = H.ravel()
    return Logged(nodes, [len(tree)] * len(g), False)
