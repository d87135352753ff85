"""Columns of codes, added up per code: categories, and numbers of few values.

A node's rows are counted per code; a walk over the codes that occur, in their order, meets every cut.
Missing rows are tried on both sides, and against all present rows.

    code        0    1    2   ...   missing
    rows       12    0    7            3
    sums       ...                          cuts: 0 | 2 -,  0 - | 2,  0 2 | -

Numbers and ranks are cut in the order of their codes, categories in the order of their mean target:
for two classes and one number that meets the best of all subsets (Breiman et al. 1984). For more
channels every subset is tried where a node holds few categories; beyond, they are ordered along the
first principal component of their class shares (Coppersmith, Hong and Hosking 1999).
"""

from __future__ import annotations

import math

import numpy as np

from arboretum.engine.compiler.decorators import addressed, inline, subkernel
from arboretum.engine.depth_first.records import EXAMPLE, ROWS, STAMP, SUMS, WEIGHT
from arboretum.engine.split.counts import sort_seen
from arboretum.engine.split.score import breaks_order, channel_score, squares

__all__ = ["allowed", "count_codes", "order_categories", "order_codes", "order_sets", "score"]
__all__ += ["take_categories", "walk_counts", "walk_sums"]

_SETTLED = 1e-4  # of the power iteration


@inline
def allowed(rows_left, n, left_weight, weight, rules):
    """Tell whether both sides have enough rows and weight."""
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


@inline
def count_codes(codes, column, rows, start, n, label, number, weight, channels, tag, cells, seen):
    """Add up the rows of a node per code; return how many codes it holds, missing among them.

    codes (n_columns * n_rows,) uint16 or uint32; rows (n_rows,) uint32; label (n_outputs, n_rows)
    uint32, or None; number (n_outputs, n_rows) int64, or None; weight (n_rows,) int64; tag (1,) int64,
    updated; cells (most codes + 1, SUMS + n_channels) int64, written; seen (most codes + 1,)
    int64, written.
    """
    now, m = tag[0] + 1, np.int64(0)
    tag[0] = now
    width = SUMS + channels
    for i in range(n):
        p = start + np.uint64(i)
        row = rows[p]
        c = np.uint64(codes[column + row])
        if cells[c, STAMP] != now:  # the node had not met it
            for j in range(ROWS, width):
                cells[c, j] = 0
            cells[c, STAMP], cells[c, EXAMPLE] = now, np.int64(row)
            seen[m] = np.int64(c)
            m += 1
        w = weight[p]
        cells[c, ROWS] += 1
        cells[c, WEIGHT] += w
        if label is not None:
            cells[c, np.uint64(SUMS) + np.uint64(label[0, p])] += w
            for o in range(1, len(label)):
                cells[c, np.uint64(SUMS) + np.uint64(label[o, p])] += w
        if number is not None:
            cells[c, SUMS] += number[0, p]
            for o in range(1, len(number)):
                cells[c, SUMS + o] += number[o, p]
    return m


@inline
def order_codes(n_codes, m, now, cells, seen):
    """Put the codes met into their own order, without missing; return how many.

    cells (most codes + 1, SUMS + n_channels) int64; seen (most codes + 1,) int64, updated.
    """
    met = np.int64(0)
    if m * 8 < n_codes:  # few of many: sort them
        for i in range(m):
            if seen[i] != n_codes:
                at, code = met, seen[i]
                while at > 0 and seen[at - 1] > code:
                    seen[at] = seen[at - 1]
                    at -= 1
                seen[at] = code
                met += 1
        return met
    for c in range(n_codes):
        if cells[c, STAMP] == now:
            seen[met] = c
            met += 1
    return met


@subkernel
def _principal_axis(seen, m, cells, total, node_weight, rounds, axis):
    """Power iteration for the first principal component of the categories' mean channels.

    ``axis``: the component, its next guess, the node's mean channels.

    seen (at least m,) int64; cells (most codes + 1, SUMS + n_channels) int64; total (n_channels,)
    int64; axis (3, n_channels) float64, written.
    """
    channels = len(total)
    for c in range(channels):
        axis[0, c] = 1.0 + c  # any start that is not orthogonal to the answer
        axis[2, c] = total[c] / node_weight
    for _ in range(rounds):
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


