"""Pessimistic errors: how many errors a leaf that made e on N training cases is held to.

quinlan    release 8 of C4.5: exact for e = 0, Wilson's interval with half a case more from e = 1,
           a straight line between; the normal deviate z read off a table of nine
weka       the same with the exact z, and all cases wrong where the half case is too much
binomial   the exact upper limit: U with P(at most e of N wrong | U) = CF, a quantile of the beta
           distribution, found by halving the interval
"""

import math
from typing import NamedTuple

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.elementary import exp, log, log1p, log_gamma

__all__ = ["BINOMIAL", "QUINLAN", "WEKA", "ErrorLimit", "extra_errors", "extra_errors_of"]

QUINLAN, WEKA, BINOMIAL = 0, 1, 2
_SMALL = 1e-300  # stands for 0 where a fraction is about to divide by it


class ErrorLimit(NamedTuple):
    """How the errors of a leaf are estimated."""

    formula: int  # QUINLAN, WEKA or BINOMIAL
    confidence: float  # CF
    deviate: float  # the normal deviate of CF


@subkernel
def _beta_fraction(a, b, x):
    """The continued fraction of the incomplete beta function, from the front (Lentz's method)."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _SMALL else _SMALL)
    value = d
    for m in range(1, 500):
        for odd in range(2):
            if odd:
                term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
            else:
                term = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > _SMALL else _SMALL)
            c = 1.0 + term / c
            c = c if abs(c) > _SMALL else _SMALL
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


@subkernel
def _beta_below(a, b, x):
    """Return the share of the beta distribution below x."""
    scale = log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    front = exp(scale + a * log(x) + b * log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _beta_fraction(a, b, x) / a
    return 1.0 - front * _beta_fraction(b, a, 1.0 - x) / b


@subkernel
def _binomial_limit(n, e, confidence):
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        if _beta_below(e + 1.0, n - e, middle) < 1.0 - confidence:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@subkernel
def extra_errors(n, e, limit):
    """Return what to add to the e errors of a leaf with n cases."""
    confidence, z = limit.confidence, limit.deviate
    if n <= 0.0:
        return 0.0
    if limit.formula == BINOMIAL:
        wrong = max(e, 0.0)
        return n - e if wrong >= n else n * _binomial_limit(n, wrong, confidence) - e
    none_wrong = n * (1.0 - exp(log(confidence) / n))
    if e < 1e-6:
        return none_wrong
    wrong = e if e >= 0.9999 else 1.0
    if wrong + 0.5 >= n:
        more = 0.67 * (n - wrong) if limit.formula == QUINLAN else max(n - wrong, 0.0)
    else:
        half = wrong + 0.5
        root = math.sqrt(half * (1.0 - half / n) + z * z / 4.0)
        more = n * (half + z * z / 2.0 + z * root) / (n + z * z) - wrong
    return more if e >= 0.9999 else none_wrong + e * (more - none_wrong)


@kernel
def extra_errors_of(n, e, limit, out):
    """Write `extra_errors` of many leaves.

    n, e (n_leaves,) float64; out (n_leaves,) float64, written.
    """
    for i in range(len(n)):
        out[i] = extra_errors(n[i], e[i], limit)
