"""The recipe of a boosted model: all that its parameters come to, in one frozen value.

    parameters ──► recipe(model, table, seed) ──► Recipe ──► Booster ──► rounds ──► model
                   xgboost/, lightgbm/                       second_order/

An API (xgboost/, lightgbm/) makes the recipe from its parameters and the table that was learned. From then on
nobody asks the estimator again: whatever XGBoost and LightGBM do differently is a value in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from arboretum.boosting.second_order.dart import Dart
from arboretum.engine.second_order.score import SplitRules
from arboretum.grow.histogram import POOL

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.watching import Measure
    from arboretum.boosting.loss.objective import Objective
    from arboretum.boosting.second_order.tables import Draws, TableMaker
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.predict.ensemble import Ensemble

__all__ = ["MANY", "BoostPlan", "LabelledTable", "Recipe", "TrainingTable"]

MANY = 1 << 30  # of a depth or a number of leaves: no limit


@dataclass(frozen=True)
class BoostPlan:
    """How to boost."""

    rules: SplitRules
    learning_rate: float = 0.1
    n_parallel: int = 1  # trees per round and output
    subsample: float = 1.0
    subsample_every: int = 1  # rounds a sample is kept; 0: no sampling
    goss: tuple[float, float] | None = None  # shares of rows kept and drawn
    goss_from: int = 0  # the first round with goss
    columns_by_tree: float = 1.0
    averaged: bool = False  # a forest of boosted trees ("rf"): margins do not move
    dart: Dart | None = None
    unsplit_answers: bool = (
        True  # else a tree that is not split answers 0, and a round of them ends
    )
    seed: int = 0
    n_jobs: int = 1
    pool: int = POOL  # bytes for histograms of leaves that wait
    monotone: np.ndarray | None = field(default=None, compare=False)  # int8 per feature
    groups: np.ndarray | None = field(default=None, compare=False)  # see HistogramGrower


@dataclass(frozen=True, eq=False)
class Recipe:
    """What is learned, and how.

    Attributes
    ----------
    objective : Objective
        The loss.
    plan : BoostPlan
    table : TableMaker
        How trees see the training table: bins found once, bins that follow the hessians, or every value.
    draws : Draws
        What rows and columns are drawn from.
    rounds : int
    start : float64 array of shape (n_outputs,) or None
        The margins before the first tree; None: those that fit the labels best.
    metrics : list of Measure
        What held-out tables are evaluated by.
    names : list of str or None
        Of the columns, in reports; None: their own.
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
    """A table in numbers, and what belongs to its rows."""

    matrix: Matrix
    y: np.ndarray
    weight: np.ndarray | None = None
    base_margin: np.ndarray | None = None  # as the user gave them
    groups: np.ndarray | None = None  # sizes, for ranking


@dataclass(frozen=True, eq=False)
class TrainingTable(LabelledTable):
    """The table that is learned from.

    Attributes
    ----------
    schema : Schema
    n_classes : int or None
        None: the labels are numbers.
    earlier : Ensemble or None
        The trees to go on from.
    is_complete : bool
        No row of weight 0 has been left out.
    """

    schema: Schema = field(kw_only=True)
    n_classes: int | None = field(default=None, kw_only=True)
    earlier: Ensemble | None = field(default=None, kw_only=True)
    is_complete: bool = field(default=True, kw_only=True)
