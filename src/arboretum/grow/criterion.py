"""What a tree tries to make pure: the criteria, and the statistic the engine adds up for each.

A `Statistic` computes the figures of a node (value, weight, impurity), lays its rows out for a
search, and names the search. There are three kinds, one for each way of scoring a cut:

    Moment      one sum per side        squared error, Friedman, Poisson, two classes
    Channels    several sums per side   several outputs, odd weights, error (ClassCounts: one label, whole)
    Absolute    medians of both sides   absolute error

so the growing of a tree (cart.py) is written once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from arboretum.engine.columns.lists import split_columns
from arboretum.engine.split import absolute
from arboretum.engine.split import statistic as stat
from arboretum.engine.split.best import Best, no_best, take
from arboretum.engine.split.class_counts import search_classes
from arboretum.engine.split.many_sums import search_channels
from arboretum.engine.split.one_sum import search_moment
from arboretum.engine.split.statistic import NodeFigures, NodeRows, NodeSpans, SearchRules
from arboretum.errors import ParameterError
from arboretum.grow.columns import sort_columns
from arboretum.grow.grower import GrowTarget

__all__ = ["CLASSIFICATION", "REGRESSION", "Batch", "Statistic", "make_statistic"]

CLASSIFICATION = {
    "gini": stat.GINI,
    "entropy": stat.ENTROPY,
    "log_loss": stat.ENTROPY,
    "error": stat.ERROR,
}
REGRESSION = {
    "squared_error": stat.SQUARED,
    "friedman_mse": stat.FRIEDMAN,
    "absolute_error": stat.ABSOLUTE,
    "poisson": stat.POISSON,
}


@dataclass(frozen=True)
class Batch:
    """Some nodes laid out for a search."""

    ids: np.ndarray
    nodes: NodeSpans
    keys: np.ndarray  # (k,) uint64: what random draws of the node are keyed by
    impurity: np.ndarray  # (k,) float64

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def sizes(self) -> np.ndarray:
        """Rows of every node."""
        return self.nodes.end - self.nodes.start

    def only(self, where: Any) -> Batch:
        """Return the batch of some of these nodes; of a slice of them as views."""
        return replace(
            self,
            ids=self.ids[where],
            nodes=take(self.nodes, where),
            keys=self.keys[where],
            impurity=self.impurity[where],
        )


class Statistic(ABC):
    """How one criterion is added up.

    Attributes
    ----------
    row : NodeRows
        The rows in their present order, ``row.id``, and what they add to a side of a split.
    rules : SearchRules
    search : kernel
        Finds the best cut of nodes on presorted lists; its arguments are those of `search_moment`.
    channels : int
        Sums per side.
    """

    search: ClassVar[Any]
    channels = 1

    def __init__(self, target: GrowTarget, criterion: int, rules: SearchRules) -> None:
        self.target, self.criterion = target, criterion
        self.rules = rules._replace(criterion=criterion, outputs=target.outputs)
        self.is_class = target.classes is not None
        self.offsets = np.zeros(1, np.int64)
        n = len(target.y)
        self.row = NodeRows(
            id=np.arange(n, dtype=np.uint32),
            number=np.empty((n, target.outputs), np.int64),
            label=np.empty((0, 1), np.int32),
            weight=np.empty(n, np.int64) if len(target.weights) else None,
        )

    @property
    def searched(self) -> Any:
        """What `search` reads of the rows."""
        return self.row

    def scan_list(self, entries: np.ndarray, batch: Batch, signs: np.ndarray) -> Best:
        """Search one list made for these nodes, each on a column of its own."""
        only, best = np.zeros(1, np.int64), no_best(len(batch))
        columns = only, only, signs[None, :]
        self.search(entries[None, :], columns, self.searched, batch.nodes, self.rules, best)
        return best

    def decrease(self, nodes: NodeSpans, score: np.ndarray) -> np.ndarray:
        """Turn scores in grid units into impurity decreases."""
        return score * self._unit(nodes)

    def to_score(self, nodes: NodeSpans, decrease: np.ndarray) -> np.ndarray:
        """Turn impurity decreases into scores in grid units."""
        return decrease / self._unit(nodes)

    @abstractmethod
    def _unit(self, nodes: NodeSpans) -> np.ndarray | float:
        """What a score of 1 is as an impurity decrease: a power of two."""

    def describe(self, start: np.ndarray, end: np.ndarray) -> NodeFigures:
        """Return value, weight and impurity of the nodes that hold these positions."""
        k, t, rows = len(start), self.target, self.row.id
        n_values = 1 if t.classes is None else int(t.classes.max())
        figures = NodeFigures(np.empty((k, t.outputs, n_values)), np.empty(k), np.zeros(k))
        if t.classes is not None:
            stat.describe_classes(
                rows, t.y, t.classes, t.weights, start, end, self.criterion, figures
            )
        else:
            poisson = self.criterion == stat.POISSON
            stat.describe_numbers(rows, t.y, t.weights, start, end, poisson, figures)
        return figures

    def prepare(self, start: np.ndarray, end: np.ndarray, bounds: np.ndarray) -> NodeSpans:
        """Lay the nodes' rows out for a search; ``bounds`` is (k, 2), from monotone constraints."""
        k = len(start)
        whole, real = np.zeros((4, k), np.int64), np.empty((2, k))
        nodes = NodeSpans(
            start=start, end=end,
            weight=whole[0], total=np.empty((k, self.channels), np.int64),
            min_weight=whole[1], lower=real[0], upper=real[1],
            sum_shift=whole[2], weight_shift=whole[3], centre=np.zeros((k, self.target.outputs)),
        )  # fmt: skip
        self._fill(nodes)
        if self.rules.bounded:
            scale = np.ldexp(1.0, nodes.sum_shift - nodes.weight_shift)
            nodes.lower[:] = (bounds[:, 0] - nodes.centre[:, 0]) * scale
            nodes.upper[:] = (bounds[:, 1] - nodes.centre[:, 0]) * scale
        return nodes

    def _fill(self, nodes: NodeSpans) -> None:
        """Put the nodes' rows on their grid."""
        t, whole, rules, row = self.target, self.target.whole_weights, self.rules, self.row
        if self.is_class:
            stat.prepare_classes(t.y, self.offsets, t.weights, whole, rules, row, nodes)
        else:
            stat.prepare_numbers(t.y, t.weights, whole, rules, row, nodes)

    def follow(self, partition: tuple[Any, ...]) -> None:  # noqa: B027
        """Let what the statistic keeps per position follow a partition of the rows."""


