"""Bad input: one clear error that names the column, the rows or the parameter, and the way out.

Odd input that works stands in test_tree_odd_input.py.
"""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from arboretum import (
    ArboretumError,
    CARTClassifier,
    CARTRegressor,
    DataError,
    ModelFileError,
    ParameterError,
)
from arboretum.data.checks import check_rows
from arboretum.engine.columns.presort import MAX_ROWS

BOTH = (CARTClassifier, CARTRegressor)
N = 80
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(N, 3))
LABELS = RNG.integers(0, 3, N)


def _frame(**columns) -> pd.DataFrame:
    return pd.DataFrame(columns)


# ---------------------------------------------------------------------- tables that cannot be used
OBJECT = np.array([[{}], [1]], dtype=object)
BAD_TABLES = {
    "infinite": (
        [[1, np.inf], [2, 3]],
        r"column 'x1' holds an infinite value \(row 0\): replace it",
    ),
    "infinite, named": (
        _frame(income=[1.0, np.inf], size=[0, 1]),
        r"column 'income' holds an infinite value \(row 1\)",
    ),
    "infinite in float16": (np.array([[1], [np.inf]], np.float16), r"column 'x0'.*\(row 1\)"),
    "infinite, sparse": (sp.csr_array([[0, np.inf], [1, 2]]), r"column 'x1' .*infinite.*\(row 0\)"),
    "infinite Decimal": ([[Decimal("Infinity")], [1]], r"column 'x0' holds an infinite.*\(row 0\)"),
    "no rows": (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\)"),
    "no columns": (np.zeros((2, 0)), r"0 feature\(s\) \(shape=\(2, 0\)\)"),
    "empty list": ([], "got a 1-D array.*Reshape your data"),
    "empty frame": (pd.DataFrame(), r"0 sample\(s\)"),
    "one dimension": ([1, 2], r"got a 1-D array of shape \(2,\). Reshape your data: X.reshape"),
    "three dimensions": (np.zeros((2, 2, 2)), r"dim 3 \(shape=\(2, 2, 2\)\).*X.reshape"),
    "a number": (5, "X must be an array, a dataframe.*got int"),
    "None": (None, "X must be an array, a dataframe.*got NoneType"),
    "a dict": ({"a": [1, 2]}, "X must be an array, a dataframe.*got dict"),
    "a generator": ((i for i in range(3)), "X must be an array, a dataframe.*got generator"),
    "rows of different length": ([[1], [1, 2]], "row 0 has 1 values, row 1 has 2"),
    "complex": (np.zeros((2, 2), complex), "Complex data not supported.*X.real"),
    "bytes": (np.array([[b"a"], [b"b"]]), "column 'x0' is an array of dtype.*X.astype"),
    "a dict in a cell": (OBJECT, "column 'x0' has a cell of type dict in row 0"),
    "lists in cells": (_frame(a=[[1], [2]]), "column 'a' has a cell of type list in row 0"),
    "records": (np.zeros((2, 1), dtype=[("a", "f8")]), "column 'x0' is an array of dtype"),
    "words and numbers": (
        np.array([["a"], [1]], dtype=object),
        r"column 'x0' mixes numbers \(row 1: 1\) and strings \(row 0: 'a'\).*categorical_features",
    ),
    "whole numbers beyond 2**53": (
        np.array([[2**53 + 1], [1]]),
        r"column 'x0' holds whole numbers beyond 2\*\*53.*\(row 0, e.g. 9007199254740993\)",
    ),
    "whole numbers beyond float64": (
        [[10**400], [1]],
        "column 'x0' .*too large for float64 in row 0",
    ),
    "a longdouble that is no double": (
        np.array([[1], [np.nextafter(np.longdouble(1), 2)]], np.longdouble),
        r"column 'x0' holds values of .* that float64 cannot hold exactly \(row 1\)",
    ),
    "a name twice": (
        pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
        "column names must be unique, X holds more than once: 'a'",
    ),
    "a name twice, Arrow": (
        pa.table([[1, 2], [3, 4]], names=["a", "a"]),
        "column names must be unique, X holds more than once: 'a'",
    ),
    "some names": (
        pd.DataFrame([[1, 2], [3, 4]], columns=["a", 1]),
        r"column names of types \['int', 'str'\]: rename the columns",
    ),
    "no such file": ("no/such/file.csv", "no such file: 'no/such/file.csv'"),
}
if np.finfo(np.longdouble).eps == np.finfo(float).eps:  # some systems have no longer double
    del BAD_TABLES["a longdouble that is no double"]


