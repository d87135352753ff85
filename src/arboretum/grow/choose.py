"""Which grower grows the trees of a fit: one table, of which the first line that fits is taken.

    grower             what it is for          trees of                                       rows, columns
    StumpGrower        weights                 one level, no other limit, Gini; no bins       any
    PresortedGrower    residuals, weights      up to 8 levels, no limit of leaves, no sign,   any
                                               numbers or two classes; weights: no draws
    DepthFirstGrower   forests, any that draw  no absolute error, surrogates or bins          any
                       a single tree           the same                                       few; words: more
                       residuals               the same, no weights, no signs                 few, no words
    CartGrower         everything else         any                                            any

The last two draw the same random numbers and grow the same trees. Where trees are grown again and again they
must be the same to the last bit: hence no words and no weights, where columns tie.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from arboretum.engine.split import statistic as stat

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.grower import Grower, GrowTarget
    from arboretum.grow.settings import Growth

__all__ = ["Use", "choose_grower", "trees_of_a_call"]

DEEPEST = 8  # levels: PresortedGrower numbers the nodes of one, and rows of no node, with 8 bits
# Rows up to which one call, which sorts in every node, beats lists kept in order. CPU time of one call
# over that of levels, 20 columns of numbers, at 4,000, 7,500 and 10,000 rows: CART .90, 1.07, 1.20; gradient
# boosting with 31 leaves .74, .91, .88, 12 levels deep 1.05, 1.12, 1.22.
FEW_ROWS = 5_000
# Words are counted, not sorted: one call is faster on this many times as many rows.
WITH_WORDS = 20
# Trees and rows of one call of a forest: Python between calls is lost in them, and threads find work.
TREES_TOGETHER, ROWS_TOGETHER = 25, 20_000


class Use(Enum):
    """What trees are grown for."""

    SINGLE = "one tree"
    FOREST = "many trees, each on rows of its own"
    RESIDUALS = "rounds that give the rows other numbers"
    WEIGHTS = "rounds that give the rows other weights"


def choose_grower(
    matrix: Matrix, schema: Schema, settings: Growth, target: GrowTarget, use: Use
) -> Grower:
    """Return the grower of a fit; of the target, its classes count and whether it has weights."""
    from arboretum.grow.cart import CartGrower
    from arboretum.grow.depth_first.grower import DepthFirstGrower

    words = any(column.kind == "categorical" for column in schema.columns)
    rounds = use in (Use.RESIDUALS, Use.WEIGHTS)
    if use is Use.WEIGHTS and target.classes is not None and _is_stump(settings):
        from arboretum.engine.stump.classes import MOST_CLASSES
        from arboretum.grow.stumps import StumpGrower

        n_classes = int(target.classes[0])
        searched = settings.criterion == stat.GINI and 2 <= n_classes <= MOST_CLASSES
        if not searched or settings.max_bins is not None:
            return CartGrower(matrix, schema, settings, again=True)
        return StumpGrower(matrix, schema, settings, n_classes)
    if rounds and _fits_levels(settings, target, use):
        from arboretum.grow.presorted.grower import PresortedGrower

        return PresortedGrower(matrix, schema, settings, own_bins=use is Use.WEIGHTS)
    if _fits_one_call(settings):
        if use is Use.FOREST or settings.draws:
            return DepthFirstGrower(matrix, schema, settings)
        few = matrix.n_rows <= FEW_ROWS * (WITH_WORDS if words else 1)
        if few and not rounds:
            return DepthFirstGrower(matrix, schema, settings)
        tie = words or len(target.weights) or settings.monotone is not None
        if few and not tie:
            return DepthFirstGrower(matrix, schema, settings, as_levels=True)
    if use is not Use.FOREST:
        return CartGrower(matrix, schema, settings, again=rounds)
    again = settings.draws or settings.max_bins is None  # else every tree has bins of its own
    return CartGrower(
        matrix, schema, replace(settings, n_jobs=1), again=again, n_jobs=settings.n_jobs
    )


def _is_stump(settings: Growth) -> bool:
    """Tell whether trees are stumps that look at every column and have no other limits."""
    return settings.max_depth == 1 and not settings.draws and not settings.is_limited


def _fits_levels(settings: Growth, target: GrowTarget, use: Use) -> bool:
    """Tell whether `PresortedGrower` grows such trees; those of AdaBoost are to draw as CART does."""
    if settings.max_depth is None or settings.max_depth > DEEPEST or settings.surrogates:
        return False
    if settings.max_leaf_nodes is not None or settings.monotone is not None:
        return False
    if use is Use.WEIGHTS and settings.draws:
        return False
    if target.classes is None:
        return settings.criterion in (stat.SQUARED, stat.FRIEDMAN)
    return settings.criterion == stat.GINI and target.classes[0] == 2


def _fits_one_call(settings: Growth) -> bool:
    """Tell whether `DepthFirstGrower` grows such trees: others need lists of all rows."""
    sums = settings.criterion not in (stat.ABSOLUTE, stat.ERROR)
    return sums and settings.surrogates == 0 and settings.max_bins is None


def trees_of_a_call(n_rows: int) -> int:
    """Return how many trees of a forest are grown at a time."""
    return max(1, min(TREES_TOGETHER, ROWS_TOGETHER // n_rows))
