"""`tree_` of a fitted model: its tree with scikit-learn's conventions, for code that walks trees by hand.

    node = 0
    while tree.children_left[node] != -1:                   # feature and threshold are -2 at a leaf
        goes_left = x[tree.feature[node]] <= tree.threshold[node]
        node = tree.children_left[node] if goes_left else tree.children_right[node]

It shares the arrays of the `Tree` that the model predicts with, and has all that a `Tree` has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.schema import encode
from arboretum.predict.walk import leaves_of, paths_of
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from arboretum.data.matrix import Matrix

__all__ = ["FittedTree"]

_UNDEFINED = -2  # scikit-learn's mark for what a leaf has not


class FittedTree(Tree):
    """A tree with the methods and the conventions of `sklearn.tree._tree.Tree`.

    Parameters
    ----------
    tree : Tree
    n_classes : sequence of int
        Number of classes of every output; 1 for numbers.

    Attributes
    ----------
    own : Tree
        The tree as it predicts, with -1 and NaN at leaves.

    Examples
    --------
    >>> from arboretum import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> model.tree_.threshold
    array([ 0.5, -2. , -2. ])
    >>> model.tree_.apply([[0.3], [0.7]])
    array([1, 2])
    """

    def __init__(self, tree: Tree, n_classes: Sequence[int]) -> None:
        self.__dict__.update(
            own=tree,
            surrogates=tree.surrogates,
            n_classes=np.array(n_classes, np.intp),
            feature_or_mark=np.where(tree.is_leaf, _UNDEFINED, tree.feature),
            threshold_or_mark=np.where(tree.is_leaf, float(_UNDEFINED), tree.threshold),
        )

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__.get("own")
        if own is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(own, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return FittedTree, (self.own, self.n_classes.tolist())

    def __len__(self) -> int:
        return len(self.own)

    # ------------------------------------------------------------------ arrays
    @property
    def feature(self) -> np.ndarray:
        """The column that a node splits on, int; -2 at a leaf."""
        return self.__dict__["feature_or_mark"]

    @property
    def threshold(self) -> np.ndarray:
        """The threshold of a node, float64; -2 at a leaf, NaN where a node tests no number."""
        return self.__dict__["threshold_or_mark"]

    @property
    def missing_go_to_left(self) -> np.ndarray:
        """1 where missing values go to the left child, uint8."""
        return (self.own.missing_child == 0).astype(np.uint8)

    @property
    def max_n_classes(self) -> int:
        """The largest number of classes of an output."""
        return self.value.shape[2]

    @property
    def capacity(self) -> int:
        """The number of nodes there is space for."""
        return len(self)

    # ------------------------------------------------------------------ rows
    def _matrix(self, X: Any) -> Matrix:
        return encode(self.schema, X, unseen="missing", estimator_name="Tree")

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf that each row reaches, int64."""
        return leaves_of(self.own, self._matrix(X), 1).astype(np.int64)

    def predict(self, X: Any) -> np.ndarray:
        """Return the value of each row's leaf: (rows, values), or (rows, outputs, values)."""
        value = self.value[self.apply(X)]
        return value[:, 0] if self.n_outputs == 1 else value

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the sparse (rows × nodes) matrix of the nodes that each row passes."""
        return paths_of(self.own, self._matrix(X), 1)

    # ------------------------------------------------------------------ figures
    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """Return the total impurity decrease of each column's splits, or their shares of it."""
        return self.own.feature_importances(normalize)

    def compute_node_depths(self) -> np.ndarray:
        """Return the depth of every node, int64; the root has 1."""
        return self.depth.astype(np.int64) + 1
