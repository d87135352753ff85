"""A compiled kernel as bytes: what they are called, how they are made, and who may have written them.

A kernel is called by a hash of everything it was made from:

    function ── its module and the modules of the engine that one imports ── Python, Numba, llvmlite, platform
    types it is called with ── the CPU, or a baseline that many CPUs have

so code that does not fit is never found, and whoever compiles the same thing writes the same file. The
bytes are what Numba itself would keep, compressed, which also tells damage. They are machine code, and to
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

import llvmlite
import numba
from llvmlite import binding as llvm
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from arboretum.engine.compiler.linking import KernelCompiler

__all__ = ["decode", "encode", "identify", "is_private", "made_with", "name_of"]

_LIBRARY, _FUNCTION, _SIGNATURE, _ANNOTATION, _ENVIRONMENTS = (
    0,
    1,
    3,
    6,
    8,
)  # places in what Numba keeps


@cache
def made_with() -> str:
    """Return what compiled code depends on besides its source and its CPU."""
    python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    versions = f"numba {numba.__version__}, llvmlite {llvmlite.__version__}"
    return f"{python}, {versions}, {llvm.get_default_triple()}"


def identify(function: Callable, source_hash: str) -> str:
    """Return what a function is, whatever its types: its name, its byte code, and the text around it."""
    code = hashlib.sha256(function.__code__.co_code)
    if function.__closure__ is not None:
        code.update(dumps(tuple(cell.cell_contents for cell in function.__closure__)))
    name = f"{function.__module__}:{function.__qualname__}"
    return f"{name} {source_hash} {code.hexdigest()} {made_with()}"


def name_of(identity: str, signature: Any, cpu: object) -> str:
    """Return the name of a compiled form."""
    return hashlib.sha256(f"{identity}\n{signature}\n{cpu}".encode()).hexdigest()[:32]


def encode(compiled: CompileResult) -> bytes | None:
    """Return compiled code as bytes; None if it holds addresses of this process."""
    if compiled.library.has_dynamic_globals or compiled.lifted:
        return None
    parts = list(compiled._reduce())
    parts[_ANNOTATION] = ""  # the source once more, with types: for people, and a third of the size
    if (
        KernelCompiler is not None
    ):  # no other kernel is made of this one (engine/compiler/linking.py)
        name, kind, (machine_code, _) = parts[_LIBRARY]
        parts[_LIBRARY] = name, kind, (machine_code, _names_alone(compiled.fndesc))
        parts[_ENVIRONMENTS] = (compiled.environment,)
    return zlib.compress(dumps(tuple(parts)), 1)


def _names_alone(fndesc: Any) -> bytes:
    """Return LLVM code with the names of a kernel, by which Numba finds its machine code, and nothing else.

    The whole of it, out of which other functions could be made, takes three times the room and half of the
    time to load.
    """
    names = fndesc.llvm_func_name, fndesc.llvm_cpython_wrapper_name
    text = "".join(f'define void @"{name}"() {{\n  ret void\n}}\n' for name in names)
    return llvm.parse_assembly(text).as_bitcode()


def decode(
    data: bytes, function: Callable, signature: Any, target_context: Any
) -> CompileResult | None:
    """Return compiled code that can be called; None if it is that of another function or other types.

    Numba's own cache first makes Numba ready to compile, which takes as long as to load thirty kernels.
    Code that is compiled already needs no more than the functions that count references.
    """
    parts = pickle.loads(zlib.decompress(data))
    name = parts[_FUNCTION].modname, parts[_FUNCTION].qualname
    if name != (function.__module__, function.__qualname__):
        return None
    if parts[_SIGNATURE].args != tuple(getattr(signature, "args", signature)):
        return None
    rtsys.initialize(target_context)
    return CompileResult._rebuild(target_context, *parts)


def is_private(found: os.stat_result, *owners: int) -> bool:
    """Return whether nobody but root, this user and ``owners`` can write what this is the state of.

    A group of the user's own, as many systems have it, has the number of the user.
    """
    if not hasattr(os, "getuid"):  # Windows: directories have lists of who may do what
        return True
    if found.st_uid not in (0, os.geteuid(), *owners) or found.st_mode & stat.S_IWOTH:
        return False
    return not found.st_mode & stat.S_IWGRP or found.st_gid == found.st_uid
