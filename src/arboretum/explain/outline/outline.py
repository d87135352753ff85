"""Which trees have an outline, what it costs, and how it is made; see line.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.explain.outline import gradient, grown
from arboretum.explain.outline.line import GRID, Coded, TreeOutline, coded_columns, on_grid
from arboretum.explain.outline.node_sums import side_by_side
from arboretum.explain.worksheet.families.second_order.family import SecondOrderFamily
from arboretum.explain.worksheet.families.second_order.replay import Replay
from arboretum.lazy import cached_property

__all__ = ["Outliner"]


class Outliner:
    """Outlines of the trees of one worksheet.

    Parameters
    ----------
    family : Family
    most : int
        How many columns are listed besides the winner's.
    grid : bool
        Of a column of many values that an exact search looked at, only 254 cuts are, at places with about as
        many rows between them. Each is one of the candidates; the best of them may not be the best of all.
    """

    def __init__(self, family: Any, most: int = 6, *, grid: bool = False) -> None:
        self.family, self.most, self._wants_grid = family, most, grid
        self._bins: tuple[Any, gradient.BinnedRows] | None = None
        self._coded: tuple[Any, list[Coded], np.ndarray] | None = None

    @cached_property
    def replay(self) -> Replay | None:
        """What second-order boosting has; lines are then sums of G and H."""
        return self.family.replay if isinstance(self.family, SecondOrderFamily) else None

    @property
    def is_gradient(self) -> bool:
        """Whether lines are sums of G and H."""
        return self.replay is not None

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
            self.family.tree_of is not None and self._first.rules.surrogates
        )

    @cached_property
    def _first(self) -> Any:
        """The first tree with its rows; others have as many, of the same kind."""
        return self.family.tree_of(0)

    def _columns(self, matrix: Any) -> tuple[list[Coded], np.ndarray]:
        """Return the columns of a tree in codes, also side by side; trees of a bag may have their own."""
        if self._coded is None or self._coded[0] is not matrix:
            columns = coded_columns(matrix)
            columns = [on_grid(one) for one in columns] if self.grid else columns
            self._coded = matrix, columns, side_by_side(columns)
        return self._coded[1:]

    def _binned(self, t: int) -> gradient.BinnedRows:
        """Return the table in the bins of a tree; most trees share them."""
        assert self.replay is not None
        bins = self.replay.bins_for(t)
        if self._bins is None or self._bins[0] is not bins:
            self._bins = bins, gradient.BinnedRows(self.replay, t, grid=self.grid)
        return self._bins[1]

    def cost(self, t: int) -> int | None:
        """Return about how many nanoseconds an outline takes; None: the tree has none."""
        if self.replay is not None:
            if not gradient.has_outline(self.replay):
                return None
            return gradient.cost_of(self.replay, t, self._binned(t))
        if self.family.tree_of is None or not grown.has_outline(self._first):
            return None
        width = GRID if self.grid else self._first.matrix.n_rows
        return grown.cost_of(self.family.trees[t], self._first, width)

    def outline(self, t: int) -> TreeOutline:
        """Return the outline of a tree."""
        if self.replay is not None:
            return gradient.GradientOutline(self.replay, t, self._binned(t), self.most).outline()
        one = self.family.tree_of(t)
        return grown.grown_outline(one, *self._columns(one.matrix), self.most)
