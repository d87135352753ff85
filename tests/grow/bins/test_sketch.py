"""The quantile sketch: its bounds against exact weighted ranks, for any chunks in any order."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.data.matrix import DenseMatrix, SparseMatrix
from arboretum.data.schema import Column, Schema, learn_schema
from arboretum.errors import DataError
from arboretum.grow.bins.find import BinRules, find_bins
from arboretum.grow.bins.sketch import Summary, cuts_of, sketch_bins, summarise
from arboretum.textbook import quantile_sketch as textbook

ROUNDING = 1e-9


def _data(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    kind = seed % 4
    if kind == 0:
        x = rng.standard_normal(n)
    elif kind == 1:
        x = rng.integers(0, 30, n).astype(float)
    elif kind == 2:
        x = np.sort(rng.exponential(size=n))
    else:
        x = np.where(rng.random(n) < 0.4, 0.0, rng.standard_cauchy(n))
    w = rng.exponential(size=n) ** 3
    w[rng.random(n) < 0.1] = 0.0
    x[rng.random(n) < 0.05] = np.nan
    return x, w


def _ranks(x: np.ndarray, w: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Exact weights strictly below and up to some values."""
    order = np.argsort(x)
    x, total = x[order], np.concatenate([[0.0], np.cumsum(w[order])])
    n = np.count_nonzero(~np.isnan(x))
    below, upto = (np.searchsorted(x[:n], y, side=side) for side in ("left", "right"))
    return total[below], total[upto]


def _check(summary: Summary, eps: float, x: np.ndarray, w: np.ndarray) -> None:
    """Bounds enclose the exact ranks at every value, kept or not, and are as close as promised."""
    total = float(np.sum(w[~np.isnan(x)]))
    room = ROUNDING * total
    y = np.unique(x[~np.isnan(x) & (w > 0)])
    y = np.concatenate([y, y[:-1] / 2 + y[1:] / 2])
    below, upto = _ranks(x, w, y)
    rmin, rmax, weight = summary.bounds(y)
    assert summary.total == pytest.approx(total)
    assert np.all(rmin <= below + room)
    assert np.all(rmax >= upto - room)
    assert np.all(weight <= upto - below + room)
    assert summary.error <= eps + ROUNDING
    assert np.all(rmax - rmin - weight <= summary.error * total + room)


# ---------------------------------------------------------------------- the bound
@given(
    st.integers(0, 1000), st.integers(1, 700), st.integers(1, 50), st.sampled_from([0.9, 0.5, 0.3])
)
@settings(max_examples=80, deadline=None)
def test_the_error_stays_within_its_bound(seed, n, chunk, eps):
    x, w = _data(seed, n)
    _check(summarise(x, w, eps, chunk), eps, x, w)


@given(
    st.integers(0, 1000), st.integers(2, 9), st.integers(3, 40), st.randoms(use_true_random=False)
)
@settings(max_examples=60, deadline=None)
def test_any_order_of_merging_stays_within_the_bound(seed, n_parts, chunk, random):
    x, w = _data(seed, 500)
    parts = np.array_split(np.random.default_rng(seed).permutation(500), n_parts)
    summaries = [summarise(x[part], w[part], 0.5, chunk) for part in parts]
    while len(summaries) > 1:
        random.shuffle(summaries)
        summaries[0] = summaries[0].merged(summaries.pop())
    _check(summaries[0], 0.5, x, w)


def test_pruning_does_something():
    x, w = _data(0, 20_000)
    summary = summarise(x, w, 0.1, chunk=500)
    assert len(summary) < 2000
    assert 0 < summary.error <= 0.1
    _check(summary, 0.1, x, w)


def test_an_empty_summary_and_one_merged_with_itself():
    x, w = _data(1, 300)
    none = summarise(x[:0], w[:0], 0.2, 40)
    assert none.total == none.error == 0
    assert cuts_of(none, 10).size == 0
    summary = none.merged(summarise(x, w, 0.2, 40))
    _check(summary.merged(summary), 0.2, np.concatenate([x, x]), np.concatenate([w, w]))


