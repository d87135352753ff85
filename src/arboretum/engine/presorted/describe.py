"""Describing the inner nodes of a tree that is grown, from the leaf of every row.

A tree grown in one call (depth_first/) describes its nodes when it is done, and then the rows of an inner
node stand leaf by leaf: their sums have other last bits than in the order of the table, in which trees that
are grown level by level add them up. Here every row adds itself to all nodes above its leaf, in that order.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import kernel

__all__ = ["describe_above"]


@kernel(makes_arrays=True)
def describe_above(r, rows, leaf, parent, value, impurity):
    """Write mean and variance of the residuals of every node above a leaf; a row weighs 1.

    Parameters
    ----------
    r : float64 array
        Residuals of all rows.
    rows : int64 array
        Those that count, ascending.
    leaf : int64 array
        Of all rows.
    parent : int64 array
        Of every node; -1 of the root.
    value, impurity : float64 arrays
        Filled for inner nodes.

    r (n_rows,) float64; rows (n_in_bag,) int64; leaf (n_rows,) int64; parent (n_nodes,) int64; value,
    impurity (n_nodes,) float64, written.
    """
    size = len(parent)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    total, sums, centre = np.zeros(size), np.zeros(size), np.zeros(size)
    for i in range(len(rows)):
        row = rows[i]
        k, v = parent[leaf[row]], r[row]
        while k >= 0:
            low[k], high[k] = min(low[k], v), max(high[k], v)
            total[k] += 1.0
            k = parent[k]
    for k in range(size):
        centre[k] = low[k] / 2.0 + high[k] / 2.0
    for i in range(len(rows)):
        row = rows[i]
        k, v = parent[leaf[row]], r[row]
        while k >= 0:
            sums[k] += v - centre[k]
            k = parent[k]
    for k in range(size):
        if total[k] > 0.0:
            value[k] = centre[k] + sums[k] / total[k] if low[k] < high[k] else low[k]
            sums[k] = 0.0
    for i in range(len(rows)):
        row = rows[i]
        k, v = parent[leaf[row]], r[row]
        while k >= 0:
            d = v - value[k]
            sums[k] += d * d
            k = parent[k]
    for k in range(size):
        if total[k] > 0.0:
            impurity[k] = max(sums[k], 0.0) / total[k] if low[k] < high[k] else 0.0
