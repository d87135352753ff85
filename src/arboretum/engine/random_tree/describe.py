"""What the nodes of a grown tree answer, and which categories go where.

Rows stay node by node while a tree grows, so what a node knew can be read off them afterwards: the value
of a leaf, and the categories on either side of a division. A category that no row of the node had goes
with the heavier side.
"""

from __future__ import annotations

import math

import numpy as np

from arboretum.engine.jit import inline, kernel
from arboretum.engine.statistic import GINI

__all__ = ["describe_nodes", "write_sets"]


@inline
def _bits(share):
    return share * math.log2(share) if share > 0.0 else 0.0


@kernel
def describe_nodes(out, nodes, rows, number, label, weight, rules, centre, sums, answer):
    """Write every node's value, impurity and weight; leaves from their rows, others from children.

    ``sums`` is scratch: the weight of every class; or the weight, Σ w (y - c) and Σ w (y - c)².
    """
    value, impurity, node_weight = answer
    for node in range(nodes - 1, -1, -1):
        child = out.first_child[node]
        for c in range(sums.shape[1]):
            sums[node, c] = sums[child, c] + sums[child + 1, c] if child >= 0 else 0.0
        if child < 0:
            for i in range(out.start[node], out.end[node]):
                w = weight[rows[i]]
                if len(label):
                    sums[node, label[rows[i]]] += w
                else:
                    d = number[rows[i]] - centre
                    sums[node, 0] += w
                    sums[node, 1] += w * d
                    sums[node, 2] += w * d * d
        if len(label) == 0:
            whole = sums[node, 0]
            mean, square = sums[node, 1] / whole, sums[node, 2] / whole
            value[node, 0], node_weight[node] = centre + mean, whole
            spread = square - mean * mean
            impurity[node] = spread if spread > 1e-15 * square else 0.0  # or only rounding
            continue
        whole = 0.0
        for c in range(sums.shape[1]):
            whole += sums[node, c]
        inside, pure = 0.0, False
        for c in range(sums.shape[1]):
            share = sums[node, c] / whole
            value[node, c] = share
            inside += share * share if rules.criterion == GINI else -_bits(share)
            pure |= sums[node, c] == whole
        node_weight[node] = whole
        impurity[node] = 0.0 if pure else (1.0 - inside if rules.criterion == GINI else inside)


@kernel
def write_sets(codes, n_codes, rows, out, absent_left, nodes, bits_start, bits):
    """Write the set of categories that go left for every node of ``nodes``.

    ``absent_left``: does a category go left that the node did not meet?
    """
    for i in range(len(nodes)):
        node, first = nodes[i], bits_start[i]
        f, child = out.feature[node], out.first_child[node]
        size = n_codes[f]
        filling = np.uint32(0xFFFFFFFF) if absent_left[i] else np.uint32(0)
        for k in range((size + 31) // 32):
            bits[first + k] = filling
        if absent_left[i] and size % 32:  # bits that stand for no category are 0
            bits[first + size // 32] = np.uint32((1 << (size % 32)) - 1)
        other = child + 1 if absent_left[i] else child
        for p in range(out.start[other], out.end[other]):
            c = np.int64(codes[f, rows[p]])
            if c < size:
                mask = np.uint32(1 << (c % 32))
                if absent_left[i]:
                    bits[first + c // 32] &= ~mask
                else:
                    bits[first + c // 32] |= mask
