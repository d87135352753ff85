"""Trees grown again and again on the same rows with other weights: the columns are sorted once.

    columns ──sort once──▶ lists ─┬─ weights of round 1 ──▶ tree 1
                                  ├─ weights of round 2 ──▶ tree 2
                                  └─ ...

`Stumps` grows trees of depth 1 for classes: one walk along every list (engine/stump/two_classes.py), and one
count of every column of categories (category_stumps.py). `ReweightedTrees` grows trees of numbers or two
classes up to a depth of 8 in one compiled call (engine/presorted/grow.py). `Drawn` grows trees that draw
columns or cuts, from columns ranked once. `Shallow` grows the rest. All but the second give the tree that
CART grows on the rows of weight > 0, except for the last bits of its values. A list of fewer rows is
filtered, not sorted anew; bins are made anew. `trees_for` chooses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.data.schema import Schema
from arboretum.engine import parallel
from arboretum.engine.columns.lists import NOWHERE
from arboretum.engine.columns.presort import MISSING, POSITION
from arboretum.engine.compiler.decorators import writable
from arboretum.engine.fixed_point import are_whole
from arboretum.engine.stump.classes import (
    MOST_CLASSES,
    search_class_stumps,
    weigh_class_words,
)
from arboretum.engine.stump.error import search_error_stumps
from arboretum.engine.stump.two_classes import (
    describe_stump,
    mark_stump,
    search_stumps,
    weigh_words,
)
from arboretum.grow.apply_split import midpoint
from arboretum.grow.cart import grow_in_order
from arboretum.grow.category_stumps import CategoryColumns, CategoryCut, code_categories
from arboretum.grow.columns import ColumnStore, keep_rows, sort_columns, store_columns
from arboretum.grow.criterion import make_target
from arboretum.grow.depth_first.grower import grow_placed_tree, tree_table
from arboretum.grow.presorted.table import DEEPEST, Bag, presort
from arboretum.grow.settings import growth
from arboretum.lazy import cached_property
from arboretum.predict.walk import leaves_of
from arboretum.structure.build import build_tree, leaf_of_rows, leaves
from arboretum.structure.pruning import prune
from arboretum.structure.tree import SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = [
    "Cut",
    "Drawn",
    "GrownTree",
    "ReweightedTrees",
    "Shallow",
    "SortedTrees",
    "Stumps",
    "trees_for",
]


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree and the leaf every row of the table reaches in it."""

    tree: Tree
    leaf: np.ndarray


class SortedTrees(ABC):
    """Columns sorted once, and trees grown on them by weight."""

    draws = False  # whether a tree depends on its seed

    @abstractmethod
    def grow(self, weights: np.ndarray, seed: int = 0) -> GrownTree:
        """Grow the tree of these weights; rows of weight 0 take no part. ``seed`` keys what is drawn."""


class _Filtered(SortedTrees):
    """Columns that are made anew for the rows of weight > 0, where these change."""

    def __init__(self, matrix: Matrix, schema: Schema, y: np.ndarray, n_jobs: int) -> None:
        self.matrix, self.schema, self.y, self.n_jobs = matrix, schema, y, n_jobs
        self._rows: np.ndarray | None = None  # rows of weight > 0, as of the last round
        self._part: Any = None  # columns of these rows

    def grow(self, weights: np.ndarray, seed: int = 0) -> GrownTree:
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
    def _grow(self, columns: Any, rows: np.ndarray | None, weights: np.ndarray) -> GrownTree: ...


def _filter(lists: np.ndarray, n: int, rows: np.ndarray, n_jobs: int) -> np.ndarray:
    """Return the lists of some of the n rows."""
    place = np.full(n, NOWHERE)
    place[rows] = np.arange(len(rows), dtype=np.uint32)
    return keep_rows(lists, place, len(rows), n_jobs).lists


# ---------------------------------------------------------------------- stumps
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


