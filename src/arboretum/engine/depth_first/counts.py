"""Columns of codes, added up per code: categories, and numbers of few values.

A node's rows are counted per code (`count_column`); a walk over the codes that occur, in their order, scores
every cut. Missing rows are tried on both sides, and against all present rows.

    code        0    1    2   ...   missing
    rows       12    0    7            3
    sums       ...                          cuts: 0 | 2 -,  0 - | 2,  0 2 | -

Numbers and ranks are cut in the order of their codes, categories in the order of their mean target:
for two classes and one number the best of all subsets is among these cuts (Breiman et al. 1984). For more
channels every subset is tried where a node holds few categories; beyond, they are ordered along the
first principal component of their class probabilities (Coppersmith, Hong and Hosking 1999).
"""

from __future__ import annotations

import math

import numpy as np

from arboretum.engine.compiler.decorators import addressed, inline, subkernel
from arboretum.engine.depth_first.records import ROWS, STAMP, SUMS, WEIGHT
from arboretum.engine.split.counts import sort_seen
from arboretum.engine.split.score import breaks_order, channel_score, squares

__all__ = ["allowed", "order_categories", "order_codes", "score", "walk_counts"]

_SETTLED = 1e-4  # of the power iteration


# --------------------------------------------------------------------------- one cut
@inline
def allowed(rows_left, n, left_weight, weight, rules):
    """Return whether both sides have enough rows and weight."""
    if rows_left < rules.min_leaf or n - rows_left < rules.min_leaf:
        return False
    return left_weight >= rules.min_weight and weight - left_weight >= rules.min_weight


@inline
def score(left, total, left_weight, weight, rules, logs, sign, lower, upper):
    """Score the side whose channels are ``left``; -1 where a constraint forbids it.

    left, total (n_channels,) int64; logs (n_kept,) float64.
    """
    worth = channel_score(left, total, left_weight, weight, rules.criterion, rules.outputs, logs)
    if rules.bounded and sign != 0:
        c = 1 if len(total) > 1 else 0  # two classes, or one number
        if breaks_order(
            np.float64(left[c]), np.float64(left_weight), np.float64(total[c]),
            np.float64(weight), sign, lower, upper,
        ):  # fmt: skip
            return -1.0
    return worth


# --------------------------------------------------------------------------- in order
@inline
def order_codes(n_codes, m, now, cells, seen):
    """Put the m codes that occur into their own order, without missing; return how many.

    cells (most codes + 1, SUMS + n_channels) int64; seen (most codes + 1,) int64, updated.
    """
    size = np.int64(0)
    if m * 8 < n_codes:  # few of many: sort them
        for i in range(m):
            if seen[i] != n_codes:
                at, code = size, seen[i]
                while at > 0 and seen[at - 1] > code:
                    seen[at] = seen[at - 1]
                    at -= 1
                seen[at] = code
                size += 1
        return size
    for c in range(n_codes):
        if cells[c, STAMP] == now:
            seen[size] = c
            size += 1
    return size


@subkernel
def _principal_axis(m, bench):
    """Power iteration for the first principal component of the categories' mean channels.

    The component is written to ``counter.axis[0]``, its next guess to [1], the node's mean channels to [2].
    """
    seen, cells, axis = bench.counter.seen, bench.counter.cells, bench.counter.axis
    node_weight, channels = np.float64(bench.node[0].weight), bench.node[0].channels
    for c in range(channels):
        axis[0, c] = 1.0 + c  # any start that is not orthogonal to the answer
        axis[2, c] = bench.scratch.total[c] / node_weight
    for _ in range(bench.rules.rounds):
        for c in range(channels):
            axis[1, c] = 0.0
        for i in range(m):
            code = np.uint64(seen[i])
            w = np.float64(max(cells[code, WEIGHT], 1))
            part, along = 1.0 / w, 0.0
            for c in range(channels):
                along += axis[0, c] * (cells[code, SUMS + c] * part - axis[2, c])
            along *= w
            for c in range(channels):
                axis[1, c] += along * (cells[code, SUMS + c] * part - axis[2, c])
        norm, moved = 0.0, 0.0
        for c in range(channels):
            norm += axis[1, c] * axis[1, c]
        if norm <= 0.0:
            break
        norm = 1.0 / math.sqrt(norm)
        for c in range(channels):
            moved = max(moved, abs(axis[1, c] * norm - axis[0, c]))
            axis[0, c] = axis[1, c] * norm
        if moved < _SETTLED:
            break


