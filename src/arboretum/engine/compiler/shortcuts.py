"""Shortcuts: what Numba does again and again while it compiles a kernel is done once.

A large kernel is some 150 functions of 10,000 statements, and most of its compile time is Python. `shortcuts`
takes things out of it while a kernel is compiled, and puts Numba back as it was:

    garbage     Python does not look through a million objects that are all in use
    options     two functions' options are compared by what is set, not by asking for each in turn
    operators   the signature of `+` on two int64 is looked up once, not at every `+`
    variables   which live where is found out when somebody asks, not after every pass
    passes      what looks for closures and array expressions is left out where there are none
    news        what Numba can be taught is looked through where it was taught something since
    locks       nobody adds up how long they were held

None changes what is compiled. They lean on Numba's insides: one that finds them other than expected is left
out.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from numba.core import (
    base,
    event,
    imputils,
    ir,
    postproc,
    rewrites,
    targetconfig,
    transforms,
    types,
)
from numba.core.compiler import DefaultPassBuilder
from numba.core.types import functions
from numba.core.typing import context, templates
from numba.core.untyped_passes import InlineClosureLikes

from arboretum.engine.compiler.lean_code import LEAN
from arboretum.engine.compiler.replaced import replaced

__all__ = ["shortcuts"]


@contextlib.contextmanager
def shortcuts() -> Iterator[None]:
    """Have Numba compile faster; its lock is held."""
    with contextlib.ExitStack() as undo:
        for begin in _ALL:
            with contextlib.suppress(AttributeError):
                undo.enter_context(begin())
        yield


@contextlib.contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Collect no garbage: hardly any is there to be found, and looking for it is a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# ---------------------------------------------------------------------- options
def _compare_options_fast() -> contextlib.AbstractContextManager[None]:
    """Compare the options of two functions by what is set: it is done wherever a function is called."""
    Options = targetconfig.TargetConfig
    if not all(hasattr(Options, name) for name in ("values", "options", "_values")):
        raise AttributeError("options are kept otherwise")
    return replaced(
        Options,
        values=lambda self: _defaults(type(self)) | self._values,
        __hash__=lambda self: _hash(type(self)),
    )


@functools.cache
def _defaults(options: Any) -> dict[str, Any]:
    return {name: option.default for name, option in options.options.items()}


@functools.cache
def _hash(options: Any) -> int:
    return hash(tuple(sorted(options.options)))  # Numba's own: of the names alone


# ---------------------------------------------------------------------- operators
def _look_up_operators_once() -> contextlib.AbstractContextManager[None]:
    """Remember, for as long as a kernel is compiled, what a function of Numba's is on given types."""
    find = functions.BaseFunction.get_call_type
    known: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws:
            return find(self, context, args, kws)
        asked = self, tuple(args)
        found = known.get(asked)
        if found is None:
            found = known[asked] = find(self, context, args, kws)
        return found

    return replaced(functions.BaseFunction, get_call_type=get_call_type)


# ---------------------------------------------------------------------- variables
def _ask_later_which_variables_live() -> contextlib.AbstractContextManager[None]:
    """Let what is known of variables be made when it is asked for: Numba makes all of it after every pass."""
    its_own = postproc.PostProcessor.run
    Lifetimes = postproc.VariableLifetime

    def run(self: Any, emit_dels: bool = False, **options: Any) -> None:
        if self.func_ir.is_generator:
            return its_own(self, emit_dels, **options)
        self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)
        self.func_ir.variable_lifetime = Lifetimes(self.func_ir.blocks)
        self.func_ir.generator_info = None
        if emit_dels:
            self._insert_var_dels(**options)
        return None

    return replaced(postproc.PostProcessor, run=run)


def _list_variables_fast() -> contextlib.AbstractContextManager[None]:
    """List the variables of a statement into one list, instead of a list for each of its parts."""

    def list_variables(self: Any, part: Any) -> list[Any]:
        found: list[Any] = []
        _gather(part, found)
        return found

    return replaced(ir.Inst, _rec_list_vars=list_variables)


_WITHOUT_VARIABLES = {str, int, float, bool, type(None), ir.Loc}


def _gather(part: Any, found: list[Any]) -> None:
    kind = type(part)
    if kind is ir.Var:
        found.append(part)
    elif kind in _WITHOUT_VARIABLES:
        return
    elif isinstance(part, (dict, list, tuple)):
        for one in part.values() if isinstance(part, dict) else part:
            if type(one) is ir.Var:
                found.append(one)
            elif type(one) not in _WITHOUT_VARIABLES:
                _gather(one, found)
    elif isinstance(part, ir.Inst):
        found.extend(part.list_vars())
    elif isinstance(part, ir.Var):
        found.append(part)


