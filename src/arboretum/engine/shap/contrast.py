"""SHAP values against other rows: what the values of a row change that another row would have had.

Of two rows x and b every mixture is asked: columns of a set S from x, the others from b. A tree need not be
asked 2^d times. Where x and b take the same branch, so do all mixtures; where they part, those with the
column from x go one way, and those with it from b the other:

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
    """What a pair of rows is worked on."""

    side: (
        np.ndarray
    )  # (columns,) int8, where a column must be from: 0 either, 1 the row, 2 the other
    chosen: np.ndarray  # (depth,) int32, columns that are decided on the way, in order
    node: np.ndarray  # (depth,) int32, second branches that wait
    count: np.ndarray  # (depth,) int32, how many columns were decided where they wait


@subkernel
def _give(work, n_chosen, value, p, n, part, pair_of, row):
    """Give the value of a leaf to the columns that were decided on the way to it.

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
    """Add the SHAP values of rows against all of other rows, their mean, to ``out``.

    Parameters
    ----------
    paths : Paths
        Of all trees, one behind the other.
    trees : tuple
        Where trees begin; the first output of each; columns and pairs of an output.
    value : (nodes, k) float64
    part : (most, most) float64
        a! b! / (a+b+1)! at (a, b).
    rows : tuple of X, others and what each of those counts
    work : Contrast
    pair_of : (columns, columns) int32, or None
        The place of every pair; None if pairs are not asked for.
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
                    # back to the last place where the other row's branch waits
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
