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

import numpy as np

from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.jit import inline, kernel, subkernel
from arboretum.engine.split.best import FROM_LIST, REFUSED, keep_better
from arboretum.engine.split.one_sum import cut_range

__all__ = ["describe_absolute", "prepare_absolute", "search_absolute"]


@kernel
def prepare_absolute(rows, y, weights, target_list, output, start, end, place, values, weight):
    """Write the sorted targets of every node and each row's place among them, for one output.

    ``target_list`` is the presorted list of the targets themselves, partitioned like a column.
    """
    for k in range(len(start)):
        lo, hi = start[k], end[k]
        low = y[rows[target_list[lo] & POSITION], output]
        high = y[rows[target_list[hi - 1] & POSITION], output]
        centre = low / 2.0 + high / 2.0
        for i in range(lo, hi):
            p = target_list[i] & POSITION
            place[p, output] = i - lo
            values[i, output] = y[rows[p], output] - centre
        if len(weight):
            for p in range(lo, hi):
                weight[p] = weights[rows[p]]


@subkernel
def _add(tree, i, n, amount):
    i += 1
    while i <= n:
        tree[i] += amount
        i += i & -i


@subkernel
def _descend(whole, part, sign, n, top, weight, upper):
    """Return the place of the lower (or upper) median of a set, and the weight before it.

    The set is the part (sign 1), or the whole minus the part (sign -1).
    """
    at, below = 0, 0.0
    step = top
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
def _sum_before(whole, part, sign, at):
    total = 0.0
    while at > 0:
        total += part[at] if sign > 0 else whole[at] - part[at]
        at -= at & -at
    return total


@subkernel
def _error(trees, sign, n, top, weight, total, values, lo, output):
    """Return the absolute error of a set; see `_descend`."""
    whole_w, whole_s, part_w, part_s = trees
    at, below_w = _descend(whole_w, part_w, sign, n, top, weight, False)
    below_s = _sum_before(whole_s, part_s, sign, at)
    median = values[lo + at, output]
    return median * below_w - below_s + (total - below_s) - median * (weight - below_w)


@subkernel
def _median(trees, sign, n, top, weight, values, lo, output):
    """Return the mean of the lower and the upper median of a set."""
    low, _ = _descend(trees[0], trees[2], sign, n, top, weight, False)
    high, _ = _descend(trees[0], trees[2], sign, n, top, weight, True)
    return values[lo + low, output] / 2.0 + values[lo + high, output] / 2.0


@subkernel
def _errors_along(entries, lo, last, n, targets, output, trees, state, order, errors):
    """Add both sides' absolute error at every cut 1..last of one output to ``errors``.

    ``order``: (monotone sign, lower, upper, are there constraints?); a cut that breaks it costs inf.
    """
    place, values, weight = targets
    all_w, all_s, left_w, left_s = state
    sign, lower, upper, bounded = order
    top = 1
    while 2 * top <= n:
        top *= 2
    for cut in range(1, last + 1):
        p = entries[lo + cut - 1] & POSITION
        w = weight[p] if len(weight) else 1.0
        v = values[lo + place[p, output], output] * w
        _add(trees[2], place[p, output], n, w)
        _add(trees[3], place[p, output], n, v)
        left_w += w
        left_s += v
        if not entries[lo + cut] & NEW:
            continue
        left = _error(trees, 1, n, top, left_w, left_s, values, lo, output)
        right = _error(trees, -1, n, top, all_w - left_w, all_s - left_s, values, lo, output)
        errors[cut] += left + right
        if bounded and sign != 0:
            a = _median(trees, 1, n, top, left_w, values, lo, output)
            b = _median(trees, -1, n, top, all_w - left_w, values, lo, output)
            if (b - a) * sign < 0.0 or min(a, b) < lower or max(a, b) > upper:
                errors[cut] = np.inf


@subkernel
def _load(entries, targets, lo, n, count, output, present, side, trees):
    """Fill the trees of one output: n rows, and the missing ones where they stand on the left."""
    place, values, weight = targets
    for i in range(count + 1):
        trees[0][i] = trees[1][i] = trees[2][i] = trees[3][i] = 0.0
    all_w, all_s, left_w, left_s = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        p = entries[lo + i] & POSITION
        at = place[p, output]
        w = weight[p] if len(weight) else 1.0
        v = values[lo + at, output] * w
        _add(trees[0], at, count, w)
        _add(trees[1], at, count, v)
        all_w += w
        all_s += v
        if side and i >= present:
            _add(trees[2], at, count, w)
            _add(trees[3], at, count, v)
            left_w += w
            left_s += v
    return all_w, all_s, left_w, left_s


