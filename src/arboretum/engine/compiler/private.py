"""What the engine uses of Numba and llvmlite that is not their public API: all of it is imported here.

With a version of Numba in `TESTED`, kernels are *linked*: what a kernel calls is compiled into it and
nowhere else, NamedTuples are pointers (by_reference.py), kernels call others by address (by_address.py),
and compiled code is kept on disk (cache.py). With any other version, and with ``ARBORETUM_LINK_KERNELS=0``,
`LINKED` is False and nothing in here is used: kernels are what `numba.njit` makes of them. They give the same
answers, take longer to compile, and are compiled again in every process.

Numba compiles every function on its own: it types it, writes LLVM code, optimises it, turns it into machine
code; and then, because callers want to inline it, links the same code into each of them and optimises it
there once more. For what only kernels call, the first of the two is wasted:

    Numba       helper ── type ── lower ── optimise ── machine code
                kernel ── type ── lower ── link helper ── optimise ── machine code

    linked      helper ── type ── lower ─┐
                kernel ── type ── lower ─┴─ link ── optimise ── machine code

`LinkingCompiler` is Numba's own pipeline, during which every other function (the engine's helpers, and
Numba's own such as `np.empty`) goes into a `Part`: a library that stops after lowering. A kernel's
machine code comes from the same LLVM functions as before, so answers have the same bits.
"""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir as ir

__all__ = ["LINKED", "TESTED", "UNTESTED", "VERSIONS", "listen"]

# Both ends run the golden set and a part of the tests: `make versions`.
TESTED = ("0.62", "0.63", "0.64", "0.65", "0.66", "0.67", "0.68")

VERSIONS = {"numba": numba.__version__, "llvmlite": llvmlite.__version__}

UNTESTED = not numba.config.DISABLE_JIT and not numba.__version__.startswith(
    tuple(f"{series}." for series in TESTED)
)
_IS_WANTED = os.environ.get("ARBORETUM_LINK_KERNELS") != "0"
LINKED = not numba.config.DISABLE_JIT and not UNTESTED and _IS_WANTED

