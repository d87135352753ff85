"""What a node holds: the sums of its targets, whether they are all equal, how impure it is."""

from __future__ import annotations

import math

import numpy as np

from arboretum.engine.compiler.decorators import addressed, inline, subkernel
from arboretum.engine.elementary import log
from arboretum.engine.fixed_point import bits_of_each, shift_for, to_grid
from arboretum.engine.split.score import x_log2_x
from arboretum.engine.split.statistic import ENTROPY, POISSON

__all__ = ["add_up", "are_alike", "drop_empty", "impurity_of", "put_on_grid", "write_impurity"]


# --------------------------------------------------------------------------- a grid of its own
@subkernel
def _range(y, o, rows, start, end):
    """Return the smallest and the largest target of one output.

    y (n_rows, n_outputs) float64; rows (n_rows,) uint32.
    """
    low = high = y[rows[start], o]
    for p in range(start, end):
        v = y[rows[p], o]
        low, high = min(low, v), max(high, v)
    return low, high


@subkernel
def put_on_grid(y, row_weight, rows, start, n, rules, number, weight):
    """Put a node's targets on a grid of its own, as `prepare_numbers` does.

    Returns (what a step of the grid is worth, middle of the first output, are all targets equal?).

    y (n_rows, n_outputs) float64, or None; row_weight (n_rows,) float64, empty or None; rows (n_rows,)
    uint32; number (n_outputs, n_rows) int64, written, or None; weight (n_rows,) int64.
    """
    if y is None:
        return 1.0, 0.0, False
    end, largest, equal, first_centre, node_weight = (
        start + np.uint64(n),
        0.0,
        True,
        0.0,
        np.float64(n),
    )
    if len(row_weight) and not rules.unit_weights:
        node_weight = 0.0
        for p in range(start, end):
            node_weight += row_weight[rows[p]]
    low = high = 0.0
    for o in range(y.shape[1]):
        low, high = _range(y, o, rows, start, end)
        equal &= low == high
        centre = 0.0 if rules.criterion == POISSON else low / 2.0 + high / 2.0
        largest = max(largest, abs(high - centre), abs(low - centre))
    shift = shift_for(largest, bits_of_each(node_weight))
    scale = math.ldexp(1.0, int(shift))
    for o in range(y.shape[1]):
        if y.shape[1] > 1:
            low, high = _range(y, o, rows, start, end)
        centre = 0.0 if rules.criterion == POISSON else low / 2.0 + high / 2.0
        if o == 0:
            first_centre = centre
        for p in range(start, end):
            v = (y[rows[p], o] - centre) * scale
            if rules.whole_weights:
                number[o, p] = to_grid(v) * weight[p]
            else:
                number[o, p] = to_grid(v * row_weight[rows[p]])
    return math.ldexp(1.0, -int(shift)) / rules.weight_step, first_centre, equal


# --------------------------------------------------------------------------- sums
@subkernel
def _count_labels(label, weight, start, n, total):
    """Write the weight of every class.

    label (n_outputs, n_rows) uint32; weight (n_rows,) int64; total (n_channels,) int64, written.
    """
    for c in range(len(total)):
        total[c] = 0
    for o in range(len(label)):
        for p in range(start, start + np.uint64(n)):
            total[label[o, p]] += weight[p]


@inline
def drop_empty(label, start, n, total, number_of):
    """Renumber the classes that a node still has; return how many there are.

    So whatever is done per class below this node is not done for classes that do not occur. A node of
    one class stays as it is: nothing comes below. ``number_of`` is scratch, one per class.

    label (n_outputs, n_rows) uint32, updated, or None; total (n_channels,) int64, updated; number_of
    (2 * n_channels,) int64, or None.
    """
    k = np.int64(0)
    if label is not None and number_of is not None:
        for c in range(len(total)):
            k += np.int64(total[c] > 0)
        if 1 < k < len(total):
            at = np.int64(0)
            for c in range(len(total)):
                weight_here, number_of[c] = total[c], at
                total[at] = weight_here
                at += np.int64(weight_here > 0)
            for p in range(start, start + np.uint64(n)):
                label[0, p] = np.uint32(number_of[label[0, p]])
    return k


