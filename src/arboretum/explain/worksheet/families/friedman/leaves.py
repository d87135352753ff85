"""Nodes and leaves of Friedman's boosting: the step of a leaf is the textbook's (`gbm_losses`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from arboretum.explain.worksheet.families.friedman.replay import GradientReplay, Played
from arboretum.explain.worksheet.family import (
    class_names,
)
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet
from arboretum.lazy import cached_property
from arboretum.textbook import gbm_losses

__all__ = ["LeafSteps"]


class LeafSteps(GradientReplay):
    """A booster that tells of its nodes and leaves."""

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
        loss = loss.for_round(
            self.y,
            played.F[:, 0] if self.width == 1 else played.F,
            np.ones(len(self.y)) if self.w is None else self.w,
        )
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
            return Formula(
                "step",
                f"median of y - F + mean of the rest cut at ±δ, δ = {number(float(loss.delta))}",
                f"{number(middle)} + {signed(rest)}",
                step,
            )
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
