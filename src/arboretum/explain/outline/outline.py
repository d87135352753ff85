"""Which trees have an outline, what it costs, and how it is made; see line.py."""

from __future__ import annotations

from typing import Any

from arboretum.explain.outline import gradient, grown
from arboretum.explain.outline.line import SideBySide, TreeOutline, coded_columns, on_grid
from arboretum.explain.worksheet.families.second_order.replay import Replay
from arboretum.lazy import cached_property

__all__ = ["GRADIENT_NUMBERS", "GROWN_NUMBERS", "Outliner"]

# What the numbers of a line are.
GROWN_NUMBERS = (
    "rows left", "W left", "rows right", "W right", "imp left", "imp right", "charge",
)  # fmt: skip
GRADIENT_NUMBERS = (
    "G left", "H left", "rows left", "G right", "H right", "rows right", "sim. left", "sim. right",
)  # fmt: skip
# Nanoseconds: to add a row up in a column, to score a cut, a parting of categories, to write a node down.
_ROW, _CUT, _PARTING, _NODE = 6, 8, 200, 300_000


class Outliner:
    """Outlines of the trees of one worksheet.

    Parameters
    ----------
    family : Family
    most : int
        How many columns are told of besides the winner's.
    grid : bool
        Of a column of many values that an exact search looked at, only 254 cuts are, at places with about as
        many rows between them. Each is one of the candidates; the best of them may not be the best of all.
    """

    def __init__(self, family: Any, most: int = 6, *, grid: bool = False) -> None:
        self.family, self.most, self._wants_grid = family, most, grid
        self._bins: tuple[Any, gradient.OutlineBins] | None = None
        self._coded: tuple[Any, SideBySide] | None = None

    @cached_property
    def is_gradient(self) -> bool:
        """Whether lines are sums of G and H."""
        return isinstance(self.family, Replay)

    @cached_property
    def grid(self) -> bool:
        """Whether a grid is looked at; cuts that nodes draw at random lie between their own values."""
        if not self._wants_grid or self.is_gradient:
            return self._wants_grid
        draw = self._first.draw
        return draw is None or not draw.random_splits

    @property
    def has_surrogates(self) -> bool:
        """Whether splits are judged by the rows that have a value."""
        return not self.is_gradient and bool(
            hasattr(self.family, "tree_of") and self._first.rules.surrogates
        )

    @cached_property
    def _first(self) -> Any:
        """The first tree with its rows; others have as many, of the same kind."""
        return self.family.tree_of(0)

    def _columns(self, matrix: Any) -> SideBySide:
        """Return the columns of a tree in codes; trees of a bag may have columns of their own."""
        if self._coded is None or self._coded[0] is not matrix:
            columns = coded_columns(matrix)
            columns = [on_grid(one) for one in columns] if self.grid else columns
            self._coded = matrix, SideBySide(columns)
        return self._coded[1]

    def _binned(self, t: int) -> gradient.OutlineBins:
        """Return the table in the bins of a tree; most trees share them."""
        bins = self.family.bins_for(t)
        if self._bins is None or self._bins[0] is not bins:
            self._bins = bins, gradient.OutlineBins(self.family, t, self.grid)
        return self._bins[1]

    def cost(self, t: int) -> int | None:
        """Return about how many nanoseconds an outline takes; None: the tree has none."""
        family = self.family
        if self.is_gradient:
            if not gradient.has_outline(family):
                return None
            tree, binned = family.trees[t], self._binned(t)
            n_rows, inner = len(family.table.y), len(tree) - tree.n_leaves
            cuts = len(binned.numbers) * (binned.width + 1)
            partings = sum(binned.n_bins[f] + 1 for f in binned.sets)
            per_node = _CUT * cuts + _PARTING * partings + _NODE
            return _ROW * n_rows * len(binned.code) + inner * per_node
        if not hasattr(family, "tree_of") or not grown.has_outline(self._first):
            return None
        return grown.cost_of(
            family.trees[t], self._first, self._columns(self._first.matrix).columns
        )

    def outline(self, t: int) -> TreeOutline:
        """Return the outline of a tree."""
        if self.is_gradient:
            made = gradient.GradientOutline(self.family, t, self._binned(t), self.most)
            return made.outline()
        one = self.family.tree_of(t)
        return grown.GrownOutline(one, self._columns(one.matrix), self.most).outline()
