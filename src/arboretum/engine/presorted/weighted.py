"""Searching columns of weighted numbers: what AdaBoost asks for again and again.

`search.scan_full` looks after everything: weights, missing values, both sides that they may take, the cut
behind the last row. A column of weighted numbers that misses none needs little of it. Its rows are dealt to
their nodes, in their order, and each node is walked alone:

    deal          a row's number, weight and place in the list: two gathers, three writes
    64 rows       S_L rises at most by what they add, n_L by what they weigh: is there a cut among them
                  with d² > best · n_L n_R?  If not, their sums are all that is needed
    the others    row by row; only what may be better is scored

The best so far may be another column's: of those that cannot win, no cut is told. A row adds at least its
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

_STRETCH = 64  # rows that are looked at together
_ALMOST, _ROUNDING = 1.0 - TIE, 1e-15  # what rounding may do to a bound


@subkernel
def _deal(entries, words, row_weight, whole_weights, at, numbers, weights, places):
    """Write what the rows add, weigh and where they stand, node by node.

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
    """Tell whether the value of an entry differs from that of an earlier one."""
    seen = np.uint32(0)
    for i in range(np.uint64(before) + np.uint64(1), np.uint64(place) + np.uint64(1)):
        seen |= entries[i]
    return seen & NEW > 0


@subkernel
def _may_win(left_sum, left_weight, more, heavier, node, smallest, bar):
    """Tell whether a cut among some rows, which add ``more`` and weigh ``heavier``, may score above a bar."""
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
def _walk_cuts(
    entries, numbers, weights, places, lo, hi, earlier, left_sum, left_weight, node, limits, bar, best, place,
    on_left,
):  # fmt: skip
    """Score the cuts before the rows lo … hi of a node, which has ``earlier`` rows before them.

    Only those above ``bar`` count. Returns the best, its place and weight on the left.
    """
    mean, weight, n_rows = node
    least, least_weight = limits.samples_leaf, limits.least_weight
    for p in range(lo, hi):
        weight_left = np.float64(left_weight)
        weight_right = weight - weight_left
        d = np.float64(left_sum) - weight_left * mean
        if d * d > bar * _ALMOST * (weight_left * weight_right):
            count = earlier + (p - lo)
            allowed = count >= max(least, 1) and n_rows - count >= least
            allowed &= weight_left >= least_weight and weight_right >= least_weight
            if allowed and weight_right > 0.0:
                score = squares_from_mean(left_sum, weight_left, mean, weight)
                if score > bar and _is_new(entries, places[p - 1], places[p]):
                    best, bar = score, score * CLEARLY
                    place, on_left = np.int64(places[p]), weight_left
        left_sum += numbers[p]
        left_weight += weights[p]
    return best, place, on_left


@subkernel
def _walk_node(entries, numbers, weights, places, first, end, node, limits, bar):
    """Return score, place and weight on the left of a node's best cut above a bar."""
    best, place, on_left = REFUSED, np.int64(0), 0.0
    left_sum, left_weight = np.int64(0), np.int64(0)
    for lo in range(first, end, _STRETCH):
        hi = min(lo + _STRETCH, end)
        more, heavier = np.int64(0), np.int64(0)
        for p in range(np.uint64(lo), np.uint64(hi)):
            more += numbers[p]
            heavier += weights[p]
        if _may_win(left_sum, left_weight, more, heavier, node, limits.smallest, max(best, bar)):
            high = max(best * CLEARLY, bar) if best >= 0.0 else bar
            best, place, on_left = _walk_cuts(
                entries, numbers, weights, places, lo, hi, lo - first, left_sum, left_weight, node,
                limits, high, best, place, on_left,
            )  # fmt: skip
        left_sum += more
        left_weight += heavier
    return best, place, on_left


@kernel
def scan_weighted(table, columns, rows, limits, work, scratch, found):
    """Search columns of numbers that miss none; rows have weights, and nobody asks which columns vary."""
    mean, weight, n_rows = work.mean, work.weight, work.rows
    m, start, at, bars = work.n_open[0] + 1, scratch.start, scratch.at, scratch.bars
    numbers, weights, places = scratch.numbers, scratch.row_weights, scratch.places
    start[0] = 0
    for k in range(1, m):
        start[k] = start[k - 1] + n_rows[k - 1]
    for f in columns:
        entries = table.lists[f]
        for k in range(m):
            at[k] = start[k]
        _deal(
            entries, work.words, rows.row_weight, limits.whole_weights, at, numbers, weights, places
        )
        for k in range(m - 1):
            best, place, on_left = _walk_node(
                entries, numbers, weights, places, start[k], start[k] + n_rows[k],
                (mean[k], weight[k], n_rows[k]), limits, bars[k],
            )  # fmt: skip
            found.score[f, k], found.place[f, k], found.on_left[f, k] = best, place, on_left
            found.flags[f, k], found.sizes[f, k] = 0, 0
            bars[k] = max(bars[k], best * FAR)
