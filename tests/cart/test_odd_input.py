"""Odd input that works: strange tables, targets, weights and sizes.

"Works" is checked, not assumed: every training row must reach, at predict, the leaf it was trained
in. Warnings of NumPy (overflow, invalid value) are errors throughout this test suite.
"""

import io
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from arboretum import CARTClassifier, CARTRegressor, load

N = 80
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(N, 3))
LABELS = RNG.integers(0, 3, N)
TARGET = np.abs(NUMBERS[:, 0] + RNG.normal(size=N) / 4)

WAYS = {
    "classes": CARTClassifier(),
    "entropy": CARTClassifier(criterion="entropy", max_leaf_nodes=12),
    "numbers": CARTRegressor(),
    "medians": CARTRegressor(criterion="absolute_error"),
    "poisson": CARTRegressor(criterion="poisson"),
    "surrogates": CARTClassifier(surrogates=3),
    "surrogates of numbers": CARTRegressor(surrogates=3),
    "random": CARTClassifier(splitter="random", random_state=0),
    "random and surrogates": CARTRegressor(splitter="random", surrogates=2, random_state=0),
    "drawn columns": CARTRegressor(max_features=1, random_state=0),
    "bins": CARTClassifier(max_bins=4),
}


def _target_of(model) -> np.ndarray:
    return LABELS if isinstance(model, CARTClassifier) else TARGET


def _check_fit(model, X, y, sample_weight=None) -> None:
    """Fit, and compare what the tree says of itself with where the rows really go."""
    model.fit(X, y, sample_weight)
    tree = model.tree_
    used = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
    leaf = model.apply(X)
    counts = np.bincount(leaf[used > 0], minlength=len(tree))
    np.testing.assert_array_equal(counts[tree.leaves], tree.count[tree.leaves])
    assert np.isfinite(tree.value).all()
    assert np.isfinite(tree.impurity).all()
    assert np.isfinite(tree.gain).all()
    assert model.feature_importances_.sum() == pytest.approx(1.0 if tree.gain.any() else 0.0)
    assert len(model.predict(X)) == len(leaf)
    file = io.BytesIO()
    model.save(file)
    np.testing.assert_array_equal(load(file.getvalue()).apply(X), leaf)


# ---------------------------------------------------------------------- odd tables that work
def _frame(**columns) -> pd.DataFrame:
    return pd.DataFrame(columns)


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def _with_missing(X, share=0.3):
    return np.where(np.random.default_rng(1).random(X.shape) < share, np.nan, X)


