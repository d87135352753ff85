"""The best split of a node, read off its histograms.

Sums are whole numbers; G and H are the sums times a power of two. A set of rows answers b and is scored by
twice what b saves:

    b     = -soft(G, α) / (H + λ)       clipped to ±max_delta_step and to the bounds of constraints
    b     = (b · n/s + b_parent) / (n/s + 1)                      path_smooth = s
    score = -(2 · soft(G, α) · b + (H + λ) · b²)                   G² / (H + λ) where nothing else is set
    gain  = score left + score right - score of the node

A number is cut after each bin, with the missing values on either side in turn. Categories are parted
one against the rest if they are few; else they are put in order, and beginnings and ends of it are tried:

    LightGBM   those with enough rows by G / (H + smooth). A beginning or an end goes left, all others right:
               missing values and categories that the node does not hold, too.
    XGBoost    all of them by what they would answer, 0 if their H is below min_weight: so categories that
               the node does not hold stand in the middle. A beginning goes left. Missing values are
               with the end when beginnings are tried, with the beginning when ends are.

Where a node has no missing values, they go right as in XGBoost, or else with the many.

How many rows a side has is told as LightGBM tells it: a bin has its share of the node's rows by its H,
rounded; the bins of one side are added up, and the other side has the rest. Where rows differ much in H,
this is far from the truth, and so are the splits that ``min_rows`` lets pass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.dtypes import CATEGORIES, NUMBER
from arboretum.engine.gradient.histogram import LOW32
from arboretum.engine.jit import inline, leaf_kernel

__all__ = ["Features", "Rules", "Work", "answer", "best_of", "score"]

_INFINITY = np.int64(0x7FF0000000000000)  # its bits; larger ones are not numbers
_RUN = 16  # categories that are sorted by insertion
_CLEARLY = 1.0 - 1e-10  # times a number: below it by more than rounding
_TIE = 1e-12  # gains closer to nothing than this share of the scores they are made of are nothing


class Features(NamedTuple):
    """Where the bins of every feature stand."""

    storage: np.ndarray  # int32, the stored column
    offset: np.ndarray  # int32, its first code there; 0 for a column of its own
    n_bins: np.ndarray  # int32
    default_bin: np.ndarray  # int32, of a bundled column: what is not stored; else -1
    is_category: np.ndarray  # bool
    monotone: np.ndarray  # int8, or empty


class Rules(NamedTuple):
    """How splits are judged and trees are grown; numbers only."""

    l1: float
    l2: float
    max_delta_step: float  # 0: no limit
    path_smooth: float
    min_gain: float
    reach_gain: bool  # a gain equal to min_gain suffices
    min_weight: float
    min_rows: float
    cat_l2: float
    cat_smooth: float
    cat_min_rows: float  # categories of fewer rows take no part
    max_cat_threshold: int
    max_onehot: int  # so many categories are parted one against the rest
    min_group: float
    max_depth: int
    max_leaves: int
    depth_first: bool  # smallest depth first instead of largest gain
    level_columns: int  # drawn at every depth; 0: all
    node_columns: int  # drawn at every node of those; 0: all
    as_xgboost: bool = False  # categories, and where missing values go if a node has none


class Work(NamedTuple):
    """What a scan writes on; one per thread."""

    g: np.ndarray  # int64, a number per bin and one for the missing
    h: np.ndarray
    left_g: np.ndarray  # int64, sums up to a bin
    left_h: np.ndarray
    left_rows: np.ndarray  # float64, rows up to a bin
    gain: np.ndarray  # float64
    bits: np.ndarray  # the same memory as int64: positive numbers have the same order
    order: np.ndarray  # int64
    ratio: np.ndarray  # float64
    best: np.ndarray  # (1,) SPLIT
    members: np.ndarray  # uint32, (words,): the bins of a category split that go left
    small: np.ndarray  # int64, the small tables of a tile


class Node(NamedTuple):
    """The figures of the node that is split; numbers only."""

    g: int
    h: int
    g_unit: float
    h_unit: float
    rows: float
    answer: float  # what the children lean on
    lower: float
    upper: float
    share: float  # rows that one unit of Σh stands for
    is_plain: bool  # scores are G² / (H + λ)


@inline
def _soft(g, l1):
    if l1 == 0.0:
        return g
    return max(g - l1, 0.0) + min(g + l1, 0.0)


@leaf_kernel
def answer(g, h, rows, parent, lower, upper, l2, rules):
    """Return what rows with such sums answer; ``parent`` is NaN at the root."""
    curvature = h + l2
    b = -_soft(g, rules.l1) / curvature if curvature > 0.0 else 0.0
    if rules.max_delta_step > 0.0:
        b = min(max(b, -rules.max_delta_step), rules.max_delta_step)
    if rules.path_smooth > 0.0 and parent == parent:
        ratio = rows / rules.path_smooth
        b = (b * ratio + parent) / (ratio + 1.0)
    return min(max(b, lower), upper)


@leaf_kernel
def score(g, h, b, l2, rules):
    """Return twice what the answer b saves."""
    return -(2.0 * _soft(g, rules.l1) * b + (h + l2) * b * b)


@inline
def is_plain(lower, upper, rules):
    """Tell whether the score of a node with such bounds is G² / (H + λ)."""
    if rules.l1 != 0.0 or rules.max_delta_step > 0.0 or rules.path_smooth > 0.0:
        return False
    return lower == -np.inf and upper == np.inf


@inline
def _load(hist, starts, f, features, node, work):
    """Copy a feature's bins; return how many there are. The missing rows come after them."""
    n, s, first = features.n_bins[f], features.storage[f], features.offset[f]
    g, h = work.g, work.h
    packed, start, bins = len(hist) == starts[len(starts) - 1], starts[s], starts[s + 1] - starts[s]
    at = start if packed else 2 * start
    low, high = hist[at : at + bins], hist[at : at + bins]
    if not packed:
        high = hist[at + bins : at + 2 * bins]
    if features.default_bin[f] < 0:
        last = bins - 1
        if packed:
            for b in range(n):
                g[b], h[b] = low[b] >> 32, low[b] & LOW32
            g[n], h[n] = low[last] >> 32, low[last] & LOW32
        else:
            for b in range(n):
                g[b], h[b] = low[b], high[b]
            g[n], h[n] = low[last], high[last]
        return n
    rest_g, rest_h, at, default = node.g, node.h, first, features.default_bin[f]
    for b in range(n):
        if b == default:
            continue
        g[b] = low[at] >> 32 if packed else low[at]
        h[b] = low[at] & LOW32 if packed else high[at]
        rest_g -= g[b]
        rest_h -= h[b]
        at += 1
    g[default], h[default] = rest_g, rest_h
    g[n], h[n] = 0, 0
    return n


