"""`@kernel`: how a plain Python function becomes compiled code.

Every kernel is an ordinary module-level function on arrays and numbers. It is compiled by Numba on
first use, runs without the GIL, checks no bounds and follows strict IEEE arithmetic: no fastmath, so
that a sum means the same thing on every machine, and a division by zero gives inf or nan. With
``NUMBA_DISABLE_JIT=1`` a kernel is the Python function itself and can be stepped through; with
``NUMBA_BOUNDSCHECK=1`` every index is checked.

What a kernel calls is compiled into it (engine/compiler/linking.py); compiled code is kept on disk
(engine/compiler/cache.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numba.extending import register_jitable

from arboretum.engine.compiler.cache import keep_compiled, writable_cache
from arboretum.engine.compiler.linking import KernelCompiler, call_as_part, for_kernels

__all__ = [
    "COMPILED",
    "addressed_kernel",
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
    return _called_by_python(function)


def plain_kernel(function: F) -> F:
    """`kernel` for functions that make no arrays, as `leaf_kernel` is `subkernel`."""
    return _called_by_python(function, _nrt=False)


def addressed_kernel(function: F) -> F:
    """`plain_kernel` that kernels call by its address (compiler/by_address.py) and Python never does.

    What Python would call, which takes every field out of every NamedTuple, is not compiled.
    """
    return _called_by_python(function, _nrt=False, no_cpython_wrapper=True)


def subkernel(function: F) -> F:
    """Compile ``function`` into the kernels that call it; Python itself cannot."""
    return _called_by_kernels(function)


def leaf_kernel(function: F) -> F:
    """`subkernel` for functions that make and return no arrays: they count no references.

    Numba else counts a reference to every array at every call, which costs more than a small node.
    """
    return _called_by_kernels(function, _nrt=False)


def joined_kernel(function: F) -> F:
    """`leaf_kernel` that LLVM puts into its callers: nothing is handed over.

    For functions of many arrays that are called from one place, at every small node.
    """
    return _called_by_kernels(function, _nrt=False, forceinline=True)


def inline(function: F) -> F:
    """`subkernel` that LLVM puts into its callers; for small helpers inside hot loops."""
    return _called_by_kernels(function, forceinline=True)


def _called_by_python(function: F, **options: Any) -> F:
    if numba.config.DISABLE_JIT:
        return _interpreted(function)
    if KernelCompiler is None:
        compiled = numba.njit(**_OPTIONS, **options)(function)
    else:
        compiled = numba.njit(**_OPTIONS, **options, pipeline_class=KernelCompiler)(function)
        compiled = call_as_part(compiled, _called_by_kernels(function, **options))
    keep_compiled(compiled, _CACHE)
    return compiled


def _called_by_kernels(function: F, **options: Any) -> F:
    if numba.config.DISABLE_JIT:
        return _interpreted(function)
    options["no_cpython_wrapper"] = True
    return for_kernels(numba.njit(**_OPTIONS, **options)(function))


def shared(function: F) -> F:
    """Leave ``function`` as it is, and let kernels call it, too: a rule that Python and kernels share."""
    return register_jitable(**_OPTIONS)(function)


def writable(array: np.ndarray) -> np.ndarray:
    """Return the array, C-contiguous, or a copy if it is read-only.

    To Numba a read-only array is another type, for which every kernel would be compiled anew.
    """
    flags = array.flags  # asked first: NumPy's own rule takes longer than to sort a small column
    if flags.c_contiguous and flags.writeable:
        return array
    return np.require(array, requirements=["C", "W"])


def _interpreted(function: F) -> F:
    """Return the Python function itself, its arithmetic as silent as that of compiled code."""
    return np.errstate(all="ignore")(function)
