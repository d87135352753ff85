"""The fast search: one sum per side decides (squared error, two classes, Poisson deviance).

The scores are in score.py; squared error takes about 2 ns a row in all. A node's rows stand in
the column's list in order of value, so one walk along them reaches every cut:

    values      1.5  1.5 | 3.0 | 7.0     nan
    cut                  2     3     (4)          rows on the left; a cut needs a NEW entry to its right

Weights and logarithms that a fit does not need are None, and Numba leaves them out of the walk.
"""

from typing import NamedTuple

import numpy as np

from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel
from arboretum.engine.split.best import REFUSED, keep_better
from arboretum.engine.split.score import (
    breaks_order,
    form_of,
    least_squares,
    moment_score,
    squares_from_mean,
)
from arboretum.engine.split.statistic import weight_of

__all__ = ["cut_range", "search_moment"]


class _Span(NamedTuple):
    """The cuts of a node that are tried with its missing rows on one side."""

    first: int  # cut
    last: int
    left_weight: int  # of the missing rows, if they go left
    left_sum: int
    weight: int  # of all rows
    total: int
    sign: int  # the monotone constraint
    floor: float  # a score below which a cut is of no use


@inline
def _walk(entries, row, weights, logs, nodes, k, span, rules):
    """Return the best of node k's cuts and its score.

    entries (rows of the node,) uint32; weights, logs: ``row.weight``, ``rules.logs``.
    """
    left_weight, left_sum = span.left_weight, span.left_sum
    weight, total = np.float64(span.weight), np.float64(span.total)
    least = np.float64(max(nodes.min_weight[k], 1))
    best, place, mean, bar = REFUSED, np.int64(0), total / weight, 0.0
    form = form_of(rules.criterion)
    if logs is not None:
        bar = least_squares(span.floor, total, weight, form)
    for i in range(span.first - 1):
        p = entries[i] & POSITION
        left_sum += np.int64(row.number[p, 0])
        left_weight += weight_of(weights, p)
    for cut in range(span.first, span.last + 1):
        p = entries[cut - 1] & POSITION
        left_sum += np.int64(row.number[p, 0])
        left_weight += weight_of(weights, p)
        on_left = np.float64(left_weight)
        score = squares_from_mean(left_sum, on_left, mean, weight)
        if logs is None and not score > best:
            continue
        if not entries[cut] & NEW or on_left < least or weight - on_left < least:
            continue
        if logs is not None:
            sum_left = np.float64(left_sum)
            d = sum_left - on_left * mean
            if d * d < bar * on_left * (weight - on_left):
                continue
            sum_right = np.float64(span.total - left_sum)
            score = moment_score(sum_left, on_left, sum_right, total, weight, form, logs)
            if not score > best:
                continue
        if rules.bounded and breaks_order(
            np.float64(left_sum), on_left, total, weight, span.sign, nodes.lower[k], nodes.upper[k]
        ):
            continue
        best, place = score, np.int64(cut)
        if logs is not None:
            bar = max(bar, least_squares(best, total, weight, form))
    return best, place


@inline
def cut_range(count, present, rules, side):
    """Return the first and last cut that leave enough rows on both sides.

    ``side``: missing rows stand on the right (0) or on the left (1). With missing rows on the right,
    "all present rows left" is a cut too.
    """
    min_leaf, missing = rules.min_leaf, count - present
    if rules.skip_missing:
        return max(min_leaf, 1), present - max(min_leaf, 1)
    if side:
        return max(min_leaf - missing, 1), min(present - 1, present - min_leaf)
    return max(min_leaf, 1), min(present if missing else present - 1, count - min_leaf)


@inline
def _scan(entries, row, nodes, k, sign, rules, floor):
    """Find the best cut of node k; return (score, present rows on the left, do missing rows go left?).

    ``floor``: a score below which a cut is of no use.

    entries (rows of the node,) uint32.
    """
    count = len(entries)
    present = first_missing(entries, 0, count)
    missing_weight, missing_sum = np.int64(0), np.int64(0)
    for i in range(present, count):
        p = entries[i] & POSITION
        missing_sum += np.int64(row.number[p, 0])
        missing_weight += weight_of(row.weight, p)
    weight, total, known = nodes.weight[k], nodes.total[k, 0], 1.0
    if rules.skip_missing and missing_weight:
        total -= missing_sum
        known = np.float64(weight - missing_weight) / np.float64(weight)
        weight -= missing_weight
    best, best_place, best_side = REFUSED, np.int64(0), 0
    for side in range(2 if present < count and not rules.skip_missing else 1):
        first, last = cut_range(count, present, rules, side)
        on_left = missing_weight * side, missing_sum * side
        span = _Span(first, last, on_left[0], on_left[1], weight, total, sign, floor)
        score, place = _walk(entries, row, row.weight, rules.logs, nodes, k, span, rules)
        if score >= 0.0 and score * known > best:
            best, best_place, best_side = score * known, place, side
    return best, best_place, best_side


@kernel
def search_moment(lists, columns, row, nodes, rules, best):
    """Find the best cut of every node on several lists, and keep each node's best.

    Parameters
    ----------
    lists : (slots, n) uint32 array
        Lists whose segments are the nodes' rows in order of value.
    columns : tuple
        (row of ``lists``, feature, monotone signs) arrays, one entry per column, features ascending;
        signs are (columns, 1), or (columns, nodes) where every node has a column of its own.
    row, nodes, rules : NodeRows, NodeSpans, SearchRules
    best : Best
        Updated; ``cut``: present rows on the left.
    """
    slots, features, signs = columns
    for j in range(len(slots)):
        for k in range(len(nodes.start)):
            entries, sign = (
                lists[slots[j], nodes.start[k] : nodes.end[k]],
                signs[j, k % signs.shape[1]],
            )
            score, cut, missing_left = _scan(entries, row, nodes, k, sign, rules, best.score[k])
            keep_better(best, k, features[j], score, cut, missing_left)
