"""Bags: what each tree or estimator of an ensemble is given, drawn from (seed, number).

    estimator 0   rows 3 3 1 0 4   columns 0 2      rows as counts   1 1 0 2 1    row 2 is out of bag
    estimator 1   rows 2 0 0 4 1   columns 1 2                       2 1 1 0 1

Nothing is stored but the rules: whoever asks for bag 17 gets the same one, in any order, after loading
the model, on any number of threads. `counts` is the one place that answers: growing, out-of-bag answers,
quantiles, variances, importances and proximities ask it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.base.sampling import (
    draw_by_weight,
    draw_counts,
    growing_key,
    hashes,
    n_draws,
    smallest,
    tree_key,
)
from arboretum.engine.keys import key_of, uniform_array
from arboretum.errors import ModelFileError, ParameterError
from arboretum.io.checked import whole

__all__ = ["BagRules", "Bootstrap", "make_bags"]

_ROWS, _COLUMNS = 0x705, 0xC01


class _Rules:
    """Rules that can be compared, and kept in a file."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        theirs = vars(other)
        return all(np.array_equal(value, theirs[name]) for name, value in vars(self).items())

    __hash__ = None  # type: ignore[assignment]

    def to_state(self) -> dict[str, Any]:
        """Return the rules as plain values."""
        return dict(vars(self))


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

    def counts(self, tree: int) -> np.ndarray:
        """Return how often every row is in the bag of a tree; 0 is out of bag.

        A bag that holds nothing but rows of weight 0 is drawn again, from the others.

        >>> Bootstrap(1, 6, draws=6).counts(0).sum(), Bootstrap(1, 3, draws=None).counts(0)
        (np.float64(6.0), array([1., 1., 1.]))
        >>> Bootstrap(1, 100, draws=5, weighing=np.array([17])).counts(0)[17]
        np.float64(5.0)
        """
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
        """Build the bags from what `to_state` returned; any nonsense is a ModelFileError."""
        n_rows, weighing = whole(state, "n_rows", 1), state["weighing"]
        draws = None if state["draws"] is None else whole(state, "draws", 1)
        good = draws is None or draws <= n_rows
        if weighing is not None:
            good &= isinstance(weighing, np.ndarray) and weighing.dtype == np.int64
            good = good and weighing.ndim == 1 and 0 < len(weighing) < n_rows
            good = good and bool(np.all(np.diff(weighing) > 0))
            good = good and weighing[0] >= 0 and weighing[-1] < n_rows
        if not good:
            raise ModelFileError("the bags of its trees do not fit its training rows")
        return cls(whole(state, "seed", 0), n_rows, draws, weighing)


@dataclass(frozen=True, eq=False)
class BagRules(_Rules):
    """The rules that rows and columns are drawn by.

    Attributes
    ----------
    seed : int
    n_rows, n_columns : int
        Size of the table.
    draws, columns : int
        How many rows and columns every estimator gets.
    replace, replace_columns : bool
        A row or column may be drawn again.
    weight : float64 array or None
        Weights of the rows; those of weight 0 are never drawn.
    by_weight : bool
        Draw rows in proportion to their weight: for estimators that cannot weigh rows themselves.
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

    def counts(self, number: int) -> np.ndarray:
        """Return how often each row is drawn for an estimator; 0 is out of bag.

        >>> bags = BagRules(7, 6, 2, draws=6, columns=2, replace=True, replace_columns=False)
        >>> int(bags.counts(0).sum()), (bags.counts(0) == bags.counts(0)).all()
        (6, np.True_)
        """
        key = tree_key(self.seed, number)
        if self.weight is None:
            return self._draw(key, self.n_rows, None)
        rows = np.flatnonzero(self.weight)
        counts = np.zeros(self.n_rows)
        counts[rows] = self._draw(key, len(rows), self.weight[rows] if self.by_weight else None)
        return counts

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
        else:  # exponential waiting times: who comes first is drawn first, heavy rows come sooner
            wait = -np.log1p(-uniform_array(key, n)) / weight
            counts[np.argsort(wait, kind="stable")[: self.draws]] = 1.0
        return counts

    def weights(self, number: int) -> np.ndarray:
        """Return what every row weighs for an estimator: its count, times its own weight."""
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
        """Every estimator gets the table as it is."""
        return not self.replace_columns and self.columns == self.n_columns

    def random_state(self, number: int) -> int:
        """Return the seed of what an estimator draws itself."""
        return growing_key(self.seed, number) >> 32

    @classmethod
    def from_state(cls, state: Any, n_columns: int) -> BagRules:
        """Build the rules from what `to_state` returned; any nonsense is a ModelFileError."""
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
            raise ModelFileError("what rows and columns are drawn by does not fit the model")
        return cls(whole(state, "seed", 0), n_rows, n_columns, **numbers, **flags, weight=weight)


def make_bags(
    model: Any, shape: tuple[int, int], weight: np.ndarray | None, by_weight: bool
) -> BagRules:
    """Return the rules of a bagging estimator's parameters for a table of this shape."""
    n_rows, n_columns = shape
    n = n_rows if weight is None else int(np.count_nonzero(weight))
    draws = n_draws(model.max_samples, n)
    if draws > n:
        raise ParameterError(
            f"max_samples is {draws}, but there are only {n} rows to draw: it must be ≤ {n}"
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
