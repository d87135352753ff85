"""By reference: a NamedTuple of arrays is handed to a kernel, and on to what that calls, as one pointer.

To Numba a tuple is a value: what is in it, seven numbers per array, is taken apart and put together again at
every call, and a tuple of tuples of arrays is some hundred arguments. That is most of the code that LLVM
would have to read, only to throw it away. Here the numbers lie in memory while the kernel runs, and
``state.tree.nodes`` reads those it needs where it needs them:

    Python      State(tree=GrowingTree(nodes=…, …), …)
    kernel      state ──> [ tree | … ] ──> [ nodes: address, shape | lists: address, shape | … | numbers ]

Nothing in there changes while the kernel runs; this is marked for LLVM, so that a loop reads it once. The
arrays are Python's, which holds them meanwhile: no references to them are counted.

Tuples that kernels make are values as before, as are bare tuples. A tuple by reference is not taken apart
(``a, b = pair``): name what you need of it.
"""

from __future__ import annotations

import functools
import hashlib
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, register_model, unbox

from arboretum.engine.compiler.private import (
    AttributeTemplate,
    PrimitiveModel,
    cgutils,
    ir,
    type_of_argument,
    types,
)

__all__ = ["ByReference", "is_named", "type_of"]

_BYTE = ir.IntType(8)
_POINTER = _BYTE.as_pointer()
_WORD = ir.IntType(struct.calcsize("P") * 8)


class ByReference(types.Type):
    """The type of a NamedTuple of Python's in a kernel."""

    def __init__(self, instance_class: type, members: tuple) -> None:
        self.instance_class, self.members = instance_class, members
        self.fields: tuple[str, ...] = instance_class._fields  # type: ignore[attr-defined]
        text = f"{instance_class.__module__}:{instance_class.__qualname__}{members}"
        # it becomes part of the names of functions, which are read and written often
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        super().__init__(f"{instance_class.__qualname__}_{digest}")

    def member(self, name: str) -> Any:
        """Return the type of a field."""
        return self.members[self.fields.index(name)]


