"""The kinds of the columns of a table: the part of a model that reads tables.

`learn_schema` reads the training table, determines each column's kind and encodes it. `encode`
turns any later table into numbers with the same meaning: columns are matched by name, categories get
the codes they had.

    kind          from                                       encoded as
    numeric       numbers, dates, durations                  the number (of dates: see `values`)
    ordinal       ordered categoricals, `ordinal_features`   the number, or the rank of the word
    categorical   strings, booleans of dataframes,           the position in `categories`: sorted, or
                  categoricals, `categorical_features`       as a categorical dtype declares them

Missing values are NaN in all three. Categories are those that occur in the training data; an
ordinal column keeps every declared rank, so that unseen ranks still have their position.

In a file a schema is JSON values, and nothing in a file is trusted. A category is stored with a letter for
its type, because JSON cannot distinguish a date from a string or keep 1, 1.0 and true apart after other
programs have rewritten the file:

    ["s", "Bern"]  ["b", true]  ["i", 3]  ["f", 0.5]  ["d", "2024-03-31T10:15:00"]

Files may be damaged or hostile: every type, length and duplicate is checked, and anything other than the
output of `column_to_state` raises a `ModelFileError`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from arboretum.data.checks import check_values, did_you_mean, list_names, warn_caller
from arboretum.data.coding import apply_categories, apply_numbers, learn_column
from arboretum.data.column_kinds import Wish, resolve_wishes
from arboretum.data.column_warnings import UNSEEN, Unseen, warn_unseen
from arboretum.data.dates import PARTS, Part, with_parts
from arboretum.data.matrix import DenseMatrix, FrameMatrix, Matrix, SparseMatrix
from arboretum.data.sparse import check_entries, dense_column, with_codes
from arboretum.data.table import Table, read_table
from arboretum.data.values import TIMES, name_of
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.html import html_table
from arboretum.lazy import cached_property

__all__ = [
    "UNCHARGED",
    "Column",
    "Schema",
    "category_from_state",
    "category_to_state",
    "column_to_state",
    "encode",
    "learn_schema",
    "schema_fields",
]


# ---------------------------------------------------------------------- files
KINDS = ("numeric", "ordinal", "categorical")
_FIELDS = {"name": str, "kind": str, "categories": list | None, "has_missing": bool, "dtype": str}
_LONGEST_DTYPE = 32
_LETTERS = (
    ("s", str),
    ("b", bool),
    ("i", int),
    ("f", float),
)  # of types of categories; "d": a date


def column_to_state(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a column as JSON-able values."""
    result = {key: fields[key] for key in _FIELDS}
    if fields["categories"] is not None:
        result["categories"] = [category_to_state(value) for value in fields["categories"]]
    return result


def category_to_state(value: Any) -> list[Any]:
    """Return a category with a letter for its type."""
    for letter, kind in _LETTERS:
        if isinstance(value, kind):
            return [letter, value]
    return ["d", value.isoformat()]


def schema_fields(value: Any) -> tuple[bool, list[dict[str, Any]]]:
    """Check a stored schema; return whether it is named and the fields of each column."""
    if not isinstance(value, dict) or set(value) - {"parts"} != {"named", "columns"}:
        _refuse("it must hold 'named' and 'columns'")
    if not isinstance(value["named"], bool):
        _refuse("'named' must be true or false")
    if not isinstance(value["columns"], list) or not value["columns"]:
        _refuse("'columns' must be a list of at least one column")
    columns = [_column_fields(i, c) for i, c in enumerate(value["columns"])]
    if len({c["name"] for c in columns}) < len(columns):
        _refuse("two columns have the same name")
    return value["named"], columns