class Moment(Statistic):
    """One sum per side; see engine/split/one_sum.py."""

    search = staticmethod(search_moment)

    def __init__(self, target: GrowTarget, criterion: int, rules: SearchRules) -> None:
        super().__init__(target, criterion, rules)
        if criterion not in (stat.POISSON, stat.ENTROPY):
            self.rules = self.rules._replace(criterion=stat.SQUARED, logs=None)
        if self.is_class and self.row.weight is None:
            self.row = self.row._replace(number=np.empty((len(target.y), 1), np.uint8))

    def _unit(self, nodes: NodeSpans) -> np.ndarray | float:
        shift = nodes.weight_shift - nodes.sum_shift
        if self.criterion == stat.POISSON:
            return np.ldexp(1.0, shift)
        if self.criterion == stat.ENTROPY:
            return 1.0
        if self.is_class:  # the two classes' squares are equal
            return 2.0
        return np.ldexp(1.0, 2 * shift)


class Channels(Statistic):
    """Several sums per side; see engine/split/many_sums.py."""

    search = staticmethod(search_channels)

    def __init__(self, target: GrowTarget, criterion: int, rules: SearchRules) -> None:
        super().__init__(target, criterion, rules)
        self.channels = target.outputs
        if target.classes is not None:
            self.channels = int(target.classes.sum())
            self.offsets = np.concatenate([[0], np.cumsum(target.classes)[:-1]]).astype(np.int64)
            self.row = self.row._replace(
                number=np.empty((0, target.outputs), np.int64),
                label=np.empty(target.y.shape, np.int32),
            )

    def _unit(self, nodes: NodeSpans) -> np.ndarray | float:
        if self.is_class:
            return 1.0
        shift = nodes.weight_shift - nodes.sum_shift
        return np.ldexp(1.0, shift if self.criterion == stat.POISSON else 2 * shift)


class ClassCounts(Channels):
    """One class label, whole weights, no constraints: the quick form; see engine/split/class_counts.py."""

    search = staticmethod(search_classes)


class Absolute(Statistic):
    """Medians of both sides; see engine/split/absolute.py. The targets are kept as presorted lists."""

    search = staticmethod(absolute.search_absolute)

    def __init__(self, target: GrowTarget, criterion: int, rules: SearchRules) -> None:
        n, self.channels = target.y.shape
        super().__init__(target, criterion, rules)
        shape = self.channels, n
        self.target_lists = sort_columns(lambda o: target.y[:, o], shape, 1).lists
        weight = np.empty(n if len(target.weights) else 0)
        self.targets = absolute.SortedTargets(np.empty(shape, np.int64), np.empty(shape), weight)

    @property
    def searched(self) -> Any:
        return self.targets

    def describe(self, start: np.ndarray, end: np.ndarray) -> NodeFigures:
        k, t = len(start), self.target
        figures = NodeFigures(np.empty((k, t.outputs, 1)), np.empty(k), np.zeros(k))
        for o, entries in enumerate(self.target_lists):
            absolute.describe_absolute(self.row.id, t.y, t.weights, entries, o, start, end, figures)
        return figures

    def _fill(self, nodes: NodeSpans) -> None:
        super()._fill(nodes)
        t = self.target
        for o, entries in enumerate(self.target_lists):
            absolute.prepare_absolute(self.row.id, t.y, t.weights, entries, o, nodes, self.targets)

    def _unit(self, nodes: NodeSpans) -> np.ndarray | float:
        return 1.0

    def follow(self, partition: tuple[Any, ...]) -> None:
        split_columns(self.target_lists, np.arange(self.channels), *partition)


def make_statistic(
    target: GrowTarget, criterion: int, rules: SearchRules, *, categories: bool = False
) -> Statistic:
    """Return the statistic that serves a criterion on this target.

    ``categories``: there are category columns. Their divisions are scored by channels, and one channel
    is not enough for the entropy of two classes.
    """
    if criterion == stat.ABSOLUTE:
        return Absolute(target, criterion, rules)
    if criterion == stat.ERROR:
        if target.outputs > 1:
            raise ParameterError(
                'criterion="error" is for one target at a time: fit a model for each, or use "gini"'
            )
        return Channels(target, criterion, rules)
    two_classes = target.classes is not None and target.classes[0] <= 2
    one_sum = target.classes is None or (two_classes and (criterion == stat.GINI or not categories))
    if target.outputs == 1 and one_sum:
        return Moment(target, criterion, rules)
    small = target.whole_weights and target.total_weight < 2**31
    if target.outputs == 1 and small and not (rules.bounded or rules.skip_missing):
        return ClassCounts(target, criterion, rules)
    return Channels(target, criterion, rules)
