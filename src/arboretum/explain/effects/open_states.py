"""What rows can get along a grid from a tree, written down once: its states and their curves.

Some columns of a tree are left open, to be varied along a grid. A row then takes a side only at nodes that
ask for its other columns, and the sides it takes there are its state:

    node asks            states                                   curve of a state
    leaf                 1                                        its value at all points that come here
    for a row's column   left's, then right's                     the child's
    for an open column   a pair: left's × right's                 left's at points that go left, else right's

Shallow trees have few states. A row's curve is then looked up, tree by tree, instead of put together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.tree.tree import SUBSET, Tree

__all__ = ["OpenStates", "open_states"]

_MOST_STATES = 2_048  # of a tree
_MOST_NUMBERS = 1 << 23  # of all curves: 64 megabytes


class OpenStates(NamedTuple):
    """States of the nodes of all trees, one behind the other."""

    size: np.ndarray  # int64, per node
    curves: np.ndarray  # (states of all trees, points)
    start: np.ndarray  # int64, first state of every tree


def open_states(
    trees: list[Tree], values: list[np.ndarray], place: np.ndarray, grid: np.ndarray
) -> OpenStates | None:
    """Return the states of trees whose nodes say one number each; None if they are too many.

    Parameters
    ----------
    trees, values : list of Tree, list of arrays of shape (nodes, 1)
    place : int64 array
        Where an open column stands in ``grid``; -1 for the others.
    grid : (open columns, points) float64
    """
    if any(value.shape[1] > 1 for value in values):
        return None
    n_points, sizes, tables, total = grid.shape[1], [], [], 0
    for tree, value in zip(trees, values, strict=True):
        size = _count(tree, place)
        total += int(size[0]) * n_points
        if size[0] > _MOST_STATES or total > _MOST_NUMBERS:
            return None
        sizes.append(size)
        tables.append(_curves(tree, value[:, 0], place, grid))
    start = np.cumsum([0, *(len(table) for table in tables[:-1])])
    return OpenStates(np.concatenate(sizes), np.concatenate(tables), start)


def _count(tree: Tree, place: np.ndarray) -> np.ndarray:
    """Return how many states every node has; a child stands behind its parent."""
    size = np.ones(len(tree), np.int64)
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        left = int(tree.first_child[node])
        pair = size[left], size[left + 1]
        is_open = place[tree.feature[node]] >= 0
        size[node] = min(pair[0] * pair[1] if is_open else pair[0] + pair[1], 1 << 40)
    return size


def _curves(tree: Tree, value: np.ndarray, place: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Return the curve of every state of a tree, (states, points)."""

    def make(node: int, points: np.ndarray) -> np.ndarray:
        if tree.is_leaf[node]:
            return np.full((1, len(points)), value[node])
        left, asked = int(tree.first_child[node]), int(place[tree.feature[node]])
        if asked < 0:
            return np.concatenate([make(left, points), make(left + 1, points)])
        right = _goes_right(tree, node, grid[asked, points])
        a, b = make(left, points[~right]), make(left + 1, points[right])
        both = np.empty((len(a) * len(b), len(points)))
        both[:, ~right] = np.repeat(a, len(b), axis=0)
        both[:, right] = np.tile(b, (len(a), 1))
        return both

    return make(0, np.arange(grid.shape[1]))


def _goes_right(tree: Tree, node: int, x: np.ndarray) -> np.ndarray:
    missing = np.isnan(x)
    if tree.kind[node] != SUBSET:
        return np.where(missing, tree.missing_child[node] == 1, x > tree.threshold[node])
    codes = np.where(missing, 0, x).astype(np.int64)
    words = tree.bits[int(tree.bits_start[node]) + (codes >> 5)].astype(np.int64)
    outside = (words >> (codes & 31)) & 1 == 0
    return np.where(missing, tree.missing_child[node] == 1, outside)
