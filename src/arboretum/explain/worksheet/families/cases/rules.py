"""Worksheets of C4.5's rules: the cases each covers, and what dropping its conditions would cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.worksheet.families.cases.tree import CaseTree
from arboretum.explain.worksheet.family import Family, index_of
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.lazy import cached_property
from arboretum.structure.condition import format_category
from arboretum.structure.tree import Tree
from arboretum.textbook.c45_pruning import (
    extra_errors,
)
from arboretum.textbook.c45_rule_list import RuleCondition, generalise, rule_bits

__all__ = ["RulesFamily"]


class RulesFamily(Family):
    """C4.5's rules: a list, of which the first that covers a row answers."""

    kind = "rules"

    @cached_property
    def cases(self) -> CaseTree:
        return CaseTree(self)

    @property
    def trees(self) -> list[Tree]:
        return []

    def overview(self) -> Sheet:
        m, lines = self.model, []
        for i, rule in enumerate(m.rules_):
            conditions = " and ".join(c.pretty(max_categories=4) for c in rule.conditions)
            figures = rule.weight, rule.errors, rule.accuracy
            lines.append((i, conditions, format_category(rule.prediction), *figures))
        facts = {
            "rows": self.n_rows,
            "rules": len(m.rules_),
            "default": format_category(m.default_),
        }
        sheet = Sheet(f"worksheet of {self.name}", facts, notes=[self.menu()])
        header = "rule | if | then | covers | wrong | accuracy"
        sheet.add_table("Rules, tried in this order", header, lines)
        return sheet

    def _conditions(self, rule: Any) -> tuple[RuleCondition, ...]:
        found = []
        for test in rule.tests:
            value: Any = float(test.bound)
            if test.operator == "=":
                value = float(test.codes[0])
            elif test.operator == "in":
                value = frozenset(test.codes)
            found.append(RuleCondition(test.feature, test.operator, value))
        return tuple(found)

    def leaf(self, tree: Any, leaf: Any) -> Sheet:
        m = self.model
        k = index_of(leaf, len(m.rules_), ("rule", "rules"), self.name)
        rule, conditions = m.rules_[k], self._conditions(m.rules_[k])
        cf, limit, whole = float(m.confidence), m.error_limit, self.cases.whole
        found, steps = generalise(conditions, rule.answer, whole, cf, limit)
        step = steps[0]
        n, e, rate = step.cases, max(step.errors, 0.0), step.rate
        facts = {
            "if": " and ".join(c.pretty() for c in rule.conditions),
            "then": format_category(rule.prediction),
            "covers": rule.weight,
            "wrong": rule.errors,
            "accuracy": rule.accuracy,
        }
        sheet = Sheet(f"rule {k} of {self.name}", facts)
        sheet.add_formula("errors", "N - n_class", f"{number(n)} - {number(n - e)}", e)
        numbers = f"({number(e)} + {number(extra_errors(n, e, cf, limit))}) / {number(n)}"
        rule_text = f"U_CF(e, N), CF = {number(cf)}, {limit}"
        sheet.add_formula("pessimistic rate", rule_text, numbers, rate)
        sheet.add_formula("accuracy", "1 - pessimistic rate", f"1 - {number(rate)}", 1 - rate)
        bits = rule_bits(conditions, whole)
        sheet.add_formula("bits", "the cost of naming its conditions", "", bits)
        pairs = zip(rule.conditions, conditions, step.without, strict=True)
        lines = [
            (shown.pretty(max_categories=4), without, "stays" if step.dropped != c else "could go")
            for shown, c, without in pairs
        ]
        title = "Conditions: the pessimistic rate without each"
        sheet.add_table(title, "condition | rate without it | verdict", lines)
        counts = np.array(found.counts) if len(steps) == 1 else np.array(rule.counts)
        prior = m.class_prior_
        shares = (counts + prior) / (counts.sum() + 1)
        classes = [
            (self.cases.label(c), float(counts[c]), float(prior[c]), float(shares[c]))
            for c in range(len(counts))
        ]
        title, best = "Classes: (n_k + prior) / (N + 1)", int(shares.argmax())
        sheet.add_table(title, "class | cases | prior | probability", classes, [best])
        return sheet

    def row(self, row: Any) -> Sheet:
        sheet, matrix, i = self.row_sheet(row)
        m, x, lines, fired = self.model, matrix.rows(0, 1), [], -1
        for k, rule in enumerate(m.rules_):
            pairs = zip(rule.conditions, rule.tests, strict=True)
            failed = (c for c, test in pairs if not bool(test.holds(x[:, test.feature])[0]))
            first = next(failed, None)
            why = "covers the row" if first is None else f"not {first.pretty(max_categories=4)}"
            lines.append((k, format_category(rule.prediction), why))
            if first is None:
                fired = k
                break
        X = self.row_table(row)
        shares, answer = m.predict_proba(X)[0].tolist(), m.predict(X)[0]
        name = fired if fired >= 0 else "none: the default class"
        sheet.facts = {"answer": format_category(answer), "rule": name, **self.truth(i)}
        marked = [fired] if fired >= 0 else []
        sheet.add_table("Rules, from the top", "rule | class | why", lines, marked, shown=40)
        classes = [(self.cases.label(c), share) for c, share in enumerate(shares)]
        sheet.add_table("Class probabilities", "class | probability", classes)
        sheet.parts = [self.leaf(0, fired)] if fired >= 0 else []
        return sheet
