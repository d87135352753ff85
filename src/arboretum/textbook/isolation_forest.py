"""Isolation forests (Liu, Ting and Zhou 2008): rows that few random cuts set apart are anomalies.

    grow_isolation_tree     a random column, a random cut between its ends, and again, to depth ⌈log₂ ψ⌉
    average_path_length     c(n), the cuts that isolating a row of n takes on average
    path_of                 the cuts of a row: depth of its leaf + c(rows left in the leaf)
    grow_isolation_forest   many trees, each of ψ rows drawn without replacement
    anomaly_scores          2^(-mean path length / c(ψ)), 1 for anomalies, 0.5 where all rows are alike

An anomaly differs in some column, so a cut drawn between the smallest and the largest value often falls
between it and the rest. A row in the middle of many is cut off late:

    1  2  2  3  3  4            ┆        20          a cut between 4 and 20: 16 of 19 draws
    └────────── later ─────────┘┆        alone after one cut

No tree needs all rows: ψ = 256 keep anomalies few, so that they do not hide one another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, log2

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "IsolationNode",
    "IsolationScores",
    "anomaly_scores",
    "average_path_length",
    "draw_cut",
    "grow_isolation_forest",
    "grow_isolation_tree",
    "path_of",
]

Draw = Callable[[np.ndarray], "tuple[int, float] | None"]  # rows of a node -> column, cut


@dataclass(frozen=True, eq=False)
class IsolationNode:
    """A node: the rows it holds and, if it is no leaf, its cut; ``x[feature] <= threshold`` goes left."""

    rows: np.ndarray = field(repr=False)
    depth: int
    feature: int = -1
    threshold: float = np.nan
    left: IsolationNode | None = field(default=None, repr=False)
    right: IsolationNode | None = field(default=None, repr=False)

    @property
    def path_length(self) -> float:
        """Cuts that isolate a row of this leaf: its depth, and c(n) for the cuts that were not made."""
        return self.depth + float(average_path_length(len(self.rows)))


@dataclass(frozen=True, eq=False)
class IsolationScores:
    """The figures behind the scores of some rows."""

    path_lengths: np.ndarray  # (rows, trees)
    expected: float  # c(ψ)

    @property
    def mean_path_length(self) -> np.ndarray:
        """E[h(x)], the mean over the trees."""
        return self.path_lengths.mean(axis=1)

    @property
    def scores(self) -> np.ndarray:
        """s(x) = 2^(-E[h(x)] / c(ψ)); one half where there is nothing to isolate, c(ψ) = 0."""
        if self.expected == 0:
            return np.full(len(self.path_lengths), 0.5)
        return 2.0 ** (-self.mean_path_length / self.expected)


def average_path_length(n: ArrayLike) -> np.ndarray:
    """Return c(n) = 2 H(n - 1) - 2 (n - 1) / n, with H(i) ≈ ln i + γ; 1 for two rows, 0 for fewer.

    It is the mean number of comparisons of an unsuccessful search in a binary tree of n keys.

    >>> average_path_length([1, 2, 3, 256]).round(3).tolist()
    [0.0, 1.0, 1.207, 10.245]
    """
    n = np.asarray(n, dtype=np.float64)
    many = np.maximum(n, 3)
    c = 2 * (np.log(many - 1) + np.euler_gamma) - 2 * (many - 1) / many
    return np.where(n > 2, c, np.where(n == 2, 1.0, 0.0))


def draw_cut(X: np.ndarray, rng: np.random.Generator) -> tuple[int, float] | None:
    """Draw a column that is not constant, and a cut between its ends; None if all rows are alike.

    >>> column, cut = draw_cut(np.array([[1.0, 5.0], [1.0, 7.0]]), np.random.default_rng(0))
    >>> column, 5 < cut < 7
    (1, True)
    """
    low, high = X.min(axis=0), X.max(axis=0)
    columns = np.flatnonzero(low < high)
    if not len(columns):
        return None
    f = int(columns[rng.integers(len(columns))])
    return f, float(low[f] + rng.random() * (high[f] - low[f]))


def grow_isolation_tree(
    X: ArrayLike, draw: Draw, max_depth: int, rows: np.ndarray | None = None, depth: int = 0
) -> IsolationNode:
    """Cut the rows at random until each is alone, all are alike, or the tree is deep enough.

    ``draw`` is called with the rows of a node, parents before children and left before right.

    >>> X = [[1.0], [2.0], [3.0], [20.0]]
    >>> tree = grow_isolation_tree(X, lambda rows: (0, float(rows.mean())), max_depth=2)
    >>> tree.threshold, tree.right.path_length, tree.left.left.path_length
    (6.5, 1.0, 3.0)
    """
    X = np.asarray(X, dtype=np.float64)
    rows = np.arange(len(X)) if rows is None else rows
    cut = draw(X[rows]) if len(rows) > 1 and depth < max_depth else None
    if cut is None:
        return IsolationNode(rows, depth)
    feature, threshold = cut
    goes_left = X[rows, feature] <= threshold
    left = grow_isolation_tree(X, draw, max_depth, rows[goes_left], depth + 1)
    right = grow_isolation_tree(X, draw, max_depth, rows[~goes_left], depth + 1)
    return IsolationNode(rows, depth, feature, threshold, left, right)


def path_of(tree: IsolationNode, x: ArrayLike) -> list[IsolationNode]:
    """Return the nodes that a row passes; the last one is its leaf."""
    row, path = np.asarray(x, dtype=np.float64), [tree]
    while path[-1].left is not None and path[-1].right is not None:
        here = path[-1]
        path.append(path[-1].left if row[here.feature] <= here.threshold else path[-1].right)
    return path


def grow_isolation_forest(
    X: ArrayLike, n_trees: int = 100, sample: int = 256, seed: int = 0
) -> list[IsolationNode]:
    """Grow trees, each on ψ = ``sample`` rows drawn without replacement (all, if there are fewer)."""
    X, rng = np.asarray(X, dtype=np.float64), np.random.default_rng(seed)
    psi = min(sample, len(X))
    depth = ceil(log2(max(psi, 2)))
    bags = [rng.choice(len(X), psi, replace=False) for _ in range(n_trees)]
    return [grow_isolation_tree(X[bag], lambda rows: draw_cut(rows, rng), depth) for bag in bags]


def anomaly_scores(trees: list[IsolationNode], X: ArrayLike) -> IsolationScores:
    """Return path lengths and scores of rows.

    >>> X = np.append(np.random.default_rng(0).normal(size=300), 9.0)[:, None]
    >>> found = anomaly_scores(grow_isolation_forest(X, n_trees=50), X)
    >>> int(found.scores.argmax()), round(found.expected, 3), bool(found.scores[-1] > 0.7)
    (300, 10.245, True)
    """
    X = np.asarray(X, dtype=np.float64)
    lengths = [[path_of(tree, x)[-1].path_length for tree in trees] for x in X]
    expected = float(average_path_length(len(trees[0].rows)))
    return IsolationScores(np.array(lengths).reshape(len(X), len(trees)), expected)