def is_named(value: Any) -> bool:
    """Return whether a value is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def type_of(value: Any) -> ByReference:
    """Return the type of a NamedTuple, and of those in it.

    Numba computes it once for every kind of value: that is slow, and every call of a kernel needs it.
    """
    kinds = type(value), *map(_kind, value)
    found = _known.get(kinds)
    if found is None:
        members = (type_of(v) if is_named(v) else type_of_argument(v) for v in value)
        found = _known[kinds] = ByReference(type(value), tuple(members))
    return found


_known: dict[Any, ByReference] = {}


def _kind(value: Any) -> Any:
    """Return what the type of a value depends on."""
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype, value.ndim, value.flags.num
    if kind is int:
        return kind, value.bit_length() > 63  # which is unsigned
    if kind is float or kind is bool or value is None:
        return kind
    if is_named(value):
        return id(
            type_of(value)
        )  # which is kept, so no other type has its number: to hash it takes longer
    return kind if issubclass(kind, np.number) else type_of_argument(value)


# ---------------------------------------------------------------------- in memory
class _Layout:
    """Where the cells of every field lie: the largest first, so that there are no gaps."""

    def __init__(self, context: Any, typ: ByReference) -> None:
        cells = [
            (name, number, cell)
            for name, member in zip(typ.fields, typ.members, strict=True)
            for number, cell in enumerate(_cells(context, member))
        ]
        cells.sort(key=lambda one: -_size(one[2]))
        self.place = {(name, number): i for i, (name, number, _) in enumerate(cells)}
        self.size = sum(_size(cell) for *_, cell in cells)
        self.struct = ir.LiteralStructType([cell for *_, cell in cells])
        self._starts = [sum(_size(cell) for *_, cell in cells[:i]) for i in range(len(cells))]

    def address(self, builder: Any, pointer: Any, place: int) -> Any:
        """Return where a cell is: an offset in bytes, which is shorter to write than the structure."""
        cell = self.struct.elements[place]
        if not _size(cell):
            whole = builder.bitcast(pointer, self.struct.as_pointer())
            return cgutils.gep_inbounds(builder, whole, 0, place)
        start = ir.Constant(_WORD, self._starts[place])
        byte = builder.gep(pointer, [start], inbounds=True) if self._starts[place] else pointer
        return byte if cell == _BYTE else builder.bitcast(byte, cell.as_pointer())


def _layout(context: Any, typ: ByReference) -> _Layout:
    if typ not in _layouts:  # the same in every context, of which each function has its own
        _layouts[typ] = _Layout(context, typ)
    return _layouts[typ]


_layouts: dict[ByReference, _Layout] = {}


def _cells(context: Any, member: Any) -> Iterator[ir.Type]:
    if isinstance(member, ByReference):
        yield _POINTER
    elif isinstance(member, types.Array):
        yield _POINTER
        yield from [_WORD] * (member.ndim * (1 if member.layout == "C" else 2))
    elif not isinstance(member, types.NoneType):
        yield context.get_data_type(member)


def _size(cell: ir.Type) -> int:
    """Return how many bytes a cell surely has; 0 if that is not known."""
    if isinstance(cell, ir.IntType):
        return cell.width // 8
    if isinstance(cell, ir.PointerType):
        return _WORD.width // 8
    return {ir.DoubleType: 8, ir.FloatType: 4}.get(type(cell), 0)


@register_model(ByReference)
class _Model(PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _POINTER)


@unbox(ByReference)
def _unbox(typ: ByReference, obj: Any, c: Any) -> NativeValue:
    """Write the cells of a tuple, in the function that Python calls."""
    builder, layout = c.builder, _layout(c.context, typ)
    place = cgutils.alloca_once(builder, layout.struct)
    is_error, natives = cgutils.false_bit, []
    for i, (name, member) in enumerate(zip(typ.fields, typ.members, strict=True)):
        native = c.unbox(member, c.pyapi.tuple_getitem(obj, i))
        natives.append((member, native))
        is_error = builder.or_(is_error, native.is_error)
        for number, cell in enumerate(_cell_values(c.context, builder, member, native.value)):
            at = cgutils.gep_inbounds(builder, place, 0, layout.place[name, number])
            builder.store(cell, at)

    def clean_up() -> None:
        """Let go of the arrays: Numba does so for arguments, and sees none in here."""
        for member, native in reversed(natives):
            if native.cleanup is not None:
                native.cleanup()
            if c.context.enable_nrt:
                c.context.nrt.decref(builder, member, native.value)

    return NativeValue(builder.bitcast(place, _POINTER), is_error, clean_up)


def _cell_values(context: Any, builder: Any, member: Any, value: Any) -> list[Any]:
    if isinstance(member, ByReference):
        return [value]
    if isinstance(member, types.Array):
        array = context.make_array(member)(context, builder, value)
        shape = cgutils.unpack_tuple(builder, array.shape)
        strides = [] if member.layout == "C" else cgutils.unpack_tuple(builder, array.strides)
        return [builder.bitcast(array.data, _POINTER), *shape, *strides]
    if isinstance(member, types.NoneType):
        return []
    return [context.data_model_manager[member].as_data(builder, value)]


# ---------------------------------------------------------------------- in a kernel
@infer_getattr
class _Attributes(AttributeTemplate):
    key = ByReference

    def generic_resolve(self, typ: ByReference, attr: str) -> Any:
        return typ.member(attr) if attr in typ.fields else None


@lower_getattr_generic(ByReference)
def _read(context: Any, builder: Any, typ: ByReference, value: Any, attr: str) -> Any:
    """Read a field."""
    layout, member = _layout(context, typ), typ.member(attr)
    if isinstance(value, ir.Argument):
        value.attributes.dereferenceable = layout.size

    def load(number: int) -> Any:
        cell = builder.load(layout.address(builder, value, layout.place[attr, number]))
        cell.set_metadata("invariant.load", builder.module.add_metadata([]))
        return cell

    if isinstance(member, ByReference):
        pointer = load(0)
        size = ir.Constant(ir.IntType(64), _layout(context, member).size)
        pointer.set_metadata("dereferenceable", builder.module.add_metadata([size]))
        return pointer
    if isinstance(member, types.Array):
        return _array(context, builder, member, load)
    if isinstance(member, types.NoneType):
        return context.get_dummy_value()
    cell = load(0)
    if isinstance(member, types.Boolean):
        return builder.icmp_unsigned("!=", cell, cell.type(0))
    return context.data_model_manager[member].from_data(builder, cell)


def _array(context: Any, builder: Any, member: Any, load: Any) -> Any:
    """Make an array of its address and shape; of one that has no gaps, the rest follows from these."""
    n, model = member.ndim, context.data_model_manager[member]
    itemsize = context.get_constant(
        types.intp, context.get_abi_sizeof(context.get_data_type(member.dtype))
    )
    shape = [load(1 + k) for k in range(n)]
    if member.layout == "C":
        strides = [itemsize]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
    else:
        strides = [load(1 + n + k) for k in range(n)]
    nitems = functools.reduce(builder.mul, shape) if shape else context.get_constant(types.intp, 1)
    kind = model.get_value_type()
    array = ir.Constant(kind, ir.Undefined)
    fields = {
        "meminfo": ir.Constant(kind.elements[model.get_field_position("meminfo")], None),
        "parent": ir.Constant(kind.elements[model.get_field_position("parent")], None),
        "nitems": nitems,
        "itemsize": itemsize,
        "data": builder.bitcast(load(0), kind.elements[model.get_field_position("data")]),
        "shape": cgutils.pack_array(builder, shape, ty=_WORD),
        "strides": cgutils.pack_array(builder, strides[:n], ty=_WORD),
    }
    for name, field in fields.items():
        array = builder.insert_value(array, field, model.get_field_position(name))
    return array
