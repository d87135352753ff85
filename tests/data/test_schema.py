"""Kinds are learned, codes are applied, and nothing is guessed or dropped on the way."""

import datetime as dt
import json
import sys
import warnings
from subprocess import check_output

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from arboretum.data.matrix import DenseMatrix, FrameMatrix, SparseMatrix
from arboretum.data.schema import Column, Schema, encode, learn_schema
from arboretum.errors import DataError, ModelFileError, ParameterError

NAN = np.nan


def kinds(schema):
    return [(c.kind, c.categories) for c in schema.columns]


def block(matrix):
    return matrix.rows(0, matrix.n_rows)


def people():
    return pd.DataFrame(
        {
            "age": [31.5, None, 20.0, 44.0],
            "city": ["Oslo", "Bern", None, "Oslo"],
            "member": [True, False, True, True],
            "born": pd.to_datetime(["1990-01-01", "2000-01-01", None, "1980-01-01"]),
            "size": pd.Categorical(["M", "S", "M", None], ["S", "M", "L"], ordered=True),
        }
    )


# --------------------------------------------------------------------------- fit
def test_kinds_follow_the_dtypes():
    schema, matrix = learn_schema(people())
    assert schema.columns == (
        Column("age", "numeric", None, True, "float64"),
        Column("city", "categorical", ("Bern", "Oslo"), True, "str"),
        Column("member", "categorical", (False, True), False, "bool"),
        Column("born", "numeric", None, True, "datetime"),
        Column("size", "ordinal", ("S", "M", "L"), True, "category"),
    )
    assert (schema.named, schema.n_features) == (True, 5)
    assert schema.names == ("age", "city", "member", "born", "size")
    assert [c.value_kind for c in schema.columns][2:4] == ["categorical", "datetime"]
    expected = [
        [31.5, 1, 1, 631152000, 1],
        [NAN, 0, 0, 946684800, 0],
        [20, NAN, 1, NAN, 1],
        [44, 1, 1, 315532800, NAN],
    ]
    np.testing.assert_array_equal(block(matrix), expected)


@pytest.mark.parametrize(
    "X",
    [
        np.arange(6.0).reshape(3, 2),
        np.asfortranarray(np.arange(6).reshape(3, 2)),
        np.arange(12, dtype=np.float16).reshape(6, 2)[::2],
        np.ones((3, 2), dtype=bool),
        np.ones((3, 2), dtype=np.longdouble),
    ],
)
def test_arrays_are_numeric_and_not_copied(X):
    X.flags.writeable = False
    schema, matrix = learn_schema(X)
    assert isinstance(matrix, DenseMatrix)
    assert np.shares_memory(matrix.values, X)
    assert kinds(schema) == [("numeric", None)] * 2
    assert (schema.named, schema.columns[0].dtype) == (False, X.dtype.name)
    assert encode(schema, X).values is X


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_missing_values_are_found_in_their_columns(dtype, order):
    X = np.full((70_000, 4), 1e3, dtype=dtype, order=order)
    X[69_999, 1] = X[0, 3] = NAN
    schema, _ = learn_schema(X)
    assert [c.has_missing for c in schema.columns] == [False, True, False, True]


def test_sums_that_overflow_are_not_infinite_values():
    X = np.array([[1.7e308, -1.7e308], [1.7e308, -1.7e308]])
    assert not any(c.has_missing for c in learn_schema(X)[0].columns)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda X: X,
        np.asfortranarray,
        lambda X: pd.DataFrame(X, columns=["x0", "x1"]),
        lambda X: pl.DataFrame(X, schema=["x0", "x1"]),
        sp.csr_array,
        sp.csc_array,
        lambda X: X.astype(object),
        lambda X: X.astype(np.longdouble),
    ],
)
def test_infinite_values_are_named(wrap):
    X = np.ones((50, 2))
    good, bad = wrap(X.copy()), X
    bad[[17, 40, 41], 1] = [np.inf, -np.inf, np.inf]
    bad[3, 0] = NAN
    message = r"column 'x1' holds 3 infinite values \(rows 17, 40, 41\): replace them, e.g. by NaN"
    with pytest.raises(DataError, match=message):
        learn_schema(wrap(bad))
    with pytest.raises(DataError, match=message):
        learn_schema(wrap(bad), categorical_features=[1])
    with pytest.raises(DataError, match=message):
        encode(learn_schema(good)[0], wrap(bad))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, lambda X: pa.table({"x0": X[:, 0]})])
