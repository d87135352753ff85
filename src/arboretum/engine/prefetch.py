"""Asking for memory before it is needed, so that a later read does not wait for it."""

from __future__ import annotations

import numba

__all__ = ["prefetch"]

if numba.config.DISABLE_JIT:

    def prefetch(array, row, column):
        """Do nothing: there is nothing to hurry."""

else:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def prefetch(typingctx, array, row, column):
        """Bring ``array[row, column]`` of a C-contiguous table into the cache; indices uint64."""

        def build(context, builder, signature, arguments):
            table = context.make_array(signature.args[0])(context, builder, arguments[0])
            width = builder.extract_value(table.shape, 1)
            offset = builder.add(builder.mul(arguments[1], width), arguments[2])
            byte = ir.IntType(8).as_pointer()
            whole = ir.IntType(32)
            hint = builder.module.declare_intrinsic(
                "llvm.prefetch.p0",
                (),
                ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole]),
            )
            place = builder.bitcast(builder.gep(table.data, [offset]), byte)
            builder.call(hint, [place, whole(0), whole(3), whole(1)])
            return context.get_dummy_value()

        return types.void(array, types.uint64, types.uint64), build
