"""Links: what a margin means on the prediction scale, and which margin stands for a prediction.

A link is one of these:

    identity   m                     numbers
    log        e**m                  means of counts and amounts, above 0
    logit      1 / (1 + e**(-σ m))   probabilities
    step       1 if m > 0 else 0     classes without probabilities

They work on whole arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from arboretum.errors import ParameterError

__all__ = ["Link", "probability", "softmax"]

_RANGES = {
    "log": (0.0, math.inf, "above 0"),
    "logit": (0.0, 1.0, "a probability between 0 and 1"),
}


@dataclass(frozen=True)
class Link:
    """One of the links by name.

    Examples
    --------
    >>> Link("logit").margin(0.75), Link("log").predict(np.zeros(2)).tolist()
    (1.0986122886681098, [1.0, 1.0])
    """

    name: str = "identity"
    sigma: float = 1.0

    def predict(self, margin: np.ndarray) -> np.ndarray:
        """Return predictions of margins."""
        if self.name == "log":
            with np.errstate(over="ignore"):
                return np.exp(margin)
        if self.name == "logit":
            return probability(self.sigma * margin)
        return (margin > 0).astype(np.float64) if self.name == "step" else margin

    def margin(self, prediction: float) -> float:
        """Return the margin of a prediction; a ParameterError if no margin stands for it."""
        low, high, phrase = _RANGES.get(self.name, (-math.inf, math.inf, "a finite number"))
        if not low < prediction < high:
            raise ParameterError(
                f"base_score must be {phrase} for this objective, got {prediction!r}"
            )
        if self.name == "log":
            return math.log(prediction)
        if self.name == "logit":
            return math.log(prediction / (1.0 - prediction)) / self.sigma
        return float(prediction)


def probability(log_odds: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + e**(-x))."""
    from scipy.special import expit

    return expit(log_odds)


def softmax(margin: np.ndarray) -> np.ndarray:
    """Return e**m / Σ e**m over the columns."""
    share = np.exp(margin - margin.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    return share
