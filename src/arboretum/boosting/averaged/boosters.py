"""The boosters of a fit: kinds of trees on one binned table.

kind           trees
plain          grown leaf by leaf, the best cut of some columns at every node
random cuts    one random cut of every column: single trees are weaker, their mean errs elsewhere
symmetric      one cut for all nodes of a level; words of many levels are target statistics, in an order of
               the rows that is drawn for every booster
common trees   one tree for all classes, grown leaf by leaf
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from arboretum.boosting.averaged.settings import COMMON, PLAIN, RANDOM_CUTS, SYMMETRIC, Settings
from arboretum.boosting.averaged.statistics_table import statistics_table
from arboretum.boosting.averaged.target_statistics import columns_of_many_levels, find_statistics
from arboretum.boosting.loss.objective import Objective
from arboretum.boosting.second_order.booster import Booster
from arboretum.boosting.second_order.draws import share_of
from arboretum.boosting.second_order.recipe import MANY, NO_RULES, BoostPlan, Recipe, TrainingTable
from arboretum.boosting.second_order.tables import BinnedTable, Draws, Histograms, SharedTable
from arboretum.data.matrix import SparseMatrix
from arboretum.engine.second_order.score import SplitRules
from arboretum.grow.bins.categories import frequent_categories
from arboretum.lazy import cached_property

__all__ = ["Ground", "bin_table"]

_RANDOM_SHARE = 0.8  # of the columns at a node: random cuts need more of them
_DEPTH, _SYMMETRIC_L2 = 6, 3.0  # of symmetric trees, which use all columns
_SAMPLE, _MIN_IN_BIN = 200_000, 3
_CUT_SEEDS = 1 << 31


@dataclass(frozen=True, eq=False)
class Ground:
    """What all boosters of a fit stand on.

    Attributes
    ----------
    training : TrainingTable
    objective : Objective
    settings : Settings
    table : BinnedTable
        The training table in bins.
    monotone : int8 array of shape (n_features,) or None
    left_out : int array
        Columns that no tree splits on.
    """

    training: TrainingTable
    objective: Objective
    settings: Settings
    table: BinnedTable
    monotone: np.ndarray | None = None
    left_out: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    @cached_property
    def words(self) -> list[int]:
        """The columns of words that symmetric trees read as statistics."""
        if SYMMETRIC not in self.settings.kinds or isinstance(self.training.matrix, SparseMatrix):
            return []
        return columns_of_many_levels(self.training.schema)

    def booster(self, kind: str, rows: np.ndarray | None, seed: int, n_jobs: int) -> Booster:
        """Return a booster that learns from some rows of the table (None: all)."""
        training, objective = self.training, self.objective
        y, weight = training.y, training.weight
        if rows is not None:
            y, weight = y[rows], None if weight is None else weight[rows]
        table = self.table
        plan = _plan(kind, self.settings, training.schema.n_features, seed, n_jobs, self.monotone)
        if kind == SYMMETRIC and self.words:
            found = find_statistics(training, self.words, rows, seed)
            table = statistics_table(training, found, _bins(self.settings, seed), plan)
        columns = np.setdiff1d(np.arange(table.schema.n_features, dtype=np.int64), self.left_out)
        draws = Draws([seed], columns, to_nearest=True, among=rows)
        recipe = Recipe(objective, plan, SharedTable(table), draws, MANY)
        base = np.asarray(objective.start(y, weight), np.float64)
        return Booster(recipe, training, base, base)


def bin_table(
    training: TrainingTable, settings: Settings, seed: int, n_jobs: int, monotone: np.ndarray | None
) -> BinnedTable:
    """Return the training table in bins."""
    plan = _plan(PLAIN, settings, training.schema.n_features, seed, n_jobs, monotone)
    return _bins(settings, seed).make(training, plan)


def _bins(settings: Settings, seed: int) -> Histograms:
    return Histograms(
        settings.max_bin,
        _SAMPLE,
        seed,
        _MIN_IN_BIN,
        bundle=True,
        categories=partial(
            frequent_categories, max_bin=settings.max_bin, min_data_in_bin=_MIN_IN_BIN
        ),
        zero_apart=True,
    )


def _plan(
    kind: str,
    settings: Settings,
    n_features: int,
    seed: int,
    n_jobs: int,
    monotone: np.ndarray | None,
) -> BoostPlan:
    return BoostPlan(
        _rules(kind, settings, n_features)._replace(cut_seed=seed % _CUT_SEEDS),
        settings.rate(kind),
        common_trees=kind == COMMON,
        subsample=settings.subsample,
        unsplit_answers=False,
        seed=seed,
        n_jobs=n_jobs,
        monotone=monotone,
    )


def _rules(kind: str, settings: Settings, n_features: int) -> SplitRules:
    plain = NO_RULES._replace(
        l2=settings.l2,
        min_weight=1e-3,
        min_rows=float(settings.min_rows),
        cat_l2=10.0,
        cat_smooth=10.0,
        cat_min_rows=10.0,
        max_cat_threshold=32,
        max_onehot=3,
        min_group=100.0,
        max_leaves=settings.num_leaves,
        node_columns=_drawn(settings.node_share, n_features),
    )
    if kind == RANDOM_CUTS:
        return plain._replace(random_cuts=True, node_columns=_drawn(_RANDOM_SHARE, n_features))
    if kind == SYMMETRIC:
        return plain._replace(
            symmetric=True, max_depth=_DEPTH, max_leaves=MANY, depth_first=True, l2=_SYMMETRIC_L2,
            min_rows=1.0, node_columns=0, noise=settings.noise,
        )  # fmt: skip
    return plain


def _drawn(share: float, n_features: int) -> int:
    """Return how many columns a node draws; 0 for all."""
    count = share_of(n_features, share)
    return count if count < n_features else 0
