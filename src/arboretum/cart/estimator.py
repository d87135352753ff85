"""What CART's two estimators share: parameters, fitting, pruning and saving.

A classifier and a regressor differ only in how a target is encoded and in what a leaf predicts; those
few methods (`_learn_target`, `_loss`, `predict`) are in the subclasses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy
from arboretum.base.model_of_trees import TreeModel
from arboretum.base.parameters import Parameter
from arboretum.base.shared_parameters import GROWTH, RUNNING, TABLE
from arboretum.data.checks import check_rows
from arboretum.errors import DataError, ParameterError
from arboretum.grow import settings
from arboretum.io.values import whole
from arboretum.predict.walk import leaves_of
from arboretum.structure.pruning import PruningPath, prune, pruning_path
from arboretum.structure.pruning_cv import PruningCurve, choose, grid, losses_along
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.grow.grower import GrowTarget

__all__ = ["TreeEstimator"]


class TreeEstimator(TreeModel):
    """What both estimators share; they differ in target encoding and in what a leaf predicts."""

    _family: ClassVar = "tree"
    _several_outputs: ClassVar = True
    _parameters: ClassVar = {
        **GROWTH,
        **TABLE,
        **RUNNING,
        "random_state": Parameter(
            p.key,
            'Seed of the draws that `splitter="random"` and `max_features` make. Nothing else is random. A '
            "tree of a forest has an int of 2**32 or more: its clone grows from the rows of its bag as the "
            "forest grew it.",
        ),
    }
    _attributes: ClassVar = {
        **TreeModel._attributes,
        "pruning_curve_ : PruningCurve": "Only after `prune_cv`.",
    }
    category_penalty: float = 1.0

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,) or None
            Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        matrix, target, w = self._learn(X, y, sample_weight)
        tree = self._grow(matrix, target, w)
        self._kept_tree = prune(tree, float(self.ccp_alpha)) if self.ccp_alpha > 0 else tree
        return self

    def _learn(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Matrix, GrowTarget, np.ndarray | None]:
        """Check everything passed to `fit` and encode it."""
        self._check_parameters()
        matrix = self._learn_table(X)
        check_rows(matrix.n_rows)
        target, w = self._learn_target(y, sample_weight, matrix.n_rows)
        self._count_categories(matrix, w)
        self._warn_of_columns(matrix, target.y)
        return matrix, target, w

    def _grow(self, matrix: Matrix, target: GrowTarget, w: np.ndarray | None) -> Tree:
        """Grow a full tree; rows of weight 0 are ignored."""
        from arboretum.engine.keys import LARGEST_SEED
        from arboretum.grow.choose import Use, choose_grower

        rows = None if w is None or w.all() else np.flatnonzero(w)
        here = target if rows is None else target.take(rows)
        growth = settings.growth(self, self.schema_, here, matrix.n_rows)
        self.max_features_ = growth.max_features or self.n_features_in_
        if isinstance(self.random_state, int) and self.random_state > LARGEST_SEED:
            forest: Any = choose_grower(matrix, self.schema_, growth, target, Use.FOREST)
            weights = np.ones(matrix.n_rows) if w is None else w
            return forest.grow_trees(target, weights[None], [growth.seed])[0]
        grower = choose_grower(matrix, self.schema_, growth, target, Use.SINGLE)
        return grower.grow(target, rows, growth.seed).tree

    # ------------------------------------------------------------------ pruning
    def cost_complexity_pruning_path(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> PruningPath:
        """Return the weakest-link path of the tree grown on this data, from full tree to root."""
        from sklearn.base import clone

        full = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        return pruning_path(full._kept_tree)

    def prune_cv(
        self, X: Any, y: Any, *, cv: Any = 5, rule: str = "min", sample_weight: Any = None
    ) -> Self:
        """Grow the tree and prune it as hard as cross-validation finds best.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        cv : int, splitter or iterable, default=5
            As in scikit-learn; a number of folds is stratified for a classifier.
        rule : {"min", "1se"}, default="min"
            Take the α of smallest mean error, or the largest α whose error is within one standard error
            of it: a smaller tree that is not significantly worse.

        Returns
        -------
        self
            Fitted; `pruning_curve_` keeps the figures for `plot_pruning_curve`.
        """
        from sklearn.model_selection import check_cv

        if rule not in ("min", "1se"):
            raise ParameterError(f"rule of prune_cv must be 'min' or '1se', got {rule!r}")
        matrix, target, w = self._learn(X, y, sample_weight)
        full = self._grow(matrix, target, w)
        path = pruning_path(full)
        alphas, n_leaves = grid(path)
        folds = check_cv(cv, target.y[:, 0], classifier=target.classes is not None)
        errors = [
            self._fold_errors(matrix, target, w, np.asarray(train), np.asarray(test), alphas)
            for train, test in folds.split(np.empty((matrix.n_rows, 1)), target.y[:, 0])
        ]
        mean = np.mean(errors, axis=0)
        several = len(errors) > 1  # one fold has no standard error
        std_error = np.std(errors, axis=0, ddof=int(several)) / np.sqrt(len(errors))
        best = choose(mean, std_error, rule)
        self.pruning_curve_ = PruningCurve(alphas, n_leaves, mean, std_error, best, rule, path)
        self._kept_tree = prune(full, float(alphas[best]))
        return self

    def _fold_errors(
        self,
        matrix: Matrix,
        target: GrowTarget,
        w: np.ndarray | None,
        train: np.ndarray,
        test: np.ndarray,
        alphas: np.ndarray,
    ) -> np.ndarray:
        """Grow on the training rows; return the error on the others at every α."""
        row_weight = np.ones(matrix.n_rows) if w is None else w
        if row_weight[test].sum() == 0 or row_weight[train].sum() == 0:
            raise DataError("a fold of prune_cv holds only rows of weight 0: use fewer folds")
        tree = self._grow(matrix.take(train), target.take(train), None if w is None else w[train])
        leaf = leaves_of(tree, matrix.take(test), self._threads())
        truth = target.y[test]

        def loss(rows: np.ndarray, nodes: np.ndarray) -> np.ndarray:
            return self._loss(truth[rows], tree.value[nodes]).mean(axis=1)

        return losses_along(tree, leaf, alphas, loss, row_weight[test])

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        history = replace(found.history, pruning=vars(self).get("pruning_curve_"))
        return replace(found, history=history)

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "max_features": self.max_features_}

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        self.max_features_ = whole(state, "max_features", 1)
