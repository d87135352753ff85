"""Held-out rows: which rows a trial learns from, and which it is measured by.

    random    every class in the proportions of the table      ▓░░░░  ░▓░░░  ░░▓░░  …      ▓ held out
    groups    the rows of a group stay together
    time      the rows that follow those learned from           ░░▓··  ░░░▓·  ░░░░▓         · not used
    given     another table, all rows are learned from          ░░░░░ ▓▓

A hash of a row's number (or of its group's) decides, so that folds depend on the seed alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arboretum.base.sampling import hashes
from arboretum.boosting.callbacks.watching import HeldOut
from arboretum.boosting.metric.evaluation_set import EvaluationSet
from arboretum.boosting.second_order.booster import Booster
from arboretum.boosting.second_order.recipe import LabelledTable, TrainingTable
from arboretum.data.matrix import Matrix
from arboretum.engine.keys import key_of
from arboretum.errors import DataError

__all__ = ["Fold", "folds_by_group", "folds_by_time", "given_fold", "random_folds", "rows_folds"]

_FOLDS = 0xF01D


@dataclass(frozen=True, eq=False)
class Fold:
    """The rows of one trial.

    Attributes
    ----------
    rows : uint32 array or None
        Rows to learn from, in order; None: all.
    held : int64 array or None
        Held-out rows of the training table; None: they are another table.
    matrix : Matrix
        The columns of the held-out rows.
    truth : EvaluationSet
        Their labels and weights.
    """

    rows: np.ndarray | None
    held: np.ndarray | None
    matrix: Matrix
    truth: EvaluationSet

    def scorer(self, base: np.ndarray) -> Callable[[Booster], np.ndarray]:
        """Return a function from a booster to its margins of the held-out rows."""
        held = self.held
        if held is not None:  # boosters keep the margins of all rows of their table
            return lambda booster: booster.margin[held]
        start = np.tile(base, (self.matrix.n_rows, 1))
        return HeldOut("", self.matrix, self.truth, start).margins


def rows_folds(table: TrainingTable, fold_of_row: np.ndarray, used: int) -> list[Fold]:
    """Return the first folds; ``fold_of_row`` is the number of the fold that holds a row out."""
    each = []
    for k in range(used):
        held = fold_of_row == k
        each.append(_fold(table, np.flatnonzero(~held), np.flatnonzero(held)))
    return each


def _fold(table: TrainingTable, rows: np.ndarray, held: np.ndarray) -> Fold:
    weight = None if table.weight is None else table.weight[held]
    truth = EvaluationSet(table.y[held], weight)
    return Fold(rows.astype(np.uint32), held, table.matrix.take(held), truth)


def given_fold(table: LabelledTable) -> Fold:
    """Return the fold whose held-out rows are another table."""
    return Fold(None, None, table.matrix, EvaluationSet(table.y, table.weight))


# ---------------------------------------------------------------------- ways to share out rows
def random_folds(y: np.ndarray, n_folds: int, seed: int, *, by_class: bool) -> np.ndarray:
    """Return the fold of every row; the rows of a class, or all rows, are shared out evenly.

    >>> folds = random_folds(np.array([0, 1, 0, 1, 0, 0]), 2, seed=0, by_class=True)
    >>> sorted(folds[[1, 3]].tolist()), sorted(folds[[0, 2, 4, 5]].tolist())
    ([0, 1], [0, 0, 1, 1])
    """
    keys = hashes(key_of(seed, _FOLDS), len(y))
    order = np.lexsort((keys, y)) if by_class else np.argsort(keys, kind="stable")
    fold = np.empty(len(y), np.int64)
    fold[order] = np.arange(len(y)) % n_folds
    return fold


def folds_by_group(groups: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of every row; the rows of a group have the same.

    >>> folds_by_group(np.array(["a", "b", "a", "b"]), 2, seed=0).tolist()
    [1, 0, 1, 0]
    """
    names, code = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        raise DataError(
            "groups must hold at least two groups: one is held out while the others are learned from"
        )
    n_folds = min(n_folds, len(names))
    size = np.bincount(code)
    order = np.lexsort((hashes(key_of(seed, _FOLDS), len(names)), -size))  # large ones first
    fold, rows = np.empty(len(names), np.int64), np.zeros(n_folds, np.int64)
    for group in order.tolist():
        fold[group] = rows.argmin()
        rows[fold[group]] += size[group]
    return fold[code]


def folds_by_time(table: TrainingTable, n_folds: int, used: int) -> list[Fold]:
    """Return folds that hold out the rows after those learned from; rows are in order of time.

    The last block of rows is held out first: it is nearest to the rows that come.
    """
    n = len(table.y)
    n_blocks = min(n_folds + 1, n)
    starts = np.arange(n_blocks + 1) * n // n_blocks
    blocks = range(n_blocks - 1, max(n_blocks - 1 - used, 0), -1)
    return [_fold(table, np.arange(starts[b]), np.arange(starts[b], starts[b + 1])) for b in blocks]
