"""Figures of a forest besides predictions: honest errors, importances of columns, uncertainty.

    out_of_bag, oob_curve     every training row, predicted only by the trees that never saw it
    mdi                       importance: the impurity a column's splits remove
    permutation_importance    importance: what is lost when a column is shuffled out of bag
    leaf_weights, quantiles   the training rows behind an answer, and the spread of their targets
    ij_variance               how much the answer would vary from one training set to the next

Most take arrays with the trees first (see forest.py), so the figures of any forest can be put in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.cart import TextbookNode, predict
from arboretum.textbook.forest import TextbookForest, decide

__all__ = [
    "Importance",
    "Jackknife",
    "OOBStep",
    "OutOfBag",
    "ij_variance",
    "leaf_weights",
    "mdi",
    "oob_curve",
    "out_of_bag",
    "permutation_importance",
    "quantiles",
]


# ---------------------------------------------------------------------- out of bag
@dataclass(frozen=True, eq=False)
class OutOfBag:
    """The predictions of the trees that never saw a row."""

    n_trees: np.ndarray  # per row: the number of trees that never saw it
    total: np.ndarray  # (n, n_values): their answers added up; of votes: the counts
    classes: bool

    @property
    def covered(self) -> np.ndarray:
        """The rows some tree never saw; the others count nowhere."""
        return self.n_trees > 0

    @property
    def decision(self) -> np.ndarray:
        """The mean answer; NaN for a row every tree saw."""
        n_trees = np.where(self.covered, self.n_trees, np.nan)
        return self.total / n_trees[:, None]

    @property
    def prediction(self) -> np.ndarray:
        """The class, -1 for a row every tree saw; or the number, then NaN."""
        answer = decide(self.decision, self.classes)
        return np.where(self.covered, answer, -1) if self.classes else answer

    def error(self, y: ArrayLike) -> float:
        """The share of covered rows that are wrong, or their mean squared error; NaN if no row is."""
        if not self.covered.any():
            return np.nan
        wrong = (self.prediction - np.asarray(y))[self.covered]
        return float(np.mean(wrong != 0) if self.classes else np.mean(wrong**2))

    def score(self, y: ArrayLike) -> float:
        """The share of covered rows that are right, or R² = 1 - error / variance."""
        if self.classes:
            return 1 - self.error(y)
        variance = float(np.var(np.asarray(y)[self.covered])) if self.covered.any() else np.nan
        if variance == 0:  # equal numbers: all or nothing
            return float(self.error(y) == 0)
        return 1 - self.error(y) / variance


@dataclass(frozen=True)
class OOBStep:
    """One point of the error curve."""

    n_trees: int
    covered: int  # rows that one of these trees never saw
    error: float


def out_of_bag(answers: np.ndarray, in_bag: np.ndarray, classes: bool = True) -> OutOfBag:
    """Add up the answers of the trees that did not draw the row.

    Parameters
    ----------
    answers : array of shape (n_trees, n, n_values)
        Of ``tree_answers`` for the training rows, or of ``tree_votes`` to count votes.
    in_bag : array of shape (n_trees, n)
        How often each tree drew each row.
    classes : bool
        Whether the answers are class shares, or numbers.

    Examples
    --------
    Two rows and two trees; the first tree drew row 0 twice, the second drew both rows:

    >>> answers = np.array([[[0.9, 0.1], [0.4, 0.6]], [[1.0, 0.0], [1.0, 0.0]]])
    >>> oob = out_of_bag(answers, np.array([[2, 0], [1, 1]]))
    >>> oob.n_trees.tolist(), oob.decision.tolist(), oob.prediction.tolist(), oob.score([0, 1])
    ([0, 1], [[nan, nan], [0.4, 0.6]], [-1, 1], 1.0)
    """
    away = np.asarray(in_bag) == 0
    if answers.shape[:2] != away.shape:
        raise ValueError(f"answers {answers.shape} and in_bag {away.shape} disagree: trees first")
    return OutOfBag(away.sum(axis=0), np.einsum("tn,tnk->nk", away, answers), classes)


def oob_curve(
    answers: np.ndarray, in_bag: np.ndarray, y: ArrayLike, classes: bool = True
) -> list[OOBStep]:
    """Return the out-of-bag error of the first tree, of the first two, and so on.

    >>> answers = np.array([[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]])
    >>> for step in oob_curve(answers, np.array([[2, 0], [0, 2]]), [1, 1]):
    ...     print(step)
    OOBStep(n_trees=1, covered=1, error=1.0)
    OOBStep(n_trees=2, covered=2, error=0.5)
    """
    steps = []
    for n_trees in range(1, len(answers) + 1):
        oob = out_of_bag(answers[:n_trees], in_bag[:n_trees], classes)
        steps.append(OOBStep(n_trees, int(oob.covered.sum()), oob.error(y)))
    return steps


# ---------------------------------------------------------------------- importance
@dataclass(frozen=True, eq=False)
class Importance:
    """What every column is worth to every tree."""

    per_tree: np.ndarray  # (n_trees, n_columns)

    @property
    def mean(self) -> np.ndarray:
        return self.per_tree.sum(axis=0) / max(1, len(self.per_tree))

    @property
    def standard_error(self) -> np.ndarray:
        """Of the mean, from the spread between the trees; NaN for fewer than two."""
        n = len(self.per_tree)
        spread = np.sum((self.per_tree - self.mean) ** 2, axis=0)
        return np.sqrt(spread / (n * (n - 1))) if n > 1 else np.full_like(spread, np.nan)


def mdi(forest: TextbookForest) -> Importance:
    """Return the mean decrease in impurity: the gains of a column's splits, 1 in all per tree.

    Trees without a split are left out. The measure favours columns with many distinct values, even
    pure noise: they offer more questions, and the gains are those of the rows that chose them.

    >>> from arboretum.textbook.forest import ForestRules, grow_forest
    >>> X, y = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], [0, 1, 1]
    >>> mdi(grow_forest(X, y, recipe=ForestRules(3, bootstrap=False))).mean.tolist()
    [1.0, 0.0]
    """
    gains = np.zeros((len(forest.trees), forest.X.shape[1]))
    for gain, tree in zip(gains, forest.trees):
        for node in tree:
            if node.chosen:
                gain[node.chosen.feature] += node.chosen.gain
    totals = gains.sum(axis=1, keepdims=True)
    splits = totals[:, 0] > 0
    return Importance(gains[splits] / totals[splits])


def permutation_importance(forest: TextbookForest, rng: np.random.Generator) -> Importance:
    """Return what each tree loses on its out-of-bag rows when a column is shuffled among them.

    The loss is the share of wrong classes, or the mean squared error. Trees without out-of-bag rows
    are left out.

    >>> from arboretum.textbook.forest import ForestRules, grow_forest
    >>> X = np.column_stack([np.arange(20.0), np.zeros(20)])
    >>> forest = grow_forest(X, X[:, 0] >= 10, recipe=ForestRules(10, max_features=None))
    >>> worth = permutation_importance(forest, np.random.default_rng(0))
    >>> (worth.mean > 4 * worth.standard_error).tolist(), worth.mean[1].tolist()
    ([True, False], 0.0)
    """

    def loss(tree: TextbookNode, X: np.ndarray, y: np.ndarray) -> float:
        wrong = predict(tree, X) - y
        return float(np.mean(wrong != 0) if forest.classifies else np.mean(wrong**2))

    per_tree = []
    for tree, counts in zip(forest.trees, forest.in_bag):
        X, y = forest.X[counts == 0], forest.y[counts == 0]
        if not len(y):
            continue
        before, after = loss(tree, X, y), []
        for column in range(X.shape[1]):
            shuffled = X.copy()
            shuffled[:, column] = X[rng.permutation(len(y)), column]
            after.append(loss(tree, shuffled, y))
        per_tree.append(np.array(after) - before)
    if not per_tree:
        raise ValueError("no tree has out-of-bag rows; grow the forest with bootstrap=True")
    return Importance(np.array(per_tree))


# ---------------------------------------------------------------------- how sure is the answer?
def leaf_weights(leaves: np.ndarray, in_bag: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return how much every training row counts in the answer for every new row: (n_new, n).

    In one tree the rows of the new row's leaf share a weight of 1, each by how often it was drawn;
    the forest takes the mean over the trees (Meinshausen 2006). So Σ_i w_i y_i is the forest's own
    prediction, and the whole distribution of y comes with it.

    Parameters
    ----------
    leaves, in_bag : arrays of shape (n_trees, n)
        The leaves of the training rows, and how often each was drawn.
    new : array of shape (n_trees, n_new)
        The leaves of the new rows.

    Examples
    --------
    >>> leaves, in_bag = np.array([[0, 0, 1], [0, 1, 1]]), np.array([[1, 1, 1], [0, 1, 2]])
    >>> leaf_weights(leaves, in_bag, np.array([[0], [1]])).round(3).tolist()
    [[0.25, 0.417, 0.333]]
    """
    weights = np.zeros((new.shape[1], leaves.shape[1]))
    for leaf_of, counts, new_leaf in zip(leaves, in_bag, new):
        inside = (new_leaf[:, None] == leaf_of[None, :]) * counts
        weights += inside / inside.sum(axis=1, keepdims=True)
    return weights / len(leaves)


