"""Worksheets of C4.5's rules: what each covers, what dropping its conditions would cost."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from arboretum.explain.worksheet.families.cases.family import CaseFamily
from arboretum.explain.worksheet.rendering import number
from arboretum.explain.worksheet.sheet import Formula, Sheet, SheetTable
from arboretum.structure.condition import format_category
from arboretum.structure.tree import Tree
from arboretum.textbook.c45_pruning import (
    extra_errors,
)
from arboretum.textbook.c45_rule_list import RuleCondition, generalise, rule_bits

__all__ = ["RulesFamily"]


class RulesFamily(CaseFamily):
    """C4.5's rules: a list that is asked from the top."""

    answers: ClassVar = ("leaf", "row")
    without: ClassVar = {
        "node": "rules are a list, not a tree: ask .leaf(0, number of the rule)",
        "round": "rules are not made in rounds",
        "oob": "all rows make the rules, none is out of bag",
        "pruning": (
            "conditions of rules are dropped one by one: .leaf(0, number of the rule) shows "
            "what each would cost"
        ),
    }

    @property
    def columns(self) -> Any:
        return self.model.schema_.columns

    @property
    def trees(self) -> list[Tree]:
        return []

    def overview(self) -> Sheet:
        m = self.model
        lines = [
            (
                i,
                " and ".join(c.pretty(max_categories=4) for c in rule.conditions),
                format_category(rule.prediction),
                rule.weight,
                rule.errors,
                rule.accuracy,
            )
            for i, rule in enumerate(m.rules_)
        ]
        header = ("rule", "if", "then", "covers", "wrong", "accuracy")
        return Sheet(
            f"worksheet of {self.name}",
            {"rows": self.n_rows, "rules": len(m.rules_), "default": format_category(m.default_)},
            tables=[SheetTable("Rules, asked in this order", header, lines)],
            notes=[self.menu()],
        )

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
        from arboretum.explain.worksheet.family import index_of

        m = self.model
        k = index_of(leaf, len(m.rules_), ("rule", "rules"), self.name)
        rule, conditions = m.rules_[k], self._conditions(m.rules_[k])
        cf, limit = float(m.confidence), m.error_limit
        found, steps = generalise(conditions, rule.answer, self.whole, cf, limit)
        step = steps[0]
        n, e = step.cases, max(step.errors, 0.0)
        lines = [
            (said.pretty(max_categories=4), rate, "stays" if step.dropped != c else "could go")
            for said, c, rate in zip(rule.conditions, conditions, step.without, strict=True)
        ]
        counts = np.array(found.counts) if len(steps) == 1 else np.array(rule.counts)
        prior = m.class_prior_
        shares = (counts + prior) / (counts.sum() + 1)
        more = extra_errors(n, e, cf, limit)
        formulas = [
            Formula("errors", "N - n_class", f"{number(n)} - {number(n - e)}", e),
            Formula(
                "pessimistic rate",
                f"U_CF(e, N), CF = {number(cf)}, {limit}",
                f"({number(e)} + {number(more)}) / {number(n)}",
                step.rate,
            ),
            Formula("accuracy", "1 - pessimistic rate", f"1 - {number(step.rate)}", 1 - step.rate),
            Formula(
                "bits", "what naming its conditions costs", "", rule_bits(conditions, self.whole)
            ),
        ]
        classes = [
            (self.label(c), float(counts[c]), float(prior[c]), float(shares[c]))
            for c in range(len(counts))
        ]
        facts = {
            "if": " and ".join(c.pretty() for c in rule.conditions),
            "then": format_category(rule.prediction),
            "covers": rule.weight,
            "wrong": rule.errors,
            "accuracy": rule.accuracy,
        }
        tables = [
            SheetTable(
                "Conditions: the pessimistic rate without each",
                ("condition", "rate without it", "verdict"),
                lines,
            ),
            SheetTable(
                "Classes: (n_k + prior) / (N + 1)",
                ("class", "cases", "prior", "share"),
                classes,
                frozenset([int(shares.argmax())]),
            ),
        ]
        return Sheet(f"rule {k} of {self.name}", facts, formulas, tables)

    def row(self, row: Any) -> Sheet:
        matrix, title, i = self.encoded(row)
        m, x = self.model, matrix.rows(0, 1)
        lines, fired = [], -1
        for k, rule in enumerate(m.rules_):
            failed = next(
                (
                    said.pretty(max_categories=4)
                    for said, test in zip(rule.conditions, rule.tests, strict=True)
                    if not bool(test.holds(x[:, test.feature])[0])
                ),
                None,
            )
            lines.append(
                (
                    k,
                    format_category(rule.prediction),
                    "covers the row" if failed is None else f"not {failed}",
                )
            )
            if failed is None:
                fired = k
                break
        shares = m._shares()[fired]
        answer = m.classes_[m.rules_[fired].answer if fired >= 0 else m._default_answer]
        facts: dict[str, Any] = {
            "answer": format_category(answer),
            "rule": fired if fired >= 0 else "none: the default class",
        }
        facts |= self.truth(i)
        tables = [
            self.values_table(matrix),
            SheetTable(
                "Rules, from the top",
                ("rule", "class", "why"),
                lines,
                frozenset([fired] if fired >= 0 else []),
                shown=40,
            ),
            SheetTable(
                "Class shares",
                ("class", "share"),
                [(self.label(c), float(s)) for c, s in enumerate(shares)],
            ),
        ]
        parts = [self.leaf(0, fired)] if fired >= 0 else []
        return Sheet(f"{title} in {self.name}", facts, tables=tables, parts=parts)
