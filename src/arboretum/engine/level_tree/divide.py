"""Dividing the nodes of a level: every row of the table takes its side, and the children are described.

A row's side follows from its own value, as it will when the tree is asked. Rows out of the bag move too: they
take the steps of their leaf, though they have no say in them.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.jit import leaf_kernel
from arboretum.engine.level_tree.words import CATEGORIES

__all__ = ["describe_new", "divide_level"]


@leaf_kernel
def divide_level(table, nodes, node):
    """Move every row of a divided node to a child; ``node``: uint16, of every row.

    Nodes divided before have no rows any more.
    """
    feature, threshold, first_child = nodes.feature, nodes.threshold, nodes.first_child
    for i in range(len(node)):
        k = np.uint64(node[i])
        child = first_child[k]
        if child < 0:
            continue
        f = np.uint64(feature[k])
        x = table.values[f, np.uint64(i)]
        if np.isnan(x):
            right = nodes.missing_child[k]
        elif table.kind[f] == CATEGORIES:
            code = np.uint64(x)
            word = nodes.bits[np.uint64(nodes.bits_start[k]) + (code >> np.uint64(5))]
            right = 1 - np.int32((word >> np.uint32(code & np.uint64(31))) & np.uint32(1))
        else:
            right = np.int32(x > threshold[k])
        node[i] = child + right


@leaf_kernel
def describe_new(r, weight, rows, node, first, end, stats, count):
    """Write weight, mean, impurity, smallest and largest residual of the nodes from ``first`` to ``end``.

    ``rows`` are those in the bag, empty for all; ``stats`` is (5, nodes) in this order, ``count`` the number
    of rows in the bag.
    """
    node_weight, mean, impurity, low, high = stats[0], stats[1], stats[2], stats[3], stats[4]
    n = len(rows) if len(rows) else len(r)
    for k in range(first, end):
        node_weight[k] = mean[k] = impurity[k] = 0.0
        low[k], high[k] = np.inf, -np.inf
        count[k] = 0
    for j in range(n):
        i = np.uint64(rows[j]) if len(rows) else np.uint64(j)
        if node[i] >= first:
            k = np.uint64(node[i])
            w = weight[i] if len(weight) else 1.0
            node_weight[k] += w
            mean[k] += w * r[i]
            low[k], high[k] = min(low[k], r[i]), max(high[k], r[i])
            count[k] += 1
    for k in range(first, end):
        mean[k] = mean[k] / node_weight[k] if low[k] < high[k] else low[k]
    for j in range(n):
        i = np.uint64(rows[j]) if len(rows) else np.uint64(j)
        if node[i] >= first:
            k = np.uint64(node[i])
            d = r[i] - mean[k]
            impurity[k] += d * d * (weight[i] if len(weight) else 1.0)
    for k in range(first, end):
        impurity[k] = impurity[k] / node_weight[k] if low[k] < high[k] else 0.0
