"""Worksheets of coordinate descent: one coordinate a round, its edge, its step, what the loss becomes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from arboretum.explain.worksheet.family import (
    Family,
    index_of,
    same_classes,
    table_of_row,
    truth_of,
)
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.lazy import cached_property
from arboretum.textbook.adaboost import amount_of_say

__all__ = ["CoordinateFamily"]


class CoordinateFamily(Family):
    """AdaBoost's loss, one coefficient of a dictionary at a time."""

    answers: ClassVar = ("row", "round")
    without: ClassVar = {
        "node": (
            "the classifiers are a fixed dictionary, none of them was grown: ask .round(m) for "
            "the one that moved"
        ),
        "leaf": (
            "the classifiers are a fixed dictionary, none of them was grown: ask .round(m) for "
            "the one that moved"
        ),
        "pruning": "there is nothing to prune",
        "oob": "every step weighs all rows: none is out of bag",
    }

    @cached_property
    def learned(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Signs -1 and 1, weights and numbers of the rows that are learned from."""
        from arboretum.data.target import weights

        model, twin, n = self.model, self.twin, self.n_rows
        codes = twin._learn_labels(self.given.y, n)
        same_classes(twin.classes_, model.classes_, self.name)
        w = weights(self.given.sample_weight, n)
        w = np.ones(n) if w is None else w
        rows, _ = twin._hold_out(codes, w)
        return 2.0 * codes[rows] - 1.0, w[rows], rows

    def answers_of(self, j: int) -> np.ndarray:
        """Return what a classifier answers to the rows, -1 or 1."""
        table, _ = self.model._read(self.given.X)
        said = self.model.dictionary_.combine(np.array([j]), np.ones(1), table)
        return said[self.learned[2]]

    def F(self, m: int) -> np.ndarray:
        """Return Σ λ g of the rows after m steps."""
        report = self.model.report_
        total = np.zeros(len(self.learned[0]))
        for j, delta in zip(report.coordinate[:m], report.delta[:m], strict=True):
            total = total + delta * self.answers_of(int(j))
        return total

    def overview(self) -> Sheet:
        report, model = self.model.report_, self.model
        facts = {
            "rows": self.n_rows,
            "classifiers in the dictionary": len(model.dictionary_),
            "that count": int(np.count_nonzero(model.coefficients_)),
            "steps": len(report),
            "ended": report.stop,
            "loss at first": report.first_loss,
            "loss at last": float(report.loss[-1]) if len(report) else report.first_loss,
        }
        return Sheet(f"worksheet of {self.name}", facts, notes=[self.menu()])

    def round(self, m: Any) -> Sheet:
        model = self.model
        report = model.report_
        m = index_of(m, len(report), ("step", "steps"), self.name)
        y, w, rows = self.learned
        F, j = self.F(m), int(report.coordinate[m])
        terms = w * np.exp(-y * F)
        v = terms / terms.sum()
        answers = self.answers_of(j)
        wrong = answers != y
        error, right = float(v[wrong].sum()), float(v[~wrong].sum())
        delta = amount_of_say(error) if 0 < error < 1 else (1.0 if error == 0 else -1.0)
        after = w * np.exp(-y * (F + delta * answers))
        coefficient = float(report.delta[: m + 1][report.coordinate[: m + 1] == j].sum())
        formulas = [
            Formula("e", "Σ v over the rows it gets wrong", f"{int(wrong.sum())} rows", error),
            Formula("δ", "½ ln((1-e)/e)", f"½ ln({number(right)} / {number(error)})", delta),
            Formula("loss before", "Σ w e^(-yF)", "", float(terms.sum())),
            Formula(
                "loss after",
                "loss · 2 √(e (1-e))",
                f"{number(float(terms.sum()))} · 2 √({number(error)} · {number(1 - error)})",
                float(after.sum()),
            ),
        ]
        facts: dict[str, Any] = {
            "classifier": f"{j}: {model.dictionary_.describe(j)}",
            "its coefficient λ afterwards": coefficient,
            "steepest edge": float(report.steepest[m]),
            "error the model keeps": float(report.error[m]),
            "δ the model keeps": float(report.delta[m]),
            "loss the model keeps": float(report.loss[m]),
        }
        share = after / after.sum()
        order = np.argsort(-share, kind="stable")[:10]
        lines = [
            (
                int(rows[i]),
                truth_of(self.given.y, int(rows[i])),
                float(F[i]),
                float(answers[i]),
                float(v[i]),
                float(share[i]),
            )
            for i in order.tolist()
        ]
        table = SheetTable(
            "Heaviest rows afterwards",
            ("row", "y", "F before", "answer", "v before", "v after"),
            lines,
        )
        return Sheet(f"step {m} of {self.name}", facts, formulas, [table])

    def row(self, row: Any) -> Sheet:
        table, title, i = self.row_of(row)
        model = self.model
        X = table if i is None else table_of_row(self.given.X, i)
        matrix = self.matrix.take(np.array([i])) if i is not None else self.encode(table)
        read, _ = model._read(X)
        used = np.flatnonzero(model.coefficients_)
        lines, total = [], 0.0
        for j in used[np.argsort(-np.abs(model.coefficients_[used]), kind="stable")].tolist():
            said = float(model.dictionary_.combine(np.array([j]), np.ones(1), read)[0])
            total += model.coefficients_[j] * said
            lines.append(
                (j, model.dictionary_.describe(j), said, float(model.coefficients_[j]), total)
            )
        decision = float(model.decision_function(X)[0])
        answer = model.predict(X)[0]
        facts: dict[str, Any] = {
            "answer": answer.item() if hasattr(answer, "item") else answer,
            "decision": decision,
            "class shares": model.predict_proba(X)[0].tolist(),
        }
        facts |= self.truth(i)
        formula = Formula("decision", "Σ λ_j g_j(x)", f"of {len(used)} classifiers", total)
        share = Formula(
            f"share of {model.classes_[-1]}",
            "1 / (1 + e^(-2F))",
            f"1 / (1 + e^{signed(-2 * decision)})",
            float(model.predict_proba(X)[0, -1]),
        )
        header = ("classifier", "asks", "answers", "λ", "sum so far")
        return Sheet(
            f"{title} in {self.name}",
            facts,
            [formula, share],
            [
                self.values_table(matrix),
                SheetTable("Classifiers, the heaviest first", header, lines, shown=40),
            ],
        )
