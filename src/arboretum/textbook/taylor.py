"""Taylor's step: the loss of a leaf is replaced by a parabola, and the parabola's lowest point is taken.

All rows of a leaf move by the same γ. Expanded to second order where F stands now,

    Σ L(y, F + γ)  ≈  Σ L(y, F) + γ·Σ ∂L/∂F + ½γ²·Σ ∂²L/∂F²  =  L_0 - γ·Σr + ½γ²·Σh

    derivative        -Σr + γ·Σh = 0          so     γ* = Σr / Σh
    at γ*             L_0 - ½ (Σr)² / Σh                what the parabola promises

For squared error the loss is this parabola, and γ* is the mean residual. For the deviance r = y - p
and h = p(1 - p): γ* = Σ(y - p) / Σ p(1 - p). With λ added to Σh it is XGBoost's leaf value, and
(Σr)²/(Σh + λ), twice the promise, is its similarity.

Four rows, three of them positive, from p = ½ on. The parabola promises 2.2726; the loss falls to
2.2530, and its minimum at log 3 is 2.2493:

>>> step = taylor_step("log_loss", [1, 1, 1, 0], np.zeros(4))
>>> step.gamma, round(step.before, 4), round(step.promised, 4), round(step.after, 4)
(1.0, 2.7726, 2.2726, 2.253)
>>> for gamma, loss, parabola in step.curve([0.0, 0.5, 1.0, 1.5]):
...     print(f"{gamma:.1f}  {loss:.4f}  {parabola:.4f}")
0.0  2.7726  2.7726
0.5  2.3963  2.3976
1.0  2.2530  2.2726
1.5  2.3057  2.3976
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.gbm_losses import Loss, NewtonLoss, SquaredError, make_loss

__all__ = ["TaylorStep", "taylor_step"]


@dataclass(frozen=True, eq=False)
class TaylorStep:
    """The parabola of one leaf, where it is lowest, and what the loss does there."""

    slope: float  # Σ ∂L/∂F = -Σr
    curvature: float  # Σ ∂²L/∂F² = Σh
    gamma: float  # γ* = Σr / Σh
    before: float  # Σ L(y, F)
    promised: float  # by the parabola, at γ*
    after: float  # Σ L(y, F + γ*)
    loss: Loss = field(repr=False)
    y: np.ndarray = field(repr=False)
    F: np.ndarray = field(repr=False)

    def parabola(self, gamma: float) -> float:
        """Return L_0 + γ·slope + ½γ²·curvature."""
        return self.before + gamma * self.slope + 0.5 * gamma**2 * self.curvature

    def curve(self, gammas: Iterable[float]) -> list[tuple[float, float, float]]:
        """Return γ, the loss and the parabola there, for some γ."""
        return [
            (gamma, float(self.loss.value(self.y, self.F + gamma).sum()), self.parabola(gamma))
            for gamma in gammas
        ]


def taylor_step(loss: str | NewtonLoss, y: ArrayLike, F: ArrayLike) -> TaylorStep:
    """Expand the loss of a leaf's rows to second order where F stands, and take the best step.

    Parameters
    ----------
    loss : str or NewtonLoss
        One with a second derivative: "squared_error", "log_loss" of two classes, "exponential", or
        one of your own.
    y, F : arrays of shape (n,)
        Of the rows of the leaf.

    Examples
    --------
    For a parabola the step is exact:

    >>> step = taylor_step("squared_error", [14.0, 2.0], [0.0, 0.0])
    >>> step.gamma, step.before, step.promised, step.after
    (8.0, 100.0, 36.0, 36.0)
    """
    y, F = np.asarray(y, dtype=np.float64), np.asarray(F, dtype=np.float64)
    found = make_loss(loss, n_classes=2) if isinstance(loss, str) else loss
    if isinstance(found, NewtonLoss):
        curvature = float(found.hessian(y, F).sum())
    elif isinstance(found, SquaredError):
        curvature = float(len(y))
    else:
        raise ValueError(f"{loss!r} has no second derivative to expand by")
    slope, before = -float(found.residuals(y, F).sum()), float(found.value(y, F).sum())
    gamma = -slope / curvature
    promised = before + gamma * slope + 0.5 * gamma**2 * curvature
    after = float(found.value(y, F + gamma).sum())
    return TaylorStep(slope, curvature, gamma, before, promised, after, found, y, F)
