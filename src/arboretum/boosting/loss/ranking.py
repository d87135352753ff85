"""Objectives for ranking: LambdaMART as in XGBoost and LightGBM.

Rows come in lists; pairs of rows pull a list into the order of its labels (see
`engine.second_order.ranking`). The two libraries differ in a few choices:

                     XGBoost                                LightGBM
    pairs            the top 32 with all after them,        the top 30 with all after them
                     or a few drawn for every row
    curvature        2 ρ (1 - ρ) Δ                          σ² ρ (1 - ρ) Δ
    weights          one per list, divided by their mean    one per row

Metrics of a list are cut where its pairs are: NDCG is that of the top 32 or 30.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.loss.loss import check_labels, check_weight
from arboretum.boosting.loss.objective import Objective, RoundRows
from arboretum.boosting.metric.queries import Queries
from arboretum.data.checks import list_rows
from arboretum.engine import sums
from arboretum.engine.elementwise import log2
from arboretum.errors import DataError

if TYPE_CHECKING:
    from arboretum.engine.second_order.ranking import QueryLists, Rules

__all__ = ["RankingObjective"]

_ROWS_AT_ONCE = 4096  # threads get pieces of lists with about this many rows


@dataclass(frozen=True, repr=False)
class RankingObjective(Objective):
    """LambdaMART.

    Attributes
    ----------
    metric : {"pairwise", "ndcg", "map"}
        The metric by which a swap of two rows is weighted.
    top : int
        Pairs have one row among this many first ones; 0 if they are drawn.
    drawn : int
        Pairs drawn for every row.
    seed : int
        Seed of the draws.
    gains : tuple of floats, or None
        Gain of each label; None for the label itself.
    sigma, factor, least
        Steepness of the loss; factor and least value of its curvature.
    by_score, by_sum : bool
        Whether pairs far apart count less, and whether lists are scaled to similar sizes.
    """

    metric: str = "ndcg"
    top: int = 32
    drawn: int = 1
    seed: int = 0
    gains: tuple[float, ...] | None = None
    sigma: float = 1.0
    factor: float = 1.0
    least: float = 0.0
    by_score: bool = True
    by_sum: bool = True

    def check(self, y: np.ndarray, weight: np.ndarray | None = None, groups: Any = None) -> None:
        """Raise a DataError if labels, weights or groups are invalid for ranking."""
        domain = "binary" if self.metric == "map" else "0 or more"
        owner = f"objective {self.name!r}"
        check_labels(y, owner, "whole" if self.gains is not None else domain)
        if self.gains is not None and y.max() >= len(self.gains):
            rows = np.flatnonzero(y >= len(self.gains))
            raise DataError(
                f"{owner} has gains for labels 0 to {len(self.gains) - 1}: "
                f"{list_rows(rows)} of y hold more, first {y[rows[0]]:g}; "
                + (
                    "Set `ndcg_exp_gain` to False"
                    if self.dialect == "xgboost"
                    else "give more gains by label_gain"
                )
            )
        queries = _queries(groups, len(y))
        self._row_weight(weight, queries)

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return 0: only differences of scores count."""
        return np.zeros(1)

    def _write(self, rows: RoundRows, g: np.ndarray, h: np.ndarray, n_jobs: int) -> None:
        from arboretum.engine import parallel
        from arboretum.engine.second_order import loss
        from arboretum.engine.second_order.ranking import RankingScratch, lambda_derivatives

        queries = _queries(rows.groups, len(rows.y))
        lists, rules = self._lists(rows.y, rows.margin, queries), self._rules(rows.iteration)

        def work(piece: tuple[int, int]) -> None:
            n = len(lists.discount)
            scratch = RankingScratch(*np.empty((4, n), np.int64), *np.empty((9, n)))
            lambda_derivatives(lists, rules, scratch, *piece, g[0], h[0])

        parallel.run(work, _pieces(lists.start), n_jobs)
        row_weight = self._row_weight(rows.weight, queries)
        if row_weight is not None:
            loss.weigh(row_weight, g[0], h[0])

    def _row_weight(self, weight: np.ndarray | None, queries: Queries) -> np.ndarray | None:
        """Return the factor of every row's derivatives."""
        if weight is None:
            return None
        if self.dialect == "lightgbm":
            check_weight(weight, queries.n_rows)
            return weight
        if weight.shape != queries.sizes.shape:
            check_weight(weight, queries.n_rows)
            uneven = np.flatnonzero(weight != weight[queries.start][queries.group])
            if len(uneven):
                raise DataError(
                    f"objective {self.name!r} weighs whole lists: {list_rows(uneven)} differ from "
                    "the first row of their group; give one weight per group, a number of weights equal to "
                    "the number of query groups"
                )
            weight = weight[queries.start]
        check_weight(weight, len(queries))
        return np.repeat(weight / sums.mean(weight), queries.sizes)

    def _lists(self, y: np.ndarray, margin: np.ndarray, queries: Queries) -> QueryLists:
        from arboretum.engine.second_order.ranking import QueryLists

        gain = y if self.gains is None else np.array(self.gains)[y.astype(np.intp)]
        longest = np.arange(queries.sizes.max())
        start = np.append(queries.start, queries.n_rows).astype(np.int64)
        score = np.ascontiguousarray(margin[:, 0])
        return QueryLists(start, score, gain, 1.0 / log2(longest + 2.0))

    def _rules(self, iteration: int) -> Rules:
        from arboretum.engine.second_order import ranking

        return ranking.Rules(
            metric=("pairwise", "ndcg", "map").index(self.metric),
            top=self.top,
            drawn=self.drawn,
            key=np.uint64((self.seed << 32) + iteration),
            sigma=self.sigma,
            factor=self.factor,
            least=self.least,
            by_score=self.by_score,
            by_sum=self.by_sum,
        )


def _queries(groups: Any, n_rows: int) -> Queries:
    return Queries([n_rows] if groups is None else groups, n_rows)


def _pieces(start: np.ndarray) -> list[tuple[int, int]]:
    """Cut the lists into pieces of about equal numbers of rows."""
    ends = np.searchsorted(start, np.arange(_ROWS_AT_ONCE, start[-1], _ROWS_AT_ONCE))
    cuts = np.unique(np.concatenate(([0], ends, [len(start) - 1])))
    return [(int(a), int(b)) for a, b in pairwise(cuts)]
