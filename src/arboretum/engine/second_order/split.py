"""The best split of a node, found in its histograms feature by feature.

histogram of a column ──► bins of a feature ──► cuts of a number      numbers.py
                                            └─► sets of categories    categories.py
                                                      └──► the best so far is kept, the first of equals
"""

from __future__ import annotations

import numpy as np

from arboretum.engine.compiler.decorators import inline, subkernel
from arboretum.engine.second_order.categories import scan_categories
from arboretum.engine.second_order.histogram import FULL, LOW32
from arboretum.engine.second_order.numbers import scan_number, scan_packed

__all__ = ["best_of", "load_bins"]


@inline
def load_bins(hist, starts, f, features, node, scratch):
    """Copy a feature's bins, with missing values after them; return the number of bins.

    hist (n_sums,) int64; starts (n_columns + 1,) int64.
    """
    n, s, first = np.int64(features.n_bins[f]), features.storage[f], features.offset[f]
    g, h = scratch.g, scratch.h
    packed, start, bins = len(hist) == starts[len(starts) - 1], starts[s], starts[s + 1] - starts[s]
    at = start if packed else 2 * start
    low, high = hist[at : at + bins], hist[at : at + bins]
    if not packed:
        high = hist[at + bins : at + 2 * bins]
    if features.default_bin[f] < 0:
        last = bins - 1
        if packed:
            for b in range(n):
                g[b], h[b] = low[b] >> 32, low[b] & LOW32
            g[n], h[n] = low[last] >> 32, low[last] & LOW32
        else:
            for b in range(n):
                g[b], h[b] = low[b], high[b]
            g[n], h[n] = low[last], high[last]
        return n
    rest_g, rest_h, at, default = node.g, node.h, first, features.default_bin[f]
    for b in range(n):
        if b == default:
            continue
        g[b] = low[at] >> 32 if packed else low[at]
        h[b] = low[at] & LOW32 if packed else high[at]
        rest_g -= g[b]
        rest_h -= h[b]
        at += 1
    g[n], h[n] = 0, 0
    g[default], h[default] = rest_g, rest_h  # bin n: missing values
    return n


@inline
def _pack(hist, start, bins, both):
    """Pack Σg and Σh of every bin of a column, missing values last, into one number.

    hist (n_sums,) int64; both (bins,) int64, written.
    """
    for b in range(bins):
        both[b] = (hist[2 * start + b] << 32) + hist[2 * start + bins + b]


@subkernel
def best_of(hist, starts, columns, features, node, rules, rows, scratch):
    """Find the best split among some columns; the first of equals is kept.

    ``rows``: where the node's rows are (row_counts.py).

    hist (n_sums,) int64; starts (n_columns + 1,) int64; columns (n_searched,) int64.
    """
    scratch.best[0].gain, scratch.best[0].feature = -np.inf, -1
    packed = len(hist) == starts[len(starts) - 1]
    fits = node.is_plain and node.rows <= FULL  # both sums in one number
    for f in columns:
        sign = np.float64(features.monotone[f]) if len(features.monotone) else 0.0
        number = not features.is_category[f] and features.default_bin[f] < 0
        if number and fits and sign == 0.0:
            column = features.storage[f]
            start, bins = starts[column], starts[column + 1] - starts[column]
            sums = hist[start : start + bins] if packed else scratch.g[:bins]
            if not packed:
                _pack(hist, start, bins, sums)
            n = np.int64(features.n_bins[f])
            scan_packed(f, n, sums, sums[bins - 1], node, features, rules, rows, scratch)
            continue
        n = load_bins(hist, starts, f, features, node, scratch)
        if features.is_category[f]:
            scan_categories(f, n, node, features, rules, rows, scratch)
        else:
            scan_number(f, n, node, sign, features, rules, rows, scratch)