@pytest.mark.parametrize("Model", BOTH)
@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_table_at_fit(name, Model):
    X, message = BAD_TABLES[name]
    model = Model()
    with pytest.raises(DataError, match=message):
        model.fit(X, [0, 1])
    assert not hasattr(model, "tree_")


# ---------------------------------------------------------------------- bad targets
FOUR = [[1.0], [2.0], [3.0], [4.0]]
BAD_TARGETS = {
    "none": (None, "requires y to be passed, but the target y is None"),
    "too short": ([0, 1], r"inconsistent numbers of samples: \[4, 2\] \(rows of X, rows of y\)"),
    "too long": ([0, 1] * 3, r"inconsistent numbers of samples: \[4, 6\]"),
    "empty": ([], r"0 sample\(s\) in y"),
    "no outputs": (np.zeros((4, 0)), r"0 sample\(s\) in y"),
    "a number": (3, r"y should be a 1d array, got an array of shape \(\)"),
    "three dimensions": (np.zeros((4, 1, 1)), r"y should be a 1d array.*shape \(4, 1, 1\)"),
    "NaN": ([0, 1, np.nan, 1], r"Input y contains NaN \(row 2\): drop the rows"),
    "None inside": ([0, None, 0, None], r"Input y contains NaN \(rows 1, 3\): drop the rows"),
    "NA inside": (pd.Series([1, None, 2, 3], dtype="Int64"), r"Input y contains NaN \(row 1\)"),
    "missing category": (
        pd.Series(["a", None, "b", "a"], dtype="category"),
        r"Input y contains NaN \(row 1\)",
    ),
    "NaN in an output": (
        [[0, 1], [1, np.nan], [0, 1], [1, 1]],
        r"Input y \(output 1\) contains NaN \(row 1\)",
    ),
    "infinite": ([0, 1, -np.inf, 1], r"Input y contains infinity \(row 2\)"),
    "rows of different length": ([[0], [1, 2], [0], [1]], "row 0 has 1 values, row 1 has 2"),
    "complex": ([1j, 2, 3, 4], "Complex data not supported"),
    "dates": (pd.date_range("2020", periods=4), "Unknown label type: datetime.*convert y first"),
    "sparse": (
        sp.csr_array([[0], [1], [0], [1]]),
        r"y is not supported. Pass y.toarray\(\)",
    ),
    "a dict": ({"a": 1}, "y should be a 1d array or a table of targets, got dict"),
    "a string": ("abcd", "y should be a 1d array or a table of targets, got str"),
    "bytes": (np.array([b"a", b"b", b"a", b"b"]), "'y' is an array of dtype.*astype"),
    "sets": ([{1}, {2}, {1}, {2}], "'y' has a cell of type set in row 0"),
}
BAD_LABELS = {
    "fractions": ([0.5, 1, 1.5, 2], r"Unknown label type: continuous.*\(rows 0, 2, e.g. 0.5\)"),
    "words and numbers": (np.array(["a", 1, "b", 2], dtype=object), "y mixes strings and numbers"),
}
BAD_NUMBERS = {
    "words": (
        ["1", "b", "1", "b"],
        r"y holds strings \(rows 0, 2: '1'\), a regressor needs numbers",
    ),
    "beyond 2**53": ([2**53 + 1, 1, 2, 3], r"'y' holds whole numbers beyond 2\*\*53.*row 0"),
    "huge": ([1, 1e300, 2, -1e200], r"y holds values beyond ±1e\+100 \(rows 1, 3\).*scale y down"),
    "largest float": ([0, 0, 0, np.finfo(float).max], r"y holds values beyond .*\(row 3\)"),
    "small": ([0, 1e-300, 2e-300, 0], "y varies by no more than 2e-300.*scale y up"),
    "denormal": ([0, 0, 0, 5e-324], "y varies by no more than 4.94066e-324"),
    "one output huge": ([[1, 0], [1, 0], [2, 1e150], [1, 0]], r"y holds values beyond.*\(row 2\)"),
}


def _bad_targets(model_class, *tables):
    return [
        pytest.param(model_class, *case, id=f"{model_class.__name__}-{name}")
        for table in tables
        for name, case in table.items()
    ]


