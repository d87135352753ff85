"""The search for absolute error: medians of both sides at every cut.

The absolute error of a set is Σ w |y - median|. Rows enter the left side one by one; two Fenwick trees
over the node's targets in sorted order (one for weights, one for weighted targets) give the median and
the error of the left side, and of the right side as total minus left, in O(log n) each:

    targets sorted   y_(0) <= y_(1) <= ... <= y_(n-1)
    descent          smallest r with  weight(y_(0..r)) >= W/2  ->  median y_(r)
    error            y_(r) W_r - S_r + (S - S_r) - y_(r) (W - W_r)

Sums are float64, centred on the middle of the node's range.
"""

import math
from typing import NamedTuple

import numpy as np

from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.split.best import REFUSED, keep_better
from arboretum.engine.split.one_sum import cut_range

__all__ = ["SortedTargets", "describe_absolute", "prepare_absolute", "search_absolute"]


class SortedTargets(NamedTuple):
    """The targets of every node in order, by output, and the place of each row among them."""

    place: np.ndarray  # (n_outputs, n_rows) int64, by position: place among the node's targets
    value: np.ndarray  # (n_outputs, n_rows) float64, in order, less the middle of the node's range
    weight: np.ndarray  # (n_rows,) float64, by position; empty when every row weighs 1


@kernel
def prepare_absolute(rows, y, weights, target_list, output, nodes, targets):
    """Write the sorted targets of every node and each row's place among them, for one output.

    ``target_list`` is the presorted list of the targets themselves, partitioned like a column.

    rows, target_list (n_rows,) uint32; y (n_rows, n_outputs) float64; weights (n_rows,) float64, or
    empty.
    """
    for k in range(len(nodes.start)):
        lo, hi = nodes.start[k], nodes.end[k]
        low = y[rows[target_list[lo] & POSITION], output]
        high = y[rows[target_list[hi - 1] & POSITION], output]
        centre = low / 2.0 + high / 2.0
        for i in range(lo, hi):
            p = target_list[i] & POSITION
            targets.place[output, p] = i - lo
            targets.value[output, i] = y[rows[p], output] - centre
        if len(targets.weight):
            for p in range(lo, hi):
                targets.weight[p] = weights[rows[p]]


@subkernel
def _add(tree, i, amount):
    """Add an amount at place i of a Fenwick tree.

    tree (n + 1,) float64, added to.
    """
    i += 1
    while i < len(tree):
        tree[i] += amount
        i += i & -i


@subkernel
def _descend(whole, part, sign, weight, upper):
    """Return the place of the lower (or upper) median of a set, and the weight before it.

    The set is the part (sign 1), or the whole minus the part (sign -1).

    whole, part (n + 1,) float64.
    """
    n, at, below, step = len(whole) - 1, 0, 0.0, 1
    while 2 * step <= n:
        step *= 2
    while step > 0:
        i = at + step
        if i <= n:
            w = part[i] if sign > 0 else whole[i] - part[i]
            twice = 2.0 * (below + w)
            if twice < weight or (upper and twice == weight):
                below += w
                at = i
        step >>= 1
    return min(at, n - 1), below


@subkernel
def _error(trees, sign, weight, total, value):
    """Return the absolute error of a set of this weight and sum; see `_descend`.

    trees (weights and sums of all rows, of those on the left) (n + 1,) float64 each; value (n,) float64.
    """
    whole_w, whole_s, part_w, part_s = trees
    at, below_w = _descend(whole_w, part_w, sign, weight, False)
    median, below_s = value[at], 0.0
    while at > 0:
        below_s += part_s[at] if sign > 0 else whole_s[at] - part_s[at]
        at -= at & -at
    return median * below_w - below_s + (total - below_s) - median * (weight - below_w)


@subkernel
def _median(trees, sign, weight, value):
    """Return the mean of the lower and the upper median of a set; see `_error`.

    trees (whole_w, whole_s, part_w, part_s) (n + 1,) float64 each; value (n,) float64.
    """
    low, _ = _descend(trees[0], trees[2], sign, weight, False)
    high, _ = _descend(trees[0], trees[2], sign, weight, True)
    return value[low] / 2.0 + value[high] / 2.0


@subkernel
def _load(entries, place, value, weight, on_left, trees):
    """Fill the trees of one output; the entries from ``on_left`` on stand on the left.

    Returns (weight of all, their sum, weight on the left, its sum).

    entries (rows that count,) uint32; place (n_rows,) int64; value (n,) float64; weight (n_rows,) float64,
    or empty; trees (whole_w, whole_s, part_w, part_s) (n + 1,) float64 each, written.
    """
    for i in range(len(value) + 1):
        trees[0][i] = trees[1][i] = trees[2][i] = trees[3][i] = 0.0
    all_w, all_s, left_w, left_s = 0.0, 0.0, 0.0, 0.0
    for i in range(len(entries)):
        p = entries[i] & POSITION
        w = weight[p] if len(weight) else 1.0
        v = value[place[p]] * w
        _add(trees[0], place[p], w)
        _add(trees[1], place[p], v)
        all_w += w
        all_s += v
        if i >= on_left:
            _add(trees[2], place[p], w)
            _add(trees[3], place[p], v)
            left_w += w
            left_s += v
    return all_w, all_s, left_w, left_s


