"""Dropping trees while boosting (dart), so that no single early tree dominates the model.

Before a round some of the earlier rounds are left out of the margins, and the new trees learn what the
dropped ones predicted. Both together would overshoot, so they are scaled down: with k rounds dropped
and the learning rate η,

    normalize_type   new trees    dropped ones
    tree             1/(k + η)    × k/(k + η)
    forest           1/(1 + η)    × 1/(1 + η)
    lightgbm         1/(1 + k)    × k/(1 + k)

(trees' values include η already). Rounds are drawn with equal probability, or by their trees'
weights. (Rashmi and Gilad-Bachrach 2015.)
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
    # beyond the limit the oldest rounds are dropped, and the limit lowers the rate
    in_order: bool = False
    whole: float = 1.0  # weight of rounds that were never dropped, where the limit lowers the rate

    def shares(self, dropped: int, learning_rate: float) -> tuple[float, float]:
        """Return the weight of the new trees and the factor of the dropped ones."""
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
    counts = weights.reshape(n, per_round)[:, 0] if dart.weighted else np.ones(n)
    share = _rate(dart, counts) * n * counts / counts.sum()
    rounds = np.flatnonzero(draw[2:] < share)
    if not len(rounds) and dart.one_drop:
        rounds = np.array([int(draw[1] * n)])
    if dart.in_order and dart.max_drop > 0:
        rounds = rounds[: dart.max_drop]
    elif dart.max_drop > 0 and len(rounds) > dart.max_drop:
        rounds = np.sort(rounds[np.argsort(draw[2:][rounds], kind="stable")[: dart.max_drop]])
    return [int(r) * per_round + k for r in rounds for k in range(per_round)]


def _rate(dart: Dart, counts: np.ndarray) -> float:
    """Return the mean share of the rounds that is dropped; in LightGBM the limit lowers it."""
    if not (dart.in_order and dart.max_drop > 0):
        return dart.rate_drop
    n = len(counts)
    if not dart.weighted:
        return min(dart.rate_drop, dart.max_drop / n)
    whole = dart.whole * counts.sum()
    return min(dart.rate_drop, dart.max_drop * n / (whole * whole))
