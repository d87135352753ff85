"""Dates taken apart: the parts are those of Python's dates, and a table may bring them or not."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arboretum.data.dates import PARTS, part_of_dates, parts_that_vary, with_parts
from arboretum.data.schema import Schema, encode, learn_schema
from arboretum.errors import DataError, ModelFileError

EPOCH = datetime(1970, 1, 1)
FRAME = pd.DataFrame(
    {
        "x": [1.0, 2.0, 3.0],
        "when": pd.to_datetime(["2024-03-31 10:30", "2023-01-02 00:00", None]),
        "when month": ["a", "b", "a"],
    }
)


def apart(frame=FRAME):
    schema, matrix = learn_schema(frame)
    return schema.taken_apart(parts_that_vary(matrix, [1])), matrix


@settings(deadline=None)
@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)))
def test_parts_are_those_of_python(moment):
    seconds = np.array([(moment - EPOCH) / timedelta(seconds=1), np.nan])
    found = {part: part_of_dates(seconds, part) for part in PARTS}
    assert all(np.isnan(values[1]) for values in found.values())
    hour = (moment - datetime(moment.year, moment.month, moment.day)) / timedelta(hours=1)
    expected = {
        "year": moment.year, "month": moment.month, "day": moment.day,
        "weekday": moment.isoweekday(), "day of year": moment.timetuple().tm_yday, "hour": hour,
    }  # fmt: skip
    if hour < 23.999:  # near midnight, seconds as float64 may be those of the next day
        assert {part: values[0] for part, values in found.items()} == pytest.approx(
            expected, abs=1e-6
        )


def test_only_parts_that_vary_are_columns():
    schema, _ = apart()
    assert schema.parts == tuple((1, part) for part in PARTS)
    days = FRAME.assign(when=pd.to_datetime(["2024-03-30", "2024-03-31", None]))
    assert [part for _, part in apart(days)[0].parts] == ["day", "weekday", "day of year"]


def test_names_are_new_and_tables_need_not_have_them():
    schema, matrix = apart()
    assert schema.names[3:5] == ("when year", "when month_")
    assert schema.given.names == ("x", "when", "when month")
    encoded = encode(schema, FRAME[["when", "when month", "x"]])
    wanted = with_parts(matrix, schema.parts).rows(0, 3)
    assert np.array_equal(encoded.rows(0, 3), wanted, equal_nan=True)
    assert encoded.column(schema.names.index("when month_"))[:2].tolist() == [3.0, 1.0]


def test_a_table_with_the_parts_is_taken_as_it_is():
    schema, _ = apart()
    whole = FRAME.assign(**dict.fromkeys(schema.names[3:], 7.0))
    assert encode(schema, whole).column(4).tolist() == [7.0] * 3
    unnamed = Schema(schema.columns, False, parts=schema.parts)
    cells = FRAME.astype(object).to_numpy()
    assert encode(unnamed, cells).shape == (3, 9)


def test_errors_name_the_columns_of_the_table():
    schema, _ = apart()
    with pytest.raises(DataError, match=r"X lacks columns seen at fit: 'when'$"):
        encode(schema, FRAME[["x", "when month"]])
    with pytest.raises(DataError, match="held dates at fit and holds numbers now"):
        encode(schema, FRAME.assign(when=1.0))


def test_schemas_come_back_from_their_state():
    schema, _ = apart()
    assert Schema.from_state(json.loads(json.dumps(schema.to_state()))) == schema
    assert "parts" not in schema.given.to_state()


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (None, "must be a list"),
        ([[1, "year"]] * 9, "shorter than the columns"),
        ([[1, "century"]], "part of a date is unknown"),
        ([[1]], "part of a date is unknown"),
        ([[0, "hour"]], "holds no dates"),
        ([["1", "hour"]], "holds no dates"),
        ([[-1, "hour"]], "holds no dates"),
        ([[True, "hour"]], "holds no dates"),
    ],
)
def test_damaged_parts_are_refused(parts, message):
    state = apart()[0].to_state()
    with pytest.raises(ModelFileError, match=message):
        Schema.from_state({**state, "parts": parts})


def test_parts_must_be_numbers():
    state = apart()[0].given.to_state()
    with pytest.raises(ModelFileError, match="no column of numbers"):
        Schema.from_state({**state, "parts": [[1, "hour"]]})