@inline
def _worth(gain, own, rules):
    """Tell whether a gain is more than rounding, and enough."""
    if not gain > _TIE * abs(own):
        return False
    return gain > rules.min_gain or (rules.reach_gain and gain == rules.min_gain)


@leaf_kernel
def _keep(gain, f, b, missing_left, kind, left_g, left_h, work):
    best = work.best[0]
    best.gain, best.feature, best.bin, best.kind = gain, f, b, kind
    best.missing_left, best.left_g, best.left_h = missing_left, left_g, left_h


@inline
def _plain_gain(a, c, whole_g, whole_h, own, l2, least):
    """Return what a cut gains that has G = a and H = c on its left, where scores are G² / (H + λ)."""
    d, e = whole_g - a, whole_h - c
    p, q = c + l2, e + l2
    found = (a * a * q + d * d * p) / (p * q) - own  # one division: they take most of the time
    return found if (c >= least) & (e >= least) else -np.inf


@inline
def _rows_of(h, share):
    return np.floor(np.float64(h) * share + 0.5)


@leaf_kernel
def _count_rows(n, cuts, from_left, node, work):
    """Write the rows on the left of every cut, added up from the side without missing values."""
    h, left_rows, share = work.h, work.left_rows, node.share
    if from_left:
        rows = 0.0
        for b in range(cuts):
            rows += _rows_of(h[b], share)
            left_rows[b] = rows
        return
    rows = node.rows
    for b in range(n - 1, 0, -1):
        rows -= _rows_of(h[b], share)
        left_rows[b - 1] = rows


