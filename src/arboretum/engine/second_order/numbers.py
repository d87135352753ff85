"""The best cut of a number: after each of its bins, missing values on either side in turn.

    bins           0    1    2    3   missing
    Σg, Σh left    ├────┼────┼────┤             missing values right; the last cut separates them
              m +  ├────┼────┤                  missing values left

Where a node has no missing values, they go right as in XGBoost, or otherwise with the majority. A node's
gains are written first and then searched for the largest, in loops that the compiler turns into wide
instructions.

Most columns of a node have no better cut than an earlier column. Where both sums of a node fit into 32 bits,
a column is first checked in single precision and without a division, with a margin for rounding:

    a² / p + d² / q > best     tested as    a²·q + d²·p > best · (1 - 10⁻⁵) · p·q      for some cut?

The test is applied to blocks of bins first, with an upper bound for the score of the cuts within, and then to
the cuts of blocks that pass. Only if a cut passes, too, are the gains computed in double precision.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.atomic import LANES, sum_block
from arboretum.engine.compiler.decorators import inline, subkernel
from arboretum.engine.dtypes import NUMBER
from arboretum.engine.second_order.histogram import LOW32
from arboretum.engine.second_order.row_counts import count_rows, surely_enough
from arboretum.engine.second_order.score import (
    answer,
    is_worth,
    keep_best,
    plain_gain,
    rows_of,
    score,
)

__all__ = ["scan_number", "scan_packed", "score_cuts"]

_INFINITY = np.int64(0x7FF0000000000000)  # its bits; larger ones are NaN
_ZERO = np.int64(0)
_CLEARLY = 1.0 - 1e-5  # a number times this is smaller by more than rounding in single precision
_HALVES = np.int64(1) << 31  # limit for packed sums, so that both halves have a sign bit
_LARGE = 2.0**60  # in units of sums: up to here products stay finite in single precision
_G, _H = np.uint64(1), np.uint64(0)  # halves of a packed number, by their order in memory
_ONE, _TWO = np.uint64(1), np.uint64(2)
_BLOCK = np.uint64(LANES)  # bins
_BIT = np.uint32(1)


@subkernel
def _add_rows(of_bin, share, n, cuts, from_left, node, scratch):
    """Write the rows on the left of every cut, added up from the side without missing values.

    of_bin (at least n,) int64, Σh with ``share`` rows per unit, or the rows with a share of 1.
    """
    left_rows = scratch.left_rows
    if from_left:
        rows = 0.0
        for b in range(cuts):
            rows += rows_of(of_bin[b], share)
            left_rows[b] = rows
        return
    rows = node.rows
    for b in range(n - 1, 0, -1):
        rows -= rows_of(of_bin[b], share)
        left_rows[b - 1] = rows


@subkernel
def score_cuts(n, node, sign, rules, scratch):
    """Write the gain of every beginning of the bins from the sums on its left."""
    left_g, left_h, gain = scratch.left_g, scratch.left_h, scratch.gain
    g_unit, h_unit = node.g_unit, node.h_unit
    total_g, total_h = np.float64(node.g) * g_unit, np.float64(node.h) * h_unit
    node_score = node.score
    least, rows, l2, left_rows = rules.min_weight, rules.min_rows, rules.l2, scratch.left_rows
    if node.is_plain and sign == 0.0:
        for b in range(n):
            a, c = np.float64(left_g[b]) * g_unit, np.float64(left_h[b]) * h_unit
            gain[b] = plain_gain(a, c, total_g, total_h, node_score, l2, least)
        if rows > 0.0:
            for b in range(n):
                enough = (left_rows[b] >= rows) & (node.rows - left_rows[b] >= rows)
                gain[b] = gain[b] if enough else -np.inf
        return
    for b in range(n):
        a, c = np.float64(left_g[b]) * g_unit, np.float64(left_h[b]) * h_unit
        d, e = total_g - a, total_h - c
        n_left = left_rows[b] if rows > 0.0 else 0.0
        n_right = node.rows - n_left
        gain[b] = -np.inf
        if c < least or e < least or n_left < rows or n_right < rows:
            continue
        p = answer(a, c, n_left, node.answer, node.lower, node.upper, l2, rules)
        q = answer(d, e, n_right, node.answer, node.lower, node.upper, l2, rules)
        if (q - p) * sign < 0.0:
            continue
        gain[b] = score(a, c, p, l2, rules) + score(d, e, q, l2, rules) - node.score


@subkernel
def _first_largest(gain, bits, n):
    """Return the place of the first largest gain above 0, or -1; NaN is ignored.

    gain (at least n,) float64; bits (at least n,) int64, those of ``gain``.
    """
    most = np.int64(0)
    for b in range(n):
        most = max(most, bits[b])
    if most > _INFINITY:
        best, at = 0.0, -1
        for b in range(n):
            if gain[b] > best:
                best, at = gain[b], b
        return at
    if most > 0:
        for b in range(n):
            if bits[b] == most:
                return b
    return -1


@subkernel
def scan_number(f, n, node, sign, features, rules, rows, scratch):
    """Try every cut of a number, missing values right, then left.

    ``rows``: RowsOfNode, or None if the rows of bins are estimated.
    """
    g, h = scratch.g, scratch.h
    missing, known = g[n] != 0 or h[n] != 0, False
    for side in range(2 if missing else 1):
        sum_g, sum_h = (g[n], h[n]) if side else (np.int64(0), np.int64(0))
        cuts = n if missing and not side else n - 1
        for b in range(cuts):
            sum_g += g[b]
            sum_h += h[b]
            scratch.left_g[b], scratch.left_h[b] = sum_g, sum_h
        from_left = missing and not side
        if rows is None:
            if rules.min_rows > 0.0:
                _add_rows(h, node.share, n, cuts, from_left, node, scratch)
        elif known:
            _add_rows(scratch.counts, 1.0, n, cuts, from_left, node, scratch)
        else:
            scratch.left_rows[:cuts] = 0.5 * node.rows  # enough on both sides
        score_cuts(cuts, node, sign, rules, scratch)
        at = _first_largest(scratch.gain, scratch.bits, cuts)
        if rows is not None:
            better = at >= 0 and scratch.gain[at] > scratch.best[0].gain
            if better and not (known or surely_enough(scratch.left_h[at], node, rules)):
                count_rows(f, features, rows, scratch)
                known = True
                _add_rows(scratch.counts, 1.0, n, cuts, from_left, node, scratch)
                score_cuts(cuts, node, sign, rules, scratch)
                at = _first_largest(scratch.gain, scratch.bits, cuts)
        if at < 0 or not (
            scratch.gain[at] > scratch.best[0].gain
            and is_worth(scratch.gain[at], node.score, rules)
        ):
            continue
        sum_g, sum_h = scratch.left_g[at], scratch.left_h[at]
        heavier = 2 * sum_h >= node.h  # no missing values: later ones go with the majority
        towards = np.int64(side if missing else heavier and not rules.as_xgboost)
        keep_best(scratch.gain[at], f, at, towards, NUMBER, sum_g, sum_h, scratch)


@subkernel
def _outline(sums, n, before, turns):
    """Write the sums before every block of bins, the total at the end, and Σ|g| or slightly more.

    Returns the number of blocks.

    sums (at least n,) int64; before (n_blocks + 1,) int64, written; turns (n_blocks,) int64, written.
    """
    blocks, total = np.uint64(n) // _BLOCK, np.int64(0)
    for k in range(blocks):
        before[k] = total
        whole, magnitude = sum_block(sums, k * _BLOCK)
        total += whole
        turns[k] = magnitude + LANES
    if blocks * _BLOCK < np.uint64(n):
        before[blocks], magnitude = total, np.int64(0)
        for b in range(blocks * _BLOCK, np.uint64(n)):
            total += sums[b]
            magnitude += abs(sums[b] >> 32)
        turns[blocks] = magnitude
        blocks += _ONE
    before[blocks] = total
    return blocks


@inline
def _beats(g, rest_g, p, q, least):
    """Return whether a cut with such sums on its sides scores more than ``least``, without a division."""
    return g * g * q + rest_g * rest_g * p > least * (p * q)


@subkernel
def _mark_blocks(before, turns, blocks, missing, total, l2, limit, marks):
    """Mark the blocks in which a cut might score ``limit``, in units of the sums.

    Left of a cut, Σh lies between the sums before and after its block, and Σg at most half of Σ|g| outside
    the range of these sums. The score is convex, so no cut scores more than a corner of these ranges. Corners
    are integers, so that the remainder for the right side is not rounded, however small.

    before (blocks + 1,) int64; turns (blocks,) int64; marks (blocks,) int64, written.
    """
    sums, magnitudes = before.view(np.int32), turns.view(np.uint32)
    least, l2 = np.float32(limit), np.float32(l2)
    all_g, all_h = np.int32(total >> 32), np.int32(total & LOW32)
    with_g, with_h = np.int32(missing >> 32), np.int32(missing & LOW32)
    for k in range(blocks):
        near, far = _TWO * k, _TWO * k + _TWO
        turn, step = magnitudes[near + _H], np.uint32(sums[far + _G] - sums[near + _G])
        start = np.int32(sums[near + _G] + with_g)
        low = np.int32(start - np.int32(np.uint32(turn - step) >> _BIT))
        high = np.int32(start + np.int32(np.uint32(turn + step) >> _BIT))
        a, c = np.float32(low), np.float32(high)
        b, d = np.float32(np.int32(all_g - low)), np.float32(np.int32(all_g - high))
        h = np.int32(sums[near + _H] + with_h)
        p, q = np.float32(h) + l2, np.float32(np.int32(all_h - h)) + l2
        found = _beats(a, b, p, q, least) | _beats(c, d, p, q, least)
        h = np.int32(sums[far + _H] + with_h)
        p, q = np.float32(h) + l2, np.float32(np.int32(all_h - h)) + l2
        marks[k] = np.int64(found | _beats(a, b, p, q, least) | _beats(c, d, p, q, least))


@subkernel
def _take_cuts(sums, before, marks, blocks, first, end, left, order):
    """Write the sums left of the cuts first:end in marked blocks, and the bins they come after.

    A cut after a bin without rows is the cut before it. Returns the number of cuts.

    sums (n_bins,) int64; before (blocks + 1,) int64; marks (blocks,) int64; left, order (n_bins,)
    int64, written.
    """
    many, first, end = np.uint64(0), np.uint64(first), np.uint64(end)
    for k in range(blocks):
        if marks[k] == 0:
            continue
        total = before[k]
        for b in range(k * _BLOCK, min((k + _ONE) * _BLOCK, end)):
            total += sums[b]
            left[many], order[many] = total, b
            many += np.uint64((sums[b] != 0) & (b >= first))
    return np.int64(many)


@inline
def _rounded_rows(both, share):
    """Return `rows_of` of a packed sum, as an integer."""
    return np.int32(np.float64(both & LOW32) * share + 0.5)


@subkernel
def _enough_rows(sums, share, n, cuts, from_left, node, rules):
    """Return the first of the cuts with ``min_rows`` on both sides, and the one after the last.

    The rows are those of `_add_rows`; they only grow from cut to cut, so these cuts are neighbours, and
    are found from both ends.

    sums (at least n,) int64: packed sums, or the rows with a ``share`` of 1.
    """
    low, high = rules.min_rows, node.rows - rules.min_rows
    total = np.int32(0)
    for b in range(n):
        total += _rounded_rows(sums[b], share)
    if not from_left:  # the right side is counted, the left side gets the rest
        low, high = total - high, total - low
    first, end, rows = np.int64(0), cuts, _rounded_rows(sums[0], share)
    while first < cuts and rows < low:
        first += 1
        rows += _rounded_rows(sums[first], share) if first < n else np.int32(0)
    rows = total if cuts == n else total - _rounded_rows(sums[n - 1], share)
    while end > first and rows > high:
        end -= 1
        rows -= _rounded_rows(sums[end], share)
    return first, max(first, end)


@subkernel
def _score_packed(left, missing, n, node, rules, gain):
    """`score_cuts` for packed sums, where scores are G² / (H + λ); ``missing`` goes left.

    left (at least n,) int64; gain (at least n,) float64, written.
    """
    g_unit, h_unit, l2, least = node.g_unit, node.h_unit, rules.l2, rules.min_weight
    node_score = node.score
    total_g, total_h = np.float64(node.g) * g_unit, np.float64(node.h) * h_unit
    for k in range(n):
        both = left[k] + missing
        a, c = np.float64(np.int32(both >> 32)) * g_unit, np.float64(both & LOW32) * h_unit
        gain[k] = plain_gain(a, c, total_g, total_h, node_score, l2, least)


@subkernel
def _may_beat(left, missing, n, total, l2, limit):
    """Return whether one of n cuts might score ``limit``, in units of the sums; ``missing`` goes left.

    left (at least n,) int64.
    """
    halves, least, l2 = left.view(np.int32), np.float32(limit), np.float32(l2)
    total_g, total_h = np.int32(total >> 32), np.int32(total & LOW32)
    with_g, with_h = np.int32(missing >> 32), np.int32(missing & LOW32)
    found = False
    for k in range(np.uint64(n)):
        g, h = np.int32(halves[_TWO * k + _G] + with_g), np.int32(halves[_TWO * k + _H] + with_h)
        p, q = np.float32(h) + l2, np.float32(np.int32(total_h - h)) + l2
        # an empty side: 0 > 0
        found |= _beats(np.float32(g), np.float32(np.int32(total_g - g)), p, q, least)
    return found


@subkernel
def _best_cut(sums, blocks, missing, first, end, node, rules, limit, scratch):
    """Return the place of the best of the cuts first:end among those taken; -1: no cut beats the best so far.

    If ``limit`` is not above 0, all blocks are searched.

    sums (n_bins,) int64.
    """
    before, left, marks = scratch.h, scratch.left_g, scratch.bits
    total, l2 = (node.g << 32) + node.h, rules.l2 / node.h_unit
    if limit > 0.0:
        _mark_blocks(before, scratch.left_h, blocks, missing, total, l2, limit, marks)
    else:
        for k in range(blocks):
            marks[k] = 1
    many = _take_cuts(sums, before, marks, blocks, first, end, left, scratch.order)
    if many == 0 or (limit > 0.0 and not _may_beat(left, missing, many, total, l2, limit)):
        return np.int64(-1)
    _score_packed(left, missing, many, node, rules, scratch.gain)
    at = _first_largest(scratch.gain, scratch.bits, many)
    if at >= 0 and not (
        scratch.gain[at] > scratch.best[0].gain and is_worth(scratch.gain[at], node.score, rules)
    ):
        at = np.int64(-1)
    return at


@inline
def scan_packed(f, n, sums, missing, node, features, rules, rows, scratch):
    """`scan_number` for packed sums, where scores are G² / (H + λ).

    sums (at least n,) int64.
    """
    known = False
    blocks = _outline(sums, n, scratch.h, scratch.left_h)
    per_unit = _CLEARLY * node.h_unit / (node.g_unit * node.g_unit)
    looks_over = node.h < _HALVES and rules.l2 / node.h_unit < _LARGE
    for side in range(2 if missing else 1):
        with_left = missing if side else np.int64(0)
        from_left = missing != 0 and side == 0
        cuts = np.int64(n) if from_left else np.int64(n) - 1
        limit = (scratch.best[0].gain + node.score) * per_unit  # -inf at first
        if not (looks_over and limit < _LARGE):
            limit = -np.inf
        at = _best_cut(sums, blocks, with_left, _ZERO, cuts, node, rules, limit, scratch)
        if at >= 0 and rules.min_rows > 0.0:  # checked last: most columns have no better cut
            first, end = _ZERO, cuts
            if rows is None:
                first, end = _enough_rows(sums, node.share, n, cuts, from_left, node, rules)
            else:
                left_h = (scratch.left_g[at] + with_left) & LOW32
                if not (known or surely_enough(left_h, node, rules)):
                    count_rows(f, features, rows, scratch)
                    known = True
                if known:
                    first, end = _enough_rows(scratch.counts, 1.0, n, cuts, from_left, node, rules)
            if not first <= scratch.order[at] < end:
                at = _best_cut(sums, blocks, with_left, first, end, node, rules, limit, scratch)
        if at < 0:
            continue
        both = scratch.left_g[at] + with_left
        sum_g, sum_h = both >> 32, both & LOW32
        heavier = 2 * sum_h >= node.h  # no missing values: later ones go with the majority
        towards = np.int64(side if missing else heavier and not rules.as_xgboost)
        gain, cut = scratch.gain[at], scratch.order[at]
        keep_best(gain, f, cut, towards, NUMBER, sum_g, sum_h, scratch)
