"""How the columns of a table are kept for a search: presorted lists, or codes.

    list     numbers with many distinct values, when every node looks at every column
    codes    categories; numbers with few distinct values, or put into bins; and every column when a
             node looks only at some of them (a list must be partitioned even where it is not looked at)

A search over lists costs about 5 ns per row, column and level; over codes about 3 ns to count and
15 ns to sort, but only for the columns drawn.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.columns.codes import bin_codes, codes_from_list
from arboretum.engine.columns.lists import filter_columns
from arboretum.engine.columns.presort import MISSING, NEW, POSITION, sort_column
from arboretum.engine.compiler.decorators import writable
from arboretum.engine.split.random import Values

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Column

__all__ = ["FEW", "ColumnStore", "SortedColumns", "keep_rows", "sort_columns", "store_columns"]

FEW = 32  # at most this many distinct values are counted in nodes of any size rather than sorted,
_REPEATS = 16  # if each occurs this often on average


class SortedColumns(NamedTuple):
    """Columns of numbers as presorted lists."""

    lists: np.ndarray  # (columns, n) uint32; see presort.py
    present: np.ndarray  # (columns,) int64: how many entries have a value; they stand first


def sort_columns(
    column: Callable[[int], np.ndarray],
    shape: tuple[int, int],
    n_jobs: int,
    lists: np.ndarray | None = None,
) -> SortedColumns:
    """Sort (columns, rows) numbers, ``column(j)`` those of the j-th column, once for many trees.

    Where lists are only a way to codes (`store_columns`, `tree_table`), each is coded as
    soon as `sort_column` has made it, and a thread keeps one at a time; here all stay.

    >>> X = np.array([[3.0, 1.0], [np.nan, 2.0]])
    >>> sort_columns(lambda j: X[j], X.shape, 1).present.tolist()
    [2, 1]
    """
    width, n = shape
    lists = np.empty(shape, np.uint32) if lists is None else lists
    present = np.full(width, n, np.int64)

    def sort(j: int) -> None:
        sort_column(writable(column(j)), lists[j])
        if n and lists[j, -1] & MISSING:
            present[j] -= np.count_nonzero(lists[j] & MISSING)

    parallel.run(sort, range(width), parallel.threads_for(width * n, parallel.SORT, n_jobs))
    return SortedColumns(lists, present)


def keep_rows(lists: np.ndarray, place: np.ndarray, n_rows: int, n_jobs: int) -> SortedColumns:
    """Return the lists of the rows that have a place, which stands for them; NOWHERE: none."""
    width = len(lists)
    kept = SortedColumns(np.empty((width, n_rows), np.uint32), np.empty(width, np.int64))
    pieces = [np.arange(lo, hi) for lo, hi in parallel.blocks(width, 2 * n_jobs)]
    parallel.run(lambda columns: filter_columns(lists, columns, place, *kept), pieces, n_jobs)
    return kept


@dataclass(frozen=True)
class ColumnStore:
    """The columns of a training table, ready to be searched."""

    lists: np.ndarray  # (slots, n) uint32; see presort.py
    list_slots: np.ndarray  # (lists,) int64: row of ``lists``
    list_features: np.ndarray  # (lists,) int64, ascending
    codes: np.ndarray  # (coded, n) unsigned
    code_features: np.ndarray  # (coded,) int64, ascending
    n_codes: np.ndarray  # (coded,) int64; that code itself means missing
    categorical: np.ndarray  # (coded,) bool
    values: Values  # code -> value

    @property
    def n_features(self) -> int:
        return len(self.list_features) + len(self.code_features)

    def slot_of(self, feature: int) -> int:
        """Row of ``lists`` that holds a feature."""
        return int(self.list_slots[np.searchsorted(self.list_features, feature)])

    def code_of(self, features: np.ndarray) -> np.ndarray:
        """Rows of ``codes`` that hold these features."""
        return np.searchsorted(self.code_features, features)


def store_columns(
    matrix: Matrix,
    columns: Sequence[Column],
    rows: np.ndarray | None = None,
    *,
    all_codes: bool = False,
    max_bins: int | None = None,
    n_jobs: int = 1,
) -> ColumnStore:
    """Sort or code every column of the training rows once.

    Parameters
    ----------
    matrix : Matrix
    columns : sequence of Column
        Their kinds.
    rows : int array or None
        The rows to learn from; None for all.
    all_codes : bool
        Keep no lists: nodes will look at a few columns each.
    max_bins : int or None
        Put numbers into at most this many bins of about equal rows; None keeps every value apart.
    n_jobs : int
    """
    n = matrix.n_rows if rows is None else len(rows)
    numeric = [f for f, c in enumerate(columns) if c.kind != "categorical"]
    threads = parallel.threads_for(n * len(columns), parallel.SORT, n_jobs)
    only_codes = all_codes or max_bins is not None
    lists = np.empty((0 if only_codes else len(numeric), n), np.uint32)
    few: dict[int, tuple[_Table, np.ndarray]] = {}  # numeric features kept as codes

    scratch: SimpleQueue[np.ndarray] = SimpleQueue()  # one for each thread
    for _ in range(min(threads, len(numeric))):
        scratch.put(_returned(2 * n))

    def values_of(feature: int, out: np.ndarray | None = None) -> np.ndarray:
        values = matrix.column(feature, out)
        return writable(values) if rows is None else values[rows]

    def sort(slot: int) -> None:
        own_scratch = scratch.get()
        values = values_of(
            numeric[slot], own_scratch[:n].view(np.float64) if rows is None else None
        )
        entries = np.empty(n, np.uint32) if only_codes else lists[slot]
        distinct = sort_column(values, entries, own_scratch[n:])
        if only_codes or distinct <= min(FEW, n // _REPEATS):
            table = _value_table(entries, values, distinct, max_bins)
            codes: np.ndarray = np.empty(n, _smallest_dtype(len(table.low)))
            codes_from_list(entries, table.code_of_value, len(table.low), codes)
            few[numeric[slot]] = table, codes
        scratch.put(own_scratch)

    parallel.run(sort, range(len(numeric)), threads)
    coded = [f for f, c in enumerate(columns) if c.kind == "categorical" or f in few]
    n_codes = np.array(
        [len(few[f][0].low) if f in few else len(columns[f].categories or ()) for f in coded],
        dtype=np.int64,
    )
    all_of_them: np.ndarray = np.empty(
        (len(coded), n), _smallest_dtype(int(n_codes.max(initial=0)))
    )
    tables = [few[f][0] if f in few else None for f in coded]
    for j, feature in enumerate(coded):
        if feature in few:
            all_of_them[j] = few.pop(feature)[1]  # given back at once: memory holds one copy
        else:
            values = values_of(feature)
            all_of_them[j] = np.where(np.isnan(values), n_codes[j], values)
    kept = [slot for slot, feature in enumerate(numeric) if feature not in set(coded)]
    return ColumnStore(
        lists=lists if kept else np.empty((0, 0), np.uint32),
        list_slots=np.array(kept, dtype=np.int64),
        list_features=np.array([numeric[slot] for slot in kept], dtype=np.int64),
        codes=all_of_them,
        code_features=np.array(coded, dtype=np.int64),
        n_codes=n_codes,
        categorical=np.array([table is None for table in tables], dtype=np.bool_),
        values=_join_tables(tables),
    )


def _returned(n: int) -> np.ndarray:
    """Return n uint64 of scratch that goes back to the system at once when it is dropped.

    The allocator would keep it, in pieces that the nodes of a tree do not fit into.
    """
    if n < 1 << 16:
        return np.empty(n, np.uint64)
    return np.frombuffer(mmap.mmap(-1, 8 * n), np.uint64)


class _Table(NamedTuple):
    """How the distinct values of a column became codes."""

    code_of_value: np.ndarray  # int64, one per distinct value in order
    low: np.ndarray  # float64, smallest value of each code
    high: np.ndarray  # float64, largest value of each code


def _smallest_dtype(largest: int) -> type:
    if largest <= 255:
        return np.uint8
    return np.uint16 if largest <= 65535 else np.uint32


def _value_table(
    entries: np.ndarray, values: np.ndarray, distinct: int, max_bins: int | None
) -> _Table:
    """Give every distinct value of a sorted column its code."""
    first = (entries & NEW != 0) & (entries & MISSING == 0)
    seen = values[entries[first] & POSITION]
    code_of_value = np.arange(distinct, dtype=np.int64)
    if max_bins is None or distinct <= max_bins:
        return _Table(code_of_value, seen, seen)
    bins = bin_codes(entries, max_bins, code_of_value)
    edges = np.searchsorted(code_of_value, np.arange(bins + 1))
    return _Table(code_of_value, seen[edges[:-1]], seen[edges[1:] - 1])


def _join_tables(tables: Sequence[_Table | None]) -> Values:
    """Put the value tables one behind the other; a category has none."""
    empty = np.zeros(0)
    low = [empty if t is None else t.low for t in tables]
    high = [empty if t is None else t.high for t in tables]
    lengths = np.array([len(values) for values in low], dtype=np.int64)
    return Values(
        np.cumsum(lengths) - lengths, np.concatenate([*low, empty]), np.concatenate([*high, empty])
    )
