"""Entries of a sparse table, from rows to columns."""

import numpy as np
import pytest
import scipy.sparse as sp

from arboretum.data.matrix import DenseMatrix, SparseMatrix
from arboretum.data.schema import learn_schema
from arboretum.grow.bins.find import BinRules, find_bins
from arboretum.grow.bins.sparse import rows_by_column


def _table(seed: int, dtype=np.float64, n: int = 60, width: int = 7) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, width)) < 0.3, rng.integers(-3, 4, (n, width)), 0).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("rows", [None, np.array([0, 3, 4, 59]), np.array([], np.int64)])
def test_some_rows_by_column(dtype, rows):
    X = _table(0, dtype)
    matrix = SparseMatrix(sp.csr_matrix(X))
    found = rows_by_column(matrix, rows).by_column
    assert found.dtype == dtype
    assert np.array_equal(found.toarray(), X if rows is None else X[rows])
    assert matrix.is_by_row  # no second form is kept


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("max_bin", [3, 255, 300])
def test_entries_have_the_codes_of_the_dense_table(make, max_bin):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((900, 4)) < 0.7, rng.normal(size=(900, 4)), 0.0)
    X[rng.random(X.shape) < 0.1] = np.nan
    schema, dense = learn_schema(X)
    assert isinstance(dense, DenseMatrix)
    bins = find_bins(dense, schema, BinRules(max_bin, min_data_in_bin=1))
    assert bins.is_wide.any() == (max_bin == 300)
    entries = bins.code_entries(SparseMatrix(make(X)))
    codes = bins.encode(dense)
    for f in range(4):
        assert np.array_equal(entries.dense(f), codes[bins.storage[f]])


def test_unstored_entries_have_the_code_of_their_value():
    X = _table(2)
    schema, dense = learn_schema(X)
    bins = find_bins(dense, schema, BinRules(min_data_in_bin=1))
    fill = np.array([0.0, np.nan, 2.0, 0.0, 0.0, 0.0, 0.0])
    entries = bins.code_entries(SparseMatrix(sp.csr_matrix(X), fill))
    expected = bins.encode(DenseMatrix(fill[np.newaxis]))[:, 0]
    assert entries.absent.tolist() == expected[bins.storage].tolist()
    assert entries.absent[1] == bins.missing[1]
