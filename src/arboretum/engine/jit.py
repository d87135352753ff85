"""`@kernel`: how a plain Python function becomes compiled code.

Every kernel is an ordinary module-level function on arrays and numbers. It is compiled by Numba on
first use, runs without the GIL, checks no bounds and follows strict IEEE arithmetic: no fastmath, so
that a sum means the same thing on every machine, and a division by zero gives inf or nan. With
``NUMBA_DISABLE_JIT=1`` a kernel is the Python function itself and can be stepped through; with
``NUMBA_BOUNDSCHECK=1`` every index is checked.

Compiled code is kept on disk (engine/kernel_cache.py).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numba
import numpy as np
from numba.extending import register_jitable

from arboretum.engine.kernel_cache import KernelCache, writable_cache

__all__ = [
    "COMPILED",
    "inline",
    "joined_kernel",
    "kernel",
    "leaf_kernel",
    "plain_kernel",
    "shared",
    "subkernel",
    "writable",
]

F = TypeVar("F", bound=Callable)
COMPILED = not numba.config.DISABLE_JIT
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


_CACHE = writable_cache()


def kernel(function: F) -> F:
    """Compile ``function`` on first use; it runs without the GIL and is cached on disk."""
    return _compiled(function)


def subkernel(function: F) -> F:
    """Compile ``function`` for other kernels to call; Python itself cannot, which saves a wrapper."""
    return _compiled(function, no_cpython_wrapper=True)


def plain_kernel(function: F) -> F:
    """`kernel` for functions that make no arrays, as `leaf_kernel` is `subkernel`."""
    return _compiled(function, _nrt=False)


def leaf_kernel(function: F) -> F:
    """`subkernel` for functions that make and return no arrays: they count no references.

    Numba else counts a reference to every array at every call, which costs more than a small node.
    """
    return _compiled(function, no_cpython_wrapper=True, _nrt=False)


def joined_kernel(function: F) -> F:
    """`leaf_kernel` that LLVM puts into its callers: nothing is handed over.

    For functions of many arrays that are called from one place, at every small node.
    """
    return _compiled(function, no_cpython_wrapper=True, _nrt=False, forceinline=True)


def _compiled(function: F, **options: bool) -> F:
    if numba.config.DISABLE_JIT:
        return _interpreted(function)
    options = _OPTIONS | options
    compiled = numba.njit(**options)(function)
    if _CACHE is not None and Path(function.__code__.co_filename).is_file():
        compiled._cache = KernelCache(function, _CACHE)
    return compiled


def inline(function: F) -> F:
    """Compile ``function`` into its callers; for small helpers inside hot loops."""
    if numba.config.DISABLE_JIT:
        return _interpreted(function)
    return numba.njit(**_OPTIONS, inline="always")(function)


def shared(function: F) -> F:
    """Leave ``function`` as it is, and let kernels call it, too: a rule that Python and kernels share."""
    return register_jitable(**_OPTIONS)(function)


def writable(array: np.ndarray) -> np.ndarray:
    """Return the array, C-contiguous, or a copy if it is read-only.

    To Numba a read-only array is another type, for which every kernel would be compiled anew.
    """
    return np.require(array, requirements=["C", "W"])


def _interpreted(function: F) -> F:
    """Return the Python function itself, its arithmetic as silent as that of compiled code."""
    return np.errstate(all="ignore")(function)
