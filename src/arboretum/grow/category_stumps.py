"""The best stump on columns of categories, as CART divides them (engine/split/categories.py).

CART's search takes many nodes at a time, each on a column of its own. A stump has one node and many columns:
the node is laid out once for every column, and one compiled call searches them all. Two classes by Gini
impurity, the usual stump of boosting, need one addition per row and column (engine/stump/two_classes.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from arboretum.engine.fixed_point import are_whole
from arboretum.engine.split.best import new_column_best, take
from arboretum.engine.split.categories import choose_categories, scan_categories
from arboretum.engine.split.counts import Columns, make_counter
from arboretum.engine.split.score import CHANCE
from arboretum.engine.split.statistic import SearchRules
from arboretum.engine.stump.two_classes import search_category_stumps, weigh_words
from arboretum.grow.criterion import CLASSIFICATION, make_statistic
from arboretum.grow.grower import make_target
from arboretum.grow.settings import loner_excess
from arboretum.lazy import cached_property

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema

__all__ = ["CategoryColumns", "CategoryCut", "code_categories"]

_LEFT, _ABSENT = 1, 2  # where a category goes, in the codes of `choose_categories`


@dataclass(frozen=True, eq=False)
class CategoryCut:
    """The best division of a column's categories."""

    score: float
    worth: float  # the score less what is charged for chance: columns compete by it
    feature: int
    missing_left: int
    right: np.ndarray  # uint8, of every row
    has_missing: bool
    takes: np.ndarray  # uint8, of every category

    def left_set(self, missing_child: int) -> np.ndarray:
        """Return the bits of the categories that go left; absent ones go where missing values go."""
        left = np.where(self.takes == _ABSENT, missing_child == 0, self.takes == _LEFT)
        padded = np.zeros(-(-len(left) // 32) * 32, np.uint8)
        padded[: len(left)] = left
        return np.packbits(padded, bitorder="little").view("<u4").astype(np.uint32)


@dataclass(frozen=True, eq=False)
class CategoryColumns:
    """Columns of categories as codes; the code behind the last category means missing."""

    features: np.ndarray  # int64
    codes: np.ndarray  # (columns, n) uint32
    n_codes: np.ndarray  # int64
    charged: np.ndarray  # bool
    n_classes: int
    penalty: float  # what divisions are charged, in shares of what they gain by chance

    def take(self, rows: np.ndarray) -> CategoryColumns:
        """Return the columns of some rows."""
        return replace(self, codes=np.ascontiguousarray(self.codes[:, rows]))

    def search(self, labels: np.ndarray, weights: np.ndarray) -> CategoryCut | None:
        """Return the best division, or None if there is none."""
        if self.n_classes == 2:
            return self._search_counted(labels, weights)
        return self._search_as_cart(labels, weights)

    @cached_property
    def _counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the counts of a column begin, and the rows of every category and of those that miss it."""
        sizes = [np.bincount(codes, minlength=n + 1) for codes, n in zip(self.codes, self.n_codes)]
        starts = np.cumsum(self.n_codes + 1) - self.n_codes - 1
        return starts, np.concatenate(sizes).astype(np.int64)

    def _search_counted(self, labels: np.ndarray, weights: np.ndarray) -> CategoryCut | None:
        """`search` for two classes by Gini impurity, which one sum per category decides."""
        words = np.empty(len(labels), np.int64)
        weight, ones = weigh_words(weights, labels, are_whole(weights), words)
        if ones in (0, weight):  # one class is left
            return None
        share = ones / weight
        chance = self.penalty * CHANCE / len(labels) * (share * (1.0 - share))  # of half of Gini
        takes = np.empty(int(self.n_codes.max()), np.uint8)
        starts, counts = self._counts
        loner = loner_excess(self.penalty, True)
        worth, score, k, missing_left = search_category_stumps(
            self.codes,
            self.n_codes,
            starts,
            counts,
            words,
            weight,
            ones,
            chance * self.charged,
            loner,
            takes,
        )
        if score < 0:
            return None
        takes = takes[: self.n_codes[k]]
        has_missing = bool(counts[starts[k] + self.n_codes[k]])
        return self._cut(k, (score, worth), missing_left, takes, has_missing)

    def _cut(
        self, k: int, score: tuple[float, float], missing_left: int, takes: np.ndarray, gaps: bool
    ) -> CategoryCut:
        """Return a division of column k; ``score``: what it gains, and what it is worth."""
        goes_right = np.append(takes != _LEFT, not missing_left).astype(np.uint8)
        return CategoryCut(
            score=float(score[0]),
            worth=float(score[1]),
            feature=int(self.features[k]),
            missing_left=int(missing_left),
            right=goes_right[self.codes[k]],
            has_missing=gaps,
            takes=takes,
        )

    def _search_as_cart(self, labels: np.ndarray, weights: np.ndarray) -> CategoryCut | None:
        """`search` for any number of classes, by CART's own search."""
        width, n = self.codes.shape
        target = make_target(labels[:, None], np.array([self.n_classes]), weights)
        statistic = make_statistic(target, CLASSIFICATION["gini"], SearchRules(), categories=True)
        start, end = np.array([0]), np.array([n])
        node = statistic.prepare(start, end, np.empty((1, 2)))
        columns = Columns(
            np.arange(width), self.n_codes, np.ones(width, np.bool_), np.zeros(width, np.int8)
        )
        impurity = statistic.describe(start, end).impurity
        chance = statistic.to_score(node, self.penalty * CHANCE / n * impurity)
        counter = make_counter(int(self.n_codes.max()), statistic.channels)
        found = new_column_best(width)
        scan_categories(
            self.codes, columns, statistic.row, take(node, np.zeros(width, np.int64)),
            statistic.rules, counter, chance * self.charged,
            loner_excess(self.penalty, self.n_classes == 2), found,
        )  # fmt: skip
        worth = np.where(found.score < 0, -np.inf, found.score - found.charge)
        k = int(worth.argmax())
        if found.score[k] < 0:
            return None
        takes = np.empty((1, int(self.n_codes[k])), np.uint8)
        choose_categories(
            self.codes, take(columns, slice(k, k + 1)), statistic.row, node, statistic.rules,
            found.cut[k : k + 1], make_counter(takes.shape[1], statistic.channels), takes,
        )  # fmt: skip
        gaps = bool((self.codes[k] == self.n_codes[k]).any())
        score = float(found.score[k]), float(worth[k])
        return self._cut(k, score, int(found.missing_left[k]), takes[0], gaps)


def code_categories(
    matrix: Matrix, schema: Schema, n_classes: int, penalty: float
) -> CategoryColumns | None:
    """Return the category columns of a table; None if it has none."""
    features = [f for f, column in enumerate(schema.columns) if column.kind == "categorical"]
    if not features:
        return None
    n_codes = np.array([len(schema.columns[f].categories or ()) for f in features], np.int64)
    codes = np.empty((len(features), matrix.n_rows), np.uint32)
    for j, f in enumerate(features):
        values = matrix.column(f)
        codes[j] = np.where(np.isnan(values), n_codes[j], values)
    return CategoryColumns(
        np.array(features, np.int64),
        codes,
        n_codes,
        schema.charged[features],
        n_classes,
        penalty,
    )
