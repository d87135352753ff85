"""Columns of few values as codes, which trees of limited depth count (engine/presorted/counted.py).

a column of few values     codes in the order of the values
numbers in bins            codes of bins, which stand for the values while a tree is grown
columns of few             one line more: the numbers of the combinations they take, and of each
combinations               what it says of every column
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.columns.presort import MISSING, NEW, ranks_of
from arboretum.engine.kinds import THRESHOLD
from arboretum.engine.presorted.row_layout import RANKS, ROWS_PER_CELL
from arboretum.grow.apply_split import midpoint

if TYPE_CHECKING:
    from arboretum.engine.presorted.grow import Nodes
    from arboretum.grow.columns import ColumnStore

__all__ = ["BinnedColumns", "code_columns"]

_NEW_VALUE = NEW | MISSING
_FEW_ROWS = 2_000  # numbers of fewer are walked, whatever they are
_COMBINATIONS, _PRODUCT = 256, 4_096  # the most that are counted together, met or thinkable
_ROWS_PER_COMBINATION = 16


@dataclass(frozen=True, eq=False)
class BinnedColumns:
    """Numbers in bins: trees are grown on the codes of bins, as on ranks."""

    store: ColumnStore
    kinds: np.ndarray  # uint8, of the columns

    def column(self, f: int) -> np.ndarray:
        """Return the codes of a column, NaN where its value is missing."""
        line = int(np.searchsorted(self.store.code_features, f))
        codes = self.store.codes[line].astype(np.float64)
        codes[self.store.codes[line] == self.store.n_codes[line]] = np.nan
        return codes

    def are_counted(self, n: int, depth: int | None) -> bool:
        """Tell whether so many rows are counted in all nodes, whatever the level."""
        level = 1 + 2 ** ((depth or 1) - 1)
        most = int(self.store.n_codes.max(initial=0)) + 1
        return level * most * ROWS_PER_CELL <= n

    def codes(self) -> dict[str, np.ndarray]:
        """Return what `code_columns` would return."""
        store = self.store
        lines = np.arange(len(store.codes))
        value_of = np.tile(
            np.arange(store.n_codes.max(initial=0), dtype=np.float64), (len(lines), 1)
        )
        columns = [codes.astype(np.uint16) for codes in store.codes]
        joined = _join_columns(columns, lines, store.n_codes)
        return {"coded": lines, "n_values": store.n_codes, "value_of": value_of, **joined}

    def to_values(self, nodes: Nodes, size: int) -> None:
        """Turn the thresholds of nodes, codes of bins, into values as CART's are."""
        code, feature = nodes.threshold[:size], nodes.feature[:size]
        numbers = np.flatnonzero((nodes.kind[:size] == THRESHOLD) & np.isfinite(code))
        f, values = feature[numbers], self.store.values
        first = values.start[self.store.code_of(f)]
        low = values.high[first + code[numbers].astype(np.int64)]
        high = values.low[first + nodes.upper[numbers].astype(np.int64)]
        code[numbers] = np.where(self.kinds[f] == RANKS, low, midpoint(low, high))


def code_columns(
    values: np.ndarray, lists: np.ndarray, n_categories: list[int], few_rows: int = _FEW_ROWS
) -> dict[str, np.ndarray]:
    """Return the codes of the columns that have few values; see engine/presorted/counted.py.

    ``n_categories``: of every column, 0 of numbers; numbers of fewer than ``few_rows`` have no codes.
    """
    width, n = lists.shape
    n_values = np.zeros(width, np.int64)
    coded = np.full(width, -1)
    columns: list[np.ndarray] = []
    meanings: list[np.ndarray] = []
    for f in range(width):
        if not n_categories[f] and n < few_rows:
            continue
        size = n_values[f] = n_categories[f] or np.count_nonzero((lists[f] & _NEW_VALUE) == NEW)
        if size > min(n // ROWS_PER_CELL, 65535) - 1:
            continue
        codes = np.empty(n, np.uint32)
        if n_categories[f]:
            gaps = np.isnan(values[f])
            codes[:] = np.where(gaps, size, values[f]) if gaps.any() else values[f]
            meaning = np.zeros(0)
        else:
            ranks_of(lists[f], size, codes)
            meaning = np.empty(size)
            meaning[codes[codes < size]] = values[f][codes < size]
        coded[f] = len(columns)
        columns.append(codes.astype(np.uint16))
        meanings.append(meaning)
    value_of = np.zeros((len(columns), max(map(len, meanings), default=0)))
    for line, meaning in zip(value_of, meanings, strict=True):
        line[: len(meaning)] = meaning
    return {
        "coded": coded,
        "n_values": n_values,
        "value_of": value_of,
        **_join_columns(columns, np.flatnonzero(coded >= 0), n_values),
    }


def _join_columns(
    columns: list[np.ndarray], names: np.ndarray, n_values: np.ndarray
) -> dict[str, np.ndarray]:
    """Return lines of codes: the columns, and groups of those that take few combinations of values.

    ``names`` are the numbers of the columns in the table. Groups are made from the columns of the fewest
    values on, each taking the next one as long as its combinations are few.
    """
    n = len(columns[0]) if columns else 0
    most = min(_COMBINATIONS, n // _ROWS_PER_COMBINATION)
    sizes = [int(n_values[f]) + 1 for f in names]
    lines, members = list(columns), [[line] for line in range(len(columns))]
    group: list[int] = []
    meant: list[np.ndarray] = []  # what the codes of the group say of its columns
    codes, size, groups = np.zeros(0, np.uint16), 0, []
    for line in sorted(range(len(columns)), key=sizes.__getitem__):
        joined = _join(codes, size, columns[line], sizes[line], most) if group else None
        if joined is None:
            groups.append((group, codes, meant, size))
            group, codes, size = [line], columns[line], sizes[line]
            meant = [np.arange(size)]
        else:
            codes, earlier, own = joined
            group, size = [*group, line], len(own)
            meant = [*(one[earlier] for one in meant), own]
    groups = [one for one in (*groups, (group, codes, meant, size)) if len(one[0]) > 1]
    joint = np.full(len(n_values), -1)
    part_code = np.zeros((len(columns), max((size for *_, size in groups), default=0)), np.uint16)
    for group, codes, meant, size in groups:
        joint[names[group]] = len(lines)
        lines.append(codes)
        members.append(group)
        sizes.append(size)
        for line, own in zip(group, meant, strict=True):
            part_code[line, :size] = own
    return {
        "codes": np.array(lines, np.uint16).reshape(len(lines), n),
        "line_size": np.array(sizes, np.int64),
        "joint": joint,
        "members": np.array([names[line] for group in members for line in group], np.int64),
        "first_member": np.cumsum([0, *map(len, members)]),
        "part_code": part_code,
    }


def _join(
    codes: np.ndarray, size: int, others: np.ndarray, n_others: int, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return the combinations of two lines of codes, and what either says in each; None if they are many.

    >>> _join(np.array([0, 1, 1], np.uint16), 2, np.array([2, 0, 2], np.uint16), 3, 8)
    (array([0, 1, 2], dtype=uint16), array([0, 1, 1]), array([2, 0, 2]))
    """
    if size * n_others > _PRODUCT:
        return None
    both = codes * np.uint16(n_others) + others
    met = np.bincount(both, minlength=size * n_others) > 0
    found = np.flatnonzero(met)
    if len(found) > most:
        return None
    number = (np.cumsum(met) - 1).astype(np.uint16)
    return number[both], *np.divmod(found, n_others)
