"""Two rows are near if the trees cannot tell them apart (Breiman 2001): proximities and distances.

            tree 1   tree 2   tree 3            row 0   row 1   row 2
    row 0   leaf 0   leaf 2   leaf 1             1      2/3      0
    row 1   leaf 0   leaf 2   leaf 0             2/3     1      1/3
    row 2   leaf 3   leaf 1   leaf 0              0     1/3      1

A few thousand rows make a dense matrix. For more, only the nearest rows of each are kept, in a sparse
matrix, and no larger matrix is ever made: rows are counted in blocks (engine/predict/proximity.py).
Figures from proximities are in proximity_geometry.py, filling missing values by them in filling.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.checks import warn_caller
from arboretum.errors import DataError, ParameterError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from arboretum.engine.predict.proximity import ProximityGroups
    from arboretum.forest.estimator import Forest

__all__ = ["distance", "group_leaves", "leaf_proximity", "proximity", "unseen_rows"]

_MOST_ENTRIES = 25_000_000  # of a dense matrix by default: 5,000 × 5,000, 200 MB
_DEFAULT_K = 50
_BLOCK = 256  # rows counted by one thread at a time


# ---------------------------------------------------------------------- proximities of a forest
def proximity(
    forest: Forest, X: Any = None, Y: Any = None, kind: str = "all", top_k: int | None = None
) -> np.ndarray | csr_matrix:
    """Return the share of the trees in which two rows end in the same leaf.

    Parameters
    ----------
    forest : fitted forest
    X : table, optional
        The rows to compare. None: the training rows, if the forest was fitted with
        ``keep_leaves=True``.
    Y : table, optional
        The rows to compare them with; None: those of X with each other.
    kind : {"all", "oob"}
        Compare in all trees, or only in trees that saw neither row. For "oob" the rows of Y, or of X
        if there is no Y, must be the training rows in their order; the proximity of a pair without such a
        tree is 0. With a Y, the rows of X are taken as new ones that no tree saw.
    top_k : int, optional
        Keep only the ``top_k`` nearest other rows of each row. None keeps all, unless the matrix would have
        more than 25 million entries: then it is 50, with a warning.

    Returns
    -------
    array, or scipy.sparse.csr_matrix with `top_k`
        (rows of X, rows of Y). A row's proximity to itself is 1 and always included if there is no Y. With
        `top_k` a row may be among the nearest of another without the reverse.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> P = proximity(forest, X)
    >>> P.shape, bool(P[0, 1] > 0.5), float(P[0, 149])
    ((150, 150), True, 0.0)
    >>> proximity(forest, X, top_k=5).nnz
    900
    """
    if kind not in ("all", "oob"):
        raise ParameterError(f"kind of proximity must be 'all' or 'oob', got {kind!r}")
    mine = _leaves(forest, X)
    others = mine if Y is None else _leaves(forest, Y)
    unseen = None
    if kind == "oob":
        _check_training_rows(forest, others, "X" if Y is None else "Y")
        unseen = unseen_rows(forest)
    new = None if Y is None else mine
    return leaf_proximity(others, new, unseen, top_k=top_k, n_jobs=forest._threads())


def _leaves(forest: Forest, X: Any) -> np.ndarray:
    if X is not None:
        return forest.apply(X)
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(forest, "trees_")
    if forest._training_rows is None:
        raise DataError(
            "the forest has not kept the leaves of its training rows: pass X, or fit with "
            "keep_leaves=True"
        )
    return forest._training_rows.leaves


def _check_training_rows(forest: Forest, leaves: np.ndarray, what: str) -> None:
    training, n = forest._training_rows, forest._bags.n_rows
    if len(leaves) != n or (training is not None and not np.array_equal(training.leaves, leaves)):
        raise DataError(
            f"kind='oob' compares training rows, and {what} ({len(leaves):,} rows) is not the table "
            f"the forest was fitted on ({n:,} rows): pass that one, or kind='all'"
        )


def unseen_rows(forest: Forest) -> np.ndarray:
    """Return which training rows each tree has not seen, (rows, trees) booleans."""
    if forest._bags.draws is None:
        raise DataError(
            "no row is out of bag: every tree saw all rows. Fit with bootstrap=True, or use "
            "kind='all'"
        )
    unseen = np.empty((forest._bags.n_rows, len(forest.trees_)), bool)
    for t in range(unseen.shape[1]):
        unseen[:, t] = forest._bags.counts(t) == 0
    return unseen


# ---------------------------------------------------------------------- proximities of leaves
def leaf_proximity(
    leaves: np.ndarray,
    new: np.ndarray | None = None,
    unseen: np.ndarray | None = None,
    *,
    top_k: int | None = None,
    n_jobs: int = 1,
) -> np.ndarray | csr_matrix:
    """Return proximities from leaf numbers alone.

    Parameters
    ----------
    leaves : int array of shape (n, n_trees)
    new : int array of shape (n_new, n_trees), optional
        Rows to compare with those of ``leaves``; by default these with each other.
    unseen : bool array of shape (n, n_trees), optional
        Use only these trees for a row of ``leaves``.
    top_k, n_jobs
        As for `proximity`.

    Examples
    --------
    >>> leaf_proximity(np.array([[0, 2, 1, 1], [0, 2, 0, 1], [3, 1, 0, 2]]))
    array([[1.  , 0.75, 0.  ],
           [0.75, 1.  , 0.25],
           [0.  , 0.25, 1.  ]])
    """
    mine, itself = (leaves, np.arange(len(leaves))) if new is None else (new, np.full(len(new), -1))
    shape = len(mine), len(leaves)
    top_k = _check_top_k(top_k, shape, new is None)
    groups = group_leaves(leaves, unseen)
    mine = np.ascontiguousarray(mine, dtype=np.int32)
    away = groups.away
    if new is not None:
        away = np.full((len(new), away.shape[1]), np.uint64(2**64 - 1))
    elif unseen is not None:
        mine = np.where(unseen, mine, np.int32(-1))
    if top_k is None:
        return _dense(mine, away, groups, new is None, n_jobs)
    return _nearest(mine, away, groups, itself, top_k, n_jobs)


def _check_top_k(top_k: int | None, shape: tuple[int, int], square: bool) -> int | None:
    others = max(1, shape[1] - square)
    if top_k is None:
        if shape[0] * shape[1] <= _MOST_ENTRIES:
            return None
        warn_caller(
            f"all proximities of {shape[0]:,} × {shape[1]:,} rows would take "
            f"{shape[0] * shape[1] * 8 / 1e9:.1f} GB: only the {_DEFAULT_K} nearest of each are kept; "
            "set top_k to keep more"
        )
        return min(_DEFAULT_K, others)
    if isinstance(top_k, bool) or not isinstance(top_k, (int, np.integer)) or top_k < 1:
        raise ParameterError(f"top_k must be an int ≥ 1 or None, got {top_k!r}")
    return min(int(top_k), others)


def group_leaves(leaves: np.ndarray, present: np.ndarray | None = None) -> ProximityGroups:
    """Group rows by leaf in every tree; ``present`` marks the trees in which a row is counted."""
    from arboretum.engine.predict.proximity import ProximityGroups

    leaf = np.array(np.asarray(leaves).T, dtype=np.int32, order="C")  # a copy
    n_trees, n = leaf.shape
    words = 0
    if present is not None:
        leaf[~np.asarray(present, bool).T] = -1
        words = -(-n_trees // 64)
    sizes = leaf.max(axis=1) + 2  # number of starts: one for each leaf number, and the end
    first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    start, rows, end = np.empty(first[-1], np.int64), [], 0
    for t in range(n_trees):
        order = np.argsort(leaf[t], kind="stable")
        order = order[np.count_nonzero(leaf[t] < 0) :]
        counts = np.bincount(leaf[t, order], minlength=sizes[t] - 1)[: sizes[t] - 1]
        start[first[t] : first[t + 1]] = end + np.concatenate([[0], np.cumsum(counts)])
        rows.append(order.astype(np.int32))
        end += len(order)
    bits = np.zeros((n, 8 * words), np.uint8)
    if present is not None:
        packed = np.packbits(present, axis=1)
        bits[:, : packed.shape[1]] = packed
    return ProximityGroups(leaf, first, start, np.concatenate(rows), bits.view(np.uint64))


def _dense(
    mine: np.ndarray, away: np.ndarray, groups: ProximityGroups, square: bool, n_jobs: int
) -> np.ndarray:
    from arboretum.engine import parallel
    from arboretum.engine.predict.proximity import share_rows

    matrix = np.empty((len(mine), groups.leaf.shape[1]))

    def work(block: tuple[int, int]) -> None:
        rows = slice(*block)
        share_rows(mine[rows], away[rows], groups, matrix[rows])

    parallel.run(work, parallel.blocks(len(mine), 1 + len(mine) // _BLOCK), n_jobs)
    if square:
        np.fill_diagonal(matrix, 1.0)
    return matrix


def _nearest(
    mine: np.ndarray,
    away: np.ndarray,
    groups: ProximityGroups,
    itself: np.ndarray,
    k: int,
    n_jobs: int,
) -> csr_matrix:
    from scipy.sparse import csr_matrix

    from arboretum.engine import parallel
    from arboretum.engine.predict.proximity import nearest_rows

    n, square = groups.leaf.shape[1], len(itself) > 0 and itself[0] == 0
    share, row = np.empty((len(mine), k + square)), np.empty((len(mine), k + square), np.int32)
    if square:  # each row's proximity to itself, beside its nearest
        share[:, k], row[:, k] = 1.0, itself

    def work(block: tuple[int, int]) -> None:
        lo, hi = block
        near, which = np.empty((hi - lo, k)), np.empty((hi - lo, k), np.int32)
        nearest_rows(mine[lo:hi], away[lo:hi], groups, itself[lo:hi], near, which)
        share[lo:hi, :k], row[lo:hi, :k] = near, which

    parallel.run(work, parallel.blocks(len(mine), 1 + len(mine) // _BLOCK), n_jobs)
    there = share > 0
    ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    matrix = csr_matrix((share[there], row[there], ends), shape=(len(mine), n))
    matrix.sort_indices()
    return matrix


def distance(proximities: Any) -> Any:
    """Return 1 - proximity; for a sparse matrix only the stored pairs: all others are farther.

    >>> distance(np.array([[1.0, 0.75], [0.75, 1.0]]))
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """
    if hasattr(proximities, "tocsr"):
        distances = proximities.copy()
        distances.data = 1.0 - distances.data
        return distances
    return 1.0 - np.asarray(proximities, dtype=np.float64)
