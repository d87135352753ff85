"""What a tree tries to make pure: the criteria, and the statistic the engine adds up for each.

A `Statistic` knows how to describe a node (value, weight, impurity), how to lay its rows out for a
search, and which scan to run. There are three kinds, one for each way of scoring a cut:

    Moment      one sum per side        squared error, Friedman, Poisson, two-class Gini
    Channels    several sums per side   several outputs, odd weights, error (ClassCounts: one label, whole)
    Absolute    medians of both sides   absolute error

so the growing of a tree (cart.py) is written once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arboretum.engine.columns.lists import split_columns
from arboretum.engine.split import absolute
from arboretum.engine.split import many_sums as channels
from arboretum.engine.split import one_sum as moment
from arboretum.engine.split import statistic as stat
from arboretum.engine.split.best import Best, ColumnBest, no_best
from arboretum.engine.split.class_counts import search_classes
from arboretum.engine.split.counts import Columns, make_counter, scan_counts
from arboretum.engine.split.counts_one_sum import scan_counts_moment
from arboretum.engine.split.score import INFORMATION, POISSON_FORM, SQUARES, XLOGX
from arboretum.engine.split.statistic import NodeRows, NodeSpans
from arboretum.errors import ParameterError
from arboretum.grow.columns import sort_columns
from arboretum.grow.grower import GrowTarget

__all__ = [
    "CLASSIFICATION",
    "REGRESSION",
    "Batch",
    "SearchRules",
    "Statistic",
    "make_statistic",
]

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
class SearchRules:
    """What every search of a fit has in common."""

    min_leaf: int = 1  # rows each side needs
    min_weight: float = 0.0  # weight each side needs
    skip_missing: bool = False  # judge by present rows alone; surrogates place the others
    bounded: bool = False  # there are monotone constraints


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
    def n_rows(self) -> int:
        return int((self.nodes.end - self.nodes.start).sum())

    def only(self, where: np.ndarray) -> Batch:
        """Return the batch of some of these nodes."""
        return replace(
            self,
            ids=self.ids[where],
            nodes=NodeSpans(*(array[where] for array in self.nodes)),
            keys=self.keys[where],
            impurity=self.impurity[where],
        )

    def block(self, lo: int, hi: int) -> Batch:
        """Return nodes lo..hi as views."""
        return replace(
            self,
            ids=self.ids[lo:hi],
            nodes=NodeSpans(*(array[lo:hi] for array in self.nodes)),
            keys=self.keys[lo:hi],
            impurity=self.impurity[lo:hi],
        )


class Statistic(ABC):
    """How one criterion is added up; `positions` is the rows in their present order."""

    channels: int
    code_criterion: int  # how engine/columns/codes.py scores channels

    def __init__(self, target: GrowTarget, criterion: int, rules: SearchRules) -> None:
        n = len(target.y)
        self.target, self.criterion, self.rules = target, criterion, rules
        self.whole = target.whole_weights
        self.is_class = target.classes is not None
        self.n_values = int(target.classes.max()) if target.classes is not None else 1
        self.row = self._rows(n, n if len(target.weights) else 0)

    @abstractmethod
    def _rows(self, n: int, n_weights: int) -> NodeRows: ...

    @property
    @abstractmethod
    def _scan_rules(self) -> tuple[Any, ...]:
        """The rules as the kernels of this kind take them."""

    @abstractmethod
    def _fill(self, positions: np.ndarray, nodes: NodeSpans) -> None:
        """Put the nodes' rows on their grid."""

    @abstractmethod
    def search_lists(
        self,
        lists: np.ndarray,
        columns: tuple[Any, ...],
        batch: Batch,
        column_best: ColumnBest,
        best: Best,
    ) -> None:
        """Search presorted columns; ``columns`` as in `search_moment`."""

    def scan_list(
        self, entries: np.ndarray, batch: Batch, signs: np.ndarray, column_best: ColumnBest
    ) -> None:
        """Search one list made for these nodes, each on a column of its own."""
        only, best = np.zeros(1, np.int64), no_best(len(batch))
        self.search_lists(entries[None, :], (only, only, signs[None, :]), batch, column_best, best)
        column_best.score[:], column_best.cut[:] = best.score, best.cut
        column_best.missing_left[:] = best.missing_left

    @abstractmethod
    def scan_counts(
        self,
        codes: np.ndarray,
        positions: np.ndarray,
        batch: Batch,
        columns: Columns,
        column_best: ColumnBest,
    ) -> None:
        """Search every node on its own column of ordered codes by counting."""

    def decrease(self, nodes: NodeSpans, score: np.ndarray) -> np.ndarray:
        """Turn scores in grid units into impurity decreases."""
        return score * self._unit(nodes)

    def to_score(self, nodes: NodeSpans, decrease: np.ndarray) -> np.ndarray:
        """Turn impurity decreases into scores in grid units."""
        return decrease / self._unit(nodes)

    @abstractmethod
    def _unit(self, nodes: NodeSpans) -> np.ndarray | float:
        """What a score of 1 is as an impurity decrease: a power of two."""

    @property
    def code_rules(self) -> tuple[Any, ...]:
        """The rules as engine/split/counts.py takes them."""
        r = self.rules
        labels = len(self.row.label) > 0
        outputs = self.target.outputs
        return (r.min_leaf, r.skip_missing, self.code_criterion, outputs, labels)

    def describe(
        self, positions: np.ndarray, start: np.ndarray, end: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return value, weight and impurity of the nodes that hold these positions."""
        k, t = len(start), self.target
        value = np.empty((k, t.outputs, self.n_values))
        weight, impurity = np.empty(k), np.zeros(k)
        if t.classes is not None:
            criterion = np.int64(self.criterion)
            stat.describe_classes(
                positions, t.y, t.classes, t.weights, start, end, criterion, value, weight, impurity
            )
        else:
            poisson = self.criterion == stat.POISSON
            stat.describe_numbers(
                positions, t.y, t.weights, start, end, poisson, value, weight, impurity
            )
        return value, weight, impurity

    def prepare(
        self, positions: np.ndarray, start: np.ndarray, end: np.ndarray, bounds: np.ndarray
    ) -> NodeSpans:
        """Lay the nodes' rows out for a search; ``bounds`` is (k, 2), from monotone constraints."""
        k = len(start)
        whole, real = np.zeros((4, k), np.int64), np.empty((2, k))
        nodes = NodeSpans(
            start=start, end=end,
            weight=whole[0], total=np.empty((k, self.channels), np.int64),
            min_weight=whole[1], lower=real[0], upper=real[1],
            sum_shift=whole[2], weight_shift=whole[3], centre=np.zeros((k, self.target.outputs)),
        )  # fmt: skip
        self._fill(positions, nodes)
        if self.rules.bounded:
            scale = np.ldexp(1.0, nodes.sum_shift - nodes.weight_shift)
            nodes.lower[:] = (bounds[:, 0] - nodes.centre[:, 0]) * scale
            nodes.upper[:] = (bounds[:, 1] - nodes.centre[:, 0]) * scale
        return nodes

    def follow(self, partition: tuple[Any, ...]) -> None:  # noqa: B027
        """Let what the statistic keeps per position follow a partition of the rows."""


class Moment(Statistic):
    """One sum per side; see engine/split/one_sum.py."""

    channels = 1

    @property
    def form(self) -> int:
        """How a cut is scored; see engine/split/score.py."""
        forms = {stat.POISSON: POISSON_FORM, stat.ENTROPY: INFORMATION}
        return forms.get(self.criterion, SQUARES)

    @property
    def code_criterion(self) -> int:  # type: ignore[override]
        return stat.POISSON if self.criterion == stat.POISSON else stat.SQUARED

    def _rows(self, n: int, n_weights: int) -> NodeRows:
        small = self.is_class and not n_weights
        number = np.empty((n, 1), np.uint8 if small else np.int64)
        return NodeRows(number, np.empty((0, 1), np.int32), np.empty(n_weights, np.int64))

    def _fill(self, positions: np.ndarray, nodes: NodeSpans) -> None:
        t, least = self.target, self.rules.min_weight
        if self.is_class:
            stat.prepare_binary(positions, t.y, t.weights, self.whole, least, self.row, nodes)
        else:
            from_zero = self.criterion == stat.POISSON
            stat.prepare_numbers(
                positions, t.y, t.weights, self.whole, least, from_zero, self.row, nodes
            )

    @property
    def _scan_rules(self) -> tuple[Any, ...]:
        r = self.rules
        return (r.min_leaf, r.skip_missing, self.form, r.bounded)

    def search_lists(
        self,
        lists: np.ndarray,
        columns: tuple[Any, ...],
        batch: Batch,
        column_best: ColumnBest,
        best: Best,
    ) -> None:
        moment.search_moment(lists, columns, self.row, batch.nodes, self._scan_rules, XLOGX, best)

    def scan_counts(
        self,
        codes: np.ndarray,
        positions: np.ndarray,
        batch: Batch,
        columns: Columns,
        column_best: ColumnBest,
    ) -> None:
        scan_counts_moment(
            codes, positions, self.row, batch.nodes, columns, self._scan_rules, XLOGX, column_best
        )

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

    def __init__(self, target: GrowTarget, criterion: int, rules: SearchRules) -> None:
        self.code_criterion = criterion
        if target.classes is not None:
            self.channels = int(target.classes.sum())
            self.offsets = np.concatenate([[0], np.cumsum(target.classes)[:-1]]).astype(np.int64)
        else:
            self.channels = target.outputs
        super().__init__(target, criterion, rules)

    def _rows(self, n: int, n_weights: int) -> NodeRows:
        outputs = self.target.outputs
        return NodeRows(
            np.empty((0 if self.is_class else n, outputs), np.int64),
            np.empty((n if self.is_class else 0, outputs), np.int32),
            np.empty(n_weights, np.int64),
        )

    def _fill(self, positions: np.ndarray, nodes: NodeSpans) -> None:
        t, least = self.target, self.rules.min_weight
        if self.is_class:
            stat.prepare_classes(
                positions, t.y, self.offsets, t.weights, self.whole, least, self.row, nodes
            )
        else:
            from_zero = self.criterion == stat.POISSON
            stat.prepare_numbers(
                positions, t.y, t.weights, self.whole, least, from_zero, self.row, nodes
            )

    @property
    def _scan_rules(self) -> tuple[Any, ...]:
        r = self.rules
        return (r.min_leaf, r.skip_missing, self.criterion, self.target.outputs, r.bounded)

    def search_lists(
        self,
        lists: np.ndarray,
        columns: tuple[Any, ...],
        batch: Batch,
        column_best: ColumnBest,
        best: Best,
    ) -> None:
        channels.search_channels(
            lists, columns, self.row, batch.nodes, self._scan_rules, XLOGX, column_best, best
        )

    def scan_counts(
        self,
        codes: np.ndarray,
        positions: np.ndarray,
        batch: Batch,
        columns: Columns,
        column_best: ColumnBest,
    ) -> None:
        counter = make_counter(int(columns.n_codes.max()), self.channels)
        scan_counts(
            codes,
            positions,
            self.row,
            batch.nodes,
            columns,
            self.code_rules,
            XLOGX,
            counter,
            column_best,
        )

    def _unit(self, nodes: NodeSpans) -> np.ndarray | float:
        if self.is_class:
            return 1.0
        shift = nodes.weight_shift - nodes.sum_shift
        return np.ldexp(1.0, shift if self.criterion == stat.POISSON else 2 * shift)


class ClassCounts(Channels):
    """One class label, whole weights, no constraints: the quick form; see engine/split/class_counts.py."""

    @property
    def _scan_rules(self) -> tuple[Any, ...]:
        return (self.rules.min_leaf, False, self.criterion == stat.ENTROPY)

    def search_lists(
        self,
        lists: np.ndarray,
        columns: tuple[Any, ...],
        batch: Batch,
        column_best: ColumnBest,
        best: Best,
    ) -> None:
        search_classes(
            lists, columns, self.row, batch.nodes, self._scan_rules, XLOGX, column_best, best
        )


class Absolute(Statistic):
    """Medians of both sides; see engine/split/absolute.py. The targets are kept as presorted lists."""

    code_criterion = stat.SQUARED  # categories are ordered by their mean

    def __init__(self, target: GrowTarget, criterion: int, rules: SearchRules) -> None:
        n, self.channels = target.y.shape
        super().__init__(target, criterion, rules)
        shape = self.channels, n
        self.target_lists = sort_columns(lambda o: target.y[:, o], shape, 1).lists
        self.targets = (
            np.empty((n, self.channels), np.int64),
            np.empty((n, self.channels)),
            np.empty(n if len(target.weights) else 0),
        )

    def _rows(self, n: int, n_weights: int) -> NodeRows:
        return NodeRows(
            np.empty((n, self.target.outputs), np.int64),
            np.empty((0, 1), np.int32),
            np.empty(n_weights, np.int64),
        )

    def describe(
        self, positions: np.ndarray, start: np.ndarray, end: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        k, t = len(start), self.target
        value, weight, impurity = np.empty((k, t.outputs, 1)), np.empty(k), np.zeros(k)
        for o, entries in enumerate(self.target_lists):
            absolute.describe_absolute(
                positions, t.y, t.weights, entries, o, start, end, value, weight, impurity
            )
        return value, weight, impurity

    def _fill(self, positions: np.ndarray, nodes: NodeSpans) -> None:
        t, least = self.target, self.rules.min_weight
        stat.prepare_numbers(positions, t.y, t.weights, self.whole, least, False, self.row, nodes)
        for o, entries in enumerate(self.target_lists):
            absolute.prepare_absolute(
                positions, t.y, t.weights, entries, o, nodes.start, nodes.end, *self.targets
            )

    @property
    def _scan_rules(self) -> tuple[Any, ...]:
        r = self.rules
        return (r.min_leaf, r.skip_missing, r.min_weight, r.bounded)

    def search_lists(
        self,
        lists: np.ndarray,
        columns: tuple[Any, ...],
        batch: Batch,
        column_best: ColumnBest,
        best: Best,
    ) -> None:
        absolute.search_absolute(
            lists, columns, self.targets, batch.nodes, self._scan_rules, column_best, best
        )

    def scan_counts(
        self,
        codes: np.ndarray,
        positions: np.ndarray,
        batch: Batch,
        columns: Columns,
        column_best: ColumnBest,
    ) -> None:
        raise AssertionError("medians cannot be counted per code: codes are sorted into lists")

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
