"""Trees that were made together: their nodes lie one tree behind the other and are cut out on demand.

A model of hundreds of trees has thousands of arrays, and making them takes longer than reading and checking a
file. So a tree keeps the position of its nodes, and its `kind`, `threshold` … become arrays of their own when
they are first read. Code that needs the nodes of all trees takes them in one piece:

    kind      1  0  0 | 1  0  1  0  0 | 0         of all trees
    start     0         3               8  9
    trees     0         1               2         pieces([0, 1, 2]): one;  pieces([0, 2]): two
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from arboretum.structure.tree import Tree

__all__ = ["Piece", "SharedNodes", "arrays_of", "pieces", "sizes_of"]


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
