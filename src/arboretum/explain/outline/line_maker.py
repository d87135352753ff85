"""Candidates of a tree of CART's kind as lines: the best of every node with its figures, and the winners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arboretum.explain.outline.line import Line, first_best
from arboretum.explain.outline.node_groups import sorted_nodes
from arboretum.explain.outline.node_sums import NodeSums
from arboretum.structure.tree import SUBSET

__all__ = ["LineMaker"]


class LineMaker:
    """Writes lines from the sums of nodes (``at``)."""

    def __init__(self, at: NodeSums) -> None:
        self.at = at

    def lines(
        self,
        f: int,
        nodes: np.ndarray,
        lefts: np.ndarray,
        said: Callable[[int], tuple[float, tuple[int, ...], int]],
    ) -> dict[int, Line]:
        """Return the best of every node: admissible ones, and refused ones only where there are no others."""
        if not len(nodes):
            return {}
        order = np.arange(len(nodes))
        if np.any(nodes[1:] < nodes[:-1]):
            order = sorted_nodes(nodes)
            nodes, lefts = nodes[order], lefts[order]
        totals = self.at.totals(f, nodes)
        gain = self.at.channels.gains(lefts, totals)
        allowed = self.at.refusals.allowed(f, nodes, lefts, totals)
        found = {}
        for refused in (True, False):
            some = np.flatnonzero(allowed != refused)
            best = some[first_best(nodes[some], gain[some])]
            figures = self.figures(f, nodes[best], lefts[best], totals[best])
            for i, line in zip(best.tolist(), figures, strict=True):
                node = int(nodes[i])
                verdict = self.at.refusals.name(lefts[i], totals[i]) if refused else ""
                found[node] = Line(f, *said(int(order[i])), line, float(gain[i]), verdict)
        return found

    def figures(
        self, f: int, nodes: np.ndarray, lefts: np.ndarray, totals: np.ndarray
    ) -> list[tuple[float, ...]]:
        """Return rows and weights of both sides, their impurities, and the charge; f = -1: numbers."""
        sides, impurities = (lefts, totals - lefts), []
        for side in sides:
            impurity = self.at.impurity(side)
            nothing = impurity < 1e-12 * np.abs(self.at.before[nodes])  # what rounding leaves
            impurities.append(np.where(nothing, 0.0, impurity))
        told = [sides[0][:, :2], sides[1][:, :2], *(one[:, None] for one in impurities)]
        return [tuple(row) for row in np.hstack([*told, self._charges(f, nodes)]).tolist()]

    def _charges(self, f: int, nodes: np.ndarray) -> np.ndarray:
        """Return what categories are charged for chance at some nodes, (nodes, 1)."""
        found = np.zeros((len(nodes), 1))
        if f >= 0 and self.at.sample.charged[f] and self.at.sample.rules.category_penalty:
            held = self.at.present(f)[nodes].tolist()
            for i, (node, present) in enumerate(zip(nodes.tolist(), held, strict=True)):
                rows, weight = self.at.total[node, :2].tolist()
                chance = self.at.sample.chance(present, int(rows), float(self.at.before[node]))
                found[i] = chance * weight / self.at.sample.total
        return found

    def winners(self) -> list[Line]:
        """Return the splits of the model with their figures, one for every inner node."""
        tree, nodes = self.at.tree, self.at.inner
        feature, first = tree.feature[nodes], tree.first_child[nodes]
        lefts, totals = self.at.totals(feature, first), self.at.totals(feature, nodes)
        gains = self.at.channels.gains(lefts, totals).tolist()
        figures: list[Any] = [None] * len(nodes)
        for f in np.unique(feature).tolist():
            some = np.flatnonzero(feature == f)
            for i, one in zip(
                some.tolist(), self.figures(f, nodes[some], lefts[some], totals[some]), strict=True
            ):
                figures[i] = one
        return [
            Line(int(feature[i]), *self._asked(node), figures[i], gains[i], "wins")
            for i, node in enumerate(nodes.tolist())
        ]

    def _asked(self, node: int) -> tuple[float, tuple[int, ...], int]:
        """Return cut, categories on the left and the side of missing values of a node."""
        tree, f, first = (
            self.at.tree,
            int(self.at.tree.feature[node]),
            int(self.at.tree.first_child[node]),
        )
        missing = int(tree.missing_child[node]) if self.at.gaps(f)[node, 0] else -1
        if tree.kind[node] != SUBSET:
            return float(tree.threshold[node]), (), missing
        seen = self.at.sums[f][first, :, 0] > 0
        inside = tuple(self.at.columns[f].values[seen].astype(int).tolist())
        return np.nan if inside else np.inf, inside, missing
