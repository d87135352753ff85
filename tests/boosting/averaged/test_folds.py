"""Folds: every row is held out once, groups stay together, time flows one way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.boosting.averaged.folds import (
    folds_by_group,
    folds_by_time,
    random_folds,
    rows_folds,
)
from arboretum.boosting.second_order.recipe import TrainingTable
from arboretum.data.schema import learn_schema
from arboretum.errors import DataError


def table_of(y, weight=None):
    schema, matrix = learn_schema(np.arange(float(len(y)))[:, None])
    return TrainingTable(matrix, np.asarray(y, np.float64), weight, schema=schema)


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=60),
    st.integers(2, 4),
    st.integers(0, 5),
    st.booleans(),
)
def test_random_folds_are_even_within_classes(y, n_folds, seed, by_class):
    y = np.array(y)
    fold = random_folds(y, n_folds, seed, by_class=by_class)
    counts = np.bincount(fold, minlength=n_folds)
    assert counts.sum() == len(y)
    assert np.ptp(counts) <= 1
    for label in np.unique(y) if by_class else ():
        each = np.bincount(fold[y == label], minlength=n_folds)
        assert np.ptp(each) <= 1
    assert (fold == random_folds(y, n_folds, seed, by_class=by_class)).all()


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=60), st.integers(2, 5), st.integers(0, 5))
def test_groups_stay_together(groups, n_folds, seed):
    groups = np.array(groups)
    if len(np.unique(groups)) < 2:
        with pytest.raises(DataError, match="at least two groups"):
            folds_by_group(groups, n_folds, seed)
        return
    fold = folds_by_group(groups, n_folds, seed)
    assert all(len(np.unique(fold[groups == one])) == 1 for one in groups)
    assert sorted(set(fold.tolist())) == list(range(min(n_folds, len(np.unique(groups)))))


@pytest.mark.parametrize("n", [2, 3, 7, 100])
@pytest.mark.parametrize("used", [1, 3, 5])
def test_rows_learned_from_come_before_those_held_out(n, used):
    folds = folds_by_time(table_of(np.arange(n)), 5, used)
    assert 1 <= len(folds) <= used
    assert folds[0].held[-1] == n - 1, "the last rows are held out first"
    for fold in folds:
        assert len(fold.rows)
        assert fold.rows.max() < fold.held.min()
        assert (np.diff(np.r_[fold.rows, fold.held]) == 1).all()


def test_a_fold_has_the_labels_and_weights_of_its_held_out_rows():
    y, weight = np.arange(6.0), np.arange(6.0) + 1
    first, second = rows_folds(table_of(y, weight), np.array([0, 1, 2, 0, 1, 2]), 2)
    assert first.held.tolist() == [0, 3]
    assert first.rows.tolist() == [1, 2, 4, 5]
    assert first.truth.y.tolist() == [0.0, 3.0]
    assert first.truth.weight.tolist() == [1.0, 4.0]
    assert second.matrix.column(0).tolist() == [1.0, 4.0]
