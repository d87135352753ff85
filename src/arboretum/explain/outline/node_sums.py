"""What nodes of a tree of CART's kind add up to: by leaf and value once, a node has the sums of its children.

Columns of few values, or on a grid (line.py), are looked at side by side (dense_cuts.py), others one by one:
all nodes together, or, where values are many, level by level.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.outline.dense_cuts import DenseCuts
from arboretum.explain.outline.line import SideBySide, up_the_tree
from arboretum.explain.outline.node_groups import NodeGroups, sorted_nodes
from arboretum.explain.outline.refusals import Refusals
from arboretum.lazy import cached_property
from arboretum.structure.tree import Tree
from arboretum.textbook.column_scan import Channels

if TYPE_CHECKING:
    from arboretum.explain.worksheet.grown import ShownTree

__all__ = ["NodeSums", "is_dense"]

_LOWER = np.finfo(np.float64).tiny


def is_dense(tree: Tree, rows: int, width: int) -> bool:
    """Whether a column has so few values that every node may have a sum for each."""
    return len(tree) * width <= 4 * rows * tree.max_depth


class NodeSums:
    """The sums of all nodes of a tree, over all rows and by value."""

    def __init__(self, grown: ShownTree, table: SideBySide) -> None:
        self.grown, self.table, self.tree = grown, table, grown.tree
        self.columns = columns = table.columns
        self.surrogates = bool(grown.rules.surrogates)
        self.inner = np.flatnonzero(~self.tree.is_leaf)
        rows = np.flatnonzero(grown.weight > 0)
        one_row = grown.sample(0, rows[:1])  # its values are not looked at
        self.sample = replace(one_row, y=grown.y[rows], w=grown.weight[rows])
        self.channels = Channels(self.sample)
        if grown.rules.criterion == "poisson":  # impurities need Σ w y log y, gains do not
            y = self.sample.y[:, 0]
            self.channels.columns.append(self.sample.w * y * np.log(np.where(y > 0, y, 1.0)))
        self.refusals = Refusals(grown, self.channels)
        rank = np.cumsum(self.tree.is_leaf) - 1
        self.rows, self.leaf = rows, rank[grown.leaf_of[rows]]
        self.total = self._missing_sums(np.ones(len(rows), bool))  # (nodes, channels)
        none = np.zeros_like(self.total)
        self.missing = [
            self._missing_sums(one.code[rows] == one.width) if one.has_missing else none
            for one in columns
        ]
        kinds = self.sample.kinds
        dense = [f for f, kind in enumerate(kinds) if kind != "categorical" and self._is_dense(f)]
        self.dense = DenseCuts(self, dense if self.draw_cuts is None else [])
        self.place_in_dense = {f: at for at, f in enumerate(self.dense.columns.tolist())}
        self.sums: list[Any] = [
            self._sums(f) if self._needs_sums(f) else None for f in range(len(columns))
        ]
        self.groups = [
            None if kind == "categorical" or f in self.place_in_dense else self._groups(f)
            for f, kind in enumerate(kinds)
        ]
        self.before = self.impurity(self.total)

    def impurity(self, sums: np.ndarray) -> np.ndarray:
        """Return the impurity of every row of sums."""
        mixed = self.channels.mixed(sums)
        if self.grown.rules.criterion == "poisson":
            mixed = mixed + sums[:, -1]
        return mixed / np.maximum(sums[:, 1], _LOWER)

    def _missing_sums(self, some: np.ndarray) -> np.ndarray:
        """Return what every node adds up over some of the rows, (nodes, channels)."""
        leaves = self.tree.n_leaves
        parts = [np.bincount(self.leaf[some], c[some], leaves) for c in self.channels.columns]
        return up_the_tree(self.tree, np.stack(parts, axis=-1))

    def _is_dense(self, f: int) -> bool:
        few = is_dense(self.tree, len(self.rows), self.columns[f].width)
        return few or self.sample.kinds[f] == "categorical"

    def _needs_sums(self, f: int) -> bool:
        """Whether sums of every node and value are looked at by themselves."""
        return self.sample.kinds[f] == "categorical" or (
            self._is_dense(f) and f not in self.place_in_dense
        )

    @cached_property
    def distinct_channels(self) -> tuple[np.ndarray, list[int]]:
        """The channels that differ, (rows, distinct), and the place of every channel among them.

        The last class is left out: it is what the others leave of the weight.
        """
        found: list[np.ndarray] = []
        places = []
        for one in self.channels.columns[: -1 if self.channels.classes else None]:
            same = [at for at, other in enumerate(found) if np.array_equal(one, other)]
            places.append(same[0] if same else len(found))
            if not same:
                found.append(one)
        return np.stack(found, axis=1), places

    def _sums(self, f: int) -> np.ndarray:
        """Return what every node adds up for every value, (nodes, values, channels)."""
        column = self.columns[f]
        width, leaves = column.width + 1, self.tree.n_leaves
        cell = self.leaf * width + column.code[self.rows]
        parts = [np.bincount(cell, c, leaves * width) for c in self.channels.columns]
        of_leaves = np.stack(parts, axis=-1).reshape(leaves, width, -1)
        return up_the_tree(self.tree, of_leaves[:, :-1])

    def _groups(self, f: int) -> list[NodeGroups]:
        """Return the values that every inner node holds of a column of numbers, with the sums up to each.

        All nodes together, or level by level.
        """
        sums = self.sums[f]
        if sums is None:
            return [self._groups_at(f, depth) for depth in range(self.tree.max_depth)]
        here = sums[self.inner]
        at, place = np.nonzero(here[..., 0])
        return [NodeGroups(self.inner[at], place, np.cumsum(here, axis=1)[at, place])]

    def _groups_at(self, f: int, depth: int) -> NodeGroups:
        """Return the same of the nodes of a level, by sorting rows into (node, value)."""
        column = self.columns[f]
        order = column.order
        order = order[self.place_of_row[order] >= 0]  # rows the tree was grown on
        at = self.place_of_row[order]
        node = self.above[depth][self.leaf[at]]
        inside = node >= 0
        node, at = node[inside], at[inside]
        by_node = sorted_nodes(node)
        node, at = node[by_node], at[by_node]
        code = column.code[self.rows[at]]
        starts = np.flatnonzero(np.append(True, (node[1:] != node[:-1]) | (code[1:] != code[:-1])))
        if not len(node):
            return NodeGroups(node, code, np.empty((0, len(self.channels.columns))))
        parts = [np.add.reduceat(c[at], starts) for c in self.channels.columns]
        sums = np.cumsum(np.stack(parts, axis=-1), axis=0)
        node, code = node[starts], code[starts]
        first = np.flatnonzero(np.append(True, node[1:] != node[:-1]))
        before = np.vstack([np.zeros(sums.shape[1]), sums])[first]
        return NodeGroups(
            node, code, sums - np.repeat(before, np.diff(np.append(first, len(node))), 0)
        )

    @cached_property
    def place_of_row(self) -> np.ndarray:
        """Where a row stands among those the tree was grown on; -1: nowhere."""
        place = np.full(len(self.grown.weight), -1)
        place[self.rows] = np.arange(len(self.rows))
        return place

    @cached_property
    def above(self) -> np.ndarray:
        """The inner node above every leaf at every depth, (depths, leaves); -1: there is none."""
        tree = self.tree
        found = np.full((max(tree.max_depth, 1), tree.n_leaves), -1)
        for place, leaf in enumerate(tree.leaves.tolist()):
            node = int(tree.parent[leaf])
            while node >= 0:
                found[tree.depth[node], place] = node
                node = int(tree.parent[node])
        return found

    def totals(self, f: Any, nodes: np.ndarray) -> np.ndarray:
        """Return what nodes add up to over the rows that splits of a column (or of each) are judged by."""
        if not self.surrogates:  # they place the missing rows
            return self.total[nodes]
        if isinstance(f, int):
            return self.total[nodes] - self.missing[f][nodes]
        return self.total[nodes] - np.stack(self.missing)[f, nodes]

    def gaps(self, f: int) -> np.ndarray:
        """Return what the missing values of nodes add up to, nothing where surrogates place them."""
        return np.zeros_like(self.missing[f]) if self.surrogates else self.missing[f]

    def between(self, f: int, place: int, following: int) -> float:
        column = self.columns[f]
        low, high = float(column.ends[place]), float(column.values[following])
        middle = low / 2 + high / 2
        return low if self.sample.kinds[f] == "ordinal" or middle >= high else middle

    @property
    def draw_cuts(self) -> int | None:
        draw = self.grown.draw
        return draw.key if draw is not None and draw.random_splits else None

    def present(self, f: int) -> np.ndarray:
        """Return how many values of a column every node holds."""
        groups = self.groups[f]
        if f in self.place_in_dense:
            found = np.zeros(len(self.tree), np.int64)
            found[self.inner] = self.dense.n_values[:, self.place_in_dense[f]]
            return found
        if groups is not None:
            nodes = np.concatenate([one.node for one in groups])
            return np.bincount(nodes, minlength=len(self.tree))
        return (self.sums[f][..., 0] > 0).sum(axis=1)

    def held(self, f: int, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of a column that a node holds, and the sums of each."""
        groups, values = self.groups[f], self.columns[f].values
        if groups is not None:
            here = groups[0] if len(groups) == 1 else groups[int(self.tree.depth[node])]
            low, high = here.of(node)
            below = here.below[low:high]
            return values[here.place[low:high]], np.diff(below, axis=0, prepend=0 * below[:1])
        here = self.sums[f][node]
        some = here[:, 0] > 0
        return values[some], here[some]
