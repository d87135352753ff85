"""Worksheets of second-order boosting: XGBoost's and LightGBM's estimators, all objectives and ways to grow.

A round is played again up to its tree: margins of the rounds before it, derivatives there, the rows and columns that were
drawn, the bins. Everything follows from (model, X, y): draws are hashes of (seed, round, output, node).

    margin before the round ──objective──► g, h ──draws──► rows, columns of the tree
                                              └─ node by node down to the one asked for: G, H, n, bounds, answers

Histogram growth rounds g and h to 16 bits, at random, before it looks for splits: gains and covers it keeps are those of the
rounded numbers, so they differ from the sums shown by up to half a unit per row (said on the sheet). What leaves answer is
summed from finer numbers.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.boosting.second_order.dart import dropped_trees
from arboretum.boosting.second_order.fit import GivenTable, margins_of, rows_that_count
from arboretum.boosting.second_order.recipe import Recipe, TrainingTable
from arboretum.engine.keys import key_of
from arboretum.errors import DataError
from arboretum.explain.worksheet.cart import truth_of
from arboretum.explain.worksheet.draws import columns_visited
from arboretum.explain.worksheet.family import Family, check_rows_of, class_names, index_of
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, Table
from arboretum.textbook.gradient_scan import (
    GradientCandidate,
    GradientNode,
    GradientRules,
    GradientScan,
    gradient_answer,
    scan_bins,
    scan_one,
    scan_sets,
)
from arboretum.tree.condition import Condition, format_category
from arboretum.tree.tree import SUBSET, Tree

if TYPE_CHECKING:
    from arboretum.engine.gradient.score import SplitRules
    from arboretum.grow.bins.bins import Bins

__all__ = ["SecondOrderFamily"]

_RIVALS = 8
_MANY = 1 << 29  # more than any limit that somebody sets
_OPTIONAL = ("missing", "rows left", "rows right", "tried", "H left", "H right")


def rules_of(rules: SplitRules) -> GradientRules:
    """Return the engine's rules in the words of the textbook."""
    return GradientRules(
        reg_lambda=rules.l2, reg_alpha=rules.l1, max_delta_step=rules.max_delta_step,
        path_smooth=rules.path_smooth, min_gain=rules.min_gain, reach_gain=bool(rules.reach_gain),
        min_weight=rules.min_weight, min_rows=rules.min_rows, xgboost=bool(rules.as_xgboost),
        max_onehot=rules.max_onehot, max_cat_threshold=rules.max_cat_threshold,
        cat_smooth=rules.cat_smooth, cat_min_rows=rules.cat_min_rows, cat_l2=rules.cat_l2,
        min_group=rules.min_group,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class RoundState:
    """A round up to its trees: where margins stood and what was drawn; rows are those that count."""

    number: int
    margin: np.ndarray  # (rows, outputs), what derivatives were taken at
    before: np.ndarray  # the same with trees that dart left out
    g: np.ndarray  # (outputs, rows)
    h: np.ndarray
    dropped: list[int]


@dataclass(frozen=True, eq=False)
class AtNode:
    """What a node had when it was looked at."""

    rows: np.ndarray
    node: GradientNode  # with the answer its children lean on
    lean: float  # what it leaned on itself: its parent's answer
    extra_l2: float
    depth: int


class SecondOrderFamily(Family):
    """XGBoost's and LightGBM's boosters."""

    answers: ClassVar = ("node", "leaf", "row", "round")
    without: ClassVar = {
        "pruning": "trees of boosting are held back by γ, depth and leaves, not pruned along a path",
        "oob": "boosting keeps no out-of-bag answers; ask .round(m) for the rows that a round drew",
    }

    def __init__(self, model: Any, given: Any) -> None:
        super().__init__(model, given)
        self.state = lru_cache(maxsize=3)(self._state)
        self.bins_of = lru_cache(maxsize=2)(self._bins_of)

    # ------------------------------------------------------------------ the fit once more
    @cached_property
    def whole(self) -> TrainingTable:
        """The training table with all its rows."""
        model, given = self.model, self.given
        y = self.twin._labels(given.y, self.n_rows)
        groups = None if given.group is None else np.asarray(given.group)
        if model.target == "orders" and groups is None:
            raise DataError(
                f"worksheet of a {self.name} needs group=, the sizes of the groups it was trained on"
            )
        weighs = getattr(model, "class_weight", None) if model.dialect == "lightgbm" else None
        margin = given.base_margin
        if margin is not None and model.dialect == "lightgbm":
            from arboretum.boosting.lightgbm.tables import by_output

            margin = by_output(margin, given.y)
        table = GivenTable(
            given.X, given.y, given.sample_weight, margin, groups, class_weight=weighs
        )
        return TrainingTable(
            *self.twin._rows(table, self.matrix, y), schema=model.schema_,
            n_classes=getattr(model, "n_classes_", None),
        )  # fmt: skip

    @cached_property
    def table(self) -> TrainingTable:
        """The training table; rows of weight 0 are left out."""
        table = rows_that_count(self.whole)
        check_rows_of(len(table.y), self.model._n_rows, self.name)
        return table

    @cached_property
    def kept(self) -> np.ndarray:
        """The numbers of the rows that count."""
        n = self.n_rows
        return np.arange(n) if self.table.is_complete else np.flatnonzero(self.whole.weight)

    @cached_property
    def recipe(self) -> Recipe:
        """What the parameters came to."""
        model = copy.copy(self.model)
        if callable(model.objective) or self.objective.name != model.objective:
            model.objective = None if callable(model.objective) else model.objective
        if model.dialect == "xgboost":
            from arboretum.boosting.xgboost.recipe import make_recipe

            return make_recipe(model, self.table, model.seed_, self.threads, evaluates=False)
        from arboretum.boosting.lightgbm.recipe import make_recipe as make_lightgbm
        from arboretum.boosting.lightgbm.tables import FitArguments

        arguments = FitArguments()
        return make_lightgbm(
            model, arguments, self.table, model.seed_, self.threads, evaluates=False
        )

    @property
    def objective(self) -> Any:
        return self.model.objective_

    @property
    def plan(self) -> Any:
        return self.recipe.plan

    @cached_property
    def rules(self) -> GradientRules:
        return rules_of(self.plan.rules)

    @property
    def ensemble(self) -> Any:
        return self.model.ensemble_

    @property
    def is_exact(self) -> bool:
        """Whether every value was tried."""
        return type(self.recipe.table).__name__ == "PresortedColumns"

    @cached_property
    def start(self) -> np.ndarray:
        """The margins before the first round, (rows, outputs)."""
        return margins_of(self.table.base_margin, len(self.table.y), self.ensemble.base)

    @cached_property
    def dart_rounds(self) -> list[tuple[np.ndarray, list[int]]]:
        """Of every round of dart: what the trees before it weighed, and which were left out."""
        ensemble, plan, per = self.ensemble, self.plan, self.ensemble.per_round
        weights: list[float] = []
        found = []
        for m in range(ensemble.n_rounds):
            now = np.array(weights)
            dropped = dropped_trees(plan.dart, now, per, plan.seed, m) if m else []
            found.append((now, dropped))
            new, old = 1.0, 1.0
            if dropped:
                new, old = plan.dart.shares(len(dropped) // per, plan.learning_rate)
            for t in dropped:
                weights[t] *= old
            weights += [new] * per
        return found

    def _state(self, m: int) -> RoundState:
        """Return a round up to its trees."""
        ensemble, matrix = self.ensemble, self.table.matrix
        dropped: list[int] = []
        margin = before = self.start
        if not ensemble.averaged and m:
            if self.plan.dart is None:
                margin = before = ensemble.rounds(0, m).answers(matrix, self.threads, self.start)
            else:
                now, dropped = self.dart_rounds[m]
                trees = ensemble.trees[: len(now)]
                before = replace(ensemble, trees=trees, weights=now).answers(
                    matrix, self.threads, self.start
                )
                held = now.copy()
                held[dropped] = 0.0
                margin = replace(ensemble, trees=trees, weights=held).answers(
                    matrix, self.threads, self.start
                )
        g, h = self._derivatives(np.ascontiguousarray(margin), m)
        return RoundState(m, margin, before, g, h, dropped)

    def _derivatives(self, margin: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
        table, shape = self.table, margin.shape[::-1]
        g, h = np.empty(shape, np.float32), np.empty(shape, np.float32)
        turn = 0 if self.ensemble.averaged else m
        self.objective.derivatives(
            table.y, margin, table.weight, g, h, self.threads, iteration=turn, groups=table.groups
        )
        return g, h

    def place_of(self, t: int) -> tuple[int, int, int]:
        """Return round, output and place among parallel trees of a tree."""
        per, side = self.ensemble.per_round, self.ensemble.n_parallel
        return t // per, t % per // side, t % side

    def drawn_rows(self, t: int) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the rows that a tree was grown on, and what each counts."""
        m, _, twin = self.place_of(t)
        state = self.state(m)
        rows, factor = self.recipe.draws.rows(self.plan, state.g, state.h, m, twin)
        return (np.arange(len(self.table.y)) if rows is None else rows.astype(np.int64)), factor

    def gradients(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Return g and h of all rows as a tree saw them: 0 for rows it was not grown on."""
        m, output, _ = self.place_of(t)
        state, (rows, factor) = self.state(m), self.drawn_rows(t)
        g, h = (np.zeros(len(self.table.y)) for _ in range(2))
        by = 1.0 if factor is None else factor
        g[rows], h[rows] = state.g[output, rows] * by, state.h[output, rows] * by
        return g, h

    # ------------------------------------------------------------------ bins
    def _bins_of(self, m: int, t: int) -> Bins | None:
        """Return the bins that a tree was grown on; None if every value was tried, or each node had its own."""
        maker = self.recipe.table
        if self.is_exact or getattr(maker, "proposals", "") == "local":
            return None
        if getattr(maker, "proposals", "") == "global":
            weight = self.gradients(t)[1]
            return maker.bins(self.table.matrix, self.table.schema, weight, self.threads)
        hessian = None
        if maker.follows != "never":
            hessian = self.state(0 if maker.follows == "first" else m).h.sum(
                axis=0, dtype=np.float64
            )
        return maker.make(self.table, self.plan, hessian).bins

    def bins_for(self, t: int) -> Bins | None:
        m, _, _ = self.place_of(t)
        maker = self.recipe.table
        if getattr(maker, "proposals", "") == "global":
            return self.bins_of(m, t)
        return self.bins_of(0 if maker.follows != "every" else m, -1)

    def binned(self, t: int, f: int, at: AtNode) -> tuple[np.ndarray, np.ndarray, Any]:
        """Return the bin of every row of a node on a column (-1: missing), the cuts, and categories or None."""
        bins, column = self.bins_for(t), self.table.schema.columns[f]
        x = self.table.matrix.column(f)[at.rows]
        if bins is None and getattr(self.recipe.table, "proposals", "") == "local":
            weight = self.gradients(t)[1][at.rows]
            part = self.table.matrix.take(at.rows)
            bins = self.recipe.table.bins(part, self.table.schema, weight, self.threads)
        if bins is None:
            values = np.unique(x[~np.isnan(x)])
            code = np.where(np.isnan(x), -1, np.searchsorted(values, x))
            middles = values[:-1] / 2 + values[1:] / 2
            if column.kind == "ordinal" and column.categories:
                middles = np.floor(middles)
            return code, middles, None
        if bins.is_category[f]:
            known = bins.categories_of(f)
            place = np.full(len(column.categories or ()) + 1, -1)
            place[known] = np.arange(len(known))
            return place[np.where(np.isnan(x), -1, x).astype(np.int64)], np.empty(0), known.tolist()
        bounds = bins.bounds_of(f)
        code = np.where(np.isnan(x), -1, np.searchsorted(bounds, x))
        if (
            bins.offset[f] > 0
            and bins.conflicts[bins.storage[f]]
            and bins.n_rows == len(self.table.y)
        ):
            code = self._bundled(bins, f, at.rows)
        cuts = bounds[:-1]
        if column.kind == "ordinal" and column.categories:
            cuts = np.floor(cuts)
        return code, cuts, None

    def _bundled(self, bins: Bins, f: int, rows: np.ndarray) -> np.ndarray:
        """Return the bins of a bundled column as the bundle remembers them: a lost value is the usual one."""
        stored = bins.line(int(bins.storage[f]))[rows].astype(np.int64)
        default, first, n = int(bins.default_bin[f]), int(bins.offset[f]), int(bins.n_bins[f])
        own = (stored >= first) & (stored < first + n - 1)
        bin_of = stored - first
        return np.where(own, bin_of + (bin_of >= default), default)

    # ------------------------------------------------------------------ down to a node
    def _goes_left(self, tree: Tree, node: int, t: int, rows: np.ndarray) -> np.ndarray:
        """Return which rows a node sends left, as it was when the tree grew."""
        f = int(tree.feature[node])
        x = self.table.matrix.column(f)[rows]
        missing, left = np.isnan(x), np.zeros(len(x), bool)
        if tree.kind[node] == SUBSET:
            codes = np.where(missing, 0, x).astype(np.int64)
            start = int(tree.bits_start[node])
            left = ((tree.bits[start + (codes >> 5)] >> (codes & 31).astype(np.uint32)) & 1).astype(
                bool
            )
            bins = self.bins_for(t)
            if bins is not None:  # categories without a bin count as missing
                missing = missing | ~np.isin(codes, bins.categories_of(f))
        else:
            bins = self.bins_for(t)
            lost = bins is not None and bins.offset[f] > 0 and bins.conflicts[bins.storage[f]]
            if lost and bins.n_rows == len(self.table.y):
                cut = np.searchsorted(bins.bounds_of(f), tree.threshold[node])
                return self._bundled(bins, f, rows) <= cut
            left = x <= tree.threshold[node]
        return np.where(missing, tree.missing_child[node] == 0, left)

    def at(self, t: int, node: int) -> AtNode:
        """Return what a node had when it was looked at: its rows and sums, bounds and answers of the nodes above."""
        tree, (rows, _) = self.trees[t], self.drawn_rows(t)
        g, h = self.gradients(t)
        rules, signs = self.rules, self.plan.monotone
        way = []
        while node:
            way.append(node)
            node = int(tree.parent[node])
        here = self._described(rows, g, h, np.nan, (-np.inf, np.inf), 0.0, 0)
        at = 0
        for step in reversed(way):
            left = self._goes_left(tree, at, t, here.rows)
            extra = self._extra_l2(tree, at, t)
            sides = [
                self._described(
                    here.rows[side], g, h, here.node.answer, here.node.bounds, extra, here.depth + 1
                )
                for side in (left, ~left)
            ]
            sign = 0 if signs is None or tree.kind[at] == SUBSET else int(signs[tree.feature[at]])
            place = step - int(tree.first_child[at])
            here = sides[place]
            if sign:
                middle = sides[0].node.answer / 2 + sides[1].node.answer / 2
                low, high = here.node.bounds
                bounds = (
                    (low, min(high, middle))
                    if (place == 0) == (sign > 0)
                    else (max(low, middle), high)
                )
                answer = here.node.answer
                if self.is_exact:  # answers are written again within the new bounds
                    answer = float(np.clip(answer, *bounds))
                here = replace(here, node=replace(here.node, bounds=bounds, answer=answer))
            at = step
        del rules
        return here

    def _extra_l2(self, tree: Tree, node: int, t: int) -> float:
        """Return by how much λ of a node's children is raised: LightGBM's sorted categories."""
        if tree.kind[node] != SUBSET or not self.rules.cat_l2:
            return 0.0
        bins = self.bins_for(t)
        assert bins is not None
        return (
            self.rules.cat_l2
            if int(bins.n_bins[int(tree.feature[node])]) > self.rules.max_onehot
            else 0.0
        )

    def _described(
        self, rows: np.ndarray, g: np.ndarray, h: np.ndarray, lean: float, bounds: tuple[float, float],
        extra: float, depth: int,
    ) -> AtNode:  # fmt: skip
        G, H, n = float(g[rows].sum()), float(h[rows].sum()), float(len(rows))
        answer = float(gradient_answer(G, H, n, lean, bounds, self.rules, extra))
        if self.is_exact and not (H > 0 and H >= self.rules.min_weight):
            answer = 0.0
        node = GradientNode(G, H, n, answer, bounds, self.rules)
        return AtNode(rows, node, lean, extra, depth)

    # ------------------------------------------------------------------ columns
    def columns_of(self, t: int, node: int, at: AtNode) -> tuple[list[int], str]:
        """Return the columns that a node may ask for, and a sentence on how they were drawn."""
        m, output, twin = self.place_of(t)
        plan, rules, tree = self.plan, self.plan.rules, self.trees[t]
        key = key_of(plan.seed, m, output, twin)
        columns = [int(f) for f in self.recipe.draws.tree_columns(plan, key)]
        width, said = self.table.schema.n_features, []
        if len(columns) < width:
            said.append(f"the tree drew {len(columns)} of {width} columns")
        for what, many, place in (
            ("depth", rules.level_columns, at.depth << 1),
            ("node", rules.node_columns, node << 1 | 1),
        ):
            if not many or many >= len(columns):
                continue
            if what == "node" and self.is_exact and rules.min_gain > 0:
                return (
                    columns,
                    "which columns this node drew cannot be told, because pruning numbered the nodes anew",
                )
            picked = columns_visited(key_of(key, place), len(columns), many, lambda f: True)
            columns = sorted(columns[k] for k in picked)
            said.append(
                f"its {what} drew {many} of those" if said else f"its {what} drew {many} columns"
            )
        if plan.groups is not None:
            open_ = np.full(plan.groups.shape[1], ~np.uint64(0))
            above = node
            while above:
                above = int(tree.parent[above])
                open_ &= plan.groups[int(tree.feature[above])]
            before = len(columns)
            columns = [f for f in columns if (plan.groups[f] & open_).any()]
            if len(columns) < before:
                said.append("interaction constraints leave those that may meet the columns above")
        return columns, "; ".join(said)

    def scan(self, t: int, f: int, at: AtNode) -> GradientScan:
        """Return the candidates of a column at a node."""
        code, cuts, categories = self.binned(t, f, at)
        g, h = self.gradients(t)
        values = np.column_stack([g[at.rows], h[at.rows], np.ones(len(at.rows))])
        n_bins = len(categories) if categories is not None else len(cuts) + 1
        place = np.where(code < 0, n_bins, code)
        sums = np.column_stack([np.bincount(place, column, n_bins + 1) for column in values.T])
        sign = 0 if self.plan.monotone is None else int(self.plan.monotone[f])
        if categories is not None:
            return scan_sets(at.node, f, sums[:-1], categories, sums[-1])
        return scan_bins(at.node, f, sums[:-1], cuts, sums[-1], sign)

    # ------------------------------------------------------------------ a node
    def node(self, tree: Any, node: Any) -> Sheet:
        t = self.number_of_tree(tree)
        grown = self.trees[t]
        k = self.number_of_node(grown, node)
        at = self.at(t, k)
        columns, drawn = self.columns_of(t, k, at)
        scans = {f: self.scan(t, f, at) for f in columns}
        winner = None if grown.is_leaf[k] else self._winner(t, k, at)
        what = "a leaf" if winner is None else grown.condition(k, 0).pretty() + "?"
        formulas = [self._score_formula(at)]
        if winner is not None:
            formulas.append(_gain_formula(winner))
        notes = self._node_notes(t, k, at, winner, scans, drawn)
        tables = [self._columns_table(scans, winner), self._rivals_table(scans, winner)]
        return Sheet(
            f"node {k} of {self.title(t)}: {what}", self._facts(t, k, at), formulas,
            [one for one in tables if one.rows], notes,
        )  # fmt: skip

    def title(self, t: int) -> str:
        m, output, twin = self.place_of(t)
        text = f"tree {t}, round {m}" if self.ensemble.per_round > 1 else f"tree {t}"
        classes = class_names(self.model)
        if self.ensemble.n_outputs > 1:
            text += f", class {classes[output]}" if classes is not None else f", output {output}"
        return text + (f", twin {twin}" if self.ensemble.n_parallel > 1 else "")

    def _facts(self, t: int, node: int, at: AtNode) -> dict[str, Any]:
        tree = self.trees[t]
        way = " and ".join(one.pretty() for one in tree.path_to(node)) or "all rows"
        facts: dict[str, Any] = {
            "way here": way, "rows": len(at.rows), "ΣG": at.node.G, "ΣH": at.node.H,
            "cover the model keeps": float(tree.weight[node]),
        }  # fmt: skip
        if not tree.is_leaf[node]:
            facts["gain the model keeps"] = float(tree.gain[node])
        return facts

    def _winner(self, t: int, node: int, at: AtNode) -> GradientCandidate:
        """Return the split of the model, with its figures."""
        tree = self.trees[t]
        f = int(tree.feature[node])
        left = self._goes_left(tree, node, t, at.rows)
        g, h = self.gradients(t)
        sums = np.array([g[at.rows[left]].sum(), h[at.rows[left]].sum(), left.sum()], np.float64)
        missing = float(np.isnan(self.table.matrix.column(f)[at.rows]).sum())
        categories = None
        if tree.kind[node] == SUBSET:
            inside = tree.categories_of(int(tree.bits_start[node]), f)[0]
            words = tree.column(f).categories or ()
            categories = frozenset(c for c, word in enumerate(words) if word in set(inside))
        sign = 0 if self.plan.monotone is None else int(self.plan.monotone[f])
        return scan_one(
            at.node, f, sums, float(tree.threshold[node]), categories,
            "left" if tree.missing_child[node] == 0 else "right", 0 if categories else sign,
            self._extra_l2(tree, node, t), missing,
        )  # fmt: skip

    def question(self, c: GradientCandidate) -> str:
        """Return a candidate's question in the words of the table."""
        column = self.table.schema.columns[c.feature]
        words = column.categories or ()
        if c.categories is not None:
            left = tuple(words[k] for k in sorted(c.categories))
            text = Condition(c.feature, column.name, "in", left, kind=column.kind).pretty(
                max_categories=5
            )
        elif c.cut == np.inf:
            return f"{column.name} is present"
        else:
            shown: Any = format_category(words[int(c.cut)]) if words else c.cut
            text = Condition(
                c.feature, column.name, "<=", (shown,), kind=column.value_kind
            ).pretty()
        return text + (" or missing" if c.default == "left" and c.missing_rows else "")

    def _line(self, c: GradientCandidate) -> tuple[Any, ...]:
        return (
            self.question(c), c.G_left, c.G_right, c.H_left, c.H_right, int(c.n_left), int(c.n_right),
            c.score_left, c.score_right, c.gain,
        )  # fmt: skip

    _header: ClassVar = (
        "split", "G left", "G right", "H left", "H right", "rows left", "rows right", "sim. left", "sim. right",
        "gain",
    )  # fmt: skip

    def _is_winner(self, c: GradientCandidate, winner: GradientCandidate | None) -> bool:
        if winner is None or c.feature != winner.feature or c.n_left != winner.n_left:
            return False
        return c.gain == winner.gain or abs(c.gain - winner.gain) <= 1e-9 * (
            c.score_left + c.score_right
        )

    def _verdict(self, c: GradientCandidate, winner: GradientCandidate | None) -> str:
        if c is winner or self._is_winner(c, winner):
            return "wins"
        if c.verdict != "admissible":
            return c.verdict
        if winner is None:
            return "admissible"
        close = 1e-9 * (abs(winner.score_left) + abs(winner.score_right) + abs(winner.score_node))
        if abs(c.gain - winner.gain) <= close:
            return "tie: the first wins"
        if c.gain > winner.gain:
            return "lost by rounding to 16 bits" if not self.is_exact else "lost by rounding"
        return "gains less"

    def _columns_table(
        self, scans: dict[int, GradientScan], winner: GradientCandidate | None
    ) -> Table:
        firsts: list[tuple[int, GradientCandidate | None]] = []
        for f, scan in scans.items():
            best = scan.best() or scan.best(refused=True)
            firsts.append((f, best[0] if best else None))
        if winner is not None:
            firsts = [(f, winner if f == winner.feature else c) for f, c in firsts]
        firsts.sort(
            key=lambda pair: -np.inf if pair[1] is winner else -pair[1].gain if pair[1] else np.inf
        )
        lines: list[tuple[Any, ...]] = []
        for f, c in firsts:
            tried = scans[f].n_tried
            if c is None:
                blank = [None] * (len(self._header) - 1)
                lines.append((self.table.schema.columns[f].name, *blank, tried, "nothing to part"))
            else:
                lines.append((*self._line(c), tried, self._verdict(c, winner)))
        marked = frozenset() if winner is None else frozenset([0])
        header = (*self._header, "tried", "verdict")
        return Table("Best split of every column", header, lines, marked, optional=_OPTIONAL)

    def _rivals_table(
        self, scans: dict[int, GradientScan], winner: GradientCandidate | None
    ) -> Table:
        every = [c for scan in scans.values() for c in scan.best(_RIVALS, refused=True)]
        others = [c for c in every if not self._is_winner(c, winner)]
        others.sort(key=lambda c: -c.gain)
        lines = [] if winner is None else [(*self._line(winner), "wins")]
        lines += [(*self._line(c), self._verdict(c, winner)) for c in others[:_RIVALS]]
        marked = frozenset() if winner is None else frozenset([0])
        return Table(
            "Closest rivals", (*self._header, "verdict"), lines, marked, optional=_OPTIONAL
        )

    def _node_notes(
        self, t: int, node: int, at: AtNode, winner: GradientCandidate | None, scans: dict[int, GradientScan],
        drawn: str,
    ) -> list[str]:  # fmt: skip
        tried = sum(scan.n_tried for scan in scans.values())
        notes = [f"{tried:,} candidates of {len(scans)} columns were tried."]
        if drawn:
            notes.append(f"Columns: {drawn}.")
        if winner is not None:
            notes += self._missing_note(winner, scans.get(winner.feature))
        else:
            notes.append(f"It is a leaf: {self.why_leaf(t, node, at, scans)}.")
        return notes + self._row_notes(t)

    def _missing_note(self, winner: GradientCandidate, scan: GradientScan | None) -> list[str]:
        """Return where missing values went, and what the other way would have gained."""
        name = self.table.schema.columns[winner.feature].name
        if not winner.missing_rows:
            return [f"No row here misses {name}; later ones that do go {winner.default}."]
        rows = int(winner.missing_rows)
        if winner.cut == np.inf:
            return [f"The {rows} rows that miss {name} are parted from all others."]
        other = None
        if scan is not None:
            each = (
                [scan[i] for i in range(scan.n_tried)]
                if scan.n_tried < 4000
                else scan.best(400, refused=True)
            )
            same = [c for c in each if c.default != winner.default and c.categories == winner.categories
                    and (c.cut == winner.cut or winner.categories is not None)]  # fmt: skip
            other = same[0] if same else None
        text = f"{rows} rows miss {name} and go {winner.default}"
        if other is None:
            return [text + "; the other way was not tried."]
        less = winner.gain - other.gain
        return [
            f"{text}; the other way the split would gain {number(other.gain)}, {number(less)} less."
        ]

    def _row_notes(self, t: int) -> list[str]:
        """Return which rows the tree saw, and how their g and h were rounded."""
        rows, factor = self.drawn_rows(t)
        total, notes = len(self.table.y), []
        if factor is not None:
            kept = int((factor == 1).sum())
            notes.append(
                f"GOSS: {kept} rows of largest |g·h| were kept, {len(rows) - kept} of the others drawn, which count "
                f"{number(float(factor.max()))} times."
            )
        elif len(rows) < total:
            notes.append(f"The tree was grown on {len(rows)} of {total} rows, drawn for its round.")
        if not self.is_exact:
            g, h = self.units(t)
            notes.append(
                f"Splits were searched with g rounded to multiples of {number(g, 3)} and h to {number(h, 3)}: kept gains and "
                "covers are those of the rounded sums. What leaves answer is summed more finely."
            )
        else:
            notes.append("The gain that the model keeps is rounded to single precision.")
        bins = self.bins_for(t)
        if bins is not None and bins.conflicts.any():
            notes.append(
                f"Columns share bundles (EFB) in which {int(bins.conflicts.sum())} values were lost to another column."
            )
        return notes

    def units(self, t: int) -> tuple[float, float]:
        """Return the units that g and h were rounded to before splits were searched."""
        g, h = self.gradients(t)
        found = []
        for values, bits in ((g, 15), (h, 16)):
            most = float(np.abs(values).max())
            found.append(2.0 ** (np.frexp(most)[1] - bits) if most > 0 else 0.0)
        return found[0], found[1]

    def why_leaf(self, t: int, node: int, at: AtNode, scans: dict[int, GradientScan]) -> str:
        """Return what made a node a leaf."""
        rules, tree = self.plan.rules, self.trees[t]
        if at.depth >= rules.max_depth:
            return f"max_depth={rules.max_depth} is reached"
        if len(at.rows) < max(2 * rules.min_rows, 2):
            return f"{len(at.rows)} rows cannot give two sides that are large enough"
        able = [c for scan in scans.values() for c in scan.best()]
        if not able:
            refused = [c for scan in scans.values() for c in scan.best(refused=True)]
            best = max(refused, key=lambda c: c.gain, default=None)
            return "no split is admissible" + (
                f"; the best is refused: {best.verdict}" if best else ""
            )
        best = max(able, key=lambda c: c.gain)
        if rules.max_leaves < _MANY and tree.n_leaves >= rules.max_leaves:
            return f"the tree has its {rules.max_leaves} leaves; the best split here would gain {number(best.gain)}"
        if rules.min_gain > 0:
            return f"its best split gains {number(best.gain)}; γ = {number(rules.min_gain)} took it back"
        return f"its best split, of gain {number(best.gain)}, was lost by rounding"

    # ------------------------------------------------------------------ formulas
    def _score_formula(self, at: AtNode) -> Formula:
        """Return the similarity of a node with its numbers."""
        node, r = at.node, self.rules
        answer = float(
            gradient_answer(node.G, node.H, node.n, at.lean, node.bounds, r, at.extra_l2)
        )
        from arboretum.textbook.gradient_scan import gradient_score

        value = float(gradient_score(node.G, node.H, answer, r))
        plain = (
            not (r.max_delta_step or r.path_smooth)
            and node.bounds == (-np.inf, np.inf)
            and not at.extra_l2
        )
        if plain:
            pull = (
                f"soft({number(node.G)}, {number(r.reg_alpha)})" if r.reg_alpha else signed(node.G)
            )
            numbers = f"{pull}² / ({number(node.H)} + {number(r.reg_lambda)})"
            return Formula("similarity", "soft(G, α)² / (H + λ)", numbers, value)
        numbers = (
            f"-(2 · soft({number(node.G)}, {number(r.reg_alpha)}) · {signed(answer)} + ({number(node.H)} + "
            f"{number(r.reg_lambda)}) · {signed(answer)}²)"
        )
        return Formula("similarity", "-(2 · soft(G, α) · b + (H + λ) · b²)", numbers, value)

    # ------------------------------------------------------------------ a leaf
    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        t = self.number_of_tree(tree)
        grown = self.trees[t]
        k = self.number_of_node(grown, leaf, what="leaf")
        at = self.at(t, k)
        formulas, notes = self._leaf_formulas(t, k, at), []
        columns, _ = self.columns_of(t, k, at)
        if len(grown) > 1 or self.plan.unsplit_answers:
            scans = (
                {f: self.scan(t, f, at) for f in columns}
                if at.depth < self.plan.rules.max_depth
                else {}
            )
            notes.append(f"It is a leaf: {self.why_leaf(t, k, at, scans)}.")
        else:
            notes.append("The tree found no split, and LightGBM lets such a tree answer 0.")
        return Sheet(f"leaf {k} of {self.title(t)}", self._facts(t, k, at), formulas, [self._leaf_rows(t, at)],
                     [*notes, *self._row_notes(t)])  # fmt: skip

    def _leaf_formulas(self, t: int, k: int, at: AtNode) -> list[Formula]:
        """Return the step of a leaf, and what is added to the margin."""
        node, r, plan = at.node, self.rules, self.plan
        m, output, _ = self.place_of(t)
        formulas: list[Formula] = []
        renew = self.objective.renew_leaf
        if renew is not None and len(self.trees[t]) > 1:
            state = self.state(m)
            step = float(
                renew(self.table.y, state.margin, self.table.weight, np.sort(at.rows), output)
            )
            formulas.append(
                Formula(
                    "b",
                    f"best constant for {len(at.rows)} residuals y - F (renewed leaf)",
                    "",
                    step,
                )
            )
        else:
            raw = float(gradient_answer(node.G, node.H, node.n, rules=replace(r, path_smooth=0.0, max_delta_step=0.0),
                                        extra_l2=at.extra_l2))  # fmt: skip
            pull = (
                f"soft({number(node.G)}, {number(r.reg_alpha)})" if r.reg_alpha else signed(node.G)
            )
            below = f"{number(node.H)} + {number(r.reg_lambda + at.extra_l2)}"
            rule = "-soft(G, α) / (H + λ)" if r.reg_alpha else "-G / (H + λ)"
            formulas.append(Formula("b", rule, f"-{pull} / ({below})", raw))
            step = float(
                gradient_answer(node.G, node.H, node.n, at.lean, node.bounds, r, at.extra_l2)
            )
            if self.is_exact and not (node.H > 0 and node.H >= r.min_weight):
                step = 0.0
            if step != raw:
                formulas.append(self._bent_formula(at, raw, step))
        if len(self.trees[t]) == 1 and not plan.unsplit_answers:
            step = 0.0
        rate = 1.0 if self.ensemble.averaged else plan.learning_rate
        value = float(self.trees[t].value[k, 0, 0])
        formulas.append(Formula("value", "η · b", f"{number(rate)} · {signed(step)}", rate * step))
        formulas.append(Formula("value the model keeps", "", "", value))
        weight = float(self.ensemble.weights[t])
        if weight != 1.0:
            formulas.append(Formula("added to the margin", "weight of the tree · value",
                                    f"{number(weight)} · {signed(value)}", weight * value))  # fmt: skip
        return formulas

    def _bent_formula(self, at: AtNode, raw: float, step: float) -> Formula:
        r, (low, high) = self.rules, at.node.bounds
        why = []
        if r.max_delta_step:
            why.append(f"at most {number(r.max_delta_step)} in size")
        if r.path_smooth and not np.isnan(at.lean):
            ratio = at.node.n / r.path_smooth
            why.append(f"(b · {number(ratio)} + {signed(at.lean)}) / ({number(ratio)} + 1)")
        if (low, high) != (-np.inf, np.inf):
            why.append(f"within [{number(low)}, {number(high)}]")
        if not why:
            why.append(f"H below min_child_weight={number(r.min_weight)} answers 0")
        return Formula("b kept", "; ".join(why), number(raw), step)

    def _leaf_rows(self, t: int, at: AtNode) -> Table:
        """Return some rows of a leaf with their derivatives."""
        m, output, _ = self.place_of(t)
        g, h = self.gradients(t)
        state, rows = self.state(m), np.sort(at.rows)
        lines = [
            (int(self.kept[i]), truth_of(self.given.y, int(self.kept[i])), float(state.margin[i, output]), float(g[i]),
             float(h[i]))
            for i in rows[:200].tolist()
        ]  # fmt: skip
        title = (
            f"Its rows ({len(rows)})"
            if len(rows) <= 200
            else f"The first 200 of its {len(rows)} rows"
        )
        return Table(title, ("row", "y", "margin before", "g", "h"), lines, shown=10)

    # ------------------------------------------------------------------ losses
    def losses(self, y: np.ndarray, margin: np.ndarray) -> np.ndarray | None:
        """Return the loss of every row at its margins; None where the objective has none by row."""
        losses = getattr(self.objective, "losses", ())
        if not losses:
            return None
        if len(losses) == 1 and margin.shape[1] > 1 and losses[0].kernel == "softmax":
            return losses[0].value(y.astype(np.int64), margin)
        each = []
        for k in range(margin.shape[1]):
            loss = losses[k if len(losses) > 1 else 0]
            try:
                each.append(
                    loss.value(self.objective._labels(y, k), np.ascontiguousarray(margin[:, k]))
                )
            except NotImplementedError:
                return None
        return np.sum(each, axis=0)

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        matrix, title, i = self.encoded(row)
        ensemble, model = self.ensemble, self.model
        end = model._best_end
        part = model._part(0, end)
        leaves = part.leaves(matrix, 1)[0]
        values = part.terms.values
        j = None if i is None else int(np.searchsorted(self.kept, i))
        seen = j is not None and j < len(self.kept) and self.kept[j] == i
        margin = (
            self.start[j] if seen and self.given.base_margin is not None else ensemble.base
        ).copy()
        lines: list[tuple[Any, ...]] = []
        label = self.whole.y[[i]] if i is not None else None
        per, before = part.per_round, margin.copy()
        with_loss = label is not None and self.losses(label, margin[None]) is not None
        derived = label is not None and model.target != "orders" and self.plan.dart is None
        for t, leaf in enumerate(leaves.tolist()):
            m, output, _ = self.place_of(t)
            if t % per == 0:
                before = margin.copy()
                gh = (
                    self._of_row(i, before if not ensemble.averaged else ensemble.base, m)
                    if derived
                    else None
                )
            added = float(values[t][leaf, 0])
            margin[output] += added
            line: list[Any] = [m, t, leaf, added, float(margin[output])]
            if derived:
                assert gh is not None
                line += [float(gh[0][output, 0]), float(gh[1][output, 0])]
            if with_loss:
                assert label is not None
                last = (t + 1) % per == 0
                line += [
                    float(self.losses(label, x[None])[0]) if last else None
                    for x in (before, margin)
                ]
            lines.append(tuple(line))
        header = ["round", "tree", "leaf", "adds", "margin"]
        header += ["g", "h"] if derived else []
        header += ["loss before", "loss after"] if with_loss else []
        final = part.answers(
            matrix,
            1,
            None if not (seen and self.given.base_margin is not None) else self.start[[j]],
        )
        facts = {
            "answer": self._answer(final),
            "margin": final[0].tolist() if final.shape[1] > 1 else float(final[0, 0]),
        }
        link = ensemble.link
        if link.name != "identity":
            facts["link"] = link.name
            if link.name != "own":
                facts["prediction"] = self.objective.predict(final).ravel().tolist()
        if i is not None:
            facts["in training"] = truth_of(self.given.y, i)
        base = self.start[j] if seen and self.given.base_margin is not None else ensemble.base
        formulas = []
        for k in range(ensemble.n_outputs):
            total = float(final[0, k] - base[k])
            name = "margin" if ensemble.n_outputs == 1 else f"margin of {self._output_name(k)}"
            formulas.append(
                Formula(
                    name,
                    "start + Σ of what trees add",
                    f"{number(float(base[k]))} + {signed(total)}",
                    float(final[0, k]),
                )
            )
        tables = [
            self.values_table(matrix),
            Table("Round by round", header, lines, shown=30, optional=("h", "g", "round")),
        ]
        heaviest = int(
            np.argmax([abs(float(v[leaf, 0])) for v, leaf in zip(values, leaves, strict=True)])
        )
        tables.append(
            self.journey(
                part.trees[heaviest], matrix, f"The way down tree {heaviest}, which adds most"
            )
        )
        notes = []
        if end is not None:
            notes.append(f"Early stopping keeps the rounds before {end} for predictions.")
        if ensemble.averaged:
            notes.append(
                "The trees are averaged (a boosted forest): what a tree adds is divided by the rounds."
            )
        if i is not None and not seen:
            notes.append("The row has weight 0: no tree was grown on it.")
        return Sheet(f"{title} in a {self.name}", facts, formulas, tables, notes)

    def _output_name(self, k: int) -> str:
        classes = class_names(self.model)
        return (
            str(classes[k])
            if classes is not None and len(classes) == self.ensemble.n_outputs
            else f"output {k}"
        )

    def _of_row(self, i: int | None, margin: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of one training row at its margins, weight multiplied in."""
        table = self.whole
        shape = (self.ensemble.n_outputs, 1)
        g, h = np.empty(shape, np.float32), np.empty(shape, np.float32)
        weight = None if table.weight is None else table.weight[[i]]
        self.objective.derivatives(
            table.y[[i]], np.ascontiguousarray(margin[None]), weight, g, h, 1, iteration=m
        )
        return g, h

    def _answer(self, margin: np.ndarray) -> Any:
        said = self.model._predicted(margin)[0]
        return (
            said.item()
            if hasattr(said, "item")
            else said.tolist()
            if hasattr(said, "tolist")
            else said
        )

    # ------------------------------------------------------------------ a round
    def round(self, m: Any) -> Sheet:
        ensemble = self.ensemble
        m = index_of(m, ensemble.n_rounds, ("round", "rounds"), self.name)
        state, y, w = self.state(m), self.table.y, self.table.weight
        per = ensemble.per_round
        trees = list(range(m * per, (m + 1) * per))
        after = self._after(m, state)
        facts: dict[str, Any] = {
            "trees": per, "learning rate": self.plan.learning_rate, "rows": len(y),
            "rows the round drew": len(self.drawn_rows(trees[0])[0]),
        }  # fmt: skip
        formulas = []
        losses = [self.losses(y, margin) for margin in (state.before, after)]
        if losses[0] is not None and losses[1] is not None:
            weight = np.ones(len(y)) if w is None or len(w) != len(y) else w
            for name, values in zip(("loss before", "loss after"), losses, strict=True):
                assert values is not None
                total = float(weight @ values)
                formulas.append(
                    Formula(
                        name,
                        "Σ w L / Σ w",
                        f"{number(total)} / {number(float(weight.sum()))}",
                        total / weight.sum(),
                    )
                )
        tables = [
            self._trees_table(trees),
            self._spread_table(state),
            self._rows_table(state, after, losses),
        ]
        notes = self._row_notes(trees[0])
        if state.dropped:
            notes.insert(
                0, f"dart left out {len(state.dropped)} earlier trees: {number(state.dropped)}."
            )
        return Sheet(f"round {m} of a {self.name}", facts, formulas, tables, notes)

    def _after(self, m: int, state: RoundState) -> np.ndarray:
        """Return the margins after a round."""
        ensemble, matrix = self.ensemble, self.table.matrix
        if ensemble.averaged:
            return ensemble.rounds(0, m + 1).answers(matrix, self.threads, self.start)
        if self.plan.dart is None:
            return ensemble.rounds(m, m + 1).answers(matrix, self.threads, state.margin)
        now, dropped = self.dart_rounds[m]
        per = ensemble.per_round
        new, old = 1.0, 1.0
        if dropped:
            new, old = self.plan.dart.shares(len(dropped) // per, self.plan.learning_rate)
        weights = np.append(now, [new] * per)
        weights[dropped] *= old
        trees = ensemble.trees[: len(weights)]
        return replace(ensemble, trees=trees, weights=weights).answers(
            matrix, self.threads, self.start
        )

    def _trees_table(self, trees: list[int]) -> Table:
        lines = []
        for t in trees:
            tree = self.trees[t]
            asked = "no split" if tree.is_leaf[0] else tree.condition(0, 0).pretty(max_categories=4)
            values = tree.value[tree.leaves, 0, 0]
            lines.append(
                (
                    t,
                    tree.n_leaves,
                    tree.max_depth,
                    asked,
                    float(tree.gain[0]),
                    float(values.min()),
                    float(values.max()),
                )
            )
        header = ("tree", "leaves", "depth", "root asks", "gain", "smallest value", "largest value")
        return Table("Its trees", header, lines)

    def _spread_table(self, state: RoundState) -> Table:
        lines = []
        for k in range(len(state.g)):
            name = "" if len(state.g) == 1 else self._output_name(k)
            for what, values in (("g", state.g[k]), ("h", state.h[k])):
                v = values.astype(np.float64)
                low, middle, high = (float(np.quantile(v, q)) for q in (0.25, 0.5, 0.75))
                lines.append(
                    (name, what, float(v.sum()), float(v.min()), low, middle, high, float(v.max()))
                )
        header: tuple[str, ...] = (
            "output",
            "",
            "sum",
            "least",
            "quarter",
            "median",
            "3 quarters",
            "most",
        )
        if len(state.g) == 1:
            header, lines = header[1:], [line[1:] for line in lines]
        return Table("Gradients and hessians", header, lines)

    def _rows_table(
        self, state: RoundState, after: np.ndarray, losses: list[np.ndarray | None]
    ) -> Table:
        """Return the rows that are pulled hardest."""
        pull = np.abs(state.g).sum(axis=0)
        order = np.argsort(-pull, kind="stable")[:10]
        lines = []
        for j in order.tolist():
            k = int(np.abs(state.g[:, j]).argmax())
            i = int(self.kept[j])
            line = [i, truth_of(self.given.y, i), float(state.before[j, k]), float(state.g[k, j]), float(state.h[k, j]),
                    float(after[j, k] - state.before[j, k])]  # fmt: skip
            if losses[0] is not None and losses[1] is not None:
                line += [float(losses[0][j]), float(losses[1][j])]
            lines.append(tuple(line))
        header = ["row", "y", "margin", "g", "h", "step"]
        if losses[0] is not None:
            header += ["loss before", "loss after"]
        return Table("Rows that are pulled hardest", header, lines, optional=("h",))

    def more_facts(self) -> dict[str, Any]:
        return {
            "objective": self.objective.name, "rounds": self.ensemble.n_rounds,
            "start": self.ensemble.base.tolist() if self.ensemble.n_outputs > 1 else float(self.ensemble.base[0]),
        }  # fmt: skip


def _gain_formula(c: GradientCandidate) -> Formula:
    numbers = f"{number(c.score_left)} + {number(c.score_right)} - {signed(c.score_node)}"
    return Formula(
        "gain", "similarity left + similarity right - similarity of the node", numbers, c.gain
    )
