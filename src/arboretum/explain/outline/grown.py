"""Outlines of trees of CART's kind: impurities and gains of all nodes, from sums by leaf and value.

    node_sums.py      what nodes add up to, by value             every_split.py    the best of all splits
    dense_cuts.py     columns of few values side by side         drawn_splits.py   what random trees drew
    refusals.py       rules that refuse a split                  line_maker.py     a split with its figures

Sums have to tell the impurity: trees of absolute_error, and of several targets, have worksheets only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from arboretum.explain.outline.drawn_splits import DrawnSplits
from arboretum.explain.outline.every_split import EverySplit
from arboretum.explain.outline.line import Coded, Line, SideBySide, TreeOutline
from arboretum.explain.outline.line_maker import LineMaker
from arboretum.explain.outline.node_sums import NodeSums, is_dense
from arboretum.structure.tree import Tree
from arboretum.textbook.cart import EPSILON, TIE

if TYPE_CHECKING:
    from arboretum.explain.worksheet.grown import ShownTree

__all__ = ["GrownOutline", "cost_of", "has_outline"]

# Nanoseconds: to add a row up in a column, to score a cut, to sort a row into its node.
_ROW, _CUT, _SORTED = 9, 120, 150
# To look at a column on one level, to write down a column of a node, to write down a node.
_LEVEL, _COLUMN, _NODE = 300_000, 20_000, 200_000


def has_outline(grown: ShownTree) -> bool:
    """Tell whether sums tell the impurities of a tree."""
    return grown.rules.criterion != "absolute_error" and grown.y.shape[1] == 1


def cost_of(tree: Tree, like: ShownTree, columns: list[Coded]) -> int:
    """Return about how many nanoseconds the outline of a tree takes; ``like`` has its rows and rules."""
    rows, inner, found = len(like.weight), len(tree) - tree.n_leaves, 0
    for one in columns:
        if is_dense(tree, rows, one.width):
            found += _ROW * rows + _CUT * inner * (one.width + 1)
        else:
            found += (_SORTED * rows + _LEVEL) * (tree.max_depth + 1)
    looked_at = len(columns) if like.draw is None else min(like.draw.max_features, len(columns))
    return found + (_NODE + _COLUMN * looked_at) * inner


class GrownOutline:
    """The outline of one tree; ``most`` columns are told besides the winner."""

    def __init__(self, grown: ShownTree, table: SideBySide, most: int) -> None:
        self.at, self.most = NodeSums(grown, table), most
        self.maker = LineMaker(self.at)
        self.every, self.drawn = EverySplit(self.maker), DrawnSplits(self.maker)

    def outline(self) -> TreeOutline:
        """Return the lines of all inner nodes."""
        found = TreeOutline()
        if not len(self.at.inner):
            return found
        visited = self.drawn.visited()
        best: list[dict[int, Line]] = []
        for f in range(len(self.at.columns)):
            if f in self.at.place_in_dense:
                best.append({})
                continue
            if self.at.draw_cuts is not None:
                best.append(self.drawn.best_of(f, visited))
                continue
            drew = np.ones(len(self.at.tree), bool)
            if visited is not None:
                drew[self.at.inner] = [f in some for some in visited]
            best.append(self.every.best_of(f, drew))
        dense, winners = self._dense_lines(visited), self.maker.winners()
        for at, node in enumerate(self.at.inner.tolist()):
            winner = winners[at]
            others = dense[node] + [
                line
                for f, lines in enumerate(best)
                if f != winner.feature
                and (visited is None or f in visited[at])
                and (line := lines.get(node)) is not None
            ]
            found.lines[node] = [winner, *self._judged(node, winner, others)]
        return found

    def _dense_lines(self, visited: list[list[int]] | None) -> dict[int, list[Line]]:
        """Return the best cuts of the columns side by side at every inner node, the winner's left out."""
        dense = self.at.dense
        found: dict[int, list[Line]] = {node: [] for node in self.at.inner.tolist()}
        if not len(dense.columns):
            return found
        gain = dense.gain.copy()
        gain[self.at.tree.feature[self.at.inner][:, None] == dense.columns] = np.nan
        if visited is not None:
            gain[~np.array([np.isin(dense.columns, some) for some in visited])] = np.nan
        order = np.argsort(-gain, axis=1, kind="stable")[:, : self.most]  # NaN comes last
        at, place = np.divmod(np.arange(order.size), order.shape[1])
        k = order[at, place]
        at, k = (one[~np.isnan(gain[at, k])] for one in (at, k))
        nodes, lefts = self.at.inner[at], dense.left[at, k]
        totals = self.at.totals(dense.columns[k], nodes)
        figures = self.maker.figures(-1, nodes, lefts, totals)
        for i, (a, j) in enumerate(zip(at.tolist(), k.tolist(), strict=True)):
            f, node = int(dense.columns[j]), int(nodes[i])
            verdict = self.at.refusals.name(lefts[i], totals[i]) if dense.refused[a, j] else ""
            cut, goes, following = np.inf, int(dense.goes[a, j]), int(dense.following[a, j])
            if following >= 0:
                cut = self.at.between(f, int(dense.place[a, j]), following)
            found[node].append(Line(f, cut, (), goes, figures[i], float(gain[a, j]), verdict))
        return found

    def _judged(self, node: int, winner: Line, others: list[Line]) -> list[Line]:
        """Return the columns that come closest, with their verdicts; the closest comes first."""
        worth = winner.gain - winner.numbers[-1]
        slack = TIE * float(self.at.before[node] * self.at.total[node, 1]) / self.at.sample.total
        less_of = [worth - (line.gain - line.numbers[-1]) for line in others]
        closest = sorted(zip(less_of, others, strict=True), key=lambda pair: pair[0])
        found = []
        for less, line in closest[: self.most]:
            verdict = line.verdict
            if not verdict and abs(less) <= max(slack, EPSILON):
                verdict = "tie: lower column or cut wins"
            elif not verdict and less > 0:
                charged = line.gain > winner.gain
                verdict = "gains less after its charge" if charged else "gains less"
            elif not verdict:
                verdict = self._why_more(line)
            found.append(replace(line, verdict=verdict))
        return found

    def _why_more(self, line: Line) -> str:
        if self.at.grown.binned:
            return "not a cut between bins"
        draw = self.at.grown.draw
        if draw is not None and draw.key is None:
            return "not drawn, it seems"
        return "missed by the order of categories" if line.inside else "gains more"
