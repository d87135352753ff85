"""A random cut of a node's columns: how an extremely random tree asks.

Nothing is ordered. A column's values are kept as whole numbers of the same order (`ordered_bits`): one
pass gathers them and finds the ends, a threshold is drawn between the ends, one pass of comparisons
scores it:

    values of the node   .3  .9  .1  .4         ends .1 and .9
    drawn                .52                    left: .3 .1 .4   right: .9

For categories coins are tossed, which makes numbers of them (toss.py).
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.atomic import read_blocks
from arboretum.engine.compiler.decorators import addressed, inline, kernel, subkernel
from arboretum.engine.depth_first.codes import is_known_constant
from arboretum.engine.depth_first.counts import allowed, score
from arboretum.engine.depth_first.records import CATEGORY, ONE_LABEL, RANK
from arboretum.engine.depth_first.toss import (
    largest_present,
    last_left,
    missing_of,
    raise_by,
    raised,
    toss,
    word_of,
)
from arboretum.engine.random import mix, pick_column, uniform
from arboretum.engine.split.score import squares

__all__ = ["ask_gaps", "cut_pair", "draw_threshold", "ordered_bits", "random_cut"]

_ONE = np.uint64(1)


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


@subkernel
def _ends(values, column, rows, start, n, x):
    """Gather a column's values; return the smallest and the largest.

    values (n_columns * n_rows,) int32 or int64; rows (n_rows,) uint32; x (at least n,) int32 or
    int64, written.
    """
    low = high = values[column + rows[start]]
    blocks = n >> 3
    if blocks:
        low, high = read_blocks(values, column, rows, start, blocks, x, np.uint64(0))
    for i in range(np.uint64(8 * blocks), np.uint64(n)):
        v = values[column + rows[start + i]]
        x[i] = v
        low = v if v < low else low
        high = v if v > high else high
    return low, high


@subkernel
def draw_threshold(key, feature, low, high, ends, bits):
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


@inline
def _ask_squares(x, start, n, cut, number, weight, total, node_weight, rules):
    """Score one threshold over values that are all present.

    x (at least n,) int32 or int64; number (n_outputs, n_rows) int64; weight (n_rows,) int64.
    """
    left_weight, left_sum, rows_left = np.int64(0), np.int64(0), np.int64(0)
    if node_weight == n:  # every row weighs 1
        for i in range(n):
            goes = -np.int64(x[i] <= cut)
            rows_left -= goes
            left_sum += number[0, start + np.uint64(i)] & goes
        left_weight = rows_left
    else:
        for i in range(n):
            goes = -np.int64(x[i] <= cut)
            rows_left -= goes
            left_weight += weight[start + np.uint64(i)] & goes
            left_sum += number[0, start + np.uint64(i)] & goes
    if not allowed(rows_left, n, left_weight, node_weight, rules):
        return -1.0
    return squares(left_sum, left_weight, total, node_weight)


@subkernel
def ask_gaps(x, start, n, cut, several, number, weight, total, node_weight, rules):
    """`_ask_squares` where values are missing: they go right, or left, or stand against the others.

    Returns (score, way); the first way that scores best.

    x (at least n,) int32 or int64; number (n_outputs, n_rows) int64; weight (n_rows,) int64.
    """
    missing_value = missing_of(x)
    left_weight, left_sum, rows_left = np.int64(0), np.int64(0), np.int64(0)
    missing_weight, missing_sum, missing_rows = np.int64(0), np.int64(0), np.int64(0)
    for i in range(n):
        p = start + np.uint64(i)
        if x[i] == missing_value:
            missing_rows += 1
            missing_weight += weight[p]
            missing_sum += number[0, p]
        elif x[i] <= cut:
            rows_left += 1
            left_weight += weight[p]
            left_sum += number[0, p]
    best, best_way = -1.0, 0
    for way in range(3):
        rows, w, sum_here = rows_left, left_weight, left_sum
        if way == 1:
            rows, w, sum_here = rows + missing_rows, w + missing_weight, sum_here + missing_sum
        elif way == 2:
            rows, w, sum_here = n - missing_rows, node_weight - missing_weight, total - missing_sum
        if (way == 2 or several) and allowed(rows, n, w, node_weight, rules):
            worth = squares(sum_here, w, total, node_weight)
            if worth > best:
                best, best_way = worth, way
    return best, best_way


@inline
def _ask_labels(x, start, n, cut, label, weight, total, node_weight, rules, logs, left):
    """`_ask_squares` for class counts.

    x (at least n,) int32 or int64; label (n_outputs, n_rows) uint32; weight (n_rows,) int64; total
    (n_channels,) int64; logs (n_kept,) float64; left (2 * n_channels,) int64, scratch.
    """
    for c in range(len(total)):
        left[c] = 0
    left_weight, rows_left = np.int64(0), np.int64(0)
    if node_weight == n:  # every row weighs 1
        for i in range(n):
            goes = np.int64(x[i] <= cut)
            rows_left += goes
            left[label[0, start + np.uint64(i)]] += goes
        left_weight = rows_left
    else:
        for i in range(n):
            p = start + np.uint64(i)
            goes = np.int64(x[i] <= cut)
            w = weight[p] & -goes
            rows_left += goes
            left_weight += w
            left[label[0, p]] += w
    if not allowed(rows_left, n, left_weight, node_weight, rules):
        return -1.0
    return score(left, total, left_weight, node_weight, rules, logs, np.int8(0), 0.0, 0.0)


@subkernel
def _count_gaps(x, start, n, cut, label, number, weight, channels, left):
    """Add up the rows on the left, and behind them the missing ones; return rows and weight of either.

    Every row adds something or 0: nobody can guess which way it goes.

    x (at least n,) int32 or int64; label (n_outputs, n_rows) uint32, or None; number
    (n_outputs, n_rows) int64, or None; weight (n_rows,) int64; left (2 * n_channels,) int64, written.
    """
    missing_value, width = missing_of(x), np.uint64(channels)
    for c in range(width + width):
        left[c] = 0
    rows, missing_rows, left_weight, missing_weight = (
        np.int64(0),
        np.int64(0),
        np.int64(0),
        np.int64(0),
    )
    for i in range(n):
        p, goes, lost = start + np.uint64(i), np.int64(x[i] <= cut), np.int64(x[i] == missing_value)
        rows += goes
        missing_rows += lost
        left_weight += weight[p] & -goes
        missing_weight += weight[p] & -lost
        if label is not None:
            for o in range(len(label)):
                c = np.uint64(label[o, p])
                left[c] += weight[p] & -goes
                left[width + c] += weight[p] & -lost
        if number is not None:
            for o in range(width):
                left[o] += number[o, p] & -goes
                left[width + o] += number[o, p] & -lost
    return rows, missing_rows, left_weight, missing_weight


@subkernel
def _ask_general(
    x, start, n, cut, several, missing, label, number, weight, total, node_weight, rules, logs,
    left, sign, lower, upper,
):  # fmt: skip
    """`ask_gaps` with everything: any channels, constraints.

    x (at least n,) int32 or int64; label (n_outputs, n_rows) uint32, or None; number
    (n_outputs, n_rows) int64, or None; weight (n_rows,) int64; total (n_channels,) int64; logs (n_kept,)
    float64; left (2 * n_channels,) int64, scratch.
    """
    channels = np.int64(len(total))
    rows_left, missing_rows, left_weight, missing_weight = _count_gaps(
        x, start, n, cut, label, number, weight, channels, left
    )
    best, best_way = -1.0, 0
    for way in range(3 if missing else 1):
        if way == 1:
            rows_left, left_weight = rows_left + missing_rows, left_weight + missing_weight
            for c in range(channels):
                left[c] += left[channels + c]
        elif way == 2:
            rows_left, left_weight = n - missing_rows, node_weight - missing_weight
            for c in range(channels):
                left[c] = total[c] - left[channels + c]
        if (way < 2 and not several) or not allowed(rows_left, n, left_weight, node_weight, rules):
            continue
        worth = score(left, total, left_weight, node_weight, rules, logs, sign, lower, upper)
        if worth > best:
            best, best_way = worth, way
    return best, best_way


@addressed
def cut_pair(columns, bench, rows):
    """Part two rows: any threshold does it, so only the order of the two is looked at.

    rows (n_rows,) uint32.
    """
    node, rules, kind, order = bench.node[0], bench.rules, bench.features.kind, bench.scratch.order
    values, step, constant = columns.values, columns.step, bench.scratch.constant
    number, weight, total = bench.target.number, bench.target.weight, bench.scratch.total[0]
    start, node_weight, node_key, ends, bits = (
        node.start, node.weight, node.key, columns.ends, columns.bits,
    )  # fmt: skip
    one, two, by = rows[start], rows[start + _ONE], raise_by(values)
    first_left = squares(number[0, start], weight[start], total, node_weight)
    second_left = squares(number[0, start + _ONE], weight[start + _ONE], total, node_weight)
    best, feature, varied, missing_value = -1.0, np.int64(-1), 0, missing_of(values)
    low, high, begin = np.int64(missing_value), np.int64(missing_value), np.int64(start)
    for turn in range(len(order)):
        if turn >= rules.max_features and varied:
            break
        f = np.uint64(pick_column(node_key, turn, order))
        if is_known_constant(constant, f, begin, begin + 2):
            continue
        a, b = np.int64(values[f * step + one]), np.int64(values[f * step + two])
        if a == b:
            continue
        varied += 1
        if kind[f] == CATEGORY:
            a = raised(a, word_of(node_key, f, np.uint64(a) >> np.uint64(6)), by)
            b = raised(b, word_of(node_key, f, np.uint64(b) >> np.uint64(6)), by)
        worth = first_left if a < b else second_left
        if worth > best or (worth == best and np.int64(f) < feature):
            best, feature, low, high = worth, np.int64(f), min(a, b), max(a, b)
    cut, last = np.inf, np.int64(missing_value) - 1
    if feature >= 0 and kind[feature] == CATEGORY:
        cut, last = np.nan, low
    elif high != np.int64(missing_value):
        short = values.dtype.type
        cut, at = draw_threshold(node_key, np.uint64(feature), short(low), short(high), ends, bits)
        last = np.int64(at)
        if kind[feature] == RANK:
            cut = np.floor(cut)  # as below
    node.score, node.feature, node.cut, node.side, node.last = best, feature, cut, 0, last


@inline
def _search(columns, bench, rows, label, number, left):
    """`random_cut` with what may be None handed over: what is None is not compiled.

    rows (n_rows,) uint32; label (n_outputs, n_rows) uint32, or None; number (n_outputs, n_rows) int64,
    or None; left (2 * n_channels,) int64, scratch, or None.
    """
    node, rules, features, scratch = bench.node[0], bench.rules, bench.features, bench.scratch
    values, x, weight, constant = columns.values, columns.x, bench.target.weight, scratch.constant
    start, n, node_weight, node_key = node.start, node.n, node.weight, node.key
    total, missing_value = scratch.total[: node.channels], missing_of(values)
    best, feature, cut, side, last = -1.0, np.int64(-1), np.nan, np.int64(0), np.int64(0)
    varied, worth, n_columns = 0, -1.0, np.int64(len(scratch.order))
    everything, begin = rules.max_features >= n_columns, np.int64(start)
    for turn in range(n_columns):
        if turn >= rules.max_features and varied:
            break
        f = np.uint64(turn) if everything else np.uint64(pick_column(node_key, turn, scratch.order))
        if is_known_constant(constant, f, begin, begin + n):
            continue
        is_category, column, missing = features.kind[f] == CATEGORY, f * columns.step, False
        if is_category:
            low, high, missing = toss(
                values, column, f, rows, start, n, node_key, features.n_codes[f], x, scratch.keys
            )
        else:
            low, high = _ends(values, column, rows, start, n, x)
            missing = high == missing_value
            if missing and low < missing_value:
                high = largest_present(x, n, low, missing_value)
        if low == missing_value or (low == high and not missing):  # no value, or one
            constant[f, 0], constant[f, 1] = begin, begin + n
            continue
        varied += 1
        value, at, way = np.nan, low, 0
        if is_category:
            at = last_left(low, high, x)
        else:
            value, at = draw_threshold(node_key, f, low, high, columns.ends, columns.bits)
        if left is None and number is not None:
            if missing:
                worth, way = ask_gaps(
                    x, start, n, at, low < high, number, weight, total[0], node_weight, rules
                )
            else:
                worth = _ask_squares(x, start, n, at, number, weight, total[0], node_weight, rules)
        if left is not None:
            simple = rules.form == ONE_LABEL and not missing
            if label is not None and simple:
                worth = _ask_labels(
                    x, start, n, at, label, weight, total, node_weight, rules, scratch.logs, left
                )
            if not simple:
                worth, way = _ask_general(
                    x, start, n, at, low < high, missing, label, number, weight, total, node_weight,
                    rules, scratch.logs, left, features.sign[f], node.lower, node.upper,
                )  # fmt: skip
        if worth > best or (worth == best and worth >= 0.0 and np.int64(f) < feature):
            best, feature, side = worth, np.int64(f), np.int64(way == 1)
            cut = np.inf if way == 2 and not is_category else value
            last = np.int64(missing_value) - 1 if way == 2 else np.int64(at)
    if feature >= 0 and features.kind[feature] == RANK and cut < np.inf:
        cut = np.floor(cut)  # the rows are ranks: they go the same way
    node.score, node.feature, node.cut, node.side, node.last = best, feature, cut, side, last


@addressed
def random_cut(columns, bench, rows):
    """Draw columns, and a question for each.

    The node is told the best: score, feature, threshold, missing left?, and ordered bits of the threshold;
    of a category the last raised code on the left.

    rows (n_rows,) uint32.
    """
    _search(columns, bench, rows, bench.target.label, bench.target.number, bench.scratch.left)
