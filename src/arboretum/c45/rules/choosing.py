"""Which rules of a class to keep: those that make the shortest message.

A receiver has the rows and is to learn which of them are of class c. The message gives the
rules of c, and then the exceptions: which rows the rules cover wrongly, and which they should cover:

    theory       Σ bits of the rules - log2(k!)                  k rules, their order does not matter
    a rule       Σ bits of its conditions + log2(d) - log2(d!)   d conditions, in any order
    a condition  log2(columns) + what the column needs:
                     x <= t, x > t     1 + log2(cuts between the values that occur)
                     x = value         log2(values)
                     x in {...}        one bit for each value
    exceptions   log2 C(covered, wrong) + log2 C(not covered, missed)

    bits = theory_weight · theory + exceptions

Rules of a tree repeat much, so the theory counts half (``theory_weight = 0.5``, as in Quinlan's
program). Binomial coefficients are made from the gamma function: weights may be fractions.

Up to ten rules, every subset is tried. With more, rules are added and dropped, each time the one that
saves most, until nothing does; once starting with none and once with all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.c45.rules.rule import Coverage, RuleTest
from arboretum.c45.table import CaseTable
from arboretum.engine.cases.cases import TIE
from arboretum.engine.elementwise import log2, log_gamma
from arboretum.engine.split.score import LN2

__all__ = ["Message", "choose", "rule_bits"]

MOST_TRIED = 10  # rules of a class whose subsets are all tried


# ---------------------------------------------------------------------- bits
def rule_bits(rules: list[tuple[RuleTest, ...]], table: CaseTable) -> np.ndarray:
    """Return the bits it takes to write each rule."""
    options = np.zeros(table.n_columns)  # values of a category, cuts of a number
    options[table.categorical] = table.n_values
    for f in table.numeric:
        x = table.column(f)
        options[f] = len(np.unique(x[~np.isnan(x)])) - 1
    least = np.isin(np.arange(table.n_columns), table.categorical)  # one value is no choice
    which_column = log2(max(int(np.sum(options > least)), 1))

    def bits(test: RuleTest) -> float:
        if test.operator == "in":
            return which_column + options[test.feature]
        direction = float(test.operator != "=")
        return which_column + direction + log2(max(options[test.feature], 1.0))

    return np.array(
        [
            sum(bits(test) for test in tests) + log2(len(tests)) - _log2_factorial(len(tests))
            for tests in rules
        ]
    )


def _log2_factorial(n: Any) -> Any:
    return log_gamma(n + 1.0) / LN2


def _log2_binomial(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    n, k = np.maximum(n, 0.0), np.maximum(k, 0.0)
    return _log2_factorial(n) - _log2_factorial(k) - _log2_factorial(np.maximum(n - k, 0.0))


@dataclass(frozen=True, eq=False)
class Message:
    """The cost of describing a class by rules.

    Examples
    --------
    Three rules of 5 bits each; together they cover 5 of 6 rows of the class and one other of 8.

    >>> message = Message(np.array([5.0, 5.0, 5.0]), 6.0, 8.0)
    >>> round(float(message.length(15.0, 3, 5.0, 1.0)), 2)
    11.79
    """

    bits: np.ndarray  # of every rule
    wanted: float  # weight of the class
    others: float  # weight of the other rows
    theory_weight: float = 0.5

    def length(self, theory: Any, k: Any, right: Any, wrong: Any) -> np.ndarray:
        """Return the bits of ``k`` rules of ``theory`` bits that cover so much right and wrong."""
        covered = right + wrong
        rest = self.wanted + self.others - covered
        exceptions = _log2_binomial(covered, wrong) + _log2_binomial(rest, self.wanted - right)
        return self.theory_weight * (theory - _log2_factorial(k)) + exceptions


# ---------------------------------------------------------------------- choosing
def choose(
    cover: Coverage,
    is_class: np.ndarray,
    weight: np.ndarray,
    bits: np.ndarray,
    theory_weight: float,
) -> tuple[np.ndarray, float]:
    """Choose rules of one class.

    Parameters
    ----------
    cover : Coverage
        Of the rules on the training rows.
    is_class : bool array
        Which rows are of the class.
    weight : float array
        Of the rows.
    bits : float array
        Of every rule.
    theory_weight : float

    Returns
    -------
    chosen : int array
        In order.
    length : float
        Bits of the message with them.

    Examples
    --------
    The first rule covers the class, the second one a part of it.

    >>> is_class = np.array([True] * 8 + [False] * 8)
    >>> cover = Coverage([is_class, np.arange(16) < 3], 16, 2)
    >>> choose(cover, is_class, np.ones(16), np.array([4.0, 4.0]), 0.5)
    (array([0]), 2.0)
    """
    figures = np.column_stack([weight * is_class, weight * ~is_class])  # right, wrong
    wanted, others = figures.sum(axis=0).tolist()
    message = Message(bits, wanted, others, theory_weight)
    if len(bits) <= MOST_TRIED:
        return _try_all(cover, figures, message)
    from_none, from_all = (_Search(cover, figures, message, start) for start in (False, True))
    best = from_all if from_all.length < from_none.length - TIE else from_none
    return np.flatnonzero(best.chosen), best.length


def _try_all(cover: Coverage, figures: np.ndarray, message: Message) -> tuple[np.ndarray, float]:
    """Try every subset; of equals the smallest, and of those the one with the first rules.

    A subset is a number whose bit j is set if rule j is in it. Rows with the same pattern of rules
    count together; a subset leaves out the rows whose pattern lies within its complement.
    """
    m = cover.n_rules
    pattern = np.zeros(cover.n_rows, np.int64)
    for j in range(m):
        pattern |= cover.rule(j).astype(np.int64) << j
    subsets = np.arange(1 << m)
    within = np.stack([np.bincount(pattern, weights=f, minlength=1 << m) for f in figures.T])
    for j in range(m):  # sums over all patterns within a set, one rule at a time
        with_j = subsets[subsets >> j & 1 == 1]
        within[:, with_j] += within[:, with_j ^ (1 << j)]
    right, wrong = within[:, -1:] - within[:, ::-1]  # the complement of s is 2^m - 1 - s
    inside = (subsets[:, None] >> np.arange(m) & 1).astype(np.float64)
    k = inside.sum(axis=1)
    length = message.length((inside * message.bits).sum(axis=1), k, right, wrong)
    short = np.flatnonzero(length <= length.min() + TIE)
    best = short[np.argmin(k[short])]
    return np.flatnonzero(inside[best]), float(length[best])


class _Search:
    """Add and drop rules, always the one that saves most, until none does.

    For every rule it keeps what it alone would cover (``fresh``: rows that no chosen rule covers) and
    what it alone covers (``sole``: rows that exactly one does). A change only touches the rows whose
    number of rules passes through 0, 1 and 2, so all steps together cost little more than the first.
    """

    def __init__(self, cover: Coverage, figures: np.ndarray, message: Message, start: bool) -> None:
        self.cover, self.figures, self.message = cover, figures, message
        m = cover.n_rules
        self.chosen = np.full(m, start)
        rows = np.arange(cover.n_rows)
        self.times = np.zeros(cover.n_rows, np.int64)
        if start:
            for block in cover.blocks(rows):
                self.times[block] = cover.rows(block).sum(axis=1)
        self.fresh = self._sums(np.flatnonzero(self.times == 0))
        self.sole = self._sums(np.flatnonzero(self.times == 1))
        self.covered = figures[self.times > 0].sum(axis=0)
        self.length = self._now()
        while self._step():
            pass

    def _sums(self, rows: np.ndarray) -> np.ndarray:
        """Return, for every rule, the weight right and wrong that it covers of some rows."""
        total = np.zeros((self.cover.n_rules, 2))
        for block in self.cover.blocks(rows):
            covers = self.cover.rows(block)
            for k, figure in enumerate(self.figures[block].T):  # by BLAS: other bits elsewhere
                total[:, k] += (figure[:, None] * covers).sum(axis=0)
        return total

    def _now(self) -> float:
        bits = self.message.bits[self.chosen]
        return float(self.message.length(bits.sum(), len(bits), *self.covered))

    def _step(self) -> bool:
        """Make the change that saves most; return whether there was one."""
        sign = np.where(self.chosen, -1.0, 1.0)
        change = np.where(self.chosen[:, None], -self.sole, self.fresh)
        bits = self.message.bits
        after = self.message.length(
            bits[self.chosen].sum() + sign * bits,
            self.chosen.sum() + sign,
            *(self.covered + change).T,
        )
        best = int(np.argmax(after <= after.min() + TIE))
        if after[best] >= self.length - TIE:
            return False
        self.covered = self.covered + change[best]
        self._flip(best)
        self.length = float(after[best])
        return True

    def _flip(self, j: int) -> None:
        rows = np.flatnonzero(self.cover.rule(j))
        step = -1 if self.chosen[j] else 1
        low = 0 if step == 1 else 1  # rows that pass between 0 and 1, and between 1 and 2
        times = self.times[rows]
        first = self._sums(rows[times == low])
        second = self._sums(rows[times == low + 1])
        self.fresh -= step * first
        self.sole += step * (first - second)
        self.times[rows] += step
        self.chosen[j] = not self.chosen[j]
