"""Checks a grown tree node by node against the textbook, whatever way ties fell.

Two correct programs may differ wherever two splits are equally good, so trees are not compared with
trees. Instead the engine's tree is walked from its root, and at every node the textbook writes down
all splits of the rows that are there:

    inner node   the engine's split is one of them, admissible, with the gain the engine says,
                 and none that the engine searches is better
    leaf         a rule stops it, or the table has nothing to offer

Rules that compare rounded numbers (a side weighs exactly as much as it must, both sides of a monotone
split have the same mean) are decided by the last bit; such a split may be taken or left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.testing import assert_allclose

from arboretum.structure.tree import LEAF, SUBSET, Tree
from arboretum.textbook.cart import EPSILON, surrogates
from arboretum.textbook.impurities import best_value, impurity
from arboretum.textbook.splits import UNBOUNDED, Candidate, Rules, candidates, gather

RTOL, ATOL = 1e-9, 1e-12
EXHAUSTIVE = 10  # up to so many categories the engine tries every subset, if one scan is not enough


def close(a: float, b: float) -> bool:
    return abs(a - b) <= ATOL + RTOL * max(abs(a), abs(b))


@dataclass
class Walk:
    """One tree and the encoded data it was grown on."""

    tree: Tree
    X: np.ndarray
    y: np.ndarray  # (n, outputs)
    w: np.ndarray
    rules: Rules
    tries: str = "all"  # "some columns" (max_features), "some cuts" (splitter="random")
    leaf_of: np.ndarray = field(init=False)  # where each row ended
    gains: dict[int, float] = field(default_factory=dict)  # of every leaf that could be split
    n_checked: int = 0

    def check(self) -> Walk:
        """Check every node, and (best-first growth) the order in which nodes were divided."""
        self.leaf_of = np.full(len(self.X), -1)
        self.total = float(self.w.sum())
        whole = gather(self.X, self.y, self.w, self.rules)  # categories count in the whole table
        self.rules = replace(self.rules, charged=whole.charged)
        self._visit(0, np.flatnonzero(self.w > 0), UNBOUNDED)
        assert self.n_checked == len(self.tree)
        if self.rules.max_leaf_nodes is not None:
            self._check_order()
        return self

    def _visit(self, node: int, rows: np.ndarray, bounds: tuple[float, float]) -> None:
        self.n_checked += 1
        self._check_figures(node, rows, bounds)
        if self.tree.kind[node] == LEAF:
            self.leaf_of[rows] = node
            best = self._reason_for_leaf(node, rows, bounds)
            if best is not None:
                self.gains[node] = best
            return
        split = self._check_split(node, rows, bounds)
        self._check_default(node, rows, split)
        if self.rules.surrogates:
            self._check_surrogates(node, rows, split)
        left = goes_left(self.tree, node, self.X[rows])
        child = int(self.tree.first_child[node])
        below = self._bounds_below(node, bounds)
        self._visit(child, rows[left], below[0])
        self._visit(child + 1, rows[~left], below[1])

    # ------------------------------------------------------------------ figures
    def _check_figures(self, node: int, rows: np.ndarray, bounds: tuple[float, float]) -> None:
        tree, criterion = self.tree, self.rules.criterion
        y, w = self.y[rows], self.w[rows]
        assert tree.count[node] == len(rows)
        assert_allclose(tree.weight[node], w.sum(), rtol=1e-12)
        mixed = impurity(criterion, y, w, self.rules.n_classes)
        assert_allclose(tree.impurity[node], mixed, rtol=RTOL, atol=ATOL)
        value = best_value(criterion, y, w, self.rules.n_classes)
        if bounds != UNBOUNDED:
            value[0, -1] = np.clip(value[0, -1], *bounds)
            value[0, :-1] = 1 - value[0, -1]
        assert_allclose(tree.value[node], value, rtol=RTOL, atol=ATOL)

    def _bounds_below(self, node: int, bounds: tuple[float, float]) -> list[tuple[float, float]]:
        signs = self.rules.monotonic_cst
        sign = signs[self.tree.feature[node]] if signs else 0
        if not sign:
            return [bounds, bounds]
        child = int(self.tree.first_child[node])
        middle = float(self.tree.value[child : child + 2, 0, -1].mean())
        halves = [(bounds[0], middle), (middle, bounds[1])]
        return halves if sign > 0 else halves[::-1]

    # ------------------------------------------------------------------ splits
    def _table(self, rows: np.ndarray, bounds: tuple[float, float], rules: Rules):
        return candidates(self.X[rows], self.y[rows], self.w[rows], rules, self.total, bounds)

    def _check_split(self, node: int, rows: np.ndarray, bounds: tuple[float, float]) -> Candidate:
        tree, rules = self.tree, self.rules
        assert not self._stopped(node, rows), "a rule should have stopped this node"
        table = self._table(rows, bounds, rules)
        split = self._find(table, node, rows)
        assert self._admissible(split, rows, bounds) != "no", split.verdict
        assert close(tree.gain[node], split.gain), (tree.gain[node], split.gain)
        assert tree.gain[node] + 2 * EPSILON >= rules.min_impurity_decrease
        if self.tries == "some cuts":
            return split
        if self.tries == "some columns":
            table = [c for c in table if c.feature == split.feature]
        best = self._best(table, rows, bounds)
        if best is not None:
            slack = ATOL + RTOL * (abs(best.worth) + best.charge)
            assert split.worth >= best.worth - slack, (
                f"node {node} is worth {split.worth}, the textbook finds {best.worth}"
            )
        return split

    def _find(self, table: list[Candidate], node: int, rows: np.ndarray) -> Candidate:
        """Return the textbook's split that sends the same rows to the same sides."""
        tree, X = self.tree, self.X[rows]
        feature = int(tree.feature[node])
        used = ~np.isnan(X[:, feature]) if self.rules.surrogates else np.ones(len(X), bool)
        left = goes_left(tree, node, X)[used]
        assert 0 < left.sum() < len(left)
        for split in table:
            theirs = split.left[used]
            if split.feature != feature:
                continue
            if tree.kind[node] == SUBSET:  # which side is called left is no matter
                if np.array_equal(left, theirs) or np.array_equal(left, ~theirs):
                    return split
            elif np.array_equal(left, theirs):
                if self.tries == "some cuts":
                    self._check_range(tree.threshold[node], X[:, feature])
                else:
                    assert split.threshold == tree.threshold[node]
                return split
        raise AssertionError(f"the textbook does not know the split of node {node}: {tree[node]}")

    def _check_range(self, threshold: float, x: np.ndarray) -> None:
        """A drawn cut lies between the node's values, or asks whether there is one."""
        assert np.nanmin(x) <= threshold < np.nanmax(x) or threshold == np.inf

    def _best(
        self, table: list[Candidate], rows: np.ndarray, bounds: tuple[float, float]
    ) -> Candidate | None:
        """Return the one worth most among the splits the engine is sure to try."""
        tried = [c for c in table if c.kind == "threshold" or self._is_searched(c, rows)]
        if not all(self._is_searched(c, rows) for c in table):
            features = {c.feature for c in table}
            ordered = self._table(rows, bounds, replace(self.rules, exhaustive=False))
            tried += [c for c in ordered if c.feature in features and self._is_sorted(c, rows)]
        allowed = [c for c in tried if self._admissible(c, rows, bounds) == "yes"]
        return max(allowed, key=lambda c: c.worth, default=None)

    def _is_searched(self, split: Candidate, rows: np.ndarray) -> bool:
        """Tell whether the engine is bound to meet a split that parts categories.

        One order of the categories holds the best subset only if nothing but the gain decides; with
        many classes or targets every subset is tried, if there are few categories.
        """
        if split.kind == "threshold" or not split.right_categories:
            return True
        rules = self.rules
        if rules.criterion == "absolute_error":
            return False
        if not self._one_axis:
            return len(split.left_categories | split.right_categories) <= EXHAUSTIVE
        free = rules.min_samples_leaf == 1 and rules.min_weight_leaf == 0
        return free and rules.criterion != "poisson"

    @property
    def _one_axis(self) -> bool:
        n_classes = self.rules.n_classes
        two = n_classes is None or max(n_classes) <= 2
        return self.y.shape[1] == 1 and two

    def _is_sorted(self, split: Candidate, rows: np.ndarray) -> bool:
        """Tell whether the engine's one scan of the sorted categories meets the split for sure."""
        if split.kind == "threshold" or not self._one_axis:
            return False
        x, y, w = self.X[rows, split.feature], self.y[rows, 0], self.w[rows]
        means = [
            np.average(y[x == code], weights=w[x == code])
            for code in split.left_categories | split.right_categories
        ]
        return len(means) < 2 or float(np.diff(np.sort(means)).min()) > 1e-9

    def _admissible(self, split: Candidate, rows: np.ndarray, bounds: tuple[float, float]) -> str:
        """Return "yes", "no", or "perhaps" where the last bit decides."""
        rules = self.rules
        if split.verdict not in ("admissible", "min_weight_leaf", "monotone constraint"):
            return "no"
        slack = min(split.weight_left, split.weight_right) - rules.min_weight_leaf
        slack = slack if rules.min_weight_leaf else np.inf
        sign = rules.monotonic_cst[split.feature] if rules.monotonic_cst else 0
        if sign:
            used = ~np.isnan(self.X[rows, split.feature]) | (not rules.surrogates)
            a, b = (
                float(
                    best_value(rules.criterion, self.y[part], self.w[part], rules.n_classes)[0, -1]
                )
                for part in (rows[split.left], rows[used & ~split.left])
            )
            slack = min(slack, sign * (b - a), min(a, b) - bounds[0], bounds[1] - max(a, b))
        if abs(slack) <= 1e-9:
            return "perhaps"
        return "yes" if slack > 0 else "no"

    # ------------------------------------------------------------------ leaves
    def _stopped(self, node: int, rows: np.ndarray) -> bool:
        rules, n = self.rules, len(rows)
        return (
            (rules.max_depth is not None and self.tree.depth[node] >= rules.max_depth)
            or n < max(rules.min_samples_split, 2 * rules.min_samples_leaf)
            or self.tree.weight[node] < 2 * rules.min_weight_leaf * (1 - 1e-12)
            or bool(np.all(self.y[rows] == self.y[rows[0]]))
        )

    def _reason_for_leaf(
        self, node: int, rows: np.ndarray, bounds: tuple[float, float]
    ) -> float | None:
        """Check that the leaf is one; return its gain if only the number of leaves stops it."""
        if self._stopped(node, rows):
            return None
        table, least = self._table(rows, bounds, self.rules), self.rules.min_impurity_decrease
        if self.tries != "all" and (
            least or any(self._admissible(c, rows, bounds) != "yes" for c in table)
        ):
            return None  # what was drawn may have been refused
        best = self._best(table, rows, bounds)
        if best is None or (least and best.gain < least * (1 + RTOL) + ATOL):
            return None
        if least and best.charge:  # another split of the same worth may gain less
            return None
        assert self.rules.max_leaf_nodes is not None, f"leaf {node} could gain {best.gain}"
        return best.gain

    def _check_order(self) -> None:
        """Replay best-first growth: what is divided next always gains most."""
        tree, limit = self.tree, self.rules.max_leaf_nodes
        assert tree.n_leaves <= limit
        frontier, n_leaves = {0}, 1
        while inner := [t for t in frontier if tree.kind[t] != LEAF]:
            node = max(inner, key=lambda t: tree.gain[t])
            others = [self.gains[t] for t in frontier if t in self.gains]
            assert tree.gain[node] >= max(others, default=0.0) * (1 - RTOL) - ATOL
            first = int(tree.first_child[node])
            frontier = frontier - {node} | {first, first + 1}
            n_leaves += 1
        assert n_leaves == limit or not self.gains, "growth ended too early"

    # ------------------------------------------------------------------ missing values
    def _check_default(self, node: int, rows: np.ndarray, split: Candidate) -> None:
        """Missing values and categories not met go to the side learned, else to the heavier one."""
        tree, feature = self.tree, int(self.tree.feature[node])
        x = self.X[rows, feature]
        left = goes_left(tree, node, self.X[rows])
        side = int(tree.missing_child[node])
        known = ~np.isnan(x)
        if not known.all() and not self.rules.surrogates:
            assert np.all(left[~known] == (side == 0))
        else:
            w = self.w[rows]
            weights = w[known & left].sum(), w[known & ~left].sum()
            if close(*weights):
                exact = np.all(w == np.floor(w))
                assert side == 0 or not exact
            else:
                assert side == int(weights[1] > weights[0])
        if tree.kind[node] == SUBSET:
            met = split.left_categories | split.right_categories
            for code in set(range(len(tree.column(feature).categories))) - met:
                assert has_bit(tree, int(tree.bits_start[node]), code) == (side == 0)

    # ------------------------------------------------------------------ surrogates
    def _check_surrogates(self, node: int, rows: np.ndarray, split: Candidate) -> None:
        """The engine's surrogates are the textbook's, up to the order of equally good ones."""
        X, w = self.X[rows], self.w[rows]
        known = ~np.isnan(X[:, split.feature])
        left, weight = goes_left(self.tree, node, X), float(w[known].sum())
        mirrored = replace(split, left=left & known)
        kinds = self.rules.kinds
        signs = self.rules.monotonic_cst or ()
        every = surrogates(X, w, mirrored, kinds, signs, keep=len(kinds))
        majority = max(w[known & left].sum(), w[known & ~left].sum()) / weight
        every = [s for s in every if s.agreement > majority + 1e-9]
        mine = list(surrogates_of(self.tree, node))
        keep = self.rules.surrogates
        assert len({s.feature for s in mine}) == len(mine) <= keep
        assert len(mine) >= min(keep, len(every))
        shares = [s.agreement for s in mine]
        assert_allclose(shares[: len(every)], [s.agreement for s in every[:keep]], rtol=RTOL)
        best = {s.feature: s.agreement for s in every}
        for s in mine:
            both = known & ~np.isnan(X[:, s.feature])
            says = s.goes_left(X[both, s.feature])
            assert min(says.sum(), (~says).sum()) >= 2
            agreeing = float(w[both][says == left[both]].sum()) / weight
            assert_allclose(s.agreement, agreeing, rtol=RTOL)
            assert_allclose(s.agreement, best.get(s.feature, majority), rtol=RTOL)


