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

Of categories a round changes only what they weigh: a row costs one addition, to its category and class.

    cells     [c, 0] and [c, 1]: what the rows of category c weigh, by class
    order     categories by the share of class 1, then by code; a division is a cut of this order

Scores, ties and what is charged for chance are those of categories.py.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.fixed_point import WEIGHT_BITS, scale_for, to_grid
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.counts import sort_seen
from arboretum.engine.split.score import free_categories, squares_from_mean

__all__ = [
    "describe_stump",
    "grid_scale",
    "mark_stump",
    "search_category_stumps",
    "search_stumps",
    "weigh_words",
]

_ONE = np.int64(1)
_STRETCH = 64
_ALMOST, _ROUNDING = 1.0 - 1e-12, 1e-15  # what rounding may do to a bound


@inline
def grid_scale(weights, whole):
    """Return what weights are multiplied by before they are rounded to the grid.

    weights (n_rows,) float64.
    """
    total = 0.0
    for i in range(len(weights)):
        total += weights[i]
    return 1.0 if whole else scale_for(total, WEIGHT_BITS)


@kernel
def weigh_words(weights, labels, whole, words):
    """Write ``words``; return the weight of all rows and of class 1, on the grid.

    weights (n_rows,) float64; labels (n_rows,) int32; words (n_rows,) int64, written.
    """
    scale = grid_scale(weights, whole)
    all_weight, ones = np.int64(0), np.int64(0)
    for i in range(len(weights)):
        w = to_grid(weights[i] * scale)
        c = np.int64(labels[i])
        words[i] = (w << _ONE) | c
        all_weight += w
        ones += w & -c
    return all_weight, ones


@subkernel
def _walk_cuts(entries, words, lo, hi, left_weight, ones, weight, total, best):
    """Score the cuts behind the rows lo..hi; return the best score so far and its place, 0 for one before lo.

    entries (n_rows,) uint32; words (n_rows,) int64.
    """
    node_weight = np.float64(weight)
    mean = np.float64(total) / node_weight
    bar, place = best * _ALMOST, np.int64(0)
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


