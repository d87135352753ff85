"""A compiled kernel as bytes: what they are called, how they are made, and who may have written them.

A kernel is called by a hash of everything it was made from:

    function ── its module and the modules of the engine that one imports ── Python, Numba, llvmlite, platform
    types it is called with ── the CPU, or a baseline that many CPUs have

so code that does not fit is never found, and whoever compiles the same thing writes the same file. The
bytes are what Numba itself would keep, compressed, which also detects damage. They are machine code, and to
read them is to run them: hence `is_private`.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

from arboretum.engine.compiler import private

__all__ = ["decode", "encode", "identify", "is_private", "made_with", "name_of"]


@cache
def made_with() -> str:
    """Return what compiled code depends on besides its source and its CPU."""
    python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    versions = ", ".join(f"{name} {version}" for name, version in private.VERSIONS.items())
    return f"{python}, {versions}, {private.llvm.get_default_triple()}"


def identify(function: Callable, source_hash: str) -> str:
    """Return what a function is, whatever its types: its name, its byte code, and the text around it."""
    code = hashlib.sha256(function.__code__.co_code)
    if function.__closure__ is not None:
        code.update(private.dumps(tuple(cell.cell_contents for cell in function.__closure__)))
    name = f"{function.__module__}:{function.__qualname__}"
    return f"{name} {source_hash} {code.hexdigest()} {made_with()}"


def name_of(identity: str, signature: Any, cpu: object) -> str:
    """Return the name of a compiled form."""
    return hashlib.sha256(f"{identity}\n{signature}\n{cpu}".encode()).hexdigest()[:32]


def encode(compiled: Any) -> bytes | None:
    """Return compiled code as bytes; None if it holds addresses of this process."""
    parts = private.compiled_parts(compiled)
    return None if parts is None else zlib.compress(private.dumps(parts), 1)


def decode(data: bytes, function: Callable, signature: Any, target_context: Any) -> Any:
    """Return compiled code that can be called; None if it is that of another function or other types."""
    return private.rebuild(pickle.loads(zlib.decompress(data)), function, signature, target_context)


def is_private(found: os.stat_result, *owners: int) -> bool:
    """True if only root, the current user or ``owners`` can write the file of this state.

    A group of the user's own, as many systems have it, has the number of the user.
    """
    if not hasattr(os, "getuid"):  # Windows: directories have lists of who may do what
        return True
    if found.st_uid not in (0, os.geteuid(), *owners) or found.st_mode & stat.S_IWOTH:
        return False
    return not found.st_mode & stat.S_IWGRP or found.st_gid == found.st_uid
