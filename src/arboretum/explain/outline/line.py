"""What an outline is made of: a line for the best split of a column, the winner's first.

A worksheet looks at one node and writes sentences. An outline looks at all nodes of a tree together: sums by
leaf and value are made once, and those of a node are the sums of its children.

    rows ──► sums (leaves, values) ──► sums (nodes, values) ──► left of every cut ──► gains ──► the best

Its lines are those of the worksheet's table "Best split of every column"; a test holds them together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from arboretum.lazy import cached_property

__all__ = [
    "Coded",
    "Line",
    "SideBySide",
    "TreeOutline",
    "coded_columns",
    "first_best",
    "inner_sums",
    "on_grid",
    "up_the_tree",
]

GRID = 255  # bins of a column on a grid


@dataclass(frozen=True)
class Line:
    """A candidate in numbers.

    Attributes
    ----------
    feature : int
    cut : float
        NaN for a set of categories; +inf asks whether a value is present.
    inside : tuple of int
        The categories that go left.
    missing : int
        Where missing values go: 0 left, 1 right, -1 if there are none.
    numbers : tuple of float
        What the family's header names.
    gain : float
    verdict : str
    """

    feature: int
    cut: float
    inside: tuple[int, ...]
    missing: int
    numbers: tuple[float, ...]
    gain: float
    verdict: str


@dataclass
class TreeOutline:
    """The lines of every inner node of a tree, and numbers of every node that has some."""

    lines: dict[int, list[Line]] = field(default_factory=dict)
    facts: dict[int, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as the places of its values in order; missing ones come after the last.

    On a grid a place stands for the values from ``values`` to ``ends``.
    """

    values: np.ndarray
    code: np.ndarray  # int64
    ends: np.ndarray

    @property
    def width(self) -> int:
        """How many values there are."""
        return len(self.values)

    @cached_property
    def has_missing(self) -> bool:
        """Whether a row has no value."""
        return bool((self.code == self.width).any())

    @cached_property
    def order(self) -> np.ndarray:
        """The rows that have a value, from the lowest to the highest."""
        order = np.argsort(self.code, kind="stable")
        return order[: int((self.code < self.width).sum())]


def coded_columns(matrix: Any) -> list[Coded]:
    """Return every column of a matrix coded by its distinct values."""
    found = []
    for f in range(matrix.n_columns):
        x = np.asarray(matrix.column(f), np.float64)
        known = ~np.isnan(x)
        values, place = np.unique(x[known], return_inverse=True)
        code = np.full(len(x), len(values), np.int64)
        code[known] = place
        found.append(Coded(values, code, values))
    return found


class SideBySide:
    """Columns of numbers in one array of codes, kept for the trees of a model."""

    def __init__(self, columns: list[Coded]) -> None:
        self.columns = columns
        self.codes = lru_cache(maxsize=4)(self._codes)

    def _codes(self, some: tuple[int, ...]) -> tuple[np.ndarray, int]:
        """Return codes of some columns, (columns, rows), int32, and the one that misses."""
        picked = [self.columns[f] for f in some]
        width = max(one.width for one in picked)
        codes = np.empty((len(some), len(picked[0].code)), np.int32)
        for row, one in zip(codes, picked, strict=True):
            row[:] = one.code
            if one.width < width and one.has_missing:
                row[one.code == one.width] = width
        return codes, width


def on_grid(column: Coded, bins: int = GRID) -> Coded:
    """Return a column of many values in bins of about as many rows each.

    >>> x = np.arange(10.0)
    >>> some = on_grid(Coded(x, np.arange(10), x), 3)
    >>> some.values.tolist(), some.ends.tolist(), some.code.tolist()
    ([0.0, 3.0, 6.0], [2.0, 5.0, 9.0], [0, 0, 0, 1, 1, 1, 2, 2, 2, 2])
    """
    if column.width <= bins:
        return column
    rows = np.cumsum(np.bincount(column.code, minlength=column.width + 1)[:-1])
    wanted = rows[-1] * np.arange(1, bins) / bins
    last = np.unique(np.append(np.searchsorted(rows, np.floor(wanted)), column.width - 1))
    bin_of = np.append(np.searchsorted(last, np.arange(column.width)), len(last))
    first = np.append(0, last[:-1] + 1)
    return Coded(column.values[first], bin_of[column.code], column.ends[last])


def up_the_tree(tree: Any, of_leaves: np.ndarray) -> np.ndarray:
    """Return sums of every node, (nodes, …), from those of its leaves in their order."""
    sums = np.zeros((len(tree), *of_leaves.shape[1:]))
    sums[tree.leaves] = of_leaves
    for node in range(len(tree) - 1, 0, -1):  # children stand behind their parents
        sums[tree.parent[node]] += sums[node]
    return sums


def inner_sums(tree: Any, of_leaves: np.ndarray) -> np.ndarray:
    """Return sums of every inner node, (inner nodes, …), from those of its leaves in their order."""
    inner, leaf = np.cumsum(~tree.is_leaf) - 1, np.cumsum(tree.is_leaf) - 1
    sums = np.zeros((int(inner[-1]) + 1, *of_leaves.shape[1:]))
    for node in range(len(tree) - 1, 0, -1):  # children stand behind their parents
        of_node = of_leaves[leaf[node]] if tree.is_leaf[node] else sums[inner[node]]
        sums[inner[tree.parent[node]]] += of_node
    return sums


def first_best(group: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Return the places of the largest gain of every group, of equals the first; groups come in order.

    >>> first_best(np.array([0, 0, 0, 2, 2]), np.array([1.0, 3.0, 3.0, 2.0, 1.0])).tolist()
    [1, 3]
    """
    if not len(group):
        return np.empty(0, np.int64)
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    sizes = np.diff(np.append(starts, len(group)))
    top = np.repeat(np.maximum.reduceat(gain, starts), sizes)
    hits = np.flatnonzero(gain == top)
    return hits[np.unique(group[hits], return_index=True)[1]]
