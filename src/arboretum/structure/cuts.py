"""Where trees cut a column: how many of their thresholds lie in each of some ranges."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from arboretum.structure.tree import THRESHOLD, Tree

__all__ = ["cut_histogram"]


def cut_histogram(
    trees: Iterable[Tree], feature: int, bins: int | str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts and edges of `numpy.histogram` for the thresholds on a column.

    Parameters
    ----------
    trees : iterable of Tree
    feature : int
        Index of the column.
    bins : int, str or None
        As for `numpy.histogram`; None, or more bins than thresholds: one bin for each different threshold.

    Examples
    --------
    >>> from arboretum import CARTRegressor
    >>> tree = CARTRegressor().fit([[0.0], [1.0], [4.0]], [0.0, 1.0, 5.0]).tree_
    >>> cut_histogram([tree], 0)
    (array([1, 1]), array([0.5, 1.5, 2.5]))
    """
    cuts = [one.threshold[(one.feature == feature) & (one.kind == THRESHOLD)] for one in trees]
    values = np.concatenate([np.empty(0), *cuts])
    values = values[np.isfinite(values)]  # inf: "is a value present?"
    if not isinstance(bins, str):
        different = len(np.unique(values))
        bins = max(different if bins is None else min(bins, different), 1)
    return np.histogram(values, bins)
