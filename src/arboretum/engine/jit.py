"""`@kernel`: how a plain Python function becomes compiled code.

Every kernel is an ordinary module-level function on arrays and numbers. It is compiled by Numba on
first use, runs without the GIL, checks no bounds and follows strict IEEE arithmetic: no fastmath, so
that a sum means the same thing on every machine, and a division by zero gives inf or nan. With
``NUMBA_DISABLE_JIT=1`` a kernel is the Python function itself and can be stepped through; with
``NUMBA_BOUNDSCHECK=1`` every index is checked.

Compiled code is kept on disk. Numba only notices an edit in the file a function stands in, not in the
functions it calls, so the cache directory carries a hash of all engine sources and the version:

    <user cache>/arboretum/kernels-0.1.0-3f2a90c1/
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numba
import numpy as np

import arboretum

__all__ = [
    "COMPILED",
    "cache_directory",
    "inline",
    "joined_kernel",
    "kernel",
    "leaf_kernel",
    "plain_kernel",
    "subkernel",
    "writable",
]

F = TypeVar("F", bound=Callable)
COMPILED = not numba.config.DISABLE_JIT
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def cache_directory() -> Path:
    """Return where compiled kernels are kept; ``ARBORETUM_CACHE_DIR`` moves it."""
    return _user_cache() / _kernel_set()


def _user_cache() -> Path:
    base = os.environ.get("ARBORETUM_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if base:
        return Path(base)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "arboretum"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "arboretum" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "arboretum"


def _kernel_set() -> str:
    """Name the kernels of this version, these sources and this way of compiling."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    name = f"kernels-{arboretum.__version__}-{digest.hexdigest()[:8]}"
    # Numba does not tell checked code from unchecked code when it reads its cache
    return f"{name}-checked" if numba.config.BOUNDSCHECK else name


def _writable_cache() -> str | None:
    """Return a directory that can be written: the user's, a private temporary one, or none."""
    for find in (cache_directory, _private_temporary):
        try:
            directory = find()
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                return str(directory)
        except (OSError, RuntimeError):  # read-only, full, or a user without a home
            continue
    return None


def _private_temporary() -> Path:
    """Return a directory under the temporary one that nobody else can have put code into."""
    if not hasattr(os, "getuid"):  # on Windows the temporary directory is the user's own
        return Path(tempfile.gettempdir()) / "arboretum" / _kernel_set()
    private = Path(tempfile.gettempdir()) / f"arboretum-{os.getuid()}"
    private.mkdir(mode=0o700, exist_ok=True)
    found = private.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise OSError(f"{private} is not this user's own")
    return private / _kernel_set()


_CACHE = _writable_cache()


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
    if _CACHE is None:
        return numba.njit(**options)(function)
    # Numba takes its cache directory from a global setting at decoration: lend it ours.
    theirs = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _CACHE
    try:
        return numba.njit(**options, cache=True)(function)
    finally:
        numba.config.CACHE_DIR = theirs


def inline(function: F) -> F:
    """Compile ``function`` into its callers; for small helpers inside hot loops."""
    if numba.config.DISABLE_JIT:
        return _interpreted(function)
    return numba.njit(**_OPTIONS, inline="always")(function)


def writable(array: np.ndarray) -> np.ndarray:
    """Return the array, C-contiguous, or a copy if it is read-only.

    To Numba a read-only array is another type, for which every kernel would be compiled anew.
    """
    return np.require(array, requirements=["C", "W"])


def _interpreted(function: F) -> F:
    """Return the Python function itself, its arithmetic as silent as that of compiled code."""
    return np.errstate(all="ignore")(function)
