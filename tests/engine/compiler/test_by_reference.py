"""NamedTuples of arrays are one pointer to kernels: same answers, and no reference is lost or kept."""

import pickle
import sys
from typing import NamedTuple

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.compiler.private import LINKED

if LINKED:
    from arboretum.engine.compiler.by_reference import ByReference, type_of

needs_parts = pytest.mark.skipif(not LINKED, reason="tuples are passed by value here")


class Inner(NamedTuple):
    """Arrays of several layouts."""

    rows: np.ndarray
    strided: np.ndarray
    table: np.ndarray
    upright: np.ndarray


class Outer(NamedTuple):
    """A tuple in a tuple, small numbers between large ones, and nothing at all."""

    yes: bool
    inner: Inner
    small: np.int8
    real: float
    nothing: None
    short: np.float32
    count: int
    pair: tuple


def outer(yes=True):
    table = np.arange(12.0).reshape(3, 4)
    inner = Inner(np.arange(5), np.arange(10)[::2], table, np.asfortranarray(table))
    return Outer(yes, inner, np.int8(-3), 0.25, None, np.float32(1.5), 7, (2, 4.0))


@subkernel
def add_up(inner):
    total = 0.0
    for i in range(inner.table.shape[0]):
        for j in range(inner.table.shape[1]):
            total += inner.table[i, j] * inner.upright[i, j]
    for i in range(len(inner.rows)):
        total += inner.rows[i] * inner.strided[i]
    return total


@subkernel(makes_arrays=True)
def last_row(inner):
    return inner.table[len(inner.table) - 1].copy()


@kernel(makes_arrays=True)
def everything(given, out):
    """Read every field, and write into an array of the caller's."""
    given.inner.rows[0] = 9
    out[0] = add_up(given.inner)
    out[1] = given.small + given.real + given.short + given.count + given.pair[0] + given.pair[1]
    out[2] = 1.0 if given.yes else 0.0
    out[3] = 1.0 if given.nothing is None else 0.0
    out[4] = last_row(given.inner)[3]
    out[5] = given.inner.strided.strides[0] + given.inner.table.strides[0]
    out[6] = given.inner.table.size + given.inner.upright.nbytes
    return last_row(given.inner)


@kernel
def without_counting(given, out):
    out[0] = add_up(given.inner)


@pytest.mark.parametrize("yes", [True, False])
def test_a_kernel_reads_every_field_and_writes_into_its_arrays(yes):
    given, out = outer(yes), np.zeros(7)
    row = everything(given, out)
    expected = np.sum(given.inner.table**2) + np.dot(given.inner.rows, given.inner.strided)
    assert given.inner.rows[0] == 9
    np.testing.assert_array_equal(out, [expected, -3 + 0.25 + 1.5 + 7 + 6, yes, 1, 11, 48, 108])
    np.testing.assert_array_equal(row, given.inner.table[2])


@needs_parts
def test_no_reference_is_lost_or_kept():
    given, out = outer(), np.zeros(7)
    everything(given, out)
    without_counting(given, out)
    parts = [out, given.inner, *given.inner, given.pair]
    before = [sys.getrefcount(one) for one in parts]
    for _ in range(100):
        everything(given, out)
        without_counting(given, out)
    assert [sys.getrefcount(one) for one in parts] == before


@needs_parts
def test_types_differ_where_what_is_in_a_tuple_differs():
    given = outer()
    assert type_of(given) is type_of(outer(False))
    others = [
        given._replace(count=2**63),
        given._replace(count=1.0),
        given._replace(small=np.int16(1)),
        given._replace(nothing=0),
        given._replace(inner=given.inner._replace(rows=np.arange(5.0))),
        given._replace(inner=given.inner._replace(table=given.inner.upright)),
    ]
    frozen = np.arange(5)
    frozen.flags.writeable = False
    others.append(given._replace(inner=given.inner._replace(rows=frozen)))
    assert len({str(type_of(one)) for one in [given, *others]}) == 1 + len(others)


@needs_parts
def test_a_type_is_the_same_when_it_is_read_back():
    found = type_of(outer())
    assert isinstance(found, ByReference)
    assert pickle.loads(pickle.dumps(found)) == found


@needs_parts
def test_what_a_tuple_has_not_is_an_error():
    from numba import TypingError

    @kernel
    def wrong(given):
        return given.no_such_field

    with pytest.raises(TypingError, match="no_such_field"):
        wrong(outer())
