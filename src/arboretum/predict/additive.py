"""The additive form of a model of trees: a number per leaf and output, a start, a link.

Almost every model of trees is a sum, whatever its paper calls it. How leaves are read, what trees weigh and
whether their mean is taken become part of the numbers at the leaves:

                  tree 0             tree 1             tree 2
                x₂ ≤ 2.45 ?        x₀ ≤ 6.3 ?         x₂ ≤ 4.75 ?
                 yes    no          yes    no          yes    no
    output 0    +1.4   -0.5                           +0.3   -0.1
    output 1                       +0.2   -0.4

    a row       start     tree 0     tree 1     tree 2      sum       link (softmax)
    output 0    -1.1   +   1.4                +   0.3   =   0.6   ──▶      0.87
    output 1    -0.9              +  -0.4               =  -1.3   ──▶      0.13

So explaining, exporting and serving support one form, instead of one per model:

    prediction of x = link(start + Σ_t values_t[leaf of x in tree t])

A weighted median is not a sum, and neither is the answer of a tree that sends parts of a row down several
branches: these models have no additive form and raise `NoAdditiveForm`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from arboretum.errors import DataError
from arboretum.predict.link import Link

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.predict.sum import Terms

__all__ = ["AdditiveForm", "NoAdditiveForm"]


class NoAdditiveForm(DataError):
    """A model of trees whose answer is not a sum of numbers at its leaves."""


@dataclass(frozen=True, eq=False)
class AdditiveForm:
    """``link(start + Σ_t values_t[leaf_t])``; see the module's text for the picture.

    Attributes
    ----------
    start : float64 array of shape (n_outputs,)
        The sum before any tree. A model that starts from another estimator's answers has zeros here.
    terms : Terms
        ``trees``; ``values``, for every tree an array of (nodes, k) numbers; and ``columns``, the output
        that the first of the k numbers is added to. k is 1 where a tree belongs to one output, and
        ``n_outputs`` where it answers for all of them.
    link : Link
        How the sum becomes a prediction.

    Examples
    --------
    >>> from arboretum import CARTRegressor
    >>> from arboretum.predict.ensemble import Ensemble
    >>> tree = CARTRegressor().fit([[0.0], [1.0]], [0.0, 2.0]).tree_
    >>> form = Ensemble([tree, tree], np.array([0.5, 0.1]), np.array([3.0])).additive()
    >>> form.start, form.values[0].ravel(), form.link.name
    (array([3.]), array([0.5, 0. , 1. ]), 'identity')
    """

    start: np.ndarray
    terms: Terms
    link: Link

    @property
    def n_outputs(self) -> int:
        return len(self.start)

    @property
    def values(self) -> list[np.ndarray]:
        """The numbers that the nodes of every tree add, (nodes, k)."""
        return self.terms.values

    @property
    def columns(self) -> np.ndarray:
        """The output that the first number of every tree is added to."""
        return self.terms.columns

    def sums(self, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
        """Return the sums before the link, (rows, n_outputs)."""
        total = np.empty((matrix.n_rows, self.n_outputs))
        total[:] = self.start
        self.terms.add(matrix, total, n_jobs)
        return total

    def predict(self, matrix: Matrix, n_jobs: int = 1) -> np.ndarray:
        """Return the predictions."""
        return self.link.predict(self.sums(matrix, n_jobs))
