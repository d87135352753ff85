"""The importance of a column to a forest: the loss when it is shuffled.

Every tree predicts the rows it has not seen, then again with one column shuffled among them; the
rise of the loss is the column's importance in this tree (Breiman 2001). The mean over the trees comes with
a standard error:

    column    tree 0   tree 1   tree 2   ...      mean ± standard error
    age        0.21     0.18     0.25             0.21 ± 0.02
    noise      0.00    -0.01     0.01             0.00 ± 0.01       shuffling it may even help

Unlike the impurity decrease (MDI) it does not favour columns with many values, and memorised training
rows do not count. Columns with the same information split the credit: each can replace the
other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.sampling import tree_key
from arboretum.data.target import encode_classes, numbers, weights
from arboretum.engine import parallel
from arboretum.errors import DataError, ParameterError
from arboretum.html import html_table
from arboretum.predict.walk import walk_block
from arboretum.structure.tree import LEAF

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.forest.estimator import Forest
    from arboretum.structure.tree import Tree

__all__ = ["Importance", "permutation_importance"]

_BLOCK_VALUES = 1 << 23  # values of a block of rows: 64 megabytes
_SHUFFLE = 0x5F1E  # makes these keys differ from those of a tree's other draws


@dataclass(frozen=True, eq=False)
class Importance:
    """The importance of every column in every tree.

    Attributes
    ----------
    per_tree : (n_trees, n_columns) float64 array
        Without trees whose bag holds every row.
    names : tuple of str
        The columns.
    measure : str
        The measure in words: the label of a plot.
    """

    per_tree: np.ndarray = field(repr=False)
    names: tuple[str, ...]
    measure: str

    @property
    def mean(self) -> np.ndarray:
        """Mean over the trees."""
        return self.per_tree.sum(axis=0) / max(1, len(self.per_tree))

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean, from the spread between trees; NaN for fewer than two trees."""
        n = len(self.per_tree)
        if n < 2:
            return np.full(self.per_tree.shape[1], np.nan)
        return self.per_tree.std(axis=0, ddof=1) / np.sqrt(n)

    @property
    def order(self) -> np.ndarray:
        """Columns by falling mean, the first of equals first."""
        return np.argsort(-self.mean, kind="stable")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        heads = ("column", "mean", "standard error")
        width = 3 if len(self.per_tree) > 1 else 2
        return html_table(self.measure, heads[:width], [row[:width] for row in self._rows()])

    def __str__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = (f"{name:<{width}}  {mean:>10} {error}" for name, mean, error in self._rows())
        return "\n".join([self.measure, *(line.rstrip() for line in lines)])

    def _rows(self) -> list[tuple[str, str, str]]:
        """Return name, mean and standard error as text; one measurement has no standard error."""
        errors = [
            f"± {error:.2g}" if len(self.per_tree) > 1 else "" for error in self.standard_error
        ]
        return [(self.names[f], f"{self.mean[f]:.4g}", errors[f]) for f in self.order]


def permutation_importance(forest: Forest, X: Any, y: Any, sample_weight: Any = None) -> Importance:
    """Return how much the loss of each tree on its out-of-bag rows rises when a column is shuffled.

    The loss is the error rate, or the mean squared error (with several outputs, the mean
    over them). A shuffle depends on (seed, tree, column) only: the result is the same every time and
    for any number of threads. Trees whose bag holds every row are left out.

    Parameters
    ----------
    forest : forest fitted with ``bootstrap=True``
    X, y : the table and the target the forest was fitted on
    sample_weight : array-like of shape (n,), optional
        Weights of the rows in the loss; rows of weight 0 do not count.

    Returns
    -------
    Importance
        With ``mean``, ``standard_error`` and ``per_tree``; `plot_importance` draws it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> worth = permutation_importance(forest, X, y)
    >>> sorted(worth.order[:2].tolist()), worth.per_tree.shape  # the petals
    ([2, 3], (50, 4))
    """
    matrix = forest._encode(X)
    if forest._bags.draws is None:
        raise ParameterError(
            "out-of-bag importance needs rows that a tree has not seen, and this forest was grown "
            "with bootstrap=False: fit it with bootstrap=True, or use "
            "sklearn.inspection.permutation_importance on held-out rows"
        )
    if matrix.n_rows != forest._bags.n_rows:
        raise DataError(
            f"X has {matrix.n_rows} rows, but the forest was fitted on {forest._bags.n_rows}: give the "
            "training table, in the same order; for other rows there is "
            "sklearn.inspection.permutation_importance"
        )
    truth = _truth(forest, y)
    w = weights(sample_weight, matrix.n_rows)
    w = np.ones(matrix.n_rows) if w is None else w
    losses: dict[int, np.ndarray] = {}

    def work(t: int) -> None:
        rows = np.flatnonzero((forest._bags.counts(t) == 0) & (w > 0))
        if len(rows):
            spoilt = _Spoilt(forest, t, matrix.take(rows), truth[rows], w[rows])
            losses[t] = spoilt.losses()

    parallel.run(work, range(len(forest.trees_)), forest._threads())
    if not losses:
        raise DataError(
            "no tree has out-of-bag rows: grow more trees, or draw smaller samples (max_samples)"
        )
    what = "share of wrong classes" if hasattr(forest, "classes_") else "mean squared error"
    table = np.array([losses[t] for t in sorted(losses)])
    return Importance(table, forest.schema_.names, f"increase of the {what}, out of bag")


