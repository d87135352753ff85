"""Laying out a model of many small trees so that all are asked at once (engine/masks.py).

It pays where trees are many, have up to 64 leaves, and ask for few columns: boosted trees mostly are so.
Both ways give the same sums, bit by bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arboretum.tree.tree import LEAF, SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.engine.masks import Masks

__all__ = ["add_masked", "mask_trees"]

_MOST_LEAVES = 64
_MOST_BYTES = 1 << 26  # of masks
_FEW_TREES = 4
_COLUMNS_PER_TREE = 4  # beyond so many, walking is faster


class _Nodes(NamedTuple):
    """The nodes of all trees, one tree after another."""

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray  # counted from the root of its tree
    missing_child: np.ndarray
    bits_start: np.ndarray  # counted from the first set of its tree
    bits: np.ndarray
    starts: np.ndarray  # int64, where a tree's nodes begin; one more than trees
    sets: np.ndarray  # int64, where a tree's sets begin

    @property
    def tree(self) -> np.ndarray:
        """The tree of every node."""
        return np.repeat(np.arange(len(self.sets)), np.diff(self.starts))


def mask_trees(trees: list[Tree], answers: list[np.ndarray], outputs: np.ndarray) -> Masks | None:
    """Return the layout of trees whose nodes answer ``answers``, or None if it does not pay."""
    if len(trees) < _FEW_TREES or any(tree.surrogates is not None for tree in trees):
        return None
    nodes = _join(trees)
    inner = nodes.kind != LEAF
    leaves = np.diff(np.append(0, np.cumsum(~inner))[nodes.starts])
    if leaves.max() > _MOST_LEAVES or nodes.kind.max() > SUBSET:
        return None
    if nodes.missing_child[inner].min(initial=0) < 0:
        return None
    features = np.flatnonzero(np.bincount(nodes.feature[inner]))
    if not 0 < len(features) <= _COLUMNS_PER_TREE * len(trees):
        return None
    place = np.zeros(features[-1] + 1, np.int64)
    place[features] = np.arange(len(features))
    asked = place[np.where(inner, nodes.feature, features[0])]
    columns = trees[0].schema.columns
    categories = np.full(len(features), -1, np.int64)
    for k in np.unique(asked[nodes.kind == SUBSET]).tolist():
        categories[k] = len(columns[features[k]].categories or ())
    by_number = nodes.kind == THRESHOLD
    if (categories[asked[by_number]] >= 0).any():
        return None  # a column that is asked for both numbers and sets
    cuts, sizes = _cuts(nodes.threshold[by_number], asked[by_number], len(features))
    places = np.where(categories >= 0, categories, sizes + 1) + 1
    word: type[np.uint32 | np.uint64] = np.uint32 if leaves.max() <= 32 else np.uint64
    return _filled(
        nodes, answers, outputs, (features, categories, cuts, sizes, places), asked, word
    )


def _join(trees: list[Tree]) -> _Nodes:
    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(tree, name) for tree in trees])

    return _Nodes(
        kind=joined("kind"),
        feature=joined("feature"),
        threshold=joined("threshold"),
        first_child=joined("first_child"),
        missing_child=joined("missing_child"),
        bits_start=joined("bits_start"),
        bits=joined("bits"),
        starts=_starts(np.array([len(tree.kind) for tree in trees])),
        sets=_starts(np.array([len(tree.bits) for tree in trees]))[:-1],
    )


def _cuts(threshold: np.ndarray, asked: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct thresholds of every column, one column after another, and their numbers."""
    order = np.lexsort((threshold, asked))
    threshold, asked = threshold[order], asked[order]
    new = np.ones(len(order), bool)
    new[1:] = (threshold[1:] != threshold[:-1]) | (asked[1:] != asked[:-1])
    return threshold[new], np.bincount(asked[new], minlength=n)


def _filled(
    nodes: _Nodes,
    answers: list[np.ndarray],
    outputs: np.ndarray,
    columns: tuple[np.ndarray, ...],
    asked: np.ndarray,
    word: type[np.uint32 | np.uint64],
) -> Masks | None:
    from arboretum.engine.jit import writable
    from arboretum.engine.masks import GROUP, Masks, fill_masks

    features, categories, cuts, sizes, places = columns
    tree, n_trees = nodes.tree, len(nodes.sets)
    groups = -(-n_trees // GROUP)
    if groups * int(places.sum()) * GROUP * word(0).itemsize > _MOST_BYTES:
        return None
    leaf = np.flatnonzero(nodes.kind == LEAF)
    first = np.searchsorted(leaf, nodes.starts[:-1])
    rank = np.arange(len(leaf)) - first[tree[leaf]]
    value = np.zeros((n_trees, rank.max() + 1))
    value[tree[leaf], rank] = np.concatenate(answers).reshape(-1)[leaf]
    inner = nodes.kind != LEAF
    pairs = np.unique(tree[inner] // GROUP * len(features) + asked[inner])
    layout = Masks(
        features=features,
        n_categories=categories,
        cuts=np.append(cuts, np.empty(0)),
        cuts_start=_starts(sizes),
        place_start=_starts(places),
        masks=np.full((groups, int(places.sum()), GROUP), ~word(0), word),
        asked=(pairs % len(features)).astype(np.uint64),
        asked_start=np.searchsorted(pairs, np.arange(groups + 1) * len(features)).astype(np.int64),
        value=value,
        outputs=outputs.astype(np.int64),
    )
    parts = (
        nodes.kind, nodes.threshold, nodes.first_child, nodes.missing_child, nodes.bits_start,
        nodes.bits,
    )  # fmt: skip
    fill_masks(layout, tuple(writable(part) for part in parts), asked, nodes.starts, nodes.sets)
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
