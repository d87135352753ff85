"""An outline: a line for the best split of a column at every inner node, the winner's first.

A worksheet looks at one node and writes sentences; an outline keeps the numbers of its table "Best split of
every column" for all nodes of a tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Coded", "Line", "TreeOutline", "coded_columns", "on_grid"]

GRID = 255  # bins of a column on a grid


@dataclass(frozen=True)
class Line:
    """A candidate in numbers.

    Attributes
    ----------
    feature : int
    cut : float
        NaN for a set of categories; +inf tests whether a value is present, or missing if those go left.
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


def on_grid(column: Coded, bins: int = GRID) -> Coded:
    """Return a column of many values in bins of about equal numbers of rows.

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
