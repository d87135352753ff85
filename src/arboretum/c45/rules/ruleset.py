"""All steps of C4.5rules after the tree, in order: generalise, choose, order, look at the whole.

The order, and the class of the rows that no rule covers:

    classes     next comes the class whose rules cover the least weight of other classes, among the rows
                that no class before it covers; of equals the first class
    rules       within a class by estimated accuracy; of equals as the tree has them
    default     the most frequent class among the rows that no rule covers

The order decides what a row gets that several rules cover. Last comes a look at the whole: while the
training rows would be answered better without some rule, the one that does most harm goes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arboretum.c45.pruning import Pessimism
from arboretum.c45.rules.choosing import choose, rule_bits
from arboretum.c45.rules.generalising import Candidate, useful_rules
from arboretum.c45.rules.rule import Coverage, RuleTest
from arboretum.c45.table import CaseTable
from arboretum.engine.cases.cases import TIE
from arboretum.structure.tree import Tree

__all__ = ["RuleList", "drop_harmful", "order_classes", "rules_of"]


# ---------------------------------------------------------------------- the order
def order_classes(
    covers: dict[int, np.ndarray], label: np.ndarray, weight: np.ndarray
) -> list[int]:
    """Return the classes that have rules, in the order in which their rules are tried.

    ``covers``: for each class, the rows that one of its rules covers.

    >>> label = np.array([0, 0, 1, 1])
    >>> covers = {0: np.array([1, 1, 1, 0], bool), 1: np.array([0, 0, 1, 1], bool)}
    >>> order_classes(covers, label, np.ones(4))
    [1, 0]
    """
    order: list[int] = []
    open_rows = np.ones(len(label), np.bool_)
    left = sorted(covers)
    while left:
        wrong = [float(weight[open_rows & covers[c] & (label != c)].sum()) for c in left]
        best = left.pop(int(np.argmax(np.array(wrong) <= min(wrong) + TIE)))
        order.append(best)
        open_rows &= ~covers[best]
    return order


def drop_harmful(
    cover: Coverage, answers: np.ndarray, label: np.ndarray, weight: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Drop rules that do more harm than good where they are the first to fire.

    A rule does harm if fewer training rows would be wrong without it: they would go to the next rule
    that covers them, or to the default class.

    Parameters
    ----------
    cover : Coverage
        Of the rules in their order.
    answers : int array
        The class of every rule.
    label, weight : arrays
        Of the training rows.
    prior : float array
        Decides between classes that are as frequent among the rows that no rule covers.

    Returns
    -------
    kept : int array
        The rules that stay.
    uncovered : float array
        Weight of every class among the rows that none of them covers.

    Examples
    --------
    >>> label, weight = np.array([0, 0, 1, 1]), np.ones(4)
    >>> cover = Coverage([label == 0, label == 1], 4, 2)
    >>> drop_harmful(cover, np.array([1, 1]), label, weight, np.array([0.5, 0.5]))
    (array([1]), array([2., 0.]))
    """
    alive = np.ones(cover.n_rules, np.bool_)
    first, second = np.empty((2, cover.n_rows), np.int64)
    _fire(cover, alive, np.arange(cover.n_rows), first, second)
    while True:
        none = first < 0
        # of no rows it would be whole numbers
        uncovered = np.bincount(label[none], weight[none], len(prior)).astype(np.float64)
        answer = np.append(answers, np.argmax(uncovered + prior))  # -1 finds the default
        saved = weight * ((answer[first] != label) * 1.0 - (answer[second] != label))
        harm = np.bincount(first + 1, weights=saved, minlength=cover.n_rules + 1)[1:]
        if harm.max(initial=0.0) <= TIE:
            return np.flatnonzero(alive), uncovered
        worst = int(np.argmax(harm >= harm.max() - TIE))
        alive[worst] = False
        rows = np.flatnonzero((first == worst) | (second == worst))
        _fire(cover, alive, rows, first, second)


def _fire(
    cover: Coverage, alive: np.ndarray, rows: np.ndarray, first: np.ndarray, second: np.ndarray
) -> None:
    """Write the first and the second rule that cover some rows; -1 for none."""
    for block in cover.blocks(rows):
        fires = cover.rows(block) & alive
        for out in (first, second):
            out[block] = -1
            if cover.n_rules:
                at = fires.argmax(axis=1)
                hit = fires[np.arange(len(block)), at]
                out[block[hit]] = at[hit]
                fires[np.arange(len(block)), at] = False


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
