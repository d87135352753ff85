"""Trees grown again and again on the same rows with other weights: the columns are sorted once.

    columns ──sort once──▶ lists ─┬─ weights of round 1 ──▶ tree 1
                                  ├─ weights of round 2 ──▶ tree 2
                                  └─ ...

`Stumps` serves trees of depth 1 for classes on numeric columns, where nothing but one walk along every
list is needed (engine/stump.py); `Shallow` serves every other tree that CART grows. Both give the tree that
CART would grow on the rows of weight > 0, to the last bit; a list of fewer rows is filtered, not sorted anew.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.schema import Schema
from arboretum.engine import parallel
from arboretum.engine.columns import ColumnStore, store_columns
from arboretum.engine.order import MISSING, POSITION, sort_column
from arboretum.engine.stump import (
    describe_stump,
    filter_list,
    mark_stump,
    search_stumps,
    weigh_words,
)
from arboretum.engine.stump_classes import (
    MOST_CLASSES,
    search_class_stumps,
    weigh_class_words,
)
from arboretum.tree import limits
from arboretum.tree.criterion import make_target
from arboretum.tree.division import midpoint
from arboretum.tree.growing import grow
from arboretum.tree.pruning import prune
from arboretum.tree.tree import LEAF, THRESHOLD, Tree
from arboretum.tree.walking import leaves_of

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["Grown", "Shallow", "SortedTrees", "Stumps", "can_be_stump"]

_SERIAL = 100_000  # (row, column) pairs below which threads do not pay


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree and the leaf every row of the table reaches in it."""

    tree: Tree
    leaf: np.ndarray


class SortedTrees(ABC):
    """Columns sorted once, and trees grown on them by weight."""

    def __init__(self, matrix: Matrix, schema: Schema, y: np.ndarray, n_jobs: int) -> None:
        self.matrix, self.schema, self.y, self.n_jobs = matrix, schema, y, n_jobs
        self._rows: np.ndarray | None = None  # rows of weight > 0, as of the last round
        self._part: Any = None  # columns of these rows

    def grow(self, weights: np.ndarray) -> Grown:
        """Grow the tree of these weights; rows of weight 0 take no part."""
        counts = weights > 0
        if counts.all():
            return self._grow(self._whole(), None, weights)
        rows = np.flatnonzero(counts)
        if self._rows is None or not np.array_equal(rows, self._rows):
            self._rows, self._part = rows, self._take(rows)
        return self._grow(self._part, rows, weights[rows])

    @abstractmethod
    def _whole(self) -> Any:
        """Return the columns of all rows."""

    @abstractmethod
    def _take(self, rows: np.ndarray) -> Any:
        """Return the columns of some rows."""

    @abstractmethod
    def _grow(self, columns: Any, rows: np.ndarray | None, weights: np.ndarray) -> Grown: ...


