"""One exact tree, level by level: search the cuts of all nodes, part rows and lists, prune at the end.

    root ──► best cuts of the level ──► rows and lists parted ──► next level … ──► splits below γ taken back

γ does not stop the growth: a split of little gain stays if one below it pays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.boosting.exact_columns import values_at
from arboretum.engine import boost_exact as engine
from arboretum.engine import parallel
from arboretum.engine.boost_lists import Lists, Splits, divide_rows
from arboretum.engine.order import POSITION
from arboretum.tree.tree import LEAF, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.boosting.exact import ExactGrower
    from arboretum.data.schema import Schema
    from arboretum.engine.boost_scan import Rules

__all__ = ["ExactTree", "Growth"]

LEAST_GAIN = 1e-6  # the program's: a smaller gain is taken for rounding


@dataclass(frozen=True)
class ExactTree:
    """A grown tree in terms of values; its nodes' children stand side by side."""

    first_child: np.ndarray  # int64, -1 at a leaf
    feature: np.ndarray  # int64, -1 at a leaf
    threshold: np.ndarray  # float64, x <= threshold goes left; NaN at a leaf
    missing_left: np.ndarray  # bool
    gain: np.ndarray  # float64
    cover: np.ndarray  # float64, Σh
    count: np.ndarray  # int64
    value: np.ndarray  # float64, what a node answers
    start: np.ndarray  # int64, where its rows stand in the grower's entries
    end: np.ndarray  # int64

    def to_tree(self, schema: Schema, values: np.ndarray) -> Tree:
        """Return it as a `Tree` whose nodes answer ``values``."""
        leaf = self.first_child < 0
        nodes = len(leaf)
        return Tree(
            kind=np.where(leaf, LEAF, THRESHOLD).astype(np.uint8),
            feature=self.feature.astype(np.int32),
            threshold=self.threshold.copy(),
            first_child=self.first_child.astype(np.int32),
            n_children=np.where(leaf, 0, 2).astype(np.int32),
            missing_child=np.where(leaf, -1, ~self.missing_left).astype(np.int32),
            bits_start=np.full(nodes, -1, np.int64),
            bits=np.zeros(0, np.uint32),
            value=values.reshape(-1, 1, 1).copy(),
            impurity=np.zeros(nodes),
            gain=self.gain,
            weight=self.cover,
            count=self.count,
            schema=schema,
        )


@dataclass(frozen=True)
class _Layer:
    """The nodes of a level and how they are split."""

    nodes: engine.Figures
    lists: Lists
    splits: Splits
    best: engine.Found
    feature: np.ndarray  # int64, -1: not split
    threshold: np.ndarray  # float64
    left: np.ndarray  # int64, the place of the left child in the next level; -1: none


