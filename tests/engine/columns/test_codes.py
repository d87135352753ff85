"""Codes of a column: from lists, in bins, sorted per node, and counted, against plain NumPy."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.data.matrix import DenseMatrix, FrameMatrix
from arboretum.data.schema import Column
from arboretum.engine.columns.codes import bin_codes, codes_from_list, sort_nodes
from arboretum.engine.columns.presort import MISSING, NEW, POSITION, sort_column
from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.split.counts import Columns, count_codes, make_counter
from arboretum.engine.split.statistic import NodeRows
from arboretum.grow.columns import store_columns


def _list_of(values: np.ndarray) -> tuple[np.ndarray, int]:
    out = np.empty(len(values), np.uint32)
    return out, sort_column(values, out)


def _columns(k: int, n_codes: int, categorical: bool = False) -> Columns:
    return Columns(
        np.zeros(k, np.int64), np.full(k, n_codes), np.full(k, categorical), np.zeros(k, np.int8)
    )


# ---------------------------------------------------------------------- codes of values
@pytest.mark.parametrize("seed", range(4))
def test_codes_from_list_are_ranks(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(-5, 5, 200).astype(float)
    values[rng.random(200) < 0.2] = np.nan
    entries, distinct = _list_of(values)
    codes = np.empty(200, np.uint8)
    codes_from_list(entries, np.arange(distinct), distinct, codes)
    present = np.unique(values[~np.isnan(values)])
    expected = np.where(np.isnan(values), distinct, np.searchsorted(present, values))
    np.testing.assert_array_equal(codes, expected)


def _naive_bins(counts: list[int], max_bins: int) -> list[int]:
    """Close a bin once it holds its share of the rows that were left when it began."""
    codes, code, in_bin, left = [], 0, 0, sum(counts)
    share = left / max_bins
    for value, count in enumerate(counts):
        codes.append(code)
        in_bin += count
        if in_bin >= share and value < len(counts) - 1 and code < max_bins - 1:
            left, code, in_bin = left - in_bin, code + 1, 0
            share = left / (max_bins - code)
    return codes


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(2, 20), st.integers(0, 9))
@settings(max_examples=200, deadline=None)
def test_bins_are_those_of_the_rule(counts, max_bins, n_missing):
    values = np.concatenate([np.repeat(np.arange(len(counts)) * 1.5, counts), [np.nan] * n_missing])
    entries, distinct = _list_of(values)
    code_of_value = np.arange(distinct)
    n_bins = bin_codes(entries, max_bins, code_of_value)
    assert code_of_value.tolist() == _naive_bins(counts, max_bins)
    assert n_bins == code_of_value[-1] + 1 <= max_bins


def test_bins_of_distinct_values_are_even():
    entries, distinct = _list_of(np.random.default_rng(0).normal(size=1000))
    code_of_value = np.arange(distinct)
    assert bin_codes(entries, 16, code_of_value) == 16
    counts = np.bincount(code_of_value)
    assert counts.min() >= 62
    assert counts.max() <= 63


def test_a_heavy_value_has_a_bin_of_its_own():
    values = np.concatenate([np.zeros(900), np.arange(1, 101.0)])
    entries, distinct = _list_of(values)
    code_of_value = np.arange(distinct)
    assert bin_codes(entries, 5, code_of_value) == 5
    assert np.bincount(code_of_value).tolist() == [1, 25, 25, 25, 25]


# ---------------------------------------------------------------------- sorting a node's codes
@pytest.mark.parametrize("n_codes", [1, 7, 40, 256, 300, 70_000])
@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 33, 150, 512, 513, 3000])
def test_sort_nodes_makes_lists_like_presorted_ones(n, n_codes):
    """Small nodes are merged and large ones sorted by radix: one node and many, of any size."""
    rng = np.random.default_rng(n)
    codes = rng.integers(0, n_codes + 1, size=(1, n)).astype(np.uint32)  # n_codes means missing
    rows = rng.permutation(n).astype(np.uint32)
    edges = np.unique(np.concatenate([[0, n], rng.integers(0, n, n % 7)]))
    start, end = edges[:-1], edges[1:]
    k, out = len(start), np.empty(n, np.uint32)
    constant = np.empty(k, np.bool_)
    sort_nodes(
        codes, rows, start, end, _columns(k, n_codes), np.zeros((k, 0), np.int32),
        np.empty((2, n), np.uint64), out, constant,
    )  # fmt: skip
    for node, (lo, hi) in enumerate(zip(start, end)):
        here = codes[0, rows[lo:hi]].astype(int)
        order = np.argsort(here, kind="stable")
        np.testing.assert_array_equal(out[lo:hi] & POSITION, lo + order)
        np.testing.assert_array_equal((out[lo:hi] & MISSING) != 0, here[order] == n_codes)
        new = np.concatenate([[True], np.diff(here[order]) != 0])
        np.testing.assert_array_equal((out[lo:hi] & NEW) != 0, new)
        assert constant[node] == (len(set(here.tolist())) == 1)


def test_sort_nodes_by_rank():
    codes = np.array([[0, 1, 2, 3, 1, 0]], np.uint8)  # 3 means missing
    rank = np.array([[2, 0, 1, 3]], np.int32)
    out, constant = np.empty(6, np.uint32), np.empty(1, np.bool_)
    sort_nodes(
        codes, np.arange(6, dtype=np.uint32), np.array([0]), np.array([6]), _columns(1, 3, True),
        rank, np.empty((2, 6), np.uint64), out, constant,
    )  # fmt: skip
    assert (out & POSITION).tolist() == [1, 4, 2, 0, 5, 3]
    assert ((out & MISSING) != 0).tolist() == [False] * 5 + [True]


# ---------------------------------------------------------------------- counting
class Spans(NamedTuple):
    """Where the rows of nodes stand."""

    start: np.ndarray
    end: np.ndarray


@kernel
def _count(codes, columns, row, nodes, k, counter):
    return count_codes(codes, columns, row, nodes, k, counter)


def _rows(kind: str, rng, n: int) -> NodeRows:
    weight = rng.integers(1, 9, n) if kind == "weighted" else None
    number, label = rng.integers(-99, 99, (n, 1)), np.empty((0, 1), np.int32)
    if kind == "classes":
        number, label = np.empty((0, 2), np.int64), rng.integers(0, 5, (n, 2)).astype(np.int32)
    if kind == "two targets":
        number = rng.integers(-99, 99, (n, 2))
    return NodeRows(rng.permutation(n).astype(np.uint32), number, label, weight)


@pytest.mark.parametrize("kind", ["plain", "weighted", "classes", "two targets"])
def test_counts_and_sums_per_code(kind):
    rng = np.random.default_rng(3)
    n, n_codes = 300, 12
    codes = rng.integers(0, n_codes + 1, size=(1, n)).astype(np.uint8)
    row = _rows(kind, rng, n)
    nodes = Spans(np.array([0, 40, 10]), np.array([300, 60, 11]))
    channels = 5 if kind == "classes" else row.number.shape[1]
    counter = make_counter(n_codes, channels)
    for k, (start, end) in enumerate(zip(*nodes, strict=True)):
        seen = _count(codes, _columns(3, n_codes), row, nodes, k, counter)
        here = codes[0, row.id[start:end]].astype(int)
        weight = np.ones(end - start, int) if row.weight is None else row.weight[start:end]
        assert sorted(counter.seen[:seen]) == sorted(set(here.tolist()) - {n_codes})
        for c in set(here.tolist()) | {n_codes}:
            mine = here == c
            assert counter.counts[c] == mine.sum()
            assert counter.weights[c] == weight[mine].sum()
            sums = np.zeros(channels, int)
            if kind == "classes":
                for o in range(2):
                    sums += np.bincount(row.label[start:end, o][mine], minlength=5)
            else:
                sums += row.number[start:end][mine].sum(axis=0)
            np.testing.assert_array_equal(counter.sums[c], sums)


# ---------------------------------------------------------------------- the store
def _numeric(n: int) -> list[Column]:
    return [Column(f"x{f}", "numeric") for f in range(n)]


def test_store_keeps_lists_for_many_values_and_codes_for_few():
    rng = np.random.default_rng(0)
    n = 2000
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 4, n), np.full(n, np.nan)])
    categories = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 3, n))
    columns = [*_numeric(3), Column("c", "categorical", ("a", "b", "c"))]
    store = store_columns(FrameMatrix([*X.T, categories]), columns)
    assert store.n_features == 4
    assert store.list_features.tolist() == [0]
    assert store.code_features.tolist() == [1, 2, 3]
    assert store.n_codes.tolist() == [4, 0, 3]
    assert store.categorical.tolist() == [False, False, True]
    np.testing.assert_array_equal(store.codes[0], X[:, 1])
    assert not store.codes[1].any()  # all missing: code 0 of none
    np.testing.assert_array_equal(store.codes[2], np.where(np.isnan(categories), 3, categories))
    expected, _ = _list_of(np.ascontiguousarray(X[:, 0]))
    np.testing.assert_array_equal(store.lists[store.slot_of(0)], expected)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_store_of_some_rows_is_the_store_of_the_smaller_table(n_jobs):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 30)).round(1)
    rows = np.flatnonzero(rng.random(900) < 0.5)
    for options in ({}, {"all_codes": True}, {"max_bins": 7}):
        some = store_columns(DenseMatrix(X), _numeric(30), rows, n_jobs=n_jobs, **options)
        whole = store_columns(DenseMatrix(X[rows]), _numeric(30), **options)
        np.testing.assert_array_equal(some.lists, whole.lists)
        np.testing.assert_array_equal(some.codes, whole.codes)
        for mine, theirs in zip(some.values, whole.values):
            np.testing.assert_array_equal(mine, theirs)


def test_codes_point_back_to_their_values():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 2))
    store = store_columns(DenseMatrix(X), _numeric(2), all_codes=True, max_bins=9)
    assert store.n_codes.tolist() == [9, 9]
    for j in range(2):
        at = store.values.start[j] + store.codes[j]
        assert np.all(store.values.low[at] <= X[:, j])
        assert np.all(X[:, j] <= store.values.high[at])
        first, last = store.values.start[j], store.values.start[j] + 9
        assert np.all(store.values.high[first : last - 1] < store.values.low[first + 1 : last])
    assert store.codes.dtype == np.uint8
    wide = store_columns(DenseMatrix(X), _numeric(2), all_codes=True)
    assert wide.codes.dtype == np.uint16
