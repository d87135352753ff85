"""Rows drawn at random: the ways in which bags, forests and boosters draw them.

    way                 may a row repeat?         used by
    draw_counts         yes, all equally likely    forests, bagging
    draw_by_weight      yes, by weight            AdaBoost that resamples, bagging without sample weights
    smallest            no, the smallest keys      bagging, XGBoost, LightGBM and its GOSS
    draw_in_turn        no, one after another     Friedman's boosting
    draw_heavier        no, heavy ones sooner     bagging without sample weights

They differ because existing models must not change. All random numbers are hashes of (key, number), so
nothing is stored: the rows of tree 17 are the same now and after loading the model, in any thread.
A model keeps only the rules of its bags (`Bootstrap`, `BagRules`):

    estimator 0   rows 3 3 1 0 4   columns 0 2      rows as counts   1 1 0 2 1    row 2 is out of bag
    estimator 1   rows 2 0 0 4 1   columns 1 2                       2 1 1 0 1

Their `counts` is used everywhere: by growing, out-of-bag predictions, quantiles, variances, importances
and proximities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from arboretum.base.shared_parameters import MOST_DRAWS
from arboretum.engine.elementwise import log1p
from arboretum.engine.keys import key_of, uniform_array
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.io.values import whole

__all__ = [
    "BagRules",
    "Bootstrap",
    "draw_by_weight",
    "draw_counts",
    "draw_heavier",
    "draw_in_turn",
    "drawn_rows",
    "growing_key",
    "hashes",
    "make_bags",
    "n_draws",
    "smallest",
    "tree_key",
]

_BAG, _GROW = 0xBA6, 0x6120
_ROWS, _COLUMNS = 0x705, 0xC01


def tree_key(seed: int, tree: int) -> int:
    """Return the key of one tree; all its random numbers derive from it."""
    return key_of(seed, tree)


def growing_key(seed: int, tree: int) -> int:
    """Return the key of the draws a tree makes while it grows."""
    return key_of(seed, tree, _GROW)


def n_draws(max_samples: int | float | None, n: int) -> int:
    """Return how many draws a bag makes: a number, a share of the rows, or one per row."""
    if max_samples is None:
        return n
    if isinstance(max_samples, (int, np.integer)):
        return int(max_samples)
    return max(round(n * max_samples), 1)


# ---------------------------------------------------------------------- with replacement
def draw_counts(key: int, n: int, size: int) -> np.ndarray:
    """Return how often each of n rows is drawn in ``size`` draws with replacement.

    >>> counts = draw_counts(tree_key(1, 0), 10, 10)
    >>> int(counts.sum()), counts.dtype
    (10, dtype('float64'))
    """
    from arboretum.engine.random import draw_rows

    counts = np.zeros(n)
    draw_rows(np.uint64(key_of(key, _BAG)), size, counts)
    return counts


def draw_by_weight(w: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the rows selected by numbers in [0, 1): row i owns an interval of length w_i.

    >>> draw_by_weight(np.array([0.1, 0.2, 0.7]), np.array([0.05, 0.1, 0.29, 0.31, 0.99]))
    array([0, 1, 1, 2, 2])
    """
    ends = np.cumsum(w) / w.sum()
    rows = np.searchsorted(ends, shares, side="right")
    return np.minimum(
        rows, np.flatnonzero(w)[-1]
    )  # the end of the last interval may round to less than 1


def drawn_rows(counts: np.ndarray) -> np.ndarray:
    """Return the rows of a bag in order, int32, each as often as it was drawn.

    >>> drawn_rows(np.array([0.0, 2.0, 1.0]))
    array([1, 1, 2], dtype=int32)
    """
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts.astype(np.int64))


# ---------------------------------------------------------------------- without
def hashes(key: int, n: int) -> np.ndarray:
    """Return the uint64 hashes of 0 to n - 1 under a key."""
    from arboretum.engine.rows.sample import hash_keys

    keys = np.empty(n, np.uint64)
    hash_keys(np.uint64(key), keys)
    return keys


