"""How well one column can stand in for another: the agreement of surrogate splits.

The primary split has marked the rows it knows as left (1) or right (0); 2 means its value is missing.
A surrogate is judged by the weight of known rows it sends the same way; rows it cannot place itself
count as disagreement. A numeric surrogate may point either way:

    sorted surrogate values   a  b | c  d  e          primary sides   L  L   R  L  R
    "<= goes left"            agrees on a b c e       reversed: on d
"""

import numpy as np

from arboretum.engine.jit import kernel
from arboretum.engine.order import MISSING, NEW, POSITION

__all__ = ["agree_categories", "agree_list"]

_EACH_WAY = 2  # rows a surrogate must send either way


@kernel
def agree_list(entries, rows, weights, start, end, side, agreement, cut, reverse):
    """Find the best agreeing cut of every node on one list; agreement -1 if there is none."""
    for k in range(len(start)):
        lo, hi = start[k], end[k]
        left_all, right_all, n_all = 0.0, 0.0, 0
        for i in range(lo, hi):
            p = entries[i] & POSITION
            if entries[i] & MISSING or side[p] == 2:
                continue
            w = weights[rows[p]] if len(weights) else 1.0
            n_all += 1
            if side[p]:
                left_all += w
            else:
                right_all += w
        agreement[k], cut[k], reverse[k] = -1.0, 0, 0
        left, right, n = 0.0, 0.0, 0
        for i in range(lo, hi - 1):
            e = entries[i]
            p = e & POSITION
            if e & MISSING:
                break
            if side[p] != 2:
                w = weights[rows[p]] if len(weights) else 1.0
                n += 1
                if side[p]:
                    left += w
                else:
                    right += w
            after = entries[i + 1]
            if not after & NEW or after & MISSING or n < _EACH_WAY or n_all - n < _EACH_WAY:
                continue
            same = left + (right_all - right)
            other = right + (left_all - left)
            if same > agreement[k]:
                agreement[k], cut[k], reverse[k] = same, i + 1 - lo, 0
            if other > agreement[k]:
                agreement[k], cut[k], reverse[k] = other, i + 1 - lo, 1


@kernel
def agree_categories(code_of, gone, rows, weights, start, end, side, agreement, takes):
    """Send each category where most of its weight goes (left on a tie); see `agree_list`.

    ``takes[k, code]``: 1 left, 0 right, 2 not met.
    """
    left, right = np.zeros(gone + 1), np.zeros(gone + 1)
    count = np.zeros(gone + 1, np.int64)
    for k in range(len(start)):
        left[:] = 0.0
        right[:] = 0.0
        count[:] = 0
        for p in range(start[k], end[k]):
            c = np.int64(code_of[rows[p]])
            if c == gone or side[p] == 2:
                continue
            w = weights[rows[p]] if len(weights) else 1.0
            count[c] += 1
            if side[p]:
                left[c] += w
            else:
                right[c] += w
        total, n_left, n_right = 0.0, 0, 0
        for c in range(gone):
            takes[k, c] = 2
            if count[c]:
                takes[k, c] = left[c] >= right[c]
                total += max(left[c], right[c])
                n_left += count[c] * takes[k, c]
                n_right += count[c] * (1 - takes[k, c])
        agreement[k] = total if n_left >= _EACH_WAY and n_right >= _EACH_WAY else -1.0
