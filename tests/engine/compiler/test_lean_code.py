"""Less LLVM code while a kernel is compiled: the answers of Numba's own code, by fewer instructions."""

import numba
import numpy as np
import pytest
from llvmlite import ir as llvm
from numba.core import codegen
from numba.core.caching import NullCache

from arboretum.engine.compiler import decorators, lean_code
from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.compiler.linking import KernelCompiler

pytestmark = pytest.mark.skipif(
    not decorators.COMPILED or KernelCompiler is None, reason="nothing is compiled here"
)


def _written_in_two_blocks(values, flag):
    pair = values[0], values[1]
    if flag:
        pair = values[2], pair[0]
    view = values[1:]
    total = 0.0
    for i in range(len(view)):
        total += view[i] * pair[i % 2]
    return total + values[-1]


def _of_two_dimensions(table, k):
    row = table[k]
    best, place = -np.inf, (0, 0)
    for i in range(table.shape[0]):
        for j in range(np.uint64(table.shape[1])):
            if table[i, j] > best:
                best, place = table[i, j], (i, np.int64(j))
    table[place[0], place[1]] = row[0]
    return best + row.sum() + place[0] * 10 + place[1]


def _assigned_on_one_way(n):
    total = 0
    for i in range(n):
        if i % 3 == 1:
            last = i * i
        if i % 3 == 2:
            total += last
    return total


def _arrays_that_are_made(n):
    kept = np.zeros(n, np.int64)
    for i in range(n):
        fresh = np.empty(i + 1, np.int64)
        for j in range(len(fresh)):
            fresh[j] = i * j
        if i % 2:
            kept[i] = fresh[len(fresh) - 1]
            continue
        other = fresh.reshape((1, i + 1))
        kept[i] = other[0, -1] - 1
    return kept


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (_written_in_two_blocks, (np.array([1.0, 2.0, 4.0, 8.0]), True)),
        (_written_in_two_blocks, (np.array([1.0, 2.0, 4.0, 8.0]), False)),
        (_of_two_dimensions, (np.arange(12.0).reshape(3, 4), 1)),
        (_of_two_dimensions, (np.arange(12.0).reshape(4, 3).T, -1)),
        (_assigned_on_one_way, (20,)),
        (_arrays_that_are_made, (9,)),
    ],
)
def test_answers_are_numbas_own(function, arguments):
    ours = _fresh(function)
    copies = [tuple(one.copy() if hasattr(one, "copy") else one for one in arguments) for _ in "ab"]
    np.testing.assert_array_equal(ours(*copies[0]), numba.njit(function)(*copies[1]))
    for mine, theirs in zip(*copies, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def _fresh(function):
    """Return a kernel that is compiled here, whatever was compiled before."""
    compiled = kernel(function)
    compiled._cache = NullCache()
    return compiled


def _count(function, *arguments, lean, monkeypatch):
    """Return how many instructions LLVM is given."""
    many = 0
    its_own = codegen.CPUCodeLibrary.add_ir_module

    def add_ir_module(self, module):
        nonlocal many
        many += sum(len(b.instructions) for f in module.functions for b in f.blocks)
        its_own(self, module)

    with monkeypatch.context() as patch:
        patch.setattr(codegen.CPUCodeLibrary, "add_ir_module", add_ir_module)
        if not lean:
            patch.setattr("arboretum.engine.compiler.shortcuts._ALL", ())
        _fresh(function)(*arguments)
    return many


def test_it_is_less(monkeypatch):
    arguments = np.arange(12.0).reshape(3, 4), 1
    full = _count(_of_two_dimensions, *arguments, lean=False, monkeypatch=monkeypatch)
    less = _count(_of_two_dimensions, *arguments, lean=True, monkeypatch=monkeypatch)
    assert less < 0.7 * full


def test_a_part_that_two_kernels_call_is_linked_into_both():
    @subkernel
    def twice(x):
        return x + x

    @subkernel
    def four_times(x):
        return twice(twice(x))

    def one(x):
        return four_times(x) + twice(x)

    def other(x):
        return four_times(four_times(x))

    assert kernel(one)(np.int64(3)) == 18
    assert kernel(other)(np.int64(3)) == 48
    assert numba.njit(lambda x: four_times(x) + 1)(3) == 13


def test_what_nobody_uses_is_dropped():
    module = llvm.Module()
    word = llvm.IntType(64)
    function = llvm.Function(module, llvm.FunctionType(word, [word.as_pointer(), word]), "f")
    builder = llvm.IRBuilder(function.append_basic_block())
    pair = llvm.Constant(llvm.LiteralStructType([word, word]), llvm.Undefined)
    pair = builder.insert_value(pair, builder.load(function.args[0]), 0)
    builder.extract_value(pair, 0)  # read for nobody, and what it was read from
    builder.store(function.args[1], function.args[0])
    builder.ret(builder.add(function.args[1], function.args[1]))
    lean_code._drop_unused(function.blocks)
    assert [one.opname for one in function.blocks[0].instructions] == ["store", "add", "ret"]
