"""Targets and weights: what they become, and what is refused with which words."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from arboretum.data.target import encode_classes, numbers, weights
from arboretum.errors import DataError

# --------------------------------------------------------------------------- classes
LABELS = [
    ([2, 0, 2], [0, 2], "int64"),
    (np.array([2, 0, 2], dtype=np.uint8), [0, 2], "uint8"),
    (np.array([10**12, -300, 10**12]), [-300, 10**12], "int64"),
    (np.array([1.0, -1.0, 1.0], dtype=np.float32), [-1.0, 1.0], "float32"),
    (np.array([1, 0, 1], dtype=object), [0, 1], "int64"),
    ([True, False, True], [False, True], "bool"),
    (np.array([True, False, True], dtype=object), [False, True], "bool"),
    (["b", "a", "b"], ["a", "b"], "<U1"),
    (np.array(["b", "aa", "b"]), ["aa", "b"], "<U2"),
    (np.array(["b", "a", "b"], dtype=object), ["a", "b"], "object"),
    (pd.Series(["b", "a", "b"], index=[5, 6, 7]), ["a", "b"], "object"),
    (pd.Series([2, 0, 2], dtype="Int64"), [0, 2], "int64"),
    (pd.Series([True, False, True], dtype="boolean"), [False, True], "bool"),
    (pd.Series(pd.Categorical(["b", "a", "b"], ["b", "a", "zz"])), ["a", "b"], "object"),
    (pd.Series(pd.Categorical([3, 1, 3])), [1, 3], "int64"),
    (pl.Series(["b", "a", "b"]), ["a", "b"], "object"),
    (pl.Series([2, 0, 2]), [0, 2], "int64"),
    (pa.array(["b", "a", "b"]), ["a", "b"], "object"),
    (pa.chunked_array([[2], [0, 2]]), [0, 2], "int64"),
]


@pytest.mark.parametrize(("y", "expected", "dtype"), LABELS)
def test_classes(y, expected, dtype):
    classes, codes, is_1d = encode_classes(y)
    assert is_1d
    assert [c.tolist() for c in classes] == [expected]
    assert classes[0].dtype == np.dtype(dtype)
    assert (codes.dtype, codes.shape) == (np.int32, (3, 1))
    assert codes[:, 0].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "y",
    [
        np.array([[0, 5], [1, 3], [0, 3]]),
        [[0, 5], [1, 3], [0, 3]],
        pd.DataFrame({"p": [0, 1, 0], "q": [5, 3, 3]}),
        pl.DataFrame({"p": [0, 1, 0], "q": [5, 3, 3]}),
    ],
)
def test_several_outputs(y):
    classes, codes, is_1d = encode_classes(y, n_rows=3)
    assert not is_1d
    assert [c.tolist() for c in classes] == [[0, 1], [3, 5]]
    assert codes.tolist() == [[0, 1], [1, 0], [0, 0]]
    values, is_1d = numbers(y)
    assert not is_1d
    assert values.tolist() == [[0, 5], [1, 3], [0, 3]]


def test_outputs_of_different_types():
    classes, codes, _ = encode_classes(pd.DataFrame({"p": ["b", "a"], "q": [True, True]}))
    assert [c.tolist() for c in classes] == [["a", "b"], [True]]
    assert codes.tolist() == [[1, 0], [0, 0]]


def test_one_class_is_enough():
    assert encode_classes([7, 7])[0][0].tolist() == [7]


@pytest.mark.parametrize("read", [encode_classes, numbers])
@pytest.mark.parametrize("wrap", [np.array, pd.DataFrame, list])
def test_a_column_vector_is_one_target_with_a_warning(read, wrap):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array"):
        *_, values, is_1d = read(wrap([[1], [0]]))
    assert is_1d
    assert values.tolist() == [[1], [0]]


def test_large_ranges_agree_with_numpy():
    y = np.random.default_rng(0).integers(-(2**62), 2**62, 500)
    for labels in (y, y % 97 - 40, y.astype(np.int16), np.array([0, 2**64 - 1], dtype=np.uint64)):
        classes, codes, _ = encode_classes(labels)
        expected, inverse = np.unique(labels, return_inverse=True)
        np.testing.assert_array_equal(classes[0], expected)
        np.testing.assert_array_equal(codes[:, 0], inverse)


# --------------------------------------------------------------------------- numbers
@pytest.mark.parametrize(
    "y",
    [
        [1, 2.5],
        np.array([1, 2.5], dtype=np.float16),
        np.array([1, 2.5], dtype=object),
        np.array([1.0, 9, 2.5])[::2],
        pd.Series([1, 2.5], dtype="Float64"),
        pl.Series([1.0, 2.5]),
        pa.array([1, 2.5]),
    ],
)
def test_numbers(y):
    values, is_1d = numbers(y, n_rows=2)
    assert is_1d
    assert (values.dtype, values.flags.c_contiguous) == (np.float64, True)
    assert values.tolist() == [[1], [2.5]]


def test_booleans_are_numbers():
    assert numbers(pd.Series([True, False]))[0].tolist() == [[1], [0]]
    assert numbers([True, False])[0].tolist() == [[1], [0]]


# --------------------------------------------------------------------------- refusals
BOTH = {
    "None": (None, "requires y to be passed, but the target y is None"),
    "NaN": ([0.0, np.nan, 1.0, np.nan], r"Input y contains NaN \(rows 1, 3\)"),
    "None in y": (["a", None], r"Input y contains NaN \(row 1\)"),
    "NA": (pd.Series([1, pd.NA], dtype="Int64"), r"Input y contains NaN \(row 1\)"),
    "null": (pl.Series(["a", None]), r"Input y contains NaN \(row 1\)"),
    "masked": (np.ma.array([1, 2], mask=[0, 1]), r"Input y contains NaN \(row 1\)"),
    "second output": ([[1.0, 2.0], [1.0, np.nan]], r"Input y \(output 1\) contains NaN \(row 1\)"),
    "infinite": (np.array([0, np.inf]), r"Input y contains infinity \(row 1\)"),
    "empty": ([], r"0 sample\(s\)"),
    "length": ([0, 1], r"inconsistent numbers of samples: \[3, 2\]"),
    "3-D": (np.ones((3, 2, 2)), "y should be a 1d array"),
    "scalar": (np.float64(1), "y should be a 1d array"),
    "string": ("target", "y should be a 1d array or a table of targets, got str"),
    "sparse": (sp.csr_array(np.ones((3, 1))), "toarray"),
    "complex": (np.array([1j, 2, 3]), "Complex data not supported"),
    "dates": ([dt.date(2020, 1, 1)] * 3, "not dates or times"),
    "mixed": (np.array(["a", 1, "b"], dtype=object), "strings"),
    "ragged": ([[1, 2], [1]], "row 1 has 1"),
    "cell": (np.array([{}, 1, 2], dtype=object), "type dict in row 0"),
}


@pytest.mark.parametrize("read", [encode_classes, numbers])
@pytest.mark.parametrize(("y", "message"), BOTH.values(), ids=BOTH)
def test_refused_targets(read, y, message):
    n_rows = 3 if "inconsistent" in message else None
    with pytest.raises(DataError, match=message):
        read(y, n_rows=n_rows, estimator_name="CART")


@pytest.mark.parametrize(
    "y", [[0.5, 1.0], np.array([0.5, 1], dtype=object), pd.Series(pd.Categorical([0.5, 1.0]))]
)
def test_a_continuous_target_is_not_a_class(y):
    with pytest.raises(DataError, match=r"Unknown label type: continuous.*row 0, e.g. 0.5.*regres"):
        encode_classes(y)


@pytest.mark.parametrize("y", [["1", "2"], pd.Series(["1", "2"]), np.array(["1", "2"])])
def test_strings_are_no_numbers(y):
    with pytest.raises(DataError, match=r"y holds strings \(row 0: '1'\), a regressor needs"):
        numbers(y)


def test_numbers_must_fit_float64():
    with pytest.raises(DataError, match=r"'y'.*2\*\*53.*row 1"):
        numbers(np.array([1, 2**53 + 1]))
    assert encode_classes(np.array([1, 2**53 + 1]))[0][0].tolist() == [1, 2**53 + 1]


# --------------------------------------------------------------------------- weights
@pytest.mark.parametrize(
    "given",
    [
        [1, 0, 2],
        np.array([1, 0, 2], dtype=np.int8),
        np.array([1, 9, 0, 9, 2.0])[::2],
        np.array([1, 0, 2], dtype=object),
        pd.Series([1, 0, 2], index=[9, 8, 7]),
        pl.Series([1, 0, 2]),
        pa.array([1, 0, 2]),
    ],
)
def test_weights(given):
    result = weights(given, 3)
    assert (result.dtype, result.flags.c_contiguous) == (np.float64, True)
    assert result.tolist() == [1, 0, 2]


def test_no_weights_and_one_weight():
    assert weights(None, 3) is None
    assert weights(2, 3).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], "2 entries, X has 3 rows"),
        ([[1, 2, 3]], r"1-D, got an array of shape \(1, 3\)"),
        ([1, np.nan, np.nan], r"NaN \(rows 1, 2\)"),
        ([1, None, 1], r"NaN \(row 1\)"),
        ([np.inf, 1, 1], r"infinite values \(row 0\)"),
        ([1, -1, 1], r"Negative values .*\(row 1\)"),
        ([0, 0, 0], "weight.*zero"),
        (0, "weight.*zero"),
        ([1.7e308] * 3, "too large"),
        (["a", "b", "c"], "must hold numbers"),
        (np.array(["a", 1, 1], dtype=object), "must hold numbers"),
        ([1j, 1, 1], "Complex"),
    ],
)
def test_refused_weights(given, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match=message):
            weights(given, 3)


def test_what_is_read_only_is_copied():
    """To Numba a read-only array is another type, for which all kernels would be compiled again."""
    given = np.arange(3.0)
    given.flags.writeable = False
    assert weights(given, 3).flags.writeable
    assert numbers(given)[0].flags.writeable
    mine = np.arange(3.0)
    assert np.shares_memory(weights(mine, 3), mine)


def test_lists_of_words_and_whole_numbers_are_words_as_numpy_makes_them():
    classes, codes, _ = encode_classes(["none", 1, 2, "none"])
    assert classes[0].tolist() == ["1", "2", "none"]
    assert codes[:, 0].tolist() == [2, 0, 1, 2]
    for y in (["a", 1.5], ["a", None], np.array(["a", 1], dtype=object)):
        with pytest.raises(DataError):
            encode_classes(y)


def test_a_weight_is_a_number_or_one_for_each_row():
    assert weights(2, 3).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(TypeError, match="Input should have at least 1 dimension"):
        weights(np.array(2), 3)
    with pytest.raises(DataError, match=r"sample_weight.shape == \(2,\), expected \(3,\)"):
        weights([1, 2], 3)
