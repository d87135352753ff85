"""A condition of a rule on one column: the values that all splits of a path leave possible.

A path may split on one column many times. Each split narrows the possible values, so it is enough to
keep what is left: an interval, a set of categories, and whether a missing value passes.

    a <= 5, then a <= 3              a <= 3
    a > 1, then a <= 3               1 < a <= 3
    city in {A, B}, then {B, C}      city = B
    one branch per city, and one for missing values: city is missing
    a <= 3 or missing, then a > 1    1 < a <= 3           (missing went the other way)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from arboretum.explain.labels import Wording, clean, shorten
from arboretum.structure.condition import around_zero, format_value
from arboretum.structure.tree import GROUPS, MULTIWAY, SUBSET, Tree

if TYPE_CHECKING:
    from arboretum.data.schema import Column

__all__ = ["RuleCondition"]


@dataclass(frozen=True)
class RuleCondition:
    """The values one column may have.

    Attributes
    ----------
    feature : int
        Index of the column.
    name : str
        Its name, as shown.
    column : Column
        Its kind and categories.
    low, high : float
        The value must be > low and <= high.
    codes : frozenset of int, or None
        Codes of the categories allowed; None for all.
    missing : bool
        A missing value satisfies the condition. It is shown as "or missing" only for columns that
        had missing values in training.
    """

    feature: int
    name: str
    column: Column = field(repr=False)
    low: float = -np.inf
    high: float = np.inf
    codes: frozenset[int] | None = None
    missing: bool = True

    def narrow(self, tree: Tree, node: int, child: int) -> RuleCondition:
        """Return the condition after ``node``, which splits on this column, sent rows to ``child``."""
        missing = self.missing and int(tree.missing_child[node]) == child
        kind = int(tree.kind[node])
        if kind in (SUBSET, MULTIWAY, GROUPS):
            codes = _codes_of(tree, node, child)
            if self.codes is not None:
                codes &= self.codes
            return replace(self, codes=codes, missing=missing)
        threshold = float(tree.threshold[node])
        if child == 0:
            return replace(self, high=min(self.high, threshold), missing=missing)
        return replace(self, low=max(self.low, threshold), missing=missing)

    def accepts(self, values: np.ndarray) -> np.ndarray:
        """Return which encoded values (codes for categories, NaN for missing) satisfy it."""
        absent = np.isnan(values)
        passed = ~absent
        if self.low > -np.inf:
            passed &= values > self.low
        if self.high < np.inf:
            passed &= values <= self.high
        if self.codes is not None:
            passed &= np.isin(values, list(self.codes))
        return passed | absent if self.missing else passed

    @property
    def is_impossible(self) -> bool:
        """True if no present value passes; a missing value may."""
        return self.low >= self.high or (self.codes is not None and not self.codes)

    def pretty(self, digits: int = 6, max_categories: int | None = 8) -> str:
        """Return the condition as a short sentence."""
        if self.is_impossible:
            return f"{self.name} is {'missing' if self.missing else 'impossible'}"
        if self.codes is not None:
            text = self._categories(max_categories)
        elif self.low == -np.inf and self.high == np.inf:
            return f"{self.name} is present"
        else:
            text = self._interval(digits)
        return f"{text} or missing" if self.missing and self.column.has_missing else text

    def _categories(self, max_categories: int | None) -> str:
        assert self.column.categories is not None
        assert self.codes is not None
        allowed = [self.column.categories[code] for code in sorted(self.codes)]
        if len(allowed) == 1:
            return f"{self.name} = {clean(allowed[0])}"
        wording = Wording(ellipsis="…", max_categories=max_categories)
        return f"{self.name} in {{{', '.join(shorten(allowed, wording))}}}"

    def _interval(self, digits: int) -> str:
        words = self.column.categories
        if words is not None:  # an ordinal column of words, split by rank
            left = [r for r in range(len(words)) if self.low < r <= self.high]
            if len(left) == 1:
                return f"{self.name} = {clean(words[left[0]])}"

        def write(operator: str, bound: float) -> tuple[str, str]:
            if words is not None:
                return operator, clean(words[int(bound)])
            operator, bound = around_zero(operator, bound)
            return operator, format_value(bound, self.column.value_kind, digits)

        above, low = write(">", self.low) if self.low > -np.inf else ("", "")
        below, high = write("<=", self.high) if self.high < np.inf else ("", "")
        if not above:
            return f"{self.name} {below} {high}"
        if not below:
            return f"{self.name} {above} {low}"
        return f"{low} {above.replace('>', '<')} {self.name} {below} {high}"

    def __str__(self) -> str:
        return self.pretty()


def _codes_of(tree: Tree, node: int, child: int) -> frozenset[int]:
    """Return the category codes that a split sends to ``child``; none to a child for missing values."""
    categories = tree.column(int(tree.feature[node])).categories
    assert categories is not None
    codes = np.arange(len(categories))
    start, kind = int(tree.bits_start[node]), int(tree.kind[node])
    if kind == MULTIWAY:
        return frozenset(codes[codes == child].tolist())
    if kind == GROUPS:
        return frozenset(codes[tree.bits[start : start + len(codes)] == child].tolist())
    words = tree.bits[start + (codes >> 5)]
    inside = ((words >> (codes & 31).astype(np.uint32)) & 1).astype(bool)
    return frozenset(codes[~inside if child else inside].tolist())
