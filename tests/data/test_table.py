"""Reading tables: what comes in, what each column is taken for, what is refused."""

import datetime as dt
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from arboretum.data.slices import as_view
from arboretum.data.table import read_table
from arboretum.data.values import RawNumbers, Words
from arboretum.errors import ArboretumError, DataError, SuspiciousColumnWarning

UTC_2020 = 1577836800.0  # 2020-01-01 00:00 UTC
MISSING = float("nan")


def the_column(X):
    (column,) = read_table(X).columns
    return column


def as_list(column):
    """A raw column as plain values, None for missing."""
    if isinstance(column, Words):
        return [None if c < 0 else column.values[c] for c in column.codes]
    return [None if v != v else v for v in column.values.tolist()]


# --------------------------------------------------------------------------- arrays
@pytest.mark.parametrize(
    "array",
    [
        np.ones((3, 2)),
        np.ones((3, 2), dtype=np.float16),
        np.ones((3, 2), dtype=np.float32, order="F"),
        np.ones((3, 2), dtype=np.longdouble),
        np.ones((6, 4))[::2, ::2],
        np.ones((3, 2), dtype=bool),
        np.ones((3, 2), dtype=np.uint64),
        np.ones((3, 2), dtype=">i4"),
    ],
)
def test_arrays_of_numbers_are_kept_as_they_are(array):
    array.flags.writeable = False
    table = read_table(array)
    assert table.body is array
    assert (table.names, table.named, table.n_rows) == (("x0", "x1"), False, 3)


def test_subclasses_and_array_likes(tmp_path):
    memmap = np.memmap(tmp_path / "x.bin", dtype=np.float64, shape=(3, 2), mode="w+")
    assert read_table(memmap).body.shape == (3, 2)

    class ArrayLike:
        def __array__(self, dtype=None, copy=None):
            return np.ones((3, 2))

    assert read_table(ArrayLike()).body.sum() == 6


def test_a_memmap_in_row_order_is_not_copied(tmp_path):
    import tracemalloc

    from arboretum import CARTClassifier

    peaks = {}
    for order in ("C", "F"):
        X = np.memmap(
            tmp_path / order, dtype=np.float64, shape=(20_000, 40), mode="w+", order=order
        )
        X[:] = np.random.default_rng(0).normal(size=X.shape)
        assert np.shares_memory(read_table(X).body, X)
        model, y = CARTClassifier(max_depth=1, n_jobs=1), np.arange(len(X)) % 2
        model.fit(X[:100], y[:100])  # compiles
        tracemalloc.start()
        model.fit(X, y)
        peaks[order] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks["C"] < 0.8 * X.nbytes  # codes, not the table
    assert peaks["F"] > X.nbytes  # column order: docs/data.md says that it is copied


def test_masked_cells_are_missing():
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert [as_list(c) for c in read_table(masked).columns] == [[1, 3], [None, 4]]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[1, 2.5], [3, 4]], [[1, 3], [2.5, 4]]),
        ([(1, "a"), (2, None)], [[1, 2], ["a", None]]),
        ([[None, True], [2, False]], [[None, 2], [True, False]]),
        ([[2**60, 0.5], [1, 2]], [[2**60, 1], [0.5, 2]]),
        ([["1"], ["2"]], [["1", "2"]]),
    ],
)
def test_lists_keep_every_cell(rows, expected):
    assert [as_list(c) for c in read_table(rows).columns] == expected


# --------------------------------------------------------------------------- one column of objects
DAY = dt.date(2020, 1, 1)
NOON = dt.datetime(2020, 1, 1, 12)
TZ_NOON = NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))

