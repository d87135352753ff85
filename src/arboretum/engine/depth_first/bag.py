"""The rows of a tree, and what they weigh and add, laid out before its root is searched."""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import subkernel

__all__ = ["lay_out"]


@subkernel
def lay_out(weights, labels, numbers, rows, target):
    """Write the rows of a tree, and what they weigh and add; return (how many, weight, sum).

    weights (n_rows,) int64; labels (n_outputs, n_rows) uint32, or None; numbers (n_rows,) int64, or
    None; rows (room,) uint32, written.
    """
    m, node_weight, total = np.uint64(0), np.int64(0), np.int64(0)
    for i in range(len(weights)):
        row = np.uint64(i)
        w = weights[row]
        if w == 0:
            continue
        rows[m], target.weight[m] = row, w
        node_weight += w
        m += np.uint64(1)
    _lay_labels(labels, rows, m, target.label)
    if numbers is not None:
        total = _lay_numbers(numbers, rows, m, target.weight, target.number)
    return np.int64(m), node_weight, total


@subkernel
def _lay_labels(labels, rows, m, label):
    """Write the labels of the first m rows by position.

    labels (n_outputs, n_rows) uint32, or None; rows (room,) uint32; label (n_outputs, n_rows) uint32,
    written, or None.
    """
    if labels is not None:
        for o in range(len(labels)):
            for i in range(m):
                label[o, i] = labels[o, rows[i]]


@subkernel
def _lay_numbers(numbers, rows, m, weight, number):
    """Write weight times target of the first m rows by position; return their sum.

    numbers (n_rows,) int64; rows (room,) uint32; weight (n_rows,) int64; number (n_outputs, n_rows)
    int64, written, or None.
    """
    total = np.int64(0)
    if number is not None:
        for i in range(m):
            number[0, i] = numbers[rows[i]] * weight[i]
            total += number[0, i]
    return total
