"""A grown tree of codes as a `Tree` of values: bins become thresholds, sets of bins categories."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.boost_walk import decode_nodes
from arboretum.tree.tree import Tree

if TYPE_CHECKING:
    from arboretum.boosting.binning import Bins
    from arboretum.boosting.newton import Grown
    from arboretum.data.schema import Schema

__all__ = ["tree_of"]


def tree_of(grown: Grown, values: np.ndarray, bins: Bins, schema: Schema) -> Tree:
    """Return the grown tree, its leaves answering ``values``, in terms of the table's own values."""
    n = len(grown)
    tree = Tree(
        kind=np.empty(n, np.uint8),
        feature=np.empty(n, np.int32),
        threshold=np.empty(n),
        first_child=np.empty(n, np.int32),
        n_children=np.empty(n, np.int32),
        missing_child=np.empty(n, np.int32),
        bits_start=np.full(n, -1, np.int64),
        bits=np.empty(0, np.uint32),
        value=values.reshape(-1, 1, 1).copy(),
        impurity=np.zeros(n),
        gain=np.empty(n),
        weight=grown.cover.copy(),
        count=grown.count.copy(),
        schema=schema,
    )
    decode_nodes(
        grown.ints, grown.floats, bins.n_bins, bins.bounds, bins.bounds_start,
        (tree.kind, tree.feature, tree.threshold, tree.first_child, tree.n_children,
         tree.missing_child, tree.gain),
    )  # fmt: skip
    if not bins.is_category.any():
        return tree
    sets = np.flatnonzero(grown.by_set)
    words = [_category_bits(grown, node, bins, schema) for node in sets.tolist()]
    if words:
        ends = np.cumsum([len(some) for some in words])
        tree.bits_start[sets[1:]] = ends[:-1]
        tree.bits_start[sets[0]] = 0
        tree = replace(tree, bits=np.concatenate(words))
    return tree


def _category_bits(grown: Grown, node: int, bins: Bins, schema: Schema) -> np.ndarray:
    """Return the set of category codes that go left."""
    f = int(grown.feature[node])
    codes = bins.categories_of(f)
    inside = np.unpackbits(grown.members[node].view(np.uint8), bitorder="little")[: len(codes)]
    chosen = np.zeros(-(-len(schema.columns[f].categories or ()) // 32) * 32, np.uint8)
    chosen[codes] = inside
    return np.packbits(chosen, bitorder="little").view(np.uint32)
