"""Counting codes when one sum per side decides: the quick form of counts.py.

Per code the node's rows, weight and sum are added up in small tables that stay in the nearest cache;
a walk over them meets every cut. Pays where a node has more rows than the column has codes.
"""

import numpy as np

from arboretum.engine.compiler.decorators import inline, kernel
from arboretum.engine.split.best import REFUSED
from arboretum.engine.split.score import breaks_order, moment_score

__all__ = ["scan_counts_moment"]


@inline
def _fill(codes, index, rows, row, start, end, size, counts, weights, sums):
    """Add up every code < size of one node.

    codes (n_columns, n_rows) uint8 or uint16; rows (n_rows,) uint32; counts, weights, sums
    (at least size,) int64, written.
    """
    for c in range(size):
        counts[c] = 0
        weights[c] = 0
        sums[c] = 0
    if len(row.weight):
        for p in range(start, end):
            c = codes[index, rows[p]]
            counts[c] += 1
            weights[c] += row.weight[p]
            sums[c] += np.int64(row.number[p, 0])
    else:
        for p in range(start, end):
            c = codes[index, rows[p]]
            counts[c] += 1
            sums[c] += np.int64(row.number[p, 0])
        for c in range(size):
            weights[c] = counts[c]


@kernel(makes_arrays=True)
def scan_counts_moment(codes, rows, row, nodes, columns, rules, table, found):
    """Find the best cut of every node on its own column of ordered codes.

    ``rules`` as for `search_moment`; ``found.cut``: the last code on the left.

    codes (n_columns, n_rows) uint8 or uint16; rows (n_rows,) uint32; table (n_kept,) float64.
    """
    min_leaf, skip_missing, form, bounded = rules
    most = 1
    for k in range(len(nodes.start)):
        most = max(most, columns.n_codes[k] + 1)
    counts, weights, sums = (
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
    )
    for k in range(len(nodes.start)):
        missing_code = columns.n_codes[k]
        _fill(
            codes, columns.slot[k], rows, row, nodes.start[k], nodes.end[k], missing_code + 1,
            counts, weights, sums,
        )  # fmt: skip
        missing = counts[missing_code]
        count, all_weight = nodes.end[k] - nodes.start[k], np.float64(nodes.weight[k])
        weight, total = nodes.weight[k], nodes.total[k, 0]
        if skip_missing:
            count, weight, total = (
                count - missing,
                weight - weights[missing_code],
                total - sums[missing_code],
            )
        w, t = np.float64(weight), np.float64(total)
        least = max(nodes.min_weight[k], 1)
        best, cut, best_side, met = REFUSED, np.int64(0), 0, 0
        for side in range(2 if missing and not skip_missing else 1):
            n_left, left_weight, left = (
                counts[missing_code] * side,
                weights[missing_code] * side,
                sums[missing_code] * side,
            )
            met = 0
            for c in range(missing_code):
                if counts[c] == 0:
                    continue
                met += 1
                n_left += counts[c]
                left_weight += weights[c]
                left += sums[c]
                if n_left < min_leaf or count - n_left < min_leaf or n_left == count:
                    continue
                if left_weight < least or weight - left_weight < least:
                    continue
                score = moment_score(
                    np.float64(left),
                    np.float64(left_weight),
                    np.float64(total - left),
                    t,
                    w,
                    form,
                    table,
                )
                if score > best and not (
                    bounded
                    and breaks_order(
                        np.float64(left), np.float64(left_weight), t, w, columns.sign[k],
                        nodes.lower[k], nodes.upper[k],
                    )
                ):  # fmt: skip
                    best, cut, best_side = score, np.int64(c), side
        found.constant[k] = met + (missing > 0 and not skip_missing) < 2
        if best > 0.0:
            best *= w / all_weight
        found.score[k], found.cut[k], found.missing_left[k] = best, cut, best_side
