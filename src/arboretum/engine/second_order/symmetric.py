"""One cut for all leaves of a level: symmetric (oblivious) trees.

The gain of a candidate is the sum of its gains at the leaves, added up in their order. A leaf that may not be
split so, because of its weights, its rows or a constraint, or that does not gain enough, adds nothing; it
stays a leaf, and the cuts of later levels are tried on it again:

    leaves           A       B       C        cut x₃ ≤ 5:   gain 7 + 2 + 0
                   ╱   ╲   ╱   ╲     │
    next level    A₁   A₂ B₁   B₂    C

A candidate is a place in the order of a column's bins, with missing values on either side:

    numbers          0 │ 1 │ 2 │ 3     missing
    categories       b │ d │ a │ c     missing       by the value that each would predict alone, for all rows
    few categories   each against the rest

With noise, candidates are compared by √gain + noise · z, where z is drawn by a hash of (tree, level, feature,
candidate). By chance alone √gain varies with a deviation of √(Σg² / Σh), which is a noise of 1. The best
candidate of a feature draws z anew before features are compared: many candidates are no advantage.
"""

from __future__ import annotations

import math

import numpy as np

from arboretum.engine.compiler.decorators import inline, subkernel
from arboretum.engine.dtypes import CATEGORIES, NUMBER
from arboretum.engine.random import mix, normal
from arboretum.engine.second_order.categories import order_by_answer, set_members
from arboretum.engine.second_order.numbers import score_cuts
from arboretum.engine.second_order.score import is_worth, keep_best, rows_of, scanned_node
from arboretum.engine.second_order.split import load_bins

__all__ = ["NOISE", "best_of_level", "share_split"]

NOISE = 0x2015E  # a step on the path of keys: tree, this, level, feature, candidate
_ZERO, _ONE = np.int64(0), np.int64(1)
_IN_ORDER, _SORTED, _ALONE = 0, 1, 2  # how the candidates of a column are made


@inline
def _compared(gain, deviation, key, number):
    """Return what the candidate of this number is compared by; ``key`` is that of its level and feature."""
    if deviation == 0.0:
        return gain
    return math.sqrt(gain) + deviation * normal(mix(key, np.uint64(number)))


@inline
def _is_open(node, unit, rules):
    """Return whether a node is a leaf that could have two sides."""
    if node.first_child >= 0 or node.rows < max(2.0 * rules.min_rows, 2.0):
        return False
    return np.float64(node.sum_h) * unit.h >= 2.0 * rules.min_weight


@subkernel
def _sort_categories(starts, tree, f, features, unit, rules, scratch):
    """Order the categories of a feature by the value that each would predict alone, for all rows.

    The sums of all rows are those of all leaves. starts (n_columns + 1,) int64.
    """
    n = np.int64(features.n_bins[f])
    g, h = scratch.left_g, scratch.left_h
    for b in range(n):
        g[b], h[b] = 0, 0
    for k in range(tree.counters[0].nodes):
        if tree.nodes[k].first_child < 0:
            node = scanned_node(tree.nodes[k], unit, rules)
            load_bins(tree.hists[tree.nodes[k].slot], starts, f, features, node, scratch)
            for b in range(n):
                g[b] += scratch.g[b]
                h[b] += scratch.h[b]
    for b in range(n):
        scratch.g[b], scratch.h[b] = g[b], h[b]
    order_by_answer(n, scanned_node(tree.nodes[0], unit, rules), rules, scratch)


@inline
def _write_left(n, how, side, scratch):
    """Write the sums on the left of the candidates of a leaf; on ``side`` 1 missing values are there, too."""
    g, h, order = scratch.g, scratch.h, scratch.order
    gone_g, gone_h = (g[n], h[n]) if side else (_ZERO, _ZERO)
    sum_g, sum_h = gone_g, gone_h
    for i in range(n):
        b = i if how != _SORTED else order[i]
        if how == _ALONE:
            sum_g, sum_h = gone_g, gone_h
        sum_g += g[b]
        sum_h += h[b]
        scratch.left_g[i], scratch.left_h[i] = sum_g, sum_h


@inline
def _score_candidates(n, node, sign, rules, scratch):
    """Write the gains of candidates whose left sums are written."""
    if rules.min_rows > 0.0:
        for i in range(n):
            scratch.left_rows[i] = rows_of(scratch.left_h[i], node.share)
    score_cuts(n, node, sign, rules, scratch)


@inline
def _add_gains(n, side, node, rules, scratch):
    """Add the gains of a leaf to those of its level, if they are enough."""
    gain, total = scratch.gain, scratch.gains[side]
    for i in range(n):
        total[i] += gain[i] if is_worth(gain[i], node.score, rules) else 0.0