@addressed
def order_categories(bench, f):
    """Put the categories of the column that was counted last into the order they are cut.

    Writes to the node how many there are without missing, and whether every subset is to be tried (then
    they stand in the order of their codes).
    """
    node, rules, counter, missing_code = (
        bench.node[0],
        bench.rules,
        bench.counter,
        bench.features.n_codes[f],
    )
    cells, seen, key, axis = counter.cells, counter.seen, counter.key, counter.axis
    m = np.int64(0)
    for i in range(node.seen):
        if seen[i] != missing_code:
            seen[m] = seen[i]
            m += 1
    channels, one_label = node.channels, bench.target.label is not None and rules.outputs == 1
    one_axis = channels == 1 or (channels == 2 and one_label)
    of_tree = axis.shape[1]  # a node may have lost classes: the rule is that of the whole tree
    subsets = of_tree > (2 if one_label else 1) and m <= rules.exhaustive
    if not one_axis and not subsets:
        _principal_axis(m, bench)
    for i in range(m):
        code = np.uint64(seen[i])
        w = np.float64(max(cells[code, WEIGHT], 1))
        along = 0.0
        if subsets:
            along = np.float64(seen[i])
        elif one_axis:
            along = cells[code, SUMS + channels - 1] / w
        else:
            for c in range(channels):
                along += axis[0, c] * (cells[code, SUMS + c] / w)
        key[i] = along
    sort_seen(seen, key, m)
    node.seen, node.subsets = m, subsets


# --------------------------------------------------------------------------- every cut
@inline
def walk_counts(m, missing_code, has_missing, subsets, sign, bench, left):
    """Cut the m codes after each of them in their order, or try every subset of them.

    Subsets follow the Gray code: each differs from the one before in one code. The last code stays
    right, so none is tried twice. Returns (score, codes on the left or a bit mask of them, missing left?).

    left (2 * n_channels,) int64, scratch, or None: one sum, which needs no subsets.
    """
    node, rules, logs = bench.node[0], bench.rules, bench.scratch.logs
    n, node_weight, lower, upper = node.n, node.weight, node.lower, node.upper
    cells, seen, total = (
        bench.counter.cells,
        bench.counter.seen,
        bench.scratch.total[: node.channels],
    )
    total_sum = total[0]
    best, place, best_side, worth = -1.0, np.int64(0), np.int64(0), -1.0
    for side in range(2 if has_missing else 1):
        left_weight, rows_left, left_sum = np.int64(0), np.int64(0), np.int64(0)
        if left is not None:
            for c in range(len(total)):
                left[c] = cells[missing_code, SUMS + c] if side else 0
        if side:
            left_weight, rows_left = cells[missing_code, WEIGHT], cells[missing_code, ROWS]
            left_sum = cells[missing_code, SUMS]
        last = (1 << (m - 1)) - 1 if subsets else (m if has_missing and not side else m - 1)
        for step in range(0 if side and subsets else 1, last + 1):
            i, mask, sign_of = step - 1, np.int64(step), 1
            if subsets:
                i, mask = 0, np.int64(step ^ (step >> 1))
                while step and not (step >> i) & 1:
                    i += 1
                sign_of = 1 if (mask >> i) & 1 else -1
            if step:
                code = np.uint64(seen[i])
                left_weight += sign_of * cells[code, WEIGHT]
                rows_left += sign_of * cells[code, ROWS]
                left_sum += cells[code, SUMS]
                if left is not None:
                    for c in range(len(total)):
                        left[c] += sign_of * cells[code, SUMS + c]
            if not allowed(rows_left, n, left_weight, node_weight, rules):
                continue
            if left is None:
                worth = squares(left_sum, left_weight, total_sum, node_weight)
            if left is not None:
                worth = score(
                    left, total, left_weight, node_weight, rules, logs, sign, lower, upper
                )
            if worth > best or (worth == best and side == best_side and mask < place):
                best, place, best_side = worth, mask, np.int64(side)
    return best, place, best_side
