"""All curves that rows can have along a grid: the states of a tree, and the jumps of their curves.

Some columns of a tree are left open, to be varied along a grid. Only nodes on
other columns then send a row left or right; the sides a row takes at these nodes are its state:

    node on              states                                   curve of a state
    (leaf)               1                                        its value at all points that come here
    a row's column       left's, then right's                     the child's
    an open column       pairs: left's × right's                  left's at points that go left, else right's

Shallow trees have few states, and their curves jump at few points of the grid: at thresholds of the open
columns. The jumps of a row's curve are then looked up, tree by tree (engine/predict/open_codes.py).

    points           0     1     2     3     4
    curve           .3    .3   -.1   -.1    .2
    jumps           .3         -.4          .3       kept for points where some state of the tree jumps
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arboretum.structure.tree import LEAF, SUBSET, Tree

if TYPE_CHECKING:
    from arboretum.engine.predict.open_codes import OpenCodes
    from arboretum.engine.shap.table_rows import Coder
    from arboretum.structure.joined import JoinedTrees

__all__ = ["OpenCoding", "OpenStates", "open_states"]

_MOST_STATES = 2_048  # most states of a tree
_MOST_NUMBERS = 1 << 23  # of all curves: 64 megabytes


class OpenStates(NamedTuple):
    """States of the nodes of all trees, tree after tree."""

    size: np.ndarray  # int64, per node
    jump_at: np.ndarray  # int64, start of the jumps of every tree
    point: np.ndarray  # int64, of every jump
    table_at: np.ndarray  # int64, start of the table of every tree
    table: np.ndarray  # float64, one line per jump with a number for every state


def open_states(
    trees: list[Tree], values: list[np.ndarray], place: np.ndarray, grid: np.ndarray
) -> OpenStates | None:
    """Return the states of trees with one number per node; None if there are too many.

    Parameters
    ----------
    trees, values : list of Tree, list of arrays of shape (nodes, 1)
    place : int64 array
        The line of an open column in ``grid``; -1 for other columns.
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
        right = _sides(tree, place, grid)
        begins = _stretches(right, n_points)
        sides = {node: side[begins] for node, side in right.items()}
        curves = _curves(tree, value[:, 0], sides, len(begins))
        jumps = np.broadcast_to(curves, (len(begins), int(size[0]))).copy()
        jumps[1:] -= curves[:-1]
        points.append(begins)
        tables.append(jumps.ravel())
    return OpenStates(
        np.concatenate(sizes),
        np.cumsum([0, *map(len, points)]),
        np.concatenate(points),
        np.cumsum([0, *map(len, tables)]),
        np.concatenate(tables),
    )


def _count(tree: Tree, place: np.ndarray) -> np.ndarray:
    """Return the number of states of every node; children come after their parents."""
    size, first = [1] * len(tree), tree.first_child.tolist()
    is_open = (place[tree.feature] >= 0).tolist()
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        one, two = size[first[node]], size[first[node] + 1]
        size[node] = min(one * two if is_open[node] else one + two, 1 << 40)
    return np.array(size, np.int64)


def _sides(tree: Tree, place: np.ndarray, grid: np.ndarray) -> dict[int, np.ndarray]:
    """Return, for every node that splits on an open column, which points go right."""
    splits = np.flatnonzero(~tree.is_leaf & (place[tree.feature] >= 0)).tolist()
    return {node: _goes_right(tree, node, grid[place[tree.feature[node]]]) for node in splits}


def _stretches(right: dict[int, np.ndarray], n_points: int) -> np.ndarray:
    """Return the starts of stretches of points that no open column of a tree separates."""
    new = np.zeros(n_points, np.bool_)
    new[:1] = True
    for side in right.values():
        new[1:] |= side[1:] != side[:-1]
    return np.flatnonzero(new)


def _curves(tree: Tree, value: np.ndarray, right: dict[int, np.ndarray], n: int) -> np.ndarray:
    """Return the curves of all states of a tree, (points, states); one line if they are flat."""
    first = tree.first_child.tolist()
    # values of the leaves below a node; None if an open column splits there
    values: list[list[float] | None] = [[v] for v in value.tolist()]
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        one, two = values[first[node]], values[first[node] + 1]
        flat = node not in right and one is not None and two is not None
        values[node] = one + two if flat else None

    def make(node: int, points: np.ndarray) -> np.ndarray:
        below = values[node]
        if below is not None:
            return np.array(below)[None]
        child = first[node]
        if node not in right:
            one, two = make(child, points), make(child + 1, points)
            both = np.empty((len(points), one.shape[1] + two.shape[1]))
            both[:, : one.shape[1]], both[:, one.shape[1] :] = one, two
            return both
        side = right[node][points]
        one, two = make(child, points[~side]), make(child + 1, points[side])
        pairs = np.empty((len(points), one.shape[1], two.shape[1]))
        pairs[~side], pairs[side] = one[:, :, None], two[:, None, :]
        return pairs.reshape(len(points), one.shape[1] * two.shape[1])

    return make(0, np.arange(n))