@subkernel
def _sum_gains(starts, tree, f, how, features, unit, rules, scratch):
    """Add up the gains of a feature's candidates over the leaves; return whether a leaf has missing values.

    starts (n_columns + 1,) int64.
    """
    n, has_gaps = np.int64(features.n_bins[f]), False
    sign = np.float64(features.monotone[f]) if len(features.monotone) else 0.0
    gains = scratch.gains
    for i in range(n):
        gains[0, i] = 0.0
    for k in range(tree.counters[0].nodes):
        if not _is_open(tree.nodes[k], unit, rules):
            continue
        node = scanned_node(tree.nodes[k], unit, rules)
        load_bins(tree.hists[tree.nodes[k].slot], starts, f, features, node, scratch)
        gaps = scratch.g[n] != 0 or scratch.h[n] != 0
        if gaps and not has_gaps:  # so far the side of missing values has made no difference
            for i in range(n):
                gains[1, i] = gains[0, i]
            has_gaps = True
        for side in range(2 if has_gaps else 1):
            if side == 0 or gaps:
                _write_left(n, how, side, scratch)
                _score_candidates(n, node, sign, rules, scratch)
            _add_gains(n, side, node, rules, scratch)
    return has_gaps


@inline
def _keep_candidate(f, n, how, has_gaps, deviation, key, rules, scratch):
    """Keep the best candidate of a feature if it is better than the best so far."""
    order, longest = scratch.order, min(np.int64(rules.max_cat_threshold), n) - 1
    at, towards, most, gain = -_ONE, _ZERO, -np.inf, 0.0
    for side in range(2 if has_gaps else 1):
        for i in range(n):
            allowed = how != _SORTED or i < longest or n - i - 1 <= longest
            if scratch.gains[side, i] > 0.0 and allowed:
                value = _compared(scratch.gains[side, i], deviation, key, 2 * i + side)
                if value > most:
                    at, towards, most, gain = i, np.int64(side), value, scratch.gains[side, i]
    if at < 0:
        return
    value = _compared(gain, deviation, key, 2 * n)
    if value <= scratch.best[0].gain:
        return
    kind = NUMBER if how == _IN_ORDER else CATEGORIES
    keep_best(value, f, at, towards, kind, _ZERO, _ZERO, scratch)
    if how == _ALONE:
        order[0] = at
        set_members(scratch.members, order, _ZERO, _ONE)
    elif how == _SORTED:
        set_members(scratch.members, order, _ZERO, at + 1)


@subkernel
def best_of_level(starts, tree, first, last, features, chosen, key, rules, scratch):
    """Find the best candidate of ``drawn[first:last]`` for all leaves; the first of equals.

    ``chosen``: the scales of the tree; ``key`` is that of the tree.

    starts (n_columns + 1,) int64.
    """
    scratch.best[0].gain, scratch.best[0].feature = -np.inf, -1
    unit, level = chosen.unit, mix(mix(key, np.uint64(NOISE)), np.uint64(tree.counters[0].level))
    for k in range(first, last):
        f = tree.draw.drawn[0, k]
        n, how = np.int64(features.n_bins[f]), _IN_ORDER
        if features.is_category[f]:
            how = _ALONE if n <= rules.max_onehot else _SORTED
        if how == _SORTED:
            _sort_categories(starts, tree, f, features, unit, rules, scratch)
        has_gaps = _sum_gains(starts, tree, f, how, features, unit, rules, scratch)
        own = mix(level, np.uint64(f))
        _keep_candidate(f, n, how, has_gaps, chosen.noise, own, rules, scratch)


@inline
def _goes_left(best, members, b):
    """Return whether a bin goes left; members (n_words,) uint32."""
    if best.kind == CATEGORIES:
        return ((members[b >> 5] >> np.uint32(b & 31)) & np.uint32(1)) > 0
    return b <= best.bin


@subkernel
def share_split(starts, tree, features, unit, rules, scratch):
    """Give the cut of a level to the leaves that gain enough by it, with their own gains and sums.

    starts (n_columns + 1,) int64.
    """
    best, members = tree.best[0], tree.best_members[0]
    f = best.feature
    sign = np.float64(features.monotone[f]) if len(features.monotone) else 0.0
    for k in range(tree.counters[0].nodes):
        leaf = tree.nodes[k]
        if not _is_open(leaf, unit, rules):
            continue
        node = scanned_node(leaf, unit, rules)
        n = load_bins(tree.hists[leaf.slot], starts, f, features, node, scratch)
        g, h = (scratch.g[n], scratch.h[n]) if best.missing_left else (_ZERO, _ZERO)
        for b in range(n):
            if _goes_left(best, members, b):
                g += scratch.g[b]
                h += scratch.h[b]
        scratch.left_g[0], scratch.left_h[0] = g, h
        _score_candidates(_ONE, node, sign, rules, scratch)
        if not is_worth(scratch.gain[0], node.score, rules):
            continue
        leaf.split = best
        leaf.split.gain, leaf.split.left_g, leaf.split.left_h = scratch.gain[0], g, h
        for w in range(tree.members.shape[1]):
            tree.members[k, w] = members[w]
