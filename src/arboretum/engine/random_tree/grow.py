"""The loop that grows trees: take a node, search it, part its rows, put its children by.

Trees of a forest are independent, so threads take trees, and one compiled call grows some of them. Each
works on its rows, kept node by node. Depth first, a node is parted as soon as it is searched. Best first
(``max_leaves``), searched nodes wait in a heap and the one that gains most is parted next. A large
table's branch that has become small gets a copy of its rows, each in one piece: whatever is grown
from it finds them in the cache.

Columns are drawn, keys handed to children and ties broken as in the level-wise search
(split/sampled_columns.py): on data without rounding ties both grow the same tree.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.lists import NOWHERE
from arboretum.engine.intrinsics import prefetch
from arboretum.engine.jit import inline, joined_kernel, leaf_kernel, plain_kernel
from arboretum.engine.random import mix
from arboretum.engine.random_tree.best_cut import best_cut, part_two
from arboretum.engine.random_tree.best_first import NODE, put_by, take_out
from arboretum.engine.random_tree.few_rows import cut_few
from arboretum.engine.random_tree.node import (
    add_up,
    are_alike,
    drop_empty,
    impurity_of,
    put_on_grid,
)
from arboretum.engine.random_tree.part import move, move_sum, part_categories, part_numbers
from arboretum.engine.random_tree.random_cut import cut_pair, random_cut
from arboretum.engine.random_tree.records import CATEGORY, FEW, ONE_LABEL
from arboretum.engine.split.statistic import POISSON

__all__ = ["grow_trees"]

_AHEAD = np.uint64(16)  # rows that are asked for before they are copied
_LISTED = 6  # a node of more than a sixth of all rows takes them out of presorted lists: less than sorting
_EPSILON = np.finfo(np.float64).eps
_START, _END, _DEPTH, _KEY, _WEIGHT, _SUM = 0, 1, 3, 4, 5, 6  # what is known of a waiting branch


@joined_kernel
def _push(stack, at, start, end, node, depth, key, weight, total):
    stack[at, _START], stack[at, _END] = start, end
    stack[at, NODE], stack[at, _DEPTH], stack[at, _KEY] = node, depth, np.int64(key)
    stack[at, _WEIGHT], stack[at, _SUM] = weight, total


@inline
def _enough(n, depth, node_weight, rules):
    """Tell whether a node of so many rows, depth and weight may be divided."""
    if n < rules.min_split or n < 2 * rules.min_leaf or depth >= rules.max_depth:
        return False
    return node_weight >= 2 * rules.min_weight


# --------------------------------------------------------------------------- one node
@joined_kernel
def _find_cut(
    codes, values, lists, place, step, n_codes, kind, signs, constant, rows, start, n, label, number, weight,
    total, node_weight, chance, lower, upper, node_key, rules, logs, keys, spare, buckets, x, left, order,
    ends, bits, drawn, cuts, tag, cells, seen, key, axis,
):  # fmt: skip
    """Search the columns of a node; see `best_cut` and `random_cut` for what comes back."""
    best, chosen, cut = -1.0, np.int64(-1), np.nan
    side, last, last_left, first_right = np.int64(0), np.int64(0), rows[start], rows[start]
    pair = n == 2 and left is None and rules.min_weight == 0
    if values is not None:
        if pair and number is not None:
            best, chosen, cut, side, last = cut_pair(
                values, step, kind, constant, rows, start, number, weight, total[0], node_weight,
                node_key, rules, order, ends, bits,
            )  # fmt: skip
        few = not pair and n <= FEW and left is None
        if few and number is not None:
            best, chosen, cut, side, last = cut_few(
                values, step, n_codes, kind, constant, rows, start, n, number, weight, total[0],
                node_weight, node_key, rules, x, order, ends, bits, keys, buckets, drawn, cuts,
            )  # fmt: skip
        if not (pair or few):
            best, chosen, cut, side, last = random_cut(
                values, step, n_codes, kind, signs, constant, rows, start, n, label, number, weight,
                total, node_weight, lower, upper, node_key, rules, logs, x, left, order, ends, bits,
                keys,
            )  # fmt: skip
    if codes is not None:
        if pair and number is not None:
            best, chosen, cut, side, last, last_left, first_right = part_two(
                codes, step, n_codes, kind, constant, rows, start, number, weight, total[0],
                node_weight, node_key, rules, order,
            )  # fmt: skip
        if not pair:
            best, chosen, cut, side, last, last_left, first_right = best_cut(
                codes, lists, place, step, n_codes, kind, signs, constant, rows, start, n, label, number,
                weight, total, node_weight, chance, lower, upper, node_key, rules, logs, keys, spare,
                buckets, left, order, tag, cells, seen, key, axis,
            )  # fmt: skip
    return best, chosen, cut, side, last, last_left, first_right


@leaf_kernel
def _bounds_of(bounds, node, middle, step):
    """Return what a node's mean may be, on its grid."""
    if bounds is None:
        return -np.inf, np.inf
    return (bounds[node, 0] - middle) / step, (bounds[node, 1] - middle) / step


