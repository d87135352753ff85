"""Worksheets of Friedman's gradient boosting: residuals, trees, the step of every leaf, all losses."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from arboretum.explain.worksheet.families.friedman.leaves import LeafSteps
from arboretum.explain.worksheet.families.friedman.replay import Played
from arboretum.explain.worksheet.family import (
    class_names,
    index_of,
    table_of_row,
    truth_of,
)
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable

__all__ = ["GradientFamily"]


class GradientFamily(LeafSteps):
    """Friedman's boosting."""

    answers: ClassVar = ("node", "leaf", "row", "round", "oob")
    without: ClassVar = {
        "pruning": (
            "trees of boosting are kept small by max_depth and max_leaf_nodes, not pruned "
            "along a path"
        ),
        "oob": "every round saw every row: fit with subsample below 1",
        "node": "the learners are not trees",
        "leaf": "the learners are not trees",
    }

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
            "learning rate": float(model._rates[m]),
            "rows": len(self.rows),
            "rows drawn": int(played.drawn.sum()),
        }
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
                    Formula(
                        name,
                        f"{mult}Σ w L / Σ w over the rows drawn",
                        f"{mult}{number(total)} / {number(float(w.sum()))}",
                        factor * total / float(w.sum()),
                    )
                )
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
        return Sheet(f"round {m} of {self.name}", facts, formulas, tables, self._bag_notes(m))

    def _trees_table(self, m: int) -> list[SheetTable]:
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
            SheetTable(
                "Its trees",
                ("tree", "leaves", "first split", "gain", "least step", "largest step"),
                lines,
            )
        ]

    def _residual_table(self, played: Played) -> SheetTable:
        lines = []
        for k in range(self.width):
            r = played.residuals[:, k]
            quarters = [float(np.quantile(r, q)) for q in (0, 0.25, 0.5, 0.75, 1)]
            classes = class_names(self.model)
            name = str(classes[k]) if self.width > 1 and classes is not None else "residual"
            lines.append((name, float(r.mean()), *quarters))
        return SheetTable(
            "Residuals", ("", "mean", "least", "quarter", "median", "3 quarters", "most"), lines
        )

    def _rows_table(self, played: Played, after: np.ndarray, before: Any, now: Any) -> SheetTable:
        order = np.argsort(-np.abs(played.residuals).sum(axis=1), kind="stable")[:10]
        lines = []
        for j in order.tolist():
            k = int(np.abs(played.residuals[j]).argmax())
            i = int(self.rows[j])
            line = [
                i,
                truth_of(self.given.y, i),
                float(played.F[j, k]),
                float(played.residuals[j, k]),
                float(after[j, k] - played.F[j, k]),
                "yes" if played.drawn[j] else "no",
            ]
            if before is not None and now is not None:
                line += [float(before[j]), float(now[j])]
            lines.append(tuple(line))
        header = ["row", "y", "F", "residual", "moves", "drawn"]
        if before is not None:
            header += ["loss before", "loss after"]
        return SheetTable("Rows that are furthest off", header, lines, optional=("drawn",))

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        table, title, i = self.row_of(row)
        model = self.model
        X = table if i is None else table_of_row(self.given.X, i)
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
        facts |= self.truth(i)
        begin = np.asarray(model._start(X, 1))[0]
        formulas = [
            Formula(
                "F" if self.width == 1 else f"F of class {class_names(model)[k]}",
                "start + Σ of what trees add",
                f"{number(float(begin[k]))} + {signed(float(F[0, k] - begin[k]))}",
                float(F[0, k]),
            )
            for k in range(self.width)
        ]
        tables = [
            self.values_table(matrix),
            SheetTable("Round by round", header, lines, shown=30, optional=("round",)),
        ]
        if self.has_trees:
            heaviest = int(np.argmax([abs(line[header.index("adds")]) for line in lines]))
            tables.append(
                self.journey(
                    self.trees[heaviest], matrix, f"The way down tree {heaviest}, which adds most"
                )
            )
        return Sheet(f"{title} in {self.name}", facts, formulas, tables)

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
        table = SheetTable(
            "After every round",
            ("round", "rows out of bag", "score", "improvement"),
            lines,
            shown=60,
        )
        return Sheet(
            f"rows out of the rounds of {self.name}",
            {"rounds": model.n_estimators_, "subsample": float(model.subsample)},
            tables=[table],
            notes=["A round is judged by the rows that it did not draw."],
        )

    def overview(self) -> Sheet:
        if self.has_trees:
            return super().overview()
        facts = {
            "rows": self.n_rows,
            "rounds": self.model.n_estimators_,
            "learner": type(self.model.estimator).__name__,
        }
        return Sheet(f"worksheet of {self.name}", facts, notes=["Ask .row(i), .round(m)."])

    def more_facts(self) -> dict[str, Any]:
        model = self.model
        loss = model.loss if isinstance(model.loss, str) else type(model.loss).__name__
        return {"loss": loss, "rounds": model.n_estimators_, "step": model.step}
