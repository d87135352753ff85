"""A round of second-order boosting played again, up to one node of one tree.

Everything follows from (model, X, y): draws are hashes of (seed, round, output, node).

    margin before the round ──objective──► g, h ──draws──► rows, columns of the tree, bins
                                              └─ node by node down to one: G, H, n, bounds, answers

A `SecondOrderFamily` has a `Replay`; its sheets are made in nodes.py and rounds.py.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.second_order.dart import dropped_trees
from arboretum.boosting.second_order.fit import GivenTable, margins_of, rows_that_count
from arboretum.boosting.second_order.recipe import Recipe, TrainingTable
from arboretum.data.matrix import FrameMatrix
from arboretum.engine.keys import key_of
from arboretum.engine.second_order.random_cuts import CUTS
from arboretum.errors import DataError
from arboretum.explain.worksheet.family import check_rows_of, class_names, truth_of
from arboretum.lazy import cached_property
from arboretum.structure.tree import SUBSET, Tree
from arboretum.textbook.gradient_scan import (
    GradientNode,
    GradientRules,
    GradientScan,
    gradient_answer,
    scan_bins,
    scan_sets,
)
from arboretum.textbook.random_cuts import how_many_cuts, scan_drawn, scan_drawn_set
from arboretum.textbook.symmetric import scan_symmetric

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.engine.second_order.score import SplitRules
    from arboretum.explain.worksheet.family import Family
    from arboretum.grow.bins.bins import Bins

__all__ = ["AtNode", "Replay", "RoundState"]


def rules_of(rules: SplitRules) -> GradientRules:
    """Return the engine's rules in the words of the textbook."""
    words = {"l1": "reg_alpha", "l2": "reg_lambda", "as_xgboost": "xgboost"}
    known = {one.name for one in fields(GradientRules)}
    named = {words.get(name, name): value for name, value in rules._asdict().items()}
    return GradientRules(**{name: value for name, value in named.items() if name in known})


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
    number: int = 0


