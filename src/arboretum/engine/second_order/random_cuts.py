"""One random cut of every column at a node, instead of the best of all (LightGBM's extra_trees).

    bins    0    1    2 ┆ 3    4   missing      drawn by a hash of (tree, node, feature)
            ├────┼────┤ ┆                       missing values right,
       m +  ├────┼────┤ ┆                       and left if the node has some
    sets    d  b ┆ a  e  c                      of categories in order: as many of the first, or of the last

One side's sums are all that a cut needs: adding up whole numbers is cheaper than scoring every cut.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import inline, subkernel
from arboretum.engine.dtypes import CATEGORIES, NUMBER
from arboretum.engine.random import mix, uniform
from arboretum.engine.second_order.categories import order_by_ratio, set_members
from arboretum.engine.second_order.histogram import LOW32
from arboretum.engine.second_order.score import answer, is_worth, keep_best, rows_of, score
from arboretum.engine.second_order.split import load_bins

__all__ = ["CUTS", "best_drawn"]

CUTS = 0xC075  # a step on the path of keys: seed of the tree, this, `cut_seed`, node, feature
_ZERO, _ONE = np.int64(0), np.int64(1)


@inline
def _draw(key, f, n):
    """Return one of the numbers below n, which is above 0."""
    return np.int64(uniform(mix(key, np.uint64(f))) * n)


@subkernel
def _gain(sum_g, sum_h, n_left, l2, sign, node_score, node, rules):
    """Return the gain of a left side with these sums and about ``n_left`` rows; -inf if it is refused."""
    a, c = np.float64(sum_g) * node.g_unit, np.float64(sum_h) * node.h_unit
    d, e = np.float64(node.g - sum_g) * node.g_unit, np.float64(node.h - sum_h) * node.h_unit
    n_right = node.rows - n_left
    if c < rules.min_weight or e < rules.min_weight:
        return -np.inf
    if n_left < rules.min_rows or n_right < rules.min_rows:
        return -np.inf
    p = answer(a, c, n_left, node.answer, node.lower, node.upper, l2, rules)
    q = answer(d, e, n_right, node.answer, node.lower, node.upper, l2, rules)
    if (q - p) * sign < 0.0:
        return -np.inf
    return score(a, c, p, l2, rules) + score(d, e, q, l2, rules) - node_score


@subkernel
def _try_number(f, cut, left_g, left_h, missing_g, missing_h, node, sign, rules, scratch):
    """Try a cut with these sums below it, missing values right, then left."""
    missing = missing_g != 0 or missing_h != 0
    for side in range(2 if missing else 1):
        g, h = left_g + side * missing_g, left_h + side * missing_h
        n_left = rows_of(h, node.share)
        gain = _gain(g, h, n_left, rules.l2, sign, node.score, node, rules)
        if gain > scratch.best[0].gain and is_worth(gain, node.score, rules):
            heavier = 2 * h >= node.h  # no missing values: later ones go with the majority
            towards = np.int64(side if missing else heavier and not rules.as_xgboost)
            keep_best(gain, f, cut, towards, NUMBER, g, h, scratch)


@subkernel
def _try_one(f, b, node, rules, scratch):
    """Try one category against the rest and missing values."""
    g, h = scratch.g[b], scratch.h[b]
    n_left = rows_of(h, node.share)
    gain = _gain(g, h, n_left, rules.l2, 0.0, node.set_score, node, rules)
    if gain > scratch.best[0].gain and is_worth(gain, node.set_score, rules):
        scratch.order[0] = b
        set_members(scratch.members, scratch.order, _ZERO, _ONE)
        keep_best(gain, f, b, _ZERO, CATEGORIES, g, h, scratch)


@subkernel
def _try_sets(f, used, many, node, rules, scratch):
    """Try the first and the last ``many`` of the ``used`` categories in order; missing values go right."""
    g, h, order, l2 = scratch.g, scratch.h, scratch.order, rules.l2 + rules.cat_l2
    least = max(rules.min_group, rules.min_rows)
    for side in range(2):
        first = used - many if side else _ZERO
        sum_g, sum_h, n_left = _ZERO, _ZERO, 0.0
        for i in range(first, first + many):
            sum_g += g[order[i]]
            sum_h += h[order[i]]
            n_left += rows_of(h[order[i]], node.share)
        if n_left < least or node.rows - n_left < least:
            continue
        gain = _gain(sum_g, sum_h, n_left, l2, 0.0, node.set_score, node, rules)
        if gain > scratch.best[0].gain and is_worth(gain, node.set_score, rules):
            set_members(scratch.members, order, first, first + many)
            keep_best(gain, f, many - 1, _ZERO, CATEGORIES, sum_g, sum_h, scratch)


@inline
def _add_up(hist, starts, column, last):
    """Return Σg and Σh of the bins 0 to ``last`` of a column, and of the missing values.

    hist (n_sums,) int64; starts (n_columns + 1,) int64.
    """
    start, bins = starts[column], starts[column + 1] - starts[column]
    g, h = _ZERO, _ZERO
    if len(hist) == starts[len(starts) - 1]:
        for b in range(start, start + last + 1):
            g += hist[b] >> 32
            h += hist[b] & LOW32
        gone = hist[start + bins - 1]
        return g, h, gone >> 32, gone & LOW32
    for b in range(2 * start, 2 * start + last + 1):
        g += hist[b]
        h += hist[b + bins]
    return g, h, hist[2 * start + bins - 1], hist[2 * start + 2 * bins - 1]


@subkernel
def best_drawn(hist, starts, columns, first, last, features, node, key, rules, scratch):
    """Find the best of one random cut for each of ``columns[first:last]``; the first of equals is kept.

    ``key`` is that of the tree and the node.

    hist (n_sums,) int64; starts (n_columns + 1,) int64; columns (n_features,) int64.
    """
    scratch.best[0].gain, scratch.best[0].feature = -np.inf, -1
    for k in range(first, last):
        f = columns[k]
        n = np.int64(features.n_bins[f])
        if features.is_category[f]:
            load_bins(hist, starts, f, features, node, scratch)
            if n <= rules.max_onehot:
                _try_one(f, _draw(key, f, n), node, rules, scratch)
                continue
            used = order_by_ratio(n, node, rules, scratch)
            longest = min(rules.max_cat_threshold, (used + 1) // 2)
            if longest > 0:
                _try_sets(f, used, 1 + _draw(key, f, longest), node, rules, scratch)
            continue
        cut = _draw(key, f, max(n - 1, _ONE))
        if features.default_bin[f] < 0:
            g, h, gone_g, gone_h = _add_up(hist, starts, features.storage[f], cut)
        else:
            load_bins(hist, starts, f, features, node, scratch)
            g, h, gone_g, gone_h = _ZERO, _ZERO, scratch.g[n], scratch.h[n]
            for b in range(cut + 1):
                g += scratch.g[b]
                h += scratch.h[b]
        sign = np.float64(features.monotone[f]) if len(features.monotone) else 0.0
        _try_number(f, cut, g, h, gone_g, gone_h, node, sign, rules, scratch)
