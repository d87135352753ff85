"""The fast search: one sum per side decides (squared error, two classes, Poisson deviance).

The scores are in score.py; squared error takes about 2 ns a row in all. A node's rows stand in
the column's list in order of value, so one walk along them meets every cut:

    values      1.5  1.5 | 3.0 | 7.0     nan
    cut                  2     3     (4)          rows on the left; a cut needs a NEW entry to its right
"""

import numpy as np

from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import MISSING, NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel
from arboretum.engine.split.best import FROM_LIST, REFUSED
from arboretum.engine.split.score import (
    SQUARES,
    breaks_order,
    least_squares,
    moment_score,
    squares_from_mean,
)

__all__ = ["cut_range", "scan_moment", "search_moment"]


@inline
def _walk_plain(entries, number, start, first, last, before, totals):
    """Rows of weight 1, squared error: the loop most time is spent in.

    entries (n_rows,) uint32; number (n_rows, 1) int64 or uint8; before (weight, sum) numbers; totals
    (weight, sum) numbers.
    """
    weight, total = np.float64(totals[0]), np.float64(totals[1])
    mean = total / weight
    best, place = REFUSED, np.int64(0)
    running = before[1]
    for i in range(start, start + first - 1):
        running += np.int64(number[entries[i] & POSITION, 0])
    already = np.float64(before[0])
    for cut in range(first, last + 1):
        running += np.int64(number[entries[start + cut - 1] & POSITION, 0])
        on_left = already + cut
        score = squares_from_mean(running, on_left, mean, weight)
        if score > best and entries[start + cut] & NEW:
            best, place = score, cut
    return best, place


@inline
def _walk_full(entries, start, row, nodes, k, first, last, before, totals, scoring, table, floor):
    """Weights, other scores, monotone constraints; a cut that scores less than ``floor`` may be left out.

    entries (n_rows,) uint32; totals (weight, sum) numbers; table (n_kept,) float64.
    """
    left_weight, running = before
    weight, total = np.float64(totals[0]), np.float64(totals[1])
    least = np.float64(max(nodes.min_weight[k], 1))
    form, sign, bounded = scoring
    best, place, mean, bar = REFUSED, np.int64(0), total / weight, 0.0
    if form != SQUARES:
        bar = least_squares(floor, total, weight, form)
    for cut in range(1, last + 1):
        p = entries[start + cut - 1] & POSITION
        running += np.int64(row.number[p, 0])
        left_weight += row.weight[p] if len(row.weight) else np.int64(1)
        if cut < first or not entries[start + cut] & NEW:
            continue
        on_left, sum_left = np.float64(left_weight), np.float64(running)
        if on_left < least or weight - on_left < least:
            continue
        d = sum_left - on_left * mean
        if d * d < bar * on_left * (weight - on_left):
            continue
        sum_right = np.float64(totals[1] - running)
        score = moment_score(sum_left, on_left, sum_right, total, weight, form, table)
        if score > best and not (
            bounded
            and breaks_order(sum_left, on_left, total, weight, sign, nodes.lower[k], nodes.upper[k])
        ):
            best, place = score, np.int64(cut)
            if form != SQUARES:
                bar = max(bar, least_squares(best, total, weight, form))
    return best, place


@inline
def cut_range(count, present, min_leaf, side, skip_missing):
    """Return the first and last cut that leave ``min_leaf`` rows on both sides.

    ``side``: missing rows stand on the right (0) or on the left (1). With missing rows on the right,
    "all present rows left" is a cut too.
    """
    missing = count - present
    if skip_missing:
        return max(min_leaf, 1), present - max(min_leaf, 1)
    if side:
        return max(min_leaf - missing, 1), min(present - 1, present - min_leaf)
    return max(min_leaf, 1), min(present if missing else present - 1, count - min_leaf)


