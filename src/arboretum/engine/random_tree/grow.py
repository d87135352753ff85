"""The loop that grows a tree: take a node, search it, part its rows, put its children by.

Trees of a forest are independent, so threads take trees, and one compiled call grows one of them. It
works on rows kept node by node:

    rows   7 2 9 4 5 1        a cut puts the left rows first:      7 9 5 | 2 4 1
    root   ^         ^                                             left    right

Depth first, a node is parted as soon as it is searched. Best first (``max_leaves``), searched nodes wait
in a heap and the one that gains most is parted next. A large table's branch that has become small gets a
copy of its columns, so that it finds them in the cache.

Columns are drawn, keys handed to children and ties broken as in the level-wise search (drawn.py): on
data without rounding ties both grow the same tree.
"""

from __future__ import annotations

import math

import numpy as np

from arboretum.engine.jit import inline, kernel, leaf_kernel
from arboretum.engine.random import mix
from arboretum.engine.random_tree.best_cut import best_cut, part_two
from arboretum.engine.random_tree.counts import count_codes, order_categories, take_categories
from arboretum.engine.random_tree.random_cut import cut_pair, gone_of, random_cut, toss
from arboretum.engine.random_tree.records import CATEGORY, ONE_SUM, Table, Target
from arboretum.engine.statistic import ENTROPY, POISSON, exponent_above

__all__ = ["grow_tree"]

_NEAR = 1 << 20  # bytes of a branch's columns that are copied together
_ONE = np.uint64(1)
_SUM_BITS = 61  # as in statistic.py
_EPSILON = np.finfo(np.float64).eps
_LN2 = math.log(2.0)

# columns of a stack: a branch that waits, and what is known of it
_START, _END, _NODE, _DEPTH, _KEY, _WEIGHT, _SUM = 0, 1, 2, 3, 4, 5, 6
# of a heap: the same, and what its search found
_FEATURE, _SIDE, _LAST = 7, 8, 9
_GAIN, _CUT = 0, 1


@leaf_kernel
def _push(stack, at, start, end, node, depth, key, weight, total):
    stack[at, _START], stack[at, _END] = start, end
    stack[at, _NODE], stack[at, _DEPTH], stack[at, _KEY] = node, depth, np.int64(key)
    stack[at, _WEIGHT], stack[at, _SUM] = weight, total


# --------------------------------------------------------------------------- what a node holds
@leaf_kernel
def _regrid(y, row_weight, rows, start, n, rules, number, weight):
    """Put a node's targets on a grid of its own, as `prepare_numbers` does.

    Returns (exponent of the grid, middle of the first output, are all targets equal?).
    """
    end, largest, equal, first_centre, whole = start + np.uint64(n), 0.0, True, 0.0, np.float64(n)
    if len(row_weight):
        whole = 0.0
        for p in range(start, end):
            whole += row_weight[rows[p]]
    for o in range(y.shape[1]):
        low, high = _range(y, o, rows, start, end)
        equal &= low == high
        centre = 0.0 if rules.criterion == POISSON else low / 2.0 + high / 2.0
        largest = max(largest, abs(high - centre), abs(low - centre))
    shift = _SUM_BITS - exponent_above(largest) - exponent_above(whole)
    shift = min(shift, 1000) if largest > 0.0 else 0
    scale = math.ldexp(1.0, int(shift))
    for o in range(y.shape[1]):
        low, high = _range(y, o, rows, start, end)
        centre = 0.0 if rules.criterion == POISSON else low / 2.0 + high / 2.0
        if o == 0:
            first_centre = centre
        for p in range(start, end):
            v = (y[rows[p], o] - centre) * scale
            if rules.whole_weights:
                number[o, p] = np.int64(math.floor(v + 0.5)) * weight[p]
            else:
                number[o, p] = np.int64(math.floor(v * row_weight[rows[p]] + 0.5))
    return shift, first_centre, equal


@leaf_kernel
def _range(y, o, rows, start, end):
    low = high = y[rows[start], o]
    for p in range(start, end):
        v = y[rows[p], o]
        low, high = min(low, v), max(high, v)
    return low, high


