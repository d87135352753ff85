"""Single processor instructions that Python has no operation for.

    prefetch       loads memory into the cache before it is needed, so that a later read does not wait
    atomic_*       read and write a number that other threads read and write, too; a thread that reads
                   it afterwards also sees everything written before
    and_lanes      32 numbers and-ed with four times 32 others by wide instructions
    meet_lanes     the same, but overwrites the 32 numbers
    search_step    one step of eight binary searches, without a branch
    read_blocks    gathers eight numbers at a time, and finds the smallest and the largest
    add_left       adds up the numbers whose value is not above a threshold, eight at a time
    sum_block      the sum of 16 numbers and of the magnitudes of their upper halves
    lowest_bit     the position of the lowest bit that is set
    give_way       lets the system run another thread while this one waits; rest_a_moment: the processor
    ticks          a clock that costs nothing to read; always 0 where reading it is not allowed

Where kernels are not linked (compiler/private.py) they are loops for a single thread.
"""

from __future__ import annotations

import ctypes
import os
import platform

import numpy as np

from arboretum.engine.compiler.decorators import inline
from arboretum.engine.compiler.private import LINKED

__all__ = [
    "LANES",
    "add_left",
    "and_lanes",
    "atomic_add",
    "atomic_read",
    "atomic_replace",
    "atomic_write",
    "give_way",
    "lowest_bit",
    "meet_lanes",
    "prefetch",
    "prefetch_at",
    "read_blocks",
    "rest_a_moment",
    "search_step",
    "sum_block",
    "ticks",
]

LANES = 16  # numbers of a block

_X86 = platform.machine().lower() in ("x86_64", "amd64", "i686")
_ARM = platform.machine().lower() in ("aarch64", "arm64")
_GIVE_WAY = "arboretum_give_way"  # our name for the system's call

if not LINKED:

    @inline
    def prefetch(array, row, column):
        """Do nothing: this is only a hint."""

    @inline
    def prefetch_at(array, index):
        """Do nothing: this is only a hint."""

    @inline
    def atomic_read(array, index):
        return array[index]

    @inline
    def atomic_write(array, index, value):
        array[index] = value

    @inline
    def atomic_add(array, index, value):
        before = array[index]
        array[index] = before + value
        return before

    @inline
    def atomic_replace(array, index, expected, value):
        found = array[index] == expected
        if found:
            array[index] = value
        return found

    @inline
    def give_way():
        """Do nothing: there is no other thread."""

    @inline
    def rest_a_moment():
        """Do nothing: there is no other thread."""

    @inline
    def ticks():
        return 0

    @inline
    def and_lanes(lanes, table, a, b, c, d):
        for i in range(len(lanes)):
            lanes[i] &= table[a, i] & table[b, i] & table[c, i] & table[d, i]

    @inline
    def meet_lanes(lanes, table, a, b, c, d):
        for i in range(len(lanes)):
            lanes[i] = table[a, i] & table[b, i] & table[c, i] & table[d, i]

    @inline
    def search_step(sorted_values, x, rank, at, half):
        for i in range(np.int64(at), np.int64(at) + 8):
            if sorted_values[rank[i] + half - np.uint64(1)] < x[i]:
                rank[i] += half

    @inline
    def read_blocks(values, column, rows, first, blocks, x, at):
        column, first, at = np.int64(column), np.int64(first), np.int64(at)
        low = high = values[column + np.int64(rows[first])]
        for i in range(8 * np.int64(blocks)):
            value = values[column + np.int64(rows[first + i])]
            x[at + i] = value
            low, high = min(low, value), max(high, value)
        return low, high

    @inline
    def add_left(x, at, cut, numbers, first, blocks):
        at, first = np.int64(at), np.int64(first)
        count, total = np.int64(0), np.int64(0)
        for i in range(8 * np.int64(blocks)):
            if x[at + i] <= cut:
                count += 1
                total += numbers[first + i]
        return count, total

    @inline
    def sum_block(sums, at):
        total, magnitude = np.int64(0), np.int64(0)
        for i in range(np.int64(at), np.int64(at) + LANES):
            total += sums[i]
            magnitude += (sums[i] ^ (sums[i] >> 63)) >> 32
        return total, magnitude

    @inline
    def lowest_bit(word):
        place = np.uint64(0)
        while (word >> place) & np.uint64(1) == 0:
            place += np.uint64(1)
        return place

