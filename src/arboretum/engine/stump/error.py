"""The stump that gets the least weight wrong, any number of classes: the weak learner AdaBoost asks for.

Each side of a cut answers its heaviest class, so what a cut puts right is

    max_c L_c + max_c (T_c - L_c) - max_c T_c         L_c, T_c the weight of class c on the left, in all

Along a presorted column L_c only grows: the first maximum is followed by one comparison a row, the second
is looked for again only at cuts. All sums are whole numbers (two_classes.py), so equal cuts score equally and
the first wins, as in CART's own search (many_sums.py).
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.columns.lists import first_missing
from arboretum.engine.columns.presort import NEW, POSITION
from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.split.best import REFUSED
from arboretum.engine.stump.classes import CLASS, CLASS_BITS

__all__ = ["search_error_stumps"]


@subkernel
def _walk(entries, words, last, left_weight, left, total, weight, best):
    """Return the most weight put right and the place, among the cuts 1..last; 0: none beats ``best``.

    ``left_weight`` and ``left`` are what stands on the left already; ``left`` is used up.

    entries (n_rows,) uint32; words (n_rows,) int64; left (n_classes,) int64, updated; total (n_classes,)
    int64.
    """
    place, on_left = np.int64(0), np.int64(0)
    for c in range(len(total)):
        on_left = max(on_left, left[c])
    for i in range(last):
        word = words[np.uint64(entries[np.uint64(i)] & POSITION)]
        k, w = np.uint64(word & CLASS), word >> CLASS_BITS
        left[k] += w
        left_weight += w
        on_left = max(on_left, left[k])
        if left_weight < 1 or weight - left_weight < 1 or not entries[np.uint64(i + 1)] & NEW:
            continue
        on_right = np.int64(0)
        for c in range(len(total)):
            on_right = max(on_right, total[c] - left[c])
        if on_left + on_right > best:
            best, place = on_left + on_right, np.int64(i + 1)
    return best, place


@kernel(makes_arrays=True)
def search_error_stumps(lists, columns, words, weight, total):
    """`two_classes.search_stumps` by error; ``words`` and ``total`` as `weigh_class_words` makes them.

    lists (n_columns, n_rows) uint32; columns (n_some,) int64; words (n_rows,) int64; total (n_classes,)
    int64.
    """
    n = lists.shape[1]
    left = np.empty(len(total), np.int64)
    before = np.int64(0)
    for c in range(len(total)):
        before = max(before, total[c])
    best, column, cut, missing_left = np.int64(-1), np.int64(0), np.int64(0), np.int64(0)
    for j in columns:
        entries = lists[j]
        present = first_missing(entries, 0, n)
        left[:] = 0
        best, place = _walk(
            entries, words, min(present, n - 1), np.int64(0), left, total, weight, best
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
        best, place = _walk(entries, words, present - 1, left_weight, left, total, weight, best)
        if place > 0:
            column, cut, missing_left = np.int64(j), place, np.int64(1)
    score = np.float64(best - before) / np.float64(weight) if best >= 0 else REFUSED
    return score, column, cut, missing_left
