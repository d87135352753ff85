"""A whole tree in one call: what forests grow, thousands of nodes, depth first.

A forest's trees are independent, so threads take trees, and one compiled call grows one of them. It
works depth first on rows kept node by node:

    rows   7 2 9 4 5 1        a cut puts the left rows first:      7 9 5 | 2 4 1
    root   ^         ^                                             left    right

A branch that has become small gets a copy of its columns, so that it finds them in the cache. Columns
are drawn, keys handed to children and ties broken as in the level-wise search (drawn.py): on data
without rounding ties both grow the same tree. Cuts come from seedling_cuts.py or seedling_random.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.jit import inline, kernel, leaf_kernel
from arboretum.engine.random import mix
from arboretum.engine.seedling_cuts import best_cut
from arboretum.engine.seedling_random import cut_pair, gone_of, random_cut
from arboretum.engine.statistic import GINI

__all__ = ["Grown", "Room", "Rules", "Table", "grow_tree"]

_NEAR = 1 << 20  # bytes of a branch's columns that are copied together
_ONE = np.uint64(1)


class Table(NamedTuple):
    """The columns and the target of a forest, the same for all its trees."""

    codes: np.ndarray  # (columns, n) unsigned, rank of the value; n_codes means missing; or empty
    values: (
        np.ndarray
    )  # (columns, n) int64 or int32, see `ordered_bits`; or empty: random splits only
    n_codes: np.ndarray  # (columns,) int64
    worded: np.ndarray  # (columns,) bool: cuts are ranks, not middles
    origin: np.ndarray  # (n,) uint32, the rows' own numbers; empty if they are numbered so here


class Grown(NamedTuple):
    """Room for the nodes of one tree."""

    feature: np.ndarray  # int32, -1 at a leaf
    threshold: np.ndarray  # float64; NaN if it lies between the values of two rows:
    below: np.ndarray  # uint32, a row of the largest value on the left
    above: np.ndarray  # uint32, a row of the smallest value on the right
    first_child: np.ndarray  # int32
    missing_child: np.ndarray  # int8
    gain: np.ndarray  # float64
    start: np.ndarray  # uint32, where the rows of a node stand
    end: np.ndarray  # uint32
    weight: np.ndarray  # int64, of its rows, on the grid
    total: np.ndarray  # int64, of their numbers


class Rules(NamedTuple):
    """When to divide a node, and how."""

    criterion: int
    max_features: int
    random_splits: bool
    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: int  # on the grid, as all weights
    min_decrease: float  # of the weighted impurity, as a share of the whole weight
    gain_unit: float  # what a score is to be multiplied by


class Room(NamedTuple):
    """What a search writes on."""

    keys: np.ndarray  # uint64, as many as rows
    spare: np.ndarray
    counts: np.ndarray  # uint32
    x: np.ndarray  # the type of the table's values
    left: np.ndarray  # int64, a number per class
    total: np.ndarray
    order: np.ndarray  # int64, the columns
    ends: np.ndarray  # three float64 or float32
    bits: np.ndarray  # the same memory as whole numbers
    logs: np.ndarray  # x ln x of small whole numbers: only read


# columns of a stack: a branch that waits, and what is known of it
_START, _END, _NODE, _DEPTH, _KEY, _WEIGHT, _SUM = 0, 1, 2, 3, 4, 5, 6


@leaf_kernel
def _push(stack, at, start, end, node, depth, key, weight, total):
    stack[at, _START], stack[at, _END] = start, end
    stack[at, _NODE], stack[at, _DEPTH], stack[at, _KEY] = node, depth, np.int64(key)
    stack[at, _WEIGHT], stack[at, _SUM] = weight, total


@leaf_kernel
def _is_pure(label, number, weight, start, end, rules, whole, total):
    """Tell whether all targets of a node are equal; counts its classes on the way."""
    if len(label):
        for c in range(len(total)):
            total[c] = 0
        for p in range(start, end):
            total[label[p]] += weight[p]
        pure = False
        for c in range(len(total)):
            pure |= total[c] == whole
        return pure
    if rules.criterion == GINI:  # two classes: the number is the weight of class 1
        return total[0] == 0 or total[0] == whole
    mean, squares = np.float64(total[0]) / np.float64(whole), 0.0
    for p in range(start, end):
        w = np.float64(weight[p])
        d = np.float64(number[p]) / w - mean
        squares += w * d * d
    return squares < 0.2  # two different whole numbers make at least 1/4


@leaf_kernel
def _move(values, start, n, side_of, spare):
    """Put the values that go left first, in their order."""
    at, others = start, np.uint64(0)
    for i in range(n):
        v, goes = values[start + np.uint64(i)], np.uint64(side_of[i])
        values[at] = v
        spare[others] = v
        at += goes
        others += _ONE - goes
    for i in range(np.int64(others)):
        values[at + np.uint64(i)] = spare[i]


@leaf_kernel
def _move_sum(values, start, n, side_of, spare):
    """`_move`; return the sum of those that went left."""
    at, others, total = start, np.uint64(0), np.int64(0)
    for i in range(n):
        v, goes = values[start + np.uint64(i)], np.uint64(side_of[i])
        values[at] = v
        spare[others] = v
        at += goes
        others += _ONE - goes
        total += v & -np.int64(goes)
    for i in range(np.int64(others)):
        values[at + np.uint64(i)] = spare[i]
    return total


@leaf_kernel
def _part(table, f, gone, last, side, rows, start, n, spare, side_of):
    """Put the rows that go left first; return (how many, was a value missing?).

    ``side_of`` says for every row of the node whether it goes left: its weight and target follow.
    """
    at, others, missing = start, np.uint64(0), np.int64(0)
    for i in range(n):
        row = rows[start + np.uint64(i)]
        code = np.int64(table[f, row])
        lost = np.int64(code == gone)
        goes = (np.int64(code <= last) & (1 - lost)) | (lost & side)
        missing |= lost
        side_of[i] = goes
        rows[at] = row
        spare[others] = row
        at += np.uint64(goes)
        others += np.uint64(1 - goes)
    for i in range(np.int64(others)):
        rows[at + np.uint64(i)] = spare[i]
    return np.int64(at - start), missing > 0


@leaf_kernel
def _sum(values):
    total = np.int64(0)
    for i in range(len(values)):
        total += values[i]
    return total


@inline
def _nearby(table, rows):
    """Copy the columns of a few rows together, so that a branch finds them in the cache."""
    codes = np.empty((len(table.codes), len(rows)), table.codes.dtype)
    values = np.empty((len(table.values), len(rows)), table.values.dtype)
    for f in range(len(table.codes)):
        for i in range(len(rows)):
            codes[f, i] = table.codes[f, rows[i]]
    for f in range(len(table.values)):
        for i in range(len(rows)):
            values[f, i] = table.values[f, rows[i]]
    return Table(codes, values, table.n_codes, table.worded, rows.copy())


@inline
def _enough(n, depth, whole, rules):
    """Tell whether a node of so many rows, depth and weight may be divided."""
    if n < rules.min_split or n < 2 * rules.min_leaf or depth >= rules.max_depth:
        return False
    return whole >= 2 * rules.min_weight


@leaf_kernel
def _grow(table, rows, offset, target, rules, out, stack, nodes, small, later, room):
    """Grow the branch at the foot of ``stack``; put branches of up to ``small`` rows into ``later``.

    ``offset`` is where the rows stand in the tree. Returns (nodes made so far, branches put off).
    """
    codes, values, n_codes, worded, origin = table
    label, number, weight, whole_weight, unit = target
    feature, threshold, below, above, first_child, missing_child, gain, starts, ends_at = out[:9]
    weights, totals = out[9:]
    keys, spare, counts, x, left, total, order, ends, bits, logs = room
    spare_row, side_of, spare_whole = (
        spare.view(np.uint32),
        keys.view(np.uint8),
        spare.view(np.int64),
    )
    random_splits, gone = rules.random_splits, np.int64(gone_of(values))
    pairs = random_splits and len(label) == 0 and rules.min_weight == 0
    height, n_later = 1, 0
    while height:
        height -= 1
        begin, end, depth = stack[height, _START], stack[height, _END], stack[height, _DEPTH]
        node, node_key = np.uint64(stack[height, _NODE]), np.uint64(stack[height, _KEY])
        whole, total[0] = stack[height, _WEIGHT], stack[height, _SUM]
        start, n = np.uint64(begin), end - begin
        if n <= small:
            _push(later, n_later, begin, end, node, depth, node_key, whole, total[0])
            n_later += 1
            continue
        starts[node], ends_at[node] = offset + begin, offset + end
        feature[node], first_child[node], missing_child[node] = -1, -1, -1
        threshold[node], gain[node] = np.nan, 0.0
        weights[node], totals[node] = whole, total[0]
        pure = _is_pure(label, number, weight, start, np.uint64(end), rules, whole, total)
        if pure or not _enough(n, depth, whole, rules):
            continue
        last_left = first_right = rows[start]
        if n == 2 and pairs:
            best, chosen, cut, side, last = cut_pair(
                values, rows, start, number, weight, total[0], whole, node_key, rules, order, ends,
                bits,
            )  # fmt: skip
        elif random_splits:
            best, chosen, cut, side, last = random_cut(
                values, worded, rows, start, n, label, number, weight, total, whole, node_key,
                rules, logs, x, left, order, ends, bits,
            )  # fmt: skip
        else:
            best, chosen, cut, side, last, last_left, first_right = best_cut(
                codes, n_codes, rows, start, n, label, number, weight, total, whole, node_key,
                rules, logs, keys, spare, counts, left, order,
            )  # fmt: skip
        decrease = best * (np.float64(whole) / whole_weight) * rules.gain_unit
        if chosen < 0 or decrease < rules.min_decrease:
            continue
        f = np.uint64(chosen)
        if random_splits:
            many, missing = _part(values, f, gone, last, side, rows, start, n, spare_row, side_of)
        else:
            many, missing = _part(
                codes, f, n_codes[f], last, side, rows, start, n, spare_row, side_of
            )
        left_weight, left_sum = many, np.int64(0)
        if not unit:
            left_weight = _move_sum(weight, start, n, side_of, spare_whole)
        if len(label):
            _move(label, start, n, side_of, spare_row)
        else:
            left_sum = _move_sum(number, start, n, side_of, spare_whole)
        right_weight, right_sum = whole - left_weight, total[0] - left_sum
        feature[node], threshold[node], gain[node] = chosen, cut, decrease
        below[node] = origin[last_left] if len(origin) else last_left
        above[node] = origin[first_right] if len(origin) else first_right
        first_child[node] = nodes
        missing_child[node] = 1 - side if missing else np.int64(right_weight > left_weight)
        middle, depth = begin + many, depth + 1
        key = mix(node_key, np.uint64(1))
        _push(stack, height, middle, end, nodes + 1, depth, key, right_weight, right_sum)
        key = mix(node_key, np.uint64(0))
        _push(stack, height + 1, begin, middle, nodes, depth, key, left_weight, left_sum)
        height += 2
        nodes += 2
    return nodes, n_later


@kernel
def grow_tree(table, rows, weight, number, label, key, rules, out, room):
    """Grow one tree on ``rows``; all arrays of rows are reordered. Returns how many nodes it has.

    ``weight`` and ``number`` (weight times target) are whole numbers on a grid; ``label`` is empty
    if the criterion needs only these two (squared error; Gini of two classes).
    """
    m, columns = len(rows), len(table.n_codes)
    whole = _sum(weight)
    stack, later = np.empty((m + 2, 7), np.int64), np.empty((m + 2, 7), np.int64)
    _push(stack, 0, 0, m, 0, 0, key, whole, _sum(number))
    size = table.values.itemsize if len(table.values) else table.codes.itemsize
    small = max(_NEAR // (columns * size), 1)
    if m <= small:
        small = 0
    target = label, number, weight, np.float64(whole), whole == m
    nodes, n_later = _grow(table, rows, 0, target, rules, out, stack, 1, small, later, room)
    for k in range(n_later):
        start, end = later[k, _START], later[k, _END]
        here = rows[start:end]
        near = _nearby(table, here)
        part = (
            label[start:end] if len(label) else label,
            number[start:end] if len(number) else number,
            weight[start:end], np.float64(whole), whole == m,
        )  # fmt: skip
        for i in range(end - start):
            here[i] = i
        stack[0] = later[k]
        stack[0, _START], stack[0, _END] = 0, end - start
        nodes, _ = _grow(near, here, start, part, rules, out, stack, nodes, 0, later, room)
        for i in range(end - start):
            here[i] = near.origin[here[i]]
    return nodes
