"""Rounds as LightGBM makes them: what a tree's rows and columns are drawn from, and when to end.

    rows       GOSS; or a bag, drawn anew every ``subsample_freq`` rounds: of all rows, of the rows of each of
               two classes, or of whole groups
    columns    those of interaction constraints, if there are any; of them a share for every tree

A tree that cannot be split answers nothing, and a round of such trees is the last, unless other rows or
columns may be drawn: no later one would find a split either, as the margins do not move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.boosting.second_order.booster import Plan, Training
from arboretum.boosting.second_order.goss import draw_columns, goss_rows, subsample_rows
from arboretum.boosting.second_order.open_booster import OpenBooster
from arboretum.engine.keys import key_of

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective_base import Objective
    from arboretum.data.matrix import Matrix
    from arboretum.grow.histogram import GrownNodes

__all__ = ["Draws", "LGBMRounds", "share_of"]


def share_of(n: int, share: float) -> int:
    """Return the nearest number of columns to a share of n, at least one.

    >>> [share_of(5, 0.9), share_of(8, 0.7), share_of(3, 0.6), share_of(5, 0.5), share_of(3, 0.01)]
    [5, 6, 2, 3, 1]
    """
    return max(int(n * share + 0.5), 1)


@dataclass(frozen=True, eq=False)
class Draws:
    """What rows and columns are drawn from.

    Attributes
    ----------
    rows_seed : int
    columns_seed : int or None
        None: columns are drawn by the seed of the model.
    columns : int64 array
        The columns that may be asked for.
    strata, shares : int array and list of float, or None
        The stratum of every row, and the share drawn of each.
    by_group : bool
        Draw whole groups.
    """

    rows_seed: int
    columns_seed: int | None
    columns: np.ndarray
    strata: np.ndarray | None = None
    shares: Sequence[float] | None = None
    by_group: bool = False


class LGBMRounds(OpenBooster):
    """A booster that draws and ends as LightGBM does.

    Parameters
    ----------
    plan, objective, data, matrix
        As for `OpenBooster`.
    draws : Draws

    Attributes
    ----------
    is_stuck : bool
        The last round found no split, and no other will.
    """

    def __init__(
        self, plan: Plan, objective: Objective, data: Training, matrix: Matrix, draws: Draws
    ) -> None:
        super().__init__(plan, objective, data, matrix)
        self.draws = draws
        self.is_stuck = False

    def round(self, most: int = 1) -> list[int]:
        """Add rounds as `Booster.round` does; one that finds no split is kept only if it is the first."""
        sizes = super().round(most)
        self.is_stuck = self._may_stick() and all(size == 1 for size in sizes)
        if not self.is_stuck or self.n_rounds == 1:
            return sizes
        del self.trees[-len(sizes) :], self.weights[-len(sizes) :]
        return []

    def _may_stick(self) -> bool:
        """Tell whether a round with the same margins makes the same trees."""
        plan, shares = self.plan, self.draws.shares or (self.plan.subsample,)
        bags = plan.goss is not None or (plan.subsample_every > 0 and min(shares) < 1.0)
        columns = plan.columns_by_tree < 1.0 or plan.rules.node_columns > 0
        return not (plan.averaged or plan.dart is not None or bags or columns)

    def _sample(
        self, g: np.ndarray, h: np.ndarray, m: int, twin: int
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        plan, draws = self.plan, self.draws
        if plan.goss is not None:
            if m < plan.goss_from:
                return None, None
            return goss_rows(g, h, *plan.goss, draws.rows_seed, m)
        share = plan.subsample if draws.shares is None else draws.shares
        if not plan.subsample_every or np.min(share) >= 1.0:
            return None, None
        rows = subsample_rows(
            len(self.data.y), share, draws.rows_seed, m // plan.subsample_every,
            groups=self.data.groups if draws.by_group else None, strata=draws.strata,
        )  # fmt: skip
        return rows, None

    def _columns(self, key: int) -> np.ndarray:
        draws, share = self.draws, self.plan.columns_by_tree
        if draws.columns_seed is not None:
            key = key_of(key, draws.columns_seed)
        n = len(draws.columns)
        return draw_columns(draws.columns, share_of(n, share) / n if n else 1.0, key)

    def _steps(self) -> tuple[float, float]:
        return super()._steps()[0], 0.0

    def _values(self, tree: GrownNodes, output: int) -> np.ndarray:
        if len(tree.first_child) == 1:
            return np.zeros(1)
        return super()._values(tree, output)
