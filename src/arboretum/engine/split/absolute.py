"""The search for absolute error: medians of both sides at every cut.

The absolute error of a set is Σ w |y - median|. Rows enter the left side one by one; two Fenwick trees
over the node's targets in sorted order (one for weights, one for weighted targets) give the median and
the error of the left side, and of the right side as total minus left, in O(log n) each:

    targets sorted   y_(0) <= y_(1) <= ... <= y_(n-1)
    descent          smallest r with  weight(y_(0..r)) >= W/2  ->  median y_(r)
    error            y_(r) W_r - S_r + (S - S_r) - y_(r) (W - W_r)

Where all rows weigh the same, no descent is needed: a row that enters or leaves moves the median by one
place at most, and bits say which places a side has (`_errors_of_equals`), with the same answers.

Sums are float64, centred on the middle of the node's range.
"""

import math

import numpy as np

from arboretum.engine.atomic import lowest_bit, prefetch_at
from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.split.best import FROM_LIST, REFUSED, keep_better
from arboretum.engine.split.one_sum import cut_range

__all__ = ["describe_absolute", "prepare_absolute", "search_absolute"]

_AHEAD = 12  # rows for whose sums memory is asked for before they are needed
_NO_BIT, _ONE_BIT, _ALL_BITS = np.uint64(0), np.uint64(1), ~np.uint64(0)


@kernel
def prepare_absolute(rows, y, weights, target_list, output, start, end, place, values, weight):
    """Write the sorted targets of every node and each row's place among them, for one output.

    ``target_list`` is the presorted list of the targets themselves, partitioned like a column.

    rows, target_list (n_rows,) uint32; y (n_rows, n_outputs) float64; weights (n_rows,) float64, or
    empty; start, end (n_nodes,) int64; place (n_rows, n_outputs) int64, written; values
    (n_rows, n_outputs) float64, written; weight (n_rows,) float64, written, or empty.
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
    """Add an amount at place i of a Fenwick tree.

    tree (n + 1,) float64, added to.
    """
    i += 1
    while i <= n:
        tree[i] += amount
        i += i & -i


@subkernel
def _descend(whole, part, sign, n, top, weight, upper):
    """Return the place of the lower (or upper) median of a set, and the weight before it.

    The set is the part (sign 1), or the whole minus the part (sign -1).

    whole, part (n + 1,) float64.
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
    """Return the sum of a set before a place; see `_descend`.

    whole, part (n + 1,) float64.
    """
    total = 0.0
    while at > 0:
        total += part[at] if sign > 0 else whole[at] - part[at]
        at -= at & -at
    return total


@subkernel
def _error(trees, sign, n, top, weight, total, values, lo, output):
    """Return the absolute error of a set; see `_descend`.

    trees (whole_w, whole_s, part_w, part_s) (n + 1,) float64 each; values (n_rows, n_outputs)
    float64.
    """
    whole_w, whole_s, part_w, part_s = trees
    at, below_w = _descend(whole_w, part_w, sign, n, top, weight, False)
    below_s = _sum_before(whole_s, part_s, sign, at)
    median = values[lo + at, output]
    return median * below_w - below_s + (total - below_s) - median * (weight - below_w)


@subkernel
def _median(trees, sign, n, top, weight, values, lo, output):
    """Return the mean of the lower and the upper median of a set.

    trees (whole_w, whole_s, part_w, part_s) (n + 1,) float64 each; values (n_rows, n_outputs)
    float64.
    """
    low, _ = _descend(trees[0], trees[2], sign, n, top, weight, False)
    high, _ = _descend(trees[0], trees[2], sign, n, top, weight, True)
    return values[lo + low, output] / 2.0 + values[lo + high, output] / 2.0