@inline
def scan_moment(entries, start, end, row, nodes, k, sign, rules, table, floor):
    """Find the best cut of node k on the segment start..end of a list; one below ``floor`` is of no use.

    Returns (score, present rows on the left, do missing rows go left?).

    entries (n_rows,) uint32; table (n_kept,) float64.
    """
    min_leaf, skip_missing, form, bounded = rules
    count = end - start
    present = first_missing(entries, start, end) - start
    missing_weight, missing_sum = np.int64(0), np.int64(0)
    for i in range(start + present, end):
        p = entries[i] & POSITION
        missing_sum += np.int64(row.number[p, 0])
        missing_weight += row.weight[p] if len(row.weight) else np.int64(1)
    weight, total = nodes.weight[k], nodes.total[k, 0]
    known = 1.0
    if skip_missing and missing_weight:
        total -= missing_sum
        known = np.float64(weight - missing_weight) / np.float64(weight)
        weight -= missing_weight
    best, best_place, best_side = REFUSED, np.int64(0), 0
    for side in range(2 if present < count and not skip_missing else 1):
        first, last = cut_range(count, present, min_leaf, side, skip_missing)
        before = (missing_weight * side, missing_sum * side)
        if len(row.weight) or form != SQUARES or bounded:
            score, place = _walk_full(
                entries, start, row, nodes, k, first, last, before, (weight, total),
                (form, sign, bounded), table, floor,
            )  # fmt: skip
        else:
            score, place = _walk_plain(
                entries, row.number, start, first, last, before, (weight, total)
            )
        if score >= 0.0 and score * known > best:
            best, best_place, best_side = score * known, place, side
    return best, best_place, best_side


@inline
def _part_two(entries, start, number, total):
    """Score the one cut of a node of two rows of weight 1, as `_walk_plain` would.

    entries (n_rows,) uint32; number (n_rows, 1) int64 or uint8.
    """
    if not entries[start + 1] & NEW:
        return REFUSED, np.int64(0)
    d = np.float64(np.int64(number[entries[start] & POSITION, 0])) - np.float64(total) / 2.0
    return d * d, np.int64(1)


@kernel
def search_moment(lists, columns, row, nodes, rules, table, best):
    """Find the best cut of every node on several lists, and keep each node's best.

    Parameters
    ----------
    lists : (slots, n) uint32 array
        Lists whose segments are the nodes' rows in order of value.
    columns : tuple
        (row of ``lists``, feature, monotone signs) arrays, one entry per column, features ascending;
        signs are (columns, 1), or (columns, nodes) where every node has a column of its own.
    row, nodes : Rows, Nodes
    rules : tuple
        (rows each side needs, judge by present rows alone?, form of the score, constraints?).
    table : float64 array
        x ln x of small whole numbers.
    best : Best
        Kept up; ``cut``: present rows on the left.
    """
    slots, features, signs = columns
    plain = len(row.weight) == 0 and rules[2] == SQUARES and not rules[3]
    pairs = plain and rules[0] <= 1 and not rules[1]
    for j in range(len(slots)):
        entries = lists[slots[j]]
        for k in range(len(nodes.start)):
            start, end = nodes.start[k], nodes.end[k]
            missing_left = 0
            if pairs and end - start == 2:
                score, cut = _part_two(entries, start, row.number, nodes.total[k, 0])
            elif plain and not entries[end - 1] & MISSING:
                least = max(rules[0], 1)
                score, cut = _walk_plain(
                    entries, row.number, start, least, end - start - least,
                    (np.int64(0), np.int64(0)), (nodes.weight[k], nodes.total[k, 0]),
                )  # fmt: skip
            else:
                score, cut, missing_left = scan_moment(
                    entries, start, end, row, nodes, k, signs[j, k % signs.shape[1]], rules, table,
                    best.score[k],
                )  # fmt: skip
            if score < 0.0 or score < best.score[k]:
                continue
            if score > best.score[k] or features[j] < best.feature[k]:
                best.score[k], best.cut[k], best.missing_left[k] = score, cut, missing_left
                best.feature[k], best.source[k] = features[j], FROM_LIST
