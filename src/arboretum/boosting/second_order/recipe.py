"""The recipe of a boosted model: the effect of all its parameters, in one frozen value.

    parameters ──► recipe(model, table, seed) ──► Recipe ──► Booster ──► rounds ──► model
                   xgboost/, lightgbm/                       second_order/

An API (xgboost/, lightgbm/) makes the recipe from its parameters and the learned table. From then on
the estimator is not read again: every difference between XGBoost and LightGBM is a value in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.second_order.dart import Dart
from arboretum.engine.second_order.score import SplitRules
from arboretum.grow.bins.in_parts import TableInParts
from arboretum.grow.histogram import POOL

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.watching import Measure
    from arboretum.boosting.loss.objective import Objective
    from arboretum.boosting.second_order.tables import Draws, TableMaker
    from arboretum.data.schema import Schema
    from arboretum.predict.ensemble import Ensemble

__all__ = ["MANY", "NO_RULES", "BoostPlan", "LabelledTable", "Recipe", "TrainingTable"]

MANY = 1 << 30  # depth or number of leaves without a limit
NO_RULES = SplitRules(  # every split is allowed; recipes replace what they limit
    l1=0.0, l2=0.0, max_delta_step=0.0, path_smooth=0.0, min_gain=0.0, reach_gain=False, min_weight=0.0,
    min_rows=0.0, cat_l2=0.0, cat_smooth=0.0, cat_min_rows=0.0, max_cat_threshold=MANY, max_onehot=0,
    min_group=0.0, max_depth=MANY, max_leaves=MANY, depth_first=False, level_columns=0, node_columns=0,
)  # fmt: skip


@dataclass(frozen=True)
class BoostPlan:
    """The plan of boosting."""

    rules: SplitRules
    learning_rate: float = 0.1
    n_parallel: int = 1  # trees per round and output
    subsample: float = 1.0
    subsample_every: int = 1  # number of rounds for which a sample is kept; 0: no sampling
    goss: tuple[float, float] | None = None  # shares of rows kept and drawn
    goss_from: int = 0  # the first round with goss
    columns_by_tree: float = 1.0
    common_trees: bool = False  # one tree per round for all classes (common_tree.py)
    averaged: bool = False  # a forest of boosted trees ("rf"): margins do not change
    dart: Dart | None = None
    unsplit_answers: bool = True  # else a tree without a split predicts 0
    ends_unsplit: bool = True  # a fit ends with a round of trees that predict 0
    seed: int = 0
    n_jobs: int = 1
    pool: int = POOL  # bytes for histograms of waiting leaves
    monotone: np.ndarray | None = field(default=None, compare=False)  # int8 per feature
    groups: np.ndarray | None = field(default=None, compare=False)  # see HistogramGrower


@dataclass(frozen=True, eq=False)
class Recipe:
    """The objective, the table and the plan of a fit.

    Attributes
    ----------
    objective : Objective
        The loss.
    plan : BoostPlan
    table : TableMaker
        The form of the training table: bins computed once, bins that follow the hessians, or every value.
    draws : Draws
        The rules for drawing rows and columns.
    rounds : int
    start : float64 array of shape (n_outputs,) or None
        The margins before the first tree; None: those that fit the labels best.
    metrics : list of Measure
        Metrics of held-out tables.
    names : list of str or None
        Names of the columns in reports; None: their own.
    """

    objective: Objective
    plan: BoostPlan
    table: TableMaker
    draws: Draws
    rounds: int
    start: np.ndarray | None = None
    metrics: Sequence[Measure] = ()
    names: list[str] | None = None


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """An encoded table, and the arrays of its rows; y has a column for each of several targets."""

    matrix: Any  # a Matrix or a TableInParts
    y: np.ndarray
    weight: np.ndarray | None = None
    base_margin: np.ndarray | None = None  # as given by the user
    groups: np.ndarray | None = None  # sizes, for ranking


@dataclass(frozen=True, eq=False)
class TrainingTable(LabelledTable):
    """The training table.

    Attributes
    ----------
    schema : Schema
    n_classes : int or None
        None for numbers.
    earlier : Ensemble or None
        The trees to continue from.
    is_complete : bool
        Whether no row of weight 0 has been left out.
    """

    schema: Schema = field(kw_only=True)
    n_classes: int | None = field(default=None, kw_only=True)
    earlier: Ensemble | None = field(default=None, kw_only=True)
    is_complete: bool = field(default=True, kw_only=True)

    def take(self, rows: np.ndarray) -> TrainingTable:
        """Return the table of some rows, without groups."""
        matrix, weight, margin = self.matrix, self.weight, self.base_margin
        if margin is not None:
            margin = np.asarray(margin).reshape(len(self.y), -1)[rows]
        kept = matrix.keep(rows) if isinstance(matrix, TableInParts) else matrix.take(rows)
        weight = None if weight is None else weight[rows]
        return replace(self, matrix=kept, y=self.y[rows], weight=weight, base_margin=margin)
