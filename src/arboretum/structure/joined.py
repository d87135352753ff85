"""The nodes of many trees, one tree behind the other: the form that compiled code takes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.structure.together import arrays_of, pieces, sizes_of
from arboretum.structure.tree import LEAF, SUBSET, Tree

__all__ = ["JoinedTrees", "join_trees"]


class JoinedTrees(NamedTuple):
    """Nodes of all trees; children are counted from the first node of their tree."""

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    missing_child: np.ndarray
    bits_start: np.ndarray  # into ``bits``
    bits: np.ndarray
    start: np.ndarray  # first node of every tree, and the end
    n_codes: np.ndarray  # categories of every column


def join_trees(trees: list[Tree]) -> JoinedTrees | None:
    """Put trees over the same columns one behind the other.

    Returns None if one of them has other splits than thresholds and subsets, has surrogates, or spreads
    missing values over its branches.

    >>> from arboretum import CARTRegressor
    >>> trees = [CARTRegressor(max_depth=1).fit([[0.0], [1.0]], y).tree_ for y in ([1.0, 2.0], [3.0, 3.0])]
    >>> join_trees(trees).start.tolist()
    [0, 3, 4]
    """
    if any(tree.surrogates is not None for tree in trees):
        return None
    parts = pieces(trees)

    def together(name: str) -> np.ndarray:
        return np.concatenate(arrays_of(parts, name))

    kind, missing_child = together("kind"), together("missing_child")
    if kind.max() > SUBSET or np.any((missing_child < 0) & (kind != LEAF)):
        return None
    sizes, bits_start, bits = sizes_of(parts), together("bits_start"), together("bits")
    if len(bits):
        bits_start += np.repeat(_starts(sizes_of(parts, "bits"))[:-1], sizes)
    columns = trees[0].schema.columns
    return JoinedTrees(
        kind=kind,
        feature=together("feature"),
        threshold=together("threshold"),
        first_child=together("first_child"),
        missing_child=missing_child,
        bits_start=bits_start,
        bits=bits,
        start=_starts(sizes),
        n_codes=np.array([len(column.categories or ()) for column in columns], np.int64),
    )


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
