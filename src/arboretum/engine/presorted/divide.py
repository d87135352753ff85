"""The rows of a tree, node by node: rows go to their side, and the children are described.

    order    7  2  9 | 4  0 | 5  8  1      rows in the bag, grouped by node, ascending
    node 1           └──────┘              begin and size of every node; then the same for rows out of the bag

A row's side follows from its own value, as it will in prediction. Rows out of the bag move too: they get the
predictions of their leaf, but do not influence them. The sums of a node are added up in the order of the
table, and kept in registers meanwhile.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.fixed_point import to_grid
from arboretum.engine.presorted.row_layout import CATEGORIES, SHIFT, SLOT

__all__ = [
    "describe_node",
    "divide_node",
    "gather_rows",
    "place_rows",
    "write_leaves",
    "write_numbers",
]


@subkernel
def gather_rows(inside, work):
    """Put all rows into node 0; ``inside`` marks those in the bag, empty if all are.

    inside (n_rows,) uint8, or empty; work (node, words, order, ...) a `LevelWork`.
    """
    n, order = len(work.order), work.order
    size = n
    if len(inside):
        size = 0
        for i in range(n):
            size += np.int64(inside[i] > 0)
    at, other = 0, size
    for i in range(n):
        if len(inside) == 0 or inside[i]:
            order[at] = np.uint32(i)
            at += 1
        else:
            order[other] = np.uint32(i)
            other += 1
    work.begin[0, 0], work.begin[1, 0] = 0, size
    work.size[0, 0], work.size[1, 0] = size, n - size


@subkernel
def _divide_rows(values, threshold, bits, missing_right, order, first, end, spare):
    """Put the rows from first to end that go left before the others; return how many do.

    ``bits``: the categories that go left; None for numbers, which do up to ``threshold``.

    values (n_rows,) float64; bits (n_words,) uint32, or None; order (n_rows,) uint32, updated; spare
    (n_rows,) uint32, scratch.
    """
    left, right = np.uint64(first), np.uint64(0)
    for p in range(np.uint64(first), np.uint64(end)):
        row = order[p]
        x = values[np.uint64(row)]
        goes_right = np.uint64((x > threshold) | ((x != x) & missing_right))
        if bits is not None:
            code = np.uint64(0 if x != x else x)
            in_set = (bits[code >> np.uint64(5)] >> np.uint32(code & np.uint64(31))) & np.uint32(1)
            goes_right = np.uint64(missing_right if x != x else in_set == 0)
        order[left], spare[right] = row, row
        left += np.uint64(1) - goes_right
        right += goes_right
    for j in range(right):
        order[left + j] = spare[j]
    return np.int64(left) - first


@subkernel
def divide_node(table, nodes, node, work):
    """Move the rows of a divided node to its children.

    work (node, words, order, ...) a `LevelWork`.
    """
    f, child = np.uint64(nodes.feature[node]), nodes.first_child[node]
    missing_right, values, bits = nodes.missing_child[node] == 1, table.values[f], nodes.bits
    for part in range(2):
        first = work.begin[part, node]
        end = first + work.size[part, node]
        if table.kind[f] == CATEGORIES:
            left = _divide_rows(
                values, np.nan, bits[nodes.bits_start[node] :], missing_right, work.order, first, end,
                work.spare,
            )  # fmt: skip
        else:
            left = _divide_rows(
                values,
                nodes.threshold[node],
                None,
                missing_right,
                work.order,
                first,
                end,
                work.spare,
            )
        work.begin[part, child], work.size[part, child] = first, left
        work.begin[part, child + 1], work.size[part, child + 1] = first + left, end - first - left
        work.size[part, node] = 0


@subkernel
def describe_node(r, weight, work, k, nodes):
    """Write weight, mean, impurity and rows in the bag of a node."""
    order, first = work.order, np.uint64(work.begin[0, k])
    end = first + np.uint64(work.size[0, k])
    total, mean, impurity, low, high = 0.0, 0.0, 0.0, np.inf, -np.inf
    for p in range(first, end):
        i = np.uint64(order[p])
        w, v = weight[i] if len(weight) else 1.0, r[i]
        total += w
        mean += w * v
        low, high = min(low, v), max(high, v)
    mean = mean / total if low < high else low
    if low < high:
        for p in range(first, end):
            i = np.uint64(order[p])
            d = r[i] - mean
            impurity += d * d * (weight[i] if len(weight) else 1.0)
        impurity /= total
    nodes.weight[k], nodes.mean[k], nodes.impurity[k] = total, mean, impurity
    nodes.count[k] = work.size[0, k]


@subkernel
def write_numbers(r, weight, whole_weights, scale, words):
    """Write what every row adds to its word: see row_layout.py.

    ``scale`` puts residuals on their grid; times weights, unless these are whole numbers: then a scan
    multiplies, and a row of weight 2 is exactly two rows.

    r (n_rows,) float64; weight (n_rows,) float64, or empty; words (n_rows,) int64, written.
    """
    for i in range(len(r)):
        v = r[i] * scale
        if len(weight) and not whole_weights:
            v *= weight[i]
        words[i] = to_grid(v) << SHIFT


@subkernel
def place_rows(row_weight, whole_weights, work):
    """Write the place of its node in the level to the word of every row; add up the rows of every node.

    The node behind the last one holds the other rows.
    """
    order, words, nobody, k = work.order, work.words, work.n_open[0], 0
    number_bits = ~np.int64(SLOT)
    for node in range(work.n_nodes[0]):
        slot = nobody
        if k < nobody and work.ids[k] == node:
            slot = k
            k += 1
        first = np.uint64(work.begin[0, node])
        number, weight = np.int64(0), np.int64(0)
        for p in range(first, first + np.uint64(work.size[0, node])):
            i = np.uint64(order[p])
            w = row_weight[i] if len(row_weight) else np.int64(1)
            number += (words[i] >> SHIFT) * (w if whole_weights else np.int64(1))
            weight += w
            words[i] = (words[i] & number_bits) | slot
        work.weight[slot], work.rows[slot] = np.float64(weight), work.size[0, node]
        work.mean[slot] = np.float64(number) / max(work.weight[slot], 1.0)
    for p in range(np.uint64(work.begin[1, 0]), np.uint64(len(order))):
        words[np.uint64(order[p])] = nobody
    work.mean[nobody], work.weight[nobody], work.rows[nobody] = 0.0, 0.0, 0


@kernel
def write_leaves(work):
    """Write the leaf of every row."""
    for node in range(work.n_nodes[0]):
        for part in range(2):
            first = np.uint64(work.begin[part, node])
            for p in range(first, first + np.uint64(work.size[part, node])):
                work.node[np.uint64(work.order[p])] = np.uint16(node)
