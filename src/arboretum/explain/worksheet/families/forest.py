"""Worksheets of forests, ExtraTrees and bags of trees: bags, drawn columns, votes, out of bag, neighbours.

A tree's bag and what its nodes drew are hashes of (seed, tree, node): they are drawn again, not kept.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.base.sampling import growing_key
from arboretum.explain.worksheet.families.cart import draw_of, learn_target, textbook_rules
from arboretum.explain.worksheet.family import Family, check_rows_of, class_names, truth_of
from arboretum.explain.worksheet.grown import Names, ShownTree
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.predict.walk import leaves_of
from arboretum.textbook.forest_figures import oob_curve, out_of_bag

if TYPE_CHECKING:
    from arboretum.forest.growing import Plan

__all__ = ["ForestFamily"]

_NEIGHBOURS = 8
_CURVE = 30  # points of a curve that are shown


class ForestFamily(Family):
    """Many independent trees."""

    answers: ClassVar = ("node", "leaf", "row", "oob")
    without: ClassVar = {
        "round": "the trees of a forest do not depend on each other, there are no rounds",
        "pruning": (
            "trees of a forest are not looked at one by one for pruning; fit a CARTClassifier "
            "or CARTRegressor"
        ),
    }

    def __init__(self, model: Any, given: Any) -> None:
        super().__init__(model, given)
        self.tree_of = lru_cache(maxsize=4)(self._tree_of)
        self._plan: Plan | None = None

    # ------------------------------------------------------------------ trees and bags
    @property
    def plan(self) -> Plan:
        """How the trees were grown, from the same table."""
        if self._plan is None:
            check_rows_of(self.n_rows, self.model._bags.n_rows, self.name)
            self._plan = self._make_plan()
        return self._plan

    def _make_plan(self) -> Plan:
        target, w = learn_target(self)
        return self.twin._plan(self.matrix, target, w, self.model._bags)

    @property
    def criterion(self) -> str:
        return self.model.criterion

    def _tree_of(self, t: int) -> ShownTree:
        model, plan = self.model, self.plan
        how = plan.growth
        rules = textbook_rules(how, self.criterion, self.schema, plan.target)
        alpha = how.ccp_alpha
        pruned = f"what was below it was pruned (α = {number(alpha)})" if alpha else ""
        return ShownTree(
            self.trees[t],
            self.matrix,
            plan.target.y,
            plan.weight(t),
            rules,
            Names(f"tree {t}", classes=class_names(model)),
            draw_of(how, model.n_features_in_, growing_key(plan.bags.seed, t)),
            pruned=pruned,
            n_jobs=self.threads,
        )

    def more_facts(self) -> dict[str, Any]:
        facts = {
            "criterion": self.criterion,
            "columns drawn at a node": getattr(self.model, "max_features_", None),
        }
        if hasattr(self.model, "oob_score_"):
            facts["out-of-bag score"] = self.model.oob_score_
        return facts

    # ------------------------------------------------------------------ answers
    def node(self, tree: Any, node: Any) -> Sheet:
        t = self.number_of_tree(tree)
        sheet = self.tree_of(t).node(self.number_of_node(self.trees[t], node))
        return self._with_bag(sheet, t)

    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        t = self.number_of_tree(tree)
        return self._with_bag(
            self.tree_of(t).leaf(self.number_of_node(self.trees[t], leaf, what="leaf")), t
        )

    def _with_bag(self, sheet: Sheet, t: int) -> Sheet:
        from dataclasses import replace

        counts = self.plan.bags.counts(t)
        if np.all(counts == 1):
            return sheet
        note = (
            f"The bag of tree {t} holds {int(np.count_nonzero(counts))} of {len(counts)} rows in "
            f"{int(counts.sum())} "
            "draws; a row weighs as often as it was drawn, times its weight."
        )
        return replace(sheet, notes=[*sheet.notes, note])

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        matrix, title, i = self.encoded(row)
        _model, ensemble = self.model, self.model.ensemble_
        leaves = ensemble.leaves(matrix, 1)[0]
        form = ensemble.terms
        n_trees = len(self.trees)
        said = np.array([values[leaf] for values, leaf in zip(form.values, leaves, strict=True)])
        running = np.cumsum(said, axis=0) / np.arange(1, n_trees + 1)[:, None]
        counts = self._counts(i)
        header, shown = self._value_header(said.shape[1])
        lines = []
        for t in range(n_trees):
            bag = () if counts is None else (int(counts[t]),)
            lines.append((t, int(leaves[t]), *bag, *shown(said[t]), *shown(running[t])))
        bag_header = () if counts is None else ("times in bag",)
        table = SheetTable(
            "Tree by tree",
            ("tree", "leaf", *bag_header, *header, *(f"mean {h}" for h in header)),
            lines,
            shown=40,
        )
        final = ensemble.answers(matrix, 1).ravel()
        facts = {**self._final_facts(final), "trees": n_trees}
        facts |= self.truth(i)
        tables = [self.values_table(matrix), table, *self._votes_table(said, counts)]
        tables += self._neighbours(leaves, i)
        formulas = [self._mean_formula(said, final)]
        first = self.journey(self.trees[0], matrix, "The way down tree 0")
        return Sheet(f"{title} in {self.name}", facts, formulas, [*tables, first])

    def _counts(self, i: int | None) -> np.ndarray | None:
        """Return how often every tree's bag holds a training row; None for new rows and without bags."""
        if i is None or self.n_rows != self.plan.matrix.n_rows:
            return None
        counts = np.array([self.plan.bags.counts(t)[i] for t in range(len(self.trees))])
        return None if np.all(counts == 1) else counts

    def _value_header(self, width: int) -> tuple[tuple[str, ...], Any]:
        """Return what the numbers of a tree are called, and how they are shown."""
        classes = class_names(self.model)
        if classes is not None and width == len(classes):
            if width <= 4:
                return tuple(f"{c}" for c in classes), lambda v: tuple(float(x) for x in v)
            return ("class", "share"), lambda v: (str(classes[int(v.argmax())]), float(v.max()))
        if width == 1:
            return ("value",), lambda v: (float(v[0]),)
        return ("values",), lambda v: (v.tolist(),)

    def _final_facts(self, final: np.ndarray) -> dict[str, Any]:
        classes = class_names(self.model)
        if classes is not None and len(final) == len(classes):
            k = int(final.argmax())
            return {
                "answer": classes[k].item() if hasattr(classes[k], "item") else classes[k],
                f"probability of {classes[k]}": float(final[k]),
            }
        return {"answer": float(final[0]) if len(final) == 1 else final.tolist()}

    def _mean_formula(self, said: np.ndarray, final: np.ndarray) -> Formula:
        k, n = int(final.argmax()), len(said)
        classes = class_names(self.model)
        name = (
            "answer"
            if classes is None or len(final) != len(classes)
            else f"probability of {classes[k]}"
        )
        total = float(said[:, k].sum())
        return Formula(
            name, "Σ over trees / number of trees", f"{number(total)} / {n}", float(final[k])
        )

    def _votes_table(self, said: np.ndarray, counts: np.ndarray | None) -> list[SheetTable]:
        """Return how many trees say what, those that have seen the row and those that have not."""
        classes = class_names(self.model)
        if counts is None and (classes is None or said.shape[1] != len(classes)):
            return []
        groups = {"all trees": np.ones(len(said), bool)}
        if counts is not None:
            groups |= {"in bag": counts > 0, "out of bag": counts == 0}
        lines: list[tuple[Any, ...]] = []
        if classes is not None and said.shape[1] == len(classes):
            votes = said.argmax(axis=1)
            for name, some in groups.items():
                tally = np.bincount(votes[some], minlength=len(classes))
                lines.append((name, int(some.sum()), *tally.tolist()))
            return [SheetTable("Votes", ("", "trees", *map(str, classes)), lines)]
        for name, some in groups.items():
            lines.append(
                (name, int(some.sum()), float(said[some, 0].mean()) if some.any() else None)
            )
        return [SheetTable("In and out of bag", ("", "trees", "mean"), lines)]

    def _neighbours(self, leaves: np.ndarray, i: int | None) -> list[SheetTable]:
        """Return the training rows that share most leaves with a row: its proximity."""
        shared = np.zeros(self.n_rows, np.int64)
        for tree, leaf in zip(self.trees, leaves, strict=True):
            shared += leaves_of(tree, self.matrix, self.threads) == leaf
        if i is not None:
            shared[i] = -1
        order = np.argsort(-shared, kind="stable")[:_NEIGHBOURS]
        n = len(self.trees)
        lines = [
            (int(r), truth_of(self.given.y, int(r)), int(shared[r]), shared[r] / n)
            for r in order
            if shared[r] > 0
        ]
        return [
            SheetTable(
                "Nearest training rows, by proximity",
                ("row", "y", "leaves shared", "proximity"),
                lines,
            )
        ]

    # ------------------------------------------------------------------ out of bag
    def oob(self) -> Sheet:
        model, plan = self.model, self.plan
        n_trees = len(self.trees)
        in_bag = np.array([plan.bags.counts(t) for t in range(n_trees)])
        if not (in_bag == 0).any():
            raise self.refuse("oob") from None
        target, classes = plan.target, plan.target.classes is not None
        if target.outputs > 1:
            return self._several_outputs(in_bag)
        values = model.ensemble_.terms.values
        leaves = model.ensemble_.leaves(self.matrix, self.threads)
        answers = np.stack([value[leaves[:, t]] for t, value in enumerate(values)])
        found = out_of_bag(answers, in_bag, classes)
        y = target.y[:, 0]
        facts: dict[str, Any] = {
            "trees": n_trees,
            "rows": len(y),
            "rows some tree has not seen": int(found.covered.sum()),
            "error": found.error(y),
            "score": found.score(y),
        }
        if hasattr(model, "oob_score_"):
            facts["oob_score_ of the model"] = model.oob_score_
        points = np.unique(np.linspace(1, n_trees, min(n_trees, _CURVE)).astype(int))
        curve = []
        for k in points:
            step = oob_curve(answers[:k], in_bag[:k], y, classes)[-1] if k <= 60 else None
            if step is None:
                part = out_of_bag(answers[:k], in_bag[:k], classes)
                curve.append((int(k), int(part.covered.sum()), part.error(y)))
            else:
                curve.append((step.n_trees, step.covered, step.error))
        wrong = self._worst(found, y, classes)
        rule = "wrong rows / covered rows" if classes else "Σ (answer - y)² / covered rows"
        covered = int(found.covered.sum())
        formula = Formula(
            "error", rule, f"{number(found.error(y) * covered)} / {covered}", found.error(y)
        )
        return Sheet(
            f"out-of-bag answers of {self.name}",
            facts,
            [formula],
            [
                SheetTable(
                    "Error after so many trees",
                    ("trees", "rows covered", "error"),
                    curve,
                    shown=_CURVE,
                ),
                wrong,
            ],
            [
                "A row is judged by the trees whose bag lacks it; rows that every tree has seen "
                "count nowhere."
            ],
        )

    def _worst(self, found: Any, y: np.ndarray, classes: bool) -> SheetTable:
        """Return the rows that the out-of-bag answer gets most wrong."""
        decision, names = found.decision, class_names(self.model)
        rows = np.flatnonzero(found.covered)
        if classes:
            loss = 1 - decision[rows, y[rows]]
        else:
            loss = np.abs(decision[rows, 0] - y[rows])
        worst = rows[np.argsort(-loss, kind="stable")[:10]]
        lines = []
        for r in worst.tolist():
            if classes:
                said = int(found.prediction[r])
                label = (lambda k: k) if names is None else (lambda k: str(names[k]))
                lines.append(
                    (
                        r,
                        int(found.n_trees[r]),
                        label(int(y[r])),
                        label(said),
                        float(decision[r, y[r]]),
                    )
                )
            else:
                lines.append(
                    (
                        r,
                        int(found.n_trees[r]),
                        float(y[r]),
                        float(decision[r, 0]),
                        float(decision[r, 0] - y[r]),
                    )
                )
        last = "share of its class" if classes else "error"
        return SheetTable("Rows it gets most wrong", ("row", "trees", "y", "answer", last), lines)

    def _several_outputs(self, in_bag: np.ndarray) -> Sheet:
        away = (in_bag == 0).sum(axis=0)
        facts = {"trees": len(in_bag), "rows some tree has not seen": int((away > 0).sum())}
        if hasattr(self.model, "oob_score_"):
            facts["oob_score_ of the model"] = self.model.oob_score_
        return Sheet(
            f"out-of-bag answers of {self.name}", facts, notes=["The model has several outputs."]
        )
