"""Columns of dataframes of any library, as raw columns.

A string is hashed once, in compiled code or in the dictionary encoding of its library;
where there are codes already, no string is read again. Plain numbers and
words of pandas are read directly from its arrays, those of Arrow from its columns. Everything else goes
through narwhals, which recognises dataframes and names their dtypes. Dataframes of libraries other than
pandas and polars are converted to Arrow.

Strings from Arrow are numbered where they lie in memory; dictionaries are taken as they are. pandas and
polars store strings in Arrow's format, so nearly all words of dataframes and files are read. A column in
one piece is numbered by a compiled loop over its bytes (engine/columns/string_codes.py); in a small table,
transferring Arrow's own encoding takes longer than making one. Columns in chunks and strings in other forms
use Arrow's dictionary encoding.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from arboretum.data.checks import DataTypeError, check_exact, list_names
from arboretum.data.values import (
    Raw,
    RawNumbers,
    Words,
    from_array,
    from_cells,
    from_objects,
    make_words,
    name_of,
)
from arboretum.errors import DataError

__all__ = [
    "arrow_words",
    "collected",
    "column_names",
    "frame_columns",
    "frame_numbers",
    "is_frame",
    "is_series",
    "series_column",
]


# ---------------------------------------------------------------------- strings from Arrow
_PLACES: dict[str, np.dtype] = {
    "LargeStringArray": np.dtype(np.int64),
    "StringArray": np.dtype(np.int32),
}
_LETTER = np.dtype(np.uint8)
_NOTHING = np.empty(0, np.uint8)
_NOTHING.flags.writeable = False
_FEW, _MORE = 32, 16  # distinct strings there is room for at first; factor of growth


def arrow_words(column: Any, label: str | None = None) -> Words:
    """Return the words of an Arrow array, in one piece or in chunks."""
    import pyarrow as pa

    if getattr(column, "num_chunks", 0) == 1:
        column = column.chunk(0)
    places = _PLACES.get(type(column).__name__)
    if places is not None and len(column):
        return Words(*_number(column, places), label or "str")
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
        label = label or "str"
    ranked = column.type.ordered
    if isinstance(column, pa.ChunkedArray):
        column = _one_piece(column)
    codes = column.indices
    if codes.null_count or pa.types.is_uint64(codes.type) or pa.types.is_uint32(codes.type):
        codes = codes.cast(pa.int64()).fill_null(-1)
    numbers, values = codes.to_numpy(zero_copy_only=False), column.dictionary.to_pylist()
    return make_words(numbers, values, label or "category", "ranked" if ranked else "none")


def _number(strings: Any, places: np.dtype) -> tuple[np.ndarray, list[str]]:
    """Return the code of every row and the distinct strings."""
    from arboretum.engine.columns.string_codes import number_strings

    rows, skipped = len(strings), strings.offset
    present, offsets, text = strings.buffers()
    starts = _view(offsets, places)[skipped : skipped + rows + 1]
    if starts.dtype != np.int64:
        starts = starts.astype(np.int64)
        # read-only is another type to Numba, and the kernel is compiled for one
        starts.flags.writeable = False
    letters = _view(text, _LETTER)
    if len(letters) < 9:  # a single word of eight bytes does not overlap: another type to Numba
        letters = np.frombuffer(letters.tobytes().ljust(9, b"\0"), _LETTER)
    eights = np.ndarray((len(letters) - 7,), np.uint64, letters, 0, (1,))  # they overlap
    bits = _view(present, _LETTER) if strings.null_count else _NOTHING
    codes, room, found = np.empty(rows, np.int32), _FEW, -1
    while found < 0:
        known = np.empty((3, room), np.uint64)
        slots = np.full(1 << (2 * room).bit_length(), -1, np.int32)
        found = number_strings(starts, letters, eights, bits, skipped, codes, known, slots)
        room *= _MORE
    begin, end, _ = known[:, :found].tolist()
    view = memoryview(text) if text is not None else b""
    return codes, [str(view[start:stop], "utf-8") for start, stop in zip(begin, end)]


def _view(buffer: Any, dtype: np.dtype) -> np.ndarray:
    """Return a buffer as a read-only array; Arrow may leave out a buffer without bytes."""
    if buffer is None or buffer.size == 0:
        return _NOTHING.view(dtype)
    array = np.frombuffer(buffer, dtype, buffer.size // dtype.itemsize)
    array.flags.writeable = False
    return array


def _one_piece(column: Any) -> Any:
    """Return the chunks as one dictionary array; their dictionaries may differ."""
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    if column.num_chunks == 0:
        return pa.array([], pa.string()).dictionary_encode()
    joined = column.unify_dictionaries().combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined


def is_frame(X: Any) -> bool:
    """Return True if X is a dataframe, eager or lazy, of a library that narwhals supports."""
    if _is_pandas(X, "DataFrame"):
        return True
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_into_dataframe(X) or _is_record_batch(X):
        return True
    return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame | nw.LazyFrame)


def collected(X: Any) -> Any:
    """Return a dataframe with its rows; a lazy one is read."""
    if _is_pandas(X, "DataFrame"):
        return X
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, pass_through=True)
    return frame.collect().to_native() if isinstance(frame, nw.LazyFrame) else X


def is_series(y: Any) -> bool:
    """Return True if y is one column of a dataframe library."""
    if _is_pandas(y, "Series"):
        return True
    import narwhals.stable.v2 as nw

    return _is_arrow_array(y) or nw.dependencies.is_into_series(y)


def _is_pandas(X: Any, what: str) -> bool:
    """Recognise pandas at once: calling narwhals takes longer than reading a small table."""
    return isinstance(X, getattr(sys.modules.get("pandas"), what, ()))


def frame_numbers(X: Any) -> tuple[tuple[str, ...] | None, np.ndarray] | None:
    """Return names and values of a pandas frame that keeps all its numbers in one array, else None."""
    known = _is_pandas(X, "DataFrame")
    blocks: Any = getattr(getattr(X, "_mgr", None), "blocks", ()) if known else ()
    if len(blocks) != 1 or getattr(blocks[0].dtype, "kind", "") not in "fiu":
        return None
    values = X.to_numpy()
    if not isinstance(blocks[0].dtype, np.dtype) or values.dtype != blocks[0].dtype:
        return None
    return column_names(np.asarray(X.columns, dtype=object).tolist()), values


def frame_columns(X: Any) -> tuple[tuple[str, ...] | None, list[Raw], int]:
    """Return names (None when they are not strings), raw columns and the number of rows."""
    if _is_pandas(X, "DataFrame"):
        return _pandas_columns(X)
    import narwhals.stable.v2 as nw

    if _is_record_batch(X):
        import pyarrow as pa

        X = pa.Table.from_batches([X])
    if nw.dependencies.is_pandas_dataframe(X):
        return _pandas_columns(X)
    if hasattr(X, "column_names"):  # Arrow: narwhals raises for a repeated name
        column_names(X.column_names)
    frame = nw.from_native(X)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not frame.implementation.is_polars():
        frame = nw.from_native(frame.to_arrow())
    names = column_names(frame.columns)
    columns = [_column(s, s.name) for s in frame.iter_columns()]
    return names, columns, frame.shape[0]


def _pandas_columns(X: Any) -> tuple[tuple[str, ...] | None, list[Raw], int]:
    """The same for pandas; columns of plain numbers and of words are taken as they are."""
    import narwhals.stable.v2 as nw

    names = column_names(np.asarray(X.columns, dtype=object).tolist())
    columns: list[Raw] = []
    for f, values in enumerate(_pandas_arrays(X)):
        shown = names[f] if names else f"x{f}"
        raw = _pandas_array(values, shown)
        if raw is None:
            raw = _column(nw.from_native(X.iloc[:, f], series_only=True), shown)
        columns.append(raw)
    return names, columns, X.shape[0]


def _pandas_arrays(X: Any) -> Iterable[Any]:
    """The array of every column, without making a Series, which takes longer than a small fit."""
    if hasattr(X, "_iter_column_arrays"):
        return X._iter_column_arrays()
    return (series.array for _, series in X.items())


def _pandas_array(values: Any, name: str) -> Raw | None:
    """Return numbers, booleans, words and objects of pandas; None for columns that need narwhals."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype):
        values = np.asarray(values)
        if dtype.kind in "fiu":
            return RawNumbers(values, name_of(dtype))
        if dtype.kind == "b":
            return Words(values.view(np.int8), [False, True], "bool")
        return from_objects(values, name) if dtype.kind == "O" else None
    if dtype.name == "category":
        order = "ranked" if values.ordered else "declared"
        categories = values.categories
        if isinstance(categories.dtype, np.dtype) and categories.dtype.kind != "O":
            listed = categories.tolist()
        else:
            listed = np.asarray(categories, dtype=object).tolist()
        return make_words(values.codes, listed, "category", order)
    if type(dtype).__name__ == "StringDtype":
        strings = getattr(values, "_pa_array", None)
        return _pandas_strings(values) if strings is None else arrow_words(strings)
    if type(dtype).__name__ == "PeriodDtype":  # a period counts as the time at which it begins
        return from_array(np.asarray(values.to_timestamp()), name)
    return None


