"""Outlines of second-order trees: ΣG, ΣH and rows of every node, and the best cut of every column.

The sums of a tree are made once by leaf and bin; the textbook scores the bins of all columns of a node
together.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.explain.outline.line import Line, TreeOutline, first_best, up_the_tree
from arboretum.predict.walk import leaves_of
from arboretum.textbook.gradient_scan import (
    ROUNDING,
    GradientCandidate,
    GradientNode,
    scan_columns,
    scan_one,
    scan_sets,
)
from arboretum.tree.tree import SUBSET

if TYPE_CHECKING:
    from arboretum.explain.boosting_sheets.replay import AtNode, Replay
    from arboretum.explain.boosting_sheets.second_order import SecondOrderFamily

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
    code : list of int64 arrays
        The bin of every row; missing values come after the last bin.
    cuts : list of arrays
        Upper ends of the bins of numbers.
    categories : list
        The category of every bin.
    width : int
        Bins of the column that has most, missing values not counted.
    """

    def __init__(self, family: Replay, t: int) -> None:
        everything = np.arange(len(family.table.y))
        self.numbers: list[int] = []
        self.sets: list[int] = []
        self.code: list[np.ndarray] = []
        self.cuts: list[np.ndarray] = []
        self.categories: list[Any] = []
        self.n_bins: list[int] = []
        for f in range(family.table.schema.n_features):
            code, cuts, categories = family.binned(t, f, everything)
            (self.numbers if categories is None else self.sets).append(f)
            n_bins = len(cuts) + 1 if categories is None else len(categories)
            self.code.append(np.where(code < 0, n_bins, code))
            self.cuts.append(cuts)
            self.categories.append(categories)
            self.n_bins.append(n_bins)
        self.values = _values(family) if family.is_exact else None
        self.width = max((self.n_bins[f] for f in self.numbers), default=0)
        for (
            f
        ) in self.numbers:  # columns of numbers lie side by side, missing values in one last place
            self.code[f] = np.where(self.code[f] == self.n_bins[f], self.width, self.code[f])

    def cut(self, f: int, place: int, filled: np.ndarray) -> float:
        """Return the cut behind a bin; the exact method cuts midway to the next value of the node."""
        above = filled[filled > place]
        if not len(above):
            return np.inf
        if self.values is None:
            return float(self.cuts[f][place])
        low, high = self.values[f][place], self.values[f][above[0]]
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
        self.rows, self.leaf = rows, self._leaves(rows)
        self.values = (g[rows], h[rows])
        self.signs = np.zeros(len(binned.code), np.int64)
        if family.plan.monotone is not None:
            self.signs = np.asarray(family.plan.monotone, np.int64)
        self.cuts = self._number_sums()
        self.sets = {f: self._set_sums(f) for f in binned.sets}
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

    def _fill(self, f: int, first_cell: np.ndarray, sums: np.ndarray) -> None:
        """Write G, H and rows by leaf and bin into (leaves, bins, 3); missing ones come last."""
        code, (leaves, width, _) = self.binned.code[f], sums.shape
        cell = first_cell + (code if len(code) == len(self.rows) else code[self.rows])
        for k, v in enumerate((*self.values, None)):
            sums[..., k] = np.bincount(cell, v, leaves * width).reshape(leaves, width)

    def _number_sums(self) -> np.ndarray:
        binned, leaves = self.binned, self.tree.n_leaves
        found = np.empty((leaves, len(binned.numbers), binned.width + 1, 3))
        first_cell = self.leaf * (binned.width + 1)
        for at, f in enumerate(binned.numbers):
            self._fill(f, first_cell, found[:, at])
        return up_the_tree(self.tree, found)

    def _set_sums(self, f: int) -> np.ndarray:
        width = self.binned.n_bins[f] + 1
        found = np.empty((self.tree.n_leaves, width, 3))
        self._fill(f, self.leaf * width, found)
        return up_the_tree(self.tree, found)

    def _node_sums(self) -> np.ndarray:
        leaves = self.tree.n_leaves
        parts = [np.bincount(self.leaf, v, leaves) for v in self.values]
        parts.append(np.bincount(self.leaf, minlength=leaves))
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
        best = self._best_cuts(node, here, columns - {winner.feature})
        best += self._best_sets(node, here, columns - {winner.feature})
        best.sort(key=lambda one: -one[1].gain)
        lines = [self._line(winner, "wins")]
        for line, c in best[: self.most]:
            f, cut, inside, missing, figures = line
            verdict = self.family.verdict_of(c, winner)
            lines.append(Line(f, cut, inside, missing, figures, c.gain, verdict))
        return lines

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
        sums = self.sets[f][node] if f in self.sets else self.cuts[node, self._place(f)]
        if self.plain and inside is None:
            default = "left" if tree.missing_child[node] == 0 else "right"
            cut, left = float(tree.threshold[node]), self.total[first].tolist()
            return _plain_candidate(here.node, f, left, cut, default, float(sums[-1, 2]))
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

    def _best_cuts(self, node: int, here: AtNode, columns: set[int]) -> list[Any]:
        """Return the best cuts of columns of numbers, refused ones only where there are not enough others."""
        some = np.array([at for at, f in enumerate(self.binned.numbers) if f in columns], np.int64)
        if not len(some):
            return []
        found: list[Any] = []
        done = np.zeros(len(some), bool)
        if self.plain:
            found, done = self._plain_cuts(here.node, some, self.cuts[node, some])
        if len(found) < self.most and not done.all():
            found += self._judged_cuts(here.node, some[~done], self.cuts[node, some[~done]])
        return found

    @cached_property
    def plain(self) -> bool:
        """Whether cuts are scored by G²/(H + λ) and refused for their rows, their H and γ alone."""
        rules = self.family.rules
        bent = rules.reg_alpha or rules.max_delta_step or rules.path_smooth
        return not bent and not self.signs.any() and rules.min_weight > 0

    def _plain_cuts(
        self, node: GradientNode, some: np.ndarray, sums: np.ndarray
    ) -> tuple[list[Any], np.ndarray]:
        """Return the best cuts by the plain formula, and which columns have an admissible one."""
        rules, l2 = node.rules, node.rules.reg_lambda
        missing, gaps = sums[:, -1], sums[:, -1, 2] > 0
        present, told = np.cumsum(sums[:, :-1], axis=1), None
        own = node.G * node.G / (node.H + l2)
        if rules.min_rows > 0:
            told = np.cumsum(node.rows_told(sums[:, :-1, 1]), axis=1)
        best, place, sides = np.full(len(sums), -np.inf), np.zeros(len(sums), int), gaps & False
        for side in (False, True) if gaps.any() else (False,):
            left = present + missing[:, None] if side else present
            G, H = left[..., 0], left[..., 1]
            other = node.H - H
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = G * G / (H + l2) + (node.G - G) ** 2 / (other + l2) - own
            bad = np.minimum(H, other) < rules.min_weight
            if told is not None:
                rows = told if not side else told + (node.n - told[:, -1:])
                if not side:  # without gaps the rest is what the others are told to be
                    rows = np.where(gaps[:, None], told, node.n - (told[:, -1:] - told))
                bad |= np.minimum(rows, node.n - rows) < rules.min_rows
            bad |= ~(gain > ROUNDING * abs(own))
            bad |= gain < rules.min_gain if rules.reach_gain else gain <= rules.min_gain
            gain[bad | (sums[:, :-1, 2] == 0)] = -np.inf
            if side:
                gain[~gaps] = -np.inf
            here = gain.argmax(axis=1)
            top = gain[np.arange(len(gain)), here]
            more = top > best
            best, place = np.where(more, top, best), np.where(more, here, place)
            sides = np.where(more, side, sides)
        done = np.isfinite(best)
        leading = np.argsort(-best, kind="stable")[: self.most]
        found = []
        for k in leading[done[leading]].tolist():
            left = present[k, place[k]] + missing[k] * bool(sides[k])
            f, goes = self.binned.numbers[some[k]], 0 if sides[k] else 1
            cut = self.binned.cut(f, int(place[k]), np.flatnonzero(sums[k, :-1, 2]))
            default = ("left", "right")[goes]
            c = _plain_candidate(node, f, left.tolist(), cut, default, float(missing[k, 2]))
            found.append(((f, cut, (), goes if gaps[k] else -1, _figures(c)), c))
        return found, done

    def _judged_cuts(self, node: GradientNode, some: np.ndarray, sums: np.ndarray) -> list[Any]:
        """Return the best cut of every column, by the textbook's scan."""
        features = np.asarray(self.binned.numbers)[some]
        many = scan_columns(node, sums[:, :-1], sums[:, -1], self.signs[features])
        scan, picked = many.scan, {}
        for good in (~scan.allowed, scan.allowed):
            places = np.flatnonzero(good)
            for i in places[first_best(many.column[places], scan.gain[places])].tolist():
                picked[int(many.column[i])] = i
        leading = sorted(picked.values(), key=lambda i: -scan.gain[i])[: self.most]
        found = []
        for i in leading:
            k, c = int(many.column[i]), scan[i]
            filled = np.flatnonzero(sums[k, :-1, 2])
            cut = self.binned.cut(int(features[k]), int(many.bin[i]), filled)
            missing = -1 if not sums[k, -1, 2] else 0 if many.missing_left[i] else 1
            found.append(((int(features[k]), cut, (), missing, _figures(c)), c))
        return found

    def _best_sets(self, node: int, here: AtNode, columns: set[int]) -> list[Any]:
        found = []
        for f in self.binned.sets:
            if f not in columns:
                continue
            sums = self.sets[f][node]
            scan = scan_sets(here.node, f, sums[:-1], self.binned.categories[f], sums[-1])
            best = scan.best() or scan.best(refused=True)
            if best:
                line = self._line(best[0], "")
                parts = (line.feature, line.cut, line.inside, line.missing, line.numbers)
                found.append((parts, best[0]))
        return found


def _values(family: Replay) -> list[np.ndarray]:
    matrix = family.matrix_seen
    columns = (np.asarray(matrix.column(f), np.float64) for f in range(matrix.n_columns))
    return [np.unique(x[~np.isnan(x)]) for x in columns]


def _plain_candidate(
    node: GradientNode, f: int, left: list[float], cut: float, side: str, missing: float
) -> GradientCandidate:
    """Return an admissible cut with its figures, where nothing bends answers."""
    (G, H, n), l2 = left, node.rules.reg_lambda
    GR, HR, nR = node.G - G, node.H - H, node.n - n
    own, one, two = node.G * node.G / (node.H + l2), G * G / (H + l2), GR * GR / (HR + l2)
    answers = -G / (H + l2), -GR / (HR + l2)
    gain = one + two - own
    return GradientCandidate(
        f,
        cut,
        None,
        side,
        G,
        H,
        n,
        GR,
        HR,
        nR,
        *answers,
        one,
        two,
        own,
        gain,
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
