"""`@kernel`: how a plain Python function becomes compiled code.

Every kernel is an ordinary module-level function on arrays and numbers. It is compiled by Numba on
first use, runs without the GIL, checks no bounds and follows strict IEEE arithmetic (no fastmath), so
that a sum means the same thing on every machine. With ``NUMBA_DISABLE_JIT=1`` a kernel is the Python
function itself and can be stepped through; with ``NUMBA_BOUNDSCHECK=1`` every index is checked.

Compiled code is kept on disk. Numba only notices an edit in the file a function stands in, not in the
functions it calls, so the cache directory carries a hash of all engine sources and the version:

    <user cache>/arboretum/kernels-0.1.0-3f2a90c1/
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numba

import arboretum

__all__ = ["cache_directory", "inline", "kernel"]

F = TypeVar("F", bound=Callable)


def cache_directory() -> Path:
    """Return where compiled kernels are kept; ``ARBORETUM_CACHE_DIR`` moves it."""
    base = os.environ.get("ARBORETUM_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if base:
        root = Path(base)
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches" / "arboretum"
    elif os.name == "nt":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home())) / "arboretum" / "cache"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "arboretum"
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return root / f"kernels-{arboretum.__version__}-{digest.hexdigest()[:8]}"


def _writable_cache() -> str:
    """Return the cache directory, or a private temporary one where it cannot be written."""
    wanted = cache_directory()
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            return str(wanted)
    except OSError:
        return str(Path(tempfile.gettempdir()) / f"arboretum-{os.getuid()}" / wanted.name)


_CACHE = _writable_cache()


def kernel(function: F) -> F:
    """Compile ``function`` on first use; it runs without the GIL and is cached on disk."""
    # Numba takes its cache directory from a global setting at decoration: lend it ours.
    theirs = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _CACHE
    try:
        return numba.njit(nogil=True, cache=True)(function)
    finally:
        numba.config.CACHE_DIR = theirs


def inline(function: F) -> F:
    """Compile ``function`` into its callers; for small helpers inside hot loops."""
    return numba.njit(nogil=True, inline="always")(function)