def _pandas_strings(values: Any) -> Words:
    import pandas as pd

    codes, distinct = pd.factorize(values)
    return make_words(codes, distinct.tolist(), "str")


def series_column(y: Any, name: str) -> Raw:
    """Return one column of a dataframe library as a raw column."""
    import narwhals.stable.v2 as nw

    if _is_pandas(y, "Series"):
        plain = isinstance(y.dtype, np.dtype)
        raw = _pandas_array(y.to_numpy() if plain else y.array, name)
        if raw is not None:
            return raw
    if _is_arrow_array(y):
        import pyarrow as pa

        y = pa.chunked_array([y])
    series = nw.from_native(y, series_only=True)
    if not (series.implementation.is_pandas() or series.implementation.is_polars()):
        series = nw.from_native(series.to_frame().to_arrow()).get_column(series.name)
    return _column(series, name)


def column_names(labels: Sequence[Any]) -> tuple[str, ...] | None:
    """Return column labels as names, or None when none of them is a string.

    Raises
    ------
    DataError
        A label occurs twice, or only some labels are strings (also a TypeError).
    """
    if len(set(labels)) < len(labels):
        twice = [label for label, count in Counter(labels).items() if count > 1]
        raise DataError(f"column names must be unique, X holds more than once: {list_names(twice)}")
    strings = [isinstance(label, str) for label in labels]
    if not any(strings):
        return None
    if not all(strings):
        types = sorted({type(label).__name__ for label in labels})
        raise DataTypeError(
            "Feature names are only supported if all input features have string names, but X has "
            f"column names of types {types}: rename the columns, e.g. "
            "X.columns = X.columns.astype(str)"
        )
    return tuple(str(label) for label in labels)


