"""The general search: several sums per side decide (many classes, entropy, several outputs).

Channels of all outputs are scored together, as the mean over outputs (score.py).

A cut inside a run of rows of one class is never better than both ends of the run (the scores are
convex along it), so with one class output only the ends of runs are scored.
"""

import numpy as np

from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel
from arboretum.engine.split.best import REFUSED, keep_better
from arboretum.engine.split.one_sum import cut_range
from arboretum.engine.split.score import breaks_order, channel_score
from arboretum.engine.split.statistic import ENTROPY, GINI, weight_of

__all__ = ["search_channels"]


@inline
def _add_row(row, p, left):
    """Add the row at position p to the channels ``left``; return its weight.

    left (n_channels,) int64, added to.
    """
    w = weight_of(row.weight, p)
    if len(row.label):
        for o in range(row.label.shape[1]):
            left[row.label[p, o]] += w
    else:
        for o in range(row.number.shape[1]):
            left[o] += np.int64(row.number[p, o])
    return w


@inline
def _walk(entries, row, nodes, k, cuts, weights, sums, sign, rules):
    """Return the best of node k's cuts and its score.

    Parameters
    ----------
    entries : (rows of the node,) uint32 array
    cuts : (first, last)
    weights : (weight of the missing rows if they go left, weight of all)
    sums : (left, total) (n_channels,) int64 arrays
        ``left`` has the channels of the missing rows or 0, and is updated.
    """
    left_weight, weight = weights
    left, total = sums
    first, last = cuts
    least = max(nodes.min_weight[k], 1)
    runs = (
        len(row.label) > 0
        and not rules.bounded
        and rules.outputs == 1
        and least == 1
        and rules.criterion in (GINI, ENTROPY)
    )
    mean_channel = 1 if len(row.label) else 0
    best, place = REFUSED, np.int64(0)
    for cut in range(1, last + 1):
        p = entries[cut - 1] & POSITION
        left_weight += _add_row(row, p, left)
        after = entries[cut]
        if cut < first or not after & NEW or left_weight < least or weight - left_weight < least:
            continue
        if (
            runs
            and first < cut < last
            and entries[cut - 1] & NEW
            and entries[cut + 1] & NEW
            and row.label[p, 0] == row.label[after & POSITION, 0]
        ):
            continue  # both neighbours are single rows of one class: inside a run
        score = channel_score(
            left, total, left_weight, weight, rules.criterion, rules.outputs, rules.logs
        )
        if score > best and not (
            rules.bounded
            and breaks_order(
                np.float64(left[mean_channel]), np.float64(left_weight),
                np.float64(total[mean_channel]), np.float64(weight),
                sign, nodes.lower[k], nodes.upper[k],
            )
        ):  # fmt: skip
            best, place = score, np.int64(cut)
    return best, place


@inline
def _scan(entries, row, nodes, k, sign, rules, scratch):
    """Find the best cut of node k; see `_scan` of one_sum.py.

    entries (rows of the node,) uint32; scratch (3, n_channels) int64.
    """
    left, missing, total = scratch[0], scratch[1], scratch[2]
    channels, count = len(left), len(entries)
    present = first_missing(entries, 0, count)
    for c in range(channels):
        missing[c] = 0
        total[c] = nodes.total[k, c]
    missing_weight = np.int64(0)
    for i in range(present, count):
        missing_weight += _add_row(row, entries[i] & POSITION, missing)
    weight, known = nodes.weight[k], 1.0
    if rules.skip_missing and missing_weight:
        known = np.float64(weight - missing_weight) / np.float64(weight)
        weight -= missing_weight
        for c in range(channels):
            total[c] -= missing[c]
    best, best_place, best_side = REFUSED, np.int64(0), 0
    for side in range(2 if present < count and not rules.skip_missing else 1):
        cuts = cut_range(count, present, rules, side)
        for c in range(channels):
            left[c] = missing[c] * side
        weights = (missing_weight * side, weight)
        score, place = _walk(entries, row, nodes, k, cuts, weights, (left, total), sign, rules)
        if score >= 0.0 and score * known > best:
            best, best_place, best_side = score * known, place, side
    return best, best_place, best_side


@kernel(makes_arrays=True)
def search_channels(lists, columns, row, nodes, rules, best):
    """Find the best cut of every node on several lists; arguments as for `search_moment`.

    lists (n_slots, n_rows) uint32; columns (slots, features, signs) (n_columns,) int64, the same, and
    (n_columns, 1 or n_nodes) int8.
    """
    slots, features, signs = columns
    scratch = np.empty((3, nodes.total.shape[1]), np.int64)
    for j in range(len(slots)):
        for k in range(len(nodes.start)):
            entries = lists[slots[j], nodes.start[k] : nodes.end[k]]
            sign = signs[j, k % signs.shape[1]]
            score, cut, missing_left = _scan(entries, row, nodes, k, sign, rules, scratch)
            keep_better(best, k, features[j], score, cut, missing_left)
