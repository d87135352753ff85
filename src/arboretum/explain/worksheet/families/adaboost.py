"""Worksheets of AdaBoost (discrete, SAMME, SAMME.R, R2).

The weights that a round began with follow from the learners before it; they are worked out again (`_weigh`
of the model), or taken from `sample_weights_` where the model kept them. Trees are CART's on these weights
(grown.py).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from arboretum.base.sampling import draw_by_weight
from arboretum.boosting.adaboost import learners
from arboretum.boosting.adaboost.formulas import r2_losses
from arboretum.explain.worksheet.families.cart import draw_of, textbook_rules
from arboretum.explain.worksheet.family import (
    Family,
    check_rows_of,
    class_names,
    index_of,
    truth_of,
)
from arboretum.explain.worksheet.grown import Names, ShownTree
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet, spread_of
from arboretum.grow import settings
from arboretum.lazy import cached_property
from arboretum.predict.leaf_values import read_leaves
from arboretum.structure.tree import Tree
from arboretum.textbook.adaboost import amount_of_say

__all__ = ["AdaBoostFamily"]

_ATTEMPTS = 10  # to draw rows that a learner learns something from


class AdaBoostFamily(Family):
    """AdaBoost, of classes and of numbers."""

    kind = "adaboost"

    def __init__(self, model: Any, given: Any) -> None:
        super().__init__(model, given)
        self.tree_of = lru_cache(maxsize=4)(self._tree_of)

    # ------------------------------------------------------------------ the fit once more
    @property
    def classifies(self) -> bool:
        return self.anatomy.classes is not None

    @cached_property
    def first_weights(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Codes or numbers, labels as learners take them, and the weights of the first round."""
        check_rows_of(self.n_rows, self.anatomy.history.n_rows, self.name)
        codes, labels, w, _ = self.learned
        w = np.ones(self.n_rows) if w is None else w
        hold_out = self.anatomy.recipe.held_out
        if hold_out is not None:
            w = w.copy()
            w[hold_out(codes, w)[1]] = 0.0
        return codes, labels, w

    @cached_property
    def answered(self) -> list[np.ndarray]:
        """The answers of every learner to the training rows."""
        return list(self.anatomy.recipe.steps["answers"](self.given.X))

    @cached_property
    def weights(self) -> list[np.ndarray]:
        """The weights of the rows at the start of every round, and after the last."""
        codes, _, w = self.first_weights
        w = w / w.sum()
        found = [w]
        for answers in self.answered:
            verdict = self.anatomy.recipe.steps["weigh"](w, answers, codes)
            if verdict is not None and not verdict.overflown:
                w = verdict.weights
            found.append(w)
        return found

    @property
    def has_trees(self) -> bool:
        return self.anatomy.ensemble is not None

    @property
    def trees(self) -> list[Tree]:
        return self.anatomy.trees if self.has_trees else []

    def _tree_of(self, t: int) -> ShownTree:
        model, member = self.model, self.model.estimators_[t]
        _, labels, given = self.first_weights
        target, _, factor, _ = member._anatomy().recipe.learn(labels, None, self.n_rows)
        how = settings.growth(member, model.schema_, target, self.n_rows)
        rules = textbook_rules(how, member.criterion, self.schema, target)
        weight = self._seen_weights(t, given, factor)
        least = member.min_weight_fraction_leaf
        if least > 0:
            rules = replace(rules, min_weight_leaf=least * float(weight.sum()))
        if least > 0 and how.min_weight_leaf != 0:
            rules = replace(rules, min_samples_leaf=max(1, int(member.min_samples_leaf)))
        return ShownTree(
            self.trees[t],
            self.matrix,
            target.y,
            weight,
            rules,
            Names(f"tree {t} (round {t})", classes=class_names(model)),
            draw_of(how, model.n_features_in_, how.seed),
            n_jobs=self.threads,
        )

    def _seen_weights(self, t: int, given: np.ndarray, factor: np.ndarray | None) -> np.ndarray:
        """Return the weights of rows for the learner of a round; ``factor`` holds those of their classes."""
        w, n, model = self.weights[t], self.n_rows, self.model
        if model.sampling != "resample":
            w = w if factor is None else w * factor
            if not learners.is_shared_tree(model.estimator_, False):
                return w * n
            same = np.all(given == given[0])
            scaled = None if same else np.ldexp(given, -int(np.frexp(given.max())[1]))
            return learners.round_weights(w, scaled)
        root, counts = int(self.trees[t].count[0]), np.zeros(n)
        for attempt in range(_ATTEMPTS):
            rows = draw_by_weight(w, learners.draws_of(model.seed_, t, n, attempt))
            counts = np.bincount(rows, minlength=n).astype(np.float64)
            if np.count_nonzero(counts) == root or counts.sum() == root:
                break
        return counts

    # ------------------------------------------------------------------ nodes and leaves
    def node_sheet(self, t: int, node: int) -> Sheet:
        sheet = self.tree_of(t).node(node)
        self._add_note(sheet)
        return sheet

    def leaf_sheet(self, t: int, leaf: int) -> Sheet:
        sheet = self.tree_of(t).leaf(leaf)
        self._add_alpha(sheet, t)
        self._add_vote(sheet, t, leaf)
        self._add_note(sheet)
        return sheet

    def _add_note(self, sheet: Sheet) -> None:
        resampled = self.model.sampling == "resample"
        how = "on rows drawn by their weights" if resampled else "with the weights of the rows"
        sheet.notes.append(f"The learner was fitted {how}; the worksheet of the round lists them.")

    def _add_vote(self, sheet: Sheet, t: int, leaf: int) -> None:
        """Write what a leaf adds to the answer."""
        ensemble = self.model.ensemble_
        values = read_leaves(self.trees[t].value[[leaf]], ensemble.reading)[0]
        weight = float(self.model.estimator_weights_[t])
        if ensemble.rule == "median":
            name, rule = "answers, with its weight", "the weighted median takes it"
            sheet.add_formula(name, rule, number(weight), float(values[0]))
            return
        adds = (weight * values).tolist() if len(values) > 1 else float(weight * values[0])
        numbers = f"{number(weight)} · ({number(values.tolist())})"
        sheet.add_formula("adds to the vote", "α · the answer of the leaf", numbers, adds)

    # ------------------------------------------------------------------ a round
    def _add_alpha(self, sheet: Sheet, t: int) -> float:
        """Write ε and α of a round with their numbers; return ε."""
        model, codes = self.model, self.first_weights[0]
        w, answers, rate = self.weights[t], self.answered[t], float(model.learning_rate)
        if not self.classifies:
            error = float((w * r2_losses(w, np.abs(answers - codes), model.loss)).sum())
            rule = f"Σ w L, L the {model.loss} loss of |y - answer| / largest"
            sheet.add_formula("ε", rule, f"{number(error)} / 1", error)
            if 0 < error < 0.5:
                beta = error / (1 - error)
                numbers = f"{number(error)} / {number(1 - error)}"
                sheet.add_formula("β", "ε / (1 - ε)", numbers, beta)
                numbers, alpha = f"{number(rate)} · ln({number(1 / beta)})", rate * np.log(1 / beta)
                sheet.add_formula("α", "learning rate · ln(1/β)", numbers, float(alpha))
        elif model.algorithm == "SAMME.R":
            error = float(w[answers.argmax(axis=1) != codes].sum())
            rule = "Σ w over the rows whose largest probability is that of a wrong class"
            sheet.add_formula("ε", rule, "", error)
            sheet.add_formula("α", "1: class probabilities vote", "", 1.0)
        else:
            wrong = answers != codes
            error = float((w * wrong).sum())
            sheet.add_formula("ε", f"Σ w over the {int(wrong.sum())} rows it gets wrong", "", error)
            if 0 < error < 1:
                K = None if model.algorithm == "discrete" else model.n_classes_
                rule = "½ ln((1-ε)/ε)" if K is None else "ln((1-ε)/ε) + ln(K-1)"
                odds = f"{number(1 - error)} / {number(error)}"
                shown = f"½ ln({odds})" if K is None else f"(ln({odds}) + ln({K - 1}))"
                value, numbers = rate * amount_of_say(error, K), f"{number(rate)} · {shown}"
                sheet.add_formula("α", f"learning rate · ({rule})", numbers, value)
        sheet.add_formula("α the model keeps", "", "", float(model.estimator_weights_[t]))
        return error

    def round(self, m: Any) -> Sheet:
        model = self.model
        m = index_of(m, len(model.estimators_), ("round", "rounds"), self.name)
        w, after, sheet = self.weights[m], self.weights[m + 1], Sheet(f"round {m} of {self.name}")
        sheet.facts = {
            "learner": type(model.estimators_[m]).__name__,
            "error the model keeps": float(model.estimator_errors_[m]),
            "rows with a weight": int(np.count_nonzero(w)),
        }
        factor = self._add_factors(sheet, m, self._add_alpha(sheet, m))
        self._add_weights(sheet, m, factor)
        header = " | sum | least | quarter | median | 3 quarters | most"
        parts = {"before": w[w > 0], "after": after[after > 0]}
        lines = [(name, float(some.sum()), *spread_of(some)) for name, some in parts.items()]
        sheet.add_table("Weights of the rows", header, lines)
        if m == len(model.estimators_) - 1:
            sheet.notes.append(f"Boosting ended here: {model.stop_}.")
        return sheet

    def _add_factors(self, sheet: Sheet, m: int, error: float) -> np.ndarray:
        """Write what the weights are multiplied by; return it row by row."""
        model, codes = self.model, self.first_weights[0]
        w, after, answers = self.weights[m], self.weights[m + 1], self.answered[m]
        alpha, factor = float(model.estimator_weights_[m]), np.ones(len(w))
        if self.classifies and model.algorithm == "SAMME.R":
            rule = "w · e^(-(K-1)/K · rate · Σ c_k ln p_k) / sum"
            sheet.add_formula("new weight", rule, "", float(after.sum()))
            return np.divide(after, w, out=factor, where=w > 0)
        if self.classifies:
            discrete = model.algorithm == "discrete"
            factor = np.exp(np.where(answers != codes, alpha, -alpha if discrete else 0.0))
            beta = alpha if discrete else alpha / 2
            Z, b = (1 - error) * np.exp(-beta) + error * np.exp(beta), number(beta)
            numbers = f"{number(1 - error)} · e^-{b} + {number(error)} · e^{b}"
            sheet.add_formula("Z", "(1-ε) e^-β + ε e^β", numbers, float(Z))
            sheet.add_formula("edge γ", "½ - ε", f"½ - {number(error)}", 0.5 - error)
        elif 0 < error < 0.5:
            losses = r2_losses(w, np.abs(answers - codes), model.loss)
            factor = (error / (1 - error)) ** (float(model.learning_rate) * (1 - losses))
        sheet.add_formula("sum before dividing", "Σ w · factor", "", float((w * factor).sum()))
        return factor

    def _add_weights(self, sheet: Sheet, m: int, factor: np.ndarray) -> None:
        """Write the rows that weigh most after a round."""
        w, after, answers, lines = self.weights[m], self.weights[m + 1], self.answered[m], []
        for i in np.argsort(-after, kind="stable")[:10].tolist():
            weights = float(w[i]), float(factor[i]), float(after[i])
            lines.append((i, truth_of(self.given.y, i), self._label(answers[i]), *weights))
        header = "row | y | answer | weight before | factor | weight after"
        sheet.add_table("Heaviest rows afterwards", header, lines)

    def _label(self, answer: Any) -> Any:
        """Return the answer of a learner to a row: a number, or the label of a class."""
        if not self.classifies:
            return float(answer)
        return str(class_names(self.model)[int(np.argmax(answer) if np.ndim(answer) else answer)])

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        sheet, matrix, i = self.row_sheet(row)
        model, X = self.model, self.row_table(row)
        answers, alphas = list(self.anatomy.recipe.steps["answers"](X)), model.estimator_weights_
        staged = model.staged_decision_function(X) if self.classifies else model.staged_predict(X)
        leaves = model.ensemble_.leaves(matrix, 1)[0].tolist() if self.has_trees else None
        lines = []
        for t, (answer, now) in enumerate(zip(answers, staged, strict=True)):
            leaf = None if leaves is None else leaves[t]
            cells = (t, leaf, self._label(answer[0]), float(alphas[t]), np.asarray(now)[0].tolist())
            lines.append(cells if i is None else (*cells, float(self.weights[t][i])))
        self.add_prediction(sheet, X)
        sheet.facts |= self.truth(i)
        header = "round | leaf | answer | α | together so far" + (
            "" if i is None else " | its weight"
        )
        sheet.add_table("Round by round", header, lines, shown=40)
        self._add_together(sheet, answers)
        if self.has_trees:
            self.add_way(sheet, matrix, int(np.argmax(alphas)), "the heaviest")
        return sheet

    def _add_together(self, sheet: Sheet, answers: list[np.ndarray]) -> None:
        """Write how the answers become one."""
        model, alphas = self.model, self.model.estimator_weights_
        total = float(alphas.sum())
        if not self.classifies:
            values = np.array([float(a[0]) for a in answers])
            value = float(self.anatomy.recipe.steps["combine"](values[None], alphas)[0])
            numbers = f"half of Σ α = {number(total / 2)} is reached"
            if model.combine != "median":
                numbers = number(float(alphas @ values))
                numbers += f" / {number(total)}" if model.combine == "mean" else ""
            sheet.add_formula("answer", f"weighted {model.combine} of the learners", numbers, value)
        elif model.algorithm == "SAMME.R":
            rule = "(K-1)(ln p - mean ln p), the mean over the rounds"
            sheet.add_formula("votes", rule, f"{len(answers)} rounds", None)
        else:
            codes = np.array([int(a[0]) for a in answers])
            tally = np.bincount(codes, alphas, len(model.classes_))
            k, rule = int(tally.argmax()), "Σ α of the learners that predict it"
            name = f"weight for {model.classes_[k]}"
            sheet.add_formula(name, rule, f"of Σ α = {number(total)}", float(tally[k]))

    def overview(self) -> Sheet:
        model = self.model
        facts = {
            "rows": self.n_rows,
            "rounds": len(model.estimators_),
            "learner": type(model.estimators_[0]).__name__,
            "ended": model.stop_,
        }
        sheet = Sheet(f"worksheet of {self.name}", facts, notes=[self.menu()])
        figures = zip(model.estimator_errors_, model.estimator_weights_, strict=True)
        lines = [(t, float(e), float(a)) for t, (e, a) in enumerate(figures)]
        sheet.add_table("Rounds", "round | ε | α", lines, shown=20)
        return sheet