class Stumps(_Filtered):
    """Trees of depth 1 for classes, by Gini impurity or by error; ``y`` holds their codes.

    Examples
    --------
    >>> from arboretum.data.schema import learn_schema
    >>> schema, matrix = learn_schema([[1.0], [2.0], [3.0], [4.0]])
    >>> stumps = Stumps(matrix, schema, np.array([0, 0, 1, 0]), n_classes=2)
    >>> [stumps.grow(np.array(w)).tree.threshold[0] for w in ([1.0, 1, 1, 1], [1.0, 1, 1, 5])]
    [np.float64(2.5), np.float64(3.5)]
    """

    def __init__(
        self,
        matrix: Matrix,
        schema: Schema,
        y: np.ndarray,
        n_classes: int,
        n_jobs: int = 1,
        category_penalty: float = 1.0,
        criterion: str = "gini",
    ) -> None:
        self._set_up(matrix, schema, y, n_classes, n_jobs, criterion)
        shape = len(self.features), matrix.n_rows
        lists, _ = sort_columns(lambda j: matrix.column(self.features[j]), shape, n_jobs)
        categories = code_categories(matrix, schema, n_classes, category_penalty, criterion)
        self.columns: Any = _Presorted(lists, categories)

    def _set_up(
        self,
        matrix: Matrix,
        schema: Schema,
        y: np.ndarray,
        n_classes: int,
        n_jobs: int,
        criterion: str = "gini",
    ) -> None:
        _Filtered.__init__(self, matrix, schema, np.ascontiguousarray(y, np.int32), n_jobs)
        self.n_classes = n_classes
        self.by_error = criterion == "error"
        n, columns = matrix.shape
        self.threads = parallel.threads_for(n * columns, parallel.SCAN, n_jobs)
        self.features = [f for f, c in enumerate(schema.columns) if c.kind != "categorical"]

    def _whole(self) -> Any:
        return self.columns

    def _take(self, rows: np.ndarray) -> Any:
        lists, categories = self.columns
        return _Presorted(
            _filter(lists, self.matrix.n_rows, rows, self.threads),
            None if categories is None else categories.take(rows),
        )

    def _grow(self, columns: Any, rows: np.ndarray | None, weights: np.ndarray) -> GrownTree:
        labels = self.y if rows is None else self.y[rows]
        weights = writable(weights.astype(np.float64, copy=False))
        value, weight, n = np.empty((3, self.n_classes)), np.empty(3), len(labels)
        best_cut = self._search(columns, labels, weights)
        if best_cut is None:
            describe_stump(np.zeros(n, np.uint8), labels, weights, value, weight)
            tree = self._to_tree(leaves(1), value[:1], weight[:1], np.array([n]))
            return GrownTree(tree, np.zeros(self.matrix.n_rows, np.int64))
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
        one_sum = self.n_classes == 2 and not self.by_error  # half of Gini's decrease
        nodes["gain"][0] = 2.0 * best_cut.score if one_sum else best_cut.score
        n_right = int(right.sum())
        count = np.array([n, n - n_right, n_right])
        tree = self._to_tree({**nodes, **bits}, value, weight, count)
        if rows is None:
            return GrownTree(tree, 1 + right.astype(np.int64))
        return GrownTree(tree, leaves_of(tree, self.matrix, self.n_jobs))

    def _to_tree(
        self, nodes: dict[str, Any], value: np.ndarray, weight: np.ndarray, count: np.ndarray
    ) -> Tree:
        """Return the tree of nodes whose classes weigh ``value``."""
        shares = value / weight[:, None]
        impurity = 1.0 - shares.max(axis=1) if self.by_error else _gini(shares)
        return build_tree(
            self.schema,
            **nodes,
            value=shares[:, None],
            impurity=impurity,
            weight=weight,
            count=count,
        )

    def _divide(
        self, columns: Any, cut: Cut, rows: np.ndarray | None
    ) -> tuple[np.ndarray, bool, float]:
        """Return which rows a cut sends right, whether some miss its value, and the threshold."""
        entries = columns.lists[cut.column]
        right = np.empty(len(entries), np.uint8)
        missing = mark_stump(entries, cut.place, cut.missing_left, right)
        return right, missing, self.threshold_of(entries, cut, rows)

    def _search(
        self, columns: Any, labels: np.ndarray, weights: np.ndarray
    ) -> Cut | CategoryCut | None:
        """Return the best cut of all columns, or None if there is none."""
        cut = self._search_numbers(columns, labels, weights)
        if columns.categories is None:
            return cut
        other = columns.categories.search(labels, weights)
        both = [one for one in (cut, other) if one is not None]
        return max(both, key=lambda one: (one.worth, -one.feature), default=None)

    def _search_numbers(self, columns: Any, labels: np.ndarray, weights: np.ndarray) -> Cut | None:
        """Return the best cut of the columns of numbers and ranks."""
        lists, words = columns.lists, np.empty(len(labels), np.int64)
        whole, best_cut = are_whole(weights), []
        if self.n_classes == 2 and not self.by_error:
            look: Any = search_stumps
            all_weight, total = weigh_words(weights, labels, whole, words)
            alone = total in (0, all_weight)
        else:
            look = search_error_stumps if self.by_error else search_class_stumps
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