@inline
def _scan_two(f, node, own, rules, work):
    """`_scan_number` for a feature of two bins without missing values: one-hot columns are many."""
    whole_g, whole_h = np.float64(node.g) * node.g_unit, np.float64(node.h) * node.h_unit
    n_right = _rows_of(work.h[1], node.share)
    if n_right < rules.min_rows or node.rows - n_right < rules.min_rows:
        return
    sum_g, sum_h = work.g[0], work.h[0]
    a, c = np.float64(sum_g) * node.g_unit, np.float64(sum_h) * node.h_unit
    gain = _plain_gain(a, c, whole_g, whole_h, own, rules.l2, rules.min_weight)
    if gain > work.best[0].gain and _worth(gain, own, rules):
        towards = np.int64(2 * sum_h >= node.h and not rules.as_xgboost)
        _keep(gain, f, 0, towards, NUMBER, sum_g, sum_h, work)


@leaf_kernel
def _score_cuts(n, node, own, sign, rules, work):
    """Write the gain of every beginning of the bins from the sums on its left."""
    left_g, left_h, gain = work.left_g, work.left_h, work.gain
    g_unit, h_unit = node.g_unit, node.h_unit
    whole_g, whole_h = np.float64(node.g) * g_unit, np.float64(node.h) * h_unit
    least, rows, l2, left_rows = rules.min_weight, rules.min_rows, rules.l2, work.left_rows
    if node.is_plain and sign == 0.0:
        for b in range(n):
            a, c = np.float64(left_g[b]) * g_unit, np.float64(left_h[b]) * h_unit
            gain[b] = _plain_gain(a, c, whole_g, whole_h, own, l2, least)
        if rows > 0.0:
            for b in range(n):
                enough = (left_rows[b] >= rows) & (node.rows - left_rows[b] >= rows)
                gain[b] = gain[b] if enough else -np.inf
        return
    for b in range(n):
        a, c = np.float64(left_g[b]) * g_unit, np.float64(left_h[b]) * h_unit
        d, e = whole_g - a, whole_h - c
        n_left = left_rows[b] if rows > 0.0 else 0.0
        n_right = node.rows - n_left
        gain[b] = -np.inf
        if c < least or e < least or n_left < rows or n_right < rows:
            continue
        p = answer(a, c, n_left, node.answer, node.lower, node.upper, l2, rules)
        q = answer(d, e, n_right, node.answer, node.lower, node.upper, l2, rules)
        if (q - p) * sign < 0.0:
            continue
        gain[b] = score(a, c, p, l2, rules) + score(d, e, q, l2, rules) - own


@leaf_kernel
def _scan_number(f, n, node, own, sign, rules, work):
    """Try every cut of a number, missing values right, then left."""
    g, h = work.g, work.h
    missing = g[n] != 0 or h[n] != 0
    for side in range(2 if missing else 1):
        sum_g, sum_h = (g[n], h[n]) if side else (np.int64(0), np.int64(0))
        cuts = n if missing and not side else n - 1
        for b in range(cuts):
            sum_g += g[b]
            sum_h += h[b]
            work.left_g[b], work.left_h[b] = sum_g, sum_h
        if rules.min_rows > 0.0:
            _count_rows(n, cuts, missing and not side, node, work)
        _score_cuts(cuts, node, own, sign, rules, work)
        at = _first_largest(work.gain, work.bits, cuts)
        if at < 0 or not (work.gain[at] > work.best[0].gain and _worth(work.gain[at], own, rules)):
            continue
        sum_g, sum_h = work.left_g[at], work.left_h[at]
        heavier = 2 * sum_h >= node.h  # no value is missing: a later one goes with the many
        towards = np.int64(side if missing else heavier and not rules.as_xgboost)
        _keep(work.gain[at], f, at, towards, NUMBER, sum_g, sum_h, work)


@leaf_kernel
def _add_up(sums, n, left):
    """Write the sums of every beginning of n bins, Σg and Σh in one number; return how many they are."""
    total = np.int64(0)
    for b in range(n):
        total += sums[b]
        left[b] = total
    return n


@leaf_kernel
def _add_up_present(sums, n, left, order):
    """`_add_up` for a node of few rows: bins without any are left out, ``order`` tells the others."""
    total, many = np.int64(0), np.uint64(0)
    for b in range(np.uint64(n)):
        total += sums[b]
        left[many], order[many] = total, b
        many += np.uint64(sums[b] != 0)
    return np.int64(many)


