"""Which rows share leaves: counting over the trees of a forest, row by row.

Rows are grouped by leaf, tree by tree. The neighbours of a row are found by going through the members of its
leaf in every tree. A counter per row has the number of shared leaves; a list has the counters in use:

    tree 0   leaf of row 5: rows 2 5 9      counters   2: 2   5: 2   7: 1   9: 1
    tree 1   leaf of row 5: rows 2 5 7      touched    2 5 9 7

If a leaf holds a large part of all rows, every row's leaf number is compared with it instead, in a plain loop
that the processor runs for many rows at a time. So a row never costs more than (rows × trees) such
comparisons, however shallow the trees are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel, subkernel

__all__ = ["ProximityGroups", "guess_values", "nearest_rows", "share_rows"]

_SWEEP = 16  # leaves with more than a sixteenth of all rows are handled by comparing


class ProximityGroups(NamedTuple):
    """The rows of a table, grouped by leaf in every tree."""

    leaf: np.ndarray  # (n_trees, n_members) int32: the leaf of a row, -1 where it does not count
    first: np.ndarray  # (n_trees + 1,) int64: where a tree's part of `start` begins
    start: (
        np.ndarray
    )  # (n_leaf_starts,) int64: where the members of a leaf begin in `row`, and the end
    row: np.ndarray  # (n_grouped,) int32: the members
    away: (
        np.ndarray
    )  # (n_members, n_words) uint64: bits of the trees that count for a row; no words: all


@subkernel
def _count(mine, groups, counts, touched):
    """Count in how many trees each row is in the leaf ``mine[t]``; return the number of such rows.

    mine (n_trees,) int32; counts (n_members,) int32, added to; touched (n_members,) int32, written.
    """
    n, met, swept = groups.leaf.shape[1], 0, False
    for t in range(len(mine)):
        here, begin = np.int64(mine[t]), groups.first[t]
        if here < 0 or here + 1 >= groups.first[t + 1] - begin:
            continue  # a tree that does not count, or a leaf without members
        lo, hi = groups.start[begin + here], groups.start[begin + here + 1]
        if (hi - lo) * _SWEEP > n:
            leaves, wanted = groups.leaf[t], mine[t]
            for j in range(n):
                counts[j] += np.int32(leaves[j] == wanted)
            swept = True
            continue
        for p in range(lo, hi):
            j = groups.row[p]
            if counts[j] == 0:
                touched[met] = j
                met += 1
            counts[j] += 1
    if swept:  # rows that were counted without being listed
        met = 0
        for j in range(n):
            if counts[j]:
                touched[met] = j
                met += 1
    return met


@inline
def _ones(word):
    """Return how many bits of a 64-bit word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    low = word & np.uint64(0x3333333333333333)
    word = low + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@subkernel
def _asked(away, others, j, n_trees):
    """Return the number of trees that count for both a row and row j of the others.

    away (n_words,) uint64; others (n_members, n_words) uint64.
    """
    if others.shape[1] == 0:
        return n_trees
    total = 0
    for w in range(len(away)):
        total += _ones(away[w] & others[j, w])
    return total


@kernel(makes_arrays=True)
def share_rows(mine, away, groups, out):
    """Write the share of the trees in which a row and each member row share a leaf, (rows, members).

    ``mine`` is (rows, trees), -1 where a tree does not count; ``away`` has its bits, as in the groups.

    mine (n_rows, n_trees) int32; away (n_rows, n_words) uint64; out (n_rows, n_members) float64,
    written.
    """
    n = groups.leaf.shape[1]
    counts, touched = np.zeros(n, np.int32), np.empty(n, np.int32)
    for i in range(len(mine)):
        for j in range(n):
            out[i, j] = 0.0
        for k in range(_count(mine[i], groups, counts, touched)):
            j = touched[k]
            out[i, j] = counts[j] / _asked(away[i], groups.away, j, mine.shape[1])
            counts[j] = 0


@inline
def _behind(share, row, other_share, other_row):
    """Return whether a row comes after another: a smaller share, or the same and a larger number."""
    return share < other_share or (share == other_share and row > other_row)


@subkernel
def _sink(share, row, size):
    """Move the first entry of a heap to its place; the entry that comes after all others is at the top.

    share (k,) float64, reordered; row (k,) int32, reordered.
    """
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and _behind(share[child + 1], row[child + 1], share[child], row[child]):
            child += 1
        if not _behind(share[child], row[child], share[at], row[at]):
            return
        share[at], share[child] = share[child], share[at]
        row[at], row[child] = row[child], row[at]
        at = child


@kernel(makes_arrays=True)
def nearest_rows(mine, away, groups, itself, share, row):
    """Write the nearest member rows of every row and their shares, unsorted; share 0: no further rows.

    ``itself[i]`` is the member that is left out for row i, or -1. Among equals the lower number is nearer.

    mine (n_rows, n_trees) int32; away (n_rows, n_words) uint64; itself (n_rows,) int64; share
    (n_rows, k) float64, written; row (n_rows, k) int32, written.
    """
    n, k = groups.leaf.shape[1], share.shape[1]
    counts, touched = np.zeros(n, np.int32), np.empty(n, np.int32)
    for i in range(len(mine)):
        for place in range(k):
            share[i, place], row[i, place] = 0.0, n
        for m in range(_count(mine[i], groups, counts, touched)):
            j = touched[m]
            if j != itself[i]:
                near = counts[j] / _asked(away[i], groups.away, j, mine.shape[1])
                if _behind(share[i, 0], row[i, 0], near, j):
                    share[i, 0], row[i, 0] = near, j
                    _sink(share[i], row[i], k)
            counts[j] = 0


@kernel(makes_arrays=True)
def guess_values(mine, groups, donors, n_codes, cell_start, cell_column, guess, near):
    """Guess missing cells from the member rows that share leaves with their row.

    Row i has missing values in the columns ``cell_column[cell_start[i] : cell_start[i + 1]]``. ``donors`` is
    (columns, members), NaN where a value is missing; ``n_codes`` is 0 for a numeric column, whose
    guesses are means weighted by shared leaves. For codes, the code of largest weight is the guess, the
    smallest of equals. ``near`` is the weight behind a guess: 0 if no member with a value is near.

    mine (n_rows, n_trees) int32; donors (n_columns, n_members) float64; n_codes (n_columns,) int64;
    cell_start (n_rows + 1,) int64; cell_column (n_cells,) int64; guess (n_cells,) float64, written;
    near (n_cells,) int64, written.
    """
    n = groups.leaf.shape[1]
    counts, touched = np.zeros(n, np.int32), np.empty(n, np.int32)
    votes = np.zeros(max(1, n_codes.max()), np.int64)
    for i in range(len(mine)):
        met = _count(mine[i], groups, counts, touched)
        for cell in range(cell_start[i], cell_start[i + 1]):
            values, codes = donors[cell_column[cell]], n_codes[cell_column[cell]]
            weight, total = 0, 0.0
            votes[:codes] = 0
            for m in range(met):
                j = touched[m]
                x = values[j]
                if x == x:
                    weight += counts[j]
                    if codes:
                        votes[np.int64(x)] += counts[j]
                    else:
                        total += counts[j] * x
            near[cell] = weight
            if codes:
                guess[cell] = np.argmax(votes[:codes])
            elif weight:
                guess[cell] = total / weight
        for m in range(met):
            counts[touched[m]] = 0
