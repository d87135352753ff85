"""A random cut of a node's columns: how an extremely random tree asks.

Nothing is ordered. A column's values are kept as whole numbers of the same order (`ordered_bits`): one
pass gathers them and finds the ends, a threshold is drawn between the ends, one pass of comparisons
scores it:

    values of the node   .3  .9  .1  .4         ends .1 and .9
    drawn                .52                    left: .3 .1 .4   right: .9
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.channels import channel_score
from arboretum.engine.jit import inline, kernel, leaf_kernel
from arboretum.engine.random import mix, pick_column, uniform
from arboretum.engine.seedling_cuts import allowed, squares

__all__ = ["cut_pair", "gone_of", "ordered_bits", "random_cut"]

_ONE = np.uint64(1)
_FEW = 48


@inline
def gone_of(column):
    """Return what a missing value is written as: the largest number there is."""
    return column.dtype.type(0x7FFFFFFFFFFFFFFF if column.itemsize == 8 else 0x7FFFFFFF)


@kernel
def ordered_bits(values, out):
    """Write numbers as whole numbers of the same order and width; a missing one is the largest."""
    bits, gone = values.view(out.dtype), gone_of(out)
    for i in range(len(values)):
        b = bits[i]
        if values[i] == 0.0:  # -0.0 and 0.0 are one value
            b = out.dtype.type(0)
        out[i] = gone if values[i] != values[i] else (b if b >= 0 else b ^ gone)


@leaf_kernel
def _ends(values, f, rows, start, n, x):
    """Gather a column's values; return the smallest and the largest."""
    low = high = values[f, rows[start]]
    for i in range(n):
        v = values[f, rows[start + np.uint64(i)]]
        x[i] = v
        low = v if v < low else low
        high = v if v > high else high
    return low, high


@leaf_kernel
def _ends_of_few(values, f, rows, start, n, gone):
    """Return the smallest and the largest value, which is ``gone`` if one is missing.

    A loop that may be left early stays a plain one: for a few rows that is what is quick.
    """
    low = high = values[f, rows[start]]
    for i in range(n):
        v = values[f, rows[start + np.uint64(i)]]
        if v == gone:
            return low, gone
        low = v if v < low else low
        high = v if v > high else high
    return low, high


@leaf_kernel
def _ask_few(values, f, rows, start, n, cut, number, weight, total, node_weight, rules):
    """`_ask_squares` for a few rows, whose values are read again."""
    left_weight, left_sum, rows_left = np.int64(0), np.int64(0), np.int64(0)
    if node_weight == n:
        for i in range(n):
            p = start + np.uint64(i)
            goes = -np.int64(values[f, rows[p]] <= cut)
            rows_left -= goes
            left_sum += number[p] & goes
        left_weight = rows_left
    else:
        for i in range(n):
            p = start + np.uint64(i)
            goes = -np.int64(values[f, rows[p]] <= cut)
            rows_left -= goes
            left_weight += weight[p] & goes
            left_sum += number[p] & goes
    if not allowed(rows_left, n, left_weight, node_weight, rules):
        return -1.0
    return squares(left_sum, left_weight, total, node_weight)


@leaf_kernel
def _largest_present(x, n, low, gone):
    high = low
    for i in range(n):
        high = x[i] if x[i] != gone and x[i] > high else high
    return high


@leaf_kernel
def _draw(key, feature, low, high, ends, bits):
    """Draw the threshold of a column at a node, as a number and as ordered bits.

    The largest value stays right. ``ends`` and ``bits`` are scratch, two views of the same memory.
    """
    gone = gone_of(bits)
    bits[0] = low if low >= 0 else low ^ gone
    bits[1] = high if high >= 0 else high ^ gone
    u = uniform(mix(mix(key, np.uint64(feature)), np.uint64(0)))
    first, last = np.float64(ends[0]), np.float64(ends[1])
    cut = first * (1.0 - u) + last * u
    if cut >= last:
        cut = first
    cut += 0.0  # no -0.0
    ends[2] = cut
    at = bits[2] if bits[2] >= 0 else bits[2] ^ gone
    if np.float64(ends[2]) > cut:  # short numbers: the largest that is not above the threshold
        at -= bits.dtype.type(1)
    return cut, at


@leaf_kernel
def _ask_squares(x, start, n, cut, number, weight, total, node_weight, rules):
    """Score one threshold over values that are all present."""
    left_weight, left_sum, rows_left = np.int64(0), np.int64(0), np.int64(0)
    if node_weight == n:  # every row weighs 1
        for i in range(n):
            goes = -np.int64(x[i] <= cut)
            rows_left -= goes
            left_sum += number[start + np.uint64(i)] & goes
        left_weight = rows_left
    else:
        for i in range(n):
            goes = -np.int64(x[i] <= cut)
            rows_left -= goes
            left_weight += weight[start + np.uint64(i)] & goes
            left_sum += number[start + np.uint64(i)] & goes
    if not allowed(rows_left, n, left_weight, node_weight, rules):
        return -1.0
    return squares(left_sum, left_weight, total, node_weight)


