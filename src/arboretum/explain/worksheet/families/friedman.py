"""Worksheets of Friedman's gradient boosting: residuals, trees, the step of every leaf, all losses.

The textbook's losses (`gbm_losses`) give the step of a leaf. A replay has what a round started from: F of the
rounds before it, the residuals there, the rows it drew. Its trees are CART's, grown on residuals (grown.py).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.sampling import draw_in_turn
from arboretum.boosting.friedman.fitting import BoostingTask
from arboretum.boosting.loss.leaves import Leaves
from arboretum.explain.worksheet.families.cart import draw_of, textbook_rules
from arboretum.explain.worksheet.family import (
    Family,
    check_rows_of,
    class_names,
    index_of,
    truth_of,
)
from arboretum.explain.worksheet.grown import Names, ShownTree
from arboretum.explain.worksheet.rendering import number, signed
from arboretum.explain.worksheet.sheet import Formula, Sheet, add_rounds_trees, spread_of
from arboretum.grow import settings
from arboretum.lazy import cached_property
from arboretum.textbook import gbm_losses

if TYPE_CHECKING:
    from arboretum.explain.worksheet.family import Family

__all__ = ["FriedmanFamily", "FriedmanReplay", "Played", "step_formulas"]


# ---------------------------------------------------------------------- a round played again
_BAG, _TREE = 0, 1  # what random numbers of a round are for


@dataclass(frozen=True, eq=False)
class Played:
    """A round up to its trees, on the rows that it may draw from."""

    loss: Any
    F: np.ndarray  # (rows, scores) before the round
    residuals: np.ndarray  # (rows, scores)
    weight: np.ndarray  # of every row in the round's trees; 0: not drawn
    drawn: np.ndarray  # bool


class FriedmanReplay:
    """The rounds of a booster, played again.

    Parameters
    ----------
    family : Family
        The model with its table.
    """

    def __init__(self, family: Family) -> None:
        self.family, self.model, self.given, self.trees = (
            family,
            family.model,
            family.given,
            family.trees,
        )
        self.steps, self.recipe = family.anatomy.recipe.steps, family.anatomy.recipe
        self.width = int(self.model.n_trees_per_iteration_)
        self.has_trees = self.model.estimator is None
        self.played = lru_cache(maxsize=3)(self._played)
        self.tree_of = lru_cache(maxsize=4)(self._tree_of)

    # ------------------------------------------------------------------ the fit once more
    @cached_property
    def learned(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Labels and weights of all rows, as the loss takes them."""
        family = self.family
        check_rows_of(family.n_rows, family.anatomy.history.n_rows, family.name)
        return family.learned.target, family.learned.weight

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows that are learned from: all, but for those held out for early stopping."""
        if self.recipe.held_out is None:
            return np.arange(self.family.n_rows)
        return self.recipe.held_out(*self.learned)[0]

    @cached_property
    def y(self) -> np.ndarray:
        return self.learned[0][self.rows]

    @cached_property
    def w(self) -> np.ndarray | None:
        w = self.learned[1]
        return None if w is None else w[self.rows]

    @cached_property
    def table(self) -> Any:
        return (
            self.family.matrix
            if len(self.rows) == self.family.n_rows
            else self.family.matrix.take(self.rows)
        )

    def _key(self, *purpose: int) -> int:
        return BoostingTask.key(SimpleNamespace(seed=self.model.seed_), *purpose)  # type: ignore[arg-type]

    @property
    def _rows_of_table(self) -> Any:
        """The rows that are learned from, as estimators take them."""
        X = self.given.X
        return X if len(self.rows) == self.family.n_rows else self.steps["rows"](X, self.rows)

    @cached_property
    def start(self) -> np.ndarray:
        """F before the first round, (rows, scores)."""
        return np.ascontiguousarray(self.steps["start"](self._rows_of_table, len(self.rows)))

    def F(self, m: int) -> np.ndarray:
        """Return F after m rounds, (rows, scores)."""
        if m == 0:
            return self.start
        if self.has_trees:
            first = self.model.ensemble_.rounds(0, m)
            return first.answers(self.table, self.family.threads, self.start)
        sums = self.steps["sums"](self._rows_of_table, self.start)
        return next(itertools.islice(sums, m - 1, None))

    def shaped(self, F: np.ndarray) -> np.ndarray:
        """Return F as losses take it: one column is a plain array."""
        return F[:, 0] if self.width == 1 else F

    def losses(self, loss: Any, y: np.ndarray, F: np.ndarray) -> np.ndarray | None:
        """Return the loss of every row; None for one of the user's own without a value."""
        return loss.value(y, self.shaped(F)) if getattr(loss, "has_value", True) else None

    def bag_notes(self, m: int) -> list[str]:
        """Return which rows a round drew, and which were held out."""
        drawn, notes = self.played(m).drawn, []
        if not drawn.all():
            count = int(drawn.sum())
            notes.append(
                f"The round drew {count} of {len(drawn)} rows; its steps move the others, too."
            )
        held_out = self.family.n_rows - len(self.rows)
        if held_out:
            notes.append(f"{held_out} rows were held out for early stopping.")
        return notes

    def _played(self, m: int) -> Played:
        model, n = self.model, len(self.rows)
        F = self.F(m)
        shaped = self.shaped(F)
        loss = model.loss_.for_round(self.y, shaped, self.w)
        residuals = loss.residuals(self.y, shaped).reshape(n, -1)
        drawn = np.ones(n, bool)
        if model.subsample < 1:
            inside = max(1, int(model.subsample * n))
            drawn = draw_in_turn(self._key(_BAG, m), n, inside, self.w).astype(bool)
        weight = drawn * (1.0 if self.w is None else self.w)
        return Played(loss, F, residuals, weight, drawn)

    def _tree_of(self, t: int) -> ShownTree:
        model, (m, k) = self.model, divmod(t, self.width)
        played = self.played(m)
        target = _target_of(self.y, self.w)
        how = settings.growth(model, model.schema_, target, len(self.rows))
        how = replace(how, min_weight_leaf=0.0)
        share = float(model.min_weight_fraction_leaf)
        if share > 0 and self.w is not None:
            how = replace(how, min_weight_leaf=share * float(played.weight.sum()))
        elif share > 0:
            how = replace(
                how, min_samples_leaf=max(how.min_samples_leaf, ceil(share * played.drawn.sum()))
            )
        rules = textbook_rules(how, model.criterion, self.family.schema, target)
        labels = self.family.anatomy.labels
        rules = replace(rules, two_classes=labels is not None and len(labels) == 2)
        alpha = float(model.ccp_alpha)
        return ShownTree(
            self.trees[t],
            self.table,
            played.residuals[:, [k]],
            played.weight,
            rules,
            Names(self.title(t), "the residuals"),
            draw_of(how, model.n_features_in_, self._key(_TREE, m, k)),
            pruned=f"what was below it was pruned (α = {number(alpha)})" if alpha else "",
            n_jobs=self.family.threads,
        )

    def title(self, t: int) -> str:
        m, k = divmod(t, self.width)
        text = f"tree {t}" if self.width == 1 else f"tree {t}, round {m}"
        return text + (f", class {self.output_name(k)}" if self.width > 1 else "")

    def output_name(self, k: int) -> str:
        """Return the class that a score is for."""
        classes = class_names(self.model)
        return "residual" if self.width == 1 or classes is None else str(classes[k])