def test_whole_numbers_beyond_float64(dtype, wrap):
    X = np.array([[1], [2**53], [2**53 + 1]], dtype=dtype)
    learn_schema(wrap(X[:2]))
    with pytest.raises(DataError, match=r"'x0'.*\(row 2, e.g. 9007199254740993\)"):
        learn_schema(wrap(X))
    schema, matrix = learn_schema(wrap(X), categorical_features=[0])
    assert schema.columns[0].categories == (1, 2**53, 2**53 + 1)
    assert matrix.column(0).tolist() == [0, 1, 2]
    assert encode(schema, wrap(X)).column(0).tolist() == [0, 1, 2]


def test_longdouble_must_be_exact():
    third = np.array([[np.longdouble(1) / 3]])
    if third[0, 0] == np.float64(third[0, 0]):
        pytest.skip("longdouble is float64 here")
    with pytest.raises(DataError, match=r"'x0'.*\(row 0\).*astype"):
        learn_schema(third)


def test_a_mixed_column_must_be_declared():
    X = np.array([[1], ["a"], [None], ["b"]], dtype=object)
    with pytest.raises(DataError, match=r"'x0' mixes numbers \(row 0: 1\) and strings \(row 1: 'a"):
        learn_schema(X)
    with pytest.raises(DataError, match="mixes strings, durations or times of day: make it one"):
        learn_schema(np.array([[dt.time(1)], ["a"]], dtype=object))
    schema, matrix = learn_schema(X, categorical_features=[0])
    assert schema.columns[0].categories == (1, "a", "b")
    np.testing.assert_array_equal(matrix.column(0), [0, 1, NAN, 2])


# --------------------------------------------------------------------------- overrides
@pytest.mark.parametrize(
    "categorical", [["b"], [1], np.array([1]), (False, True), np.array([False, True])]
)
def test_categorical_features_by_name_index_or_mask(categorical):
    X = pd.DataFrame({"a": [1, 2, 3], "b": [30, 10, 30]})
    schema, matrix = learn_schema(X, categorical_features=categorical)
    assert kinds(schema) == [("numeric", None), ("categorical", (10, 30))]
    assert matrix.column(1).tolist() == [1, 0, 1]


@pytest.mark.parametrize("nothing", [None, "from_dtype", []])
def test_no_override_leaves_dtypes_to_speak(nothing):
    schema, _ = learn_schema([[1, "a"], [2, "b"]], categorical_features=nothing)
    assert [c.kind for c in schema.columns] == ["numeric", "categorical"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.5, NAN, 1.0, 2.5], (1.0, 2.5)),
        (pd.array([3, None, 1, 3], "Int64"), (1, 3)),
        (np.array([True, False, True, True]), (False, True)),
        (pd.to_datetime(["2020-01-02", None, "2020-01-01", "2020-01-02"]), None),
        (pd.to_timedelta([2, None, 1, 2], unit="s"), (1.0, 2.0)),
        (["b", None, "a", "b"], ("a", "b")),
        (pd.Categorical(["b", None, "a", "b"], ["b", "a", "unused"]), ("b", "a")),
    ],
)
def test_any_column_can_be_categorical(values, expected):
    expected = expected or (dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2))
    X = pd.DataFrame({"v": values})
    schema, matrix = learn_schema(X, categorical_features=["v"])
    assert (schema.columns[0].categories, schema.columns[0].kind) == (expected, "categorical")
    assert [type(v) for v in schema.columns[0].categories] == [type(v) for v in expected]
    np.testing.assert_array_equal(block(encode(schema, X)), block(matrix))


def test_ordinal_features():
    X = pd.DataFrame(
        {"n": [3, 1, 2], "w": ["c", "a", "b"], "e": pd.Categorical(["x", "y", "x"], ["y", "x"])}
    )
    schema, matrix = learn_schema(X, ordinal_features=["n", "w", "e"])
    assert kinds(schema) == [
        ("ordinal", None),
        ("ordinal", ("a", "b", "c")),
        ("ordinal", ("y", "x")),
    ]
    assert block(matrix).tolist() == [[3, 2, 1], [1, 0, 0], [2, 1, 1]]


