"""Shortcuts while a kernel is compiled: what is compiled is the same, and Numba is left as it was."""

import gc

import numba
import numpy as np
import pytest
from llvmlite import ir as llvm
from numba.core import (
    base,
    cgutils,
    codegen,
    event,
    ir,
    lowering,
    postproc,
    rewrites,
    targetconfig,
)
from numba.core.compiler import DefaultPassBuilder
from numba.core.types import functions
from numba.core.typing import context
from numba.np import arrayobj

from arboretum.engine.compiler import decorators
from arboretum.engine.compiler import shortcuts as module
from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.compiler.linking import KernelCompiler

pytestmark = pytest.mark.skipif(
    not decorators.COMPILED or KernelCompiler is None, reason="nothing is compiled here"
)
CHANGED = [
    (targetconfig.TargetConfig, "values"),
    (targetconfig.TargetConfig, "__hash__"),
    (functions.BaseFunction, "get_call_type"),
    (postproc.PostProcessor, "run"),
    (ir.Inst, "_rec_list_vars"),
    (DefaultPassBuilder, "define_nopython_pipeline"),
    (type(rewrites.rewrite_registry), "apply"),
    (base.BaseContext, "refresh"),
    (context.BaseContext, "refresh"),
    (event, "start_event"),
    (event, "end_event"),
    (event, "install_timer"),
    (base.BaseContext, "get_abi_sizeof"),
    (base, "_has_loc"),
    (llvm.IRBuilder, "extract_value"),
    (arrayobj, "make_array"),
    (lowering.Lower, "_find_singly_assigned_variable"),
    (cgutils, "get_item_pointer2"),
    (codegen.CPUCodeLibrary, "add_ir_module"),
]


def as_it_is():
    return [vars(owner)[name] for owner, name in CHANGED]


def test_all_are_taken_and_undone():
    before = as_it_is()
    with module.shortcuts():
        assert all(a is not b for a, b in zip(before, as_it_is(), strict=True))
        assert not gc.isenabled()
    assert gc.isenabled()
    assert all(a is b for a, b in zip(before, as_it_is(), strict=True))


def test_an_error_undoes_them_too():
    before = as_it_is()
    with pytest.raises(RuntimeError), module.shortcuts():
        raise RuntimeError
    assert gc.isenabled()
    assert all(a is b for a, b in zip(before, as_it_is(), strict=True))


def test_garbage_stays_uncollected_for_who_wants_it_so():
    gc.disable()
    try:
        with module.shortcuts():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_one_that_does_not_fit_is_left_out(monkeypatch):
    def unfit():
        raise AttributeError("Numba has changed")

    monkeypatch.setattr(module, "_ALL", (unfit, module._pause_garbage_collection))
    with module.shortcuts():
        assert not gc.isenabled()


@kernel(makes_arrays=True)
def with_all_kinds(x, flag):
    """Array expressions, closures, strings, what only Numba's own functions know, and loops of two ends."""
    y = 2.0 * x + np.sqrt(x)
    y[1:3] = x[:2] + 1.0
    squares = np.array([i * i for i in range(4)])
    total = np.searchsorted(x, 2.5) + squares.sum()
    while True:
        total += 1
        if flag and total > 40:
            break
        if total > 50:
            break
    return y, total


def test_what_is_compiled_is_what_python_runs():
    x = np.arange(5.0)
    for flag in (True, False):
        y, total = with_all_kinds(x, flag)
        expected = with_all_kinds.py_func(x, flag)
        np.testing.assert_array_equal(y, expected[0])
        assert total == expected[1]


def test_a_function_of_a_user_is_compiled_as_numba_does_it():
    with_all_kinds(np.arange(3, dtype=np.float32), True)

    @numba.njit
    def of_a_user(x):
        return np.sort(x)[::-1].sum()

    assert of_a_user(np.arange(4.0)) == 6.0
    assert of_a_user.get_metadata(of_a_user.signatures[0])["timers"]["llvm_lock"] > 0
