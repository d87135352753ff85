"""Column blocks: the trees of exact search, fewer operations, the same for any number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from arboretum import XGBRegressor
from arboretum.textbook import (
    Operations,
    XGBSettings,
    block_bytes,
    cache_misses,
    column_blocks,
    expected_operations,
    grow_level_by_level,
    grow_xgb,
    operations_without_blocks,
    reads_in_blocks,
    seconds_in_parallel,
    time_sorting,
)


def _table(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (n, 3)).astype(float)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, rng.integers(-9, 10, n).astype(float), rng.integers(1, 4, n).astype(float)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), depth=st.integers(1, 4))
def test_blocks_give_the_tree_of_exact_search(seed, depth):
    X, g, h = _table(seed)
    rules = XGBSettings(max_depth=depth)
    tree = grow_xgb(X, g, h, rules)
    grown = grow_level_by_level(X, g, h, rules)
    splits = {node.path: node.chosen for node in tree if node.chosen}
    assert grown.splits == splits
    for leaf in (node for node in tree if node.is_leaf):
        assert set(grown.node_of_row[leaf.rows]) == {leaf.path}


def test_any_number_of_threads_gives_the_same_splits():
    X, g, h = _table(1, 200)
    one, three = (grow_level_by_level(X, g, h, n_threads=n) for n in (1, 3))
    assert one.splits == three.splits
    assert one.operations == three.operations


def test_blocks_are_compressed_sorted_columns():
    X, *_ = _table(2)
    blocks = column_blocks(X)
    present = sparse.csc_array(np.where(np.isnan(X), 0, X + 1))  # +1: a value of 0 is present
    assert_array_equal(blocks.starts, present.indptr)
    for f in range(blocks.n_columns):
        values, rows = blocks.column(f)
        assert (np.diff(values) >= 0).all()
        assert_array_equal(values, X[rows, f])
        assert_array_equal(np.sort(rows), np.flatnonzero(~np.isnan(X[:, f])))


def test_sorting_once_saves_what_the_formula_says():
    rng = np.random.default_rng(0)
    n, depth = 1024, 4
    X, h = rng.permuted(np.tile(np.arange(float(n)), (2, 1)), axis=1).T, np.ones(n)
    g = np.sin(X[:, 0] / 30) + np.cos(X[:, 1] / 20)
    rules = XGBSettings(max_depth=depth)
    plain = operations_without_blocks(grow_xgb(X, g, h, rules), X)
    blocks = grow_level_by_level(X, g, h, rules).operations
    assert blocks == expected_operations(2 * n, n, 1, depth, blocks=True)
    # nodes below the root are smaller, so their logarithms are, too: the formula is a bound
    bound = expected_operations(2 * n, n, 1, depth, blocks=False)
    assert 0.7 * bound.sorting < plain.sorting <= bound.sorting
    assert bound.scanning - 10 < plain.scanning <= bound.scanning  # a node of one row has no cuts
    assert plain.total > 2.5 * blocks.total
    assert Operations(1, 2) + Operations(3, 4) == Operations(4, 6)


def test_forty_seconds_become_ten_on_four_threads_only():
    assert [seconds_in_parallel([10] * 4, n) for n in (1, 2, 4)] == [40, 20, 10]
    assert seconds_in_parallel([8, 1, 1, 1, 1], 2) == 8  # one long column is the limit


def test_threads_grow_the_engine_s_exact_trees_alike_and_sorting_is_timed():
    X = np.random.default_rng(0).normal(size=(3000, 4))
    y = X[:, 0] * X[:, 1]
    answers = [
        XGBRegressor(n_estimators=2, tree_method="exact", n_jobs=n).fit(X, y).predict(X)
        for n in (1, 2)
    ]
    assert_array_equal(*answers)
    one, two = time_sorting(X, (1, 2), runs=2)
    assert 0 < two.expected < one.expected  # what is measured depends on the machine
    assert (one.n_threads, two.n_threads) == (1, 2)


def test_blocks_that_fit_the_cache_miss_once_per_line():
    x = np.random.default_rng(0).random(2048)
    misses = {rows: cache_misses(reads_in_blocks(x, rows)) for rows in (256, 1024, 2048)}
    assert misses[256] == 2048 // 4  # 64 lines of 4 rows: the block fits
    assert misses[256] < misses[1024] < misses[2048]
    assert misses[2048] > 0.8 * len(x)  # nearly every read
    assert cache_misses(range(2048)) == 2048 // 4


def test_row_numbers_within_a_block_are_short():
    assert [block_bytes(10, 2**k) for k in (8, 16, 17, 33)] == [90, 100, 120, 160]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: column_blocks([1.0, 2.0]), r"X must be a table, got an array of shape \(2,\)"),
        (lambda: block_bytes(1, 2**65), "at most 2"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
