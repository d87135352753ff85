"""What the nodes of a random tree drew: the columns they looked at, and of ExtraTrees the one cut of each."""

from __future__ import annotations

import numpy as np

from arboretum.explain.outline.line import Line
from arboretum.explain.outline.line_maker import LineMaker
from arboretum.explain.outline.node_groups import NodeGroups
from arboretum.explain.worksheet.draws import (
    columns_visited,
    drawn_cuts,
    drawn_question,
    node_key,
)
from arboretum.lazy import cached_property

__all__ = ["DrawnSplits"]


class DrawnSplits:
    """Draws again what nodes have drawn."""

    def __init__(self, maker: LineMaker) -> None:
        self.maker, self.at = maker, maker.at

    def visited(self) -> list[list[int]] | None:
        """Return the columns every inner node drew; None: it looked at all, or nobody knows."""
        draw, n_columns = self.at.grown.draw, len(self.at.columns)
        if draw is None or draw.key is None or draw.max_features >= n_columns:
            return None
        varies = np.array([self._varies(f)[self.at.inner] for f in range(n_columns)])
        found = []
        for at, node in enumerate(self.at.inner.tolist()):

            def varied(f: int, at: int = at, node: int = node) -> bool:
                return bool(varies[f, at]) or self._varies_in_a_bin(f, node)

            found.append(columns_visited(self.keys[node], n_columns, draw.max_features, varied))
        return found

    def _varies(self, f: int) -> np.ndarray:
        """Return which nodes hold two values of a column, or one and gaps."""
        present, gaps = self.at.present(f), self.at.missing[f][:, 0] > 0
        return (present > 0) & (present + gaps > 1)

    def _varies_in_a_bin(self, f: int, node: int) -> bool:
        """Tell whether a node holds several values of a column that are one on the grid."""
        column = self.at.columns[f]
        if column.ends is column.values:
            return False
        x = np.asarray(self.at.grown.matrix.column(f), np.float64)[self.at.grown.rows_of(node)]
        x = x[~np.isnan(x)]
        return len(x) > 1 and bool(x.min() < x.max())

    @cached_property
    def keys(self) -> list[int]:
        """The keys of all nodes, by which they drew."""
        tree, draw = self.at.tree, self.at.grown.draw
        assert draw is not None
        assert draw.key is not None
        keys, parent = [draw.key], tree.parent.tolist()
        first = tree.first_child.tolist()
        for node in range(1, len(tree)):  # children stand behind their parents
            above = parent[node]
            keys.append(node_key(keys[above], (node - first[above],)))
        return keys

    def best_of(self, f: int, visited: list[list[int]] | None) -> dict[int, Line]:
        """Return the better of the sides on which the one cut that nodes drew puts missing values."""
        drew = np.ones(len(self.at.tree), bool)
        if visited is not None:
            drew[self.at.inner] = [f in some for some in visited]
        groups = self.at.groups[f]
        if groups is None:
            return self._best_sets(f, self.at.inner[drew[self.at.inner]])
        found: dict[int, Line] = {}
        for one in groups:
            found |= self._best_cuts(f, one.among(drew))
        return found

    def _best_cuts(self, f: int, groups: NodeGroups) -> dict[int, Line]:
        """Return the cuts that the nodes of some groups drew of a column of numbers."""
        if not len(groups.node):
            return {}
        values = self.at.columns[f].values[groups.place]
        starts = np.flatnonzero(np.append(True, groups.node[1:] != groups.node[:-1]))
        ends = np.append(starts[1:], len(values)) - 1
        nodes, varies = groups.node[starts], starts < ends
        keys = np.array(self.keys, np.uint64)[nodes]
        cuts = drawn_cuts(keys, f, values[starts], values[ends], self.at.sample.kinds[f])
        below = values <= np.repeat(cuts, ends - starts + 1)
        n_left = np.add.reduceat(below, starts, dtype=np.int64)  # values up to the cut
        sums = np.where(n_left[:, None] > 0, groups.below[starts + n_left - 1], 0.0)
        missing = self.at.missing[f][nodes]
        gaps = missing[:, 0] > 0
        right, left, alone = (
            np.flatnonzero(one) for one in (varies, varies & gaps, gaps)
        )  # where missing values go; alone: is a value present?
        lefts = [sums[right], sums[left] + missing[left]]
        goes = np.concatenate([np.where(gaps[right], 1, -1), 0 * left, 0 * alone + 1])
        told = np.concatenate([cuts[right], cuts[left], np.full(len(alone), np.inf)])
        return self.maker.lines(
            f,
            nodes[np.concatenate([right, left, alone])],
            np.concatenate([*lefts, groups.below[ends[alone]]]),
            lambda i: (float(told[i]), (), int(goes[i])),
        )

    def _best_sets(self, f: int, some: np.ndarray) -> dict[int, Line]:
        """Return the sets of categories that some nodes drew."""
        nodes, lefts, said = [], [], []
        for node in some.tolist():
            values, sums = self.at.held(f, node)
            missing = self.at.missing[f][node]
            if not len(values):
                continue
            asked = drawn_question(self.keys[node], f, values, "categorical")
            if asked is not None:
                left = sums[asked.yes(values)].sum(axis=0)
                inside = tuple(sorted(asked.left_categories))
                for side in (1, 0) if missing[0] else (-1,):
                    nodes.append(node)
                    lefts.append(left + missing * (side == 0))
                    said.append((asked.threshold, inside, side))
            if missing[0]:
                nodes.append(node)
                lefts.append(sums.sum(axis=0))
                said.append((np.inf, (), 1))
        return self.maker.lines(f, np.array(nodes), np.array(lefts), said.__getitem__)
