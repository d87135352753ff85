"""The search for one class label of many values, rows weighing whole numbers.

With L_c, R_c, T_c the weight of class c on the left, on the right and in the node, the decrease is

    Gini      [Σ L_c² / n_L + Σ R_c² / n_R - Σ T_c² / n] / n
    entropy   [Σ f(L_c) - f(n_L) + Σ f(R_c) - f(n_R) - Σ f(T_c) + f(n)] / n,   f(x) = x log2 x

A row of class c that moves left changes Σ L² by w (2 L_c + w) and Σ R² by -w (2 R_c - w): whole numbers,
so the sums of squares are exact and the number of classes does not matter. Entropy is added up over
the classes, but only at the ends of runs of rows of one class: inside a run no cut is better than at
both of its ends.
"""

import numpy as np

from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.compiler.decorators import inline, kernel
from arboretum.engine.split.best import REFUSED, keep_better
from arboretum.engine.split.one_sum import cut_range
from arboretum.engine.split.score import ENTROPY, LN2, xlogx
from arboretum.engine.split.statistic import weight_of

__all__ = ["search_classes"]


@inline
def _entropy(left, total, on_left, weight, table):
    """Entropy decrease of a cut times weight · ln 2, up to what all cuts of the node share.

    left, total (n_classes,) int64; table (n_kept,) float64.
    """
    gain = -xlogx(on_left, table) - xlogx(weight - on_left, table)
    for c in range(len(left)):
        gain += xlogx(left[c], table) + xlogx(total[c] - left[c], table)
    return gain


@inline
def _scan(entries, row, nodes, k, rules, left):
    """Find the best cut of node k; see `_scan` of one_sum.py.

    entries (rows of the node,) uint32; left (n_classes,) int64, scratch.
    """
    count, entropy = len(entries), rules.criterion == ENTROPY
    present = first_missing(entries, 0, count)
    total, weight = nodes.total[k], nodes.weight[k]
    least = max(nodes.min_weight[k], 1)
    squares = np.int64(0)
    same = 0.0
    if entropy:
        same = xlogx(weight, rules.logs)
    for c in range(len(left)):
        squares += total[c] * total[c]
        if entropy:
            same -= xlogx(total[c], rules.logs)
    best, best_place, best_side = REFUSED, np.int64(0), 0
    for side in range(2 if present < count else 1):
        first, last = cut_range(count, present, rules, side)
        on_left, left_squares, right_squares = np.int64(0), np.int64(0), squares
        for c in range(len(left)):
            left[c] = 0
        for i in range(-(count - present) if side else 0, last):
            e = entries[i] if i >= 0 else entries[count + i]
            p = e & POSITION
            c = row.label[p, 0]
            w = weight_of(row.weight, p)
            left_squares += w * (2 * left[c] + w)
            right_squares -= w * (2 * (total[c] - left[c]) - w)
            left[c] += w
            on_left += w
            cut = i + 1
            if cut < first or not entries[cut] & NEW:
                continue
            if on_left < least or weight - on_left < least:
                continue
            if entropy:
                after = entries[cut]
                alone = e & NEW and cut + 1 < count and entries[cut + 1] & NEW
                if (
                    least == 1
                    and first < cut < last
                    and alone
                    and row.label[after & POSITION, 0] == c
                ):
                    continue  # both neighbours are single rows of one class: inside a run
                gain = (_entropy(left, total, on_left, weight, rules.logs) + same) / (weight * LN2)
                score = max(gain, 0.0)
            else:
                n, n_left = np.float64(weight), np.float64(on_left)
                score = (
                    np.float64(left_squares) / n_left
                    + np.float64(right_squares) / (n - n_left)
                    - np.float64(squares) / n
                ) / n
                score = max(score, 0.0)
            if score > best:
                best, best_place, best_side = score, np.int64(cut), side
    return best, best_place, best_side


@kernel(makes_arrays=True)
def search_classes(lists, columns, row, nodes, rules, best):
    """Find the best cut of every node on several lists; arguments as for `search_moment`.

    lists (n_slots, n_rows) uint32; columns (slots, features, signs) (n_columns,) int64, the same, and
    (n_columns, 1 or n_nodes) int8.
    """
    slots, features, _ = columns
    left = np.empty(nodes.total.shape[1], np.int64)
    for j in range(len(slots)):
        for k in range(len(nodes.start)):
            entries = lists[slots[j], nodes.start[k] : nodes.end[k]]
            score, cut, missing_left = _scan(entries, row, nodes, k, rules, left)
            keep_better(best, k, features[j], score, cut, missing_left)
