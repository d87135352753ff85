"""Worksheets of Friedman's gradient boosting: residuals, trees on them, the step of every leaf, all losses.

A round is played again: F of the rounds before it, residuals there, the rows that it drew. Its trees are CART's, grown
on residuals (grown.py); the step of a leaf is the textbook's (`gbm_losses`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import ceil
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from arboretum.base.holdout import set_aside
from arboretum.base.sampling import draw_in_turn
from arboretum.boosting.gradient.fitting import BoostingTask
from arboretum.explain.worksheet.cart import draw_of, textbook_rules, truth_of
from arboretum.explain.worksheet.family import (
    Family,
    check_rows_of,
    class_names,
    index_of,
    same_classes,
)
from arboretum.explain.worksheet.grown import GrownTree, Names
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, Table
from arboretum.grow import settings
from arboretum.textbook import gbm_losses

__all__ = ["GradientFamily"]

_BAG, _TREE = 0, 1  # what random numbers of a round are for


@dataclass(frozen=True, eq=False)
class Played:
    """A round up to its trees, on the rows that it may draw from."""

    loss: Any
    F: np.ndarray  # (rows, scores) before the round
    residuals: np.ndarray  # (rows, scores)
    weight: np.ndarray  # of every row in the round's trees; 0: not drawn
    drawn: np.ndarray  # bool


class GradientFamily(Family):
    """Friedman's boosting."""

    answers: ClassVar = ("node", "leaf", "row", "round", "oob")
    without: ClassVar = {
        "pruning": "trees of boosting are kept small by max_depth and max_leaf_nodes, not pruned along a path",
        "oob": "every round saw every row: fit with subsample below 1",
        "node": "the learners are not trees",
        "leaf": "the learners are not trees",
    }

    def __init__(self, model: Any, given: Any) -> None:
        super().__init__(model, given)
        self.played = lru_cache(maxsize=3)(self._played)
        self.tree_of = lru_cache(maxsize=4)(self._tree_of)

    # ------------------------------------------------------------------ the fit once more
    @cached_property
    def _learned(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Labels and weights of all rows, as the loss takes them."""
        twin = self.twin
        check_rows_of(self.n_rows, self.model._n_rows, self.name)
        y = twin._learn_labels(self.given.y, self.n_rows)
        if hasattr(self.model, "classes_"):
            same_classes(twin.classes_, self.model.classes_, self.name)
        return y, twin._learn_weights(self.given.sample_weight, self.n_rows)

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows that are learned from: all, but for those held out for early stopping."""
        y, w = self._learned
        model = self.model
        if model.n_iter_no_change is None:
            return np.arange(self.n_rows)
        codes = y if model.loss_.classifies else None
        return set_aside(self.n_rows, model.validation_fraction, model.seed_, codes, w)[0]

    @cached_property
    def y(self) -> np.ndarray:
        return self._learned[0][self.rows]

    @cached_property
    def w(self) -> np.ndarray | None:
        w = self._learned[1]
        return None if w is None else w[self.rows]

    @cached_property
    def table(self) -> Any:
        return self.matrix if len(self.rows) == self.n_rows else self.matrix.take(self.rows)

    @property
    def width(self) -> int:
        return self.model._width

    @property
    def has_trees(self) -> bool:
        return self.model.estimator is None

    @property
    def trees(self) -> list:
        return self.model.trees_

    def _key(self, *purpose: int) -> int:
        return BoostingTask.key(SimpleNamespace(seed=self.model.seed_), *purpose)  # type: ignore[arg-type]

    @cached_property
    def start(self) -> np.ndarray:
        """F before the first round, (rows, scores)."""
        model, X = self.model, self.given.X
        everything = len(self.rows) == self.n_rows
        there = X if everything else model._rows_for_init(X, self.rows)
        return np.ascontiguousarray(model._start(there, len(self.rows)))

    def F(self, m: int) -> np.ndarray:
        """Return F after m rounds, (rows, scores)."""
        model = self.model
        if m == 0:
            return self.start
        if self.has_trees:
            return model.ensemble_.rounds(0, m).answers(self.table, self.threads, self.start)
        X = self.given.X
        there = X if len(self.rows) == self.n_rows else model._rows_for_init(X, self.rows)
        for k, now in enumerate(model._member_sums(there, self.start)):
            if k + 1 == m:
                return now
        raise AssertionError(m)

    def _played(self, m: int) -> Played:
        model, n = self.model, len(self.rows)
        F = self.F(m)
        shaped = F[:, 0] if self.width == 1 else F
        loss = model.loss_.for_round(self.y, shaped, self.w)
        residuals = loss.residuals(self.y, shaped).reshape(n, -1)
        drawn = np.ones(n, bool)
        if model.subsample < 1:
            inside = max(1, int(model.subsample * n))
            drawn = draw_in_turn(self._key(_BAG, m), n, inside, self.w).astype(bool)
        weight = drawn * (1.0 if self.w is None else self.w)
        return Played(loss, F, residuals, weight, drawn)

    def _tree_of(self, t: int) -> GrownTree:
        model, (m, k) = self.model, divmod(t, self.width)
        played = self.played(m)
        target = _target_of(self.y, self.w)
        how = settings.growth(self.twin, model.schema_, target, len(self.rows))
        how = replace(how, min_weight_leaf=0.0)
        share = float(model.min_weight_fraction_leaf)
        if share > 0 and self.w is not None:
            how = replace(how, min_weight_leaf=share * float(played.weight.sum()))
        elif share > 0:
            how = replace(
                how, min_samples_leaf=max(how.min_samples_leaf, ceil(share * played.drawn.sum()))
            )
        rules = textbook_rules(how, model.criterion, model.schema_, target)
        rules = replace(rules, two_classes=getattr(model, "n_classes_", None) == 2)
        alpha = float(model.ccp_alpha)
        return GrownTree(
            self.trees[t], self.table, played.residuals[:, [k]], played.weight, rules,
            Names(self.title(t), "the residuals"), draw_of(how, model.n_features_in_, self._key(_TREE, m, k)),
            pruned=f"what was below it was pruned (α = {number(alpha)})" if alpha else "", n_jobs=self.threads,
        )  # fmt: skip

    def title(self, t: int) -> str:
        m, k = divmod(t, self.width)
        text = f"tree {t}" if self.width == 1 else f"tree {t}, round {m}"
        classes = class_names(self.model)
        return text + (f", class {classes[k]}" if self.width > 1 and classes is not None else "")

    # ------------------------------------------------------------------ nodes and leaves
    def number_of_tree(self, tree: Any) -> int:
        if not self.has_trees:
            raise self.refuse("node")
        return super().number_of_tree(tree)

    def node(self, tree: Any, node: Any) -> Sheet:
        t = self.number_of_tree(tree)
        sheet = self.tree_of(t).node(self.number_of_node(self.trees[t], node))
        return replace(sheet, notes=[*sheet.notes, *self._bag_notes(t // self.width)])

    def _bag_notes(self, m: int) -> list[str]:
        drawn, notes = self.played(m).drawn, []
        if not drawn.all():
            notes.append(
                f"The round drew {int(drawn.sum())} of {len(drawn)} rows; the others take its steps, too."
            )
        if len(self.rows) < self.n_rows:
            notes.append(f"{self.n_rows - len(self.rows)} rows were held out for early stopping.")
        return notes

    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        t = self.number_of_tree(tree)
        k = self.number_of_node(self.trees[t], leaf, what="leaf")
        sheet = self.tree_of(t).leaf(k)
        formulas = [*sheet.formulas[:1], *self.step_formulas(t, k), *sheet.formulas[1:]]
        return replace(
            sheet, formulas=formulas, notes=[*sheet.notes, *self._bag_notes(t // self.width)]
        )

    @cached_property
    def textbook_loss(self) -> Any:
        """The loss as the textbook has it; None for one of the user's own."""
        model = self.model
        if not isinstance(model.loss, str):
            return None
        classes = class_names(model)
        n = 2 if classes is None else len(classes)
        return gbm_losses.make_loss(model.loss, n, float(model.alpha), float(model.power))

    def step_formulas(self, t: int, leaf: int) -> list[Formula]:
        """Return how far a leaf goes, and what F moves by."""
        model, (m, k) = self.model, divmod(t, self.width)
        played, grown = self.played(m), self.tree_of(t)
        rows = grown.rows_of(leaf)
        kept = float(self.trees[t].value[leaf, 0, 0])
        rate = float(model._rates[m])
        if not len(rows):
            return [Formula("step the model keeps", "", "", kept)]
        w = played.weight[rows]
        mean = float(np.average(played.residuals[rows, k], weights=w))
        if model.step == "line_search":
            eta = float(model.step_lengths_[m])
            found = [
                Formula(
                    "step",
                    "η · mean residual, one η for the round",
                    f"{number(eta)} · {signed(mean)}",
                    eta * mean,
                )
            ]
        elif model.step == "gradient":
            found = [Formula("step", "mean residual", "", mean)]
        else:
            found = [self._leaf_step(played, rows, w, k)]
        found.append(Formula("step the model keeps", "", "", kept))
        if model.monotonic_cst is not None and abs(found[0].value - kept) > 1e-12 * (1 + abs(kept)):
            found.append(
                Formula(
                    "kept in order", "steps of leaves that a monotone constraint orders", "", kept
                )
            )
        found.append(
            Formula(
                "F moves by",
                "learning rate · step",
                f"{number(rate)} · {signed(kept)}",
                rate * kept,
            )
        )
        return found

    def _leaf_step(self, played: Played, rows: np.ndarray, w: np.ndarray, k: int) -> Formula:
        """Return the best step of a leaf by the loss, with its numbers."""
        y, F = self.y[rows], played.F[rows]
        F = F[:, 0] if self.width == 1 else F
        r, loss = played.residuals[rows, k], self.textbook_loss
        if loss is None:
            from arboretum.boosting.loss.leaves import Leaves

            one = Leaves(np.zeros(len(rows), np.int64), 1, w)
            step = float(played.loss.steps(y, F, r, one, k)[0])
            return Formula("step", "what the loss of your own says", f"{len(rows)} rows", step)
        loss = loss.for_round(self.y, played.F[:, 0] if self.width == 1 else played.F,
                              np.ones(len(self.y)) if self.w is None else self.w)  # fmt: skip
        step = float(np.atleast_1d(loss.step(y, F, w))[k if self.width > 1 else 0])
        if isinstance(loss, gbm_losses.NewtonLoss):
            h = np.asarray(loss.hessian(y, F)).reshape(len(rows), -1)[:, k if self.width > 1 else 0]
            up, down = float(w @ r), float(w @ h)
            numbers = f"{number(up)} / {number(down)}"
            rule = "Σ w r / Σ w h"
            if self.width > 1:
                K = self.width
                rule, numbers = f"(K-1)/K · {rule}", f"{K - 1}/{K} · {numbers}"
            return Formula("step", rule, numbers, step)
        if isinstance(loss, gbm_losses.PowerLoss):
            a = 1 - loss.power
            up, down = float(w @ (y * np.exp(a * F))), float(w @ np.exp((a + 1) * F))
            return Formula(
                "step",
                "ln(Σ w y e^(aF) / Σ w e^((a+1)F))",
                f"ln({number(up)} / {number(down)})",
                step,
            )
        if isinstance(loss, gbm_losses.Huber):
            middle = gbm_losses.weighted_quantile(y - F, w, 0.5)
            rest = step - middle
            return Formula("step", f"median of y - F + mean of the rest cut at ±δ, δ = {number(float(loss.delta))}",
                           f"{number(middle)} + {signed(rest)}", step)  # fmt: skip
        if isinstance(loss, gbm_losses.SquaredError):
            total, weight = float(w @ (y - F)), float(w.sum())
            return Formula("step", "Σ w (y - F) / Σ w", f"{number(total)} / {number(weight)}", step)
        share = loss.alpha if isinstance(loss, gbm_losses.Quantile) else 0.5
        return Formula(
            "step",
            f"weighted {number(float(share))}-quantile of y - F",
            f"of {len(rows)} rows",
            step,
        )

    # ------------------------------------------------------------------ losses
    def losses(self, loss: Any, y: np.ndarray, F: np.ndarray) -> np.ndarray | None:
        if not getattr(loss, "has_value", True):
            return None
        return loss.value(y, F[:, 0] if F.shape[1] == 1 else F)

    # ------------------------------------------------------------------ a round
    def round(self, m: Any) -> Sheet:
        model = self.model
        m = index_of(m, model.n_estimators_, ("round", "rounds"), self.name)
        played, after = self.played(m), self.F(m + 1)
        facts: dict[str, Any] = {
            "loss": model.loss if isinstance(model.loss, str) else type(model.loss).__name__,
            "learning rate": float(model._rates[m]), "rows": len(self.rows), "rows drawn": int(played.drawn.sum()),
        }  # fmt: skip
        if hasattr(model, "step_lengths_") and len(model.step_lengths_):
            facts["step length η"] = float(model.step_lengths_[m])
        if hasattr(played.loss, "delta"):
            facts["δ of Huber's loss"] = float(played.loss.delta)
        formulas = []
        before = self.losses(played.loss, self.y, played.F)
        now = self.losses(played.loss, self.y, after)
        if before is not None and now is not None:
            factor, w = played.loss.factor, played.weight
            for name, values in (("score before", before), ("score after", now)):
                total = float(w @ values)
                mult = "" if factor == 1 else f"{number(factor)} · "
                formulas.append(
                    Formula(name, f"{mult}Σ w L / Σ w over the rows drawn", f"{mult}{number(total)} / {number(float(w.sum()))}",
                            factor * total / float(w.sum()))
                )  # fmt: skip
            formulas.append(
                Formula("train_score_ the model keeps", "", "", float(model.train_score_[m]))
            )
            out = ~played.drawn
            if out.any() and hasattr(model, "oob_scores_"):
                formulas.append(
                    Formula("oob_scores_ the model keeps", "", "", float(model.oob_scores_[m]))
                )
        tables = [
            *self._trees_table(m),
            self._residual_table(played),
            self._rows_table(played, after, before, now),
        ]
        return Sheet(f"round {m} of a {self.name}", facts, formulas, tables, self._bag_notes(m))

    def _trees_table(self, m: int) -> list[Table]:
        if not self.has_trees:
            return []
        lines = []
        for t in range(m * self.width, (m + 1) * self.width):
            tree = self.trees[t]
            asked = "no split" if tree.is_leaf[0] else tree.condition(0, 0).pretty(max_categories=4)
            steps = tree.value[tree.leaves, 0, 0]
            lines.append(
                (
                    t,
                    tree.n_leaves,
                    asked,
                    float(tree.gain[0]),
                    float(steps.min()),
                    float(steps.max()),
                )
            )
        return [
            Table(
                "Its trees",
                ("tree", "leaves", "root asks", "gain", "least step", "largest step"),
                lines,
            )
        ]

    def _residual_table(self, played: Played) -> Table:
        lines = []
        for k in range(self.width):
            r = played.residuals[:, k]
            quarters = [float(np.quantile(r, q)) for q in (0, 0.25, 0.5, 0.75, 1)]
            classes = class_names(self.model)
            name = str(classes[k]) if self.width > 1 and classes is not None else "residual"
            lines.append((name, float(r.mean()), *quarters))
        return Table(
            "Residuals", ("", "mean", "least", "quarter", "median", "3 quarters", "most"), lines
        )

    def _rows_table(self, played: Played, after: np.ndarray, before: Any, now: Any) -> Table:
        order = np.argsort(-np.abs(played.residuals).sum(axis=1), kind="stable")[:10]
        lines = []
        for j in order.tolist():
            k = int(np.abs(played.residuals[j]).argmax())
            i = int(self.rows[j])
            line = [i, truth_of(self.given.y, i), float(played.F[j, k]), float(played.residuals[j, k]),
                    float(after[j, k] - played.F[j, k]), "yes" if played.drawn[j] else "no"]  # fmt: skip
            if before is not None and now is not None:
                line += [float(before[j]), float(now[j])]
            lines.append(tuple(line))
        header = ["row", "y", "F", "residual", "moves", "drawn"]
        if before is not None:
            header += ["loss before", "loss after"]
        return Table("Rows that are furthest off", header, lines, optional=("drawn",))

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        table, title, i = self.row_of(row)
        model = self.model
        X = table if i is None else _one(self.given.X, i)
        matrix = self.matrix.take(np.array([i])) if i is not None else self.encode(table)
        F = np.array(model._start(X, 1), dtype=np.float64)
        y = self._learned[0][[i]] if i is not None else None
        lines: list[tuple[Any, ...]] = []
        leaves = model.ensemble_.leaves(matrix, 1)[0] if self.has_trees else None
        staged = [np.asarray(now).reshape(1, -1) for now in model._staged_raw(X)]
        for m, now in enumerate(staged):
            loss = model.loss_
            if i is not None and hasattr(loss, "delta"):
                loss = self.played(m).loss
            r = (
                None
                if y is None
                else loss.residuals(y, F[:, 0] if self.width == 1 else F).reshape(1, -1)
            )
            costs = [None, None] if y is None else [self.losses(loss, y, one) for one in (F, now)]
            for k in range(self.width):
                t = m * self.width + k
                line: list[Any] = [m, t, None if leaves is None else int(leaves[t])]
                line += [] if r is None else [float(r[0, k])]
                line += [float(now[0, k] - F[0, k]), float(now[0, k])]
                if y is not None:
                    line += [
                        None if c is None or k < self.width - 1 else float(c[0]) for c in costs
                    ]
                lines.append(tuple(line))
            F = now
        header = ["round", "tree", "leaf", *([] if y is None else ["residual"]), "adds", "F"]
        header += [] if y is None else ["loss before", "loss after"]
        answer = model.predict(X)[0]
        facts: dict[str, Any] = {"answer": answer.item() if hasattr(answer, "item") else answer}
        facts["F"] = float(F[0, 0]) if self.width == 1 else F[0].tolist()
        if hasattr(model, "predict_proba"):
            facts["class shares"] = np.asarray(model.predict_proba(X))[0].tolist()
        if i is not None:
            facts["in training"] = truth_of(self.given.y, i)
        begin = np.asarray(model._start(X, 1))[0]
        formulas = [
            Formula("F" if self.width == 1 else f"F of class {class_names(model)[k]}", "start + Σ of what trees add",
                    f"{number(float(begin[k]))} + {signed(float(F[0, k] - begin[k]))}", float(F[0, k]))
            for k in range(self.width)
        ]  # fmt: skip
        tables = [
            self.values_table(matrix),
            Table("Round by round", header, lines, shown=30, optional=("round",)),
        ]
        if self.has_trees:
            heaviest = int(np.argmax([abs(line[header.index("adds")]) for line in lines]))
            tables.append(
                self.journey(
                    self.trees[heaviest], matrix, f"The way down tree {heaviest}, which adds most"
                )
            )
        return Sheet(f"{title} in a {self.name}", facts, formulas, tables)

    # ------------------------------------------------------------------ out of bag
    def oob(self) -> Sheet:
        model = self.model
        if not hasattr(model, "oob_scores_"):
            raise self.refuse("oob")
        lines = []
        for m in range(model.n_estimators_):
            played, after = self.played(m), self.F(m + 1)
            out = ~played.drawn
            w = None if self.w is None else self.w[out]
            shaped = after[out][:, 0] if self.width == 1 else after[out]
            score = (
                float(played.loss.score(self.y[out], shaped, w))
                if out.any() and (w is None or w.any())
                else None
            )
            lines.append((m, int(out.sum()), score, float(model.oob_improvement_[m])))
        table = Table(
            "After every round",
            ("round", "rows out of bag", "score", "improvement"),
            lines,
            shown=60,
        )
        return Sheet(
            f"rows out of the rounds of a {self.name}", {"rounds": model.n_estimators_, "subsample": float(model.subsample)},
            tables=[table], notes=["A round is judged by the rows that it did not draw."],
        )  # fmt: skip

    def overview(self) -> Sheet:
        if self.has_trees:
            return super().overview()
        facts = {
            "rows": self.n_rows,
            "rounds": self.model.n_estimators_,
            "learner": type(self.model.estimator).__name__,
        }
        return Sheet(f"worksheet of a {self.name}", facts, notes=["Ask .row(i), .round(m)."])

    def more_facts(self) -> dict[str, Any]:
        model = self.model
        loss = model.loss if isinstance(model.loss, str) else type(model.loss).__name__
        return {"loss": loss, "rounds": model.n_estimators_, "step": model.step}


def _target_of(y: np.ndarray, w: np.ndarray | None) -> Any:
    from arboretum.grow.criterion import make_target

    return make_target(y[:, None].astype(np.float64), None, w)


def _one(X: Any, i: int) -> Any:
    """Return one row of a table, as a table."""
    from arboretum.data.slices import as_view, take_rows

    return take_rows(as_view(X), np.array([i]))
