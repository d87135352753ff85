"""Bins of numbers: the textbook's cuts, found fast; codes, labels, and sparse tables that stay sparse."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from arboretum.c45.discretize import (
    bin_codes,
    bin_labels,
    bin_matrix,
    cut_columns,
    mdl_cuts,
    quantile_cuts,
)
from arboretum.data.matrix import DenseMatrix, FrameMatrix, SparseMatrix
from arboretum.textbook import discretize as textbook

NAN = np.nan
many = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=150,
    suppress_health_check=list(HealthCheck),
)


def column(seed: int):
    """A random column full of ties and gaps, with classes that know something about it."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(1, 120)), int(rng.integers(1, 5))
    x = rng.normal(size=n).round(int(rng.integers(0, 4)))
    noise = rng.choice([0.0, 0.3, 3.0])
    y = np.clip(np.floor(x + noise * rng.normal(size=n) + n_classes / 2), 0, n_classes - 1)
    x[rng.random(n) < rng.choice([0.0, 0.2])] = NAN
    w = [np.ones(n), rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][rng.integers(3)]
    return x, y.astype(np.int64), w, n_classes


# ---------------------------------------------------------------------- against the textbook
@many
@given(st.integers(0, 10**6))
def test_mdl_cuts_are_the_textbooks(seed):
    x, y, w, n_classes = column(seed)
    assert_array_equal(mdl_cuts(x, y, w, n_classes), textbook.mdl_cuts(x, y, w)[0])


@many
@given(st.integers(0, 10**6), st.integers(2, 12))
def test_quantile_cuts_are_the_textbooks(seed, n_bins):
    x, _, w, _ = column(seed)
    assert_array_equal(quantile_cuts(x, n_bins, w), textbook.quantile_cuts(x, n_bins, w))


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_cuts_of_real_tables(load):
    X, y = load(return_X_y=True)
    w = np.ones(len(y))
    n_cuts = 0
    for x in X.T:
        cuts = mdl_cuts(x, y, w, int(y.max()) + 1)
        assert_array_equal(cuts, textbook.mdl_cuts(x, y)[0])
        assert_array_equal(quantile_cuts(x, 7, w), textbook.quantile_cuts(x, 7))
        n_cuts += len(cuts)
    assert n_cuts >= X.shape[1]


def test_published_cuts_of_iris():
    X, y = load_iris(return_X_y=True)
    published = [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]
    for x, expected in zip(X.T, published):
        assert_allclose(mdl_cuts(x, y, np.ones(150), 3), expected)


@pytest.mark.parametrize(
    ("x", "y", "w"),
    [
        ([1, 1, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1]),  # one value
        ([1, 2, 3, 4], [1, 1, 1, 1], [1, 1, 1, 1]),  # one class
        ([NAN, NAN], [0, 1], [1, 1]),
        ([1, 2], [0, 1], [0.4, 0.4]),  # lighter than two cases
        ([-0.0, 0.0, 0.0, -0.0], [0, 1, 1, 0], [1, 1, 1, 1]),  # zero has one value
    ],
)
def test_nothing_to_cut(x, y, w):
    x, y, w = np.array(x, float), np.array(y), np.array(w, float)
    assert len(mdl_cuts(x, y, w, 2)) == 0
    if len(set(x[~np.isnan(x)])) < 2:
        assert len(quantile_cuts(x, 3, w)) == 0


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, np.nextafter(1.0, 2)), (-1.7e308, 1.7e308), (0.0, 5e-324)]
)
def test_any_two_numbers_can_be_parted(low, high):
    x = np.array([low] * 4 + [high] * 4)
    for cuts in (mdl_cuts(x, np.repeat([0, 1], 4), np.ones(8), 2), quantile_cuts(x, 2, np.ones(8))):
        assert bin_codes(x, cuts).tolist() == [0] * 4 + [1] * 4


