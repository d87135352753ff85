"""Exponentials, logarithms and powers that have the same bits on every machine.

NumPy chooses its exp and log by the processor (AVX-512 or not), the system's library does the same (FMA or
not) and differs from one release to the next. Models and predictions are computed with these functions
instead. They use +, -, *, /, comparisons and bits of floats only, which IEEE 754 defines to the last bit; no
a·b + c is fused into one operation, because Numba lets LLVM do that only under fastmath, which no kernel has.

    exp     x = k ln 2 + r, |r| <= ln 2 / 2       e**x = 2**k · e**r, e**r by its Taylor polynomial
    log     x = 2**k (1 + f), 1 + f in [√½, √2)   log(1 + f) = 2 artanh(s), s = f / (2 + f), by its series
    pow     x**y = e**(y log x), the logarithm and its product with y as sums of two floats

k is found by adding and subtracting 1.5 · 2**52, which rounds to a whole number. The functions have no
branches, so that LLVM turns loops over them into vector instructions; but for `power` and `log_gamma`.
Errors are about one unit in the last place (tests/engine/test_elementary.py). `elementwise.py` has them for
arrays, to be called from Python.
"""

import numpy as np

from arboretum.engine.compiler.decorators import inline, subkernel

__all__ = ["bounded_exp", "exp", "expm1", "log", "log1p", "log2", "log_gamma", "power"]
__all__ += ["probability"]

_LOG2_E = 1.4426950408889634
_ROUND = 6755399441055744.0  # 1.5 · 2**52: a sum with it is rounded to a whole number
_LN2_HIGH = 6.93147180369123816490e-01  # few enough digits that k times it is exact
_LN2_LOW = 1.90821492927058770002e-10
_LOG2_E_HIGH = 1.44269504072144627571e00  # 1 / ln 2 in 21 bits, and the rest
_LOG2_E_LOW = 1.67517131648865118353e-10
_TWO_THIRDS_LOW = 3.700743415417188e-17  # 2/3 minus the nearest float
_HALF_LOG_TAU = 0.9189385332046728  # ln √(2π)
_SMALLEST = 2.2250738585072014e-308  # below it floats have fewer digits
_ROOT_HALF = np.uint64(0x3FE6A09E667F3BCD)  # bits of √½
_HIGH_HALF = np.uint64(0xFFFFFFFF00000000)
_EXPONENT = np.uint64(52)  # bits below the exponent of a float64
_BIAS = np.uint64(1024)
_TWO_52 = np.uint64(0x4330000000000000)  # bits of 2**52; whole numbers below it are its low bits


# --------------------------------------------------------------------------- exponentials
@inline
def _two_to(k):
    """Return 2**k of a whole number from -1022 to 1023: its low bits, moved into the exponent."""
    exponent = np.float64(k + _ROUND).view(np.int64) + 1023
    return np.int64(exponent << 52).view(np.float64)


@inline
def _exp_series(r):
    """Return (e**r - 1 - r - r²/2) / r³ for |r| <= ln 2 / 2."""
    p = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0)
    p = 1.0 / 39916800.0 + r * p
    p = 1.0 / 3628800.0 + r * p
    p = 1.0 / 362880.0 + r * p
    p = 1.0 / 40320.0 + r * p
    p = 1.0 / 5040.0 + r * p
    p = 1.0 / 720.0 + r * p
    p = 1.0 / 120.0 + r * p
    p = 1.0 / 24.0 + r * p
    return 1.0 / 6.0 + r * p


@inline
def _exp_of_rest(r):
    """Return e**r for |r| <= ln 2 / 2."""
    return 1.0 + r * (1.0 + r * (0.5 + r * _exp_series(r)))


@inline
def bounded_exp(x):
    """Return e**x; x beyond ±708 counts as ±708, so that it is above 0 and finite."""
    x = -708.0 if x < -708.0 else x
    x = 708.0 if x > 708.0 else x
    k = (x * _LOG2_E + _ROUND) - _ROUND
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    return _exp_of_rest(r) * _two_to(k)