@inline
def _whole_rows(both, share):
    return np.int32(np.float64(both & LOW32) * share + 0.5)


@inline
def _rows_in(left, k, share):
    """Return the rows of a bin, as `_rows_of` has them, from the sums up to it."""
    return _whole_rows(left[k] - left[k - 1] if k > 0 else left[k], share)


@leaf_kernel
def _enough_rows(left, n, cuts, from_left, node, rules):
    """Return the first of the cuts with ``min_rows`` on both sides, and the one after the last.

    ``left`` are the sums of every beginning of n bins. The rows are those of `_count_rows`; they only grow
    from cut to cut, so these cuts are neighbours, and are found from both ends.
    """
    share, low, high = node.share, rules.min_rows, node.rows - rules.min_rows
    whole, ahead = _whole_rows(left[0], share), left[1:n]
    for k in range(n - 1):
        whole += _whole_rows(ahead[k] - left[k], share)
    if not from_left:  # the right side is counted, the left one has the rest
        low, high = whole - high, whole - low
    first, end, rows = np.int64(0), cuts, _rows_in(left, 0, share)
    while first < cuts and rows < low:
        first += 1
        rows += _rows_in(left, first, share)
    rows = whole if cuts == n else whole - _rows_in(left, n - 1, share)
    while end > first and rows > high:
        end -= 1
        rows -= _rows_in(left, end, share)
    return first, max(first, end)


@leaf_kernel
def _score_together(left, gone, n, node, own, rules, gain):
    """`_score_cuts` where scores are G² / (H + λ) and sums are two in one number; ``gone`` goes left, too."""
    g_unit, h_unit, l2, least = node.g_unit, node.h_unit, rules.l2, rules.min_weight
    whole_g, whole_h = np.float64(node.g) * g_unit, np.float64(node.h) * h_unit
    for k in range(n):
        both = left[k] + gone
        a, c = np.float64(np.int32(both >> 32)) * g_unit, np.float64(both & LOW32) * h_unit
        gain[k] = _plain_gain(a, c, whole_g, whole_h, own, l2, least)


@inline
def _scan_together(f, n, sums, gone, node, own, rules, work):
    """`_scan_number` for sums of two in one number, where scores are G² / (H + λ).

    A cut after a bin without rows is the cut before it, which comes first.
    """
    left, gain = work.left_g, work.gain
    few = node.rows < n
    many = _add_up_present(sums, n, left, work.order) if few else _add_up(sums, n, left)
    for side in range(2 if gone else 1):
        with_left = gone if side else np.int64(0)
        from_left = gone != 0 and side == 0
        cuts = many if from_left else many - 1
        _score_together(left, with_left, cuts, node, own, rules, gain)
        at = _first_largest(gain, work.bits, cuts)
        if at < 0 or not (gain[at] > work.best[0].gain and _worth(gain[at], own, rules)):
            continue
        if rules.min_rows > 0.0:  # only now: most columns have nothing to offer anyway
            first, end = _enough_rows(left, many, cuts, from_left, node, rules)
            if at < first or at >= end:
                at = first + _first_largest(gain[first:end], work.bits[first:end], end - first)
            if at < first or not (gain[at] > work.best[0].gain and _worth(gain[at], own, rules)):
                continue
        both = left[at] + with_left
        sum_g, sum_h = both >> 32, both & LOW32
        heavier = 2 * sum_h >= node.h  # no value is missing: a later one goes with the many
        towards = np.int64(side if gone else heavier and not rules.as_xgboost)
        _keep(gain[at], f, work.order[at] if few else at, towards, NUMBER, sum_g, sum_h, work)


@leaf_kernel
def _first_largest(gain, bits, n):
    """Return the place of the first largest gain above 0, or -1; what is not a number is passed over."""
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


@leaf_kernel
def _remember(members, order, first, last):
    """Note that the bins order[first:last] go left."""
    for w in range(len(members)):
        members[w] = 0
    for i in range(first, last):
        b = order[i]
        members[b >> 5] |= np.uint32(1) << np.uint32(b & 31)


