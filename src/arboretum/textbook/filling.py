"""Missing values guessed from the rows nearby, as Breiman's forests did it.

    first_guess       step 1: the median, or the most frequent code, of the rows with the same class
    fill_missing      step 5: until the guesses settle
      grow_forest       step 2: on the rows as they are filled now
      proximity_of_leaves  step 3: which rows are near each other (proximities.py)
      refill            step 4: numbers: the mean of the others' values, weighted by their proximity;
                        codes: the one with the largest sum of proximities
    fill_rows         new rows: the same, with a forest that is there already
    predict_copies    a new row of unknown class: fill a copy for every class, and see which copy
                      gets most votes for the class it was filled for

Only observed values are ever taken, so a row never learns from itself nor a guess from a guess.
Codes are those of categorical and ordinal columns: a guess is always a value that exists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.forest import (
    RANDOM_FOREST,
    ForestRules,
    TextbookForest,
    forest_leaves,
    grow_forest,
    tree_answers,
    tree_votes,
)
from arboretum.textbook.impurities import CLASS_CRITERIA, weighted_mean
from arboretum.textbook.proximities import mode, proximity_of_leaves
from arboretum.textbook.splits import DEFAULT, Rules

__all__ = [
    "Copy",
    "Filling",
    "FillingStep",
    "Guess",
    "fill_missing",
    "fill_rows",
    "first_guess",
    "guess_category",
    "guess_number",
    "predict_copies",
    "refill",
]


# ---------------------------------------------------------------------- one value
@dataclass(frozen=True, eq=False)
class Guess:
    """A guess for one missing value, and the rows behind it."""

    value: float
    weights: np.ndarray  # of every row, 1 in all; 0 for rows that miss the value too
    fell_back: bool  # no row with a value is near: the fallback instead
    shares: dict[float, float] = field(default_factory=dict)  # code -> sum of its rows' weights


def guess_number(values: ArrayLike, proximities: ArrayLike, fallback: float | None = None) -> Guess:
    """Return the mean of the values, weighted by proximity to the row that misses one.

    Parameters
    ----------
    values : array of shape (n,)
        The column, NaN where missing (so also in the row to be filled).
    proximities : array of shape (n,)
        Proximity of every row to the one to be filled.
    fallback : float, optional
        The guess if all proximities are zero; the median of the values by default.

    Examples
    --------
    >>> guess = guess_number([125, 180, 210, np.nan], [0.1, 0.1, 0.8, 1.0])
    >>> round(guess.value, 9), guess.weights.round(9).tolist()
    (198.5, [0.1, 0.1, 0.8, 0.0])
    """
    x, weights = _donors(values, proximities)
    if not weights.any():
        middle = float(np.median(x[~np.isnan(x)])) if fallback is None else fallback
        return Guess(middle, weights, True)
    gives = weights > 0
    return Guess(weighted_mean(x[gives], weights[gives]), weights, False)


def guess_category(
    values: ArrayLike, proximities: ArrayLike, fallback: float | None = None
) -> Guess:
    """Return the code whose rows have the largest sum of proximities, ties to the smallest.

    Parameters as for ``guess_number``; the fallback is the most frequent code by default.

    >>> guess = guess_category([0, 1, 0, np.nan], [0.1, 0.1, 0.8, 1.0])
    >>> guess.value, {code: round(share, 9) for code, share in guess.shares.items()}
    (0.0, {0.0: 0.9, 1.0: 0.1})
    """
    x, weights = _donors(values, proximities)
    codes = np.unique(x[~np.isnan(x)]).tolist()
    shares = {code: float(weights[x == code].sum()) for code in codes}
    if not weights.any():
        return Guess(mode(x[~np.isnan(x)]) if fallback is None else fallback, weights, True, shares)
    best = max(codes, key=lambda code: round(shares[code], 12))  # the first of equals
    return Guess(best, weights, False, shares)


def _donors(values: ArrayLike, proximities: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    x, near = np.asarray(values, dtype=np.float64), np.asarray(proximities, dtype=np.float64)
    if x.shape != near.shape or np.isnan(x).all():
        raise ValueError("a guess needs one proximity per value, and one value that is not missing")
    near = np.where(np.isnan(x), 0.0, near)
    return x, near / near.sum() if near.any() else near


# ---------------------------------------------------------------------- all of them, once
def first_guess(
    X: ArrayLike,
    y: ArrayLike | None = None,
    kinds: tuple[str, ...] | None = None,
    center: str = "median",
) -> np.ndarray:
    """Fill every column with its median (or mean) or most frequent code, class by class.

    Without ``y``, or where no row of the class has a value, all rows together answer.

    >>> weight = [[125.0], [180.0], [210.0], [np.nan]]
    >>> first_guess(weight, [0, 1, 0, 0])[3].tolist(), first_guess(weight)[3].tolist()
    ([167.5], [180.0])
    >>> first_guess(weight, center="mean")[3].round(2).tolist()
    [171.67]
    """
    X = np.asarray(X, dtype=np.float64)
    kinds = kinds or ("numeric",) * X.shape[1]
    overall, filled = _overall(X, kinds, center), X.copy()
    labels = np.zeros(len(X)) if y is None else np.asarray(y)
    for label in np.unique(labels):
        inside = labels == label
        guess = _typical(X[inside], kinds, center)
        guess = np.where(np.isnan(guess), overall, guess)
        filled[inside] = np.where(np.isnan(X[inside]), guess, X[inside])
    return filled


def _overall(X: np.ndarray, kinds: tuple[str, ...], center: str = "median") -> np.ndarray:
    guess = _typical(X, kinds, center)
    if np.isnan(guess).any():
        empty = np.flatnonzero(np.isnan(guess)).tolist()
        raise ValueError(f"columns {empty} have no value in any row; leave them out")
    return guess


def _typical(X: np.ndarray, kinds: tuple[str, ...], center: str = "median") -> np.ndarray:
    """Return the median (or mean) or mode of every column, NaN where no row has a value."""
    middle = np.median if center == "median" else np.mean
    guess = np.full(X.shape[1], np.nan)
    for column, kind in enumerate(kinds):
        x = X[~np.isnan(X[:, column]), column]
        if len(x):
            guess[column] = middle(x) if kind == "numeric" else mode(x)
    return guess


def refill(
    X: ArrayLike,
    proximities: np.ndarray,
    donors: ArrayLike,
    first: np.ndarray,
    kinds: tuple[str, ...] | None = None,
) -> tuple[np.ndarray, int]:
    """Guess every missing value of X anew; return the filled rows and how often none was near.

    Parameters
    ----------
    X : array of shape (m, n_columns)
        Rows with NaN.
    proximities : array of shape (m, n)
        To the donors.
    donors : array of shape (n, n_columns)
        The rows that may give their values: X itself, or the training rows if X is new.
    first : array of shape (m, n_columns)
        X filled with the first guesses, which stand where all proximities are zero.
    kinds : tuple of str, optional
        Of every column; all "numeric" by default.

    Examples
    --------
    >>> X = np.array([[1.0], [3.0], [np.nan]])
    >>> P = np.array([[1, 0, 0.5], [0, 1, 0.5], [0.5, 0.5, 1]])
    >>> refill(X, P, X, first_guess(X))[0].tolist()
    [[1.0], [3.0], [2.0]]
    """
    X, donors = np.asarray(X, dtype=np.float64), np.asarray(donors, dtype=np.float64)
    kinds = kinds or ("numeric",) * X.shape[1]
    filled, fallbacks = X.copy(), 0
    for row, column in np.argwhere(np.isnan(X)).tolist():
        filled[row, column] = first[row, column]
        if np.isnan(donors[:, column]).all():
            fallbacks += 1
            continue
        guess = guess_number if kinds[column] == "numeric" else guess_category
        found = guess(donors[:, column], proximities[row], float(first[row, column]))
        filled[row, column] = found.value
        fallbacks += found.fell_back
    return filled, fallbacks


# ---------------------------------------------------------------------- until the guesses settle
@dataclass(frozen=True, eq=False)
class FillingStep:
    """One round: what the guesses did."""

    number: int  # 1, 2, ...
    changed: int  # codes that changed
    moved: float  # the farthest a number moved, in standard deviations of its column
    fallbacks: int  # values for which no row with a value was near
    values: np.ndarray = field(repr=False)  # all the guesses, row by row


@dataclass(frozen=True, eq=False)
class Filling:
    """Filled rows, and the way there."""

    X: np.ndarray = field(repr=False)
    first: np.ndarray = field(repr=False)  # the rows with the first guesses
    steps: tuple[FillingStep, ...]
    converged: bool
    forest: TextbookForest = field(repr=False)  # whose proximities made the last guesses


def _settle(
    X: np.ndarray,
    donors: np.ndarray,
    first: np.ndarray,
    kinds: tuple[str, ...],
    proximities_of: Callable[[np.ndarray], np.ndarray],
    stop: tuple[float, int],
) -> tuple[np.ndarray, tuple[FillingStep, ...], bool]:
    (tol, max_iter), missing = stop, np.isnan(X)
    if max_iter < 1 or not tol >= 0:
        raise ValueError(f"max_iter must be ≥ 1 and tol ≥ 0, got {max_iter} and {tol}")
    numeric = np.array([kind == "numeric" for kind in kinds])
    spread = np.array([np.std(x[~np.isnan(x)]) if (~np.isnan(x)).any() else 0 for x in donors.T])
    spread[spread == 0] = 1.0
    steps: list[FillingStep] = []
    filled = first
    while len(steps) < max_iter:  # step 5
        before = filled
        # step 4
        filled, fallbacks = refill(X, proximities_of(before), donors, first, kinds)
        moves = np.abs(filled - before)
        changed = int(np.count_nonzero(moves[:, ~numeric]))
        moved = float((moves / spread)[:, numeric].max(initial=0.0))
        steps.append(FillingStep(len(steps) + 1, changed, moved, fallbacks, filled[missing]))
        if changed == 0 and moved <= tol:
            return filled, tuple(steps), True
    return filled, tuple(steps), False


def fill_missing(
    X: ArrayLike,
    y: ArrayLike,
    rules: Rules = DEFAULT,
    recipe: ForestRules = RANDOM_FOREST,
    tol: float = 1e-3,
    max_iter: int = 10,
) -> Filling:
    """Fill the missing values of training rows.

    Every round grows its forest from the same seed, so that what moves is the guesses, not chance.

    Parameters
    ----------
    X : array of shape (n, n_columns)
        NaN is missing; ``rules.kinds`` marks the columns that hold codes.
    y : array of shape (n,)
        Class indices (first guesses go class by class) or numbers (then over all rows).
    rules, recipe
        As for ``grow_forest``.
    tol : float
        Stop when no code changes and no number moves more than this many standard deviations.
    max_iter : int
        Or after this many rounds.

    Examples
    --------
    >>> X = [[1, 10], [2, 11], [3, np.nan], [7, 30], [8, 31], [9, 32.]]
    >>> filling = fill_missing(X, [0, 0, 0, 1, 1, 1], recipe=ForestRules(20))
    >>> filling.converged, bool(10 <= filling.X[2, 1] <= 11)
    (True, True)
    """
    X, kinds = _table(X, rules)
    first = first_guess(X, y if rules.criterion in CLASS_CRITERIA else None, kinds)  # step 1
    forests = []

    def proximities_of(filled: np.ndarray) -> np.ndarray:
        forests.append(grow_forest(filled, y, rules, recipe))  # step 2
        return proximity_of_leaves(forest_leaves(forests[-1], filled))  # step 3

    filled, steps, converged = _settle(X, X, first, kinds, proximities_of, (tol, max_iter))
    return Filling(filled, first, steps, converged, forests[-1])


# ---------------------------------------------------------------------- new rows
def fill_rows(
    new: ArrayLike,
    X: ArrayLike,
    forest: TextbookForest,
    label: int | None = None,
    tol: float = 1e-3,
    max_iter: int = 10,
) -> Filling:
    """Fill the missing values of new rows; the forest stays as it is.

    Parameters
    ----------
    new : array of shape (n_new, n_columns)
    X : array of shape (n, n_columns)
        The rows the forest was grown on, with NaN where a value was not observed.
    forest : TextbookForest
    label : int, optional
        Fill as if the rows were of this class: only rows of the class give their values.
    tol, max_iter
        As for ``fill_missing``.

    Examples
    --------
    >>> X, y = np.array([[1, 10], [2, 11], [8, 31], [9, 32.]]), [0, 0, 1, 1]
    >>> forest = grow_forest(X, y, recipe=ForestRules(20))
    >>> fill_rows([[1.5, np.nan]], X, forest, label=1).first.tolist()
    [[1.5, 31.5]]
    """
    X, kinds = _table(X, forest.rules)
    new, _ = _table(new, forest.rules)
    if X.shape != forest.X.shape or new.shape[1] != X.shape[1]:
        raise ValueError(f"X {X.shape} must be the rows of the forest, {forest.X.shape}")
    donors = X if label is None else np.where((forest.y == label)[:, None], X, np.nan)
    center, overall = _typical(donors, kinds), _overall(X, kinds)
    center = np.where(np.isnan(center), overall, center)
    first = np.where(np.isnan(new), center, new)
    leaves = forest_leaves(forest, forest.X)

    def proximities_of(filled: np.ndarray) -> np.ndarray:
        return proximity_of_leaves(leaves, new=forest_leaves(forest, filled))

    filled, steps, converged = _settle(new, donors, first, kinds, proximities_of, (tol, max_iter))
    return Filling(filled, first, steps, converged, forest)


@dataclass(frozen=True, eq=False)
class Copy:
    """A new row, filled as if it were of one class."""

    label: int
    filling: Filling = field(repr=False)
    votes: np.ndarray  # of the trees, for every class

    @property
    def own_votes(self) -> int:
        return int(self.votes[self.label])


def predict_copies(
    row: ArrayLike,
    X: ArrayLike,
    forest: TextbookForest,
    tol: float = 1e-3,
    max_iter: int = 10,
) -> tuple[int, list[Copy]]:
    """Return the class of a row with missing values, and its copies, one per class.

    Every copy is filled as if it had its class, then all trees vote on it. The class whose copy gets
    most votes for itself wins, ties to the smallest. Parameters as for ``fill_rows``.

    >>> X, y = np.array([[1, 10], [2, 11], [8, 31], [9, 32.]]), [0, 0, 1, 1]
    >>> forest = grow_forest(X, y, recipe=ForestRules(20))
    >>> label, copies = predict_copies([np.nan, 12.0], X, forest)
    >>> label, [(copy.filling.X.tolist(), copy.own_votes) for copy in copies]
    (0, [([[1.5, 12.0]], 18), ([[8.5, 12.0]], 11)])
    """
    if not forest.classifies:
        raise ValueError("numbers have no classes to copy a row for; use fill_rows")
    copies = []  # step 1: a copy per class
    for label in np.unique(forest.y).tolist():
        # step 2: filled as if it were of this class
        filling = fill_rows(np.atleast_2d(np.asarray(row)), X, forest, label, tol, max_iter)
        votes = tree_votes(tree_answers(forest, filling.X))[:, 0].sum(axis=0)
        copies.append(Copy(label, filling, votes.astype(np.int64)))
    # step 3: which copy is most often taken for what it was filled as?
    return max(copies, key=lambda copy: copy.own_votes).label, copies


def _table(X: ArrayLike, rules: Rules) -> tuple[np.ndarray, tuple[str, ...]]:
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"X needs rows and columns, got shape {X.shape}")
    return X, rules.kinds or ("numeric",) * X.shape[1]
