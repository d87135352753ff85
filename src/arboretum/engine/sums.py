"""Sums and means that do not depend on the order of the rows, nor on how they are shared out.

Floating-point addition rounds at every step, so the sums of two halves do not add up to the sum of all. Here
every value becomes two whole numbers, at powers of two below the largest of all values; each is added up in
int64, and both sums are joined in Python's integers, which have no limit, and rounded once:

    largest |x| < 2^e      x  =  high 2^(e - 30)  +  low 2^(e - 60)  +  rest < 2^(e - 61)
    some rows                Σ high, Σ low  ┐
    the others               Σ high, Σ low  ┴►  2^30 Σ high + Σ low, rounded once, times 2^(e - 60)

So a sum is exact to 2^-60 of the largest value for each row, the mean of equal numbers is that number, and up
to 2^32 rows cannot overflow. (If all values are below 2^-970, there are fewer bits.) Rows in several places
are summed in two steps: each place returns the `largest` of its values (`larger` joins two), then a
`PartialSum` for the largest of all.

>>> parts = [np.array([0.1, 0.2]), np.array([0.3])]
>>> most = larger(largest(parts[0]), largest(parts[1]))
>>> first, second = (partial_sum(part, most) for part in parts)
>>> first.plus(second).value() == second.plus(first).value() == total(np.array([0.3, 0.1, 0.2]))
True
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

__all__ = ["PartialSum", "larger", "largest", "mean", "partial_sum", "times", "total", "totals"]

_LIMB = 30  # bits
_BLOCK = 1 << 18  # values that are converted to float64 at once


@cache
def _kernels() -> Any:
    """Return the module of kernels, which are compiled and therefore imported only when needed."""
    from arboretum.engine import fixed_point

    return fixed_point


class PartialSum(NamedTuple):
    """The sum of some rows, or one sum for each of several codes."""

    largest: float  # of all rows, those of other partial sums included
    limbs: np.ndarray  # (n_sums, 2) int64: Σ high, Σ low

    def plus(self, other: PartialSum) -> PartialSum:
        """Return the sum of both parts, which must know the same largest value."""
        return PartialSum(self.largest, self.limbs + other.limbs)

    def values(self, count: int = 1) -> np.ndarray:
        """Return the sums as float64, divided by ``count`` before they are rounded."""
        return np.array([self._value(high, low, count) for high, low in self.limbs.tolist()])

    def value(self, count: int = 1) -> float:
        """Return the only sum, or with ``count`` the mean; NaN for the mean of no rows."""
        ((high, low),) = self.limbs.tolist()
        return self._value(high, low, count)

    def _value(self, high: int, low: int, count: int) -> float:
        if not math.isfinite(self.largest):
            return self.largest
        if count == 0:
            return math.nan
        whole = ((high << _LIMB) + low) / count  # Python rounds a quotient of integers once
        with np.errstate(over="ignore"):
            return float(np.ldexp(whole, -_kernels().limb_shift(self.largest) - _LIMB))


def largest(x: np.ndarray) -> float:
    """Return the largest absolute value, 0 for no values.

    Where values are not finite it is their sum: ∞, -∞ or NaN.
    """
    most = 0
    for block in _blocks(x):
        most = max(most, _kernels().largest_bits(block.view(np.int64)))
    found = float(np.int64(most).view(np.float64))
    if math.isfinite(found):
        return found
    with np.errstate(invalid="ignore"):
        return float(x[~np.isfinite(x)].sum())


def larger(one: float, other: float) -> float:
    """Return the `largest` of both parts of the rows."""
    if math.isfinite(one) and math.isfinite(other):
        return max(one, other)
    return one + other  # ∞ - ∞ is NaN


def partial_sum(
    x: np.ndarray, most: float, codes: np.ndarray | None = None, n_codes: int = 1
) -> PartialSum:
    """Return the sum of these rows, or one for each of their codes.

    Parameters
    ----------
    x : array of shape (n,)
    most : float
        The largest value of all rows, here and elsewhere.
    codes : int array of shape (n,), optional
        0 to ``n_codes`` - 1.
    """
    limbs = np.zeros((n_codes, 2), np.int64)
    if math.isfinite(most) and most > 0:
        kernels, scale = _kernels(), math.ldexp(1.0, _kernels().limb_shift(most))
        begin = 0
        for block in _blocks(x):
            if codes is None:
                kernels.add_limbs(block, scale, limbs)
            else:
                here = codes[begin : begin + len(block)]
                here = np.require(here, np.int64, ["C", "W"])
                kernels.add_limbs_by_code(block, here, scale, limbs)
            begin += len(block)
    return PartialSum(most, limbs)


def total(x: np.ndarray) -> float:
    """Return the sum of an array of shape (n,)."""
    return partial_sum(x, largest(x)).value()


def totals(x: np.ndarray, codes: np.ndarray, n_codes: int) -> np.ndarray:
    """Return the sum for every code from 0 to ``n_codes`` - 1.

    >>> totals(np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), 3)
    array([2., 0., 5.])
    """
    return partial_sum(x, largest(x), codes, n_codes).values()


def mean(x: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Return the mean, by weight if there is one; NaN if no weight is above 0.

    >>> mean(np.array([1.0, 4.0, np.inf]), np.array([2.0, 1.0, 0.0]))
    2.0
    """
    if weight is None:
        return partial_sum(x, largest(x)).value(len(x))
    whole = total(weight)
    return total(times(x, weight)) / whole if whole > 0 else math.nan


def times(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weighted values; one that is not finite does not count if its weight is 0."""
    with np.errstate(invalid="ignore"):
        product = np.asarray(x * weight, np.float64)
    if len(product) and not math.isfinite(largest(product)):
        product[weight == 0] = 0.0
    return product


def _blocks(x: np.ndarray) -> Any:
    """Yield the values in order, as blocks of float64 that the kernels take."""
    for lo in range(0, len(x), _BLOCK):
        yield np.require(x[lo : lo + _BLOCK], np.float64, ["C", "W"])
