"""Further reading: how far off GOSS and EFB can be, by the bounds of LightGBM's paper and measured.

**GOSS** (theorem 3.2 of Ke and others, NeurIPS 2017). For a split d of n rows into n_l and n_r, with all
rows and with the rows that GOSS keeps (A, the share a of largest |g|) and draws (B, the share b of all),

    V(d)  = 1/n · ( (Σ_l g)² / n_l + (Σ_r g)² / n_r )
    V~(d) = 1/n · ( (Σ_A,l g + (1-a)/b · Σ_B,l g)² / n_l + the same on the right )

the error |V~ - V| is with probability 1 - δ at most

    C² ln(1/δ) · max(1/n_l, 1/n_r)  +  2 D C √(ln(1/δ) / n)

    C = (1-a)/√b · max |g| of the rows that are not kept,   D = the larger mean |g| of the two sides

For splits that are not too unbalanced (n_l, n_r of the order of √n at least) the second term rules: the
error falls as 1/√n.

**EFB.** A bundle that lets two columns clash in a share γ of the rows changes these values. The paper
bounds what that does to the training accuracy by O([(1-γ)n]^(-2/3)), and gives no constant:
`efb_error_order` is the expression, `efb_experiment` measures the change beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.lightgbm_boosting import LGBMRules, boost_lgbm, predict_model_lgbm
from arboretum.textbook.lightgbm_sampling import goss
from arboretum.textbook.lightgbm_splits import LGBMSettings

__all__ = [
    "EFBExperiment",
    "GossBound",
    "GossExperiment",
    "efb_error_order",
    "efb_experiment",
    "goss_error_bound",
    "goss_experiment",
    "goss_gain",
    "variance_gain",
]


# ---------------------------------------------------------------------- GOSS
def variance_gain(g: ArrayLike, left: ArrayLike) -> float:
    """Return V(d) = 1/n · ((Σ_l g)²/n_l + (Σ_r g)²/n_r).

    >>> variance_gain([-2.0, -2.0, 1.0, 3.0], [True, True, False, False])
    4.0
    """
    g, left = np.asarray(g, dtype=np.float64), np.asarray(left, dtype=bool)
    return float(sum(g[side].sum() ** 2 / side.sum() for side in (left, ~left)) / len(g))


def goss_gain(
    g: ArrayLike, left: ArrayLike, top_rate: float, other_rate: float, random_state: int = 0
) -> float:
    """Return V~(d): the same from the rows of one GOSS draw, with n_l and n_r of all rows.

    >>> goss_gain([-2.0, -2.0, 1.0, 3.0], [True, True, False, False], 0.5, 0.5)
    4.0
    """
    g, left = np.asarray(g, dtype=np.float64), np.asarray(left, dtype=bool)
    sample = goss(g, np.ones(len(g)), top_rate, other_rate, random_state)
    scaled = np.zeros(len(g))
    scaled[sample.rows] = g[sample.rows] * sample.factor
    return float(sum(scaled[side].sum() ** 2 / side.sum() for side in (left, ~left)) / len(g))


@dataclass(frozen=True)
class GossBound:
    """The bound on the error of a split's gain, and what it is made of."""

    n_left: int
    n_right: int
    C: float  # (1-a)/√b · the largest |g| that is not kept
    D: float  # the larger mean |g| of the two sides
    sides: float  # C² ln(1/δ) · max(1/n_l, 1/n_r)
    root: float  # 2 D C √(ln(1/δ)/n)

    @property
    def bound(self) -> float:
        return self.sides + self.root


def goss_error_bound(
    g: ArrayLike,
    left: ArrayLike,
    top_rate: float = 0.2,
    other_rate: float = 0.1,
    delta: float = 0.05,
) -> GossBound:
    """Return what |V~ - V| is at most with probability 1 - δ.

    With a = 1 nothing is drawn, and nothing can be wrong.

    >>> g, left = np.linspace(-1, 1, 1000), np.arange(1000) < 500
    >>> found = goss_error_bound(g, left)
    >>> round(found.C, 3), round(found.D, 3), round(found.bound, 3)
    (2.023, 0.501, 0.135)
    """
    g, left = np.asarray(g, dtype=np.float64), np.asarray(left, dtype=bool)
    size = np.sort(np.abs(g))[::-1]
    rest = size[int(top_rate * len(g)) :]
    C = (1 - top_rate) / np.sqrt(other_rate) * (rest.max() if len(rest) else 0.0)
    D = max(float(np.abs(g[side]).mean()) for side in (left, ~left))
    n_left, n_right = int(left.sum()), int((~left).sum())
    log = np.log(1 / delta)
    sides = C**2 * log * max(1 / n_left, 1 / n_right)
    return GossBound(
        n_left, n_right, float(C), D, float(sides), float(2 * D * C * np.sqrt(log / len(g)))
    )


