"""A model of trees: how its leaves are read, what its trees weigh, and how their answers are combined.

    row ──▶ leaf of tree 0 ──reading──▶ numbers × weight 0 ─┐
        ──▶ leaf of tree 1 ──reading──▶ numbers × weight 1 ─┼─ rule ─▶ answers ─ link ─▶ predictions
        ──▶ …                                               ┘

    model                       reading           rule      trees answer for
    CART, forests, bagging      value, vote       mean      all outputs
    AdaBoost                    SAMME, SAMME.R    mean      all classes
      discrete; coordinate      sign              sum       one output
      R2                        value             median    one output
    Friedman's and second-      value             sum       one output each: a round has
      order boosting ("rf")                      (average)  n_outputs × n_parallel trees

Everything computed from many trees starts here: answers, answers after every round, leaves, paths, what
columns contribute, and the additive form (additive.py), the basis of explanations and exports.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.quantile import weighted_quantile
from arboretum.errors import ParameterError
from arboretum.lazy import cached_property
from arboretum.predict.additive import AdditiveForm, NoAdditiveForm
from arboretum.predict.leaf_values import read_leaves
from arboretum.predict.link import IDENTITY, Link
from arboretum.predict.sum import Terms
from arboretum.predict.walk import paths_of
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_matrix

    from arboretum.data.matrix import Matrix

__all__ = ["RULES", "Ensemble", "SplitSums", "weighted_median"]

RULES = ("sum", "mean", "average", "median")
_SORTED_NUMBERS = 1 << 22  # answers sorted at a time


@dataclass(frozen=True, eq=False)
class SplitSums:
    """Sums over the splits of all trees, one number per column."""

    count: np.ndarray  # how many splits use a column
    gain: np.ndarray
    cover: np.ndarray  # the weight of the nodes that split on it


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The trees of a model; see the module's text for the picture.

    Attributes
    ----------
    trees : list of Tree
        Round by round; within a round output by output; for each output its parallel trees.
    weights : float64 array
        The weight of every tree.
    base : float64 array
        The answer before any tree; its shape is that of the answer to one row: (outputs,), or (outputs,
        values) for class probabilities of several outputs.
    n_parallel : int
        Trees per round and output.
    rule : {"sum", "mean", "average", "median"}
        base + Σ weight × number; Σ weight × number / Σ weight; base + the mean over rounds; the median
        by weight, which has neither base nor several outputs.
    reading : str
        How a leaf is read: "value", "vote", "sign", "SAMME" or "SAMME.R" (leaf_values.py).
    link : Link
        How answers become predictions.

    Examples
    --------
    >>> from arboretum import CARTRegressor
    >>> from arboretum.data.matrix import DenseMatrix
    >>> X = np.array([[0.0], [1.0]])
    >>> trees = [CARTRegressor().fit(X, y).tree_ for y in ([0.0, 2.0], [5.0, 1.0])]
    >>> both = Ensemble(trees, np.array([1.0, 0.5]), np.array([10.0]))
    >>> both.answers(DenseMatrix(X)).ravel(), replace(both, rule="mean").answers(DenseMatrix(X)).ravel()
    (array([12.5, 12.5]), array([8.33..., 8.33...]))
    """

    trees: list[Tree]
    weights: np.ndarray
    base: np.ndarray
    n_parallel: int = 1
    rule: str = "sum"
    reading: str = "value"
    link: Link = IDENTITY

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ParameterError(f"rule of an Ensemble must be one of {RULES}, got {self.rule!r}")

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle stores: the fields, without the layouts made from them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    # ------------------------------------------------------------------ shape
    @property
    def n_outputs(self) -> int:
        return len(self.base)

    @cached_property
    def per_round(self) -> int:
        """Trees per round: ``n_parallel`` if a tree answers for all outputs, else that many per output."""
        numbers = 1
        if self.trees:
            numbers = read_leaves(self.trees[0].value[:1], self.reading).shape[1]
        return self.base.size // numbers * self.n_parallel

    @property
    def n_rounds(self) -> int:
        return len(self.trees) // self.per_round

    @property
    def averaged(self) -> bool:
        """Whether the answer is the base and the mean over rounds (boosted forests: "rf")."""
        return self.rule == "average"

    def output_of(self, tree: int) -> int:
        """Return the output a tree belongs to; 0 if it answers for all."""
        return tree % self.per_round // self.n_parallel

    def values_of(self, tree: int, *, with_base: bool = False) -> np.ndarray:
        """Return what each node of a tree adds to the answer, in the shape of the tree's values.

        ``with_base`` adds the base to the first tree of every output, in an average to all of them.
        """
        value = self.trees[tree].value * self.weights[tree]
        has_base = with_base and (self.averaged or tree < self.per_round)
        return value + self.base[self.output_of(tree)] if has_base else value

    def rounds(self, start: int, end: int | None) -> Ensemble:
        """Return the model of rounds ``start`` to ``end`` (not included; None: the last).

        The last one is kept, with its layout: a model stopped early predicts with the same rounds again.
        """
        stop = self.n_rounds if end is None else min(end, self.n_rounds)
        lo, hi = start * self.per_round, stop * self.per_round
        kept = self.__dict__.get("_last_rounds")
        if kept is None or kept[0] != (lo, hi):
            some = replace(self, trees=self.trees[lo:hi], weights=self.weights[lo:hi])
            kept = self.__dict__["_last_rounds"] = ((lo, hi), some)
        return kept[1]

    # ------------------------------------------------------------------ answers
    @cached_property
    def terms(self) -> Terms:
        """The numbers of the leaves, times the weights of their trees."""
        weights = np.ones(len(self.trees)) if self.rule == "median" else self.weights
        if self.averaged and self.n_rounds:
            weights = weights * (1.0 / self.n_rounds)
        values = self._weighted_values(weights)
        turns = np.arange(len(self.trees), dtype=np.int64) % self.per_round
        return Terms(self.trees, values, turns // self.n_parallel)

    def _weighted_values(self, weights: np.ndarray) -> list[np.ndarray]:
        """Return the numbers of the nodes of every tree, (nodes, numbers), times the weight of the tree."""
        each = [tree.value for tree in self.trees]
        if self.reading == "value" or not each:  # trees of weight 1 are not copied
            pairs = zip(each, weights.tolist(), strict=True)
            read = [(read_leaves(value, self.reading), weight) for value, weight in pairs]
            return [one if weight == 1.0 else weight * one for one, weight in read]
        sizes = [len(value) for value in each]
        together = read_leaves(np.concatenate(each), self.reading)  # for all trees in one go
        together *= np.repeat(weights, sizes)[:, None]
        ends = np.cumsum(sizes).tolist()
        return [together[start:end] for start, end in zip([0, *ends], ends)]

    def answers(
        self, matrix: Matrix, n_jobs: int = 1, start: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the combined answers, (rows, outputs) or (rows, outputs, values).

        ``start``, one answer per row, replaces the base.
        """
        if self.rule == "median":
            return self._medians(self.terms.numbers(matrix, n_jobs))
        total = self._started(matrix.n_rows, start)
        self.terms.add(matrix, total, n_jobs)
        return self._finished(total, len(self.trees))

    def predict(self, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
        """Return the predictions, the link of the answers."""
        return self.link.predict(self.answers(matrix, n_jobs))

    def _started(self, n_rows: int, start: np.ndarray | None) -> np.ndarray:
        total = np.empty((n_rows, self.base.size))
        total[:] = self.base.ravel() if start is None else start.reshape(n_rows, -1)
        return total

    def _finished(self, total: np.ndarray, n_trees: int) -> np.ndarray:
        """Turn sums over the first trees into answers, in place."""
        if self.rule == "mean":
            total /= self.weights[:n_trees].sum()
        return total.reshape(len(total), *self.base.shape)

    def staged(
        self, matrix: Matrix, n_jobs: int = 1, start: np.ndarray | None = None
    ) -> Iterator[np.ndarray]:
        """Yield the answers after every round."""
        if self.rule == "median":
            numbers = self.terms.numbers(matrix, n_jobs)
            yield from (self._medians(numbers[:, : t + 1]) for t in range(len(self.trees)))
            return
        terms = replace(self, rule="sum").terms if self.averaged else self.terms
        begin = self._started(matrix.n_rows, start)
        total = begin.copy()
        for t, answer in enumerate(terms.each(matrix, n_jobs)):
            column = int(terms.columns[t])
            total[:, column : column + answer.shape[1]] += answer
            if (t + 1) % self.per_round == 0:
                done = (t + 1) // self.per_round
                now = begin + (total - begin) / done if self.averaged else total.copy()
                yield self._finished(now, t + 1)

    def _medians(self, numbers: np.ndarray) -> np.ndarray:
        return weighted_median(numbers, self.weights[: numbers.shape[1]])[:, None]

    # ------------------------------------------------------------------ leaves and paths
    def leaves(self, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
        """Return the leaf every row reaches in every tree, (rows, trees)."""
        return self.terms.leaves(matrix, n_jobs)

    def paths(self, matrix: Matrix, n_jobs: int = 1) -> tuple[csr_matrix, np.ndarray]:
        """Return the (rows × nodes) matrix of the nodes each row passes, and the first node of each tree."""
        from scipy.sparse import hstack

        passed = [paths_of(tree, matrix, n_jobs) for tree in self.trees]
        return hstack(passed).tocsr(), np.cumsum([0, *map(len, self.trees)])

    # ------------------------------------------------------------------ columns
    def split_sums(self, n_features: int) -> SplitSums:
        """Return how many splits use every column, and the gains and covers of these splits."""
        feature, gain, cover = (
            np.concatenate(
                [np.empty(0, dtype)] + [getattr(tree, name)[~tree.is_leaf] for tree in self.trees]
            )
            for name, dtype in (("feature", np.int32), ("gain", np.float64), ("weight", np.float64))
        )
        count = np.bincount(feature, minlength=n_features).astype(np.float64)
        return SplitSums(
            count, np.bincount(feature, gain, n_features), np.bincount(feature, cover, n_features)
        )

    def mean_importances(self, n_features: int) -> np.ndarray:
        """Return each column's share of the impurity decrease, the mean over the trees (MDI).

        Trees of one leaf have no splits and are left out.
        """
        each = [tree.feature_importances() for tree in self.trees if len(tree) > 1]
        if not each:
            return np.zeros(n_features)
        mean = np.mean(each, axis=0)
        return mean / mean.sum() if mean.sum() > 0 else mean

    # ------------------------------------------------------------------ additive form
    def additive(self) -> AdditiveForm:
        """Return the model as a number per leaf and output, a start and a link.

        Raises
        ------
        NoAdditiveForm
            The answer is a weighted median, or trees send parts of a row down several branches.
        """
        if self.rule == "median":
            raise NoAdditiveForm(
                "the answer is the weighted median of the trees, which is not a sum over their leaves: "
                "look at the trees one by one (trees_), or use GradientBoostingRegressor"
            )
        if any(tree.spreads for tree in self.trees):
            raise NoAdditiveForm(
                "a row with a missing value goes down several branches of a tree, a share down each, so its "
                "answer is not the number of one leaf: use predict_proba, or grow the tree by CART"
            )
        terms = self.terms
        if self.rule == "mean":
            all_weight = self.weights.sum()
            terms = replace(terms, values=[value / all_weight for value in terms.values])
        return AdditiveForm(self.base.ravel(), terms, self.link)


def weighted_median(answers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted median of every row: the smallest answer that reaches half of the weight.

    >>> weighted_median(np.array([[3.0, 1.0, 2.0]]), np.array([0.2, 0.4, 0.4]))
    array([2.])
    """
    step = max(1, _SORTED_NUMBERS // max(1, answers.shape[1]))
    parts = [
        weighted_quantile(answers[lo : lo + step], 0.5, weights)
        for lo in range(0, len(answers), step)
    ]
    return np.concatenate([np.empty(0), *parts])  # no rows: no parts