if LINKED:
    from numba.core import cgutils as cgutils
    from numba.core import codegen, dispatcher, event, types
    from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
    from numba.core.datamodel.models import PrimitiveModel as PrimitiveModel
    from numba.core.dispatcher import OmittedArg
    from numba.core.registry import cpu_target
    from numba.core.runtime import rtsys
    from numba.core.serialize import dumps as dumps
    from numba.core.types import Omitted
    from numba.core.typing.templates import AttributeTemplate as AttributeTemplate
    from numba.core.typing.typeof import Purpose, typeof

    __all__ += ["compiled_parts", "cpu", "entry_point", "inlined", "key_of", "linked"]
    __all__ += ["on_new_types", "pointer_to", "rebuild", "type_of_argument"]

    # ------------------------------------------------------------------ linking
    class Part(codegen.JITCodeLibrary):
        """The LLVM code of a function and of all it calls, neither optimised nor made machine code."""

        @property
        def codegen(self) -> Any:
            """Return the code generator, without machine code."""
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
                if hasattr(self, "_reload_init"):  # newer versions of those that were tested
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

    class LinkingCompiler(CompilerBase):
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
            with _others_are_parts(generator), _no_garbage_collection():
                return super()._compile_core()

    @contextlib.contextmanager
    def _others_are_parts(generator: Any) -> Iterator[None]:
        """Write functions that are compiled meanwhile into parts; Numba's lock is held."""
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

    class _Kernel(dispatcher.Dispatcher):
        """A compiled function to Python; to kernels that call it, a part."""

        part: Any

        def typeof_pyval(self, val: Any) -> Any:
            """Return the type of an argument, a NamedTuple's by reference."""
            from arboretum.engine.compiler.by_reference import is_named, type_of

            return type_of(val) if is_named(val) else super().typeof_pyval(val)

        @property
        def _numba_type_(self) -> Any:
            return types.Dispatcher(self.part)

    class _Inlined(dispatcher.Dispatcher):
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

    _OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

    def inlined(function: Callable, **options: Any) -> Any:
        """Return a function that is compiled into the kernels that call it."""
        compiled = numba.njit(**_OPTIONS, no_cpython_wrapper=True, **options)(function)
        compiled.__class__ = _Inlined
        return compiled

    def linked(function: Callable, cache: Any, **options: Any) -> Any:
        """Return a kernel that reads and keeps its compiled forms in a cache."""
        compiled = numba.njit(**_OPTIONS, pipeline_class=LinkingCompiler, **options)(function)
        compiled.__class__ = _Kernel
        compiled.part = inlined(function, _nrt=options["_nrt"])
        compiled._cache = cache
        return compiled

    # ------------------------------------------------------------------ one kernel
    def type_of_argument(value: Any) -> Any:
        """Return Numba's type of an argument that is no NamedTuple."""
        return typeof(value, Purpose.argument)

    def key_of(kernel: Any, arguments: tuple) -> tuple:
        """Return Numba's types of the arguments of a kernel."""
        return tuple(
            Omitted(one.value) if isinstance(one, OmittedArg) else kernel.typeof_pyval(one)
            for one in arguments
        )

    def pointer_to(kernel: Any, arguments: tuple) -> int:
        """Return the address of a kernel for arguments of these types, after compiling it if need be."""
        kernel._compile_for_args(*arguments)
        found = kernel.overloads[key_of(kernel, arguments)]
        return found.library.get_pointer_to_function(found.fndesc.llvm_func_name)

    def entry_point(kernel: Any, arguments: tuple) -> Callable:
        """Return a function that takes its arguments to be of these types, without a look at them."""
        kernel._compile_for_args(*arguments)
        return kernel.overloads[key_of(kernel, arguments)].entry_point

    def on_new_types(kernel: Any, note: Callable[[tuple, bool], None]) -> None:
        """Call ``note(arguments, compiled)`` when a kernel is called with types that are new to it."""
        its_own = kernel._compile_for_args

        def compile_for_args(*args: Any, **kws: Any) -> Any:
            before = sum(kernel.stats.cache_misses.values())
            try:
                return its_own(*args, **kws)
            finally:
                note(args, sum(kernel.stats.cache_misses.values()) > before)

        kernel._compile_for_args = compile_for_args

    def cpu() -> Any:
        """Return the CPU that Numba compiles for, with its features."""
        return cpu_target.target_context.codegen().magic_tuple()

    # ------------------------------------------------------------------ compiled code as a tuple
    # places in what Numba keeps
    _LIBRARY, _FUNCTION, _SIGNATURE, _ANNOTATION, _ENVIRONMENTS = 0, 1, 3, 6, 8

    def compiled_parts(compiled: Any) -> tuple | None:
        """Return compiled code as a tuple that can be pickled; None if it holds addresses of this process."""
        if compiled.library.has_dynamic_globals or compiled.lifted:
            return None
        parts = list(compiled._reduce())
        parts[_ANNOTATION] = ""  # the source once more, with types: a third of the size
        name, kind, (machine_code, _) = parts[_LIBRARY]
        parts[_LIBRARY] = name, kind, (machine_code, _names_alone(compiled.fndesc))
        parts[_ENVIRONMENTS] = (compiled.environment,)
        return tuple(parts)

    def _names_alone(fndesc: Any) -> bytes:
        """Return LLVM code with the names of a kernel, by which Numba finds its machine code, and no more.

        The whole of it, out of which other functions could be made, takes three times the room and half of
        the time to load.
        """
        names = fndesc.llvm_func_name, fndesc.llvm_cpython_wrapper_name
        text = "".join(f'define void @"{name}"() {{\n  ret void\n}}\n' for name in names)
        return llvm.parse_assembly(text).as_bitcode()

    def rebuild(parts: tuple, function: Callable, signature: Any, context: Any) -> Any:
        """Return compiled code that can be called; None if it is that of another function or other types.

        Numba's own cache first makes Numba ready to compile, which takes as long as to load thirty kernels.
        Code that is compiled already needs no more than the functions that count references.
        """
        name = parts[_FUNCTION].modname, parts[_FUNCTION].qualname
        if name != (function.__module__, function.__qualname__):
            return None
        if parts[_SIGNATURE].args != tuple(getattr(signature, "args", signature)):
            return None
        rtsys.initialize(context)
        return CompileResult._rebuild(context, *parts)

    # ------------------------------------------------------------------ what is being compiled
    class _Listener(event.Listener):
        def __init__(self, begin: Callable, end: Callable) -> None:
            self._begin, self._end = begin, end

        def on_start(self, event: Any) -> None:
            self._begin(event.data["dispatcher"].py_func)

        def on_end(self, event: Any) -> None:
            self._end(event.data["dispatcher"].py_func, tuple(event.data["args"]))

    def listen(begin: Callable[[Any], None], end: Callable[[Any, tuple], None]) -> None:
        """Call ``begin(function)`` and ``end(function, types)`` around every function that is compiled."""
        event.register("numba:compile", _Listener(begin, end))

else:
    OmittedArg: Any = ()  # nothing is one

    def listen(begin: Callable[[Any], None], end: Callable[[Any, tuple], None]) -> None:
        """Do nothing: what is compiled is not noticed."""
