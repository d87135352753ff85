"""Columns of binned tables are taken and joined: the same codes as if they had been binned together."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from arboretum.data.schema import learn_schema
from arboretum.errors import DataError
from arboretum.grow.bins.columns import beside, take_columns
from arboretum.grow.bins.find import BinRules, find_bins

RULES = BinRules(max_bin=300, min_data_in_bin=1, bundle=True)


def binned(X):
    schema, matrix = learn_schema(X)
    return find_bins(matrix, schema, RULES)


def mixed(n=600):
    """Numbers of few and of many values, words, gaps."""
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=n), rng.integers(0, 5, n), rng.normal(size=n), rng.integers(0, 9, n)]
    X = np.column_stack(columns).astype(object)
    X[:, 3] = [f"w{k}" for k in columns[3]]
    X[rng.random(X.shape) < 0.1] = None
    return X


def check_same(first, second):
    for one in fields(first):
        assert np.array_equal(getattr(first, one.name), getattr(second, one.name)), one.name


@pytest.mark.parametrize("some", [[0], [3, 1], [1, 3, 0, 2], [2, 0]])
def test_columns_that_are_taken_are_those_binned_alone(some):
    X = mixed()
    taken, alone = take_columns(binned(X), some), binned(X[:, some])
    for f in range(len(some)):
        assert np.array_equal(taken.line(taken.storage[f]), alone.line(alone.storage[f]))
        assert np.array_equal(taken.bounds_of(f), alone.bounds_of(f))
        assert np.array_equal(taken.categories_of(f), alone.categories_of(f))


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_tables_side_by_side_are_the_whole_table(cut):
    X = mixed()
    check_same(beside(binned(X[:, :cut]), binned(X[:, cut:])), binned(X))


def test_bundles_stay_together():
    which = np.arange(90) % 3
    X = np.column_stack([(which == k) * (1.0 + np.arange(90) % 4) for k in range(3)])
    rest = np.arange(90.0)[:, None]
    bins = binned(X)
    assert bins.bundles()
    check_same(beside(bins, binned(rest)), beside(take_columns(bins, [0, 1, 2]), binned(rest)))


def test_other_rows_are_refused():
    with pytest.raises(DataError, match="600 and 599 rows"):
        beside(binned(mixed()), binned(mixed(599)))
