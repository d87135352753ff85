"""Outlines of trees of CART's kind: impurities and gains of all nodes, from sums by leaf and value.

Sums have to tell the impurity: trees of absolute_error, and of several targets, have worksheets only. Columns
of few values, or on a grid (line.py), are looked at side by side (dense_cuts.py), others one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.outline.dense_cuts import DenseCuts
from arboretum.explain.outline.line import (
    Coded,
    Line,
    SideBySide,
    TreeOutline,
    first_best,
    up_the_tree,
)
from arboretum.explain.outline.node_groups import NodeGroups, sorted_nodes
from arboretum.explain.outline.refusals import Refusals
from arboretum.explain.worksheet.draws import columns_visited, drawn_question, node_key
from arboretum.textbook.cart import EPSILON, TIE
from arboretum.textbook.column_scan import FEW_CATEGORIES, Channels
from arboretum.tree.tree import SUBSET, Tree

if TYPE_CHECKING:
    from arboretum.explain.worksheet.grown import ShownTree

__all__ = ["GrownOutline", "cost_of", "has_outline"]

# Nanoseconds: to add a row up in a column, to score a cut, to sort a row into its node, to write a node down.
_ROW, _CUT, _SORTED, _NODE = 9, 120, 150, 400_000
_LOWER = np.finfo(np.float64).tiny


def has_outline(grown: ShownTree) -> bool:
    """Tell whether sums tell the impurities of a tree."""
    return grown.rules.criterion != "absolute_error" and grown.y.shape[1] == 1


def cost_of(tree: Tree, like: ShownTree, columns: list[Coded]) -> int:
    """Return about how many nanoseconds the outline of a tree takes; ``like`` has its rows and rules."""
    rows, inner, found = len(like.weight), len(tree) - tree.n_leaves, 0
    for one in columns:
        if _is_dense(tree, rows, one.width):
            found += _ROW * rows + _CUT * inner * (one.width + 1)
        else:
            found += _SORTED * rows * (tree.max_depth + 1)
    return found + _NODE * inner


def _is_dense(tree: Tree, rows: int, width: int) -> bool:
    """Whether a column has so few values that every node may have a sum for each."""
    return len(tree) * width <= 4 * rows * tree.max_depth


class GrownOutline:
    """The outline of one tree; ``most`` columns are told besides the winner."""

    def __init__(self, grown: ShownTree, table: SideBySide, most: int) -> None:
        self.grown, self.table, self.tree, self.most = grown, table, grown.tree, most
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
        self.dense = DenseCuts(self, dense if self._draw_cuts is None else [])
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
        few = _is_dense(self.tree, len(self.rows), self.columns[f].width)
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

    # ------------------------------------------------------------------ all of it
    def outline(self) -> TreeOutline:
        """Return the lines of all inner nodes."""
        found = TreeOutline()
        if not len(self.inner):
            return found
        visited = self._visited()
        best: list[dict[int, Line]] = []
        for f in range(len(self.columns)):
            if f in self.place_in_dense:
                best.append({})
                continue
            if self._draw_cuts is not None:
                best.append(self._drawn_of(f, visited))
                continue
            drew = np.ones(len(self.tree), bool)
            if visited is not None:
                drew[self.inner] = [f in some for some in visited]
            best.append(self._best_of(f, drew))
        dense, winners = self._dense_lines(visited), self._winners()
        for at, node in enumerate(self.inner.tolist()):
            winner = winners[at]
            others = dense[node] + [
                line
                for f, lines in enumerate(best)
                if f != winner.feature
                and (visited is None or f in visited[at])
                and (line := lines.get(node)) is not None
            ]
            found.lines[node] = [winner, *self._judged(node, winner, others)[: self.most]]
        return found

    def _dense_lines(self, visited: list[list[int]] | None) -> dict[int, list[Line]]:
        """Return the best cuts of the columns side by side at every inner node, the winner's left out."""
        dense = self.dense
        found: dict[int, list[Line]] = {node: [] for node in self.inner.tolist()}
        if not len(dense.columns):
            return found
        gain = dense.gain.copy()
        gain[self.tree.feature[self.inner][:, None] == dense.columns] = np.nan
        if visited is not None:
            gain[~np.array([np.isin(dense.columns, some) for some in visited])] = np.nan
        order = np.argsort(-gain, axis=1, kind="stable")[:, : self.most]  # NaN comes last
        at, place = np.divmod(np.arange(order.size), order.shape[1])
        k = order[at, place]
        at, k = (one[~np.isnan(gain[at, k])] for one in (at, k))
        nodes, lefts = self.inner[at], dense.left[at, k]
        totals = self._totals(dense.columns[k], nodes)
        figures = self._figures(-1, nodes, lefts, totals)
        for i, (a, j) in enumerate(zip(at.tolist(), k.tolist(), strict=True)):
            f, node = int(dense.columns[j]), int(nodes[i])
            verdict = self.refusals.name(lefts[i], totals[i]) if dense.refused[a, j] else ""
            cut, goes, following = np.inf, int(dense.goes[a, j]), int(dense.following[a, j])
            if following >= 0:
                cut = self._between(f, int(dense.place[a, j]), following)
            found[node].append(Line(f, cut, (), goes, figures[i], float(gain[a, j]), verdict))
        return found

    def _between(self, f: int, place: int, following: int) -> float:
        column = self.columns[f]
        low, high = float(column.ends[place]), float(column.values[following])
        middle = low / 2 + high / 2
        return low if self.sample.kinds[f] == "ordinal" or middle >= high else middle

    def _totals(self, f: Any, nodes: np.ndarray) -> np.ndarray:
        """Return what nodes add up to over the rows that splits of a column (or of each) are judged by."""
        if not self.surrogates:  # they place the missing rows
            return self.total[nodes]
        if isinstance(f, int):
            return self.total[nodes] - self.missing[f][nodes]
        return self.total[nodes] - np.stack(self.missing)[f, nodes]

    def _gaps(self, f: int) -> np.ndarray:
        """Return what the missing values of nodes add up to, nothing where surrogates place them."""
        return np.zeros_like(self.missing[f]) if self.surrogates else self.missing[f]

    @property
    def _draw_cuts(self) -> int | None:
        draw = self.grown.draw
        return draw.key if draw is not None and draw.random_splits else None

    def _judged(self, node: int, winner: Line, others: list[Line]) -> list[Line]:
        """Return the other columns with their verdicts, those that come closest first."""
        worth = winner.gain - winner.numbers[-1]
        slack = TIE * float(self.before[node] * self.total[node, 1]) / self.sample.total
        found = []
        for line in others:
            verdict, less = line.verdict, worth - (line.gain - line.numbers[-1])
            if not verdict and abs(less) <= max(slack, EPSILON):
                verdict = "tie: lower column or cut wins"
            elif not verdict and less > 0:
                charged = line.gain > winner.gain
                verdict = "gains less after its charge" if charged else "gains less"
            elif not verdict:
                verdict = self._why_more(line)
            found.append((less, replace(line, verdict=verdict)))
        return [line for _, line in sorted(found, key=lambda pair: pair[0])]

    def _why_more(self, line: Line) -> str:
        if self.grown.binned:
            return "not a cut between bins"
        draw = self.grown.draw
        if draw is not None and draw.key is None:
            return "not drawn, it seems"
        return "missed by the order of categories" if line.inside else "gains more"

    # ------------------------------------------------------------------ what was drawn
    def _visited(self) -> list[list[int]] | None:
        """Return the columns every inner node drew; None: it looked at all, or nobody knows."""
        draw, n_columns = self.grown.draw, len(self.columns)
        if draw is None or draw.key is None or draw.max_features >= n_columns:
            return None
        varies = np.array([self._varies(f)[self.inner] for f in range(n_columns)])
        found = []
        for at, node in enumerate(self.inner.tolist()):
            key = node_key(draw.key, self.grown.sides(node))

            def varied(f: int, at: int = at, node: int = node) -> bool:
                return bool(varies[f, at]) or self._varies_in_a_bin(f, node)

            found.append(columns_visited(key, n_columns, draw.max_features, varied))
        return found

    def _varies(self, f: int) -> np.ndarray:
        """Return which nodes hold two values of a column, or one and gaps."""
        present, gaps = self._present(f), self.missing[f][:, 0] > 0
        return (present > 0) & (present + gaps > 1)

    def _varies_in_a_bin(self, f: int, node: int) -> bool:
        """Tell whether a node holds several values of a column that are one on the grid."""
        column = self.columns[f]
        if column.ends is column.values:
            return False
        x = np.asarray(self.grown.matrix.column(f), np.float64)[self.grown.rows_of(node)]
        x = x[~np.isnan(x)]
        return len(x) > 1 and bool(x.min() < x.max())

    def _present(self, f: int) -> np.ndarray:
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

    def _drawn_of(self, f: int, visited: list[list[int]] | None) -> dict[int, Line]:
        """Return the better of the sides on which the one cut that nodes drew puts missing values."""
        draw, kind = self.grown.draw, self.sample.kinds[f]
        assert draw is not None
        assert draw.key is not None
        nodes, lefts, said = [], [], []
        for at, node in enumerate(self.inner.tolist()):
            if visited is not None and f not in visited[at]:
                continue
            values, sums = self._held(f, node)
            missing = self.missing[f][node]
            if not len(values):
                continue
            asked = drawn_question(node_key(draw.key, self.grown.sides(node)), f, values, kind)
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
        return self._lines(f, np.array(nodes), np.array(lefts), said.__getitem__)

    def _held(self, f: int, node: int) -> tuple[np.ndarray, np.ndarray]:
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

    # ------------------------------------------------------------------ every cut
    def _best_of(self, f: int, drew: np.ndarray) -> dict[int, Line]:
        """Return the best split of a column at every inner node that drew it."""
        groups = self.groups[f]
        if groups is None:
            return self._best_set(f, self.inner[drew[self.inner]])
        found: dict[int, Line] = {}
        for one in groups:
            found |= self._best_cuts(f, one.among(drew))
        return found

    def _best_cuts(self, f: int, groups: NodeGroups) -> dict[int, Line]:
        """Return the best cut of a column of numbers at the nodes of some groups."""
        missing, following = self._gaps(f)[groups.node], groups.following
        gaps, more = missing[:, 0] > 0, following >= 0
        right, left = np.flatnonzero(more | gaps), np.flatnonzero(more & gaps)
        pick = np.concatenate([right, left])
        goes = np.concatenate([np.where(gaps[right], 1, -1), np.zeros(len(left), np.int64)])
        if len(left):
            order = np.lexsort((goes == 0, groups.place[pick], groups.node[pick]))
            pick, goes = pick[order], goes[order]
        lefts = groups.below[pick]
        if len(left):
            lefts = lefts + missing[pick] * (goes == 0)[:, None]

        def said(i: int) -> tuple[float, tuple[int, ...], int]:
            if not more[pick[i]]:
                return np.inf, (), 1
            cut = self._between(f, int(groups.place[pick[i]]), int(following[pick[i]]))
            return cut, (), int(goes[i])

        return self._lines(f, groups.node[pick], lefts, said)

    def _best_set(self, f: int, nodes: np.ndarray) -> dict[int, Line]:
        """Return the best set of categories at some nodes."""
        if not len(nodes):
            return {}
        here, missing = self.sums[f][nodes], self._gaps(f)[nodes]
        found: dict[int, Line] = {}
        whole, gaps = here.sum(axis=1), missing[:, 0] > 0
        lowest = (here[..., 0] > 0).argmax(axis=1)
        for sets, sums, with_it in self._sets(here, lowest):
            sums = np.where(with_it[..., None], sums, whole[:, None] - sums)
            for goes in (1, 0):
                left = sums + (missing[:, None] if goes == 0 else 0.0)
                good = (sums[..., 0] > 0) & (sums[..., 0] < whole[:, None, 0])
                if goes == 0:
                    good &= gaps[:, None]
                at, place = np.nonzero(good)

                def said(i, at=at, place=place, sets=sets, goes=goes):
                    inside = self._inside(f, here[at[i], :, 0], sets(at[i], place[i]))
                    return np.nan, inside, goes if gaps[at[i]] else -1

                _keep_better(found, self._lines(f, nodes[at], left[at, place], said))
        at = np.flatnonzero((missing[:, 0] > 0) & (here[:, :, 0].sum(axis=1) > 0))
        alone = here[at].sum(axis=1)
        _keep_better(found, self._lines(f, nodes[at], alone, lambda i: (np.inf, (), 1)))
        return found

    def _inside(self, f: int, rows: np.ndarray, members: np.ndarray) -> tuple[int, ...]:
        """Return the categories of a parting on the side of the lowest that the node holds."""
        present = np.flatnonzero(rows)
        inside = members[present] == members[present[0]]
        return tuple(self.columns[f].values[present[inside]].astype(int).tolist())

    def _sets(self, here: np.ndarray, lowest: np.ndarray) -> Iterator:
        """Return the partings of categories that are tried: who is inside, its sums, is the lowest inside?"""
        classes = self.sample.n_classes
        width = here.shape[1]
        if classes is not None and classes[0] > 2 and width <= FEW_CATEGORIES:
            bits = (np.arange(1, 1 << (width - 1))[:, None] >> np.arange(width)) & 1
            inside = bits.astype(bool)
            sums = np.einsum("sv,nvc->nsc", bits * 1.0, here)
            yield (lambda at, place: inside[place]), sums, inside[:, lowest].T
            return
        targets = 1 if classes is None else classes[0]
        if classes is not None and classes[0] == 2:
            targets = 1  # the order of the other class is the same from behind
        for k in range(targets):
            with np.errstate(invalid="ignore", divide="ignore"):
                mean = np.where(here[..., 0] > 0, here[..., 2 + k] / here[..., 1], np.inf)
            order = np.argsort(mean, axis=1, kind="stable")
            rank = np.argsort(order, axis=1, kind="stable")
            sums = np.cumsum(np.take_along_axis(here, order[..., None], axis=1), axis=1)
            with_it = rank[np.arange(len(rank)), lowest][:, None] <= np.arange(width)
            yield (lambda at, place, rank=rank: rank[at] <= place), sums, with_it

    # ------------------------------------------------------------------ figures
    def _lines(
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
        totals = self._totals(f, nodes)
        gain = self.channels.gains(lefts, totals)
        allowed = self.refusals.allowed(f, nodes, lefts, totals)
        found = {}
        for refused in (True, False):
            some = np.flatnonzero(allowed != refused)
            best = some[first_best(nodes[some], gain[some])]
            figures = self._figures(f, nodes[best], lefts[best], totals[best])
            for i, line in zip(best.tolist(), figures, strict=True):
                node = int(nodes[i])
                verdict = self.refusals.name(lefts[i], totals[i]) if refused else ""
                found[node] = Line(f, *said(int(order[i])), line, float(gain[i]), verdict)
        return found

    def _figures(
        self, f: int, nodes: np.ndarray, lefts: np.ndarray, totals: np.ndarray
    ) -> list[tuple[float, ...]]:
        """Return rows and weights of both sides, their impurities, and the charge; f = -1: numbers."""
        sides, impurities = (lefts, totals - lefts), []
        for side in sides:
            impurity = self.impurity(side)
            nothing = impurity < 1e-12 * np.abs(self.before[nodes])  # what rounding leaves
            impurities.append(np.where(nothing, 0.0, impurity))
        told = [sides[0][:, :2], sides[1][:, :2], *(one[:, None] for one in impurities)]
        return [tuple(row) for row in np.hstack([*told, self._charges(f, nodes)]).tolist()]

    def _charges(self, f: int, nodes: np.ndarray) -> np.ndarray:
        """Return what categories are charged for chance at some nodes, (nodes, 1)."""
        found = np.zeros((len(nodes), 1))
        if f >= 0 and self.sample.kinds[f] == "categorical" and self.sample.rules.category_penalty:
            held = self._present(f)[nodes].tolist()
            for i, (node, present) in enumerate(zip(nodes.tolist(), held, strict=True)):
                rows, weight = self.total[node, :2].tolist()
                chance = self.sample.chance(present, int(rows), float(self.before[node]))
                found[i] = chance * weight / self.sample.total
        return found

    def _winners(self) -> list[Line]:
        """Return the splits of the model with their figures, one for every inner node."""
        tree, nodes = self.tree, self.inner
        feature, first = tree.feature[nodes], tree.first_child[nodes]
        lefts, totals = self._totals(feature, first), self._totals(feature, nodes)
        gains = self.channels.gains(lefts, totals).tolist()
        figures: list[Any] = [None] * len(nodes)
        for f in np.unique(feature).tolist():
            some = np.flatnonzero(feature == f)
            for i, one in zip(
                some.tolist(), self._figures(f, nodes[some], lefts[some], totals[some]), strict=True
            ):
                figures[i] = one
        return [
            Line(int(feature[i]), *self._asked(node), figures[i], gains[i], "wins")
            for i, node in enumerate(nodes.tolist())
        ]

    def _asked(self, node: int) -> tuple[float, tuple[int, ...], int]:
        """Return cut, categories on the left and the side of missing values of a node."""
        tree, f, first = self.tree, int(self.tree.feature[node]), int(self.tree.first_child[node])
        missing = int(tree.missing_child[node]) if self._gaps(f)[node, 0] else -1
        if tree.kind[node] != SUBSET:
            return float(tree.threshold[node]), (), missing
        seen = self.sums[f][first, :, 0] > 0
        inside = tuple(self.columns[f].values[seen].astype(int).tolist())
        return np.nan if inside else np.inf, inside, missing


def _keep_better(found: dict[int, Line], more: dict[int, Line]) -> None:
    for node, line in more.items():
        kept = found.get(node)
        if kept is None or (not line.verdict, line.gain) > (not kept.verdict, kept.gain):
            found[node] = line