@leaf_kernel
def _ask_general(
    x, start, n, cut, several, missing, label, number, weight, total, node_weight, rules, logs, left
):
    """Score one threshold, missing values on either side or alone.

    Returns (score, way: missing right, missing left, present against missing).
    """
    gone = gone_of(x)
    best, best_way = -1.0, 0
    for way in range(3 if missing else 1):
        if way < 2 and not several:
            continue
        left_weight, rows_left = np.int64(0), np.int64(0)
        left[:] = 0
        for i in range(n):
            v, p = x[i], start + np.uint64(i)
            goes = way == 1 if v == gone else (v <= cut or way == 2)
            if goes:
                rows_left += 1
                left_weight += weight[p]
                if len(label):
                    left[label[p]] += weight[p]
                else:
                    left[0] += number[p]
        if not allowed(rows_left, n, left_weight, node_weight, rules):
            continue
        if len(label):
            found = channel_score(left, total, left_weight, node_weight, rules.criterion, 1, logs)
        else:
            found = squares(left[0], left_weight, total[0], node_weight)
        if found > best:
            best, best_way = found, way
    return best, best_way


@leaf_kernel
def cut_pair(values, rows, start, number, weight, total, whole, node_key, rules, order, ends, bits):
    """Part two rows: any threshold does it, so only the order of the two is looked at."""
    one, two = rows[start], rows[start + _ONE]
    first_left = squares(number[start], weight[start], total, whole)
    second_left = squares(number[start + _ONE], weight[start + _ONE], total, whole)
    best, feature, varied, gone = -1.0, np.int64(-1), 0, gone_of(values)
    low = high = gone
    for turn in range(len(order)):
        if turn >= rules.max_features and varied:
            break
        f = np.uint64(pick_column(node_key, turn, order))
        a, b = values[f, one], values[f, two]
        if a == b:
            continue
        varied += 1
        found = first_left if a < b else second_left
        if found > best or (found == best and np.int64(f) < feature):
            best, feature, low, high = found, np.int64(f), min(a, b), max(a, b)
    cut, last = np.inf, np.int64(gone) - 1
    if high != gone:
        cut, at = _draw(node_key, feature, low, high, ends, bits)
        last = np.int64(at)
    return best, feature, cut, np.int64(0), last


@leaf_kernel
def random_cut(
    values, worded, rows, start, n, label, number, weight, total, whole, node_key, rules, logs,
    x, left, order, ends, bits,
):  # fmt: skip
    """Draw columns and a threshold for each.

    Returns the best: (score, feature, threshold, missing left?, ordered bits of the threshold).
    """
    gone = gone_of(values)
    best, feature, cut, side, last = -1.0, np.int64(-1), np.nan, np.int64(0), np.int64(0)
    varied, few = 0, n <= _FEW and len(label) == 0
    for turn in range(len(order)):
        if turn >= rules.max_features and varied:
            break
        f = np.uint64(pick_column(node_key, turn, order))
        whole_column = not few
        if few:
            low, high = _ends_of_few(values, f, rows, start, n, gone)
            whole_column = high == gone
        if whole_column:
            low, high = _ends(values, f, rows, start, n, x)
        missing = high == gone
        if missing and low < gone:
            high = _largest_present(x, n, low, gone)
        if low == gone or (low == high and not missing):  # no value, or one
            continue
        varied += 1
        value, at = _draw(node_key, f, low, high, ends, bits)
        way = 0
        if missing or len(label):
            found, way = _ask_general(
                x, start, n, at, low < high, missing, label, number, weight, total, whole, rules,
                logs, left,
            )  # fmt: skip
        elif few:
            found = _ask_few(values, f, rows, start, n, at, number, weight, total[0], whole, rules)
        else:
            found = _ask_squares(x, start, n, at, number, weight, total[0], whole, rules)
        if found > best or (found == best and found >= 0.0 and np.int64(f) < feature):
            best, feature, side = found, np.int64(f), np.int64(way == 1)
            cut = np.inf if way == 2 else value
            last = np.int64(gone) - 1 if way == 2 else np.int64(at)
    if feature >= 0 and worded[feature] and cut < np.inf:
        cut = np.floor(cut)  # the rows are ranks: they go the same way
    return best, feature, cut, side, last
