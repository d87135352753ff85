"""Dividing categories: which of them go left?

Categories have no order; a search gives them one and cuts it, or tries all subsets:

    two classes, one number   by class rate / mean target: the best of all subsets lies in that order
                              (Fisher 1958; Breiman et al. 1984)
    more channels, <= 10      every subset of the categories at the node
    more channels, beyond     by the first principal component of the categories' class shares
                              (Coppersmith, Hong and Hosking 1999): very good, not always best
"""

import math

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.counts import count_codes, known_part, sort_seen, walk_codes
from arboretum.engine.split.score import free_categories

__all__ = ["EXHAUSTIVE", "choose_categories", "rank_categories", "scan_categories"]

EXHAUSTIVE = 10  # with so many categories in a node every subset is tried


@subkernel
def _principal_axis(counter, n, total, weight, axis, step):
    """Power iteration for the first principal component of the categories' mean channels.

    total (n_channels,) int64; axis (n_channels,) float64, written; step (n_channels,) float64, scratch.
    """
    channels = len(axis)
    for c in range(channels):
        axis[c] = 1.0 + c  # any start that is not orthogonal to the answer
    for _ in range(50):
        for c in range(channels):
            step[c] = 0.0
        for i in range(n):
            code = counter.seen[i]
            w = np.float64(max(counter.weights[code], 1))
            along = 0.0
            for c in range(channels):
                along += axis[c] * (counter.sums[code, c] / w - total[c] / weight)
            for c in range(channels):
                step[c] += w * along * (counter.sums[code, c] / w - total[c] / weight)
        norm = 0.0
        for c in range(channels):
            norm += step[c] * step[c]
        if norm <= 0.0:
            break
        norm = math.sqrt(norm)
        for c in range(channels):
            axis[c] = step[c] / norm


@subkernel
def _one_axis(channels, outputs, labels):
    """Tell whether one number orders the categories best: one target, or two classes."""
    return channels == 1 or (channels == 2 and labels and outputs == 1)


@subkernel(makes_arrays=True)
def _order(counter, n, total, weight, one_axis, subsets):
    """Put the categories met into the order they are cut (by code if every subset is tried).

    total (n_channels,) int64.
    """
    channels = len(total)
    axis, step = np.zeros(channels), np.zeros(channels)
    axis[channels - 1] = 1.0
    if not one_axis and not subsets:
        _principal_axis(counter, n, total, np.float64(weight), axis, step)
    for i in range(n):
        code = counter.seen[i]
        w = np.float64(max(counter.weights[code], 1))
        along = 0.0
        for c in range(channels):
            along += axis[c] * (counter.sums[code, c] / w)
        counter.key[i] = np.float64(code) if subsets else along
    sort_seen(counter.seen, counter.key, n)


@kernel(makes_arrays=True)
def scan_categories(codes, rows, row, nodes, columns, rules, table, counter, chance, loner, found):
    """Find the best division of every node on its own category column; see `scan_counts`.

    ``found.cut``: how many categories go left, in their order, or a bit mask of them where every
    subset was tried. ``found.charge``: what of the score is held to be chance, ``chance[k]`` for every
    category that gains by its order (`free_categories`).

    codes (n_columns, n_rows) uint8 or uint32; rows (n_rows,) int64 or uint32; table (n_kept,) float64;
    chance (n_nodes,) float64.
    """
    min_leaf, skip_missing, criterion, outputs, labels = rules
    single = _one_axis(nodes.total.shape[1], outputs, labels)
    limits = (min_leaf, criterion, outputs, np.int8(0), labels)
    for k in range(len(nodes.start)):
        missing_code = columns.n_codes[k]
        n = count_codes(
            codes,
            columns.slot[k],
            rows,
            row,
            nodes.start[k],
            nodes.end[k],
            missing_code,
            k,
            counter,
        )
        subsets = not single and n <= EXHAUSTIVE
        _order(counter, n, nodes.total[k], nodes.weight[k], single, subsets)
        weight, count, known, slot = known_part(counter, nodes, k, missing_code, skip_missing)
        found.constant[k] = n + (slot >= 0) < 2
        best, place, side = REFUSED, np.int64(0), 0
        if n > 0:
            best, place, side = walk_codes(
                counter, n, slot, weight, count, nodes, k, limits, table, subsets
            )
        if best > 0.0:
            best *= known
        found.score[k], found.cut[k], found.missing_left[k] = best, place, side
        found.charge[k] = chance[k] * free_categories(n, nodes.end[k] - nodes.start[k], loner)


@kernel(makes_arrays=True)
def choose_categories(codes, rows, row, nodes, columns, rules, cut, exhaustive, counter, takes):
    """Write where each category goes to ``takes`` (nodes, most codes): 1 left, 0 right, 2 not met.

    codes (n_columns, n_rows) uint8 or uint32; rows (n_rows,) int64 or uint32; rules
    (min_leaf, skip_missing, criterion, outputs, labels) numbers; cut (n_nodes,) int64; takes
    (n_nodes, most codes) uint8, written.
    """
    single = _one_axis(nodes.total.shape[1], rules[3], rules[4])
    for k in range(len(nodes.start)):
        for c in range(takes.shape[1]):
            takes[k, c] = 2
        n = count_codes(
            codes, columns.slot[k], rows, row, nodes.start[k], nodes.end[k], columns.n_codes[k], k,
            counter,
        )  # fmt: skip
        subsets = exhaustive and not single and n <= EXHAUSTIVE
        _order(counter, n, nodes.total[k], nodes.weight[k], single, subsets)
        for i in range(n):
            goes = (cut[k] >> i) & 1 if subsets else np.int64(i < cut[k])
            takes[k, counter.seen[i]] = goes


@kernel(makes_arrays=True)
def rank_categories(codes, rows, row, nodes, columns, rules, counter, rank):
    """Write each category's place in its node's order to ``rank`` (nodes, most codes).

    codes (n_columns, n_rows) unsigned; rows (n_rows,) uint32; rules
    (min_leaf, skip_missing, criterion, outputs, labels) numbers; rank (n_nodes, most codes) int32,
    written.
    """
    single = _one_axis(nodes.total.shape[1], rules[3], rules[4])
    for k in range(len(nodes.start)):
        n = count_codes(
            codes, columns.slot[k], rows, row, nodes.start[k], nodes.end[k], columns.n_codes[k], k,
            counter,
        )  # fmt: skip
        if columns.categorical[k]:
            _order(counter, n, nodes.total[k], nodes.weight[k], single, False)
            for i in range(n):
                rank[k, counter.seen[i]] = i