@subkernel
def _errors_along(entries, place, value, weight, trees, state, order, errors):
    """Add both sides' absolute error at every cut of one output to ``errors``.

    ``state``: see `_load`; ``order``: (monotone sign, lower, upper); a cut that breaks it costs inf.

    entries (rows of the node,) uint32; place (n_rows,) int64; value (n,) float64; weight (n_rows,)
    float64, or empty; trees (whole_w, whole_s, part_w, part_s) (n + 1,) float64 each; errors
    (last cut + 1,) float64, added to.
    """
    all_w, all_s, left_w, left_s = state
    sign, lower, upper = order
    for cut in range(1, len(errors)):
        p = entries[cut - 1] & POSITION
        w = weight[p] if len(weight) else 1.0
        v = value[place[p]] * w
        _add(trees[2], place[p], w)
        _add(trees[3], place[p], v)
        left_w += w
        left_s += v
        if not entries[cut] & NEW:
            continue
        errors[cut] += _error(trees, 1, left_w, left_s, value) + _error(
            trees, -1, all_w - left_w, all_s - left_s, value
        )
        if sign != 0:
            a = _median(trees, 1, left_w, value)
            b = _median(trees, -1, all_w - left_w, value)
            if (b - a) * sign < 0.0 or min(a, b) < lower or max(a, b) > upper:
                errors[cut] = np.inf


@inline
def _best_cut(entries, weight, first, state, errors, min_weight):
    """Return (smallest error, cut) among the cuts that are allowed; (inf, 0) if none is.

    entries (rows of the node,) uint32; weight (n_rows,) float64, or empty; errors (last cut + 1,) float64.
    """
    all_w, left_weight, best, place = state[0], state[2], np.inf, 0
    for cut in range(1, len(errors)):
        left_weight += weight[entries[cut - 1] & POSITION] if len(weight) else 1.0
        if cut < first or not entries[cut] & NEW:
            continue
        if left_weight < min_weight or all_w - left_weight < min_weight:
            continue
        if errors[cut] < best:
            best, place = errors[cut], cut
    return best, place


@kernel(makes_arrays=True)
def search_absolute(lists, columns, targets, nodes, rules, best):
    """Find the best cut of every node on several lists; arguments as for `search_moment`.

    lists (n_slots, n_rows) uint32; columns (slots, features, signs) (n_columns,) int64, the same, and
    (n_columns, 1 or n_nodes) int8; targets: SortedTargets.
    """
    slots, features, signs = columns
    outputs, weight, longest = len(targets.value), targets.weight, 0
    for k in range(len(nodes.start)):
        longest = max(longest, nodes.end[k] - nodes.start[k])
    scratch, room = np.empty((4, longest + 1)), np.empty(longest + 1)
    for j in range(len(slots)):
        for k in range(len(nodes.start)):
            lo, hi = nodes.start[k], nodes.end[k]
            entries, count = lists[slots[j], lo:hi], hi - lo
            present = first_missing(entries, 0, count)
            n = present if rules.skip_missing else count
            trees = (
                scratch[0, : count + 1], scratch[1, : count + 1], scratch[2, : count + 1],
                scratch[3, : count + 1],
            )  # fmt: skip
            everything = 0.0
            for i in range(count):
                everything += weight[entries[i] & POSITION] if len(weight) else 1.0
            scale = math.ldexp(1.0, int(nodes.weight_shift[k] - nodes.sum_shift[k]))
            order = (signs[j, k % signs.shape[1]], nodes.lower[k] * scale, nodes.upper[k] * scale)
            top, top_cut, top_side = REFUSED, 0, 0
            for side in range(2 if present < n else 1):
                first, last = cut_range(count, present, rules, side)
                if first > last:
                    continue
                errors, before, state = room[: last + 1], 0.0, (0.0, 0.0, 0.0, 0.0)
                for cut in range(last + 1):
                    errors[cut] = 0.0
                for o in range(outputs):
                    place, value = targets.place[o], targets.value[o, lo:hi]
                    state = _load(entries[:n], place, value, weight, present if side else n, trees)
                    whole = (trees[0], trees[1], trees[0], trees[1])
                    before += _error(whole, 1, state[0], state[1], value)
                    _errors_along(entries, place, value, weight, trees, state, order, errors)
                error, cut = _best_cut(entries, weight, first, state, errors, rules.min_weight)
                score = max((before - error) / (everything * outputs), 0.0)
                if cut and score > top:
                    top, top_cut, top_side = score, cut, side
            keep_better(best, k, features[j], top, top_cut, top_side)


@kernel
def describe_absolute(rows, y, weights, target_list, output, start, end, figures):
    """Write the median and weight of one output, and add its mean absolute deviation.

    rows, target_list (n_rows,) uint32; y (n_rows, n_outputs) float64; weights (n_rows,) float64, or
    empty; start, end (n_nodes,) int64.
    """
    for k in range(len(start)):
        lo, hi = start[k], end[k]
        median = _weighted_median(rows, y, weights, target_list[lo:hi], output)
        figures.value[k, output, 0] = median
        total, deviation = 0.0, 0.0
        for p in range(lo, hi):
            w = weights[rows[p]] if len(weights) else 1.0
            total += w
            deviation += w * abs(y[rows[p], output] - median)
        figures.weight[k] = total
        figures.impurity[k] += deviation / total / y.shape[1]


@inline
def _weighted_median(rows, y, weights, entries, output):
    """Return the median of a node's targets: the mean of the lower and the upper weighted median.

    rows (n_rows,) uint32; y (n_rows, n_outputs) float64; weights (n_rows,) float64, or empty; entries
    (rows of the node,) uint32.
    """
    total, n = 0.0, len(entries)
    for i in range(n):
        total += weights[rows[entries[i] & POSITION]] if len(weights) else 1.0
    below = 0.0
    for i in range(n):
        r = rows[entries[i] & POSITION]
        below += weights[r] if len(weights) else 1.0
        if 2.0 * below >= total:
            v = y[r, output]
            if 2.0 * below == total and i + 1 < n:
                v = v / 2.0 + y[rows[entries[i + 1] & POSITION], output] / 2.0
            return v
    return y[rows[entries[n - 1] & POSITION], output]
