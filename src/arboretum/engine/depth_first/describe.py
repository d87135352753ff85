"""What the nodes of a grown tree answer, and which categories go where.

Rows stay node by node while a tree grows, so what a node held can be read off them afterwards: the value
of a leaf, and the categories on either side of a split. A category that no row of the node had goes
with the heavier side.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.split.score import x_log2_x

__all__ = ["describe_classes", "describe_numbers", "write_sets"]


@kernel
def describe_classes(out, rows, label, weight, gini, sums, value, impurity, node_weight):
    """Write class probabilities, impurity and weight of all nodes; leaves from rows, others from children.

    rows (n_bag_rows,) uint32; label (n_rows,) int32; weight (n_trees, n_rows) float64; sums
    (n_nodes, n_classes) float64, scratch; value (n_nodes, n_classes) float64, written; impurity,
    node_weight (n_nodes,) float64, written.
    """
    first_child, start, end, width = out.first_child, out.start, out.end, np.uint64(sums.shape[1])
    for t in range(len(weight)):
        root, last = out.node_start[t], out.node_start[t + 1]
        for node in range(last - 1, root - 1, -1):
            at, child = np.uint64(node), first_child[node]
            if child >= 0:
                one = np.uint64(root + child)
                for c in range(width):
                    sums[at, c] = sums[one, c] + sums[one + np.uint64(1), c]
            else:
                for c in range(width):
                    sums[at, c] = 0.0
                if end[at] - start[at] == 1:
                    row = rows[np.uint64(start[at])]
                    for c in range(width):
                        value[at, c] = 0.0
                    sums[at, np.uint64(label[row])] = node_weight[at] = weight[t, row]
                    value[at, np.uint64(label[row])], impurity[at] = 1.0, 0.0
                    continue
                for i in range(start[at], end[at]):
                    row = rows[np.uint64(i)]
                    sums[at, np.uint64(label[row])] += weight[t, row]
            weight_here = 0.0
            for c in range(width):
                weight_here += sums[at, c]
            inside, pure = 0.0, False
            for c in range(width):
                share = sums[at, c] / weight_here
                value[at, c] = share
                inside += share * share if gini else -x_log2_x(share)
                pure |= sums[at, c] == weight_here
            node_weight[at] = weight_here
            impurity[at] = 0.0 if pure else (1.0 - inside if gini else inside)


@kernel
def describe_numbers(out, rows, number, weight, centre, sums, value, impurity, node_weight):
    """`describe_classes` for one number; ``sums``: the weight, Σ w (y - centre) and Σ w (y - centre)².

    rows (n_bag_rows,) uint32; number (n_rows,) float64; weight (n_trees, n_rows) float64; sums
    (n_nodes, 3) float64, scratch; value (n_nodes, 1) float64, written; impurity, node_weight (n_nodes,)
    float64, written.
    """
    first_child, start, end = out.first_child, out.start, out.end
    for t in range(len(weight)):
        root, last = out.node_start[t], out.node_start[t + 1]
        for node in range(last - 1, root - 1, -1):
            at, child = np.uint64(node), first_child[node]
            if child >= 0:
                one = np.uint64(root + child)
                for c in range(3):
                    sums[at, c] = sums[one, c] + sums[one + np.uint64(1), c]
            else:
                for c in range(3):
                    sums[at, c] = 0.0
                for i in range(start[at], end[at]):
                    row = rows[np.uint64(i)]
                    w, d = weight[t, row], number[row] - centre
                    sums[at, 0] += w
                    sums[at, 1] += w * d
                    sums[at, 2] += w * d * d
            weight_here = sums[at, 0]
            mean, square = sums[at, 1] / weight_here, sums[at, 2] / weight_here
            value[at, 0], node_weight[at] = centre + mean, weight_here
            spread = square - mean * mean
            impurity[at] = spread if spread > 1e-15 * square else 0.0  # or only rounding


@kernel
def write_sets(codes, n_codes, words, rows, out, bits_start, bits, tree_end):
    """Write which categories go left at every node that needs a set, tree after tree.

    ``words`` is how many words of ``bits`` a set of every column takes, 0 for numbers. Categories that no
    row of a node has go where missing ones go. ``bits_start`` is counted from the tree's first set;
    ``tree_end`` is where a tree's sets end.

    codes (n_columns, n_rows) int32 or int64 or uint16 or uint32; n_codes, words (n_columns,) int64; rows
    (n_bag_rows,) uint32; bits_start (n_nodes,) int64, written; bits (n_words,) uint32, written; tree_end
    (n_trees,) int64, written.
    """
    feature, first_child, start, end = out.feature, out.first_child, out.start, out.end
    at = np.int64(0)
    for t in range(len(tree_end)):
        root, first = out.node_start[t], at
        for node in range(root, out.node_start[t + 1]):
            here, f = np.uint64(node), np.uint64(max(feature[node], 0))
            if feature[node] < 0 or words[f] == 0:
                bits_start[here] = -1
                continue
            bits_start[here] = at - first
            size, goes_left, word = (
                np.uint64(n_codes[f]),
                out.missing_child[here] == 0,
                np.uint64(at),
            )
            at += words[f]
            for k in range(words[f]):
                bits[word + np.uint64(k)] = np.uint32(0xFFFFFFFF) if goes_left else np.uint32(0)
            over = size & np.uint64(31)
            if goes_left and over:  # bits that stand for no category are 0
                bits[np.uint64(at - 1)] = np.uint32((np.uint64(1) << over) - np.uint64(1))
            other = np.uint64(root + first_child[here] + np.int64(goes_left))
            for p in range(start[other], end[other]):
                c = np.uint64(codes[f, rows[np.uint64(p)]])
                if c < size:
                    mask = np.uint32(np.uint64(1) << (c & np.uint64(31)))
                    if goes_left:
                        bits[word + (c >> np.uint64(5))] &= ~mask
                    else:
                        bits[word + (c >> np.uint64(5))] |= mask
        tree_end[t] = at