def smallest(keys: np.ndarray, k: int) -> np.ndarray:
    """Return in order the positions of the k smallest uint64 keys, the first of equal ones.

    >>> smallest(np.array([7, 3, 9, 3], np.uint64), 3).tolist(), len(smallest(hashes(5, 100), 30))
    ([0, 1, 3], 30)
    """
    from arboretum.engine.rows.sample import chosen_rows, leading_counts, members_of

    if k >= len(keys):
        return np.arange(len(keys), dtype=np.uint32)
    out = np.empty(k, np.uint32)
    if k == 0:
        return out
    counts = np.zeros(1 << 16, np.int64)
    leading_counts(keys, counts)
    below = np.cumsum(counts)
    head = int(np.searchsorted(below, k))  # the k-th smallest key begins with these bits
    rank = k - int(below[head] - counts[head])
    members = np.empty(counts[head], np.uint64)
    members_of(keys, np.uint64(head), members)
    limit = np.partition(members, rank - 1)[rank - 1]
    chosen_rows(keys, limit, rank - np.count_nonzero(members < limit), out)
    return out


def draw_in_turn(key: int, n: int, k: int, w: np.ndarray | None = None) -> np.ndarray:
    """Return n marks, 1 for k rows that are drawn one after another; see the loop in engine/rows/sample.py.

    If all of them have weight 0, as many are drawn again from rows with a weight.

    >>> int(draw_in_turn(3, 10, 4).sum())
    4
    >>> draw_in_turn(3, 5, 2, np.array([0.0, 0, 1, 0, 0]))
    array([0, 0, 1, 0, 0], dtype=uint8)
    """
    from arboretum.engine.rows import sample

    drawn = np.zeros(n, np.uint8)
    sample.draw_in_turn(np.uint64(key), np.arange(n), k, drawn)
    if w is not None and not w[drawn == 1].any():
        drawn[:] = 0
        some = np.flatnonzero(w)
        sample.draw_in_turn(np.uint64(key), some, min(k, len(some)), drawn)
    return drawn


def draw_heavier(w: np.ndarray, shares: np.ndarray, k: int) -> np.ndarray:
    """Return k rows selected by numbers in [0, 1): waiting times, half as long for a row of twice the weight.

    >>> draw_heavier(np.array([0.1, 0.2, 0.7]), np.array([0.5, 0.5, 0.5]), 2)
    array([2, 1])
    """
    wait = -log1p(-shares) / w
    return np.argsort(wait, kind="stable")[:k]


# ---------------------------------------------------------------------- rules that a model keeps
class _Rules:
    """Rules that can be compared and saved.

    ``first`` is the number of the first member that they are of: those before it saw the rows of earlier
    fits (`warm_start`), whose bags are not kept.
    """

    first: int

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        theirs = vars(other)
        return all(np.array_equal(value, theirs[name]) for name, value in vars(self).items())

    __hash__ = None  # type: ignore[assignment]

    def to_state(self) -> dict[str, Any]:
        """Return the rules as plain values."""
        return {name: value for name, value in vars(self).items() if name != "first" or value}

    def going_on(self, new: Self, n_members: int) -> Self:
        """Return the rules of a fit that adds to ``n_members``: these, if it draws from the same rows."""
        same = replace(self, first=0) == new  # type: ignore[type-var]
        return self if same else replace(new, first=n_members)  # type: ignore[type-var]

    def _check_kept(self, member: int) -> None:
        if member < self.first:
            raise DataError(
                f"the {self.first} members before the last fit with warm_start=True saw other rows, so their "
                "bags and out-of-bag figures are not known: fit all members on one table"
            )