def test_ordinal_order_can_be_given():
    X = pl.DataFrame({"size": ["M", "S", None], "n": [30, 10, 20]})
    orders = {"size": ["S", "M", "L"], 1: [30, 20, 10]}
    schema, matrix = learn_schema(X, ordinal_features=orders)
    assert kinds(schema) == [("ordinal", ("S", "M", "L")), ("ordinal", (30, 20, 10))]
    np.testing.assert_array_equal(block(matrix), [[1, 0], [0, 2], [NAN, 1]])
    with pytest.raises(DataError, match=r"'size' holds 'M' \(row 0\), not among the values listed"):
        learn_schema(X, ordinal_features={"size": ["S", "L"]})


def test_ordered_categories_keep_ranks_not_seen():
    train = pd.DataFrame({"s": pd.Categorical(["lo", "hi"], ["lo", "mid", "hi"], ordered=True)})
    schema, _ = learn_schema(train)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encode(schema, pd.DataFrame({"s": ["mid"]})).column(0).tolist() == [1]


def test_codes_of_training_rows_take_half_the_memory_of_other_numbers():
    frame = pd.DataFrame({"word": ["b", None, "a"], "number": [0.5, 1.5, 2.5]})
    schema, matrix = learn_schema(frame)
    word, number = matrix.columns
    assert (word.itemsize, number.itemsize) == (4, 8)
    later = encode(schema, frame)
    for f in range(2):
        np.testing.assert_array_equal(matrix.column(f), later.column(f))
        assert matrix.column(f).dtype == np.float64


def test_polars_enum_keeps_its_order():
    X = pl.DataFrame({"e": pl.Series(["z", "a"], dtype=pl.Enum(["z", "m", "a"]))})
    assert kinds(learn_schema(X)[0]) == [("categorical", ("z", "a"))]


BAD_OVERRIDES = [
    ({"categorical_features": ["ctiy"]}, r"item value 'ctiy' .* \(did you mean 'city'"),
    ({"categorical_features": ["qqq"]}, "the columns are 'age', 'city'"),
    ({"categorical_features": [5]}, r"= \[0, 4\], got 5"),
    ({"categorical_features": [-1]}, "must be in .* got -1"),
    ({"categorical_features": [True, False]}, "X has 5 columns, the mask 2"),
    ({"categorical_features": "city"}, "must be None or a list"),
    ({"categorical_features": 1}, "must be None or a list"),
    ({"categorical_features": [1.5]}, "not 1.5"),
    ({"categorical_features": [0, True]}, "mixture with booleans"),
    ({"ordinal_features": ["agee"]}, "ordinal_features has an item value 'agee'.*'age'"),
    ({"ordinal_features": {"city": "Bern"}}, r"ordinal_features\['city'\] must be a list"),
    ({"ordinal_features": {"city": ["Bern", "Bern"]}}, "every value once"),
    ({"ordinal_features": {"city": ["Bern", None]}}, "nothing missing"),
    ({"ordinal_features": {"city": []}}, "every value once"),
    ({"ordinal_features": [1], "categorical_features": ["city"]}, "both name 'city'"),
]


@pytest.mark.parametrize(("overrides", "message"), BAD_OVERRIDES)
def test_overrides_that_do_not_fit(overrides, message):
    with pytest.raises(ParameterError, match=message):
        learn_schema(people(), **overrides)


# --------------------------------------------------------------------------- predict
def test_columns_are_found_by_name():
    schema, matrix = learn_schema(people())
    shuffled = people()[["size", "born", "age", "member", "city"]]
    np.testing.assert_array_equal(block(encode(schema, shuffled)), block(matrix))
    from_polars = pl.from_pandas(shuffled.astype({"size": str}))
    np.testing.assert_array_equal(block(encode(schema, from_polars)), block(matrix))


