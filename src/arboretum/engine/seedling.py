"""A whole tree in one call: what forests grow, thousands of nodes deep first.

A forest's trees are independent, so threads take trees, and one compiled call grows one of them. It
works depth first on rows kept node by node; a node gathers the codes of each column it draws, sorts
them (insertion for a few, two rounds of buckets for many) and walks the cuts:

    rows of the node       7    2    9    4
    code << 32 | place     31·0 12·1 31·2 08·3    sorted:  08·3  12·1  31·0  31·2
                                                  cuts:        |     |

Columns are drawn, keys handed to children and ties broken as in the level-wise search (drawn.py): on
data without rounding ties both grow the same tree. Random splits look at values, not codes: they need
the ends of a column and one comparison per row, and no order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from arboretum.engine.channels import channel_score
from arboretum.engine.jit import inline, kernel, subkernel
from arboretum.engine.moment import SQUARES, moment_score
from arboretum.engine.random import mix, shuffle_step, uniform
from arboretum.engine.statistic import GINI

__all__ = [
    "Grown",
    "Rules",
    "Table",
    "grow_tree",
    "ordered_bits",
]

_NEAR = 1 << 18  # bytes of a branch's columns that are copied together
_GONE = np.int64(0x7FFFFFFFFFFFFFFF)  # a missing value
_FEW = 40  # so many rows are sorted by insertion
_PLACE = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(32)


class Table(NamedTuple):
    """The columns and the target of a forest, the same for all its trees."""

    codes: np.ndarray  # (columns, n) unsigned, rank of the value; n_codes means missing; or empty
    values: np.ndarray  # (columns, n) int64, see `ordered_bits`; or empty: random splits only
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


@inline
def _insertion(keys, n):
    for i in range(1, n):
        key = keys[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@inline
def _buckets(keys, spare, n, bits, counts):
    """Sort by the code, lowest digit first: two rounds, or three for very many codes."""
    rounds = 2 if bits <= 22 else 3
    width = (bits + rounds - 1) // rounds
    size = 1 << width
    mask = np.uint64(size - 1)
    for turn in range(rounds):
        shift = _HIGH + np.uint64(turn * width)
        for d in range(size):
            counts[d] = 0
        for i in range(n):
            counts[np.int64((keys[i] >> shift) & mask)] += 1
        before = 0
        for d in range(size):
            before, counts[d] = before + counts[d], before
        for i in range(n):
            d = np.int64((keys[i] >> shift) & mask)
            spare[counts[d]] = keys[i]
            counts[d] += 1
        keys, spare = spare, keys
    return keys


@subkernel
def _sorted(column, rows, start, end, keys, spare, counts):
    """Sort a node's rows by a column; return (keys, smallest code, are there two values?)."""
    n = end - start
    low = high = np.int64(column[rows[start]])
    for i in range(n):
        code = np.int64(column[rows[start + i]])
        keys[i] = (np.uint64(code) << _HIGH) | np.uint64(i)
        low, high = min(low, code), max(high, code)
    if low == high:
        return keys, low, False
    if n <= _FEW:
        _insertion(keys, n)
        return keys, np.int64(0), True
    bits = 1
    while (high - low) >> bits:
        bits += 1
    base = np.uint64(low) << _HIGH
    for i in range(n):
        keys[i] -= base
    return _buckets(keys, spare, n, bits, counts), low, True


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
    table: np.ndarray  # x ln x of small whole numbers


@inline
def _allowed(rows_left, n, left_weight, weight, rules):
    """Tell whether both sides have enough rows and weight."""
    if rows_left < rules.min_leaf or n - rows_left < rules.min_leaf:
        return False
    return left_weight >= rules.min_weight and weight - left_weight >= rules.min_weight


@inline
def _squares(left_sum, left_weight, total, weight, table):
    """Return the decrease of the squared error in a node; Gini of two classes is twice that."""
    return moment_score(
        np.float64(left_sum), np.float64(left_weight), np.float64(total - left_sum),
        np.float64(total), np.float64(weight), SQUARES, table,
    )  # fmt: skip


