"""Filled tables in the form of the input: only missing cells change, columns are in the order of the fit.

    ndarray, list        an array; floats keep their dtype, anything but numbers becomes objects
    pandas, polars, …    a dataframe of the same library, columns of the same types; whole numbers
                         become floats if a filled value is not whole
    path, `Table`        a `Table`, which every estimator takes

`encoded_table` does the reverse: it turns encoded numbers into a table with the original kinds of columns.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np

from arboretum.data.schema import Column, Schema
from arboretum.data.table import Table, array_of_lists, unmask
from arboretum.data.values import Raw, RawNumbers, Words, as_words

__all__ = ["encoded_table", "missing_cells", "put_back", "readable"]

_EPOCH = datetime(1970, 1, 1)


def missing_cells(table: Table) -> np.ndarray:
    """Return which cells have no value, (rows, columns) booleans."""
    if isinstance(table.body, np.ndarray):
        body = table.body
        return np.isnan(body) if body.dtype.kind == "f" else np.zeros(body.shape, bool)
    gaps = np.zeros((table.n_rows, len(table.names)), bool)
    for f, raw in enumerate(table.columns):
        if isinstance(raw, Words):
            gaps[:, f] = np.asarray(raw.codes) < 0
        elif raw.values.dtype.kind == "f":
            gaps[:, f] = np.isnan(raw.values)
    return gaps


def encoded_table(schema: Schema, rows: np.ndarray) -> Table:
    """Return encoded rows without missing values as a table of columns of the same kinds."""
    body: list[Raw] = []
    for column, x in zip(schema.columns, rows.T):
        if column.categories is None:
            body.append(RawNumbers(np.array(x), column.dtype))
        else:
            order = "ranked" if column.kind == "ordinal" else "declared"
            body.append(Words(x.astype(np.int64), list(column.categories), "category", order))
    return Table(schema.names, schema.named, len(rows), body)


def readable(column: Column, value: float) -> Any:
    """Return an encoded value as a user would write it.

    >>> readable(Column("city", "categorical", ("Bern", "Oslo")), 1.0)
    'Oslo'
    """
    if column.categories is not None:
        return column.categories[int(value)]
    if column.dtype == "datetime":
        return _EPOCH + timedelta(seconds=round(value, 6))
    if column.dtype == "duration":
        return timedelta(seconds=round(value, 6))
    if column.dtype == "time":
        return (_EPOCH + timedelta(seconds=round(value, 6))).time()
    return float(value)


def put_back(
    X: Any, table: Table, schema: Schema, places: list[int], gaps: np.ndarray, rows: np.ndarray
) -> Any:
    """Return X with its missing cells filled, columns in the order of the schema.

    Parameters
    ----------
    X : table
        The user's table; never written to.
    table : Table
        X as it was read.
    schema : Schema
    places : list of int
        Position of each column of the schema in X.
    gaps : bool array of shape (n, n_columns)
        The cells to fill, columns as in the schema.
    rows : float64 array of shape (n, n_columns)
        Encoded rows with no missing value.
    """
    if isinstance(X, Table) or (not isinstance(table.body, np.ndarray) and _is_path(X)):
        return _fill_table(table, schema, places, gaps, rows)
    if isinstance(X, (np.ndarray, list, tuple)) or not _is_frame(X):
        return _fill_array(X, schema, gaps, rows)
    cells = {}
    for f in np.flatnonzero(gaps.any(axis=0)).tolist():
        here = np.flatnonzero(gaps[:, f])
        cells[f] = here, [readable(schema.columns[f], value) for value in rows[here, f]]
    if type(X).__module__.startswith("pandas"):
        return _fill_pandas(X, places, cells)
    return _fill_frame(X, places, cells)


def _is_path(X: Any) -> bool:
    return isinstance(X, str) or hasattr(X, "__fspath__")


def _is_frame(X: Any) -> bool:
    from arboretum.data.frames import is_frame

    return is_frame(X)


# ---------------------------------------------------------------------- tables and arrays
def _fill_table(
    table: Table, schema: Schema, places: list[int], gaps: np.ndarray, rows: np.ndarray
) -> Table:
    full = encoded_table(schema, rows).columns
    body: list[Raw] = []
    for f, place in enumerate(places):
        raw, new = table.columns[place], full[f]
        if not gaps[:, f].any():
            body.append(raw)
        elif isinstance(new, Words):
            body.append(_fill_words(as_words(raw), new, gaps[:, f]))
        else:
            body.append(new)
    return Table(schema.names, table.named, table.n_rows, body)


def _fill_words(raw: Words, new: Words, gaps: np.ndarray) -> Words:
    """Take the missing words from another column; words that only the first column has stay."""
    values = list(dict.fromkeys([*raw.values, *new.values]))
    place = {value: i for i, value in enumerate(values)}
    guess = np.array([place[value] for value in new.values], np.int64)[new.codes]
    return Words(np.where(gaps, guess, raw.codes), values, raw.dtype, raw.order)


def _fill_array(X: Any, schema: Schema, gaps: np.ndarray, rows: np.ndarray) -> np.ndarray:
    if isinstance(X, np.ma.MaskedArray):
        X = unmask(X)
        if all(column.categories is None for column in schema.columns):
            X = np.where(gaps, np.nan, X).astype(np.float64)
    values = array_of_lists(X, "X") if isinstance(X, (list, tuple)) else np.asarray(X)
    if values.dtype.kind in "iub" or (values.dtype.kind == "f" and not gaps.any()):
        return values.copy()
    filled = values.copy() if values.dtype.kind in "fmM" else values.astype(object)
    for f in np.flatnonzero(gaps.any(axis=0)).tolist():
        column = schema.columns[f]
        for i in np.flatnonzero(gaps[:, f]).tolist():
            filled[i, f] = readable(column, rows[i, f])
    return filled


# ---------------------------------------------------------------------- dataframes
def _fill_pandas(X: Any, places: list[int], cells: dict[int, tuple[np.ndarray, list[Any]]]) -> Any:
    filled = X.iloc[:, places].copy()
    for f, (here, values) in cells.items():
        series = filled.iloc[:, f]
        if hasattr(series, "sparse") and hasattr(series.dtype, "fill_value"):
            series = series.sparse.to_dense()
        filled.isetitem(f, _fill_series(series, here, values))
    return filled


def _fill_series(series: Any, here: np.ndarray, values: list[Any]) -> Any:
    import pandas as pd

    series = series.copy()
    kind = series.dtype
    objects = str(kind) == "object"
    if isinstance(kind, pd.CategoricalDtype):
        new = [v for v in dict.fromkeys(values) if v not in kind.categories]
        series = series.cat.add_categories(new) if new else series
    elif isinstance(values[0], datetime) and not objects:
        moments = pd.to_datetime(values, utc=getattr(kind, "tz", None) is not None)
        zone = getattr(kind, "tz", None)
        values = moments.tz_convert(zone) if zone is not None else moments
    elif isinstance(values[0], timedelta) and not objects:
        values = pd.to_timedelta(values)
    elif pd.api.types.is_integer_dtype(kind):  # nullable: it has missing values
        if all(v.is_integer() for v in values):
            values = [int(v) for v in values]
        else:
            series = series.astype("double[pyarrow]" if "pyarrow" in str(kind) else "Float64")
    elif objects and series.isna().all():
        return pd.Series(values, index=series.index, name=series.name)
    series.iloc[here] = values
    return series


def _fill_frame(X: Any, places: list[int], cells: dict[int, tuple[np.ndarray, list[Any]]]) -> Any:
    """Fill a dataframe of any other library that narwhals supports."""
    import narwhals.stable.v2 as nw

    if type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        X = pa.Table.from_batches([X])
    frame = nw.from_native(X)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    names = [frame.columns[place] for place in places]
    frame = frame.select(names)
    columns = [_scatter(frame.get_column(names[f]), *cells[f]) for f in cells]
    return (frame.with_columns(*columns) if columns else frame).to_native()


def _scatter(series: Any, here: np.ndarray, values: list[Any]) -> Any:
    import narwhals.stable.v2 as nw

    kind = series.dtype
    if isinstance(kind, (nw.Categorical, nw.Enum)):
        words = _scatter(series.cast(nw.String), here, values)
        known = set(kind.categories) if isinstance(kind, nw.Enum) else set(values)
        return words.cast(kind) if set(values) <= known else words
    if kind.is_integer() and all(v.is_integer() for v in values):
        values = [int(v) for v in values]
    elif kind.is_integer() or kind.is_decimal() or kind == nw.Unknown:
        target = nw.Float64 if isinstance(values[0], float) else nw.String
        series = series.cast(target)
    elif isinstance(kind, nw.Datetime) and kind.time_zone is not None:
        plain = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        full = _scatter(plain, here, values)
        return full.dt.replace_time_zone("UTC").dt.convert_time_zone(kind.time_zone)
    elif kind == nw.Date:
        values = [v.date() for v in values]
    fill = nw.new_series("fill", values, series.dtype, backend=series.implementation)
    if series.implementation.is_pyarrow():  # which has two types for strings
        native = fill.to_native().cast(series.to_native().type)
        fill = nw.from_native(native, series_only=True)
    return series.scatter(here.tolist(), fill)
