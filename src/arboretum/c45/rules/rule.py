"""A rule of C4.5rules: conditions that must all hold, and the class it answers.

    Rule 4: outlook = rain and windy = false
        -> yes   [3 covered, 0 wrong, estimated accuracy 63.0 %]

A `RuleTest` is a condition as numbers (threshold, category codes), which is what rows are held against; a
`Condition` is the same in words. A condition on a missing value does not hold, nor does its opposite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.structure.condition import Condition, format_category, format_number

if TYPE_CHECKING:
    from arboretum.data.schema import Schema

__all__ = ["C45Rule", "Coverage", "RuleTest", "first_firing"]

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
