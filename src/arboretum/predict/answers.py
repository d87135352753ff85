"""How a method of a model turns the sums of its trees into answers.

    sums ── of_rows ──► answers            any number of rows, with NumPy
    sums ── of_row ───► answer             one row, in the array that its sums are in

A NumPy call takes .2 to .8 µs however small its arrays, up to a quarter of the time of walking down all
trees; so a meaning can have a version for one row that makes fewer calls and gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arboretum.engine.elementwise import one_probability
from arboretum.predict.link import Link

__all__ = ["Meaning", "largest_share", "shares", "two_labels", "two_shares"]


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