def quantiles(y: ArrayLike, weights: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Return the smallest y at which the weight so far reaches q of the total: (n_new, len(q)).

    >>> quantiles([1.0, 2.0, 3.0, 4.0], [[1, 1, 1, 1], [0, 0, 1, 9]], [0.25, 0.5]).tolist()
    [[1.0, 2.0], [4.0, 4.0]]
    """
    y, q = np.asarray(y, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if not np.all((q >= 0) & (q <= 1)):
        raise ValueError(f"quantiles lie between 0 and 1, got {q.tolist()}")
    order = np.argsort(y, kind="stable")
    found = []
    for w in np.atleast_2d(np.asarray(weights, dtype=np.float64)):
        present = order[w[order] > 0]
        so_far = np.cumsum(w[present]) / w[present].sum()
        # twelve digits: 0.1 + 0.2 has reached 0.3
        place = np.searchsorted(so_far.round(12), q.round(12), side="left")
        found.append(y[present][np.minimum(place, len(present) - 1)])
    return np.array(found)


@dataclass(frozen=True, eq=False)
class Jackknife:
    """The variance of a bagged prediction, and what it is made of."""

    covariances: np.ndarray = field(repr=False)  # (n, n_new): C_i
    raw: np.ndarray  # Σ_i C_i²
    noise: np.ndarray  # what too few trees add to it

    @property
    def variance(self) -> np.ndarray:
        """``raw - noise``; below zero if there are too few trees."""
        return self.raw - self.noise


def ij_variance(in_bag: np.ndarray, predictions: np.ndarray) -> Jackknife:
    """Return the infinitesimal-jackknife variance of a forest's mean prediction.

    Would the prediction t̄ change if row i counted a little more? Trees that drew it more often show it:

        C_i = 1/B Σ_b (N_bi - N̄_i) (t_b - t̄)
        V   = Σ_i C_i² - n/B² Σ_b (t_b - t̄)²

    The second term is the noise that B trees leave in the first (Wager, Hastie and Efron 2014). For
    n it takes the draws per tree, which are the same unless ``max_samples`` is set.

    Parameters
    ----------
    in_bag : array of shape (n_trees, n)
        N_bi, how often tree b drew row i.
    predictions : array of shape (n_trees, n_new)
        t_b for every new row: the number, or the share of one class.

    Examples
    --------
    >>> jackknife = ij_variance(np.array([[2, 0], [0, 2], [1, 1]]), np.array([[3.0], [1], [2]]))
    >>> jackknife.raw.round(3), jackknife.noise.round(3)
    (array([0.889]), array([0.444]))
    """
    counts, t = np.asarray(in_bag, dtype=np.float64), np.asarray(predictions, dtype=np.float64)
    if counts.ndim != 2 or t.ndim != 2 or len(counts) != len(t):
        raise ValueError(f"in_bag {counts.shape} and predictions {t.shape} need one row per tree")
    if (counts == counts[0]).all():
        raise ValueError(
            "all trees drew the same rows, so nothing can be estimated; use a bootstrap"
        )
    n_trees, n_draws = len(counts), counts.sum(axis=1).mean()
    deviations = t - t.mean(axis=0)
    covariances = (counts - counts.mean(axis=0)).T @ deviations / n_trees
    noise = n_draws / n_trees**2 * np.sum(deviations**2, axis=0)
    return Jackknife(covariances, np.sum(covariances**2, axis=0), noise)
