"""A grown tree of codes as a `Tree` of values: bins become thresholds, sets of bins categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arboretum.tree.tree import LEAF, SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.boosting.binning import Bins
    from arboretum.boosting.newton import Grown
    from arboretum.data.schema import Schema

__all__ = ["tree_of"]


def tree_of(grown: Grown, values: np.ndarray, bins: Bins, schema: Schema) -> Tree:
    """Return the grown tree, its leaves answering ``values``, in terms of the table's own values."""
    nodes = len(grown.first_child)
    leaf = grown.first_child < 0
    threshold = np.full(nodes, np.nan)
    bits_start, bits = np.full(nodes, -1, np.int64), [np.zeros(0, np.uint32)]
    filled = 0
    for node in np.flatnonzero(~leaf).tolist():
        f = int(grown.feature[node])
        if grown.by_set[node]:
            words = _category_bits(grown, node, bins, schema)
            bits_start[node], filled = filled, filled + len(words)
            bits.append(words)
        elif grown.bin[node] < bins.n_bins[f] - 1:
            threshold[node] = bins.bounds[bins.bounds_start[f] + grown.bin[node]]
        else:
            threshold[node] = np.inf
    left = np.where(leaf, -1, np.where(grown.missing_left & ~grown.by_set, 0, 1))
    kind = np.where(grown.by_set, SUBSET, THRESHOLD)
    return Tree(
        kind=np.where(leaf, LEAF, kind).astype(np.uint8),
        feature=np.where(leaf, -1, grown.feature).astype(np.int32),
        threshold=threshold,
        first_child=np.where(leaf, -1, grown.first_child).astype(np.int32),
        n_children=np.where(leaf, 0, 2).astype(np.int32),
        missing_child=left.astype(np.int32),
        bits_start=bits_start,
        bits=np.concatenate(bits),
        value=values.reshape(-1, 1, 1).copy(),
        impurity=np.zeros(nodes),
        gain=grown.gain,
        weight=grown.cover,
        count=grown.count,
        schema=schema,
    )


def _category_bits(grown: Grown, node: int, bins: Bins, schema: Schema) -> np.ndarray:
    """Return the set of category codes that go left."""
    f = int(grown.feature[node])
    words = np.zeros((len(schema.columns[f].categories or ()) + 31) // 32, np.uint32)
    for b in range(int(bins.n_bins[f])):
        if grown.members[node, b >> 5] >> np.uint32(b & 31) & 1:
            code = int(bins.category_of[bins.category_start[f] + b])
            words[code >> 5] |= np.uint32(1 << (code & 31))
    return words
