"""Outlines of second-order trees: ΣG, ΣH and rows of every node, and the best cut of every column.

The sums of a tree are made once by leaf and bin. Where nothing bends answers, all nodes are scored at once
(plain_scan.py); else, and for columns that have refused splits only, the textbook scores node by node.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.rows.leaf_sums import add_by_leaf, add_by_node
from arboretum.explain.outline.line import (
    Coded,
    Line,
    TreeOutline,
    coded_columns,
    first_best,
    on_grid,
    up_the_tree,
)
from arboretum.explain.outline.plain_scan import BestCuts, BestSets, PlainNodes
from arboretum.lazy import cached_property
from arboretum.predict.walk import leaves_of
from arboretum.structure.tree import SUBSET
from arboretum.textbook.gradient_scan import (
    GradientCandidate,
    GradientNode,
    scan_columns,
    scan_one,
    scan_sets,
)

if TYPE_CHECKING:
    from arboretum.explain.worksheet.families.second_order.family import SecondOrderFamily
    from arboretum.explain.worksheet.families.second_order.replay import AtNode, Replay

__all__ = ["GradientOutline", "OutlineBins", "has_outline"]


def has_outline(family: Replay) -> bool:
    """Tell whether all nodes of a tree share their bins."""
    return getattr(family.recipe.table, "proposals", "") != "local"


class OutlineBins:
    """All rows in bins: numbers side by side, categories one by one.

    Attributes
    ----------
    numbers, sets : list of int
        Columns of numbers, and of categories.
    code : list of int32 arrays
        The bin of every row; missing values come after the last bin.
    side_by_side : uint16 or int32 array
        Those of the columns of numbers, (columns, rows).
    cuts : list of arrays
        Upper ends of the bins of numbers.
    categories : list
        The category of every bin.
    width : int
        Bins of the column that has most, missing values not counted.
    """

    def __init__(self, family: Replay, t: int, grid: bool = False) -> None:
        everything = np.arange(len(family.table.y))
        self.values: list[Coded] | None = None
        if family.is_exact:
            columns = coded_columns(family.matrix_seen)
            self.values = [on_grid(one) for one in columns] if grid else columns
        self.numbers: list[int] = []
        self.sets: list[int] = []
        self.code: list[np.ndarray] = []
        self.cuts: list[np.ndarray] = []
        self.categories: list[Any] = []
        self.n_bins: list[int] = []
        for f in range(family.table.schema.n_features):
            code, cuts, categories = family.binned(t, f, everything)
            if categories is None and self.values is not None:  # every value has a bin
                code, cuts = self.values[f].code, self.values[f].ends[:-1]
            (self.numbers if categories is None else self.sets).append(f)
            n_bins = len(cuts) + 1 if categories is None else len(categories)
            self.code.append(np.where(code < 0, n_bins, code).astype(np.int32))
            self.cuts.append(cuts)
            self.categories.append(categories)
            self.n_bins.append(n_bins)
        self.width = max((self.n_bins[f] for f in self.numbers), default=0)
        # missing values have one last place
        lined_up = [
            np.where(self.code[f] == self.n_bins[f], np.int32(self.width), self.code[f])
            for f in self.numbers
        ]
        rows = len(self.code[0]) if self.code else 0
        self.side_by_side = np.array(lined_up, np.int32).reshape(len(lined_up), rows)
        if self.width < 1 << 16:
            self.side_by_side = self.side_by_side.astype(np.uint16)
        self._room = np.empty(0)

    def room(self, n_nodes: int) -> np.ndarray:
        """Return an array for the sums of so many nodes; the next tree gets the same one."""
        shape = n_nodes, len(self.numbers), self.width + 1, 3
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

    @property
    def cells(self) -> int:
        """How many sums a node has."""
        return len(self.numbers) * (self.width + 1) + sum(self.n_bins[f] + 1 for f in self.sets)


class GradientOutline:
    """The outline of one tree; ``most`` columns are told besides the winner."""

    def __init__(self, family: SecondOrderFamily, t: int, binned: OutlineBins, most: int) -> None:
        self.family, self.t, self.binned, self.most = family, t, binned, most
        self.tree = family.trees[t]
        rows, _ = family.drawn_rows(t)
        g, h = family.gradients(t)
        leaf = self._leaves(rows)
        order = np.argsort(leaf.astype(np.uint16), kind="stable") if len(leaf) else slice(None)
        self.rows, self.leaf = rows[order], leaf[order]
        ones = np.ones(len(rows))
        self.values = np.stack([g[self.rows], h[self.rows], ones], axis=1, dtype=np.float64)
        self.signs = np.zeros(len(binned.code), np.int64)
        if family.plan.monotone is not None:
            self.signs = np.asarray(family.plan.monotone, np.int64)
        self.cuts = self._inner_sums()
        self.sets = {
            f: up_the_tree(self.tree, self._sums(binned.code[f][None], binned.n_bins[f] + 1)[:, 0])
            for f in binned.sets
        }
        self.total = self._node_sums()

    def _leaves(self, rows: np.ndarray) -> np.ndarray:
        """Return the place among the leaves of every row that the tree was grown on."""
        tree, family = self.tree, self.family
        rank = np.cumsum(tree.is_leaf) - 1
        if not np.any(tree.kind == SUBSET):
            return rank[leaves_of(tree, family.matrix_seen, family.threads)[rows]]
        found = np.zeros(len(rows), np.int64)
        waiting = [(0, np.arange(len(rows)))]
        while waiting:
            node, some = waiting.pop()
            if tree.is_leaf[node]:
                found[some] = rank[node]
                continue
            left = family.goes_left(tree, node, self.t, rows[some])
            first = int(tree.first_child[node])
            waiting += [(first, some[left]), (first + 1, some[~left])]
        return found

    def _inner_sums(self) -> np.ndarray:
        """Return G, H and rows by inner node, column of numbers and bin; threads share the columns."""
        tree, codes, width = self.tree, self.binned.side_by_side, self.binned.width + 1
        inner, leaf = np.cumsum(~tree.is_leaf) - 1, np.cumsum(tree.is_leaf) - 1
        place = np.where(tree.is_leaf, -1 - leaf, inner).astype(np.int64)
        found = self.binned.room(int(inner[-1]) + 1)
        parent = tree.parent.astype(np.int64)

        def add(some: tuple[int, int]) -> None:
            sums = np.empty((tree.n_leaves, width, 3))
            add_by_node(codes, some, self.rows, self.leaf, self.values, parent, place, sums, found)

        parallel.run(add, parallel.blocks(len(codes), self.family.threads), self.family.threads)
        return found

    def _sums(self, codes: np.ndarray, width: int) -> np.ndarray:
        """Return G, H and rows by leaf, column and bin, (leaves, columns, width, 3)."""
        of_leaves = np.zeros((self.tree.n_leaves, len(codes), width, 3))
        add_by_leaf(codes, self.rows, self.leaf, self.values, of_leaves)
        return of_leaves

    def _node_sums(self) -> np.ndarray:
        leaves = self.tree.n_leaves
        parts = [np.bincount(self.leaf, v, leaves) for v in self.values.T]
        return up_the_tree(self.tree, np.stack(parts, axis=-1))

    # ------------------------------------------------------------------ all of it
    def outline(self) -> TreeOutline:
        """Return the lines of all inner nodes, and ΣG, ΣH, rows and the λ added of every node."""
        found, tree = TreeOutline(), self.tree
        at: dict[int, AtNode] = {0: self.family.at_root(tuple(self.total[0].tolist()))}
        for node in range(len(tree)):
            here = at.pop(node)
            found.facts[node] = (*self.total[node].tolist(), here.extra_l2)
            if tree.is_leaf[node]:
                continue
            found.lines[node] = self._lines(node, here)
            first = int(tree.first_child[node])
            sums = [tuple(self.total[child].tolist()) for child in (first, first + 1)]
            at |= dict(enumerate(self.family.children(self.t, node, here, sums), start=first))
        return found

    def _lines(self, node: int, here: AtNode) -> list[Line]:
        columns = set(self.family.columns_of(self.t, node, here)[0])
        winner = self._winner(node, here)
        best = self._candidates(node, here.node, columns - {winner.feature})
        lines = [self._line(winner, "wins")]
        return lines + [self._line(c, self.family.verdict_of(c, winner)) for c in best]

    def _candidates(
        self, node: int, here: GradientNode, columns: set[int]
    ) -> list[GradientCandidate]:
        """Return the best split of columns, refused ones only where there are not enough others."""
        some = np.array([f in columns for f in range(len(self.binned.code))])
        found: list[GradientCandidate] = []
        if self.plain:
            gains = np.where(some, self.best_gains[self.rank[node]], -np.inf)
            for f in np.argsort(-gains, kind="stable")[: self.most].tolist():
                if gains[f] > -np.inf:
                    found.append(self._plain_best(node, here, f))
            some &= gains == -np.inf
        if len(found) < self.most and some.any():
            found += self._judged_cuts(node, here, some) + self._judged_sets(node, here, some)
        return sorted(found, key=lambda c: -c.gain)[: self.most]

    def _line(self, c: GradientCandidate, verdict: str) -> Line:
        inside = () if c.categories is None else tuple(sorted(c.categories))
        missing = -1 if not c.missing_rows else 0 if c.default == "left" else 1
        return Line(c.feature, c.cut, inside, missing, _figures(c), c.gain, verdict)

    def _winner(self, node: int, here: AtNode) -> GradientCandidate:
        tree, f = self.tree, int(self.tree.feature[node])
        first = int(tree.first_child[node])
        inside = None
        if tree.kind[node] == SUBSET:
            seen = self.sets[f][first, :-1, 2] > 0
            inside = frozenset(np.asarray(self.binned.categories[f])[seen].tolist())
        sums = self.sets[f][node] if f in self.sets else self.cuts[self.rank[node], self._place(f)]
        if self.plain and inside is None:
            default = "left" if tree.missing_child[node] == 0 else "right"
            cut, left = float(tree.threshold[node]), self.total[first].tolist()
            asked = _Question(f, cut, None, default)
            return _plain_candidate(here.node, asked, left, float(sums[-1, 2]))
        return scan_one(
            here.node,
            f,
            self.total[first],
            float(tree.threshold[node]),
            inside,
            "left" if tree.missing_child[node] == 0 else "right",
            0 if inside else int(self.signs[f]),
            self.family.extra_l2(tree, node, self.t),
            float(sums[-1, 2]),
        )

    def _place(self, f: int) -> int:
        return self.binned.numbers.index(f)

    # ------------------------------------------------------------------ all nodes at once
    @cached_property
    def rank(self) -> np.ndarray:
        """The place of every node among the inner ones."""
        return np.cumsum(~self.tree.is_leaf) - 1

    @cached_property
    def best_gains(self) -> np.ndarray:
        """The largest gain of an admissible split, (inner nodes, columns)."""
        found = np.full((int(self.rank[-1]) + 1, len(self.binned.code)), -np.inf)
        found[:, self.binned.numbers] = self._plain_cuts.gain
        for f, sets in self._plain_sets.items():
            found[:, f] = sets.gain
        return found

    @cached_property
    def _nodes(self) -> PlainNodes:
        return PlainNodes(self.total[~self.tree.is_leaf], self.family.rules)

    @cached_property
    def _plain_cuts(self) -> BestCuts:
        return self._nodes.cuts(self.cuts)

    @cached_property
    def _plain_sets(self) -> dict[int, BestSets]:
        inner = ~self.tree.is_leaf
        return {f: self._nodes.sets(sums[inner]) for f, sums in self.sets.items()}

    @cached_property
    def plain(self) -> bool:
        """Whether cuts are scored by G²/(H + λ) and refused for their rows, their H and γ alone."""
        rules = self.family.rules
        bent = rules.reg_alpha or rules.max_delta_step or rules.path_smooth
        return not bent and not self.signs.any() and rules.min_weight > 0

    def _plain_best(self, node: int, here: GradientNode, f: int) -> GradientCandidate:
        """Return the best admissible split of a column."""
        at, binned, rules = self.rank[node], self.binned, self.family.rules
        if f in self.sets:
            best, missing = self._plain_sets[f], float(self.sets[f][node, -1, 2])
            bins = best.order[at, best.first[at] : best.last[at]]
            inside = frozenset(np.asarray(binned.categories[f])[bins].tolist())
            sorted_ = binned.n_bins[f] > rules.max_onehot and not rules.xgboost
            side = "left" if best.missing_left[at] else "right"
            question = _Question(f, np.nan, inside, side, rules.cat_l2 * sorted_)
            return _plain_candidate(here, question, best.left[at].tolist(), missing)
        k, cuts = self._place(f), self._plain_cuts
        sums = self.cuts[at, k]
        cut = binned.cut(f, int(cuts.place[at, k]), np.flatnonzero(sums[:-1, 2]))
        side = "left" if cuts.missing_left[at, k] else "right"
        question = _Question(f, cut, None, side)
        return _plain_candidate(here, question, cuts.left[at, k].tolist(), float(sums[-1, 2]))

    # ------------------------------------------------------------------ node by node
    def _judged_cuts(
        self, at: int, node: GradientNode, columns: np.ndarray
    ) -> list[GradientCandidate]:
        """Return the best cut of every column, by the textbook's scan."""
        some = np.flatnonzero(columns[self.binned.numbers])
        if not len(some):
            return []
        features, sums = np.asarray(self.binned.numbers)[some], self.cuts[self.rank[at], some]
        many = scan_columns(node, sums[:, :-1], sums[:, -1], self.signs[features])
        scan, picked = many.scan, {}
        for good in (~scan.allowed, scan.allowed):
            places = np.flatnonzero(good)
            for i in places[first_best(many.column[places], scan.gain[places])].tolist():
                picked[int(many.column[i])] = i
        leading = sorted(picked.values(), key=lambda i: -scan.gain[i])[: self.most]
        found = []
        for i in leading:
            k, f = int(many.column[i]), int(features[many.column[i]])
            cut = self.binned.cut(f, int(many.bin[i]), np.flatnonzero(sums[k, :-1, 2]))
            found.append(replace(scan[i], feature=f, cut=cut, missing_rows=float(sums[k, -1, 2])))
        return found

    def _judged_sets(
        self, at: int, node: GradientNode, columns: np.ndarray
    ) -> list[GradientCandidate]:
        found = []
        for f in self.binned.sets:
            if not columns[f]:
                continue
            sums = self.sets[f][at]
            scan = scan_sets(node, f, sums[:-1], self.binned.categories[f], sums[-1])
            found += scan.best() or scan.best(refused=True)
        return found


class _Question(NamedTuple):
    """A split without its figures."""

    feature: int
    cut: float
    inside: frozenset[int] | None
    side: str
    extra_l2: float = 0.0


def _plain_candidate(
    node: GradientNode, asked: _Question, left: list[float], missing: float
) -> GradientCandidate:
    """Return an admissible split with its figures, where nothing bends answers."""
    (G, H, n), l2 = left, node.rules.reg_lambda + asked.extra_l2
    GR, HR, nR = node.G - G, node.H - H, node.n - n
    own = node.G * node.G / (node.H + node.rules.reg_lambda)
    one, two = G * G / (H + l2), GR * GR / (HR + l2)
    return GradientCandidate(
        asked.feature,
        asked.cut,
        asked.inside,
        asked.side,
        *(G, H, n, GR, HR, nR),
        *(-G / (H + l2), -GR / (HR + l2)),
        *(one, two, own),
        one + two - own,
        "admissible",
        missing,
    )


def _figures(c: GradientCandidate) -> tuple[float, ...]:
    """Return G, H and rows of both sides, and their similarities."""
    return (
        c.G_left,
        c.H_left,
        c.n_left,
        c.G_right,
        c.H_right,
        c.n_right,
        c.score_left,
        c.score_right,
    )
