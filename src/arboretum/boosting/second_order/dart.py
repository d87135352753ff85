"""Dropping trees while boosting (dart): no single early tree is to carry the model.

Before a round some of the earlier rounds are left out of the margins, and the new trees learn what those
would have said. Then both together would overshoot, so they are weighed down: with k rounds dropped
and the learning rate η,

    normalize_type   new trees    dropped ones
    tree             1/(k + η)    × k/(k + η)
    forest           1/(1 + η)    × 1/(1 + η)
    lightgbm         1/(1 + k)    × k/(1 + k)

(answers of trees carry η already). Rounds are drawn with equal probability, or by what their trees
count. (Rashmi and Gilad-Bachrach 2015.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arboretum.engine.keys import key_of, uniform_array

__all__ = ["Dart", "dropped_trees"]


@dataclass(frozen=True)
class Dart:
    """How rounds are dropped."""

    rate_drop: float = 0.1
    skip_drop: float = 0.5  # the probability that a round drops nothing
    max_drop: int = 0  # 0: no limit
    one_drop: bool = False  # at least one round is dropped
    weighted: bool = False  # rounds are drawn by their trees' weights
    normalize: str = "tree"  # "tree", "forest" or "lightgbm"
    seed: int = 4

    def shares(self, dropped: int, learning_rate: float) -> tuple[float, float]:
        """Return what the new trees count and by how much the dropped ones are multiplied."""
        k, eta = dropped, learning_rate
        if self.normalize == "forest":
            return 1.0 / (1.0 + eta), 1.0 / (1.0 + eta)
        if self.normalize == "lightgbm":
            return 1.0 / (1.0 + k), k / (1.0 + k)
        return 1.0 / (k + eta), k / (k + eta)


def dropped_trees(dart: Dart, weights: np.ndarray, per_round: int, seed: int, m: int) -> list[int]:
    """Return the numbers of the trees that are left out in round ``m``, whole rounds together."""
    n = len(weights) // per_round
    draw = uniform_array(key_of(seed, dart.seed, m), n + 2)
    if n == 0 or draw[0] < dart.skip_drop:
        return []
    share = np.full(n, dart.rate_drop)
    if dart.weighted:
        counts = weights.reshape(n, per_round)[:, 0]
        share = dart.rate_drop * n * counts / counts.sum()
    rounds = np.flatnonzero(draw[2:] < share)
    if not len(rounds) and dart.one_drop:
        rounds = np.array([int(draw[1] * n)])
    if dart.max_drop > 0 and len(rounds) > dart.max_drop:
        rounds = np.sort(rounds[np.argsort(draw[2:][rounds], kind="stable")[: dart.max_drop]])
    return [int(r) * per_round + k for r in rounds for k in range(per_round)]