OBJECTS = [
    ([1, 2.5, None], "float64", [1, 2.5, None]),
    ([1, np.int8(2), 3], "int64", [1, 2, 3]),
    ([1, True, pd.NA], "int64", [1, 1, None]),
    ([Decimal("1.5"), None, Decimal("sNaN")], "decimal", [1.5, None, None]),
    ([Fraction(1, 4), np.float32(0.5)], "float64", [0.25, 0.5]),
    ([None, MISSING, pd.NaT, pd.NA], "null", [None] * 4),
    (["b", "a", None, MISSING, np.float64("nan"), pd.NA], "str", ["b", "a"] + [None] * 4),
    (["", "ü", np.str_("a")], "str", ["", "ü", "a"]),
    ([True, None, np.False_, MISSING], "bool", [True, None, False, None]),
    ([DAY, None, NOON, pd.NaT], "datetime", [UTC_2020, None, UTC_2020 + 43200, None]),
    ([pd.Timestamp(NOON), TZ_NOON], "datetime", [UTC_2020 + 43200, UTC_2020 + 36000]),
    ([np.datetime64("2020-01-01"), np.datetime64("NaT")], "datetime", [UTC_2020, None]),
    ([dt.timedelta(minutes=1), np.timedelta64(5, "s"), None], "duration", [60, 5, None]),
    ([dt.time(1, 0, 0, 500000), None], "time", [3600.5, None]),
    ([1, "a", None], "object", [1, "a", None]),
    ([DAY, "a"], "object", [dt.datetime(2020, 1, 1), "a"]),
]


@pytest.mark.parametrize(("cells", "dtype", "expected"), OBJECTS)
def test_objects(cells, dtype, expected):
    array = np.empty((len(cells), 1), dtype=object)
    array[:, 0] = cells
    column = the_column(array)
    assert (column.dtype, as_list(column)) == (dtype, expected)


def test_strings_and_dates_of_numpy():
    assert as_list(the_column(np.array([["b"], ["a"], ["b"]]))) == ["b", "a", "b"]
    strings = np.array([["b"], ["a"]], dtype=np.dtypes.StringDType())
    assert as_list(the_column(strings)) == ["b", "a"]
    days = np.array([["1970-01-02"], ["NaT"], ["1969-12-31"]], dtype="datetime64[D]")
    assert as_list(the_column(days)) == [86400, None, -86400]
    assert as_list(the_column(np.array([[1500], [-500]], dtype="timedelta64[ms]"))) == [1.5, -0.5]
    months = np.array([["1970-02"]], dtype="datetime64[M]")
    assert as_list(the_column(months)) == [31 * 86400]


NANOSECONDS = np.arange(50).astype("timedelta64[ns]")
CLOSE = np.datetime64("2024-01-01", "ns") + NANOSECONDS


@pytest.mark.parametrize(
    "X",
    [
        CLOSE[:, None],
        pd.DataFrame({"x0": np.append(CLOSE, np.datetime64("NaT"))}),
        pl.DataFrame({"x0": CLOSE}),
        np.array([["9990-01-01T00:00:00.000001"], ["9990-01-01"]], dtype="datetime64[us]"),
        (np.datetime64("2260-01-01", "ns") + 1000 * NANOSECONDS)[:, None],
    ],
)
def test_times_that_become_one_number_are_warned_of(X):
    with pytest.warns(SuspiciousColumnWarning, match=r"'x0' holds different times.*start date"):
        read_table(X)


