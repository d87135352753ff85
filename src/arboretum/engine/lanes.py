"""Four numbers in one wide register, for loops that the compiler does not turn into wide instructions.

    load_four(array, at)        the four numbers from a place of a flat array on
    store_four(array, at, x)    writes them there
    add_four(a, b)   mul_four(a, b)

A sum over products with short rows of two tables is such a loop: rows of 8 to 16 numbers, one after the
other, each with a start of its own. Where a processor has narrower registers the compiler takes several.
With ``NUMBA_DISABLE_JIT=1`` they are arrays of four numbers.
"""

from __future__ import annotations

import numba

__all__ = ["add_four", "load_four", "mul_four", "store_four"]

if numba.config.DISABLE_JIT:

    def load_four(array, at):
        return array[int(at) : int(at) + 4].copy()

    def store_four(array, at, x):
        array[int(at) : int(at) + 4] = x

    def add_four(a, b):
        return a + b

    def mul_four(a, b):
        return a * b

else:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic, models, register_model

    _WIDE = ir.VectorType(ir.DoubleType(), 4)

    class _Four(types.Type):
        """Four doubles."""

    @register_model(_Four)
    class _FourModel(models.PrimitiveModel):
        def __init__(self, dmm, fe_type):
            super().__init__(dmm, fe_type, _WIDE)

    _FOUR = _Four("four doubles")

    def _place(context, builder, kind, array, at):
        data = context.make_array(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [at]), _WIDE.as_pointer())

    @intrinsic
    def load_four(typingctx, array, at):
        """Return the four numbers of a flat float64 array from a place, uint64, on."""

        def build(context, builder, signature, arguments):
            place = _place(context, builder, signature.args[0], *arguments)
            return builder.load(place, align=8)

        return _FOUR(array, types.uint64), build

    @intrinsic
    def store_four(typingctx, array, at, x):
        """Write four numbers into a flat float64 array, from a place, uint64, on."""

        def build(context, builder, signature, arguments):
            place = _place(context, builder, signature.args[0], *arguments[:2])
            builder.store(arguments[2], place, align=8)
            return context.get_dummy_value()

        return types.void(array, types.uint64, x), build

    @intrinsic
    def add_four(typingctx, a, b):
        """Return the sums."""
        return _FOUR(a, b), lambda context, builder, signature, given: builder.fadd(*given)

    @intrinsic
    def mul_four(typingctx, a, b):
        """Return the products."""
        return _FOUR(a, b), lambda context, builder, signature, given: builder.fmul(*given)
