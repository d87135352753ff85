"""Parts: what a kernel calls is linked into it, and never compiled alone.

Numba compiles every function on its own: it types it, writes LLVM code, optimises it, turns it into machine
code and keeps it on disk; and then, because callers want to inline it, links the same code into each of them
and optimises it there once more. For what only kernels call, the first of the two is wasted:

    Numba       helper ── type ── lower ── optimise ── machine code ── file
                kernel ── type ── lower ── link helper ── optimise ── machine code ── file

    a part      helper ── type ── lower ─┐
                kernel ── type ── lower ─┴─ link ── optimise ── machine code ── file

`KernelCompiler` is Numba's own pipeline, during which every other function that is met (the engine's helpers,
and Numba's own such as `np.empty`) goes into a `Part`: a library that stops after lowering. A kernel's
machine code comes from the same LLVM functions as before, so answers have the same bits.

These classes lean on Numba's insides: where they are not as expected, `KernelCompiler` is None and every
function is compiled as Numba does it.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.core import codegen, dispatcher, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from arboretum.engine.compiler import by_reference

__all__ = ["KernelCompiler", "call_as_part", "for_kernels"]

_LEANS_ON = (
    (codegen.JITCodeLibrary, "_get_module_for_linking"),
    (codegen.JITCodeLibrary, "_raise_if_finalized"),
    (codegen.JITCodeLibrary, "_finalize_dynamic_globals"),
    (codegen.JITCPUCodegen, "_library_class"),
    (codegen.JITCPUCodegen, "set_env"),
    (CompilerBase, "_compile_core"),
)
AVAILABLE = all(hasattr(owner, name) for owner, name in _LEANS_ON)

KernelCompiler: type | None = None

if AVAILABLE:

    class Part(codegen.JITCodeLibrary):
        """The LLVM code of a function and of all it calls, neither optimised nor made machine code."""

        @property
        def codegen(self) -> Any:
            """Return the code generator, as one that knows of no machine code here."""
            return _NoEnvironment(self._codegen)

        def _optimize_functions(self, ll_module: Any) -> None:
            """Optimise what is defined here, and not what is only declared."""
            ll_module.data_layout = self._codegen._data_layout
            for function in ll_module.functions:
                if not function.is_declaration:
                    passes, builder = self._codegen._function_pass_manager()
                    passes.run(function, builder)

        def finalize(self) -> None:
            """Link what the function calls."""
            self._raise_if_finalized()
            for library in dict.fromkeys(self._linking_libraries):
                if hasattr(self, "_reload_init"):  # Numba 0.62 and newer
                    self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._finalize_dynamic_globals()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            """Return 0: Python cannot call a part."""
            self._ensure_finalized()
            return 0

    class _NoEnvironment:
        """A code generator that does not look for the environment of a function without machine code."""

        def __init__(self, its_own: Any) -> None:
            self._its_own = its_own

        def set_env(self, name: str, environment: Any) -> None:
            """Leave it: compiled code reads its environment only where Python calls it."""

        def __getattr__(self, name: str) -> Any:
            return getattr(self._its_own, name)

    @contextlib.contextmanager
    def _everything_a_part(generator: Any) -> Iterator[None]:
        """Have functions that are compiled meanwhile written into parts; Numba's lock is held."""
        generator._library_class = Part
        try:
            yield
        finally:
            del generator._library_class  # which the class still has

    @contextlib.contextmanager
    def _no_garbage_collection() -> Iterator[None]:
        """Pause the garbage collector: it finds nothing and takes a tenth of the time of compiling."""
        was_on = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if was_on:
                gc.enable()

    class _KernelCompiler(CompilerBase):
        """Numba's pipeline for a function that Python calls."""

        def define_pipelines(self) -> list[Any]:
            """Return the passes of compiled functions."""
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.finalize()
            return [passes]

        def _compile_core(self) -> Any:
            state = self.state
            generator = state.targetctx.codegen()
            state.library = generator.create_library(state.func_id.func_qualname)
            state.library.enable_object_caching()
            with _everything_a_part(generator), _no_garbage_collection():
                return super()._compile_core()

    KernelCompiler = _KernelCompiler


class _Kernel(dispatcher.Dispatcher):
    """A compiled function to Python; to kernels that call it, a part."""

    part: Any

    def typeof_pyval(self, val: Any) -> Any:
        """Return the type of an argument, a NamedTuple's by reference."""
        return (
            by_reference.type_of(val) if by_reference.is_named(val) else super().typeof_pyval(val)
        )

    @property
    def _numba_type_(self) -> Any:
        return types.Dispatcher(self.part)


class _ForKernels(dispatcher.Dispatcher):
    """A compiled function to kernels; Python runs its text.

    A constant argument is a number like others: to Numba it would be a type of its own, for which the
    function is compiled once more.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return what the function is to a caller with arguments of these types."""
        plain = [types.unliteral(one) for one in args]
        return super().get_call_template(plain, {k: types.unliteral(v) for k, v in kws.items()})

    def __call__(self, *arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return self.py_func(*arguments)


def for_kernels(function: Any) -> Any:
    """Return a compiled function that kernels call."""
    function.__class__ = _ForKernels
    return function


def call_as_part(kernel: Any, part: Any) -> Any:
    """Return ``kernel``; kernels that call it take ``part``, the same function compiled into its callers."""
    kernel.__class__ = _Kernel
    kernel.part = part
    return kernel
