"""What the nodes of a grown tree answer: value, impurity and weight, from the leaves upwards."""

from __future__ import annotations

import math

from arboretum.engine.jit import inline, kernel
from arboretum.engine.statistic import GINI

__all__ = ["describe_nodes"]


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