def _target_of(y: np.ndarray, w: np.ndarray | None) -> Any:
    from arboretum.grow.grower import make_target

    return make_target(y[:, None].astype(np.float64), None, w)


# ---------------------------------------------------------------------- steps of leaves
def step_formulas(replay: FriedmanReplay, t: int, leaf: int) -> list[Formula]:
    """Return how far a leaf goes, and by how much F moves."""
    model, (m, k) = replay.model, divmod(t, replay.width)
    played, rows = replay.played(m), replay.tree_of(t).rows_of(leaf)
    kept, rate = (
        float(replay.trees[t].value[leaf, 0, 0]),
        float(replay.family.anatomy.history.figures["rate"][m]),
    )
    last = Formula("step the model keeps", "", "", kept)
    if not len(rows):
        return [last]
    mean = float(np.average(played.residuals[rows, k], weights=played.weight[rows]))
    if model.step == "line_search":
        eta = float(model.step_lengths_[m])
        rule, numbers = "η · mean residual, one η for the round", f"{number(eta)} · {signed(mean)}"
        found = [Formula("step", rule, numbers, eta * mean)]
    elif model.step == "gradient":
        found = [Formula("step", "mean residual", "", mean)]
    else:
        found = [_best_step(replay, m, rows, k)]
    found.append(last)
    if model.monotonic_cst is not None and abs(found[0].value - kept) > 1e-12 * (1 + abs(kept)):
        rule = "steps of leaves that a monotone constraint orders"
        found.append(Formula("kept in order", rule, "", kept))
    numbers = f"{number(rate)} · {signed(kept)}"
    return [*found, Formula("F moves by", "learning rate · step", numbers, rate * kept)]


