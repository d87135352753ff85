"""The best stump of weighted rows, two classes: one walk along every presorted column.

Boosting asks for it again and again with other weights. Columns are sorted once (columns/presort.py); the
weights of a round go onto a grid of whole numbers that add up to less than 2^53, and a row carries its weight
and its class in one word:

    word            w << 1 | class
    entry           n_L += w,  ones += w if class == 1
    decrease        d² / (n_L n_R),  d = ones - n_L · S/n          (Gini is twice that; see score.py)

Most cuts need not be scored at all. Along a stretch of 64 rows n_L only grows and d rises by what class 1
weighs and falls by what class 0 weighs, so d² / (n_L n_R) has a bound, and only a stretch whose bound exceeds
the best score so far is walked cut by cut; the others cost a gather and two additions a row (0.7 ns instead
of 2.6). The scores are those of CART's own search (one_sum.py) to the last bit, so a stump is the tree of
depth 1 that CART grows.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.fixed_point import WEIGHT_BITS, scale_for, to_grid
from arboretum.engine.jit import inline, kernel, leaf_kernel
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import squares_from_mean

__all__ = [
    "describe_stump",
    "grid_scale",
    "mark_stump",
    "search_stumps",
    "weigh_words",
]

_ONE = np.int64(1)
_STRETCH = 64
_ALMOST, _ROUNDING = 1.0 - 1e-12, 1e-15  # what rounding may do to a bound


@inline
def grid_scale(weights, whole):
    """Return what weights are multiplied by before they are rounded to the grid."""
    total = 0.0
    for i in range(len(weights)):
        total += weights[i]
    return 1.0 if whole else scale_for(total, WEIGHT_BITS)


@kernel
def weigh_words(weights, labels, whole, words):
    """Write ``words``; return the weight of all rows and of class 1, on the grid."""
    scale = grid_scale(weights, whole)
    all_weight, ones = np.int64(0), np.int64(0)
    for i in range(len(weights)):
        w = to_grid(weights[i] * scale)
        c = np.int64(labels[i])
        words[i] = (w << _ONE) | c
        all_weight += w
        ones += w & -c
    return all_weight, ones


@leaf_kernel
def _walk_cuts(entries, words, lo, hi, left_weight, ones, weight, total, best, place):
    """Score the cuts behind the rows lo..hi; return the better of the best of them and the best so far."""
    node_weight = np.float64(weight)
    mean = np.float64(total) / node_weight
    bar = best * _ALMOST
    for i in range(lo, hi):
        word = words[np.uint64(entries[np.uint64(i)] & POSITION)]
        w = word >> _ONE
        left_weight += w
        ones += w & -(word & _ONE)
        on_left = np.float64(left_weight)
        d = np.float64(ones) - on_left * mean
        if d * d > bar * (on_left * (node_weight - on_left)):
            if left_weight < 1 or weight - left_weight < 1 or not entries[np.uint64(i + 1)] & NEW:
                continue
            score = squares_from_mean(ones, on_left, mean, node_weight)
            if score > best:
                best, bar, place = score, score * _ALMOST, np.int64(i + 1)
    return best, place


@leaf_kernel
def _walk(entries, words, last, left_weight, ones, weight, total, best):
    """Return the best score and place among the cuts 1..last; the place is 0 if none beats ``best``.

    ``left_weight`` and ``ones`` are what stands on the left already.
    """
    node_weight = np.float64(weight)
    mean = np.float64(total) / node_weight
    place = np.int64(0)
    for lo in range(0, last, _STRETCH):
        hi = min(lo + _STRETCH, last)
        first_weight, first_ones = left_weight, ones
        for i in range(lo, hi):
            word = words[np.uint64(entries[np.uint64(i)] & POSITION)]
            w = word >> _ONE
            left_weight += w
            ones += w & -(word & _ONE)
        before, after = np.float64(first_weight), np.float64(left_weight)
        start = np.float64(first_ones) - before * mean
        up = np.float64(ones - first_ones)
        down = (after - before) - up
        most = (
            max(abs(start + up * (1.0 - mean)), abs(start - down * mean)) + node_weight * _ROUNDING
        )
        least = min(before * (node_weight - before), after * (node_weight - after))
        if most * most > best * _ALMOST * least:
            best, place = _walk_cuts(
                entries, words, lo, hi, first_weight, first_ones, weight, total, best, place
            )
    return best, place


@kernel
def search_stumps(lists, lo, hi, words, weight, total):
    """Return (score, column, present rows on the left, missing left?) of the best cut of columns lo..hi.

    ``weight`` and ``total`` are what `weigh_words` returned. Rows that miss a value are tried on either
    side, and "present against missing" is a cut of its own. Between equal scores the first wins.
    """
    n = lists.shape[1]
    best, column, cut, missing_left = REFUSED, np.int64(0), np.int64(0), np.int64(0)
    for j in range(lo, hi):
        entries = lists[j]
        present = first_missing(entries, 0, n)
        nothing = np.int64(0)
        last = min(present, n - 1)
        best, place = _walk(entries, words, last, nothing, nothing, weight, total, best)
        if place > 0:
            column, cut, missing_left = np.int64(j), place, np.int64(0)
        if present == n:
            continue
        left_weight, ones = np.int64(0), np.int64(0)
        for i in range(present, n):
            word = words[np.uint64(entries[i] & POSITION)]
            left_weight += word >> _ONE
            ones += (word >> _ONE) & -(word & _ONE)
        best, place = _walk(entries, words, present - 1, left_weight, ones, weight, total, best)
        if place > 0:
            column, cut, missing_left = np.int64(j), place, np.int64(1)
    return best, column, cut, missing_left


@kernel
def mark_stump(entries, cut, missing_left, right):
    """Write 0 for rows on the left and 1 for those on the right; return whether a value is missing."""
    n = len(entries)
    present = first_missing(entries, 0, n)
    for i in range(n):
        goes_right = i >= cut if i < present else missing_left == 0
        right[np.uint64(entries[i] & POSITION)] = np.uint8(goes_right)
    return present < n


@kernel
def describe_stump(right, labels, weights, value, weight):
    """Write class weights, (3, classes), and weights, (3,), of the root and its left and right child."""
    value[:] = 0.0
    weight[:] = 0.0
    total = 0.0
    for i in range(len(right)):
        w, child, c = weights[i], np.uint64(1 + right[i]), np.uint64(labels[i])
        value[0, c] += w
        value[child, c] += w
        total += w
        weight[child] += w
    weight[0] = total
