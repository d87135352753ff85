"""Kernels call kernels that were compiled apart from them."""

from typing import NamedTuple

import numpy as np

from arboretum.engine.jit import plain_kernel
from arboretum.engine.machine_code.by_address import address_of, call_at
from tests.engine.processes import run_script


class Pair(NamedTuple):
    low: np.ndarray
    high: np.ndarray


@plain_kernel
def add_to_all(pair, k, value):
    for i in range(len(pair.low)):
        pair.low[i] += value
        pair.high[k, i] -= value


@plain_kernel
def twice(address, pair, k, value):
    for _ in range(2):
        call_at(address, (pair, k, value))


def test_a_kernel_is_called_by_its_address():
    pair = Pair(np.zeros(3), np.ones((2, 3)))
    address = address_of(add_to_all, pair, 1, 0.5)
    assert address == address_of(add_to_all, pair, 0, 2.5)
    twice(address, pair, 1, 0.5)
    assert pair.low.tolist() == [1.0, 1.0, 1.0]
    assert pair.high.tolist() == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]


def test_without_compiling_an_address_is_the_function():
    script = """
from arboretum.engine.machine_code.by_address import address_of, call_at
call_at(address_of(print, 1), (1, 2))
"""
    assert run_script(script, NUMBA_DISABLE_JIT="1").split() == ["1", "2"]