@leaf_kernel
def _count_labels(label, weight, start, n, total):
    for c in range(len(total)):
        total[c] = 0
    for p in range(start, start + np.uint64(n)):
        for o in range(len(label)):
            total[label[o, p]] += weight[p]


@leaf_kernel
def _label_impurity(total, whole, rules):
    """Return (are all labels of each output equal?, impurity)."""
    impurity, full = 0.0, 0
    for c in range(len(total)):
        share = np.float64(total[c]) / np.float64(whole)
        if rules.criterion == ENTROPY:
            impurity -= share * math.log2(share) if share > 0.0 else 0.0
        else:
            impurity += share * (1.0 - share)
        full += np.int64(total[c] == whole)
    return full == rules.outputs, impurity / np.float64(rules.outputs)


@leaf_kernel
def _number_impurity(number, weight, start, n, total, whole, rules):
    """`_label_impurity` for numbers on the grid; two different whole numbers make at least 1/4."""
    impurity, pure = 0.0, True
    for o in range(len(total)):
        mean, squares = np.float64(total[o]) / np.float64(whole), 0.0
        for p in range(start, start + np.uint64(n)):
            w = np.float64(weight[p])
            v = np.float64(number[o, p]) / w
            if rules.criterion != POISSON:
                squares += w * (v - mean) * (v - mean)
            elif v > 0.0:
                squares += w * v * math.log(v / mean)
        pure &= squares < 0.2
        impurity += squares / np.float64(whole)
    return pure, impurity / np.float64(len(total))


@leaf_kernel
def _sum_numbers(number, start, n, total):
    for o in range(len(total)):
        total[o] = 0
        for p in range(start, start + np.uint64(n)):
            total[o] += number[o, p]


# --------------------------------------------------------------------------- parting the rows
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
def _mark_categories(codes, f, gone, takes, side, rows, start, n, side_of):
    """Mark which rows of a category division go left; return whether a value was missing."""
    missing = np.int64(0)
    for i in range(n):
        code = np.uint64(codes[f, rows[start + np.uint64(i)]])
        lost = np.int64(code == gone)
        side_of[i] = side if lost else takes[code]
        missing |= lost
    return missing > 0


@leaf_kernel
def _mark_tossed(x, n, gone, side, all_present, side_of):
    """`_mark_categories` for coins (see `toss`)."""
    missing = np.int64(0)
    for i in range(n):
        lost = np.int64(x[i] == gone)
        goes = side if lost else (all_present | np.int64(x[i] == 0))
        side_of[i] = goes
        missing |= lost
    return missing > 0


@leaf_kernel
def _count_left(side_of, n):
    total = np.int64(0)
    for i in range(n):
        total += np.int64(side_of[i])
    return total


# --------------------------------------------------------------------------- best first
@leaf_kernel
def _before(heap, real, a, b):
    """Tell whether entry a of the heap is taken before entry b: it gains more, or is older."""
    if real[a, _GAIN] != real[b, _GAIN]:
        return real[a, _GAIN] > real[b, _GAIN]
    return heap[a, _NODE] < heap[b, _NODE]


@leaf_kernel
def _swap(heap, real, a, b):
    for j in range(heap.shape[1]):
        heap[a, j], heap[b, j] = heap[b, j], heap[a, j]
    for j in range(real.shape[1]):
        real[a, j], real[b, j] = real[b, j], real[a, j]


