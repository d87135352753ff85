"""The best split on categories: one against the rest, or a beginning or an end of their order.

    few     { a } | rest      { b } | rest      …
    many    b d a c e         in order:  { b } | rest   { b d } | rest  …   { e } | rest   { e c } | rest  …

LightGBM   those with enough rows by G / (H + smooth). A beginning or an end goes left, all others right:
           including missing values and categories that the node does not contain. As scikit-learn has
           it, missing values are one more category, and one category alone is no order.
XGBoost    all of them by the value they would predict, 0 if their H is below min_weight, so categories
           that the node does not contain are in the middle. A beginning goes left. Missing values go
           with the end when beginnings are tried, with the beginning when ends are tried.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import inline, subkernel
from arboretum.engine.dtypes import CATEGORIES
from arboretum.engine.second_order.row_counts import count_rows, surely_enough
from arboretum.engine.second_order.score import answer, is_worth, keep_best, rows_of, score

__all__ = ["order_by_answer", "order_by_ratio", "scan_categories", "set_members"]

_RUN = 16  # up to this many categories are sorted by insertion
_CLEARLY = 1.0 - 1e-10  # a number times this is smaller by more than rounding
_ZERO, _ONE = np.int64(0), np.int64(1)


@subkernel
def set_members(members, order, first, last):
    """Make the bins order[first:last] go left.

    members (n_words,) uint32, written; order (n_bins,) int64.
    """
    for w in range(len(members)):
        members[w] = 0
    for i in range(first, last):
        b = order[i]
        members[b >> 5] |= np.uint32(1) << np.uint32(b & 31)


@inline
def _gain_of_set(sum_g, sum_h, n_left, node, best, l2, rules):
    """Return the gain of a set of categories, which have ``n_left`` rows, against the rest.

    If the gain is clearly below ``best``, ``best`` may be returned instead, which takes no division.
    """
    a, c = np.float64(sum_g) * node.g_unit, np.float64(sum_h) * node.h_unit
    d, e = np.float64(node.g - sum_g) * node.g_unit, np.float64(node.h - sum_h) * node.h_unit
    n_right = node.rows - n_left
    if c < rules.min_weight or e < rules.min_weight:
        return -np.inf
    if n_left < rules.min_rows or n_right < rules.min_rows:
        return -np.inf
    p, q = c + l2, e + l2
    if node.is_plain and a * a * q + d * d * p < _CLEARLY * (best + node.set_score) * p * q:
        return best
    p = answer(a, c, n_left, node.answer, node.lower, node.upper, l2, rules)
    q = answer(d, e, n_right, node.answer, node.lower, node.upper, l2, rules)
    return score(a, c, p, l2, rules) + score(d, e, q, l2, rules) - node.set_score


@subkernel
def _merge(keys, items, first, middle, last, to_keys, to_items):
    """Merge two sorted runs; equals keep their order.

    keys (n_bins,) float64; items (n_bins,) int64; to_keys (n_bins,) float64, written; to_items (n_bins,)
    int64, written.
    """
    a, b = first, middle
    for at in range(first, last):
        if b >= last or (a < middle and keys[a] <= keys[b]):
            to_keys[at], to_items[at] = keys[a], items[a]
            a += 1
        else:
            to_keys[at], to_items[at] = keys[b], items[b]
            b += 1


@subkernel
def _sort(n, scratch):
    """Sort ``order[:n]`` by ``ratio[:n]``, stably: short runs are sorted, then merged."""
    order, ratio, spare, places = scratch.order, scratch.ratio, scratch.gain, scratch.left_g
    for start in range(0, n, _RUN):
        for i in range(start + 1, min(start + _RUN, n)):
            key, item, at = ratio[i], order[i], i
            while at > start and ratio[at - 1] > key:
                order[at], ratio[at] = order[at - 1], ratio[at - 1]
                at -= 1
            order[at], ratio[at] = item, key
    width = _RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle, last = min(start + width, n), min(start + 2 * width, n)
            _merge(ratio, order, start, middle, last, spare, places)
        for i in range(n):
            ratio[i], order[i] = spare[i], places[i]
        width *= 2


@subkernel
def order_by_ratio(n, node, rules, scratch):
    """Order the categories with enough rows by G / (H + smooth); return their number.

    Missing values may be one of them, the bin n.
    """
    g, h, order, ratio = scratch.g, scratch.h, scratch.order, scratch.ratio
    share, used = node.share, np.int64(0)
    for b in range(n + rules.as_scikit_learn):
        if h[b] <= 0 or rows_of(h[b], share) < rules.cat_min_rows:
            continue
        weight = np.float64(h[b]) * node.h_unit
        order[used] = b
        ratio[used] = np.float64(g[b]) * node.g_unit / (weight + rules.cat_smooth)
        used += 1
    _sort(used, scratch)
    return used


@subkernel
def order_by_answer(n, node, rules, scratch):
    """Order all categories by the value that each would predict alone."""
    g, h, order, ratio = scratch.g, scratch.h, scratch.order, scratch.ratio
    for b in range(n):
        a, c = np.float64(g[b]) * node.g_unit, np.float64(h[b]) * node.h_unit
        order[b], ratio[b] = b, 0.0
        if h[b] > 0 and c >= rules.min_weight:
            ratio[b] = answer(a, c, 0.0, np.nan, -np.inf, np.inf, rules.l2, rules)
    _sort(n, scratch)


@inline
def _scan_single(f, n, node, rules, scratch):
    """Try one category against the rest; XGBoost tries missing values on its side, too."""
    g, h, share = scratch.g, scratch.h, node.share
    missing = rules.as_xgboost and (g[n] != 0 or h[n] != 0)
    for b in range(n):
        if h[b] <= 0 and not missing:
            continue
        for side in range(2 if missing else 1):
            sum_g, sum_h = (g[b] + g[n], h[b] + h[n]) if side else (g[b], h[b])
            n_left = rows_of(sum_h, share)
            gain = _gain_of_set(sum_g, sum_h, n_left, node, scratch.best[0].gain, rules.l2, rules)
            if gain > scratch.best[0].gain and is_worth(gain, node.set_score, rules):
                scratch.order[0] = b
                set_members(scratch.members, scratch.order, _ZERO, _ONE)
                keep_best(gain, f, b, side, CATEGORIES, sum_g, sum_h, scratch)


@inline
def _try_ends(f, used, of_bin, share, known, node, rules, scratch):
    """Try beginnings and ends of an order; return the range of the best, and whether all were tried.

    Rows not ``known``: stop at the first range that is better than the best so far and may have too few.

    of_bin (n_bins,) int64, Σh with ``share`` rows per unit, or the rows with a share of 1.
    """
    g, h, order = scratch.g, scratch.h, scratch.order
    gaps = rules.as_scikit_learn
    longest = min(rules.max_cat_threshold, (used + 1) // 2) if used > 1 or not gaps else 0
    first, last, l2 = _ZERO, -_ONE, rules.l2 + rules.cat_l2
    for side in range(2):
        sum_g, sum_h, group = np.int64(0), np.int64(0), 0.0
        n_left = 0.0 if known else 0.5 * node.rows  # enough on both sides
        for i in range(longest - side * gaps):
            b = order[used - 1 - i] if side else order[i]
            sum_g += g[b]
            sum_h += h[b]
            n_left += rows_of(of_bin[b], share)
            group += rows_of(of_bin[b], share)
            n_right = node.rows - n_left
            if n_right < rules.min_rows or n_right < rules.min_group:
                break
            gain = _gain_of_set(sum_g, sum_h, n_left, node, scratch.best[0].gain, l2, rules)
            if group < rules.min_group or gain == -np.inf:
                continue
            group = 0.0
            if gain > scratch.best[0].gain and is_worth(gain, node.set_score, rules):
                if not (known or surely_enough(sum_h, node, rules)):
                    return first, last, False
                first, last = (used - 1 - i, used) if side else (_ZERO, i + 1)
                keep_best(gain, f, i, _ZERO, CATEGORIES, sum_g, sum_h, scratch)
    return first, last, True


@inline
def _scan_by_ratio(f, n, node, features, rules, rows, scratch):
    """Try beginnings and ends of the order of LightGBM; ``rows`` as in `scan_number`."""
    h, order, counts = scratch.h, scratch.order, scratch.counts
    used = order_by_ratio(n, node, rules, scratch)
    if rows is None:
        first, last, _ = _try_ends(f, used, h, node.share, True, node, rules, scratch)
    else:
        first, last, done = _try_ends(f, used, h, 0.0, False, node, rules, scratch)
        if not done:
            count_rows(f, features, rows, scratch)
            start, end, _ = _try_ends(f, used, counts, 1.0, True, node, rules, scratch)
            first, last = (start, end) if end >= 0 else (first, last)
    if last >= 0:
        for i in range(first, last):
            if order[i] == n:  # missing values have no bit
                order[i] = order[first]
                first += 1
                scratch.best[0].missing_left = _ONE
                break
        set_members(scratch.members, order, first, last)


@inline
def _scan_by_answer(f, n, node, rules, scratch):
    """Try beginnings and ends of the order of XGBoost; the beginning goes left."""
    g, h, order = scratch.g, scratch.h, scratch.order
    order_by_answer(n, node, rules, scratch)
    longest = min(rules.max_cat_threshold, n) - 1
    missing, last = g[n] != 0 or h[n] != 0, -_ONE
    for side in range(2):
        if side and not missing and longest == n - 1:
            break  # the same splits again
        sum_g, sum_h = np.int64(0), np.int64(0)
        for i in range(longest):
            b = order[n - 1 - i] if side else order[i]
            if g[b] == 0 and h[b] == 0:
                continue
            sum_g += g[b]
            sum_h += h[b]
            gain = _gain_of_set(sum_g, sum_h, 0.0, node, scratch.best[0].gain, rules.l2, rules)
            if gain > scratch.best[0].gain and is_worth(gain, node.set_score, rules):
                last = n - 1 - i if side else i + 1
                left_g, left_h = (node.g - sum_g, node.h - sum_h) if side else (sum_g, sum_h)
                keep_best(gain, f, i, side, CATEGORIES, left_g, left_h, scratch)
    if last >= 0:
        set_members(scratch.members, order, _ZERO, last)


@inline
def scan_categories(f, n, node, features, rules, rows, scratch):
    """Try one category against the rest, or beginnings and ends of their order."""
    if n <= rules.max_onehot:
        _scan_single(f, n, node, rules, scratch)
    elif rules.as_xgboost:
        _scan_by_answer(f, n, node, rules, scratch)
    else:
        _scan_by_ratio(f, n, node, features, rules, rows, scratch)
