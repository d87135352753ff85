"""What the rows of every leaf add up to, column by column and bin by bin, and the best cut of sums G and H.

Three sums at a time: written out they take 4 ns per row and column, where a loop over them takes 11. Rows
that stand together with others of their leaf find its sums in the cache.
"""

from __future__ import annotations

import math

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel

__all__ = ["add_by_leaf", "add_by_node", "best_cuts"]


@kernel
def add_by_leaf(codes, rows, leaf, values, sums):
    """Add ``values`` (rows, 3) to ``sums`` (leaves, columns, bins, 3), row after row.

    ``codes`` is (columns, rows of the table), int32; ``rows`` are those that are added, ``leaf`` theirs.

    codes (n_columns, n_rows) int32; rows, leaf (n_added,) int64; values (n_added, 3) float64; sums
    (n_leaves, n_columns, n_bins, 3) float64, added to.
    """
    for f in range(codes.shape[0]):
        for i in range(len(rows)):
            cell = sums[leaf[i], f, codes[f, rows[i]]]
            cell[0] += values[i, 0]
            cell[1] += values[i, 1]
            cell[2] += values[i, 2]


@kernel
def add_by_node(codes, some, rows, leaf, values, parent, place, sums, out):
    """Write what the rows of every inner node add up to in columns ``some[0] : some[1]``.

    ``out`` is (inner nodes, columns, bins, 3). A column at a time, so that the sums of its leaves, ``sums``
    (leaves, bins, 3), stay in the cache. Rows stand together by leaf; ``place`` is that of a node among the
    inner ones, or -1 - that among the leaves, and children stand behind their parents.

    codes (n_columns, n_rows) uint16; some (first, end) of columns; rows, leaf (n_added,) int64; values
    (n_added, 3) float64; parent, place (n_nodes,) int64; sums (n_leaves, n_bins, 3) float64, scratch;
    out (n_inner, n_columns, n_bins, 3) float64, written.
    """
    width = sums.shape[1]
    for f in range(some[0], some[1]):
        column = codes[f]
        for k in range(len(sums)):
            for b in range(width):
                sums[k, b, 0] = sums[k, b, 1] = sums[k, b, 2] = 0.0
        for i in range(np.uint64(len(rows))):
            at = np.uint64(leaf[i]), np.uint64(column[np.uint64(rows[i])])
            G, H, n = sums[at[0], at[1], 0], sums[at[0], at[1], 1], sums[at[0], at[1], 2]
            sums[at[0], at[1], 0] = G + values[i, 0]
            sums[at[0], at[1], 1] = H + values[i, 1]
            sums[at[0], at[1], 2] = n + values[i, 2]
        for k in range(len(out)):
            for b in range(width):
                out[k, f, b, 0] = out[k, f, b, 1] = out[k, f, b, 2] = 0.0
        for node in range(len(parent) - 1, 0, -1):
            target = out[place[parent[node]], f]
            source = out[place[node], f] if place[node] >= 0 else sums[-1 - place[node]]
            for b in range(width):
                target[b, 0] += source[b, 0]
                target[b, 1] += source[b, 1]
                target[b, 2] += source[b, 2]


@subkernel
def _rows_of(H, per_h):
    """Return how many rows an H stands for, as LightGBM counts them."""
    return math.floor(H * per_h + 0.5)


@kernel
def best_cuts(sums, total, rules, gain, place, missing_left, left):
    """Write the best admissible cut of every node and column; a gain of -inf: there is none.

    Of equals it is the first, and missing values on the right come first. A cut behind a bin without rows is
    the cut before it.

    Parameters
    ----------
    sums : (nodes, columns, bins + 1, 3) float64
        G, H and rows; missing values are the last bin.
    total : (nodes, 3) float64
    rules : tuple of float64
        λ; the least H and rows of a side; the least gain, and whether it may be just that; what of a node's
        own score is rounding.
    gain, place, missing_left : (nodes, columns)
    left : (nodes, columns, 3)
        G, H and rows on the left.
    """
    l2, min_weight, min_rows, min_gain, reach, rounding = rules
    last = sums.shape[2] - 1
    for k in range(len(sums)):
        G, H, n = total[k, 0], total[k, 1], total[k, 2]
        own, per_h = G * G / (H + l2), n / H if H > 0.0 else 0.0
        least = rounding * abs(own)
        for f in range(sums.shape[1]):
            bins, lacking = sums[k, f], sums[k, f, last]
            gaps, all_rows = lacking[2] > 0.0, 0.0
            if min_rows > 0.0:
                for b in range(last):
                    all_rows += _rows_of(bins[b, 1], per_h)
            top, at, goes = -np.inf, 0, False
            for side in range(2 if gaps else 1):
                add_G, add_H = (lacking[0], lacking[1]) if side else (0.0, 0.0)
                below_G, below_H, below_rows = 0.0, 0.0, 0.0
                for b in range(last):
                    below_G += bins[b, 0]
                    below_H += bins[b, 1]
                    if min_rows > 0.0:
                        below_rows += _rows_of(bins[b, 1], per_h)
                    if bins[b, 2] == 0.0:
                        continue
                    G_left, H_left = below_G + add_G, below_H + add_H
                    G_right, H_right = G - G_left, H - H_left
                    if min(H_left, H_right) < min_weight:
                        continue
                    if min_rows > 0.0:
                        rows = below_rows if gaps and not side else n - (all_rows - below_rows)
                        if min(rows, n - rows) < min_rows:
                            continue
                    new = G_left * G_left / (H_left + l2) + G_right * G_right / (H_right + l2) - own
                    enough = new > min_gain or (reach > 0.0 and new == min_gain)
                    if new > top and new > least and enough:
                        top, at, goes = new, b, side == 1
            gain[k, f], place[k, f], missing_left[k, f] = top, at, goes
            for c in range(3):
                left[k, f, c] = 0.0
                for b in range(at + 1):
                    left[k, f, c] += bins[b, c]
                if goes:
                    left[k, f, c] += lacking[c]