class Replay:
    """The rounds of a booster, played again.

    Parameters
    ----------
    family : Family
        The model with its table.
    """

    def __init__(self, family: Family) -> None:
        self.family, self.model, self.given = family, family.model, family.given
        self.name, self.trees, self.threads = family.name, family.trees, family.threads
        self.state = lru_cache(maxsize=3)(self._state)
        self.gradients = lru_cache(maxsize=3)(self._gradients)
        self.bins_of = lru_cache(maxsize=2)(self._bins_of)
        self.column_seen = lru_cache(maxsize=16)(self._column_seen)  # nodes share few columns
        self._running: tuple[int, np.ndarray] | None = None

    # ------------------------------------------------------------------ the fit once more
    @cached_property
    def whole(self) -> TrainingTable:
        """The training table with all its rows."""
        model, given, labels = self.model, self.given, self.family.anatomy.labels
        steps = self.family.anatomy.recipe.steps
        y = steps["labels"](given.y, self.family.n_rows)
        groups = None if given.group is None else np.asarray(given.group)
        if model.target == "orders" and groups is None:
            raise DataError(
                f"worksheet of {self.name} needs group=, the sizes of the groups it was trained on"
            )
        weighs = getattr(model, "class_weight", None) if model.dialect != "xgboost" else None
        margin = given.base_margin
        if margin is not None and model.dialect == "lightgbm":
            from arboretum.boosting.lightgbm.tables import by_output

            margin = by_output(margin, given.y)
        table = GivenTable(
            given.X, given.y, given.sample_weight, margin, groups, class_weight=weighs
        )
        return TrainingTable(
            *steps["rows"](table, self.family.matrix, y),
            schema=model.schema_,
            n_classes=None if labels is None else len(labels),
        )

    @cached_property
    def table(self) -> TrainingTable:
        """The training table; rows of weight 0, and those held out by the fit, are left out."""
        table = rows_that_count(self.whole)
        if self._set_aside is not None:
            table = table.take(self._set_aside(table.y, table.weight)[0])
        check_rows_of(len(table.y), self.family.anatomy.history.n_rows, self.name)
        return table

    @cached_property
    def kept(self) -> np.ndarray:
        """The numbers of the rows that count."""
        n, weight = self.family.n_rows, self.whole.weight
        rows = np.arange(n) if weight is None else np.flatnonzero(weight)
        if self._set_aside is None:
            return rows
        y, w = self.whole.y[rows], None if weight is None else weight[rows]
        return rows[self._set_aside(y, w)[0]]

    @property
    def _set_aside(self) -> Any:
        return self.family.anatomy.recipe.held_out

    @cached_property
    def recipe(self) -> Recipe:
        """What the parameters came to."""
        model = copy.copy(self.model)
        if model.dialect == "scikit-learn":
            from arboretum.boosting.scikit_learn.recipe import make_recipe as make_scikit_learns

            return make_scikit_learns(model, self.table, model.seed_, self.threads)
        if callable(model.objective) or self.objective.name != model.objective:
            model.objective = None if callable(model.objective) else model.objective
        if model.dialect == "xgboost":
            from arboretum.boosting.xgboost.recipe import make_recipe

            return make_recipe(model, self.table, model.seed_, self.threads, evaluates=False)
        from arboretum.boosting.lightgbm.recipe import make_recipe as make_lightgbm
        from arboretum.boosting.lightgbm.tables import FitArguments

        given = FitArguments(), self.table, model.seed_, self.threads
        return make_lightgbm(model, *given, evaluates=False)

    @property
    def objective(self) -> Any:
        return self.family.anatomy.recipe.steps["objective"]()

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
    def proposals(self) -> str:
        """XGBoost's approximate method: bins are proposed for every round, or for every node."""
        return getattr(self.recipe.table, "proposals", "")

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
        """For every round of dart: the weights of the trees before it, and which trees it left out."""
        ensemble, plan, per = self.ensemble, self.plan, self.ensemble.per_round
        weights, found = np.empty(0), []
        for m in range(ensemble.n_rounds):
            dropped = dropped_trees(plan.dart, weights, per, plan.seed, m) if m else []
            found.append((weights, dropped))
            weights = self._with_round(weights, dropped)
        return found

    def dart_weights(self, m: int) -> np.ndarray:
        """Return the weights of all trees after a round of dart."""
        return self._with_round(*self.dart_rounds[m])

    def _with_round(self, weights: np.ndarray, dropped: list[int]) -> np.ndarray:
        """Return the weights of trees after those of a round were added, which left some out."""
        per, new = self.ensemble.per_round, 1.0
        weights = weights.copy()
        if dropped:
            new, old = self.plan.dart.shares(len(dropped) // per, self.plan.learning_rate)
            weights[dropped] *= old
        return np.append(weights, [new] * per)

    def _state(self, m: int) -> RoundState:
        """Return a round up to its trees."""
        ensemble, matrix = self.ensemble, self.matrix_seen
        dropped: list[int] = []
        margin = before = self.start
        if not ensemble.averaged and m:
            if self._running is not None and self._running[0] <= m and self.plan.dart is None:
                margin = before = self._margin_from(*self._running, m)
            elif self.plan.dart is None:
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
        if self._running is not None:
            self._running = m, margin
        g, h = self._derivatives(np.ascontiguousarray(margin), m)
        return RoundState(m, margin, before, g, h, dropped)

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """Let rounds that are needed one after the other begin where the last ended.

        Sums are then added up in another order than by a model that predicts once: they may differ in the
        last bit.
        """
        self._running = 0, self.start
        try:
            yield
        finally:
            self._running = None
            self.state.cache_clear()
            self.gradients.cache_clear()

    def _margin_from(self, began: int, margin: np.ndarray, m: int) -> np.ndarray:
        if began == m:
            return margin
        rounds = self.ensemble.rounds(began, m)
        return rounds.answers(self.matrix_seen, self.threads, margin)

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
        n = len(self.table.y)
        rows, factor = self.recipe.draws.rows(self.plan, n, m, twin, state.g, state.h)
        return (np.arange(n) if rows is None else rows.astype(np.int64)), factor

    def _gradients(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        """Return g and h of all rows as a tree saw them: 0 for rows it was not grown on."""
        m, output, _ = self.place_of(t)
        state, (rows, factor) = self.state(m), self.drawn_rows(t)
        g, h = (np.zeros(len(self.table.y)) for _ in range(2))
        by = 1.0 if factor is None else factor
        g[rows], h[rows] = state.g[output, rows] * by, state.h[output, rows] * by
        return g, h

    def start_of(self, i: int | None) -> np.ndarray:
        """Return the margins a row begins with: those that were given to the fit, or the base."""
        if i is None or self.given.base_margin is None or i not in self.kept:
            return self.ensemble.base
        return self.start[int(np.searchsorted(self.kept, i))]

    def derivatives_of(self, i: int, margin: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
        """Return g and h of one training row at its margins, weight multiplied in."""
        table, shape = self.whole, (self.ensemble.n_outputs, 1)
        g, h = np.empty(shape, np.float32), np.empty(shape, np.float32)
        weight = None if table.weight is None else table.weight[[i]]
        here = np.ascontiguousarray(margin[None])
        self.objective.derivatives(table.y[[i]], here, weight, g, h, 1, iteration=m)
        return g, h

    # ------------------------------------------------------------------ words
    def title(self, t: int) -> str:
        m, output, twin = self.place_of(t)
        text = f"tree {t}, round {m}" if self.ensemble.per_round > 1 else f"tree {t}"
        classes = class_names(self.model)
        if self.ensemble.n_outputs > 1:
            text += f", class {classes[output]}" if classes is not None else f", output {output}"
        return text + (f", twin {twin}" if self.ensemble.n_parallel > 1 else "")

    def output_name(self, k: int) -> str:
        classes = class_names(self.model)
        named = classes is not None and len(classes) == self.ensemble.n_outputs
        return str(classes[k]) if named else f"output {k}"

    def row_and_target(self, j: int) -> tuple[int, Any]:
        """Return the number of one of the rows that count in the table, and its target."""
        i = int(self.kept[j])
        return i, truth_of(self.given.y, i)

    # ------------------------------------------------------------------ bins
    def _bins_of(self, m: int, t: int) -> Bins | None:
        """Return the bins of a tree; None if every value was tried, or each node had its own."""
        maker: Any = self.recipe.table
        if self.is_exact or self.proposals == "local":
            return None
        if self.proposals == "global":
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
        if self.proposals == "global":
            return self.bins_of(m, t)
        return self.bins_of(0 if maker.follows != "every" else m, -1)

    def binned(self, t: int, f: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
        """Return the bins of some rows on a column (-1: missing), the cuts, and categories or None."""
        bins, column = self.bins_for(t), self.table.schema.columns[f]
        x = self.matrix_seen.column(f)[rows]
        if bins is None and self.proposals == "local":
            weight = self.gradients(t)[1][rows]
            part = self.table.matrix.take(rows)
            maker: Any = self.recipe.table
            bins = maker.bins(part, self.table.schema, weight, self.threads)
        if bins is None:
            code = np.full(len(x), -1)
            known = ~np.isnan(x)
            values, code[known] = np.unique(x[known], return_inverse=True)
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
        code = self._bin_numbers(bins, f, bounds, x, rows)
        cuts = bounds[:-1]
        if column.kind == "ordinal" and column.categories:
            cuts = np.floor(cuts)
        return code, cuts, None

    def _bin_numbers(
        self, bins: Bins, f: int, bounds: np.ndarray, x: np.ndarray, rows: np.ndarray
    ) -> np.ndarray:
        """Return the bins of values x of some rows; those of a whole column are kept for the next node."""
        kept = self.__dict__.setdefault("_kept_codes", {})
        if kept.get("bins") is not bins:
            kept.clear()
            kept["bins"] = bins
        n = len(self.table.y)
        whole = len(rows) == n and np.array_equal(rows, np.arange(n))
        if f in kept:
            return kept[f] if whole else kept[f][rows]
        code = np.where(np.isnan(x), -1, np.searchsorted(bounds, x)).astype(np.int32)
        if whole:
            kept[f] = code
        return code

    @cached_property
    def matrix_seen(self) -> Matrix:
        """The table as trees saw it: where two columns of a bundle had a value in one row, one was lost."""
        matrix, maker = self.table.matrix, self.recipe.table
        if not getattr(maker, "bundle", False):
            return matrix
        bins = self.bins_of(0, -1)
        if bins is None or not bins.conflicts.any():
            return matrix
        columns = [matrix.column(f) for f in range(matrix.n_columns)]
        for f in range(matrix.n_columns):
            if bins.offset[f] > 0 and bins.conflicts[bins.storage[f]]:
                columns[f] = self._remembered(bins, f, columns[f])
        return FrameMatrix(columns)

    def _remembered(self, bins: Bins, f: int, x: np.ndarray) -> np.ndarray:
        """Return a bundled column with what was lost replaced by a value of its usual bin."""
        stored = bins.line(int(bins.storage[f])).astype(np.int64)
        default, first, n = int(bins.default_bin[f]), int(bins.offset[f]), int(bins.n_bins[f])
        kept = (stored >= first) & (stored < first + n - 1)
        if bins.is_category[f]:
            usual = float(bins.categories_of(f)[default])
            lost = ~kept & (x != usual)
        else:
            bounds = bins.bounds_of(f)
            inside = x[np.searchsorted(bounds, x) == default]
            usual = float(inside[0]) if len(inside) else float(bounds[default - 1] + 1.0)
            lost = ~kept & (np.searchsorted(bounds, x) != default)
        return np.where(lost, usual, x)

    def _column_seen(self, f: int) -> np.ndarray:
        return self.matrix_seen.column(f)

    # ------------------------------------------------------------------ down to a node
    def goes_left(self, tree: Tree, node: int, t: int, rows: np.ndarray) -> np.ndarray:
        """Return which rows a node sends left, as it was when the tree grew."""
        f = int(tree.feature[node])
        x = self.column_seen(f)[rows]
        if tree.kind[node] != SUBSET:
            left = x <= tree.threshold[node]
            return left | np.isnan(x) if tree.missing_child[node] == 0 else left
        missing = np.isnan(x)
        codes = np.where(missing, 0, x).astype(np.int64)
        start = int(tree.bits_start[node])
        left = ((tree.bits[start + (codes >> 5)] >> (codes & 31).astype(np.uint32)) & 1) > 0
        bins = self.bins_for(t)
        if bins is not None:  # categories without a bin count as missing
            missing = missing | ~np.isin(codes, bins.categories_of(f))
        return np.where(missing, tree.missing_child[node] == 0, left)

    def root(self, t: int) -> AtNode:
        """Return what the root of a tree had."""
        return self._described(t, self.drawn_rows(t)[0], np.nan, (-np.inf, np.inf), 0.0, 0)

    def at(self, t: int, node: int) -> AtNode:
        """Return what a node had when it was looked at: rows, sums, and bounds and answers from above."""
        tree, way = self.trees[t], []
        while node:
            way.append(node)
            node = int(tree.parent[node])
        here, above = self.root(t), 0
        for step in reversed(way):
            here = self.children(t, above, here)[step - int(tree.first_child[above])]
            above = step
        return here

    def nodes(self, t: int) -> list[AtNode]:
        """Return what every node of a tree had when it was looked at."""
        tree, found = self.trees[t], {0: self.root(t)}
        for node in np.flatnonzero(~tree.is_leaf).tolist():  # children stand behind their parents
            sides = self.children(t, node, found[node])
            found |= dict(enumerate(sides, start=int(tree.first_child[node])))
        return [found[node] for node in range(len(tree))]

    def children(self, t: int, node: int, here: AtNode) -> list[AtNode]:
        """Return what both children of a node had: rows, answers to lean on, monotone bounds."""
        tree, signs = self.trees[t], self.plan.monotone
        left, extra = self.goes_left(tree, node, t, here.rows), self.extra_l2(tree, node, t)
        answer, (low, high) = here.node.answer, here.node.bounds
        first = int(tree.first_child[node])
        sides = [
            replace(
                self._described(t, here.rows[some], answer, (low, high), extra, here.depth + 1),
                number=first + place,
            )
            for place, some in enumerate((left, ~left))
        ]
        sign = 0 if signs is None or tree.kind[node] == SUBSET else int(signs[tree.feature[node]])
        if not sign:
            return sides
        middle = sides[0].node.answer / 2 + sides[1].node.answer / 2
        found = []
        for place, side in enumerate(sides):
            below = (place == 0) == (sign > 0)
            bounds = (low, min(high, middle)) if below else (max(low, middle), high)
            answer = side.node.answer
            if self.is_exact:  # answers are written again within the new bounds
                answer = float(np.clip(answer, *bounds))
            found.append(replace(side, node=replace(side.node, bounds=bounds, answer=answer)))
        return found

    def sign(self, f: int, categories: Any) -> int:
        """Return the monotone constraint of a column; splits by categories have none."""
        signs = self.plan.monotone
        return 0 if signs is None or categories is not None else int(signs[f])

    def extra_l2(self, tree: Tree, node: int, t: int) -> float:
        """Return by how much λ of a node's children is raised: LightGBM's sorted categories."""
        return self.column_l2(t, int(tree.feature[node])) if tree.kind[node] == SUBSET else 0.0

    def column_l2(self, t: int, f: int) -> float:
        """Return by how much λ is raised for splits of a column."""
        bins = self.bins_for(t) if self.rules.cat_l2 else None
        if bins is None or not bins.is_category[f]:
            return 0.0
        return self.rules.cat_l2 if int(bins.n_bins[f]) > self.rules.max_onehot else 0.0

    def _described(
        self,
        t: int,
        rows: np.ndarray,
        lean: float,
        bounds: tuple[float, float],
        extra: float,
        depth: int,
    ) -> AtNode:
        g, h = self.gradients(t)
        G, H, n = float(g[rows].sum()), float(h[rows].sum()), float(len(rows))
        answer = _answer(G, H, n, lean, bounds, self.rules, extra)
        if self.is_exact and not (H > 0 and self.rules.min_weight <= H):
            answer = 0.0  # exact growth lets a node of too little cover answer nothing
        node = GradientNode(G, H, n, answer, bounds, self.rules)
        return AtNode(rows, node, lean, extra, depth)

    def scan(self, t: int, f: int, at: AtNode) -> GradientScan:
        """Return the candidates of a column at a node."""
        return self.scan_sums(t, f, at, *self.sums(t, f, at.rows))

    def sums(self, t: int, f: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
        """Return G, H and rows by bin of a column, missing values last; its cuts, its categories or None."""
        code, cuts, categories = self.binned(t, f, rows)
        g, h = self.gradients(t)
        values = np.column_stack([g[rows], h[rows], np.ones(len(rows))])
        n_bins = len(categories) if categories is not None else len(cuts) + 1
        place = np.where(code < 0, n_bins, code)
        sums = np.column_stack([np.bincount(place, column, n_bins + 1) for column in values.T])
        return sums, cuts, categories

    def scan_sums(
        self, t: int, f: int, at: AtNode, sums: np.ndarray, cuts: np.ndarray, categories: Any
    ) -> GradientScan:
        """Return the candidates of a column whose bins have these sums, missing values last."""
        bins, missing, sign = sums[:-1], sums[-1], self.sign(f, categories)
        if self.plan.rules.random_cuts:
            m, output, twin = self.place_of(t)
            rules, sets = self.plan.rules, categories is not None
            tree_key = key_of(self.plan.seed, m, output, twin)
            n = how_many_cuts(at.node, bins, sets=sets)
            key = key_of(tree_key, CUTS, rules.cut_seed, at.number, f)
            drawn = int((key >> 11) / (1 << 53) * n)
            if sets:
                return scan_drawn_set(at.node, f, bins, categories, drawn, missing)
            return scan_drawn(at.node, f, bins, cuts, drawn, missing, sign)
        if categories is not None and self.plan.rules.symmetric:
            total = self.sums(t, f, self.drawn_rows(t)[0])[0][:-1]
            scan = scan_symmetric(
                [at.node], f, bins[None], cuts, missing[None], categories, total=total
            )
            return scan.at(0)
        if categories is not None:
            return scan_sets(at.node, f, bins, categories, missing)
        return scan_bins(at.node, f, bins, cuts, missing, sign)

    def is_light(self, t: int, at: AtNode) -> bool:
        """Return True if a leaf answers 0 because its cover is less than min_child_weight."""
        lone = len(self.trees[t]) == 1
        return (self.is_exact or lone) and not (
            at.node.H > 0 and self.rules.min_weight <= at.node.H
        )

    def units(self, t: int) -> tuple[float, float]:
        """Return the units that g and h were rounded to before splits were searched."""
        g, h = self.gradients(t)
        found = []
        for values, bits in ((g, 15), (h, 16)):
            most = float(np.abs(values).max())
            found.append(2.0 ** (np.frexp(most)[1] - bits) if most > 0 else 0.0)
        return found[0], found[1]


def _answer(
    G: float,
    H: float,
    n: float,
    lean: float,
    bounds: tuple[float, float],
    rules: GradientRules,
    extra: float,
) -> float:
    """Return what a node answers: the textbook's formula, in plain numbers where nothing bends it."""
    if rules.reg_alpha or rules.max_delta_step > 0 or rules.path_smooth > 0:
        return float(gradient_answer(G, H, n, lean, bounds, rules, extra))
    curvature = H + rules.reg_lambda + extra
    b = -G / curvature if curvature > 0 else 0.0
    return min(max(b, bounds[0]), bounds[1]) + 0.0
