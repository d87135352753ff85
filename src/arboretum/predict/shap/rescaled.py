"""SHAP values of what a sum means: of a probability, or of the loss of a row.

A probability is no sum of trees, but the change from one row b of the background to the row x is one, and a
curve g bends it as a whole. Averaged along the straight way from one sum to the other, the bend is a slope:

    g(f(x)) - g(f(b)) = slope · (f(x) - f(b)) = Σ over columns of slope · φ_i(x, b)

so every column gets its part of the change times the slope, and the mean over the background is its value.
The parts sum to g(f(x)) less the mean of g(f(b)), exactly. (They are the Shapley values of the sum, bent;
those of the curve itself would need all sets of columns.) Of one sum the slope is a quotient of differences.
The softmax of many has a table of slopes, found by quadrature and put right by the quotient that is known.
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

_NEAR = 1e-5  # sums that differ by less: the slope between them
_NODES = 24  # of the quadrature of a softmax

Array = np.ndarray


@dataclass(frozen=True)
class Curve:
    """g and its slopes: of sums (rows, outputs).

    Attributes
    ----------
    value : callable
        (rows, outputs) -> (rows, numbers)
    slopes : callable
        Two times (rows, outputs) -> (rows, numbers, outputs): mean slopes from the first to the second.
    """

    value: Callable[[Array], Array]
    slopes: Callable[[Array, Array], Array]


def _one_by_one(g: Callable[[Array], Array], slope: Callable[[Array], Array]) -> Curve:
    """Return the curve that bends every output by itself."""

    def slopes(begin: Array, end: Array) -> Array:
        gap = end - begin
        near = np.abs(gap) < _NEAR
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (g(end) - g(begin)) / gap
        mean = np.where(near, slope((begin + end) / 2), mean)
        return mean[:, :, None] * np.eye(mean.shape[1])

    return Curve(g, slopes)


def _summed(curve: Curve) -> Curve:
    """Return the sum of all numbers of a curve, as one."""
    return Curve(
        lambda m: curve.value(m).sum(axis=1, keepdims=True),
        lambda begin, end: curve.slopes(begin, end).sum(axis=1, keepdims=True),
    )


def _along(value: Callable[[Array], Array], jacobian: Callable[[Array], Array]) -> Curve:
    """Return the curve of all outputs together, whose slopes are averaged along the way."""
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
    """Return the curve of a link that means probabilities."""
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

    Of classes it is the log loss; of numbers the squared error, or e^m - y m where sums are logarithms.
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

        def actual(m: Array) -> Array:  # one column is the second class, many are each its own
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
    """Return the values of a curve of sums, as `Contributions.values`, and their base, (rows, numbers)."""
    values: Array | None = None
    base: Array | None = None
    of_rows, of_others = sums
    for b in range(background.n_rows):
        other = DenseMatrix(background.rows(b, b + 1))
        change = contributions.values(matrix, other, pairs=pairs, n_jobs=n_jobs)
        begin = np.broadcast_to(of_others[b], of_rows.shape)
        slopes = curve.slopes(begin, of_rows)
        slopes = slopes.reshape(slopes.shape + (1,) * (change.ndim - 2))
        bent = (slopes * change[:, None]).sum(axis=2)
        values = bent if values is None else values + bent
        said = curve.value(begin)
        base = said if base is None else base + said
    assert values is not None
    assert base is not None
    return values / background.n_rows, base / background.n_rows