@inline
def exp(x):
    """Return e**x; `bounded_exp` gives the same bits where it is not bounded."""
    x = -746.0 if x < -746.0 else x
    x = 710.0 if x > 710.0 else x
    k = (x * _LOG2_E + _ROUND) - _ROUND
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    half = (0.5 * k + _ROUND) - _ROUND  # 2**k itself may be no float
    return _exp_of_rest(r) * _two_to(half) * _two_to(k - half)


@inline
def expm1(x):
    """Return e**x - 1, exact where x is small too."""
    y = -60.0 if x < -60.0 else x
    y = 710.0 if y > 710.0 else y
    k = (y * _LOG2_E + _ROUND) - _ROUND
    first = y - k * _LN2_HIGH
    r = first - k * _LN2_LOW
    rest = (first - r) - k * _LN2_LOW  # what the subtraction rounded away
    small = r * r * (0.5 + r * _exp_series(r)) + rest  # e**r - 1 - r
    scale = _two_to(k - 1.0)
    one, many = scale - 0.5, scale * r
    total = one + many  # half of 2**k - 1 + 2**k r, and what its rounding leaves out
    back = total - one
    lost = (one - (total - back)) + (many - back)
    found = 2.0 * (total + (lost + scale * small))
    return x if abs(x) < 5.551115123125783e-17 else found  # 2**-54; -0 stays -0


@inline
def probability(x):
    """Return 1 / (1 + e**-x)."""
    e = exp(-abs(x))
    return (1.0 if x >= 0.0 else e) / (1.0 + e)


# --------------------------------------------------------------------------- logarithms
@inline
def _parts(x):
    """Return k and f of x = 2**k (1 + f), √½ <= 1 + f < √2; x is above 0 and finite."""
    tiny = x < _SMALLEST
    bits = np.float64(x * (18014398509481984.0 if tiny else 1.0)).view(np.uint64)  # 2**54
    k = (bits - _ROOT_HALF + (_BIAS << _EXPONENT)) >> _EXPONENT
    one_and_f = np.uint64(bits - ((k - _BIAS) << _EXPONENT)).view(np.float64)
    whole = np.uint64(k | _TWO_52).view(np.float64) - (4503599627370496.0 + 1024.0)
    return whole - (54.0 if tiny else 0.0), one_and_f - 1.0


@inline
def _artanh_series(z):
    """Return the series of 2 artanh(√z) / √z for z up to 0.0295, but for 2 + 2/3 z, over z²."""
    p = 2.0 / 21.0 + z * (2.0 / 23.0)
    p = 2.0 / 19.0 + z * p
    p = 2.0 / 17.0 + z * p
    p = 2.0 / 15.0 + z * p
    p = 2.0 / 13.0 + z * p
    p = 2.0 / 11.0 + z * p
    p = 2.0 / 9.0 + z * p
    p = 2.0 / 7.0 + z * p
    return 2.0 / 5.0 + z * p


@inline
def _artanh_rest(z):
    """Return 2 artanh(√z) / √z - 2."""
    return z * (2.0 / 3.0 + z * _artanh_series(z))


@inline
def _at_ends(x, found):
    """Return ``found``, the logarithm of x, corrected where x is not a finite number above 0."""
    found = x if x == np.inf else found
    found = -np.inf if x == 0.0 else found
    return found if x >= 0.0 else np.nan


@inline
def _log(x, more):
    """Return log x + ``more``, which is small, for x above 0."""
    k, f = _parts(x)
    s = f / (2.0 + f)
    half = 0.5 * f * f
    # 2s = f - f²/2 + s f²/2: f is exact, so that nothing is lost where x is near 1
    low = s * (half + _artanh_rest(s * s)) + (k * _LN2_LOW + more)
    return k * _LN2_HIGH - ((half - low) - f)


@inline
def log(x):
    """Return the natural logarithm."""
    return _at_ends(x, _log(x, 0.0))


