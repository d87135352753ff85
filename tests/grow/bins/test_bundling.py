"""Bundles of sparse columns: what goes together, what is lost, and codes that can be taken apart."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.data.matrix import DenseMatrix, SparseMatrix
from arboretum.data.schema import Column, Schema
from arboretum.engine import parallel
from arboretum.grow.bins.bundling import plan_bundles
from arboretum.grow.bins.find import BinRules, Bins, find_bins
from arboretum.textbook import lightgbm_sampling as textbook


def _schema(n_columns: int) -> Schema:
    return Schema(tuple(Column(f"x{f}", "numeric") for f in range(n_columns)), False)


def _one_hot(seed: int, sizes: list[int], n: int = 600) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.hstack([np.eye(k)[rng.integers(0, k, n)] for k in sizes])


def _find(X, n_jobs=1, **options) -> Bins:
    matrix = SparseMatrix(X) if sp.issparse(X) else DenseMatrix(X)
    rules = BinRules(min_data_in_bin=1, **{"bundle": True, **options})
    return find_bins(matrix, _schema(X.shape[1]), rules, n_jobs=n_jobs)


def _taken_apart(bins: Bins) -> np.ndarray:
    """The bins of every feature, read off the bundles."""
    out = np.empty((bins.n_features, bins.n_rows), int)
    for f in range(bins.n_features):
        codes = bins.codes[bins.storage[f]].astype(int)
        if bins.offset[f]:
            b, d = codes - bins.offset[f], bins.default_bin[f]
            mine = (b >= 0) & (b < bins.n_places[f] - 1)
            codes = np.where(mine, b + (b >= d), d)
        out[f] = codes
    return out


def _used(codes: np.ndarray) -> dict[int, np.ndarray]:
    return {f: np.flatnonzero(c).astype(np.uint32) for f, c in enumerate(codes.T)}


# ---------------------------------------------------------------------- plans
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(0, 8), st.floats(0.02, 0.6))
@settings(max_examples=100, deadline=None)
def test_plans_keep_to_the_budget_and_count_what_they_lose(seed, n_columns, budget, density):
    rng = np.random.default_rng(seed)
    codes = rng.integers(1, 4, (60, n_columns)) * (rng.random((60, n_columns)) < density)
    plan = plan_bundles(_used(codes), [4] * n_columns, 60, budget)
    assert sorted(f for bundle in plan for f in bundle.features) == list(range(n_columns))
    for bundle in plan:
        both = (codes[:, bundle.features] != 0).sum(axis=1)
        lost = np.maximum(both - 1, 0).sum()
        assert lost >= np.count_nonzero(both > 1)
        # a row is counted for every column that joined and found it taken
        assert bundle.conflicts == lost <= budget
        assert bundle.n_codes == 1 + 3 * len(bundle.features)


@pytest.mark.parametrize("seed", range(5))
def test_answers_to_one_question_are_bundled_as_in_the_textbook(seed):
    codes = _one_hot(seed, [7]).astype(int)
    (bundle,) = plan_bundles(_used(codes), [2] * 7, len(codes))
    (book,) = textbook.bundle_features(codes)
    assert sorted(bundle.features) == sorted(book.features)
    assert (bundle.n_codes, bundle.conflicts) == (book.n_bins, book.conflicts)
    counts = codes.sum(axis=0)[bundle.features]
    assert np.all(np.diff(counts) <= 0)  # by falling number of rows


def test_a_bundle_has_at_most_255_codes():
    n = 400
    used = {f: np.array([f], np.uint32) for f in range(n)}
    assert [len(b.features) for b in plan_bundles(used, [2] * n, n)] == [254, 146]
    assert [b.n_codes for b in plan_bundles(used, [101] * n, n)][:2] == [201, 201]


def test_more_than_64_bundles():
    """100 questions of 5 answers: whatever does not fit 64 bundles is tried again."""
    X = _one_hot(0, [5] * 100, n=300)
    plan = plan_bundles(_used(X), [2] * 500, 300)
    assert len(plan) <= 110
    for bundle in plan:
        assert X[:, bundle.features].sum(axis=1).max() <= 1


# ---------------------------------------------------------------------- tables
@pytest.mark.parametrize("sparse", [False, True])
def test_one_hot_columns_come_back_whole(sparse):
    X = _one_hot(1, [4, 5, 300, 6]) * 2.5
    bins = _find(sp.csr_array(X) if sparse else X, n_jobs=2)
    plain = _find(X, bundle=False)
    np.testing.assert_array_equal(_taken_apart(bins), plain.codes)
    assert bins.n_storage < 12
    assert bins.conflicts.sum() == 0
    assert bins.codes.max() <= 254
    assert not bins.has_missing.any()


def test_sparse_and_dense_tables_are_bundled_alike():
    rng = np.random.default_rng(5)
    X = rng.integers(-3, 4, (900, 30)) * (rng.random((900, 30)) < 0.03)
    X[:, 7] = rng.integers(0, 9, 900)  # a column that is not sparse
    X = X.astype(float)
    X[3, 11] = np.nan
    dense, *others = (
        _find(make(X), max_conflict=0.02, n_jobs=jobs)
        for make, jobs in [
            (np.asarray, 1),
            (np.asfortranarray, 2),
            (sp.csc_array, 1),
            (sp.csr_array, 8),
        ]
    )
    for bins in others:
        for name in (
            "codes",
            "storage",
            "offset",
            "default_bin",
            "conflicts",
            "joined",
            "has_missing",
        ):
            if name == "default_bin":
                inside = dense.offset > 0
                np.testing.assert_array_equal(bins.default_bin[inside], dense.default_bin[inside])
            else:
                np.testing.assert_array_equal(getattr(bins, name), getattr(dense, name))
    assert dense.offset[7] == dense.offset[11] == 0
    assert dense.n_storage < 20
    np.testing.assert_array_equal(dense.encode(SparseMatrix(sp.csr_array(X))), dense.codes)


def test_codes_and_conflicts_are_the_textbook_s():
    rng = np.random.default_rng(2)
    X = rng.integers(1, 4, (500, 12)) * (rng.random((500, 12)) < 0.05)
    bins = _find(X.astype(float), max_conflict=0.03)
    assert bins.conflicts.sum() > 0
    groups = bins.bundles()
    assert len(groups) >= 1
    for group in groups:
        assert np.all(bins.default_bin[group] == 0)
        offsets = tuple(bins.offset[group].tolist())
        book = textbook.Bundle(tuple(group), offsets, 1 + 3 * len(group), 0)
        s = bins.storage[group[0]]
        np.testing.assert_array_equal(bins.codes[s], textbook.bundle_codes(book, X))
        lost = np.maximum((X[:, group] != 0).sum(axis=1) - 1, 0).sum()
        assert bins.conflicts[s] == lost <= 0.03 * 500


def test_new_rows_keep_the_value_of_the_column_that_joined_first():
    X = np.zeros((10, 2))
    X[:3, 1], X[3:5, 0] = 4.0, 3.0
    bins = _find(X)
    assert bins.bundles() == [[1, 0]]
    new = np.array([[3.0, 4.0], [3.0, 0.0], [0.0, np.nan], [0.0, 0.0]])
    assert bins.encode(DenseMatrix(new)).tolist() == [[1, 2, 0, 0]]
    assert bins.encode(SparseMatrix(sp.csr_array(new))).tolist() == [[1, 2, 0, 0]]


def test_the_default_bin_may_stand_in_the_middle():
    X = np.zeros((40, 2))
    X[:4, 0], X[4:6, 0], X[6:9, 1] = -1.0, 2.0, -5.0
    bins = _find(X)
    assert bins.default_bin.tolist() == [1, 1]
    assert bins.codes[0][:10].tolist() == [1, 1, 1, 1, 2, 2, 3, 3, 3, 0]
    np.testing.assert_array_equal(_taken_apart(bins), _find(X, bundle=False).codes)


def test_the_default_bin_need_not_be_that_of_zero():
    X = np.ones((40, 2))
    X[:4, 0], X[4:6, 0], X[6:9, 1] = 0.0, 2.0, -5.0
    bins = _find(X)
    assert bins.default_bin.tolist() == [1, 1]
    np.testing.assert_array_equal(_taken_apart(bins), _find(X, bundle=False).codes)
    np.testing.assert_array_equal(bins.encode(SparseMatrix(sp.csr_array(X))), bins.codes)


def test_columns_that_cannot_share_stay_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    bins = _find(X)
    assert bins.storage.tolist() == [0, 1, 2, 3]
    assert not bins.offset.any()
    np.testing.assert_array_equal(bins.codes, _find(X, bundle=False).codes)


def test_constant_columns_cost_nothing():
    X = np.zeros((50, 40))
    X[0, 3] = 1.0
    bins = _find(sp.csr_array(X))
    assert bins.n_storage == 1
    np.testing.assert_array_equal(_taken_apart(bins), X.T)


def test_codes_are_looked_at_by_one_thread(monkeypatch):
    """A table that is coded already is small, and a second thread would come too late."""

    def asked(*_):
        raise RuntimeError("a thread was asked for")

    X = np.random.default_rng(0).integers(0, 4, (300, 8)).astype(float)
    monkeypatch.setattr(parallel, "_get_pool", asked)
    _find(X, n_jobs=2)


# ---------------------------------------------------------------------- what is not stored is missing
def test_columns_whose_absent_values_are_missing_share_a_column():
    X = sp.csr_matrix(_one_hot(3, [5, 7]) * np.arange(1.0, 13.0))
    X.data[:4] = [np.nan, 9.0, np.nan, 8.5]
    matrix = SparseMatrix(X, np.full(12, np.nan))
    alone = find_bins(matrix, _schema(12), BinRules(min_data_in_bin=1))
    shared = find_bins(matrix, _schema(12), BinRules(min_data_in_bin=1, bundle=True))
    assert shared.n_storage == 2
    assert not shared.conflicts.any()
    assert shared.has_missing.all()
    assert np.array_equal(shared.default_bin, shared.n_bins)
    expected = np.where(alone.codes == 255, alone.n_bins[:, np.newaxis], alone.codes)
    assert np.array_equal(_taken_apart(shared), expected[alone.storage])


def test_a_stored_missing_value_keeps_a_column_alone_if_others_are_zero():
    X = sp.csr_matrix(_one_hot(3, [5]))
    X.data[0] = np.nan
    assert np.count_nonzero(_find(X).offset == 0) == 1