@subkernel
def _sum_numbers(number, start, n, total):
    """Write the sum of every output.

    number (n_outputs, n_rows) int64; total (n_channels,) int64, written.
    """
    for o in range(len(total)):
        total[o] = 0
        for p in range(start, start + np.uint64(n)):
            total[o] += number[o, p]


@inline
def add_up(label, number, left, y, weight, start, n, sum_here, total):
    """Write the channels of a node into ``total``; one sum is known unless the node has its own grid.

    label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64, or None; left
    (2 * n_channels,) int64, or None; y (n_rows, n_outputs) float64, or None; weight (n_rows,) int64;
    total (n_channels,) int64, written.
    """
    if left is None and y is None:
        total[0] = sum_here
        return
    if label is not None:
        _count_labels(label, weight, start, n, total)
    if number is not None:
        _sum_numbers(number, start, n, total)


# --------------------------------------------------------------------------- are they equal, how impure
@subkernel
def _same_number(number, weight, start, n):
    """Return whether all targets of the first output are equal.

    number (n_outputs, n_rows) int64; weight (n_rows,) int64.
    """
    one, p = number[0, start] // weight[start], start  # a number is its weight times a whole number
    while p < start + np.uint64(n) and number[0, p] == one * weight[p]:
        p += np.uint64(1)
    return p == start + np.uint64(n)


@inline
def are_alike(label, number, weight, start, n, total, node_weight, rules):
    """Return whether all targets of a node, of each output, are equal.

    label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64, or None; weight
    (n_rows,) int64; total (n_channels,) int64.
    """
    alike = False
    if label is not None:
        full = 0
        for c in range(len(total)):
            full += np.int64(total[c] == node_weight)
        alike = full == rules.outputs
    if number is not None:
        if rules.two_classes:
            alike = total[0] == 0 or total[0] == node_weight
        else:
            alike = _same_number(number, weight, start, n)
    return alike


@subkernel
def _label_impurity(total, node_weight, rules):
    """Return the Gini index or the entropy, the mean over outputs.

    total (n_channels,) int64.
    """
    impurity = 0.0
    for c in range(len(total)):
        share = np.float64(total[c]) / np.float64(node_weight)
        if rules.criterion == ENTROPY:
            impurity -= x_log2_x(share)
        else:
            impurity += share * (1.0 - share)
    return impurity / np.float64(rules.outputs)


@subkernel
def _number_impurity(number, weight, start, n, total, node_weight, rules):
    """Return the variance or half the Poisson deviance, the mean over outputs.

    number (n_outputs, n_rows) int64; weight (n_rows,) int64; total (n_channels,) int64.
    """
    impurity = 0.0
    for o in range(len(total)):
        mean, squares = np.float64(total[o]) / np.float64(node_weight), 0.0
        for p in range(start, start + np.uint64(n)):
            w = np.float64(weight[p])
            v = np.float64(number[o, p]) / w
            if rules.criterion != POISSON:
                squares += w * (v - mean) * (v - mean)
            elif v > 0.0:
                squares += w * v * log(v / mean)
        impurity += squares / np.float64(node_weight)
    return impurity / np.float64(len(total))


@subkernel
def impurity_of(label, number, weight, start, n, total, node_weight, rules):
    """Return the impurity of a node, on its grid.

    label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64, or None; weight
    (n_rows,) int64; total (n_channels,) int64.
    """
    impurity = 0.0
    if label is not None:
        impurity = _label_impurity(total, node_weight, rules)
    if number is not None:
        if rules.two_classes:
            share = np.float64(total[0]) / np.float64(node_weight)
            impurity = share * (1.0 - share)
        else:
            impurity = _number_impurity(number, weight, start, n, total, node_weight, rules)
    return impurity


@addressed
def write_impurity(bench):
    """Write the impurity of the node at hand."""
    node, target = bench.node[0], bench.target
    total = bench.scratch.total[: node.channels]
    node.impurity = impurity_of(
        target.label, target.number, target.weight, node.start, node.n, total, node.weight,
        bench.rules,
    )  # fmt: skip
