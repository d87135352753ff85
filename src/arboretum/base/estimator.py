"""A model that is one tree: what it answers once it is fitted, whichever algorithm grew it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from sklearn.base import BaseEstimator

from arboretum.base.parameters import Declared
from arboretum.data.schema import Schema, encode
from arboretum.errors import ModelFileError
from arboretum.predict.walk import leaves_of, paths_of
from arboretum.tree.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from arboretum.data.matrix import Matrix

__all__ = ["TreeModel", "whole"]


class TreeModel(Declared, BaseEstimator):
    """Reading and keeping a fitted `tree_` over the columns of `schema_`."""

    schema_: Schema
    tree_: Tree

    def _take_names(self) -> None:
        self.n_features_in_ = self.schema_.n_features
        if self.schema_.named:
            self.feature_names_in_ = np.array(self.schema_.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    # ------------------------------------------------------------------ reading the tree
    def _encode(self, X: Any) -> Matrix:
        self._check_fitted()
        return encode(self.schema_, X, unseen=self.unseen, estimator_name=type(self).__name__)

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "tree_")

    def _threads(self) -> int:
        from arboretum.engine.parallel import effective_jobs

        return effective_jobs(self.n_jobs)

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf each row reaches (its node number in `tree_`)."""
        matrix = self._encode(X)
        return leaves_of(self.tree_, matrix, self._threads())

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the sparse (rows × nodes) matrix of the nodes each row passes."""
        matrix = self._encode(X)
        return paths_of(self.tree_, matrix, self._threads())

    def get_depth(self) -> int:
        """Return the depth of the tree; a lone root has depth 0."""
        self._check_fitted()
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        self._check_fitted()
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the impurity decrease each column brought."""
        self._check_fitted()
        return self.tree_.feature_importances()

    # ------------------------------------------------------------------ keeping
    def save(self, path: str | Path | BinaryIO) -> None:
        """Write the model to one file; `arboretum.load` reads it back."""
        from arboretum.io.native import save

        save(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def whole(state: dict, name: str, least: int) -> int:
    """Return a whole number from a file, or say that it is none."""
    value = state[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ModelFileError(f"{name} must be an int ≥ {least}, got {value!r}")
    return value
