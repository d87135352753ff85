"""SHAP values against other rows: what changes when the values of another row are replaced by those of a row.

For two rows x and b, SHAP values need the prediction for every mixture: the columns of a set S from x, the
others from b. A tree need not be walked 2^d times: where x and b take the same branch, so do all mixtures;
where they diverge, mixtures with the column from x go one way, and those with it from b the other:

        f3?                        path to a leaf     columns that must be from x: p,  from b: n
      x /  \\ b                    the value v of a leaf gives
     f1?    leaf                     to each of the p     + v (p-1)! n! / (p+n)!
    x,b \\                           to each of the n     - v p! (n-1)! / (p+n)!
        leaf

so only leaves that some mixture reaches are visited. Pairs of columns get half of v (p-2)! n! / (p+n-1)!
(both from x), of v p! (n-2)! / (p+n-1)! (both from b), or of - v (p-1)! (n-1)! / (p+n-1)! (one from each).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.predict.walk import next_node

__all__ = ["Contrast", "contrast_trees"]


class Contrast(NamedTuple):
    """Scratch arrays for a pair of rows."""

    side: (
        np.ndarray
    )  # (columns,) int8, the row that a column must be from: 0 either, 1 the row, 2 the other
    chosen: np.ndarray  # (depth,) int32, columns that are decided on the path, in order
    node: np.ndarray  # (depth,) int32, second branches still to be visited
    count: np.ndarray  # (depth,) int32, number of columns decided before each of them


@subkernel
def _give(work, n_chosen, value, p, n, part, pair_of, row):
    """Distribute the value of a leaf to the columns that were decided on the path to it.

    part (most, most) float64; pair_of (n_columns, n_columns) int32, or None; row (n_places,) float64, the
    places of the leaf's output, added to.
    """
    chosen, side = work.chosen, work.side
    for i in range(n_chosen):
        f = chosen[i]
        row[f] += value * (part[p - 1, n] if side[f] == 1 else -part[n - 1, p])
    if pair_of is not None:
        for i in range(n_chosen):
            f = chosen[i]
            for j in range(i):
                g = chosen[j]
                if side[f] != side[g]:
                    both = -part[p - 1, n - 1]
                else:
                    both = part[p - 2, n] if side[f] == 1 else part[n - 2, p]
                row[pair_of[f, g]] += 0.5 * value * both


@kernel
def contrast_trees(paths, trees, value, part, rows, work, pair_of, out):
    """Add the SHAP values of rows, the mean over the other rows, to ``out``.

    Parameters
    ----------
    paths : Paths
        All trees, one after the other.
    trees : tuple
        Where trees begin; the first output of each; number of columns and pairs per output.
    value : (nodes, k) float64
    part : (most, most) float64
        a! b! / (a+b+1)! at (a, b).
    rows : tuple of X, others and the weights of the others
    work : Contrast
    pair_of : (columns, columns) int32, or None
        The place of every pair; None if pairs are not requested.
    out : (rows, outputs · places) float64

    trees (starts, outputs, places) (n_trees,) int64, the same, and a number; rows (X, others, counts)
    (n_rows, n_columns), (n_others, n_columns) and (n_others,) float64; out
    (n_rows, n_outputs * n_places) float64, added to.
    """
    starts, outputs, places = trees
    X, others, counts = rows
    for i in range(len(X)):
        for b in range(len(others)):
            for tree in range(len(starts)):
                node, n_chosen, waiting, p, n = np.int64(starts[tree]), 0, 0, 0, 0
                while True:
                    while paths.kind[node] != 0:
                        f = paths.feature[node]
                        if work.side[f] == 1:
                            node = np.int64(next_node(paths, node, X, i))
                        elif work.side[f] == 2:
                            node = np.int64(next_node(paths, node, others, b))
                        else:
                            mine = np.int64(next_node(paths, node, X, i))
                            theirs = np.int64(next_node(paths, node, others, b))
                            if mine != theirs:
                                work.node[waiting], work.count[waiting] = theirs, n_chosen
                                waiting += 1
                                work.side[f], work.chosen[n_chosen] = 1, f
                                n_chosen += 1
                                p += 1
                            node = mine
                    for k in range(value.shape[1]):
                        row = out[i, (outputs[tree] + k) * places :]
                        v = value[node, k] * counts[b]
                        _give(work, n_chosen, v, p, n, part, pair_of, row)
                    # back to the last node where the other row's branch is still to be visited
                    keep = work.count[waiting - 1] + 1 if waiting > 0 else 0
                    while n_chosen > keep:
                        n_chosen -= 1
                        f = work.chosen[n_chosen]
                        if work.side[f] == 1:
                            p -= 1
                        else:
                            n -= 1
                        work.side[f] = 0
                    if waiting == 0:
                        break
                    waiting -= 1
                    node = np.int64(work.node[waiting])
                    work.side[work.chosen[n_chosen - 1]] = 2
                    p -= 1
                    n += 1
