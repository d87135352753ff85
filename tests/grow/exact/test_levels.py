"""Presorted lists of dense and sparse tables, and values looked up one by one."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from arboretum.data.matrix import DenseMatrix, SparseMatrix
from arboretum.engine.columns.presort import POSITION
from arboretum.grow.exact.levels import sort_lists, values_at

X = np.array([[2.0, 0.0], [np.nan, 5.0], [1.0, 0.0], [3.0, -1.0]])


def _rows(lists, f):
    first, many = lists.first[f, 0], lists.many[f, 0]
    return (lists.entries[first : first + many] & POSITION).tolist()


def test_lists_hold_the_rows_that_have_a_value_in_order():
    lists = sort_lists(DenseMatrix(X), 1)
    assert _rows(lists, 0) == [2, 0, 3]
    assert _rows(lists, 1) == [3, 0, 2, 1]


def test_what_a_sparse_matrix_does_not_store_is_in_no_list():
    stored = sp.csc_matrix(np.array([[2.0, 0.0], [0.0, 5.0], [1.0, 0.0], [3.0, -1.0]]))
    lists = sort_lists(SparseMatrix(stored, np.full(2, np.nan)), 1)
    assert _rows(lists, 0) == [2, 0, 3]
    assert _rows(lists, 1) == [3, 1]


def test_values_are_looked_up_by_row_and_column():
    stored = sp.csc_matrix(np.array([[2.0, 0.0], [0.0, 5.0], [1.0, 0.0], [3.0, -1.0]]))
    rows, columns = np.array([0, 3, 2]), np.array([0, 1, 1])
    assert values_at(DenseMatrix(X), rows, columns).tolist() == [2.0, -1.0, 0.0]
    matrix = SparseMatrix(stored, np.array([7.0, 8.0]))
    assert values_at(matrix, rows, columns).tolist() == [2.0, -1.0, 8.0]
