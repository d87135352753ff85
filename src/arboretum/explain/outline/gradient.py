"""Outlines of second-order trees: ΣG, ΣH and rows of every node, and the best split of every column.

Nodes are the replay's, candidates the textbook's scan of all columns of a node at once. What it looks at, the
sums of every inner node by column and bin, is added up once for a tree, from its leaves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.rows.leaf_sums import add_by_node
from arboretum.explain.outline.line import Coded, Line, TreeOutline, coded_columns, on_grid
from arboretum.explain.worksheet.families.second_order.columns import columns_of
from arboretum.explain.worksheet.families.second_order.refusals import verdict_of, winner_of
from arboretum.structure.tree import SUBSET
from arboretum.textbook.gradient_scan import (
    GradientCandidate,
    GradientNode,
    scan_columns,
    scan_sets,
)

if TYPE_CHECKING:
    from arboretum.explain.worksheet.families.second_order.replay import AtNode, Replay

__all__ = ["GRADIENT_NUMBERS", "BinnedRows", "GradientOutline", "cost_of", "has_outline"]

# What the numbers of a line are.
GRADIENT_NUMBERS = (
    "G left", "H left", "rows left", "G right", "H right", "rows right", "sim. left", "sim. right",
)  # fmt: skip
# Nanoseconds: to add a row up in a column, to score a cut, a set of categories, to write a node down.
_ROW, _CUT, _SET, _NODE = 5, 80, 20_000, 500_000


def has_outline(replay: Replay) -> bool:
    """Return True if all nodes of a tree share their bins."""
    return replay.proposals != "local"


def cost_of(replay: Replay, t: int, binned: BinnedRows) -> int:
    """Return about how many nanoseconds the outline of a tree takes."""
    tree, n_rows, sets = replay.trees[t], len(replay.table.y), len(binned.sets)
    filled = sum(np.minimum(binned.n_bins[f], n_rows) for f in binned.numbers)
    inner = len(tree) - tree.n_leaves
    per_node = _CUT * filled + _SET * sets + _NODE
    return int(_ROW * n_rows * len(binned.n_bins) + inner * per_node)


class BinnedRows:
    """All rows in the bins of a tree, the columns side by side.

    Attributes
    ----------
    numbers, sets : lists of int
        Columns of numbers, and of categories.
    codes : uint16 or int32 array of shape (columns, rows)
        The bin of every row; that of missing values is ``width``.
    cuts : list of arrays
        Upper ends of the bins of numbers.
    categories : list
        The category of every bin; None for numbers.
    n_bins : list of int
    width : int
        Bins of the column with most of them.
    """

    def __init__(self, replay: Replay, t: int, *, grid: bool = False) -> None:
        everything, n = np.arange(len(replay.table.y)), replay.table.schema.n_features
        self.values: list[Coded] | None = None
        if replay.is_exact:  # every value has a bin
            columns = coded_columns(replay.matrix_seen)
            self.values = [on_grid(one) for one in columns] if grid else columns
            codes = [np.where(one.code == one.width, -1, one.code) for one in self.values]
            self.cuts = [one.ends[:-1] for one in self.values]
            self.categories: list[Any] = [None] * n
        else:
            binned = [replay.binned(t, f, everything) for f in range(n)]
            codes, self.cuts, self.categories = map(list, zip(*binned, strict=True))
        self.n_bins = [
            len(cuts) + 1 if known is None else len(known)
            for cuts, known in zip(self.cuts, self.categories, strict=True)
        ]
        self.numbers = [f for f in range(n) if self.categories[f] is None]
        self.sets = [f for f in range(n) if self.categories[f] is not None]
        self.width = max(self.n_bins, default=0)
        kind = np.uint16 if self.width < 1 << 16 else np.int32
        self.codes = np.array([np.where(c < 0, self.width, c) for c in codes], kind)
        self._room = np.empty(0)

    def room(self, n_nodes: int) -> np.ndarray:
        """Return an array for the sums of n nodes; the next tree gets the same one."""
        shape = n_nodes, len(self.codes), self.width + 1, 3
        if self._room.size < np.prod(shape):
            self._room = np.empty(int(np.prod(shape)))
        return self._room[: int(np.prod(shape))].reshape(shape)

    def cut(self, f: int, place: int, filled: np.ndarray) -> float:
        """Return the cut behind a bin; the exact method cuts midway to the next value of the node."""
        above = filled[filled > place]
        if not len(above):
            return np.inf
        if self.values is None:
            return float(self.cuts[f][place])
        low, high = self.values[f].ends[place], self.values[f].values[above[0]]
        return float(low / 2 + high / 2)


class GradientOutline:
    """The outline of one tree; ``most`` columns are listed besides the winner's."""

    def __init__(self, replay: Replay, t: int, binned: BinnedRows, most: int) -> None:
        self.replay, self.t, self.binned, self.most = replay, t, binned, most
        self.tree, self.nodes = replay.trees[t], replay.nodes(t)
        self.rank = np.cumsum(~self.tree.is_leaf) - 1  # of every node among the inner ones
        self.signs = np.zeros(len(binned.codes), np.int64)
        if replay.plan.monotone is not None:
            self.signs = np.asarray(replay.plan.monotone, np.int64)
        self.sums = self._inner_sums()

    def _inner_sums(self) -> np.ndarray:
        """Return G, H and rows by inner node, column and bin; threads share the columns."""
        tree, codes, width = self.tree, self.binned.codes, self.binned.width + 1
        place = np.where(tree.is_leaf, -np.cumsum(tree.is_leaf), self.rank).astype(np.int64)
        found, parent = self.binned.room(len(tree) - tree.n_leaves), tree.parent.astype(np.int64)
        by_leaf = [self.nodes[leaf].rows for leaf in tree.leaves.tolist()]
        rows = np.concatenate(by_leaf)
        leaf = np.repeat(np.arange(len(by_leaf)), [len(one) for one in by_leaf])
        g, h = self.replay.gradients(self.t)
        values = np.stack([g[rows], h[rows], np.ones(len(rows))], axis=1)

        def add(some: tuple[int, int]) -> None:
            sums = np.empty((tree.n_leaves, width, 3))
            add_by_node(codes, some, rows, leaf, values, parent, place, sums, found)

        parallel.run(add, parallel.blocks(len(codes), self.replay.threads), self.replay.threads)
        return found

    def outline(self) -> TreeOutline:
        """Return the lines of all inner nodes, and ΣG, ΣH, rows and the λ added of every node."""
        found = TreeOutline()
        for node, at in enumerate(self.nodes):
            found.facts[node] = (at.node.G, at.node.H, at.node.n, at.extra_l2)
            if not self.tree.is_leaf[node]:
                found.lines[node] = self._lines(node, at)
        return found

    def _lines(self, node: int, at: AtNode) -> list[Line]:
        sums, missing = None, 0.0
        if self.tree.kind[node] != SUBSET:  # bins count some categories as missing
            left = self.nodes[int(self.tree.first_child[node])].node
            sums = np.array([left.G, left.H, left.n])
            missing = float(self.sums[self.rank[node], self.tree.feature[node], -1, 2])
        winner = winner_of(self.replay, self.t, node, at, None, sums, missing)
        columns = set(columns_of(self.replay, self.t, node, at)[0]) - {winner.feature}
        if self.replay.plan.rules.random_cuts or self.replay.plan.rules.symmetric:
            best = self._by_column(node, at, columns)
        else:
            best = self._cuts(node, at.node, columns) + self._sets(node, at.node, columns)
        best = sorted(best, key=lambda c: -c.gain)[: self.most]
        lines = [(winner, "wins"), *((c, verdict_of(self.replay, c, winner)) for c in best)]
        return [_line(c, verdict) for c, verdict in lines]

    def _cuts(self, at: int, node: GradientNode, columns: set[int]) -> list[GradientCandidate]:
        """Return the best cut of the columns of numbers that come closest."""
        features = [f for f in self.binned.numbers if f in columns]
        if not features:
            return []
        sums = self.sums[self.rank[at], features]
        many = scan_columns(node, sums[:, :-1], sums[:, -1], self.signs[features])
        found = []
        for i in many.closest(self.most):
            k = int(many.column[i])
            f = features[k]
            cut = self.binned.cut(f, int(many.bin[i]), np.flatnonzero(sums[k, :-1, 2]))
            missing = float(sums[k, -1, 2])
            found.append(replace(many.scan[i], feature=f, cut=cut, missing_rows=missing))
        return found

    def _by_column(self, node: int, at: AtNode, columns: set[int]) -> list[GradientCandidate]:
        """Return the best candidate of every column where a node is not free to try all of its own."""
        found: list[GradientCandidate] = []
        for f in sorted(columns):
            known, cuts = self.binned.categories[f], self.binned.cuts[f]
            sums = self.sums[self.rank[node], f]
            bins = np.append(sums[: self.binned.n_bins[f]], sums[-1:], axis=0)
            scan = self.replay.scan_sums(self.t, f, at, bins, cuts, known)
            found += scan.best() or scan.best(refused=True)
        return found

    def _sets(self, at: int, node: GradientNode, columns: set[int]) -> list[GradientCandidate]:
        found: list[GradientCandidate] = []
        for f in self.binned.sets:
            if f in columns:
                known, sums = self.binned.categories[f], self.sums[self.rank[at], f]
                scan = scan_sets(node, f, sums[: len(known)], known, sums[-1])
                found += scan.best() or scan.best(refused=True)
        return found


def _line(c: GradientCandidate, verdict: str) -> Line:
    inside = () if c.categories is None else tuple(sorted(c.categories))
    missing = -1 if not c.missing_rows else 0 if c.default == "left" else 1
    sides: tuple[Any, ...] = (c.G_left, c.H_left, c.n_left, c.G_right, c.H_right, c.n_right)
    numbers = (*sides, c.score_left, c.score_right)
    return Line(c.feature, c.cut, inside, missing, numbers, c.gain, verdict)
