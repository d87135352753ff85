"""Trees of depth 1 for classes, grown again and again on the same rows with other weights.

    columns ──sort once──▶ lists ─┬─ weights of round 1 ──▶ stump 1
                                  ├─ weights of round 2 ──▶ stump 2
                                  └─ ...

A stump takes one walk along every list (engine/stump/two_classes.py), and one count of every column of
categories (category_stumps.py). It is the tree that CART grows on the rows of weight > 0, except for the last
bits of its values. A list of fewer rows is filtered, not sorted anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.columns.lists import NOWHERE
from arboretum.engine.columns.presort import MISSING, POSITION
from arboretum.engine.compiler.decorators import writable
from arboretum.engine.fixed_point import are_whole
from arboretum.engine.stump.classes import search_class_stumps, weigh_class_words
from arboretum.engine.stump.two_classes import (
    describe_stump,
    mark_stump,
    search_stumps,
    weigh_words,
)
from arboretum.grow.apply_split import midpoint
from arboretum.grow.category_stumps import CategoryColumns, CategoryCut, code_categories
from arboretum.grow.columns import keep_rows, sort_columns
from arboretum.grow.grower import Grown, GrowTarget
from arboretum.predict.walk import leaves_of
from arboretum.structure.build import build_tree, leaves
from arboretum.structure.tree import SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.settings import Growth

__all__ = ["Cut", "StumpGrower"]

_THREE_LEAVES = leaves(3)


class _Presorted(NamedTuple):
    """Columns of a table, or of some of its rows."""

    lists: np.ndarray  # of numbers and ranks
    categories: CategoryColumns | None


@dataclass(frozen=True, eq=False)
class Cut:
    """The best cut of a column of numbers or ranks."""

    score: float
    feature: int
    missing_left: int
    column: int  # among the lists, or lines of codes
    place: int  # rows on the left that have a value; of codes, the last one on the left

    @property
    def worth(self) -> float:
        """What columns compete by."""
        return self.score


class StumpGrower:
    """Grows trees of depth 1 for classes, by Gini impurity.

    Parameters
    ----------
    matrix : Matrix
    schema : Schema
    settings : Growth
    n_classes : int

    Examples
    --------
    >>> from arboretum.data.schema import learn_schema
    >>> from arboretum.engine.split.statistic import GINI
    >>> from arboretum.grow.grower import make_target
    >>> from arboretum.grow.settings import Growth
    >>> schema, matrix = learn_schema([[1.0], [2.0], [3.0], [4.0]])
    >>> grower = StumpGrower(matrix, schema, Growth(GINI, max_depth=1), n_classes=2)
    >>> def cut(*weights):
    ...     target = make_target(np.array([[0], [0], [1], [0]]), np.array([2]), np.array(weights))
    ...     return grower.grow(target, None, 0).tree.threshold[0]
    >>> cut(1.0, 1.0, 1.0, 1.0), cut(1.0, 1.0, 1.0, 5.0)
    (np.float64(2.5), np.float64(3.5))
    """

    def __init__(self, matrix: Matrix, schema: Schema, settings: Growth, n_classes: int) -> None:
        self.matrix, self.schema, self.n_jobs = matrix, schema, settings.n_jobs
        self.n_classes = n_classes
        n, columns = matrix.shape
        self.threads = parallel.threads_for(n * columns, parallel.SCAN, settings.n_jobs)
        self.features = [f for f, c in enumerate(schema.columns) if c.kind != "categorical"]
        shape = len(self.features), n
        lists, _ = sort_columns(lambda j: matrix.column(self.features[j]), shape, settings.n_jobs)
        self.columns = _Presorted(
            lists, code_categories(matrix, schema, n_classes, settings.category_penalty)
        )
        self._rows: np.ndarray | None = None  # some rows that stumps learn from, and their columns
        self._part = self.columns

    def _columns_of(self, rows: np.ndarray | None) -> _Presorted:
        """Return the columns of some rows; they rarely change from round to round."""
        if rows is None:
            return self.columns
        if self._rows is None or not np.array_equal(rows, self._rows):
            lists, categories = self.columns
            place = np.full(self.matrix.n_rows, NOWHERE)
            place[rows] = np.arange(len(rows), dtype=np.uint32)
            lists = keep_rows(lists, place, len(rows), self.threads).lists
            self._rows = rows
            self._part = _Presorted(lists, None if categories is None else categories.take(rows))
        return self._part

    def grow(self, target: GrowTarget, rows: np.ndarray | None, key: int) -> Grown:
        """Grow a stump; nothing is drawn."""
        columns, weights = self._columns_of(rows), target.weights_of(rows)
        labels = np.ascontiguousarray(
            target.y[:, 0] if rows is None else target.y[rows, 0], np.int32
        )
        weights = writable(weights.astype(np.float64, copy=False))
        value, weight, n = np.empty((3, self.n_classes)), np.empty(3), len(labels)
        best_cut = self._search(columns, labels, weights)
        if best_cut is None:
            describe_stump(np.zeros(n, np.uint8), labels, weights, value, weight)
            tree = self._to_tree(leaves(1), value[:1], weight[:1], np.array([n]))
            return Grown(tree, lambda: np.zeros(self.matrix.n_rows, np.int64))
        nodes, bits = {name: array.copy() for name, array in _THREE_LEAVES.items()}, {}
        if isinstance(best_cut, CategoryCut):
            right, missing = best_cut.right, best_cut.has_missing
        else:
            right, missing, nodes["threshold"][0] = self._divide(columns, best_cut, rows)
        describe_stump(right, labels, weights, value, weight)
        heavier = 0 if weight[1] >= weight[2] else 1
        missing_child = (1 - best_cut.missing_left) if missing else heavier
        if isinstance(best_cut, CategoryCut):
            nodes["bits_start"][0], bits["bits"] = 0, best_cut.left_set(missing_child)
        nodes["kind"][0] = SUBSET if bits else THRESHOLD
        nodes["feature"][0], nodes["missing_child"][0] = best_cut.feature, missing_child
        nodes["first_child"][0], nodes["n_children"][0] = 1, 2
        one_sum = self.n_classes == 2  # half of Gini's decrease
        nodes["gain"][0] = 2.0 * best_cut.score if one_sum else best_cut.score
        n_right = int(right.sum())
        count = np.array([n, n - n_right, n_right])
        tree = self._to_tree({**nodes, **bits}, value, weight, count)
        if rows is None:
            return Grown(tree, lambda: 1 + right.astype(np.int64))
        return Grown(tree, partial(leaves_of, tree, self.matrix, self.n_jobs))

    def _to_tree(
        self, nodes: dict[str, Any], value: np.ndarray, weight: np.ndarray, count: np.ndarray
    ) -> Tree:
        """Return the tree of nodes whose classes weigh ``value``."""
        shares = value / weight[:, None]
        return build_tree(
            self.schema,
            **nodes,
            value=shares[:, None],
            impurity=_gini(shares),
            weight=weight,
            count=count,
        )

    def _divide(
        self, columns: _Presorted, cut: Cut, rows: np.ndarray | None
    ) -> tuple[np.ndarray, bool, float]:
        """Return which rows a cut sends right, whether some miss its value, and the threshold."""
        entries = columns.lists[cut.column]
        right = np.empty(len(entries), np.uint8)
        missing = mark_stump(entries, cut.place, cut.missing_left, right)
        return right, missing, self.threshold_of(entries, cut, rows)

    def _search(
        self, columns: _Presorted, labels: np.ndarray, weights: np.ndarray
    ) -> Cut | CategoryCut | None:
        """Return the best cut of all columns, or None if there is none."""
        cut = self._search_numbers(columns, labels, weights)
        if columns.categories is None:
            return cut
        other = columns.categories.search(labels, weights)
        both = [one for one in (cut, other) if one is not None]
        return max(both, key=lambda one: (one.worth, -one.feature), default=None)

    def _search_numbers(
        self, columns: _Presorted, labels: np.ndarray, weights: np.ndarray
    ) -> Cut | None:
        """Return the best cut of the columns of numbers and ranks."""
        lists, words = columns.lists, np.empty(len(labels), np.int64)
        whole, best_cut = are_whole(weights), []
        if self.n_classes == 2:
            look: Any = search_stumps
            all_weight, total = weigh_words(weights, labels, whole, words)
            alone = total in (0, all_weight)
        else:
            look = search_class_stumps
            total = np.empty(self.n_classes, np.int64)
            all_weight = weigh_class_words(weights, labels, whole, words, total)
            alone = total.max() == all_weight
        if alone or not len(lists):  # one class is left
            return None

        def search(block: tuple[int, int]) -> None:
            best_cut.append(look(lists, np.arange(*block), words, all_weight, total))

        pieces = 2 * self.threads if self.threads > 1 else 1
        parallel.run(search, parallel.blocks(len(lists), pieces), self.threads)
        score, column, place, missing_left = max(best_cut, key=lambda one: (one[0], -one[1]))
        if score < 0:
            return None
        return Cut(score, self.features[column], missing_left, column, place)

    def threshold_of(self, entries: np.ndarray, best_cut: Cut, rows: np.ndarray | None) -> float:
        """Return what lies between the two values of a cut: see `apply_split.Divider`."""
        both = entries[best_cut.place - 1 : best_cut.place + 1]
        if both[1] & MISSING:
            return np.inf
        at = (both & POSITION).astype(np.int64)
        at = at if rows is None else rows[at]
        low, high = self.matrix.at(at, np.array([best_cut.feature, best_cut.feature])).tolist()
        if self.schema.columns[best_cut.feature].kind == "ordinal":
            return float(low)
        return float(midpoint(low, high))


def _gini(shares: np.ndarray) -> np.ndarray:
    """Return 1 - Σ p² of every row, subtracted one by one as the engine does."""
    impurity = np.ones(len(shares))
    for share in shares.T:
        impurity -= share * share
    return np.maximum(impurity, 0.0)
