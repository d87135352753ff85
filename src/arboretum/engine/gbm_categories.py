"""Categories in order: a column without an order of its own gets one for every level.

In a node the best division of categories lies in the order of their mean residuals (Fisher 1958). So rows are
laid out by the place their category has in their own node, and the scan (gbm_scan.py) reads the column as
if it were a number:

    node a    red -.3 < blue .1 < green .8        entries    a red, b green | a blue, b red | a green
    node b    green -.5 < red .2                                 place 0         place 1       place 2

Missing values, and categories that no row in the bag of the node has, stand at the end.
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.gbm_scan import SHIFT, SLOT
from arboretum.engine.jit import kernel, leaf_kernel
from arboretum.engine.order import MISSING, NEW

__all__ = ["order_categories"]


@leaf_kernel
def _place(codes, node, slot_of, rank, i):
    """Return where row i stands; behind all places if its node has not met its category."""
    m, n_codes = rank.shape
    k, c = np.int64(slot_of[np.uint64(node[i])]), np.int64(codes[i])
    if k >= m:
        return 0  # in no node that is searched: anywhere
    if c >= n_codes or rank[k, c] < 0:
        return n_codes
    return rank[k, c]


@kernel
def order_categories(codes, rows, words, node, slot_of, rank, start, entries):
    """Lay out the rows by category; return how many have a category their node has met.

    Parameters
    ----------
    codes : uint32 array
        Of every row; as many as there are categories means missing.
    rows : tuple
        (weight on its grid, whole), as in `pack_rows`.
    words : int64 array
        As `pack_rows` wrote them; rows out of the bag have no say in the order.
    node, slot_of : arrays
        Node of every row, and which of the nodes searched that is.
    rank : (nodes, categories) int64 array
        Filled with the place of every category; -1 if the node has not met it.
    start : (categories + 1,) int64 array
        Filled with where each place begins among the entries.
    entries : uint32 array
        Filled like a sorted column, see order.py.
    """
    row_weight, whole = rows
    m, n_codes = rank.shape
    sums, weights = np.zeros((m, n_codes)), np.zeros((m, n_codes))
    for i in range(len(codes)):
        k, c = np.int64(np.uint64(words[i]) & SLOT), np.int64(codes[i])
        if k < m and c < n_codes:
            w = row_weight[i] if len(row_weight) else np.int64(1)
            sums[k, c] += np.float64((words[i] >> SHIFT) * (w if whole else np.int64(1)))
            weights[k, c] += max(w, 1)
    for k in range(m):
        key = np.where(weights[k] > 0, sums[k] / np.maximum(weights[k], 1.0), np.inf)
        order = np.argsort(key, kind="mergesort")
        for place in range(n_codes):
            rank[k, order[place]] = place if weights[k, order[place]] > 0 else -1
    start[:] = 0
    for i in range(len(codes)):
        place = _place(codes, node, slot_of, rank, i)
        if place + 1 < len(start):
            start[place + 1] += 1
    for place in range(n_codes):
        start[place + 1] += start[place]
    present = start[n_codes]
    room = np.empty(n_codes + 1, np.int64)
    room[:] = start
    for i in range(len(codes)):
        place = _place(codes, node, slot_of, rank, i)
        first = room[place] == start[place] if place < n_codes else room[place] == present
        mark = NEW if first else np.uint32(0)
        entries[room[place]] = np.uint32(i) | mark | (MISSING if place == n_codes else np.uint32(0))
        room[place] += 1
    return present
