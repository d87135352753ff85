"""Choosing how hard to prune by cross-validation.

The weakest-link path of the full tree cuts α into ranges [α_k, α_{k+1}); each is represented by its
geometric mean √(α_k α_{k+1}). Every fold grows a tree of its own and is evaluated at all of them. A row's
error is a step function of α: on its way down it passes nodes that become leaves at different α, so the
errors at every α come from one walk:

    path of a row     root ── a ── b ── leaf            cut at α:  root 0.9,  a 0.05,  b 0.2
    predicted by      leaf for α < 0.05,  a for 0.05 <= α < 0.9,  root beyond
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.html import html_table
from arboretum.structure.pruning import PruningPath, cut_alphas
from arboretum.structure.tree import Tree

__all__ = ["PruningCurve", "choose", "grid", "losses_along"]


@dataclass(frozen=True)
class PruningCurve:
    """Cross-validated error against pruning strength.

    Attributes
    ----------
    alpha : float array
        Strengths tried, ascending; the last is inf (the root alone).
    n_leaves : int array
        Leaves of the full-data tree pruned at each.
    mean_score, std_error : float arrays
        Mean error over the folds and its standard error: share of wrong labels for a classifier, mean
        absolute error for ``criterion="absolute_error"``, mean squared error otherwise.
    best : int
        The entry chosen.
    rule : {"min", "1se"}
        How: the smallest error (the larger α between equal ones), or the largest α whose error is within
        one standard error of it.
    path : PruningPath
        The full-data tree's weakest-link path.
    """

    alpha: np.ndarray
    n_leaves: np.ndarray
    mean_score: np.ndarray
    std_error: np.ndarray
    best: int
    rule: str
    path: PruningPath

    def _repr_html_(self) -> str:
        figures = zip(self.alpha, self.n_leaves, self.mean_score, self.std_error)
        rows = [
            (f"{a:.4g}", leaves, f"{mean:.4g} ± {error:.2g}", "chosen" if i == self.best else "")
            for i, (a, leaves, mean, error) in enumerate(figures)
        ]
        title = f"{len(rows)} strengths of pruning, chosen by the rule {self.rule!r}"
        return html_table(title, ("α", "leaves", "error of the folds", ""), rows, left=0)


def grid(path: PruningPath) -> tuple[np.ndarray, np.ndarray]:
    """Return the strengths to try, and the number of leaves at each."""
    alphas = np.unique(path.ccp_alphas)
    leaves = np.array([path.n_leaves[path.ccp_alphas <= a][-1] for a in alphas])
    return np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf), leaves


def losses_along(
    tree: Tree, leaf: np.ndarray, alphas: np.ndarray, loss: Callable[..., Any], weight: np.ndarray
) -> np.ndarray:
    """Return the mean loss of some rows when the tree is pruned at each α.

    Parameters
    ----------
    leaf : int array
        The leaf each row reaches in the full tree.
    loss : callable
        (rows, nodes) -> loss of each row if it is predicted by that node.
    weight : float array
    """
    cut = cut_alphas(tree)  # from this α on the node is a leaf (0 for leaves of the full tree)
    until = np.full(len(tree), np.inf)  # up to this α it is not cut away
    for child in range(1, len(tree)):
        above = tree.parent[child]
        until[child] = min(until[above], cut[above])
    steps = np.zeros(len(alphas) + 1)
    rows, node = np.arange(len(leaf)), leaf.copy()
    while len(rows):
        first = np.searchsorted(alphas, cut[node], side="left")
        # the root is never cut away: it also predicts at α = inf
        last = np.where(node == 0, len(alphas), np.searchsorted(alphas, until[node], side="left"))
        amount = np.where(first < last, loss(rows, node) * weight[rows], 0.0)
        np.add.at(steps, first, amount)
        np.add.at(steps, np.maximum(first, last), -amount)
        node = tree.parent[node]
        rows, node = rows[node >= 0], node[node >= 0]
    return np.cumsum(steps)[:-1] / weight.sum()


def choose(mean: np.ndarray, std_error: np.ndarray, rule: str) -> int:
    """Return the entry of the smallest error, or the simplest one within a standard error of it."""
    best = len(mean) - 1 - int(np.argmin(mean[::-1]))
    if rule == "min":
        return best
    return int(np.flatnonzero(mean <= mean[best] + std_error[best])[-1])
