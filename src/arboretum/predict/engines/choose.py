"""Choosing the prediction engine: the cheapest one that can lay out the trees.

An engine has

    cost(trees, n_rows)   expected nanoseconds; infinite for trees that it does not support
    lay_out(trees)        the engine for these trees, or None if they turn out not to fit
    add(X, total)         adds the leaf values of all trees, in the order of the trees

A new engine is one file in this room and one line in `ENGINES`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from arboretum.predict.engines.bit_tables import BitTableEngine
from arboretum.predict.engines.bitmask import MaskEngine
from arboretum.predict.engines.packed import PackedEngine
from arboretum.predict.engines.tournament import TournamentEngine
from arboretum.predict.engines.walk import WalkEngine

if TYPE_CHECKING:
    import numpy as np

    from arboretum.predict.sum import Terms

__all__ = ["ENGINES", "Engine", "choose"]


class Engine(Protocol):
    """A way to add up the leaf values of many trees."""

    @staticmethod
    def cost(trees: Terms, n_rows: int) -> float:
        """Return the expected nanoseconds for some rows; infinite if it does not support these trees."""

    @classmethod
    def lay_out(cls, trees: Terms) -> Engine | None:
        """Return the engine for these trees, or None if they do not fit or another is faster."""

    def add(self, X: np.ndarray, total: np.ndarray) -> None:
        """Add the answers of all trees to ``total``.

        Parameters
        ----------
        X : float64 array of shape (rows, columns), C-contiguous
        total : float64 array of shape (rows, outputs)
        """


ENGINES: list[type[Engine]] = [
    PackedEngine,
    BitTableEngine,
    TournamentEngine,
    MaskEngine,
    WalkEngine,
]


def choose(trees: Terms, n_rows: int) -> Engine:
    """Return the cheapest engine that supports the trees; each is laid out once."""
    costs = {engine: engine.cost(trees, n_rows) for engine in ENGINES}
    for engine in sorted(costs, key=costs.__getitem__):
        if math.isinf(costs[engine]):
            break
        made = trees.laid_out(engine)
        if made is not None:
            return made
    return WalkEngine.lay_out(trees)
