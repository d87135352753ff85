"""Searching by counting: add up every code of a column, then cut between codes.

For each node the rows' channels are added up per code; a walk over the codes that occur, in their
order, reaches every cut. Only codes that occur are touched, so a small node costs little however many
codes there are. Missing rows are tried on both sides, and against all present rows.

    code        0    1    2   ...   missing
    rows       12    0    7            3
    channels   ...                          cuts: 0 | 2 -,  0 - | 2,  0 2 | -
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel, subkernel
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import breaks_order, score_sums
from arboretum.engine.split.statistic import weight_of

__all__ = ["CodeCounter", "Columns", "count_codes", "make_counter", "scan_counts", "sort_seen"]
__all__ += ["walk_codes"]


class Columns(NamedTuple):
    """Per node of a batch: the column it is searched on."""

    slot: np.ndarray  # (n_nodes,) int64: row of the array of codes
    n_codes: np.ndarray  # (n_nodes,) int64: number of codes; that code itself means missing
    categorical: np.ndarray  # (n_nodes,) bool
    sign: np.ndarray  # (n_nodes,) int8: its monotone constraint


class CodeCounter(NamedTuple):
    """What is known per code of the column being counted."""

    stamp: np.ndarray  # (most codes + 1,) int64: the last node that has the code
    counts: np.ndarray  # (most codes + 1,) int64
    weights: np.ndarray  # (most codes + 1,) int64
    sums: np.ndarray  # (most codes + 1, n_channels) int64
    seen: np.ndarray  # (most codes + 1,) int64: the node's codes, in the order they are cut
    key: np.ndarray  # (most codes + 1,) float64: what they are ordered by
    left: np.ndarray  # (n_channels,) int64: the left side of the division being tried
    total: np.ndarray  # (n_channels,) int64: both sides


def make_counter(most_codes: int, channels: int) -> CodeCounter:
    """Return an empty `CodeCounter` for columns of at most this many codes, and missing."""
    size = most_codes + 1
    return CodeCounter(
        np.full(size, -1, np.int64), np.empty(size, np.int64), np.empty(size, np.int64),
        np.empty((size, channels), np.int64), np.empty(size, np.int64), np.empty(size),
        np.empty(channels, np.int64), np.empty(channels, np.int64),
    )  # fmt: skip


@inline
def _start(counter, c, tag, missing_code, n):
    """Start counting a code that is new in the node; return how many codes the node has so far."""
    counter.stamp[c] = tag
    counter.counts[c] = 0
    counter.weights[c] = 0
    for j in range(counter.sums.shape[1]):
        counter.sums[c, j] = 0
    if c == missing_code:
        return n
    counter.seen[n] = c
    return n + 1


@subkernel
def count_codes(codes, columns, row, nodes, k, counter):
    """Add up the rows of node k per code; return how many codes other than missing it holds.

    codes (n_columns, n_rows) uint8, uint16 or uint32.
    """
    index, missing_code, tag = columns.slot[k], columns.n_codes[k], k
    start, end, rows = nodes.start[k], nodes.end[k], row.id
    stamp, counts, weights, sums = counter.stamp, counter.counts, counter.weights, counter.sums
    n = _start(counter, missing_code, tag, missing_code, 0)
    for p in range(start, end):
        c = np.int64(codes[index, rows[p]])
        if stamp[c] != tag:
            n = _start(counter, c, tag, missing_code, n)
        w = weight_of(row.weight, p)
        counts[c] += 1
        weights[c] += w
        if len(row.label):
            for o in range(row.label.shape[1]):
                sums[c, row.label[p, o]] += w
        else:
            sums[c, 0] += np.int64(row.number[p, 0])
            for o in range(1, row.number.shape[1]):
                sums[c, o] += np.int64(row.number[p, o])
    return n


@subkernel
def sort_seen(seen, key, n):
    """Sort a node's codes by key, then code (Shell sort).

    seen (at least n,) int64, updated; key (at least n,) float64, updated.
    """
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            k, code = key[i], seen[i]
            j = i - gap
            while j >= 0 and (key[j] > k or (key[j] == k and seen[j] > code)):
                key[j + gap], seen[j + gap] = key[j], seen[j]
                j -= gap
            key[j + gap], seen[j + gap] = k, code
        gap //= 3


@subkernel
def _score_left(on_left, whole, counter, nodes, k, sign, rules):
    """Score the division of node k whose left side is in ``counter.left``; -1 if it is not allowed.

    on_left, whole (weight, rows) of the left side and of both.
    """
    left, total = counter.left, counter.total
    (left_weight, n_left), (weight, n) = on_left, whole
    least = max(nodes.min_weight[k], 1)
    if n_left < rules.min_leaf or n - n_left < rules.min_leaf:
        return REFUSED
    if left_weight < least or weight - left_weight < least:
        return REFUSED
    score = score_sums(left, total, left_weight, weight, rules, rules.logs)
    if sign != 0 and score >= 0.0:  # one output: the mean of its number, or of the last class
        c = len(left) - 1
        if breaks_order(
            np.float64(left[c]), np.float64(left_weight), np.float64(total[c]), np.float64(weight),
            sign, nodes.lower[k], nodes.upper[k],
        ):  # fmt: skip
            return REFUSED
    return score


@inline
def _known_part(counter, columns, nodes, k, skip_missing):
    """Load the node's totals; without its missing rows if they are to be skipped.

    Returns (weight, rows, share of the weight, slot of the missing rows or -1).
    """
    missing_code = columns.n_codes[k]
    weight, count, known = nodes.weight[k], nodes.end[k] - nodes.start[k], 1.0
    missing = counter.counts[missing_code]
    for c in range(len(counter.total)):
        counter.total[c] = nodes.total[k, c]
    if not missing:
        return weight, count, known, np.int64(-1)
    if not skip_missing:
        return weight, count, known, np.int64(missing_code)
    for c in range(len(counter.total)):
        counter.total[c] -= counter.sums[missing_code, c]
    known = np.float64(weight - counter.weights[missing_code]) / np.float64(weight)
    return weight - counter.weights[missing_code], count - missing, known, np.int64(-1)


@inline
def _move(counter, code, sign):
    """Bring a code to the left side (sign 1) or take it away again (-1)."""
    for c in range(len(counter.left)):
        counter.left[c] += sign * counter.sums[code, c]
    return sign * counter.weights[code], sign * counter.counts[code]


@subkernel
def walk_codes(counter, n, columns, nodes, k, sign, rules, subsets):
    """Cut the n codes of node k after each of them in their order, or try every subset of them.

    Subsets follow the Gray code: each differs from the one before in one code. The last code stays
    right, so none is tried twice. Returns (score, codes left or bit mask of them, missing left, whether
    the column is constant).
    """
    weight, count, known, slot = _known_part(counter, columns, nodes, k, rules.skip_missing)
    best, place, best_side = REFUSED, np.int64(0), 0
    for side in range(2 if slot >= 0 else 1):
        for c in range(len(counter.left)):
            counter.left[c] = 0
        left_weight, n_left = np.int64(0), np.int64(0)
        if side:
            left_weight, n_left = _move(counter, slot, 1)
        last = (1 << (n - 1)) - 1 if subsets else (n if slot >= 0 and not side else n - 1)
        for step in range(0 if side and subsets else 1, last + 1):
            i, mask = step - 1, step
            if subsets:
                i, mask = 0, step ^ (step >> 1)
                while step and not (step >> i) & 1:
                    i += 1
            if step:
                move = 1 if not subsets or (mask >> i) & 1 else -1
                w, rows = _move(counter, counter.seen[i], move)
                left_weight += w
                n_left += rows
            score = _score_left(
                (left_weight, n_left), (weight, count), counter, nodes, k, sign, rules
            )
            if score > best or (score == best and side == best_side and mask < place):
                best, place, best_side = score, np.int64(mask), side
    if best > 0.0:
        best *= known
    return best, place, best_side, n + (slot >= 0) < 2


@kernel
def scan_counts(codes, columns, row, nodes, rules, counter, found):
    """Find the best cut of every node on its own column of ordered codes.

    Parameters
    ----------
    codes : (columns, n) array of uint8, uint16 or uint32
    columns, row, nodes, rules : Columns, NodeRows, NodeSpans, SearchRules
    counter : CodeCounter
        Scratch; its stamps must not name a node of this batch.
    found : ColumnBest
        Filled with one entry per node. ``cut``: the last code on the left.
    """
    for k in range(len(nodes.start)):
        n = count_codes(codes, columns, row, nodes, k, counter)
        for i in range(n):
            counter.key[i] = np.float64(counter.seen[i])
        sort_seen(counter.seen, counter.key, n)
        found.score[k], place, found.missing_left[k], found.constant[k] = walk_codes(
            counter, n, columns, nodes, k, columns.sign[k], rules, False
        )
        found.cut[k] = counter.seen[place - 1] if place > 0 else np.int64(0)