@leaf_kernel
def _sift_up(heap, real, at):
    while at > 0 and _before(heap, real, at, (at - 1) // 2):
        _swap(heap, real, at, (at - 1) // 2)
        at = (at - 1) // 2


@leaf_kernel
def _sift_down(heap, real, size):
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _before(heap, real, child + 1, child):
            child += 1
        if not _before(heap, real, child, at):
            break
        _swap(heap, real, at, child)
        at = child


# --------------------------------------------------------------------------- constraints
@leaf_kernel
def _bound_children(bounds, node, child, sign, left_mean, right_mean):
    """Keep both children's means inside their parent's bounds, and apart from each other."""
    lower, upper = bounds[node, 0], bounds[node, 1]
    for c in range(2):
        bounds[child + c, 0], bounds[child + c, 1] = lower, upper
    if sign == 0:
        return
    left, right = min(max(left_mean, lower), upper), min(max(right_mean, lower), upper)
    middle = left / 2 + right / 2
    if sign > 0:
        bounds[child, 1], bounds[child + 1, 0] = middle, middle
    else:
        bounds[child, 0], bounds[child + 1, 1] = middle, middle


@leaf_kernel
def _ones(label, weight, start, many):
    """Return the weight of class 1 among some rows."""
    total = np.int64(0)
    for p in range(start, start + np.uint64(many)):
        total += weight[p] * np.int64(label[0, p] == 1)
    return total


# --------------------------------------------------------------------------- growing
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
    return Table(codes, values, table.n_codes, table.kind, table.sign, rows.copy())


@inline
def _enough(n, depth, whole, rules):
    """Tell whether a node of so many rows, depth and weight may be divided."""
    if n < rules.min_split or n < 2 * rules.min_leaf or depth >= rules.max_depth:
        return False
    return whole >= 2 * rules.min_weight


@leaf_kernel
def _grow(table, rows, offset, target, root_weight, rules, out, nodes, small, scratch, counter):
    """Grow the branch at the foot of the stack; put branches of up to ``small`` rows by.

    ``offset`` is where the rows stand in the tree. Returns (nodes made so far, branches put by).
    """
    codes, values, n_codes, kind, signs, origin = table
    label, number, weight, y, row_weight = target
    feature, threshold, below, above, first_child, missing_child, gain, starts, ends_at = out[:9]
    weights, totals, bounds = out[9:]
    keys, spare, buckets, x, left, total, order, constant, ends, bits, logs, stack = scratch[:12]
    later, heap, heap_real = scratch[12:]
    tag, cells, seen, order_key, axis, takes = counter
    spare_row, side_of = spare.view(np.uint32), keys.view(np.uint8)
    spare_whole = spare.view(np.int64)
    one_sum, best_first = rules.form == ONE_SUM, rules.max_leaves > 0
    gone = np.int64(gone_of(values))
    pairs = one_sum and rules.min_weight == 0
    constant[:] = -1
    height, n_later, in_heap, leaves = 1, 0, 0, 1
    lower, upper, middle_of_grid, per_step = -np.inf, np.inf, 0.0, 1.0
    while True:
        if height:  # search a node
            height -= 1
            begin, end, depth = stack[height, _START], stack[height, _END], stack[height, _DEPTH]
            node, node_key = np.uint64(stack[height, _NODE]), np.uint64(stack[height, _KEY])
            whole, sum_here = stack[height, _WEIGHT], stack[height, _SUM]
            start, n = np.uint64(begin), end - begin
            if n <= small:
                _push(later, n_later, begin, end, node, depth, node_key, whole, sum_here)
                n_later += 1
                continue
            starts[node], ends_at[node] = offset + begin, offset + end
            feature[node], first_child[node], missing_child[node] = -1, -1, -1
            threshold[node], gain[node] = np.nan, 0.0
            weights[node], totals[node] = whole, sum_here
            if not _enough(n, depth, whole, rules):
                continue
            unit, impurity = rules.gain_unit, 0.0
            if len(label):
                _count_labels(label, weight, start, n, total)
                pure, impurity = _label_impurity(total, whole, rules)
            elif rules.two_classes:
                total[0] = sum_here
                share = np.float64(sum_here) / np.float64(whole)
                pure, impurity = sum_here == 0 or sum_here == whole, share * (1.0 - share)
            elif rules.regrid:
                shift, middle_of_grid, pure = _regrid(
                    y, row_weight, rows, start, n, rules, number, weight
                )
                per_step = math.ldexp(1.0, -int(shift)) / rules.weight_step
                unit = per_step if rules.criterion == POISSON else per_step * per_step
                _sum_numbers(number, start, n, total)
                if rules.charge > 0.0:
                    _, impurity = _number_impurity(number, weight, start, n, total, whole, rules)
            else:
                if one_sum:
                    total[0] = sum_here
                else:
                    _sum_numbers(number, start, n, total)
                pure, impurity = _number_impurity(number, weight, start, n, total, whole, rules)
            if pure:
                continue
            if rules.bounded:
                lower = (bounds[node, 0] - middle_of_grid) / per_step
                upper = (bounds[node, 1] - middle_of_grid) / per_step
            chance = rules.charge * impurity / np.float64(n)
            last_left = first_right = rows[start]
            if n == 2 and pairs and rules.random_splits:
                best, chosen, cut, side, last = cut_pair(
                    values, kind, constant, rows, start, number, weight, total[0], whole, node_key, rules,
                    order, ends, bits,
                )  # fmt: skip
            elif rules.random_splits:
                best, chosen, cut, side, last = random_cut(
                    values, n_codes, kind, signs, constant, rows, start, n, label, number, weight,
                    total, whole, lower, upper, node_key, rules, logs, x, left, order, ends, bits,
                )  # fmt: skip
            elif n == 2 and pairs:
                best, chosen, cut, side, last, last_left, first_right = part_two(
                    codes, n_codes, kind, constant, rows, start, number, weight, total[0], whole,
                    node_key, rules, order,
                )  # fmt: skip
            else:
                best, chosen, cut, side, last, last_left, first_right = best_cut(
                    codes, n_codes, kind, signs, constant, rows, start, n, label, number, weight,
                    total, whole, chance, lower, upper, node_key, rules, logs, keys, spare, buckets,
                    left, order, tag, cells, seen, order_key, axis,
                )  # fmt: skip
            decrease = best * (np.float64(whole) / root_weight) * unit
            if chosen < 0 or decrease + _EPSILON < rules.min_decrease:
                continue
            below[node] = origin[last_left] if len(origin) else last_left
            above[node] = origin[first_right] if len(origin) else first_right
            if best_first:
                for j in range(7):
                    heap[in_heap, j] = stack[height, j]
                heap[in_heap, _FEATURE], heap[in_heap, _SIDE] = chosen, side
                heap[in_heap, _LAST] = last
                heap_real[in_heap, _GAIN], heap_real[in_heap, _CUT] = decrease, cut
                _sift_up(heap, heap_real, in_heap)
                in_heap += 1
                continue
        elif in_heap and leaves < rules.max_leaves:  # or take the best of those searched
            begin, end, depth = heap[0, _START], heap[0, _END], heap[0, _DEPTH]
            node, node_key = np.uint64(heap[0, _NODE]), np.uint64(heap[0, _KEY])
            whole, sum_here = heap[0, _WEIGHT], heap[0, _SUM]
            start, n = np.uint64(begin), end - begin
            chosen, side, last = heap[0, _FEATURE], heap[0, _SIDE], heap[0, _LAST]
            decrease, cut = heap_real[0, _GAIN], heap_real[0, _CUT]
            in_heap -= 1
            _swap(heap, heap_real, 0, in_heap)
            _sift_down(heap, heap_real, in_heap)
            leaves += 1
            if rules.regrid:
                shift, middle_of_grid, _ = _regrid(
                    y, row_weight, rows, start, n, rules, number, weight
                )
                per_step = math.ldexp(1.0, -int(shift)) / rules.weight_step
                _sum_numbers(number, start, n, total)
            elif len(label):
                _count_labels(label, weight, start, n, total)
            elif not one_sum:
                _sum_numbers(number, start, n, total)
            else:
                total[0] = sum_here
        else:
            break
        # -------------------------------------------------------------- part its rows
        f = np.uint64(chosen)
        if kind[f] == CATEGORY:
            if rules.random_splits:
                toss(values, f, rows, start, n, node_key, n_codes[f], x)
                missing = _mark_tossed(x, n, gone, side, last, side_of)
            else:
                m = count_codes(
                    codes, f, rows, start, n, label, number, weight, rules.form, tag, cells, seen
                )
                m, subsets = order_categories(
                    m, n_codes[f], cells, seen, order_key, axis, total, whole, rules.outputs,
                    len(label) > 0, rules.exhaustive,
                )  # fmt: skip
                take_categories(m, last, subsets, seen, takes)
                missing = _mark_categories(
                    codes, f, n_codes[f], takes, side, rows, start, n, side_of
                )
            many = _count_left(side_of, n)
            _move(rows, start, n, side_of, spare_row)
        elif rules.random_splits:
            many, missing = _part(values, f, gone, last, side, rows, start, n, spare_row, side_of)
        else:
            many, missing = _part(
                codes, f, n_codes[f], last, side, rows, start, n, spare_row, side_of
            )
        left_weight, left_sum = many, np.int64(0)
        if not rules.unit_weights:
            left_weight = _move_sum(weight, start, n, side_of, spare_whole)
        for o in range(len(label)):
            _move(label[o], start, n, side_of, spare_row)
        for o in range(len(number)):
            moved = _move_sum(number[o], start, n, side_of, spare_whole)
            left_sum = moved if o == 0 else left_sum
        right_weight, right_sum = whole - left_weight, sum_here - left_sum
        feature[node], threshold[node], gain[node] = chosen, cut, decrease
        first_child[node] = nodes
        missing_child[node] = 1 - side if missing else np.int64(right_weight > left_weight)
        if rules.bounded:
            on_left, everything = left_sum, total[0]
            if len(label):
                on_left, everything = _ones(label, weight, start, many), total[1]
            _bound_children(
                bounds, node, nodes, signs[f],
                middle_of_grid + per_step * np.float64(on_left) / np.float64(left_weight),
                middle_of_grid + per_step * np.float64(everything - on_left) / np.float64(right_weight),
            )  # fmt: skip
        middle, depth = begin + many, depth + 1
        key = mix(node_key, np.uint64(1))
        _push(stack, height, middle, end, nodes + 1, depth, key, right_weight, right_sum)
        key = mix(node_key, np.uint64(0))
        _push(stack, height + 1, begin, middle, nodes, depth, key, left_weight, left_sum)
        height += 2
        nodes += 2
    return nodes, n_later


@leaf_kernel
def _sum(values):
    total = np.int64(0)
    for i in range(len(values)):
        total += values[i]
    return total


@kernel
def grow_tree(table, rows, target, key, rules, out, scratch, counter):
    """Grow one tree on ``rows``; all arrays of rows are reordered. Returns how many nodes it has.

    Parameters
    ----------
    table : Table
    rows : uint32 array
    target : Target
    key : uint64
        What random draws are keyed by.
    rules, out, scratch, counter : Rules, Grown, Scratch, Counter
    """
    m, columns = len(rows), len(table.n_codes)
    whole = _sum(target.weight)
    total = _sum(target.number[0]) if len(target.number) else np.int64(0)
    stack, later = scratch.stack, scratch.later
    _push(stack, 0, 0, m, 0, 0, key, whole, total)
    size = table.values.itemsize if len(table.values) else table.codes.itemsize
    small = max(_NEAR // (columns * size), 1)
    if m <= small or rules.max_leaves > 0 or rules.regrid:
        small = 0
    root_weight = np.float64(whole)
    nodes, n_later = _grow(
        table, rows, 0, target, root_weight, rules, out, 1, small, scratch, counter
    )
    for k in range(n_later):
        start, end = later[k, _START], later[k, _END]
        here = rows[start:end]
        near = _nearby(table, here)
        part = Target(
            target.label[:, start:end].copy(), target.number[:, start:end].copy(),
            target.weight[start:end], target.y, target.row_weight,
        )  # fmt: skip
        for i in range(end - start):
            here[i] = i
        stack[0] = later[k]
        stack[0, _START], stack[0, _END] = 0, end - start
        nodes, _ = _grow(
            near, here, start, part, root_weight, rules, out, nodes, 0, scratch, counter
        )
        for i in range(end - start):
            here[i] = near.origin[here[i]]
    return nodes