def test_a_hundred_thousand_rows_and_many_classes_take_a_moment():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100_000)
    w = np.ones(len(x))
    for n_classes in (2, 100):
        noisy = x + rng.normal(scale=0.3, size=len(x))
        y = np.digitize(noisy, np.linspace(-2, 2, n_classes - 1))
        start = time.process_time()
        cuts = mdl_cuts(x, y, w, n_classes)
        assert time.process_time() - start < 1.5  # 0.1 s where nothing else runs
        assert len(cuts) > 10


# ---------------------------------------------------------------------- codes
def test_a_value_on_a_cut_lies_below_and_missing_stays_missing():
    codes = bin_codes(np.array([0.9, 1.0, 1.1, NAN]), np.array([1.0]))
    assert_array_equal(codes, [0, 0, 1, NAN])
    assert bin_codes(np.array([3.0]), np.empty(0)).tolist() == [0.0]


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("fill", [None, [0.0, 0.0, 4.0]])
def test_a_sparse_table_stays_sparse_and_has_the_same_bins(form, fill):
    rng = np.random.default_rng(1)
    dense = rng.normal(size=(50, 3)) * (rng.random((50, 3)) < 0.3)
    dense[3, 0] = NAN
    entries = sp.csr_array(dense).asformat(form)
    matrix = SparseMatrix(entries, None if fill is None else np.array(fill))
    cuts = {0: np.array([-0.5, 0.0, 0.5]), 1: np.array([-1.0])}
    before = matrix.rows(0, 50)
    binned = bin_matrix(matrix, cuts)
    assert isinstance(binned, SparseMatrix)
    expected = bin_matrix(DenseMatrix(before), cuts).rows(0, 50)
    assert_array_equal(binned.rows(0, 50), expected)
    assert_array_equal(np.column_stack([binned.column(f) for f in range(3)]), expected)
    assert_array_equal(expected[:, 2], before[:, 2])  # a column without cuts stays
    assert_array_equal(matrix.rows(0, 50), before)  # the table that was given too


def test_no_cuts_no_copy():
    matrix = FrameMatrix([np.arange(3.0)])
    assert bin_matrix(matrix, {}) is matrix


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_columns_are_cut_one_by_one(n_jobs):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(9000, 4))
    found = cut_columns(
        DenseMatrix(X), [3, 0, 1], lambda x: quantile_cuts(x, 4, np.ones(9000)), n_jobs
    )
    assert list(found) == [3, 0, 1]
    for f, cuts in found.items():
        assert_array_equal(cuts, quantile_cuts(X[:, f], 4, np.ones(9000)))


# ---------------------------------------------------------------------- words
DAY = 86400.0


@pytest.mark.parametrize(
    ("cuts", "kind", "labels"),
    [
        ([], "numeric", ("present",)),
        ([-0.5], "numeric", ("up to -0.5", "above -0.5")),
        ([0.1 + 0.2, 7.0], "numeric", ("up to 0.3", "0.3 to 7", "above 7")),
        ([1234567.5], "numeric", ("up to 1234567.5", "above 1234567.5")),
        (
            [1.0000001, 1.0000002],  # six digits would not tell them apart
            "numeric",
            ("up to 1.0000001", "1.0000001 to 1.0000002", "above 1.0000002"),
        ),
        ([19782 * DAY], "datetime", ("up to 2024-02-29", "above 2024-02-29")),
        (
            [0.0, 1.5 * DAY],
            "datetime",
            ("up to 1970-01-01", "1970-01-01 to 1970-01-02 12:00:00", "above 1970-01-02 12:00:00"),
        ),
        (
            [0.25, 0.75],  # within one second
            "datetime",
            (
                "up to 1970-01-01 + 0.25 s",
                "1970-01-01 + 0.25 s to 1970-01-01 + 0.75 s",
                "above 1970-01-01 + 0.75 s",
            ),
        ),
    ],
)
def test_labels(cuts, kind, labels):
    assert bin_labels(np.array(cuts, float), kind) == labels


@pytest.mark.parametrize("start", [1.0, 1e300, 5e-324, -3.7])
def test_labels_of_neighbouring_floats_differ(start):
    cuts = [start]
    for _ in range(5):
        cuts.append(np.nextafter(cuts[-1], np.inf))
    labels = bin_labels(np.array(cuts))
    assert len(set(labels)) == 7