# ---------------------------------------------------------------------- passes
def _skip_passes() -> contextlib.AbstractContextManager[None]:
    """Leave out what inlines closures where a function has none."""
    its_own = DefaultPassBuilder.define_nopython_pipeline

    def define(state: Any, name: str = "nopython") -> Any:
        manager = its_own(state, name)
        if not any(isinstance(one, CodeType) for one in state.func_id.code.co_consts):
            manager.passes = [one for one in manager.passes if one[0] is not InlineClosureLikes]
        return manager

    return replaced(DefaultPassBuilder, define_nopython_pipeline=staticmethod(define))


def _rewrite_what_has_arrays() -> contextlib.AbstractContextManager[None]:
    """Leave out what makes one loop of `a + b * c` where no operator and no call gives an array."""
    Registry = type(rewrites.rewrite_registry)
    its_own = Registry.apply

    def apply(self: Any, kind: str, state: Any) -> None:
        if kind != "after-inference" or _may_be_rewritten(state):
            its_own(self, kind, state)

    return replaced(Registry, apply=apply)


def _may_be_rewritten(state: Any) -> bool:
    typemap = state.typemap
    if any(isinstance(one, types.StringLiteral) for one in typemap.values()):
        return True
    return any(
        isinstance(statement.value, ir.Expr)
        and statement.value.op in ("binop", "inplace_binop", "unary", "call")
        and isinstance(typemap[statement.target.name], types.Array)
        for block in state.func_ir.blocks.values()
        for statement in block.find_insts(ir.Assign)
    )


# ---------------------------------------------------------------------- news
def _look_for_news_if_any() -> contextlib.AbstractContextManager[None]:
    """Look through all that Numba can be taught only where it was taught something since."""
    known = templates.builtin_registry, imputils.builtin_registry
    if not all(any(True for _ in _lists(registry)) for registry in known):
        raise AttributeError("what Numba was taught is kept otherwise")
    undo = contextlib.ExitStack()
    for Context in (base.BaseContext, context.BaseContext):
        undo.enter_context(replaced(Context, refresh=_refresh_if_any(Context.refresh, known)))
    return undo


def _lists(registry: Any) -> Iterator[list]:
    return (one for one in vars(registry).values() if isinstance(one, list))


def _refresh_if_any(its_own: Callable, known: tuple) -> Callable:
    seen: dict[int, Any] = {}

    def refresh(self: Any) -> None:
        taught = {id(one): one for one in (*known, *self._registries)}.values()
        before = [len(sys.modules), *(len(one) for each in taught for one in _lists(each))]
        if seen.get(id(self), (None, None))[1] != before:
            its_own(self)
            seen[id(self)] = self, before  # the first: nothing else may get its number

    return refresh


def _time_no_locks() -> contextlib.AbstractContextManager[None]:
    """Do not add up how long locks were held: it is told at every call of LLVM, to every function."""
    start, end = event.start_event, event.end_event
    listeners = event._registered

    def start_event(kind: str, *args: Any, **kws: Any) -> None:
        if listeners[kind] and kind not in _LOCKS:
            start(kind, *args, **kws)

    def end_event(kind: str, *args: Any, **kws: Any) -> None:
        if listeners[kind] and kind not in _LOCKS:
            end(kind, *args, **kws)

    return replaced(
        event,
        install_timer=lambda kind, callback: contextlib.nullcontext(),
        start_event=start_event,
        end_event=end_event,
    )


_LOCKS = "numba:compiler_lock", "numba:llvm_lock"


# ---------------------------------------------------------------------- looked up
def _ask_for_sizes_once() -> contextlib.AbstractContextManager[None]:
    """Remember how many bytes a type has: LLVM is asked by a module of its own."""
    find = base.BaseContext.get_abi_sizeof

    def get_abi_sizeof(self: Any, lltype: Any) -> int:
        kind = str(lltype)
        if kind not in _sizes:
            _sizes[kind] = find(self, lltype)
        return _sizes[kind]

    return replaced(base.BaseContext, get_abi_sizeof=get_abi_sizeof)


_sizes: dict[str, int] = {}


def _read_signatures_once() -> contextlib.AbstractContextManager[None]:
    """Remember whether what lowers an operator wants to know the line."""
    return replaced(base, _has_loc=functools.cache(base._has_loc))


_ALL = (
    _pause_garbage_collection,
    _compare_options_fast,
    _look_up_operators_once,
    _ask_later_which_variables_live,
    _list_variables_fast,
    _skip_passes,
    _rewrite_what_has_arrays,
    _look_for_news_if_any,
    _time_no_locks,
    _ask_for_sizes_once,
    _read_signatures_once,
    *LEAN,
)
