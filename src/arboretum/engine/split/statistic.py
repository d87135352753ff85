"""What a scan adds up: the rows' labels and weights as integers, node by node.

Before a node is searched its targets are put on an integer grid of its own (fixed_point.py), chosen so that
no sum can overflow:

    q_i = round(w_i (y_i - c) 2^s)      c = middle of the node's range, |sum q| < 2^SUM_BITS
    w_i = round(w_i 2^t)                exact (t = 0) when all weights are whole numbers

The grid is finer than float64 summation would be, and because it follows the node, values of very
different size in other nodes cost no precision here. Class labels need no grid: they are counted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel
from arboretum.engine.elementary import log
from arboretum.engine.fixed_point import WEIGHT_BITS, bits_of_each, shift_for, to_grid
from arboretum.engine.split.score import (
    ABSOLUTE,
    ENTROPY,
    ERROR,
    FRIEDMAN,
    GINI,
    POISSON,
    SQUARED,
    XLOGX,
    x_log2_x,
)

__all__ = [
    "ABSOLUTE",
    "ENTROPY",
    "ERROR",
    "FRIEDMAN",
    "GINI",
    "POISSON",
    "SQUARED",
    "NodeFigures",
    "NodeRows",
    "NodeSpans",
    "SearchRules",
    "describe_classes",
    "describe_numbers",
    "prepare_classes",
    "prepare_numbers",
    "weight_of",
]


class SearchRules(NamedTuple):
    """What all searches of a tree have in common."""

    criterion: int = (
        SQUARED  # what cuts are scored by; two classes that one sum decides are SQUARED
    )
    outputs: int = 1
    min_leaf: int = 1  # rows each side needs
    min_weight: float = 0.0  # weight each side needs
    skip_missing: bool = False  # judge by present rows alone; surrogates place the others
    bounded: bool = False  # there are monotone constraints
    # (n_kept,) float64: x ln x of small whole numbers; None where squares of one sum decide
    logs: np.ndarray | None = XLOGX


class NodeRows(NamedTuple):
    """Per position (see rows/partition.py): the row that stands there, and what it adds to its side."""

    id: np.ndarray  # (n_rows,) uint32: the row
    # (n_rows, n_outputs) int64: targets on the node's grid; (n, 1) uint8 or int64: weight of class 1
    number: np.ndarray
    # (n_rows, n_outputs) int32: channel of the row's class in each output, or empty
    label: np.ndarray
    weight: np.ndarray | None  # (n_rows,) int64 on the node's grid; None when every row weighs 1


@inline
def weight_of(weights, p):
    """Return the weight of the row at a position.

    weights (n_rows,) int64, or None.
    """
    return np.int64(1) if weights is None else weights[p]


class NodeSpans(NamedTuple):
    """Per node of a batch: where its rows stand and what they add up to."""

    start: np.ndarray  # (n_nodes,) int64
    end: np.ndarray  # (n_nodes,) int64
    weight: np.ndarray  # (n_nodes,) int64: total weight on the grid
    total: np.ndarray  # (n_nodes, n_channels) int64: total of each channel on the grid
    min_weight: np.ndarray  # (n_nodes,) int64: what each side must weigh at least, on the grid
    # (n_nodes,) float64: bounds of the children's means by monotone constraints, in grid units
    lower: np.ndarray
    upper: np.ndarray
    sum_shift: np.ndarray  # (n_nodes,) int64: s
    weight_shift: np.ndarray  # (n_nodes,) int64: t
    centre: np.ndarray  # (n_nodes, n_outputs) float64: c


class NodeFigures(NamedTuple):
    """Per node: what the tree keeps of its rows."""

    value: np.ndarray  # (n_nodes, n_outputs, most classes) float64; one column for numbers
    weight: np.ndarray  # (n_nodes,) float64
    impurity: np.ndarray  # (n_nodes,) float64


@inline
def _weigh_node(weights, whole_weights, rules, rows, out, nodes, k):
    """Put the weights of a node's rows on their grid; return their sum as a number.

    weights (n_rows,) float64, or empty; rows (n_rows,) uint32; out: ``row.weight``, written.
    """
    start, end = nodes.start[k], nodes.end[k]
    total, shift, on_grid = np.float64(end - start), 0, np.int64(end - start)
    if out is not None:
        total = 0.0
        for p in range(start, end):
            total += weights[rows[p]]
        shift = 0 if whole_weights else shift_for(total, WEIGHT_BITS)
        scale = math.ldexp(1.0, int(shift))
        on_grid = np.int64(0)
        for p in range(start, end):
            v = to_grid(weights[rows[p]] * scale)
            out[p] = v
            on_grid += v
    nodes.weight_shift[k], nodes.weight[k] = shift, on_grid
    nodes.min_weight[k] = np.int64(math.ceil(rules.min_weight * math.ldexp(1.0, int(shift))))
    return total


@kernel
def prepare_classes(labels, offsets, weights, whole_weights, rules, row, nodes):
    """Copy labels next to their rows, weigh them and count every class of every node.

    Class c of output o is channel ``offsets[o] + c``. Of two classes of one output the weight of the
    second is the only sum that matters: without channels it becomes the row's number.

    labels (n_rows, n_outputs) int32; offsets (n_outputs,) int64; weights (n_rows,) float64, or empty.
    """
    for k in range(len(nodes.start)):
        _weigh_node(weights, whole_weights, rules, row.id, row.weight, nodes, k)
        nodes.sum_shift[k] = nodes.weight_shift[k]  # the channels are weights
        for c in range(nodes.total.shape[1]):
            nodes.total[k, c] = 0
        total = np.int64(0)
        for p in range(nodes.start[k], nodes.end[k]):
            w = weight_of(row.weight, p)
            if len(row.label) == 0:
                v = w * labels[row.id[p], 0]
                row.number[p, 0] = v
                total += v
                continue
            for o in range(labels.shape[1]):
                channel = offsets[o] + labels[row.id[p], o]
                row.label[p, o] = channel
                nodes.total[k, channel] += w
        if len(row.label) == 0:
            nodes.total[k, 0] = total


@kernel
def prepare_numbers(y, weights, whole_weights, rules, row, nodes):
    """Put every node's targets on its grid; c = 0 for Poisson, which needs true sums.

    y (n_rows, n_outputs) float64; weights (n_rows,) float64, or empty.
    """
    rows = row.id
    for k in range(len(nodes.start)):
        start, end = nodes.start[k], nodes.end[k]
        total_weight = _weigh_node(weights, whole_weights, rules, row.id, row.weight, nodes, k)
        largest = 0.0
        for o in range(y.shape[1]):
            low = high = y[rows[start], o]
            for p in range(start + 1, end):
                v = y[rows[p], o]
                low = min(low, v)
                high = max(high, v)
            centre = 0.0 if rules.criterion == POISSON else low / 2.0 + high / 2.0
            nodes.centre[k, o] = centre
            largest = max(largest, max(abs(high - centre), abs(low - centre)))
        # one grid for all outputs, so that their sums can be added up
        shift = shift_for(largest, bits_of_each(total_weight))
        nodes.sum_shift[k] = shift
        scale = math.ldexp(1.0, int(shift))
        for o in range(y.shape[1]):
            centre = nodes.centre[k, o]
            total = np.int64(0)
            for p in range(start, end):
                v = (y[rows[p], o] - centre) * scale
                if len(weights) and not whole_weights:
                    v *= weights[rows[p]]
                g = to_grid(v)
                if whole_weights:
                    g *= weight_of(row.weight, p)
                row.number[p, o] = g
                total += g
            nodes.total[k, o] = total


@kernel
def describe_classes(rows, labels, classes, weights, start, end, criterion, figures):
    """Write class probabilities, weight and impurity (Gini, entropy in bits, or error; mean over outputs).

    rows (n_rows,) uint32; labels (n_rows, n_outputs) int32; classes (n_outputs,) int64; weights
    (n_rows,) float64, or empty; start, end (n_nodes,) int64.
    """
    value, weight, impurity = figures.value, figures.weight, figures.impurity
    for k in range(len(start)):
        for o in range(value.shape[1]):
            for c in range(value.shape[2]):
                value[k, o, c] = 0.0
        total = 0.0
        for p in range(start[k], end[k]):
            w = weights[rows[p]] if len(weights) else 1.0
            total += w
            for o in range(labels.shape[1]):
                value[k, o, labels[rows[p], o]] += w
        weight[k] = total
        impurity[k] = 0.0
        for o in range(labels.shape[1]):
            unevenness = 0.0 if criterion == ENTROPY else 1.0
            largest = 0.0
            for c in range(classes[o]):
                share = value[k, o, c] / total
                value[k, o, c] = share
                largest = max(largest, share)
                if criterion != ERROR:
                    unevenness -= x_log2_x(share) if criterion == ENTROPY else share * share
            if criterion == ERROR:
                unevenness -= largest
            impurity[k] += max(unevenness, 0.0) / labels.shape[1]


@kernel
def describe_numbers(rows, y, weights, start, end, poisson, figures):
    """Write mean, weight and impurity (variance, or half the Poisson deviance; mean over outputs).

    rows (n_rows,) uint32; y (n_rows, n_outputs) float64; weights (n_rows,) float64, or empty; start, end
    (n_nodes,) int64.
    """
    value, weight, impurity = figures.value, figures.weight, figures.impurity
    for k in range(len(start)):
        lo, hi = start[k], end[k]
        impurity[k] = 0.0
        total = 0.0
        for p in range(lo, hi):
            total += weights[rows[p]] if len(weights) else 1.0
        weight[k] = total
        for o in range(y.shape[1]):
            low = high = y[rows[lo], o]
            for p in range(lo + 1, hi):
                v = y[rows[p], o]
                low, high = min(low, v), max(high, v)
            centre = low / 2.0 + high / 2.0
            above = 0.0
            for p in range(lo, hi):
                above += (y[rows[p], o] - centre) * (weights[rows[p]] if len(weights) else 1.0)
            mean = centre + above / total if low < high else low
            value[k, o, 0] = mean
            spread = 0.0
            if low < high:
                for p in range(lo, hi):
                    v = y[rows[p], o]
                    w = weights[rows[p]] if len(weights) else 1.0
                    if not poisson:
                        spread += w * (v - mean) * (v - mean)
                    elif v > 0.0:
                        spread += w * v * log(v / mean)
            impurity[k] += max(spread, 0.0) / total / y.shape[1]
