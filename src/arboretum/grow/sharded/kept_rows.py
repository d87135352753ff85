"""What a shard keeps of its rows between trees: labels, weights, margins and derivatives.

    load      the start of the margins, and the trees of the fit so far
    derive    g and h at the margins; their largest values, which scale them, are returned
    add       the values of a tree's leaves to the margins

The coordinator keeps no margins then: of a tree, only histograms, sums and answers travel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from arboretum.engine import parallel
from arboretum.engine.compiler.decorators import writable
from arboretum.engine.dtypes import PAIR, record_table
from arboretum.engine.second_order.batch import find_largest_of
from arboretum.engine.second_order.pack import add_marked
from arboretum.grow.decoding import GrownNodes
from arboretum.grow.histogram import make_given

__all__ = ["Added", "KeptRows", "largest_of"]

_ALL_ROWS = np.empty(0, np.uint32)


class Added(NamedTuple):
    """A finished tree, as it changes the margins."""

    tree: GrownNodes
    values: np.ndarray  # (n_nodes,) float64
    output: int


class KeptRows:
    """Labels, weights, margins and derivatives of the rows of a shard.

    Parameters
    ----------
    derive : function of y, margin, weight, g, h, n_jobs and iteration=
        Writes g and h; `Objective.derivatives`.
    y : float64 array of shape (n,)
    weight : float64 array of shape (n,) or None
    start : float64 array of shape (n_outputs,) or (n, n_outputs)
        The margins before the first tree.
    n_jobs : int
    """

    def __init__(
        self,
        derive: Callable[..., None],
        y: np.ndarray,
        weight: np.ndarray | None,
        start: np.ndarray,
        n_jobs: int,
    ) -> None:
        self._derive, self.y, self.n_jobs = derive, writable(y), n_jobs
        self.weight = None if weight is None else writable(weight)
        self.margin = np.empty((len(y), start.shape[-1]))
        self.margin[:] = start
        self.g, self.h = np.empty((2, *self.margin.shape[::-1]), np.float32)

    def derive(self, m: int) -> np.ndarray:
        """Write the derivatives of round ``m``; return the largest |g| and h of every output."""
        self._derive(self.y, self.margin, self.weight, self.g, self.h, self.n_jobs, iteration=m)
        return np.array([largest_of(g, h) for g, h in zip(self.g, self.h)])

    def add(self, leaf: np.ndarray, values: np.ndarray, output: int) -> None:
        """Add to the margins the values of the leaves; ``leaf``: int32, by row."""
        values, n = writable(values), len(self.margin)

        def work(block: tuple[int, int]) -> None:
            add_marked(leaf, values, _ALL_ROWS, *block, self.margin, output)

        threads = parallel.threads_for(n, parallel.CODE, self.n_jobs)
        parallel.run(work, parallel.blocks(n, self.n_jobs), threads)


def largest_of(g: np.ndarray, h: np.ndarray) -> tuple[float, float]:
    """Return the largest |g| and h; infinity if one is NaN, or h is below 0.

    >>> largest_of(np.array([1, -3], np.float32), np.array([0.5, 0.25], np.float32))
    (3.0, 0.5)
    """
    found = record_table(1, PAIR)
    find_largest_of(make_given(g, h, 0), found)
    return float(found["g"][0]), float(found["h"][0])