@pytest.mark.parametrize(
    ("Model", "y", "message"),
    _bad_targets(CARTClassifier, BAD_TARGETS, BAD_LABELS)
    + _bad_targets(CARTRegressor, BAD_TARGETS, BAD_NUMBERS),
)
def test_bad_target_at_fit(Model, y, message):
    with pytest.raises(DataError, match=message):
        Model().fit(FOUR, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            [0, -1, 2, -3],
            r"Some value.s. of y are negative .* 2 of them \(rows 1, 3\)",
        ),
        ([0, -1], "Some value.s. of y are negative"),  # before the length, as in scikit-learn
        ([0, 0, 0, 0], "Sum of y is not strictly positive .* y is not positive anywhere"),
        ([[0, 1], [0, 1], [0, 2], [0, 3]], "Sum of y is not strictly positive"),
    ],
)
def test_bad_target_for_poisson(y, message):
    with pytest.raises(DataError, match=message):
        CARTRegressor(criterion="poisson").fit(FOUR, y)


@pytest.mark.parametrize("Model", BOTH)
def test_a_column_vector_is_taken_as_one_target(Model):
    with pytest.warns(DataConversionWarning, match=r"column-vector y was passed.*using ravel\(\)"):
        model = Model().fit(FOUR, [[0], [1], [0], [1]])
    assert model.predict(FOUR).shape == (4,)


# ---------------------------------------------------------------------- weights
BAD_WEIGHTS = {
    "negative": (
        [1, -1, 1, -0.5],
        r"Negative values in data passed to `sample_weight` \(rows 1, 3\)",
    ),
    "NaN": ([1, np.nan, 1, 1], r"sample_weight holds NaN \(row 1\)"),
    "None inside": ([1, None, 1, 1], r"sample_weight holds NaN \(row 1\)"),
    "infinite": ([1, 1, 1, np.inf], r"sample_weight holds infinite values \(row 3\)"),
    "all zero": ([0, 0, 0, 0], "sample_weight is zero in every row"),
    "too few": ([1, 1], "sample_weight has 2 entries, X has 4 rows: give one per row"),
    "too many": ([1] * 5, "sample_weight has 5 entries, X has 4 rows"),
    "two dimensions": (np.ones((4, 1)), r"sample_weight must be one number or 1-D.*\(4, 1\)"),
    "words": (list("abcd"), "sample_weight must hold numbers"),
    "a word": ("ones", "sample_weight must hold numbers"),
    "a dict": ({"a": 1}, "sample_weight must hold numbers"),
    "complex": ([1j] * 4, "sample_weight must hold numbers"),
    "a negative number": (
        -1.0,
        r"Negative values in data passed to `sample_weight` \(rows 0, 1, 2, 3\)",
    ),
    "huge": ([1e300] * 4, r"the weights add up to 4e\+300.*scale them down"),
    "too large a sum": ([1e308] * 4, "sum of sample_weight is too large for float64"),
    "small": (
        [1e-300] * 4,
        r"positive values below 1e-100 \(rows 0, 1, 2, 3\).*scale the weights up",
    ),
    "small beside large": ([1, 1, 1e-300, 1], r"positive values below 1e-100 \(row 2\)"),
}


@pytest.mark.parametrize("Model", BOTH)
@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_bad_weights(name, Model):
    weights, message = BAD_WEIGHTS[name]
    model = Model()
    with pytest.raises(DataError, match=message):
        model.fit(FOUR, [0, 1, 0, 1], sample_weight=weights)
    with pytest.raises(DataError, match=message):
        model.prune_cv(FOUR, [0, 1, 0, 1], cv=2, sample_weight=weights)
    assert not hasattr(model, "tree_")


def test_a_fold_of_nothing_but_weight_zero():
    weights = np.array([1.0] * 10 + [0.0] * 10)
    with pytest.raises(DataError, match="a fold of prune_cv holds only rows of weight 0"):
        CARTRegressor().prune_cv(
            np.arange(20.0)[:, None], np.arange(20) % 3, cv=2, sample_weight=weights
        )


def test_one_fold_has_no_spread():
    folds = [(np.arange(40), np.arange(40, N))]
    model = CARTRegressor().prune_cv(NUMBERS, LABELS, cv=folds, rule="1se")
    assert not model.pruning_curve_.std_error.any()


