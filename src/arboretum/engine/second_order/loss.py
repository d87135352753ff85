"""First and second derivatives of losses by margin, a block of rows at a time.

Every kernel reads labels and margins of a block and writes g = ∂L/∂margin and h = ∂²L/∂margin², or what
boosting uses in its place. Weights are multiplied in afterwards by `weigh`, while the block is in cache.
Loops have no branches and no calls, so that LLVM turns them into vector instructions, and exponentials are
those of engine/elementary.py: the same bits on every machine, and for every way to cut the blocks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from arboretum.engine.compiler.by_address import address_of, call_at, is_given
from arboretum.engine.compiler.decorators import inline, kernel
from arboretum.engine.elementary import bounded_exp, log, log1p

if TYPE_CHECKING:
    from arboretum.engine.second_order.rounds import RoundTarget

__all__ = [
    "LossKernel",
    "absolute",
    "fair",
    "find_derive",
    "gamma",
    "hinge",
    "huber",
    "logistic",
    "pinball",
    "poisson",
    "pseudo_huber",
    "relative",
    "softmax",
    "squared",
    "squared_log",
    "take_derivatives",
    "tweedie",
    "weigh",
]

GIVEN, SQUARED, LOGISTIC, SOFTMAX = 0, 1, 2, 3  # kinds of losses
_LARGEST = 80.0  # largest log-link margin: beyond e**80 a million rows would overflow float32


class LossKernel(NamedTuple):
    """A loss whose derivatives are computed by kernels: its kind and the settings of its kernel."""

    kind: int
    a: float = 0.0
    b: float = 0.0
    c: float = 0.0
    d: float = 0.0


@inline
def _exp_of_margin(x):
    return bounded_exp(_LARGEST if x > _LARGEST else x)


@kernel
def weigh(weight, g, h):
    """Multiply the derivatives of every row by its weight.

    weight (n_rows,) float64; g, h (n_rows,) float32, updated.
    """
    for i in range(len(weight)):
        g[i] *= weight[i]
        h[i] *= weight[i]


# ---------------------------------------------------------------------- numbers
@kernel
def squared(y, margin, g, h):
    """½ (m - y)².

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    for i in range(len(y)):
        g[i] = margin[i] - y[i]
        h[i] = 1.0


@kernel
def squared_log(y, margin, g, h):
    """½ (log(1 + m) - log(1 + y))²; margins stay above -1, curvatures above 0.

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    for i in range(len(y)):
        above = 1.0 + max(margin[i], -1.0 + 1e-6)
        apart = log(above) - log1p(y[i])
        g[i] = apart / above
        h[i] = max((1.0 - apart) / (above * above), 1e-6)


@kernel
def absolute(y, margin, g, h):
    """|m - y|; the curvature is 1, as in all losses made of straight lines.

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    for i in range(len(y)):
        apart = margin[i] - y[i]
        g[i] = (1.0 if apart > 0.0 else 0.0) - (1.0 if apart < 0.0 else 0.0)
        h[i] = 1.0


@kernel
def relative(y, margin, g, h):
    """|m - y| / max(1, |y|).

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    for i in range(len(y)):
        apart = margin[i] - y[i]
        sign = (1.0 if apart > 0.0 else 0.0) - (1.0 if apart < 0.0 else 0.0)
        size = abs(y[i])
        g[i] = sign / (size if size > 1.0 else 1.0)
        h[i] = 1.0


@kernel
def pinball(y, margin, g, h, alpha):
    """α (y - m) below the label, (1 - α) (m - y) above it.

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    for i in range(len(y)):
        g[i] = 1.0 - alpha if margin[i] >= y[i] else -alpha
        h[i] = 1.0


@kernel
def pseudo_huber(y, margin, g, h, slope):
    """s² (√(1 + ((m - y) / s)²) - 1).

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    for i in range(len(y)):
        apart = margin[i] - y[i]
        share = apart / slope
        bent = 1.0 + share * share
        root = math.sqrt(bent)
        g[i] = apart / root
        h[i] = 1.0 / (bent * root)


@kernel
def huber(y, margin, g, h, alpha):
    """½ (m - y)² up to α, a straight line beyond.

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    for i in range(len(y)):
        apart = margin[i] - y[i]
        apart = alpha if apart > alpha else apart
        g[i] = -alpha if apart < -alpha else apart
        h[i] = 1.0


@kernel
def fair(y, margin, g, h, c):
    """c² (|m - y| / c - log(1 + |m - y| / c)).

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    for i in range(len(y)):
        apart = margin[i] - y[i]
        share = c / (abs(apart) + c)
        g[i] = apart * share
        h[i] = share * share


# ---------------------------------------------------------------------- two classes
@kernel
def logistic(y, margin, g, h, sigma, no, yes, least):
    """Log loss of p = 1 / (1 + e**(-σ m)); labels of 1 weigh ``yes``, others ``no``.

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    for i in range(len(y)):
        e = bounded_exp(-sigma * margin[i])
        p = 1.0 / (1.0 + e)
        weight = yes if y[i] == 1.0 else no
        curvature = p * (e * p)  # p (1 - p), exact for p close to 1 too
        g[i] = weight * sigma * (p - y[i])
        h[i] = weight * sigma * sigma * (least if curvature < least else curvature)


