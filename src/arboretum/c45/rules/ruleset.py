"""All steps of C4.5rules after the tree, in order: generalise, choose, order, look at the whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arboretum.c45.pruning import Pessimism
from arboretum.c45.rules.choosing import choose, rule_bits
from arboretum.c45.rules.generalising import Candidate, useful_rules
from arboretum.c45.rules.ordering import drop_harmful, order_classes
from arboretum.c45.rules.rule import Coverage, RuleTest
from arboretum.c45.table import CaseTable
from arboretum.structure.tree import Tree

__all__ = ["RuleList", "rules_of"]


@dataclass(frozen=True, eq=False)
class RuleList:
    """The rules that are left, in their order.

    Attributes
    ----------
    rules : list of Candidate
    uncovered : float array
        Weight of every class among the training rows that no rule covers.
    prior : float array
        Share of every class.
    lengths : dict of int to float
        For each class that had rules, the bits of the message with those chosen.
    """

    rules: list[Candidate]
    uncovered: np.ndarray
    prior: np.ndarray
    lengths: dict[int, float]


def rules_of(
    tree: Tree, table: CaseTable, pessimism: Pessimism, *, theory_weight: float, n_jobs: int = 1
) -> RuleList:
    """Turn a tree into an ordered list of rules.

    Parameters
    ----------
    tree : Tree
        Unpruned.
    table : CaseTable
        The rows it was grown on.
    pessimism : Pessimism
    theory_weight : float
        What a bit of the rules counts beside a bit of their exceptions.
    n_jobs : int
    """
    counts = np.bincount(table.label, weights=table.weight, minlength=table.n_classes)
    prior = counts / counts.sum()
    useful = useful_rules(tree, table, pessimism, counts, n_jobs)
    bits = rule_bits([rule.tests for rule in useful], table)
    chosen: dict[int, list[Candidate]] = {}
    covers: dict[int, np.ndarray] = {}
    lengths: dict[int, float] = {}
    for c in sorted({rule.answer for rule in useful}):
        own = [i for i, rule in enumerate(useful) if rule.answer == c]
        rules = [useful[i] for i in own]
        cover = _coverage(rules, table)
        kept, lengths[c] = choose(cover, table.label == c, table.weight, bits[own], theory_weight)
        if len(kept):
            chosen[c] = sorted((rules[i] for i in kept), key=lambda rule: round(rule.rate, 9))
            covers[c] = np.logical_or.reduce([cover.rule(i) for i in kept])
    order = order_classes(covers, table.label, table.weight)
    ordered = [rule for c in order for rule in chosen[c]]
    answers = np.array([rule.answer for rule in ordered], np.int64)
    alive, uncovered = drop_harmful(
        _coverage(ordered, table), answers, table.label, table.weight, prior
    )
    return RuleList([ordered[i] for i in alive], uncovered, prior, lengths)


def _coverage(rules: list[Candidate], table: CaseTable) -> Coverage:
    features = sorted({test.feature for rule in rules for test in rule.tests})
    columns = {f: table.column(f) for f in features}
    n = len(table.label)
    return Coverage((_mask(rule.tests, columns, n) for rule in rules), n, len(rules))


def _mask(tests: tuple[RuleTest, ...], columns: dict[int, np.ndarray], n: int) -> np.ndarray:
    mask = np.ones(n, np.bool_)
    for test in tests:
        mask &= test.holds(columns[test.feature])
    return mask
