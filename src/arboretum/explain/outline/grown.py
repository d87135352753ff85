"""Outlines of trees of CART's kind: impurities and gains of all nodes, from sums by leaf and value.

It knows the common case: sums tell the impurity (not absolute_error, poisson), no monotone constraint, no
surrogates, one target. Other trees have worksheets only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.outline.line import (
    Coded,
    Line,
    TreeOutline,
    first_best,
    up_the_tree,
)
from arboretum.explain.worksheet.draws import columns_visited, drawn_question, node_key
from arboretum.textbook.cart import EPSILON, TIE
from arboretum.textbook.column_scan import FEW_CATEGORIES, Channels
from arboretum.tree.tree import SUBSET

if TYPE_CHECKING:
    from arboretum.explain.worksheet.grown import ShownTree

__all__ = ["GrownOutline", "cost_of", "has_outline"]

_NODE = 4_000  # sums that writing down a node costs as much as
_NO_SUMS = ("absolute_error", "poisson")
_LOWER = np.finfo(np.float64).tiny


def has_outline(grown: ShownTree) -> bool:
    """Tell whether a tree is of the common case."""
    rules = grown.rules
    plain = not rules.surrogates and not (rules.monotonic_cst and any(rules.monotonic_cst))
    return plain and rules.criterion not in _NO_SUMS and grown.y.shape[1] == 1


def cost_of(grown: ShownTree, columns: list[Coded]) -> int:
    """Return how many sums there are to make: what an outline costs."""
    tree, rows = grown.tree, len(grown.weight)
    passes = rows * (tree.max_depth + 1)
    sums = sum(min(len(tree) * (one.width + 1), 4 * passes) + rows for one in columns)
    return sums + _NODE * len(tree)


def sorted_nodes(node: np.ndarray) -> np.ndarray:
    """Return the places of nodes in their order, of equals the first; short numbers are sorted fastest."""
    few = not len(node) or node.max() < 2**15
    return np.argsort(node.astype(np.int16) if few else node, kind="stable")


@dataclass(frozen=True, eq=False)
class NodeGroups:
    """The values that nodes hold, node by node: place among the column's values, sums of all up to it."""

    node: np.ndarray
    place: np.ndarray
    below: np.ndarray  # (groups, channels)

    @property
    def following(self) -> np.ndarray:
        """The place of the next value in the same node; -1: there is none."""
        if not len(self.node):
            return self.place
        last = np.append(self.node[1:] != self.node[:-1], True)
        return np.where(last, -1, np.append(self.place[1:], -1))

    def among(self, nodes: np.ndarray) -> NodeGroups:
        """Return the groups of some nodes (bool)."""
        some = nodes[self.node]
        return (
            self if some.all() else NodeGroups(self.node[some], self.place[some], self.below[some])
        )

    def of(self, node: int) -> tuple[int, int]:
        """Return where the groups of a node begin and end."""
        low, high = np.searchsorted(self.node, [node, node + 1])
        return int(low), int(high)


