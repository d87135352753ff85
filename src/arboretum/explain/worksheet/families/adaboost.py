"""Worksheets of AdaBoost (discrete, SAMME, SAMME.R, R2).

The weights that a round began with follow from the learners before it; they are worked out again (`_weigh`
of the model), or taken from `sample_weights_` where the model kept them. Trees are CART's on these weights
(grown.py).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

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
    same_classes,
    table_of_row,
    truth_of,
)
from arboretum.explain.worksheet.grown import Names, ShownTree
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.grow import settings
from arboretum.lazy import cached_property
from arboretum.textbook.adaboost import amount_of_say

__all__ = ["AdaBoostFamily", "spread_table"]

_ATTEMPTS = 10  # to draw rows that a learner learns something from


class AdaBoostFamily(Family):
    """AdaBoost, of classes and of numbers."""

    answers: ClassVar = ("node", "leaf", "row", "round")
    without: ClassVar = {
        "pruning": "its trees are weak by design, nothing is pruned",
        "oob": "every round weighs all rows: none is out of bag",
        "node": (
            "the learners are not CART trees over the columns of the table; ask "
            "model.estimators_ one by one"
        ),
        "leaf": (
            "the learners are not CART trees over the columns of the table; ask "
            "model.estimators_ one by one"
        ),
    }

    def __init__(self, model: Any, given: Any) -> None:
        super().__init__(model, given)
        self.tree_of = lru_cache(maxsize=4)(self._tree_of)

    # ------------------------------------------------------------------ the fit once more
    @cached_property
    def learned(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Codes or numbers, labels as learners take them, and the weights of the first round."""
        model, twin, n = self.model, self.twin, self.n_rows
        check_rows_of(n, model._n_rows, self.name)
        codes, labels = twin._learn_labels(self.given.y, n)
        if hasattr(model, "classes_"):
            same_classes(twin.classes_, model.classes_, self.name)
        w = twin._learn_weights(self.given.sample_weight, n)
        w = np.ones(n) if w is None else w
        if model.n_iter_no_change is not None:
            from arboretum.base.holdout import set_aside

            classes = codes if model._classifies else None
            held = set_aside(n, float(model.validation_fraction), model.seed_, classes, w)[1]
            w = w.copy()
            w[held] = 0.0
        return codes, labels, w

    @cached_property
    def answered(self) -> list[np.ndarray]:
        """What every learner answers to the training rows."""
        return list(self.model._answers(self.given.X))

    @cached_property
    def weights(self) -> list[np.ndarray]:
        """What rows weigh at the start of every round, and after the last."""
        codes, _, w = self.learned
        w = w / w.sum()
        found = [w]
        for answers in self.answered:
            verdict = self.model._weigh(w, answers, codes)
            if verdict is not None and not verdict.overflown:
                w = verdict.weights
            found.append(w)
        return found

    @property
    def has_trees(self) -> bool:
        return self.model._has_trees

    @property
    def trees(self) -> list:
        return self.model.trees_ if self.has_trees else []

    def _tree_of(self, t: int) -> ShownTree:
        model = self.model
        member, base = model.estimators_[t], model.estimator_
        codes, labels, given = self.learned
        target, factor = _fresh(member, model.schema_)._learn_target(labels, None, self.n_rows)
        how = settings.growth(member, model.schema_, target, self.n_rows)
        rules = textbook_rules(how, member.criterion, self.schema, target)
        tree, resample = self.trees[t], model.sampling == "resample"
        weight = self._seen_weights(t, given, base, factor)
        if how.min_weight_leaf == 0 and member.min_weight_fraction_leaf > 0:
            rules = replace(
                rules, min_weight_leaf=member.min_weight_fraction_leaf * float(weight.sum())
            )
        elif member.min_weight_fraction_leaf > 0:
            rules = replace(
                rules,
                min_weight_leaf=member.min_weight_fraction_leaf * float(weight.sum()),
                min_samples_leaf=max(1, int(member.min_samples_leaf)),
            )
        del resample, codes
        return ShownTree(
            tree,
            self.matrix,
            target.y,
            weight,
            rules,
            Names(f"tree {t} (round {t})", classes=class_names(model)),
            draw_of(how, model.n_features_in_, how.seed),
            n_jobs=self.threads,
        )

    def _seen_weights(
        self, t: int, given: np.ndarray, base: Any, factor: np.ndarray | None = None
    ) -> np.ndarray:
        """Return what rows weighed to the learner of a round; ``factor``: what their class is worth."""
        w, n = self.weights[t], self.n_rows
        resample = self.model.sampling == "resample"
        if not resample:
            w = w if factor is None else w * factor
            if not learners.is_shared_tree(base, resample):
                return w * n
            same = np.all(given == given[0])
            scaled = None if same else np.ldexp(given, -int(np.frexp(given.max())[1]))
            return learners.round_weights(w, scaled)
        root = int(self.trees[t].count[0])
        counts = np.zeros(n)
        for attempt in range(_ATTEMPTS):
            rows = draw_by_weight(w, learners.draws_of(self.model.seed_, t, n, attempt))
            counts = np.bincount(rows, minlength=n).astype(np.float64)
            if np.count_nonzero(counts) == root or counts.sum() == root:
                break
        return counts

    # ------------------------------------------------------------------ nodes and leaves
    def number_of_tree(self, tree: Any) -> int:
        if not self.has_trees:
            raise self.refuse("node")
        return super().number_of_tree(tree)

    def node(self, tree: Any, node: Any) -> Sheet:
        t = self.number_of_tree(tree)
        return self._with_note(self.tree_of(t).node(self.number_of_node(self.trees[t], node)))

    def _with_note(self, sheet: Sheet) -> Sheet:
        how = (
            "was fitted on rows drawn by their weights"
            if self.model.sampling == "resample"
            else "was fitted with the weights of the rows"
        )
        return replace(
            sheet,
            notes=[*sheet.notes, f"The learner {how}; the worksheet of the round lists them."],
        )

    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        t = self.number_of_tree(tree)
        k = self.number_of_node(self.trees[t], leaf, what="leaf")
        sheet = self.tree_of(t).leaf(k)
        return self._with_note(
            replace(sheet, formulas=[*sheet.formulas, *self._say_formulas(t), *self._vote(t, k)])
        )

    def _vote(self, t: int, leaf: int) -> list[Formula]:
        """Return what a leaf adds to the answer."""
        from arboretum.predict.leaf_values import read_leaves

        ensemble = self.model.ensemble_
        said = read_leaves(self.trees[t].value[[leaf]], ensemble.reading)[0]
        weight = float(self.model.estimator_weights_[t])
        if ensemble.rule == "median":
            return [
                Formula(
                    "says, with its weight",
                    "the weighted median takes it",
                    number(weight),
                    float(said[0]),
                )
            ]
        value = (weight * said).tolist() if len(said) > 1 else float(weight * said[0])
        return [
            Formula(
                "adds to the vote",
                "α · what the leaf says",
                f"{number(weight)} · ({number(said.tolist())})",
                value,
            )
        ]

    # ------------------------------------------------------------------ a round
    def _say_formulas(self, t: int) -> list[Formula]:
        """Return ε and α of a round with their numbers."""
        model, codes = self.model, self.learned[0]
        w, answers = self.weights[t], self.answered[t]
        rate, kept = float(model.learning_rate), float(model.estimator_weights_[t])
        if not model._classifies:
            losses = r2_losses(w, np.abs(answers - codes), model.loss)
            error = float((w * losses).sum())
            found = [
                Formula(
                    "ε",
                    f"Σ w L, L the {model.loss} loss of |y - answer| / largest",
                    f"{number(error)} / 1",
                    error,
                )
            ]
            if 0 < error < 0.5:
                beta = error / (1 - error)
                found.append(
                    Formula("β", "ε / (1 - ε)", f"{number(error)} / {number(1 - error)}", beta)
                )
                found.append(
                    Formula(
                        "α",
                        "learning rate · ln(1/β)",
                        f"{number(rate)} · ln({number(1 / beta)})",
                        rate * float(np.log(1 / beta)),
                    )
                )
        elif model.algorithm == "SAMME.R":
            error = float(w[answers.argmax(axis=1) != codes].sum())
            found = [
                Formula("ε", "Σ w over the rows whose largest share is wrong", "", error),
                Formula("α", "1: class shares vote", "", 1.0),
            ]
        else:
            wrong = answers != codes
            error = float((w * wrong).sum())
            found = [Formula("ε", f"Σ w over the {int(wrong.sum())} rows it gets wrong", "", error)]
            if 0 < error < 1:
                K = None if model.algorithm == "discrete" else model.n_classes_
                rule = "½ ln((1-ε)/ε)" if K is None else "ln((1-ε)/ε) + ln(K-1)"
                odds = f"{number(1 - error)} / {number(error)}"
                numbers = f"½ ln({odds})" if K is None else f"(ln({odds}) + ln({K - 1}))"
                value = rate * amount_of_say(error, K)
                found.append(
                    Formula("α", f"learning rate · ({rule})", f"{number(rate)} · {numbers}", value)
                )
        found.append(Formula("α the model keeps", "", "", kept))
        return found

    def round(self, m: Any) -> Sheet:
        model = self.model
        m = index_of(m, len(model.estimators_), ("round", "rounds"), self.name)
        codes = self.learned[0]
        w, after, answers = self.weights[m], self.weights[m + 1], self.answered[m]
        formulas = self._say_formulas(m)
        facts: dict[str, Any] = {
            "learner": type(model.estimators_[m]).__name__,
            "error the model keeps": float(model.estimator_errors_[m]),
            "rows with a weight": int(np.count_nonzero(w)),
        }
        factor = np.ones(len(w))
        kept = float(model.estimator_weights_[m])
        error = formulas[0].value
        if model._classifies and model.algorithm != "SAMME.R":
            wrong = answers != codes
            right = -kept if model.algorithm == "discrete" else 0.0
            factor = np.exp(np.where(wrong, kept, right))
            beta = kept if model.algorithm == "discrete" else kept / 2
            Z = (1 - error) * np.exp(-beta) + error * np.exp(beta)
            numbers = (
                f"{number(1 - error)} · e^-{number(beta)} + {number(error)} · e^{number(beta)}"
            )
            formulas.append(Formula("Z", "(1-ε) e^-β + ε e^β", numbers, float(Z)))
            formulas.append(Formula("edge γ", "½ - ε", f"½ - {number(error)}", 0.5 - error))
        elif not model._classifies and 0 < error < 0.5:
            losses = r2_losses(w, np.abs(answers - codes), model.loss)
            beta = error / (1 - error)
            factor = beta ** (float(model.learning_rate) * (1 - losses))
        elif model._classifies:
            factor = np.divide(after, w, out=np.ones_like(w), where=w > 0)
        if model._classifies and model.algorithm == "SAMME.R":
            formulas.append(
                Formula(
                    "new weight",
                    "w · e^(-(K-1)/K · rate · Σ c_k ln p_k) / sum",
                    "",
                    float(after.sum()),
                )
            )
        else:
            total = float((w * factor).sum())
            formulas.append(Formula("sum before dividing", "Σ w · factor", "", total))
        tables = [
            self._weights_table(m, w, factor, after, answers),
            spread_table("Weights of the rows", w, after),
        ]
        stop = f"Boosting ended here: {model.stop_}." if m == len(model.estimators_) - 1 else ""
        return Sheet(f"round {m} of {self.name}", facts, formulas, tables, [stop] if stop else [])

    def _weights_table(
        self, m: int, w: Any, factor: Any, after: Any, answers: np.ndarray
    ) -> SheetTable:
        order = np.argsort(-after, kind="stable")[:10]
        lines = []
        classes = class_names(self.model)
        for i in order.tolist():
            said: Any
            if not self.model._classifies:
                said = float(answers[i])
            else:
                code = int(answers[i].argmax()) if answers.ndim > 1 else int(answers[i])
                said = str(classes[code])
            lines.append(
                (i, truth_of(self.given.y, i), said, float(w[i]), float(factor[i]), float(after[i]))
            )
        return SheetTable(
            "Heaviest rows afterwards",
            ("row", "y", "answer", "weight before", "factor", "weight after"),
            lines,
        )

    # ------------------------------------------------------------------ a row
    def row(self, row: Any) -> Sheet:
        table, title, i = self.row_of(row)
        model = self.model
        X = table if i is None else table_of_row(self.given.X, i)
        matrix = self.matrix.take(np.array([i])) if i is not None else self.encode(table)
        answers = list(model._answers(X))
        classes, lines = class_names(model), []
        staged = model.staged_decision_function(X) if model._classifies else model.staged_predict(X)
        leaves = model.ensemble_.leaves(matrix, 1)[0] if self.has_trees else None
        for t, (said, now) in enumerate(zip(answers, staged, strict=True)):
            shown: Any = float(said[0]) if not model._classifies else None
            if model._classifies:
                shown = str(classes[int(said[0].argmax()) if said.ndim > 1 else int(said[0])])
            decision = np.asarray(now)[0]
            line: list[Any] = [
                t,
                None if leaves is None else int(leaves[t]),
                shown,
                float(model.estimator_weights_[t]),
            ]
            line.append(float(decision) if np.ndim(decision) == 0 else decision.tolist())
            if i is not None:
                line.append(float(self.weights[t][i]))
            lines.append(tuple(line))
        header = [
            "round",
            "leaf",
            "answer",
            "α",
            "together so far",
            *([] if i is None else ["its weight"]),
        ]
        answer = model.predict(X)[0]
        facts: dict[str, Any] = {"answer": answer.item() if hasattr(answer, "item") else answer}
        if model._classifies:
            facts["class shares"] = model.predict_proba(X)[0].tolist()
        facts |= self.truth(i)
        tables = [self.values_table(matrix), SheetTable("Round by round", header, lines, shown=40)]
        formulas = [self._together(answers)]
        if self.has_trees:
            heaviest = int(np.argmax(model.estimator_weights_))
            tables.append(
                self.journey(
                    self.trees[heaviest], matrix, f"The way down tree {heaviest}, the heaviest"
                )
            )
        return Sheet(f"{title} in {self.name}", facts, formulas, tables)

    def _together(self, answers: list[np.ndarray]) -> Formula:
        """Return how the answers become one."""
        model, alphas = self.model, self.model.estimator_weights_
        total = float(alphas.sum())
        if not model._classifies:
            said = np.array([float(a[0]) for a in answers])
            value = float(model._combine(said[None], alphas)[0])
            if model.combine == "median":
                return Formula(
                    "answer",
                    "weighted median of the learners",
                    f"half of Σ α = {number(total / 2)} is reached",
                    value,
                )
            numbers = f"{number(float(alphas @ said))}" + (
                f" / {number(total)}" if model.combine == "mean" else ""
            )
            return Formula("answer", f"weighted {model.combine}", numbers, value)
        if model.algorithm == "SAMME.R":
            return Formula(
                "votes",
                "(K-1)(ln p - mean ln p), the mean over the rounds",
                f"{len(answers)} rounds",
                None,
            )
        codes = np.array([int(a[0]) for a in answers])
        tally = np.bincount(codes, alphas, len(model.classes_))
        k = int(tally.argmax())
        return Formula(
            f"weight for {model.classes_[k]}",
            "Σ α of the learners that say so",
            f"of Σ α = {number(total)}",
            float(tally[k]),
        )

    def overview(self) -> Sheet:
        model = self.model
        facts = {
            "rows": self.n_rows,
            "rounds": len(model.estimators_),
            "learner": type(model.estimators_[0]).__name__,
            "ended": model.stop_,
        }
        lines = [
            (t, float(e), float(a))
            for t, (e, a) in enumerate(
                zip(model.estimator_errors_, model.estimator_weights_, strict=True)
            )
        ]
        return Sheet(
            f"worksheet of {self.name}",
            facts,
            tables=[SheetTable("Rounds", ("round", "ε", "α"), lines, shown=20)],
            notes=[self.menu()],
        )


def _fresh(member: Any, schema: Any) -> Any:
    """Return a copy of a learner that may learn a target again."""
    import copy

    twin = copy.copy(member)
    twin.schema_ = schema
    return twin


def spread_table(title: str, before: np.ndarray, after: np.ndarray) -> SheetTable:
    """Return how weights are spread before and after a round."""
    lines = []
    for name, w in (("before", before), ("after", after)):
        some = w[w > 0]
        quarters = [float(np.quantile(some, q)) for q in (0, 0.25, 0.5, 0.75, 1)]
        lines.append((name, float(some.sum()), *quarters))
    return SheetTable(title, ("", "sum", "least", "quarter", "median", "3 quarters", "most"), lines)