def _is_record_batch(X: Any) -> bool:
    return type(X).__name__ == "RecordBatch" and type(X).__module__.startswith("pyarrow")


def _is_arrow_array(y: Any) -> bool:
    return hasattr(y, "dictionary_encode") and not hasattr(y, "chunks")


# --------------------------------------------------------------------------- one column
def _column(series: Any, name: str) -> Raw:
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype.is_numeric():
        return _number_column(series, name)
    if dtype == nw.Boolean:
        codes = np.nan_to_num(series.cast(nw.Float64).to_numpy(), nan=-1.0).astype(np.int64)
        return Words(codes, [False, True], "bool")
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        if series.implementation.is_pandas():
            return _pandas_words(series.to_native())
        if series.implementation.is_polars():
            return _polars_words(series.to_native())
        return arrow_words(series.to_native())
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if dtype == nw.Unknown and _is_pandas_sparse(series.to_native()):
        dense = series.to_native().sparse.to_dense()
        return _column(nw.from_native(dense, series_only=True), name)
    if dtype.is_nested():
        return from_cells(series.to_list(), name)
    values = series.to_numpy()
    if values.dtype.kind not in "mM" and series.null_count() == len(series):
        return RawNumbers(np.full(len(series), np.nan), "null")
    return from_array(values, name)


def _number_column(series: Any, name: str) -> RawNumbers:
    """Integers stay integers while none is missing; otherwise they must fit float64 exactly."""
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    label = "decimal" if dtype == nw.Decimal else str(dtype).lower()
    if dtype.is_float():
        return RawNumbers(series.to_numpy(), label)
    if label not in _NUMPY_INTEGERS:  # decimals and 128-bit integers
        values = series.cast(nw.Float64).to_numpy()
        check_exact(values, series.to_list, name)
        return RawNumbers(values, label)
    if series.null_count() == 0:
        return RawNumbers(series.to_numpy(), label)
    whole = series.fill_null(0).to_numpy()
    values = whole.astype(np.float64)
    check_exact(values, whole.tolist, name)
    values[series.is_null().to_numpy()] = np.nan
    return RawNumbers(values, label)


_NUMPY_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def _is_pandas_sparse(native: Any) -> bool:
    return hasattr(getattr(native, "dtype", None), "fill_value") and hasattr(native, "sparse")


def _pandas_words(series: Any) -> Words:
    import pandas as pd

    found = _pandas_array(series.array, "")
    if isinstance(found, Words):
        return found
    codes, values = pd.factorize(series)  # Arrow's own string dtypes
    return make_words(codes, values.tolist(), _label(series.dtype))


def _label(dtype: Any) -> str:
    return "category" if "dictionary" in str(dtype) else "str"


def _polars_words(series: Any) -> Words:
    import polars as pl

    if series.dtype == pl.Enum:
        codes = series.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return make_words(codes, series.dtype.categories.to_list(), "enum", "declared")
    label = "category" if series.dtype == pl.Categorical else "str"
    if find_spec("pyarrow") is not None:
        return arrow_words(series.to_arrow(), label)
    series = series.cast(pl.String)
    distinct = series.drop_nulls().unique()
    position = pl.Series(range(len(distinct)), dtype=pl.Int64)
    codes = series.replace_strict(distinct, position, default=-1, return_dtype=pl.Int64)
    return make_words(codes.to_numpy(), distinct.to_list(), label)
