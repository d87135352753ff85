"""The columns that joined trees split on, and the thresholds of each, sorted and without repeats."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.structure.joined import JoinedTrees
from arboretum.structure.tree import LEAF, THRESHOLD

__all__ = ["UsedColumns", "starts_of", "used_columns"]


class UsedColumns(NamedTuple):
    """The columns that trees split on, numbered in their order in the table."""

    features: np.ndarray  # (n_used,) int64, columns of the table
    of_node: np.ndarray  # (n_nodes,) int64, the number of the column a node splits on; 0 for a leaf
    cuts: np.ndarray  # (n_cuts,) float64, the thresholds column by column, each sorted
    cuts_start: np.ndarray  # (n_used + 1,) int64


def used_columns(nodes: JoinedTrees) -> UsedColumns:
    """Return the columns that joined trees split on; at least one node must be a split."""
    features, column = np.unique(nodes.feature[nodes.kind != LEAF], return_inverse=True)
    of_node = np.zeros(len(nodes.kind), np.int64)
    of_node[nodes.kind != LEAF] = column
    numbers = nodes.kind == THRESHOLD
    by_value = np.lexsort((nodes.threshold[numbers], of_node[numbers]))
    cuts, owner = nodes.threshold[numbers][by_value], of_node[numbers][by_value]
    new = np.ones(len(cuts), np.bool_)
    new[1:] = (cuts[1:] != cuts[:-1]) | (owner[1:] != owner[:-1])
    sizes = np.bincount(owner[new], minlength=len(features))
    return UsedColumns(features.astype(np.int64), of_node, cuts[new], starts_of(sizes))


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """Return where consecutive pieces of these sizes begin, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