WORDS = RNG.choice(np.array(["a", "b", "c", "d", "e", "f"]), N)
DAYS = pd.date_range("2020-01-01", periods=N)
ODD_TABLES = {
    "one column": NUMBERS[:, :1],
    "not contiguous": np.repeat(np.repeat(NUMBERS, 2, axis=0), 2, axis=1)[::2, ::-2],
    "read-only": _read_only(NUMBERS),
    "Fortran order": np.asfortranarray(NUMBERS),
    "foreign byte order": NUMBERS.astype(">f8"),
    "float16": NUMBERS.astype(np.float16),
    "int8": (NUMBERS * 10).astype(np.int8),
    "uint64": (np.abs(NUMBERS) * 1e15).astype(np.uint64),
    "booleans": NUMBERS > 0,
    "longdouble": NUMBERS.astype(np.longdouble),
    "numbers as objects": NUMBERS.astype(object),
    "list of lists": NUMBERS.tolist(),
    "np.matrix": np.asmatrix(NUMBERS),
    "masked array": np.ma.array(NUMBERS, mask=NUMBERS > 1),
    "broadcast rows": np.broadcast_to(NUMBERS[0], (N, 3)),
    "sparse": sp.random(N, 5, 0.3, format="csr", random_state=0),
    "sparse, coordinates": sp.random(N, 5, 0.3, format="coo", random_state=0),
    "sparse, nothing stored": sp.csr_array((N, 3)),
    "some missing": _with_missing(NUMBERS),
    "mostly missing": _with_missing(NUMBERS, 0.9),
    "a column all missing": np.column_stack([NUMBERS[:, 0], np.full(N, np.nan)]),
    "all missing": np.full((N, 2), np.nan),
    "all constant": np.ones((N, 2)),
    "constant or missing": np.where(NUMBERS > 0, np.nan, 1.0),
    "huge": NUMBERS * 1e300,
    "small": NUMBERS * 1e-300,
    "denormal": np.round(NUMBERS * 4) * 5e-324,
    "largest float": np.sign(NUMBERS) * np.finfo(float).max,
    "mixed magnitudes": NUMBERS * 10.0 ** RNG.integers(-300, 300, (N, 3)),
    "neighbouring floats": 1.0 + np.arange(N)[:, None] * np.finfo(float).eps,
    "zeros of both signs": np.where(NUMBERS > 0, 0.0, -0.0),
    "one category": _frame(one=["k"] * N, number=NUMBERS[:, 0]),
    "only one category": _frame(one=["k"] * N),
    "one category or missing": _frame(one=np.where(NUMBERS[:, 0] > 0, "k", None)),
    "a category per row": _frame(each=[f"c{i}" for i in range(N)]),
    "categories none of which occurs": _frame(
        none=pd.Categorical([None] * N, categories=["q"]), words=WORDS
    ),
    "empty words": _frame(words=np.where(NUMBERS[:, 0] > 0, "", " ")),
    "dates and durations": _frame(day=DAYS, span=pd.to_timedelta(np.arange(N), unit="h")),
    "dates with gaps": _frame(day=DAYS.where(NUMBERS[:, 0] > 0)),
    "dates with zones": _frame(day=DAYS.tz_localize("Europe/Oslo")),
    "dates of NumPy": DAYS.to_numpy()[:, None],
    "pandas nullable": _frame(
        whole=pd.array([None, 1, 2, 3] * (N // 4), dtype="Int64"),
        real=pd.array([0.5, None, 1.5, 2.5] * (N // 4), dtype="Float64"),
        truth=pd.array([True, False, None, True] * (N // 4), dtype="boolean"),
        word=pd.array(["x", "y", "z", None] * (N // 4), dtype="string"),
    ),
    "pandas on Arrow": pd.DataFrame({"a": NUMBERS[:, 0], "w": WORDS}).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "ordered categories": _frame(
        size=pd.Categorical(WORDS, categories=list("fedcba"), ordered=True)
    ),
    "names that are not ASCII": pd.DataFrame(
        {"größe": NUMBERS[:, 0], "名前": WORDS, "🌲 <&>": NUMBERS[:, 1], "": NUMBERS[:, 2]}
    ),
    "categories that are not ASCII": _frame(city=np.where(NUMBERS[:, 0] > 0, "Zürich", "東京")),
    "names that are numbers": pd.DataFrame(NUMBERS),
    "polars": pl.DataFrame({"a": NUMBERS[:, 0], "w": WORDS, "d": DAYS.to_numpy()}),
    "pyarrow": pa.table({"a": NUMBERS[:, 0], "w": pa.array(WORDS.tolist())}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("table", ODD_TABLES)
def test_odd_table_works(table, way):
    _check_fit(WAYS[way], ODD_TABLES[table], _target_of(WAYS[way]))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_few_rows_work(n_rows, way):
    model, table = WAYS[way], _with_missing(NUMBERS)[:n_rows]
    _check_fit(model, table, _target_of(model)[:n_rows])


@pytest.mark.parametrize("way", WAYS)
def test_one_class_or_a_constant_target_is_a_lone_leaf(way):
    model = WAYS[way]
    _check_fit(model, NUMBERS, np.full(N, 7))
    assert model.get_depth() == 0
    assert set(model.predict(NUMBERS)) == {7}


@pytest.mark.parametrize(
    "labels",
    [
        np.where(LABELS == 0, "no", "yes"),
        np.where(LABELS == 0, "nein", "jå").astype(object),
        LABELS > 0,
        LABELS.astype(np.uint8),
        LABELS.astype(float),
        LABELS + 2**60,
        (LABELS.astype(np.uint64) + np.uint64(2**63)),
        LABELS * 1e300,
        pd.Series(LABELS, dtype="Int8"),
        pd.Series(np.where(LABELS == 0, "no", "yes"), dtype="category"),
        pd.Series(pd.Categorical(["a", "b"] * (N // 2), categories=["a", "b", "never"])),
        pl.Series(LABELS),
        LABELS.tolist(),
    ],
    ids=lambda y: f"{type(y).__name__} {getattr(y, 'dtype', '')}",
)
def test_labels_come_back_as_they_were(labels):
    model = CARTClassifier().fit(NUMBERS, labels)
    np.testing.assert_array_equal(np.asarray(model.predict(NUMBERS)), np.asarray(labels))
    assert list(model.classes_) == sorted(set(np.asarray(labels).tolist()))


@pytest.mark.parametrize(
    "target",
    [
        TARGET.astype(np.float32),
        (TARGET * 1000).astype(np.int16),
        TARGET > 0.5,
        TARGET * 1e99,
        TARGET * 1e-98,
        TARGET * 1e90 - 1e90,
        np.where(TARGET > 1, 1e99, 1e-99),
        [Decimal(f"{t:.3f}") for t in TARGET],
        pd.Series(TARGET, dtype="Float64"),
        _read_only(TARGET),
        np.repeat(TARGET, 2)[::2],
        np.ldexp(1.0, np.arange(N) - 40),
    ],
    ids=range(12),
)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_targets_of_many_kinds_are_learned_by_heart(target, criterion):
    model = CARTRegressor(criterion=criterion)
    _check_fit(model, NUMBERS, target)
    wanted = np.asarray(target, dtype=float)
    # squares of differences below 1e-16 of the range vanish beside the largest one
    np.testing.assert_allclose(model.predict(NUMBERS), wanted, atol=1e-9 * np.ptp(wanted))


# ---------------------------------------------------------------------- weights
GOOD_WEIGHTS = {
    "large": np.full(N, 1e97),
    "small": np.full(N, 1e-99),
    "many magnitudes": 10.0 ** RNG.integers(-90, 90, N),
    "a chain of magnitudes": 10.0 ** -np.linspace(0, 99, N),
    "whole": RNG.integers(0, 5, N),
    "one row": np.eye(N)[3],
    "two rows": np.eye(N)[3] + 1e-30 * np.eye(N)[9],
    "booleans": RNG.random(N) < 0.5,
    "float32": RNG.random(N).astype(np.float32),
    "read-only": _read_only(RNG.random(N)),
    "a series": pd.Series(RNG.random(N), index=np.arange(N)[::-1]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GOOD_WEIGHTS)
def test_odd_weights_work(name, way):
    model, weights = WAYS[way], GOOD_WEIGHTS[name]
    number, other, few = _with_missing(NUMBERS, 0.1).T
    table = _frame(number=number, other=other, few=few.round(), word=WORDS)
    _check_fit(model, table, _target_of(model), weights)
    total = np.asarray(weights, float).sum()
    assert model.tree_.weight[0] == pytest.approx(total)


@pytest.mark.parametrize("way", WAYS)
def test_scaling_all_weights_changes_nothing(way):
    """By powers of two, which are exact: weights count in proportion only."""
    model, weights = WAYS[way], RNG.random(N) + 0.1
    y, values = _target_of(model), []
    for scale in (1.0, 2.0**300, 2.0**-300):
        values.append(model.fit(NUMBERS, y, weights * scale).tree_.value)
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(values[0], values[2])


@pytest.mark.parametrize("Model", [CARTClassifier, CARTRegressor])
def test_one_number_weighs_every_row(Model):
    assert Model().fit(NUMBERS, LABELS, sample_weight=2.5).tree_.weight[0] == 2.5 * N


# ---------------------------------------------------------------------- large
def test_predict_on_more_than_two_to_the_31_elements():
    """A table of one row repeated: a view that takes no memory, with elements beyond 32 bits."""
    n_rows, n_columns = 1_100_000, 2_000
    assert n_rows * n_columns > 2**31
    rows = np.zeros((2, n_columns), bool)
    rows[1, -1] = True
    model = CARTClassifier().fit(rows, ["no", "yes"])
    assert model.tree_.feature[0] == n_columns - 1
    leaf = model.apply(np.broadcast_to(rows[1], (n_rows, n_columns)))
    assert leaf.shape == (n_rows,)
    np.testing.assert_array_equal(leaf, 2)
    assert model.classes_[model.tree_.value[2, 0].argmax()] == "yes"
