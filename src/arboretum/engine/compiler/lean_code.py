"""Lean code: less LLVM code for the same machine code.

Numba writes ``nodes[k]`` as if everything were in memory: the array, seven numbers, is put there, and what is
needed is read back, sixty instructions, of which LLVM leaves three. Each is made, named, printed, read and
thrown away again. While a kernel is compiled (engine/compiler/shortcuts.py), they are not written at all:

    fields      what was put into a structure and is taken out of it is the value that was put in
    structures  an array, a tuple, a range is a value and not put into memory
    variables   one that is assigned in one place is its value, and has no memory of its own
    places      the place of an item is not multiplied by one and added to nothing
    unused      what nobody uses is not printed

LLVM does the same to what Numba writes, so that what is compiled does not change.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir as llvm
from numba.core import cgutils, codegen, ir, lowering, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.np import arrayobj

from arboretum.engine.compiler.replaced import replaced

__all__ = ["LEAN"]


# ---------------------------------------------------------------------- fields
def _take_what_was_put_in() -> contextlib.AbstractContextManager[None]:
    """Return the value that was put into a structure where it is taken out again."""
    its_own = llvm.IRBuilder.extract_value

    def extract_value(self: Any, agg: Any, idx: Any, name: str = "") -> Any:
        place = tuple(idx) if isinstance(idx, (tuple, list)) else (idx,)
        while type(agg) is llvm.InsertValue:
            put = tuple(agg.indices)
            if put == place:
                return agg.operands[1]
            if put[: len(place)] == place or place[: len(put)] == put:
                break  # a part of it, or it is a part
            agg = agg.operands[0]
        return its_own(self, agg, idx, name)

    return replaced(llvm.IRBuilder, extract_value=extract_value)


# ---------------------------------------------------------------------- structures
def _keep_structures_out_of_memory() -> contextlib.AbstractContextManager[None]:
    """Let structures (arrays, tuples, ranges, …) be values, until one is written to in another block."""
    Proxy = cgutils.ValueStructProxy
    its_own = {name: getattr(Proxy, name) for name in _METHODS}

    def or_its_own(name: str) -> Callable:
        lean, own = _METHODS[name], its_own[name]

        def method(self: Any, *arguments: Any) -> Any:
            known = self.__dict__.get("_known")
            return own(self, *arguments) if known is None else lean(self, known, *arguments)

        return method

    def init(self: Any, context: Any, builder: Any, value: Any = None, ref: Any = None) -> None:
        model = context.data_model_manager[self._fe_type]
        if ref is not None or type(self)._make_refs is not Proxy._make_refs:
            its_own_init(self, context, builder, value, ref)
            return
        self._context, self._builder, self._datamodel = context, builder, model
        self._be_type = model.get_value_type()
        if value is not None and value.type != self._be_type:
            raise AssertionError(f"bad value type: expected {self._be_type}, got {value.type}")
        self._known = _Known(builder.block, value, {})

    its_own_init = Proxy.__init__
    methods = {name: or_its_own(name) for name in _METHODS}
    return replaced(Proxy, __init__=init, **methods)


class _Known(NamedTuple):
    """What is known of a structure that is not in memory."""

    block: Any  # where it was made
    value: Any  # the whole, or None: zeros
    fields: dict[int, Any]  # what was written over that


def _get_field(proxy: Any, known: _Known, index: int) -> Any:
    if index in known.fields:
        return known.fields[index]
    if known.value is None:
        return llvm.Constant(proxy._be_type.elements[index], None)
    return proxy._builder.extract_value(known.value, index)


def _set_field(proxy: Any, known: _Known, index: int, value: Any) -> None:
    is_simple = value.type == proxy._be_type.elements[index]
    if is_simple and proxy._builder.block is known.block:
        known.fields[index] = value
    else:
        _put_into_memory(proxy, known)
        proxy[index] = value


def _get_value(proxy: Any, known: _Known) -> Any:
    value = llvm.Constant(proxy._be_type, None) if known.value is None else known.value
    if len(known.fields) == len(proxy._be_type.elements):
        value = llvm.Constant(proxy._be_type, llvm.Undefined)
    for index, field in known.fields.items():
        value = proxy._builder.insert_value(value, field, index)
    return value


def _set_value(proxy: Any, known: _Known, value: Any) -> None:
    if proxy._builder.block is known.block:
        proxy._known = _Known(known.block, value, {})
    else:
        _put_into_memory(proxy, known)
        proxy._setvalue(value)


def _get_pointer(proxy: Any, known: _Known) -> Any:
    _put_into_memory(proxy, known)
    return proxy._getpointer()


def _get_pointer_to_field(proxy: Any, known: _Known, index: int) -> Any:
    _put_into_memory(proxy, known)
    return proxy._get_ptr_by_index(index)


def _put_into_memory(proxy: Any, known: _Known) -> None:
    """Store what is known, at the end of the block that made it, and let Numba go on from there."""
    builder, now = proxy._builder, proxy._builder.block
    memory = cgutils.alloca_once(builder, proxy._be_type)
    is_elsewhere = now is not known.block
    if is_elsewhere:
        end = known.block.terminator
        builder.position_at_end(known.block) if end is None else builder.position_before(end)
    builder.store(_get_value(proxy, known), memory)
    if is_elsewhere:
        builder.position_at_end(now)
    proxy._known, proxy._value, proxy._outer_ref = None, memory, memory


_METHODS: dict[str, Callable] = {
    "__getitem__": _get_field,
    "__setitem__": _set_field,
    "_getvalue": _get_value,
    "_setvalue": _set_value,
    "_getpointer": _get_pointer,
    "_get_ptr_by_index": _get_pointer_to_field,
}


def _keep_arrays_out_of_memory() -> contextlib.AbstractContextManager[None]:
    """Let arrays be structures like others: Numba reads their shapes from memory."""
    its_own = arrayobj.make_array

    def make_array(array_type: Any) -> Any:
        is_plain = type(array_type) is types.Array
        return cgutils.create_struct_proxy(array_type) if is_plain else its_own(array_type)

    return replaced(arrayobj, make_array=make_array)


# ---------------------------------------------------------------------- variables
def _keep_variables_out_of_memory() -> contextlib.AbstractContextManager[None]:
    """Let a variable be its value also where it is used in other blocks than the one that assigns it.

    Numba does so within a block. The one assignment must come before all uses on every way through the
    function. What is counted by references stays in memory, where Numba notes whether it was let go.
    """
    Lower = lowering.Lower
    its_own = Lower._find_singly_assigned_variable

    def find(self: Any) -> None:
        its_own(self)
        if not self.func_ir.func_id.is_generator:
            self._singly_assigned_vars |= _assigned_once(self)

    return replaced(Lower, _find_singly_assigned_variable=find)


def _assigned_once(lower: Any) -> set[str]:
    blocks = lower.blocks
    assigned: dict[str, list[Any]] = defaultdict(list)
    used: dict[str, dict[Any, int]] = defaultdict(dict)  # where, and the first in each block
    for label, block in blocks.items():
        for i, statement in enumerate(block.body):
            if isinstance(statement, ir.Del):
                used[statement.value].setdefault(label, i)
                continue
            is_assignment = isinstance(statement, ir.Assign)
            for variable in _variables(statement.value if is_assignment else statement):
                used[variable.name].setdefault(label, i)
            if is_assignment:
                assigned[statement.target.name].append((label, i))
    dominators = compute_cfg_from_blocks(blocks).dominators()
    in_memory = lowering.must_use_alloca(blocks)
    return {
        name
        for name, places in assigned.items()
        if len(places) == 1
        and name not in in_memory
        and not _is_counted(lower, name)
        and all(_comes_first(places[0], use, dominators) for use in used[name].items())
    }


def _variables(part: Any) -> list[Any]:
    if isinstance(part, ir.Var):
        return [part]
    return part.list_vars() if isinstance(part, ir.Inst) else []


def _is_counted(lower: Any, name: str) -> bool:
    context = lower.context
    if not context.enable_nrt:
        return False
    return context.data_model_manager[lower.typeof(name)].contains_nrt_meminfo()


def _comes_first(assigned: Any, used: Any, dominators: Any) -> bool:
    """Return whether an assignment is made, and written down, before a use."""
    if assigned[0] == used[0]:
        return assigned[1] < used[1]
    return assigned[0] < used[0] and assigned[0] in dominators[used[0]]


# ---------------------------------------------------------------------- places
def _find_places_briefly() -> contextlib.AbstractContextManager[None]:
    """Write where an item of an array without gaps lies, without multiplying by one."""
    its_own = cgutils.get_item_pointer2

    def get_item_pointer2(
        context: Any, builder: Any, data: Any, shape: Any, strides: Any, layout: str, inds: Any,
        wraparound: bool = False, boundscheck: bool = False,
    ) -> Any:  # fmt: skip
        if layout != "C" or wraparound or boundscheck or len(inds) != len(shape) or not inds:
            return its_own(
                context, builder, data, shape, strides, layout, inds, wraparound, boundscheck
            )
        place = inds[0]
        for index, length in zip(inds[1:], shape[1:], strict=True):
            place = builder.add(builder.mul(place, length), index)
        return builder.gep(data, [place])

    return replaced(cgutils, get_item_pointer2=get_item_pointer2)


# ---------------------------------------------------------------------- unused
def _print_what_is_used() -> contextlib.AbstractContextManager[None]:
    """Leave out what was read and put together for nobody."""
    Library = codegen.CPUCodeLibrary
    its_own = Library.add_ir_module

    def add_ir_module(self: Any, ir_module: Any) -> None:
        for function in ir_module.functions:
            _drop_unused(function.blocks)
        its_own(self, ir_module)

    return replaced(Library, add_ir_module=add_ir_module)


_HARMLESS = (
    llvm.InsertValue,
    llvm.ExtractValue,
    llvm.GEPInstr,
    llvm.CastInstr,
    llvm.LoadInstr,
)


def _drop_unused(blocks: Any) -> None:
    """Drop instructions that do nothing but give a value, if nobody uses it, and so what they used."""
    users: dict[int, int] = defaultdict(int)
    for block in blocks:
        for one in block.instructions:
            for operand in _operands(one):
                users[id(operand)] += 1
    for block in reversed(blocks):
        kept = []
        for one in reversed(block.instructions):
            if isinstance(one, _HARMLESS) and not users[id(one)]:
                for operand in one.operands:
                    users[id(operand)] -= 1
            else:
                kept.append(one)
        block.instructions[:] = kept[::-1]


def _operands(instruction: Any) -> Any:
    if isinstance(instruction, llvm.PhiInstr):
        return [value for value, _ in instruction.incomings]
    return instruction.operands


LEAN: tuple[Callable[[], contextlib.AbstractContextManager[None]], ...] = (
    _take_what_was_put_in,
    _keep_structures_out_of_memory,
    _keep_arrays_out_of_memory,
    _keep_variables_out_of_memory,
    _find_places_briefly,
    _print_what_is_used,
)
