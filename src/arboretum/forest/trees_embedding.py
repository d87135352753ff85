"""Rows as the leaves they reach in trees of random cuts (Moosmann, Triggs and Jurie 2007).

leaves of a row   tree 0: 3   tree 1: 2          columns  0_1  0_3  0_4 | 1_2  1_3  1_4
                                                 row       0    1    0  |  1    0    0
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin

from arboretum.base import parameters as p
from arboretum.base.parameters import Parameter
from arboretum.base.sampling import BagRules
from arboretum.base.shared_parameters import GROWTH
from arboretum.data.matrix import Matrix
from arboretum.forest.random_cuts import RandomCuts

__all__ = ["RandomTreesEmbedding"]

_GROWTH = (
    "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_leaf_nodes",
    "min_impurity_decrease",
)  # fmt: skip


class RandomTreesEmbedding(TransformerMixin, RandomCuts):
    """One column for every leaf of random trees: scikit-learn's `RandomTreesEmbedding`.

    Rows that share leaves are close to each other, whatever the scales of their columns.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> model = RandomTreesEmbedding(2, max_depth=1, random_state=0).fit([[0.0], [0.1], [5.0]])
    >>> model.transform([[-1.0], [7.0]]).toarray()
    array([[1., 0., 1., 0.],
           [0., 1., 0., 1.]])
    """

    _parameters: ClassVar = {
        **RandomCuts._parameters,
        **GROWTH,
        "max_leaf_nodes": Parameter(
            GROWTH["max_leaf_nodes"].rule,
            "Grow best-first, always splitting the leaf with the largest gain on random targets, up to this "
            "many leaves.",
        ),
        "min_impurity_decrease": Parameter(
            GROWTH["min_impurity_decrease"].rule,
            "Weighted impurity decrease, of a target drawn from [0, 1), that a split needs.",
        ),
        "sparse_output": Parameter(p.flag, "`transform` returns a sparse matrix."),
    }
    _attributes: ClassVar = {
        **RandomCuts._attributes,
        "one_hot_encoder_ : OneHotEncoder": "scikit-learn's encoder of the leaves that `apply` returns.",
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = 5,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        sparse_output: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
    ) -> None:
        p.take_arguments(locals())

    def _make_bags(self, matrix: Matrix, weight: np.ndarray | None) -> BagRules:
        n, width = matrix.shape
        draws = n if weight is None else int(np.count_nonzero(weight))
        return BagRules(
            self.seed_, n, width, draws, width, replace=False, replace_columns=False, weight=weight
        )

    def _tree_parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _GROWTH}

    def _settle(self, matrix: Matrix | None = None) -> None:
        from sklearn.preprocessing import OneHotEncoder

        leaves = [tree.leaves for tree in self.trees_]
        encoder = OneHotEncoder(categories=leaves, sparse_output=self.sparse_output)
        self.one_hot_encoder_ = encoder.fit([[each[0] for each in leaves]])

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        self._settle()

    # ------------------------------------------------------------------ leaves as columns
    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow the trees, and return the leaves of the rows as `transform` does."""
        return self.fit(X, y, sample_weight).transform(X)

    def transform(self, X: Any) -> Any:
        """Return 1 for every leaf that a row reaches and 0 for the others, (rows, leaves of all trees).

        A sparse matrix in CSR form, or an array without `sparse_output`.
        """
        leaves = self.apply(X)
        return self.one_hot_encoder_.transform(leaves)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns: the class in lower case, the tree, the number of the leaf.

        ``input_features`` is compared with the columns of the fit.
        """
        from sklearn.utils.validation import _check_feature_names_in

        self._check_fitted()
        _check_feature_names_in(self, input_features, generate_names=False)
        name = type(self).__name__.lower()
        pairs = ((t, leaf) for t, tree in enumerate(self.trees_) for leaf in tree.leaves)
        return np.array([f"{name}_{t}_{leaf}" for t, leaf in pairs], dtype=object)