def _column_fields(index: int, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(_FIELDS):
        _refuse(f"column {index} must hold {', '.join(_FIELDS)}")
    for key, kind in _FIELDS.items():
        if not isinstance(value[key], kind):
            _refuse(f"{key!r} of column {index} has the wrong type")
    if value["kind"] not in KINDS:
        _refuse(f"column {index} is of unknown kind")
    if not 0 < len(value["dtype"]) <= _LONGEST_DTYPE:
        _refuse(f"'dtype' of column {index} has a wrong length")
    if (value["kind"] == "categorical") > (value["categories"] is not None):
        _refuse(f"column {index} is categorical but has no categories")
    if value["kind"] == "numeric" and value["categories"] is not None:
        _refuse(f"column {index} is numeric but has categories")
    fields = dict(value)
    if fields["categories"] is not None:
        categories = tuple(category_from_state(index, c) for c in fields["categories"])
        if len(set(categories)) < len(categories):
            _refuse(f"column {index} has the same category twice")
        fields["categories"] = categories
    return fields


def category_from_state(index: int, value: Any) -> Any:
    """Return the category of column ``index`` from the result of `category_to_state`."""
    if isinstance(value, list) and len(value) == 2:
        letter, content = value
        if type(content) is not float or math.isfinite(content):
            for known, kind in _LETTERS:
                if letter == known and type(content) is kind:
                    return content
        if letter == "d" and type(content) is str:
            try:
                moment = datetime.fromisoformat(content)
            except ValueError:
                _refuse(f"column {index} has a category that is no date")
            if moment.tzinfo is None:
                return moment
    _refuse(f"column {index} has a category of no known type")


def _refuse(why: str) -> NoReturn:
    raise ModelFileError(
        f"the schema in this file is damaged: {why}; save the model again, or use another copy"
    )


def _parts_from_state(value: Any, columns: Sequence[Column]) -> tuple[Part, ...]:
    """Return, for each of the last columns, its date and the part of it."""
    if not isinstance(value, list) or len(value) >= len(columns):
        _refuse("'parts' must be a list, shorter than the columns")
    n_given = len(columns) - len(value)
    for one, column in zip(value, columns[n_given:]):
        if not (isinstance(one, list) and len(one) == 2 and one[1] in PARTS):
            _refuse("a part of a date is unknown")
        source = one[0]
        if type(source) is not int or not 0 <= source < n_given or not columns[source].is_date:
            _refuse("a part belongs to a column that holds no dates")
        if column.kind != "numeric" or column.dtype != "float64":
            _refuse("a part of a date is no column of numbers")
    return tuple((source, part) for source, part in value)


UNCHARGED = 4  # this few categories gain no more by chance than a column of numbers (docs/cart.md)


@dataclass(frozen=True)
class Column:
    """One column of the training table.

    Attributes
    ----------
    name : str
        Its name; ``x0, x1, …`` when the table had none.
    kind : {"numeric", "ordinal", "categorical"}
    categories : tuple or None
        Category values in the order of their codes; None for a column of numbers.
    has_missing : bool
        Missing values were seen at fit.
    dtype : str
        Its original type: ``"float64"``, ``"str"``, ``"datetime"``, ``"category"``, …
    """

    name: str
    kind: str
    categories: tuple[Any, ...] | None = None
    has_missing: bool = False
    dtype: str = "float64"

    @property
    def value_kind(self) -> str:
        """How a threshold on this column is written: ``"datetime"``, or the kind."""
        return "datetime" if self.is_date else self.kind

    @property
    def is_date(self) -> bool:
        """Whether the values are dates, as seconds."""
        return self.dtype == "datetime" and self.categories is None


@dataclass(frozen=True)
class Schema:
    """The columns of the training table, in order.

    Attributes
    ----------
    columns : tuple of Column
    named : bool
        The table carried column names; later tables are then matched by name.
    n_categories : tuple of int or None
        Number of categories of every column in the rows of weight > 0, if some weigh nothing (`weighed`);
        not kept in model files.
    parts : tuple of (int, str)
        The last columns are these parts of columns of dates (`dates.PARTS`). Tables need not have them:
        `encode` computes them.

    Examples
    --------
    >>> schema = Schema((Column("city", "categorical", ("Bern", "Oslo"), False, "str"),), True)
    >>> schema.names, schema.n_features
    (('city',), 1)
    >>> Schema.from_state(schema.to_state()) == schema
    True
    """

    columns: tuple[Column, ...]
    named: bool
    n_categories: tuple[int, ...] | None = field(default=None, compare=False, repr=False)
    parts: tuple[Part, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields for pickle, without anything computed from them."""
        state = {"columns": self.columns, "named": self.named}
        return {**state, "parts": self.parts} if self.parts else state

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @cached_property
    def given(self) -> Schema:
        """The columns that a table must have: all but the parts of dates."""
        if not self.parts:
            return self
        return Schema(self.columns[: -len(self.parts)], self.named)

    def taken_apart(self, parts: Sequence[Part]) -> Schema:
        """Return the schema with parts of dates as further columns, in the order of ``parts``."""
        columns = list(self.columns)
        for source, part in parts:
            name, taken = f"{self.names[source]} {part}", {column.name for column in columns}
            while name in taken:
                name += "_"
            columns.append(Column(name, "numeric", None, self.columns[source].has_missing))
        return Schema(tuple(columns), self.named, parts=tuple(parts))

    def _has_parts(self, table: Table) -> bool:
        """Return True if a table has columns for the parts of dates, too."""
        if self.named and table.named:
            return set(self.names) <= set(table.names)
        return len(table.names) == self.n_features

    @cached_property
    def _plain_numbers(self) -> bool:
        """Whether there are no categories and no dates: an array of numbers is its own encoding."""
        return all(c.categories is None and c.dtype not in TIMES for c in self.columns)

    def weighed(self, matrix: Matrix, weights: np.ndarray | None) -> Schema:
        """Return the schema with the categories counted in the rows of weight > 0."""
        if weights is None or np.all(weights):
            return self if self.n_categories is None else replace(self, n_categories=None)
        rows, found = np.flatnonzero(weights), []
        for f, column in enumerate(self.columns):
            values = matrix.column(f)[rows] if column.kind == "categorical" else np.empty(0)
            found.append(len(np.unique(values[~np.isnan(values)])))
        return replace(self, n_categories=tuple(found))

    @property
    def charged(self) -> np.ndarray:
        """Which columns `category_penalty` applies to: those with more than four categories (bool)."""
        sizes = self.n_categories or [len(c.categories or ()) for c in self.columns]
        return np.array(
            [c.kind == "categorical" and n > UNCHARGED for c, n in zip(self.columns, sizes)], bool
        )

    def _repr_html_(self) -> str:
        rows = [
            (c.name, c.kind, c.dtype, _few(c.categories), "yes" if c.has_missing else "")
            for c in self.columns
        ]
        header = ("column", "kind", "type", "categories", "missing")
        return html_table(f"{self.n_features} columns", header, rows, left=5)

    def to_state(self) -> dict[str, Any]:
        """Return the schema as dicts, lists, strings and numbers that JSON can hold."""
        parts = {"parts": [list(part) for part in self.parts]} if self.parts else {}
        return {
            "named": self.named,
            "columns": [column_to_state(vars(column)) for column in self.columns],
            **parts,
        }

    @classmethod
    def from_state(cls, value: Any) -> Schema:
        """Build a schema from the result of `to_state`; raise a ModelFileError if it is invalid."""
        named, fields = schema_fields(value)
        columns = tuple(Column(**one) for one in fields)
        parts = _parts_from_state(value["parts"], columns) if "parts" in value else ()
        return cls(columns, named, parts=parts)


def _few(categories: tuple[Any, ...] | None) -> str:
    """Name the first of the categories."""
    if categories is None:
        return ""
    shown, hidden = ", ".join(map(str, categories[:6])), len(categories) - 6
    return f"{shown}, … and {hidden} more" if hidden > 0 else shown


# --------------------------------------------------------------------------- fit
def learn_schema(
    X: Any, *, categorical_features: Any = None, ordinal_features: Any = None
) -> tuple[Schema, Matrix]:
    """Determine the kinds of the columns of the training table, and encode it.

    Parameters
    ----------
    X : table
        Anything `read_table` takes.
    categorical_features : None, "from_dtype", or list of names, indices or booleans
        Columns that are categorical whatever their dtype; the kind of other columns follows from their
        dtype.
    ordinal_features : None, list as above, or dict from name or index to the values in order
        Columns whose values are ranks. Numbers are their own ranks, words are ranked by a declared order or
        else alphabetically; the dict gives the order.

    Returns
    -------
    schema : Schema
    matrix : Matrix
        The encoded table. An array of numbers is wrapped, not copied.

    Raises
    ------
    DataError
        The table cannot be used; the message names column, rows and a remedy.
    ParameterError
        `categorical_features` or `ordinal_features` does not fit the table.

    Examples
    --------
    >>> schema, matrix = learn_schema([[1.5, "red"], [2.5, "blue"]])
    >>> [(c.name, c.kind, c.categories) for c in schema.columns]
    [('x0', 'numeric', None), ('x1', 'categorical', ('blue', 'red'))]
    >>> matrix.rows(0, 2)
    array([[1.5, 1. ],
           [2.5, 0. ]])
    """
    table = read_table(X)
    wishes: dict[int, Wish] = {}
    if categorical_features is not None or ordinal_features is not None:
        wishes = resolve_wishes(
            table.names, categorical_features, ordinal_features, named=table.named
        )
    if isinstance(table.body, np.ndarray):
        if not wishes:
            return _learn_dense(table)
    elif not isinstance(table.body, list):
        return _learn_sparse(table, wishes)
    columns, encoded = [], []
    for f, raw in enumerate(table.columns):
        name = table.names[f]
        kind, categories, missing, values = learn_column(raw, name, wishes.get(f))
        columns.append(Column(name, kind, categories, missing, raw.dtype))
        encoded.append(values)
    return Schema(tuple(columns), table.named), FrameMatrix(encoded)


def _learn_dense(table: Table) -> tuple[Schema, DenseMatrix]:
    values = table.body
    missing = check_values(values, table.names).tolist()
    dtype = name_of(values.dtype)
    columns = [Column(n, "numeric", None, m, dtype) for n, m in zip(table.names, missing)]
    return Schema(tuple(columns), table.named), DenseMatrix(values)


def _learn_sparse(table: Table, wishes: dict[int, Wish]) -> tuple[Schema, SparseMatrix]:
    matrix = SparseMatrix(table.body)
    missing = check_entries(table.body, table.names, wishes).tolist()
    dtype = table.body.dtype.name
    columns = [Column(n, "numeric", None, m, dtype) for n, m in zip(table.names, missing)]
    codes = {}
    for f, wish in wishes.items():
        kind, categories, has_missing, values = learn_column(
            dense_column(matrix, f), table.names[f], wish
        )
        columns[f] = Column(table.names[f], kind, categories, has_missing, dtype)
        if categories is not None:
            codes[f] = values
    return Schema(tuple(columns), table.named), with_codes(matrix, codes)


# --------------------------------------------------------------------------- predict
def encode(
    schema: Schema,
    X: Any,
    *,
    unseen: str = "missing",
    estimator_name: str = "model",
    places: Mapping[int, Mapping[Any, int]] | None = None,
    by_position: bool = False,
) -> Matrix:
    """Encode a table as the training table was encoded.

    When both tables have column names, columns are found by name and may come in any order.
    Otherwise they are taken in order, with a `UserWarning` if one of the tables had names.

    Parameters
    ----------
    schema : Schema
        The result of `learn_schema`.
    X : table
        Anything `read_table` takes.
    unseen : {"missing", "ignore", "error"}
        What to do with categories that were not seen at fit: treat them as missing values with one
        `UnseenCategoryWarning` for all columns, without a warning, or raise.
    estimator_name : str
        The model's name in messages.
    places : dict of int to dict, optional
        `places_of` the categories of every column that has some: saves time where a table is encoded in many
        parts.
    by_position : bool
        Take columns in order, with a warning, if their number is right and some have other names.

    Returns
    -------
    Matrix

    Examples
    --------
    >>> schema, _ = learn_schema([["red"], ["blue"], ["red"]])
    >>> encode(schema, [["blue"]]).rows(0, 1)
    array([[0.]])
    """
    if unseen not in UNSEEN:
        raise ParameterError(f"unseen must be 'missing', 'ignore' or 'error', got {unseen!r}")
    table = read_table(X)
    parts = () if schema._has_parts(table) else schema.parts
    if parts:
        schema = schema.given
    if isinstance(X, str | Path):
        table = _without_strangers(schema, table, X)
    order = _match(schema, table, estimator_name, by_position)
    matrix = _encode(schema, table, order, unseen, places)
    return with_parts(matrix, parts) if parts else matrix


def _encode(
    schema: Schema,
    table: Table,
    order: Sequence[int],
    unseen: str,
    places: Mapping[int, Mapping[Any, int]] | None,
) -> Matrix:
    if isinstance(table.body, np.ndarray):
        if schema._plain_numbers:
            in_place = isinstance(order, range)
            values = table.body if in_place else table.body[:, order]
            check_values(values, schema.names)
            return DenseMatrix(values)
    elif not isinstance(table.body, list):
        return _encode_sparse(schema, table, unseen)
    raws = table.columns
    encoded = []
    found: Unseen = {}
    for f, (column, position) in enumerate(zip(schema.columns, order)):
        if column.categories is None:
            values = apply_numbers(raws[position], column.name, column.dtype)
        else:
            place = None if places is None else places[f]
            values = apply_categories(
                raws[position], column.name, column.dtype, column.categories, unseen, found, place
            )
        encoded.append(values)
    if found and unseen != "ignore":
        warn_unseen(found)
    return FrameMatrix(encoded)


def _encode_sparse(schema: Schema, table: Table, unseen: str) -> SparseMatrix:
    matrix = SparseMatrix(table.body)
    coded = {f for f, column in enumerate(schema.columns) if column.categories is not None}
    check_entries(table.body, schema.names, coded)
    if schema._plain_numbers:
        return matrix
    codes = {}
    found: Unseen = {}
    for f, column in enumerate(schema.columns):
        if column.categories is not None:
            codes[f] = apply_categories(
                dense_column(matrix, f), column.name, column.dtype, column.categories, unseen, found
            )
        elif column.dtype in TIMES:
            apply_numbers(dense_column(matrix, f), column.name, column.dtype)  # refuses numbers
    if found and unseen != "ignore":
        warn_unseen(found)
    return with_codes(matrix, codes)


def _without_strangers(schema: Schema, table: Table, path: str | Path) -> Table:
    """Leave out columns of a file that were not in the training table, such as the target, with a warning."""
    extra = [name for name in table.names if name not in schema.names]
    if not (schema.named and extra) or any(name not in table.names for name in schema.names):
        return table
    warn_caller(f"{str(path)!r} has columns unseen at fit, which are ignored: {list_names(extra)}")
    kept = [raw for name, raw in zip(table.names, table.columns) if name in schema.names]
    names = tuple(name for name in table.names if name in schema.names)
    return Table(names, True, table.n_rows, kept)


def _match(
    schema: Schema, table: Table, estimator_name: str, by_position: bool = False
) -> Sequence[int]:
    """Return the position of each column of the schema in the table."""
    if schema.named and table.named:
        if table.names == schema.names:
            return range(len(table.names))
        strangers = [name for name in table.names if name not in set(schema.names)]
        if by_position and strangers and len(table.names) == schema.n_features:
            warn_caller(
                f"X has columns unseen at fit: {list_names(strangers)}; columns are matched by position"
            )
            return range(schema.n_features)
        return _match_names(schema.names, table.names)
    if len(table.names) != schema.n_features:
        raise DataError(
            f"X has {len(table.names)} features, but {estimator_name} is expecting "
            f"{schema.n_features} features as input"
        )
    if schema.named != table.named:
        if schema.named:
            what = f"does not have valid feature names, but {estimator_name} was fitted with"
        else:
            what = f"has feature names, but {estimator_name} was fitted without"
        warn_caller(f"X {what} feature names; columns are matched by position")
    return range(schema.n_features)


def _match_names(expected: tuple[str, ...], given: tuple[str, ...]) -> list[int]:
    position = {name: i for i, name in enumerate(given)}
    known = set(expected)
    extra = [name for name in given if name not in known]
    absent = [name for name in expected if name not in position]
    if absent:
        hints = [f"{name!r}{did_you_mean(name, extra)}" for name in absent[:5]]
        hidden = len(absent) - len(hints)
        raise DataError(
            f"X lacks columns seen at fit: {', '.join(hints)}"
            + (f", … and {hidden} more" if hidden else "")
            + (f"; it has columns unseen at fit: {list_names(extra)}" if extra else "")
        )
    if extra:
        raise DataError(
            f"X has columns unseen at fit: {list_names(extra)}; drop them, or keep only the "
            "columns of the fit, e.g. X[model.feature_names_in_]"
        )
    return [position[name] for name in expected]
