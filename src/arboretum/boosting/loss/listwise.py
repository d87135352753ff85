"""LightGBM's rank_xendcg: cross entropy of a list's scores with a drawn distribution of its labels.

    score ──softmax over the list──► ρ               label, u in [0, 1) ──► 2^label - u ──share──► φ
                    loss of a list: -Σ φ log ρ; its mean over the draws bounds NDCG

The derivative has terms for the other rows of the list besides ρ - φ, three orders in all, as in Bruch's
"An Alternative Cross Entropy Loss for Learning-to-Rank" (2021). A round draws every u anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.boosting.loss.loss import check_labels, check_weight
from arboretum.boosting.loss.objective import Objective, RoundRows
from arboretum.boosting.metric.queries import Queries
from arboretum.engine.elementwise import exp, power
from arboretum.engine.keys import key_of, uniform_array

__all__ = ["ListwiseObjective"]

_LEAST = 1e-15  # of a divisor


@dataclass(frozen=True, repr=False)
class ListwiseObjective(Objective):
    """Cross entropy of the lists.

    Attributes
    ----------
    seed : int
        Seed of the draws.
    """

    seed: int = 5

    def check(self, y: np.ndarray, weight: np.ndarray | None = None, groups: Any = None) -> None:
        """Raise a DataError if labels, weights or groups are invalid for ranking."""
        check_labels(y, f"objective {self.name!r}", "0 or more")
        check_weight(weight, len(y))
        Queries([len(y)] if groups is None else groups, len(y))

    def start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Return 0: only differences of scores count."""
        return np.zeros(1)

    def _write(self, rows: RoundRows, g: np.ndarray, h: np.ndarray, n_jobs: int) -> None:
        n = len(rows.y)
        lists = Queries([n] if rows.groups is None else rows.groups, n)
        each = lists.group

        def sums(values: np.ndarray) -> np.ndarray:
            return lists.sum(values)[each]

        score = rows.margin[:, 0]
        share = exp(score - np.maximum.reduceat(score, lists.start)[each])
        share /= sums(share)
        drawn = power(np.full(n, 2.0), rows.y) - uniform_array(key_of(self.seed, rows.iteration), n)
        rest = np.maximum(1.0 - share, _LEAST)
        first = share - drawn / np.maximum(sums(drawn), _LEAST)
        second = share * (sums(first / rest) - first / rest)
        third = share * (sums(second / rest) - second / rest)
        weight = 1.0 if rows.weight is None else rows.weight
        weight = weight * (lists.sizes > 1)[each]
        g[0], h[0] = weight * (first + second + third), weight * (share * (1.0 - share))
