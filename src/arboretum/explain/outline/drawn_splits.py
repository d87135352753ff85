"""What the nodes of a random tree drew: the columns they looked at, and of ExtraTrees the one cut of each."""

from __future__ import annotations

import numpy as np

from arboretum.explain.outline.line import Line
from arboretum.explain.outline.line_maker import LineMaker
from arboretum.explain.worksheet.draws import columns_visited, drawn_question, node_key

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
            key = node_key(draw.key, self.at.grown.sides(node))

            def varied(f: int, at: int = at, node: int = node) -> bool:
                return bool(varies[f, at]) or self._varies_in_a_bin(f, node)

            found.append(columns_visited(key, n_columns, draw.max_features, varied))
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

    def best_of(self, f: int, visited: list[list[int]] | None) -> dict[int, Line]:
        """Return the better of the sides on which the one cut that nodes drew puts missing values."""
        draw, kind = self.at.grown.draw, self.at.sample.kinds[f]
        assert draw is not None
        assert draw.key is not None
        nodes, lefts, said = [], [], []
        for at, node in enumerate(self.at.inner.tolist()):
            if visited is not None and f not in visited[at]:
                continue
            values, sums = self.at.held(f, node)
            missing = self.at.missing[f][node]
            if not len(values):
                continue
            asked = drawn_question(node_key(draw.key, self.at.grown.sides(node)), f, values, kind)
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
