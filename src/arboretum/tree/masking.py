"""Laying out a model of many small trees so that all are asked at once (engine/masks.py).

It pays where trees are many, have up to 64 leaves, and ask for few columns: boosted trees mostly are so.
Both ways give the same sums, bit by bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.tree.tree import LEAF, SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.engine.masks import Masks

__all__ = ["add_masked", "mask_trees"]

_MOST_LEAVES = 64
_MOST_BYTES = 1 << 26  # of masks
_FEW_TREES = 4
_COLUMNS_PER_TREE = 4  # beyond so many, walking is faster


def mask_trees(trees: list[Tree], answers: list[np.ndarray], outputs: np.ndarray) -> Masks | None:
    """Return the layout of trees whose nodes answer ``answers``, or None if it does not pay."""
    if len(trees) < _FEW_TREES or not all(_is_fit(tree) for tree in trees):
        return None
    features = np.unique(np.concatenate([tree.feature[~tree.is_leaf] for tree in trees]))
    if not 0 < len(features) <= _COLUMNS_PER_TREE * len(trees):
        return None
    columns = trees[0].schema.columns
    categories = np.full(len(features), -1, np.int64)
    cuts = []
    for k, f in enumerate(features):
        asking = [(tree, tree.feature == f) for tree in trees]
        if any((tree.kind[which] == SUBSET).any() for tree, which in asking):
            if any((tree.kind[which] == THRESHOLD).any() for tree, which in asking):
                return None
            categories[k] = len(columns[f].categories or ())
            cuts.append(np.empty(0))
        else:
            cuts.append(
                np.unique(np.concatenate([tree.threshold[which] for tree, which in asking]))
            )
    return _filled(trees, answers, outputs, features.astype(np.int64), categories, cuts)


def _is_fit(tree: Tree) -> bool:
    return bool(
        tree.n_leaves <= _MOST_LEAVES
        and tree.surrogates is None
        and not np.any(tree.kind > SUBSET)
        and np.all(tree.missing_child[~tree.is_leaf] >= 0)
    )


def _filled(
    trees: list[Tree],
    answers: list[np.ndarray],
    outputs: np.ndarray,
    features: np.ndarray,
    categories: np.ndarray,
    cuts: list[np.ndarray],
) -> Masks | None:
    from arboretum.engine.jit import writable
    from arboretum.engine.masks import GROUP, Masks, fill_masks

    sizes = np.array([len(some) for some in cuts], np.int64)
    places = np.where(categories >= 0, categories, sizes + 1) + 1
    most = max(tree.n_leaves for tree in trees)
    word: type[np.uint32 | np.uint64] = np.uint32 if most <= 32 else np.uint64
    groups = -(-len(trees) // GROUP)
    if groups * int(places.sum()) * GROUP * word(0).itemsize > _MOST_BYTES:
        return None
    inner = [np.unique(tree.feature[~tree.is_leaf]) for tree in trees]
    asked = [
        np.searchsorted(features, np.unique(np.concatenate(inner[g * GROUP : (g + 1) * GROUP])))
        for g in range(groups)
    ]
    value = np.zeros((len(trees), most))
    for t, (tree, answer) in enumerate(zip(trees, answers, strict=True)):
        value[t, : tree.n_leaves] = answer.reshape(-1)[tree.leaves]
    layout = Masks(
        features=features,
        n_categories=categories,
        cuts=np.concatenate([*cuts, np.empty(0)]),
        cuts_start=_starts(sizes),
        place_start=_starts(places),
        masks=np.full((groups, int(places.sum()), GROUP), ~word(0), word),
        asked=np.concatenate([*asked, np.empty(0, np.int64)]).astype(np.uint64),
        asked_start=_starts(np.array([len(some) for some in asked])),
        value=value,
        outputs=outputs.astype(np.int64),
    )
    for t, tree in enumerate(trees):
        nodes = (
            tree.kind, tree.threshold, tree.first_child, tree.missing_child, tree.bits_start,
            tree.bits,
        )  # fmt: skip
        which = np.searchsorted(features, np.where(tree.kind == LEAF, features[0], tree.feature))
        fill_masks(layout, tuple(writable(part) for part in nodes), which, t)
    return layout


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def add_masked(layout: Masks, X: np.ndarray, total: np.ndarray) -> None:
    """Add what all trees answer to ``total``, (rows, outputs), for a C-contiguous block of values."""
    from arboretum.engine.masks import GROUP, ROWS, Work, add_answers

    word = layout.masks.dtype
    work = Work(
        x=np.zeros(ROWS),
        rank=np.empty(ROWS, np.uint64),
        places=np.empty((ROWS, len(layout.features)), np.uint32),
        alive=np.empty(GROUP, word),
        whole=np.full(GROUP, ~word.type(0), word),
        answers=np.zeros((GROUP, 8)),
        sums=np.zeros((total.shape[1], 8)),
    )
    add_answers(layout, X, work, total)
