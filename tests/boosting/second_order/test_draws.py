"""Draws of rows and columns: how many, which, how evenly, and that nothing else decides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.base.sampling import smallest
from arboretum.boosting.second_order.draws import (
    draw_columns,
    goss_rows,
    subsample_rows,
)
from arboretum.engine.keys import key_of
from arboretum.engine.rows.sample import hash_keys
from arboretum.errors import DataError, ParameterError
from arboretum.textbook import lightgbm_sampling as textbook


def _derivatives(seed: int, n: int, outputs: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    g = rng.standard_normal((outputs, n)).astype(np.float32)
    return g, rng.random((outputs, n)).astype(np.float32)


# ---------------------------------------------------------------------- the smallest keys
@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=80), st.integers(0, 90))
@settings(max_examples=200, deadline=None)
def test_the_smallest_keys_are_those_of_a_stable_sort(keys, k):
    keys = np.array(keys, np.uint64)
    expected = np.sort(np.argsort(keys, kind="stable")[:k])
    np.testing.assert_array_equal(smallest(keys, k), expected)


def test_python_and_compiled_hashes_agree():
    keys = np.empty(100, np.uint64)
    for key in (0, 1, 12345, 2**64 - 1):
        hash_keys(np.uint64(key), keys)
        assert keys.tolist() == [key_of(key, i) for i in range(100)]


# ---------------------------------------------------------------------- GOSS
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    ("a", "b"), [(0.2, 0.1), (0.0, 0.5), (0.5, 0.5), (0.01, 0.001), (0.9, 0.1)]
)
def test_goss_keeps_the_rows_the_textbook_keeps(a, b, outputs):
    for n in (1, 7, 1000):
        g, h = _derivatives(n, n, outputs)
        if n == 7:
            g[:] = 1  # ties: the first rows are kept
            h[:] = 1
        book = textbook.goss(g.T.astype(float), h.T.astype(float), a, b)
        rows, factor = goss_rows(g, h, a, b, seed=3, iteration=8)
        assert rows.dtype == np.uint32
        assert factor.dtype == np.float32
        assert np.all(np.diff(rows.astype(int)) > 0)
        assert len(rows) == len(book.rows)
        n_drawn = min(book.n_drawn, n - book.n_top)
        large = np.float32((n - book.n_top) / max(n_drawn, 1))
        top = np.argsort(-book.score, kind="stable")[: book.n_top]
        expected = np.where(np.isin(rows, top), np.float32(1), large)
        np.testing.assert_array_equal(factor, expected)
        assert np.isin(top, rows).all()


def test_goss_is_right_on_average_and_new_in_every_iteration():
    g, h = _derivatives(0, 2000)
    g += 0.3
    sums, drawn = [], np.zeros(2000)
    for iteration in range(400):
        rows, factor = goss_rows(g, h, 0.2, 0.1, seed=1, iteration=iteration)
        sums.append(float(np.sum(g[0, rows] * factor)))
        drawn[rows] += 1
    assert np.mean(sums) == pytest.approx(g.sum(), abs=3 * np.std(sums) / 20)
    assert np.count_nonzero(drawn == 400) == 400  # the top rows; of the others each at times
    others = drawn[drawn < 400]
    assert abs(others.mean() - 50) < 1e-9
    assert others.min() > 20
    assert others.max() < 85


def test_goss_depends_on_seed_iteration_and_nothing_else():
    g, h = _derivatives(0, 5000)
    one = goss_rows(g, h, seed=1, iteration=5)
    goss_rows(g, h, seed=1, iteration=6)
    for again in (goss_rows(g, h, seed=1, iteration=5), goss_rows(g[0], h[0], seed=1, iteration=5)):
        np.testing.assert_array_equal(one[0], again[0])
        np.testing.assert_array_equal(one[1], again[1])
    for other in ({"seed": 2, "iteration": 5}, {"seed": 1, "iteration": 6}):
        assert not np.array_equal(one[0], goss_rows(g, h, **other)[0])


@pytest.mark.parametrize(("a", "b"), [(-0.1, 0.1), (0.2, 0.0), (0.6, 0.5), (np.nan, 0.1)])
def test_rates_that_make_no_sense(a, b):
    with pytest.raises(ParameterError, match="together they may be at most 1"):
        goss_rows(np.ones(5), np.ones(5), a, b)


# ---------------------------------------------------------------------- subsamples
@given(st.integers(1, 400), st.floats(0.01, 1.0), st.integers(-5, 2**65), st.integers(0, 50))
@settings(max_examples=100, deadline=None)
def test_a_subsample_has_the_size_asked_for(n, fraction, seed, iteration):
    rows = subsample_rows(n, fraction, seed, iteration)
    assert rows.dtype == np.uint32
    assert len(rows) == max(int(fraction * n + 1e-9 * n), 1)
    assert np.all(np.diff(rows.astype(int)) > 0)
    assert rows[-1] < n
    np.testing.assert_array_equal(rows, subsample_rows(n, fraction, seed, iteration))


def test_rows_drawn_one_by_one_do_not_depend_on_the_others():
    few = subsample_rows(1000, 0.3, 4, 2, exact=False)
    many = subsample_rows(3000, 0.3, 4, 2, exact=False)
    np.testing.assert_array_equal(many[many < 1000], few)
    assert 230 < len(few) < 370
    assert len(subsample_rows(1, 0.001, exact=False)) == 1


def test_every_row_is_drawn_equally_often():
    drawn = np.zeros(200)
    for iteration in range(500):
        drawn[subsample_rows(200, 0.4, 9, iteration)] += 1
    assert drawn.sum() == 500 * 80
    assert abs(drawn - 200).max() < 4.5 * np.sqrt(500 * 0.24)
    assert drawn.std() == pytest.approx(np.sqrt(500 * 0.24), rel=0.25)


def test_groups_are_drawn_whole():
    sizes = np.array([3, 1, 0, 5, 2, 4])
    group = np.repeat(np.arange(6), sizes)
    for iteration in range(20):
        rows = subsample_rows(15, 0.5, 0, iteration, groups=sizes)
        inside = set(group[rows].tolist())
        assert rows.tolist() == np.flatnonzero(np.isin(group, list(inside))).tolist()
        assert len(inside) in (2, 3)


def test_strata_have_shares_of_their_own():
    strata = np.random.default_rng(0).integers(0, 3, 1000)
    counts = np.bincount(strata)
    for fraction in (0.5, [0.2, 0.5, 1.0]):
        rows = subsample_rows(1000, fraction, strata=strata)
        assert np.all(np.diff(rows.astype(int)) > 0)
        shares = np.broadcast_to(fraction, 3)
        assert np.bincount(strata[rows]).tolist() == (shares * counts + 1e-6).astype(int).tolist()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"fraction": 0.0}, ParameterError, "fraction must be above 0 and at most 1"),
        ({"fraction": 1.5}, ParameterError, "fraction must be above 0"),
        ({"fraction": np.nan}, ParameterError, "fraction must be above 0"),
        (
            {"fraction": 0.5, "groups": [4, 5]},
            DataError,
            "groups have 9 rows in all, the table has 8",
        ),
        ({"fraction": [0.5, 0.5], "strata": np.zeros(8, int)}, ParameterError, "1 strata and 2"),
    ],
)
def test_shares_that_make_no_sense(options, error, message):
    with pytest.raises(error, match=message):
        subsample_rows(8, **options)


# ---------------------------------------------------------------------- columns
@pytest.mark.parametrize("fraction", [0.01, 0.29, 0.5, 0.999, 1.0])
def test_columns_are_drawn_evenly(fraction):
    drawn = np.zeros(100)
    for key in range(300):
        columns = draw_columns(100, fraction, key)
        assert len(columns) == int(fraction * 100 + 1e-6)
        assert np.all(np.diff(columns) > 0)
        drawn[columns] += 1
    assert abs(drawn / 300 - len(columns) / 100).max() < 0.13


def test_columns_drawn_from_columns():
    some = draw_columns(50, 0.5, 1)
    fewer = draw_columns(some, 0.4, 2)
    assert len(fewer) == 10
    assert np.isin(fewer, some).all()
    assert draw_columns(3, 1e-9, 0).size == 1
    with pytest.raises(ParameterError, match="fraction must be above 0"):
        draw_columns(3, 0.0, 0)
