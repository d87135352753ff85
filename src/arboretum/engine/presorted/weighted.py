"""Searching numeric columns with row weights, as AdaBoost needs it in every round.

`search.scan_full` looks after everything: weights, missing values, both sides that they may take, the cut
behind the last row. A column of weighted numbers that misses none needs little of it. Its rows are dealt to
their nodes, in their order, and each node is walked alone:

    deal          a row's number, weight and place in the list: two gathers, three writes
    64 rows       S_L rises at most by what they add, n_L by what they weigh: is there a cut among them
                  with d² > best · n_L n_R?  If not, their sums are all that is needed
    the others    row by row; only what may be better is scored

The best so far may be another column's: of those that cannot win, no cut is reported. A row adds at least its
weight times the smallest target, so S' = S - n · smallest only rises, and d lies between two numbers along
the 64 rows. The trees are the same to the last bit.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.presorted.row_layout import CLEARLY, FAR, SHIFT, SLOT, TIE
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import squares_from_mean

__all__ = ["scan_weighted"]

_STRETCH = 64  # rows that are checked together
_ALMOST, _ROUNDING = 1.0 - TIE, 1e-15  # the effect of rounding on a bound


@subkernel
def _deal(entries, words, row_weight, whole_weights, at, numbers, weights, places):
    """Write the numbers that rows add, their weights and their places, node by node.

    ``at``: where the next row of every node goes.
    """
    for i in range(np.uint64(len(entries))):
        row = np.uint64(entries[i] & POSITION)
        word, w = words[row], row_weight[row]
        k = np.uint64(word) & SLOT
        to = np.uint64(at[k])
        at[k] += 1
        numbers[to] = (word >> SHIFT) * (w if whole_weights else np.int64(1))
        weights[to], places[to] = w, np.uint32(i)


@subkernel
def _is_new(entries, before, place):
    """Return whether the value of an entry differs from that of an earlier one."""
    seen = np.uint32(0)
    for i in range(np.uint64(before) + np.uint64(1), np.uint64(place) + np.uint64(1)):
        seen |= entries[i]
    return seen & NEW > 0


@subkernel
def _may_win(left_sum, left_weight, more, heavier, node, smallest, bar):
    """Return whether a cut among some rows, which add ``more`` and weigh ``heavier``, may beat ``bar``."""
    mean, weight, _ = node
    before, added = np.float64(left_weight), np.float64(heavier)
    s, after = np.float64(left_sum), np.float64(left_weight + heavier)
    d = s - before * mean
    high = d + (np.float64(more) - added * smallest)
    low = d - added * (mean - smallest)
    size = abs(s) + abs(np.float64(more)) + after * (abs(mean) + abs(smallest))
    spare = _STRETCH * (abs(smallest) + 1.0)  # numbers and weights are rounded to their grids
    most = max(abs(high), abs(low)) + spare + size * _ROUNDING
    product = min(before * (weight - before), after * (weight - after))
    return most * most > bar * _ALMOST * product


@subkernel
def _walk_cuts(entries, lo, hi, left_sum, left_weight, k, limits, work, scratch):
    """Score the cuts before the rows lo … hi of node k; write one that is better than all before.

    entries (n_rows,) uint32.
    """
    numbers, weights, places = scratch.numbers, scratch.row_weights, scratch.places
    mean, weight, n_rows, first = work.mean[k], work.weight[k], work.rows[k], scratch.start[k]
    least, least_weight, best = limits.samples_leaf, limits.least_weight, scratch.best[0, k]
    bar = max(best * CLEARLY, scratch.bars[k]) if best >= 0.0 else scratch.bars[k]
    for p in range(lo, hi):
        weight_left = np.float64(left_weight)
        weight_right = weight - weight_left
        d = np.float64(left_sum) - weight_left * mean
        if d * d > bar * _ALMOST * (weight_left * weight_right):
            count = p - first
            allowed = count >= max(least, 1) and n_rows - count >= least
            allowed &= weight_left >= least_weight and weight_right >= least_weight
            if allowed and weight_right > 0.0:
                score = squares_from_mean(left_sum, weight_left, mean, weight)
                if score > bar and _is_new(entries, places[p - 1], places[p]):
                    bar = score * CLEARLY
                    scratch.best[0, k], scratch.place[0, k] = score, np.int64(places[p])
                    scratch.on_left[0, k] = weight_left
        left_sum += numbers[p]
        left_weight += weights[p]


@subkernel
def _walk_node(entries, k, limits, work, scratch):
    """Write score, place and weight on the left of node k's best cut above its bar.

    entries (n_rows,) uint32.
    """
    numbers, weights, first = scratch.numbers, scratch.row_weights, scratch.start[k]
    node, end = (work.mean[k], work.weight[k], work.rows[k]), first + work.rows[k]
    scratch.best[0, k], scratch.place[0, k], scratch.on_left[0, k] = REFUSED, 0, 0.0
    left_sum, left_weight = np.int64(0), np.int64(0)
    for lo in range(first, end, _STRETCH):
        hi = min(lo + _STRETCH, end)
        more, heavier = np.int64(0), np.int64(0)
        for p in range(np.uint64(lo), np.uint64(hi)):
            more += numbers[p]
            heavier += weights[p]
        bar = max(scratch.best[0, k], scratch.bars[k])
        if _may_win(left_sum, left_weight, more, heavier, node, limits.smallest, bar):
            _walk_cuts(entries, lo, hi, left_sum, left_weight, k, limits, work, scratch)
        left_sum += more
        left_weight += heavier


@kernel
def scan_weighted(table, columns, rows, limits, work, scratch, found):
    """Search numeric columns without missing values; rows have weights, and no node draws columns."""
    m, start, at, bars = work.n_open[0] + 1, scratch.start, scratch.at, scratch.bars
    start[0] = 0
    for k in range(1, m):
        start[k] = start[k - 1] + work.rows[k - 1]
    for f in columns:
        entries = table.lists[f]
        for k in range(m):
            at[k] = start[k]
        _deal(
            entries, work.words, rows.row_weight, limits.whole_weights, at, scratch.numbers,
            scratch.row_weights, scratch.places,
        )  # fmt: skip
        for k in range(m - 1):
            _walk_node(entries, k, limits, work, scratch)
            found.score[f, k], found.place[f, k] = scratch.best[0, k], scratch.place[0, k]
            found.on_left[f, k] = scratch.on_left[0, k]
            found.flags[f, k], found.sizes[f, k] = 0, 0
            bars[k] = max(bars[k], scratch.best[0, k] * FAR)