def _textbook_loss(replay: FriedmanReplay) -> Any:
    """Return the loss as the textbook has it; None for one of the user's own."""
    model, classes = replay.model, class_names(replay.model)
    if not isinstance(model.loss, str):
        return None
    n = 2 if classes is None else len(classes)
    return gbm_losses.make_loss(model.loss, n, float(model.alpha), float(model.power))


def _best_step(replay: FriedmanReplay, m: int, rows: np.ndarray, k: int) -> Formula:
    """Return the best step of a leaf by the loss, with its numbers."""
    played, loss = replay.played(m), _textbook_loss(replay)
    y, w, F, r = (
        replay.y[rows],
        played.weight[rows],
        replay.shaped(played.F[rows]),
        played.residuals[rows, k],
    )
    if loss is None:
        one = Leaves(np.zeros(len(rows), np.int64), 1, w)
        step = float(played.loss.steps(y, F, r, one, k)[0])
        return Formula("step", "the step of your own loss", f"{len(rows)} rows", step)
    weights = np.ones(len(replay.y)) if replay.w is None else replay.w
    loss = loss.for_round(replay.y, replay.shaped(played.F), weights)
    step = float(np.atleast_1d(loss.step(y, F, w))[k])
    match loss:
        case gbm_losses.NewtonLoss():
            h = np.asarray(loss.hessian(y, F)).reshape(len(rows), -1)[:, k]
            rule, numbers = "Σ w r / Σ w h", f"{number(float(w @ r))} / {number(float(w @ h))}"
            if replay.width > 1:
                K = replay.width
                rule, numbers = f"(K-1)/K · {rule}", f"{K - 1}/{K} · {numbers}"
        case gbm_losses.PowerLoss():
            a = 1 - loss.power
            up, down = float(w @ (y * np.exp(a * F))), float(w @ np.exp((a + 1) * F))
            rule = "ln(Σ w y e^(aF) / Σ w e^((a+1)F))"
            numbers = f"ln({number(up)} / {number(down)})"
        case gbm_losses.Huber():
            middle, delta = gbm_losses.weighted_quantile(y - F, w, 0.5), number(float(loss.delta))
            rule = f"median of y - F + mean of the rest cut at ±δ, δ = {delta}"
            numbers = f"{number(middle)} + {signed(step - middle)}"
        case gbm_losses.SquaredError():
            rule = "Σ w (y - F) / Σ w"
            numbers = f"{number(float(w @ (y - F)))} / {number(float(w.sum()))}"
        case _:
            share = loss.alpha if isinstance(loss, gbm_losses.Quantile) else 0.5
            rule = f"weighted {number(float(share))}-quantile of y - F"
            numbers = f"of {len(rows)} rows"
    return Formula("step", rule, numbers, step)


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
