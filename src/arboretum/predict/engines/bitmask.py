"""Laying out a model of many small trees so that all are evaluated at once (engine/predict/bitmask.py).

It pays off for many trees of up to 64 leaves that split on few columns. Trees with thresholds only are
evaluated faster still (tournament.py), so this engine serves trees that also split on sets of categories.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.predict.engines import costs
from arboretum.structure.joined import JoinedTrees, UsedColumns, join_trees, starts_of, used_columns
from arboretum.structure.tree import LEAF, SUBSET

if TYPE_CHECKING:
    from arboretum.engine.predict.bitmask import Masks
    from arboretum.predict.sum import Terms

__all__ = ["MaskEngine"]


class MaskEngine:
    """Trees of up to 64 leaves that also split on sets of categories."""

    def __init__(self, layout: Masks) -> None:
        self.layout = layout

    @staticmethod
    def cost(trees: Terms, n_rows: int) -> float:
        """Return the expected nanoseconds; see `Engine`."""
        if trees.most_nodes >= 2 * costs.MASKED_LEAVES:
            return math.inf
        walking = n_rows * len(trees.trees) * trees.depth * costs.WALKED_LEVEL
        laying_out = costs.CALL + trees.n_nodes * costs.LAID_OUT_NODE
        return laying_out + costs.MASKED_SHARE * walking

    @classmethod
    def lay_out(cls, trees: Terms) -> MaskEngine | None:
        """Return the engine for these trees, or None if they split on no sets or on too many columns."""
        nodes = join_trees(trees.trees)
        if nodes is None or not np.any(nodes.kind == SUBSET):
            return None
        layout = _lay_out_masks(nodes, trees.values, trees.columns)
        return None if layout is None else cls(layout)

    def add(self, X: np.ndarray, total: np.ndarray) -> None:
        """Add the answers of all trees to ``total``; see `Engine`."""
        from arboretum.engine.predict.bitmask import GROUP, ROWS, MaskWork, add_answers, add_vectors

        layout, word = self.layout, self.layout.masks.dtype
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


def _lay_out_masks(
    nodes: JoinedTrees, answers: list[np.ndarray], outputs: np.ndarray
) -> Masks | None:
    """Return the layout of joined trees, or None if walking is faster.

    ``answers`` has the numbers of the nodes of every tree, (nodes, numbers); ``outputs`` is the output of
    every tree, used if its nodes have one number each.
    """
    from arboretum.engine.predict.bitmask import fill_masks

    n_trees = len(nodes.start) - 1
    inner, used = nodes.kind != LEAF, used_columns(nodes)
    leaves = int(np.add.reduceat(~inner, nodes.start[:-1], dtype=np.int64).max())
    subset, column = nodes.kind[inner] == SUBSET, used.of_node[inner]
    has_sets = np.bincount(column, subset, len(used.features)) > 0
    if np.any(has_sets[column] != subset):  # a column with thresholds and sets
        return None
    categories = np.where(has_sets, nodes.n_codes[used.features], -1)
    layout, several = _empty_masks(nodes, leaves, categories, used), answers[0].shape[1] > 1
    if layout is None:
        return None
    most_columns = costs.MASKED_COLUMNS[8 * layout.masks.itemsize, several]
    if len(layout.asked) > most_columns * n_trees:
        return None
    questions = (
        nodes.kind, nodes.threshold, nodes.first_child, nodes.missing_child, nodes.bits_start,
        nodes.bits,
    )  # fmt: skip
    leaf_nodes = np.zeros((n_trees, leaves), np.int64)
    fill_masks(layout, questions, used.of_node, nodes.start, leaf_nodes)
    value = np.concatenate(answers)[leaf_nodes]
    value = value if several else value.reshape(leaf_nodes.shape)
    return layout._replace(value=value, outputs=outputs.astype(np.int64))


def _empty_masks(
    nodes: JoinedTrees, most_leaves: int, categories: np.ndarray, used: UsedColumns
) -> Masks | None:
    """Return a layout whose masks exclude no leaf yet, or None if it would be too large."""
    from arboretum.engine.predict.bitmask import GROUP, Masks

    places = np.where(categories >= 0, categories, np.diff(used.cuts_start) + 1) + 1
    word: type[np.uint32 | np.uint64] = np.uint32 if most_leaves <= 32 else np.uint64
    n_trees = len(nodes.start) - 1
    groups = -(-n_trees // GROUP)
    if groups * int(places.sum()) * GROUP * word(0).itemsize > costs.MASKED_BYTES:
        return None
    inner = nodes.kind != LEAF
    width, tree = len(used.features), np.repeat(np.arange(n_trees), np.diff(nodes.start))
    pairs = np.unique(tree[inner] // GROUP * width + used.of_node[inner])  # (group, column)
    return Masks(
        features=used.features,
        n_categories=categories.astype(np.int64),
        cuts=used.cuts,
        cuts_start=used.cuts_start,
        place_start=starts_of(places),
        masks=np.full((groups, int(places.sum()), GROUP), ~word(0), word),
        asked=(pairs % width).astype(np.uint64),
        asked_start=starts_of(np.bincount(pairs // width, minlength=groups)),
        value=np.zeros((0, 0)),  # the caller fills in values and outputs
        outputs=np.zeros(0, np.int64),
    )
