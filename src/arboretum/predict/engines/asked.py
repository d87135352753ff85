"""The columns that joined trees ask for, and the thresholds of each, in order and without repeats."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.structure.joined import JoinedTrees
from arboretum.structure.tree import LEAF, THRESHOLD

__all__ = ["AskedColumns", "asked_columns", "starts_of"]


class AskedColumns(NamedTuple):
    """The columns that trees ask for, numbered in their order in the table."""

    features: np.ndarray  # (n_asked,) int64, columns of the table
    of_node: np.ndarray  # (n_nodes,) int64, the number of the column a node asks for; 0 for a leaf
    cuts: np.ndarray  # (n_cuts,) float64, the thresholds of all columns, each in order
    cuts_start: np.ndarray  # (n_asked + 1,) int64


def asked_columns(nodes: JoinedTrees) -> AskedColumns:
    """Return the columns of joined trees, of which at least one node is no leaf."""
    features, column = np.unique(nodes.feature[nodes.kind != LEAF], return_inverse=True)
    of_node = np.zeros(len(nodes.kind), np.int64)
    of_node[nodes.kind != LEAF] = column
    numbers = nodes.kind == THRESHOLD
    by_value = np.lexsort((nodes.threshold[numbers], of_node[numbers]))
    cuts, owner = nodes.threshold[numbers][by_value], of_node[numbers][by_value]
    new = np.ones(len(cuts), np.bool_)
    new[1:] = (cuts[1:] != cuts[:-1]) | (owner[1:] != owner[:-1])
    sizes = np.bincount(owner[new], minlength=len(features))
    return AskedColumns(features.astype(np.int64), of_node, cuts[new], starts_of(sizes))


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """Return where pieces of these sizes begin, one behind the other, and the end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
