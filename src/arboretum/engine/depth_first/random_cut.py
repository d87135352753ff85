"""A random cut of a node's columns, as extremely random trees draw it.

Nothing is sorted. A column's values are kept as whole numbers of the same order (`ordered_bits`): one
pass gathers them and finds the ends, a threshold is drawn between the ends, one pass of comparisons
scores it:

    values of the node   .3  .9  .1  .4         ends .1 and .9
    drawn                .52                    left: .3 .1 .4   right: .9

Eight values are read and compared at a time: rows are padded to whole blocks, so that most loops are of the
same few lengths, which a processor predicts. For categories coins are tossed, which makes numbers of them
(toss.py).

    rows 5 2 9          padded  5 2 9 5 5 5 5 5      the ends are those of 5 2 9
    values .3 .9 .1             .3 .9 .1 .3 .3 .3 .3 .3   if .3 goes left, the padding is subtracted
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.atomic import add_left, read_blocks
from arboretum.engine.compiler.decorators import addressed, inline, kernel, subkernel
from arboretum.engine.depth_first.codes import is_known_constant
from arboretum.engine.depth_first.counts import allowed, score
from arboretum.engine.depth_first.records import CATEGORY, RANK
from arboretum.engine.depth_first.toss import largest_present, last_left, missing_of, toss
from arboretum.engine.random import mix, pick_column, uniform
from arboretum.engine.split.score import squares

__all__ = ["ordered_bits", "random_cut"]


@kernel
def ordered_bits(values, out):
    """Write numbers as whole numbers of the same order and width; a missing one is the largest.

    values (n,) float32 or float64; out (n,) int32 or int64, written.
    """
    bits, missing_value = values.view(out.dtype), missing_of(out)
    for i in range(len(values)):
        b = bits[i]
        if values[i] == 0.0:  # -0.0 and 0.0 are one value
            b = out.dtype.type(0)
        out[i] = missing_value if values[i] != values[i] else (b if b >= 0 else b ^ missing_value)


# --------------------------------------------------------------------------- a threshold
@subkernel
def _pad(bench, rows, number, padded):
    """Copy the rows of a node, and its first row up to the end of the last block.

    What is added up for the padding, numbers and weights behind those of the node, is written to the node.

    rows (n_rows,) uint32; number (n_outputs, n_rows + 8) int64, or None; padded (n_rows + 8,) uint32,
    written.
    """
    node, weight = bench.node[0], bench.target.weight
    start, n, weight_behind, sum_behind = node.start, node.n, np.int64(0), np.int64(0)
    for i in range(np.uint64(n)):
        padded[i] = rows[start + i]
    for i in range(np.uint64(n), np.uint64((n + 7) & -8)):
        padded[i] = rows[start]
        weight_behind += weight[start + i]
        if number is not None:
            sum_behind += number[0, start + i]
    node.weight_behind, node.sum_behind = weight_behind, sum_behind


@subkernel
def _draw_threshold(key, feature, low, high, ends, bits):
    """Draw the threshold of a column at a node, as a number and as ordered bits.

    The largest value stays right. ``ends`` and ``bits`` are scratch, two views of the same memory.

    ends (3,) float32 or float64; bits (3,) int32 or int64.
    """
    missing_value = missing_of(bits)
    bits[0] = low if low >= 0 else low ^ missing_value
    bits[1] = high if high >= 0 else high ^ missing_value
    u = uniform(mix(mix(key, np.uint64(feature)), np.uint64(0)))
    first, last = np.float64(ends[0]), np.float64(ends[1])
    cut = first * (1.0 - u) + last * u
    if cut >= last:
        cut = first
    cut += 0.0  # no -0.0
    ends[2] = cut
    at = bits[2] if bits[2] >= 0 else bits[2] ^ missing_value
    if np.float64(ends[2]) > cut:  # short numbers: the largest that is not above the threshold
        at -= bits.dtype.type(1)
    return cut, at


# --------------------------------------------------------------------------- its score
@inline
def _count_left(x, cut, bench, label, left, at):
    """`_add_up_left` for classes: rows that weigh 1 have a loop of their own, which takes half as long.

    x (n_rows + 8,) int32 or int64; label (n_outputs, n_rows) uint32; left (2 * n_channels,) int64, written.
    """
    node, weight, rows, weight_left = bench.node[0], bench.target.weight, np.int64(0), np.int64(0)
    start, n = node.start, node.n
    for c in range(node.channels):
        left[at + np.uint64(c)] = 0
    if node.weight == n:
        for i in range(n):
            goes = np.int64(x[i] <= cut)
            rows += goes
            left[at + np.uint64(label[0, start + np.uint64(i)])] += goes
        weight_left = rows
    else:
        for i in range(n):
            p, goes = start + np.uint64(i), np.int64(x[i] <= cut)
            w = weight[p] & -goes
            rows += goes
            weight_left += w
            left[at + np.uint64(label[0, p])] += w
    for o in range(1, len(label)):
        for i in range(n):
            p = start + np.uint64(i)
            left[at + np.uint64(label[o, p])] += weight[p] & -np.int64(x[i] <= cut)
    return rows, weight_left


@inline
def _sum_left(x, cut, bench, number, left, at):
    """`_add_up_left` for numbers; ``left`` is None where one sum is enough.

    x (n_rows + 8,) int32 or int64; number (n_outputs, n_rows + 8) int64; left (2 * n_channels,) int64,
    written, or None.
    """
    node, zero, padding = bench.node[0], np.uint64(0), -np.int64(x[0] <= cut)
    start, n, blocks = node.start, node.n, (node.n + 7) >> 3
    rows, total = add_left(x, zero, cut, number[0], start, blocks)
    rows -= (8 * blocks - n) & padding
    total -= node.sum_behind & padding
    weight_left = rows
    if node.weight != n:
        weight_left = add_left(x, zero, cut, bench.target.weight, start, blocks)[1]
        weight_left -= node.weight_behind & padding
    if left is not None:
        left[at] = total
        for o in range(1, len(number)):
            sum_here = np.int64(0)
            for i in range(n):
                sum_here += number[o, start + np.uint64(i)] & -np.int64(x[i] <= cut)
            left[at + np.uint64(o)] = sum_here
    return rows, weight_left, total


@inline
def _add_up_left(x, cut, bench, label, number, left, at):
    """Add up the rows whose value is at most ``cut``; return (rows, weight, sum).

    The sum is that of the only channel; several channels are added up in ``left``, from ``at`` on.

    x (n_rows + 8,) int32 or int64; label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows)
    int64, or None; left (2 * n_channels,) int64, written, or None.
    """
    rows, weight_left, total = np.int64(0), np.int64(0), np.int64(0)
    if label is not None:
        rows, weight_left = _count_left(x, cut, bench, label, left, at)
    if number is not None:
        rows, weight_left, total = _sum_left(x, cut, bench, number, left, at)
    return rows, weight_left, total


@inline
def _score_cut(x, cut, several, missing, sign, bench, label, number, left):
    """Score a threshold; return (score, where missing values go).

    They go right (0), left (1), or stand against all others (2); the first that scores best. ``several``:
    present values differ; ``missing``: a value is missing.

    x (n_rows + 8,) int32 or int64; label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows)
    int64, or None; left (2 * n_channels,) int64, scratch, or None.
    """
    node, rules, logs = bench.node[0], bench.rules, bench.scratch.logs
    n, node_weight, channels = node.n, node.weight, node.channels
    total = bench.scratch.total[:channels]
    here, present = (
        np.uint64(0),
        np.uint64(channels),
    )  # where channels begin: on the left, and with a value
    rows, weight_left, sum_left = _add_up_left(x, cut, bench, label, number, left, here)
    all_rows, all_weight, all_sum = n, node_weight, total[0]
    if missing:
        last = missing_of(x) - x.dtype.type(1)
        all_rows, all_weight, all_sum = _add_up_left(x, last, bench, label, number, left, present)
    best, best_way = -1.0, 0
    for way in range(3 if missing else 1):
        if way == 1:
            rows, weight_left = rows + n - all_rows, weight_left + node_weight - all_weight
            sum_left += total[0] - all_sum
        elif way == 2:
            rows, weight_left, sum_left = all_rows, all_weight, all_sum
        if left is not None and way == 1:
            for c in range(channels):
                left[c] += total[c] - left[channels + c]
        if (way < 2 and not several) or not allowed(rows, n, weight_left, node_weight, rules):
            continue
        if left is None:
            worth = squares(sum_left, weight_left, total[0], node_weight)
        if left is not None:
            side = present if way == 2 else here
            worth = score(
                left[np.int64(side) :],
                total,
                weight_left,
                node_weight,
                rules,
                logs,
                sign,
                node.lower,
                node.upper,
            )
        if worth > best:
            best, best_way = worth, way
    return best, best_way


@inline
def _search(columns, bench, rows, label, number, left):
    """`random_cut` with what may be None handed over: what is None is not compiled.

    rows (n_rows,) uint32; label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64,
    or None; left (2 * n_channels,) int64, scratch, or None.
    """
    node, rules, features, scratch = bench.node[0], bench.rules, bench.features, bench.scratch
    values, x, constant, missing_value = (
        columns.values, columns.x, scratch.constant, missing_of(columns.values),
    )  # fmt: skip
    n, key, begin = node.n, node.key, np.int64(node.start)
    best, feature, cut, side, last = -1.0, np.int64(-1), np.nan, np.int64(0), np.int64(0)
    varied, n_columns, zero = 0, np.int64(len(scratch.order)), np.uint64(0)
    everything, padded, blocks = rules.max_features >= n_columns, scratch.spare_row, (n + 7) >> 3
    _pad(bench, rows, number, padded)
    for turn in range(n_columns):
        if turn >= rules.max_features and varied:
            break
        f = np.uint64(turn) if everything else np.uint64(pick_column(key, turn, scratch.order))
        if is_known_constant(constant, f, begin, begin + n):
            continue
        is_category, column = features.kind[f] == CATEGORY, f * columns.step
        if is_category:
            low, high, missing = toss(columns, f, features.n_codes[f], bench, rows)
            for i in range(np.uint64(n), np.uint64(8 * blocks)):
                x[i] = x[0]
        else:
            low, high = read_blocks(values, column, padded, zero, blocks, x, zero)
            missing = high == missing_value
            if missing and low < missing_value:
                high = largest_present(x, n, low, missing_value)
        if low == missing_value or (low == high and not missing):  # no value, or one
            constant[f, 0], constant[f, 1] = begin, begin + n
            continue
        varied += 1
        value, at = np.nan, low
        if is_category:
            at = last_left(low, high, x)
        else:
            value, at = _draw_threshold(key, f, low, high, columns.ends, columns.bits)
        worth, way = _score_cut(
            x, at, low < high, missing, features.sign[f], bench, label, number, left
        )
        if worth > best or (worth == best and worth >= 0.0 and np.int64(f) < feature):
            best, feature, side = worth, np.int64(f), np.int64(way == 1)
            cut = np.inf if way == 2 and not is_category else value
            last = np.int64(missing_value) - 1 if way == 2 else np.int64(at)
    if feature >= 0 and features.kind[feature] == RANK and cut < np.inf:
        cut = np.floor(cut)  # the rows are ranks: they go the same way
    node.score, node.feature, node.cut, node.side, node.last = best, feature, cut, side, last


@addressed
def random_cut(columns, bench, rows):
    """Draw columns, and a cut of each; write the best one to the node.

    It is described by score, feature, threshold, whether missing values go left, and ordered bits of the
    threshold; of a category by the last raised code on the left.

    rows (n_rows,) uint32.
    """
    _search(columns, bench, rows, bench.target.label, bench.target.number, bench.scratch.left)
