"""Strings are numbered in the order in which they are first met, whatever their bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.data.frames import arrow_words
from arboretum.engine.columns.string_codes import number_strings

# lengths around one, two and three words of eight bytes, and bytes that differ late, are the risky ones
PIECES = st.sampled_from(["", "a", "b", "é", "\0", "1234567", "12345678", "12345679", "x" * 16])
STRINGS = st.lists(PIECES, max_size=3).map("".join)


def _expected(cells):
    position: dict[str, int] = {}
    codes = [-1 if c is None else position.setdefault(c, len(position)) for c in cells]
    return codes, list(position)


@settings(deadline=None)  # the first one may be compiled
@given(st.lists(st.none() | STRINGS, min_size=1, max_size=60), st.integers(0, 9), st.booleans())
def test_codes_are_those_of_a_dictionary(cells, skipped, wide):
    array = pa.array(["before"] * skipped + cells, pa.large_string() if wide else pa.string())
    words = arrow_words(array[skipped:])
    assert (words.codes.tolist(), words.values) == _expected(cells)


def test_many_distinct_strings_get_a_larger_table():
    cells = [str(i % 5_000) for i in range(20_000)]
    words = arrow_words(pa.array(cells))
    assert (words.codes.tolist(), words.values) == _expected(cells)


def test_strings_of_one_slot_are_told_apart():
    text = np.frombuffer(b"abcdef", np.uint8)
    offsets = np.arange(7)
    codes, known = np.empty(6, np.int32), np.empty((3, 6), np.uint64)
    slots = np.full(16, -1, np.int32)
    nothing = np.empty(0, np.uint8)
    found = number_strings(offsets, text, np.empty(0, np.uint64), nothing, 0, codes, known, slots)
    assert found == 6
    assert codes.tolist() == [0, 1, 2, 3, 4, 5]
    assert known[0].tolist() == [0, 1, 2, 3, 4, 5]
    too_few = np.empty((3, 5), np.uint64)
    slots[:] = -1
    assert (
        number_strings(offsets, text, np.empty(0, np.uint64), nothing, 0, codes, too_few, slots)
        == -1
    )


@pytest.mark.parametrize("cells", [[None], [None, None], [""], ["", None, ""]])
def test_columns_without_a_single_byte(cells):
    words = arrow_words(pa.array(cells, pa.large_string()))
    assert (words.codes.tolist(), words.values) == _expected(cells)
