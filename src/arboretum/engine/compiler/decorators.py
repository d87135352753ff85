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

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

from arboretum.engine.compiler.cache import keep_compiled, writable_cache
from arboretum.engine.compiler.linking import KernelCompiler, call_as_part, for_kernels

__all__ = [
    "COMPILED",
    "addressed",
    "inline",
    "kernel",
    "subkernel",
    "writable",
]

F = TypeVar("F", bound=Callable)
COMPILED = not numba.config.DISABLE_JIT
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


_CACHE = writable_cache()


def kernel(function: F | None = None, *, makes_arrays: bool = False) -> Any:
    """Compile ``function`` on first use; it runs without the GIL and is cached on disk.

    ``makes_arrays`` is for functions that make or return arrays, or call one that does. Others count no
    references: Numba else counts one to every array at every call, which costs more than a small node.
    """
    return _decorate(_called_by_python, function, _nrt=makes_arrays)


def addressed(function: F) -> F:
    """`kernel` that kernels call by its address (compiler/by_address.py) and Python never does.

    What Python would call, which takes every field out of every NamedTuple, is not compiled.
    """
    return _called_by_python(function, _nrt=False, no_cpython_wrapper=True)


def subkernel(function: F | None = None, *, makes_arrays: bool = False) -> Any:
    """Compile ``function`` into the kernels that call it; if Python calls it, it runs as Python."""
    return _decorate(_called_by_kernels, function, _nrt=makes_arrays)


def inline(function: F | None = None, *, makes_arrays: bool = False) -> Any:
    """`subkernel` that LLVM puts into its callers.

    For small helpers inside hot loops, and for functions of many arrays that are called from one place, at
    every small node: nothing is handed over.
    """
    return _decorate(_called_by_kernels, function, _nrt=makes_arrays, forceinline=True)


def _decorate(compiled: Callable, function: F | None, **options: Any) -> Any:
    """Return the compiled function, or what makes it: decorators stand with options and without."""
    decorate = functools.partial(compiled, **options)
    return decorate if function is None else decorate(function)


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