@dataclass(frozen=True, eq=False)
class GossExperiment:
    """The errors of many GOSS draws of one split, beside their bound."""

    exact: float  # V(d)
    errors: np.ndarray = field(repr=False)  # |V~ - V| of every draw
    bound: GossBound
    delta: float

    @property
    def share_above(self) -> float:
        """The share of draws whose error exceeds the bound: δ at most, by the theorem."""
        return float(np.mean(self.errors > self.bound.bound))


def goss_experiment(
    g: ArrayLike,
    left: ArrayLike,
    top_rate: float = 0.2,
    other_rate: float = 0.1,
    delta: float = 0.05,
    n_draws: int = 200,
) -> GossExperiment:
    """Draw by GOSS many times and measure the error of the split's gain.

    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 1000))
    >>> found = goss_experiment(0.5 * x + noise, x < 0.3)
    >>> found.share_above, round(float(found.errors.max()), 3), round(found.bound.bound, 3)
    (0.0, 0.189, 0.539)
    """
    exact = variance_gain(g, left)
    errors = [abs(goss_gain(g, left, top_rate, other_rate, s) - exact) for s in range(n_draws)]
    bound = goss_error_bound(g, left, top_rate, other_rate, delta)
    return GossExperiment(exact, np.array(errors), bound, delta)


# ---------------------------------------------------------------------- EFB
def efb_error_order(n_rows: int, conflict_rate: float) -> float:
    """Return [(1-γ)n]^(-2/3), to which a bundle's conflicts change the training accuracy; times a constant.

    >>> [round(efb_error_order(n, 0.05), 4) for n in (1000, 8000)]
    [0.0103, 0.0026]
    """
    return float(((1 - conflict_rate) * n_rows) ** (-2 / 3))


@dataclass(frozen=True)
class EFBExperiment:
    """Training accuracy with and without bundles that clash."""

    n_rows: int
    conflict_rate: float  # allowed in each bundle
    conflicts: int  # rows that lost a value, in all bundles
    accuracy: float  # of the columns as they are
    bundled: float  # of bundles
    order: float  # [(1-γ)n]^(-2/3)

    @property
    def change(self) -> float:
        return abs(self.accuracy - self.bundled)


def efb_experiment(
    n_rows: int = 400, conflict_rate: float = 0.05, n_rounds: int = 5, seed: int = 0
) -> EFBExperiment:
    """Boost "which of six words" with clashing words in γ/2 of the rows, once as it is, once in bundles.

    >>> found = efb_experiment(400)
    >>> found.conflicts > 0, found.change <= found.order
    (True, True)
    """
    rng = np.random.default_rng(seed)
    words = np.eye(6)[rng.integers(0, 6, n_rows)] * rng.integers(1, 4, (n_rows, 6))
    clash = rng.random(n_rows) < conflict_rate / 2
    words[clash, rng.integers(0, 6, int(clash.sum()))] = 1.0
    X = np.column_stack([words, rng.normal(size=n_rows).round(1)])
    chance = 1 / (1 + np.exp(-(words @ [2.0, -2, 1, -1, 0.5, 0] + X[:, 6])))
    y = (rng.random(n_rows) < chance).astype(float)
    settings = LGBMSettings(num_leaves=8, min_child_samples=5)
    accuracy, models = [], []
    for bundle in (False, True):
        rules = LGBMRules("binary", n_rounds, 0.3, bundle=bundle, max_conflict_rate=conflict_rate)
        models.append(boost_lgbm(X, y, rules, settings))
        accuracy.append(float(np.mean((predict_model_lgbm(models[-1], X) > 0.5) == y)))
    lost = sum(bundle.conflicts for bundle in getattr(models[1].table, "bundles", ()))
    order = efb_error_order(n_rows, conflict_rate)
    return EFBExperiment(n_rows, conflict_rate, lost, accuracy[0], accuracy[1], order)
