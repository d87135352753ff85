"""A table to grow on that has target statistics in place of words, and trees that split on words again.

    grown on numbers     city <= 0.6                    the statistic of a row that was not learned from
    kept                 city in {Oslo, Rome}           depends on its level: these have at most 0.6

What comes after growing (predictions, files, SHAP values, rules) sees ordinary splits on sets of levels.
Statistics of two words together would need splits on both, which trees do not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.averaged.target_statistics import TargetStatistic
from arboretum.boosting.second_order.tables import BinnedTable
from arboretum.data.matrix import FrameMatrix
from arboretum.data.schema import Column, Schema
from arboretum.grow.bins.find import BinRules, find_bins
from arboretum.structure.build import cut_trees
from arboretum.structure.joined import JoinedTrees, arrays_of, join_trees, pieces
from arboretum.structure.sound import NODE_ARRAYS
from arboretum.structure.tree import LEAF, SUBSET, Tree

if TYPE_CHECKING:
    from arboretum.boosting.second_order.recipe import BoostPlan, TrainingTable
    from arboretum.grow.bins.bins import Bins
    from arboretum.grow.decoding import GrownNodes

__all__ = ["StatisticsTable", "statistics_table"]


class StatisticsTable(BinnedTable):
    """A table of codes, some of them of statistics.

    Attributes
    ----------
    statistics : dict of int to TargetStatistic
        By column of the table; those of rows are codes by now.
    words : Schema
        The columns of the trees.
    """

    def __init__(
        self,
        bins: Bins,
        schema: Schema,
        plan: BoostPlan,
        statistics: dict[int, TargetStatistic],
        words: Schema,
        **given: Any,
    ) -> None:
        signs = plan.monotone
        if signs is not None:  # columns of numbers have kept their places
            signs = np.pad(signs, (0, schema.n_features - len(signs)))
        super().__init__(bins, schema, replace(plan, monotone=signs), **given)
        self.statistics, self.words = statistics, words

    def with_plan(self, plan: BoostPlan) -> StatisticsTable:
        """Return the same codes with a grower for another plan."""
        return StatisticsTable(
            self.bins, self.schema, plan, self.statistics, self.words, store=self.grower.store
        )

    def decode(self, nodes: GrownNodes, ends: np.ndarray) -> list[Tree]:
        """Return grown trees that split on words."""
        return _on_words(super().decode(nodes, ends), self.statistics, self.words)


def statistics_table(
    training: TrainingTable, found: Sequence[TargetStatistic], rules: BinRules, plan: BoostPlan
) -> StatisticsTable:
    """Return the table in bins, a statistic in place of each word; its further ones stand at the end."""
    schema = training.schema
    columns = list(schema.columns)
    values = [training.matrix.column(f) for f in range(len(columns))]
    statistics: dict[int, TargetStatistic] = {}
    for one in found:
        place = one.column if one.column not in statistics else len(columns)
        columns[place : place + 1] = [Column(f"statistic {place}", "numeric")]
        values[place : place + 1] = [one.of_rows]
        statistics[place] = replace(one, of_rows=one.of_rows[:0])  # as codes, they take less memory
    numbers = Schema(tuple(columns), schema.named)
    bins = find_bins(FrameMatrix(values), numbers, rules, None, plan.n_jobs)
    return StatisticsTable(bins, numbers, plan, statistics, schema)


# ---------------------------------------------------------------------- trees
def _on_words(
    trees: list[Tree], statistics: dict[int, TargetStatistic], words: Schema
) -> list[Tree]:
    """Return trees that split on sets of levels where these split on statistics."""
    nodes, parts = join_trees(trees), pieces(trees)
    assert nodes is not None
    arrays = {name: np.concatenate(arrays_of(parts, name)) for name in NODE_ARRAYS}
    column = np.arange(trees[0].n_features)
    for place, one in statistics.items():
        column[place] = one.column
    inner = nodes.kind != LEAF
    is_statistic = inner & np.isin(nodes.feature, list(statistics))
    arrays["feature"] = np.where(inner, column[nodes.feature], -1).astype(np.int32)
    arrays["kind"] = np.where(is_statistic, SUBSET, nodes.kind).astype(np.uint8)
    arrays["threshold"] = np.where(is_statistic, np.nan, nodes.threshold)
    sets = np.flatnonzero(arrays["kind"] == SUBSET)
    sizes = np.array([-(-len(one.categories or ()) // 32) for one in words.columns], np.int64)
    ends = np.append(0, np.cumsum(sizes[arrays["feature"][sets]]))
    start = np.full(len(inner), -1, np.int64)
    start[sets] = ends[:-1]
    bits = np.zeros(ends[-1], np.uint32)
    for place in np.unique(nodes.feature[sets]).tolist():
        here = sets[nodes.feature[sets] == place]
        if place in statistics:
            by_level, cuts = statistics[place].by_level, nodes.threshold[here]
            found = _levels_up_to(by_level[:-1], cuts)
            arrays["missing_child"][here] = by_level[-1] > cuts
        else:
            found = _words_at(nodes, here, sizes[place])
        bits[start[here][:, np.newaxis] + np.arange(found.shape[1])] = found
    tree_starts = ends[np.searchsorted(sets, nodes.start)]
    start[sets] -= tree_starts[np.searchsorted(nodes.start, sets, side="right") - 1]
    arrays["bits_start"] = start
    return cut_trees(words, nodes.start[1:], bits=bits, bits_ends=tree_starts[1:], **arrays)


def _words_at(nodes: JoinedTrees, here: np.ndarray, size: int) -> np.ndarray:
    """Return the sets of some nodes, (nodes, size) words of 32 bits."""
    return nodes.bits[nodes.bits_start[here][:, np.newaxis] + np.arange(size)]


def _levels_up_to(by_level: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Return the levels whose statistic is at most each cut, as words of 32 bits, lowest bit first.

    >>> _levels_up_to(np.array([0.1, 0.7, 0.3]), np.array([0.2, 0.5])).tolist()
    [[1], [5]]
    """
    different, which = np.unique(cuts, return_inverse=True)
    inside = np.pad(by_level, (0, -len(by_level) % 32), constant_values=np.inf)
    inside = inside <= different[:, np.newaxis]
    return np.packbits(inside, axis=1, bitorder="little").view("<u4").astype(np.uint32)[which]
