"""Metrics over the rows: mean values of a loss, and shares of mistakes.

Everything here is a function of a `Predicted` (see evaluation_set.py); settings are
keywords. Logarithms and quotients are kept finite by the ``least`` values the peers use, which differ;
they are set in the tables of names.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from arboretum.boosting.loss.classes import Logistic, Softmax
from arboretum.boosting.loss.numbers import Poisson, Quantile, SquaredError
from arboretum.engine import sums
from arboretum.engine.elementwise import log, log_gamma
from arboretum.errors import DataError

if TYPE_CHECKING:
    from arboretum.boosting.loss.loss import Loss
    from arboretum.boosting.metric.evaluation_set import Predicted


# ---------------------------------------------------------------------- values of a loss
def mean_loss(given: Predicted, loss: Loss, least: float = 0.0, times: float = 1.0) -> float:
    """Return the mean value of a loss, times a factor: the squared error is twice its loss."""
    return times * given.mean(loss.value_of(given.y, given.vector, least))


def root_mean(given: Predicted, loss: Loss) -> float:
    """Return the root of twice the mean value of a loss that is half a square."""
    return math.sqrt(mean_loss(given, loss, times=2.0))


def binary_log_loss(given: Predicted, least: float) -> float:
    """Return the mean log loss, with labels above 0 as positives."""
    return given.mean(Logistic().value_of(given.positive, given.vector, least))


def class_log_loss(given: Predicted, least: float) -> float:
    """Return the mean of -log of the probability of the right class."""
    p = given.matrix
    return given.mean(Softmax(p.shape[1]).value_of(given.codes, p, least))


def poisson_likelihood(given: Predicted) -> float:
    """Return the mean negative log-likelihood of counts, log y! included."""
    constant = given.truth.once("log y!", lambda: given.mean(log_gamma(given.y + 1.0)))
    return mean_loss(given, Poisson(), 1e-16) + constant


def divergence(given: Predicted) -> float:
    """Return cross-entropy less the entropy of the labels."""
    loss = Logistic()
    entropy = given.truth.once(
        "entropy", lambda: given.mean(loss.value_of(given.y, given.y, 1e-12))
    )
    return mean_loss(given, loss, 1e-12) - entropy


def quantiles(given: Predicted, alphas: tuple[float, ...]) -> float:
    """Return the pinball loss, its mean over quantiles if there are several."""
    columns = given.prediction.reshape(len(given.y), -1).T
    if len(columns) != len(alphas):
        raise DataError(f"{len(alphas)} quantiles need as many columns, got {len(columns)}")
    means = [given.mean(Quantile(a).value(given.y, p)) for p, a in zip(columns, alphas)]
    return sum(means) / len(alphas)


def r2(given: Predicted) -> float:
    """Return 1 - residual / total sum of squares: 0 if the actual values are constant."""
    total = given.truth.once(
        "variance", lambda: given.mean(np.square(given.y - given.mean(given.y)))
    )
    return 1.0 - mean_loss(given, SquaredError(), times=2.0) / total if total != 0 else 0.0


def gamma_deviance(given: Predicted, shift: tuple[float, float], *, added: bool) -> float:
    """Return the mean deviance of gamma variables, or its sum."""
    ratio = (given.y + shift[0]) / (given.vector + shift[1])
    deviance, weight = 2.0 * (ratio - log(ratio) - 1.0), given.truth.weight
    if not added:
        return given.mean(deviance)
    return sums.total(deviance if weight is None else sums.times(deviance, weight))


# ---------------------------------------------------------------------- mistakes
def mistakes(given: Predicted, threshold: float = 0.5, *, binary: bool = False) -> float:
    """Return the share of rows on the wrong side of a threshold; ``binary``: labels above 0 are positives."""
    y = given.positive if binary else given.y
    return given.mean(np.where(given.vector > threshold, 1.0 - y, y))


def class_error(given: Predicted) -> float:
    """Return the share of rows whose most probable class (the first of equals) is wrong."""
    return given.mean(given.matrix.argmax(axis=1) != given.codes)


def top_error(given: Predicted, k: int) -> float:
    """Return the share of rows with more than k classes as probable as the right one or more."""
    of_truth = given.matrix[np.arange(len(given.y)), given.codes]
    return given.mean((given.matrix >= of_truth[:, None]).sum(axis=1) > k)
