"""Monotone constraints: what the means of nodes may be.

A cut of a constrained column puts a bound between the means of both children, which holds for all that is
grown from them.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import subkernel

__all__ = ["bound_children", "bounds_of"]


@subkernel
def bounds_of(bounds, node):
    """Return what a node's mean may be, on its grid.

    bounds (most nodes, 2) float64, or None.
    """
    if bounds is None:
        return -np.inf, np.inf
    k = node.number
    return (bounds[k, 0] - node.middle) / node.unit, (bounds[k, 1] - node.middle) / node.unit


@subkernel
def bound_children(bounds, bench, child, left_sum, left_weight, label):
    """Keep both children's means inside their parent's bounds, and apart from each other.

    bounds (most nodes, 2) float64, updated, or None; label (n_outputs, n_rows) uint32, or None.
    """
    if bounds is None:
        return
    node, weight = bench.node[0], bench.target.weight
    lower, upper = bounds[node.number, 0], bounds[node.number, 1]
    for c in range(2):
        bounds[child + c, 0], bounds[child + c, 1] = lower, upper
    sign = bench.features.sign[node.feature]
    if sign == 0:
        return
    everything = bench.scratch.total[
        node.channels - 1
    ]  # the last of two classes, or the number itself
    if label is not None:
        left_sum = np.int64(0)
        for p in range(node.start, node.start + np.uint64(node.many)):
            left_sum += weight[p] * np.int64(label[0, p] == 1)
    middle, step, right_weight = node.middle, node.unit, node.weight - left_weight
    left = middle + step * np.float64(left_sum) / np.float64(left_weight)
    right = middle + step * np.float64(everything - left_sum) / np.float64(right_weight)
    between = min(max(left, lower), upper) / 2 + min(max(right, lower), upper) / 2
    if sign > 0:
        bounds[child, 1], bounds[child + 1, 0] = between, between
    else:
        bounds[child, 0], bounds[child + 1, 1] = between, between
