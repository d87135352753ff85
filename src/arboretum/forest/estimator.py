"""What all forests share: learning, growing, asking the trees, keeping.

A forest is a list of trees over one schema. Random forest and ExtraTrees differ in how a tree is
grown; a classifier (classifier.py) and a regressor (regressor.py) in what is made of the trees' answers.
What trees can tell beyond that has a file each, and a method here that leads there.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from arboretum.base import parameters as p
from arboretum.base.parameters import Declared
from arboretum.base.progress import progress
from arboretum.base.sampling import Bootstrap, n_draws
from arboretum.data.checks import check_rows, check_weights
from arboretum.data.schema import Schema, encode, learn_schema
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.forest.training_rows import Kept, keep, read_kept
from arboretum.grow import settings
from arboretum.predict.oob_attributes import OutOfBagAttributes
from arboretum.predict.out_of_bag import out_of_bag
from arboretum.predict.voting import leaves_in
from arboretum.tree.tree import Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.forest.growing import Plan
    from arboretum.forest.importance import Importance
    from arboretum.grow.criterion import Target

__all__ = ["FOREST_RULES", "Forest"]

FOREST_RULES = {
    "n_estimators": p.integer(1),
    "max_depth": p.integer(1) | p.none,
    "min_samples_split": p.integer(2) | p.fraction(0, 1, open_low=True),
    "min_samples_leaf": p.integer(1) | p.fraction(0, 1, open_low=True, open_high=True),
    "min_weight_fraction_leaf": p.real(0, 0.5),
    "max_features": p.integer(1) | p.fraction(0, 1, open_low=True) | p.one_of("sqrt", "log2", None),
    "max_leaf_nodes": p.integer(2) | p.none,
    "min_impurity_decrease": p.real(0),
    "bootstrap": p.flag,
    "oob_score": p.flag | p.Rule("a function of (y, prediction)", callable),
    "n_jobs": p.jobs,
    "random_state": p.seed,
    "verbose": p.integer(0) | p.flag,
    "warm_start": p.flag,
    "ccp_alpha": p.real(0),
    "max_samples": p.integer(1) | p.fraction(0, 1, open_low=True) | p.none,
    "unseen": p.one_of("missing", "error"),
    "keep_leaves": p.flag,
}


_LEARNED = ("trees_", "oob_score_", "_oob", "_kept")  # what a fit begins without


class Forest(OutOfBagAttributes, Declared, BaseEstimator):
    """Growing and reading a list of trees over the columns of `schema_`."""

    # what trees know and forests have no parameter for
    splitter: ClassVar[str] = "best"
    surrogates: ClassVar[int] = 0
    max_bins: ClassVar[None] = None
    category_penalty: float = 1.0  # where subsets are searched, not drawn

    schema_: Schema
    trees_: list[Tree]
    _bags: Bootstrap
    _kept: Kept | None = None

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,) or None
            A row counts as often as its bag drew it, times its weight.

        Returns
        -------
        self
        """
        from arboretum.engine.random import seed_from
        from arboretum.forest.growing import grow_trees

        self._check_parameters()
        self._check_sampling()
        before = self._to_go_on_with()
        matrix, target, w = self._learn(X, y, sample_weight)
        if not before:
            self.seed_ = seed_from(self.random_state)
        bags = self._bootstrap(matrix.n_rows, w)
        plan = self._plan(matrix, target, w, bags)
        if before:
            self._check_same_shape(before, plan)
        self._bags = bags
        wanted = range(len(before), int(self.n_estimators))
        with progress(len(wanted), bool(self.verbose), type(self).__name__) as grown:
            new = grow_trees(plan, wanted, self._threads(), grown)
        if len(new) < len(wanted):
            warnings.warn(
                f"growing was interrupted: the forest has the {len(before) + len(new)} trees that "
                f"were finished, of {self.n_estimators}",
                stacklevel=2,
            )
        self.trees_ = before + new
        self.max_features_ = plan.how.max_features or self.n_features_in_
        if self.keep_leaves:
            self._kept = keep(self.trees_, matrix, target, self._threads())
        if self.oob_score is not False:
            self._set_oob(plan)
        return self

    def _to_go_on_with(self) -> list[Tree]:
        """Return the trees that stay, with `warm_start`."""
        if not (self.warm_start and hasattr(self, "trees_")):
            return []
        if self.n_estimators < len(self.trees_):
            raise ParameterError(
                f"n_estimators is {self.n_estimators}, but there are {len(self.trees_)} trees "
                "already: with warm_start=True it must not get smaller"
            )
        if self.n_estimators == len(self.trees_):
            warnings.warn(
                "warm_start=True, and n_estimators has not grown: no tree is added", stacklevel=3
            )
        return self.trees_

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Target, Any]:
        """Check the data `fit` was given and turn them into numbers."""
        schema, matrix = learn_schema(
            X,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
        )
        check_rows(matrix.n_rows)
        self._before = getattr(self, "schema_", None), getattr(self, "classes_", None)
        for name in _LEARNED:
            self.__dict__.pop(name, None)
        self.schema_ = schema
        self.n_features_in_ = schema.n_features
        self.__dict__.pop("feature_names_in_", None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        target, w = self._learn_target(y, sample_weight, matrix.n_rows)
        if w is not None:
            check_weights(w)
        return matrix, target, w

    def _check_sampling(self) -> None:
        if not self.bootstrap and self.max_samples is not None:
            raise ParameterError(
                "max_samples is the size of a bootstrap sample: leave it None, or set bootstrap=True"
            )
        if not self.bootstrap and self.oob_score is not False:
            raise ParameterError(
                "Out of bag estimation only available if bootstrap=True: without it every tree "
                "sees every row"
            )

    def _check_same_shape(self, before: list[Tree], plan: Plan) -> None:
        schema, classes = self._before
        same = schema == self.schema_ and _same_classes(classes, getattr(self, "classes_", None))
        same &= before[0].value.shape[1] == plan.target.outputs
        same &= plan.bags == self._bags
        if not same:
            raise DataError(
                "with warm_start=True the table must have the rows, columns, categories and "
                "classes of the first fit, the same rows of weight 0, and the bags their size: set "
                "warm_start=False to begin anew"
            )

    def _bootstrap(self, n: int, w: np.ndarray | None) -> Bootstrap:
        draws = n_draws(self.max_samples, n) if self.bootstrap else None
        if draws is not None and draws > n:
            raise ParameterError(
                f"max_samples is {draws}, but there are only {n} rows: it must be ≤ {n}"
            )
        weighing = None if w is None or w.all() else np.flatnonzero(w)
        return Bootstrap(self.seed_, n, draws, weighing)

    def _plan(self, matrix: Matrix, target: Target, w: np.ndarray | None, bags: Bootstrap) -> Plan:
        from arboretum.forest.growing import Plan
        from arboretum.grow.criterion import make_target

        n = matrix.n_rows
        weighed = make_target(target.y, target.classes, np.ones(n) if w is None else w)
        return Plan(
            matrix=matrix,
            schema=self.schema_,
            target=target,
            how=settings.growth(self, self.schema_, weighed, n),
            bags=bags,
            balance=getattr(self, "class_weight", None) == "balanced_subsample",
            ccp_alpha=float(self.ccp_alpha),
        )

    # ------------------------------------------------------------------ out of bag
    def _set_oob(self, plan: Plan) -> None:
        target, numbers = plan.target, range(len(self.trees_))
        unseen = np.array([np.packbits(self._bags.counts(t) == 0) for t in numbers])
        classes = target.classes is not None
        hard = classes and self.voting == "hard"
        found = out_of_bag(
            self.trees_, plan.matrix, target.y, classes, unseen, self._threads(), hard=hard
        )
        self._take_oob(found, target.y, "tree")

    # ------------------------------------------------------------------ reading
    def _encode(self, X: Any) -> Matrix:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "trees_")
        return encode(self.schema_, X, unseen=self.unseen, estimator_name=type(self).__name__)

    def _threads(self) -> int:
        from arboretum.engine.parallel import effective_jobs

        return effective_jobs(self.n_jobs)

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf each row reaches in each tree, (rows, trees)."""
        matrix = self._encode(X)
        return leaves_in(self.trees_, matrix, self._threads())

    def decision_path(self, X: Any) -> tuple:
        """Return the sparse (rows × nodes) matrix of the nodes each row passes in all trees, and where
        the nodes of each tree begin.
        """
        from scipy.sparse import hstack

        from arboretum.predict.walk import paths_of

        matrix = self._encode(X)
        paths = [paths_of(tree, matrix, self._threads()) for tree in self.trees_]
        return hstack(paths).tocsr(), np.cumsum([0] + [len(tree) for tree in self.trees_])

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean over the trees of the share of the impurity decrease each column brought (MDI).

        Columns of many values are favoured: see `permutation_importance` for a fairer measure.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "trees_")
        each = [tree.feature_importances() for tree in self.trees_ if len(tree) > 1]
        if not each:
            return np.zeros(self.n_features_in_)
        mean = np.mean(each, axis=0)
        return mean / mean.sum() if mean.sum() > 0 else mean

    def permutation_importance(self, X: Any, y: Any, sample_weight: Any = None) -> Importance:
        """Return how much worse each tree answers its unseen rows when a column is shuffled.

        ``X`` and ``y`` are the training data. The result has means and standard errors over the trees.
        """
        from arboretum.forest.importance import permutation_importance

        return permutation_importance(self, X, y, sample_weight)

    def prediction_variance(self, X: Any, method: str = "infinitesimal") -> np.ndarray | list:
        """Return the sampling variance of the predictions, by the infinitesimal jackknife (Wager,
        Hastie and Efron 2014) or the ``"jackknife"`` after bootstrap.
        """
        from arboretum.forest.variance import prediction_variance

        return prediction_variance(self, X, method)

    def proximity(
        self, X: Any = None, Y: Any = None, kind: str = "all", top_k: int | None = None
    ) -> Any:
        """Return the share of trees in which two rows end in the same leaf.

        Parameters
        ----------
        X, Y : tables, optional
            Rows against rows; without ``Y``, of ``X`` with itself; without both, of the training rows
            (``keep_leaves=True``).
        kind : {"all", "oob"}, default="all"
            Count all trees, or only those that have seen neither row (training rows only).
        top_k : int, optional
            Keep only the nearest rows of each row: a sparse matrix. Needed beyond a few thousand rows.
        """
        from arboretum.forest.proximity import proximity

        return proximity(self, X, Y, kind, top_k)

    def __len__(self) -> int:
        return len(self.trees_)

    @property
    def _n_rows(self) -> int:
        return self._bags.n_rows

    # ------------------------------------------------------------------ keeping
    def save(self, path: str | Path | BinaryIO) -> None:
        """Write the model to one file; `arboretum.load` reads it back."""
        from arboretum.io.native import save

        save(self, path)

    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.tree.state import tree_to_state

        return {
            "trees": [tree_to_state(tree) for tree in self.trees_],
            "bags": self._bags.to_state(),
            "n_outputs": self.n_outputs_,
            "max_features": self.max_features_,
            "kept": None if self._kept is None else self._kept.to_state(),
            "oob": self._oob_state(),
        }

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        from arboretum.base.estimator import whole
        from arboretum.tree.state import tree_from_state

        model = cls(**parameters)
        model._check_parameters()
        model.schema_ = schema
        model.n_features_in_ = schema.n_features
        if schema.named:
            model.feature_names_in_ = np.array(schema.names, dtype=object)
        if not isinstance(state["trees"], list) or not state["trees"]:
            raise ModelFileError("the forest has no trees")
        model.trees_ = [tree_from_state(tree, schema) for tree in state["trees"]]
        model._bags = Bootstrap.from_state(state["bags"])
        model.seed_ = model._bags.seed
        model.n_outputs_ = whole(state, "n_outputs", 1)
        model.max_features_ = whole(state, "max_features", 1)
        shape = model.trees_[0].value.shape[1:]
        if shape[0] != model.n_outputs_ or any(t.value.shape[1:] != shape for t in model.trees_):
            raise ModelFileError("the trees and the model disagree on the number of outputs")
        return model

    def _take_rows(self, state: dict, codes: list[int] | None) -> None:
        """Take what the file has of training rows; ``codes``: the number of classes per output."""
        if state["kept"] is not None:
            self._kept = read_kept(state["kept"], self, codes)
        shape = self.trees_[0].value.shape[1:]
        self._read_oob(state["oob"], (self._bags.n_rows, *shape), len(self.trees_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags


def _same_classes(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(np.array_equal, one, other))
    return np.array_equal(one, other)
