"""Laying out a model of many small trees so that all are asked at once (engine/predict/bitmask.py).

It pays where trees are many, have up to 64 leaves, and ask for few columns: boosted trees mostly are so.
Both ways give the same sums, bit by bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.tree.joined import JoinedTrees, join_trees
from arboretum.tree.tree import LEAF, SUBSET, Tree

if TYPE_CHECKING:
    from arboretum.engine.predict.bitmask import Masks

__all__ = ["add_masked", "mask_trees"]

_MOST_LEAVES = 64
_MOST_BYTES = 1 << 26  # of masks
_FEW_TREES = 4
_COLUMNS_PER_TREE = 4  # beyond so many, walking is faster


def mask_trees(trees: list[Tree], answers: list[np.ndarray], outputs: np.ndarray) -> Masks | None:
    """Return the layout of trees whose nodes answer ``answers``, or None if it does not pay."""
    from arboretum.engine.predict.bitmask import fill_masks

    nodes = join_trees(trees) if len(trees) >= _FEW_TREES else None
    if nodes is None:
        return None
    inner = nodes.kind != LEAF
    leaves = np.add.reduceat(~inner, nodes.start[:-1], dtype=np.int64)
    if leaves.max() > _MOST_LEAVES:
        return None
    features, column = np.unique(nodes.feature[inner], return_inverse=True)
    if not 0 < len(features) <= _COLUMNS_PER_TREE * len(trees):
        return None
    subset = nodes.kind[inner] == SUBSET
    asked_sets = np.bincount(column, subset, len(features)) > 0
    if np.any(asked_sets[column] != subset):  # a column asked both ways
        return None
    categories = np.where(asked_sets, nodes.n_codes[features], -1)
    numbers = ~subset
    by_value = np.lexsort((nodes.threshold[inner][numbers], column[numbers]))
    cuts, owner = nodes.threshold[inner][numbers][by_value], column[numbers][by_value]
    new = np.ones(len(cuts), np.bool_)
    new[1:] = (cuts[1:] != cuts[:-1]) | (owner[1:] != owner[:-1])
    sizes = np.bincount(owner[new], minlength=len(features))
    asked = np.zeros(len(nodes.kind), np.int64)
    asked[inner] = column
    layout = _layout(nodes, int(leaves.max()), features, categories, (cuts[new], sizes), asked)
    if layout is None:
        return None
    questions = (
        nodes.kind, nodes.threshold, nodes.first_child, nodes.missing_child, nodes.bits_start,
        nodes.bits,
    )  # fmt: skip
    answer = np.concatenate([one.reshape(-1) for one in answers])
    fill_masks(layout, questions, asked, answer, nodes.start)
    return layout._replace(outputs=outputs.astype(np.int64))


def _layout(
    nodes: JoinedTrees,
    most_leaves: int,
    features: np.ndarray,
    categories: np.ndarray,
    cuts: tuple[np.ndarray, np.ndarray],  # of all columns, and how many each has
    asked: np.ndarray,
) -> Masks | None:
    """Return a layout that rules nothing out yet, or None if it would be too large."""
    from arboretum.engine.predict.bitmask import GROUP, Masks

    places = np.where(categories >= 0, categories, cuts[1] + 1) + 1
    word: type[np.uint32 | np.uint64] = np.uint32 if most_leaves <= 32 else np.uint64
    n_trees = len(nodes.start) - 1
    groups = -(-n_trees // GROUP)
    if groups * int(places.sum()) * GROUP * word(0).itemsize > _MOST_BYTES:
        return None
    inner = nodes.kind != LEAF
    width, tree = len(features), np.repeat(np.arange(n_trees), np.diff(nodes.start))
    pairs = np.unique(tree[inner] // GROUP * width + asked[inner])  # (group, column)
    return Masks(
        features=features.astype(np.int64),
        n_categories=categories.astype(np.int64),
        cuts=cuts[0],
        cuts_start=_starts(cuts[1]),
        place_start=_starts(places),
        masks=np.full((groups, int(places.sum()), GROUP), ~word(0), word),
        asked=(pairs % width).astype(np.uint64),
        asked_start=_starts(np.bincount(pairs // width, minlength=groups)),
        value=np.zeros((n_trees, most_leaves)),
        outputs=np.zeros(n_trees, np.int64),
    )


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def add_masked(layout: Masks, X: np.ndarray, total: np.ndarray) -> None:
    """Add what all trees answer to ``total``, (rows, outputs), for a C-contiguous block of values."""
    from arboretum.engine.predict.bitmask import GROUP, ROWS, Work, add_answers

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