@inline
def order_categories(m, missing_code, cells, seen, key, axis, total, node_weight, labels, rules):
    """Put the categories met into the order they are cut.

    Returns how many there are without missing, and whether every subset is to be tried (then they
    stand in the order of their codes).

    cells (most codes + 1, SUMS + n_channels) int64; seen (most codes + 1,) int64, updated; key
    (most codes + 1,) float64, scratch; axis (3, n_channels) float64, scratch; total (n_channels,)
    int64.
    """
    met = np.int64(0)
    for i in range(m):
        if seen[i] != missing_code:
            seen[met] = seen[i]
            met += 1
    channels, one_label = len(total), labels and rules.outputs == 1
    one_axis = channels == 1 or (channels == 2 and one_label)
    of_tree = axis.shape[1]  # a node may have lost classes: the rule is that of the whole tree
    subsets = of_tree > (2 if one_label else 1) and met <= rules.exhaustive
    if not one_axis and not subsets:
        _principal_axis(seen, met, cells, total, np.float64(node_weight), rules.rounds, axis)
    for i in range(met):
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
    sort_seen(seen, key, met)
    return met, subsets


@addressed
def order_sets(bench, f):
    """`order_categories` of the column that was counted last; the node is told what it returns."""
    node, counter, scratch = bench.node[0], bench.counter, bench.scratch
    node.met, node.subsets = order_categories(
        node.met, bench.features.n_codes[f], counter.cells, counter.seen, counter.key, counter.axis,
        scratch.total[: node.channels], node.weight, bench.target.label is not None, bench.rules,
    )  # fmt: skip


@inline
def walk_counts(
    m, missing_code, has_missing, subsets, n, node_weight, cells, seen, total, left, rules, logs, sign, lower,
    upper,
):  # fmt: skip
    """Cut the m codes after each of them in their order, or try every subset of them.

    Subsets follow the Gray code: each differs from the one before in one code. The last code stays
    right, so none is tried twice. Returns (score, codes on the left or a bit mask of them, missing left?).

    cells (most codes + 1, SUMS + n_channels) int64; seen (most codes + 1,) int64; total
    (n_channels,) int64; left (n_channels,) int64, scratch; logs (n_kept,) float64.
    """
    best, place, best_side = -1.0, np.int64(0), np.int64(0)
    for side in range(2 if has_missing else 1):
        for c in range(len(total)):
            left[c] = 0
        left_weight, rows_left = np.int64(0), np.int64(0)
        if side:
            left_weight, rows_left = cells[missing_code, WEIGHT], cells[missing_code, ROWS]
            for c in range(len(total)):
                left[c] = cells[missing_code, SUMS + c]
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
                for c in range(len(total)):
                    left[c] += sign_of * cells[code, SUMS + c]
            if not allowed(rows_left, n, left_weight, node_weight, rules):
                continue
            worth = score(left, total, left_weight, node_weight, rules, logs, sign, lower, upper)
            if worth > best or (worth == best and side == best_side and mask < place):
                best, place, best_side = worth, mask, np.int64(side)
    return best, place, best_side


@inline
def walk_sums(m, missing_code, has_missing, n, node_weight, cells, seen, total, rules):
    """`walk_counts` for one sum, in the order of the codes: the quick form.

    cells (most codes + 1, SUMS + n_channels) int64; seen (most codes + 1,) int64.
    """
    best, place, best_side = -1.0, np.int64(0), np.int64(0)
    for side in range(2 if has_missing else 1):
        left_weight, rows_left, left_sum = np.int64(0), np.int64(0), np.int64(0)
        if side:
            left_weight, rows_left = cells[missing_code, WEIGHT], cells[missing_code, ROWS]
            left_sum = cells[missing_code, SUMS]
        for i in range(m if has_missing and not side else m - 1):
            code = np.uint64(seen[i])
            left_weight += cells[code, WEIGHT]
            rows_left += cells[code, ROWS]
            left_sum += cells[code, SUMS]
            if not allowed(rows_left, n, left_weight, node_weight, rules):
                continue
            worth = squares(left_sum, left_weight, total, node_weight)
            if worth > best:
                best, place, best_side = worth, np.int64(i + 1), np.int64(side)
    return best, place, best_side


@subkernel
def take_categories(m, place, subsets, seen, takes):
    """Mark which of the m categories met go left.

    seen (most codes + 1,) int64; takes (most codes + 1,) uint8, written.
    """
    for i in range(m):
        goes = (place >> i) & 1 if subsets else np.int64(i < place)
        takes[np.uint64(seen[i])] = np.uint8(goes)