# ---------------------------------------------------------------------- numbers
class ReweightedTrees(SortedTrees):
    """Trees of limited depth for numbers or two classes, grown as those of gradient boosting.

    ``y`` holds the numbers, or the classes 0 and 1, whose Gini impurity is twice their variance. The trees
    are CART's, but for cuts that gain the same up to rounding: there the first column wins.
    """

    def __init__(
        self, base: Any, matrix: Matrix, schema: Schema, y: np.ndarray, n_classes: int | None = None
    ) -> None:
        self.y, self.n_classes = np.array(y, np.float64), n_classes
        target = make_target(self.y[:, None], None, None)
        settings = growth(base, schema, target, matrix.n_rows)
        unit = 1.0 if n_classes is None else 2.0  # Gini's decrease is twice that of the variance
        settings = replace(settings, min_impurity_decrease=settings.min_impurity_decrease / unit)
        least, alpha = float(base.min_weight_fraction_leaf), float(base.ccp_alpha) / unit
        self.presorted = presort(
            matrix, schema, settings, least, alpha, float(base.category_penalty)
        )
        self.base, self.labels = base, y[:, None]

    @cached_property
    def _shallow(self) -> Shallow:
        """What grows trees on bins of some rows."""
        ready = self.presorted
        return Shallow(self.base, ready.matrix, ready.schema, self.labels, self.n_classes)

    def grow(self, weights: np.ndarray, seed: int = 0) -> GrownTree:
        """Grow the tree of these weights; rows of weight 0 take no part."""
        inside = (weights > 0).astype(np.uint8)
        if self.presorted.bins is not None and not inside.all():  # they have no part in bins either
            return self._shallow.grow(weights, seed)
        bag = Bag(inside[:0] if inside.all() else inside, np.require(weights, requirements="W"))
        tree, leaf = self.presorted.grow(self.y, bag, 0)
        if self.n_classes is not None:
            tree = _of_shares(tree)
        return GrownTree(tree, leaf.astype(np.int64))


def _of_shares(tree: Tree) -> Tree:
    """Return a tree of labels 0 and 1 as one of class shares."""
    ones = tree.value[:, :, 0]
    shares = np.empty((*ones.shape, 2))
    shares[:, :, 0], shares[:, :, 1] = 1.0 - ones, ones
    return replace(tree, value=shares, impurity=2.0 * tree.impurity, gain=2.0 * tree.gain)


# ---------------------------------------------------------------------- any other tree
class Shallow(_Filtered):
    """Trees as an estimator's parameters ask for; ``y`` is (n, 1): class codes, or numbers."""

    def __init__(
        self, base: Any, matrix: Matrix, schema: Schema, y: np.ndarray, classes: int | None
    ) -> None:
        super().__init__(matrix, schema, y, base._threads())
        self.base, self.classes = base, None if classes is None else np.array([classes])
        self.store = self._store(None)

    def _store(self, rows: np.ndarray | None) -> ColumnStore:
        most = self.base.max_bins
        return store_columns(
            self.matrix, self.schema.columns, rows, max_bins=most, n_jobs=self.n_jobs
        )

    def _whole(self) -> ColumnStore:
        return self.store

    def _take(self, rows: np.ndarray) -> ColumnStore:
        if self.base.max_bins is not None:  # bins hold about equal numbers of rows
            return self._store(rows)
        store = self.store
        lists = store.lists
        if len(store.list_slots):
            lists = _filter(lists, self.matrix.n_rows, rows, self.n_jobs)
        return replace(store, lists=lists, codes=np.ascontiguousarray(store.codes[:, rows]))

    def _grow(
        self, columns: ColumnStore, rows: np.ndarray | None, weights: np.ndarray
    ) -> GrownTree:
        y = self.y if rows is None else self.y[rows]
        target = make_target(y, self.classes, weights)
        settings = growth(self.base, self.schema, target, self.matrix.n_rows)
        if settings.max_depth != 1:  # deeper trees reorder the lists
            columns = replace(columns, lists=columns.lists.copy())
        tree, order = grow_in_order(self.matrix, self.schema, target, rows, settings, columns)
        if self.base.ccp_alpha > 0:
            tree = prune(tree, float(self.base.ccp_alpha))
        if rows is None:
            return GrownTree(tree, leaf_of_rows(tree, order))
        return GrownTree(tree, leaves_of(tree, self.matrix, self.n_jobs))


