"""Many small trees laid out so that all are asked at once, in the way that suits them.

thresholds              leaves play a tournament (tournament.py)
also sets of categories masks of the leaves that are left (bitmask.py), where trees ask for few columns
larger trees            None: rows walk down them
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from arboretum.predict.bitmask import add_masked, mask_trees
from arboretum.predict.tournament import add_played, arrange_tournament
from arboretum.structure.joined import join_trees
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from arboretum.engine.predict.bitmask import Masks
    from arboretum.engine.predict.tournament import Tournament

    Layout: TypeAlias = Tournament | Masks

__all__ = ["add_laid_out", "lay_out"]

_FEW_TREES = 4
_MOST_LEAVES = 128


def lay_out(trees: list[Tree], answers: list[np.ndarray], outputs: np.ndarray) -> Layout | None:
    """Return the layout of trees, or None if none pays.

    ``answers`` is what the nodes of every tree answer, (nodes, numbers); ``outputs`` the output that the
    first number of every tree is added to.
    """
    if len(trees) < _FEW_TREES or max(map(len, trees)) >= 2 * _MOST_LEAVES:
        return None
    nodes = join_trees(trees)
    if nodes is None:
        return None
    played = arrange_tournament(nodes, answers, outputs)
    return mask_trees(nodes, answers, outputs) if played is None else played


def add_laid_out(layout: Layout, X: np.ndarray, total: np.ndarray) -> None:
    """Add what all trees answer to ``total``, (rows, outputs), for a C-contiguous block of values."""
    add = add_played if hasattr(layout, "questions") else add_masked
    add(layout, X, total)  # type: ignore[arg-type]
