"""Bins of numbers and categories, and codes of any table, against plain NumPy and the textbook."""

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.data.matrix import DenseMatrix, FrameMatrix, SparseMatrix
from arboretum.data.schema import Column, Schema, encode, learn_schema
from arboretum.errors import DataError, ParameterError
from arboretum.grow.bins.categories import frequent_categories
from arboretum.grow.bins.cuts import (
    bounds_around_zero,
    count_values,
    cut_places,
    number_bounds,
)
from arboretum.grow.bins.find import BinRules, Bins, count_codes, find_bins, sample_rows
from arboretum.textbook import lightgbm_bins as textbook
from arboretum.textbook.discretize import quantile_cuts

TINY, HUGE = np.finfo(float).smallest_subnormal, np.finfo(float).max


def _schema(n_columns: int) -> Schema:
    return Schema(tuple(Column(f"x{f}", "numeric") for f in range(n_columns)), False)


def _bins(X, weight=None, **options) -> Bins:
    X = np.asarray(X)
    X = X[:, np.newaxis] if X.ndim == 1 else X
    rules = BinRules(**{"min_data_in_bin": 1, **options})
    return find_bins(DenseMatrix(X), _schema(X.shape[1]), rules, weight)


def _expected(bins: Bins, f: int, x: np.ndarray) -> np.ndarray:
    """The code of a value is the number of bounds below it."""
    below = (bins.bounds_of(f)[np.newaxis, :] < x[:, np.newaxis]).sum(axis=1)
    return np.where(np.isnan(x), bins.missing[f], below)


