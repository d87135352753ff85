"""What a method of a model makes of the sums of its trees.

    sums ── of_rows ──► answers            any number of rows, by steps of NumPy
    sums ── of_row ───► answer             one row, in the array that its sums are in

Every step of NumPy takes .2 to .8 µs whatever its size, as long as a quarter of the walk down all trees; so
where one row can do with fewer a meaning says how, with the same bits.
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
    """What a method makes of sums of rows, and of one row by itself.

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
    """Return the meaning of sums that are the shares of all classes."""
    return Meaning(of_rows, lambda sums: sums, n_classes)


def largest_share(of_rows: Callable[[np.ndarray], Any], classes: np.ndarray) -> Meaning:
    """Return the meaning of such shares as a label: that of the largest."""
    labels = _each(classes)
    return Meaning(of_rows, lambda sums: labels[sums.argmax()].copy(), len(classes))


def two_shares(of_rows: Callable[[np.ndarray], Any], link: Link) -> Meaning:
    """Return the meaning of one sum that a logistic link makes the shares of two classes."""
    probability, sigma = one_probability(), float(link.sigma)

    def of_row(both: np.ndarray) -> np.ndarray:
        second = probability(sigma * both.item(0))
        both[0, 0], both[0, 1] = 1.0 - second, second
        return both

    return Meaning(of_rows, of_row, 2)


def two_labels(of_rows: Callable[[np.ndarray], Any], link: Link, classes: np.ndarray) -> Meaning:
    """Return the meaning of such a sum as a label: of two equals the first."""
    probability, sigma, (no, yes) = one_probability(), float(link.sigma), _each(classes)

    def of_row(margin: np.ndarray) -> np.ndarray:
        return (yes if probability(sigma * margin.item(0)) > 0.5 else no).copy()

    return Meaning(of_rows, of_row, 1)


def _each(classes: np.ndarray) -> list[np.ndarray]:
    """Return arrays of one label each."""
    return [classes[k : k + 1].copy() for k in range(len(classes))]
