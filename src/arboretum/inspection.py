"""The tools of `sklearn.inspection`, which take the models of this library as they are.

>>> from arboretum.inspection import permutation_importance
>>> from arboretum.tree import DecisionTreeClassifier
>>> model = DecisionTreeClassifier().fit([[0, 0], [1, 0]], [0, 1])
>>> permutation_importance(model, [[0, 0], [1, 0]], [0, 1], random_state=0).importances_mean[1]
np.float64(0.0)
"""

from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)

__all__ = [
    "DecisionBoundaryDisplay",
    "PartialDependenceDisplay",
    "partial_dependence",
    "permutation_importance",
]
