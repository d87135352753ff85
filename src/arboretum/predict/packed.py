"""A model of trees as one array of words, for a row or a few (engine/predict/packed_walk.py)."""

from __future__ import annotations

import numpy as np

from arboretum.tree.joined import join_trees
from arboretum.tree.tree import LEAF, SUBSET, Tree

__all__ = ["pack_trees"]


def pack_trees(
    trees: list[Tree], values: list[np.ndarray], outputs: np.ndarray
) -> np.ndarray | None:
    """Return trees over the same columns as one array, or None if they ask more than thresholds and sets.

    ``values`` is what the nodes of every tree add, (nodes, numbers); ``outputs`` the output that the first
    of a tree's numbers is added to.
    """
    from arboretum.engine.predict import packed_walk as words

    nodes = join_trees(trees)
    if nodes is None:
        return None
    leaf, is_set = nodes.kind == LEAF, nodes.kind == SUBSET
    root = np.repeat(nodes.start[:-1], np.diff(nodes.start))
    child = root + np.where(leaf, np.arange(len(leaf)) - root, nodes.first_child)
    side = np.where(leaf, 0, nodes.missing_child).astype(np.int64)
    link = (child << 32) | (side << 31) | (is_set << 30) | np.where(leaf, 0, nodes.feature)
    cut = np.where(is_set, nodes.bits_start, np.where(leaf, np.inf, nodes.threshold))
    head = np.zeros(words.HEAD, np.uint64)
    head[words.N_TREES], head[words.N_NODES] = len(trees), len(leaf)
    head[words.WIDTH] = values[0].shape[1]
    n_codes, bits = np.zeros(0), np.zeros(0, np.uint32)
    if is_set.any():
        n_codes = nodes.n_codes.astype(np.float64)
        bits = np.append(nodes.bits, np.zeros(len(nodes.bits) % 2, np.uint32))
        head[words.N_COLUMNS], head[words.N_WORDS] = len(n_codes), len(bits) // 2
    parts = [
        head, nodes.start[:-1], outputs.astype(np.int64), link, cut, n_codes, bits,
        *(np.ascontiguousarray(value, np.float64).ravel() for value in values),
    ]  # fmt: skip
    return np.concatenate([part.view(np.uint64) for part in parts])
