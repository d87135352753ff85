"""`@kernel`, `@addressed`, `@subkernel`, `@inline`: how a plain Python function becomes compiled code.

Every kernel is an ordinary module-level function on arrays and numbers. It is compiled by Numba on
first use, runs without the GIL, checks no bounds and follows strict IEEE arithmetic: no fastmath, so
that a sum means the same thing on every machine, and a division by zero gives inf or nan. With
``NUMBA_DISABLE_JIT=1`` a kernel is the Python function itself and can be stepped through; with
``NUMBA_BOUNDSCHECK=1`` every index is checked.

What a kernel calls is compiled into it and compiled code is kept on disk (cache.py), with versions of Numba
that were tested (private.py). With others all four are `numba.njit`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

from arboretum.engine.compiler import private
from arboretum.engine.compiler.cache import KernelCache, writable_cache
from arboretum.engine.compiler.private import LINKED, TESTED, UNTESTED
from arboretum.engine.compiler.signatures import RECORD, record

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
_CACHE = writable_cache() if LINKED else None

if UNTESTED:
    logging.getLogger("arboretum").warning(
        f"arboretum was tested with Numba {TESTED[0]} to {TESTED[-1]}. With {numba.__version__} kernels take "
        "longer to compile and are not kept on disk: pip install 'arboretum-trees[kernels]'"
    )


def kernel(function: F | None = None, *, makes_arrays: bool = False) -> Any:
    """Compile ``function`` on first use; it runs without the GIL and is cached on disk.

    ``makes_arrays`` is for functions that make or return arrays, or call one that does. Others count no
    references: Numba else counts one to every array at every call, which costs more than a small node.
    """

    def decorate(function: F) -> Any:
        if not LINKED:
            return _plain(function)
        return _linked(function, _nrt=makes_arrays)

    return decorate if function is None else decorate(function)


def addressed(function: F) -> F:
    """`kernel` that kernels call by its address (compiler/by_address.py) and Python never does.

    What Python would call, which takes every field out of every NamedTuple, is not compiled.
    """
    if not LINKED:
        return _plain(function)
    return _linked(function, _nrt=False, no_cpython_wrapper=True)


def subkernel(function: F | None = None, *, makes_arrays: bool = False) -> Any:
    """Compile ``function`` into the kernels that call it; if Python calls it, it runs as Python."""
    return _into_callers(function, _nrt=makes_arrays)


def inline(function: F | None = None, *, makes_arrays: bool = False) -> Any:
    """`subkernel` that LLVM puts into its callers.

    For small helpers inside hot loops, and for functions of many arrays that are called from one place, at
    every small node: no arguments are passed.
    """
    return _into_callers(function, _nrt=makes_arrays, forceinline=True)


def _linked(function: F, **options: Any) -> F:
    compiled = private.linked(function, KernelCache(function, _CACHE), **options)
    if RECORD:
        record(compiled)
    return compiled


def _into_callers(function: F | None, **options: Any) -> Any:
    def decorate(function: F) -> Any:
        return private.inlined(function, **options) if LINKED else _plain(function)

    return decorate if function is None else decorate(function)


def _plain(function: F) -> F:
    """Return what Numba makes of a function; if nothing is compiled, the function itself.

    Its arithmetic is as silent as that of compiled code.
    """
    if not COMPILED:
        return np.errstate(all="ignore")(function)
    return numba.njit(nogil=True, error_model="numpy")(function)


def writable(array: np.ndarray) -> np.ndarray:
    """Return the array, C-contiguous, or a copy if it is read-only.

    To Numba a read-only array is another type, for which every kernel would be compiled anew.
    """
    flags = array.flags  # first, because NumPy's own rule takes longer than to sort a small column
    if flags.c_contiguous and flags.writeable:
        return array
    return np.require(array, requirements=["C", "W"])