@dataclass(frozen=True, eq=False)
class Bootstrap(_Rules):
    """The bags of a forest: which rows each tree sees, and how often.

    Attributes
    ----------
    seed : int
    n_rows : int
    draws : int or None
        Size of a bag; None: every tree sees every row.
    weighing : int array or None
        The rows whose weight is not 0; None: all of them.
    """

    seed: int
    n_rows: int
    draws: int | None
    weighing: np.ndarray | None = None
    first: int = 0

    def counts(self, tree: int) -> np.ndarray:
        """Return how often every row is in the bag of a tree; rows with 0 are out of bag.

        A bag with only rows of weight 0 is drawn again, from the others.

        >>> Bootstrap(1, 6, draws=6).counts(0).sum(), Bootstrap(1, 3, draws=None).counts(0)
        (np.float64(6.0), array([1., 1., 1.]))
        >>> Bootstrap(1, 100, draws=5, weighing=np.array([17])).counts(0)[17]
        np.float64(5.0)
        """
        self._check_kept(tree)
        if self.draws is None:
            return np.ones(self.n_rows)
        key = tree_key(self.seed, tree)
        counts = draw_counts(key, self.n_rows, self.draws)
        if self.weighing is not None and not counts[self.weighing].any():
            counts = np.zeros(self.n_rows)
            counts[self.weighing] = draw_counts(key, len(self.weighing), self.draws)
        return counts

    @classmethod
    def from_state(cls, state: Any) -> Bootstrap:
        """Build the bags from the result of `to_state`; raise a ModelFileError if it is invalid."""
        n_rows, weighing = whole(state, "n_rows", 1), state["weighing"]
        draws = None if state["draws"] is None else whole(state, "draws", 1)
        good = draws is None or draws <= max(1000 * n_rows, MOST_DRAWS)
        if weighing is not None:
            good &= isinstance(weighing, np.ndarray) and weighing.dtype == np.int64
            good = good and weighing.ndim == 1 and 0 < len(weighing) < n_rows
            good = good and bool(np.all(np.diff(weighing) > 0))
            good = good and weighing[0] >= 0 and weighing[-1] < n_rows
        if not good:
            raise ModelFileError("the bags of its trees do not fit its training rows")
        first = whole(state, "first", 0) if "first" in state else 0
        return cls(whole(state, "seed", 0), n_rows, draws, weighing, first)


