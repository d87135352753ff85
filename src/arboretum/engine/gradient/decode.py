"""A grown tree of codes: rows that walk down it, and its nodes in terms of values."""

from __future__ import annotations

import numpy as np

from arboretum.engine.gradient.nodes import LEFT, missing_code
from arboretum.engine.gradient.split import BIN, CATEGORIES, FEATURE, GAIN, KIND, MISSING_LEFT
from arboretum.engine.jit import kernel

__all__ = ["decode_nodes", "decode_sets", "walk_codes"]

_LEAF, _THRESHOLD, _SUBSET = 0, 1, 2  # kinds of nodes (tree/tree.py)


@kernel
def walk_codes(store, features, tree, rows, start, end, out):
    """Write the leaf that rows reach by their codes; ``rows`` may be empty: row i is i.

    ``tree`` is (first child, feature, last bin on the left, missing left?, by set?, members).
    """
    child, feature, last, missing_left, by_set, members = tree
    codes, wide = store.codes, store.wide
    for i in range(start, end):
        row = np.uint64(rows[i]) if len(rows) else np.uint64(i)
        node = np.int64(0)
        while child[node] >= 0:
            f = feature[node]
            column, default = features.storage[f], features.default_bin[f]
            if column < len(codes):
                code = np.int64(codes[np.uint64(column), row])
            else:
                code = np.int64(wide[np.uint64(column - len(codes)), row])
            missing = code == missing_code(store, column)
            if default >= 0:  # bundled: the stored bins, without the default one
                missing = False
                at = code - features.offset[f]
                inside = at >= 0 and at < features.n_bins[f] - 1
                code = at + np.int64(at >= default) if inside else np.int64(default)
            if missing:
                left = missing_left[node]
            elif by_set[node]:
                left = (members[node, code >> 5] >> np.uint32(code & 31)) & np.uint32(1) > 0
            else:
                left = code <= last[node]
            node = child[node] + np.int64(not left)
        out[i - start] = node


@kernel
def decode_nodes(ints, floats, n_bins, bounds, bounds_start, tree):
    """Write the nodes of a grown tree as a `Tree` has them; category sets are left out."""
    kind, feature, threshold, first_child, n_children, missing_child, gain = tree
    for node in range(len(ints)):
        kind[node], feature[node], threshold[node], gain[node] = _LEAF, -1, np.nan, 0.0
        first_child[node], n_children[node], missing_child[node] = -1, 0, -1
        if ints[node, LEFT] < 0:
            continue
        f, b, by_set = ints[node, FEATURE], ints[node, BIN], ints[node, KIND] == CATEGORIES
        feature[node], gain[node] = f, floats[node, GAIN]
        first_child[node], n_children[node] = ints[node, LEFT], 2
        missing_child[node] = 0 if ints[node, MISSING_LEFT] > 0 else 1
        kind[node] = _SUBSET if by_set else _THRESHOLD
        if not by_set:
            threshold[node] = bounds[bounds_start[f] + b] if b < n_bins[f] - 1 else np.inf


@kernel
def decode_sets(sets, place, feature, members, n_bins, category_of, category_start, bits):
    """Write the category codes that go left at the nodes ``sets``, bit by bit, from ``place`` on."""
    for k in range(len(sets)):
        node = sets[k]
        f = feature[node]
        for b in range(n_bins[f]):
            if (members[node, b >> 5] >> np.uint32(b & 31)) & np.uint32(1):
                code = np.int64(category_of[category_start[f] + b])
                bits[place[k] + (code >> 5)] |= np.uint32(1) << np.uint32(code & 31)