def _goes_right(tree: Tree, node: int, x: np.ndarray) -> np.ndarray:
    missing = np.isnan(x)
    if tree.kind[node] != SUBSET:
        return np.where(missing, tree.missing_child[node] == 1, x > tree.threshold[node])
    codes = np.where(missing, 0, x).astype(np.int64)
    words = tree.bits[int(tree.bits_start[node]) + (codes >> 5)].astype(np.int64)
    outside = (words >> (codes & 31)) & 1 == 0
    return np.where(missing, tree.missing_child[node] == 1, outside)


def _right_codes(nodes: JoinedTrees, some: np.ndarray, n_codes: int) -> np.ndarray:
    """Return which codes go right at nodes that split on one column, (nodes, codes + 1); missing is last."""
    codes = np.arange(n_codes)
    right = np.empty((len(some), n_codes + 1), np.bool_)
    right[:, -1] = nodes.missing_child[some] == 1
    by_set = nodes.kind[some] == SUBSET
    start = nodes.bits_start[some[by_set]].astype(np.int64)
    words = nodes.bits[start[:, None] + (codes >> 5)].astype(np.int64)
    right[by_set, :-1] = (words >> (codes & 31)) & 1 == 0
    right[~by_set, :-1] = codes > nodes.threshold[some[~by_set], None]
    return right


class OpenCoding:
    """Codes of the values of rows, and which codes go right at every node on a column that is not open.

    Parameters
    ----------
    nodes : JoinedTrees
        The trees, one after the other.
    place : int64 array
        At least 0 for open columns.
    """

    def __init__(self, nodes: JoinedTrees, place: np.ndarray) -> None:
        splits = (nodes.kind != LEAF) & (place[nodes.feature] < 0)
        by_set = np.zeros(len(place), np.bool_)
        by_set[nodes.feature[splits & (nodes.kind == SUBSET)]] = True
        self.columns = np.unique(nodes.feature[splits]).astype(np.int64)
        self.n_categories = np.where(by_set, nodes.n_codes, -1)[self.columns]
        self.n_columns = len(place)
        n, cuts = len(nodes.kind), []
        first, last, right_at = np.zeros(n, np.int64), np.zeros(n, np.int64), np.full(n, -1)
        for f in self.columns[self.n_categories < 0].tolist():
            mine = np.flatnonzero(splits & (nodes.feature == f))
            cuts.append(np.unique(nodes.threshold[mine]))
            first[mine] = np.searchsorted(cuts[-1], nodes.threshold[mine]) + 1
            last[mine] = len(cuts[-1]) + (nodes.missing_child[mine] != 0)
        sides, n_sides = [np.zeros(0, np.bool_)], 0
        for f in self.columns[self.n_categories >= 0].tolist():
            mine = np.flatnonzero(splits & (nodes.feature == f))
            sides.append(_right_codes(nodes, mine, int(nodes.n_codes[f])).ravel())
            right_at[mine] = n_sides + np.arange(len(mine)) * (nodes.n_codes[f] + 1)
            n_sides += len(sides[-1])
        self._cuts = np.concatenate([np.zeros(0), *cuts])
        sizes = np.zeros(len(self.columns), np.int64)
        sizes[self.n_categories < 0] = [len(own) for own in cuts]
        self._cuts_at = np.concatenate([[0], np.cumsum(sizes)])
        self.most = int(max(sizes.max(initial=0) + 2, self.n_categories.max(initial=0) + 1))
        self._node_codes = first, last - first, right_at, np.concatenate(sides)

    def questions(self) -> OpenCodes:
        """Return the splits of the nodes, for the kernel."""
        from arboretum.engine.predict.open_codes import OpenCodes

        first, span, right_at, sides = self._node_codes
        return OpenCodes(
            first.astype(np.uint16), span.astype(np.uint16), right_at, sides.astype(np.uint8)
        )

    def coder(self) -> Coder:
        """Return the coder of a block of rows."""
        from arboretum.engine.predict.open_codes import ROWS
        from arboretum.engine.shap.table_rows import Coder

        return Coder(
            self.columns, self.n_categories, self._cuts, self._cuts_at, np.zeros(ROWS),
            np.zeros(ROWS, np.uint64), np.empty((self.n_columns, ROWS), np.uint16),
            np.empty((0, ROWS), np.uint16),
        )  # fmt: skip
