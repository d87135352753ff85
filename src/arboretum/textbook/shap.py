"""Further reading: SHAP values by their definition, what a column adds on average to what is known.

A row has d columns. A *game* is the expected prediction if only the columns of a set S are known,
v(S). A column that becomes known changes that, and by how much depends on what was known before; its value
is the mean over all orders in which columns can become known:

    φ_i = Σ over S without i of   |S|! (d - |S| - 1)! / d!   ·   ( v(S + i) - v(S) )

    v({})  ──φ_a──►  ──φ_b──►  ──φ_c──►  v({a, b, c})          base + Σ φ = the prediction

Two games are played with trees. They differ in what an unknown column means:

    path_game         the row goes down all branches, each by its share of the training weight
    background_game   the value comes from a row of a background table; the mean over its rows

A pair of columns is worth what both bring together beyond what each brings alone; half of it is written at
either place of a symmetric table, whose rows sum to the values of the columns:

    Φ_ij = ½ Σ over S without i, j of   |S|! (d - |S| - 2)! / (d - 1)!
                                        · ( v(S + i + j) - v(S + i) - v(S + j) + v(S) )

All 2^d sets are looked at: for a handful of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, factorial
from typing import Any

import numpy as np

__all__ = [
    "Addition",
    "Attribution",
    "Branching",
    "background_game",
    "expected_by_shares",
    "path_game",
    "shapley_pairs",
    "shapley_values",
]

Game = Callable[[frozenset[int]], np.ndarray]


@dataclass(frozen=True)
class Branching:
    """A node of a tree: a leaf, or a question about one column with a branch for each answer.

    Attributes
    ----------
    value : float array
        The value of a leaf, a number for each output.
    weight : float
        Of the training rows that came here.
    column : int
        The column of the split; -1 at a leaf.
    goes : callable
        The branch (0, 1, …) that a row takes.
    branches : list of Branching
    """

    value: Any = 0.0
    weight: float = 1.0
    column: int = -1
    goes: Callable[[Any], int] = field(default=lambda row: 0, repr=False)
    branches: Sequence[Branching] = ()

    @property
    def shares(self) -> np.ndarray:
        """Every branch's share of their weight; equal ones where there is no weight at all."""
        weights = np.array([max(branch.weight, 0.0) for branch in self.branches])
        total = weights.sum()
        return weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))


def expected_by_shares(node: Branching, row: Any, known: frozenset[int]) -> np.ndarray:
    """Return the expected prediction of a tree for a row of which only some columns are known."""
    if not node.branches:
        return np.atleast_1d(np.asarray(node.value, np.float64))
    if node.column in known:
        return expected_by_shares(node.branches[node.goes(row)], row, known)
    below = [expected_by_shares(branch, row, known) for branch in node.branches]
    return sum(share * each for share, each in zip(node.shares, below, strict=True))


def path_game(trees: Sequence[Branching], row: Any) -> Game:
    """Return v(S) of a sum of trees where unknown columns go down all branches.

    >>> stump = Branching(column=0, goes=lambda row: int(row[0] > 2),
    ...                   branches=[Branching(1.0, weight=3), Branching(5.0, weight=1)])
    >>> game = path_game([stump], [7.0])
    >>> game(frozenset()), game(frozenset({0}))
    (array([2.]), array([5.]))
    """
    return lambda known: np.asarray(sum(expected_by_shares(tree, row, known) for tree in trees))


def _mixed(node: Branching, row: Any, other: Any, known: frozenset[int]) -> np.ndarray:
    while node.branches:
        node = node.branches[node.goes(row if node.column in known else other)]
    return np.atleast_1d(np.asarray(node.value, np.float64))


def background_game(trees: Sequence[Branching], row: Any, background: Sequence[Any]) -> Game:
    """Return v(S) of a sum of trees where unknown columns are taken from the rows of a background.

    >>> stump = Branching(column=0, goes=lambda row: int(row[0] > 2),
    ...                   branches=[Branching(1.0), Branching(5.0)])
    >>> game = background_game([stump], [7.0], [[0.0], [1.0], [2.0], [3.0]])
    >>> game(frozenset()), game(frozenset({0}))
    (array([2.]), array([5.]))
    """

    def value(known: frozenset[int]) -> np.ndarray:
        said = [[_mixed(tree, row, other, known) for tree in trees] for other in background]
        return np.sum(np.mean(said, axis=0), axis=0)

    return value


@dataclass(frozen=True)
class Addition:
    """One term of a column's value: it becomes known when the columns of ``known`` are."""

    column: int
    known: frozenset[int]
    before: np.ndarray  # v(S)
    after: np.ndarray  # v(S + i)
    weight: float  # share of the orders in which it happens like that


@dataclass(frozen=True)
class Attribution:
    """The values of all columns, and how they came about.

    Attributes
    ----------
    base : float array of shape (outputs,)
        What is expected if nothing is known.
    values : float array of shape (columns, outputs)
    additions : list of Addition
        Every term of every column.
    expected : dict
        v(S) by the set.
    """

    base: np.ndarray
    values: np.ndarray
    additions: list[Addition]
    expected: Mapping[frozenset[int], np.ndarray]


def _sets(columns: Sequence[int]) -> list[frozenset[int]]:
    sizes = range(len(columns) + 1)
    return [frozenset(some) for size in sizes for some in combinations(columns, size)]


def shapley_values(game: Game, n_columns: int) -> Attribution:
    """Return what every column is worth in a game, by the definition.

    >>> both = lambda known: np.array([6.0 if {0, 1} <= known else 0.0])  # nothing alone
    >>> found = shapley_values(both, 3)
    >>> found.values.ravel(), len(found.additions)
    (array([3., 3., 0.]), 12)
    """
    expected = {known: game(known) for known in _sets(range(n_columns))}
    base = expected[frozenset()]
    values = np.zeros((n_columns, len(base)))
    additions = []
    for i in range(n_columns):
        for known in _sets([j for j in range(n_columns) if j != i]):
            weight = 1.0 / (n_columns * comb(n_columns - 1, len(known)))
            one = Addition(i, known, expected[known], expected[known | {i}], weight)
            values[i] += one.weight * (one.after - one.before)
            additions.append(one)
    return Attribution(base, values, additions, expected)


def shapley_pairs(game: Game, n_columns: int) -> np.ndarray:
    """Return the symmetric table of pairs, (columns, columns, outputs), whose rows sum to the values.

    >>> both = lambda known: np.array([6.0 if known == {0, 1} else 0.0])
    >>> shapley_pairs(both, 2)[:, :, 0]
    array([[0., 3.],
           [3., 0.]])
    """
    alone = shapley_values(game, n_columns)
    v, d = alone.expected, n_columns
    pairs = np.zeros((d, d, len(alone.base)))
    for i, j in combinations(range(d), 2):
        for known in _sets([k for k in range(d) if k not in (i, j)]):
            s = len(known)
            weight = factorial(s) * factorial(d - s - 2) / factorial(d - 1)
            together = v[known | {i, j}] - v[known | {i}] - v[known | {j}] + v[known]
            pairs[i, j] += 0.5 * weight * together
        pairs[j, i] = pairs[i, j]
    for i in range(d):
        pairs[i, i] = alone.values[i] - pairs[i].sum(axis=0)
    return pairs
