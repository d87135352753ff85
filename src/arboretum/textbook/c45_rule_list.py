"""Further reading: C4.5rules: from an unpruned tree to a short list of rules (Quinlan 1993, chapter 5).

    rule_paths        every path to a leaf is a rule
    generalise        drop the conditions that do not help, by the pessimistic error rate U_CF(e, N)
    is_useful         throw out the rules that are worse than a guess
    choose_rules      for each class, the rules that make the shortest message
    order_rules       which class comes first; the class if no rule fires
    drop_harmful      a last look at the whole list

`c45_rules` does all of it and keeps the figures of every step. A condition on a missing value does not
hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import lgamma, log, log2
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.c45 import C45Node
from arboretum.textbook.c45_pruning import upper_limit
from arboretum.textbook.id3 import TIE, Cases
from arboretum.textbook.impurities import class_weights

__all__ = [
    "C45RuleList",
    "Choice",
    "Dropping",
    "RuleCondition",
    "TextbookRule",
    "c45_rules",
    "choose_rules",
    "drop_harmful",
    "exception_bits",
    "generalise",
    "is_useful",
    "order_rules",
    "predict_c45_rules",
    "rule_bits",
    "rule_paths",
]

WORST = 0.7  # a rule that is estimated to be wrong more often is never used
MOST_TRIED = 10  # rules of a class whose subsets are all tried


# ---------------------------------------------------------------------- rules
@dataclass(frozen=True)
class RuleCondition:
    """One condition on one column."""

    feature: int
    operator: str  # "<=", ">", "=" (a category) or "in" (a set of them)
    value: float | frozenset[int]

    def holds(self, X: np.ndarray) -> np.ndarray:
        """Return for which rows it holds; never where the value is missing."""
        x = X[:, self.feature]
        if self.operator == "in":
            return np.isin(x, sorted(self.value))  # type: ignore[arg-type]
        return {"<=": x <= self.value, ">": x > self.value, "=": x == self.value}[self.operator]

    def __str__(self) -> str:
        shown = set(self.value) if isinstance(self.value, frozenset) else f"{self.value:g}"
        return f"x{self.feature} {self.operator} {shown}"


@dataclass(frozen=True)
class TextbookRule:
    """If all conditions hold, then the class."""

    conditions: tuple[RuleCondition, ...]
    answer: int
    counts: tuple[float, ...]  # the weight of every class among the cases covered
    rate: float  # the pessimistic error rate

    def covers(self, X: np.ndarray) -> np.ndarray:
        return covers(self.conditions, X)


def covers(conditions: tuple[RuleCondition, ...], X: np.ndarray) -> np.ndarray:
    """Return which rows satisfy all conditions.

    >>> covers((RuleCondition(0, ">", 1.0), RuleCondition(0, "<=", 3.0)), np.array([[1.0], [2.0]]))
    array([False,  True])
    """
    return np.all([np.ones(len(X), bool), *(c.holds(X) for c in conditions)], axis=0)


# the conditions on a path, one per column and side: the operator decides what their values are
Way = dict[tuple[int, str], Any]


def rule_paths(tree: C45Node) -> list[tuple[tuple[RuleCondition, ...], int]]:
    """Return the conditions on the way to every leaf that has cases, and the leaf's class.

    Of two conditions on one column and side, ``x > 3`` and ``x > 5``, the tighter one remains.
    """
    found = []
    waiting: list[tuple[C45Node, Way]] = [(tree, {})]
    while waiting:
        node, way = waiting.pop()
        if node.test is None:
            if node.weight > 0:
                found.append((tuple(way.values()), node.majority))
            continue
        below = []
        for v, child in enumerate(node.children):
            condition = _branch(node, v, way)
            key = (condition.feature, condition.operator)
            below.append((child, {**way, key: condition}))
        waiting += below[::-1]  # so that the first branch is visited first
    return found


def _branch(node: C45Node, v: int, way: Way) -> RuleCondition:
    """Return the test of branch v of a node, joined with earlier tests of the same side on its path."""
    test = node.test
    assert test is not None
    if not test.groups:
        operator, tighter = ("<=", min) if v == 0 else (">", max)
        before = way.get((test.feature, operator))
        bound = test.threshold if before is None else tighter(test.threshold, before.value)
        return RuleCondition(test.feature, operator, float(bound))
    if test.multiway:
        return RuleCondition(test.feature, "=", float(min(test.groups[v])))
    before = way.get((test.feature, "in"))
    group = frozenset(test.groups[v])
    return RuleCondition(test.feature, "in", group if before is None else group & before.value)


# ---------------------------------------------------------------------- generalising
@dataclass(frozen=True)
class Dropping:
    """One look at a rule: its error rate, that without each condition, and what was done."""

    conditions: tuple[RuleCondition, ...]
    cases: float  # N
    errors: float  # e
    rate: float  # U_CF(e, N)
    without: tuple[float, ...]  # the rate without each condition
    dropped: RuleCondition | None  # None: all the others would make it worse


def generalise(
    conditions: tuple[RuleCondition, ...],
    answer: int,
    cases: Cases,
    confidence: float = 0.25,
    limit: str = "quinlan",
) -> tuple[TextbookRule, list[Dropping]]:
    """Drop the condition whose removal gives the lowest error rate, while it does not rise.

    Of equals the last goes. Returns the rule and every step.

    >>> from arboretum.textbook.id3 import gather_cases
    >>> cases = gather_cases([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, [0, 0, 1, 1] * 3, None, None)
    >>> path = (RuleCondition(0, "<=", 0.0), RuleCondition(1, "<=", 0.0))
    >>> rule, steps = generalise(path, 0, cases)
    >>> [str(step.dropped) for step in steps], [str(c) for c in rule.conditions]
    (['x1 <= 0', 'None'], ['x0 <= 0'])
    >>> [round(step.rate, 3) for step in steps]  # 3 cases, then 6, none of them wrong
    [0.37, 0.206]
    """

    def figures(conditions: tuple[RuleCondition, ...]) -> tuple[np.ndarray, float]:
        here = covers(conditions, cases.X)
        counts = class_weights(cases.y[here], cases.w[here], cases.n_classes)
        n = float(counts.sum())
        wrong = max(n - float(counts[answer]), 0.0)
        return counts, upper_limit(n, wrong, confidence, limit) if n > TIE else 1.0

    steps = []
    while True:
        counts, rate = figures(conditions)
        shorter = [conditions[:k] + conditions[k + 1 :] for k in range(len(conditions))]
        without = [figures(rest)[1] for rest in shorter]
        lowest = [k for k, other in enumerate(without) if other <= min(without) + TIE][-1:]
        drop = lowest[0] if lowest and without[lowest[0]] <= rate + TIE else None
        dropped = None if drop is None else conditions[drop]
        n = float(counts.sum())
        steps.append(
            Dropping(conditions, n, n - float(counts[answer]), rate, tuple(without), dropped)
        )
        if drop is None:
            return TextbookRule(conditions, answer, tuple(counts.tolist()), rate), steps
        conditions = shorter[drop]


def is_useful(rule: TextbookRule, cases: Cases) -> bool:
    """Tell whether a rule may be chosen.

    It needs a condition; its error rate must be below that of answering its class always, which is
    1 - (n_class + 1) / (n + 2), and below 0.7; and its class must be the most frequent one among the
    cases it covers (between equals the more frequent one overall counts).
    """
    whole = cases.counts
    guess = 1 - (whole[rule.answer] + 1) / (whole.sum() + 2)
    usual = int(np.argmax(np.array(rule.counts) + whole / whole.sum()))
    better = rule.rate < min(guess, WORST) - TIE
    return bool(rule.conditions) and better and usual == rule.answer


# ---------------------------------------------------------------------- choosing
def log2_factorial(n: float) -> float:
    """Return log2(n!), of fractions too."""
    return lgamma(n + 1) / log(2)


def log2_binomial(n: float, k: float) -> float:
    """Return log2 of n over k.

    >>> round(log2_binomial(5, 2), 4) == round(log2(10), 4)
    True
    """
    n, k = max(n, 0.0), max(k, 0.0)
    return log2_factorial(n) - log2_factorial(k) - log2_factorial(max(n - k, 0.0))


def rule_bits(conditions: tuple[RuleCondition, ...], cases: Cases) -> float:
    """Return the bits that name d conditions in any order: Σ bits + log2(d) - log2(d!).

    A condition names a column, and then a direction and a cut between two values that occur; a
    category; or for each category whether it is in the set.

    >>> from arboretum.textbook.id3 import gather_cases
    >>> cases = gather_cases([[1, 0], [2, 1], [3, 0], [5, 1]], [0, 0, 1, 1], None, [0, 2])
    >>> rule_bits((RuleCondition(1, "=", 0.0),), cases)  # 2 columns, 2 categories
    2.0
    """
    cuts = [len(np.unique(x[~np.isnan(x)])) - 1 for x in cases.X.T]
    open_columns = sum(v > 1 if v else c > 0 for v, c in zip(cases.n_values, cuts))
    total = 0.0
    for condition in conditions:
        total += log2(max(open_columns, 1))
        if condition.operator == "in":
            total += cases.n_values[condition.feature]
        elif condition.operator == "=":
            total += log2(cases.n_values[condition.feature])
        else:
            total += 1 + log2(max(cuts[condition.feature], 1))
    return total + log2(len(conditions)) - log2_factorial(len(conditions))


def exception_bits(covered: np.ndarray, wanted: np.ndarray, w: np.ndarray) -> float:
    """Return the bits that name the cases covered wrongly, and those wanted but not covered.

    >>> mask = np.array([True, True, False, False])
    >>> exception_bits(mask, mask, np.ones(4))
    0.0
    >>> exception_bits(mask, ~mask, np.ones(4)), exception_bits(mask[:0], mask[:0], np.ones(0))
    (0.0, 0.0)
    >>> round(exception_bits(mask, np.array([True, False, False, False]), np.ones(4)), 3)
    1.0
    """
    n = float(w[covered].sum())
    return log2_binomial(n, float(w[covered & ~wanted].sum())) + log2_binomial(
        float(w.sum()) - n, float(w[~covered & wanted].sum())
    )


@dataclass(frozen=True)
class Choice:
    """The rules of one class, and those chosen."""

    answer: int
    candidates: list[TextbookRule]
    bits: list[float]  # of every candidate
    chosen: tuple[int, ...]
    theory: float  # bits of the chosen ones together, less log2(k!)
    exceptions: float
    length: float  # theory_weight · theory + exceptions


def choose_rules(
    candidates: list[TextbookRule], answer: int, cases: Cases, theory_weight: float = 0.5
) -> Choice:
    """Choose the subset of the rules of a class that makes the shortest message.

    Up to ten rules all subsets are tried; of equals the smallest is taken, then the one with the
    earliest rules. With more, the rule is added or dropped that saves most, until none does: starting
    with no rule, and starting with all.
    """
    bits = [rule_bits(rule.conditions, cases) for rule in candidates]
    masks = np.array([rule.covers(cases.X) for rule in candidates]).reshape(-1, len(cases.y))

    def message(chosen: tuple[int, ...]) -> tuple[float, float, float]:
        theory = sum(bits[j] for j in chosen) - log2_factorial(len(chosen))
        covered = np.asarray(masks[list(chosen)].any(axis=0))
        exceptions = exception_bits(covered, cases.y == answer, cases.w)
        return theory, exceptions, theory_weight * theory + exceptions

    if len(candidates) <= MOST_TRIED:
        best = _try_all(len(candidates), message)
    else:
        from_none, from_all = (
            _climb(start, len(candidates), message) for start in ((), tuple(range(len(candidates))))
        )
        best = from_all if message(from_all)[2] < message(from_none)[2] - TIE else from_none
    return Choice(answer, candidates, bits, best, *message(best))


# the length in bits of the message of some rules, as the third number
Message = Callable[[tuple[int, ...]], tuple[float, float, float]]


def _try_all(m: int, message: Message) -> tuple[int, ...]:
    subsets = chain.from_iterable(combinations(range(m), k) for k in range(m + 1))
    ranked = sorted(subsets, key=lambda s: (len(s), sum(1 << j for j in s)))
    lengths = [message(s)[2] for s in ranked]
    return ranked[int(np.argmax(np.array(lengths) <= min(lengths) + TIE))]


def _climb(chosen: tuple[int, ...], m: int, message: Message) -> tuple[int, ...]:
    length = message(chosen)[2]
    while True:
        changed = [tuple(sorted({*chosen} ^ {j})) for j in range(m)]
        lengths = [message(other)[2] for other in changed]
        best = int(np.argmax(np.array(lengths) <= min(lengths) + TIE))
        if lengths[best] >= length - TIE:
            return chosen
        chosen, length = changed[best], lengths[best]


# ---------------------------------------------------------------------- ordering
def order_rules(choices: list[Choice], cases: Cases) -> list[TextbookRule]:
    """Order the chosen rules: classes by false positives, the rules of a class by accuracy.

    Next comes the class whose rules cover the least of other classes, among the cases that the classes
    before it leave uncovered.
    """
    waiting = {
        choice.answer: [choice.candidates[j] for j in choice.chosen]
        for choice in sorted(choices, key=lambda choice: choice.answer)
        if choice.chosen
    }
    ordered: list[TextbookRule] = []
    left = np.ones(len(cases.y), bool)
    while waiting:
        fires = {c: np.any([rule.covers(cases.X) for rule in waiting[c]], axis=0) for c in waiting}
        wrong = {c: float(cases.w[left & fires[c] & (cases.y != c)].sum()) for c in waiting}
        best = next(c for c in waiting if wrong[c] <= min(wrong.values()) + TIE)
        ordered += sorted(waiting.pop(best), key=lambda rule: round(rule.rate, 9))
        left &= ~fires[best]
    return ordered


def default_counts(rules: list[TextbookRule], cases: Cases) -> np.ndarray:
    """Return the weight of every class among the cases that no rule covers."""
    left = np.all([np.ones(len(cases.y), bool), *(~rule.covers(cases.X) for rule in rules)], axis=0)
    return class_weights(cases.y[left], cases.w[left], cases.n_classes)


def default_class(counts: np.ndarray, cases: Cases) -> int:
    """Return the most frequent class of them, between equals the more frequent overall."""
    return int(np.argmax(counts + cases.counts / cases.counts.sum()))


def drop_harmful(
    rules: list[TextbookRule], cases: Cases
) -> tuple[list[TextbookRule], list[TextbookRule]]:
    """Drop rules without which fewer training cases are wrong, the most harmful first.

    Returns the rules that stay, and those that went.
    """
    gone: list[TextbookRule] = []
    while rules:
        default = default_class(default_counts(rules, cases), cases)

        def errors(rules: list[TextbookRule], default: int = default) -> float:
            fired = first_rule(rules, cases.X)
            answers = np.array([*(rule.answer for rule in rules), default])
            return float(cases.w[answers[fired] != cases.y].sum())

        now = errors(rules)
        saved = np.array([now - errors(rules[:j] + rules[j + 1 :]) for j in range(len(rules))])
        if saved.max() <= TIE:
            break
        worst = int(np.argmax(saved >= saved.max() - TIE))
        gone.append(rules[worst])
        rules = rules[:worst] + rules[worst + 1 :]
    return rules, gone


# ---------------------------------------------------------------------- all of it
@dataclass(frozen=True)
class C45RuleList:
    """Rules in their order, and how they came about."""

    rules: list[TextbookRule]
    default: int
    default_counts: np.ndarray
    cases: Cases = field(repr=False)
    droppings: list[list[Dropping]] = field(repr=False)  # of every path of the tree
    choices: list[Choice] = field(repr=False)
    harmful: list[TextbookRule] = field(repr=False)


def c45_rules(
    tree: C45Node, confidence: float = 0.25, limit: str = "quinlan", theory_weight: float = 0.5
) -> C45RuleList:
    """Turn an unpruned tree into rules.

    Examples
    --------
    >>> from arboretum.textbook.c45 import grow_c45
    >>> X = [[0, 0], [0, 1]] * 3 + [[1, 0]] * 3 + [[1, 1]] * 3
    >>> found = c45_rules(grow_c45(X, [0] * 6 + [1] * 3 + [2] * 3, n_values=[2, 2]))
    >>> for rule in found.rules:
    ...     print(*rule.conditions, sep=" and ", end=f" -> {rule.answer}\\n")
    x0 = 0 -> 0
    x0 = 1 and x1 = 0 -> 1
    x0 = 1 and x1 = 1 -> 2
    >>> found.default
    0
    """
    cases = tree.cases
    pairs = [generalise(path, c, cases, confidence, limit) for path, c in rule_paths(tree)]
    useful: dict[tuple[Any, ...], TextbookRule] = {}
    for rule, _ in pairs:
        if is_useful(rule, cases):
            useful.setdefault((frozenset(rule.conditions), rule.answer), rule)
    choices = [
        choose_rules([r for r in useful.values() if r.answer == c], c, cases, theory_weight)
        for c in range(cases.n_classes)
    ]
    rules, harmful = drop_harmful(order_rules(choices, cases), cases)
    counts = default_counts(rules, cases)
    default = default_class(counts, cases)
    return C45RuleList(rules, default, counts, cases, [s for _, s in pairs], choices, harmful)


def first_rule(rules: list[TextbookRule], X: np.ndarray) -> np.ndarray:
    """Return the first rule that covers each row, -1 for none."""
    fired = np.full(len(X), -1)
    for j, rule in reversed(list(enumerate(rules))):
        fired[rule.covers(X)] = j
    return fired


def predict_c45_rules(found: C45RuleList, X: ArrayLike) -> np.ndarray:
    """Return the class of every row: that of the first rule that covers it, or the default."""
    answers = np.array([*(rule.answer for rule in found.rules), found.default])
    words = found.cases.words
    return words.answers(answers[first_rule(found.rules, words.codes(X))])