# ---------------------------------------------------------------------- predict
TABLE = pd.DataFrame(
    {
        "age": np.arange(12.0),
        "city": ["Bern", "Oslo", "Rome"] * 4,
        "day": pd.date_range("2020", periods=12),
        "member": [True, False] * 6,
    }
)
BAD_LATER = {
    "a column missing": (TABLE.drop(columns="age"), "X lacks columns seen at fit: 'age'"),
    "a column renamed": (
        TABLE.rename(columns={"age": "Age"}),
        r"X lacks columns seen at fit: 'age' \(did you mean 'Age'\?\).*unseen at fit: 'Age'",
    ),
    "all columns renamed": (TABLE.set_axis(list("abcd"), axis=1), "lacks columns.*'age', 'city'"),
    "a column too many": (
        TABLE.assign(zip=1),
        r"X has columns unseen at fit: 'zip'; drop them, or .*X\[model.feature_names_in_\]",
    ),
    "a column twice": (pd.concat([TABLE, TABLE[["age"]]], axis=1), "names must be unique.*'age'"),
    "three columns": (
        np.zeros((2, 3)),
        "X has 3 features, but .* is expecting 4 features as input",
    ),
    "infinite": (TABLE.assign(age=np.inf), "column 'age' holds 12 infinite values"),
    "words for numbers": (TABLE.assign(age="x"), "'age' held numbers at fit and holds strings now"),
    "numbers for words": (TABLE.assign(city=1), "'city' held strings at fit and holds numbers now"),
    "numbers for dates": (TABLE.assign(day=5), "'day' held dates at fit and holds numbers now"),
    "words for dates": (TABLE.assign(day="2020"), "'day' held dates at fit and holds strings now"),
    "dates for numbers": (
        TABLE.assign(age=TABLE["day"]),
        "'age' held numbers at fit and holds dates now.*convert the column",
    ),
    "words for truth": (TABLE.assign(member="x"), "column 'member' held .* and holds strings now"),
    "no rows": (TABLE[:0], r"0 sample\(s\) \(shape=\(0, 4\)\)"),
    "one dimension": ([1, 2, 3, 4], "got a 1-D array.*Reshape your data"),
    "None": (None, "X must be an array, a dataframe.*got NoneType"),
}


@pytest.fixture(params=BOTH, ids=["classifier", "regressor"], scope="module")
def fitted(request):
    return request.param(unseen="error").fit(TABLE, [0, 1, 1, 0] * 3)


@pytest.mark.parametrize("method", ["predict", "apply", "decision_path"])
@pytest.mark.parametrize("name", BAD_LATER)
def test_bad_table_at_predict(fitted, name, method):
    X, message = BAD_LATER[name]
    with pytest.raises(DataError, match=message):
        getattr(fitted, method)(X)


@pytest.mark.parametrize(
    "table",
    [
        TABLE[TABLE.columns[::-1]],
        TABLE[5:6],
        TABLE.iloc[::-2],
        TABLE.astype({"age": "Int64", "city": "category", "member": "boolean"}),
        pl.from_pandas(TABLE),
        pa.Table.from_pandas(TABLE),
        TABLE.assign(member=TABLE["member"].astype(int)),
    ],
    ids=["other order", "one row", "every other row", "other dtypes", "polars", "Arrow", "0 and 1"],
)
def test_the_same_data_in_another_dress(fitted, table):
    expected = dict(zip(TABLE["age"], fitted.apply(TABLE)))
    ages = np.asarray(table["age"]).astype(float)
    np.testing.assert_array_equal(fitted.apply(table), [expected[age] for age in ages])


def test_rows_without_any_value_go_somewhere(fitted):
    nothing = TABLE[:3].assign(age=np.nan, city=None, day=pd.NaT, member=None)
    assert np.all(fitted.tree_.is_leaf[fitted.apply(nothing)])


@pytest.mark.parametrize("Model", BOTH)
def test_names_on_one_side_only_are_a_warning(Model):
    X, y = NUMBERS, LABELS
    named = pd.DataFrame(X, columns=list("abc"))
    with pytest.warns(
        UserWarning, match="X does not have valid feature names, but .* was fitted with"
    ):
        by_place = Model().fit(named, y).predict(X)
    with pytest.warns(UserWarning, match="X has feature names, but .* was fitted without"):
        np.testing.assert_array_equal(Model().fit(X, y).predict(named), by_place)


def test_warnings_point_at_the_callers_line():
    model = CARTClassifier().fit(TABLE, [0, 1, 1, 0] * 3)
    for call in (model.predict, model.predict_proba, model.apply, model.decision_path):
        with pytest.warns(UserWarning, match="unseen at fit: 'Paris'") as caught:
            call(TABLE.assign(city="Paris"))
        assert [w.filename for w in caught] == [__file__]


