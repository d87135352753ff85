"""Laying out a model of many small trees so that all are asked at once (engine/predict/bitmask.py).

It pays where trees are many, have up to 64 leaves, and ask for few columns. Trees of thresholds only are
asked faster still (tournament.py), so it is for those that ask for sets of categories, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.structure.joined import JoinedTrees
from arboretum.structure.tree import LEAF, SUBSET

if TYPE_CHECKING:
    from arboretum.engine.predict.bitmask import Masks

__all__ = ["add_masked", "mask_trees"]

_MOST_LEAVES = 64
_MOST_BYTES = 1 << 26  # of masks
# Columns that groups of trees ask for, per tree of the model: beyond so many, walking is faster. A mask of 64
# leaves is twice as long; where leaves also answer several numbers, it never pays.
_MOST_ASKED = {(32, False): 4.0, (32, True): 3.5, (64, False): 1.25, (64, True): 0.0}


def mask_trees(nodes: JoinedTrees, answers: list[np.ndarray], outputs: np.ndarray) -> Masks | None:
    """Return the layout of joined trees, or None if it does not pay.

    ``answers`` is what the nodes of every tree answer, (nodes, numbers); ``outputs`` the output of every
    tree, where the number is one.
    """
    from arboretum.engine.predict.bitmask import fill_masks

    n_trees = len(nodes.start) - 1
    inner = nodes.kind != LEAF
    leaves = np.add.reduceat(~inner, nodes.start[:-1], dtype=np.int64)
    if leaves.max() > _MOST_LEAVES:
        return None
    features, column = np.unique(nodes.feature[inner], return_inverse=True)
    if not len(features):
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
    several = answers[0].shape[1] > 1
    if layout is None or not _pays(layout, n_trees, several):
        return None
    questions = (
        nodes.kind, nodes.threshold, nodes.first_child, nodes.missing_child, nodes.bits_start,
        nodes.bits,
    )  # fmt: skip
    leaf_nodes = np.zeros((n_trees, int(leaves.max())), np.int64)
    fill_masks(layout, questions, asked, nodes.start, leaf_nodes)
    value = np.concatenate(answers)[leaf_nodes]
    value = value if several else value.reshape(leaf_nodes.shape)
    return layout._replace(value=value, outputs=outputs.astype(np.int64))


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
        value=np.zeros((0, 0)),  # like the outputs, not known here
        outputs=np.zeros(0, np.int64),
    )


def _pays(layout: Masks, n_trees: int, several: bool) -> bool:
    bits = 8 * layout.masks.itemsize
    return len(layout.asked) <= _MOST_ASKED[bits, several] * n_trees


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def add_masked(layout: Masks, X: np.ndarray, total: np.ndarray) -> None:
    """Add what all trees answer to ``total``, (rows, outputs), for a C-contiguous block of values."""
    from arboretum.engine.predict.bitmask import GROUP, ROWS, MaskWork, add_answers, add_vectors

    word = layout.masks.dtype
    work = MaskWork(
        x=np.zeros(ROWS),
        rank=np.empty(ROWS, np.uint64),
        places=np.empty((ROWS, len(layout.features)), np.uint32),
        alive=np.empty(GROUP, word),
        whole=np.full(GROUP, ~word.type(0), word),
        leaves=np.zeros((GROUP, 8), np.uint64),
        answers=np.zeros((GROUP, 8)),
        sums=np.zeros((total.shape[1], 8)),
    )
    add: Any = add_answers if layout.value.ndim == 2 else add_vectors
    add(layout, X, work, total)
