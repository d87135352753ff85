"""A table in parts: any partition gives the schema, the counts and the bins of the table in one piece."""

import datetime as dt
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.data.parts import join_classes, join_parts, learn_part, take_rows
from arboretum.data.schema import encode, learn_schema
from arboretum.data.table import read_table
from arboretum.errors import DataError
from arboretum.grow.bins.bundling import bundle_codes, bundle_parts, pairs_in_use
from arboretum.grow.bins.find import BinRules, find_bins
from arboretum.grow.bins.learn import learn_bins, sample_rows


def _table(seed: int, n: int) -> pd.DataFrame:
    """Words, gaps, dates, booleans, whole numbers, a declared categorical, dummies."""
    rng = np.random.default_rng(seed)
    word = rng.choice(["red", "blue", "green", "Ω"], n).astype(object)
    word[rng.random(n) < 0.2] = None
    days = np.datetime64("2024-01-01") + rng.integers(0, 50, n).astype("timedelta64[D]")
    days[rng.random(n) < 0.1] = np.datetime64("NaT")
    some = rng.integers(0, 9, n)
    return pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.3, np.nan, rng.standard_normal(n).round(1)),
            "single": rng.standard_normal(n).astype(np.float32),
            "word": word,
            "day": days,
            "flag": rng.random(n) < 0.5,
            "whole": rng.integers(0, 5, n),
            "size": pd.Categorical(rng.choice(["S", "L"], n), ["S", "M", "L"], ordered=True),
            "kind": pd.Categorical(rng.choice(["b", "a"], n), ["c", "b", "a"]),
            "code": rng.integers(0, 30, n),
            **{f"is{k}": (some == k).astype(np.int8) for k in range(3)},
        }
    )


def _cut(n: int, places: list[int]) -> list[tuple[int, int]]:
    ends = sorted({0, n, *(place % (n + 1) for place in places)})
    return list(pairwise(ends))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 60), st.lists(st.integers(0, 60), max_size=5))
def test_any_partition_gives_the_schema_of_the_whole(seed, n, places):
    X = _table(seed, n)
    wishes = {"categorical_features": ["code"]}
    counted = np.random.default_rng(seed).random(n) < 0.7
    schema, matrix = learn_schema(X, **wishes)
    parts = [learn_part(X.iloc[lo:hi], wishes, counted[lo:hi]) for lo, hi in _cut(n, places)]
    for k in range(1, len(parts)):  # the order in which they are joined does not matter
        found = join_parts([join_parts(parts[:k]), join_parts(parts[k:])])
        assert found.schema() == schema
    whole = join_parts(parts)
    assert whole.schema() == schema
    assert (whole.n_rows, whole.n_counted) == (n, counted.sum())
    counts = whole.category_counts(schema)
    assert sorted(counts) == [f for f, c in enumerate(schema.columns) if c.kind == "categorical"]
    for f, (often, has_missing) in counts.items():
        codes = matrix.column(f)[counted]
        present = codes[~np.isnan(codes)].astype(int)
        assert often.tolist() == np.bincount(present, minlength=len(often)).tolist()
        assert has_missing == (len(present) < len(codes))


@settings(deadline=None, max_examples=15)
@given(
    st.integers(0, 10**6),
    st.integers(30, 300),
    st.lists(st.integers(0, 300), max_size=4),
    st.sampled_from(
        [BinRules(8, 20, 1, bundle=True), BinRules(300, 1000, bundle=True, zero_apart=True)]
    ),
    st.booleans(),
)
def test_any_partition_gives_the_bins_of_the_whole(seed, n, places, rules, weighted):
    X = _table(seed, n)
    weight = np.random.default_rng(seed).random(n) + 0.1 if weighted else None
    schema, matrix = learn_schema(X)
    expected = find_bins(matrix, schema, rules, weight)
    pieces = _cut(n, places)
    whole = join_parts([learn_part(X.iloc[lo:hi]) for lo, hi in pieces])
    rows = sample_rows(whole.n_counted, rules.sample, rules.seed)
    rows = np.arange(n) if rows is None else rows
    sample = encode(whole.schema(), take_rows(read_table(X), rows))
    weights = None if weight is None else weight[rows]
    alone = learn_bins(sample, schema, rules, whole.category_counts(schema), weights)
    coded = [alone.of_table(encode(schema, X.iloc[lo:hi])) for lo, hi in pieces]
    pairs = in_turn = pairs_in_use(coded[0])
    for other in coded[1:]:
        pairs, in_turn = pairs + pairs_in_use(other), pairs_in_use(other, in_turn)
    for one, same in zip(vars(pairs).values(), vars(in_turn).values()):
        assert np.array_equal(one, same)
    found = bundle_parts(alone, pairs, n)
    codes = [bundle_codes(found, one, 0, one.n_rows) for one in coded]
    assert np.array_equal(np.concatenate(codes, axis=1), expected.codes)
    assert np.array_equal(np.concatenate([one.wide for one in coded], axis=1), expected.wide)
    assert np.array_equal(pairs.has_missing, expected.has_missing)
    for name in ("storage", "offset", "n_bins", "default_bin", "bounds", "category_of", "joined"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def test_arrays_in_parts():
    X = np.array([[1, 2.5], [np.nan, 1], [0, 0]], np.float32)
    for settings_of in ({}, {"categorical_features": [0]}, {"ordinal_features": {1: [0, 1, 2.5]}}):
        schema, _ = learn_schema(X, **settings_of)
        assert (
            join_parts([learn_part(X[:1], settings_of), learn_part(X[1:], settings_of)]).schema()
            == schema
        )


def test_classes_of_parts():
    y = np.array(["b", "a", "long name", "b"])
    assert join_classes([y[:2], y[2:]]).tolist() == ["a", "b", "long name"]
    assert join_classes([np.array([3, 1]), np.array([2])]).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"a": [1.0]}, {"b": [1.0]}, "lacks 'a'"),
        ({"a": [1.0]}, {"a": [1.0], "b": [2]}, "has 'b' besides"),
        ({"a": [1.0], "b": [1]}, {"b": [1], "a": [1.0]}, "in another order"),
        ({"a": [1.0]}, {"a": ["one"]}, "'a' holds numbers .* in one part and words in another"),
        ({"a": [True]}, {"a": ["one"]}, "'a' holds words in one part and words of type bool in another"),
        ({"a": [1.0]}, {"a": [dt.datetime(2024, 1, 1)]}, "'a' holds datetime values in one part"),
        ({"a": pd.Categorical(["u"], ["u"])}, {"a": pd.Categorical(["v"])}, "'a' declares other"),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_together(first, second, message):
    parts = [learn_part(pd.DataFrame(first)), learn_part(pd.DataFrame(second))]
    with pytest.raises(DataError, match=message):
        join_parts(parts)


def test_sparse_matrices_are_refused():
    sp = pytest.importorskip("scipy.sparse")
    with pytest.raises(DataError, match="in one piece"):
        learn_part(sp.csr_matrix([[1.0]]))
