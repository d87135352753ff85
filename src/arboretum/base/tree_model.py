"""A model that is one tree: its predictions and its files, whichever algorithm grew it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.base.anatomy import Anatomy
from arboretum.base.model_of_trees import ModelOfTrees
from arboretum.data.schema import Schema
from arboretum.errors import ModelFileError
from arboretum.predict.walk import leaves_of, paths_of
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from arboretum.predict.ensemble import Ensemble

__all__ = ["TreeModel"]


class TreeModel(ModelOfTrees):
    """Reading and keeping a fitted `tree_` over the columns of `schema_`."""

    tree_: Tree
    _fitted: ClassVar = "tree_"
    _learned: ClassVar[tuple[str, ...]] = ("tree_", "pruning_curve_")

    _attributes: ClassVar = {
        "tree_ : Tree": "The fitted tree; iterate over it to read its nodes.",
        **ModelOfTrees._attributes,
        "schema_ : Schema": "Names, kinds and categories of the columns.",
        "n_features_in_, n_outputs_ : int": "",
        "feature_names_in_ : array of str": "Only if the training table had names.",
        "feature_importances_ : float array": "Share of the impurity decrease from each column. "
        "Biased towards columns with many values.",
    }

    @property
    def trees_(self) -> list[Tree]:  # type: ignore[override]
        """A list of the one tree, as models of many trees have it."""
        self._check_fitted()
        return [self.tree_]

    def _served(self) -> Ensemble:
        # -0.0 keeps the sign of every leaf value: -0.0 + value is value, but 0.0 + -0.0 is 0.0
        return replace(self.ensemble_, base=np.full(self._leaf_shape, -0.0))

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        history = replace(found.history, n_rows=int(self.tree_.count[0]))
        return replace(found, history=history)

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf each row reaches (its node number in `tree_`)."""
        matrix = self._encode(X)
        return leaves_of(self.tree_, matrix, self._threads_for(matrix))

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
        """Share of the impurity decrease from each column."""
        self._check_fitted()
        return self.tree_.feature_importances()

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.structure.state import tree_to_state

        return {**super()._get_fitted_state(), "tree": tree_to_state(self.tree_)}

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        from arboretum.structure.state import tree_from_state

        super()._read_fitted_state(state)
        self.tree_ = tree_from_state(state["tree"], self._tree_schema(state))
        if self.tree_.value.shape[1:] != self._leaf_shape:
            raise ModelFileError("the tree and the model disagree on outputs or classes")

    def _tree_schema(self, state: dict[str, Any]) -> Schema:
        """Return the columns that the tree splits on."""
        return self.schema_
