"""Which features a node may split on: samples by depth and by node, and groups that may interact.

    features of the tree   0 1 2 3 4 5 6 7        drawn before it grows
    of this depth          0   2 3     6          `level_columns` of them, by a hash of the depth
    of this node               2       6          `node_columns` of those, by a hash of the node
    that may interact          2                  those in one group with all features above

Both ways of growing, on histograms and on lists, draw by the same hashes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import subkernel
from arboretum.engine.random import mix, pick_column

__all__ = ["ColumnDraw", "draw_columns", "inherit_groups", "open_all_groups"]


class ColumnDraw(NamedTuple):
    """The features to draw from, and scratch."""

    features: np.ndarray  # (n_drawn_for_tree,) int64, the features of the tree, ascending
    drawn: np.ndarray  # (2, n_features) int64, the features drawn for two nodes
    marks: np.ndarray  # (n_features,) uint8, by feature, zeros between calls
    order: np.ndarray  # (n_features,) int64, scratch
    groups: np.ndarray  # (n_nodes, n_words) uint64, groups of features still open; or empty
    group_of: np.ndarray  # (n_features, n_words) uint64, groups a feature is in; or empty


@subkernel
def draw_columns(draw, node, depth, key, rules, drawn):
    """Write the features a node may split on, ascending; return their number.

    drawn (n_features,) int64, written.
    """
    marks, n = draw.marks, len(draw.features)
    for k in range(n):
        drawn[k] = draw.features[k]
    for level in range(2):
        many = rules.node_columns if level else rules.level_columns
        if many == 0 or many >= n:
            continue
        chosen = mix(key, np.uint64((node << 1) | 1 if level else depth << 1))
        order = draw.order[:n]
        for turn in range(many):
            marks[drawn[pick_column(chosen, turn, order)]] = 1
        kept = 0
        for k in range(n):
            if marks[drawn[k]]:
                marks[drawn[k]] = 0
                drawn[kept] = drawn[k]
                kept += 1
        n = kept
    if len(draw.group_of):
        kept = 0
        for k in range(n):
            common = np.uint64(0)
            for w in range(draw.group_of.shape[1]):
                common |= draw.group_of[drawn[k], w] & draw.groups[node, w]
            if common:
                drawn[kept] = drawn[k]
                kept += 1
        n = kept
    return n


@subkernel
def open_all_groups(draw):
    """Open all groups at the root: there all features may be used."""
    for w in range(draw.groups.shape[1]):
        draw.groups[0, w] = ~np.uint64(0)


@subkernel
def inherit_groups(draw, node, feature, left):
    """Give the two children of a node those of its groups that contain the split feature."""
    for w in range(draw.groups.shape[1]):
        still = draw.groups[node, w] & draw.group_of[feature, w]
        draw.groups[left, w], draw.groups[left + 1, w] = still, still
