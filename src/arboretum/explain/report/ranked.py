"""How good an order is: the figures of a ranker's page.

A ranker's scores have no meaning by themselves, only their order inside a group has one:

    grade   3   0   1        order of the scores: 1, then 3, then 0
    NDCG = (gain(1)/log₂2 + gain(3)/log₂3) / (gain(3)/log₂2 + gain(1)/log₂3),  gain(g) = 2^g - 1

Intervals are those of 200 draws of the groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.boosting.metric.queries import Queries
from arboretum.boosting.metric.ranking import dcg, pairwise_aucs
from arboretum.explain.report.figures import DRAWS, figure
from arboretum.explain.report.judged import Judged

__all__ = ["Ranked"]

_TOP = 10
_LARGEST_GRADE = 31  # above this grade, gains are the grades themselves, as in XGBoost


class Ranked(Judged):
    """Grades and predictions of one table of groups.

    Examples
    --------
    >>> predicted = np.array([[2.0], [1.0], [3.0]])
    >>> judged = Ranked(np.array([3.0, 0.0, 1.0]), predicted, [3])
    >>> round(judged.ndcg(predicted[:, 0]), 4)
    0.7098
    """

    def __init__(self, actual: np.ndarray, answers: np.ndarray, sizes: Any) -> None:
        super().__init__(actual, answers, None)
        self.queries = Queries(sizes, len(actual))
        graded = bool((actual == np.floor(actual)).all() and actual.max() <= _LARGEST_GRADE)
        self._gain = np.exp2(actual) - 1.0 if graded else actual
        self._best = self.queries.order(actual)

    def figures(self, seed: int = 0) -> list[dict[str, Any]]:
        predicted = self.answers[:, 0]
        order = self.queries.order(predicted)
        chance = "random order"
        each = [
            (f"NDCG@{_TOP}", self._ndcgs(order, _TOP),
             f"how good the first {_TOP} rows of a group are; 1 is perfect", self._by_chance(_TOP)),
            ("NDCG", self._ndcgs(order, len(predicted)),
             "how good the whole order of a group is; 1 is perfect", self._by_chance(len(predicted))),
            ("pairs in order", pairwise_aucs(self.queries, self.actual, predicted, order),
             "share of pairs with different grades that are in the right order", 0.5),
        ]  # fmt: skip
        return [
            _mean(name, values, what, (chance, base), seed) for name, values, what, base in each
        ]

    def headline(self, figures: list[dict[str, Any]]) -> str:
        pairs = next(one for one in figures if one["name"] == "pairs in order")
        first = figures[0]
        return (
            f"Of 100 pairs of rows with different grades, {100 * pairs['value']:.0f} are in the right order; "
            f"a random order has 50. {first['name']} is {first['value']:.2f}, that of a random order "
            f"{first['baseline'][1]:.2f}."
        )

    def ndcg(self, predicted: np.ndarray) -> float:
        """Return the mean NDCG of the first ten rows of every group in the order of these numbers."""
        known = self._ndcgs(self.queries.order(predicted), _TOP)
        return float(np.nanmean(known)) if np.isfinite(known).any() else 1.0

    def losses(self) -> np.ndarray:
        """Return the distance of every row from its right place in its group."""
        places = np.empty((2, len(self.actual)))
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

    def _by_chance(self, k: int) -> float:
        """Return the expected NDCG of a random order: the mean gain of the group at every place."""
        queries = self.queries
        mean = np.bincount(queries.group, weights=self._gain) / queries.sizes
        ideal = dcg(queries, self._gain, self._best, k)
        by_chance = dcg(queries, mean[queries.group], self._best, k)
        known = ideal > 0
        return float(np.mean(by_chance[known] / ideal[known])) if known.any() else 1.0


def _mean(
    name: str, values: np.ndarray, what: str, baseline: tuple[str, float], seed: int
) -> dict[str, Any]:
    known = values[np.isfinite(values)]
    if not len(known):
        return figure(name, 1.0, np.empty(0), 1.0, what, high=True, baseline=baseline)
    draws = np.random.default_rng(seed).integers(0, len(known), (DRAWS, len(known)))
    drawn = known[draws].mean(axis=1)
    return figure(name, float(known.mean()), drawn, 1.0, what, high=True, baseline=baseline)
