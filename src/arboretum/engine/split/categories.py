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
from arboretum.engine.split.counts import count_codes, sort_seen, walk_codes
from arboretum.engine.split.score import ABSOLUTE, free_categories

__all__ = ["EXHAUSTIVE", "choose_categories", "rank_categories", "scan_categories"]

EXHAUSTIVE = 10  # with at most this many categories in a node every subset is tried


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


@subkernel(makes_arrays=True)
def _order_categories(codes, columns, row, nodes, k, counter, rules, exhaustive):
    """Count the categories of node k and put them into the order they are cut.

    Returns how many there are, and whether every subset is to be tried: they then stand in the order of
    their codes.

    codes (n_columns, n_rows) uint8, uint16 or uint32.
    """
    n, total = count_codes(codes, columns, row, nodes, k, counter), nodes.total[k]
    channels = len(total)
    # one target or two classes: one number orders them best
    one_axis = channels == 1 or (channels == 2 and len(row.label) > 0 and rules.outputs == 1)
    subsets = exhaustive and not one_axis and 0 < n <= EXHAUSTIVE
    axis, step = np.zeros(channels), np.zeros(channels)
    axis[channels - 1] = 1.0
    if not one_axis and not subsets:
        _principal_axis(counter, n, total, np.float64(nodes.weight[k]), axis, step)
    for i in range(n):
        code = counter.seen[i]
        w = np.float64(max(counter.weights[code], 1))
        along = 0.0
        for c in range(channels):
            along += axis[c] * (counter.sums[code, c] / w)
        counter.key[i] = np.float64(code) if subsets else along
    sort_seen(counter.seen, counter.key, n)
    return n, subsets


@kernel(makes_arrays=True)
def scan_categories(codes, columns, row, nodes, rules, counter, chance, loner, found):
    """Find the best division of every node on its own category column; see `scan_counts`.

    ``found.cut``: how many categories go left, in their order, or a bit mask of them where every
    subset was tried. ``found.charge``: the part of the score held to be chance, ``chance[k]`` for every
    category that gains by its order (`free_categories`).

    codes (n_columns, n_rows) uint8, uint16 or uint32; chance (n_nodes,) float64.
    """
    for k in range(len(nodes.start)):
        n, subsets = _order_categories(codes, columns, row, nodes, k, counter, rules, True)
        best, place, side, constant = walk_codes(
            counter, n, columns, nodes, k, np.int8(0), rules, subsets
        )
        found.score[k], found.cut[k], found.missing_left[k] = best, place, side
        found.constant[k] = constant
        found.charge[k] = chance[k] * free_categories(n, nodes.end[k] - nodes.start[k], loner)


@kernel(makes_arrays=True)
def choose_categories(codes, columns, row, nodes, rules, cut, counter, takes):
    """Write where each category goes to ``takes`` (nodes, most codes): 1 left, 0 right, 2 not in the node.

    codes (n_columns, n_rows) uint8, uint16 or uint32; cut (n_nodes,) int64; takes (n_nodes, most codes)
    uint8, written.
    """
    for k in range(len(nodes.start)):
        for c in range(takes.shape[1]):
            takes[k, c] = 2
        n, subsets = _order_categories(
            codes, columns, row, nodes, k, counter, rules, rules.criterion != ABSOLUTE
        )
        for i in range(n):
            goes = (cut[k] >> i) & 1 if subsets else np.int64(i < cut[k])
            takes[k, counter.seen[i]] = goes


@kernel(makes_arrays=True)
def rank_categories(codes, columns, row, nodes, rules, counter, rank):
    """Write each category's place in its node's order to ``rank`` (nodes, most codes).

    codes (n_columns, n_rows) uint8, uint16 or uint32; rank (n_nodes, most codes) int32, written.
    """
    for k in range(len(nodes.start)):
        if columns.categorical[k]:
            n, _ = _order_categories(codes, columns, row, nodes, k, counter, rules, False)
            for i in range(n):
                rank[k, counter.seen[i]] = i
