"""What rows can get along a grid from a tree, written down once: its states and where their curves jump.

Some columns of a tree are left open, to be varied along a grid. A row then takes a side only at nodes that
ask for its other columns, and the sides it takes there are its state:

    node asks            states                                   curve of a state
    leaf                 1                                        its value at all points that come here
    for a row's column   left's, then right's                     the child's
    for an open column   a pair: left's × right's                 left's at points that go left, else right's

Shallow trees have few states, and their curves jump at few points of the grid: at thresholds of the open
columns. What a row's curve jumps by is then looked up, tree by tree.

    points           0     1     2     3     4
    curve           .3    .3   -.1   -.1    .2
    jumps           .3         -.4          .3       kept for points where some state of the tree jumps
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
    jump_at: np.ndarray  # int64, where the jumps of every tree begin
    point: np.ndarray  # int64, of every jump
    table_at: np.ndarray  # int64, where the table of every tree begins
    table: np.ndarray  # float64, a line per jump: a number for every state


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
    n_points, sizes, points, tables, total = grid.shape[1], [], [], [], 0
    for tree, value in zip(trees, values, strict=True):
        size = _count(tree, place)
        total += int(size[0]) * n_points
        if size[0] > _MOST_STATES or total > _MOST_NUMBERS:
            return None
        sizes.append(size)
        begins = _stretches(tree, place, grid)
        jumps = np.diff(_curves(tree, value[:, 0], place, grid[:, begins]), axis=1, prepend=0.0)
        points.append(begins)
        tables.append(jumps.T.ravel())
    return OpenStates(
        np.concatenate(sizes),
        np.cumsum([0, *map(len, points)]),
        np.concatenate(points),
        np.cumsum([0, *map(len, tables)]),
        np.concatenate(tables),
    )


def _count(tree: Tree, place: np.ndarray) -> np.ndarray:
    """Return how many states every node has; a child stands behind its parent."""
    size = np.ones(len(tree), np.int64)
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        left = int(tree.first_child[node])
        pair = size[left], size[left + 1]
        is_open = place[tree.feature[node]] >= 0
        size[node] = min(pair[0] * pair[1] if is_open else pair[0] + pair[1], 1 << 40)
    return size


def _stretches(tree: Tree, place: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Return where stretches of points begin that no open column of a tree tells apart."""
    new = np.zeros(grid.shape[1], np.bool_)
    new[:1] = True
    for node in np.flatnonzero(~tree.is_leaf & (place[tree.feature] >= 0)).tolist():
        right = _goes_right(tree, node, grid[place[tree.feature[node]]])
        new[1:] |= right[1:] != right[:-1]
    return np.flatnonzero(new)


def _curves(tree: Tree, value: np.ndarray, place: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Return the curve of every state of a tree, (states, points)."""
    first, feature = tree.first_child.tolist(), tree.feature.tolist()
    said: list[list[float] | None] = [
        [v] for v in value.tolist()
    ]  # of the leaves below; None: open
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        left, right = said[first[node]], said[first[node] + 1]
        flat = place[feature[node]] < 0 and left is not None and right is not None
        said[node] = left + right if flat else None

    def make(node: int, points: np.ndarray) -> np.ndarray:
        below = said[node]
        if below is not None:
            return np.broadcast_to(np.array(below)[:, None], (len(below), len(points)))
        left, asked = first[node], int(place[feature[node]])
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