@subkernel
def _walk_squares(keys, n, present, start, number, weight, total, node_weight, rules):
    """Score the cuts of a sorted column; return (score, rows before the cut, missing left?)."""
    best, place, best_side = -1.0, 0, 0
    for side in range(2 if present < n else 1):
        left_weight, left_sum = np.int64(0), np.int64(0)
        if side:
            for i in range(present, n):
                p = start + np.int64(keys[i] & _PLACE)
                left_sum += number[p]
                left_weight += weight[p]
        here = n - present if side else 0
        code = keys[0] >> _HIGH
        for i in range(present if present < n and not side else present - 1):
            p = start + np.int64(keys[i] & _PLACE)
            left_sum += number[p]
            left_weight += weight[p]
            after = keys[i + 1] >> _HIGH
            if after == code:
                continue
            code = after
            if not _allowed(here + i + 1, n, left_weight, node_weight, rules):
                continue
            found = _squares(left_sum, left_weight, total, node_weight, rules.table)
            if found > best:
                best, place, best_side = found, i + 1, side
    return best, place, best_side


@subkernel
def _walk_classes(keys, n, present, start, label, weight, total, node_weight, rules, left):
    """`_walk_squares` for class counts; a cut inside a run of one class is never the best."""
    best, place, best_side = -1.0, 0, 0
    for side in range(2 if present < n else 1):
        left_weight = np.int64(0)
        left[:] = 0
        if side:
            for i in range(present, n):
                p = start + np.int64(keys[i] & _PLACE)
                left[label[p]] += weight[p]
                left_weight += weight[p]
        here = n - present if side else 0
        for i in range(present if present < n and not side else present - 1):
            p = start + np.int64(keys[i] & _PLACE)
            left[label[p]] += weight[p]
            left_weight += weight[p]
            if keys[i + 1] >> _HIGH == keys[i] >> _HIGH:
                continue
            if not _allowed(here + i + 1, n, left_weight, node_weight, rules):
                continue
            found = channel_score(
                left, total, left_weight, node_weight, rules.criterion, 1, rules.table
            )
            if found > best:
                best, place, best_side = found, i + 1, side
    return best, place, best_side


@kernel
def ordered_bits(values, out):
    """Write numbers as whole numbers of the same order; a missing value is the largest of all."""
    bits = values.view(np.int64)
    for i in range(len(values)):
        b = bits[i]
        if values[i] == 0.0:  # -0.0 and 0.0 are one value
            b = np.int64(0)
        out[i] = _GONE if values[i] != values[i] else (b if b >= 0 else b ^ _GONE)


@inline
def _ends(column, rows, start, end, x):
    """Gather a column's values; return the smallest and the largest."""
    low, high = _GONE, -_GONE - 1
    for i in range(end - start):
        v = column[rows[start + i]]
        x[i] = v
        low = min(low, v)
        high = max(high, v)
    return low, high


@inline
def _largest_present(x, n):
    high = -_GONE - 1
    for i in range(n):
        high = max(high, x[i] if x[i] != _GONE else -_GONE - 1)
    return high


@inline
def _draw(key, feature, ends, bits):
    """Draw the threshold of a column at a node; the largest value stays right.

    ``ends`` is scratch and ``bits`` the same memory: the smallest and largest value go in as whole
    numbers, the threshold comes out as both kinds.
    """
    for j in range(2):
        bits[j] = bits[j] if bits[j] >= 0 else bits[j] ^ _GONE
    low, high = ends[0], ends[1]
    u = uniform(mix(mix(key, np.uint64(feature)), np.uint64(0)))
    ends[2] = low * (1.0 - u) + high * u
    if ends[2] >= high:
        ends[2] = low
    cut = ends[2] + 0.0  # no -0.0
    ends[2] = cut
    return cut, bits[2] if bits[2] >= 0 else bits[2] ^ _GONE


@inline
def _ask_squares(x, n, cut, start, number, weight, total, node_weight, rules):
    """Score one threshold over values that are all present."""
    left_weight, left_sum, rows_left = np.int64(0), np.int64(0), np.int64(0)
    if node_weight == n:  # every row weighs 1
        for i in range(n):
            goes = -np.int64(x[i] <= cut)
            rows_left -= goes
            left_sum += number[start + i] & goes
        left_weight = rows_left
    else:
        for i in range(n):
            goes = -np.int64(x[i] <= cut)
            rows_left -= goes
            left_weight += weight[start + i] & goes
            left_sum += number[start + i] & goes
    if not _allowed(rows_left, n, left_weight, node_weight, rules):
        return -1.0
    return _squares(left_sum, left_weight, total, node_weight, rules.table)


@subkernel
def _ask_general(x, n, cut, several, missing, start, target, total, node_weight, rules, left):
    """Score one threshold, missing values on either side or alone.

    Returns (score, way: missing right, missing left, present against missing).
    """
    label, number, weight = target
    best, best_way = -1.0, 0
    for way in range(3 if missing else 1):
        if way < 2 and not several:
            continue
        left_weight, rows_left = np.int64(0), np.int64(0)
        left[:] = 0
        for i in range(n):
            v = x[i]
            goes = way == 1 if v == _GONE else (v <= cut or way == 2)
            if goes:
                rows_left += 1
                left_weight += weight[start + i]
                if len(label):
                    left[label[start + i]] += weight[start + i]
                else:
                    left[0] += number[start + i]
        if not _allowed(rows_left, n, left_weight, node_weight, rules):
            continue
        if len(label):
            found = channel_score(
                left, total, left_weight, node_weight, rules.criterion, 1, rules.table
            )
        else:
            found = _squares(left[0], left_weight, total[0], node_weight, rules.table)
        if found > best:
            best, best_way = found, way
    return best, best_way


@inline
def _is_pure(target, start, end, rules, whole, total):
    """Tell whether all targets of a node are equal; counts its classes on the way."""
    label, number, weight = target
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


@inline
def _move(values, start, end, side_of, spare, left):
    """Put the values that go left first, in their order."""
    at, others = start, 0
    for i in range(start, end):
        v, goes = values[i], np.int64(side_of[i - start])
        values[at] = v
        spare[others] = v
        at += goes
        others += 1 - goes
    for i in range(end - left):
        values[left + i] = spare[i]


@inline
def _part(column, gone, last, side, rows, start, end, spare, side_of):
    """Put the rows that go left first; return (first right row, was a value missing?).

    ``side_of`` says for every row of the node whether it goes left: its weight and target follow.
    """
    at, others, missing = start, 0, np.int64(0)
    for i in range(start, end):
        row = rows[i]
        code = np.int64(column[row])
        lost = np.int64(code == gone)
        goes = (np.int64(code <= last) & (1 - lost)) | (lost & side)
        missing |= lost
        side_of[i - start] = goes
        rows[at] = row
        spare[others] = row
        at += goes
        others += 1 - goes
    for i in range(others):
        rows[at + i] = spare[i]
    return at, missing > 0


@inline
def _sum(values, start, end):
    total = np.int64(0)
    for i in range(start, end):
        total += values[i]
    return total


@inline
def _nearby(table, rows):
    """Copy the columns of a few rows together, so that a branch finds them in the cache."""
    codes = np.empty((len(table.codes), len(rows)), table.codes.dtype)
    values = np.empty((len(table.values), len(rows)), np.int64)
    for f in range(len(table.codes)):
        for i in range(len(rows)):
            codes[f, i] = table.codes[f, rows[i]]
    for f in range(len(table.values)):
        for i in range(len(rows)):
            values[f, i] = table.values[f, rows[i]]
    return Table(codes, values, table.n_codes, table.worded, rows.copy())


@subkernel
def _grow(table, rows, offset, target, rules, out, todo, nodes, small, later, room):
    """Grow the branch ``todo[0]``; list branches of up to ``small`` rows in ``later`` instead.

    An entry is (start, end, node, depth, key, weight, sum); ``offset`` is where the rows stand in the tree.
    Returns (nodes made so far, entries of ``later``).
    """
    label, number, weight = target
    keys, spare, counts, total, left, order, spare_row, spare_label, whole_weight, unit = room
    spare_whole, side_of = spare.view(np.int64), keys.view(np.uint8)
    x = keys.view(np.int64)
    ends = np.empty(3)
    bits = ends.view(np.int64)
    columns, height, n_later = len(table.n_codes), 1, 0
    while height:
        height -= 1
        start, end = np.int64(todo[height, 0]), np.int64(todo[height, 1])
        node, depth, node_key = (
            np.int64(todo[height, 2]),
            np.int64(todo[height, 3]),
            todo[height, 4],
        )
        n = end - start
        if n <= small:
            later[n_later] = todo[height]
            n_later += 1
            continue
        whole, total[0] = np.int64(todo[height, 5]), np.int64(todo[height, 6])
        pure = _is_pure(target, start, end, rules, whole, total)
        out.start[node], out.end[node] = offset + start, offset + end
        out.feature[node], out.first_child[node], out.missing_child[node] = -1, -1, -1
        out.threshold[node], out.gain[node] = np.nan, 0.0
        if pure or n < rules.min_split or n < 2 * rules.min_leaf or depth >= rules.max_depth:
            continue
        if whole < 2 * rules.min_weight:
            continue
        best, feature, cut, side, last = -1.0, np.int64(-1), 0.0, 0, np.int64(0)
        below = above = rows[start]
        low = high = np.int64(0)
        varied = 0
        pair = n == 2 and rules.random_splits and len(label) == 0 and rules.min_weight == 0
        first_left = second_left = -1.0  # what it brings to part two rows, by who goes left
        if pair:
            second = start + 1
            first_left = _squares(number[start], weight[start], total[0], whole, rules.table)
            second_left = _squares(number[second], weight[second], total[0], whole, rules.table)
        for turn in range(columns):
            if turn >= rules.max_features and varied:
                break
            shuffle_step(node_key, turn, order)
            f = order[turn]
            if pair:
                one, two = table.values[f, rows[start]], table.values[f, rows[start + 1]]
                if one == two:
                    continue
                varied += 1
                found = first_left if one < two else second_left
                if found > best or (found == best and f < feature):
                    best, feature, low, high = found, f, min(one, two), max(one, two)
                continue
            if rules.random_splits:
                low, high = _ends(table.values[f], rows, start, end, x)
                missing = high == _GONE
                if missing:
                    high = _largest_present(x, n)
                if low > high or (low == high and not missing):  # no value, or one
                    continue
                varied += 1
                bits[0], bits[1] = low, high
                value, at = _draw(node_key, f, ends, bits)
                way = 0
                if len(label) == 0 and not missing:
                    found = _ask_squares(x, n, at, start, number, weight, total[0], whole, rules)
                else:
                    found, way = _ask_general(
                        x, n, at, low < high, missing, start, target, total, whole, rules, left
                    )
                if found > best or (found == best and found >= 0.0 and f < feature):
                    best, feature, side, last = found, f, np.int64(way == 1), at
                    cut = np.inf if way == 2 else value
                continue
            gone = table.n_codes[f]
            ordered, base, several = _sorted(table.codes[f], rows, start, end, keys, spare, counts)
            if not several:
                continue
            varied += 1
            present = n
            while present and np.int64(ordered[present - 1] >> _HIGH) + base == gone:
                present -= 1
            if len(label):
                found, place, goes = _walk_classes(
                    ordered, n, present, start, label, weight, total, whole, rules, left
                )
            else:
                found, place, goes = _walk_squares(
                    ordered, n, present, start, number, weight, total[0], whole, rules
                )
            if found > best or (found == best and found >= 0.0 and f < feature):
                best, feature, side = found, f, goes
                last = np.int64(ordered[place - 1] >> _HIGH) + base
                cut = np.inf if place == present else np.nan
                below = rows[start + np.int64(ordered[place - 1] & _PLACE)]
                above = rows[start + np.int64(ordered[min(place, n - 1)] & _PLACE)]
        if feature < 0:
            continue
        if pair and high == _GONE:
            cut = np.inf
        elif pair:
            bits[0], bits[1] = low, high
            cut, last = _draw(node_key, feature, ends, bits)
        decrease = best * (np.float64(whole) / whole_weight) * rules.gain_unit
        if decrease < rules.min_decrease:
            continue
        if rules.random_splits and table.worded[feature] and cut < np.inf:
            cut = np.floor(cut)  # the rows are ranks: they go the same way
        if rules.random_splits:
            last = _GONE - 1 if cut == np.inf else last
            middle, missing = _part(
                table.values[feature], _GONE, last, side, rows, start, end, spare_row, side_of
            )
        else:
            middle, missing = _part(
                table.codes[feature], table.n_codes[feature], last, side, rows, start, end,
                spare_row, side_of,
            )  # fmt: skip
        left_weight = middle - start
        if not unit:
            _move(weight, start, end, side_of, spare_whole, middle)
            left_weight = _sum(weight, start, middle)
        if len(label):
            _move(label, start, end, side_of, spare_label, middle)
            left_sum = np.int64(0)
        else:
            _move(number, start, end, side_of, spare_whole, middle)
            left_sum = _sum(number, start, middle)
        missing_child = 1 - side if missing else np.int64(whole - left_weight > left_weight)
        out.feature[node], out.threshold[node] = feature, cut
        out.below[node] = table.origin[below] if len(table.origin) else below
        out.above[node] = table.origin[above] if len(table.origin) else above
        out.first_child[node], out.gain[node] = nodes, decrease
        out.missing_child[node] = missing_child
        for child in range(1, -1, -1):
            todo[height, 0] = np.uint64(middle if child else start)
            todo[height, 1] = np.uint64(end if child else middle)
            todo[height, 2], todo[height, 3] = np.uint64(nodes + child), np.uint64(depth + 1)
            todo[height, 4] = mix(node_key, np.uint64(child))
            todo[height, 5] = np.uint64(whole - left_weight if child else left_weight)
            todo[height, 6] = np.uint64(total[0] - left_sum if child else left_sum)
            height += 1
        nodes += 2
    return nodes, n_later


@kernel
def grow_tree(table, rows, weight, number, label, classes, key, rules, out):
    """Grow one tree on ``rows``; all arrays of rows are reordered. Returns how many nodes it has.

    ``weight`` and ``number`` (weight times target) are whole numbers on a grid; ``label`` is empty
    if the criterion needs only these two (squared error; Gini of two classes).
    """
    m, columns = len(rows), len(table.n_codes)
    channels = classes if len(label) else 1
    whole = _sum(weight, 0, m)
    room = (
        np.empty(m, np.uint64), np.empty(m, np.uint64), np.empty(2048, np.int64),
        np.empty(channels, np.int64), np.empty(channels, np.int64), np.empty(columns, np.int64),
        np.empty(m, np.uint32), np.empty_like(label), np.float64(whole), whole == m,
    )  # fmt: skip
    todo, later = np.empty((m + 2, 7), np.uint64), np.empty((m + 2, 7), np.uint64)
    todo[0, 0], todo[0, 1], todo[0, 2], todo[0, 3], todo[0, 4] = 0, m, 0, 0, key
    todo[0, 5], todo[0, 6] = whole, _sum(number, 0, len(number))
    small = max(_NEAR // (columns * (8 if len(table.values) else table.codes.itemsize)), 1)
    if m <= small:
        small = 0
    nodes, n_later = _grow(
        table, rows, 0, (label, number, weight), rules, out, todo, 1, small, later, room
    )
    for k in range(n_later):
        start, end = np.int64(later[k, 0]), np.int64(later[k, 1])
        here = rows[start:end]
        near = _nearby(table, here)
        part = (
            label[start:end] if len(label) else label,
            number[start:end] if len(number) else number,
            weight[start:end],
        )
        for i in range(end - start):
            here[i] = i
        todo[0] = later[k]
        todo[0, 0], todo[0, 1] = 0, end - start
        nodes, _ = _grow(near, here, start, part, rules, out, todo, nodes, 0, later, room)
        for i in range(end - start):
            here[i] = near.origin[here[i]]
    return nodes


@inline
def _bits(share):
    return share * math.log2(share) if share > 0.0 else 0.0


@kernel
def describe_nodes(out, nodes, rows, number, label, weight, rules, centre, sums, answer):
    """Write every node's value, impurity and weight; leaves from their rows, others from children.

    ``sums`` is scratch: the weight of every class; or the weight, Σ w (y - c) and Σ w (y - c)².
    """
    value, impurity, node_weight = answer
    for node in range(nodes - 1, -1, -1):
        child = out.first_child[node]
        for c in range(sums.shape[1]):
            sums[node, c] = sums[child, c] + sums[child + 1, c] if child >= 0 else 0.0
        if child < 0:
            for i in range(out.start[node], out.end[node]):
                w = weight[rows[i]]
                if len(label):
                    sums[node, label[rows[i]]] += w
                else:
                    d = number[rows[i]] - centre
                    sums[node, 0] += w
                    sums[node, 1] += w * d
                    sums[node, 2] += w * d * d
        if len(label) == 0:
            whole = sums[node, 0]
            mean, square = sums[node, 1] / whole, sums[node, 2] / whole
            value[node, 0], node_weight[node] = centre + mean, whole
            spread = square - mean * mean
            impurity[node] = spread if spread > 1e-15 * square else 0.0  # or only rounding
            continue
        whole = 0.0
        for c in range(sums.shape[1]):
            whole += sums[node, c]
        inside, pure = 0.0, False
        for c in range(sums.shape[1]):
            share = sums[node, c] / whole
            value[node, c] = share
            inside += share * share if rules.criterion == GINI else -_bits(share)
            pure |= sums[node, c] == whole
        node_weight[node] = whole
        impurity[node] = 0.0 if pure else (1.0 - inside if rules.criterion == GINI else inside)
