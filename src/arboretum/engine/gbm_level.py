"""Dividing the nodes of a level: every row of the table takes its side, and the children are described.

A row's side follows from where it stands in the order of its node's column, so no value is looked at. Rows
out of the bag move too: they take the steps of their leaf, though they have no say in them.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.jit import kernel
from arboretum.engine.order import POSITION

__all__ = ["describe_new", "divide_level"]


@kernel
def divide_level(table, ids, splits, node, side):
    """Move every row of a divided node to a child.

    Parameters
    ----------
    table : tuple
        (order of the rows by every column; how many of them have a value).
    ids : int64 array
        The nodes divided now.
    splits : tuple
        Of every node: column; how many entries of the column's order go left; the child missing values
        take; the first child, -1 for none. Nodes divided before have no rows any more.
    node : uint16 array
        Of every row; becomes the child.
    side : uint8 array
        Scratch: zeros, and zeros again afterwards.
    """
    lists, presents = table
    feature, cut, missing_child, first_child = splits
    n = len(node)
    for j in range(len(ids)):
        f, last, done, gone = feature[ids[j]], cut[ids[j]], False, False
        for other in range(len(ids)):  # one pass for all nodes that ask about the column
            if feature[ids[other]] == f:
                done |= other < j
                last = max(last, cut[ids[other]])
                gone |= missing_child[ids[other]] == 0
        if done:
            continue
        entries = lists[f]
        for i in range(last):
            row = np.uint64(entries[i] & POSITION)
            k = np.uint64(node[row])
            if i < cut[k] and feature[k] == f:
                side[row] = 1
        if gone:
            for i in range(presents[f], n):
                row = np.uint64(entries[i] & POSITION)
                k = np.uint64(node[row])
                if missing_child[k] == 0 and feature[k] == f:
                    side[row] = 1
    for i in range(n):
        child = first_child[np.uint64(node[i])]
        if child >= 0:
            node[i] = child + 1 - np.int64(side[i])
        side[i] = 0


@kernel
def describe_new(r, weight, rows, node, first, stats, count):
    """Write weight, mean, impurity, smallest and largest residual of the nodes from ``first`` on.

    ``rows`` are those in the bag, empty for all; ``stats`` is (5, nodes) in this order, ``count`` the number
    of rows in the bag.
    """
    whole, mean, impurity, low, high = stats
    n = len(rows) if len(rows) else len(r)
    for k in range(first, len(count)):
        whole[k] = mean[k] = impurity[k] = 0.0
        low[k], high[k] = np.inf, -np.inf
        count[k] = 0
    for j in range(n):
        i = np.uint64(rows[j]) if len(rows) else np.uint64(j)
        if node[i] >= first:
            k = np.uint64(node[i])
            w = weight[i] if len(weight) else 1.0
            whole[k] += w
            mean[k] += w * r[i]
            low[k], high[k] = min(low[k], r[i]), max(high[k], r[i])
            count[k] += 1
    for k in range(first, len(count)):
        mean[k] = mean[k] / whole[k] if low[k] < high[k] else low[k]
    for j in range(n):
        i = np.uint64(rows[j]) if len(rows) else np.uint64(j)
        if node[i] >= first:
            k = np.uint64(node[i])
            d = r[i] - mean[k]
            impurity[k] += d * d * (weight[i] if len(weight) else 1.0)
    for k in range(first, len(count)):
        impurity[k] = impurity[k] / whole[k] if low[k] < high[k] else 0.0