@dataclass(frozen=True, eq=False)
class BagRules(_Rules):
    """The rules by which rows and columns are drawn.

    Attributes
    ----------
    seed : int
    n_rows, n_columns : int
        Size of the table.
    draws, columns : int
        How many rows and columns every estimator gets.
    replace, replace_columns : bool
        Whether a row or column may be drawn again.
    weight : float64 array or None
        Weights of the rows; those of weight 0 are never drawn.
    by_weight : bool
        Draw rows in proportion to their weight, instead of giving the weights to the estimator.
    """

    seed: int
    n_rows: int
    n_columns: int
    draws: int
    columns: int
    replace: bool
    replace_columns: bool
    weight: np.ndarray | None = None
    by_weight: bool = False
    first: int = 0

    def counts(self, number: int) -> np.ndarray:
        """Return how often each row is drawn for an estimator; 0 is out of bag.

        >>> bags = BagRules(7, 6, 2, draws=6, columns=2, replace=True, replace_columns=False)
        >>> int(bags.counts(0).sum()), (bags.counts(0) == bags.counts(0)).all()
        (6, np.True_)
        """
        self._check_kept(number)
        key = tree_key(self.seed, number)
        if self.weight is None:
            return self._draw(key, self.n_rows, None)
        rows = np.flatnonzero(self.weight)
        counts = np.zeros(self.n_rows)
        counts[rows] = self._draw(key, len(rows), self.weight[rows] if self.by_weight else None)
        return counts

    def going_on(self, new: Self, n_members: int) -> Self:
        """Return the rules of a fit that adds members; the columns of all members stay known."""
        if (self.columns, self.replace_columns) != (new.columns, new.replace_columns):
            raise ParameterError(
                "with warm_start=True columns are drawn as before: leave max_features and "
                "bootstrap_features as they were, or set warm_start=False to begin anew"
            )
        return super().going_on(new, n_members)

    def _draw(self, key: int, n: int, weight: np.ndarray | None) -> np.ndarray:
        if self.replace and weight is None:
            return draw_counts(key, n, self.draws)
        key = key_of(key, _ROWS)
        if self.replace:
            assert weight is not None
            rows = draw_by_weight(weight, uniform_array(key, self.draws))
            return np.bincount(rows, minlength=n).astype(np.float64)
        counts = np.zeros(n)
        if self.draws == n:
            counts[:] = 1.0
        elif weight is None:
            counts[smallest(hashes(key, n), self.draws)] = 1.0
        else:
            counts[draw_heavier(weight, uniform_array(key, n), self.draws)] = 1.0
        return counts

    def weights(self, number: int) -> np.ndarray:
        """Return the weight of every row for an estimator: its count times its own weight."""
        counts = self.counts(number)
        return counts if self.weight is None or self.by_weight else counts * self.weight

    def features(self, number: int) -> np.ndarray:
        """Return the columns of an estimator, in order."""
        if self.all_columns:
            return np.arange(self.n_columns)
        key = key_of(self.seed, number, _COLUMNS)
        if self.replace_columns:
            share = uniform_array(key, self.columns)
            return np.sort((share * self.n_columns).astype(np.int64))
        order = np.argsort(uniform_array(key, self.n_columns), kind="stable")
        return np.sort(order[: self.columns])

    @property
    def all_columns(self) -> bool:
        """Whether every estimator gets all columns, in order."""
        return not self.replace_columns and self.columns == self.n_columns

    def random_state(self, number: int) -> int:
        """Return the seed for an estimator's own draws."""
        return growing_key(self.seed, number) >> 32

    @classmethod
    def from_state(cls, state: Any, n_columns: int) -> BagRules:
        """Build the rules from the result of `to_state`; raise a ModelFileError if it is invalid."""
        n_rows = whole(state, "n_rows", 1)
        numbers: Any = {name: whole(state, name, 1) for name in ("draws", "columns")}
        flags: Any = {name: state[name] for name in ("replace", "replace_columns", "by_weight")}
        weight = state["weight"]
        good = whole(state, "n_columns", 1) == n_columns
        good &= all(value is True or value is False for value in flags.values())
        good &= numbers["columns"] <= n_columns
        if weight is not None:
            good &= isinstance(weight, np.ndarray) and weight.shape == (n_rows,)
            good &= weight.dtype == np.float64
            good = good and bool(np.all(weight >= 0) and 0 < weight.sum() < np.inf)
        if not good:
            raise ModelFileError("the rules for drawing rows and columns do not fit the model")
        first = whole(state, "first", 0) if "first" in state else 0
        numbers |= flags
        return cls(
            whole(state, "seed", 0), n_rows, n_columns, **numbers, weight=weight, first=first
        )


def make_bags(
    model: Any, shape: tuple[int, int], weight: np.ndarray | None, by_weight: bool
) -> BagRules:
    """Return the rules of a bagging estimator's parameters for a table of this shape."""
    n_rows, n_columns = shape
    n = n_rows if weight is None else int(np.count_nonzero(weight))
    draws = n_draws(model.max_samples, n)
    if draws > n and not model.bootstrap:
        raise ParameterError(
            f"max_samples={draws} must be <= n_samples={n} to be able to sample without replacement: draw "
            "fewer, or set bootstrap=True"
        )
    columns = model.max_features
    if isinstance(columns, (int, np.integer)):
        if columns > n_columns:
            raise ParameterError(
                f"max_features is {columns}, but there are only {n_columns} columns: it must be "
                f"≤ {n_columns}"
            )
    else:
        columns = max(1, int(columns * n_columns))
    return BagRules(
        seed=model.seed_,
        n_rows=n_rows,
        n_columns=n_columns,
        draws=draws,
        columns=int(columns),
        replace=bool(model.bootstrap),
        replace_columns=bool(model.bootstrap_features),
        weight=weight,
        by_weight=by_weight and weight is not None,
    )
