"""Links: how the sum over the trees becomes a prediction, and which sum belongs to a prediction.

A link is one of these:

    identity   m                       numbers, class probabilities
    log        e**m                    means of counts and amounts, above 0
    logit      1 / (1 + e**(-σ m))     the probability of the second of two classes
    softmax    e**(σ m) / Σ e**(σ m)   the probabilities of all classes, one column each
    step       1 if m > 0 else 0       classes without probabilities
    isolation  -2**(-m / σ)            scores of anomalies, from mean path lengths
    own        the user's own function, which the model keeps

A link is a name and a number, so it can be written to a file. Links work on whole arrays. `raw` turns any
prediction back into a margin (the sum), after moving values at the ends of the range slightly inside;
`margin` raises an error for those.

A `Meaning` is how a method of a model turns the sums of its trees into answers:

    sums ── of_rows ──► answers            any number of rows, with NumPy
    sums ── of_row ───► answer             one row, in the array that its sums are in

A NumPy call takes .2 to .8 µs however small its arrays, up to a quarter of the time of walking down all
trees; so a meaning can have a version for one row that makes fewer calls and gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.engine.elementwise import exp, log, one_probability, probability, softmax
from arboretum.errors import ParameterError

__all__ = [
    "IDENTITY",
    "RAREST",
    "Link",
    "Meaning",
    "both_classes",
    "largest_share",
    "opposite_shares",
    "shares",
    "two_labels",
    "two_shares",
]


# smaller probabilities count as this one, so that their logarithm is finite
RAREST = float(np.finfo(np.float32).eps)
_LN_2 = 0.6931471805599453  # ln 2
_RANGES = {"log": (0.0, math.inf, "above 0"), "logit": (0.0, 1.0, "a probability between 0 and 1")}


@dataclass(frozen=True)
class Link:
    """One of the links by name.

    Examples
    --------
    >>> Link("logit").margin(0.75), Link("log").predict(np.zeros(2)).tolist()
    (1.0986122886681096, [1.0, 1.0])
    >>> Link("softmax").predict(np.zeros((1, 4)))
    array([[0.25, 0.25, 0.25, 0.25]])
    >>> Link("isolation", 10.0).predict(np.array([0.0, 10.0, 20.0])).tolist()
    [-1.0, -0.5, -0.25]
    """

    name: str = "identity"
    sigma: float = 1.0

    def predict(self, margin: np.ndarray) -> np.ndarray:
        """Return predictions of margins."""
        if self.name == "own":
            raise ParameterError(
                "the loss is the user's own, and only the model turns sums into predictions: call its predict"
            )
        if self.name == "log":
            return exp(margin)
        if self.name == "logit":
            return probability(margin if self.sigma == 1.0 else self.sigma * margin)
        if self.name == "softmax":
            return softmax(margin if self.sigma == 1.0 else self.sigma * margin)
        if self.name == "isolation":
            return -exp(-_LN_2 * (margin / self.sigma if self.sigma else np.ones_like(margin)))
        return (margin > 0).astype(np.float64) if self.name == "step" else margin

    def raw(self, prediction: Any, rarest: float = RAREST) -> Any:
        """Return the margins of predictions, no nearer than ``rarest`` to the ends of their range."""
        if self.name == "log":
            return log(np.maximum(prediction, rarest))
        if self.name == "logit":
            share = np.clip(prediction, rarest, 1.0 - rarest)
            return log(share / (1.0 - share)) / self.sigma
        if self.name == "softmax":
            logs = log(np.clip(prediction, rarest, 1.0 - rarest))
            return logs - logs.mean(axis=1, keepdims=True)
        if self.name == "isolation":
            return -self.sigma / _LN_2 * log(np.maximum(np.negative(prediction), rarest))
        return prediction

    def margin(self, prediction: float) -> float:
        """Return the margin of a prediction; raise a ParameterError if none leads to it."""
        low, high, phrase = _RANGES.get(self.name, (-math.inf, math.inf, "a finite number"))
        if not low < prediction < high:
            raise ParameterError(
                f"base_score must be {phrase} for this objective, got {prediction!r}"
            )
        return float(prediction if self.name == "softmax" else self.raw(prediction, 0.0))


IDENTITY = Link()


def both_classes(second: np.ndarray) -> np.ndarray:
    """Return the probabilities of both classes, (rows, 2), given those of the second.

    >>> both_classes(np.array([0.25]))
    array([[0.75, 0.25]])
    """
    if len(second) == 1:  # filling an array takes three times as long as creating one
        share = second.item()
        return np.array([[1.0 - share, share]])
    both = np.empty((len(second), 2))
    np.subtract(1.0, second, out=both[:, 0])
    both[:, 1] = second
    return both


def opposite_shares(margin: np.ndarray, sigma: float = 1.0) -> np.ndarray:
    """Return the softmax of -σm and σm, (rows, 2).

    >>> opposite_shares(np.array([0.0, np.log(3) / 2]))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    if len(margin) == 1:
        probability_of, m = one_probability(), 2.0 * sigma * margin.item()
        return np.array([[probability_of(-m), probability_of(m)]])
    both = np.empty((len(margin), 2))
    np.multiply(margin, sigma, out=both[:, 1])
    np.negative(both[:, 1], out=both[:, 0])
    return softmax(both)


# ---------------------------------------------------------------------- answers of methods
@dataclass(frozen=True)
class Meaning:
    """How a method turns sums into answers, for many rows and for a single one.

    Attributes
    ----------
    of_rows : callable
        Takes sums, (rows, …), and returns answers.
    of_row : callable
        Takes an array of shape (1, width) that begins with the sums of one row, may write to it, and returns
        the same answer as ``of_rows``.
    width : int
    """

    of_rows: Callable[[np.ndarray], Any]
    of_row: Callable[[np.ndarray], Any]
    width: int

    def __call__(self, sums: np.ndarray) -> Any:
        return self.of_rows(sums)


def shares(of_rows: Callable[[np.ndarray], Any], n_classes: int) -> Meaning:
    """Return the meaning of sums that are the probabilities of all classes."""
    return Meaning(of_rows, lambda sums: sums, n_classes)


def largest_share(of_rows: Callable[[np.ndarray], Any], classes: np.ndarray) -> Meaning:
    """Return the meaning of such probabilities as a label: the most probable class."""
    labels = _each(classes)
    return Meaning(of_rows, lambda sums: labels[sums.argmax()].copy(), len(classes))


def two_shares(of_rows: Callable[[np.ndarray], Any], link: Link) -> Meaning:
    """Return the meaning of one sum that a logistic link turns into the probabilities of two classes."""
    probability, sigma = one_probability(), float(link.sigma)

    def of_row(both: np.ndarray) -> np.ndarray:
        second = probability(sigma * both.item(0))
        both[0, 0], both[0, 1] = 1.0 - second, second
        return both

    return Meaning(of_rows, of_row, 2)


def two_labels(of_rows: Callable[[np.ndarray], Any], link: Link, classes: np.ndarray) -> Meaning:
    """Return the meaning of such a sum as a label; for equal probabilities, the first class."""
    probability, sigma, (no, yes) = one_probability(), float(link.sigma), _each(classes)

    def of_row(margin: np.ndarray) -> np.ndarray:
        return (yes if probability(sigma * margin.item(0)) > 0.5 else no).copy()

    return Meaning(of_rows, of_row, 1)


def _each(classes: np.ndarray) -> list[np.ndarray]:
    """Return every label as an array of one element."""
    return [classes[k : k + 1].copy() for k in range(len(classes))]
