"""Forests without a target: trees of random cuts, each of one random column.

    rows of a bag ──► one column drawn, one cut drawn between its ends ──► … ──► leaves with path lengths

The depth of a leaf is how many random cuts isolate its rows: `IsolationForest` scores anomalies by it,
`RandomTreesEmbedding` names the leaves. The trees are grown depth first like those of ExtraTrees, for random
numbers as target: they choose the side of missing values, and which leaf is split next under
`max_leaf_nodes`. Then path lengths replace them (path_lengths.py), and the forest is one of regression trees.

A tree reads only the rows of its bag. Where most rows are in no bag, the trees are grown on a table of
those that are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy
from arboretum.base.estimator import check_same, goes_on, signature
from arboretum.base.members import tree_member
from arboretum.base.model_of_trees import ModelOfTrees
from arboretum.base.parameters import Parameter
from arboretum.base.rounds import Interrupted, Interruptible, progress
from arboretum.base.sampling import BagRules, drawn_rows
from arboretum.base.shared_parameters import ENSEMBLE, RUNNING, TABLE
from arboretum.cart.extra_tree import ExtraTreeRegressor
from arboretum.data.checks import check_rows
from arboretum.data.matrix import FrameMatrix
from arboretum.data.schema import Schema
from arboretum.data.target import weights
from arboretum.forest.path_lengths import with_path_lengths
from arboretum.forest.trees_on_bags import TreesOnBags

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.forest.growing import Plan
    from arboretum.structure.tree import Tree

__all__ = ["RandomCuts"]

_TARGET = 0x150  # key of the random target


class RandomCuts(TreesOnBags):
    """Growing and reading trees of random cuts over the columns of `schema_`."""

    _tree: ClassVar = ExtraTreeRegressor  # the estimator of a single tree
    _bags: BagRules
    n_outputs_: ClassVar[int] = 1  # a path length

    _family: ClassVar = "cuts"
    _learned: ClassVar[tuple[str, ...]] = ("trees_",)
    _parameters: ClassVar = {
        **TABLE,
        **ENSEMBLE,
        **RUNNING,
        "n_estimators": Parameter(p.integer(1), "Number of trees."),
        "random_state": Parameter(p.seed, "Seed. Tree t depends on (seed, t) only."),
    }
    _attributes: ClassVar = {
        "trees_ : list of Tree": "Their values are path lengths.",
        "estimators_ : list of ExtraTreeRegressor": "The trees as estimators, which predict path lengths.",
        "estimator_ : ExtraTreeRegressor": "The kind of tree, not fitted.",
        "estimators_samples_ : list of int arrays": "The rows of every tree.",
        **ModelOfTrees._attributes,
        **Interruptible._attributes_of_rounds,
        "schema_ : Schema": "Names, kinds and categories of the columns.",
        "n_features_in_ : int": "",
        "feature_names_in_ : array of str": "Only if the training table had names.",
        "feature_importances_ : float array": "Share of every column in how much path lengths differ.",
    }

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values.
        y : ignored
        sample_weight : array-like of shape (n_samples,) or None
            Rows of weight 0 are in no tree.

        Returns
        -------
        self
        """
        from arboretum.engine.keys import seed_from

        self._check_parameters()
        before = self.trees_ if goes_on(self, "tree") else []
        members = self._made_members() if before else []
        earlier = signature(self)
        matrix = self._learn_table(X)
        check_rows(matrix.n_rows)
        weight = weights(sample_weight, matrix.n_rows)
        if not before:
            self.seed_ = seed_from(self.random_state)
        bags = self._make_bags(matrix, weight)
        if before:
            check_same(self, earlier)
            bags = self._bags.going_on(bags, len(before))
        self._bags = bags
        wanted = range(len(before), int(self.n_estimators))
        with progress(len(wanted), bool(self.verbose), type(self).__name__) as on_progress:
            new = self._grow(matrix, wanted, on_progress)
        self.trees_ = before + new
        self._cache["members"] = members
        self._settle(matrix)
        ended = Interrupted(len(self.trees_), wanted.stop, "tree")
        return self._end_fit(ended if len(new) < len(wanted) else None)

    def _make_bags(self, matrix: Matrix, weight: np.ndarray | None) -> BagRules:
        """Return the rules by which trees get rows and columns."""
        raise NotImplementedError

    def _tree_parameters(self) -> dict[str, Any]:
        """Return the parameters of a tree."""
        raise NotImplementedError

    def _settle(self, matrix: Matrix) -> None:
        """Learn what depends on the finished trees."""

    def _grow(
        self, matrix: Matrix, numbers: range, grown: Callable[[int], None] | None
    ) -> list[Tree]:
        """Grow trees, those over the same columns together; interrupted, return the first ones."""
        from arboretum.forest.growing import grow_trees

        trees: list[Tree] = []
        each = [range(t, t + 1) for t in numbers]
        try:
            for some in [numbers] if self._bags.all_columns and each else each:
                before = len(trees)
                count = None if grown is None else lambda done, before=before: grown(before + done)
                new = grow_trees(self._plan(matrix, some), some, self._threads(), count)
                if new:
                    columns = self._bags.features(some.start)
                    trees += with_path_lengths(new, self.schema_, columns)
                if len(new) < len(some):
                    break
        except KeyboardInterrupt:
            if not numbers.start and not trees:
                raise
        return trees

    def _plan(self, matrix: Matrix, numbers: range) -> Plan:
        """Return how trees over the same columns are grown: on their columns, and the rows they drew."""
        from arboretum.engine.keys import uniform_array
        from arboretum.forest.growing import Plan
        from arboretum.grow import settings
        from arboretum.grow.grower import make_target

        bags, schema, n = self._bags, self.schema_, matrix.n_rows
        y, weight = uniform_array(_TARGET, n), None if bags.by_weight else bags.weight
        drawn: Any = bags
        if bags.draws * len(numbers) < n:
            drawn = _drawn_by(bags, numbers)
            matrix, y = matrix.take(drawn.rows), y[drawn.rows]
            weight = None if weight is None else weight[drawn.rows]
        if not bags.all_columns:
            columns = bags.features(numbers.start)
            matrix = FrameMatrix([matrix.column(f) for f in columns])
            schema = _part_of(schema, columns)
        target = make_target(y[:, None], None, weight)
        growth = settings.growth(self.estimator_, schema, target, n)
        return Plan(matrix=matrix, schema=schema, target=target, growth=growth, bags=drawn)

    # ------------------------------------------------------------------ reading
    @property
    def _leaf_shape(self) -> tuple[int, int]:
        return 1, 1

    def _path_sums(self, matrix: Matrix) -> np.ndarray:
        """Return the mean path length of every row, (rows, 1, 1)."""
        return self.ensemble_.answers(matrix, self._threads_for(matrix))

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        return replace(found, is_sum="predict" in found.answers, bags=self._bags)

    def _target_of_fit(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Any, Any, Any]:
        return None, None, weights(sample_weight, n_rows)

    # ------------------------------------------------------------------ members
    @property
    def estimator_(self) -> ExtraTreeRegressor:
        """The kind of tree, not fitted."""
        given = {**self._tree_parameters(), "unseen": self.unseen}
        return self._tree(**given, max_features=1, random_state=0)

    @property
    def estimators_(self) -> list[ExtraTreeRegressor]:
        """The trees as estimators over their columns, which predict path lengths."""
        self._check_fitted()
        made = self._made_members()
        if len(made) < len(self.trees_):
            made = [*made, *map(self._member, range(len(made), len(self.trees_)))]
            self._cache["members"] = made
        return made

    def _made_members(self) -> list[ExtraTreeRegressor]:
        """Return the estimators that were made already."""
        return self.__dict__.setdefault("_cache", {}).get("members", [])

    def _member(self, number: int) -> ExtraTreeRegressor:
        tree, schema = self.trees_[number], self.schema_
        if not self._bags.all_columns:
            columns = self._bags.features(number)
            schema = _part_of(schema, columns)
            feature = np.where(tree.is_leaf, -1, np.searchsorted(columns, tree.feature))
            tree = replace(tree, feature=feature.astype(np.int32), schema=schema)
        parameters = self.estimator_.get_params()
        return tree_member(
            self._tree, parameters, schema, _kept_tree=tree, n_outputs_=1, max_features_=1
        )

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows of every tree, int32; a row drawn twice is there twice."""
        self._check_fitted()
        return [drawn_rows(self._bags.counts(t)) for t in range(len(self))]

    # ------------------------------------------------------------------ keeping
    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        self._bags = BagRules.from_state(state["bags"], self.schema_.n_features)
        self.seed_ = self._bags.seed


# ---------------------------------------------------------------------- parts of a table
def _part_of(schema: Schema, columns: np.ndarray) -> Schema:
    return Schema(tuple(schema.columns[f] for f in columns), schema.named)


@dataclass(frozen=True, eq=False)
class _DrawnRows:
    """The bags of some trees, over the rows that are in any of them."""

    seed: int
    rows: np.ndarray
    bags: dict[int, tuple[np.ndarray, np.ndarray]]  # rows of a tree, and how often each was drawn

    def counts(self, tree: int) -> np.ndarray:
        counts, (rows, times) = np.zeros(len(self.rows)), self.bags[tree]
        counts[np.searchsorted(self.rows, rows)] = times
        return counts


def _drawn_by(bags: BagRules, numbers: range) -> _DrawnRows:
    found = {}
    for t in numbers:
        counts = bags.counts(t)
        rows = np.flatnonzero(counts)
        found[t] = rows, counts[rows]
    every = [rows for rows, _ in found.values()]
    return _DrawnRows(bags.seed, np.unique(np.concatenate([np.empty(0, np.int64), *every])), found)
