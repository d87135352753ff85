"""The functions of elementary.py for Python: float64 of any shape in, the same shape out."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["exp", "expm1", "log", "log1p", "log2", "log_gamma", "one_probability", "power"]
__all__ += ["probability", "softplus"]


def _of_each(loop: str, *given: Any) -> Any:
    """Run a loop of elementary_loops.py over arrays of one shape."""
    from arboretum.engine import elementary_loops  # compiled: not at import
    from arboretum.engine.jit import writable

    arrays = [np.asarray(x, dtype=np.float64) for x in given]
    out = np.empty(arrays[0].size)
    getattr(elementary_loops, loop)(*(writable(x.reshape(-1)) for x in arrays), out)
    return out if arrays[0].ndim == 1 else out.reshape(arrays[0].shape)[()]


def one_probability(x: float) -> float:
    """Return 1 / (1 + e**-x) of one float."""
    from arboretum.engine.elementary_loops import one_probability

    return one_probability(x)


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


def power(x: Any, y: Any) -> Any:
    """Return x**y for x of 0 or more."""
    return _of_each("power_each", *map(np.array, np.broadcast_arrays(x, y)))
