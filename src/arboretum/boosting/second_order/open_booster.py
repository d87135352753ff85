"""A booster that can begin with trees it did not grow, and new bins in every round.

`Booster` grows from nothing. A fit that goes on from an earlier model, or from a snapshot, begins with
trees; dart may then drop trees that were never grown on these codes, so they are asked by values instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from arboretum.boosting.loss.user_objectives import UserObjective
from arboretum.boosting.second_order.booster import Booster, Plan, Training
from arboretum.boosting.second_order.goss import draw_columns
from arboretum.data.checks import list_rows
from arboretum.errors import DataError
from arboretum.grow.decoding import exact_trees_of
from arboretum.predict.ensemble import Ensemble

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective_base import Objective
    from arboretum.data.matrix import Matrix
    from arboretum.grow.bins.find import Bins
    from arboretum.grow.histogram import GrownNodes
    from arboretum.tree.tree import Tree

__all__ = ["ExactBooster", "OpenBooster", "RebinningBooster"]


class OpenBooster(Booster):
    """A model that grows by a round at a time, from trees it may be given.

    Parameters
    ----------
    plan, objective, data
        As for `Booster`.
    matrix : Matrix
        The training table.
    """

    def __init__(self, plan: Plan, objective: Objective, data: Training, matrix: Matrix) -> None:
        self.matrix = matrix
        super().__init__(plan, objective, data)
        self._derived = False

    def begin_with(self, trees: Sequence[Tree], weights: Sequence[float]) -> None:
        """Take over the trees of an earlier model, whose margins the training data carry."""
        self.trees, self.weights = list(trees), [float(weight) for weight in weights]

    def _derivatives(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        first = self.plan.averaged and not self._derived  # those of the first round serve all
        self._derived = True
        g, h = super()._derivatives(0 if first else m)
        if isinstance(self.objective, UserObjective):
            _refuse_negative(h, self.objective.name, m)
        return g, h

    def _shift(self, t: int, by: float) -> None:
        per_round = self.objective.n_outputs * self.plan.n_parallel
        output = t % per_round // self.plan.n_parallel
        one = Ensemble([self.trees[t]], np.array([by]), np.zeros(1))
        self.margin[:, output] += one.margin(self.matrix, n_jobs=self.plan.n_jobs)[:, 0]


class RebinningBooster(OpenBooster):
    """A booster whose bins follow the hessians (``tree_method="approx"``).

    ``propose`` makes bins from the hessians of all rows, added up over the outputs: before every round, or
    once, from those of the first round.
    """

    def __init__(
        self,
        plan: Plan,
        objective: Objective,
        data: Training,
        matrix: Matrix,
        propose: Callable[[np.ndarray], Bins],
        *,
        every: bool = True,
    ) -> None:
        super().__init__(plan, objective, data, matrix)
        self.propose, self.every = propose, every
        self._first = None if every else self.margin.copy()

    def _take_table(self) -> None:
        """Wait for the hessians."""

    def _loss(self) -> None:
        """Bins need the hessians first."""

    def _derivatives(self, m: int) -> tuple[np.ndarray, np.ndarray]:
        g, h = super()._derivatives(m)
        if self.every:
            self._propose(h)
        elif self._first is not None:
            self._propose(self._hessians(self._first))
            self._first = None
        return g, h

    def _propose(self, h: np.ndarray) -> None:
        self._decode_waiting()  # by the bins they were grown on
        self.data = replace(self.data, bins=self.propose(h.sum(axis=0, dtype=np.float64)))
        super()._take_table()

    def _hessians(self, margin: np.ndarray) -> np.ndarray:
        data, g, h = self.data, np.empty_like(self._g), np.empty_like(self._h)
        self.objective.derivatives(
            data.y, margin, data.weight, g, h, self.plan.n_jobs, groups=data.groups
        )
        return h


class ExactBooster(OpenBooster):
    """A booster that tries every cut between two values (``tree_method="exact"``)."""

    def _take_table(self) -> None:
        from arboretum.grow.exact.grower import ExactGrower

        plan = self.plan
        self.grower = ExactGrower(  # type: ignore[assignment]
            self.matrix, plan.rules, plan.n_jobs, plan.groups, plan.monotone
        )

    def _columns(self, key: int) -> np.ndarray:
        width, share = self.matrix.n_columns, self.plan.columns_by_tree
        return draw_columns(np.arange(width, dtype=np.int64), share, key)

    def _decode_all(self, nodes: GrownNodes, ends: np.ndarray) -> list[Tree]:
        return exact_trees_of(nodes, ends, self.data.schema)  # type: ignore[arg-type]


def _refuse_negative(h: np.ndarray, name: str, m: int) -> None:
    if h.min() < 0:
        rows = np.flatnonzero((h < 0).any(axis=0))
        raise DataError(
            f"objective {name!r} returned a negative hessian in round {m} ({list_rows(rows)}): "
            "clip it at 0 or a small positive number"
        )
