"""What CART's two estimators share: parameters, fitting, pruning and keeping.

A classifier and a regressor differ only in how a target is encoded and in what a leaf answers; those
few methods (`_learn_target`, `_loss`, `predict`) are theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.estimator import TreeModel, whole
from arboretum.data.checks import check_rows, check_weights
from arboretum.data.schema import Schema, learn_schema
from arboretum.errors import DataError, ModelFileError
from arboretum.grow import settings
from arboretum.predict.walk import leaves_of
from arboretum.tree.pruning import PruningPath, number_levels, prune, pruning_path
from arboretum.tree.pruning_cv import PruningCurve, choose, grid, losses_along
from arboretum.tree.tree import Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.grow.criterion import Target

__all__ = ["DOCUMENTATION", "SHARED_RULES", "TreeEstimator"]

SHARED_RULES = {
    "splitter": p.one_of("best", "random"),
    "max_depth": p.integer(1) | p.none,
    "min_samples_split": p.integer(2) | p.fraction(0, 1, open_low=True),
    "min_samples_leaf": p.integer(1) | p.fraction(0, 1, open_low=True, open_high=True),
    "min_weight_fraction_leaf": p.real(0, 0.5),
    "max_features": p.integer(1) | p.fraction(0, 1, open_low=True) | p.one_of("sqrt", "log2", None),
    "random_state": p.seed,
    "max_leaf_nodes": p.integer(2) | p.none,
    "min_impurity_decrease": p.real(0),
    "ccp_alpha": p.real(0),
    "unseen": p.one_of("missing", "error"),
    "surrogates": p.integer(0),
    "max_bins": p.integer(2, 65_535) | p.none,
    "category_penalty": p.real(0),
    "n_jobs": p.jobs,
}

DOCUMENTATION = """
    Parameters
    ----------
    criterion : {criteria}
        What a split tries to make pure. {criterion_note}
    splitter : {{"best", "random"}}, default="best"
        Try every cut of a column, or draw one cut per column at random (uniform between the node's
        smallest and largest value).
    max_depth : int or None, default=None
        Depth at which growing stops.
    min_samples_split : int or float, default=2
        Rows a node needs to be divided; a float is a share of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        Rows each side of a split needs; a float is a share of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight each side of a split needs.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Columns drawn at every node; a float is a share of the columns; None means all.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws that `splitter="random"` and `max_features` make. Nothing else is random.
    max_leaf_nodes : int or None, default=None
        Grow best-first, dividing the leaf that gains most, to so many leaves.
    min_impurity_decrease : float, default=0.0
        Weighted impurity decrease a split needs.{class_weight}
    ccp_alpha : float, default=0.0
        Strength of cost-complexity pruning after growing; 0 prunes nothing.
    monotonic_cst : array-like of -1, 0, 1, dict or None, default=None
        1: the prediction may only rise with the column, -1: only fall. A dict names columns.
    categorical_features : list of names, indices or mask, or None, default=None
        Columns to treat as categories besides those whose type says so.
    ordinal_features : list of names or indices, dict or None, default=None
        Columns to treat as ranks; a dict gives the order of their words.
    unseen : {{"missing", "error"}}, default="missing"
        A category first met at predict: treat as missing, with a warning, or raise an error.
    surrogates : int, default=0
        Keep so many surrogate splits per node (5 is usual) and use them for missing values, instead of
        learning where missing values go.
    max_bins : int or None, default=None
        Put every numeric column into at most so many bins before growing; None tries every value.
    category_penalty : float, default=1.0
        What a division of m categories is charged when columns compete, times 2/π (m - 2)/n of the node's
        impurity (n its rows): so much it gains by chance. 0 takes the best division of the training rows.
    n_jobs : int or None, default=None
        Threads; None and -1 use all cores. The tree does not depend on it.

    Attributes
    ----------
    tree_ : Tree
        The fitted tree; iterate over it to read its nodes.
    schema_ : Schema
        Names, kinds and categories of the columns.{classes}
    n_features_in_, n_outputs_ : int
    feature_names_in_ : array of str
        Only if the training table had names.
    feature_importances_ : float array
        Share of the impurity decrease each column brought. Biased towards columns of many values.
    pruning_curve_ : PruningCurve
        Only after `prune_cv`.
