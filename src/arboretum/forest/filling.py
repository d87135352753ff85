"""Missing values filled from similar rows, as in Breiman's forests: the steps.

    first_guess         the median, or the most frequent category, of the rows of the same class
    Donors.refill       numbers: the mean of the donors' values, weighted by shared leaves
                        categories: the one whose donors share most leaves
    refill_until_stable refill, find the rows' new leaves, refill, … until the guesses settle
    fill_rows           new rows, with a forest that is fitted already
    predict_per_class   rows of unknown class: fill a copy for every class; the class whose copy gets
                        most votes for itself wins

Only observed values are passed on, so no row learns from itself and no guess from a guess. All
tables here are encoded: numbers, codes of categories, NaN for missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.matrix import DenseMatrix
from arboretum.data.refill import missing_cells, put_back
from arboretum.data.table import read_table
from arboretum.errors import DataError, ParameterError
from arboretum.forest.proximity import group_leaves
from arboretum.lazy import cached_property
from arboretum.predict.sum import leaves_in

if TYPE_CHECKING:
    from arboretum.data.schema import Schema
    from arboretum.data.table import Table
    from arboretum.engine.predict.proximity import ProximityGroups
    from arboretum.forest.estimator import ForestClassifier
    from arboretum.structure.tree import Tree

__all__ = [
    "Copies",
    "Donors",
    "FillingRound",
    "Stop",
    "fill_rows",
    "first_guess",
    "numeric_columns",
    "predict_copies",
    "predict_per_class",
    "refill_until_stable",
]

_BLOCK = 64  # rows guessed by one thread at a time


@dataclass(frozen=True)
class FillingRound:
    """One round of guessing: how far the guesses moved.

    Attributes
    ----------
    number : int
        1, 2, …
    changed : int
        Categories that changed.
    moved : float
        The farthest a number moved, in standard deviations of its column.
    fallbacks : int
        Cells for which no similar row had a value; they keep the first guess.
    """

    number: int
    changed: int
    moved: float
    fallbacks: int


@dataclass(frozen=True)
class Stop:
    """When guessing ends: nothing moves by more than `tol`, or after `max_iter` rounds."""

    tol: float = 1e-3
    max_iter: int = 10


def numeric_columns(schema: Schema) -> np.ndarray:
    """Return which columns get means; the others get one of their values."""
    return np.array([column.kind == "numeric" for column in schema.columns])


# ---------------------------------------------------------------------- once
def first_guess(
    X: np.ndarray,
    numeric: np.ndarray,
    donors: np.ndarray,
    classes: np.ndarray | None = None,
    center: str = "median",
) -> np.ndarray:
    """Return X filled with medians (or means) of numbers, and most frequent values, of the donors.

    With ``classes`` the donors are X itself, class by class; where no row of the class has
    a value, and without ``classes``, all of them together.

    >>> weight = np.array([[125.0], [180.0], [210.0], [np.nan]])
    >>> first_guess(weight, np.array([True]), weight, np.array([0, 1, 0, 0]))[3]
    array([167.5])
    """
    filled = np.array(X, dtype=np.float64)
    for f in np.flatnonzero(np.isnan(X).any(axis=0)):
        missing = np.isnan(X[:, f])
        filled[missing, f] = _typical(donors[:, f], numeric[f], center)
        for label in np.unique(classes[missing]) if classes is not None else ():
            inside = classes == label
            guess = _typical(donors[inside, f], numeric[f], center)
            if guess == guess:
                filled[missing & inside, f] = guess
    return filled


def _typical(x: np.ndarray, numeric: bool, center: str) -> float:
    x = x[~np.isnan(x)]
    if not len(x):
        return np.nan
    if numeric:
        return float(np.median(x) if center == "median" else np.mean(x))
    values, counts = np.unique(x, return_counts=True)
    return float(values[counts.argmax()])


@dataclass(frozen=True, eq=False)
class Donors:
    """Rows that give their values.

    Attributes
    ----------
    rows : float64 array of shape (n, n_columns)
        NaN for missing values.
    numeric : bool array of shape (n_columns,)
    """

    rows: np.ndarray
    numeric: np.ndarray

    @cached_property
    def _coded(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """The columns, those that are not numeric as codes; the numbers of codes; their values."""
        columns = np.array(self.rows.T, order="C")
        levels = [np.empty(0)] * len(columns)
        for f in np.flatnonzero(~self.numeric):
            there = ~np.isnan(columns[f])
            levels[f], columns[f, there] = np.unique(columns[f, there], return_inverse=True)
        return columns, np.array([len(values) for values in levels], np.int64), levels

    @cached_property
    def spread(self) -> np.ndarray:
        """Standard deviation of every column; 1 for constant columns."""
        spread = np.ones(len(self.numeric))
        for f in range(len(spread)):
            x = self.rows[:, f]
            x = x[~np.isnan(x)]
            spread[f] = (np.std(x) if len(x) else 0.0) or 1.0
        return spread

    def refill(
        self,
        X: np.ndarray,
        first: np.ndarray,
        leaves: np.ndarray,
        groups: ProximityGroups,
        n_jobs: int = 1,
    ) -> tuple[np.ndarray, int]:
        """Guess every missing value of X; return the filled rows and the number of cells without a donor.

        ``leaves`` is (rows of X, trees), ``groups`` the donors by leaf, ``first`` X with the first
        guesses, which stay where no donor with a value is near.
        """
        from arboretum.engine import parallel
        from arboretum.engine.predict.proximity import guess_values

        columns, n_codes, levels = self._coded
        row, column = map(np.ascontiguousarray, np.nonzero(np.isnan(X)))
        start = np.searchsorted(row, np.arange(len(X) + 1))
        guess, near = np.zeros(len(row)), np.zeros(len(row), np.int64)
        leaves = np.ascontiguousarray(leaves, dtype=np.int32)

        def work(block: tuple[int, int]) -> None:
            lo, hi = block
            guess_values(
                leaves[lo:hi], groups, columns, n_codes, start[lo : hi + 1], column, guess, near
            )

        parallel.run(work, parallel.blocks(len(X), 1 + len(X) // _BLOCK), n_jobs)
        for f in np.unique(column[~self.numeric[column]]):
            here = (column == f) & (near > 0)
            guess[here] = levels[f][guess[here].astype(np.int64)]
        filled = np.array(X)
        filled[row, column] = np.where(near > 0, guess, first[row, column])
        return filled, int(np.count_nonzero(near == 0))


# ---------------------------------------------------------------------- until the guesses settle
Standing = Callable[[np.ndarray], tuple[np.ndarray, "ProximityGroups"]]


def refill_until_stable(
    X: np.ndarray,
    donors: Donors,
    first: np.ndarray,
    standing: Standing,
    stop: Stop,
    n_jobs: int,
    report: Callable[[FillingRound], None] | None = None,
) -> tuple[np.ndarray, list[FillingRound], bool]:
    """Guess until no category changes and no number moves more than ``tol`` standard deviations.

    ``standing`` returns the leaves of filled rows, and the donors by leaf; ``report`` is called after
    every round. Returns the filled rows, the rounds, and whether the guesses settled.
    """
    rounds: list[FillingRound] = []
    filled = first
    while len(rounds) < stop.max_iter:
        before = filled
        filled, fallbacks = donors.refill(X, first, *standing(before), n_jobs)
        moves = np.abs(filled - before)
        changed = int(np.count_nonzero(moves[:, ~donors.numeric]))
        moved = float((moves / donors.spread)[:, donors.numeric].max(initial=0.0))
        rounds.append(FillingRound(len(rounds) + 1, changed, moved, fallbacks))
        if report is not None:
            report(rounds[-1])
        if changed == 0 and moved <= stop.tol:
            return filled, rounds, True
    return filled, rounds, False


def fill_rows(
    X: np.ndarray,
    donors: Donors,
    leaves: np.ndarray,
    trees: Sequence[Tree],
    stop: Stop,
    n_jobs: int,
    label: np.ndarray | None = None,
    center: str = "median",
) -> tuple[np.ndarray, list[FillingRound], bool]:
    """Fill new rows with trees that stay as they are.

    ``leaves`` are those of the donors, (donors, trees). With ``label``, a mask of donors, only these
    give their values: the rows are filled as if they had that class.
    """
    givers = donors
    if label is not None:
        givers = Donors(donors.rows[label], donors.numeric)
        leaves = leaves[label]
    groups = group_leaves(leaves)
    first = first_guess(X, donors.numeric, givers.rows, center=center)
    if np.isnan(first).any():  # no row of the class has a value
        first = first_guess(first, donors.numeric, donors.rows, center=center)

    def standing(filled: np.ndarray) -> tuple[np.ndarray, ProximityGroups]:
        return leaves_in(trees, DenseMatrix(filled), n_jobs), groups

    return refill_until_stable(X, givers, first, standing, stop, n_jobs)


# ---------------------------------------------------------------------- a copy per class
def predict_per_class(
    forest: ForestClassifier, X: Any, *, tol: float = 1e-3, max_iter: int = 10
) -> np.ndarray:
    """Return the classes of rows with missing values by Breiman's copies.

    Every row is copied once per class and filled as if it had that class: only training rows of the
    class give their values. All trees vote on every copy; the class whose copy gets most votes for
    itself wins, the first of equals. A row without missing values gets the majority vote.

    Parameters
    ----------
    forest : RandomForestClassifier or ExtraTreesClassifier
        Of one output, fitted with ``keep_leaves=True``.
    X : table
    tol, max_iter
        Filling a copy ends when nothing moves more than ``tol`` standard deviations, or after
        ``max_iter`` rounds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, keep_leaves=True, random_state=0).fit(X, y)
    >>> predict_per_class(forest, [[5.0, np.nan, 1.4, np.nan], [np.nan, 3.0, 5.8, 2.2]])
    array([0, 2])
    """
    return predict_copies(forest, X, tol=tol, max_iter=max_iter).prediction


@dataclass(frozen=True, eq=False)
class Copies:
    """Rows copied once per class, and how the trees voted on every copy.

    Attributes
    ----------
    prediction : array of shape (n,)
        The class whose copy got most votes for itself.
    classes : array of shape (K,)
        The classes; copy c of a row was filled as if it were of class c.
    votes : int array of shape (n, K, K)
        Votes of the trees: [row, copy, class].
    filled : list of K tables
        The copies, in the form of the table that was passed.
    """

    prediction: np.ndarray
    classes: np.ndarray
    votes: np.ndarray
    filled: list[Any]

    @property
    def own_votes(self) -> np.ndarray:
        """Return the votes that every copy got for its own class, (n, K)."""
        return np.diagonal(self.votes, axis1=1, axis2=2)


def predict_copies(
    forest: ForestClassifier, X: Any, *, tol: float = 1e-3, max_iter: int = 10
) -> Copies:
    """Return the copies of rows with missing values, the votes on each, and the prediction.

    As `predict_per_class`, with the figures behind it.
    """
    if not isinstance(getattr(forest, "classes_", None), np.ndarray):
        raise ParameterError(
            "copies per class are made by classifiers of one output: leave missing='per_class' out"
        )
    table = read_table(X)
    new = forest._encode(table)
    rows, n_jobs = np.array(new.rows(0, new.n_rows)), forest._threads()
    plain = np.rint(forest._votes(DenseMatrix(rows))[:, 0]).astype(np.int64)
    K = len(forest.classes_)
    votes = np.repeat(
        plain[:, np.newaxis], K, axis=1
    )  # a row without missing values is its own copy
    gaps = np.flatnonzero(np.isnan(rows).any(axis=1))
    filled = []
    if len(gaps):
        donors, leaves, classes = _training_rows(forest)
    for c in range(K):
        copy = rows.copy()
        if len(gaps):
            copy[gaps], _, _ = fill_rows(
                rows[gaps], donors, leaves, forest.trees_, Stop(tol, max_iter), n_jobs, classes == c
            )
            votes[gaps, c] = np.rint(forest._votes(DenseMatrix(copy[gaps]))[:, 0])
        filled.append(_as_passed(forest.schema_, X, table, copy))
    own = np.diagonal(votes, axis1=1, axis2=2)
    return Copies(forest.classes_[own.argmax(axis=1)], forest.classes_, votes, filled)


def _as_passed(schema: Schema, X: Any, table: Table, rows: np.ndarray) -> Any:
    """Return filled rows as a table of the kind that was passed."""
    places = list(range(len(table.names)))
    if schema.named and table.named:
        places = [table.names.index(name) for name in schema.names]
    return put_back(X, table, schema, places, missing_cells(table)[:, places], rows)


def _training_rows(forest: ForestClassifier) -> tuple[Donors, np.ndarray, np.ndarray]:
    """Return the training rows of a forest as donors, their leaves and their class codes."""
    training = forest._training_rows
    if training is None:
        raise DataError(
            "filling rows needs the training rows, and this forest has not kept them: fit it with "
            "keep_leaves=True"
        )
    rows = training.rows.rows(0, training.rows.n_rows)
    empty = np.flatnonzero(np.isnan(rows).all(axis=0))
    if len(empty):
        raise DataError(
            f"column {forest.schema_.names[empty[0]]!r} had no value in any training row, so there "
            "is none to fill in: leave the column out"
        )
    donors = Donors(rows, numeric_columns(forest.schema_))
    return donors, training.leaves, training.y[:, 0]
