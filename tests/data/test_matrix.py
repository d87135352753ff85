"""All three homes of encoded data give the same numbers through the same interface."""

import numpy as np
import pytest
import scipy.sparse as sp

from arboretum.data.matrix import DenseMatrix, FrameMatrix, SparseMatrix

VALUES = np.array([[0.0, 2.0, 0.0], [1.0, np.nan, 0.0], [0.0, -3.0, 4.0], [5.0, 0.0, 0.0]])

MATRICES = {
    "dense C": DenseMatrix(VALUES),
    "dense F": DenseMatrix(np.asfortranarray(VALUES)),
    "dense float32": DenseMatrix(VALUES.astype(np.float32)),
    "dense strided": DenseMatrix(np.repeat(np.repeat(VALUES, 2, axis=0), 3, axis=1)[::2, ::3]),
    "dense reversed": DenseMatrix(VALUES[::-1, ::-1].copy()[::-1, ::-1]),
    "dense big-endian": DenseMatrix(VALUES.astype(">f8")),
    "frame": FrameMatrix(list(VALUES.T)),
    "frame mixed": FrameMatrix(
        [VALUES[:, 0].astype(np.int8), VALUES[:, 1], VALUES[:, 2].astype(np.float32)]
    ),
    "csr": SparseMatrix(sp.csr_array(VALUES)),
    "csc": SparseMatrix(sp.csc_matrix(VALUES)),
}


@pytest.fixture(params=MATRICES)
def matrix(request):
    return MATRICES[request.param]


def is_plain(block):
    return block.dtype == np.dtype(np.float64) and block.flags.c_contiguous


def test_shape(matrix):
    assert (matrix.shape, matrix.n_rows, matrix.n_columns) == ((4, 3), 4, 3)
    assert "4 rows × 3 columns" in repr(matrix)


def test_columns(matrix):
    for f in range(3):
        column = matrix.column(f)
        assert is_plain(column)
        np.testing.assert_array_equal(column, VALUES[:, f])
    np.testing.assert_array_equal(matrix.column(-1), VALUES[:, -1])


@pytest.mark.parametrize(("lo", "hi"), [(0, 4), (1, 3), (2, 2), (3, 99)])
def test_rows(matrix, lo, hi):
    block = matrix.rows(lo, hi)
    assert is_plain(block)
    np.testing.assert_array_equal(block, VALUES[lo:hi])


@pytest.mark.parametrize("rows", [[3, 0], [1, 1, 2], []])
def test_take(matrix, rows):
    rows = np.array(rows, dtype=np.int64)
    taken = matrix.take(rows)
    assert type(taken) is type(matrix)
    assert taken.shape == (len(rows), 3)
    np.testing.assert_array_equal(taken.rows(0, len(rows)), VALUES[rows])
    np.testing.assert_array_equal(taken.column(1), VALUES[rows, 1])


def test_contiguous_float64_is_shared_not_copied():
    array = np.asfortranarray(VALUES)
    assert np.shares_memory(DenseMatrix(array).column(1), array)
    assert np.shares_memory(DenseMatrix(VALUES).rows(1, 3), VALUES)
    column = VALUES[:, 0].copy()
    assert np.shares_memory(FrameMatrix([column]).column(0), column)


def test_sparse_fill_stands_for_entries_that_are_not_stored():
    coded = sp.csc_array(([7.0, 0.0], ([0, 2], [0, 0])), shape=(4, 2))
    matrix = SparseMatrix(coded, fill=np.array([1.0, 0.0]))
    assert matrix.column(0).tolist() == [7, 1, 0, 1]
    assert matrix.rows(1, 4).tolist() == [[1, 0], [0, 0], [1, 0]]
    assert matrix.take(np.array([2, 3])).column(0).tolist() == [0, 1]


def test_more_than_2_to_the_31_elements():
    dense = DenseMatrix(np.broadcast_to(np.int8(3), (70_000, 40_000)))
    assert dense.column(39_999).sum() == 3 * 70_000
    assert dense.rows(69_999, 70_000).sum() == 3 * 40_000
    entries = sp.coo_array(([5.0], ([2_999_999_999], [1])), shape=(3_000_000_000, 2))
    last = SparseMatrix(entries.tocsc().astype(np.float32)[2_999_999_990:])
    assert last.rows(9, 10).tolist() == [[0, 5]]