def _filter(lists: np.ndarray, n: int, rows: np.ndarray, n_jobs: int) -> np.ndarray:
    """Return the lists of some of the n rows."""
    place = np.full(n, -1, np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    out = np.empty((len(lists), len(rows)), np.uint32)
    parallel.run(lambda j: filter_list(lists[j], place, out[j]), range(len(lists)), n_jobs)
    return out


# ---------------------------------------------------------------------- stumps
def can_be_stump(base: Any, schema: Schema, n_classes: int) -> bool:
    """Tell whether `Stumps` grows what this CART would grow."""
    return (
        base.max_depth == 1
        and base.criterion == "gini"
        and 2 <= n_classes <= MOST_CLASSES
        and all(column.kind != "categorical" for column in schema.columns)
        and base.min_samples_split == 2
        and base.min_samples_leaf == 1
        and base.min_weight_fraction_leaf == 0
        and base.max_leaf_nodes is None
        and base.min_impurity_decrease == 0
        and base.ccp_alpha == 0
        and base.monotonic_cst is None
        and base.surrogates == 0
    )


class Stumps(SortedTrees):
    """Trees of depth 1 for classes; ``y`` holds their codes.

    Examples
    --------
    >>> from arboretum.data.schema import learn_schema
    >>> schema, matrix = learn_schema([[1.0], [2.0], [3.0], [4.0]])
    >>> stumps = Stumps(matrix, schema, np.array([0, 0, 1, 0]), n_classes=2)
    >>> [stumps.grow(np.array(w)).tree.threshold[0] for w in ([1.0, 1, 1, 1], [1.0, 1, 1, 5])]
    [np.float64(2.5), np.float64(3.5)]
    """

    def __init__(
        self, matrix: Matrix, schema: Schema, y: np.ndarray, n_classes: int, n_jobs: int = 1
    ) -> None:
        super().__init__(matrix, schema, np.ascontiguousarray(y, np.int32), n_jobs)
        self.n_classes = n_classes
        n, columns = matrix.shape
        self.threads = n_jobs if n * columns >= _SERIAL else 1
        self.lists = np.empty((columns, n), np.uint32)

        def sort(f: int) -> None:
            sort_column(np.array(matrix.column(f)), self.lists[f])

        parallel.run(sort, range(columns), self.threads)

    def _whole(self) -> np.ndarray:
        return self.lists

    def _take(self, rows: np.ndarray) -> np.ndarray:
        return _filter(self.lists, self.matrix.n_rows, rows, self.threads)

    def _grow(self, columns: np.ndarray, rows: np.ndarray | None, weights: np.ndarray) -> Grown:
        labels = self.y if rows is None else self.y[rows]
        weights = np.require(weights, np.float64, ["C", "W"])
        right = np.zeros(len(labels), np.uint8)
        value, weight = np.empty((3, self.n_classes)), np.empty(3)
        found = self._search(columns, labels, weights)
        if found is None:
            describe_stump(right, labels, weights, value, weight)
            tree = _leaf(self.schema, value[0] / weight[0], weight[0], len(labels))
            return Grown(tree, np.zeros(self.matrix.n_rows, np.int64))
        feature, cut, missing_left, score = found
        entries = columns[feature]
        missing = mark_stump(entries, cut, missing_left, right)
        describe_stump(right, labels, weights, value, weight)
        heavier = 0 if weight[1] >= weight[2] else 1
        tree = _stump(
            self.schema,
            feature=feature,
            threshold=self._threshold(entries, feature, cut, rows),
            missing_child=(1 - missing_left) if missing else heavier,
            gain=2.0 * score if self.n_classes == 2 else score,
            value=value / weight[:, None],
            weight=weight,
            n_right=int(right.sum()),
            n=len(labels),
        )
        if rows is None:
            return Grown(tree, 1 + right.astype(np.int64))
        return Grown(tree, leaves_of(tree, self.matrix, self.n_jobs))

    def _search(
        self, lists: np.ndarray, labels: np.ndarray, weights: np.ndarray
    ) -> tuple[int, int, int, float] | None:
        """Return feature, cut, missing side and score of the best cut, or None if there is none."""
        words = np.empty(len(labels), np.int64)
        whole, found = _are_whole(weights), []
        if self.n_classes == 2:
            look, (heavy, total) = search_stumps, weigh_words(weights, labels, whole, words)
            alone = total in (0, heavy)
        else:
            look, total = search_class_stumps, np.empty(self.n_classes, np.int64)
            heavy = weigh_class_words(weights, labels, whole, words, total)
            alone = total.max() == heavy
        if alone:  # one class is left
            return None

        def search(block: tuple[int, int]) -> None:
            found.append(look(lists, *block, words, heavy, total))

        pieces = 2 * self.threads if self.threads > 1 else 1
        parallel.run(search, parallel.blocks(len(lists), pieces), self.threads)
        score, feature, cut, missing_left = max(found, key=lambda one: (one[0], -one[1]))
        return None if score < 0 else (feature, cut, missing_left, score)

    def _threshold(
        self, entries: np.ndarray, feature: int, cut: int, rows: np.ndarray | None
    ) -> float:
        """Return what lies between the two values of a cut: see `division.Divider`."""
        both = entries[[cut - 1, cut]]
        at = (both & POSITION).astype(np.int64)
        at = at if rows is None else rows[at]
        low, high = self.matrix.at(at, np.full(2, feature))
        if both[1] & MISSING:
            return np.inf
        if self.schema.columns[feature].kind == "ordinal":
            return float(low)
        return float(midpoint(low, high))


def _are_whole(weights: np.ndarray) -> bool:
    """Tell whether weights are whole numbers that float64 adds up exactly."""
    if np.any(weights[:100] != np.floor(weights[:100])):
        return False
    return bool(np.all(weights == np.floor(weights)) and weights.sum() < 2.0**53)


def _gini(shares: np.ndarray) -> np.ndarray:
    """Return 1 - Σ p² of every row, subtracted one by one as the engine does."""
    impurity = np.ones(len(shares))
    for share in shares.T:
        impurity -= share * share
    return np.maximum(impurity, 0.0)


def _leaf(schema: Schema, shares: np.ndarray, weight: float, n: int) -> Tree:
    """Return a tree that asks nothing."""
    return Tree(
        kind=np.array([LEAF], np.uint8),
        feature=np.array([-1], np.int32),
        threshold=np.array([np.nan]),
        first_child=np.array([-1], np.int32),
        n_children=np.zeros(1, np.int32),
        missing_child=np.array([-1], np.int32),
        bits_start=np.array([-1]),
        bits=np.zeros(0, np.uint32),
        value=shares[None, None, :],
        impurity=_gini(shares[None]),
        gain=np.zeros(1),
        weight=np.array([weight]),
        count=np.array([n]),
        schema=schema,
    )


def _stump(
    schema: Schema,
    *,
    feature: int,
    threshold: float,
    missing_child: int,
    gain: float,
    value: np.ndarray,
    weight: np.ndarray,
    n_right: int,
    n: int,
) -> Tree:
    """Return a tree of three nodes."""
    return Tree(
        kind=np.array([THRESHOLD, LEAF, LEAF], np.uint8),
        feature=np.array([feature, -1, -1], np.int32),
        threshold=np.array([threshold, np.nan, np.nan]),
        first_child=np.array([1, -1, -1], np.int32),
        n_children=np.array([2, 0, 0], np.int32),
        missing_child=np.array([missing_child, -1, -1], np.int32),
        bits_start=np.full(3, -1),
        bits=np.zeros(0, np.uint32),
        value=value[:, None, :],
        impurity=_gini(value),
        gain=np.array([gain, 0.0, 0.0]),
        weight=weight,
        count=np.array([n, n - n_right, n_right]),
        schema=schema,
    )


# ---------------------------------------------------------------------- any other tree
class Shallow(SortedTrees):
    """Trees as an estimator's parameters ask for; ``y`` is (n, 1): class codes, or numbers."""

    def __init__(
        self, base: Any, matrix: Matrix, schema: Schema, y: np.ndarray, classes: int | None
    ) -> None:
        super().__init__(matrix, schema, y, base._threads())
        self.base, self.classes = base, None if classes is None else np.array([classes])
        self.store = store_columns(matrix, schema.columns, n_jobs=self.n_jobs)

    def _whole(self) -> ColumnStore:
        return self.store

    def _take(self, rows: np.ndarray) -> ColumnStore:
        store = self.store
        lists = store.lists
        if len(store.list_slots):
            lists = _filter(lists, self.matrix.n_rows, rows, self.n_jobs)
        return replace(store, lists=lists, codes=np.ascontiguousarray(store.codes[:, rows]))

    def _grow(self, columns: ColumnStore, rows: np.ndarray | None, weights: np.ndarray) -> Grown:
        y = self.y if rows is None else self.y[rows]
        target = make_target(y, self.classes, weights)
        how = limits.growth(self.base, self.schema, target, self.matrix.n_rows)
        if how.max_depth != 1:  # deeper trees reorder the lists
            columns = replace(columns, lists=columns.lists.copy())
        tree = grow(self.matrix, self.schema, target, rows, how, columns)
        if self.base.ccp_alpha > 0:
            tree = prune(tree, float(self.base.ccp_alpha))
        return Grown(tree, leaves_of(tree, self.matrix, self.n_jobs))
