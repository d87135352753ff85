"""Metrics that are a mean over the rows: a loss per row, and how the rows make one figure.

A loss is a function of the truth and the prediction, whole columns at a time; settings are keywords. A
figure is a function of predictions beside their truth (see `evaluation_set`). Logarithms and quotients
are kept finite by the least values the peers use, which differ; they are given where a name is looked up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import DataError

if TYPE_CHECKING:
    from arboretum.boosting.metric.evaluation_set import Predicted

Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]


# ---------------------------------------------------------------------- a loss per row
def squared(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.square(y - p)


def squared_log(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.square(np.log1p(y) - np.log1p(p))


def absolute(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.abs(y - p)


def relative(y: np.ndarray, p: np.ndarray, *, least: float) -> np.ndarray:
    return np.abs(y - p) / np.maximum(np.abs(y), least)


def pinball(y: np.ndarray, p: np.ndarray, *, alpha: Any) -> np.ndarray:
    residual = y - p
    return np.maximum(alpha * residual, (alpha - 1.0) * residual)


def pseudo_huber(y: np.ndarray, p: np.ndarray, *, slope: float) -> np.ndarray:
    return slope**2 * (np.hypot(1.0, (y - p) / slope) - 1.0)


def huber(y: np.ndarray, p: np.ndarray, *, alpha: float) -> np.ndarray:
    size = np.abs(y - p)
    return np.where(size <= alpha, 0.5 * np.square(size), alpha * (size - 0.5 * alpha))


def fair(y: np.ndarray, p: np.ndarray, *, c: float) -> np.ndarray:
    size = np.abs(y - p) / c
    return c**2 * (size - np.log1p(size))


def log_loss(y: np.ndarray, p: np.ndarray, *, least: float) -> np.ndarray:
    """Return -log of the probability of the label; no probability counts as less than ``least``."""
    yes, no = np.log(np.maximum(p, least)), np.log(np.maximum(1.0 - p, least))
    return -(y * yes + (1.0 - y) * no)


def mistaken(y: np.ndarray, p: np.ndarray, *, threshold: float) -> np.ndarray:
    return np.where(p > threshold, 1.0 - y, y)


def poisson(y: np.ndarray, p: np.ndarray, *, least: float) -> np.ndarray:
    """Return the negative log-likelihood without its constant, log y!."""
    p = np.maximum(p, least)
    return p - y * np.log(p)


def gamma(y: np.ndarray, p: np.ndarray, *, least: float) -> np.ndarray:
    """Return the negative log-likelihood of shape 1."""
    p = np.maximum(p, least)
    return y / p + np.log(p)


def gamma_deviance(y: np.ndarray, p: np.ndarray, *, shift: tuple[float, float]) -> np.ndarray:
    ratio = (y + shift[0]) / (p + shift[1])
    return 2.0 * (ratio - np.log(ratio) - 1.0)


def tweedie(y: np.ndarray, p: np.ndarray, *, power: float, least: float) -> np.ndarray:
    """Return the negative log-likelihood up to constants; Poisson's at a power of 1."""
    p = np.maximum(p, least)
    if power == 1:
        return p - y * np.log(p)
    return p ** (2.0 - power) / (2.0 - power) - y * p ** (1.0 - power) / (1.0 - power)


# ---------------------------------------------------------------------- from rows to a figure
def mean_loss(given: Predicted, loss: Loss) -> float:
    return given.mean(loss(given.y, given.vector))


def root_mean(given: Predicted, loss: Loss) -> float:
    return math.sqrt(mean_loss(given, loss))


def sum_loss(given: Predicted, loss: Loss) -> float:
    losses, weight = loss(given.y, given.vector), given.truth.weight
    return losses.sum() if weight is None else (losses * weight).sum()


def binary_mean(given: Predicted, loss: Loss) -> float:
    """Return the mean loss where any label above 0 is a yes."""
    return given.mean(loss(given.positive, given.vector))


def poisson_likelihood(given: Predicted) -> float:
    from scipy.special import gammaln

    constant = given.truth.once("log y!", lambda: given.mean(gammaln(given.y + 1.0)))
    return mean_loss(given, partial(poisson, least=1e-16)) + constant


def divergence(given: Predicted) -> float:
    """Return cross-entropy less the entropy of the labels."""
    own = given.truth.once("entropy", lambda: given.mean(log_loss(given.y, given.y, least=1e-12)))
    return mean_loss(given, partial(log_loss, least=1e-12)) - own


def quantiles(given: Predicted, alphas: tuple[float, ...]) -> float:
    """Return the pinball loss, its mean over quantiles if there are several."""
    columns = given.prediction.reshape(len(given.y), -1).T
    if len(columns) != len(alphas):
        raise DataError(f"{len(alphas)} quantiles need as many columns, got {len(columns)}")
    means = [given.mean(pinball(given.y, p, alpha=a)) for p, a in zip(columns, alphas)]
    return sum(means) / len(alphas)


def r2(given: Predicted) -> float:
    """Return 1 - residual / total sum of squares: 0 where the truth is constant."""
    total = given.truth.once(
        "variance", lambda: given.mean(np.square(given.y - given.mean(given.y)))
    )
    return 1.0 - mean_loss(given, squared) / total if total != 0 else 0.0


def class_log_loss(given: Predicted, least: float) -> float:
    of_truth = given.matrix[np.arange(len(given.y)), given.codes]
    return -given.mean(np.log(np.maximum(of_truth, least)))


def class_error(given: Predicted) -> float:
    """Return the share of rows whose most probable class (the first of equals) is wrong."""
    return given.mean(given.matrix.argmax(axis=1) != given.codes)


def top_error(given: Predicted, k: int) -> float:
    """Return the share of rows with more than k classes as probable as the right one or more."""
    of_truth = given.matrix[np.arange(len(given.y)), given.codes]
    return given.mean((given.matrix >= of_truth[:, None]).sum(axis=1) > k)
