"""Kernels that kernels call by their address.

What a kernel calls is compiled into it. A large part that several kernels have, or that only some tables
need, is better a kernel of its own:

    Python     address = address_of(scan, tree, rules)      compiled or read, like any kernel
               grow(address, tree, rules)
    kernel         call_at(address, (tree, rules))

It must be a `kernel` or `addressed`, make no arrays and return nothing; a call takes some nanoseconds. An
address of 0 stands for a kernel that is not needed and must not be called (`is_given`).

A kernel that only passes a NamedTuple on need not know its type, and is compiled once for all of them: it
takes `where_is` of the tuple, a number, which the kernel at the address takes for the tuple. Python compiles
such a kernel with `stand_in` of the tuple.

    Python     address_of(middle, stand_in(table))          address_of(last, table)
    kernel     call_at(middle, (where_is(table), last))     middle: call_at(last, (table,))

Where kernels are not linked (private.py), an address is the function, and a tuple is passed on itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from arboretum.engine.compiler.decorators import COMPILED
from arboretum.engine.compiler.private import LINKED

__all__ = ["address_of", "call_at", "form_of", "is_given", "stand_in", "where_is"]

if LINKED:
    from numba.extending import intrinsic

    from arboretum.engine.compiler.by_reference import ByReference
    from arboretum.engine.compiler.private import (
        cgutils,
        entry_point,
        ir,
        key_of,
        pointer_to,
        types,
    )

    def address_of(function: Callable, *arguments: Any) -> Any:
        """Return where the compiled form of a kernel for such arguments is."""
        key = function, key_of(function, arguments)
        if key not in _known:
            _known[key] = pointer_to(function, arguments)
        return _known[key]

    _known: dict[tuple, int] = {}  # LLVM takes 100 µs to look for a name

    def form_of(function: Callable, *arguments: Any) -> Callable:
        """Return the compiled form of a kernel for such arguments, as Python calls it.

        It takes its arguments to be of these types and does not check, which saves a fifth of a
        microsecond: with arguments of other types it would compute anything at all.
        """
        return entry_point(function, arguments)

    def stand_in(named: Any) -> Any:
        """Return something of the type of `where_is`."""
        return 0

    @intrinsic
    def call_at(typingctx, address, arguments):
        """Call the kernel at an address with a tuple of arguments."""

        def build(context, builder, signature, given):
            kinds, convention = signature.args[1].types, context.call_conv
            form = convention.get_function_type(types.none, kinds)
            # freed at once: in a loop, room for them at every call would fill the stack
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
    def is_given(typingctx, address):
        """Return whether an address is not 0."""

        def build(context, builder, signature, given):
            return builder.icmp_signed("!=", given[0], given[0].type(0))

        return types.boolean(types.int64), build

    @intrinsic
    def where_is(typingctx, named):
        """Return the address of a NamedTuple that was passed by reference."""

        def build(context, builder, signature, given):
            if signature.return_type == named:
                return given[0]
            return builder.ptrtoint(given[0], context.get_value_type(types.int64))

        return (types.int64 if isinstance(named, ByReference) else named)(named), build

else:

    def address_of(function: Callable, *arguments: Any) -> Any:
        return function

    def form_of(function: Callable, *arguments: Any) -> Callable:
        return function

    def stand_in(named: Any) -> Any:
        return named

    def call_at(address, arguments):
        address(*arguments)

    def is_given(address):
        return address != 0

    def where_is(named):
        return named


if COMPILED and not LINKED:
    from numba.extending import overload

    @overload(call_at)
    def _call(address, arguments):
        if isinstance(address, numba.types.Integer):  # 0: a kernel that is not needed
            return lambda address, arguments: None
        return lambda address, arguments: address(*arguments)

    @overload(is_given)
    def _is_given(address):
        found = not isinstance(address, numba.types.Integer)
        return lambda address: found

    @overload(where_is)
    def _where_is(named):
        return lambda named: named
