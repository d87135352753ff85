"""What trees are grown for, powers of two, and values added to scores."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.dtypes import PAIR, record_table
from arboretum.engine.fixed_point import bits_of_each, scale_for
from arboretum.engine.second_order import pack
from arboretum.grow.histogram import make_given

G, H = np.float32([1.0, -2.0, 0.5]), np.float32([1.0, 1.0, 2.0])


def test_all_rows_count_once():
    given = make_given(G, H, 7)
    assert (len(given.rows), len(given.factor), given.most, given.key) == (0, 0, 1.0, 7)


def test_the_largest_factor_is_known():
    given = make_given(G, H, 0, np.uint32([0, 2]), np.float32([1.0, 3.0]))
    assert given.factor.tolist() == [1.0, 3.0]
    assert given.most == 3.0


@pytest.mark.parametrize(("most", "n"), [(1.0, 1), (0.3, 1000), (5e-9, 7), (1e30, 2**31)])
def test_fine_sums_fit_and_use_their_bits(most, n):
    scale = scale_for(most, bits_of_each(n))
    assert np.frexp(scale)[0] == 0.5  # a power of two
    assert 2.0**59 <= most * scale * 2 ** n.bit_length() < 2.0**62
    assert scale_for(0.0, bits_of_each(n)) == 1.0


@kernel
def sum_leaves(given, fine, entries, ends, leaf_of, sums):
    start = 0
    for leaf in range(len(ends)):
        pack.mark_rows(entries, start, ends[leaf], leaf, leaf_of)
        start = ends[leaf]
    pack.add_fine(given, fine[0], 0, start, leaf_of, sums)


SOME = np.uint32([0, 2, 3])


@pytest.mark.parametrize(
    ("rows", "factor"), [(None, None), (SOME, None), (SOME, np.float32([2.0, 1.0, 3.0]))]
)
def test_leaves_sum_the_derivatives_of_the_rows_that_take_part(rows, factor):
    g, h = np.float32([1.0, -2.0, 4.0, 0.25]), np.float32([1.0, 1.0, 0.5, 2.0])
    given, fine = make_given(g, h, 0, rows, factor), record_table(1, PAIR)
    fine["g"], fine["h"] = 4.0, 2.0
    takes = np.arange(4) if rows is None else rows.astype(np.int64)
    entries = takes[::-1].astype(np.uint64) << np.uint64(32)  # the last one is alone in its leaf
    leaf_of, sums = np.full(4, -1, np.int32), np.zeros((2, 2), np.int64)
    sum_leaves(given, fine, entries, np.array([1, len(takes)]), leaf_of, sums)
    by = np.ones(len(takes)) if factor is None else factor
    expected = [[np.sum((d[takes] * by)[leaf] * scale) for d, scale in ((g, 4), (h, 2))]
                for leaf in (slice(-1, None), slice(0, -1))]  # fmt: skip
    assert sums.tolist() == expected
    assert leaf_of[takes].tolist() == [1] * (len(takes) - 1) + [0]


@pytest.mark.parametrize("rows", [np.empty(0, np.uint32), np.uint32([0, 2, 3])])
def test_rows_add_the_value_of_the_leaf_they_are_marked_with(rows):
    score, leaf_of = np.zeros((4, 2)), np.array([1, 0, 1, 0], np.int32)
    pack.add_marked(leaf_of, np.array([10.0, 20.0]), rows, 1, 3, score, 1)
    expected = np.zeros((4, 2))
    touched = rows[1:3] if len(rows) else [1, 2]
    expected[touched, 1] = np.array([10.0, 20.0])[leaf_of[touched]]
    assert score.tolist() == expected.tolist()