@inline
def _gain_of(sum_g, sum_h, n_left, node, own, best, l2, rules):
    """Return the gain of a set of categories, which have ``n_left`` rows, against the rest.

    A gain that is clearly below ``best`` may be told as ``best``: that takes no division.
    """
    a, c = np.float64(sum_g) * node.g_unit, np.float64(sum_h) * node.h_unit
    d, e = np.float64(node.g - sum_g) * node.g_unit, np.float64(node.h - sum_h) * node.h_unit
    n_right = node.rows - n_left
    if c < rules.min_weight or e < rules.min_weight:
        return -np.inf
    if n_left < rules.min_rows or n_right < rules.min_rows:
        return -np.inf
    p, q = c + l2, e + l2
    if node.is_plain and a * a * q + d * d * p < _CLEARLY * (best + own) * p * q:
        return best
    p = answer(a, c, n_left, node.answer, node.lower, node.upper, l2, rules)
    q = answer(d, e, n_right, node.answer, node.lower, node.upper, l2, rules)
    return score(a, c, p, l2, rules) + score(d, e, q, l2, rules) - own


@leaf_kernel
def _merge(keys, items, first, middle, last, to_keys, to_items):
    """Merge two sorted stretches; of equals the first come first."""
    a, b = first, middle
    for at in range(first, last):
        if b >= last or (a < middle and keys[a] <= keys[b]):
            to_keys[at], to_items[at] = keys[a], items[a]
            a += 1
        else:
            to_keys[at], to_items[at] = keys[b], items[b]
            b += 1


@leaf_kernel
def _sort(n, work):
    """Sort ``order[:n]`` by ``ratio[:n]``, of equals the first first: short runs, then merged."""
    order, ratio, spare, places = work.order, work.ratio, work.gain, work.left_g
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


@leaf_kernel
def _order_by_ratio(n, node, rules, work):
    """Order the categories of enough rows by G / (H + smooth); return how many they are."""
    g, h, order, ratio = work.g, work.h, work.order, work.ratio
    share, used = node.share, 0
    for b in range(n):
        if h[b] <= 0 or _rows_of(h[b], share) < rules.cat_min_rows:
            continue
        weight = np.float64(h[b]) * node.h_unit
        order[used] = b
        ratio[used] = np.float64(g[b]) * node.g_unit / (weight + rules.cat_smooth)
        used += 1
    _sort(used, work)
    return used


@leaf_kernel
def _order_by_answer(n, node, rules, work):
    """Order all categories by what they would answer alone."""
    g, h, order, ratio = work.g, work.h, work.order, work.ratio
    for b in range(n):
        a, c = np.float64(g[b]) * node.g_unit, np.float64(h[b]) * node.h_unit
        order[b], ratio[b] = b, 0.0
        if h[b] > 0 and c >= rules.min_weight:
            ratio[b] = answer(a, c, 0.0, np.nan, -np.inf, np.inf, rules.l2, rules)
    _sort(n, work)


@inline
def _scan_single(f, n, node, own, rules, work):
    """Try one category against the rest; XGBoost tries missing values on its side, too."""
    g, h, share = work.g, work.h, node.share
    missing = rules.as_xgboost and (g[n] != 0 or h[n] != 0)
    for b in range(n):
        if h[b] <= 0 and not missing:
            continue
        for side in range(2 if missing else 1):
            sum_g, sum_h = (g[b] + g[n], h[b] + h[n]) if side else (g[b], h[b])
            n_left = _rows_of(sum_h, share)
            gain = _gain_of(sum_g, sum_h, n_left, node, own, work.best[0].gain, rules.l2, rules)
            if gain > work.best[0].gain and _worth(gain, own, rules):
                work.order[0] = b
                _remember(work.members, work.order, 0, 1)
                _keep(gain, f, b, side, CATEGORIES, sum_g, sum_h, work)