def _truth(forest: Forest, y: Any) -> np.ndarray:
    """Return class codes or numbers, (rows, outputs), checked against what the forest predicts."""
    name = type(forest).__name__
    known = getattr(forest, "classes_", None)
    if known is None:
        truth, _ = numbers(y, n_rows=forest._bags.n_rows, estimator_name=name)
    else:
        classes, truth, _ = encode_classes(y, n_rows=forest._bags.n_rows, estimator_name=name)
        known = [known] if isinstance(known, np.ndarray) else known
        same = len(known) == len(classes) and all(map(np.array_equal, known, classes))
        if not same:
            raise DataError("y has other classes than the forest was fitted on: give the same y")
    if truth.shape[1] != forest.n_outputs_:
        raise DataError(
            f"y has {truth.shape[1]} outputs, but the forest was fitted on {forest.n_outputs_}: give "
            "the same y"
        )
    return truth


def shuffle_key(seed: int, tree: int) -> int:
    """Return the key of a tree's shuffles."""
    return tree_key(tree_key(seed, tree), _SHUFFLE)


def shuffled(key: int, column: int, n: int) -> np.ndarray:
    """Return the numbers 0 to n - 1 in the random order given by a key and a column."""
    from arboretum.engine.random import draw_features

    order = np.empty((1, n), np.int64)
    draw_features(np.array([tree_key(key, column)], np.uint64), order)
    return order[0]


class _Spoilt:
    """One tree and the rows it has not seen, with one column after the other shuffled."""

    def __init__(
        self, forest: Forest, number: int, matrix: Matrix, y: np.ndarray, w: np.ndarray
    ) -> None:
        self.key = shuffle_key(forest.seed_, number)
        self.tree: Tree = forest.trees_[number]
        self.matrix, self.y, self.w = matrix, y, w
        self.classes = hasattr(forest, "classes_")
        value = self.tree.value
        self.answer = value.argmax(axis=2) if self.classes else value[:, :, 0]

    def losses(self) -> np.ndarray:
        """Return how much the loss rises with each column; 0 for columns the tree does not split on."""
        n, n_columns = self.matrix.shape
        used = np.unique(self.tree.feature[self.tree.kind != LEAF])
        added = np.zeros(n_columns)
        step = max(64, _BLOCK_VALUES // n_columns)
        for lo in range(0, n, step):
            hi = min(lo + step, n)
            block = np.array(self.matrix.rows(lo, hi))
            before = self._loss(block, lo)
            for f in used.tolist():
                column = block[:, f].copy()
                block[:, f] = self.matrix.column(f)[shuffled(self.key, f, n)[lo:hi]]
                added[f] += self._loss(block, lo) - before
                block[:, f] = column
        return added / self.w.sum()

    def _loss(self, block: np.ndarray, lo: int) -> float:
        hi = lo + len(block)
        wrong = self.answer[walk_block(self.tree, block)] - self.y[lo:hi]
        each = np.mean(wrong != 0 if self.classes else wrong * wrong, axis=1)
        return float(np.sum(each * self.w[lo:hi]))
