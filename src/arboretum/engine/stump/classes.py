"""The best stump of weighted rows, more than two classes; see two_classes.py for two.

With L_c, T_c the weights of class c on the left and in all, t_c = T_c / n and d_c = L_c - n_L t_c, the
decrease of Gini impurity is Σ d_c² / (n_L n_R). A row of class k and weight w that moves left changes

    S = Σ d_c²       by   2 w (d_k - U) + w² (1 - 2 t_k + Σ t_c²)
    U = Σ t_c d_c    by   w (t_k - Σ t_c²)

so the number of classes does not matter. S is followed in float64 and computed anew every 64 rows; where it
may beat the best so far the cut is scored from the whole numbers L_c, as many_sums.py does to the last bit.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.fixed_point import to_grid
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import channel_squares
from arboretum.engine.stump.two_classes import grid_scale

__all__ = ["CLASS", "CLASS_BITS", "MOST_CLASSES", "search_class_stumps", "weigh_class_words"]

MOST_CLASSES = 256
CLASS_BITS = np.int64(8)  # a word is w << 8 | class
CLASS = np.int64(255)
_STRETCH = 64
_ROUNDING = 1e-13  # of n²: more than 64 steps can add to S
_ALMOST = 1.0 - 1e-12


@kernel
def weigh_class_words(weights, labels, whole, words, total):
    """Write ``words`` and the weight of every class on the grid; return the weight of all rows.

    weights (n_rows,) float64; labels (n_rows,) int32; words (n_rows,) int64, written; total (n_classes,)
    int64, written.
    """
    scale = grid_scale(weights, whole)
    all_weight = np.int64(0)
    total[:] = 0
    for i in range(len(weights)):
        w = to_grid(weights[i] * scale)
        words[i] = (w << CLASS_BITS) | np.int64(labels[i])
        total[np.uint64(labels[i])] += w
        all_weight += w
    return all_weight


@subkernel
def _score(left, total, left_weight, weight):
    """Return the decrease of a cut.

    left, total (n_classes,) int64.
    """
    squared, _ = channel_squares(left, total, left_weight, weight)
    n, n_left = np.float64(weight), np.float64(left_weight)
    return squared / (n_left * (n - n_left))


@subkernel
def _walk(entries, words, last, left_weight, left, total, share, weight, best):
    """Return the best score and place among the cuts 1..last; the place is 0 if none beats ``best``.

    ``left_weight`` and ``left`` are what stands on the left already; ``left`` is used up.

    entries (n_rows,) uint32; words (n_rows,) int64; left (n_classes,) int64, updated; total (n_classes,)
    int64; share (n_classes,) float64.
    """
    node_weight = np.float64(weight)
    slack, place = _ROUNDING * node_weight * node_weight, np.int64(0)
    q = 0.0
    for c in range(len(share)):
        q += share[c] * share[c]
    for lo in range(0, last, _STRETCH):
        s, u = 0.0, 0.0
        for c in range(len(share)):
            d = np.float64(left[c]) - np.float64(left_weight) * share[c]
            s += d * d
            u += share[c] * d
        for i in range(lo, min(lo + _STRETCH, last)):
            word = words[np.uint64(entries[np.uint64(i)] & POSITION)]
            k, w = np.uint64(word & CLASS), word >> CLASS_BITS
            moved, mine = np.float64(w), share[k]
            d = np.float64(left[k]) - np.float64(left_weight) * mine
            s += moved * (2.0 * (d - u) + moved * (1.0 - 2.0 * mine + q))
            u += moved * (mine - q)
            left[k] += w
            left_weight += w
            n_left = np.float64(left_weight)
            if s + slack > best * _ALMOST * (n_left * (node_weight - n_left)):
                if (
                    left_weight < 1
                    or weight - left_weight < 1
                    or not entries[np.uint64(i + 1)] & NEW
                ):
                    continue
                score = _score(left, total, left_weight, weight)
                if score > best:
                    best, place = score, np.int64(i + 1)
    return best, place


@kernel(makes_arrays=True)
def search_class_stumps(lists, columns, words, weight, total):
    """`two_classes.search_stumps` for many classes; ``total``: the weight of each.

    lists (n_columns, n_rows) uint32; columns (n_some,) int64; words (n_rows,) int64; total (n_classes,)
    int64.
    """
    n = lists.shape[1]
    left, share = np.empty(len(total), np.int64), np.empty(len(total))
    for c in range(len(total)):
        share[c] = np.float64(total[c]) / np.float64(weight)
    best, column, cut, missing_left = REFUSED, np.int64(0), np.int64(0), np.int64(0)
    for j in columns:
        entries = lists[j]
        present = first_missing(entries, 0, n)
        left[:] = 0
        best, place = _walk(
            entries, words, min(present, n - 1), np.int64(0), left, total, share, weight, best
        )
        if place > 0:
            column, cut, missing_left = np.int64(j), place, np.int64(0)
        if present == n:
            continue
        left[:] = 0
        left_weight = np.int64(0)
        for i in range(present, n):
            word = words[np.uint64(entries[i] & POSITION)]
            left[np.uint64(word & CLASS)] += word >> CLASS_BITS
            left_weight += word >> CLASS_BITS
        best, place = _walk(
            entries, words, present - 1, left_weight, left, total, share, weight, best
        )
        if place > 0:
            column, cut, missing_left = np.int64(j), place, np.int64(1)
    return best, column, cut, missing_left