class Growth:
    """A tree that grows."""

    def __init__(
        self, grower: ExactGrower, columns: np.ndarray, units: np.ndarray, key: int
    ) -> None:
        self.grower, self.rules, self.units = grower, grower.rules, units
        self.columns, self.key = columns, np.uint64(key)
        self.layers: list[_Layer] = []
        self.n_nodes, self.n_leaves = 0, 1
        n_features, words = grower.matrix.n_columns, grower.groups.shape[1]
        self.draw = engine.Draw(
            columns=columns,
            drawn=np.empty(n_features, np.int64),
            marks=np.zeros(n_features, np.uint8),
            free=np.empty(n_features, np.int64),
            groups=np.full((1 if words else 0, words), ~np.uint64(0)),
            group_of=grower.groups,
        )

    def grow(self, lists: Lists, sums: np.ndarray, n: int) -> ExactTree:
        """Grow level by level from a root of n rows; prune, and return the tree."""
        nodes = engine.Figures(
            g=sums[:1].copy(),
            h=sums[1:].copy(),
            start=np.zeros(1, np.int64),
            end=np.array([n]),
            parent=np.array([np.nan]),
            lower=np.array([-np.inf]),
            upper=np.array([np.inf]),
            answer=np.empty(1),
            own=np.empty(1),
        )
        engine.describe(nodes, self.units, self.rules)
        while True:
            able = self._able(nodes)
            if self.layers and len(able):
                lists = self._child_lists(len(nodes.g))
            layer = self._search(nodes, lists, able)
            self.layers.append(layer)
            self.n_nodes += len(nodes.g)
            if not np.any(layer.feature >= 0):
                return self._finish()
            self._divide(layer)
            nodes = self._children(layer)

    @property
    def depth(self) -> int:
        """The depth of the level that is looked at."""
        return len(self.layers)

    def _able(self, nodes: engine.Figures) -> np.ndarray:
        """Return the nodes that might be split: both sides need rows and cover."""
        rules = self.rules
        if self.depth >= rules.max_depth or self.n_leaves >= rules.max_leaves:
            return np.empty(0, np.int64)
        rows, cover = nodes.end - nodes.start, nodes.h * self.units[1]
        enough = rows >= max(2.0, 2.0 * rules.min_rows)
        return np.flatnonzero(enough & (cover * (1 + 1e-9) >= 2.0 * rules.min_weight))

    def _allowed(self, able: np.ndarray) -> np.ndarray:
        """Return which features every able node may ask for; empty: all."""
        rules, width = self.rules, self.grower.matrix.n_columns
        if not (rules.level_columns or rules.node_columns or len(self.grower.groups)):
            return np.empty((0, 0), np.uint8)
        allowed = np.empty((len(able), width), np.uint8)
        engine.draw_allowed(self.draw, self.n_nodes, able, self.depth, self.key, rules, allowed)
        return allowed

    def _child_lists(self, n_children: int) -> Lists:
        """Return lists for a level, to be filled by `_search` from those above."""
        shape = len(self.columns), n_children
        return Lists(self.grower.target, np.empty(shape, np.int64), np.empty(shape, np.int64))

    def _search(self, nodes: engine.Figures, lists: Lists, able: np.ndarray) -> _Layer:
        """Part the lists of the level above, and find the best cuts of the able nodes."""
        grower, shape = self.grower, (len(self.columns), len(nodes.g))
        found, best = _room(shape), _room((1, len(nodes.g)))
        column = np.full(len(nodes.g), -1)
        if len(able):
            above, parting = self._parting(lists, able)
            asked = engine.Asked(self.columns, grower.gappy, grower.monotone, self._allowed(able))

            def look(block: tuple[int, int]) -> None:
                work, spare = mine = grower.borrow()
                engine.search_lists(
                    above, parting, lists, grower.words, able, nodes, asked, self.units, self.rules,
                    block[0], block[1], work, spare, found,
                )  # fmt: skip
                grower.give_back(mine)

            size = int((nodes.end - nodes.start).sum()) * len(self.columns)
            grower.share(look, parallel.blocks(len(self.columns), 4 * grower.n_jobs), size)
            engine.choose(found, able, nodes, LEAST_GAIN, column, best)
        return self._layer(nodes, lists, column, best)

    def _parting(self, lists: Lists, able: np.ndarray) -> tuple[Lists, tuple]:
        """Return the lists of the level above and how they are parted; at the root there is none."""
        if not self.layers:
            return lists, (np.empty(0, np.int64), np.empty(0, np.int64), self.grower.place)
        above = self.layers[-1]
        child = _wanted(above.left, able)
        return above.lists, (above.splits.middle, child, self.grower.place)

    def _layer(
        self, nodes: engine.Figures, lists: Lists, column: np.ndarray, best: engine.Found
    ) -> _Layer:
        """Put the splits of a level together; no more than there may be leaves."""
        split = np.flatnonzero(column >= 0)
        most = max(self.rules.max_leaves - self.n_leaves, 0)
        column[split[most:]] = -1
        split = split[:most]
        self.n_leaves += len(split)
        j, rows = column[split], nodes.end - nodes.start
        n_left = best.cut[0].copy()
        gone = rows[split] - lists.many[j, split]
        n_left[split] += np.where(best.missing_left[0, split], gone, 0)
        feature, threshold = np.full(len(column), -1), np.full(len(column), np.nan)
        feature[split] = self.columns[j]
        first = lists.first[j, split]
        threshold[split] = self._thresholds(
            lists.entries, feature[split], first, lists.many[j, split], best.cut[0, split]
        )
        left = np.full(len(column), -1)
        left[split] = 2 * np.arange(len(split))
        splits = Splits(column, best.cut[0], best.missing_left[0], nodes.start + n_left)
        return _Layer(nodes, lists, splits, best, feature, threshold, left)

    def _thresholds(
        self,
        entries: np.ndarray,
        feature: np.ndarray,
        first: np.ndarray,
        many: np.ndarray,
        cut: np.ndarray,
    ) -> np.ndarray:
        """Return the largest number below each cut ``x < c``.

        c lies half way between two values; behind the last one it is as far from it as zero, and a bit.
        """
        beyond = cut >= many

        def values(at: np.ndarray) -> np.ndarray:
            rows = self.grower.entries[entries[at] & POSITION] >> np.uint64(32)
            return values_at(self.grower.matrix, rows.astype(np.int64), feature)

        low, high = values(first + cut - 1), values(first + np.minimum(cut, many - 1))
        with np.errstate(over="ignore", invalid="ignore"):  # infinite values
            c = np.where(beyond, low + np.abs(low) + 1e-6, low / 2 + high / 2)
        c = np.where(c > low, c, high)
        return np.maximum(np.nextafter(c, -np.inf), low)

    def _divide(self, layer: _Layer) -> None:
        """Give the rows of split nodes their new positions."""
        grower, deeper = self.grower, self.depth < self.rules.max_depth
        size = int((layer.nodes.end - layer.nodes.start)[layer.feature >= 0].sum())
        grower.share(
            lambda b: divide_rows(
                layer.lists, layer.splits, layer.nodes, b[0], b[1], grower.entries, grower.words,
                grower.spare, grower.place, deeper,
            ),
            parallel.blocks(len(layer.feature), 8 * grower.n_jobs),
            size,
        )  # fmt: skip

    def _children(self, layer: _Layer) -> engine.Figures:
        """Return the nodes of the next level."""
        nodes, best = layer.nodes, layer.best
        split = np.flatnonzero(layer.feature >= 0)
        middle = layer.splits.middle[split]
        left_g, left_h = best.left_g[0, split], best.left_h[0, split]
        both = np.repeat(split, 2)
        children = engine.Figures(
            g=_pairs(left_g, nodes.g[split] - left_g),
            h=_pairs(left_h, nodes.h[split] - left_h),
            start=_pairs(nodes.start[split], middle),
            end=_pairs(middle, nodes.end[split]),
            parent=nodes.answer[both],
            lower=nodes.lower[both],
            upper=nodes.upper[both],
            answer=np.empty(len(both)),
            own=np.empty(len(both)),
        )
        engine.describe(children, self.units, self.rules)
        if len(self.grower.monotone):
            self._bound(children, self.grower.monotone[layer.feature[split]])
        if len(self.draw.groups):
            open_groups = self.draw.groups[-len(nodes.g) :][both]
            open_groups &= self.grower.groups[layer.feature[both]]
            self.draw = self.draw._replace(groups=np.vstack([self.draw.groups, open_groups]))
        return children

    def _bound(self, children: engine.Figures, sign: np.ndarray) -> None:
        """Part the bounds of children in the middle of their answers where a constraint asks."""
        middle = children.answer[::2] / 2 + children.answer[1::2] / 2
        for side, bounds in ((0, children.upper), (1, children.lower)):
            bounds[side::2][sign > 0] = middle[sign > 0]
        for side, bounds in ((0, children.lower), (1, children.upper)):
            bounds[side::2][sign < 0] = middle[sign < 0]
        engine.describe(children, self.units, self.rules)

    # ------------------------------------------------------------------ the tree
    def _finish(self) -> ExactTree:
        """Put the levels together and prune."""
        layers = self.layers
        base = np.cumsum([0] + [len(layer.left) for layer in layers])
        child = np.concatenate(
            [
                np.where(layer.left >= 0, layer.left + below, -1)
                for layer, below in zip(layers, base[1:])
            ]
        )
        gain = np.concatenate([layer.best.gain[0] for layer in layers])
        child, kept = _prune(child, gain, self.rules)
        inner = child >= 0

        def join(parts: list[np.ndarray]) -> np.ndarray:
            return np.concatenate(parts)[kept]

        start = join([layer.nodes.start for layer in layers])
        end = join([layer.nodes.end for layer in layers])
        missing_left = join([layer.splits.missing_left for layer in layers])
        return ExactTree(
            first_child=child,
            feature=np.where(inner, join([layer.feature for layer in layers]), -1),
            threshold=np.where(inner, join([layer.threshold for layer in layers]), np.nan),
            missing_left=inner & missing_left,
            gain=np.where(inner, gain[kept], 0.0).astype(np.float64),
            cover=join([layer.nodes.h for layer in layers]) * self.units[1],
            count=end - start,
            value=join([layer.nodes.answer for layer in layers]) + 0.0,
            start=start,
            end=end,
        )