@subkernel
def _walk(entries, words, last, left_weight, ones, weight, total, best):
    """Return the best score and place among the cuts 1..last; the place is 0 if none beats ``best``.

    ``left_weight`` and ``ones`` are what stands on the left already.

    entries (n_rows,) uint32; words (n_rows,) int64.
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
            best, here = _walk_cuts(
                entries, words, lo, hi, first_weight, first_ones, weight, total, best
            )
            place = max(place, here)
    return best, place


@subkernel
def _search_list(entries, words, weight, total, best):
    """Return (score, present rows on the left, missing left?) of the best cut; no rows: none is better.

    entries (n_rows,) uint32; words (n_rows,) int64.
    """
    n, nothing = len(entries), np.int64(0)
    present = first_missing(entries, 0, n)
    last = min(present, n - 1)
    best, cut = _walk(entries, words, last, nothing, nothing, weight, total, best)
    if present == n:
        return best, cut, nothing
    left_weight, ones = np.int64(0), np.int64(0)
    for i in range(present, n):
        word = words[np.uint64(entries[i] & POSITION)]
        left_weight += word >> _ONE
        ones += (word >> _ONE) & -(word & _ONE)
    best, place = _walk(entries, words, present - 1, left_weight, ones, weight, total, best)
    if place > 0:
        return best, place, _ONE
    return best, cut, nothing


@kernel
def search_stumps(lists, columns, words, weight, total):
    """Return (score, column, present rows on the left, missing left?) of the best cut of some columns.

    ``weight`` and ``total`` are what `weigh_words` returned. Rows that miss a value are tried on either
    side, and "present against missing" is a cut of its own. Between equal scores the first wins.

    lists (n_columns, n_rows) uint32; columns (n_some,) int64; words (n_rows,) int64.
    """
    best, column, cut, missing_left = REFUSED, np.int64(0), np.int64(0), np.int64(0)
    for j in columns:
        best, place, side = _search_list(lists[j], words, weight, total, best)
        if place > 0:
            column, cut, missing_left = np.int64(j), place, side
    return best, column, cut, missing_left


@kernel
def mark_stump(entries, cut, missing_left, right):
    """Write 0 for rows on the left and 1 for those on the right; return whether a value is missing.

    entries (n_rows,) uint32; right (n_rows,) uint8, written.
    """
    n = len(entries)
    present = first_missing(entries, 0, n)
    for i in range(n):
        goes_right = i >= cut if i < present else missing_left == 0
        right[np.uint64(entries[i] & POSITION)] = np.uint8(goes_right)
    return present < n


@kernel
def describe_stump(right, labels, weights, value, weight):
    """Write class weights, (3, classes), and weights, (3,), of the root and its left and right child.

    right (n_rows,) uint8; labels (n_rows,) int32; weights (n_rows,) float64; value (3, n_classes)
    float64, written; weight (3,) float64, written.
    """
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


# --------------------------------------------------------------------------- categories
@subkernel
def _count_categories(codes, words, cells):
    """Add up the weight of every category, by class.

    codes (n_rows,) uint32; words (n_rows,) int64; cells (most codes + 1, 2) int64, added to.
    """
    for i in range(len(codes)):
        word = words[i]
        cells[np.uint64(codes[i]), np.uint64(word & _ONE)] += word >> _ONE


@subkernel
def _walk_categories(cells, missing, has_missing, seen, m, weight, mean):
    """Return (score, categories on the left, missing left?) of the best cut of m categories in order.

    cells (most codes + 1, 2) int64; seen (most codes,) int64.
    """
    best, place, best_side = REFUSED, np.int64(0), np.int64(0)
    for side in range(2 if has_missing else 1):
        left_weight, ones = np.int64(0), np.int64(0)
        if side:
            ones = cells[missing, 1]
            left_weight = cells[missing, 0] + ones
        for i in range(m if has_missing and not side else m - 1):
            code = seen[i]
            ones += cells[code, 1]
            left_weight += cells[code, 0] + cells[code, 1]
            if left_weight < 1 or weight - left_weight < 1:
                continue
            score = squares_from_mean(ones, left_weight, mean, weight)
            if score > best:
                best, place, best_side = score, np.int64(i + 1), np.int64(side)
    return best, place, best_side


@kernel(makes_arrays=True)
def search_category_stumps(
    codes, n_codes, starts, counts, words, weight, total, chance, loner, takes
):
    """Return (worth, score, column, missing left?) of the best division; the worth is -inf if there is none.

    Parameters
    ----------
    codes : (columns, rows) uint32 array
        ``n_codes[j]`` means missing.
    n_codes, starts : int64 arrays
        Of every column: its categories, and where its ``counts`` begin.
    counts : int64 array
        Rows of every category of every column, and of those that miss it.
    words, weight, total : int64 array, int, int
        See `weigh_words`.
    chance, loner : float64 array, float
        See `score.free_categories`; the chance of every column, 0 where it is not charged.
    takes : uint8 array
        Filled for the best column: 1 goes left, 0 right, 2 is not met.

    columns (n_some,) int64; codes (n_columns, n_rows) uint32; n_codes, starts (n_columns,) int64; chance
    (n_columns,) float64; counts (n_counts,) int64; words (n_rows,) int64; takes (most codes,) uint8,
    written.
    """
    most = 0
    for j in range(len(n_codes)):
        most = max(most, n_codes[j])
    cells, seen = np.empty((most + 1, 2), np.int64), np.empty(most, np.int64)
    key, mean = np.empty(most), np.float64(total) / np.float64(weight)
    best, best_score, column, missing_left = -np.inf, REFUSED, np.int64(0), np.int64(0)
    for j in range(len(codes)):
        here = counts[starts[j] : starts[j] + n_codes[j] + 1]
        for c in range(n_codes[j] + 1):
            cells[c, 0], cells[c, 1] = 0, 0
        _count_categories(codes[j], words, cells)
        m = 0
        for c in range(n_codes[j]):
            if here[c] > 0:
                both = max(cells[c, 0] + cells[c, 1], _ONE)
                seen[m], key[m] = c, np.float64(cells[c, 1]) / np.float64(both)
                m += 1
        sort_seen(seen, key, m)
        score, place, side = _walk_categories(
            cells, n_codes[j], here[n_codes[j]] > 0, seen, m, weight, mean
        )
        worth = score - chance[j] * free_categories(m, codes.shape[1], loner)
        if score >= 0.0 and worth > best:
            best, best_score, column, missing_left = worth, score, np.int64(j), side
            for c in range(n_codes[j]):
                takes[c] = 2
            for i in range(m):
                takes[seen[i]] = i < place
    return best, best_score, column, missing_left
