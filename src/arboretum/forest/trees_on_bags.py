"""What forests share, with a target or without: reading and keeping trees that each see a bag of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from arboretum.base.members import HasMembers
from arboretum.base.model_of_trees import ModelOfTrees
from arboretum.base.rounds import Interruptible
from arboretum.errors import ModelFileError

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_matrix

__all__ = ["TreesOnBags"]


class TreesOnBags(HasMembers, Interruptible, ModelOfTrees):
    """Many trees over the columns of `schema_`, and the rules of their bags."""

    _bags: Any  # Bootstrap or BagRules

    _fitted: ClassVar = "trees_"

    def decision_path(self, X: Any) -> tuple[csr_matrix, np.ndarray]:
        """Return the sparse (rows × nodes) matrix of the nodes each row passes in all trees, and the first
        node of each tree.
        """
        matrix = self._encode(X)
        return self.ensemble_.paths(matrix, self._threads())

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean over the trees of the share of the impurity decrease from each column (MDI).

        Columns with many values are favoured; forests with a target have `permutation_importance`, which is
        fairer.
        """
        self._check_fitted()
        return self.ensemble_.mean_importances(self.n_features_in_)

    def __len__(self) -> int:
        return len(self.trees_)

    @property
    def _n_done(self) -> int:
        return len(self.trees_)

    @property
    def _n_rows(self) -> int:
        return self._bags.n_rows

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.structure.state import trees_to_state

        trees, bags = trees_to_state(self.trees_), self._bags.to_state()
        return {**super()._get_fitted_state(), "trees": trees, "bags": bags}

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        from arboretum.structure.state import trees_from_state

        super()._read_fitted_state(state)
        self.trees_ = trees_from_state(state["trees"], self.schema_)
        if any(tree.value.shape[1:] != self._leaf_shape for tree in self.trees_):
            raise ModelFileError("the trees and the model disagree on outputs or classes")
