"""How good an order is: what a page of a ranker says instead of errors.

A ranker's numbers mean nothing by themselves, only their order inside a group does:

    grade   3   0   1        told first: 1, then 3, then 0
    NDCG = (gain(1)/log₂2 + gain(3)/log₂3) / (gain(3)/log₂2 + gain(1)/log₂3),  gain(g) = 2^g - 1

Intervals are those of 200 draws of the groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.boosting.metric.queries import Queries
from arboretum.boosting.metric.ranking import dcg, pairwise_aucs
from arboretum.errors import DataError
from arboretum.explain.report.judged import DRAWS, Judged, figure

__all__ = ["Ranked", "groups_of", "whole_groups"]

_TOP = 10
_LARGEST_GRADE = 31  # beyond it gains are the grades themselves, as XGBoost's


class Ranked(Judged):
    """Grades and answers of one table of groups.

    Examples
    --------
    >>> told = np.array([[2.0], [1.0], [3.0]])
    >>> judged = Ranked(np.array([3.0, 0.0, 1.0]), told, [3])
    >>> round(judged.ndcg(told[:, 0]), 4)
    0.7098
    """

    def __init__(self, truth: np.ndarray, answers: np.ndarray, sizes: Any) -> None:
        super().__init__(truth, answers, None)
        self.queries = Queries(sizes, len(truth))
        graded = bool((truth == np.floor(truth)).all() and truth.max() <= _LARGEST_GRADE)
        self._gain = np.exp2(truth) - 1.0 if graded else truth
        self._best = self.queries.order(truth)

    def figures(self, seed: int = 0) -> list[dict[str, Any]]:
        told = self.answers[:, 0]
        order = self.queries.order(told)
        each = [
            (f"NDCG@{_TOP}", self._ndcgs(order, _TOP),
             f"how good the first {_TOP} of a group are, 1 at best"),
            ("NDCG", self._ndcgs(order, len(told)), "how good the whole order of a group is"),
            ("pairs in order", pairwise_aucs(self.queries, self.truth, told, order),
             "share of pairs of unlike grades that stand in the right order; by chance 0.5"),
        ]  # fmt: skip
        return [_mean(name, values, what, seed) for name, values, what in each]

    def ndcg(self, told: np.ndarray) -> float:
        """Return the mean NDCG of the first ten of every group, told other numbers than these answers."""
        known = self._ndcgs(self.queries.order(told), _TOP)
        return float(np.nanmean(known)) if np.isfinite(known).any() else 1.0

    def losses(self) -> np.ndarray:
        """Return how many places off every row stands in its group."""
        places = np.empty((2, len(self.truth)))
        for at, order in zip(
            places, (self._best, self.queries.order(self.answers[:, 0])), strict=True
        ):
            at[order] = self.queries.position
        return np.abs(places[0] - places[1])

    def _ndcgs(self, order: np.ndarray, k: int) -> np.ndarray:
        """Return the NDCG of every group, NaN where no row has a gain."""
        ideal = dcg(self.queries, self._gain, self._best, k)
        with np.errstate(invalid="ignore"):
            return np.where(ideal > 0, dcg(self.queries, self._gain, order, k) / ideal, np.nan)


def _mean(name: str, values: np.ndarray, what: str, seed: int) -> dict[str, Any]:
    known = values[np.isfinite(values)]
    if not len(known):
        return figure(name, 1.0, np.empty(0), 1.0, what, high=True)
    draws = np.random.default_rng(seed).integers(0, len(known), (DRAWS, len(known)))
    return figure(name, float(known.mean()), known[draws].mean(axis=1), 1.0, what, high=True)


def groups_of(model: Any, group: Any, n_rows: int) -> np.ndarray | None:
    """Return the checked sizes of groups of a ranker's table, None for other models."""
    name = type(model).__name__
    ranks = getattr(model, "target", "") == "orders"
    if not ranks:
        if group is not None:
            raise DataError(
                f"report: {name} does not rank, so rows have no groups: leave out group="
            )
        return None
    if group is None:
        raise DataError(
            f"report: {name} ranks rows in groups: give group=, the number of rows of each"
        )
    return Queries(group, n_rows).sizes


def whole_groups(sizes: np.ndarray, most: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of some groups, at most so many rows but one group at least, and their sizes.

    >>> rows, sizes = whole_groups(np.array([2, 3, 2]), 4, seed=0)
    >>> len(rows) == sum(sizes.tolist()) <= 4
    True
    """
    drawn = np.random.default_rng(seed).permutation(len(sizes))
    kept = max(int(np.searchsorted(np.cumsum(sizes[drawn]), most, side="right")), 1)
    chosen = np.sort(drawn[:kept])
    start = np.cumsum(sizes) - sizes
    rows = np.concatenate([np.arange(start[g], start[g] + sizes[g]) for g in chosen])
    return rows, sizes[chosen]