class GrownOutline:
    """The outline of one tree."""

    def __init__(self, grown: ShownTree, columns: list[Coded]) -> None:
        self.grown, self.columns, self.tree = grown, columns, grown.tree
        self.inner = np.flatnonzero(~self.tree.is_leaf)
        rows = np.flatnonzero(grown.weight > 0)
        self.sample = grown.sample(0, rows)
        self.channels = Channels(self.sample)
        rank = np.cumsum(self.tree.is_leaf) - 1
        self.rows, self.leaf = rows, rank[grown.leaf_of[rows]]
        self.total = self._missing_sums(np.ones(len(rows), bool))  # (nodes, channels)
        self.missing = [self._missing_sums(one.code[rows] == one.width) for one in columns]
        # None: too many values
        self.sums: list[Any] = [
            self._sums(f) if self._is_dense(f) else None for f in range(len(columns))
        ]
        self.groups = [
            None if kind == "categorical" else self._groups(f)
            for f, kind in enumerate(self.sample.kinds)
        ]
        self.before = self.channels.mixed(self.total) / np.maximum(self.total[:, 1], _LOWER)

    def _missing_sums(self, some: np.ndarray) -> np.ndarray:
        """Return what every node adds up over some of the rows, (nodes, channels)."""
        leaves = self.tree.n_leaves
        parts = [np.bincount(self.leaf[some], c[some], leaves) for c in self.channels.columns]
        return up_the_tree(self.tree, np.stack(parts, axis=-1))

    def _is_dense(self, f: int) -> bool:
        """Whether a column has so few values that every node may have a sum for each."""
        few = len(self.tree) * self.columns[f].width <= 4 * len(self.rows) * self.tree.max_depth
        return few or self.sample.kinds[f] == "categorical"

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
            if self._draw_cuts is not None:
                best.append(self._drawn_of(f, visited))
                continue
            drew = np.ones(len(self.tree), bool)
            if visited is not None:
                drew[self.inner] = [f in some for some in visited]
            best.append(self._best_of(f, drew))
        for at, node in enumerate(self.inner.tolist()):
            winner = self._winner(node)
            others = [
                line
                for f, lines in enumerate(best)
                if f != winner.feature
                and (visited is None or f in visited[at])
                and (line := lines.get(node)) is not None
            ]
            found.lines[node] = [winner, *self._judged(node, winner, others)]
        return found

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
            here = varies[:, at].tolist()
            found.append(columns_visited(key, n_columns, draw.max_features, here.__getitem__))
        return found

    def _varies(self, f: int) -> np.ndarray:
        """Return which nodes hold two values of a column, or one and gaps."""
        present, gaps = self._present(f), self.missing[f][:, 0] > 0
        return (present > 0) & (present + gaps > 1)

    def _present(self, f: int) -> np.ndarray:
        """Return how many values of a column every node holds."""
        groups = self.groups[f]
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
        missing, following = self.missing[f][groups.node], groups.following
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
        values, kind = self.columns[f].values, self.sample.kinds[f]

        def said(i: int) -> tuple[float, tuple[int, ...], int]:
            if not more[pick[i]]:
                return np.inf, (), 1
            low = float(values[groups.place[pick[i]]])
            high = float(values[following[pick[i]]])
            middle = low / 2 + high / 2
            cut = low if kind == "ordinal" or middle >= high else middle
            return cut, (), int(goes[i])

        return self._lines(f, groups.node[pick], lefts, said)

    def _best_set(self, f: int, nodes: np.ndarray) -> dict[int, Line]:
        """Return the best set of categories at some nodes."""
        if not len(nodes):
            return {}
        here, missing = self.sums[f][nodes], self.missing[f][nodes]
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
        totals = self.total[nodes]
        gain = self.channels.gains(lefts, totals)
        allowed = self._allowed(lefts, totals)
        found = {}
        for refused in (True, False):
            some = np.flatnonzero(allowed != refused)
            best = some[first_best(nodes[some], gain[some])]
            figures = self._figures(f, nodes[best], lefts[best], totals[best])
            verdict = "min_samples_leaf" if refused else ""
            for i, node, line, gained in zip(
                order[best].tolist(),
                nodes[best].tolist(),
                figures,
                gain[best].tolist(),
                strict=True,
            ):
                found[node] = Line(f, *said(i), line, gained, verdict)
        return found

    def _allowed(self, lefts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        rules, good = self.sample.rules, np.ones(len(lefts), bool)
        for side in (lefts, totals - lefts):
            good &= side[:, 0] >= max(rules.min_samples_leaf, 1)
            good &= side[:, 1] >= rules.min_weight_leaf * (1 - 1e-12)
        return good

    def _figures(
        self, f: int, nodes: np.ndarray, lefts: np.ndarray, totals: np.ndarray
    ) -> list[tuple[float, ...]]:
        """Return rows and weights of both sides, their impurities, and the charge."""
        sides, impurities = (lefts, totals - lefts), []
        for side in sides:
            impurity = self.channels.mixed(side) / np.maximum(side[:, 1], _LOWER)
            nothing = impurity < 1e-12 * np.abs(self.before[nodes])  # what rounding leaves
            impurities.append(np.where(nothing, 0.0, impurity))
        told = [sides[0][:, :2], sides[1][:, :2], *(one[:, None] for one in impurities)]
        return [tuple(row) for row in np.hstack([*told, self._charges(f, nodes)]).tolist()]

    def _charges(self, f: int, nodes: np.ndarray) -> np.ndarray:
        """Return what categories are charged for chance at some nodes, (nodes, 1)."""
        found = np.zeros((len(nodes), 1))
        if self.sample.kinds[f] == "categorical" and self.sample.rules.category_penalty:
            held = self._present(f)[nodes].tolist()
            for i, (node, present) in enumerate(zip(nodes.tolist(), held, strict=True)):
                rows, weight = self.total[node, :2].tolist()
                chance = self.sample.chance(present, int(rows), float(self.before[node]))
                found[i] = chance * weight / self.sample.total
        return found

    def _winner(self, node: int) -> Line:
        """Return the split of the model with its figures."""
        tree = self.tree
        f, first = int(tree.feature[node]), int(tree.first_child[node])
        left, total = self.total[first], self.total[node]
        gain = float(self.channels.gains(left[None], total[None])[0])
        missing = int(tree.missing_child[node]) if self.missing[f][node, 0] else -1
        inside: tuple[int, ...] = ()
        if tree.kind[node] == SUBSET:
            seen = self.sums[f][first, :, 0] > 0
            inside = tuple(self.columns[f].values[seen].astype(int).tolist())
        cut = np.inf if tree.kind[node] == SUBSET and not inside else float(tree.threshold[node])
        cut = np.nan if inside else cut
        figures = self._figures(f, np.array([node]), left[None], total[None])[0]
        return Line(f, cut, inside, missing, figures, gain, "wins")


def _keep_better(found: dict[int, Line], more: dict[int, Line]) -> None:
    for node, line in more.items():
        kept = found.get(node)
        if kept is None or (not line.verdict, line.gain) > (not kept.verdict, kept.gain):
            found[node] = line
