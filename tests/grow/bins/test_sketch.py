"""The quantile sketch: its bounds against exact weighted ranks, for any chunks in any order."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.data.matrix import DenseMatrix, SparseMatrix
from arboretum.data.schema import Column, Schema, learn_schema
from arboretum.errors import DataError, ParameterError
from arboretum.grow.bins.find import BinRules, find_bins
from arboretum.grow.bins.sketch import QuantileSketch, Summary, sketch_bins
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


def _check(sketch: QuantileSketch, x: np.ndarray, w: np.ndarray) -> None:
    """Bounds enclose the exact ranks at every value, kept or not, and are as close as promised."""
    summary = sketch.summary
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
    assert sketch.error <= sketch.eps + ROUNDING
    assert np.all(rmax - rmin - weight <= sketch.error * total + room)


# ---------------------------------------------------------------------- the bound
@given(
    st.integers(0, 1000), st.integers(1, 700), st.integers(1, 50), st.sampled_from([0.9, 0.5, 0.3])
)
@settings(max_examples=80, deadline=None)
def test_the_error_stays_within_its_bound(seed, n, chunk, eps):
    x, w = _data(seed, n)
    sketch = QuantileSketch(eps, chunk)
    cuts = np.sort(np.random.default_rng(seed).integers(0, n, 5))
    for part in np.split(np.arange(n), cuts):
        sketch.update(x[part], w[part])
    _check(sketch, x, w)


@given(
    st.integers(0, 1000), st.integers(2, 9), st.integers(3, 40), st.randoms(use_true_random=False)
)
@settings(max_examples=60, deadline=None)
def test_any_order_of_merging_stays_within_the_bound(seed, n_parts, chunk, random):
    x, w = _data(seed, 500)
    sketches = []
    for part in np.array_split(np.random.default_rng(seed).permutation(500), n_parts):
        sketches.append(QuantileSketch(0.5, chunk))
        sketches[-1].update(x[part], w[part])
    while len(sketches) > 1:
        random.shuffle(sketches)
        sketches[0].merge(sketches.pop())
    _check(sketches[0], x, w)


def test_pruning_does_something():
    x, w = _data(0, 20_000)
    sketch = QuantileSketch(0.1, chunk=500)
    sketch.update(x, w)
    assert len(sketch.summary) < 2000
    assert 0 < sketch.error <= 0.1
    _check(sketch, x, w)


def test_merging_with_an_empty_sketch_and_with_itself():
    x, w = _data(1, 300)
    sketch = QuantileSketch(0.2, 40)
    sketch.merge(QuantileSketch(0.2, 40))
    assert sketch.total == sketch.error == 0
    assert sketch.cuts(10).size == 0
    sketch.update(x, w)
    sketch.merge(sketch)
    _check(sketch, np.concatenate([x, x]), np.concatenate([w, w]))


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
    sketch = QuantileSketch(0.05, chunk=16)
    rng = np.random.default_rng(0)
    sketch.update(rng.permutation(np.repeat([1.0, 2.0, 4.0, 8.0], 50)), rng.random(200))
    assert sketch.cuts(255).tolist() == [1.5, 3.0, 6.0]


@pytest.mark.parametrize("seed", [0, 2])
def test_bins_have_about_equal_weight(seed):
    x, w = _data(seed, 30_000)
    sketch = QuantileSketch(0.004, chunk=1000)
    sketch.update(x, w)
    cuts = sketch.cuts(32)
    assert len(cuts) == 31
    _, upto = _ranks(x, w, cuts)
    total = w[~np.isnan(x)].sum()
    heaviest = w.max() / total  # no cut can part a row
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


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: QuantileSketch(0.0), ParameterError, "eps must lie between 0 and 1"),
        (lambda: QuantileSketch(0.1, 0), ParameterError, "chunk must be at least 1"),
        (lambda: QuantileSketch(0.1).update([1.0], [-1.0]), DataError, "got -1.0 in row 0"),
        (lambda: QuantileSketch(0.1).update([1.0], [np.nan]), DataError, "got nan in row 0"),
        (lambda: QuantileSketch(0.1).update([1.0], [1.0, 2.0]), DataError, "equally long"),
        (lambda: QuantileSketch(0.1).merge(QuantileSketch(0.2)), ParameterError, "eps 0.1 and 0.2"),
    ],
)
def test_bad_input(act, error, message):
    with pytest.raises(error, match=message):
        act()
