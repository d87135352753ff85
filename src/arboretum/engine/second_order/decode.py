"""A grown tree of codes: walking rows down it, and converting its nodes to values.

grown     feature 2, bin 17 ──► first child 5             codes of rows are compared with bins
decoded   feature 2, x <= 0.25 ──► children 5 and 6       how a `Tree` splits any table
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.dtypes import CATEGORIES
from arboretum.engine.second_order.nodes import missing_code

__all__ = ["DecodedNodes", "decode_nodes", "decode_sets", "walk_codes"]

_LEAF, _THRESHOLD, _SUBSET = 0, 1, 2  # kinds of nodes (structure/tree.py)


class DecodedNodes(NamedTuple):
    """Nodes as a `Tree` has them."""

    kind: np.ndarray  # (n_nodes,) uint8
    feature: np.ndarray  # (n_nodes,) int32, -1 at a leaf
    threshold: np.ndarray  # (n_nodes,) float64
    first_child: np.ndarray  # (n_nodes,) int32
    n_children: np.ndarray  # (n_nodes,) int32
    missing_child: np.ndarray  # (n_nodes,) int32
    gain: np.ndarray  # (n_nodes,) float64


@kernel
def walk_codes(store, features, nodes, members, rows, start, end, out):
    """Write the leaf of a grown tree that rows reach by their codes; ``rows`` may be empty: all rows.

    nodes (n_nodes,) NODE; members (n_nodes, n_words) uint32; rows (n_rows,) uint32; out (end - start,)
    int64, written.
    """
    codes, wide = store.codes, store.wide
    for i in range(start, end):
        row = np.uint64(rows[i]) if len(rows) else np.uint64(i)
        k = np.int64(0)
        while nodes[k].first_child >= 0:
            split = nodes[k].split
            f = split.feature
            column, default = features.storage[f], features.default_bin[f]
            if column < len(codes):
                code = np.int64(codes[np.uint64(column), row])
            else:
                code = np.int64(wide[np.uint64(column - len(codes)), row])
            missing = code == missing_code(store, column)
            if default >= 0:  # bundled: the stored bins, without the default one
                at, n = code - features.offset[f], features.n_bins[f]
                inside = at >= 0 and at < n - np.int64(default < n)
                code = at + np.int64(at >= default) if inside else np.int64(default)
                missing = code == n
            if missing:
                left = split.missing_left > 0
            elif split.kind == CATEGORIES:
                left = (members[k, code >> 5] >> np.uint32(code & 31)) & np.uint32(1) > 0
            else:
                left = code <= split.bin
            k = nodes[k].first_child + np.int64(not left)
        out[i - start] = k


@kernel
def decode_nodes(nodes, n_bins, bounds, bounds_start, out):
    """Write grown nodes as a `Tree` has them; category sets are left out.

    nodes (n_nodes,) NODE; n_bins (n_features,) int32; bounds (n_bounds,) float64; bounds_start
    (n_features + 1,) int64.
    """
    for k in range(len(nodes)):
        node, split = nodes[k], nodes[k].split
        out.kind[k], out.feature[k], out.threshold[k], out.gain[k] = _LEAF, -1, np.nan, 0.0
        out.first_child[k], out.n_children[k], out.missing_child[k] = -1, 0, -1
        if node.first_child < 0:
            continue
        f, b, by_set = split.feature, split.bin, split.kind == CATEGORIES
        out.feature[k], out.gain[k] = f, split.gain
        out.first_child[k], out.n_children[k] = node.first_child, 2
        out.missing_child[k] = 0 if split.missing_left > 0 else 1
        out.kind[k] = _SUBSET if by_set else _THRESHOLD
        if not by_set:
            out.threshold[k] = bounds[bounds_start[f] + b] if b < n_bins[f] - 1 else np.inf


@kernel
def decode_sets(sets, place, feature, members, n_bins, category_of, category_start, bits):
    """Write the category codes that go left at the nodes ``sets``, bit by bit, from ``place`` on.

    sets, place (n_sets,) int64; feature (n_nodes,) int32; members (n_nodes, n_words) uint32; n_bins
    (n_features,) int32; category_of (n_categories,) int32; category_start (n_features + 1,) int64; bits
    (n_bit_words,) uint32, written, 0 at first.
    """
    for k in range(len(sets)):
        node = sets[k]
        f = feature[node]
        for b in range(n_bins[f]):
            if (members[node, b >> 5] >> np.uint32(b & 31)) & np.uint32(1):
                code = np.int64(category_of[category_start[f] + b])
                bits[place[k] + (code >> 5)] |= np.uint32(1) << np.uint32(code & 31)
