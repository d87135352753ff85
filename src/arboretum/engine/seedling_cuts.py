"""The best cut of a node's columns: how a tree of a forest asks for an keys column.

A node gathers the codes of each column it draws, sorts them (by rank for a few, two rounds of buckets
for many) and walks the cuts:

    rows of the node       7    2    9    4
    code << 32 | place     31·0 12·1 31·2 08·3    sorted:  08·3  12·1  31·0  31·2
                                                  cuts:        |     |

Two habits keep the compiled loops short. Indices that are read from arrays are unsigned: of a signed one
Numba asks whether it counts from the end. And arrays are handed over one by one to functions of their own,
not in tuples or inlined: else Numba counts references at every node.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.channels import channel_score
from arboretum.engine.jit import inline, leaf_kernel
from arboretum.engine.random import pick_column

__all__ = ["allowed", "best_cut", "squares"]

_FEW = 96  # so many rows are sorted by their ranks
_PLACE = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(32)
_LOW7 = np.uint32(7)


@inline
def allowed(rows_left, n, left_weight, weight, rules):
    """Tell whether both sides have enough rows and weight."""
    if rows_left < rules.min_leaf or n - rows_left < rules.min_leaf:
        return False
    return left_weight >= rules.min_weight and weight - left_weight >= rules.min_weight


@inline
def squares(left_sum, left_weight, total, weight):
    """Return the decrease of the squared error in a node; Gini of two classes is twice that."""
    d = np.float64(left_sum) - np.float64(left_weight) * (np.float64(total) / np.float64(weight))
    return d * d / (np.float64(left_weight) * (np.float64(weight) - np.float64(left_weight)))


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
def _deal(keys, spare, n, base, shift, width, counts):
    """Sort into ``spare`` by ``width`` bits of the key, equal ones in their order."""
    size = 1 << width
    mask = np.uint64(size - 1)
    for d in range(size):
        counts[d] = 0
    for i in range(n):
        counts[((keys[i] - base) >> shift) & mask] += np.uint32(1)
    before = np.uint32(0)
    for d in range(size):
        here = counts[d]
        counts[d] = before
        before += here
    for i in range(n):
        key = keys[i]
        d = ((key - base) >> shift) & mask
        spare[counts[d]] = key
        counts[d] += np.uint32(1)


@leaf_kernel
def _sort(codes, f, rows, start, n, keys, spare, counts):
    """Sort a node's rows by a column into ``keys``; return whether it has two values."""
    low = high = codes[f, rows[start]]
    for i in range(n):
        code = codes[f, rows[start + np.uint64(i)]]
        keys[i] = (np.uint64(code) << _HIGH) | np.uint64(i)
        low, high = min(low, code), max(high, code)
    if low == high:
        return False
    bits, spread = 1, np.int64(high) - np.int64(low)
    while spread >> bits:
        bits += 1
    few = n <= _FEW and bits <= 25
    if few:
        _rank(keys, spare, counts, n, np.uint64(low))
    else:
        base, rounds = np.uint64(low) << _HIGH, 1 if bits <= 8 else (2 if bits <= 22 else 4)
        width = (bits + rounds - 1) // rounds
        for turn in range(0, rounds, 2):
            shift = _HIGH + np.uint64(turn * width)
            _deal(keys, spare, n, base, shift, width, counts)
            if rounds > 1:
                _deal(spare, keys, n, base, shift + np.uint64(width), width, counts)
    if few or bits <= 8:
        for i in range(n):
            keys[i] = spare[i]
    return True


@leaf_kernel
def _walk_squares(keys, n, present, start, number, weight, total, node_weight, rules):
    """Score the cuts of a sorted column; return (score, rows before the cut, missing left?)."""
    best, place, best_side = -1.0, 0, 0
    for side in range(2 if present < n else 1):
        left_weight, left_sum = np.int64(0), np.int64(0)
        if side:
            for i in range(present, n):
                p = start + (keys[i] & _PLACE)
                left_sum += number[p]
                left_weight += weight[p]
        here = n - present if side else 0
        code = keys[0] >> _HIGH
        for i in range(present if present < n and not side else present - 1):
            p = start + (keys[i] & _PLACE)
            left_sum += number[p]
            left_weight += weight[p]
            after = keys[i + 1] >> _HIGH
            if after == code:
                continue
            code = after
            if not allowed(here + i + 1, n, left_weight, node_weight, rules):
                continue
            found = squares(left_sum, left_weight, total, node_weight)
            if found > best:
                best, place, best_side = found, i + 1, side
    return best, place, best_side


@leaf_kernel
def _walk_classes(keys, n, present, start, label, weight, total, node_weight, rules, logs, left):
    """`_walk_squares` for class counts."""
    best, place, best_side = -1.0, 0, 0
    for side in range(2 if present < n else 1):
        left_weight = np.int64(0)
        left[:] = 0
        if side:
            for i in range(present, n):
                p = start + (keys[i] & _PLACE)
                left[label[p]] += weight[p]
                left_weight += weight[p]
        here = n - present if side else 0
        for i in range(present if present < n and not side else present - 1):
            p = start + (keys[i] & _PLACE)
            left[label[p]] += weight[p]
            left_weight += weight[p]
            if keys[i + 1] >> _HIGH == keys[i] >> _HIGH:
                continue
            if not allowed(here + i + 1, n, left_weight, node_weight, rules):
                continue
            found = channel_score(left, total, left_weight, node_weight, rules.criterion, 1, logs)
            if found > best:
                best, place, best_side = found, i + 1, side
    return best, place, best_side


@leaf_kernel
def best_cut(
    codes, n_codes, rows, start, n, label, number, weight, total, whole, node_key, rules, logs,
    keys, spare, counts, left, order,
):  # fmt: skip
    """Draw columns and return the best cut.

    It is (score, feature, threshold, missing left?, last code on the left, a row of that code, a row
    of the next code); the threshold is NaN if it lies between those two rows.
    """
    best, feature, cut, best_side, last = -1.0, np.int64(-1), np.nan, np.int64(0), np.int64(0)
    below = above = rows[start]
    varied = 0
    for turn in range(len(n_codes)):
        if turn >= rules.max_features and varied:
            break
        f = np.uint64(pick_column(node_key, turn, order))
        if not _sort(codes, f, rows, start, n, keys, spare, counts):
            continue
        varied += 1
        gone, present = np.uint64(n_codes[f]), n
        while present and keys[present - 1] >> _HIGH == gone:
            present -= 1
        if len(label):
            found, place, side = _walk_classes(
                keys, n, present, start, label, weight, total, whole, rules, logs, left
            )
        else:
            found, place, side = _walk_squares(
                keys, n, present, start, number, weight, total[0], whole, rules
            )
        if found > best or (found == best and found >= 0.0 and np.int64(f) < feature):
            best, feature, best_side = found, np.int64(f), np.int64(side)
            last = np.int64(keys[place - 1] >> _HIGH)
            cut = np.inf if place == present else np.nan
            below = rows[start + (keys[place - 1] & _PLACE)]
            above = rows[start + (keys[min(place, n - 1)] & _PLACE)]
    return best, feature, cut, best_side, last, below, above
