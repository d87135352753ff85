"""What a kernel calls is compiled into it: same answers, less to compile, and Numba left as it was."""

import numba
import numpy as np
import pytest
from numba.core import targetconfig

from arboretum.engine.compiler import decorators
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.compiler.linking import KernelCompiler

needs_parts = pytest.mark.skipif(
    not decorators.COMPILED or KernelCompiler is None,
    reason="functions are not compiled into their callers here",
)


@inline
def doubled(x):
    return 2.0 * x


@subkernel(makes_arrays=True)
def doubled_all(values):
    made = np.empty(len(values))
    for i in range(len(values)):
        made[i] = doubled(values[i])
    return made


@subkernel
def total(values):
    found = 0.0
    for i in range(len(values)):
        found += values[i]
    return found


@kernel(makes_arrays=True)
def total_of_doubled(values):
    return total(doubled_all(values))


@kernel(makes_arrays=True)
def twice_that(values):
    return 2.0 * total_of_doubled(values)


@needs_parts
def test_only_kernels_that_python_calls_become_machine_code():
    values = np.arange(5.0)
    assert twice_that(values) == 40.0
    assert not total_of_doubled.overloads  # it was compiled into the other
    assert total_of_doubled(values) == 20.0
    assert len(total_of_doubled.overloads) == 1


def test_python_runs_the_text_of_a_part():
    assert doubled(1.5) == 3.0
    assert total(np.array([1.0, 2.0])) == 3.0


@needs_parts
def test_numba_is_left_as_it_was():
    before = targetconfig.TargetConfig.values
    twice_that(np.arange(3.0, dtype=np.float32))
    assert targetconfig.TargetConfig.values is before

    @numba.njit
    def of_a_user(values):
        return np.empty(len(values)).size + total(values)

    assert of_a_user(np.ones(3)) == 6.0


@needs_parts
def test_an_error_while_compiling_leaves_numba_as_it_was():
    @kernel
    def impossible(values):
        return values.no_such_attribute

    with pytest.raises(numba.TypingError):
        impossible(np.ones(2))
    assert numba.njit(lambda x: x + 1)(1) == 2