# ---------------------------------------------------------------------- reading a tree
def has_bit(tree: Tree, start: int, code: int) -> bool:
    return bool((int(tree.bits[start + code // 32]) >> (code % 32)) & 1)


@dataclass(frozen=True)
class StandIn:
    """One surrogate of a fitted tree."""

    tree: Tree = field(repr=False)
    feature: int
    kind: int
    threshold: float
    reverse: bool
    bits_start: int
    agreement: float

    def goes_left(self, x: np.ndarray) -> np.ndarray:
        return _yes(self.tree, self.kind, self.threshold, self.bits_start, x) != self.reverse


def surrogates_of(tree: Tree, node: int) -> Iterator[StandIn]:
    s = tree.surrogates
    if s is not None:
        for i in range(s.start[node], s.start[node + 1]):
            yield StandIn(
                tree,
                int(s.feature[i]),
                int(s.kind[i]),
                float(s.threshold[i]),
                bool(s.reverse[i]),
                int(s.bits_start[i]),
                float(s.agreement[i]),
            )


def _yes(tree: Tree, kind: int, threshold: float, start: int, x: np.ndarray) -> np.ndarray:
    if kind == SUBSET:
        return np.array([has_bit(tree, start, int(code)) for code in x], dtype=bool)
    return x <= threshold


def goes_left(tree: Tree, node: int, X: np.ndarray) -> np.ndarray:
    """Return which rows of an encoded table a node sends to its first child."""
    x = X[:, tree.feature[node]]
    left = np.full(len(X), tree.missing_child[node] == 0)
    known = ~np.isnan(x)
    question = tree.kind[node], tree.threshold[node], tree.bits_start[node]
    left[known] = _yes(tree, *question, x[known])
    for s in surrogates_of(tree, node):
        value = X[:, s.feature]
        answered = ~known & ~np.isnan(value)
        left[answered] = s.goes_left(value[answered])
        known |= answered
    return left
