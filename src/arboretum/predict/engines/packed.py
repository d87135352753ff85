"""A model of trees as one array of words, for a row or a few (engine/predict/packed_walk.py)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from arboretum.predict.engines import costs
from arboretum.structure.joined import JoinedTrees, join_trees
from arboretum.structure.tree import LEAF, SUBSET, Tree

if TYPE_CHECKING:
    from arboretum.predict.sum import Terms

__all__ = ["PackedEngine", "pack_trees"]

_FEW_TREES = 2  # up to this many left-over trees are walked one after the other


class PackedEngine:
    """Trees that split on thresholds and sets of categories, walked by a row in one call."""

    def __init__(self, model: np.ndarray) -> None:
        self._model = model

    @staticmethod
    def cost(trees: Terms, n_rows: int) -> float:
        """Return the expected nanoseconds; see `Engine`."""
        if trees.n_nodes * trees.values[0].shape[1] > costs.PACKED_NUMBERS:
            return math.inf
        each = n_rows * trees.depth * costs.PACKED_LEVEL
        return trees.n_nodes * costs.PACKED_NODE + len(trees.trees) * each

    @classmethod
    def lay_out(cls, trees: Terms) -> PackedEngine | None:
        """Return the engine for these trees, or None if one has splits other than thresholds and sets."""
        model = pack_trees(trees.trees, trees.values, trees.columns)
        return None if model is None else cls(model)

    def add(self, X: np.ndarray, total: np.ndarray) -> None:
        """Add the answers of all trees to ``total``; see `Engine`."""
        from arboretum.engine.predict.packed_walk import add_packed

        add_packed(self._model, X, total)

    def find(self, X: np.ndarray, found: np.ndarray) -> None:
        """Write the leaf of every row in every tree, (rows, trees) uint64, counted over all trees' nodes."""
        from arboretum.engine.predict.packed_walk import find_packed

        find_packed(self._model, X, found)


def pack_trees(
    trees: list[Tree],
    values: list[np.ndarray],
    outputs: np.ndarray,
    base: np.ndarray | None = None,
    divisor: float = 1.0,
) -> np.ndarray | None:
    """Return trees over the same columns as one array; None if they split on more than thresholds and sets.

    ``values`` has the numbers that the nodes of every tree add, (nodes, numbers); ``outputs`` is the output
    that the first of a tree's numbers is added to. `answer_packed` starts each output at ``base`` and divides
    it by ``divisor`` at the end.
    """
    from arboretum.engine.predict import packed_walk as words

    nodes = join_trees(trees)
    if nodes is None:
        return None
    roots, start = _roots(nodes), np.zeros(0) if base is None else np.asarray(base, np.float64)
    n_codes, bits = np.zeros(0), np.zeros(0, np.uint32)
    if np.any(nodes.kind == SUBSET):
        n_codes = nodes.n_codes.astype(np.float64)
        bits = np.append(nodes.bits, np.zeros(len(nodes.bits) % 2, np.uint32))
    head = np.zeros(words.HEAD, np.uint64)
    head[words.N_TREES], head[words.N_ROOTS] = len(trees), len(roots)
    head[words.WIDTH], head[words.N_NODES] = values[0].shape[1], len(nodes.kind)
    head[words.N_COLUMNS], head[words.N_WORDS] = len(n_codes), len(bits) // 2
    head[words.N_OUTPUTS] = start.size
    head.view(np.float64)[words.DIVISOR] = divisor
    parts = [
        head, roots, outputs.astype(np.int64), start.ravel(), _questions(nodes), n_codes, bits,
        *(np.ascontiguousarray(value, np.float64).ravel() for value in values),
    ]  # fmt: skip
    return np.concatenate([part.view(np.uint64) for part in parts])


def _roots(nodes: JoinedTrees) -> np.ndarray:
    """Return the first word of every tree, padded with a leaf until whole groups of trees can be walked."""
    from arboretum.engine.predict.packed_walk import SIDE_BY_SIDE

    roots, lacking = 2 * nodes.start[:-1], -(len(nodes.start) - 1) % SIDE_BY_SIDE
    if lacking >= SIDE_BY_SIDE - _FEW_TREES:
        return roots
    return np.append(roots, np.full(lacking, 2 * (len(nodes.kind) - 1)))  # the last node is a leaf


def _questions(nodes: JoinedTrees) -> np.ndarray:
    """Return the two words of every node: its link and its threshold."""
    leaf, is_set = nodes.kind == LEAF, nodes.kind == SUBSET
    root = np.repeat(nodes.start[:-1], np.diff(nodes.start))
    child = 2 * np.where(leaf, np.arange(len(leaf)), root + nodes.first_child)
    column = np.where(leaf, 0, nodes.feature).astype(np.int64)
    side = np.where(leaf, 0, nodes.missing_child).astype(np.int64)
    words = np.empty((len(leaf), 2), np.uint64)
    words[:, 0] = (child << 32) | (is_set.astype(np.int64) << 31) | (column << 1) | side
    cut = np.where(is_set, nodes.bits_start, np.where(leaf, np.inf, nodes.threshold))
    words[:, 1] = cut.view(np.uint64)
    return words.ravel()