@pytest.mark.parametrize(
    "X",
    [
        (CLOSE - CLOSE[0])[:, None],  # the remedy
        np.repeat(CLOSE[7:8], 3)[:, None],
        (CLOSE[0] + 1000 * NANOSECONDS)[:, None],
        np.array([["NaT"]], dtype="datetime64[ns]"),
        CLOSE[:1, None].astype("datetime64[D]"),
    ],
)
def test_times_that_stay_apart_are_not(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(X)


# --------------------------------------------------------------------------- dataframes
ENUM = pl.Enum(["low", "high"])
FRAME_COLUMNS = [
    # pandas: NumPy, nullable and Arrow dtypes
    (pd.Series([1.5, None]), "float64", [1.5, None]),
    (pd.Series([1, 2], dtype="int16"), "int16", [1, 2]),
    (pd.Series([1, None], dtype="Int64"), "int64", [1, None]),
    (pd.Series([1, 2], dtype="UInt8"), "uint8", [1, 2]),
    (pd.Series([1.5, None], dtype="Float64"), "float64", [1.5, None]),
    (pd.Series([1, None], dtype="int64[pyarrow]"), "int64", [1, None]),
    (pd.Series([0.0, 1.0], dtype="Sparse[float64]"), "float64", [0, 1]),
    (pd.Series([True, False], dtype="Sparse[bool]"), "bool", [True, False]),
    (pd.Series([True, False]), "bool", [True, False]),
    (pd.Series([True, None], dtype="boolean"), "bool", [True, None]),
    (pd.Series(["a", None]), "str", ["a", None]),
    (pd.Series(["a", None], dtype="string"), "str", ["a", None]),
    (pd.Series(["a", None], dtype="string[pyarrow]"), "str", ["a", None]),
    (pd.Series(["a", None], dtype=object), "str", ["a", None]),
    (pd.Series(["a", None], dtype="category"), "category", ["a", None]),
    (pd.Series([3, 1], dtype="category"), "category", [3, 1]),
    (pd.cut(pd.Series([1, 5]), [0, 2, 6]), "category", ["(0, 2]", "(2, 6]"]),
    (pd.Series(pd.to_datetime(["2020-01-01", None])), "datetime", [UTC_2020, None]),
    (
        pd.Series(pd.to_datetime(["2020-01-01"]).tz_localize("Europe/Paris")),
        "datetime",
        [UTC_2020 - 3600],
    ),
    (pd.Series([DAY], dtype=pd.ArrowDtype(pa.date32())), "datetime", [UTC_2020]),
    (pd.Series(pd.PeriodIndex(["2020-01", None], freq="M")), "datetime", [UTC_2020, None]),
    (pd.Series(pd.to_timedelta(["90s", None])), "duration", [90, None]),
    (pd.Series([Decimal("1.5"), None]), "decimal", [1.5, None]),
    (pd.Series([DAY, None], dtype=object), "datetime", [UTC_2020, None]),
    # polars
    (pl.Series([1, None]), "int64", [1, None]),
    (pl.Series([1, 2], dtype=pl.Int128), "int128", [1, 2]),
    (pl.Series([1.5, None], dtype=pl.Float32), "float32", [1.5, None]),
    (pl.Series([True, None]), "bool", [True, None]),
    (pl.Series(["b", None, "a"]), "str", ["b", None, "a"]),
    (pl.Series(["b", None], dtype=pl.Categorical), "category", ["b", None]),
    (pl.Series(["high", None, "low"], dtype=ENUM), "enum", ["high", None, "low"]),
    (pl.Series([DAY, None]), "datetime", [UTC_2020, None]),
    (pl.Series([TZ_NOON.astimezone(dt.UTC)]), "datetime", [UTC_2020 + 36000]),
    (pl.Series([dt.timedelta(seconds=2), None]), "duration", [2, None]),
    (pl.Series([dt.time(1), None]), "time", [3600, None]),
    (pl.Series([Decimal("1.5"), None]), "decimal", [1.5, None]),
    (pl.Series([None, None]), "null", [None, None]),
    # Arrow
    (pa.chunked_array([[1], [None]]), "int64", [1, None]),
    (pa.chunked_array([["b"], ["a", None]]), "str", ["b", "a", None]),
    (pa.chunked_array([pa.array(["a", None]).dictionary_encode()]), "category", ["a", None]),
    (pa.chunked_array([[True, None]]), "bool", [True, None]),
    (pa.chunked_array([[NOON, None]]), "datetime", [UTC_2020 + 43200, None]),
    (pa.chunked_array([[None, None]], type=pa.null()), "null", [None, None]),
]


@pytest.mark.parametrize(
    ("series", "dtype", "expected"),
    FRAME_COLUMNS,
    ids=lambda v: f"{type(v).__module__.split('.')[0]}" if hasattr(v, "to_numpy") else None,
)
def test_dataframe_columns(series, dtype, expected):
    if isinstance(series, pd.Series):
        frame = series.to_frame("größe")
    elif isinstance(series, pl.Series):
        frame = series.alias("größe").to_frame()
    else:
        frame = pa.table({"größe": series})
    table = read_table(frame)
    column = table.columns[0]
    assert (table.names, table.named, table.n_rows) == (("größe",), True, len(expected))
    assert (column.dtype, as_list(column)) == (dtype, expected)


def test_lazy_frames_and_record_batches():
    assert read_table(pl.LazyFrame({"a": [1, 2]})).names == ("a",)
    batch = pa.record_batch({"a": [1, 2], "b": ["x", "y"]})
    assert read_table(batch).names == ("a", "b")


def test_declared_order_is_known():
    ranked = pd.Series(["a", "b"], dtype=pd.CategoricalDtype(["b", "a"], ordered=True))
    assert (the_column(ranked.to_frame()).order, the_column(ranked.to_frame()).values) == (
        "ranked",
        ["b", "a"],
    )
    assert the_column(pl.Series(["high"], dtype=ENUM).to_frame()).order == "declared"


def test_names_that_are_not_strings_do_not_count():
    table = read_table(pd.DataFrame({0: [1, 2], 1: ["a", "b"]}))
    assert (table.names, table.named) == (("x0", "x1"), False)
    with pytest.raises(TypeError, match="only supported if all input features have string names"):
        read_table(pd.DataFrame({0: [1, 2], "b": [1, 2]}))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ],
)
def test_duplicate_names(frame):
    with pytest.raises(DataError, match=r"unique.*'a'"):
        read_table(frame)


