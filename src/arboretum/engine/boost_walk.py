"""Rows that walk down a grown tree by their codes."""

from __future__ import annotations

import numpy as np

from arboretum.engine.jit import kernel

__all__ = ["walk_codes"]


@kernel
def walk_codes(codes, features, tree, rows, start, end, out):
    """Write the leaf that rows reach by their codes; ``rows`` may be empty: row i is i.

    ``tree`` is (first child, feature, last bin on the left, missing left?, by set?, members).
    """
    child, feature, last, missing_left, by_set, members = tree
    gone = np.int64(np.iinfo(codes.dtype).max)
    for i in range(start, end):
        row = np.uint64(rows[i]) if len(rows) else np.uint64(i)
        node = np.int64(0)
        while child[node] >= 0:
            f = feature[node]
            code, default = (
                np.int64(codes[np.uint64(features.storage[f]), row]),
                features.default_bin[f],
            )
            missing = code == gone
            if default >= 0:  # bundled: the stored bins, without the default one
                missing = False
                at = code - features.offset[f]
                inside = at >= 0 and at < features.n_bins[f] - 1
                code = at + np.int64(at >= default) if inside else np.int64(default)
            if missing:
                left = missing_left[node] and not by_set[node]
            elif by_set[node]:
                left = (members[node, code >> 5] >> np.uint32(code & 31)) & np.uint32(1) > 0
            else:
                left = code <= last[node]
            node = child[node] + np.int64(not left)
        out[i - start] = node
