"""What trees predict where only some columns are known: unknown splits follow the training weight.

    known: x1 = 3.0              x1 <= 2 ?
                               0 │    │ 1            known: the row goes one way
                                 ▼    ▼
                          leaf 4.0    x0 <= 5 ?
                                    0.7 │   │ 0.3    unknown: both ways, by the weight of the training rows
                                        ▼   ▼
                                 leaf 1.0   leaf 2.0          0.7 · 1.0 + 0.3 · 2.0 = 1.3

This is Friedman's (2001) partial dependence; scikit-learn calls it the recursion method.
"""

from __future__ import annotations

import numpy as np

from arboretum.errors import ParameterError
from arboretum.predict.ensemble import Ensemble
from arboretum.structure.tree import THRESHOLD, Tree

__all__ = ["predict_by_shares"]


def predict_by_shares(
    ensemble: Ensemble, grid: np.ndarray, features: np.ndarray, *, by_rows: bool = False
) -> np.ndarray:
    """Return the sum of the trees, without its base, where only some columns are known.

    Parameters
    ----------
    ensemble : Ensemble
        Trees that predict one number each.
    grid : float64 array of shape (n_points, n_known)
        Values of the known columns.
    features : int array of shape (n_known,)
        Which columns they are.
    by_rows : bool
        Unknown splits follow the number of training rows instead of their weight.

    Returns
    -------
    float64 array of shape (outputs, n_points)

    Examples
    --------
    >>> from arboretum import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor().fit([[0, 0], [1, 0], [1, 1]], [4.0, 1.0, 2.0])
    >>> predict_by_shares(model.ensemble_, np.array([[0.0], [1.0]]), np.array([0]))
    array([[4. , 1.5]])
    """
    place = {int(feature): j for j, feature in enumerate(features)}
    total = np.zeros((ensemble.n_outputs, len(grid)))
    for number, (tree, weight) in enumerate(zip(ensemble.trees, ensemble.weights, strict=True)):
        share = tree.count / tree.count[tree.parent] if by_rows else tree.share
        total[ensemble.output_of(number)] += weight * _predict_tree(tree, grid, place, share)
    return total / ensemble.weights.sum() if ensemble.rule == "mean" else total


def _predict_tree(
    tree: Tree, grid: np.ndarray, place: dict[int, int], share: np.ndarray
) -> np.ndarray:
    reach = np.zeros((len(tree), len(grid)))  # the share of every point that reaches a node
    reach[0] = 1.0
    for node in np.flatnonzero(~tree.is_leaf).tolist():  # parents come before their children
        first, feature = int(tree.first_child[node]), int(tree.feature[node])
        if feature not in place:
            for child in range(first, first + int(tree.n_children[node])):
                reach[child] = reach[node] * share[child]
            continue
        if tree.kind[node] != THRESHOLD:
            raise ParameterError(
                f"column {tree.column(feature).name!r} is split by category: the recursion method is for "
                "numbers, use method='brute'"
            )
        x = grid[:, place[feature]]
        missing = np.isnan(x)
        left = np.where(missing, tree.missing_child[node] == 0, x <= tree.threshold[node])
        reach[first], reach[first + 1] = reach[node] * left, reach[node] * ~left
    value = tree.value[tree.leaves, 0, 0]
    return (value[:, None] * reach[tree.leaves]).sum(axis=0)
