"""Kernels that kernels call by their address.

What a kernel calls is compiled into it (linking.py). A large part that several kernels have, or that is
large enough to be compiled by another process meanwhile, is better a kernel of its own:

    Python     address = address_of(scan, tree, rules)      compiled or read, like any kernel
               grow(address, tree, rules)
    kernel         call_at(address, (tree, rules))

It must be a `kernel` or `addressed`, make no arrays and return nothing; a call takes some nanoseconds. A
kernel that only hands a NamedTuple on need not know its type, and is compiled once for all of them: it is
given `where_is` of the tuple, a number, which the kernel at the address takes for the tuple. Python asks for
such a kernel with `stand_in` of the tuple.

    Python     address_of(middle, stand_in(table))          address_of(last, table)
    kernel     call_at(middle, (where_is(table), last))     middle: call_at(last, (table,))

With ``NUMBA_DISABLE_JIT=1`` an address is the Python function, and a tuple is handed on itself, as it is
where tuples are values (engine/compiler/linking.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["address_of", "call_at", "form_of", "stand_in", "where_is"]

if numba.config.DISABLE_JIT:

    def address_of(function: Callable, *arguments: Any) -> Any:
        return function

    def form_of(function: Callable, *arguments: Any) -> Callable:
        return function

    def call_at(address, arguments):
        address(*arguments)

    def where_is(named):
        return named

    def stand_in(named: Any) -> Any:
        return named

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    from arboretum.engine.compiler.by_reference import ByReference
    from arboretum.engine.compiler.linking import KernelCompiler

    def address_of(function: Callable, *arguments: Any) -> Any:
        """Return where the compiled form of a kernel for such arguments is."""
        kernel: Any = function
        key = kernel, *(kernel.typeof_pyval(one) for one in arguments)
        if key not in _known:
            kernel._compile_for_args(*arguments)
            found = kernel.overloads[key[1:]]
            _known[key] = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
        return _known[key]

    _known: dict[tuple, int] = {}  # LLVM takes 100 µs to look for a name

    def form_of(function: Callable, *arguments: Any) -> Callable:
        """Return the compiled form of a kernel for such arguments, as Python calls it.

        It takes them for what they are said to be and does not ask, which saves a fifth of a microsecond: of
        arguments of other types it would make anything at all.
        """
        kernel: Any = function
        kernel._compile_for_args(*arguments)
        return kernel.overloads[tuple(map(kernel.typeof_pyval, arguments))].entry_point

    @intrinsic
    def call_at(typingctx, address, arguments):
        """Call the kernel at an address with a tuple of arguments."""

        def build(context, builder, signature, given):
            kinds, convention = signature.args[1].types, context.call_conv
            form = convention.get_function_type(types.none, kinds)
            # given back at once: in a loop, room for them at every call would fill the stack
            pointer = cgutils.voidptr_t
            save, restore = (
                cgutils.get_or_insert_function(builder.module, kind, f"llvm.stack{name}")
                for name, kind in (
                    ("save", ir.FunctionType(pointer, [])),
                    ("restore", ir.FunctionType(ir.VoidType(), [pointer])),
                )
            )
            before = builder.call(save, [])
            result, error = (builder.alloca(kind.pointee) for kind in form.args[:2])
            values = [builder.extract_value(given[1], i) for i in range(len(kinds))]
            packed = convention._get_arg_packer(kinds).as_arguments(builder, values)
            function = builder.inttoptr(given[0], form.as_pointer())
            builder.call(function, [result, error, *packed])
            builder.call(restore, [before])
            return context.get_dummy_value()

        return types.void(types.int64, arguments), build

    @intrinsic
    def where_is(typingctx, named):
        """Return the address of a NamedTuple that was handed over by reference."""

        def build(context, builder, signature, given):
            if signature.return_type == named:
                return given[0]
            return builder.ptrtoint(given[0], context.get_value_type(types.int64))

        return (types.int64 if isinstance(named, ByReference) else named)(named), build

    def stand_in(named: Any) -> Any:
        """Return something of the type of `where_is`."""
        return named if KernelCompiler is None else 0
