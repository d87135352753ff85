"""Words of every library become the same codes, by one hash of each string."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from arboretum.data.schema import encode, learn_schema
from arboretum.errors import DataError

CELLS = ["red", None, "blue", "red", "green", None, "blue"]
NEW = ["blue", "red", None]


def _objects(cells, gap):
    return pd.DataFrame({"colour": np.array([gap if c is None else c for c in cells], object)})


TABLES = {
    "objects, None": lambda cells: _objects(cells, None),
    "objects, NaN": lambda cells: _objects(cells, np.nan),
    "objects, NA": lambda cells: _objects(cells, pd.NA),
    "objects, new NaNs": lambda cells: _objects(cells, float("nan")),
    "str": lambda cells: pd.DataFrame({"colour": pd.Series(cells, dtype="str")}),
    "string": lambda cells: pd.DataFrame({"colour": pd.Series(cells, dtype="string")}),
    "string[python]": lambda cells: pd.DataFrame({"colour": pd.Series(cells, dtype="string[python]")}),
    "string[pyarrow]": lambda cells: pd.DataFrame(
        {"colour": pd.Series(cells, dtype=pd.ArrowDtype(pa.string()))}
    ),
    "category": lambda cells: pd.DataFrame({"colour": pd.Categorical(cells)}),
    "category, unused": lambda cells: pd.DataFrame(
        {"colour": pd.Categorical(cells, ["any", "blue", "green", "red"])}
    ),
    "polars": lambda cells: pl.DataFrame({"colour": cells}),
    "polars, category": lambda cells: pl.DataFrame(
        {"colour": pl.Series(cells, dtype=pl.Categorical)}
    ),
    "arrow": lambda cells: pa.table({"colour": cells}),
    "arrow, chunks": lambda cells: pa.table(
        {"colour": pa.chunked_array([cells[:2], cells[2:2], cells[2:]], pa.string())}
    ),
    "arrow, dictionaries": lambda cells: pa.table(
        {
            "colour": pa.chunked_array(
                [pa.array(part, pa.string()).dictionary_encode() for part in (cells[:2], cells[2:])]
            )
        }
    ),
    "arrow, unsigned": lambda cells: pa.table(
        {"colour": pa.array(cells).dictionary_encode().cast(pa.dictionary(pa.uint8(), pa.string()))}
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("other", ["objects, None", "category", "arrow, chunks"])
def test_all_kinds_of_words_agree(kind, other):
    schema, matrix = learn_schema(TABLES[kind](CELLS))
    (column,) = schema.columns
    assert (column.kind, column.categories, column.has_missing) == (
        "categorical", ("blue", "green", "red"), True,
    )  # fmt: skip
    expected = [2, np.nan, 0, 2, 1, np.nan, 0]
    np.testing.assert_array_equal(matrix.column(0), expected)
    np.testing.assert_array_equal(encode(schema, TABLES[kind](NEW)).column(0), [0, 2, np.nan])
    np.testing.assert_array_equal(encode(schema, TABLES[other](NEW)).column(0), [0, 2, np.nan])


@pytest.mark.parametrize("kind", TABLES)
def test_no_gap_is_told_from_a_gap(kind):
    schema, _ = learn_schema(TABLES[kind](["b", "a", "b"]) if "unused" not in kind else
                             TABLES[kind](["red", "blue"]))  # fmt: skip
    assert not schema.columns[0].has_missing


@pytest.mark.parametrize("with_pandas", [True, False])
def test_an_array_of_objects_needs_no_pandas(monkeypatch, with_pandas):
    if not with_pandas:
        monkeypatch.delitem(sys.modules, "pandas")
    cells = np.array([[c, float("nan") if c is None else i] for i, c in enumerate(CELLS)], object)
    schema, matrix = learn_schema(cells)
    assert [c.kind for c in schema.columns] == ["categorical", "numeric"]
    np.testing.assert_array_equal(matrix.column(0), [2, np.nan, 0, 2, 1, np.nan, 0])
    with pytest.raises(DataError, match=r"mixes numbers.*and strings"):
        learn_schema(np.array([["a"], ["b"], [3]], object))
    with pytest.raises(DataError, match="type list in row 1"):
        learn_schema(pd.DataFrame({"a": ["a", ["b"]]}, dtype=object))


def test_strings_that_are_not_plain_ones_become_plain():
    schema, _ = learn_schema(np.array([[np.str_("b")], ["a"], [np.str_("a")]], object))
    assert schema.columns[0].categories == ("a", "b")
    assert {type(value) for value in schema.columns[0].categories} == {str}
