"""SHAP values of a function of the sum: of a probability, or of the loss of a row.

A probability is not a sum over trees, but it is a function g (a curve) of such a sum f. Between a row b of
the background and the row x, the mean slope of g along the straight line from one sum to the other satisfies

    g(f(x)) - g(f(b)) = slope · (f(x) - f(b)) = Σ over columns of slope · φ_i(x, b)

so every column gets its SHAP value φ_i times the slope; the mean over the background is its rescaled value.
These values add up to g(f(x)) minus the mean of g(f(b)), exactly. (They are the Shapley values of the sum,
rescaled; those of the curve itself would need all sets of columns.) For a single sum the slope is a quotient
of differences. The softmax of several sums has a matrix of slopes, computed by quadrature and then corrected
so that the equation above holds exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.data.matrix import DenseMatrix
from arboretum.engine.elementwise import exp, log, probability, softmax, softplus
from arboretum.predict.link import RAREST, Link
from arboretum.predict.shap.walking import gauss_rule

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.predict.shap.values import Contributions

__all__ = ["Curve", "loss_curve", "probability_curve", "rescaled_values"]

_NEAR = 1e-5  # if sums differ by less, the derivative at their midpoint is used
_NODES = 24  # nodes of the quadrature for a softmax

Array = np.ndarray


@dataclass(frozen=True)
class Curve:
    """A function g of sums, (rows, outputs), and its slopes.

    Attributes
    ----------
    value : callable
        (rows, outputs) -> (rows, numbers)
    slopes : callable
        Two arrays (rows, outputs) -> (rows, numbers, outputs): mean slopes from the first to the second.
    """

    value: Callable[[Array], Array]
    slopes: Callable[[Array, Array], Array]


def _one_by_one(g: Callable[[Array], Array], slope: Callable[[Array], Array]) -> Curve:
    """Return the curve that applies ``g`` to every output by itself."""

    def slopes(begin: Array, end: Array) -> Array:
        gap = end - begin
        near = np.abs(gap) < _NEAR
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (g(end) - g(begin)) / gap
        mean = np.where(near, slope((begin + end) / 2), mean)
        return mean[:, :, None] * np.eye(mean.shape[1])

    return Curve(g, slopes)


def _summed(curve: Curve) -> Curve:
    """Return the curve whose value is the sum of all numbers of a curve."""
    return Curve(
        lambda m: curve.value(m).sum(axis=1, keepdims=True),
        lambda begin, end: curve.slopes(begin, end).sum(axis=1, keepdims=True),
    )


def _along(value: Callable[[Array], Array], jacobian: Callable[[Array], Array]) -> Curve:
    """Return the curve of all outputs together, with slopes averaged along the line between two sums."""
    nodes, weights = gauss_rule(_NODES)

    def slopes(begin: Array, end: Array) -> Array:
        gap = end - begin
        mean = 0.0
        for t, w in zip(nodes, weights, strict=True):
            mean = mean + w * jacobian(begin + t * gap)
        missed = value(end) - value(begin) - (mean * gap[:, None, :]).sum(axis=2)
        length = (gap * gap).sum(axis=1)
        back = np.divide(
            gap, length[:, None], out=np.zeros_like(gap), where=(length > _NEAR * _NEAR)[:, None]
        )
        return mean + missed[:, :, None] * back[:, None, :]

    return Curve(value, slopes)


def probability_curve(link: Link) -> Curve:
    """Return the curve of a link whose predictions are probabilities."""
    s = link.sigma
    if link.name == "softmax":

        def jacobian(m: Array) -> Array:
            p = softmax(s * m)
            return s * (p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :])

        return _along(lambda m: softmax(s * m), jacobian)
    return _one_by_one(
        lambda m: probability(s * m), lambda m: s * probability(s * m) * probability(-s * m)
    )


def loss_curve(link: Link, y: Array, *, classes: bool) -> Curve:
    """Return the loss of rows as a function of their sums; y is class codes, or numbers (rows, outputs).

    For classes it is the log loss; for numbers the squared error, or e^m - y m where sums are logarithms.
    """
    s = link.sigma
    if not classes:
        if link.name == "log":
            return _summed(_one_by_one(lambda m: exp(m) - y * m, lambda m: exp(m) - y))
        return _summed(_one_by_one(lambda m: np.square(m - y), lambda m: 2.0 * (m - y)))
    codes = y.astype(np.int64)
    if link.name == "softmax":

        def value(m: Array) -> Array:
            top = s * m.max(axis=1, keepdims=True)
            logs = top + log(exp(s * m - top).sum(axis=1, keepdims=True))
            return logs - s * np.take_along_axis(m, codes[:, None], 1)

        def gradient(m: Array) -> Array:
            return s * (softmax(s * m) - np.eye(m.shape[1])[codes])[:, None, :]

        return _along(value, gradient)
    if link.name == "logit":
        yes = codes[:, None].astype(np.float64)

        def actual(
            m: Array,
        ) -> Array:  # one column is the second class; several have one class each
            return yes if m.shape[1] == 1 else (codes[:, None] == np.arange(m.shape[1])) * 1.0

        return _summed(
            _one_by_one(
                lambda m: softplus(s * m) - actual(m) * s * m,
                lambda m: s * (probability(s * m) - actual(m)),
            )
        )

    def share(m: Array) -> Array:
        return -log(np.maximum(m, RAREST)) * (codes[:, None] == np.arange(m.shape[1]))

    def slope(m: Array) -> Array:
        return np.where(m > RAREST, -1.0 / np.maximum(m, RAREST), 0.0) * (
            codes[:, None] == np.arange(m.shape[1])
        )

    return _summed(_one_by_one(share, slope))


def rescaled_values(
    contributions: Contributions,
    matrix: Matrix,
    background: Matrix,
    sums: tuple[Array, Array],  # of the rows and of the background
    curve: Curve,
    *,
    pairs: bool,
    n_jobs: int,
) -> tuple[Array, Array]:
    """Return the values of a curve, shaped like `Contributions.values`, and their base, (rows, numbers)."""
    values: Array | None = None
    base: Array | None = None
    of_rows, of_others = sums
    for b in range(background.n_rows):
        other = DenseMatrix(background.rows(b, b + 1))
        change = contributions.values(matrix, other, pairs=pairs, n_jobs=n_jobs)
        begin = np.broadcast_to(of_others[b], of_rows.shape)
        slopes = curve.slopes(begin, of_rows)
        slopes = slopes.reshape(slopes.shape + (1,) * (change.ndim - 2))
        rescaled = (slopes * change[:, None]).sum(axis=2)
        values = rescaled if values is None else values + rescaled
        before = curve.value(begin)
        base = before if base is None else base + before
    assert values is not None
    assert base is not None
    return values / background.n_rows, base / background.n_rows
