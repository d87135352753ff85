"""The candidates of all nodes of a tree of CART's kind from sums, which are added up once for the tree.

The rows of a node are not looked at again: what its criterion adds up (`Channels`) is the sum over its
leaves, by column and value. All cuts of a node are then scored at once, sets of categories by the textbook's
scan.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arboretum.engine.rows.leaf_sums import add_by_node
from arboretum.explain.outline.line import Coded
from arboretum.explain.worksheet.candidates import drawn_columns, slack_of, why_not_taken
from arboretum.structure.tree import SUBSET
from arboretum.textbook.column_scan import Channels, first_of_columns, scan_sums
from arboretum.textbook.questions import Question, cut_points
from arboretum.textbook.splits import Candidate

if TYPE_CHECKING:
    from arboretum.explain.worksheet.grown import ShownTree
    from arboretum.structure.tree import Tree

__all__ = ["NodeSums", "has_sums", "side_by_side"]

_MOST = 3_000_000  # sums of a tree that are in memory
_NO_ROWS = np.empty(0, bool)


def has_sums(grown: ShownTree, tree: Tree, width: int) -> bool:
    """Return True if the splits of a tree follow from sums, and those of all its nodes have room."""
    rules, draw = grown.rules, grown.draw
    plain = rules.criterion not in ("absolute_error", "poisson") and not rules.surrogates
    cells = (len(tree) - tree.n_leaves) * grown.matrix.n_columns * (width + 1)
    return plain and (draw is None or not draw.random_splits) and cells <= _MOST


def side_by_side(columns: list[Coded]) -> np.ndarray:
    """Return the codes of all columns, (columns, rows); missing values come last in all of them."""
    width = max(one.width for one in columns)
    kind = np.uint16 if width < 1 << 16 else np.int32
    return np.array([np.where(one.code == one.width, width, one.code) for one in columns], kind)


class NodeSums:
    """What the rows of every node add up to; ``codes`` are those of `side_by_side`."""

    def __init__(self, grown: ShownTree, columns: list[Coded], codes: np.ndarray) -> None:
        self.grown, self.tree, self.columns = grown, grown.tree, columns
        rows, tree = grown.rows_by_leaf[0], grown.tree
        one_row = grown.sample(0, rows[:1])  # its values are not looked at
        self.sample = replace(one_row, y=grown.y[rows], w=grown.weight[rows])
        self.channels = Channels(self.sample)
        self.rank = np.cumsum(~tree.is_leaf) - 1  # of every node among the inner ones
        leaf = (np.cumsum(tree.is_leaf) - 1)[grown.leaf_of[rows]]
        self.cells = self._add(codes, rows, leaf)
        self.total = np.zeros((len(tree), len(self.channels.columns)))
        of_leaves = [np.bincount(leaf, c, tree.n_leaves) for c in self.channels.columns]
        self.total[tree.is_leaf] = np.column_stack(of_leaves)
        for node in range(len(tree) - 1, 0, -1):  # children stand behind their parents
            self.total[tree.parent[node]] += self.total[node]

    def _add(self, codes: np.ndarray, rows: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        """Return sums by inner node, column, code and channel, but for channels that follow from others.

        Those are the weight where it is 1, and the last class.
        """
        tree, width = self.tree, max(one.width for one in self.columns) + 1
        count, weight, *rest = self.channels.columns
        some = [count, weight, *rest] if self.channels.weighted else [count, *rest]
        some = some[:-1] if self.channels.classes else some
        place = np.where(tree.is_leaf, -np.cumsum(tree.is_leaf), self.rank).astype(np.int64)
        parent, scratch = tree.parent.astype(np.int64), np.empty((tree.n_leaves, width, 3))
        found = []
        for k in range(0, len(some), 3):
            values = np.zeros((len(rows), 3))
            values[:, : len(some[k : k + 3])] = np.stack(some[k : k + 3], axis=1)
            out = np.empty((len(tree) - tree.n_leaves, len(codes), width, 3))
            add_by_node(codes, (0, len(codes)), rows, leaf, values, parent, place, scratch, out)
            found.append(out)
        sums = found[0] if len(found) == 1 else np.concatenate(found, axis=-1)
        return sums[..., : len(some)]

    def of(self, node: int, columns: np.ndarray | int) -> np.ndarray:
        """Return the sums of a node by column, code and channel; missing values come last."""
        sums = self.cells[self.rank[node], columns]
        if not self.channels.weighted:
            sums = np.concatenate([sums[..., :1], sums], axis=-1)
        if self.channels.classes:
            last = sums[..., 1] - sums[..., 2:].sum(axis=-1)
            sums = np.concatenate([sums, last[..., None]], axis=-1)
        return sums

    def candidates(self, node: int, most: int) -> list[tuple[Candidate, str]]:
        """Return the winner, and the best of the columns that come closest, with their verdicts."""
        at = _AtNode(self, node)
        winner = at.winner()
        drawn = drawn_columns(self.grown, node, at.varies)
        columns = range(len(self.columns)) if drawn is None else sorted(drawn)
        features = np.array([f for f in columns if f != winner.feature], np.int64)
        is_set = np.array([self.sample.kinds[f] == "categorical" for f in features], bool)
        found = at.cuts(features[~is_set], most)
        for f in features[is_set].tolist():
            found += at.sets(f)
        slack = slack_of(at.before, at.total[1] / self.sample.total)
        closest = sorted(found, key=lambda c: (-c.worth, c.feature))[:most]
        verdicts = [
            why_not_taken(self.grown, c, winner, slack) if c.verdict == "admissible" else c.verdict
            for c in closest
        ]
        return [(winner, "wins"), *zip(closest, verdicts)]


class _BareSplit(NamedTuple):
    """A split without its figures."""

    question: Question
    side: str | None  # of missing values
    left: np.ndarray  # sums
    charge: float = 0.0
    allowed: bool = True


class _AtNode:
    """One node with its sums."""

    def __init__(self, sums: NodeSums, node: int) -> None:
        self.sums, self.node, self.total = sums, node, sums.total[node]
        self.columns, self.channels = sums.columns, sums.channels
        if any(sums.sample.signs):
            self.channels = copy.copy(sums.channels)
            self.channels.sample = replace(sums.sample, bounds=sums.grown.bounds(node))
        self.sample = self.channels.sample
        self.before = float(self.channels.mixed(self.total[None])[0] / self.total[1])

    def varies(self, f: int) -> bool:
        """Return True if the node holds several values of a column; a bin may hold some."""
        rows = self.sums.cells[self.sums.rank[self.node], f, :, 0]
        filled, column = np.flatnonzero(rows[:-1]), self.columns[f]
        if len(filled) != 1 or rows[-1]:
            return len(filled) > 0
        if column.values[filled[0]] == column.ends[filled[0]]:
            return False
        x = self.sums.grown.matrix.column(f)[self.sums.grown.rows_of(self.node)]
        return bool(x.min() < x.max())

    def winner(self) -> Candidate:
        """Return the split of the model with its figures."""
        grown, tree = self.sums.grown, self.sums.tree
        f, first = int(tree.feature[self.node]), int(tree.first_child[self.node])
        rows = self.sums.cells[self.sums.rank[self.node], f, :, 0]
        values, left = self.columns[f].values[np.flatnonzero(rows[:-1])], self.sums.total[first]
        if tree.kind[self.node] == SUBSET and np.any(
            self.columns[f].values != self.columns[f].ends
        ):
            values = np.unique(grown.matrix.column(f)[grown.rows_of(self.node)])
            values = values[~np.isnan(values)]  # a bin may hold several categories
        test, charge = grown.split_question(self.node, values), self._charge(f, len(values))
        if not rows[-1]:
            return self.judged([_BareSplit(test, None, left, charge)])[0]
        side = "left" if tree.missing_child[self.node] == 0 else "right"
        return self.judged([_BareSplit(test, side, left, charge)])[0]

    def cuts(self, features: np.ndarray, most: int) -> list[Candidate]:
        """Return the best cuts of the columns of numbers that come closest."""
        sums = self.sums.of(self.node, features)
        missing = sums[:, -1]
        column, place = np.nonzero(sums[:, :-1, 0])
        below = np.cumsum(sums[:, :-1], axis=1).reshape(-1, sums.shape[-1])
        below = below.take(column * (sums.shape[1] - 1) + place, axis=0)
        is_last, gaps = np.diff(column, append=-1) != 0, missing[column, 0] > 0
        right, left = np.flatnonzero(~is_last | gaps), np.flatnonzero(~is_last & gaps)
        pick, goes_left = np.append(right, left), np.repeat([False, True], [len(right), len(left)])
        if len(left):  # cut by cut
            order = np.lexsort((goes_left, pick))
            pick, goes_left = pick[order], goes_left[order]
        lefts = below.take(pick, axis=0)
        if len(left):
            lefts += missing[column[pick]] * goes_left[:, None]
        gain = self.channels.gains(lefts, self.total)
        signs = np.asarray(self.sample.signs)[features[column[pick]]]
        allowed = self.channels.allowed(lefts, self.total, signs)
        found, best = [], first_of_columns(column[pick], gain, allowed)
        for i in best[np.argsort(-gain[best], kind="stable")[:most]].tolist():
            k = int(pick[i])
            f, cut = int(features[column[k]]), np.inf
            if not is_last[k]:
                ends = self.columns[f].ends[place[k]], self.columns[f].values[place[k + 1]]
                cut = cut_points(np.array(ends), self.sample.kinds[f])[0]
            side = None if not gaps[k] else "left" if goes_left[i] else "right"
            test, good = Question(f, "threshold", cut), bool(allowed[i])
            found.append(_BareSplit(test, side, lefts[i], allowed=good))
        return self.judged(found) if found else []

    def sets(self, f: int) -> list[Candidate]:
        """Return the best set of a column of categories, if it has any."""
        sums = self.sums.of(self.node, f)
        filled = np.flatnonzero(sums[:-1, 0])
        values, charge = self.columns[f].values[filled], self._charge(f, len(filled))

        def judged(question: Question, side: str | None, left: np.ndarray) -> Candidate:
            good = bool(self.channels.allowed(left[None], self.total, 0)[0])
            return self.judged([_BareSplit(question, side, left, charge, good)])[0]

        scan = scan_sums(self.channels, f, (values, values), sums[filled], sums[-1], judged)
        return scan.best() or scan.best(refused=True)

    def _charge(self, f: int, n_categories: int) -> float:
        if not self.sample.charged[f]:
            return 0.0
        chance = self.sample.chance(n_categories, int(self.total[0]), self.before)
        return chance * float(self.total[1]) / self.sample.total

    def judged(self, splits: list[_BareSplit]) -> list[Candidate]:
        """Return splits with their figures."""
        lefts = np.array([one.left for one in splits])
        rights, gains = self.total - lefts, self.channels.gains(lefts, self.total).tolist()
        sides = np.stack([lefts, rights])
        impurity = [
            np.maximum(self.channels.mixed(one) / one[:, 1], 0.0).tolist()
            for one in (lefts, rights)
        ]
        (n_left, n_right), (w_left, w_right) = sides[..., 0].tolist(), sides[..., 1].tolist()
        return [
            Candidate(
                *one.question.parts,
                n_left=int(n_left[i]),
                n_right=int(n_right[i]),
                weight_left=w_left[i],
                weight_right=w_right[i],
                impurity_left=impurity[0][i],
                impurity_right=impurity[1][i],
                gain=gains[i],
                verdict="admissible" if one.allowed else self.channels.refusal(sides[:, i]),
                left=_NO_ROWS,
                missing_goes=one.side,
                charge=one.charge,
            )
            for i, one in enumerate(splits)
        ]
