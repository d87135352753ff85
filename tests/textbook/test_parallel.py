"""Parallel learners: two give the serial tree, one nearly; what they send follows from formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.textbook import (
    LINE_BYTES,
    SPLIT_BYTES,
    LGBMSettings,
    bin_table,
    bytes_per_split,
    elect_columns,
    grow_data_parallel,
    grow_feature_parallel,
    grow_lgbm,
    grow_voting_parallel,
    share_out,
    tree_text_lgbm,
    voting_experiment,
)

RULES = LGBMSettings(num_leaves=6, min_child_samples=2, min_data_per_group=1, cat_smooth=1)


def _table(seed, n=60, columns=4):
    """Numbers with gaps, a column of words, and whole gradients: sums do not depend on their order."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (n, columns)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    g = rng.integers(-9, 10, n) + np.where(X[:, 1] > 4, 6.0, 0.0)
    return X, g, rng.integers(1, 4, n).astype(float)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), workers=st.integers(1, 4))
def test_data_and_feature_parallel_give_the_serial_tree(seed, workers):
    X, g, h = _table(seed)
    serial = tree_text_lgbm(grow_lgbm(X, g, h, RULES, categorical=[0]))
    for grow in (grow_data_parallel, grow_feature_parallel):
        assert tree_text_lgbm(grow(X, g, h, workers, RULES, [0]).tree) == serial


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), workers=st.integers(1, 3))
def test_voting_over_all_columns_gives_the_serial_tree(seed, workers):
    X, g, h = _table(seed)
    X[:, 0] = (
        0  # a worker votes only for columns it can split: the others have a split on every side
    )
    rules = LGBMSettings(num_leaves=4, min_child_samples=20)
    serial = tree_text_lgbm(grow_lgbm(X, g, h, rules))
    assert tree_text_lgbm(grow_voting_parallel(X, g, h, workers, 4, rules).tree) == serial


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_bytes_follow_the_formulas(workers):
    X, g, h = _table(3)
    lines = sum(bins.n_bins + 1 for bins in bin_table(X).bins)
    best = workers * (workers - 1) * SPLIT_BYTES
    rules = LGBMSettings(
        num_leaves=2, min_child_samples=2
    )  # a root and two leaves that are searched

    data = grow_data_parallel(X, g, h, workers, rules)
    sums = (workers - 1) * LINE_BYTES * lines
    assert data.bytes == 2 * sums + 3 * best  # the root and the smaller child are added up

    feature = grow_feature_parallel(X, g, h, min(workers, 4), rules)
    assert feature.bytes == 3 * min(workers, 4) * (min(workers, 4) - 1) * SPLIT_BYTES
    assert bytes_per_split(feature) == feature.bytes

    voting = grow_voting_parallel(X, g, h, workers, 1, rules)
    sent = [m for m in voting.messages if m.what == "histograms"]
    assert len(sent) == 3  # both children: their elected columns differ
    assert all(m.bytes <= (workers - 1) * LINE_BYTES * lines for m in sent)
    votes = [m.bytes for m in voting.messages if m.what == "votes"]
    assert votes == [workers * (workers - 1) * 4] * 3


@pytest.mark.slow
def test_voting_is_right_more_often_with_more_rows():
    few, many = voting_experiment(200, 12), voting_experiment(3000, 12)
    assert few.same < many.same
    assert many.same >= 0.7
    assert 0.9 < few.gain < 1.0
    assert many.gain > 0.99
    assert many.bytes < 0.8


def test_a_column_named_by_most_is_elected():
    assert elect_columns([[0, 1], [2, 1], [3, 1]], 1) == (1,)
    assert elect_columns([], 3) == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, g: grow_data_parallel(X, g, g, 0), "workers must be between 1 and 60, got 0"),
        (lambda X, g: grow_feature_parallel(X, g, g, 5), "workers must be between 1 and 4, got 5"),
        (lambda X, g: grow_voting_parallel(X, g, g, 2, 0), "top_k must be at least 1, got 0"),
        (lambda X, g: grow_data_parallel(X, g[:3], g, 2), "X must be a table with a row per g"),
        (lambda X, g: share_out(2, 3), "workers must be between 1 and 2, got 3"),
    ],
)
def test_bad_input(call, message):
    X, g, _ = _table(0)
    with pytest.raises(ValueError, match=message):
        call(X, g)