@leaf_kernel
def _bound_children(
    bounds, node, child, sign, label, weight, start, many, total, left_sum, left_weight, node_weight,
    middle, step,
):  # fmt: skip
    """Keep both children's means inside their parent's bounds, and apart from each other."""
    if bounds is None:
        return
    lower, upper = bounds[node, 0], bounds[node, 1]
    for c in range(2):
        bounds[child + c, 0], bounds[child + c, 1] = lower, upper
    if sign == 0:
        return
    everything = total[len(total) - 1]  # the last of two classes, or the number itself
    if label is not None:
        left_sum = np.int64(0)
        for p in range(start, start + np.uint64(many)):
            left_sum += weight[p] * np.int64(label[0, p] == 1)
    left = middle + step * np.float64(left_sum) / np.float64(left_weight)
    right = middle + step * np.float64(everything - left_sum) / np.float64(
        node_weight - left_weight
    )
    between = min(max(left, lower), upper) / 2 + min(max(right, lower), upper) / 2
    if sign > 0:
        bounds[child, 1], bounds[child + 1, 0] = between, between
    else:
        bounds[child, 0], bounds[child + 1, 1] = between, between


@joined_kernel
def _move_targets(label, number, start, n, side_of, spare):
    """Let the targets follow their rows; return the sum of the first output on the left."""
    left_sum = np.int64(0)
    if label is not None:
        for o in range(len(label)):
            move(label[o], start, n, side_of, spare.view(np.uint32))
    if number is not None:
        left_sum = move_sum(number[0], start, n, side_of, spare.view(np.int64))
        for o in range(1, len(number)):
            move_sum(number[o], start, n, side_of, spare.view(np.int64))
    return left_sum


# --------------------------------------------------------------------------- whole trees
@leaf_kernel
def _lay_out(weights, labels, numbers, rows, target):
    """Write the rows of a tree, and what they weigh and add; return (how many, weight, sum)."""
    m, node_weight, total = np.uint64(0), np.int64(0), np.int64(0)
    for i in range(len(weights)):
        row = np.uint64(i)
        w = weights[row]
        if w == 0:
            continue
        rows[m], target.weight[m] = row, w
        node_weight += w
        m += np.uint64(1)
    _lay_labels(labels, rows, m, target.label)
    if numbers is not None:
        total = _lay_numbers(numbers, rows, m, target.weight, target.number)
    return np.int64(m), node_weight, total


@leaf_kernel
def _lay_labels(labels, rows, m, label):
    if labels is not None:
        for o in range(len(labels)):
            for i in range(m):
                label[o, i] = labels[o, rows[i]]


@leaf_kernel
def _lay_numbers(numbers, rows, m, weight, number):
    total = np.int64(0)
    if number is not None:
        for i in range(m):
            number[0, i] = numbers[rows[i]] * weight[i]
            total += number[0, i]
    return total


