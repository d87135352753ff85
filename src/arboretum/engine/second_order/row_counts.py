"""How many of a node's rows are in every bin of a column, counted from the codes.

Histograms hold no counts: that would be a third sum beside g and h. From Σh the rows can only be estimated
(`rows_of`), which is far off where h differs between rows. scikit-learn limits rows exactly, so under its
rules the rows of a column are counted, but only if one of its cuts is better than those of all columns
before, and Σh does not prove that both sides have enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import inline, subkernel
from arboretum.engine.second_order.nodes import GrowingTree, Store, missing_code
from arboretum.engine.second_order.pack import MOST_H

__all__ = ["RowsOfNode", "count_rows", "surely_enough"]

_ROW = np.uint64(32)


class RowsOfNode(NamedTuple):
    """Where the rows of a node are."""

    store: Store
    tree: GrowingTree
    node: int


@subkernel
def _count_codes(codes, column, entries, start, end, table):
    """Count the codes of the entries start:end in a column.

    codes (n_columns, n_rows) uint8 or uint16; entries (n_entries,) uint64; table (n_codes,) int64, added to.
    """
    for i in range(np.uint64(start), np.uint64(end)):
        table[codes[np.uint64(column), entries[i] >> _ROW]] += 1


@subkernel
def count_rows(f, features, rows, scratch):
    """Write how many of the rows every bin of a feature has, missing values last, to ``scratch.counts``."""
    store, tree, number = rows.store, rows.tree, rows.node
    node, column, narrow = tree.nodes[number], features.storage[f], len(store.codes)
    entries, table, found = tree.lists[node.depth & 1], scratch.small, scratch.counts
    for k in range(tree.ranges.shape[1]):
        piece = tree.ranges[number, k]
        if column < narrow:
            _count_codes(store.codes, column, entries, piece.start, piece.end, table)
        else:
            _count_codes(store.wide, column - narrow, entries, piece.start, piece.end, table)
    n, default, last = features.n_bins[f], features.default_bin[f], missing_code(store, column)
    at, rest = features.offset[f], node.rows
    for b in range(n):
        if b != default:
            found[b] = table[at]
            rest -= table[at]
            at += 1
    if default < 0:
        found[n] = table[last]
    else:  # a bundle: rows of all other codes
        found[n] = 0
        found[default] = rest
    for code in range(last + 1):
        table[code] = 0


@inline
def surely_enough(left_h, node, rules):
    """Return whether both sides of a split must have ``min_rows``: no row has more h than ``MOST_H``."""
    return min(left_h, node.h - left_h) >= rules.min_rows * MOST_H