# ---------------------------------------------------------------------- trees that draw
class Drawn(SortedTrees):
    """Trees that look at some columns, or cut them at random; ``y`` is (n, 1): class codes, or numbers."""

    draws = True

    def __init__(
        self, base: Any, matrix: Matrix, schema: Schema, y: np.ndarray, classes: int | None
    ) -> None:
        self.y, self.classes = y, None if classes is None else np.array([classes])
        self.ccp_alpha, self.least = float(base.ccp_alpha), float(base.min_weight_fraction_leaf)
        target = make_target(y, self.classes, np.ones(matrix.n_rows))
        self.settings = growth(base, schema, target, matrix.n_rows)
        self.table = tree_table(
            matrix,
            schema,
            random_splits=self.settings.random_splits,
            monotone=self.settings.monotone,
            keep_lists=True,
            n_jobs=self.settings.n_jobs,
        )

    def grow(self, weights: np.ndarray, seed: int = 0) -> GrownTree:
        """Grow the tree of these weights; rows of weight 0 take no part. ``seed`` keys what is drawn."""
        target = make_target(self.y, self.classes, weights)
        least = self.least * float(weights.sum())
        settings = replace(self.settings, seed=seed, min_weight_leaf=least)
        tree, leaf = grow_placed_tree(self.table, target, settings, weights)
        if self.ccp_alpha > 0:
            tree = prune(tree, self.ccp_alpha)
            leaf = leaves_of(tree, self.table.matrix, settings.n_jobs)
        return GrownTree(tree, leaf)


# ---------------------------------------------------------------------- which of them
def trees_for(
    base: Any, matrix: Matrix, schema: Schema, y: np.ndarray, classes: int | None
) -> SortedTrees:
    """Return what grows the trees of a CART; ``y`` is (n, 1): class codes, or numbers.

    The first line that fits is taken:

        columns or cuts are drawn                          Drawn
        classes, depth 1, no limits: Gini or error         Stumps
                                     bins, or otherwise    Shallow
        squares or Gini of two classes, depth up to 8      ReweightedTrees
        anything else                                      Shallow
    """
    if base.splitter != "best" or base.max_features is not None:
        return Drawn(base, matrix, schema, y, classes)
    plain = base.max_leaf_nodes is None and base.monotonic_cst is None and base.surrogates == 0
    if classes is not None and plain and base.max_depth == 1 and not _has_limits(base):
        searched = base.criterion in ("gini", "error") and 2 <= classes <= MOST_CLASSES
        if not searched or base.max_bins is not None:
            return Shallow(base, matrix, schema, y, classes)
        penalty = float(base.category_penalty)
        return Stumps(matrix, schema, y[:, 0], classes, base._threads(), penalty, base.criterion)
    squares = base.criterion in ("squared_error", "friedman_mse")
    squares |= classes == 2 and base.criterion == "gini"  # twice the variance of labels 0 and 1
    if plain and squares and base.max_depth is not None and base.max_depth <= DEEPEST:
        return ReweightedTrees(base, matrix, schema, y[:, 0], classes)
    return Shallow(base, matrix, schema, y, classes)


def _has_limits(base: Any) -> bool:
    """Return whether anything but its depth keeps a tree from growing."""
    return (
        base.min_samples_split != 2
        or base.min_samples_leaf != 1
        or base.min_weight_fraction_leaf != 0
        or base.min_impurity_decrease != 0
        or base.ccp_alpha != 0
    )