@subkernel
def _whole_error(trees, n, state, values, lo, output):
    """Absolute error of the node itself."""
    top = 1
    while 2 * top <= n:
        top *= 2
    everything = (trees[0], trees[1], trees[0], trees[1])
    return _error(everything, 1, n, top, state[0], state[1], values, lo, output)


@inline
def _best_cut(entries, weight, lo, first, last, before, errors, min_weight, all_w):
    """Return (smallest error, cut) among the cuts that are allowed; (inf, 0) if none is."""
    left_weight, best, place = before, np.inf, 0
    for cut in range(1, last + 1):
        left_weight += weight[entries[lo + cut - 1] & POSITION] if len(weight) else 1.0
        if cut < first or not entries[lo + cut] & NEW:
            continue
        if left_weight < min_weight or all_w - left_weight < min_weight:
            continue
        if errors[cut] < best:
            best, place = errors[cut], cut
    return best, place


@kernel
def search_absolute(lists, columns, targets, nodes, rules, found, best):
    """Find the best cut of every node on several lists; arguments as for `search_moment`.

    ``targets`` is (place of each row among its node's sorted targets, those targets, weights);
    ``rules`` is (rows each side needs, judge by present rows alone?, weight each side needs,
    constraints?).
    """
    slots, features, signs = columns
    _, values, weight = targets
    min_leaf, skip, min_weight, bounded = rules
    outputs = values.shape[1]
    longest = 0
    for k in range(len(nodes.start)):
        longest = max(longest, nodes.end[k] - nodes.start[k])
    errors = np.empty(longest + 1)
    trees = (
        np.empty(longest + 1), np.empty(longest + 1), np.empty(longest + 1), np.empty(longest + 1)
    )  # fmt: skip
    for j in range(len(slots)):
        entries = lists[slots[j]]
        for k in range(len(nodes.start)):
            lo, count = nodes.start[k], nodes.end[k] - nodes.start[k]
            present = first_missing(entries, lo, nodes.end[k]) - lo
            n = present if skip else count
            everything = 0.0
            for i in range(count):
                everything += weight[entries[lo + i] & POSITION] if len(weight) else 1.0
            scale = math.ldexp(1.0, int(nodes.weight_shift[k] - nodes.sum_shift[k]))
            order = (
                signs[j, k % signs.shape[1]], nodes.lower[k] * scale, nodes.upper[k] * scale, bounded
            )  # fmt: skip
            found.score[k], found.cut[k], found.missing_left[k] = REFUSED, 0, 0
            for side in range(2 if present < n else 1):
                first, last = cut_range(count, present, min_leaf, side, skip)
                for cut in range(last + 1):
                    errors[cut] = 0.0
                before, all_w, left_w = 0.0, 0.0, 0.0
                for o in range(outputs if first <= last else 0):
                    state = _load(entries, targets, lo, n, count, o, present, side, trees)
                    all_w, left_w = state[0], state[2]
                    before += _whole_error(trees, count, state, values, lo, o)
                    _errors_along(entries, lo, last, count, targets, o, trees, state, order, errors)
                error, cut = _best_cut(
                    entries, weight, lo, first, last, left_w, errors, min_weight, all_w
                )
                score = max((before - error) / (everything * outputs), 0.0)
                if cut and score > found.score[k]:
                    found.score[k], found.cut[k], found.missing_left[k] = score, cut, side
        keep_better(found, features[j], FROM_LIST, best)


@kernel
def describe_absolute(rows, y, weights, target_list, output, start, end, value, weight, impurity):
    """Write the median and weight of one output, and add its mean absolute deviation."""
    for k in range(len(start)):
        lo, hi = start[k], end[k]
        median = weighted_median(rows, y, weights, target_list, lo, hi, output)
        value[k, output, 0] = median
        total, deviation = 0.0, 0.0
        for p in range(lo, hi):
            w = weights[rows[p]] if len(weights) else 1.0
            total += w
            deviation += w * abs(y[rows[p], output] - median)
        weight[k] = total
        impurity[k] += deviation / total / y.shape[1]


@inline
def weighted_median(rows, y, weights, target_list, lo, hi, output):
    """Median of a node's targets: the mean of the lower and the upper weighted median."""
    total = 0.0
    for i in range(lo, hi):
        r = rows[target_list[i] & POSITION]
        total += weights[r] if len(weights) else 1.0
    below = 0.0
    for i in range(lo, hi):
        r = rows[target_list[i] & POSITION]
        below += weights[r] if len(weights) else 1.0
        if 2.0 * below >= total:
            v = y[r, output]
            if 2.0 * below == total and i + 1 < hi:
                v = v / 2.0 + y[rows[target_list[i + 1] & POSITION], output] / 2.0
            return v
    return y[rows[target_list[hi - 1] & POSITION], output]