# --------------------------------------------------------------------------- sparse
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_formats(form):
    dense = np.array([[0.0, 2.0], [3.0, 0.0]])
    body = read_table(sp.csr_array(dense).asformat(form)).body
    np.testing.assert_array_equal(body.toarray(), dense)


def test_sparse_duplicates_are_summed_in_a_copy():
    matrix = sp.csr_matrix((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    assert read_table(matrix).body.toarray().tolist() == [[3, 0]]
    assert matrix.nnz == 2


def _damaged(form, part, place, value):
    matrix = sp.csr_matrix(np.arange(12.0).reshape(4, 3)).asformat(form)
    getattr(matrix, part)[place] = value
    return matrix


DAMAGED = {
    "a column that does not exist": _damaged("csr", "indices", 5, 1000),
    "a negative column": _damaged("csr", "indices", 5, -7),
    "a row that does not exist": _damaged("csc", "indices", 5, 4),
    "rows that end behind the entries": _damaged("csr", "indptr", -1, 10**6),
    "a row that ends before it begins": _damaged("csr", "indptr", 2, 0),
    "rows that begin somewhere": _damaged("csr", "indptr", 0, 1),
    "a block that does not exist": _damaged("bsr", "indices", 0, 9),
    "an entry in no column": _damaged("coo", "col", 0, 3),
    "an entry in no row": _damaged("coo", "row", 0, -1),
}


@pytest.mark.parametrize("damaged", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_sparse_matrix_is_refused_before_anything_reads_it(damaged):
    for read in (read_table, as_view):
        if read is read_table or damaged.format in ("bsr", "coo"):
            with pytest.raises(DataError, match=r"sparse matrix X is damaged.*Build it anew"):
                read(damaged)


def test_surplus_entries_of_a_sparse_matrix_do_no_harm():
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indices = np.append(matrix.indices, 99).astype(np.int32)
    matrix.data = np.append(matrix.data, 7.0)
    assert read_table(matrix).body.toarray().tolist() == np.eye(3).tolist()


# --------------------------------------------------------------------------- refusals
def cells(*values):
    array = np.empty((len(values), 1), dtype=object)
    for i, value in enumerate(values):
        array[i, 0] = value
    return array


REFUSED = {
    "1-D": (np.ones(3), "Reshape your data"),
    "list 1-D": ([1, 2, 3], "Reshape your data"),
    "series": (pd.Series([1, 2]), "Reshape your data"),
    "scalar": (np.float64(3), "Reshape your data"),
    "3-D": (np.ones((2, 2, 2)), r"dim 3 \(shape=\(2, 2, 2\)\)"),
    "no rows": (np.ones((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is req"),
    "no columns": (np.ones((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is"),
    "no rows, pandas": (pd.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
    "no columns, pandas": (pd.DataFrame(index=[0, 1]), r"0 feature\(s\) \(shape=\(2, 0\)\)"),
    "no rows, sparse": (sp.csr_array((0, 2)), r"0 sample\(s\)"),
    "complex": (np.ones((2, 1)) * 1j, "Complex data not supported"),
    "complex cell": (cells(1, 2j), r"Complex data not supported.*'x0'.*row 1"),
    "complex sparse": (sp.csr_array(np.ones((2, 1)) * 1j), "Complex data not supported"),
    "complex pandas": (pd.DataFrame({"a": [1j]}), "Complex data not supported"),
    "ragged": ([[1, 2], [3]], "row 0 has 2 values, row 1 has 1"),
    "bytes": (np.array([[b"a"]]), "turn bytes into strings"),
    "structured": (np.zeros((2, 1), dtype=[("a", int)]), "dtype"),
    "huge": (cells(10**400), "too large for float64 in row 0"),
    "inexact": (cells(1, 2**60 + 1), r"'x0'.*2\*\*53.*row 1"),
    "inexact list": ([[2**60 + 1, 0.5]], r"'x0'.*2\*\*53.*row 0"),
    "inexact decimal": (cells(Decimal(2**60 + 1)), r"2\*\*53"),
    "inexact Int64": (pd.DataFrame({"a": pd.array([2**60 + 1, None], "Int64")}), r"'a'.*2\*\*53"),
    "inexact Arrow": (pa.table({"a": [2**60 + 1, None]}), r"'a'.*2\*\*53"),
    "None": (None, "got NoneType"),
    "dict": ({"a": [1, 2]}, "got dict"),
    "dicts": ([{"a": 1}, {"a": 2}], r"a list of dicts: pandas.DataFrame\(X\)"),
    "number": (3, "must be an array, a dataframe"),
}


@pytest.mark.parametrize(("X", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(X, message):
    with pytest.raises(DataError, match=message):
        read_table(X)


@pytest.mark.parametrize(
    ("X", "where"),
    [
        (cells(1.0, {"foo": "bar"}), "'x0' has a cell of type dict in row 1"),
        (cells("a", [1]), "'x0' has a cell of type list in row 1"),
        (cells(b"a"), "'x0' has a cell of type bytes in row 0"),
        (pl.DataFrame({"a": [[1], [2]]}), "'a' has a cell of type list in row 0"),
        (pl.DataFrame({"a": [{"b": 1}]}), "'a' has a cell of type dict in row 0"),
    ],
)
def test_cells_no_table_holds(X, where):
    with pytest.raises(TypeError, match=r"argument must be .* string.* number") as error:
        read_table(X)
    assert where in str(error.value)
    assert isinstance(error.value, ArboretumError)


def test_large_exact_numbers_are_fine():
    assert as_list(the_column(cells(2**60, None))) == [2**60, None]
    assert isinstance(the_column(pl.DataFrame({"a": [2**60, None]})), RawNumbers)


# ---------------------------------------------------------------------- frames of one dtype
def test_a_frame_of_one_dtype_is_taken_without_a_copy():
    frame = pd.DataFrame(np.arange(6.0).reshape(3, 2), columns=["a", "b"])
    table = read_table(frame)
    assert isinstance(table.body, np.ndarray)
    assert np.shares_memory(table.body, frame.to_numpy())
    assert (table.names, table.named, table.n_rows) == (("a", "b"), True, 3)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}),
        pd.DataFrame({"a": [True, False]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2020-01-02"])}),
    ],
)
def test_other_frames_are_read_by_column(frame):
    assert isinstance(read_table(frame).body, list)


def test_columns_named_like_a_sparse_matrix_are_columns():
    assert read_table(pd.DataFrame({"tocsr": [1.0], "nnz": [2.0]})).names == ("tocsr", "nnz")