@leaf_kernel
def _gather(near, table, rows, start, end):
    width, last = np.uint64(table.shape[1]), np.uint64(end - 1)
    line = np.uint64(64 // table.itemsize)
    for p in range(np.uint64(start), np.uint64(end)):
        row, at = np.uint64(rows[p]), p - np.uint64(start)
        ahead = np.uint64(rows[min(p + _AHEAD, last)])
        for f in range(np.uint64(0), width, line):
            prefetch(table, ahead, f)
        for f in range(width):
            near[at, f] = table[row, f]


@leaf_kernel
def _come_near(near, table, rows, branch, stack):
    """Copy the rows of a branch that was put by; they are numbered by where their values begin."""
    start, end, width = branch[_START], branch[_END], near.by_row.shape[1]
    _gather(near.by_row, table.by_row, rows, start, end)
    for p in range(start, end):
        near.origin[p - start], rows[p] = rows[p], (p - start) * width
    for j in range(len(branch)):
        stack[0, j] = branch[j]


@leaf_kernel
def _go_back(near, rows, branch):
    """Give the rows of a branch their own numbers again."""
    width = np.uint32(near.by_row.shape[1])
    for p in range(branch[_START], branch[_END]):
        rows[p] = near.origin[rows[p] // width]


@leaf_kernel
def _write_places(place, rows, start, end):
    """Write where the rows that stand from start to end stand."""
    for p in range(np.uint64(start), np.uint64(end)):
        place[np.uint64(rows[p])] = np.uint32(p)


@leaf_kernel
def _begin(constant, bounds, root):
    """Forget what was known of the tree before."""
    for f in range(len(constant)):
        constant[f, 0], constant[f, 1] = -1, -1
    if bounds is not None:
        bounds[root, 0], bounds[root, 1] = -np.inf, np.inf


@plain_kernel
def grow_trees(table, near, bags, target, seeds, rules, out, scratch, counter):
    """Grow a tree from every bag; ``out`` and ``bags.rows`` say how.

    Parameters
    ----------
    table : TreeColumns
    near : TreeColumns
        Room for the columns of a few rows: a branch of so few is grown on a copy of them.
    bags : Bags
    target : Target
        Scratch, but for ``y`` and ``row_weight``.
    seeds : uint64 array
        What the random draws of every tree are keyed by.
    rules, out, scratch, counter : TreeRules, GrownNodes, Scratch, Counter
    """
    n_codes, kind, signs = table.n_codes, table.kind, table.sign
    width = np.uint32(len(kind))
    label, number, weight = target.label, target.number, target.weight
    y, row_weight = target.y, target.row_weight
    feature, threshold, below, above = out.feature, out.threshold, out.below, out.above
    first_child, missing_child, gain = out.first_child, out.missing_child, out.gain
    starts, ends_at, weights, totals = out.start, out.end, out.weight, out.total
    bounds, node_start = out.bounds, out.node_start
    keys, spare, buckets = scratch.keys, scratch.spare, scratch.buckets
    x, ends, bits = scratch.x, scratch.ends, scratch.bits
    drawn, cuts = scratch.drawn, scratch.cuts
    left, channel, order, constant = scratch.left, scratch.total, scratch.order, scratch.constant
    logs, stack, later = scratch.logs, scratch.stack, scratch.later
    lists, place = table.lists, scratch.place
    heap, heap_real = scratch.heap, scratch.heap_real
    tag, cells, seen = counter.tag, counter.cells, counter.seen
    order_key, axis, takes = counter.key, counter.axis, counter.takes
    spare_row, side_of = spare.view(np.uint32), keys.view(np.uint8)
    nodes, at = np.int64(0), np.int64(0)
    for tree in range(len(seeds)):
        rows = bags.rows[at:]
        m, node_weight, sum_here = _lay_out(
            bags.weight[tree], bags.label, bags.number, rows, target
        )
        root, root_weight = nodes, np.float64(node_weight)
        node_start[tree] = root
        _begin(constant, bounds, root)
        if rules.form == ONE_LABEL:
            sum_here = np.int64(len(channel))
        codes, values, step, origin = table.codes, table.values, table.step, table.origin
        height, in_heap, leaves = np.int64(0), np.int64(0), np.int64(1)
        _push(stack, height, height, m, root, height, seeds[tree], node_weight, sum_here)
        height, nodes = np.int64(1), nodes + 1
        least = np.int64(len(place) // _LISTED)  # rows of a node that takes them out of lists
        if len(lists):
            for row in range(len(place)):
                place[row] = NOWHERE
            _write_places(place, rows, np.int64(0), m)
        small, aside, branch = np.int64(0), np.int64(0), np.int64(-1)
        if m > len(near.origin):
            small = np.int64(len(near.origin))
        while True:
            to_search = height > 0
            chosen, side, last = np.int64(-1), np.int64(0), np.int64(0)
            decrease, cut = 0.0, np.nan
            if to_search:
                height -= 1
            elif in_heap and leaves < rules.max_leaves:
                chosen, side, last, decrease, cut = take_out(heap, heap_real, in_heap, stack[0])
                in_heap -= 1
                leaves += 1
            else:  # on to the next branch that was put aside
                if branch >= 0:
                    _go_back(near, rows, later[branch])
                branch += 1
                if branch == aside:
                    break
                _come_near(near, table, rows, later[branch], stack)
                codes, values, step, origin = near.codes, near.values, near.step, near.origin
                small, height = np.int64(0), np.int64(1)
                continue
            begin, end, depth = stack[height, _START], stack[height, _END], stack[height, _DEPTH]
            node, node_key = np.uint64(stack[height, NODE]), np.uint64(stack[height, _KEY])
            node_weight, sum_here = stack[height, _WEIGHT], stack[height, _SUM]
            start, n = np.uint64(begin), end - begin
            if to_search:
                if n <= small:
                    _push(
                        later,
                        aside,
                        begin,
                        end,
                        np.int64(node),
                        depth,
                        node_key,
                        node_weight,
                        sum_here,
                    )
                    aside += 1
                    continue
                starts[node], ends_at[node] = at + begin, at + end
                feature[node], first_child[node], missing_child[node] = -1, -1, -1
                threshold[node], gain[node] = np.nan, 0.0
                weights[node], totals[node] = node_weight, sum_here
                if not _enough(n, depth, node_weight, rules):
                    continue
            unit, middle, pure = put_on_grid(y, row_weight, rows, start, n, rules, number, weight)
            channels = np.int64(len(channel))
            if rules.form == ONE_LABEL:
                channels = sum_here
            total = channel[:channels]
            add_up(label, number, left, y, weight, start, n, sum_here, total)
            if rules.form == ONE_LABEL:
                channels = drop_empty(label, start, n, total, left)
                total = channel[:channels]
            # -------------------------------------------------------------- search it
            if to_search:
                gain_unit, impurity = rules.gain_unit, 0.0
                if rules.regrid:
                    gain_unit = unit if rules.criterion == POISSON else unit * unit
                elif rules.form == ONE_LABEL:
                    pure = channels == 1
                else:
                    pure = are_alike(label, number, weight, start, n, total, node_weight, rules)
                if pure:
                    continue
                if rules.charge > 0.0:
                    impurity = impurity_of(
                        label, number, weight, start, n, total, node_weight, rules
                    )
                lower, upper = _bounds_of(bounds, node, middle, unit)
                chance = rules.charge * impurity / np.float64(n)
                listed = len(lists) if n >= least and len(origin) == 0 else 0
                best, chosen, cut, side, last, last_left, first_right = _find_cut(
                    codes, values, lists[:listed], place, step, n_codes, kind, signs, constant, rows, start,
                    n, label, number, weight, total, node_weight, chance, lower, upper, node_key, rules,
                    logs, keys, spare, buckets, x, left, order, ends, bits, drawn, cuts, tag, cells, seen,
                    order_key, axis,
                )  # fmt: skip
                decrease = best * (np.float64(node_weight) / root_weight) * gain_unit
                if chosen < 0 or decrease + _EPSILON < rules.min_decrease:
                    continue
                below[node] = origin[last_left // width] if len(origin) else last_left
                above[node] = origin[first_right // width] if len(origin) else first_right
                if heap is not None:
                    put_by(
                        heap, heap_real, in_heap, stack[height], chosen, side, last, decrease, cut
                    )
                    in_heap += 1
                    continue
            # -------------------------------------------------------------- part its rows
            f = np.uint64(chosen)
            if kind[f] == CATEGORY:
                many, missing = part_categories(
                    codes, values, f * step, f, n_codes[f], last, side, rows, start, n, label, number,
                    weight, total, node_weight, node_key, rules, tag, cells, seen, order_key, axis, takes,
                    spare_row, side_of,
                )  # fmt: skip
            else:
                many, missing = part_numbers(
                    codes,
                    values,
                    f * step,
                    n_codes[f],
                    last,
                    side,
                    rows,
                    start,
                    n,
                    spare_row,
                    side_of,
                )
            if len(lists) and n >= least and len(origin) == 0:
                _write_places(place, rows, begin, end)
            left_weight = many
            if not rules.unit_weights:
                left_weight = move_sum(weight, start, n, side_of, spare.view(np.int64))
            left_sum = _move_targets(label, number, start, n, side_of, spare)
            right_weight, right_sum = node_weight - left_weight, sum_here - left_sum
            if rules.form == ONE_LABEL:
                left_sum = right_sum = channels
            feature[node], threshold[node], gain[node] = chosen, cut, decrease
            first_child[node] = nodes - root
            missing_child[node] = 1 - side if missing else np.int64(right_weight > left_weight)
            _bound_children(
                bounds, node, nodes, signs[f], label, weight, start, many, total, left_sum,
                left_weight, node_weight, middle, unit,
            )  # fmt: skip
            parted, depth = begin + many, depth + 1
            key = mix(node_key, np.uint64(1))
            _push(stack, height, parted, end, nodes + 1, depth, key, right_weight, right_sum)
            key = mix(node_key, np.uint64(0))
            _push(stack, height + 1, begin, parted, nodes, depth, key, left_weight, left_sum)
            height += 2
            nodes += 2
        at += m
    node_start[len(seeds)] = nodes