@kernel
def hinge(y, margin, g, h):
    """max(0, 1 - m) for a label of 1, max(0, 1 + m) for 0.

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    for i in range(len(y)):
        side = 2.0 * y[i] - 1.0
        inside = 1.0 if side * margin[i] < 1.0 else 0.0
        g[i] = -side * inside
        h[i] = 1.0 if inside > 0.0 else 1.1754943508222875e-38


# ---------------------------------------------------------------------- log link
@kernel
def poisson(y, margin, g, h, step):
    """e**m - y m; the curvature is that at m + step, so that no step is too long.

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    ahead = bounded_exp(step)
    for i in range(len(y)):
        mean = _exp_of_margin(margin[i])
        g[i] = mean - y[i]
        h[i] = mean * ahead


@kernel
def gamma(y, margin, g, h):
    """m + y e**(-m).

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    for i in range(len(y)):
        ratio = y[i] * _exp_of_margin(-margin[i])
        g[i] = 1.0 - ratio
        h[i] = ratio


@kernel
def tweedie(y, margin, g, h, power):
    """e**((2 - ρ) m) / (2 - ρ) - y e**((1 - ρ) m) / (1 - ρ).

    y, margin (n_rows,) float64; g, h (n_rows,) float32, written.
    """
    a, b = 1.0 - power, 2.0 - power
    for i in range(len(y)):
        pull = y[i] * _exp_of_margin(a * margin[i])
        push = _exp_of_margin(b * margin[i])
        g[i] = push - pull
        h[i] = b * push - a * pull


# ---------------------------------------------------------------------- several classes
@kernel
def softmax(y, margin, first, g, h, factor, least, scratch):
    """-log of the label's probability, e**m / Σ e**m; ``scratch`` is float64, (K + 2, rows of a block).

    ``first`` is where the block begins in g and h, which are for all rows. The curvature is ``factor`` times
    p (1 - p). Classes are the outer loop, so that the inner one runs over rows whatever their number.

    y (n_block,) float64; margin (n_block, n_classes) float64; g, h (n_classes, n_rows) float32,
    written; scratch (n_classes + 2, at least n_block) float64, scratch.
    """
    n, n_classes = margin.shape
    top, total = scratch[n_classes], scratch[n_classes + 1]
    for i in range(n):
        most = margin[i, 0]
        for k in range(n_classes):
            scratch[k, i] = margin[i, k]
            most = max(most, margin[i, k])
        top[i] = most
        total[i] = 0.0
    for k in range(n_classes):
        share = scratch[k]
        for i in range(n):
            share[i] = bounded_exp(share[i] - top[i])
            total[i] += share[i]
    for i in range(n):
        total[i] = 1.0 / total[i]
    for k in range(n_classes):
        share, gk, hk = scratch[k], g[k][first : first + n], h[k][first : first + n]
        for i in range(n):
            p = share[i] * total[i]
            curvature = factor * (p * (1.0 - p))
            gk[i] = p - (1.0 if y[i] == k else 0.0)
            hk[i] = least if curvature < least else curvature


# ---------------------------------------------------------------------- of all rows, inside other kernels
@kernel
def derive_squared(loss, y, margin, weight, g, h, scratch):
    """Write the derivatives of all rows and outputs; ``weight`` may be empty, ``scratch`` is `softmax`'s.

    y (n_rows,) float64; margin (n_rows, 1) float64; weight (n_rows,) float64; g, h (1, n_rows) float32,
    written; scratch (3, n_rows) float64.
    """
    squared(y, margin.reshape(len(y)), g[0], h[0])
    if len(weight):
        weigh(weight, g[0], h[0])


@kernel
def derive_logistic(loss, y, margin, weight, g, h, scratch):
    """`derive_squared` for log loss.

    y (n_rows,) float64; margin (n_rows, 1) float64; weight (n_rows,) float64; g, h (1, n_rows) float32,
    written; scratch (3, n_rows) float64.
    """
    logistic(y, margin.reshape(len(y)), g[0], h[0], loss.a, loss.b, loss.c, loss.d)
    if len(weight):
        weigh(weight, g[0], h[0])


@kernel
def derive_softmax(loss, y, margin, weight, g, h, scratch):
    """`derive_squared` for classes.

    y (n_rows,) float64; margin (n_rows, n_classes) float64; weight (n_rows,) float64; g, h
    (n_classes, n_rows) float32, written; scratch (n_classes + 2, n_rows) float64.
    """
    softmax(y, margin, 0, g, h, loss.a, loss.b, scratch)
    for k in range(len(g) if len(weight) else 0):
        weigh(weight, g[k], h[k])


# the default losses only; for others the objective computes derivatives before every round
_DERIVE = {SQUARED: derive_squared, LOGISTIC: derive_logistic, SOFTMAX: derive_softmax}


def find_derive(target: RoundTarget) -> int:
    """Return the address of the kernel that computes the derivatives; 0: they are given."""
    if target.loss.kind not in _DERIVE:
        return 0
    loss, y, weight, score, g, h = target
    return address_of(_DERIVE[loss.kind], loss, y, score, weight, g, h, score)


@inline
def take_derivatives(derive, target, shares):
    """Write g and h of all rows, unless they are given; ``shares`` is scratch.

    shares (n_outputs + 2, n_rows) float64.
    """
    if is_given(derive):
        call_at(
            derive,
            (target.loss, target.y, target.score, target.weight, target.g, target.h, shares),
        )
