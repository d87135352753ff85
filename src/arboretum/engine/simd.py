"""Several numbers in one wide register, for loops that the compiler does not turn into wide instructions.

    add_row(cells, at, number, weight)    adds a row's number, weight and count to one of many cells

The steps of a tournament of leaves (engine/predict/tournament.py) for many rows. The compiler would not use
wide instructions for loops, because the lists might overlap:

    choose       64 small numbers, each from one of two lists, selected by a comparison
    mark         a bit of 64 small numbers, set where a comparison holds (engine/predict/bit_tables.py)
    add_chosen   adds numbers of a table to eight sums, each by its own index
    add_chosen_by_four   the same four times, with tables and lists of indices one after the other
    guess        the cells of eight values on an even grid, and the entries of a table for these cells
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import inline
from arboretum.engine.compiler.private import LINKED

__all__ = [
    "WIDE",
    "add_chosen",
    "add_chosen_by_four",
    "add_row",
    "choose",
    "guess",
    "mark",
]

WIDE = 64  # numbers chosen at a time

if not LINKED:

    @inline
    def add_row(cells, at, number, weight):
        cells[at, 0] += number
        cells[at, 1] += weight
        cells[at, 2] += 1

    @inline
    def choose(codes, row, cut, slots, left, right, out):
        row, left, right, out = np.int64(row), np.int64(left), np.int64(right), np.int64(out)
        for i in range(WIDE):
            slots[out + i] = slots[left + i] if codes[row + i] <= cut else slots[right + i]

    @inline
    def add_chosen(sums, at, values, first, leaves, leaf):
        at, first, leaf = np.int64(at), np.int64(first), np.int64(leaf)
        for i in range(8):
            sums[at + i] += values[first + np.int64(leaves[leaf + i])]

    @inline
    def add_chosen_by_four(sums, at, values, firsts, indices, rows):
        at = np.int64(at)
        for i in range(8):
            for k in range(4):
                index = np.int64(indices[np.int64(rows[k]) + at + i])
                sums[at + i] += values[np.int64(firsts[k]) + index]

    @inline
    def guess(table, first, top, low, scale, x, rank, at):
        at, first = np.int64(at), np.int64(first)
        for i in range(at, at + 8):
            place = (x[i] - low) * scale
            cell = np.int64(0)
            if place > 0.0:  # false for NaN
                cell = np.int64(place if place < top else top)
            rank[i] = table[first + cell]

    @inline
    def mark(codes, row, cut, places, at, bit):
        row, at = np.int64(row), np.int64(at)
        for i in range(WIDE):
            if codes[row + i] > cut:
                places[at + i] |= places.dtype.type(bit)

else:
    from numba import types
    from numba.extending import intrinsic

    from arboretum.engine.compiler.private import ir

    @intrinsic
    def add_row(typingctx, cells, at, number, weight):
        """Add (number, weight, 1, 0) to the four int64 of a cell; ``cells`` is (cells, 4), ``at`` uint64."""

        def build(context, builder, signature, arguments):
            whole, lane = ir.VectorType(ir.IntType(64), 4), ir.IntType(32)
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            first = builder.shl(arguments[1], ir.IntType(64)(2))
            place = builder.bitcast(builder.gep(data, [first]), whole.as_pointer())
            more = ir.Constant(whole, [0, 0, 1, 0])
            for j in range(2):
                more = builder.insert_element(more, arguments[2 + j], lane(j))
            builder.store(builder.add(builder.load(place, align=8), more), place, align=8)
            return context.get_dummy_value()

        return types.void(cells, types.uint64, types.int64, types.int64), build

    # ------------------------------------------------------------------ a tournament of leaves
    def _spread(builder, value, lanes):
        """Build a vector with the same number in every lane."""
        none = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
        first = builder.insert_element(none, value, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        return builder.shuffle_vector(first, none, zeros)

    def _data(context, builder, signature, arguments, k):
        return context.make_array(signature.args[k])(context, builder, arguments[k]).data

    @intrinsic
    def choose(typingctx, codes, row, cut, slots, left, right, out):
        """Do ``slots[out + i] = slots[left + i] if codes[row + i] <= cut else slots[right + i]`` for 64 i.

        Both arrays are flat, of one unsigned type; places and the cut are uint64.
        """

        def build(context, builder, signature, arguments):
            small = ir.IntType(signature.args[0].dtype.bitwidth)
            size, lanes = small.width // 8, ir.VectorType(small, WIDE).as_pointer()
            table, lists = (_data(context, builder, signature, arguments, k) for k in (0, 3))

            def place(base, index):
                return builder.bitcast(builder.gep(base, [index]), lanes)

            cut = _spread(builder, builder.trunc(arguments[2], small), WIDE)
            code = builder.load(place(table, arguments[1]), align=size)
            left, right = (builder.load(place(lists, k), align=size) for k in arguments[4:6])
            goes_left = builder.icmp_unsigned("<=", code, cut)
            chosen = builder.select(goes_left, left, right)
            builder.store(chosen, place(lists, arguments[6]), align=size)
            return context.get_dummy_value()

        index = types.uint64
        return types.void(codes, index, index, slots, index, index, index), build

    @intrinsic
    def mark(typingctx, codes, row, cut, places, at, bit):
        """Do ``places[at + i] |= bit`` where ``codes[row + i] > cut``, for 64 i.

        Both arrays are flat, of one unsigned type; indices, cut and bit are uint64.
        """

        def build(context, builder, signature, arguments):
            small = ir.IntType(signature.args[0].dtype.bitwidth)
            size, lanes = small.width // 8, ir.VectorType(small, WIDE)
            table, lists = (_data(context, builder, signature, arguments, k) for k in (0, 3))

            def place(base, index):
                return builder.bitcast(builder.gep(base, [index]), lanes.as_pointer())

            cut, bit = (_spread(builder, builder.trunc(arguments[k], small), WIDE) for k in (2, 5))
            code = builder.load(place(table, arguments[1]), align=size)
            to = place(lists, arguments[4])
            above = builder.icmp_unsigned(">", code, cut)
            bits = builder.select(above, bit, ir.Constant(lanes, [0] * WIDE))
            builder.store(builder.or_(builder.load(to, align=size), bits), to, align=size)
            return context.get_dummy_value()

        index = types.uint64
        return types.void(codes, index, index, places, index, index), build

    def _gather(builder, base, index, element):
        """Build a vector of the eight elements with these indices, uint64, from an address on."""
        word, size = ir.IntType(64), 3 if isinstance(element, ir.DoubleType) else 2
        found, name = ir.VectorType(element, 8), "f64" if size == 3 else "i32"
        pointers, yes = ir.VectorType(element.as_pointer(), 8), ir.VectorType(ir.IntType(1), 8)
        gather = builder.module.declare_intrinsic(
            f"llvm.masked.gather.v8{name}.v8p0",
            (),
            ir.FunctionType(found, [pointers, ir.IntType(32), yes, found]),
        )
        offset = builder.shl(index, ir.Constant(ir.VectorType(word, 8), [size] * 8))
        address = builder.add(_spread(builder, builder.ptrtoint(base, word), 8), offset)
        return builder.call(gather, [
            builder.inttoptr(address, pointers), ir.IntType(32)(1 << size),
            ir.Constant(yes, [1] * 8), ir.Constant(found, ir.Undefined),
        ])  # fmt: skip

    @intrinsic
    def add_chosen(typingctx, sums, at, values, first, leaves, leaf):
        """Do ``sums[at + i] += values[first + leaves[leaf + i]]`` for eight i; all arrays are flat."""

        def build(context, builder, signature, arguments):
            word, number = ir.IntType(64), ir.DoubleType()
            whole, numbers = ir.VectorType(word, 8), ir.VectorType(number, 8)
            total, table, found = (
                _data(context, builder, signature, arguments, k) for k in (0, 2, 4)
            )
            small = ir.IntType(signature.args[4].dtype.bitwidth)
            place = builder.gep(found, [arguments[5]])
            narrow = builder.bitcast(place, ir.VectorType(small, 8).as_pointer())
            index = builder.zext(builder.load(narrow, align=small.width // 8), whole)
            added = _gather(builder, builder.gep(table, [arguments[3]]), index, number)
            eight = builder.bitcast(builder.gep(total, [arguments[1]]), numbers.as_pointer())
            builder.store(builder.fadd(builder.load(eight, align=8), added), eight, align=8)
            return context.get_dummy_value()

        index = types.uint64
        return types.void(sums, index, values, index, leaves, index), build

    @intrinsic
    def add_chosen_by_four(typingctx, sums, at, values, firsts, indices, rows):
        """Do ``sums[at + i] += values[firsts[k] + indices[rows[k] + at + i]]`` for eight i, k by k.

        ``firsts`` and ``rows`` are tuples of four uint64; the sums are read and written once.
        """

        def build(context, builder, signature, arguments):
            at, lanes = arguments[1], ir.VectorType(ir.DoubleType(), 8).as_pointer()
            total, table, lists = (
                _data(context, builder, signature, arguments, k) for k in (0, 2, 4)
            )
            small = ir.IntType(signature.args[4].dtype.bitwidth)
            place = builder.bitcast(builder.gep(total, [at]), lanes)
            x = builder.load(place, align=8)
            for k in range(4):
                first, row = (builder.extract_value(arguments[j], k) for j in (3, 5))
                narrow = builder.bitcast(
                    builder.gep(lists, [builder.add(row, at)]),
                    ir.VectorType(small, 8).as_pointer(),
                )
                index = builder.load(narrow, align=small.width // 8)
                index = builder.zext(index, ir.VectorType(ir.IntType(64), 8))
                found = _gather(builder, builder.gep(table, [first]), index, ir.DoubleType())
                x = builder.fadd(x, found)
            builder.store(x, place, align=8)
            return context.get_dummy_value()

        index = types.uint64
        four = types.UniTuple(index, 4)
        return types.void(sums, index, values, four, indices, four), build

    @intrinsic
    def guess(typingctx, table, first, top, low, scale, x, rank, at):
        """Do ``rank[at + i] = table[first + cell]`` for eight i, where cell is ``(x[at + i] - low) * scale``
        without its fraction, limited to 0 (also for NaN) and ``top``. The table is int32.
        """

        def build(context, builder, signature, arguments):
            number, cells = ir.DoubleType(), ir.VectorType(ir.IntType(32), 8)
            numbers, whole = ir.VectorType(number, 8), ir.VectorType(ir.IntType(64), 8)
            known, values, ranks = (
                _data(context, builder, signature, arguments, k) for k in (0, 5, 6)
            )

            def place(base, lanes):
                return builder.bitcast(builder.gep(base, [arguments[7]]), lanes.as_pointer())

            top, low, scale = (_spread(builder, given, 8) for given in arguments[2:5])
            x = builder.load(place(values, numbers), align=8)
            cell = builder.fmul(builder.fsub(x, low), scale)
            zero = ir.Constant(numbers, [0.0] * 8)
            cell = builder.select(builder.fcmp_ordered(">", cell, zero), cell, zero)
            cell = builder.select(builder.fcmp_ordered("<", cell, top), cell, top)
            cell = builder.zext(builder.fptosi(cell, cells), whole)
            begin = builder.gep(known, [arguments[1]])
            found = builder.zext(_gather(builder, begin, cell, ir.IntType(32)), whole)
            builder.store(found, place(ranks, whole), align=8)
            return context.get_dummy_value()

        index, real = types.uint64, types.float64
        return types.void(table, index, real, real, real, x, rank, index), build
