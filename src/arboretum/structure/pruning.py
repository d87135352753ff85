"""Pruning a grown tree: cost-complexity pruning, and the choice of its strength.

The score of a tree weighs its risk against its size (Breiman et al. 1984):

    R_α(T) = R(T) + α |T|          R(T) = Σ over leaves of impurity · share of the weight,  |T| leaves

An inner node t is worth keeping its branch T_t as long as α is below

    g(t) = (R(t) - R(T_t)) / (|T_t| - 1)

Cutting the weakest link (smallest g) again and again gives a nested sequence of trees, each the best
one for its range of α; `pruning_path` returns it. `prune` cuts a tree back to the best one at α.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

from arboretum.structure.build import to_leaves
from arboretum.structure.tree import LEAF, Surrogates, Tree

__all__ = ["PruningPath", "cut_alphas", "cut_at", "number_levels", "prune", "pruning_path"]

_RENUMBERED = (
    "kind", "feature", "threshold", "n_children", "missing_child", "bits_start", "value", "impurity",
    "gain", "weight", "count",
)  # fmt: skip


@dataclass(frozen=True)
class PruningPath:
    """The sequence of best trees as α grows; entry 0 is the full tree at α = 0.

    Attributes
    ----------
    ccp_alphas : float array
        α from which on the tree is the best one, ascending.
    impurities : float array
        R(T): total impurity of its leaves.
    n_leaves : int array
        |T|.
    """

    ccp_alphas: np.ndarray
    impurities: np.ndarray
    n_leaves: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        return getattr(self, name)  # as with scikit-learn's Bunch, path["ccp_alphas"] works


def pruning_path(tree: Tree) -> PruningPath:
    """Return the weakest-link sequence of a tree.

    Examples
    --------
    >>> from arboretum import CARTClassifier
    >>> from sklearn.datasets import load_iris
    >>> model = CARTClassifier(max_depth=2).fit(*load_iris(return_X_y=True))
    >>> path = pruning_path(model.trees_[0])
    >>> path.n_leaves
    array([3, 2, 1])
    """
    alphas, risks, leaves = [0.0], [float(_risk(tree)[tree.leaves].sum())], [tree.n_leaves]
    for alpha, _, risk, n_leaves in _weakest_links(tree):
        alphas.append(alpha)
        risks.append(risk)
        leaves.append(n_leaves)
    return PruningPath(np.array(alphas), np.array(risks), np.array(leaves))


def prune(tree: Tree, alpha: float) -> Tree:
    """Return the smallest subtree that minimises R_α."""
    cut = [node for link, node, _, _ in _weakest_links(tree) if link <= alpha]
    return cut_at(tree, np.array(cut, dtype=np.int64))


def cut_alphas(tree: Tree) -> np.ndarray:
    """Return the α from which each node is a leaf, unless it has been cut away: 0 for leaves."""
    alphas = np.full(len(tree), np.inf)
    alphas[tree.is_leaf] = 0.0
    for alpha, node, _, _ in _weakest_links(tree):
        alphas[node] = alpha
    return alphas


def _risk(tree: Tree) -> np.ndarray:
    """R(t) of every node, as if it were a leaf."""
    return tree.impurity * tree.weight / tree.weight[0]


def _weakest_links(tree: Tree) -> list[tuple[float, int, float, int]]:
    """Return (α, node cut, risk after, leaves after) for every cut, weakest link first.

    A cut changes only the links above it, so a heap finds the next one; outdated entries
    are skipped when they come up. Equal links are cut in the order of the nodes.
    """
    parent, risk = tree.parent, _risk(tree)
    branch_risk, branch_leaves = risk.copy(), np.ones(len(tree), np.int64)
    inner = np.flatnonzero(~tree.is_leaf)
    branch_risk[inner] = 0.0
    branch_leaves[inner] = 0
    for node in range(len(tree) - 1, 0, -1):  # children stand behind their parents
        branch_risk[parent[node]] += branch_risk[node]
        branch_leaves[parent[node]] += branch_leaves[node]

    def link(node: int) -> float:
        return float((risk[node] - branch_risk[node]) / (branch_leaves[node] - 1))

    version = np.zeros(len(tree), np.int64)
    gone = tree.is_leaf.copy()
    heap = [(link(int(node)), int(node), 0) for node in inner]
    heapq.heapify(heap)
    cuts = []
    alpha = 0.0
    while heap:
        g, node, seen = heapq.heappop(heap)
        if gone[node] or seen != version[node]:
            continue
        alpha = max(alpha, g)  # rounding must not make the path decrease
        lost_risk, lost_leaves = risk[node] - branch_risk[node], branch_leaves[node] - 1
        stack = [node]
        while stack:
            t = stack.pop()
            if not gone[t]:
                gone[t] = True
                stack.extend(range(tree.first_child[t], tree.first_child[t] + tree.n_children[t]))
        branch_risk[node], branch_leaves[node] = risk[node], 1
        above = int(parent[node])
        while above >= 0:
            branch_risk[above] += lost_risk
            branch_leaves[above] -= lost_leaves
            version[above] += 1
            heapq.heappush(heap, (link(above), above, int(version[above])))
            above = int(parent[above])
        cuts.append((alpha, node, float(branch_risk[0]), int(branch_leaves[0])))
    return cuts


def cut_at(tree: Tree, nodes: np.ndarray) -> Tree:
    """Return the tree with these nodes turned into leaves."""
    kind = tree.kind.copy()
    kind[nodes] = LEAF
    questions = ("feature", "threshold", "first_child", "n_children", "missing_child", "bits_start")
    arrays = {name: getattr(tree, name) for name in (*questions, "gain")}
    return number_levels(replace(tree, kind=kind, **to_leaves(kind == LEAF, **arrays)))


def number_levels(tree: Tree) -> Tree:
    """Return the tree with only the nodes that its root reaches, numbered level by level."""
    from arboretum.engine.compiler.decorators import writable
    from arboretum.engine.predict.walk import level_order

    kept = np.empty(len(tree), np.int64)
    kind, first, several = map(writable, (tree.kind, tree.first_child, tree.n_children))
    kept = kept[: level_order(kind, first, several, kept)]
    numbers = np.arange(len(kept), dtype=np.int32)
    if len(kept) == len(tree) and (kept == numbers).all():
        return tree
    new_number = np.full(len(tree) + 1, -1, np.int32)  # the last is the child of a leaf, -1
    new_number[kept] = numbers
    nodes = {name: getattr(tree, name).take(kept, axis=0) for name in _RENUMBERED}
    return replace(
        tree,
        **nodes,
        first_child=new_number[tree.first_child.take(kept)],
        surrogates=_take_surrogates(tree.surrogates, kept, nodes["kind"] == LEAF),
    )


def _take_surrogates(
    table: Surrogates | None, kept: np.ndarray, leaf: np.ndarray
) -> Surrogates | None:
    if table is None:
        return None
    sizes = np.where(leaf, 0, np.diff(table.start)[kept])
    start = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.repeat(table.start[:-1][kept], sizes) + (
        np.arange(start[-1]) - np.repeat(start[:-1], sizes)
    )
    names = ("kind", "feature", "threshold", "reverse", "bits_start", "agreement")
    return Surrogates(start=start, **{name: getattr(table, name)[entries] for name in names})
