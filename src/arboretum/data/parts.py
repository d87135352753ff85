"""The schema and the counts of a table from its parts, merged without the rows.

    part 0  rows 0 … 3    city: Oslo, Bern      ─┐
    part 1  rows 4 … 9    city: Rome, missing    ├─ join_parts ──►  the schema of all rows
    part 2  rows 10 … 11  city: Bern            ─┘

A column of a part is kept as a short column with the same meaning: every distinct category once, one number,
and one missing value if there is any. Parts are joined by joining these, and `learn_column` reads the
result as it reads a column of a whole table. So a table in parts has the schema, the category codes and the
errors of the same table in one piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, NoReturn

import numpy as np

from arboretum.data.checks import check_values, did_you_mean, list_names
from arboretum.data.coding import learn_column
from arboretum.data.column_kinds import Wish, resolve_wishes
from arboretum.data.schema import Column, Schema
from arboretum.data.table import Table, is_sparse, read_table
from arboretum.data.target import encode_classes
from arboretum.data.values import Raw, RawNumbers, Words, as_words, name_of
from arboretum.errors import DataError

__all__ = [
    "CategoryCounts",
    "TablePart",
    "join_classes",
    "join_parts",
    "join_raw",
    "learn_part",
    "take_rows",
]


class CategoryCounts(NamedTuple):
    """How often each category occurs in the rows that count, and whether one of them has none."""

    counts: np.ndarray
    has_missing: bool


class _ColumnPart(NamedTuple):
    """A column of a part: a short column of the same meaning, and the counts of its categories."""

    raw: Raw
    counts: Mapping[Any, int]
    lost: bool  # a row that counts has no value


@dataclass(frozen=True, eq=False)
class TablePart:
    """What is known of some rows of a table.

    Attributes
    ----------
    names : tuple of str
    named : bool
        The names came with the table.
    n_rows : int
        All rows.
    n_counted : int
        Rows of weight > 0.
    columns : tuple of _ColumnPart
    wishes : dict of int to Wish
        The user's settings of columns.
    """

    names: tuple[str, ...]
    named: bool
    n_rows: int
    n_counted: int
    columns: tuple[_ColumnPart, ...]
    wishes: Mapping[int, Wish]

    def schema(self) -> Schema:
        """Return the schema that `learn_schema` returns for the rows in one piece."""
        found = []
        for f, (name, column) in enumerate(zip(self.names, self.columns)):
            kind, categories, missing, _ = learn_column(column.raw, name, self.wishes.get(f))
            found.append(Column(name, kind, categories, missing, column.raw.dtype))
        return Schema(tuple(found), self.named)

    def category_counts(self, schema: Schema) -> dict[int, CategoryCounts]:
        """Return the counts of every column of categories, in the order of the codes."""
        found = {}
        for f, (column, part) in enumerate(zip(schema.columns, self.columns)):
            if column.kind == "categorical":
                assert column.categories is not None
                counts = [part.counts.get(value, 0) for value in column.categories]
                found[f] = CategoryCounts(np.array(counts, np.int64), part.lost)
        return found


def learn_part(
    X: Any, settings: Mapping[str, Any] | None = None, counted: np.ndarray | None = None
) -> TablePart:
    """Return the columns of a part: types, categories, missing values, counts.

    Parameters
    ----------
    X : table
        Anything `read_table` takes, but no sparse matrix.
    settings : dict, optional
        The user's settings of the columns: arguments of `learn_schema`.
    counted : bool array of shape (n_rows,), optional
        Rows of weight > 0; None: all.

    Examples
    --------
    >>> parts = [learn_part([[1.0, "red"]]), learn_part([[2.5, "blue"], [None, "red"]])]
    >>> whole = join_parts(parts)
    >>> [(c.name, c.categories, c.has_missing) for c in whole.schema().columns]
    [('x0', None, True), ('x1', ('blue', 'red'), False)]
    >>> whole.category_counts(whole.schema())[1].counts.tolist()
    [1, 2]
    """
    if is_sparse(X):
        raise DataError(
            "sparse matrices cannot be read in parts: fit them in one piece, which takes little memory"
        )
    table = read_table(X)
    settings = settings or {}
    wishes = resolve_wishes(
        table.names, settings.get("categorical_features"), settings.get("ordinal_features")
    )
    body = table.body
    if isinstance(body, np.ndarray) and not wishes:
        dtype, missing = name_of(body.dtype), check_values(body, table.names).tolist()
        columns = [_ColumnPart(_one_number(body.dtype, dtype, m), {}, m) for m in missing]
    else:
        columns = [
            _learn_column(raw, name, wishes.get(f), counted)
            for f, (raw, name) in enumerate(zip(table.columns, table.names))
        ]
    n_counted = table.n_rows if counted is None else int(np.count_nonzero(counted))
    return TablePart(table.names, table.named, table.n_rows, n_counted, tuple(columns), wishes)


def _learn_column(
    raw: Raw, name: str, wish: Wish | None, counted: np.ndarray | None
) -> _ColumnPart:
    kind, categories, missing, codes = learn_column(raw, name, wish)
    if categories is None:
        assert isinstance(raw, RawNumbers)
        return _ColumnPart(_one_number(raw.values.dtype, raw.dtype, missing), {}, missing)
    short = _short(raw)
    if kind != "categorical":
        return _ColumnPart(short, {}, missing)
    codes = codes if counted is None else codes[counted]
    present = codes[codes == codes].astype(np.int64)
    often = np.bincount(present, minlength=len(categories)).tolist()
    return _ColumnPart(short, dict(zip(categories, often)), len(present) < len(codes))


def _one_number(dtype: np.dtype, label: str, missing: bool) -> RawNumbers:
    if label == "null":
        return RawNumbers(np.full(1, np.nan), label)
    zero = np.zeros(1, dtype)
    return RawNumbers(np.append(zero, np.nan).astype(dtype) if missing else zero, label)


def _short(raw: Raw) -> Raw:
    """Return a column of every distinct value once, and one missing value if there is one."""
    if isinstance(raw, RawNumbers):
        return RawNumbers(np.unique(raw.values), raw.dtype)
    counts = np.bincount(raw.codes.astype(np.intp) + 1, minlength=len(raw.values) + 1)
    present, missing = np.flatnonzero(counts[1:]), [-1] * bool(counts[0])
    if raw.order != "none":
        return Words(np.append(present, missing).astype(np.int64), raw.values, raw.dtype, raw.order)
    values = [raw.values[code] for code in present.tolist()]
    return Words(np.append(np.arange(len(values)), missing).astype(np.int64), values, raw.dtype)


# --------------------------------------------------------------------------- joining
def join_parts(parts: Iterable[TablePart]) -> TablePart:
    """Return several parts as one, in the order of their rows."""
    parts = list(parts)
    first = parts[0]
    for other in parts[1:]:
        if (other.names, other.named) != (first.names, first.named):
            _refuse_names(first.names, other.names)
    columns = [
        _join_columns(each, name)
        for each, name in zip(zip(*(p.columns for p in parts)), first.names)
    ]
    return TablePart(
        first.names, first.named, sum(p.n_rows for p in parts), sum(p.n_counted for p in parts),
        tuple(columns), first.wishes,
    )  # fmt: skip


def _refuse_names(known: Sequence[str], found: Sequence[str]) -> None:
    lacking = [name for name in known if name not in found]
    extra = [name for name in found if name not in known]
    what = []
    if lacking:
        what.append(f"lacks {list_names(lacking)}{did_you_mean(lacking[0], extra)}")
    if extra:
        what.append(f"has {list_names(extra)} besides")
    raise DataError(
        f"a part of the table {' and '.join(what) or 'has its columns in another order'}: all parts must "
        "have the columns of the first, in its order"
    )


def _join_columns(parts: Sequence[_ColumnPart], name: str) -> _ColumnPart:
    counts: dict[Any, int] = {}
    for part in parts:
        for value, n in part.counts.items():
            counts[value] = counts.get(value, 0) + n
    raw = join_raw([part.raw for part in parts], name)
    if isinstance(raw, Words):
        raw = _short(raw)
    else:
        raw = RawNumbers(np.unique(raw.values), raw.dtype)
    return _ColumnPart(raw, counts, any(part.lost for part in parts))


def join_raw(parts: Sequence[Raw], name: str) -> Raw:
    """Return columns of consecutive rows as one column.

    Raises
    ------
    DataError
        They are of different types.

    Examples
    --------
    >>> parts = [Words(np.array([0, 1]), ["a", "b"], "str"), Words(np.array([0, -1]), ["b"], "str")]
    >>> joined = join_raw(parts, "x")
    >>> joined.codes.tolist(), joined.values
    ([0, 1, 1, -1], ['a', 'b'])
    """
    known = [raw for raw in parts if raw.dtype != "null"]
    if not known or all(isinstance(raw, RawNumbers) for raw in known):
        joined = np.concatenate([raw.values for raw in parts if isinstance(raw, RawNumbers)])
        return RawNumbers(
            joined, reduce(lambda a, b: _number_type(a, b, name), known or parts).dtype
        )
    words = [raw for raw in known if isinstance(raw, Words)]
    if len(words) < len(known) or any(raw.dtype != words[0].dtype for raw in words):
        _refuse_types({_described(raw) for raw in known}, name)
    order, values = words[0].order, words[0].values
    if any(raw.order != order or (order != "none" and raw.values != values) for raw in words):
        raise DataError(
            f"column {name!r} declares other categories, or another order of them, in one part than in "
            "another: give all parts the same categorical type"
        )
    place: dict[Any, int] = {}
    codes = []
    for raw in parts:
        one = as_words(raw)
        new = [place.setdefault(value, len(place)) for value in one.values]
        codes.append(np.array([*new, -1], np.int64)[one.codes])
    return Words(np.concatenate(codes), list(place), words[0].dtype, order)


def _number_type(one: Raw, other: Raw, name: str) -> Raw:
    """Return the one with the type of both together, as NumPy joins arrays."""
    if one.dtype == other.dtype:
        return one
    try:
        joined = np.result_type(np.dtype(one.dtype), np.dtype(other.dtype)).name
    except TypeError:
        _refuse_types({_described(one), _described(other)}, name)
    return RawNumbers(np.empty(0), joined)


def _described(raw: Raw) -> str:
    if isinstance(raw, Words):
        return "words" if raw.dtype == "str" else f"words of type {raw.dtype}"
    return f"numbers ({raw.dtype})" if raw.family == "number" else f"{raw.dtype} values"


def _refuse_types(found: set[str], name: str) -> NoReturn:
    raise DataError(
        f"column {name!r} holds {' in one part and '.join(sorted(found))} in another: make it one type"
    )


def join_classes(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the classes of all parts, sorted, from those of each.

    >>> join_classes([np.array(["no"]), np.array(["maybe", "no"])])
    array(['maybe', 'no'], dtype='<U5')
    """
    return encode_classes(np.concatenate(parts))[0][0]


def take_rows(table: Table, rows: np.ndarray) -> Table:
    """Return some rows of a table, as raw columns.

    >>> take_rows(read_table([[1.0], [2.0], [3.0]]), np.array([0, 2])).body
    array([[1.],
           [3.]])
    """
    if isinstance(table.body, np.ndarray):
        return Table(table.names, table.named, len(rows), table.body[rows])
    columns: list[Raw] = []
    for raw in table.body:
        if isinstance(raw, Words):
            columns.append(Words(raw.codes[rows], raw.values, raw.dtype, raw.order))
        else:
            columns.append(RawNumbers(raw.values[rows], raw.dtype))
    return Table(table.names, table.named, len(rows), columns)
