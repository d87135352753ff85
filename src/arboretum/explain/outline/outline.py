"""Which trees have an outline, what it costs, and how it is made; see line.py."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from arboretum.explain.boosting_sheets.replay import Replay
from arboretum.explain.outline import gradient, grown
from arboretum.explain.outline.line import Coded, TreeOutline, coded_columns

__all__ = ["GRADIENT_NUMBERS", "GROWN_NUMBERS", "Outliner"]

# What the numbers of a line are.
GROWN_NUMBERS = (
    "rows left", "W left", "rows right", "W right", "imp left", "imp right", "charge",
)  # fmt: skip
GRADIENT_NUMBERS = (
    "G left", "H left", "rows left", "G right", "H right", "rows right", "sim. left", "sim. right",
)  # fmt: skip
_SET = 60  # sums that one parting of categories costs as much as
_SCAN = 6_000  # of a column of categories at a node, however few they are
_NODE = 2_000  # and writing down a node


class Outliner:
    """Outlines of the trees of one worksheet.

    Parameters
    ----------
    family : Family
    most : int
        How many columns are told of besides the winner's.
    """

    def __init__(self, family: Any, most: int = 6) -> None:
        self.family, self.most = family, most
        self._bins: tuple[Any, gradient.OutlineBins] | None = None
        self._coded: tuple[Any, list[Coded]] | None = None

    @cached_property
    def is_gradient(self) -> bool:
        """Whether lines are sums of G and H."""
        return isinstance(self.family, Replay)

    def _columns(self, matrix: Any) -> list[Coded]:
        """Return the columns of a tree in codes; trees of a bag may have columns of their own."""
        if self._coded is None or self._coded[0] is not matrix:
            self._coded = matrix, coded_columns(matrix)
        return self._coded[1]

    def _binned(self, t: int) -> gradient.OutlineBins:
        """Return the table in the bins of a tree; most trees share them."""
        bins = self.family.bins_for(t)
        if self._bins is None or self._bins[0] is not bins:
            self._bins = bins, gradient.OutlineBins(self.family, t)
        return self._bins[1]

    def cost(self, t: int) -> int | None:
        """Return how many sums an outline takes; None: the tree has none."""
        family = self.family
        if self.is_gradient:
            if not gradient.has_outline(family):
                return None
            tree, binned = family.trees[t], self._binned(t)
            n_rows, inner = len(family.table.y), len(tree) - tree.n_leaves
            sets = sum(binned.n_bins[f] for f in binned.sets)
            return n_rows * len(binned.code) // 7 + inner * (
                binned.cells + _SET * sets + _SCAN * len(binned.sets) + _NODE
            )
        if not hasattr(family, "tree_of"):
            return None
        one = family.tree_of(t)
        return grown.cost_of(one, self._columns(one.matrix)) if grown.has_outline(one) else None

    def outline(self, t: int) -> TreeOutline:
        """Return the outline of a tree."""
        if self.is_gradient:
            made = gradient.GradientOutline(self.family, t, self._binned(t), self.most)
            return made.outline()
        one = self.family.tree_of(t)
        found = grown.GrownOutline(one, self._columns(one.matrix)).outline()
        found.lines = {node: lines[: self.most + 1] for node, lines in found.lines.items()}
        return found
