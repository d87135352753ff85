"""The general search: several sums per side decide (many classes, entropy, several outputs).

Channels of all outputs are scored together, as the mean over outputs (score.py).

A cut inside a run of rows of one class is never better than both ends of the run (the scores are
convex along it), so with one class output only the ends of runs are scored.
"""

import numpy as np

from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel
from arboretum.engine.split.best import FROM_LIST, REFUSED, keep_better
from arboretum.engine.split.one_sum import cut_range
from arboretum.engine.split.score import breaks_order, channel_score
from arboretum.engine.split.statistic import ENTROPY, GINI

__all__ = ["scan_channels", "search_channels"]


@inline
def add_row(row, p, left):
    """Add the row at position p to the channels ``left``; return its weight.

    left (n_channels,) int64, added to.
    """
    w = row.weight[p] if len(row.weight) else np.int64(1)
    if len(row.label):
        for o in range(row.label.shape[1]):
            left[row.label[p, o]] += w
    else:
        for o in range(row.number.shape[1]):
            left[o] += np.int64(row.number[p, o])
    return w


@inline
def _walk(entries, start, row, nodes, k, first, last, before, left, total, scoring, table):
    """Score the cuts first..last of node k; ``left`` holds the channels of the missing rows, or 0.

    entries (n_rows,) uint32; left (n_channels,) int64, updated; total (n_channels,) int64; table
    (n_kept,) float64.
    """
    criterion, outputs, sign, bounded = scoring
    left_weight, weight = before
    least = max(nodes.min_weight[k], 1)
    runs = (
        len(row.label) > 0
        and outputs == 1
        and least == 1
        and not bounded
        and criterion in (GINI, ENTROPY)
    )
    mean_channel = 1 if len(row.label) else 0
    best, place = REFUSED, np.int64(0)
    for cut in range(1, last + 1):
        p = entries[start + cut - 1] & POSITION
        left_weight += add_row(row, p, left)
        after = entries[start + cut]
        if cut < first or not after & NEW or left_weight < least or weight - left_weight < least:
            continue
        if (
            runs
            and first < cut < last
            and entries[start + cut - 1] & NEW
            and entries[start + cut + 1] & NEW
            and row.label[p, 0] == row.label[after & POSITION, 0]
        ):
            continue  # both neighbours are single rows of one class: inside a run
        score = channel_score(left, total, left_weight, weight, criterion, outputs, table)
        if score > best and not (
            bounded
            and breaks_order(
                np.float64(left[mean_channel]), np.float64(left_weight),
                np.float64(total[mean_channel]), np.float64(weight),
                sign, nodes.lower[k], nodes.upper[k],
            )
        ):  # fmt: skip
            best, place = score, np.int64(cut)
    return best, place


@inline
def scan_channels(entries, start, end, row, nodes, k, sign, rules, table, scratch):
    """Find the best cut of node k on the segment start..end of a list; see `scan_moment`.

    ``scratch``: (3, channels) int64 scratch.

    entries (n_rows,) uint32; table (n_kept,) float64; scratch (3, n_channels) int64.
    """
    min_leaf, skip_missing, criterion, outputs, bounded = rules
    left, missing, total = scratch[0], scratch[1], scratch[2]
    channels = len(left)
    count = end - start
    present = first_missing(entries, start, end) - start
    for c in range(channels):
        missing[c] = 0
        total[c] = nodes.total[k, c]
    missing_weight = np.int64(0)
    for i in range(start + present, end):
        missing_weight += add_row(row, entries[i] & POSITION, missing)
    weight, known = nodes.weight[k], 1.0
    if skip_missing and missing_weight:
        known = np.float64(weight - missing_weight) / np.float64(weight)
        weight -= missing_weight
        for c in range(channels):
            total[c] -= missing[c]
    best, best_place, best_side = REFUSED, np.int64(0), 0
    for side in range(2 if present < count and not skip_missing else 1):
        first, last = cut_range(count, present, min_leaf, side, skip_missing)
        for c in range(channels):
            left[c] = missing[c] * side
        score, place = _walk(
            entries, start, row, nodes, k, first, last, (missing_weight * side, weight), left, total,
            (criterion, outputs, sign, bounded), table,
        )  # fmt: skip
        if score >= 0.0 and score * known > best:
            best, best_place, best_side = score * known, place, side
    return best, best_place, best_side


@kernel(makes_arrays=True)
def search_channels(lists, columns, row, nodes, rules, table, found, best):
    """Find the best cut of every node on several lists; arguments as for `search_moment`.

    ``rules`` is (rows each side needs, judge by present rows alone?, criterion, outputs, constraints?).

    lists (n_slots, n_rows) uint32; columns (slots, features, signs) (n_columns,) int64, the same, and
    (n_columns, 1 or n_nodes) int8; table (n_kept,) float64.
    """
    slots, features, signs = columns
    scratch = np.empty((3, nodes.total.shape[1]), np.int64)
    for j in range(len(slots)):
        entries = lists[slots[j]]
        for k in range(len(nodes.start)):
            found.score[k], found.cut[k], found.missing_left[k] = scan_channels(
                entries, nodes.start[k], nodes.end[k], row, nodes, k,
                signs[j, k % signs.shape[1]], rules, table, scratch,
            )  # fmt: skip
        keep_better(found, features[j], FROM_LIST, best)
