"""Kernels call kernels that were compiled apart from them."""

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.by_address import address_of, call_at, is_given, stand_in, where_is
from arboretum.engine.compiler.decorators import addressed, kernel
from tests.engine.processes import run_script


class Pair(NamedTuple):
    low: np.ndarray
    high: np.ndarray


@kernel
def add_to_all(pair, k, value):
    for i in range(len(pair.low)):
        pair.low[i] += value
        pair.high[k, i] -= value


@kernel
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


@kernel
def if_needed(address, pair):
    if is_given(address):
        call_at(address, (pair, 0, 1.0))


def test_a_kernel_that_is_not_needed_is_not_called():
    pair = Pair(np.zeros(3), np.ones((2, 3)))
    if_needed(0, pair)
    assert pair.low.tolist() == [0.0] * 3
    if_needed(address_of(add_to_all, pair, 0, 1.0), pair)
    assert pair.low.tolist() == [1.0] * 3


@addressed
def hand_on(address, somewhere, k):
    call_at(address, (somewhere, k, 0.25))


@kernel
def begin(middle, last, pair, k):
    call_at(middle, (last, where_is(pair), k))


def test_a_kernel_hands_on_what_it_does_not_know():
    """One compiled form of it serves tuples of different types."""
    met = set()
    for dtype in (np.float64, np.float32):
        pair = Pair(np.zeros(3, dtype), np.ones((2, 3), dtype))
        last = address_of(add_to_all, pair, 1, 0.25)
        middle = address_of(hand_on, last, stand_in(pair), 1)
        met.add(middle)
        begin(middle, last, pair, 1)
        assert pair.low.tolist() == [0.25] * 3
        assert pair.high.tolist() == [[1.0] * 3, [0.75] * 3]
    assert len(met) == 1


@kernel
def often(address, pair, n):
    for _ in range(n):
        call_at(address, (pair, 0, 1.0))


def test_calls_in_a_loop_do_not_fill_the_stack():
    pair = Pair(np.zeros(1), np.zeros((1, 1)))
    often(address_of(add_to_all, pair, 0, 1.0), pair, 2_000_000)  # 32 MB at 16 bytes each
    assert pair.low[0] == 2_000_000


def test_without_compiling_an_address_is_the_function():
    script = """
from arboretum.engine.compiler.by_address import address_of, call_at
call_at(address_of(print, 1), (1, 2))
"""
    assert run_script(script, NUMBA_DISABLE_JIT="1").split() == ["1", "2"]