@subkernel
def _errors_along(entries, lo, last, n, targets, output, trees, state, order, errors):
    """Add both sides' absolute error at every cut 1..last of one output to ``errors``.

    ``order``: (monotone sign, lower, upper, are there constraints?); a cut that breaks it costs inf.

    entries (n_rows,) uint32; targets (place, values, weight) as in `search_absolute`; trees
    (whole_w, whole_s, part_w, part_s) (n + 1,) float64 each; errors (longest node + 1,) float64,
    added to.
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


# ---------------------------------------------------------------------- rows that weigh the same
@subkernel
def _ask_for(tree, place):
    """Ask for the two sums of a tree that a place changes and that no other row has just changed.

    tree (n + 1,) float64.
    """
    prefetch_at(tree, np.uint64(place) + _ONE_BIT)
    prefetch_at(tree, (np.uint64(place) | np.uint64(15)) + _ONE_BIT)


@subkernel
def _turn(bits, place):
    """Let a place come in that is out, or go out that is in.

    bits (n // 64 + 1,) uint64, updated.
    """
    bits[place >> 6] ^= _ONE_BIT << np.uint64(place & 63)


@subkernel
def _place_after(bits, place):
    """Return the first place after this one that is in; -1 if there is none.

    bits (n // 64 + 1,) uint64.
    """
    k = (place + 1) >> 6
    word = bits[k] & (_ALL_BITS << np.uint64((place + 1) & 63)) if k < len(bits) else _NO_BIT
    while word == _NO_BIT:
        k += 1
        if k >= len(bits):
            return np.int64(-1)
        word = bits[k]
    return np.int64(k * 64 + np.int64(lowest_bit(word)))


@subkernel
def _place_before(bits, place):
    """Return the last place before this one that is in; there is one.

    bits (n // 64 + 1,) uint64.
    """
    k, many = place >> 6, np.uint64(place & 63)
    word = bits[k] & ((_ONE_BIT << many) - _ONE_BIT)
    while word == _NO_BIT:
        k -= 1
        word = bits[k]
    last, half = np.int64(k * 64), np.uint64(32)
    while half:
        if word >> half:
            word >>= half
            last += np.int64(half)
        half >>= _ONE_BIT
    return last


@subkernel
def _settle(bits, at, below, n):
    """Move to the lower median of n places from one of them that has so many below.

    bits (n // 64 + 1,) uint64.
    """
    while 2 * (below + 1) < n:
        at, below = _place_after(bits, at), below + 1
    while 2 * below >= n:
        at, below = _place_before(bits, at), below - 1
    return at, below


@subkernel
def _error_at(trees, sign, at, below, n, total, value):
    """Return the absolute error of n rows whose median is known.

    trees (whole_w, whole_s, part_w, part_s) (n + 1,) float64 each.
    """
    below_s, weight, below_w = _sum_before(trees[1], trees[3], sign, at), float(n), float(below)
    return value * below_w - below_s + (total - below_s) - value * (weight - below_w)


@subkernel
def _errors_of_equals(entries, lo, last, count, targets, output, trees, sides, state, errors):
    """`_errors_along` for rows without weights and columns without constraints.

    ``sides`` are bits of the places on either side, and the places of all rows in the order of the column;
    ``state`` has how many rows there are before the first cut, and their sums.

    entries (n_rows,) uint32; targets (place, values, weight) as in `search_absolute`; trees
    (whole_w, whole_s, part_w, part_s) (count + 1,) float64 each; sides (left, right, order)
    (n_words,) uint64, the same, and (longest node,) int32; state (all_w, all_s, left_w, left_s)
    numbers; errors (longest node + 1,) float64, added to.
    """
    values = targets[1]
    left, right, order = sides
    n_left, n_right = np.int64(state[2]), np.int64(state[0] - state[2])
    all_s, left_s = state[1], state[3]
    at_left, at_right = _place_after(left, np.int64(-1)), _place_after(right, np.int64(-1))
    at_left, below_left = _settle(left, at_left, np.int64(0), max(n_left, 1))
    at_right, below_right = _settle(right, at_right, np.int64(0), n_right)
    for cut in range(1, last + 1):
        here = np.int64(order[cut - 1])
        _ask_for(trees[3], order[min(cut + _AHEAD, last) - 1])
        _add(trees[3], here, count, values[lo + here, output])
        left_s += values[lo + here, output]
        _turn(left, here)
        n_left += 1
        if n_left == 1:
            at_left, below_left = here, np.int64(0)
        elif here < at_left:
            below_left += 1
        at_left, below_left = _settle(left, at_left, below_left, n_left)
        n_right -= 1
        if here == at_right:  # the next takes its place, or the one before if it was the last
            at_right = _place_after(right, here)
            if at_right < 0:
                at_right, below_right = _place_before(right, here), below_right - 1
        elif here < at_right:
            below_right -= 1
        _turn(right, here)
        at_right, below_right = _settle(right, at_right, below_right, n_right)
        if entries[lo + cut] & NEW:
            errors[cut] += _error_at(
                trees, 1, at_left, below_left, n_left, left_s, values[lo + at_left, output]
            ) + _error_at(
                trees, -1, at_right, below_right, n_right, all_s - left_s,
                values[lo + at_right, output],
            )  # fmt: skip


@subkernel
def _load_equals(entries, targets, lo, n, count, output, present, side, trees, sides):
    """`_load` for rows without weights: sums of the targets, and bits of the places on either side.

    Returns the same, and the error of all of them together.

    entries (n_rows,) uint32; targets (place, values, weight) as in `search_absolute`; trees
    (whole_w, whole_s, part_w, part_s) (count + 1,) float64 each, written; sides
    (left, right, order) as in `_errors_of_equals`, written.
    """
    place, values = targets[0], targets[1]
    left, right, order = sides
    for i in range(n):
        order[i] = place[entries[lo + i] & POSITION, output]
    for i in range(count + 1):
        trees[1][i] = trees[3][i] = 0.0
    for k in range(len(left)):
        left[k] = right[k] = _NO_BIT
    all_s, left_s, n_left = 0.0, 0.0, 0
    for i in range(n):
        at = np.int64(order[i])
        _ask_for(trees[1], order[min(i + _AHEAD, n - 1)])
        v = values[lo + at, output]
        _add(trees[1], at, count, v)
        all_s += v
        _turn(right, at)
        if side and i >= present:
            _add(trees[3], at, count, v)
            left_s += v
            n_left += 1
    at, below = _settle(right, _place_after(right, np.int64(-1)), np.int64(0), n)
    before = _error_at(
        (trees[1], trees[1], trees[1], trees[1]), 1, at, below, n, all_s, values[lo + at, output]
    )
    if side:
        for i in range(present, n):
            at = np.int64(place[entries[lo + i] & POSITION, output])
            _turn(right, at)
            _turn(left, at)
    return (float(n), all_s, float(n_left), left_s), before


# ---------------------------------------------------------------------- rows with weights
@subkernel
def _load(entries, targets, lo, n, count, output, present, side, trees):
    """Fill the trees of one output: n rows, and the missing ones where they stand on the left.

    entries (n_rows,) uint32; targets (place, values, weight) as in `search_absolute`; trees
    (whole_w, whole_s, part_w, part_s) (count + 1,) float64 each, written.
    """
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
    """Absolute error of the node itself.

    trees (whole_w, whole_s, part_w, part_s) (n + 1,) float64 each; state
    (all_w, all_s, left_w, left_s) numbers; values (n_rows, n_outputs) float64.
    """
    top = 1
    while 2 * top <= n:
        top *= 2
    everything = (trees[0], trees[1], trees[0], trees[1])
    return _error(everything, 1, n, top, state[0], state[1], values, lo, output)


@inline
def _best_cut(entries, weight, lo, first, last, before, errors, min_weight, all_w):
    """Return (smallest error, cut) among the cuts that are allowed; (inf, 0) if none is.

    entries (n_rows,) uint32; weight (n_rows,) float64, or empty; errors (longest node + 1,) float64.
    """
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


@kernel(makes_arrays=True)
def search_absolute(lists, columns, targets, nodes, rules, found, best):
    """Find the best cut of every node on several lists; arguments as for `search_moment`.

    ``targets`` is (place of each row among its node's sorted targets, those targets, weights);
    ``rules`` is (rows each side needs, judge by present rows alone?, weight each side needs,
    constraints?).

    lists (n_slots, n_rows) uint32; columns (slots, features, signs) (n_columns,) int64, the same, and
    (n_columns, 1 or n_nodes) int8; targets (place, values, weight) (n_rows, n_outputs) int64,
    (n_rows, n_outputs) float64, and (n_rows,) float64 or empty.
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
    words = longest // 64 + 1
    sides = np.empty(words, np.uint64), np.empty(words, np.uint64), np.empty(longest, np.int32)
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
                    if len(weight) == 0 and not (bounded and order[0] != 0):
                        state, whole = _load_equals(
                            entries, targets, lo, n, count, o, present, side, trees, sides
                        )
                        all_w, left_w = state[0], state[2]
                        before += whole
                        _errors_of_equals(
                            entries, lo, last, count, targets, o, trees, sides, state, errors
                        )
                        continue
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
    """Write the median and weight of one output, and add its mean absolute deviation.

    rows, target_list (n_rows,) uint32; y (n_rows, n_outputs) float64; weights (n_rows,) float64, or
    empty; start, end (n_nodes,) int64; value (n_nodes, n_outputs, 1) float64, written; weight
    (n_nodes,) float64, written; impurity (n_nodes,) float64, added to.
    """
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
    """Median of a node's targets: the mean of the lower and the upper weighted median.

    rows, target_list (n_rows,) uint32; y (n_rows, n_outputs) float64; weights (n_rows,) float64, or
    empty.
    """
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
