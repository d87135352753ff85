"""XGBoost's approximate algorithm (Algorithm 2 of the paper): only proposed cuts are tried.

    propose    the sketch of every column, weighted by h, gives cuts s_1 < s_2 < ... with less than ε of
               the weight from one to the next                                 (quantile_sketch.py)
                   global    once for the tree, at its root
                   local     anew for the rows of every node
    add up     Σg and Σh of the rows between neighbouring cuts

                   x     ─────┬────────┬──────┬──────────┬─────
                            s_1      s_2    s_3        s_4
                   G, H    bucket  bucket  bucket  bucket  bucket

    choose     the best of the cuts by its gain, missing values on either side   (xgboost_splits.py)

A global proposal has to do for small nodes, too, so it needs a smaller ε: where ten cuts were enough for all
rows, a node of a tenth of them is left with one. Local proposals follow the node and cost a sketch each.
With ε so small that every value is proposed, both are the exact greedy algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.quantile_sketch import propose_cuts
from arboretum.textbook.xgboost import XGBNode, grow_by
from arboretum.textbook.xgboost_splits import (
    DEFAULT,
    XGBCandidate,
    XGBSettings,
    column_candidates,
)

__all__ = ["ApproximateTree", "grow_approximate", "propose_table"]


@dataclass(frozen=True, eq=False)
class ApproximateTree:
    """The tree, and the cuts that were proposed at every node, a list per column."""

    root: XGBNode
    proposals: dict[str, list[np.ndarray]] = field(repr=False)  # by the path of the node


def propose_table(X: ArrayLike, h: ArrayLike, eps: float) -> list[np.ndarray]:
    """Return the proposed cuts of every column.

    >>> X = [[1, 9], [2, 9], [3, 9], [4, 8]]
    >>> [cuts.tolist() for cuts in propose_table(X, [1, 1, 1, 1], 0.6)]
    [[3.0, 4.0], [9.0]]
    """
    return [propose_cuts(x, h, eps) for x in np.asarray(X, dtype=np.float64).T]


def grow_approximate(
    X: ArrayLike,
    g: ArrayLike,
    h: ArrayLike,
    eps: float = 0.03,
    proposals: str = "global",
    settings: XGBSettings = DEFAULT,
) -> ApproximateTree:
    """Grow a tree by proposed cuts, prune it by γ, and return it with the proposals.

    Parameters
    ----------
    X : array of shape (n, n_columns)
        Numbers; NaN is missing.
    g, h : arrays of shape (n,)
    eps : float
        The most weight from one proposed cut to the next, as a share.
    proposals : {"global", "local"}
    settings : XGBSettings

    Examples
    --------
    Where local proposals try every value of a small node, a global one has only what is left of its cuts.

    >>> X, g = np.arange(8.0)[:, None], np.array([-9.0, 1, 1, 1, 5, 5, 5, 5])
    >>> rules = XGBSettings(max_depth=2, reg_lambda=0)
    >>> for way in ("global", "local"):
    ...     tree = grow_approximate(X, g, np.ones(8), 0.3, way, rules)
    ...     print(way, [cuts[0].tolist() for cuts in tree.proposals.values()])
    global [[2.0, 4.0, 6.0, 7.0]]
    local [[2.0, 4.0, 6.0, 7.0], [1.0], [3.0, 4.0, 5.0, 6.0, 7.0]]
    """
    if proposals not in ("global", "local"):
        raise ValueError(f'proposals must be "global" or "local", got {proposals!r}')
    X, g, h = (np.asarray(a, dtype=np.float64) for a in (X, g, h))
    proposed: dict[str, list[np.ndarray]] = {}

    def look(path: str, rows: np.ndarray) -> list[XGBCandidate]:
        if proposals == "local" or not path:
            proposed[path] = propose_table(X[rows], h[rows], eps)
        cuts = proposed[path if proposals == "local" else ""]
        return [
            candidate
            for f, x in enumerate(X[rows].T)
            for candidate in column_candidates(x, g[rows], h[rows], settings, f, cuts[f])
        ]

    return ApproximateTree(grow_by(look, X, g, h, settings), proposed)
