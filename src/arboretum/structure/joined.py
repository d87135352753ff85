"""The nodes of many trees, one tree behind the other: the form that compiled code takes.

Trees of one file or one fit are cut out on demand. A model of hundreds of trees has thousands of arrays,
and making them takes longer than reading and checking a file. So a tree keeps the position of its nodes,
and its `kind`, `threshold` … become arrays of their own when they are first read. Code that needs the nodes
of all trees takes them in one piece:

    kind      1  0  0 | 1  0  1  0  0 | 0         of all trees
    start     0         3               8  9
    trees     0         1               2         pieces([0, 1, 2]): one;  pieces([0, 2]): two

`used_columns` lists the columns that the trees split on, with the thresholds of each, sorted, without
repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arboretum.structure.tree import LEAF, SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.structure.tree import Tree

__all__ = [
    "JoinedTrees",
    "Piece",
    "SharedNodes",
    "UsedColumns",
    "arrays_of",
    "join_trees",
    "pieces",
    "sizes_of",
    "starts_of",
    "used_columns",
]


# ---------------------------------------------------------------------- trees made together
@dataclass(frozen=True, eq=False, slots=True)
class SharedNodes:
    """The arrays of some trees."""

    arrays: dict[str, np.ndarray]
    start: list[int]  # the first node of every tree, and the end
    bits_start: list[int] | None  # the first word of its bits, and the end; None if no tree has any

    def cut(self, name: str, lo: int, hi: int) -> np.ndarray:
        """Return an array of trees ``lo`` to ``hi``, not included."""
        array = self.arrays[name]
        if name != "bits":
            return array[self.start[lo] : self.start[hi]]
        return (
            array[:0]
            if self.bits_start is None
            else array[self.bits_start[lo] : self.bits_start[hi]]
        )


class Piece(NamedTuple):
    """Trees that follow one another in the arrays they were made of; or one by itself."""

    together: SharedNodes | None
    lo: int
    hi: int
    first: Tree


def pieces(trees: Sequence[Tree]) -> list[Piece]:
    """Return the trees in as few pieces as they lie in.

    >>> from arboretum import RandomForestRegressor
    >>> trees = RandomForestRegressor(4, random_state=0).fit([[1.0], [2.0], [3.0]], [1, 2, 3]).ensemble_.trees
    >>> [piece.hi - piece.lo for piece in pieces(trees)], len(pieces(trees[::2]))
    ([4], 2)
    """
    found: list[Piece] = []
    together: SharedNodes | None = None
    lo = hi = 0
    first: Tree | None = None
    for tree in trees:
        own = tree.__dict__
        mine = own.get("_together")
        if mine is not None and mine is together and own["_number"] == hi:
            hi += 1
            continue
        if first is not None:
            found.append(Piece(together, lo, hi, first))
        together, first = mine, tree
        lo = 0 if mine is None else own["_number"]
        hi = lo + 1
    if first is not None:
        found.append(Piece(together, lo, hi, first))
    return found


def arrays_of(parts: list[Piece], name: str) -> list[np.ndarray]:
    """Return an array of all trees, piece by piece."""
    return [
        getattr(first, name) if together is None else together.cut(name, lo, hi)
        for together, lo, hi, first in parts
    ]


def sizes_of(parts: list[Piece], name: str = "kind") -> list[int]:
    """Return how long an array of each tree is: how many nodes it has, or words of bits."""
    found: list[int] = []
    for together, lo, hi, first in parts:
        if together is None:
            found.append(len(getattr(first, name)))
            continue
        start = together.start if name != "bits" else together.bits_start
        found += np.diff(start[lo : hi + 1]).tolist() if start is not None else [0] * (hi - lo)
    return found


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


# ---------------------------------------------------------------------- columns and thresholds in use
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