else:
    from numba import types
    from numba.extending import intrinsic

    from arboretum.engine.compiler.private import cgutils, ir, llvm

    _yield = ctypes.WinDLL("kernel32").SwitchToThread if os.name == "nt" else None
    if _yield is None:
        _yield = ctypes.CDLL(None).sched_yield
    llvm.add_symbol(_GIVE_WAY, ctypes.cast(_yield, ctypes.c_void_p).value)

    def _place(context, builder, array_type, array, index):
        """Return the address of an element of a contiguous one-dimensional array."""
        data = context.make_array(array_type)(context, builder, array).data
        return builder.gep(data, [index])

    def _hurry(builder, place):
        """Build a prefetch of the memory at an address, for reading, into the nearest cache."""
        byte, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        hint = builder.module.declare_intrinsic(
            "llvm.prefetch.p0", (), ir.FunctionType(ir.VoidType(), [byte, whole, whole, whole])
        )
        builder.call(hint, [builder.bitcast(place, byte), whole(0), whole(3), whole(1)])

    @intrinsic
    def prefetch(typingctx, array, row, column):
        """Bring ``array[row, column]`` of a C-contiguous table into the cache; indices uint64."""

        def build(context, builder, signature, arguments):
            table = context.make_array(signature.args[0])(context, builder, arguments[0])
            width = builder.extract_value(table.shape, 1)
            offset = builder.add(builder.mul(arguments[1], width), arguments[2])
            _hurry(builder, builder.gep(table.data, [offset]))
            return context.get_dummy_value()

        return types.void(array, types.uint64, types.uint64), build

    @intrinsic
    def prefetch_at(typingctx, array, index):
        """Bring ``array[index]`` of a contiguous array into the cache; the index is uint64."""

        def build(context, builder, signature, arguments):
            _hurry(builder, _place(context, builder, signature.args[0], *arguments))
            return context.get_dummy_value()

        return types.void(array, types.uint64), build

    @intrinsic
    def atomic_read(typingctx, array, index):
        """Return ``array[index]``; everything written before it was written is visible, too."""

        def build(context, builder, signature, arguments):
            place = _place(context, builder, signature.args[0], *arguments)
            return builder.load_atomic(place, "seq_cst", 8)

        return types.int64(array, types.int64), build

    @intrinsic
    def atomic_write(typingctx, array, index, value):
        """Write ``array[index]``, after everything written earlier."""

        def build(context, builder, signature, arguments):
            place = _place(context, builder, signature.args[0], *arguments[:2])
            builder.store_atomic(arguments[2], place, "seq_cst", 8)
            return context.get_dummy_value()

        return types.void(array, types.int64, types.int64), build

    @intrinsic
    def atomic_add(typingctx, array, index, value):
        """Add to ``array[index]``; return what it was before."""

        def build(context, builder, signature, arguments):
            place = _place(context, builder, signature.args[0], *arguments[:2])
            return builder.atomic_rmw("add", place, arguments[2], "seq_cst")

        return types.int64(array, types.int64, types.int64), build

    @intrinsic
    def atomic_replace(typingctx, array, index, expected, value):
        """Replace ``expected`` by ``value``; return whether ``expected`` was there."""

        def build(context, builder, signature, arguments):
            place = _place(context, builder, signature.args[0], *arguments[:2])
            pair = builder.cmpxchg(place, arguments[2], arguments[3], "seq_cst", "seq_cst")
            return builder.extract_value(pair, 1)

        return types.boolean(array, types.int64, types.int64, types.int64), build

    @intrinsic
    def give_way(typingctx):
        """Let another thread run on this core if one is waiting."""

        def build(context, builder, signature, arguments):
            kind = ir.FunctionType(ir.IntType(32), [])
            found = builder.module.globals.get(_GIVE_WAY)
            builder.call(found or ir.Function(builder.module, kind, _GIVE_WAY), [])
            return context.get_dummy_value()

        return types.void(), build

    @intrinsic
    def rest_a_moment(typingctx):
        """Hint to the core that this is a waiting loop."""

        def build(context, builder, signature, arguments):
            nothing, whole = ir.VoidType(), ir.IntType(32)
            declare = builder.module.declare_intrinsic
            if _X86:
                builder.call(declare("llvm.x86.sse2.pause", (), ir.FunctionType(nothing, [])), [])
            elif _ARM:
                hint = declare("llvm.aarch64.hint", (), ir.FunctionType(nothing, [whole]))
                builder.call(hint, [whole(1)])
            return context.get_dummy_value()

        return types.void(), build

    @intrinsic
    def ticks(typingctx):
        """Return the processor's cycle counter; 0 where programs may not read it."""

        def build(context, builder, signature, arguments):
            whole = ir.IntType(64)
            if not _X86:
                return whole(0)
            kind = ir.FunctionType(whole, [])
            read = builder.module.declare_intrinsic("llvm.readcyclecounter", (), kind)
            return builder.call(read, [])

        return types.int64(), build

    @intrinsic
    def lowest_bit(typingctx, word):
        """Return the place of the lowest bit of a uint64 that is not 0."""

        def build(context, builder, signature, arguments):
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

        return types.uint64(types.uint64), build

    @intrinsic
    def sum_block(typingctx, sums, at):
        """Return the sum of ``sums[at : at + 16]`` (int64) and that of the magnitudes of their upper halves.

        Each magnitude may be one too small. The index is uint64. The compiler would add one by one,
        because it unrolls a loop this short before it looks for wide instructions.
        """

        def build(context, builder, signature, arguments):
            word = ir.IntType(64)
            lanes = ir.VectorType(word, LANES)
            place = _place(context, builder, signature.args[0], *arguments)
            block = builder.load(builder.bitcast(place, lanes.as_pointer()), align=8)
            zero, half = ir.Constant(lanes, [0] * LANES), ir.Constant(lanes, [32] * LANES)
            below = builder.sext(builder.icmp_signed("<", block, zero), lanes)
            magnitude = builder.lshr(builder.xor(block, below), half)
            add = builder.module.declare_intrinsic(
                f"llvm.vector.reduce.add.v{LANES}i64", (), ir.FunctionType(word, [lanes])
            )
            found = [builder.call(add, [block]), builder.call(add, [magnitude])]
            return context.make_tuple(builder, signature.return_type, found)

        return types.UniTuple(types.int64, 2)(sums, types.uint64), build

    def _and_four(context, builder, signature, arguments, also_lanes):
        """Build ``lanes = table[a] & table[b] & table[c] & table[d]``, and also & lanes if ``also_lanes``."""
        left, right = signature.args[:2]
        target = context.make_array(left)(context, builder, arguments[0]).data
        source = context.make_array(right)(context, builder, arguments[1]).data
        size = left.dtype.bitwidth
        wide = ir.VectorType(ir.IntType(size), 32).as_pointer()
        target = builder.bitcast(target, wide)
        places = [target] if also_lanes else []
        for row in arguments[2:]:
            offset = builder.mul(row, ir.Constant(ir.IntType(64), 32))
            places.append(builder.bitcast(builder.gep(source, [offset]), wide))
        met = builder.load(places[0], align=size // 8)
        for place in places[1:]:
            met = builder.and_(met, builder.load(place, align=size // 8))
        builder.store(met, target, align=size // 8)
        return context.get_dummy_value()

    @intrinsic
    def and_lanes(typingctx, lanes, table, a, b, c, d):
        """Do ``lanes &= table[a] & table[b] & table[c] & table[d]`` for 32 integers each.

        The table is C-contiguous, the rows are uint64. The compiler would not use wide registers by itself,
        because the two arrays might overlap. Four rows at a time, so that the lanes are written only once.
        """

        def build(context, builder, signature, arguments):
            return _and_four(context, builder, signature, arguments, also_lanes=True)

        return types.void(lanes, table, *(types.uint64,) * 4), build

    @intrinsic
    def meet_lanes(typingctx, lanes, table, a, b, c, d):
        """Do ``lanes[:] = table[a] & table[b] & table[c] & table[d]``; see `and_lanes`."""

        def build(context, builder, signature, arguments):
            return _and_four(context, builder, signature, arguments, also_lanes=False)

        return types.void(lanes, table, *(types.uint64,) * 4), build

    @intrinsic
    def search_step(typingctx, sorted_values, x, rank, at, half):
        """Advance eight ranks by ``half`` where the value just before the new place lies below x.

        ``rank[at : at + 8]`` (uint64) are places in ``sorted_values`` (float64). The compiler would turn
        the eight comparisons into branches, half of which would be mispredicted.
        """

        def build(context, builder, signature, arguments):
            table, values, ranks = (
                context.make_array(kind)(context, builder, given).data
                for kind, given in zip(signature.args[:3], arguments[:3], strict=True)
            )
            word, number, lanes = ir.IntType(64), ir.DoubleType(), 8
            whole, numbers = ir.VectorType(word, lanes), ir.VectorType(number, lanes)

            def eight(value):
                none = ir.Constant(whole, ir.Undefined)
                first = builder.insert_element(none, value, ir.Constant(ir.IntType(32), 0))
                zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
                return builder.shuffle_vector(first, none, zeros)

            at, half = arguments[3], arguments[4]
            place = builder.bitcast(builder.gep(ranks, [at]), whole.as_pointer())
            wanted = builder.bitcast(builder.gep(values, [at]), numbers.as_pointer())
            rank, x = builder.load(place, align=8), builder.load(wanted, align=8)
            before = builder.add(rank, eight(builder.sub(half, ir.Constant(word, 1))))
            base = eight(builder.ptrtoint(table, word))
            eights = ir.Constant(whole, [8] * lanes)
            address = builder.add(base, builder.mul(before, eights))
            pointers = ir.VectorType(number.as_pointer(), lanes)
            yes = ir.VectorType(ir.IntType(1), lanes)
            gather = builder.module.declare_intrinsic(
                "llvm.masked.gather.v8f64.v8p0",
                (),
                ir.FunctionType(numbers, [pointers, ir.IntType(32), yes, numbers]),
            )
            found = builder.call(gather, [
                builder.inttoptr(address, pointers), ir.IntType(32)(8),
                ir.Constant(yes, [1] * lanes), ir.Constant(numbers, ir.Undefined),
            ])  # fmt: skip
            below = builder.fcmp_ordered("<", found, x)
            none = ir.Constant(whole, [0] * lanes)
            builder.store(
                builder.add(rank, builder.select(below, eight(half), none)), place, align=8
            )
            return context.get_dummy_value()

        kinds = sorted_values, x, rank, types.uint64, types.uint64
        return types.void(*kinds), build

    def _over_lanes(builder, what, vector):
        """Build the smallest, the largest or the sum of the eight lanes of a vector."""
        size = vector.type.element.width
        kind = ir.FunctionType(vector.type.element, [vector.type])
        name = f"llvm.vector.reduce.{what}.v8i{size}"
        return builder.call(builder.module.declare_intrinsic(name, (), kind), [vector])

    @intrinsic
    def read_blocks(typingctx, values, column, rows, first, blocks, x, at):
        """Gather ``values[column + rows[first + i]]`` for ``blocks`` times eight i, into ``x[at + i]``.

        Returns the smallest and the largest; there is at least one block. The compiler would turn the two
        comparisons into branches, which among a few rows are mispredicted several times.
        """

        def build(context, builder, signature, arguments):
            table, places, target = (
                context.make_array(signature.args[k])(context, builder, arguments[k]).data
                for k in (0, 2, 5)
            )
            size, word = signature.args[0].dtype.bitwidth, ir.IntType(64)
            wide, largest = ir.VectorType(ir.IntType(size), 8), (1 << (size - 1)) - 1
            low = cgutils.alloca_once_value(builder, ir.Constant(wide, [largest] * 8))
            high = cgutils.alloca_once_value(builder, ir.Constant(wide, [-largest - 1] * 8))
            with cgutils.for_range(builder, arguments[4]) as loop:
                begin, here = builder.mul(loop.index, word(8)), ir.Constant(wide, ir.Undefined)
                for lane in range(8):
                    place = builder.add(builder.add(arguments[3], begin), word(lane))
                    row = builder.zext(builder.load(builder.gep(places, [place])), word)
                    found = builder.load(builder.gep(table, [builder.add(arguments[1], row)]))
                    here = builder.insert_element(here, found, ir.IntType(32)(lane))
                out = builder.gep(target, [builder.add(arguments[6], begin)])
                builder.store(here, builder.bitcast(out, wide.as_pointer()), align=size // 8)
                for end, before in ((low, "<"), (high, ">")):
                    so_far = builder.load(end)
                    further = builder.icmp_signed(before, here, so_far)
                    builder.store(builder.select(further, here, so_far), end)
            ends = [
                _over_lanes(builder, "smin", builder.load(low)),
                _over_lanes(builder, "smax", builder.load(high)),
            ]
            return context.make_tuple(builder, signature.return_type, ends)

        index = types.uint64
        return types.UniTuple(values.dtype, 2)(
            values, index, rows, index, types.int64, x, index
        ), build

    @intrinsic
    def add_left(typingctx, x, at, cut, numbers, first, blocks):
        """Return how many of ``blocks`` times eight values ``x[at + i]`` are not above ``cut``, and the sum
        of their ``numbers[first + i]``, int64. The compiler would skip the other values by a branch.
        """

        def build(context, builder, signature, arguments):
            values, numbers = (
                context.make_array(signature.args[k])(context, builder, arguments[k]).data
                for k in (0, 3)
            )
            size, word = signature.args[0].dtype.bitwidth, ir.IntType(64)
            narrow, wide = ir.VectorType(ir.IntType(size), 8), ir.VectorType(word, 8)
            none, first_lane = ir.Constant(narrow, ir.Undefined), ir.IntType(32)(0)
            cut = builder.insert_element(none, arguments[2], first_lane)
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)
            cut = builder.shuffle_vector(cut, none, zeros)
            count, total = (
                cgutils.alloca_once_value(builder, ir.Constant(wide, [0] * 8)) for _ in range(2)
            )
            with cgutils.for_range(builder, arguments[5]) as loop:
                begin = builder.mul(loop.index, word(8))
                place = builder.gep(values, [builder.add(arguments[1], begin)])
                here = builder.load(builder.bitcast(place, narrow.as_pointer()), align=size // 8)
                place = builder.gep(numbers, [builder.add(arguments[4], begin)])
                adds = builder.load(builder.bitcast(place, wide.as_pointer()), align=8)
                left = builder.sext(builder.icmp_signed("<=", here, cut), wide)
                builder.store(builder.sub(builder.load(count), left), count)
                builder.store(builder.add(builder.load(total), builder.and_(left, adds)), total)
            sums = [_over_lanes(builder, "add", builder.load(one)) for one in (count, total)]
            return context.make_tuple(builder, signature.return_type, sums)

        index = types.uint64
        return types.UniTuple(types.int64, 2)(x, index, x.dtype, numbers, index, types.int64), build