@inline
def _scan_by_ratio(f, n, node, own, rules, work):
    """Try beginnings and ends of the order of LightGBM."""
    g, h, order = work.g, work.h, work.order
    used = _order_by_ratio(n, node, rules, work)
    longest = min(rules.max_cat_threshold, (used + 1) // 2)
    first, last, share, l2 = -1, -1, node.share, rules.l2 + rules.cat_l2
    for side in range(2):
        sum_g, sum_h, group, n_left = np.int64(0), np.int64(0), 0.0, 0.0
        for i in range(longest):
            b = order[used - 1 - i] if side else order[i]
            sum_g += g[b]
            sum_h += h[b]
            n_left += _rows_of(h[b], share)
            group += _rows_of(h[b], share)
            n_right = node.rows - n_left
            if n_right < rules.min_rows or n_right < rules.min_group:
                break
            gain = _gain_of(sum_g, sum_h, n_left, node, own, work.best[0].gain, l2, rules)
            if group < rules.min_group or gain == -np.inf:
                continue
            group = 0.0
            if gain > work.best[0].gain and _worth(gain, own, rules):
                first, last = (used - 1 - i, used) if side else (0, i + 1)
                _keep(gain, f, i, 0, CATEGORIES, sum_g, sum_h, work)
    if last >= 0:
        _remember(work.members, order, first, last)


@inline
def _scan_by_answer(f, n, node, own, rules, work):
    """Try beginnings and ends of the order of XGBoost; the beginning goes left."""
    g, h, order = work.g, work.h, work.order
    _order_by_answer(n, node, rules, work)
    longest = min(rules.max_cat_threshold, n) - 1
    missing, last = g[n] != 0 or h[n] != 0, -1
    for side in range(2):
        if side and not missing and longest == n - 1:
            break  # the same partings again
        sum_g, sum_h = np.int64(0), np.int64(0)
        for i in range(longest):
            b = order[n - 1 - i] if side else order[i]
            if g[b] == 0 and h[b] == 0:
                continue
            sum_g += g[b]
            sum_h += h[b]
            gain = _gain_of(sum_g, sum_h, 0.0, node, own, work.best[0].gain, rules.l2, rules)
            if gain > work.best[0].gain and _worth(gain, own, rules):
                last = n - 1 - i if side else i + 1
                left_g, left_h = (node.g - sum_g, node.h - sum_h) if side else (sum_g, sum_h)
                _keep(gain, f, i, side, CATEGORIES, left_g, left_h, work)
    if last >= 0:
        _remember(work.members, order, 0, last)


@inline
def _scan_categories(f, n, node, own, rules, work):
    """Try one category against the rest, or beginnings and ends of their order."""
    if n <= rules.max_onehot:
        _scan_single(f, n, node, own, rules, work)
    elif rules.as_xgboost:
        _scan_by_answer(f, n, node, own, rules, work)
    else:
        _scan_by_ratio(f, n, node, own, rules, work)


@leaf_kernel
def best_of(hist, starts, columns, first, last, features, node, rules, work):
    """Find the best split among ``columns[first:last]``; the first of equals stays."""
    work.best[0].gain, work.best[0].feature = -np.inf, -1
    g, h = np.float64(node.g) * node.g_unit, np.float64(node.h) * node.h_unit
    plain = g * g / (h + rules.l2) if h + rules.l2 > 0.0 else 0.0
    itself, now = plain, plain
    if not node.is_plain:
        lower, upper = node.lower, node.upper
        b = answer(g, h, node.rows, node.answer, lower, upper, rules.l2, rules)
        itself = score(g, h, b, rules.l2, rules)
        now = score(g, h, node.answer, rules.l2, rules) if rules.path_smooth > 0.0 else itself
    packed = len(hist) == starts[len(starts) - 1]
    for k in range(first, last):
        f = columns[k]
        sign = np.float64(features.monotone[f]) if len(features.monotone) else 0.0
        number = not features.is_category[f] and features.default_bin[f] < 0
        if number and packed and features.n_bins[f] > 2 and node.is_plain and sign == 0.0:
            column = features.storage[f]
            sums = hist[starts[column] : starts[column + 1]]
            gone = sums[len(sums) - 1]
            _scan_together(f, features.n_bins[f], sums, gone, node, itself, rules, work)
            continue
        n = _load(hist, starts, f, features, node, work)
        if features.is_category[f]:
            _scan_categories(f, n, node, now, rules, work)
        else:
            if n == 2 and work.h[2] == 0 and work.g[2] == 0 and node.is_plain and sign == 0.0:
                _scan_two(f, node, itself, rules, work)
                continue
            _scan_number(f, n, node, itself, sign, rules, work)
