"""Worksheets of Friedman's gradient boosting: residuals, trees, the step of every leaf, all losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.worksheet.families.friedman.leaves import step_formulas
from arboretum.explain.worksheet.families.friedman.replay import FriedmanReplay
from arboretum.explain.worksheet.family import Family, index_of, truth_of
from arboretum.explain.worksheet.grown import ShownTree
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.explain.worksheet.spread import add_rounds_trees, spread_of
from arboretum.lazy import cached_property

__all__ = ["FriedmanFamily"]


class FriedmanFamily(Family):
    """Friedman's boosting."""

    kind = "friedman"

    @cached_property
    def rounds(self) -> FriedmanReplay:
        return FriedmanReplay(self)

    def tree_of(self, t: int) -> ShownTree:
        return self.rounds.tree_of(t)

    # ------------------------------------------------------------------ nodes and leaves
    def node_sheet(self, t: int, node: int) -> Sheet:
        sheet = self.tree_of(t).node(node)
        sheet.notes += self.rounds.bag_notes(t // self.rounds.width)
        return sheet

    def leaf_sheet(self, t: int, leaf: int) -> Sheet:
        sheet = self.tree_of(t).leaf(leaf)
        sheet.formulas[1:1] = step_formulas(self.rounds, t, leaf)
        sheet.notes += self.rounds.bag_notes(t // self.rounds.width)
        return sheet

    # ------------------------------------------------------------------ a round
    def round(self, m: Any) -> Sheet:
        model, rounds = self.model, self.rounds
        m = index_of(m, model.n_estimators_, ("round", "rounds"), self.name)
        played, after = rounds.played(m), rounds.F(m + 1)
        sheet = Sheet(f"round {m} of {self.name}")
        sheet.facts = {
            "loss": self._loss_name(),
            "learning rate": float(self.anatomy.history.figures["rate"][m]),
            "rows": len(rounds.rows),
            "rows drawn": int(played.drawn.sum()),
        }
        if model.step == "line_search":
            sheet.facts["step length η"] = float(model.step_lengths_[m])
        if hasattr(played.loss, "delta"):
            sheet.facts["δ of Huber's loss"] = float(played.loss.delta)
        costs = [rounds.losses(played.loss, rounds.y, F) for F in (played.F, after)]
        if costs[0] is not None:
            self._add_scores(sheet, m, costs)
        if rounds.has_trees:
            numbers = range(m * rounds.width, (m + 1) * rounds.width)
            add_rounds_trees(sheet, self.trees, numbers)
        lines: list[tuple[Any, ...]] = []
        for k, r in enumerate(played.residuals.T):
            lines.append((rounds.output_name(k), float(r.mean()), *spread_of(r)))
        header = " | mean | least | quarter | median | 3 quarters | most"
        sheet.add_table("Residuals", header, lines)
        self._add_rows(sheet, m, costs)
        sheet.notes += rounds.bag_notes(m)
        return sheet

    def _loss_name(self) -> str:
        loss = self.model.loss
        return loss if isinstance(loss, str) else type(loss).__name__

    def _add_scores(self, sheet: Sheet, m: int, costs: list[Any]) -> None:
        """Write the loss before and after a round, over the rows it drew."""
        model, played = self.model, self.rounds.played(m)
        factor, w = played.loss.factor, played.weight
        times = "" if factor == 1 else f"{number(factor)} · "
        for name, values in zip(("score before", "score after"), costs, strict=True):
            total, weight = float(w @ values), float(w.sum())
            rule = f"{times}Σ w L / Σ w over the rows drawn"
            numbers = f"{times}{number(total)} / {number(weight)}"
            sheet.add_formula(name, rule, numbers, factor * total / weight)
        kept = float(model.train_score_[m])
        sheet.add_formula("train_score_ the model keeps", "", "", kept)
        out_of_bag = self.anatomy.history.figures.get("out-of-bag loss")
        if not played.drawn.all() and out_of_bag is not None:
            kept = float(out_of_bag[m])
            sheet.add_formula("oob_scores_ the model keeps", "", "", kept)

    def _add_rows(self, sheet: Sheet, m: int, costs: list[Any]) -> None:
        """Write the rows with the largest residuals."""
        rounds, played, after = self.rounds, self.rounds.played(m), self.rounds.F(m + 1)
        size, lines = np.abs(played.residuals), []
        for j in np.argsort(-size.sum(axis=1), kind="stable")[:10].tolist():
            k, i = int(size[j].argmax()), int(rounds.rows[j])
            F, moves = float(played.F[j, k]), float(after[j, k] - played.F[j, k])
            drawn = "yes" if played.drawn[j] else "no"
            line = [i, truth_of(self.given.y, i), F, float(played.residuals[j, k]), moves, drawn]
            lines.append((*line, *(float(one[j]) for one in costs if one is not None)))
        header = "row | y | F | residual | moves | drawn"
        header += "" if costs[0] is None else " | loss before | loss after"
        sheet.add_table("Rows that are furthest off", header, lines, optional=("drawn",))

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        sheet, matrix, i = self.row_sheet(row)
        model, rounds, X = self.model, self.rounds, self.row_table(row)
        width = rounds.width
        start = F = np.array(rounds.steps["start"](X, 1), dtype=np.float64)
        y = None if i is None else rounds.learned[0][[i]]
        leaves = model.ensemble_.leaves(matrix, 1)[0].tolist() if rounds.has_trees else None
        lines: list[tuple[Any, ...]] = []
        for m, raw in enumerate(rounds.steps["staged"](X)):
            now = np.asarray(raw).reshape(1, -1)
            before: list[list[Any]] = [[]] * width
            ends: list[list[Any]] = [[]] * width
            if y is not None:
                loss = rounds.played(m).loss if hasattr(model.loss_, "delta") else model.loss_
                before = loss.residuals(y, rounds.shaped(F)).reshape(width, 1).tolist()
                costs = [rounds.losses(loss, y, one) for one in (F, now)]
                ends = [[None, None]] * (width - 1)
                ends += [[None if c is None else float(c[0]) for c in costs]]
            for k in range(width):
                t = m * width + k
                leaf, adds = None if leaves is None else leaves[t], float(now[0, k] - F[0, k])
                lines.append((m, t, leaf, *before[k], adds, float(now[0, k]), *ends[k]))
            F = now
        known = y is not None
        header = "round | tree | leaf" + (" | residual" if known else "") + " | adds | F"
        header += " | loss before | loss after" if known else ""
        self.add_prediction(sheet, X)
        sheet.facts["F"] = float(F[0, 0]) if width == 1 else F[0].tolist()
        sheet.facts |= self.truth(i)
        for k in range(width):
            name = "F" if width == 1 else f"F of class {rounds.output_name(k)}"
            begin, last = float(start[0, k]), float(F[0, k])
            numbers = f"{number(begin)} + {signed(last - begin)}"
            sheet.add_formula(name, "start + Σ of what trees add", numbers, last)
        sheet.add_table("Round by round", header, lines, optional=("round",))
        if rounds.has_trees:
            added = sheet.table("Round by round").column("adds")
            self.add_way(sheet, matrix, int(np.argmax(np.abs(added))), "which adds most")
        return sheet

    # ------------------------------------------------------------------ out of bag
    def oob(self) -> Sheet:
        model, rounds, lines = self.model, self.rounds, []
        if "out-of-bag loss" not in self.anatomy.history.figures:
            raise self.refuse("oob")
        for m in range(model.n_estimators_):
            played, after = rounds.played(m), rounds.F(m + 1)
            out = ~played.drawn
            w, score = None if rounds.w is None else rounds.w[out], None
            if out.any() and (w is None or w.any()):
                score = float(played.loss.score(rounds.y[out], rounds.shaped(after[out]), w))
            lines.append((m, int(out.sum()), score, float(model.oob_improvement_[m])))
        facts = {"rounds": model.n_estimators_, "subsample": float(model.subsample)}
        sheet = Sheet(f"rows out of the rounds of {self.name}", facts)
        header = "round | rows out of bag | score | improvement"
        sheet.add_table("After every round", header, lines, shown=60)
        sheet.notes.append("A round is judged by the rows that it did not draw.")
        return sheet

    def overview(self) -> Sheet:
        if self.trees:
            return super().overview()
        learner = type(self.model.estimator).__name__
        facts = {"rows": self.n_rows, "rounds": self.model.n_estimators_, "learner": learner}
        return Sheet(f"worksheet of {self.name}", facts, notes=["It has .row(i), .round(m)."])

    def more_facts(self) -> dict[str, Any]:
        model = self.model
        return {"loss": self._loss_name(), "rounds": model.n_estimators_, "step": model.step}