# ---------------------------------------------------------------------- the textbook
@pytest.mark.parametrize("seed", range(4))
def test_summaries_are_the_textbook_s(seed):
    x, w = _data(seed, 400)
    parts = [slice(0, 150), slice(150, 400)]
    mine = [Summary.of(x[p], w[p]) for p in parts]
    book = [textbook.summarise(x[p], w[p]) for p in parts]

    def same(a: Summary, b: textbook.QuantileSummary) -> None:
        np.testing.assert_array_equal(a.values, b.values)
        for name in ("rmin", "rmax", "weight"):
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-9)
        assert a.error == pytest.approx(b.error, abs=1e-9)

    for a, b in zip(mine, book):
        same(a, b)
        same(a.pruned(20), textbook.prune_summary(b, 20))
    same(mine[0].merged(mine[1]), textbook.merge(*book))
    same(
        mine[0].pruned(30).merged(mine[1].pruned(30)),
        textbook.merge(*(textbook.prune_summary(b, 30) for b in book)),
    )


# ---------------------------------------------------------------------- cuts
def test_few_values_are_cut_between_all_of_them():
    rng = np.random.default_rng(0)
    x = rng.permutation(np.repeat([1.0, 2.0, 4.0, 8.0], 50))
    assert cuts_of(summarise(x, rng.random(200), 0.05, chunk=16), 255).tolist() == [1.5, 3.0, 6.0]


@pytest.mark.parametrize("seed", [0, 2])
def test_bins_have_about_equal_weight(seed):
    x, w = _data(seed, 30_000)
    cuts = cuts_of(summarise(x, w, 0.004, chunk=1000), 32)
    assert len(cuts) == 31
    _, upto = _ranks(x, w, cuts)
    total = w[~np.isnan(x)].sum()
    heaviest = w.max() / total  # no cut can divide a row
    miss = np.abs(upto / total - np.arange(1, 32) / 32).max()
    assert miss <= 0.004 + heaviest


def _schema(n_columns: int) -> Schema:
    return Schema(tuple(Column(f"x{f}", "numeric") for f in range(n_columns)), False)


def test_bins_of_a_table_with_equal_hessians_are_those_of_its_quantiles():
    X = np.random.default_rng(0).standard_normal((3000, 3))
    X[::7, 1] = np.nan
    matrix = DenseMatrix(X)
    bins = sketch_bins(matrix, _schema(3), np.ones(3000), max_bin=64)
    plain = find_bins(matrix, _schema(3), BinRules(64, min_data_in_bin=1))
    np.testing.assert_array_equal(bins.codes, plain.codes)
    np.testing.assert_allclose(bins.bounds, plain.bounds)


def test_threads_and_layout_change_nothing():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 500, (70_000, 3)) * (rng.random((70_000, 3)) < 0.3) * 1.0
    h = rng.integers(1, 100, 70_000).astype(float)
    first = sketch_bins(DenseMatrix(X), _schema(3), h, 30)
    for matrix in (DenseMatrix(np.asfortranarray(X)), DenseMatrix(X.astype(np.float32))):
        for n_jobs in (1, 2, 8):
            bins = sketch_bins(matrix, _schema(3), h, 30, n_jobs=n_jobs)
            np.testing.assert_array_equal(bins.bounds, first.bounds)
            np.testing.assert_array_equal(bins.codes, first.codes)
    sparse = sketch_bins(SparseMatrix(sp.csr_array(X)), _schema(3), h, 30)
    np.testing.assert_array_equal(sparse.codes, first.codes)


def test_categories_and_rows_without_hessian():
    schema, matrix = learn_schema([["a", 1.0], ["b", 2.0], ["b", 3.0], ["b", 4.0]])
    bins = sketch_bins(matrix, schema, np.array([1.0, 0.0, 1.0, 1.0]))
    assert bins.codes.tolist() == [[0, 1, 1, 1], [0, 0, 1, 2]]
    bins = sketch_bins(matrix, schema, np.zeros(4))
    assert bins.codes.tolist() == [[0, 1, 1, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_hessians_that_are_no_weights(bad):
    schema, matrix = learn_schema([[1.0], [2.0]])
    with pytest.raises(DataError, match=f"hessians must be .* got {bad} in row 1"):
        sketch_bins(matrix, schema, np.array([1.0, bad]))
