"""Worksheets of coordinate descent: one coordinate a round, its edge, its step, what the loss becomes."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.worksheet.family import (
    Family,
    index_of,
    truth_of,
)
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.lazy import cached_property
from arboretum.textbook.adaboost import amount_of_say

__all__ = ["CoordinateFamily"]


class CoordinateFamily(Family):
    """AdaBoost's loss, one coefficient of a dictionary at a time."""

    kind = "coordinate"

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Signs -1 and 1, weights and numbers of the rows that are learned from."""
        codes, _, w, _ = self.learned
        w, rows = np.ones(len(codes)) if w is None else w, np.arange(len(codes))
        if self.anatomy.recipe.held_out is not None:
            rows = self.anatomy.recipe.held_out(codes, w)[0]
        return 2.0 * codes[rows] - 1.0, w[rows], rows

    def answers_of(self, j: int) -> np.ndarray:
        """Return the answers of a classifier to the rows, -1 or 1."""
        table = self.anatomy.recipe.steps["table"](self.given.X)
        return self.model.dictionary_.combine(np.array([j]), np.ones(1), table)[self.rows[2]]

    def F(self, m: int) -> np.ndarray:
        """Return Σ λ g of the rows after m steps."""
        report = self.model.report_
        total = np.zeros(len(self.rows[0]))
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
        model, report = self.model, self.model.report_
        m = index_of(m, len(report), ("step", "steps"), self.name)
        y, w, rows = self.rows
        F, j = self.F(m), int(report.coordinate[m])
        terms = w * np.exp(-y * F)
        v, answers = terms / terms.sum(), self.answers_of(j)
        wrong = answers != y
        e, right, before = float(v[wrong].sum()), float(v[~wrong].sum()), float(terms.sum())
        delta = amount_of_say(e) if 0 < e < 1 else (1.0 if e == 0 else -1.0)
        after = w * np.exp(-y * (F + delta * answers))
        moved = report.coordinate[: m + 1] == j
        facts: dict[str, Any] = {
            "classifier": f"{j}: {model.dictionary_.describe(j)}",
            "its coefficient λ afterwards": float(report.delta[: m + 1][moved].sum()),
            "steepest edge": float(report.steepest[m]),
            "error the model keeps": float(report.error[m]),
            "δ the model keeps": float(report.delta[m]),
            "loss the model keeps": float(report.loss[m]),
        }
        sheet = Sheet(f"step {m} of {self.name}", facts)
        sheet.add_formula("e", "Σ v over the rows it gets wrong", f"{int(wrong.sum())} rows", e)
        sheet.add_formula("δ", "½ ln((1-e)/e)", f"½ ln({number(right)} / {number(e)})", delta)
        sheet.add_formula("loss before", "Σ w e^(-yF)", "", before)
        numbers = f"{number(before)} · 2 √({number(e)} · {number(1 - e)})"
        sheet.add_formula("loss after", "loss · 2 √(e (1-e))", numbers, float(after.sum()))
        share, lines = after / after.sum(), []
        for i in np.argsort(-share, kind="stable")[:10].tolist():
            figures = float(F[i]), float(answers[i]), float(v[i]), float(share[i])
            lines.append((int(rows[i]), truth_of(self.given.y, int(rows[i])), *figures))
        header = "row | y | F before | answer | v before | v after"
        sheet.add_table("Heaviest rows afterwards", header, lines)
        return sheet

    def row(self, row: Any) -> Sheet:
        sheet, _, i = self.row_sheet(row)
        model, X = self.model, self.row_table(row)
        table = self.anatomy.recipe.steps["table"](X)
        used, lines, total = np.flatnonzero(model.coefficients_), [], 0.0
        for j in used[np.argsort(-np.abs(model.coefficients_[used]), kind="stable")].tolist():
            answer = float(model.dictionary_.combine(np.array([j]), np.ones(1), table)[0])
            weight = float(model.coefficients_[j])
            total += weight * answer
            lines.append((j, model.dictionary_.describe(j), answer, weight, total))
        decision = float(model.decision_function(X)[0])
        self.add_prediction(sheet, X)
        sheet.facts |= {"decision": decision, **self.truth(i)}
        sheet.add_formula("decision", "Σ λ_j g_j(x)", f"of {len(used)} classifiers", total)
        name, numbers = (
            f"probability of {model.classes_[-1]}",
            f"1 / (1 + e^{signed(-2 * decision)})",
        )
        sheet.add_formula(
            name, "1 / (1 + e^(-2F))", numbers, sheet.facts["class probabilities"][-1]
        )
        header = "classifier | test | answers | λ | sum so far"
        sheet.add_table("Classifiers, the heaviest first", header, lines, shown=40)
        return sheet
