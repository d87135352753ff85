"""Leaves of second-order trees: -soft(G, α)/(H + λ), what bends it, and what is added to the margin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from arboretum.explain.worksheet.families.second_order.nodes import NodeSheets
from arboretum.explain.worksheet.families.second_order.refusals import Looked
from arboretum.explain.worksheet.families.second_order.replay import AtNode
from arboretum.explain.worksheet.family import truth_of
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.textbook.gradient_scan import (
    gradient_answer,
)

__all__ = ["LeafSheets"]


class LeafSheets(NodeSheets):
    """A booster that tells of its leaves."""

    # ------------------------------------------------------------------ a leaf
    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        t = self.number_of_tree(tree)
        grown = self.trees[t]
        k = self.number_of_node(grown, leaf, what="leaf")
        at = self.at(t, k)
        formulas, notes = self._leaf_formulas(t, k, at), []
        if len(grown) > 1 or self.plan.unsplit_answers:
            full = at.depth >= self.plan.rules.max_depth
            looked = Looked({}, {}) if full else self.look(t, k, at)
            notes.append(f"It is a leaf: {self.why_leaf(t, k, at, looked)}.")
        else:
            notes.append("The tree found no split, and LightGBM lets such a tree answer 0.")
        return Sheet(
            f"leaf {k} of {self.title(t)}",
            self._facts(t, k, at),
            formulas,
            [self._leaf_rows(t, at)],
            [*notes, *self._row_notes(t)],
        )

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
            raw = float(
                gradient_answer(
                    node.G,
                    node.H,
                    node.n,
                    rules=replace(r, path_smooth=0.0, max_delta_step=0.0),
                    extra_l2=at.extra_l2,
                )
            )
            pull = (
                f"soft({number(node.G)}, {number(r.reg_alpha)})" if r.reg_alpha else signed(node.G)
            )
            below = f"{number(node.H)} + {number(r.reg_lambda + at.extra_l2)}"
            rule = "-soft(G, α) / (H + λ)" if r.reg_alpha else "-G / (H + λ)"
            formulas.append(Formula("b", rule, f"-{pull} / ({below})", raw))
            step = float(
                gradient_answer(node.G, node.H, node.n, at.lean, node.bounds, r, at.extra_l2)
            )
            if self.is_light(t, at):
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
            formulas.append(
                Formula(
                    "added to the margin",
                    "weight of the tree · value",
                    f"{number(weight)} · {signed(value)}",
                    weight * value,
                )
            )
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

    def _leaf_rows(self, t: int, at: AtNode) -> SheetTable:
        """Return some rows of a leaf with their derivatives."""
        m, output, _ = self.place_of(t)
        g, h = self.gradients(t)
        state, rows = self.state(m), np.sort(at.rows)
        lines = [
            (
                int(self.kept[i]),
                truth_of(self.given.y, int(self.kept[i])),
                float(state.margin[i, output]),
                float(g[i]),
                float(h[i]),
            )
            for i in rows[:200].tolist()
        ]
        title = (
            f"Its rows ({len(rows)})"
            if len(rows) <= 200
            else f"The first 200 of its {len(rows)} rows"
        )
        return SheetTable(title, ("row", "y", "margin before", "g", "h"), lines, shown=10)
