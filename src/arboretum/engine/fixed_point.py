"""Sums on an integer grid: how weights and targets become whole numbers.

A search compares thousands of sums. Sums of whole numbers do not depend on the order of the rows or on the
number of threads, equal splits have exactly equal scores, and an addition takes one cycle. So
numbers are multiplied by a power of two and rounded before they are added up; the power is chosen so that no
sum can overflow:

    on the grid   round(x 2^s)              x 2^s < 2^bits for the largest x
    back          n 2^-s

    what                       largest               bits
    a sum of weights           the sum of all        WEIGHT_BITS: float64 represents every difference exactly
    a number in a sum          the largest number    `bits_of_each`: the sum fits into SUM_BITS

Integers that are small enough stay unchanged (s = 0), so a row of weight 2 counts exactly like two rows.
Kernels round halves up (`to_grid`); arrays are rounded by NumPy's `rint`, halves to even numbers. Means,
base scores and metrics take two grids, one 30 bits below the other: see sums.py.

>>> float(2.0 ** shift_for(3.0, 10)), bits_of_each(1000)
(256.0, 51)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel, subkernel

__all__ = [
    "SUM_BITS",
    "WEIGHT_BITS",
    "GridWeights",
    "add_limbs",
    "add_limbs_by_code",
    "are_whole",
    "bits_of_each",
    "largest_bits",
    "limb_shift",
    "scale_for",
    "shift_for",
    "to_grid",
    "weights_to_grid",
]

SUM_BITS = 61  # bits of a sum; the difference of two sums fits into int64
WEIGHT_BITS = 53
_MOST_SHIFT = 1000  # beyond, 2^s is not a float64
_LIMB_BITS = 30
_LIMB = 2.0**_LIMB_BITS
_NO_SIGN = 0x7FFF_FFFF_FFFF_FFFF
_LOOK = 100  # weights that are checked first


@subkernel
def shift_for(largest, bits):
    """Return s with ``largest`` 2^s just below 2^bits; 0 for 0."""
    return min(bits - math.frexp(largest)[1], _MOST_SHIFT) if largest > 0.0 else 0


@subkernel
def bits_of_each(count):
    """Return how many bits each of ``count`` numbers may have so that their sum has SUM_BITS."""
    return SUM_BITS - math.frexp(count)[1]


@subkernel
def scale_for(largest, bits):
    """Return the power of two that brings ``largest`` just below 2^bits; 1 for 0."""
    return math.ldexp(1.0, shift_for(largest, bits))


@inline
def to_grid(x):
    """Return the whole number nearest to a scaled one, halves rounded up."""
    return np.int64(math.floor(x + 0.5))


# ---------------------------------------------------------------------- sums of two limbs, for sums.py
def limb_shift(largest: float) -> int:
    """Return s with values times 2^s just below 2^30."""
    return shift_for(largest, _LIMB_BITS)


@kernel
def largest_bits(bits):
    """Return the largest absolute value of float64 numbers, all given and returned as bits.

    Bits of ∞ are above those of numbers, bits of NaN above those of ∞. bits (n,) int64.
    """
    most = np.int64(0)
    for i in range(len(bits)):
        most = max(most, bits[i] & _NO_SIGN)
    return most


@kernel
def add_limbs(x, scale, limbs):
    """Add the two limbs of every number to limbs (1, 2) int64; x (n,) float64, ``scale`` 2^`limb_shift`."""
    high = low = np.int64(0)
    for i in range(len(x)):
        scaled = x[i] * scale
        head = np.rint(scaled)
        high += np.int64(head)
        low += np.int64(np.rint((scaled - head) * _LIMB))
    limbs[0, 0] += high
    limbs[0, 1] += low


@kernel
def add_limbs_by_code(x, codes, scale, limbs):
    """Add the limbs of every number to the line of its code; codes (n,) int64, limbs (n_codes, 2) int64."""
    for i in range(len(x)):
        k = np.uintp(codes[i])
        scaled = x[i] * scale
        head = np.rint(scaled)
        limbs[k, 0] += np.int64(head)
        limbs[k, 1] += np.int64(np.rint((scaled - head) * _LIMB))


def are_whole(weights: np.ndarray, bits: int = WEIGHT_BITS) -> bool:
    """Return whether the weights of every line are whole numbers that add up to less than 2^bits."""
    for some in (weights[..., :_LOOK], weights) if weights.shape[-1] > _LOOK else (weights,):
        if (some != np.floor(some)).any():
            return False
    return bool(weights.sum(axis=-1).max(initial=0.0) < 2.0**bits)


class GridWeights(NamedTuple):
    """Weights on their grid."""

    row: np.ndarray  # (..., n_rows) int64
    step: float  # the weight of 1
    whole_weights: bool  # they are unchanged


def weights_to_grid(weights: np.ndarray, bits: int = WEIGHT_BITS) -> GridWeights:
    """Return the weights of every line as whole numbers that add up to less than 2^bits.

    >>> weights_to_grid(np.array([0.5, 0.25]), 4)
    GridWeights(row=array([8, 4]), step=0.0625, whole_weights=False)
    """
    if are_whole(weights, bits):
        return GridWeights(weights.astype(np.int64), 1.0, True)
    step = 1.0 / scale_for(float(weights.sum(axis=-1).max()), bits)
    return GridWeights(np.rint(weights / step).astype(np.int64), step, False)