@inline
def log1p(x):
    """Return log(1 + x), exact where x is small too."""
    u = 1.0 + x
    lost = (x - (u - 1.0)) if x < 1.0 else (1.0 - (u - x))
    found = _at_ends(u, _log(u, lost / u))
    return x if abs(x) < 5.551115123125783e-17 else found


@inline
def log2(x):
    """Return the logarithm to base 2, exact for powers of 2."""
    k, f = _parts(x)
    s = f / (2.0 + f)
    half = 0.5 * f * f
    high = np.uint64(np.float64(f - half).view(np.uint64) & _HIGH_HALF).view(np.float64)
    low = ((f - high) - half) + s * (half + _artanh_rest(s * s))
    first = high * _LOG2_E_HIGH  # exact
    rest = (low + high) * _LOG2_E_LOW + low * _LOG2_E_HIGH
    total = k + first
    rest += (k - total) + first
    return _at_ends(x, total + rest)


# --------------------------------------------------------------------------- powers
@inline
def _product(a, b):
    """Return a·b and what its rounding leaves out (Dekker 1971)."""
    c, d = 134217729.0 * a, 134217729.0 * b  # 2**27 + 1
    a_high, b_high = c - (c - a), d - (d - b)
    a_low, b_low = a - a_high, b - b_high
    p = a * b
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@inline
def _sum(a, b):
    """Return a + b and what its rounding leaves out (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


@subkernel
def _log_in_two(x):
    """Return log x as a sum of two floats, to some 64 bits, for x above 0."""
    k, f = _parts(x)
    below, below_low = _sum(2.0, f)
    s = f / below
    back, back_low = _product(s, below)
    s_low = ((f - back) - back_low - s * below_low) / below
    z, z_low = _product(s, s)
    z_low += 2.0 * s * s_low
    # 2 artanh(s) = s (2 + z (2/3 + z (...))), the inner bracket but for its 2/3 as one float
    t, t_low = _sum(2.0 / 3.0, z * _artanh_series(z))
    t_low += _TWO_THIRDS_LOW
    u, u_low = _product(z, t)
    u_low += z * t_low + z_low * t
    v, v_low = _sum(2.0, u)
    v_low += u_low
    w, w_low = _product(s, v)
    w_low += s * v_low + s_low * v
    high, high_low = _sum(k * _LN2_HIGH, w)
    return _sum(high, high_low + (w_low + k * _LN2_LOW))


@subkernel
def power(x, y):
    """Return x**y for x of 0 or more."""
    if y == 0.0 or x == 1.0:
        return 1.0
    if not (x >= 0.0 and y == y):
        return np.nan
    if x == 0.0 or x == np.inf:
        return x if y > 0.0 else 1.0 / x
    y = min(max(y, -1e20), 1e20)  # no logarithm but 0 is so small that this would change the power
    high, low = _log_in_two(x)
    p, rest = _product(y, high)
    e = exp(p)
    if e == 0.0 or e == np.inf:
        return e
    return e + e * (rest + y * low)


# --------------------------------------------------------------------------- gamma function
@subkernel
def log_gamma(x):
    """Return log Γ(x) for x above 0, to 1e-14 of itself or of 1; exact logarithms of small factorials.

    Stirling's series from 9 on; smaller x are moved there by Γ(x + 1) = x Γ(x).
    """
    if not 0.0 < x < np.inf:
        return np.inf if x >= 0.0 else np.nan
    moved = 1.0
    if x < 23.0 and x == np.floor(x):
        while x > 2.0:
            x -= 1.0
            moved *= x
        return log(moved)
    while x < 9.0:
        moved *= x
        x += 1.0
    z = 1.0 / (x * x)
    series = 691.0 / 360360.0 - z * (1.0 / 156.0 - z * (3617.0 / 122400.0))
    series = 1.0 / 1260.0 - z * (1.0 / 1680.0 - z * (1.0 / 1188.0 - z * series))
    series = 1.0 / 12.0 - z * (1.0 / 360.0 - z * series)
    return (x - 0.5) * (log(x) - 1.0) - 0.5 + _HALF_LOG_TAU + series / x - log(moved)
