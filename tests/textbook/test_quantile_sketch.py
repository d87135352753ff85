"""The summary's bounds hold, whatever was merged and pruned before."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.textbook.quantile_sketch import (
    QuantileSummary,
    merge,
    merge_all,
    propose_cuts,
    prune_summary,
    query,
    summarise,
    summary_table,
)

# whole weights: sums are exact, and the inequalities need no room for rounding
rows = st.lists(
    st.tuples(st.integers(-30, 30).map(float), st.integers(1, 20).map(float)),
    min_size=1, max_size=80,
)  # fmt: skip
ROUNDING = 1e-9


def split(data):
    return np.array(data).T


def ranks(x, h, y):
    """r⁻ and r⁺ by their definitions."""
    return np.array([[h[x < v].sum(), h[x <= v].sum()] for v in np.atleast_1d(y)]).T


def assert_holds(summary, x, h, eps):
    """All that a summary of error eps promises about its data."""
    grid = np.union1d(np.arange(-31.5, 32, 0.5), x)
    low, high = ranks(x, h, grid)
    rmin, rmax, weight = summary.bounds(grid)
    assert np.all(rmin <= low)
    assert np.all(rmax >= high)
    assert np.all(weight <= high - low)
    assert summary.total == h.sum()
    assert summary.values[[0, -1]].tolist() == [x.min(), x.max()]
    assert np.all((rmax - rmin - weight) <= summary.error * h.sum() + ROUNDING)
    assert summary.error <= eps + ROUNDING
    d = np.linspace(0, h.sum(), 41)
    low, high = ranks(x, h, query(summary, d))
    slack = summary.error / 2 * h.sum() + ROUNDING
    assert np.all(low - slack <= d)
    assert np.all(d <= high + slack)


@given(rows)
def test_summary_of_the_data_is_exact(data):
    x, h = split(data)
    assert_holds(summarise(x, h), x, h, 0.0)


@given(rows, st.integers(2, 20))
def test_pruning_adds_at_most_one_step(data, n):
    x, h = split(data)
    once = prune_summary(summarise(x, h), n)
    assert len(once) <= n
    assert_holds(once, x, h, 1 / (n - 1))
    m = max(2, n // 2)
    assert_holds(prune_summary(once, m), x, h, once.error + 1 / (m - 1))


@given(rows, rows, st.integers(2, 15), st.integers(2, 15))
def test_merging_adds_no_error(one, two, n, m):
    (x1, h1), (x2, h2) = split(one), split(two)
    a, b = prune_summary(summarise(x1, h1), n), prune_summary(summarise(x2, h2), m)
    both = merge(a, b)
    x, h = np.concatenate([x1, x2]), np.concatenate([h1, h2])
    assert_holds(both, x, h, max(a.error, b.error))
    turned = merge(b, a)
    assert_array_equal(both.values, turned.values)
    assert_array_equal(both.rmax, turned.rmax)


@settings(max_examples=50)
@given(st.lists(rows, min_size=1, max_size=9), st.integers(3, 15))
def test_merging_many_adds_one_step_per_round(parts, n):
    exact = [summarise(*split(part)) for part in parts]
    whole = merge_all(exact, n)
    x, h = split([row for part in parts for row in part])
    rounds = max(1, int(np.ceil(np.log2(len(parts)))))
    assert len(whole) <= n
    assert_holds(whole, x, h, rounds / (n - 1))


@given(rows, st.floats(0.03, 1.0))
def test_proposed_cuts_leave_little_between_them(data, eps):
    x, h = split(data)
    cuts = propose_cuts(x, h, eps)
    edges = np.concatenate([[x.min()], cuts])
    assert np.all(np.diff(edges) > 0)
    assert edges[-1] == x.max()
    values = np.unique(x)
    for low, high in pairwise(edges):
        step = h[(x >= low) & (x < high)].sum() / h.sum()
        # strictly, unless the lower value alone weighs as much: then nothing lies between
        assert step < eps or not np.any((values > low) & (values < high))
    light = np.unique(x, return_inverse=True)[1]
    if np.bincount(light, h).max() < eps * h.sum() / 2:
        assert len(cuts) <= np.ceil(2 / eps)


def test_the_rank_bound_of_the_notes_holds_strictly():
    # .138 came out at ε = .1 where cuts were only asked to lie near equally spaced ranks
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, h = rng.normal(size=200), rng.exponential(size=200) ** 2
        edges = np.concatenate([[x.min()], propose_cuts(x, h, 0.1)])
        ranks = np.array([h[x < s].sum() for s in edges]) / h.sum()
        heavy = h.max() / h.sum() >= 0.1
        assert heavy or np.diff(ranks).max() < 0.1


def test_unlike_plain_quantiles_weights_move_the_cuts():
    x = np.arange(1000.0)
    assert_allclose(propose_cuts(x, np.ones(1000), 0.2505)[:-1], [250, 500, 750], atol=1)
    p = 1 / (1 + np.exp(-(x - 900) / 20))  # only around 900 is anything undecided
    assert_allclose(propose_cuts(x, p * (1 - p), 0.25)[:3], [878, 900, 922], atol=2)


def test_rows_without_value_or_weight_do_not_count():
    full = summarise([1.0, np.nan, 2.0, 3.0], [1.0, 5.0, 0.0, 2.0])
    assert_array_equal(full.values, [1, 3])
    assert full.total == 3


def test_empty_and_single():
    empty = summarise([], [])
    assert (len(empty), empty.total, empty.error) == (0, 0.0, 0.0)
    one = merge(empty, summarise([4.0], [2.0]))
    assert query(one, [0.0, 2.0]).tolist() == [4.0, 4.0]
    assert propose_cuts([4.0, 4.0], [1, 1], 0.1).tolist() == []
    assert len(summary_table(one).splitlines()) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: summarise([1.0], [1.0, 2.0]), "equally long"),
        (lambda: summarise([1.0], [-1.0]), "may not be negative"),
        (lambda: prune_summary(summarise([1.0], [1.0]), 1), "at least 2 entries, got 1"),
        (lambda: query(QuantileSummary(*np.empty((4, 0))), 0.0), "empty summary"),
        (lambda: merge_all([], 5), "no summaries"),
        (lambda: propose_cuts([1.0], [1.0], 0.0), r"eps must lie in \(0, 1\]"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
