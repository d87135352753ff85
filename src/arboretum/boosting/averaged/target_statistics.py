"""Ordered target statistics: words of many levels as numbers, by the targets of the rows before.

    order   city   target   rows of this city before     statistic, prior 0.5 of weight 1
      1     Bern     1      none                          (0 + 0.5) / 1 = 0.5
      2     Bern     0      1                             (1 + 0.5) / 2 = 0.75
      3     Oslo     0      none                          (0 + 0.5) / 1 = 0.5
      4     Bern     1      1 0                           (1 + 0.5) / 3 = 0.5
      –     Bern            all: 1 0 1                    (2 + 0.5) / 4 = 0.625       every other row

A row never sees its own target; `textbook/target_statistics.py` shows what happens otherwise. Rows that are
held out see all rows that are learned from: their number is a function of the level. Missing values have the
prior: a level that was not seen takes their way in a tree, and what is known of it is the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.sampling import hashes
from arboretum.engine.keys import key_of

if TYPE_CHECKING:
    from arboretum.boosting.second_order.recipe import TrainingTable
    from arboretum.data.schema import Schema

__all__ = ["TargetStatistic", "columns_of_many_levels", "find_statistics"]

_FEW, _MANY = 8, 16  # levels
_PRIOR = 1.0  # rows that the mean of all targets counts as
_MOST_CLASSES = 10  # that have a statistic each, the largest
_ORDER = 0x0D3


@dataclass(frozen=True, eq=False)
class TargetStatistic:
    """A number in place of a word.

    Attributes
    ----------
    column : int
        The column of words.
    by_level : float64 array of shape (categories + 1,)
        The number of each level, for rows that are not learned from; last, of missing values. Rounded as
        those of rows are.
    of_rows : float32 array of shape (rows,)
        The number of every row of the training table.
    """

    column: int
    by_level: np.ndarray
    of_rows: np.ndarray


def columns_of_many_levels(schema: Schema) -> list[int]:
    """Return the columns that statistics stand for: of more than 8 levels, if one has more than 16."""
    levels = [len(c.categories or ()) if c.kind == "categorical" else 0 for c in schema.columns]
    if max(levels) <= _MANY:
        return []
    return [f for f, count in enumerate(levels) if count > _FEW]


def find_statistics(
    training: TrainingTable, columns: Sequence[int], rows: np.ndarray | None, seed: int
) -> list[TargetStatistic]:
    """Return the statistics of some columns, learned from some rows (None: all).

    There is one for every column, or, with several classes, one for every column and class.
    """
    n = len(training.y)
    learned = np.arange(n) if rows is None else rows.astype(np.int64)
    weight = np.ones(n) if training.weight is None else training.weight
    classes = _classes(training, learned)
    found = []
    for f in columns:
        level, n_levels = _levels(training, f)
        key = key_of(seed, _ORDER, f)
        order = learned[np.lexsort((hashes(key, len(learned)), level[learned]))]
        order = order[level[order] < n_levels - 1]  # not missing values
        first = _first_of_level(level[order])
        weights = np.bincount(level[order], weight[order], n_levels)
        weights_before = _sums_before(weight[order], first)
        for one in classes:
            own = (training.y if one is None else training.y == one) * weight
            share = _PRIOR * _total(own[learned]) / _total(weight[learned])
            totals = np.bincount(level[order], own[order], n_levels)
            by_level = ((totals + share) / (weights + _PRIOR)).astype(np.float32)
            of_rows = by_level[level]
            of_rows[order] = (_sums_before(own[order], first) + share) / (weights_before + _PRIOR)
            found.append(TargetStatistic(f, by_level.astype(np.float64), of_rows))
    return found


def _classes(training: TrainingTable, learned: np.ndarray) -> list[Any]:
    """Return the classes whose shares are statistics; None: the mean of the target is one."""
    if training.n_classes is None:
        return [None]
    if training.n_classes == 2:
        return [1]
    counts = np.bincount(training.y[learned].astype(np.int64))
    return np.argsort(-counts, kind="stable")[:_MOST_CLASSES].tolist()


def _levels(training: TrainingTable, f: int) -> tuple[np.ndarray, int]:
    """Return the level of every row, the last for missing values, and the number of levels."""
    n = len(training.schema.columns[f].categories or ())
    code = training.matrix.column(f)
    return np.where(np.isnan(code), n, code).astype(np.int64), n + 1


def _total(values: np.ndarray) -> float:
    """Return a sum, added in the order of the rows on every machine."""
    return float(np.cumsum(values)[-1])


def _first_of_level(level: np.ndarray) -> np.ndarray:
    """Return for every row the first of its level; rows of a level stand side by side.

    >>> _first_of_level(np.array([4, 4, 7, 7, 7])).tolist()
    [0, 0, 2, 2, 2]
    """
    begins = np.append(True, level[1:] != level[:-1])[: len(level)]
    return np.flatnonzero(begins)[np.cumsum(begins) - 1]


def _sums_before(values: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the sum of the values of a level that stand before each.

    >>> _sums_before(np.array([1.0, 0.0, 5.0, 1.0, 1.0]), np.array([0, 0, 2, 2, 2])).tolist()
    [0.0, 1.0, 0.0, 5.0, 6.0]
    """
    before = np.cumsum(values) - values
    return before - before[first]
