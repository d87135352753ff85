"""A rule of C4.5rules: conditions that must all hold, and the class it answers.

    Rule 4: outlook = rain and windy = false
        -> yes   [3 covered, 0 wrong, estimated accuracy 63.0 %]

A `RuleTest` is a condition as numbers (threshold, category codes), which is what rows are held against; a
`Condition` is the same in words. A condition on a missing value does not hold, nor does its opposite.

In a file, rules are plain arrays, and arrays from a file are checked to be rules. The tests of all rules
stand one after the other; rule r has those from ``start[r]`` to ``start[r + 1]``:

    start       0           2       3
    feature     0     2     1                    rule 0: x0 <= 5 and x2 in {0, 3}
    operator    <=    in    =                    rule 1: x1 = 1
    bound       5.0   0.0   0.0
    code_start  0     0     2       3            the categories of test t
    codes             0 3   1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import ModelFileError
from arboretum.structure.condition import Condition, format_category, format_number

if TYPE_CHECKING:
    from arboretum.data.schema import Schema

__all__ = [
    "C45Rule",
    "Coverage",
    "RuleTest",
    "first_firing",
    "make_rule",
    "rules_from_state",
    "rules_to_state",
]


_BLOCK = 1 << 17  # cells unpacked at a time: they fit the cache, even as floats


@dataclass(frozen=True)
class RuleTest:
    """One condition on one column, as numbers.

    Attributes
    ----------
    feature : int
    operator : {"<=", ">", "=", "in"}
    bound : float
        The threshold; 0 for categories.
    codes : tuple of int
        The categories, in order.

    Examples
    --------
    >>> RuleTest(0, "<=", 2.5).holds(np.array([1.0, 3.0, np.nan]))
    array([ True, False, False])
    >>> RuleTest(0, "in", codes=(0, 2)).holds(np.array([0.0, 1.0, 2.0, np.nan]))
    array([ True, False,  True, False])
    """

    feature: int
    operator: str
    bound: float = 0.0
    codes: tuple[int, ...] = ()

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Return which values of the column pass; a missing one never does."""
        if self.operator == "<=":
            return values <= self.bound
        if self.operator == ">":
            return values > self.bound
        if self.operator == "=":
            return values == self.codes[0]
        return np.isin(values, self.codes)

    def condition(self, schema: Schema) -> Condition:
        """Return the test in words."""
        column = schema.columns[self.feature]
        words = column.categories or ()
        of_codes = self.operator in ("=", "in")
        values: tuple[Any, ...]
        if of_codes:
            values = tuple(words[code] for code in self.codes)
        elif words:  # an ordinal column of words: show the word, not its rank
            values = (format_category(words[int(self.bound)]),)
        else:
            values = (self.bound,)
        kind = column.kind if of_codes else column.value_kind
        return Condition(self.feature, column.name, self.operator, values, False, kind)


