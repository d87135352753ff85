"""The functions of elementary.py for Python: float64 of any shape in, the same shape out."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

__all__ = ["exp", "expm1", "log", "log1p", "log2", "log_gamma", "one_probability", "power"]
__all__ += ["probability", "softmax", "softplus"]


@cache
def _loop(name: str) -> Any:
    """Return a loop of elementary_loops.py, which is compiled and therefore imported only when needed."""
    from arboretum.engine import elementary_loops

    return getattr(elementary_loops, name)


def _of_each(loop: str, x: Any) -> Any:
    """Run a loop over an array, or over one number."""
    if isinstance(x, float | int):  # also NumPy's float64; the general way below is slower
        one = np.array([x], dtype=np.float64)
        _loop(loop)(one, one)
        return one[0]
    x = np.asarray(x, dtype=np.float64)
    flat = x if x.ndim == 1 and x.flags.carray else _flat(x)
    out = np.empty(len(flat))
    _loop(loop)(flat, out)
    return out if x.ndim == 1 else out.reshape(x.shape)[()]


def _flat(x: np.ndarray) -> np.ndarray:
    """Return a one-dimensional, contiguous and writable array, as the kernels expect."""
    flat = x.ravel()
    return flat if flat.flags.writeable else flat.copy()


def one_probability() -> Any:
    """Return the kernel that computes 1 / (1 + e**-x) of one float, in a fifth of the time of an array."""
    return _loop("one_probability")


def exp(x: Any) -> Any:
    """Return e**x."""
    return _of_each("exp_each", x)


def expm1(x: Any) -> Any:
    """Return e**x - 1."""
    return _of_each("expm1_each", x)


def log(x: Any) -> Any:
    """Return the natural logarithm: -inf of 0, NaN below.

    >>> log([1.0, 0.0]), log(np.e)
    (array([  0., -inf]), np.float64(1.0))
    """
    return _of_each("log_each", x)


def log1p(x: Any) -> Any:
    """Return log(1 + x)."""
    return _of_each("log1p_each", x)


def log2(x: Any) -> Any:
    """Return the logarithm to base 2."""
    return _of_each("log2_each", x)


def log_gamma(x: Any) -> Any:
    """Return the logarithm of the gamma function of numbers above 0."""
    return _of_each("log_gamma_each", x)


def probability(x: Any) -> Any:
    """Return 1 / (1 + e**-x)."""
    return _of_each("probability_each", x)


def softplus(x: Any) -> Any:
    """Return log(1 + e**x)."""
    return _of_each("softplus_each", x)


def softmax(x: Any) -> Any:
    """Return e**x / Σ e**x over the columns of a table.

    >>> softmax([[0.0, 0.0], [1000.0, 0.0]]).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    x = np.require(x, np.float64, ["C", "W"])
    out = np.empty(x.shape)
    _loop("softmax_rows")(x, out, out.reshape(-1))
    return out


def power(x: Any, y: Any) -> Any:
    """Return x**y for x of 0 or more."""
    x, y = (np.array(each, dtype=np.float64) for each in np.broadcast_arrays(x, y))
    out = np.empty(x.shape)
    _loop("power_each")(x.ravel(), y.ravel(), out.reshape(-1))
    return out if out.ndim else out[()]