def _table(seed: int, n: int = 3000) -> np.ndarray:
    """Columns of all kinds: smooth, skewed, few values, half zeros, constant, all missing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    X[:, 1] = np.exp(5 * X[:, 1])
    X[:, 2] = np.round(X[:, 2])
    X[rng.random(n) < 0.6, 3] = 0.0
    X[:, 4] = 7.0
    X[:, 5] = np.nan
    X[:, 6] = np.round(np.exp(X[:, 6]), 2)
    X[rng.random(n) < 0.1, 7] = np.nan
    return X


# ---------------------------------------------------------------------- cuts
@pytest.mark.parametrize("max_bin", [2, 3, 16, 63, 255, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_cuts_are_quantiles_where_no_value_fills_a_bin(seed, max_bin):
    rng = np.random.default_rng(seed)
    for x in (rng.standard_normal(2500), np.arange(300.0)):
        x[rng.random(len(x)) < 0.05] = np.nan
        if len(np.unique(x)) > max_bin:
            bins = _bins(x, max_bin=max_bin)
            np.testing.assert_array_equal(bins.bounds_of(0)[:-1], quantile_cuts(x, max_bin))


@pytest.mark.parametrize("least", [1, 3, 10])
@pytest.mark.parametrize("max_bin", [2, 3, 16, 63, 255, 1000])
def test_bins_of_lightgbm_are_the_textbook_s(least, max_bin):
    rng = np.random.default_rng(least)
    many = rng.standard_normal(2500)
    often = np.concatenate([np.zeros(600), np.arange(-40.0, 90.0), np.full(200, 50.0)])
    for x in (many, rng.integers(-9, 40, 500) * 1.5, np.arange(300.0), often):
        x[rng.random(len(x)) < 0.05] = np.nan
        bins = _bins(x, max_bin=max_bin, min_data_in_bin=least, zero_apart=True)
        book = textbook.make_bins(x, max_bin, min_data_in_bin=least)
        np.testing.assert_array_equal(bins.bounds_of(0)[:-1], book.cuts)
        codes = np.where(np.isnan(x), bins.missing[0], book.codes(x))
        np.testing.assert_array_equal(bins.line(0), codes)


def test_frequent_values_have_bins_of_their_own_and_leave_the_others_to_the_rest():
    x = np.concatenate([np.zeros(6000), np.arange(1.0, 1001.0), np.full(2000, 2000.0)])
    bins = _bins(x, max_bin=12)
    sizes = np.bincount(bins.codes[0])
    assert sizes.tolist() == [6000, *[100] * 10, 2000]
    assert len(quantile_cuts(x, 12)) + 1 < 12  # plain quantiles fall together


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=80), st.integers(2, 40))
@settings(max_examples=200, deadline=None)
def test_places_are_in_order_and_never_too_many(weight, max_bin):
    weight = np.array(weight, float)
    places = cut_places(weight, max_bin)
    assert np.all(np.diff(places) > 0)
    assert len(places) <= min(max_bin, len(weight)) - 1
    if len(weight) <= max_bin:
        assert len(places) == len(weight) - 1
    if len(places):
        assert places[0] >= 0
        assert places[-1] < len(weight) - 1


def test_a_bin_holds_enough_rows():
    x = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], [5, 1, 1, 3, 2])
    assert number_bounds(count_values(x), 255, least=3).tolist() == [1.5, np.inf]
    for least in (1, 2, 3, 5, 7, 13):
        sizes = np.bincount(_bins(x, min_data_in_bin=least).codes[0])
        assert sizes.min() >= min(least, len(x))
    assert np.bincount(_bins(x, min_data_in_bin=2).codes[0]).tolist() == [5, 2, 3, 2]


def test_weights_move_the_cuts():
    x = np.arange(1000.0)
    weight = np.where(x < 100, 9.0, 1.0)
    bins = _bins(x, max_bin=18, weight=weight)
    np.testing.assert_allclose(np.bincount(bins.codes[0], weight), 100, atol=9)
    book = quantile_cuts(x, 18, weight)
    np.testing.assert_array_equal(bins.bounds_of(0)[:-1], book)


@pytest.mark.parametrize("max_bin", [2, 31, 255, 300])
def test_monotone_transforms_give_the_same_codes(max_bin):
    x = np.random.default_rng(0).standard_normal(3000)
    codes = _bins(x, max_bin=max_bin).line(0)
    for y in (np.exp(3 * x), x**3, np.arctan(x), 1e300 * x):
        np.testing.assert_array_equal(_bins(y, max_bin=max_bin).line(0), codes)


# ---------------------------------------------------------------------- codes
@pytest.mark.parametrize("max_bin", [2, 16, 255, 256, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(2))
def test_a_code_is_the_number_of_bounds_below(seed, max_bin, dtype):
    X = _table(seed).astype(dtype)
    bins = _bins(X, max_bin=max_bin)
    assert len(bins.wide) == np.count_nonzero(bins.n_bins > 255)  # few values stay in bytes
    assert (len(bins.wide) > 0) == (max_bin > 255)
    new = np.concatenate([_table(seed + 7, 500), np.tile(bins.bounds[::3], (8, 1)).T])
    for f in range(8):
        line = bins.line(bins.storage[f])
        np.testing.assert_array_equal(line, _expected(bins, f, X[:, f].astype(float)))
        assert bins.n_bins[f] == len(bins.bounds_of(f)) <= max_bin
        assert bins.bounds_of(f)[-1] == np.inf
        assert np.all(np.diff(bins.bounds_of(f)) > 0)
    codes = bins.encode(DenseMatrix(new))
    for f in range(8):
        np.testing.assert_array_equal(codes[bins.storage[f]], _expected(bins, f, new[:, f]))
    assert bins.has_missing.tolist() == [False] * 5 + [True, False, True]
    assert bins.n_bins[4:6].tolist() == [1, 1]


VALUES = st.sampled_from(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        TINY,
        -TINY,
        3 * TINY,
        1e-300,
        HUGE,
        -HUGE,
        HUGE / 2,
        1e17,
        1e17 + 16,
        np.nan,
    ]
) | st.floats(allow_infinity=False, width=64)


@given(st.lists(VALUES, min_size=1, max_size=60), st.lists(VALUES, max_size=20), st.integers(2, 70))
@settings(max_examples=300, deadline=None)
def test_any_values_at_all(values, new, max_bin):
    x, y = np.array(values), np.array(new, dtype=float)
    bins = _bins(x, max_bin=max_bin)
    np.testing.assert_array_equal(bins.codes[0], _expected(bins, 0, x))
    np.testing.assert_array_equal(
        bins.encode(DenseMatrix(y[:, np.newaxis]))[0], _expected(bins, 0, y)
    )
    distinct, codes = np.unique(x[~np.isnan(x)] + 0.0), bins.codes[0][~np.isnan(x)]
    if len(distinct) <= max_bin:  # a bin each
        np.testing.assert_array_equal(codes, np.searchsorted(distinct, x[~np.isnan(x)]))


def test_zeros_of_both_signs_share_a_bin():
    bins = _bins([-0.0, 0.0, 1.0, -1.0])
    assert bins.codes[0].tolist() == [1, 1, 2, 0]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64])
def test_whole_numbers_and_booleans(dtype):
    X = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], dtype)
    np.testing.assert_array_equal(_bins(X).codes, X.T.astype(int))


def test_layout_dtype_and_threads_change_nothing():
    X = _table(3, 20_000)
    kinds = [DenseMatrix(X), DenseMatrix(np.asfortranarray(X)), FrameMatrix(list(X.T)),
             DenseMatrix(np.repeat(X, 2, axis=1)[:, ::2])]  # fmt: skip
    X.flags.writeable = False
    first = find_bins(kinds[0], _schema(8), BinRules(sample=5000))
    for matrix in kinds:
        for n_jobs in (1, 2, 3, 8):
            bins = find_bins(matrix, _schema(8), BinRules(sample=5000), n_jobs=n_jobs)
            np.testing.assert_array_equal(bins.codes, first.codes)
            np.testing.assert_array_equal(bins.bounds, first.bounds)
            np.testing.assert_array_equal(bins.has_missing, first.has_missing)


def test_a_table_without_rows_has_codes_without_rows():
    assert _bins(np.arange(5.0)).encode(DenseMatrix(np.empty((0, 1)))).shape == (1, 0)


# ---------------------------------------------------------------------- sampling
@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(-(2**70), 2**70))
@settings(max_examples=100, deadline=None)
def test_sampled_rows_are_spread_evenly(n, size, seed):
    rows = sample_rows(n, size, seed)
    if n <= size:
        assert rows is None
        return
    assert len(rows) == size
    assert np.all(np.diff(rows) > 0)
    assert rows[0] >= 0
    assert rows[-1] < n
    counts = np.histogram(rows, bins=4, range=(0, n))[0]
    assert np.all(np.abs(counts - size / 4) <= 2)


def test_cuts_of_a_sample_are_near_those_of_all_rows():
    x = np.random.default_rng(0).standard_normal(50_000)
    bins = _bins(x, max_bin=50, sample=20_000, seed=5)
    assert np.abs(np.bincount(bins.codes[0]) / 1000 - 1).max() < 0.15
    assert not np.array_equal(bins.bounds, _bins(x, max_bin=50, sample=20_000, seed=6).bounds)


# ---------------------------------------------------------------------- categories
def _words(words, **options):
    schema, matrix = learn_schema([[word] for word in words])
    return schema, find_bins(matrix, schema, BinRules(**options))


def _frequent(**options):
    return partial(frequent_categories, **options)


def test_categories_are_bins_in_order_or_by_frequency():
    words = ["b", "c", "c", "a", "b", "c", None, "d"]
    schema, bins = _words(words)
    assert schema.columns[0].categories == ("a", "b", "c", "d")
    assert bins.categories_of(0).tolist() == [0, 1, 2, 3]
    assert bins.codes[0].tolist() == [1, 2, 2, 0, 1, 2, 255, 3]
    assert bins.is_category.tolist() == [True]
    assert bins.default_bin.tolist() == [2]
    _, bins = _words(words, categories=_frequent(min_data_in_bin=1))
    assert bins.categories_of(0).tolist() == [2, 1, 0, 3]  # of equals the first
    assert bins.codes[0].tolist() == [1, 0, 0, 2, 1, 0, 255, 3]


def test_rare_categories_count_as_missing():
    words = ["a"] * 90 + ["b"] * 9 + ["c"]
    _, bins = _words(words, categories=_frequent(min_data_in_bin=1))
    assert bins.categories_of(0).tolist() == [0, 1]
    assert bins.codes[0][-1] == 255
    assert bins.has_missing.all()
    for max_bin in (2, 255):
        _, bins = _words(words, max_bin=max_bin)
        assert bins.n_bins.tolist() == [3]
        assert not bins.has_missing.any()


@pytest.mark.parametrize("max_bin", [100, 400])
def test_many_categories(max_bin):
    rng = np.random.default_rng(0)
    words = np.array([f"w{i:03}" for i in np.minimum(rng.geometric(0.01, 5000), 600)])
    schema, bins = _words(words.tolist(), categories=_frequent(max_bin=max_bin))
    coded = encode(schema, [[word] for word in words]).column(0)
    book = textbook.make_bins(coded, max_bin, categorical=True)
    assert set(bins.categories_of(0).tolist()) == set(book.categories.astype(int).tolist())
    line = bins.line(0).astype(int)
    kept = np.append(bins.categories_of(0), -1)[np.where(line == bins.missing[0], -1, line)]
    expected = np.where(np.isin(coded, book.categories), coded, -1)
    np.testing.assert_array_equal(kept, expected)


@pytest.mark.parametrize("max_bin", [8, 63, 255])
@pytest.mark.parametrize("least", [1, 3, 30])
@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_lightgbm_keeps_as_many_categories(max_bin, least, lost):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    for levels in (2, 7, 60, 400, 900):
        x = rng.choice(levels, 4000, p=rng.dirichlet(np.full(levels, 0.5))).astype(float)
        x[rng.random(4000) < lost] = np.nan
        options = {"max_bin": max_bin, "min_data_in_bin": least, "verbose": -1}
        options["feature_pre_filter"] = False
        data = lightgbm.Dataset(
            x[:, None], rng.normal(size=4000), params=options, categorical_feature=[0]
        )
        schema, matrix = learn_schema(x[:, None], categorical_features=[0])
        keep = _frequent(max_bin=max_bin, min_data_in_bin=least)
        bins = find_bins(matrix, schema, BinRules(categories=keep))
        assert bins.n_bins[0] + 1 == data.construct().feature_num_bin(0), levels


def test_unseen_categories_and_columns_without_any():
    schema, bins = _words(["a", "b", "b"])
    with pytest.warns(UserWarning, match="unseen"):
        new = encode(schema, [["z"], ["a"], [None]])
    assert bins.encode(new)[0].tolist() == [255, 0, 255]
    empty = Schema((Column("c", "categorical", (), True),), True)
    bins = find_bins(FrameMatrix([np.full(3, np.nan)]), empty)
    assert bins.n_bins.tolist() == [0]
    assert bins.codes.tolist() == [[255] * 3]


# ---------------------------------------------------------------------- sparse tables
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("sample", [400, 10_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sparse_table_has_the_codes_of_the_dense_one(form, sample, weighted):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((2000, 6)).round(1) * (
        rng.random((2000, 6)) < [0.02, 0.3, 0.9, 1, 0, 0.5]
    )
    X[rng.random(X.shape) < 0.01] = np.nan
    X[:, 1] = np.abs(X[:, 1])
    weight = rng.random(2000) if weighted else None
    dense = _bins(X, max_bin=20, sample=sample, weight=weight)
    matrix = SparseMatrix(getattr(sp, f"{form}_array")(X))
    sparse = find_bins(
        matrix, _schema(6), BinRules(20, sample=sample, min_data_in_bin=1), weight, n_jobs=2
    )
    np.testing.assert_array_equal(sparse.bounds, dense.bounds)
    np.testing.assert_array_equal(sparse.codes, dense.codes)
    np.testing.assert_array_equal(sparse.has_missing, dense.has_missing)
    np.testing.assert_array_equal(dense.encode(matrix), dense.codes)


def test_sparse_categories_fill_with_the_code_of_zero():
    X = sp.csr_array(np.array([[0.0, 1], [7, 0], [0, 0], [7, 2], [0, 0], [9, 0]]))
    schema, matrix = learn_schema(X, categorical_features=[0])
    bins = find_bins(matrix, schema, BinRules(min_data_in_bin=1))
    assert bins.categories_of(0).tolist() == [0, 1, 2]
    assert bins.codes.tolist() == [[0, 1, 0, 1, 0, 2], [1, 0, 0, 2, 0, 0]]


# ---------------------------------------------------------------------- keeping and refusing
def test_bins_survive_pickling():
    bins = _bins(_table(0))
    again = pickle.loads(pickle.dumps(bins))
    np.testing.assert_array_equal(
        again.encode(DenseMatrix(_table(1))), bins.encode(DenseMatrix(_table(1)))
    )
    assert "_tables" not in bins.__getstate__()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_bin": 1}, "max_bin must be at least 2 and at most 65535, got 1"),
        ({"max_bin": 65536}, "max_bin must be at least 2"),
        ({"sample": 1}, "sample must be at least 2, got 1"),
        ({"min_data_in_bin": 0}, "min_data_in_bin must be at least 1"),
        ({"max_conflict": -0.1}, "max_conflict must be at least 0"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ParameterError, match=message):
        _bins(np.arange(9.0), **options)


def test_a_table_of_other_width_is_refused():
    with pytest.raises(DataError, match="the table has 2 columns, its bins are those of 1"):
        _bins(np.arange(9.0)).encode(DenseMatrix(np.zeros((3, 2))))


COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "positive": lambda rng, n: rng.exponential(size=n),
    "whole": lambda rng, n: rng.integers(-3, 12, n).astype(float),
    "many whole": lambda rng, n: np.round(rng.normal(size=n) * 200),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
    "heavy values": lambda rng, n: np.where(
        rng.random(n) < 0.5, rng.choice([1.0, 2.5, -4.0], n), rng.normal(size=n) * 9
    ),
    "missing": lambda rng, n: np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
    "negative": lambda rng, n: -np.round(rng.exponential(size=n), 1) - 0.1,
    "few": lambda rng, n: rng.choice([0.0, 1.0], n),
}


@pytest.mark.parametrize("max_bin", [15, 63, 255])
@pytest.mark.parametrize("name", COLUMNS)
def test_bins_around_zero_are_lightgbms(name, max_bin):
    lightgbm = pytest.importorskip("lightgbm")
    for n in (60, 700, 5_000):
        x = COLUMNS[name](np.random.default_rng(n), n)
        X = x[:, np.newaxis]
        schema, matrix = learn_schema(X)
        ours = find_bins(matrix, schema, BinRules(max_bin, zero_apart=True))
        asked = {
            "max_bin": max_bin,
            "verbose": -1,
            "min_data_in_leaf": 1,
            "feature_pre_filter": False,
        }
        data = lightgbm.Dataset(X, np.arange(n), params=asked).construct()
        counted = int(ours.n_bins[0]) + bool(np.isnan(x).any())
        assert data.feature_num_bin(0) == counted, n


def test_a_sign_shares_no_bin_with_the_other():
    x = np.concatenate([np.random.default_rng(0).normal(size=4_000), np.zeros(3)])
    bounds = bounds_around_zero(count_values(x), 20)
    assert len(bounds) <= 20
    assert bounds[-1] == np.inf
    codes = np.searchsorted(bounds, x)
    assert len(set(codes[x < 0]) & set(codes[x > 0])) == 0
    assert set(codes[x == 0]).isdisjoint(codes[x != 0])


@pytest.mark.parametrize("missing", [False, True])
def test_categories_of_many_rows_are_counted_piece_by_piece(missing):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, 150_000).astype(float)
    x[140_000:] += 20  # new ones in the last piece
    if missing:
        x[70_000] = np.nan
    counts, has_missing = count_codes(x, np.zeros(0, np.int64))
    assert has_missing == missing
    assert np.array_equal(counts, np.bincount(x[~np.isnan(x)].astype(int)))
