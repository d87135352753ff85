"""Levels of a symmetric tree, read from its nodes: the nodes that a level splits have the same cut.

Nodes are numbered in the order they are made, so the children of one level stand together:

    split in order   0 | 1 2 | 4 5 6        first children   1 | 3 5 | 7 9 11
    level            0 |  1  |   2

No two levels in a row have the same cut. A later one may: a node that refused it has been divided since.
"""

from __future__ import annotations

import numpy as np

from arboretum.structure.tree import Tree

__all__ = ["levels_of", "nodes_at", "takers"]


def levels_of(tree: Tree) -> np.ndarray:
    """Return the level at which every node was split; of a leaf, the first that was tried on it."""
    level = np.zeros(len(tree), np.int64)
    inner = np.flatnonzero(~tree.is_leaf)
    now, before = -1, None
    for node in inner[np.argsort(tree.first_child[inner])].tolist():
        cut = tree.split_of(node)
        now, before = now + (cut != before), cut
        level[node] = now
        first = int(tree.first_child[node])
        level[first : first + 2] = now + 1
    return level


def takers(tree: Tree, level: int) -> list[int]:
    """Return the nodes that a level splits."""
    return np.flatnonzero(~tree.is_leaf & (levels_of(tree) == level)).tolist()


def nodes_at(tree: Tree, level: int) -> list[int]:
    """Return the nodes that the cut of a level was tried on: its leaves at that time."""
    split = np.where(tree.is_leaf, len(tree), levels_of(tree))
    made = np.where(tree.parent < 0, -1, split[tree.parent])
    return np.flatnonzero((made < level) & (level <= split)).tolist()