"""


class TreeEstimator(TreeModel):
    """What both estimators share; they differ in target encoding and in what a leaf answers."""

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
        self.tree_ = prune(tree, float(self.ccp_alpha)) if self.ccp_alpha > 0 else tree
        return self

    def _learn(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Matrix, Target, np.ndarray | None]:
        """Check everything `fit` was given and turn it into numbers."""
        self._check_parameters()
        for name in ("tree_", "pruning_curve_"):  # a fit that fails leaves no half of an old model
            self.__dict__.pop(name, None)
        self.schema_, matrix = learn_schema(
            X,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
        )
        check_rows(matrix.n_rows)
        self._take_names()
        target, w = self._learn_target(y, sample_weight, matrix.n_rows)
        if w is not None:
            check_weights(w)
        return matrix, target, w

    def _grow(self, matrix: Matrix, target: Target, w: np.ndarray | None) -> Tree:
        """Grow a full tree; rows of weight 0 take no part."""
        from arboretum.grow.levelwise import grow
        from arboretum.grow.random_tree import (
            can_grow,
            grow_random_tree,
            looks_at_little,
            tree_table,
        )

        n_rows, rows, here = matrix.n_rows, None, target
        if w is not None and not w.all():
            rows = np.flatnonzero(w)
            here = target.take(rows)
        how = settings.growth(self, self.schema_, here, n_rows)
        self.max_features_ = how.max_features or self.n_features_in_
        if can_grow(how) and looks_at_little(how, matrix, self.schema_):
            table = tree_table(
                matrix,
                self.schema_,
                random_splits=how.random_splits,
                monotone=how.monotone,
                n_jobs=how.n_jobs,
            )
            return number_levels(grow_random_tree(table, target, how, weight=w, alone=True))
        return grow(matrix, self.schema_, here, rows, how)

    # ------------------------------------------------------------------ pruning
    def cost_complexity_pruning_path(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> PruningPath:
        """Return the weakest-link path of the tree grown on this data, from full tree to root."""
        from sklearn.base import clone

        full = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        return pruning_path(full.tree_)

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
            of it: a smaller tree that is not distinguishably worse.

        Returns
        -------
        self
            Fitted; `pruning_curve_` keeps the figures for `plot_pruning_curve`.
        """
        from sklearn.model_selection import check_cv

        if rule not in ("min", "1se"):
            raise p.ParameterError(f"rule of prune_cv must be 'min' or '1se', got {rule!r}")
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
        several = len(errors) > 1  # one fold tells nothing about the spread
        std_error = np.std(errors, axis=0, ddof=int(several)) / np.sqrt(len(errors))
        best = choose(mean, std_error, rule)
        self.pruning_curve_ = PruningCurve(alphas, n_leaves, mean, std_error, best, rule, path)
        self.tree_ = prune(full, float(alphas[best]))
        return self

    def _fold_errors(
        self,
        matrix: Matrix,
        target: Target,
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

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.tree.state import tree_to_state

        return {
            "tree": tree_to_state(self.tree_),
            "n_outputs": self.n_outputs_,
            "max_features": self.max_features_,
        }

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        from arboretum.tree.state import tree_from_state

        model = cls(**parameters)
        model._check_parameters()
        model.schema_ = schema
        model._take_names()
        model.tree_ = tree_from_state(state["tree"], schema)
        model.n_outputs_ = whole(state, "n_outputs", 1)
        model.max_features_ = whole(state, "max_features", 1)
        if model.tree_.n_outputs != model.n_outputs_:
            raise ModelFileError("the tree and the model disagree on the number of outputs")
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags
