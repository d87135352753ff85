"""The best cut of the columns a node looks at.

A column of categories, or of fewer codes than the node has rows, is counted (counts.py). Else the node
gathers the column's codes, sorts them (by rank for a few, in rounds of buckets for many) and walks the cuts:

    rows of the node       7    2    9    4
    code << 32 | place     31·0 12·1 31·2 08·3    sorted:  08·3  12·1  31·0  31·2
                                                  cuts:        |     |

Where the columns' presorted lists are kept, a large node sorts nothing: it takes its rows out of the list, in
their order.

Two habits keep the compiled loops short. Indices that are read from arrays are unsigned: of a signed one
Numba asks whether it counts from the end. And arrays are handed over one by one to functions of their own,
not in tuples or inlined: else Numba counts references at every node.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.presort import POSITION
from arboretum.engine.jit import inline, joined_kernel, leaf_kernel
from arboretum.engine.random import pick_column
from arboretum.engine.random_tree.counts import (
    allowed,
    count_codes,
    order_categories,
    order_codes,
    score,
    walk_counts,
    walk_sums,
)
from arboretum.engine.random_tree.records import CATEGORY, EXAMPLE, STAMP
from arboretum.engine.split.score import free_categories, squares

__all__ = ["best_cut", "is_known_constant", "part_two"]

_TINY, _FEW = 12, 96  # so many rows are sorted by insertion, and by their ranks
_PLACE = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(32)
_LOW7 = np.uint32(7)
_NEW_BIT = np.uint32(31)
_COUNTED = 64  # so many codes are counted where a list is at hand, too


@leaf_kernel
def _rank(keys, spare, short, n, low):
    """Sort up to 128 keys into ``spare``: the place of a key is the number of smaller ones."""
    for i in range(n):
        short[i] = (np.uint32((keys[i] >> _HIGH) - low) << _LOW7) | np.uint32(i)
    for i in range(n):
        key, smaller = short[i], np.uint32(0)
        for j in range(n):
            smaller += np.uint32(short[j] < key)
        spare[smaller] = keys[i]


@leaf_kernel
def _deal(keys, spare, n, base, shift, width, buckets):
    """Sort into ``spare`` by ``width`` bits of the key, equal ones in their order."""
    size = 1 << width
    mask = np.uint64(size - 1)
    for d in range(size):
        buckets[d] = 0
    for i in range(n):
        buckets[((keys[i] - base) >> shift) & mask] += np.uint32(1)
    before = np.uint32(0)
    for d in range(size):
        here = buckets[d]
        buckets[d] = before
        before += here
    for i in range(n):
        key = keys[i]
        d = ((key - base) >> shift) & mask
        spare[buckets[d]] = key
        buckets[d] += np.uint32(1)


@leaf_kernel
def _sort(codes, column, rows, start, n, keys, spare, buckets):
    """Sort a node's rows by a column into ``keys``; return whether it has two values."""
    low = high = codes[column + rows[start]]
    for i in range(n):
        code = codes[column + rows[start + np.uint64(i)]]
        keys[i] = (np.uint64(code) << _HIGH) | np.uint64(i)
        low, high = min(low, code), max(high, code)
    if low == high:
        return False
    bits, spread = 1, np.int64(high) - np.int64(low)
    while spread >> bits:
        bits += 1
    if n <= _TINY:
        for i in range(1, n):
            key, at = keys[i], i
            while at > 0 and keys[at - 1] > key:
                keys[at] = keys[at - 1]
                at -= 1
            keys[at] = key
        return True
    few = n <= _FEW and bits <= 25
    if few:
        _rank(keys, spare, buckets, n, np.uint64(low))
    else:
        base, rounds = np.uint64(low) << _HIGH, 1 if bits <= 8 else (2 if bits <= 22 else 4)
        width = (bits + rounds - 1) // rounds
        for turn in range(0, rounds, 2):
            shift = _HIGH + np.uint64(turn * width)
            _deal(keys, spare, n, base, shift, width, buckets)
            if rounds > 1:
                _deal(spare, keys, n, base, shift + np.uint64(width), width, buckets)
    if few or bits <= 8:
        for i in range(n):
            keys[i] = spare[i]
    return True


@leaf_kernel
def _take_sorted(entries, place, start, n, keys):
    """`_sort` for a large node: its rows are taken out of the column's list, which has all rows in order.

    ``place`` says where a row of the table stands now. Every entry is written, and overwritten unless it is
    the node's: nobody could guess which are.
    """
    at, size, rank = np.uint64(0), np.uint64(n), np.uint64(0xFFFFFFFFFFFFFFFF)
    for i in range(len(entries)):
        entry = entries[i]
        rank += np.uint64(entry >> _NEW_BIT)
        here = np.uint64(place[np.uint64(entry & POSITION)]) - start
        keys[at] = (rank << _HIGH) | here
        at += np.uint64(here < size)
        if at == size:
            break
    return keys[0] >> _HIGH != keys[n - 1] >> _HIGH


@leaf_kernel
def _walk_alike(keys, n, start, number, total, rules):
    """`_walk_squares` where every row weighs 1 and has a value; return (score, rows before the cut)."""
    best, place, left_sum, code = -1.0, np.int64(0), np.int64(0), keys[0] >> _HIGH
    for i in range(n - 1):
        left_sum += number[0, start + (keys[i] & _PLACE)]
        after = keys[i + 1] >> _HIGH
        if after == code:
            continue
        code = after
        if not allowed(i + 1, n, i + 1, n, rules):
            continue
        worth = squares(left_sum, i + 1, total, n)
        if worth > best:
            best, place = worth, np.int64(i + 1)
    return best, place


@leaf_kernel
def _walk_squares(keys, n, present, start, number, weight, total, node_weight, rules):
    """Score the cuts of a sorted column; return (score, rows before the cut, missing left?)."""
    best, place, best_side = -1.0, np.int64(0), np.int64(0)
    if rules.unit_weights and present == n:
        best, place = _walk_alike(keys, n, start, number, total, rules)
        return best, place, best_side
    for side in range(2 if present < n else 1):
        left_weight, left_sum = np.int64(0), np.int64(0)
        if side:
            for i in range(present, n):
                p = start + (keys[i] & _PLACE)
                left_sum += number[0, p]
                left_weight += weight[p]
        here = n - present if side else 0
        code = keys[0] >> _HIGH
        for i in range(present if present < n and not side else present - 1):
            p = start + (keys[i] & _PLACE)
            left_sum += number[0, p]
            left_weight += weight[p]
            after = keys[i + 1] >> _HIGH
            if after == code:
                continue
            code = after
            if not allowed(here + i + 1, n, left_weight, node_weight, rules):
                continue
            worth = squares(left_sum, left_weight, total, node_weight)
            if worth > best:
                best, place, best_side = worth, np.int64(i + 1), np.int64(side)
    return best, place, best_side


@leaf_kernel
def _add_row(p, label, number, weight, left):
    """Add a row to the channels ``left``."""
    if label is not None:
        for o in range(len(label)):
            left[label[o, p]] += weight[p]
    if number is not None:
        for o in range(len(number)):
            left[o] += number[o, p]


@leaf_kernel
def _walk_channels(
    keys, n, present, start, label, number, weight, total, node_weight, rules, logs, left, sign,
    lower, upper,
):  # fmt: skip
    """`_walk_squares` for any channels and constraints."""
    best, place, best_side = -1.0, np.int64(0), np.int64(0)
    for side in range(2 if present < n else 1):
        left_weight = np.int64(0)
        for c in range(len(total)):
            left[c] = 0
        if side:
            for i in range(present, n):
                p = start + (keys[i] & _PLACE)
                _add_row(p, label, number, weight, left)
                left_weight += weight[p]
        here = n - present if side else 0
        for i in range(present if present < n and not side else present - 1):
            p = start + (keys[i] & _PLACE)
            _add_row(p, label, number, weight, left)
            left_weight += weight[p]
            if keys[i + 1] >> _HIGH == keys[i] >> _HIGH:
                continue
            if not allowed(here + i + 1, n, left_weight, node_weight, rules):
                continue
            worth = score(left, total, left_weight, node_weight, rules, logs, sign, lower, upper)
            if worth > best:
                best, place, best_side = worth, np.int64(i + 1), np.int64(side)
    return best, place, best_side


@inline
def is_known_constant(constant, f, begin, end):
    """Tell whether a column did not vary among rows that hold these."""
    return constant[f, 0] <= begin and end <= constant[f, 1]


@joined_kernel
def part_two(
    codes, step, n_codes, kind, constant, rows, start, number, weight, total, node_weight, node_key,
    rules, order,
):  # fmt: skip
    """Part two rows by one sum: every column that varies is as good as any other, but for rounding.

    Returns what `best_cut` does; of a category, how many go left: the one with the smaller mean.
    """
    one, two = rows[start], rows[start + np.uint64(1)]
    w_one, w_two = weight[start], weight[start + np.uint64(1)]
    first_left = squares(number[0, start], w_one, total, node_weight)
    second_left = squares(number[0, start + np.uint64(1)], w_two, total, node_weight)
    smaller_first = np.float64(number[0, start]) / np.float64(w_one) < np.float64(
        number[0, start + np.uint64(1)]
    ) / np.float64(w_two)
    best, feature, last, cut, below, above = -1.0, np.int64(-1), np.int64(0), np.nan, one, two
    varied, everything = 0, rules.max_features >= len(n_codes)
    begin = np.int64(start)
    for turn in range(len(n_codes)):
        if turn >= rules.max_features and varied:
            break
        f = np.uint64(turn) if everything else np.uint64(pick_column(node_key, turn, order))
        if is_known_constant(constant, f, begin, begin + 2):
            continue
        a, b, missing_code = codes[f * step + one], codes[f * step + two], np.uint64(n_codes[f])
        if a == b:
            continue
        varied += 1
        is_category = kind[f] == CATEGORY and a != missing_code and b != missing_code
        first = smaller_first if is_category else a < b
        worth = first_left if first else second_left
        if worth > best or (worth == best and np.int64(f) < feature):
            best, feature, cut = worth, np.int64(f), np.nan
            last = np.int64(a if first else b)
            below, above = (one, two) if first else (two, one)
            if kind[f] == CATEGORY:
                last = 1
            elif max(a, b) == missing_code:
                cut = np.inf
        if everything and first_left == second_left:
            break  # the columns that follow could only be as good
    return best, feature, cut, np.int64(0), last, below, above


@joined_kernel
def best_cut(
    codes, lists, place, step, n_codes, kind, signs, constant, rows, start, n, label, number, weight, total,
    node_weight, chance, lower, upper, node_key, rules, logs, keys, spare, buckets, left, order, tag, cells,
    seen, key, axis,
):  # fmt: skip
    """Look at as many columns as the rules say, and more until one varies; return the best cut.

    It is (score, feature, threshold, missing left?, what goes left, a row of the largest value there, a
    row of the next value). What goes left: the last code, or the place of `walk_counts` for
    categories. The threshold is NaN if it lies between those two rows, or there is none.

    When columns compete, ``chance`` is charged for every category that gains by its order alone
    (`free_categories`): what one more is expected to gain if it means nothing. ``lists`` is of no columns
    where the node is too small for them.
    """
    best, feature, cut, best_side, last = -1.0, np.int64(-1), np.nan, np.int64(0), np.int64(0)
    rank_of_best = -np.inf
    below = above = rows[start]
    varied, everything, few = 0, rules.max_features >= len(n_codes), n
    if len(lists):
        few = min(few, _COUNTED)
    begin, worth, at, side = np.int64(start), -1.0, np.int64(0), np.int64(0)
    for turn in range(len(n_codes)):
        if turn >= rules.max_features and varied:
            break
        f = np.uint64(turn) if everything else np.uint64(pick_column(node_key, turn, order))
        if is_known_constant(constant, f, begin, begin + n):
            continue
        missing_code, sign = np.uint64(n_codes[f]), signs[f]
        is_category, column = kind[f] == CATEGORY, f * step
        if is_category or np.int64(missing_code) < few:
            m = count_codes(
                codes, column, rows, start, n, label, number, weight, len(total), tag, cells, seen
            )
            if m < 2:
                constant[f, 0], constant[f, 1] = begin, begin + n
                continue
            varied += 1
            has_missing, subsets, charge = cells[missing_code, STAMP] == tag[0], False, 0.0
            if is_category:
                m, subsets = order_categories(
                    m,
                    np.int64(missing_code),
                    cells,
                    seen,
                    key,
                    axis,
                    total,
                    node_weight,
                    label is not None,
                    rules,
                )
                charge = chance * free_categories(m, n, rules.loner)
            else:
                m = order_codes(np.int64(missing_code), m, tag[0], cells, seen)
            if left is None:
                worth, at, side = walk_sums(
                    m, missing_code, has_missing, n, node_weight, cells, seen, total[0], rules
                )
            if left is not None:
                worth, at, side = walk_counts(
                    m, missing_code, has_missing, subsets, n, node_weight, cells, seen, total, left,
                    rules, logs, sign, lower, upper,
                )  # fmt: skip
            if worth < 0.0:
                continue
            rank = worth - charge
            if rank > rank_of_best or (rank == rank_of_best and np.int64(f) < feature):
                best, rank_of_best, feature, best_side = worth, rank, np.int64(f), np.int64(side)
                last, cut = at, np.nan
                if not is_category:
                    last = seen[at - 1]
                    cut = np.inf if at == m else np.nan
                    below = np.uint32(cells[np.uint64(last), EXAMPLE])
                    above = np.uint32(cells[np.uint64(seen[min(at, m - 1)]), EXAMPLE])
            continue
        if len(lists):
            varies = _take_sorted(lists[f], place, start, n, keys)
        else:
            varies = _sort(codes, column, rows, start, n, keys, spare, buckets)
        if not varies:
            constant[f, 0], constant[f, 1] = begin, begin + n
            continue
        varied += 1
        present = n
        while present and keys[present - 1] >> _HIGH == missing_code:
            present -= 1
        if left is None and number is not None:
            worth, at, side = _walk_squares(
                keys, n, present, start, number, weight, total[0], node_weight, rules
            )
        if left is not None:
            worth, at, side = _walk_channels(
                keys, n, present, start, label, number, weight, total, node_weight, rules, logs, left,
                sign, lower, upper,
            )  # fmt: skip
        if worth >= 0.0 and (
            worth > rank_of_best or (worth == rank_of_best and np.int64(f) < feature)
        ):
            best, rank_of_best, feature, best_side = worth, worth, np.int64(f), np.int64(side)
            last = np.int64(keys[at - 1] >> _HIGH)
            cut = np.inf if at == present else np.nan
            below = rows[start + (keys[at - 1] & _PLACE)]
            above = rows[start + (keys[min(at, n - 1)] & _PLACE)]
    return best, feature, cut, best_side, last, below, above