def _prune(child: np.ndarray, gain: np.ndarray, rules: Rules) -> tuple[np.ndarray, np.ndarray]:
    """Take back splits of two leaves that gain too little, from the bottom up.

    Returns the first children of the nodes that are left, numbered anew, and which they are.
    """
    child = child.copy()
    if rules.min_gain > 0:
        enough = gain >= rules.min_gain if rules.reach_gain else gain > rules.min_gain
        for node in np.flatnonzero((child >= 0) & ~enough)[::-1]:
            if np.all(child[child[node] : child[node] + 2] < 0):
                child[node] = -1
    alive = np.zeros(len(child), bool)
    alive[0] = True
    for node in np.flatnonzero(child >= 0):
        alive[child[node] : child[node] + 2] = alive[node]
    number = np.cumsum(alive) - 1
    kept = np.flatnonzero(alive)
    return np.where(child[kept] >= 0, number[child[kept]], -1), kept


def _wanted(left: np.ndarray, able: np.ndarray) -> np.ndarray:
    """Return the left children of nodes of which a child might be split; else -1."""
    wanted = np.zeros(2 * len(left) + 2, bool)
    wanted[able] = True
    return np.where((left >= 0) & (wanted[left] | wanted[left + 1]), left, -1)


def _pairs(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.column_stack([left, right]).ravel()


def _room(shape: tuple[int, int]) -> engine.Found:
    """Return room for the best cuts of nodes."""
    return engine.Found(
        np.full(shape, -np.inf, np.float32),
        np.zeros(shape, np.int64),
        np.zeros(shape, bool),
        np.empty(shape, np.int64),
        np.empty(shape, np.int64),
    )