@dataclass(frozen=True)
class C45Rule:
    """If all conditions hold, then the class.

    Attributes
    ----------
    conditions : tuple of Condition
        In the order of the tree's path.
    prediction : object
        The class label.
    weight : float
        Weight of the training rows that satisfy the conditions, whether or not another rule comes first.
    errors : float
        Weight of those of another class.
    accuracy : float
        Estimated accuracy on new rows: 1 - U_CF(errors, weight), the pessimistic estimate.
    counts : tuple of float
        Weight of every class among the rows covered.
    answer : int
        The class as an index into ``classes_``.
    tests : tuple of RuleTest
        The conditions as numbers.
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    weight: float
    errors: float
    accuracy: float
    counts: tuple[float, ...] = field(repr=False)
    answer: int = field(repr=False)
    tests: tuple[RuleTest, ...] = field(repr=False)

    def pretty(self, digits: int = 6, max_categories: int = 8) -> str:
        """Return the rule in two lines."""
        tests = " and ".join(c.pretty(digits, max_categories) for c in self.conditions)
        figures = f"{_case(self.weight)} covered, {_case(self.errors)} wrong"
        figures += f", estimated accuracy {100 * self.accuracy:.1f} %"
        return f"{tests}\n    -> {format_category(self.prediction)}   [{figures}]"

    def __str__(self) -> str:
        return self.pretty()


def _case(weight: float) -> str:
    """Write a number of cases, fractions with at most two decimals."""
    return format_number(round(weight, 2) + 0.0, 15)


# ---------------------------------------------------------------------- many rules on many rows
class Coverage:
    """Which of m rules cover which of n rows, one bit for each.

    Parameters
    ----------
    masks : iterable of bool arrays of length n_rows
        One for each rule.
    n_rows, n_rules : int

    Examples
    --------
    >>> cover = Coverage([np.array([True, False, True]), np.array([True, True, False])], 3, 2)
    >>> cover.rule(0), cover.rows(np.array([1, 2]))
    (array([ True, False,  True]), array([[False,  True],
           [ True, False]]))
    """

    def __init__(self, masks: Iterable[np.ndarray], n_rows: int, n_rules: int) -> None:
        self.n_rows, self.n_rules = n_rows, n_rules
        self.bits = np.zeros((n_rows, -(-n_rules // 8)), np.uint8)
        for j, mask in enumerate(masks):
            self.bits[:, j >> 3] |= mask.view(np.uint8) << np.uint8(j & 7)

    def rule(self, j: int) -> np.ndarray:
        """Return the rows that rule ``j`` covers, as a mask."""
        return (self.bits[:, j >> 3] >> np.uint8(j & 7) & 1).view(np.bool_)

    def rows(self, rows: np.ndarray) -> np.ndarray:
        """Return which rules cover some rows: a (rows, rules) mask."""
        bits = np.unpackbits(self.bits[rows], axis=1, count=self.n_rules, bitorder="little")
        return bits.view(np.bool_)

    def blocks(self, rows: np.ndarray) -> Iterable[np.ndarray]:
        """Cut rows into blocks small enough to unpack."""
        step = max(1, _BLOCK // max(self.n_rules, 1))
        return (rows[at : at + step] for at in range(0, len(rows), step))


def first_firing(
    rules: Sequence[Sequence[RuleTest]], column: Callable[[int], np.ndarray], n_rows: int
) -> np.ndarray:
    """Return the first rule whose tests all hold for each row, -1 for none.

    ``column``: gives the values of a column by its number.

    >>> x = np.array([1.0, 2.0, 3.0, np.nan])
    >>> first_firing([[RuleTest(0, ">", 2.5)], [RuleTest(0, ">", 1.5)]], lambda f: x, 4)
    array([-1,  1,  0, -1])
    """
    found, left = np.full(n_rows, -1), np.arange(n_rows)
    columns = {f: column(f) for f in sorted({test.feature for tests in rules for test in tests})}
    for j, tests in enumerate(rules):
        rows = left
        for test in tests:
            rows = rows[test.holds(columns[test.feature][rows])]
        if len(rows):
            found[rows] = j
            left = left[found[left] < 0]
    return found


# ---------------------------------------------------------------------- files
OPERATORS = ("<=", ">", "=", "in")
_ARRAYS = {
    "start": ("int64", 1),
    "feature": ("int32", 1),
    "operator": ("uint8", 1),
    "bound": ("float64", 1),
    "code_start": ("int64", 1),
    "codes": ("int64", 1),
    "answer": ("int32", 1),
    "accuracy": ("float64", 1),
    "counts": ("float64", 2),
}


def make_rule(
    tests: tuple[RuleTest, ...],
    answer: int,
    accuracy: float,
    counts: Sequence[float],
    schema: Schema,
    classes: np.ndarray,
) -> C45Rule:
    """Return a rule with all its tests in words."""
    label = classes[answer]
    weight = float(sum(counts))
    return C45Rule(
        conditions=tuple(test.condition(schema) for test in tests),
        prediction=label.item() if isinstance(label, np.generic) else label,
        weight=weight,
        errors=max(weight - counts[answer], 0.0),
        accuracy=accuracy,
        counts=tuple(counts),
        answer=answer,
        tests=tests,
    )


def rules_to_state(rules: Sequence[C45Rule], n_classes: int) -> dict[str, np.ndarray]:
    """Return the rules as arrays.

    Examples
    --------
    >>> from arboretum.data.schema import Column, Schema
    >>> schema, classes = Schema((Column("a", "numeric"),), True), np.array(["no", "yes"])
    >>> rules = [make_rule((RuleTest(0, ">", 3.0),), 1, 0.75, (1.0, 8.0), schema, classes)]
    >>> state = rules_to_state(rules, 2)
    >>> state["bound"], rules_from_state(state, schema, classes) == rules
    (array([3.]), True)
    """
    tests = [test for rule in rules for test in rule.tests]
    return {
        "start": _starts([len(rule.tests) for rule in rules]),
        "feature": np.array([test.feature for test in tests], np.int32),
        "operator": np.array([OPERATORS.index(test.operator) for test in tests], np.uint8),
        "bound": np.array([test.bound for test in tests], np.float64),
        "code_start": _starts([len(test.codes) for test in tests]),
        "codes": np.array([code for test in tests for code in test.codes], np.int64),
        "answer": np.array([rule.answer for rule in rules], np.int32),
        "accuracy": np.array([rule.accuracy for rule in rules], np.float64),
        "counts": np.array([rule.counts for rule in rules], np.float64).reshape(-1, n_classes),
    }


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def rules_from_state(state: Any, schema: Schema, classes: np.ndarray) -> list[C45Rule]:
    """Return the rules that `rules_to_state` described, after checking every part of them.

    Raises
    ------
    ModelFileError
        If the arrays are not rules over the columns of the schema.
    """
    _check_arrays(state)
    n_rules, n_tests = len(state["answer"]), len(state["feature"])
    _check_starts(state["start"], n_rules, n_tests, "the tests are not shared out to the rules")
    _check_starts(
        state["code_start"], n_tests, len(state["codes"]), "the categories are not shared out"
    )
    counts, accuracy = state["counts"], state["accuracy"]
    _expect(counts.shape == (n_rules, len(classes)), "the counts do not fit rules and classes")
    _expect(bool(np.all(np.isfinite(counts) & (counts >= 0))), "a count is not a number ≥ 0")
    fair = np.all((accuracy >= -1e-9) & (accuracy <= 1 + 1e-9))
    _expect(len(accuracy) == n_rules and bool(fair), "an accuracy is outside 0 … 1")
    answer = state["answer"]
    _expect(bool(np.all((answer >= 0) & (answer < len(classes)))), "a rule answers no class")
    tests = [_test(state, t, schema) for t in range(n_tests)]
    return [
        make_rule(
            tuple(tests[lo:hi]),
            int(answer[r]),
            float(accuracy[r]),
            tuple(counts[r].tolist()),
            schema,
            classes,
        )
        for r, (lo, hi) in enumerate(pairwise(state["start"].tolist()))
    ]


def _expect(condition: bool, problem: str) -> None:
    if not condition:
        raise ModelFileError(f"the rules are damaged: {problem}")


def _check_arrays(state: Any) -> None:
    _expect(isinstance(state, dict) and set(state) == set(_ARRAYS), "an array is missing or odd")
    for name, (dtype, axes) in _ARRAYS.items():
        array = state[name]
        good = isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == axes
        _expect(good, f"{name!r} is not a {axes}-dimensional {dtype} array")
    for name in ("operator", "bound"):
        _expect(len(state[name]) == len(state["feature"]), f"{name!r} has another length")


def _check_starts(start: np.ndarray, n: int, total: int, problem: str) -> None:
    good = len(start) == n + 1 and start[0] == 0 and start[-1] == total
    _expect(bool(good and np.all(start[1:] >= start[:-1])), problem)


def _test(state: dict[str, Any], t: int, schema: Schema) -> RuleTest:
    feature, operator = int(state["feature"][t]), int(state["operator"][t])
    _expect(0 <= feature < schema.n_features, f"test {t} names no column")
    _expect(operator < len(OPERATORS), f"test {t} is of an unknown kind")
    column, bound = schema.columns[feature], float(state["bound"][t])
    codes = tuple(state["codes"][state["code_start"][t] : state["code_start"][t + 1]].tolist())
    n_words = len(column.categories or ())
    if OPERATORS[operator] in ("<=", ">"):
        _expect(column.kind != "categorical", f"test {t} compares categories")
        _expect(not codes and bool(np.isfinite(bound)), f"test {t} has no threshold")
        rank = bound == int(bound) and 0 <= bound < n_words
        _expect(not n_words or rank, f"test {t} has a threshold that is no rank of its column")
    else:
        _expect(column.kind == "categorical", f"test {t} names categories of a column of numbers")
        _expect(all(0 <= code < n_words for code in codes), f"test {t} names no category")
        fits = len(codes) == 1 if OPERATORS[operator] == "=" else len(codes) > 0
        _expect(fits and bound == 0.0, f"test {t} has not the categories of its kind")
    return RuleTest(feature, OPERATORS[operator], bound, codes)
