"""Leaf values that may only rise, or only fall, with a column.

A tree that was grown under constraints has its sides in the right order as far as its own means go. Boosting
then gives every leaf another value, a step of its loss, and the order may be lost. It is restored from the
root down: each constrained node bounds the values of its sides.

            x <= 3?            rising with x:
           /       \\           mean of the left side 1.0, of the right side 2.0
        ≤ 1.5     ≥ 1.5         no leaf of the left side is above 1.5, none of the right side below
"""

from __future__ import annotations

import numpy as np

from arboretum.structure.tree import Tree

__all__ = ["keep_order"]


def keep_order(tree: Tree, signs: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return the leaf values, moved as little as the bounds of their paths require.

    Parameters
    ----------
    tree : Tree
        Of binary splits, children behind their parents.
    signs : int array
        1, 0 or -1 for every column.
    answers : float64 array
        A value for every node; only those of leaves are used.

    Examples
    --------
    >>> from arboretum import CARTRegressor
    >>> tree = CARTRegressor(max_depth=1).fit([[0.0], [1.0]], [1.0, 2.0]).tree_
    >>> keep_order(tree, np.array([1]), np.array([0.0, 5.0, 3.0]))
    array([0., 4., 4.])
    """
    means = _means(tree, answers)
    low, high = np.full(len(tree), -np.inf), np.full(len(tree), np.inf)
    for node in np.flatnonzero(tree.first_child >= 0).tolist():
        left = int(tree.first_child[node])
        low[left : left + 2], high[left : left + 2] = low[node], high[node]
        sign = signs[tree.feature[node]]
        if sign:
            middle = np.clip((means[left] + means[left + 1]) / 2, low[node], high[node])
            below, above = (left, left + 1) if sign > 0 else (left + 1, left)
            high[below], low[above] = middle, middle
    return np.clip(answers, low, high)


def _means(tree: Tree, answers: np.ndarray) -> np.ndarray:
    """Return the mean leaf value below every node, by weight."""
    means = answers.copy()
    for node in np.flatnonzero(tree.first_child >= 0)[::-1].tolist():
        left = int(tree.first_child[node])
        weight = tree.weight[left : left + 2]
        means[node] = (means[left : left + 2] * weight).sum() / max(weight.sum(), 1e-300)
    return means