# ---------------------------------------------------------------------- unseen categories
@pytest.mark.parametrize("surrogates", [0, 2])
@pytest.mark.parametrize("Model", BOTH)
def test_unseen_categories_follow_the_policy(Model, surrogates):
    words = np.array(["a", "b", "c", None] * 10)
    table = _frame(word=words, number=np.arange(40.0))
    y = (words == "b").astype(int)
    new = _frame(word=["a", "Z", "Y"], number=[1.0, 2, 3])
    gone = _frame(word=["a", None, None], number=[1.0, 2, 3])
    lenient = Model(surrogates=surrogates).fit(table, y)
    with pytest.warns(
        UserWarning, match=r"'word' .*unseen at fit: 'Z', 'Y' \(rows 1, 2\).*missing"
    ):
        found = lenient.apply(new)
    np.testing.assert_array_equal(found, lenient.apply(gone))
    strict = Model(unseen="error", surrogates=surrogates).fit(table, y)
    with pytest.raises(DataError, match=r"'word' .*unseen at fit: 'Z', 'Y' \(rows 1, 2\); correct"):
        strict.predict(new)
    np.testing.assert_array_equal(strict.apply(gone), found)


# ---------------------------------------------------------------------- after a failure
@pytest.mark.parametrize("Model", BOTH)
def test_a_failed_fit_leaves_the_old_model_whole(Model):
    """Columns of one fit and the tree of another would read outside the table."""
    table = RNG.normal(size=(60, 40))
    model = Model().prune_cv(table, np.arange(60) % 2, cv=3)
    old = model.predict(table)
    with pytest.raises(DataError, match="contains NaN"):
        model.fit(np.zeros((2, 1)), [0, np.nan])
    np.testing.assert_array_equal(model.predict(table), old)
    for method in (model.predict, model.apply, model.decision_path):
        with pytest.raises(DataError):
            method(np.zeros((2, 1)))
    assert hasattr(model, "pruning_curve_")
    assert model.fit([[0.0], [1.0]], [0, 1]).predict([[1.0]]) == 1


@pytest.mark.parametrize("Model", BOTH)
def test_a_new_fit_forgets_the_old_one(Model):
    named = pd.DataFrame(NUMBERS, columns=list("abc"))
    model = Model().prune_cv(named, LABELS, cv=3)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    model.fit(NUMBERS[:, :2], LABELS)
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(model, "pruning_curve_")
    assert model.n_features_in_ == 2


@pytest.mark.parametrize("Model", BOTH)
def test_input_is_never_written_to(Model):
    X, y, w = np.where(NUMBERS > 1, np.nan, NUMBERS), LABELS.astype(float), RNG.random(N)
    copies = X.copy(), y.copy(), w.copy()
    Model(surrogates=1).fit(X, y, w).predict(X)
    for mine, theirs in zip((X, y, w), copies):
        np.testing.assert_array_equal(mine, theirs)


def test_every_error_is_one_kind_and_a_value_error():
    for kind in (DataError, ParameterError, ModelFileError):
        assert issubclass(kind, ArboretumError)
        assert issubclass(kind, ValueError)
    assert issubclass(ParameterError, TypeError)


# ---------------------------------------------------------------------- too many rows
def test_more_rows_than_an_entry_can_number():
    """Nothing is read before the check: both tables are views that take no memory."""
    check_rows(MAX_ROWS)
    X = np.broadcast_to(np.int8(1), (MAX_ROWS + 1, 2))
    y = np.broadcast_to(np.int8(1), (MAX_ROWS + 1,))
    with pytest.raises(DataError, match=f"X has {MAX_ROWS + 1} rows, .* at most {MAX_ROWS}: take"):
        CARTClassifier().fit(X, y)


def test_position_arithmetic_at_the_edge_of_32_bits():
    """Entries near the largest position keep position and marks apart (fitting so many rows would
    take a hundred gigabytes, so the arithmetic is tested at its edge instead)."""
    from arboretum.engine.columns.presort import MISSING, NEW, POSITION

    last = np.uint32(MAX_ROWS - 1)
    for marks in (np.uint32(0), NEW, MISSING, NEW | MISSING):
        entry = last | marks
        assert entry.dtype == np.uint32
        assert entry & POSITION == MAX_ROWS - 1
        assert entry & (NEW | MISSING) == marks
