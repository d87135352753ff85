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
Kernels round halves up (`to_grid`); arrays are rounded by NumPy's `rint`, halves to even numbers.

>>> float(2.0 ** shift_for(3.0, 10)), bits_of_each(1000)
(256.0, 51)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, subkernel

__all__ = [
    "SUM_BITS",
    "WEIGHT_BITS",
    "GridWeights",
    "are_whole",
    "bits_of_each",
    "scale_for",
    "shift_for",
    "to_grid",
    "weights_to_grid",
]

SUM_BITS = 61  # bits of a sum; the difference of two sums fits into int64
WEIGHT_BITS = 53
_MOST_SHIFT = 1000  # beyond, 2^s is not a float64
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
