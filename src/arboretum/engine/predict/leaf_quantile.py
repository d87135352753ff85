"""Weighted quantiles of the training rows that share a leaf with a row, for all trees of a forest.

Nothing is sorted. The targets have ranks; a row's weights fall into coarse buckets of ranks first, and
only the bucket that contains a quantile is read again, rank by rank:

    coarse   .1   .3   .4   .2          ranks 0-3, 4-7, 8-11, 12-15
    q = .5             ↓
    fine               .0 .2 .1 .1      .1 + .3 + .0 + .2 ≥ .5: rank 9

With about √n buckets this takes a few passes over the weights, however the leaves overlap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel

__all__ = ["LeafGroups", "group_by_leaf", "leaf_quantiles"]

_ROUNDING = 5e-13  # so that 0.1 + 0.2 counts as 0.3, too


class LeafGroups(NamedTuple):
    """The training rows of every leaf of every tree, and their shares of the leaf's weight.

    The rows of leaf ``l`` of tree ``t`` are ``rows[t, start[a] : start[a + 1]]`` with ``a = first[t] + l``.
    """

    first: np.ndarray  # (n_trees,) int64
    start: np.ndarray  # (n_nodes + n_trees,) int64, one more than there are nodes for every tree
    rows: np.ndarray  # (n_trees, most rows of a bag) int32
    share: np.ndarray  # (n_trees, most rows of a bag) float64; the sum in every leaf is 1


@kernel(makes_arrays=True)
def group_by_leaf(leaf, weight, start, rows, share):
    """Sort the rows of positive weight by leaf; ``start`` has one entry more than there are nodes.

    leaf (n_rows,) int32; weight (n_rows,) float64; start (n_nodes + 1,) int64, written; rows (n_rows,)
    int32, written; share (n_rows,) float64, written.
    """
    n_nodes = len(start) - 1
    total = np.zeros(n_nodes)
    start[:] = 0
    for i in range(len(leaf)):
        if weight[i] > 0:
            start[leaf[i] + 1] += 1
            total[leaf[i]] += weight[i]
    for k in range(n_nodes):
        start[k + 1] += start[k]
    place = start.copy()
    for i in range(len(leaf)):
        if weight[i] > 0:
            k = place[leaf[i]]
            rows[k] = i
            share[k] = weight[i] / total[leaf[i]]
            place[leaf[i]] += 1


@subkernel
def _size(groups, leaf):
    """Return the number of training rows in the leaves of a row, over all trees.

    leaf (n_trees,) int32.
    """
    size = 0
    for t in range(len(leaf)):
        a = groups.first[t] + leaf[t]
        size += groups.start[a + 1] - groups.start[a]
    return size


@subkernel
def _gather(groups, leaf, rank, places, shares):
    """Write the ranks and shares of the training rows in the leaves of a row, tree after tree.

    leaf (n_trees,) int32; rank (n_training_rows,) int32; places (room,) int32, written; shares (room,)
    float64, written.
    """
    m = 0
    for t in range(len(leaf)):
        a = groups.first[t] + leaf[t]
        for k in range(groups.start[a], groups.start[a + 1]):
            places[m] = rank[groups.rows[t, k]]
            shares[m] = groups.share[t, k]
            m += 1


@subkernel
def _enlarge(places, shares, begin, fine):
    """Fill ``fine`` with the sums of the shares of the ranks from ``begin`` on.

    places (n_met,) int32; shares (n_met,) float64; fine (2**shift,) float64, written.
    """
    fine[:] = 0.0
    for k in range(len(places)):
        place = places[k] - begin
        if 0 <= place < len(fine):
            fine[place] += shares[k]


@subkernel
def _reach(mass, before, goal):
    """Return the first entry at which the sum reaches the goal, and the sum before it.

    Entries without weight are skipped; if rounding keeps the sum below the goal, the last entry is returned.

    mass (n_buckets,) float64.
    """
    found, ahead = 0, before
    for k in range(len(mass)):
        if mass[k] > 0:
            found, ahead = k, before
            before += mass[k]
            if before >= goal:
                break
    return found, ahead


@kernel(makes_arrays=True)
def leaf_quantiles(groups, leaves, rank, shift, wanted, out):
    """Fill ``out[i, j]`` with the smallest rank at which row i's weight reaches ``wanted[j]``.

    ``leaves`` is (rows, trees); ``rank`` is the rank of every training row's target, and ``1 << shift``
    ranks make a bucket.

    leaves (n_rows, n_trees) int32; rank (n_training_rows,) int32; wanted (n_wanted,) float64; out
    (n_rows, n_wanted) int64, written.
    """
    coarse = np.zeros((rank.max() >> shift) + 1)
    fine = np.zeros(1 << shift)
    places, shares = np.empty(0, np.int32), np.empty(0)
    for i in range(len(leaves)):
        size = _size(groups, leaves[i])
        if size > len(places):
            places, shares = np.empty(2 * size, np.int32), np.empty(2 * size)
        _gather(groups, leaves[i], rank, places, shares)
        coarse[:] = 0.0
        for k in range(size):
            coarse[places[k] >> shift] += shares[k]
        total = coarse.sum()
        shown = -1
        for j in range(len(wanted)):
            goal = (wanted[j] - _ROUNDING) * total
            bucket, before = _reach(coarse, 0.0, goal)
            if bucket != shown:
                _enlarge(places[:size], shares[:size], bucket << shift, fine)
                shown = bucket
            out[i, j] = (bucket << shift) + _reach(fine, before, goal)[0]