def test_columns_of_one_dtype_are_found_by_name():
    numbers = pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=["a", "b", "c"])
    schema, matrix = learn_schema(numbers)
    np.testing.assert_array_equal(block(encode(schema, numbers[["c", "a", "b"]])), block(matrix))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.drop(columns=["age", "city"]), r"lacks columns seen at fit: 'age', 'city'$"),
        (
            lambda X: X.rename(columns={"city": "City"}),
            r"'city' \(did you mean 'City'\?\); it has columns unseen at fit: 'City'",
        ),
        (lambda X: X.assign(y=1), r"columns unseen at fit: 'y'; drop them, .*feature_names_in_"),
        (lambda X: X[["age"]].to_numpy(), "X has 1 features, but CART is expecting 5 features as"),
    ],
)
def test_columns_that_do_not_match(change, message):
    schema, _ = learn_schema(people())
    with pytest.raises(DataError, match=message):
        encode(schema, change(people()), estimator_name="CART")


def test_names_on_one_side_only_warn():
    X = np.arange(6.0).reshape(3, 2)
    named = pd.DataFrame(X, columns=["a", "b"])
    with pytest.warns(UserWarning, match="X does not have valid feature names, but CART was fitte"):
        encoded = encode(learn_schema(named)[0], X, estimator_name="CART")
    assert block(encoded).tolist() == X.tolist()
    with pytest.warns(
        UserWarning, match="X has feature names, but CART was fitted without feature"
    ):
        encode(learn_schema(X)[0], named, estimator_name="CART")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_unseen_categories(frame):
    schema, _ = learn_schema(frame({"city": ["Oslo", "Bern", "Oslo"]}))
    new = frame({"city": ["Rome", "Bern", None, "Rome", "Paris"]})
    with pytest.warns(
        UserWarning, match="'city' holds categories unseen at fit: 'Rome', 'Paris' "
    ) as w:
        encoded = encode(schema, new)
    assert len(w) == 1
    assert "(rows 0, 3, 4)" in str(w[0].message)
    assert "unseen='error'" in str(w[0].message)
    np.testing.assert_array_equal(encoded.column(0), [NAN, 0, NAN, NAN, NAN])
    with pytest.raises(DataError, match="'city' holds categories unseen at fit: 'Rome', 'Paris' "):
        encode(schema, new, unseen="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ignored = encode(schema, new, unseen="ignore")
    np.testing.assert_array_equal(ignored.column(0), encoded.column(0))
    with pytest.raises(ParameterError, match=r"unseen must be .*'ignore' or 'error', got 'what'"):
        encode(schema, new, unseen="what")


def test_only_five_unseen_values_are_listed():
    schema, _ = learn_schema([["a"]])
    with pytest.raises(DataError, match=r"'b', 'c', 'd', 'e', 'f', … and 2 more \("):
        encode(schema, [[c] for c in "bcdefgh"], unseen="error")


def test_a_declared_category_in_no_row_is_not_unseen():
    schema, _ = learn_schema(pd.DataFrame({"c": ["a"]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode(schema, pd.DataFrame({"c": pd.Categorical(["a"], ["a", "b"])}), unseen="error")


OTHER_TYPES = [
    (
        [1.5, 2],
        ["a", "b"],
        r"'v' held numbers at fit and holds strings now, e.g. 'a' \(rows 0, 1, dtype str\)",
    ),
    ([1.5, 2], ["1", "2"], "held numbers at fit and holds strings"),
    ([1.5, 2], pd.to_datetime(["2020-01-01", None]), r"numbers at fit and holds dates now \(row 0"),
    (pd.to_datetime(["2020-01-01"]), [1.5e9], "held dates at fit and holds numbers"),
    (pd.to_datetime(["2020-01-01"]), ["1 January"], "held dates at fit and holds strings"),
    (pd.to_timedelta(["1s"]), [1.0], "held durations at fit and holds numbers"),
    (["a", "b"], [1, 2], "held strings at fit and holds numbers"),
    (["a", "b"], [True, False], "held strings at fit and holds numbers"),
    (["a", "b"], pd.to_datetime(["2020-01-01"]), "held strings at fit and holds dates"),
]


@pytest.mark.parametrize(("before", "now", "message"), OTHER_TYPES)
def test_types_may_not_change(before, now, message):
    schema, _ = learn_schema(pd.DataFrame({"v": before}))
    with pytest.raises(DataError, match=message):
        encode(schema, pd.DataFrame({"v": now}))


def test_durations_and_numbers_are_not_the_same_category():
    seconds = pd.DataFrame({"v": pd.to_timedelta([1, 2], unit="s")})
    schema, _ = learn_schema(seconds, categorical_features=["v"])
    with pytest.raises(DataError, match="held durations at fit and holds numbers"):
        encode(schema, pd.DataFrame({"v": [1.0, 2.0]}))


SAME_MEANING = [
    ([1, 2, 3], [1.0, None, 2.0], [1, NAN, 2]),
    (np.array([True, False]), [True, False], [1, 0]),
    (pd.to_datetime(["2020-01-01"]), [dt.date(1970, 1, 2), None], [86400, NAN]),
    (pd.to_datetime(["2020-01-01"]), pd.Categorical([pd.Timestamp("1970-01-02")]), [86400]),
    (pd.to_datetime(["2020-01-01"]), [None, None], [NAN, NAN]),
    (["a", "b"], pd.Categorical(["b", "a"]), [1, 0]),
    (["a", "b"], [None, None], [NAN, NAN]),
    ([1.5, 2.5], pd.array([None, None], dtype="string"), [NAN, NAN]),
    (pd.Categorical([1, 2]), [2.0, 1.0], [1, 0]),
    ([1.5, 2.5], pd.Categorical([3, 4]), [3, 4]),
]


@pytest.mark.parametrize(("before", "now", "expected"), SAME_MEANING)
def test_the_same_meaning_in_another_dtype(before, now, expected):
    schema, _ = learn_schema(pd.DataFrame({"v": before}))
    np.testing.assert_array_equal(encode(schema, pd.DataFrame({"v": now})).column(0), expected)


def test_a_numeric_bool_array_meets_a_frame_of_bools():
    schema, _ = learn_schema(np.array([[True], [False]]))
    with pytest.warns(UserWarning, match="fitted without feature names"):
        encoded = encode(schema, pd.DataFrame({"a": [True, False]}))
    assert encoded.column(0).tolist() == [1, 0]


def test_a_column_of_nothing():
    schema, _ = learn_schema(pl.DataFrame({"a": [None, None], "b": [1, 2]}))
    assert schema.columns[0] == Column("a", "numeric", None, True, "null")
    with pytest.raises(DataError, match="'a' held numbers at fit and holds strings"):
        encode(schema, pl.DataFrame({"a": ["x"], "b": [1]}))


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow", "numpy"])
def test_encoding_the_training_table_again_changes_nothing(library):
    frame = pl.DataFrame(
        {
            "n": [1, None, 3, 2**40],
            "s": ["ü", "", None, "z"],
            "b": [True, None, False, True],
            "d": [dt.date(2020, 1, 1), None, dt.date(1900, 1, 1), dt.date(9999, 1, 1)],
        }
    )
    X = {
        "pandas": frame.to_pandas(),
        "polars": frame,
        "arrow": frame.to_arrow(),
        "numpy": frame.to_pandas().astype(object).to_numpy(),
    }[library]
    schema, matrix = learn_schema(X)
    assert isinstance(matrix, FrameMatrix)
    np.testing.assert_array_equal(block(encode(schema, X)), block(matrix))
    assert [c.categories for c in schema.columns] == [None, ("", "z", "ü"), (False, True), None]


# --------------------------------------------------------------------------- sparse
def test_sparse_stays_sparse():
    X = sp.random_array((40, 7), density=0.3, format="coo", random_state=0)
    schema, matrix = learn_schema(X)
    assert isinstance(matrix, SparseMatrix)
    assert isinstance(encode(schema, X.tocsc()), SparseMatrix)
    np.testing.assert_array_equal(block(matrix), X.toarray())


def test_sparse_missing_values():
    schema, _ = learn_schema(sp.csr_array([[0, 1.0, NAN], [2, 0, 0], [0, NAN, 3]]))
    assert [c.has_missing for c in schema.columns] == [False, True, True]


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_categories(form):
    dense = np.array([[0, -5.0, 1], [7, 0, 2], [0, -5, 3], [NAN, 0, 0]])
    X = sp.coo_array(dense).asformat(form)
    schema, matrix = learn_schema(X, categorical_features=[0, 1], ordinal_features=[2])
    assert kinds(schema) == [
        ("categorical", (0.0, 7.0)),
        ("categorical", (-5.0, 0.0)),
        ("ordinal", None),
    ]
    expected = [[0, 0, 1], [1, 1, 2], [0, 0, 3], [NAN, 1, 0]]
    np.testing.assert_array_equal(block(matrix), expected)
    np.testing.assert_array_equal(matrix.column(1), [0, 1, 0, 1])
    np.testing.assert_array_equal(block(encode(schema, X)), expected)
    np.testing.assert_array_equal(block(encode(schema, dense)), expected)
    with pytest.warns(UserWarning, match=r"'x1' holds categories unseen at fit: 4.0 \(row 0\)"):
        encode(schema, sp.csr_array([[0, 4.0, 1]]))


def test_sparse_where_zero_was_never_seen():
    schema, _ = learn_schema(sp.csr_array([[1.0], [2.0]]), categorical_features=[0])
    with pytest.warns(UserWarning, match="unseen at fit: 0.0"):
        encoded = encode(schema, sp.csr_array([[0.0], [2.0]]))
    np.testing.assert_array_equal(encoded.column(0), [NAN, 1])


def test_sparse_with_many_columns_is_never_dense():
    X = sp.coo_array(([1.0], ([999_999], [9_999])), shape=(1_000_000, 10_000))  # 80 GB if dense
    schema, matrix = learn_schema(X)
    assert matrix.column(9_999)[-1] == 1
    assert encode(schema, X).rows(999_999, 1_000_000)[0, -1] == 1


def test_more_than_2_to_the_31_elements():
    schema, matrix = learn_schema(np.broadcast_to(np.int8(1), (70_000, 40_000)))
    assert matrix.shape == (70_000, 40_000)
    assert schema.names[-1] == "x39999"


# --------------------------------------------------------------------------- state
def as_json(schema):
    return json.loads(json.dumps(schema.to_state()))


def test_state_goes_through_json():
    schema = Schema(
        (
            Column("größe", "numeric", None, True, "float32"),
            Column("s", "categorical", ("1", "", "ü\n"), False, "str"),
            Column("m", "categorical", (False, 2**70, 0.1, 3.0, "x"), True, "object"),
            Column("d", "categorical", (dt.datetime(2020, 1, 1, 0, 0, 0, 5),), True, "datetime"),
            Column("o", "ordinal", ("lo", "hi"), False, "category"),
            Column("e", "categorical", (), True, "str"),
        ),
        True,
    )
    again = Schema.from_state(as_json(schema))
    assert again == schema
    assert hash(again) == hash(schema)
    for old, new in zip(schema.columns, again.columns):
        assert [type(v) for v in old.categories or ()] == [type(v) for v in new.categories or ()]


values = (
    st.text() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)


@given(st.lists(st.lists(values | st.datetimes(), unique=True), min_size=1), st.booleans())
def test_any_schema_survives(categories, named):
    columns = (Column(f"c{i}", "categorical", tuple(c)) for i, c in enumerate(categories))
    schema = Schema(tuple(columns), named)
    assert Schema.from_state(as_json(schema)) == schema


def good_state():
    return Schema((Column("a", "categorical", ("x", "y")), Column("b", "numeric")), True).to_state()


def column_with(**changes):
    state = good_state()
    state["columns"][0].update(changes)
    return state


BAD_STATES = [
    None,
    [],
    {},
    {"named": True},
    good_state() | {"named": 1},
    good_state() | {"columns": []},
    good_state() | {"columns": {}},
    good_state() | {"columns": [1]},
    good_state() | {"columns": good_state()["columns"] * 2},
    good_state() | {"more": 1},
    column_with(more=1),
    column_with(name=1),
    column_with(name="b"),
    column_with(kind="continuous"),
    column_with(kind=["numeric"]),
    column_with(kind="numeric"),
    column_with(has_missing=0),
    column_with(dtype=""),
    column_with(dtype="x" * 1000),
    column_with(categories=None),
    column_with(categories="xy"),
    column_with(categories=["x"]),
    column_with(categories=[["s"]]),
    column_with(categories=[["s", 1]]),
    column_with(categories=[["i", True]]),
    column_with(categories=[["b", 1]]),
    column_with(categories=[["f", float("nan")]]),
    column_with(categories=[["f", float("inf")]]),
    column_with(categories=[["f", 10**400]]),
    column_with(categories=[["f", 1]]),
    column_with(categories=[["f", "1"]]),
    column_with(categories=[["d", "yesterday"]]),
    column_with(categories=[["d", "2020-01-01T00:00:00+01:00"]]),
    column_with(categories=[["q", "x"]]),
    column_with(categories=[[["s"], "x"]]),
    column_with(categories=[["s", "x"], ["s", "x"]]),
    column_with(categories=[["i", 1], ["f", 1.0]]),
]


@pytest.mark.parametrize("state", BAD_STATES)
def test_damaged_states_are_refused(state):
    Schema.from_state(good_state())
    with pytest.raises(ModelFileError, match="schema in this file is damaged"):
        Schema.from_state(state)


# --------------------------------------------------------------------------- manners
def test_the_input_is_not_changed():
    X = people()
    before = X.copy(deep=True)
    encode(learn_schema(X, ordinal_features=["city"])[0], X)
    pd.testing.assert_frame_equal(X, before)


def test_arrays_need_no_heavy_imports():
    code = (
        "import sys, numpy as np; from arboretum.data import learn_schema, encode_classes;"
        "learn_schema(np.ones((3, 2))); encode_classes(np.array([0, 1]));"
        "print([m for m in ('pandas', 'polars', 'pyarrow', 'narwhals', 'numba', 'scipy', 'sklearn')"
        " if m in sys.modules])"
    )
    assert check_output([sys.executable, "-c", code], text=True).strip() == "[]"


# ---------------------------------------------------------------------- files and dataframes made of them
DATES = (
    "day,moment,clock,n\n2024-01-05,2024-01-05 10:15:00,10:15,1\n"
    "2024-02-01,2024-02-03 11:00:00,11:30,2\n,,,3\n"
)


@pytest.mark.parametrize("fit_from", ["file", "frame"])
def test_dates_of_a_file_and_of_a_frame_made_of_it_are_the_same(tmp_path, fit_from):
    path = tmp_path / "dates.csv"
    path.write_text(DATES)
    forms = {"file": path, "frame": pd.read_csv(path)}
    schema, matrix = learn_schema(forms.pop(fit_from))
    ((other, X),) = forms.items()
    if other == "file":
        X = pd.read_csv(path, parse_dates=["day", "moment"])  # as dates, which were words at fit
    np.testing.assert_array_equal(encode(schema, X).rows(0, 3), matrix.rows(0, 3))


def test_texts_that_are_no_dates_are_named(tmp_path):
    schema, _ = learn_schema(pd.DataFrame({"day": pd.to_datetime(["2024-01-05", "2024-02-01"])}))
    with pytest.raises(
        DataError, match=r"strings now, e.g. 'soon' \(row 1, dtype .*pandas.to_datetime"
    ):
        encode(schema, pd.DataFrame({"day": ["2024-01-05", "soon"]}))


def test_the_cell_that_is_no_number_is_named():
    schema, _ = learn_schema(pd.DataFrame({"a": [1.5, 2.5]}))
    with pytest.raises(
        DataError, match=r"strings now, e.g. '\?' \(row 2, dtype .*pandas.to_numeric"
    ):
        encode(schema, pd.DataFrame({"a": ["1.5", "2.5", "?"]}))


def test_columns_of_a_file_that_were_not_there_are_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,target,b\n1,yes,2\n")
    schema, _ = learn_schema(pd.DataFrame({"a": [1.0], "b": [2.0]}))
    with pytest.warns(UserWarning, match="columns unseen at fit, which are ignored: 'target'"):
        matrix = encode(schema, str(path))
    assert matrix.rows(0, 1).tolist() == [[1.0, 2.0]]
    path.write_text("a,target\n1,yes\n")
    with pytest.raises(DataError, match="X lacks columns seen at fit: 'b'"):
        encode(schema, str(path))
