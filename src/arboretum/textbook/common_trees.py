"""Further reading: one tree for all classes of a boosting round, instead of one per class.

    boost_common       scores F = base; then every round
      groups             the classes fall into two groups, drawn at random
      grow_xgb           one tree on the derivatives of "the class of the row is in the first group"
      class_values       v_k = -G_k / (H_k + λ) for every class k in every leaf
                         F_k ← F_k + η · v_k

Every class has its own gradients g_k = p_k - [y = k] and curvatures h_k = p_k (1 - p_k), as with a tree
per class. With P the probability of the first group A, that is Σ p_k over A, the log likelihood of "the
class is in A" has the gradient

    P - [y in A] = Σ_{k in A} (p_k - [y = k]) = Σ_{k in A} g_k

so the gradients of a group are sums of those of its classes. Its curvature P (1 - P) depends on the
group; half the sum of all h_k is the same for a group and its complement, is exact for two classes, and is
used here.

Over many rounds every pair of classes falls into different groups in some rounds. A round takes the time of
one tree, and classes of few rows share the splits that the others have found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.gbm_losses import softmax
from arboretum.textbook.xgboost import XGBNode, grow_xgb
from arboretum.textbook.xgboost_splits import DEFAULT, XGBSettings

__all__ = ["CommonRound", "boost_common", "class_values"]


@dataclass(frozen=True, eq=False)
class CommonRound:
    """A round: the group, its derivatives, the tree, and what every leaf holds for every class."""

    in_group: np.ndarray  # (n_classes,) bool
    g: np.ndarray  # (n,) gradients of the group
    h: np.ndarray  # (n,)
    tree: XGBNode
    values: dict[str, np.ndarray]  # path of a leaf -> (n_classes,), before η
    F: np.ndarray  # (n, n_classes) scores after the round


def class_values(
    g: np.ndarray, h: np.ndarray, rows: np.ndarray, settings: XGBSettings = DEFAULT
) -> np.ndarray:
    """Return -G_k / (H_k + λ) of every class for a leaf's rows; ``g`` and ``h`` are (n, n_classes).

    >>> g, h = np.array([[-0.5, 0.5], [0.5, -0.5]]), np.full((2, 2), 0.25)
    >>> class_values(g, h, np.array([0])).tolist()
    [0.4, -0.4]
    """
    return -g[rows].sum(axis=0) / (h[rows].sum(axis=0) + settings.reg_lambda)


def boost_common(
    X: ArrayLike,
    y: ArrayLike,
    groups: Sequence[Sequence[int]],
    learning_rate: float = 0.1,
    settings: XGBSettings = DEFAULT,
    factor: float = 1.0,
) -> list[CommonRound]:
    """Boost a round for every group of classes, and return the rounds.

    Parameters
    ----------
    X : array-like of shape (n, features)
    y : int array-like of shape (n,)
        Classes from 0.
    groups : list of list of int
        The classes of the first group in every round.
    learning_rate : float
    settings : XGBSettings
    factor : float
        Of the curvatures: LightGBM's is K / (K - 1) for K classes, XGBoost's 2.

    Returns
    -------
    list of CommonRound

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 1, 2, 2]
    >>> rounds = boost_common(X, y, [[0], [2]], 1.0, XGBSettings(max_depth=1, min_child_weight=0.0))
    >>> [one.tree.chosen.question for one in rounds]
    ['x0 < 1.5', 'x0 < 3.5']
    >>> rounds[-1].F.argmax(axis=1).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    chosen = np.eye(int(y.max()) + 1)[y]
    F = np.tile(np.log(chosen.mean(axis=0)), (len(y), 1))
    rounds = []
    for group in groups:
        in_group = np.isin(np.arange(chosen.shape[1]), group)
        p = softmax(F)
        g, h = p - chosen, factor * p * (1.0 - p)
        group_g, group_h = g[:, in_group].sum(axis=1), 0.5 * h.sum(axis=1)
        tree = grow_xgb(X, group_g, group_h, settings)
        values = {}
        F = F.copy()
        for leaf in tree:
            if leaf.is_leaf:
                values[leaf.path] = class_values(g, h, leaf.rows, settings)
                F[leaf.rows] += learning_rate * values[leaf.path]
        rounds.append(CommonRound(in_group, group_g, group_h, tree, values, F))
    return rounds
