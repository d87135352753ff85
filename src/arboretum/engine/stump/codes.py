"""The best stump of weighted rows, two classes, on columns of ordered codes: bins, or few values.

A row costs one addition per column, to its code and class; two columns are counted side by side, so that a
row's word is read once and additions to the one do not wait for those to the other. Then the codes are walked
in their order. Scores and ties are those of counts_one_sum.py.

    cells     [2 c] and [2 c + 1]: what the rows of code c weigh, by class
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import squares

__all__ = ["mark_stump_codes", "search_code_stumps"]

_ONE = np.int64(1)


@subkernel
def _count_two(one, two, words, cells, others):
    """Add up the weight of every code of two columns, by class."""
    for i in range(np.uint64(len(words))):
        word = words[i]
        w, c = word >> _ONE, np.uint64(word & _ONE)
        cells[(np.uint64(one[i]) << np.uint64(1)) | c] += w
        others[(np.uint64(two[i]) << np.uint64(1)) | c] += w


@subkernel
def _walk_codes(cells, counts, n_codes, n, weight, total):
    """Return (score, last code on the left, missing left?) of a column's best cut."""
    best, cut, best_side = REFUSED, np.int64(0), np.int64(0)
    missing = counts[n_codes]
    for side in range(2 if missing else 1):
        rows, left_weight, ones = np.int64(0), np.int64(0), np.int64(0)
        if side:
            rows, ones = missing, cells[2 * n_codes + 1]
            left_weight = cells[2 * n_codes] + ones
        for c in range(n_codes):
            if counts[c] == 0:
                continue
            rows += counts[c]
            ones += cells[2 * c + 1]
            left_weight += cells[2 * c] + cells[2 * c + 1]
            if rows == n or left_weight < 1 or weight - left_weight < 1:
                continue
            score = squares(ones, left_weight, total, weight)
            if score > best:
                best, cut, best_side = score, np.int64(c), np.int64(side)
    return best, cut, best_side


@kernel(makes_arrays=True)
def search_code_stumps(codes, columns, n_codes, counts, words, weight, total):
    """Return (score, column, last code on the left, missing left?) of the best cut of some columns.

    ``n_codes[j]``: codes of a column, and the code that means missing; ``counts``: (columns, codes), rows of
    each. ``words``, ``weight`` and ``total``: see `two_classes.weigh_words`. Between equal scores the first
    wins.
    """
    most = 0
    for j in columns:
        most = max(most, n_codes[j] + 1)
    cells = np.zeros((2, 2 * most), np.int64)
    best, column, cut, missing_left = REFUSED, np.int64(0), np.int64(0), np.int64(0)
    for turn in range(0, len(columns), 2):
        pair = columns[turn], columns[min(turn + 1, len(columns) - 1)]
        _count_two(codes[pair[0]], codes[pair[1]], words, cells[0], cells[1])
        for k in range(2):
            j = pair[1] if k else pair[0]
            score, place, side = _walk_codes(
                cells[k], counts[j], n_codes[j], len(words), weight, total
            )
            if score > best:
                best, column, cut, missing_left = score, np.int64(j), place, side
            for c in range(2 * (n_codes[j] + 1)):
                cells[k, c] = 0
    return best, column, cut, missing_left


@kernel
def mark_stump_codes(codes, n_codes, cut, missing_left, right):
    """Write 0 for rows on the left and 1 for those on the right."""
    for i in range(len(codes)):
        c = np.int64(codes[i])
        right[i] = np.uint8(missing_left == 0 if c == n_codes else c > cut)
