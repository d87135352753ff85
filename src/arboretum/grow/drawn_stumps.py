"""Stumps of two classes that draw their columns or their cuts, round after round.

They are the trees that `stumps.Drawn` grows, to the last bit, without its rows and nodes: columns are drawn
as a forest's tree draws them, then searched as all columns are (engine/stump/two_classes.py); random cuts are
drawn and scored together (engine/stump/drawn.py).

    Drawn     grid, rows, nodes, parts, numbering        any depth, any target, rows of weight 0
    here      words, one search, three nodes             two classes, depth 1, every row counts
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine.columns.presort import NEW
from arboretum.engine.compiler.decorators import writable
from arboretum.engine.depth_first.records import RANK
from arboretum.engine.fixed_point import WEIGHT_BITS, are_whole, scale_for
from arboretum.engine.random import draw_features
from arboretum.engine.split.score import CHANCE
from arboretum.engine.stump.drawn import (
    mark_values,
    search_random_stumps,
    weigh_drawn_words,
)
from arboretum.engine.stump.two_classes import describe_stump, mark_stump, search_stumps
from arboretum.grow.reweighted import Cut, Drawn, GrownTree, SortedTrees, Stumps, can_be_stump
from arboretum.grow.settings import n_drawn
from arboretum.lazy import cached_property
from arboretum.structure.build import build_tree, leaves
from arboretum.structure.tree import SUBSET, THRESHOLD

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.category_stumps import CategoryCut
    from arboretum.structure.tree import Tree

__all__ = ["DrawnStumps", "RandomStumps", "can_be_drawn_stump"]


def can_be_drawn_stump(base: Any, matrix: Matrix, schema: Schema, n_classes: int | None) -> bool:
    """Tell whether stumps of this file are what `Drawn` would grow."""
    if n_classes != 2 or base.criterion != "gini" or not can_be_stump(base, 2):
        return False
    if base.splitter == "best":
        return True
    numbers = all(column.kind != "categorical" for column in schema.columns)
    return numbers and not any(np.isnan(matrix.column(f)).any() for f in range(matrix.n_columns))


@dataclass(frozen=True, eq=False)
class _StumpQuestion:
    """What a stump asks, and where its rows go."""

    feature: int
    threshold: float  # NaN of categories
    right: np.ndarray  # uint8, of every row
    missing_left: int | None  # None: no value is missing
    left_weight: int  # on the grid
    categories: CategoryCut | None = None


class _Drawing(SortedTrees):
    """What stumps that draw have in common; ``y`` is (n, 1): class codes."""

    draws = True

    def __init__(self, base: Any, matrix: Matrix, schema: Schema, y: np.ndarray) -> None:
        self.base, self.matrix, self.schema, self.y = base, matrix, schema, y
        self.labels = np.ascontiguousarray(y[:, 0], np.int32)
        self.words = np.empty(matrix.n_rows, np.int64)
        self.most = n_drawn(base.max_features, schema.n_features)

    @cached_property
    def _general(self) -> Drawn:
        return Drawn(self.base, self.matrix, self.schema, self.y, 2)

    def grow(self, weights: np.ndarray, seed: int = 0) -> GrownTree:
        """Grow the tree of these weights; ``seed`` keys what is drawn."""
        if weights.min() <= 0 or are_whole(weights):
            return self._general.grow(weights, seed)
        scale = scale_for(float(weights.sum()), WEIGHT_BITS)
        weights = writable(weights)
        weight, ones = weigh_drawn_words(weights, self.labels, scale, self.words)
        question = None
        if 0 < ones < weight:
            question = self._ask(self._columns(seed), np.uint64(seed), weight, ones)
        return self._to_tree(question, weights, weight)

    @cached_property
    def _varies(self) -> np.ndarray:
        """Which columns have two values, a missing one among them."""
        raise NotImplementedError

    def _columns(self, seed: int) -> np.ndarray:
        """Draw columns as a node does: so many, and more until one of them varies; in their order."""
        width = len(self._varies)
        if self.most >= width:
            return np.flatnonzero(self._varies)
        order = np.empty((1, width), np.int64)
        draw_features(np.array([seed], np.uint64), order)
        varies = self._varies[order[0]]
        drawn = order[0, : self.most][varies[: self.most]]
        if not len(drawn):
            drawn = order[0][varies][:1]
        return np.sort(drawn)

    def _ask(self, columns: np.ndarray, seed: np.uint64, weight: int, ones: int) -> Any:
        """Return the best question to these columns; None if there is none."""
        raise NotImplementedError

    def _to_tree(
        self, question: _StumpQuestion | None, weights: np.ndarray, weight: int
    ) -> GrownTree:
        n, value, sums = self.matrix.n_rows, np.empty((3, 2)), np.empty(3)
        if question is None:
            describe_stump(np.zeros(n, np.uint8), self.labels, weights, value, sums)
            tree = self._build(leaves(1), value[:1], np.array([n]))
            return GrownTree(tree, np.zeros(n, np.int64))
        right = question.right
        describe_stump(right, self.labels, weights, value, sums)
        value[0] = value[1] + value[2]
        heavier = int(weight - question.left_weight > question.left_weight)
        side = question.missing_left
        missing_child = heavier if side is None else 1 - side
        nodes, cut = leaves(3), question.categories
        nodes["kind"][0] = THRESHOLD if cut is None else SUBSET
        nodes["feature"][0], nodes["threshold"][0] = question.feature, question.threshold
        nodes["first_child"][0], nodes["n_children"][0] = 1, 2
        nodes["missing_child"][0] = missing_child
        if cut is not None:
            nodes["bits_start"][0], nodes["bits"] = 0, cut.left_set(missing_child)
        n_right = int(np.count_nonzero(right))
        tree = self._build(nodes, value, np.array([n, n - n_right, n_right]))
        return GrownTree(tree, 1 + right.astype(np.int64))

    def _build(self, nodes: dict[str, Any], value: np.ndarray, count: np.ndarray) -> Tree:
        """Return the tree of nodes whose classes weigh ``value``, described as random trees are."""
        weight = value[:, 0] + value[:, 1]
        shares = value / weight[:, None]
        impurity = 1.0 - (shares[:, 0] * shares[:, 0] + shares[:, 1] * shares[:, 1])
        impurity[(value == weight[:, None]).any(axis=1)] = 0.0
        if len(count) == 3:
            risk = impurity * weight / weight[0]
            nodes["gain"][0] = max(risk[0] - risk[1] - risk[2], 0.0)
        return build_tree(
            self.schema,
            **nodes,
            value=shares[:, None],
            impurity=impurity,
            weight=weight,
            count=count,
        )


# ---------------------------------------------------------------------- the best of some columns
class DrawnStumps(_Drawing):
    """Stumps that look at some columns, which were sorted or coded once."""

    def __init__(
        self, base: Any, matrix: Matrix, schema: Schema, y: np.ndarray, n_jobs: int = 1
    ) -> None:
        super().__init__(base, matrix, schema, y)
        penalty = float(base.category_penalty)
        self.stumps = Stumps(matrix, schema, y[:, 0], 2, n_jobs, penalty)
        self.place = np.full(schema.n_features, -1)  # among the lists, or the categories
        self.place[self.stumps.features] = np.arange(len(self.stumps.features))
        self.categories = self.stumps.columns.categories
        self.charge = 0.0
        if self.categories is not None:
            self.place[self.categories.features] = np.arange(len(self.categories.features))
            self.charge = penalty * CHANCE

    @cached_property
    def _varies(self) -> np.ndarray:
        varies = np.zeros(self.schema.n_features, np.bool_)
        for f, entries in zip(self.stumps.features, self.stumps.columns.lists, strict=True):
            varies[f] = np.count_nonzero(entries & NEW) > 1
        if self.categories is not None:
            for f, codes in zip(self.categories.features, self.categories.codes, strict=True):
                varies[f] = (codes != codes[0]).any()
        return varies

    @cached_property
    def _is_listed(self) -> np.ndarray:
        listed = np.zeros(self.schema.n_features, np.bool_)
        listed[self.stumps.features] = True
        return listed

    def _ask(
        self, columns: np.ndarray, seed: np.uint64, weight: int, ones: int
    ) -> _StumpQuestion | None:
        listed = self._is_listed[columns]
        numbers, words = self.place[columns[listed]], self.place[columns[~listed]]
        lists, asked = self.stumps.columns.lists, self.words
        best: list[Cut | CategoryCut] = []
        if len(numbers):
            score, column, place, missing_left = search_stumps(lists, numbers, asked, weight, ones)
            if score >= 0:
                best.append(Cut(score, self.stumps.features[column], missing_left, column, place))
        if self.categories is not None and len(words):
            share = ones / weight
            chance = self.charge * (share * (1.0 - share)) / len(asked)
            other = self.categories.search_words(words, asked, weight, ones, chance)
            best += [] if other is None else [other]
        if not best:
            return None
        cut = max(best, key=lambda one: (one.worth, -one.feature))
        if not isinstance(cut, Cut):
            left = self._weight_of(cut.right)
            side = cut.missing_left if cut.has_missing else None
            return _StumpQuestion(cut.feature, np.nan, cut.right, side, left, cut)
        right, entries = np.empty(len(asked), np.uint8), lists[cut.column]
        missing = mark_stump(entries, cut.place, cut.missing_left, right)
        threshold = self.stumps.threshold_of(entries, cut, None)
        left = self._weight_of(right)
        return _StumpQuestion(
            cut.feature, threshold, right, cut.missing_left if missing else None, left
        )

    def _weight_of(self, right: np.ndarray) -> int:
        """Return what the rows on the left weigh on the grid."""
        return int(((self.words >> 1) * (right == 0)).sum())


# ---------------------------------------------------------------------- cuts at random
class RandomStumps(_Drawing):
    """Stumps that cut every column they look at at random; no value is missing."""

    def __init__(self, base: Any, matrix: Matrix, schema: Schema, y: np.ndarray) -> None:
        super().__init__(base, matrix, schema, y)
        self.table = self._general.table
        self.values = self.table.values
        self.low, self.high = self.values.min(axis=1), self.values.max(axis=1)
        self.bits = np.empty(3, self.values.dtype)
        self.ends = self.bits.view(f"f{self.bits.itemsize}")

    @cached_property
    def _varies(self) -> np.ndarray:
        return self.low < self.high

    def _ask(
        self, columns: np.ndarray, seed: np.uint64, weight: int, ones: int
    ) -> _StumpQuestion | None:
        score, f, threshold, at, left = search_random_stumps(
            self.values, self.low, self.high, columns, seed, self.words, weight, ones, self.ends,
            self.bits,
        )  # fmt: skip
        if score < 0:
            return None
        if self.table.features.kind[f] == RANK:
            threshold = np.floor(threshold)  # the rows are ranks: they go the same way
        right = np.empty(len(self.words), np.uint8)
        mark_values(self.values[f], at, right)
        return _StumpQuestion(int(f), float(threshold), right, None, int(left))
